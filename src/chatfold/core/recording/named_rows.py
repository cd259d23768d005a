"""Says in a record which thing in a list values are of, where the model's text holds its name.

For what the text holds is not said again, and the name may be all that says it. Not here: what
names a thing (`rows`), the words for values (`phrasing`), which of them fit (`choice`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chatfold.core.call_json import Path, label_of
from chatfold.core.call_words import CallWords
from chatfold.core.entries import Entry, Field, written
from chatfold.core.phrases import FINE
from chatfold.core.recording.choice import Line
from chatfold.core.recording.phrasing import on_one_line
from chatfold.core.recording.rows import telling_keys
from chatfold.core.recording.sizes import TextSizes
from chatfold.core.sightings import Sighting

__all__ = ["NamedRows"]


class NamedRows:
    """Puts what names a thing in a list in front of its values.

    Args:
        words: The words of all calls.
        is_held: Whether the model's text holds a name.
    """

    def __init__(self, words: CallWords, is_held: Callable[[str], bool]) -> None:
        self._words = words
        self._is_held = is_held
        self._keys: dict[tuple[int, Path], tuple[str, ...]] = {}

    def named(
        self, entries: Iterable[Entry], lines: Iterable[Line], room: int, count: TextSizes
    ) -> tuple[Entry, ...]:
        """Return entries with the names of the things of which they have values, where these fit.

        Args:
            entries: The entries.
            lines: The words for values that they may have.
            room: Shares of a token that the names may take (see `FINE`).
            count: Returns the sizes of texts in tokens.
        """
        homes = {
            (phrase.groups[1].name, phrase.groups[1].arguments, phrase.full): phrase.home
            for phrase, _, _ in lines
            if phrase.full is not None and phrase.call is not None
        }
        out: list[Entry] = []
        for entry in entries:
            fields = dict[Field, None]()
            for field in entry.values:
                home = homes.get((entry.name, entry.arguments, field))
                name = None if home is None else self._name(field.label, home)
                if name is not None and name not in fields and name not in entry.values:
                    cost = count(f" {written(name)}," * FINE)
                    if cost <= room:
                        room -= cost
                        fields[name] = None
                fields[field] = None
            out.append(entry._replace(values=tuple(fields)))
        return tuple(out)

    def _name(self, label: str, home: Sighting) -> Field | None:
        """Return what names the thing in a list that a value stands in, if the text holds it.

        Args:
            label: The value's label.
            home: Where it stands.
        """
        call, path = home.call, home.path
        assert call is not None  # it is of a result
        at = next((n for n in range(len(path) - 1, 0, -1) if type(path[n - 1]) is int), 0)
        row, clean = path[:at], self._words.clean
        inside = clean(label_of(path[at:]))
        if not at or not label.endswith(f".{inside}"):
            return None
        thing = self._words.leaf(self._words.result(call), row)
        for key in self._keys_of(call, row[:-1]):
            text = on_one_line(thing[key], clean)
            if text and self._is_held(text):
                return Field(label.removesuffix(inside) + clean(key), text)
        return None

    def _keys_of(self, call: int, path: Path) -> tuple[str, ...]:
        """Return the keys that tell the things in the list at a path from each other."""
        known = self._keys.get((call, path))
        if known is None:
            words = self._words
            known = telling_keys(words.leaf(words.result(call), path))
            self._keys[call, path] = known
        return known
