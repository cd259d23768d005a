"""Histories with faithful and with corrupted summaries; which value was changed is known.

Belongs here: how a domain becomes a history, a summary of it, and a lie about it. The domains and
styles that a test may be tuned on are in `summaries_tune`, the others in `summaries_held_out`.
Nothing here imports chatfold, so that the truth owes nothing to it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from summaries_writing import AMOUNTS, DATES, TIMES, Money, Number

__all__ = ["CORRUPTIONS", "Case", "Domain", "Field", "Suite", "corrupted", "faithful"]

Raw = Any
Make = Callable[[random.Random], Raw]
Writer = Callable[[Raw], str]


_LOGGED = date(2025, 10, 8)


class Slot(NamedTuple):
    """A value in a summary: what it is, how it was written, and whose it is."""

    kind: str
    raw: Raw
    write: Writer
    owner: int | None
    name: str

    @property
    def text(self) -> str:
        return self.write(self.raw)


Segments = list[str | Slot]


@dataclass(frozen=True)
class Field:
    """A value that each record of a domain has.

    Attributes:
        kind: `id`, `date`, `datetime`, `amount`, `number`, `mail`, `phone`, `url`, `path`, `hash`,
            `version` or `error`.
        make: Draws one.
        label: What it is called in lists.
        clause: What a sentence says of it, with `{}` for the value.
    """

    kind: str
    make: Make
    label: str
    clause: str


@dataclass(frozen=True)
class Domain:
    """A subject: records with an id each, and values that belong to nobody."""

    name: str
    language: str
    noun: str
    plural: str
    key: str  # name of the id's field in JSON
    owner: Make
    fields: dict[str, Field]
    loose: dict[str, Field]  # `clause` is a sentence
    tools: tuple[str, str]  # lists the records, reads one
    act: tuple[str, str, Field]  # a tool that changes a record, the name of what it returns
    asks: tuple[str, ...]
    money: tuple[str, ...] = ("USD",)
    today: date = date(2025, 10, 9)


@dataclass(frozen=True)
class Suite:
    """Domains with the styles in which they are summarized."""

    name: str
    domains: tuple[Domain, ...]
    styles: dict[str, Callable[[World], Segments]]
    derived: dict[str, tuple[Callable[[World], str | None], ...]]  # by language
    fillers: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Case:
    """A history, a summary, and the place of what was changed in it (None: faithful)."""

    history: list[dict[str, Any]]
    text: str
    kind: str
    domain: str
    style: str
    changed: tuple[int, int] | None = None
    was: str = ""


class World:
    """One drawn history and all that a summary of it needs."""

    def __init__(self, rng: random.Random, domain: Domain) -> None:
        self.rng = rng
        self.domain = domain
        count = rng.randint(2, 5)
        self.records = [self._record() for _ in range(count)]
        self.loose = {k: self._drawn(f) for k, f in domain.loose.items()}
        self.done = [domain.act[2].make(rng) for _ in range(2)]
        self.acted = rng.sample(range(count), 2)
        self.history: list[dict[str, Any]] = []

    def _record(self) -> dict[str, Raw]:
        own = {"owner": self.domain.owner(self.rng)}
        return own | {k: self._drawn(f) for k, f in self.domain.fields.items()}

    def _drawn(self, field: Field) -> Raw:
        raw = field.make(self.rng)
        return replace(raw, currency=self.domain.money[0]) if isinstance(raw, Money) else raw

    # What a summary writes

    def owner(self, index: int) -> Slot:
        return Slot("id", self.records[index]["owner"], str, index, "owner")

    def slot(self, index: int, name: str) -> Slot:
        field = self.domain.fields[name]
        return self._slot(field.kind, self.records[index][name], index, name)

    def loose_slot(self, name: str) -> Slot:
        return self._slot(self.domain.loose[name].kind, self.loose[name], None, name)

    def act_slot(self, number: int) -> Slot:
        return Slot("id", self.done[number], str, self.acted[number], "act")

    def _slot(self, kind: str, raw: Raw, owner: int | None, name: str) -> Slot:
        writers = {
            "date": DATES[self.domain.language],
            "datetime": TIMES[self.domain.language],
            "amount": AMOUNTS[self.domain.language],
        }.get(kind, (str,))
        return Slot(kind, raw, self.rng.choice(writers), owner, name)

    def raws(self) -> list[Raw]:
        """Return every value that the history holds."""
        own = [raw for record in self.records for raw in record.values()]
        return [*own, *self.loose.values(), *self.done, self.domain.today, _LOGGED]

    def amounts(self) -> list[Money]:
        return [raw for record in self.records for raw in record.values() if isinstance(raw, Money)]


# --- histories ----------------------------------------------------------------------------------


def _plain(raw: Raw) -> Raw:
    """Return a value as a JSON document has it."""
    if isinstance(raw, datetime):
        return raw.strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(raw, date):
        return raw.isoformat()
    if isinstance(raw, Money):
        return {"value": raw.cents / 100, "currency": raw.currency}
    return str(raw)


def _flat(raw: Raw) -> str:
    if isinstance(raw, Money):
        return f"{raw.cents / 100:.2f} {raw.currency}"
    return str(_plain(raw))


def _rows(world: World) -> str:
    """Return all records in one of the forms in which tools return them."""
    names = (world.domain.key, *world.domain.fields)
    rows = [[_flat(raw) for raw in record.values()] for record in world.records]
    form = world.rng.randrange(6)
    if form == 0:
        found = [
            {world.domain.key: r["owner"], **{k: _plain(r[k]) for k in world.domain.fields}}
            for r in world.records
        ]
        return json.dumps({"results": found, "count": len(found)}, ensure_ascii=False)
    if form == 1:
        return json.dumps(
            {
                r["owner"]: {"details": {k: _plain(r[k]) for k in world.domain.fields}}
                for r in world.records
            },
            indent=1,
        )
    if form == 2:
        table = [names, ["---"] * len(names), *rows]
        return "\n".join("| " + " | ".join(row) + " |" for row in table)
    if form == 3:
        pairs = (" ".join(map("=".join, zip(names, row, strict=True))) for row in rows)
        return "\n".join(f"{_LOGGED}T06:0{n}:11Z INFO {row}" for n, row in enumerate(pairs))
    if form == 4:
        return "\n\n".join(
            "\n".join(f"{k}: {v}" for k, v in zip(names, row, strict=True)) for row in rows
        )
    inner = json.dumps([dict(zip(names, row, strict=True)) for row in rows])
    return json.dumps({"ok": True, "body": inner})


class _History:
    """Writes a history in the form of Chat Completions."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.items: list[dict[str, Any]] = []

    def say(self, role: str, text: str) -> None:
        self.items.append({"role": role, "content": text})

    def call(self, name: str, arguments: dict[str, Any], result: str) -> None:
        id_ = f"call_{self.world.rng.getrandbits(48):012x}"
        function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
        made = {"id": id_, "type": "function", "function": function}
        self.items.append({"role": "assistant", "content": None, "tool_calls": [made]})
        self.items.append({"role": "tool", "tool_call_id": id_, "content": result})


