"""Mails that are pasted into a text, found by the lines that programs write above them.

Who writes to an agent greets, signs and names senders, too, and a host may hand over what customers
write as a mail. So a mail is another's only where the user's own words speak of it.
Not here: what is in tags (`pasted`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, takewhile
from typing import Final

__all__ = ["end_of_letter", "mails", "regards_of"]

_SENDER: Final = "from|von|de|da"
_TO: Final = "to|an|à|para|a|cc|bcc|reply-to|kopie"
_TITLE: Final = "subject|betreff|objet|asunto|oggetto|assunto|sent|gesendet|envoyé|enviado|inviato"
_DATE: Final = "date|datum|fecha|data"
_HEADER = re.compile(
    rf"\W{{0,4}}(?:(?P<sender>{_SENDER})|(?P<to>{_TO})|(?P<title>{_TITLE})|{_DATE}) ?\W{{0,4}}:"
    r"(?=\W)",
    re.IGNORECASE,
)
_FORWARDED = re.compile(
    r"[\s>*_]*(?:-{3,}\s?(?:forwarded|original|weitergeleitete|ursprüngliche|message|mensaje"
    r"|messaggio|mensagem)[^-\n]{0,40}-{3,}|begin forwarded message:"
    r"|anfang der weitergeleiteten nachricht:|début du message (?:transféré|réexpédié)\s?:"
    r"|inicio del mensaje reenviado:|inizio messaggio inoltrato:"
    r"|início da mensagem encaminhada:)\s*\Z",
    re.IGNORECASE,
)
_WROTE = re.compile(
    r"\s*(?:on|am|le|el|il|em)\b(?=.*(?:@|\b20\d\d\b|\d:\d\d)).*(?:\bwrote|\bschrieb\b[^:]*+"
    r"|a écrit|escribió|ha scritto|escreveu)\s?:\s*\Z",
    re.IGNORECASE,
)
# What somebody wants who shows another's mail.
_ASKED = re.compile(
    r"\b(?:summar|tl;?dr|translat|zusammenfass|fasse?\b|übersetz|résum|resum|riassum|tradu[cirz]"
    r"|(?:reply|respond|react|antworte?|répond\w*|responde?|rispond\w*) (?:to|auf|à|a)\b"
    r"|(?:what|was|que|cosa|che) (?:is|does|do|should|think|bedeutet|soll)\b"
    r"|(?:this|the|following|that|diese|die|cet|ce|este|esta|questa|questo) (?:e-?mail|mail|message"
    r"|letter|nachricht|courriel|correo|mensaje|messaggio|mensagem)\b"
    r"|(?:got|received|bekommen|erhalten|reçu|recib\w*|ricevut\w) )",
    re.IGNORECASE,
)
# What shows the mail in a sentence (`_OF_MAIL`) that wants a summary or a translation of it: who
# writes a mail may ask in it for a summary by mail, but not for one of it.
_MAIL: Final = (
    r"(?:e-?mail|mail|message|letter|nachricht|brief|courriel|correo|mensaje|carta|messaggio|lettera"
    r"|mensagem|bericht)\b"
)
_SHOWN: Final = (
    rf"(?:(?:this|that|diese[rn]?|cet?|cette|est[ea]|quest[oa]|deze|dit) {_MAIL}"
    rf"|(?:the|die|der|den|le|la|el|il|o|a|de|het) {_MAIL}(?= (?:above|oben|bitte|ci-dessus|arriba"
    r"|sopra|acima|hierboven)\b|\s*[?.!]?\s*(?:\n|\Z)))"
)
_OF_MAIL = re.compile(
    r"\b(?:summari[sz]e|tl;?dr|translate|zusammenfass\w*|fasse?|übersetze?n?|résume[rz]?"
    r"|resum[aei]\w{0,3}|riassum\w+|tradu[cirz]\w*|samenvatten|vertaal|vat(?=[^.!?\n]{0,60}\bsamen\b))\b"
    rf"[^.!?\n]{{0,60}}\b{_SHOWN}",
    re.IGNORECASE,
)
_REGARDS = re.compile(
    r"\s*(?:(?:all the |with )?best(?: regards| wishes)?|(?:with )?(?:kind|warm)(?:est)? regards"
    r"|regards|(?:many )?thanks|cheers|(?:yours )?(?:sincerely|truly|faithfully)"
    r"|(?:mit )?(?:(?:freundlich|best|lieb|herzlich|schön)en?|viele) gr(?:ü|ue)(?:ß|ss)en?"
    r"|gru(?:ß|ss)|[vl]g|mfg"
    r"|(?:bien )?cordialement|(?:un )?saludos?(?: cordiale?s?)?|atentamente"
    r"|(?:cordiali |distinti )?saluti|atenciosamente|cumprimentos)"
    r"(?P<name>[ ,.!–—-]+\S+(?: \S+){0,3})?[\s,.!]*\Z",
    re.IGNORECASE,
)
_NAMED: Final = 6  # words of a line under a mail at most: a name, an office
_HEADERS: Final = 12  # lines
_LINE: Final = 400  # characters: programs write no longer ones above a mail


def mails(text: str) -> Iterator[tuple[int, int]]:
    """Yield where mails of others are in a text, in characters.

    Args:
        text: What a user says, without what is in tags.
    """
    if ":" not in text and "---" not in text:
        return  # as most have neither: what programs write above a mail has one of them
    lines = text.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    asks = [at for at, line in enumerate(lines) if _ASKED.search(line)]
    signed = [at for at, line in enumerate(lines) if _REGARDS.match(line)]
    asked = _asked_behind(lines) if asks else 0
    at, spoken = 0, False
    while at < len(lines):
        end = at + 1
        if lines[at].strip() and len(lines[at]) <= _LINE and _is_sent(lines, at, spoken, asks):
            end = _end_of_mail(lines, at, signed)
            if not _headers(lines[at : at + _HEADERS]) or asks[0] < at or asks[-1] >= end:
                yield starts[at], starts[end]
            elif asked > at and end == len(lines):
                yield starts[at], starts[asked]
                end = asked
            else:
                end = at + len(_headers(lines[at : at + _HEADERS]))
        spoken = spoken or bool(lines[at].strip() and not _HEADER.match(lines[at]))
        at = end


def _is_sent(lines: Sequence[str], at: int, spoken: bool, asks: Sequence[int]) -> bool:
    """Return whether a line may be the first of those that programs put above a mail."""
    if _FORWARDED.match(lines[at]) or (spoken and _WROTE.match(lines[at])):
        return True
    return bool(asks) and _is_headed(lines[at : at + _HEADERS])


def _asked_behind(lines: Sequence[str]) -> int:
    """Return the index of the last paragraph where that asks for something about a mail, else 0."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    start = next((at for at in range(end, 0, -1) if not lines[at - 1].strip()), 0)
    return start if _OF_MAIL.search("".join(lines[start:end])) else 0


