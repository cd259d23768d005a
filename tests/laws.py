"""What the tests of the laws share: limits to fold with, four ways to fold, what items say.

Belongs here: what more than one `test_laws_*.py` uses. The tests themselves are in those files.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final
from xml.etree import ElementTree

from hypothesis import settings
from hypothesis import strategies as st
from strategies import History
from validator import normalise

from chatfold import ChatContext, Completion, Outcome, Prompt
from chatfold.core.xml import decode

__all__ = [
    "LIMITS",
    "WAYS",
    "Asked",
    "Weightless",
    "context",
    "element",
    "fewer",
    "fold",
    "limits",
    "parted",
    "plainly",
    "positions",
    "said",
    "same_objects",
    "sendable",
    "short",
    "shown",
    "step",
    "talk",
    "ways",
]

Llm = Callable[[Prompt], str | Completion]
Limits = dict[str, Any]

LIMITS: Final[tuple[Limits, ...]] = (
    *({"keep_last_turns": count} for count in range(7)),
    *({"keep_tokens": size} for size in (0, 1, 10, 40, 150, 600, 4000)),
    {"keep_last_turns": 2, "keep_tokens": 60},
)
limits = st.sampled_from(LIMITS)
# One of chatfold's own making: Hypothesis draws texts that merely begin like one.
_SUMMARY = re.compile(r'.{,20}<chat_history_summary digest="[0-9a-f]{16,}">', re.DOTALL)
fewer = settings(max_examples=settings().max_examples // 3)  # where the history matters little


class Weightless:
    """A counter for which a summary weighs nothing, so that every fold gains."""

    exact = False

    def count(self, text: str) -> int:
        return 0 if _SUMMARY.match(text) else len(text) + 1


def context(history: History, items: list[Any] | None = None, **options: Any) -> ChatContext[Any]:
    """Return a context over a new list of the history's own items, or over `items`.

    Summaries that are drawn say what no history does; only `test_laws_grounding` has them proven.
    """
    given = {"shape": history.shape, "counter": Weightless(), "grounding": "report"}
    options = {**given, **options}
    return ChatContext(list(history.items) if items is None else items, **options)


def short(prompt: Prompt) -> str:
    """Summarize in few words."""
    return "what happened before"


def _summarize(ctx: ChatContext[Any], llm: Llm, **wishes: Any) -> Outcome[Any]:
    return ctx.summarize(llm, timeout=None, **wishes)


def _asummarize(ctx: ChatContext[Any], llm: Llm, **wishes: Any) -> Outcome[Any]:
    async def awaited(prompt: Prompt) -> str | Completion:
        return llm(prompt)

    return asyncio.run(ctx.asummarize(awaited, timeout=None, **wishes))


def _flow(ctx: ChatContext[Any], llm: Llm, **wishes: Any) -> Outcome[Any]:
    flow = ctx.flow(**wishes)
    while flow.prompt is not None:
        flow.send(llm(flow.prompt))
    assert flow.outcome is not None
    return flow.outcome


def _apply(ctx: ChatContext[Any], llm: Llm, **wishes: Any) -> Outcome[Any]:
    plan = ctx.plan(**wishes)
    return ctx.apply(plan, llm(plan.prompt)) if plan.prompt else _flow(ctx, llm, **wishes)


WAYS: Final[dict[str, Callable[..., Outcome[Any]]]] = {
    "summarize": _summarize,
    "asummarize": _asummarize,
    "flow": _flow,
    "apply": _apply,
}
ways = st.sampled_from(sorted(WAYS))


def fold(
    ctx: ChatContext[Any], llm: Llm = short, *, way: str = "summarize", **wishes: Any
) -> Outcome[Any]:
    """Fold by one of the ways that users have; `wishes` are limits and options."""
    return WAYS[way](ctx, llm, **wishes)


def talk(turns: int = 3) -> list[Any]:
    """Return plain messages of so many turns, each worth folding, that fit every shape."""
    words = "a long answer that is worth folding away, with many words in it. " * 40
    roles = ("user", "assistant")
    return [{"role": role, "content": f"{n} {words}"} for n in range(turns) for role in roles]


def plainly(shape: str, items: Iterable[Any]) -> list[Any]:
    """Return plain messages as a shape writes them; most shapes take them as they are."""
    if shape == "gemini":
        roles = {"assistant": "model"}
        return [
            {"role": roles.get(i["role"], i["role"]), "parts": [{"text": i["content"]}]}
            for i in items
        ]
    if shape == "bedrock":
        return [{"role": i["role"], "content": [{"text": i["content"]}]} for i in items]
    return list(items)


def parted(items: Iterable[Any], outcome: Outcome[Any]) -> list[Any]:
    """Return the items with those that were merged into the summary item, behind it."""
    made: list[Any] = []
    for item in items:
        made += [item, *outcome.merged] if item is outcome.item else [item]
    return made


def said(items: Iterable[Any]) -> list[Any]:
    """Return what the items say, as new plain values that later edits do not reach."""
    return [normalise(item) for item in items]


def sendable(text: str) -> str:
    """Return what a summary says of a model's text: no request can hold a lone surrogate."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def same_objects(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return whether both hold the same objects in the same order."""
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))


