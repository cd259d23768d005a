"""Whole conversations by policy, in any order of turns, folds, failures, edits and reports.

After every step the list is looked at by the second validator, and every mark that was ever said
has to be in the list or in a prompt that was answered.
"""

from __future__ import annotations

import json
import re
from typing import Any, get_args

from background import LIMIT, Gate, wait_until
from each_turn import Model, Words, failing
from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from laws import plainly, same_objects, step
from validator import validate

from chatfold import BusyError, ChatContext, Completion, Outcome, Prompt
from chatfold.background import BackgroundFold
from chatfold.core.plan import Reason
from chatfold.policy import Policy

SHAPES = ("openai_chat", "openai_responses", "anthropic", "gemini", "bedrock")
TAG = "<chat_history_summary digest="
KEPT = frozenset({"summarized", "undone"})


class Keeping(Gate):
    """A model that is opened later, and keeps what it was shown."""

    def __init__(self, shown: set[str], **options: Any) -> None:
        super().__init__(**options)
        self.shown = shown

    def __call__(self, prompt: Prompt) -> Completion:
        completion = super().__call__(prompt)
        self.shown |= marks(prompt.user)
        return completion


def marks(value: Any) -> set[str]:
    """Return the marks that stand anywhere in it."""
    text = value if isinstance(value, str) else json.dumps(value)
    return set(re.findall(r"mark\d+x", text))


def parallel(shape: str, name: str, outputs: list[str]) -> tuple[list[Any], list[Any]]:
    """Return calls that the model makes in one go, and their results."""
    single = [step(shape, f"{name}_{n}", 1, [output]) for n, output in enumerate(outputs)]
    calls, results = [made[0] for made in single], [made[1] for made in single]
    key = {"openai_chat": "tool_calls", "gemini": "parts"}.get(shape, "content")
    if shape == "openai_responses":
        return calls, results
    if shape != "openai_chat":
        results = [{**results[0], key: [part for item in results for part in item[key]]}]
    return [{**calls[0], key: [part for item in calls for part in item[key]]}], results


