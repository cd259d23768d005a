"""What stands between a model's words and the list: values that nobody gave are named and dropped.

Not here: finding them (`grounding`), the record beside the words (`record`), asking (`write`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

from chatfold.core.answers.thoughts import is_blank
from chatfold.core.facts import Fact
from chatfold.core.grounding import Sources, Ungrounded, is_mended, ungrounded, without
from chatfold.core.terms import Grounding
from chatfold.core.values import Kind, values
from chatfold.errors import SummaryError, UngroundedSummaryError

__all__ = ["FactReport", "FoundFacts", "Guard", "Guarded"]

_WORTH_A_CALL: Final[frozenset[Kind]] = frozenset(
    {
        "id",
        "hash",
        "date",
        "time",
        "amount",
        "number",
        "mail",
        "phone",
        "url",
        "path",
        "version",
        "error",
    }
)
"""Kinds that the model is asked about once more; names and commands are only reported."""


class FoundFacts(NamedTuple):
    """The facts of a head that a later model needs, by where they are now.

    Attributes:
        kept: See `FactReport`.
        added: See `FactReport`.
        left_out: See `FactReport`.
        needed: All of them, in the order in which they were first seen.
    """

    kept: tuple[Fact, ...] = ()
    added: tuple[Fact, ...] = ()
    left_out: tuple[Fact, ...] = ()
    needed: tuple[Fact, ...] = ()


class FactReport:
    """What was found and proven of a summary; of the needed facts, when it is asked for.

    Attributes:
        ungrounded: Values in the model's words that the conversation does not hold, or holds for
            something else; those of dropped sentences too.
        dropped: The sentences that went because of them.
        guessed: Names of tools whose effect was guessed from the name (see `effects=`).
        record: The record that stands behind the model's words, as the next model reads it.
    """

    __slots__ = ("_find", "_found", "dropped", "guessed", "record", "ungrounded")

    def __init__(
        self,
        find: Callable[[], FoundFacts] = FoundFacts,
        *,
        ungrounded: tuple[Ungrounded, ...] = (),
        dropped: tuple[str, ...] = (),
        guessed: tuple[str, ...] = (),
        record: str = "",
    ) -> None:
        self._find: Callable[[], FoundFacts] | None = find
        self._found = FoundFacts()
        self.ungrounded: Final = ungrounded
        self.dropped: Final = dropped
        self.guessed: Final = guessed
        self.record: Final = record

    @property
    def kept(self) -> tuple[Fact, ...]:
        """Needed facts that the model's words hold."""
        return self._facts().kept

    @property
    def added(self) -> tuple[Fact, ...]:
        """Needed facts that they left out, and the record has."""
        return self._facts().added

    @property
    def left_out(self) -> tuple[Fact, ...]:
        """Needed facts that neither has, for want of room; those of an earlier record too."""
        return self._facts().left_out

    def _facts(self) -> FoundFacts:
        find = self._find
        if find is not None:  # several threads may find the same
            self._found = find()
            self._find = None
        return self._found

    def _all(self) -> tuple[object, ...]:
        return self._facts(), self.ungrounded, self.dropped, self.guessed, self.record

    def __eq__(self, other: object) -> bool:
        return self._all() == other._all() if isinstance(other, FactReport) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._all())

    def __reduce__(self) -> tuple[object, ...]:
        return _report_of, self._all()

    def __repr__(self) -> str:
        return f"FactReport(guessed={self.guessed!r})"

    def __str__(self) -> str:
        needed = len(self.kept) + len(self.added) + len(self.left_out)
        text = f"{len(self.kept)} of {needed} needed facts kept, {len(self.added)} added"
        if self.ungrounded:
            text += f", {len(self.ungrounded)} ungrounded"
        return f"{text}, {len(self.dropped)} sentences dropped" if self.dropped else text


def _report_of(found: FoundFacts, ungrounded: Any, dropped: Any, guessed: Any, record: str) -> Any:
    """Return the report that was pickled or copied."""
    return FactReport(
        lambda: found, ungrounded=ungrounded, dropped=dropped, guessed=guessed, record=record
    )


@dataclass(frozen=True, slots=True)
class Guarded:
    """A model's words after the guard, and what it found."""

    text: str
    ungrounded: tuple[Ungrounded, ...] = ()
    dropped: tuple[str, ...] = ()


RequestT = TypeVar("RequestT")
AnswerT = TypeVar("AnswerT")


class Guard:
    """Compares a summary with what its author was shown.

    Args:
        grounding: What to do about values that were not.
        sources: Returns what was shown; called once, when there is something to compare.
    """

    def __init__(self, grounding: Grounding, sources: Callable[[], Sources]) -> None:
        self._grounding = grounding
        self._make_sources = sources
        self._sources: Sources | None = None

    def unproven(self, text: str) -> list[Ungrounded]:
        """Return the values in a summary that its author was not shown."""
        if not values(text):
            return []  # so that a long head is read for nothing but values to compare
        if self._sources is None:
            self._sources = self._make_sources()
        return ungrounded(text, self._sources)

    def guarded(
        self,
        text: str,
        again: Callable[[str, Sequence[Ungrounded]], Generator[RequestT, AnswerT, str]]
        | None = None,
    ) -> Generator[RequestT, AnswerT, Guarded]:
        """Return a summary without what cannot stand, after one more request where that helps.

        Args:
            text: The model's words.
            again: Asks the model to mend them; None where nobody can be asked.

        Raises:
            UngroundedSummaryError: `grounding` is `refuse` and a value was not shown, or nothing
                is left.
        """
        found = self.unproven(text)
        if found and self._grounding == "refuse":
            raise UngroundedSummaryError(
                f"the summary holds {_counted(found)} that the conversation does not", values=found
            )
        if self._grounding == "repair" and again is not None:
            asked = [u for u in found if u.value.kind in _WORTH_A_CALL]
            if asked:
                text, found = yield from self._repaired(text, found, asked, again)
        if not found or self._grounding == "report":
            return Guarded(text, tuple(found))
        left, dropped = without(text, found)
        if is_blank(left):
            raise UngroundedSummaryError(
                f"nothing is left of the summary: every sentence holds one of {_counted(found)} "
                "that the conversation does not; use another model, or grounding='report'",
                values=found,
            )
        return Guarded(left, tuple(found), tuple(dropped))

    def settled(self, text: str) -> Guarded:
        """Return a summary without what cannot stand, where nobody can be asked again.

        Raises:
            UngroundedSummaryError: As `guarded`.
        """
        steps: Generator[None, None, Guarded] = self.guarded(text)
        try:
            next(steps)
        except StopIteration as done:
            guarded: Guarded = done.value
            return guarded
        raise AssertionError("nobody can be asked")

    def _repaired(
        self,
        text: str,
        found: list[Ungrounded],
        asked: Sequence[Ungrounded],
        again: Callable[[str, Sequence[Ungrounded]], Generator[RequestT, AnswerT, str]],
    ) -> Generator[RequestT, AnswerT, tuple[str, list[Ungrounded]]]:
        """Return the mended words if they are better than the first ones, else those.

        Better is what holds less that nobody gave, and still tells what the first ones told.
        """
        try:
            mended = yield from again(text, asked)
        except SummaryError:
            return text, found  # the first answer stands, without its unproven sentences
        left = self.unproven(mended)
        is_better = len(left) < len(found) and is_mended(text, mended, asked, found, left)
        return (mended, left) if is_better else (text, found)


def _counted(found: Sequence[Ungrounded]) -> str:
    return f"{len(found)} value{'' if len(found) == 1 else 's'}"
