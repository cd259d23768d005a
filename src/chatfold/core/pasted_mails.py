"""Mails and files that are pasted into a text, found by their lines.

Who writes to an agent may greet, sign and name a sender, too, so one such word is no mark: a mail
is told by several of its headers, by the line above what is forwarded, or by a second greeting; one
that is the whole of a message is the user's.
Not here: what is in tags (`pasted`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, takewhile
from typing import Final

__all__ = ["mails"]

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
    r"[\s>*_-]*(?:begin(?:ning of)? |anfang der |début du |inicio del |inizio |início da )?"
    r"(?:forwarded (?:message|mail|email)|original (?:message|mail|email)"
    r"|weitergeleitete[nr]? (?:nachricht|e-?mail)|ursprüngliche[nr]? (?:nachricht|e-?mail)"
    r"|message (?:transféré|réexpédié|d['’]origine)|mensaje (?:reenviado|original)"
    r"|messaggio (?:inoltrato|originale)|mensagem (?:encaminhada|reencaminhada|original))"
    r"(?: (?:follows|below))?\s?(?:[-_*]{2,}|:)\s*\Z",
    re.IGNORECASE,
)
_WROTE = re.compile(
    r"\s*(?:on|am|le|el|il|em)\b(?=.*\d).*(?:\bwrote|\bschrieb\b[^:]*+|a écrit|escribió|ha scritto"
    r"|escreveu)\s?:\s*\Z",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"\s*\[\s?(?:attachment|attached file|attached|file|document|anhang|datei|dokument|pièce jointe"
    r"|fichier|adjunto|archivo|allegato|anexo|arquivo)s?\b[^\]]*+(?<!\.png)(?<!\.jpg)(?<!\.gif)"
    r"(?<!\.jpeg)(?<!\.webp)(?<!\.mp3)(?<!\.mp4)\]\s*\Z",
    re.IGNORECASE,
)
_DEAR: Final = (
    r"dear|sehr geehrte\w?|liebe[rs]?(?! gr)|chère?s?|estimad\w+|querid\w+|car[oa]s?|cari|egregi\w+"
    r"|gentil(?:e|i|issim\w)|spett\S+|prezad\w+|exm[oa]\S*"
)
_HELLO: Final = (
    r"hi|hello|hey|hallo|moin|servus|guten (?:tag|morgen|abend)|bonjour|bonsoir|salut|madame"
    r"|monsieur|hola|buen[oa]s \w+|ciao|buongiorno|buonasera|salve|olá|oi"
    r"|bo[ma] (?:dia|tarde|noite)|good (?:morning|afternoon|evening|day)"
)
_GREETING = re.compile(
    rf"\s*(?:(?P<dear>{_DEAR})|{_HELLO})(?!\w)(?:[ /&]+[^\s,;:!?.]+){{0,4}}+\.?\s?(?:[,;:!]|\Z)"
    r"(?P<rest>.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_REGARDS = re.compile(
    r"\s*(?i:(?:all the |with )?best(?: regards| wishes)?|(?:with )?(?:kind|warm)(?:est)? regards"
    r"|regards|(?:many )?thanks|thank you|thx|cheers|yours"
    r"|(?:yours )?(?:sincerely|truly|faithfully)"
    r"|(?:mit )?(?:(?:freundlich|best|lieb|herzlich|schön)en?|viele) gr(?:ü|ue)(?:ß|ss)en?"
    r"|(?:viele |mit freundlichem |schönen )?gru(?:ß|ss)|lg|mfg|vg"
    r"|(?:bien )?cordialement|bien à (?:vous|toi)|(?:meilleures|sincères) salutations|amicalement"
    r"|bises|(?:un )?saludos?(?: cordiale?s?)?|atentamente|cordialmente|un abrazo"
    r"|(?:cordiali |distinti |un )?salut[io]|a presto"
    r"|atenciosamente|(?:com os melhores )?cumprimentos|(?:um )?abraços?)"
    r"(?P<name>[ ,.!–—-]+[A-ZÀ-Þ]\S*+(?: [A-ZÀ-Þ]\S*+){0,3})?[\s,.!]*\Z"
)
_FOOTER = re.compile(
    r"\s*(?:p\.?\s?s\.?\b|sent from |von meinem |gesendet von |envoyé de |enviado d|inviato da "
    r"|(?:this|diese|ce|cet|este|esta|questa|questo) (?:e-?mail|message|nachricht|courriel|correo"
    r"|mensaje|mensagem|messaggio)\b.*(?:confid|intended|vertraulich|riserv))",
    re.IGNORECASE,
)
_ASKED_OF = re.compile(
    r"\b(?:summar|tl;?dr|translat|zusammenfass|fasse?\b|übersetz|résum|resum|riassum|tradu[cirz])",
    re.IGNORECASE,
)
_RULE = re.compile(r"\s*([-=_*~#])\1{2,}\s*\Z")
_NAMED: Final = 6  # words of a line under a mail at most: a name, an office
_HEADERS: Final = 12  # lines
_LINE: Final = 400  # characters: programs write no longer ones above a mail


def mails(text: str, *, spoken: bool) -> Iterator[tuple[int, int]]:
    """Yield where mails and files are in a text, in characters.

    Args:
        text: What a user says, without what is in tags.
        spoken: Whether the user has said anything before in the same message.
    """
    lines = text.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    signed = max((at for at, line in enumerate(lines) if _REGARDS.match(line)), default=-1)
    at, before = 0, ""  # the last line that is not blank
    while at < len(lines):
        end = _end(lines, at, before, spoken=spoken, signed=signed > at) if lines[at].strip() else 0
        if end:
            yield starts[at], starts[end]
            spoken, before = True, ""
        elif lines[at].strip():
            spoken = spoken or _is_said(lines[at])
            before = lines[at]
        at = end or at + 1


def _end(lines: Sequence[str], at: int, before: str, *, spoken: bool, signed: bool) -> int:
    """Return the index behind the mail or file that begins with a line; 0: none does."""
    if spoken and _FILE.match(lines[at]):
        return len(lines)
    if _is_sent(lines, at) or (spoken and _greets(lines[at], before, signed=signed)):
        return _end_of_mail(lines, at, before)
    headed = _is_headed(lines[at : at + _HEADERS])
    if headed and spoken:
        return _end_of_mail(lines, at, before)
    if (headed or (signed and _GREETING.match(lines[at]))) and not (spoken or before):
        # Who greets and signs may be the user, whose mails a host may hand over with their
        # headers. But nobody asks for a translation of that.
        end = _end_of_mail(lines, at, "")
        return end if _ASKED_OF.search("".join(lines[end:])) else 0
    return 0


def _is_sent(lines: Sequence[str], at: int) -> bool:
    """Return whether a line is one of those that programs put above what somebody else wrote."""
    if len(lines[at]) > _LINE:
        return False
    if _WROTE.match(lines[at]):
        behind = next((line for line in lines[at + 1 :] if line.strip()), "")
        return not behind.lstrip().startswith(">")  # of those each is quoted, what is not is said
    return bool(_FORWARDED.match(lines[at]))


def _is_headed(lines: Sequence[str]) -> bool:
    """Return whether lines begin with the headers of a mail.

    "From: Berlin", "To: Paris", "Date: May 3" is a journey.
    """
    found = [*takewhile(bool, map(_HEADER.match, lines))]
    names = {header.lastgroup for header in found if header}
    addressed = any("@" in line for line in lines[: len(found)])
    if len(found) == 1 and "sender" in names:
        return addressed and not "".join(lines[1:2]).strip()
    return (
        len(found) > 1
        and not names.isdisjoint(("sender", "to"))
        and ("title" in names or (addressed and "sender" in names))
    )


def _is_said(line: str) -> bool:
    """Return whether a line is neither a greeting nor a header, which open what a user writes."""
    greeting = _GREETING.match(line)
    return not _HEADER.match(line) if greeting is None else bool(greeting["rest"].strip())


def _greets(line: str, before: str, *, signed: bool) -> bool:
    """Return whether a line begins a letter, behind what the user says."""
    greeting = _GREETING.match(line)
    if greeting is None:
        return False
    if before.rstrip().endswith((":", "：")):
        return True
    return not greeting["rest"].strip() and (signed or greeting["dear"] is not None)


def _end_of_mail(lines: Sequence[str], at: int, before: str) -> int:
    """Return the index behind the mail that begins with a line.

    It ends where it is signed, unless it is between two lines that are drawn. What is pasted may
    have such a line, too, so the last one counts.
    """
    drawn = _RULE.match(before)
    for index in range(len(lines) - 1, at, -1) if drawn else ():
        found = _RULE.match(lines[index])
        if found and drawn and found[1] == drawn[1]:
            return index + 1
    for index in range(at + 1, len(lines)):
        found = _REGARDS.match(lines[index])
        if found:
            return _end_of_signature(lines, index + 1, named=found["name"] is not None)
    return len(lines)


def _end_of_signature(lines: Sequence[str], at: int, *, named: bool) -> int:
    """Return the index behind what stands under the regards of a mail."""
    if not named and "".join(lines[at : at + 1]).isspace() and at + 1 < len(lines):
        name = lines[at + 1].split()
        at += 0 < len(name) < _NAMED // 2 and all(word[0].isupper() for word in name)
    while at < len(lines) and _is_signature(lines[at].strip()):
        at += 1
    footer = next((i for i in range(at, len(lines)) if lines[i].strip()), at)
    while footer < len(lines) and _FOOTER.match(lines[footer]):
        at = next((i for i in range(footer, len(lines)) if not lines[i].strip()), len(lines))
        footer = next((i for i in range(at, len(lines)) if lines[i].strip()), at)
    return at


def _is_signature(line: str) -> bool:
    return 0 < len(line.split(None, _NAMED)) <= _NAMED and not line.endswith((".", "!", "?", ":"))
