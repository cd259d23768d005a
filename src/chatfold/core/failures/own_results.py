"""Results that chatfold itself writes for calls that have none of their own.

Where a provider's results have no field for it, nothing but these words says that a call failed:
those of `prompts/tool_error.jinja` and of `repair_note.jinja`. A caller's own templates have other
words, which are not known here. Not here: failures in anybody else's words (`unmade`, `words`).
"""

from __future__ import annotations

import re

from chatfold.core.views import ItemView, ResultPart

__all__ = ["with_own_failures"]

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
    r"|(?P<ran>The tool ran to its end, but what it returned could not be turned into text: )"
    rf"|The tool did not finish within \S+ seconds\. {_UNKNOWN}\Z"
    rf"|The call was interrupted before it finished\. {_UNKNOWN}\Z"
    r"|The call was not started, because the (?:run of tool calls was interrupted before its turn"
    r"|system gives no more threads)\.\Z"
    rf"|Interrupted: no result of this call was recorded\. {_UNKNOWN}\Z"
)


def with_own_failures(view: ItemView) -> ItemView:
    """Return a reading in which a result that chatfold wrote has failed as its words say.

    So all shapes tell the same, whether their results have a field for it or not. A tool that ran
    to its end has not failed, though it returned no text: what it did is done.
    """
    for place, part in enumerate(view.parts):
        if type(part) is not ResultPart or part.pair == "approval":  # a user's own words
            continue
        if part.text[:1] in ("T", "I"):
            found = _OWN.match(part.text)
            failed = part.failed if found is None else found["ran"] is None
            if failed is not part.failed:
                told = part._replace(failed=failed)
                view = view._replace(parts=(*view.parts[:place], told, *view.parts[place + 1 :]))
    return view
