"""Whether a result says that its call failed, and why.

Providers without a mark for failed results write them as text: then the first words of it decide
(`words`), or a field such as `error`, `success` or `statusCode` (`fields`). Not
here: what becomes of failed calls (`actions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, cast

from chatfold.core.effects.tool_names import effect_of_name
from chatfold.core.failures.fields import reason_in_object, reason_in_words, texts_of
from chatfold.core.failures.forms import reason_in_form, status_in_text
from chatfold.core.failures.reasons import text_of
from chatfold.core.failures.shell import ended_well, failing_line
from chatfold.core.failures.successes import telling_line
from chatfold.core.failures.unmade import exits_badly
from chatfold.core.failures.words import first_line, said_in_text, words_of_name
from chatfold.core.word_sets import word_set

__all__ = ["first_line", "reason_in"]

# A text alone under one of these is what the tool returned: hosts wrap what is no object, as
# Gemini's SDK does under `result`. Servers say no more than `detail` where there is nothing.
_WRAPS = ("result", "output", "response", "content", "text", "message", "detail", "msg")


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
    wrapped = None if failed else _wrapped_text(result)
    reason = None if wrapped is None else reason_in(wrapped, name=name, given=given)
    if reason is not None:
        return reason
    if isinstance(result, dict):
        reason = reason_in_object(cast(dict[str, Any], result), failed, name, given)
    elif not failed and (result is False or result == "false") and _is_told_so(name, given):
        reason = "false"  # all that a tool says of what it was to do
    elif isinstance(result, str) and not failed and ended_well(result, name):
        reason = None
    elif isinstance(result, str):
        reason = said_in_text(result) if failed else reason_in_words(result, name, texts)
        if reason is None and exits_badly(result):
            reason = telling_line(result)
        reason = reason or failing_line(result, name, texts) or status_in_text(result, name)
    else:
        reason = text_of(result) if failed else None
    if reason is None and not failed and isinstance(result, (dict, list)):
        reason = reason_in_form(result, name, given)
    return reason or ("failed" if failed else None)


def _is_told_so(name: str, given: Callable[[], Iterable[Any]]) -> bool:
    """Return whether a tool that changes things would say by `false` that it did not.

    It may as well say what it has set something to.
    """
    if effect_of_name(name) != "write" or not _SETTING.isdisjoint(words_of_name(name)):
        return False
    return not any(value is False for value in given())


def _wrapped_text(result: Any) -> str | None:
    """Return the text that is all that a result holds, None where there is more or no text.

    It may stand alone in an object, or in the blocks of text that MCP answers with.
    """
    if isinstance(result, list):
        texts = [_text_in(block) for block in cast(list[Any], result)]
        told = [text for text in texts if text is not None]
        return "\n".join(told) if told and len(told) == len(texts) else None
    if isinstance(result, dict):
        fields = cast(dict[str, Any], result)
        if len(fields) == 1:
            key, text = next(iter(fields.items()))
            return text if key in _WRAPS and isinstance(text, str) else None
    return None


def _text_in(block: Any) -> str | None:
    """Return what a block of text says, None where it is none."""
    fields = cast(dict[str, Any], block) if isinstance(block, dict) else {}
    text = fields.get("text")
    return text if fields.get("type") == "text" and isinstance(text, str) else None
