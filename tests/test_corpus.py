"""Real agent histories fold at every limit: whole, valid, reversible, and nothing of them lost.

The corpus lies beside the checkout and is never copied into it. What is right is judged from the
raw items (`raw_items`) and by the second validator (`validator`), not by the code under test.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from xml.etree import ElementTree

import pytest
import raw_items
from conftest import shared_directory
from raw_items import ANY, Pair, Told
from validator import lost_partners, validate

from chatfold import ChatContext, Outcome
from chatfold.core.render import conversation
from chatfold.core.xml import decode
from chatfold.errors import ChatfoldError
from chatfold.summarizers.extractive import Extractive

Item = dict[str, Any]
Limit = dict[str, Any]  # the options of a fold

VALID = ("openai_chat", "openai_responses", "anthropic")
FILES = (*VALID, "dirty")
LIMITS: tuple[Limit, ...] = (
    *({"keep_last_turns": turns} for turns in (0, 1, 2, 5)),
    *({"keep_tokens": tokens} for tokens in (200, 1000, 4000)),
)
pytestmark = pytest.mark.skipif(
    not (shared_directory() / "corpus").is_dir(),
    reason="no corpus beside the checkout; set CHATFOLD_SHARED",
)


@cache
def _histories(name: str) -> list[Item]:
    with (shared_directory() / "corpus" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@dataclass
class Row:
    """One line of the table: a file at a limit."""

    name: str
    limit: Limit
    histories: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    calls: int = 0
    paired: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        ((option, value),) = self.limit.items()
        reasons = dict(self.reasons.most_common())
        folds = reasons.pop("summarized", 0)
        return (
            f"{self.name:16} {option:15} {value:5} {self.histories:9} {folds:5} "
            f"{len(self.wrong):7} {self.paired:6}/{self.calls:<6} {self.seconds:7.1f}  "
            + ", ".join(f"{reason} {count}" for reason, count in reasons.items())
        )


HEADER = (
    f"{'file':16} {'limit':15} {'':5} {'histories':>9} {'folds':>5} {'invalid':>7} "
    f"{'calls paired':>13} {'seconds':>7}  not folded, and why"
)


@pytest.mark.parametrize("name", FILES)
def test_every_real_history_folds_or_says_why_not(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """At every limit: a valid result with the same tail that undo takes back, or the reason."""
    rows = [Row(name, limit) for limit in LIMITS]
    for history in _histories(name):
        ctx: ChatContext[Any] = ChatContext(list(history["items"]))
        for row in rows:
            row.wrong += [f"{history['id']} {row.limit}: {w}" for w in _fold(ctx, history, row)]
    with capsys.disabled():
        print("", *([HEADER] if name == FILES[0] else []), *rows, sep="\n")
    assert [wrong for row in rows for wrong in row.wrong] == []


def _fold(ctx: ChatContext[Any], history: Item, row: Row) -> Iterator[str]:
    """Fold, judge and undo; yield what is wrong, so that one run shows all of it."""
    items, before, shape = ctx.items, list(ctx.items), history["provider_shape"]
    records = ctx.tool_calls()
    row.calls += len(records)
    row.paired += sum(c.call_index is not None and c.result_index is not None for c in records)
    complaints = _complaints(ctx)
    started = time.perf_counter()
    row.histories += 1
    try:
        outcome = ctx.summarize(Extractive(), **row.limit, force=True)
    except ChatfoldError as error:
        row.reasons[type(error).__name__] += 1
        yield repr(error)
        return
    row.seconds += time.perf_counter() - started
    row.reasons[outcome.reason] += 1
    if not outcome.changed:
        if not _same(items, before):
            yield "not folded, and yet the list changed"
        if not _is_right_reason(ctx, outcome, row.limit):
            yield f"{outcome.reason} is not the reason"
        return
    start = raw_items.prefix_length(before)
    cut = start + len(outcome.removed) + len(outcome.kept)
    kept = [item for item in before[start:cut] if any(item is k for k in outcome.kept)]
    if not _same(items, [*before[:start], outcome.item, *kept, *before[cut:]]):
        yield "not the prefix, the summary, what was kept, and the tail, each the same object"
    for rule in _errors(items, shape) - _errors(before, shape):
        yield f"the second validator has a new {rule}"
    for rule in _complaints(ctx) - complaints:
        yield f"check() has a new {rule}"
    yield from (f"{lost}" for lost in lost_partners(before, items, shape))
    ctx.undo()
    if not _same(items, before):
        yield "undo did not put everything back"
        items[:] = before


def _same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _errors(items: list[Any], shape: str) -> Counter[str]:
    return Counter(v.rule for v in validate(items, shape) if not v.open)


def _complaints(ctx: ChatContext[Any]) -> Counter[str]:
    return Counter(p.rule for p in ctx.check() if p.severity == "error")


def _is_right_reason(ctx: ChatContext[Any], outcome: Outcome[Any], limit: Limit) -> bool:
    """Return whether the raw items bear out why a list was not folded."""
    items: list[Item] = ctx.items
    match outcome.reason:
        case "too_few_turns":
            turns: int = limit.get("keep_last_turns", 0)
            return 0 < len(raw_items.turn_starts(items)) <= turns
        case "blocked_by_open_calls":
            unanswered = [p for p in raw_items.pairs(items) if p.result_index is None]
            return bool(outcome.blocked_by) and bool(unanswered)
        case "nothing_to_summarize":
            return not _is_worth_folding(ctx, limit)
        case "no_gain":  # what the summary would stand for is hardly longer than the summary
            plan = ctx.plan(**limit, force=True)
            assert plan.prompt is not None
            summary = Extractive().complete(plan.prompt).text
            return len(json.dumps(plan.head)) < 2 * len(summary) + 1500
        case _:
            return False


def _is_worth_folding(ctx: ChatContext[Any], limit: Limit) -> bool:
    """Return whether a cut at this limit would take out more than what must stay anyway."""
    items: list[Item] = ctx.items
    start, starts = raw_items.prefix_length(items), raw_items.turn_starts(items)
    turns, budget = limit.get("keep_last_turns"), limit.get("keep_tokens")
    points = ctx.cut_points()
    cuts = [c for c in points if start < c <= raw_items.last_group(items)]
    if turns:
        cuts = [c for c in cuts if c <= starts[-turns]]
    if budget is not None:
        if _tokens(items[start:]) <= budget:
            return False
        # The earliest cut that fits: what stays before it is not counted.
        cuts = [c for c in cuts if _tokens(items[c:]) <= budget][:1] or cuts[-1:]
    return any(raw_items.removed(items, start, cut, points) for cut in cuts)


def _tokens(items: list[Item]) -> int:
    return ChatContext(items).count_tokens().value


@pytest.mark.parametrize("name", FILES)
def test_every_call_of_a_real_history_is_paired(name: str) -> None:
    """Calls and results are found and joined as the raw items say, ids that recur included."""
    for history in _histories(name):
        ctx: ChatContext[Any] = ChatContext(history["items"])
        records = [Pair(c.id, c.call_index, c.result_index) for c in ctx.tool_calls()]
        assert Counter(records) == Counter(raw_items.pairs(history["items"])), history["id"]


@pytest.mark.parametrize("name", VALID)
def test_a_real_history_that_was_sent_has_no_problem(name: str) -> None:
    """What a provider took is not reported as refused."""
    for history in _histories(name):
        found = [p for p in ChatContext(history["items"]).check() if p.severity == "error"]
        assert found == [], history["id"]
        assert not _errors(history["items"], history["provider_shape"]), history["id"]


def test_every_dirty_history_is_reported() -> None:
    """What breaks the provider's rules from the start is named, at its index."""
    for history in _histories("dirty"):
        ctx: ChatContext[Any] = ChatContext(history["items"])
        # One recording has two assistant messages in a row: the server makes one turn of them,
        # so that is worth a warning; all others are refused.
        told = [p for p in ctx.check() if p.severity != "warning" or p.rule == "split_results"]
        found = {i for p in told for i in p.indices}
        assert found, history["id"]
        assert {index for index, _ in history["errors"]} & found, history["id"]


