"""From a list as it is to a plan: the split, the head that prompts are made of, the first prompt.

Not here: model calls, and what becomes of the plan (`plan`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil
from typing import Any

from chatfold.core.append import append_for
from chatfold.core.callables import is_yes
from chatfold.core.calls import Abandon
from chatfold.core.check import Requirement
from chatfold.core.commit import problems_of
from chatfold.core.digest import head_digest
from chatfold.core.groups import Asking, Groups
from chatfold.core.live import Mode, Sender
from chatfold.core.parts import Head
from chatfold.core.plan import Plan
from chatfold.core.render import TemplateRenderer
from chatfold.core.room import Room
from chatfold.core.snapshot import Snapshot
from chatfold.core.spans import cut_points
from chatfold.core.split import Split, prefix_length, split
from chatfold.core.summary import earlier_summary, note_of, without_summary
from chatfold.core.terms import Terms
from chatfold.core.views import TextPart
from chatfold.core.within import Within
from chatfold.errors import SummarizerError

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
        language: Language of the summary, or None for the user's.
        max_summary_tokens: Length to ask for, or None for the default.
        summary_role: Role of the summary item.
        min_gain: Share of the list's tokens that the fold has to save.
        tried: Digests of heads that are not to be tried again.
        max_prompt_tokens: Tokens that one prompt may have, or None.
        terms: What the caller wants of the summary.
        own: For a native fold: returns whether an item is the provider's own.
        mode: How the summary is to be asked for.
        senders: What the summarizers can send in append mode.
        request: The fields of the live request, for append mode.
        needed: What the agent's next request has to carry with the list, for append mode.
        model: The agent's model, None where it is not known.
        within: What the list is to be below afterwards.
    """

    keep_last_turns: int | None
    keep_tokens: int | None
    abandon: Abandon | None = None
    pinned: Callable[[Any], bool] | None = None
    language: str | None = None
    max_summary_tokens: int | None = None
    summary_role: str = "user"
    min_gain: float = 0.0
    tried: Collection[str] = ()
    max_prompt_tokens: int | None = None
    terms: Terms = Terms()  # noqa: RUF009 - a frozen value
    own: Callable[[Any], bool] | None = None
    mode: Mode = "prompt"
    senders: Sequence[Sender] = ()
    request: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    needed: Sequence[Requirement] = ()
    model: str | None = None
    within: Within = Within()  # noqa: RUF009 - a frozen value


class NoRoomError(SummarizerError, ValueError):
    """No prompt can be as short as the caller wants.

    That depends on the list, and may come true at any turn: a fold that nobody asked for must not
    break it. So it is a failure to summarize, too.
    """


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


def make_plan(
    snapshot: Snapshot,
    templates: TemplateRenderer,
    wish: Wish,
    count: Callable[[Sequence[str]], list[int]],
) -> tuple[Plan[Any], Head | None]:
    """Return what a summarization would replace, and what its prompts are made of.

    Args:
        snapshot: The list.
        templates: What renders the prompts.
        wish: What the caller wants.
        count: Returns the sizes of texts in tokens.

    Returns:
        The plan, with the first prompt, and the head; None where there is nothing to do.

    Raises:
        ValueError: The wish has no limit, or a negative one, no prompt can be so short, or no
            summarizer can be sent this list in append mode.
        ShapeError: The list's shape has no such role for the summary.
        TemplateError: A template does not load or render.
    """
    where = _where(snapshot, wish)
    if where.reason:
        return _nothing(snapshot, where), None
    prints = tuple(snapshot.prints[where.start : where.cut])
    native = wish.own is not None
    digest = head_digest(prints, where.kept, native=native)
    planned = partial(_plan, snapshot, where, wish, prints=prints, digest=digest)
    if digest in wish.tried:
        return planned(reason="unchanged_head"), None
    if native:
        gone = len(where.superseded)
        omitted = {"superseded_state": gone} if gone else {}
        prefix = tuple(snapshot.items[: where.start])
        return planned(reason="summarized", omitted=omitted, native=True, prefix=prefix), None
    snapshot.shape.summary_item("-", role=wish.summary_role)  # a role it has not costs no call
    asking = _asking(where, snapshot, templates, wish, count)
    head = _head(where, snapshot, asking, wish.min_gain, wish.terms)
    first = head.part(0, head.previous, Room(most=wish.max_prompt_tokens))
    if first is None:
        raise NoRoomError(
            f"max_prompt_tokens={wish.max_prompt_tokens} leaves no room for the conversation: the "
            "instructions, or the first items that belong together, need more"
        )
    prompt, append = first.prompt, None
    if wish.mode == "append":
        append = append_for(snapshot, where, asking, wish.senders, wish.request, wish.needed)
        prompt = replace(prompt, live=append.live if first.stop == len(head) else None)
    shown = {"prompt": prompt, "append": append, "omitted": head.omitted, "shown": head}
    return planned(reason="summarized", **shown), head


def _where(snapshot: Snapshot, wish: Wish) -> Split:
    """Return where the list is parted: later, where the fold would not lead below its limits."""
    where = _parted(snapshot, wish, wish.keep_tokens)
    words = _words(snapshot, wish)
    most = wish.within.kept_tokens(where, snapshot.sizes, words, wish.min_gain)
    if most is None or (wish.keep_tokens is not None and most >= wish.keep_tokens):
        return where
    later = _parted(snapshot, wish, most)
    # No model is paid to find out that too little goes, where there was nothing to do before.
    in_vain = _folded(later, snapshot) - words < wish.min_gain * sum(snapshot.sizes)
    full = wish.within.items is not None and len(snapshot.sizes) >= wish.within.items
    return where if later.reason or (in_vain and where.reason and not full) else later


