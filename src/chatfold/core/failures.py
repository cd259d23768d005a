"""Whether a result says that its call failed, and why.

Providers without a mark for failed results write them as text: then the first word of it decides,
or a field such as `error` or `success`. Not here: what becomes of failed calls (`actions`).
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

__all__ = ["first_line", "reason_in"]

_READ = 200  # characters at the start of a text that tell a failure
_LINES_READ = 4000  # characters of a text in which its first line is looked for

_SAYS_SO = re.compile(
    r"(?:<[^<>]{1,40}+>|\W)*+"
    r"(?:error|exception|failed|failure|fatal|traceback|permission denied|access denied|"
    r"unauthori[sz]ed|forbidden|invalid|unable to|cannot|can't|could not|couldn't|not found|"
    r"timed? ?out|[a-z][a-z.]{0,60}(?:error|exception))\b(?!\W{0,2}0\b)",
    re.IGNORECASE,
)
_BAD_STATES = frozenset(
    ("declined", "denied", "error", "failed", "failure", "invalid", "refused", "rejected")
)
_REASONS = ("error", "reason", "message", "detail", "details", "error_message", "errors")


def reason_in(result: Any, *, failed: bool = False) -> str | None:
    """Return why a call failed, None where its result does not say that it did.

    Args:
        result: The result as JSON types, or its text.
        failed: Whether the provider marks the call as failed.
    """
    if isinstance(result, dict):
        reason = _reason(cast(dict[str, Any], result), failed=failed)
    elif isinstance(result, str):
        says_so = failed or _SAYS_SO.match(result, 0, _READ)
        reason = first_line(result) if says_so else None
    else:
        reason = None
    return reason or ("failed" if failed else None)


def first_line(text: str) -> str:
    """Return the first line that says something; of a traceback the last, which names the error."""
    lines = [line.strip() for line in text[:_LINES_READ].strip().splitlines()]
    if lines and lines[0].startswith("Traceback (most recent call last)"):
        lines = [line.strip() for line in text[-_LINES_READ:].strip().splitlines()[::-1]]
    return next((line for line in lines if any(map(str.isalnum, line))), "")


def _reason(result: dict[str, Any], *, failed: bool) -> str | None:
    """Return the reason in a result that says that the call failed."""
    state = result.get("status", result.get("state"))
    bad = (
        result.get("error") not in (None, False, "", [], {}, 0)
        or result.get("errors") not in (None, False, "", [], {}, 0)
        or any(result.get(key) is False for key in ("success", "ok", "succeeded"))
        or any(result.get(key) is True for key in ("isError", "is_error"))
        or (isinstance(state, str) and state.lower() in _BAD_STATES)
    )
    if not (bad or failed):
        return None
    for key in _REASONS:
        value = result.get(key)
        if isinstance(value, dict):
            value = cast(dict[str, Any], value).get("message") or json.dumps(value)
        if isinstance(value, list):
            value = json.dumps(value)
        if isinstance(value, str) and value.strip():
            return first_line(value) or value
    return state if isinstance(state, str) else "failed"
