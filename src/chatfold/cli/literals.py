"""JSON that is written back as it was read: no digit of a number is lost, and none is refused late.

Not here: where in a file something stands (`files`).
"""

from __future__ import annotations

import json
import math
import re
import secrets
from typing import Any, Final, cast

__all__ = ["NumberError", "dumps", "loads"]

# A string, passed over, or a number, or one of the words that Python's JSON reader takes for one.
_STRING_OR_NUMBER: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|(-?(?:Infinity|NaN|\d[\d.eE+-]*))', re.DOTALL
)
_SHOWN: Final = 20


class NumberError(ValueError):
    """A number is read by Python, but could not be written back.

    Attributes:
        literal: The number as it stands in the text.
    """

    def __init__(self, literal: str, message: str) -> None:
        self.literal = literal
        super().__init__(message)

    def position(self, text: str) -> int:
        """Return where in the text that was read the number stands."""
        found = (m for m in _STRING_OR_NUMBER.finditer(text) if m[1] == self.literal)
        return next((m.start() for m in found), 0)


class _Written(float):
    """A number that Python would write with other digits than it was read with."""

    text: str

    def __new__(cls, text: str) -> _Written:
        made = super().__new__(cls, text)
        made.text = text
        return made


def loads(text: str) -> object:
    """Return a JSON value.

    Raises:
        JSONDecodeError: The text is not JSON.
        NumberError: It holds a number that could not be written back.
    """
    return json.loads(text, parse_constant=_refuse, parse_float=_fraction, parse_int=_whole)


def dumps(value: object, indent: str | None) -> str:
    """Return a value as JSON, its numbers as they were read."""
    mark, numbers = secrets.token_hex(16), list[str]()
    if _holds_written(value):  # else it may be nested too deeply for a walk in Python
        value = _marked(value, mark, numbers)
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    if not numbers:
        return text
    # Python's encoder writes what is a float by its own rules, so the numbers go in afterwards.
    return re.sub(f'"{mark}([0-9]+)"', lambda found: numbers[int(found[1])], text)


def _holds_written(value: object) -> bool:
    left = [value]
    while left:
        inner = left.pop()
        if isinstance(inner, _Written):
            return True
        if isinstance(inner, dict):
            left += cast("dict[str, Any]", inner).values()
        elif isinstance(inner, list):
            left += cast("list[Any]", inner)
    return False


def _marked(value: object, mark: str, numbers: list[str]) -> object:
    """Return a value with a text in place of each number that is to be put in as it was read."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: _marked(inner, mark, numbers) for key, inner in fields.items()}
    if isinstance(value, list):
        return [_marked(inner, mark, numbers) for inner in cast("list[Any]", value)]
    if isinstance(value, _Written):
        numbers.append(value.text)
        return f"{mark}{len(numbers) - 1}"
    return value


def _refuse(constant: str) -> float:
    raise NumberError(constant, f"{constant} is not JSON; write null or a number")


def _fraction(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise NumberError(digits, f"the number {_shown(digits)} is too large")
    return number if repr(number) == digits else _Written(digits)


def _whole(digits: str) -> int:
    try:
        return int(digits)
    except ValueError as error:  # Python takes so many only where it is told to
        message = f"the number {_shown(digits)} is too large: it has {len(digits):,} digits"
        raise NumberError(digits, message) from error


def _shown(digits: str) -> str:
    return digits if len(digits) <= _SHOWN else f"{digits[:_SHOWN]}..."
