"""What calls that failed, or are open, were given, once they are only counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatfold import ChatContext, Outcome
from chatfold.core.entries import Entry, Field
from chatfold.core.record import Record, parsed
from chatfold.core.recording.carry import given_up

TALK = "There are several general points to consider before going on. " * 15
FAILED = '{"error": "gateway timeout"}'
BOOKED = '{"status": "confirmed", "booking": "BK-77001"}'


def guest(number: int) -> dict[str, str]:
    """Return what a call is given that nobody but the user can give again."""
    return {
        "from": f"2027-03-{10 + number}",
        "email": f"kim.{number}@example.org",
        "passport": f"P{number}72839{number}",
    }


def asked(number: int, result: str | None) -> list[dict[str, Any]]:
    """Return a turn in which a call is made that comes to `result`, None for nothing."""
    given, call = guest(number), {"name": "book_hotel", "arguments": json.dumps(guest(number))}
    calls = [{"id": f"b{number}", "type": "function", "function": call}]
    answer = {"role": "tool", "tool_call_id": f"b{number}", "content": result}
    return [
        {"role": "user", "content": "Book a hotel: {from}, {email}, {passport}.".format(**given)},
        {"role": "assistant", "content": None, "tool_calls": calls},
        *([answer] if result is not None else []),
        {"role": "assistant", "content": TALK},
    ]


def folded(
    turns: list[list[dict[str, Any]]], per_fold: int = 2, **options: Any
) -> tuple[list[Outcome], Record]:
    """Fold a list after every few turns; return what came of each, and the last record."""
    items: list[dict[str, Any]] = []
    ctx = ChatContext(items, shape="openai_chat")
    outcomes: list[Outcome] = []
    for start in range(0, len(turns), per_fold):
        for turn in turns[start : start + per_fold]:
            items += turn
        items += [{"role": "user", "content": "ok"}, {"role": "assistant", "content": "Fine."}]
        made = ctx.summarize(lambda _: "They talked.", keep_last_turns=1, **options)
        outcomes.append(made)
    assert outcomes[-1].facts is not None
    return outcomes, parsed(outcomes[-1].facts.record)[1]


def left_out(outcomes: list[Outcome]) -> set[str]:
    return {f.text for made in outcomes if made.facts is not None for f in made.facts.left_out}


def counted(made: Outcome) -> tuple[Field, ...]:
    """Return what names the calls that are only counted."""
    record = Record() if made.facts is None else parsed(made.facts.record)[1]
    return tuple(f for e in record.failed if e.arguments is None for f in e.values)


def lost(outcomes: list[Outcome], numbers: range) -> list[str]:
    """Return what calls were given that stands nowhere any more."""
    assert outcomes[-1].summary is not None
    assert outcomes[-1].facts is not None
    shown = outcomes[-1].summary + outcomes[-1].facts.record
    return [text for number in numbers for text in guest(number).values() if text not in shown]


@pytest.mark.parametrize("result", [FAILED, None])
def test_what_calls_were_given_stands_on_once_they_are_only_counted(result: str | None) -> None:
    """The user has said it once; no lookup gives it again."""
    outcomes, record = folded([asked(n, result) for n in range(6)])

    counted = [e for e in (*record.failed, *record.open) if e.arguments is None]
    assert [entry.calls for entry in counted] == [5]
    assert lost(outcomes, range(6)) == []


@pytest.mark.parametrize("options", [{}, {"ledger_tokens": 60}, {"ledger_tokens": 0}])
@pytest.mark.parametrize("result", [FAILED, None])
def test_what_has_no_room_any_more_is_named(result: str | None, options: dict[str, Any]) -> None:
    """Law 13, in the fold in which it goes, whether there are values or not."""
    outcomes, _ = folded([asked(n, result) for n in range(16)], **options)

    gone = lost(outcomes, range(16))
    assert {*gone} <= left_out(outcomes)
    assert gone or not options


def test_why_a_call_failed_does_not_outlive_one_that_was_made_again() -> None:
    """Of what a call was given, the call that was made again tells."""
    turns = [asked(n, FAILED) for n in range(5)]

    outcomes, record = folded([*turns, asked(0, BOOKED), asked(1, BOOKED)], 6)

    values = [field.text for entry in record.values for field in entry.values]
    assert "gateway timeout" not in values
    assert len(values) == len(set(values))
    assert lost(outcomes, range(5)) == []


def test_names_of_calls_that_were_counted_before_are_what_they_were_given() -> None:
    """A count has the newest names alone, and later those of newer calls."""
    turns = [asked(n, FAILED) for n in range(20)]

    outcomes, record = folded(turns, 1, ledger_tokens=700)

    names = {f.text for made in outcomes for f in counted(made)}
    assert len(names) > len(counted(outcomes[-1]))
    assert [entry.arguments for entry in record.failed][:1] == [None]
    assert lost(outcomes, range(20)) == []


def test_only_what_an_earlier_record_told_is_given_up() -> None:
    """What goes now is looked for in the list, and what is told still is not given up."""
    old, newer, told, waits = (
        Entry("pay", (Field("id", text),), (Field("", "failed"),)) for text in "ABCD"
    )
    counts = Entry("pay", None, calls=3)
    whole = Record((), (), (old, newer, told), (waits,))
    acted = Record((), (), (counts, told._replace(call="c1")))

    assert given_up(whole, acted, Record((), (), (newer,))) == [old, waits]
