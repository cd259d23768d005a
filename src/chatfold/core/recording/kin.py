"""Paths that belong to what was worked with: the tests of a file, other files of a tree.

Not here: what that is worth (`needs`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from chatfold.core.sightings import Sighting

__all__ = ["Worked"]

_LEAST = 5  # letters: shorter names, such as "main" and "app", recur by chance
_EXTENSION = re.compile(r"\..*\Z")
_MARKS = re.compile(r"(?:\A|[_.-])(?:tests?|specs?|mocks?|fixtures?)(?:\Z|[_.-])|Tests?(?=\Z|\.)")
_OTHER = re.compile(r"[^a-z0-9]+")
_OF_ABSOLUTE = 4  # parts of an absolute path that tell one tree from another


class Worked:
    """The paths that were arguments of calls.

    Args:
        paths: The paths of a list, each with where it stands, in order.
    """

    def __init__(self, paths: Iterable[tuple[str, Sequence[Sighting]]]) -> None:
        self._names: dict[str, int] = {}
        self._roots: set[str] = set()
        for path, sightings in paths:
            last = next((s.index for s in reversed(sightings) if s.place == "argument"), -1)
            if last >= 0:
                self._roots.add(_root(path))
                name = _name(path)
                self._names[name] = max(last, self._names.get(name, -1))
        self._names.pop("", None)

    def kin(self, path: str) -> int:
        """Return the last item that worked with a path of the same name, -1 where none did.

        What marks a test, a fixture and the like, and what stands behind the first dot, is no part
        of a name: `tests/test_order.py` is kin of `src/order.py`.
        """
        return self._names.get(_name(path), -1)

    def is_near(self, path: str) -> bool:
        """Return whether a path is of a tree that was worked in."""
        return _root(path) in self._roots


def _name(path: str) -> str:
    """Return what a path shares with its kin, "" where that is too short to tell."""
    last = path.rstrip("/").rpartition("/")[2]
    name = _EXTENSION.sub("", _MARKS.sub(".", last).strip("._-"))
    name = _OTHER.sub("", name.lower())
    return name if len(name) >= _LEAST else ""


def _root(path: str) -> str:
    return "/".join(path.split("/", _OF_ABSOLUTE)[: _OF_ABSOLUTE if path[:1] in "/~" else 1])
