"""Programs that run what stands behind them: other programs, the text of a script, SQL.

Not here: what is known of other programs (`shell_programs`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from chatfold.core.effects.given import effect_of_statements
from chatfold.core.effects.shell_line import is_text, text_of
from chatfold.core.effects.shell_programs import VALUED
from chatfold.core.effects.tool_names import Effect, heaviest

__all__ = ["behind_runners", "effect_of_client", "script_of"]

# How many operands stand between a runner and the command that it runs.
_RUNNERS: Mapping[str, int] = {
    **dict.fromkeys(("command", "env", "exec", "nice", "nohup", "stdbuf", "sudo", "time"), 0),
    **dict.fromkeys(("timeout", "watch", "xargs"), 0),
    **dict.fromkeys(("do", "elif", "else", "if", "then", "until", "while", "!"), 0),
    **dict.fromkeys(("bunx", "npx", "uvx", "npm exec", "pnpm dlx", "pnpm exec", "yarn dlx"), 0),
    **dict.fromkeys(("bundle exec", "pipenv run", "poetry run", "python -m", "python3 -m"), 0),
    **dict.fromkeys(("uv run", "uv tool run"), 0),
    **dict.fromkeys(("docker exec", "docker compose exec", "kubectl exec", "oc exec", "ssh"), 1),
}
_MOST_WORDS = 3  # of a runner's name
_SHELLS = frozenset(("bash", "dash", "ksh", "powershell", "pwsh", "sh", "zsh"))
_OF_A_SCRIPT = re.compile(r"-[a-z]*c|-Command")
_CLIENTS = frozenset(("duckdb", "mariadb", "mysql", "psql", "sqlite3", "sqlcmd", "usql"))
_FROM_A_FILE = ("-f", "-i", "--file", "<")
_ABOUT_TABLES = re.compile(  # one command of the client itself that only looks
    r"(?:\.(?:databases|fullschema|headers?|help|ind(?:ex|ic)es|mode|schema|show|tables|width)\b"
    r"|\\(?:conninfo|timing|x|[dlz]\w*\+?)(?!\S))[^\n]*"
)
_NAME_OF_ONE = re.compile(r"\$\{?\w+\}?|\w+://\S*")  # of a database
_ASSIGNMENT = re.compile(r"\w+=\S*")


def behind_runners(words: Sequence[str]) -> Sequence[str] | None:
    """Return the words of the command that is run in the end; None where none is to be seen."""
    while words:
        if _ASSIGNMENT.fullmatch(words[0]) or words[0][:1].isdigit():
            words = words[1:]
            continue
        names = (" ".join(words[:count]) for count in range(_MOST_WORDS, 0, -1))
        runner = next((name for name in names if name in _RUNNERS), None)
        if runner is None:
            return words
        rest = _command(runner, words[runner.count(" ") + 1 :])
        if not rest and _RUNNERS[runner]:
            return None
        words = rest
    return words


def _command(runner: str, rest: Sequence[str]) -> Sequence[str]:
    """Return what stands behind the flags and the operands of a runner."""
    left, valued = _RUNNERS[runner], VALUED.get(runner, frozenset())
    is_value = False
    for place, word in enumerate(rest):
        if is_value:
            is_value = False
        elif word.startswith("-"):
            is_value = word in valued
        elif left:
            left -= 1
        else:
            return rest[place:]
    return ()


def script_of(program: str, rest: Sequence[str]) -> str | None:
    """Return the command line that a shell is given as a text, None where there is none."""
    if program == "eval":
        return " ".join(map(text_of, rest))
    if program in _SHELLS:
        for place, word in enumerate(rest[:-1]):
            if _OF_A_SCRIPT.fullmatch(word):
                return text_of(rest[place + 1])
    return None


def effect_of_client(program: str, rest: Sequence[str]) -> Effect | None:
    """Return what the statements do that a database's client is given; None for other programs."""
    if program not in _CLIENTS:
        return None
    texts = [text_of(word) for word in rest if is_text(word) or word.startswith(".")]
    effects: set[Effect] = {
        "read" if _ABOUT_TABLES.fullmatch(text) else effect_of_statements(text)
        for text in texts
        if not _NAME_OF_ONE.fullmatch(text)
    }
    if any(word.startswith(_FROM_A_FILE) for word in rest):
        effects.add("unknown")
    return heaviest(effects) or "unknown"
