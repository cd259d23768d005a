"""A call that answered unlike the others of its tool stands in the record by itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from chatfold import ChatContext
from chatfold.core.entries import Entry, Field
from chatfold.core.recording.unlike import unlike, unlike_others

ODD = "Row is held by Kim"


def history(answers: Mapping[int, str], usual: str, number: int) -> list[dict[str, Any]]:
    """Return a history of calls of one tool, each about another thing."""
    items: list[dict[str, Any]] = []
    for k in range(number):
        given = json.dumps({"sku": f"SKU-{1000 + k}", "price": k + 0.5})
        call = {"name": "update_price", "arguments": given}
        result = answers.get(k, usual.replace("#", str(k)))
        items += [
            {"role": "user", "content": "And the next one. " * 40},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{k}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"c{k}", "content": result},
            {"role": "assistant", "content": "There it is. "},
        ]
    return [*items, {"role": "user", "content": "next"}, {"role": "assistant", "content": "ok"}]


def lines(items: list[dict[str, Any]], **options: Any) -> list[str]:
    ChatContext(items).summarize(lambda _: "Prices.", keep_last_turns=1, **options)
    return str(items[0]["content"]).splitlines()


@pytest.mark.parametrize("usual", ["OK", "Updated. ref=PX-#00", '{"ok": true, "ref": "PX-#00"}'])
@pytest.mark.parametrize("odd", [ODD, json.dumps({"ref": "PX-9", "message": ODD})])
@pytest.mark.parametrize(("number", "at"), [(12, 1), (60, 30), (300, 1), (300, 150)])
@pytest.mark.parametrize("room", [200, 2000])
def test_a_call_that_answered_otherwise_is_in_no_range(
    usual: str, odd: str, number: int, at: int, room: int
) -> None:
    record = lines(history({at: odd}, usual, number), ledger_tokens=room)
    told = [line for line in record if ODD in line]
    assert len(told) == 1
    assert f"SKU-{1000 + at}" in told[0]
    assert "earlier calls" not in told[0]
    counts = [line for line in record if "earlier calls" in line]
    assert not any(f"SKU-{1000 + at}" in line for line in counts)


def test_so_are_several_and_the_newest_where_they_are_many() -> None:
    record = lines(history(dict.fromkeys((3, 7), ODD), "OK", 300), ledger_tokens=400)
    assert [line.split(",")[0] for line in record if ODD in line] == [
        "- update_price(sku=SKU-1003",
        "- update_price(sku=SKU-1007",
    ]
    record = lines(history(dict.fromkeys(range(12), ODD), "OK", 300), ledger_tokens=2000)
    told = [line for line in record if ODD in line]
    assert len(told) == 8
    assert "SKU-1011" in told[-1]


def test_it_stands_in_the_record_of_the_next_fold() -> None:
    items = history({30: ODD}, "Updated. ref=PX-#00", 60)
    lines(items, ledger_tokens=200)
    items += history({}, "Updated. ref=PX-#99", 60)
    told = [line for line in lines(items, ledger_tokens=200) if ODD in line]
    assert len(told) == 1
    assert "SKU-1030" in told[0]


def test_what_each_call_says_otherwise_is_counted_as_before() -> None:
    words = str.split("red green blue grey pink teal gold lime navy plum rust sand")
    texts = {k: f"Noted for {word}" for k, word in enumerate(words)}
    record = lines(history(texts, "OK", 12), ledger_tokens=200)
    assert any("earlier calls" in line for line in record)


def single(name: str, *values: Field) -> Entry:
    return Entry(name, (Field("id", "A-1"),), values)


def test_only_few_calls_of_a_tool_are_unlike_its_others() -> None:
    usual, odd = single("f", Field("", "Set A-2")), single("f", Field("", "Held"))
    assert unlike_others([usual] * 3 + [odd]) == [odd]
    assert unlike_others([usual] * 2 + [odd]) == []  # too few to tell
    assert unlike_others([usual] * 2 + [odd] * 2 + [single("f", Field("", "No"))] * 2) == []
    assert unlike_others([usual] * 3 + [single("g", Field("", "Held"))]) == []
    assert unlike_others([Entry("f", None, calls=9), odd]) == [odd]
    assert unlike_others([single("f")] * 3 + [odd]) == [odd]
    assert unlike_others([usual] * 3 + [single("f", Field("state", "held"))]) == []


def test_what_names_a_call_makes_it_unlike_none() -> None:
    told = [("f", "set # to #", 1)] * 3
    assert unlike([*told, ("f", "set # to #", 1)]) == set()
    assert unlike([*told, ("f", "held", 1)]) == {3}
    assert unlike([*told, *[("f", f"held by {n}", 1) for n in "abcd"]]) == set()
    assert unlike([("f", "on", 3), ("f", "off", 3), ("f", "held", 1)]) == set()
    assert unlike([("f", "", 100), *[("f", "held", 1)] * 5]) == {1, 2, 3, 4, 5}
    assert unlike([("f", "", 100), *[("f", "held", 1)] * 6]) == set()


def test_of_calls_whose_words_are_lost_nobody_knows_what_the_others_said() -> None:
    lost = ("t", None, 96)
    assert unlike([lost, *(("t", word, 1) for word in "abcd")]) == set()
    assert unlike([lost, ("t", "done", 90), *(("t", word, 1) for word in "abcd")]) == {2, 3, 4, 5}
