"""Responses and streams of Bedrock's Converse: each answer is one message.

Sources: the service model of bedrock-runtime in botocore 1.44.5 (`ConverseResponse`,
`ConverseStreamOutput`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, cast

from chatfold.capture._choices import chosen
from chatfold.capture._values import Captured
from chatfold.core.arguments import parsed_object, wrapped
from chatfold.core.usage import Usage, count

__all__ = ["outputs", "shape", "starts", "takes"]

shape: Final = "bedrock"

_EVENTS: Final = frozenset(
    {
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
    }
)


_CUT_OFF: Final = frozenset(
    {
        "max_tokens",
        "model_context_window_exceeded",
        "stop_sequence",
        "content_filtered",
        "malformed_tool_use",
        "malformed_model_output",
    }
)
"""Why an answer may end in the middle of what it says.

Not `guardrail_intervened`: a guardrail may have masked some words of one that is whole.
"""


def takes(response: object) -> bool:
    """Return whether this is what `converse` returned."""
    return "stopReason" in _dict(response) and bool(_dict(_dict(response).get("output")))


def outputs(response: Any, *, choice: int | None) -> Captured:
    """Return the message of a response; one without content is left out.

    A call at the end of an answer that was cut off has not all of its input, though an object.

    Raises:
        TypeError: The content of its message is no list.
        ValueError: `choice` is neither None nor 0: there is one answer.
    """
    message = _dict(chosen([_dict(response["output"]).get("message")], choice))
    content: Any = message.get("content") or []
    if not isinstance(content, list):
        kind = type(content).__name__
        raise TypeError(f"a message with a content of {kind} cannot be read; pass a list of blocks")
    ended = _ended(cast("list[Any]", content), response["stopReason"])
    item = message if ended is content else {**message, "content": ended}
    if not item.get("role"):  # as a server may that stands in for Bedrock
        item = {**item, "role": "assistant"}
    items = (item,) if content else ()
    return Captured(items, _usage(response), _routed(response))


def starts(event: object) -> Answer | None:
    """Return what gathers the events of `converse_stream(...)["stream"]`."""
    fields = _dict(event)
    return Answer() if len(fields) == 1 and fields.keys() <= _EVENTS else None


class Answer:
    """One streamed message: complete at its `messageStop`."""

    held: str | None = None
    takes_ids = True

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.model: str | None = None
        self._role: str | None = None
        self._blocks: dict[int, dict[str, Any]] = {}

    @property
    def unfinished(self) -> str:
        """What was begun and is not finished."""
        return "" if self._role is None else "a message"

    def feed(self, event: Any) -> Iterable[Any]:
        """Take in an event; return the message if this event ends it."""
        for kind, told in _dict(event).items():
            match kind:
                case "messageStart":
                    self._role, self._blocks = _dict(told).get("role") or "assistant", {}
                case "contentBlockStart":
                    self._add(_dict(told), "start")
                case "contentBlockDelta":
                    self._add(_dict(told), "delta")
                case "messageStop":
                    return self._finish(_dict(told).get("stopReason"))
                case "metadata":
                    self.usage = _usage(told) or self.usage
                    self.model = _routed(told) or self.model
                case _:
                    pass
        return ()

    def close(self) -> Iterable[Any]:
        """Return nothing: a message is given at once when it is finished."""
        return ()

    def _add(self, told: dict[str, Any], key: str) -> None:
        # Only blocks that have more than text have a start.
        block = self._blocks.setdefault(told.get("contentBlockIndex", 0), {})
        for kind, piece in _dict(told.get(key)).items():
            match kind, piece:
                case "citation", _:  # comes whole, one after the other
                    block.setdefault(kind, []).append(piece)
                case "toolResult", list():
                    block[kind] = _joined(block.get(kind), {"content": piece})
                case "SDK_UNKNOWN_MEMBER", _:  # botocore's word for what its model does not list
                    block[kind] = piece
                case _:
                    block[kind] = _joined(block.get(kind), piece)

    def _finish(self, reason: Any) -> list[Any]:
        role, blocks = self._role, self._blocks
        self._role, self._blocks = None, {}
        content = [_block(blocks[index]) for index in sorted(blocks) if blocks[index]]
        content = _ended(content, reason)
        return [{"role": role, "content": content}] if role is not None and content else []


def _joined(known: Any, piece: Any) -> Any:
    """Return what two pieces of one value make: text and bytes grow, fields join."""
    match known, piece:
        case str(), str():
            return known + piece
        case bytes(), bytes():
            return known + piece
        case dict(), dict():
            fields, more = _dict(cast(object, known)), _dict(cast(object, piece))
            return {**fields, **{k: _joined(fields.get(k), v) for k, v in more.items()}}
        case list(), list():
            return _joined_blocks(cast(list[Any], known), cast(list[Any], piece))
        case _:
            return piece


def _joined_blocks(known: list[Any], piece: list[Any]) -> list[Any]:
    """Return blocks with more behind them; a text goes on where the last one ended."""
    last, first = _dict(known[-1] if known else None), _dict(piece[0] if piece else None)
    if last.keys() == first.keys() == {"text"}:
        return [*known[:-1], {"text": last["text"] + first["text"]}, *piece[1:]]
    return [*known, *piece]


def _block(pieces: dict[str, Any]) -> dict[str, Any]:
    """Return the content block that a response has for these pieces of a stream."""
    if "citation" in pieces:
        cited = {"content": [{"text": pieces.get("text", "")}], "citations": pieces["citation"]}
        return {"citationsContent": cited}
    if "toolUse" in pieces:
        use = _dict(pieces["toolUse"])
        return {"toolUse": {**use, "input": _input(use.get("input", ""))}}
    if "reasoningContent" in pieces:
        thought = _dict(pieces["reasoningContent"])
        if "redactedContent" in thought:
            return {"reasoningContent": thought}
        return {"reasoningContent": {"reasoningText": {"text": "", **thought}}}
    return pieces


def _ended(content: list[Any], reason: Any) -> list[Any]:
    """Return the blocks of an answer; where it was cut off in a call, with its input wrapped."""
    use = _dict(_dict(content[-1] if content else None).get("toolUse"))
    if not use or use.get("type") or reason not in _CUT_OFF:
        return content
    return [*content[:-1], {"toolUse": {**use, "input": wrapped(use.get("input"))}}]


def _input(text: str) -> dict[str, Any]:
    """Return the input that a text holds, wrapped where a limit has cut it off."""
    return parsed_object(text) if text.strip() else {}


def _dict(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _routed(response: Any) -> str | None:
    """Return the model that a prompt router chose; else only the request names the model."""
    trace = _dict(_dict(response).get("trace"))
    return _dict(trace.get("promptRouter")).get("invokedModelId")


def _usage(response: Any) -> Usage | None:
    """Return the tokens used; `inputTokens` are those that no cache was used for.

    Source: https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html, as applied in
    https://github.com/anomalyco/opencode/pull/38427 (read 2026-11-22).
    """
    used = _dict(response).get("usage")
    if used is None:
        return None
    cached, kept = count(used, "cacheReadInputTokens"), count(used, "cacheWriteInputTokens")
    read = count(used, "inputTokens") + cached + kept
    return Usage(read, count(used, "outputTokens"), cached)
