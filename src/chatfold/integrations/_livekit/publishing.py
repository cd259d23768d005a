"""How a folded list becomes the context of an agent; part of `livekit`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from livekit.agents.llm import ChatContext as LiveKitContext

from chatfold.errors import StaleHeadError

if TYPE_CHECKING:
    from livekit.agents import Agent
    from livekit.agents.llm import ChatItem

    from chatfold.core.plan import Outcome

__all__ = ["publish"]


async def publish(
    agent: Agent, before: Sequence[ChatItem], outcome: Outcome[ChatItem], after: Sequence[ChatItem]
) -> None:
    """Give an agent the fold of what was its list, with what has changed in that since.

    What was added meanwhile stays, and what was taken out is not put back. For a model that is no
    realtime one, nothing is awaited. Calls of tools that the agent no longer has stay.

    Args:
        agent: The agent.
        before: Its items when the fold began.
        outcome: The fold.
        after: These items with the fold in them.

    Raises:
        StaleHeadError: What the summary stands for is not there any more, or was answered.
    """
    now = {item.id: item for item in agent.chat_ctx.items}
    known = {item.id for item in before}
    added = [item for item in agent.chat_ctx.items if item.id not in known]
    calls = {item.call_id for item in outcome.removed if item.type == "function_call"}
    calls -= {item.call_id for item in added if item.type == "function_call"}
    answered = {item.call_id for item in added if item.type == "function_call_output"}
    if calls & answered or any(now.get(item.id) != item for item in outcome.removed):
        raise StaleHeadError(
            "the agent's items that the summary stands for changed while it was written; its "
            "context is as it was"
        )
    here = [item for item in after if item is outcome.item or item.id in now]
    latest = [item if item is outcome.item else now[item.id] for item in here]
    # Behind all else, whenever they are said to be made: the summary stands first.
    folded = LiveKitContext([*latest, *added])
    await agent.update_chat_ctx(folded, exclude_invalid_function_calls=False)
