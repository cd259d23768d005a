"""What is called for a tool call, and with what; every failure on the way is a value.

Not here: waiting, threads and loops (`_drivers`), and the words of results (`_texts`).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, cast

from chatfold.core.arguments import unwrapped
from chatfold.core.callables import is_async
from chatfold.core.calls import ToolCallRecord
from chatfold.tools._returned import Content
from chatfold.tools._texts import Failure, described

__all__ = [
    "Outcome",
    "Read",
    "Target",
    "Tool",
    "awaited",
    "called",
    "checked_tools",
    "target",
]


class Invokes(Protocol):
    """A tool with a method for its arguments, as LangChain's are."""

    def invoke(self, arguments: Any, /) -> Any:
        """Return the result for arguments given as one dict."""
        ...


class AsyncInvokes(Protocol):
    """A tool with an asynchronous method for its arguments, as LangChain's are."""

    async def ainvoke(self, arguments: Any, /) -> Any:
        """Return the result for arguments given as one dict."""
        ...


Tool: TypeAlias = Callable[..., Any] | Invokes | AsyncInvokes
"""What answers a call: a sync or async callable, or an object with `invoke` or `ainvoke`.

A callable gets the arguments by keyword, `invoke` gets them as one dict; for a custom (free-text)
call either gets the text alone.
"""

Outcome: TypeAlias = Content | Failure | KeyboardInterrupt
"""How a call ended: with a result, or without one. A KeyboardInterrupt ends the run."""

Read: TypeAlias = Callable[[object], Content | Failure]
"""Returns what a tool returned as what answers its call."""


class Target(NamedTuple):
    """What is called for a tool call.

    Attributes:
        function: Calls the tool with its arguments.
        asynchronous: Whether that only makes something to await, so that it blocks no loop.
    """

    function: Callable[[], Any]
    asynchronous: bool


def checked_tools(tools: Mapping[str, Tool]) -> dict[str, Tool]:
    """Return the tools by name, as they are now.

    Raises:
        TypeError: `tools` is not a mapping of names to what can be called.
    """
    if not isinstance(tools, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            "tools must be a mapping of tool names to callables, such as "
            f'{{"get_order": get_order}}, not {type(tools).__name__}'
        )
    made = dict(tools)
    for name, tool in cast("dict[object, object]", made).items():
        if not isinstance(name, str):
            raise TypeError(f"the names of tools must be text, not {name!r}")
        if not (callable(tool) or _has(tool, "invoke") or _has(tool, "ainvoke")):
            raise TypeError(
                f"the tool {name!r} must be callable or have an invoke or ainvoke method; "
                f"it is of type {type(tool).__name__}"
            )
    return made


def _has(tool: object, method: str) -> bool:
    try:
        return callable(getattr(tool, method, None))
    except Exception:  # it has one, which fails; so will each call of it, and only those
        return True


def target(
    call: ToolCallRecord, tool: Tool | None, *, asynchronous: bool
) -> Target | Failure | KeyboardInterrupt:
    """Return what is to be called for `call`; never raises.

    Args:
        call: A call that a tool can answer.
        tool: The tool that it is for, None where there is none.
        asynchronous: Whether `ainvoke` goes before `invoke`.
    """
    try:
        return _target(call, tool, asynchronous)
    except BaseException as error:
        return _ended(error)


def called(target: Target, read: Read) -> Outcome | Awaitable[Any]:
    """Call a tool; return how that ended, or what is still to be awaited. Never raises."""
    try:
        result = target.function()
        return result if inspect.isawaitable(result) else _told(result, read)
    except BaseException as error:
        return _ended(error)


async def awaited(result: Awaitable[Any], read: Read) -> Outcome:
    """Wait for what an asynchronous tool returns; return how it ended. Never raises."""
    try:
        return _told(await result, read)
    except BaseException as error:
        return _ended(error)


def _told(result: object, read: Read) -> Outcome:
    try:
        return read(result)
    except BaseException as error:
        ended = _ended(error)
        return Failure("no_text", ended.detail) if isinstance(ended, Failure) else ended


