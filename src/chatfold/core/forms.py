"""Forms that a value of JSON types may have, asked strictly: nothing is missing, nothing is new.

What tools return is data, and may look like a provider's block by chance: only what has the whole
form of one counts as one. Not here: the forms of the providers (`chatfold.shapes`).
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

__all__ = [
    "Form",
    "base64_text",
    "either",
    "filled",
    "list_of",
    "mapping",
    "one_of",
    "record",
    "text",
]

Form: TypeAlias = Callable[[object], bool]
"""Returns whether a value has the form."""


def text(value: object) -> bool:
    """Return whether a value is a text."""
    return isinstance(value, str)


def filled(value: object) -> bool:
    """Return whether a value is a text of more than blanks."""
    return isinstance(value, str) and bool(value.strip())


def base64_text(value: object) -> bool:
    """Return whether a value is base64 of at least one byte; line breaks may stand in it."""
    if not isinstance(value, str):
        return False
    try:
        return bool(b64decode("".join(value.split()), validate=True))
    except ValueError:
        return False


def mapping(value: object) -> bool:
    """Return whether a value is an object that JSON can hold."""
    if not isinstance(value, Mapping):
        return False
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def one_of(*values: object) -> Form:
    """Return the form of one of these values; arrays and the like are compared with none."""
    kinds = tuple({type(each) for each in values})
    return lambda value: isinstance(value, kinds) and value in values


def either(*forms: Form) -> Form:
    """Return the form of what has one of these forms."""
    return lambda value: any(form(value) for form in forms)


def list_of(form: Form) -> Form:
    """Return the form of a list of at least one value of that form."""

    def holds(value: object) -> bool:
        if not isinstance(value, (list, tuple)):
            return False
        members = cast("Sequence[object]", value)
        return bool(members) and all(map(form, members))

    return holds


def record(needed: Mapping[str, Form], further: Mapping[str, Form] | None = None) -> Form:
    """Return the form of an object.

    Args:
        needed: Its keys, and the form of the value of each.
        further: Keys that it may have besides; a value that is None is as none.
    """
    others = further or {}

    def holds(value: object) -> bool:
        if not isinstance(value, Mapping):
            return False
        fields = cast("Mapping[object, object]", value)
        known = {**others, **needed}
        return needed.keys() <= fields.keys() and all(
            isinstance(key, str)
            and key in known
            and (known[key](inner) or (inner is None and key not in needed))
            for key, inner in fields.items()
        )

    return holds
