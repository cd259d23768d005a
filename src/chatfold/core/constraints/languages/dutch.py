"""The words of Dutch that standing instructions are made of.

Dutch asks in three ways ("Bel nooit", "Belt u nooit", "Nooit bellen"). A word that is English or
German, too, is written with a letter in brackets (`a[l]s`), so that such texts are not read for its
sake.
Not here: what each kind of words is for (`words`).
"""

from __future__ import annotations

from typing import Final

from chatfold.core.constraints.languages.loosening import DUTCH as LOOSENING
from chatfold.core.constraints.words import Words

__all__ = ["DUTCH"]

_NOT: Final = "niet|nooit|niets|geen|nergens|niemand"
_ONLY: Final = "alleen|enkel|altijd|steeds|uitsluitend"
_EACH: Final = "elke|elk|iedere|ieder"
_YOU: Final = "je|jij|u|jullie"
_ASKS: Final = "kun|kunt|kan|kunnen|wil|wilt|willen|zou|zouden"
_MAY: Final = "mag|mogen"
_MUST: Final = "moet|moeten|dient|dienen"
_WANT: Final = "wil|willen|wens|wensen|wou"
_KINDLY: Final = "graag|alsjeblieft|alstublieft|aub|svp|gelieve"
_NUMBER: Final = "#|een|één|twee|drie|vier|vijf|zes|tien|twintig"
_CONSENT: Final = "toestemming|akkoord|goedkeuring|okee|oké|instemming"
_TONGUES: Final = "nederlands|engels|duits|frans|spaans|italiaans"
# What somebody is asked to do.
_DO: Final = (
    "antwoord|antwoordt|ch[e]ck|bel|belt|bestel|bestelt|betaal|bevestig|bewaar|bezorg|boek|boekt|commit|"
    "controleer|deel|deploy|doe|draai|gebruik|gebruikt|geef|geeft|ga|gooi|haal|herhaal|hou|houd|"
    "installeer|koop|laat|leg|lever|lees|maak|mail|meld|merge|neem|noem|noteer|open|plaats|plan|praat|"
    "push|raak|reageer|rekening|reserveer|rond|schrijf|schrijft|sla|sluit|spreek|start|stel|stuur|"
    "stuurt|test|toon|verander|vergeet|verklap|vermeld|verstuur|vertel|verwijder|verzin|voeg|vraag|"
    "vraagt|wacht|werk|wijzig|zeg|zegt|zet|zoek|zorg|verplaats|kopieer|hernoem|formatteer|annuleer|"
    "vervang|update|upgrade|publiceer|schakel|kies|bewerk|pas|vertaal|citeer|onthoud|begin|eindig|kom"
)

