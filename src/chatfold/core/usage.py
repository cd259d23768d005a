"""Tokens that model calls have used, and what any provider calls them in its own report."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as field_of
from typing import Any, Final, NamedTuple, cast

from chatfold.core.native import field

__all__ = ["Usage", "count", "reported", "usage_in"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that model calls have used.

    Attributes:
        input_tokens: Tokens read, those read from a cache included.
        output_tokens: Tokens written, reasoning included.
        cached_tokens: Tokens read from the provider's cache, part of `input_tokens`.
        context_tokens: Tokens that the model had before it when its answer was done, the answer
            included, where what was read is a sum over several calls of it (a loop of tools on
            the server, a run of an agent) and the report tells them apart; else 0.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    context_tokens: int = field_of(default=0, repr=False, kw_only=True)

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
            from the others. The others are not of the list, and not read again: what the
            server's own tools brought.
        wrote: Tokens written: those of the answer first.
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
# Several calls of the model in one report: Anthropic's of a loop of tools on its server ("calculate
# the context window size from the last `message` entry": anthropic 2.14.0, `BetaUsage.iterations`),
# and the OpenAI Agents SDK's of a run (`Usage.request_usage_entries`, openai-agents 0.24.0).
_CALLS: Final = ("iterations", "request_usage_entries")
_OF_THE_MODEL: Final = (None, "message", "fallback_message")  # not of a compaction or an adviser
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
            return Usage(
                _sum(report, names.read) + apart,
                _sum(report, names.wrote),
                cached,
                context_tokens=_context(report, names),
            )
    return None


def _context(report: Any, names: _Names) -> int:
    """Return the tokens before the model at its end, where a report is of several calls; else 0."""
    for name in _CALLS:
        calls: Any = field(report, name)
        if isinstance(calls, list):
            of_model = [c for c in cast("list[Any]", calls) if field(c, "type") in _OF_THE_MODEL]
            return _held(of_model[-1], names) if len(of_model) > 1 else 0
    return _held(report, names) if _sum(report, names.read[1:]) else 0


def _held(call: Any, names: _Names) -> int:
    """Return the tokens of one call that the next request has as well: without thoughts."""
    thought = count(call, "output_tokens_details", "reasoning_tokens")
    told = (*names.read[:1], *names.apart, *names.wrote[:1])
    return max(0, _sum(call, told) - thought)


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
