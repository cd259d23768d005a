"""Facts that are kept item by item are those of a whole reading, whatever became of the list."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pytest
from conftest import shared_directory
from facts_of import facts_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import SHAPES as SHAPE_NAMES
from strategies import History, histories, long_history

from chatfold import ChatContext, FactReport
from chatfold.core.call_words import CallWords
from chatfold.core.calls import pair_calls
from chatfold.core.constraints import Words, standing, standing_by
from chatfold.core.constraints.languages import LANGUAGES
from chatfold.core.facts import Facts
from chatfold.core.outline import Outline
from chatfold.core.phrases import Phrase, Phrases, price
from chatfold.core.reading import Reading
from chatfold.core.recording.phrasing import PhraseFinder
from chatfold.core.recording.worth import USED_LATER
from chatfold.core.render import conversation
from chatfold.core.snapshot import Snapshot
from chatfold.core.summary import wrapped
from chatfold.core.uses import Uses
from chatfold.core.views import is_user_message
from chatfold.policy import Policy
from chatfold.shapes import SHAPES, shape_named
from chatfold.tokens import estimate

OWN = (Words(orders=("order|item",), takes_back=("thanks",)), Words(orders=("no|a",)))
"""Languages of a caller's in which much that nobody means as such is an instruction."""

SUMMARY = wrapped("The order LK-4821936 of dana@example.com was lost on 2026-02-03.", "A record.")


def size(views: Any) -> list[int]:
    return [sum(estimate(str(part)) for part in view.parts) for view in views]


def sizes_of_texts(texts: Sequence[str]) -> list[int]:
    return [estimate(text) for text in texts]


def reading_of(items: list[Any], shape: str | None = None) -> Reading:
    named = None if shape is None else shape_named(shape)
    return Reading(items, SHAPES, shape=named, measure=size, summary_key=None, count=sizes_of_texts)


def asked_as_it_grows(ctx: ChatContext[Any], new: Sequence[Any], step: int) -> None:
    """Add items to a list that is asked whenever `step` of them came, and is too short to fold."""
    for start in range(0, len(new), step):
        ctx.items.extend(new[start : start + step])
        ctx.maybe_summarize(lambda prompt: "never asked")


def brought_up_to_date(snapshot: Snapshot) -> Facts:
    """Return the facts of a list as a fold gets them, and keep them for the next."""
    kept = snapshot.facts.taken(None)
    kept.update(snapshot.views, snapshot.calls)
    snapshot.facts.keep(kept)
    return kept


def assert_as_whole(snapshot: Snapshot) -> None:
    """Compare what is kept with what a reading of the whole list finds."""
    kept = brought_up_to_date(snapshot)
    assert [kept.fact(key) for key in kept.values] == facts_of(snapshot.views, snapshot.calls)
    for earlier in ([], ["Never call me."], ["Do not book the flight yet."]):
        said = ((snapshot.views[i], r) for i, r in kept.remarks(range(len(snapshot.views))))
        assert standing_by(said, earlier=earlier) == standing(snapshot.views, earlier=earlier)
        said = ((snapshot.views[i], r) for i, r in kept.remarks(range(len(snapshot.views))))
        assert standing_by(said, words=OWN, earlier=earlier) == standing(
            snapshot.views, words=(*LANGUAGES, *OWN), earlier=earlier
        )
    whole = Facts()
    whole.update(snapshot.views, snapshot.calls)
    assert told(kept.uses) == told(whole.uses)
    assert list(kept.openers) == [i for i, v in enumerate(snapshot.views) if is_user_message(v)]
    words = CallWords(snapshot.calls)
    assert kept.identities == {number: words.identity(number) for number in kept.identities}
    failures, outcomes = kept.ends
    assert failures == {number: words.failure(number) for number in failures}
    assert outcomes == {number: words.outcome(number) for number in outcomes}
    assert snapshot.outline == Outline.of(snapshot.views)
    assert_phrased(snapshot, kept)
    assert_written(snapshot)