_ORDERS: Final = (
    "nooit|geen|niets [!~]*",
    f"{_DO} * * {_NOT}|{_ONLY}|{_EACH}|liever|zonder|niemand",
    f"{_DO} * * in plaats van",
    "altijd * *en|in|met|per|op|naar|via|voor|het|de",
    "alleen|enkel|uitsluitend * *en .",
    "alleen|enkel|uitsluitend per|via|op|in|na|voor|met|tussen|schriftelijk|telefonisch",
    "alleen|enkel|uitsluitend contact|rechtstreekse|directe|vegetarisch*|veganistisch*|halal",
    "niet _ *en|storen|doen|staan .",
    "niet _ *en op|voor|na|in|bij|met|zonder|naar|tijdens|via|tussen|meer|later",
    "niet meer|later|vroeger|vaker|langer|duurder dan",
    "niet voor|na|op|in|bij|tijdens [!~]* * *en .",
    "liever geen|niet|per|met|via|een|in",
    "bij voorkeur",
    "onder geen beding|voorwaarde|enkele",
    f"voor|na|bij {_EACH} * {_MUST}|{_WANT}|graag|altijd|eerst|vragen|vraag",
    "bij twijfel",
    "eerst vragen|overleggen|testen|controleren",
    f"maximaal|hoogstens|hooguit|minstens|minimaal {_NUMBER}",
    "vraag|vraagt|overleg|ch[e]ck * mij|me|ons|het * altijd|eerst|voordat|voor",
    "meld|zeg|vertel|laat * zodra|voordat|wanneer|telkens",
    "wacht * op mijn|onze akkoord|toestemming|goedkeuring|bevestiging",
    f"antwoord|schrijf|spreek|praat|reageer * in|op het {_TONGUES}",
    f"antwoord|schrijf|spreek|praat * in {_TONGUES}",
    f"schrijf * in het {_TONGUES}",
    f"schakel|ga|stap * over op {_TONGUES} alsjeblieft|graag|.",
    f"schakel|ga|stap * over op het {_TONGUES} alsjeblieft|graag|.",
    "antwoord|schrijf|spreek|praat|reageer * kort|bondig|formeel|informeel|langzaam|duidelijk",
    "noem|noemt mij|me [!~]*",
    "spreek|spreekt me|mij|ons * aan met",
    "spreek|spreekt me|mij|ons * met u|je|jij aan",
    "tutoyeer|tutoyeert|vousvoyeer",
    "hou|houd|houdt * kort|bondig|simpel|formeel|vertrouwelijk|geheim|onder|beperkt",
    "hou|houd|houdt * aan de|het|mijn|onze",
    "blijf|blijft * onder|binnen|bij|beleefd|vriendelijk|zakelijk",
    "wees * kort|bondig|beleefd|eerlijk|direct|voorzichtig|precies",
    "korte|beknopte|eenvoudige|uitgebreide antwoorden|zinnen|berichten|teksten",
    "leg|legt|verklaar * uit alsof",
    "zorg|zorgt|let|denk * ervoor|erop|eraan dat",
    "zorg|zorgt * altijd|steeds",
    "vermijd|vermijdt|vermijden",
    "st[o]p met",
    "behandel|behandelt * a[l]s|vertrouwelijk",
    "rond|rondt * af op",
    f"alle|{_EACH} [!~]* * {_MUST}|{_MAY}|krijgt|krijgen|hoort|horen",
    "alle bedragen|prijzen|datums|dat[a]|tijden|maten|afstanden|antwoorden|teksten in|op|inclusief",
    "prijzen|bedragen|datums|tijden|maten|afstanden|temperaturen * in|altijd|inclusief",
    "dat[a] altijd * in|a[l]s",
    "variabelen|functies|commentaar|commits|bestanden * in|altijd|nooit|maximaal",
    "mijn|ons bud[g]et|limiet * #",
    f"{_MAY}|{_MUST} {_YOU} * {_NOT}|{_ONLY}",
    f"op maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag * {_NOT}|{_KINDLY}",
    f"voor|na|vanaf|tot # uur * {_NOT}|alleen|graag",
    f"wij|we gebruiken|schrijven|deployen|werken * {_ONLY}|nooit|geen",
)

_ALWAYS: Final = (
    f"{_KINDLY} * {_NOT}|{_ONLY}|voortaan|eerst|zonder",
    f"{_NOT}|{_ONLY} * {_KINDLY} .",
    f"*en {_KINDLY} altijd|nooit|voortaan",
    f"{_YOU} {_MAY} * {_NOT}|{_ONLY}",
    f"{_YOU} {_MUST} * altijd|steeds|eerst|{_EACH}",
    "niemand mag|moet",
    f"{_MAY}|{_MUST} * {_NOT}|{_ONLY} * worden|blijven|bevatten|verlaten|staan|komen|kosten",
    f"{_MUST} * blijven|bevatten|toegankelijk|halal|glutenvrij|vegetarisch|rolstoeltoegankelijk",
    f"{_MAY}|{_MUST} * maximaal|hoogstens|hooguit|minstens|minimaal|onder {_NUMBER}",
    "in|onder geen geval|beding|enkele",
    f"zonder mijn|onze|uitdrukkelijke|voorafgaande|mij|ons * {_CONSENT}|te|weten|medeweten",
    "zonder * * te vragen|overleggen|melden|waarschuwen|informeren",
    "zonder overleg|rugspraak|vooroverleg",
    "tot|totdat|voordat|tenzij ik|wij|we * akkoord|goedkeur*|bevestig*|gezien|gezegd|zeg",
    "voordat|voor je|jij|u|jullie|we [!~]* * vraag|vragen|overleggen|wil|moet",
    f"ik|wij|we {_WANT} * nooit|geen|altijd|niets|{_EACH}|niet",
    f"ik|wij|we {_WANT} * {_ONLY} * *en .",
    f"ik|wij|we {_WANT} dat je|jij|u|jullie * {_NOT}|{_ONLY}|eerst|{_EACH}",
    f"{_WANT}|{_MUST} ik|wij|we * altijd|eerst|zelf|{_EACH} * *en",
    "ik|wij|we * h[e]t liefst|liefste",
    "ik|wij|we heb|hebben liever|graag",
    "geef|geven de|mijn voorkeur",
    "voorkeur voor|aan",
    "is|zijn|ben * allergisch",
    "heb|heeft|hebben|met * *allergie|*intolerantie|coeliakie|diabetes",
    "ben|is|zijn vegetariër|vegetarier|veganist|veganiste|vegetarisch|veganistisch|zwanger",
    "ben|is|zijn * diabeet|slechthorend|slechtziend|kleurenblind|lactose-intolerant",
    "heb|heeft|zit|gebruik|gebruikt * rolstoel|rollator",
    "ik|wij|we eet|eten|drink|drinken|vlieg|vliegen|reis|reizen|rijd geen|nooit|niet|alleen",
    "eet|drinkt|verdraagt|verdraag geen",
    "ik|wij|we betaal|betalen|vlieg|vliegen|reis|reizen|accepteer * alleen|enkel|uitsluitend|nooit",
    "ben|zijn * alleen|pas|enkel * bereikbaar|beschikbaar|thuis",
    "mag|kan|mogen|kunnen geen * eten|drinken|tillen|verdragen",
    "maximaal|hoogstens|hooguit|maximum * # euro",
    "limiet is|van|bedraagt * #",
    "bud[g]et van|bedraagt * #",
    "de|het moet|mag altijd|nooit|alleen|niet",
    "wordt|worden|blijft|blijven|is|zijn vertrouwelijk|verboden|taboe|verplicht",
    "mag|mogen|kan|kunnen jullie|je|u mij|me|ons * noemen|tutoyeren",
    "jullie|je|u mag|mogen|kan|kunt|kunnen mij|me|ons * noemen|tutoyeren",
)

