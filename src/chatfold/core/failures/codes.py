"""The codes by which an object says that its call failed: of HTTP, of commands, of a system.

Not here: other fields (`fields`), and codes in texts (`words`).
"""

from __future__ import annotations

import re
from typing import Any, cast

from chatfold.core.failures.successes import telling_line
from chatfold.core.failures.words import is_status_text

__all__ = ["BESIDE", "EMPTY", "EXITS", "exit_code", "http_code", "is_error_code", "said_of_exit"]

# The codes of a system, as of Node: `ECONNREFUSED`.
_SYSTEM_CODE = re.compile(
    r"E(?:AI_AGAIN|CONN[A-Z]{5,8}|(?:TIMED|BUSY|PIPE|EXIST|ACCES|PERM|NOENT|NOSPC|ROFS|MFILE"
    r"|HOSTUNREACH|NETUNREACH|NOTFOUND|ADDRINUSE|NOTEMPTY|ISDIR|NOTDIR)(?:OUT)?)"
)
# A number such as 404 tells a failure by the first of these keys alone. By the others it may be
# anything, an amount of pieces too, unless something says what went wrong.
_HTTP_KEYS = ("http_status", "httpStatus", "http_status_code", "httpStatusCode")
_STATUS_KEYS = ("status", "statusCode", "status_code", "code")
_PLAIN_KEYS = ("statusCode", "status_code")
_AROUND = frozenset(("headers", "multiValueHeaders", "isBase64Encoded", "cookies"))
EXITS = ("exit_code", "exitCode", "exit_status", "returncode", "return_code")
_OUTPUTS = ("output", "stdout")
BESIDE = ("message", "msg", "body", "detail", "details", "reason", "title", "description")
_WENT_WELL = frozenset(("completed", "created", "done", "ok", "success", "succeeded"))
EMPTY: tuple[Any, ...] = (None, False, "", [], {}, 0)


def exit_code(result: dict[str, Any]) -> int | None:
    """Return the code by which a command says that it failed, None where it does not."""
    beside = result.get("metadata")  # where Codex's shell has it
    told = cast(dict[str, Any], beside) if isinstance(beside, dict) else {}
    codes = (fields.get(key) for fields in (result, told) for key in EXITS)
    exits = next(filter(None, codes), None)
    return exits if type(exits) is int else None


def said_of_exit(code: int, result: dict[str, Any]) -> str:
    """Return how a command ended, with the line of its output that tells most."""
    output = next((text for text in map(result.get, _OUTPUTS) if isinstance(text, str)), "")
    line = telling_line(output)
    return f"exit code {code}: {line}" if line else f"exit code {code}"


def is_error_code(value: Any) -> bool:
    """Return whether a code is that of an error: `0`, `200` and `NO_ERROR` are none."""
    text = str(value or "").lower().replace(" ", "_")
    if text.isdecimal():
        return bool(text.strip("0")) and text not in ("200", "201", "202", "204")
    return text not in ("", "none", "null", "no_error", "noerror", "ok", "success")


def http_code(result: dict[str, Any]) -> str | None:
    """Return the HTTP status by which a request failed, None where there is none."""
    state = result.get("status", result.get("state"))
    if isinstance(state, str) and state.lower() in _WENT_WELL:
        return None
    for key in _HTTP_KEYS:
        if (code := _code(result.get(key))) is not None:
            return code
    for key in _STATUS_KEYS:
        value = result.get(key)
        if isinstance(value, str) and key == "code":  # of a voucher, or a place
            if _SYSTEM_CODE.fullmatch(value):
                return value
            continue
        code = _code(value)
        if code is not None and key in _PLAIN_KEYS and _stands_alone(key, result):
            return code
        if code is not None and (
            any(result.get(beside) not in EMPTY for beside in BESIDE)
            or (len(result) == 1 and key != "code")
        ):
            return code
    return None


def _stands_alone(key: str, result: dict[str, Any]) -> bool:
    """Return whether nothing but the frame of an answer stands beside a key."""
    beside = (value for other, value in result.items() if other != key and other not in _AROUND)
    return all(value in EMPTY for value in beside)


def _code(value: Any) -> str | None:
    if isinstance(value, str):
        return value[:3] if is_status_text(value) else None
    return str(value) if isinstance(value, int) and 400 <= value <= 599 else None
