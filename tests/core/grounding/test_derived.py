"""What follows from what was shown is no lie: measures, times, sums, shares; what does not is."""

from __future__ import annotations

from typing import Any

import pytest
from sources import called, found, shown


@pytest.mark.parametrize(
    ("result", "true", "lie"),
    [
        ({"weight_kg": 9}, "It weighs 9 kg (20 lb).", "30 lb"),
        ({"distance_km": 320}, "It is about 199 miles.", "149 miles"),
        ("The dose is 0.5 mg.", "The dose is 500 mcg, or 0.5 mg.", "5 mg"),
        ({"temp_c": 31.5}, "It was 31.5 °C, so 88.7 °F.", "98.7 °F"),
        ({"temp_f": 50}, "It was 10 °C.", "20 °C"),
        ({"height_cm": 190}, "That is 74.8 inches.", "64.8 inches"),
        ({"speed_mph": 50}, "It went 80 km/h.", "90 km/h"),
        ({"seconds": 5400}, "It ran for 90 minutes.", "95 minutes"),
        ("It took 3 weeks.", "It took 21 days.", "22 days"),
        ({"duration_min": 215}, "It takes 3 h 35 min.", "3 h 45"),
        ({"seconds": 147}, "It took 2m 27s.", "29s"),
    ],
)
def test_a_measure_may_be_in_another_unit(result: Any, true: str, lie: str) -> None:
    """Also where the unit is that of the key."""
    sources = called(("measure", {}, result))
    assert found(true, sources) == []
    assert found(f"It is {lie}.", sources) == [lie]


@pytest.mark.parametrize(
    ("source", "true", "lie"),
    [
        ("She seeks $2,350,000.", "$2.350 million", "$2.530 million"),
        ("Erlös: 2.350.000.000 €", "2.350 Mio. €", "2.530 Mio. €"),
        ("The total is 84,300 JPY.", "8万4300円", "8万3400円"),
        ("费用 45000 元", "4万5千元", "5万4千元"),
        ("총 230000000 KRW", "2억 3000만원", "3억 2000만원"),
        ("The flat costs 4750000 INR.", "₹47.5 lakh", "₹45.7 lakh"),
        ("The rate is 0.375.", "37.5%", "35.7%"),
    ],
)
def test_an_amount_may_be_in_powers_of_ten_of_any_language(
    source: str, true: str, lie: str
) -> None:
    assert found(f"It is {true} now.", shown(source)) == []
    assert found(f"It is {lie} now.", shown(source)) == [lie]


@pytest.mark.parametrize(
    ("result", "true", "lie"),
    [
        ({"p99_s": 0.41}, "0.41 s", "0.41 ms"),
        ({"p99_s": 0.41}, "410 ms", "4.1 ms"),
        ({"kwh": 312.4}, "312.4 kWh", "312.4 MWh"),
        ({"kwh": 312.4}, "312,400 Wh", "312,400 kWh"),
        ({"size_kb": 911}, "911 kB", "911 MB"),
        ({"temp_f": 68.5}, "68.5 °F", "68.5 °C"),
    ],
)
def test_a_number_is_in_the_unit_that_its_key_names(result: Any, true: str, lie: str) -> None:
    sources = called(("measure", {}, result))
    assert found(f"It is {true} now.", sources) == []
    assert len(found(f"It is {lie} now.", sources)) == 1


@pytest.mark.parametrize(
    ("result", "true"),
    [
        ({"latency_min": 180.5, "latency_max": 240.5}, "180.5 ms"),
        ({"revenue_m": 398.2}, "398.2 km"),
        ({"mem_mib": 640.5}, "640.5 MB"),
        ({"p99_s": 0.41, "label": "0.41"}, "0.41 ms"),
        ({"p99_s": 0.41, "note": "It was 0.41 at first."}, "0.41 ms"),
        ({"length": 180.5}, "180.5 cm"),
        ({"limit_kb": 180.5}, "180.5 kg"),
    ],
)
def test_what_a_key_may_mean_otherwise_is_no_unit(result: Any, true: str) -> None:
    assert found(f"It is {true} now.", called(("measure", {}, result))) == []


SITE = "The site is 4,182,330.50 EUR, the budget $2,450,000 for 1,204,882 people."


@pytest.mark.parametrize(
    ("true", "lie"),
    [
        ("EUR 4.18 million", "EUR 4.19 million"),
        ("4.2 million EUR", "4.3 million EUR"),
        ("EUR 4 million", "EUR 5 million"),
        ("4,18 Mio. Euro", "4,81 Mio. Euro"),
        ("4,2 millions d'euros", "4,4 millions d'euros"),
        ("4182 thousand euros", "4187 thousand euros"),
        ("EUR 4,182k", "EUR 4,128k"),
        ("EUR 4.18 M", "EUR 4.28 M"),
        ("$2.45 M", "$2.54 M"),
        ("2.5 million dollars", "2.6 million dollars"),
        ("$2.45 million", "EUR 2.45 million"),
        ("1.2 million people", "1.3 million people"),
        ("1,205 thousand people", "1,204 thousand people"),
    ],
)
def test_a_number_may_be_rounded_to_the_last_digit_before_its_million(true: str, lie: str) -> None:
    assert found(f"It is {true} now.", shown(SITE)) == []
    assert len(found(f"It is {lie} now.", shown(SITE))) == 1


