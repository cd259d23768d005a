"""Whether a shell command changes things, by the words of each command in it.

A flag counts however it is written (`-X POST`, `-sXPOST`, `--request=POST`). Who is in doubt says
so: a command that changes things is never to be taken for one that looks.

Not here: which tools are shells (`of_calls`), how a line is taken apart (`shell_line`), what is
known of programs (`shell_programs`), programs that run others (`shell_runners`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chatfold.core.effects.given import effect_of_arguments, effect_of_method
from chatfold.core.effects.shell_line import is_text, taken_apart, text_of
from chatfold.core.effects.shell_programs import (
    ALIASES,
    CHECKING,
    FLAGS,
    GROUPS,
    LISTING,
    LOOKING,
    OPERANDS,
    READS,
    TOOLS,
    VALUED,
    WRITES,
    Flags,
    Group,
)
from chatfold.core.effects.shell_runners import behind_runners, effect_of_client, script_of
from chatfold.core.effects.tool_names import Effect, effect_of_words, heaviest

__all__ = ["as_run", "effect_of_command"]

_SCRIPT_ACTS = re.compile(  # awk: writes a file, runs a program; sed: writes a file, runs a line
    r"\bprintf?\b[^;}\n]*[>|]|\bsystem\s*\(|\|\s*getline"
    r"|(?:^|[;{}\n/$\d])\s*[gpI\d]*[wWe](?:\s|$)"
)
_STRING = re.compile(r'"[^"]*"')
_SETS_A_DATE = re.compile(r"\d{8,}(?:\.\d\d)?")
_HELP = frozenset(("--help", "--version", "-V", "-version"))
_DRY = re.compile(r"--?(?:dry-?run|what-?if)(?:=(?!false|none).*)?", re.IGNORECASE)
_COMMANDLET = re.compile(r"[A-Z][a-z]+-[A-Z]\w+")  # of PowerShell
_SUBCOMMAND = re.compile(r"[a-z][a-z\d]*(?:[-_:][a-z\d]+)*", re.IGNORECASE)
_FIRST = re.compile(r"[-_]")
_REQUESTS = frozenset(("curl", "gh api"))
_LONGEST = 4000  # characters of a command that are looked at; quotes that never close cost most


def as_run(program: str, line: str) -> str:
    """Return the command of a tool that is called like a program, which may be in its line too."""
    return line if line.split(maxsplit=1)[:1] == [program] else f"{program} {line}"


def effect_of_command(command: str) -> Effect:
    """Return whether a command line changes things; one command that does is enough."""
    line = taken_apart(command[:_LONGEST])
    if line.writes:
        return "write"
    effects: set[Effect] = {_of_one(words) for words in line.commands}
    if len(command) > _LONGEST:
        effects.add("unknown")
    return heaviest(effects) or "unknown"


def _of_one(words: Sequence[str]) -> Effect:
    """Return the effect of one simple command, given as its words."""
    behind = behind_runners(words)
    if behind is None:
        return "unknown"
    if not behind or behind[0].startswith("#"):
        return "read"
    first, rest = behind[0], behind[1:]
    program = first.strip("(){}").rpartition("/")[2].removesuffix(".exe")
    script = text_of(first) if is_text(first) else script_of(program, rest)
    if script is not None:
        return effect_of_command(script)
    if any(_DRY.fullmatch(word) for word in rest) or (rest and _HELP.issuperset(rest)):
        return "read"
    return effect_of_client(program, rest) or _of_program(program, rest)


def _of_program(program: str, rest: Sequence[str]) -> Effect:
    """Return the effect of a program by what is known of it."""
    if program == "uv" and rest[:1] == ["pip"]:
        rest = rest[1:]
    program = ALIASES.get(program, program)
    if _is_told_to_check(program, rest):
        return "read"
    if program in GROUPS:
        return _of_group(program, rest)
    if program in WRITES:
        return "write"
    if program in READS:
        return _of_reader(program, rest)
    return _of_tool(program, rest)


def _is_told_to_check(key: str, rest: Sequence[str]) -> bool:
    """Return whether a program, or a program and a word, has a flag with which it only looks."""
    flag = CHECKING.get(key)
    return flag is not None and flag.search(" ".join(rest)) is not None


def _of_tool(program: str, rest: Sequence[str]) -> Effect:
    """Return the effect of a tool whose subcommands say in plain words what it does."""
    if _COMMANDLET.fullmatch(program):
        return effect_of_words(program) or "unknown"
    name = program if program in TOOLS else " ".join((program, *rest[:1]))
    if name not in TOOLS:
        return "unknown"
    if any(effect_of_arguments(text_of(word)) == "write" for word in rest if is_text(word)):
        return "write"
    said: set[Effect | None] = {
        _of_subcommand(word) for word in _subcommands(rest[name.count(" ") :])
    }
    return heaviest(said) or "unknown"


def _subcommands(rest: Sequence[str]) -> Iterator[str]:
    """Yield the words up to the first flag behind a word: what follows may be names of things."""
    begun = False
    for word in rest:
        if word.startswith("-"):
            if begun:
                return
        elif _SUBCOMMAND.fullmatch(word):
            begun = True
            yield word


def _of_subcommand(word: str) -> Effect | None:
    """Return what a word says, such as `delete-stack`, `ls`, or `view:clear`, if it says it."""
    parts = word.split(":")
    if any(part in WRITES or effect_of_words(part) == "write" for part in parts):
        return "write"
    return "read" if any(_FIRST.split(part.lower())[0] in LOOKING for part in parts) else None


def _of_reader(program: str, rest: Sequence[str]) -> Effect:
    """Return the effect of a program that only looks unless it is told otherwise."""
    found = _by_flags("fd" if program == "fdfind" else program, rest)
    if found != "read":
        return found
    if program in ("awk", "sed") and any(_acts(word) for word in rest):
        return "unknown"
    operands = [word for word in rest if word[0] not in "-+<" and not word.isdigit()]
    if program in OPERANDS and len(operands) > OPERANDS[program]:
        return "unknown"
    if program == "date" and any(_SETS_A_DATE.fullmatch(word) for word in rest):
        return "unknown"
    return "read"


def _acts(word: str) -> bool:
    """Return whether a word is a script of awk or sed that changes things."""
    return is_text(word) and _SCRIPT_ACTS.search(_STRING.sub('""', text_of(word))) is not None


def _of_group(key: str, rest: Sequence[str]) -> Effect:
    """Return the effect of a program whose next word decides, or the one behind that."""
    group = GROUPS[key]
    operands = list(_operands(key, rest))
    if not operands:
        return "read" if _HELP & {*rest} else _together(group.alone, _by_flags(key, rest))
    if group.mixed:
        named = [word for _, word in operands if "=" not in word]
        return _together(_by_flags(key, rest), _of_each(group, named))
    place, word = operands[0]
    longer, behind = f"{key} {word}", rest[place + 1 :]
    if _is_told_to_check(longer, behind):
        return "read"
    if longer in LISTING:
        return _of_listing(longer, behind)
    if longer in GROUPS:
        return _of_group(longer, behind)
    if word in group.writes:
        return "write"
    if word not in group.reads:
        return "unknown"
    return _together(_by_flags(key, rest), _by_flags(longer, behind))


def _of_each(group: Group, words: Sequence[str]) -> Effect:
    if any(word in group.writes for word in words):
        return "write"
    return "read" if words and group.reads.issuperset(words) else "unknown"


def _of_listing(key: str, rest: Sequence[str]) -> Effect:
    """Return the effect of a subcommand that lists, or makes what it is given the name of."""
    found = _by_flags(key, rest)
    if found != "read":
        return found
    listing = LISTING[key]
    flags = [word for word in rest if word.startswith("-")]
    if any(listing.patterns.fullmatch(flag) for flag in flags):
        return "read"
    if not all(listing.flags.fullmatch(flag) for flag in flags):
        return "unknown"
    return listing.makes if any(_operands(key, rest)) else "read"


def _operands(key: str, rest: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the words that are neither flags nor their values, with their places."""
    valued = VALUED.get(key, frozenset())
    is_value = False
    for place, word in enumerate(rest):
        if not is_value and word[0] not in "-+<":
            yield place, word
        is_value = word in valued