def assert_phrased(snapshot: Snapshot, kept: Facts) -> int:
    """Compare the words that were found ahead with those found now; return how many there are."""
    words, number = CallWords(snapshot.calls), 0
    for key, value in kept.values.items():
        noted, track = kept.phrases.get(key), kept.uses.tracks.get(key)
        home = kept.places[key][0] if track is None else track.home
        if noted is None or home is None or noted.home is not home:
            continue
        number += 1
        kinds = kept.uses.kinds
        finder = PhraseFinder(snapshot.views, words, Phrases(), kept.said.whole_text, kinds=kinds)
        now = finder.at(value, home)
        assert now is not None
        price([now], sizes_of_texts)
        assert said_by(noted) == said_by(now)
    return number


def said_by(phrase: Phrase) -> list[Any]:
    groups = [(group.name, group.arguments, group.cost) for group in phrase.groups]
    return [phrase.bare, phrase.full, groups, phrase.share, phrase.call, phrase.costs, phrase.key]


def assert_written(snapshot: Snapshot) -> int:
    """Compare what was written ahead with what is written now; return how many items were."""
    views, calls, written = snapshot.views, snapshot.calls, snapshot.elements.known()
    for start, stop in ((0, len(views)), (len(views) // 3, 2 * len(views) // 3)):
        ahead = conversation(views[start:stop], calls, offset=start, written=written)
        assert ahead == conversation(views[start:stop], calls, offset=start)
    return sum(written[index][0] is view for index, view in enumerate(views) if index in written)


def told(uses: Uses) -> list[Any]:
    """Return all that is known of what has come of facts."""
    tracks = {
        key: (list(track.sides.items()), track.uses, track.last, track.turns)
        for key, track in uses.tracks.items()
    }
    counts = {of: number for of, number in uses.counts.items() if number}
    return [list(uses.origins.items()), tracks, counts, uses.told_before, uses.paths, uses.given]


def grown(reading: Reading, items: list[Any], more: list[Any], step: int) -> None:
    """Let a list grow, a few items at a time, and ask for its length each time."""
    for start in range(0, len(more), step):
        items += more[start : start + step]
        reading.extent()


@given(histories(broken=True), st.integers(1, 4), st.data())
def test_a_list_that_grew_has_the_facts_of_the_whole(
    history: History, step: int, data: st.DataObject
) -> None:
    """Folds in between, at any place, change nothing."""
    items: list[Any] = []
    reading = reading_of(items, history.shape)
    stop = data.draw(st.integers(0, len(history.items)))
    grown(reading, items, history.items[:stop], step)
    assert_as_whole(reading.snapshot())
    grown(reading, items, history.items[stop:], step)
    assert_as_whole(reading.snapshot())


@given(histories(), histories(), st.data())
def test_what_an_edit_leaves_has_the_facts_of_the_whole(
    history: History, other: History, data: st.DataObject
) -> None:
    """Items go, come, change places, and a summary stands for those before it."""
    items = list(history.items[:1])
    reading = reading_of(items)
    reading.extent()
    grown(reading, items, history.items[1:], 2)
    for _ in range(data.draw(st.integers(1, 4))):
        start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(items))] * 2)))
        put = data.draw(
            st.sampled_from(
                ([], items[start:stop][::-1], other.items, [{"role": "user", "content": SUMMARY}])
            )
        )
        items[start:stop] = put
        if data.draw(st.booleans()):
            reading.extent()
        if data.draw(st.booleans()):
            assert_as_whole(reading.snapshot())
        grown(reading, items, other.items[: data.draw(st.integers(0, 4))], 1)
    assert_as_whole(reading.snapshot())


@pytest.mark.parametrize("shape", SHAPE_NAMES)
def test_a_fold_gives_the_same_whether_items_were_read_as_they_came(shape: str) -> None:
    """The summary, its record and the report are equal, in a first fold and in a second."""
    history = long_history(shape, 160, 7)
    found: list[Any] = []
    for step in (1, 7, len(history)):
        items: list[Any] = []
        ctx: ChatContext[Any] = ChatContext(items, shape=shape, policy=Policy(max_tokens=10**9))
        for half in (history[:100], history[100:]):
            for start in range(0, len(half), step):
                items += half[start : start + step]
                ctx.maybe_summarize(lambda prompt: "never asked")
            outcome = ctx.summarize(lambda prompt: "All was done.", keep_last_turns=1)
            assert outcome.changed, outcome
            found.append((outcome.facts, outcome.summary, list(items)))
    assert found[0:2] == found[2:4] == found[4:6]
    assert found[0][0].added