def _words(snapshot: Snapshot, wish: Wish) -> int:
    """Return about how long the summary will be: as asked for, or as the one before it was."""
    start = prefix_length(snapshot.views)
    asked = asked_tokens(sum(snapshot.sizes[start:]), wish.max_summary_tokens)
    at = snapshot.previous
    alone = at is not None and len(snapshot.views[at].parts) == 1  # not with a user's own words
    return max(asked, snapshot.sizes[at]) if at is not None and alone else asked


def _parted(snapshot: Snapshot, wish: Wish, keep_tokens: int | None) -> Split:
    """Return where the list is parted, if so much is kept."""
    items, own = snapshot.items, wish.own
    return split(
        snapshot.views,
        snapshot.calls,
        snapshot.spans,
        snapshot.shape,
        keep_last_turns=wish.keep_last_turns,
        keep_tokens=keep_tokens,
        tokens=snapshot.sizes.__getitem__,
        pinned=None if wish.pinned is None else partial(_is_pinned, snapshot, wish.pinned),
        own=(lambda i: own(items[i])) if own is not None else None,
        outline=snapshot.outline,
        model=wish.model,
    )


def _nothing(snapshot: Snapshot, where: Split) -> Plan[Any]:
    """Return the plan of a split that leaves nothing to fold."""
    call = where.spanning if where.reason == "nothing_to_summarize" else None
    late = call is not None and any(
        problem.rule == "late_result"
        and problem.indices[:2] == (call.result_index, call.call_index)
        for problem in problems_of(snapshot)
    )
    return Plan(
        prompt=None,
        head=(),
        kept=(),
        index=where.start,
        reason=where.reason,  # type: ignore[arg-type]
        split=where,
        tokens_before=sum(snapshot.sizes),
        movable=late,
    )


def _is_pinned(snapshot: Snapshot, pin: Callable[[Any], bool], index: int) -> bool:
    """Return whether the caller wants an item kept; one beside a summary is shown without it."""
    item = without_summary(snapshot.items[index], snapshot.views[index], snapshot.shape)
    return item is not None and is_yes("pin", pin(item))


def _plan(snapshot: Snapshot, where: Split, wish: Wish, **fields: Any) -> Plan[Any]:
    """Return the plan of a split, with the other fields that it has."""
    items, start, cut = snapshot.items, where.start, where.cut
    kept = frozenset(where.kept)
    region = tuple(items[start:cut])
    return Plan(
        prompt=fields.pop("prompt", None),
        head=tuple(items[i] for i in range(start, cut) if i not in kept) if kept else region,
        kept=tuple(items[i] for i in where.kept),
        index=cut,
        split=where,
        region=region,
        behind=snapshot.prints[cut] if cut < len(items) else None,
        abandon=wish.abandon,
        tokens_before=sum(snapshot.sizes),
        summary_role=wish.summary_role,
        min_gain=wish.min_gain,
        terms=wish.terms,
        **fields,
    )


def _asking(
    where: Split,
    snapshot: Snapshot,
    templates: TemplateRenderer,
    wish: Wish,
    count: Callable[[Sequence[str]], list[int]],
) -> Asking:
    """Return what every prompt for the items between the prefix and the cut is made with."""
    return Asking(
        templates,
        count,
        asked_tokens(_folded(where, snapshot), wish.max_summary_tokens),
        instructions=wish.terms.instructions,
        language=wish.language,
        redact=wish.terms.redact,
    )


def _folded(where: Split, snapshot: Snapshot) -> int:
    """Return the size of what goes, in tokens."""
    folded = sum(snapshot.sizes[where.start : where.cut])
    return folded - sum(snapshot.sizes[i] for i in where.kept if where.start <= i < where.cut)


def _most(where: Split, snapshot: Snapshot, min_gain: float, *, strips: bool) -> int:
    """Return the tokens that words may have at most, if their fold is to save what it has to."""
    whole = sum(snapshot.sizes)
    if strips:  # the tail gets smaller, too
        return whole
    return _folded(where, snapshot) - max(1, ceil(min_gain * whole))


def _head(where: Split, snapshot: Snapshot, asking: Asking, min_gain: float, terms: Terms) -> Head:
    """Return the items between the prefix and the cut as what prompts are made of."""
    start, cut = where.start, where.cut
    views = snapshot.views[start:cut]
    groups = Groups(
        views,
        snapshot.calls,
        asking,
        offset=start,
        cuts=lambda: cut_points(snapshot.spans, snapshot.views, lossy=True),
        kept=frozenset(where.kept),
        skipped=where.superseded,
        written=snapshot.elements.known(),
    )
    earlier = earlier_summary(views)
    return Head(
        groups,
        asking,
        weight=sum(snapshot.sizes[start:cut]),
        most=_most(where, snapshot, min_gain, strips=terms.thinking == "strip"),
        previous=None if earlier is None else earlier.text,
        record="" if earlier is None else earlier.record,
        note="" if earlier is None else _note(snapshot),
    )


def _note(snapshot: Snapshot) -> str:
    """Return the note in front of the earlier summary, which append mode shows as it stands."""
    if snapshot.previous is None:
        return ""
    view = snapshot.shape.read(snapshot.items[snapshot.previous])
    first = next(iter(view.parts), None) if view is not None else None
    return note_of(first.text) if isinstance(first, TextPart) else ""
