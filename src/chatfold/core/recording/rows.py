"""What tells the things in a list from each other: the id, or the name, that each of them has.

Not here: when a record says it (`named_rows`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from chatfold.core.call_json import key_of
from chatfold.core.entries import Field
from chatfold.core.recording.worth import worth_as
from chatfold.core.values import values

__all__ = ["names_its_row", "telling_keys", "with_names"]

_SEVERAL = 2
_ROW = re.compile(r"(?:.*\.)?\d+\.")
_NAME = re.compile(r"(?:^|_)(?:name|title)$")


def telling_keys(things: Any) -> tuple[str, ...]:
    """Return the keys of ids, then of names, that each thing in a list has, and each another one.

    What many of them have, such as a customer's id, does not tell them from each other.
    """
    if type(things) is not list:
        return ()
    inside = cast("list[Any]", things)
    if len(inside) < _SEVERAL or any(type(thing) is not dict for thing in inside):
        return ()
    rows = cast("list[dict[str, Any]]", inside)

    def tells(key: str) -> bool:
        found = [row.get(key) for row in rows]
        return all(type(leaf) in (str, int) for leaf in found) and len({*found}) == len(found)

    ids = [key for key, leaf in rows[0].items() if _is_id(key, leaf) and tells(key)]
    names = [key for key in rows[0] if key not in ids and _is_name(key) and tells(key)]
    return (*ids, *names)


def names_its_row(field: Field) -> bool:
    """Return whether a value in a list names the thing that it stands in."""
    row = _row(field.label)
    key = field.label.removeprefix(row)
    return row != "" and (_is_id(key, field.text) or _is_name(key))


def with_names(left: Sequence[Field], fields: Iterable[Field]) -> tuple[Field, ...]:
    """Return what is left of an earlier entry's values, the names of things in front of theirs.

    Args:
        left: The values that are left; names among them stay where they are.
        fields: All values of the entry.
    """
    now: dict[str, Field] = {}
    names: dict[Field, Field] = {}
    for field in fields:
        row = _row(field.label)
        known = now.get(row)
        if names_its_row(field) and (known is None or known.label == field.label):
            now[row] = field  # the same place in the list, another thing since
        elif known is not None:
            names[field] = known
    out = dict[Field, None]()
    for field in left:
        name = names.get(field)
        if name is not None and name not in left:
            out[name] = None
        out[field] = None
    return tuple(out)


def _row(label: str) -> str:
    """Return as much of a label as leads to the thing in a list, "" where it is of none."""
    found = _ROW.match(label)
    return found[0] if found else ""


def _is_id(key: str, leaf: object) -> bool:
    if worth_as("number", key, None) == "id":
        return True
    return isinstance(leaf, str) and any(v.kind == "id" and v.text == leaf for v in values(leaf))


def _is_name(key: str) -> bool:
    return _NAME.search(key_of((key,))) is not None
