"""The adversarial conversations: each framework's own summarizer, and chatfold beside it.

Both fold at every keep value, and are judged by what is chatfold's no more than theirs. A result is
judged as the list stands when the conversation has gone on (`Transcript.later`), against the same
list unfolded, so that what was wrong before counts for nobody. Not here: how one framework is
driven (`battery_livekit`, ...).
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol

from integrations.host import Writer
from integrations.transcripts import (
    FORGED,
    TRANSCRIPTS,
    Called,
    Event,
    Result,
    Said,
    Transcript,
    marks,
)
from validator import validate

from chatfold import Policy

__all__ = [
    "FRAMEWORKS",
    "GROUPS",
    "Row",
    "Run",
    "System",
    "counted",
    "policies",
    "systems",
    "written",
]

FRAMEWORKS = {
    "livekit": "livekit.agents",
    "langchain": "langchain.agents",
    "openai_agents": "agents",
}
"""The frameworks, each with the module by which it is seen to be installed."""

GROUPS = ("in order", "pending", "interleaved", "reused ids")


@dataclass(frozen=True)
class Run:
    """One fold.

    Attributes:
        items: What is sent at the next turn, `later` included: the framework's own items.
        prompts: What the summarizer was sent.
        structured: Whether that were items of their own each, where nothing can break out.
    """

    items: list[Any]
    prompts: list[str]
    structured: bool = False


class System(Protocol):
    """One way to fold in one framework.

    Attributes:
        name: As it stands in the table.
        own: Whether it is the framework's own summarizer.
        items: The framework's `*_items` module.
        shape: Name of the shape that `items.payload` writes.
    """

    name: str
    own: bool
    items: ModuleType
    shape: str

    def keeps(self, given: Transcript) -> Sequence[Any]:
        """Return every value of what is kept that makes a difference."""
        ...

    async def fold(self, before: list[Any], later: list[Any], keep: Any) -> Run | None:
        """Fold, and let the conversation go on; return None where nothing was folded.

        Args:
            before: The items that stand there when it is time to fold.
            later: The items that come after it.
            keep: One of `keeps`.
        """
        ...


@dataclass
class Row:
    """What came of one system's folds.

    Attributes:
        name: The system's.
        runs: Folds that were tried.
        folded: Folds that were made, by group.
        broken: Folds after which a call has no result or a result no call, by group.
        refused: Folds whose request the provider would refuse.
        lost: Folds after which something is neither in the list nor was in a prompt.
        broke_out: Folds whose prompt holds forged structure as it stood; None where prompts have
            no structure to forge.
        notes: What was broken, lost or refused, by transcript.
    """

    name: str
    own: bool
    runs: int = 0
    folded: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    lost: int = 0
    broke_out: int | None = 0
    notes: Counter[str] = field(default_factory=Counter)

    @property
    def clean(self) -> bool:
        """Whether nothing was broken, refused, lost or let out."""
        return not (self.broken.total() or self.refused or self.lost or self.broke_out)


def policies(given: Transcript) -> list[Policy]:
    """Return policies that fold at once: every number of turns to keep, and many of tokens."""
    turns = sum(isinstance(event, Said) and event.role == "user" for event in given.events)
    far: dict[str, Any] = {"max_items": 2, "max_tokens": 1_000_000, "min_gain": 0.0}
    by_turns = [Policy(**far, keep_last_turns=n, keep_tokens=400_000) for n in range(turns + 1)]
    return [*by_turns, *(Policy(**far, keep_tokens=n) for n in range(0, 1500, 100))]


def written(writer: Writer) -> list[str]:
    """Return what a summarizer of chatfold's kind was sent."""
    return [f"{prompt.system}\n{prompt.user}" for prompt in writer.prompts]


def systems(framework: str) -> Sequence[System]:
    """Return the systems of a framework that is installed: its own, then chatfold's."""
    return importlib.import_module(f"integrations.battery_{framework}").SYSTEMS


async def counted(system: System, given: Sequence[Transcript] = TRANSCRIPTS) -> Row:
    """Return what comes of a system's folds of all transcripts, at every keep value."""
    row = Row(system.name, system.own)
    for transcript in given:
        for keep in system.keeps(transcript):
            before = system.items.native(transcript.events)
            later = system.items.native((*transcript.events, *transcript.later))[len(before) :]
            row.runs += 1
            run = await system.fold(list(before), list(later), keep)
            if run is not None:
                row.folded[transcript.group] += 1
                _judge(system, transcript, run, [*before, *later], row)
    return row


def _judge(system: System, given: Transcript, run: Run, unfolded: Sequence[Any], row: Row) -> None:
    """Add one fold to the row."""
    items = system.items
    if unpaired(items.calls(run.items)) - unpaired(items.calls(unfolded)):
        row.broken[given.group] += 1
        row.notes[f"{given.name}: broken"] += 1
    found = _errors(items.payload(run.items), system.shape)
    if found - _errors(items.payload(unfolded), system.shape):
        row.refused += 1
        row.notes[f"{given.name}: refused"] += 1
    shown = "\n".join([*map(items.text, run.items), *run.prompts])
    images = shown.count("data:image") + "\n".join(run.prompts).count("image")
    if _wanted(given) - marks(shown) or images < _images(given):
        row.lost += 1
        row.notes[f"{given.name}: lost"] += 1
    if run.structured:
        row.broke_out = None
    elif any(words.splitlines()[-1] in prompt for words in FORGED for prompt in run.prompts):
        assert row.broke_out is not None
        row.broke_out += 1
        row.notes[f"{given.name}: broke out"] += 1


def unpaired(calls: Sequence[tuple[str, str]]) -> Counter[str]:
    """Return results without a call before them, and calls without a result after them.

    A result is that of the latest call with its id that has none yet.
    """
    waiting: Counter[str] = Counter()
    orphans: Counter[str] = Counter()
    for kind, id_ in calls:
        if kind == "call":
            waiting[id_] += 1
        elif waiting[id_]:
            waiting[id_] -= 1
        else:
            orphans[f"result {id_}"] += 1
    return orphans + Counter({f"call {id_}": n for id_, n in waiting.items() if n})


def _errors(payload: list[Any], shape: str) -> Counter[str]:
    return Counter(v.rule for v in validate(payload, shape) if not v.open)


def _words(event: Event) -> Iterator[str]:
    match event:
        case Said(_, text):
            yield text
        case Called(calls, text):
            yield text
            yield from (use.raw for use in calls)
        case Result(_, _, output):
            yield output
        case _:  # a thought is not said, a handoff has no words
            pass


def _wanted(given: Transcript) -> set[str]:
    """Return the marks of all that was said and done before the fold."""
    return {mark for event in given.events for words in _words(event) for mark in marks(words)}


def _images(given: Transcript) -> int:
    return sum(isinstance(event, Said) and event.image is not None for event in given.events)
