"""Capture of mistralai's responses and streams, by the real SDK over HTTP."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any, ClassVar

import pytest
from capture.native_servers import Answered, CaptureSuite, Host, NativeServer, sse
from mistralai.client import Mistral, models
from pydantic import BaseModel

from chatfold.capture import captured, mistral
from chatfold.core.flow import Usage
from chatfold.core.native import plain
from chatfold.shapes import shape_named

TOKENS = {"prompt_tokens": 30, "completion_tokens": 9, "total_tokens": 39}
USED = Usage(30, 9)


def whole(*choices: dict[str, Any]) -> dict[str, Any]:
    """Return a response with these choices."""
    return {
        "id": "cmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "mistral-large",
        "usage": TOKENS,
        "choices": [
            {"index": n, "finish_reason": "stop", **choice} for n, choice in enumerate(choices)
        ],
    }


def chunk(delta: dict[str, Any], *, finish: str | None = None, index: int = 0) -> dict[str, Any]:
    """Return a chunk of a stream."""
    made: dict[str, Any] = {
        "id": "cmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "mistral-large",
        "choices": [{"index": index, "delta": delta, "finish_reason": finish}],
    }
    return made | ({"usage": TOKENS} if finish else {})


def answer(
    message: dict[str, Any], deltas: list[dict[str, Any]], calls: list[str] | None = None
) -> Answered:
    """Return an answer whose stream brings one delta in each chunk."""
    last = len(deltas) - 1
    chunks = [chunk(d, finish="stop" if n == last else None) for n, d in enumerate(deltas)]
    events = sse(*chunks)
    events[-1] += b"data: [DONE]\n\n"  # which the SDK keeps to itself
    body = whole({"message": {"role": "assistant", **message}})
    return Answered(body, events, len(chunks), USED, calls or [])


def thinking(*words: str, **more: Any) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [text(w) for w in words], **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(index: int, id_: str, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": id_, "type": "function", "index": index, "function": function}


REFERENCE = {"type": "reference", "reference_ids": [1, 2]}
ROME = call(0, "aaaaaaaa1", "weather", '{"city": "Rome", "days": 2}')
OSLO = call(1, "aaaaaaaa2", "weather", '{"city": "Oslo"}')
ANSWERS = {
    "words": answer(
        {"content": "The weather is fine."},
        [
            {"role": "assistant", "content": ""},
            {"content": "The weather"},
            {"content": " is fine."},
            {"content": ""},
        ],
    ),
    "thinking and words": answer(
        {"content": [thinking("It is June.", signature="s1", closed=True), text("Fine.")]},
        [
            {"role": "assistant", "content": ""},
            {"content": [thinking("It is")]},
            {"content": [thinking(" June.")]},
            {"content": [thinking(signature="s1", closed=True)]},
            {"content": "Fi"},
            {"content": "ne."},
        ],
    ),
    "two thoughts": answer(
        {"content": [thinking("Is it?", closed=True), thinking("It is.", signature="s2")]},
        [
            {"role": "assistant", "content": [thinking("Is it?", closed=True)]},
            {"content": [thinking("It is.", signature="s2")]},
        ],
    ),
    "references": answer(
        {"content": [text("So it is"), REFERENCE, text(". Truly.")]},
        [
            {"role": "assistant", "content": "So it"},
            {"content": [text(" is"), REFERENCE]},
            {"content": [text(". ")]},
            {"content": "Truly."},
        ],
    ),
    "calls": answer(
        {"content": "", "tool_calls": [ROME, OSLO]},
        [{"role": "assistant", "content": ""}, {"content": "", "tool_calls": [ROME, OSLO]}],
        ["weather", "weather"],
    ),
    "calls in pieces": answer(
        {"content": "I look.", "tool_calls": [ROME, OSLO]},
        [
            {"role": "assistant", "content": "I look."},
            {"tool_calls": [call(0, "aaaaaaaa1", "weather", "")]},
            {"tool_calls": [call(0, "null", "", '{"city": "Rome",')]},
            {"tool_calls": [call(0, "aaaaaaaa1", "weather", ' "days": 2}')]},
            {"tool_calls": [call(1, "aaaaaaaa2", "weather", '{"city": ')]},
            {"tool_calls": [call(1, "null", "", '"Oslo"}')]},
            {"content": ""},
        ],
        ["weather", "weather"],
    ),
    "calls that are numbered alike": answer(
        {"tool_calls": [ROME, {**OSLO, "index": 0}]},
        [
            {"tool_calls": [ROME]},
            {"tool_calls": [call(0, "aaaaaaaa2", "weather", '{"city": ')]},
            {"tool_calls": [call(0, "null", "", '"Oslo"}')]},
        ],
        ["weather", "weather"],
    ),
}


class TestMistral(CaptureSuite):
    """mistralai's `chat.complete` and `chat.stream`, sync and async."""

    shape = "mistral"
    user: ClassVar[Any] = {"role": "user", "content": "How is the weather?"}
    answers = ANSWERS
    model = "mistral-large"

    def call(self, url: str, items: list[Any]) -> Any:
        return client(url).chat.complete(model="mistral-large", messages=items)

    def stream(self, url: str, items: list[Any]) -> Any:
        return client(url).chat.stream(model="mistral-large", messages=items)

    async def acall(self, url: str, items: list[Any]) -> Any:
        return await client(url).chat.complete_async(model="mistral-large", messages=items)

    async def astream(self, url: str, items: list[Any]) -> Any:
        return await client(url).chat.stream_async(model="mistral-large", messages=items)

    def sent(self, body: dict[str, Any]) -> list[Any]:
        return list(body["messages"])

    def written(self, answered: Answered, ids: list[str | None]) -> Any:
        message = copy.deepcopy(answered.whole["choices"][0]["message"])
        return {"prefix": False, **message}


