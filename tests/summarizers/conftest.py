"""What the tests of the summarizers share: the local server, and something to summarize."""

from __future__ import annotations

import pytest
from fake_server import llm_server

from chatfold.core.render import Prompt

__all__ = ["SECRET", "llm_server", "prompt"]

SECRET = "the vault opens with turquoise walrus 77"


@pytest.fixture
def prompt() -> Prompt:
    """A prompt whose conversation holds a phrase that must not turn up in errors."""
    return Prompt(
        system="Summarize the conversation.",
        user=f"<conversation>\n<user>{SECRET}</user>\n</conversation>",
        views=(),
        previous_summary=None,
        max_tokens=300,
    )
