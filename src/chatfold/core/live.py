"""The live request with one item behind it that asks for the summary: append mode's values.

The list is sent as the agent itself sends it, so that the provider reads it from its prompt cache.
Not here: which part of the list is sent (`append`), how an SDK sends it (`chatfold.summarizers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

from chatfold.core.native import field as value_of
from chatfold.core.scalars import check_model, check_number
from chatfold.core.views import ItemView

__all__ = [
    "LIVE_SHAPES",
    "Append",
    "LiveRequest",
    "Mode",
    "Sender",
    "checked_request",
    "given_fields",
]

Mode: TypeAlias = Literal["prompt", "append"]
"""How a summary is asked for: by a prompt of its own, or behind the live request."""

LIVE_SHAPES: Final = frozenset({"openai_chat", "openai_responses", "anthropic"})
"""The shapes whose lists can be sent in append mode."""

_HELD = "the provider would put a history of its own before the list, or in its place"
_REFUSED: Final[Mapping[str, str]] = {
    "messages": "the context has the items",
    "input": "the context has the items",
    "previous_response_id": _HELD,
    "conversation": _HELD,
    "thread": _HELD,
    "context_management": "the provider would take items out before the model reads them",
    "compaction": "the provider would answer with an item of its own",
}
_LIMITS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_EXTRA: Final = ("extra_body", "extra_headers", "extra_query")
# Known by their names, as no SDK is imported here.
_UNSET: Final = frozenset({"NotGiven", "Omit"})
_SDKS: Final = frozenset({"openai", "anthropic"})


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """A live request and the question behind it.

    A host that makes the model calls itself sends `[*items, item]` with the fields of `request`.

    Attributes:
        shape: Name of the items' shape; "" where they fit several.
        items: The list's own items, from the first on: as far as it is complete.
        views: Their readings.
        text: The question.
        item: The new native item that holds it, a user's message.
        request: The other fields of the live request that the caller gave, as they are.
        weight: Size of items, instructions and tools in tokens, without the question.
        make: Makes a native item for a question.
    """

    shape: str
    items: tuple[Any, ...] = field(repr=False)
    views: tuple[ItemView, ...] = field(repr=False)
    text: str = field(repr=False)
    item: Any = field(repr=False)
    request: Mapping[str, Any] = field(repr=False)
    weight: int
    make: Callable[[str], Any] = field(repr=False)

    @property
    def limit(self) -> int:
        """Tokens that it allows its answer, thoughts of a fixed length aside; 0 for no limit."""
        extra = self.request.get("extra_body")
        given = dict(self.request)
        if isinstance(extra, Mapping):
            given.update(cast("Mapping[str, Any]", extra))
        limits = [given[name] for name in _LIMITS if isinstance(given.get(name), int)]
        budget = value_of(given.get("thinking"), "budget_tokens")
        return max(limits, default=0) - (budget if isinstance(budget, int) else 0)

    def asking(self, text: str) -> LiveRequest:
        """Return the same request with another question."""
        return replace(self, text=text, item=self.make(text))


class Sender(NamedTuple):
    """What one summarizer can send in append mode.

    Attributes:
        shapes: Names of the shapes whose lists it sends as they are; none where it takes prompts
            alone.
        obstacle: Why a request with these fields gives no text, or none from the cache; "" where
            it does.
    """

    shapes: frozenset[str] = frozenset()
    obstacle: str = ""


@dataclass(frozen=True, slots=True)
class Append:
    """What append mode has for one fold.

    Attributes:
        live: The request, or None where the list cannot be sent so.
        obstacle: Why it cannot; "" where it can.
        senders: The summarizers of the fallback chain, in order.
    """

    live: LiveRequest | None
    obstacle: str = ""
    senders: Sequence[Sender] = ()

    def obstacle_to(self, backend: int) -> str:
        """Return why a summarizer cannot be sent the live request, "" where it can."""
        sender = self.senders[backend] if backend < len(self.senders) else Sender()
        if self.live is None:
            return self.obstacle
        if sender.obstacle:
            return sender.obstacle
        if not sender.shapes or (self.live.shape and self.live.shape not in sender.shapes):
            return "the summarizer takes prompts alone, or lists of another shape"
        return ""


def checked_request(request: object) -> Mapping[str, Any]:
    """Return the fields of a live request that were given.

    Raises:
        TypeError: It is no mapping of names to values, one of these can be read only once, or it is
            not what the request for a summary is made from.
        ValueError: A field cannot be kept in a request for a summary.
    """
    if not isinstance(request, Mapping):
        raise TypeError(
            "request must be the keyword arguments of your own requests, as a dict, not "
            f"{type(request).__name__}"
        )
    fields = given_fields(cast("Mapping[str, Any]", request))
    for name in fields:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"request is by the names of arguments, not {name!r}")
    check_model("request['model']", fields.get("model"))
    for name in _EXTRA:
        value = fields.get(name)
        if value is not None and not isinstance(value, Mapping):
            raise TypeError(
                f"request[{name!r}] must be a dict, or None, not {type(value).__name__}"
            )
    body = cast("Mapping[str, Any]", fields.get("extra_body") or fields)
    for name in _LIMITS:  # the summary may need a higher one
        for given in (fields.get(name), body.get(name)):
            if given is not None:
                check_number(f"request[{name!r}]", given)
    for name, why in _REFUSED.items():
        if fields.get(name) is not None or body.get(name) is not None:
            raise ValueError(f"request must not hold {name!r}: {why}")
    for name, value in fields.items():
        if isinstance(value, Iterator):  # the SDKs take any iterable
            kind = type(cast(object, value)).__name__
            raise TypeError(
                f"request holds {name!r} as {kind}, which can be read once, and is "
                "needed in every request; pass a list"
            )
    return fields


def given_fields(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a request without those that an SDK's value marks as not given.

    That goes for `extra_body` too. A mapping in which every field was given is returned itself, as
    whoever owns it may still change it.
    """
    extra = fields.get("extra_body")
    inside = given_fields(cast("Mapping[str, Any]", extra)) if isinstance(extra, Mapping) else extra
    if inside is extra and not any(map(_is_unset, fields.values())):
        return fields
    made = {name: value for name, value in fields.items() if not _is_unset(value)}
    return made | {"extra_body": inside} if "extra_body" in made else made


def _is_unset(value: object) -> bool:
    """Return whether an SDK's value says that an argument was not given: `NOT_GIVEN`, `omit`."""
    kind = type(value)
    return kind.__name__ in _UNSET and kind.__module__.partition(".")[0] in _SDKS
