"""Messages of Anthropic, stable and beta, become items that may be sent back."""

from __future__ import annotations

import copy
import json
import warnings
from typing import Any

import pytest
from anthropic.types import Message
from anthropic.types.beta import BetaMessage
from capture.accepted import every_variant, labels, read_wholly, refused
from capture.driving import Reading, whole_response
from capture.replies import MESSAGES, message
from capture.stream_server import StreamServer
from pydantic import BaseModel
from shapes.sdk_types import members, union_named

from chatfold import ChatContext
from chatfold.capture import Captured, captured
from chatfold.core.flow import Usage
from chatfold.shapes import shape_named

Json = dict[str, Any]
_STABLE = "anthropic.types:ContentBlock"
_BETA = "anthropic.types.beta:BetaContentBlock"
_DELTAS = "anthropic.types:RawContentBlockDelta", "anthropic.types.beta:BetaRawContentBlockDelta"
BLOCKS = [(path, label) for path in (_STABLE, _BETA) for label in labels(path)]


def items_of(answer: Any, before: Any = (), **options: Any) -> list[Any]:
    return list(captured(answer, shape_named, list(before), **options).items)


def fed(events: Any) -> Reading:
    """Return what comes of events that a generator yields."""
    reading = Reading()
    stream = reading.record(event for event in events)
    for event in stream:
        reading.take(event)
    reading.end(stream)
    return reading


# Every type that the SDK lists

_SAID = {"type": "text", "text": "Yes."}  # thinking needs what follows it


@pytest.mark.parametrize(("path", "label"), BLOCKS)
def test_a_block_of_each_type_may_be_sent_back(path: str, label: str) -> None:
    """Each listed block, with all its fields, becomes an input block without spare keys."""
    model = BetaMessage if path == _BETA else Message
    for _, made in every_variant(path, label):
        body = message([made, _SAID]).whole
        untouched = copy.deepcopy(body)
        (item,) = items_of(body)
        assert body == untouched
        assert set(item) == {"role", "content"}
        assert not refused(f"{path}Param", item["content"][0], label)
        assert items_of(model.construct(**body)) == [item]
        assert read_wholly([item], "anthropic")
        assert shape_named("anthropic").replayable(item) == item


@pytest.mark.parametrize(("path", "label"), BLOCKS)
def test_nothing_but_output_only_fields_is_left_out_of_a_block(path: str, label: str) -> None:
    """Blocks stay as they came, but for the file that a citation or a parsed text names."""
    for _, made in every_variant(path, label):
        # An SDK's dict may hold what it parsed; its objects leave that out by themselves.
        given = {**made, "newer": {"field": 1}, "parsed_output": 1}
        (item,) = items_of(message([given, _SAID]).whole)
        block, _ = item["content"]
        assert _without_files({**made, "newer": {"field": 1}}) == block


def _without_files(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_files(v) for v in value]
    if not isinstance(value, dict):
        return value
    cites = value.get("type") in ("char_location", "page_location", "content_block_location")
    return {
        k: _without_files(v)
        for k, v in value.items()
        if not (k == "parsed_output" or (k == "file_id" and cites))
    }


@pytest.mark.parametrize("path", _DELTAS)
def test_a_delta_of_each_type_is_added_to_its_block(path: str) -> None:
    """Each listed delta, given twice, adds its fields to the block; a signature comes whole."""
    for label in labels(path):
        if label not in _STARTED:
            warnings.warn(f"{path} has a delta that no test knows: {label}", stacklevel=1)
            continue
        for cls, made in every_variant(path, label):
            piece = {**made, "partial_json": "12"} if label == "input_json_delta" else made
            delta = cls.model_validate(piece)
            start, added = _STARTED[label]
            block = _block_of(start, delta, delta)
            if label == "citations_delta":
                citation = _without_files(made["citation"])
                added = {"citations": [citation, citation]}
            assert block == {**start, **added}


_TEXT = {"type": "text", "text": ""}
_THINKING = {"type": "thinking", "thinking": "", "signature": ""}
_CALL = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
_COMPACTION = {"type": "compaction", "content": None}
_STARTED: dict[str, tuple[Json, Json]] = {
    "text_delta": (_TEXT, {"text": "texttext"}),
    "citations_delta": ({"type": "text", "text": "cited"}, {}),
    "thinking_delta": (_THINKING, {"thinking": "texttext"}),
    "signature_delta": (_THINKING, {"signature": "text"}),
    "input_json_delta": (_CALL, {"input": {"INVALID_JSON": "1212"}}),
    "compaction_delta": (_COMPACTION, {"content": "text", "encrypted_content": "text"}),
}


def _block_of(start: Json, *deltas: Any) -> Json:
    events: list[Any] = [
        MESSAGES["text"].events[0],
        {"type": "content_block_start", "index": 0, "content_block": start},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": _SAID},
        {"type": "message_stop"},
    ]
    reading = fed(events)
    assert not reading.unfinished
    (item,) = reading.items
    block, _ = item["content"]
    return dict(block)


