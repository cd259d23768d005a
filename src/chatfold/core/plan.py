"""What a summarization would replace, what it did, and the step from one to the other.

A plan is a value made from a list as it was; `replacement` looks at the list as it is now. Not
here: model calls, and the swap itself (`chatfold.swaps`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeAlias, TypeVar

from chatfold.core.calls import Abandon
from chatfold.core.check import Problem, Requirement
from chatfold.core.flow import Usage
from chatfold.core.foreign_errors import words_of
from chatfold.core.live import Append, Mode
from chatfold.core.render import Prompt
from chatfold.core.split import Split
from chatfold.core.terms import Terms

if TYPE_CHECKING:
    from chatfold.core.guard import FactReport
    from chatfold.core.parts import Head

__all__ = [
    "Outcome",
    "Plan",
    "Reason",
    "by_size",
    "nothing",
    "remedy_for",
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

_SPANNING = (
    "items {first} to {last} belong together, as the result of the call {label!r} comes only with "
    "item {last}; {remedy}"
)

_SIZE: Final = "{tokens:,} tokens"
_OF_A_SIZE: Final = ("too_few_turns", "nothing_to_summarize")  # what is said of them names it

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
    "no_gain": (
        "the new list would not be {smaller}; keep less, or pass a lower max_summary_tokens with "
        "force=True"
    ),
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
        min_gain: Share of the list's tokens that the fold has to save, 0 for any; of those that
            it has now, or will have then, whichever are fewer.
        held: By what the provider knows a history that it holds itself.
        replay: Whether it may be put in though the provider holds the history.
        terms: What the caller wants of the summary.
        native: Whether the provider is to fold the region itself; there is no prompt then.
        prefix: The leading instructions, for a native fold.
        append: What append mode has for this fold; None in the other mode.
        shown: The head as its prompts show it, for who puts in a completion that was asked for
            elsewhere; None where there is nothing to do.
        notes: What the wrapper says of the summary: without a record behind it, and with one.
        movable: Whether the call in the way (`split.spanning`) is one whose result the provider
            wants elsewhere, where `repair` puts it.
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
    movable: bool = False

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
        summary: The model's words, without the record behind them and the wrapper around both,
            which the text of `item` has.
        item: The native item that holds it.
        removed: The items that are no longer in the list, in order.
        kept: The items before the cut that stayed, in order.
        merged: Items that stand in another, because the provider takes no two messages of one role
            in a row: kept ones in `item`, behind the summary. What `Middleware` hands out may hold
            more of them, also what came since, and at turns at which nothing is folded.
        stripped: Items that stayed, and whose reasoning was taken out, as they were before.
        tokens_before: Size of the list before, in tokens.
        tokens_after: Size of the list after, in tokens.
        over_limit: Whether the list is still larger than the policy allows.
        usage: Tokens of every model call, however it ended, or None where none was made or none
            told.
        llm_calls: Number of model calls; where it was cancelled, one under way included. What is
            folded without a model (`"extractive"`) takes none.
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
        model: The model that answered last, "extractive" where that wrote without one, or None.
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
            calls = f"{self.llm_calls or 'no'} call{'s' if self.llm_calls > 1 else ''}"
            fell = f" (not in append mode: {self.fell_back})" if self.fell_back else ""
            if self.error is not None:  # of the model's, before it was done without one
                fell += f" (without a model: {type(self.error).__name__})"
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


def _remedy_of(plan: Plan[Any]) -> str:
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
            f"{turns} turn{plural} of {_SIZE.format(tokens=plan.tokens_before)}; "
            f"pass keep_tokens={limit:_} to cut inside"
        )
    if plan.split.stuck and plan.reason in ("nothing_to_summarize", "no_gain"):
        return _STUCK
    call = plan.split.spanning
    if plan.reason == "nothing_to_summarize" and call is not None:
        return _SPANNING.format(
            first=call.call_index,
            last=call.result_index,
            label=call.label,
            remedy="ctx.repair() moves it behind its call"
            if plan.movable
            else "keep less, or fold when the list has gone on",
        )
    if plan.reason == "nothing_to_summarize" and plan.tokens_before:
        size = _SIZE.format(tokens=plan.tokens_before)
        return f"all {size} are within what is to be kept"
    return remedy_for(plan.reason, plan.blocked_by, plan.held, plan.min_gain)


def remedy_for(
    reason: str, blocked_by: Sequence[str] = (), held: str = "", min_gain: float = 0.0
) -> str:
    """Return what the caller can do about a reason."""
    remedy = _REMEDIES.get(reason)
    if remedy is None:  # as at most turns
        return ""
    smaller = "smaller"
    if min_gain:
        smaller += f" by the share that is asked for (min_gain={min_gain:g})"
    return remedy.format(blocked=", ".join(blocked_by), held=held, smaller=smaller)


def nothing(plan: Plan[ItemT]) -> Outcome[ItemT]:
    """Return the outcome of a plan with nothing to do."""
    return Outcome(
        changed=False,
        reason=plan.reason,
        tokens_before=plan.tokens_before,
        tokens_after=plan.tokens_before,
        blocked_by=plan.blocked_by,
        remedy=_remedy_of(plan),
    )


def by_size(outcome: Outcome[ItemT], tokens: int) -> Outcome[ItemT]:
    """Return the outcome of a plan with nothing to do, of its list as large as it is now.

    Args:
        outcome: What the plan came to.
        tokens: Size of the list.
    """
    remedy = outcome.remedy
    if outcome.reason in _OF_A_SIZE:
        then, now = (_SIZE.format(tokens=n) for n in (outcome.tokens_before, tokens))
        remedy = remedy.replace(then, now)
    return replace(outcome, tokens_before=tokens, tokens_after=tokens, remedy=remedy)
