"""Responses and streams of packages that have classes of their own for the providers' fields.

litellm, groq, together, cerebras and huggingface_hub have: what they return is known by its fields.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest
from capture.driving import Reading
from capture.replies import CHAT, MESSAGES, RESPONSES, chat, chat_call, chunk
from capture.stream_server import Reply
from pydantic import BaseModel, ConfigDict, Field

from chatfold.capture import captured
from chatfold.core.flow import Usage
from chatfold.core.native import plain
from chatfold.shapes import shape_named

REPLIES = [
    pytest.param(reply, id=f"{api}: {name}")
    for api, replies in (("chat", CHAT), ("responses", RESPONSES), ("messages", MESSAGES))
    for name, reply in replies.items()
]
CALLS = CHAT["parallel calls"]


class Model(BaseModel):
    """A class of another package, with the fields that it is given."""

    model_config = ConfigDict(extra="allow")


class Fields(dict[str, Any]):
    """A dict whose keys are attributes too, as huggingface_hub has it."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(name)
        return self[name]


def as_objects(value: Any, make: Callable[..., Any]) -> Any:
    """Return a body as its package would, an object for each JSON object."""
    if isinstance(value, list):
        return [as_objects(each, make) for each in cast("list[Any]", value)]
    if isinstance(value, dict):
        held = cast("dict[str, Any]", value)
        return make(**{key: as_objects(each, make) for key, each in held.items()})
    return value


makes = pytest.mark.parametrize("make", [Model, SimpleNamespace, Fields])


def items_of(response: Any) -> list[Any]:
    return list(captured(response, shape_named, []).items)


def read(events: Any) -> Reading:
    """Return what comes of a stream that is read to its end."""
    reading = Reading()
    stream = reading.record(events)
    for event in stream:
        reading.take(event)
    reading.end(stream)
    return reading


@makes
@pytest.mark.parametrize("reply", REPLIES)
def test_a_whole_response_gives_the_items_of_the_sdks_own(
    reply: Reply, make: Callable[..., Any]
) -> None:
    """With the same usage and model, and without a change to it."""
    response = as_objects(reply.whole, make)
    before = copy.deepcopy(response)
    given = captured(response, shape_named, [])
    wanted = captured(reply.whole, shape_named, [])
    assert [plain(item) for item in given.items] == [plain(item) for item in wanted.items]
    assert given[1:] == wanted[1:]
    assert response == before


@makes
@pytest.mark.parametrize("reply", REPLIES)
def test_a_stream_gives_the_items_of_the_sdks_own(reply: Reply, make: Callable[..., Any]) -> None:
    """Each event is handed over as the same object."""
    events = [as_objects(event, make) for event in reply.events]
    reading, wanted = read(iter(events)), read(iter(reply.events))
    assert all(a is b for a, b in zip(reading.events, events, strict=True))
    assert reading.items == wanted.items
    assert (reading.told, reading.unfinished) == (wanted.told, wanted.unfinished)


def test_a_message_without_its_object_is_known_by_its_choices() -> None:
    """huggingface_hub 2.4.0 has no such field."""
    body = {key: value for key, value in CALLS.whole.items() if key != "object"}
    events = [{k: v for k, v in event.items() if k != "object"} for event in CALLS.events]
    assert items_of(as_objects(body, Model)) == items_of(CALLS.whole)
    assert read(as_objects(event, Model) for event in events).items == items_of(CALLS.whole)


@dataclass(slots=True)
class Slotted:
    """A message whose class has no `__dict__`."""

    role: str
    content: str


class Shut:
    """A message that does not say what it holds."""

    __slots__ = ("content", "role")

    def __init__(self) -> None:
        self.role, self.content = "assistant", "It is 42."


def test_a_message_of_a_class_with_slots_is_read_or_refused() -> None:
    """Never left out."""
    answer = {"object": "chat.completion", "choices": [{"message": Slotted("assistant", "Yes.")}]}
    assert items_of(answer) == [{"role": "assistant", "content": "Yes."}]
    answer["choices"] = [{"message": Shut()}]
    with pytest.raises(TypeError, match="a message of Shut cannot be read; pass it as a dict"):
        items_of(answer)


class Kind(BaseModel):
    type: Literal["part"] = "part"


