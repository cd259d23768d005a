"""How the calls and results of LangChain's messages are read; part of the shape `langchain`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final, cast

from chatfold.core.native import field
from chatfold.core.views import CallPart, MediaPart, ResultPart
from chatfold.integrations._langchain.blocks import CALLS, ITEMS, inner_of, read_block
from chatfold.shapes._blocks import (
    arguments_text,
    block_type,
    call_kind,
    listed,
    media_from_url,
    named_id,
)
from chatfold.shapes._chat import part_text

__all__ = [
    "is_asynchronous",
    "is_call_block",
    "namespace_of",
    "read_calls",
    "read_result",
    "said_again",
]

_ANSWERED: Final = {
    "computer_call_output": "computer",
    "apply_patch_call_output": "apply_patch",
    "shell_call_output": "shell",
    "local_shell_call_output": "local_shell",
}
"""What a tool message may say that it is, as `type` beside its content, and what it answers."""


def is_call_block(block: Any, known: Collection[str | None]) -> bool:
    """Return whether a block says again what stands in `tool_calls`.

    Args:
        block: A content block.
        known: The ids of the calls that stand there.
    """
    kind = block_type(block) or ("toolUse" if field(block, "toolUse") is not None else "")
    if kind not in CALLS:
        return False
    return kind == "input_json_delta" or said_again(block, known) is not None


def said_again(block: Any, known: Collection[str | None]) -> str | None:
    """Return the id of the known call that a block is about, None where it is about another."""
    inner = field(block, "toolUse")
    source = block if inner is None else inner
    ids = (field(source, "call_id"), field(source, "id"), field(source, "toolUseId"))
    return next((each for each in ids if each is not None and each in known), None)


def is_asynchronous(block: Any) -> bool:
    """Return whether a block is a call whose result may come many turns later.

    https://developers.openai.com/api/docs/guides/function-calling (read 2026-11-21).
    """
    return bool(field(block, "async") or field(field(block, "extras"), "async"))


def namespace_of(block: Any) -> str | None:
    """Return where the tool of a call lives, which `tool_calls` has no place for.

    OpenAI's and Anthropic's own blocks have it, and LangChain's among their extras
    (`block_translators` of langchain-core 1.8.3).
    """
    extras = field(block, "extras")
    places = ((of, key) for key in ("namespace", "toolset_name") for of in (block, extras))
    return next((name for of, key in places if (name := named_id(field(of, key)))), None)


def read_calls(get: Callable[[str], Any]) -> list[CallPart]:
    """Return the calls of an AI message, those among them whose arguments are no JSON."""
    made: list[CallPart] = []
    for call in [*listed(get("tool_calls")), *listed(get("invalid_tool_calls"))]:
        name = named_id(field(call, "name"))
        arguments = arguments_text(field(call, "args"))
        made.append(CallPart(named_id(field(call, "id")), name, arguments, call_kind(name)))
    return made or _older_calls(get)


def _older_calls(get: Callable[[str], Any]) -> list[CallPart]:
    """Return the one call of models that call functions, not tools."""
    call = field(get("additional_kwargs"), "function_call")
    if call is None:
        return []
    name = named_id(field(call, "name"))
    return [CallPart(None, name, arguments_text(field(call, "arguments")), call_kind(name))]


def read_result(get: Callable[[str], Any]) -> ResultPart:
    """Return the result in a tool message: of a tool, or of one of OpenAI's own."""
    content, id_, name = get("content"), named_id(get("tool_call_id")), named_id(get("name"))
    failed = get("status") == "error"
    pair = _ANSWERED.get(field(get("additional_kwargs"), "type"), "function")
    if not isinstance(content, list):
        if pair == "computer":  # "string, assume image_url" (langchain-openai 1.7.4)
            return ResultPart(id_, name, "", failed, pair, (media_from_url("image", content),))
        return ResultPart(id_, name, arguments_text(content), failed, pair)
    blocks = [inner_of(block) for block in listed(cast(object, content))]
    parts = [part for block in blocks for part in read_block(block)]
    if any(block_type(block) in ITEMS for block in blocks):
        own = next((part for part in parts if type(part) is ResultPart), None)
        if own is not None:
            return own._replace(id=own.id or id_, name=name, failed=failed or own.failed)
    media = tuple(part for part in parts if type(part) is MediaPart)
    text = "\n".join(part_text(part) for part in parts if type(part) is not MediaPart)
    return ResultPart(id_, name, text, failed, pair, media)
