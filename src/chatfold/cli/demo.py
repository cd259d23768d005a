"""`chatfold demo`: a support call, folded before your eyes.

Belongs here: how a fold is shown. Not here: the call itself (`story`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from chatfold.cli.story import FACTS, Item, support_call
from chatfold.context import ChatContext
from chatfold.core.plan import Outcome, Plan
from chatfold.core.views import CallPart, ItemView, ResultPart, TextPart, texts

__all__ = ["show"]


def show(console: Console, shape: str, *, whole_prompt: bool = True) -> Outcome[Item]:
    """Fold the support call and print all that happens.

    Args:
        console: Where to print.
        shape: One of `SHAPE_NAMES`.
        whole_prompt: Whether to print the instructions around the conversation too.

    Returns:
        The outcome of the fold.
    """
    items = support_call(shape)
    before = list(items)
    ctx = ChatContext(items)
    views = ctx.views()
    plan = ctx.plan(keep_last_turns=1)
    console.rule(Text(shape, "bold"))
    _show_before(console, ctx, plan)
    _show_prompt(console, plan, whole=whole_prompt)
    outcome = ctx.summarize("extractive", keep_last_turns=1)
    console.print(Text("\nSummary", "bold"), Text("by extractive: no model, no network", "dim"))
    console.print(Panel(Text(outcome.summary or "")))
    _show_after(console, ctx, before, outcome)
    _show_kept(console, ctx, before, views, outcome)
    return outcome


def _show_before(console: Console, ctx: ChatContext[Item], plan: Plan[Item]) -> None:
    console.print(
        Text("\nBefore", "bold"),
        Text(f"{len(ctx)} items, {int(ctx.count_tokens()):,} tokens", "dim"),
    )
    table = _table("will be")
    for index, view in enumerate(ctx.views()):
        stays = index < plan.split.start or index >= plan.index
        fate = Text("kept", "green") if stays else Text("folded", "yellow")
        table.add_row(str(index), fate, view.type, _said(view))
    console.print(table)


def _show_prompt(console: Console, plan: Plan[Item], *, whole: bool) -> None:
    assert plan.prompt is not None, "the support call can be folded"
    prompt = plan.prompt
    start = prompt.user.index("<conversation>")
    stop = prompt.user.index("</conversation>") + len("</conversation>")
    lead, tail = f"{prompt.system}\n\n{prompt.user[:start]}", prompt.user[stop:]
    note = ", instructions cut at the margin" if whole else "; the instructions are those above"
    console.print(Text("\nPrompt", "bold"), Text(f"for the summarizer{note}", "dim"))
    parts: list[Text] = [Text(prompt.user[start:stop])]
    if whole:
        cut = [
            Text(part.strip(), "dim", no_wrap=True, overflow="ellipsis") for part in (lead, tail)
        ]
        parts = [cut[0], Text(), *parts, Text(), cut[1]]
    console.print(Panel(Group(*parts)))


def _show_after(
    console: Console, ctx: ChatContext[Item], before: Sequence[Item], outcome: Outcome[Item]
) -> None:
    console.print(Text("\nAfter", "bold"), Text(str(outcome), "dim"))
    places = {id(item): index for index, item in enumerate(before)}
    table = _table("was")
    for index, (item, view) in enumerate(zip(ctx.items, ctx.views(), strict=True)):
        was = places.get(id(item))
        origin = Text("new", "cyan") if was is None else Text(f"item {was}", "green")
        says = _said(view) if was is not None else Text(json.dumps(item, ensure_ascii=False))
        table.add_row(str(index), origin, view.type, says)
    console.print(table)


def _show_kept(
    console: Console,
    ctx: ChatContext[Item],
    before: Sequence[Item],
    views: Sequence[ItemView],
    outcome: Outcome[Item],
) -> None:
    """Print what was kept, each line found out here and not taken for granted."""
    console.print(Text("\nKept", "bold"))
    summary = outcome.summary or ""
    table = Table.grid(padding=(0, 2))
    tools = " ".join(p.text for v in views for p in v.parts if isinstance(p, ResultPart))
    said = " ".join(t for v in views if v.role in ("user", "assistant") for t in _words(v))
    for name, value in FACTS.items():
        source = "said by a tool only" if value in tools and value not in said else ""
        table.add_row(_mark(value in summary), f"{name} {value} is in the summary", source)
    kept = [item for item in ctx.items if item is not outcome.item]
    places = {id(item): index for index, item in enumerate(before)}
    order = [places.get(id(item), -1) for item in kept]
    same = -1 not in order and order == sorted(order)
    table.add_row(_mark(same), f"{len(kept)} items are the same objects in the same order", "")
    calls = ctx.tool_calls()
    paired = all(call.completed for call in calls)
    table.add_row(_mark(paired), f"{len(calls)} tool calls left, each with its result", "")
    table.add_row(_mark(not ctx.check()), "check() finds nothing that the provider refuses", "")
    undone = ChatContext(list(before))
    undone.summarize("extractive", keep_last_turns=1)
    undone.undo()
    back = len(undone) == len(before) and all(
        new is old for new, old in zip(undone.items, before, strict=True)
    )
    table.add_row(_mark(back), f"undo() puts the {len(before)} items back, object for object", "")
    console.print(table)
    console.print()


def _table(state: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim", expand=True)
    for title in ("item", state, "type"):
        table.add_column(title, no_wrap=True, justify="right" if title == "item" else "left")
    table.add_column("says", no_wrap=True, overflow="ellipsis", ratio=1)
    return table


def _said(view: ItemView) -> Text:
    """Return an item's content as one line."""
    calls = [p for p in view.parts if isinstance(p, CallPart)]
    words = [f"{call.name}({call.arguments})" for call in calls] or list(texts(view))
    return Text(" ".join(" ".join(words).split()), no_wrap=True, overflow="ellipsis")


def _words(view: ItemView) -> list[str]:
    return [part.text for part in view.parts if isinstance(part, TextPart)]


def _mark(holds: bool) -> Text:
    return Text("yes", "green") if holds else Text("no", "bold red")
