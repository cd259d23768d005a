"""Whether a tool changes things, as the caller says or as its name and its command suggest.

A guess is a guess: who asks is told so. Not here: what becomes of the calls (`actions`), the words
of a name (`tool_names`), the commands of a shell (`shell_commands`), other arguments (`given`).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any, cast

from chatfold.core.by_hash import by_hash
from chatfold.core.calls import ToolCallRecord
from chatfold.core.effects.given import effect_of_arguments, may_say
from chatfold.core.effects.shell_commands import as_run, effect_of_command
from chatfold.core.effects.tool_names import (
    LONGEST,
    Effect,
    effect_of_name,
    effect_of_words,
    heaviest,
    is_for_sql,
    is_gateway,
    is_request,
    is_shell,
    program_of,
)
from chatfold.core.views import qualified
from chatfold.core.word_sets import word_set

__all__ = ["Effect", "effect_of", "effect_of_call", "effect_of_tool", "reads_by_name"]

_KINDS: Mapping[str, Effect] = {
    "apply_patch": "write",
    "handoff": "write",
    "tool_search": "read",
}
# Those of them that nothing they are given makes a write.
_READ_ALWAYS = word_set("file_search google_maps google_search url_context web_search")
# The argument by which one tool does several things, as text editors and memories do.
_SWITCHES = ("command", "action", "operation", "method", "mode")
_SWITCHED = word_set(
    "computer memory str_replace_based_edit_tool str_replace_editor text_editor "
    "text_editor_code_execution"
)
# The arguments by which a gateway is told the tool to call, and those that hold several such.
_CALLED = word_set("function functionname name tool toolname toolpath toolslug")
_CALLS = word_set("calls toolcalls tools")
# The arguments that are the line of a program behind its name, in order, and those that only say
# where or how long it runs.
_LINES = ("command", "cmd", "commands", "subcommand", "args", "arguments", "argv")
_LINES_AND_PLACES = frozenset(_LINES) | word_set(
    "cluster context cwd description dir directory explanation namespace profile project reason "
    "region repo repo_path repository timeout workdir working_dir working_directory"
)


def effect_of(
    name: str | None, told: Mapping[str, Effect], arguments: Any = None
) -> tuple[Effect, bool]:
    """Return whether a tool changes things, and whether that is a guess.

    Args:
        name: The tool's name, in any style: `create_rma`, `createRma`, `crm.rma-create`. It may be
            qualified, as records of earlier folds have it.
        told: What the caller says, by exact name, qualified or plain.
        arguments: What is known of what it was given, as JSON types.
    """
    if name is None:
        return "unknown", True
    called = _called(arguments) if name not in told and is_gateway(name) else []
    return _of_all(called or [name], told, arguments)


def _of_all(
    names: Iterable[str], told: Mapping[str, Effect], arguments: Any
) -> tuple[Effect, bool]:
    """Return what some tools do together, and whether that is a guess."""
    each = [_of_tool(name, told, arguments) for name in names]
    effect = heaviest([effect for effect, _ in each])
    assert effect is not None
    return effect, any(guess for _, guess in each)


def _of_tool(name: str, told: Mapping[str, Effect], arguments: Any) -> tuple[Effect, bool]:
    if name in told:
        return told[name], False
    own = name.rpartition(".")[2]
    if told.get(own) == "write":  # where a name only ends so, a read may be told of another tool
        return "write", False
    # Where it lives says nothing of what it does, and where its name begins nobody can tell.
    effect = effect_of_name(name)
    effect = effect_of_name(own) if effect == "read" else effect
    given = effect_of_arguments(arguments, of_sql=is_for_sql(name) or is_for_sql(own))
    return _with_given(name, effect, given), True


def effect_of_call(call: ToolCallRecord, told: Mapping[str, Effect]) -> tuple[Effect, bool]:
    """Return whether a call changes things, and whether that is a guess.

    The command of a shell decides, the method of a request, and the tool that a gateway is told to
    call. A call that is given a method such as POST, or a statement that changes a database, is a
    write under any name. Where the name leaves it open, a statement that only looks is a read, and
    the argument decides by which a tool with several uses is told what to do.
    """
    known = effect_of_tool(call.name, call.kind, told, call.namespace)
    if known is not None:
        return known
    name = call.name or ""
    if is_gateway(name) and (called := _called(call.arguments)):
        return _of_all(called, told, call.arguments)
    if _is_shell(name, call.kind):
        return effect_of_command(_command(call)), True
    program = program_of(name)
    if program is not None and (run := _run(program, call)) is not None:
        return run, True
    effect = effect_of_name(name)
    given = None
    if effect == "unknown" or may_say(call.raw_arguments):
        given = effect_of_arguments(call.arguments, of_sql=is_for_sql(name))
    if effect != "read" or _is_switched(name):
        switched = _switched(call)
        effect = effect if switched == "unknown" else switched
    return _with_given(name, effect, given), True


def effect_of_tool(
    name: str | None, kind: str, told: Mapping[str, Effect], namespace: str | None = None
) -> tuple[Effect, bool] | None:
    """Return the same for all calls of a tool, by its name and their kind.

    None where what it is given may decide. What the caller says of it where it lives comes first.
    """
    if name is not None:
        home = None if namespace is None else told.get(qualified(name, namespace))
        said = told.get(name) if home is None else home
        if said is not None:
            return said, False
    known = _by_name(name or "", kind)
    return None if known is None else (known, True)


def reads_by_name(
    name: str | None, kind: str, told: Mapping[str, Effect], namespace: str | None = None
) -> bool:
    """Return whether a tool only looks, but for calls that are given what says otherwise."""
    known = effect_of_tool(name, kind, told, namespace)
    if known is not None:
        return known[0] == "read"
    called = name or ""
    is_open = _is_shell(called, kind) or _is_switched(called)
    return not is_open and effect_of_name(called) == "read"


def _with_given(name: str, effect: Effect, given: Effect | None) -> Effect:
    """Return what a call does, by what else is known of it and by what its arguments say."""
    if given is not None and is_request(name):
        return given
    if given is None or given == effect or effect == "write":
        return effect
    return given if given == "write" or effect == "unknown" else "unknown"


@by_hash(512)
def _by_name(name: str, kind: str) -> Effect | None:
    """Return what a call does whatever it is given, None where its arguments may decide.

    What a name promises to read may still be given a method or a statement that changes things,
    so only the built-in tools of providers, whose arguments are known, read in any case.
    """
    known = _KINDS.get(kind)
    if known is not None:
        return known
    if _is_shell(name, kind) or _is_switched(name) or is_request(name) or is_gateway(name):
        return None
    effect = effect_of_name(name)
    return effect if effect == "write" or name.lower() in _READ_ALWAYS else None


def _is_switched(name: str) -> bool:
    plain = name.lower()
    # Providers date their tools: memory_20250818.
    return (plain.rpartition("_20")[0] or plain) in _SWITCHED


def _is_shell(name: str, kind: str) -> bool:
    return kind in ("shell", "local_shell") or is_shell(name)


def _run(program: str, call: ToolCallRecord) -> Effect | None:
    """Return the effect of a tool that is called like a program, None where it is given no line.

    What only looks by its line may do more by another argument: `git(command="tag", sign="v2")`.
    """
    arguments = call.arguments
    if not isinstance(arguments, dict):
        return None
    fields = cast(dict[str, Any], arguments)
    commands = fields.get("commands")
    several = cast(list[Any], commands) if isinstance(commands, list) else []
    rest = (fields.get(key) for key in _LINES if not (several and key == "commands"))
    lines = [*filter(None, map(_words, several)), " ".join(filter(None, map(_words, rest)))]
    lines = [as_run(program, line) for line in lines if line]
    if not lines:
        return None
    effect = effect_of_command("\n".join(lines))
    is_whole = _LINES_AND_PLACES.issuperset(fields)
    return effect if is_whole or effect == "write" else "unknown"


def _command(call: ToolCallRecord) -> str:
    """Return the command line that a shell is given, "" where it cannot be read."""
    arguments = call.arguments
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, dict):
        return ""
    fields = cast(dict[str, Any], arguments)
    others = (key for key in fields if is_shell(key))  # bash_command, CommandLine
    for key in ("command", "commands", "cmd", "script", "code", "input", *others):
        text = _text(fields.get(key), key)
        if text is not None:
            return text
    return ""


def _called(arguments: Any) -> list[str]:
    """Return the tools that a gateway is told to call, by their names."""
    names: list[str] = []
    left: list[Any] = [arguments]
    while left:
        each = left.pop()
        if isinstance(each, list):
            left += cast(list[Any], each)
        elif isinstance(each, dict):
            for key, value in cast(dict[str, Any], each).items():
                plain = key.lower().replace("_", "").replace("-", "")
                if plain in _CALLS or (plain in _CALLED and isinstance(value, dict)):
                    left.append(value)
                elif plain in _CALLED and isinstance(value, str) and value:
                    names.append(value)
    return names


def _words(value: Any) -> str:
    """Return an argument that is a part of a command line, "" where it is none."""
    if isinstance(value, list):
        return " ".join(shlex.quote(w) for w in cast(list[Any], value) if isinstance(w, str))
    return value if isinstance(value, str) else ""


def _text(value: Any, key: str) -> str | None:
    """Return an argument that is a command, None where it is none."""
    if isinstance(value, str):
        return value
    return _joined(cast(list[Any], value), key) if isinstance(value, list) else None


def _joined(words: list[Any], key: str) -> str:
    """Return a list as one text: whole commands by line, the words of one command by space."""
    texts = [word for word in words if isinstance(word, str)]
    if key == "commands":
        return "\n".join(texts)
    if len(texts) > 2 and texts[1] in ("-c", "-lc", "-Command"):
        return texts[2]
    return " ".join(texts)


def _switched(call: ToolCallRecord) -> Effect:
    arguments = call.arguments
    if not isinstance(arguments, dict):
        return "unknown"
    fields = cast(dict[str, Any], arguments)
    for key in _SWITCHES:
        value = fields.get(key)
        if isinstance(value, str) and len(value) <= LONGEST:
            effect = effect_of_words(value, call.name or "")
            if effect is not None:
                return effect
    return "unknown"
