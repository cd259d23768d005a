"""What the validators of all shapes share. Nothing here uses chatfold's code, on purpose."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import Any

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where the list breaks a rule, or, with `open`, is only unfinished.

    Attributes:
        index: Index of the item in the list that was judged.
        rule: Short snake_case name of the rule.
        detail: What was found there.
        open: True for what the host may still complete by appending to the list.
    """

    index: int
    rule: str
    detail: str
    open: bool = False


def normalise(value: Any) -> Any:
    """Return the value as plain dicts, lists and scalars, with the providers' key names."""
    if hasattr(value, "to_dict"):
        value = value.to_dict(mode="python")
    elif hasattr(value, "model_dump"):
        value = value.model_dump(by_alias=True, exclude_unset=True)
    if isinstance(value, dict):
        return {key: normalise(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [normalise(inner) for inner in value]
    if isinstance(value, bytes):
        return urlsafe_b64encode(value).decode()
    return value


def readable(items: list[Any]) -> list[Item]:
    """Return one dict per item; an item that is no object is an empty one."""
    plain = [normalise(item) for item in items]
    return [item if isinstance(item, dict) else {} for item in plain]


def dicts(value: Any) -> list[Item]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []
