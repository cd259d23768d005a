"""JSON texts as leaves with their paths, and what a leaf says under its key.

Not here: what a value in plain text looks like (`typed`), where texts come from (`facts`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, cast

from chatfold.core.json_text import QUOTE, decoding, document
from chatfold.core.values.numbers import Cache
from chatfold.core.values.tables import CURRENCIES, UNITS
from chatfold.core.values.terms import COMMANDS
from chatfold.core.values.typed import Value, command_value, found_in
from chatfold.core.word_sets import word_set

__all__ = ["LeafReader", "Path", "named"]

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indices that lead to a leaf; () for a text that is no JSON."""

_DEEPEST = 8
_SHORT = 200
_LONGEST_NAME = 40
_COMMAND_LINES = 20


class _Written(str):
    """A number of a JSON text, as it is written."""

    __slots__ = ()


_ENCODED = re.compile(r"(?:data:[\w/+.;=-]{0,80},)?[A-Za-z0-9+/_=\s-]+")
_ENCODED_LENGTH = 256
_HIDDEN_KEYS = word_set(
    """
    encrypted_content encrypted_index signature fingerprint thought_signature thoughtSignature
    redactedContent
    """
)
_HIDDEN_TYPES = ("base64", "redacted_thinking")
_OPENING = ("{", "[", " ", "\n", QUOTE)
# Like the names of other keys below: in English, then in German and in Romance languages.
_BESIDE_KEYS = (
    *("currency", "currency_code", "unit", "units"),
    *("waehrung", "währung", "einheit", "devise", "moneda", "moeda", "valuta", "unidad", "unidade"),
)
_BESIDE = frozenset(_BESIDE_KEYS)


_Said: TypeAlias = tuple[str, str, bool, str]
"""A leaf wherever it stands, as a plain tuple, as there may be very many: its text; the last key on
its path, "" where there is none; whether it is a number; the value of `currency` or `unit` in the
same object (`beside`), "" where there is none."""


def _walk(root: Any) -> Iterator[tuple[Path, _Said]]:
    """Yield the leaves of an object or array with their paths, in order.

    A string that holds JSON itself is gone into. Booleans and nulls are no leaves, nor is what is
    encoded or encrypted.
    """
    open_: list[_Open] = [((), "", _steps(root), _beside(root, ""), 0)]
    while open_:
        path, key, steps, beside, depth = open_[-1]
        for step, value in steps:
            if type(step) is str:
                key = step
            kind = value.__class__
            if kind is str:
                may_be = value[:1] in _OPENING and depth < _DEEPEST
                inner = document(value, _decode) if may_be else None
                if inner is None:
                    if len(value) < _ENCODED_LENGTH or not _is_encoded(value):
                        yield (*path, step), (value, key, False, beside)
                    continue
                inside = _beside(inner, beside)
                open_.append(((*path, step), key, _steps(inner), inside, depth + 1))
                break
            if kind is dict or kind is list:
                inside = _beside(value, beside)
                open_.append(((*path, step), key, _steps(value), inside, depth))
                break
            if kind is _Written:
                yield (*path, step), (value, key, True, beside)
        else:
            open_.pop()


_Open: TypeAlias = tuple[Path, str, Iterator[tuple[str | int, Any]], str, int]
"""An object or array that is being read: its path, the last key on that, what is left of it,
`beside`, its depth."""


def _steps(value: Any) -> Iterator[tuple[str | int, Any]]:
    """Return what an object or array holds, without what is not to be read."""
    if isinstance(value, list):
        return enumerate(cast(list[Any], value))
    if value.get("type") in _HIDDEN_TYPES:
        hidden = _HIDDEN_KEYS | {"data"}
    elif _HIDDEN_KEYS.isdisjoint(value):
        return iter(value.items())
    else:
        hidden = _HIDDEN_KEYS
    return iter([(key, inner) for key, inner in value.items() if key not in hidden])


def _is_encoded(text: str) -> bool:
    """Return whether a long string holds no words: bytes as letters, in lines or without."""
    return " " not in text and _ENCODED.fullmatch(text) is not None


def _beside(value: dict[str, Any] | list[Any], outer: str) -> str:
    """Return the currency or unit that an object names; an array has that of its object."""
    if isinstance(value, list):
        return outer
    if _BESIDE.isdisjoint(value):
        return ""
    for key in _BESIDE_KEYS:
        said = value.get(key)
        if isinstance(said, str) and len(said) < 16:
            return said
    return ""


def _no_number(written: str) -> None:
    """Stand for `NaN` and its like, which say nothing."""


_decode = decoding(
    parse_int=_Written, parse_float=_Written, parse_constant=_no_number, strict=False
)


_STEPS = re.compile(r"[a-z0-9]+|[A-Z]+(?![a-z])|[A-Z][a-z0-9]*")
_ID_STEPS = word_set(
    """
    id ids number no nr num ref reference order ticket account sku pnr code key uuid guid serial
    iban isbn zip postcode plz phone tel mobile card last4
    nummer bestellnummer kundennummer rechnungsnummer auftragsnummer buchungsnummer vertragsnummer
    vorgangsnummer ticketnummer sendungsnummer kontonummer artikelnummer telefonnummer telefon
    referenz aktenzeichen numero codigo codice referencia riferimento folio protocolo
    pedido commande telefono telefone cpf cnpj dni nif siret
    """
)
_ID_LEADS = word_set("numero num codigo codice referencia riferimento")
_PHONE_STEPS = word_set(
    "phone tel telephone mobile fax whatsapp telefon telefonnummer handy telefono telefone movil"
)
_MONEY_STEPS = word_set(
    """
    amount total subtotal price cost costs fee fees sum balance tax paid due refund refunded charge
    charged payment discount shipping fare value limit budget salary rate net gross deposit
    betrag gesamtbetrag summe preis gesamtpreis kosten gebuehr guthaben steuer rabatt montant prix
    solde frais importe precio coste monto saldo descuento valor preco custo desconto prezzo costo
    importo totale
    """
)
_COMMAND_STEPS = word_set("command cmd script shell")
_CODE_NAMES = {
    "status": "http",
    "http": "http",
    "exit": "exit",
    "return": "exit",
    "errno": "errno",
}
_NAME = re.compile(r"[^\W\d_][\w'&./+-]*(?: [\w'&./+-]+){0,3}")


_Values: TypeAlias = tuple[bool, Value | Sequence[Value]]
"""Whether a single value is all that a leaf says; the values, a single one as it is."""


def _alone(found: Sequence[Value], leaf: str | None = None) -> _Values:
    """Return values, and whether a single one is all of the leaf."""
    if len(found) != 1:
        return False, tuple(found)
    return found[0].text == leaf, found[0]


