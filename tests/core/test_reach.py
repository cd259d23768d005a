"""How far into a list a fold may go, told from its end, against where the list is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold.core.calls import CallPairing
from chatfold.core.outline import Outline
from chatfold.core.reach import Reach, reach_of
from chatfold.core.spans import open_spans
from chatfold.core.split import split
from chatfold.core.views import CallPart, ItemView, ReasoningPart, ResultPart, TextPart
from chatfold.shapes import shape_named

CHAT = shape_named("openai_chat")

VIEWS = {
    "u": ItemView("user", (TextPart("u"),)),
    "a": ItemView("assistant", (TextPart("a"),)),
    "r": ItemView("assistant", (ReasoningPart("r"),)),
    "s": ItemView("system", (TextPart("s"),)),
    **{name: ItemView("assistant", (CallPart(name, "f", "{}"),)) for name in "CDE"},
    **{name: ItemView("tool", (ResultPart(name.upper(), None, "t"),)) for name in "cde"},
}
"""By letter: what a user says, an answer, a thought, an instruction, three calls, and in small what
came of these."""


def reach(letters: str, sizes: list[int], keep: int) -> Reach:
    views = [VIEWS[letter] for letter in letters]
    outline = Outline.of(views)
    pairing = CallPairing(outline.last_ask)
    for index, view in enumerate(views):
        pairing.feed(index, view)
    return reach_of(views, sizes, sum(sizes), pairing.spans, outline.asks, keep)


@pytest.mark.parametrize(
    ("letters", "keep", "most", "kept"),
    [
        ("", 5, 0, 0),
        ("u", 0, 0, 1),  # the request stays while it is not answered
        ("ua", 0, 11, 11),
        ("ua", 10, 11, 1),
        ("uCc", 0, 0, 1),  # what the model has yet to see
        ("uCca", 0, 1111, 1111),
        ("uCcD", 0, 1110, 1111),  # the next call says that it was seen
        ("uCcr", 0, 0, 1),  # a thought alone does not
        ("uCcs", 0, 0, 1),  # nor does an instruction
        ("uCDcd", 0, 0, 1),  # two calls of one step go together
        ("uCcDdEe", 0, 11_110, 11_111),
        ("uCcDdEe", 1_111_000, 11_110, 111),  # cut where less is left than may be
        ("uCcDdEe", 1_101_000, 11_110, 11_111),
        ("uCcDd", 9_999, 110, 111),
        ("uCcDd", 11_110, 110, 1),
        ("uaCua", 0, 11111, 11111),
        ("uuaa", 0, 1111, 1111),
        ("aauuC", 0, 10_011, 11111),
    ],
)
def test_what_stands_before_the_places_where_a_list_may_be_cut(
    letters: str, keep: int, most: int, kept: int
) -> None:
    """Each item weighs ten times the one before it, so that sums name their items."""
    sizes = [10**at for at in range(len(letters))]
    assert reach(letters, sizes, keep) == (most, kept)


def test_it_grew_where_one_of_both_did() -> None:
    before = Reach(100, 50)
    assert Reach(110, 50).grew(before, 10)
    assert Reach(0, 60).grew(before, 10)
    assert not Reach(109, 59).grew(before, 10)


@given(
    st.lists(st.tuples(st.sampled_from("uuaarCcDdEe"), st.integers(1, 30)), max_size=30),
    st.integers(0, 120),
)
def test_a_list_is_not_cut_before_that_unless_a_call_is_open(
    drawn: list[tuple[str, int]], keep: int
) -> None:
    """So what could be folded does not grow unseen; a call that ends is told by itself."""
    letters, sizes = "".join(letter for letter, _ in drawn), [size for _, size in drawn]
    views = [VIEWS[letter] for letter in letters]
    outline = Outline.of(views)
    pairing = CallPairing(outline.last_ask)
    for index, view in enumerate(views):
        pairing.feed(index, view)
    calls = pairing.records()
    spans = [*pairing.spans, *open_spans(calls, len(views))]
    found = reach(letters, sizes, keep)
    blocked = any(call.status == "open" for call in calls)
    # Then the request of an earlier turn stays.
    late = any(span.first < ask < span.last for span in spans for ask in outline.asks)
    for turns, tokens, told in ((0, None, None), (None, keep, found.kept)):
        made = split(
            views,
            calls,
            spans,
            CHAT,
            keep_last_turns=turns,
            keep_tokens=tokens,
            tokens=sizes.__getitem__,
            outline=outline,
        )
        if made.reason:
            continue
        before = sum(sizes[: made.cut])
        if told is None:
            gone = before - sum(sizes[i] for i in made.kept)
            assert gone == found.most if not (blocked or late) else gone <= found.most
        elif not blocked:
            assert before >= told


def test_of_many_messages_in_a_row_only_the_latest_are_looked_at() -> None:
    """At each turn that waits: a list of nothing else may be as long as any."""
    assert [reach("u" * n, [1] * n, 0).most for n in (3, 64, 65, 100)] == [0, 0, 1, 36]
