"""What is of a type that it cannot be is said when a context or a middleware is made."""

from __future__ import annotations

from typing import Any

import pytest

from chatfold import ChatContext, EmptySummaryError, Middleware, Policy
from chatfold.stores import MemoryStore

WRONG: list[tuple[str, Any, str]] = [
    ("counter", "gpt-5", r"object with count\(text\), not 'gpt-5'; the name of a model is model="),
    ("pin", [0], "pin must be a function of an item"),
    ("policy", {}, "policy must be a Policy"),
    ("summary_key", "secret", "summary_key must be bytes, not str"),
    ("on_event", "log", "on_event must be a function"),
    ("redact", "mail", "redact must be a function"),
    ("post_process", 1, "post_process must be a function"),
    ("timeout", "60", "timeout must be a number"),
    ("retries", "1", "retries must be a whole number, not '1'"),
    ("max_summary_tokens", "9", "max_summary_tokens must be a whole number, or None, not '9'"),
    ("ledger_tokens", "200", "ledger_tokens must be a whole number, or None, not '200'"),
    ("min_gain", None, "min_gain must be a number, not None"),
    ("effects", None, "effects must be a mapping of tools to 'read' or 'write', not None"),
    ("standing_words", "immer", r"standing_words must be a Words, such as Words\(orders="),
    ("standing_words", ["immer", "nie"], r"or a list of them, not \['immer', 'nie'\]"),
    ("standing_words", None, "standing_words must be a Words"),
    ("language", 5, "language must be text"),
    ("instructions", ["a"], "instructions must be text"),
]


@pytest.mark.parametrize(("name", "value", "said"), WRONG)
def test_a_value_of_a_wrong_type_is_refused_at_once(name: str, value: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        ChatContext([], **{name: value})
    with pytest.raises(TypeError, match=said):
        Middleware("extractive", **{name: value})


@pytest.mark.parametrize(("key", "error"), [(17, TypeError), ("", ValueError)])
def test_a_key_that_no_store_takes_is_refused_at_once(key: Any, error: type[Exception]) -> None:
    """Else each turn would pay for a summary that cannot be written."""
    with pytest.raises(error, match="a key must"):
        ChatContext([], store=MemoryStore(), key=key)


def test_a_function_cannot_send_the_live_request() -> None:
    """A middleware says so when it is made, a context at its first turn."""
    with pytest.raises(ValueError, match="so it needs an OpenAI or Anthropic client"):
        Middleware(lambda prompt: "short", mode="append", request={"model": "gpt-5"})
    ctx = ChatContext([{"role": "user", "content": "Hi"}], mode="append", request={"model": "m"})
    with pytest.raises(ValueError, match="so it needs an OpenAI or Anthropic client"):
        ctx.maybe_summarize(lambda prompt: "short")


def test_a_secret_key_of_a_wrong_type_is_not_shown() -> None:
    with pytest.raises(TypeError) as caught:
        ChatContext([], summary_key="hunter2")  # type: ignore[arg-type]
    assert "hunter2" not in str(caught.value)


def test_a_summarizer_that_returns_none_has_written_nothing() -> None:
    """It is what `message.content` is where a model refused, or called a tool."""
    items = [{"role": role, "content": f"{role} " * 200} for role in ("user", "assistant") * 3]
    before = list(items)
    ctx = ChatContext(items, policy=Policy(max_tokens=300, keep_tokens=50))
    outcome = ctx.maybe_summarize(lambda prompt: None)  # type: ignore[arg-type,return-value]
    assert outcome.reason == "failed"
    assert isinstance(outcome.error, EmptySummaryError)
    with pytest.raises(EmptySummaryError):
        ctx.summarize(lambda prompt: None)  # type: ignore[arg-type,return-value]
    assert items == before