class LeafReader:
    """Reads leaves; the same leaf under the same key is read once.

    A number is read as it is written, and as an id where its key ends in a word such as `id`,
    `number` or `code`; with the currency beside it (`currency: "EUR"`) it is an amount, and its
    key's last word may be its unit (`weight_kg`). A string is read as a text; where that says
    nothing and it is short, it is a name (`status: "shipped"`), in small letters. A command under
    a key such as `command` is one, whatever else stands in it.
    """

    def __init__(self) -> None:
        self.words: Cache = {}
        self._read: dict[_Said, _Values] = {}
        self._steps: dict[str, tuple[str, ...]] = {}
        self._paths: dict[Path, Path] = {}

    @property
    def known(self) -> int:
        """How much is remembered: words and leaves."""
        return len(self.words) + len(self._read) + len(self._paths)

    def document(
        self, text: str, clean: Callable[[str], str] | None = None
    ) -> Iterator[tuple[Path, _Values]]:
        """Yield the values of a text that may be JSON, by its leaves; those with none are left out.

        Args:
            text: The text.
            clean: Applied to each leaf before it is read, as escapes may hide what is to go.
        """
        root = document(text, _decode)
        if root is None:
            found = found_in(clean(text) if clean else text, self.words)
            if found:
                yield (), _alone(found)
            return
        paths, read = self._paths, self._read
        for path, said in _walk(root):
            if clean:
                said = (clean(said[0]), *said[1:])
            values = read.get(said) or self._leaf(said)
            if values[1]:
                yield paths.setdefault(path, path), values

    def _leaf(self, said: _Said) -> _Values:
        """Read a leaf under a key; what is short may be met again."""
        text, key, number, beside = said
        steps = self._steps_of(key)
        if len(text) > _SHORT:
            return _alone(self._string(text, steps), text)
        found = self._number(text, steps, beside) if number else self._string(text, steps)
        values = self._read[said] = _alone(found, text)
        return values

    def _steps_of(self, key: str) -> tuple[str, ...]:
        steps = self._steps.get(key)
        if steps is None:
            steps = tuple(step.lower() for step in _STEPS.findall(key[-80:])) or ("",)
            self._steps[key] = steps
        return steps

    def _string(self, text: str, steps: tuple[str, ...]) -> list[Value]:
        if text.isdigit() and text.isascii():
            return [_of_digits(text, steps)]
        found = found_in(text, self.words)
        if steps[-1] in _COMMAND_STEPS:
            lines = [line.strip() for line in text.split("\n", _COMMAND_LINES)[:_COMMAND_LINES]]
            found = [command_value(line, 0) for line in lines if _is_command(line)] + found
        if not found and len(text) <= _LONGEST_NAME and _NAME.fullmatch(text):
            return [named(text)]
        return found

    def _number(self, written: str, steps: tuple[str, ...], beside: str) -> list[Value]:
        bare = written.lstrip("-")
        if len(bare) > 40:
            return []
        if bare.isdigit() and (_names_an_id(steps) or steps[-1] == "status"):
            return [_of_digits(bare, steps)]
        if "e" in bare.lower():
            return [Value("number", written, f"number:{bare.lower()}", 0, len(written))]
        unit = steps[-1].upper() if steps[-1].upper() in CURRENCIES else steps[-1]
        word = beside if beside in UNITS or _MONEY_STEPS.intersection(steps) else ""
        if unit in CURRENCIES or unit in UNITS:
            word = unit
        if word.upper() in CURRENCIES:
            word = word.upper()
        found = found_in(f"{bare} {word}" if word else bare, self.words)
        if len(found) != 1:
            found = found_in(bare, self.words)
        if not found:
            return []
        kind, _, key, _, _, also = found[0]
        return [Value(kind, written, key, 0, len(written), also)]


def _names_an_id(steps: tuple[str, ...]) -> bool:
    """Return whether the words of a key name an id: `order_number`, `numero_pedido`.

    `numero_personas` is a count: what is numbered is one, what is counted are several.
    """
    return steps[-1] in _ID_STEPS or (steps[0] in _ID_LEADS and not steps[-1].endswith("s"))


def _is_command(line: str) -> bool:
    return 0 < len(line) < 300 and (line.split()[0] in COMMANDS or line.startswith("./"))


def _of_digits(digits: str, steps: tuple[str, ...]) -> Value:
    """Return what a whole leaf of digits says by the words of its key."""
    plain = digits.lstrip("0") or "0"
    also = [f"number:{plain}"]
    if len(digits) > 7:
        also.append(f"id:{digits[-4:]}")
    if _PHONE_STEPS.intersection(steps):
        return Value(
            "phone",
            digits,
            f"phone:{digits}",
            0,
            len(digits),
            (f"id:{digits}", f"phone:+{digits}"),
        )
    named_code = next((_CODE_NAMES[step] for step in steps if step in _CODE_NAMES), None)
    if named_code and len(digits) <= 3:
        also = [f"error:{named_code} {plain}", f"id:{digits}"]
        return Value("number", digits, f"number:{plain}", 0, len(digits), tuple(also))
    if _names_an_id(steps) or len(digits) > 5 or digits != plain:
        also += [f"phone:{digits}", f"phone:+{digits}"] if len(digits) > 9 else []
        return Value("id", digits, f"id:{digits}", 0, len(digits), tuple(also))
    return Value("number", digits, f"number:{plain}", 0, len(digits), (f"id:{digits}",))


def named(text: str) -> Value:
    """Return a short text as the name of something: in small letters, as it is else."""
    return Value("name", text, f"name:{' '.join(text.lower().split())}", 0, len(text))
