"""What the benchmarks count is counted right. No figure of theirs is tested."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Item = dict[str, Any]

LONG = "What was found is written down here in full, so that it can be read again. " * 20


@pytest.fixture
def suite(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports modules of the benchmarks."""
    monkeypatch.syspath_prepend(str(checkout))

    def module(name: str) -> ModuleType:
        return importlib.import_module(f"benchmarks.{name}")

    return module


def _history(turns: int) -> list[Item]:
    """Return turns of a question, a call, a long result and an answer."""
    items: list[Item] = [{"role": "system", "content": "You are a clerk."}]
    for turn in range(turns):
        function = {"name": "look", "arguments": json.dumps({"page": turn})}
        call = {"id": f"call_{turn}", "type": "function", "function": function}
        items += [
            {"role": "user", "content": f"What is on page {turn}?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{turn}", "content": f"{turn}: {LONG}"},
            {"role": "assistant", "content": f"Page {turn} is read."},
        ]
    return items


def _replay(suite: Any, items: list[Item], session: Any) -> Any:
    sizes = [suite("cost.session").size_of(item) for item in items]
    return suite("cost.replay").replay(items, sizes, session)


def test_a_cache_reads_the_longest_prefix_that_was_sent(suite: Any) -> None:
    """What stands behind the first difference is paid for, and a short prefix is not kept."""
    prices = suite("cost.prices")
    block, cache = prices.Block, prices.Cache()
    cache.write([block("a", 1000), block("b", 500), block("c", 10)])
    assert cache.read([block("a", 1000), block("b", 500), block("d", 7)]) == 1500
    assert cache.read([block("a", 1000), block("x", 500), block("c", 10)]) == 0
    assert cache.read([block("b", 500)]) == 0


def test_the_bill_of_two_calls_is_what_it_is_by_hand(suite: Any) -> None:
    """The second call reads the first one's request, and writes what came after it."""
    systems, prices = suite("cost.systems"), suite("cost.prices")
    items = [
        {"role": "user", "content": LONG * 10},
        {"role": "assistant", "content": "One."},
        {"role": "user", "content": "And then?"},
        {"role": "assistant", "content": "Two."},
    ]
    long, one, then, two = (suite("cost.session").size_of(item) for item in items)
    bill = _replay(suite, items, systems.Unfolded(1_000_000))
    assert (bill.calls, bill.breaks, bill.folds) == (2, 0, 0)
    assert (bill.read, bill.written, bill.output) == (long, long + one + then, one + two)
    anthropic, openai = prices.PRICES
    assert bill.cost(anthropic) == pytest.approx(
        0.1 * long + 1.25 * (long + one + then) + 5 * (one + two)
    )
    assert bill.cost(openai) == pytest.approx(0.1 * long + long + one + then + 8 * (one + two))


def test_a_sliding_window_parts_no_call_from_its_result(suite: Any) -> None:
    """It stays below the trigger, keeps the instructions, and breaks the prefix at each move."""
    items = _history(30)
    for item in items:  # a long call before a short result: the window ends between the two
        for call in item.get("tool_calls", ()):
            call["function"]["arguments"] = json.dumps({"text": LONG})
        if item["role"] == "tool":
            item["content"] = "done"
    session = suite("cost.systems").SlidingWindow(3_000)
    sizes = [suite("cost.session").size_of(item) for item in items]
    firsts: set[str] = set()

    def note(_: object) -> None:
        roles = [items[block.key]["role"] for block in session.blocks]
        assert roles[0] == "system"
        firsts.add(roles[1])

    bill = suite("cost.replay").replay(items, sizes, session, note)
    assert "tool" not in firsts
    assert bill.over == 0
    assert bill.breaks > 10


@pytest.mark.parametrize("name", ["separate prompt", "append mode"])
def test_chatfold_is_billed_for_what_its_summaries_take(suite: Any, name: str) -> None:
    """A separate prompt is all fresh; a live request is read from the cache but for its end."""
    systems = suite("cost.systems")
    items = _history(60)
    none = _replay(suite, items, systems.Unfolded(8_000))
    session = systems.OWN[f"chatfold, {name}"](8_000)
    bill = _replay(suite, items, session)
    assert bill.folds == bill.breaks == bill.asked > 1
    assert bill.over == 0
    assert session.tokens == sum(map(suite("cost.session").size_of, session.items))
    assert bill.output > none.output
    if name == "append mode":
        assert bill.fresh == 0
    else:
        assert bill.fresh == bill.shown > 0.8 * bill.removed
    assert bill.cost(suite("cost.prices").PRICES[0]) < none.cost(suite("cost.prices").PRICES[0])


