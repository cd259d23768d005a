"""What a summary says and its author was not shown is found; what it says in other words is not."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sources import called, found, shown
from summaries import CORRUPTIONS, Case, Suite, corrupted, faithful
from summaries_held_out import HELD_OUT
from summaries_tune import TUNE

from chatfold import ChatContext
from chatfold.core.grounding import Sources, Ungrounded, ungrounded, without
from chatfold.core.grounding.said import _COMPARED
from chatfold.core.views import ItemView, SummaryPart, TextPart

COUNT = 1050  # of each: 50 for each kind of corruption


# --- the generated set --------------------------------------------------------------------------


@cache
def _faithful(suite: str) -> list[tuple[Case, list[Ungrounded]]]:
    return [(case, _judged(case)) for case in faithful(_suite(suite), 1, COUNT)]


@cache
def _corrupted(suite: str) -> list[tuple[Case, list[Ungrounded]]]:
    return [(case, _judged(case)) for case in corrupted(_suite(suite), 1, COUNT)]


def _suite(name: str) -> Suite:
    return {"tune": TUNE, "held out": HELD_OUT}[name]


def _judged(case: Case) -> list[Ungrounded]:
    ctx = ChatContext(case.history, shape="openai_chat")
    return ungrounded(case.text, Sources(ctx.views(), ctx.tool_calls()))


def _is_caught(case: Case, names: list[Ungrounded]) -> bool:
    """Return whether the changed value is named, or one that it was wrongly put beside."""
    assert case.changed is not None
    start, stop = case.changed
    return any(
        (u.value.start < stop and start < u.value.stop)
        or (u.why == "misplaced" and u.sentence[0] <= start < u.sentence[1])
        for u in names
    )


@pytest.mark.parametrize("suite", ["tune", "held out"])
@pytest.mark.parametrize("kind", list(CORRUPTIONS))
def test_a_changed_value_is_caught(suite: str, kind: str) -> None:
    """At least 99 % of 50 of each kind: all of them."""
    cases = [(case, names) for case, names in _corrupted(suite) if case.kind == kind]
    missed = [(c.was, c.text) for c, names in cases if not _is_caught(c, names)]
    assert len(cases) == COUNT // len(CORRUPTIONS)
    assert len(missed) <= 0.01 * len(cases), missed


@pytest.mark.parametrize("suite", ["tune", "held out"])
def test_a_faithful_summary_is_left_alone(suite: str) -> None:
    alarms = [(names, case.text) for case, names in _faithful(suite) if names]
    assert len(alarms) <= 0.01 * COUNT, alarms[:5]


@pytest.mark.parametrize("suite", ["tune", "held out"])
def test_a_faithful_summary_is_left_alone_in_each_kind(suite: str) -> None:
    """No more than 1 % of the summaries have a false alarm of any one kind."""
    kinds: Counter[str] = Counter()
    for _, names in _faithful(suite):
        kinds.update({u.value.kind for u in names})
    assert all(count <= 0.01 * COUNT for count in kinds.values()), kinds


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Print what was caught and what was falsely named, by kind."""
    lines = [f"{'kind of change':20} {'tune':>12} {'held out':>12}"]
    results = {suite: _corrupted(suite) for suite in ("tune", "held out")}
    for kind in CORRUPTIONS:
        cells: list[str] = []
        for judged in results.values():
            caught = [_is_caught(case, names) for case, names in judged if case.kind == kind]
            cells.append(f"{sum(caught):5}/{len(caught):<6}")
        lines.append(f"{kind:20} {' '.join(cells)}")
    alarms = [sum(bool(names) for _, names in _faithful(s)) for s in results]
    lines.append(f"{'false alarms':20} {' '.join(f'{n:5}/{COUNT:<6}' for n in alarms)}")
    with capsys.disabled():
        print("\n" + "\n".join(lines))


# --- what is no lie -----------------------------------------------------------------------------

ORDERS = [
    {"order_id": "LK-4821936", "total": 349.90, "currency": "EUR", "placed": "2025-10-07"},
    {"order_id": "LK-4821937", "total": 1299.00, "currency": "EUR", "placed": "2025-09-12"},
    {"order_id": "LK-4821938", "total": 12.40, "currency": "EUR", "placed": "2025-08-30"},
]


@pytest.mark.parametrize(
    "text",
    [
        "Order LK-4821936 cost €349.90.",
        "LK-4821936: 349,90 EUR, placed October 7, 2025.",
        "LK-4821936 was placed on Oct 7.",
        "Both LK-4821936 and LK-4821937 together cost 1,648.90 EUR.",
        "The three orders come to 1,661.30 EUR.",
        "LK-4821937 is 949.10 EUR dearer.",
        "LK-4821936 cost about 350 EUR.",
        "LK-4821936 cost 350 EUR.",
        "There were 3 orders between LK-4821937 and LK-4821936, 25 days apart.",
        "1. Check LK-4821938.\n2. Refund it.",
        "LK 4821936 is open.",
        "## 2025 orders\n- list_orders was called",
        "The first makes up 21 % of the first two.",
        "The `order_id` of the first is LK-4821936.",
    ],
)
def test_what_follows_from_the_source_is_no_lie(text: str) -> None:
    assert found(text, called(("list_orders", {"year": 2025}, ORDERS))) == []


