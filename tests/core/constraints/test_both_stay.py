"""What changes an instruction without clearly taking it back: both stay, the later one behind.

Not here: what takes one back (`test_constraints_taken_back`).
"""

from __future__ import annotations

import pytest

from chatfold.core.constraints import Words, standing
from chatfold.core.constraints.languages.english import ENGLISH
from chatfold.core.views import ItemView, TextPart


def told(*texts: str) -> list[str]:
    """Return the instructions that hold behind these messages, in any language."""
    return standing([ItemView("user", (TextPart(text),)) for text in texts]).held


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Only book window seats.", "Aisle seats are fine as well."),
        ("Only book window seats.", "Aisle seats are also fine."),
        ("Delivery before 24.12.2026 only.", "Delivery after Christmas is fine too."),
        ("Ask me before you spend money.", "You don't have to ask me any more."),
        ("Ask me before you spend money.", "No need to ask me any more."),
        ("Always send me a report.", "I don't need the report any more."),
        ("Always send me a report.", "I no longer need the report."),
        ("Ruf mich nie vor 10 Uhr an.", "Du kannst mich jetzt immer anrufen."),
        ("Buche nur Plätze am Fenster.", "Plätze am Gang sind auch in Ordnung."),
        ("Buche nur Plätze am Fenster.", "Plätze am Gang gehen auch."),
        ("Schick mir immer einen Bericht.", "Ich brauche den Bericht nicht mehr."),
        ("Réserve uniquement des sièges côté fenêtre.", "Les sièges côté couloir vont aussi."),
        ("Envoie-moi toujours un rapport.", "Je n'ai plus besoin du rapport."),
        ("Solo asientos de ventana.", "Los asientos de pasillo también están bien."),
        ("Envíame siempre el informe.", "Ya no necesito el informe."),
        ("Mandami sempre il rapporto.", "Non mi serve più il rapporto."),
        ("Reserve só lugares à janela.", "Lugares no corredor também servem."),
        ("Envie-me sempre o relatório.", "Já não preciso do relatório."),
    ],
)
def test_what_allows_more_or_asks_for_less_stands_behind(rule: str, said: str) -> None:
    """And is nothing to keep without an instruction that it is about."""
    assert told(rule, said) == [rule, said]
    assert told(said) == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Schreib mir nie per Mail.", "Mails sind wieder okay."),
        ("No me llamen por teléfono, solo mensajes.", "Pueden llamarme de nuevo."),
        ("Never force-push.", "You can force push that branch now."),
    ],
)
def test_what_allows_the_same_in_another_form_stands_behind(rule: str, said: str) -> None:
    """Endings that are not listed, nouns with a capital, words that are written apart."""
    assert told(rule, said) == [rule, said]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Never contact me.", "The contract is fine as well."),
        ("Never open a port.", "Port8080 is fine as well."),
        ("Never open port8080.", "Ports are fine as well."),
        ("Never restart db-4430.", "Now db-4431 is fine as well."),
        ("Never play.", "The plaintiff is fine as well."),
    ],
)
def test_what_only_begins_alike_is_about_something_else(rule: str, said: str) -> None:
    assert told(rule, said) == [rule]


@pytest.mark.parametrize(
    "said",
    [
        "Switch back to English please.",
        "Ok, back to English please.",
        "Please go back to English.",
        "Wechsle bitte wieder zu Deutsch.",
        "Bitte wieder auf Deutsch.",
        "Reviens au français s'il te plaît.",
        "Repasse à l'anglais.",
        "Vuelve al español, por favor.",
        "Torna all'italiano per favore.",
        "Torna al tedesco.",
        "Volte ao português, por favor.",
        "Volte para o inglês.",
        "Switch to French.",
        "Please switch to Polish from now on.",
        "Wechsle zu Französisch.",
        "Schalte bitte auf Englisch um.",
        "Passe à l'anglais.",
        "Passez au français s'il vous plaît.",
        "Cambia al inglés, por favor.",
        "Passa all'inglese.",
        "Passi al tedesco, per favore.",
        "Mude para o inglês.",
        "Mude para francês, por favor.",
        "Ga over op het Frans.",
        "Schakel over op Engels alsjeblieft.",
    ],
)
def test_a_language_to_go_back_to_holds_from_now_on(said: str) -> None:
    """It has no word in common with the language before."""
    rule = "Write everything in Swedish from now on."
    assert told(rule, said) == [rule, said]


@pytest.mark.parametrize(
    "said",
    [
        "Please email Bob the report.",
        "Switch back to main.",
        "Switch back to the English version.",
        "Go back to English class.",
        "Translate it back to English.",
        "That's fine too.",
        "I'm fine as well.",
        "No need to rush.",
        "Morning flights are fine as well.",
        "Das geht auch.",
        "Übersetze es zurück ins Deutsche.",
        "Der Laden ist jetzt recht voll.",
        "Reviens au début.",
        "Vuelve al menú.",
        "Torna al menu.",
        "Volte ao início.",
        "Switch to English class.",
        "Switch to French press coffee.",
        "Passe au français suivant.",
        "Schalte auf Englisch geschulte Kollegen auf.",
        "Passa al tedesco della camera 4.",
    ],
)
def test_what_sounds_alike_is_no_instruction(said: str) -> None:
    """It is about something else, or for once."""
    rules = ["Only book window seats.", "Never call me."]
    assert told(*rules, said) == rules


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Ask me before you spend money.", "No need to ask me before spending money any more."),
        ("Ask me before you email Bob.", "There's no need to ask me before you email Bob."),
    ],
)
def test_who_names_all_of_it_takes_it_back(rule: str, said: str) -> None:
    """Then nothing is in doubt."""
    assert told(rule, said) == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Ask me before you email Bob.", "No need to ask me before you email Bob this time."),
        ("Ask me before you email Bob.", "You don't need to ask me before you email Bob for once."),
        ("Never push to main.", "For now, you can push to main again."),
        ("Ruf Anna nie an.", "Du kannst Anna diesmal wieder anrufen."),
    ],
)
def test_what_is_said_for_once_takes_nothing_back(rule: str, said: str) -> None:
    """The next time it holds again."""
    assert told(rule, said) == [rule, said]


def test_the_part_of_a_verb_that_stands_apart_is_one_of_its_forms() -> None:
    """In a language of the caller's, too."""
    dutch = Words(
        orders=("bel * nooit",),
        permits=("je mag",),
        common=("je|mag|me|nu|nooit|altijd|voor|op",),
        endings=("|len",),
        prefixes=("op",),
    )
    rule, said = "Bel me nooit op.", "Je mag me nu opbellen."
    views = [ItemView("user", (TextPart(text),)) for text in ("Je mag Anna bellen.", rule, said)]
    assert standing(views, words=dutch).held == [rule, said]
    assert ENGLISH.prefixes == ()
