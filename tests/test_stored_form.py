"""What a store gives back is what left the list, also where JSON has no type for it.

Not here: which items are found (`test_recall`), what `redact=` takes out (`test_redaction`).
"""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold import ChatContext
from chatfold.core.native import plain
from chatfold.stored_form import NotRestorableError, from_stored, to_stored
from chatfold.stores import MemoryStore

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
LONG = "The parcel left the warehouse and is on its way to the customer. " * 30
ZONES = st.none() | st.just(UTC) | st.just(timezone(timedelta(hours=-3, minutes=-30)))

OF_JSON = (
    st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.text(st.characters(codec=None), max_size=8)  # lone surrogates, too
    | st.sampled_from(["$chatfold", "bytes", "value"])
)
LEAVES = (
    st.none()
    | OF_JSON
    | st.floats(allow_nan=False)
    | st.binary(max_size=8)
    | st.decimals(allow_nan=False)
    | st.datetimes(timezones=ZONES).map(lambda moment: moment.replace(fold=0))
    | st.dates()
    | st.times().map(lambda moment: moment.replace(fold=0))
    | st.uuids()
)
KEYS = st.text(max_size=4) | st.sampled_from(["$chatfold", "value", "type"])
ODD_KEYS = st.integers(0, 9) | st.none() | st.tuples(st.text(max_size=2), st.integers(0, 9))
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.dictionaries(KEYS | ODD_KEYS, inner, max_size=3)
    ),
    max_leaves=8,
)


class Point(NamedTuple):
    """A tuple with names."""

    x: int


class Price(Decimal):
    """A number that could hold more than its digits."""


def bedrock(picture: Any, price: Any) -> list[Any]:
    """Return a Bedrock history with a picture and a tool result."""
    source = {"format": "png", "source": {"bytes": picture}}
    call = {"toolUseId": "t1", "name": "price", "input": {"sku": "K-2"}}
    result = {"toolUseId": "t1", "content": [{"json": {"price": price}}]}
    return [
        {"role": "user", "content": [{"text": "What is on this picture?"}, {"image": source}]},
        {"role": "assistant", "content": [{"toolUse": call}]},
        {"role": "user", "content": [{"toolResult": result}]},
        {"role": "assistant", "content": [{"text": LONG}]},
        {"role": "user", "content": [{"text": "Thanks."}]},
    ]


def ollama(picture: Any, price: Any) -> list[Any]:
    """Return an Ollama history with a picture and a tool result."""
    call = {"function": {"name": "price", "arguments": {"than": price}}}
    return [
        {"role": "user", "content": "What is on this picture?", "images": [picture]},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_name": "price", "content": "cheaper than that"},
        {"role": "assistant", "content": LONG},
        {"role": "user", "content": "Thanks."},
    ]


def gemini(picture: Any, price: Any) -> list[Any]:
    """Return a Gemini history with a picture and a tool result."""
    call = {"name": "price", "args": {"sku": "K-2"}, "id": "t1"}
    result = {"name": "price", "response": {"price": price}, "id": "t1"}
    blob = {"mime_type": "image/png", "data": picture}
    return [
        {"role": "user", "parts": [{"text": "What is on this picture?"}, {"inline_data": blob}]},
        {"role": "model", "parts": [{"function_call": call, "thought_signature": PICTURE}]},
        {"role": "user", "parts": [{"function_response": result}]},
        {"role": "model", "parts": [{"text": LONG}]},
        {"role": "user", "parts": [{"text": "Thanks."}]},
    ]


