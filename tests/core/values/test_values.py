"""Values are found where they stand, compare by what they say, and cost linear time."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from quickest import quickest

from chatfold.core.values import Value, values
from chatfold.core.values.tables import CURRENCIES, MAGNITUDES, MONTHS, UNITS

ENGLISH = "January February March April May June July August September October November December"
GERMAN = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
FRENCH = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
SPANISH = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"

SINGLE = """
    LK-4821936 RMA-90721 3f2a9c1e7 2025-10-07 14:30 $1,299 42 -5 dana@example.com 030/901820
    https://x.io/a_(b)?c=1 src/a/b.py ./x C:\\a\\b.txt --force v1.2.3 3.11 create_rma Foo.bar() ()
    ValueError 订单 10月7日 午後3時 １２ .. :// \\n \\u00e9 // E14 ENOENT May the of in 1,2,3 [1,25]
    www. .gitignore </diff> x_1 1e10 am million | [ ] ( ) ` . , : / @ # + ~ - _ € T Z k 年 円 ， " '
"""
SPACED = ["October 7, 2025", "Oct 7", "7. Oktober", "2:30 pm", "1.299,00 EUR", "USD 5", "3 kg"]
SPACED += ["12 %", "1 299", "+1 (555) 010-2345", "`git status`", "$ ls -la", "HTTP 404", "an order"]
SPACED += ["exit code 2", "DE89 3704 0044 0532 0130 00", "06 12 34 56 78", " ", "  ", "\t"]
PIECES = st.sampled_from(SINGLE.split() + SPACED)
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(PIECES, max_size=14).map("".join),
    st.lists(PIECES, max_size=14).map(" ".join),
    st.text(st.sampled_from("019 .,:-/@_+()`$€\\aTE\n月\u066b\u066c"), max_size=40),
)
DAYS = st.dates(date(1950, 1, 1), date(2099, 12, 31))
CENTS = st.integers(0, 10**9)


def only(text: str) -> Value:
    """Return the one value that a text holds."""
    found = values(text)
    assert len(found) == 1, found
    return found[0]


def vouched(text: str) -> set[str]:
    """Return all keys that a text vouches for."""
    return {key for value in values(text) for key in (value.key, *value.also)}


