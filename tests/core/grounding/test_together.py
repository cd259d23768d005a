"""What few amounts come to that were shown together: rests, and sums of two bookings."""

from __future__ import annotations

import pytest
from sources import called, found, shown

from chatfold.core.grounding import Sources
from chatfold.core.views import ItemView, TextPart

PRICES = [{"id": f"P-{n}", "price_eur": n} for n in (211, 347, 463, 589, 617, 733, 859)]
BOOKINGS = called(
    ("search_flights", {}, PRICES),
    ("book_flight", {"offer": "OF-40"}, {"pnr": "QT3P8W", "price_eur": 389.4, "seats": 2}),
    ("book_hotel", {"id": "H-882"}, {"confirmation": "MT-5521", "total": 512, "currency": "EUR"}),
    ("book_flight", {"offer": "OF-41"}, {"pnr": "RT3P9W", "price_eur": 412.7, "seats": 2}),
)


@pytest.mark.parametrize(
    ("true", "lie"),
    [
        ("She still owes $300.", "She still owes $350."),
        ("The rest is $300.00.", "The rest is $290.00."),
        ("In all $600.", "In all EUR 600."),
        ("In all $600.", "In all $650."),
    ],
)
def test_a_rest_and_a_sum_of_amounts_of_one_message_are_no_lies(true: str, lie: str) -> None:
    sources = shown("Price is $450.00, I paid a deposit of $150.00, for EUR 20 more.")
    assert found(true, sources) == []
    assert len(found(lie, sources)) == 1


def test_what_two_bookings_come_to_is_no_lie() -> None:
    """What is no amount, such as a number of seats, is not added."""
    assert found("Total EUR 924.70.", BOOKINGS) == []
    assert found("Total USD 924.70.", BOOKINGS) == ["USD 924.70"]
    assert found("Total EUR 414.70.", BOOKINGS) == ["EUR 414.70"]
    assert found("Total EUR 901.40.", BOOKINGS) == ["EUR 901.40"]  # that flight was booked anew


def test_amounts_of_one_message_are_added_in_a_turn_with_many() -> None:
    prices = ", ".join(f"EUR {n}" for n in (211, 347, 463, 589, 617, 733, 859))
    views = [
        ItemView("user", (TextPart(f"I know {prices}."),)),
        ItemView("assistant", (TextPart("The price is EUR 450, the deposit EUR 140."),)),
    ]
    assert found("EUR 310 are left.", Sources(views, [])) == []
    assert found("EUR 93 are left.", Sources(views, [])) == ["EUR 93"]


def test_amounts_of_two_messages_are_added_within_a_turn_or_where_there_are_few() -> None:
    turn = [
        ItemView("user", (TextPart("My limit is EUR 3,000."),)),
        ItemView("assistant", (TextPart("The repair is EUR 3,255."),)),
    ]
    many = [ItemView("user", (TextPart(f"It is EUR {n}."),)) for n in (211, 347, 463, 589, 617)]
    sources = Sources([*turn, *many], [])
    assert found("It is over that by EUR 255.", sources) == []
    assert found("It is EUR 136 more.", sources) == ["EUR 136"]
    assert found("It is EUR 136 more.", Sources(many, [])) == []


def test_of_many_amounts_no_two_are_added() -> None:
    text = ", ".join(f"EUR {n}" for n in (211, 347, 463, 589, 617, 733, 859))
    assert found("In all EUR 3,819.", shown(text)) == []
    assert found("It is EUR 558.", shown(text)) == ["EUR 558"]
    assert found("It is EUR 136 more.", shown(text)) == ["EUR 136"]


def test_the_prices_of_instructions_are_not_added() -> None:
    rules = ItemView("system", (TextPart("Refund up to $50, $30 or $100."),))
    assert found("He got $180.", Sources([rules], [])) == ["$180"]
    assert found("He got $180.", Sources([], [], ["Refund up to $50, $30 or $100."])) == ["$180"]


def test_the_sum_of_a_column_may_be_rounded_to_its_million() -> None:
    """Also of a table in which only spaces part the columns."""
    table = "region     eur\nDACH       4182330.50\nBenelux    1290114.20\nIberia     720019.10"
    sources = called(("run_python", {}, table))
    assert found("In total EUR 6,192,463.80, or EUR 6.19 million.", sources) == []
    assert found("DACH and Benelux made 5.47 million euros.", sources) == []
    assert found("In total EUR 6.91 million.", sources) == ["EUR 6.91 million"]
    assert found("In total EUR 6,192,464.90.", sources) == ["EUR 6,192,464.90"]
