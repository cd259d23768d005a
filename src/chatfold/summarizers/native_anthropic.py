"""Anthropic's own compaction on demand: `client.beta.messages.create(compaction=...)`.

Sources, read 2026-11-22:
https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand,
https://platform.claude.com/docs/en/build-with-claude/compaction-keep-recent-turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from chatfold.core.answers.thoughts import is_blank
from chatfold.core.check import Requirement
from chatfold.core.flow import CAP, Usage
from chatfold.core.native import field, plain
from chatfold.core.scalars import check_whole
from chatfold.errors import (
    EmptySummaryError,
    NoAnswerError,
    RefusedSummaryError,
    SummarizerError,
    SummaryError,
    TruncatedSummaryError,
)
from chatfold.summarizers._native import NativeBackend, fields_of
from chatfold.summarizers._sdk import Family
from chatfold.summarizers.native import Compacted

if TYPE_CHECKING:
    from anthropic import Anthropic, AsyncAnthropic
    from anthropic.resources.messages import AsyncMessages, Messages

__all__ = ["AnthropicCompaction"]

_BETA: Final = "compact-2026-09-04"
_SOURCE: Final = (
    "https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand (read 2026-11-22)"
)
_LONGEST: Final = 16_384  # characters of `instructions`

_CODES: Final[Mapping[str, str]] = {
    "compaction_block_ambiguous": "there is more than one compaction block; keep the newest alone",
    "compaction_block_misplaced": "messages stand before the compaction block; drop them",
    "compaction_content_mismatch": "the text of the compaction block was changed",
    "compaction_incomplete_turn": "the part to fold ends in a tool call without a result",
    "compaction_nothing_to_summarize": "the part to fold holds nothing to summarize",
    "compaction_signature_invalid": "the signature of the compaction block was changed, or is of "
    "another provider",
    "compaction_too_many_tool_references": "the part to fold refers to more tools than a block can "
    "record",
    "compaction_tool_changes_mismatch": "the tool changes of the compaction block were changed",
    "compaction_unavailable": "the server cannot compact at the moment; try again later",
}
"""The API's codes, in words for the list's owner (`*_error_details.py` of anthropic 2.12.0)."""


class AnthropicCompaction(NativeBackend):
    """Folds Anthropic messages with the API's compaction on demand, a beta.

    The result is an assistant's message with one signed `compaction` block, whose text can be
    read. It comes first in the list, and nothing may stand before it. Every later request has to
    carry the beta header (`requirements`), so it is made with `client.beta.messages`.

    Thinking in the messages behind the block stays valid only if `model`, `system` and `tools`
    are those of the conversation, and if these messages directly follow the folded ones:
    https://platform.claude.com/docs/en/build-with-claude/compaction-thinking-blocks (read
    2026-11-22).

    Args:
        client: An `Anthropic` or `AsyncAnthropic` client, the SDK's clients for Google Cloud,
            Foundry or AWS, or `client.messages`. Bedrock does not offer it.
        model: Name of the model; the one of the conversation.
        max_tokens: The request's limit, thinking included; doubled once if it is hit.
        timeout: Seconds that one call may take, retries and the waits before them included; None
            for no limit.
        retries: How often the SDK repeats a request that failed, `compaction_unavailable` too.
        **request: Further fields of your own requests: `system`, `tools`, `thinking`,
            `mcp_servers`, `betas`, ... The model reads them when it summarizes.

    Raises:
        TypeError: `client` is none of these, there is no model, or a field is not known or is one
            that the API does not take with `compaction`.
        ValueError: A number is out of range.
        MissingExtraError: The SDK is older than 1.6.0, which first had `compaction`.
    """

    family: ClassVar[Family] = "anthropic"
    title: ClassVar[str] = "Anthropic"
    shape: ClassVar[str] = "anthropic"
    needs: ClassVar[str] = "anthropic>=1.6.0"
    refuses: ClassVar[frozenset[str]] = frozenset(
        {
            "compaction",
            "context_management",
            "extra_body",
            "messages",
            "output_format",
            "stop_sequences",
            "stream",
            "thread",
        }
    )

    def __init__(
        self,
        client: Anthropic | AsyncAnthropic | Messages | AsyncMessages,
        model: str,
        *,
        max_tokens: int = CAP,
        timeout: float | None = 60.0,
        retries: int = 1,
        **request: Any,
    ) -> None:
        check_whole("max_tokens", max_tokens, 1)
        self.max_tokens = max_tokens
        super().__init__(client, model, timeout=timeout, retries=retries, request=request)
        _check_fields(self.request)

    def owns(self, item: Any) -> bool:
        """Return whether a message begins with a signed compaction block.

        Blocks without a signature are made at a token threshold, by another feature.
        """
        content: Any = field(item, "content")
        first: Any = next(iter(cast("list[Any]", content)), None) if type(content) is list else None
        signed = field(first, "type") == "compaction" and field(first, "signature")
        return bool(signed and field(first, "content"))

    def endpoint(self, client: Any) -> Callable[..., Any] | None:
        """Return `client.beta.messages.create`, None where it cannot compact yet."""
        create = getattr(getattr(getattr(client, "beta", None), "messages", None), "create", None)
        taken = fields_of(create) if create is not None else frozenset[str]()
        return create if taken is None or "compaction" in taken else None

    def check(self, *, prefix: Sequence[Any] = (), instructions: str | None = None) -> None:
        """Check what can be known before anything is sent.

        Raises:
            ValueError: `instructions` has more than 16,384 characters, or there is a prefix.
        """
        if prefix:
            raise ValueError(
                "nothing may stand before a compaction block, and this list begins with a system "
                "message; send its text as `system` and its settings with each request"
            )
        if instructions is not None and len(instructions) > _LONGEST:
            raise ValueError(
                f"instructions must have {_LONGEST:,} characters at most, not {len(instructions):,}"
            )

    def bodies(
        self, items: Sequence[Any], prefix: Sequence[Any], instructions: str | None
    ) -> Iterator[dict[str, Any]]:
        """Yield the request, and the same with twice the limit.

        Raises:
            ValueError: `instructions` has more than 16,384 characters, or there is a prefix.
        """
        self.check(prefix=prefix, instructions=instructions)
        wish: dict[str, Any] = {"type": "summarize"}
        if instructions is not None and instructions.strip():
            wish["instructions"] = instructions
        body = {
            **self.request,
            "betas": list(dict.fromkeys([*(self.request.get("betas") or ()), _BETA])),
            "messages": [_message(item) for item in items],
            "compaction": wish,
        }
        for limit in (self.max_tokens, 2 * self.max_tokens):
            yield {**body, "max_tokens": limit}

    def usage(self, answer: Any) -> Usage | None:
        """Return the tokens of an answer: the sum of its iterations.

        The fields on top are zero, since no reply was generated.
        """
        used = field(answer, "usage")
        if used is None:
            return None
        iterations = field(used, "iterations")
        total = Usage()
        for one in cast("list[Any]", iterations) if isinstance(iterations, list) else [used]:
            read = field(one, "cache_read_input_tokens") or 0
            written = field(one, "cache_creation_input_tokens") or 0
            total += Usage(
                (field(one, "input_tokens") or 0) + read + written,
                field(one, "output_tokens") or 0,
                read,
            )
        return total

    def read(self, answer: Any, items: Sequence[Any]) -> Compacted:
        """Return the message that takes the items' place.

        Raises:
            SummaryError: There is no block: `stop_reason` says why.
        """
        content = field(answer, "content")
        if not isinstance(content, list):
            self.unreadable(answer, "the answer holds no content")
        blocks = [plain(block) for block in cast("list[Any]", content)]
        reason = field(answer, "stop_reason")
        if reason != "compaction":
            if blocks and reason == "end_turn":
                self.unreadable(answer, "the server replied instead of compacting")
            raise self._missing(answer, reason)
        if len(blocks) != 1 or not self.owns({"content": blocks}):
            self.unreadable(answer, "the answer is not one signed compaction block")
        readable = str(blocks[0]["content"])
        if is_blank(readable):
            raise EmptySummaryError(f"{self.model}: the compaction block is blank")
        return Compacted(
            ({"role": "assistant", "content": blocks},),
            model=field(answer, "model") or self.model,
            readable=readable,
            requirements=(_requirement(),),
        )

    def _missing(self, answer: Any, reason: Any) -> SummaryError:
        """Return the error for an answer without a block; see `stop_reason` in the guide."""
        if reason == "max_tokens":
            return TruncatedSummaryError(
                f"{self.model}: the compaction was cut off; pass a larger max_tokens="
            )
        if reason == "model_context_window_exceeded":
            return SummarizerError(
                f"{self.model}: there is no room for the summary in the model's window; keep more, "
                "or pass shorter instructions",
                overflow=True,
            )
        if reason == "tool_use":
            return NoAnswerError(
                f"{self.model}: the model called a tool instead of summarizing; pass instructions "
                "that tell it not to"
            )
        if reason == "refusal":
            category = field(field(answer, "stop_details"), "category")
            why = f" ({category})" if category else ""
            return RefusedSummaryError(f"{self.model}: the compaction was refused{why}")
        return EmptySummaryError(f"{self.model}: the compaction holds no text ({reason})")

    def refusal(self, error: Exception) -> SummaryError | None:
        """Return what a code of the API means, in words."""
        inner = field(getattr(error, "body", None), "error")
        code = field(field(inner, "details"), "error_code")
        words = _CODES.get(code) if isinstance(code, str) else None
        if words is None:
            return super().refusal(error)
        status = getattr(error, "status_code", None)
        return SummarizerError(f"{self.model}: {words} ({status} {code})")


def _requirement() -> Requirement:
    return Requirement(
        "compaction_beta",
        "the list begins with a compaction block; send this header with every request that holds "
        "it, by client.beta.messages.create",
        {"betas": [_BETA]},
        (0,),
        _SOURCE,
    )


def _message(item: Any) -> Any:
    """Return a message as it may be sent; an SDK's response without its envelope."""
    given = plain(item)
    if isinstance(item, Mapping) or not isinstance(given, dict):
        return given
    fields = cast("dict[str, Any]", given)
    return {key: fields[key] for key in ("role", "content") if key in fields}


def _check_fields(request: Mapping[str, Any]) -> None:
    """Check fields that the API takes with `compaction` in some of their values only.

    Raises:
        TypeError: It would refuse one of them.
    """
    wrong: list[str] = []
    if field(request.get("tool_choice"), "type") in ("any", "tool"):
        wrong.append("tool_choice that forces a tool")
    config = request.get("output_config")
    if field(config, "format") is not None:
        wrong.append("output_config.format")
    if field(field(config, "task_budget"), "remaining") is not None:
        wrong.append("task_budget.remaining")
    if wrong:
        raise TypeError(f"AnthropicCompaction() takes no {', '.join(wrong)}; leave it out")
