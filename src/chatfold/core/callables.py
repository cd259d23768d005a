"""What kind of function a caller has given: one that answers at once, or one to be awaited.

That may show only in its answer: `lambda item: ask(item)` returns a coroutine.
"""

from __future__ import annotations

import inspect
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from types import FunctionType, MethodType

__all__ = ["check_sync", "has_method", "is_async", "is_no", "is_yes", "kind_of", "unstarted"]

_BOOLS = frozenset({"bool", "bool_"})
"""What types of true and false are called: Python's, and numpy's, which is another one."""


def has_method(value: object, name: str) -> bool:
    """Return whether a value has a method that can be called: one of a class lacks its object."""
    method = getattr(value, name, None)
    return callable(method) and not (isinstance(value, type) and type(method) is FunctionType)


def kind_of(value: object) -> str:
    """Return what a value is, for an error: a class is easily given in place of an object."""
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def is_async(function: object) -> bool:
    """Return whether a call of `function` must be awaited, as far as that shows from outside."""
    plain = function.__func__ if type(function) is MethodType else function
    if type(plain) is FunctionType and not plain.__dict__:  # where a mark would be
        return bool(plain.__code__.co_flags & inspect.CO_COROUTINE)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004 - the method is wanted, not a test
    )


def _is_generator(function: object) -> bool:
    """Return whether a call of `function` runs none of it, as it has a `yield`."""
    plain = function.__func__ if type(function) is MethodType else function
    if type(plain) is FunctionType:
        flags = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
        return bool(plain.__code__.co_flags & flags)
    call = getattr(type(function), "__call__", None)  # noqa: B004 - the method is wanted, not a test
    asked = (inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    return any(ask(each) for ask in asked for each in (function, call))


def check_sync(name: str, function: object, *, may_yield: bool = False) -> None:
    """Check that a function that is asked in the middle of something answers at once.

    A coroutine and a generator are always true: asked for a yes or no, they would be taken for a
    yes.

    Args:
        name: What the function is called, for the error.
        function: The function, or None.
        may_yield: Whether its answer is looked at later, and a generator is dealt with there.

    Raises:
        TypeError: It has to be awaited, or is a generator function.
    """
    if function is None:
        return
    if is_async(function):
        raise TypeError(f"{name} must answer at once, and {function!r} has to be awaited")
    if not may_yield and _is_generator(function):
        raise TypeError(
            f"{name} must answer with return, and {function!r} is a generator function: it yields"
        )


def is_yes(name: str, answer: object) -> bool:
    """Return whether a function that was asked for a yes or no has said yes.

    Args:
        name: What the function is called, for the error.
        answer: What it returned.

    Raises:
        TypeError: Its answer has to be awaited, or is a generator.
    """
    if answer is True or answer is False:  # the quick way
        return answer
    if inspect.isawaitable(answer):
        _close(answer)
        kind = type(answer).__name__
        raise TypeError(f"{name} must answer at once, and returned what is to be awaited ({kind})")
    if inspect.isgenerator(answer) or inspect.isasyncgen(answer):
        kind = type(answer).__name__
        raise TypeError(f"{name} must answer at once, and returned what has not run ({kind})")
    return bool(answer)


def is_no(answer: object) -> bool:
    """Return whether a function that may object has done so, by a false of Python's or numpy's.

    `budget.sum() > spent` is one of numpy's. Nothing, as None or 0, is no objection.
    """
    return type(answer).__name__ in _BOOLS and not answer


def unstarted(answer: object) -> str:
    """Return the type of an answer that begins only when it is awaited or run; "" for any other.

    It is closed, as nobody will. A task or a future is at work already. A generator is what a
    function with `yield` returns that lacks `@contextmanager`, or has `@asynccontextmanager`.
    """
    runs = inspect.isgenerator(answer) or inspect.isasyncgen(answer)
    awaited = inspect.isawaitable(answer) and not hasattr(answer, "add_done_callback")
    if not (runs or awaited or _enters_later(answer)):
        return ""
    _close(answer)
    return type(answer).__name__


def _enters_later(answer: object) -> bool:
    """Return whether an answer is a context manager that can be entered by `async with` alone."""
    sync = isinstance(answer, AbstractContextManager)
    return isinstance(answer, AbstractAsyncContextManager) and not sync


def _close(answer: object) -> None:
    """Close a coroutine that is not awaited, so that Python does not warn about it."""
    if inspect.iscoroutine(answer):
        answer.close()