@pytest.mark.parametrize(
    ("kind", "text", "key"),
    [
        ("id", "LK-4821936", "lk-4821936"),
        ("id", "call_aB3dE9xyz", "call_aB3dE9xyz"),
        ("id", "3f2b8c1a-1d2e-4f5a-9b8c-0123456789ab", "3f2b8c1a-1d2e-4f5a-9b8c-0123456789ab"),
        ("id", "E14", "e14"),
        ("id", "gift_card_6490722", "gift_card_6490722"),
        ("id", "0044", "0044"),
        ("id", "192.168.0.1", "192.168.0.1"),
        ("id", "DE89 3704 0044 0532 0130 00", "de89370400440532013000"),
        ("id", "4111 1111 1111 1111", "4111111111111111"),
        ("hash", "3f2a9c1e7", "3f2a9c1e7"),
        ("hash", "D41D8CD98F00B204E9800998ECF8427E", "d41d8cd98f00b204e9800998ecf8427e"),
        ("date", "May 11th", "--05-11"),
        ("date", "October 2025", "2025-10"),
        ("date", "2025-10", "2025-10"),
        ("date", "07.10.2025", "2025-10-07"),
        ("date", "2025年10月7日", "2025-10-07"),
        ("date", "07-Oct-25", "2025-10-07"),
        ("date", "7-mar-25", "2025-03-07"),
        ("date", "2025年10月", "2025-10"),
        ("time", "12 am", "00:00"),
        ("time", "14 Uhr", "14:00"),
        ("time", "14h30", "14:30"),
        ("time", "9.30 Uhr", "09:30"),
        ("id", "7B", "7b"),
        ("time", "14:30:05.250", "14:30:05.25"),
        ("time", "14:30+02:00", "14:30+120"),
        ("amount", "C$ 50", "50 CAD"),
        ("amount", "$349.90 USD", "349.9 USD"),
        ("amount", "CHF 1'299.00", "1299 CHF"),
        ("amount", "1 299,00 €", "1299 EUR"),
        ("amount", "₹1,23,456", "123456 INR"),
        ("amount", "1.299 EUR", "1299 EUR"),
        ("amount", "$3M", "3000000 USD"),
        ("amount", "1.5 million dollars", "1500000 USD"),
        ("amount", "35,000円", "35000 JPY"),
        ("number", "24-hour", "24 h"),
        ("number", "2.5GB", "2.5 GB"),
        ("number", "12,5 %", "12.5 %"),
        ("number", "35k", "35000"),
        ("number", "7th", "7"),
        ("number", "1.5e-3", "1.5e-3"),
        ("number", "42", "42"),
        ("number", "mid-2025", "2025"),
        ("mail", "Dana.W+x@Example.com", "dana.w+x@example.com"),
        ("mail", "sean.o'brien@acme.ie", "sean.o'brien@acme.ie"),
        ("mail", "Kim.O\u2019Neil+x@Example.co.uk", "kim.o'neil+x@example.co.uk"),
        ("mail", "d'arcy99.o'neil@example.com", "d'arcy99.o'neil@example.com"),
        ("id", "A-77/B", "a-77/b"),
        ("id", "WO-55821/2", "wo-55821/2"),
        ("id", "45-77/C", "45-77/c"),
        ("id", "RX4090/XL", "rx4090/xl"),
        ("phone", "06.12.34.56.78", "0612345678"),
        ("phone", "0470.12.34.56", "0470123456"),
        ("phone", "555-010-2345", "5550102345"),
        ("phone", "138 0013 8000", "13800138000"),
        ("url", "https://www.Example.com/A/", "example.com/A"),
        ("url", "www.example.com", "example.com"),
        ("url", "example.com/orders/123", "example.com/orders/123"),
        ("url", "s3://bucket/key", "bucket/key"),
        ("path", "src/chatfold/core/", "src/chatfold/core"),
        ("path", "./x.sh", "x.sh"),
        ("path", "/etc/hosts", "/etc/hosts"),
        ("path", ".gitignore", ".gitignore"),
        ("path", "C:\\Users\\d\\x.txt", "C:/Users/d/x.txt"),
        ("path", "README.md", "README.md"),
        ("command", "--no-verify", "--no-verify"),
        ("version", "v1.2.3", "1.2.3"),
        ("version", "3.11.2rc1", "3.11.2rc1"),
        ("name", "create_rma", "create_rma"),
        ("name", "os.path.join", "os.path.join"),
        ("name", "fooBar", "fooBar"),
        ("error", "ENOENT", "ENOENT"),
        ("error", "requests.ConnectionError", "ConnectionError"),
        ("error", "HTTP 404", "http 404"),
        ("error", "exit code 2", "exit 2"),
    ],
)
def test_each_kind_is_found_and_normalized(kind: str, text: str, key: str) -> None:
    found = only(f"so {text}, then")
    assert (found.kind, found.text, found.key) == (kind, text, f"{kind}:{key}")


@pytest.mark.parametrize(
    "text",
    [
        "and/or, TCP/IP and his/her",
        "e.g. this, i.e. that, in the U.S.",
        "You may March on; the well-known follow-up.",
        "UTF-8 in base64, not sha256",
        "Node.js on GitHub and self.log",
        "May I ask? Sure...",
        "</diff> <br/>",
        "x" * 300 + "1",
        "x" * 100 + "1",
        "pay $ now, or never",
        "a1-" * 100,
        "iVBORw0KGgo/AAAANS+UhEUgAA/BAAAAQCAYAAAAf8/9hAAAAGXRFWHRTb2Z0d2FyZQBB1",
        "QUJD" * 100 + "1=",
    ],
)
def test_words_that_only_look_like_values_are_none(text: str) -> None:
    assert values(text) == []


def test_a_name_is_found_where_it_is_called() -> None:
    assert [v.text for v in values("Foo.bar() calls run(), but not walk.")] == ["Foo.bar", "run"]


def test_a_command_is_found_in_backticks_and_behind_a_prompt() -> None:
    found = values("Run `git  status` or\n$ pytest tests/x.py -q\nbut `this is` none, nor $ 5")
    assert [v.key for v in found] == [
        "command:git status",
        "command:pytest tests/x.py -q",
        "amount:5 USD",
    ]
    assert "path:tests/x.py" in found[1].also


def test_a_command_vouches_for_each_of_its_parts() -> None:
    assert "command:pytest -q" in vouched("`cd /srv && pytest  -q | tail`")


def test_an_address_ends_before_the_punctuation_around_it() -> None:
    found = values("(see https://x.io/a_(b)), or <http://y.de/c?d=[1]>. “https://z.org/q”")
    assert [v.text for v in found] == [
        "https://x.io/a_(b)",
        "http://y.de/c?d=[1]",
        "https://z.org/q",
    ]


