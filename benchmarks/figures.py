"""Figures where a curve says more than a table; needs matplotlib."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .cost.curve import growth
from .tables import Table

_SIZE = re.compile(r"([\d,]+) items")


def time_figure(tables: Sequence[Table], path: Path) -> None:
    """Draw the time of a fold and of a check by the length of the list."""
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(1, 2, figsize=(13, 5))
    for axis, kind, column, scale in (
        (axes[0], "one fold", "median ms", "ms"),
        (axes[1], "one check", "median us", "us"),
    ):
        curves: dict[str, list[tuple[int, float]]] = {}
        for table in tables:
            found = _SIZE.search(table.title)
            if not table.title.startswith(kind) or found is None:
                continue
            items = int(found[1].replace(",", ""))
            place = list(table.columns).index(column)
            for row in table.rows:
                curves.setdefault(str(row[0]), []).append((items, float(row[place] or 0)))
        for name, points in curves.items():
            width = 2.5 if name.startswith("chatfold") else 1.0
            axis.plot(*zip(*points, strict=True), label=name, marker="o", linewidth=width)
        axis.set(xscale="log", yscale="log", xlabel="items", ylabel=scale, title=kind)
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=150)


def cost_figure(_: Sequence[Table], path: Path) -> None:
    """Draw what one growing conversation has cost after every call: chatfold beside no folding."""
    pyplot = _pyplot()
    figure, axis = pyplot.subplots(figsize=(8, 5))
    for name, points in growth().items():
        axis.plot(points, label=name)
    axis.set(xlabel="calls", ylabel="cost so far, in fresh input tokens", title="cost by replay")
    axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=150)


def _pyplot() -> Any:
    import matplotlib as mpl

    mpl.use("Agg")  # no display
    from matplotlib import pyplot

    return pyplot
