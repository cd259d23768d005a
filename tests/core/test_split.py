"""The splitter: turns, the prefix, and which cut point is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold.core.calls import CallPairing, ToolCallRecord, pair_calls
from chatfold.core.outline import Outline
from chatfold.core.spans import Span, closure, cut_points, cuttable, open_spans
from chatfold.core.split import Split, prefix_length, split, turns
from chatfold.core.views import (
    CallPart,
    ItemView,
    OpaquePart,
    ResultPart,
    StatePart,
    SummaryPart,
    TextPart,
)
from chatfold.shapes import shape_named

CHAT = shape_named("openai_chat")
KINDS = "sduactx"


def views(letters: str) -> list[ItemView]:
    """Return views by letter: system, developer, user, answer, call, tool result, opaque (x).

    And a message in which the user speaks behind a result (m).
    """
    return [VIEWS[letter] for letter in letters]


VIEWS = {
    "s": ItemView("system", (TextPart("s"),)),
    "d": ItemView("developer", (TextPart("d"),)),
    "u": ItemView("user", (TextPart("u"),)),
    "a": ItemView("assistant", (TextPart("a"),)),
    "c": ItemView("assistant", (CallPart("1", "f", "{}"),)),
    "t": ItemView("tool", (ResultPart("1", None, "t"),)),
    "m": ItemView("user", (ResultPart("1", None, "t"), TextPart("m"))),
    "x": ItemView("state", (OpaquePart("x"),)),
}


def paired(read: Sequence[ItemView]) -> tuple[list[ToolCallRecord], list[Span]]:
    """Return the calls of a list, and what stays together for their sake."""
    pairing = CallPairing(Outline.of(read).last_ask)
    for index, view in enumerate(read):
        pairing.feed(index, view)
    calls = pairing.records()
    return calls, [*pairing.spans, *open_spans(calls, len(read))]


@given(st.text("uct", max_size=10))
def test_the_calls_of_some_items_are_found_without_a_look_at_all(letters: str) -> None:
    """With some before them, wherever in the list these items are."""
    read = views(letters)
    pairing = CallPairing(Outline.of(read).last_ask)
    for index, view in enumerate(read):
        pairing.feed(index, view)
    calls = pairing.records()
    places = [c.result_index if c.call_index is None else c.call_index for c in calls]
    for start, stop in combinations_with_replacement(range(len(letters) + 2), 2):
        for before in (0, 1, 3):
            first = max(0, sum(at < start for at in places if at is not None) - before)
            last = sum(at < stop for at in places if at is not None)
            assert pairing.near(start, stop, before=before) == (first, calls[first:last])


@given(st.text("uctm", max_size=10))
def test_a_list_that_is_there_at_once_has_the_calls_of_one_that_grew(letters: str) -> None:
    """Those that a user has passed over are abandoned in both."""
    read = views(letters)
    assert pair_calls(read) == paired(read)[0]


def cut(letters: str, *, size: int = 10, **options: Any) -> Split:
    """Return the split of a list whose items are all of one size."""
    read = views(letters)
    calls, spans = paired(read)
    wish = {"keep_last_turns": None, "keep_tokens": None} | options
    return split(read, calls, spans, CHAT, tokens=lambda index: size, **wish)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [("", 0), ("s", 1), ("sdu", 2), ("us", 0), ("dsda", 3)],
)
def test_the_prefix_is_the_leading_instructions(letters: str, expected: int) -> None:
    """An instruction behind anything else is in the middle."""
    assert prefix_length(views(letters)) == expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("", []),
        ("sd", []),
        ("sua", [(1, 3, (1,), True)]),
        ("aua", [(0, 1, (), True), (1, 3, (1,), True)]),
        ("uuaua", [(0, 3, (0, 1), True), (3, 5, (3,), True)]),
        ("uctu", [(0, 3, (0,), False), (3, 4, (3,), False)]),
        ("uct", [(0, 3, (0,), False)]),
    ],
)
def test_a_turn_is_a_run_of_user_messages_and_what_follows(
    letters: str, expected: Sequence[tuple[int, int, tuple[int, ...], bool]]
) -> None:
    """Items before the first are a turn without an opener; results open nothing."""
    found = [(t.start, t.stop, t.openers, t.finished) for t in turns(views(letters))]
    assert found == list(expected)


@given(st.text(st.sampled_from(KINDS), max_size=12))
def test_turns_cover_all_behind_the_prefix_in_order(letters: str) -> None:
    """No gap, no overlap, and openers are user messages."""
    read = views(letters)
    found = turns(read)
    covered = [index for turn in found for index in range(turn.start, turn.stop)]
    assert covered == list(range(prefix_length(read), len(read)))
    assert [i for turn in found for i in turn.openers] == [
        i for i, letter in enumerate(letters) if letter == "u"
    ]


@pytest.mark.parametrize(
    ("letters", "options", "expected"),
    [
        pytest.param("uauaua", {"keep_last_turns": 1}, 4, id="turns"),
        pytest.param("suauaua", {"keep_last_turns": 2}, 3, id="behind a prefix"),
        pytest.param("uauaua", {"keep_tokens": 40}, 2, id="tokens, before a user message"),
        pytest.param("uaaaua", {"keep_tokens": 40}, 4, id="a user message at half the budget"),
        pytest.param("uaaaau", {"keep_tokens": 40}, 2, id="less than half: the earliest that fits"),
        pytest.param("uacta", {"keep_tokens": 20}, 4, id="tokens move forward to a cut point"),
        pytest.param("uauaaua", {"keep_tokens": 50}, 2, id="a request that can stand alone"),
        pytest.param("ucmaaua", {"keep_tokens": 50}, 5, id="one that cannot, behind its result"),
        pytest.param("uauaua", {"keep_last_turns": 2, "keep_tokens": 20}, 4, id="shorter tail"),
        pytest.param("uauaua", {"keep_last_turns": 1, "keep_tokens": 40}, 4, id="shorter tail 2"),
        pytest.param("uauaua", {"keep_last_turns": 0}, 6, id="none of a finished list"),
        pytest.param("uauct", {"keep_last_turns": 0}, 3, id="the last group stays"),
        pytest.param("uauctd", {"keep_last_turns": 0}, 3, id="though an instruction follows it"),
        pytest.param("uauctsd", {"keep_last_turns": 0}, 3, id="or several do"),
        pytest.param("uauctas", {"keep_last_turns": 0}, 7, id="not where an answer stands before"),
        pytest.param("uauc", {"keep_last_turns": 0}, 3, id="the open call stays"),
        pytest.param("uauau", {"keep_tokens": 0}, 5, id="the last request is kept, not the tail"),
        pytest.param("uauasua", {"keep_tokens": 40}, 2, id="an instruction takes none of it"),
    ],
)
def test_the_cut_falls_where_the_design_says(
    letters: str, options: dict[str, int], expected: int
) -> None:
    """`keep_last_turns` moves back and `keep_tokens` forward, with both the shorter tail wins."""
    found = cut(letters, **options)
    assert (found.cut, found.reason) == (expected, "")


LARGE = "uuuuuuaaau"
"""A request of 60 tokens, whose finished turn a tail of 40 begins in, and another behind it."""


@pytest.mark.parametrize(
    ("before", "pinned", "expected"),
    [
        pytest.param("", "", 9, id="nothing else goes"),
        pytest.param("ua", "", 9, id="less goes than would stay for that cut"),
        pytest.param("uauaa", "", 9, id="a little less"),
        pytest.param("uauaua", "", 6, id="as much goes"),
        pytest.param("uaua", "all", 6, id="it stays anyway"),
        pytest.param("uaua", "half", 6, id="of it, as much goes as stays"),
        pytest.param("ua", "half", 9, id="of it, more would stay"),
        pytest.param("Sua", "", 9, id="a summary is followed by another"),
    ],
)
def test_a_large_request_of_a_finished_turn_does_not_keep_folds_small(
    before: str, pinned: str, expected: int
) -> None:
    """A cut inside its turn would keep it whole, above the budget, fold after fold."""
    summary = ItemView("user", (SummaryPart("s"),))
    read = [summary if letter == "S" else VIEWS[letter] for letter in before + LARGE]
    calls, spans = paired(read)
    at = len(before)
    stay = {"": range(0), "half": range(at, at + 3), "all": range(at, at + 6)}[pinned]
    found = split(
        read,
        calls,
        spans,
        CHAT,
        keep_last_turns=None,
        keep_tokens=40,
        tokens=lambda index: 100 if read[index] is summary else 10,
        pinned=lambda index: index in stay,
    )
    assert (found.cut - at, found.reason) == (expected, "")
    assert found.kept == tuple(stay if expected == 9 else range(at, at + 6))


@pytest.mark.parametrize("letters", ["ua" + LARGE[:-1], "uauuuuuuca", "uauuuuuuctaac"])
def test_a_large_request_of_the_last_turn_stays(letters: str) -> None:
    """There is no later one to keep in its place."""
    found = cut(letters, keep_tokens=40)
    assert set(range(2, 8)) <= {*found.kept, *range(found.cut, len(letters))}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        pytest.param(("a", "b"), 0, id="both would stay"),
        pytest.param(("a", "a"), 3, id="the later one replaces the earlier"),
    ],
)
def test_state_takes_of_the_budget_what_it_would_not_keep_anyway(
    keys: tuple[str, str], expected: int
) -> None:
    """Of ten tokens an item, four that speak fit, and a setting only where it stays wherever."""
    settings = [ItemView("state", (StatePart("options", frozenset({key})),)) for key in keys]
    read = [*views("ua"), settings[0], *views("ua"), settings[1]]
    calls, spans = paired(read)
    limits: dict[str, Any] = {"keep_last_turns": None, "keep_tokens": 40}
    shape = shape_named("openai_responses")
    found = split(read, calls, spans, shape, tokens=lambda index: 10, **limits)
    assert found.cut == expected


@pytest.mark.parametrize(
    ("letters", "options", "reason"),
    [
        ("", {"keep_last_turns": 0}, "nothing_to_summarize"),
        ("sd", {"keep_tokens": 0}, "nothing_to_summarize"),
        ("ua", {"keep_last_turns": 2}, "too_few_turns"),
        ("ua", {"keep_tokens": 100}, "nothing_to_summarize"),
        ("u", {"keep_last_turns": 0}, "nothing_to_summarize"),
        ("cua", {"keep_last_turns": 1}, ""),
        ("uct", {"keep_last_turns": 0}, "nothing_to_summarize"),
        ("c", {"keep_last_turns": 0}, "blocked_by_open_calls"),
        ("xaua", {"keep_last_turns": 1}, "blocked_by_opaque"),
    ],
)
def test_what_cannot_be_folded_has_a_reason(
    letters: str, options: dict[str, int], reason: str
) -> None:
    """The split is then empty."""
    found = cut(letters, **options)
    assert found.reason == reason
    if reason:
        assert (found.cut, found.kept, found.superseded) == (found.start, (), ())


@given(
    letters=st.text(st.sampled_from(KINDS), max_size=14),
    turn_limit=st.none() | st.integers(0, 4),
    token_limit=st.integers(0, 150),
)
def test_every_split_is_a_cut_point_and_keeps_the_order(
    letters: str, turn_limit: int | None, token_limit: int
) -> None:
    """Whatever the limits, the cut parts nothing, and kept items lie before it."""
    found = cut(letters, keep_last_turns=turn_limit, keep_tokens=token_limit)
    read = views(letters)
    _, spans = paired(read)
    if not found.reason:
        assert found.cut in cut_points(spans, read)
    assert found.start <= found.cut <= len(letters)
    assert list(found.kept) == sorted(set(found.kept))
    assert all(found.start <= i < found.cut for i in found.kept)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "both are None"),
        ({"keep_last_turns": -1}, "keep_last_turns must be 0 or more, not -1"),
        ({"keep_tokens": -5}, "keep_tokens must be 0 or more, not -5"),
    ],
)
def test_limits_are_checked(options: dict[str, int], message: str) -> None:
    """Before anything is looked at."""
    with pytest.raises(ValueError, match=message):
        cut("ua", **options)


# --- spans --------------------------------------------------------------------------------------

SPANS = st.lists(
    st.builds(
        lambda first, more, binds: Span(first, first + more, binds),
        st.integers(0, 9),
        st.integers(0, 6),
        st.sampled_from(["all", "ends", "none"]),
    ),
    max_size=6,
)


@given(SPANS)
def test_a_cut_is_legal_where_it_lies_inside_no_span(spans: list[Span]) -> None:
    """Counted by depth or asked span by span, the answer is the same."""
    legal = cuttable(spans, 12)
    for index in range(13):
        assert bool(legal[index]) == all(not s.first < index <= s.last for s in spans)


@given(SPANS, st.sets(st.integers(0, 12)))
def test_a_closure_keeps_nothing_half(spans: list[Span], wanted: set[int]) -> None:
    """It is the smallest set with `wanted` in it that no span parts."""
    kept = closure(wanted, spans)
    assert wanted <= kept == closure(kept, spans)
    for span in spans:
        bound = set(range(span.first, span.last + 1)) if span.binds == "all" else set(span[:2])
        if span.binds != "none" and kept & bound:
            assert bound <= kept
    assert all(any(i in range(s.first, s.last + 1) for s in spans) for i in kept - wanted)