def _ended(error: BaseException) -> Failure | KeyboardInterrupt:
    """Return what an exception says of a call: all but the user's own interrupt is its failure."""
    if isinstance(error, KeyboardInterrupt):
        return error
    from asyncio import CancelledError

    if isinstance(error, CancelledError):
        return Failure("interrupted")
    return Failure("raised", described(error))


def _target(call: ToolCallRecord, tool: Tool | None, asynchronous: bool) -> Target | Failure:
    if call.cut_off:
        return Failure("cut_off")
    if tool is None:
        return Failure("unknown_tool")
    custom = call.kind == "custom"
    arguments = call.raw_arguments if custom else _arguments(call.raw_arguments)
    if isinstance(arguments, Failure):
        return arguments
    blank = not custom and not call.raw_arguments.strip()
    method = _method(tool, asynchronous)
    if method is not None:
        if blank and not _declares_none(tool):
            return _BLANK
        return Target(partial(method, arguments), is_async(method))
    function = cast("Callable[..., Any]", tool)
    words, named = ((arguments,), {}) if isinstance(arguments, str) else ((), arguments)
    misfit = _misfit(function, words, named)
    if misfit:
        return Failure("misfit", misfit)
    if blank and not _takes_none(function):
        return _BLANK
    return Target(partial(function, *words, **named), is_async(function))


def _arguments(text: str) -> dict[str, Any] | Failure:
    """Return the arguments by name; none where a model wrote nothing."""
    if not text.strip():
        return {}
    try:
        value = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        return Failure("no_json", str(error))
    if not isinstance(value, dict):
        return Failure("no_object", _JSON_NAMES[type(value)])
    named = cast("dict[str, Any]", value)
    inner = unwrapped(named)
    return named if inner is None else _misread(inner)


def _no_number(name: str) -> float:
    """Refuse what Python alone takes for a number in JSON.

    Raises:
        ValueError: Always.
    """
    raise ValueError(f"{name} is no number of JSON")


def _misread(text: str) -> Failure:
    """Return why arguments that were wrapped to be sent back are none."""
    read = _arguments(text) if text.strip() else None
    return read if isinstance(read, Failure) else Failure("no_json", "they were cut off")


_BLANK: Final = Failure("no_json", "there are none; for no arguments, write {}")
"""Nothing is what some models write for no arguments, and what a limit leaves before the first."""


def _takes_none(function: Callable[..., Any]) -> bool:
    """Return whether a function has no parameters: nothing is then all that can be written."""
    try:
        own = inspect.signature(function, follow_wrapped=False).parameters.values()
        passes_on = all(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in own)
        # What a decorator passes on goes to the function beneath it.
        return not own or (passes_on and not inspect.signature(function).parameters)
    except Exception:  # as in `_misfit`; what is not known may have defaults
        return False


def _declares_none(tool: object) -> bool:
    """Return whether an object with `invoke` says, as LangChain's tools do, that it takes none."""
    declared: object = getattr(tool, "args", None)
    return isinstance(declared, Mapping) and not declared


_JSON_NAMES: Final[dict[type[Any], str]] = {
    list: "an array",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
}


def _method(tool: Tool, asynchronous: bool) -> Callable[..., Any] | None:
    """Return the method of a tool that takes its arguments as one dict, if it has one."""
    if inspect.isroutine(tool) or isinstance(tool, (type, partial)):
        return None
    for name in ("ainvoke", "invoke") if asynchronous else ("invoke", "ainvoke"):
        method: object = getattr(tool, name, None)
        if callable(method):
            return method
    return None


def _misfit(function: Callable[..., Any], words: tuple[str, ...], named: Mapping[str, Any]) -> str:
    """Return why the arguments do not fit, "" where they do or where that cannot be known."""
    try:
        # Not the signature that a decorator copied: it may have arguments of its own to add.
        signature = inspect.signature(function, follow_wrapped=False)
    except Exception:  # built-in code has none, and an object may refuse: the call itself will tell
        return ""
    try:
        signature.bind(*words, **named)
    except TypeError as error:
        return str(error)
    return ""
