"""Results that say that a call went well and came to nothing: what they count of it is all 0.

A tool that was to delete what it found, and deleted none, has done nothing that must not be done
again. One that found things as they were to be is done: `modifiedCount: 0` beside
`matchedCount: 1`. In doubt a call was done.
Not here: the same in words (`count_words`), other signs that a call failed (`fields`, `forms`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeAlias, cast

from chatfold.core.effects.given import rows_written_by
from chatfold.core.effects.tool_names import effect_of_name, is_for_sql
from chatfold.core.failures.codes import BESIDE
from chatfold.core.failures.reasons import told_in
from chatfold.core.failures.states import made_id, texts_of
from chatfold.core.failures.successes import tells_a_deed, words_in
from chatfold.core.failures.words import is_participle, words_of_name
from chatfold.core.word_sets import word_set

__all__ = ["CHANGES_ROWS", "DONE_ELSEWHERE", "deeds_of", "is_deed", "is_thing", "none_counted"]

_Fields: TypeAlias = dict[str, Any]
_Given: TypeAlias = Callable[[], Iterable[Any]]

# A tool that only hands in, or begins, what its name speaks of has done so before that is done.
_LATER = word_set(
    "book create draft enqueue initiate order place plan prepare process queue register request "
    "resume retry schedule start submit trigger"
)
# What these do to each thing may be told by another word.
_OF_ALL_KINDS = word_set("apply edit import merge migrate sync update upload upsert")
_KINDS = word_set("added created deleted inserted loaded removed replaced updated upserted")
CHANGES_ROWS = word_set(
    "apply archive assign change delete edit insert mark merge modify move patch remove rename "
    "replace tag update upsert"
)
"""What is done to things that are there, so that `affected: 0` says that there were none."""
_CHANGED = word_set("affected changed changes modified replacements rowcount updated")
# What was sent may be on its way: none has failed as yet.
_TAKE_TIME = word_set("deliver dispatch email mail notify send")
_COUNTED = word_set("count n no nr num number of total")
_THINGS = word_set(
    "contact doc document email entity entry event file item line mail message object occurrence "
    "page record result row thing ticket user"
)
# Participles of what was looked at, of what was so before, and of the call itself.
_NO_DEEDS = word_set(
    "acknowledged attempted bounced checked completed declined denied elapsed errored examined "
    "excluded executed expected failed filtered finished ignored matched needed parsed processed "
    "refused rejected requested required scanned selected skipped succeeded timed unmatched "
    "validated"
)
_IRREGULAR = word_set("made paid pending sent sold written")
# Of the call; any other state may be that of what goes on.
_ENDED = word_set(
    "complete completed done finished no_match no_matches no_results none not_found ok success "
    "succeeded successful"
)
_AS_WANTED = re.compile(r"already|(?<!un)match|no_?op|no_change|un(?:changed|modified)|up_to_date")
_STATES = ("status", "state", "result", "outcome")
# What was asked for, so that a name of which nobody knows what it does is for some deed; and what
# may yet come of it.
_ASKED = word_set("asked expected ordered planned requested required wanted")
_TO_COME = word_set("eta left next remaining")
_OTHER_COUNT = re.compile(
    "in progress|inserts?|insertions?|additions?|deletions?|recipients|pending"
)
_AND = word_set("and then und")
_WITHIN = ("data", "result", "response", "output", "payload", "body")
# What is told of the call itself, which makes no thing by that.
_OF_CALLS = re.compile(
    r"(?:^|_)(?:collection|command|cost|database|date|db|duration|elapsed|index|latency|ms|query|sql"
    r"|table|time|timestamp|took|type|version|(?:correlation|debug|request|trace)_?id)$"
)
_NONE = re.compile(r"\b(?:0|no|none|nothing|zero)\b", re.IGNORECASE)
DONE_ELSEWHERE = (
    r"(?:ge(?:aendert|ändert|loescht|löscht|sendet)|aktualisiert|betroffen|entfernt|erstellt"
    r"|hinzugefügt|importiert|storniert|verschickt|verschoben|versendet"
    r"|(?:affect|ajout|annul|cré|déplac|envoy|import|modifi|supprim)ée?s?"
    r"|(?:actualiz|agreg|anul|borr|cancel|cre|elimin|envi|import|modific)ad[ao]s?"
    r"|(?:afectad|añadid|movid)[ao]s?"
    r"|(?:aggiornat|aggiunt|annullat|cancellat|creat|eliminat|inviat|modificat)[aeio]"
    r"|(?:adicionad|apagad|atualizad|criad|excluíd|removid)[ao]s?)"
)
"""What tools do, as participles in German, French, Spanish, Italian and Portuguese."""
_ELSEWHERE = re.compile(DONE_ELSEWHERE)


def none_counted(result: Any, name: str, given: _Given) -> str | None:
    """Return the count by which a result says that its call came to nothing: `deleted: 0`.

    None where something was done, or made, or is yet to be; or where all was so before.

    Args:
        result: The result as JSON types.
        name: The name of the call's tool.
        given: Returns the values that the call was given.
    """
    if not isinstance(result, dict):
        return None
    fields = cast(_Fields, result)
    while not any(map(_is_zero, fields.values())):  # as deep as a tool nests it
        within = [key for key in _WITHIN if isinstance(fields.get(key), dict)]
        if len(within) != 1:
            return None
        fields = cast(_Fields, fields[within[0]])
    verbs = deeds_of(name, given) or _asked_of(fields, name)
    none = [k for k, v in fields.items() if _is_zero(v) and _is_count(k, name, verbs)]
    if not none or not _all_counted(none, verbs, name):
        return None
    if any(_tells_more(k, v, verbs) for k, v in fields.items()):
        return None
    if _is_zero_given(given) or _made(fields, given) or _is_on_its_way(fields, verbs):
        return None
    told = told_in(fields)
    if told is not None and tells_a_deed(words_in(told), name) and not _NONE.search(told):
        return None
    return ", ".join((*(f"{key}: 0" for key in none), *((told,) if told else ())))


def deeds_of(name: str, given: _Given) -> frozenset[str]:
    """Return the verbs of what a call was to do, by its tool's name, or by the SQL it was given.

    None where its tool only looks, or makes a table: that changes no row.
    """
    verbs = _verbs_of(name)
    if verbs and not is_for_sql(name):
        return verbs
    return rows_written_by(texts_of(given))


def _verbs_of(name: str) -> frozenset[str]:
    if effect_of_name(name) != "write":
        return frozenset()
    words = words_of_name(re.split(r"__|[./:]", name)[-1])
    verbs = [word for word in words if effect_of_name(word) == "write"]
    if "or" in words or any(f"un{verb}" in verbs for verb in verbs):  # `lock_unlock_door`
        return frozenset()
    return frozenset(verbs[:1] if verbs and verbs[0] in _LATER else verbs)


def _asked_of(fields: _Fields, name: str) -> frozenset[str]:
    """Return the verb of a name that nobody knows, where a result counts what was asked of it.

    As `picked: 0` beside `requested: 4` of `pick_item`.
    """
    asked = any(type(fields.get(key)) is int and fields[key] > 0 for key in _ASKED)
    if not asked or not _TO_COME.isdisjoint(fields) or effect_of_name(name) != "unknown":
        return frozenset()
    words = words_of_name(re.split(r"__|[./:]", name)[-1])
    return frozenset(words[:1]) if "or" not in words else frozenset()


def is_deed(word: str, verbs: Collection[str]) -> bool:
    """Return whether a word in small letters says that what was to be done was done."""
    if any(is_participle(word, verb) for verb in verbs):
        return True
    if word in _CHANGED:
        return not CHANGES_ROWS.isdisjoint(verbs)
    return word in _KINDS and not _OF_ALL_KINDS.isdisjoint(verbs)


def is_thing(word: str, name: str) -> bool:
    """Return whether a word is for what is counted: a row, or what a tool's name speaks of."""
    plain = _singular(word)
    return plain in _THINGS or any(plain == _singular(of) for of in words_of_name(name))


