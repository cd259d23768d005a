"""Escaping: exact for every string, by two parsers, and decoded once."""

from __future__ import annotations

import re
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree
from strategies import texts

from chatfold.core.xml import (
    attribute,
    attributes,
    decode,
    encode,
    escape,
    markup,
    unescape_copied,
)

EVERY_CHARACTER = "".join(map(chr, range(sys.maxunicode + 1)))
# What looks like our own encoding, complete and broken, nested and out of range.
LOOKALIKES = (
    *(r"\u{0}", r"\u{5c}", r"\\u{0}", r"\u{5c}u{5c}", r"\u{110000}", r"\u{ffffff}"),
    *(r"\u{}", r"\u{D800}", r"\u{1234567}", "\\u{", "\\", "\\\x00", "\x00\\u{41}", "\\u{4\x001}"),
)


def parsed(xml: str) -> tuple[str, str]:
    """Return the text and the attribute `a` of an element, as both parsers read them."""
    one, other = ElementTree.fromstring(xml), etree.fromstring(xml)
    assert (one.text, dict(one.attrib)) == (other.text, dict(other.attrib))
    return one.text or "", one.get("a", "")


def round_trip(text: str) -> tuple[str, str]:
    content, value = parsed(f'<e a="{encode(attribute(text))}">{escape(text)}</e>')
    return decode(content), decode(value)


@given(text=texts() | st.text() | st.lists(st.sampled_from(LOOKALIKES)).map("".join))
@example("".join(LOOKALIKES))
@example("\t\n\r\r\n\x85\u2028")
def test_any_text_comes_back_from_content_and_attribute(text: str) -> None:
    """One parse and one decoding give the text again."""
    assert round_trip(text) == (text, text)


def test_every_character_comes_back() -> None:
    """All of Unicode in one text, lone surrogates and non-characters included."""
    assert round_trip(EVERY_CHARACTER) == (EVERY_CHARACTER, EVERY_CHARACTER)


@given(st.lists(texts(), max_size=5))
def test_many_texts_may_be_encoded_at_once(parts: list[str]) -> None:
    """A whole conversation is marked up text by text and encoded as one, which is cheaper."""
    xml = encode("<e>" + "".join(f'<p a="{attribute(p)}">{markup(p)}</p>' for p in parts) + "</e>")
    found = ElementTree.fromstring(xml)
    assert [decode(p.text or "") for p in found] == parts
    assert [decode(p.get("a", "")) for p in found] == parts


@given(texts() | st.text())
def test_encoded_text_holds_nothing_that_xml_or_utf8_forbids(text: str) -> None:
    """Neither does it hold a character of XML's own."""
    made = escape(text)
    made.encode("utf-8")
    assert not re.search(r"[<>\r]|[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", made)


@given(
    st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="&<>\\\ufffe\uffff"))
)
def test_plain_text_stays_as_it_is(text: str) -> None:
    """What needs no escape is what the model reads."""
    assert escape(text) == decode(text) == encode(text) == text


def test_what_xml_forbids_is_written_as_documented() -> None:
    """Hexadecimal in braces, and a backslash only where it would start such a sequence."""
    assert encode("a\x00\ud800\uffff\\n\\u{41}") == r"a\u{0}\u{d800}\u{ffff}\n\u{5c}u{41}"
    assert escape("a<b>&\r") == "a&lt;b&gt;&amp;&#13;"
    assert attribute('a"b\n\t') == "a&quot;b&#10;&#9;"


def test_decoding_leaves_numbers_beyond_unicode_alone() -> None:
    """They cannot come from `encode`."""
    assert decode(r"\u{110000}\u{41}") == r"\u{110000}A"


def test_attributes_without_a_value_are_left_out() -> None:
    """None is no attribute, "" and 0 are."""
    assert attributes(name='a"', id=None, size=0, text="") == ' name="a&quot;" size="0" text=""'


# --- what a model copies ------------------------------------------------------------------------

SHOWN = st.text(st.sampled_from("ab<>&\"'\r\n "), max_size=20)


@given(SHOWN)
def test_a_copy_of_escaped_text_is_the_text(text: str) -> None:
    """Content and attributes, where the head holds no entity of its own."""
    assert unescape_copied(markup(text), text) == text
    assert unescape_copied(attribute(text), text) == text


@given(st.sampled_from(("&lt;", "&gt;", "&quot;", "&apos;", "&#39;", "&#34;")), SHOWN)
def test_an_entity_of_the_head_is_left_alone(entity: str, text: str) -> None:
    """It was meant; the others are decoded all the same."""
    copied = f"{markup(text)}{entity}"
    if entity not in text + markup(text):
        assert unescape_copied(copied, [entity]) == text + entity


@pytest.mark.parametrize("text", ["&", "&nbsp;", "&lt", "&#60;", "&#x3c;", "&copy;", "a&b;c"])
def test_what_the_prompt_does_not_write_is_not_decoded(text: str) -> None:
    """Only entities that escaping makes can have been copied out of the prompt."""
    assert unescape_copied(text, "") == text
