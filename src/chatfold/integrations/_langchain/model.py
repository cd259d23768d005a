"""A chat model of LangChain as the summarizer; part of the integration `langchain`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from langchain_core.exceptions import ContextOverflowError, ModelError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase
from langgraph.constants import TAG_NOSTREAM

from chatfold.core.flow import Completion, Usage
from chatfold.core.native import field
from chatfold.core.scalars import check_whole
from chatfold.errors import SummarizerError
from chatfold.integrations._langchain.shape import SOURCE
from chatfold.shapes._blocks import block_type, listed
from chatfold.summarizers._overflow import overflow_in
from chatfold.tokens.windows import window_for

if TYPE_CHECKING:
    from chatfold.core.render import Prompt

__all__ = ["ChatModelSummarizer", "chat_model", "name_of", "summarizers", "window_of"]

_LEAST_WINDOW: Final = 2_000  # tokens; a smaller one is a mistake in a profile
_FINISHED: Final = ("finish_reason", "stop_reason", "stopReason", "done_reason")
_BOUND: Final = frozenset(
    {
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "functions",
        "function_call",
        "response_format",
    }
)
"""What is bound to a model for its turns, and would make its summary something else than words."""


class ChatModelSummarizer:
    """Summarizes with a model of LangChain's.

    Its tokens stay out of the streams that a user sees, by LangGraph's tag for that; callbacks and
    tracing see the call, and its usage, as any other.

    Args:
        model: A chat model, or another runnable that takes messages and returns one, or a text.
        retries: How often a failed call is repeated.
    """

    def __init__(self, model: Runnable[Any, Any], *, retries: int = 1) -> None:
        check_whole("retries", retries, 0)
        self._model = model
        self._retries = retries

    def __repr__(self) -> str:
        return f"ChatModelSummarizer({type(self._model).__name__})"

    def complete(self, prompt: Prompt) -> Completion | str:
        """Call the model and wait for its answer.

        Raises:
            SummarizerError: The prompt is larger than the model's window; smaller ones are tried.
        """
        for left in range(self._retries, -1, -1):
            try:
                return _completion(self._model.invoke(_messages(prompt), config=_config()))
            except ContextOverflowError as error:
                raise _overflow(error) from error
            except Exception as error:
                if not left or not _may_pass(error):
                    raise
        raise AssertionError("the last try returns or raises")

    async def acomplete(self, prompt: Prompt) -> Completion | str:
        """Call the model and await its answer.

        Raises:
            SummarizerError: The prompt is larger than the model's window; smaller ones are tried.
        """
        for left in range(self._retries, -1, -1):
            try:
                return _completion(await self._model.ainvoke(_messages(prompt), config=_config()))
            except ContextOverflowError as error:
                raise _overflow(error) from error
            except Exception as error:
                if not left or not _may_pass(error):
                    raise
        raise AssertionError("the last try returns or raises")


def summarizers(llm: Any, *, retries: int = 1) -> Any:
    """Return what chatfold summarizes with: models of LangChain's wrapped, all else as it is.

    Args:
        llm: What the caller gave, or a list of these.
        retries: As for `ChatModelSummarizer`.
    """
    if isinstance(llm, (list, tuple)):
        return [summarizers(member, retries=retries) for member in cast("list[Any]", llm)]
    if isinstance(llm, Runnable):
        return ChatModelSummarizer(_without_tools(llm), retries=retries)
    return llm


def chat_model(model: Any) -> Any:
    """Return the chat model in what LangChain wraps around one: its tools, retries, fallbacks."""
    while isinstance(model, RunnableBindingBase | RunnableWithFallbacks):
        wrapper = cast("Any", model)
        model = wrapper.bound if isinstance(model, RunnableBindingBase) else wrapper.runnable
    return model


def _without_tools(model: Any) -> Any:
    """Return a model without the tools, or the form of an answer, that are bound to it."""
    if isinstance(model, RunnableWithFallbacks):
        several = cast("Any", model)
        others = [*map(_without_tools, several.fallbacks)]
        first = _without_tools(several.runnable)
        return several.model_copy(update={"runnable": first, "fallbacks": others})
    if not isinstance(model, RunnableBindingBase):
        return model
    wrapper = cast("Any", model)
    bound = _without_tools(wrapper.bound)
    kwargs = {name: given for name, given in wrapper.kwargs.items() if name not in _BOUND}
    if bound is wrapper.bound and len(kwargs) == len(wrapper.kwargs):
        return wrapper
    return wrapper.model_copy(update={"bound": bound, "kwargs": kwargs})


def name_of(model: Any) -> str | None:
    """Return the name of a chat model, as its provider knows it; None where it has none."""
    model = chat_model(model)
    for key in ("model_name", "model", "model_id"):
        found = getattr(model, key, None)
        if isinstance(found, str) and found:
            return found
    return None


def window_of(model: Any) -> int | None:
    """Return the tokens that a prompt for a model may have, as far as that is known."""
    model = chat_model(model)
    if not isinstance(model, BaseChatModel):
        return None
    most = field(model.profile, "max_input_tokens")
    if isinstance(most, int) and most >= _LEAST_WINDOW:
        return most
    return window_for(name_of(model))


def _messages(prompt: Prompt) -> list[BaseMessage]:
    return [SystemMessage(prompt.system), HumanMessage(prompt.user)]


def _config() -> RunnableConfig:
    return {
        "tags": [TAG_NOSTREAM],
        "metadata": {"lc_source": SOURCE},
        "run_name": "chatfold",
    }


def _overflow(error: ContextOverflowError) -> SummarizerError:
    """Return the error that has the head folded in smaller parts."""
    found = overflow_in(str(error), frozenset())
    return SummarizerError(
        "the summarizer: the prompt exceeds the model's window",
        overflow=True,
        limit=found.limit if found is not None else None,
        size=found.size if found is not None else None,
    )


def _may_pass(error: Exception) -> bool:
    """Return whether a failure may be over the next time."""
    return error.is_retryable if isinstance(error, ModelError) else True


def _completion(answer: Any) -> Completion | str:
    """Return what a model answered; a text as it is, which is checked like any other."""
    if not isinstance(answer, BaseMessage):
        return cast(str, answer)
    told = answer.response_metadata
    blocks = listed(answer.content)
    heard = [block for block in blocks if not _is_commentary(block)]
    if len(heard) < len(blocks):
        answer = answer.model_copy(update={"content": heard})
    calls = answer.tool_calls if isinstance(answer, AIMessage) else []
    thinks = any(block_type(b) in ("thinking", "reasoning") for b in heard)
    return Completion(
        str(answer.text),
        "tool_calls" if calls else _reason(told),
        _usage(answer),
        told.get("model_name") or told.get("model"),
        _refusal(answer),
        thinks or len(heard) < len(blocks),
    )


def _reason(told: Mapping[str, Any]) -> str | None:
    """Return why a model stopped; OpenAI's Responses tell it in fields of their own.

    langchain-openai 1.7.4, `_construct_lc_result_from_responses_api`.
    """
    found = [told.get(key) for key in _FINISHED]
    found += [field(told.get("incomplete_details"), "reason"), told.get("status")]
    return next((each for each in found if isinstance(each, str) and each), None)


def _refusal(answer: BaseMessage) -> str | None:
    """Return the words of a refusal: beside the content, or in a block of it."""
    blocks = (field(b, "refusal") for b in listed(answer.content) if block_type(b) == "refusal")
    said = [answer.additional_kwargs.get("refusal"), *blocks]
    return next((each for each in said if isinstance(each, str) and each), None)


def _is_commentary(block: Any) -> bool:
    """Return whether a text is what a model says to itself aloud before its final answer."""
    phase = field(block, "phase") or field(field(block, "extras"), "phase")
    return bool(phase == "commentary")


def _usage(answer: BaseMessage) -> Usage | None:
    found = answer.usage_metadata if isinstance(answer, AIMessage) else None
    if found is None:
        return None
    details: Mapping[str, Any] = found.get("input_token_details") or {}
    return Usage(found["input_tokens"], found["output_tokens"], int(details.get("cache_read") or 0))
