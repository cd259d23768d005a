"""chatfold in LangChain: a middleware for `create_agent`, and a node for graphs of LangGraph.

Source: langchain 1.4.7, `AgentMiddleware.wrap_model_call` and `SummarizationMiddleware`; langgraph
1.2, `add_messages`. Not here: how messages are read (`_langchain.shape`), how a chat model writes
summaries (`_langchain.model`), what becomes of a thread's state (`_langchain.state`).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, cast, get_args

from chatfold.core.native import field
from chatfold.integrations._langchain.missing import missing
from chatfold.middleware import Folded, Middleware
from chatfold.options import Settings, check_given
from chatfold.policy import Policy
from chatfold.shared_folds import is_shared, missing_key

try:
    from langchain.agents.middleware.types import (
        AgentMiddleware,
        ExtendedModelResponse,
        ModelRequest,
        ModelResponse,
    )
    from langchain_core.messages import BaseMessage, convert_to_messages
    from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
    from langgraph.config import get_config
    from langgraph.types import Command

    from chatfold.integrations._langchain.model import (
        chat_model,
        name_of,
        summarizers,
        window_of,
    )
    from chatfold.integrations._langchain.shape import LangChainMessages
    from chatfold.integrations._langchain.state import (
        FOLD,
        FoldState,
        held,
        is_part,
        part_of,
        replaced,
        shown,
        stored,
        thread_of,
    )
except ImportError as error:
    raise missing(error) from error

if TYPE_CHECKING:
    from typing import Self, Unpack

    from langchain_core.messages import AnyMessage
    from langgraph.runtime import Runtime

    from chatfold.each_turn import OnError
    from chatfold.options import SummaryOptions
    from chatfold.stores import HostStore
    from chatfold.summarizers import LLM
    from chatfold.tokens import TokenCounter

__all__ = ["ChatfoldMiddleware", "FoldState", "LangChainMessages", "Persist"]

_log = logging.getLogger("chatfold")

Persist: TypeAlias = Literal["view", "replace"]
"""Whether the thread's state stays complete, or holds the fold in place of what it replaced."""

_MODELS: Final = 8
"""Models of an agent for which a fold is held ready; the one used longest ago goes."""

_UNNAMED: Final = (
    "run the agent with config={'configurable': {'thread_id': ...}}, or pass key= to "
    "ChatfoldMiddleware: a name, or a function of the config that returns one"
)