def test_escapes_of_json_are_no_part_of_a_value() -> None:
    text = r"done\nLK-4821936\t3f2a9c1e7\u00e9RMA-90721"
    assert [v.text for v in values(text)] == ["LK-4821936", "3f2a9c1e7", "RMA-90721"]


def test_values_stand_in_the_midst_of_scripts_without_spaces() -> None:
    found = values("订单LK-4821936已发货，金额¥1,299.00，日期２０２５年１０月７日。주문 3개")
    assert [v.key for v in found] == [
        "id:lk-4821936",
        "amount:1299 ¥",
        "date:2025-10-07",
        "number:3",
    ]
    assert found[2].text == "２０２５年１０月７日"


def test_both_ends_of_a_range_are_values() -> None:
    assert [v.key for v in values("October 7-9, 2025")] == ["date:2025-10-07", "date:2025-10-09"]
    assert [v.key for v in values("10–12 October")] == ["date:--10-10", "date:--10-12"]
    assert [v.key for v in values("10-12 kg")] == ["number:10", "number:12 kg"]


@pytest.mark.parametrize(
    "text",
    [
        "vom 4. bis 7. August",
        "vom 4. bis zum 7. August",
        "du 4 au 7 août",
        "del 4 al 7 de agosto",
        "dal 4 al 7 agosto",
        "from the 4th to the 7th of August",
        "between 4 and 7 August",
    ],
)
def test_both_days_of_one_month_are_dates_with_a_word_between(text: str) -> None:
    assert [v.key for v in values(text)] == ["date:--08-04", "date:--08-07"]


def test_what_does_not_go_on_to_a_later_day_is_no_run_of_days() -> None:
    assert [v.key for v in values("Room 12 and 5 August")] == ["number:12", "date:--08-05"]
    assert [v.key for v in values("du 28 au 3 août")] == ["number:28", "date:--08-03"]
    assert [v.key for v in values("4 to 7 bottles")] == ["number:4", "number:7"]


@pytest.mark.parametrize("text", ["0123 4567", "01-23-45-67", "1/2/3/4", "555-0102"])
def test_short_groups_of_digits_are_no_phones_and_no_paths(text: str) -> None:
    assert {v.kind for v in values(text)} <= {"id", "number"}


def test_may_and_march_are_months_with_a_capital() -> None:
    assert only("the 5 may wait").key == "number:5"
    assert only("you may 12 times").key == "number:12"
    assert only("5 may 2025").key == "date:2025-05-05"


def test_a_timestamp_is_a_date_and_a_time() -> None:
    found = values("at 2025-10-07T14:30:00Z.")
    assert [v.key for v in found] == ["date:2025-10-07", "time:14:30Z"]
    assert vouched("2025-10-07T14:30:00+02:00") >= {"time:14:30", "time:12:30Z"}


def test_a_number_behind_a_word_for_ids_is_an_id() -> None:
    assert only("order 48219").key == only("#48219").key == "id:48219"
    assert "id:48219" in vouched("48219 of them")
    assert "number:48219" in vouched("order 48219")


@pytest.mark.parametrize(
    "words",
    ["Buchung", "Mein Zimmer", "le dossier", "la chambre", "el vuelo", "pedido", "prenotazione"],
)
def test_words_of_other_languages_make_a_number_an_id(words: str) -> None:
    assert only(f"{words} 4711").key == "id:4711"


def test_a_currency_belongs_to_one_amount_only() -> None:
    assert [v.key for v in values("5 USD 12 EUR 7")] == [
        "amount:5 USD",
        "amount:12 EUR",
        "number:7",
    ]


def test_numbers_of_an_array_are_not_joined() -> None:
    assert [v.key for v in values("[1,25,300]")] == ["number:1", "number:25", "number:300"]


# Numbers are read whole

