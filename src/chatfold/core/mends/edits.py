"""What a repair works with: its policies, the list it works on, and the changes of one mend.

Not here: what is mended, and how (`items`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, TypedDict, get_args

from chatfold.core.check import Problem
from chatfold.core.render import TemplateRenderer, filled
from chatfold.core.xml import attributes, encode, escape

if TYPE_CHECKING:
    from chatfold.core.snapshot import Snapshot

__all__ = ["Action", "Case", "Edits", "Policies", "Repair", "RepairPolicies", "Slot"]

Action: TypeAlias = Literal[
    "answered",
    "dropped",
    "moved",
    "noted",
    "detached",
    "renamed",
    "reordered",
    "wrapped",
    "unbound",
    "left",
]
"""What was done; `left` where nothing was, and the message says why.

`unbound` is thinking that stands behind what was mended: the message says what to send with it.
"""

OpenCalls: TypeAlias = Literal["answer", "keep"]
OrphanResults: TypeAlias = Literal["note", "drop", "keep"]
LateResults: TypeAlias = Literal["move", "keep"]
DropOrKeep: TypeAlias = Literal["drop", "keep"]
Ids: TypeAlias = Literal["mend", "keep"]
Order: TypeAlias = Literal["fix", "keep"]
Arguments: TypeAlias = Literal["wrap", "keep"]


class RepairPolicies(TypedDict, total=False):
    """What a repair does about each kind of problem; `keep` leaves it alone.

    open_calls: `answer` gives each call that has no result a failed one, which says that it was
        interrupted. Calls that wait for something else than a text are left.
    orphan_results: A result whose call is not in the list becomes a `note` in the user's role,
        or is `drop`ped.
    late_results: `move` puts a result behind its call, where the provider wants it.
    reasoning: `drop` takes out reasoning that the provider would refuse, and detaches the ids of
        what came with it.
    duplicates: `drop` takes out items and results that are there twice; a second result that
        says something else becomes a note.
    ids: `mend` gives calls that share an id, have one that is too long, or have none where there
        must be one, one of their own, and takes off item ids that are not of the server's form.
    blank: `drop` takes out messages and texts that are empty.
    order: `fix` moves instructions and results to where they may stand, puts a call into one item
        with the model's words before it where it may not stand behind them, and takes out
        commands to the server that are not the last item.
        A list that begins in the middle gets a note in front, where the user has to be first; so
        do a user's words behind results, in the assistant's role, where it has to answer these.
    arguments: `wrap` puts arguments that are no object, such as those that a limit cut off, into
        one, as their text; where the provider takes nothing but a text, others become JSON. So do
        results that are not in the provider's form, such as a number, or nothing at all.
    """

    open_calls: OpenCalls
    orphan_results: OrphanResults
    late_results: LateResults
    reasoning: DropOrKeep
    duplicates: DropOrKeep
    ids: Ids
    blank: DropOrKeep
    order: Order
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that a repair did, or had to leave though the provider would refuse it.

    Attributes:
        rule: The rule of `check()` that was broken; `thinking_binding` of what is `unbound`.
        action: What was done.
        message: The same in words, one line.
        indices: Indices of the items concerned, in the list as it was before the repair.
        removed: Items that are not in the list any more, as they were.
        added: New items, some of them in place of old ones.
    """

    rule: str
    action: Action
    message: str
    indices: tuple[int, ...] = ()
    removed: tuple[Any, ...] = ()
    added: tuple[Any, ...] = ()

    def __str__(self) -> str:
        where = ", ".join(map(str, self.indices))
        return f"item {where}: {self.action}: {self.message} [{self.rule}]"


class Policies(NamedTuple):
    """One choice for each kind of problem; see `RepairPolicies`."""

    open_calls: OpenCalls = "answer"
    orphan_results: OrphanResults = "note"
    late_results: LateResults = "move"
    reasoning: DropOrKeep = "drop"
    duplicates: DropOrKeep = "drop"
    ids: Ids = "mend"
    blank: DropOrKeep = "drop"
    order: Order = "fix"
    arguments: Arguments = "wrap"

    @classmethod
    def chosen(cls, given: Mapping[str, Any]) -> Policies:
        """Return the defaults with what was given.

        Raises:
            TypeError: There is no such policy.
            ValueError: A policy has no such choice.
        """
        for name, choice in given.items():
            if name not in _CHOICES:
                raise TypeError(f"there is no policy {name!r}; there are {', '.join(_CHOICES)}")
            if choice not in _CHOICES[name]:
                words = " or ".join(map(repr, _CHOICES[name]))
                raise ValueError(f"{name} must be {words}, not {choice!r}")
        return cls(**given)