HISTORIES = pytest.mark.parametrize("history", [bedrock, ollama, gemini])


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A store of each kind."""
    if request.param == "memory":
        return MemoryStore()
    pytest.importorskip("sqlalchemy")
    from chatfold.stores import SQLStore

    return SQLStore(tmp_path / "originals.db")


def folded(items: list[Any], history: Any, store: Any, **options: Any) -> ChatContext[Any]:
    """Return a context that has the list as a later process reads it, behind a fold."""
    shape = history.__name__
    ctx = ChatContext(items, shape=shape, store=store, key="c", **options)
    assert ctx.summarize("extractive", keep_last_turns=1)
    loaded = json.loads(json.dumps([plain(item) for item in items]))
    return ChatContext(loaded, shape=shape, store=store, key="c", **options)


@HISTORIES
def test_undo_from_a_store_brings_back_bytes_and_decimals(store: Any, history: Any) -> None:
    """As text, the picture would be sent as base64 of base64, which is no picture."""
    sent = history(PICTURE, Decimal("9.90"))
    later = folded(list(sent), history, store)
    assert later.undo().reason == "undone"
    assert later.items == sent


@HISTORIES
def test_recall_brings_back_bytes_and_decimals(store: Any, history: Any) -> None:
    sent = history(PICTURE, Decimal("9.90"))
    later = folded(list(sent), history, store)
    assert later.recall(query="picture") == [sent[0]]


@HISTORIES
def test_what_cannot_come_back_is_not_put_into_the_list(store: Any, history: Any) -> None:
    """But its other words are found."""
    later = folded(history(PICTURE, io.BytesIO(PICTURE)), history, store)
    before = list(later.items)
    assert later.undo().reason == "nothing_to_undo"
    assert later.items == before
    assert later.recall(query="picture") == [history(PICTURE, None)[0]]


@HISTORIES
def test_redaction_leaves_a_picture_whole(store: Any, history: Any) -> None:
    """Letters of encoded data are nobody's name; a decimal may well be the number of a card."""

    def redact(text: str) -> str:
        return text.replace("iVBOR", "[name]").replace("4929123456781234", "[card]")

    sent = history(PICTURE, Decimal(4929123456781234))
    later = folded(list(sent), history, store, redact=redact)
    assert later.undo().reason == "undone"
    assert later.items == history(PICTURE, "[card]")


@given(VALUES)
def test_json_brings_each_value_back(value: Any) -> None:
    """Equal, of the same types, and with keys in their order."""
    text = json.dumps(to_stored(value), ensure_ascii=False)
    again = from_stored(json.loads(text), whole=True)
    assert again == value
    assert repr(again) == repr(value)


@given(st.recursive(OF_JSON, st.lists, max_leaves=4))
def test_what_json_has_is_stored_as_it_is(value: Any) -> None:
    """Whoever reads a store of an earlier version reads the same."""
    assert to_stored(value) == value == from_stored(value)


class FaultError(Exception):
    """An exception with an attribute beside its words."""

    def __init__(self) -> None:
        super().__init__("words that are no attribute")
        self.code = 3


def text_file() -> io.TextIOWrapper:
    file = io.TextIOWrapper(io.BytesIO(b"x"))
    file.mode = "r"  # as `open` gives it
    return file


@pytest.mark.parametrize(
    "value",
    [
        io.BytesIO(b"x"),
        text_file(),
        FaultError(),
        object(),
        {1, 2},
        Price("9.99"),
        print,
        (n for n in "abc"),
    ],
)
def test_what_json_does_not_bring_back_is_marked(value: Any) -> None:
    stored = json.loads(json.dumps(to_stored({"inner": [value]})))
    with pytest.raises(NotRestorableError):
        from_stored(stored, whole=True)
    assert from_stored(stored) == {"inner": [plain(value)]}


def test_keys_that_become_the_same_are_told_apart() -> None:
    stored = to_stored({"ann": 1, "eve": 2, "joe": 3}, lambda text: "x" if text.isalpha() else text)
    assert sorted(stored.values()) == [1, 2, 3]
    assert from_stored(stored, whole=True) == stored


def test_a_tuple_with_names_and_a_moment_in_a_zone_come_back() -> None:
    value = {
        "at": datetime(2026, 11, 24, 1, 30, tzinfo=timezone(timedelta(hours=2))),
        "on": date(2026, 11, 24),
        "by": time(9, 30),
        "who": UUID(int=7),
        "where": Point(3),
        "what": bytearray(b"\x00\xff"),
    }
    assert from_stored(json.loads(json.dumps(to_stored(value))), whole=True) == value


# --- what no JSON can hold, or what was damaged ---------------------------------------------------


def nested(levels: int) -> Any:
    """Return a list in a list, so many times."""
    value: Any = "the innermost"
    for _ in range(levels):
        value = [value]
    return value


def within_itself() -> Any:
    value: dict[str, Any] = {"note": "read this"}
    value["self"] = [value]
    return value