class Turns(RuleBasedStateMachine):
    """One conversation."""

    @initialize(
        shape=st.sampled_from(SHAPES),
        early=st.sampled_from([0.5, 1.0]),
        keep=st.sampled_from([0, 60, 150]),
        window=st.sampled_from([None, 500]),
    )
    def begin(self, shape: str, early: float, keep: int, window: int | None) -> None:
        policy = Policy(
            max_tokens=300,
            keep_tokens=keep,
            window=window,
            background_at=early,
            max_items=30,
            backoff=0,
        )
        self.shape = shape
        self.items: list[Any] = []
        self.ctx: ChatContext[Any] = ChatContext(
            self.items, shape=shape, policy=policy, counter=Words(), grounding="report"
        )
        self.number = 0
        self.said: set[str] = set()
        self.shown: set[str] = set()
        self.open: list[Any] = []  # the results that are to come
        self.speaker = ""
        self.fold: tuple[BackgroundFold[Any], Keeping] | None = None
        self.gates: list[Keeping] = []

    def words(self, count: int) -> str:
        self.number += 1
        self.said.add(f"mark{self.number}x")
        return f"mark{self.number}x " + "word " * count

    def model(self, prompt: Prompt) -> Completion:
        self.shown |= marks(prompt.user)
        return Model()(prompt)

    def asked(self, call: Any) -> Outcome[Any]:
        """Return what a call of the owner says; where it changes nothing, nothing changes."""
        before, texts = list(self.items), json.dumps(self.items)
        outcome: Outcome[Any] = call()
        event(outcome.reason)
        assert outcome.reason in get_args(Reason)
        assert outcome.changed == (outcome.reason in KEPT)
        if not outcome.changed:
            assert same_objects(self.items, before)
            assert json.dumps(self.items) == texts
        assert outcome.tokens_after <= outcome.tokens_before or outcome.reason == "undone"
        assert str(outcome)
        return outcome

    # What is said

    @precondition(lambda self: not self.open)
    @rule(count=st.integers(1, 60), more=st.booleans())
    def user(self, count: int, more: bool) -> None:
        role = "assistant" if self.speaker == "user" else "user"
        if more and self.shape in ("openai_chat", "openai_responses"):
            role = "user"
        self.speaker = role
        message = {"role": role, "content": self.words(count)}
        self.ctx.extend(plainly(self.shape, [message]))

    @precondition(lambda self: not self.open and self.speaker != "user")
    @rule(turns=st.integers(1, 3), count=st.integers(10, 60))
    def talk(self, turns: int, count: int) -> None:
        for role in ("user", "assistant") * turns:
            message = {"role": role, "content": self.words(count)}
            self.items.extend(plainly(self.shape, [message]))
        self.speaker = "assistant"

    @precondition(lambda self: not self.open and self.speaker == "user")
    @rule(count=st.integers(1, 3), size=st.integers(1, 60), answered=st.booleans())
    def calls(self, count: int, size: int, answered: bool) -> None:
        outputs = [self.words(size) for _ in range(count)]
        calls, self.open = parallel(self.shape, f"call_{self.number}", outputs)
        self.items.extend(calls)  # behind the context's back
        self.speaker = "tool"
        if answered:
            self.results()

    @precondition(lambda self: self.open)
    @rule()
    def results(self) -> None:
        self.ctx.extend(self.open)
        self.open = []
        self.speaker = "user"  # as far as it matters who speaks next

    # What is folded

    @rule(fails=st.booleans())
    def maybe(self, fails: bool) -> None:
        llm = Model(error=failing()) if fails else self.model
        ended = self.fold is not None and self.fold[0].done
        outcome = self.asked(lambda: self.ctx.maybe_summarize(llm))
        if ended or outcome.model == "extractive":
            self.took(outcome)

    @precondition(lambda self: self.ctx.background is None)
    @rule(fails=st.booleans())
    def begin_in_background(self, fails: bool) -> None:
        gate = Keeping(self.shown, error=failing() if fails else None)
        self.gates.append(gate)
        outcome = self.asked(lambda: self.ctx.maybe_summarize(gate, background=True))
        if outcome.reason == "started":
            fold = self.ctx.background
            assert fold is not None
            self.fold = fold, gate
            # The rules go by where it is, and must not depend on how quick its thread was.
            wait_until(lambda: gate.asked.is_set() or fold.done)
        else:
            self.took(outcome)

    @precondition(lambda self: self.fold is not None)
    @rule(puts=st.booleans())
    def ready(self, puts: bool) -> None:
        assert self.fold is not None
        fold, gate = self.fold
        before = list(self.items)
        gate.open.set()
        assert fold.wait(LIMIT)
        assert same_objects(self.items, before)
        if puts:
            self.took(self.asked(lambda: self.ctx.maybe_summarize(self.model, background=True)))

    @precondition(lambda self: self.fold is not None)
    @rule()
    def give_up(self) -> None:
        assert self.fold is not None
        fold, gate = self.fold
        self.asked(fold.cancel)
        assert fold.done
        gate.open.set()  # whatever it says is discarded
        wait_until(lambda: not fold.working)
        self.fold = None

    def took(self, outcome: Outcome[Any]) -> None:
        """Note that a fold has ended, and that the last resort has shown itself all."""
        if outcome.model == "extractive":
            self.shown |= marks(list(outcome.removed))
        if self.fold is not None and self.fold[0].settled:
            self.fold = None

    @rule(turns=st.integers(0, 2))
    def summarize(self, turns: int) -> None:
        running = self.fold is not None and not self.fold[0].settled
        outcome = self.asked(lambda: self.ctx.summarize(self.model, keep_last_turns=turns))
        assert (outcome.reason == "busy") == running

    @rule()
    def undo(self) -> None:
        try:
            self.asked(self.ctx.undo)
        except BusyError:
            assert self.fold is not None

    # What the owner does besides

    @precondition(lambda self: self.items)
    @rule(place=st.integers(0, 99))
    def edit(self, place: int) -> None:
        item = self.items[place % len(self.items)]
        if isinstance(item.get("content"), str) and TAG not in item["content"]:
            item["content"] += " " + self.words(1)

    @precondition(lambda self: self.items)
    @rule(tokens=st.integers(1, 900))
    def report(self, tokens: int) -> None:
        self.ctx.record_usage({"input_tokens": tokens, "output_tokens": 5})

    @rule()
    def ask_how_long_it_is(self) -> None:
        assert self.ctx.load().items == len(self.items)

    # What always holds

    @invariant()
    def the_provider_takes_the_list(self) -> None:
        assert [v for v in validate(self.items, self.shape) if not v.open] == []
        assert [p for p in self.ctx.check() if p.severity == "error"] == []

    @invariant()
    def nothing_is_lost(self) -> None:
        coming = marks(self.open)
        assert self.said - marks(self.items) - coming <= self.shown

    @invariant()
    def an_open_call_stays(self) -> None:
        if self.open:
            assert any(call.status == "open" for call in self.ctx.tool_calls())

    @invariant()
    def there_is_one_summary(self) -> None:
        texts = [json.dumps(item).replace("\\", "") for item in self.items]
        found = [index for index, text in enumerate(texts) if TAG in text]
        assert found in ([], [0])
        again: ChatContext[Any] = ChatContext(json.loads(json.dumps(self.items)), shape=self.shape)
        assert (again._state.snapshot().previous is not None) == bool(found)

    def teardown(self) -> None:
        for gate in getattr(self, "gates", []):
            gate.open.set()


TestTurns = Turns.TestCase
TestTurns.settings = settings(
    max_examples=max(10, settings().max_examples // 3), stateful_step_count=50, deadline=None
)
