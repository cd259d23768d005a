"""Texts that come in place of a summary, though nothing but the text says so.

Proxies and functions of one's own hand over the page or the body of an error as if it were the
answer, and a model that refuses in words ends as it always does. What is taken for such a text is
the whole of a short one: a summary may well begin like it, and then goes on.

Not here: what a provider says of an answer beside its text (`flow`), results of tools (`failures`).
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, cast

__all__ = ["is_error_text", "is_refusal"]

_LONGEST_REFUSAL: Final = 400  # characters
_LONGEST_LINE: Final = 200
_LONGEST_BODY: Final = 4000

_REGRETS = (
    r"(?:(?:i['\u2019]?m|i am|we['\u2019]?re|we are) (?:very |so |really |truly )?sorry|sorry"
    r"|(?:my )?apologies|(?:i|we) (?:sincerely )?apologi[sz]e|unfortunately"
    r"|as an ai[\w -]{0,40}|es tut mir (?:sehr )?leid|tut mir leid|leider"
    r"|(?:je suis |nous sommes )?d\u00e9sol\u00e9(?:e|s|es)?|malheureusement"
    r"|lo siento(?: mucho)?|lo lamento|lamentablemente|mi dispiace|sinto muito|desculpe)"
    r"[\s,.!:;\u2014-]*(?:(?:but|aber|mais|pero|ma|mas) )?"
)
_CANNOT = (
    r"(?:i|we) ?(?:can['\u2019]?t|can ?not|won['\u2019]?t|will not"
    r"|(?:am|are|['\u2019]m|['\u2019]re) (?:not able|unable) to"
    r"|(?:must|have to) (?:decline|refuse) to) "
)
_HELP = r"(?:help|assist|comply|fulfil+|summari[sz]e|do (?:that|this)|continue)"
_DO = (
    rf"(?:{_HELP}|complete|provide|process|create|generate|engage|discuss|support|respond|answer"
    r"|share|write)"
)
_CANNOT_ELSEWHERE = (
    r"(?:(?:dabei|damit|da|hierbei|das) kann ich (?:(?:dir|ihnen|leider) )*nicht"
    r"|ich kann (?:(?:dir|ihnen|dabei|damit|das|diese\w*|leider|anfrage) )*nicht"
    r"|je ne (?:peux|suis) pas|no puedo|non posso|n\u00e3o posso)"
)
# Without a word of regret, only what is said of the request itself.
_REFUSAL = re.compile(
    rf"\s*(?:{_REGRETS}(?:{_CANNOT}{_DO}|{_CANNOT_ELSEWHERE})|{_CANNOT}{_HELP})\b", re.IGNORECASE
)

_PAGE = re.compile(r"\s*<(?:!doctype\s+html|html|head)\b", re.IGNORECASE)
_FAULT = (
    r"(?:internal (?:server )?error|bad gateway|service (?:temporarily |is )?unavailable|time-?out"
    r"|gateway time-?out|too many requests|rate limit(?:ed)?(?: exceeded| reached)?|unauthori[sz]ed"
    r"|forbidden|overloaded(?:_error)?|bad request|not found|upstream connect error"
    r"|(?:the )?(?:request|connection|read)(?: was)? (?:timed? ?out|refused|reset|aborted|error)"
    r"|(?:connection|network|server) error|no healthy upstream|invalid api key"
    r"|insufficient[_ ]quota|quota exceeded)"
)
# What follows is no sentence that goes on: the body of the error, or what to do.
_ENDS = r"(?=[\s.!:,-]*(?:$|[({\[]|(?:please|try|retry|for model|for requests|or|reset reason)\b))"
_LINE = re.compile(
    r"\s*(?:traceback \(most recent call last\):"
    r"|(?:[\w.]{1,40}\.)?(?:rate ?limit|api ?(?:connection|timeout|status|response)?"
    r"|internal ?server|service ?unavailable|connection|connect|read ?timeout|timeout|bad ?request"
    r"|authentication|permission ?denied|overloaded|http|http ?status|quota ?exceeded)"
    r"(?:error|exception)\b[:(]"
    rf"|(?:(?:[a-z]{{2,12}} )?(?:error|exception|failed|failure)\b[\s:,([-]*(?:code|status)?[\s:]*"
    rf"(?:[45]\d\d\b[\s:,-]*{_FAULT}?|{_FAULT})"
    rf"|(?:http(?:/[\d.]+)?[\s:]*)?(?:[45]\d\d\b[\s:,-]*)?{_FAULT}){_ENDS})",
    re.IGNORECASE,
)
_KEYS_OF_ERRORS = frozenset(("error", "errors", "fault", "exception"))
_KEYS_BESIDE = frozenset(
    (
        *("code", "detail", "details", "event_id", "id", "message", "msg", "name", "object", "ok"),
        *("param", "path", "reason", "request_id", "requestid", "retry_after", "status"),
        *("statuscode", "status_code", "success", "timestamp", "title", "trace_id", "type", "url"),
    )
)


def is_refusal(text: str) -> bool:
    """Return whether a text is nothing but words by which a model refuses.

    Such words name nothing of the conversation: whoever writes of order 4711 summarizes.
    """
    said = text.strip()
    return (
        len(said) <= _LONGEST_REFUSAL
        and _REFUSAL.match(said) is not None
        and not any(map(str.isdigit, said))
    )


def is_error_text(text: str) -> bool:
    """Return whether a text is the error of a server or of an SDK: its page, its body, its line."""
    said = text.strip()
    if _PAGE.match(said):
        return True
    if said[:1] == "{":
        return len(said) <= _LONGEST_BODY and _is_error_body(said)
    first, _, rest = said.partition("\n")
    if first.lower().startswith("traceback (most recent"):
        return True
    return len(said) <= _LONGEST_LINE and not rest.strip() and _LINE.match(first) is not None


def _is_error_body(text: str) -> bool:
    """Return whether a JSON object says that there was an error, and nothing else."""
    try:
        loaded: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(loaded, dict):
        return False
    body = cast("dict[str, Any]", loaded)
    keys = {key.lower() for key in body}
    is_one = "error" in (body.get("type"), body.get("object"))
    tells = is_one or not _KEYS_OF_ERRORS.isdisjoint(keys)
    return tells and keys <= _KEYS_OF_ERRORS | _KEYS_BESIDE
