"""The states that objects give: what a call, or the thing it was about, has come to.

Also what else says that something was made or done. Not here: what else says that a call failed
(`fields`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

from chatfold.core.effects import reads_by_name
from chatfold.core.failures.codes import BESIDE
from chatfold.core.failures.reasons import read
from chatfold.core.failures.words import STATES, is_named_by, participles_of, words_of_name
from chatfold.core.word_sets import word_set

__all__ = [
    "ID",
    "KEYS_OF_STATES",
    "STATE_KEYS",
    "cancels_what_runs",
    "is_bad",
    "made_id",
    "says_done",
    "state_in",
    "texts_of",
]

_BAD_STATES = STATES | word_set(
    "aborted bounced declined denied error failed failure impossible invalid refused rejected "
    "timed_out timeout undeliverable undelivered unsuccessful erreur erro errore fehler"
)
ID = re.compile(r"(?:^|_)id$|I[dD]$")
_DENIED = re.compile(r"not[ _-]([a-z]{3,30})")
_ENDED_BY = re.compile(  # as `cancelled_by_user`, `declined: insufficient funds`
    r"(aborted|blocked|cancel(?:l)?ed)[ _-]by[ _-]|(declined|denied|failed|refused|rejected)[ _:-]"
)
STATE_KEYS = (
    *("state", "phase", "jobState", "job_state", "jobStatus", "job_status"),
    *("estado", "statut", "stato", "zustand", "etat", "état", "esito", "resultado"),
    *("résultat", "resultat", "risultato", "ergebnis", "resultaat", "Status", "State"),
)
_AS_ASKED = re.compile(r"(?:aborted|cancel(?:l)?ed)[ _-]by[ _-](?:customer|client|guest|user)")
_RUNNING = word_set(  # what is aborted where it is cancelled; a booking is not
    "build builds deployment job jobs pipeline query run runs task tasks workflow"
)
# What GitHub calls completed may have failed: its conclusion says so.
KEYS_OF_STATES = ("conclusion", "status", *STATE_KEYS, "result", "outcome")


def state_in(result: dict[str, Any]) -> str | None:
    """Return the state that a result says its call, or its thing, has come to."""
    states = map(result.get, KEYS_OF_STATES)
    return next((state for state in states if isinstance(state, str)), None)


def made_id(result: dict[str, Any], known: Collection[str]) -> bool:
    """Return whether a result has an id that its call was not given."""
    return any(
        ID.search(key) and value and (isinstance(value, (dict, list)) or value not in known)
        for key, value in result.items()
    )


def says_done(result: dict[str, Any], name: str) -> bool:
    """Return whether a field says that what a tool is for was done: `updated` of `update_order`."""
    participles = participles_of(name)
    if participles.isdisjoint(map(str.lower, result)):  # as most are
        return False
    return any(key.lower() in participles and read(value) is True for key, value in result.items())


def cancels_what_runs(name: str) -> bool:
    """Return whether a tool is there to cancel what is aborted then: a build, a job."""
    words = words_of_name(name)
    return "cancel" in words and not _RUNNING.isdisjoint(words)


def texts_of(given: Callable[[], Iterable[Any]]) -> Iterable[str]:
    """Return the texts among the values that a call was given."""
    return (value for value in given() if isinstance(value, str))


def is_bad(
    state: str, result: dict[str, Any], name: str, given: Callable[[], Iterable[Any]]
) -> bool:
    """Return whether a state is that of a failure, and not what the call was made to bring about.

    Its tool or an argument names such a state. A level `error` of what is logged is none.
    """
    told, ended = state, _ENDED_BY.match(state)
    state = ended[1] or ended[2] if ended else state
    if _ended_as_asked(told, result, name):
        return False
    if _is_not_done(state, result, name, given):
        return True
    if (state not in _BAD_STATES and not ended) or is_named_by(state, name):
        return False
    if state == "error" and any(result.get(beside) for beside in BESIDE):
        return True
    texts = (value.lower() for value in given() if isinstance(value, str))
    return not any(text == state or (text.isalpha() and is_named_by(state, text)) for text in texts)


def _is_not_done(
    state: str, result: dict[str, Any], name: str, given: Callable[[], Iterable[Any]]
) -> bool:
    """Return whether a state denies what a tool is for: `not_refunded` of `issue_refund`.

    Not where it has made something, which may be on its way to that, or was to bring it about.
    """
    found = _DENIED.fullmatch(state)
    if (
        found is None
        or reads_by_name(name, "function", {})
        or state in map(str.lower, texts_of(given))
    ):
        return False
    made = made_id(result, {*texts_of(given)})
    return not made and found[1] in participles_of(name)


def _ended_as_asked(state: str, result: dict[str, Any], name: str) -> bool:
    """Return whether a state is that of what `cancel_job` cancelled, and nothing is said of it."""
    if "cancel" not in words_of_name(name) or any(result.get(beside) for beside in BESIDE):
        return False
    runs = state == "aborted" and cancels_what_runs(name)
    return runs or _AS_ASKED.fullmatch(state) is not None
