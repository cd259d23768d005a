"""Whether what a call is given makes it a write: the method of a request, the text of a query.

Also by which argument it is a rehearsal, which changes nothing.
Not here: what the name of a tool says (`of_calls`), the commands of a shell (`shell_commands`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from chatfold.core.effects.tool_names import Effect, heaviest

__all__ = [
    "effect_of_arguments",
    "effect_of_method",
    "effect_of_statements",
    "may_say",
    "rehearsed_by",
    "rows_written_by",
]

_METHODS: Mapping[str, Effect] = {
    **dict.fromkeys(("delete", "patch", "post", "put"), "write"),
    **dict.fromkeys(("get", "head", "options"), "read"),
}
_METHOD_KEYS = frozenset(("http_method", "httpmethod", "method", "request_method", "requestmethod"))
_SQL_KEYS = frozenset(("sql", "sql_query", "sqlquery", "statement", "statements", "stmt"))
_QUERY_KEYS = frozenset(("", "code", "q", "query", "text"))
_WRITING = frozenset(
    (
        *("alter", "create", "delete", "drop", "grant", "insert", "merge", "mutation"),
        *("replace", "revoke", "truncate", "update", "upsert"),
    )
)
_HOLDING = frozenset(("begin", "explain", "start", "with"))  # may hold or announce one that writes
_LOOKING = frozenset(
    ("desc", "describe", "from", "pragma", "select", "show", "table", "use", "values", *_HOLDING)
)
# Those that are done to rows, of which a database says how many there were.
_OF_ROWS = frozenset(("delete", "insert", "merge", "replace", "update", "upsert"))
_REMARK = r"--[^\n]*|/\*.*?\*/|#[^\n]*\n"
_WORD = re.compile(rf"(?:[\s(`\ufeff]|{_REMARK})*+([a-z]+)", re.IGNORECASE | re.DOTALL)
_LITERAL = re.compile(rf"'(?:[^']|'')*'|{_REMARK}", re.DOTALL)
_NAME = r"[\w.$\"`\[\]@#]+"
_DEED = (
    r"insert\s+(?:\w+\s+)?(?:into|table)\s|replace\s+into\s|delete\s+from\s|merge\s+into\s"
    rf"|update\s+(?:only\s+)?{_NAME}\s+(?:(?:as\s+)?{_NAME}\s+)?set\s"
)
# What a statement holds more than an English sentence that begins with the same word.
_STATEMENT = re.compile(
    rf"{_DEED}|upsert\s+into\s|truncate\s+(?:table\s+)?{_NAME}\s*\Z|(?:grant|revoke)\s.*\son\s"
    r"|(?:alter|create|drop)\s+(?:(?:or\s+replace|external|global|local|materialized|temp|"
    r"temporary|unique|unlogged)\s+)*(?:column|database|extension|function|index|policy|procedure|"
    r"role|schema|sequence|table|trigger|type|user|view)\s|mutation\b[^{]*\{",
    re.IGNORECASE | re.DOTALL,
)
_HELD = re.compile(rf"\b(?:{_DEED})", re.IGNORECASE)
_HELD_DEED = re.compile(rf"\b(?={_DEED})([a-z]+)", re.IGNORECASE)
# What is asked for, for certain, where the key does not say that the text is SQL.
_SELECTED = re.compile(
    r"(?=[^;]*[*=(<>])[^;]*\bfrom\s|select\s+(?:\d+|\w+\([^()]*\))(?:\s+as\s+\w+)?\s*\Z"
)
_ASKED = re.compile(r"(?!.*\bmutation\b)\s*(?:query\b[^{};]{0,200})?\{\s*\w+\s*[({}\s]", re.DOTALL)
_GRAPHQL_KEYS = frozenset(("document", "gql", "graphql", "query"))
# One of these is in the JSON of all arguments that say something; the last are escaped letters.
_HINTS = (
    *("method", "sql", "statement", "stmt", "delete", "update", "insert", "create", "drop"),
    *("alter", "grant", "merge", "mutation", "replace", "revoke", "truncate", "upsert"),
    *(r"\u004", r"\u005", r"\u006", r"\u007"),
)
# By these a call says, and a result too, that nothing is changed: `dryRun` of AWS and Kubernetes,
# `validateOnly` of Google, `WhatIf` of PowerShell.
_REHEARSES = re.compile(
    r"dry[_-]?run|(?:check|preview|simulate|validate)[_-]?only|what[_-]?if", re.IGNORECASE
)
_REHEARSED = (True, 1, "true", "True", "yes", "1", "all", "All", "client", "server")
_LONGEST = 4000  # characters of a text that are looked at


def may_say(raw: str) -> bool:
    """Return whether arguments, as the model wrote them, are worth to be read: few calls' are."""
    return any(map(raw.lower().__contains__, _HINTS))