def _told(world: World) -> list[dict[str, Any]]:
    """Return a history in which every value of the world stands somewhere."""
    rng, domain = world.rng, world.domain
    history = _History(world)
    rules = "Answer within 48 hours, call nobody before 9 am. Tools: get_setting and others."
    history.say("system", f"Today is {domain.today.isoformat()}. {rules}")
    first = world.records[0]["owner"]
    history.say("user", rng.choice(domain.asks).format(owner=first))
    if rng.random() < 0.6:
        history.call(domain.tools[0], {"account": "AC-7741", "limit": 50}, _rows(world))
    else:
        for record in world.records:
            found = {k: _plain(record[k]) for k in domain.fields}
            if rng.random() < 0.5:
                found = {domain.key: record["owner"], **found}
            result = json.dumps({"data": found})
            history.call(domain.tools[1], {domain.key: record["owner"]}, result)
    told = rng.randrange(len(world.records))
    name = rng.choice(list(domain.fields))
    clause = domain.fields[name].clause.format(world.slot(told, name).text)
    if not any(isinstance(world.records[told][name], kind) for kind in (date, Money)):
        history.say("assistant", f"{domain.noun} {world.records[told]['owner']} {clause}.")
    for name, field in domain.loose.items():
        shown = _flat(world.loose[name])
        if rng.random() < 0.5:
            history.say("user", field.clause.format(shown))
        else:
            history.call("get_setting", {"name": name}, json.dumps({name: shown}))
    for number, index in enumerate(world.acted):
        owner = world.records[index]["owner"]
        tool, key, _ = domain.act
        result = json.dumps({"ok": True, key: world.done[number]})
        history.call(tool, {domain.key: owner, "confirm": True}, result)
    history.say("assistant", "Done. Anything else?")
    return history.items