def _by_flags(key: str, rest: Sequence[str]) -> Effect:
    """Return whether the flags of a command that looks make it change things."""
    known = FLAGS.get(key)
    if known is None:
        return "read"
    effect: Effect = "read"
    for place, word in enumerate(rest):
        for flag, value in _changing(known, word, exact=key in _REQUESTS):
            given = value or "".join(rest[place + 1 : place + 2])
            effect = _together(effect, _of_request(flag, given) if key in _REQUESTS else "write")
    return effect


def _changing(known: Flags, word: str, *, exact: bool) -> Iterator[tuple[str, str]]:
    """Yield the flags in a word by which things are changed, with the value in the same word."""
    if word.startswith("--") or (known.one_dash and word.startswith("-")):
        name, _, value = word.lstrip("-").partition("=")
        if name in known.long or (
            not exact and len(name) > 1 and any(long.startswith(name) for long in known.long)
        ):
            yield name, value
    elif word.startswith("-"):
        for place, letter in enumerate(word[1:], 2):
            if letter in known.valued:
                return
            if letter in known.short:
                yield letter, word[place:]
                return


def _of_request(flag: str, value: str) -> Effect:
    """Return what a flag of a request does: a method may be one that only looks."""
    if flag in ("K", "config"):
        return "unknown"
    if flag not in ("X", "method", "request"):
        return "write"
    return effect_of_method(value) or ("write" if value.isalpha() else "unknown")


def _together(*effects: Effect) -> Effect:
    return heaviest(effects) or "unknown"