def _headers(lines: Sequence[str]) -> list[re.Match[str]]:
    return [found for found in takewhile(bool, map(_HEADER.match, lines[:_HEADERS])) if found]


def _is_headed(lines: Sequence[str]) -> bool:
    """Return whether lines begin with the headers of a mail.

    "From: Berlin", "To: Paris", "Date: May 3" is a journey, and a draft has no sender.
    """
    found = _headers(lines)
    names = {header.lastgroup for header in found}
    addressed = any("@" in line for line in lines[: len(found)])
    return "sender" in names and (addressed or (len(found) > 1 and "title" in names))


def _end_of_mail(lines: Sequence[str], at: int, signed: Sequence[int]) -> int:
    """Return the index behind the mail that begins with a line: where it is signed."""
    place = bisect_right(signed, at)
    if place == len(signed):
        return len(lines)
    return end_of_letter(lines, signed[place])


def regards_of(line: str) -> re.Match[str] | None:
    """Return what a letter ends with, where a line is of it, perhaps with the `name`; or None."""
    return _REGARDS.match(line)


def end_of_letter(lines: Sequence[str], signed: int) -> int:
    """Return the index behind a letter that ends with the line of regards at an index."""
    found = regards_of(lines[signed])
    return _end_of_signature(lines, signed + 1, named=bool(found and found["name"]))


def _end_of_signature(lines: Sequence[str], at: int, *, named: bool) -> int:
    """Return the index behind what stands under the regards of a mail."""
    if not named and "".join(lines[at : at + 1]).isspace() and at + 1 < len(lines):
        name = lines[at + 1].split()
        at += 0 < len(name) < _NAMED // 2 and all(word[0].isupper() for word in name)
    while at < len(lines) and _is_signature(lines[at].strip()):
        at += 1
    return at


def _is_signature(line: str) -> bool:
    return 0 < len(line.split(None, _NAMED)) <= _NAMED and not line.endswith((".", "!", "?", ":"))
