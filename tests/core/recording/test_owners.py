"""Values of things in a list: the record names the thing that they are of, where it has room."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatfold import ChatContext
from chatfold.core.entries import Entry, Field, read_line
from chatfold.core.record import Record, joined, parsed, rendered
from chatfold.core.recording import owners, rows
from chatfold.core.recording.owners import without_owners
from chatfold.core.recording.rows import Rows
from chatfold.core.summary import wrapped
from chatfold.tokens import estimate

MIA = {"name": "Mia Vogel", "room": "4.17", "dose": "2.5 mg"}
JONAS = {"name": "Jonas Ek", "room": "4.19", "dose": "25 mg"}
SAID = "Mia Vogel and Jonas Ek are on the ward."
INVOICES = [
    {"customer_id": "C-7", "id": "INV-77120", "status": "overdue", "total": 349.9},
    {"customer_id": "C-7", "id": "INV-81344", "status": "paid", "total": 1210.0},
]


def turn(number: int, result: Any, arguments: Any = None) -> list[Any]:
    """Return a turn in which a list is looked up."""
    function = {"name": "list_all", "arguments": json.dumps(arguments or {})}
    return [
        {"role": "user", "content": "What is there now?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": f"call_{number}", "content": json.dumps(result)},
        {"role": "assistant", "content": "There are some points to think about. " * 40},
    ]


def folded(said: str, *folds: Any, pages: bool = False, **options: Any) -> Record:
    """Return the record after folds, of which each takes the results of a list away.

    With `pages` each call is given a limit of its own, which does not name it.
    """
    items: list[Any] = []
    record, number = "", 0
    for results in folds:
        for result in results:
            items += turn(number, result, {"limit": number + 700} if pages else None)
            number += 1
        items.append({"role": "user", "content": "ok"})
        fold = ChatContext(items).summarize(
            lambda prompt: said, keep_last_turns=1, grounding="report", **options
        )
        assert fold.facts is not None
        record = fold.facts.record
    return parsed(record)[1]


def shown(record: Record) -> str:
    """Return the one line of values in a record, without the call that it is of."""
    (line,) = (text for text in rendered(record).splitlines() if text.startswith("- "))
    return line.partition(": ")[2]


def told(record: Record) -> set[tuple[str, str, str]]:
    """Return the last key of each value, the value, and what it is of."""
    return {(f.key, f.text, f.of) for entry in record.values for f in entry.values}


def test_values_of_things_that_the_text_names_are_told_with_their_names() -> None:
    """The name is told by the text, and so by no value; each is told once for its values."""
    assert shown(folded(SAID, [{"patients": [MIA, JONAS]}])) == (
        "0.room=4.17 (of Mia Vogel), 0.dose=2.5 mg, 1.room=4.19 (of Jonas Ek), 1.dose=25 mg"
    )


def test_a_thing_is_named_as_the_text_names_it() -> None:
    """Beside names in the text, ids alone would not say whose the values are."""
    patients = [{"id": f"P-770{n}", **patient} for n, patient in enumerate((MIA, JONAS))]
    assert shown(folded(SAID, [patients])).startswith("0.id=P-7700 (of Mia Vogel), 0.room=4.17")
    by_id = shown(folded("P-7700 and P-7701 are there.", [patients]))
    assert by_id.startswith("0.name=Mia Vogel (of P-7700), 0.room=4.17, 0.dose=2.5 mg")


def test_what_the_record_names_is_not_named_twice() -> None:
    assert "(of" not in shown(folded("There is a list.", [{"patients": [MIA, JONAS]}]))


def test_a_thing_keeps_its_values_when_another_one_takes_its_place() -> None:
    """Places in a list are used again; what was said of one thing is not said of the next."""
    now = {**MIA, "dose": "3 mg"}
    record = folded(SAID, [[MIA, JONAS]], [[JONAS, now]])
    assert ("dose", "3 mg", "Mia Vogel") in told(record)
    assert ("room", "4.17", "Mia Vogel") in told(record)
    assert ("room", "4.19", "Jonas Ek") in told(record)


@pytest.mark.parametrize("folds", [1, 2])
def test_what_is_no_longer_so_is_told_of_nobody(folds: int) -> None:
    """They have changed their rooms, and both rooms still stand in the list."""
    before = [MIA, JONAS]
    after = [{**MIA, "room": "4.19"}, {**JONAS, "room": "4.17"}]
    results = [[before], [after]] if folds == 2 else [[before, after]]
    for key, text, of in told(folded(SAID, *results)):
        assert of in ("", *(row["name"] for row in after if row.get(key) == text))


def test_names_stay_where_a_later_list_does_not_tell_of_a_thing() -> None:
    record = folded(SAID, [[MIA, JONAS]], [[MIA]])
    assert ("dose", "25 mg", "Jonas Ek") in told(record)


def test_of_two_lists_that_have_a_thing_nobody_says_which_a_value_is_of() -> None:
    """The label has no more of the path than tells its place: `1.qty`."""
    stock = {
        "ordered": [{"name": "Lamp", "qty": 411}, {"name": "Desk", "qty": 857}],
        "returned": [{"name": "Desk", "qty": 699}],
    }
    record = folded("There are Lamp and Desk.", [stock])
    assert told(record) == {("qty", "411", "Lamp"), ("qty", "857", ""), ("qty", "699", "Desk")}


def test_pages_of_a_list_are_told_apart() -> None:
    """What stood first on one page, and on the next."""
    record = folded(SAID, [[MIA], [JONAS]], pages=True)
    assert {("dose", "2.5 mg", "Mia Vogel"), ("dose", "25 mg", "Jonas Ek")} <= told(record)


@pytest.mark.parametrize(("most", "of"), [(2, "Mia Vogel"), (1, "")])
def test_behind_many_results_that_might_say_otherwise_nothing_is_said_of_a_thing(
    monkeypatch: pytest.MonkeyPatch, most: int, of: str
) -> None:
    """All of them would have to be read."""
    monkeypatch.setattr(owners, "_LOOKED_AT", most)
    record = folded(SAID, [[MIA, JONAS], [{"name": "Ward 7"}]], pages=True)
    assert ("dose", "2.5 mg", of) in told(record)


def test_nothing_is_said_of_things_in_a_result_that_is_too_large_to_be_sure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rows, "_MOST_READ", 3)
    assert {of for _, _, of in told(folded(SAID, [[MIA, JONAS]]))} == {""}


def test_names_in_an_earlier_record_make_no_room_for_more_values() -> None:
    """Of what goes, a share is room: what was added to say whose values are is none of it."""
    fields = tuple(Field(f"{n}.size", f"{n}.5 mm", "", f"thing of place {n}") for n in range(30))
    earlier = Record(values=(Entry("list_sizes", (), fields),))
    found: list[Record] = []
    for record in (earlier, without_owners(earlier)[0]):
        summary = {"role": "user", "content": wrapped(joined("There is a list.", record), "")}
        many = [{"size": f"{n * 37 + 113}.{n + 10}"} for n in range(200)]
        items = [summary, *turn(0, many), *turn(1, {"a": 1}), {"role": "user", "content": "ok"}]
        items[4]["content"] *= 8
        fold = ChatContext(items).summarize(lambda prompt: "Sizes.", keep_last_turns=1)
        assert fold.facts is not None
        found.append(without_owners(parsed(fold.facts.record)[1])[0])
    assert found[0] == found[1]


def test_names_are_redacted_as_values_are() -> None:
    """Also those of an earlier record, which a fold without that rule has written."""
    items = [*turn(0, [MIA, JONAS]), {"role": "user", "content": "ok"}]
    ctx = ChatContext(items)
    assert ctx.summarize(lambda prompt: SAID, keep_last_turns=1)
    items += [{"role": "assistant", "content": "Fine. " * 200}, {"role": "user", "content": "?"}]
    fold = ctx.summarize(
        lambda prompt: "They ask.",
        keep_last_turns=1,
        redact=lambda text: text.replace("Vogel", "***"),
    )
    assert fold.facts is not None
    assert "(of Mia ***)" in fold.facts.record
    assert "Vogel" not in fold.facts.record


def test_no_value_gives_way_to_a_name() -> None:
    """Where room is short, the things of older calls stay without."""
    many = [
        {"id": f"INV-{n * 7919 % 90000 + 10000}", "total": f"{n * 37 + 113}.{n + 10} EUR"}
        for n in range(40)
    ]
    record = folded(
        "They see " + ", ".join(f"{row['id']}" for row in many), [many], ledger_tokens=600
    )
    assert estimate(rendered(record)) <= 600
    named = [of for _, _, of in told(record)]
    assert len(named) == len(many) > sum(map(bool, named)) > 0


def test_an_earlier_record_says_it_as_long_as_its_values_stand() -> None:
    """Nothing of what it was made from is in the list any more."""
    items = [*turn(0, [MIA, JONAS]), {"role": "user", "content": "ok"}]
    ctx = ChatContext(items)
    records: list[str] = []
    for _ in range(3):
        fold = ctx.summarize(lambda prompt: SAID, keep_last_turns=1)
        assert fold.facts is not None
        records.append(fold.facts.record)
        items += [
            {"role": "assistant", "content": "Fine. " * 200},
            {"role": "user", "content": "?"},
        ]
    assert records[0] == records[1] == records[2]
    assert "(of Mia Vogel)" in records[0]


def test_a_fold_that_gains_nothing_with_names_does_without_them() -> None:
    """They go before any value does."""
    seen: set[tuple[bool, bool]] = set()
    for length in range(0, 900, 6):
        items = [*turn(0, [MIA, JONAS]), {"role": "user", "content": "ok"}]
        items[-2]["content"] = "Well, " * (length // 6) + "so it is."
        fold = ChatContext(items).summarize(lambda prompt: SAID, keep_last_turns=1)
        if fold.facts is not None:
            seen.add(("(of" in fold.facts.record, "2.5 mg" in fold.facts.record))
    assert seen >= {(True, True), (False, True)}
    assert (True, False) not in seen


def test_without_what_values_are_of_a_record_is_as_it_was() -> None:
    of = Field("0.dose", "2.5 mg", "", "Mia Vogel")
    record = Record(values=(Entry("list", (), (of, Field("a", "b"))), Entry("user", None, ())))
    bare, owned = without_owners(record)
    assert bare.values[0].values == (Field("0.dose", "2.5 mg"), Field("a", "b"))
    assert owned == {("list", (), Field("0.dose", "2.5 mg")): "Mia Vogel"}
    assert without_owners(bare) == (bare, {})


@pytest.mark.parametrize(
    ("line", "owners"),
    [
        ("a(): 0.x=1 (of Ann), 0.y=2, 0.z=3", ["Ann", "Ann", "Ann"]),
        ("a(): 0.x=1 (of Ann), 1.x=2, 0.y=3", ["Ann", "", ""]),
        ('a(): 0.x=1 (of Ann), 0.y=2 (of ""), 0.z=3', ["Ann", "", ""]),
        ('a(): 0.x=1 (was: 3) (of "Ann, Dr."), 0.y=2', ["Ann, Dr.", "Ann, Dr."]),
        ("a(): x=1 (of Ann), x=2", ["Ann", ""]),
    ],
)
def test_what_is_told_once_is_of_the_values_at_the_same_place(line: str, owners: list[str]) -> None:
    entry = read_line(line)
    assert entry is not None
    assert [field.of for field in entry.values] == owners
    assert entry.line == line


def rows_of(root: Any, said: str = "") -> Rows:
    return Rows(root, lambda text: text.replace("secret", "***"), said.__contains__, {})


@pytest.mark.parametrize(
    ("root", "path", "owner"),
    [
        ([MIA, JONAS], (1, "dose"), "Jonas Ek"),
        ([MIA], (0, "dose"), "Mia Vogel"),
        ([MIA, MIA], (1, "dose"), ""),
        ([MIA, {**JONAS, "name": "mia vogel"}], (1, "dose"), ""),
        ({"a": json.dumps({"rows": [MIA, JONAS]})}, ("a", "rows", 1, "dose"), "Jonas Ek"),
        (INVOICES, (1, "total"), "INV-81344"),
        (
            [{"customer_id": "C-7", "total": 1}, {"customer_id": "C-8", "total": 2}],
            (1, "total"),
            "C-8",
        ),
        (
            {"orders": [{"order": "red", "n": 1}, {"order": "blue", "n": 2}]},
            ("orders", 1, "n"),
            "blue",
        ),
        ([{"part": "A-1", "n": 1}, {"part": "A-12", "n": 2}], (1, "n"), "A-12"),
        ([{"id": 7, "n": 1}, {"id": 8, "n": 2}], (1, "n"), "id 8"),
        ([{"id": 7, "title": "a", "n": 1}, {"id": 8, "title": "b", "n": 2}], (1, "n"), "b"),
        ([{"name": "secret a", "n": 1}], (0, "n"), "*** a"),
        ([{"name": "x" * 61, "n": 1}], (0, "n"), ""),
        ([{"name": ["x"], "ok": True, "n": 1}], (0, "n"), ""),
        ([{"id": "A-1", "tags": ["x", "y"]}], (0, "tags", 1), "A-1"),
        ([["x", "y"], "z"], (0, 1), ""),
        ({"2026": {"total": 5}}, ("2026", "total"), ""),
        ([{"id": "A-1", "parts": [{"sku": "B-22", "n": 1}]}], (0, "parts", 0, "n"), "B-22 of A-1"),
        ([{"parts": [{"sku": "B-22", "n": 1}]}] * 2, (1, "parts", 0, "n"), ""),
        ([{"name": f"n{n}"} for n in range(1_001)], (0, "n"), ""),
        ([MIA], (0, *"abcdefghijkl", 0, "n"), ""),
        ([MIA], ("no", 0, "n"), ""),
        ([MIA], (3, "n"), ""),
        (
            [
                {
                    "id": "A-1",
                    "a": [{"id": "B-1", "b": [{"id": "C-1", "c": [{"id": "D-1", "n": 1}]}]}],
                }
            ],
            (0, "a", 0, "b", 0, "c", 0, "n"),
            "",
        ),
    ],
)
def test_a_thing_has_the_name_that_no_other_has(root: Any, path: Any, owner: str) -> None:
    assert rows_of(root).owner(path) == owner


def test_what_a_result_says_of_a_thing_is_known_by_any_of_its_names() -> None:
    root = {
        "data": [{"id": "A-1", "name": "Ann", "n": 1, "in": {"n": 2}}, {"id": "A-2", "n": None}]
    }
    found = rows_of(root)
    assert found.said_of("A-1", "n") == found.said_of("Ann", "n") == {"1", "2"}
    assert found.said_of("A-1", "in.n") == {"2"}
    assert found.said_of("A-2", "n") == {""}
    assert found.said_of("A-3", "n") == set()


def test_a_result_that_is_too_large_says_nothing_for_certain() -> None:
    large = {"a": [{"id": f"A-{n}", "b": [{"c": n}]} for n in range(5_000)]}
    found = rows_of(large)
    assert not found.is_one_list
    assert found.said_of("A-1", "c") is None
    assert not rows_of([{f"k{n}": {"n": n} for n in range(5_000)}]).is_one_list


def test_json_that_is_nested_deeply_costs_no_stack() -> None:
    deep: Any = [{"id": "A-1"}]
    for _ in range(5_000):
        deep = [{"id": "A-2", "in": deep}]
    found = rows_of(deep)
    assert found.said_of("A-2", "id") == {"A-2"}
    assert found.owner((0, "in") * 20) == ""
