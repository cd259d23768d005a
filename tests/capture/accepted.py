"""Whether a captured item may be sent: judged by the SDKs' own input types, no keys to spare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from capture.variants import variants
from shapes.sdk_types import members, refusal, union_named

from chatfold import ChatContext
from chatfold.core.views import UnknownPart

__all__ = ["every_variant", "labels", "read_wholly", "refused"]


def labels(path: str) -> list[str]:
    """Return the `type` of each model of a union, empty where the SDK has no such union."""
    union = union_named(path)
    return sorted({m.label for m in members(union) if m.is_model}) if union is not None else []


def every_variant(path: str, label: str) -> Iterator[tuple[type[Any], dict[str, Any]]]:
    """Yield full instances of the models of that type, with every alternative inside of them."""
    found = [m.cls for m in members(union_named(path)) if m.label == label and m.is_model]
    assert found
    for cls in found:
        for made in variants(cls):
            yield cls, made


def refused(path: str, item: Any, label: str | None = None) -> str:
    """Return why an item is of no type of an input union, "" where it is of one."""
    union = union_named(path)
    if union is None or not _is_current(path):
        pytest.skip("the types of the installed SDK are older than these answers")
    inputs = [m.cls for m in members(union) if not m.is_model and label in (None, m.label)]
    found = [refusal(cls, item) for cls in inputs]
    return "" if "" in found else "; ".join(found) or f"no input of type {label}"


def _is_current(path: str) -> bool:
    """Return whether an SDK has the newest types that the tests' answers hold."""
    if path.startswith("openai"):
        return "program" in labels("openai.types.responses:ResponseOutputItem")
    return "compaction" in labels("anthropic.types.beta:BetaContentBlock")


def read_wholly(items: list[Any], shape: str) -> bool:
    """Return whether the shape reads all of the items, and nothing in them is unknown."""
    views = ChatContext(items, shape=shape).views()
    parts = [part for view in views for part in view.parts]
    unknown = [p for p in parts if type(p) is UnknownPart and not (p.known or p.command)]
    return all(v.shape == shape and not v.fault for v in views) and not unknown
