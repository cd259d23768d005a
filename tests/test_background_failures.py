"""Folds in the background that come to nothing: reported once, and nothing is left behind."""

from __future__ import annotations

import contextvars
import logging
import subprocess
import sys
import threading
from concurrent.futures import CancelledError
from typing import Any

import pytest
from background import LIMIT, background_threads, finished, slow
from each_turn import Told, context, failing, timed, turn
from fake_native import NativeServer, native_server
from laws import plainly, same_objects, step
from logs import records
from summarizers.test_native import BACKENDS, clients
from test_native_folds import FAMILIES, history

from chatfold import ChatContext, Prompt, SummarizerError
from chatfold.policy import Policy

__all__ = ["native_server"]


def never(prompt: Prompt) -> str:
    raise AssertionError("a model was asked")


def begun(ctx: ChatContext[Any], llm: Any, **options: Any) -> None:
    assert ctx.maybe_summarize(llm, background=True, **options).reason == "started"


def test_an_error_is_reported_once() -> None:
    """In the outcome of the next turn, in one warning without words, and by one event."""
    told, (ctx, gate) = Told(), slow()
    gate.error = failing()
    with records() as found:
        begun(ctx, gate, on_event=told)
        finished(ctx, gate)
        outcome = ctx.maybe_summarize(never, background=True, on_event=told)
        assert (outcome.reason, outcome.error, outcome.over_limit) == ("failed", gate.error, True)
        assert ctx.maybe_summarize(never, background=True).reason == "unchanged_head"
    assert told.kinds == ["before", "failed"]
    warned = [r.getMessage() for r in found if r.levelno >= logging.WARNING]
    assert warned == ["not summarized (failed): SummarizerError"]


def test_an_error_is_raised_where_the_caller_wants_it() -> None:
    """In the call that finds it, once; the list is untouched."""
    ctx, gate = slow()
    gate.error = failing()
    begun(ctx, gate)
    finished(ctx, gate)
    with pytest.raises(SummarizerError):
        ctx.maybe_summarize(never, background=True, on_error="raise")
    assert ctx.maybe_summarize(never, background=True, on_error="raise").error is None
    assert len(ctx.items) == 20


def test_above_the_window_a_failed_fold_is_made_without_a_model() -> None:
    """At once, in the turn that finds it; the next one waits for its time."""
    policy = Policy(max_tokens=1_000, keep_tokens=200, window=1_500)
    ctx, gate = slow(policy=policy)
    timed(ctx)
    gate.error = failing()
    begun(ctx, gate)
    ctx.extend([item for n in range(10, 16) for item in turn(n)])
    finished(ctx, gate)
    outcome = ctx.maybe_summarize(never, background=True)
    assert (outcome.changed, outcome.model) == (True, "extractive")
    assert outcome.error is gate.error


def broken(*_: Any) -> Any:
    raise LookupError("secret words")


class Broken:
    """Templates that do not render."""

    render = broken


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({"pin": broken}, {}),
        ({}, {"redact": broken}),
        ({}, {"post_process": broken}),
        ({}, {"templates": Broken()}),
        ({}, {"templates": {"summarize_system.jinja": "{{ language.nothing.here }}"}}),
        ({}, {"max_prompt_tokens": 1_000, "instructions": "w " * 5_000}),
    ],
)
def test_an_error_of_the_callers_own_code_is_reported_too(
    given: dict[str, Any], options: dict[str, Any]
) -> None:
    """It is raised in the worker, where nobody could catch it."""
    ctx, gate = slow(**given)
    before = list(ctx.items)
    begun(ctx, gate, **options)
    finished(ctx, gate)
    outcome = ctx.maybe_summarize(never, background=True)
    assert outcome.reason == "failed"
    assert outcome.error is not None
    assert same_objects(ctx.items, before)
    assert ctx.background is None
    assert not ctx._state.running.locked()


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), CancelledError()])
def test_a_model_that_ends_the_thread_ends_the_fold(error: BaseException) -> None:
    """Whatever it raises, the next turn knows, and nobody waits for ever."""
    ctx, gate = slow()
    gate.error = error
    begun(ctx, gate, timeout=None)
    finished(ctx, gate)
    outcome = ctx.maybe_summarize(never, background=True)
    assert outcome.reason == "failed"
    assert outcome.error is error or outcome.error.__cause__ is error  # type: ignore[union-attr]


def test_a_store_that_is_broken_off_lets_the_next_fold_begin() -> None:
    """Ctrl-C while a turn writes the originals is not swallowed, and leaves no lock behind."""

    class Store:
        def save(self, *_: Any, **__: Any) -> None:
            if threading.current_thread() is threading.main_thread():
                raise KeyboardInterrupt

        def load(self, *_: Any) -> None:
            return None

        def discard(self, *_: Any) -> None:
            return None

    ctx, gate = slow(0, store=Store(), key="c", shape="bedrock")
    ctx.extend(plainly("bedrock", [item for n in range(10) for item in turn(n)]))
    fold = ctx.summarize_in_background(gate, keep_last_turns=0)
    finished(ctx, gate)
    ctx.extend(plainly("bedrock", turn(10)))  # one item with the summary, so it is written again
    before = list(ctx.items)
    with pytest.raises(KeyboardInterrupt):
        fold.apply_if_ready()
    assert same_objects(ctx.items, before)
    assert not ctx._state.running.locked()


