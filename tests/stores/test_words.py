"""The words that every store searches, without a store."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quickest import quickest

from chatfold.stores._words import Phrase, matches, phrases, ranked, searchable


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("  Hello,  World! ", "hello world"),
        ("RMA-90721", "rma 90721"),
        ("create_rma", "create rma"),
        ("Crème BRÛLÉE", "creme brulee"),
        ("cre\u0300me", "creme"),
        ("İstanbul", "istanbul"),
        ("Straße ΣΊΣΥΦΟΣ", "strasse σισυφοσ"),
        ("ＲＭＡ１２", "rma12"),
        ("東京タワー", "東 京 タ ワ ー"),
        ("か\u3099 が", "が が"),
        ("한\u1100\u1161국", "한 가 국"),
        ("ver2.0β", "ver2 0β"),
        ("a\ud800b\0c", "a b c"),
        ("𝟘 ™", "0 tm"),
        ("ΟΔΟΣ, Ϲ 𝝇", "οδοσ σ σ"),
    ],
    ids=ascii,
)
def test_a_text_becomes_words(text: str, words: str) -> None:
    assert searchable(text) == words


@given(st.text(st.characters(exclude_categories=())))
def test_words_hold_letters_digits_and_single_spaces_alone(text: str) -> None:
    """FTS5 and LIKE read nothing in them as syntax, and databases take them as text."""
    words = searchable(text)
    assert words == " ".join(words.split(" ")).strip(" ")
    assert "  " not in words
    assert not set(words) & set("\"'*()^%_\\:-+{}[]\0")
    words.encode("utf-8")


@given(st.text(st.characters(exclude_categories=())))
def test_words_of_words_are_the_same(text: str) -> None:
    """So what is found can be searched for again."""
    words = searchable(text)
    assert searchable(words) == words


def test_a_query_is_cut_into_phrases() -> None:
    assert phrases("the RMA-9 is a 東京 a") == (
        Phrase("the", True),
        Phrase("rma 9", True),
        Phrase("is", False),
        Phrase("a", False),
        Phrase("東 京", True),
    )


def test_a_phrase_matches_whole_words_and_a_prefix_their_beginning() -> None:
    assert matches(Phrase("rma 90721", False), "rma 90721 rma 907210") == 1
    assert matches(Phrase("rma 90721", True), "rma 90721 rma 907210 karma 90721") == 2
    assert matches(Phrase("a", False), "a a a ab") == 3


def test_ranking_follows_frequency_length_and_rarity() -> None:
    texts = ["x y", "x x", "x a b c d e", "z", "y z q", "z", "z", "z"]
    assert ranked([Phrase("x", False)], texts) == [1, 0, 2]
    assert ranked([Phrase("x", False), Phrase("q", False)], texts) == [4, 1, 0, 2]
    assert ranked([Phrase("w", False)], texts) == []
    assert ranked([], texts) == []
    assert ranked([Phrase("x", False)], []) == []


HOSTILE: dict[str, Callable[[int], str]] = {
    "letters": lambda n: "x" * n,
    "marks": lambda n: "e" + "\u0315\u0300" * (n // 2),
    "marks of other scripts": lambda n: "か" + "\u3099\u0591\u05ad" * (n // 3),
    "punctuation": lambda n: "-_" * (n // 2),
    "ideographs": lambda n: "東" * n,
    "long ones": lambda n: "\ufdfa" * n,
    "surrogates": lambda n: "\ud800" * n,
    "mixed": lambda n: "aé" * (n // 2),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_time_for_a_text_grows_with_its_length(kind: str) -> None:
    """Eight times the text takes about eight times as long; the square would be 64 times."""

    def seconds(length: int) -> float:
        text = HOSTILE[kind](length)
        return quickest(lambda: searchable(text))

    assert seconds(80_000) < 30 * max(seconds(10_000), 0.001)