class ChatfoldMiddleware(AgentMiddleware[FoldState, Any, Any]):
    """Folds the old part of a thread before the agent's model is called.

    Put it first in `middleware=[...]`, so that it sees the messages as they are in the state. Safe
    to use for several agents, threads and tasks at once.

    Args:
        llm: What writes the summaries: a chat model of LangChain's, or whatever else
            `ChatContext.summarize` takes; None is the agent's own model.
        policy: When to fold, and how much to keep; by default `Policy()`, with the window of the
            agent's model as its profile tells it.
        persist: `view`: the model sees the fold, and the thread's state stays complete; what is
            folded is kept in private state, so that a checkpoint holds both. `replace`: after the
            model has answered, the messages in the state are replaced too; not those of an agent
            that is a part of another graph, which would keep what the agent removes.
        store: Where folds are kept besides, for other processes and threads; see `Middleware`.
        key: Names the conversation in the store: a text, or a function of the `RunnableConfig`. By
            default the `thread_id`. With a store that processes share, runs that have neither raise
            a `ValueError`.
        model: The model that a client of an SDK as `llm` is to use.
        background: Whether summaries are written in the background: no turn waits for one.
        on_error: Whether a failure of the summarizer is reported (`on_event`), or raised.
        sessions: Number of threads that are held ready.
        pin: Returns whether a message stays verbatim in every fold.
        counter: Counts tokens; None picks one by the agent's model.
        summary_key: Secret by which this application's summaries are recognized.
        **options: See `SummaryOptions`.

    Raises:
        TypeError: `store` is no store, or an option is not known.
        ValueError: An option is out of range.
    """

    state_schema = FoldState

    def __init__(
        self,
        llm: LLM | None = None,
        policy: Policy | None = None,
        *,
        persist: Persist = "view",
        store: HostStore | None = None,
        key: str | Callable[[RunnableConfig], str] | None = None,
        model: str | None = None,
        background: bool = False,
        on_error: OnError = "report",
        sessions: int = 1_000,
        pin: Callable[[BaseMessage], bool] | None = None,
        counter: TokenCounter | None = None,
        summary_key: bytes | None = None,
        **options: Unpack[SummaryOptions],
    ) -> None:
        super().__init__()
        if persist not in get_args(Persist):
            raise ValueError(f"persist must be 'view' or 'replace', not {persist!r}")
        Settings().updated(options, ChatfoldMiddleware)  # else a Middleware tells of its own
        said = None if callable(key) else key
        check_given(pin=pin, counter=counter, policy=policy, summary_key=summary_key, key=said)
        self.persist: Persist = persist
        if persist == "replace":
            self.__class__ = cast("type[Self]", _replacing(type(self)))
        self.tools = []
        self._retries = options.get("retries", 1)
        self._llm = None if llm is None else summarizers(llm, retries=self._retries)
        self._given = llm
        self._policy = Policy() if policy is None else policy
        self._store = store
        self._key = key
        self._options: dict[str, Any] = dict(options)
        self._hosting: dict[str, Any] = {
            "model": model,
            "background": background,
            "on_error": on_error,
            "sessions": sessions,
            "pin": pin,
            "counter": counter,
            "summary_key": summary_key,
        }
        self._lock = threading.Lock()
        self._made: dict[tuple[str | None, int | None], Middleware[BaseMessage]] = {}
        self._parts = {""}  # behind threads' names in those of their conversations: few
        self._warned: set[str] = set()
        self._for(None)  # what is wrong with the options is said now

    def forget(self, key: str) -> None:
        """Drop what this process holds of a thread: its messages, and what is folded of them.

        What is under way is given up, or waited for, as by `Middleware.forget`. The thread's state
        is the checkpointer's to delete, its fold included. In a `store` it is erased there
        (`store.erase(key)`; for an agent that is node `name` of another graph the key is
        `key/name`); do that afterwards.

        Args:
            key: The `thread_id`, or what `key=` has named it.
        """
        with self._lock:
            made = list(self._made.values())
        for each in made:
            for part in list(self._parts):
                each.forget(f"{key}{part}")  # LangGraph takes ids that are no texts, too

    # At each call of the model

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ExtendedModelResponse[Any]:
        """Let the model see the fold, and keep in the state what is folded."""
        if self._is_held_elsewhere(request.model):
            return ExtendedModelResponse(handler(request))
        folded = self._for(request.model).fold(_seen(request), **self._call(request))
        return _answered(handler(_request(request, folded)), request, folded)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ExtendedModelResponse[Any]:
        """Let the model see the fold, and keep in the state what is folded."""
        if self._is_held_elsewhere(request.model):
            return ExtendedModelResponse(await handler(request))
        folded = await self._for(request.model).afold(_seen(request), **self._call(request))
        return _answered(await handler(_request(request, folded)), request, folded)

    # In a graph without an agent

    def node(
        self, model: Runnable[Any, Any] | None = None, *, output: str = "llm_input_messages"
    ) -> RunnableLambda[Any, dict[str, Any]]:
        """Return a node for a graph of LangGraph, to stand before the one that calls a model.

        Its graph's state has `messages` and, for what is folded, `chatfold_fold`: see `FoldState`.
        It also serves as the `pre_model_hook` of `create_react_agent`.

        Args:
            model: The model that the graph calls, with its tools or without; tells the window, and
                writes the summaries where the middleware has no `llm`.
            output: The key under which the model's messages are written, with `persist="view"`.
                It has no reducer: each turn's messages take the place of those of the one before.

        Raises:
            TypeError: There is nothing that could write a summary.
            ValueError: With `persist="view"`, `output` is where the thread or its fold stands.
        """
        if model is None and self._given is None:
            raise TypeError("node() needs model=, or a middleware with llm=, to write summaries")
        if self.persist == "view" and output in ("messages", FOLD):
            # The summary would take the place of one message there, and the others would stay.
            raise ValueError(
                f"output={output!r} is a key of the thread itself, which stays as it is with "
                "persist='view'; name another one, or pass persist='replace' to ChatfoldMiddleware"
            )

        if self._is_held_elsewhere(model):
            return RunnableLambda(partial(self._as_it_is, output), name="chatfold")

        def folds(state: Any, config: RunnableConfig) -> dict[str, Any]:
            messages = _messages_of(state)
            call = self._call_for(model, state, config)
            return self._update(state, messages, self._for(model).fold(messages, **call), output)

        async def afolds(state: Any, config: RunnableConfig) -> dict[str, Any]:
            messages = _messages_of(state)
            call = self._call_for(model, state, config)
            folded = await self._for(model).afold(messages, **call)
            return self._update(state, messages, folded, output)

        return RunnableLambda(folds, afunc=afolds, name="chatfold")

    def _update(
        self, state: Any, messages: list[Any], folded: Folded[Any], output: str
    ) -> dict[str, Any]:
        if self.persist == "replace":
            change = replaced(messages, folded.items)
            return {FOLD: None} if change is None else {"messages": change, FOLD: None}
        return {output: shown(messages, folded.items), FOLD: stored(folded.held)}

    def _as_it_is(self, output: str, state: Any) -> dict[str, Any]:
        unchanged: dict[str, Any] = {FOLD: stored(held(state))}
        return (
            unchanged if self.persist == "replace" else {output: _messages_of(state), **unchanged}
        )

    # What both use

    def _for(self, model: Any) -> Middleware[BaseMessage]:
        """Return what folds for a model of the agent's."""
        name, window = name_of(model), window_of(model)
        with self._lock:
            made = self._made.pop((name, window), None)
            if made is None:
                made = self._middleware(name, window, model)
            self._made[name, window] = made
            if len(self._made) > _MODELS:
                del self._made[next(iter(self._made))]
        return made

    def _middleware(self, name: str | None, window: int | None, model: Any) -> Middleware[Any]:
        policy = self._policy
        if policy.window is None and window is not None:
            policy = replace(policy, window=window)
        elif policy.fraction is not None and model is None and policy.window is None:
            policy = Policy()  # of a window that the agent's model has yet to tell
        options = dict(self._options)
        writes = window_of(model if self._given is None else self._given)
        if options.get("max_prompt_tokens") is None and writes is not None:
            options["max_prompt_tokens"] = writes
        return Middleware(
            self._llm if self._llm is not None else _nobody,
            policy,
            self._store,
            agent_model=name,
            shape=LangChainMessages(),
            **self._hosting,
            **options,
        )

    def _call(self, request: ModelRequest[Any]) -> dict[str, Any]:
        return self._call_for(request.model, request.state, _config())

    def _call_for(self, model: Any, state: Any, config: RunnableConfig) -> dict[str, Any]:
        key = self._key(config) if callable(self._key) else self._key or thread_of(config)
        if key is None and is_shared(self._store):
            raise missing_key(_UNNAMED)
        self._parts.add("" if self._key else part_of(config))
        own = None
        if self._given is None:
            own = summarizers(model, retries=self._retries)
        return {"key": key, "llm": own, "held": held(state)}

    def _is_held_elsewhere(self, model: Any) -> bool:
        """Return whether the provider holds the history, so that a fold would change nothing."""
        if not getattr(chat_model(model), "use_previous_response_id", False):
            return False
        self._warn(
            "nothing is folded: the model has use_previous_response_id=True, so the provider holds "
            "the history"
        )
        return True

    async def _aafter_model(self, state: FoldState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        return self._after_model(state, runtime)

    def _after_model(self, state: FoldState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Put the fold into the state's messages."""
        region = held(state)
        if region is None:
            return None
        if is_part(_config()):
            # The other graph takes over what it is given by the ids, and hears of no removal: it
            # would lose the message whose id the summary has, and keep all the others.
            self._warn(
                "the messages are not replaced, as the agent is a part of another graph, whose own "
                "messages would stay; the model is shown the fold, as with persist='view'"
            )
            return None
        messages = _messages_of(state)
        folded = self._for(None).refolded(messages, region)
        if folded is None:
            self._warn(
                "the thread's messages are not replaced, as they are not those that the model was "
                "shown; put ChatfoldMiddleware first in middleware="
            )
            return None
        change = replaced(messages, folded)
        return {FOLD: None} if change is None else {"messages": change, FOLD: None}

    def _warn(self, message: str) -> None:
        """Log a warning, the first time."""
        if message not in self._warned:
            self._warned.add(message)
            _log.warning("%s", message)


def _replacing(cls: type[ChatfoldMiddleware]) -> type[ChatfoldMiddleware]:
    """Return the class with a node behind the agent's model.

    `create_agent` asks the class for hooks, and each hook is one more step of the graph, with a
    checkpoint of its own.

    Raises:
        TypeError: The class has something of its own there.
    """
    hooks = ("after_model", "aafter_model")
    own = [hook for hook in hooks if getattr(cls, hook) is not getattr(AgentMiddleware, hook)]
    if own:
        raise TypeError(
            f"{cls.__name__}.{own[0]} stands where persist='replace' has its own; put it in "
            "another middleware"
        )
    made = {"after_model": cls._after_model, "aafter_model": cls._aafter_model}  # pyright: ignore[reportPrivateUsage]
    return type(cls.__name__, (cls,), {**made, "__module__": cls.__module__})


class _Answer(TypedDict, total=False):
    chatfold_fold: list[Any] | None


def _nobody(prompt: Any) -> str:
    """Stand for the agent's own model, which each call brings with it."""
    raise TypeError("there is no model to write a summary")


def _config() -> RunnableConfig:
    """Return the config of the run that has made this call."""
    try:
        return get_config()
    except RuntimeError:  # called outside of a graph
        return RunnableConfig()


def _messages_of(state: Any) -> list[Any]:
    """Return the messages in a state; a graph without `add_messages` may hold dicts."""
    found: Any = field(state, "messages")
    return [m if isinstance(m, BaseMessage) else convert_to_messages([m])[0] for m in found]


def _seen(request: ModelRequest[Any]) -> list[Any]:
    """Return what the model would see, the instructions included, which count for the size."""
    messages: list[Any] = list(request.messages)
    return messages if request.system_message is None else [request.system_message, *messages]


def _request(request: ModelRequest[Any], folded: Folded[Any]) -> ModelRequest[Any]:
    """Return the request with what the model is to see."""
    items = folded.items
    if request.system_message is not None:
        items = items[1:]
    made = request.override(messages=cast("list[AnyMessage]", items))
    needed = [r for r in folded.requirements if r.options]
    if not needed or not hasattr(request.model, "betas"):  # they are Anthropic's, alone
        return made
    thinking = _thinking_of(request)
    if thinking.get("type") == "disabled":  # which takes nothing else
        return made
    model, settings = _with_thinking(request, thinking, needed[0].options)
    return made.override(model=model, model_settings=settings)


def _thinking_of(request: ModelRequest[Any]) -> dict[str, Any]:
    """Return a request's `thinking`; `ChatAnthropic` prefers its own to that of a call."""
    model: Any = request.model
    return model.thinking or request.model_settings.get("thinking") or {}


def _with_thinking(
    request: ModelRequest[Any], thinking: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return a request's model and settings with what thinking behind a summary needs.

    It stands in a copy of the model, which prefers its own `thinking`, and as a model that another
    middleware puts in its place would not know these settings.
    """
    model: Any = request.model
    settings = request.model_settings
    betas: list[str] = settings.get("betas") or model.betas or []
    known = {"betas": list(dict.fromkeys([*betas, *options["betas"]]))}
    changed = {**known, "thinking": {**options["thinking"], **thinking}}
    if "betas" in settings:  # which a call prefers
        settings = {**settings, **known}
    return model.model_copy(update=changed), settings


def _answered(
    response: ModelResponse[Any], request: ModelRequest[Any], folded: Folded[Any]
) -> ExtendedModelResponse[Any]:
    """Return the model's answer, and what is folded for the state where that is new."""
    if held(request.state) == folded.held:
        return ExtendedModelResponse(response)
    update: _Answer = {FOLD: stored(folded.held)}
    return ExtendedModelResponse(response, Command(update=update))
