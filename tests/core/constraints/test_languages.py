"""Standing instructions in several languages at once, as conversations are that nobody announced.

Not here: what is found in each of the languages (`test_constraints_german` and the others).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import shared_directory

from chatfold.core.constraints import Words, remarks_of, standing
from chatfold.core.constraints.languages import LANGUAGES
from chatfold.core.constraints.languages.english import ENGLISH
from chatfold.core.constraints.languages.french import FRENCH
from chatfold.core.constraints.languages.italian import ITALIAN
from chatfold.core.constraints.languages.spanish import SPANISH
from chatfold.core.constraints.words import (
    asking_marks_of,
    lifting_marks_of,
    telling_marks_of,
)
from chatfold.core.views import ItemView, TextPart

RULES = (
    "Bel me nooit op zondag.",
    "Rufen Sie mich bitte nie vor 9 Uhr an.",
    "Never call me on Sundays.",
    "Ne m'appelez jamais après 20 heures.",
    "Responde siempre en español.",
    "Non chiamatemi mai al lavoro.",
    "Não reserve nada sem a minha autorização.",
)
PLAIN = (
    "Mijn pakket is nooit aangekomen.",
    "Ik wilde alleen vragen waar mijn bestelling is.",
    "Das Paket ist nie angekommen.",
    "Je voulais seulement demander où est ma commande.",
    "Non merci, c'est tout.",
    "Solo quería preguntar dónde está mi pedido.",
    "Solo necesito el número de seguimiento.",
    "Compré tres, pero solo vinieron dos.",
    "No llegaron todas las piezas.",
    "Sempre quis visitar os Açores.",
    "Il pacco non è mai arrivato.",
    "Só queria perguntar onde está o meu pedido.",
    "No thanks, that's all.",
    "Don't be sorry!",
    "Don't mention it.",
    "Please don't hesitate to tell me if you need anything.",
    "Machen Sie sich keine Sorgen.",
    "Kein Problem, machen Sie sich keine Mühe.",
    "Siempre un placer.",
    "Sempre um prazer.",
)


def view(text: str) -> ItemView:
    """Return a user's message."""
    return ItemView("user", (TextPart(text),), "user", "openai_chat")


def test_each_message_is_read_in_every_language_and_in_the_order_of_time() -> None:
    for said in (RULES, RULES[::-1]):
        assert standing(map(view, said)).held == [*said]


def test_several_languages_may_be_spoken_in_one_message() -> None:
    assert set(standing([view(" ".join(RULES))]).held) == set(RULES)


@pytest.mark.parametrize("said", RULES)
def test_a_message_that_instructs_is_known_before_its_sentences_are_read(said: str) -> None:
    assert any(remark.may.alone for remark in remarks_of(view(said)) or ())
    assert not remarks_of(view("LK-4000001?"))
    assert not remarks_of(ItemView("assistant", (TextPart(said),), "assistant", "openai_chat"))


@pytest.mark.parametrize("said", PLAIN)
def test_what_is_none_in_its_own_language_is_none_in_another(said: str) -> None:
    """`solo`, `non`, `nunca` and `no` are words of several."""
    assert standing([view(said)]).held == []


def test_a_sentence_is_read_in_the_language_that_its_words_are_of() -> None:
    """Alone, Italian would take the Spanish one for an order."""
    said = "Solo quería preguntar dónde está mi pedido."
    assert standing([view(said)], words=ITALIAN).held == []
    assert standing([view("Solo via email.")], words=ITALIAN).held == ["Solo via email."]


def test_a_rule_is_taken_back_in_another_language_where_it_is_named() -> None:
    """What is a path or a name in one language is one in the others."""
    rules = ["Never touch /srv/prod.", "Never touch /srv/stage."]
    said = [*rules, "Vergiss, was ich über /srv/prod gesagt habe."]
    found = standing(map(view, said))
    assert (found.held, found.lifted) == (rules[1:], rules[:1])


@pytest.mark.parametrize(
    ("words", "rule", "back"),
    [
        (FRENCH, "Pas d'emojis dans les réponses.", "Oublie la règle sur les emojis."),
        (FRENCH, "Pas d'emojis dans les réponses.", "Oublie ce qu'on a dit sur les emojis."),
        (ITALIAN, "Rispondi sempre in inglese.", "Dimentica la regola dell'inglese."),
    ],
    ids=["French", "French, a common word", "Italian"],
)
def test_what_is_elided_before_a_word_says_nothing_of_it(
    words: Words, rule: str, back: str
) -> None:
    assert standing([view(rule)], words=words).held == [rule]
    assert standing([view(rule), view(back)], words=words).lifted == [rule]


def test_spanish_opens_a_sentence_with_its_mark() -> None:
    for said in ("¡Pregúntame antes de borrar nada!", "Hola. ¡Prefiero asiento de pasillo!"):
        assert standing([view(said)], words=SPANISH).held == [said.removeprefix("Hola. ")]


def test_few_words_of_a_language_of_the_caller_s_are_enough() -> None:
    """A built-in language that has more words of the sentence does not stand in their way."""
    polish = Words(orders=("nigdy",))
    said = "Nigdy nie me la non bitte please."
    assert standing([view(said)], words=[*LANGUAGES, polish]).held == [said]


EVERYDAY = """
    a about all an and are arrive as at be budget but by can change check come data die do for
    from have i important in is it just main make me message messages more most my no not of on
    only or our out permission plus so stop suite that the these this to trip us use was we were
    will with you your
"""


@pytest.mark.parametrize("words", [words for words in LANGUAGES if words is not ENGLISH])
def test_everyday_words_of_english_have_no_text_read_in_another_language(words: Words) -> None:
    """That would cost each fold of each English conversation."""
    kinds = [of(words) for of in (telling_marks_of, asking_marks_of, lifting_marks_of)]
    told_by = [word for marks in kinds for word in (marks.words if marks else EVERYDAY)]
    assert frozenset(told_by).isdisjoint(EVERYDAY.split())
    assert len(frozenset(told_by)) > 100


def _said() -> Iterator[str]:
    for name in ("openai_chat", "openai_responses", "anthropic"):
        path = shared_directory() / "corpus" / f"{name}.jsonl"
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                items: list[dict[str, Any]] = json.loads(line)["items"]
                for item in items:
                    content = item.get("content") if item.get("role") == "user" else None
                    blocks: Any = [{"text": content}] if isinstance(content, str) else content
                    yield from (b["text"] for b in blocks or () if isinstance(b.get("text"), str))


@pytest.mark.skipif(
    not (shared_directory() / "corpus").is_dir(),
    reason="no corpus beside the checkout; set CHATFOLD_SHARED",
)
def test_in_english_conversations_the_other_languages_find_nothing() -> None:
    """Real ones; names, code and dishes in other languages are among them."""
    views = [view(text) for text in _said()]
    assert len(views) > 1000
    found = [(one, standing([one]).held, standing([one], words=ENGLISH).held) for one in views]
    assert [one for one, every, english in found if every != english] == []
    assert sum(bool(english) for _, _, english in found) > 50
