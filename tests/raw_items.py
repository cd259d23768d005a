"""What raw items say, read without chatfold: the yardstick for readings of real histories.

Belongs here: the roles, turns, calls and texts of Chat Completions, Responses and Anthropic items
as dicts, for the types that real histories hold. Nothing here imports chatfold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

__all__ = [
    "ANY",
    "Pair",
    "Told",
    "last_group",
    "pairs",
    "prefix_length",
    "removed",
    "told",
    "turn_starts",
]

Item = dict[str, Any]

ANY = "*"  # stands for what this yardstick does not judge


class Told(NamedTuple):
    """One element that a rendered item must have; what is not judged of it is ANY."""

    tag: str
    name: str | None
    call_id: str | None
    text: str


class Pair(NamedTuple):
    """A call and its result, by the indices of their items; one of them may be missing."""

    id: str | None
    call_index: int | None
    result_index: int | None


def blocks_of(item: Item) -> list[Item]:
    """Return the content as blocks; the providers' text strings are one text block."""
    content = item.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def prefix_length(items: list[Item]) -> int:
    """Return how many leading items are instructions."""
    for index, item in enumerate(items):
        if item.get("role") not in ("system", "developer") or item.get("type") not in _MESSAGE:
            return index
    return len(items)


def turn_starts(items: list[Item]) -> list[int]:
    """Return where turns start: at runs of users' messages, and before the first one."""
    start = prefix_length(items)
    users = [i for i in range(start, len(items)) if _is_users(items[i])]
    opening = [i for i in users if i - 1 not in users]
    return opening if start == len(items) or opening[:1] == [start] else [start, *opening]


def _is_users(item: Item) -> bool:
    kinds = {block.get("type") for block in blocks_of(item)}
    return item.get("role") == "user" and kinds != {"tool_result"}


def is_answer(item: Item) -> bool:
    """Return whether an assistant says something in the item, and leaves no call to the client."""
    kinds = [str(block.get("type")) for block in blocks_of(item)]
    calls = bool(item.get("tool_calls")) or "tool_use" in kinds
    return item.get("role") == "assistant" and bool(kinds) and not calls


def last_group(items: list[Item]) -> int:
    """Return the first item of what the model has yet to answer; the length if it has answered.

    Calls and results at the end of an unfinished turn stay together with it.
    """
    if not items or is_answer(items[-1]) or (_is_users(items[-1]) and not _events_of(items[-1])):
        return len(items)
    index = len(items) - 1
    while index and not _events_of(items[index]):
        index -= 1
    own = [pair for pair in pairs(items) if index in (pair.call_index, pair.result_index)]
    return min((pair.call_index for pair in own if pair.call_index is not None), default=index)


def removed(items: list[Item], start: int, cut: int, points: list[int]) -> list[int]:
    """Return which items before a cut would go: all but state and the request that is worked on.

    Args:
        items: The whole list.
        start: Index behind the leading instructions.
        cut: Index of the first item of the tail.
        points: Where the list may be cut; state that came with reasoning keeps all of its run.
    """
    opened = [s for s in turn_starts(items) if s < cut]
    turn = max(opened, default=start)
    stop = next((s for s in turn_starts(items) if s >= cut), len(items))
    working = cut < stop or (stop == len(items) and not is_answer(items[-1]))
    state = {i for i in range(start, cut) if items[i].get("type") in _STATE}
    for first, last in pairwise(points):
        run = range(first, last)
        if state & set(run) and any(items[i].get("type") == "reasoning" for i in run):
            state |= set(run)
    return [
        index
        for index in range(start, cut)
        if not (working and index >= turn and _is_users(items[index]))
        and index not in state
        and items[index].get("role") not in ("system", "developer")
    ]


_STATE = ("additional_tools", "tool_search_call", "tool_search_output")


def _events_of(item: Item) -> list[tuple[str, str, str | None]]:
    return list(_events(item))


# --- Calls ----------------------------------------------------------------------------------------


def pairs(items: list[Item]) -> list[Pair]:
    """Return every call with its result, in order of the calls; results without a call at the end.

    A result belongs to the latest item that has an unanswered call of its id, and there to the
    first; where ids are null, to the first unanswered call.
    """
    found: list[Pair] = []
    orphans: list[Pair] = []
    families: list[str] = []
    waiting: list[int] = []
    for index, item in enumerate(items):
        for kind, family, key in _events(item):
            if kind == "call":
                waiting.append(len(found))
                families.append(family)
                served = item.get("execution") == "server"  # done, whether or not it is shown
                found.append(Pair(key, index, index if served else None))
                continue
            fitting = [at for at in waiting if (families[at], found[at].id) == (family, key)]
            if not fitting:
                orphans.append(Pair(key, None, index))
                continue
            latest = found[fitting[0] if key is None else fitting[-1]].call_index
            at = next(at for at in fitting if found[at].call_index == latest)
            waiting.remove(at)
            found[at] = found[at]._replace(result_index=index)
    return found + orphans


def _events(item: Item) -> Iterator[tuple[str, str, str | None]]:
    """Yield the calls and results of an item, as (what, family, id)."""
    kind = item.get("type") or ""
    family = "tool_search" if kind.startswith("tool_search") else "function"
    if kind.endswith("_call"):
        yield "call", family, item.get("call_id")
    elif kind.endswith("_output"):
        yield "result", family, item.get("call_id")
    elif item.get("role") == "tool":
        yield "result", family, item.get("tool_call_id")
    for block in blocks_of(item):
        form = block.get("type") or ""
        family = "function" if form in ("tool_use", "tool_result") else "server"
        if form.endswith("tool_use"):
            yield "call", family, block.get("id")
        elif form.endswith("tool_result"):
            yield "result", family, block.get("tool_use_id")
    for call in item.get("tool_calls") or ():
        yield "call", "function", call.get("id")


