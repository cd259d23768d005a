"""A conversation that is over leaves none of its words in the process, whoever folded it."""

from __future__ import annotations

import ast
import asyncio
import json
import random
import re
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from string import ascii_lowercase
from typing import Any
from weakref import proxy

import pytest
from heap import held

from chatfold import ChatContext, Middleware, Policy, Prompt
from chatfold.errors import ChatfoldError
from chatfold.stores import MemoryStore

STORE: dict[str, tuple[str]] = {}
_LOOKS = 5  # at what is held, at least, before somebody is said to hold it for good
TOOLS = ("create_{}_order", "get_{}", "{}_shell", "update_{}", "fail_{}")


def unheard() -> str:
    """Return a word that nothing else in this process holds."""
    return "zq" + "".join(random.choices(ascii_lowercase, k=6))


def called(mark: str, number: int) -> list[dict[str, Any]]:
    """Return a call and its result, of a customer whose every word is marked."""
    name = TOOLS[number % len(TOOLS)].format(mark)
    arguments = {
        f"{mark}_id": f"{mark.upper()}-{70_000 + number}",
        "command": f"cat /srv/{mark}/{number}.txt",
        "customer": {"name": f"{mark.title()} Ina", f"{mark}_mail": f"{mark}{number}@example.com"},
    }
    results: tuple[Any, ...] = (
        {
            f"failed_{mark}": [f"{mark} {number}"],
            f"{mark}_total": f"{number}.90 EUR",
            "error": mark,
        },
        {f"{mark}{number}@example.com": {"status": "failed", f"{mark}_failed": number}},
        f"cat: /srv/{mark}/{number}.txt: {mark} not found\n{mark}: cannot open {mark}",
        {"updated": 0, f"{mark}_count": 0, "home": f"/home/{mark}/notes-{number}/{mark}.md"},
        f"Error: {mark} {number} was refused by {mark}.example.com, call 0170 555 {1000 + number}",
    )
    result = results[number % len(results)]
    function = {"name": name, "arguments": json.dumps(arguments)}
    id_ = f"call_{mark}_{number}"
    call = {"id": id_, "type": "function", "function": function}
    told = result if isinstance(result, str) else json.dumps(result)
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id_, "content": told},
    ]


def conversation(mark: str, turns: int = 8) -> list[dict[str, Any]]:
    """Return a conversation with a mark in every text, name, key, id and number plate."""
    items: list[dict[str, Any]] = [{"role": "system", "content": f"You serve {mark}."}]
    for n in range(turns):
        said = (
            f"I am {mark.title()}, {mark}{n}@example.com, of {n} {mark} lane, order {mark.upper()}-"
            f"{70_000 + n}, {n}.50 EUR, TP{mark} {n} 445 902. Never call {mark}{n} before 9:30. "
            f"Ruf {mark} nicht an. Llama solo a {mark}. My file is ~/notes-{n}/{mark}.md."
        )
        items += [{"role": "user", "content": said}, *called(mark, n)]
        items.append({"role": "assistant", "content": f"{mark} {n} is looked after, {n} times."})
    return items


def shown(prompt: Prompt) -> str:
    """Summarize with some of what was shown, and values that nothing proves."""
    words = re.sub("<[^>]+>", " ", prompt.user)
    found = re.search("zq[a-z]{6}", prompt.user)
    mark = found[0] if found is not None else ""
    unproven = f"{mark.upper()}-99182, TP{mark}445902118, ~/notes-2/{mark}.md, /srv/{mark}/x.txt"
    return f"{words[:1500]} {unproven} and {mark}9@example.org cost 123.45 EUR on 2026-03-04."


async def ashown(prompt: Prompt) -> str:
    await asyncio.sleep(0)
    return shown(prompt)


def failing(prompt: Prompt) -> str:
    raise RuntimeError(f"no answer to {prompt.user}")


def summarized(ctx: ChatContext[Any]) -> None:
    assert ctx.summarize(shown, keep_last_turns=3).changed
    ctx.items.extend(conversation(ctx.items[0]["content"].split()[-1].rstrip("."), 4)[1:])
    assert ctx.summarize(shown, keep_last_turns=1).changed  # with an earlier summary
    for read in (ctx.views, ctx.tool_calls, ctx.steps, ctx.check, ctx.count_tokens, ctx.repair):
        read()


def awaited(ctx: ChatContext[Any]) -> None:
    assert asyncio.run(ctx.asummarize(ashown, keep_last_turns=1)).changed


def by_the_host(ctx: ChatContext[Any]) -> None:
    flow = ctx.flow(keep_last_turns=1)
    while flow.prompt is not None:
        flow.send(shown(flow.prompt))
    assert ctx.undo().reason == "undone"


