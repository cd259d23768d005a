"""What the commands print: values as text for a terminal, or as JSON.

Belongs here: no decision, only form. Histories hold whatever a model or a tool wrote, so nothing of
it may reach a terminal as a control sequence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from chatfold.context import ChatContext
from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem
from chatfold.core.mends.edits import Repair

__all__ = [
    "Mending",
    "call_table",
    "console",
    "counted",
    "fields",
    "one_line",
    "print_json",
    "report",
]


def fields(call: ToolCallRecord) -> Mapping[str, Any]:
    """Return a record as JSON types; arguments that JSON cannot write stay as their raw text."""
    try:
        arguments = json.loads(json.dumps(call.arguments, allow_nan=False))
    except (ValueError, RecursionError):
        arguments = call.raw_arguments
    return {
        "id": call.id,
        "name": call.name,
        "namespace": call.namespace,
        "arguments": arguments,
        "result": call.result,
        "status": call.status,
        "completed": call.completed,
        "call_index": call.call_index,
        "result_index": call.result_index,
        "shape": call.shape,
        "kind": call.kind,
    }


def call_table(calls: Sequence[ToolCallRecord]) -> Table:
    """Return calls as a table, one line each; what is too long is cut at the margin."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), expand=True)
    for title, share in (
        ("call at", 0),
        ("name", 2),
        ("id", 2),
        ("arguments", 3),
        ("status", 0),
        ("result at", 0),
        ("result", 3),
    ):
        table.add_column(
            title,
            no_wrap=True,
            overflow="ellipsis",
            justify="right" if title.endswith(" at") else "left",
            ratio=share or None,
        )
    for call in calls:
        cells = (
            call.call_index,
            call.qualified_name,
            call.id,
            call.raw_arguments,
            call.status,
            call.result_index,
            call.result,
        )
        table.add_row(*("-" if cell is None else one_line(str(cell)) for cell in cells))
    return table


@dataclass(frozen=True, slots=True)
class Mending:
    """What came of the wish to mend a list.

    Attributes:
        repairs: What was done, and what was left that the provider would refuse.
        remaining: All that is wrong with the list afterwards.
    """

    repairs: Sequence[Repair]
    remaining: Sequence[Problem]

    @property
    def accepted(self) -> list[Problem]:
        """What stays, and not every server refuses; its indices are those of the new list."""
        return [one for one in self.remaining if one.severity in ("warning", "loss")]

    def __str__(self) -> str:
        told: list[str] = []
        if self.repairs:
            left = sum(repair.action == "left" for repair in self.repairs)
            done = sum(repair.action not in ("left", "unbound") for repair in self.repairs)
            told.append(f"{counted(done, 'repair')}, {left} left")
        if self.accepted:
            kept = counted(len(self.accepted), "problem")
            told.append(f"{kept} kept that not every server refuses")
        return "; ".join(told)


def report(
    ctx: ChatContext[Any],
    problems: Sequence[Problem],
    mending: Mending | None = None,
    *,
    as_json: bool,
    aside: bool = False,
) -> None:
    """Print what is wrong with a list, and what was done about it.

    Args:
        ctx: The list.
        problems: What was wrong with it.
        mending: What was done, and what stays; None where nothing was asked for.
        as_json: Whether to print JSON: the problems, or an object with problems, repairs and what
            remains, whose indices are those of the new list.
        aside: Whether to print on stderr, because stdout takes the list.
    """
    if as_json:
        found = [asdict(problem) for problem in problems]
        print_json(found if mending is None else _mended(found, mending), aside=aside)
        return
    for problem in problems:
        typer.echo(described(problem), err=aside)
    for repair in mending.repairs if mending else ():
        typer.echo(one_line(str(repair)), err=aside)
    for problem in mending.accepted if mending else ():
        typer.echo(f"kept, in the new list: {described(problem)}", err=aside)
    name = ctx.shape.name if ctx.shape else "several shapes"
    counts = f"{counted(len(problems), 'problem')} in {counted(len(ctx), 'item')} ({name})"
    done = str(mending or "")
    typer.echo(f"{counts}; {done}" if done else counts, err=aside)


def _mended(found: list[dict[str, Any]], mending: Mending) -> dict[str, Any]:
    done = [
        {"rule": r.rule, "action": r.action, "message": r.message, "indices": r.indices}
        for r in mending.repairs
    ]
    remaining = [asdict(problem) for problem in mending.remaining]
    return {"problems": found, "repairs": done, "remaining": remaining}


def described(problem: Problem) -> str:
    """Return a problem in words: items, severity, rule, the provider's own error text, source."""
    also = f" (with {', '.join(map(str, problem.indices[1:]))})" if problem.indices[1:] else ""
    lines = [f"item {problem.index}{also}: {problem.severity}: {problem.message} [{problem.rule}]"]
    if problem.provider_error:
        lines.append(f"  the provider says: {problem.provider_error}")
    if problem.source:
        lines.append(f"  source: {problem.source}")
    return "\n".join(map(one_line, lines))


def print_json(value: object, *, aside: bool = False) -> None:
    """Print a value as JSON on stdout, or aside on stderr, as UTF-8 whatever the terminal takes."""
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    typer.echo(text.encode("utf-8", "backslashreplace"), nl=False, err=aside)


def one_line(text: str) -> str:
    """Return a text as one line that does nothing to a terminal."""
    shown = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)


def counted(number: int, what: str) -> str:
    """Return a number and a noun: `no problems`, `1 problem`, `2 problems`."""
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


def console() -> Console:
    """Return a console that prints texts as they are, without reading markup in them."""
    return Console(highlight=False, markup=False, emoji=False)