@pytest.mark.parametrize("lie", ["EUR 4,182,300", "$2,500,000", "EUR 4,180,000.00", "$20 M"])
def test_what_has_no_word_for_its_size_is_not_rounded(lie: str) -> None:
    assert len(found(f"It is {lie} now.", shown(SITE))) == 1


def test_a_million_may_be_rounded_to_a_larger_word() -> None:
    sources = shown("Revenue was 398.2 million USD.")
    assert found("Revenue was $398 million, or $0.4 billion.", sources) == []
    assert found("Revenue was $0.5 billion.", sources) == ["$0.5 billion"]


@pytest.mark.parametrize(
    ("source", "true", "lie"),
    [
        ("I arrive on May 3 for 4 nights.", "Arrival May 3, departure May 7.", "May 9"),
        ("8月3日から4泊です。", "8月3日から8月7日まで。", "8月9日"),
        ("Ich komme am 3. Mai für 4 Nächte.", "Vom 3. Mai bis 7. Mai.", "9. Mai."),
    ],
)
def test_the_end_of_a_stay_is_no_lie(source: str, true: str, lie: str) -> None:
    assert found(true, shown(source)) == []
    assert found(f"{true} {lie} too", shown(source)) == [lie]


def test_a_day_so_many_days_behind_one_of_the_same_object_is_no_lie() -> None:
    """What the result of a call says of days is not said of those that it was given."""
    sources = called(("book", {"from": "2027-05-03", "nights": 4}, {"cancel_by": "2027-04-20"}))
    assert found("She leaves on May 7, 2027.", sources) == []
    assert found("She leaves on April 24, 2027.", sources) == ["April 24, 2027"]


@pytest.mark.parametrize(
    "table",
    [
        "city,sold\nOslo,318\nBergen,274\nMoss,156",
        "city\tsold\nOslo\t318\nBergen\t274\nMoss\t156",
        " city   | sold\n--------+------\n Oslo   |  318\n Bergen |  274\n Moss   |  156\n(3 rows)",
        "| city | sold |\n|---|---|\n| Oslo | 318 |\n| Bergen | 274 |\n| Moss | 156 |",
        '[{"city": "Oslo", "sold": 318}, {"city": "B", "sold": 274}, {"city": "M", "sold": 156}]',
    ],
)
def test_what_a_column_comes_to_is_no_lie(table: str) -> None:
    sources = called(("query", {}, table))
    assert found("In all 748 were sold, on average 249.33.", sources) == []
    assert found("In all 784 were sold.", sources) == ["784"]


def test_a_line_of_an_order_may_be_told_by_its_total() -> None:
    line = {"sku": "MUG", "quantity": 3, "price": "17.40", "currency": "EUR"}
    sources = called(("get_order", {}, {"lines": [line, {"quantity": 2, "price": "90.10"}]}))
    assert found("The mugs are 52.20 EUR.", sources) == []
    assert found("The mugs are 54.20 EUR.", sources) == ["54.20 EUR"]
    assert found("The mugs are 52.20 USD.", sources) == ["52.20 USD"]
    assert found("The mugs are 34.80 EUR.", sources) == ["34.80 EUR"]


@pytest.mark.parametrize(
    ("text", "lies"),
    [
        ("Train 118, room 240.50, taxi 35: EUR 393.50 in all.", []),
        ("Train 118, room 240.50, taxi 35: EUR 398.50 in all.", ["EUR 398.50"]),
        ("Of 240.50 EUR she got back 118, so that 122.50 EUR are left.", []),
        ("Train 118, room 240.50, taxi 35: USD 393.50 in all.", ["USD 393.50"]),
        ("It is 68 % full: 340 of 500 GB.", []),
        ("It is 78 % full: 340 of 500 GB.", ["78 %"]),
    ],
)
def test_what_numbers_come_to_that_stand_beside_each_other_is_no_lie(
    text: str, lies: list[str]
) -> None:
    costs = {"train": 118, "room": 240.5, "taxi": 35, "currency": "EUR"}
    disk = {"used_gb": 340, "size_gb": 500}
    assert found(text, called(("get_costs", {}, costs), ("df", {}, disk))) == lies


def test_no_day_comes_behind_the_last_year() -> None:
    sources = called(
        ("get", {}, {"until": "9999-12-31", "days": 30}), ("say", {}, "Call tomorrow.")
    )
    assert found("It holds until 9999-12-31, not 2027-05-04.", sources) == ["2027-05-04"]


def test_thousands_may_be_short_behind_a_slash() -> None:
    """Where it looks like an id."""
    assert found("Tokens in/24k are used.", shown("There are 24123 tokens.")) == []
    assert found("Tokens in/24k are used.", shown("There are 27123 tokens.")) == ["24k"]


def test_only_a_time_goes_on_in_smaller_units_of_time() -> None:
    """A length does not, though as many of its own smallest come to the sum."""
    sources = shown("It is 3 km away, and took 4200 s.")
    assert found("It is 3 km 20 min away.", sources) == ["20 min"]
