"""Folds of a LiveKit session's conversation, between its turns; part of `livekit`."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

from livekit.agents.llm import ChatContext as LiveKitContext

from chatfold.context import ChatContext
from chatfold.core.plan import Outcome
from chatfold.integrations._livekit.models import (
    HELD,
    check_session,
    holds_history,
    model_of,
    name_of,
    summarizer,
)
from chatfold.integrations._livekit.moments import is_quiet, tool_runs
from chatfold.integrations._livekit.shape import LIVEKIT
from chatfold.options import Settings
from chatfold.policy import Policy

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Unpack

    from livekit.agents import Agent, AgentSession
    from livekit.agents.llm import ChatItem

    from chatfold.options import SummaryOptions
    from chatfold.stores import Store
    from chatfold.summarizers import LLM
    from chatfold.tokens import TokenCounter

__all__ = ["TurnFolds", "fold_between_turns"]

_log = logging.getLogger("chatfold")

_EVENTS: Final = (
    "agent_state_changed",
    "user_state_changed",
    "conversation_item_added",
    "function_tools_executed",
)
_LOOK_AGAIN: Final = 0.2  # seconds; not all that keeps a session from being quiet has an event
_REMEMBERED: Final = 32  # outcomes, and summaries
_SAY_NOTHING: Final = frozenset({"below_trigger", "started", "running", "unchanged_head"})
_TIMEOUT: Final = 120.0  # seconds for a summary in the background, as of `ChatContext`


def fold_between_turns(
    session: AgentSession[Any],
    llm: LLM | None = None,
    policy: Policy | None = None,
    *,
    model: str | None = None,
    agent_model: str | None = None,
    pin: Callable[[ChatItem], bool] | None = None,
    counter: TokenCounter | None = None,
    summary_key: bytes | None = None,
    store: Store | None = None,
    key: str | None = None,
    **options: Unpack[SummaryOptions],
) -> TurnFolds:
    """Fold the conversation of a session's agent in the background, between its turns.

    The summary is written while the conversation goes on. It is put in when nobody speaks: what
    the agent said is in its context, no tool runs, the user has not begun, and no preemptive reply
    waits, as a changed context would discard that. What was said meanwhile stays. No turn ever
    waits for a summary, and no failure of one reaches it.

    It follows the session from agent to agent: a fold that was begun for one is put in for the
    next if that one's context begins with the same items; else it is `stale`.

    Args:
        session: The session, started or not.
        llm: What writes the summaries: a LiveKit `LLM`, or what `ChatContext.summarize` of chatfold
            takes; a list is tried in order. None is the current agent's own model.
        policy: When to fold, and how much to keep; by default `Policy.voice()`.
        model: The model that an OpenAI or Anthropic client in `llm` is to use.
        agent_model: Name of the agent's model: decides the window, and how tokens are counted; by
            default as the current agent's model says.
        pin: Returns whether an item stays verbatim in every fold.
        counter: Counts tokens.
        summary_key: Secret by which this application's summaries are recognized and nobody else's.
        store: Where originals are written before they leave the context.
        key: Names this conversation in the store.
        **options: See `SummaryOptions`; `timeout` is 120 seconds by default.

    Returns:
        What ends it, and tells what came of it. It ends with the session, too.

    Raises:
        TypeError: `session` is none, `llm` cannot answer, or an option is not known.
        ValueError: An option is out of range, or the policy and the model do not go together.
    """
    check_session(session)
    Settings().updated(options, fold_between_turns)  # else a context tells of its own
    if options.get("mode") == "append":
        raise ValueError(
            "mode='append' sends a provider's own items, and LiveKit makes these anew for each "
            "request; leave mode= out"
        )
    given: dict[str, Any] = {
        "policy": policy or Policy.voice(),
        "pin": pin,
        "counter": counter,
        "summary_key": summary_key,
        "store": store,
        "key": key,
        **options,
    }
    return TurnFolds(session, llm, model, agent_model, given)


class TurnFolds:
    """The folds of a session; made by `fold_between_turns`.

    `async with` closes it at the end.
    """

    def __init__(
        self,
        session: AgentSession[Any],
        llm: LLM | None,
        model: str | None,
        agent_model: str | None,
        given: dict[str, Any],
    ) -> None:
        self._session = session
        self._llm = llm
        self._client_model = model
        self._agent_model = agent_model
        self._given = given
        self._writer: tuple[Any, Any] | None = None  # of which model of the agent, and what it is
        self._context: ChatContext[ChatItem] | None = None
        self._agent: Agent | None = None  # whose items the context has
        self._refused: Agent | None = None
        self._outcomes: deque[Outcome[ChatItem]] = deque(maxlen=_REMEMBERED)
        self._stands_for: dict[str, frozenset[str]] = {}  # ids of items, by the summary's
        self._closed = False
        self._due = False
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        # Without what belongs to a turn, such as the speech that LiveKit counts usage for.
        self._outside = contextvars.copy_context()
        self._events: Any = session  # whose types do not say what a listener is
        own = model_of(session)
        self._new_context(own)  # what is wrong with the options is said now
        if llm is not None:
            self._writer_for(own)
        self._writer = None
        for event in _EVENTS:
            self._events.on(event, self._wake)
        self._events.on("close", self._ended)
        self._wake()

    @property
    def outcomes(self) -> Sequence[Outcome[ChatItem]]:
        """What came of the latest folds, oldest first: at most 32, turns without one left out."""
        return tuple(self._outcomes)

    @property
    def closed(self) -> bool:
        """Whether nothing is folded any more."""
        return self._closed

    async def settled(self) -> None:
        """Wait until no fold is being written, and what is written has been put in.

        Where something else than a fold is waited for, such as a tool, it returns at once.
        """
        while (task := self._task) is not None and not task.done():
            pending = self._context is not None and self._context.background is not None
            if not pending and tool_runs(self._session):
                return
            await asyncio.wait({task}, timeout=_LOOK_AGAIN)

    async def undo(self) -> Outcome[ChatItem]:
        """Put back the originals of the latest fold, when nobody speaks.

        Raises:
            BusyError: A summary is being written.
            RuntimeError: The session is not running.
        """
        agent = await self._quiet_agent()
        if agent is None:
            raise RuntimeError("the session is not running")
        context = self._context_of(agent, model_of(self._session, agent))
        outcome = context.undo()
        await self._publish(agent, context, outcome)
        return outcome

    def close(self) -> None:
        """End it; a fold that is being written is given up."""
        if self._closed:
            return
        self._closed = True
        for event in _EVENTS:
            self._events.off(event, self._wake)
        self._events.off("close", self._ended)
        if self._context is not None and self._context.background is not None:
            self._keep(self._context.background.cancel())
        if self._task is not None:
            self._task.cancel()

    async def aclose(self) -> None:
        """End it, and wait until nothing of it runs any more."""
        self.close()
        if self._task is not None:
            await asyncio.wait({self._task})

    async def __aenter__(self) -> TurnFolds:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    # What happens in the session

    def _wake(self, _event: object = None) -> None:
        """Take down that something happened, after which a fold may be due or put in."""
        if self._closed:
            return
        self._due = True
        self._woken.set()
        if self._task is not None and not self._task.done():
            return
        with suppress(RuntimeError):  # no loop yet: the session's first event comes in one
            loop = asyncio.get_running_loop()
            self._task = loop.create_task(
                _logged(self._tend()), name="chatfold", context=self._outside.copy()
            )

    def _ended(self, _event: object) -> None:
        self.close()

    async def _tend(self) -> None:
        """Fold until nothing is due any more."""
        while self._due and not self._closed:
            self._due = False
            agent = await self._quiet_agent()
            if agent is None:
                return
            model = model_of(self._session, agent)
            if holds_history(model):
                self._refuse(agent)
                continue
            context = self._context_of(agent, model)
            before = self._agent
            outcome = self._folded(context, model)
            await self._publish(agent, context, outcome)
            self._keep(outcome)
            if outcome.reason == "stale" and before is not agent:
                self._context = None  # it was another agent's; this one's is looked at anew
                self._due = True
            elif context.background is not None:
                await context.background.await_done()
                self._due = True

    def _folded(self, context: ChatContext[ChatItem], model: Any) -> Outcome[ChatItem]:
        """Put in what is written, and begin what is due; nothing is awaited between."""
        try:
            return context.maybe_summarize(
                self._writer_for(model), background=True, model=self._client_model
            )
        except Exception as error:  # no model to write, say: the conversation goes on
            _log.warning("no fold between turns: %s", type(error).__name__)
            return Outcome(changed=False, reason="failed", error=error, key=self._given["key"])

    async def _publish(
        self, agent: Agent, context: ChatContext[ChatItem], outcome: Outcome[ChatItem]
    ) -> None:
        """Give the agent a changed list; for a model that is no realtime one, nothing is awaited.

        Calls of tools that the agent no longer has are history, and stay.
        """
        self._agent = agent
        if outcome.item is not None:
            gone = {item.id for item in outcome.removed}
            earlier = (self._stands_for.get(id_, frozenset()) for id_ in gone)
            self._stands_for[outcome.item.id] = frozenset(gone).union(*earlier)
            if len(self._stands_for) > _REMEMBERED:
                del self._stands_for[next(iter(self._stands_for))]
        if outcome.changed or len(context.items) != len(agent.chat_ctx.items):
            folded = LiveKitContext(list(context.items))
            await agent.update_chat_ctx(folded, exclude_invalid_function_calls=False)

    async def _quiet_agent(self) -> Agent | None:
        """Return the current agent in a moment in which its context may be changed.

        None where the session is not running.
        """
        session = self._session
        while not self._closed:
            self._woken.clear()
            try:
                activity: Any = await session.wait_for_idle()
            except Exception:  # closing, or not started: its own class, or a RuntimeError
                return None
            if is_quiet(session, activity):
                return cast("Agent", activity.agent)
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_AGAIN):
                    await self._woken.wait()
        return None

    # The list

    def _context_of(self, agent: Agent, model: Any) -> ChatContext[ChatItem]:
        """Return what folds the list of an agent, as that is now.

        What is being written for the agent before goes on: the next one's list may begin alike.
        """
        context = self._context
        other = self._agent is not None and self._agent is not agent
        if context is None or (other and context.background is None):
            context = self._context = self._new_context(model)
        items = agent.chat_ctx.items
        context.items[:] = self._once(items) if other else items
        return context

    def _once(self, items: Sequence[ChatItem]) -> list[ChatItem]:
        """Return a list without the items that a summary in it stands for.

        An `AgentTask` that ends hands its items, a summary among them, to the agent that has
        waited for it, and that one still has the originals. A call that is answered there stays.
        """
        stands = (self._stands_for.get(item.id, frozenset()) for item in items)
        gone = frozenset[str]().union(*stands)
        kept = [item for item in items if item.id not in gone]
        if len(kept) == len(items):
            return kept
        answered = {item.call_id for item in kept if item.type == "function_call_output"}
        return [
            item
            for item in items
            if item.id not in gone or (item.type == "function_call" and item.call_id in answered)
        ]

    def _new_context(self, model: Any) -> ChatContext[ChatItem]:
        name = self._agent_model or name_of(model)
        return ChatContext([], shape=LIVEKIT, model=name, **self._given)

    def _writer_for(self, model: Any) -> Any:
        """Return what writes summaries, the same one as long as the agent's model is."""
        if self._writer is None or self._writer[0] is not model:
            own = None if holds_history(model) else model
            timeout, retries = self._given.get("timeout", _TIMEOUT), self._given.get("retries", 1)
            self._writer = model, summarizer(self._llm, own, timeout, retries)
        return self._writer[1]

    def _refuse(self, agent: Agent) -> None:
        """Take down, once for each agent, that its model holds the conversation itself."""
        if self._refused is not agent:
            self._refused = agent
            self._keep(Outcome(changed=False, reason="server_managed", remedy=HELD))

    def _keep(self, outcome: Outcome[ChatItem]) -> None:
        if outcome.reason not in _SAY_NOTHING:
            self._outcomes.append(outcome)


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    """Run what nobody awaits; what it raises is logged, as it must not reach the session."""
    try:
        await work
    except Exception:
        _log.exception("folding between turns failed")
