"""Tokens that model calls have used, and what any provider calls them in its own report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from chatfold.core.native import field

__all__ = ["Usage", "count", "reported", "usage_in"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that model calls have used.

    Attributes:
        input_tokens: Tokens read, those read from a cache included.
        output_tokens: Tokens written, reasoning included.
        cached_tokens: Tokens read from the provider's cache, part of `input_tokens`.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )


class _Names(NamedTuple):
    """The names of one kind of report; a dot leads into a group of fields.

    Attributes:
        read: Tokens read. The first, or the first of those written, tells this kind of report
            from the others.
        wrote: Tokens written.
        cached: Tokens read from a cache, which are among `read`.
        apart: Tokens read that are not among `read`: from a cache, and written to one.
    """

    read: tuple[str, ...]
    wrote: tuple[str, ...]
    cached: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()


# As the modules of `capture` read them from whole responses; their sources are there.
_KINDS: Final = (
    _Names(("prompt_tokens",), ("completion_tokens",), ("prompt_tokens_details.cached_tokens",)),
    _Names(
        ("input_tokens",),
        ("output_tokens",),
        ("input_tokens_details.cached_tokens", "input_token_details.cache_read"),
        ("cache_read_input_tokens", "cache_creation_input_tokens"),
    ),
    _Names(
        ("inputTokens",), ("outputTokens",), (), ("cacheReadInputTokens", "cacheWriteInputTokens")
    ),
    _Names(
        ("prompt_token_count", "tool_use_prompt_token_count"),
        ("candidates_token_count", "thoughts_token_count"),
        ("cached_content_token_count",),
    ),
    _Names(
        ("promptTokenCount", "toolUsePromptTokenCount"),
        ("candidatesTokenCount", "thoughtsTokenCount"),
        ("cachedContentTokenCount",),
    ),
    _Names(("prompt_eval_count",), ("eval_count",)),
)
_HOLDERS: Final = ("usage", "usage_metadata", "usageMetadata")  # the names that responses give it


def reported(usage: Any) -> Usage:
    """Return what a provider reports of one request.

    Args:
        usage: A `Usage`, or the usage object of a response of any provider, also as a dict, or a
            response that holds one.

    Raises:
        TypeError: There is no number of tokens in it.
    """
    # No deeper: an object that has every name, such as a mock, would lead on for ever.
    for report in (usage, *(field(usage, name) for name in _HOLDERS)):
        found = _counted(report) if isinstance(report, Usage) else _read(report)
        if found is not None:
            return found
    raise TypeError(
        f"{type(usage).__name__} holds no number of tokens; pass response.usage, or "
        "Usage(input_tokens=..., output_tokens=...)"
    )


def _counted(usage: Usage) -> Usage | None:
    """Return a `Usage` with 0 for what is no number: SDKs give None where nothing was counted."""
    told: tuple[Any, ...] = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    if all(type(number) is int for number in told):
        return usage
    if not any(isinstance(number, int) for number in told):
        return None
    return Usage(*(number if isinstance(number, int) else 0 for number in told))


def _read(report: Any) -> Usage | None:
    """Return the tokens of a report of any kind; None where it holds no number of them."""
    for names in _KINDS:
        if any(isinstance(field(report, n), int) for n in (names.read[0], names.wrote[0])):
            apart = _sum(report, names.apart)
            cached = _sum(report, names.cached) + _sum(report, names.apart[:1])
            return Usage(_sum(report, names.read) + apart, _sum(report, names.wrote), cached)
    return None


def usage_in(report: object) -> Usage | None:
    """Return the tokens that a report names, as `reported` does; None where it names none."""
    try:
        return reported(report)
    except TypeError:
        return None


def count(source: object, *keys: str) -> int:
    """Return a number inside of nested fields, 0 where there is none."""
    for key in keys:
        source = field(source, key)
    return source if isinstance(source, int) else 0


def _sum(usage: Any, names: tuple[str, ...]) -> int:
    return sum(count(usage, *name.split(".")) for name in names)
