"""The words by which a text says that a call failed.

Only its start is read. Not here: the fields of a result that say so (`results`).
"""

from __future__ import annotations

import re

from chatfold.core.word_sets import without_accents, word_set

__all__ = [
    "DEEDS",
    "STATES",
    "first_line",
    "is_for",
    "is_named_by",
    "is_participle",
    "is_status_text",
    "participles_of",
    "reason_in_text",
    "said_in_text",
    "words_of_name",
]

_READ = 200  # characters at the start of a text that tell a failure
_LINES_READ = 4000  # characters of a text in which its first line is looked for
_NAME_READ = 200  # characters of a tool's name

# As in `Failed: 0`.
_NOTHING = (
    r"(?!\W{0,2}(?:0\b|(?:none|null|false|keine?|aucune?|ningun[oa]|ningún)\s*(?:[,.;|)<\n]|$)))"
)
_PHRASE = (
    r"(?:bad request|unauthorized|payment required|forbidden|not found|method not allowed|"
    r"not acceptable|request timeout|conflict|gone|precondition failed|payload too large|"
    r"unsupported media type|unprocessable (?:entity|content)|locked|too many requests|"
    r"internal server error|not implemented|bad gateway|service unavailable|gateway time-?out)\b"
)
_THINGS_THAT_FAIL = (
    r"(?:the )?(?:(?:tool|request|call|api|http|mcp|g?rpc|server|internal|network|connection|"
    r"validation|operation|command|execution|runtime|database|payment|transaction) ){1,3}"
)
# Of the words that say so; JSON-RPC puts its code there: `MCP error -32602: ...`.
_ENDS = r"\s*(?:[:.,;!\n]|[45]\d\d\b|-\d{5}\b|$)| [\u2013\u2014-] "
_SAYS_SO = re.compile(
    r"(?:<[^<>]{1,40}+>|\W)*+(?:(?:(?:"
    r"error|exception|failed|failure|fatal|traceback|permission denied|access denied|"
    r"unauthori[sz]ed|forbidden|invalid|unable to|cannot|can't|could not|couldn't|not found|"
    r"timed? ?out|[a-z][a-z.]{0,60}(?:error|exception))\b"
    # What failed comes first: `Tool error: ...`, `Request failed with ...`, but no error rate.
    rf"|{_THINGS_THAT_FAIL}(?:error|exception|failure)"
    rf"(?={_ENDS}| (?:with|because|due|while|when|during|occurred)\b)"
    rf"|{_THINGS_THAT_FAIL}failed(?={_ENDS}|\s*\(| "
    r"(?:with|because|due|after|for|at|on|in|during|while|when|as|and|to)\b)"
    # Not as the subject of what was done: `Fehler behoben`.
    rf"|(?:fehler|erreur|échec)(?={_ENDS}| (?:beim?|bei|in|im|lors|d[eu]|d['’]))"
    rf"){_NOTHING}"
    r"|http(?:/[\d.]{1,3})?(?: status)?(?: code)?[ :]{1,2}[45]\d\d\b"
    rf"|[45]\d\d:? {_PHRASE}(?=\s*(?:[:.,;!(\n<-]|$)))",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"(?:\s|<(?![\w.:-]{0,40}(?:error|exception|failure)[\s>])[^<>]{1,40}+>)*+"
    r"<[\w.:-]{0,40}?(?:error|exception|failure)(?:\s[^<>]{0,80})?>"
    rf"{_NOTHING}(?!\s*</)",
    re.IGNORECASE,
)
_STATUS_CODE = re.compile(  # as what went wrong, not as what a rule is about
    r"(?:(?:the )?(?:http |response )?|([^\n.;:,]{0,80}?)\b(?:failed|failure|error|returned|"
    r"responded|answered|replied|got|received|rejected|refused)(?: \w{1,20}){0,4}? )"
    r"status code(?: of|:)? ?[45]\d\d\b",
    re.IGNORECASE,
)
_STATUS_TEXT = re.compile(rf"[45]\d\d(?::? {_PHRASE})?", re.IGNORECASE)

