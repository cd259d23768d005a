"""What kind of function a caller has given: one that answers at once, or one to be awaited."""

from __future__ import annotations

import inspect
from types import FunctionType, MethodType

__all__ = ["check_sync", "is_async"]


def is_async(function: object) -> bool:
    """Return whether a call of `function` must be awaited, as far as that shows from outside."""
    plain = function.__func__ if type(function) is MethodType else function
    if type(plain) is FunctionType and not plain.__dict__:  # where a mark would be
        return bool(plain.__code__.co_flags & inspect.CO_COROUTINE)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004 - the method is wanted, not a test
    )


def check_sync(name: str, function: object) -> None:
    """Check that a function that is asked in the middle of something answers at once.

    A coroutine is always true: asked for a yes or no, it would be taken for a yes.

    Raises:
        TypeError: It has to be awaited.
    """
    if function is not None and is_async(function):
        raise TypeError(f"{name} must answer at once, and {function!r} has to be awaited")