NUMBERS = {
    "1'234.50 CHF": "amount:1234.5 CHF",
    "22’500.00 CHF": "amount:22500 CHF",
    "1'234.- CHF": "amount:1234 CHF",
    "50.– CHF": "amount:50 CHF",
    "1.234,- €": "amount:1234 EUR",
    "19,-- EUR": "amount:19 EUR",
    "1,349.90 EUR": "amount:1349.9 EUR",
    "1.349,90 EUR": "amount:1349.9 EUR",
    "12 345,67 €": "amount:12345.67 EUR",
    "12 345.67 EUR": "amount:12345.67 EUR",
    "1,5 Mio. EUR": "amount:1500000 EUR",
    "3,500 kg": "number:3500 kg",
    "0.5 %": "number:0.5 %",
    "2026-11-20": "date:2026-11-20",
    "14:30": "time:14:30",
}
AROUND = [
    "#", '"#"', "'#'", "“#”", "„#“", "«#»", "(#)", "[#]", "{#}", "|#|", "**#**", "*#*", "_#_",
    "__#__", "~~#~~", "~#", "≈#", "±#", "<#", ">#", "≤#", "=#", ":#", ";#", "-#", "~-#", "@#",
    "*#", "c.#", "ca.#", "approx.#", "…#", "...#", "Total......#", "→#", "#.", "#;", "#!", "#?",
    "#…", "#)", "<td>#</td>", "•#", "| # |", "x\\n# is", "\t#\t", "a: #", "[ # ]", "\\n-#",
]  # fmt: skip


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_is_whole_whatever_stands_around_it(number: str, around: str) -> None:
    assert only(around.replace("#", number)).key == NUMBERS[number]


@pytest.mark.parametrize("number", [n for n, key in NUMBERS.items() if key.startswith("amount")])
@pytest.mark.parametrize("sign", ["~$", "-€", "≈€", ">$", "US$~", "$-", "CHF ~", "≈CHF ", "~USD"])
def test_a_currency_before_a_number_is_found_beside_other_signs(sign: str, number: str) -> None:
    bare = number.rpartition(" ")[0].removesuffix(" Mio.")
    named = "$" if "$" in sign else "€" if "€" in sign else sign.strip("~≈ ")
    assert only(f"so {sign}{bare}.").key == only(f"so {named} {bare}.").key


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("1,000-2,000 EUR", ["number:1000", "amount:2000 EUR"]),
        ("1'000–2'000 CHF", ["number:1000", "amount:2000 CHF"]),
        ("1.5-2.5 kg", ["number:1.5", "number:2.5 kg"]),
        ("$1.5-2.5M", ["amount:1.5 USD", "number:2500000"]),
        ("10-12kg", ["number:10", "number:12 kg"]),
        ("100~200", ["number:100", "number:200"]),
        ("5~10 kg", ["number:5", "number:10 kg"]),
        ("10:30-11:30", ["time:10:30", "time:11:30"]),
        ("2026-11-20/2026-11-25", ["date:2026-11-20", "date:2026-11-25"]),
        ("12,000/24,000 km", ["number:12000", "number:24000 km"]),
        ("$30/month", ["amount:30 USD"]),
        ("30 EUR/kg", ["amount:30 EUR"]),
        ("1'234 CHF/Monat", ["amount:1234 CHF"]),
        ("2×1,349.90", ["number:2", "number:1349.9"]),
        ("+1,349.90 EUR", ["amount:1349.9 EUR"]),
        ("Rs.1,500", ["amount:1500 INR"]),
        ("Rp1.500.000", ["amount:1500000 IDR"]),
        ("Price:EUR1.349,90", ["amount:1349.9 EUR"]),
        ("~20 Oct", ["date:--10-20"]),
        ("~+49 30 901820", ["phone:+4930901820"]),
        ("~1.2.3", ["version:1.2.3"]),
    ],
)
def test_ranges_rates_and_codes_do_not_cut_a_number(text: str, keys: list[str]) -> None:
    assert [value.key for value in values(text)] == keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("[1,349,90]", ["number:1", "number:349", "number:90"]),
        ("[-1,-25,300]", ["number:1", "number:25", "number:300"]),
        ("['1','234']", ["number:1", "number:234"]),
        ("@@ -1,25 +1,26 @@", ["number:1", "number:25", "number:1", "number:26"]),
        ("2025-10-07T14:30-05:00", ["date:2025-10-07", "time:14:30-300"]),
        ("1.5-2.5", ["version:1.5-2.5"]),
        ("10-12a", ["id:10-12a"]),
        ("HEAD~1", ["id:head~1"]),
        ("~/src/x1.py", ["path:~/src/x1.py"]),
        ("~user7/x.py", ["path:~user7/x.py"]),
        ("https://x.io/~7/a", ["url:x.io/~7/a"]),
        ("a~1b", ["id:a~1b"]),
        ("_1", ["id:_1"]),
        ("CHF1299-A7", ["id:chf1299-a7"]),
        ("ABC12", ["id:abc12"]),
        ("\\u201c/usr/bin", ["path:/usr/bin"]),
        ("`/usr/bin`", ["path:/usr/bin"]),
        ("foo()/a1/b", ["name:foo", "path:/a1/b"]),
    ],
)
def test_what_only_looks_like_one_number_is_not_joined(text: str, keys: list[str]) -> None:
    assert [value.key for value in values(text)] == keys


