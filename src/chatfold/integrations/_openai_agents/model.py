"""A model of the OpenAI Agents SDK as a summarizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents import Model, RunConfig
from agents.exceptions import ModelBehaviorError

from chatfold.core.flow import Completion, Usage
from chatfold.integrations._openai_agents.run import RUN, Run

if TYPE_CHECKING:
    from agents import ModelProvider

    from chatfold.core.render import Prompt

__all__ = ["AgentModel"]


class AgentModel:
    """A summarizer that asks a model of the SDK.

    A request is sent once; retrying is the affair of the model, or of its client.

    Args:
        model: The model; its name, which the run's provider knows; or None for the agent's own.
    """

    def __init__(self, model: Model | str | None = None) -> None:
        self._model = model
        self._usual: ModelProvider | None = None  # for calls outside of any run

    def __repr__(self) -> str:
        model = self._model
        named = model if model is None or isinstance(model, str) else type(model).__name__
        return f"AgentModel({named!r})"

    def name(self, run: Run) -> str | None:
        """Return the name of the model that is asked in a run, None where it is not known."""
        if self._model is None:
            return run.model_name()
        name = self._model if isinstance(self._model, str) else getattr(self._model, "model", None)
        return name if isinstance(name, str) else None

    async def acomplete(self, prompt: Prompt) -> Completion:
        """Return the model's answer to the prompt."""
        run = RUN.get()
        model = self._resolved(run)
        name = self.name(run)
        try:
            response = await model.get_response(
                prompt.system,
                prompt.user,
                run.settings(model, prompt.cap),
                [],
                None,
                [],
                run.tracing,
                previous_response_id=None,
                conversation_id=None,
                prompt=None,
            )
        except ModelBehaviorError as error:
            return Completion("", finish_reason=_stopped(error), model=name)
        return _completion(response, prompt.cap, name)

    def _resolved(self, run: Run) -> Model:
        """Return the model as the Runner finds it."""
        model = self._model if self._model is not None else run.own_model()
        if isinstance(model, Model):
            return model
        if run.config is not None:
            return run.config.model_provider.get_model(model)
        if self._usual is None:
            self._usual = RunConfig().model_provider
        return self._usual.get_model(model)


def _stopped(error: ModelBehaviorError) -> str:
    """Return why there is no whole answer.

    The SDK raises where a response is not complete, and tells the reason in words alone.

    Raises:
        ModelBehaviorError: It is something else.
    """
    for reason in ("max_output_tokens", "content_filter", "finish_reason='length'"):
        if reason in str(error):
            return "length" if "length" in reason else reason
    raise error


def _completion(response: Any, cap: int | None, name: str | None) -> Completion:
    """Return a response of the SDK as a completion."""
    texts: list[str] = []
    refusals: list[str] = []
    called = reasoning = cut = False
    for item in response.output:
        kind = getattr(item, "type", "")
        # `commentary` is what the model says to itself aloud before its final answer.
        if kind == "reasoning" or getattr(item, "phase", None) == "commentary":
            reasoning = True
        elif kind == "message":
            parts: list[Any] = item.content or []
            texts.append("".join(p.text or "" for p in parts if p.type == "output_text"))
            refusals.extend(p.refusal for p in parts if p.type == "refusal")
            cut = cut or getattr(item, "status", None) == "incomplete"
        elif kind.endswith("_call"):
            called = True
    text = "\n\n".join(part for part in texts if part)
    usage = _tokens(response.usage)
    reason = None
    if cut or (cap is not None and usage is not None and usage.output_tokens >= cap):
        reason = "length"
    elif called and not text.strip():
        reason = "tool_calls"
    refusal = "\n".join(refusals) or None
    return Completion(text, reason, usage, name, refusal=refusal, reasoning=reasoning)


def _tokens(usage: Any) -> Usage | None:
    """Return what a model call took; None where the SDK does not know."""
    if usage is None or not (usage.total_tokens or usage.requests):
        return None
    details = getattr(usage, "input_tokens_details", None)
    cached = getattr(details, "cached_tokens", None) or 0
    return Usage(usage.input_tokens or 0, usage.output_tokens or 0, cached)
