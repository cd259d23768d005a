"""One turn of many processes over a shared conversation: `stores.one_turn DIR URL KEY NUMBER`.

The summarizer answers when all other processes have written what became of their turn, so that
none of them can have waited for it. They are forked when all is imported: that spares each of them
the start of an interpreter.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from stores.forks import processes

from chatfold import Middleware, Policy, Prompt
from chatfold.stores import SQLStore

_LONGEST = 100.0  # seconds; a process has 120


def host() -> list[dict[str, str]]:
    """Return the history that every process has."""
    return [
        {"role": role, "content": f"{role} {number}: order LK-{4000 + number}. " + "word " * 30}
        for number in range(40)
        for role in ("user", "assistant")
    ]


def main(directory: Path, url: str, key: str, processes: int) -> None:
    """Have one turn; write its outcome into the directory."""
    calls = 0

    def summarizer(prompt: Prompt) -> str:
        nonlocal calls
        calls += 1
        (directory / "asked").touch()
        until = time.monotonic() + _LONGEST
        while len(list(directory.glob("*.json"))) < processes - 1 and time.monotonic() < until:
            time.sleep(0.02)
        return "Orders were asked for, and looked up."

    with SQLStore(url, timeout=60.0) as store:
        policy = Policy(max_tokens=1500, keep_tokens=500, window=1_000_000)
        folded = Middleware(summarizer, policy, store, timeout=None).fold(host(), key=key)
    told = {
        "reason": folded.outcome.reason,
        "calls": calls,
        "items": len(folded.items),
        "error": repr(folded.outcome.error),
    }
    written = directory / f"{os.getpid()}.part"
    written.write_text(json.dumps(told), encoding="utf-8")
    written.rename(directory / f"{os.getpid()}.json")


def crowd(directory: Path, url: str, key: str, number: int) -> None:
    """Have so many processes each have one turn.

    Raises:
        AssertionError: One of them has failed.
    """
    with SQLStore(url):
        pass  # the database, and what is imported for it
    with processes(number, lambda _: main(directory, url, key, number)):
        pass


if __name__ == "__main__":
    crowd(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
