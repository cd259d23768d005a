"""Prompt in, completion out: what writes summaries, and how the caller's `llm` becomes one of them.

One kind of summarizer a file. No SDK is imported before a summarizer that needs it is asked for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, runtime_checkable

from chatfold.core.callables import is_async
from chatfold.core.scalars import check_model, check_whole
from chatfold.summarizers._asked import asked, members
from chatfold.summarizers._live import senders
from chatfold.summarizers._named import NamedSummarizer
from chatfold.summarizers._sdk import Client, Family, SDKSummarizer, got_async, recognize
from chatfold.summarizers.anthropic import AnthropicSummarizer
from chatfold.summarizers.function import FunctionSummarizer
from chatfold.summarizers.openai import Endpoint, OpenAISummarizer
from chatfold.threads import check_timeout

if TYPE_CHECKING:
    from chatfold.core.flow import Completion
    from chatfold.core.render import Prompt
    from chatfold.summarizers.native import NativeCompaction
    from chatfold.summarizers.native_anthropic import AnthropicCompaction
    from chatfold.summarizers.native_openai import OpenAICompaction

__all__ = [
    "LLM",
    "AnthropicCompaction",
    "AnthropicSummarizer",
    "AsyncSummarizer",
    "FunctionSummarizer",
    "OpenAICompaction",
    "OpenAISummarizer",
    "Summarizer",
    "SyncSummarizer",
    "asked",
    "asks_model",
    "checked_native",
    "is_native",
    "resolve",
    "senders",
]


def __getattr__(name: str) -> object:
    """Return a backend of native compaction, from its own module."""
    if name == "OpenAICompaction":
        from chatfold.summarizers.native_openai import OpenAICompaction

        return OpenAICompaction
    if name == "AnthropicCompaction":
        from chatfold.summarizers.native_anthropic import AnthropicCompaction

        return AnthropicCompaction
    raise AttributeError(f"module 'chatfold.summarizers' has no attribute {name!r}")


@runtime_checkable
class SyncSummarizer(Protocol):
    """What `summarize` needs of a summarizer; `asummarize` calls it in a thread."""

    def complete(self, prompt: Prompt) -> Completion:
        """Return the model's answer to the prompt."""
        ...


@runtime_checkable
class AsyncSummarizer(Protocol):
    """What `asummarize` needs of a summarizer."""

    async def acomplete(self, prompt: Prompt) -> Completion:
        """Return the model's answer to the prompt."""
        ...


class Summarizer(SyncSummarizer, AsyncSummarizer, Protocol):
    """Turns a prompt into a completion, for both kinds of callers.

    A summarizer of your own may have only one of the two methods; `complete` or `acomplete` may
    also return plain text.
    """


LLM: TypeAlias = "Callable[[Prompt], str | Completion | Awaitable[str | Completion]] | object"
"""Anything that can answer: see `ChatContext.summarize`. A function's parameter is a `Prompt`."""

_FUNCTIONS = (FunctionType, MethodType)
_ACCEPTED = (
    "an OpenAI or Anthropic client with model=, an object with complete() or acomplete(), "
    '"openai:<model>", "anthropic:<model>", "extractive", a callable that takes a Prompt and '
    "returns text, or a list of these"
)


def resolve(
    llm: object,
    *,
    model: str | None = None,
    timeout: float | None = 60.0,
    retries: int = 1,
    asynchronous: bool,
    request: Mapping[str, Any] | None = None,
) -> list[Summarizer]:
    """Return the summarizers of a fallback chain, in the order in which they are tried.

    Nothing is sent. Time-outs and retries apply to what is made here; a summarizer of chatfold's
    that the caller made keeps its own. Callables and the caller's own summarizers are called once.

    Args:
        llm: A client of the OpenAI or Anthropic SDK or its resource (`client.responses`, ...), a
            summarizer, "openai:<model>", "anthropic:<model>", "extractive", a callable, or a
            list or tuple of these.
        model: Name of the model for the clients in `llm`.
        timeout: Seconds that one model call may take; None for no limit.
        retries: How often an SDK repeats a failed request.
        asynchronous: Whether the summarizers are to be awaited.
        request: The fields of the live request, in append mode; its model is that of clients
            where `model` is None.

    Raises:
        TypeError: `llm` is nothing of this kind, is asynchronous in a synchronous call, or
            `model` is missing or out of place.
        ValueError: A string names no summarizer, the list is empty, or a number is out of range.
        MissingExtraError: The SDK that a string names is not installed.
        SummarizerError: The SDK that a string names finds no API key.
    """
    check_timeout(timeout)
    check_model("model", model)
    check_whole("retries", retries, 0)
    if type(llm) in _FUNCTIONS and model is None:  # which can be nothing else
        return [FunctionSummarizer(_callable(llm, asynchronous), timeout=timeout)]
    chain = list(members(llm))
    if not chain:
        raise ValueError(f"the list of summarizers is empty; expected {_ACCEPTED}")
    clients = [recognize(member) for member in chain]
    if model is not None and not any(clients):
        for member in chain:
            if not isinstance(member, str):  # to leave model= out would be no remedy for it
                _from_other(member, timeout, retries, asynchronous)
        raise TypeError(
            f"model= goes with a client, got {_named(chain[0])}; "
            'write "openai:<model>" or "anthropic:<model>", or leave model= out'
        )
    model = model or (request or {}).get("model")
    return [
        _from_client(client, model, timeout, retries, asynchronous)
        if client is not None
        else _from_other(member, timeout, retries, asynchronous)
        for member, client in zip(chain, clients, strict=True)
    ]


