"""The phrases of German that make a sentence a standing instruction, and those that do not.

Not here: the other words of German (`german`), what each kind of phrase is for
(`words`).
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ALWAYS",
    "CAN",
    "DO",
    "EACH",
    "EXCEPTIONS",
    "MAY",
    "MUST",
    "NEED",
    "NO",
    "NOT",
    "ONLY",
    "ORDERS",
    "SHALL",
    "USE",
    "WANT",
]

NO: Final = "kein|keine|keinen"
NOT: Final = f"nie|niemals|nicht|nichts|{NO}"
_EVER: Final = "immer|stets|ausschließlich|ausschliesslich|grundsätzlich|grundsaetzlich"
ONLY: Final = f"nur|{_EVER}"
_FIRST: Final = "vorher|zuerst|erst"
EACH: Final = "jede|jeder|jedes|jeden|jedem"
MAY: Final = "darf|darfst|dürfen|duerfen|dürft"
CAN: Final = "kannst|können|koennen|könnt"
SHALL: Final = "soll|sollst|sollen|sollt|sollte|solltest|sollten"
MUST: Final = "muss|musst|müssen|muessen|müsst"
NEED: Final = "brauchst|brauchen|braucht|brauche|benötigt|erfordert"
WANT: Final = "möchte|moechte|möchten|will|wollen|hätte|hätten|würde|würden"
_ASK: Final = "frag|frage|fragen|fragt"
_TELL: Final = "sag|sagen|sagt|gib|geben|sprich|klär|kläre|melde|informiere|informieren"
_SPEAK: Final = "antworte|antworten|antwortet|sprich|sprechen|rede|reden|redet"
_WRITE: Final = "schreib|schreibe|schreiben|schreibt"
USE: Final = "verwende|verwenden|benutz|benutze|benutzen|nutze|nutzen|nimm|nehmen"
_KEEP: Final = "h[a]lt|halte|halten|haltet"
_EXPLAIN: Final = "erklär|erkläre|erklären|erklaer|erklaere"
_CONSENT: Final = "okay|ok|freigabe|zustimmung|erlaubnis|einwilligung|genehmigung"
_APPROVE: Final = "freigeben|absegnen|genehmigen|zustimmen|gegenlesen"
_AGREED: Final = "ok|okay|zustimme|zugestimmt|bestätige|bestätigt|freigegeben|gelesen|geprüft"
_TONGUES: Final = "deutsch|englisch|französisch|italienisch|spanisch|türkisch"
_TONGUE: Final = "deutsch*|englisch*|französisch*|italienisch*|spanisch*|türkisch*"
_UNITS: Final = (
    "euro|dollar|franken|chf|celsius|kilometern|kilogramm|gramm|litern|metern|prozent|netto|brutto"
    f"|{_TONGUES}"
)
_WEEK: Final = "montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags|werktags"
_DAY: Final = "vormittags|nachmittags|abends|morgens|nachts|mittags"
_DIET: Final = "vegan|vegetarisch|halal|koscher|glutenfrei|laktosefrei"
_ILL: Final = "*allergie|*allergien|*intoleranz|*intoleranzen|*unverträglichkeit"
_HOLDS: Final = (
    f"{NOT}|{ONLY}|{EACH}|niemand|niemanden|niemandem|ohne|lieber|höchstens|maximal|überall"
    "|unverändert|metrische|metrischen"
)
# What somebody is asked to do.
DO: Final = (
    f"{_ASK}|{_TELL}|{_SPEAK}|{_WRITE}|{USE}|{_KEEP}|{_EXPLAIN}|sorg|sorge|sorgen|lass*|lies|"
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

ORDERS: Final = (
    f"{_WRITE} * im imperativ|präsens|aktiv|passiv|futur",
    "*en nicht|niemals länger|größer|mehr als",
    f"niemals|nichts|keinerlei|{NO}|{_EVER}",
    f"wechsle|wechsel|wechseln|geh|gehe|gehen|schalte * wieder|zurück auf|zu|zum|ins {_TONGUE}",
    f"wieder|zurück auf|zu|zum|ins {_TONGUE} bitte|.",
    f"wechsle|wechsel|wechseln|schalte * auf|zu|zum|ins {_TONGUE} um|bitte|.",
    # "Nie" alone begins every second sentence of Polish. A phrase with a word of `contrasts`
    # has a `*`: one without is taken away before the contrasts are looked for.
    "nie vor*|nach*|ohne|mehr|unter|über|auf|mit|bei|am|an|in|zwischen|direkt|per|für|zu",
    "nie * *[!t]en|*[!~]ten|*ern|*eln",
    # Not "nur der", "nur ein", "nur zwei": that is told, not asked for.
    "nur [!dez0123456789]*|di[!e]*|dienst*|do*|deu*|e[!i]*|einf*|za*|ze*|zi*|zw[!e]*",
    "maximal|maximale|höchstens|hoechstens|mindestens|durchgehend|unbedingt",
    "lieber * als|statt|per|nicht|ohne|mit|erst|vorher|zu|am|vor|kein|keine",
    "nicht mehr|länger|öfter|später|früher|über*|unter*|vor*|nach*|ohne|weniger|zwischen",
    f"vor|nach|bei|zu|für|fuer {EACH} * *en|bitte|immer .",
    f"vor|nach {EACH} [!~]* {MUST}|{SHALL}",
    f"vor|nach|bei|zu|für|fuer {EACH} * {WANT}|brauche|erwarte ich|wir",
    "vor dem *n * immer|erst|zuerst|bitte|nachfragen|fragen",
    "*[!nlf]en nicht *en .",
    "überall|ueberall *en|typ*",
    "im zweifel",
    "erst|zuerst fragen|nachfragen|absprechen|testen|prüfen|lesen|planen",
    f"{DO} * * {_HOLDS}",
    f"*n sie * * {_HOLDS}",
    f"im|in|für|bei [!~]* nur|{NOT} * verwenden|benutzen|nutzen|nehmen|ändern|löschen .",
    f"wäre|waere super|toll|schön|gut|nett|lieb wenn du|sie|ihr * {NOT}|{ONLY}",
    f"in|auf|an der|dem [!~]* nie|niemals|nichts|{NO} * *[!d]en .",
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
    f"alle|{EACH}|neue [!~]* gehören|gehört in|nach|unter|zu",
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
    f"{USE} * statt|einheiten|format|*-format|einfache|metrische",
    "schick|schicken|sende|senden|leite|liefere|liefern * alle|alles * an|ins|in|zu|nach|über",
    # what is written, and how
    "gib|geben|nenne|nennen|zeig * uhrzeiten|preise|zahlen|entfernungen|maße in|an|als|mit|im",
    "zeig|zeige|nenn|nenne|nennen|zitiere deine|ihre|alle|die|immer quelle|quellen",
    "preise|beträge|summen|zahlen|kosten * in|auf|als|im|inklusive|inkl|ohne",
    f"alle|sämtliche * in|als|im|auf format|schweizer|{_UNITS}",
    "datumsangaben|uhrzeiten|temperaturen|entfernungen|gewichte|maße|einheiten in|im|als",
    "variablennamen|funktionsnamen|bezeichner|kommentare * auf|in|im",
    f"*[!rt]|zimmer|gewicht {ONLY} erst|in|im|mit|per|auf|an|als|ohne|vor|nach|über|am",
    f"*[!rt]|zimmer|gewicht|*en|*e {ONLY} {_WEEK}|{_DAY}",
    f"wir|ich *e|*en {ONLY} {_WEEK}|{_DAY}",
    "tests|dateien|code|neue|neuer|skripte|typen * gehören|gehoeren|gehört|kommen|liegen",
    f"alle|{EACH} * {MUST}|{SHALL}|{MAY}|{NEED}|bekommt|bekommen",
    "alle|jede|jeder|jedes * läuft|laufen|geht|gehen über|durch",
    "*namen|*titel|*nachrichten|überschriften * beginnen|enden mit",
    f"wir {USE}|{_WRITE} * nie|statt|{ONLY}|{NO}",
    "*[!dt] statt|anstatt|anstelle [!~]*",
    "ein|eine|einen [!~]* pro [!~]*",
    f"der|die|das|mein|unser ton|stil|bericht|text|titel|code|schrift|farbe {MUST}|{SHALL}",
    f"der|die|das|meine|unsere antwort|antworten|zusammenfassung|ausgabe {MUST}|{SHALL}",
    # when, and how much
    f"{_WEEK}|{_DAY} * nie|nicht|nur|gar|besten|bitte|niemand|{NO}",
    f"am wochenende * nur|{NOT}",
    f"vor|nach|ab # uhr * nur|bitte|{NOT}",
    f"zwischen [!~]* und [!~]* * nur|bitte|{NOT}",
    f"pro [!~]* * nur|höchstens|maximal|mindestens|{NOT}",
    f"über|ueber # * gehe|zahle|möchte|will|bitte|nur|muss|{_ASK}",
    f"mehr als #|ein|einmal|zwei|drei|vier|fünf|zehn * {WANT}|{SHALL}|{MAY}|zahle|gebe|kann",
    "mein|unser|das budget*|limit*|preislimit * ist|liegt|beträgt|betraegt|sind * #",
)

ALWAYS: Final = (
    f"tests|code|daten|dateien|kommentare|antworten|mails|rechnungen|pakete {MAY} nicht|nie|nur",
    f"{WANT} * {ONLY} per|via|schriftlich|telefonisch|{_WEEK}|{_DAY}",
    f"bitte künftig|zukünftig|kuenftig|generell|lieber|erst|überall|keinem|{NOT}|{ONLY}",
    f"bitte * nie|niemals|künftig|{NO}|{ONLY}",
    f"bitte in|im|auf *metern|format|*-format|stunden|{_UNITS}",
    f"bitte auf|in|bei|für|fuer a[l]len|alle|{EACH}",
    f"nur|immer|{NOT} * bitte .",
    f"ab jetzt|sofort|heute|nun|morgen bitte|alle|alles|nie|auf|per|ohne|{NO}|{ONLY}",
    f"zukunft|an bitte|alle|alles|nie|{NO}|{ONLY}",
    "auf|unter keinen fall|umständen|umstaenden",
    "keinesfalls",
    f"du|sie|ihr {MAY} * nur|{NOT}",
    f"{MAY} du|sie|ihr * nur|{NOT}",
    f"du|sie|ihr {SHALL} * {_FIRST}|{NOT}|{ONLY}",
    f"du|sie|ihr {MUST} * {_FIRST}|{EACH}|{ONLY}",
    f"niemand|keiner|nichts|niemandem {MAY}|{SHALL}",
    "wichtig ist|wäre|unbedingt dass",
    "darf|dürfen|duerfen * nur|nirgends|niemals|nie|nicht|nichts|kein|keine * werden|kosten",
    f"darf|dürfen|duerfen * nirgends|{NOT} * auftauchen|enthalten|verlassen|sehen|erfahren",
    f"{MAY}|{SHALL}|{MUST} * höchstens|maximal|unter * euro|kosten",
    f"{MAY}|{SHALL}|{WANT} * teurer|länger|größer|weiter|mehr|über|unter als|#",
    f"{WANT} * höchstens|maximal|unter #",
    f"wir dürfen|duerfen * nichts|{NO}",
    f"{MUST} ein|einen|eine|mindestens * haben",
    f"{MUST} * bleiben|enthalten|unterstützen|funktionieren|laufen|passen|beginnen|enden",
    f"{SHALL} * bleiben|enthalten|klingen|beginnen|enden",
    f"{MUST} erlaubt|kostenlos|möglich|inklusive|barrierefrei|abwärtskompatibel|{_DIET} sein",
    f"{MUST} * gekühlt|geprüft|getestet|dokumentiert|bestätigt|genehmigt|unterstützt werden",
    "ist|sind|bleibt|bleiben tabu|pflicht|vertraulich|geheim",
    "ist|sind|wäre * ein muss",
    "das bleibt|bleibe unter uns",
    f"gehören|gehört|gehoeren immer|{NOT} * in|ins|auf|nach|unter",
    "unter # * halten|bleiben",
    "vor dem *en *en .",
    f"{USE}|{_WRITE} wir * auf|nie|statt|{ONLY}|{NO}",
    f"nur nach|mit * rückfrage|rücksprache|absprache|{_CONSENT}",
    f"ich|wir {WANT} * gefragt|informiert|benachrichtigt werden",
    # consent
    f"ohne mein|meine|meinen|unsere|unser|ausdrückliche wissen|{_CONSENT}",
    "ohne rückfrage|rueckfrage|rücksprache|ruecksprache|absprache|nachfrage|vorwarnung",
    "ohne * zu fragen|informieren|benachrichtigen",
    f"bis|bevor|solange|wenn ich|wir * gesehen|gesagt|drübergeschaut|{_AGREED}",
    f"{MUST}|{WANT} ich|wir * vorher|zuerst|{_APPROVE}",
    f"ich|wir {MUST}|{WANT} * vorher|zuerst|{_APPROVE}",
    f"ich|wir {WANT} * [!~]* bevor er|sie|es|etwas|du|ihr|das|irgend*",
    f"{NEED} * mein|meine|unsere|die * {_CONSENT}",
    f"wenn|f[a]lls|sobald etwas|sich|irgend*|was * [!~]* {_ASK}|{_TELL}",
    # what somebody cannot have
    "bin|ist|sind|reagiere|reagiert * allergisch",
    f"habe|haben * {_ILL}",
    "habe|haben|h[a]t zöliakie|diabetes|laktoseintoleranz",
    f"h[a]t eine|mehrere * {_ILL}",
    "bin|ist|sind|seien * vegetarier|vegetarierin|veganer|veganerin|vegan|schwanger",
    "bin|ist|sind * diabetiker|diabetikerin|laktoseintolerant|schwerhörig|farbenblind",
    "im|einen rollstuhl",
    f"ich|wir {NEED} * rollstuhl*|barrierefrei*",
    f"esse|essen|isst|trinke|trinken|trinkt|nehme|nimmt nur|nie|weder|{NO}|{_DIET}",
    f"vertrage|vertragen|verträgt|vertraegt * nicht|{NO}",
    f"esse|trinke|vertrage|sitze|fahre|fliege ich|wir * nie|nicht|{NO}",
    f"darf|kann|können|dürfen nichts|{NO} * essen|trinken|schlucken|steigen|heben|tragen",
    f"ich|wir ernähre|ernähren * {_DIET}",
    # what somebody would like
    "mir|uns wäre|waere|ist|sind|wären * lieber|liebsten",
    "ist|sind|wäre|waere|wären mir|uns lieber|liebsten",
    "am liebsten",
    "ich|wir bevorzuge|bevorzugen|hasse|hassen",
    f"ich|wir {WANT}|fliege|fahre|reise|sitze|zahle|brauche * lieber|nie|{_EVER}",
    f"ich|wir {WANT} * {NO}",
    f"ich|wir {WANT} * nur noch",
    f"ich|wir {WANT} nicht dass|mehr",
    f"ich|wir {WANT} dass du|sie|ihr|man * * {_HOLDS}",
    f"{WANT}|brauche ich|wir * nie|nichts|immer|lieber|{NO}",
    f"{WANT} ich|wir * in|auf {_UNITS}",
    f"ich|wir {WANT}|brauche|erwarte * jeden|jede|jedes|täglich|wöchentlich|monatlich",
    f"ich|wir {WANT} * alle antworten|preise|m[a]ils|änderungen|rechnungen|texte",
    f"ich|wir fliege|fliegen|reise|reisen|fahre|fahren|kaufe|zahle|zahlen|bezahle * {ONLY}",
    "ich|wir fliege|fliegen|reise|reisen|fahre|fahren nicht mit|ohne",
    f"ich|wir mag|mögen|akzeptiere|akzeptieren|wünsche|wünschen nur|{NO}",
    "ich|wir bestehe|bestehen auf|darauf",
    f"bin|sind * erst|{ONLY} * erreichbar",
    "am besten erreichen|erreichst|erreicht|per|rufen|ruf|schreiben|schreib",
    "kann|können ich|wir nie|nicht .",
    "ich|wir kann|können * nicht|erst|nur vor|nach|ab|bis|zwischen #|mittag|feierabend",
    "habe|haben nur|erst * zeit",
    "kommt|kommen * nicht|in infrage|frage",
    f"du|sie|ihr {CAN} mich|uns * nennen|duzen|siezen",
    f"wir {CAN} * duzen|siezen",
    "bleiben wir|bleib * beim sie|du",
    "genannt|angesprochen|geduzt|gesiezt werden",
)

EXCEPTIONS: Final = (
    "mach|macht|machen dir|euch|sie * keine|keinen sorgen|gedanken|mühe|umstände|stress|kopf .",
    "leg|lege|legen|legt * nicht auf .",
    "buch*|änder*|verschieb*|tausch* * den|die|das|meinen|meine|mein * statt",
    # complaints and reports
    f"nie|niemals|immer|nur|nichts|{NO} * ge*t|*gekommen|gefunden|war .",
    f"und|aber|noch|leider|habe|haben|h[a]t nie|nichts|{NO} * erhalten|bekommen",
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
    f"{NO} problem|ahnung|sorge|thema|eile|frage|fragen|mensch|panik|stress|wunder|chance",
    f"{NO} antwort|rückmeldung|reaktion|lust|zeit|zweifel|angst|bock|ende|spur|rolle|hektik",
    f"{NO} der|von|dieser|meiner|einzige|einziger|bestätigung|witz|ursache|glück|erfolg",
    f"{NO} lebenszeichen|fehler|ergebnis|ergebnisse|treffer|verbindung|empfang",
    f"{NO} weiteren|weitere|andere|anderen|neuen fragen|wünsche|nachrichten|m[a]ils",
    f"{NO} * ist|sind|war|waren|hat|haben|wurde|da|frei|seit|geht|hilft|kommt|klappt|bis",
    f"{NO} * gefunden|vorhanden|verfügbar|erreichbar",
    f"{NO} * im|in log|posteingang|postfach|spam|system|warenkorb|lager|mein*|dein*|ihr*",
    f"{NO} [!~]* *[!isctkh]t|sei|wird|kann|will|konnte|wollte|könnte|würde|hätte",
    "nichts für|zu|weiter|neues|schlimmes|als|besonderes|anderes|dagegen|passiert|hinzuzufügen",
    "nichts auf|im|in dem|der|den|posteingang|postfach|*fach|system|log|lager",
    "nichts *t die|der|das|einem|so|uns|mich|sich|einen|den",
    "mindestens|höchstens|maximal * fehlt|fehlen|ist|sind|war|waren|kam|kamen|kommt",
    f"*s|uhr kommt|kam|kamen|war|waren|ist|sind|gibt|wurde * nur|niemand|{NOT}",
    f"vor|nach|bei|zu|für {EACH} [!~]* kommt|ist|wird|hat|habe|hänge|bekomme|gibt",
    f"{EACH} [!~]* muss|musste|kann|soll ich|man|wir|er",
    f"alle|{EACH} * {MUST}|{SHALL} das|es|mal|sich|warten|gehen",
    f"{MUST} * ge*t|ver*t|be*t|er*t|*en haben",
    f"{MUST} * ge*t|ver*t|*en sein",
    f"{MUST} es|sich|wohl|doch|jetzt|endlich|eigentlich|wieder",
    f"{MAY} nicht vergessen",
    f"ich habe|hab|finde|bekomme|sehe|verstehe|höre nichts|nie|{NO}",
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
)
