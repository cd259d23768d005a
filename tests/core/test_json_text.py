"""JSON is decoded to the same depth on every Python; what is deeper is no JSON, but a text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from facts_of import facts_of

from chatfold.core.call_json import json_or_text
from chatfold.core.json_text import DEEPEST, decoded, decoding, document
from chatfold.core.views import ItemView, ResultPart

PAIRS = [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")]


def nested(levels: int, opening: str, closing: str, leaf: str = '"LK-4821936"') -> str:
    levels //= opening.count("[") + opening.count("{")
    return opening * levels + leaf + closing * levels


@pytest.mark.parametrize("pair", PAIRS)
def test_so_many_levels_are_decoded_and_no_more(pair: tuple[str, str]) -> None:
    text = nested(900, *pair)  # 3.11 decodes a few more, by how deep the calls are
    assert json.dumps(decoded(text), separators=(",", ":")) == text
    for levels in (DEEPEST + 2, 1_500, 20_000, 200_000):
        with pytest.raises(ValueError, match="nested too deep"):
            decoded(nested(levels, *pair))


@pytest.mark.parametrize("pair", PAIRS)
def test_the_limit_is_ours_where_json_goes_deeper(pair: tuple[str, str]) -> None:
    """As that of Python 3.14 does."""

    def made(text: str) -> Any:
        value: Any = "LK-4821936"
        for opening in reversed(text.partition('"LK')[0].replace('"a":', "")):
            value = [value] if opening == "[" else {"a": value}
        return value

    assert decoded(nested(DEEPEST, *pair), made)
    with pytest.raises(ValueError, match="nested too deep"):
        decoded(nested(DEEPEST + 2, *pair), made)


def test_what_stands_beside_each_other_is_not_deep() -> None:
    for value in (
        [{"tags": ["[" * 50, "{"], "id": n} for n in range(1_000)],
        {"text": "[{" * 5_000},
    ):
        assert decoded(json.dumps(value)) == value


@pytest.mark.parametrize("text", ["", "{", "[1", "[" * 20_000, "nothing"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|nested"):
        decoded(text)


@pytest.mark.parametrize("levels", [900, DEEPEST + 2, 2_000, 20_000])
@pytest.mark.parametrize("pair", PAIRS)
def test_what_lies_too_deep_is_found_in_the_text(pair: tuple[str, str], levels: int) -> None:
    text = nested(levels, *pair)
    view = ItemView("tool", (ResultPart("call_x", "lookup", text),))
    assert [fact.key for fact in facts_of([view], [])] == ["id:lk-4821936"]
    assert (json_or_text(text) == text) is (levels > DEEPEST)


TEXTS = (
    "{}",
    '{"a": [1, "b"]}',
    "1",
    '"x"',
    "[",
    '{"a":}',
    "",
    "x",
    "{} {}",
    '{"a": "\t"}',
    "[NaN]",
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("before", ["", " ", "\r\n\t", "\x0b", "\ufeff", "\xa0"])
@pytest.mark.parametrize("behind", ["", "\n", " \t\r\n", " x", "\x0b", "\xa0"])
@pytest.mark.parametrize(
    "options", [{}, {"parse_int": str, "parse_constant": str}, {"strict": False}]
)
def test_a_text_is_decoded_as_json_decodes_it(
    text: str, before: str, behind: str, options: dict[str, Any]
) -> None:
    def said(decode: Any) -> str:
        try:
            return repr(decode(f"{before}{text}{behind}"))
        except ValueError:
            return "no JSON"

    assert said(decoding(**options)) == said(json.JSONDecoder(**options).decode)


RMA = {"rma": "RMA-90721", "fee": {"total": 12.5, "currency": "EUR"}, "items": [1, 2]}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("around", ["{}", " {}\n"])
@pytest.mark.parametrize("times", [0, 1, 2, 3])
def test_what_json_is_put_into_says_no_more_than_it(
    around: str, times: int, indent: int | None
) -> None:
    """JSON's own quotes, where a host writes as JSON what was JSON already."""
    plain = json.dumps(RMA, indent=indent)
    text = around.replace("{}", plain)
    for _ in range(times):
        text = json.dumps(text)
    assert json_or_text(text) == RMA
    assert document(text) == document(plain)

    def said(of: str) -> list[tuple[str, Any]]:
        facts = facts_of([ItemView("tool", (ResultPart("call_1", None, of),))], [])
        return [(fact.key, [seen.path for seen in fact.sightings]) for fact in facts]

    assert said(text) == said(plain)
    assert said(plain)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('"{placeholder} stays"', "{placeholder} stays"),
        ('"plain"', "plain"),
        ('"{}" or "[]"', '"{}" or "[]"'),
        ('"[1, 2"', "[1, 2"),
        ('```json\n{"a": 1}\n```', None),  # may be what a tool was to write
        ("```", None),
        ('"', None),
        ("", None),
    ],
)
def test_a_text_that_is_not_all_json_is_read_as_it_was(text: str, read: str | None) -> None:
    assert json_or_text(text) == (text if read is None else read)
    assert document(text) is None
