"""Which sentences are read at all: by their words alone, before any phrase is looked for.

Not here: what is then found in them (`test_constraints`, and those of the other languages).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import zip_longest
from types import FrameType

import pytest

from chatfold.core.constraints import Standing, Words, remarks_of, standing, standing_by
from chatfold.core.constraints.languages import LANGUAGES
from chatfold.core.constraints.languages.english import ENGLISH
from chatfold.core.constraints.speech import words_of
from chatfold.core.constraints.words import (
    Marks,
    asking_marks_of,
    compiled,
    correcting_marks_of,
    lifting_marks_of,
    loosening_marks_of,
    telling_marks_of,
)
from chatfold.core.views import ItemView, TextPart


def view(text: str) -> ItemView:
    """Return a user's message."""
    return ItemView("user", (TextPart(text),), "user", "openai_chat")


def _of(words: Words) -> Iterator[tuple[Marks | None, tuple[str, ...]]]:
    """Yield the marks of a language, each with the phrases that they are of."""
    yield telling_marks_of(words), (*words.orders, *words.always, *words.limits, *words.bounds)
    yield asking_marks_of(words), words.asking
    yield lifting_marks_of(words), (*words.takes_back, *words.allows, *words.permits)
    yield loosening_marks_of(words), (*words.loosens, *words.unnamed)
    yield correcting_marks_of(words), words.corrects


def _said(phrase: str) -> Iterator[str]:
    """Yield texts with a phrase, so that each word that may stand in it does in one of them."""
    groups = [group.split("|") for group in phrase.split() if group not in ("_", ".")]
    for words in zip_longest(*groups):
        chosen = [own or group[0] for own, group in zip(words, groups, strict=True) if own != "."]
        plain = ["seven" if word == "*" else word for word in chosen]
        bare = " ".join(w.replace("#", "7").replace("*", "s") for w in plain)
        yield from (f"{before}{bare}{behind}" for before, behind in (("", "."), ("(", ", ok?")))


@pytest.mark.parametrize("words", LANGUAGES)
def test_a_text_with_a_phrase_is_one_that_may_have_it(words: Words) -> None:
    """Else an instruction would be lost before anyone looks for it."""
    found = 0
    for marks, phrases in _of(words):
        for phrase in phrases:
            for said in filter(compiled([phrase]).search, _said(phrase)):
                assert marks is None or marks.may_be_in(words_of(said)), (phrase, said)
                found += 1
    assert found > 500


def test_one_word_of_a_phrase_is_not_the_phrase() -> None:
    marks = telling_marks_of(Words(orders=("do not|never call|ring", "only")))
    assert marks is not None
    assert marks.may_be_in(words_of("Do not ring me."))
    assert marks.may_be_in(words_of("Only today."))
    assert not marks.may_be_in(words_of("Did it ring? Do tell me."))
    assert not marks.may_be_in(words_of("I will not do it."))
    assert marks.words >= {"call", "ring", "only"}


def _called(name: str, texts: list[str], words: Words) -> int:
    """Return how often a function is called when messages are read."""
    return _counted(name, lambda: standing([view(text) for text in texts], words=words))


def _counted(name: str, read: Callable[[], object]) -> int:
    """Return how often a function is called when another one is."""
    called = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal called
        called += event == "call" and frame.f_code.co_qualname == name

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        read()
    finally:
        sys.setprofile(before)
    return called


def _read(texts: list[str], words: Words) -> int:
    """Return how many sentences of messages are read for what they do to instructions."""
    return _called("SentenceReader.hold", texts, words)


def test_sentences_that_only_share_a_word_with_a_phrase_are_not_read() -> None:
    """A fold of real talk would read most of it, as it did."""
    marks = telling_marks_of(ENGLISH)
    assert marks is not None
    asked = ["I would want it sent again.", "My name is Ann, and here is my number."]
    assert not any(marks.words.isdisjoint(words_of(text)) for text in asked)
    assert _read(asked * 3, ENGLISH) == 0
    assert _read(["Never call me."], ENGLISH) == 1


