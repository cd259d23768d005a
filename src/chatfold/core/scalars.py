"""Whether a plain value that a caller gives is of its kind: a flag, a number, a name.

Not here: functions (`callables`), and what an option means (`chatfold.options`).
"""

from __future__ import annotations

__all__ = ["check_flags", "check_model", "check_number", "check_whole"]

_MOST = 2**63 - 1


def check_flags(**flags: object) -> None:
    """Check that flags are true or false: a word from a file of settings counts as true.

    Args:
        **flags: The flags by their names.

    Raises:
        TypeError: One is something else.
    """
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name} must be True or False, not {value!r}")


def check_model(name: str, value: object) -> None:
    """Check what is to be the name of a model, or None; a client is easily put there.

    Raises:
        TypeError: It is something else; the message shows nothing of what that holds.
    """
    if not (value is None or isinstance(value, str)):
        raise TypeError(f"{name} must be the name of a model, or None, not {type(value).__name__}")


def check_number(name: str, value: object) -> None:
    """Check what is to be a number; true and false are none, though Python counts with them.

    Raises:
        TypeError: It is something else.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, not {value!r}")


def check_whole(name: str, value: object, least: int) -> None:
    """Check that a number is whole, large enough, and none that breaks what counts with it.

    Raises:
        TypeError: It is not whole, or no number.
        ValueError: It is less than `least`, or of more than 64 bits.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value < least:
        raise ValueError(f"{name} must be {least} or more, not {value!r}")
    if value > _MOST:
        raise ValueError(f"{name} must be {_MOST:,} at most")
