"""The lines by which programs in a shell say that they failed, where no exit code is given.

Not here: exit codes, and words that any tool may say (`unmade`, `words`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from chatfold.core.effects.shell_commands import as_run, effect_of_command
from chatfold.core.effects.tool_names import is_shell, program_of
from chatfold.core.stands_in import stands_in

__all__ = ["ended_well", "failing_line"]

_READ = 4000  # characters at the start of an output, and at its end, that are looked at
_LINE = 300  # characters of a line
# What the C library says of an error number: `strerror(3)`.
_ERRNO = (
    r"(?:no such (?:file or directory|process|device)|permission denied|operation not permitted"
    r"|(?:file|directory) (?:exists|not empty)|(?:not|is) a directory|no space left on device"
    r"|connection (?:refused|reset by peer|timed out)|operation timed out|no route to host"
    r"|(?:network|host) is (?:unreachable|down)|name or service not known|read-only file system"
    r"|device or resource busy|text file busy|invalid argument|argument list too long"
    r"|input/output error|cannot allocate memory|too many open files|disk quota exceeded"
    r"|file name too long|broken pipe|no child processes|exec format error)"
)
_MARKS = (
    r"(?:[\u2500-\u257f\u203a\u276f\u2716\u2717\xd7!*>\s]{1,6}|\[(?:info|error)\] )?"  # frames too
)
# A line that says so wherever it stands: nothing goes on behind it, or what does is in vain.
_SURE = re.compile(
    rf"{_MARKS}(?:fatal: |npm (?:err!|error) |err_pnpm_\w|error command failed\b|graphql: "
    r"|curl: \([1-9]\d?\) |rsync error: |make(?:\[\d+\])?: \*\*\* |(?:unauthorized|denied): "
    r"|(?:a dependency )?job for \S+ failed\b|error during build\b|error\[e\d+\]: "
    r"|(?:failure: )?build (?:failed|failure)\b|\d+ out of \d+ hunks? failed\b"
    r"|the connection to the server \S{1,200} was refused\b|\S{1,60} is not in the sudoers file\b"
    r"|(?:\S{1,200}: |\S{1,200}\(\d+,\d+\): )error ts\d+: "
    r"|\S{1,200}:\d+:(?:\d+:)? (?:fatal )?error: |\S{1,200}\.go:\d+:\d+: "
    r"|(?:nothing (?:added )?to commit|no changes added to commit)\b"
    r"|- (?:exit code: [1-9]\d*|files were modified by this hook)$|[\d: -]{0,30}error [45]\d\d: "
    r"|.{1,200}(?:returned a non-zero code|did not complete successfully: exit code"
    r"|failed to build: exit code|\bexited with(?: code)?):? [1-9]\d*\.?$)",
    re.IGNORECASE,
)
_NEAR_THE_END = 6  # lines, in which an error was the last: one before may have been overcome
# All that is put out where there was nothing to do it to, by kubectl and by git.
_NOTHING = re.compile(r"no (?:resources found|local changes to save)\b", re.IGNORECASE)
_BEGINS = re.compile(r"(?:^|(?<=[\s&|(/]))")  # a program in a command
_ENDS = re.compile(r"\s|$")
_SEVERAL = re.compile(r"[;&|\n]")  # of which one said so, or came before
_AROUND = re.compile(r"\A\s*cd [^;&|\n]{1,200}&&|\d?>&\d|&>>? ?\S+|\d?>>? ?/dev/null")
_ERROR = re.compile(rf"{_MARKS}error: ", re.IGNORECASE)
_LAST = re.compile(rf"[\w./+-]{{1,60}}: .{{0,200}}\b{_ERRNO}\.?$", re.IGNORECASE)
_EXCEPTION = re.compile(r"[A-Za-z_.]{0,80}(?:Error|Exception)(?:: |$)")
_OF_ITSELF = re.compile(r"([\w.+-]{2,40}): ")
_COMPLAINS = re.compile(
    r"\b(?:already exists|bad|can(?:not|['\u2019]t)|could(?: not|n['\u2019]t)|denied|emerg|error"
    r"|failed|illegal|invalid|missing|no|not|refused|required|unable|unexpected|unknown|unrecognized)\b"
    r"(?!.*\(ignored\)|.*\bwarning\b)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r";|\|\||\n")  # behind a command that failed
_ENDED_WELL = re.compile(r"successfully (?:built|installed|uninstalled|rebased)\b", re.IGNORECASE)
_WELL = re.compile(
    r"exit(?:ed with)?[ _]?code[:= ]{1,2}0\b|exit(?:ed)?[ _]?status[:= ]{1,2}0\b", re.I
)


def failing_line(text: str, name: str, given: Callable[[], Iterable[str]]) -> str | None:
    """Return the line by which the output of a command says that it failed, if there is one.

    Where another command runs although the first has failed, that one may have done its work; and
    what only looks puts out what others have said.

    Args:
        text: The output.
        name: The name of the tool; those that run no commands write other texts.
        given: Returns the texts that the call was given: a program that names itself in front of
            what it says has something to complain about.
    """
    tool = program_of(name)
    if not (tool or is_shell(name)) or _WELL.search(text[-_READ:]):
        return None
    commands = [*given()] if tool is None else [as_run(tool, " ".join(given()))]
    if any(map(_GOES_ON.search, commands)) or "read" in map(effect_of_command, commands):
        return None
    lines = _lines(text)
    found = next(filter(_SURE.match, lines), None)
    found = found or next(filter(_ERROR.match, lines[-_NEAR_THE_END:]), None)
    if found is not None:
        return found
    last = lines[-1] if lines else ""
    is_all = len(lines) == 1 and not any(
        _SEVERAL.search(_AROUND.sub("", command)) for command in commands
    )
    if _LAST.match(last) or _EXCEPTION.match(last) or (is_all and _NOTHING.match(last)):
        return last
    program = _OF_ITSELF.match(last)
    is_its_own = program is not None and _runs(program[1], commands)
    return last if is_its_own and _COMPLAINS.search(last) else None


def ended_well(text: str, name: str) -> bool:
    """Return whether the last line of a command's output says that it went well, whatever else."""
    if not (is_shell(name) or program_of(name)):
        return False
    return any(map(_ENDED_WELL.match, _lines(text)[-1:]))


def _runs(program: str, commands: Iterable[str]) -> bool:
    """Return whether one of the commands is of a program."""
    return any(stands_in(command, program, _BEGINS, _ENDS) for command in commands)


def _lines(text: str) -> list[str]:
    """Return the lines at the start and at the end of a text that say something."""
    if len(text) > 2 * _READ:
        text = f"{text[:_READ]}\n{text[-_READ:]}"
    return [line.strip()[:_LINE] for line in text.splitlines() if line.strip()]
