"""Instances of the SDKs' types in which every alternative of every union stands somewhere."""

from __future__ import annotations

from types import UnionType
from typing import Any, Union, get_args, get_origin

from shapes.sdk_types import _bare as bare
from shapes.sdk_types import _fields as fields
from shapes.sdk_types import instance

__all__ = ["variants"]

_DEEPEST = 7


def variants(cls: type[Any]) -> list[dict[str, Any]]:
    """Return full instances of a type; each alternative of each field is in at least one."""
    return _objects(cls, 0)


def _objects(cls: type[Any], depth: int) -> list[dict[str, Any]]:
    full = instance(cls, full=True)
    if depth >= _DEEPEST:
        return [instance(cls)]
    found = {
        key: _values(annotation, depth + 1) or [full[key]]
        for key, (annotation, _) in fields(cls).items()
    }
    # The n-th instance takes the n-th alternative of each field, or its last: no product of all.
    number = max(map(len, found.values()), default=1)
    return [
        {key: values[min(n, len(values) - 1)] for key, values in found.items()}
        for n in range(number)
    ]


def _values(annotation: Any, depth: int) -> list[Any]:
    """Return a value for each alternative; none where nothing in it is an object."""
    annotation = bare(annotation)[0]
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return [value for inner in args for value in _alternative(inner, depth)]
    if isinstance(annotation, type) and (
        hasattr(annotation, "model_fields") or hasattr(annotation, "__required_keys__")
    ):
        return _objects(annotation, depth)
    if origin is list:
        return [[value] for value in _values(args[0], depth)]
    return []


def _alternative(annotation: Any, depth: int) -> list[Any]:
    found = _values(annotation, depth)
    if found or annotation is type(None):
        return found
    annotation = bare(annotation)[0]
    simple = {str: "text", int: 1, float: 1.0, bool: True}
    if annotation in simple:
        return [simple[annotation]]
    if get_origin(annotation) is list and get_args(annotation)[0] is str:
        return [["text"]]
    if get_origin(annotation) is dict:
        return [{}]
    return list(get_args(annotation))[:1] if str(get_origin(annotation)).endswith("Literal") else []
