"""Values of a sentence that denies something: the record never says the contrary of it."""

from __future__ import annotations

from typing import Any

import pytest

from chatfold import ChatContext
from chatfold.core.recording.denials import qualifies

DENYING = [
    "I won't be home on 2026-12-08",
    "i wont be home on 2026-12-08",
    "I did not authorize the charge of 349.90 EUR",
    "I have not received the refund of 49.90 EUR yet",
    "It is not allowed to exceed 40 cm",
    "I was told that you don’t ship to 97205",
    "Nobody but me may change the appointment on 2026-12-08",
    "um yeah so like never call me before 10 am okay",
    "Ich bin am 2026-12-08 nicht zu Hause",
    "Am 2026-12-08 ist bei uns niemand da",
    "Ich habe keine Rechnung über 49,90 EUR bekommen",
    "Je ne serai pas chez moi le 2026-12-08",
    "No estaré en casa el 2026-12-08",
    "Não estarei em casa no dia 2026-12-08",
    "Non sarò a casa il 2026-12-08",
    "Ik ben op 2026-12-08 niet thuis",
    "Nie będzie mnie w domu 2026-12-08",
    "Jag är inte hemma 2026-12-08",
    "Меня не будет дома 2026-12-08",
    "私は2026-12-08に家にいません",
    "我 2026-12-08 不在家",
]
AFFIRMING = {
    "I will be home on 2026-12-08": "be home on 2026-12-08",
    "Please see my order no. 4711 of 349.90 EUR": "4711, of 349.90 EUR",
    "Wir kommen am 5. Mai zu zweit": "Wir kommen am 5. Mai",
}


def record(said: str, role: str = "user") -> str:
    """Return the values part of the record, where a summary says nothing of what was said."""
    other = {"user": "assistant", "assistant": "user"}[role]
    talk: list[dict[str, Any]] = [{"role": "user", "content": "Hello."}] * (role == "assistant")
    talk += [{"role": role, "content": said}, {"role": other, "content": "I see."}]
    for _ in range(8):
        talk += [
            {"role": "user", "content": "hm " * 100},
            {"role": "assistant", "content": "ah " * 100},
        ]
    ChatContext(talk).summarize(lambda prompt: "They talked.", keep_last_turns=1)
    return str(talk[0]["content"]).partition("values:\n")[2].partition("\n</record>")[0]


@pytest.mark.parametrize("said", DENYING)
def test_a_value_stands_in_the_sentence_that_denies(said: str) -> None:
    assert qualifies(said)
    for role in ("user", "assistant"):
        assert said in record(f"Good morning. {said}. Is that clear?", role).replace('"', "")


@pytest.mark.parametrize(
    "said",
    [
        "If the parcel is over 20 kg, send it back",
        "The fee is waived if the balance stays above 1,000 EUR",
        "Nehmen Sie es, falls der Preis unter 20 EUR fällt",
        "Si el precio baja de 20 EUR, compre dos",
    ],
)
def test_a_value_stands_in_the_sentence_with_its_condition(said: str) -> None:
    for role in ("user", "assistant"):
        assert said in record(f"Good morning. {said}. Good bye.", role).replace('"', "")


def test_a_few_words_of_a_question_ask() -> None:
    """Else what was asked would read as if it were so."""
    assert record("And was I charged twice on 2026-05-05? Bye.") == (
        "- user: charged twice on 2026-05-05?"
    )
    assert record("Why? I was charged twice on 2026-05-05. Well?") == (
        "- user: charged twice on 2026-05-05"
    )
    assert record("二回請求されたのは 2026-05-05 ですか？はい。").endswith("2026-05-05?")


@pytest.mark.parametrize(("said", "told"), AFFIRMING.items())
def test_of_other_sentences_a_few_words_are_enough(said: str, told: str) -> None:
    assert record(f"{said}.") == f"- user: {told}"


def test_another_sentence_that_denies_is_none_of_it() -> None:
    assert record("That was not nice. I will be home on 2026-12-08.") == (
        "- user: be home on 2026-12-08"
    )


def test_where_the_sentence_is_too_long_the_value_stands_alone() -> None:
    """Unless what denies is in the same part of it."""
    filler = ", as I told your colleagues on the phone and in the shop downtown where I bought it"
    far = f"I will never ever again{filler * 2}, be home on 2026-12-08."
    assert record(far) == "- user: 2026-12-08"
    near = f"As I said{filler * 2}, and nobody at all will be home on 2026-12-08."
    assert record(near) == "- user: and nobody at all will be home on 2026-12-08"