# --- summaries ----------------------------------------------------------------------------------


def _drawn(rng: random.Random, suite: Suite) -> tuple[World, Segments, str]:
    world = World(rng, rng.choice(suite.domains))
    world.history = _told(world)
    style = rng.choice(list(suite.styles))
    segments = suite.styles[style](world)
    language = world.domain.language
    extra: list[Segments] = []
    for name in rng.sample(list(world.domain.loose), min(2, len(world.domain.loose))):
        before, _, after = world.domain.loose[name].clause.partition("{}")
        extra.append([before, world.loose_slot(name), after])
    extra.append([rng.choice(suite.fillers[language])])
    for derive in rng.sample(suite.derived[language], min(2, len(suite.derived[language]))):
        text = derive(world)
        if text:
            extra.append([text])
    rng.shuffle(extra)
    for sentence in extra:
        segments += ["\n", *sentence]
    return world, segments, style


def _joined(segments: Segments) -> str:
    return "".join(s if isinstance(s, str) else s.text for s in segments)


def faithful(suite: Suite, seed: int, count: int) -> list[Case]:
    """Return summaries that say what the history says, in other words."""
    rng = random.Random(f"{suite.name} {seed} faithful")
    cases: list[Case] = []
    for _ in range(count):
        world, segments, style = _drawn(rng, suite)
        text = _joined(segments)
        cases.append(Case(world.history, text, "faithful", world.domain.name, style))
    return cases


def corrupted(suite: Suite, seed: int, count: int) -> list[Case]:
    """Return summaries with one value changed each, the kinds of change in turn."""
    rng = random.Random(f"{suite.name} {seed} corrupted")
    kinds = list(CORRUPTIONS)
    cases: list[Case] = []
    while len(cases) < count:
        kind = kinds[len(cases) % len(kinds)]
        made = None
        while made is None:
            made = _corrupted(rng, suite, kind)
        cases.append(made)
    return cases


def _corrupted(rng: random.Random, suite: Suite, kind: str) -> Case | None:
    world, segments, style = _drawn(rng, suite)
    places = [n for n, s in enumerate(segments) if isinstance(s, Slot)]
    rng.shuffle(places)
    known = world.raws()
    shown = json.dumps(world.history, ensure_ascii=False)
    for place in places:
        slot = segments[place]
        assert isinstance(slot, Slot)
        raw = CORRUPTIONS[kind](rng, slot, world)
        if isinstance(raw, Money) and raw.cents <= 0:
            continue
        if raw is None or slot.write(raw) == slot.text:
            continue
        if not kind.startswith("moved") and (_same_as_one(raw, known) or slot.write(raw) in shown):
            continue
        start = len(_joined(segments[:place]))
        new = slot._replace(raw=raw)
        text = _joined([*segments[:place], new, *segments[place + 1 :]])
        span = (start, start + len(new.text))
        return Case(world.history, text, kind, world.domain.name, style, span, slot.text)
    return None


