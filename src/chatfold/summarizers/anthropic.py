"""A summarizer over the Anthropic SDK's clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from chatfold.core.flow import Completion, cap_for
from chatfold.core.native import field
from chatfold.core.usage import usage_in
from chatfold.summarizers._live import message_body, needs_beta
from chatfold.summarizers._sdk import Family, SDKSummarizer, text_in

if TYPE_CHECKING:
    from anthropic import Anthropic, AsyncAnthropic
    from anthropic.lib.bedrock import AnthropicBedrock, AsyncAnthropicBedrock
    from anthropic.lib.vertex import AnthropicVertex, AsyncAnthropicVertex
    from anthropic.resources.messages import AsyncMessages, Messages

    from chatfold.core.render import Prompt

__all__ = ["AnthropicSummarizer"]

_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


class AnthropicSummarizer(SDKSummarizer):
    """Summarizes with a model behind an Anthropic client, or a server that speaks its API.

    In append mode its requests are the caller's own, with the question behind them.

    Args:
        client: An `Anthropic` or `AsyncAnthropic` client, the SDK's clients for other platforms
            (Bedrock, Vertex, Foundry, ...), a subclass, or the resource `client.messages`.
        model: Name of the model.
        timeout: Seconds that one call may take, retries and the waits before them included; None
            for no limit. As a limit is always named, the SDK accepts any `max_tokens` without
            streaming.
        retries: How often the SDK repeats a request that failed.

    Raises:
        TypeError: `client` is none of these, or there is no model.
        ValueError: `timeout` is out of range.
    """

    family: ClassVar[Family] = "anthropic"
    title: ClassVar[str] = "Anthropic"

    def __init__(
        self,
        client: Anthropic
        | AsyncAnthropic
        | AnthropicBedrock
        | AsyncAnthropicBedrock
        | AnthropicVertex
        | AsyncAnthropicVertex
        | Messages
        | AsyncMessages,
        model: str,
        *,
        timeout: float | None = 60.0,
        retries: int = 1,
    ) -> None:
        super().__init__(client, model, timeout=timeout, retries=retries)

    def send(self, prompt: Prompt) -> Any:
        """Send the request; return the SDK's answer, or what to await for it."""
        client = self.configured()
        if prompt.live is not None:
            body = message_body(prompt.live, self.model, prompt.cap, prompt.max_tokens)
            messages = client.beta.messages if needs_beta(client, body) else client.messages
            return messages.create(**body)
        return client.messages.create(
            model=self.model,
            system=prompt.system,
            messages=[{"role": "user", "content": prompt.user}],
            max_tokens=prompt.cap or cap_for(prompt.max_tokens),
        )

    def read(self, answer: Any, *, live: bool = False) -> Completion:
        """Return the SDK's answer as a completion.

        Args:
            answer: The answer.
            live: Whether the request had tools; see `SDKSummarizer.read`.

        Raises:
            SummarizerError: It is no message.
        """
        content = getattr(answer, "content", None)
        if content is None:
            self.unreadable(answer)
        reason = getattr(answer, "stop_reason", None)
        text = text_in(content)
        kinds = {field(block, "type") for block in content}
        called = kinds & _CALLS if live else kinds & {"tool_use"}
        if called and (live or not text.strip()) and reason != "max_tokens":
            reason = "tool_use"
        details = getattr(answer, "stop_details", None)
        return Completion(
            text,
            finish_reason=reason,
            usage=usage_in(getattr(answer, "usage", None)),
            model=getattr(answer, "model", None),
            refusal=getattr(details, "explanation", None) if reason == "refusal" else None,
            reasoning=bool(kinds & {"thinking", "redacted_thinking"}),
        )
