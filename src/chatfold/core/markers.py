"""What an item says without the cache markers that hosts move from item to item at each turn.

A marker tells the provider to cache the request up to there, and nothing of the content:
https://platform.claude.com/docs/en/build-with-claude/prompt-caching and
https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html (read 2026-11-22); OpenAI's
is `PromptCacheBreakpoint` in openai 3.57.0, for which `CacheBreakpoint` stands in livekit-agents
1.8.9. It stands in a block, so a message that was a text is a list of one block as long as it has
one. Were any of this content, what was folded would not be found again, and every fold in the
background would be stale when it is ready.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

from chatfold.core.native import plain

__all__ = ["GIVEN", "as_text", "may_be_marked", "said", "unmarked"]

_MARKERS: Final = frozenset(
    {"cache_control", "cachePoint", "cache_point", "prompt_cache_breakpoint"}
)
_BLOCK: Final = "cache_breakpoint"  # type of a block that is a marker
_BYTES: Final = re.compile("|".join(sorted({*_MARKERS, _BLOCK})).encode())
# Fields of LangChain's that are there, and empty, or not there where they say nothing.
_BESIDE: Final = frozenset({"extras", "additional_kwargs"})
_BESIDE_BYTES: Final = tuple(key.encode() for key in _BESIDE)
_EMPTY: Final = b"{0"  # an object and its end
_START: Final = b"cache"  # to look for one text is far quicker than for several
GIVEN: Final = frozenset({"input", "arguments", "args", "response", "json"})
"""Fields of what is given to a tool or by it, in which a key of a marker's name is content."""


def may_be_marked(blob: bytes) -> bool:
    """Return whether an item may have a marker, or an empty object that held one before.

    Args:
        blob: The item in bytes, as `marshal` writes it.
    """
    return (_START in blob and _BYTES.search(blob) is not None) or (
        _EMPTY in blob and any(key in blob for key in _BESIDE_BYTES)
    )


def unmarked(item: Any) -> Any:
    """Return an item in JSON types, without markers."""
    return as_text(_without(plain(item), unset=False))


def said(item: Any) -> Any:
    """Return an item in JSON types, without markers and without fields that are not set."""
    return as_text(_without(plain(item), unset=True))


def _without(value: Any, *, unset: bool) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {
            key: inner if key in GIVEN else _without(inner, unset=unset)
            for key, inner in fields.items()
            if key not in _MARKERS
            and not (unset and inner is None)
            and (key in GIVEN or not _holds_nothing(key, inner))
        }
    if isinstance(value, list):
        made = (_without(inner, unset=unset) for inner in cast("list[Any]", value))
        return [inner for inner in made if inner not in _NOTHING]
    return value


_NOTHING: Final[tuple[dict[str, str], ...]] = ({}, {"type": _BLOCK})
"""What is left of a marker that was a block of its own."""


def _holds_nothing(key: str, value: Any) -> bool:
    """Return whether a field holds markers alone, or nothing where that says nothing."""
    if type(value) is not dict:
        return False
    fields = cast("dict[str, Any]", value)
    return _MARKERS.issuperset(fields) if fields else key in _BESIDE


def as_text(item: Any) -> Any:
    """Return an item with the text alone for a content that is one block of text."""
    key = _one_text(item)
    return {**item, key: item[key][0]["text"]} if key else item


def _one_text(item: Any) -> str:
    """Return which field of an item is one block of text and no more, "" where none is."""
    if type(item) is not dict:
        return ""
    fields = cast("dict[str, Any]", item)
    key = "content" if "content" in fields else "output"  # of a tool, in the Responses API
    content = fields.get(key)
    if type(content) is not list or len(cast("list[Any]", content)) != 1:
        return ""
    block = cast("list[Any]", content)[0]
    if type(block) is not dict or len(cast("dict[str, Any]", block)) != 2:
        return ""
    said = cast("dict[str, Any]", block)
    return key if said.get("type") in _TEXTS and type(said.get("text")) is str else ""


_TEXTS: Final = ("text", "input_text", "output_text")
