"""The systems whose cost is compared: none, a sliding window, chatfold, and other libraries."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from benchmarks.workers import Worker
from chatfold import ChatContext, Completion, Policy, Prompt
from chatfold.policy import LEAST_KEPT
from chatfold.tokens.estimate import EstimateCounter, estimate

from .prices import Block
from .session import Asked, Item, Session, size_of, summary_text, summary_tokens

Start: TypeAlias = Callable[[int], Session]
"""Begins a conversation, given the trigger."""

_SHORTEST = 1_000
_MARK = re.compile(r"\[\[summary \d+\]\]")


class Unfolded(Session):
    """Nothing is ever taken out."""

    def before_call(self) -> list[Asked]:
        return []


class SlidingWindow(Session):
    """At every call above the trigger, the oldest messages are left out; a call keeps its result.

    What is left out is not told to anybody, and nobody is asked.
    """

    def __init__(self, trigger: int) -> None:
        super().__init__(trigger)
        self._starts: list[bool] = []
        self._told = 0

    def add(self, index: int, item: Item, tokens: int) -> None:
        super().add(index, item, tokens)
        self._starts.append(item["role"] != "tool")
        if item["role"] in ("system", "developer") and self._told == index:
            self._told += 1

    def before_call(self) -> list[Asked]:
        while self.tokens >= self.trigger and len(self.blocks) > self._told + 1:
            del self.blocks[self._told], self._starts[self._told]
            while len(self.blocks) > self._told + 1 and not self._starts[self._told]:
                del self.blocks[self._told], self._starts[self._told]
        return []


class Chatfold(Session):
    """`maybe_summarize` before every call.

    Args:
        trigger: The policy's `max_tokens`.
        keep_tokens: The policy's; None leaves it to its default, a fifth of the trigger.
    """

    def __init__(self, trigger: int, keep_tokens: int | None = None) -> None:
        super().__init__(trigger)
        self.items: list[Item] = []
        self.policy = Policy(max_tokens=trigger, keep_tokens=keep_tokens)
        self.context: ChatContext[Item] = ChatContext(
            self.items, shape="openai_chat", counter=EstimateCounter(), policy=self.policy
        )
        self.asked: list[Asked] = []
        self._answers = 0
        self._known: dict[int, Block] = {}  # by identity: the list holds the objects

    def add(self, index: int, item: Item, tokens: int) -> None:
        super().add(index, item, tokens)
        self.items.append(item)
        self._known[id(item)] = self.blocks[-1]

    def before_call(self) -> list[Asked]:
        self.asked = []
        if self.fold():
            self.blocks = [self._known.get(id(item)) or self.written(item) for item in self.items]
        return self.asked

    def fold(self) -> bool:
        """Ask the policy, and fold if it says so; return whether the list changed."""
        return self.context.maybe_summarize(self._answer, timeout=None).changed

    def written(self, item: Item) -> Block:
        """Return the block of an item that chatfold wrote."""
        block = Block(str(item["content"]), size_of(item))
        self._known[id(item)] = block
        return block

    def answer(self, prompt: Prompt) -> str:
        """Answer in the length that is asked for, and note what was asked."""
        text = summary_text(prompt.max_tokens, self._count())
        shown = estimate(prompt.system) + estimate(prompt.user)
        self.asked.append(Asked(shown, estimate(text)))
        return text

    def _count(self) -> int:
        self._answers += 1
        return self._answers

    def _answer(self, prompt: Prompt) -> Completion:
        return Completion(self.answer(prompt))


class ChatfoldAppend(Chatfold):
    """The same policy in append mode; the request is taken from `flow`, which hosts use.

    `maybe_summarize` needs a client for it, and sends what `flow` hands out here.
    """

    def fold(self) -> bool:
        if self.tokens < self.trigger:
            return False
        flow = self.context.flow(
            keep_last_turns=self.policy.kept_turns(),
            keep_tokens=self.policy.kept_tokens(None),
            min_gain=self.policy.min_gain,
            mode="append",
        )
        while flow.prompt is not None:
            flow.send(Completion(self.answer(flow.prompt)))
        return flow.outcome is not None and flow.outcome.changed

    def answer(self, prompt: Prompt) -> str:
        if prompt.live is None:
            return super().answer(prompt)
        text = summary_text(prompt.max_tokens, self._count())
        question: Any = prompt.live.item
        blocks = [self._known[id(item)] for item in prompt.live.items]
        blocks.append(Block(str(question["content"]), size_of(question)))
        self.asked.append(Asked(sum(b.tokens for b in blocks), estimate(text), blocks))
        return text


class Peer(Session):
    """Another library, which folds when the request reaches the trigger."""

    def __init__(self, worker: Worker, variant: str, trigger: int) -> None:
        super().__init__(trigger)
        self._worker = worker
        self._new: list[tuple[int, Item]] = []
        self._sizes: dict[int, int] = {}
        self._summaries: dict[str, str] = {}
        keep = Policy(max_tokens=trigger).kept_tokens(None)
        worker.ask("start", variant=variant, trigger=trigger, keep=keep)

    def add(self, index: int, item: Item, tokens: int) -> None:
        super().add(index, item, tokens)
        self._new.append((index, item))
        self._sizes[index] = tokens

    def before_call(self) -> list[Asked]:
        if self.tokens < self.trigger:
            return []
        answer = self._worker.ask("fold", items=self._new)
        self._new = []
        entries: list[int | Item] = answer["entries"]
        left = {entry if isinstance(entry, int) else self._text(entry) for entry in entries}
        removed = sum(block.tokens for block in self.blocks if block.key not in left)
        output = self._write(entries, summary_tokens(removed), len(answer["asked"]))
        self.blocks = [self._block(entry) for entry in entries]
        return [Asked(estimate(self._filled(text)), output) for text in answer["asked"]]

    def _write(self, entries: list[int | Item], tokens: int, requests: int) -> int:
        """Put words in the place of the new marks; return how long they are."""
        text = summary_text(max(tokens // max(requests, 1), 1), len(self._summaries))
        for entry in entries:
            for mark in _MARK.findall("" if isinstance(entry, int) else entry["content"]):
                self._summaries.setdefault(mark, text)
        return estimate(text)

    def _block(self, entry: int | Item) -> Block:
        if isinstance(entry, int):
            return Block(entry, self._sizes[entry])
        filled = {**entry, "content": self._text(entry)}
        return Block(filled["content"], size_of(filled))

    def _text(self, entry: Item) -> str:
        return self._filled(entry["content"])

    def _filled(self, text: str) -> str:
        return _MARK.sub(lambda mark: self._summaries.get(mark[0], mark[0]), text)


OWN: dict[str, Start] = {
    "no folding": Unfolded,
    "sliding window": SlidingWindow,
    "chatfold, separate prompt": Chatfold,
    "chatfold, append mode": ChatfoldAppend,
    "chatfold, separate prompt, short tail": partial(Chatfold, keep_tokens=LEAST_KEPT),
    "chatfold, append mode, short tail": partial(ChatfoldAppend, keep_tokens=LEAST_KEPT),
    "chatfold, separate prompt, shortest tail": partial(Chatfold, keep_tokens=_SHORTEST),
    "chatfold, append mode, shortest tail": partial(ChatfoldAppend, keep_tokens=_SHORTEST),
}
"""What runs in this process.

The short tail is the least that a policy takes by default for any trigger; the shortest is about
what 4 messages are. They are there because the defaults of other libraries keep 4 to 20 messages,
and not a fifth of the trigger; "same tail" among them keeps as many tokens as chatfold's default.
"""


def peers(workers: list[Worker]) -> dict[str, Start]:
    """Return every way in which the other libraries are run, by its name in the table."""
    found: dict[str, Start] = {}
    for worker in workers:
        for variant in worker.variants:
            found[f"{worker.name}, {variant}"] = _start(worker, variant)
    return found


def _start(worker: Worker, variant: str) -> Start:
    return lambda trigger: Peer(worker, variant, trigger)
