"""The OpenAI Agents SDK: a filter of what its model sees, and a session that is folded.

Not here: the session, the run as we see it, models as summarizers (`_openai_agents`).
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from chatfold.core.plan import Outcome
from chatfold.core.rolling import item_digest
from chatfold.core.scalars import check_flags
from chatfold.events import FoldEvent, tell
from chatfold.integrations._openai_agents.run import Run, missing, seen
from chatfold.options import Settings
from chatfold.shared_folds import missing_key
from chatfold.stores.base import checked_key

try:
    from agents.run_config import CallModelData, ModelInputData

    from chatfold.integrations._openai_agents.folds import Folds
    from chatfold.integrations._openai_agents.session import FoldedSession, Persist
except ImportError as error:
    raise missing() from error

if TYPE_CHECKING:
    from typing import Unpack

    from agents import Model

    from chatfold.each_turn import OnError
    from chatfold.options import SummaryOptions
    from chatfold.policy import Policy
    from chatfold.stores import HostStore
    from chatfold.summarizers import LLM
    from chatfold.tokens import TokenCounter

__all__ = ["ChatfoldFilter", "FoldedSession", "Key", "Persist", "chatfold_filter"]

Key: TypeAlias = "str | Callable[[CallModelData[Any]], str | None]"
"""Names a conversation, or returns its name."""

_log = logging.getLogger("chatfold")

_REMEDIES: Final = {
    "OpenAIConversationsSession": "pass replay=True to fold what the session replays",
    "conversation_id": (
        "in place of conversation_id, run with session=OpenAIConversationsSession("
        "conversation_id=...) and replay=True"
    ),
    "previous_response_id": (
        "in place of previous_response_id, run with a session or the whole history"
    ),
}

_UNNAMED: Final = (
    "run the agent with session= or RunConfig(group_id=...), or pass key= to chatfold_filter: a "
    "name, or a function of CallModelData that returns one"
)


def chatfold_filter(
    llm: LLM | Model | None = None,
    policy: Policy | None = None,
    store: HostStore | None = None,
    *,
    key: Key | None = None,
    model: str | None = None,
    agent_model: str | None = None,
    replay: bool = False,
    background: bool = False,
    on_error: OnError = "report",
    sessions: int = 1_000,
    pin: Callable[[Any], bool] | None = None,
    counter: TokenCounter | None = None,
    summary_key: bytes | None = None,
    **options: Unpack[SummaryOptions],
) -> ChatfoldFilter:
    """Return a `call_model_input_filter` for a `RunConfig`: the model sees the history folded.

    The run's own history stays whole: its result, session and state are as they would be. Where
    the conversation goes on, in this run or a later one, what was folded is found again,
    if it is given from its beginning: for a window that slides along, use a `FoldedSession`.

    Args:
        llm: What writes the summaries: a `Model` of the SDK, a model's name that the run's
            provider knows, or what `ChatContext.summarize` takes; None is the agent's own model,
            as the run finds it.
        policy: When to fold, and how much to keep; by default `Policy()`.
        store: Where folds are kept for other processes; by default in this one alone.
        key: Names the conversation, or is a function of the SDK's `CallModelData` that does. By
            default the session's id, then the run's `group_id`; without these, conversations are
            told apart by what they say.
        model: The model that a client in `llm` is to use.
        agent_model: Name of the agent's model: decides the window, and how tokens are counted; by
            default that of the agent whose turn it is.
        replay: Whether to fold too where the server holds the history and the run replays all of
            it (`OpenAIConversationsSession`). A run with `previous_response_id` or
            `conversation_id` does not, and is never folded.
        background: Whether summaries are written in the background: no call waits for a model.
        on_error: Whether a failure of the summarizer is reported, or raised.
        sessions: Number of conversations that are held ready, and of those whose folds are kept
            without a store; the one used longest ago goes.
        pin: As for `ChatContext`.
        counter: As for `ChatContext`.
        summary_key: As for `ChatContext`.
        **options: See `SummaryOptions`.

    Raises:
        TypeError: `llm` cannot answer, `store` is no store, or an option is not known.
        ValueError: An option is out of range, there is nothing in `llm` or `key`, or the policy and
            the model do not go together.
    """
    Settings().updated(options, chatfold_filter)  # else a Middleware tells of its own
    return ChatfoldFilter(
        Folds(
            llm,
            model,
            agent_model,
            policy=policy,
            store=store,
            background=background,
            on_error=on_error,
            sessions=sessions,
            pin=pin,
            counter=counter,
            summary_key=summary_key,
            **options,
        ),
        key,
        replay,
    )


class ChatfoldFilter:
    """Folds what a model is about to be sent; `chatfold_filter` makes one.

    One filter serves any number of runs and agents, also at the same time.
    """

    def __init__(self, folds: Folds, key: Key | None, replay: bool) -> None:
        if key is not None and not isinstance(key, str) and not callable(key):  # pyright: ignore[reportUnnecessaryIsInstance, reportUnnecessaryComparison]
            raise TypeError(f"key must be text, or a function of CallModelData, not {key!r}")
        if isinstance(key, str):
            checked_key(key)
        check_flags(replay=replay)
        self._folds = folds
        self._key = key
        self._replay = replay
        self._refused: weakref.WeakValueDictionary[int, object] = weakref.WeakValueDictionary()

    def __call__(self, data: CallModelData[Any]) -> Awaitable[ModelInputData]:
        """Return, when awaited, what goes to the model.

        Args:
            data: What the SDK gives a filter.
        """
        run = seen(data.agent)  # now: when the coroutine runs, somebody else may be awaiting it
        return self._filtered(data, run)

    async def _filtered(self, data: CallModelData[Any], run: Run) -> ModelInputData:
        given = data.model_data
        if not given.input:
            return given
        key = self._key(data) if callable(self._key) else self._key or run.session_id
        if run.managed and not (self._replay and run.managed == "OpenAIConversationsSession"):
            self._refuse(run, key)
            return given
        if key is None:
            if self._folds.shared:
                raise missing_key(_UNNAMED)
            key = f"begins {item_digest(given.input[0]).hex()}"
        folded = await self._folds.fold(given.input, run, key)
        return ModelInputData(input=folded.items, instructions=given.instructions)

    def forget(self, key: str) -> None:
        """Drop what this process holds of a conversation: its items, and what is folded of them.

        What is under way is given up, or waited for, as by `Middleware.forget`. In a `store` that
        you pass it is erased there (`store.erase(key)`); do that afterwards.

        Args:
            key: The session's id or the run's `group_id`, or what `key=` has named it. One without
                any of these cannot be told from others that open alike.
        """
        self._folds.forget(checked_key(key))

    def _refuse(self, run: Run, key: str | None) -> None:
        """Report, once a run, that the server holds the history."""
        if run.context is not None:
            if self._refused.get(id(run.context)) is run.context:
                return
            self._refused[id(run.context)] = run.context
        remedy = _REMEDIES[run.managed]
        outcome: Outcome[Any] = Outcome(False, "server_managed", key=key, remedy=remedy)
        _log.warning("%s", outcome)
        tell(self._folds.watch, FoldEvent("skipped", 0, key, outcome))
