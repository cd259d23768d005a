"""LiveKit's models as summarizers; part of `livekit`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from livekit.agents import AgentSession
from livekit.agents import llm as livekit_llm
from livekit.agents.types import APIConnectOptions

from chatfold.core.callables import kind_of
from chatfold.core.flow import Completion, Usage

if TYPE_CHECKING:
    from livekit.agents import Agent

    from chatfold.core.render import Prompt
    from chatfold.summarizers import LLM

__all__ = [
    "HELD",
    "ModelSummarizer",
    "check_session",
    "holds_history",
    "model_of",
    "name_of",
    "summarizer",
]

HELD: Final = "the agent's model holds the conversation at its server, where no fold reaches"
"""Why nothing is folded for a model that hears and speaks."""

_LONGEST: Final = 86_400.0  # seconds; LiveKit knows no request without a limit


class ModelSummarizer:
    """Summarizes with a LiveKit `LLM`.

    Usage goes where the model's always goes, to the session's metrics. A failure does not: the
    session counts those of its model, and closes after a few; that a summary failed is no reason
    to hang up.

    Args:
        model: The model.
        timeout: Seconds that one request may take; None for no limit.
        retries: How often a failed request is repeated.
    """

    def __init__(self, model: livekit_llm.LLM[Any], timeout: float | None, retries: int) -> None:
        self.llm = model
        self._connect = APIConnectOptions(
            max_retry=retries, timeout=_LONGEST if timeout is None else timeout
        )

    def __repr__(self) -> str:
        return f"ModelSummarizer({self.llm.label})"

    async def acomplete(self, prompt: Prompt) -> Completion:
        """Return the model's answer; LiveKit does not tell why a model stopped."""
        question = livekit_llm.ChatContext.empty()
        question.add_message(role="system", content=prompt.system)
        question.add_message(role="user", content=prompt.user)
        said: list[str] = []
        usage: Usage | None = None
        called = False
        async with self.llm.chat(chat_ctx=question, conn_options=self._connect) as stream:
            _quieten(stream)
            async for chunk in stream:
                if chunk.delta is not None:
                    said.append(chunk.delta.content or "")
                    called = called or bool(chunk.delta.tool_calls)
                if chunk.usage is not None:
                    told = chunk.usage
                    usage = Usage(
                        told.prompt_tokens, told.completion_tokens, told.prompt_cached_tokens
                    )
        text = "".join(said)
        reason = "tool_calls" if called and not text.strip() else None
        return Completion(text, reason, usage, name_of(self.llm))


def _quieten(stream: livekit_llm.LLMStream) -> None:
    """Keep a request's failures from the listeners of its model, and its text from being doubled.

    Both are LiveKit's private matters; where a version has others, all is as it is without this:
    https://github.com/livekit/agents/blob/main/livekit-agents/livekit/agents/llm/llm.py
    (read 2026-11-22).
    """
    inner = cast(Any, stream)

    def noted(api_error: Exception, recoverable: bool) -> None:
        inner._current_attempt_has_error = True

    inner._emit_error = noted
    inner._retry_on_chunk_sent = False  # else a second attempt goes on behind the first one's text


def summarizer(
    llm: LLM | Sequence[LLM] | None,
    own: livekit_llm.LLM[Any] | None,
    timeout: float | None,
    retries: int,
) -> LLM:
    """Return what chatfold takes for what this integration takes.

    Args:
        llm: A LiveKit model, None for the agent's own, whatever chatfold takes, or a list of
            these.
        own: The agent's own model, None where that is not known.
        timeout: As for `ModelSummarizer`.
        retries: As for `ModelSummarizer`.

    Raises:
        ValueError: The agent's own model is wanted, and not known.
        TypeError: A speech-to-speech model is to write.
    """
    if isinstance(llm, (list, tuple)):
        members = cast(Sequence[Any], llm)
        return [summarizer(each, own, timeout, retries) for each in members]
    if llm is None and own is None:
        raise ValueError(
            "there is no model to write the summary: neither the agent nor its session has an LLM; "
            "pass llm=, or session="
        )
    chosen = own if llm is None else llm
    if isinstance(chosen, livekit_llm.LLM):
        return ModelSummarizer(cast(livekit_llm.LLM[Any], chosen), timeout, retries)
    if holds_history(chosen):
        raise TypeError(
            f"{type(chosen).__name__} speaks, and cannot write a summary; pass a "
            "livekit.agents.llm.LLM"
        )
    return chosen


def check_session(session: object) -> None:
    """Check that a session is one: an agent is easily put there.

    Raises:
        TypeError: It is something else.
    """
    if not isinstance(session, AgentSession):
        raise TypeError(f"session must be a livekit.agents.AgentSession, not {kind_of(session)}")


def model_of(session: AgentSession[Any], agent: Agent | None = None) -> Any:
    """Return the model of an agent, else that of its session; None where there is none."""
    of_session: Any = session
    of_agent: Any = agent
    if agent is None:
        try:
            of_agent = session.current_agent
        except RuntimeError:  # the session is not running
            return of_session.llm
    given = of_agent.llm
    return given if given is None or _is_model(given) else of_session.llm


def holds_history(model: Any) -> bool:
    """Return whether a model keeps the conversation at its server: one that hears and speaks."""
    return _is_model(model) and not isinstance(model, livekit_llm.LLM)


def name_of(model: Any) -> str | None:
    """Return the name of a model, None where it does not tell."""
    name = getattr(model, "model", None)
    return name if isinstance(name, str) and name not in ("", "unknown") else None


_MODELS: Final = tuple(
    kind
    for name in ("LLM", "RealtimeModel", "DuplexModel")  # the last one is not in every version
    if (kind := getattr(livekit_llm, name, None)) is not None
)


def _is_model(value: Any) -> bool:
    return isinstance(value, _MODELS)
