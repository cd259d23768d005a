"""What Converse would refuse in a list of messages, as `native-shapes.md` (E) has it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from validators.base import Item, Violation, dicts


def judge(items: list[Item], strict: bool) -> Iterator[Violation]:
    """Yield every rule that the list breaks.

    Args:
        items: One dict per message.
        strict: Also report what only some models refuse: two messages of one role in a row, and
            words beside results.
    """
    for index, item in enumerate(items):
        if item:
            yield from _message(index, item, strict)
    speakers = [(i, m.get("role")) for i, m in enumerate(items) if m.get("role") != "system"]
    if speakers and speakers[0][1] == "assistant":
        yield Violation(speakers[0][0], "first_role", "the first message must be the user's")
    for index in range(len(items)):
        role = items[index].get("role")
        if strict and index and role == items[index - 1].get("role") != "system":
            yield Violation(index, "roles_alternate", f"two {role} messages in a row")
        yield from _results(index, items)
    yield from _served(items)


def _blocks(item: Item, key: str) -> list[Item]:
    return [b[key] for b in dicts(item.get("content")) if isinstance(b.get(key), dict)]


def _uses(item: Item) -> list[Item]:
    own = item.get("role") == "assistant"
    return [u for u in _blocks(item, "toolUse") if own and u.get("type") != "server_tool_use"]


def _message(index: int, item: Item, strict: bool) -> Iterator[Violation]:
    content = item.get("content")
    if item.get("role") not in ("user", "assistant", "system") or isinstance(content, str):
        yield Violation(index, "foreign_item", f"role {item.get('role')!r}")
        return
    blocks = dicts(content)
    if not blocks:
        yield Violation(index, "empty_content", f"content is {content!r}")
    if any("type" in block for block in blocks):
        yield Violation(index, "foreign_block", f"{blocks!r}")
    texts = [block["text"] for block in blocks if "text" in block]
    for text in texts:
        if not str(text).strip():
            yield Violation(index, "blank_text", f"text is {text!r}")
    if any("document" in block for block in blocks) and not (
        texts or any("guardContent" in b or "citationsContent" in b for b in blocks)
    ):
        yield Violation(index, "document_alone", "a document needs a text block beside it")
    if item.get("role") != "assistant" and _blocks(item, "toolUse"):
        yield Violation(index, "call_of_another", f"a call by {item.get('role')!r}")
    for use in _blocks(item, "toolUse"):
        if not isinstance(use.get("input"), dict):
            yield Violation(index, "arguments_no_object", f"input is {use.get('input')!r}")
        for key, form in (("toolUseId", "[a-zA-Z0-9_.:-]{1,64}"), ("name", "[a-zA-Z0-9_-]{1,64}")):
            if use.get(key) and not re.fullmatch(form, str(use[key])):
                yield Violation(index, "text_form", f"{key} is {use[key]!r}")
    for thought in _blocks(item, "reasoningContent"):
        if "reasoningText" in thought and thought["reasoningText"].get("text") is None:
            yield Violation(index, "no_text", "reasoning without a text")
    for result in _blocks(item, "toolResult"):
        if result.get("status") == "error" and not result.get("content"):
            yield Violation(index, "empty_error", "an error needs content")
    ids = [use.get("toolUseId") for use in _uses(item)]
    for id_ in {i for i in ids if ids.count(i) > 1}:
        yield Violation(index, "duplicate_tool_use", f"{id_!r} twice in one message")
    if strict and all("reasoningContent" in block for block in blocks) and blocks:
        yield Violation(index, "reasoning_alone", "nothing but reasoning")
    if strict and texts and item.get("role") == "user" and _blocks(item, "toolResult"):
        yield Violation(index, "mixed_turn", "words beside results")


def _results(index: int, items: list[Item]) -> Iterator[Violation]:
    """Judge the results of one message against the calls of the message before it."""
    before = items[index - 1] if index else {}
    wanted = [use.get("toolUseId") for use in _uses(before)]
    role = items[index].get("role")
    given = (
        []
        if role == "assistant"
        else [r.get("toolUseId") for r in _blocks(items[index], "toolResult") if not r.get("type")]
    )
    for id_ in given:
        if id_ in wanted:
            wanted.remove(id_)
        else:
            yield Violation(index, "orphan_result", f"{id_!r}")
    for id_ in wanted:
        yield Violation(index - 1, "unanswered_call", f"{id_!r}")
    if index == len(items) - 1:
        for use in _uses(items[index]):
            yield Violation(index, "unanswered_call", f"{use.get('toolUseId')!r}", open=True)


def _served(items: list[Item]) -> Iterator[Violation]:
    """Judge the calls that the server makes and answers itself."""
    waiting: list[object] = []
    for index, item in enumerate(items):
        for block in dicts(item.get("content")):
            use, result = block.get("toolUse"), block.get("toolResult")
            if isinstance(use, dict) and use.get("type") == "server_tool_use":
                waiting.append(use.get("toolUseId"))
            elif isinstance(result, dict) and (result.get("type") or item["role"] == "assistant"):
                if result.get("toolUseId") in waiting:
                    waiting.remove(result.get("toolUseId"))
                else:
                    yield Violation(index, "orphan_server_result", f"{result.get('toolUseId')!r}")
