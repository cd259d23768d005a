"""Where the facts of a list are kept between folds, and read ahead of them.

Not here: what facts are, and how they are put together (`facts`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from chatfold.core.call_words import CallWords
from chatfold.core.calls import CallPairing
from chatfold.core.facts import Facts, Told
from chatfold.core.phrases import Count, Phrase, price
from chatfold.core.recording.phrasing import PhraseFinder
from chatfold.core.recording.worth import USED_LATER
from chatfold.core.uses import home_of
from chatfold.core.views import ItemView

__all__ = ["KeptFacts"]

_PHRASED: Final = 8  # facts whose words are found at one time, at most: few of more go in
_LOOKED_AT: Final = 64  # values among which these are looked for


class KeptFacts:
    """Where the facts of a list are between two folds; one fold at a time has them.

    While a fold has them, nothing is read ahead, and another fold finds out for itself. A fold
    that fails does not bring them back. No lock is needed: Python takes the last element off a
    list in one step.
    """

    def __init__(self) -> None:
        self._kept: list[Facts] = [Facts()]
        self._same: int | None = None  # how many leading items are as they were; None: all

    def taken(self, clean: Callable[[str], str] | None) -> Facts:
        """Return the facts, as far as they are known, to be brought up to date.

        With `clean` nothing is known, and nothing is read ahead until a fold goes without: what
        it leaves of a text may change from fold to fold.
        """
        if clean is not None:
            self._kept.clear()
            return Facts(clean)
        return self._taken() or Facts()  # who takes them looks through all that they know

    def _taken(self) -> Facts | None:
        try:
            return self._kept.pop()
        except IndexError:
            return None

    def keep(self, facts: Facts) -> None:
        """Keep facts for the next fold."""
        if not facts.is_cleaned:
            self._kept[:] = [facts]

    def read_ahead(
        self,
        views: Sequence[ItemView],
        sizes: Sequence[int],
        summary: tuple[int, ItemView] | None,
        calls: CallPairing,
        count: Count | None = None,
    ) -> None:
        """Read some of what is new in a list, so that the next fold has less to read.

        Args:
            views: The readings of the items as they are now.
            sizes: Their sizes in tokens.
            summary: Index and reading of an earlier summary, which is not marked in `views`.
            calls: The calls of the list.
            count: Counts texts, for the words of facts to be found ahead too.
        """
        facts = self._taken()
        if facts is not None:
            self._hold(facts, views)
            facts.read_ahead(views, sizes, summary)
            told = facts.tell_ahead(calls)
            if told is not None and count is not None:
                _phrase_ahead(facts, told, count)
            self.keep(facts)

    def hold_to(self, views: Sequence[ItemView], same: int, *, now: bool) -> None:
        """Let go of what is known of items that are no longer in the list (see `Facts`).

        Args:
            views: The readings of the items as they are now.
            same: How many leading items were there before, all else being new or elsewhere.
            now: Whether to do so here, and not when the facts are wanted next.
        """
        self._same = same if self._same is None else min(same, self._same)
        facts = self._taken() if now else None
        if facts is not None:
            self._hold(facts, views)
            self.keep(facts)

    def _hold(self, facts: Facts, views: Sequence[ItemView]) -> None:
        same, self._same = self._same, None
        if same is not None:
            facts.hold_to(views, same)


def _phrase_ahead(facts: Facts, told: Told, count: Count) -> None:
    """Find the words for some of the facts of items, the latest ones.

    Args:
        facts: The facts of the list.
        told: The items.
        count: Counts texts.
    """
    latest = dict.fromkeys(islice(facts.said.named_in(reversed(told.span)), _LOOKED_AT))
    if not latest:
        return
    found, words = facts.phrases, told.words
    finder = PhraseFinder(
        told.views,
        words,
        found,
        facts.said.whole_text,
        values_in=facts.said.values_in,
        kinds=facts.uses.kinds,
        first=told.first,
    )
    noted: list[Phrase] = []
    for key in islice(latest, _PHRASED):
        value, track = facts.values[key], facts.uses.tracks.get(key)
        if track is None and value.kind not in USED_LATER:
            continue
        home = home_of(facts.places[key], track)
        known = found.get(key)
        if home is None or home.author == "summary" or (known and known.home is home):
            continue
        if home.call is not None and not _is_named(words, home.call - told.first):
            continue
        phrase = finder.at(value, home)
        if phrase is not None:
            noted.append(phrase)
            found.note(key, phrase)
    price(noted, count)


def _is_named(words: CallWords, number: int) -> bool:
    """Return whether a call is at hand, and its name known: else its result may bring one yet."""
    return number >= 0 and words.calls[number].name is not None
