"""Cost and cache, by replay: one table for each trigger and group of histories."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchmarks.tables import Table
from benchmarks.workers import PeerError

from .histories import Group
from .prices import PRICES, Bill
from .replay import replay
from .session import Item, size_of
from .systems import Start

TRIGGERS = (50_000, 100_000)

NONE = "no folding"

_COLUMNS = {
    "": "",
    **{prices.name: ".3f" for prices in PRICES},
    "folds": "d",
    "left": ",.0f",
    "breaks": "d",
    "of calls": "d",
    "still over": "d",
    "shown": ".0%",
    "cached": ".1%",
}
_NOTES = [
    "Cost is that of all requests, the summarizer's included, against no folding (1.000).",
    "left: tokens of a request right after a fold, on average. The summary is as long everywhere,",
    "5 % of what it stands for and at most 2,000 tokens; chatfold's record of facts comes on top.",
    "breaks: requests that do not begin with the one before.",
    "still over: requests at the trigger or above it all the same.",
    "shown: tokens of the requests to the summarizer, of those taken out.",
    "cached: input tokens that were read from the cache.",
]


def tables(
    groups: Iterable[Group], systems: Mapping[str, Start], triggers: Sequence[int] = TRIGGERS
) -> Iterator[Table]:
    """Yield a table for every group and trigger, then one for each trigger over all groups."""
    whole: dict[int, dict[str, Bill]] = {trigger: {} for trigger in triggers}
    kinds = 0
    for group in groups:
        kinds += 1
        longest = max(sum(map(size_of, items)) for items in group.histories)
        for trigger in triggers:
            if longest < trigger:  # nothing would be folded
                continue
            bills = bills_of(group.histories, systems, trigger)
            for name, bill in bills.items():
                whole[trigger][name] = whole[trigger].get(name, Bill()) + bill
            title = f"cost by replay: {group.name}, {len(group.histories)} histories"
            yield table(f"{title}, folded from {trigger:,} tokens", bills)
    if kinds > 1:
        for trigger, bills in whole.items():
            made = table(f"cost by replay: all, folded from {trigger:,} tokens", bills)
            made.notes = _NOTES
            yield made


def bills_of(
    histories: Sequence[Sequence[Item]], systems: Mapping[str, Start], trigger: int
) -> dict[str, Bill]:
    """Return the sum of what each system's histories cost; a system that fails is left out."""
    bills: dict[str, Bill] = {}
    sized = [(items, [size_of(item) for item in items]) for items in histories]
    for name, start in systems.items():
        try:
            bills[name] = sum((replay(*one, start(trigger)) for one in sized), Bill())
        except PeerError as error:
            print(f"left out: {name}: {error}", file=sys.stderr, flush=True)
    return bills


def table(title: str, bills: Mapping[str, Bill]) -> Table:
    """Return the table of some bills."""
    made = Table(title, _COLUMNS)
    for name, bill in bills.items():
        inputs = bill.read + bill.written + bill.fresh
        made.rows.append(
            [
                name,
                *(bill.cost(prices) / bills[NONE].cost(prices) for prices in PRICES),
                bill.folds,
                bill.left / bill.folds if bill.folds else None,
                bill.breaks,
                bill.calls,
                bill.over,
                bill.shown / bill.removed if bill.removed else None,
                bill.read / inputs if inputs else None,
            ]
        )
    return made
