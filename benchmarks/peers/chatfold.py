"""chatfold itself, in the same harness: only for times and peaks, where every process is alike."""

from __future__ import annotations

import copy
from typing import Any

from chatfold import ChatContext, Middleware, Policy, Prompt

from .peer import FAR, Entry, Item, Peer

_TURN = 4
_HOOKS = ("middleware, same objects", "middleware, equal copies")


class Chatfold(Peer):
    """A context that was asked at each turn (warm, context), once with all (read), or never (cold).

    The middleware has folded its history before, and gets the host's own list or copies of it.
    """

    package = "chatfold"
    variants = ("warm", "read", "cold", *_HOOKS, "context")
    timed = ("warm", "read", "cold")
    checked = ("context", *_HOOKS)

    def __init__(self, *options: Any, **named: Any) -> None:
        super().__init__(*options, **named)
        self._items: list[Item] = []
        self._places: dict[int, int] = {}
        self._middleware: Any = None
        self._handed: list[Item] = []
        self._has_all = False
        self._context: ChatContext[Item] = ChatContext(self._items, policy=Policy(max_tokens=FAR))

    def add(self, index: int, item: Item) -> None:
        self._items.append(item)
        self._places[id(item)] = index
        if self.variant in ("warm", "context") and index % _TURN == 0 and not self._has_all:
            self._context.maybe_summarize(self._write)

    def ready(self) -> None:
        if self.variant != "cold":
            self._context.maybe_summarize(self._write)

    def fold(self) -> None:
        context = ChatContext(self._items) if self.variant == "cold" else self._context
        context.summarize(self._write, keep_last_turns=_TURN)

    @property
    def new_messages(self) -> int:
        return 2 if self.variant in _HOOKS else 1

    def before_check(self) -> None:
        self._has_all = True  # from now on each check finds what came since the last one
        if self.variant in _HOOKS and self._middleware is None:
            policy = Policy(max_items=len(self._items), max_tokens=FAR)
            self._middleware = Middleware(self._write, policy)
            assert self._middleware.fold(self._items).outcome.changed
        copied = self.variant == "middleware, equal copies"
        self._handed = copy.deepcopy(self._items) if copied else self._items

    def check(self) -> None:
        if self._middleware is None:
            assert self._context.maybe_summarize(self._write).reason == "below_trigger"
        else:
            assert self._middleware.fold(self._handed).outcome.reason == "reused"

    def _write(self, prompt: Prompt) -> str:
        return self.answer(prompt.system, prompt.user)

    def entries(self) -> list[Entry]:
        return [self._places.get(id(item), item) for item in self._items]


PEER = Chatfold
