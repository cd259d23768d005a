"""What the suite has its users and agents say, by kinds of turns, and how it reads a request."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from integrations.host import Ability, Call, Conversation, Request, Step, Turn
from integrations.transcripts import PICTURE
from validator import validate

from chatfold import Policy
from chatfold.core.summary import TAG

__all__ = [
    "KINDS",
    "NEVER",
    "SMALL",
    "errors",
    "needs",
    "play",
    "results",
    "turns",
    "wrappers",
]

SMALL = Policy(max_tokens=2500, keep_tokens=900, min_gain=0.0)
NEVER = Policy(max_tokens=1_000_000)

KINDS: dict[str, Ability | None] = {
    "one call": None,
    "parallel calls": None,
    "failing calls": None,
    "several steps": None,
    "approval": "approval",
    "handoffs": "handoffs",
    "images": "images",
}
"""The kinds of turns, each with what it needs of a framework."""

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def needs(ability: Ability) -> Callable[[FunctionT], FunctionT]:
    """Mark a test as one for frameworks that can do this."""

    def marked(function: FunctionT) -> FunctionT:
        function.needs = ability  # type: ignore[attr-defined]  # read in test_conformance
        return function

    return marked


def turns(kind: str, count: int = 8) -> list[Turn]:
    """Return a script of one kind of turns, with marks in all that the user and the agent say."""
    return [Turn(f"Question mk{n:04d}: how is it?", tuple(_steps(kind, n))) for n in range(count)]


def _steps(kind: str, n: int) -> list[Step]:
    def call(name: str, part: int = 0) -> Call:
        return Call(f"call_{n}_{part}_{name}", name, f"LK-{1000 + 10 * n + part}")

    looked = Step(calls=(call("lookup"),))
    steps = {
        "parallel calls": [Step(calls=(call("courier"), call("lookup", 1), call("lookup", 2)))],
        "failing calls": [Step(calls=(call("fail"), call("lookup", 1)))],
        "several steps": [looked, Step("A moment.", (call("lookup", 1),))],
        "approval": [Step(calls=(call("lookup"), call("refund", 1)))],
        "handoffs": [looked],
    }.get(kind, [looked])
    if kind == "handoffs" and n == 2:
        steps = [Step(calls=(Call(f"call_{n}_handoff", "transfer_to_returns"),)), *steps]
    return [*steps, Step(f"Answer mk{500 + n:04d}.")]


def wrappers(request: Request) -> int:
    """Return the number of summaries in a request."""
    return request.text.count(f"<{TAG} ")


def errors(request: Request) -> Counter[str]:
    """Return what the provider would refuse."""
    found = validate(request.items, request.shape)
    return Counter(f"{v.rule}: {v.detail}" for v in found if not v.open)


def results(request: Request) -> set[str]:
    """Return the longer words of all tool results, in whatever words the framework tells them."""
    told = [
        json.dumps(item.get("output", item.get("content")), ensure_ascii=False)
        for item in request.items
        if item.get("role") == "tool" or str(item.get("type", "")).endswith("_call_output")
    ]
    return {word for text in told for word in re.findall(r"[\w-]{6,}", text)}


async def play(conversation: Conversation, script: Sequence[Turn], kind: str = "") -> list[str]:
    """Say what the script's user says, with a person's approval where it is needed."""
    answers: list[str] = []
    for turn in script:
        answer = await conversation.say(turn.said, image=PICTURE if kind == "images" else None)
        if kind == "approval":
            assert answer == "", "the call was not held back for approval"
            answer = await conversation.approve()
        await conversation.settled()
        answers.append(answer)
    return answers
