"""What of a fold stands in a thread's state: the fold itself, or messages in place of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NotRequired

from langchain.agents.middleware.types import AgentState, PrivateStateAttr
from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.graph.message import (  # pyright: ignore[reportMissingTypeStubs]  # it has types
    REMOVE_ALL_MESSAGES,
)

from chatfold.core.native import field
from chatfold.core.summary import summary_id
from chatfold.integrations._langchain.shape import SOURCE
from chatfold.regions import Region, region_of

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

__all__ = [
    "FOLD",
    "FoldState",
    "held",
    "is_part",
    "part_of",
    "replaced",
    "shown",
    "stored",
    "thread_of",
]

FOLD: Final[Literal["chatfold_fold"]] = "chatfold_fold"


class FoldState(AgentState[Any]):
    """The state of a thread, with what is folded of its messages.

    Private: it stands in checkpoints alone, neither in what an agent takes nor in what it returns.
    """

    chatfold_fold: NotRequired[Annotated[list[Any] | None, PrivateStateAttr]]


def stored(region: Region | None) -> list[Any] | None:
    """Return what is folded, as checkpoints take it."""
    if region is None:
        return None
    return [region.digest, region.length, list(region.kept), region.summary]


def held(state: Any) -> Region | None:
    """Return what is folded of the messages in a state, None where nothing is."""
    return region_of(field(state, FOLD))


def thread_of(config: RunnableConfig) -> str | None:
    """Return the name of the conversation of a run, None where it has no thread."""
    thread = (config.get("configurable") or {}).get("thread_id")
    return None if thread in (None, "") else str(thread) + part_of(config)


def part_of(config: RunnableConfig) -> str:
    """Return what the name of a conversation has behind that of its thread, "" for most.

    An agent that is a subgraph of another has a conversation of its own in the same thread. The
    ids of tasks in its namespace are new in each run.
    """
    return "".join(f"/{space.partition(':')[0]}" for space in _around(config))


def is_part(config: RunnableConfig) -> bool:
    """Return whether a run is that of a graph inside of another one."""
    return bool(_around(config))


def _around(config: RunnableConfig) -> list[str]:
    """Return the tasks of other graphs in which a run is, each with its id, outermost first."""
    known = config.get("configurable") or {}
    return str(known.get("checkpoint_ns") or "").split("|")[:-1]


def shown(messages: Sequence[BaseMessage], folded: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages that go to the model from a node, with an id on the summary.

    It is that of a message that the summary stands for: streams of messages know it, and do not
    show it to the user as a new one.
    """
    at, gone = _difference(messages, folded)
    if at is None or not gone:
        return list(folded)
    return [*folded[:at], _named(folded[at], gone[0]), *folded[at + 1 :]]


def replaced(
    messages: Sequence[BaseMessage], folded: Sequence[BaseMessage]
) -> list[BaseMessage] | None:
    """Return the update of a thread's messages that folds them; None where there is nothing to do.

    The summary takes the place and the id of the first message that it stands for, and the others
    are removed by their ids, so that what is added meanwhile stays, and streams of messages show
    nothing. A message that stays without a part of it, such as its thinking, keeps its id. Where
    one before them stays behind the summary, all are written anew.
    """
    at, gone = _difference(messages, folded)
    if at is None or not gone:
        return None
    wanted = [*folded[:at], _named(folded[at], gone[0]), *folded[at + 1 :]]
    ids = [message.id for message in messages]
    if None not in ids and len(set(ids)) == len(ids):
        known, stay = {id(m) for m in messages}, {m.id: m for m in wanted}
        if [id_ for id_ in ids if id_ in stay] == [m.id for m in wanted]:
            removed = [RemoveMessage(id=str(id_)) for id_ in ids if id_ not in stay]
            return [*(m for m in wanted if id(m) not in known), *removed]
    return [RemoveMessage(id=REMOVE_ALL_MESSAGES), *wanted]


def _difference(
    messages: Sequence[BaseMessage], folded: Sequence[BaseMessage]
) -> tuple[int | None, list[BaseMessage]]:
    """Return where the new summary stands among the folded, and the messages that are gone.

    Not gone are those that stay without a part of them: a copy of each, with its id.
    """
    before, after = {id(m) for m in messages}, {id(m) for m in folded}
    made = [(i, m) for i, m in enumerate(folded) if id(m) not in before]
    at = next((i for i, m in made if m.additional_kwargs.get("lc_source") == SOURCE), None)
    copies = {m.id for i, m in made if i != at and m.id is not None}
    return at, [m for m in messages if id(m) not in after and m.id not in copies]


def _named(summary: BaseMessage, instead: BaseMessage) -> BaseMessage:
    """Return the summary with the id of a message; without one, it names itself."""
    text = summary.content if isinstance(summary.content, str) else ""
    return summary.model_copy(update={"id": instead.id or f"chatfold-{summary_id(text)}"})
