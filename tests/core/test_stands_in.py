"""What stands in a text, found as the pattern that would be made of it finds it."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from chatfold.core.by_hash import by_hash
from chatfold.core.stands_in import stands_in, stands_spaced_in

GAPS = " ./-\u00a0\u202f"
texts = st.text("aaab1_. -/@\n\u00a0", max_size=24)
words = st.text("aab1", min_size=1, max_size=5)


@given(texts, st.text("aab1.*(", min_size=1, max_size=4))
def test_a_word_stands_where_the_pattern_of_it_would_match(text: str, word: str) -> None:
    """With something of a kind before it, looked back at, and behind it."""
    before, behind = r"(?<![\w@])(?<!\w[./-])", r"(?![\w@]|[./-]\w)"
    found = re.search(before + re.escape(word) + behind, text) is not None
    assert stands_in(text, word, re.compile(before), re.compile(behind)) is found


@given(texts, st.text("aab1.*(", min_size=1, max_size=4))
def test_what_begins_a_text_or_ends_it_stands_alone(text: str, word: str) -> None:
    """`^` is the beginning of the text, wherever the word stands."""
    found = re.search(rf"(?:^|[\s&|(/]){re.escape(word)}(?:\s|$)", text) is not None
    before, behind = re.compile(r"(?:^|(?<=[\s&|(/]))"), re.compile(r"\s|$")
    assert stands_in(text, word, before, behind) is found


@given(texts, words)
def test_a_word_in_groups_stands_where_the_pattern_of_it_would_match(text: str, word: str) -> None:
    """At most one gap between two of its characters, and none of a word around it."""
    pattern = rf"(?<!\w){f'[{re.escape(GAPS)}]?'.join(word)}(?!\w)"
    assert stands_spaced_in(text, word, GAPS) is (re.search(pattern, text) is not None)


def test_a_text_is_asked_about_once_and_all_are_let_go_when_there_are_too_many() -> None:
    """What is held is bounded, whatever a conversation says."""
    asked: list[tuple[str, str | None]] = []

    @by_hash(2)
    def is_long(text: str, of: str | None) -> bool:
        asked.append((text, of))
        return len(text) > 3

    assert [is_long("abcd", None), is_long("abcd", None), is_long("abc", "x")] == [
        True,
        True,
        False,
    ]
    assert asked == [("abcd", None), ("abc", "x")]
    is_long("b", None)  # a third: the others go
    is_long("abcd", None)
    assert asked[2:] == [("b", None), ("abcd", None)]
