"""Cache markers that a host moves at each turn: folds are put in, and found again, all the same."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any

import pytest

from chatfold import ChatContext, Middleware, Policy
from chatfold.core.render import Prompt

LONG = "GET /health 200 ok " * 60
MARKER = {"cache_control": {"type": "ephemeral"}}
POINT = {"prompt_cache_breakpoint": {"mode": "explicit"}}
SUMMARY = "The user asked what broke on which day."


def users(items: list[Any]) -> list[dict[str, Any]]:
    """Return the messages that a host marks; a summary is not its own."""
    return [i for i in items if i["role"] == "user" and "<chat_history_summary" not in str(i)]


def marked(items: list[Any]) -> list[dict[str, Any]]:
    """Return the last two of these messages, and the fourth last, which is folded soon."""
    return [*users(items)[-4:-3], *users(items)[-2:]]


def text_or_block(items: list[Any], kind: str = "text", marker: Any = MARKER) -> None:
    """Mark three messages, which are texts as long as they have no marker."""
    for message in users(items):
        if isinstance(message["content"], list):
            message["content"] = message["content"][0]["text"]
    for message in marked(items):
        message["content"] = [{"type": kind, "text": message["content"], **marker}]


def field_of_block(items: list[Any], kind: str = "text", marker: Any = MARKER) -> None:
    """Mark three messages, which are always blocks."""
    for message in users(items):
        if isinstance(message["content"], str):
            message["content"] = [{"type": kind, "text": message["content"]}]
        for key in marker:
            message["content"][0].pop(key, None)
    for message in marked(items):
        message["content"][0].update(marker)


def in_extras(items: list[Any]) -> None:
    """Mark three messages in a field that stays, and holds nothing without its marker."""
    for message in users(items):
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"], "extras": {}}]
        message["content"][0]["extras"].clear()
    for message in marked(items):
        message["content"][0]["extras"].update(MARKER)


def block_of_its_own(items: list[Any]) -> None:
    """Mark three messages as Bedrock has it."""
    for message in users(items):
        text = message["content"] if isinstance(message["content"], str) else ""
        text = text or message["content"][0]["text"]
        message["content"] = [{"text": text}]
    for message in marked(items):
        message["content"].append({"cachePoint": {"type": "default"}})


def unmarked(items: list[Any]) -> None:
    """Mark nothing."""


MARKING = [
    ("anthropic", text_or_block),
    ("anthropic", field_of_block),
    ("openai_chat", text_or_block),
    ("openai_chat", partial(text_or_block, marker=POINT)),
    ("openai_chat", partial(field_of_block, marker=POINT)),
    ("openai_chat", in_extras),
    ("openai_responses", partial(text_or_block, kind="input_text", marker=POINT)),
    ("openai_responses", partial(field_of_block, kind="input_text", marker=POINT)),
    ("bedrock", block_of_its_own),
]
POLICY = Policy(max_tokens=2_500, keep_tokens=600)


class Teller:
    """Counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, prompt: Prompt) -> str:
        self.calls += 1
        return SUMMARY


def said(role: str, text: str, shape: str) -> dict[str, Any]:
    return {"role": role, "content": [{"text": text}] if shape == "bedrock" else text}


def by_middleware(shape: str, mark: Any, hand: Any) -> tuple[int, list[str], int]:
    """Return the calls of the model, the reasons, and how many items are shown at the end."""
    teller, reasons = Teller(), list[str]()
    middleware = Middleware(teller, POLICY, shape=shape)
    host: list[dict[str, Any]] = []
    for day in range(30):
        host.append(said("user", f"What broke on day {day}?", shape))
        mark(host)
        folded = middleware.fold(hand(host))
        reasons.append(folded.outcome.reason)
        host.append(said("assistant", LONG, shape))
    return teller.calls, reasons, len(folded.items)


@pytest.mark.parametrize("hand", [list, deepcopy])
@pytest.mark.parametrize(("shape", "mark"), MARKING)
def test_middleware_finds_its_folds_again(shape: str, mark: Any, hand: Any) -> None:
    """It asks the model as often as without markers, and shows as little."""
    found = by_middleware(shape, mark, hand)
    assert found == by_middleware(shape, unmarked, hand)
    calls, reasons, shown = found
    assert calls == reasons.count("summarized") > 2
    assert reasons.count("reused") > 10
    assert shown < 15


def test_a_field_that_holds_a_marker_alone_is_as_one_that_is_not_there() -> None:
    """Whatever a host calls it."""

    def mark(items: list[Any]) -> None:
        for message in users(items):
            message.pop("metadata", None)
        for message in marked(items):
            message["metadata"] = dict(MARKER)

    copies = by_middleware("openai_chat", mark, deepcopy)
    assert copies == by_middleware("openai_chat", unmarked, deepcopy)


@pytest.mark.parametrize(("shape", "mark"), MARKING)
def test_a_fold_in_the_background_is_not_stale(shape: str, mark: Any) -> None:
    """The owner marks its own list in place while the summary is written."""
    teller, reasons = Teller(), list[str]()
    host: list[dict[str, Any]] = []
    context = ChatContext(host, shape=shape, policy=POLICY)
    for day in range(30):
        host.append(said("user", f"What broke on day {day}?", shape))
        mark(host)
        reasons.append(context.maybe_summarize(teller, background=True).reason)
        if context.background is not None:
            assert context.background.wait(60.0)
        host.append(said("assistant", LONG, shape))
    assert "stale" not in reasons
    assert teller.calls == reasons.count("started") > 2
    assert reasons.count("summarized") >= teller.calls - 1
    assert len(host) < 20


@pytest.mark.parametrize("marker", [MARKER, POINT])
@pytest.mark.parametrize(
    ("shape", "kind"), [("openai_chat", "text"), ("openai_responses", "input_text")]
)
def test_a_marker_is_no_words_of_a_block_without_a_text(shape: str, kind: str, marker: Any) -> None:
    """Such a block is shown as what it holds in place of a text."""
    bare, marked = ([{"role": "user", "content": [{"type": kind, **m}]}] for m in ({}, marker))
    assert ChatContext(marked, shape=shape).views() == ChatContext(bare, shape=shape).views()
