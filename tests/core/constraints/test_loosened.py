"""What loosens an instruction without its words: it takes nothing back, and stands behind.

Not here: what shares a word with the instruction (`test_both_stay`), what takes one back
(`test_taken_back`).
"""

from __future__ import annotations

import pytest

from chatfold.core.constraints import Words, remarks_of, standing
from chatfold.core.views import ItemView, Role, TextPart


def told(*texts: str) -> list[str]:
    """Return the instructions that hold behind these messages, in any language."""
    return standing([view(text) for text in texts]).held


def view(text: str, role: Role = "user") -> ItemView:
    return ItemView(role, (TextPart(text),), role, "openai_chat")


LOOSENED = [
    ("Never call me before 9.", "Any time is fine now."),
    ("Do not ring me after 8 pm.", "Feel free to try in the evening."),
    ("No deliveries before noon.", "Mornings work as well these days."),
    ("No deliveries on Saturdays.", "Weekends work for us now, too."),
    ("Only contact me by email, please.", "By the way, phoning is ok too now."),
    ("Always answer in German.", "English is fine again."),
    ("Always answer in German.", "Let's switch to English."),
    ("Stay under 500 dollars.", "The budget doesn't matter anymore."),
    ("Please keep every answer to one sentence.", "You can go into more detail from here on."),
    ("Check with me before each deploy.", "No need to ask any more."),
    # a part of it, or on a condition
    ("Never commit to main.", "For docs you can commit to main directly."),
    ("Never call me in the morning.", "If it's urgent you can call at 8 though."),
    ("Don't touch the config folder.", "You may edit config/dev.yaml though."),
    ("Never book anything over 150 euros.", "For the Paris trip, up to 200 is fine."),
    ("Never send a technician before 2 pm.", "Technicians may come in the morning now."),
    ("Never email me, text only.", "You may email me after all."),
    ("Rufen Sie mich nie vor 9 Uhr an.", "Inzwischen passt es mir jederzeit."),
    ("Rufen Sie mich bitte nicht nach 20 Uhr an.", "Abends ist jetzt auch in Ordnung."),
    ("Schreib mir nur per Mail.", "Telefonisch geht jetzt auch."),
    ("Nie mehr als 500 Euro ausgeben.", "Der Preis spielt keine Rolle mehr."),
    ("Ändere nie die Dateien in config.", "Die dev.yaml in config darfst du aber ändern."),
    ("Kein Erdgeschoss, bitte.", "Ein Erdgeschoss wäre inzwischen auch in Ordnung."),
    ("Ne m'appelez jamais avant 9 heures.", "N'importe quand, ça me va maintenant."),
    ("Contactez-moi uniquement par mail.", "Le téléphone me convient aussi désormais."),
    ("Ne dépasse jamais 500 euros.", "Le prix n'a plus d'importance."),
    ("Ne livrez jamais chez le voisin.", "Vous pouvez livrer chez le voisin finalement."),
    ("No me llamen nunca antes de las 9.", "Ahora me va bien a cualquier hora."),
    ("Respóndeme siempre en una sola frase.", "Puedes dar más detalles."),
    ("Non chiamatemi dopo le 20.", "La sera adesso va bene."),
    ("Non spendere mai più di 150 euro.", "Per Parigi puoi arrivare a 200."),
    ("Nunca me ligue antes das 9.", "Agora qualquer hora serve."),
    ("Sempre me pergunte antes de pagar.", "Não precisa mais me consultar."),
    ("Bel me nooit voor 9 uur.", "Nu mag het op elk moment."),
    ("Schrijf alleen korte antwoorden.", "Je mag nu uitgebreider zijn."),
]


@pytest.mark.parametrize(("rule", "said"), LOOSENED)
def test_what_speaks_of_the_same_in_other_words_stands_behind(rule: str, said: str) -> None:
    assert told(rule, said) == [rule, said]


@pytest.mark.parametrize(("rule", "said"), LOOSENED)
def test_what_loosens_is_nothing_without_an_instruction(rule: str, said: str) -> None:
    assert told(said) == []
    assert told(said, rule) == [rule]
    assert remarks_of(view(said))


def test_a_message_that_may_loosen_is_known_before_its_sentences_are_read() -> None:
    """Else a fold would not look at it; nor does one that knows of nothing to loosen."""
    assert [remark.may.alone for remark in remarks_of(view("either works")) or ()] == [False]


