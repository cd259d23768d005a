"""How frameworks and servers say what was wrong with what they were sent; part of `forms`.

Nothing else stands there. Not here: the forms of single services (`forms`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias, cast

from chatfold.core.failures.reasons import text_of, told_in
from chatfold.core.failures.words import words_of_name
from chatfold.core.word_sets import word_set

__all__ = ["COMPLAINTS", "OF_INPUT"]

_Fields: TypeAlias = dict[str, Any]
_Given: TypeAlias = Callable[[], Iterable[Any]]

COMPLAINTS: Final = word_set(
    "error errors exception exceptions failure failures incident log report"
)
"""Words in the names of tools that are there to tell of failures, or to make such things."""

# FastAPI says so by the place and the words of each fault, AWS by the name of an exception
# (https://app.unpkg.com/@aws-amplify/core@6.16.2/files/dist/esm/clients/serde/json.mjs, read
# 2026-11-30).
_OF_FAULTS = frozenset(("loc", "msg", "type"))
_OF_EXCEPTIONS = frozenset(("__type", "message", "Message"))
_EXCEPTION = re.compile(r"(?:Exception|Error|Fault)\Z")
# What servers of FHIR return where they refuse (https://hl7.org/fhir/R5/
# operationoutcome-definitions.html, read 2026-11-30); beside what was made they warn by it, too.
_OUTCOME = frozenset(("resourceType", "issue", "id", "meta", "text"))
_GRAVE = ("error", "fatal")


def _refused_input(fields: _Fields, name: str, _: _Given) -> str | None:
    """The words of the first fault, or of the exception; a tool may be there to make exceptions."""
    faults, kind = fields.get("detail"), fields.get("__type")
    if isinstance(faults, list) and faults and len(fields) == 1:
        each = [cast(_Fields, f) if isinstance(f, dict) else {} for f in cast(list[Any], faults)]
        return text_of(each[0]["msg"]) if all(f.keys() >= _OF_FAULTS for f in each) else None
    if (
        isinstance(kind, str)
        and _EXCEPTION.search(kind)
        and fields.keys() <= _OF_EXCEPTIONS
        and COMPLAINTS.isdisjoint(words_of_name(name))
    ):
        return told_in(fields) or text_of(fields.get("Message")) or kind
    return None


def _outcome(fields: _Fields, _name: str, _given: _Given) -> str | None:
    """As FHIR says so: an `OperationOutcome` that holds nothing but issues, one of them grave."""
    listed = fields.get("issue")
    is_one = fields.get("resourceType") == "OperationOutcome" and fields.keys() <= _OUTCOME
    if not is_one or not isinstance(listed, list):
        return None
    issues = [cast(_Fields, each) for each in cast(list[Any], listed) if isinstance(each, dict)]
    grave = next((each for each in issues if each.get("severity") in _GRAVE), None)
    if grave is None:
        return None
    details = grave.get("details")
    text = cast(_Fields, details).get("text") if isinstance(details, dict) else None
    said = (grave.get("diagnostics"), text, grave.get("code"), grave["severity"])
    return next(filter(None, map(text_of, said)))


OF_INPUT: Final = (_refused_input, _outcome)
"""Each returns why a call failed, from the fields of its result, the name of its tool, and what it
was given; None where its form is not there."""
