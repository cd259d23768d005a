"""Answers to many requests in one, which tell of each whether it failed.

Elasticsearch says `"errors": true` whether one of its items failed or all
(https://docs.rs/elastiql/latest/i686-pc-windows-msvc/elastiql/bulk/struct.Response.html), AWS
counts those that failed, and each of them has an `ErrorCode`
(https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html), Google has
`partialFailureError` beside `results`
(https://developers.google.com/google-ads/api/reference/rpc/v22/MutateExperimentsResponse); all read
2026-11-29. A result of which nothing is told is taken for one that failed.
Not here: lists of failures alone (`not_done`), or of results alone (`forms`).
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias, cast

from chatfold.core.call_json import key_of
from chatfold.core.failures.codes import EMPTY
from chatfold.core.failures.reasons import told_in

__all__ = ["all_failed", "some_failed"]

_Fields: TypeAlias = dict[str, Any]

_FAILED = re.compile(r"errors|(?:failed|failure)_(?:[a-z]+_)?count|partial_failure_error")
# The lists that hold one answer for each request; others hold what failed alone, or what was tried.
_EACH = re.compile(r"items|entries|operations|results|records|responses|request_responses")
_ERRORS = ("error", "errors", "error_code", "errorCode", "ErrorCode", "Error")
_NO_COUNTS = re.compile(r"(?:.*_)?(?:took|status|code|ms|millis|seconds|time|duration|id|version)")
_MESSAGES = ("ErrorMessage", "errorMessage", "error_message", "message")


def all_failed(fields: _Fields) -> str | None:
    """Return why all that was asked for at once failed, None where one of it did not."""
    each = _told(fields)
    if not each or not all(map(_has_failed, each)):
        return None
    reasons = (_reason(result) for result in each)
    mark = next(key for key in fields if _FAILED.fullmatch(key_of((key,))))
    return next(filter(None, reasons), None) or told_in(_summary(fields)) or mark


def some_failed(fields: _Fields) -> bool:
    """Return whether some of what was asked for at once failed, and some did not."""
    each = _told(fields)
    return bool(each) and 0 < sum(map(_has_failed, each)) < len(each)


def _told(fields: _Fields) -> list[_Fields]:
    """Return what became of each thing, where a mark says that some failed and one list tells."""
    marks = (v for k, v in fields.items() if v and _FAILED.fullmatch(key_of((k,))))
    if not any(isinstance(mark, (bool, int, dict)) for mark in marks):
        return []
    lists = [cast(list[Any], v) for v in fields.values() if isinstance(v, list) and v]
    if len(lists) != 1 or not all(isinstance(each, dict) for each in lists[0]):
        return []
    if not any(v is lists[0] and _EACH.fullmatch(key_of((k,))) for k, v in fields.items()):
        return []
    if any(_counts_more(k, v, len(lists[0])) for k, v in fields.items()):
        return []
    return [_inner(cast(_Fields, each)) for each in lists[0]]


def _counts_more(key: str, value: Any, each: int) -> bool:
    """Return whether a field counts more than what was asked for: `imported: 98`."""
    is_count = type(value) is int and value > 0 and value != each
    written = key_of((key,))
    return is_count and not _FAILED.fullmatch(written) and not _NO_COUNTS.fullmatch(written)


def _inner(result: _Fields) -> _Fields:
    """Return a result without the name of what was asked for: `{"index": {...}}`."""
    only = next(iter(result.values())) if len(result) == 1 else None
    return cast(_Fields, only) if isinstance(only, dict) and "error" not in result else result


def _has_failed(result: _Fields) -> bool:
    return not result or any(result.get(key) not in EMPTY for key in _ERRORS)


def _reason(result: _Fields) -> str | None:
    texts = map(result.get, _MESSAGES)
    said = next((text for text in texts if isinstance(text, str) and text), None)
    error = result.get("error")
    inner = told_in(cast(_Fields, error)) if isinstance(error, dict) else None
    return said or inner or told_in(result)


def _summary(fields: _Fields) -> _Fields:
    """Return what an answer says of all its failures together."""
    empty: _Fields = {}
    inner = (cast(_Fields, value) for value in fields.values() if isinstance(value, dict))
    return next(filter(None, inner), empty)
