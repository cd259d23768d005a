"""Standing instructions in German: found, told from what only looks alike, and taken back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chatfold.core.constraints import Standing, standing
from chatfold.core.constraints.languages.german import GERMAN
from chatfold.core.views import ItemView, TextPart

KEPT = (
    "Schreib Commit-Nachrichten im Imperativ.",
    "Funktionen nicht länger als 40 Zeilen.",
    "Tests dürfen nicht ins Netz.",
    "Schreib Commit-Messages auf Englisch.",
    "Alle Angaben bitte in Litern.",
    "Ich möchte nur per E-Mail kontaktiert werden.",
    "Nennen Sie mich bitte Frau Keller.",
    "Alle Tests gehören nach tests/unit.",
    # contact
    "Bitte rufen Sie mich nie vor neun Uhr an.",
    "Ruf mich bitte nicht mehr auf dem Festnetz an.",
    "Keine Anrufe am Sonntag bitte.",
    "Kontaktieren Sie mich ausschließlich per E-Mail.",
    "Am besten erreichen Sie mich abends nach 18 Uhr.",
    "Ich will nicht mehr angerufen werden.",
    "Telefonisch bin ich erst ab 16 Uhr erreichbar.",
    "Hinterlassen Sie keine Nachrichten bei meiner Frau.",
    "Montags geht gar nicht.",
    # what somebody needs or would like
    "Ich bin allergisch gegen Nüsse.",
    "Meine Tochter hat eine Nussallergie.",
    "Wir sind Vegetarier.",
    "Ich esse kein Fleisch.",
    "Ich sitze im Rollstuhl.",
    "Mir wäre ein Gangplatz lieber.",
    "Mir wäre es lieber, wenn Sie mich erst nach 17 Uhr anrufen.",
    "Ich hätte gern immer einen Fensterplatz.",
    "Nachtflüge kommen für mich nicht in Frage.",
    "Lieferung nur vormittags.",
    "Pakete bitte nicht vor der Tür abstellen.",
    # money
    "Mein Budget liegt bei 800 Euro.",
    "Mehr als 50 Euro möchte ich nicht ausgeben.",
    "Nichts über 200 Dollar pro Nacht.",
    "Preise bitte immer in Euro angeben.",
    # asked before
    "Frag mich, bevor du etwas bestellst.",
    "Ohne meine Freigabe wird nichts bezahlt.",
    "Warte mit der Buchung, bis ich zugestimmt habe.",
    "Alles über 100 Euro muss ich vorher absegnen.",
    "Im Zweifel immer fragen.",
    "Erst fragen, dann buchen.",
    "Sie dürfen meine Kreditkarte nicht ohne Rückfrage belasten.",
    # how to answer
    "Fass dich kurz.",
    "Bitte antworten Sie nur auf Deutsch.",
    "Maximal drei Sätze pro Antwort.",
    "Bitte siezen Sie mich.",
    "Nenn mich bitte Alex.",
    "Könntest du bitte immer auf Englisch antworten?",
    "Ab sofort bitte alles per E-Mail.",
    # code
    "Push niemals direkt auf main.",
    "Keine neuen Abhängigkeiten.",
    "Tests gehören immer nach tests/unit.",
    "Vor jedem Commit die Tests laufen lassen.",
    "Jede Funktion braucht einen Docstring.",
    "Die Datei schema.sql darf nicht verändert werden.",
    "Benutze pnpm statt npm.",
    "Finger weg von der Produktionsdatenbank.",
    "Committe nichts, bevor ich drübergeschaut habe.",
    "Wir benutzen hier kein Redux.",
    # as it is typed or spoken
    "bitte nie am wochenende liefern",
    "ich moechte keine zwischenstopps",
    "aendere nichts ohne rueckfrage",
    "sag mir immer vorher was es kostet",
    "ich bin schwerhörig also bitte schreiben statt anrufen",
)
OTHERS = (
    "Legen Sie nicht auf!",
    "Buchen Sie den Flug um 9 statt um 7.",
    # complaints and reports
    "Das Paket kam nie an.",
    "Bei euch geht immer alles schief.",
    "Immer muss ich hinterherlaufen.",
    "Nie wieder bestelle ich hier!",
    "Keine der Antworten hilft mir.",
    "Kein Mensch geht ans Telefon.",
    "Keine Mails in meinem Posteingang.",
    "Nur zwei von drei Artikeln sind angekommen.",
    "Ich möchte die Bestellung nicht mehr.",
    "Ich habe dreimal angerufen und nie jemanden erreicht.",
    "Bei jedem Anruf hänge ich eine Stunde in der Warteschleife.",
    "Es wurde abgebucht, ohne zu fragen!",
    "Ohne Rücksprache wurde mein Vertrag verlängert.",
    "Ich bekomme immer einen 404.",
    "Das muss ein Fehler sein.",
    "Das Zimmer muss gereinigt worden sein.",
    "Die Erstattung sollte inzwischen da sein.",
    # questions
    "Warum ruft mich nie jemand zurück?",
    "Darf man dort nicht rauchen?",
    "Kannst du das ohne Bibliothek lösen?",
    "muss ich immer den ausweis mitbringen",
    # for once
    "Bitte stornieren Sie Bestellung 4711.",
    "Schick mir nur die erste Seite.",
    "Rufen Sie mich bitte morgen um 15 Uhr zurück.",
    "Nimm Karte 4471, nicht 5521.",
    "Ich hätte gern einen Termin am Dienstag.",
    "Fass den Artikel in drei Sätzen zusammen.",
    "Lass die Tests laufen.",
    "Sag mir den Preis.",
    "Antworte in einem Satz.",
    "Warte kurz, ich suche die Nummer.",
    "Bitte nicht schon wieder!",
    # for once, and why
    "Bitte prüfen Sie das, ich habe nie eine Bestätigung bekommen.",
    "Schicken Sie mir das Paket bitte neu, es kam nie an.",
    "Lösch die Datei, die brauchen wir nicht mehr.",
    "Erklär mir, warum da nichts passiert.",
    "Schreib eine Funktion, die prüft, ob keine Duplikate vorhanden sind.",
    # what others say, and what holds for a thing
    "Man hat mir gesagt, dass ich nie mehr als 50 Euro zahlen muss.",
    "Der Arzt hat gesagt, ich darf keinen Sport machen.",
    "Er bat mich, nicht mehr anzurufen.",
    "Da steht nur für Mitglieder.",
    "Der Gutschein gilt nur für Neukunden.",
    "Handgepäck darf maximal 8 Kilo wiegen.",
    # small talk
    "Ich wollte nur fragen, wo meine Bestellung bleibt.",
    "Nein danke.",
    "Kein Problem.",
    "Keine Ahnung, was passiert ist.",
    "Macht nichts.",
    "Mach dir keine Sorgen.",
    "Vergiss es.",
    "Lieber nicht.",
    "Nur zur Info.",
    "Keine weiteren Fragen, danke!",
    "Immer gerne.",
    "nee passt schon danke",
)


def views(*texts: str) -> Sequence[ItemView]:
    return [ItemView("user", (TextPart(text),)) for text in texts]


def told(*texts: str) -> Standing:
    return standing(views(*texts), words=GERMAN)


@pytest.mark.parametrize("said", KEPT)
def test_what_a_customer_wants_kept_to_is_found(said: str) -> None:
    """Also among other sentences, and word for word."""
    assert told(f"Guten Tag.\n{said}\nDanke.").held == [said]


@pytest.mark.parametrize("said", OTHERS)
def test_what_only_looks_alike_is_not_kept(said: str) -> None:
    """Complaints, questions and requests for once hold nothing."""
    assert told(f"Guten Tag.\n{said}\nDanke.") == Standing([], [])


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Benutze keine Emojis.", "Vergiss, was ich über Emojis gesagt habe."),
        ("Benutze keine Emojis.", "Vergessen Sie das mit den Emojis."),
        ("Benutze keine Emojis.", "Ab jetzt darfst du wieder Emojis benutzen."),
        ("Benutze keine Emojis.", "Emojis sind wieder okay."),
        ("Nie am Sonntag anrufen.", "Sie dürfen mich am Sonntag wieder anrufen."),
        ("Nie vor neun Uhr anrufen.", "Vor neun Uhr dürfen Sie mich wieder anrufen."),
        ("Antworte immer auf Englisch.", "Du musst nicht mehr auf Englisch antworten."),
        ("Antworte immer auf Englisch.", "Sie brauchen nicht mehr auf Englisch zu antworten."),
        ("Lösch nie Dateien in /srv/a.", "Ja, du darfst Dateien in /srv/a wieder löschen."),
        ("Ändere nichts an der API.", "In Ordnung, du darfst die API wieder ändern."),
        ("Niemals auf main pushen.", "Das mit main gilt nicht mehr."),
        ("Mein Budget liegt bei 800 Euro.", "Das Budget gilt nicht mehr."),
        ("Bitte immer mit PayPal bezahlen.", "Ich nehme das mit PayPal zurück."),
        ("Bitte niemals beim Nachbarn abgeben.", "Sie können doch beim Nachbarn abgeben."),
        ("Bitte nur Direktflüge.", "Es müssen nicht mehr nur Direktflüge sein."),
        ("keine anrufe am sonntag", "anrufe am sonntag sind wieder erlaubt"),
        ("Bitte keine Newsletter.", "Newsletter sind doch wieder willkommen."),
        ("Nie freitags deployen.", "Wir dürfen freitags wieder deployen."),
        ("Nie mit Kreditkarte zahlen.", "Ich habe es mir mit der Kreditkarte anders überlegt."),
    ],
)
def test_what_a_customer_takes_back_no_longer_holds(rule: str, said: str) -> None:
    """By naming it, or by saying the contrary."""
    assert told(rule) == Standing([rule], [])
    assert told(rule, said) == Standing([], [rule])


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        # another thing
        ("Keine Anrufe am Sonntag.", "Sie dürfen mich am Samstag wieder anrufen."),
        ("Keine Lieferungen am Sonntag.", "Sie dürfen mich am Sonntag wieder anrufen."),
        ("Benutze keine Emojis.", "Vergiss, was ich über die Rechnung gesagt habe."),
        ("Lösch nie Dateien in /srv/a.", "Du darfst Dateien in /srv/b wieder löschen."),
        ("Push nie auf main.", "Du darfst wieder auf develop pushen."),
        ("Antworte immer auf Englisch.", "Du musst nicht mehr auf Französisch antworten."),
        ("Keine Mails von Anna an Paul.", "Du darfst wieder Mails von Paul an Anna schicken."),
        ("Nie vor neun Uhr anrufen.", "Sie dürfen nach neun Uhr wieder anrufen."),
        ("Nicht vor neun Uhr anrufen.", "Sie dürfen nach neun Uhr wieder anrufen."),
        ("Nicht über Bern fahren.", "Sie dürfen unter Bern wieder fahren."),
        ("Bitte keine Anrufe und keine SMS.", "SMS sind wieder okay."),
        # only spoken of
        ("Benutze keine Emojis.", "Darf ich wieder Emojis benutzen?"),
        ("Benutze keine Emojis.", "Ich habe nie gesagt, du darfst wieder Emojis benutzen."),
        ("Benutze keine Emojis.", "Er sagte, du kannst wieder Emojis benutzen."),
        ("Benutze keine Emojis.", "Du darfst wieder Emojis benutzen, wenn ich es sage."),
        ("Benutze keine Emojis.", "Vergiss es."),
        ("Benutze keine Emojis.", "Emojis sind nicht erlaubt."),
        ("Lösch keine Dateien.", "Mein Chef meint, du darfst wieder Dateien löschen."),
        ("Preise immer in Dollar.", "Der Gutschein gilt nicht mehr."),
        ("Du darfst Emojis nicht benutzen.", "Du darfst Emojis nie wieder benutzen."),
        ("Benutze keine Emojis.", "Liebe Anna\nDu darfst wieder Emojis benutzen."),
    ],
)
def test_what_is_said_of_another_thing_takes_nothing_back(rule: str, said: str) -> None:
    """Nor does what is asked, denied or told of others."""
    assert told(rule) == Standing([rule], [])
    assert rule in told(rule, said).held
    assert told(rule, said).lifted == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            "Das Zimmer darf höchstens 120 Euro kosten.",
            "Nein, das Zimmer darf höchstens 150 Euro kosten.",
        ),
        ("Mein Budget liegt bei 800 Euro.", "Doch, mein Budget liegt bei 900 Euro."),
        ("Maximal 3 Sätze pro Antwort.", "Korrektur: maximal 5 Sätze pro Antwort."),
        ("Bitte erst nach 17 Uhr anrufen.", "Nein, bitte erst nach 18 Uhr anrufen."),
    ],
)
def test_a_number_told_anew_takes_the_place_of_the_old_one(rule: str, said: str) -> None:
    assert told(rule) == Standing([rule], [])
    assert told(rule, said) == Standing([said], [rule])


def test_a_number_of_another_thing_takes_no_place() -> None:
    rule, said = "Mein Budget liegt bei 800 Euro.", "Nein, mein Budget für Essen liegt bei 90 Euro."
    assert told(rule, said) == Standing([rule, said], [])


def test_a_line_that_goes_on_is_kept_with_the_sentence() -> None:
    assert told("Bitte nie anrufen\naußer in Notfällen\nDanke").held == [
        "Bitte nie anrufen außer in Notfällen"
    ]


def test_the_nie_of_polish_is_none() -> None:
    """It is "not", and begins every second sentence."""
    assert told("Nie wiem, gdzie jest moja paczka. Nie działa. Nie dziś.") == Standing([], [])
    assert told("Nie vor neun.", "Nie etwas löschen.").held == [
        "Nie vor neun.",
        "Nie etwas löschen.",
    ]


@pytest.mark.parametrize(
    "said",
    [
        "Das Zimmer vom 3. bis 6. August darf höchstens 140 Euro kosten.",
        "Bitte maximal 2. Stock.",
        "Rufen Sie mich bis zum 23. Mai morgens nie vor 9 Uhr an.",
        "Liefern Sie nie an die Lindenstr. 5, 20095 Hamburg.",
    ],
)
def test_a_sentence_goes_on_behind_an_ordinal(said: str) -> None:
    """Without the day or the storey the instruction would say another thing."""
    assert told(f"Guten Tag. {said} Danke.").held == [said]


def test_a_sentence_ends_behind_a_number_that_is_no_ordinal() -> None:
    assert told("Nie mehr als 2. Danke. Bis morgen!").held == ["Nie mehr als 2."]
