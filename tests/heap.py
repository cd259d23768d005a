"""What is alive in this process, searched for texts that should be gone."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

_MOST = 9  # of those that are told
_LONGEST = 200  # characters of what is shown of a holder
_TEXTS = (str, bytes, bytearray)


def held(mark: str) -> list[str]:
    """Return some of those who hold a text with a mark in it, in any letters: the way to each.

    All that the collector knows is looked through, and what that leads to: tuples and dicts of
    mere texts, which it does not follow, and what a cache of `functools` holds; and the variables
    of the other threads.
    """
    for _ in range(3):  # what a finalizer lets go of is collected by the next
        gc.collect()
    waiting: list[tuple[Any, ...]] = [(one,) for one in (*gc.get_objects(), *_variables())]
    seen = {id(way[0]) for way in waiting}
    found: list[tuple[Any, ...]] = []
    while waiting:
        way = waiting.pop()
        for inner in gc.get_referents(way[-1]):
            if issubclass(type(inner), _TEXTS):  # a proxy whose object is gone cannot be asked
                if mark in _plain(inner):
                    found.append((*way, inner))
            elif id(inner) not in seen:
                seen.add(id(inner))
                waiting.append((*way, inner))
    return sorted({" > ".join(map(_shown, way)) for way in found})[:_MOST]


def holds(one: Any, mark: str) -> bool:
    """Return whether an object leads to a text with a mark in it; code is not looked through.

    It takes a moment, where `held` looks through all that frameworks have loaded.
    """
    waiting, seen = [one], {id(one)}
    while waiting:
        at = waiting.pop()
        if isinstance(at, FunctionType):  # its module leads to everything
            inner: list[Any] = [at.__closure__, at.__defaults__, at.__kwdefaults__]
        else:
            inner = gc.get_referents(at)
        for each in inner:
            if issubclass(type(each), _TEXTS):
                if mark in _plain(each):
                    return True
            elif id(each) not in seen and not isinstance(each, type | ModuleType):
                seen.add(id(each))
                waiting.append(each)
    return False


def _variables() -> Iterator[dict[str, Any]]:
    """Yield the variables of what the other threads are in the middle of."""
    for thread, frame in sys._current_frames().items():
        at = None if thread == threading.get_ident() else frame
        while at is not None:
            yield at.f_locals
            at = at.f_back


def _plain(text: str | bytes | bytearray) -> str:
    return (text if isinstance(text, str) else text.decode("latin-1")).lower()


def _shown(one: Any) -> str:
    name = getattr(one, "__qualname__", None) if callable(one) else None
    return f"{type(one).__name__} {name or repr(one)}"[:_LONGEST]
