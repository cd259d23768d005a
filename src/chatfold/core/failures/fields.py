"""The fields by which an object says that its call failed, and why.

Not here: which states are bad ones (`states`), results in other forms (`results`), codes
(`codes`), the words of texts (`words`, `unmade`, `refusals`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, cast

from chatfold.core.effects import reads_by_name
from chatfold.core.effects.given import rehearsed_by
from chatfold.core.failures.bulk import all_failed, some_failed
from chatfold.core.failures.codes import (
    BESIDE,
    EMPTY,
    EXITS,
    exit_code,
    http_code,
    is_error_code,
    said_of_exit,
)
from chatfold.core.failures.reasons import FAILURES, OTHER_REASONS, REASONS, read, text_of
from chatfold.core.failures.refusals import says_refused
from chatfold.core.failures.shell import failing_line
from chatfold.core.failures.states import (
    ID,
    KEYS_OF_STATES,
    STATE_KEYS,
    cancels_what_runs,
    is_bad,
    made_id,
    says_done,
    state_in,
    texts_of,
)
from chatfold.core.failures.successes import tells_a_deed, words_in
from chatfold.core.failures.unmade import says_not_made
from chatfold.core.failures.words import (
    first_line,
    is_named_by,
    participles_of,
    reason_in_text,
    words_of_name,
)
from chatfold.core.word_sets import word_set

__all__ = ["reason_in_object", "reason_in_words"]

_NOT_OK = ("ko", "nok")  # of a state; a result may be a knock-out, or Norwegian crowns
_AS_WORDS = re.compile(r"[ -]")
_BECAME = re.compile(r"\b(?:(?:is|are) now|from now on|any ?more)\b", re.IGNORECASE)
_ANEW = word_set("reboot recreate recycle redeploy reload replace restart")
# What SIGINT, SIGKILL and SIGTERM end says so by 128 and their number; Python's subprocess by -2.
_SIGNALLED = frozenset((130, 137, 143, -2, -9, -15))
# Of a call that was made, and changed nothing; a lookup may find that something is so.
_REFUSALS = word_set("conflict forbidden ineligible insufficient_funds not_found unauthorized")
# The same of a tool that takes something, as such a state is another's deed elsewhere.
_TAKEN = word_set(
    "fully_booked insufficient_stock no_availability not_available out_of_stock sold_out "
    "unavailable"
)
_TAKES = word_set("book buy charge checkout order pay place purchase rebook redeem rent reserve")
_COMPLAINTS = word_set("bounce error exception failure fault incident rejection")
_ERRORS = (
    *("error", "errors", "Error", "errorMessage", "error_message", "errorCode", "error_code"),
    *("fehler", "erreur", "errore", "erro"),
    *FAILURES,
)
_TRUTHS = (
    *("success", "ok", "succeeded", "successful"),
    *("isSuccess", "is_success", "isSuccessful", "is_successful"),
    *("erfolg", "erfolgreich", "éxito", "exito", "succès", "succes", "sucesso", "successo"),
)
_REASONS_OF_REQUESTS = ("body", "title", "description")
_WITHIN = ("data", "result", "response", "output", "payload", "body")
# What a call may say that it did not do, with a reason beside it.
_DEEDS = word_set("accepted applied approved completed delivered done executed performed processed")
_WHY = (
    "reason",
    "decline_reason",
    "rejection_reason",
    "failure_reason",
    "grund",
    "motivo",
    "raison",
)
# A call that waits for such a word was not made; one that waits for an approval was handed in.
_CONFIRMS = re.compile(
    r"(?:requires?|needs?|awaiting)[ _]?confirmation|confirmation[ _]?(?:required|needed)",
    re.IGNORECASE,
)
_OF_QUESTIONS = frozenset((*BESIDE, "status", "state", "prompt", "question"))
_PLANS = word_set("dry plan preview simulate validate")
_FEW = 20  # things that were given and done; more may be the amount that was asked for
_NO_PLURALS = word_set(
    "analysis aws details funds news permissions preferences seats series settings sms terms "
    "tickets"
)
_OF_SOME = re.compile(
    r"\b(?:[1-9]\d* (?!of\b)[a-z]|(?:some|others?|rest|remaining)\b)", re.IGNORECASE
)
_ALL_UNDONE = re.compile(
    r"\b(?:roll(?:ed|ing)? ?back|rollback|revert\w*|und(?:o|one)|discard\w*|abort\w*|nothing|none"
    r"|no \w+ (?:was|were))\b",
    re.IGNORECASE,
)
_MOST = 1_000_000  # of what one call did; more is a time, or an amount
_COUNTS = frozenset(("failed", "failures", "total", "count"))
_FAILED_COUNTS = (
    *("failed", "failures", "failed_count", "failedCount", "failure_count", "failureCount"),
    *("rejected", "bounced"),
)
_WELL_COUNTS = frozenset(
    ("succeeded", "success_count", "successCount", "successes", "successful", "success")
)


_GOING_ON = word_set(
    "in_progress pending processing queued retrying running scheduled sending started"
)


def reason_in_words(text: str, name: str, given: Callable[[], Iterable[str]]) -> str | None:
    """Return why a call failed, as the first words of a text say."""
    reason = reason_in_text(text, name)
    if reason is None and (says_not_made(text, name, given) or says_refused(text, name, given)):
        reason = first_line(text)
    return reason


def reason_in_object(
    result: dict[str, Any], failed: bool, name: str, given: Callable[[], Iterable[Any]]
) -> str | None:
    """Return the reason in a result that says that the call failed."""
    found: str | dict[str, Any] | None = result
    while isinstance(found, dict):  # as deep as a tool nests it
        found = _reason_or_inner(found, failed, name, given)
    return found


def _reason_or_inner(
    result: dict[str, Any], failed: bool, name: str, given: Callable[[], Iterable[Any]]
) -> str | dict[str, Any] | None:
    """Return the reason in a result, or the object that it wraps and that may say it.

    Of one that is marked as failed always the reason.
    """
    state = state_in(result)
    did = says_done(result, name)
    # What logs an error, or records a failure, has one to show where it went well.
    shows = did and not _COMPLAINTS.isdisjoint(words_of_name(name))
    truths = [*(_truth(result, key) for key in _TRUTHS if key in result), shows or None]
    went_well = any(value is True for value in truths)
    marked = failed or any(read(result.get(key)) is True for key in ("isError", "is_error"))
    code = None if went_well else http_code(result)
    if code is not None and code in map(str, given()):
        code = None
    exited = None if went_well else _exit_code(result, name)
    errors = [result[key] for key in _ERRORS if read(result.get(key)) not in EMPTY]
    has_errors = any(not isinstance(each, str) or is_error_code(each) for each in errors)
    has_errors = has_errors and not some_failed(result)
    undone = None if went_well else _undone(result, name)
    complaint = None if went_well else _complaint(result, name, given)
    refusal = None if went_well else _refusal(result, state, name, given)
    put_off = _put_off(result, state, name, given)
    bad = (
        marked
        or complaint is not None
        or refusal is not None
        or code is not None
        or exited is not None
        or any(value is False for value in truths)
        or undone is not None
        or put_off is not None
        or _is_type_of_error(result)
        or (has_errors and not went_well and not _did_a_part(result, name, given))
        or any(k in result and str(result[k]).lower() in _NOT_OK for k in ("status", *STATE_KEYS))
        or (state is not None and not shows and is_bad(state.lower(), result, name, given))
    )
    if not bad:
        key = next((key for key in _within(name) if result.get(key)), "")
        inner = result.get(key)
        # What was made may have a state of its own; what wraps it has no more to say.
        is_wrapped = isinstance(inner, dict) and not went_well and state is None
        if not is_wrapped:
            return None
        fields = cast(dict[str, Any], inner)
        if did and key not in _WITHIN:  # of what was changed, anything may be told
            fields = {k: fields[k] for k in KEYS_OF_STATES if isinstance(fields.get(k), str)}
        return fields
    keys = (*REASONS, *(("content",) if marked else ()), *(_REASONS_OF_REQUESTS if code else ()))
    texts = (text_of(read(result.get(key))) for key in (*keys, *OTHER_REASONS))
    told = complaint or next(filter(None, texts), refusal) or all_failed(result)
    said = state or ("failed" if undone is None else f"{undone}: {json.dumps(result[undone])}")
    said = said_of_exit(exited, result) if exited else said
    if put_off is not None:
        return f"{put_off}: {told}" if told else put_off
    return told or (f"status {code}" if code and code.isdigit() else code or said)


def _put_off(
    result: dict[str, Any], state: str | None, name: str, given: Callable[[], Iterable[Any]]
) -> str | None:
    """Return by what a tool that changes things says that it has yet to: a rehearsal, a question.

    What waits for a word may have been made for that: then there is more than the question. A call
    that was told to rehearse says so itself.
    """
    if _reads(name) or says_done(result, name) or not _PLANS.isdisjoint(words_of_name(name)):
        return None
    rehearsed = rehearsed_by(result)
    if rehearsed is not None:
        told = any(value is True or value == result[rehearsed] for value in given())
        return None if told else rehearsed
    asks = (key for key, value in result.items() if read(value) is True)
    asked = next((text for text in (*asks, state or "") if _CONFIRMS.fullmatch(text)), None)
    told_more = {key for key, value in result.items() if value not in EMPTY} - _OF_QUESTIONS
    return asked if asked is not None and told_more <= {asked} else None


def _did_a_part(result: dict[str, Any], name: str, given: Callable[[], Iterable[Any]]) -> bool:
    """Return whether a field tells of what was done beside a list of errors: `uploaded: 2`.

    Beside one error it may be what there was before, unless a tool such as `import_contacts` is
    there for several things; and what was given may be repeated.
    """
    said = [key for key in _ERRORS if read(result.get(key)) not in EMPTY]
    if len(said) != 1:
        return False
    error = result[said[0]]
    is_list = said[0] == "errors" and isinstance(error, (list, dict))
    if not is_list and not (isinstance(error, str) and _is_of_some(error, name)):
        return False
    known = [*given()]
    did = [
        key.lower()
        for key, value in result.items()
        if (type(value) is int and 0 < value < (_FEW if value in known else _MOST))
        or (is_list and isinstance(value, list) and value != [])
    ]
    return not participles_of(name).isdisjoint(did)


def _is_of_some(error: str, name: str) -> bool:
    """Return whether an error is of some of the things that a tool is there for: `2 rows had ...`.

    And does not say that the others came to nothing, too.
    """
    are_several = any(
        word.endswith("s") and not word.endswith(("ss", "us", "as")) and word not in _NO_PLURALS
        for word in words_of_name(name)[1:]
    )
    return bool(are_several and _OF_SOME.search(error)) and not _ALL_UNDONE.search(error)


def _within(name: str) -> Sequence[str]:
    """Return the keys of what may hold all that a call came to.

    What a tool that changes things is named for, may: `issue_refund` answers with a `refund`.
    """
    return _WITHIN if reads_by_name(name, "function", {}) else (*_WITHIN, *words_of_name(name))


def _truth(result: dict[str, Any], key: str) -> Any:
    """Return whether a call succeeded, as 0 and "no" may say, too; but not how many did."""
    value = read(result.get(key))
    if value == "no" or (type(value) is int and value == 0 and _COUNTS.isdisjoint(result)):
        return False
    return value


def _undone(result: dict[str, Any], name: str) -> str | None:
    """Return the field that says that what a tool is for was not done: `sent` where it is false.

    Or where it is 0, and a count beside it says that something failed.
    """
    counts = [result.get(key) for key in _FAILED_COUNTS]
    failed = any(type(count) is int and count > 0 for count in counts)
    lists = [key for key, value in result.items() if isinstance(value, list) and value != []]
    listed = bool(lists) and set(lists) <= {*_FAILED_COUNTS}  # and of nothing else
    nothing: list[object] = [*([0] if failed else ()), *([[]] if listed else ())]
    undone = [
        key
        for key, value in result.items()
        if value == "no" or read(value) is False or (type(value) is not bool and value in nothing)
    ]
    if not undone or "or" in words_of_name(name):  # "get or create" need not create anything
        return None
    participles = participles_of(name)
    deeds = [key for key in result if key.lower() in participles]
    says_why = listed or any(isinstance(result.get(key), str) for key in _WHY)
    if says_why and not _reads(name):
        made = any(map(ID.search, result))  # an order that is not delivered yet, say
        deeds += () if made else _DEEDS.intersection(undone) - {*deeds}
    if not (_reads(name) or _counts_more(result) or _goes_on(result)):
        deeds += _WELL_COUNTS.intersection(undone)
    if any(result[key] and key not in undone for key in deeds):
        return None  # a part of it was done, and must not be repeated
    return next((key for key in undone if key in deeds), None)


def _counts_more(result: dict[str, Any]) -> bool:
    """Return whether a result counts what else has become of things: `queued: 3`."""
    known = {*_FAILED_COUNTS, *_COUNTS}
    return any(type(value) is int and value and key not in known for key, value in result.items())


def _goes_on(result: dict[str, Any]) -> bool:
    """Return whether more may come of what a result counts: a job that runs, or some of a total."""
    total = result.get("total")
    failed = max(
        (value for value in map(result.get, _FAILED_COUNTS) if type(value) is int), default=0
    )
    states = (str(result.get(key)).lower() for key in ("status", *STATE_KEYS))
    return (type(total) is int and total > failed) or not _GOING_ON.isdisjoint(states)


def _reads(name: str) -> bool:
    return reads_by_name(name, "function", {})


def _is_type_of_error(result: dict[str, Any]) -> bool:
    """Return whether what came back is an error, as of Stripe: `type: card_error`."""
    kind = result.get("type")
    is_error = isinstance(kind, str) and kind.endswith("_error")
    return is_error and any(result.get(beside) for beside in ("message", "code"))


def _exit_code(result: dict[str, Any], name: str) -> int | None:
    """Return the code of a command that failed, but not of what a tool such as `stop_job` ended.

    Nor of what `restart_pod` ended, where it says that it has restarted it.
    """
    code = exit_code(result)
    if code not in _SIGNALLED:
        return code
    if is_named_by("aborted", name) or cancels_what_runs(name):
        return None
    is_anew = not _ANEW.isdisjoint(words_of_name(name)) and not result.get("stderr")
    return None if is_anew and says_done(result, name) else code


def _complaint(result: dict[str, Any], name: str, given: Callable[[], Iterable[Any]]) -> str | None:
    """Return the line of what a command complained of that says it failed, with no exit code."""
    told = result.get("stderr")
    if not isinstance(told, str) or not told or any(key in result for key in EXITS):
        return None
    return failing_line(told, name, partial(texts_of, given))


def _refusal(
    result: dict[str, Any], state: str | None, name: str, given: Callable[[], Iterable[Any]]
) -> str | None:
    """Return what says that a tool that changes things changed nothing, in words beside no state.

    Nor beside the id of what it made; and not in words that it was given.
    """
    said = "" if state is None else state.lower()
    plain = _AS_WORDS.sub("_", said)
    refuses = said in _REFUSALS or (plain in _TAKEN and not _TAKES.isdisjoint(words_of_name(name)))
    if refuses and any(_AS_WORDS.sub("_", text.lower()) == plain for text in texts_of(given)):
        return None  # it was to be set to that
    is_word = state is not None and " " not in state  # "not possible" tells what a message would
    if reads_by_name(name, "function", {}) or (is_word and not refuses):
        return None
    known = {*texts_of(given)}
    if made_id(result, known):
        return None
    if state is not None and not refuses:
        if state in known or _says_made(state, name):
            return None
        return reason_in_words(state, name, partial(texts_of, given))
    texts = [text for text in map(result.get, BESIDE) if isinstance(text, str) and text]
    if not refuses and any(_says_made(text, name) for text in texts):
        return None
    if refuses and not texts:
        return state
    for text in texts:
        told = None if text in known else reason_in_words(text, name, partial(texts_of, given))
        if told is not None or refuses:
            return told or text
    return None


def _says_made(text: str, name: str) -> bool:
    """Return whether a text says what a tool has done, or what has become of a thing by that."""
    words = words_in(text)
    return _BECAME.search(text) is not None or (
        "already" not in words and tells_a_deed(words, name)
    )
