"""What is looked at quickly before it is read: it says the same as reading would."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from chatfold import ChatContext
from chatfold.core.grounding import Sources
from chatfold.core.recording.recorded import _Held
from chatfold.core.values import values
from chatfold.core.views import ItemView, TextPart

DIGITS = st.sampled_from(["0", "1", "7", "12", "20", "100", "1299", "2026", "0049", "90"])
MARKS = st.sampled_from(["", ".", ",", "'", " ", "-", ":", "/", "e", "k", " million", ". "])
BESIDE = [
    "",
    "EUR",
    " EUR",
    "$",
    "A$",
    "€",
    "%",
    " GB",
    "sqm",
    " m²",
    "°C",
    "#",
    "v",
    "~",
    "٣",
    "h",
]
NUMBERS = st.builds(
    "{}{}{}{}{}{}".format,
    st.sampled_from(BESIDE),
    DIGITS,
    MARKS,
    DIGITS | st.just(""),
    MARKS,
    st.sampled_from(BESIDE),
)


@settings(max_examples=500)
@given(said=st.lists(NUMBERS, min_size=1, max_size=4), given=st.lists(NUMBERS, min_size=1))
def test_digits_tell_a_number_that_a_text_does_not_hold(said: list[str], given: list[str]) -> None:
    """Whatever marks, units and zeros it is written with."""
    held = _Held(" and ".join(said))
    for found in values(", so ".join(given)):
        alone = values(found.text)
        if found.kind in ("number", "amount") and len(alone) == 1:
            assert held._holds_number(found.text) == (alone[0].key in held.keys)


def test_a_range_is_held_where_one_of_its_ends_is() -> None:
    """It is two numbers, whose digits are not those of the whole."""
    assert _Held("It takes 3 days.")._holds_number("3-5 days")
    assert not _Held("It takes 4 days.")._holds_number("3-5 days")


@given(
    texts=st.lists(st.text("abIİß \nLK-1", max_size=12), min_size=1, max_size=6),
    word=st.sampled_from(["lk-1", "a", "ß", "i̇"]),
)
def test_a_word_is_found_in_the_piece_that_holds_it(texts: list[str], word: str) -> None:
    """Also behind capitals that become two small letters."""
    sources = Sources([ItemView("user", (TextPart(text),)) for text in texts], [])
    whole, starts = sources._searched
    ends = [*(start - 1 for start in starts[1:]), len(whole)]
    assert [whole[a:b] for a, b in zip(starts, ends, strict=True)] == [t.lower() for t in texts]
    for number in sources._holding(word, 200):
        assert word in texts[number].lower()


def test_names_ids_arguments_and_results_of_calls_are_searched() -> None:
    """A summary may name any of them."""
    call = {"name": "Look_Up", "arguments": '{"order": "LK-4"}'}
    items: list[Any] = [
        {
            "role": "user",
            "content": [{"type": "text", "text": "One"}, {"type": "text", "text": "Two"}],
        },
        {"role": "user", "name": "Ann", "content": "Three"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "Call_9", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": "Call_9", "content": "Sent"},
    ]
    ctx = ChatContext(items)
    whole, starts = Sources(ctx.views(), ctx.tool_calls())._searched
    assert len(starts) == 5
    for word in ("look_up", "lk-4", "call_9", "sent", "one", "two", "ann", "three"):
        assert word in whole