@pytest.mark.parametrize(
    ("text", "lie"),
    [
        ("LK-4821936 was placed on 2024-10-07.", "2024-10-07"),
        ("LK-4821963 is open.", "LK-4821963"),
        ("LK-4821936 cost $349.90.", "$349.90"),
        ("LK-4821936 cost 394.90 EUR.", "394.90 EUR"),
        ("LK-4821936 cost about 500 EUR.", "500 EUR"),
        ("LK-4821936 cost 1,299.00 EUR.", "1,299.00 EUR"),
        ("LK-4821936 was placed on September 12.", "September 12"),
        ("The list has 4812 rows.", "4812"),
        ("Mail them at a.b@example.com.", "a.b@example.com"),
    ],
)
def test_one_other_value_is_named(text: str, lie: str) -> None:
    assert found(text, called(("list_orders", {"year": 2025}, ORDERS))) == [lie]


def test_a_misplaced_value_says_to_what_it_belongs() -> None:
    sources = called(("list_orders", {}, ORDERS))
    (found,) = ungrounded("Fine so far. LK-4821936 cost 1,299.00 EUR.", sources)
    assert (found.why, found.belongs, found.sentence) == ("misplaced", "lk-4821937", (13, 42))


def test_an_id_is_no_other_value_of_its_own() -> None:
    """Of two matters in one sentence, each has its id."""

    def made(number: str, name: str, order: str, result: str) -> list[Any]:
        function = {"name": name, "arguments": f'{{"order": "{order}"}}'}
        call = {"id": number, "type": "function", "function": function}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": number, "content": result},
        ]

    ctx = ChatContext(
        [
            {"role": "user", "content": "Where is order LK-1001?"},
            *made("1", "get_order", "LK-1001", '{"status": "delivered"}'),
            {"role": "user", "content": "And take the other back."},
            *made("2", "create_return", "LK-2002", '{"return_id": "RT-77120"}'),
            {"role": "assistant", "content": "The return is RT-77120."},
        ],
        shape="openai_chat",
    )
    sources = Sources(ctx.views(), ctx.tool_calls())
    assert found("Order LK-1001 was delivered; return RT-77120 was created.", sources) == []


def test_what_a_call_was_given_owns_what_it_returned() -> None:
    sources = called(
        ("create_rma", {"order_id": "LK-4821936"}, {"rma": "RMA-90721"}),
        ("create_rma", {"order_id": "LK-4821937"}, {"rma": "RMA-90722"}),
    )
    assert found("RMA-90721 was created for LK-4821936.", sources) == []
    # Either may be the wrong one.
    moved = found("RMA-90722 was created for LK-4821936.", sources)
    assert moved == ["RMA-90722", "LK-4821936"]


def test_what_stands_under_a_heading_is_said_of_it() -> None:
    sources = called(("list_orders", {}, ORDERS))
    assert found("### LK-4821936\n- total: 349.90 EUR", sources) == []
    assert found("### LK-4821936\n- total: 1,299.00 EUR", sources) == ["1,299.00 EUR"]
    assert found("- **LK-4821936**\n  - 1,299.00 EUR", sources) == ["1,299.00 EUR"]
    assert found("LK-4821936 is open. It cost 1,299.00 EUR.", sources) == ["1,299.00 EUR"]


def test_records_without_a_blank_line_between_are_two() -> None:
    block = "order_id: LK-4821936\ntotal: 349.90 EUR\norder_id: LK-4821937\ntotal: 12.40 EUR"
    sources = called(("list_orders", {}, block))
    assert found("LK-4821936 cost 349.90 EUR.", sources) == []
    assert found("LK-4821936 cost 12.40 EUR.", sources) == ["12.40 EUR"]


def test_hundredths_are_an_amount_only_beside_their_currency() -> None:
    beside = called(("get_charge", {}, {"amount": 34990, "currency": "eur"}))
    apart = called(("count_rows", {}, {"rows": 34990}), ("get_prices", {}, {"currency": "eur"}))
    assert found("It cost 349.90 EUR.", beside) == []
    assert found("It cost 349.90 EUR.", apart) == ["349.90 EUR"]


CHARGES = [
    {"id": "ch-4401", "amount": 134990, "currency": "usd", "created": 1767225600},
    {"id": "ch-4402", "amount": 1500000, "currency": "usd", "created": 1767312000},
]


@pytest.mark.parametrize(
    "text",
    [
        "ch-4401 is $1,349.90 and ch-4402 is $15,000.00.",
        "ch-4401 is 134990 USD.",
        "ch-4401 is $134,990.",
        "ch-4402 is about $1.5 million.",
        "Together they are $1,634,990.",
        "ch-4401 is about 135,000.",
    ],
)
def test_an_amount_may_have_as_many_digits_as_an_id(text: str) -> None:
    assert found(text, called(("list_charges", {}, CHARGES))) == []


def test_a_long_amount_of_another_charge_or_in_another_currency_is_a_lie() -> None:
    sources = called(("list_charges", {}, CHARGES))
    assert found("ch-4401 is €1,349.90.", sources) == ["€1,349.90"]
    assert found("ch-4401 is $1,349.91.", sources) == ["$1,349.91"]
    assert found("ch-4401 is $15,000.00.", sources) == ["$15,000.00"]


@pytest.mark.parametrize("currency", ["EUR", "JPY", "KRW", "HUF"])
@pytest.mark.parametrize("price", [450000, "450000"])
def test_a_long_price_is_one_in_every_currency(price: object, currency: str) -> None:
    sources = called(("get_house", {}, {"price": price, "currency": currency}))
    assert found(f"It costs 450,000 {currency}.", sources) == []
    assert found(f"It costs 450k {currency}.", sources) == []
    row = shown(f"| house | price | currency |\n| H-1 | 450000 | {currency} |")
    assert found(f"H-1 costs 450,000 {currency}.", row) == []


