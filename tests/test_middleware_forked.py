"""`Middleware` on both sides of a fork, whatever the other threads of the parent were at."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection
from typing import Any

import pytest
from test_middleware import Teller, middleware, talk

from chatfold import ChatContext, Middleware, Policy, Prompt
from chatfold.stores import HostFold, MemoryStore
from chatfold.tokens import tables

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

LONG = 20.0  # seconds after which something has hung


def in_child(work: Callable[[], None]) -> int:
    """Do something in a forked process; return 0 where nothing was raised and nothing hung."""
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def reason_of(wrapper: Middleware[Any], host: list[Any], key: str) -> str:
    return wrapper.fold(host, key=key).outcome.reason


class Stopping(MemoryStore):
    """A store, a model, and a redactor: one takes its time in other threads than the first."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.at_work, self.may_end, self._where = threading.Event(), threading.Event(), where
        self._cleaned = set[str]()

    def longest(self, key: str, digests: Collection[str]) -> HostFold | None:
        self._stop("store")
        return super().longest(key, digests)

    def told(self, prompt: Prompt) -> str:
        self._stop("model")
        return "what happened before"

    def cleaned(self, text: str) -> str:
        if text in self._cleaned:  # it is in the prompt, and is looked through for instructions
            self._stop("redactor")
        self._cleaned.add(text)
        return text

    def _stop(self, where: str) -> None:
        if where == self._where and threading.current_thread() is not threading.main_thread():
            self.at_work.set()
            self.may_end.wait(LONG)


@pytest.mark.parametrize("where", ["store", "model", "redactor"])
def test_what_another_thread_was_at_is_begun_anew_in_the_child(where: str) -> None:
    """Where the conversation is made ready, where it is read, and where a summary is written."""
    slow, host = Stopping(where), talk(40)
    wrapper = middleware(slow.told, store=slow, redact=slow.cleaned)
    other = threading.Thread(target=wrapper.fold, args=[host], kwargs={"key": "a"})
    other.start()
    assert slow.at_work.wait(LONG)

    def work() -> None:
        assert reason_of(wrapper, host, "a") == "summarized"

    ended = in_child(work)
    slow.may_end.set()
    other.join()
    assert ended == 0


def test_a_child_goes_on_with_the_conversations_that_nobody_was_at() -> None:
    wrapper, host = middleware(Teller()), talk(40)
    assert reason_of(wrapper, host, "a") == "summarized"

    def work() -> None:
        assert reason_of(wrapper, host, "a") == "reused"

    assert in_child(work) == 0
    assert reason_of(wrapper, host, "a") == "reused"


def test_a_fold_of_a_context_that_is_under_way_stays_with_the_parent() -> None:
    """The child has no thread that writes it: there it is given up, and the next one begins."""
    at_work, may_end = threading.Event(), threading.Event()

    def slow(prompt: Prompt) -> str:
        at_work.set()
        assert may_end.wait(LONG)
        return "what happened before"

    ctx: ChatContext[Any] = ChatContext(talk(20), policy=Policy(max_items=6, keep_last_turns=1))
    assert ctx.maybe_summarize(slow, background=True).reason == "started"
    assert at_work.wait(LONG)

    def work() -> None:
        assert ctx.maybe_summarize(Teller(), background=True).reason == "cancelled"
        assert ctx.maybe_summarize(Teller()).reason == "summarized"
        assert ctx.undo().reason == "undone"

    assert in_child(work) == 0
    may_end.set()
    fold = ctx.background
    assert fold is not None
    assert fold.wait(LONG)
    assert fold.apply_if_ready().reason == "summarized"


class Stops:
    """A counter of tokens at which the thread `reader` is for as long as anybody waits."""

    exact = False

    def __init__(self) -> None:
        self.at_work, self.may_end = threading.Event(), threading.Event()

    def count(self, text: str) -> int:
        if threading.current_thread().name == "reader":
            self.at_work.set()
            assert self.may_end.wait(LONG)
        return len(text)


def test_a_table_that_another_thread_was_building_is_free_in_the_child() -> None:
    """The lock that it is built under is nobody's there."""
    with tables._encodings._build_lock, tables._encodings._download_lock:
        assert in_child(lambda: tables._encodings.note_missing("a model")) == 0


def test_what_a_fold_imports_is_there_when_a_middleware_is() -> None:
    """A fork while another thread imports leaves the child waiting for what that was at."""
    code = (
        "import sys\nfrom chatfold import Middleware\nassert 'jinja2' not in sys.modules\n"
        "Middleware(lambda prompt: 'x')\nassert 'jinja2' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_list_that_another_thread_was_reading_is_free_in_the_child() -> None:
    """Whoever holds its lock is not there to release it."""
    counter = Stops()
    ctx: ChatContext[Any] = ChatContext(talk(20), counter=counter)
    reader = threading.Thread(target=ctx.count_tokens, name="reader")
    reader.start()
    assert counter.at_work.wait(LONG)

    def work() -> None:
        assert ctx.summarize(Teller(), keep_last_turns=1)

    assert in_child(work) == 0
    counter.may_end.set()
    reader.join()