def test_append_mode_reads_what_the_agent_has_sent(suite: Any) -> None:
    """The live request costs a tenth where the separate prompt costs all."""
    systems = suite("cost.systems")
    items = _history(60)
    prompt = _replay(suite, items, systems.Chatfold(8_000))
    append = _replay(suite, items, systems.ChatfoldAppend(8_000))
    assert append.read > prompt.read
    assert append.written + append.fresh < prompt.written + prompt.fresh


def test_two_summaries_of_a_length_are_never_the_same_block(suite: Any) -> None:
    """Otherwise the second would be read from the first one's cache."""
    session = suite("cost.session")
    texts = {session.summary_text(2_000, number) for number in range(50)}
    assert len(texts) == 50
    from chatfold.tokens.estimate import estimate

    assert all(abs(estimate(text) - 2_000) < 40 for text in texts)


def test_the_judge_sees_an_orphan_and_a_lost_request(suite: Any) -> None:
    """A fold that parts a call from its result is invalid, and so counted."""
    validity = suite("validity")
    items = _history(3)
    broken = [0, {"role": "user", "content": "Summary."}, *range(11, len(items))]
    whole = [0, {"role": "user", "content": "Summary."}, *range(9, len(items))]
    case = validity.Case("whole", items)
    count = validity.counted([case], lambda _: iter([broken, whole, None]), "one")
    assert (count.runs, count.folds, count.invalid, count.kept) == (3, 2, 1, 1)
    assert count.rules == {"orphan_result": 1}


def test_chatfold_has_no_invalid_fold_in_the_grid(suite: Any) -> None:
    """On a made history, open calls included."""
    validity = suite("validity")
    cases = list(validity.cases([_history(8)]))
    assert {case.kind for case in cases} == {
        "whole",
        "half",
        "open call",
        "result lost",
        "three folds",
    }
    count = validity.counted(cases, validity.by_chatfold, "chatfold")
    assert count.folds > 5
    assert count.invalid == count.errors == 0


def test_a_table_is_aligned_and_its_json_has_the_same_cells(suite: Any) -> None:
    """Numbers stand as the column says, and missing ones as a dash."""
    table = suite("tables").Table("Cost", {"": "", "share": ".2f", "folds": "d"})
    table.rows += [["one", 0.5, 3], ["another", None, 10]]
    assert str(table).splitlines()[2:] == [
        "         share  folds",
        "-------  -----  -----",
        "one       0.50      3",
        "another      -     10",
    ]
    assert table.as_json()["rows"][1] == {"": "another", "share": None, "folds": 10}


def test_a_process_answers_one_line_for_each_request(suite: Any) -> None:
    """The driver of chatfold itself, by the protocol by which the other libraries are driven."""
    workers = suite("workers")
    worker = workers.Worker("chatfold", Path(sys.executable))
    try:
        worker.ask("load", items=_history(12))
        options = {"variant": "cold", "trigger": 1, "keep": 1}
        assert worker.ask("run", traced=False, **options)["ms"] > 0
        assert worker.ask("run", traced=True, **options)["bytes"] > 0
        for variant in worker.checked:
            worker.ask("load", items=_history(12))
            worker.ask("begin", variant=variant, trigger=1, keep=1)
            assert worker.ask("check")["us"] > 0
            worker.ask("end")
        with pytest.raises(workers.PeerError, match="TypeError"):
            worker.ask("start", nonsense=1)
    finally:
        worker.close()


def test_the_command_says_what_it_leaves_out(checkout: Path, tmp_path: Path) -> None:
    """Without real histories there is no table of validity, and no error."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--parts", "validity", "--peers"],
        cwd=checkout,
        env={**os.environ, "CHATFOLD_SHARED": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "left out: validity" in done.stdout
    assert "versions: chatfold" in done.stdout
