"""The words of Spanish that standing instructions are made of.

Spanish tells "no me llames" from "no me llamas" by one letter of the verb: verbs stand here as they
are in commands, with and without accents. "Nunca" alone is in too many complaints to be an order.
Not here: what each kind of words is for (`words`).
"""

from __future__ import annotations

from typing import Final

from chatfold.core.constraints.languages.loosening import SPANISH as LOOSENING
from chatfold.core.constraints.words import Words

__all__ = ["SPANISH"]

# "no (me) llames", "no (me) escriba": as they stand in commands and never in statements.
_STEMS_WITH_E: Final = (
    "llam contact envi enví mand utilic toqu cambi borr elimin compr reserv cancel cobr pagu gast"
    " publiqu mezcl fusion agregu mencion invent contest modifiqu edit renombr reformate cierr pas"
    " refactoric despliegu ejecut instal actualic guard firm confirm acept autoric contrat renuev"
    " super dej entregu despiert molest trat tute salt revel facilit coment expliqu olvid empiec"
    " avis pregunt habl alter divulgu anul dupliqu program llev cargu apliqu agend busqu domicili"
    " adelant retras coloqu rechac silenci bloque reinici justifiqu recomiend marqu anot esper"
)
_STEMS_WITH_A: Final = (
    "escrib pong hag pid respond traduzc incluy añad ofrezc sugier supong asum muev compart met sub"
    " vend transfier omit abr resum vuelv inviert promet romp traig corrij imprim salg insist exced"
    " sustituy repit interrump elij permit difund conviert devuelv introduzc extiend reescrib"
)
_FORBIDDEN: Final = "|".join(
    [stem + end for stem in _STEMS_WITH_E.split() for end in ("es", "e", "en", "éis")]
    + [stem + end for stem in _STEMS_WITH_A.split() for end in ("as", "a", "an", "áis")]
    + ["uses", "usen", "uséis", "des", "den", "deis", "quites", "quiten", "llameis", "hagais"]
)
_NOT_TO: Final = (
    "llamar|escribir|contactar|enviar|mandar|poner|hacer|usar|utilizar|tocar|cambiar|borrar|pedir"
    "|eliminar|comprar|reservar|cancelar|cobrar|pagar|publicar|subir|añadir|agregar|dejar|incluir"
    "|mencionar|inventar|responder|modificar|editar|compartir|guardar|aceptar|entregar|llamarme"
)
_ASK_ME: Final = (
    "pregúntame|preguntame|pregúnteme|pregúntenme|preguntadme|pregúntanos|consúltame|consultame"
    "|consúlteme|consúltenme|consultadme|consúltanos|consúltalo|avísame|avisame|avíseme|avísenme"
    "|avisenme|avisadme|avísanos|confírmame|confirmame|confírmeme|infórmame|infórmeme|pídeme|pideme"
    "|pídame|pedidme|enséñame|muéstrame|muestrame|dímelo|dígamelo|preguntar|consultar|avisar"
)
_CALL_ME: Final = "llámame|llamame|llámeme|llameme|llámenme|llamadme|llámanos|llámennos"
_WRITE_ME: Final = "escríbeme|escribeme|escríbame|escribidme|escríbanme|contáctame|contácteme"
_ANSWER: Final = (
    "responde|responda|respondan|responded|respóndeme|respondeme|respóndame|contesta|conteste"
    "|contesten|contestad|contéstame|contestame|háblame|hablame|hábleme|habladme|háblenme|habladle"
)
_ME: Final = "me|nos|lo|la|los|las|le|les|se|te|os"
_MAY: Final = "puedes|puede|pueden|podéis|podeis"
_THE: Final = "el|la|los|las"
_USE: Final = "usa|usad|usen|utiliza|utilice|utilicen"
_WANT: Final = "quiero|queremos|quisiera|necesito|necesitamos"
_ALL: Final = "todo|toda|todos|todas|cada"
_OK: Final = "permiso|autorización|autorizacion|aprobación|confirmación|confirmacion|visto"
_IN: Final = (
    "español|espanol|castellano|inglés|ingles|catalán|gallego|francés|alemán|italiano|celsius"
    "|euros|dólares|kilómetros|metros|gramos|grados|formato|minúsculas|imperativo|párrafo|tabla"
)
_FORMS: Final = (
    "fechas|precios|importes|cantidades|cifras|horas|distancias|temperaturas|medidas|respuestas"
    "|comentarios|mensajes|nombres|facturas|entregas|paquetes|pedidos|recibos|commits|resúmenes"
    "|explicaciones|correos|archivos|títulos|números|avisos|citas|variables|pruebas|llamadas"
    "|informes|notificaciones|habitación|asiento|entrega|envíos|pagos|desayuno|vuelos|factura"
)
_FOOD: Final = "carne|cerdo|pescado|marisco|gluten|huevo|lácteos|azúcar|alcohol|aspirina|ibuprofeno"
_NUMBERS: Final = "#|un|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|veinte|cien|mil"

