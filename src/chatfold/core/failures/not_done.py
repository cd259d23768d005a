"""The parts of a result that say that something was not done: `failed`, `skipped`, `not_refunded`.

Not here: whether a call failed by other signs (`results`), what else came of it (`outcomes`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any, cast

from chatfold.core.by_hash import by_hash
from chatfold.core.call_json import Path, key_of
from chatfold.core.effects.tool_names import effect_of_name
from chatfold.core.failures.successes import tells_a_deed, words_in
from chatfold.core.failures.words import is_for, participles_of, words_of_name
from chatfold.core.word_sets import word_set

__all__ = ["nothing_done", "parts_not_done", "tells_of_trouble"]

_LONGEST_KEY = 60  # characters; longer keys are values, such as addresses
_TROUBLE = re.compile(
    r"(?:[a-z]+_){0,2}(already_[a-z]+|bounced|conflicts?|declined|denied|duplicates?|errors?|failed"
    r"|failures?|ignored|invalid|missing|not_[a-z]+|refused|rejected|rejections|skipped|unchanged"
    r"|unmatched|unprocessed|unsuccessful)(?:_[a-z]+){0,2}"
)
# What a call may say of each thing that it was given. One that was rejected may have been looked
# into all the same: that is what a review is for.
_FAILED = re.compile(r"errors|(?:failed|failures?)(?:_[a-z]+)?|not_([a-z]+)")
_WENT_WELL = ("success", "ok", "succeeded", "successful")
_STATES = ("status", "state", "result", "outcome")
_OF_EACH = frozenset((*_WENT_WELL, *_STATES, "error"))
_BAD = word_set("declined denied error failed failure invalid rejected skipped")
_WHY = ("error", "reason", "message", "failure_reason", "error_message")
_COUNTS = ("count", "failed_count", "failedCount", "failure_count", "failureCount", "total")


def parts_not_done(
    leaves: Sequence[tuple[Path, Any]], name: str, given: Collection[str]
) -> set[int]:
    """Return the places of the leaves that tell of a part that was not done.

    They stand in a list or an object under such a key, or say how many there are; or stand in a
    list beside what says that its thing failed.

    Args:
        leaves: The leaves of a result, in order.
        name: The name of the call's tool: what it skips is what `skip_songs` is for.
        given: The keys of the call's arguments, which a result may repeat.
    """
    steps = {step for path, _ in leaves for step in path}
    keys = {step for step in steps if isinstance(step, str)}
    own = {k for k in keys if _word(k) and k not in given and not _is_meant(k, name)}
    failed: set[Path] = set()
    # A thing stands in a list, so at a number, and says so by one of these keys.
    if len(steps) > len(keys) and not _OF_EACH.isdisjoint(keys):
        failed = {
            path[:-1]
            for path, leaf in leaves
            if len(path) > 1 and isinstance(path[-2], int) and _says_it_failed(path[-1], leaf)
        }
    if not own and not failed:
        return set()
    return {
        place
        for place, (path, leaf) in enumerate(leaves)
        if path[:-1] in failed
        or not own.isdisjoint(path[:-1])
        or (type(leaf) is int and leaf > 0 and path[-1] in own)
    }


def tells_of_trouble(label: str, text: str) -> bool:
    """Return whether a value tells of a part that was not done, as the steps to it say."""
    *around, last = label.split(".")
    return any(map(_word, around)) or (text.isdigit() and text != "0" and bool(_word(last)))


def nothing_done(result: Any, arguments: Any, name: str) -> str | None:
    """Return what a result says where all that its call was given stands under `failed`.

    None where a part of it does not, or where anything else is told.
    """
    if not (isinstance(result, dict) and isinstance(arguments, dict)):
        return None
    fields, given = cast(dict[str, Any], result), cast(dict[str, Any], arguments)
    told = {key: value for key, value in fields.items() if value not in (None, "", [], {}, 0)}
    if any(isinstance(value, str) and "fail" in value.lower() for value in given.values()):
        return None  # they were to be set to that
    key = next((key for key in told if key not in given and _says_failed(key, name)), None)
    if key is None or not isinstance(told[key], (list, dict)) or effect_of_name(name) != "write":
        return None
    failed = cast(Collection[Any], told.pop(key))
    for other, value in told.items():
        if not (
            (other in _WHY and isinstance(value, str) and not tells_a_deed(words_in(value), name))
            or (other in _COUNTS and value == len(failed))
        ):
            return None
    if not _are_all(_texts(failed), given):
        return None
    reasons = [fields.get(why) for why in _WHY]
    if isinstance(failed, list):
        things = (cast(dict[str, Any], each) for each in failed if isinstance(each, dict))
        reasons += [thing.get(why) for thing in things for why in _WHY]
    why = next((text for text in reasons if isinstance(text, str) and text), None)
    return why or f"{key}: {json.dumps(failed, ensure_ascii=False)}"


def _word(key: str) -> str | None:
    """Return the word by which a key says that something was not done, None where it does not."""
    return _word_of(key) if len(key) <= _LONGEST_KEY else None


@by_hash(4_096)  # the same keys come again and again
def _word_of(key: str) -> str | None:
    found = _TROUBLE.fullmatch(key_of((key,)))
    return None if found is None else found[1]


def _is_meant(key: str, name: str) -> bool:
    """Return whether a key says what a tool is for, or to what: `delete_failed_jobs`."""
    plain = key_of((key,))
    of_name = "_" in plain and plain in "_".join(words_of_name(name))
    return of_name or is_for(_word(key) or "", name)


def _says_it_failed(key: str | int, value: Any) -> bool:
    """Return whether a field of a thing in a list says that it failed."""
    if value is False:
        return key in _WENT_WELL
    if not isinstance(value, str) or not value:
        return False
    return key == "error" or (key in _STATES and value.lower() in _BAD)


def _says_failed(key: str, name: str) -> bool:
    found = _FAILED.fullmatch(key_of((key,))) if len(key) <= _LONGEST_KEY else None
    if found is None or is_for("failed", name):
        return False
    if found[1]:
        return found[1] in participles_of(name)
    own = words_of_name(name)
    return not any(word.startswith(("failed", "failure", "error")) for word in own)


def _texts(values: Collection[Any]) -> set[str]:
    """Return the values of a list, of the objects in it, or the keys of an object, as texts."""
    if isinstance(values, dict):
        return {*map(str, cast(dict[str, Any], values))}
    made: set[str] = set()
    for value in values:
        inner = cast(dict[str, Any], value).values() if isinstance(value, dict) else (value,)
        made.update(str(each) for each in inner if isinstance(each, (str, int)))
    return made


def _are_all(failed: set[str], given: dict[str, Any]) -> bool:
    """Return whether some things are all those that a call was given: a list, or one thing."""
    lists = [cast(list[Any], value) for value in given.values() if isinstance(value, list)]
    about = [each for each in lists if not failed.isdisjoint(_texts(each))]
    if about:
        return all(not failed.isdisjoint(_texts([thing])) for each in about for thing in each)
    alone = [str(value) for value in given.values() if isinstance(value, (str, int))]
    return len(alone) == 1 and alone[0] in failed
