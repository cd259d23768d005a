"""Standing instructions in Dutch: kept word for word, told from what only looks alike.

The sentences were written before the phrases, in lots: on the first the phrases were tuned, by the
others measured once, and only then mended.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chatfold.core.constraints import Standing, standing
from chatfold.core.constraints.languages import LANGUAGES
from chatfold.core.constraints.languages.dutch import DUTCH
from chatfold.core.constraints.words import Words
from chatfold.core.views import ItemView, TextPart

KEPT = (
    "Bel me nooit voor tien uur.",
    "Antwoord altijd in het Nederlands.",
    "Raak de productieserver niet aan.",
    "Geen emoji's alsjeblieft.",
    "Voortaan graag alle prijzen in euro's.",
    "Boek alleen rechtstreekse vluchten.",
    "Vraag het me altijd voordat je iets bestelt.",
    "Niet bellen op zondag.",
    "Je mag nooit rechtstreeks naar main pushen.",
    "Ik ben allergisch voor noten.",
    "Mijn dochter is vegetariër.",
    "Gebruik tabs in plaats van spaties.",
    "Houd antwoorden kort, maximaal drie zinnen.",
    "Stuur nooit iets zonder mijn toestemming.",
    "Vanaf nu spreken we Engels.",
    "Noem me Sam.",
    "Ik wil geen reclame ontvangen.",
    "Ik zit het liefst aan het gangpad.",
    "Mijn budget is maximaal 500 euro.",
    "Bezorg pakketten nooit bij de buren.",
    "Alleen contact via e-mail, niet telefonisch.",
    "Wilt u mij voortaan met u aanspreken?",
    "De map config mag niet worden aangepast.",
    "Verwijder in geen geval bestanden uit de backup.",
    "Ik ben alleen na 17 uur bereikbaar.",
    "Elke functie krijgt een docstring.",
    "Schrijf commitberichten in het Engels.",
    "Kun je voortaan korter antwoorden?",
    "Installeer geen nieuwe pakketten.",
    "Zet mijn assistente altijd in de cc.",
    "Ik eet geen varkensvlees.",
    "Zorg ervoor dat alle tests slagen voordat je commit.",
    "Liever geen hotels naast de snelweg.",
    "Nooit op maandag leveren.",
    "U mag mijn gegevens niet delen met derden.",
    "Ik wil elke vrijdag een overzicht ontvangen.",
    "Gebruik nooit mijn voornaam.",
    "Reserveer geen hotels boven de 150 euro per nacht.",
    "Bel niet na acht uur 's avonds.",
    "Ik wil dat je altijd eerst een plan maakt.",
    "Gelieve geen telefoontjes tijdens kantooruren.",
    "In het vervolg graag zonder afkortingen.",
    "Ik heb een rolstoel, dus alles moet toegankelijk zijn.",
    "Doe niets zonder eerst te overleggen.",
    "Wij vliegen alleen met KLM.",
    "Houd de toon formeel.",
    "Leg alles uit alsof ik een beginner ben.",
    "Spreek me aan met mevrouw Jansen.",
    "Data altijd in het formaat dd-mm-jjjj.",
    "Je moet altijd eerst de tests draaien.",
    "Geen vlees en geen vis voor mij, graag.",
    "Ik drink geen alcohol.",
    "Alle bedragen inclusief btw.",
    "Betaal nooit meer dan 80 euro.",
    "Meld het me zodra er iets verandert.",
    "Onder geen voorwaarde mijn adres doorgeven.",
    "Commit nooit rechtstreeks naar de hoofdbranch.",
    "Verander niets aan de database zonder te vragen.",
    "Gebruik Python 3.11 en altijd type hints.",
    "Doe geen force push.",
    "Geen externe bibliotheken toevoegen.",
    "Schrijf alle documentatie in het Engels.",
    "Lever nooit op zaterdag.",
    "Ik wil uitsluitend per e-mail benaderd worden.",
    "Mijn vrouw zit in een rolstoel.",
    "Koop niets boven de 100 euro.",
    "Wilt u mij niet meer bellen?",
    "Bewaar mijn kaartgegevens niet.",
    "Graag altijd een raamplaats.",
    "Bevestig elke wijziging eerst met mij.",
    "Wij eten geen vlees.",
    "Stuur facturen altijd naar boekhouding@voorbeeld.nl.",
    "Deel mijn telefoonnummer met niemand.",
    "Rond bedragen altijd af op hele euro's.",
    "Hotels moeten minstens vier sterren hebben.",
    "Je mag me Piet noemen.",
    "Draai de tests voor elke commit.",
    "Maak nooit aannames, vraag het mij.",
    "Nooit meer dan drie opties tegelijk.",
    "Ik reis alleen tweede klas.",
    "Spreek me met je aan.",
    "Laat nooit mijn hond alleen in het hotel.",
    "Wilt u voortaan het pakket op de stoep leggen?",
    "Mijn zoon heeft een pinda-allergie.",
    "Kies altijd de goedkoopste optie.",
    "Neem geen contact op met mijn werkgever.",
    "Gebruik geen afkortingen in commentaar.",
    "Antwoord kort.",
    "Zet nooit wachtwoorden in de code.",
    "Je mag de tests niet aanpassen.",
    "Reserveer alleen hotels met gratis annulering.",
    "Wij willen geen papieren facturen meer.",
    "Check altijd eerst de voorraad.",
    "Zeg nooit iets tegen mijn man over het cadeau.",
    "Ik betaal nooit vooraf.",
    "Noem geen prijzen zonder btw.",
    "Houd je aan de bestaande stijl.",
    "Wacht op mijn akkoord voordat je iets verstuurt.",
    "Na 22 uur niet meer bellen.",
    "Vertaal alles naar het Frans, vanaf nu.",
    "Functies maximaal 40 regels.",
)

ALIKE = (
    "Mijn pakket is nooit aangekomen.",
    "Ik heb nog geen antwoord gekregen.",
    "Geen probleem, bedankt!",
    "Ik wil alleen weten waar mijn bestelling is.",
    "Waarom werkt het niet?",
    "Kun je de factuur nog een keer sturen?",
    "Boek een vlucht naar Lissabon voor vrijdag.",
    "De bezorger heeft nooit aangebeld.",
    "Ik kan niet inloggen.",
    "Geen idee wat er misgaat.",
    "Stuur me alleen de eerste pagina.",
    "Mijn collega zei dat je nooit op vrijdag moet deployen.",
    "Volgens de handleiding mag je het nooit openen.",
    "Alleen de tweede doos was kapot.",
    "Moet ik altijd bevestigen?",
    "Het was niet zo erg.",
    "Ik heb het niet gedaan.",
    "Er is niemand thuis.",
    "Nooit gedacht dat het zo makkelijk was.",
    "Altijd weer hetzelfde gedoe met jullie.",
    "Kijk even waarom de test faalt.",
    "Verander de kleur van de knop in blauw.",
    "Dat hoeft niet hoor.",
    "Ik begrijp het niet.",
    "Hij belt me nooit terug.",
    "Als de klant niet betaalt, sturen ze een aanmaning.",
    "Niet iedereen kan daar komen.",
    "Ik vlieg morgen naar Rome.",
    "Bedankt, dat was alles.",
    "We hebben geen melk meer.",
    "Zoek een hotel in Utrecht voor twee nachten.",
    "Vergeet niet mij morgen te mailen.",
    "In de mail stond: betaal nooit contant.",
    "Ik heb altijd bij jullie gekocht.",
    "De winkel is alleen op zaterdag open.",
    "Kan ik ook zonder account bestellen?",
    "Ik heb het boek niet ontvangen.",
    "De helpdesk gaf nooit antwoord op mijn mails.",
    "Ik snap niet wat je bedoelt.",
    "Zou je de tweede alinea kunnen inkorten?",
    "Geef me de drie goedkoopste opties.",
    "Mijn man wil nooit met de trein.",
    "Geen haast, morgen is ook goed.",
    "Kunt u nagaan waar het pakket is?",
    "Ik was niet thuis toen de koerier kwam.",
    "Niets aan de hand.",
    "Hoe kan ik mijn wachtwoord wijzigen?",
    "Het werkt alleen in Chrome.",
    "Zij zeggen dat ik niet mag annuleren.",
    "Ik moet altijd lang wachten bij jullie.",
    "Los de fout in regel 12 op.",
    "Ze hebben mij zonder toestemming geld afgeschreven.",
    "Waarom krijg ik geen bevestiging?",
    "Ik zou graag twee kaartjes willen.",
    "Alleen nog even de datum controleren.",
    "Wat mag er niet in de koffer?",
    "Mijn bestelling is niet compleet.",
    "Ik kon gisteren niet betalen met mijn kaart.",
    "Wat kost verzending zonder track en trace?",
    "Mijn buurman zegt dat ik altijd mag parkeren.",
    "Sorry, dat wist ik niet.",
    "De laatste keer was er niemand aan de balie.",
    "Kun je me de handleiding sturen?",
    "Annuleer mijn reservering van morgen.",
    "Ik heb alleen een bevestiging gekregen.",
    "Zoek uit waarom de build niet slaagt.",
    "We zijn altijd tevreden geweest.",
    "Dat is niet wat ik bedoelde.",
    "Nee, geen van beide.",
    "Ze hebben geen maat 42 meer.",
    "Zal ik het opnieuw proberen?",
    "Hoeveel kost een kamer zonder ontbijt?",
    "In de voorwaarden staat dat je niet mag roken.",
    "De chauffeur wilde niet wachten.",
    "Voeg een knop toe aan de startpagina.",
    "Ik heb nooit een mail ontvangen.",
    "Mag ik geen huisdier meenemen?",
    "Als het niet lukt probeer ik het morgen.",
    "Geen bericht, goed bericht.",
    "Geef me alleen het nummer even.",
    "Maak een back-up van de server.",
    "Niet dus.",
    "Hij wil niet dat ik bel.",
    "Waarom is mijn pakket niet geleverd?",
    "Ik wist niet dat dit kon.",
    "De app doet het niet meer.",
    "Kunnen jullie niet eerder leveren?",
    "Het lukt me maar niet.",
    "Doe maar de blauwe.",
    "Heeft u geen andere kleur?",
    "Er staat niets in mijn mailbox.",
    "Ik heb net met jullie gebeld en niemand nam op.",
    "Ze reageren nooit op klachten.",
    "Verwijder de laatste regel uit het bestand.",
    "Dat mag niet gebeuren natuurlijk.",
    "Ik ben niet boos hoor.",
    "Kan het ook zonder handtekening?",
    "Mijn baas wil altijd alles weten.",
    "Stuur me het adres van de winkel.",
    "Wij hadden een kamer zonder balkon.",
    "De kamer was niet schoon en er was geen handdoek.",
    "Bel je me even terug?",
    "Nooit meer bij jullie!",
)


def read(*texts: str, words: Words | Sequence[Words] = LANGUAGES) -> Standing:
    """Return what holds behind these messages of a user."""
    return standing([ItemView("user", (TextPart(text),)) for text in texts], words=words)


@pytest.mark.parametrize("said", KEPT)
def test_what_a_customer_wants_kept_to_is_found(said: str) -> None:
    """Word for word, whoever is addressed and however it is put; each by its own language."""
    assert read(said).held == [said]
    assert read(said, words=DUTCH).held == [said]


@pytest.mark.parametrize("said", ALIKE)
def test_what_only_looks_alike_is_not_kept(said: str) -> None:
    """Complaints, questions, errands, thanks, and what others said."""
    assert read(said).held == []


def test_an_instruction_is_found_among_other_sentences() -> None:
    """Only the sentence that is one is kept."""
    said = "Hallo, mijn pakket is nooit aangekomen. Bezorg nooit meer bij de buren. Bedankt!"
    assert read(said).held == ["Bezorg nooit meer bij de buren."]


@pytest.mark.parametrize(
    "said",
    [
        "BEL ME NOOIT OP ZONDAG",
        "hoi, bel me nooit op zondag",
        "- Bel me nooit op zondag",
        "Bezorg nooit\nop zaterdag",
    ],
)
def test_what_is_typed_in_a_hurry_is_found(said: str) -> None:
    (found,) = read(said).held
    assert found.lower().endswith(("zondag", "zaterdag"))


@pytest.mark.parametrize(
    "said",
    [
        "In de Niet hotel we met Geen.",
        "Alleen die Lieferung war nicht da.",
        "Nie wieder.",
        "We even want men over there.",
        "Het is a Dutch word.",
    ],
)
def test_english_and_german_are_not_read_as_dutch(said: str) -> None:
    assert read(said).held == []


# --- taken back -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Bel me nooit op zondag.", "Je mag me weer bellen op zondag."),
        ("Bel me nooit op zondag.", "Nu mag je me weer op zondag bellen."),
        ("Bel me niet op zondag.", "U mag mij weer bellen op zondag."),
        ("Geen emoji's alsjeblieft.", "Emoji's mogen weer."),
        ("Geen emoji's alsjeblieft.", "Vergeet wat ik over emoji's heb gezegd."),
        (
            "Boek alleen rechtstreekse vluchten.",
            "Vergeet wat ik heb gezegd over rechtstreekse vluchten.",
        ),
        ("Verander config.yaml niet.", "Eigenlijk mag je config.yaml veranderen."),
        ("Installeer geen pakketten.", "Je mag nu pakketten installeren."),
        (
            "Vraag het me altijd voordat je bestelt.",
            "Je hoeft me niet meer te vragen voordat je bestelt.",
        ),
        ("Stuur elke week een rapport.", "Het rapport is niet meer nodig."),
        (
            "De limiet van 500 euro mag niet worden overschreden.",
            "De limiet van 500 euro geldt niet meer.",
        ),
        ("Lever nooit op zaterdag.", "Jullie kunnen weer op zaterdag leveren."),
    ],
)
def test_what_is_taken_back_holds_no_longer(rule: str, said: str) -> None:
    """Where the sentence names it, whatever the form of the verb."""
    assert read(rule).held == [rule]
    assert read(rule, said) == Standing([], [rule])


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Bel me nooit op zondag.", "Je mag me weer bellen op zaterdag."),
        ("Bel me nooit op zondag.", "Mag je me weer bellen op zondag?"),
        ("Bel me nooit op zondag.", "Ik heb niet gezegd dat je me weer op zondag mag bellen."),
        ("Bel me nooit op zondag.", "Mijn vrouw zegt dat je me weer mag bellen op zondag."),
        ("Verwijder geen bestanden in /srv/a.", "Je mag weer bestanden verwijderen in /srv/b."),
        (
            "Verplaats geen bestanden van Rome naar Milaan.",
            "Je mag weer bestanden verplaatsen van Milaan naar Rome.",
        ),
        ("Bel me nooit op zondag.", "Je mag me weer bellen op zondag, als ik thuis ben."),
        ("Bel me nooit op zondag.", "Deze keer mag je me bellen op zondag."),
        ("Geen emoji's en tabellen gebruiken.", "Je mag weer emoji's gebruiken."),
        ("Geen emoji's alsjeblieft.", "Vergeet wat ik over lijsten heb gezegd."),
        ("Stuur geen facturen naar Anna Bos.", "Je mag weer facturen sturen van Anna Bos."),
        ("Stuur geen facturen aan Anna Bos.", "Je mag weer facturen sturen aan Piet Bos."),
        (
            "Antwoord altijd in het Engels.",
            "Je bent vergeten wat ik gisteren in het Engels heb gezegd.",
        ),
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
        ("Mijn budget is maximaal 500 euro.", "Nee, mijn budget is maximaal 600 euro."),
        ("Gebruik altijd poort 8080.", "Sorry, gebruik altijd poort 9090."),
    ],
)
def test_a_number_told_anew_takes_the_place_of_the_older_one(rule: str, said: str) -> None:
    """In the same words, or nearly."""
    assert read(rule, said) == Standing([said], [rule])
