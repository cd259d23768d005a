"""What names calls that are counted together: each name is told, or lies in a range that is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold import ChatContext
from chatfold.core.entries import Entry, Field, line
from chatfold.core.record import Record, parsed, rendered
from chatfold.core.recording.carry import Budget, merged
from chatfold.core.recording.counted import (
    counted_together,
    with_fewer_names,
    with_newest_names,
    without_calls,
)
from chatfold.tokens import estimate

TO = " ... "


def size(text: str) -> int:
    return estimate(text)


def returned(order: int, made: int, *, label: str = "") -> Entry:
    """Return a call that made a thing with an id of its own; others may be for its order, too."""
    said = Field(label, f"RMA-{made}" if label else f"created RMA-{made} for LK-{order}")
    return Entry("create_return", (Field("order", f"LK-{order}"),), (said,))


def ids(entry: Entry) -> tuple[str, str]:
    """Return the ids that may name a call."""
    assert entry.arguments is not None
    return entry.arguments[0].text, entry.values[0].text.removeprefix("created ").partition(" ")[0]


def told(entry: Entry, calls: Sequence[Entry]) -> set[str]:
    """Return the ids of the calls that an entry names, or that lie in a range of it."""
    found: set[str] = set()
    for field in entry.values:
        first, _, last = field.text.partition(TO)
        starts = [n for n, call in enumerate(calls) if first in ids(call)]
        ends = [n for n, call in enumerate(calls) if (last or first) in ids(call)]
        inside = calls[starts[0] : ends[-1] + 1] if last else [calls[n] for n in starts]
        found.update(text for call in inside for text in ids(call))
    return found


folds = st.lists(
    st.tuples(st.lists(st.integers(10, 17), min_size=1, max_size=8), st.integers(30, 120)),
    min_size=2,
    max_size=6,
)


@given(folds=folds, label=st.sampled_from(["", "rma"]))
def test_each_name_is_told_or_lies_in_a_range_over_any_number_of_folds(
    folds: list[tuple[list[int], int]], label: str
) -> None:
    """Of calls for the same order the first is named by that, and others by what they made."""
    calls: list[Entry] = []
    record = Record()
    for orders, room in folds:
        new = [returned(o, 100 + len(calls) + n, label=label) for n, o in enumerate(orders)]
        calls += new
        record = merged(record, Record(done=tuple(new)), Budget(0, room, size))
        record = parsed(rendered(record))[1]  # as the next fold reads it
        alone = {ids(entry)[1] for entry in record.done if entry.arguments is not None}
        counts = [entry for entry in record.done if entry.arguments is None]
        assert sum(entry.calls for entry in record.done) == len(calls)
        for entry in counts:
            if not entry.values:
                break  # there was no room for any name, and none comes back
            counted = [call for call in calls if ids(call)[1] not in alone]
            assert len(counted) == entry.calls
            known = told(entry, counted)
            assert all(known.intersection(ids(call)) for call in counted)
            newest = entry.values[-1].text.rpartition(TO)[2]
            assert newest in ids(counted[-1])
        else:
            continue
        break


def made(number: int) -> Field:
    return Field("", f"made RMA-{number}")


MIXED = counted_together(
    [returned(1, 11), returned(2, 12), returned(3, 13), returned(2, 14), returned(5, 15)]
)


def test_names_stand_in_the_order_of_time_whatever_leads_to_them() -> None:
    """What has no label gets one behind others: it would read as one more of those."""
    assert line(MIXED) == (
        "create_return (5 earlier calls): order=LK-1, id=RMA-12, order=LK-3, id=RMA-14, order=LK-5"
    )
    bare = counted_together([Entry("go", (), (made(n),)) for n in (1, 2)])
    assert line(bare) == "go (2 earlier calls): RMA-1, RMA-2"
    more = counted_together(
        [bare, Entry("go", (Field("to", "LK-3"),)), Entry("go", (), (made(4),))]
    )
    assert line(more) == "go (4 earlier calls): RMA-1, RMA-2, to=LK-3, id=RMA-4"
    assert (
        line(with_fewer_names(more, lambda e: len(e.values) < 2))
        == "go (4 earlier calls): RMA-1 ... RMA-4"
    )


def test_the_oldest_names_go_first_whatever_leads_to_them() -> None:
    """From one thing to another there is a range too; what is told of it holds for both ends."""
    left: dict[str, None] = {}
    for most in range(len(line(MIXED)), 0, -1):
        less = with_fewer_names(MIXED, lambda entry, most=most: len(line(entry)) <= most)
        left[line(less).partition(": ")[2]] = None
    assert [*left] == [
        "LK-1 ... RMA-12, order=LK-3, id=RMA-14, order=LK-5",
        "order=LK-1 ... LK-3, id=RMA-14, order=LK-5",
        "LK-1 ... RMA-14, order=LK-5",
        "order=LK-1 ... LK-5",
    ]


def test_the_newest_name_stays_longest_where_no_range_is_written() -> None:
    for most in range(len(line(MIXED)), 0, -1):
        less = with_newest_names(MIXED, lambda e, most=most: len(line(e)) <= most, least=1)
        if less.values:
            assert less.values[-1].text == "LK-5"
    assert with_newest_names(MIXED, lambda e: len(e.values) == 1).values == (
        Field("order", "LK-5"),
    )


def test_what_is_named_again_counts_as_new() -> None:
    """It would else go into the range of the oldest with its first call."""
    again = counted_together([MIXED, returned(1, 16)])
    assert [field.text for field in again.values][-2:] == ["LK-5", "LK-1"]
    assert [field.text for field in again.values].count("LK-1") == 1


def test_a_call_that_was_made_again_is_found_under_the_label_that_it_got() -> None:
    failed = [Entry("run", (Field("", f"LK-{n}"),), (Field("", "no"),)) for n in (1, 2)]
    other = Entry("run", (Field("job", "LK-3"),), (Field("", "no"),))
    both = counted_together([other, *failed])
    assert line(both) == "run (3 earlier calls): job=LK-3, id=LK-1, LK-2"
    left = without_calls(both, failed[:1], others_wait=False)
    assert left is not None
    assert line(left) == "run (2 earlier calls): job=LK-3, id=LK-2"
    left = without_calls(counted_together(failed), failed[:1], others_wait=False)
    assert left is not None
    assert line(left) == "run: LK-2"


@pytest.mark.parametrize(
    ("odd", "names"),
    [
        ({"closed_by": "agent 4"}, "T-100 ... T-109"),
        ({"error": "locked"}, "T-100, T-109"),
        ({"status": "pending_approval"}, "T-100, T-109"),
        ({"status": "pending_approval", "message": "Somebody has to look"}, "T-100, T-109"),
    ],
)
def test_calls_that_are_too_old_to_be_read_lie_in_a_range(odd: dict[str, str], names: str) -> None:
    """But not where one between them was not done: it would seem to be."""
    items: list[Any] = [{"role": "user", "content": "Close these, then refund all."}]
    given = [("close_ticket", {"ticket": f"T-{100 + n}"}) for n in range(10)]
    given += [("issue_refund", {"order": f"LK-{10_000 + n}"}) for n in range(300)]
    for number, (name, arguments) in enumerate(given):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": f"c{number}", "type": "function", "function": function}
        said = odd if number == 4 else {"closed_by": f"agent {number}"}
        items += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(said)},
        ]
    items += [{"role": "user", "content": "And now?"}]
    made = ChatContext(items).summarize(
        lambda _: "They talked.", keep_last_turns=1, ledger_tokens=2_000
    )
    assert made.facts is not None
    told = made.facts.record.split("\n")
    (count,) = (text for text in told if text.startswith("- close_ticket ("))
    assert count.partition(": ticket=")[2] == names