def asks_model(summarizer: Summarizer) -> bool:
    """Return whether a summarizer asks a model; what the caller has made is taken to ask one."""
    return getattr(summarizer, "asks_model", True) is not False


def is_native(llm: object) -> bool:
    """Return whether `llm` folds natively: it takes items, not prompts."""
    return callable(getattr(llm, "owns", None)) and callable(getattr(llm, "compact", None))


def checked_native(
    llm: object, settings: Any, model: str | None, *, asynchronous: bool
) -> NativeCompaction:
    """Return a backend of native compaction that can be used so.

    Raises:
        TypeError: It is an asynchronous one in a synchronous call, or `model` is given.
        ValueError: Append mode is wanted, or an option cannot hold, as the provider gets the
            items themselves.
    """
    native = cast("NativeCompaction", llm)
    if native.asynchronous and not asynchronous:
        raise got_async(repr(native))
    if model is not None:
        raise TypeError(f"{native!r} has its model; leave model= out")
    if settings.mode == "append":
        raise ValueError(
            f"mode='append' asks for a summary in words, and {native!r} folds natively; pass the "
            "client itself, or leave mode= out"
        )
    for name in ("redact", "post_process"):
        if getattr(settings, name) is not None:
            raise ValueError(
                f"{name}= cannot be kept by {native!r}: the provider is sent the items themselves "
                "and writes what only it can change; leave one of the two out"
            )
    return native


def _named(llm: object) -> str:
    """Return a name for an object that shows nothing of what it holds."""
    if isinstance(llm, str):
        return repr(llm)
    return f"the class {llm.__name__}" if isinstance(llm, type) else type(llm).__name__


def _from_client(
    found: Client, model: str | None, timeout: float | None, retries: int, asynchronous: bool
) -> Summarizer:
    made: SDKSummarizer
    if found.family == "anthropic":
        made = AnthropicSummarizer(found.client, model or "", timeout=timeout, retries=retries)
    else:
        endpoint: Endpoint = "responses" if found.endpoint == "responses" else "chat"
        made = OpenAISummarizer(
            found.client, model or "", endpoint=endpoint, timeout=timeout, retries=retries
        )
    if made.asynchronous and not asynchronous:
        raise got_async(type(found.client).__name__)
    return made


def _from_other(llm: object, timeout: float | None, retries: int, asynchronous: bool) -> Summarizer:
    if isinstance(llm, str):
        return _from_name(llm, timeout, retries, asynchronous)
    if isinstance(llm, type):
        raise TypeError(f"got {_named(llm)}, not an instance; expected {_ACCEPTED}")
    if is_native(llm):
        raise TypeError(f"{llm!r} folds items natively and stands alone; pass it without a list")
    if type(llm).__module__.startswith(f"{__name__}."):
        if getattr(llm, "asynchronous", False) and not asynchronous:
            client = getattr(llm, "client", None)
            raise got_async("an async function" if client is None else type(client).__name__)
        return cast("Summarizer", llm)
    return FunctionSummarizer(_callable(llm, asynchronous), timeout=timeout)


def _callable(llm: object, asynchronous: bool) -> Callable[[Prompt], Any]:
    """Return what to call: a method of the caller's summarizer, or the caller's function."""
    sync: object = getattr(llm, "complete", None)
    awaited: object = getattr(llm, "acomplete", None)
    if asynchronous and callable(awaited):
        return awaited
    if callable(sync) and (asynchronous or not is_async(sync)):
        return sync
    if callable(sync) or callable(awaited):
        raise got_async(_named(llm))
    if not callable(llm):
        raise TypeError(f"cannot summarize with {_named(llm)}; expected {_ACCEPTED}")
    if is_async(llm) and not asynchronous:
        raise got_async("an async function")
    return llm


def _from_name(name: str, timeout: float | None, retries: int, asynchronous: bool) -> Summarizer:
    if name == "extractive":
        from chatfold.summarizers.extractive import Extractive

        return Extractive()
    sdk, _, model = name.partition(":")
    if model and sdk in ("openai", "anthropic"):
        family: Family = "openai" if sdk == "openai" else "anthropic"
        return NamedSummarizer(
            family, model, timeout=timeout, retries=retries, asynchronous=asynchronous
        )
    raise ValueError(f"no summarizer is named {name!r}; expected {_ACCEPTED}")