@pytest.mark.parametrize(("rule", "said"), LOOSENED)
def test_only_the_user_loosens(rule: str, said: str) -> None:
    """Not who asks, who reports, nor another's mail."""
    others = [view(rule), view(said, "assistant"), view(said, "tool")]
    assert standing(others).held == [rule]
    pasted = f"Can you sum this up?\nFrom: Bob\nTo: Ann\n\n{said}"
    assert told(rule, pasted) == [rule]
    assert told(rule, f"{said.rstrip('.')}?") == [rule]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Stay under 500 dollars.", "They said the price doesn't matter."),
        ("Never call me before 9.", "The meeting is at 10 am now."),
        ("Never call me before 9.", "I hope you can help me with that."),
        ("Never call me before 9.", "You can help me with that."),
        ("Never call me before 9.", "Tell me what you can do about the calls."),
        ("Always answer in German.", "We can translate later."),
        ("Please keep every answer to one sentence.", "We can book one of them."),
        ("Ask me before every commit.", "Please go ahead and cancel it."),
        ("Keep it under 100 dollars.", "It doesn't matter which color."),
        ("Don't spend more than $200.", "May 24 works."),
        ("Never delete /srv/a.", "You can read /srv/b."),
        ("Ruf mich nie vor 9 Uhr an.", "Der Termin ist jetzt um 10 Uhr."),
        ("Nie mehr als 500 Euro ausgeben.", "Der Preis ist jetzt höher als vorher."),
        ("Ne dépasse jamais 500 euros.", "Le prix est plus élevé maintenant."),
        ("Demande-moi avant chaque commit.", "On peut continuer demain."),
        ("No entreguen nunca los sábados.", "La entrega ya está pagada."),
        ("Non spendere mai più di 500 euro.", "Il prezzo adesso è più alto."),
        ("Nunca gaste mais que 500 euros.", "O preço agora está mais alto."),
        ("Geef nooit meer dan 500 euro uit.", "De prijs is nu hoger."),
    ],
)
def test_what_is_about_something_else_leaves_the_instruction_alone(rule: str, said: str) -> None:
    assert told(rule, said) == [rule]


UNNAMED = [
    "That rule no longer applies.",
    "You can ignore that rule now.",
    "Scrap that, you may install requests.",
    "That restriction has been lifted.",
    "Diese Regel gilt nicht mehr.",
    "Vergiss die Vorgabe.",
    "Cette règle n'est plus valable.",
    "Esa regla ya no vale.",
    "Dimentica quella regola.",
    "Essa regra já não vale.",
    "Die regel geldt niet meer.",
]


@pytest.mark.parametrize("said", UNNAMED)
def test_what_names_nothing_stands_behind_the_only_instruction(said: str) -> None:
    """Behind several, it would say of each that it no longer holds."""
    rules = ["Never use third-party packages.", "Never touch the build."]
    assert told(rules[0], said) == [rules[0], said]
    assert told(*rules, said) == rules


@pytest.mark.parametrize(
    "said",
    [
        "Forget it, I do it myself.",
        "Never mind, I found it.",
        "The discount no longer applies.",
        "Vergiss es, ich mach das selbst.",
        "Laisse tomber, je le fais moi-même.",
        "Olvídalo, lo hago yo.",
        "Lascia perdere, lo faccio io.",
        "Esquece, eu faço.",
        "Laat maar, ik doe het zelf.",
    ],
)
def test_what_gives_up_a_request_says_nothing_of_an_instruction(said: str) -> None:
    """It would look as if the instruction were lifted."""
    assert told("Never use third-party packages.", said) == ["Never use third-party packages."]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Never call Anna.", "I may call Anna now."),
        ("Never call Anna.", "He may call Anna now."),
        ("Never delete the logs.", "We may delete the logs."),
        ("Never pay the invoice.", "You may pay the invoice."),
        ("No me llamen.", "Ya me pueden llamar por la tarde."),
    ],
)
def test_what_may_allow_takes_nothing_back(rule: str, said: str) -> None:
    """In all of its words, too: "may" is also what might come."""
    assert told(rule, said)[0] == rule


def test_what_loosens_pushes_no_instruction_out() -> None:
    rules = [f"Never call person{i} before {i}." for i in range(40)]
    assert told(*rules) == rules
    assert told(*rules, "Any time is fine now.") == rules