# A sentence of which the subject is what had failed: `Failed payments report was sent to ops`.
_SUBJECT = re.compile(
    r"\W*(failed|error|exception|failure|invalid|unauthori[sz]ed|forbidden|http [45]\d\d) "
    r"(?!(?:the|this|that|your|a|an|it|its|no|to|because|as|\w+ing)\b)"
    r"((?:(?!(?:that|which|who|because|since|when|while|if|after|before|to|not|cannot)\b)"
    r"[\w#@/-]{1,40} ){1,8}?)"
    r"(?:was|were|is|are|has been|have been) (?:now |all |successfully )?(\w{2,30})\b",
    re.IGNORECASE,
)
# The same without a verb between: `Error report submitted`, `Failed login issue created as #4`.
_BARE_SUBJECT = re.compile(
    r"\W*(failed|error|exception|failure) "
    r"((?:(?!(?:that|which|who|because|since|when|while|if|after|before|to|not|cannot|no|in|on)\b)"
    r"[\w#@/-]{1,40} ){0,8}?)"
    r"(\w{2,30})(?=\s*(?:[.!\n(]|$)| (?:as|to|with) )",
    re.IGNORECASE,
)
_BUT = re.compile(
    r"\b(?:but|however|not|cannot|can't|couldn't|unable|fails|failed|failure|errors?)\b",
    re.IGNORECASE,
)


_COMPLAINS = re.compile(
    r"(?<!\b0 )(?<!\bno )\b(?:\w*(?:error|exception)s?|fail(?:ed|ures?|s)|fatal|denied|refused"
    r"|rejected|aborted|exceed(?:ed|s)|cannot|can['’]t|could(?: not|n['’]t)|unable|invalid|missing"
    r"|not found|no such|timed? ?out|forbidden|unauthori[sz]ed)\b(?!: ?0\b)",
    re.IGNORECASE,
)
_THINGS = word_set(
    "alert digest email entry export file incident issue list log mail message note notification "
    "page record report rule summary ticket"
)
_DONE = word_set(
    "added attached created delivered emailed exported filed forwarded generated mailed opened "
    "posted published saved sent shared submitted updated uploaded written"
)
_CLEANED = word_set(
    "archived cleared corrected deleted dropped fixed purged removed repaired replaced"
)
DEEDS = (
    _DONE
    | _CLEANED
    | word_set("applied booked changed completed executed issued made performed processed")
)
"""What tools do, as participles."""
_IRREGULAR = {"send": "sent", "resend": "resent", "write": "written", "pay": "paid", "make": "made"}
_NAME_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# What is said of a call that came to nothing, in six more languages, and the verbs of the tools
# that it is no failure of, in English and in that language.
_REFUSED = ("reject", "decline", "deny", "refuse")
_TOLD = {
    **dict.fromkeys(("abgelehnt", "zurückgewiesen"), (*_REFUSED, "ablehnen", "ablehnung")),
    "verweigert": (*_REFUSED, "verweigern"),
    **dict.fromkeys(("fehlgeschlagen", "gescheitert"), ("fail",)),
    **dict.fromkeys(("refusé", "refusée"), (*_REFUSED, "refuser")),
    **dict.fromkeys(("rejeté", "rejetée"), (*_REFUSED, "rejeter")),
    **dict.fromkeys(("échec", "échoué", "échouée"), ("fail",)),
    **dict.fromkeys(("rechazado", "rechazada"), (*_REFUSED, "rechazar")),
    **dict.fromkeys(("denegado", "denegada"), (*_REFUSED, "denegar")),
    **dict.fromkeys(("fallido", "fallida", "imposible"), ("fail",)),
    **dict.fromkeys(("rifiutato", "rifiutata"), (*_REFUSED, "rifiutare")),
    **dict.fromkeys(("respinto", "respinta"), (*_REFUSED, "respingere")),
    **dict.fromkeys(("fallito", "fallita", "impossibile"), ("fail",)),
    **dict.fromkeys(("recusado", "recusada"), (*_REFUSED, "recusar")),
    **dict.fromkeys(("rejeitado", "rejeitada"), (*_REFUSED, "rejeitar")),
    **dict.fromkeys(("falhou", "falhado", "impossível"), ("fail",)),
    **dict.fromkeys(("geweigerd", "afgewezen"), (*_REFUSED, "weigeren", "afwijzen")),
    "mislukt": ("fail",),
    **dict.fromkeys(("却下", "拒否"), _REFUSED),
}
_STATES = {
    **_TOLD,
    # "Refuse" is a word of English, too.
    **{without_accents(state): verbs for state, verbs in _TOLD.items() if state != "refusé"},
}
_ENDING = word_set("end halt interrupt kill stop terminate")  # what runs is then aborted
STATES = frozenset(_STATES)
"""Words of other languages by which a state says that a call came to nothing."""
_VERBS = {
    "aborted": "abort",
    "bounced": "bounce",
    "declined": "decline",
    "denied": "deny",
    "failed": "fail",
    "failure": "fail",
    "invalid": "invalidate",
    "refused": "refuse",
    "rejected": "reject",
}


