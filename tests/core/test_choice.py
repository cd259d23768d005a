"""Which values of a record fit: what they gain for the room that they and their entry take."""

from __future__ import annotations

from collections.abc import Sequence

from chatfold.core.choice import Group, Line, chosen, priced, ranked
from chatfold.core.entries import Entry, Field
from chatfold.core.sizes import TextSizes

GROUPS: list[Group] = [("order", None), ("get", (Field("", "LK-1"),))]


def size(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def a_line(text: str, place: int, full: Field | None = None) -> Line:
    groups = (0, 0) if full is None else (0, 1)
    return Line(Field("", text), full, groups, (place, place, place), worth=1.0)


def test_values_share_what_their_entry_takes() -> None:
    """Each is one of those in it, whether or not it has a second form."""
    lines = [a_line("LK-1", 0), a_line("LK-2", 1), a_line("LK-3", 2, Field("of", "LK-3"))]
    headers = priced(lines, GROUPS, TextSizes(size))
    bare, full = len(', "": LK-1'), len(', "": of=LK-3')
    assert headers == {0: len("- order: \n"), 1: len("- get(LK-1): \n")}
    assert [line.costs for line in lines] == [(bare, 0), (bare, 0), (bare, full)]
    moves = ranked(lines, headers)
    assert [move[0] for move in moves if not move[2]] == [-1 / (bare + headers[0] / 3)] * 3
    (more,) = (move for move in moves if move[2])
    assert more[3] is lines[2]
    assert more[0] == -0.05 / (full - bare + headers[1])


def test_what_fits_is_in_the_order_of_time() -> None:
    """The second form takes the place of the first."""
    lines = [a_line("LK-2", 1), a_line("LK-1", 0), a_line("LK-3", 2, Field("of", "LK-3"))]
    headers = priced(lines, GROUPS, TextSizes(size))
    moves = ranked(lines, headers)
    few = chosen(moves, headers[0] + 2 * len(', "": LK-1'), headers, GROUPS)
    assert few == [Entry("order", None, (Field("", "LK-1"), Field("", "LK-2")))]
    assert chosen(moves, 1_000, headers, GROUPS) == [
        Entry("order", None, (Field("", "LK-1"), Field("", "LK-2"))),
        Entry("get", GROUPS[1][1], (Field("of", "LK-3"),)),
    ]
