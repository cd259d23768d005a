"""What of a call stays where what was done and what failed are made shorter."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatfold import ChatContext, FactReport
from chatfold.core.entries import Entry, Field, line
from chatfold.core.record import Record, rendered
from chatfold.core.recording.carry import Budget, merged
from chatfold.core.recording.counted import Ids, with_fewer_arguments
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


def ran(name: str, *, unsure: bool, tool: str = "shell") -> Entry:
    return Entry(tool, (Field("job", name),), (Field("said", "fine"),), unsure=unsure)


@pytest.mark.parametrize("rooms", [(120, 120, 120), (120, 90, 60)])
def test_what_was_surely_done_is_not_counted_with_what_may_have_changed_nothing(
    rooms: tuple[int, ...],
) -> None:
    """Fold after fold; the others are marked as long as they stand there."""
    record = Record(done=(ran("DEP-1", unsure=False),))
    for fold, room in enumerate(rooms):
        new = tuple(ran(f"PERF-{fold}-{n}", unsure=True) for n in range(20))
        record = merged(record, Record(done=new), Budget(0, room, size))
        told = [*map(line, record.done)]
        assert [text for text in told if "(effect unknown)" not in text] == [
            "shell(job=DEP-1): said=fine"
        ]
        assert sum(entry.calls for entry in record.done if entry.unsure) == 20 * (fold + 1)


def test_of_a_tool_goes_first_what_may_have_changed_nothing() -> None:
    """Though what surely did something is older, and takes more room."""
    sure = [ran(f"DEP-{n}", unsure=False) for n in range(6)]
    unsure = [ran(f"PERF-{n}", unsure=True) for n in range(4)]
    whole = Record(done=(*sure, *unsure))
    room = size(rendered(whole)) - 20
    cut = merged(Record(), whole, Budget(0, room, size)).done
    assert [e for e in cut if not e.unsure] == sure
    assert cut[0].unsure
    assert cut[0].calls > 1


def test_what_is_alone_of_its_tool_goes_first_if_it_may_have_changed_nothing() -> None:
    """So do the names of such calls, and that they were called at all."""
    entries = [ran(f"LK-{n}", unsure=n == 1, tool=f"tool_{n}") for n in range(3)]
    left: list[set[str]] = []
    for room in range(size(rendered(Record(done=tuple(entries)))), 5, -1):
        less = merged(Record(), Record(done=tuple(entries)), Budget(0, room, size)).done
        left.append({line(entry) for entry in less})
    whole = set(map(line, entries))
    in_full = [whole & found for found in left]
    unsure = line(entries[1])
    assert all(unsure not in found for found in in_full if len(found) < len(whole))
    assert not any("LK-1" in str(found) and "LK-0" not in str(found) for found in left)
    named = [{text.partition(" ")[0].partition("(")[0] for text in found} for found in left]
    assert {"tool_0", "tool_2"} in named
    assert not any("tool_1" in found and len(found) < len(whole) for found in named)


def test_what_was_surely_done_outlives_the_names_of_what_may_have_changed_nothing() -> None:
    """It would lose what it was given, and these are many."""
    sure = [ran("DEP-1", unsure=False), ran("LK-1", unsure=False, tool="refund")]
    unsure = [ran(f"PERF-{n}", unsure=True, tool=f"tool_{n % 2}") for n in range(60)]
    failed = ran("LK-9", unsure=False)._replace(values=(Field("", "read-only file system"),))
    whole = Record(done=(*sure, *unsure), failed=(failed,))
    for room in range(200, 94, -1):
        cut = merged(Record(), whole, Budget(0, room, size))
        assert [entry for entry in cut.done if not entry.unsure] == sure
        assert sum(entry.calls for entry in cut.done if entry.unsure) == 60


@pytest.mark.parametrize("others", [0, 12])
def test_what_was_surely_done_is_counted_when_of_the_rest_one_name_is_left(others: int) -> None:
    """No call that may have changed nothing stands in full beside it, nor do names of several."""
    names = tuple(Field("" if n else "job", f"LK-{n}") for n in range(9))
    suite = ran("LK-20", unsure=True, tool="suite")
    lists = tuple(Field("", f"failure {n} of many") for n in range(3))
    done = (
        Entry("shell", None, names, calls=9, unsure=True),
        Entry("suite", None, names[:5], calls=5, unsure=True),
        ran("ED-1", unsure=False, tool="edit"),
        suite._replace(values=lists),
        ran("DEP-1", unsure=False),
        ran("LK-21", unsure=True, tool="ticket")._replace(values=lists),
    )
    failed = ran("LK-9", unsure=False)._replace(values=(Field("", "read-only file system"),))
    done += tuple(ran(f"JOB-{n}", unsure=False, tool=f"do_{n}") for n in range(others))
    whole = Record(done=done, failed=(failed,))
    ways: set[bool] = set()
    for room in range(size(rendered(whole)), 40, -2):
        cut = merged(Record(), whole, Budget(0, room, size)).done
        in_full = all(e.arguments is not None for e in cut if not e.unsure)
        more = any(e.arguments is not None or len(e.values) > 1 for e in cut if e.unsure)
        assert in_full or not more
        ways.add(in_full)
    assert ways == {True, False}


def test_the_oldest_of_all_goes_last_where_it_surely_did_something() -> None:
    """Also behind others that are counted already."""
    counts = (
        Entry("pay", None, (Field("job", "LK-1"),), calls=3),
        Entry("look", None, (Field("job", "LK-2"),), calls=3, unsure=True),
    )
    shortest = [*map(line, (counts[0], counts[1]._replace(values=())))]
    shorter: list[list[str]] = []
    for room in range(size(rendered(Record(done=counts))), 5, -1):
        cut = merged(Record(), Record(done=counts), Budget(0, room, size)).done
        if [*map(line, cut)] not in shorter:
            shorter.append([*map(line, cut)])
    bare = "pay (3 earlier calls)"
    assert shorter[1:] == [shortest, [bare, shortest[1]], [bare], []]


def test_a_range_of_calls_holds_none_that_may_have_changed_nothing() -> None:
    """Nor do these hold one that surely did something: what lies between two ids is not told."""
    calls = [ran(f"LK-{n}", unsure=n % 2 == 0) for n in range(40)]
    cut = merged(Record(), Record(done=tuple(calls)), Budget(0, 80, size)).done
    assert {entry.unsure for entry in cut} == {True, False}
    assert " ... " not in "".join(map(line, cut))
    alike = [entry._replace(unsure=True) for entry in calls]
    cut = merged(Record(), Record(done=tuple(alike)), Budget(0, 80, size)).done
    assert " ... " in line(cut[0])


def test_calls_that_failed_are_counted_by_whether_they_would_have_changed_something() -> None:
    """One that would have stands beside those of which nobody knows."""
    failures = [
        entry._replace(values=(Field("", "read-only file system"),))
        for entry in (
            ran("DEP-1", unsure=False),
            *(ran(f"PERF-{n}", unsure=True) for n in range(30)),
        )
    ]
    for room, named in ((180, "job=DEP-1"), (120, "…"), (60, "…")):
        cut = merged(Record(), Record(failed=tuple(failures)), Budget(0, room, size)).failed
        told = [line(entry) for entry in cut if not entry.unsure]
        assert told == [f"shell({named}): read-only file system"]
        assert sum(entry.calls for entry in cut if entry.unsure) == 30


def test_the_same_call_surely_did_something_if_it_once_did() -> None:
    """Whoever knew what the tool does need not be there at each fold."""
    before, now = ran("DEP-1", unsure=False), ran("DEP-1", unsure=True)
    for first, second in ((before, now), (now, before)):
        made = merged(Record(done=(first,)), Record(done=(second,)), Budget(0, 100, size)).done
        assert [*map(line, made)] == ["shell(job=DEP-1) (2 calls): said=fine"]


def test_old_calls_are_counted_by_whether_they_changed_something() -> None:
    """Also those that are too old to be read one by one."""
    given = ("make deploy TARGET=fra-3", *(f"perf record m{n}" for n in range(200)))
    items: list[Item] = [{"role": "user", "content": "Deploy it, then look at each."}]
    for number, command in enumerate(given):
        items += call(number, "shell", {"command": command}, {"exit_code": 0})
    items += [{"role": "user", "content": "And now?"}]
    ctx = ChatContext(items)
    assert ctx.summarize(lambda prompt: "They talked.", keep_last_turns=1, ledger_tokens=200)
    told = str(items[0]["content"]).partition("done:")[2].partition("values:")[0].splitlines()
    (sure,) = (text for text in told if text.startswith("- ") and "(effect unknown)" not in text)
    assert "fra-3" in sure
    assert "m1" not in sure


@pytest.mark.parametrize("beside", [True, False])
def test_counted_failures_that_were_all_made_again_are_gone(beside: bool) -> None:
    """Whether or not another of the tool still waits; of that nothing is told by them."""
    ids = (Field("job", "LK-1"), Field("", "LK-2"))
    others = (ran("LK-9", unsure=False),) if beside else ()
    before = Record(failed=(Entry("shell", None, ids, calls=2), *others))
    again = Record(done=tuple(ran(f"LK-{n}", unsure=False) for n in (1, 2)))
    assert merged(before, again, Budget(0, 200, size)).failed == others


def test_nameless_failures_stay_where_others_of_the_tool_may_be_meant() -> None:
    """Of two counts nobody can tell which of them was made again."""
    counts = (
        Entry("shell", None, calls=3),
        Entry("shell", None, calls=2, unsure=True),
    )
    again = Record(done=tuple(ran(f"LK-{n}", unsure=False) for n in range(3)))
    assert merged(Record(failed=counts), again, Budget(0, 200, size)).failed == counts
    assert merged(Record(failed=counts[:1]), again, Budget(0, 200, size)).failed == ()


def test_the_id_of_a_text_is_the_value_that_it_begins_with() -> None:
    """What came of the call first; numbers alone only where a key says what they are."""
    given = (Field("order", "ORD-48213 with ORD-48214"), Field("seat", "14"), Field("", "15"))
    entry = Entry("refund", (*given, Field("when", "14:30")), (Field("refund", "R-77120"),))
    found = [Field("refund", "R-77120"), Field("order", "ORD-48213"), Field("seat", "14")]
    assert [*Ids().of(entry)] == found