def test_every_delta_that_the_sdk_lists_has_a_test() -> None:
    """The unions of deltas are there, so that the test above enumerates something."""
    assert all(len(members(union_named(path))) >= 5 for path in _DELTAS if union_named(path))


@pytest.mark.parametrize("name", MESSAGES)
def test_a_reply_becomes_a_message_that_may_be_sent_back(
    stream_server: StreamServer, name: str
) -> None:
    """Every reply over HTTP gives a message of the SDK's input types."""
    for item in items_of(whole_response(stream_server, MESSAGES[name])):
        assert set(item) == {"role", "content"}
        for block in item["content"]:
            assert not refused("anthropic.types:ContentBlockParam", block, block["type"])


# Whole


def test_a_message_gives_its_content_its_usage_and_its_model() -> None:
    """The envelope goes; what the cache held counts as input."""
    text = MESSAGES["text"].whole["content"][0]["text"]
    answer = captured(MESSAGES["text"].whole, shape_named, [])
    item = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    assert answer == Captured((item,), Usage(20, 7, 5), "claude-opus-5")
    with pytest.raises(ValueError, match="no choice 1"):
        items_of(MESSAGES["text"].whole, choice=1)


def test_a_message_without_content_gives_no_item() -> None:
    """An assistant message needs content, so there is nothing to send back."""
    answer = captured(Message.construct(**MESSAGES["nothing"].whole), shape_named, [])
    assert answer.items == ()
    assert answer.usage == Usage(20, 7, 5)


class Weather(BaseModel):
    """What a parsed answer is."""

    rain: bool


def test_a_parsed_message_becomes_a_plain_item(stream_server: StreamServer) -> None:
    """`parse()` adds `parsed_output`, which is no input."""
    stream_server.answers(message([{"type": "text", "text": '{"rain": true}'}]))
    client = stream_server.client("messages")
    asked: Any = [{"role": "user", "content": "?"}]
    options: Any = {"model": "claude-opus-5", "max_tokens": 9, "output_format": Weather}
    if not hasattr(client.messages, "parse"):
        pytest.skip("the installed SDK has no parse()")
    for where in (client, client.beta):
        answer = where.messages.parse(messages=asked, **options)
        assert answer.parsed_output == Weather(rain=True)
        block = {"type": "text", "text": '{"rain": true}'}
        assert items_of(answer) == [{"role": "assistant", "content": [block]}]


def test_calls_without_ids_get_ids() -> None:
    """Equal calls get different ids, the same ones each time; the response stays as it was."""
    whole = copy.deepcopy(MESSAGES["calls without ids"].whole)
    first, again = items_of(whole), items_of(whole)
    assert whole == MESSAGES["calls without ids"].whole
    assert first == again
    ids = [call.id for call in ChatContext(first).tool_calls()]
    assert len(set(ids)) == 2
    assert None not in ids


# Streamed in other ways


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("helper", [False, True], ids=["raw", "helper"])
def test_a_beta_stream_gives_the_items_of_the_whole_message(
    stream_server: StreamServer, helper: bool, asynchronous: bool
) -> None:
    """MCP calls, compaction and a fallback to another model come as they would come whole."""
    reply = message(
        [
            {"type": "compaction", "content": "Before: rain.", "encrypted_content": "Z2g="},
            {
                "type": "fallback",
                "from": {"model": "claude-opus-5"},
                "to": {"model": "claude-sonnet-5"},
                "trigger": {"type": "refusal", "category": "cyber", "explanation": "x"},
            },
            {
                "type": "mcp_tool_use",
                "id": "mcptoolu_1",
                "name": "ask",
                "server_name": "wiki",
                "input": {"q": 1},
            },
            {
                "type": "mcp_tool_result",
                "tool_use_id": "mcptoolu_1",
                "is_error": False,
                "content": [{"type": "text", "text": "one", "citations": None}],
            },
            {"type": "text", "text": "One.", "citations": None},
        ]
    )
    stream_server.answers(reply)
    asked: Any = [{"role": "user", "content": "?"}]
    options: Any = {"model": "claude-opus-5", "max_tokens": 9, "messages": asked}
    whole = stream_server.client("messages").beta.messages.create(**options)
    reading = Reading()

    def read() -> None:
        messages = stream_server.client("messages").beta.messages
        opened = messages.stream if helper else messages.create
        with reading.record(opened(**options, **({} if helper else {"stream": True}))) as stream:
            for event in stream:
                reading.take(event)
        reading.end(stream)

    async def aread() -> None:
        messages = stream_server.client("messages", asynchronous=True).beta.messages
        opened = messages.stream if helper else messages.create
        made = opened(**options, **({} if helper else {"stream": True}))
        async with reading.record(made if helper else await made) as stream:
            async for event in stream:
                reading.take(event)
        reading.end(stream)

    if asynchronous:
        stream_server.loop.run(aread())
    else:
        read()
    assert reading.items == items_of(whole)
    assert reading.unfinished == ""
    assert [told.model for told in reading.told] == ["claude-sonnet-5"]
    for block in reading.items[0]["content"]:
        assert not refused("anthropic.types.beta:BetaContentBlockParam", block, block["type"])


