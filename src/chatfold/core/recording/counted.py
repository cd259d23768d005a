"""Several calls of one tool as one entry of a record: their number, and what names each of them.

Not here: which calls are counted so, for want of room (`deeds`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from chatfold.core.call_json import CUT, shortened
from chatfold.core.entries import Entry, Field, is_in_a_list
from chatfold.core.outcomes import is_unclear
from chatfold.core.values.numbers import Cache
from chatfold.core.values.typed import found_in

__all__ = [
    "Alike",
    "Shared",
    "call_of",
    "counted_together",
    "counted_with",
    "how_it_went",
    "shared_ids",
    "with_counts",
    "with_ends",
    "with_fewer_arguments",
    "with_fewer_names",
    "with_newest_names",
    "with_reason",
    "without_calls",
    "without_names",
]

Alike: TypeAlias = tuple[str, tuple[Field, ...], bool]
"""The tool of some calls, how they went, and whether they may have changed nothing."""

_TO = " ... "
_ID: Final = "id"  # the label of a name that has none
_NO_LABELS: Final[Mapping[str, str]] = MappingProxyType({})
_SHORT = 60  # characters of a reason that stay in any case
_NAMING = frozenset(("hash", "id", "mail", "path", "phone", "url"))


def call_of(entry: Entry) -> tuple[str, tuple[Field, ...] | None]:
    """Return what entries of one call have in common: its tool and its arguments."""
    return entry.name, entry.arguments


def with_counts(entries: Iterable[Entry]) -> list[Entry]:
    """Return entries with one for all calls that say the same, where the newest of them stands."""
    found: dict[object, Entry] = {}
    for entry in entries:
        single = entry.arguments is not None
        key: object = (call_of(entry), entry.values) if single else counted_with(entry)
        before = found.pop(key, None)
        if before is not None:
            entry = counted_together((before, entry))
        found[key] = entry
    counts = [e for e in found.values() if e.arguments is None]
    return counts + [e for e in found.values() if e.arguments is not None]


class Ids:
    """Finds the ids among the fields of entries; each text is read once."""

    def __init__(self) -> None:
        self._words: Cache = {}
        self._found: dict[str, str] = {}  # "" where a text begins with no id

    def of(self, entry: Entry) -> Iterator[Field]:
        """Yield the ids of an entry, what came of the call first."""
        for field in (*entry.values, *(entry.arguments or ())):
            text = self._id_in(field.text)
            if text:
                yield Field(field.label, text)
            elif field.text.isdigit() and field.label:
                yield field._replace(was="")

    def _id_in(self, text: str) -> str:
        known = self._found.get(text)
        if known is None:
            found = found_in(text, self._words)[:1]
            known = self._found[text] = "".join(v.text for v in found if v.kind in _NAMING)
        return known


class Shared(NamedTuple):
    """Ids that several calls have, as that of a user: they name a call last of all.

    The id of what a call made does name it, though later calls are given that.

    Attributes:
        given: Those that stand among what calls were given.
        made: Those that stand among what came of them.
        labels: What leads to the ids that name the calls of a tool, by its name. Two that are named
            by different things would read as one that is named twice.
        ids: Finds them; None where nothing was read yet.
    """

    given: frozenset[str] = frozenset()
    made: frozenset[str] = frozenset()
    labels: Mapping[str, str] = _NO_LABELS
    ids: Ids | None = None

    def ids_of(self, entry: Entry) -> Iterator[Field]:
        """Yield the ids of an entry, what came of the call first."""
        return (self.ids or Ids()).of(entry)

    def has(self, field: Field, entry: Entry) -> bool:
        """Return whether a value of an entry is one of them, where it stands in the entry."""
        return field.text in (self.made if _is_made(field.text, entry) else self.given)

    def rank(self, field: Field, entry: Entry) -> tuple[bool, bool, bool, int]:
        """Return how well an id of an entry names its call, the least best.

        What names the other calls of the tool does so best, unless several have it. Who asks
        whether something was done asks by what the call is given. What it made names it before
        that where later calls were given it.
        """
        is_given = any(field.label == of.label for of in entry.arguments or ())
        is_used = not is_given and field.text in self.given
        in_a_list = not is_given and is_in_a_list(field.label)
        is_other = field.label != self.labels.get(entry.name, field.label)
        return self.has(field, entry), is_other, in_a_list, 0 if is_used else 1 if is_given else 2


def shared_ids(entries: Sequence[Entry], ids: Ids | None = None) -> Shared:
    """Return the ids that several of some entries have, of which the oldest comes first."""
    shared = _shared_texts((e for e in entries if e.arguments is not None), ids or Ids())
    return shared._replace(labels=_labels(entries, shared))


def _labels(entries: Sequence[Entry], shared: Shared) -> Mapping[str, str]:
    """Return what leads to the ids that name the calls of each tool: those that most of them have.

    Of several it is that of which one would be taken for a single call.
    """
    best: dict[str, dict[str, tuple[int, int]]] = {}
    for entry in entries:
        ranks = best.setdefault(entry.name, {})
        own: dict[str, Field] = {}
        for field in _candidates(entry, shared):
            own.setdefault(field.label, field)
        for label, field in own.items():
            number, rank = ranks.get(label, (0, 2))
            if entry.arguments is not None:
                rank = min(rank, shared.rank(field, entry)[3])
            ranks[label] = number - 1, rank
    return {name: min(ranks, key=ranks.__getitem__) for name, ranks in best.items() if ranks}


def _candidates(entry: Entry, shared: Shared) -> Iterator[Field]:
    """Yield the ids that may name a call, or that name several."""
    if entry.arguments is None:
        yield from _names(entry, shared)
        return
    for field in shared.ids_of(entry):
        if field.label and not shared.has(field, entry) and not is_in_a_list(field.label):
            yield field


def _shared_texts(entries: Iterable[Entry], ids: Ids) -> Shared:
    counts: Counter[str] = Counter()
    made: set[str] = set()
    for entry in entries:
        for text in {field.text for field in ids.of(entry)}:
            if text in counts and _is_made(text, entry):
                made.add(text)
            counts[text] += 1
    several = frozenset(text for text, number in counts.items() if number > 1)
    return Shared(several, frozenset(made), ids=ids)


def counted_together(entries: Sequence[Entry], shared: Shared = Shared()) -> Entry:  # noqa: B008 - a value
    """Return one entry for several calls of one tool, oldest first.

    Where they say the same it is the newest, with their number. Else what they say is given up
    for their number and an id of each.

    Args:
        entries: The calls.
        shared: Ids that other calls have too. So are those that several of `entries` have.
    """
    last, went = entries[-1], how_it_went(entries[-1])
    if any(how_it_went(entry) != went for entry in entries):
        went = ()  # of which of them it is nobody could tell
    number = sum(entry.calls for entry in entries)
    unsure = all(e.unsure for e in entries)
    if last.arguments is not None and len({(call_of(e), e.values) for e in entries}) == 1:
        return last._replace(calls=number, unsure=unsure)
    own = shared_ids(entries, shared.ids)
    labels = {**own.labels, **shared.labels}
    shared = Shared(own.given | shared.given, own.made | shared.made, labels, own.ids)
    names = [field for entry in entries for field in _names(entry, shared)]
    return Entry(last.name, None, (*_written(names), *went), calls=number, unsure=unsure)


def how_it_went(entry: Entry) -> tuple[Field, ...]:
    """Return the field that says that a call may not have done what it is for, if one does.

    It stays however short an entry gets, and only calls that went alike are counted together:
    what waits for an approval would else read as done.
    """
    told = (field for field in entry.values if field.label and is_unclear((field,)))
    # A state that names something of its own, "outbid by U-7", would leave each call alone.
    return tuple(
        field._replace(text=CUT) if any(map(str.isdigit, field.text)) else field
        for field in islice(told, 1)
    )


def counted_with(entry: Entry) -> Alike:
    """Return what calls that are counted together have in common.

    What surely changed something would read as one of many that may have changed nothing, and
    those as done.
    """
    return entry.name, how_it_went(entry), entry.unsure


def with_fewer_names(entry: Entry, is_short: Callable[[Entry], bool]) -> Entry:
    """Return an entry of several calls with the oldest of what names them as "first ... last".

    Each name stands there or lies between these two, and the newest stand there longest.

    Args:
        entry: The entry. It has more than one name.
        is_short: Returns whether an entry is short enough; one name goes in any case.
    """
    names = _names(entry, Shared())

    def less(number: int) -> Entry:
        return _named(entry, [*_with_range(names, number)])

    most = len(names) - 1
    return less(1 + bisect_left(range(1, most), True, key=lambda number: is_short(less(number))))


def with_ends(entry: Entry) -> Entry:
    """Return an entry of several calls with all that names them as "first ... last"."""
    names = _names(entry, Shared())
    return _named(entry, [*_with_range(names, len(names) - 1)]) if len(names) > 1 else entry


def with_newest_names(entry: Entry, is_short: Callable[[Entry], bool], least: int = 0) -> Entry:
    """Return an entry of several calls with as many of the newest of what names them as fit.

    Args:
        entry: The entry.
        is_short: Returns whether an entry is short enough.
        least: How many names go in any case.
    """
    names = _names(entry, Shared())

    def less(gone: int) -> Entry:
        return _named(entry, names[gone:])

    found = bisect_left(range(least, len(names)), True, key=lambda gone: is_short(less(gone)))
    return less(least + found)


def with_reason(entry: Entry) -> Entry:
    """Return an entry of one call with the start of what came of it, and no more."""
    short = (field._replace(text=shortened(field.text, _SHORT)) for field in entry.values)
    return entry._replace(arguments=(Field("", CUT),), values=tuple(short), call="")


def with_fewer_arguments(entry: Entry, is_short: Callable[[Entry], bool]) -> Entry:
    """Return an entry of one call with as much of what it was given as fits, an id of it first.

    What came of it goes after all of that, as nothing else says it. The call is then counted.

    Args:
        entry: The entry.
        is_short: Returns whether an entry is short enough.
    """
    given = [field for field in entry.arguments or () if field.text != CUT]
    names = {field.text for field in _names(entry._replace(values=()), Shared())}
    best = sorted(given, key=lambda field: field.text not in names)
    bare, cut = entry._replace(call=""), Field("", CUT)
    kept = (set(best[:number]) for number in reversed(range(len(given))))
    shorter = (
        bare._replace(arguments=(*(field for field in given if field in left), cut))
        for left in kept
    )
    for less in (entry, bare, *shorter, with_reason(entry)):
        if is_short(less):
            return less
    return Entry(entry.name, None, calls=entry.calls, unsure=entry.unsure)


def without_calls(entry: Entry, made: Sequence[Entry], others_wait: bool) -> Entry | None:
    """Return an entry of several calls without those that were made again; None if none is left.

    Those that are named go by what names them. Which the others were nobody can tell any more: they
    go where all that is named was made again, and as many more calls as there are of them.

    Args:
        entry: The entry.
        made: The calls of its tool since.
        others_wait: Whether calls of its tool that stand beside it have not been made again.
    """
    names = _names(entry, Shared())
    calls, ids = (call._replace(values=()) for call in made), Ids()
    given = {(_label(field), field.text) for call in calls for field in ids.of(call)}
    left = [name for name in names if (_label(name), name.text) not in given]
    again, nameless = len(names) - len(left), entry.calls - len(names)
    rest = sum(call.calls for call in made) - again
    if not left and (not nameless or (rest >= nameless and not others_wait)):
        return None
    return _named(entry, left)._replace(calls=entry.calls - again)


def without_names(entry: Entry) -> Entry:
    """Return an entry with no more than how its calls went."""
    return _named(entry, ())


def _named(entry: Entry, names: Sequence[Field]) -> Entry:
    """Return an entry with names in the place of its own."""
    return entry._replace(values=(*_written(names), *how_it_went(entry)))


def _with_range(names: Sequence[Field], number: int) -> Iterator[Field]:
    """Yield names with so many of the oldest gone into that behind them.

    A range from one thing to another has no label: one would read as that of both.
    """
    first, last = names[0], names[number]
    oldest, latest = first.text.partition(_TO)[0], last.text.rpartition(_TO)[2]
    yield Field(first.label if _label(first) == _label(last) else "", f"{oldest}{_TO}{latest}")
    yield from names[number + 1 :]


def _names(entry: Entry, shared: Shared) -> list[Field]:
    """Return what names the calls of an entry, each with its label: ids, or a range of them."""
    if entry.arguments is not None:
        ids = shared.ids_of(entry)
        best = min(ids, key=lambda field: shared.rank(field, entry), default=None)
        return [] if best is None else [best]
    found: list[Field] = []
    went = how_it_went(entry)
    for field in entry.values:
        if field in went:
            continue
        found.append(field if field.label or not found else field._replace(label=found[-1].label))
    return found


def _written(names: Sequence[Field]) -> tuple[Field, ...]:
    """Return names, each once, where the newest call of each stands: the oldest go first.

    The label of several stands in front of the first of them. One without gets one behind others,
    as nothing says there where theirs ends.
    """
    each = {(_label(name), name.text): name for name in reversed(names)}
    made: list[Field] = []
    before = ""
    for name in reversed(each.values()):
        label = name.label or (before and _ID)
        made.append(name._replace(label="" if label == before else label))
        before = label
    return tuple(made)


def _label(name: Field) -> str:
    return name.label or _ID


def _is_made(text: str, entry: Entry) -> bool:
    """Return whether an id stands among what came of a call, and not in what it was given."""
    return not any(text in given.text for given in entry.arguments or ())
