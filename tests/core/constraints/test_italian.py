"""Standing instructions in Italian: kept word for word, told from what only looks alike.

The sentences were written before the phrases, in lots: on the first the phrases were tuned, by the
others measured once, and only then mended.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chatfold.core.constraints import Standing, standing
from chatfold.core.constraints.languages.italian import ITALIAN
from chatfold.core.views import ItemView, TextPart

KEPT = (
    "Scrivi i messaggi di commit all'imperativo.",
    "Resta su Python 3.11.",
    "Funzioni sotto le 40 righe.",
    "Non volo mai con Ryanair.",
    "Scrivi i messaggi di commit in inglese.",
    "Tutte le quantità in litri.",
    "Risponda brevemente.",
    "Usa le tabulazioni invece degli spazi.",
    "Non mi chiami mai la domenica, per favore.",
    "Mia figlia è celiaca.",
    "Niente emoji, grazie.",
    "Risposte brevi, per favore.",
    "Non consegnare di sabato.",
    "Usa sempre il sistema metrico.",
    "Mai fare push su main.",
    "Assicurati che ogni funzione abbia un docstring.",
    "Voglio solo voli diretti.",
    "Mia madre usa la sedia a rotelle.",
    "Sono disponibile solo dopo le 17.",
    "Per gli appuntamenti mi andrebbe meglio il pomeriggio.",
    "Vorrei ricevere le fatture solo in formato PDF.",
    "Metti sempre in copia il mio commercialista.",
    "Non voglio essere chiamato al lavoro.",
    "puoi evitare di usare le emoji?",
    "Contattami solo tramite email, non per telefono.",
    "Se possibile, comunichiamo sempre per iscritto.",
    "Ho un'allergia grave alle arachidi.",
    "Vorrei sempre un posto corridoio.",
    "Non voglio volare con compagnie low cost.",
    "Mi dia del tu.",
    "Massimo 50 parole.",
    "Voglio risposte di non più di tre frasi.",
    "I nomi delle variabili sempre in inglese.",
    "Ogni nuova funzione deve avere un test.",
    "Committa solo quando te lo dico io.",
    "Non installare pacchetti.",
    "Per cortesia, niente chiamate nel weekend.",
    "Non rinnovate l'abbonamento senza avvisarmi.",
    "Prima di cancellare qualsiasi cosa devi avere il mio consenso.",
    "Siamo tutti e due celiaci.",
    "Soffro di emicrania, quindi niente luci forti.",
    "Preferisco viaggiare in treno piuttosto che in aereo.",
    "Mi parli in modo semplice, non sono un tecnico.",
    "Non ripetere la domanda prima di rispondere.",
    "Metti i prezzi sempre IVA inclusa.",
    "Rispetta lo stile del progetto.",
    "I file di configurazione non vanno toccati.",
    "Fai sempre un backup prima di migrare il database.",
    "Guardi, io al telefono non rispondo mai: solo messaggi.",
    "Per me niente frutta secca, mi raccomando.",
    "Voglio essere sempre seduto vicino a mia moglie.",
    "Nessuno deve sapere del mio conto.",
    "Gli hotel devono avere almeno quattro stelle.",
    "Preferisco sedermi davanti in aereo.",
    "Ogni venerdì mandami un riepilogo delle spese.",
    "Ogni mattina inviami il saldo.",
    "Non dare per scontato nulla, verifica sempre.",
    "Se un test fallisce fermati e dimmelo.",
    "Ho la celiachia.",
    "Rispondi in massimo due paragrafi.",
)

ALIKE = (
    "Questa funzione deve essere chiamata da qualche parte.",
    "Può dirmi perché mi addebitate sempre due volte?",
    "Rimandatemi la fattura, non l'ho mai ricevuta.",
    "Non ho mai ricevuto la conferma.",
    "Richiamami domani alle 3.",
    "Non so cosa fare.",
    "Mi hanno detto di aspettare la conferma.",
    "Preferisco la prima opzione.",
    "Prenota il volo delle 10.",
    "Meglio tardi che mai.",
    "Non trovo il codice di conferma.",
    "Il test non passa.",
    "I test passano senza errori.",
    "Scrivi una funzione che calcola la media.",
    "Fammi sapere.",
    "Nessuna novità?",
    "Niente da fare, ancora lo stesso errore.",
    "Il volo è stato cancellato senza preavviso.",
    "il pagamento non va mai a buon fine",
    "Vorrei solamente capire cosa è successo.",
    "Non vi trovo in elenco.",
    "Non sono riuscito a pagare.",
    "Non voglio il rimborso, voglio il prodotto.",
    "Non voglio aspettare altri tre giorni.",
    "Annulla la prenotazione di domani.",
    "Cancella il file temporaneo.",
    "Puoi mostrarmi solo le prime dieci righe?",
    "Il parametro non deve essere nullo, dice l'errore.",
    "Prima funzionava senza problemi.",
    "Tutto bene, nessuna fretta.",
    "scusa non avevo letto il messaggio",
    "La mail di conferma non mi è ancora arrivata.",
    "Non credevo fosse così semplice.",
    "Non c'è di che.",
    "Niente paura.",
    "Scusami, non volevo offenderti.",
    "Mi scusi, ho sbagliato numero.",
    "Spostami l'appuntamento a venerdì alle 11.",
    "Mandatemi per favore il codice di tracciamento.",
    "Dopo ogni deploy la cache è vuota.",
    "Il compilatore dice che non devo usare questa funzione.",
    "Prima o poi ce la faremo.",
    "sempre la stessa storia",
    "La settimana scorsa non ho dormito mai.",
    "Di solito arrivo sempre dopo le 9.",
    "Niente da aggiungere.",
    "Il modello non converge mai.",
    "Non pensavo che fosse obbligatorio.",
    "Mai avuto problemi.",
    "Ti mando solo lo screenshot.",
    "Quando uso il comando mi dà sempre errore.",
    "Non appena arriva il tecnico vi scrivo.",
    "Se non arriva entro domani faccio reclamo.",
    "È tutto, non mi serve altro.",
    "Non male il nuovo sito.",
    "dove siete, non mandate mai nessuno",
)


def views(*texts: str) -> Sequence[ItemView]:
    return [ItemView("user", (TextPart(text),)) for text in texts]


def read(*texts: str) -> Standing:
    return standing(views(*texts), words=ITALIAN)


# --- which sentences are instructions -------------------------------------------------------------


@pytest.mark.parametrize("said", KEPT)
def test_what_a_customer_wants_kept_to_is_found(said: str) -> None:
    """Word for word, whoever is addressed and however it is put."""
    assert read(said).held == [said]


@pytest.mark.parametrize("said", ALIKE)
def test_what_only_looks_alike_is_not_kept(said: str) -> None:
    """Complaints, questions, errands, thanks, and what others said."""
    assert read(said).held == []


@pytest.mark.parametrize(
    "said",
    [
        "non chiamarmi piu al lavoro",
        "Non posso piu' mangiare lattosio.",
        "NON CHIAMARMI MAI LA DOMENICA",
        "Non m’importa, non chiamatemi la domenica.",
        "va bene ma non telefonatemi dopo cena",
        "Consegna al portiere, va bene, ma mai al vicino.",
        "d'ora in poi mettete in copia mio fratello",
        "arrivo alle 8 per favore non suonare il campanello",
    ],
)
def test_what_is_typed_in_a_hurry_is_found(said: str) -> None:
    """Without accents, in capitals, with another apostrophe, in the middle of a sentence."""
    assert read(said).held == [said]


def test_an_instruction_is_found_among_other_sentences() -> None:
    """Only the sentence that is one is kept."""
    said = "Buongiorno, il pacco non è mai arrivato. Non lasciatelo più dal vicino. Grazie mille!"
    assert read(said).held == ["Non lasciatelo più dal vicino."]


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("Potresti rispondere sempre in italiano?", True),
        ("Potete evitare di chiamarmi la sera?", True),
        ("Puoi non usare le emoji?", True),
        ("Puoi rispondere in inglese d'ora in poi?", True),
        ("Puoi mandarmi solo la prima pagina?", False),
        ("Devo sempre confermare?", False),
        ("Non chiamate mai la domenica?", False),
        ("Mai prima delle nove, va bene?", True),
    ],
)
def test_a_question_is_one_only_where_it_asks_for_what_holds(asked: str, kept: bool) -> None:
    """A question behind a comma is only the end of an instruction."""
    assert read(asked).held == ([asked] if kept else [])


@pytest.mark.parametrize(
    "said",
    [
        "Solo travelers get a discount.",
        "In the solo act he was great.",
        "On my solo trip I lost the card.",
        "Solo trip to Norway next week.",
        "Mai is my wife.",
        "Non software engineers use it, too.",
        "No problem, never mind the date.",
        "Please do not call me before nine.",
    ],
)
def test_english_is_not_read_as_italian(said: str) -> None:
    """Both languages are looked for in the same texts."""
    assert read(said).held == []


@pytest.mark.parametrize(
    "said",
    [
        "Solo me llegó la mitad.",
        "Solo he recibido un paquete.",
        "Sempre chega atrasado.",
        "Solo war das Paket nicht da.",
    ],
)
def test_what_others_say_with_the_same_word_is_not_read_as_italian(said: str) -> None:
    """Spanish, Portuguese, German."""
    assert read(said).held == []


# --- taken back -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Non chiamarmi mai la domenica.", "Puoi chiamarmi di nuovo la domenica."),
        ("Non chiamarmi la domenica.", "Adesso puoi di nuovo chiamarmi la domenica."),
        ("Non chiamarmi la domenica.", "Certo puoi chiamarmi di nuovo la domenica."),
        ("Non mi chiami la domenica.", "Può chiamarmi di nuovo la domenica."),
        ("Non chiamatemi la domenica.", "Da oggi potete chiamarmi di nuovo la domenica."),
        ("Non consegnate il sabato.", "Potete nuovamente consegnare il sabato."),
        ("Niente emoji, per favore.", "Le emoji vanno bene di nuovo."),
        ("Niente emoji, per favore.", "Dimentica quello che ho detto sulle emoji."),
        ("Solo voli diretti.", "Dimenticate quanto ho detto sui voli diretti."),
        ("Prezzi in euro, per favore.", "Quello che ho detto sui prezzi in euro non vale più."),
        ("Non spendere più di 500 euro.", "Il limite di 500 euro non vale più."),
        ("Non toccare il branch main.", "Ok, ora puoi toccare il branch main."),
        ("Non modificare config.yaml.", "In realtà puoi modificare config.yaml."),
        ("Non installare pacchetti.", "Anzi, puoi installare pacchetti."),
        ("Niente telefonate la sera.", "Ho cambiato idea sulle telefonate la sera."),
        ("Niente telefonate dopo le 18.", "Le telefonate dopo le 18 adesso vanno bene."),
        (
            "Chiedimi sempre prima di ordinare.",
            "Non c'è più bisogno di chiedermi prima di ordinare.",
        ),
        ("Chiedimi sempre prima di ordinare.", "Non serve più chiedermi prima di ordinare."),
        ("Chiedimi sempre prima di ordinare.", "Non devi più chiedermi prima di ordinare."),
        (
            "Avvisami sempre prima di spedire.",
            "Ignora la richiesta di avvisarti prima di spedire.",
        ),
    ],
)
def test_what_is_taken_back_holds_no_longer(rule: str, said: str) -> None:
    """Where the sentence names it, whatever the form of the verb."""
    assert read(rule).held == [rule]
    assert read(rule, said) == Standing([], [rule])


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Non chiamarmi mai la domenica.", "Puoi chiamarmi di nuovo il sabato."),
        ("Non chiamarmi mai la domenica.", "Puoi chiamarmi di nuovo la domenica?"),
        (
            "Non chiamarmi mai la domenica.",
            "Non ho detto che puoi chiamarmi di nuovo la domenica.",
        ),
        (
            "Non chiamarmi mai la domenica.",
            "Mia moglie dice che puoi chiamarmi di nuovo la domenica.",
        ),
        ("Non cancellare i file in /srv/a.", "Puoi cancellare di nuovo i file in /srv/b."),
        ("Non spostare file da Roma a Milano.", "Puoi di nuovo spostare file da Milano a Roma."),
        ("Non accettare pacchi da Roma.", "Puoi di nuovo accettare pacchi per Roma."),
        ("Non chiamarmi mai la domenica.", "Puoi chiamarmi di nuovo la domenica, se posso."),
        ("Non toccare il branch main.", "Puoi toccare il branch dev adesso."),
        ("Non mandate fatture ad Anna Berti.", "Potete di nuovo mandare fatture a Paolo Berti."),
        ("Niente emoji, per favore.", "Dimentica quello che ho detto sugli elenchi."),
        ("Niente emoji, per favore.", "Grazie, le foto vanno bene."),
        ("Chiedimi sempre prima di ordinare.", "Non devi più chiedermi prima di spedire."),
        ("Rispondi sempre in inglese.", "Hai dimenticato quello che ho detto ieri in inglese."),
    ],
)
def test_another_thing_takes_nothing_back(rule: str, said: str) -> None:
    """Nor does a question, a denial, or what somebody else said."""
    result = read(rule, said)
    assert rule in result.held
    assert result.lifted == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Il mio budget massimo è di 500 euro.", "Anzi, il mio budget massimo è di 600 euro."),
        ("Il mio budget massimo è di 500 euro.", "Anzi, il budget è di 600 euro."),
        ("Al massimo 3 opzioni per volta.", "No, al massimo 5 opzioni per volta."),
        ("Usa sempre la porta 8080.", "In realtà usa la porta 9090."),
        ("Tieni sempre il riscaldamento a 20 gradi.", "Anzi, tieni il riscaldamento a 18 gradi."),
    ],
)
def test_a_number_told_anew_takes_the_place_of_the_older_one(rule: str, said: str) -> None:
    """In the same words, or nearly."""
    assert read(rule, said) == Standing([said], [rule])


def test_another_number_for_another_thing_takes_no_place() -> None:
    """The older one stands."""
    rule = "Il mio budget massimo è di 500 euro."
    assert rule in read(rule, "Anzi, il mio limite di peso è di 20 kg.").held


def test_who_takes_back_one_of_two_things_leaves_the_rule() -> None:
    """Words with "e" between are both meant."""
    rule = "Non usare emoji e tabelle."
    result = read(rule, "Puoi usare di nuovo le emoji.")
    assert rule in result.held
    assert result.lifted == []


def test_a_line_goes_on_with_the_one_before() -> None:
    """As in a mail that is broken by hand."""
    assert read("Non chiamatemi la domenica\ne nei giorni di festa").held == [
        "Non chiamatemi la domenica e nei giorni di festa"
    ]


def test_what_a_pasted_mail_says_takes_nothing_back() -> None:
    """Somebody else may have written it."""
    rule = "Non chiamarmi la domenica."
    mail = "Guarda qui\nGentile signora\nPuò chiamarmi di nuovo la domenica.\nCordiali saluti"
    assert rule in read(rule, mail).held
