"""What the caller's hook is told of folds."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Literal, NamedTuple, TypeAlias, cast
from uuid import uuid4

from chatfold.core.callables import is_no, unstarted
from chatfold.core.cost import Cost
from chatfold.core.plan import Outcome
from chatfold.core.usage import Usage

__all__ = ["Asked", "Attempt", "FoldEvent", "Hook", "Spent", "tell"]

_log = logging.getLogger("chatfold")


class Spent(NamedTuple):
    """What one model was asked for in a fold, and answered.

    Attributes:
        provider: Who was asked, as in a `FoldEvent`.
        model: The model that was asked, likewise.
        answered: The model that answered, by its own word; None where it does not say.
        usage: Tokens that it used, or None where it does not say.
    """

    provider: str | None
    model: str | None
    answered: str | None
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class FoldEvent:
    """Something that happened to a fold.

    Attributes:
        kind: `before` a fold is tried (a hook that returns False forbids it), `after` one that
            changed the list, `skipped` where there was nothing to gain or something in the way,
            `failed` where the summarizer or a rule stopped it.
        tokens: Size of the list in tokens at that time.
        key: The conversation's key in a store, or None.
        outcome: What happened; None before.
        id: The same in what is told before a fold and of how it went. Nothing is told before
            `apply`, a `flow`, or the last resort after a failure; how they went is.
        provider: Who is asked for the summary, by the name that telemetry knows them by; None
            where that is a function of yours, or no model. Of a fallback chain the first, before;
            in what is told of how the fold went, who was asked last.
        model: The model that is asked, likewise.
        spent: The tokens of `outcome.usage` by who used them, who answered last at the end.
    """

    kind: Literal["before", "after", "skipped", "failed"]
    tokens: int
    key: str | None = None
    outcome: Outcome[Any] | None = None
    id: str = ""
    provider: str | None = None
    model: str | None = None
    spent: tuple[Spent, ...] = ()


Hook: TypeAlias = Callable[[FoldEvent], Any]
"""Is told of each event, in the call of the list's owner; False for `before` forbids the fold.

How a fold in the background went behind a `Middleware` with a store is told where it is put into
the store, in a thread, unless a turn has come before: there may be none any more. It is told once.

A context manager that it returns for `before` is entered at once, and left when that call has done
its part: of a fold in the background, when it has begun.
"""

Asked: TypeAlias = Callable[[], Sequence[tuple[str | None, str | None]]]
"""Returns who may be asked for the summary, and for which model: one for each of the chain."""

_NOBODY = (None, None)


def tell(hook: Hook | None, event: FoldEvent) -> Any:
    """Tell a hook; return its answer, and False itself for a no of whatever type.

    A hook that raises does not break the agent's turn: it is logged, and its answer is None. So
    is one whose answer has to be awaited or run, and as that may be no, it forbids the fold.
    """
    if hook is None:
        return None
    try:
        answer = hook(event)
    except Exception as error:
        _complain(error, event.kind)
        return None
    waits = unstarted(answer)
    if not waits:
        return False if is_no(answer) else answer
    _log.warning(
        "on_event must answer at once, and returned a %s for %r, which is not awaited or run",
        waits,
        event.kind,
    )
    return False if event.kind == "before" else None


class Attempt:
    """One try of a fold: a hook is told before, if the fold is announced, and once how it went.

    Use it as a context manager around what the caller's thread or task does for the fold. Whatever
    is raised there ends the try, unless its end was told before.

    Args:
        hook: Is told.
        key: The conversation's key in a store.
        asked: Says who may be asked for the summary; is called only where there is a hook.

    Attributes:
        cost: What it has cost so far, timed by `time.perf_counter`.
    """

    def __init__(
        self, hook: Hook | None, key: str | None = None, asked: Asked | None = None
    ) -> None:
        self.cost = Cost()
        self._hook = hook
        self._asked = asked
        self._chain: Sequence[tuple[str | None, str | None]] = ()
        self._event = FoldEvent("before", 0, key)
        self._manager: AbstractContextManager[Any] | None = None  # held until the try is over
        self._entered = False
        self._ended = False

    def allowed(self, tokens: Callable[[], int]) -> bool:
        """Announce the fold; return whether the hook lets it go on.

        Args:
            tokens: Returns the size of the list, for the hook to hear.
        """
        if self._hook is None:
            return True
        self._event = replace(self._named(), tokens=tokens())
        answer = tell(self._hook, self._event)
        if answer is False:
            self._ended = True
            return False
        if isinstance(answer, AbstractContextManager):
            self._manager = cast("AbstractContextManager[Any]", answer)
            self._enter(self._manager)
        return True

    def asks_no_model(self) -> None:
        """Take down that the fold is made without a model, whatever was announced."""
        self._asked, self._chain = None, ()

    def ended(self, outcome: Outcome[Any]) -> None:
        """Tell the hook how it went; only the first time."""
        if self._ended:
            return
        self._ended = True
        if self._hook is None:
            return
        kind: Literal["after", "skipped", "failed"] = "skipped"
        if outcome.changed:
            kind = "after"
        elif outcome.error is not None:
            kind = "failed"
        event = self._event if self._event.id else self._named()
        tokens, key = outcome.tokens_after, event.key if outcome.key is None else outcome.key
        provider, model = self._who(self.cost.backend)
        tell(
            self._hook,
            replace(
                event,
                kind=kind,
                tokens=tokens,
                key=key,
                outcome=outcome,
                provider=provider,
                model=model,
                spent=tuple(Spent(*self._who(a.backend), *a[1:]) for a in self.cost.answers),
            ),
        )

    def __enter__(self) -> Attempt:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._manager is not None and self._entered:
            self._entered = False
            try:
                self._manager.__exit__(kind, error, trace)
            except Exception as raised:
                if raised is not error:
                    _complain(raised, "before")
        if error is not None:
            self.ended(self._broken(error))

    def _named(self) -> FoldEvent:
        self._chain = self._asked() if self._asked is not None else ()
        provider, model = self._who(0)
        return replace(self._event, id=uuid4().hex, provider=provider, model=model)

    def _who(self, backend: int) -> tuple[str | None, str | None]:
        """Return who a summarizer of the chain is, by its index, and which model it asks for."""
        return self._chain[backend] if backend < len(self._chain) else _NOBODY

    def _enter(self, manager: AbstractContextManager[Any]) -> None:
        try:
            manager.__enter__()
        except Exception as error:
            _complain(error, "before")
        else:
            self._entered = True

    def _broken(self, error: BaseException) -> Outcome[Any]:
        """Return the outcome of a try that something else than a failed fold has ended."""
        outcome: Outcome[Any] = Outcome(
            False,
            "cancelled",  # or closed, or the process is to end
            tokens_before=self._event.tokens,
            tokens_after=self._event.tokens,
            key=self._event.key,
            **self.cost.fields(time.perf_counter()),
        )
        broken = isinstance(error, Exception)
        return replace(outcome, reason="failed", error=error) if broken else outcome


def _complain(error: Exception, kind: str) -> None:
    _log.warning("on_event raised %s for %r", type(error).__name__, kind)
