"""Facts say where each value stands, whatever holds it: words, arguments, results, JSON in JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from facts_of import facts_of
from hypothesis import example, given
from hypothesis import strategies as st
from quickest import quickest

from chatfold.core.calls import pair_calls
from chatfold.core.facts import Fact, Sighting
from chatfold.core.json_text import decoded
from chatfold.core.values import values
from chatfold.core.values.leaves import LeafReader
from chatfold.core.views import (
    CallPart,
    HandoffPart,
    ItemView,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    ServerCallPart,
    SummaryPart,
    TextPart,
)


def item(role: Any, *parts: Part) -> ItemView:
    return ItemView(role, parts)


def read(*views: ItemView, **options: Any) -> dict[str, Fact]:
    """Return the facts of items by their keys."""
    return {fact.key: fact for fact in facts_of(views, pair_calls(views), **options)}


def result(value: Any, call_id: str = "call_x") -> ItemView:
    text = value if isinstance(value, str) else json.dumps(value)
    return item("tool", ResultPart(call_id, "lookup", text))


def test_a_fact_tells_where_it_comes_from_and_how_it_was_used_since() -> None:
    found = read(
        item("user", TextPart("My order is LK-4821936.")),
        item("assistant", CallPart("call_x", "lookup", '{"order": {"number": "LK-4821936"}}')),
        result({"orders": [{"id": "LK-4821936", "rma": "RMA-90721"}]}),
        item("assistant", TextPart("RMA-90721 is for LK-4821936")),
    )
    assert found["id:lk-4821936"].sightings == (
        Sighting(0, "user", "text"),
        Sighting(1, "assistant", "argument", ("order", "number"), 0, whole=True),
        Sighting(2, "tool", "result", ("orders", 0, "id"), 0, whole=True),
        Sighting(3, "assistant", "text"),
    )
    assert found["id:rma-90721"].sightings[0].path == ("orders", 0, "rma")
    assert [*found] == ["id:lk-4821936", "id:rma-90721"]


def test_each_of_several_calls_keeps_its_own_values() -> None:
    found = read(
        item(
            "assistant",
            CallPart("a", "lookup", '{"order": "LK-1000001"}'),
            CallPart("b", "lookup", '{"order": "LK-1000002"}'),
        ),
        item("user", ResultPart("b", None, "RMA-22222"), ResultPart("a", None, "RMA-11111")),
    )
    assert {key: fact.sightings[0].call for key, fact in found.items()} == {
        "id:lk-1000001": 0,
        "id:lk-1000002": 1,
        "id:rma-22222": 1,
        "id:rma-11111": 0,
    }
    assert found["id:rma-11111"].sightings[0].author == "tool"


def test_equal_calls_are_told_apart_by_their_order() -> None:
    call = CallPart(None, "ping", '{"host": "web-01"}')
    (fact,) = facts_of([item("assistant", call, call)], pair_calls([item("assistant", call, call)]))
    assert [seen.call for seen in fact.sightings] == [0, 1]


def test_a_server_call_holds_arguments_and_result() -> None:
    found = read(item("assistant", ServerCallPart("s", "search", '{"q": "E14"}', "see RMA-1234")))
    assert [fact.sightings[0].place for fact in found.values()] == ["argument", "result"]
    assert {fact.sightings[0].call for fact in found.values()} == {0}


def test_an_earlier_summary_speaks_for_itself() -> None:
    found = read(item("user", SummaryPart("done: RMA-90721"), TextPart("and E14")))
    assert [fact.sightings[0].author for fact in found.values()] == ["summary", "user"]


def test_media_and_handoffs_are_known_by_their_names() -> None:
    found = read(
        item("user", MediaPart("image", "image/png", 10, "receipt-4821.png", "total $349.90")),
        item("assistant", HandoffPart("triage", "Billing Agent")),
        item("tool", ResultPart("x", None, "", media=(MediaPart("file", name="a.pdf"),))),
    )
    assert [*found] == [
        "path:receipt-4821.png",
        "amount:349.9 USD",
        "name:triage",
        "name:billing agent",
        "path:a.pdf",
    ]


def test_reasoning_and_what_is_opaque_hold_no_facts() -> None:
    assert not read(item("assistant", ReasoningPart("maybe RMA-90721", 12), OpaquePart("x", 9)))


def test_a_status_is_a_name_under_its_path() -> None:
    found = read(result({"order": {"status": "Shipped", "via": ["Sea Freight"]}}))
    assert {key: fact.sightings[0].path for key, fact in found.items()} == {
        "name:shipped": ("order", "status"),
        "name:sea freight": ("order", "via", 0),
    }


def test_booleans_nulls_and_long_texts_are_no_facts() -> None:
    long = "This parcel went out on a rainy morning and nobody saw it"
    assert not read(result({"ok": True, "gone": False, "why": None, "note": long, "": ""}))


def test_numbers_are_kept_as_they_are_written() -> None:
    found = read(result('{"total": 349.90, "n": 1e2, "big": 123456789012345678901, "x": NaN}'))
    assert [(f.kind, f.text, f.key) for f in found.values()] == [
        ("number", "349.90", "number:349.9"),
        ("number", "1e2", "number:1e2"),
        ("id", "123456789012345678901", "id:123456789012345678901"),
    ]


@pytest.mark.parametrize(
    "key",
    [
        *("id", "order_number", "orderId", "ticketNo", "ids", "zip"),
        *("bestellnummer", "kundennummer", "numero_pedido", "codigoCliente", "codice_cliente"),
    ],
)
@pytest.mark.parametrize("number", [48219, "48219"])
def test_a_number_under_a_key_for_ids_is_an_id(key: str, number: object) -> None:
    found = read(result({key: number}))
    assert [*found] == ["id:48219"]
    assert "number:48219" in found["id:48219"].also


def test_a_number_beside_a_currency_is_an_amount() -> None:
    found = read(result({"total": 349.90, "items": 3, "currency": "eur", "sum_usd": 5}))
    assert [*found] == ["amount:349.9 EUR", "number:3", "name:eur", "amount:5 USD"]


def test_a_number_of_several_things_is_a_count() -> None:
    found = read(result({"numero_personas": 48219, "numero_pedido": 48220, "numero": 48221}))
    assert [*found] == ["number:48219", "id:48220", "id:48221"]


@pytest.mark.parametrize(
    ("key", "beside"),
    [
        *(("betrag", "waehrung"), ("montant", "devise"), ("importe_total", "moneda")),
        *(("prezzo", "valuta"), ("valor", "moeda")),
    ],
)
def test_keys_in_other_languages_say_the_same(key: str, beside: str) -> None:
    found = read(result({key: 349.90, "artikel": 3, beside: "eur"}))
    assert [*found] == ["amount:349.9 EUR", "number:3", "name:eur"]


def test_a_key_may_name_the_unit() -> None:
    found = read(result({"weight_kg": 3, "size": 7, "unit": "cm"}))
    assert [*found] == ["number:3 kg", "number:7 cm", "name:cm"]
    assert "number:3" in found["number:3 kg"].also


def test_a_code_under_its_key_vouches_for_the_error() -> None:
    found = read(result({"status_code": 404, "exitCode": 2}))
    assert "error:http 404" in found["number:404"].also
    assert "error:exit 2" in found["number:2"].also


def test_a_phone_number_of_digits_is_known_by_its_key() -> None:
    assert [*read(result({"phone": 15550102345}))] == ["phone:15550102345"]


def test_a_command_in_arguments_is_one_fact_beside_its_values() -> None:
    call = CallPart("c", "bash", json.dumps({"command": "cd /srv && pytest -q a.py\nThen wait"}))
    found = read(item("assistant", call))
    assert [*found] == ["command:cd /srv && pytest -q a.py", "path:/srv", "path:a.py"]
    assert "command:pytest -q a.py" in next(iter(found.values())).also


def test_json_inside_a_string_is_gone_into() -> None:
    inner = json.dumps({"deep": json.dumps([{"id": "RMA-90721"}])})
    found = read(result({"content": [{"type": "text", "text": inner}]}))
    assert found["id:rma-90721"].sightings[0].path == ("content", 0, "text", "deep", 0, "id")


def test_what_is_no_json_is_plain_text() -> None:
    found = read(result('{"id": "RMA-90721", "cut": "LK-48'), result("[E14] failed"), result("7"))
    assert [*found] == ["id:rma-90721", "id:lk-48", "id:e14", "number:7"]
    assert {s.path for f in found.values() for s in f.sightings} == {()}


def test_encoded_and_encrypted_content_holds_no_facts() -> None:
    blob = "QUJD1abc" * 60
    found = read(
        result({"type": "base64", "data": "RMA-90721"}),
        result({"encrypted_content": "E14", "signature": "E15", "png": blob}),
        result({"url": f"data:image/png;base64,{blob}"}),
        result("\n".join(blob[n : n + 76] for n in range(0, 456, 76))),
    )
    assert [*found] == ["name:base64"]


def test_texts_are_cleaned_before_they_are_read() -> None:
    views = (
        item("user", TextPart("key sk-12345678"), MediaPart("file", name="sk-12345678")),
        item("assistant", CallPart("c", "f", '{"key": "sk-12345678"}')),
        item("tool", ResultPart("c", None, "sk-12345678")),
        item("assistant", HandoffPart("sk-12345678", None)),
    )
    assert read(*views)
    assert not read(*views, clean=lambda text: text.replace("sk-12345678", ""))


def test_a_fact_vouches_for_what_any_of_its_forms_vouches_for() -> None:
    found = read(item("user", TextPart("2025-10-07")), item("user", TextPart("10/07/2025")))
    assert {"date:--10-07", "date:2025-07-10"} <= set(found["date:2025-10-07"].also)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
    | st.sampled_from(["LK-4821936", "shipped", "{}", "[1", '{"a": "E14"}']),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=12,
)


@given(JSON)
@example("{0:0}")
@example(json.dumps({"a": [1]}))
def test_every_leaf_is_where_its_path_says(value: Any) -> None:
    """A path leads to its leaf, through strings that hold JSON; leaves come in order."""
    text = json.dumps(value)
    seen: list[str] = []

    def clean(leaf: str) -> str:
        seen.append(leaf)
        return "LK-4821936"  # says something under any key, so that each leaf is given

    for count, (path, _) in enumerate(LeafReader().document(text, clean), 1):
        assert count == len(seen)
        place: Any = text
        for step in path:
            while isinstance(place, str):  # or what Python has written
                place = decoded(place)
            place = place[step]
        assert (seen[-1] if isinstance(place, str) else json.loads(seen[-1])) == place


@given(JSON, st.text(max_size=20))
def test_every_fact_has_a_place_in_order(value: Any, words: str) -> None:
    found = facts_of([result(value), item("user", TextPart(words))], [])
    seen = [fact.sightings[0].index for fact in found]
    assert seen == sorted(seen)
    assert len({fact.key for fact in found}) == len(found)
    for fact in found:
        assert fact.text
        assert [s.index for s in fact.sightings] == sorted(s.index for s in fact.sightings)


@given(st.text(max_size=40))
def test_plain_text_has_the_facts_of_its_values(text: str) -> None:
    found = [f.key for f in facts_of([item("user", TextPart(text))], [])]
    assert found == list(dict.fromkeys(v.key for v in values(text)))


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("1. Yes\n2. For 14 days\n3. Room 7", ["number:14 d", "number:7"]),
        ("Which?\n  1) red\n  2) blue", []),
        ("**1.** red\n**2.** blue", []),
        ("1. red\n   1. dark\n   2. light\n2. blue", []),
        ("1. red\n2. blue\n\nOr:\n1. a\n2. b\n3. c", []),
        ("3. yes\n7. no", ["number:3", "number:7"]),  # which ones they are of
        ("1. red", ["number:1"]),
        ("2 eggs\n3 pears", ["number:2", "number:3"]),
        ("I take 2.\n1. Red\n2. Blue", ["number:2"]),
        ("1. March 2026\n2. April 2026", ["date:2026-03-01", "date:2026-04-02"]),
    ],
)
def test_what_only_numbers_the_lines_of_a_list_is_no_fact(text: str, keys: list[str]) -> None:
    found = facts_of([item("user", TextPart(text))], [])
    assert [fact.key for fact in found] == keys


DEEP = [("[", "]"), ('{"a":', "}"), ('["', '"]'), ('[{"id":1},', "]")]


@pytest.mark.parametrize(("opening", "closing"), DEEP)
def test_hostile_results_cost_linear_time(opening: str, closing: str) -> None:
    def seconds(size: int) -> float:
        texts = (opening * size, f"{opening * size}1{closing * size}", f"[{'1,' * size}1]")
        return sum(quickest(lambda text=text: facts_of([result(text)], [])) for text in texts)

    assert seconds(16_000) < 25 * max(seconds(2_000), 0.001)


def test_a_string_of_strings_of_json_ends() -> None:
    text = "RMA-90721"
    for _ in range(12):
        text = json.dumps([text])
    assert "id:rma-90721" in read(result(text))
    assert "id:e14" in read(result(json.dumps([json.dumps(["E14"])])))
    assert max(len(s.path) for f in read(result(text)).values() for s in f.sightings) == 9


def test_equal_results_belong_to_the_calls_that_they_name() -> None:
    views = (
        item("assistant", CallPart("a", "f", "{}"), CallPart("b", "f", "{}")),
        item("user", ResultPart("b", None, "E14 E14"), ResultPart("a", None, "E14")),
    )
    assert [seen.call for seen in read(*views)["id:e14"].sightings] == [1, 0]


def test_an_array_has_the_currency_of_its_object() -> None:
    assert "amount:1.5 EUR" in read(result({"total": [1.5], "currency": "EUR"}))


def test_long_words_and_wrapped_data_are_no_names() -> None:
    wrapped = "\n".join(["QUJD1abcQUJD1abcQUJD1abcQUJD1abc"] * 12)
    assert not read(result({"a": "x" * 41, "b": wrapped}))
