"""LiveKit Agents: summaries of a `ChatContext`, and folds between the turns of a session.

Not here: how items are read, models as summarizers, the folds of a session (`_livekit`).
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, cast

from chatfold.context import ChatContext
from chatfold.core.plan import Outcome
from chatfold.each_turn import OnError, check_ways
from chatfold.errors import ChatfoldError, MissingExtraError, StaleHeadError
from chatfold.options import Settings, SummaryOptions

try:
    from livekit.agents import Agent, AgentSession
    from livekit.agents import llm as livekit_llm

    for owner, name in (
        (livekit_llm, "AgentConfigUpdate"),
        (livekit_llm, "AgentHandoff"),
        (livekit_llm.ChatContext, "readonly"),
        (Agent, "update_chat_ctx"),
        (AgentSession, "wait_for_idle"),
    ):
        if not hasattr(owner, name):
            raise ImportError(f"{owner.__name__} has no {name}")
except ImportError as error:
    try:
        found = f"found {version('livekit-agents')}"
    except PackageNotFoundError:
        found = "which is not installed"
    raise MissingExtraError(
        f"chatfold.integrations.livekit needs livekit-agents >=1.8.9,<2, {found}; "
        'pip install "chatfold[livekit]"',
        extra="livekit",
    ) from error

from chatfold.integrations._livekit.models import (
    HELD,
    check_session,
    holds_history,
    model_of,
    name_of,
    summarizer,
)
from chatfold.integrations._livekit.publishing import publish
from chatfold.integrations._livekit.shape import LIVEKIT
from chatfold.integrations._livekit.turns import TurnFolds, fold_between_turns

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import EllipsisType
    from typing import Unpack

    from chatfold.core.calls import Abandon
    from chatfold.stores import Store
    from chatfold.summarizers import LLM
    from chatfold.tokens import TokenCounter

__all__ = ["LIVEKIT", "TurnFolds", "fold_between_turns", "summarize"]


async def summarize(
    chat_ctx: livekit_llm.ChatContext | Agent,
    llm: LLM | None = None,
    *,
    session: AgentSession[Any] | None = None,
    keep_last_turns: int | None | EllipsisType = ...,
    keep_tokens: int | None | EllipsisType = ...,
    model: str | None = None,
    agent_model: str | None = None,
    abandon: Abandon | None = None,
    force: bool = False,
    on_error: OnError = "raise",
    pin: Callable[[livekit_llm.ChatItem], bool] | None = None,
    counter: TokenCounter | None = None,
    summary_key: bytes | None = None,
    store: Store | None = None,
    key: str | None = None,
    **options: Unpack[SummaryOptions],
) -> Outcome[livekit_llm.ChatItem]:
    """Put one summary in place of a context's older items; the safe `ChatContext._summarize`.

    `chat_ctx.items` is changed in place, in the moment in which the summary is there, and not at
    all if anything is wrong. Items that were added meanwhile stay.

    Args:
        chat_ctx: The context; or an agent, as its own is read-only: it is given the fold of that,
            and what was added to that meanwhile stays.
        llm: What writes the summary: a LiveKit `LLM`, or what `ChatContext.summarize` of chatfold
            takes; a list is tried in order. None is the model of the session's agent.
        session: Where that agent is, by default that of a given one; if its model holds the
            conversation itself (a realtime model), nothing is folded, and the reason is
            `server_managed`.
        keep_last_turns: Turns to keep, each from a user's message to the next; 2 by default. 0
            keeps none but open calls and the user messages of an unfinished turn.
        keep_tokens: Tokens that the recent part may have; it may be cut inside a turn.
        model: The model that an OpenAI or Anthropic client in `llm` is to use.
        agent_model: Name of the agent's model, by which tokens are counted; by default that of
            the session's agent.
        abandon: Open calls to give up: their ids, or a function of a `ToolCallRecord`.
        force: Whether to fold what gave no gain before.
        on_error: Whether a failure is raised (`raise`), or reported in the outcome (`report`).
        pin: Returns whether an item stays verbatim.
        counter: Counts tokens.
        summary_key: Secret by which this application's summaries are recognized and nobody else's.
        store: Where the originals are written before they leave the context.
        key: Names this conversation in the store.
        **options: See `SummaryOptions`.

    Returns:
        What happened, and why. Having too little to summarize is no error.

    Raises:
        TypeError: `chat_ctx` is no context that may be changed, or `llm` cannot answer.
        ValueError: An argument is out of range, or there is no model.
        SummaryError: The model failed, or its answer cannot stand as a summary.
        StaleHeadError: The items that the summary stands for changed while it was written.
        InvalidResultError: The new list would break LiveKit's rules.
    """
    agent = chat_ctx if isinstance(chat_ctx, Agent) else None
    whole = chat_ctx.chat_ctx.copy() if isinstance(chat_ctx, Agent) else chat_ctx
    items = _items_of(whole)
    before = list(items)
    check_ways(on_error)
    if session is not None:
        check_session(session)
    Settings().updated(options, summarize)  # else a context tells of its own
    if session is None and agent is not None:
        with suppress(RuntimeError):  # the agent is not running
            session = cast(AgentSession[Any], agent.session)  # pyright: ignore[reportUnknownMemberType]
    own = None if session is None else model_of(session, agent)
    held = holds_history(own)
    context: ChatContext[livekit_llm.ChatItem] = ChatContext(
        items,
        shape=LIVEKIT,
        model=agent_model or name_of(own),
        server_managed=held,
        pin=pin,
        counter=counter,
        summary_key=summary_key,
        store=store,
        key=key,
        **options,
    )
    timeout, retries = options.get("timeout", 60.0), options.get("retries", 1)
    writer = "extractive" if held and llm is None else summarizer(llm, own, timeout, retries)
    try:
        outcome = await context.asummarize(
            writer,
            keep_last_turns=keep_last_turns,
            keep_tokens=keep_tokens,
            model=model,
            abandon=abandon,
            force=force,
        )
        if outcome.changed:
            with _paid(outcome):
                if agent is not None:
                    await publish(agent, before, outcome, items)
                elif whole.items is not items:
                    raise StaleHeadError(
                        "the context was given another list of items while the summary was "
                        "written; that one is as it was"
                    )
    except ChatfoldError as failure:
        if on_error == "raise":
            raise
        return _failed(failure, context.count_tokens().value, key)
    if outcome.reason == "server_managed":
        return replace(outcome, remedy=HELD)  # a context's own has options that are not here
    return outcome


@contextmanager
def _paid(outcome: Outcome[Any]) -> Generator[None]:
    """Have an error tell what was spent on the summary that it makes useless."""
    try:
        yield
    except ChatfoldError as error:
        error.usage, error.llm_calls = outcome.usage, outcome.llm_calls
        raise


def _failed(error: ChatfoldError, tokens: int, key: str | None) -> Outcome[Any]:
    """Return the outcome of a fold that an error stopped; what it cost is in it."""
    return Outcome(
        changed=False,
        reason="stale" if isinstance(error, StaleHeadError) else "failed",
        tokens_before=tokens,
        tokens_after=tokens,
        usage=error.usage,
        llm_calls=error.llm_calls,
        error=error,
        key=key,
    )


def _items_of(chat_ctx: Any) -> list[livekit_llm.ChatItem]:
    """Return the list of a context that may be changed.

    Raises:
        TypeError: It may not, or it is no context.
    """
    if not isinstance(chat_ctx, livekit_llm.ChatContext):
        raise TypeError(
            f"chat_ctx must be a livekit.agents.llm.ChatContext, not {type(chat_ctx).__name__}"
        )
    if chat_ctx.readonly:
        raise TypeError(
            "this context is read-only; pass the agent itself, which is given the fold, or "
            "agent.chat_ctx.copy()"
        )
    return chat_ctx.items
