"""Which second answers take the place of a first one, and which only speak about it."""

from __future__ import annotations

import pytest

from chatfold.core.grounding import Ungrounded, is_mended, is_shortened
from chatfold.core.values import values

FIRST = """\
Dana's order LK-4821936 came broken on 2025-11-18; it cost 349.90 EUR.
Return RMA-90721 is open until 2025-11-28.
The pump ESP-2002 is covered."""
LONG = "\n".join(f"Order LK-{4_820_000 + n} was looked up on 2025-11-18." for n in range(45))


def wrong(text: str, *said: str) -> list[Ungrounded]:
    """Return values of a text as nobody has given them, with the lines that hold them."""
    found: list[Ungrounded] = []
    for value in values(text):
        if value.text in said:
            start = text.rfind("\n", 0, value.start) + 1
            stop = text.find("\n", value.stop)
            found.append(Ungrounded(value, (start, len(text) if stop < 0 else stop), "unseen"))
    assert len(found) >= len(said)
    return found


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(FIRST.replace("ESP-2002", "ESP-2200"), id="corrected"),
        pytest.param(FIRST.rpartition("\n")[0], id="without the line"),
        pytest.param(f"Here it is:\n\n{FIRST.rpartition(chr(10))[0]}", id="with a preface"),
        pytest.param(
            "LK-4821936 (EUR 349.90) arrived broken on Nov 18, 2025. RMA-90721 runs to Nov 28.",
            id="in other words and forms",
        ),
        pytest.param(
            "* 2025-11-28: RMA-90721\n* 2025-11-18: LK-4821936", id="in another order, with less"
        ),
        pytest.param(
            "La commande LK-4821936 (349,90 €) est arrivée cassée; retour RMA-90721.",
            id="in another language",
        ),
        pytest.param(f"{FIRST}\nThe address is 48 Harbour Street.", id="with more"),
    ],
)
def test_what_still_tells_what_the_first_told_is_taken(second: str) -> None:
    """In whatever form."""
    found = wrong(FIRST, "ESP-2002")
    assert is_mended(FIRST, second, found, found, [])


@pytest.mark.parametrize(
    "second",
    [
        "OK",
        "",
        "You're right, I apologize for the mistake. The value has been removed.",
        "Entschuldigung, der Wert wurde entfernt.",
        "申し訳ありません。値を削除しました。",
        "Which value should I use instead?",
        "None of these values stand in the conversation.",
        "I cannot write the record again.",
        "- ESP-2200",
        "The pump ESP-2200 is covered.",
        "ESP-2002 is not in the conversation about LK-4821936; ESP-2200 is.",
        "Dana's machine broke.",
    ],
)
def test_what_only_speaks_of_the_first_is_not(second: str) -> None:
    """Too little of what would be left without it stands in it."""
    found = wrong(FIRST, "ESP-2002")
    assert not is_mended(FIRST, second, found, found, [])


def test_half_is_enough_and_less_is_not() -> None:
    """Of the values outside of the lines that were to be mended; each counts once."""
    first = "A-101, A-102, A-101, A-101.\nA-103 and A-104.\nB-900 for A-105."
    found = wrong(first, "B-900")
    assert is_mended(first, "A-103, A-104", found, found, [])
    assert not is_mended(first, "A-103 for A-105", found, found, [])


def test_of_a_first_answer_whose_rest_holds_no_value_nothing_can_be_told() -> None:
    """There is nothing to compare, or nothing but what nobody gave."""
    for first in (
        "She was paid for A-101 by B-900.",
        "She waits.\nB-900 was sent.",
        "B-900.\nB-900",
    ):
        found = wrong(first, "B-900")
        assert is_mended(first, "She waits.", found, found, [])


def test_what_the_model_was_not_asked_about_is_to_stay() -> None:
    """A name that nobody gave is only reported: the line that holds it is to be kept."""
    first = "`get_parcel` found A-101 and A-102.\nB-900 was sent."
    found = wrong(first, "get_parcel", "B-900")
    asked = [unproven for unproven in found if unproven.value.kind == "id"]
    assert not is_mended(first, "It was sent.", asked, found, [])
    assert is_mended(first, "A-101 and A-102 were found.", asked, found, [])


def test_what_stands_under_a_wrong_line_may_go_with_it() -> None:
    """As it does where that line is dropped."""
    first = "Dana asked for LK-4821936.\n- Order B-900:\n  - A-101\n  - A-102\n  - A-103"
    found = wrong(first, "B-900")
    assert is_mended(first, "Dana asked for LK-4821936.", found, found, [])


@pytest.mark.parametrize(
    ("second", "is_one"),
    [
        pytest.param("LK-4820000 to LK-4820044 were looked up.", True, id="a range"),
        pytest.param("45 orders were looked up on 2025-11-18, LK-4820007 too.", True, id="merged"),
        pytest.param("OK", False, id="a word"),
        pytest.param("Sure, here is a shorter version.", False, id="a preface alone"),
        pytest.param("I cannot shorten this record.", False, id="a refusal"),
        pytest.param("The 45 orders were looked up.", False, id="a count alone"),
        pytest.param("Shall I shorten what I wrote of LK-4820000?", False, id="a question"),
    ],
)
def test_a_shorter_answer_names_some_of_what_the_long_one_names(second: str, is_one: bool) -> None:
    """An answer of forty-six firm values is not told by one of them."""
    assert is_shortened(LONG, second, []) == is_one


def test_three_are_enough_of_any_number_and_one_of_a_few() -> None:
    """Most of a long list may be finished."""
    many = " ".join(f"A-{n}" for n in range(100, 400))
    assert is_shortened(many, "A-100, A-200 and A-300 are left.", [])
    assert not is_shortened(many, "A-100 and A-200 are left.", [])
    assert is_shortened("A-101, A-102 and A-103 are paid. " * 500, "A-102 is paid.", [])
    assert not is_shortened("A-101, A-102 and A-103 are paid. " * 500, "All is paid.", [])


@pytest.mark.parametrize("first", ["All is well. " * 900, "There are 4711 of them. " * 900])
def test_of_a_long_answer_without_firm_values_any_shorter_one_is_taken(first: str) -> None:
    """A count may be put in words, or go."""
    assert is_shortened(first, "Nothing is new.", [])


def test_what_nobody_gave_need_not_stand_in_a_shorter_answer() -> None:
    """A model that loses its way invents the most."""
    assert is_shortened(
        "B-900 and B-901. " * 900, "OK.", wrong("B-900 and B-901.", "B-900", "B-901")
    )
    found = wrong("B-900 and A-101.", "B-900")
    assert is_shortened("B-900 and A-101. " * 900, "A-101.", found)
    assert not is_shortened("B-900 and A-101. " * 900, "B-900.", found)


def test_a_second_answer_may_tell_as_much_of_other_things() -> None:
    """Of what was mended, where the rest of the first told of something else."""
    first = "Order W1001 was cancelled.\nRMA-99999 was made for W2002."
    found = wrong(first, "RMA-99999")
    assert is_mended(first, "RMA-90721 was made for W2002.", found, found, [])
    second = "RMA-88888 was made."
    assert not is_mended(first, second, found, found, wrong(second, "RMA-88888"))
