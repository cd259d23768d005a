"""Results that chatfold itself writes for calls that have none of their own.

Where a provider's results have no field for it, nothing but these words says that a call failed:
those of `prompts/tool_error.jinja` and of `repair_note.jinja`. A caller's own templates have other
words, which are not known here. Not here: failures in anybody else's words (`unmade`, `words`).
"""

from __future__ import annotations

import re

__all__ = ["is_own_failure"]

_NOT_CALLED = "so (?:the tool|it) was not called"
_UNKNOWN = "It is unknown whether (?:the call|it) took effect\\."
_ANY = "(?s:.{0,2000})"  # longer words of others are cut
_OWN = re.compile(
    rf'There is no tool named "{_ANY}", so nothing was called\. '
    rf"(?:The tools are: {_ANY}|There are no tools)\.\Z"
    rf"|The call was cut off before it was complete, {_NOT_CALLED}\.\Z"
    rf"|The arguments (?:are not JSON|do not fit the tool), {_NOT_CALLED}: "
    rf"|The arguments must be one JSON object, not {_ANY}, {_NOT_CALLED}\.\Z"
    r"|The tool failed: "
    rf"|The tool did not finish within \S+ seconds\. {_UNKNOWN}\Z"
    rf"|The call was interrupted before it finished\. {_UNKNOWN}\Z"
    r"|The call was not started, because the run of tool calls was interrupted before its turn\.\Z"
    rf"|Interrupted: no result of this call was recorded\. {_UNKNOWN}\Z"
)


def is_own_failure(text: str) -> bool:
    """Return whether a result is one of chatfold's own, which says why there is no other.

    That of a tool that ran to its end is none: what it did is done, though it returned no text.
    """
    return text[:1] in ("T", "I") and _OWN.match(text) is not None
