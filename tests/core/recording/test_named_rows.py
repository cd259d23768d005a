"""Values of things in a list: the record says which thing they are of, also where the text does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatfold import ChatContext
from chatfold.core.entries import Field
from chatfold.core.record import Record, parsed
from chatfold.core.recording.rows import telling_keys, with_names
from chatfold.tokens import estimate

WARD = {
    "patients": [
        {"name": "Mia Vogel", "room": "4.17", "dose": "2.5 mg"},
        {"name": "Jonas Vogel", "room": "4.19", "dose": "25 mg"},
    ]
}
INVOICES = [
    {"customer_id": "C-7", "id": "INV-77120", "status": "overdue", "total": 349.9},
    {"customer_id": "C-7", "id": "INV-81344", "status": "paid", "total": 1210.0},
]


def turn(id_: str, result: Any) -> list[Any]:
    """Return a turn in which a list is looked up."""
    function = {"name": "list_all", "arguments": "{}"}
    return [
        {"role": "user", "content": "What is there now?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": id_, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": id_, "content": json.dumps(result)},
        {"role": "assistant", "content": "There are some points to think about. " * 40},
    ]


def folded(said: str, *results: Any, **options: Any) -> Record:
    """Return the record after a fold behind each result, for which a model says the same."""
    items: list[Any] = []
    record = ""
    for number, result in enumerate(results):
        items += turn(f"call_{number}", result)
        items.append({"role": "user", "content": "ok"})
        fold = ChatContext(items).summarize(
            lambda prompt: said, keep_last_turns=1, grounding="report", **options
        )
        assert fold.facts is not None
        record = fold.facts.record
    return parsed(record)[1]


def told(record: Record) -> list[str]:
    return [f"{field.label}={field.text}" for entry in record.values for field in entry.values]


@pytest.mark.parametrize(
    ("said", "result", "expected"),
    [
        (
            "Jonas Vogel and Mia Vogel are on the ward.",
            WARD,
            (
                "0.name=Mia Vogel, 0.room=4.17, 0.dose=2.5 mg, "
                "1.name=Jonas Vogel, 1.room=4.19, 1.dose=25 mg"
            ),
        ),
        (
            "Of customer C-7 they see INV-81344 and INV-77120.",
            INVOICES,
            (
                "0.id=INV-77120, 0.status=overdue, 0.total=349.9, "
                "1.id=INV-81344, 1.status=paid, 1.total=1210.0"
            ),
        ),
    ],
)
def test_values_of_things_that_the_text_names_are_told_with_their_names(
    said: str, result: Any, expected: str
) -> None:
    """The text may name them in any order: places in a list alone say nothing beside it."""
    assert ", ".join(told(folded(said, result))) == expected


def test_a_thing_is_named_as_the_text_names_it() -> None:
    """Beside names in the text, however written, ids alone say nothing of whose values they are."""
    patients = [{"id": f"P-770{n}", **patient} for n, patient in enumerate(WARD["patients"])]
    found = told(folded("On the ward are jonas vogel and mia vogel.", patients))
    assert found[:3] == ["0.name=Mia Vogel", "0.id=P-7700", "0.room=4.17"]


def test_a_thing_of_which_the_text_holds_all_is_not_named() -> None:
    """Its name says nothing of any value then."""
    said = "INV-81344 of 1210.0 is paid, so is C-7; INV-77120 is there too."
    assert told(folded(said, INVOICES)) == ["0.id=INV-77120", "0.status=overdue", "0.total=349.9"]


def test_a_later_record_still_says_what_its_values_are_of() -> None:
    """The text of the later fold holds the names as well."""
    said = "They see INV-81344 and INV-77120 of C-7."
    items = [*turn("call_1", INVOICES), {"role": "user", "content": "ok"}]
    ctx = ChatContext(items)
    first = ctx.summarize(lambda prompt: said, keep_last_turns=1)
    items += [
        {"role": "assistant", "content": "Fine. " * 200},
        {"role": "user", "content": "Thanks."},
    ]
    second = ctx.summarize(lambda prompt: said, keep_last_turns=1)
    assert first.facts is not None
    assert second.facts is not None
    assert second.facts.record == first.facts.record != ""


def test_names_count_to_the_room_of_the_values() -> None:
    """No value gives way to a name: where room is short, some things stay without."""
    many = [
        {"id": f"INV-{n * 7919 % 90000 + 10000}", "total": f"{n * 37 + 113}.{n + 10} EUR"}
        for n in range(40)
    ]
    said = "They see " + ", ".join(str(row["id"]) for row in many)
    items = [*turn("call_1", many), {"role": "user", "content": "ok"}]
    ctx = ChatContext(items)
    fold = ctx.summarize(lambda prompt: said, keep_last_turns=1, ledger_tokens=600)
    assert fold.facts is not None
    assert estimate(fold.facts.record) <= 600
    keys = [field.split("=")[0].split(".")[-1] for field in told(parsed(fold.facts.record)[1])]
    assert keys.count("total") == len(many) > keys.count("id") > 0


def test_what_is_at_a_place_now_does_not_take_the_values_of_what_was_there() -> None:
    """The list came anew, in another order: a name in front of old values would be a wrong one."""
    mia, jonas = WARD["patients"]
    anew = {"patients": [{"name": "Ben Adler", "diet": "L-441"}, mia, jonas]}
    found = told(folded("Ben Adler, Jonas Vogel and Mia Vogel are there.", WARD, anew))
    assert found[-2:] == ["0.name=Ben Adler", "0.diet=L-441"]
    assert found.index("0.name=Mia Vogel") < found.index("0.dose=2.5 mg") < len(found) - 2


@pytest.mark.parametrize(
    ("things", "keys"),
    [
        ([{"customer": "C-77", "id": "A-1"}, {"customer": "C-77", "id": "A-2"}], ("id",)),
        ([{"title": "Lamp", "sku": "LMP-10"}, {"title": "Desk", "sku": "DSK-2"}], ("sku", "title")),
        ([{"displayName": "Ann"}, {"displayName": "Bob"}], ("displayName",)),
        ([{"id": 7, "size": 1}, {"id": 8, "size": 2}], ("id",)),
        ([{"name": "Ann"}, {"name": "Ann"}], ()),
        ([{"id": "A-1"}, {"no": "A-2"}], ()),
        ([{"id": "A-1"}, "A-2"], ()),
        ([{"id": ["A-1"]}, {"id": ["A-2"]}], ()),
        ([{"id": "A-1"}], ()),
        ([], ()),
        ({"id": "A-1"}, ()),
    ],
)
def test_things_are_told_apart_by_what_each_has_alone(things: Any, keys: tuple[str, ...]) -> None:
    """What many have, or some have not, names none of them; nor has one alone to be told apart."""
    assert telling_keys(things) == keys


def test_of_an_earlier_entry_only_the_names_of_what_is_left_stay() -> None:
    """The first id or name of a thing; others are values like any."""
    fields = [
        Field("0.id", "A-1"),
        Field("0.state", "new"),
        Field("1.id", "A-2"),
        Field("1.ref", "B-2"),
        Field("1.state", "old"),
        Field("name", "Ann"),
        Field("state", "fine"),
    ]
    left = [fields[6], fields[4]]
    assert with_names(left, fields) == (fields[6], fields[2], fields[4])
    assert with_names([fields[4], fields[2]], fields) == (fields[4], fields[2])


def test_a_thing_that_took_the_place_of_another_has_a_name_of_its_own() -> None:
    """An entry may have values of both: those of the new one stand behind its name."""
    fields = [
        Field("0.id", "A-1"),
        Field("0.state", "new"),
        Field("0.id", "A-9"),
        Field("0.size", "big"),
    ]
    assert with_names([fields[1], fields[3]], fields) == tuple(fields)