def test_an_id_that_begins_with_the_code_of_a_currency_vouches_for_itself() -> None:
    assert {"amount:50 EUR", "id:eur50", "number:50"} <= vouched("EUR50")


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("am 14.11. um 15 Uhr", ["date:--11-14", "time:15:00"]),
        ("Termin ist am 14.11. Danke", ["date:--11-14"]),
        ("am 14.11", ["date:--11-14"]),
        ("Montag, 14.11., bis Mo., 21.11.", ["date:--11-14", "date:--11-21"]),
        ("vom 14.11.–16.11. frei", ["date:--11-14", "date:--11-16"]),
        ("vom 3.11. bis 5.11.2026", ["date:--11-03", "date:2026-11-05"]),
        ("for 11/14 at 3pm", ["date:--11-14", "time:15:00"]),
        ("on 11/14.", ["date:--11-14"]),
        ("due on Friday, 11/14, please", ["date:--11-14"]),
        ("from 11/14 to 11/16", ["date:--11-14", "date:--11-16"]),
        ("at 15:30 14/11.", ["time:15:30", "date:--11-14"]),
        ("le 14/11 à 15h30", ["date:--11-14", "time:15:30"]),
        ("el 14/11 a las 15:30", ["date:--11-14", "time:15:30"]),
        ("١٤ نوفمبر ٢٠٢٦", ["date:2026-11-14"]),
        ("في 3 أبريل", ["date:--04-03"]),
    ],
)
def test_a_day_of_digits_without_a_year_is_known_by_what_stands_beside_it(
    text: str, keys: list[str]
) -> None:
    assert [value.key for value in values(text)] == keys


@pytest.mark.parametrize(
    "text",
    [
        "3/4 cup of milk",
        "11/14 tests passed at 3pm",
        "on 3/4 of the servers",
        "after 11/14 tests",
        "cut it by 3/4.",
        "from 1/2 to 3/4",
        "scored 8/10.",
        "on page 3/4.",
        "open on 24/7.",
        "version 3.11.",
        "Python 3.11 at 10:30",
        "I am 5.11 tall",
        "vom 1.2.3 an",
        "am 31.13.",
        "zum 9.10 EUR",
        "from 10.11.12.13",
        "on 7.5% and on 3/4%",
    ],
)
def test_fractions_ratios_and_versions_are_no_days(text: str) -> None:
    assert "date" not in {value.kind for value in values(text)}