@pytest.mark.parametrize("key", ["order_number", "id", "ticket", "customer_id", "sku"])
def test_the_digits_of_an_id_are_no_amount(key: str) -> None:
    sources = called(("get_order", {}, {key: 482193, "total": 20, "currency": "EUR"}))
    assert found("It cost 482,193 EUR.", sources) == ["482,193 EUR"]
    assert found("It cost 4,821.93 EUR.", sources) == ["4,821.93 EUR"]
    prose = shown("Order 482193 was 20 EUR.")
    assert found("It cost 482,193 EUR.", prose) == ["482,193 EUR"]


@pytest.mark.parametrize(
    ("result", "true", "lie"),
    [
        ({"total": 1349.90, "currency": "EUR"}, "1,349.90 EUR", "$1,349.90"),
        ({"total": 1349.90, "currency": "EUR"}, "about 1,350 EUR", "about $1,350"),
        ({"total": 1349.90, "currency": "EUR"}, "1,350 EUR", "£1,350"),
        ({"total_jpy": 13490}, "¥13,490", "$13,490"),
        ({"total_jpy": 13490}, "13490 yen", "13,490 元"),
        ({"total": 1349.90, "currency": "CAD"}, "$1,349.90", "US$1,349.90"),
        ({"total": 1349.90, "currency": "DKK"}, "1,349.90 kroner", "$1,349.90"),
        ("Total: 1349.90\nCurrency: EUR", "1,349.90 EUR", "$1,349.90"),
        ({"currency": "EUR", "items": [{"price": 20}, {"price": 30}]}, "50 EUR", "50 GBP"),
        (
            [{"price": 20, "currency": "EUR"}, {"price": 30, "currency": "USD"}] * 2,
            "60 USD",
            "50 EUR",
        ),
    ],
)
def test_an_amount_has_the_currency_that_stands_beside_its_number(
    result: object, true: str, lie: str
) -> None:
    sources = called(("get_bill", {}, result))
    assert found(f"It comes to {true}.", sources) == []
    assert found(f"It comes to {lie}.", sources) == [lie.removeprefix("about ")]


def test_an_amount_may_be_in_any_currency_where_none_was_shown() -> None:
    sources = called(("get_bill", {}, {"total": 20, "items": [{"price": 12.5}, {"price": 17.5}]}))
    assert found("It comes to $20, the items to €30.", sources) == []


def test_a_number_in_another_unit_is_no_lie() -> None:
    sources = shown("The dump has 25600 MB and took 90 minutes.")
    assert found("The dump has 25.6 GB.", sources) == []
    assert found("The dump has 26.5 GB.", sources) == ["26.5 GB"]


def test_a_path_from_the_folder_it_was_shown_in_is_no_lie() -> None:
    sources = shown("In /srv/shop edit src/cart/total.py please.")
    assert found("Edited /srv/shop/src/cart/total.py.", sources) == []
    assert found("Edited /srv/stop/src/cart/total.py.", sources) == ["/srv/stop/src/cart/total.py"]


def test_a_day_that_belongs_to_nobody_too_is_not_misplaced() -> None:
    listed = called(("list_orders", {}, ORDERS))
    text = "LK-4821936 was cancelled on 2025-09-12."
    assert found(text, listed) == ["2025-09-12"]
    today = called(("list_orders", {}, ORDERS), ("get_date", {}, "It is 2025-09-12."))
    assert found(text, today) == []


def test_a_relative_day_is_no_lie() -> None:
    sources = Sources(
        [
            ItemView("system", (TextPart("Today is 2025-10-07."),)),
            ItemView("user", (TextPart("Call me tomorrow, or in 10 days; else on Friday"),)),
        ],
        [],
    )
    assert found("Call on October 8, on 2025-10-17, else on Oct 10.", sources) == []
    assert found("Call on October 9.", sources) == ["October 9"]


@pytest.mark.parametrize(
    ("source", "true", "lie"),
    [
        ("Termin bitte am 14.11. um 15 Uhr.", "am 14. November", "15.11."),
        ("Termin bitte am 14.11. um 15 Uhr.", "for 11/14 at 3 pm", "11/15"),
        ("Book me in for 11/14 at 3pm.", "November 14", "November 15"),
        ("Book me in for 5/7 at 3pm.", "7 May", "7 June"),
        ("Book me in for 5/7 at 3pm.", "5 July", "5 June"),
        ("Rendez-vous le 14/11 à 15h30.", "14 novembre", "15 novembre"),
        ("الموعد 14 نوفمبر", "14 November", "15 نوفمبر"),
    ],
)
def test_a_day_of_digits_is_the_one_that_was_named(source: str, true: str, lie: str) -> None:
    sources = shown(source)
    assert found(f"It is {true}.", sources) == []
    assert found(f"It is on {lie}, Sir.", sources) == [lie]


@pytest.mark.parametrize("source", ["vom 4. bis 7. August", "du 4 au 7 août", "4 to 7 August"])
def test_both_ends_of_a_stay_may_be_written_out(source: str) -> None:
    sources = shown(f"The stay is {source}.")
    assert found("From August 4 to August 7.", sources) == []
    assert found("From August 5 to August 7.", sources) == ["August 5"]


@pytest.mark.parametrize(
    "said",
    [
        "No, the 14th instead.",
        "Doch lieber am 14. bitte.",
        "Plutôt le 14 à midi.",
        "Mejor el 14.",
        "14日に変更してください。",
    ],
)
def test_a_day_without_its_month_is_of_the_month_that_was_named_before(said: str) -> None:
    told = ("Today is 2026-02-20.", "I fly on 12 March.", said, "Back on 2 May.")
    sources = Sources([ItemView("user", (TextPart(text),)) for text in told[1:]], [], told[:1])
    assert found("She flies on 14 March.", sources) == []
    assert found("She flies on 2026-03-14.", sources) == []
    assert found("She flies on 15 March now.", sources) == ["15 March"]
    assert found("She flies on 14 May now.", sources) == ["14 May"]
    assert found("She flies on 2025-03-14.", sources) == ["2025-03-14"]


