"""What a summarization would replace, what it did, and the step from one to the other.

A plan is a value made from a list as it was; `replacement` looks at the list as it is now. Not
here: model calls, and the swap itself (`ChatContext`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, cast

from chatfold.core.calls import Abandon
from chatfold.core.check import Problem, Requirement
from chatfold.core.digest import changed_index
from chatfold.core.flow import Usage
from chatfold.core.foreign_errors import words_of
from chatfold.core.live import Append, Mode
from chatfold.core.render import Prompt
from chatfold.core.split import Split
from chatfold.core.terms import Terms
from chatfold.core.views import ItemView, Shape, SummaryPart
from chatfold.errors import StaleHeadError

if TYPE_CHECKING:
    from chatfold.core.guard import FactReport
    from chatfold.core.parts import Head

__all__ = [
    "Outcome",
    "Plan",
    "Reason",
    "Replacement",
    "head_is_current",
    "nothing",
    "remedy_for",
    "replacement",
]

ItemT = TypeVar("ItemT")

Reason: TypeAlias = Literal[
    "summarized",
    "reused",
    "started",
    "running",
    "below_trigger",
    "too_few_turns",
    "nothing_to_summarize",
    "blocked_by_open_calls",
    "blocked_by_opaque",
    "unchanged_head",
    "no_gain",
    "server_managed",
    "vetoed",
    "busy",
    "stale",
    "failed",
    "cancelled",
    "undone",
    "nothing_to_undo",
]

_STUCK = (
    "what is kept of the older part (instructions, pinned items) holds the messages around it, "
    "since the provider has no place for it behind the summary; keep another number of turns, or "
    "fold later"
)

_REMEDIES: Mapping[str, str] = {
    "blocked_by_open_calls": "answer {blocked}, or pass abandon=[...]",
    "blocked_by_opaque": "an item that only the provider can read stands in the way; "
    "compact it natively, or keep what follows it",
    "server_managed": "the provider holds this history ({held}), and would go on with its own; if "
    "this is the full list, pass replay=True, and send all of it from then on",
    "busy": (
        "a summarization is running, or a fold in the background has yet to be put in; use "
        "await ctx.asummarize(wait=True), or ctx.background.apply_if_ready()"
    ),
    "no_gain": "the summary was not smaller than what it replaces; keep less, or pass a lower "
    "max_summary_tokens",
    "unchanged_head": "this head was tried before; add items, or pass force=True",
}


@dataclass(frozen=True, slots=True)
class Plan(Generic[ItemT]):
    """What would be replaced, and with which prompt; falsy where there is nothing to do.

    Attributes:
        prompt: What to ask a summarizer; None where there is nothing to do.
        head: The items that the summary would replace, in order; an earlier summary is one.
        kept: The items before the cut that would stay, in order.
        index: Index of the first tail item; the length of the prefix where nothing is folded.
        reason: `summarized` for a plan that can be applied, else why there is nothing to do.
        split: Where the list is cut.
        region: Every item between the prefix and the cut.
        prints: The fingerprints of `region`.
        behind: The fingerprint of the first tail item, None where there is none.
        abandon: The open calls that the caller has given up.
        digest: Content digest of the region.
        tokens_before: Size of the list when the plan was made.
        omitted: Parts of the head without a readable form, by kind.
        summary_role: Role of the summary item.
        min_gain: Share of the list's tokens that the fold has to save, 0 for any.
        held: By what the provider knows a history that it holds itself.
        replay: Whether it may be put in though the provider holds the history.
        terms: What the caller wants of the summary.
        native: Whether the provider is to fold the region itself; there is no prompt then.
        prefix: The leading instructions, for a native fold.
        append: What append mode has for this fold; None in the other mode.
        shown: The head as its prompts show it, for who puts in a completion that was asked for
            elsewhere; None where there is nothing to do.
        notes: What the wrapper says of the summary: without a record behind it, and with one.
    """

    prompt: Prompt | None
    head: tuple[ItemT, ...] = field(repr=False)
    kept: tuple[ItemT, ...] = field(repr=False)
    index: int
    reason: Reason
    split: Split = field(repr=False)
    region: tuple[ItemT, ...] = field(default=(), repr=False)
    prints: tuple[int, ...] = field(default=(), repr=False)
    behind: int | None = field(default=None, repr=False)
    abandon: Abandon | None = field(default=None, repr=False)
    digest: str = ""
    tokens_before: int = 0
    omitted: Mapping[str, int] = field(default_factory=dict[str, int])
    summary_role: str = "user"
    min_gain: float = 0.0
    held: str = ""
    replay: bool = False
    terms: Terms = Terms()  # noqa: RUF009 - a frozen value
    native: bool = False
    prefix: tuple[ItemT, ...] = field(default=(), repr=False)
    append: Append | None = field(default=None, repr=False)
    shown: Head | None = field(default=None, repr=False, compare=False)
    notes: tuple[str, str] = field(default=("", ""), repr=False)

    def __bool__(self) -> bool:
        return self.prompt is not None or self.reason == "summarized"

    @property
    def blocked_by(self) -> tuple[str, ...]:
        """Labels of the open calls that kept the cut from going further."""
        return self.split.blocked_by


@dataclass(frozen=True, slots=True)
class Outcome(Generic[ItemT]):
    """What a summarization did, and why.

    Attributes:
        changed: Whether the list was changed.
        reason: What happened, from a fixed set of words.
        summary: The summary's text, without its wrapper.
        item: The native item that holds it.
        removed: The items that are no longer in the list, in order.
        kept: The items before the cut that stayed, in order.
        merged: Those items that now stand in another: in `item`, behind the summary, because the
            provider takes no two messages of one role in a row, or in one instruction with others,
            because it has too few places for them.
        stripped: Items that stayed, and whose reasoning was taken out, as they were before.
        tokens_before: Size of the list before, in tokens.
        tokens_after: Size of the list after, in tokens.
        over_limit: Whether the list is still larger than the policy allows.
        usage: Tokens of every model call, or None where none was made or none told.
        llm_calls: Number of model calls.
        seconds: Duration, model calls included.
        blocked_by: Labels of the open calls that kept the cut from going further.
        omitted: What had no readable form and was not in the prompt, by kind.
        truncated: Number of outputs that were cut in the middle for the prompt.
        requirements: What the next requests have to carry besides the list.
        problems: What `check` says of the list afterwards.
        facts: Which needed facts the summary holds, and which of its values nobody gave; None
            where nothing was summarized.
        error: What went wrong, or None.
        fold_id: Names the fold, or None.
        key: The conversation's key in a store, or None.
        model: The model that wrote the summary, or None.
        remedy: What to do about the reason, "" where nothing need be done.
        mode: How the summary was asked for: by a `prompt` of its own, or in `append` mode; None
            where nothing was summarized, or not by words.
        fell_back: Why a prompt was used though append mode was wanted; "" where it was not.
    """

    changed: bool
    reason: Reason
    summary: str | None = field(default=None, repr=False)
    item: ItemT | None = field(default=None, repr=False)
    removed: tuple[ItemT, ...] = field(default=(), repr=False)
    kept: tuple[ItemT, ...] = field(default=(), repr=False)
    merged: tuple[ItemT, ...] = field(default=(), repr=False)
    stripped: tuple[ItemT, ...] = field(default=(), repr=False)
    tokens_before: int = 0
    tokens_after: int = 0
    over_limit: bool = False
    usage: Usage | None = None
    llm_calls: int = 0
    seconds: float = 0.0
    blocked_by: tuple[str, ...] = ()
    omitted: Mapping[str, int] = field(default_factory=dict[str, int])
    truncated: int = 0
    requirements: tuple[Requirement, ...] = ()
    problems: tuple[Problem, ...] = ()
    facts: FactReport | None = None
    error: BaseException | None = None
    fold_id: str | None = None
    key: str | None = None
    model: str | None = None
    remedy: str = ""
    mode: Mode | None = None
    fell_back: str = ""

    def __bool__(self) -> bool:
        return self.changed

    def __str__(self) -> str:
        return " ".join(self._line().split())  # whatever a call id or an error text holds

    def _line(self) -> str:
        if self.reason == "summarized":
            calls = f"{self.llm_calls} call{'' if self.llm_calls == 1 else 's'}"
            fell = f" (not in append mode: {self.fell_back})" if self.fell_back else ""
            return (
                f"summarized {len(self.removed)} items: {self.tokens_before:,} -> "
                f"{self.tokens_after:,} tokens, {calls}, {self.seconds:.1f} s{fell}"
            )
        if self.reason == "reused":
            return (
                f"reused an earlier summary: {self.tokens_before:,} -> {self.tokens_after:,} tokens"
            )
        if self.reason == "undone":
            return f"undone: {self.tokens_before:,} -> {self.tokens_after:,} tokens"
        text = f"not summarized ({self.reason})"
        if self.reason == "nothing_to_undo":
            text = self.reason
        if self.error is not None:
            text += f": {type(self.error).__name__}: {words_of(self.error)}"
        return f"{text}: {self.remedy}" if self.remedy else text


@dataclass(frozen=True, slots=True)
class Replacement(Generic[ItemT]):
    """What goes into a list in place of `items[start:stop]`.

    Attributes:
        start: Index of the first item that goes.
        stop: Index behind the last one.
        items: What comes in their place.
        kept: Those of `items` that stood before the cut, as they stand now.
        merged: Items that stay, and whose words stand in another item now.
        taken: Items of the tail that go, since they stand in another form among `items`.
        stripped: Items that stay, and whose reasoning goes.
        origins: What each of `items` was before its reasoning went; () where none did.
        sources: Where each of `items` stood, None for what is new. One object may stand in several
            places of a list, so that the items themselves do not tell.
        merged_at: Where each of `merged` stood.
        merged_in: The item with the words of each of `merged`, None where it had none of its own.
    """

    start: int
    stop: int
    items: tuple[ItemT, ...]
    kept: tuple[ItemT, ...] = ()
    merged: tuple[ItemT, ...] = ()
    taken: tuple[ItemT, ...] = ()
    stripped: tuple[ItemT, ...] = ()
    origins: tuple[ItemT, ...] = ()
    sources: tuple[int | None, ...] = ()
    merged_at: tuple[int, ...] = ()
    merged_in: tuple[ItemT | None, ...] = ()


def remedy(plan: Plan[Any]) -> str:
    """Return what the caller can do about a plan's reason, "" where nothing helps."""
    if plan.split.unread:
        return (
            "no item is of a known shape, so that nobody can tell what belongs together; pass "
            "shape=, for a framework's own messages that of its integration"
        )
    if plan.reason == "too_few_turns":
        turns = plan.split.turns
        plural = "" if turns == 1 else "s"
        limit = max(1000, plan.tokens_before // 10 // 1000 * 1000)
        if limit >= plan.tokens_before:  # then that would keep all of it
            limit = max(1, plan.tokens_before // 2)
        return (
            f"{turns} turn{plural} of {plan.tokens_before:,} tokens; "
            f"pass keep_tokens={limit:_} to cut inside"
        )
    if plan.split.stuck and plan.reason in ("nothing_to_summarize", "no_gain"):
        return _STUCK
    if plan.reason == "nothing_to_summarize" and plan.tokens_before:
        return f"all {plan.tokens_before:,} tokens are within what is to be kept"
    return remedy_for(plan.reason, plan.blocked_by, plan.held)


def remedy_for(reason: str, blocked_by: Sequence[str] = (), held: str = "") -> str:
    """Return what the caller can do about a reason."""
    return _REMEDIES.get(reason, "").format(blocked=", ".join(blocked_by), held=held)


def nothing(plan: Plan[ItemT]) -> Outcome[ItemT]:
    """Return the outcome of a plan with nothing to do."""
    return Outcome(
        changed=False,
        reason=plan.reason,
        tokens_before=plan.tokens_before,
        tokens_after=plan.tokens_before,
        blocked_by=plan.blocked_by,
        remedy=remedy(plan),
    )


def head_is_current(plan: Plan[ItemT], items: Sequence[ItemT], prints: Sequence[int]) -> None:
    """Check that the head still says what it said when the plan was made.

    Args:
        plan: The plan.
        items: The list as it is now.
        prints: The fingerprints of its items.

    Raises:
        StaleHeadError: It was edited, reordered, shortened or grown.
    """
    start, stop = plan.split.start, plan.split.cut
    if len(items) < stop:
        raise StaleHeadError(
            f"the list has {len(items)} items, and the plan replaces {start} to {stop - 1}; "
            "make a new plan"
        )
    now = tuple(prints[start:stop])
    if now == plan.prints:
        return
    changed = changed_index(items[start:stop], now, plan.region, plan.prints)
    if changed is not None:
        raise StaleHeadError(
            f"item {start + changed} changed after the plan was made; make a new plan",
            index=start + changed,
        )


def replacement(
    plan: Plan[ItemT],
    items: Sequence[ItemT],
    prints: Sequence[int],
    written: Sequence[ItemT],
    *,
    views: Sequence[ItemView],
    shape: Shape,
) -> Replacement[ItemT]:
    """Return what takes the head's place in the list as it is now.

    The order is: summary, kept items in their order, tail. What a provider wrote may hold items
    of the head themselves, which then stay where it put them. An item that its provider does not
    let stand there goes further back, and the tail items before it are part of the replacement.
    Where the provider wants one item instead of two, the summary comes with the item behind it,
    and items that go to one place come in one.

    Args:
        plan: The plan.
        items: The list as it is now.
        prints: The fingerprints of its items.
        written: The native summary item, or all that a provider wrote in its place.
        views: The readings of its items.
        shape: The list's shape.

    Raises:
        StaleHeadError: The head is not what it was, or the tail is too short by now.
    """
    head_is_current(plan, items, prints)
    start, cut, moved = plan.split.start, plan.split.cut, plan.split.moved
    stop = max([cut, *moved.values()])
    if stop > len(items):
        raise StaleHeadError(
            "the tail no longer has the place that an instruction was to go to; make a new plan",
            index=len(items),
        )
    placed = {id(item) for item in written}
    # Only a provider writes items of the region themselves.
    own = _own_places(written, items, range(start, cut) if plan.native else range(0))
    stays = [i for i in plan.split.kept if id(items[i]) not in placed]
    alone = {i: _without_summary(items[i], views[i], shape) for i in stays if i not in moved}
    left: list[tuple[int | None, ItemT]]
    left = [(i, item) for i, item in alone.items() if item is not None]
    groups = _with_arrivals(cut, stop, {i: moved[i] for i in stays if i in moved})
    shared = _shared(groups, items, shape)
    for group in groups:
        one = shared.get(group)
        left += [(i, items[i]) for i in group] if one is None else [(None, one)]
    made = [*written, *(item for _, item in left)]
    sources = [*own, *(i for i, _ in left)]
    merged = {i: item for i, item in alone.items() if item is not items[i]}
    merged |= {i: item for group, item in shared.items() for i in group}
    taken: tuple[ItemT, ...] = ()
    follows = left[0][0] if left else stop
    following = left[0][1] if left else items[stop] if stop < len(items) else None
    if len(written) > 1:
        following = None  # a window of several items is whole as it is
    if len(written) == 1:
        made[0] = shape.placed(made[0], items[cut - 1], following)
    joined = shape.merged(made[0], following) if following is not None else None
    if joined is not None and following is not None and follows is not None:
        if not left:
            stop, taken = stop + 1, (following,)
        merged[follows] = joined
        made[:2], sources[:2] = [joined], [None]
    kept = {*plan.split.kept, *(i for i in own if i is not None)}
    if joined is not None:
        kept.discard(follows)
    stands = alone | {i: item if i == g[0] else None for g, item in shared.items() for i in g}
    stand = (item for i in sorted(kept) if (item := stands.get(i, items[i])) is not None)
    return Replacement(
        start,
        stop,
        tuple(made),
        tuple(stand),
        tuple(items[i] for i in sorted(merged)),
        taken,
        sources=tuple(sources),
        merged_at=tuple(sorted(merged)),
        merged_in=tuple(merged[i] for i in sorted(merged)),
    )


def _own_places(written: Sequence[ItemT], items: Sequence[ItemT], span: range) -> list[int | None]:
    """Return where each of what was written stands in a span of the list, None where nowhere."""
    places: dict[int, list[int]] = {}
    for index in reversed(span):
        places.setdefault(id(items[index]), []).append(index)
    return [at.pop() if (at := places.get(id(item))) else None for item in written]


def _with_arrivals(cut: int, stop: int, moved: Mapping[int, int]) -> list[tuple[int, ...]]:
    """Return the tail from `cut` to `stop`, with the moved items where they belong, by index.

    Those that go to one place are together.
    """
    arrivals: dict[int, list[int]] = {}
    for index, before in sorted(moved.items()):
        arrivals.setdefault(before, []).append(index)
    made: list[tuple[int, ...]] = []
    for index in range(cut, stop + 1):
        if index in arrivals:
            made.append(tuple(arrivals[index]))
        if index < stop:
            made.append((index,))
    return made


def _shared(
    groups: Sequence[tuple[int, ...]], items: Sequence[ItemT], shape: Shape
) -> dict[tuple[int, ...], ItemT]:
    """Return the items that the provider wants in place of groups of several."""
    several = (group for group in groups if len(group) > 1)
    made = ((group, shape.gathered([items[i] for i in group])) for group in several)
    return {group: item for group, item in made if item is not None}


def _without_summary(item: ItemT, view: ItemView, shape: Shape) -> ItemT | None:
    """Return a kept item as it is; a request that came with an earlier summary, without that."""
    if not view.parts or type(view.parts[0]) is not SummaryPart:
        return item
    return cast("ItemT | None", shape.pick(item, range(1, len(view.parts))))
