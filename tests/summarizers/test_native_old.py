"""Native compaction with SDKs that are supported otherwise, and cannot compact."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from anthropic import Anthropic
from openai import OpenAI

from chatfold.errors import MissingExtraError
from chatfold.summarizers.native_anthropic import AnthropicCompaction
from chatfold.summarizers.native_openai import OpenAICompaction


def test_a_client_of_an_older_openai_is_refused_with_what_to_install() -> None:
    client: Any = OpenAI(api_key="k")
    if hasattr(client.responses, "compact"):
        pytest.skip("the installed openai can compact")
    with pytest.raises(MissingExtraError, match=r'pip install "openai>=2.9.0"'):
        OpenAICompaction(client, "gpt-5")


def test_a_client_of_an_older_anthropic_is_refused_with_what_to_install() -> None:
    client: Any = Anthropic(api_key="k")
    if "compaction" in inspect.signature(client.beta.messages.create).parameters:
        pytest.skip("the installed anthropic can compact")
    with pytest.raises(MissingExtraError, match=r'pip install "anthropic>=1.6.0"'):
        AnthropicCompaction(client, "claude-opus-5-5")
