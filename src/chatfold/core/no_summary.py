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

_LONGEST_REFUSAL: Final = 300  # characters
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
# What is said of the request itself, and of nothing in the conversation.
_REQUEST = (
    r"(?: you)?(?: (?:to|with|on|in))?"
    r"(?: (?:that|this|it|(?:this|that|your|the|such an?) (?:kind of |type of )?"
    r"(?:request|content|conversation|task|prompt|question|topic|summary|text)"
    r"|an? summary(?: of (?:this|that|the conversation))?))?"
)
_DO = (
    r"(?:help|assist|comply|fulfil+|summari[sz]e|do|continue|complete|provide|process|create"
    r"|generate|engage|discuss|support|respond|answer|share|write)"
)
_CANNOT_ELSEWHERE = (
    r"(?:(?:dabei|damit|da|hierbei|das) kann ich|ich kann)"
    r"(?: (?:dir|ihnen|dabei|damit|das|diese\w*|leider|anfrage))* nicht"
    r" (?:helfen|weiterhelfen|tun|machen|bearbeiten|beantworten|zusammenfassen|erf\u00fcllen)"
    r"|je ne (?:peux|suis) pas (?:(?:vous|t['\u2019]|le|en mesure de) ?)*"
    r"(?:aider|faire|r\u00e9pondre|traiter|r\u00e9sumer)"
    r"(?: (?:\u00e0|avec) (?:cela|cette demande))?"
    r"|no puedo (?:ayudar|hacer|cumplir|continuar|procesar|resumir|responder)\w*"
    r"(?: (?:con|a)? ?(?:eso|esto|esa solicitud|esta solicitud))?"
    r"|non posso (?:aiutar|far|risponder|elaborar|riassumer)\w*(?: (?:con|a)? ?questa richiesta)?"
    r"|n\u00e3o posso (?:ajudar|fazer|responder|processar|resumir)\w*(?: (?:com|a)? ?isso)?"
)
# Behind it may be why, or what else to do, but nothing that was said or done.
_OFFERS = (
    r"(?:please|if you|is there|let me know|feel free|you (?:can|may|could|might)|try|consult"
    r"|perhaps|instead)\b[^.!?\n]*[.!?]*"
)
_REFUSAL = re.compile(
    rf"\s*(?:(?:{_REGRETS})?{_CANNOT}{_DO}{_REQUEST}|(?:{_REGRETS})?(?:{_CANNOT_ELSEWHERE}))"
    rf"\s*(?:[.!\u2026]+\s*(?:{_OFFERS}\s*){{0,2}})?",
    re.IGNORECASE,
)

_PAGE = re.compile(r"\s*<(?:!doctype\s+html|html|head)\b", re.IGNORECASE)
_SAYS_ERROR = re.compile(
    r"<(?:title|h1|h2|body)[^<>]{0,80}>\s*(?:[^<>]{0,60}\b)?(?:[45]\d\d\b|error|bad gateway"
    r"|(?:service )?unavailable|gateway time-?out|forbidden|unauthori[sz]ed|access denied"
    r"|too many requests|not found)",
    re.IGNORECASE,
)
_FAULT = (
    r"(?:internal (?:server )?error|bad gateway|service (?:temporarily |is )?unavailable|time-?out"
    r"|gateway time-?out|too many requests|rate limit(?:ed)?(?: exceeded| reached)?|unauthori[sz]ed"
    r"|forbidden|overloaded(?:_error)?|bad request|not found"
    r"|(?:the )?(?:request|connection|read)(?: was)? (?:timed? ?out|refused|reset|aborted|error)"
    r"|(?:connection|network|server) error|no healthy upstream|invalid api key"
    r"|insufficient[_ ]quota|quota exceeded)"
)
# Behind it is no sentence that goes on: nothing, the body of the error to the end, or what to do.
_ENDS = (
    r"(?:[\s.!:,-]*(?:[({\[].*[)}\]])?[\s.!]*\Z"
    r"|[\s.!:,-]+(?:(?:please|try|retry)\b|for (?:model|requests)\b)[^.;]*[.!]*\s*\Z)"
)
_LINE = re.compile(
    r"\s*(?:traceback \(most recent call last\):\n\s*file \""
    r"|upstream connect error or disconnect/reset before headers"
    r"|(?:[\w.]{1,40}\.)?(?:ratelimit|apiconnection|apitimeout|apistatus|apiresponse|api"
    r"|internalserver|serviceunavailable|overloaded|authentication|permissiondenied|badrequest)"
    r"error\b[:(]"
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
        and _REFUSAL.fullmatch(said) is not None
        and not any(map(str.isdigit, said))
    )


def is_error_text(text: str) -> bool:
    """Return whether a text is the error of a server or of an SDK: its page, its body, its line."""
    said = text.strip()
    if _PAGE.match(said):
        return _SAYS_ERROR.search(said, 0, _LONGEST_BODY) is not None
    if said[:1] == "{":
        return len(said) <= _LONGEST_BODY and _is_error_body(said)
    if said[:9].lower() == "traceback":
        return _LINE.match(said) is not None
    return len(said) <= _LONGEST_LINE and "\n" not in said and _LINE.match(said) is not None


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
    tells = is_one or any(body[key] for key in body if key.lower() in _KEYS_OF_ERRORS)
    lists = [key for key, value in body.items() if isinstance(value, list)]  # of what was said
    return (
        tells
        and keys <= _KEYS_OF_ERRORS | _KEYS_BESIDE
        and all(key.lower() in _KEYS_OF_ERRORS for key in lists)
    )
