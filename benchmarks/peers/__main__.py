"""Runs one library in its own environment: `python -m benchmarks.peers NAME`.

Reads requests from its input, one JSON object a line, and writes an answer to each; whatever the
library prints goes to the errors. See `peer` for what is asked.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.metadata
import json
import logging
import os
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

from .peer import Peer


class Server:
    """Answers requests about one library.

    Args:
        peers: The class that drives it.
    """

    def __init__(self, peers: type[Peer]) -> None:
        self._peers = peers
        self._peer: Peer | None = None
        self._items: list[dict[str, Any]] = []
        self._next = 0
        self._question_open = False

    def hello(self) -> dict[str, Any]:
        """Return the library's version and the ways in which it is run."""
        version = importlib.metadata.version(self._peers.package)
        variants, timed = list(self._peers.variants), list(self._peers.timed)
        checked = list(self._peers.checked)
        return {"version": version, "variants": variants, "timed": timed, "checked": checked}

    def start(self, **options: Any) -> dict[str, Any]:
        """Begin a conversation; the options are those of `Peer`."""
        self._peer = self._peers(**options)
        return {}

    def fold(self, items: list[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
        """Add messages and fold; return what is left, and what the summarizer was sent."""
        assert self._peer is not None
        for index, item in items:
            self._peer.add(index, item)
        self._peer.asked.clear()
        self._peer.fold()
        return {"entries": self._peer.entries(), "asked": self._peer.asked}

    def load(self, items: list[dict[str, Any]]) -> dict[str, Any]:
        """Take the messages that are to be folded on time."""
        self._items = items
        return {}

    def run(self, traced: bool, **options: Any) -> dict[str, Any]:
        """Fold them once; return milliseconds, or with `traced` the peak of bytes above before."""
        peer = self._ready(options)
        gc.collect()
        if traced:
            tracemalloc.start()
            before, _ = tracemalloc.get_traced_memory()
            peer.fold()
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            return {"bytes": peak - before, "folded": bool(peer.asked)}
        return {"ms": _milliseconds(peer.fold), "folded": bool(peer.asked)}

    def in_a_row(self, times: int, **options: Any) -> dict[str, Any]:
        """Fold them so often, one time after the other; return the milliseconds of each."""
        return {"ms": [_milliseconds(self._ready(options).fold) for _ in range(times)]}

    def _ready(self, options: dict[str, Any]) -> Peer:
        """Return what has taken all messages, and is about to fold."""
        peer = self._peers(**options)
        for index, item in enumerate(self._items):
            peer.add(index, item)
        peer.ready()
        return peer

    def begin(self, **options: Any) -> dict[str, Any]:
        """Take all messages, and be asked once."""
        self._peer = self._peers(**options)
        for index, item in enumerate(self._items):
            self._peer.add(index, item)
        self._peer.before_check()
        self._peer.check()
        self._next, self._question_open = len(self._items), False
        gc.collect()
        gc.disable()
        return {}

    def check(self) -> dict[str, Any]:
        """Take the messages that come before a check, and check; return microseconds."""
        assert self._peer is not None
        for _ in range(self._peer.new_messages):
            item = {"role": "user", "content": f"And order LK-{self._next}?"}
            if self._question_open:
                item = {"role": "assistant", "content": "It was delivered."}
            self._question_open = not self._question_open
            self._peer.add(self._next, item)
            self._next += 1
        self._peer.before_check()
        started = time.perf_counter()
        self._peer.check()
        return {"us": (time.perf_counter() - started) * 1e6}

    def end(self) -> dict[str, Any]:
        """Let go of everything."""
        self._peer = None
        self._items = []
        gc.enable()
        gc.collect()
        return {}


def _milliseconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    try:
        module = importlib.import_module(f"benchmarks.peers.{sys.argv[1]}")
        server = Server(module.PEER)
        failed = ""
    except Exception as error:
        failed = repr(error)
    for line in sys.stdin:
        request = json.loads(line)
        what = request.pop("what")
        try:
            answer = {"error": failed} if failed else getattr(server, what)(**request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        with contextlib.suppress(BrokenPipeError):
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