@pytest.mark.parametrize(
    "said",
    [
        "My 14th choice is Rome, the 14th page.",
        "Ich nehme den 14. Preis.",
        "Suba del 10 al 14 por ciento.",
        "le 14 mai",
    ],
)
def test_what_is_counted_is_no_day_of_a_month(said: str) -> None:
    sources = shown(f"I fly on 12 March. {said}")
    assert found("She flies on 14 March now.", sources) == ["14 March"]


def test_a_number_with_decimals_is_no_count() -> None:
    """Where few numbers were shown, it is one of them, or comes of two."""
    sources = shown("The interest is 2.4 %, the pH 6.8; grades 4 and 5.")
    assert found("Interest 4.2 %, pH 8.6.", sources) == ["4.2 %", "8.6"]
    assert found("The mean grade is 4.5, the pH 6.8.", sources) == []
    assert found("It was 3 times.", sources) == []
    assert found("A rate of 33.7.", shown("100.25 m, 129.25 m")) == ["33.7"]
    many = shown(" ".join(f"{n}.25 m," for n in range(100, 130)))
    assert found("A rate of 33.7.", many) == []


def test_a_number_of_thousands_may_lose_its_mark() -> None:
    assert found("Er hat 128450 km.", shown("Der Stand ist 128.450 km.")) == []
    assert found("Er hat 450 km.", shown("Der Stand ist 128.450 km.")) == ["450 km"]


def test_a_number_is_no_day_of_a_month() -> None:
    sources = shown("I fly on 12 March with the 14 bags for 14 %, le 14h ou le 3.14.")
    assert found("She flies on 14 March now.", sources) == ["14 March"]


def test_what_looks_like_a_day_in_a_summary_alone_is_no_lie() -> None:
    assert found("Ab 3.11. gilt es.", shown("Use Python 3.11 there.")) == []
    assert found("It stopped on 11/14.", shown("11/14 tests passed.")) == []
    sources = Sources(
        [
            ItemView("system", (TextPart("Today is 2026-05-06."),)),
            ItemView("user", (TextPart("Call me tomorrow."),)),
        ],
        [],
    )
    assert found("Call on 7/5.", sources) == []
    assert found("Call on 8/5.", sources) == ["8/5"]


def test_a_sentence_goes_on_behind_the_full_stop_of_a_day() -> None:
    text = "Es ist am 15.11. um 15 Uhr. Das ist gut."
    sources = shown("Termin bitte am 14.11. um 15 Uhr.")
    assert without(text, ungrounded(text, sources))[0].strip() == "Das ist gut."
    text = "Es ist am 15.11. Das ist gut."
    assert without(text, ungrounded(text, sources))[0].strip() == "Das ist gut."


def test_the_year_of_a_day_is_that_of_today() -> None:
    today = ItemView("system", (TextPart("Today is 2025-10-01."),))
    sources = Sources([today, ItemView("user", (TextPart("It came on Oct 7."),))], [])
    assert found("It came on 2025-10-07.", sources) == []
    assert found("It came on 2024-10-07.", sources) == ["2024-10-07"]


def test_the_earlier_summary_with_its_record_and_instructions_are_sources() -> None:
    earlier = SummaryPart("RMA-90721 is open.", "<record>\norder: LK-4821936\n</record>")
    sources = Sources([ItemView("user", (earlier,))], [], ["Mention ACME-5521."])
    text = "RMA-90721 for ACME-5521 and LK-4821936, not RMA-90722."
    assert found(text, sources) == ["RMA-90722"]


def test_what_was_redacted_was_not_shown() -> None:
    views = [ItemView("user", (TextPart("My number is LK-4821936."),))]
    sources = Sources(views, [], clean=lambda text: text.replace("LK-4821936", "[number]"))
    assert found("The number is LK-4821936.", sources) == ["LK-4821936"]


def test_calls_outside_the_views_were_not_shown() -> None:
    items: list[dict[str, Any]] = []
    for id_ in ("LK-4821936", "LK-4821937"):
        function = {"name": "get_order", "arguments": json.dumps({"order_id": id_})}
        made = {"id": id_, "type": "function", "function": function}
        items.append({"role": "assistant", "content": None, "tool_calls": [made]})
        items.append({"role": "tool", "tool_call_id": id_, "content": "shipped"})
    ctx = ChatContext(items, shape="openai_chat")
    sources = Sources(ctx.views()[2:], ctx.tool_calls(), offset=2)
    assert found("LK-4821936 and LK-4821937 were looked at.", sources) == ["LK-4821936"]


def test_the_arguments_of_a_call_before_the_views_were_not_shown() -> None:
    function = {"name": "get_order", "arguments": '{"order_id": "LK-4821936"}'}
    made = {"id": "call_1", "type": "function", "function": function}
    items: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "call_1", "content": "shipped"},
    ]
    ctx = ChatContext(items, shape="openai_chat")
    sources = Sources(ctx.views()[1:], ctx.tool_calls(), offset=1)
    assert found("LK-4821936 was shipped.", sources) == ["LK-4821936"]


# --- what stands in brackets, below and beside --------------------------------------------------