@pytest.mark.parametrize("text", ['{"city": "Ber', "[1]", "x" * 5, "[" * 100_000])
def test_an_input_that_is_no_json_object_is_wrapped_as_anthropic_says(text: str) -> None:
    """Only an object may be sent back, so the text is put into one."""
    start = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": text}
    assert _block_of(start, delta)["input"] == {"INVALID_JSON": text}


def test_an_input_without_deltas_is_the_one_the_block_began_with() -> None:
    """A call without arguments has an empty object; some servers send it whole at the start."""
    empty = {"type": "input_json_delta", "partial_json": ""}
    for given in ({}, {"city": "Bern"}):
        start = {"type": "tool_use", "id": "t", "name": "f", "input": given}
        assert _block_of(start)["input"] == given
        assert _block_of(start, empty)["input"] == given


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal"])
@pytest.mark.parametrize("given", [{}, {"city": "Ber"}])
def test_a_call_that_was_cut_off_is_not_run_on_an_input_that_is_an_object(
    given: Json, reason: str
) -> None:
    """Before its first argument a call has an empty object, as one without arguments has."""
    block = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": given}
    reply = message([_SAID, block], end=reason)
    (item,) = items_of(reply.whole)
    assert fed(reply.events).items == [item]
    assert item["content"][1]["input"] == {"INVALID_JSON": json.dumps(given)}
    items: list[Any] = [{"role": "user", "content": "Go on."}]
    ctx = ChatContext(items)
    ctx.add_response(reply.whole)
    (answer,) = ctx.run_tool_calls({"f": lambda city=None: city}).answers
    assert answer.failed
    assert "they were cut off" in answer.text
    appended = ChatContext([items[0], reply.whole], shape="anthropic")  # without add_response
    (answer,) = appended.run_tool_calls({"f": lambda city=None: city}).answers
    assert answer.failed
    assert "was cut off" in answer.text
    ended = message([_SAID, block], end="tool_use").whole
    assert items_of(ended)[0]["content"] == [_SAID, block]
    appended = ChatContext([items[0], ended], shape="anthropic")
    assert not appended.run_tool_calls({"f": lambda city=None: city}).answers[0].failed


def test_a_delta_that_nobody_knows_is_put_into_its_block() -> None:
    """A newer kind of delta brings its fields, and loses nothing of the message."""
    start = {"type": "newer", "id": "n"}
    block = _block_of(start, {"type": "newer_delta", "score": 3})
    assert block == {"type": "newer", "id": "n", "score": 3}


def test_the_stream_says_which_blocks_were_begun() -> None:
    """The types of the blocks are told, and nothing that they hold."""
    events = MESSAGES["thinking and parallel calls"].events
    stop = next(n for n, e in enumerate(events) if e.get("index") == 3)
    reading = fed(events[: stop + 1])
    assert reading.items == []
    assert reading.unfinished == "a message (thinking, redacted_thinking, text, tool_use)"


def test_a_count_that_a_later_event_leaves_out_stays() -> None:
    """The last counts are totals; null ones say nothing."""
    counts = {"output_tokens": 9, "input_tokens": None, "cache_read_input_tokens": None}
    delta = {"type": "message_delta", "delta": {}, "usage": counts}
    (told,) = fed([MESSAGES["text"].events[0], delta]).told
    assert told.usage == Usage(20, 9, 5)


def test_a_broken_stream_tells_the_usage_so_far() -> None:
    """What was spent is known from the first event on."""
    (told,) = fed(MESSAGES["text"].events[:3]).told
    assert told.usage == Usage(20, 1, 5)


def test_a_blank_text_beside_a_call_is_left_out() -> None:
    """Models write such blocks, and the API refuses them when they come back."""
    use = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    blank = {"type": "text", "text": "\n"}
    assert items_of(message([blank, use]).whole) == [{"role": "assistant", "content": [use]}]


def test_thinking_that_nothing_follows_is_left_out() -> None:
    """The API refuses it in every later request; a limit on the output often ends so."""
    thought = {"type": "thinking", "thinking": "Rain?", "signature": "c2ln"}
    hidden = {"type": "redacted_thinking", "data": "c2ln"}
    blank = {"type": "text", "text": ""}
    for content, kept in (
        ([thought], None),
        ([hidden, thought, blank], None),
        ([thought, _SAID, hidden], [thought, _SAID]),
    ):
        reply = message(content, end="max_tokens")
        expected = [] if kept is None else [{"role": "assistant", "content": kept}]
        assert items_of(reply.whole) == fed(reply.events).items == expected


def test_an_answer_of_blank_text_gives_no_item() -> None:
    """The API refuses a message of it as it does one without content; its tokens count."""
    for text in ("", " \n"):
        reply = message([{"type": "text", "text": text}])
        assert items_of(reply.whole) == []
        reading = fed(reply.events)
        assert (reading.items, reading.unfinished) == ([], "")
        assert reading.told[0].usage == Usage(20, 7, 5)
