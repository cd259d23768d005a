"""What a store of this process says where it is to be copied into another one."""

from __future__ import annotations

from typing import ClassVar, NoReturn, Self

__all__ = ["Kept"]


class Kept:
    """A store with locks or connections, which stay in the process that has made them."""

    _instead: ClassVar[str]
    """What it is, that it cannot be copied, and what to do instead."""

    def __copy__(self) -> Self:
        """Return another one of the same folds."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __getstate__(self) -> NoReturn:
        """Say what to do instead, where Python would say that a lock cannot be pickled.

        A class of the user's own may know better, and say what it is made anew of.
        """
        raise TypeError(self._instead)
