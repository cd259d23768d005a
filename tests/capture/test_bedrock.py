"""Capture of Converse responses and event streams, by the real boto3 over HTTP."""

from __future__ import annotations

import json
import struct
from binascii import crc32
from functools import cache
from typing import Any, ClassVar

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import EventStreamError
from botocore.loaders import Loader
from capture.native_servers import Answered, CaptureSuite, Host, NativeServer

from chatfold import ChatContext
from chatfold.capture import bedrock, captured
from chatfold.core.flow import Usage
from chatfold.shapes import shape_named

TOKENS = {
    "inputTokens": 10,
    "outputTokens": 7,
    "totalTokens": 47,
    "cacheReadInputTokens": 20,
    "cacheWriteInputTokens": 10,
}
USED = Usage(40, 7, 20)
MODEL = "anthropic.claude-opus-5-5"
PIECES: list[list[tuple[str, dict[str, Any]]]] = []
"""The events of every answer, for the test that none which botocore knows is missing."""


def event(kind: str, payload: dict[str, Any], sort: str = "event") -> bytes:
    """Return an event as `application/vnd.amazon.eventstream` writes it."""
    headers = b"".join(
        bytes([len(name)]) + name + b"\x07" + struct.pack(">H", len(value)) + value
        for name, value in (
            (f":{sort}-type".encode(), kind.encode()),
            (b":content-type", b"application/json"),
            (b":message-type", sort.encode()),
        )
    )
    body = json.dumps(payload).encode()
    start = struct.pack(">II", len(headers) + len(body) + 16, len(headers))
    message = start + struct.pack(">I", crc32(start)) + headers + body
    return message + struct.pack(">I", crc32(message))


def start(index: int, **block: Any) -> tuple[str, dict[str, Any]]:
    return "contentBlockStart", {"contentBlockIndex": index, "start": block}


def delta(index: int, **piece: Any) -> tuple[str, dict[str, Any]]:
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": piece}


def stop(index: int) -> tuple[str, dict[str, Any]]:
    return "contentBlockStop", {"contentBlockIndex": index}


def answer(
    content: list[dict[str, Any]],
    pieces: list[tuple[str, dict[str, Any]]],
    calls: list[str] | None = None,
) -> Answered:
    """Return an answer whose stream has these events between its first and its last ones."""
    PIECES.append(pieces)
    reason = "tool_use" if calls else "end_turn"
    trace = {"promptRouter": {"invokedModelId": MODEL}}
    whole = {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": reason,
        "usage": TOKENS,
        "metrics": {"latencyMs": 5},
        "trace": trace,
    }
    told = [
        ("messageStart", {"role": "assistant"}),
        *pieces,
        ("messageStop", {"stopReason": reason}),
        ("metadata", {"usage": TOKENS, "metrics": {"latencyMs": 5}, "trace": trace}),
    ]
    return Answered(whole, [event(*t) for t in told], len(told) - 1, USED, calls or [])


