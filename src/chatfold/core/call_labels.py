"""What tells the values of one result from each other: as much of the path as no other has.

Not here: the words of values (`phrasing`), and what tells calls from each other (`call_words`).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, cast

from chatfold.core.call_json import Path, label_of

__all__ = ["DEEP", "Labels"]

DEEP: Final = 2
"""Steps of a path, of which a label has at least so many: what has more of them stands deep."""

_INNER: Final = (dict, list)


class _Node(NamedTuple):
    """An object or an array in a JSON value.

    Attributes:
        step: The key or index that leads to it; None for the outermost.
        parent: Position of what it stands in.
        value: What it is.
    """

    step: str | int | None
    parent: int
    value: Any


class Labels:
    """The labels of what stands deep in one result.

    Objects and arrays know what they stand in, and no path is kept: a few kilobytes of JSON may be
    nested so deeply that all its paths would fill the memory.

    Args:
        root: The result as JSON types, or as text.
    """

    def __init__(self, root: Any) -> None:
        self._nodes = nodes = [_Node(None, 0, root)]
        self._under: dict[str | int, list[int]] = {}
        self._ending: dict[Path, list[int]] = {}
        self._around: dict[Path, dict[str | int | None, list[int]]] = {}
        for at, node in enumerate(nodes):  # what is found on the way comes behind
            for step, inner in _inside(node.value):
                self._under.setdefault(step, []).append(len(nodes))
                nodes.append(_Node(step, at, inner))

    def label(self, path: Path) -> str:
        """Return the last two steps of a path, or more: what tells it from others beside it.

        In a list that begins with the place in it, as the next result may hold others there.

        Args:
            path: The path, of more than two steps: of a shorter one all is told.
        """
        alike = self._that_end(path[-DEEP:])
        own = self._leads_to_a_leaf(path)  # else it goes on in JSON inside a text
        reached, least = DEEP, _place_in_list(path)
        while reached < len(path) and (reached < least or len(alike) > own):
            around = self._those_around(path[-reached:], alike)
            reached += 1
            alike = around.get(path[-reached], [])
        return label_of(path[-reached:])

    def _that_end(self, end: Path) -> list[int]:
        """Return what the first step of an end leads to, and holds a leaf by the last."""
        known = self._ending.get(end)
        if known is None:
            nodes, (step, last) = self._nodes, end
            known = [at for at in self._under.get(step, ()) if _has(nodes[at].value, last)]
            self._ending[end] = known
        return known

    def _those_around(self, end: Path, alike: list[int]) -> dict[str | int | None, list[int]]:
        """Return what those stand in whose paths have an end, by the step that leads there.

        Longer ends are asked about seldom, and all of them would fill the memory.
        """
        known = self._around.get(end)
        if known is None:
            known = dict[str | int | None, list[int]]()
            for at in alike:
                around = self._nodes[at].parent
                known.setdefault(self._nodes[around].step, []).append(around)
            if len(end) <= DEEP + 1:
                self._around[end] = known
        return known

    def _leads_to_a_leaf(self, path: Path) -> bool:
        value = self._nodes[0].value
        for step in path[:-1]:
            if type(value) not in _INNER:
                return False
            value = value[step]
        return _has(value, path[-1])


def _inside(value: Any) -> list[tuple[str | int, Any]]:
    """Return the objects and arrays right in one, with what leads to each."""
    if type(value) is dict:
        fields = cast("dict[str, Any]", value)
        return [(key, inner) for key, inner in fields.items() if type(inner) in _INNER]
    if type(value) is list:
        inside = cast("list[Any]", value)
        return [(at, inner) for at, inner in enumerate(inside) if type(inner) in _INNER]
    return []


def _has(value: Any, step: str | int) -> bool:
    """Return whether something that is no object and no array stands right in one."""
    if type(value) is dict:
        fields = cast("dict[str | int, Any]", value)
        return step in fields and type(fields[step]) not in _INNER
    if type(value) is not list or type(step) is not int:
        return False
    inside = cast("list[Any]", value)
    return step < len(inside) and type(inside[step]) not in _INNER


def _place_in_list(path: Path) -> int:
    """Return how many steps there are from the last place in a list on, 0 without any."""
    return next((n for n, step in enumerate(reversed(path), 1) if type(step) is int), 0)
