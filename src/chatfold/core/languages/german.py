"""The words of German that standing instructions are made of.

German asks in three ways ("Ruf nie an", "Rufen Sie nie an", "Nie anrufen"), and what is asked for
may stand before "bitte" or behind it. A word that is English, too, is written with a letter in
brackets (`f[a]lls`), so that English texts are not read for its sake.
Not here: what each kind of words is for (`constraint_words`).
"""

from __future__ import annotations

from typing import Final

from chatfold.core.constraint_words import Words

__all__ = ["GERMAN"]


_NO: Final = "kein|keine|keinen"
_NOT: Final = f"nie|niemals|nicht|nichts|{_NO}"
_ALWAYS: Final = "immer|stets|ausschließlich|ausschliesslich|grundsätzlich|grundsaetzlich"
_ONLY: Final = f"nur|{_ALWAYS}"
_FIRST: Final = "vorher|zuerst|erst"
_EACH: Final = "jede|jeder|jedes|jeden|jedem"
_MAY: Final = "darf|darfst|dürfen|duerfen|dürft"
_CAN: Final = "kannst|können|koennen|könnt"
_SHALL: Final = "soll|sollst|sollen|sollt|sollte|solltest|sollten"
_MUST: Final = "muss|musst|müssen|muessen|müsst"
_NEED: Final = "brauchst|brauchen|braucht|brauche|benötigt|erfordert"
_WANT: Final = "möchte|moechte|möchten|will|wollen|hätte|hätten|würde|würden"
_ASK: Final = "frag|frage|fragen|fragt"
_TELL: Final = "sag|sagen|sagt|gib|geben|sprich|klär|kläre|melde|informiere|informieren"
_SPEAK: Final = "antworte|antworten|antwortet|sprich|sprechen|rede|reden|redet"
_WRITE: Final = "schreib|schreibe|schreiben|schreibt"
_USE: Final = "verwende|verwenden|benutz|benutze|benutzen|nutze|nutzen|nimm|nehmen"
_KEEP: Final = "h[a]lt|halte|halten|haltet"
_EXPLAIN: Final = "erklär|erkläre|erklären|erklaer|erklaere"
_CONSENT: Final = "okay|ok|freigabe|zustimmung|erlaubnis|einwilligung|genehmigung"
_APPROVE: Final = "freigeben|absegnen|genehmigen|zustimmen|gegenlesen"
_AGREED: Final = "ok|okay|zustimme|zugestimmt|bestätige|bestätigt|freigegeben|gelesen|geprüft"
_TONGUES: Final = "deutsch|englisch|französisch|italienisch|spanisch|türkisch"
_UNITS: Final = (
    "euro|dollar|franken|chf|celsius|kilometern|kilogramm|gramm|litern|metern|prozent|netto|brutto"
    f"|{_TONGUES}"
)
_WEEK: Final = "montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags|werktags"
_DAY: Final = "vormittags|nachmittags|abends|morgens|nachts|mittags"
_DIET: Final = "vegan|vegetarisch|halal|koscher|glutenfrei|laktosefrei"
_ILL: Final = "*allergie|*allergien|*intoleranz|*intoleranzen|*unverträglichkeit"
_HOLDS: Final = (
    f"{_NOT}|{_ONLY}|{_EACH}|niemand|niemanden|niemandem|ohne|lieber|höchstens|maximal|überall"
    "|unverändert|metrische|metrischen"
)
# What somebody is asked to do.
_DO: Final = (
    f"{_ASK}|{_TELL}|{_SPEAK}|{_WRITE}|{_USE}|{_KEEP}|{_EXPLAIN}|sorg|sorge|sorgen|lass*|lies|"
    "hilf|hol|ruf|rufe|rufen|schick|schicke|schicken|schickt|melde|melden|sende|senden|bestell|"
    "bestelle|bestellen|buch|buche|buchen|gebt|nehmt|nutz|benutzt|mach|mache|machen|macht|zeig|"
    "zeige|zeigen|nenn|nenne|nennen|lösch|lösche|löschen|loesch|loesche|loeschen|änder|ändere|"
    "ändern|aendere|aendern|fass|fasse|fassen|rühr|rühre|rühren|push|pushe|pushen|commit|committe|"
    "committen|merge|mergen|installier|überweise|überweisen|ueberweise|ueberweisen|zahl|zahle|"
    "zahlen|bezahl|bezahle|bezahlen|deploye|deployen|liefere|liefern|leg|lege|legen|stell|stelle|"
    "stellen|bearbeite|bearbeiten|arbeite|arbeiten|teste|testen|führ|führe|führen|fuehre|fuehren|"
    "bleib|bleibe|bleiben|rund|runde|runden|rechne|rechnen|bau|baue|bauen|füg|füge|fügen|erstell|"
    "erstelle|erstellen|veröffentliche|veröffentlichen|speicher|speichere|speichern|hinterlass|"
    "hinterlasse|hinterlassen|behandle|behandeln|geh|gehe|gehen|erwähne|erwähnen|empfiehl|"
    "empfehlen|such|suche|suchen|plane|planen|verschieb*e|bring|bringe|bringen|setz|setze|setzen|"
    "leite|leiten|starte|starten|pass|passe|passen|prüf|prüfe|prüfen|begründe|begründen|berechne|"
    "berechnen|übersetze|übersetzen|beginne|beginnen|komm|komme|kommen|pack|packe|packen|zitier|"
    "entschuldige|entschuldigen|erinner|erinnere|bestätige|bestätigen|berücksichtige|"
    "berücksichtigen|ignorier|formatier|sei|seid|seien|erzähl|erzähle|erzählen|verrat|verrate|"
    "verraten|teile|teilen|behalte|behalten|versprich|verspreche|versprechen|biet|biete|bieten|"
    "klären|belaste|belasten|schließ|schließe|schließen|zähl|zähle|zählen|vergleiche|vergleichen|"
    "merk|merke|merken|achte|achten|schau|schaue|schauen|besorg|besorge|besorgen|trag|trage|"
    "tragen|wähl|wähle|wählen|vereinbare|vereinbaren|nennt|verschick|verschicke|verschicken|"
    "ersetz|ersetze|ersetzen|hinterleg|hinterlege|hinterlegen|klingel|klingeln|*iere*|kauf|kaufe|"
    "kaufen|wiederhol|wiederhole|wiederholen|gender|gendere|lad|lade|laden|spiel|spiele|spielen|"
    "zieh|ziehe|ziehen|erstatte|erstatten|benenn|benenne|benennen|entfern|entferne|entfernen|"
    "notier|trenn|trenne|trennen|erfinde|erfinden|rate|raten|beantworte|beantworten|erinnern|log|"
    "logge|loggen"
)

