"""Whether a shell command changes things, by the words of each command in it.

A flag counts however it is written (`-X POST`, `-sXPOST`, `--request=POST`). Who is in doubt says
so: a command that changes things is never to be taken for one that looks.

Not here: which tools are shells (`effects`), what is known of programs (`shell_programs`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chatfold.core.shell_programs import (
    ALIASES,
    FLAGS,
    GROUPS,
    LISTING,
    OPERANDS,
    READS,
    VALUED,
    WRITES,
    Flags,
    Group,
)
from chatfold.core.tool_names import Effect

__all__ = ["effect_of_command"]

_BEFORE = frozenset(
    ("command", "env", "exec", "nice", "nohup", "stdbuf", "sudo", "time", "timeout", "xargs")
)
_SEPARATORS = re.compile(r"&&|\|\||[;|\n&]")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_PLAIN = re.compile(r"[\w./:@%+,=-]+")
_SCRIPT_ACTS = re.compile(  # awk: writes a file, runs a program; sed: writes a file, runs a line
    r"\bprintf?\b[^;}\n]*[>|]|\bsystem\s*\(|\|\s*getline"
    r"|(?:^|[;{}\n/$\d])\s*[gpI\d]*[wWe](?:\s|$)"
)
_STRING = re.compile(r'"[^"]*"')
_ACTS = "''!"  # stands for a quoted text that changes things where a program runs it
_SUM = re.compile(r"\$\(\([^()]*\)\)")
_INSIDE = re.compile(r"[$<>]\(([^()]*)\)|`([^`]*)`")  # a command in another
_BEGUN = re.compile(r"[$<>]\(|`")
_TO_A_FILE = re.compile(r"(?<![-=<])(?:\d|&)?>>?(?!&-)(?!\s*/dev/null)(?!\()")
_HARMLESS = re.compile(r"(?:\d|&)?>>?\s*(?:/dev/null|&\d)")
_ASSIGNMENT = re.compile(r"\w+=\S*")
_SETS_A_DATE = re.compile(r"\d{8,}(?:\.\d\d)?")
_HELP = frozenset(("--help", "--version"))
_LOOKS = frozenset(("GET", "HEAD", "OPTIONS"))
_LONGEST = 4000  # characters of a command that are looked at; quotes that never close cost most


def effect_of_command(command: str) -> Effect:
    """Return whether a command line changes things; one command that does is enough."""
    text = command[:_LONGEST].replace("\\\n", " ")
    bare = _HARMLESS.sub(" ", _SUM.sub("0", _QUOTED.sub(_unquoted, text)))
    if not bare.strip():
        return "unknown"
    inner: list[str] = []
    found = 1
    while found:
        inner += (one or other for one, other in _INSIDE.findall(bare))
        bare, found = _INSIDE.subn("''", bare)
    whole = ";".join((bare, *inner, *_BEGUN.findall(bare)))
    if _TO_A_FILE.search(whole):
        return "write"
    effects = {_of_one(part.split()) for part in _SEPARATORS.split(whole) if part.strip()}
    if "write" in effects:
        return "write"
    return "read" if effects == {"read"} and len(command) <= _LONGEST else "unknown"


def _unquoted(quoted: re.Match[str]) -> str:
    """Return what stands for a quoted text: a word as it is, the commands that a text runs."""
    text = quoted[0][1:-1]
    if _PLAIN.fullmatch(text):
        return text
    if quoted[0][0] == '"' and _BEGUN.search(text):
        ends = "".join(_BEGUN.findall(_INSIDE.sub("", text)))
        return "''" + "".join(found[0] for found in _INSIDE.finditer(text)) + ends
    return _ACTS if _SCRIPT_ACTS.search(_STRING.sub('""', text)) else "''"


def _of_one(words: list[str]) -> Effect:
    """Return the effect of one simple command, given as its words."""
    while words and (
        _ASSIGNMENT.fullmatch(words[0]) or words[0] in _BEFORE or words[0][:1].isdigit()
    ):
        words = words[1:]
    if not words or words[0].startswith("#"):
        return "read"
    program = words[0].strip("(){}").rpartition("/")[2]
    rest = words[1:]
    if program == "uv" and rest[:1] == ["pip"]:
        rest = rest[1:]
    program = ALIASES.get(program, program)
    if program in ("python", "python3") and rest[:2] == ["-m", "pytest"]:
        return "read"
    if program in GROUPS:
        return _of_group(program, rest)
    if program in WRITES:
        return "write"
    return _of_reader(program, rest) if program in READS else "unknown"


def _of_reader(program: str, rest: Sequence[str]) -> Effect:
    """Return the effect of a program that only looks unless it is told otherwise."""
    found = _by_flags("fd" if program == "fdfind" else program, rest)
    if found != "read":
        return found
    if program in ("awk", "sed") and any(_ACTS in word for word in rest):
        return "unknown"
    operands = [word for word in rest if word[0] not in "-+<" and not word.isdigit()]
    if program in OPERANDS and len(operands) > OPERANDS[program]:
        return "unknown"
    if program == "date" and any(_SETS_A_DATE.fullmatch(word) for word in rest):
        return "unknown"
    return "read"


def _of_group(key: str, rest: Sequence[str]) -> Effect:
    """Return the effect of a program whose next word decides, or the one behind that."""
    group = GROUPS[key]
    operands = list(_operands(key, rest))
    if not operands:
        return "read" if _HELP & {*rest} else _surer(group.alone, _by_flags(key, rest))
    if group.mixed:
        return _of_each(group, [word for _, word in operands if "=" not in word])
    place, word = operands[0]
    longer, behind = f"{key} {word}", rest[place + 1 :]
    if longer in LISTING:
        return _of_listing(longer, behind)
    if longer in GROUPS:
        return _of_group(longer, behind)
    if word in group.writes:
        return "write"
    if word not in group.reads:
        return "unknown"
    return _surer(_by_flags(key, rest), _by_flags(longer, behind))


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
        for flag, value in _changing(known, word, exact=key == "curl"):
            given = value or "".join(rest[place + 1 : place + 2])
            effect = _surer(effect, _of_request(flag, given) if key == "curl" else "write")
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
    """Return what a flag of curl does: a method may be one that only looks."""
    if flag in ("K", "config"):
        return "unknown"
    if flag not in ("X", "request"):
        return "write"
    if value.upper() in _LOOKS:
        return "read"
    return "write" if value.isalpha() else "unknown"


def _surer(one: Effect, other: Effect) -> Effect:
    """Return the effect of both together: a change outdoes a doubt, a doubt outdoes a look."""
    if "write" in (one, other):
        return "write"
    return "unknown" if "unknown" in (one, other) else "read"
