"""Standing instructions in Spanish: found, told from what looks like them, and taken back.

The words were tuned on sentences of the same author; a share of those that they were then measured
on is among these.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chatfold.core.constraints import standing
from chatfold.core.constraints.languages.spanish import SPANISH
from chatfold.core.views import ItemView, TextPart


def views(*texts: str) -> Sequence[ItemView]:
    return [ItemView("user", (TextPart(text),)) for text in texts]


def told(*texts: str) -> list[str]:
    return standing(views(*texts), words=SPANISH).held


# --- which sentences are instructions -------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        # when and how to be reached
        "Nunca me llames antes de las nueve.",
        "Pregunta antes de instalar nada.",
        "Cada función lleva un docstring.",
        "Quédate en Python 3.11.",
        "Responde solo con código, sin explicaciones.",
        "Funciones de menos de 40 líneas.",
        "Los tests no deben acceder a la red.",
        "Mi hija no tolera la leche.",
        "Todas las cantidades en litros.",
        "Los fines de semana no estoy disponible.",
        "Responda brevemente.",
        "No me llaméis al trabajo, por favor.",
        "no me llamen los domingos",
        "Al teléfono fijo no me llamen nunca.",
        "¡No me llaméis más!",
        "Prefiero que me contacten por correo electrónico.",
        "Solo por WhatsApp, por favor.",
        "Contáctenme únicamente por correo.",
        "Solo puedo atender llamadas de 17 a 20 h.",
        "Me viene mejor que me llamen por la mañana.",
        "Las entregas, solo por la mañana.",
        "Háblame de usted, por favor.",
        "Tutéame, por favor.",
        "Llámame Paco, no Francisco.",
        "Le agradecería que me hablara más despacio.",
        # to be asked before
        "Pregúntame antes de comprar nada.",
        "Preguntame antes de hacer el pedido",
        "No hagas nada sin mi permiso.",
        "Espera a que yo confirme antes de pagar.",
        "Antes de enviar cualquier cosa, avísame.",
        "Si supera los 200 euros, consúltame antes.",
        "Necesito aprobar cada pago antes de que se haga.",
        "No toques nada hasta que te dé el visto bueno.",
        # needs, limits and wishes
        "Soy alérgica a los frutos secos.",
        "soy celiaco asi que nada con gluten",
        "Mi hija no come huevo.",
        "Mi madre va en silla de ruedas.",
        "Nada de habitaciones en la planta baja.",
        "Sin cebolla, por favor, siempre.",
        "No vuelo con escalas nocturnas.",
        "Mi presupuesto es de 500 euros como máximo.",
        "No quiero gastar más de 80 euros por noche.",
        "Que el hotel no cueste más de 120 la noche.",
        "Como mucho dos escalas.",
        "Bajo ningún concepto compartas mi dirección.",
        "Evite los correos publicitarios.",
        "Dejen de enviarme publicidad.",
        "Los precios en euros, por favor.",
        # how to answer and to write code
        "A partir de ahora responde en catalán.",
        "Respuestas cortas, por favor.",
        "Sé breve.",
        "No uses emojis.",
        "Redondea siempre a dos decimales.",
        "¿Podrías responder siempre en inglés?",
        "No toques la rama main.",
        "no metas dependencias sin avisar",
        "Los tests van siempre en la carpeta tests.",
        "Usa pnpm, no npm.",
        "Usa tabulaciones en lugar de espacios.",
        "Ejecuta los tests después de cada cambio.",
        "Cada vez que cambies un archivo pasa el linter",
        "En este proyecto usamos siempre pnpm.",
        "No se puede tocar la base de datos de producción.",
        "Es importante que no cambies la API pública.",
        "Deja el README como está.",
    ],
)
def test_what_a_customer_wants_kept_to_is_found(said: str) -> None:
    assert told(said) == [said]
    assert told(f"Buenos días.\n{said}\nUn saludo") == [said]


@pytest.mark.parametrize(
    "said",
    [
        # complaints and reports
        "El paquete nunca llegó.",
        "Mande la factura, siempre me la envían tarde.",
        "Nunca me ha llegado el pedido.",
        "Nunca en mi vida he visto esto.",
        "Siempre llega tarde el repartidor.",
        "Siempre lo mismo.",
        "Los trenes siempre con retraso.",
        "Solo quería preguntar por mi pedido.",
        "solo queria saber cuando llega",
        "No me llamaron.",
        "No me han contestado.",
        "No hay nada que pagar.",
        "Nadie contesta nunca.",
        "En ningún momento me avisaron.",
        "Llegó sin el cargador.",
        "Lo hicieron sin mi permiso.",
        "Pagué como máximo 20 euros.",
        "Las facturas por correo llegan tarde.",
        "Los archivos tienen que estar en algún sitio.",
        "Deja de funcionar cuando lo enciendo.",
        "Cuando entras en la web da error.",
        "Cada vez que entro me da error.",
        # wishes of the moment
        "Por favor, cancela el pedido 123.",
        "Mándame solo la primera página.",
        "Llámame mañana a las tres.",
        "Quiero devolver estos zapatos.",
        "Necesito que me ayudes con mi cuenta.",
        "Me gustaría que me devolvieran el dinero.",
        "Prefiero el segundo.",
        "Prefiero no decirlo.",
        "no, llame mañana",
        # courtesies
        "No, gracias.",
        "No pasa nada.",
        "No te preocupes.",
        "No hay problema.",
        "Olvídalo, ya lo encontré.",
        "Nada más, gracias.",
        "No me digas.",
        "No hace falta que me llames.",
        # questions
        "¿Por qué nunca contestan al teléfono?",
        "¿Puedo pagar solo la mitad?",
        "¿Podrías decirme si siempre es así?",
        "¿Es vegano?",
        # of others, of a product
        "Mi jefe me ha dicho que no toque nada.",
        "La señora me pidió que no llamara más.",
        "El compilador dice que no uses punteros.",
        "Espero que no me cobren dos veces.",
        "No creo que me llamen.",
        "El hotel no admite mascotas.",
        "La oferta solo es válida hasta el domingo.",
        "El paquete tiene que pasar la aduana.",
        "La función nunca devuelve nada.",
    ],
)
def test_what_only_looks_like_an_instruction_is_not_kept(said: str) -> None:
    assert told(said) == []


def test_each_is_found_among_other_sentences() -> None:
    said = "Hola, mi pedido es el 123. No me llaméis los domingos. El paquete nunca llegó. Gracias."
    assert told(said) == ["No me llaméis los domingos."]


# --- taking back ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("No me llames los domingos.", "Ya puedes llamarme los domingos."),
        ("No me llame los domingos.", "Puede llamarme los domingos otra vez."),
        ("No me llaméis por la noche.", "Podéis llamarme por la noche de nuevo."),
        ("No toques la rama main.", "Puedes volver a tocar la rama main."),
        ("No hagas push a main.", "Sí, ya puedes hacer push a main."),
        ("No uses emojis.", "Olvida lo que dije sobre los emojis."),
        ("No uses emojis.", "Puedes usar emojis otra vez."),
        ("Nada de vuelos nocturnos.", "Olvida lo de los vuelos nocturnos."),
        ("Nunca reserves hoteles en el centro.", "Olvídate de lo de los hoteles."),
        ("Los precios en euros, por favor.", "Lo de los euros ya no hace falta."),
        ("Responde siempre en inglés.", "Ya no hace falta que respondas en inglés."),
        ("Responde siempre en inglés.", "Ya no tienes que responder en inglés."),
        (
            "No envíes facturas a Ana.",
            "Vale, puedes enviar facturas a Ana otra vez.",
        ),
        ("No publiques nada los viernes.", "Me parece bien que publiques los viernes."),
        ("Usa siempre emojis.", "No tienes que usar emojis."),
        ("Evita los correos publicitarios.", "Ignore mi norma sobre los correos publicitarios."),
    ],
)
def test_what_the_user_takes_back_is_lifted(rule: str, said: str) -> None:
    other = "Nunca contrates ningún seguro."
    found = standing(views(rule, other, said), words=SPANISH)
    assert (found.held, found.lifted) == ([other], [rule])


def test_the_contrary_of_the_very_same_thing_takes_its_place() -> None:
    rule, said = "Responde siempre en inglés.", "No respondas en inglés."
    assert standing(views(rule, said), words=SPANISH) == ([said], [rule])


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("No me llames los domingos.", "Ya puedes llamarme los lunes."),
        ("No me llames los domingos.", "Ya puedes llamarme los domingos si es urgente."),
        ("No me llames los domingos.", "No puedes llamarme los domingos otra vez."),
        ("No me llames los domingos.", "Si puedes llamarme los domingos otra vez, dilo."),
        ("No me llames los domingos.", "Puedes llamarme los domingos de vez en cuando."),
        ("No ejecutes los tests de pago.", "Vuelve a ejecutar los tests."),
        ("Usa el puerto 8080 siempre.", "No uses el puerto 9090."),
        ("No toques la rama main.", "Ya puedes tocar la rama develop."),
        ("No toques la rama main.", "Ya puedes borrar la rama main."),
        ("No borres /srv/a.", "Puedes borrar /srv/b otra vez."),
        ("No borres /srv/a ni /srv/b.", "Puedes borrar /srv/b otra vez."),
        ("No uses mi tarjeta.", "Puedes usar tu tarjeta otra vez."),
        ("No llames a Ana.", "Ya puedes llamar a Juan."),
        ("No envíes correos a ventas.", "Ya puedes enviar correos de ventas."),
        ("No envíes A1 a B2.", "Ya puedes enviar B2 a A1."),
        ("No despliegues los viernes.", "Puedes desplegar ahora."),
        ("No pagues facturas de Acme.", "Olvida lo que dije de Bolt."),
        ("No uses emojis.", "¿Ya puedes usar emojis?"),
        ("No uses emojis.", "No tienes que usar emojis."),
        ("No uses emojis.", "Creo que ya puedes usar emojis."),
        ("No uses emojis.", "Nunca dije que ya puedes usar emojis."),
        ("No uses emojis.", "Mi jefe dice que ya puedes usar emojis."),
        ("No uses emojis.", "Hola Ana:\nYa puedes usar emojis."),
    ],
)
def test_what_is_about_another_thing_or_in_doubt_takes_nothing_back(rule: str, said: str) -> None:
    found = standing(views(rule, said), words=SPANISH)
    assert found.held[0] == rule
    assert found.lifted == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Mi presupuesto es de 500 euros.", "Perdón, mi presupuesto es de 600 euros."),
        ("Usa como máximo 3 viñetas.", "En realidad usa como máximo 5 viñetas."),
        ("El límite es de 20 euros.", "Corrección: el límite es de 30 euros."),
    ],
)
def test_a_number_that_is_told_anew_takes_the_place_of_the_old_one(rule: str, said: str) -> None:
    assert standing(views(rule, said), words=SPANISH) == ([said], [rule])
    unopened = said.split(maxsplit=1)[1].removeprefix("realidad ").capitalize()
    assert told(rule, unopened) == [rule, unopened]


def test_a_line_that_goes_on_with_a_sentence_is_of_it() -> None:
    assert told("No me llaméis\nsalvo que arda la casa") == ["No me llaméis salvo que arda la casa"]


# --- beside English -------------------------------------------------------------------------------


def test_english_has_no_instructions_in_spanish() -> None:
    said = [
        "Never call me before nine.",
        "No uses for that, thanks.",
        "No reserve price, please.",
        "Los Angeles only.",
        "No, send it to me at once.",
        "No den was found in Las Vegas.",
    ]
    assert [text for text in said if told(text)] == []
