"""Responses and events of OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from chatfold.capture._sdk import is_a, listed
from chatfold.capture._values import Captured, Gather
from chatfold.core.native import field, plain
from chatfold.core.usage import Usage, count

__all__ = ["outputs", "shape", "starts", "takes"]

shape: Final = "openai_responses"

_RUNNING = frozenset({"queued", "in_progress"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def takes(response: object) -> bool:
    """Return whether this is a `Response`, as an object of whatever make or a dict."""
    if is_a(response, "openai.types.responses", "Response"):
        return True
    output = field(response, "output")
    return bool(field(response, "object") == "response") and isinstance(output, list)


def outputs(response: Any, *, choice: int | None) -> Captured:
    """Return all output items of a response, but for reasoning that nothing follows.

    Raises:
        ValueError: The response is still being written, or a choice other than 0 is asked for.
    """
    if choice:
        raise ValueError(f"a Response holds one answer, and no choice {choice}; leave choice= out")
    status = field(response, "status")
    if status in _RUNNING:
        raise ValueError(
            f"the response is not finished (status {status!r}); retrieve it again until it is"
        )
    return Captured(
        tuple(_whole(response)),
        _usage(field(response, "usage")),
        field(response, "model"),
        _held(response),
    )


def starts(event: object) -> Gather | None:
    """Return what gathers the events of a response, also of one that is resumed midway."""
    kind = field(event, "type")
    is_own = isinstance(kind, str) and kind.startswith("response.")
    return _Events(resumed=kind != "response.created") if is_own else None


def _usage(usage: Any) -> Usage | None:
    if usage is None:
        return None
    return Usage(
        count(usage, "input_tokens"),
        count(usage, "output_tokens"),
        count(usage, "input_tokens_details", "cached_tokens"),
    )


def _held(response: Any) -> str | None:
    """Return what names the history on the server: the two ways exclude each other."""
    previous = field(response, "previous_response_id")
    if previous:
        return f"previous_response_id {previous!r}"
    conversation = field(response, "conversation")
    return f"conversation {field(conversation, 'id')!r}" if conversation else None


def _whole(response: Any) -> list[Any]:
    """Return the output without what a response that failed or was cut off left half written."""
    output = listed(field(response, "output"))
    if field(response, "status") in ("failed", "incomplete", "cancelled"):
        output = [item for item in output if field(item, "status") != "in_progress"]
    return output[: _led(output)]


def _led(items: Sequence[Any]) -> int:
    """Return how many items there are without the reasoning at their end.

    The server refuses "Item 'rs_...' of type 'reasoning' was provided without its required
    following item", for as long as it stands in the list.
    """
    end = len(items)
    while end and _is_reasoning(items[end - 1]):
        end -= 1
    return end


def _is_reasoning(item: Any) -> bool:
    return bool(field(item, "type") == "reasoning")


class _Events:
    """Collects items as they are done, in the order of the response.

    Reasoning is done with the item that follows it. In the background the response goes on when
    its stream is left, and what follows comes with another stream.

    Args:
        resumed: Whether the stream goes on with a response whose first events are not in it; what
            was done before is then not this stream's.
    """

    def __init__(self, *, resumed: bool) -> None:
        self.usage: Usage | None = None
        self.model: str | None = None
        self.held: str | None = None
        self.takes_ids = True
        self._resumed = resumed
        self._begun: dict[int, str] = {}  # output index -> type, until the item is done
        self._waiting: dict[int, Any] = {}  # done before an earlier one
        self._given: list[tuple[int, Any]] = []
        self._ended = False
        self._background = False

    @property
    def unfinished(self) -> str:
        """The items that were added and not done, or the response where it has no end."""
        alone = {n: "reasoning" for n, item in self._waiting.items() if _is_reasoning(item)}
        begun = sorted((alone | self._begun).items())
        items = [f"{kind} (output {index})" for index, kind in begun]
        return ", ".join(items) or ("" if self._ended else "the end of the response")

    def feed(self, event: Any) -> Iterator[Any]:
        """Take in an event; yield the items that are done and have no earlier one to wait for."""
        kind = field(event, "type")
        item, index = field(event, "item"), count(event, "output_index")
        if kind == "response.output_item.added" and item is not None:
            self._begun[index] = str(field(item, "type"))
        elif kind == "response.output_item.done" and item is not None:
            self._begun.pop(index, None)
            if not any(n == index and _same_id(item, given) for n, given in self._given):
                self._waiting[index] = plain(item)  # the event's own may change in other hands
            first = min(self._begun, default=None)
            ready = [i for i in sorted(self._waiting) if first is None or i < first]
            yield from self._give(ready[: self._led(ready)])
        response = field(event, "response")
        if response is not None:
            self.model = field(response, "model") or self.model
            self.usage = _usage(field(response, "usage")) or self.usage
            self.held = _held(response) or self.held
            self._background = self._background or bool(field(response, "background"))
            if kind in _ENDS and not self._ended:
                self._ended = True
                output = _whole(response)
                self._begun = {n: kind for n, kind in self._begun.items() if n >= len(output)}
                yield from self._rest(output)

    def close(self) -> Iterator[Any]:
        """Yield the items that were done and had to wait for one that never was."""
        waiting = sorted(self._waiting)
        goes_on = not self._ended and (self._background or self._resumed)
        yield from self._give(waiting if goes_on else waiting[: self._led(waiting)])

    def _led(self, indices: Sequence[int]) -> int:
        return _led([self._waiting[index] for index in indices])

    def _give(self, indices: Sequence[int]) -> Iterator[Any]:
        for index in indices:
            item = self._waiting.pop(index)
            self._given.append((index, item))
            yield item

    def _rest(self, output: list[Any]) -> list[Any]:
        """Return what the whole response holds and no event has given, in its order.

        An item is the same as a given one if its id is, else if it stands for the next given one
        of its type: servers exist whose events and responses differ in their ids.
        """
        waiting = [self._waiting[index] for index in sorted(self._waiting)]
        self._waiting.clear()
        known = [*(item for _, item in self._given), *waiting]
        found: dict[int, Any] = {}
        for same in (_same_id, _same_type):
            for place, item in enumerate(output):
                match = next((k for k in known if place not in found and same(k, item)), None)
                if match is not None:
                    found[place] = match
                    known = [k for k in known if k is not match]
        rest: list[Any] = []
        for place, item in enumerate(output):
            match = found.get(place)
            if any(match is w for w in waiting):
                waiting = [w for w in waiting if w is not match]
                rest.append(match)
            elif match is None and not self._resumed:
                rest.append(item)
        rest += waiting
        led = _led(rest)
        self._waiting = dict(enumerate(rest[led:], len(output)))
        return rest[:led]


def _same_id(one: Any, other: Any) -> bool:
    ids = [(field(i, "type"), field(i, "call_id") or field(i, "id")) for i in (one, other)]
    return ids[0] == ids[1] and ids[0][1] is not None


def _same_type(one: Any, other: Any) -> bool:
    return bool(field(one, "type") == field(other, "type"))