GERMAN: Final = Words(
    orders=(
        f"niemals|nichts|keinerlei|{_NO}|{_ALWAYS}",
        # "Nie" alone begins every second sentence of Polish. A phrase with a word of `contrasts`
        # has a `*`: one without is taken away before the contrasts are looked for.
        "nie vor*|nach*|ohne|mehr|unter|über|auf|mit|bei|am|an|in|zwischen|direkt|per|für|zu",
        "nie * *[!t]en|*[!~]ten|*ern|*eln",
        # Not "nur der", "nur ein", "nur zwei": that is told, not asked for.
        "nur [!dez0123456789]*|di[!e]*|dienst*|do*|deu*|e[!i]*|einf*|za*|ze*|zi*|zw[!e]*",
        "maximal|maximale|höchstens|hoechstens|mindestens|durchgehend|unbedingt",
        "lieber * als|statt|per|nicht|ohne|mit|erst|vorher|zu|am|vor|kein|keine",
        "nicht mehr|länger|öfter|später|früher|über*|unter*|vor*|nach*|ohne|weniger|zwischen",
        f"vor|nach|bei|zu|für|fuer {_EACH} * *en|bitte|immer .",
        f"vor|nach {_EACH} [!~]* {_MUST}|{_SHALL}",
        f"vor|nach|bei|zu|für|fuer {_EACH} * {_WANT}|brauche|erwarte ich|wir",
        "vor dem *n * immer|erst|zuerst|bitte|nachfragen|fragen",
        "*[!nlf]en nicht *en .",
        "überall|ueberall *en|typ*",
        "im zweifel",
        "erst|zuerst fragen|nachfragen|absprechen|testen|prüfen|lesen|planen",
        f"{_DO} * * {_HOLDS}",
        f"*n sie * * {_HOLDS}",
        f"im|in|für|bei [!~]* nur|{_NOT} * verwenden|benutzen|nutzen|nehmen|ändern|löschen .",
        f"wäre|waere super|toll|schön|gut|nett|lieb wenn du|sie|ihr * {_NOT}|{_ONLY}",
        f"in|auf|an der|dem [!~]* nie|niemals|nichts|{_NO} * *[!d]en .",
        # who is asked
        f"{_ASK} * lieber|immer|{_FIRST}",
        f"{_ASK} * mich|uns|nach * bevor|wenn|falls|sobald",
        f"{_ASK} mich|uns|nach .",
        f"{_TELL} * bevor|{_FIRST}",
        f"bevor du|sie|ihr|wir|etwas|irgend* * [!~]* brauche|möchte|muss|{_ASK}|{_TELL}",
        f"warte|warten|wartet * auf mein|meine|unser|unsere go|{_CONSENT}",
        # how to speak
        f"{_SPEAK} * in|mit|so|kurz|knapp|ausführlich|langsam|langsamer|deutlich|lauter|{_TONGUES}",
        f"{_WRITE} * lieber|statt|ganzen|einfacher|kleinbuchstaben|knapp",
        f"{_WRITE} in|auf|im|für einfachem|britischem|anfänger|laien|kinder|{_TONGUES}",
        f"{_WRITE} alle|jede * aus|groß|klein",
        f"{_WRITE} * in|auf {_TONGUES}",
        "duz|duze|duzen|siez|sieze|siezen",
        "nenn|nenne|nennen|nennt mich|uns",
        "nennen sie mich|uns [!~]*",
        f"alle|{_EACH}|neue [!~]* gehören|gehört in|nach|unter|zu",
        "merk|merke|merken dir|sie|euch",
        "fass|fasse|fassen|fasst dich|euch|sie kurz|sich|knapp",
        f"{_KEEP} * kurz|knapp|einfach|geheim|frei|sauber|klein|vertraulich|raus|stabil|unter",
        "weniger [!~]* mehr|bitte",
        f"{_KEEP} dich|euch|sie|sich * an|sich",
        "behandle|behandeln|behandelt * vertraulich|wie|als|geheim",
        f"{_EXPLAIN} * so|wie|als|für|einfach",
        f"{_EXPLAIN} * mir|alles|es als|wie",
        "bleib|bleibe|bleiben * unter|bei|beim|im|innerhalb|sachlich|höflich|freundlich|kurz",
        "sei|seien|seid * kurz|knapp|höflich|förmlich|freundlich|direkt|ehrlich|präzise|vorsichtig",
        "kurze|knappe|ausführliche|einfache antworten|sätze|texte|nachrichten|erklärungen",
        "spar|spare|sparen dir|sich|euch|mir|sie",
        "rund|runde|runden * auf zwei|drei|ganze|volle|die|#",
        # what to see to
        "achte|achten|achtet * darauf|drauf|auf",
        "stell|stelle|stellen|stellt * sicher",
        "denk|denke|denken * daran|dran",
        "geh|gehe|gehen * davon aus",
        "vergiss|vergesst|vergessen * nicht|nie",
        "sorg|sorge|sorgen|sorgt * dafür|dafuer",
        "hör|höre|hören|hört|hoer|hoeren * auf",
        "vermeide|vermeiden|vermeid|verzichte|verzichten|unterlasse|unterlassen|beschränke",
        "lass|lasse|lassen|lasst * weg|raus|f[i]nger|bleiben|sein|ruhe|so|ständige|unangetastet",
        "f[i]nger weg",
        "befolge|befolgen|beachte|beachten * immer|stil|regeln|vorgaben|richtlinien|konventionen",
        "mach|mache|machen|teste|testen|prüf|prüfe|prüfen * regel|gewohnheit|vorher|zuerst|erst",
        f"{_USE} * statt|einheiten|format|*-format|einfache|metrische",
        "schick|schicken|sende|senden|leite|liefere|liefern * alle|alles * an|ins|in|zu|nach|über",
        # what is written, and how
        "gib|geben|nenne|nennen|zeig * uhrzeiten|preise|zahlen|entfernungen|maße in|an|als|mit|im",
        "zeig|zeige|nenn|nenne|nennen|zitiere deine|ihre|alle|die|immer quelle|quellen",
        "preise|beträge|summen|zahlen|kosten * in|auf|als|im|inklusive|inkl|ohne",
        f"alle|sämtliche * in|als|im|auf format|schweizer|{_UNITS}",
        "datumsangaben|uhrzeiten|temperaturen|entfernungen|gewichte|maße|einheiten in|im|als",
        "variablennamen|funktionsnamen|bezeichner|kommentare * auf|in|im",
        f"*[!rt]|zimmer|gewicht {_ONLY} erst|in|im|mit|per|auf|an|als|ohne|vor|nach|über|am",
        f"*[!rt]|zimmer|gewicht|*en|*e {_ONLY} {_WEEK}|{_DAY}",
        f"wir|ich *e|*en {_ONLY} {_WEEK}|{_DAY}",
        "tests|dateien|code|neue|neuer|skripte|typen * gehören|gehoeren|gehört|kommen|liegen",
        f"alle|{_EACH} * {_MUST}|{_SHALL}|{_MAY}|{_NEED}|bekommt|bekommen",
        "alle|jede|jeder|jedes * läuft|laufen|geht|gehen über|durch",
        "*namen|*titel|*nachrichten|überschriften * beginnen|enden mit",
        f"wir {_USE}|{_WRITE} * nie|statt|{_ONLY}|{_NO}",
        "*[!dt] statt|anstatt|anstelle [!~]*",
        "ein|eine|einen [!~]* pro [!~]*",
        f"der|die|das|mein|unser ton|stil|bericht|text|titel|code|schrift|farbe {_MUST}|{_SHALL}",
        f"der|die|das|meine|unsere antwort|antworten|zusammenfassung|ausgabe {_MUST}|{_SHALL}",
        # when, and how much
        f"{_WEEK}|{_DAY} * nie|nicht|nur|gar|besten|bitte|niemand|{_NO}",
        f"am wochenende * nur|{_NOT}",
        f"vor|nach|ab # uhr * nur|bitte|{_NOT}",
        f"zwischen [!~]* und [!~]* * nur|bitte|{_NOT}",
        f"pro [!~]* * nur|höchstens|maximal|mindestens|{_NOT}",
        f"über|ueber # * gehe|zahle|möchte|will|bitte|nur|muss|{_ASK}",
        f"mehr als #|ein|einmal|zwei|drei|vier|fünf|zehn * {_WANT}|{_SHALL}|{_MAY}|zahle|gebe|kann",
        "mein|unser|das budget*|limit*|preislimit * ist|liegt|beträgt|betraegt|sind * #",
    ),
    always=(
        f"{_WANT} * {_ONLY} per|via|schriftlich|telefonisch|{_WEEK}|{_DAY}",
        f"bitte künftig|zukünftig|kuenftig|generell|lieber|erst|überall|keinem|{_NOT}|{_ONLY}",
        f"bitte * nie|niemals|künftig|{_NO}|{_ONLY}",
        f"bitte in|im|auf *metern|format|*-format|stunden|{_UNITS}",
        f"bitte auf|in|bei|für|fuer a[l]len|alle|{_EACH}",
        f"nur|immer|{_NOT} * bitte .",
        f"ab jetzt|sofort|heute|nun|morgen bitte|alle|alles|nie|auf|per|ohne|{_NO}|{_ONLY}",
        f"zukunft|an bitte|alle|alles|nie|{_NO}|{_ONLY}",
        "auf|unter keinen fall|umständen|umstaenden",
        "keinesfalls",
        f"du|sie|ihr {_MAY} * nur|{_NOT}",
        f"{_MAY} du|sie|ihr * nur|{_NOT}",
        f"du|sie|ihr {_SHALL} * {_FIRST}|{_NOT}|{_ONLY}",
        f"du|sie|ihr {_MUST} * {_FIRST}|{_EACH}|{_ONLY}",
        f"niemand|keiner|nichts|niemandem {_MAY}|{_SHALL}",
        "wichtig ist|wäre|unbedingt dass",
        "darf|dürfen|duerfen * nur|nirgends|niemals|nie|nicht|nichts|kein|keine * werden|kosten",
        f"darf|dürfen|duerfen * nirgends|{_NOT} * auftauchen|enthalten|verlassen|sehen|erfahren",
        f"{_MAY}|{_SHALL}|{_MUST} * höchstens|maximal|unter * euro|kosten",
        f"{_MAY}|{_SHALL}|{_WANT} * teurer|länger|größer|weiter|mehr|über|unter als|#",
        f"{_WANT} * höchstens|maximal|unter #",
        f"wir dürfen|duerfen * nichts|{_NO}",
        f"{_MUST} ein|einen|eine|mindestens * haben",
        f"{_MUST} * bleiben|enthalten|unterstützen|funktionieren|laufen|passen|beginnen|enden",
        f"{_SHALL} * bleiben|enthalten|klingen|beginnen|enden",
        f"{_MUST} erlaubt|kostenlos|möglich|inklusive|barrierefrei|abwärtskompatibel|{_DIET} sein",
        f"{_MUST} * gekühlt|geprüft|getestet|dokumentiert|bestätigt|genehmigt|unterstützt werden",
        "ist|sind|bleibt|bleiben tabu|pflicht|vertraulich|geheim",
        "ist|sind|wäre * ein muss",
        "das bleibt|bleibe unter uns",
        f"gehören|gehört|gehoeren immer|{_NOT} * in|ins|auf|nach|unter",
        "unter # * halten|bleiben",
        "vor dem *en *en .",
        f"{_USE}|{_WRITE} wir * auf|nie|statt|{_ONLY}|{_NO}",
        f"nur nach|mit * rückfrage|rücksprache|absprache|{_CONSENT}",
        f"ich|wir {_WANT} * gefragt|informiert|benachrichtigt werden",
        # consent
        f"ohne mein|meine|meinen|unsere|unser|ausdrückliche wissen|{_CONSENT}",
        "ohne rückfrage|rueckfrage|rücksprache|ruecksprache|absprache|nachfrage|vorwarnung",
        "ohne * zu fragen|informieren|benachrichtigen",
        f"bis|bevor|solange|wenn ich|wir * gesehen|gesagt|drübergeschaut|{_AGREED}",
        f"{_MUST}|{_WANT} ich|wir * vorher|zuerst|{_APPROVE}",
        f"ich|wir {_MUST}|{_WANT} * vorher|zuerst|{_APPROVE}",
        f"ich|wir {_WANT} * [!~]* bevor er|sie|es|etwas|du|ihr|das|irgend*",
        f"{_NEED} * mein|meine|unsere|die * {_CONSENT}",
        f"wenn|f[a]lls|sobald etwas|sich|irgend*|was * [!~]* {_ASK}|{_TELL}",
        # what somebody cannot have
        "bin|ist|sind|reagiere|reagiert * allergisch",
        f"habe|haben * {_ILL}",
        "habe|haben|h[a]t zöliakie|diabetes|laktoseintoleranz",
        f"h[a]t eine|mehrere * {_ILL}",
        "bin|ist|sind|seien * vegetarier|vegetarierin|veganer|veganerin|vegan|schwanger",
        "bin|ist|sind * diabetiker|diabetikerin|laktoseintolerant|schwerhörig|farbenblind",
        "im|einen rollstuhl",
        f"ich|wir {_NEED} * rollstuhl*|barrierefrei*",
        f"esse|essen|isst|trinke|trinken|trinkt|nehme|nimmt nur|nie|weder|{_NO}|{_DIET}",
        f"vertrage|vertragen|verträgt|vertraegt * nicht|{_NO}",
        f"esse|trinke|vertrage|sitze|fahre|fliege ich|wir * nie|nicht|{_NO}",
        f"darf|kann|können|dürfen nichts|{_NO} * essen|trinken|schlucken|steigen|heben|tragen",
        f"ich|wir ernähre|ernähren * {_DIET}",
        # what somebody would like
        "mir|uns wäre|waere|ist|sind|wären * lieber|liebsten",
        "ist|sind|wäre|waere|wären mir|uns lieber|liebsten",
        "am liebsten",
        "ich|wir bevorzuge|bevorzugen|hasse|hassen",
        f"ich|wir {_WANT}|fliege|fahre|reise|sitze|zahle|brauche * lieber|nie|{_ALWAYS}",
        f"ich|wir {_WANT} * {_NO}",
        f"ich|wir {_WANT} * nur noch",
        f"ich|wir {_WANT} nicht dass|mehr",
        f"ich|wir {_WANT} dass du|sie|ihr|man * * {_HOLDS}",
        f"{_WANT}|brauche ich|wir * nie|nichts|immer|lieber|{_NO}",
        f"{_WANT} ich|wir * in|auf {_UNITS}",
        f"ich|wir {_WANT}|brauche|erwarte * jeden|jede|jedes|täglich|wöchentlich|monatlich",
        f"ich|wir {_WANT} * alle antworten|preise|m[a]ils|änderungen|rechnungen|texte",
        f"ich|wir fliege|fliegen|reise|reisen|fahre|fahren|kaufe|zahle|zahlen|bezahle * {_ONLY}",
        "ich|wir fliege|fliegen|reise|reisen|fahre|fahren nicht mit|ohne",
        f"ich|wir mag|mögen|akzeptiere|akzeptieren|wünsche|wünschen nur|{_NO}",
        "ich|wir bestehe|bestehen auf|darauf",
        f"bin|sind * erst|{_ONLY} * erreichbar",
        "am besten erreichen|erreichst|erreicht|per|rufen|ruf|schreiben|schreib",
        "kann|können ich|wir nie|nicht .",
        "ich|wir kann|können * nicht|erst|nur vor|nach|ab|bis|zwischen #|mittag|feierabend",
        "habe|haben nur|erst * zeit",
        "kommt|kommen * nicht|in infrage|frage",
        f"du|sie|ihr {_CAN} mich|uns * nennen|duzen|siezen",
        f"wir {_CAN} * duzen|siezen",
        "bleiben wir|bleib * beim sie|du",
        "genannt|angesprochen|geduzt|gesiezt werden",
    ),
    asking=(
        f"könntest|könnten|würdest|würden|{_CAN} du|sie|ihr * nie|immer|künftig|aufhören|{_NO}",
        f"könntest|könnten|würdest|würden|{_CAN} du|sie|ihr * nur|jedes|in noch|mal|zukunft",
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
    requests=(_DO,),
    joins=("bitte|deshalb|daher|deswegen|darum|drum|also",),
    fillers=(
        "und|oder|also|auch|doch|dann|mal|ok|okay|gut|ja|ach|noch|wirklich|einfach|außerdem|übrigens",
        "wenn|f[a]lls möglich",
        "wenn es geht|passt",
    ),
    exceptions=(
        "leg|lege|legen|legt * nicht auf .",
        "buch*|änder*|verschieb*|tausch* * den|die|das|meinen|meine|mein * statt",
        # complaints and reports
        f"nie|niemals|immer|nur|nichts|{_NO} * ge*t|*gekommen|gefunden|war .",
        f"und|aber|noch|leider|habe|haben|h[a]t nie|nichts|{_NO} * erhalten|bekommen",
        "nie|niemals|immer|nur|nichts *[!r] ich|wir|er|es|man|ihr|jemand|mir",
        "nie|niemals|immer|nur|nichts ist|war|waren|sind|hat|haben|hatte|habe|kam|kommt|geht|muss",
        "nie|niemals|immer|nur klappt|klingelt|wird|läuft|stimmt|passt|bekommt|macht|steht",
        "nie wieder|im ich|wir|leben|so",
        "nie wieder * ich|wir",
        "nie wieder .",
        "bestelle|kaufe|buche|fliege|buchen|kaufen|bestellen * nie|nur|mehr wieder|mehr",
        "immer wenn ich|wir|es|man|er|die|der|das",
        "immer dies*|wieder|noch|gern|gerne|mehr|dasselbe|derselbe|so",
        "immer das gleiche|selbe",
        "immer ein|eine freude|vergnügen|problem|theater",
        "bitte * nur ein|eine|einen|zwei|drei|der|die|das|den|#",
        "nur so|weil|wenn|mal|kurz|leider",
        "nur dass|daß",
        "nur noch der|die|das|ein|eine|einen|zwei",
        "nur wer|wenige|durch|dann|wenig|heute",
        f"{_NO} problem|ahnung|sorge|thema|eile|frage|fragen|mensch|panik|stress|wunder|chance",
        f"{_NO} antwort|rückmeldung|reaktion|lust|zeit|zweifel|angst|bock|ende|spur|rolle|hektik",
        f"{_NO} der|von|dieser|meiner|einzige|einziger|bestätigung|witz|ursache|glück|erfolg",
        f"{_NO} lebenszeichen|fehler|ergebnis|ergebnisse|treffer|verbindung|empfang",
        f"{_NO} weiteren|weitere|andere|anderen|neuen fragen|wünsche|nachrichten|m[a]ils",
        f"{_NO} * ist|sind|war|waren|hat|haben|wurde|da|frei|seit|geht|hilft|kommt|klappt|bis",
        f"{_NO} * gefunden|vorhanden|verfügbar|erreichbar",
        f"{_NO} * im|in log|posteingang|postfach|spam|system|warenkorb|lager|mein*|dein*|ihr*",
        f"{_NO} [!~]* *[!isctkh]t|sei|wird|kann|will|konnte|wollte|könnte|würde|hätte",
        "nichts für|zu|weiter|neues|schlimmes|als|besonderes|anderes|dagegen|passiert|hinzuzufügen",
        "nichts auf|im|in dem|der|den|posteingang|postfach|*fach|system|log|lager",
        "nichts *t die|der|das|einem|so|uns|mich|sich|einen|den",
        "mindestens|höchstens|maximal * fehlt|fehlen|ist|sind|war|waren|kam|kamen|kommt",
        f"*s|uhr kommt|kam|kamen|war|waren|ist|sind|gibt|wurde * nur|niemand|{_NOT}",
        f"vor|nach|bei|zu|für {_EACH} [!~]* kommt|ist|wird|hat|habe|hänge|bekomme|gibt",
        f"{_EACH} [!~]* muss|musste|kann|soll ich|man|wir|er",
        f"alle|{_EACH} * {_MUST}|{_SHALL} das|es|mal|sich|warten|gehen",
        f"{_MUST} * ge*t|ver*t|be*t|er*t|*en haben",
        f"{_MUST} * ge*t|ver*t|*en sein",
        f"{_MUST} es|sich|wohl|doch|jetzt|endlich|eigentlich|wieder",
        f"{_MAY} nicht vergessen",
        f"ich habe|hab|finde|bekomme|sehe|verstehe|höre nichts|nie|{_NO}",
        "wurde|wurden|worden|hat|haben|habt|hast|habe|hatte * ohne",
        "wurde|wurden|worden|hat|haben|habt|hast|habe|hatte * [!~]* ohne",
        "ohne * wurde|wurden|hat|haben|habt|ist|abgebucht|belastet|storniert|geändert|ge*t",
        "am liebsten würde ich",
        "hasse eure|euren|euer|diese|diesen|dieses|es|das|euch|ihn|sie|wenn",
        "nicht mehr *bar|nötig|aktuell|da|möglich|gültig|wichtig|lange",
        "hätte|hätten * *en sollen|müssen|können",
        "hätte|hätten lieber * ge*t|ge*en .",
        "darf laut|doch",
        "sollte|sollten eigentlich",
        "haben|hatten|hätten|werden|würden|wollen|wollten|konnten|waren|sind|kennen|finden sie",
        "nicht so|ganz gut|schön|toll",
        # for once
        "schick*|zeig|gib|geben|nenn* * nur|maximal|höchstens ein*|zwei|drei|der|die|das|den|#",
        f"{_SPEAK} in|mit ein*|zwei|drei|#",
        f"{_ASK} mich|sie|uns nicht wieso|warum|wie|was|wo",
        f"{_ASK} nach ob|wann|wo|wer|was|wie|warum|bei|beim|dem|der",
        "mach|machen|macht dir|euch|sie|sich kein|keine|keinen|nichts",
        "macht|machen nichts",
        "lass|lassen|lasst * gut|es|mal sein|bleiben",
        "bitte nicht schon|böse|wundern|falsch",
        "erst mal|einmal",
        "zeig*|gib|nenn*|such* * * ohne",
        "lieber nicht .",
    ),
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
        f"kann|könnten|könntest|hast|haben|{_MAY}|{_CAN} du|sie|ich|wir|es|er|man|das|der|die|ihr",
        f"hat|gibt|ist|sind|wird|war|bin|wollen|{_MUST}|{_SHALL} es|er|man|das|der|die|ich|wir|sie",
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
        f"keinem|keiner|keinerlei|ohne|niemand|niemandem|keinesfalls|weder|{_NOT}",
        "vermeide|vermeiden|verzichte|verzichten|unterlass|unterlassen",
    ),
    common=(
        "der|die|das|den|dem|des|ein|eine|einen|einem|einer|eines|und|oder|aber|denn|sondern|dass",
        "ob|ich|du|er|sie|es|wir|ihr|mich|mir|dich|dir|uns|euch|ihn|ihm|ihnen|sich|man|mein|meine",
        "meinen|meinem|meiner|dein|deine|deinen|deinem|deiner|unser|unsere|unseren|unserem|ihre",
        "ihren|ihrem|in|im|ins|an|am|auf|aus|bei|beim|mit|nach|von|vom|vor|zu|zum|zur|über|ueber",
        "unter|für|fuer|um|ab|bis|per|gegen|durch|als|wie|wenn|falls|so|da|hier|dort|dann|also",
        "auch|doch|ja|nein|mal|bitte|danke|ohne|mehr|länger|wieder|lieber|keinem|keiner|keinerlei",
        f"{_NOT}|{_ONLY}|höchstens|maximal|mindestens|jetzt|nun|sofort|künftig|zukunft|heute",
        "weiterhin|noch|schon|gern|gerne|ruhig|einfach|eigentlich|alles|etwas|sonst|egal|fall",
        f"{_EACH}|{_MAY}|{_CAN}|kann|bin|ist|sind|sei|sein|war|wäre|habe|hab|haben|hat|werden|wird",
        f"{_MUST}|{_SHALL}|{_WANT}|{_NEED}|was|vergiss|vergessen|ignoriere|ignorieren|streich",
        "streiche|gesagt|geschrieben|gilt|gelten|regel|regeln|anweisung|nehme|zurück|zurueck",
        f"anders|überlegt|okay|ok|gut|erlaubt|ordnung|willkommen|möglich|nötig|hinfällig|erledigt|{_USE}",
    ),
    allows=(
        f"du|sie|ihr|wir {_MAY}|{_CAN} * * wieder",
        f"{_MAY}|{_CAN} du|sie|ihr|wir * * wieder",
        "* dürfen|darfst|duerfen sie|du|ihr * * wieder",
        f"du|sie|ihr {_MUST}|{_NEED} * * nicht|nichts|kein mehr|länger|weiter",
        "* muss|müssen|muessen nicht mehr",
        "* ist|sind wieder okay|ok|erlaubt|möglich|gut|willkommen|in",
        "* ist|sind doch|jetzt|nun|ab wieder okay|ok|erlaubt|möglich|willkommen|in",
        "* ist|sind nicht mehr nötig|notwendig|erforderlich|tabu|verboten",
    ),
    permits=(
        f"du|sie|ihr|wir {_MAY}|{_CAN} * * jetzt|nun|doch|ruhig",
        f"jetzt|nun {_MAY}|{_CAN} du|sie|ihr",
        f"du|sie|ihr {_MUST}|{_NEED} nicht",
        "es ist|wäre * erlaubt|ordnung",
        "* ist|sind * ok[a]y|erlaubt|möglich",
    ),
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
    goes_on=(
        "und|oder|aber|sondern|außer|bis|wenn|falls|während|bevor|nachdem|weil|denn|ohne|sofern|dass",
        "an|am|auf|aus|bei|für|im|in|ins|mit|nach|von|vom|vor|zu|zum|zur|zwischen|über|unter|als",
    ),
)
"""The words of German."""
