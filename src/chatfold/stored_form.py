"""Native items as stores keep them: JSON types, out of which equal items are made again.

`native.plain` writes what a provider reads, and bytes and decimals as text there; who gets that
text back sends another picture than the user did. Here each says what it was. Not here: the bytes
that a database holds (`chatfold.stores`), what an SDK's object is made of (`native.fields_of`).
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import Any, Final, cast
from uuid import UUID

from chatfold.core.native import fields_of, plain

__all__ = ["NotRestorableError", "from_stored", "to_stored"]

_TAG: Final = "$chatfold"  # key of a dict that stands for a value of another type
_LOST: Final = "lost"  # what it says of a value that no JSON brings back
_TOO_DEEP: Final = "[nested too deeply]"  # what stands for one that holds itself, or very many
_DEEPEST: Final = 100  # values in one another; what is written must be read with less of a stack
_LONGEST: Final = 2_000  # bits of an integer; readers may refuse 641 decimal digits

Clean = Callable[[str], str]


class NotRestorableError(ValueError):
    """A stored item held an object that no JSON brings back, an open file for one."""


def to_stored(value: Any, clean: Clean | None = None) -> Any:
    """Return `value` as JSON types, from which `from_stored` makes an equal value.

    An SDK's object becomes a dict of the fields that were set, under their wire names.

    Args:
        value: Anything; what cannot come back is marked as lost, and kept as far as it can be read:
            an open file, say, or what holds itself or is nested a hundred deep.
        clean: Is given each text, also keys and numbers as JSON has them (tools put mail addresses
            into keys and card numbers into numbers), and returns what may be kept of it.
            Keys that become the same are told apart by a number. Bytes are kept as they are.
    """
    return _stored(value, clean, ())


def from_stored(value: Any, *, whole: bool = False) -> Any:
    """Return the value that `to_stored` was given, or one equal to it.

    Args:
        value: JSON types.
        whole: Whether what was lost is an error; else what can be read of it stands there.

    Raises:
        NotRestorableError: Something was lost, or is damaged, and `whole` is true.
    """
    if isinstance(value, list):
        return [from_stored(inner, whole=whole) for inner in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if _TAG not in fields:
        return {key: from_stored(inner, whole=whole) for key, inner in fields.items()}
    said = from_stored(fields.get("value"), whole=whole)
    try:
        form, read = _READ[fields[_TAG]]
        if isinstance(said, form):
            return read(said)
    except Exception as error:  # lost, or damaged: no decimal, not hashable, a tag of nobody's
        if whole:
            raise NotRestorableError("a value in the store cannot be made again") from error
    if whole:
        raise NotRestorableError("a value in the store is of another type than its tag says")
    return said


# --- single values ------------------------------------------------------------------------------


def _base64(value: bytes) -> str:
    return b64encode(value).decode()


# By exact type: what a library derives from them may hold more than the text says.
_WRITTEN: Final[Mapping[type, tuple[str, Callable[[Any], str]]]] = {
    Decimal: ("decimal", str),
    UUID: ("uuid", str),
    datetime: ("datetime", datetime.isoformat),
    date: ("date", date.isoformat),
    time: ("time", time.isoformat),
}
_READ: Final[Mapping[str, tuple[type, Callable[[Any], Any]]]] = {
    "bytes": (str, partial(b64decode, validate=True)),
    "int": (str, partial(int, base=16)),
    "decimal": (str, Decimal),
    "uuid": (str, UUID),
    "datetime": (str, datetime.fromisoformat),
    "date": (str, date.fromisoformat),
    "time": (str, time.fromisoformat),
    "tuple": (list, tuple),
    "pairs": (list, dict),
}


def _tagged(kind: str, value: Any) -> dict[str, Any]:
    return {_TAG: kind, "value": value}


def _stored(value: Any, clean: Clean | None, within: tuple[int, ...]) -> Any:
    """Return `value` as `to_stored` does; `within` names the values that it is a part of."""
    if isinstance(value, Enum):
        return _stored(value.value, clean, within)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value if clean is None else clean(value)
    if isinstance(value, (int, float)):
        return _stored_number(value, clean)
    if len(within) >= _DEEPEST or id(value) in within:
        return _tagged(_LOST, _TOO_DEEP)
    within = (*within, id(value))
    if isinstance(value, Mapping):
        return _stored_mapping(cast("Mapping[Any, Any]", value), clean, within)
    if isinstance(value, list):
        return [_stored(inner, clean, within) for inner in cast("list[Any]", value)]
    return _stored_object(value, clean, within)


def _stored_object(value: Any, clean: Clean | None, within: tuple[int, ...]) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return _tagged("bytes", _base64(bytes(value)))
    if type(value) in _WRITTEN:
        kind, write = _WRITTEN[type(value)]
        return _stored_text(kind, write(value), clean)
    if isinstance(value, tuple):  # one with names equals one without
        said = [_stored(one, clean, within) for one in cast("Sequence[Any]", value)]
        return _tagged("tuple", said)
    try:
        fields = fields_of(value)
    except Exception:  # whatever keeps an object of somebody's from saying what it holds
        return _tagged(_LOST, type(value).__name__)
    model = hasattr(value, "model_dump")
    if not isinstance(fields, str) and (model or (fields and _is_told(value))):
        return _stored(fields, clean, within)
    return _tagged(_LOST, _stored(plain(fields), clean, within))


def _is_told(value: Any) -> bool:
    """Return whether the fields of an object are all of it.

    An open file and an exception have attributes, and hold what matters elsewhere.
    """
    if hasattr(value, "to_dict"):
        return True
    kind = cast("Any", type(value))  # its methods are typed as those of that class
    if kind.__reduce__ is not object.__reduce__ or kind.__reduce_ex__ is not object.__reduce_ex__:
        return False  # it says itself that a copy of it takes more than its attributes
    try:
        value.__reduce_ex__(2)
    except Exception:  # Python does not know what it holds, and cannot copy it either
        return False
    return True


def _stored_mapping(
    value: Mapping[Any, Any], clean: Clean | None, within: tuple[int, ...]
) -> dict[str, Any]:
    items = list(value.items())  # its owner may be editing it in another thread
    if any(key == _TAG or not isinstance(key, str) for key, _ in items):
        pairs = [
            [_stored(key, clean, within), _stored(inner, clean, within)] for key, inner in items
        ]
        return _tagged("pairs", pairs)
    if clean is None:
        return {key: _stored(inner, clean, within) for key, inner in items}
    made: dict[str, Any] = {}
    for key, inner in items:
        free = said = clean(key)
        while free in made:
            free = f"{said} {len(made)}"
            said = free
        made[free] = _stored(inner, clean, within)
    return made


def _stored_number(value: float, clean: Clean | None) -> Any:
    if isinstance(value, int) and value.bit_length() > _LONGEST:
        return _stored_text("int", hex(value), clean)
    if clean is None:
        return value
    number = json.dumps(value)
    cleaned = clean(number)
    return value if cleaned == number else cleaned


def _stored_text(kind: str, said: str, clean: Clean | None) -> Any:
    """Return the text of a value with its tag, or what may be kept of it."""
    kept = said if clean is None else clean(said)
    return _tagged(kind, said) if kept == said else kept