# --- nothing to do --------------------------------------------------------------------------------


@pytest.mark.parametrize("why", ["blocked_by_open_calls", "server_managed", "no_gain"])
def test_where_nothing_can_be_folded_no_fold_is_begun_at_each_turn(why: str) -> None:
    """The answer is known until a little more has come, or a minute has passed."""
    policy = Policy(max_tokens=1_000, keep_tokens=950 if why == "no_gain" else 200)
    ctx, told = context(10, policy=policy, server_managed=why == "server_managed"), Told()
    if why == "blocked_by_open_calls":
        ctx.items[1:1] = step("openai_chat", "slow", 1, [])
        del ctx.items[3:]
        ctx.append({"role": "assistant", "content": "w " * 1_000})
    clock = timed(ctx)
    for n in range(9):
        ctx.append({"role": "assistant", "content": f"note {n}"})
        outcome = ctx.maybe_summarize(never, background=True, on_event=told)
        if ctx.background is not None:
            assert ctx.background.wait(LIMIT)
        assert outcome.reason == ("started" if n == 0 else why)
        clock.now += 2
    assert told.kinds == ["before", "skipped"]
    clock.now += 60
    assert ctx.maybe_summarize(never, background=True).reason == "started"


# --- around it ------------------------------------------------------------------------------------


def test_the_worker_sees_the_callers_context_variables() -> None:
    """Tracing libraries hang the call below the turn that began it."""
    var = contextvars.ContextVar[str]("var")
    var.set("here")
    seen: list[str] = []

    def looking(prompt: Prompt) -> str:
        seen.append(var.get("lost"))
        return "short"

    ctx, _ = slow()
    fold = ctx.summarize_in_background(looking, keep_last_turns=1)
    assert fold.wait(LIMIT)
    assert fold.apply_if_ready().changed
    assert seen == ["here"]


def test_a_model_that_hangs_does_not_keep_the_program_from_ending() -> None:
    """Nor does a fold that nobody has put in."""
    code = (
        "import threading, chatfold\n"
        "items = [{'role': r, 'content': 'w ' * 400} for r in ('user', 'assistant') * 4]\n"
        "ctx, asked = chatfold.ChatContext(items), threading.Event()\n"
        "def hang(prompt):\n"
        "    asked.set()\n"
        "    threading.Event().wait()\n"
        "ctx.summarize_in_background(hang, keep_last_turns=1)\n"
        "assert asked.wait(20)\n"
        "print('end')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_no_thread_is_at_work_when_the_fold_is_in() -> None:
    """One works on each fold, and is done with it."""
    ctx = context()
    for n in range(40):
        ctx.extend(turn(n))
        ctx.maybe_summarize(lambda prompt: "short", background=True)
        if ctx.background is not None:
            assert ctx.background.wait(LIMIT)
        assert len(background_threads()) <= 1
    while background_threads():
        assert threading.Event().wait(0.001) is False


@FAMILIES
def test_a_provider_folds_in_the_background_too(native_server: NativeServer, family: str) -> None:
    """The same items go in as by `summarize`; nothing is sent where nothing can be folded."""
    items = history(family)
    ctx: ChatContext[Any] = ChatContext(items, model="claude-opus-5-5", policy=Policy(max_items=9))
    with clients(native_server, family, "sync") as client:
        backend = BACKENDS[family](client, "claude-opus-5-5", retries=0)
        outcome = ctx.maybe_summarize(backend, background=True, keep_last_turns=2)
        assert outcome.reason == "started"
        assert ctx.background is not None
        assert ctx.background.wait(LIMIT)
        ctx.append({"role": "user", "content": "late"})
        outcome = ctx.maybe_summarize(backend, background=True)
        assert outcome.reason == "summarized"
        assert not ctx.check()
        fold = ctx.summarize_in_background(backend, keep_last_turns=9)
        assert fold.wait(LIMIT)
        assert fold.apply_if_ready().reason in ("too_few_turns", "nothing_to_summarize")


def test_a_summarizer_that_cannot_even_be_made_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a key nothing is begun; the turn goes on, and the next one waits."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    told, (ctx, _) = Told(), slow()
    outcome = ctx.maybe_summarize("openai:gpt-5-mini", background=True, on_event=told)
    assert (outcome.reason, type(outcome.error)) == ("failed", SummarizerError)
    assert told.kinds == ["before", "failed"]
    assert ctx.background is None
    assert ctx.maybe_summarize(never, background=True).reason == "unchanged_head"
    assert len(ctx.items) == 20
