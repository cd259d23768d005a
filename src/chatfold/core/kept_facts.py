"""Where the facts of a list are kept between folds, and read ahead of them.

Not here: what facts are, and how they are put together (`facts`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chatfold.core.calls import CallPairing
from chatfold.core.facts import Facts
from chatfold.core.views import ItemView

__all__ = ["KeptFacts"]


class KeptFacts:
    """Where the facts of a list are between two folds; one fold at a time has them.

    While a fold has them, nothing is read ahead, and another fold finds out for itself. A fold
    that fails does not bring them back. No lock is needed: Python takes the last element off a
    list in one step.
    """

    def __init__(self) -> None:
        self._kept: list[Facts] = [Facts()]

    def taken(self, clean: Callable[[str], str] | None) -> Facts:
        """Return the facts, as far as they are known, to be brought up to date.

        With `clean` nothing is known, and nothing is read ahead until a fold goes without: what
        it leaves of a text may change from fold to fold.
        """
        if clean is not None:
            self._kept.clear()
            return Facts(clean)
        return self._taken() or Facts()

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
    ) -> None:
        """Read some of what is new in a list, so that the next fold has less to read.

        Args:
            views: The readings of the items as they are now.
            sizes: Their sizes in tokens.
            summary: Index and reading of an earlier summary, which is not marked in `views`.
            calls: The calls of the list.
        """
        facts = self._taken()
        if facts is not None:
            facts.read_ahead(views, sizes, summary)
            facts.tell_ahead(calls)
            self.keep(facts)

    def hold_to(self, views: Sequence[ItemView]) -> None:
        """Let go of what is known of items that are no longer in the list."""
        facts = self._taken()
        if facts is not None:
            facts.hold_to(views)
            self.keep(facts)
