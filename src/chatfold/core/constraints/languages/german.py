"""The words of German that standing instructions are made of.

German asks in three ways ("Ruf nie an", "Rufen Sie nie an", "Nie anrufen"), and what is asked for
may stand before "bitte" or behind it. A word that is English, too, is written with a letter in
brackets (`f[a]lls`), so that English texts are not read for its sake.
Not here: the phrases that make a sentence one (`german_orders`), what each kind of words is for
(`words`).
"""

from __future__ import annotations

from typing import Final

from chatfold.core.constraints.languages.german_orders import (
    ALWAYS,
    CAN,
    DO,
    EACH,
    EXCEPTIONS,
    MAY,
    MUST,
    NEED,
    NO,
    NOT,
    ONLY,
    ORDERS,
    SHALL,
    USE,
    WANT,
)
from chatfold.core.constraints.languages.loosening import GERMAN as LOOSENING
from chatfold.core.constraints.words import Words

__all__ = ["GERMAN"]

GERMAN: Final = Words(
    orders=ORDERS,
    always=ALWAYS,
    asking=(
        f"könntest|könnten|würdest|würden|{CAN} du|sie|ihr * nie|immer|künftig|aufhören|{NO}",
        f"könntest|könnten|würdest|würden|{CAN} du|sie|ihr * nur|jedes|in noch|mal|zukunft",
    ),
    limits=(
        "ab jetzt|sofort|heute|nun",
        "von jetzt|nun|heute an|ab",
        "in zukunft",
        "künftig|zukünftig|kuenftig|fortan|weiterhin|generell|durchgehend|dauerhaft|jederzeit",
        "jedes mal",
        "für alle weiteren|künftigen|zukünftigen",
    ),
    bounds=(
        "bis ich|wir",
        "bevor du|sie|ihr|wir",
        "statt|anstatt|anstelle",
        "nicht mein*",
        "erst wenn|nachdem|nach|ab",
        "bei|aus|für|auf alles|a[l]len|alle",
    ),
    requests=(DO,),
    joins=("bitte|deshalb|daher|deswegen|darum|drum|also",),
    fillers=(
        "und|oder|also|auch|doch|dann|mal|ok|okay|gut|ja|ach|noch|wirklich|einfach|außerdem|übrigens",
        "wenn|f[a]lls möglich",
        "wenn es geht|passt",
    ),
    exceptions=EXCEPTIONS,
    reports=(
        "sagte|sagten|meinte|meinten|behauptete|behaupteten|hieß|hiess|angeblich",
        "er|es|man|frau|mann|chef|kollege|kollegin|support|anleitung|seite|arzt|wer sagt|meint",
        "freund|freundin|mutter|vater|niemand|mitarbeiter|mitarbeiterin sagt|meint|schreibt",
        "hat|haben|hatte|hatten|wurde|habt|hast|mir|uns|man * gesagt|geraten|gemeint|versprochen",
        "bat|baten|riet|rieten|empfahl mich|mir|uns|darum",
        "laut ihr*|anleitung|webseite|vertrag|mein*|dem|der|hotline|agb|arzt",
        "da|dort|hier|packung|webseite|mail|vertrag|anleitung steht|stand",
    ),
    questions=(
        "warum|wieso|weshalb|wer|was|wann|wo|woher|wohin|wozu|wen|wem|welche|welcher|welches|welchen",
        "wie [!g]*|geht|gut|groß",
        f"kann|könnten|könntest|hast|haben|{MAY}|{CAN} du|sie|ich|wir|es|er|man|das|der|die|ihr",
        f"hat|gibt|ist|sind|wird|war|bin|wollen|{MUST}|{SHALL} es|er|man|das|der|die|ich|wir|sie",
    ),
    takes_back=(
        "vergiss|vergesst|ignorier|ignoriere|streich|streiche * über|zu|zum|zur|mit|gesagt|regel",
        "vergessen|ignorieren|streichen sie * über|zu|zum|zur|mit|gesagt|regel",
        "das|die|mein|meine mit|regel|vorgabe|budget|limit * gilt|gelten nicht|nimmer mehr|länger",
        "* ist|sind hinfällig|hinfaellig|überholt|aufgehoben",
        "das mit * hat sich erledigt",
        "ich|wir nehme|nehmen * zurück|zurueck",
        "ich|wir hab|habe|haben es|mir|uns * anders überlegt|ueberlegt",
    ),
    negations=(
        f"keinem|keiner|keinerlei|ohne|niemand|niemandem|keinesfalls|weder|{NOT}",
        "vermeide|vermeiden|verzichte|verzichten|unterlass|unterlassen",
    ),
    common=(
        "der|die|das|den|dem|des|ein|eine|einen|einem|einer|eines|und|oder|aber|denn|sondern|dass",
        "ob|ich|du|er|sie|es|wir|ihr|mich|mir|dich|dir|uns|euch|ihn|ihm|ihnen|sich|man|mein|meine",
        "meinen|meinem|meiner|dein|deine|deinen|deinem|deiner|unser|unsere|unseren|unserem|ihre",
        "ihren|ihrem|in|im|ins|an|am|auf|aus|bei|beim|mit|nach|von|vom|vor|zu|zum|zur|über|ueber",
        "unter|für|fuer|um|ab|bis|per|gegen|durch|als|wie|wenn|falls|so|da|hier|dort|dann|also",
        "auch|doch|ja|nein|mal|bitte|danke|ohne|mehr|länger|wieder|lieber|keinem|keiner|keinerlei",
        f"{NOT}|{ONLY}|höchstens|maximal|mindestens|jetzt|nun|sofort|künftig|zukunft|heute",
        "weiterhin|noch|schon|gern|gerne|ruhig|einfach|eigentlich|alles|etwas|sonst|egal|fall",
        f"{EACH}|{MAY}|{CAN}|kann|bin|ist|sind|sei|sein|war|wäre|habe|hab|haben|hat|werden|wird",
        f"{MUST}|{SHALL}|{WANT}|{NEED}|was|vergiss|vergessen|ignoriere|ignorieren|streich",
        "streiche|gesagt|geschrieben|gilt|gelten|regel|regeln|anweisung|nehme|zurück|zurueck",
        f"anders|überlegt|okay|ok|gut|erlaubt|ordnung|willkommen|möglich|nötig|hinfällig|erledigt|{USE}",
    ),
    allows=(
        f"du|sie|ihr|wir {MAY}|{CAN} * * wieder",
        f"{MAY}|{CAN} du|sie|ihr|wir * * wieder",
        "* dürfen|darfst|duerfen sie|du|ihr * * wieder",
        f"du|sie|ihr {MUST}|{NEED} * * nicht|nichts|kein mehr|länger|weiter",
        "* muss|müssen|muessen nicht mehr",
        "* ist|sind wieder okay|ok|erlaubt|möglich|gut|willkommen|in",
        "* ist|sind doch|jetzt|nun|ab wieder okay|ok|erlaubt|möglich|willkommen|in",
        "* ist|sind nicht mehr nötig|notwendig|erforderlich|tabu|verboten",
    ),
    permits=(
        f"du|sie|ihr|wir {MAY}|{CAN} * * jetzt|nun|doch|ruhig",
        f"jetzt|nun {MAY}|{CAN} du|sie|ihr",
        f"du|sie|ihr {MUST}|{NEED} nicht",
        "es ist|wäre * erlaubt|ordnung",
        "* ist|sind * ok[a]y|erlaubt|möglich",
        "* ist|sind auch|jetzt|nun * ordnung|recht",
        "* geht|gehen|passt|passen auch|jetzt",
        f"ich|wir brauche|brauchen|will|wollen * nicht|{NO} * mehr",
    ),
    loosens=LOOSENING.loosens,
    unnamed=LOOSENING.unnamed,
    waits=LOOSENING.waits,
    topics=LOOSENING.topics,
    contrasts=(
        "von|an|zu|zum|zur|nach|für|aus",
        "vor|nach|um|ab|bis|zwischen",
        "über|unter",
        "mein|meine|meinen|meinem|dein|deine|deinen|unser|unsere|ihr|ihre",
        "alle|alles|manche|einige|nur",
    ),
    endings=("|e|en|er|es|em|n|s|t|st", "e|en|er|es|em|st|t|n", "en|e|t|st|est|et", "n|e|t|st"),
    openers=(
        "ja|nein|nee|doch|klar|gut|okay|ok|danke|super|prima|jetzt|nun|bitte|und|aber|eigentlich|also",
        "in|alles|na|vielen ordnung|klar|gut|schön|dank",
    ),
    hedges=(
        "diesmal|ausnahmsweise",
        "du|er|sie|es|man|wer|niemand|jemand|keiner * sag*|gesagt|meint*|denk*|glaub*|behaupt*",
        "ich|wir * nie|nicht|niemals * sage|sagen|gesagt|gemeint|meine|erlaubt|will|möchte",
        "ich|wir habe|haben nie|nicht|niemals",
        "nicht|nie dass|weil|so|wahr|als",
        "wenn|falls|sofern|solange|außer|ob|als ich|wir|es|du|sie|er|das|ob",
        "damit|ehe|woher|wieso|warum",
    ),
    letters=(
        "liebe|hallo|hi|hey|moin|servus|grüezi|gruß|gruss|grüße|lg|mfg|vg|tschüss",
        "lieber|sehr|guten herr|kollege|kunde|geehrte|geehrter|geehrtes|morgen|tag|abend",
        "mit|viele|beste|liebe|herzliche freundlichen|freundlichem|besten|grüße|grüßen|gruß|gruss",
    ),
    corrects=(
        "nein|nee|doch|korrektur|sorry|eigentlich|vielmehr|moment|entschuldigung|pardon|ach",
    ),
    tags=("ok|okay|ja|gell|oder|bitte|verstanden|klar|einverstanden|ne", "alles|nicht klar|wahr"),
    lists=("und|oder|noch|sowie",),
    prefixes=("ab|an|auf|aus|ein|los|mit|nach|um|vor|weg|weiter|zu|zurück",),
    goes_on=(
        "und|oder|aber|sondern|außer|bis|wenn|falls|während|bevor|nachdem|weil|denn|ohne|sofern|dass",
        "an|am|auf|aus|bei|für|im|in|ins|mit|nach|von|vom|vor|zu|zum|zur|zwischen|über|unter|als",
    ),
)
"""The words of German."""