@cache
def client(url: str) -> Mistral:
    return Mistral(api_key="test", server_url=url)


def parsed(body: dict[str, Any]) -> models.ChatCompletionResponse:
    return models.ChatCompletionResponse.model_validate(body)


def events(*chunks: dict[str, Any]) -> list[models.CompletionEvent]:
    return [models.CompletionEvent.model_validate({"data": c}) for c in chunks]


def said(words: str) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": words}}


def test_one_of_several_choices_has_to_be_chosen() -> None:
    """A history goes on with one answer; which one only the caller knows."""
    response = parsed(whole(said("a"), said("b")))
    with pytest.raises(ValueError, match="2 answers"):
        mistral.outputs(response, choice=None)
    with pytest.raises(ValueError, match="no choice 2"):
        mistral.outputs(response, choice=2)
    (item,) = captured(response, shape_named, [], choice=1).items
    assert item["content"] == "b"


def test_of_a_stream_with_several_choices_the_first_is_recorded() -> None:
    """The others are left out, and the log says so."""
    chunks = [
        chunk({"content": "a1"}),
        chunk({"content": "b1"}, index=1),
        chunk({"content": "a2"}, finish="stop"),
    ]
    host = Host([])
    stream = host.record(iter(events(*chunks)))
    assert len(list(stream)) == 3
    assert [item["content"] for item in host.added] == ["a1a2"]
    assert stream.unfinished == "1 more choices (only the first is recorded)"


def test_several_messages_of_one_choice_are_all_captured() -> None:
    """A choice may hold a run of messages, tools that the server ran included."""
    search = call(0, "aaaaaaaa1", "search", '{"q": "Rome"}')
    messages = [
        {"role": "assistant", "content": "", "tool_calls": [search]},
        {"role": "tool", "tool_call_id": "aaaaaaaa1", "content": "fine"},
        {"role": "assistant", "content": "It is fine."},
    ]
    response = captured(parsed(whole({"messages": messages})), shape_named, [])
    last = len(messages) - 1
    chunks = [
        chunk({**m, "index": n}, finish="stop" if n == last else None)
        for n, m in enumerate(messages)
    ]
    host = Host([])
    list(host.record(iter(events(*chunks))))
    assert host.added == list(response.items) == messages