def use(id_: str, name: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": id_, "name": name, "input": arguments, **more}}


def citation(title: str, at: int) -> dict[str, Any]:
    return {
        "title": title,
        "sourceContent": [{"text": "cited"}],
        "location": {"documentChar": {"documentIndex": 0, "start": at, "end": at + 5}},
    }


ANSWERS = {
    "words": answer(
        [{"text": "The weather is fine."}],
        [delta(0, text="The weather"), delta(0, text=" is fine."), stop(0)],
    ),
    "reasoning and calls": answer(
        [
            {"reasoningContent": {"reasoningText": {"text": "Two cities.", "signature": "s1s2"}}},
            {"reasoningContent": {"redactedContent": "aGlkZGVu"}},
            {"text": "I look."},
            use("t1", "weather", {"city": "Rome", "days": 2}),
            use("t2", "now", {}),
        ],
        [
            delta(0, reasoningContent={"text": "Two "}),
            delta(0, reasoningContent={"text": "cities."}),
            delta(0, reasoningContent={"signature": "s1"}),
            delta(0, reasoningContent={"signature": "s2"}),
            stop(0),
            delta(1, reasoningContent={"redactedContent": "aGlk"}),
            delta(1, reasoningContent={"redactedContent": "ZGVu"}),
            stop(1),
            delta(2, text="I look."),
            stop(2),
            start(3, toolUse={"toolUseId": "t1", "name": "weather"}),
            delta(3, toolUse={"input": '{"city": "Rome", '}),
            delta(3, toolUse={"input": '"days": 2}'}),
            stop(3),
            start(4, toolUse={"toolUseId": "t2", "name": "now"}),
            delta(4, toolUse={"input": ""}),
            stop(4),
        ],
        ["weather", "now"],
    ),
    "blocks that are mixed": answer(
        [use("t1", "weather", {"city": "Rome"}), use("t2", "weather", {"city": "Oslo"})],
        [
            start(1, toolUse={"toolUseId": "t2", "name": "weather"}),
            start(0, toolUse={"toolUseId": "t1", "name": "weather"}),
            delta(1, toolUse={"input": '{"city": '}),
            delta(0, toolUse={"input": '{"city": "Rome"}'}),
            delta(1, toolUse={"input": '"Oslo"}'}),
            stop(1),
            stop(0),
        ],
        ["weather", "weather"],
    ),
    "signature alone": answer(
        [{"reasoningContent": {"reasoningText": {"text": "", "signature": "s"}}}, {"text": "Yes."}],
        [delta(0, reasoningContent={"signature": "s"}), stop(0), delta(1, text="Yes."), stop(1)],
    ),
    "citations": answer(
        [
            {"text": "As is known: "},
            {
                "citationsContent": {
                    "content": [{"text": "it rains."}],
                    "citations": [citation("Almanac", 3), citation("Diary", 9)],
                }
            },
        ],
        [
            delta(0, text="As is known: "),
            stop(0),
            delta(1, text="it "),
            delta(1, citation=citation("Almanac", 3)),
            delta(1, text="rains."),
            delta(1, citation=citation("Diary", 9)),
            stop(1),
        ],
    ),
    "server tools and images": answer(
        [
            use("s1", "search", {"q": "Rome"}, type="server_tool_use"),
            {
                "toolResult": {
                    "toolUseId": "s1",
                    "type": "search_result",
                    "status": "success",
                    "content": [{"text": "It is fine."}, {"json": {"hits": 2}}, {"text": "End."}],
                }
            },
            {"image": {"format": "png", "source": {"bytes": "aGVsbG8h"}}},
        ],
        [
            start(0, toolUse={"toolUseId": "s1", "name": "search", "type": "server_tool_use"}),
            delta(0, toolUse={"input": '{"q": "Rome"}'}),
            stop(0),
            start(1, toolResult={"toolUseId": "s1", "type": "search_result", "status": "success"}),
            delta(1, toolResult=[{"text": "It is"}]),
            delta(1, toolResult=[{"text": " fine."}, {"json": {"hits": 2}}]),
            delta(1, toolResult=[{"text": "End."}]),
            stop(1),
            start(2, image={"format": "png"}),
            delta(2, image={"source": {"bytes": "aGVs"}}),
            delta(2, image={"source": {"bytes": "bG8h"}}),
            stop(2),
        ],
    ),
}


class TestBedrock(CaptureSuite):
    """boto3's `converse` and `converse_stream`."""

    shape = "bedrock"
    stream_type = "application/vnd.amazon.eventstream"
    user: ClassVar[Any] = {"role": "user", "content": [{"text": "How is the weather?"}]}
    answers = ANSWERS
    asynchronous = False
    model = MODEL

    def call(self, url: str, items: list[Any]) -> Any:
        return client(url).converse(modelId=MODEL, messages=items)

    def stream(self, url: str, items: list[Any]) -> Any:
        return client(url).converse_stream(modelId=MODEL, messages=items)

    def sent(self, body: dict[str, Any]) -> list[Any]:
        return list(body["messages"])

    def written(self, answered: Answered, ids: list[str | None]) -> Any:
        return answered.whole["output"]["message"]


@cache
def client(url: str) -> Any:
    return boto3.client(
        "bedrock-runtime",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"max_attempts": 1}, proxies={}),
    )


def test_a_whole_message_is_stored_as_it_came() -> None:
    """The message is the response's own dict: nothing is copied or encoded."""
    whole = ANSWERS["reasoning and calls"].whole
    assert captured(whole, shape_named, []).items[0] is whole["output"]["message"]


