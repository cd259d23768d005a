"""What folds lists of the SDK's items: the summarizer, and all that was asked for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from agents import Model
from agents.models.default_models import get_default_model

from chatfold.context import ChatContext
from chatfold.core.callables import has_method
from chatfold.core.plan import Outcome
from chatfold.each_turn import check_ways
from chatfold.errors import BusyError, ChatfoldError
from chatfold.integrations._openai_agents.model import AgentModel
from chatfold.integrations._openai_agents.own_store import OwnStore
from chatfold.integrations._openai_agents.replacing import Replacing
from chatfold.integrations._openai_agents.run import RUN, Run
from chatfold.integrations._openai_agents.watch import Watch
from chatfold.middleware import Folded, Middleware
from chatfold.options import Settings, SummaryOptions
from chatfold.session import Session
from chatfold.shared_folds import is_shared
from chatfold.summarizers import checked_native, is_native, resolve, senders
from chatfold.threads import STEPS, arun
from chatfold.tokens.windows import window_for

if TYPE_CHECKING:
    from chatfold.summarizers import LLM

__all__ = ["SHAPE", "Folds"]

T = TypeVar("T")

SHAPE: Final = "openai_responses"
_HELD: Final = 1_000  # conversations, where nobody says how many
_OURS: Final = ("openai:", "anthropic:")  # names that chatfold takes, whatever the run's provider


class Folds:
    """What folds lists of items: the summarizer, and all that was asked for.

    Args:
        llm: See `chatfold_filter`.
        model: The model of a client in `llm`.
        agent_model: The agent's model, where the user names it.
        replaces: Whether the store is one for originals.
        **options: What `Middleware` takes besides.
    """

    def __init__(
        self,
        llm: LLM | Model | None,
        model: str | None,
        agent_model: str | None,
        *,
        replaces: bool = False,
        **options: Any,
    ) -> None:
        self.watch = Watch(options.pop("on_event", None))
        self.shared = is_shared(options["store"])
        self._llm: Any = _taken(llm)
        self._agent_model = agent_model
        self._call: dict[str, Any] = {"model": model} | {
            n: options.pop(n) for n in ("background", "on_error")
        }
        self._own: OwnStore | None = None
        if options["store"] is None and not replaces:
            options["store"] = self._own = OwnStore(options.get("sessions", _HELD))
        self._options = options
        self._undone: set[str] = set()
        self._in_place = replaces and has_method(options["store"], "longest")
        self.finds = self._in_place and self._call["background"]
        self._made: dict[str | None, Middleware[Any]] = {}
        self._check(replaces)

    def _check(self, replaces: bool) -> None:
        """Say what is wrong with the arguments now, and not in somebody's run."""
        check_ways(self._call["on_error"], self._call["background"])
        usual = Run()
        if replaces:
            self.context([], usual, "checked")
        if self.finds or not replaces:
            self._of(usual)
        known = SummaryOptions.__annotations__
        settings = Settings().updated({n: v for n, v in self._options.items() if n in known})
        model = self._call["model"]
        if is_native(self._llm):
            checked_native(self._llm, settings, model, asynchronous=True)
            return
        request = settings.request if settings.mode == "append" else None
        with suppress(ChatfoldError):  # a missing key, say: reported when it is needed
            senders(resolve(self._llm, model=model, asynchronous=True, request=request), settings)

    async def fold(self, items: Sequence[Any], run: Run, key: str | None) -> Folded[Any]:
        """Return what goes to the model in place of a host's items."""
        token = RUN.set(run)
        try:
            folded = await self._of(run).afold(items, key=key)
            if self.finds:  # its folds may be told when they are in place, and by no outcome then
                self.watch.given_all()
            self.watch.given(folded.outcome.usage)
            return folded
        except ChatfoldError as error:
            self.watch.given(error.usage)
            raise
        finally:
            RUN.reset(token)

    async def fold_in(self, context: ChatContext[Any], run: Run) -> Outcome[Any]:
        """Fold a context's list, if the policy says so."""
        token = RUN.set(run)
        try:
            return await context.amaybe_summarize(self._llm, **self._call)
        finally:
            RUN.reset(token)

    def forget(self, key: str) -> None:
        """Drop what is held of items that are no longer there; see `Middleware.forget`."""
        for made in list(self._made.values()):  # a thread may make another meanwhile
            made.forget(key)
        if self._own is not None:
            self._own.erase(key)

    @asynccontextmanager
    async def held_off(self, items: list[Any], run: Run, key: str) -> AsyncGenerator[None]:
        """Have nobody fold items meanwhile who would do it beside their list: by their store.

        Raises:
            BusyError: They are being folded, or are folded and that is yet to be put in.
        """
        if not self._in_place:
            yield
            return
        made = cast("Replacing", self._of(run))
        session = await _asked(partial(made.held_off, items, key))
        if session is None:
            raise BusyError(
                "undo() cannot change the session while a summary of it is being written, by this "
                "object or another; call it when that was put in (get_items(), fold())"
            )
        try:
            yield
        finally:
            await _asked(partial(made.let_go, session))

    async def take_back(
        self, context: ChatContext[Any], fold_id: str | None, run: Run, key: str
    ) -> None:
        """Take down that a fold was undone in a context: it is not to be found again."""
        if not self._in_place or fold_id is None:
            return
        if isinstance(context, Session):
            self._undone |= context.undone
        self.forget(key)
        made = cast("Replacing", self._of(run))
        await _asked(partial(made.take_back, list(context.items), key, fold_id))

    def context(self, items: list[Any], run: Run, key: str) -> ChatContext[Any]:
        """Return a context over a list that is folded in place."""
        if self.finds:
            return cast("Replacing", self._of(run)).session(items, key)
        given = self._given(run)
        keyed: dict[str, Any] = {"key": key} if given["store"] is not None else {}
        return ChatContext(items, model=self._name(run), **keyed, **given)

    def _of(self, run: Run) -> Middleware[Any]:
        """Return the middleware for agents of the same model: that decides the window."""
        name = self._name(run)
        made = self._made.get(name)
        if made is None:
            given = {**self._call, **self._given(run), "agent_model": name}
            if self._in_place:
                given["undone"] = self._undone
            kind: Any = Replacing if self._in_place else Middleware
            made = self._made.setdefault(name, kind(self._llm, **given))
        return made

    def _given(self, run: Run) -> dict[str, Any]:
        """Return the options of what folds the items of a run."""
        given = {**self._options, "shape": SHAPE, "on_event": self.watch}
        if given.get("max_prompt_tokens") is None:
            many = isinstance(self._llm, list)
            asked = cast("list[object]", self._llm if many else [self._llm])
            names = [each.name(run) for each in asked if isinstance(each, AgentModel)]
            windows = [window for name in names if (window := window_for(name)) is not None]
            if windows and len(windows) == len(asked):  # a client's, chatfold knows by itself
                given["max_prompt_tokens"] = min(windows) * 9 // 10  # the answer takes some of it
        return given

    def _name(self, run: Run) -> str | None:
        if self._agent_model is not None:
            return self._agent_model
        return get_default_model() if run.agent is None else run.model_name()


async def _asked(work: Callable[[], T]) -> T:
    """Return what some work returns that asks a store: done in a thread, if there is one."""
    return await arun(work, STEPS, or_here=True)


def _taken(llm: object) -> Any:
    """Return what was given to write summaries, with the SDK's models made summarizers.

    Raises:
        TypeError: `llm` is a class.
    """
    if llm is None or isinstance(llm, Model):
        return AgentModel(llm)
    if isinstance(llm, list | tuple):
        return [_taken(each) for each in cast("Sequence[object]", llm)]
    if isinstance(llm, str) and llm not in ("", "extractive") and not llm.startswith(_OURS):
        return AgentModel(llm)
    return llm
