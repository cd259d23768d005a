"""What a list would become: which calls it has then."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chatfold.core.calls import pair_calls
from chatfold.core.commit import calls_behind
from chatfold.core.replacement import Replacement
from chatfold.core.views import (
    CallPart,
    ItemView,
    Part,
    ResultPart,
    ServerCallPart,
    SummaryPart,
    TextPart,
)

IDS, NAMES = st.sampled_from(["1", "2", None]), st.sampled_from(["f", "g", None])
FAMILIES = st.sampled_from(["function", "function", "approval"])
SUMMARY = ItemView("user", (SummaryPart("s"),))
KEPT = ItemView("assistant", (TextPart("k"),))


@st.composite
def parts(draw: st.DrawFn) -> Part:
    """Draw a part: few ids and names, so that results find several calls, or none."""
    id_, name, family = draw(IDS), draw(NAMES), draw(FAMILIES)
    match draw(st.sampled_from("ccrrrst")):
        case "c":
            kind = "approval" if family == "approval" else "function"
            served, waits = draw(st.booleans()), draw(st.booleans())
            return CallPart(id_, name, "{}", kind, family, asynchronous=waits, served=served)
        case "r":
            return ResultPart(id_, name, "t", pair=family)
        case "s":
            return ServerCallPart(
                id_, name, "{}", "r", draw(st.sampled_from(["open", "completed"]))
            )
        case _:
            return TextPart("x")


VIEWS = st.builds(
    ItemView,
    st.sampled_from(["user", "assistant", "assistant", "tool"]),
    st.lists(parts(), min_size=1, max_size=3).map(tuple),
    shape=st.sampled_from(["a", "a", "b"]),
    whole_step=st.booleans(),
)


@given(
    head=st.lists(VIEWS, min_size=1, max_size=5),
    tail=st.lists(VIEWS, max_size=5),
    put_in=st.lists(st.just(KEPT) | VIEWS, max_size=1),
    first=st.booleans(),
)
def test_a_list_behind_a_fold_has_the_calls_of_one_that_is_paired_anew(
    head: list[ItemView], tail: list[ItemView], put_in: list[ItemView], first: bool
) -> None:
    """Unless it is said that they are not known."""
    prefix = [ItemView("system", (TextPart("p"),))] if first else []
    made: Replacement[Any] = Replacement(
        len(prefix), len(prefix) + len(head), (object(),) * (1 + len(put_in))
    )
    new = [*prefix, SUMMARY, *put_in, *tail]
    known = calls_behind(pair_calls([*prefix, *head, *tail]), made, new)
    assert known is None or known == pair_calls(new)


def test_those_of_most_lists_are_known() -> None:
    """They stand further in front, as open and as answered as they were."""
    call, result = CallPart("1", "f", "{}"), ResultPart("1", None, "t")
    asked, answered = ItemView("assistant", (call,)), ItemView("tool", (result,))
    user = ItemView("user", (TextPart("u"),))
    old = [user, asked, answered, user, asked, answered, user, asked]
    made: Replacement[Any] = Replacement(0, 3, (object(),))
    known = calls_behind(pair_calls(old), made, [SUMMARY, *old[3:]])
    assert known is not None
    assert [(c.call_index, c.result_index) for c in known] == [(2, 3), (5, None)]


def test_a_call_whose_result_goes_or_comes_with_what_is_put_in_is_looked_for() -> None:
    """What stays of the head may hold calls, and a result may stand apart from its call."""
    call, result = CallPart("1", "f", "{}"), ResultPart("1", None, "t")
    asked, answered = ItemView("assistant", (call,)), ItemView("tool", (result,))
    old = [asked, answered]
    kept: Replacement[Any] = Replacement(0, 1, (object(), object()))
    assert calls_behind(pair_calls(old), kept, [SUMMARY, asked, answered]) is None
    parted: Replacement[Any] = Replacement(0, 1, (object(),))
    assert calls_behind(pair_calls(old), parted, [SUMMARY, answered]) is None
    in_front: Replacement[Any] = Replacement(2, 3, (object(),))
    text = ItemView("user", (TextPart("u"),))
    assert calls_behind(pair_calls([*old, text]), in_front, [*old, SUMMARY]) is None
