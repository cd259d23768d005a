"""The domains and the styles that grounding is tuned on; another set is `summaries_held_out`."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from summaries import Domain, Field, Segments, Suite, World
from summaries_writing import Money, Number, amount_in

__all__ = ["TUNE"]

Make = Callable[[random.Random], Any]


def _number(prefix: str, digits: int) -> Make:
    return lambda rng: f"{prefix}{rng.randrange(10 ** (digits - 1), 10**digits)}"


def _day(rng: random.Random) -> date:
    return date(2025, 8, 1) + timedelta(days=rng.randrange(120))


def _moment(rng: random.Random) -> datetime:
    return datetime(2025, 9, 1, rng.randint(6, 19), rng.randrange(60)) + timedelta(
        days=rng.randrange(60)
    )


def _money(least: int, most: int) -> Make:
    return lambda rng: Money(rng.randrange(least * 100, most * 100))


def _hex(digits: int) -> Make:
    def make(rng: random.Random) -> str:
        text = "".join(rng.choice("0123456789abcdef") for _ in range(digits - 2))
        return f"{rng.choice('abcdef')}{text}{rng.randrange(10)}"

    return make


def _pnr(rng: random.Random) -> str:
    letters = "".join(rng.choice("ABCDEFGHKLMNPRSTUVWXYZ") for _ in range(4))
    return f"{letters[0]}{rng.randrange(2, 10)}{letters[1]}{rng.randrange(2, 10)}{letters[2:]}"


def _mail(rng: random.Random) -> str:
    name = f"{rng.choice(('ana', 'jon', 'mei', 'lars'))}.{rng.choice(('ruiz', 'berg', 'tan'))}"
    return f"{name}@{rng.choice(('example.com', 'mail.example.org'))}"


def _phone(rng: random.Random) -> str:
    return f"+1 415 555 {rng.randrange(1000, 10_000)}"


def _url(rng: random.Random) -> str:
    return f"https://{rng.choice(('shop', 'status', 'docs'))}.example.com/t/{rng.randrange(10**5)}"


def _path(rng: random.Random) -> str:
    folder = rng.choice(("src/app", "src/core", "tests/unit", "/var/log/api", "/etc/service"))
    name = rng.choice(("router", "session", "billing", "worker", "cache"))
    return f"{folder}/{name}_{rng.randrange(10, 99)}.{rng.choice(('py', 'log', 'yaml'))}"


def _version(rng: random.Random) -> str:
    return f"{rng.randint(1, 4)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}"


def _of(*choices: str) -> Make:
    return lambda rng: rng.choice(choices)


ERRORS = _of("TimeoutError", "ECONNREFUSED", "HTTP 503", "E1042", "ValueError")

TRACKING = Field("id", _number("1Z", 10), "tracking", "has the tracking number {}")
_LOOSE = {
    "contact_mail": Field("mail", _mail, "mail", "The address for receipts is {}."),
    "contact_phone": Field("phone", _phone, "phone", "They can be reached at {}."),
    "page": Field("url", _url, "link", "Details are at {} for now."),
}

_SUPPORT = Domain(
    name="support",
    language="en",
    noun="Order",
    plural="orders",
    key="order_id",
    owner=_number("LK-", 7),
    fields={
        "total": Field("amount", _money(20, 2500), "total", "cost {}"),
        "placed": Field("date", _day, "placed", "was placed on {}"),
        "tracking": TRACKING,
        "weight": Field(
            "number", lambda rng: Number(rng.randrange(120, 9800), "g"), "weight", "weighs {}"
        ),
    },
    loose=_LOOSE,
    tools=("list_orders", "get_order"),
    act=("create_rma", "rma_id", Field("id", _number("RMA-", 5), "RMA", "")),
    asks=("Hi, where is my order {owner}?", "order {owner} came broken!! what now"),
)
_TRAVEL = Domain(
    name="travel",
    language="en",
    noun="Booking",
    plural="bookings",
    key="pnr",
    owner=_pnr,
    fields={
        "departs": Field("datetime", _moment, "departs", "leaves at {}"),
        "fare": Field("amount", _money(60, 1800), "fare", "has a fare of {}"),
        "ticket": Field("id", _number("220-", 10), "ticket", "carries ticket {}"),
    },
    loose={**_LOOSE, "terminal_map": Field("url", _url, "map", "The map of the terminal: {}")},
    tools=("search_bookings", "get_booking"),
    act=("rebook", "request_id", Field("id", _number("RB", 6), "request", "")),
    asks=("Can you move {owner} to tomorrow?", "Please check booking {owner}, e.g. the seat."),
    money=("EUR",),
)
_BANKING = Domain(
    name="banking",
    language="en",
    noun="Transaction",
    plural="transactions",
    key="transaction_id",
    owner=_number("TX", 9),
    fields={
        "amount": Field("amount", _money(5, 900), "amount", "was for {}"),
        "booked": Field("date", _day, "booked", "was booked on {}"),
        "contact": Field("mail", _mail, "payee", "went to {}"),
    },
    loose={
        "hotline": Field("phone", _phone, "hotline", "The fraud hotline is {}."),
        "case_page": Field("url", _url, "case", "The case is tracked at {}."),
    },
    tools=("list_transactions", "get_transaction"),
    act=("open_dispute", "dispute_id", Field("id", _number("DSP-", 6), "dispute", "")),
    asks=("I do not recognise {owner}.", "What is {owner}?"),
    money=("GBP",),
)
_CODING = Domain(
    name="coding",
    language="en",
    noun="Ticket",
    plural="tickets",
    key="ticket",
    owner=_number("CORE-", 4),
    fields={
        "commit": Field("hash", _hex(10), "commit", "was fixed in {}"),
        "file": Field("path", _path, "file", "touches {}"),
        "merged": Field("date", _day, "merged", "was merged on {}"),
    },
    loose={
        "python": Field("version", _version, "Python", "The build runs on version {}."),
        "last_error": Field("error", ERRORS, "error", "The run ended with {}."),
        "config": Field("path", _path, "config", "The settings are in {}."),
        "tests": Field(
            "number",
            lambda rng: Number(rng.randrange(210, 980), "tests"),
            "tests",
            "The suite has {}.",
        ),
    },
    tools=("list_tickets", "read_ticket"),
    act=("open_pull_request", "pr", Field("id", _number("PR-", 4), "PR", "")),
    asks=("Please fix {owner}.", "look at {owner} first, then the rest"),
)
_DEVOPS = Domain(
    name="devops",
    language="en",
    noun="Deployment",
    plural="deployments",
    key="deployment",
    owner=_number("deploy-", 6),
    fields={
        "started": Field("datetime", _moment, "started", "started at {}"),
        "digest": Field("hash", _hex(12), "digest", "ships image {}"),
        "log": Field("path", _path, "log", "logs to {}"),
    },
    loose={
        "image": Field("version", _version, "image", "The base image is {}."),
        "failure": Field("error", ERRORS, "failure", "The probe failed with {}."),
        "dashboard": Field("url", _url, "dashboard", "Dashboard: {}"),
    },
    tools=("list_deployments", "get_deployment"),
    act=("roll_back", "rollback_id", Field("id", _number("rb-", 6), "rollback", "")),
    asks=("Why did {owner} fail?", "roll back {owner} if it is red"),
)
_MEDICAL = Domain(
    name="medical",
    language="en",
    noun="Appointment",
    plural="appointments",
    key="appointment_id",
    owner=_number("APT-2025-", 5),
    fields={
        "when": Field("datetime", _moment, "when", "is at {}"),
        "phone": Field("phone", _phone, "phone", "can be changed by calling {}"),
        "fee": Field("amount", _money(30, 400), "fee", "costs {}"),
    },
    loose={
        "dose": Field(
            "number", lambda rng: Number(rng.randrange(110, 990), "mg"), "dose", "The dose is {}."
        ),
        "portal": Field("url", _url, "portal", "Results appear at {}."),
        "clinic_mail": Field("mail", _mail, "mail", "Forms go to {}."),
    },
    tools=("find_appointments", "get_appointment"),
    act=("send_referral", "referral", Field("id", _number("REF-", 6), "referral", "")),
    asks=("I need to move {owner}.", "Is {owner} still on?"),
)
_GERMAN = Domain(
    name="support, German",
    language="de",
    noun="Bestellung",
    plural="Bestellungen",
    key="bestellnummer",
    owner=_number("BE-", 7),
    fields={
        "betrag": Field("amount", _money(20, 2500), "Betrag", "kostet {}"),
        "datum": Field("date", _day, "Datum", "wurde am {} aufgegeben"),
        "sendung": Field("id", _number("DHL", 10), "Sendung", "hat die Sendungsnummer {}"),
    },
    loose={
        "kontakt": Field("mail", _mail, "Mail", "Die Rechnung geht an {}."),
        "telefon": Field("phone", _phone, "Telefon", "Rückruf bitte unter {}."),
    },
    tools=("bestellungen_suchen", "bestellung_lesen"),
    act=("ruecksendung_anlegen", "rma", Field("id", _number("RMA-", 5), "Rücksendung", "")),
    asks=("Hallo, wo bleibt {owner}?", "Bitte {owner} prüfen, z. B. den Status."),
    money=("EUR",),
)
_JAPANESE = Domain(
    name="support, Japanese",
    language="ja",
    noun="注文",
    plural="注文",
    key="order_no",
    owner=_number("JP-", 7),
    fields={
        "total": Field("amount", _money(20, 900), "金額", "の金額は {} です"),
        "ordered": Field("date", _day, "注文日", "は {} に注文されました"),
        "slip": Field("id", _number("YM", 10), "伝票", "の伝票番号は {} です"),
    },
    loose={
        "mail": Field("mail", _mail, "メール", "連絡先は {} です。"),
        "page": Field("url", _url, "ページ", "詳細は {} にあります。"),
    },
    tools=("list_orders", "get_order"),
    act=("create_return", "return_no", Field("id", _number("RT-", 5), "返品", "")),
    asks=("{owner}はどこですか?", "注文{owner}をキャンセルしたいです。"),
    money=("USD",),
)

_BUILDS = Domain(
    name="builds",
    language="en",
    noun="Build",
    plural="builds",
    key="build",
    owner=lambda rng: str(UUID(int=rng.getrandbits(128), version=4)),
    fields={
        "artifact": Field("path", _path, "artifact", "left {}"),
        "revision": Field("hash", _hex(40), "revision", "was made of {}"),
        "ended": Field("datetime", _moment, "ended", "ended at {}"),
    },
    loose={"compiler": Field("version", _version, "compiler", "The compiler is {}.")},
    tools=("list_builds", "get_build"),
    act=("restart_build", "run_id", Field("id", _number("run_", 6), "run", "")),
    asks=("What happened to {owner}?",),
)
_LEASES = Domain(
    name="leases",
    language="en",
    noun="Lease",
    plural="leases",
    key="lease_ref",
    owner=lambda rng: f"LS/25/{rng.randrange(10_000, 99_999)}",
    fields={
        "rent": Field("amount", _money(400, 4000), "rent", "costs {} a month"),
        "signed": Field("date", _day, "signed", "was signed on {}"),
        "deed": Field("id", lambda rng: f"DEED{_number('', 6)(rng)}", "deed", "rests on deed {}"),
        "scan": Field("url", _url, "scan", "was scanned to {}"),
    },
    loose=_LOOSE,
    tools=("list_leases", "get_lease"),
    act=("end_lease", "notice", Field("id", _number("NT-", 6), "notice", "")),
    asks=("When does {owner} end?",),
)

# --- styles -------------------------------------------------------------------------------------

_PERIOD = {"ja": "。"}
_IT = {"en": "It ", "de": "Sie ", "ja": "これ"}


def _picked(world: World, least: int = 1) -> list[int]:
    count = world.rng.randint(least, len(world.records))
    return world.rng.sample(range(len(world.records)), count)


def _names(world: World) -> list[str]:
    names = list(world.domain.fields)
    return world.rng.sample(names, min(world.rng.randint(2, 3), len(names)))


def _clause(world: World, index: int, name: str) -> Segments:
    before, _, after = world.domain.fields[name].clause.partition("{}")
    return [before, world.slot(index, name), after]


def _act(world: World) -> Segments:
    """Say what was done to a record, by the id that came of it."""
    number = world.rng.randrange(2)
    owner, made = world.owner(world.acted[number]), world.act_slot(number)
    noun = world.domain.act[2].label
    if world.domain.language == "ja":
        return [owner, "について", noun, made, "を作成しました。"]
    if world.domain.language == "de":
        return [f"Für {world.domain.noun} ", owner, f" wurde {noun} ", made, " angelegt."]
    of = world.domain.noun.lower()
    return [f"{noun[0].upper()}{noun[1:]} ", made, f" was created for {of} ", owner, "."]


def _prose(world: World) -> Segments:
    out: Segments = []
    language = world.domain.language
    space = "" if language == "ja" else " "
    for index in _picked(world):
        first, *rest = _names(world)
        out += [f"{world.domain.noun}{space}", world.owner(index), space]
        out += _clause(world, index, first)
        for name in rest:
            joint = {"en": " and ", "de": " und ", "ja": "。"}[language]
            lead = [world.domain.noun, world.owner(index)] if language == "ja" else []
            out += [joint, *lead, *_clause(world, index, name)]
        out += [_PERIOD.get(language, ". ")]
    return [*out, *_act(world)]


def _parted(world: World) -> Segments:
    """One value a sentence; all but the first say "it"."""
    out: Segments = []
    language = world.domain.language
    space = "" if language == "ja" else " "
    for index in _picked(world):
        first, *rest = _names(world)
        out += [f"{world.domain.noun}{space}", world.owner(index), space]
        out += _clause(world, index, first)
        for name in rest:
            out += [f"{_PERIOD.get(language, '. ')}{_IT[language]}", *_clause(world, index, name)]
        out += [_PERIOD.get(language, ".\n")]
    return [*out, *_act(world)]


def _bullets(world: World) -> Segments:
    out: Segments = ["## Facts\n\n"]
    for index in _picked(world):
        out += [f"- {world.domain.noun} ", world.owner(index), ": "]
        for number, name in enumerate(_names(world)):
            label = world.domain.fields[name].label
            out += [", " if number else "", f"{label} ", world.slot(index, name)]
        out += ["\n"]
    return [*out, "- ", *_act(world), "\n\n## Other\n"]


def _terse(world: World) -> Segments:
    out: Segments = []
    for index in _picked(world):
        out += [world.owner(index)]
        for name in _names(world):
            out += [" / ", world.slot(index, name)]
        out += ["\n"]
    return [*out, *_act(world)]


def _nested(world: World) -> Segments:
    out: Segments = []
    for index in _picked(world):
        out += [f"- **{world.domain.noun} ", world.owner(index), "**\n"]
        for name in _names(world):
            out += [f"  - {world.domain.fields[name].label}: ", world.slot(index, name), "\n"]
    return [*out, "- ", *_act(world)]


def _under_headings(world: World) -> Segments:
    out: Segments = []
    for index in _picked(world):
        out += [f"### {world.domain.noun} ", world.owner(index), "\n"]
        for name in _names(world):
            out += [f"{world.domain.fields[name].label} = ", world.slot(index, name), "\n"]
    return [*out, "### Done\n", *_act(world)]


def _backwards(world: World) -> Segments:
    out: Segments = []
    for index in _picked(world):
        for name in _names(world):
            out += ["* ", world.slot(index, name), f" ({world.domain.fields[name].label} of "]
            out += [world.owner(index), ")\n"]
    return [*out, "* ", *_act(world)]


def _rows(world: World) -> Segments:
    names = _names(world)
    head = " | ".join(world.domain.fields[n].label for n in names)
    out: Segments = [f"| | {head} |\n| --- |{' --- |' * len(names)}\n"]
    for index in _picked(world):
        out += ["| ", world.owner(index)]
        for name in names:
            out += [" | ", world.slot(index, name)]
        out += [" |\n"]
    return [*out, "\n", *_act(world)]


def _chained(world: World) -> Segments:
    out: Segments = []
    for place, index in enumerate(_picked(world)):
        out += [" ; " if place else "So far: ", world.domain.noun.lower(), " ", world.owner(index)]
        for name in _names(world):
            out += [", ", *_clause(world, index, name)]
    return [*out, ".\n", f"{world.domain.act[0]}: ", *_called(world)]


def _called(world: World) -> Segments:
    out: Segments = []
    for number in (0, 1):
        out += [", " if number else "", world.owner(world.acted[number]), " => "]
        out += [world.act_slot(number)]
    return out


# --- what follows from the values ---------------------------------------------------------------


def _written(world: World, cents: int) -> str:
    language = world.domain.language
    return f"{amount_in(language, cents)} {world.domain.money[0]}"


def _field(world: World, kind: type) -> str | None:
    return next((k for k, v in world.records[0].items() if isinstance(v, kind)), None)


def _sum(world: World) -> str | None:
    found = world.amounts()
    if len(found) < 2:
        return None
    text = _written(world, sum(m.cents for m in found))
    return {
        "en": f"All {len(found)} {world.domain.plural} together come to {text}.",
        "de": f"Zusammen sind das {text}.",
        "ja": f"合計は {text} です。",
    }[world.domain.language]


def _difference(world: World) -> str | None:
    name = _field(world, Money)
    if name is None:
        return None
    one, other = (world.records[n][name].cents for n in (0, 1))
    owners = [world.records[n]["owner"] for n in (0, 1)]
    text = _written(world, abs(one - other))
    return f"{owners[0]} and {owners[1]} differ by {text}."


def _rounded(world: World) -> str | None:
    found = world.amounts()
    if not found:
        return None
    cents = world.rng.choice(found).cents
    unit = 10 if cents < 100_000 else 100
    return f"One of them was about {round(cents / 100 / unit) * unit:,} {world.domain.money[0]}."


def _count(world: World) -> str:
    return f"There are {len(world.records)} {world.domain.plural}; two of them were dealt with."


def _relative(world: World) -> str:
    return "The customer will call again two days later, i.e. within 48 hours (see no. 2 above)."


def _tomorrow(world: World) -> str | None:
    name = _field(world, date)
    if name is None or type(world.records[0][name]) is not date:
        return None
    days = (world.records[1][name] - world.records[0][name]).days
    return f"Between the first two lie {abs(days)} days."


def _share(world: World) -> str | None:
    found = world.amounts()
    if len(found) < 2:
        return None
    percent = 100 * found[0].cents / (found[0].cents + found[1].cents)
    return f"The first makes up {percent:.0f} % of these two."


_ENGLISH = (_sum, _difference, _rounded, _count, _relative, _tomorrow, _share)
_FILLERS = {
    "en": (
        "The user prefers short answers, e.g. no tables.",
        "1. Verify the address. 2. Never call before 9 am.",
        "Nothing else is open... The U.S. team was told, cf. No. 5 on the list.",
        "The assistant used `get_setting` and explained the three options.",
    ),
    "de": ("Der Kunde möchte nur per Mail kontaktiert werden, z. B. abends.",),
    "ja": ("お客様は短い返答を希望しています。",),
}

TUNE = Suite(
    name="tune",
    domains=(
        _SUPPORT,
        _TRAVEL,
        _BANKING,
        _CODING,
        _DEVOPS,
        _MEDICAL,
        _GERMAN,
        _JAPANESE,
        _BUILDS,
        _LEASES,
    ),
    styles={
        "prose": _prose,
        "parted": _parted,
        "bullets": _bullets,
        "terse": _terse,
        "nested": _nested,
        "under headings": _under_headings,
        "backwards": _backwards,
        "rows": _rows,
        "chained": _chained,
    },
    derived={"en": _ENGLISH, "de": (_sum,), "ja": (_sum,)},
    fillers=_FILLERS,
)