@given(histories(broken=True), st.data())
def test_a_fact_is_told_as_it_was(history: History, data: st.DataObject) -> None:
    """Whatever has come since, in the list and of the fact."""
    views = list(ChatContext(history.items, shape=history.shape).views())
    cut = data.draw(st.integers(0, len(views)))
    found = Facts()
    found.update(views[:cut], pair_calls(views[:cut]))
    keys, fact = list(found.values), found.teller()
    before = [found.fact(key) for key in keys]
    found.update(views, pair_calls(views))
    assert [fact(key) for key in keys] == before


def test_instructions_are_found_in_a_list_that_was_cut_in_front_of_them() -> None:
    said = ["Hello.", "Where is it?", "Good.", "Never book without my consent.", "Book it.", "Ok."]
    items: list[Any] = []
    reading = reading_of(items, "openai_chat")
    grown(reading, items, [{"role": "user", "content": text} for text in said], 1)
    assert_as_whole(reading.snapshot())
    del items[1:3]
    assert_as_whole(reading.snapshot())


@pytest.mark.parametrize("shape", SHAPE_NAMES)
def test_the_report_of_a_fold_is_the_same_whenever_it_is_read(shape: str) -> None:
    """At once, after more turns and a second fold, from a copy, and through pickle."""
    history = long_history(shape, 160, 3)
    reports: list[FactReport] = []
    for at_once in (True, False):
        ctx: ChatContext[Any] = ChatContext(shape=shape, policy=Policy(max_tokens=10**9))
        for half in (history[:100], history[100:] + history[:20]):
            asked_as_it_grows(ctx, half, 3)
            outcome = ctx.summarize(lambda prompt: "All was done.", keep_last_turns=1)
            assert outcome.facts is not None
            reports.append(outcome.facts)
            if at_once:
                assert outcome.facts.added
    first, second, other, another = reports
    assert pickle.loads(pickle.dumps(other)) == first
    assert copy.deepcopy(another) == second
    assert (other, another) == (first, second)
    assert hash(other) == hash(first)
    assert first != second


real_histories = pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "anthropic"])


