"""Other domains, languages and styles than in `summaries_tune`: nothing is tuned on these."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from summaries import Domain, Field, Segments, Suite, World
from summaries_writing import Money, Number, amount_in

__all__ = ["HELD_OUT"]

Make = Callable[[random.Random], Any]


def _coded(form: str) -> Make:
    """Return what draws a code: # is a digit, ? a capital letter."""

    def make(rng: random.Random) -> str:
        drawn = {"#": "0123456789", "?": "BCDFGHJKLMNPQRTVWXZ"}
        text = "".join(rng.choice(drawn[c]) if c in drawn else c for c in form)
        return text.replace("-0", "-4")

    return make


def _uuid(rng: random.Random) -> str:
    return str(UUID(int=rng.getrandbits(128), version=4))


def _day(rng: random.Random) -> date:
    return date(2026, 1, 10) + timedelta(days=rng.randrange(300))


def _moment(rng: random.Random) -> datetime:
    return datetime(2026, 3, 2, rng.randint(5, 22), rng.choice((5, 12, 25, 40, 55))) + timedelta(
        days=rng.randrange(40)
    )


def _money(least: int, most: int) -> Make:
    return lambda rng: Money(rng.randrange(least, most) * 100 + rng.choice((0, 0, 50, 95, 99)))


def _sha(rng: random.Random) -> str:
    return "".join(rng.choice("0123456789abcdef") for _ in range(40))


def _mail(rng: random.Random) -> str:
    name = rng.choice(("h.okafor", "petra_w", "desk+north", "s-lind", "quentin"))
    return f"{name}{rng.randrange(10, 99)}@{rng.choice(('acme.test', 'post.example.net'))}"


def _phone(rng: random.Random) -> str:
    return f"+44 20 7946 {rng.randrange(1000, 10_000)}"


def _url(rng: random.Random) -> str:
    host = rng.choice(("portal.acme.test", "files.example.net"))
    return f"https://{host}/{rng.choice(('claims', 'docs', 'runs'))}/{rng.randrange(10**6)}?tab=log"


def _path(rng: random.Random) -> str:
    folder = rng.choice(("/data/raw/2026", "/srv/exports/daily", "pipelines/etl", "reports/final"))
    name = rng.choice(("orders", "claims", "events", "invoices", "lots"))
    return (
        f"{folder}/{name}-{rng.randrange(100, 999)}.{rng.choice(('csv', 'parquet', 'sql', 'md'))}"
    )


def _version(rng: random.Random) -> str:
    return f"{rng.randint(2, 9)}.{rng.randint(0, 30)}.{rng.randint(0, 12)}"


def _count(least: int, most: int, unit: str) -> Make:
    return lambda rng: Number(rng.randrange(least, most), unit)


def _error(rng: random.Random) -> str:
    return rng.choice(("MemoryError", "ORA-01555", "HTTP 429", "ETIMEDOUT", "SchemaMismatchError"))