def test_the_stream_alone_is_recorded_as_its_response_is(server: NativeServer) -> None:
    """Both `record(response)` and `record(response["stream"])` keep the message."""
    server.answer(ANSWERS["words"], streamed=True)
    hosts = Host([]), Host([])
    response = client(server.url).converse_stream(modelId=MODEL, messages=[TestBedrock.user])
    recorded = hosts[0].record(response)
    assert recorded is not response
    assert recorded["ResponseMetadata"] is response["ResponseMetadata"]
    list(recorded["stream"])
    response = client(server.url).converse_stream(modelId=MODEL, messages=[TestBedrock.user])
    list(hosts[1].record(response["stream"]))
    assert hosts[0].added == hosts[1].added != []


def test_every_kind_of_piece_in_the_service_model_is_put_together() -> None:
    """Each block start and each delta that botocore knows is in an answer of this file."""
    shapes = Loader().load_service_model("bedrock-runtime", "service-2")["shapes"]
    known = {
        "start": set(shapes["ContentBlockStart"]["members"]),
        "delta": set(shapes["ContentBlockDelta"]["members"]),
    }
    drawn: dict[str, set[str]] = {"start": set(), "delta": set()}
    payloads = [payload for pieces in PIECES for _, payload in pieces]
    for payload in payloads:
        for key in drawn.keys() & payload.keys():
            drawn[key] |= payload[key].keys()
    assert drawn == known
    thoughts = {k for p in payloads for k in p.get("delta", {}).get("reasoningContent", ())}
    assert thoughts == set(shapes["ReasoningContentBlockDelta"]["members"])
    events = set(shapes["ConverseStreamOutput"]["members"])
    assert {e for e in events if not e.endswith("Exception")} == bedrock._EVENTS


@pytest.mark.parametrize("role", [{}, {"role": None}], ids=str)
def test_an_answer_that_names_no_role_is_an_assistants(role: dict[str, Any]) -> None:
    """Whole and streamed; no shape would know it otherwise."""
    content = [{"text": "Fine."}]
    said = {"role": "assistant", "content": content}
    whole = {"output": {"message": {"content": content, **role}}, "stopReason": "end_turn"}
    events: list[dict[str, Any]] = [
        {"messageStart": role},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": content[0]}},
        {"messageStop": {"stopReason": "end_turn"}},
    ]
    host = Host([])
    host.add_response(whole)
    list(host.record(iter(events)))
    assert host.added == [said, said]


def test_there_is_one_answer_to_choose() -> None:
    """Converse gives one answer, so there is no second one."""
    whole = ANSWERS["words"].whole
    assert len(bedrock.outputs(whole, choice=0).items) == 1
    with pytest.raises(ValueError, match="no choice 1"):
        bedrock.outputs(whole, choice=1)


def test_an_answer_without_content_adds_no_item(server: NativeServer) -> None:
    """A message without blocks is none that the server would take back."""
    server.answer(answer([], []), streamed=False)
    whole, streamed = Host([]), Host([])
    whole.add_response(client(server.url).converse(modelId=MODEL, messages=[TestBedrock.user]))
    server.answer(answer([], []), streamed=True)
    response = client(server.url).converse_stream(modelId=MODEL, messages=[TestBedrock.user])
    stream = streamed.record(response)["stream"]
    list(stream)
    assert whole.added == streamed.added == []
    assert stream.unfinished == ""
    assert whole.usage == streamed.usage == USED


@pytest.mark.parametrize("blank", ["", "\n\n"])
def test_blank_text_and_reasoning_at_the_end_are_left_out(server: NativeServer, blank: str) -> None:
    """Models write them, and the API refuses them when they come back."""
    call = use("tooluse_1", "weather", {})
    thought = {"reasoningContent": {"reasoningText": {"text": "Rome?", "signature": "s"}}}
    thought_pieces = [
        delta(1, reasoningContent={"text": "Rome?"}),
        delta(1, reasoningContent={"signature": "s"}),
        stop(1),
    ]
    call_pieces = [start(1, toolUse={"toolUseId": "tooluse_1", "name": "weather"}), stop(1)]
    text_pieces = [delta(0, text=blank), stop(0)]
    for blocks, pieces, kept in (
        ([{"text": blank}, call], [*text_pieces, *call_pieces], [call]),
        ([{"text": blank}], text_pieces, []),
        ([{"text": blank}, thought], [*text_pieces, *thought_pieces], []),
    ):
        whole, streamed = Host([]), Host([])
        server.answer(answer(blocks, pieces), streamed=False)
        whole.add_response(client(server.url).converse(modelId=MODEL, messages=[TestBedrock.user]))
        server.answer(answer(blocks, pieces), streamed=True)
        response = client(server.url).converse_stream(modelId=MODEL, messages=[TestBedrock.user])
        list(streamed.record(response)["stream"])
        assert whole.added == streamed.added
        assert [item["content"] for item in whole.added] == ([kept] if kept else [])
        assert whole.usage == streamed.usage == USED


