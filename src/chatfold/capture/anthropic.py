"""Messages and events of Anthropic's Messages API, stable and beta.

Not read here: threads (`thread=` of a request). A response does not say that it belongs to one
(anthropic 2.12.0), so the caller has to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from chatfold.capture._sdk import fields, is_a, listed
from chatfold.capture._values import Captured, Gather
from chatfold.core.arguments import parsed_object, wrapped
from chatfold.core.native import field, plain
from chatfold.core.usage import Usage, count, usage_in

__all__ = ["outputs", "shape", "starts", "takes"]

shape: Final = "anthropic"

Block = dict[str, Any]

_CUT_OFF: Final = frozenset(
    {"max_tokens", "model_context_window_exceeded", "refusal", "stop_sequence"}
)
"""Why an answer may end in the middle of what it says.

https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons (read 2026-11-27).
"""


def takes(response: object) -> bool:
    """Return whether this is a `Message` or `BetaMessage`, as an object of any make or a dict."""
    if is_a(response, "anthropic.types", "Message", "BetaMessage"):
        return True
    if field(response, "type") != "message" or not isinstance(field(response, "content"), list):
        return False
    given = fields(response)
    ends = hasattr(response, "stop_reason") if given is None else "stop_reason" in given
    return ends or field(response, "usage") is not None


def outputs(response: Any, *, choice: int | None) -> Captured:
    """Return the message; one without content gives no item, and may not be sent back.

    A call at the end of an answer that was cut off has not all of its input, though an object.

    Raises:
        ValueError: A choice other than 0 is asked for.
    """
    if choice:
        raise ValueError(f"a Message holds one answer, and no choice {choice}; leave choice= out")
    content = listed(field(response, "content"))
    items = (response,) if content else ()
    if content and field(response, "stop_reason") in _CUT_OFF and _is_call(content[-1]):
        items = ({"role": field(response, "role"), "content": _cut_off(plain(content))},)
    return Captured(items, usage_in(field(response, "usage")), field(response, "model"))


def starts(event: object) -> Gather | None:
    """Return what gathers the events of a message, the SDK's helper's events included."""
    return _Events() if field(event, "type") == "message_start" else None


def _is_call(block: Any) -> bool:
    return bool(field(block, "type") == "tool_use")


def _cut_off(blocks: list[Block]) -> list[Block]:
    """Return blocks with the input of the last one wrapped, so that no tool runs on it."""
    last = blocks[-1]
    return [*blocks[:-1], {**last, "input": wrapped(last.get("input"))}]


class _Events:
    """Puts blocks together from their deltas; the message is finished by `message_stop`."""

    def __init__(self) -> None:
        self.model: str | None = None
        self.held: str | None = None
        self.takes_ids = True
        self._usage: dict[str, Any] = {}
        self._blocks: dict[int, Block] = {}
        self._inputs: dict[int, str] = {}
        self._reason: str | None = None
        self._done = False

    @property
    def usage(self) -> Usage | None:
        """Tokens used so far; the counts of later events replace those of earlier ones."""
        return usage_in(self._usage)

    @property
    def unfinished(self) -> str:
        """The message until it is finished, with the types of its blocks."""
        if self._done:
            return ""
        blocks = ", ".join(str(block.get("type")) for _, block in sorted(self._blocks.items()))
        return f"a message ({blocks})" if blocks else "a message"

    def feed(self, event: Any) -> Iterator[Block]:
        """Take in an event; yield the message once it is finished."""
        index = count(event, "index")
        match field(event, "type"):
            case "message_start":
                message = field(event, "message")
                self.model = field(message, "model")
                self._count(field(message, "usage"))
                for place, block in enumerate(listed(field(message, "content"))):
                    self._begin(place, plain(block))
            case "content_block_start":
                self._begin(index, plain(field(event, "content_block")))
            case "content_block_delta":
                self._add(index, plain(field(event, "delta")))
            case "message_delta":
                self._count(field(event, "usage"))
                self._reason = field(field(event, "delta"), "stop_reason") or self._reason
            case "message_stop":
                if not self._done and self._blocks:
                    yield {"role": "assistant", "content": self._content()}
                self._done = True
            case _:
                pass

    def close(self) -> tuple[()]:
        """Return nothing: a message is stored as soon as it is finished."""
        return ()

    def _count(self, usage: Any) -> None:
        counts = fields(plain(usage)) or {}
        self._usage |= {key: value for key, value in counts.items() if value is not None}

    def _begin(self, index: int, block: Any) -> None:
        begun = fields(block)
        if begun is None:
            return
        self._blocks[index] = begun
        if begun.get("type") == "fallback":  # from here on, another model answers
            self.model = field(begun.get("to"), "model") or self.model

    def _add(self, index: int, delta: Any) -> None:
        block, pieces = self._blocks.get(index), fields(delta)
        if block is None or pieces is None:
            return
        match pieces.get("type"):
            case "input_json_delta":
                piece = str(pieces.get("partial_json") or "")
                self._inputs[index] = self._inputs.get(index, "") + piece
            case "citations_delta":
                block["citations"] = [*listed(block.get("citations")), pieces.get("citation")]
            case "text_delta":
                block["text"] = f"{block.get('text') or ''}{pieces.get('text') or ''}"
            case "thinking_delta":  # besides the text, it may carry an estimate for a display
                block["thinking"] = f"{block.get('thinking') or ''}{pieces.get('thinking') or ''}"
            case _:  # a signature and a compaction come whole; so, by rule, do newer deltas
                block.update({k: v for k, v in pieces.items() if k != "type"})

    def _content(self) -> list[Block]:
        for index, text in self._inputs.items():
            if text and index in self._blocks:
                self._blocks[index]["input"] = parsed_object(text)
        blocks = [block for _, block in sorted(self._blocks.items())]
        stopped = self._reason in _CUT_OFF and _is_call(blocks[-1])
        return _cut_off(blocks) if stopped else blocks
