"""Whether a value stands in what was shown as it is written, or in other groups, or other marks.

Not here: what its key says of it (`ungrounded`).
"""

from __future__ import annotations

import re
from typing import Final

from chatfold.core.grounding.phones import is_shown_in_groups, without_gaps
from chatfold.core.grounding.shown import Sources
from chatfold.core.once import once
from chatfold.core.stands_in import stands_in, stands_spaced_in
from chatfold.core.values import Kind, Value

__all__ = ["Search"]

_MOST: Final = 200  # texts that are looked for as they are written, in all that was shown
_SHORTEST_SPELLED: Final = (
    5  # letters and digits of an id that may stand in groups; "a 12" is no A12
)
_GAPS: Final = " ./-\u00a0\u202f"
_NOT_IN = re.compile(r"(?<![\w@])(?<!\w[./-])")
_NOT_ON = re.compile(r"(?![\w@]|[./-]\w)")
_ANYTHING = re.compile("")
_NO_GAPS: Final = str.maketrans("", "", _GAPS)
_MARKS = re.compile(r"[^a-z0-9]")


class Search:
    """Looks for values in what was shown, so many of them at most.

    Args:
        sources: What was shown; nothing is read of it any more while this is asked.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._done = 0
        self._found: dict[str, bool] = {}

    def stands(self, value: Value) -> bool:
        """Return whether a value stands as it is written in what was shown."""
        if value.kind == "id" and (self._is_folded(value) or self._is_spelled(value)):
            return True
        if len(value.text) < 3:
            return False
        if value.text not in self._found:
            self._found[value.text] = self.holds(value.text, value.kind)
        return self._found[value.text]

    def holds(self, word: str, kind: Kind = "path") -> bool:
        """Return whether a word stands by itself in what was shown."""
        if self._done >= _MOST:
            return False
        self._done += 1
        behind = _ANYTHING if kind == "hash" else _NOT_ON
        return any(stands_in(text, word, _NOT_IN, behind) for text in self._sources.texts)

    def holds_in_groups(self, phone: str) -> bool:
        """Return whether a telephone number was shown in other groups, given its key."""
        self._done += 1
        if self._done > _MOST:
            return False
        return is_shown_in_groups(phone, self._sources.texts, self._dense)

    def _is_folded(self, value: Value) -> bool:
        """Return whether an id was shown with other marks between its letters and digits."""
        return _fold(value.key) in self._folded

    def _is_spelled(self, value: Value) -> bool:
        """Return whether an id was shown in groups: TP445902118 as `TP 445 902 118`."""
        name = "".join(filter(str.isalnum, value.text))
        if len(name) < _SHORTEST_SPELLED:
            return False
        shown = zip(self._sources.texts, self._joined, strict=True)
        return any(name in joined and stands_spaced_in(text, name, _GAPS) for text, joined in shown)

    @once
    def _dense(self) -> list[str]:
        return list(map(without_gaps, self._sources.texts))

    @once
    def _folded(self) -> set[str]:
        kinds = self._sources.kinds
        return {_fold(key) for key, kind in kinds.items() if kind in ("id", "hash")}

    @once
    def _joined(self) -> list[str]:
        return [text.translate(_NO_GAPS) for text in self._sources.texts]


def _fold(key: str) -> str:
    return _MARKS.sub("", key.partition(":")[2])
