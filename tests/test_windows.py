"""The table of windows: which names it knows, and that it guesses none."""

from __future__ import annotations

import pytest
from anthropic import Anthropic
from hypothesis import given
from hypothesis import strategies as st
from openai import OpenAI

from chatfold.core.flow import CAP
from chatfold.core.room import Window
from chatfold.summarizers import resolve
from chatfold.tokens.windows import window_for, windows_for


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("gpt-6-astra", 922_000),
        ("gpt-5.6-sol", 922_000),
        ("gpt-5.4", 922_000),
        ("gpt-5.4-mini", 272_000),
        ("gpt-5", 272_000),
        ("gpt-5-mini", 272_000),
        ("gpt-5-mini-2025-08-07", 272_000),
        ("openai/gpt-5.1", 272_000),
        ("gpt-5-chat-latest", 128_000),
        ("gpt-4.1-nano", 1_047_576),
        ("gpt-4o", 128_000),
        ("gpt-4o-2024-08-06", 128_000),
        ("gpt-4", 8_192),
        ("o3", 200_000),
        ("claude-opus-4-6", 1_000_000),
        ("claude-sonnet-5", 1_000_000),
        ("claude-sonnet-5-5", 1_000_000),
        ("claude-haiku-5-5", 1_000_000),
        ("claude-fable-5-1", 1_000_000),
        ("claude-haiku-4-5-20251001", 200_000),
        ("claude-sonnet-4-5", 200_000),
        ("claude-sonnet-4-20250514", 200_000),
        ("claude-3-5-sonnet-latest", 200_000),
        ("claude-3-haiku@20240307", 200_000),
        ("anthropic/claude-opus-4-5", 200_000),
        ("gemini-2.5-flash-lite", 1_048_576),
        ("models/gemini-2.5-pro", 1_048_576),
        ("gemini-2.0-flash-001", 1_048_576),
        ("gemini-2.5-flash-preview-09-2025", 1_048_576),
        ("gemini-3-flash-preview", 1_048_576),
        ("gemini-2.0-flash-lite-001", 1_048_576),
        ("ft:gpt-4o-2024-08-06:acme::abc123", 128_000),
        ("openai/ft:gpt-3.5-turbo-0125:acme:support:abc123", 16_385),
        ("anthropic/claude-sonnet-4.5", 200_000),
        ("anthropic/claude-opus-4.6", 1_000_000),
    ],
)
def test_models_that_their_maker_serves_are_known(model: str, tokens: int) -> None:
    assert window_for(model) == tokens
    assert window_for(model.upper()) == tokens


@pytest.mark.parametrize(
    "model",
    [
        *(None, "", "small", "gpt", "gpt-5.9", "gpt-7", "claude", "claude-haiku-6", "gemini-9-pro"),
        *("llama3.1:8b", "qwen2.5-coder", "gpt-oss-20b", "ollama/gpt-4o", "my-gpt-4o", "gpt-4o-x"),
        *(
            "gemini-2.5-flash-image",
            "gemini-2.5-flash-preview-tts",
            "gemini-3-image",
            "ft:gpt-9:a::b",
        ),
        *("ft:gpt-4.1-mini-2025-04-14:o::i", "gemini-2.5-flash-lite-image"),
        *("mistral-large-latest", "claude-sonnet-4-99", "gpt-5" * 1000, "-latest" * 10_000),
    ],
)
def test_what_is_not_known_is_not_guessed(model: str | None) -> None:
    """What an open model takes is set by whoever serves it; a new one may be smaller."""
    assert window_for(model) is None


@given(model=st.text(max_size=80))
def test_any_name_may_be_asked_for(model: str) -> None:
    tokens = window_for(model)
    assert tokens is None or tokens >= 8_192


def test_the_windows_of_a_chain_are_those_of_its_models() -> None:
    """With Anthropic, each request sets a cap aside."""
    chain = resolve(
        [
            OpenAI(api_key="k"),
            Anthropic(api_key="k"),
            "extractive",
            lambda prompt: "text",
        ],
        model="claude-haiku-4-5",
        asynchronous=False,
    )
    assert windows_for(chain) == [
        Window(200_000),
        Window(200_000, CAP),
        Window(),
        Window(),
    ]
    assert windows_for([object()]) == [Window()]
