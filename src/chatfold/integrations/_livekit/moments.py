"""In which moments the context of a session's agent may be changed; part of `livekit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from livekit.agents import AgentSession

__all__ = ["is_quiet", "tool_runs"]


def is_quiet(session: AgentSession[Any], activity: Any) -> bool:
    """Return whether nobody speaks or is about to, and nothing that runs has a copy of the list.

    LiveKit says in public whether somebody speaks or thinks. What else counts is private, and taken
    as absent where a version has no such field: replies that wait, tools that run for one, and a
    preemptive reply.
    """
    if session.agent_state not in ("listening", "idle") or session.user_state == "speaking":
        return False
    return session.current_speech is None and not (
        getattr(activity, "_speech_q", None)
        or getattr(activity, "_background_speeches", None)
        or getattr(activity, "_preemptive_generation", None)
    )


def tool_runs(session: AgentSession[Any]) -> bool:
    """Return whether a tool runs for a reply of the current agent's."""
    activity = getattr(session, "_activity", None)
    return bool(getattr(activity, "_background_speeches", None))
