"""Telemetry beside the application: its own hook, a broken exporter, no extra."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from background import Gate
from each_turn import Model, context, turn
from logs import records
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from telemetry_backend import (
    WAYS,
    Backend,
    attributes,
    backend,
    fold,
    id_of,
    no_span_is_left_behind,
    parent,
)

from chatfold.events import FoldEvent
from chatfold.telemetry import Telemetry

__all__ = ["backend", "no_span_is_left_behind"]


# --- the next hook --------------------------------------------------------------------------------


@WAYS
def test_the_next_hook_is_told_everything(way: str, backend: Backend) -> None:
    """As if it were the only one; what it has entered is within the span."""
    events, current = list[FoldEvent](), list[Any]()

    @contextmanager
    def entered() -> Iterator[None]:
        current.append(trace.get_current_span())
        yield
        current.append(trace.get_current_span())

    def hook(event: FoldEvent) -> Any:
        events.append(event)
        return entered() if event.kind == "before" else False  # only `before` can be forbidden

    fold(way, context(10), backend.model, on_event=backend.telemetry(then=hook))
    assert [event.kind for event in events] == ["before", "after"]
    assert events[0].id == events[1].id
    span = backend.fold()
    assert [s.get_span_context().span_id for s in current] == [id_of(span)] * 2


@WAYS
@pytest.mark.parametrize("fault", ["raises", "enters", "leaves"])
def test_the_next_hook_may_fail(way: str, fault: str, backend: Backend) -> None:
    """The fold goes on, and so does its telemetry; no span is left behind."""

    @contextmanager
    def entered() -> Iterator[None]:
        if fault == "enters":
            raise RuntimeError("the customer's words")
        yield
        raise RuntimeError("the customer's words")

    def hook(event: FoldEvent) -> Any:
        if fault == "raises":
            raise RuntimeError("the customer's words")
        return entered() if event.kind == "before" else None

    with records() as logged:
        ctx = context(10, on_event=backend.telemetry(then=hook))
        assert fold(way, ctx, backend.model).changed
    assert attributes(backend.fold())["chatfold.reason"] == "summarized"
    chat, span = backend.ended()
    assert parent(chat) == id_of(span)
    said = [r.getMessage() for r in logged if r.levelname == "WARNING"]
    assert said
    assert all(line.startswith("on_event raised RuntimeError for") for line in said)
    assert trace.get_current_span() is trace.INVALID_SPAN


def test_a_span_ends_also_where_the_next_hook_is_interrupted(backend: Backend) -> None:
    """Ctrl-C comes while it is told of a fold; the span says that it took place."""

    def interrupted(event: FoldEvent) -> None:
        if event.kind == "after":
            raise KeyboardInterrupt

    ctx = context(10, on_event=backend.telemetry(then=interrupted))
    with pytest.raises(KeyboardInterrupt):
        ctx.summarize(Model(), keep_last_turns=1)
    assert [attributes(span)["chatfold.reason"] for span in backend.folds()] == ["summarized"]


def test_what_the_next_hook_cannot_enter_leaves_no_span_behind(backend: Backend) -> None:
    """The try goes on in the background, and holds what was made for it."""

    @contextmanager
    def entered() -> Iterator[None]:
        raise RuntimeError("the customer's words")
        yield

    gate = Gate()
    ctx = context(10, on_event=backend.telemetry(then=lambda event: entered()))
    task = ctx.summarize_in_background(gate)
    assert trace.get_current_span() is trace.INVALID_SPAN
    gate.open.set()
    assert task.wait(20)
    assert task.apply_if_ready().changed


def test_the_next_hook_has_to_be_one(backend: Backend) -> None:
    with pytest.raises(TypeError, match="then must be a function of a FoldEvent, not str"):
        backend.telemetry(then="print")


# --- it never breaks a turn -----------------------------------------------------------------------


class _Broken(SpanProcessor):
    def __init__(self, when: str) -> None:
        self.when = when

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        if self.when == "start":
            raise RuntimeError("the customer's words")

    def on_end(self, span: ReadableSpan) -> None:
        if self.when == "end":
            raise RuntimeError("the customer's words")


@WAYS
@pytest.mark.parametrize("when", ["start", "end"])
def test_a_broken_exporter_does_not_break_a_turn(way: str, when: str) -> None:
    """Nor does it keep the next hook from forbidding a fold."""
    backend, kinds = Backend(), list[str]()
    backend.spans.add_span_processor(_Broken(when))

    def hook(event: FoldEvent) -> bool:
        kinds.append(event.kind)
        return len(kinds) != 3

    ctx = context(10, on_event=backend.telemetry(then=hook))
    with records() as logged:
        assert fold(way, ctx, Model()).changed
    said = [r.getMessage() for r in logged if r.levelname == "WARNING"]
    assert (
        f"telemetry failed (RuntimeError) for '{'before' if when == 'start' else 'after'}'" in said
    )
    assert not any("customer" in line for line in said)
    ctx.extend([item for n in range(10) for item in turn(n)])
    assert fold(way, ctx, Model()).reason == "vetoed"
    assert kinds == ["before", "after", "before"]


def test_without_a_provider_nothing_happens() -> None:
    """The API alone, which is all that the extra installs, does nothing."""
    assert context(10, on_event=Telemetry()).summarize(Model()).changed


# --- the extra ------------------------------------------------------------------------------------

_WITHOUT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "opentelemetry":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import chatfold
from chatfold import ChatContext, MissingExtraError
items = [{"role": role, "content": "w " * 900} for role in ("user", "assistant") * 5]
outcome = ChatContext(items).summarize("extractive")
assert outcome.changed, outcome
try:
    from chatfold.telemetry import Telemetry
except MissingExtraError as error:
    print(error, error.extra, type(error.__cause__).__name__)
"""


def _run(code: str) -> str:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_without_opentelemetry_the_error_says_what_to_install() -> None:
    """All else works; the cause is kept."""
    assert _run(_WITHOUT) == (
        'chatfold.telemetry needs OpenTelemetry: pip install "chatfold[otel]" otel '
        "ModuleNotFoundError"
    )


def test_nothing_of_opentelemetry_is_loaded_unless_asked_for() -> None:
    code = (
        "import sys; from chatfold import ChatContext; "
        'items = [{"role": r, "content": "w " * 900} for r in ("user", "assistant") * 5]; '
        'assert ChatContext(items).summarize("extractive").changed; '
        'print([name for name in sys.modules if name.startswith("opentelemetry")])'
    )
    assert _run(code) == "[]"
