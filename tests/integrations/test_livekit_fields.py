"""What is read of LiveKit's items when they are compared, counted or stored."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("livekit.agents", reason="livekit-agents is not installed")

from livekit import rtc
from livekit.agents.llm import AgentHandoff, AudioContent, ChatMessage, ImageContent

from chatfold.core.digest import fingerprints
from chatfold.core.native import plain
from chatfold.integrations.livekit import LIVEKIT


def test_an_item_is_told_with_the_fields_that_it_makes_itself() -> None:
    """Else its type, id and time would be lost in a store."""
    message = ChatMessage(role="user", content=["hi"])
    said = plain(message)
    assert (said["type"], said["id"], said["content"]) == ("message", message.id, ["hi"])
    assert said["created_at"] == message.created_at
    handoff = AgentHandoff(new_agent_id="returns")
    assert plain(handoff)["type"] == "agent_handoff"
    assert LIVEKIT.restored(said) == message


def test_frames_are_not_read_when_an_item_is_looked_at() -> None:
    """Megabytes at each turn would hold up whoever listens; a link is text, and stays."""
    frame = rtc.VideoFrame(2, 2, rtc.VideoBufferType.RGBA, bytes(16))
    sound = rtc.AudioFrame(bytes(4), 16_000, 1, 2)
    parts: list[Any] = [
        ImageContent(image=frame),
        ImageContent(image="https://shop/a.png"),
        AudioContent(frame=[sound]),
    ]
    said = plain(ChatMessage(role="user", content=parts))["content"]
    assert "image" not in said[0]
    assert said[1]["image"] == "https://shop/a.png"
    assert "frame" not in said[2]
    one, other = (
        ChatMessage(id="m", role="user", content=[ImageContent(image=frame)]) for _ in "ab"
    )
    assert fingerprints([one]) != fingerprints([other]), "each medium has an id of its own"
