"""From a list as it is to a plan: the split, the rendered head, the prompt.

Not here: model calls, and what becomes of the plan (`plan`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from chatfold.core.calls import Abandon
from chatfold.core.plan import Plan
from chatfold.core.reading import Snapshot
from chatfold.core.render import Redact, TemplateRenderer, conversation, prompt
from chatfold.core.split import Split, split
from chatfold.core.views import SummaryPart

__all__ = ["Wish", "asked_tokens", "make_plan"]

_SHARE = 0.05
_MOST = 2000
_LEAST = 400
_SHORTEST = 64  # below this there is no room for one fact with its name


@dataclass(frozen=True, slots=True)
class Wish:
    """What a caller wants of a summarization.

    Attributes:
        keep_last_turns: Turns to keep, or None.
        keep_tokens: Tokens to keep, or None.
        abandon: Open calls that the caller gives up.
        pinned: Returns whether an item is to stay.
        instructions: What the application adds to the prompt.
        language: Language of the summary, or None for the user's.
        max_summary_tokens: Length to ask for, or None for the default.
        redact: Applied to every text of the prompt.
        summary_role: Role of the summary item.
        min_gain: Share of the list's tokens that the fold has to save.
        tried: Digests of heads that are not to be tried again.
    """

    keep_last_turns: int | None
    keep_tokens: int | None
    abandon: Abandon | None = None
    pinned: Callable[[Any], bool] | None = None
    instructions: str | None = None
    language: str | None = None
    max_summary_tokens: int | None = None
    redact: Redact | None = None
    summary_role: str = "user"
    min_gain: float = 0.0
    tried: Collection[str] = ()


def asked_tokens(head: int, most: int | None = None) -> int:
    """Return the length of the summary to ask for: 5 % of the head, with a floor for short heads.

    Args:
        head: Size of the head, in tokens.
        most: The caller's own limit, in tokens.
    """
    if most is not None:
        return most
    floor = max(_SHORTEST, min(_LEAST, head // 2))
    return min(_MOST, max(floor, int(head * _SHARE)))


def make_plan(snapshot: Snapshot, templates: TemplateRenderer, wish: Wish) -> Plan[Any]:
    """Return what a summarization would replace, with the prompt for it.

    Raises:
        ValueError: The wish has no limit, or a negative one.
        ShapeError: The list's shape has no such role for the summary.
        TemplateError: A template does not load or render.
    """
    items, views, sizes = snapshot.items, snapshot.views, snapshot.sizes
    pinned = wish.pinned
    where = split(
        views,
        snapshot.calls,
        snapshot.spans,
        snapshot.shape,
        keep_last_turns=wish.keep_last_turns,
        keep_tokens=wish.keep_tokens,
        tokens=sizes.__getitem__,
        pinned=(lambda i: pinned(items[i])) if pinned is not None else None,
    )
    before = sum(sizes)
    if where.reason:
        return Plan(None, (), (), where.start, where.reason, where, tokens_before=before)  # type: ignore[arg-type]
    start, cut = where.start, where.cut
    region = tuple(items[start:cut])
    kept = frozenset(where.kept)
    prints = tuple(snapshot.prints[start:cut])
    digest = f"{hash((prints, where.kept)) & 0xFFFFFFFFFFFFFFFF:016x}"
    plan: Plan[Any] = Plan(
        prompt=None,
        head=tuple(items[i] for i in range(start, cut) if i not in kept),
        kept=tuple(items[i] for i in where.kept),
        index=cut,
        reason="unchanged_head",
        split=where,
        region=region,
        prints=prints,
        abandon=wish.abandon,
        digest=digest,
        tokens_before=before,
        summary_role=wish.summary_role,
        min_gain=wish.min_gain,
    )
    if digest in wish.tried:
        return plan
    return _with_prompt(plan, snapshot, templates, wish)


def _with_prompt(
    plan: Plan[Any], snapshot: Snapshot, templates: TemplateRenderer, wish: Wish
) -> Plan[Any]:
    where: Split = plan.split
    snapshot.shape.summary_item("-", role=wish.summary_role)  # a role it has not costs no call
    start, cut = where.start, where.cut
    views = snapshot.views[start:cut]
    previous = next(
        (p.text for v in views[:1] for p in v.parts if isinstance(p, SummaryPart)), None
    )
    rendered = conversation(
        views,
        snapshot.calls,
        offset=start,
        kept=where.kept,
        skipped=where.superseded,
        previous_summary=previous,
        redact=wish.redact,
    )
    kept = frozenset(where.kept)
    head = sum(snapshot.sizes[i] for i in range(start, cut) if i not in kept)
    made = prompt(
        templates,
        rendered,
        views,
        max_tokens=asked_tokens(head, wish.max_summary_tokens),
        previous_summary=previous,
        instructions=wish.instructions,
        language=wish.language,
        redact=wish.redact,
    )
    return replace(plan, prompt=made, reason="summarized", omitted=rendered.omitted)
