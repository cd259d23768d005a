"""Whether the words of a result say that its call succeeded, and no more than that.

In doubt they do not: then they go into a record as they are. Not here: whether it failed
(`words`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from chatfold.core.failures.words import (
    DEEDS,
    first_line,
    is_for,
    is_participle,
    words_of_name,
)
from chatfold.core.word_sets import word_set

__all__ = [
    "WORKED",
    "denial_in",
    "denies",
    "is_in_doubt",
    "is_plain_success",
    "telling_line",
    "tells_a_deed",
    "words_in",
]

_READ = 4000  # characters of a text in which the line that tells most is looked for
_WORD = re.compile(r"[a-z]+(?:['’]t)?")
_SILENT = re.compile(r"\b(?:and |but )?did(?: not|n['’]t) (?:produce|return|print) (?:any )?output")
_NOT = ("n't", "n’t")
_TROUBLE = re.compile(
    r"^(?:[\d:.TZ/ +-]{8,36}+(?:,\d{3} +)?)?[^\w,]{0,4}"  # a time, and no row of a table
    r"(?:(?:error|fatal|failed|failure|exception|panic|permission denied|rejected|aborted"
    r"|remote rejected)\b(?!: (?:none|0|no)[ .]*$)|npm err!|e: |conflict \()"
    r"[^\n]*\w[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
WORKED = DEEDS | word_set(
    """
    accepted activated assigned changed charged committed complete confirmed copied
    deactivated deployed done edited enabled finished imported inserted installed merged
    modified moved notified ok okay ordered overwritten paid placed received recorded refunded
    registered renamed reserved restarted set started stopped stored submitted succeeded success
    successful successfully true wrote
    """
)
_DOUBT = word_set(
    """
    aborted almost already although approval approve attempt automatically awaiting blocked but
    canceled cancelled cannot closed confirm could declined denied disabled draft dry early error
    errors exceeded exceeds except expired fail failed fails failure false however if ignored
    instead insufficient invalid maybe must need needed needs never no none not nothing null offline
    only partially partly pending please possibly prematurely preview processing queued refused
    rejected required requires retry scheduled should simulated simulation skipped sorry timed
    timeout unable unauthorized unavailable unchanged unexpectedly unless unsuccessful until wait
    waiting warning warnings will would wrong
    """
)
_DENYING = word_set(
    """
    aborted blocked cannot declined denied error errors exceeded exceeds expired fail failed fails
    failure ignored insufficient instead invalid never no none not nothing refused rejected skipped
    unable unauthorized unavailable unchanged unsuccessful wrong
    """
)
_HARMLESS = re.compile(  # in a message of what went well
    r"\bno (?:[a-z]+ ){0,2}?(?:action|changes?|charges?|clash(?:es)?|conflicts?|cost|costs|errors?"
    r"|fees?|further|issues?|longer|need|problems?|warnings?|worries)\b"
    r"|\bnothing (?:else|further|more|to do)\b|\bnot only\b|\bif [^.;!?\n]*"
    r"|\b(?:do not|don['’]t|need not|needn['’]t|not) (?:[a-z]+ ){0,2}?"
    r"(?:forget|hesitate|need|reply|required|respond|share|worry|charged)\b",
    re.IGNORECASE,
)
_CLAUSE_STARTS = re.compile(r"(?<=[,:])\s+|\s+(?=(?:and|as|but|so)\b)")
_SENTENCE_ENDS = re.compile(r"(?<=\w{2}[.!?;])\s+|\n+")
_ENDED = word_set("canceled cancelled closed")  # as what is changed may have been before
# What is also done where something went wrong, by a machine or by others: `Rotor stopped`.
_REACTIONS = word_set(
    """
    activated archived cleared deactivated deleted dropped moved overwritten purged refunded removed
    replaced restarted set stopped
    """
)
_CELL_ENDS = "|\t;,"
_STATE_COLUMNS = word_set("status state outcome result estado statut stato")
_BAD_CELLS = word_set(
    "bounced declined denied error failed failure invalid refused rejected skipped"
)
_CLAUSE_ENDS = re.compile(r"[.,;!](?=\s)|\s[-\u2013\u2014]+\s")
_DENIALS = word_set("cannot could never no not nothing") | {"can't", "can’t"}


def is_plain_success(text: str, name: str) -> bool:
    """Return whether a text says nothing but that the call did what it is for, in English.

    Args:
        text: A line of the result.
        name: The name of the call's tool: `cancelled` is what `cancel_order` is for.
    """
    own, said = words_of_name(name), _SILENT.sub("", text.lower())
    words = _WORD.findall(said)
    others = [word for word in words if not _is_of(word, own)]
    if "?" in text or _has_doubt(others):
        return False
    if not _REACTIONS.isdisjoint(others):
        return False
    # What stands ahead of the deed may be the reason for it: `Line busy. Call finished.`
    first = next(filter(_WORD.search, _CLAUSE_ENDS.split(said)), "")
    return any(word in WORKED or _is_of(word, own) for word in words_in(first))


def is_in_doubt(state: str, name: str) -> bool:
    """Return whether a state says that what a tool is for is not so, or not yet: `pending_review`.

    What the tool is named for is none: `draft` of `create_draft`, `scheduled` of `schedule_visit`.
    """
    own = words_of_name(name)
    others = {*words_in(state)} - _ENDED - {*own}
    return _has_doubt(word for word in others if not _is_of(word, own))


def denies(text: str, name: str) -> bool:
    """Return whether a text says that something is not so: more than that it is yet to be."""
    own = words_of_name(name)
    words = words_in(_HARMLESS.sub("", text))
    return any((w in _DENYING or w.endswith(_NOT)) and not _is_of(w, own) for w in words)


def denial_in(text: str, name: str, most: int) -> str | None:
    """Return the first sentence of a text that denies something, None where none does.

    Of one with more than `most` characters it is the end, from the clause on that does.
    """
    found = next((each for each in _SENTENCE_ENDS.split(text) if denies(each, name)), None)
    if found is None or len(found) <= most:
        return found
    clauses = _CLAUSE_STARTS.split(found)
    first = next((n for n, clause in enumerate(clauses) if denies(clause, name)), 0)
    return " ".join(clauses[first:])


def _has_doubt(words: Iterable[str]) -> bool:
    return any(word in _DOUBT or word.endswith(_NOT) for word in words)


def _is_of(word: str, own: Collection[str]) -> bool:
    """Return whether a word tells that one of some verbs was done."""
    return any(is_participle(word, verb) or word == verb == "set" for verb in own)


def words_in(text: str) -> list[str]:
    """Return the English words of a text, in small letters."""
    return _WORD.findall(text.lower())


def tells_a_deed(words: Collection[str], name: str) -> bool:
    """Return whether the words of a clause, in small letters, say that something was done.

    Args:
        words: The words.
        name: The name of the call's tool: what that is for is a deed, whatever it is called.
    """
    return _DENIALS.isdisjoint(words) and any(w in WORKED or is_for(w, name) for w in words)


def _bad_rows(text: str, heading: str) -> list[str]:
    """Return the rows of a table of which a column, by its heading, says that they came to nothing.

    Args:
        text: The table, cells parted by one of a few marks.
        heading: Its first line.
    """
    mark = next(filter(heading.count, _CELL_ENDS), "")
    cells = [_cell(cell) for cell in heading.split(mark)] if mark else []
    column = next((n for n, cell in enumerate(cells) if cell in _STATE_COLUMNS), None)
    if column is None:
        return []
    rows = ((row, row.split(mark)) for row in text.splitlines())
    return [r.strip() for r, c in rows if len(c) > column and _cell(c[column]) in _BAD_CELLS]


def _cell(text: str) -> str:
    return text.strip(' "').lower()


def telling_line(text: str) -> str:
    """Return the line of a text that tells most: the first that tells of trouble, or the first.

    A heading, which ends in a colon, tells less than the line behind it; that of a table less than
    the rows whose state is a bad one.
    """
    trouble = _TROUBLE.search(text, 0, _READ)
    if trouble is not None:
        return trouble[0].strip()
    first = first_line(text)
    if rows := _bad_rows(text[:_READ], first):
        return "; ".join(rows)
    if not first.endswith(":"):
        return first
    return first_line(text[text.index(first) + len(first) :]) or first