@pytest.mark.parametrize("name", FILES)
def test_a_rendered_history_gives_back_every_role_name_id_and_text(name: str) -> None:
    """A real XML parser reads back what the raw items say, every tool output included."""
    for history in _histories(name):
        ctx: ChatContext[Any] = ChatContext(history["items"])
        rendered = conversation(ctx.views(), ctx.tool_calls())
        _compare(_parsed(rendered.xml), raw_items.told(history["items"]), history["id"])


@pytest.mark.parametrize("name", FILES)
def test_the_prompt_holds_the_head_as_one_conversation_element(name: str) -> None:
    """The prompt of a fold is that of the head alone, with the instructions around it."""
    for history in _histories(name):
        items = history["items"]
        plan = ChatContext(list(items)).plan(keep_last_turns=1)
        if plan.prompt is None:
            continue
        before, found, rest = plan.prompt.user.partition("<conversation>")
        xml, end, after = rest.rpartition("</conversation>")
        assert found
        assert end
        assert "<conversation>" not in before + rest + after
        assert before.strip()
        assert after.strip()
        told = raw_items.told(items)
        skipped = len(raw_items.told(items[: raw_items.prefix_length(items)]))
        stop = len(raw_items.told(items[: plan.index]))
        _compare(_parsed(found + xml + end), told[skipped:stop], history["id"])


_JUDGED = {"user", "assistant", "system", "developer", "reasoning", "function_call"}
_JUDGED |= {"function_call_output", "server_tool_output"}


def _parsed(xml: str) -> list[Told]:
    """Return the elements of a rendered conversation, decoded once."""
    return [
        Told(
            element.tag,
            _decoded(element.get("name")),
            _decoded(element.get("call_id")),
            decode("".join(element.itertext())),
        )
        for element in ElementTree.fromstring(xml)
        # A call that the server answered in one item has an id of its own and is not judged.
        if element.tag in _JUDGED
        or (element.tag == "server_tool_call" and element.get("call_id") is not None)
    ]


def _decoded(text: str | None) -> str | None:
    return None if text is None else decode(text)


def _compare(found: list[Told], expected: list[Told], label: str) -> None:
    judged = [
        Told._make(ANY if w == ANY else g for g, w in zip(got, want, strict=True))
        for got, want in zip(found, expected, strict=False)
    ]
    assert judged + found[len(judged) :] == expected, label
