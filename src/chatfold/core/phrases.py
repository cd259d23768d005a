"""The words for facts as they may go into a record, and what they take of its room.

Not here: how they are found (`phrasing`), which facts are needed (`needs`), which fit (`choice`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from chatfold.core.call_json import Path
from chatfold.core.entries import Entry, Field, line, written
from chatfold.core.sightings import Sighting

__all__ = ["FINE", "Count", "Group", "Phrase", "Phrases", "Way", "price"]

FINE: Final = 4
"""Costs are told in shares of a token, of which there are so many in one: in whole tokens, those of
dozens of values that are alike are wrong by the same, and add up to a tenth of the room."""

_AROUND, _CHARACTERS = 2, 3  # what a value takes, about: tokens around it, characters of a token
_MOST_NOTED = 1_000  # phrases, twice: a record holds a few hundred, and mostly new ones
_MOST_WAYS = 1_000


class Group:
    """An entry of a record that values may go into, the same object wherever it is meant.

    Attributes:
        name: The tool, the key, the kind or the author that it says something of.
        arguments: What tells its call from others; None where it is of no single call.
        cost: What its line takes of the room without values, in shares of a token (see `FINE`); 0
            as long as nobody asked.
    """

    __slots__ = ("arguments", "cost", "name")

    def __init__(self, name: str, arguments: tuple[Field, ...] | None = None) -> None:
        self.name = name
        self.arguments = arguments
        self.cost = 0

    def __repr__(self) -> str:
        return f"Group({self.name!r}, {self.arguments!r})"


@dataclass(slots=True, eq=False)
class Phrase:
    """The words for a fact, of one place where it stands, in one or two forms.

    Attributes:
        home: The place.
        bare: It as it stands with others of its key or kind.
        full: It as it stands in an entry that says by its call or its words what it is of; None
            where the other form says as much.
        groups: The two entries.
        share: How much of the fact's worth these words are worth.
        call: Position of the call whose result it is, if others like that may say something newer.
        costs: What the two forms take of the room, in shares of a token (see `FINE`); 0 as long as
            nobody asked.
        key: What all phrases have in common that say the same.
        length: About what the bare form takes of the room, in tokens.
    """

    home: Sighting
    bare: Field
    full: Field | None
    groups: tuple[Group, Group]
    share: float = 1.0
    call: int | None = None
    costs: tuple[int, int] = (0, 0)
    key: str = field(init=False)
    length: int = field(init=False)

    def __post_init__(self) -> None:
        """Normalize the words, and estimate how long they are."""
        label, text, _ = self.bare
        self.key = text.casefold()
        self.length = _AROUND + (len(label) + len(text)) // _CHARACTERS


class Way(NamedTuple):
    """What is said of values at one path, in whichever call: not their label, which depends on it.

    Attributes:
        key: Its last key, "" where it has none.
        short: Name of the entry of values under that key.
        in_a_list: Whether it leads through a list.
    """

    key: str
    short: str
    in_a_list: bool


class Phrases:
    """The words for the facts of a list that were found ahead of a fold: for the latest ones.

    They come and go by the thousand, so that to hold another one costs always the same.

    Attributes:
        frame: What a record takes beside its entries, in tokens; 0 as long as nobody asked.
    """

    def __init__(self) -> None:
        self.frame = 0
        self._noted: dict[str, Phrase] = {}
        self._before: dict[str, Phrase] = {}
        self._groups: dict[tuple[str, tuple[Field, ...] | None], Group] = {}
        self._groups_before: dict[tuple[str, tuple[Field, ...] | None], Group] = {}
        self._ways: dict[tuple[str | None, Path], Way] = {}

    def tables(self) -> tuple[Mapping[str, Phrase], Mapping[str, Phrase]]:
        """Return the words that are known by the keys of facts: first the newer ones."""
        return self._noted, self._before

    def get(self, key: str) -> Phrase | None:
        """Return the words for the fact of a key, if they are known."""
        return self._noted.get(key) or self._before.get(key)

    def group(self, name: str, arguments: tuple[Field, ...] | None = None) -> Group:
        """Return the entry of that name and arguments."""
        key = (name, arguments)
        known = self._groups.get(key)
        if known is None:
            # No phrase is held for longer than its entries: one entry is always one object.
            known = self._groups_before.get(key) or Group(name, arguments)
            self._groups[key] = known
        return known

    def note(self, key: str, phrase: Phrase) -> None:
        """Hold the words for the fact of a key."""
        self._noted[key] = phrase
        if len(self._noted) >= _MOST_NOTED:
            self._before, self._noted = self._noted, {}
            self._groups_before, self._groups = self._groups, {}

    def way(self, tool: str | None, path: Path, made: Callable[[], Way]) -> Way:
        """Return what is said of what stands at a path in the calls of a tool or their results.

        Args:
            tool: The tool's name, None where it has none.
            path: The path.
            made: Finds out.
        """
        known = self._ways.get((tool, path))
        if known is None:
            if len(self._ways) >= _MOST_WAYS:
                self._ways.clear()
            known = self._ways[tool, path] = made()
        return known


Count: TypeAlias = Callable[[Sequence[str]], list[int] | None]
"""Returns the sizes of texts in tokens; None where that takes too long for now."""


def price(phrases: Iterable[Phrase], count: Count) -> None:
    """Find out what phrases and their entries take of the room, where that is not known.

    Args:
        phrases: The phrases.
        count: Counts the texts that are new.
    """
    new = [phrase for phrase in phrases if not phrase.costs[0]]
    groups = dict.fromkeys(group for phrase in new for group in phrase.groups if not group.cost)
    shown: list[str] = []
    for phrase in new:
        shown.append(f" {written(phrase.bare)}," * FINE)
        shown.append("" if phrase.full is None else f" {written(phrase.full)}," * FINE)
    shown += [f"\n- {line(Entry(group.name, group.arguments))}:" * FINE for group in groups]
    sizes = count(shown) if shown else []
    if sizes is None:
        return
    for phrase, bare, full in zip(new, sizes[::2], sizes[1::2], strict=False):
        phrase.costs = bare or 1, full
    for group, size in zip(groups, sizes[2 * len(new) :], strict=True):
        group.cost = size or 1
