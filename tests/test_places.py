"""Where the items of a host's list stand in its context's list, told by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chatfold.core.replacement import Replacement
from chatfold.core.split import Split
from chatfold.places import Places


def folded(
    places: Places,
    items: list[Any],
    where: Split,
    stop: int,
    new: Sequence[Any],
    merged: dict[int, Any] | None = None,
) -> tuple[list[Any], tuple[int, ...] | None]:
    """Fold a context's list; return it, and what stays of the host's before the cut.

    Args:
        places: Where the items stand.
        items: The context's list, which begins with what is folded.
        where: The places of what is taken out and kept.
        stop: Index behind the last item in whose place others come.
        new: What comes there: what was there before by its index, else an item.
        merged: Items that say what others did, by the index of each of these.
    """
    sources = tuple(each if isinstance(each, int) else None for each in new)
    put = tuple(items[each] if isinstance(each, int) else each for each in new)
    at, into = zip(*(merged or {}).items(), strict=True) if merged else ((), ())
    made = Replacement(0, stop, put, sources=sources, merged_at=at, merged_in=into)
    now = [*put, *items[stop:]]
    return now, places.fold(where, made, items, now)


def test_what_a_fold_kept_behind_its_summary_stays_in_the_next_one() -> None:
    """It stands in the tail of the next fold, though the host has it in front of the cut."""
    places, items = Places(8, 0), list("abcdefgh")
    items, kept = folded(places, items, Split(0, 4, (1,)), 6, ("S", 4, 5, 1))
    assert (items, kept, places.cut) == (["S", "e", "f", "b", "g", "h"], (1,), 4)
    view = places.view(items, 8, 7)
    assert (view.head, view.cut, view.end, view.saved) == ((("S",), 4, 5, 1), 6, 4, 7)
    assert view.seams == (1, 3, 4)
    items, kept = folded(places, items, Split(0, 3), 3, ("T",))
    assert (items, kept, places.cut) == (["T", "b", "g", "h"], (1,), 6)
    assert places.view(items, 8, 0).stay() == {1}


def test_what_stands_in_one_item_with_others_stays_in_later_folds() -> None:
    """The item is none of the host's, and says what two of the host's do."""
    places, items = Places(6, 0), ["a", "r", "b", "s", "c", "d"]
    both = "r and s"
    where, new = Split(0, 4, (1, 3)), ("S", 4, both)
    items, kept = folded(places, items, where, 5, new, {1: both, 3: both})
    assert (items, kept) == (["S", "c", both, "d"], (1, 3))
    assert places.view(items, 6, 0).stay() == {1, 3, 4}
    items, kept = folded(places, items, Split(0, 2), 2, ("T",))
    assert (items, kept) == (["T", both, "d"], (1, 3))
    view = places.view(items, 6, 0)
    assert (view.head, view.merged, view.cut) == ((("T",), (both,)), (1, 3), 5)


def test_a_result_that_stands_as_a_note_is_the_hosts_again_where_that_is_taken_back() -> None:
    places, items = Places(4, 0), list("abcd")
    items, kept = folded(places, items, Split(0, 2), 2, ("S",))
    assert (items, kept) == (["S", "c", "d"], ())
    items = [*items, "note of e"]
    places.note(4, ["note of e"], items)
    assert places.view(items, 5, 0).head == (("S",), 2, 3, ("note of e",))
    items = [*items[:3], "E"]  # the host has another item there now, which is no such result
    places.take(3, 4, 5)
    assert (places.noted, places.view(items, 5, 0).cut) == (set(), 2)


def test_a_fold_that_keeps_a_note_is_not_found_again() -> None:
    """Another process has the host's list alone, in which there is no such note."""
    places = Places(3, 0)
    items = ["a", "b", "note of c", "d"]
    places.take(2, 2, 2)
    places.note(2, ["note of c"], items[:3])
    places.add(3)
    items, kept = folded(places, items, Split(0, 3, (2,)), 3, ("S", 2))
    assert (items, kept, places.index_of(1)) == (["S", "note of c", "d"], None, 2)
    assert places.view(items, 4, 0).head == (("S",), ("note of c",))


def test_an_item_that_was_put_last_stands_elsewhere_once_the_host_goes_on() -> None:
    places, items = Places(4, 0), list("abcd")
    items, kept = folded(places, items, Split(0, 3, (1,)), 4, ("S", 3, 1))
    assert (kept, places.end_elsewhere(items, 4)) == ((1,), True)
    assert not Places(4, 0).end_elsewhere(list("abcd"), 4)
