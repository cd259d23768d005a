"""Native items as stores keep them: JSON types, out of which equal items are made again.

`views.plain` writes what a provider reads, and bytes and decimals as text there; who gets that
text back sends another picture than the user did. Here each says what it was. Not here: the bytes
that a database holds (`chatfold.stores`), what an SDK's object is made of (`views.fields_of`).
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, Final, cast
from uuid import UUID

from chatfold.core.views import fields_of, plain

__all__ = ["NotRestorableError", "from_stored", "to_stored"]

_TAG: Final = "$chatfold"  # key of a dict that stands for a value of another type
_LOST: Final = "lost"  # what it says of a value that no JSON brings back

Clean = Callable[[str], str]


class NotRestorableError(ValueError):
    """A stored item held an object that no JSON brings back, an open file for one."""


def to_stored(value: Any, clean: Clean | None = None) -> Any:
    """Return `value` as JSON types, from which `from_stored` makes an equal value.

    An SDK's object becomes a dict of the fields that were set, under their wire names.

    Args:
        value: Anything; what cannot come back is marked as lost, and kept as far as it can be read.
        clean: Is given each text, also keys and numbers as JSON has them (tools put mail addresses
            into keys and card numbers into numbers), and returns what may be kept of it.
            Keys that become the same are told apart by a number. Bytes are kept as they are.
    """
    if isinstance(value, Enum):
        return to_stored(value.value, clean)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value if clean is None else clean(value)
    if isinstance(value, (int, float)):
        return value if clean is None else _cleaned_number(value, clean)
    if isinstance(value, Mapping):
        return _stored_mapping(cast("Mapping[Any, Any]", value), clean)
    if isinstance(value, list):
        return [to_stored(inner, clean) for inner in cast("list[Any]", value)]
    return _stored_object(value, clean)


def from_stored(value: Any, *, whole: bool = False) -> Any:
    """Return the value that `to_stored` was given, or one equal to it.

    Args:
        value: JSON types.
        whole: Whether what was lost is an error; else what could be read of it stands there.

    Raises:
        NotRestorableError: Something was lost, and `whole` is true.
    """
    if isinstance(value, list):
        return [from_stored(inner, whole=whole) for inner in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if _TAG not in fields:
        return {key: from_stored(inner, whole=whole) for key, inner in fields.items()}
    said = from_stored(fields["value"], whole=whole)
    if fields[_TAG] in _READ:
        return _READ[fields[_TAG]](said)
    if whole:
        raise NotRestorableError(f"the store holds no more of a value than {said!r}")
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
_READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    "bytes": b64decode,
    "decimal": Decimal,
    "uuid": UUID,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "tuple": tuple,
    "pairs": dict,
}


def _tagged(kind: str, value: Any) -> dict[str, Any]:
    return {_TAG: kind, "value": value}


def _stored_object(value: Any, clean: Clean | None) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return _tagged("bytes", _base64(bytes(value)))
    if type(value) in _WRITTEN:
        kind, write = _WRITTEN[type(value)]
        said = write(value)
        kept = said if clean is None else clean(said)
        return _tagged(kind, said) if kept == said else kept
    if isinstance(value, tuple):  # one with names equals one without
        return _tagged("tuple", [to_stored(one, clean) for one in cast("Sequence[Any]", value)])
    fields = fields_of(value)
    if not isinstance(fields, str) and (fields or hasattr(value, "model_dump")):
        return to_stored(fields, clean)
    return _tagged(_LOST, to_stored(plain(value), clean))


def _stored_mapping(value: Mapping[Any, Any], clean: Clean | None) -> dict[str, Any]:
    keys = list(value)
    if _TAG in value or not all(isinstance(key, str) for key in keys):
        pairs = [[to_stored(k, clean), to_stored(v, clean)] for k, v in value.items()]
        return _tagged("pairs", pairs)
    if clean is None:
        return {key: to_stored(inner, clean) for key, inner in value.items()}
    made: dict[str, Any] = {}
    for key, inner in value.items():
        free = said = clean(key)
        while free in made:
            free = f"{said} {len(made)}"
            said = free
        made[free] = to_stored(inner, clean)
    return made


def _cleaned_number(value: float, clean: Clean) -> Any:
    number = json.dumps(value)
    cleaned = clean(number)
    return value if cleaned == number else cleaned
