"""What of a call stays where what was done and what failed are made shorter."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatfold import ChatContext, FactReport
from chatfold.core.entries import Entry, Field, line
from chatfold.core.record import Record, rendered
from chatfold.core.recording.carry import Budget, merged
from chatfold.core.recording.counted import with_fewer_arguments
from chatfold.tokens import estimate

Item = dict[str, Any]


def size(text: str) -> int:
    return estimate(text)


def call(number: int, name: str, given: Item, gave: Any) -> list[Item]:
    function = {"name": name, "arguments": json.dumps(given)}
    made = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(gave)},
    ]


def folded(items: list[Item], tokens: int | None = None) -> FactReport:
    """Fold a list behind which the user says one more word; return what is told of it."""
    items += [
        {"role": "assistant", "content": "Well. " + "That is how it went. " * 40},
        {"role": "user", "content": "And now?"},
    ]
    made = ChatContext(items).summarize(
        lambda prompt: "They talked.", keep_last_turns=1, ledger_tokens=tokens
    )
    assert made.facts is not None
    return made.facts


PAID = Entry(
    "create_transfer",
    (Field("kind", "sepa"), Field("to", "DE02120300000000202051"), Field("amount", "80.00")),
    (Field("", "IBAN_NAME_MISMATCH"),),
    "call_9",
)


def test_what_a_failed_call_was_given_goes_before_why_it_failed() -> None:
    """An id of it stays longest; the reason goes last of all."""
    shorter: list[str] = []
    most = size(line(PAID))

    def fits(entry: Entry) -> bool:
        return size(line(entry)) <= most

    while most:
        less = line(with_fewer_arguments(PAID, fits))
        if less not in shorter:
            shorter.append(less)
        most -= 1
    assert shorter == [
        line(PAID),
        line(PAID._replace(call="")),
        "create_transfer(kind=sepa, to=DE02120300000000202051, …): IBAN_NAME_MISMATCH",
        "create_transfer(to=DE02120300000000202051, …): IBAN_NAME_MISMATCH",
        "create_transfer(…): IBAN_NAME_MISMATCH",
        "create_transfer",
    ]


@pytest.mark.parametrize("room", [90, 120, 200])
def test_each_failure_that_is_alone_of_its_tool_keeps_its_reason(room: int) -> None:
    """Also beside a last one that is long, and where much was done."""
    long = Entry("run", (Field("sql", "UPDATE orders " * 9),), (Field("", "ERROR: 57014"),))
    deeds = tuple(
        Entry("send", (Field("to", f"d{n}"),), (Field("id", f"M-{n}"),)) for n in range(40)
    )
    record = merged(Record(), Record(done=deeds, failed=(PAID, long)), Budget(0, room, size))
    told = [line(entry) for entry in record.failed]
    assert "IBAN_NAME_MISMATCH" in told[0]
    assert "57014" in told[1]
    assert size(rendered(record)) <= room
    assert record.done


def test_a_reason_that_is_lost_is_left_out() -> None:
    """No item names it any more once the first fold has gone: nothing else says that it is gone."""
    items: list[Item] = [{"role": "user", "content": "Move them."}]
    items += call(0, "run_sql", {"sql": "UPDATE t"}, {"error": "E-5501 violates orders_fk_77"})
    first = folded(items)
    assert "orders_fk_77" in first.record
    for n in range(30):
        items += call(n, "run_sql", {"sql": f"UPDATE u{n}"}, {"error": f"timeout of job {n}"})
    made = folded(items)
    assert "orders_fk_77" not in made.record
    assert "orders_fk_77" in {fact.text for fact in made.left_out}


def order(number: int, to: str) -> Entry:
    made = Field("order_id", f"SO-44{number}"), Field("status", "active")
    return Entry("create_order", (Field("to", to), Field("amount", "1250.00")), made)


def test_calls_of_one_tool_are_named_by_the_same() -> None:
    """Of two orders one was deleted: `order_id=SO-4410, to=DE75...` would read as one of both."""
    gone = Entry("delete_order", (Field("order_id", "SO-4410"),), (Field("status", "deleted"),))
    to = ("DE12500105170648489890", "DE75512108001245126199", "DE02120300000000202051")
    orders = [order(n, iban) for n, iban in zip((10, 23, 31), to, strict=True)]
    first = merged(Record(), Record(done=(orders[0], gone, orders[1])), Budget(0, 52, size))
    assert "create_order (2 earlier calls): order_id=SO-4410, SO-4423" in map(line, first.done)
    again = merged(first, Record(done=(orders[2],)), Budget(0, 52, size))
    assert "create_order (3 earlier calls): order_id=SO-4410, SO-4423, SO-4431" in map(
        line, again.done
    )


def test_calls_are_named_by_what_they_were_given_where_nothing_used_what_they_made() -> None:
    """Who asks whether an order was refunded knows the order, and no refund."""
    refunds = [
        Entry("refund", (Field("order", f"LK-{n}"),), (Field("refund_id", f"RF-{n}"),))
        for n in range(10, 16)
    ]
    made = merged(Record(), Record(done=tuple(refunds)), Budget(0, 40, size)).done[0]
    assert [field.label for field in made.values][:1] == ["order"]


def limit(card: int, status: str) -> Entry:
    made = Field("status", status), Field("request_id", f"CL-{card}")
    return Entry("set_limit", (Field("card", str(card)), Field("limit", "4000")), made)


@pytest.mark.parametrize("room", [18, 22, 25, 40, 60])
def test_what_waits_for_an_approval_never_reads_as_done(room: int) -> None:
    """However little room there is, and over several folds: it says so, or is not there."""
    wait = [limit(5278, "pending_approval"), limit(7731, "pending_approval")]
    well = [limit(card, "active") for card in range(1001, 1009)]
    deeds = (wait[0], *well[:4], wait[1], *well[4:])
    record = merged(Record(), Record(done=deeds), Budget(0, room, size))
    for _ in range(3):
        assert size(rendered(record)) <= room
        for entry in record.done:
            told = line(entry)
            assert ("pending_approval" in told) == ("5278" in told or "7731" in told) or (
                entry.arguments is None and "pending_approval" in told
            )
        assert sum(e.calls for e in record.done if "pending" not in line(e)) <= len(well)
        record = merged(record, Record(), Budget(0, room, size))
    both = merged(Record(), Record(done=(*wait, *well)), Budget(0, 60, size)).done
    assert "set_limit (2 earlier calls): card=5278, 7731, status=pending_approval" in map(
        line, both
    )