def _all_counted(keys: Iterable[str], verbs: Collection[str], name: str) -> bool:
    """Return whether all that a call was to do is counted: `cancel_and_refund` does two things."""
    words = [word for key in keys for word in words_of_name(key)]
    if (
        len(verbs) < 2
        or _AND.isdisjoint(words_of_name(name))
        or any(word in _CHANGED or word in _KINDS for word in words)
    ):
        return True
    return all(any(is_participle(word, verb) for word in words) for verb in verbs)


def _is_count(key: str, name: str, verbs: Collection[str]) -> bool:
    """Return whether a key counts what was done: `deleted`, `rows_affected`, `updatedCount`."""
    if not verbs:
        return False
    if _ELSEWHERE.fullmatch(key.lower()):
        return True
    words = words_of_name(key)
    if words == ["row", "count"]:
        return not CHANGES_ROWS.isdisjoint(verbs)
    words = [word for word in words if word not in _COUNTED]
    others = [word for word in words if not is_deed(word, verbs)]
    return len(others) == len(words) - 1 and all(is_thing(word, name) for word in others)


def _tells_more(key: str, value: Any, verbs: frozenset[str]) -> bool:
    """Return whether a field tells of something else that was done, goes on, or was so before."""
    if isinstance(value, str) and key in _STATES:
        return re.sub(r"\W", "_", value.lower()) not in _ENDED
    if not value:
        return False
    words = words_of_name(key)
    if _AS_WANTED.search("_".join(words)) or key == "total":
        return True
    if type(value) is int and value > 0 and (_is_other_count(words) or (value > 1 and key == "ok")):
        return True
    if value is True and not verbs.isdisjoint(words):  # `cancel_at_period_end`
        return True
    return any(
        word in _IRREGULAR or (word.endswith("ed") and word not in _NO_DEEDS) for word in words
    )


