"""Which values of a record fit: what they gain for the room that they and their entry take."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chatfold.core.entries import Entry, Field
from chatfold.core.phrases import FINE, Group, Phrase, price
from chatfold.core.record import Record, rendered
from chatfold.core.recording.choice import Choice, Line
from chatfold.core.sightings import Sighting
from chatfold.tokens.estimate import estimate


def size(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def three_lines() -> tuple[list[Line], Group, Group]:
    """Return three values of an order, the last of which may also stand with its call."""
    order, get = Group("order"), Group("get", (Field("", "LK-1"),))
    lines: list[Line] = []
    for place, full in ((1, None), (0, None), (2, Field("of", "LK-2"))):
        groups = (order, order) if full is None else (order, get)
        phrase = Phrase(Sighting(0, "user", "text"), Field("", f"LK-{place}"), full, groups)
        lines.append((phrase, (place, place, place), 1.0))
    price([line[0] for line in lines], size)
    return lines, order, get


def test_values_share_what_their_entry_takes() -> None:
    """Each is one of those in it, whether or not it has a second form."""
    lines, order, get = three_lines()
    bare, full = FINE * len(" LK-1,"), FINE * len(" of=LK-3,")
    assert order.cost == FINE * len("\n- order:")
    assert get.cost == FINE * len("\n- get(LK-1):")
    assert [line[0].costs for line in lines] == [(bare, 0), (bare, 0), (bare, full)]
    moves = Choice(lines).moves
    assert [move[0] for move in moves if not move[2]] == [-1 / (bare + order.cost / 3)] * 3
    (more,) = (move for move in moves if move[2])
    assert more[3:] == (full - bare, get, lines[2][0])
    assert more[0] == -0.05 / (full - bare + get.cost)


def test_what_fits_is_in_the_order_of_time() -> None:
    """The second form takes the place of the first."""
    lines, order, get = three_lines()
    choice = Choice(lines)
    few = choice.entries(order.cost + 2 * FINE * len(" LK-1,"))
    assert few == [Entry("order", None, (Field("", "LK-0"), Field("", "LK-1")))]
    assert choice.entries(1_000) == [
        Entry("order", None, (Field("", "LK-0"), Field("", "LK-1"))),
        Entry("get", get.arguments, (Field("of", "LK-2"),)),
    ]


def test_what_takes_less_goes_in_behind_what_does_not_fit() -> None:
    """To the last bit of room, however much of it is used."""
    order = Group("order")
    lines: list[Line] = []
    for place, text in enumerate(("LK-1", "LK-2", "a long name of the third", "LK-4")):
        phrase = Phrase(Sighting(place, "user", "text"), Field("", text), None, (order, order))
        lines.append((phrase, (place, place, place), 100.0 - place))
    price([line[0] for line in lines], size)
    lines = [  # in this order for their room
        (phrase, time, worth * (phrase.costs[0] + order.cost / len(lines)))
        for phrase, time, worth in lines
    ]
    room = order.cost + 3 * FINE * len(" LK-1,")
    (entry,) = Choice(lines).entries(room)
    assert [field.text for field in entry.values] == ["LK-1", "LK-2", "LK-4"]
    (entry,) = Choice(lines).entries(room - 1)
    assert [field.text for field in entry.values] == ["LK-1", "LK-2"]


@pytest.mark.parametrize("worths", [(1.0, 1_000_000.0), (1_000_000.0, 1.0)])
def test_what_the_user_said_comes_first(worths: tuple[float, float]) -> None:
    """Into half of the room, whatever it is worth; each form of it is paid for once."""
    said, others = Group("user"), Group("order")
    gift, order = Field("", "LK-1, a gift"), Field("", "LK-2 " * 20)
    of_user = Phrase(Sighting(0, "user", "text"), Field("", "LK-1"), gift, (said, said))
    of_tool = Phrase(Sighting(1, "tool", "result"), order, None, (others, others))
    price([of_user, of_tool], size)
    choice = Choice([(of_user, (0, 0, 0), worths[0]), (of_tool, (1, 1, 1), worths[1])])
    for_user, for_tool = said.cost + of_user.costs[1], others.cost + of_tool.costs[0]
    assert for_tool > 2 * for_user
    assert choice.entries(for_tool) == [Entry("user", None, (gift,))]
    both = [Entry("user", None, (gift,)), Entry("order", None, (order,))]
    assert choice.entries(for_user + for_tool) == both


@pytest.mark.parametrize(
    "account", ["NL11 BANK 0117 5543 01", "b.tal@mail.example", "+49 171 5550 288"]
)
def test_what_a_user_is_known_by_comes_before_the_numbers_of_his_questions(account: str) -> None:
    """These are worth more for their room, as they take so little."""
    said, others = Group("user"), Group("order")
    texts = (f"my account is {account}", *(f"Question {n}?" for n in range(20)), "LK-2 " * 60)
    groups = (said,) * 21 + (others,)
    phrases = [
        Phrase(Sighting(place, "user", "text"), Field("", text), None, (group, group))
        for place, (text, group) in enumerate(zip(texts, groups, strict=True))
    ]
    price(phrases, size)
    lines = [(phrase, (n, n, n), 0.1 if n == 0 else 1.0) for n, phrase in enumerate(phrases)]
    half = said.cost + phrases[0].costs[0] + phrases[20].costs[0]
    (kept,) = Choice(lines[:21]).entries(2 * half)[:1]
    assert kept.values[0] == Field("", texts[0])
    assert len(kept.values) > 1  # what is left of the room is theirs
    of_user = Choice(lines).entries(2 * half)[0]
    assert of_user.values[0] == Field("", texts[0])


def test_a_value_stands_where_it_was_said_first() -> None:
    """Also where it was named again since; its entry is as new as the newest in it."""
    lines, order, get = three_lines()
    lines[1] = (lines[1][0], (9, 0, 3), 1.0)  # of words before others whose facts were seen before
    lines[2] = (lines[2][0], (5, 2, 2), 1.0)
    assert Choice(lines).entries(1_000) == [
        Entry("get", get.arguments, (Field("of", "LK-2"),)),
        Entry("order", None, (Field("", "LK-0"), Field("", "LK-1"))),
    ]
    assert order.cost


def test_what_is_known_is_not_counted_again() -> None:
    """Neither a value nor an entry, also where another value goes into it."""
    lines, order, _ = three_lines()
    asked: list[str] = []

    def count(texts: Sequence[str]) -> list[int]:
        asked.extend(texts)
        return size(texts)

    price([line[0] for line in lines], count)
    assert not asked
    new = Phrase(Sighting(0, "user", "text"), Field("", "LK-9"), None, (order, order))
    price([lines[0][0], new], count)
    assert asked == [" LK-9," * FINE, ""]
    assert new.costs == lines[0][0].costs


def test_values_that_are_alike_cost_what_they_take() -> None:
    """A quarter of a token less or more for each would leave the record too short or too long."""
    order = Group("order_number")
    texts = [f"LK-{4_000_000 + number}" for number in range(200)]
    phrases = [
        Phrase(Sighting(place, "tool", "result"), Field("", text), None, (order, order))
        for place, text in enumerate(texts)
    ]
    price(phrases, lambda shown: list(map(estimate, shown)))
    told = order.cost + sum(phrase.costs[0] for phrase in phrases)
    values = (Entry("order_number", None, tuple(phrase.bare for phrase in phrases)),)
    assert 0.95 < told / FINE / estimate(rendered(Record(values=values))) < 1.05
