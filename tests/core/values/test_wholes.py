"""Addresses with an apostrophe, ids with a slash, phones in points: wholes where they are such."""

from __future__ import annotations

import pytest

from chatfold.core.values import values


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("to 'kim@example.com'.", ["mail:kim@example.com"]),
        ("['kim@example.com','lee@x.org']", ["mail:kim@example.com", "mail:lee@x.org"]),
        ("b'kim@example.com\\n'", ["mail:kim@example.com"]),
        ("kim@example.com's", ["mail:kim@example.com"]),
        ("'write to o'brien@acme.ie'", ["mail:brien@acme.ie"]),
        ("a@b.com'c@d.com", ["mail:a@b.com", "mail:c@d.com"]),
        ("\\nd'arcy@example.com", ["mail:d'arcy@example.com"]),
    ],
)
def test_quotation_marks_are_no_part_of_an_address(text: str, keys: list[str]) -> None:
    assert [value.key for value in values(text)] == keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("LK-1/LK-2", ["id:lk-1", "id:lk-2"]),
        ("either A-77/B-78", ["id:a-77", "id:b-78"]),
        ("rooms A101/102", ["id:a101", "number:102"]),
        ("A-77/78", ["id:a-77", "number:78"]),
        ("LK-4821936/month", ["id:lk-4821936"]),
        ("on a PS5/PC", ["id:ps5"]),
        ("55-77/2", ["id:55-77", "number:2"]),
        ("v1.2.3/X", ["version:1.2.3"]),
        ("A-77/B/C", ["path:A-77/B/C"]),
        ("https://x.io/A-77/B", ["url:x.io/A-77/B"]),
        ("06.12.34", ["version:06.12.34"]),
        ("06.12.34.56", ["id:06.12.34.56"]),
        ("1.06.12.34.56.78", []),
        ("call 06.12.34.56.78.90 now", []),
    ],
)
def test_what_stands_beside_a_slash_or_a_point_may_be_something_else(
    text: str, keys: list[str]
) -> None:
    assert [value.key for value in values(text)] == keys