@pytest.mark.parametrize("text", ['{"city": "Ro', "[1]", "1", "null", '"{}"', "[" * 99_999])
def test_arguments_that_are_no_object_are_wrapped_in_one(server: NativeServer, text: str) -> None:
    """Converse takes nothing but an object; what a limit cut off stays readable in it."""
    pieces = [
        start(0, toolUse={"toolUseId": "t1", "name": "weather"}),
        delta(0, toolUse={"input": text}),
        stop(0),
    ]
    server.answer(answer([], pieces, ["weather"]), streamed=True)
    host = Host([TestBedrock.user])
    response = client(server.url).converse_stream(modelId=MODEL, messages=host.items)
    list(host.record(response)["stream"])
    (call,) = ChatContext(host.items, shape="bedrock").tool_calls()
    assert (call.name, call.arguments) == ("weather", {"INVALID_JSON": text})
    assert [p.rule for p in ChatContext(host.items).check()] == ["unanswered_call"]


@pytest.mark.parametrize("reason", ["max_tokens", "malformed_tool_use"])
@pytest.mark.parametrize("given", [{}, {"city": "Ro"}])
def test_a_call_that_was_cut_off_is_not_run_on_an_input_that_is_an_object(
    given: dict[str, Any], reason: str
) -> None:
    """Before its first argument a call has an empty object, as one without arguments has."""
    whole = {
        "output": {"message": {"role": "assistant", "content": [use("t1", "f", given)]}},
        "stopReason": reason,
    }
    events = [
        ("messageStart", {"role": "assistant"}),
        start(0, toolUse={"toolUseId": "t1", "name": "f"}),
        delta(0, toolUse={"input": json.dumps(given) if given else ""}),
        stop(0),
        ("messageStop", {"stopReason": reason}),
    ]
    streamed = Host([TestBedrock.user])
    list(streamed.record(iter([{kind: payload} for kind, payload in events])))
    items: list[Any] = [TestBedrock.user]
    ctx = ChatContext(items, shape="bedrock")
    ctx.add_response(whole)
    assert streamed.added == items[1:]
    assert items[1]["content"] == [use("t1", "f", {"INVALID_JSON": json.dumps(given)})]
    (answer,) = ctx.run_tool_calls({"f": lambda city=None: city}).answers
    assert answer.failed
    assert "they were cut off" in answer.text


def test_an_error_in_the_stream_passes_through(server: NativeServer) -> None:
    """The SDK's error reaches the caller, and nothing unfinished is stored."""
    events = [
        event("messageStart", {"role": "assistant"}),
        event("contentBlockDelta", delta(0, text="Fi")[1]),
        event("throttlingException", {"message": "slow down"}, "exception"),
    ]
    server.answer(Answered({}, events, 3, None), streamed=True)
    host = Host([])
    response = client(server.url).converse_stream(modelId=MODEL, messages=[TestBedrock.user])
    stream = host.record(response)["stream"]
    with pytest.raises(EventStreamError, match="slow down"):
        list(stream)
    assert host.added == []
    assert stream.unfinished == "a message"


def test_a_block_that_the_service_model_lacks_does_not_break_the_others() -> None:
    """Botocore gives the name of what it cannot read; the rest of the message is kept."""
    unknown = {"SDK_UNKNOWN_MEMBER": {"name": "hologram"}}
    host = Host([])
    events = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Look:"}}},
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": unknown}},
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": unknown}},
        {"SDK_UNKNOWN_MEMBER": {"name": "applause"}},
        {"messageStop": {"stopReason": "end_turn"}},
    ]
    list(host.record(iter(events)))
    assert host.added == [{"role": "assistant", "content": [{"text": "Look:"}, unknown]}]


@pytest.fixture(scope="module")
def server() -> Any:
    """A running server."""
    with NativeServer("application/vnd.amazon.eventstream").running() as running:
        yield running


def test_a_message_whose_content_is_no_list_is_refused() -> None:
    """Stored, it would be an item of another provider."""
    message = {"role": "assistant", "content": "Yes."}
    response = {"output": {"message": message}, "stopReason": "end_turn"}
    with pytest.raises(TypeError, match="a content of str cannot be read; pass a list of blocks"):
        captured(response, shape_named, [])