ITEMS = {
    "user_id": "mia_li_3668",
    "items": [
        {"product_id": "8310926033", "item_id": "4064702754", "price": 45.13},
        {"product_id": "4794339885", "item_id": "8323284863", "price": 511.24},
    ],
    "paid": [
        {"payment_id": "gift_card_9823", "amount": 522},
        {"payment_id": "paypal_7644", "amount": 114},
    ],
    "created_at": "2024-05-09T13:43:03",
}
OTHER = {
    "user_id": "raj_sa_1112",
    "items": [{"product_id": "8310926033", "item_id": "1111702754", "price": 45.99}],
    "paid": [{"payment_id": "gift_card_1114", "amount": 77}],
    "created_at": "2024-05-11T10:00:00",
}
BOUGHT = (
    ("get_order", {"order_id": "#W5733668"}, ITEMS),
    ("get_order", {"order_id": "#W1112223"}, OTHER),
)


@pytest.mark.parametrize(
    "text",
    [
        "get_order(order_id=#W5733668) -> items: [{item_id: 4064702754}; {product_id: 4794339885}]",
        "get_order -> paid: [{payment_id: gift_card_9823}; {amount: 114}]; created_at: 2024-05-09",
        "get_order(order_id=#W5733668) -> items: [{product_id: 8310926033}; {price: 511.24}]",
        "get_order: item 4064702754 … product 4794339885 for 511.24",
        "Order W5733668 of mia_li_3668 holds 4064702754; paid with paypal_7644.",
        "## 4064702754\nThis is cheaper than the other one at 511.24.",
        "1. **4064702754**: fine\n\n   **8323284863**\n   - price 511.24",
        "mia_li_3668 bought 8310926033, and so did raj_sa_1112.",
        "Order W5733668 was created on 2024-05-09 and went out a day later, on 2024-05-10.",
    ],
)
def test_what_is_in_other_brackets_or_belongs_to_what_is_around_is_not_misplaced(text: str) -> None:
    names = ungrounded(text, called(*BOUGHT))
    assert [u for u in names if u.why == "misplaced"] == []


@pytest.mark.parametrize(
    ("text", "lie"),
    [
        ("{item_id: 4064702754; price: 511.24}", "511.24"),
        ("Order W5733668 was created on 2024-05-11.", "2024-05-11"),
        ("get_order -> [{payment_id: gift_card_9823; amount: 114}]", "114"),
        ("## Item 4064702754\n- price: 511.24", "511.24"),
    ],
)
def test_what_contradicts_a_record_is_misplaced(text: str, lie: str) -> None:
    assert found(text, called(*BOUGHT)) == [lie]


def test_a_value_that_also_belongs_to_nobody_is_not_misplaced() -> None:
    sources = called(*BOUGHT, ("calculate", {"expression": "1022.48 / 2"}, "511.24"))
    assert found("{item_id: 4064702754; price: 511.24}", sources) == []


def test_where_a_record_has_several_values_none_is_misplaced() -> None:
    again = {"item_id": "4064702754", "price": 44.00}
    sources = called(*BOUGHT, ("get_item", {}, {"items": [again]}))
    assert found("{item_id: 4064702754; price: 511.24}", sources) == []


def test_what_stands_in_one_of_a_records_fields_is_not_misplaced() -> None:
    rows = [
        {"item_id": "IT-50011", "price": 50.25, "price_before": 45.75},
        {"item_id": "IT-50012", "price": 45.75},
    ]
    sources = called(("list_items", {}, {"items": rows}))
    assert found("IT-50011: 45.75", sources) == []
    assert found("2031-01-01\n\nIT-50011: 45.75", sources) == ["2031-01-01"]  # all is read


def test_what_is_in_a_record_inside_belongs_to_the_one_around_too() -> None:
    inner = {"item_id": "IT-50011", "price": 45.75}
    outer = [
        {"order_id": "LK-4821936", "price": 91.50, "items": [inner, inner]},
        {"order_id": "LK-4821937", "price": 12.40, "items": []},
    ]
    sources = called(("list_orders", {}, outer))
    assert found("LK-4821936: price 45.75", sources) == []
    assert found("IT-50011: price 91.50", sources) == []


def test_what_a_text_goes_on_about_is_not_misplaced() -> None:
    note = "LK-4821936 replaced it for 50.25 EUR. It is 45.75 EUR now."
    sources = called(("get_notes", {"order_id": "LK-4821937"}, note))
    assert found("LK-4821936 is 45.75 EUR.", sources) == []


def test_two_ids_of_a_kind_leave_open_whose_a_value_is() -> None:
    sources = called(("list_orders", {}, ORDERS))
    assert found("LK-4821936 and LK-4821937 were 12.40 EUR each.", sources) == []


MAILED = (
    ("send_email", {"order": "LK-5871766", "to": "ann@example.com"}, {"id": "EM-96394"}),
    ("send_email", {"order": "LK-8778412", "to": "bob@example.com"}, {"id": "EM-54838"}),
)


@pytest.mark.parametrize(
    "text",
    [
        "A mail about LK-5871766 was sent (EM-96394), but no return could be made for LK-8778412.",
        "After the mail EM-96394 for LK-5871766, the return of LK-8778412 failed.",
        "Die Mail zu LK-5871766 ging raus (EM-96394), für LK-8778412 war keine möglich.",
    ],
)
def test_a_sentence_that_names_the_rightful_owner_too_is_no_lie(text: str) -> None:
    assert found(text, called(*MAILED)) == []


SHIPPED = (
    ("ship", {"order": "LK-1001"}, {"tracking": "TR-5001"}),
    ("ship", {"order": "LK-1002"}, {"tracking": "TR-5002"}),
)


@pytest.mark.parametrize(
    "lie",
    [
        "LK-1002 was shipped as TR-5002 and TR-5001.",
        "LK-1002 was shipped as TR-5001, TR-5002.",
        "TR-5001 carries LK-1001 and LK-1002.",
    ],
)
def test_what_is_said_of_a_row_of_ids_is_said_of_each(lie: str) -> None:
    assert found(lie, called(*SHIPPED)) != []