def every_twelfth(name: str) -> Iterator[list[Any]]:
    """Yield some of the corpus's histories of a shape."""
    if not (shared_directory() / "corpus").is_dir():
        pytest.skip("no corpus beside the checkout; set CHATFOLD_SHARED")
    with (shared_directory() / "corpus" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        yield from (json.loads(line)["items"] for line in islice(lines, 0, None, 12))


@real_histories
def test_real_histories_have_the_facts_of_the_whole(name: str) -> None:
    """As they grow by three items at a time, with a fold on the way."""
    for history in every_twelfth(name):
        items: list[Any] = []
        reading = reading_of(items, name)
        grown(reading, items, history[: len(history) // 2], 3)
        assert_as_whole(reading.snapshot())
        items[1 : len(items) // 2] = [{"role": "user", "content": SUMMARY}]
        grown(reading, items, history[len(history) // 2 :], 3)
        assert_as_whole(reading.snapshot())


def folds(history: Sequence[Any], shape: str, step: int) -> list[Any]:
    """Return what comes of two folds of a list that is looked at whenever `step` items came."""
    ctx: ChatContext[Any] = ChatContext(shape=shape, policy=Policy(max_tokens=10**9))
    half, made = len(history) // 2, list[Any]()
    for part, text in ((history[:half], "All was done."), (history[half:], "Then more was done.")):
        asked_as_it_grows(ctx, part, step)
        outcome = ctx.summarize(
            lambda prompt, text=text: text, keep_last_turns=1, effects={"get_order": "write"}
        )
        made.append((outcome.reason, outcome.item))
    return made


@pytest.mark.parametrize("shape", SHAPE_NAMES)
def test_a_list_that_was_looked_at_at_each_turn_is_folded_as_any_other(shape: str) -> None:
    """Whatever was found ahead, and has another meaning by the time of the fold."""
    for seed in range(8):
        history = long_history(shape, 40, seed)
        assert folds(history, shape, 3) == folds(history, shape, len(history))


@real_histories
def test_real_lists_that_were_looked_at_at_each_turn_are_folded_as_others(name: str) -> None:
    for history in every_twelfth(name):
        assert folds(history, name, 3) == folds(history, name, len(history))


@pytest.mark.parametrize("shape", SHAPE_NAMES)
def test_words_and_elements_are_there_ahead_of_a_fold(shape: str) -> None:
    """Of most facts that may be needed, and of most items; of long lists of the latest ones."""
    items: list[Any] = []
    reading = reading_of(items, shape)
    grown(reading, items, long_history(shape, 160, 7), 4)
    snapshot = reading.snapshot()
    kept = brought_up_to_date(snapshot)
    often = [k for k, v in kept.values.items() if v.kind in USED_LATER or k in kept.uses.tracks]
    assert assert_phrased(snapshot, kept) > 0.6 * len(often) > 20
    assert assert_written(snapshot) > 0.7 * len(snapshot.views)


def test_what_comes_one_by_one_to_a_long_list_is_read_ahead_together() -> None:
    """Most turns only look at what is new; a short list is read at each."""
    items: list[Any] = []
    reading = reading_of(items, "openai_chat")
    more = [{"role": "user", "content": f"It is LK-{n:07}."} for n in range(210)]
    grown(reading, items, more[:50], 1)
    assert set(reading.snapshot().elements.known()).issuperset(range(1, 50))
    grown(reading, items, more[50:202], 4)
    for first in (202, 206):
        grown(reading, items, more[first : first + 3], 1)
        assert set(reading.snapshot().elements.known()).isdisjoint(range(first, first + 3))
        grown(reading, items, more[first + 3 : first + 4], 1)
        assert set(reading.snapshot().elements.known()).issuperset(range(first, first + 4))


def test_what_is_held_ahead_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long list holds the words and the elements of its latest items alone."""
    monkeypatch.setattr("chatfold.core.elements._MOST", 15_000)  # characters
    monkeypatch.setattr("chatfold.core.phrases._MOST_NOTED", 500)
    items: list[Any] = []
    reading = reading_of(items, "openai_chat")
    more = [{"role": "user", "content": f"It is LK-{n:07}."} for n in range(3_000)]
    grown(reading, items, more, 2)
    snapshot = reading.snapshot()
    kept = brought_up_to_date(snapshot)
    assert 400 < assert_phrased(snapshot, kept) <= 1_000
    assert 400 < assert_written(snapshot) <= 1_000
    # The last ones may wait for more of their like.
    assert set(snapshot.elements.known()).issuperset(range(2_600, 2_997))


def call(number: int, name: str | None, arguments: Any, result: Any) -> list[dict[str, Any]]:
    """Return a call and its result; one without a name gets it from the result."""
    function = {"arguments": json.dumps(arguments)} | ({"name": name} if name else {})
    made = {"id": f"call_{number}", "type": "function", "function": function}
    answer = {"role": "tool", "tool_call_id": made["id"], "content": json.dumps(result)}
    return [
        {"role": "assistant", "content": None, "tool_calls": [made]},
        answer if name else answer | {"name": "get_order"},
    ]


def folded(history: list[Any], step: int) -> tuple[Any, ...]:
    """Return what a fold makes of a list that grew by so many items at a time."""
    items: list[Any] = []
    ctx: ChatContext[Any] = ChatContext(items, policy=Policy(max_tokens=10**9))
    for start in range(0, len(history), step):
        items += history[start : start + step]
        ctx.maybe_summarize(lambda prompt: "never asked")
    prompts: list[str] = []

    def answer(prompt: Any) -> str:
        prompts.append(prompt.user)
        return "All was done."

    outcome = ctx.summarize(answer, keep_last_turns=1)
    assert outcome.changed, outcome
    return outcome.facts, outcome.summary, items, prompts


def test_of_calls_that_are_alike_the_latest_tells() -> None:
    """Also where what each gave was put into words as it came."""
    history: list[Any] = [{"role": "system", "content": "You sell phones."}]
    for number, day in enumerate(("2026-03-04", "2026-03-05", "2026-03-09")):
        history.append({"role": "user", "content": f"Where is my order now, {number}?"})
        history += call(number, "get_order", {"order": "LK-4821936"}, {"arrives": day})
        history.append({"role": "assistant", "content": "It is on its way. " * 40})
    history.append({"role": "user", "content": "Thanks."})
    found = folded(history, 1)
    assert "arrives=2026-03-09 (was: 2026-03-05)" in found[2][1]["content"]
    assert found == folded(history, 2) == folded(history, len(history))


def test_a_value_is_labelled_by_its_own_result_whichever_was_read_first() -> None:
    """As much of its path as tells it from others there: in the next result that may be more."""
    ways: list[dict[str, Any]] = [
        {"from": {"port": {"code": "BER-10017"}}},
        {"from": {"port": {"code": "MUC-20023"}}, "to": {"port": {"code": "HAM-30031"}}},
        {"from": {"port": {"code": "CGN-40043"}}},
    ]
    history: list[Any] = []
    for number, way in enumerate(ways):
        history.append({"role": "user", "content": f"Where is parcel {number} now?"})
        history += call(number, "track", {"parcel": f"P-7700{number}"}, {"way": way})
        history.append({"role": "assistant", "content": "It is on its way. " * 40})
    history.append({"role": "user", "content": "Thanks."})
    found = folded(history, 1)
    said = found[2][0]["content"]
    for label in ("port.code=BER-10017", "from.port.code=MUC-20023", "to.port.code=HAM-30031"):
        assert f"{label}" in said
    assert " port.code=CGN-40043" in said
    assert found == folded(history, 2) == folded(history, len(history))


def test_how_calls_ended_is_known_ahead_of_a_fold() -> None:
    """Of those that may have changed something, as soon as they are answered; not after an edit."""
    items: list[Any] = [{"role": "user", "content": "Book it."}]
    reading = reading_of(items, "openai_chat")
    reading.extent()
    late = call(32, "book_flight", {"flight": "LH 12"}, {"booking": "BK-1003"})
    for number in range(30):
        grown(reading, items, call(number, "get_order", {"id": number}, {"status": "lost"}), 1)
    grown(reading, items, call(30, "book_hotel", {"hotel": "H-17"}, {"booking": "BK-1001"}), 1)
    grown(reading, items, call(31, "book_hotel", {"hotel": "H-18"}, {"error": "fully booked"}), 1)
    grown(reading, items, late[:1], 1)
    kept = brought_up_to_date(reading.snapshot())
    assert kept.ends.failures == {30: None, 31: "fully booked"}
    assert [field.text for field in kept.ends.outcomes[30]] == ["BK-1001"]
    grown(reading, items, [late[1], {"role": "user", "content": "Thanks."}], 1)
    kept = brought_up_to_date(reading.snapshot())
    assert kept.ends.failures.keys() == {30, 31, 32}
    assert_as_whole(reading.snapshot())
    items[62] = {**items[62], "content": json.dumps({"booking": "BK-1009"})}
    assert not brought_up_to_date(reading.snapshot()).ends.failures


@pytest.mark.parametrize("failed", [False, True])
def test_what_a_server_runs_has_come_to_no_end_before_its_result(failed: bool) -> None:
    """The result is a part of a later item, and the call says no fact that waits for it."""

    def said(role: str, **part: Any) -> dict[str, Any]:
        return {"role": role, "parts": [part]}

    code = {"language": "PYTHON", "code": "os.remove(path)"}
    outcome = "OUTCOME_FAILED" if failed else "OUTCOME_OK"
    told = "OSError: disk is read-only" if failed else "removed 3 files, ticket J-77213"
    history = [
        said("user", text="Hello there. " * 90),
        said("model", text="Hi. What is it?"),
        said("user", text="Please clean up the files of order ORD-48213 now."),
        said("model", executable_code=code),
        said("model", code_execution_result={"outcome": outcome, "output": told}),
        said("model", text="Well."),
        said("user", text="And ORD-77213?"),
        said("model", text="So be it."),
    ]
    found = folded(history, len(history))
    assert told in found[2][0]["parts"][0]["text"].partition("<record>")[2]
    assert found == folded(history, 2) == folded(history, 1)


def test_values_of_one_entry_stand_together_however_long_the_list_is() -> None:
    """Words are held by the hundred: what goes into one entry is told by its name."""
    history: list[Any] = [{"role": "system", "content": "You sell phones."}]
    for number in range(1_060):
        history.append({"role": "user", "content": f"And where is LK-{number + 4_000_000}?"})
        history.append({"role": "assistant", "content": "It is on its way."})
    found = folded(history, 2)
    assert found[2][1]["content"].count("\n- user: ") == 1
    assert found == folded(history, len(history))


def test_a_call_without_a_name_is_put_into_words_when_it_has_one() -> None:
    """Its result may bring it."""
    items: list[Any] = [{"role": "user", "content": "Where is it?"}]
    reading = reading_of(items, "openai_chat")
    reading.extent()
    grown(reading, items, call(1, None, {"id": "LK-4821936"}, {"arrives": "2026-03-04"}), 1)
    snapshot = reading.snapshot()
    assert [call.name for call in snapshot.calls] == ["get_order"]
    assert assert_phrased(snapshot, brought_up_to_date(snapshot)) == 1
    assert_written(snapshot)


def test_what_an_earlier_summary_tells_is_put_into_its_words() -> None:
    """Whether it came before the list was looked at, or behind."""
    history: list[Any] = [{"role": "system", "content": "You sell phones."}]
    history.append({"role": "user", "content": SUMMARY})
    for number in range(3):
        history.append({"role": "user", "content": f"Go on, {number}."})
        history.append({"role": "assistant", "content": "It is on its way. " * 40})
    found = folded(history, 1)
    assert "was lost on 2026-02-03" in found[2][1]["content"]
    assert found == folded(history, len(history))


class OneByOne:
    """A counter that takes its time with each text."""

    exact = True

    def __init__(self) -> None:
        self.asked: list[str] = []

    def count(self, text: str) -> int:
        self.asked.append(text)
        return len(text) // 4


def test_a_slow_counter_is_asked_of_items_alone_as_they_come() -> None:
    """What the words of a record take is counted where one is made."""
    counter, items = OneByOne(), list[Any]()
    ctx = ChatContext(items, counter=counter, policy=Policy(max_tokens=10**9))
    history = long_history("openai_chat", 60, 7)
    for start in range(0, len(history), 2):
        items += history[start : start + 2]
        ctx.maybe_summarize(lambda prompt: "never asked")
    assert len(counter.asked) < 1.1 * len(items)  # the first ones twice, until the shape is known
    outcome = ctx.summarize(lambda prompt: "All was done.", keep_last_turns=1)
    assert outcome.facts is not None
    assert outcome.facts.added
    assert len(counter.asked) > 80


def test_what_was_there_at_first_is_written_ahead_at_the_next_turn() -> None:
    """Nothing is for a list that is asked once, as most of those are never folded."""
    items: list[Any] = [{"role": "user", "content": f"Question {n}?"} for n in range(4)]
    reading = reading_of(items, "openai_chat")
    reading.extent()
    assert not reading.snapshot().elements.known()
    items.append({"role": "user", "content": "One more?"})
    reading.extent()
    assert assert_written(reading.snapshot()) == 5
    items[0] = {"role": "user", "content": "Edited?"}
    reading.sync()
    items.append({"role": "user", "content": "The last one?"})
    reading.extent()
    assert assert_written(reading.snapshot()) == 1  # what an edit leaves is left to the fold


def test_an_item_that_waits_for_a_result_says_so() -> None:
    """Though it was written ahead, as of a call that was answered."""
    made = {"name": "wait", "arguments": "{}"}
    call = {"id": "call_1", "type": "function", "function": made}
    items: list[Any] = [{"role": "user", "content": "Wait."}]
    reading = reading_of(items, "openai_chat")
    reading.extent()
    items.append({"role": "assistant", "content": None, "tool_calls": [call]})
    reading.extent()
    open_ = reading.snapshot()
    assert assert_written(open_) == 2
    xml = conversation(open_.views, open_.calls, written=open_.elements.known()).xml
    assert 'result="no result recorded"' in xml
    items.append({"role": "tool", "tool_call_id": "call_1", "content": "Done."})
    reading.extent()
    closed = reading.snapshot()
    assert assert_written(closed) == 3
    xml = conversation(closed.views, closed.calls, written=closed.elements.known()).xml
    assert "no result recorded" not in xml


def test_a_summary_is_not_written_ahead_as_what_the_user_said() -> None:
    """That it is one is found out when it is known what stands before it."""
    items: list[Any] = [{"role": "system", "content": "Be brief."}]
    reading = reading_of(items, "openai_chat")
    reading.extent()
    grown(reading, items, [{"role": "user", "content": text} for text in (SUMMARY, "Go on.")], 1)
    snapshot = reading.snapshot()
    assert snapshot.previous == 1
    assert assert_written(snapshot) == 2  # but for the summary
    ahead = snapshot.elements.known()
    assert "LK-4821936" not in conversation(snapshot.views, (), written=ahead).xml


def test_nothing_is_known_of_what_a_redaction_let_through() -> None:
    """What a function leaves of a text may change, so with one all is read anew."""
    items: list[Any] = [{"role": "user", "content": f"It is LK-482193{n}."} for n in range(4)]
    reading = reading_of(items)
    grown(reading, items, [{"role": "user", "content": "And LK-7000001."}], 1)
    snapshot = reading.snapshot()
    brought_up_to_date(snapshot)
    secret: list[str] = ["LK-4821930"]

    def redact(text: str) -> str:
        for word in secret:
            text = text.replace(word, "[secret]")
        return text

    def seen() -> set[str]:
        kept = snapshot.facts.taken(redact)
        kept.update(snapshot.views, snapshot.calls)
        snapshot.facts.keep(kept)
        return {kept.fact(key).text for key in kept.values}

    assert seen() == {"LK-4821931", "LK-4821932", "LK-4821933", "LK-7000001"}
    secret.append("LK-4821932")
    assert seen() == {"LK-4821931", "LK-4821933", "LK-7000001"}
    grown(reading, items, [{"role": "user", "content": "It is LK-482193."}], 1)
    assert snapshot.facts.taken(None).values == {}  # nor is anything read ahead
    assert_as_whole(snapshot)  # and without one nothing is missing


def test_an_edit_in_the_middle_is_seen_though_the_last_item_is_the_same() -> None:
    """A value that was edited away is no fact any more, and the new one is."""
    items: list[Any] = [{"role": "user", "content": f"It is LK-482193{n}."} for n in range(6)]
    reading = reading_of(items)
    brought_up_to_date(reading.snapshot())
    items[2]["content"] = "It is RMA-90721."
    snapshot = reading.snapshot()
    assert_as_whole(snapshot)
    kept = brought_up_to_date(snapshot)
    assert "id:rma-90721" in kept.values
    assert "id:lk-4821932" not in kept.values


@pytest.mark.parametrize("background", [False, True])
def test_an_item_in_place_of_an_orphan_result_leaves_no_call_behind(background: bool) -> None:
    """The calls behind it have other positions then, though as many items as before are there.

    A turn that may begin a fold in the background leaves what has changed to that fold, or to the
    next turn that reads ahead.
    """
    items: list[Any] = [
        {"role": "user", "content": "Where is it?"},
        {"role": "tool", "tool_call_id": "gone", "content": "lost"},
        *call(1, "get_order", {"order": "LK-4821936"}, {"weight": 3107}),
    ]
    ctx: ChatContext[Any] = ChatContext(policy=Policy(max_tokens=10**9))
    asked_as_it_grows(ctx, items, 1)
    ctx.repair()
    assert [item["role"] for item in ctx.items] == ["user", "user", "assistant", "tool"]
    ctx.maybe_summarize(lambda prompt: "", background=background)
    asked_as_it_grows(ctx, [{"role": "assistant", "content": "It weighs 3107."}], 1)
    assert ctx.load().items == 5


def test_an_edit_is_seen_though_a_counter_fails_when_the_list_is_read_again() -> None:
    """What is known of the calls behind it is let go before anything is counted."""

    class Failing:
        fails = False

        def count(self, text: str) -> int:
            if self.fails:
                raise RuntimeError("the tokenizer is down")
            return len(text)

    counter = Failing()
    items: list[Any] = [
        {"role": "user", "content": "Where is it?"},
        {"role": "tool", "tool_call_id": "gone", "content": "lost"},
        *call(1, "get_order", {"order": "LK-4821936"}, {"weight": 3107}),
    ]
    ctx: ChatContext[Any] = ChatContext(policy=Policy(max_tokens=10**9), counter=counter)
    asked_as_it_grows(ctx, items, 1)
    ctx.items[1], counter.fails = {"role": "user", "content": "I mean my parcel."}, True
    with pytest.raises(RuntimeError, match="tokenizer"):
        ctx.summarize(lambda prompt: "", keep_last_turns=1)
    counter.fails = False
    asked_as_it_grows(ctx, [{"role": "assistant", "content": "It weighs 3107."}], 1)
    assert ctx.load().items == 5


def test_two_folds_at_one_time_do_not_share_what_is_known() -> None:
    """A background fold and one of the owner may both be at work."""
    items = long_history("openai_chat", 40, 3)
    reading = reading_of(items)
    snapshot = reading.snapshot()
    brought_up_to_date(snapshot)
    one, other = snapshot.facts.taken(None), snapshot.facts.taken(None)
    assert one is not other
    other.update(snapshot.views[:10], [c for c in snapshot.calls if (c.result_index or 0) < 10])
    one.update(snapshot.views, snapshot.calls)
    reading.extent()
    snapshot.facts.keep(one)
    snapshot.facts.keep(other)
    assert_as_whole(snapshot)


def test_what_was_read_of_the_tail_is_known_after_a_fold() -> None:
    """A value that was found once is the same object later, and what went is let go."""
    items: list[Any] = []
    reading = reading_of(items, "openai_chat")
    grown(reading, items, long_history("openai_chat", 60, 5), 4)
    before = brought_up_to_date(reading.snapshot())
    tail = reading.snapshot().views[40:]
    known = {key: value for key, value in before.values.items() if before.places[key][0].index > 39}
    assert known
    items[1:40] = [{"role": "user", "content": SUMMARY}]
    after = reading.snapshot()
    assert all(one is other for one, other in zip(after.views[2:], tail, strict=True))
    assert_as_whole(after)
    now = brought_up_to_date(after).values
    assert all(now[key] is value for key, value in known.items())


def test_a_list_that_was_never_read_before_is_not_read_ahead() -> None:
    """Most lists are never folded; a host that hands one over at each turn would pay each time."""
    items = long_history("openai_chat", 30, 2)
    reading = reading_of(items, "openai_chat")
    reading.extent()
    snapshot = reading.snapshot()
    kept = snapshot.facts.taken(None)
    assert not kept.values
    snapshot.facts.keep(kept)
    items.append({"role": "user", "content": "It is LK-4821936."})
    reading.extent()
    assert snapshot.facts.taken(None).values


def test_a_result_of_long_ago_is_bound_to_its_call() -> None:
    """Its call lies far behind the calls that are looked at as items come."""
    calls = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": f"call_{n}",
                    "type": "function",
                    "function": {"name": "wait", "arguments": json.dumps({"order": f"LK-{n:07}"})},
                }
            ],
        }
        for n in range(600)
    ]
    results = [
        {"role": "tool", "tool_call_id": f"call_{n}", "content": f"RMA-{n:06} was made"}
        for n in (599, 0, 300)
    ]
    items: list[Any] = []
    reading = reading_of(items, "openai_chat")
    grown(reading, items, [*calls, *results], 5)
    snapshot = reading.snapshot()
    assert_as_whole(snapshot)
    kept = brought_up_to_date(snapshot)
    assert [kept.places[f"id:rma-{n:06}"][0].call for n in (599, 0, 300)] == [599, 0, 300]
