"""The room that the values of a record have, over several folds of one conversation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatfold import ChatContext
from chatfold.core.entries import Entry, Field
from chatfold.core.record import Record, parsed, rendered
from chatfold.core.recording.carry import fitted_values
from chatfold.tokens import estimate

WRITES = ["refund", "return", "ticket", "label", "parcel", "case", "claim", "order", "note", "hold"]
PRICES = [
    "total",
    "net",
    "vat",
    "fee",
    "paid",
    "due",
    "back",
    "tip",
    "duty",
    "toll",
    "rent",
    "loan",
    "debt",
    "cash",
    "sale",
    "gift",
]
TALK = "It is no trouble at all, we will see to that as soon as we can. " * 40


def folded(turns: int, talk: str) -> list[int]:
    """Fold a list again and again; return the sizes of the values of the records."""
    items: list[dict[str, Any]] = []
    sizes: list[int] = []
    for fold in range(5):
        for turn in range(turns):
            orders = ", ".join(f"KX-{fold}{turn}{n}47{n}" for n in range(5))
            items.append({"role": "user", "content": f"Please look after {orders} for me."})
            items.append({"role": "assistant", "content": talk})
        items.append({"role": "user", "content": "And now?"})
        made = ChatContext(items).summarize(lambda prompt: "They talked.", keep_last_turns=1)
        if made.facts is not None:
            record = parsed(made.facts.record)[1]
            sizes.append(estimate(rendered(Record(values=record.values))))
    return sizes


def test_the_room_of_values_grows_with_what_earlier_folds_took_away() -> None:
    """The last of five records holds the whole conversation, not its last fifth."""
    sizes = folded(turns=5, talk=TALK)
    assert sizes[-1] > 300
    assert sizes == sorted(sizes)
    head = 6 * estimate(TALK)
    assert sizes[-1] < head // 5


def test_the_room_of_values_stays_where_a_head_is_small() -> None:
    """There would be little that a fold saves."""
    assert max(folded(turns=3, talk=TALK[:1000])) <= 210


@pytest.mark.parametrize("asks", ["Question {}: where is it?", "Kunt u vraag {} beantwoorden?"])
def test_what_a_user_is_known_by_outlives_the_numbers_of_his_questions(asks: str) -> None:
    """Over any number of folds: nobody else can give an account's number again."""
    account = "My account is NL11 BANK 0117 5543 01 and my policy is PZ-44719-K."
    items: list[dict[str, Any]] = [{"role": "user", "content": account}]
    ctx = ChatContext(items)
    for fold in range(8):
        for turn in range(8):
            answer = f"It is with parcel 3SKAB1{fold}{turn}. " + "We will see to that. " * 20
            items.append({"role": "assistant", "content": answer})
            items.append({"role": "user", "content": asks.format(8 * fold + turn)})
        made = ctx.summarize(lambda prompt: "They talked.", keep_last_turns=1, ledger_tokens=120)
        assert made.facts is not None
        assert "NL11 BANK 0117 5543 01" in made.facts.record
        assert "PZ-44719-K" in made.facts.record
    assert str(8 * 8 - 2) in made.facts.record  # nor are these lost where there is room


def test_of_a_call_that_made_something_its_id_outlives_what_else_came_of_it() -> None:
    """By the id the rest can be looked up again, and not the other way round."""
    given = (Field("order", "LK-1"),)
    came = (Field("rma", "RMA-90721"), Field("ship_by", "2026-12-11"), Field("total", "9.50 EUR"))
    call, user = Entry("create_rma", given, came), Entry("user", None, (Field("", "C-77310"),))
    both = (call, user)
    rooms = range(estimate(rendered(Record(values=both))), 20, -1)
    kept = [fitted_values(both, room, estimate, made=("create_rma",))[0] for room in rooms]
    left = [entry.values for entry in kept if entry.name == call.name]
    assert set(left) == {came, (came[0], came[2]), came[:1]}
    looked_up = [fitted_values(both, room, estimate)[0] for room in rooms]
    left = [entry.values for entry in looked_up if entry.name == call.name]
    assert set(left) == {came, came[1:], came[2:]}


def test_ids_of_what_was_made_outlive_numbers_of_lookups() -> None:
    """A lookup gives its own again; more than a quarter of the room they do not get for that."""
    rma = Entry("create_rma", (Field("order", "LK-1"),), (Field("rma", "RMA-90721"),))
    due = Entry("book", (Field("order", "LK-2"),), (Field("day", "2026-12-11"),))
    read = [
        Entry(key, None, tuple(Field("", f"{n}{int(key, 16):02}.47 EUR") for n in range(10, 30)))
        for key in "0123456789ABCDEF"
    ]
    made = ("create_rma", "book", "elsewhere")
    kept = fitted_values((rma, due, *read), 200, estimate, made)
    assert rma in kept
    assert due not in kept
    assert rma not in fitted_values((rma, due, *read), 200, estimate)
    many = [Entry("create_rma", (Field("order", f"LK-{n}"),), rma.values) for n in range(40)]
    kept = fitted_values((*many, *read), 200, estimate, made)
    of_many = estimate(rendered(Record(values=tuple(e for e in kept if e in many))))
    assert 0 < of_many < 80


def test_ids_of_what_was_made_are_kept_over_many_lookups() -> None:
    """In short room, when their lines have long given way to counts of calls."""
    items: list[dict[str, Any]] = []
    ctx = ChatContext(items)

    def call(name: str, given: dict[str, str], came: dict[str, str]) -> None:
        made = {"name": name, "arguments": json.dumps(given)}
        one = {"id": f"call_{len(items)}", "type": "function", "function": made}
        items.append({"role": "assistant", "content": None, "tool_calls": [one]})
        items.append({"role": "tool", "tool_call_id": one["id"], "content": json.dumps(came)})

    record = ""
    for fold in range(10):
        for turn in range(5):
            order = f"LK-48{fold}{turn}37"
            items.append({"role": "user", "content": f"And what of {order}?"})
            came = {key: f"{fold}{turn}.{place}0 EUR" for place, key in enumerate(PRICES)}
            call("lookup_order", {"order_number": order}, came)
            items.append({"role": "assistant", "content": "It is well. " * 30})
        came = {f"{WRITES[fold]}_id": f"{WRITES[fold][:2].upper()}-9{fold}721", "by": "2027-01-01"}
        call(f"create_{WRITES[fold]}", {"order_number": f"LK-48{fold}037"}, came)
        items.append({"role": "user", "content": "Thanks."})
        made = ctx.summarize(lambda prompt: "They talked.", keep_last_turns=1, ledger_tokens=150)
        record = made.facts.record if made.facts is not None else record
    ids = [f"{thing[:2].upper()}-9{fold}721" for fold, thing in enumerate(WRITES)][1:]
    assert [name for name in ids if name in record] == ids
