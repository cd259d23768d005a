"""What a provider would refuse in the results of tools: blocks that a result does not hold.

Apart from the other rules, since the histories that tests draw hold blocks that nobody knows yet.
Written from the types of the SDKs alone; nothing here uses chatfold's code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from validators.base import Item, Violation, dicts

# Of each shape the types of the blocks that a result takes, and a field that each has to have.
_CHAT = {"text": "text"}
_OUTPUT = {"input_text": "text", "input_image": "type", "input_file": "type"}
_ANTHROPIC = {
    "text": "text",
    "image": "source",
    "document": "source",
    "search_result": "content",
    "tool_reference": "tool_name",
}
_CHUNKS = {
    "text": "text",
    "image_url": "image_url",
    "document_url": "document_url",
    "input_audio": "input_audio",
    "reference": "reference_ids",
    "file": "file_id",
}
_CONVERSE = {"json", "text", "image", "document", "video", "searchResult"}
_NAME = re.compile(r"[a-zA-Z0-9()\[\]-]+( [a-zA-Z0-9()\[\]-]+)*")


def judge(shape: str, index: int, item: Item) -> Iterator[Violation]:
    """Yield what is wrong about the results in one item."""
    for rule, detail in _judged(shape, item):
        yield Violation(index, rule, f"{detail!r:.80}")


def _judged(shape: str, item: Item) -> Iterator[tuple[str, Any]]:
    content = dicts(item.get("content"))
    if shape == "gemini":
        for part in dicts(item.get("parts")):
            response = part.get("function_response", part.get("functionResponse")) or {}
            for medium in response.get("parts") or []:
                kinds = {key.replace("_", "").lower() for key in medium}
                if len(kinds & {"inlinedata", "filedata"}) != 1:
                    yield "result_block", medium
    elif shape == "bedrock":
        for result in (b["toolResult"] for b in content if "toolResult" in b):
            yield from _converse(result.get("content"))
    elif shape == "anthropic":
        for result in (b for b in content if b.get("type") == "tool_result"):
            yield from _tool_result(result)
    elif shape == "openai_responses":
        if item.get("type") in ("function_call_output", "custom_tool_call_output"):
            yield from _unknown(item.get("output"), _OUTPUT)
    elif item.get("role") == "tool":
        known = {"openai_chat": _CHAT, "mistral": _CHUNKS, "ollama": {}}[shape]
        yield from _unknown(item.get("content"), known)
        images = item.get("images") or []
        if not all(isinstance(image, str) for image in images):
            yield "images_type", images


def _unknown(content: Any, known: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    if not isinstance(content, (str, list)) or content == []:
        yield "result_content", content
    for block in content if isinstance(content, list) else []:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind not in known or known[kind] not in block:
            yield "result_block", block


def _converse(content: Any) -> Iterator[tuple[str, Any]]:
    for member in content or [None]:
        if not isinstance(member, dict) or len(member) != 1 or not member.keys() <= _CONVERSE:
            yield "result_block", member
        elif "document" in member and not _NAME.fullmatch(member["document"]["name"]):
            yield "document_name", member["document"]["name"]


def _tool_result(result: Item) -> Iterator[tuple[str, Any]]:
    """Judge a result: "all content must be type `text` if `is_error` is true".

    Source: https://github.com/vellum-ai/vellum-assistant/pull/18387 (read 2026-11-29).
    """
    yield from _unknown(result.get("content", ""), _ANTHROPIC)
    for block in dicts(result.get("content")):
        if block.get("type") != "text" and result.get("is_error"):
            yield "media_in_error", block
        if block.get("type") == "text" and not str(block.get("text")).strip():
            yield "blank_text", block
