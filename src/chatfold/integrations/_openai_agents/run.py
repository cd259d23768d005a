"""A run of the OpenAI Agents SDK, as far as a filter or a session can see it.

Not here: its models as summarizers (`model`), its usage and spans (`watch`).
"""

from __future__ import annotations

import inspect
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import FrameType
from typing import Any, Final, TypeVar, cast, get_origin

from chatfold.errors import MissingExtraError

EXTRA: Final = "openai-agents"
WORKS: Final = "openai-agents >=0.24,<1"


def missing() -> MissingExtraError:
    """Return the error for an SDK that is not there, or is not of a version that works."""
    try:
        found = version("openai-agents")
    except PackageNotFoundError:
        text = 'chatfold.integrations.openai_agents needs the OpenAI Agents SDK: pip install "{}"'
        return MissingExtraError(text.format(f"chatfold[{EXTRA}]"), extra=EXTRA)
    text = (
        f"chatfold.integrations.openai_agents works with {WORKS}, and found {found}: "
        f'pip install "chatfold[{EXTRA}]"'
    )
    return MissingExtraError(text, extra=EXTRA)


try:
    from agents import (
        Agent,
        Model,
        ModelSettings,
        ModelTracing,
        MultiProvider,
        OpenAIConversationsSession,
        OpenAIResponsesModel,
        RunConfig,
        RunContextWrapper,
        get_current_trace,
    )
    from agents.models.default_models import get_default_model
except ImportError as error:
    raise missing() from error

__all__ = ["RUN", "Run", "missing", "seen"]

T = TypeVar("T")

_FRAMES: Final = 40
_ENDS: Final = frozenset({"get_new_response", "run_single_turn_streamed", "run", "start_streaming"})
_KNOWN: Final = (
    "run_config",
    "context_wrapper",
    "starting_agent",
    "session",
    "server_conversation_tracker",
)


@dataclass(frozen=True, slots=True)
class Run:
    """What is known of the run in which something is folded.

    Attributes:
        agent: The agent whose turn it is.
        config: What the run was started with.
        context: What holds its usage.
        session: Its session.
        managed: What holds the history on the provider's side, or "".
    """

    agent: Agent[Any] | None = None
    config: RunConfig | None = None
    context: RunContextWrapper[Any] | None = None
    session: Any = None
    managed: str = ""

    @property
    def tracing(self) -> ModelTracing:
        """How much of a model call is traced, as the run was told."""
        if self.config is None:
            return ModelTracing.ENABLED_WITHOUT_DATA
        if self.config.tracing_disabled:
            return ModelTracing.DISABLED
        whole = self.config.trace_include_sensitive_data
        return ModelTracing.ENABLED if whole else ModelTracing.ENABLED_WITHOUT_DATA

    @property
    def session_id(self) -> str | None:
        """The name of its session, or of its group of traces."""
        named = None
        with suppress(Exception):  # a session that is made on the server has none before
            named = self.session.session_id
        if named is None and self.config is not None:
            named = self.config.group_id
        if named is None:
            trace = get_current_trace()
            named = getattr(trace, "group_id", None)
        return named if isinstance(named, str) and named else None

    def own_model(self) -> Model | str | None:
        """Return the agent's own model as the run takes it: the run's comes first."""
        if self.config is not None and self.config.model is not None:
            return self.config.model
        return self.agent.model if self.agent is not None else None

    def model_name(self) -> str | None:
        """Return the name of the agent's own model, None where that is not known."""
        own = self.own_model()
        if own is None:
            provider = self.config.model_provider if self.config is not None else None
            usual = provider is None or isinstance(provider, MultiProvider)
            return get_default_model() if usual else None
        name = own if isinstance(own, str) else getattr(own, "model", None)
        return name if isinstance(name, str) else None

    def settings(self, model: Model, cap: int | None) -> ModelSettings:
        """Return what a summary is asked for with; what the agent's gateway needs is taken over.

        Args:
            model: Who is asked.
            cap: Limit of the answer in tokens, or None.
        """
        own = self.agent.model_settings if self.agent is not None else ModelSettings()
        own = own.resolve(self.config.model_settings if self.config is not None else None)
        return ModelSettings(
            max_tokens=cap,
            # Nobody continues from a summary's request, so there is no need to store it.
            store=False if isinstance(model, OpenAIResponsesModel) else own.store,
            extra_headers=own.extra_headers,
            extra_query=own.extra_query,
        )


RUN: ContextVar[Run] = ContextVar("chatfold_agents_run", default=Run())  # noqa: B039 - a value
"""The run in which something is being folded."""


def seen(agent: Agent[Any] | None = None, context: RunContextWrapper[Any] | None = None) -> Run:
    """Return what can be seen of the run that has made this call.

    The SDK hands a filter and a session neither the run's provider, nor its usage, nor whether the
    server holds the history; so they are looked up where the Runner, which is waiting for this
    call, has them. Where it has them no longer, the run is one of which less is known.

    Args:
        agent: The agent, where the SDK says so.
        context: What holds the run's usage, likewise.
    """
    found: dict[str, Any] = {}
    frame: FrameType | None = inspect.currentframe()
    for _ in range(_FRAMES):
        frame = frame.f_back if frame is not None else None
        if frame is None:
            break
        if not str(frame.f_globals.get("__name__", "")).startswith("agents.run"):
            continue
        there = frame.f_locals
        found = {name: there[name] for name in _KNOWN if name in there} | found
        if frame.f_code.co_name in _ENDS:
            break
    if agent is None:
        agent = _of(Agent[Any], found.get("starting_agent"))
    if context is None:
        context = _of(RunContextWrapper[Any], found.get("context_wrapper"))
    session = found.get("session")
    managed = _managed(found.get("server_conversation_tracker"), session)
    return Run(agent, _of(RunConfig, found.get("run_config")), context, session, managed)


def _of(kind: type[T], value: object) -> T | None:
    """Return a value, if it is of a class; the SDK may give its variables to something else."""
    return cast("T", value) if isinstance(value, get_origin(kind) or kind) else None


def _managed(tracker: object, session: object) -> str:
    """Return what holds the history on the provider's side, or ""."""
    if tracker is not None:
        by_conversation = getattr(tracker, "conversation_id", None) is not None
        return "conversation_id" if by_conversation else "previous_response_id"
    return "OpenAIConversationsSession" if isinstance(session, OpenAIConversationsSession) else ""
