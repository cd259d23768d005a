"""A summarizer over the OpenAI SDK's clients: Chat Completions or Responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, cast

from chatfold.core.flow import Completion
from chatfold.core.native import field
from chatfold.core.usage import Usage, usage_in
from chatfold.errors import SummarizerError
from chatfold.summarizers._live import chat_body, response_body
from chatfold.summarizers._sdk import Family, SDKSummarizer, recognize, text_in

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI
    from openai.resources.chat.completions import AsyncCompletions, Completions
    from openai.resources.responses import AsyncResponses, Responses

    from chatfold.core.render import Prompt

__all__ = ["Endpoint", "OpenAISummarizer"]

Endpoint = Literal["chat", "responses"]
_OTHER_CALLS: Final = frozenset({"mcp_approval_request", "program"})
"""Items that stand for a call, though their kind does not end in `_call`."""
_ENDPOINTS: Final[dict[str, Endpoint]] = {"openai_chat": "chat", "openai_responses": "responses"}


class OpenAISummarizer(SDKSummarizer):
    """Summarizes with a model behind an OpenAI client, or a server that speaks its API.

    Requests hold the instructions and the conversation, no tools, and are not stored. In append
    mode they are the caller's own, with the question behind them.

    Args:
        client: An `OpenAI` or `AsyncOpenAI` client, a subclass (Azure, Bedrock), or one of its
            resources `client.chat.completions` and `client.responses`, which fixes the endpoint.
        model: Name of the model.
        endpoint: "chat" for Chat Completions, which every compatible server has, or "responses";
            None takes the resource's, "chat" for a client.
        timeout: Seconds that one call may take, retries and the waits before them included; None
            for no limit.
        retries: How often the SDK repeats a request that failed.

    Raises:
        TypeError: `client` is none of these, or there is no model.
        ValueError: There is no such endpoint, or `timeout` is out of range.
    """

    family: ClassVar[Family] = "openai"
    title: ClassVar[str] = "OpenAI"

    def __init__(
        self,
        client: OpenAI | AsyncOpenAI | Completions | AsyncCompletions | Responses | AsyncResponses,
        model: str,
        *,
        endpoint: Endpoint | None = None,
        timeout: float | None = 60.0,
        retries: int = 1,
    ) -> None:
        super().__init__(client, model, timeout=timeout, retries=retries)
        known = recognize(client)
        chosen = endpoint or (known.endpoint if known is not None else None) or "chat"
        if chosen not in ("chat", "responses"):
            raise ValueError(f'endpoint must be "chat" or "responses", got {endpoint!r}')
        self.endpoint = chosen

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, endpoint={self.endpoint!r})"

    def suited(self, prompt: Prompt) -> OpenAISummarizer:
        """Return a summarizer for the endpoint of the live request's items."""
        endpoint = _ENDPOINTS.get(prompt.live.shape) if prompt.live is not None else None
        if endpoint is None or endpoint == self.endpoint:
            return self
        return OpenAISummarizer(
            self.client, self.model, endpoint=endpoint, timeout=self.timeout, retries=self.retries
        )

    def send(self, prompt: Prompt) -> Any:
        """Send the request; return the SDK's answer, or what to await for it."""
        client = self.configured()
        if prompt.live is not None:
            responses = self.endpoint == "responses"
            create = client.responses.create if responses else client.chat.completions.create
            body = response_body if responses else chat_body
            asked = prompt.max_tokens
            return create(**body(prompt.live, self.model, prompt.cap, client, asked))
        if self.endpoint == "responses":
            limit = {} if prompt.cap is None else {"max_output_tokens": prompt.cap}
            return client.responses.create(
                model=self.model,
                instructions=prompt.system,
                input=prompt.user,
                store=False,
                **limit,
            )
        limit = {} if prompt.cap is None else {"max_completion_tokens": prompt.cap}
        return client.chat.completions.create(
            model=self.model,
            messages=[
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            **limit,
        )

    def read(self, answer: Any, *, live: bool = False) -> Completion:
        """Return the SDK's answer as a completion.

        Args:
            answer: The answer.
            live: Whether the request had tools; see `SDKSummarizer.read`.

        Raises:
            SummarizerError: The response failed, or is no answer of this endpoint.
        """
        if self.endpoint == "responses":
            return self._response(answer, live)
        return self._chat(answer, live)

    def _chat(self, answer: Any, live: bool) -> Completion:
        choices = getattr(answer, "choices", None)
        if choices is None:
            self.unreadable(answer)
        usage, model = usage_in(getattr(answer, "usage", None)), getattr(answer, "model", None)
        if not choices:
            return Completion("", usage=usage, model=model)
        message: Any = field(choices[0], "message")
        reason: Any = field(choices[0], "finish_reason")
        content: Any = field(message, "content")
        text = text_in(content)
        called = field(message, "tool_calls") or field(message, "function_call")
        if called and (live or not text.strip()):
            reason = "tool_calls"
        return Completion(
            text,
            finish_reason=reason,
            usage=usage,
            model=model,
            refusal=field(message, "refusal"),
            reasoning=_has_reasoning(message),
        )

    def _response(self, answer: Any, live: bool) -> Completion:
        output = getattr(answer, "output", None)
        if output is None:
            self.unreadable(answer)
        usage, model = usage_in(getattr(answer, "usage", None)), getattr(answer, "model", None)
        reason = self._reason(answer, usage)
        texts: list[str] = []
        refusals: list[str] = []
        calls = 0
        reasoning = False
        for item in output:
            # `commentary` is what the model says to itself aloud before its final answer.
            kind: Any = field(item, "type")
            if kind == "reasoning" or field(item, "phase") == "commentary":
                reasoning = True
            elif kind == "message":
                content: Any = field(item, "content") or []
                texts.append(text_in(content, "output_text"))
                refused = [part for part in content if field(part, "type") == "refusal"]
                refusals.extend(field(part, "refusal") or "" for part in refused)
            elif str(kind).endswith("_call") or kind in _OTHER_CALLS:
                calls += 1
        text = "\n\n".join(part for part in texts if part)
        if calls and (live or not text.strip()) and reason == "completed":
            reason = "tool_calls"
        return Completion(
            text,
            finish_reason=reason,
            usage=usage,
            model=model,
            refusal="\n".join(refusals) or None,
            reasoning=reasoning,
        )

    def _reason(self, answer: Any, usage: Usage | None) -> str:
        """Return why the response ended, or raise where it is no whole answer."""
        status = getattr(answer, "status", None) or "completed"
        if status == "completed":
            return "completed"
        details = getattr(answer, "incomplete_details", None)
        reason = getattr(details, "reason", None)
        if status == "incomplete" and reason in ("max_output_tokens", "content_filter"):
            return str(reason)
        said = getattr(getattr(answer, "error", None), "message", None) or reason
        error = SummarizerError(
            f"{self.model}: the response is {status}" + (f": {said}" if said else "")
        )
        error.usage = usage
        raise error


def _has_reasoning(message: Any) -> bool:
    """Return whether a message shows reasoning, as servers for open models have it.

    OpenAI itself shows none here. Mistral's models have it as parts of the content:
    https://docs.mistral.ai/inference/conversations/reasoning (read 2026-11-25).
    """
    content: Any = field(message, "content")
    parts = cast("list[object]", content) if isinstance(content, list) else []
    thinks = any(field(part, "type") == "thinking" for part in parts)
    return bool(thinks or field(message, "reasoning_content") or field(message, "reasoning"))