@pytest.mark.parametrize(
    ("shown", "lie"),
    [
        (("SKU-1001/M", "SKU-1002/M"), "SKU-1002 costs 20.10 USD."),
        (("SKU-1001", "SKU-1002"), "SKU-1002/M costs 20.10 USD."),
    ],
)
def test_what_is_told_of_an_id_is_told_of_it_with_more_behind_a_slash(
    shown: tuple[str, str], lie: str
) -> None:
    prices = ("20.10 USD", "30.20 USD")
    rows = [{"sku": sku, "price": price} for sku, price in zip(shown, prices, strict=True)]
    assert found(lie, called(("list_items", {}, {"items": rows}))) == ["20.10 USD"]
    assert found(lie.replace("20.10", "30.20"), called(("list_items", {}, {"items": rows}))) == []


def test_an_id_that_a_sentence_gives_to_two_is_the_second_ones_no_more() -> None:
    lie = "send_email: LK-5871766 => EM-96394, LK-8778412 => EM-96394"
    assert "LK-8778412" in found(lie, called(*MAILED))
    assert found("The mail EM-96394 was about LK-8778412.", called(*MAILED)) != []


def test_an_id_of_many_records_is_not_misplaced() -> None:
    assert found("{product_id: 8310926033; item_id: 8323284863}", called(*BOUGHT)) == []


def test_a_value_in_brackets_may_belong_to_any_id_in_them() -> None:
    lie = "{product_id: 4794339885; item_id: 4064702754; price: 511.24}"
    assert found(lie, called(*BOUGHT)) == ["4794339885", "4064702754"]


@pytest.mark.parametrize(
    ("source", "true", "lie"),
    [
        ("Loyalty number TP 445 902 118.", "Number TP445902118.", "Number TP445902181."),
        ("Flight TP 768 at noon.", "She flies with TP768.", "She flies with TP786."),
        ("Plate S-JG 4711.", "Plate S-JG-4711.", "Plate S-JG-4771."),
        ("Number 2 84 08 75 116 001 42.", "Number 284087511600142.", "Number 284087511600124."),
        ("Call 612 34 56 78.", "Call 612345678.", "Call 612345687."),
        ("Call +49 (0)171 2345678.", "Call +49 171 2345678.", "Call +49 171 2345687."),
        ("Edited /home/u/p/src/a.py.", "Edited ~/p/src/a.py.", "Edited ~/p/src/b.py."),
        ("A budget of 360 million euros.", "It is EUR 360m.", "It is EUR 630m."),
        ("Un budget di 360 milioni di euro.", "It is €360 million.", "It is €630 million."),
        ("It is 1.5 billion euros.", "1.500 millones de euros.", "1.600 millones de euros."),
        ("| Paid (Mio. EUR) |\n|---|\n| 398.2 |", "Paid €398.2 million.", "Paid €389.2 million."),
        ("Come at 4.30 pm.", "She comes at 16:30.", "She comes at 16:50."),
        ("Venez à 15 h.", "She comes at 3 pm.", "She comes at 4 pm."),
        ("Come at 3 pm.", "Elle vient à 15 h.", "Elle vient à 17 h."),
        ("Since 02:47.", "Since 02:47 UTC.", "Since 02:57 UTC."),
        ("At 2027-03-04T23:30:00-05:00.", "On 5 March 2027, 04:30 UTC.", "On 6 March, 04:30 UTC."),
        ("At 2027-01-01T00:30+01:00.", "2026-12-31T23:30:00Z.", "2026-12-30T23:30:00Z."),
        ("At 2027-03-04T23:30:00-05:00.", "On 4 March 2027.", "On 3 March 2027."),
        ("It is 557.30 EUR plus 15 %.", "15 % of 557.30 EUR are 83.60 EUR.", "Tip: 93.60 EUR."),
        ("Off 200.00 EUR: 15 %.", "200.00 EUR less 15 % are 170.00 EUR.", "Less 15 %: 160.00 EUR."),
        ("64 guests at 58.50 EUR.", "64 at 58.50 EUR are 3,744.00 EUR.", "64 are 3,474.00 EUR."),
    ],
)
def test_what_was_shown_may_be_in_another_notation(source: str, true: str, lie: str) -> None:
    assert found(true, shown(source)) == []
    assert len(found(lie, shown(source))) == 1


@pytest.mark.parametrize(
    ("source", "lie"),
    [
        ("It takes a 12 kg bag.", "Seat A12 is hers."),
        ("PO 12 345, then 678.", "Order PO12345678."),
        ("Code XTP 768Z.", "She flies with TP768."),
        ("It was $398.20.", "Paid $398.2 million."),
        ("| Paid (EUR) |\n|---|\n| 398.2 |", "Paid €398.2 million."),
        ("| Paid (Mio. USD) |\n|---|\n| 398.2 |", "Paid €398.2 million."),
        ("Since 02:47+02:00.", "Since 02:47 UTC."),
        ("At 2027-03-04T23:30:00Z.", "On 5 March 2027."),
        ("It is 200.00 EUR plus 15 %.", "200.00 EUR and 15 % are 215.00 EUR."),
        ("It is 200.00 EUR plus 15 %.", "15 % is added to 200.00 EUR.\nThat is 30.00 EUR."),
        ("64 guests at 58.50 EUR.", "64 at 58.50 EUR are 3,744.00 USD."),
        ("Edited /srv/u/p/src/a.py.", "Edited ~/p/src/a.py."),
    ],
)
def test_another_notation_vouches_for_nothing_else(source: str, lie: str) -> None:
    assert len(found(lie, shown(source))) == 1


