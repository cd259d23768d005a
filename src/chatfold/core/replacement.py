"""What takes the head's place in a list: the summary, and all that cannot stay where it stood.

A plan was made from a list as it was; here it meets the list as it is now. Not here: whether the
new list is valid (`commit`), and the swap itself (`chatfold.swaps`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from chatfold.core.digest import changed_index
from chatfold.core.places import places_of
from chatfold.core.plan import Plan
from chatfold.core.summary import without_summary
from chatfold.errors import StaleHeadError

if TYPE_CHECKING:
    from chatfold.core.snapshot import Snapshot
    from chatfold.core.split import Split

__all__ = ["Replacement", "head_is_current", "replacement", "settled"]

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class Replacement(Generic[ItemT]):
    """What goes into a list in place of `items[start:stop]`.

    Attributes:
        start: Index of the first item that goes.
        stop: Index behind the last one.
        items: What comes in their place.
        kept: Those of `items` that stood before the cut, as they stand now.
        merged: Items that stay, and whose words stand in another item now.
        taken: Items of the tail that go, since they stand in another form among `items`.
        stripped: Items that stay, and whose reasoning goes.
        sources: Where each of `items` stood, None for what is new. One object may stand in several
            places of a list, so that the items themselves do not tell.
        merged_at: Where each of `merged` stood.
        merged_in: The item with the words of each of `merged`, None where it had none of its own.
    """

    start: int
    stop: int
    items: tuple[ItemT, ...]
    kept: tuple[ItemT, ...] = ()
    merged: tuple[ItemT, ...] = ()
    taken: tuple[ItemT, ...] = ()
    stripped: tuple[ItemT, ...] = ()
    sources: tuple[int | None, ...] = ()
    merged_at: tuple[int, ...] = ()
    merged_in: tuple[ItemT | None, ...] = ()

    def places(self, length: int) -> list[tuple[int, ...]]:
        """Return for each item of the new list where what it was made of stood, () for what is new.

        Args:
            length: Number of items in the old list.
        """
        forms: dict[int, list[int]] = {}
        for at, form in zip(self.merged_at, self.merged_in, strict=True):
            if form is not None:
                forms.setdefault(id(form), []).append(at)
        put_in = (
            tuple(forms.get(id(item), ())) if source is None else (source,)
            for source, item in zip(self.sources, self.items, strict=True)
        )
        behind = ((index,) for index in range(self.stop, length))
        return [*((index,) for index in range(self.start)), *put_in, *behind]


def head_is_current(plan: Plan[ItemT], snapshot: Snapshot) -> None:
    """Check that the head still says what it said when the plan was made.

    Args:
        plan: The plan.
        snapshot: The list as it is now.

    Raises:
        StaleHeadError: It was edited, reordered, shortened or grown.
    """
    items, start, stop = snapshot.items, plan.split.start, plan.split.cut
    if len(items) < stop:
        raise StaleHeadError(
            f"the list has {len(items)} items, and the plan replaces {start} to {stop - 1}; "
            "make a new plan"
        )
    now = tuple(snapshot.prints[start:stop])
    if now == plan.prints:
        return
    say = snapshot.shape.said
    changed = changed_index(items[start:stop], now, plan.region, plan.prints, say)
    if changed is not None:
        raise StaleHeadError(
            f"item {start + changed} changed after the plan was made; make a new plan",
            index=start + changed,
        )


def settled(plan: Plan[ItemT], snapshot: Snapshot) -> Plan[ItemT]:
    """Return a plan as it is for the list as it is now.

    It holds the list's own items, which may have come as equal copies since. What is behind the
    cut by now decides over where kept items stand, and whether others must stay with them.

    Args:
        plan: The plan.
        snapshot: The list as it is now.

    Raises:
        StaleHeadError: The head is not what it was, or nothing of it would go any more.
    """
    items, views, split = snapshot.items, snapshot.views, plan.split
    head_is_current(plan, snapshot)
    now, kept = split, split.kept
    if kept:
        head = range(split.start, split.cut)
        places = places_of(kept, head, views, snapshot.spans, snapshot.shape, native=plan.native)
        kept = tuple(sorted(places.kept))
        now = replace(split, kept=kept, moved=places.moved)
    if plan.native:  # its region is what the provider was sent, and may hand back
        return replace(plan, split=now)
    region = tuple(items[split.start : split.cut])
    if (now is split or now == split) and all(map(is_, region, plan.region)):
        return plan
    stays = frozenset(kept)
    gone = tuple(item for at, item in enumerate(region, split.start) if at not in stays)
    if not gone:
        raise StaleHeadError(
            "what is kept of the older part holds all of it by now, since the provider has no "
            "other place for it in the list as it is; make a new plan",
            index=split.cut,
        )
    stay = tuple(items[at] for at in kept)
    return replace(plan, head=gone, kept=stay, region=region, split=now)


def replacement(
    plan: Plan[ItemT], snapshot: Snapshot, written: Sequence[ItemT]
) -> Replacement[ItemT]:
    """Return what takes the head's place in the list as it is now.

    The order is: summary, kept items in their order, tail. What a provider wrote may hold items
    of the head themselves, which then stay where it put them. An item that its provider does not
    let stand there goes further back, and the tail items before it are part of the replacement.
    Where the provider wants one item instead of two, the summary comes with the item behind it.

    Args:
        plan: The plan, as it is for that list (`settled`).
        snapshot: The list as it is now.
        written: The native summary item, or all that a provider wrote in its place.
    """
    items, shape, cut = snapshot.items, snapshot.shape, plan.split.cut
    # Only a provider writes items of the region themselves.
    own = _own_places(written, items, range(plan.split.start, cut) if plan.native else range(0))
    after = _after_summary(plan.split, snapshot, own)
    kept = {*plan.split.kept, *(i for i in own if i is not None)}
    made: list[Any] = [*written, *(item for _, item in after.items)]
    sources = [*own, *(i for i, _ in after.items)]
    forms, stop = after.forms, after.stop
    taken: tuple[Any, ...] = ()
    if len(written) == 1:  # a window of several items is whole as it is
        at: int | None = stop if stop < len(items) else None
        following = items[stop] if at is not None else None
        if after.items:
            at, following = after.items[0]
        made[0] = shape.placed(made[0], items[cut - 1], following)
        joined = None if at is None else shape.merged(made[0], following)
        if at is not None and joined is not None:
            if not after.items:
                stop, taken = stop + 1, (following,)
            forms[at] = joined
            made[:2], sources[:2] = [joined], [None]
            kept.discard(at)
    stand = (forms.get(i, items[i]) for i in sorted(kept))
    return Replacement(
        plan.split.start,
        stop,
        tuple(made),
        tuple(item for item in stand if item is not None),
        tuple(items[i] for i in sorted(forms)),
        taken,
        sources=tuple(sources),
        merged_at=tuple(sorted(forms)),
        merged_in=tuple(forms[i] for i in sorted(forms)),
    )


@dataclass(frozen=True, slots=True)
class _After:
    """What stands behind the summary: the items that stay, up to where the tail is untouched.

    Attributes:
        items: Each with its index.
        stop: Index of the first item of the tail that is not among them.
        forms: The other items that the words of some stand in now, by their index; None for the
            words of one that had none of its own.
    """

    items: list[tuple[int, Any]]
    stop: int
    forms: dict[int, Any]


def _after_summary(split: Split, snapshot: Snapshot, own: Sequence[int | None]) -> _After:
    """Return what stands behind what was written.

    Args:
        split: What goes, what stays, and what of it goes further back.
        snapshot: The list as it is now.
        own: Indexes of the items that stand in what was written.
    """
    items, shape = snapshot.items, snapshot.shape
    if not split.kept:  # as of most heads
        return _After([], split.cut, {})
    stop = max([split.cut, *split.moved.values()])
    stays = [i for i in split.kept if i not in own]
    here = {i: without_summary(items[i], snapshot.views[i], shape) for i in stays}
    forms = {i: item for i, item in here.items() if item is not items[i]}
    here |= {i: items[i] for i in range(split.cut, stop)}
    # What goes before an item comes from in front of it, so its own index puts it first.
    order = sorted(here, key=lambda i: (split.moved.get(i, i), i))
    made = [(i, here[i]) for i in order if here[i] is not None]
    return _After(made, stop, forms)


def _own_places(written: Sequence[ItemT], items: Sequence[ItemT], span: range) -> list[int | None]:
    """Return where each of what was written stands in a span of the list, None where nowhere."""
    places: dict[int, list[int]] = {}
    for index in reversed(span):
        places.setdefault(id(items[index]), []).append(index)
    return [at.pop() if (at := places.get(id(item))) else None for item in written]