_LOOSE = {
    "desk_mail": Field("mail", _mail, "mail", "Write to {} about papers."),
    "desk_phone": Field("phone", _phone, "phone", "The desk answers on {}."),
    "guide": Field("url", _url, "guide", "Steps are listed at {} (see there)."),
}
_FREIGHT = Domain(
    name="freight",
    language="en",
    noun="Container",
    plural="containers",
    key="containerNumber",
    owner=_coded("MSKU#######"),
    fields={
        "eta": Field("date", _day, "ETA", "is due on {}"),
        "charge": Field("amount", _money(200, 9000), "demurrage", "has run up {}"),
        "seal": Field("id", _coded("SL-######"), "seal", "is closed with seal {}"),
        "grossWeight": Field("number", _count(2100, 28000, "kg"), "gross", "weighs {}"),
    },
    loose=_LOOSE,
    tools=("containers_search", "container_status"),
    act=("release_hold", "releaseRef", Field("id", _coded("REL######"), "release", "")),
    asks=("Any news of {owner}?", "{owner} is stuck in customs since yesterday, help"),
    today=date(2026, 3, 3),
)
_PAYROLL = Domain(
    name="payroll",
    language="en",
    noun="Employee",
    plural="employees",
    key="employee_no",
    owner=_coded("E-#####"),
    fields={
        "joined": Field("date", _day, "joined", "joined on {}"),
        "salary": Field("amount", _money(1800, 9000), "monthly pay", "earns {} a month"),
        "work_mail": Field("mail", _mail, "work mail", "is written to at {}"),
        "extension": Field("phone", _phone, "extension", "is called on {}"),
    },
    loose={
        "handbook": Field("url", _url, "handbook", "The handbook is {}."),
        "allowance": Field("number", _count(120, 480, "minutes"), "breaks", "Breaks sum to {}."),
    },
    tools=("search_people", "read_person"),
    act=("file_change", "change_no", Field("id", _coded("CHG-#####"), "change request", "")),
    asks=("Raise the pay of {owner}, please.", "When did {owner} start?"),
    money=("GBP",),
    today=date(2026, 3, 3),
)
_JOBS = Domain(
    name="data jobs",
    language="en",
    noun="Job",
    plural="jobs",
    key="job_id",
    owner=_uuid,
    fields={
        "finished_at": Field("datetime", _moment, "finished", "ended at {}"),
        "output": Field("path", _path, "output", "wrote {}"),
        "commit": Field("hash", _sha, "revision", "ran revision {}"),
        "rows": Field("number", _count(10_100, 98_000, "rows"), "size", "read {}"),
    },
    loose={
        "engine": Field("version", _version, "engine", "The engine is at {} now."),
        "last_failure": Field("error", _error, "failure", "An earlier try died of {}."),
        "schema": Field("path", _path, "schema", "The schema lives in {}."),
    },
    tools=("jobs.list", "jobs.get"),
    act=("jobs.retry", "attempt", Field("id", _coded("att_######"), "attempt", "")),
    asks=("Why is {owner} slow?", "rerun {owner} once the disk is clean"),
    today=date(2026, 3, 3),
)
_CLAIMS = Domain(
    name="insurance",
    language="en",
    noun="Claim",
    plural="claims",
    key="claimRef",
    owner=_coded("CL/26/#####"),
    fields={
        "loss_date": Field("date", _day, "loss", "concerns a loss of {}"),
        "reserve": Field("amount", _money(300, 60_000), "reserve", "is reserved at {}"),
        "policy": Field("id", _coded("POL??#####"), "policy", "falls under policy {}"),
        "file": Field("url", _url, "file", "is filed at {}"),
    },
    loose=_LOOSE,
    tools=("claims_by_holder", "claim_details"),
    act=("book_surveyor", "visit", Field("id", _coded("VIS-######"), "visit", "")),
    asks=("What about {owner}?", "I will not accept the offer for {owner}."),
    money=("EUR",),
    today=date(2026, 3, 3),
)
_RENTS = Domain(
    name="rents, French",
    language="fr",
    noun="Lot",
    plural="lots",
    key="lot",
    owner=_coded("LOT-####"),
    fields={
        "loyer": Field("amount", _money(400, 3000), "loyer", "se loue {}"),
        "visite": Field("date", _day, "visite", "se visite le {}"),
        "bail": Field("id", _coded("BAIL-?####"), "bail", "dépend du bail {}"),
    },
    loose={
        "agence": Field("mail", _mail, "agence", "L'agence écrit depuis {}."),
        "dossier": Field("url", _url, "dossier", "Le dossier est sur {} depuis hier."),
    },
    tools=("chercher_lots", "lire_lot"),
    act=("reserver_visite", "rdv", Field("id", _coded("RDV######"), "rendez-vous", "")),
    asks=("Bonjour, le lot {owner} est-il libre ?", "Je veux visiter {owner} demain."),
    money=("EUR",),
    today=date(2026, 3, 3),
)
_SAMPLES = Domain(
    name="laboratory, Spanish",
    language="es",
    noun="Muestra",
    plural="muestras",
    key="muestra",
    owner=_coded("MU-######"),
    fields={
        "precio": Field("amount", _money(20, 2000), "precio", "cuesta {}"),
        "tomada": Field("date", _day, "tomada", "se tomó el {}"),
        "lote": Field("id", _coded("LT?#####"), "lote", "pertenece al lote {}"),
    },
    loose={
        "correo": Field("mail", _mail, "correo", "Los informes van a {}."),
        "telefono": Field("phone", _phone, "teléfono", "Se atiende en el {}."),
    },
    tools=("buscar_muestras", "leer_muestra"),
    act=("repetir_analisis", "analisis", Field("id", _coded("AN-#####"), "análisis", "")),
    asks=("¿Dónde está {owner}?", "Repitan {owner}, por favor."),
    money=("EUR",),
    today=date(2026, 3, 3),
)
_ROOMS = Domain(
    name="hotel, Chinese",
    language="zh",
    noun="预订",
    plural="预订",
    key="bookingNo",
    owner=_coded("HT########"),
    fields={
        "price": Field("amount", _money(80, 3000), "房价", "的房价为 {}"),
        "arrival": Field("date", _day, "入住", "的入住日期是 {}"),
        "invoice": Field("id", _coded("FP-#######"), "发票", "的发票号为 {}"),
    },
    loose={
        "front_desk": Field("phone", _phone, "前台", "前台电话:{}。"),
        "map": Field("url", _url, "地图", "地图见 {} 。"),
    },
    tools=("search_rooms", "read_booking"),
    act=("upgrade_room", "upgradeNo", Field("id", _coded("UP-######"), "升级单", "")),
    asks=("请查一下{owner}。", "{owner}明天能入住吗?"),
    money=("USD",),
    today=date(2026, 3, 3),
)

# --- styles -------------------------------------------------------------------------------------


def _numbers(world: World) -> list[int]:
    numbers = list(range(len(world.records)))
    world.rng.shuffle(numbers)
    return numbers[: world.rng.randint(1, len(numbers))]


def _some(world: World) -> list[str]:
    names = list(world.domain.fields)
    world.rng.shuffle(names)
    return names[: world.rng.randint(2, len(names))]