# --- Texts ----------------------------------------------------------------------------------------

_MESSAGE = (None, "message")
_MEDIA = (
    "image_url",
    "input_audio",
    "file",
    "input_image",
    "input_file",
    "image",
    "document",
    "container_upload",
)


def told(items: list[Item]) -> list[Told]:
    """Return the elements that a rendering of the whole list must have, in order."""
    names = _names_by_result(items)
    return [element for index, item in enumerate(items) for element in _told(index, item, names)]


def _names_by_result(items: list[Item]) -> dict[tuple[int, str | None], str | None]:
    """Return the tool of each result, by the result's place and id."""
    named: dict[tuple[int | None, str | None], str | None] = {}
    for index, item in enumerate(items):
        named[index, item.get("call_id")] = item.get("name") or _SPOKEN.get(str(item.get("type")))
        for block in blocks_of(item):
            named[index, block.get("id")] = block.get("name")
        for call in item.get("tool_calls") or ():
            named[index, call.get("id")] = call["function"]["name"]
    return {
        (pair.result_index, pair.id): named[pair.call_index, pair.id]
        for pair in pairs(items)
        if pair.result_index is not None and pair.call_index is not None
    }


_SPOKEN = {"tool_search_call": "tool_search"}


def _told(index: int, item: Item, names: dict[Any, Any]) -> Iterator[Told]:
    kind = item.get("type")
    if kind not in _MESSAGE:
        yield from _told_item(index, item, str(kind), names)
    elif item.get("role") == "tool":
        key = item.get("tool_call_id")
        name = names.get((index, key)) or item.get("name")
        yield Told("function_call_output", name, key, _joined(blocks_of(item)))
    else:
        yield from _told_message(index, item, names)


def _told_item(index: int, item: Item, kind: str, names: dict[Any, Any]) -> Iterator[Told]:
    key = item.get("call_id")
    if kind == "reasoning":
        parts = [*(item.get("summary") or ()), *(item.get("content") or ())]
        text = "\n".join(part["text"] for part in parts if part["text"])
        if text:
            yield Told("reasoning", None, None, text)
    elif kind == "function_call":
        yield Told("function_call", item["name"], key, item["arguments"])
    elif kind == "function_call_output":
        name = names.get((index, key)) or item.get("name")
        output = item["output"]
        text = output if isinstance(output, str) else _joined(output)
        yield Told("function_call_output", name, key, text)
    elif kind == "tool_search_call":
        yield Told("function_call", "tool_search", key, ANY)
    elif kind == "tool_search_output":
        yield Told("function_call_output", "tool_search", key, ANY)


def _told_message(index: int, item: Item, names: dict[Any, Any]) -> Iterator[Told]:
    role = str(item["role"])
    said: list[Item] = []
    if item.get("reasoning_content"):
        yield Told("reasoning", None, None, item["reasoning_content"])
    elif item.get("reasoning_details"):
        yield Told("reasoning", None, None, ANY)
    blocks = blocks_of(item)
    for block in blocks:
        kind = block.get("type")
        if kind in ("text", "input_text", "output_text", *_MEDIA):
            said.append(block)
            continue
        if said:
            yield _spoken(role, item, said)
            said = []
        yield from _told_block(index, block, str(kind), names)
    calls = item.get("tool_calls") or ()
    if said or not (blocks or calls):
        yield _spoken(role, item, said)
    for call in calls:
        function = call["function"]
        yield Told("function_call", function["name"], call["id"], function["arguments"])


def _spoken(role: str, item: Item, said: list[Item]) -> Told:
    return Told(role, item.get("name"), None, _joined(said))


def _joined(blocks: list[Item]) -> str:
    """Return what is said; texts that follow each other directly stand on lines of their own."""
    text = ""
    for number, block in enumerate(blocks):
        if "text" not in block:
            continue
        text += "\n" if number and "text" in blocks[number - 1] else ""
        text += block["text"]
    return text


def _result_text(block: Item) -> str:
    """Return the text of a `tool_result`; blocks of other kinds than text are not judged."""
    content = block.get("content") or ""
    if isinstance(content, str):
        return content
    return _joined(content) if all("text" in part for part in content) else ANY


def _told_block(index: int, block: Item, kind: str, names: dict[Any, Any]) -> Iterator[Told]:
    if kind == "thinking":
        inner = block["thinking"]
        text = inner if isinstance(inner, str) else "\n".join(part["text"] for part in inner)
        if text:
            yield Told("reasoning", None, None, text)
    elif kind in ("tool_use", "server_tool_use"):
        text = json.dumps(block["input"], ensure_ascii=False)
        tag = "function_call" if kind == "tool_use" else "server_tool_call"
        yield Told(tag, block["name"], block["id"], text)
    elif kind == "tool_result":
        key = block["tool_use_id"]
        yield Told("function_call_output", names.get((index, key)), key, _result_text(block))
    elif kind.endswith("_tool_result"):
        key = block["tool_use_id"]
        yield Told("server_tool_output", ANY, key, ANY)