class Whole(BaseModel):
    kind: Literal["whole"] | None = "whole"
    hidden: Literal["no"] = Field("no", exclude=True)
    pair: tuple[Kind, ...] = ()
    named: dict[str, Kind] = {}


def test_what_a_model_is_by_its_class_is_said_wherever_it_stands() -> None:
    """But not what was set to nothing, or is never to go out."""
    part = {"type": "part"}
    held = Whole(pair=(Kind(),), named={"one": Kind()})
    assert plain(held) == {"kind": "whole", "pair": [part], "named": {"one": part}}
    assert plain(Whole(kind=None)) == {"kind": None}


@pytest.mark.parametrize("make", [Model, Fields, dict])
def test_a_message_of_anthropics_is_known_without_its_usage(make: Callable[..., Any]) -> None:
    """Some gateways leave it out; an item of a list has no reason to stop either."""
    body = {key: value for key, value in MESSAGES["text"].whole.items() if key != "usage"}
    assert [plain(item) for item in items_of(as_objects(body, make))] == [
        plain(item) for item in items_of(MESSAGES["text"].whole)
    ]
    with pytest.raises(TypeError, match="an item or a part of one"):
        items_of(as_objects({"type": "message", "role": "user", "content": []}, make))


def test_empty_fields_of_a_call_are_not_sent_back() -> None:
    """huggingface_hub 2.4.0 writes a description that no server takes in a call."""
    made = chat_call("call_a", city="Bern")
    made["function"]["description"] = None
    (item,) = items_of(chat({"role": "assistant", "content": None, "tool_calls": [made]}).whole)
    assert item["tool_calls"] == [chat_call("call_a", city="Bern")]


def test_usage_that_groq_tells_in_a_place_of_its_own_is_noted() -> None:
    """Nobody has to ask for it there."""
    used = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27}
    last = {**chunk({}, end="stop"), "x_groq": {"id": "req_1", "usage": used}}
    reading = read(as_objects(e, Model) for e in [chunk({"content": "Rain."}), last])
    assert reading.told[0].usage == Usage(20, 7)


# A stream that is read either way, as litellm's is


class Either:
    """A stream for `for` and for `async for`, with methods to close it in both."""

    def __init__(self, events: Any) -> None:
        self._events = iter(events)
        self.closed: list[str] = []

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._events)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        for event in self._events:
            return event
        raise StopAsyncIteration

    def close(self) -> str:
        self.closed.append("close")
        return "closed"

    async def aclose(self) -> str:
        self.closed.append("aclose")
        return "closed"


class Awaited(Either):
    """A stream that is derived from one for `for`, which it is not, as aiobotocore's is."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("use async for")

    __next__ = None  # type: ignore[assignment]


async def read_awaited(reading: Reading, stream: Any) -> None:
    async for event in stream:
        reading.take(event)


@pytest.mark.parametrize("awaited", [False, True])
def test_a_stream_that_is_read_either_way_is_recorded_in_both(awaited: bool) -> None:
    reading = Reading()
    if awaited:
        asyncio.run(read_awaited(reading, reading.record(Either(CALLS.events))))
    else:
        for event in reading.record(Either(CALLS.events)):
            reading.take(event)
    assert reading.events == CALLS.events
    assert reading.items == items_of(CALLS.whole)


def test_a_stream_that_only_seems_to_be_read_either_way_is_recorded() -> None:
    reading = Reading()
    asyncio.run(read_awaited(reading, reading.record(Awaited(CALLS.events))))
    assert reading.items == items_of(CALLS.whole)


@pytest.mark.parametrize("awaited", [False, True])
def test_a_stream_that_is_read_either_way_is_closed_as_it_was(awaited: bool) -> None:
    """Closing ends the recording: what was begun is not stored, and the stream says so."""
    inner, reading = Either(CALLS.events), Reading()
    stream = reading.record(inner)
    next(stream)
    next(stream)
    answer = asyncio.run(stream.aclose()) if awaited else stream.close()
    assert (answer, inner.closed) == ("closed", ["aclose" if awaited else "close"])
    list(stream)
    assert (reading.items, stream.stored) == ([], ())
    assert stream.unfinished == "a message with 1 tool calls"