def _table(world: World) -> Segments:
    names = _some(world)
    labels = [world.domain.fields[n].label for n in names]
    out: Segments = [
        f"| {world.domain.noun} | {' | '.join(labels)} |\n|{'---|' * (len(names) + 1)}\n"
    ]
    for index in _numbers(world):
        out += ["| ", world.owner(index)]
        for name in names:
            out += [" | ", world.slot(index, name)]
        out += [" |\n"]
    return out


def _numbered(world: World) -> Segments:
    out: Segments = ["# State of things\n"]
    for number, index in enumerate(_numbers(world), 1):
        out += [f"{number}. `", world.owner(index), "` - "]
        for place, name in enumerate(_some(world)):
            out += [
                "; " if place else "",
                f"{world.domain.fields[name].label} ",
                world.slot(index, name),
            ]
        out += [".\n"]
    return out


def _one_long_sentence(world: World) -> Segments:
    out: Segments = []
    for place, index in enumerate(_numbers(world)):
        out += ["; " if place else "", f"{world.domain.noun} ", world.owner(index)]
        for number, name in enumerate(_some(world)):
            before, _, after = world.domain.fields[name].clause.partition("{}")
            out += [", " if number else " ", before, world.slot(index, name), after]
    return [*out, "."]


def _blocks(world: World) -> Segments:
    out: Segments = []
    for index in _numbers(world):
        out += ["**", world.owner(index), "**:\n"]
        for name in _some(world):
            out += [f"* {world.domain.fields[name].label}: **", world.slot(index, name), "**\n"]
        out += ["\n"]
    return out


def _value_first(world: World) -> Segments:
    out: Segments = []
    for index in _numbers(world):
        for name in _some(world):
            label = world.domain.fields[name].label
            out += [f"- {label} ", world.slot(index, name), " -> ", world.owner(index), "\n"]
    return out


def _done(world: World) -> Segments:
    out: Segments = ["## Done, do not repeat\n"]
    for number in world.rng.sample((0, 1), 2):
        out += [f"- {world.domain.act[0]}(", world.owner(world.acted[number]), ") gave "]
        out += [world.act_slot(number), "\n"]
    return out


def _both(style: Callable[[World], Segments]) -> Callable[[World], Segments]:
    return lambda world: [*style(world), "\n", *_done(world)]


# --- what follows from the values ---------------------------------------------------------------


def _money_text(world: World, cents: int) -> str:
    return f"{amount_in(world.domain.language, cents)} {world.domain.money[0]}"


_TOTAL = {
    "en": "Altogether {} is at stake.",
    "fr": "Le tout fait {}.",
    "es": "En total son {}.",
    "zh": "总计 {} 。",
}


def _total(world: World) -> str | None:
    found = world.amounts()
    if not found:
        return None
    return _TOTAL[world.domain.language].format(_money_text(world, sum(m.cents for m in found)))


def _gap(world: World) -> str | None:
    found = world.amounts()
    if len(found) < 2:
        return None
    return (
        f"The gap of the first two is {_money_text(world, abs(found[0].cents - found[1].cents))}."
    )


def _nearly(world: World) -> str | None:
    name = next((k for k, v in world.records[0].items() if isinstance(v, Number)), None)
    if name is None:
        return None
    number = world.rng.choice(world.records)[name]
    if number.value < 10_000:
        return f"One comes to roughly {round(number.value, -2)} {number.unit}."
    return f"One comes to ~{round(number.value / 1000)}k {number.unit}."


def _headcount(world: World) -> str:
    return f"{len(world.records)} {world.domain.plural} were looked at, 2 were acted on (100 %)."


def _later(world: World) -> str | None:
    if "tomorrow" not in str(world.history) and "yesterday" not in str(world.history):
        return None
    day = world.domain.today - timedelta(days=1)
    return f"Stuck since {day:%B} {day.day}."


def _apart(world: World) -> str | None:
    days = [v for v in world.records[0].values() if type(v) is date]
    if not days:
        return None
    return f"Seen from today, that is {abs((days[0] - world.domain.today).days)} days."


HELD_OUT = Suite(
    name="held out",
    domains=(_FREIGHT, _PAYROLL, _JOBS, _CLAIMS, _RENTS, _SAMPLES, _ROOMS),
    styles={
        "table": _both(_table),
        "numbered": _both(_numbered),
        "one long sentence": _both(_one_long_sentence),
        "blocks": _both(_blocks),
        "value first": _both(_value_first),
    },
    derived={
        "en": (_total, _gap, _nearly, _headcount, _later, _apart),
        "fr": (_total,),
        "es": (_total,),
        "zh": (_total,),
    },
    fillers={
        "en": (
            "The caller is annoyed and wants one contact only.",
            "Two colleagues (Ms. Lund, Mr. Abé) were told; etc.",
            "First try failed, second worked; third not needed.",
        ),
        "fr": ("Le client préfère être joint le soir.",),
        "es": ("El cliente prefiere el correo.",),
        "zh": ("客人希望高楼层。",),
    },
)
