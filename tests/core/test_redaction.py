"""What a function that redacts is shown of texts that hold JSON, and what comes out of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold.core.redaction import Redaction

SECRETS = ("Zoë Çelik", "a/b@c.example", 'Ed "Red" Roe', "1 Lane\nLeeds", "😀!")
PIECES = (*SECRETS, '"', "\\", "\n", "é", "😀", "{", "k")


def hidden(text: str) -> str:
    for secret in SECRETS:
        text = text.replace(secret, "[x]")
    return text


redact = Redaction(hidden)


def deep(secret: str, levels: int) -> Any:
    """Return a secret as a key and as a value, in texts that were dumped inside of each other."""
    value: Any = {secret: ["as it was", secret], "n": 12345678901234567890}
    for _ in range(levels):
        value = {"inner": json.dumps(value)}
    return value


@pytest.mark.parametrize("levels", range(4))
@pytest.mark.parametrize("secret", SECRETS)
def test_what_json_writes_with_escapes_is_found(secret: str, levels: int) -> None:
    """In keys, in values, and in texts inside of texts; the rest is the same."""
    dumped = json.dumps(deep(secret, levels))
    assert json.loads(redact(dumped)) == deep("[x]", levels)
    assert redact(f"Answer: {dumped} (2 rows)") == f"Answer: {redact(dumped)} (2 rows)"
    lines = "\n".join([dumped, '{"no": "secret \\u00e9"}', dumped])
    assert redact(lines).splitlines()[::2] == [redact(dumped)] * 2


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (r'{"mail": "a\/b@c.example"}', '{"mail": "[x]"}'),
        (r'{"mail": "A\u002fB, a\u002Fb@c.example"}', '{"mail": "A/B, [x]"}'),
        (r'{"name": "Zo\u00eb \u00c7elik, Ed \"Red\" Ro', r'{"name": "[x], Ed \"Red\" Ro'),
        (r'{"who": "\tEd \"Red\" Roe, 1 La', r'{"who": "\t[x], 1 La'),
        (r'a 5" pipe for "Ed \"Red\" Roe"', r'a 5" pipe for "Ed \"Red\" Roe"'),
        ('a 5" pipe\n"Ed \\"Red\\" Roe"', 'a 5" pipe\n"[x]"'),
        (r"name=Zo\u00eb \u00c7elik", "name=[x]"),
        (r'"\ud83d\ude00!"', '"[x]"'),
    ],
)
def test_what_is_no_whole_json_is_read_as_far_as_it_can_be(text: str, clean: str) -> None:
    """A result that was cut off, words around a string, a log."""
    assert redact(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        r'{"a": "\u00e9\/", "b": 1.0, "a": "\"twice\""}',
        r'{ "spaced" :  "\u0041" }',
        r'C:\new\table says "C:\users\ueda"',
        r"a regular expression: \d+\\u00eb\/",
        '"\\',
        "\\",
        r'"half a pair: \ud83d"',
        "",
    ],
)
def test_a_text_in_which_nothing_is_found_stays_as_it_is(text: str) -> None:
    """Not a sign of it is written otherwise."""
    assert redact(text) == text


def test_a_string_that_is_written_again_looks_like_the_rest() -> None:
    """With the signs of other scripts as they are, where they were, and else with escapes."""
    assert redact(r'["\"né\" Ed \"Red\" Roe"]') == r'["\"né\" [x]"]'
    assert Redaction(lambda text: text.replace('"', "é"))(r'x "\""').isascii() is False
    assert Redaction(lambda t: "é" if t == '"' else t)(r'["\""]') == r'["\u00e9"]'


def test_half_a_pair_is_shown_in_its_escape() -> None:
    """What cannot be encoded breaks a function that encodes it; it is no character anyway."""

    def encoding(text: str) -> str:
        text.encode()
        return hidden(text)

    assert Redaction(encoding)(r'{"cut": "Ed \"Red\" Roe \ud83d"}') == r'{"cut": "[x] \\ud83d"}'


def test_a_pattern_around_strings_sees_them_legible() -> None:
    """A function that looks for a key and its value is shown the whole text, too."""
    keyed = Redaction(lambda text: text.replace('"straße": "Am Weg 5"', '"straße": "[x]"'))
    assert keyed(json.dumps({"straße": "Am Weg 5"})) == '{"straße": "[x]"}'
    raw = Redaction(lambda text: text.replace(r"Zo\u00eb", "[x]"))
    assert raw(json.dumps({"name": "Zoë"})) == '{"name": "[x]"}'


def test_a_text_without_escapes_is_shown_once() -> None:
    """A function may look names up with a model of its own: it is asked no more than needed."""
    shown: list[str] = []
    Redaction(lambda text: shown.append(text) or text)('{"plain": "Zoë Çelik"}')
    assert shown == ['{"plain": "Zoë Çelik"}']


def test_texts_inside_of_each_other_have_an_end() -> None:
    """Whoever writes backslashes without end does not exhaust the stack."""
    text = r"\u0022"
    for _ in range(2_000):
        text = r"\u005cu0022" + text.replace("\\", r"\u005c", 1)
    assert redact(f'"{text}"') == f'"{text}"'
    shown: list[str] = []
    Redaction(lambda text: shown.append(text) or text)(f'"{text}"')
    assert len(shown) < 40


@given(st.lists(st.lists(st.sampled_from(PIECES)).map("".join)))
def test_every_string_of_a_document_is_as_if_shown_alone(strings: list[str]) -> None:
    """And JSON stays JSON, also where it was dumped twice."""
    clean = list(map(hidden, strings))
    for ascii_only in (True, False):
        dumped = json.dumps(strings, ensure_ascii=ascii_only)
        assert json.loads(redact(dumped)) == clean
        twice = json.dumps([dumped], ensure_ascii=ascii_only)
        assert json.loads(json.loads(redact(twice))[0]) == clean


def test_what_is_no_text_is_an_error() -> None:
    """As for a text without escapes."""
    nothing: Any = lambda text: None if text == '"' else text  # noqa: E731
    with pytest.raises(TypeError, match="has to return text, not NoneType"):
        Redaction(nothing)(r'["\""]')