_EXCEPTIONS: Final = (
    "geen probleem|idee|dank|zorgen|haast|stress|paniek|punt|zin|tijd|wonder|kans|reactie|antwoord",
    "geen moeite|dingen|vragen|verdere|andere|verschil|bericht|bevestiging|spoor|resultaat|fout",
    "geen [!~]* * gekregen|gehad|gevonden|gezien|beschikbaar|is|zijn|was|heb|heeft",
    "heb|hebben|heeft|had|hadden|is|zijn|er geen [!~]* * meer",
    "geen factuur|pakket|mail|mails|e-mail|terugbetaling|bevestiging|nieuws * ontvangen|gekregen",
    "geen van|enkele|ander|dank",
    "nooit eerder|iets|een|zoiets|zo|te * gedacht|gezien|gehoord|gehad|meegemaakt",
    "nooit gedacht|geweten|gezien|gehoord|gekregen|ontvangen|geleverd",
    "nooit meer .",
    "nooit meer bij|naar jullie|u|hen|ze|zo|deze|die|dat",
    "nooit|altijd|niets ik|we|wij|hij|ze|het",
    "niets aan|mis|bijzonders|anders|nieuws|ergs|te|voor|werkt|gekregen|gehoord|ontvangen",
    "niet _ *en ik|we|hij|iedereen",
    "niet iedereen|alleen|zomaar|ontvangen|gekregen|vergeten|bevonden|aangekomen|geleverd",
    "niet _ ge*en|ge*d|ge*t",
    "altijd weer|hetzelfde|dezelfde|gedoe|problemen|leuk|fijn|goed|maar",
    "altijd een genoegen|gedoe|probleem|plezier",
    "altijd * dezelfde|hetzelfde",
    "alleen nog|maar|even|de|het|een|twee|dit|dat|omdat|a[l]s",
    "altijd|nooit|niets|niemand|geen is|was|zijn|heeft|hebben|werkt|kwam|komt|gaat|doet",
    f"{_DO} * * alleen de|het|een|mijn eerste|laatste|tweede|derde|nieuwe|naam|datum",
    "geef|toon|zoek * zonder",
    f"{_DO} niet|geen wat|waarom|hoe|zorgen",
    "zoek|kijk|ch[e]ck|controleer|leg|vertel * waarom|hoe|wat|of",
    "geef|stuur|toon|noem|lees|zoek * alleen de|het|een|twee|drie",
    "vergeet niet|nooit mij|me|ons|de|het|om|dat|morgen",
    "maak * geen zorgen",
    "zeg niet dat",
    "wil|willen * alleen * weten|vragen|melden|zeggen|even|laten|maar|bedanken|doorgeven|checken",
    "wil|willen|wou niet|geen vervelend|lastig|ruzie|zeuren|weten|onbeleefd|storen|problemen",
    "wil|willen * niet zeggen|dat het",
    "zonder * te * heb|heeft|hebben|afgeschreven|geannuleerd|gewijzigd|verwijderd",
    "heeft|hebben|hebt|is|zijn|werd|werden * zonder",
    "moet|moeten * altijd lang|wachten|betalen",
    "moet|moeten * ge*|zijn|toch",
    "moet ik|wij|we altijd|eerst|elke",
    "graag niet|geen probleem|dank",
    "mag niet baten|deren|klagen",
    "limiet|budget * geldt|gelden|is niet",
    "*en altijd wachten",
)