def test_an_answer_without_content_adds_no_item() -> None:
    """An empty message is none that the server would take back."""
    host = Host([])
    list(host.record(iter(events(chunk({"role": "assistant", "content": ""}, finish="stop")))))
    assert host.added == []
    assert captured(parsed(whole(said(""))), shape_named, []).items == ()


def test_bare_chunks_are_recorded_as_their_events_are() -> None:
    """A host that passes on `event.data` may record that stream as well."""
    host = Host([])
    chunks = events(chunk({"content": "Fi"}), chunk({"content": "ne."}, finish="stop"))
    list(host.record(event.data for event in chunks))
    assert [item["content"] for item in host.added] == ["Fine."]


def test_calls_without_ids_get_ids_that_fit() -> None:
    """The SDK reads a missing id as "null"; each such call gets nine characters of its own."""
    made = [{"function": ROME["function"]}, {"function": OSLO["function"]}]
    response = captured(parsed(whole({"message": {"tool_calls": made}})), shape_named, [])
    host = Host([])
    list(host.record(iter(events(chunk({"tool_calls": made}, finish="tool_calls")))))
    assert host.added == list(response.items)
    ids = [c["id"] for c in host.added[0]["tool_calls"]]
    assert len(set(ids)) == 2
    assert all(len(i) == 9 and i.isalnum() for i in ids)


def test_recording_leaves_the_events_alone() -> None:
    """Events are kept by users who collect them; putting them together changes none."""
    for name in ("thinking and words", "calls in pieces", "references"):
        lines = [e.split(b"\n")[0].removeprefix(b"data: ") for e in ANSWERS[name].events]
        made = events(*map(json.loads, lines))
        copies = [event.model_copy(deep=True) for event in made]
        seen = list(Host([]).record(iter(made)))
        assert all(one is other for one, other in zip(seen, made, strict=True))
        assert made == copies


def test_the_copies_of_the_sdk_for_other_clouds_are_taken() -> None:
    """The classes for Azure have the same names in a package of their own."""
    azure = pytest.importorskip("mistralai.azure.client.models")
    response = azure.ChatCompletionResponse.model_validate(whole(said("Fine.")))
    chunks = [chunk({"content": "Fi"}), chunk({"content": "ne."}, finish="stop")]
    host = Host([])
    list(host.record(azure.CompletionEvent.model_validate({"data": c}) for c in chunks))
    assert host.added == list(captured(response, shape_named, []).items)


def test_what_a_call_was_given_is_no_chunk_that_the_sdk_does_not_know() -> None:
    """Such a chunk has these fields."""
    given = {"is_unknown": True, "raw": "x"}
    called = {"id": "abcdefghi", "function": {"name": "flag", "arguments": given}}
    body = whole({"message": {"role": "assistant", "content": "", "tool_calls": [called]}})
    response = models.ChatCompletionResponse.model_validate(body)
    (item,) = captured(response, shape_named, []).items
    assert plain(item)["tool_calls"][0]["function"]["arguments"] == given


def test_a_parsed_answer_is_captured_without_what_the_sdk_parsed(server: NativeServer) -> None:
    """`chat.parse` adds a field of its own to the message, which the server does not take."""
    server.answer(Answered(whole(said('{"city": "Rome"}')), [], 1, USED), streamed=False)
    response = client(server.url).chat.parse(City, model="m", messages=[TestMistral.user])
    (item,) = captured(response, shape_named, []).items
    assert "parsed" not in item
    assert item["content"] == '{"city": "Rome"}'


class City(BaseModel):
    """What an answer is parsed to."""

    city: str


@pytest.fixture(scope="module")
def server() -> Any:
    """A running server."""
    with NativeServer("text/event-stream").running() as running:
        yield running
