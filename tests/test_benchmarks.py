"""The benchmarks run, and what they call a needed fact is one. No figure of theirs is tested."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold import Completion
from chatfold.core.summary import opened

Item = dict[str, Any]


@pytest.fixture
def gold(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What tells needed facts."""
    return _module("facts.gold", checkout, monkeypatch)


def _module(name: str, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(checkout))
    return importlib.import_module(f"benchmarks.{name}")


def _run(checkout: Path, *arguments: str, shared: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=checkout,
        env={**os.environ, "CHATFOLD_SHARED": shared},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Order LK-4821936 of October 7, 2025.", {"LK-4821936", "2025-10-07"}),
        ("on 2025-10-07 at 06:00:00", {"2025-10-07", "06:00"}),
        ("1,299.00 USD, $349.90 and 1299", {"1299", "349.9"}),
        ("write to dana.w@example.com.", {"dana.w@example.com"}),
        ("see src/app/main.py:120, and/or README", {"src/app/main.py", "120"}),
        ("https://a.example/x?y=1#z, please", {"https://a.example/x?y=1#z"}),
        ("a 24-hour rule, 12 times", set[str]()),
        (r"line\nsrc/app/main.py\n", {"src/app/main.py"}),
    ],
)
def test_a_value_is_read_in_one_form(gold: ModuleType, text: str, found: set[str]) -> None:
    assert gold.values(text) == found


def test_a_fact_is_needed_if_the_assistant_is_the_first_to_write_it_again(
    gold: ModuleType,
) -> None:
    """Not if it was told again, was never seen, or stands in the instructions."""
    items: list[Item] = [
        {"role": "system", "content": "The shop is SHOP-1."},
        {"role": "user", "content": "At SHOP-1 I bought LK-1001 and LK-1002, see PO-3003."},
        {"role": "assistant", "content": "Which one?"},
        {"role": "user", "content": "LK-1002, please."},
        {"role": "assistant", "content": "SHOP-1: LK-1002 and LK-1001 are sent as NEW-9."},
    ]
    assert gold.needed(items, 2) == {"LK-1001"}


def test_arguments_are_read_by_value(gold: ModuleType) -> None:
    """An escape of the JSON around a value is no part of it."""
    arguments = (
        '{"at": "https:\\/\\/a.example\\/x", "text": "id:\\n\\"LK-1001\\"", "total": 349.90}'
    )
    call = {"id": "c", "function": {"name": "f", "arguments": arguments}}
    item: Item = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert gold.values_of([item]) == {"https://a.example/x", "LK-1001", "349.9"}


def test_a_value_in_an_escaped_prompt_is_found(gold: ModuleType) -> None:
    found = gold.values_in_prompt("<user>https://a.example/?x=1&amp;y=2</user>")
    assert "https://a.example/?x=1&y=2" in found