_COMMON: Final = (
    "de|het|een|en|of|maar|want|dus|dat|die|dit|deze|ik|je|jij|u|hij|zij|ze|we|wij|jullie|me|mij",
    "jou|jouw|uw|ons|onze|mijn|hem|haar|hun|in|op|aan|bij|met|van|voor|naar|tot|uit|om|over|onder",
    "tussen|te|ten|per|via|als|dan|er|daar|hier|ook|nog|al|wel|toch|even|maar|zo|nu|heel|meer|niet",
    "nooit|niets|geen|niemand|nergens|altijd|steeds|alleen|enkel|uitsluitend|zonder|liever|graag",
    "alsjeblieft|alstublieft|aub|svp|bedankt|dank|ja|nee|oké|ok|goed|prima|weer|langer|voortaan",
    "vanaf|vandaag|toekomst|vervolg|is|zijn|was|ben|bent|heb|hebt|heeft|hebben|mag|mogen|kan|kun",
    "kunt|kunnen|moet|moeten|hoeft|hoef|hoeven|wil|willen|zal|zullen|zou|zouden|wordt|worden|wat",
    "vergeet|negeer|schrap|gezegd|zei|geschreven|gevraagd|regel|regels|instructie|limiet|geldt|gelden",
    "elke|elk|iedere|ieder|alle|alles|iets|eigenlijk|gerust|gewoon|nodig|vervallen|bedacht|trek",
    "vermijd|stop|doe|doen|maximaal|eerst|mee|wat",
)

