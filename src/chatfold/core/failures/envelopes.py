"""What stands in an object that holds nothing else, whatever it is called there.

Not here: the text or the blocks that a host wraps a result in (`wraps`), what stands beside other
fields (`fields`), lists of many results (`forms`, `bulk`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, cast

from chatfold.core.call_json import key_of
from chatfold.core.effects.tool_names import effect_of_name
from chatfold.core.failures.codes import EMPTY
from chatfold.core.failures.fields import reason_in_object
from chatfold.core.failures.not_done import tells_of_trouble
from chatfold.core.failures.reasons import told_in
from chatfold.core.failures.states import is_bad, says_done, state_in
from chatfold.core.failures.words import participles_of, words_of_name
from chatfold.core.word_sets import word_set

__all__ = ["reason_inside"]

_Fields: TypeAlias = dict[str, Any]

_NAMES = ("id", "key", "number", "ref", "reference")
_EARLIER = ("last", "latest", "old", "previous", "prior", "replaced")
_COMPLAINTS = word_set("bounce error exception failure fault incident log rejection report")


def reason_inside(result: Any, name: str, given: Callable[[], Iterable[Any]]) -> str | None:
    """Return why a call failed, as the one object says that is all that its result holds.

    Only its state counts where it stands alone in a list, which may have an entry for each thing
    that went wrong, and where it has a name of its own, as what was made has, whatever its fields
    are called. None where it may tell of something else than its call: of a tool that looks or
    complains, of a thing that the call was given by its name, or of an earlier one.

    Args:
        result: A JSON object or array.
        name: The name of the call's tool.
        given: Returns the values that the call was given.
    """
    if effect_of_name(name) != "write" or not _COMPLAINTS.isdisjoint(words_of_name(name)):
        return None
    key, inner, is_listed = "", result, False
    while True:
        if isinstance(inner, list) and len(cast(list[Any], inner)) == 1:
            inner, is_listed = cast(list[Any], inner)[0], True
            if key in words_of_name(name) or tells_of_trouble(f"{key}.", ""):
                return None  # of many things, those that it tells of
        if not isinstance(inner, dict):
            return None
        fields = cast(_Fields, inner)
        held = [(k, value) for k, value in fields.items() if value not in EMPTY]
        if len(held) != 1 or not isinstance(held[0][1], (dict, list)):
            break
        key, inner = key_of((held[0][0],)), cast(Any, held[0][1])
        if key in participles_of(name):
            return None  # that was done
    names = {*_NAMES, *(f"{key}_{each}" for each in _NAMES)}
    own = {str(value) for k, value in held if key_of((k,)) in names}
    if fields is result or says_done(fields, name) or not own.isdisjoint(map(str, given())):
        return None
    if key.startswith(_EARLIER):
        return None
    if not (is_listed or own):
        return reason_in_object(fields, False, name, given)
    state = state_in(fields)
    is_failed = state is not None and is_bad(state.lower(), fields, name, given)
    return told_in(fields) or state if is_failed else None