SPANISH: Final = Words(
    orders=(
        "pregunta|pregunte|preguntad|consulta|consulte|avisa|avise antes de",
        "cada función|método|clase|archivo|test|commit|módulo|mensaje lleva|tiene|debe|necesita",
        "vuelve|vuelva|volved|regresa|regrese al inglés|ingles|español|francés|alemán|italiano",
        "cambia|cambie|pasa|pase al inglés|ingles|español|francés|alemán|italiano por|ahora|.",
        "quédate|quédese|quedate|mantente|manténgase en|con|por",
        "responde|responda|respondan|contesta|conteste solo|sólo|únicamente con|en",
        "funciones|clases|métodos|respuestas|frases|mensajes de menos|máximo|hasta",
        "responde|responda|respondan|contesta|conteste brevemente|despacio|claro|siempre",
        "todas|todos las|los cantidades|medidas|pesos|distancias en",
        f"siempre {_ANSWER}|{_ASK_ME}|{_NOT_TO}|{_WANT}|prefiero",
        "siempre|sin|solo|sólo|solamente|únicamente * [!~]* por favor",
        f"siempre|nunca con|sin|en|por|antes|después|a|de|un|una|{_THE}",
        f"{_THE} * siempre|nunca|únicamente a|al|en|con|sin|por|de|como|antes|después|para",
        "no|nunca _ crees|creen|digas|diga|digan|autorizo|acepto|tolero|soporto|pagaré [!q]*",
        "no|nunca _ vuelo|volamos|viajo|viajamos|usamos|hacemos|cogemos|compramos|aceptamos|fumo",
        "no _ use * nunca|nada|ningún|ninguna|para|emojis|palabras|jerga|tecnicismos|abreviaturas",
        "no _ quiero|queremos que|ningún|ningun|ninguna|gastar|pagar|compartir [!~]*",
        "no _ quiero|queremos *s",
        "no _ quiero|queremos *r * antes|después|despues|ningún|ningun|ninguna",
        f"cuando _ {_FORBIDDEN}",
        f"cada vez que _ {_FORBIDDEN}",
        f"nada|basta|odio|detesto de|con|sin|{_THE} [!~]*",
        "ni un|una llamada|correo|mensaje|euro|céntimo|emoji",
        "ni _ se te|le|les|os ocurra",
        "solo|sólo|quiero|queremos vuelos|trenes|hoteles|habitaciones|productos|correo|whatsapp",
        "solo|sólo _ por|con|entre * correo|whatsapp|escrito|mañanas|tardes|noches|viernes|semana",
        "solo|sólo * puedo|podemos|disponible * desde|de|entre|por|después #|la|las|lunes|de",
        f"{_ASK_ME} * antes|primero|siempre|cualquier|{_OK}",
        "pregunta|pregunte|preguntad|consulta|consulte|pregúntame|consúltame .",
        f"antes de *r * [!~]* {_ASK_ME}",
        f"antes de *r nada|cualquier|ningún|ninguna|cada|{_ASK_ME}",
        f"espera|espere|esperad|esperen|pide|pida|pidan|pedid * mi|nuestra|nuestro {_OK}",
        f"{_ANSWER}|{_WRITE_ME} * en * {_IN}",
        "sé|se|sea|sed|sean _ breve|breves|concisa|conciso|concreto|concreta|educado",
        "respuestas|explicaciones|frases|mensajes cortas|cortos|breves|sencillas|concisas",
        "trátame|tratame|tráteme|tratadme|trátenme|tratarme|háblame|hábleme|hablame de usted|tú|tu",
        f"{_CALL_ME} [!~]*",
        f"{_WRITE_ME}|{_ASK_ME} * por|al correo|emai[l]|whatsapp|escrito|mai[l]|mensaje",
        f"{_WRITE_ME}|{_CALL_ME} * solo|sólo|solamente|únicamente|nunca",
        "prefiero|preferimos|preferiría|preferiria|preferiríamos [!~]*",
        "me|nos viene|vendría|va|iría mejor|bien * por|de|que|a|los|las",
        f"{_WANT} * siempre|únicamente|exclusivamente",
        f"{_WANT}|prefiero * en {_IN}",
        f"{_WANT} que * antes|siempre|nunca|primero|cada|solo",
        f"{_WANT}|preferiría que {_ALL}",
        f"{_WANT} aprobar|autorizar|revisar|confirmar * {_ALL}|antes",
        "evita|evite|evitad|eviten|evitar|redondea|redondee|prohibido|prohibida|prohibidos|procura",
        "deja|deje|dejen|dejad|acuérdate|acuerdate|acuérdese|acordaos de *r|*rme|*rnos",
        "asegúrate|asegurate|asegúrese|aseguraos|limítate|limitate|limítese|cíñete|cíñase|diríjase",
        "respeta|respete|respeten|respetad|mantén|manten|mantenga|mantengan|mantened|limita|limite",
        f"todas|todos las|los {_FORMS} * en {_IN}",
        "sigue|siga|sigan|seguid * guía|guia|estilo|convenciones|reglas|normas|formato|patrón",
        f"{_THE} {_FORMS} * con|sin|solo|sólo|por|como|van",
        f"{_THE} {_FORMS} * en {_IN}|snake_case|camelcase",
        f"{_FORMS} en {_IN}",
        f"{_FORMS} * [!~]* siempre|únicamente|nunca|máximo|maximo",
        f"{_FORMS}|viajo|viajamos siempre|solo|únicamente|nunca",
        "los|las * van|test[s] en|dentro|con|siempre",
        f"escribe|escriba|escribid|pon|ponga|dame|deme * {_FORMS} * en|con|al",
        "escribe|escriba|escribid|redacta|nombra|envía|envíe|enviad|mande|mandad|entreguen todo",
        f"{_USE} [!0123456789]* no [!0123456789]*",
        f"{_USE} * s[oó]lo|únicamente|métrico|minúsculas|tabulaciones|espacios|comillas",
        f"{_USE} * como|para el|la|los|las|cualquier|separador|{_ALL}",
        f"{_ALL} * debe|deben|tiene|tienen|lleva|llevan * que|*r|tes[t]|tests",
        f"por|{_ALL}|cualquier * encima|superior|consultan|comunican|consultas|preguntas",
        "mi|el|nuestro presupuesto|límite|limite|tope * es|son|de|sea * #",
        f"máximo|maximo|mucho {_NUMBERS}",
        "no|ni|nunca _ más|mas de|*s",
    ),
    always=(
        "tests|pruebas|funciones|datos|archivos|mensajes no deben|pueden|deberían *r|*rse",
        "no tolera|tolero|toleran|digiere|digiero la|el|los|las",
        "no estoy|estamos disponible|disponibles|localizable * los|las|el|antes|después|por|en",
        "los|las|el|por * no estoy|estamos disponible|disponibles|localizable",
        f"no|nunca|jamás|jamas|nadie _ {_FORBIDDEN}",
        f"no|nunca|jamás|jamas|nadie _ {_ME} {_FORBIDDEN}",
        "no|nunca _ se|me|te|nos lo|la|los|las digas|mandes|mande|envíes|inventes|cambies|repitas",
        f"no|nunca|jamás|jamas _ {_NOT_TO}",
        "no|nunca * puede|pueden|debe|deben tocar|borrar|modificar|costar|publicar|superar|exceder",
        "no|nunca se toca|tocan|borra|borran|cambia|modifica|edita|publica|sube|comparte|hace",
        "bajo|en|de ningún|ningun|ninguna concepto|circunstancia|pretexto|caso|momento|modo",
        "tutéame|tuteame|tutéeme|tuteadme|tutéenme",
        "no|nunca|solo|siempre|mejor por teléfono|telefono|correo|escrito|whatsapp|carta",
        "soy|es|somos|son alérgico|alergico|alérgica|alergica|alérgicos|vegano|vegana|diabético",
        "soy|es|somos|son intolerante|celiaco|celiaca|celíaco|celíaca|celíacos|diabetico|veganos",
        "soy|es|somos|son|estoy|está vegetariano|vegetariana|vegetarianos|diabética|embarazada",
        "tengo|tiene|tenemos|tienen * alergia|alergias|intolerancia|intolerancias",
        "va|voy|vamos|usa|uso|necesito|necesita|para * silla de ruedas",
        f"no puedo|puede|podemos|pueden * escaleras|peso|{_FOOD}",
        f"no|nunca _ com[eo]|comemos|beb[eo]|bebemos|tom[oa]|tomamos {_FOOD}",
        "importante|imprescindible|fundamental|esencial|obligatorio que _ no|nunca|siempre|todo",
        f"nada|nadie|nunca|ningún|ninguna * sin mi|nuestro|nuestra {_OK}",
        f"hasta que|a _ yo|te|os|lo|la|se|mi * confirme|apruebe|autorice|diga|pida|revise|{_OK}",
        "hasta|que que|yo confirme|apruebe|autorice|confirmemos|aprobemos|revise",
        "en este|nuestro|mi proyecto|repositorio|equipo|código * siempre|nunca|no|usamos",
        "lo|la|los|las tengo|tenemos que aprobar|autorizar|revisar",
        "no cueste|cuesten|supere|superen|exceda|excedan|pase|pasen|sobrepase * #",
        "agradecería|gustaría|preferiría|quisiera|ruego|pido que _ no|nunca|siempre|solo|todo",
        "agradecería|agradeceria|gustaría que me|nos *ra|*ran|*ras|*rais más|mas|en|de|por|con",
    ),
    asking=(
        "puedes|puede|podrías|podrias|podría|pueden|podrían|podéis|podríais [!d]* * siempre|nunca",
        "puedes|puede|podrías|podría|podríais usar|utilizar|responder|escribir * solo|sólo",
        "puedes|podrías|podrias|podría|podrían|podéis|podríais dejar|evitar [!~]*",
    ),
    limits=(
        "a partir de ahora|hoy|este|aquí|aqui",
        "desde ahora|hoy|ya",
        "de ahora|aquí|aqui|hoy en adelante",
        "en el|lo|todo futuro|sucesivo|momento",
    ),
    bounds=(
        "siempre|nunca|jamás|jamas|únicamente|unicamente|exclusivamente|sólo|solamente",
        "solo en papel|formato|español|inglés|castellano|efectivo|euros|horario",
        "en lugar|vez de",
        "como está|están|esté|mucho|máximo|maximo|mínimo|minimo",
        "cada|todos|todas * mensaje|respuesta|correo|cambio|commi[t]|funciones|lunes|habitaciones",
        "cualquier|toda * cambio|compra|pago|decisión",
    ),
    requests=(
        "respond[eaé]*|contest[ae]*|escr[ií]b[ea]*|us[aeá]|usad|usen|utili[zc][ae]*|ll[aá]m[ae]*",
        "av[ií]s[ae]*|m[aá]nd[ae]*|env[ií][ae]*|pon|pon[gd]*|p[oó]nme|dame|d[eé]me|denme|haz|hazme",
        "h[aá]bl[ae]*|preg[uú]nt[ae]*|cons[uú]lt[ae]*|cont[aá]ct[ae]*|d[eé]j[ae]*|dejad*|gast[ae]",
        "ejecut[ae]|pasa|corre|lanza|incluy[ea]|añad[ea]|agreg*|mant[eé]n*|trabaj[ae]|sea|sean",
        "muestra|muéstr*|enséñ*|indica|indique|cita|compra|compre|reserva|reserve|busca|haga",
        "confirm[ae]|conf[ií]rm*|verifi[cq]*|comprueba|compruebe|revis[ae]|cobr[ae]|paga",
        "bloque[ae]*|indenta|documenta|ordena|agrupa|empieza|entreg[ae]|h[aá]g[ae]*|pague|pide",
        "expl[ií]c*|expl[ií]qu[ea]*|traduc*|traduzca|form[aá]te[ae]|nombra|redond*|resum[ea]",
        "lo|la|los|las|me|nos entreguen|dejen|manden|envíen|llamen|avisen|pongan|hagan|cobren",
        f"*[aei]me|*nme|*dme|*melo|tr[aá]t*|p[ií]d[ea]*|prefiero|preferimos|{_WANT}",
    ),
    joins=("y|pero|o|que|q|entonces|así|asi|porque|mejor|favor",),
    fillers=(
        "también|tambien|además|ademas|porfa|porfavor|hola|bueno|vale|ok|pues|oye|oiga|mira|xfa",
        "por|entre|eso favor|semana|sí",
        "como",
    ),
    exceptions=(
        "siempre un placer|gusto",
        "espero|temo|ojalá|preocupa|para|puede|perdona|perdone|siento|siempre que no|nunca|nadie",
        "nunca|jamás en mi|la vida",
        "en ningún|ningun caso|momento * he|ha|han|hemos|*ron|*[óé]",
        f"{_THE} {_FORMS} * es|son|está*|lleg*|fue*|ha|han|tiene*|sirve*|falla*|sale*|vien*|no|me",
        "siempre|nunca el|la|lo|los|las|en|un|una|con|a mism*|vida|retraso|prisas|problemas|tiempo",
        "no _ más|mas|me|uses|den|reserve|reserves preguntas|dudas|diga|digas|for|in|was|is|price",
        "no quiero|queremos más|mas|esos|estos|otros|esas|estas|los|las|problemas|líos|lios",
        "nada|todo|deja|basta de|el|con nada|mundo|eso|esto|lo|esta|este|funcionar|cargar",
        "prefiero|preferimos|preferiría|preferiria el|la|los|las [!~]* .",
        "prefiero|preferimos|preferiría|preferiria * *rlo|*rla|*rlos|*rlas|opción|talla|así",
        "prefiero|preferimos lo|ese|este|esa|esta|esperar|cambiar*|devolver*|pagar|hablar|ir",
        f"{_CALL_ME} mañana|hoy|esta|este|cuando|al|a|el|en|luego|ahora|si|por|para|lo|antes|con",
        f"{_CALL_ME} después|despues|otra|de|#|más|mas|tarde|pronto|y|que|un|una|dentro|entre|ya",
        f"{_ASK_ME} * antes de|del las|la|los|el|mañana|lunes|#",
    ),
    reports=(
        "dijo|dijeron|dice|dicen|pidió|pidieron|indica|comentó|avisó|ponía|según|piden",
        "me|nos|le|ha|han|había pide|dicho|pedido|comentado|avisado",
    ),
    questions=("por qué|que", "qué|quién|quien|cuándo|cómo|dónde|donde|cuánto|cuál|acaso"),
    subjects=(
        "nunca|jamás|siempre me|la|lo|los|las|le|he|ha|han",
        "todavía|aún|ya no",
        "no me|la|lo|he|ha|han",
    ),
    takes_back=(
        "olvida|olvide|olviden|olvidad|ignora|ignore|anula|descarta * dije|dicho|pedí|pedi|comenté",
        "olvida|olvide|olviden|olvidad|ignora|ignore|anula|descarta * regla|norma|límite",
        "olvida|olvide|olviden|olvidad|ignora|ignore lo de|del",
        "olvídate|olvidate|olvídese|olvidaos|retiro de|lo lo|que|dicho",
        "cambié|cambie|cambiado de idea|opinión|opinion",
        "* ya no vale|aplica|rige|cuenta|importa|necesario|necesaria",
        "* ya no se|hace|es aplica|falta|necesario|necesaria",
    ),
    negations=(
        "no|nunca|jamás * nunca|jamás|nada|nadie|ningún|ningun|ninguna",
        "no|nunca|jamás|jamas|sin|ni|nada|nadie|ningún|ningun|ninguna|evita|evite|eviten|evitar",
        "deja|deje|dejen|dejad|prohibido|prohibida de|*r",
    ),
    common=(
        "el|la|los|las|lo|un|una|unos|unas|al|del|de|a|en|por|para|con|y|e|o|u|ni|que|si|es|son|se",
        "me|te|le|les|nos|os|mi|mis|tu|tus|su|sus|yo|tú|usted|ustedes|este|esta|esto|ese|esa|eso",
        "no|nunca|jamás|jamas|siempre|solo|sólo|solamente|únicamente|sin|nada|nadie|ningún|ningun",
        "ninguna|todo|toda|todos|todas|cada|más|mas|ya|muy|también|tambien|además|favor|porfa",
        "puedes|puede|pueden|podéis|puedo|quiero|quieres|queremos|prefiero|necesito|debe|deben",
        "tienes|tiene|tienen|tengo|hay|ha|he|hacer|hagas|haga|usar|use|uses|usa|usen|utilizar",
        "utilices|utilice|olvida|olvide|olviden|olvídate|ignora|ignore|dije|dicho|pedí|pedi|regla",
        "norma|sobre|acerca|cambiado|idea|opinión|vez|otra|nuevo|nuevamente|volver|vuelve|ahora",
        "partir|adelante|desde|hoy|vale|bien|parece|sí|bueno|aplica|falta|hace|necesario|realidad",
        "antes|después|cuando|como|evita|evite|deja|deje|problema|perdón|mejor|está|cambie|cambié",
        "pregúntame|pregúnteme|preguntes|pregunte|preguntarme|preguntar|toques|toque|toquen|tocar",
    ),
    allows=(
        f"ya {_MAY}",
        f"{_MAY} * * otra vez",
        f"{_MAY} * * de nuevo",
        f"{_MAY} volver a",
        f"{_MAY} * * cuando quieras|quiera|quieran|queráis",
        "ya no hace|tienes|tiene|tienen|tenéis|necesitas|necesita|necesitan|debes [!~]*",
        "siéntete|siéntase libre de",
    ),
    permits=(
        f"{_MAY} * * ahora",
        "no hace|tienes|tiene|tienen|tenéis falta|que",
        "está|esta|me bien|parece que|bien",
        "ya no necesito|quiero|necesitamos|queremos",
        "* también|tambien está|están|vale|valen|sirve|sirven",
        "* también|tambien me|nos va|van|vale|valen|sirve|sirven",
    ),
    loosens=LOOSENING.loosens,
    unnamed=LOOSENING.unnamed,
    waits=LOOSENING.waits,
    topics=LOOSENING.topics,
    contrasts=("de|a|desde|hacia|para|con", "mi|tu|su", "antes|después|despues"),
    endings=(
        "|s|es",
        "o|a|os|as",
        "ar|es|e|en|éis|a|an|ad|arme|arnos|arlo|arla|arlos|arlas|arle|arles|ando",
        "es|arme|arnos|arlo|arla|arlos|arlas|arle|arles",
        "éis|arme|arnos|arlo|arla|arlos|arlas|arle|arles",
        "e|arme|arnos|arlo|arla|arlos|arlas|arle|arles",
        "er|as|a|an|áis|e|en|erme|ernos|erlo|erla|erlos|erlas",
        "ir|as|a|an|áis|e|en|irme|irnos|irlo|irla|irlos|irlas",
        "as|e|erme|irme|irnos|irlo|irla|irlos|irlas",
        "car|ques|que|quen|quéis",
        "gar|gues|gue|guen|guéis",
        "zar|ces|ce|cen|céis",
        "iar|íes|íe|íen|ies|ie|ien",
        "íes|iarme|iarnos|iarlo|iarla",
    ),
    openers=(  # not "no": "no puedes" forbids; nor "si", which is "if" where the accent is left out
        "sí|vale|bueno|bien|perfecto|claro|gracias|ahora|perdón|perdona|mira|mejor|pero|y|he",
        "en|al|de|por realidad|final|acuerdo|cierto",
        "pensándolo|quiero|quisiera bien|mejor|que",
    ),
    hedges=(
        "esta vez",
        "por hoy|ahora",
        "dijiste|dijisteis|dijo|dijeron|dice|dicen|dices|decías|piensa|piensas|cree|crees",
        "no|nunca|tampoco he|hemos|dije|digo|dijimos|quiero|es",
        "si es|hay|no|me|nos|se|el|la|los|las|lo|un|una|pasa|antes|yo|te",
        "en|siempre|para|como|mientras|salvo|excepto caso|que|si|cuanto|haya|hay",
    ),
    letters=(
        "hola|estimado|estimada|estimados|querido|querida|saludos|atentamente|cordialmente",
        "un|cordial|buenos|buenas saludo|abrazo|días|dias|tardes|noches",
    ),
    tags=("vale|ok|okay|entendido|sí|eh|no", "de|por acuerdo|favor"),
    corrects=("perdón|perdona|perdone|mejor|corrección", "en|al|mejor realidad|final|dicho"),
    lists=("y|e|o|u|ni|pero",),
    goes_on=(
        "o|y|e|ni|pero|salvo|excepto|si|cuando|mientras|antes|después|despues|porque|sin|hasta",
        "en|de|a|por|para|con|que|desde|entre|sobre|del|al",
    ),
)
"""The words of Spanish."""