# What vouches for what


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        ("2025-10-07", "October 7"),
        ("2025-10-07", "October 2025"),
        ("2025-10-07", "in 2025"),
        ("10/07/2025", "7 October 2025"),
        ("2025-10-07T14:30:00Z", "14:30 UTC on October 7"),
        ("14:30", "2:30"),
        ("2:30", "2:30 pm"),
        ("午後3時30分", "15:30"),
        ("1,299", "1.299"),
        ("1.299", "1299"),
        ("mid-2025", "2025"),
        ("$1,299.00", "1299"),
        ("¥1,299", "1299 yuan"),
        ("1299 JPY", "¥1,299"),
        ("3 kg", "3"),
        ("3f2a9c1e7d0b4a5f6c7d8e9f0a1b2c3d4e5f6a7b", "3f2a9c1e"),
        ("12345670abcdef1234567", "1234567"),
        ("LK-4821936", "order 4821936"),
        ("LK-4821936", "LK4821936"),
        ("3f2b8c1a-1d2e-4f5a-9b8c-0123456789ab", "3f2b8c1a"),
        ("4111 1111 1111 1234", "ending in 1234"),
        ("+1 (555) 010-2345", "555-010-2345"),
        ("+49 30 901820", "030 901820"),
        ("15550102345", "+1 555 010 2345"),
        ("/home/me/p/src/app/views.py", "views.py"),
        ("/home/me/p/src/app/views.py", "src/app/views.py"),
        ("/home/me/p/src/app/views.py", "src/app"),
        ("src/app/views.py", "src/app/"),
        ("invoices/INV-2041.pdf", "INV-2041"),
        ("https://shop.io/orders/7?page=2#top", "shop.io/orders/7"),
        ("dana@example.com", "example.com"),
        ("d'anne@example.com", "anne@example.com"),
        ("WO-55821/2", "WO-55821"),
        ("WO-55821/2", "2 of WO-55821"),
        ("WO-55821/2", "55821"),
        ("3.11.2", "3.11"),
        ("v3.11", "3.11"),
        ("the code is 404", "HTTP 404"),
        ("it gave 2", "exit code 2"),
        ("2025-10-07", "10/07"),
        ("5/3/88", "1988-03-05"),
        ("5/3/88", "May 3, 1988"),
        ("05-Mar-88", "5 March 1988"),
        ("2025-10-07", "on 10/07."),
        ("am 7.10. um 9 Uhr", "October 7"),
        ("on 10/07 at 9 am", "7 October"),
        ("on 10/07 at 9 am", "10 July"),
        ("ab 3.11. gilt", "version 3.11"),
        ("on 11/14.", "11 of 14"),
    ],
)
def test_a_source_vouches_for_a_weaker_reading(source: str, summary: str) -> None:
    keys = vouched(source)
    assert {value.key for value in values(summary)} <= keys


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        ("October 7", "2025-10-07"),
        ("2025-10-07", "2024-10-07"),
        ("am 7.10. um 9 Uhr", "10 July"),
        ("am 7.10. um 9 Uhr", "am 8.10."),
        ("on 11/14 at 9 am", "on 11/15 at 9 am"),
        ("2025-10-07", "October 8"),
        ("5/3/27", "1927-03-05"),
        ("05-Mar-88", "3 May 1988"),
        ("5-Mar-27-4", "2027-03-05"),
        ("14:30", "14:30 UTC"),
        ("14:30", "14:03"),
        ("2:30 am", "2:30 pm"),
        ("1299", "$1299"),
        ("1299 EUR", "1299 USD"),
        ("$1,299", "$1,290"),
        ("3", "3 kg"),
        ("3 kg", "3 lb"),
        ("555-010-2345", "+1 555-010-2345"),
        ("views.py", "src/views.py"),
        ("src/app/views.py", "src/api/views.py"),
        ("shop.io/a", "shop.de/a"),
        ("3f2a9c1e", "3f2a9c1e7d0b4a5f"),
        ("3.11", "3.11.2"),
        ("call_aB3dE9xyz", "call_ab3dE9xyz"),
        ("sean.o'brien@acme.ie", "brien@acme.ie"),
        ("d'arcy@example.com", "l'arcy@example.com"),
        ("WO-55821/2", "WO-55821/7"),
    ],
)
def test_a_source_does_not_vouch_for_more_than_it_says(source: str, summary: str) -> None:
    keys = vouched(source)
    assert not {value.key for value in values(summary)} <= keys


# Laws


@given(TEXTS)
@example("US$ 1.5 million USD")
@example("5k USD 12,5 %")
def test_values_are_slices_in_order(text: str) -> None:
    """None overlaps another, none goes over a line's end, each names its kind in its keys."""
    last = 0
    for value in values(text):
        assert last <= value.start < value.stop
        last = value.stop
        assert value.text == text[value.start : value.stop]
        assert "\n" not in value.text
        assert value.key.startswith(f"{value.kind}:")
        assert value.key not in value.also


@given(TEXTS, TEXTS)
@example("10 October", "7, 2025")
@example("午後", "3時")
@example("0", " 5 6")
@example("", "\\n()")
@example("", "\\u0041()")
@example("\\u12", "/usr/bin")
def test_lines_are_read_by_themselves(first: str, second: str) -> None:
    joined = values(f"{first}\n{second}")
    shift = len(first) + 1
    assert joined == values(first) + [
        v._replace(start=v.start + shift, stop=v.stop + shift) for v in values(second)
    ]


@given(TEXTS)
def test_texts_read_alike_a_second_time(text: str) -> None:
    assert values(text) == values(text)


