"""Values of native items as JSON types and as text, whatever class their SDK gave them.

Not here: what an item says (`views`), and base64 that a prompt is not to hold (`encoded`).
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from enum import Enum
from functools import lru_cache, singledispatch
from typing import Any, Literal, cast, get_args, get_origin

__all__ = ["bytes_label", "field", "fields_of", "hidden_in", "json_text", "plain"]


def field(item: object, key: str) -> Any:
    """Return a field of a dict or an SDK object, None where it has none.

    Python keywords are spelled with an underscore by the SDKs' objects and by `model_dump`
    (`async_`, `from_`), and without one on the wire; both are found. A tuple is a list there: the
    SDKs' types take any iterable.
    """
    source: Any = item
    if type(item) is dict or isinstance(item, Mapping):  # the first test is the quick one
        value: Any = source.get(key)
    else:
        value = getattr(source, key, None)
    if value is None and key in ("async", "from"):
        return field(source, key + "_")
    return [*cast("tuple[Any, ...]", value)] if type(value) is tuple else value


def plain(value: Any, *, encode: Callable[[bytes], str] | None = None) -> Any:
    """Return `value` as JSON types, with the fields that were set and their wire names.

    Args:
        value: Anything.
        encode: What bytes become; base64 with the alphabet for URLs by default, as pydantic does.
    """
    if isinstance(value, Enum):  # `marshal`, which makes fingerprints, knows none
        return plain(value.value, encode=encode)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Mapping):
        fields = cast(Mapping[Any, Any], value)
        return {str(k): plain(v, encode=encode) for k, v in fields.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v, encode=encode) for v in cast(Sequence[Any], value)]
    if isinstance(value, (bytes, bytearray)):
        return (encode or _base64)(bytes(value))
    return plain(fields_of(value), encode=encode)


@singledispatch
def fields_of(value: Any) -> Any:
    """Return what an object holds: the fields that were set, under their wire names.

    A framework whose objects tell that otherwise registers its own classes
    (`fields_of.register`), where its items are read.

    Raises:
        TypeError: What it gives would have to be asked in its turn: a mock gives another mock, and
            so on.
    """
    if hasattr(value, "to_dict"):
        return _checked(_to_dict(value), value)
    if hasattr(value, "model_dump"):
        said = value.model_dump(by_alias=True, exclude_unset=True)
        return _checked(_told(value, said), value)
    if hasattr(value, "__dict__"):
        own = cast(dict[str, Any], vars(value))
        return {k: v for k, v in own.items() if not k.startswith("_")}
    if is_dataclass(value):  # with slots
        return {each.name: getattr(value, each.name) for each in dataclass_fields(value)}
    return str(value)  # a decimal, a date, an id: what it says, not how Python spells it


def _checked(said: Any, value: Any) -> Any:
    """Return what an object gave as its fields.

    Raises:
        TypeError: That is another object of its kind.
    """
    asks: bool = hasattr(said, "to_dict") or hasattr(said, "model_dump")
    if asks and not issubclass(type(said), dict):  # some dicts have such methods
        raise TypeError(f"{type(value).__name__} does not say what it holds")
    return said


def _told(value: Any, dumped: Any) -> Any:
    """Return a dump of a model with what says what it is, which need not be set.

    Mistral's models have their role and type by themselves, as fields with one possible value.
    """
    if isinstance(dumped, (list, tuple)):
        parts = cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else ()
        made = [*cast("Sequence[Any]", dumped)]
        return [*map(_told, parts, made)] if len(parts) == len(made) else made
    if not isinstance(dumped, dict):
        return dumped
    fields = cast("dict[str, Any]", dumped)
    if isinstance(value, dict):
        given = cast("dict[str, Any]", value)
        return {key: _told(given.get(key), inner) for key, inner in fields.items()}
    if not hasattr(value, "model_fields_set"):
        return fields
    model: Any = type(cast(object, value))
    names = _wire_names(model)
    inner = {k: _told(getattr(value, n), fields[k]) for n, k in names.items() if k in fields}
    # An SDK's own role may be set to nothing, as by a framework that passes all fields on.
    unset = {k: v for k, v in _constants(model).items() if k not in fields}
    role = _constants(model).get("role")
    if role is not None and fields.get("role") is None:
        unset["role"] = role
    return {**fields, **inner, **unset}


@lru_cache
def _wire_names(model: Any) -> dict[str, str]:
    """Return under which name each field of a model goes out."""
    fields: Mapping[str, Any] = model.model_fields
    return {n: f.serialization_alias or f.alias or n for n, f in fields.items()}


@lru_cache
def _constants(model: Any) -> dict[str, Any]:
    """Return the fields of a model that have one possible value, as they go out."""
    fields: Mapping[str, Any] = model.model_fields
    names = _wire_names(model)
    out = {n: f for n, f in fields.items() if not f.exclude}
    given = ((names[n], f.default, _literals(f.annotation)) for n, f in out.items())
    return {name: default for name, default, values in given if values == (default,)}


def _literals(annotation: Any) -> tuple[Any, ...]:
    """Return the values that a literal type names, of one that may be None as well."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    others = [inner for inner in get_args(annotation) if inner is not type(None)]
    return _literals(others[0]) if len(others) == 1 else ()


def _to_dict(value: Any) -> Any:
    """Return an SDK object as a dict, without pydantic's warnings.

    It warns of a value that a field's type does not list, as OpenAI's `parse()` puts into a
    message; whoever reads the message can do nothing about that.
    """
    try:
        return value.to_dict(warnings=False)
    except (TypeError, ValueError):  # other makes have no such argument; with pydantic 1, no use
        return value.to_dict()


def _base64(value: bytes) -> str:
    return urlsafe_b64encode(value).decode()


def bytes_label(value: bytes) -> str:
    """Return what stands for bytes in a prompt: their number."""
    return f"[{len(value)} bytes]"


def json_text(value: Any) -> str:
    """Return a value as JSON text, without encoded or encrypted content, and without bytes."""
    return json.dumps(_readable(plain(value, encode=bytes_label)), ensure_ascii=False)


def hidden_in(text: str) -> int:
    """Return how many values a JSON text leaves out: `json_text` has their sizes in their place."""
    return len(_LEFT_OUT.findall(text)) if '"[' in text else 0  # the first test is the quick one


def _readable(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        hidden = _ENCODED_KEYS | {"data"} if fields.get("type") in _ENCODED_TYPES else _ENCODED_KEYS
        return {
            k: f"[{len(str(v))} characters]" if k in hidden and v else _readable(v)
            for k, v in fields.items()
        }
    if isinstance(value, list):
        return [_readable(v) for v in cast(list[Any], value)]
    if isinstance(value, str) and len(value) >= _LONG:
        bare = value.partition(",")[2] if value.startswith("data:") else value
        if _ENCODED.fullmatch(bare):
            return f"[{len(value)} characters of encoded data]"
    return value


_LEFT_OUT = re.compile(r'"\[[0-9]+ (?:characters(?: of encoded data)?|bytes)\]"')
_LONG = 256
_ENCODED = re.compile(r"[A-Za-z0-9+/_=-]+")
_ENCODED_TYPES = ("base64", "redacted_thinking")
_ENCODED_KEYS = frozenset(
    {
        "encrypted_content",
        "encrypted_index",
        "signature",
        "fingerprint",
        "thought_signature",
        "thoughtSignature",
        "redactedContent",
    }
)
