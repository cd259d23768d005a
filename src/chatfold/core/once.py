"""A value that is found once for each object, without a lock.

`functools.cached_property` of Python 3.11 finds values under a lock that all objects of a class
share. A process that is forked meanwhile has that lock, held by a thread that it does not have:
its own folds would wait for ever. Since Python 3.12 that one holds none either
(https://docs.python.org/3/library/functools.html#functools.cached_property, read 2026-11-29).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["once"]

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801  # stands where `property` would
    """Have a method asked once for each object, as an attribute.

    What it returned stands in the `__dict__` of the object, where Python looks first the next
    time, and may be put there by others. Of two threads at once both may ask: that which is there
    first stands, for both.
    """

    def __init__(self, find: Callable[[Any], T]) -> None:
        self._find = find
        self._name = find.__name__
        self.__doc__ = find.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, one: None, owner: type) -> Self: ...
    @overload
    def __get__(self, one: object, owner: type) -> T: ...
    def __get__(self, one: object, owner: type) -> Self | T:
        if one is None:
            return self
        found: T = one.__dict__.setdefault(self._name, self._find(one))
        return found