def positions(items: Sequence[Any], among: Sequence[Any]) -> list[int]:
    """Return where each of `items` stands in `among`, by identity.

    An object that stands in `among` more than once has its places taken in order.
    """
    places: dict[int, list[int]] = {}
    for index, item in enumerate(among):
        places.setdefault(id(item), []).append(index)
    return [places[id(item)].pop(0) for item in items]


def step(shape: str, id_: str | None, count: int, outputs: Sequence[str]) -> list[Any]:
    """Return a step of `count` calls of one tool under one id, and the results of the first."""
    key: dict[str, Any] = {} if id_ is None else {"id": id_}
    if shape == "openai_chat":
        function = {"name": "read", "arguments": "{}"}
        calls = [{**key, "type": "function", "function": function} for _ in range(count)]
        to = {} if id_ is None else {"tool_call_id": id_}
        results: list[Any] = [{"role": "tool", **to, "content": text} for text in outputs]
        return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]
    if shape == "ollama":
        calls = [{**key, "function": {"name": "read", "arguments": {}}} for _ in range(count)]
        to = {"tool_name": "read"} if id_ is None else {"tool_name": "read", "tool_call_id": id_}
        results = [{"role": "tool", **to, "content": text} for text in outputs]
        return [{"role": "assistant", "content": "", "tool_calls": calls}, *results]
    if shape == "mistral":
        called = step("openai_chat", id_, count, [])[0]
        to = {"name": "read"} if id_ is None else {"name": "read", "tool_call_id": id_}
        results = [{"role": "tool", **to, "content": text} for text in outputs]
        return [{**called, "prefix": False}, *results]
    if shape == "anthropic":
        uses = [{"type": "tool_use", **key, "name": "read", "input": {}} for _ in range(count)]
        to = {} if id_ is None else {"tool_use_id": id_}
        blocks = [{"type": "tool_result", **to, "content": text} for text in outputs]
        answer = [{"role": "user", "content": blocks}] if blocks else []
        return [{"role": "assistant", "content": uses}, *answer]
    if shape == "gemini":
        made = {"function_call": {**key, "name": "read", "args": {}}}
        given = [
            {"function_response": {**key, "name": "read", "response": {"result": text}}}
            for text in outputs
        ]
        answer = [{"role": "user", "parts": given}] if given else []
        return [{"role": "model", "parts": [dict(made) for _ in range(count)]}, *answer]
    if shape == "bedrock":
        to = {} if id_ is None else {"toolUseId": id_}
        uses = [{"toolUse": {**to, "name": "read", "input": {}}} for _ in range(count)]
        told = [{"toolResult": {**to, "content": [{"text": text}]}} for text in outputs]
        answer = [{"role": "user", "content": told}] if told else []
        return [{"role": "assistant", "content": uses}, *answer]
    to = {} if id_ is None else {"call_id": id_}
    call = {"type": "function_call", **to, "name": "read", "arguments": "{}"}
    return [
        *(dict(call) for _ in range(count)),
        *({"type": "function_call_output", **to, "output": text} for text in outputs),
    ]


class Asked:
    """A summarizer that keeps its prompts."""

    def __init__(self, answer: str | Completion = "short") -> None:
        self.answer = answer
        self.prompts: list[Prompt] = []

    def __call__(self, prompt: Prompt) -> str | Completion:
        self.prompts.append(prompt)
        return self.answer


def element(prompt: Prompt) -> ElementTree.Element:
    """Return the prompt's conversation as an XML parser reads it."""
    start, end = "<conversation>", "</conversation>"
    xml = prompt.user[prompt.user.index(start) : prompt.user.rindex(end) + len(end)]
    return ElementTree.fromstring(xml)


def shown(prompt: Prompt) -> str:
    """Return every text and attribute of a prompt's conversation, decoded."""
    found: list[str] = []
    for node in element(prompt).iter():
        found += [decode(value) for value in node.attrib.values()]
        found.append(decode("".join(node.itertext())))
    return "\n".join(found)
