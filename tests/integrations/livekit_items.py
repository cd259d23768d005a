"""Neutral events as LiveKit's `ChatItem`s, and what the battery reads of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from integrations.transcripts import Called, Event, Handed, Result, Said, Thought
from livekit.agents.llm import (
    AgentHandoff,
    ChatContext,
    ChatMessage,
    FunctionCall,
    FunctionCallOutput,
    ImageContent,
)

__all__ = ["native", "payload"]

_START = 1_790_000_000.0


def native(events: Sequence[Event], start: float = _START) -> list[Any]:
    """Return the items, a second apart; thoughts have none.

    Args:
        events: What was said and done.
        start: Seconds since 1970 of the first.
    """
    made: list[Any] = []
    for second, event in enumerate(events):
        at = start + second
        match event:
            case Said(role, text, image):
                content: list[Any] = [text] if text else []
                content += [ImageContent(image=image)] if image is not None else []
                made.append(ChatMessage(role=role, content=content, created_at=at))  # type: ignore[arg-type]  # one of its roles
            case Called(calls, text):
                if text:
                    made.append(ChatMessage(role="assistant", content=[text], created_at=at))
                group = f"group_{second}" if len(calls) > 1 else None
                for n, use in enumerate(calls):
                    made.append(
                        FunctionCall(
                            call_id=use.id,
                            name=use.name,
                            arguments=use.raw,
                            group_id=group,
                            created_at=at + (n + 1) * 1e-3,
                        )
                    )
            case Result(id_, name, output, failed):
                made.append(
                    FunctionCallOutput(
                        call_id=id_, name=name, output=output, is_error=failed, created_at=at
                    )
                )
            case Handed(old, new):
                made.append(AgentHandoff(old_agent_id=old, new_agent_id=new, created_at=at))
            case Thought():
                pass
    return made


def payload(items: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the Chat Completions messages that LiveKit makes of the items."""
    messages, _ = ChatContext(list(items)).to_provider_format("openai")
    return messages


def calls(items: Sequence[Any]) -> list[tuple[str, str]]:
    """Return each call and each result in the list, with its id."""
    kinds = {"function_call": "call", "function_call_output": "result"}
    return [(kinds[item.type], item.call_id) for item in items if item.type in kinds]


def text(item: Any) -> str:
    """Return all that an item holds, as JSON."""
    return item.model_dump_json()
