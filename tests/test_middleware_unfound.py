"""`Middleware`: a host whose lists begin otherwise at each turn pays each time, and is told so."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import pytest
from test_middleware import Teller, middleware, reloaded, talk

from chatfold import Policy
from chatfold.host_list import HostList

POLICY = Policy(max_items=24, keep_last_turns=2, keep_tokens=400, max_tokens=2_000, min_gain=0.0)
WARNING = "a summary of a conversation from its beginning"

Item = dict[str, Any]
Turns = Callable[[int], list[Item]]


def nothing(_item: Any) -> Any:
    raise AssertionError("prints alone are compared")


def told(caplog: pytest.LogCaptureFixture) -> int:
    return sum(WARNING in record.getMessage() for record in caplog.records)


def last_messages(number: int) -> list[Item]:
    """Return what a host hands over that cuts its history itself."""
    return talk(20 + number)[-40:]


def clock_in_first(number: int) -> list[Item]:
    """Return what a host hands over that writes the time into the user's first message."""
    first, *rest = talk(20 + number)
    return [{**first, "content": f"It is 10:{number:02}. {first['content']}"}, *rest]


def edited_early(number: int) -> list[Item]:
    """Return what a host hands over that edits the first third of its history each time."""
    items = talk(20 + number)
    return [
        {**m, "content": f"{m['content']} {number}"} if i < 6 else m for i, m in enumerate(items)
    ]


@pytest.mark.parametrize("turns", [last_messages, clock_in_first, edited_early])
@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("hand", [list, reloaded])
def test_a_host_that_pays_for_all_of_it_at_each_turn_is_told_once(
    turns: Turns,
    background: bool,
    hand: Callable[[Sequence[Any]], list[Any]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """At the fourth time: an old message may well be edited now and then."""
    wrapper = middleware(Teller(), POLICY, background=background)
    for number in range(3):
        wrapper.fold(hand(turns(number)), key="secret key")
    assert not told(caplog)
    for number in range(3, 6):
        wrapper.fold(hand(turns(number)), key="secret key")
    assert told(caplog) == 1
    assert "secret" not in caplog.text
    assert "LK-" not in caplog.text


def test_conversations_of_one_name_do_not_hide_it(caplog: pytest.LogCaptureFixture) -> None:
    """They take turns, as those of a tenant do."""
    wrapper = middleware(Teller(), POLICY)
    for number in range(4):
        for other in range(4):
            items = talk(20 + number, start=1_000 * other)[-40:]
            wrapper.fold(reloaded(items), key="tenant")
    assert told(caplog) == 1


def grown() -> list[list[Item]]:
    """A host that hands over all that there is."""
    return [talk(20 + number) for number in range(30)]


def branched() -> list[list[Item]]:
    """A host whose user goes back behind what was folded, again and again, and says otherwise."""
    return [[*talk(4), *talk(20, start=100 * number)] for number in range(1, 8)]


def others() -> list[list[Item]]:
    """Conversations of one name, each of its own words."""
    return [talk(20, start=100 * number) for number in range(8)]


def alike() -> list[list[Item]]:
    """Conversations of one name whose users say little, and much the same."""
    small = [{"role": r, "content": c} for r, c in (("user", "Go on."), ("assistant", "Done."))]
    return [[*talk(2, start=100 * number, words=200), *small * 12] for number in range(8)]


def edited_late() -> list[list[Item]]:
    """A host that puts documents beside the last question, and takes them out at the next turn."""
    made: list[list[Item]] = []
    for number in range(8):
        *rest, last, _ = talk(20 + number)
        made.append([*rest, {**last, "content": f"Documents of {number}. {last['content']}"}])
    return made


def edited_behind() -> list[list[Item]]:
    """A host that edits what comes behind a first fold: that is found again each time."""
    later = talk(20, start=100)
    edits = [[{"role": "user", "content": f"Edit {n}"}, *later[1:]] for n in range(8)]
    return [talk(20), *([*talk(20), *edit] for edit in edits)]


def kept_folded() -> list[list[Item]]:
    """A host that goes on with what it was given in place of its list, most of which stayed."""
    items, made = talk(20), list[list[Item]]()
    wrapper = middleware(Teller(), Policy(max_items=24, keep_last_turns=9, min_gain=0.0))
    for number in range(8):
        made.append(items)
        folded = wrapper.fold(items)
        assert folded.outcome.reason == "summarized"
        items = [*folded.items, *talk(3, start=100 * (number + 1))]
    return made


@pytest.mark.parametrize(
    "lists", [grown, branched, others, alike, edited_late, edited_behind, kept_folded]
)
@pytest.mark.parametrize("background", [False, True])
def test_others_are_not_told(
    lists: Callable[[], list[list[Item]]], background: bool, caplog: pytest.LogCaptureFixture
) -> None:
    wrapper = middleware(Teller(), POLICY, background=background)
    for items in lists():
        wrapper.fold(reloaded(items), key="tenant")
    assert not told(caplog)


def test_a_fold_that_fails_is_one_list_however_often_it_is_tried(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is not told of, and hides no other conversation of its name."""

    def fails(_prompt: Any) -> str:
        raise RuntimeError("429")

    wrapper = middleware(fails, Policy(max_items=24, keep_last_turns=2, backoff=0.0))
    for number in range(4):
        assert not told(caplog)
        for _ in range(10):
            assert wrapper.fold(talk(20, start=500), key="a").outcome.reason == "failed"
        wrapper.fold(last_messages(number), key="a")
    assert told(caplog) == 1


@pytest.mark.parametrize("kind", ["vetoed", "extractive"])
def test_where_no_model_is_asked_nothing_is_paid(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    def hook(_event: Any) -> bool:
        return kind != "vetoed"

    llm = "extractive" if kind == "extractive" else Teller()
    wrapper = middleware(llm, POLICY, on_event=hook)
    for number in range(6):
        wrapper.fold(last_messages(number), key="a")
    assert not told(caplog)


@pytest.mark.parametrize(
    ("ours", "theirs", "is_retold"),
    [
        (range(2, 20), range(18), True),
        ([99, *range(1, 20)], range(20), True),
        (range(20), range(12), False),  # it goes on
        (range(12), range(20), False),  # it was taken back
        ([*range(10), *range(50, 60)], range(20), False),  # a branch
        ([*range(50, 61), *range(10, 20)], range(20), False),  # less than half
        ([*range(50, 60), *range(10, 20)], range(20), True),
        ([50, *range(1, 7)], range(7), False),  # too few to tell
        ([50, *range(1, 8)], range(8), True),
        ([50, *[1] * 30], [60, *[1] * 30], False),  # one thing that is said again and again
    ],
)
def test_what_stands_behind_another_beginning(
    ours: Iterable[int], theirs: Iterable[int], is_retold: bool
) -> None:
    one, other = (
        HostList([{"role": "user", "content": str(n)} for n in numbers], 0, None, nothing)
        for numbers in (ours, theirs)
    )
    assert one.retells(other) is is_retold


def test_a_list_that_is_summarized_anew_now_and_then_is_not_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Three edits of an old message by its user are three folds, as was to be expected."""
    caplog.set_level(logging.WARNING)
    teller = Teller()
    wrapper = middleware(teller, POLICY)
    for items in islice(map(clock_in_first, range(9)), 3):
        for _ in range(3):
            wrapper.fold(reloaded(items), key="a")
    assert len(teller.prompts) == 3
    assert not told(caplog)
