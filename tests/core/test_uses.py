"""What has come of a fact: who names it, how often it was come back to, in how many turns."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from math import exp
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from strategies import histories

from chatfold import ChatContext
from chatfold.core.call_words import CallWords
from chatfold.core.calls import pair_calls
from chatfold.core.facts import Facts
from chatfold.core.record import Record, joined
from chatfold.core.recording.needs import Head, _Again, needs_of
from chatfold.core.recording.worth import Weigher, _freshness
from chatfold.core.reuse import Rates
from chatfold.core.sightings import Sighting
from chatfold.core.summary import Summaries, mark_summary, wrapped
from chatfold.core.uses import HOMES, Track
from chatfold.core.views import ItemView, TextPart, is_user_message

Item = dict[str, Any]


def facts_of(views: list[ItemView]) -> Facts:
    found = Facts()
    found.update(views, pair_calls(views))
    return found


def side(seen: Sighting, words: CallWords) -> str:
    """Return who names a value, as it is defined: what a call changed counts as its result."""
    if seen.place == "text":
        return seen.author if seen.author in ("user", "summary") else "assistant"
    in_body = seen.call is not None and words.in_body(seen.call, seen.place, seen.path)
    return "body" if in_body else seen.place


@given(histories(broken=True))
def test_what_is_kept_up_is_what_the_sightings_say(history: Any) -> None:
    """Each part of it, read anew from all places where a fact stands."""
    views = list(ChatContext(history.items, shape=history.shape).views())
    found, words = facts_of(views), CallWords(pair_calls(views))
    turn = [sum(map(is_user_message, views[: n + 1])) for n in range(len(views))]
    used: Counter[Any] = Counter()
    assert list(found.uses.origins) == list(found.values)
    assert list(found.uses.firsts) == [seen[0].index for seen in found.places.values()]
    for key, sightings in found.places.items():
        origin, track = found.uses.origins[key], found.uses.tracks.get(key)
        assert (origin[0], origin[3]) == (side(sightings[0], words), found.values[key].kind)
        assert (track is None) == (len(sightings) == 1)
        pairs = pairwise(sightings)
        uses = sum(b.author == "assistant" and b.index > a.index + 2 for a, b in pairs)
        used[origin, uses] += 1
        if track is None:
            continue
        sides = {side(seen, words) for seen in sightings}
        latest = {side(seen, words): seen for seen in sightings}
        first = {side(seen, words): seen for seen in reversed(sightings)}
        assert track.sides == {s: first[s] if s == "user" else latest[s] for s in sides}
        assert list(track.names) == list(track.sides)
        assert track.home is next(track.sides[who] for who in HOMES if who in track.sides)
        assert (track.uses, track.last) == (uses, sightings[-1].index)
        assert track.turns == len({turn[seen.index] for seen in sightings})
    assert +found.uses.counts == used


@given(histories(), st.data())
def test_what_stands_in_one_place_is_worth_what_any_other_fact_is(
    history: Any, data: st.DataObject
) -> None:
    """The short way for what most facts are, and the way for all of them, say the same."""
    views = list(ChatContext(history.items, shape=history.shape).views())
    found, calls = facts_of(views), pair_calls(views)
    cut = data.draw(st.integers(0, len(views)))
    head = Head.of(views, range(cut), frozenset(), found.openers)
    openers = [index for index in range(cut) if is_user_message(views[index])]
    assert head == Head.of(views, range(cut), frozenset(), openers)
    written = {n for n in range(len(calls)) if calls[n].completed and data.draw(st.booleans())}
    needs = needs_of(found, head, calls, written=written, earlier=())
    again = _Again(found, calls, written, (), found.said.keys_in(range(cut, len(views))))
    weigher = Weigher(head, Rates(again.counts))
    for need in needs:
        if need.key in again.seen:
            origin, track, kin, near, made = again.seen[need.key]
        else:
            origin, track = found.uses.origins[need.key], need.track
            kin, near, made = -1, False, False
        weighed = weigher.worth(need.value, need.sightings, origin, track, kin, near, made)
        assert weighed == (need.worth, need.sure)


@given(st.integers(0, 3_000))
def test_what_stands_last_is_worth_most_and_nothing_is_forgotten(length: int) -> None:
    """To the last digit, also of heads that are longer than what is known of ages beforehand."""
    ages = range(length - 1, -1, -1)
    by_age = [0.45 + 0.33 * exp(-age / 20) + (0.22 / length) * (length - age) for age in ages]
    assert _freshness(length) == by_age == sorted(by_age)


@given(histories(), st.sets(st.integers(0, 30)))
def test_a_result_that_changed_something_is_an_outcome(history: Any, written: set[int]) -> None:
    """Whatever was kept up before anybody said which calls did."""
    views = list(ChatContext(history.items, shape=history.shape).views())
    found, calls = facts_of(views), pair_calls(views)
    written = {number for number in written if number < len(calls) and calls[number].completed}
    head = Head.of(views, range(len(views)), frozenset(), found.openers)
    for need in needs_of(found, head, calls, written=written, earlier=()):
        for who, home in need.track.sides.items() if need.track is not None else ():
            if home.place == "result" and who != "body":
                assert who == ("outcome" if home.call in written else "result")


@given(histories(), st.sets(st.integers(0, 30)))
def test_what_has_come_of_an_outcome_is_what_its_sightings_say(
    history: Any, written: set[int]
) -> None:
    """Each part of it, read anew from all places, with what writes gave as an outcome."""
    views = list(ChatContext(history.items, shape=history.shape).views())
    found, calls = facts_of(views), pair_calls(views)
    written = {number for number in written if number < len(calls) and calls[number].completed}
    words, again = CallWords(calls), _Again(found, calls, written, (), ())

    def outcome_or(seen: Sighting) -> str:
        who = side(seen, words)
        return "outcome" if who == "result" and seen.call in written else who

    given = {calls[number].result_index for number in written}
    used: Counter[Any] = Counter()
    for key, sightings in found.places.items():
        origin, track = found.uses.origins[key], found.uses.tracks.get(key)
        if any(seen.index in given for seen in sightings):
            assert key in again.seen
        if key in again.seen:
            origin, track, *_ = again.seen[key]
        used[origin, 0 if track is None else track.uses] += 1
        assert origin[0] == outcome_or(sightings[0])
        if track is None or key in found.uses.told_before:
            continue
        kept = found.uses.tracks[key]
        latest = {outcome_or(seen): seen for seen in sightings}
        latest |= {"user": kept.sides["user"]} if "user" in latest else {}
        assert track.sides == latest
        assert sorted(track.names) == sorted(latest)
        assert track.home is next(latest[who] for who in HOMES if who in latest)
        assert (track.uses, track.last, track.turns) == (kept.uses, kept.last, kept.turns)
    assert {of: number for of, number in again.counts.items() if number} == used


def test_what_a_write_gave_in_a_body_of_text_is_no_outcome() -> None:
    """Seen once or several times: it was taken down as the list grew, and goes with its item."""
    page = "The parcel LK-4821936 is on its way. " + "Nothing else is known of it. " * 20
    made = {"id": "LK-7000001", "page": f"{page} So is LK-7000002."}
    items: list[Item] = []
    for call in ("a", "b"):
        function = {"name": "create_page", "arguments": "{}"}
        asked = [{"id": call, "type": "function", "function": function}]
        items.append({"role": "assistant", "content": None, "tool_calls": asked})
        items.append({"role": "tool", "tool_call_id": call, "content": json.dumps(made)})
        made = {"id": "LK-7000003", "page": page}
    views = list(ChatContext(items, shape="openai_chat").views())
    found, calls = facts_of(views), pair_calls(views)
    seen = _Again(found, calls, {0, 1}, (), ()).seen
    sides = {key: known[0][0] for key, known in seen.items()}
    bodies = {key for key, side in sides.items() if side == "body"}
    assert {"id:lk-4821936", "id:lk-7000002"} <= bodies
    assert sides["id:lk-7000001"] == sides["id:lk-7000003"] == "outcome"
    _, track, *_ = seen["id:lk-4821936"]
    assert track is not None
    assert list(track.sides) == ["body"]
    assert found.uses.bodies
    found.update(views[:1], calls[:1])
    assert not found.uses.bodies


def test_a_users_first_words_say_what_it_is_about() -> None:
    track = Track()
    for index, (author, who) in enumerate([("user", "user"), ("assistant", "assistant")] * 2):
        track.add(Sighting(index, author, "text"), who, index // 2)
    assert track.sides["user"].index == 0
    assert track.sides["assistant"].index == 3
    assert (track.uses, track.last, track.turns) == (0, 3, 2)


def test_what_only_an_earlier_summary_names_counts_where_that_is_there_for_it() -> None:
    """Its words may have been redacted since, or belong to the record behind them."""
    told = wrapped(joined("The parcel LK-4821936 was lost.", Record()), "A note.")
    marked = mark_summary([ItemView("user", (TextPart(told),))], Summaries())
    assert marked is not None
    views = [marked[1], ItemView("user", (TextPart("And LK-7000001?"),))]
    found = facts_of(views)
    head = Head.of(views, range(2), frozenset(), found.openers)
    for earlier, keys in (((), []), (("id:lk-4821936",), ["id:lk-4821936"])):
        needs = needs_of(found, head, [], written=(), earlier=earlier)
        assert [need.key for need in needs] == [*keys, "id:lk-7000001"]


def test_what_a_fact_vouches_for_is_told_as_it_was() -> None:
    """A later place may vouch for more: digits that stand as a number of an order, say."""
    call = {"name": "find", "arguments": json.dumps({"order_id": "48219361"})}
    items: list[Item] = [
        {"role": "user", "content": "Where is order 48219361?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "type": "function", "function": call}],
        },
    ]
    views = list(ChatContext(items).views())
    found = facts_of(views[:1])
    fact, before = found.teller(), found.fact("id:48219361")
    found.update(views, pair_calls(views))
    assert fact("id:48219361") == before
    assert "id:9361" in found.fact("id:48219361").also
