"""Many threads and many tasks on one context at once; for as long as one likes.

    python tests/crowd.py --seconds 3600

Threads add to the list what users say, what models call and what tools return; tasks of one event
loop ask at each of their turns whether to fold, fold, take folds back and give them up. A few
times a second the list is looked at: the second validator has to find nothing, each thread's items
have to stand in their order, and what is no longer in the list has to have been in a prompt.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import threading
import time
from collections import Counter
from typing import Any

from each_turn import Words, failing
from validator import validate

from chatfold import BusyError, ChatContext, ChatfoldError, Completion, Prompt
from chatfold.policy import Policy

__all__ = ["Crowd"]

MARK = re.compile(r"mark-(\d+)-(\d+)-")


class Crowd:
    """One context, and all who are at it.

    Args:
        seconds: How long it goes on.
        threads: Number of threads that add to the list.
        tasks: Number of tasks that fold it.
        seed: Seed of what each of them does.
        pause: Seconds that a thread waits between two items, on average.
    """

    def __init__(
        self,
        seconds: float,
        *,
        threads: int = 8,
        tasks: int = 100,
        seed: int = 1,
        pause: float = 0.004,
    ) -> None:
        self.until = time.monotonic() + seconds
        self.threads, self.tasks, self.seed, self.pause = threads, tasks, seed, pause
        policy = Policy(max_tokens=3_000, keep_tokens=600, background_at=0.7, backoff=0.05)
        self.ctx: ChatContext[Any] = ChatContext(
            shape="openai_responses", policy=policy, counter=Words(), grounding="report"
        )
        self.reasons: Counter[str] = Counter()
        self.faults: list[str] = []
        self.added = 0
        self._said: set[str] = set()
        self._shown: set[str] = set()
        self._lock = threading.Lock()  # of the two sets
        self._asked = 0
        self.most = 0  # models asked at the same time

    def run(self) -> None:
        """Let them all do what they do until the time is over."""
        crowd = [threading.Thread(target=self._speak, args=(n,)) for n in range(self.threads)]
        for thread in crowd:
            thread.start()
        asyncio.run(self._fold())
        for thread in crowd:
            thread.join()
        self.look()

    # The threads

    def _speak(self, number: int) -> None:
        rng, count, waiting = random.Random(self.seed * 1_000 + number), 0, list[str]()
        try:
            while time.monotonic() < self.until:
                count += 1
                mark = f"mark-{number}-{count}-"
                text = f"{mark} {'word ' * rng.randint(1, 40)}"
                with self._lock:
                    self._said.add(mark)
                    self.added += 1
                self.ctx.append(self._item(rng, text, f"call-{number}-{count}", waiting))
                time.sleep(rng.random() * 2 * self.pause)
        except BaseException as error:
            self.faults.append(f"a thread that adds raised {error!r}")
            raise

    def _item(self, rng: random.Random, text: str, name: str, waiting: list[str]) -> Any:
        """Return what is added next; a call is answered by the same thread, some items later."""
        if waiting and rng.random() < 0.5:
            return {"type": "function_call_output", "call_id": waiting.pop(0), "output": text}
        if rng.random() < 0.2:
            waiting.append(name)
            arguments = json.dumps({"q": text})
            call = {
                "type": "function_call",
                "call_id": name,
                "name": "find",
                "arguments": arguments,
            }
            return {**call, "async": True}
        return {"role": rng.choice(["user", "assistant"]), "content": text}

    # The tasks

    async def _fold(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(self.tasks):
                group.create_task(self._ask(random.Random(self.seed * 7_000 + number)))
            group.create_task(self._watch())

    async def _ask(self, rng: random.Random) -> None:
        ctx = self.ctx
        while time.monotonic() < self.until:
            await asyncio.sleep(rng.random() * 0.1)
            what, fold = rng.random(), ctx.background
            if what < 0.6:
                outcome = await ctx.amaybe_summarize(self._model, background=what < 0.4)
            elif what < 0.8:
                outcome = ctx.maybe_summarize(self._model, background=True)
            elif what < 0.82 and fold is not None:
                outcome = await asyncio.to_thread(fold.cancel)
            elif what < 0.83:
                try:
                    outcome = await ctx.asummarize(self._model, keep_last_turns=rng.randint(0, 3))
                except ChatfoldError as error:
                    self.reasons[type(error).__name__] += 1
                    continue
            elif what < 0.84:
                try:
                    outcome = ctx.undo()
                except BusyError:
                    self.reasons["BusyError"] += 1
                    continue
            else:
                ctx.load()
                continue
            self.reasons[outcome.reason] += 1

    async def _model(self, prompt: Prompt) -> Completion:
        self._asked += 1
        self.most = max(self.most, self._asked)
        try:
            await asyncio.sleep(random.random() * 0.03)
        finally:
            self._asked -= 1
        if random.random() < 0.1:
            raise failing()
        with self._lock:
            self._shown |= {found[0] for found in MARK.finditer(prompt.user)}
        return Completion("short")

    # What has to hold

    async def _watch(self) -> None:
        while time.monotonic() < self.until:
            await asyncio.sleep(0.3)
            self.look()

    def look(self) -> None:
        """Look at the list, and note what is wrong."""
        with self._lock:
            said = set(self._said)
        items = list(self.ctx.items)
        broken = [v for v in validate(items, "openai_responses") if not v.open]
        self.faults += [f"{v.rule} at {v.index}: {v.detail}" for v in broken]
        here = [found for item in items for found in MARK.finditer(json.dumps(item))]
        with self._lock:
            lost = said - {found[0] for found in here} - self._shown
            # Said by a thread that is just about to add it.
            lost = {mark for mark in lost if mark not in self._latest(said)}
            self._said -= self._shown
            self._shown &= self._said
        self.faults += [f"{mark} is lost" for mark in sorted(lost)]
        if self.ctx.load().items > len(self.ctx.items):
            self.faults.append("more items are known than there are")

    @staticmethod
    def _latest(said: set[str]) -> set[str]:
        """Return each thread's latest mark."""
        last: dict[str, int] = {}
        for mark in said:
            _, thread, number, _ = mark.split("-")
            last[thread] = max(last.get(thread, 0), int(number))
        return {f"mark-{thread}-{number}-" for thread, number in last.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    crowd = Crowd(given.seconds, threads=given.threads, tasks=given.tasks, seed=given.seed)
    crowd.run()
    print(f"{crowd.added:,} items added, {len(crowd.ctx.items):,} left, {crowd.most} model at once")
    for reason, count in crowd.reasons.most_common():
        print(f"  {count:8,} {reason}")
    print("\n".join(crowd.faults[:20]) or "nothing was wrong")


if __name__ == "__main__":
    main()
