"""Texts that come in place of a summary, though nothing but the text says so.

Proxies and functions of one's own hand over the page or the body of an error as if it were the
answer, agents and other summarizers give a sentence where they failed, and a model that refuses in
words, or asks for the conversation, ends as it always does. What is taken for such a text is the
whole of a short one: a summary may well begin like it, and then goes on.

Not here: what a provider says of an answer beside its text (`flow`), results of tools (`failures`).
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, cast

from chatfold.core.answers.own_failures import REGRETS, TELLS, is_own_failure
from chatfold.core.answers.thoughts import is_json_of

__all__ = ["is_error_text", "is_refusal", "says_no_change", "says_nothing"]

_LONGEST_REFUSAL: Final = 300  # characters
_LONGEST_LINE: Final = 200
_LONGEST_BODY: Final = 4000

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
    rf"\s*(?:(?:{REGRETS})?{_CANNOT}{_DO}{_REQUEST}|(?:{REGRETS})?(?:{_CANNOT_ELSEWHERE}))"
    rf"\s*(?:[.!\u2026]+\s*(?:{_OFFERS}\s*){{0,2}})?",
    re.IGNORECASE,
)

# That no record is written of the conversation, in the word that the prompts have for a summary,
# and why: a database has records too, so it is named whose this one is.
_WRITE = r"(?:(?:creat|generat|mak|prepar|produc|writ)(?:e|ing)|provide|providing)"
_TALK_ITSELF = r"(?:the|that|this|your) (?:conversation|chat)(?: history)?"
_A_RECORD = r"(?:an?|such an?|that|the|this) (?:(?:conversation|chat) )?(?:record|summary)"
_UNWRITTEN = re.compile(
    rf"\s*(?:{REGRETS})?{_CANNOT}"
    rf"(?:(?:(?:assist|help)(?: you)? (?:in|with) )?(?:summari[sz](?:e|ing) {_TALK_ITSELF}"
    rf"|{_WRITE} {_A_RECORD} (?:for|of) {_TALK_ITSELF})|write this (?:record|summary))"
    r"(?:,? (?:as|because|since) (?:it|this|that|doing so|the conversation) (?:appears|contains"
    r"|could|holds|includes|involves|is|may|might|seems|violates|would)\b[^.!?;:\n]{1,160})?"
    rf"\s*(?:[.!\u2026]+\s*(?:{_OFFERS}\s*)?)?",
    re.IGNORECASE,
)
# That the record of before holds as it was, and nothing of what came since.
_EARLIER = r"(?:the |my )?(?:earlier|existing|previous|prior) (?:record|summary)"
_UNCHANGED = re.compile(
    r"[(\[]?(?:(?:there (?:are|were) )?no (?:changes|updates) (?:to|in) "
    rf"(?:the record|the summary|{_EARLIER})"
    rf"|{_EARLIER} (?:(?:still )?(?:holds|stands|applies)"
    r"|(?:is |remains )(?:still )?(?:unchanged|valid|current|accurate|up to date))"
    r"(?: as (?:it is|before)| unchanged)?)[.!]*[)\]]?",
    re.IGNORECASE,
)

# A model that was not shown what it wants to see asks for it, or says that there is nothing.
_LEAD = (
    rf"(?:{REGRETS}|(?:sure|certainly|of course|okay|ok|hello|hi|thanks|thank you"
    r"|it (?:looks|seems|appears)(?: like| that)?"
    r"|i(?:['\u2019]d| would) be (?:happy|glad) to (?:help|assist)(?: you)?"
    r"(?: with that)?|i(?:['\u2019]?| a)m (?:ready|happy|glad) to (?:help|assist"
    r"|summari[sz]e(?: (?:the|your) conversation)?))[\s,.!:\u2014-]*(?:but )?)"
)
_ASKS = (
    r"(?:(?:could|can|would) you (?:please )?|please |kindly )"
    r"(?:provide|share|paste|send|supply|include|upload|give)(?: me)?(?: with)?"
    r"(?: (?:the|your|an?|this|any))?(?: (?:full|actual|complete))?"
)
_MISSES = (
    r"(?:there(?:['\u2019]s| (?:is|are|was|were|seems to be|appears to be)) no"
    r"|i (?:don['\u2019]t|do not|can['\u2019]t|cannot) (?:see|have|find)(?: access to)?"
    r" (?:any|an?|the))"
)
_GAVE_NONE = (
    r"you (?:haven['\u2019]t|have not|didn['\u2019]t|did not)(?: yet)?"
    r" (?:provided?|shared?|included?|pasted?) (?:any|an?|the)"
)
_TALK = r"(?:conversation|chat(?= (?:history|log|transcript)))(?: history| log| text| transcript)?"
_ANY_TEXT = rf"(?:{_TALK}|chat|dialogue|transcript|messages?|text|content|history)"
_GIVEN = r" (?:(?:was|has been) )?(?:provided|given|shared|available)"
_TO_SUMMARIZE = (
    r"(?: (?:that |which )?you(?:['\u2019]d| would)? (?:like|want|need)(?: me)? (?:to (?:have )?)?"
    r"summari[sz]ed?| (?:for me )?to (?:be )?summari[sz]ed?(?: it| them)?"
    r"| so (?:that )?i can (?:summari[sz]e"
    r"(?: (?:it|them))?|help(?: you)?|assist(?: you)?|create (?:a|the) summary))"
)
_ASKS_BACK = re.compile(
    rf"(?:{_LEAD}){{0,3}}(?:{_ASKS} (?:{_ANY_TEXT}{_TO_SUMMARIZE}|{_TALK})"
    rf"|{_MISSES} {_TALK}(?:{_GIVEN}| here| yet| above| in your message)"
    rf"|{_GAVE_NONE} {_TALK}|no {_TALK}{_GIVEN}|nothing{_TO_SUMMARIZE}"
    rf"|there(?: is|['\u2019]s) nothing{_TO_SUMMARIZE}"
    rf"|i need (?:the|your|an?) {_TALK}{_TO_SUMMARIZE}"
    rf"|the (?:provided )?{_TALK} (?:is|seems to be|appears to be) (?:empty|blank)"
    rf"|i (?:don['\u2019]t|do not) have access to (?:the|your|any|this) {_TALK}"
    r"|what (?:would|do) you (?:like|want) me to summari[sz]e"
    rf"|(?:{_MISSES}|{_GAVE_NONE}|no) {_ANY_TEXT}(?:{_GIVEN})?{_TO_SUMMARIZE})"
    r"\s*(?:[.!?:,]+\s*(?:(?:and )?(?:(?:once|then|when|as soon as|after|could|can|would) you"
    rf"|i(?:['\u2019]ll| will| can|['\u2019]d| would))\b[^.!?\n]*[.!?]*\s*|{_OFFERS}\s*){{0,2}})?",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"(?:error: )?(?:content[_ ]filter(?:ed)?|(?:(?:the|your|this) )?"
    r"(?:response|output|prompt|completion|generation|your request)(?: (?:was|has been|is))?"
    r" (?:filtered|blocked|withheld|flagged|rejected) (?:by|due to|because of) "
    r"(?:the prompt triggering )?(?:the |our |an? )?(?:azure openai['\u2019]s )?"
    r"(?:content[ -](?:management|filter(?:ing|s)?|moderation|safety|usage|policy)|safety"
    r"|moderation)(?: (?:policy|policies|settings?|filters?|system))?)"
    r"(?:[.!]+\s*(?:(?:please|to learn more|try)\b.*)?)?",
    re.IGNORECASE,
)

# What stands where there is nothing, in the words of languages, forms and templates.
_NOTHING = re.compile(
    r"(?:[#*]{0,4} ?(?:(?:conversation|chat) )?summary ?\*{0,2}:\*{0,2}\s*)?(?:[-*] )?"
    r"(?:[('\"`<\[*]{0,2}(?:none|null|nil|nan|undefined|n/a"
    r"|no (?:conversation )?summary(?: (?:is |was )?(?:available|generated|provided|given))?"
    r"|(?:the )?summary (?:is )?(?:not available|unavailable|empty))[)'\"`>\]*]{0,2}\.?"
    r"|[(<\[](?:empty|blank|no (?:text|content|output|response|answer))[)>\]])?",
    re.IGNORECASE,
)
_KEYS_OF_TEXT = frozenset(
    ("answer", "content", "message", "output", "response", "result", "summary", "text")
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
    r"|(?:the )?model(?: is)? (?:overloaded|not found)|resource(?: has been |[_ ])exhausted"
    r"|insufficient[_ ]quota|quota exceeded)"
)
# Behind it is no sentence that goes on: nothing, the body of the error to the end, or what to do.
_ENDS = (
    r"(?:[\s.!:,\]-]*(?:[({\[].*[)}\]])?[\s.!]*\Z"
    r"|[\s.!:,-]+(?:(?:please|try|retry)\b|for (?:model|requests)\b)[^.;]*[.!]*\s*\Z)"
)
_LINE = re.compile(
    r"\s*(?:traceback \(most recent call last\):\n\s*file \""
    r"|upstream connect error or disconnect/reset before headers"
    r"|(?:[\w.]{1,40}\.)?(?:ratelimit|apiconnection|apitimeout|apistatus|apiresponse|api"
    r"|internalserver|serviceunavailable|overloaded|authentication|permissiondenied|badrequest)"
    r"error\b[:(]|[45]\d\d \w{4,30}\. \{['\"]error['\"]: \{"
    rf"|(?:\[?(?:[a-z]{{2,12}} )?(?:error|exception|failed|failure)\b[\]\s:,([-]*"
    rf"(?:code|status)?[\s:]*(?:[45]\d\d\b[\s:,-]*{_FAULT}?|{_FAULT})"
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
    """Return whether a text is nothing but words by which a model, or its filter, gives none.

    Such words name nothing of the conversation: whoever writes of order 4711 summarizes.
    """
    said = text.strip()
    if len(said) > _LONGEST_REFUSAL:
        return False
    if _is_word(said):
        return False
    if _FILTERED.fullmatch(said) is not None:  # the number of a page with the rules may follow
        return True
    if any(map(str.isdigit, said)):
        return False
    if _REFUSAL.fullmatch(said) or _ASKS_BACK.fullmatch(said):
        return True
    return _UNWRITTEN.fullmatch(said) is not None and TELLS.search(said) is None


def says_no_change(text: str) -> bool:
    """Return whether a text says no more than that an earlier summary holds as it is."""
    said = text.strip()
    return len(said) <= _LONGEST_LINE and _UNCHANGED.fullmatch(said) is not None


def is_error_text(text: str) -> bool:
    """Return whether a text is the error of a server, an SDK or an agent: page, body or line."""
    said = text.strip()
    if _is_word(said):
        return False
    if _PAGE.match(said):
        return _SAYS_ERROR.search(said, 0, _LONGEST_BODY) is not None
    if said[:1] == "{":
        return len(said) <= _LONGEST_BODY and _is_error_body(said)
    if said[:9].lower() == "traceback":
        return _LINE.match(said) is not None
    longest = _LONGEST_REFUSAL if said[-1:] == "}" else _LONGEST_LINE  # an SDK shows the body
    is_line = len(said) <= longest and "\n" not in said and _LINE.match(said) is not None
    return is_line or is_own_failure(said)


def says_nothing(text: str) -> bool:
    """Return whether a text is only what stands where there is none: "No summary available."."""
    said = text.strip()
    if _is_word(said):
        return False
    return _is_sign(said) or is_json_of(said, lambda value: bool(value) and _holds_nothing(value))


def _is_word(said: str) -> bool:
    """Return whether a text is one word: whatever it is, some function may answer with it."""
    return said[:1] not in ("{", "[", "<") and not any(map(str.isspace, said)) and ":" not in said


def _is_sign(said: str) -> bool:
    return len(said) <= _LONGEST_LINE and _NOTHING.fullmatch(said) is not None


def _holds_nothing(value: Any) -> bool:
    """Return whether a value of JSON is empty, or an object whose text is."""
    if isinstance(value, str):
        return _is_sign(value.strip())
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return fields.keys() <= _KEYS_OF_TEXT and all(map(_holds_nothing, fields.values()))
    return value is None or value == []


def _is_error_body(text: str) -> bool:
    """Return whether a text that begins as an object of JSON says an error, and nothing else."""
    try:
        body = cast("dict[str, Any]", json.loads(text))
    except (ValueError, RecursionError):
        return False
    keys = {key.lower() for key in body}
    is_one = "error" in (body.get("type"), body.get("object"))
    tells = is_one or any(body[key] for key in body if key.lower() in _KEYS_OF_ERRORS)
    lists = [key for key, value in body.items() if isinstance(value, list)]  # of what was said
    return (
        tells
        and keys <= _KEYS_OF_ERRORS | _KEYS_BESIDE
        and all(key.lower() in _KEYS_OF_ERRORS for key in lists)
    )