def _is_other_count(words: Sequence[str]) -> bool:
    """Return whether a key with a number above 0 may count what was done: `inserts`, `ok`."""
    return _OTHER_COUNT.fullmatch(" ".join(words)) is not None


def _made(fields: _Fields, given: _Given) -> bool:
    """Return whether a result holds what its call was not given: an id, or a list of things."""
    about = {key: value for key, value in fields.items() if not _is_of_calls(key)}
    known = {*map(str, given())}
    if made_id(about, known):
        return True
    return any(_is_new(value, known) for value in about.values())


def _is_on_its_way(fields: _Fields, verbs: Collection[str]) -> bool:
    """Return whether what was not sent as yet has not failed either, as a result says."""
    failed = [value for key, value in fields.items() if "failed" in words_of_name(key)]
    return bool(failed) and not any(failed) and not _TAKE_TIME.isdisjoint(verbs)


def _is_of_calls(key: str) -> bool:
    words = words_of_name(key)
    return (
        key in (*BESIDE, *_STATES)
        or _OF_CALLS.search("_".join(words)) is not None
        or not words
        or words[-1] in ("failures", "errors", "failed", "skipped", "warnings")
    )


def _is_new(value: Any, known: Collection[str]) -> bool:
    if isinstance(value, str):
        return value not in known and any(map(str.isdigit, value))
    return isinstance(value, (list, dict)) and bool(cast(Collection[Any], value))


def _is_zero(value: Any) -> bool:
    return type(value) is int and value == 0


def _is_zero_given(given: _Given) -> bool:
    """Return whether a call was given a 0, which its result may repeat."""
    return any(type(value) in (int, str) and str(value) == "0" for value in given())


def _singular(word: str) -> str:
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")