def test_a_table_inside_of_json_has_columns() -> None:
    """However short it is."""
    table = "| Year | Paid (Mio. EUR) |\n|---|---|\n| 2025 | 398.2 |"
    source = called(("fetch", {}, {"table": table}))
    assert found("In 2025, €398.2 million was paid.", source) == []


def test_the_day_after_is_not_misplaced() -> None:
    """A flight arrives on the day after it left, which is another's day of departure."""
    flights = [
        {"flight": "HAT082", "date": "2024-05-28"},
        {"flight": "HAT025", "date": "2024-05-29"},
        {"flight": "HAT026", "date": "2024-05-30"},
    ]
    sources = called(("list_flights", {}, flights))
    assert found("HAT082 arrives on 2024-05-29.", sources) == []
    assert found("HAT082 arrives on 2024-05-30.", sources) == ["2024-05-30"]


@pytest.mark.parametrize(
    "text",
    [
        "get_order: item 4064702754 …; price 511.24",
        "get_order: item 4064702754 is here ### Other price 511.24",
        "## 4064702754\nThat of 8323284863 was sent. Its buyer paid 511.24 at once. Price 511.24.",
        "get_order -> 8323284863 {item_id: 4064702754}, price: 511.24",
        "{item_id: 4064702754\nprice: 511.24",
    ],
)
def test_beyond_a_gap_a_bracket_or_another_id_nothing_is_misplaced(text: str) -> None:
    assert [u for u in ungrounded(text, called(*BOUGHT)) if u.why == "misplaced"] == []


def test_a_time_behind_a_day_has_the_name_of_the_day() -> None:
    rows = [
        "2025-10-08T06:03:11Z id=LK-4821936 done=2026-04-07T07:05Z",
        "2025-10-08T06:04:11Z id=LK-4821937 done=2026-04-04T09:12Z",
    ]
    sources = called(("get_log", {}, "\n".join(rows)))
    assert found("LK-4821936 was done at 07:05.", sources) == []
    assert found("LK-4821936 was done at 09:12.", sources) == ["09:12"]


def test_a_field_is_the_same_in_whatever_list_its_record_stands() -> None:
    one, other = ({"order_id": f"LK-482193{n}", "total": total} for n, total in ((6, 50), (7, 451)))
    sources = called(("list_open", {}, {"open": [one]}), ("list_sent", {}, {"sent": [other]}))
    assert found("LK-4821936 has a total of 451.", sources) == ["451"]


# --- no more is read than needed ----------------------------------------------------------------


def _whole(case: Case) -> tuple[list[Ungrounded], list[Ungrounded]]:
    """Return what is found when as little as possible is read, and when all is."""
    ctx = ChatContext(case.history, shape="openai_chat")
    lazy, whole = (Sources(ctx.views(), ctx.tool_calls()) for _ in range(2))
    whole.read_all()
    found = ungrounded(case.text, lazy), ungrounded(case.text, whole)
    assert not lazy.is_whole or lazy.places == whole.places
    return found


@pytest.mark.parametrize("suite", ["tune", "held out"])
def test_the_same_is_found_however_much_is_read(suite: str) -> None:
    for case in [*faithful(_suite(suite), 2, 150), *corrupted(_suite(suite), 2, 150)]:
        lazy, whole = _whole(case)
        assert lazy == whole, case.text


def test_a_summary_that_copies_is_judged_without_reading_all() -> None:
    orders = ({"order_id": f"LK-{n}", "total": f"{n}.90 EUR"} for n in range(1000, 1400))
    sources = called(*(("get_order", {}, order) for order in orders))
    assert found("get_order: LK-1007 cost 1007.90 EUR; LK-1390 cost 1390.90 EUR.", sources) == []
    assert not sources.is_whole
    assert len(sources.texts) < 20
    assert found("LK-1007 cost 1390.90 EUR.", sources) == ["1390.90 EUR"]
    assert sources.is_whole


def test_one_comparison_does_not_change_the_next() -> None:
    sources = called(*BOUGHT)
    text = "{item_id: 4064702754; price: 511.24} and 2023-01-01"
    first = found("mia_li_3668", sources), found(text, sources)
    assert first == ([], ["511.24", "2023-01-01"])
    assert (found("mia_li_3668", sources), found(text, sources)) == first


def test_a_name_that_only_the_rest_holds_is_found_there() -> None:
    near: list[tuple[str, dict[str, Any], Any]] = [
        ("get_rows", {}, {"a-load_all": n}) for n in range(8)
    ]
    assert found("load_all, 2031-01-01", called(*near, ("get_rows", {}, {"load_all": 8}))) == [
        "2031-01-01"
    ]


# --- without ------------------------------------------------------------------------------------

KNOWN = "order LK-4821936 cost 349.90 EUR, see https://example.com/a.b"


@pytest.mark.parametrize(
    "kept",
    [
        "It is No. 5 of the list, e.g. for the U.S. team.",
        "See https://example.com/a.b for the rest.",
        "Dr. Ruiz (cf. above) waits... still.",
        "It is approx. 349.90 EUR, says Acme Inc. Berlin.",
        "It cost 349.90 EUR!",
        "Das kostet 349,90 EUR, z. B. bar.",
        "こちらです。",
    ],
)
@pytest.mark.parametrize(
    "lie",
    [
        "RMA-90721 was created.",
        "Is RMA-90721 open?",
        "RMA-90721です。",
        "RMA-90721 went to Acme Inc. Berlin, approx. 5 days ago, by Dr. J. Ruiz of the U.S. team.",
    ],
)
def test_exactly_one_sentence_is_dropped(kept: str, lie: str) -> None:
    sources = shown(KNOWN)
    for text in (f"{kept} {lie} {kept}", f"{lie} {kept} {kept}", f"{kept} {kept} {lie}"):
        assert without(text, ungrounded(text, sources)) == (f"{kept} {kept}", [lie])


