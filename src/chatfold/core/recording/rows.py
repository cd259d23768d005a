"""What names the things in the lists of a result, and what it says of one by its name.

Not here: which values of a record are told with a name (`owners`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, Final, TypeAlias, cast

from chatfold.core.call_json import Path, json_or_text, key_of, label_of
from chatfold.core.once import once
from chatfold.core.recording.phrasing import on_one_line
from chatfold.core.recording.worth import worth_as

__all__ = ["Rows", "keys_of"]

_LONGEST: Final = 60  # characters of a name
_MOST_READ: Final = 4_000  # leaves of a result that are compared with what an earlier one says
_MOST_THINGS: Final = 1_000  # of a list whose things are told from each other
_DEEPEST: Final = 12  # steps to a value: JSON may be nested so deeply that no stack holds it
_MOST_AROUND: Final = 3  # things in each other that are named
_MOST_NAMES: Final = 8  # by which one thing may be known, with what it stands in
_NAME = re.compile(r"(?:^|_)(?:name|title)$")
_INNER: Final = (dict, list)
_SCALARS: Final = (str, int)
_OTHER: Final = 3
_MERE: Final = 4  # what is more, for digits alone
_LIKE_AN_ID = re.compile(r"[A-Za-z](?=.{3})[\w/-]*\d[\w/-]*")
_PLAIN: Final = frozenset({"id", "name", "title"})

_Names: TypeAlias = tuple[tuple[str, str], ...]
"""Keys of a thing, and what names it under each."""


class Rows:
    """The things in the lists of one result.

    Args:
        root: The result as JSON types, or as text.
        clean: Applied to every name.
        is_held: Whether the model's text holds a name: a thing is named as that has it.
        ranks: How well keys name things, by them and the key of their list; more is added to it.
    """

    def __init__(
        self,
        root: Any,
        clean: Callable[[str], str],
        is_held: Callable[[str], bool],
        ranks: dict[tuple[str, str], int],
    ) -> None:
        self._root = root
        self._clean = clean
        self._is_held = is_held
        self._ranks = ranks
        self._lists: dict[Path, Sequence[_Names]] = {}

    def owner(self, path: Path) -> str:
        """Return what names the thing that a value is of, and what that stands in.

        "" where nothing does, or that takes too many words. Inside of a thing without a name none
        counts: there may be another one of that name inside of the next.

        Args:
            path: Where the value stands.
        """
        names: list[str] = []
        if len(path) > _DEEPEST:
            return ""
        for at in range(1, len(path)):
            if type(path[at - 1]) is int:
                found = self.names(path[:at])
                if not found:
                    break
                names.append(found[0][1])
        return _told(names) if len(names) <= _MOST_AROUND else ""

    def names(self, path: Path) -> _Names:
        """Return what tells a thing from the others in its list, the best first.

        Args:
            path: Where the thing stands: keys and indices, an index last.
        """
        if not path:
            return ()
        above = path[:-1]
        if above not in self._lists:
            self._lists[above] = self._telling(above)
        known, at = self._lists[above], path[-1]
        found = known[at] if type(at) is int and at < len(known) else ()
        if len(found) < 2:
            return found
        return tuple(sorted(found, key=lambda name: not self._is_held(name[1])))

    def said_of(self, owner: str, keys: str) -> set[str] | None:
        """Return what the result says of a thing under some keys; None where it says too much.

        Args:
            owner: What names the thing, by any of its names.
            keys: The last keys that lead to it (see `keys_of`).
        """
        if len(self._leaves) >= _MOST_READ:
            return None
        return {
            text
            for owners, label, text in self._leaves
            if owner in owners and f".{label}".endswith(f".{keys}")
        }

    @once
    def is_one_list(self) -> bool:
        """Whether the result has one list of things at most: each of its names is of one.

        False where it is too large to say.
        """
        waiting: list[Any] = [_opened(self._root)]
        lists = 0
        for _ in range(_MOST_READ):
            if not waiting or lists > 1:
                return lists < 2
            value = waiting.pop()
            found = _containers(value)
            lists += type(value) is list and len(found) > 0
            waiting += found
        return False

    @once
    def _leaves(self) -> list[tuple[Sequence[str], str, str]]:
        """The first values of things: what may name the thing, the keys, and the text."""
        found = self._inside(self._root, (), ((),))
        return list(islice(found, _MOST_READ))

    def _inside(
        self, value: Any, path: Path, known: Sequence[tuple[str, ...]]
    ) -> Iterator[tuple[Sequence[str], str, str]]:
        """Yield the values of things at a path and below, given what names what they stand in."""
        value = _opened(value) if len(path) <= _DEEPEST else None
        if type(value) is dict:
            for key, inner in cast("dict[str, Any]", value).items():
                yield from self._inside(inner, (*path, key), known)
        elif type(value) is list:
            for at, inner in enumerate(cast("list[Any]", value)):
                names = [name for _, name in self._all_names(inner, key_of(path))]
                around = [(*outer, name) for outer in known for name in names][:_MOST_NAMES]
                yield from self._inside(inner, (*path, at), around or known)
        elif known != ((),):
            text = on_one_line(value, self._clean)
            yield [_told(names) for names in known], keys_of(label_of(path)), text

    def _telling(self, path: Path) -> Sequence[_Names]:
        """Return what tells each of the things in the list at a path from the others."""
        things: Any = _opened(self._root)
        for step in path:
            try:
                things = _opened(things[step])
            except (LookupError, TypeError):
                return ()
        if type(things) is not list or len(cast("list[Any]", things)) > _MOST_THINGS:
            return ()
        named = [self._all_names(thing, key_of(path)) for thing in cast("list[Any]", things)]
        often = Counter((key, text.casefold()) for names in named for key, text in names)
        return [
            tuple(one for one in names if often[one[0], one[1].casefold()] < 2) for names in named
        ]

    def _all_names(self, thing: Any, of: str) -> _Names:
        """Return the ids and names of a thing, the best first.

        Args:
            thing: It, or anything else in a list.
            of: Key of the list.
        """
        thing = _opened(thing)
        if type(thing) is not dict:
            return ()
        found: list[tuple[int, str, str]] = []
        for key, leaf in cast("dict[str, Any]", thing).items():
            text = str(leaf) if type(leaf) in _SCALARS else ""
            if not 0 < len(text) <= _LONGEST:
                continue
            rank = self._ranks.get((key, of))
            if rank is None:
                rank = self._ranks[key, of] = _rank(key, of)
            if not rank and _LIKE_AN_ID.fullmatch(text) is None:
                continue
            rank = rank or _OTHER
            text = on_one_line(text, self._clean)
            if text.isdigit():  # says nothing without its key
                rank, text = rank + _MERE, f"{self._clean(key)} {text}"
            if text:
                found.append((rank, key, text))
        return tuple((key, text) for _, key, text in sorted(found, key=itemgetter(0)))


def _containers(value: Any) -> list[Any]:
    """Return the objects and arrays right in one."""
    if type(value) is dict:
        inside: Iterable[Any] = cast("dict[str, Any]", value).values()
    else:
        inside = cast("list[Any]", value) if type(value) is list else ()
    return [inner for inner in map(_opened, inside) if type(inner) in _INNER]


def keys_of(label: str) -> str:
    """Return the keys of a label without the places in lists, joined by dots."""
    return ".".join(step for step in label.split(".") if not step.isdigit())


def _told(names: Sequence[str]) -> str:
    """Return the names of a thing and of what it stands in, from the outermost on, as one."""
    return " of ".join(reversed(names))


def _opened(value: Any) -> Any:
    """Return what is inside of a text that holds JSON; anything else as it is."""
    return json_or_text(value) if type(value) is str else value


def _rank(key: str, of: str) -> int:
    """Return how well what stands under a key names its thing: 1 is best; 0 where it does not.

    Other ids of a thing may be of what it has to do with.

    Args:
        key: The key.
        of: Key of the list that the thing stands in.
    """
    plain = key_of((key,))
    if plain in _PLAIN or of in (f"{plain}s", f"{plain}es"):
        return 1
    if _NAME.search(plain) is not None:
        return 2
    return _OTHER if worth_as("number", key, None) == "id" else 0