_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "open_calls": get_args(OpenCalls),
    "orphan_results": get_args(OrphanResults),
    "late_results": get_args(LateResults),
    "reasoning": get_args(DropOrKeep),
    "duplicates": get_args(DropOrKeep),
    "ids": get_args(Ids),
    "blank": get_args(DropOrKeep),
    "order": get_args(Order),
    "arguments": get_args(Arguments),
}


class Slot(NamedTuple):
    """An item of the list at work, and the index, before the repair, that it goes back to."""

    item: Any
    origin: int


class Case(NamedTuple):
    """A list at work, with what is wrong with it.

    Attributes:
        slots: The items.
        snapshot: Their readings.
        problems: What is wrong.
        policies: What to do about it.
        render: Fills in the words that a model reads.
    """

    slots: Sequence[Slot]
    snapshot: Snapshot
    problems: Sequence[Problem]
    policies: Policies
    render: TemplateRenderer

    def broken(self, *rules: str) -> list[Problem]:
        """Return the problems under these rules that a provider refuses, in order."""
        found = [p for p in self.problems if p.rule in rules and p.severity in ("error", "pending")]
        return sorted(found, key=lambda p: p.index)

    def words(self, kind: str, *, text: str = "", media: int = 0, **attrs: str | None) -> str:
        """Return what a model reads of this repair: all that is data in it is escaped."""
        return filled(
            self.render,
            "repair_note.jinja",
            kind=kind,
            text=escape(text),
            media=media,
            attrs=encode(attributes(**attrs)),
        ).strip()


class _Note(NamedTuple):
    """A repair whose items are not known yet."""

    rule: str
    action: Action
    message: str
    indices: tuple[int, ...]


class Edits:
    """The changes that one mend makes to a list, gathered first and then made at once.

    Indices are those of the list at work, before any of the changes.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.repairs: list[_Note] = []
        self.reasons: dict[tuple[str, int], str] = {}
        self._new: dict[int, tuple[Sequence[Any], int]] = {}
        self._behind: dict[int, list[tuple[Any, int, int]]] = {}

    def note(self, rule: str, action: Action, message: str, *indices: int) -> int:
        """Record a repair of the items at `indices`; return its number."""
        self.repairs.append(_Note(rule, action, message, indices))
        return len(self.repairs) - 1

    def leave(self, rule: str, index: int, reason: str) -> None:
        """Record why the item at `index` stays as it is."""
        self.reasons[rule, self.case.slots[index].origin] = reason

    def item(self, index: int) -> Any:
        """Return the item at `index` as the changes so far leave it; None if it is gone."""
        if index not in self._new:
            return self.case.slots[index].item
        made = self._new[index][0]
        return made[0] if made else None

    def replace(self, index: int, items: Sequence[Any], repair: int) -> None:
        """Put other items in place of the one at `index`, or none."""
        owner = self._new[index][1] if index in self._new else repair
        self._new[index] = (items, owner)

    def insert(self, behind: int, item: Any, origin: int, repair: int) -> None:
        """Add an item behind the one at `behind`; -1 is the start of the list.

        `origin` is the index of the item that it stems from.
        """
        self._behind.setdefault(behind, []).append((item, origin, repair))

    def done(self) -> tuple[list[Slot], list[Repair]]:
        """Return the new list, and the repairs with what they took out and put in."""
        slots = self.case.slots
        made: list[Slot] = []
        added: dict[int, list[Any]] = {}
        known = {id(slot.item) for slot in slots}
        for index in range(-1, len(slots)):
            if index >= 0:
                items, owner = self._new.get(index, ((slots[index].item,), -1))
                made += (Slot(item, slots[index].origin) for item in items)
                added.setdefault(owner, []).extend(i for i in items if id(i) not in known)
            for item, origin, owner in self._behind.get(index, ()):
                made.append(Slot(item, slots[origin].origin))
                if id(item) not in known:
                    added.setdefault(owner, []).append(item)
        # One object may stand in the list twice, so what is gone is a matter of number.
        gone = Counter(id(slot.item) for slot in slots)
        gone.subtract(id(slot.item) for slot in made)
        removed: dict[int, list[Any]] = {}
        for index, (_, owner) in sorted(self._new.items()):
            if gone[id(slots[index].item)] > 0:
                gone[id(slots[index].item)] -= 1
                removed.setdefault(owner, []).append(slots[index].item)
        return made, [
            Repair(
                note.rule,
                note.action,
                note.message,
                tuple(slots[i].origin for i in note.indices),
                tuple(removed.get(number, ())),
                tuple(added.get(number, ())),
            )
            for number, note in enumerate(self.repairs)
        ]
