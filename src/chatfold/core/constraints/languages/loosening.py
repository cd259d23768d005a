"""The words of each language by which instructions are loosened, and the topics of instructions.

They are apart as they are found anywhere in a sentence, and may be many: what they find takes
nothing back. Not here: the other words of a language (its own file), what each kind is for
(`words`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["DUTCH", "ENGLISH", "FRENCH", "GERMAN", "ITALIAN", "PORTUGUESE", "SPANISH"]


class Loosening(NamedTuple):
    """The words of one language; see `Words`."""

    loosens: tuple[str, ...]
    unnamed: tuple[str, ...]
    waits: tuple[str, ...]
    topics: tuple[str, ...]


ENGLISH: Final = Loosening(
    loosens=(
        "you|we can|may",
        "for|on|in|at|to|if|when * you|we can|may",
        "* [!i]* can|may [!0123456789]* * now|again|too|though|anyway|instead",
        "* [!i]* can|may [!0123456789]* * after all",
        "* is|are|it's|that's|be fine|ok|okay|alright * now|again|too",
        "* is|are|it's|that's|be good|possible|allowed|welcome * now|again|too",
        "* is|are|it's|that's|be fine|ok|okay|alright|good|possible|allowed|welcome * also|as|from",
        "* is|are also|now fine|ok|okay|alright|good|possible|allowed|welcome",
        "for|on|in|at|to * is|are fine|ok|okay|alright|possible|allowed",
        "up to * is|are fine|ok|okay|alright|possible|allowed",
        "* works|work|suits|suit * now|again|too|also|as",
        "* doesn't|doesnt|don't|dont|no|longer matter|matters|apply|applies",
        "i|we don't|dont mind|care",
        "i|we no longer mind|care|need",
        "* no object",
        "* any|every|all|either|both * works|work|ok|okay|fine|good|goes",
        "* any|every|all|either|both * is|are fine|ok|okay|good|great|alright",
        "let's|lets switch|go|change|move * to|back",
        "* without asking|checking|confirming|confirmation|approval",
        "* trust you",
        "no need",
        "* you|we don't|dont have|need to",
    ),
    unnamed=(
        "forget|scrap|disregard that|this|the|my rule|restriction|instruction|limit",
        "ignore|drop|lift that|this|the|my rule|restriction|instruction|limit",
        "scrap that|this",
        "you|we can|may|should forget|scrap|disregard that|this|the|my rule|restriction",
        "you|we can|may|should ignore|drop that|this|the|my rule|restriction",
        "you|we can|may|should forget|scrap|disregard that|this|the|my instruction|limit",
        "you|we can|may|should ignore|drop that|this|the|my instruction|limit",
        "* that|this|it no longer applies|holds",
        "* that|this|it doesn't|does apply|hold|not * anymore|longer",
        "* that|this|the|my rule|restriction|instruction|condition|limit * no longer",
        "* that|this|the|my rule|restriction|instruction is|was|has off|gone|lifted|been",
        "* that|this|the|my condition|limit is|was|has off|gone|lifted|been",
    ),
    waits=("yet", "until|till i|i've|i'm|we|we've|you|it|it's|he|she|they|my|our|the", "for now"),
    topics=(
        (
            "before|after|until|till|between|from|past # / # am|pm|o'clock / any time|hour|moment"
            " / anytime|[0123456789]*am|[0123456789]*pm|morning|mornings|noon|midnight|afternoon"
            "|afternoons|evening|evenings|night|nights / before|after lunch|dinner|work|dark|school"
        ),
        (
            "monday|tuesday|wednesday|thursday|friday|saturday|sunday|mondays|tuesdays|wednesdays"
            "|thursdays|fridays|saturdays|sundays|weekend|weekends|weekday|weekdays|holiday"
            "|holidays / any|every|all|other day|days|week"
        ),
        (
            "call|calls|calling|phoning|phoned|ring|ringing|texting|sms|whatsapp|mails|email|emails"
            "|e-mail|e-mails|voicemail|landline / phone|text|mail|message|contact|write me|us|to"
            " / by phone|text|mail|letter"
        ),
        (
            "english|german|french|spanish|italian|portuguese|dutch|swedish|polish|turkish|russian"
            "|chinese|japanese|korean|arabic"
        ),
        (
            "budget|price|prices|cost|costs|money|spend|spending|expensive|cheap|cheaper|cheapest"
            "|limit|dollars|euros|pounds|[$€£]* / up to #"
        ),
        (
            "short|shorter|brief|briefly|concise|detail|details|detailed|length|lengthy|verbose"
            "|terse|elaborate|depth|sentence|sentences|paragraph|paragraphs"
            " / longer answers|replies|texts"
            " / longer explanations|messages|reports|summaries|versions|."
            " / words or|at|or|max|maximum|."
        ),
        (
            "ask|asking|consult|consulting|confirmation|approval|approve|permission"
            " / consent|without checking / check|checking|confirm|confirming * with me|us"
        ),
    ),
)

GERMAN: Final = Loosening(
    loosens=(
        "du|sie|ihr|wir|man darfst|dürfen|dürft|darf|kannst|können|könnt|kann",
        "* darfst|dürfen|dürft|kannst|können|könnt du|sie|ihr|wir|man",
        "* dürfen|darf|können|kann * * auch|jetzt|nun|wieder|inzwischen|aber|ruhig",
        "* geht|gehen|passt|passen * auch|jetzt|nun|wieder|inzwischen|doch",
        "* ist|sind|wäre|wären * auch|jetzt|nun * ordnung|recht|okay|ok|möglich",
        "* ist|sind|wäre|wären * wieder|inzwischen|doch * ordnung|recht|okay|ok|möglich",
        "* jetzt|nun|inzwischen|mittlerweile passt|passen|geht|gehen|darf|kann|gern|gerne",
        "* spielt|spielen * keine rolle",
        "* ist|sind mir|uns egal|gleich|recht",
        "* nicht mehr nötig|wichtig|so",
        "* musst|müssen|brauchst|brauchen|muss|braucht * nicht|nichts|keine mehr",
        "* ohne nachfragen|rückfrage|rückfragen|bestätigung",
    ),
    unnamed=(
        "vergiss|vergesst|ignorier * regel|vorgabe|einschränkung|anweisung",
        "ignoriere|streich|streiche * regel|vorgabe|einschränkung|anweisung",
        "vergessen|ignorieren|streichen sie * regel|vorgabe|einschränkung|anweisung",
        "* das|dies|es gilt|zählt nicht|jetzt|nun mehr|nicht",
        "* diese|die|meine regel|vorgabe|einschränkung|anweisung * nicht mehr",
        "* diese|die|meine regel|vorgabe|einschränkung|anweisung ist|hat aufgehoben|hinfällig|sich",
    ),
    waits=("noch nicht|nichts|nix|kein|keine|keinen", "bis ich|wir", "vorerst|zunächst"),
    topics=(
        (
            "vor|nach|ab|bis|um|zwischen|von # / # uhr / jederzeit / jeder zeit|uhrzeit|stunde"
            " / morgens|vormittags|mittags|nachmittags|abends|nachts"
            " / am|vom morgen|vormittag|mittag / am|vom nachmittag|abend / der nacht|früh"
        ),
        (
            "montag*|dienstag*|mittwoch*|donnerstag*|freitag*|samstag*|sonnabend*|sonntag*"
            "|wochenend*|werktag*|wochentag*|feiertag* / jeder|jeden|jedem|alle tag|tage|woche"
        ),
        (
            "*ruf|*rufe|*rufen|*rufst|*anruf*|telefon*|mail|mails|e-mail*|email*|sms|whatsapp|brief"
            "|briefe|post|handy|festnetz|nachricht|nachrichten"
        ),
        (
            "deutsch|deutsche|englisch|englische|französisch|spanisch|italienisch|portugiesisch"
            "|niederländisch|türkisch|russisch|polnisch"
        ),
        (
            "preis|preise|preislich|budget|kosten|kostet|geld|euro|teuer|teurer|günstig|günstiger"
            "|billig|billiger|ausgeben|[$€£]* / bis #|zu"
        ),
        (
            "kurz|kurze|kurzen|kürzer|knapp|knappe|länger|längere|lang|lange|ausführlich*|detail*"
            "|satz|sätze|sätzen|wörter|wörtern|zeilen|stichpunkt*"
        ),
        (
            "frag|frage|fragen|*nachfrag*|*rückfrag*|erlaubnis|zustimmung|bestätigung|*genehmig*"
            "|freigabe|rücksprache|absprache"
        ),
    ),
)

FRENCH: Final = Loosening(
    loosens=(
        "tu|vous|on peux|pouvez|peut",
        "pour|le|la|les|en|si|après|avant * tu|vous|on peux|pouvez|peut",
        "le|la|les * peut|peuvent",
        "* peut|peuvent|peux|pouvez * * maintenant|aussi|également|désormais|finalement|nouveau",
        "* va|vont|convient|conviennent * maintenant|aussi|également|désormais",
        "* va|vont|convient|conviennent * à|de nouveau",
        "* est|sont|c'est possible|possibles|permis|autorisé * maintenant|désormais",
        "* est|sont|c'est bon|ok|acceptable * maintenant|désormais",
        "* est|sont|c'est possible|possibles|permis|autorisé|bon|ok|acceptable * aussi|également",
        "* n'a|n'ont [p]lus d'importance|besoin",
        "* peu importe",
        "* m'est égal",
        "* n'est|n'y [p]lus la|nécessaire|utile|obligatoire|important|besoin",
        "* [p]lus besoin|la|nécessaire * de|d'*|peine",
        "* sans me|nous demander|consulter|prévenir",
    ),
    unnamed=(
        "oublie|oubliez|ignore * règle|consigne|limite|restriction|instruction",
        "ignorez|laisse|laissez * règle|consigne|limite|restriction|instruction",
        "tu|vous peux|pouvez oublier|ignorer|laisser * règle|consigne|limite|restriction",
        "* ça|ca|cela|ce ne|n'est s'applique|vaut|valable [p]lus",
        "* cette|la|ma règle|consigne|limite|restriction|instruction ne|n'est * [p]lus",
    ),
    waits=("pas|rien encore", "pour l'instant|le", "tant que"),
    topics=(
        (
            "avant|après|dès|jusqu'à|entre|vers|à # / # heures|heure|h / [0123456789]*h|matin"
            "|matins|midi|minuit|soir|soirs|soirée|nuit|après-midi"
            " / n'importe|toute quelle|heure heure|. / n'importe quand / tout moment"
        ),
        (
            "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lundis|mardis|mercredis|jeudis"
            "|vendredis|samedis|dimanches|week-end|week-ends|weekend|semaine|férié|fériés|jours"
        ),
        (
            "*appel*|téléphon*|mail|mails|e-mail*|email*|courriel*|sms|texto*|whatsapp|courrier"
            "|joindre|*contact*|*écri[rstv]*"
        ),
        (
            "français|*anglais|*allemand|*espagnol|*italien|portugais|néerlandais|arabe|russe"
            "|polonais"
        ),
        (
            "prix|budget|coût|coûts|coûte|cher|chère|euros|*argent|dépens*|*dépass*|[$€£]*"
            " / jusqu'à|à #"
        ),
        (
            "court|courte|courtes|courts|bref|brève|brèves|brièvement|concis*|long|longs|longue"
            "|longues|*détail*|développe*|phrase|phrases|mots|lignes|paragraphes"
        ),
        "demand*|consult*|*autorisation|mon|notre accord / confirmation|validation|permission",
    ),
)

SPANISH: Final = Loosening(
    loosens=(
        "puedes|puede|pueden|podéis|podemos",
        "para|en|por|el|la|los|las|si|ya|ahora * puedes|puede|pueden|podéis|podemos",
        "* va|van|viene|vienen|está|están|vale|valen|sirve|sirven bien * también|ahora|ya",
        "* ya|ahora * va|van|viene|vienen|está|están bien|permitido|permitida|permitidos",
        "* ya|ahora * sirve|sirven|vale|valen",
        "* da|dan igual",
        "* ya no importa|importan|hace|es|necesito|tienes|tiene|tienen",
        "* sin preguntar*|consultar*",
    ),
    unnamed=(
        "olvida|olvide|olviden * regla|norma|restricción|limitación|instrucción",
        "ignora|ignore|descarta * regla|norma|restricción|limitación|instrucción",
        "puedes|puede|pueden olvidar|ignorar * regla|norma|restricción|limitación|instrucción",
        "* eso|esto ya no aplica|vale|rige|cuenta",
        "* esa|esta|la regla|norma|restricción * ya|no no|vale|rige",
        "* esa|esta|la limitación|condición|instrucción * ya|no no|vale|rige",
    ),
    waits=("todavía|todavia|aún|aun", "por ahora", "hasta que"),
    topics=(
        (
            "de|a|hasta|desde las|la # / cualquier|toda|todas|cualquiera hora|horas|momento"
            " / mañanas|tarde|tardes|noche|noches|mediodía|madrugada / por la mañana"
        ),
        (
            "lunes|martes|miércoles|jueves|viernes|sábado|sábados|domingo|domingos|festivos|semana"
            " / cualquier|todos día|los"
        ),
        (
            "*ll[aá]m[aeo]*|teléfono|telefono|telef[oó]n*|correo|correos|mail|mails|email|e-mail"
            "|sms|whatsapp|mensaje|mensajes|carta|cartas|*contact*"
        ),
        "español|inglés|francés|alemán|italiano|portugués|castellano|catalán|ruso|árabe",
        (
            "precio|precios|presupuesto|coste|costo|cuesta|dinero|euros|dólares|caro|cara|barato"
            "|barata|gast[aeo]*|[$€£]* / hasta|a #"
        ),
        (
            "corto|corta|cortas|breve|breves|brevemente|conciso|concisa|largo|larga|largas|detalle"
            "|detalles|extender*|extens*|frase|frases|palabras|líneas|párrafos|resumid*"
        ),
        "*preg[uú]nt*|*consult*|permiso|confirmación|aprobación|autoriza*",
    ),
)

ITALIAN: Final = Loosening(
    loosens=(
        "puoi|può|potete|possiamo",
        "per|in|il|la|le|i|gli|se|di|a * puoi|può|potete|possono",
        "* va|vanno|è|sono bene|permesso|possibile|consentito * adesso|ora|anche|ormai|nuovo",
        "* adesso|ora|ormai * va|vanno|è|sono bene|permesso|possibile|consentito",
        "* non importa|importano|conta|contano",
        "* non * * più importanza|importa|serve|necessario|bisogno|che",
        "* fa|è lo stesso|uguale",
        "torniamo|passiamo a|al|all'*",
        "possiamo tornare|passare a|al|all'*",
        "* senza chiedere*|consultar*",
    ),
    unnamed=(
        "dimentica|dimenticate|dimentichi|scorda|ignora|ignorate * regola|limitazione|restrizione",
        "puoi|può|potete dimenticare|ignorare|scordare * regola|limitazione|restrizione",
        "* questa|quella|la regola|limitazione|restrizione|condizione|istruzione * non * più",
        "* questo|quello|ciò non vale|conta più",
    ),
    waits=("ancora|finché|finche", "per ora|adesso"),
    topics=(
        (
            "dopo|entro|verso le # / dalle|alle|delle #"
            " / qualsiasi|qualunque|ogni|tutte ora|orario|momento|le / mattina|mattino|mattine|sera"
            "|sere|serata|notte|pomeriggio|mezzogiorno|mezzanotte"
        ),
        (
            "lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|weekend|festivi|feriali"
            "|settimana"
        ),
        (
            "*chiam*|telefon*|mail|e-mail|email|sms|whatsapp|messagg*|lettera|lettere|*contatt*"
            "|cellulare"
        ),
        "*italiano|*inglese|tedesco|francese|spagnolo|portoghese|russo|arabo",
        (
            "prezzo|prezzi|budget|costo|costi|costa|soldi|denaro|euro|caro|cara|economic*|spend*"
            "|[$€£]* / a #"
        ),
        (
            "breve|brevi|brevemente|corto|corta|corte|concis*|lungo|lunga|lunghe|dettagli*|dilung*"
            "|frase|frasi|parole|righe|approfond*|estes*"
        ),
        "*chied*|conferma|permesso|autorizza*|approva*|consenso|*consult*",
    ),
)

PORTUGUESE: Final = Loosening(
    loosens=(
        "pode|podes|podem|podemos",
        "para|em|no|na|nos|nas|o|a|os|as|se|já|agora * pode|podes|podem|podemos",
        "* serve|servem|dá * agora|também|novamente",
        "* agora|já|também * serve|servem|dá|pode",
        "* está|estão|é bem|permitido|possível|bom|ok * agora|também|novamente",
        "* agora|já|também * está|estão|é bem|permitido|possível|bom|ok",
        "* tanto faz",
        "* não|nao importa|importam|interessa",
        "* não|nao precisa|precisas|precisam|é * mais",
        "* sem perguntar|consultar|pedir",
    ),
    unnamed=(
        "esqueça|esquece|esqueçam|ignore|ignora|desconsidere * regra|limitação|restrição|instrução",
        "pode|podem esquecer|ignorar|desconsiderar * regra|limitação|restrição|instrução",
        "* isso|isto já|não não|nao|vale|conta * mais|vale|conta",
        "* essa|esta|a regra|limitação|restrição|condição|instrução * não|nao|já",
    ),
    waits=("ainda", "por enquanto|agora", "até que|eu"),
    topics=(
        (
            "das|às|as|dos|ao # / # h|horas / [0123456789]*h|manhã|manhãs|tarde|tardes|noite|noites"
            "|meio-dia|madrugada / qualquer|toda hora|horário|momento"
        ),
        (
            "segunda|terça|quarta|quinta|sexta|sábado|sábados|domingo|domingos|feriado|feriados"
            "|semana|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira"
            " / qualquer|todo dia|dias"
        ),
        (
            "*lig[au]*|ligue|liguem|telefon*|mail|e-mail|email|emails|sms|whatsapp|mensage*|carta"
            "|cartas|*contat*|*contact*|celular|telemóvel"
        ),
        "português|inglês|francês|alemão|italiano|espanhol|russo|árabe",
        (
            "preço|preços|orçamento|custo|custos|custa|dinheiro|euros|reais|caro|cara|barato|barata"
            "|gast[aeo]*|[$€£]* / até|a #"
        ),
        (
            "curto|curta|curtas|breve|breves|conciso|concisa|longo|longa|longas|detalhe|detalhes"
            "|detalhad*|along[au]*|extens*|frase|frases|palavras|linhas|parágrafos"
        ),
        "*pergunt*|*consult*|permissão|autoriza*|confirmação|aprova*",
    ),
)

DUTCH: Final = Loosening(
    loosens=(
        "je|jij|u|jullie|we|wij mag|mogen|kan|kun|kunt|kunnen",
        "* mag|mogen|kan|kun|kunt|kunnen je|jij|u|jullie|we|wij",
        "* mag|mogen|kan|kunnen|past|passen * nu|ook|weer|inmiddels|voortaan",
        "* nu|inmiddels|voortaan mag|mogen|kan|kunnen|past|passen",
        "* is|zijn * nu|ook|weer|inmiddels|voortaan * goed|oké|ok|prima|mogelijk|toegestaan",
        "* maakt|maken * niet * uit",
        "* niet meer nodig|belangrijk",
        "* hoef|hoeft|hoeven * niet|niets|geen * meer",
        "* zonder te vragen|overleg|bevestiging",
    ),
    unnamed=(
        "vergeet|negeer|schrap * regel|beperking|afspraak|voorwaarde|instructie",
        "je|jij|u|jullie mag|mogen|kunt|kan * regel|beperking|afspraak|instructie vergeten|negeren",
        "* dat|dit|het geldt niet meer|langer",
        "* die|deze|mijn regel|beperking|afspraak|voorwaarde|instructie * niet meer|langer",
    ),
    waits=("nog niet|niets|geen", "voorlopig", "tot|totdat ik|we"),
    topics=(
        (
            "voor|na|vanaf|tot|tussen|om # / # uur / elk|ieder|elke|alle moment|tijdstip|tijd|uur"
            " / ochtend|ochtends|middag|middags|avond|avonds|nacht|nachts"
        ),
        (
            "maandag*|dinsdag*|woensdag*|donderdag*|vrijdag*|zaterdag*|zondag*|weekend*|feestdag*"
            "|werkdag* / elke|iedere|alle dag|dagen"
        ),
        (
            "bel|bellen|belt|*bellen|telefo*|mail|mails|mailen|e-mail*|email*|sms|whatsapp|brief"
            "|brieven|bericht|berichten|post"
        ),
        "nederlands|engels|duits|frans|spaans|italiaans|portugees|turks|pools|russisch|arabisch",
        (
            "prijs|prijzen|budget|kosten|kost|geld|euro|duur|duurder|duurdere|goedkoop|goedkoper"
            "|uitgeven|[$€£]* / tot #"
        ),
        (
            "kort|korte|korter|beknopt|beknopte|lang|lange|langer|langere|uitgebreid*|detail"
            "|details|zin|zinnen|woorden|regels|alinea*"
        ),
        "vraag|vragen|*vragen|toestemming|bevestiging|akkoord|goedkeuring|overleg|overleggen",
    ),
)
