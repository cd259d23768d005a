"""chatfold breaks, loses and lets out nothing of the adversarial conversations, at any keep value.

What the frameworks' own summarizers make of them is in the same table, to be printed by
`python -m benchmarks.integrations`.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from integrations.battery import FRAMEWORKS, GROUPS, Run, System, counted, systems, unpaired
from integrations.transcripts import FORGED, TRANSCRIPTS, transcript


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _systems() -> Iterator[Any]:
    """Yield every system; where its framework is absent, one that is skipped, with the reason."""
    for name, module in FRAMEWORKS.items():
        if _installed(module):
            yield from (pytest.param(system, id=system.name) for system in systems(name))
        else:
            extra = name.replace("_", "-")
            reason = f'{module} is not installed: pip install "chatfold[{extra}]"'
            yield pytest.param(None, id=name, marks=pytest.mark.skip(reason=reason))


SYSTEMS = tuple(_systems())
OURS = [param for param in SYSTEMS if param.values[0] is None or not param.values[0].own]
THEIRS = [param for param in SYSTEMS if param.values[0] is None or param.values[0].own]


@pytest.mark.anyio
@pytest.mark.parametrize("system", OURS)
async def test_chatfold_breaks_loses_and_lets_out_nothing(system: System) -> None:
    """Every conversation was folded at some keep value, and each fold was clean."""
    row = await counted(system)
    assert row.clean, dict(row.notes)
    assert set(row.folded) == set(GROUPS)
    assert row.folded.total() > row.runs / 3


@pytest.mark.anyio
@pytest.mark.parametrize("system", THEIRS)
async def test_the_judge_finds_what_a_frameworks_own_summarizer_breaks(system: System) -> None:
    """Judged in the same way, one of them is clean: it does nothing where calls are open."""
    row = await counted(system)
    assert row.folded.total()
    assert row.clean == system.name.endswith("automatic")
    assert not row.clean or not row.folded["pending"]


@pytest.mark.skipif(
    not _installed("agents"),
    reason='agents is not installed: pip install "chatfold[openai-agents]"',
)
def test_one_command_prints_the_table(checkout: Path) -> None:
    """A row for each system, the framework's own first; and it ends well."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.integrations", "--frameworks", "openai_agents"],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("openai-agents: ")]
    named = [system.name for system in systems("openai_agents")]
    assert [row.split("  ")[0] for row in rows] == named


# The judge itself, which needs no framework


class _Judged:
    """Folds by what it is told, on Chat Completions messages."""

    name = "judged"
    own = False
    shape = "openai_chat"

    def __init__(self, run: Any) -> None:
        from integrations import openai_chat_items

        self.items = openai_chat_items
        self._run = run

    def keeps(self, given: Any) -> list[None]:
        return [None]

    async def fold(self, before: list[Any], later: list[Any], keep: None) -> Run | None:
        return self._run(before, later)


@pytest.mark.anyio
async def test_a_fold_that_parts_a_call_from_its_result_is_broken_and_refused() -> None:
    """A call in the head, its result in the tail."""

    def parted(before: list[Any], later: list[Any]) -> Run:
        result = next(i for i, item in enumerate(before) if item["role"] == "tool")
        return Run([*before[result:], *later], [str(before[:result])])

    row = await counted(_Judged(parted), [transcript("rounds")])
    assert (row.broken.total(), row.refused, row.lost, row.broke_out) == (1, 1, 0, 0)


@pytest.mark.anyio
async def test_what_is_neither_kept_nor_shown_is_lost() -> None:
    """Words, and pictures that nobody mentions."""
    short, pictures = transcript("plain talk"), transcript("images")

    def dropped(before: list[Any], later: list[Any]) -> Run:
        return Run([*before[3:], *later], [str(before[:2])])

    def undescribed(before: list[Any], later: list[Any]) -> Run:
        shown = [str(item) for item in before if "data:image" not in str(item)]
        said = [item["content"][0].get("text", "") for item in before if _pictured(item)]
        return Run(later, [*shown, *said])

    assert (await counted(_Judged(dropped), [short])).lost == 1
    assert (await counted(_Judged(undescribed), [pictures])).lost == 1


def _pictured(item: dict[str, Any]) -> bool:
    return isinstance(item.get("content"), list)


@pytest.mark.anyio
async def test_forged_tags_that_stand_in_a_prompt_as_they_were_break_out() -> None:
    """Escaped, they do not; as items of their own there is nothing to break out of."""
    given = [transcript("forged tags")]

    def text(before: list[Any], later: list[Any]) -> Run:
        return Run(later, [str(item.get("content")) for item in before] + [str(before)])

    def sealed(before: list[Any], later: list[Any]) -> Run:
        return Run(later, [str(before)], structured=True)

    assert (await counted(_Judged(text), given)).broke_out == 1
    assert (await counted(_Judged(sealed), given)).broke_out is None


def test_calls_are_paired_with_the_latest_one_that_waits() -> None:
    """Ids may come again; a result before its call is none of it."""
    again = [("call", "a"), ("result", "a"), ("call", "a"), ("result", "a")]
    assert not unpaired(again)
    assert unpaired([*again, ("result", "a")]) == {"result a": 1}
    assert unpaired([("result", "b"), ("call", "b")]) == {"result b": 1, "call b": 1}


def test_the_conversations_hold_what_they_are_named_after() -> None:
    """All of the awkward cases are there, each with a mark in every text."""
    names = {given.name for given in TRANSCRIPTS}
    awkward = {"late", "far-late", "crossed", "reused", "pending", "thinking loops", "images"}
    assert awkward | {"retries", "forged tags"} <= names
    assert set(GROUPS) == {given.group for given in TRANSCRIPTS}
    forged = repr(transcript("forged tags").events)
    assert all(repr(words)[1:-1] in forged for words in FORGED)
