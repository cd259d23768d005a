"""The figures as text and as JSON, and the curves compared at equal tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from .measure import ROOMS, Row

OURS = ("chatfold, extractive", "chatfold, short tail")
FLOOR = "tail alone"

Rows: TypeAlias = dict[tuple[str, float], Row]
"""A row for every system and room."""


def table(rows: Rows) -> str:
    """Return the rows as text, a line for every system."""
    head = "".join(f" | {f'tail + {room:.0%} of the head':24}" for room in ROOMS)
    lines = [f"{'':22}{head} |", f"{'':22}{' |   facts    hard  tokens' * len(ROOMS)} | ceiling"]
    for name in _names(rows):
        parts = [rows[name, room] for room in ROOMS]
        shares = "".join(
            f" | {row.share:7.1%} {row.hard_share:7.1%} {row.tokens_share:7.1%} " for row in parts
        )
        lines.append(f"{name:22}{shares}| {min(row.ceiling for row in parts):7.1%}")
    return "\n".join(lines)


def leads(rows: Rows) -> str:
    """Return by how many points chatfold's curve lies above the others where it does so least."""
    others = [name for name in _names(rows) if name not in (*OURS, FLOOR)]
    leads = [(name, least_lead(rows, name)) for name in others]
    told = [f"{name} {'-' if lead is None else f'{lead:+.1f}'}" for name, lead in leads]
    return f"points above at equal tokens, the least: {', '.join(told)}" if told else ""


def least_lead(rows: Rows, other: str) -> float | None:
    """Return by how many points chatfold keeps more than `other` at its tokens, at the least.

    Chatfold's curve is a straight line between its points; None where it has none as small as
    those of `other`.
    """
    curve = sorted(
        (rows[name, room].tokens_share, rows[name, room].share)
        for name in OURS
        if (name, ROOMS[0]) in rows
        for room in ROOMS
    )
    found = [
        100 * (_at(curve, row.tokens_share) - row.share)
        for row in (rows[other, room] for room in ROOMS)
        if row.tokens_share >= curve[0][0]
    ]
    return min(found, default=None)


def figures(rows: Rows) -> list[dict[str, Any]]:
    """Return the rows for a file."""
    return [
        {
            "system": name,
            "room": room,
            "needed": row.facts,
            "hard": row.hard,
            "kept": row.share,
            "hard_kept": row.hard_share,
            "tokens": row.tokens_share,
            "ceiling": row.ceiling,
        }
        for (name, room), row in rows.items()
    ]


def total(parts: Iterable[Rows]) -> Rows:
    """Return the sum of several tables."""
    made: Rows = {}
    for part in parts:
        for key, row in part.items():
            made[key] = made[key] + row if key in made else row
    return made


def _names(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for name, _ in rows))


def _at(curve: Sequence[tuple[float, float]], tokens: float) -> float:
    """Return the height of a curve at so many tokens, or the best that fewer of them give."""
    best = 0.0
    for (left, low), (right, high) in pairwise(curve):
        best = max(best, low)
        if left <= tokens <= right:
            return max(best, low + (high - low) * (tokens - left) / ((right - left) or 1))
    return max(best, curve[-1][1])