def test_a_fact_stays_readable_between_other_words(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever plain words stand around it."""
    gold = _module("facts.gold", checkout, monkeypatch)

    @given(st.text("abc .,:;!?()[]'\"\n"), st.text("abc .,:;!?()[]'\"\n"))
    def check(before: str, after: str) -> None:
        assert "LK-4821936" in gold.values(f"{before} LK-4821936 {after}")

    check()


@pytest.mark.parametrize("char", ["a", "1", "/", "a/", "1-", "a.", "1:", "@", "a@", "1,", "-", " "])
def test_reading_values_takes_time_in_proportion(gold: ModuleType, char: str) -> None:
    """Counted in matches that the text can hold at most, since a clock tells nothing here."""
    for size in (1_000, 100_000):
        assert len(gold.values(char * size)) <= size


def test_the_same_seed_writes_the_same_history(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And every call in it has its result, and a long one holds a hundred calls in one turn."""
    generate = _module("facts.generate", checkout, monkeypatch)
    worlds = _module("facts.worlds", checkout, monkeypatch).WORLDS
    for world in worlds:
        (one,), (other,) = (generate.generated(world, [3], [3_000]) for _ in range(2))
        assert one == other
        made = [call["id"] for item in one for call in item.get("tool_calls") or ()]
        assert made == [item["tool_call_id"] for item in one if item["role"] == "tool"]
    (run,) = generate.generated(worlds[0], [0], [60_000])
    users = [i for i, item in enumerate(run) if item["role"] == "user"] + [len(run)]
    calls = [sum(item["role"] == "tool" for item in run[i:j]) for i, j in pairwise(users)]
    assert max(calls) > 100


def test_a_fact_counts_as_kept_in_the_summary_or_in_what_stays(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What only the tail holds is not hard, and what was never shown is out of reach."""
    case = _module("facts.case", checkout, monkeypatch)
    measure = _module("facts.measure", checkout, monkeypatch)
    items: list[Item] = [
        {"role": "user", "content": "LK-1001, LK-1002, LK-1003"},
        {"role": "user", "content": "LK-1004"},
    ]
    shown = [{"role": "user", "content": "LK-1002"}]
    row = measure.row_of(
        case.Case(items, [10, 5], 1, 5),
        frozenset({"LK-1001", "LK-1002", "LK-1003", "LK-1004"}),
        case.Folded(frozenset({1}), "It is LK-1001.", shown),
    )
    assert (row.facts, row.kept, row.hard, row.hard_kept, row.reachable) == (4, 2, 3, 1, 2)
    assert row.missed == ["LK-1002", "LK-1003"]
    assert row.whole == 15
    assert row.tokens == 5 + measure.size_of({"role": "user", "content": "It is LK-1001."})


def test_curves_are_compared_at_equal_tokens(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two points along a line, behind the last one level, before the first not at all."""
    row = _module("facts.measure", checkout, monkeypatch).Row
    table = _module("facts.table", checkout, monkeypatch)
    ours, rooms = table.OURS[0], table.ROOMS
    rows = {
        (name, room): row(facts=100, kept=kept, whole=100, tokens=tokens)
        for name, points in {
            ours: [(20, 10), (60, 20), (80, 30)],
            "before": [(90, 1), (90, 5), (90, 9)],
            "between": [(90, 9), (35, 15), (60, 25)],
            "behind": [(0, 9), (0, 5), (85, 50)],
        }.items()
        for room, (kept, tokens) in zip(rooms, points, strict=True)
    }
    leads = {name: table.least_lead(rows, name) for name in ("before", "between", "behind")}
    assert leads == {"before": None, "between": pytest.approx(5), "behind": pytest.approx(-5)}


def test_chatfold_is_held_to_the_room_that_the_others_have(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words and its record together, whatever it would add by itself."""
    generate = _module("facts.generate", checkout, monkeypatch)
    measure = _module("facts.measure", checkout, monkeypatch)
    systems = _module("facts.systems", checkout, monkeypatch)
    for world in _module("facts.worlds", checkout, monkeypatch).WORLDS:
        (items,) = generate.generated(world, [0], [25_000])
        for case, _ in measure.cases(items):
            room = case.head_tokens // 10
            inside = opened(systems.chatfold(case, room).summary)
            assert inside
            assert measure.size_of({"role": "user", "content": inside}) <= room


def test_a_model_is_asked_once_for_every_answer(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also where a run was interrupted while it wrote; the table counts what was never shown."""
    model = _module("model", checkout, monkeypatch)
    tasks = _module("model_tasks", checkout, monkeypatch)
    gold = _module("facts.gold", checkout, monkeypatch)
    task = next(task for task in tasks.drawn() if task.name.startswith("operations"))
    wanted = min(task.want - gold.values_of(task.case.items[:2]))  # the request is kept
    asked: list[int] = []

    def ask(_: list[Item], seed: int) -> Completion:
        asked.append(seed)
        return Completion(f"It is {wanted}. So is WRONG-4711.", "stop", None)

    results = tmp_path / "answers.jsonl"
    model.run([task], ["chatfold"], results, ask)
    assert len({row["replicate"] for row in model.read(results)}) == model.REPLICATES
    first = len(asked)
    model.run([task], ["chatfold"], results, ask)
    assert len(asked) == first
    results.write_text(results.read_text()[:-20])
    model.run([task], ["chatfold"], results, ask)
    assert first < len(asked) < 2 * first
    assert len(model.read(results)) == model.REPLICATES
    score = model.scores([task], model.read(results))["chatfold"]
    assert (score.answers, score.failed) == (model.REPLICATES, 0)
    assert score.alone == model.REPLICATES
    assert score.kept >= score.alone
    assert score.invented == model.REPLICATES


def test_only_the_file_with_the_right_digest_is_the_model(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = tmp_path / "model.gguf"
    found.write_bytes(b"something else")
    told = _module("local_model", checkout, monkeypatch).model_file(found)
    assert "is not the model" in str(told)


def test_the_table_of_facts_is_printed(checkout: Path, tmp_path: Path) -> None:
    """What is not installed, and the corpus that is not there, is left out with a line."""
    figures = tmp_path / "figures.json"
    arguments = ("--seeds", "1", "--only", "support, 10", "--json", str(figures))
    done = _run(checkout, "benchmarks.facts", *arguments, shared=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "left out: real histories" in done.stderr
    rows = {row["system"]: row for row in json.loads(figures.read_text())["support, 10,000 tokens"]}
    assert rows["chatfold, extractive"]["ceiling"] == 1.0
    assert rows["chatfold, extractive"]["kept"] >= rows["tail alone"]["kept"]
    assert rows["tail alone"]["hard_kept"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("voice --speed 0", "'0' is no number over 0"),
        ("voice --speed nan", "'nan' is no number over 0"),
        ("voice --turns -5", "'-5' is no whole number from 1 on"),
        ("voice --json absent/figures.json", "there is no directory 'absent'"),
        ("voice --json src", "'src' is no file"),
        ("fold --items 0", "'0' is no whole number from 20 on"),
        ("fold --items 100 -3", "-3"),
        ("fold --rounds 0", "'0' is no whole number from 1 on"),
        ("fold --real absent.jsonl", "there is no file 'absent.jsonl'"),
        ("turn --rounds many", "'many' is no whole number"),
        ("facts --every 0", "'0' is no whole number from 1 on"),
        ("facts --only foo", "no class has 'foo' in its name; there are"),
        ("model --results absent/answers.jsonl", "there is no directory 'absent'"),
        ("__main__ --out README.md", "no directory 'README.md'"),
    ],
)
def test_what_cannot_be_measured_is_told_at_once(
    checkout: Path, tmp_path: Path, arguments: str, words: str
) -> None:
    """A run of hours does not fail at its end, nor at its start with a traceback."""
    module, *given = arguments.split()
    done = _run(checkout, f"benchmarks.{module}", *given, shared=str(tmp_path))
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("module", ["fold", "turn"])
def test_the_shortest_list_can_be_measured(checkout: Path, tmp_path: Path, module: str) -> None:
    """There is something to fold in it."""
    figures = tmp_path / "figures.json"
    arguments = ("--items", "20", "--rounds", "1", "--json", str(figures))
    done = _run(checkout, f"benchmarks.{module}", *arguments, shared=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert json.loads(figures.read_text(encoding="utf-8"))


def test_real_histories_can_be_folded_one_behind_the_other(checkout: Path, tmp_path: Path) -> None:
    """System prompts and histories with pictures are left out, ids of calls made their own."""
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    turn = [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Please look, and always say please."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "found " * 200},
        {"role": "assistant", "content": "It is found.", "tool_calls": None},
        {"role": "user", "content": "Thanks."},
    ]
    shown = [{"role": "user", "content": [{"type": "text", "text": "?"}]}]
    histories, figures = tmp_path / "histories.jsonl", tmp_path / "figures.json"
    lines = [json.dumps({"items": items}) for items in (turn, shown, *[turn] * 9)]
    histories.write_text("\n".join(lines) + "\n", encoding="utf-8")
    given = ["--real", str(histories), "--rounds", "1", "--json", str(figures), "--items"]
    done = _run(checkout, "benchmarks.fold", *given, "22", shared=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "one fold of 24 real items" in done.stdout
    rows = json.loads(figures.read_text(encoding="utf-8"))["rows"]
    assert {row["items"] for row in rows} == {24}
    done = _run(checkout, "benchmarks.fold", *given, "44", shared=str(tmp_path))
    assert "holds 40 messages that can be joined" in done.stderr


def test_without_a_model_the_reason_is_told(checkout: Path, tmp_path: Path) -> None:
    """And nothing fails, nor is anything written."""
    if importlib.util.find_spec("xllamacpp") is not None:
        pytest.skip("there is a runtime for a local model here")
    results = tmp_path / "answers.jsonl"
    done = _run(checkout, "benchmarks.model", "--results", str(results), shared=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "not run: xllamacpp is not installed" in done.stderr
    assert not results.exists()
