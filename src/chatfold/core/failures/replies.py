"""What machines, databases and protocols answer where they did not do what they were told.

Only short answers are read, of tools that do not merely look and that run no code: what those put
out may be another's. Not here: prose (`words`, `unmade`, `refusals`), objects (`forms`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from chatfold.core.effects import reads_by_name
from chatfold.core.effects.tool_names import effect_of_name, is_shell, program_of
from chatfold.core.failures.successes import tells_a_deed, words_in
from chatfold.core.failures.words import first_line, words_of_name
from chatfold.core.word_sets import word_set

__all__ = ["said_in_reply"]

_LONGEST: Final = 300  # characters of an answer in words; what has more to say is a text
_LONGEST_XML: Final = 4000
_NONE = r"(?!\W{0,3}(?:0+\b|none\b|no\b|ok\b|nil\b|cleared\b|reset\b))"

# Of Oracle's programs, of what speaks SQL, of SQL Server, where a level up to 10 only informs
# (https://dataginger.com/2012/11/), of Redis, where `ERR` stands before what went wrong
# (https://redis.io/docs/latest/develop/reference/errors/), both read 2026-11-29, and of devices.
_CODES = re.compile(
    r"\s*(?:(?:ORA|TNS|PLS|SP2|DPY|DPI|RMAN)-(?!0+\b)\d{4,5}: "
    r"|SQLSTATE\[(?!00|01|02)\w{5}\]|Msg \d{1,6}, Level (?:1[1-9]|2[0-5])\b"
    rf"|[\[(-]?ERR\b[\])]?{_NONE}[\s:_-]{{1,2}}\w"
    r"|(?:exit|EXIT|rc|RC|retval|retcode)=[1-9]\d{0,2}(?=\s*(?:$|[:;,(\n])))"
)
_OF_MACHINES = re.compile(
    r"\s*(?:(?:NACK|NAK|nack|nak)(?=\s*(?:$|[:,.;(\n]|0x|\d))"
    rf"|(?:FAULT|ALARM): {_NONE}"
    r"|(?:[\w #/-]{1,40}[,:;-] ?){0,2}(?:the )?(?i:command|request|operation|instruction)"
    r" (?:was |is )?(?:ignored|inhibited)\b"
    r"|(?:[\w#-]{1,30} ){1,3}(?:is |was )?inhibited(?=\s*(?:[:.,;(\n]|$))"
    r"|(?:[\w #/-]{1,40}[,:;-] ?)?(?i:cycle|motor|engine|pump|sequence|protocol|rotor|spindle)"
    r" (?:was )?not started(?=\s*(?:[:.,;(\n-]|$)))"
)
_IN_WORDS = re.compile(  # of tools that change things: elsewhere it may be what somebody answered
    r"\s*(?:(?:[\w#-]{1,30} ){1,4}?(?:does|do|did) not (?:answer|respond)"
    r"(?: (?:to|after|within|in|on|at|for)\b[^\n.,;:!]{0,60})?\s*[.!]?\s*\Z"
    r"|no (?:response|reply|answer)(?: (?:from|after|within)\b[^\n.,;:!]{0,60})?\s*[.!]?\s*\Z"
    r"|(?:[a-z]+ )?(?:is )?busy\b[,;.:]? ?(?:please )?try again\b|try again (?:later|in \d)"
    r"|(?:[\w#-]{1,30}: )?(?:[\w#-]{1,30} ){0,3}aborted(?=[,:;])"
    r"|(?:gave|given) up (?:after|on|trying)\b|out of memory\b|access violation\b)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.,;:!\n]|\b(?:and|but|so)\b")
# What is there to tell of such things, or to bring them about.
_TELLING = word_set(
    "abort alarm alert ask call comment compose draft fault generate ignore inhibit log nack nak"
    " note post record report rewrite save store test write"
)
# What others wrote or said, or what a thing is.
_OF_TEXTS = word_set(
    "article bot chatbot deepl display expert faq glossary headlines news reply screen speech "
    "transcript transcription translation translator value"
)
_HALTED = word_set("aborted inhibited")  # which is what these bring about
_HALTING = word_set(
    "cancel disable end halt hangup interlock isolate kill lock lockout return "
    "recall stop terminate"
)
_RUNNING = word_set("code interpreter notebook python repl script")

# Of SOAP 1.1, where a fault has a `faultcode`
# (http://www.zvon.org/xxl/soapReference/Output/soap_faultcode.html, read 2026-11-29), and of 1.2,
# where that is a `Code`.
_FAULT = re.compile(
    r"<(?:[\w-]{1,20}:)?Fault[\s>].{0,400}?<(?:[\w-]{1,20}:)?(?:faultcode\b|Code>\s*<(?:[\w-]{1,20}:)?Value>)",
    re.S,
)
_RETURNED = re.compile(r"<(?:rc|return-?code|errno)>\s*(-?\d{1,6})\s*</", re.IGNORECASE)
_WELL = frozenset((0, *range(200, 300)))  # as of HTTP
_SAID = re.compile(
    r"<(?:[\w-]{1,20}:)?(?:faultstring|text|msg|message|reason|error)(?:\s[^<>]{0,80})?>"
    r"\s*([^<>]*\w[^<>]*)</",
    re.IGNORECASE,
)


def said_in_reply(text: str, name: str, given: Callable[[], Iterable[str]]) -> str | None:
    """Return what an answer says of the failure of its call, None where it tells of none.

    Args:
        text: The result.
        name: The name of the call's tool.
        given: Returns the texts that the call was given, which it may repeat.
    """
    is_xml = text.lstrip()[:1] == "<"
    if len(text) > (_LONGEST_XML if is_xml else _LONGEST):
        return None
    words = words_of_name(name)
    if reads_by_name(name, "function", {}) or not (_TELLING | _OF_TEXTS).isdisjoint(words):
        return None
    if is_shell(name) or program_of(name) or not _RUNNING.isdisjoint(words):
        return None
    said = _said_in_xml(text, name) if is_xml else _said_in_words(text, name)
    if said is None or any(text.strip() in known for known in given()):
        return None
    return said


def _said_in_xml(text: str, name: str) -> str | None:
    """Return what a fault of SOAP says, or an answer whose one return code is not 0."""
    codes, said = _RETURNED.findall(text), _SAID.search(text)
    if not _FAULT.search(text) and (len(codes) != 1 or int(codes[0]) in _WELL):
        return None
    if said and tells_a_deed(words_in(said[1]), name):  # `Command completed successfully`
        return None
    return said[1].strip() if said else first_line(text)


def _said_in_words(text: str, name: str) -> str | None:
    found = _CODES.match(text) or _OF_MACHINES.match(text)
    if found is None and effect_of_name(name) == "write":
        found = _IN_WORDS.match(text)
    if found is None:
        return None
    said = words_in(found[0])
    if not _HALTED.isdisjoint(said) and not _HALTING.isdisjoint(words_of_name(name)):
        return None
    clauses = map(words_in, (text[: found.end()], *_CLAUSE.split(text[found.end() :].lower())))
    told = (words for words in clauses if "already" not in words)
    return None if any(tells_a_deed(words, name) for words in told) else first_line(text)