def test_topics_are_for_languages_of_the_caller_too() -> None:
    swedish = Words(
        orders=("ring * aldrig",),
        loosens=("* går bra",),
        unnamed=("glöm den regeln",),
        topics=("före|efter # / när som helst", "engelska / svenska"),
    )
    rule, said = "Ring mig aldrig före 9.", "När som helst går bra."
    views = [view(text) for text in (rule, "Engelska går bra.", said)]
    assert standing(views, words=swedish).held == [rule, said]
    back = [view(text) for text in (rule, "Glöm den regeln.")]
    assert standing(back, words=swedish).held == [rule, "Glöm den regeln."]


def test_a_phrase_of_a_topic_that_cannot_be_read_is_named() -> None:
    with pytest.raises(ValueError, match=r"topics: 'a\[b' has a \["):
        Words(orders=("never",), topics=("any time / a[b",))


WAITING = [
    ("Don't send it yet, I want to check the address first.", "Ok, send it."),
    ("Do not deploy yet, I need to read the diff.", "Deploy."),
    ("Don't submit the form until I've checked it.", "Submit it."),
    ("Don't merge it yet.", "Looks good, merge it."),
    ("Don't book anything yet.", "Great, please book the first one."),
    ("Schick es noch nicht ab, ich will erst die Adresse prüfen.", "Ok, schick es ab."),
    ("Ne l'envoie pas encore, je veux vérifier l'adresse.", "Parfait, envoie-le."),
    ("No lo envíes todavía, quiero revisar la dirección.", "Vale, envíalo."),
    ("Non inviarlo ancora, voglio controllare l'indirizzo.", "Ok, invialo."),
    ("Não reserve nada ainda.", "Perfeito, reserve o primeiro."),
    ("Boek nog niets.", "Prima, boek de eerste."),
]


@pytest.mark.parametrize(("rule", "said"), WAITING)
def test_what_asks_for_what_was_to_wait_stands_behind(rule: str, said: str) -> None:
    assert remarks_of(view(said)) is not None
    assert told(rule, said) == [rule, said]
    assert told(said, rule) == [rule]
    assert told(rule, f"{said.rstrip('.')}?") == [rule]


@pytest.mark.parametrize(
    "said",
    [
        "Did you send it?",
        "I'll send it myself.",
        "The invoice is wrong.",
        "Invoice 331 is wrong.",
        "He writes this:\nSend it to Bob.",
    ],
)
def test_what_is_not_asked_for_leaves_what_waits_alone(said: str) -> None:
    assert told("Don't send the invoice yet.", said) == ["Don't send the invoice yet."]


def test_what_holds_for_good_is_not_gone_on_with() -> None:
    assert told("Never email Bob.", "Email Ann now.") == ["Never email Bob."]
    rules = ["Schick es noch nicht.", "Schick es nicht an Bob.", "Schick es nicht an Kim."]
    assert told(*rules, "Ok, schick es.") == [*rules, "Ok, schick es."]


def test_two_sentences_at_most_go_on_with_what_waited() -> None:
    """All that is sent afterwards has nothing to do with it."""
    asked = [f"Great news, send {name} the offer." for name in ("Ann", "Bob", "Kim")]
    assert told("Don't send it yet.", *asked) == ["Don't send it yet.", *asked[:2]]


def test_what_goes_on_pushes_no_instruction_out() -> None:
    rules = ["Don't send it yet.", *(f"Never call person{i} before {i}." for i in range(39))]
    assert told(*rules, "Ok, send it.") == rules


# --- many of them ---------------------------------------------------------------------------------


def test_what_loosens_an_instruction_is_pushed_out_before_it() -> None:
    """The next instruction makes room for itself: not at the expense of those that hold."""
    rule, last = "Only contact me by email.", "Always answer in German."
    held = told(rule, *(f"You can call person {n} now." for n in range(40)), last)
    assert {rule, last} <= {*held}
    assert len(held) == 40


def test_what_stands_beside_an_instruction_draws_no_others_behind_it() -> None:
    """Each of these shares a word with the one before it alone."""
    rule = "Never call me before 9."
    chain = [
        "You can call the hotel now.",
        "You can book the hotel for Friday.",
        "You can pay the Friday invoice.",
        "You can send the invoice to Tom.",
        "We can meet Tom in Bern now.",
    ]
    assert told(rule, *chain) == [rule, chain[0]]


def test_what_is_to_wait_is_gone_on_with_behind_what_was_held_before() -> None:
    """Whether something waits is looked for anew when other instructions hold."""
    said = ["Never email Bob.", "What is new?", "Don't merge it yet.", "Looks good, merge it."]
    assert told(*said) == [said[0], *said[2:]]