@given(DAYS)
def test_a_date_has_one_key_however_it_is_written(day: date) -> None:
    y, m, d = day.year, day.month, day.day
    english, german, french, spanish = (
        names.split()[m - 1] for names in (ENGLISH, GERMAN, FRENCH, SPANISH)
    )
    written = [
        f"{english} {d}, {y}",
        f"{english[:3]} {d} {y}",
        f"{english[:3]}. {d}, {y}",
        f"{d} {english} {y}",
        f"{d} {english[:3]} {y}",
        f"{d}-{english[:3]}-{y}",
        f"{d}. {german} {y}",
        f"{d} {french} {y}",
        f"{d} de {spanish} de {y}",
        f"{y}/{m:02}/{d:02}",
        f"{y}-{m}-{d}",
        f"{d:02}.{m:02}.{y}",
        f"{y}年{m}月{d}日",
        f"{y}‑{m:02}‑{d:02}",
    ]
    assert {only(form).key for form in written} == {f"date:{day.isoformat()}"}
    assert f"date:{day.isoformat()}" in vouched(f"{m:02}/{d:02}/{y}")
    assert f"date:{day.isoformat()}" in vouched(f"{d:02}/{m:02}/{y}")
    assert {v.key for v in values(f"{english} {d}")} <= vouched(day.isoformat())


@given(st.integers(0, 23), st.integers(0, 59))
def test_a_time_has_one_key_however_it_is_written(hour: int, minute: int) -> None:
    half, on = ("am", "pm")[hour > 11], (hour % 12 or 12)
    written = [
        f"{hour:02}:{minute:02}",
        f"{hour}:{minute:02}:00",
        f"{on}:{minute:02} {half}",
        f"{on}:{minute:02}{half.upper()}",
        f"{on}:{minute:02} {half[0]}.m.",
        f"{hour}h{minute:02}",
    ]
    assert {only(form).key for form in written} == {f"time:{hour:02}:{minute:02}"}


@given(CENTS)
def test_an_amount_has_one_key_however_it_is_written(cents: int) -> None:
    whole, rest = divmod(cents, 100)
    english = f"{whole:,}.{rest:02}"
    german = english.translate({44: ".", 46: ","})
    swiss = english.replace(",", "'")
    written = [f"{form} EUR" for form in (english, german, swiss, german.replace(".", " "))]
    written += [f"€{english}", f"EUR {german}", f"{german} €", f"{whole}.{rest:02} euros"]
    if not rest:
        written += [f"€{whole}", f"{whole:,} EUR", f"EUR {whole}"]
    keys = {only(f"paid {form}.").key for form in written}
    assert len(keys) == 1
    assert only(f"{english} USD").key == only(f"${english}").key not in keys


@given(st.lists(st.integers(0, 9), min_size=10, max_size=10))
def test_a_phone_number_has_one_key_however_it_is_written(rest: list[int]) -> None:
    digits = "".join(map(str, [*"23456789"[rest[0] % 8], *rest[1:]]))
    a, b, c = digits[:3], digits[3:6], digits[6:]
    written = [f"+1 ({a}) {b}-{c}", f"+1-{a}-{b}-{c}", f"+1 {a} {b} {c}", f"+1{digits}"]
    assert {only(form).key for form in written} == {f"phone:+1{digits}"}
    assert {only(form).key for form in (f"({a}) {b}-{c}", f"{a}-{b}-{c}", f"{a} {b} {c}")} == {
        f"phone:{digits}"
    }
    assert f"phone:{digits}" in vouched(written[0])


@given(
    st.sampled_from(
        [
            "LK-4821936",
            "2025-10-07",
            "$1,299.05",
            "3f2a9c1e7d",
            "+1 555 010 2345",
            "14:37",
            "src/v2/a4.py",
            "v1.22.3",
            "dana7@example.com",
            "https://x.io/a/77",
        ]
    ),
    st.data(),
)
def test_a_value_with_one_other_digit_has_another_key(text: str, data: st.DataObject) -> None:
    place = data.draw(st.sampled_from([n for n, c in enumerate(text) if c.isdigit()]))
    digit = data.draw(st.sampled_from([c for c in "0123456789" if c != text[place]]))
    other = text[:place] + digit + text[place + 1 :]
    assert {v.key for v in values(other)} != {v.key for v in values(text)}
    assert not {v.key for v in values(other)} <= vouched(text)


def test_the_tables_are_written_as_they_are_looked_up() -> None:
    assert all(name == name.lower() and 1 <= month <= 12 for name, month in MONTHS.items())
    assert not CURRENCIES.keys() & UNITS.keys()
    assert not MAGNITUDES.keys() & (CURRENCIES.keys() | UNITS.keys())