DUTCH: Final = Words(
    orders=_ORDERS,
    always=_ALWAYS,
    asking=(
        f"{_ASKS} {_YOU} * nooit|altijd|voortaan|geen|stoppen",
        f"{_ASKS} {_YOU} * niet meer|langer",
        f"{_ASKS} {_YOU} * vanaf nu|vandaag",
    ),
    limits=(
        "vanaf nu|vandaag|heden|morgen",
        "van nu af",
        "voortaan|steeds",
        "in|voor het vervolg|toekomst",
        "in|voor de toekomst",
        "de volgende keren",
        "elke|iedere keer",
        "telkens",
    ),
    bounds=(
        "altijd|nooit|alleen|enkel|uitsluitend|zonder|tenzij|totdat|behalve",
        "niet|geen meer|langer|later|duurder dan",
        "maximaal|hoogstens|hooguit|minstens|minimaal|ten",
        "in plaats van",
        "voordat je|jij|u|jullie|we",
        "voor|na|bij|met elke|elk|iedere|ieder",
        f"{_EACH} dag|week|maand|ochtend|avond|maandag|vrijdag|antwoord|bericht|commit|wijziging",
    ),
    requests=(
        _DO,
        "spreken|gebruiken|schrijven|werken|praten wij|we",
        "prijzen|bedragen|antwoorden|facturen|betalingen|pakketten|leveringen|afspraken",
    ),
    joins=("en|maar|dus|daarom|want|of|graag|alsjeblieft|alstublieft|gelieve",),
    fillers=(
        "en|maar|dus|ook|dan|ok|oké|goed|ja|nee|even|eens|wel|nog|verder|trouwens|overigens|bedankt",
        "indien a[l]s mogelijk",
        "a[l]s|indien het|dat kan|mogelijk",
    ),
    exceptions=_EXCEPTIONS,
    reports=(
        "zei|zeiden|zegt|beweert|beweerde|beweren|schreef",
        "zij|ze|mensen zeggen|beweren",
        "heeft|hebben|had|hadden|werd * gezegd|gevraagd|verteld|geschreven|beloofd|aangeraden",
        "volgens",
        "staat|stond in|op|dat",
        "mail|brief|handleiding|website|contract staat|stond|zegt",
    ),
    questions=(
        "waarom|wie|wat|wanneer|waar|welke|welk|hoe|hoeveel|waarvoor",
        "kan|mag|moet|heb|is|zijn|wordt|heeft|hoef|zal ik|het|de|dat|er|wij|we|hij|ze|iemand",
    ),
    subjects=("ik|het|hij|zij|ze|we|wij|dat|dit|er|want|omdat|niemand|die",),
    takes_back=(
        "vergeet|negeer|schrap|laat * over|met|gezegd|regel|instructie|limiet|zitten",
        "* geldt|gelden niet meer|langer",
        "* is|zijn niet meer|langer nodig|van|geldig",
        "* is|zijn vervallen|achterhaald",
        "ik heb me|mij|het bedacht|anders",
        "ik ben van gedachten|mening veranderd",
        "ik trek * in|terug",
    ),
    negations=("niet|nooit|geen|niets|niemand|nergens|zonder|vermijd|vermijden|noch|stop",),
    common=_COMMON,
    allows=(
        f"{_YOU}|we mag|mogen|kan|kun|kunt|kunnen * * weer",
        f"mag|mogen|kan|kun|kunt|kunnen {_YOU}|we * * weer",
        f"{_YOU}|we hoeft|hoef|hoeven * * niet|niets|geen meer|langer",
        f"{_YOU}|we moet|moeten * * niet meer|langer",
        "* hoeft|hoeven niet meer|langer",
        "* mag|mogen|kan|kunnen weer",
        "* is|zijn weer goed|oké|ok|prima|toegestaan|welkom",
        f"eigenlijk mag|kan|kun|kunt|mogen {_YOU}",
    ),
    permits=(
        f"{_YOU}|we mag|mogen|kan|kun|kunt|kunnen * * nu|gerust|toch|wel",
        f"nu mag|mogen|kan|kun|kunt|kunnen {_YOU}",
        f"{_YOU}|we hoeft|hoef|hoeven niet|geen",
        "* is|zijn|vind * ook|nu goed|oké|ok|prima|toegestaan",
        "* mag|mogen|kan|kunnen ook|nu",
        "ik|wij|we heb|hebben * niet|geen * meer|langer nodig",
        "het is * goed|oké|ok|prima|toegestaan",
    ),
    loosens=LOOSENING.loosens,
    unnamed=LOOSENING.unnamed,
    waits=LOOSENING.waits,
    topics=LOOSENING.topics,
    contrasts=(
        "van|naar|aan|voor|uit",
        "voor|na|tot|tussen",
        "over|onder",
        "mijn|jouw|uw|onze|ons",
        "alle|alles|sommige|alleen",
    ),
    endings=(
        "|e|en|t|n|s|jes",
        "en|t|d|de",
        "l|llen|lt|lde",
        "p|ppen|pt",
        "k|kken|kt",
        "m|mmen|mt",
        "n|nnen|nt",
        "s|ssen|st",
        "t|tten",
        "g|ggen|gt",
        "aag|agen|aagt",
        "aak|aken|aakt",
        "aal|alen|aalt",
        "aan|anen|aant",
        "aar|aren|aart",
        "aat|aten",
        "eef|even|eeft",
        "eel|elen|eelt",
        "eer|eren|eert|eerd",
        "em|emen|emt",
        "ijf|ijven|ijft",
        "oon|onen|oont",
        "oop|open|oopt",
        "uur|uren|uurt",
    ),
    openers=(
        "ja|nee|oké|ok|goed|prima|bedankt|dank|nu|en|maar|eigenlijk|dus|alsjeblieft|sorry|trouwens",
    ),
    hedges=(
        "deze keer|dit keer",
        "voor één|een keer",
        "voor deze keer",
        "je|jij|u|hij|zij|ze|iemand|niemand * zei|zegt|gezegd|denkt|dacht|schrijft|schreef|beweert",
        "ik|we|wij * nooit|niet * gezegd|bedoeld|zeg|zei|bedoel|wil",
        "niet dat|omdat|zo|waar|alsof",
        "a[l]s|indien|tenzij|mits|of|zolang ik|we|het|je|u|hij|ze|de|er|dat",
    ),
    letters=(
        "beste|hallo|hoi|hey|dag|geachte|lieve|groet|groeten|groetjes|mvg",
        "goedemorgen|goedemiddag|goedenavond|goedendag",
        "met vriendelijke|hartelijke",
        "vriendelijke groet|groeten",
    ),
    corrects=("nee|eigenlijk|sorry|correctie|pardon|toch", "of liever"),
    tags=("oké|ok|okee|ja|goed|alsjeblieft|graag|begrepen|duidelijk", "is dat goed"),
    lists=("en|of|noch|maar",),
    prefixes=("aan|af|op|uit|in|mee|over|door|terug|toe|weg|na|bij|voor",),
    goes_on=(
        "en|of|maar|dus|tenzij|totdat|als|wanneer|voordat|nadat|omdat|zonder|dat|die|mits",
        "op|in|aan|bij|met|van|voor|naar|uit|om|over|onder|tussen|te|per|via|dan",
    ),
)
"""The words of Dutch."""