def first_line(text: str) -> str:
    """Return the first line that says something; of a traceback the last, which names the error."""
    lines = [line.strip() for line in text[:_LINES_READ].strip().splitlines()]
    if lines and lines[0].startswith("Traceback (most recent call last)"):
        lines = [line.strip() for line in text[-_LINES_READ:].strip().splitlines()[::-1]]
    return next((line for line in lines if any(map(str.isalnum, line))), "")


def reason_in_text(text: str, name: str) -> str | None:
    """Return why a call failed, None where its text does not say that it did.

    Args:
        text: The result.
        name: The name of the call's tool.
    """
    if _TAG.match(text, 0, _READ):
        return said_in_text(text)
    if _SAYS_SO.match(text, 0, _READ):
        return None if _tells_of_a_deed(text, name) else first_line(text)
    if "status code" in text[:_READ].lower():
        found = _STATUS_CODE.match(text, 0, _READ)
        if found and _DONE.isdisjoint((found[1] or "").lower().split()):
            return first_line(text)
    return None


def said_in_text(text: str) -> str:
    """Return what the text of a failed call says, without a tag that names it an error."""
    tag = _TAG.match(text, 0, _READ)
    if tag is None:
        return _complaining_line(text)
    inside = text[tag.end() : tag.end() + _LINES_READ]
    return first_line(inside.partition("</")[0]) or first_line(text)


def _complaining_line(text: str) -> str:
    """Return the first line that tells what went wrong, the first of all where none does.

    Before it stands what went well: `Uploading...`.
    """
    first = first_line(text)
    if _COMPLAINS.search(first) or "\n" not in text.strip():
        return first
    told = text if len(text) <= 2 * _LINES_READ else f"{text[:_LINES_READ]}\n{text[-_LINES_READ:]}"
    lines = (line.strip() for line in told.splitlines())
    return next(filter(_COMPLAINS.search, lines), first)


def is_status_text(text: str) -> bool:
    """Return whether a text is the HTTP status of a request that failed, as `404 Not Found`."""
    return _STATUS_TEXT.fullmatch(text, 0, _READ) is not None


def is_named_by(state: str, name: str) -> bool:
    """Return whether the verb of a tool names a state: `reject_application` ends in `rejected`."""
    words = words_of_name(name)
    if state in _STATES:
        verbs = (*_STATES[state], state)
        return any(word in verbs or any(is_participle(word, of) for of in verbs) for word in words)
    if state == "aborted" and not _ENDING.isdisjoint(words):
        return True
    verb = _VERBS.get(state)
    if verb in words:
        following = words[words.index(verb) + 1 :]
        return not (verb == "fail" and following[:1] == ["over"])
    return state in words and words[0] in ("flag", "mark", "set")


def is_for(state: str, name: str) -> bool:
    """Return whether what is named so is there to bring a state about."""
    return is_named_by(state, name) or state in participles_of(name)


def _tells_of_a_deed(text: str, name: str) -> bool:
    """Return whether a word at the start describes that with which the tool did what it is for."""
    found = _SUBJECT.match(text, 0, _READ) or _BARE_SUBJECT.match(text, 0, _READ)
    if found is None or _BUT.search(text[:_READ].partition("\n")[0], found.end()):
        return False
    word, verb = found[1].lower(), found[3].lower()
    words = words_of_name(name)
    things = _THINGS.intersection(map(_singular, found[2].lower().split()))
    if verb in _DONE and not things.isdisjoint(map(_singular, words)):
        return True
    is_own = verb in participles_of(name)
    is_about = word in words  # a tool that logs errors
    return is_own and (word == "failed" or verb in _CLEANED or bool(things) or is_about)


def words_of_name(name: str) -> list[str]:
    """Return the words of a tool's name, in lower case."""
    return [word.lower() for word in _NAME_WORDS.findall(name[:_NAME_READ])]


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") else word


def is_participle(verb: str, of: str) -> bool:
    """Return whether a word is the participle of another: `cancelled` of `cancel`."""
    return verb in _participles(of)


def participles_of(name: str) -> frozenset[str]:
    """Return the participles of the words of a tool's name."""
    return frozenset(form for word in words_of_name(name) for form in _participles(word))


def _participles(of: str) -> tuple[str, ...]:
    forms = (f"{of}ed", f"{of}d", f"{of}{of[-1]}ed", f"{of[:-1]}ied")
    return (*forms, _IRREGULAR[of]) if of in _IRREGULAR else forms
