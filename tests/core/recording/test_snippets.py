"""The words for what a user said: values of one kind that stand together are told apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold import ChatContext
from chatfold.core.recording.snippets import Contrasts, snippet
from chatfold.core.values import values

MOST = 120


def told(text: str, most: int = MOST) -> dict[str, str | None]:
    found = values(text)
    contrasts = Contrasts(text, found, most)
    return {value.text: contrasts.words(value) for value in found}


@pytest.mark.parametrize(
    "said",
    [
        "Ship RT-4401 today but hold back RT-4402",
        "Drop everything in /var/spool/a; /var/spool/b stays",
        "Send it to kim@example.com, not to lee@example.com",
        "Take 30 EUR from 70001111 for 70002222, never from 70003333",
        "Verschiebe RT-4401, aber auf keinen Fall RT-4402",
        "Remboursez RT-4401 sauf RT-4402",
        "Envía RT-4401 y no RT-4402",
        "RT-4401を送り、RT-4402は送らないで",
        "退RT-4401，保留RT-4402",
    ],
)
def test_values_of_one_kind_are_told_by_their_sentence(said: str) -> None:
    """In any language, and what else stands in it is told by it, too."""
    assert set(told(f"Hello there. {said}. Thanks!").values()) == {said}


def test_two_sentences_beside_each_other_are_told_apart() -> None:
    """Also as items of a list; with the point that ends it a sentence is no longer."""
    assert told("Ship RT-4401. Hold RT-4402.") == {
        "RT-4401": "Ship RT-4401",
        "RT-4402": "Hold RT-4402",
    }
    assert told("- ship RT-4401\n- hold RT-4402") == {
        "RT-4401": "ship RT-4401",
        "RT-4402": "hold RT-4402",
    }
    assert told("Is it RT-4401? Or RT-4402?")["RT-4401"] == "Is it RT-4401?"


def test_a_value_alone_of_its_kind_needs_no_sentence() -> None:
    """Nor one that is named twice, or far from the other."""
    assert told("Where is RT-4401?") == {"RT-4401": None}
    assert told("RT-4401! Where is RT-4401?") == {"RT-4401": None}
    assert told("Ship RT-4401 to kim@example.com.") == {"RT-4401": None, "kim@example.com": None}
    assert set(told(f"Ship RT-4401. {'Well, well. ' * 20}Hold RT-4402.").values()) == {None}


def test_a_long_sentence_is_told_in_parts() -> None:
    """Behind a comma or between words, and no value is cut."""
    text = "Please " + ", ".join(f"ship RT-44{n:02} and hold RT-55{n:02}" for n in range(9))
    said = told(text)
    assert said["RT-4400"] == said["RT-5500"]
    assert len(set(said.values())) == 3
    for value, words in said.items():
        assert words is not None
        assert value in words
    assert told("x" * 120 + " /a/b/c and /d/e/f")["/d/e/f"] == "/a/b/c and /d/e/f"
    assert told("退RT-4401，保留RT-4402。" * 2, 12)["RT-4402"] == "保留RT-4402"


def test_what_was_not_written_by_hand_is_told_as_before() -> None:
    """A line of tens of thousands of characters, a value that is longer than a sentence may be."""
    assert set(told("RT-4401 not RT-4402 " * 1_001).values()) == {None}
    assert set(told("/a/" + "b" * 130 + " not /c/" + "d" * 130).values()) == {None}


@given(
    st.lists(
        st.sampled_from(["RT-4401", "RT-4402", "/srv/a", "30 EUR", "no", ",", ".", "、", "\n"]),
        max_size=60,
    ).map(" ".join),
    st.integers(8, 40),
)
def test_words_hold_their_value_and_fit(text: str, most: int) -> None:
    """However long the sentence is, and however short they must be."""
    for value, words in told(text, most).items():
        if words is not None:
            assert len(words) <= most
            assert value in words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("We live at 12 Elm Street, Springfield.", "live at 12 Elm Street, Springfield"),
        ("At 12 Elm Street, Springfield, Illinois. Bye", "At 12 Elm Street, Springfield, Illinois"),
        ("Ich wohne Hauptstraße 12, Berlin.", "wohne Hauptstraße 12, Berlin"),
        ("12 rue Victor Hugo, Lyon", "12 rue Victor Hugo, Lyon"),
        ("Calle Mayor 12, Madrid, y un perro", "Calle Mayor 12, Madrid"),
        ("We need 12 chairs, Dana said.", "We need 12 chairs"),
        ("At 12 Elm Street, and Bob too.", "At 12 Elm Street"),
        ("At 12 Elm Street, Bob said so.", "At 12 Elm Street"),
        ("At 12 Elm Street, T-1000/5 is kept.", "At 12 Elm Street"),
        ("At 12 Elm Street T-1000/5 is kept.", "At 12 Elm Street"),
    ],
)
def test_an_address_has_its_town(text: str, said: str) -> None:
    found = values(text)
    value = next(value for value in found if value.text == "12")
    assert snippet(text, value, found) == said


def test_a_value_that_is_named_twice_has_the_words_of_the_first_time() -> None:
    far = "It is far away from here. " * 60
    said = f"Our big hall has 4711 chairs in rows. {far}They sold some 4711 bottles yesterday."
    items = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": "Fine."},
        {"role": "user", "content": "Thanks."},
        {"role": "assistant", "content": "Bye."},
    ]
    ChatContext(items).summarize(lambda prompt: "Talk.", keep_last_turns=1)
    assert "- user: hall has 4711 chairs in\n" in items[0]["content"]
