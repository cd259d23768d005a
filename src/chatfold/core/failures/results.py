"""Whether a result says that its call failed, and why.

Providers without a mark for failed results write them as text: then the first words of it decide
(`words`), or a field such as `error`, `success` or `statusCode` (`fields`). Not
here: what becomes of failed calls (`actions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, cast

from chatfold.core.call_json import json_or_text
from chatfold.core.effects.tool_names import effect_of_name
from chatfold.core.failures.count_words import none_told
from chatfold.core.failures.counts import none_counted
from chatfold.core.failures.envelopes import reason_inside
from chatfold.core.failures.fields import reason_in_object, reason_in_words
from chatfold.core.failures.forms import reason_in_form, status_in_text
from chatfold.core.failures.reasons import text_of
from chatfold.core.failures.replies import said_in_reply
from chatfold.core.failures.shell import ended_well, failing_line
from chatfold.core.failures.states import texts_of
from chatfold.core.failures.successes import telling_line
from chatfold.core.failures.unmade import exits_badly
from chatfold.core.failures.words import first_line, said_in_text, words_of_name
from chatfold.core.failures.wraps import inner_of, wrapped_text
from chatfold.core.word_sets import word_set

__all__ = ["first_line", "reason_in"]

_SETTING = word_set("disable enable flip mark set switch toggle turn")


def _nothing() -> Iterable[Any]:
    return ()


def reason_in(
    result: Any,
    *,
    failed: bool = False,
    name: str = "",
    given: Callable[[], Iterable[Any]] = _nothing,
) -> str | None:
    """Return why a call failed, None where its result does not say that it did.

    Args:
        result: The result as JSON types, or its text.
        failed: Whether the provider marks the call as failed.
        name: The name of the call's tool: what a tool is there for is no failure of it.
        given: Returns the values that the call was given, which are none either.
    """
    texts = partial(texts_of, given)
    inner = None
    if not failed:
        wrapped = wrapped_text(result)
        inner = inner_of(result) if wrapped is None else json_or_text(wrapped)
    reason = None if inner is None else reason_in(inner, name=name, given=given)
    if reason is not None:
        return reason
    if isinstance(result, dict):
        reason = reason_in_object(cast(dict[str, Any], result), failed, name, given)
    elif (
        not failed
        and (result is False or result in ("false", "False"))
        and _is_told_so(name, given)
    ):
        reason = "false"  # all that a tool says of what it was to do
    elif isinstance(result, str) and not failed and ended_well(result, name):
        reason = None
    elif isinstance(result, str):
        reason = said_in_text(result) if failed else reason_in_words(result, name, texts)
        if reason is None and exits_badly(result):
            reason = telling_line(result)
        reason = reason or failing_line(result, name, texts) or status_in_text(result, name)
        reason = reason or (None if failed else none_told(result, name, given))
        reason = reason or (None if failed else said_in_reply(result, name, texts))
    else:
        reason = text_of(result) if failed else None
    if reason is None and not failed and isinstance(result, (dict, list)):
        reason = reason_in_form(result, name, given) or none_counted(result, name, given)
        reason = reason or reason_inside(result, name, given)
    return reason or ("failed" if failed else None)


def _is_told_so(name: str, given: Callable[[], Iterable[Any]]) -> bool:
    """Return whether a tool that changes things would say by `false` that it did not.

    It may as well say what it has set something to.
    """
    if effect_of_name(name) != "write" or not _SETTING.isdisjoint(words_of_name(name)):
        return False
    return not any(value is False for value in given())