def _same_as_one(raw: Raw, known: Sequence[Raw]) -> bool:
    """Return whether a changed value is, in some reading, one that the history holds."""
    if isinstance(raw, datetime):
        times = {(k.hour, k.minute) for k in known if isinstance(k, datetime)}
        return (raw.hour, raw.minute) in times
    if isinstance(raw, date):
        days = {(k.month, k.day) for k in known if isinstance(k, date)}
        near = [k for k in known if isinstance(k, date)]
        readings = {(raw.month, raw.day), (raw.day, raw.month)}
        return bool(readings & days) and any(k.year == raw.year for k in near)
    if isinstance(raw, Money):
        return any(isinstance(k, Money) and k == raw for k in known)
    return raw in known


# --- corruptions --------------------------------------------------------------------------------

Corruption = Callable[[random.Random, Slot, World], Raw | None]


def _of(*kinds: str) -> Callable[[Corruption], Corruption]:
    def wrap(change: Corruption) -> Corruption:
        return lambda rng, slot, world: change(rng, slot, world) if slot.kind in kinds else None

    return wrap


@_of("date")
def _year(rng: random.Random, slot: Slot, world: World) -> Raw:
    return slot.raw.replace(year=slot.raw.year + rng.choice((-2, -1, 1)), day=min(slot.raw.day, 28))


@_of("date")
def _day(rng: random.Random, slot: Slot, world: World) -> Raw:
    return slot.raw + timedelta(days=rng.choice((-40, -11, -9, -3, 3, 4, 8, 10, 30)))


@_of("datetime")
def _time(rng: random.Random, slot: Slot, world: World) -> Raw:
    return slot.raw.replace(
        hour=(slot.raw.hour + rng.choice((1, 2, 5, 12))) % 24, minute=(slot.raw.minute + 7) % 60
    )


def _digits(text: str) -> list[int]:
    return [n for n, c in enumerate(text) if c.isdigit()]


def _other_digit(rng: random.Random, text: str) -> str | None:
    places = _digits(text)[1:]  # another first digit could make it another number of digits
    if not places:
        return None
    at = rng.choice(places)
    return text[:at] + str((int(text[at]) + rng.randint(1, 9)) % 10) + text[at + 1 :]


@_of("id")
def _swapped_digit(rng: random.Random, slot: Slot, world: World) -> Raw:
    return _other_digit(rng, slot.raw)


@_of("id")
def _transposed(rng: random.Random, slot: Slot, world: World) -> Raw | None:
    text: str = slot.raw
    both = range(len(text) - 1)
    places = [
        n for n in both if text[n].isdigit() and text[n + 1].isdigit() and text[n] != text[n + 1]
    ]
    if not places:
        return None
    at = rng.choice(places)
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


@_of("amount")
def _other_amount(rng: random.Random, slot: Slot, world: World) -> Raw:
    return replace(slot.raw, cents=slot.raw.cents + rng.choice((-1, 1)) * rng.randrange(101, 1_999))


@_of("amount")
def _amount_digit(rng: random.Random, slot: Slot, world: World) -> Raw | None:
    text = _other_digit(rng, str(slot.raw.cents))
    return None if text is None else replace(slot.raw, cents=int(text))


@_of("amount")
def _currency(rng: random.Random, slot: Slot, world: World) -> Raw:
    others = [c for c in ("USD", "EUR", "GBP") if c not in world.domain.money]
    return replace(slot.raw, currency=rng.choice(others))


def _other_record(rng: random.Random, slot: Slot, world: World) -> Raw | None:
    """Return the same field of another record, where the two differ."""
    if slot.owner is None or slot.name == "owner":
        return None
    if slot.name == "act":
        return world.done[1 - world.acted.index(slot.owner)]
    own = world.records[slot.owner]
    others = [r[slot.name] for r in world.records if r is not own]
    return rng.choice([raw for raw in others if raw != own[slot.name]] or [None])