HOSTILE = [
    "a", "1", "é", "１", " ", "/", "-", "`", "(", "[", "a@", "a.", "1.", "1-", "1,1,1", "1,", "1 ",
    "1 222", "0 0", "07 22/", "+1 ", "(555", "1:30", "1k ", "€1", "1€", "USD 1 ", "--a", "--a ",
    "://", "//a:", "https://", "http://((((", "http://a]", "www.", "C:\\", "\\n", "\\u0041", "a_",
    "aA", "E14 ", "EEEE", "$ a", "` ", "`a b", "a()", "()", "..", "1..", "1e", "2025-10-07T",
    "Oct 7 ", "年1月1日", "'1", "exit 1", "DE89 1111 ", "a+", "0/0", "1/1/", "~1", "-1,1",
    "a...1", "EUR1", "[1,111,", "1~", "1/a", "a'", "1a'", "a'a@", "a.a'a@a.",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_texts_cost_linear_time(unit: str) -> None:
    """Eight times the text takes about eight times as long; twenty-five would be far off."""
    short, long = (unit * (size // len(unit)) for size in (3_000, 24_000))
    assert quickest(lambda: values(long)) < 25 * max(quickest(lambda: values(short)), 0.001)


@pytest.mark.parametrize(
    "text", ["https://...", "All begin with https:// here", "(http://)", "ftp://"]
)
def test_a_scheme_without_a_host_is_no_address(text: str) -> None:
    assert values(text) == []


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("٤٫٩٥ EUR", ["amount:4.95 EUR"]),
        ("EUR ٤٫٩٥", ["amount:4.95 EUR"]),
        ("۱٬۲۸۴٫۵۰ EUR", ["amount:1284.5 EUR"]),
        ("1٬284٫50 EUR", ["amount:1284.5 EUR"]),
        ("١٢٬٠٠٠", ["number:12000"]),
        ("١٠٬٠٠٠٬٠٠٠", ["number:10000000"]),
        ("12٬34٬567 INR", ["amount:1234567 INR"]),
        ("٠٫٥", ["number:0.5"]),
        # A comma of that script parts numbers, and so does what is no sign of a number there.
        ("٤٫٥، ٥٫٥", ["number:4.5", "number:5.5"]),
        ("١٢،٣٤", ["number:12", "number:34"]),
        ("١٢،٠٠٠", ["number:12", "id:000"]),
        ("١٢٬٣٤", ["number:12", "number:34"]),
        ("12٬ 345", ["number:12", "number:345"]),
        ("12٬3456", ["number:12", "number:3456"]),
        ("٤٫", ["number:4"]),
        ("٤٫ ٥", ["number:4", "number:5"]),
        ("س٫5", ["number:5"]),
    ],
)
def test_arabic_separators_of_numbers_are_those_of_ascii(text: str, keys: list[str]) -> None:
    found = values(text)
    assert [value.key for value in found] == keys
    assert all(value.text == text[value.start : value.stop] for value in found)


def test_eight_digits_vouch_for_the_day_that_they_may_be() -> None:
    assert "date:2026-12-04" in values("Ref 20261204 came.")[0].also
    assert not any(key.startswith("date:") for key in values("Ref 20261304 came.")[0].also)


def test_what_is_a_day_in_no_order_is_none() -> None:
    assert [value.kind for value in values("It was 99/99/2025.")] == ["number"] * 3


@pytest.mark.parametrize("host", ["www.example.com", "WWW.example.com", "Www.Example.Com"])
def test_an_address_without_a_scheme_is_that_of_its_host(host: str) -> None:
    """Also with capitals, in which no other name of a host is one."""
    assert [value.key for value in values(f"See {host} for more.")] == ["url:example.com"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"Steps:\\n1. Pay 40 EUR"', ["number", "amount"]),
        ('"schema:\\n\\n{\\"city\\": 7}"', ["number"]),
        ("Größe:\\r\\n12", ["number"]),
        ("x2:\\n- y", ["id"]),
        ('"in\\nC:\\\\tmp\\\\x.txt"', ["path"]),
        ("\uff08C:\\tmp\\x.txt", ["path"]),
        ("路径C:\\tmp\\x.txt", ["path"]),
        ("(d:\\x.txt)", ["path"]),
    ],
)
def test_the_letter_of_a_drive_is_no_end_of_a_word(text: str, expected: list[str]) -> None:
    """A line break in a text of JSON, behind a word and a colon, begins no path."""
    assert [value.kind for value in values(text)] == expected


def test_a_drive_may_stand_behind_a_line_break_of_json() -> None:
    """Its letter is then behind that of the escape."""
    (path,) = values('"in\\nc:\\\\tmp\\\\x.txt"')
    assert path.text == "c:\\\\tmp\\\\x.txt"
