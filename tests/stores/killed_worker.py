"""The program that the kill tests kill: it saves folds and changes a list, erases or expires.

Started as `python killed_worker.py`; it reads lines `<work> <directory>` and, for each, forks a
process that works in that directory until it is killed. It prints the number of the process,
"open" when that has its store open, and then how it ended. Forking spares each of them the start
of an interpreter.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import traceback
from hashlib import blake2b
from pathlib import Path
from typing import Any

from chatfold import ChatContext
from chatfold.stores import SQLStore, StoredFold, StoredItem

KEY = "conversation"
Item = dict[str, Any]


def stored(items: list[Item], fold_id: str, key: str = KEY, created: float = 1.0) -> StoredFold:
    """Return the fold of some items, each with an id and some text."""
    region = tuple(
        StoredItem(place, f"item number{item['n']} {'word ' * 40}", (f"call_{item['n']}",), item)
        for place, item in enumerate(items)
    )
    return StoredFold(key, fold_id, fold_id, len(items), {"fold": fold_id}, (), 0, region, created)


def write(path: Path, items: list[Item]) -> None:
    """Put a list in a file, all of it or nothing, as an agent that keeps its history would."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(items), encoding="utf-8")
    os.replace(new, path)


def read(path: Path) -> list[Item]:
    """Return the list in the file; a conversation that was never written has no items."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def say(what: object) -> None:
    """Write a line at once: parent and child share the output, and must not mix their lines."""
    os.write(sys.stdout.fileno(), f"{what}\n".encode())


def opened(directory: Path) -> SQLStore:
    """Open the store of a directory and say so."""
    store = SQLStore(directory / "folds.db")
    say("open")
    return store


def fold_and_undo(directory: Path) -> None:
    """Add items, fold all but the last two of them, and take back every third fold."""
    store = opened(directory)
    path = directory / "list.json"
    for turn in itertools.count():
        items = read(path)
        following = items[-1]["n"] + 1 if items else 0
        items += [{"n": following + more, "text": "é\ud800"} for more in range(4)]
        write(path, items)
        region = items[:-2]
        fold_id = blake2b(json.dumps(region).encode(), digest_size=8).hexdigest()
        store.save(stored(region, fold_id))
        items = [{"n": -1, "fold": fold_id}, *items[-2:]]
        write(path, items)
        if turn % 3 == 2:
            fold = store.load(KEY, fold_id)
            assert fold is not None
            write(path, [*(original.item for original in fold.items), *items[1:]])
            store.discard(KEY, fold_id)


def summarize_and_undo(directory: Path) -> None:
    """Add two turns, fold all but the last one, and take back every third fold, as agents do."""
    store = opened(directory)
    path = directory / "list.json"
    for turn in itertools.count():
        items = read(path)
        items += turns(sum(item["role"] == "user" for item in original(items, store)))
        write(path, items)
        ctx = ChatContext(items, store=store, key=KEY, shape="openai_chat")
        assert ctx.summarize("extractive", keep_last_turns=1).changed
        write(path, items)
        if turn % 3 == 2:
            assert ChatContext(items, store=store, key=KEY).undo().changed
            write(path, items)


def turns(first: int) -> list[Item]:
    """Return two turns with a tool call each, numbered from `first`."""
    made: list[Item] = []
    for n in (first, first + 1):
        call = {"name": "look_up", "arguments": json.dumps({"order": f"LK-{10_000 + n}"})}
        made += [
            {"role": "user", "content": f"Where is order LK-{10_000 + n}? {'It is late. ' * 40}"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"call_{n}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"call_{n}", "content": f"number{n} {'on ' * 90}"},
            {"role": "assistant", "content": f"Order LK-{10_000 + n} is on its way."},
        ]
    return made


def original(items: list[Item], store: SQLStore) -> list[Item]:
    """Return a list as it was before all the folds in it."""
    whole = list(items)
    ctx = ChatContext(whole, store=store, key=KEY, shape="openai_chat")
    while ctx.undo().changed:
        pass
    return whole


def save_and_erase(directory: Path) -> None:
    """Save three folds of one key, one after the other, and erase that key."""
    store = opened(directory)
    store.save(stored([{"n": 9}], "kept", key="another"))
    while True:
        store.erase(KEY)
        for n in range(3):
            store.save(stored([{"n": n}, {"n": 10 + n}], str(n)))


def save_and_expire(directory: Path) -> None:
    """Save three folds, one after the other, and let the first two expire."""
    store = opened(directory)
    store.save(stored([{"n": 9}], "kept", key="another", created=3.0))
    while True:
        store.discard(KEY, "2")
        for n in range(3):
            store.save(stored([{"n": n}, {"n": 10 + n}], str(n), created=float(n)))
        store.expire(2.0)


WORK = {
    work.__name__: work
    for work in (fold_and_undo, summarize_and_undo, save_and_erase, save_and_expire)
}


def main() -> None:
    """Fork a process for each line of the input and wait for its end."""
    # What the first fold loads would else be loaded by every process, which is killed before.
    ChatContext(turns(0), shape="openai_chat").summarize("extractive", keep_last_turns=1)
    for line in sys.stdin:
        name, _, directory = line.strip().partition(" ")
        child = os.fork()
        if child == 0:
            try:
                WORK[name](Path(directory))
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        say(child)
        say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main()