def test_who_corrects_an_instruction_is_read_where_one_is_held() -> None:
    """The sentence has a word of an instruction's phrase, not the phrase, and a new number."""
    common = ("always|actually|things",)
    words = Words(orders=("always|keep things",), corrects=("actually",), common=common)
    first, anew = "Always things: bring 5 spoons.", "Actually, things: bring 7 spoons."
    assert standing([view(first), view(anew)], words=words).held == [anew]
    assert standing([view(anew)], words=words).held == []
    assert standing([view(first), view(anew.replace("Actually", "And"))], words=words).held == [
        first
    ]
    assert _read([first, anew.replace("Actually", "And")], words) == 1


def test_a_word_that_ends_in_an_apostrophe_is_no_word_to_look_for() -> None:
    words = Words(orders=("po' sempre",))
    assert standing([view("Po' sempre aperto.")], words=words).held == ["Po' sempre aperto."]
    said = ["Non prenotare ancora.", "Mia figlia e' celiaca."]
    assert standing(map(view, said)).held == said
    assert standing([view(said[1])]).held == said[1:]


def test_whether_a_mail_is_pasted_is_looked_for_once_in_a_message() -> None:
    """A message with a thousand rules took seconds, as it was looked through for each of them."""
    rules = "".join(f"Never use module {number}.\n" for number in range(30))
    assert _called("Message._is_mail", [rules], ENGLISH) == 1


def test_a_language_of_the_callers_is_read_alone_beside_what_is_known() -> None:
    """With one a fold read each message in all languages, and what was known went for nothing."""
    own = Words(orders=("aldrig",))
    texts = ["Never call me.", "Aldrig ringa. Always mail me.", "Thanks.", "Non chiamarmi mai."]
    views = [view(text) for text in texts]
    known = [(each, remarks_of(each)) for each in views]
    found: list[Standing] = []
    count = _counted("Lexicon.may", lambda: found.append(standing_by(known, words=[own])))
    assert count == len(texts) + 2  # each message once, and the sentences of the one that it is in
    assert found == [standing(views, words=(*LANGUAGES, own))]
    said = {"Never call me.", "Aldrig ringa.", "Always mail me.", texts[3]}
    assert set(found[0].held) == said


def test_a_message_of_a_word_may_say_something_in_a_language_of_the_callers() -> None:
    """In those built in, a word of less than three letters says nothing."""
    own = Words(orders=("不|ei",))
    said = ["Ei me ok.", "不 可 以。"]
    views = [view(text) for text in (*said, "42")]
    known = [(each, remarks_of(each)) for each in views]
    assert all(remarks is None for _, remarks in known)
    assert standing_by(known, words=[own]) == standing(views, words=(*LANGUAGES, own))
    assert standing_by(known, words=[own]).held == said


def test_what_is_known_of_a_message_is_what_the_whole_of_it_says() -> None:
    """Also where an instruction begins to wait, or no longer waits, in the middle of a message."""
    said = [
        "Send my ticket. Don't send the invoice yet. It is for Ann.",
        "Send the bill.",
        "Thanks. Send it. Do not book it yet, please. Ok, book it. And send it to Bob.",
        "Can you send it?",
        "Any time is fine. Send the invoice. From now on call me at 9.",
        "Fine\nActually, from now on call me at 10.\nNever call Ann.",
    ]
    views = [view(text) for text in said]
    known = [(each, remarks_of(each) or ()) for each in views]
    for earlier in ([], ["Don't ship it until I say so."], ["Never call me before 9."]):
        for start in range(len(views)):
            by_remarks = standing_by(known[start:], earlier=earlier)
            assert by_remarks == standing(views[start:], earlier=earlier)
    assert [len(remarks) for _, remarks in known] == [1, 0, 1, 1, 2, 2]
    assert standing_by(known) == Standing(
        held=[
            "Don't send the invoice yet.",
            "Send the bill.",
            "Send it.",
            "Do not book it yet, please.",
            "Ok, book it.",
            "Actually, from now on call me at 10.",
            "Never call Ann.",
        ],
        lifted=["From now on call me at 9."],
    )