def test_the_rest_of_a_text_keeps_its_form() -> None:
    text = (
        "# Facts\n\n- [x] LK-4821936 is paid. RMA-90721 is open.\n- RMA-90722\n  - shipped\n"
        "* 349.90 EUR\n\n## Gone\nRMA-90723 is new.\n\n| id | sum |\n|----|-----|\n"
        "| LK-4821936 | 349.90 EUR |\n| LK-4821939 | 349.90 EUR |\n"
    )
    left, dropped = without(text, ungrounded(text, shown(KNOWN)))
    assert left == (
        "# Facts\n\n- [x] LK-4821936 is paid.\n* 349.90 EUR\n\n## Gone\n"
        "\n| id | sum |\n|----|-----|\n| LK-4821936 | 349.90 EUR |\n"
    )
    assert dropped == [
        "RMA-90721 is open.",
        "RMA-90722",
        "shipped",
        "RMA-90723 is new.",
        "| LK-4821939 | 349.90 EUR |",
    ]


def test_an_emptied_heading_goes() -> None:
    text = "# One\nRMA-90723 is new.\n\n# Two\nLK-4821936 is paid."
    left, dropped = without(text, ungrounded(text, shown(KNOWN)))
    assert (left, dropped) == ("# Two\nLK-4821936 is paid.", ["One", "RMA-90723 is new."])


def test_numbers_and_names_drop_no_sentence() -> None:
    text = "There were 48123 rows in load_everything."
    names = ungrounded(text, shown(KNOWN))
    assert {u.value.kind for u in names} == {"number", "name"}
    assert without(text, names) == (text, [])


FRAGMENTS = st.sampled_from(
    ["LK-4821936", "RMA-90721", "- ", "# ", "| ", "\n", "\n\n", ". ", "。", " ", "; ", "  - ", "a:",
     "No. ", "e.g. ", "2025-10-07", "$5", "|---|", "1. ", "> ", "It ", "...", "`", "word"]
)  # fmt: skip


@given(st.lists(FRAGMENTS, max_size=40).map("".join))
def test_what_is_left_of_any_text_is_grounded_and_was_there(text: str) -> None:
    sources = shown(KNOWN)
    left, dropped = without(text, ungrounded(text, sources))
    assert "RMA-90721" not in left
    assert all(part in text for part in dropped)
    rest = iter(text)
    assert all(character in rest for character in left)  # in order, nothing new


@given(st.text(), st.text())
def test_any_text_is_read(text: str, source: str) -> None:
    names = ungrounded(text, shown(source))
    assert all(text[u.value.start : u.value.stop] == u.value.text for u in names)
    assert all(u.sentence[0] <= u.value.start < u.sentence[1] for u in names)


@given(st.lists(FRAGMENTS, max_size=30).map("".join))
def test_a_text_is_grounded_in_itself(text: str) -> None:
    unseen = [u for u in ungrounded(text, shown(text)) if u.why == "unseen"]
    assert unseen == []


# --- time ---------------------------------------------------------------------------------------


class _Steps:
    """Counts the lines of chatfold that run, which no load of the machine changes."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, frame: Any, event: str, argument: object) -> Any:
        if "chatfold" not in frame.f_code.co_filename:
            return None
        self.count += event == "line"
        return self


def _steps(text: str) -> int:
    steps, before = _Steps(), sys.gettrace()
    sys.settrace(steps)
    try:
        names = ungrounded(text, shown(text[::-1], text[: len(text) // 2]))
        without(text, names)
    finally:
        sys.settrace(before)
    return steps.count


@pytest.mark.parametrize(
    "unit",
    ["a", " ", "1 ", ". ", "| ", "|1", "- a\n", "# a\n", "LK-1234567 ", "It LK-1234567. ",
     "; LK-1234567", "a: 1\n", "a=1 ", "$1 ", "12 % ", "2025-10-07 ", "tomorrow ", "1 kg ",
     "about 900 EUR. "],
)  # fmt: skip
def test_twice_the_text_takes_about_twice_the_steps(unit: str) -> None:
    short, long = (_steps((unit * size)[:size]) for size in (2_000, 8_000))
    assert long < 6 * short + 20_000


class _Searched:
    """A pattern that counts the characters it is to look through."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern
        self.characters = 0

    def search(self, text: str, start: int, stop: int) -> re.Match[str] | None:
        self.characters += stop - start
        return self.pattern.search(text, start, stop)


def test_a_sentence_is_looked_through_once_however_many_values_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Eight times the text is eight times as much to look through, not 64 times."""

    def characters(number: int) -> int:
        searched = _Searched(_COMPARED)
        monkeypatch.setattr("chatfold.core.grounding.said._COMPARED", searched)
        paid = [f"{n}.50 EUR" for n in range(1_000, 1_000 + number)]
        text = " and ".join((*paid, "LK-4821936 was made up"))
        ungrounded(text, shown("\n".join(paid)))
        return searched.characters

    assert 0 < characters(400) < 9 * characters(50)


def test_a_number_may_have_zeros_in_front_as_an_id() -> None:
    sources = called(("get", {}, {"n": 48213}))
    assert found("Order 0048213 is paid.", sources) == []
    assert found("Order 0048214 is paid.", sources) == ["0048214"]


def test_a_command_is_known_where_all_that_it_names_is() -> None:
    """A model writes it out of what it was shown."""
    sources = shown("The branch is LK-4821936, use git.")
    assert found("Please run `git checkout LK-4821936` now.", sources) == []
    told = found("Please run `git checkout LK-4821937` now.", sources)
    assert told == ["git checkout LK-4821937"]