def failed(ctx: ChatContext[Any]) -> None:
    with pytest.raises(ChatfoldError):
        ctx.summarize(failing, keep_last_turns=1)
    assert ctx.maybe_summarize(failing).reason == "failed"


def in_a_thread(ctx: ChatContext[Any]) -> None:
    fold = ctx.summarize_in_background(shown, keep_last_turns=1)
    while not fold.done:
        time.sleep(0.001)
    assert fold.apply_if_ready().changed


def at_each_turn(ctx: ChatContext[Any]) -> None:
    items = list(ctx.items)
    ctx.items.clear()
    for item in items:
        ctx.items.append(item)
        ctx.maybe_summarize(shown, background=True)


def extracted(ctx: ChatContext[Any]) -> None:
    assert ctx.summarize("extractive", keep_last_turns=1).changed


WAYS = (summarized, awaited, by_the_host, failed, in_a_thread, at_each_turn, extracted)


def folded(way: Callable[[ChatContext[Any]], None], mark: str) -> None:
    """Fold in one way under all options; only what is kept behind one's back outlives this."""
    for some in options():
        policy = Policy(max_tokens=1500, keep_last_turns=1)
        way(ChatContext(conversation(mark), policy=policy, **some))


def left(mark: str) -> list[str]:
    """Return who holds a mark for good: a thread whose fold nobody waits for may be at work yet.

    Behind the whole suite one look takes as long as that is waited for, and takes the thread its
    time: so it is looked several times. What a look tells holds the mark itself, and goes first.
    """
    ends, looks = time.monotonic() + 10, 0
    while (looks < _LOOKS or time.monotonic() < ends) and held(mark):
        looks += 1
        time.sleep(0.5)
    return held(mark)


def without_euros(text: str) -> str:
    return text.replace("EUR", "[currency]")


def options() -> Iterator[dict[str, Any]]:
    yield {}
    yield {"grounding": "repair"}
    yield {"redact": without_euros, "grounding": "report"}
    yield {"store": MemoryStore(), "key": "one"}


def test_contexts_that_are_dropped_leave_no_word() -> None:
    """Not in a cache, not in a pattern, not in a thread that waits for more work."""
    mark = unheard()
    for way in WAYS:
        folded(way, mark)
    assert left(mark) == []


def test_a_conversation_that_a_middleware_forgets_leaves_no_word() -> None:
    """The middleware lives on, and so do its other conversations."""
    policy = Policy(max_items=8, keep_last_turns=1)
    kept = [
        Middleware[Any](shown, policy),
        Middleware[Any](failing, policy),
        Middleware[Any](shown, policy, background=True),
        Middleware[Any](shown, policy, sessions=1),
        Middleware[Any](shown, policy, background=True, sessions=1),
    ]
    mark = unheard()
    items = conversation(mark)
    for one in kept:
        for length in range(len(items) // 2, len(items) + 1):
            one.fold(items[:length], key="gone")
        asyncio.run(one.afold(items, key="gone"))
        one.fold(conversation("other"), key="stays")
        one.forget("gone")
    del items
    assert left(mark) == []
    assert held("other_order")  # of what stays


def test_what_is_held_is_found() -> None:
    """In a cache of `functools`, in a dict, in a pattern that `re` keeps."""
    mark = unheard()
    cached = lru_cache(lambda text: text)
    cached(f"a {mark} b")
    gone = proxy(MemoryStore())  # whose class cannot be asked for
    STORE["a"] = (f"{mark.upper()}",)
    re.compile(f"({mark})")
    told = "\n".join(held(mark))
    assert all(kind in told for kind in ("_lru_cache_wrapper", "dict {", "re.compile"))
    cached.cache_clear()
    STORE.clear()
    re.purge()
    del told
    assert held(mark) == []
    del gone


CACHED = {
    "core/constraints/lexicons.py": {"built_in", "_lexicon", "reader_of"},  # the caller's words
    "core/grounding/number_words.py": {"languages"},  # of tables
    "core/grounding/spoken.py": {"_codes", "_days_of", "_names"},  # of the same, by language
    "core/native.py": {"_wire_names", "_constants"},  # of classes
    "templates.py": {"_built_in", "_names", "_given"},
}


def test_no_cache_of_a_module_is_asked_by_what_conversations_say(checkout: Path) -> None:
    """These are all: what is asked by texts is `by_hash`, or lives with its context."""
    source = checkout / "src" / "chatfold"
    found: dict[str, set[str]] = {}
    for file in source.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(map(_caches, node.decorator_list)):
                found.setdefault(file.relative_to(source).as_posix(), set()).add(node.name)
    assert found == CACHED


def _caches(decorator: ast.expr) -> bool:
    return re.search(r"\b(?:lru_)?cache\b", ast.unparse(decorator)) is not None