class Mute:
    """An SDK's object that cannot say what it holds."""

    def model_dump(self, **options: Any) -> Any:
        raise RuntimeError("not today")


UNWRITABLE = {
    "itself": within_itself,
    "deep": lambda: nested(400),
    "deeper": lambda: nested(3000),
    "mute": Mute,
}


@pytest.mark.parametrize("digits", [639, 641, 5000])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_integer_of_any_length_comes_back(digits: int, sign: int) -> None:
    """Python reads and writes no decimal digits beyond a number of them that can be set."""
    value = {"n": [sign * 10**digits, sign * 10 ** (digits - 1)], 10**digits: True}
    assert from_stored(json.loads(json.dumps(to_stored(value))), whole=True) == value


@pytest.mark.parametrize("what", UNWRITABLE)
@pytest.mark.parametrize("clean", [None, str.upper])
def test_what_json_cannot_hold_is_lost_and_the_rest_of_it_is_not(what: str, clean: Any) -> None:
    stored = json.loads(json.dumps(to_stored({"a": UNWRITABLE[what](), "b": "here"}, clean)))
    with pytest.raises(NotRestorableError):
        from_stored(stored, whole=True)
    read = from_stored(stored)
    assert "here" in json.dumps(read).lower()
    assert ("read this" in json.dumps(read).lower()) == (what == "itself")


@pytest.mark.parametrize("what", UNWRITABLE)
def test_an_item_that_json_cannot_hold_keeps_no_list_from_being_folded(
    store: Any, what: str
) -> None:
    """It is found by its words; only the process that folded can put it back."""
    said = {"role": "user", "content": f"Question. {LONG}", "extra": UNWRITABLE[what]()}
    items: list[Any] = [said, {"role": "assistant", "content": LONG}]
    items += [{"role": "user", "content": "Thanks."}]
    before = list(items)
    ctx = ChatContext(items, shape="openai_chat", store=store, key="c", redact=str)
    assert ctx.summarize("extractive", keep_last_turns=1).changed
    later = ChatContext(list(items), shape="openai_chat", store=store, key="c")
    left = list(later.items)
    assert later.undo().reason == "nothing_to_undo"
    assert later.items == left
    assert later.recall(query="question")[0]["content"] == said["content"]
    assert ctx.undo().reason == "undone"
    assert all(now is then for now, then in zip(items, before, strict=True))


def test_an_integer_of_many_digits_comes_back_from_a_store(store: Any) -> None:
    items: list[Any] = [
        {"role": "user", "content": f"Question. {LONG}", "n": 10**5000},
        {"role": "assistant", "content": LONG},
        {"role": "user", "content": "Thanks."},
    ]
    before = list(items)
    ctx = ChatContext(items, shape="openai_chat", store=store, key="c")
    assert ctx.summarize("extractive", keep_last_turns=1).changed
    later = ChatContext(list(items), shape="openai_chat", store=store, key="c")
    assert later.undo().reason == "undone"
    assert later.items == before


@pytest.mark.parametrize("kind", ["zzz", "lost", "bytes", "int", "decimal", "date", "pairs", [1]])
@pytest.mark.parametrize("value", [..., None, 5, "&", "x y", ["a"], [[[1], 2]], {"a": 1}])
def test_a_tag_with_a_value_that_it_never_had_raises_nothing_else(kind: Any, value: Any) -> None:
    """Who reads gets what stands there, who puts it back is told that it is not whole."""
    fields = {"$chatfold": kind} if value is ... else {"$chatfold": kind, "value": value}
    with pytest.raises(NotRestorableError):
        from_stored({"inner": [fields]}, whole=True)
    assert from_stored({"inner": [fields]}) == {"inner": [None if value is ... else value]}


@pytest.mark.parametrize("key", ["b", 2])
def test_an_item_that_its_owner_edits_meanwhile_is_stored(key: Any) -> None:
    """A fold in the background writes the originals, and the owner sets a marker in another."""
    item: dict[Any, Any] = {"a": "one", key: {"c": "two"}}

    def edited(text: str) -> str:
        item[f"cache_control {len(item)}"] = {"type": "ephemeral"}
        return text

    stored = from_stored(to_stored(item, edited))
    assert stored == {"a": "one", key: {"c": "two"}}