def rehearsed_by(fields: Any) -> str | None:
    """Return the field that says that nothing is changed, such as `dry_run`; None without one."""
    if not isinstance(fields, dict):
        return None
    named = cast(dict[str, Any], fields).items()
    return next((k for k, v in named if v in _REHEARSED and _REHEARSES.fullmatch(k)), None)


def effect_of_arguments(arguments: Any, *, of_sql: bool = False) -> Effect | None:
    """Return what the arguments of a call say that it does, None where they say nothing.

    That it only looks counts where the name of the tool says nothing: a report may be saved under
    the query that it came from.

    Args:
        arguments: The arguments as JSON types, or a text.
        of_sql: Whether the tool is there for SQL, so that its query is a statement.
    """
    said: set[Effect | None] = set()
    left: list[tuple[str, Any]] = [("", arguments)]
    while left:
        key, value = left.pop()
        if isinstance(value, str):
            is_query = of_sql and key.lower() in _QUERY_KEYS
            said.add(_of_text("sql" if is_query else key, value))
        elif isinstance(value, dict):
            left += cast(dict[str, Any], value).items()
        elif isinstance(value, list):
            left += [(key, each) for each in cast(list[Any], value)]
    return heaviest(said)


def effect_of_method(text: str) -> Effect | None:
    """Return what a request does by its method, None where that is none that is known."""
    return _METHODS.get(text.strip().lower())


def effect_of_statements(text: str) -> Effect:
    """Return what a text does that is known to be statements of SQL."""
    return _of_text("sql", text) or "unknown"


def rows_written_by(texts: Iterable[str]) -> frozenset[str]:
    """Return what the statements in some texts do to rows: `delete`, `update`.

    Nothing where one of them does something else, such as to make a table.
    """
    found: set[str] = set()
    for text in texts:
        parts = [part for part in _LITERAL.sub(" ", text[:_LONGEST]).split(";") if part.strip()]
        if len(parts) > 1 and any(_STATEMENT.match(part.lstrip()) for part in parts):
            return frozenset()  # of which of them the count is, nothing says
        for part in parts:
            begins = _WORD.match(part)
            word = begins[1].lower() if begins else ""
            if word in _OF_ROWS or word == "with":
                held = _HELD_DEED.search(part)
                found.update((held[1].lower(),) if held else ())
            elif word in _WRITING and _STATEMENT.match(part.lstrip()):
                return frozenset()
    return frozenset(found)


def _of_text(key: str, text: str) -> Effect | None:
    """Return what one text says: a method, or statements of SQL or GraphQL."""
    if len(text) < 8 and key.lower() in _METHOD_KEYS:
        return effect_of_method(text)
    if key.lower() in _GRAPHQL_KEYS and _ASKED.match(text):
        return "read"
    is_sql = key.lower() in _SQL_KEYS
    begins = _WORD.match(text, 0, _LONGEST)
    if not is_sql and (begins is None or begins[1].lower() not in _WRITING | _LOOKING):
        return None
    parts = _LITERAL.sub(" ", text[:_LONGEST]).split(";")
    said: set[Effect | None] = {_of_statement(part, is_sql=is_sql) for part in parts}
    if "read" in said and not is_sql:  # so the others are statements, too
        is_sql = True
        said.update(_of_statement(part, is_sql=True) for part in parts)
    if is_sql and len(text) > _LONGEST:
        said.add("unknown")
    return heaviest(said)


def _of_statement(text: str, *, is_sql: bool) -> Effect | None:
    begins = _WORD.match(text)
    if begins is None:
        return None
    word = begins[1].lower()
    if word in _WRITING:
        is_sure = is_sql or begins[1].isupper() or _STATEMENT.match(text, begins.start(1))
        return "write" if is_sure else None
    if word in _HOLDING and _HELD.search(text):
        return "write" if word == "with" else "unknown"
    if word not in _LOOKING:
        return "unknown" if is_sql else None
    is_sure = is_sql or (word == "select" and _SELECTED.match(text.lower(), begins.start(1)))
    return "read" if is_sure else None