_moved_id = _of("id", "hash")(_other_record)
_moved_value = _of("amount", "date", "mail", "phone", "path", "url")(_other_record)


@_of("path")
def _path_segment(rng: random.Random, slot: Slot, world: World) -> Raw:
    parts = slot.raw.split("/")
    at = rng.randrange(1, len(parts))
    stem, dot, ending = parts[at].partition(".")
    parts[at] = rng.choice((f"{stem}s", f"new_{stem}", stem[::-1], f"{stem}2")) + dot + ending
    return "/".join(parts)


@_of("mail")
def _mail_name(rng: random.Random, slot: Slot, world: World) -> Raw:
    name, _, host = slot.raw.partition("@")
    return rng.choice((f"{name[:-1]}@{host}", f"{name}1@{host}", f"{name[1:]}@{host}"))


@_of("url")
def _url_host(rng: random.Random, slot: Slot, world: World) -> Raw:
    scheme, _, rest = slot.raw.partition("://")
    host, _, path = rest.partition("/")
    return f"{scheme}://{rng.choice(('www2.', 'eu.', 'my'))}{host}/{path}"


@_of("url")
def _url_path(rng: random.Random, slot: Slot, world: World) -> Raw | None:
    scheme, _, rest = slot.raw.partition("://")
    host, _, path = rest.partition("/")
    changed = _other_digit(rng, path)
    return f"{scheme}://{host}/{changed or path + 'x'}"


@_of("version")
def _version(rng: random.Random, slot: Slot, world: World) -> Raw:
    parts = slot.raw.split(".")
    parts[-1] = str(int(parts[-1]) + rng.randint(1, 5))
    return ".".join(parts)


@_of("phone")
def _phone(rng: random.Random, slot: Slot, world: World) -> Raw:
    return _other_digit(rng, slot.raw)


@_of("hash")
def _nibble(rng: random.Random, slot: Slot, world: World) -> Raw:
    at = rng.randrange(len(slot.raw))
    other = rng.choice([c for c in "0123456789abcdef" if c != slot.raw[at]])
    return slot.raw[:at] + other + slot.raw[at + 1 :]


@_of("number")
def _number(rng: random.Random, slot: Slot, world: World) -> Raw:
    return Number(slot.raw.value + rng.choice((-1, 1)) * rng.randrange(13, 97), slot.raw.unit)


@_of("error")
def _error(rng: random.Random, slot: Slot, world: World) -> Raw:
    return rng.choice(("E_QUOTA_88", "ERR-5521", "KeyError", "EPERM", "HTTP 507"))


@_of("id")
def _invented_id(rng: random.Random, slot: Slot, world: World) -> Raw:
    return f"{rng.choice(('QX', 'REF', 'TKT'))}-{rng.randrange(10_000, 9_999_999)}"


@_of("date")
def _invented_date(rng: random.Random, slot: Slot, world: World) -> Raw:
    return date(rng.choice((2019, 2021, 2027)), rng.randint(1, 12), rng.randint(1, 28))


CORRUPTIONS: dict[str, Corruption] = {
    "year": _year,
    "day": _day,
    "time": _time,
    "swapped digit": _swapped_digit,
    "transposed digits": _transposed,
    "other amount": _other_amount,
    "digit of an amount": _amount_digit,
    "currency": _currency,
    "moved id": _moved_id,
    "moved value": _moved_value,
    "path segment": _path_segment,
    "mail name": _mail_name,
    "host": _url_host,
    "path of a url": _url_path,
    "version": _version,
    "phone": _phone,
    "hash": _nibble,
    "number": _number,
    "error": _error,
    "invented id": _invented_id,
    "invented date": _invented_date,
}
"""Kind of lie -> what makes of a value another one, None where it cannot."""
