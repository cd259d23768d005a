"""Letters and chats of others that are pasted into a text without a line of any program above them.

Who writes to an agent greets and signs, too, and a host may put names and times before what each
user of a chat says. So a letter or a chat is another's only where the user asks for something to be
done with it before it begins, and where it shows that it is one: by a greeting and regards in lines
of their own, by times, by names that take turns. What shows no end is left to the user.
Not here: mails with headers (`pasted_mails`), what is in tags (`pasted`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from chatfold.core.constraints.pasted_mails import end_of_letter, regards_of
from chatfold.core.word_sets import word_set

__all__ = ["talks"]

# What is shown: "this email", "the following ticket", "the chat" in a line that asks or leads.
# A message may speak of itself: "this message".
_THIS: Final = (
    r"\b(?:(?:this|following|below|diese[nmrs]?|folgende[nmrs]?)"
    r"|(?:the|that|de[rnm]|die|das)(?=.*[:?]\s*\Z)) (?:[\w-]+ )?"
)
_LETTER = re.compile(
    rf"{_THIS}(?:e-?mail|mail|letter|ticket|complaint|enquiry|inquiry|brief|beschwerde|anfrage"
    r"|schreiben)s?\b(?!-)|\bfollowing message\b|\bfolgende\w* nachricht\b",
    re.IGNORECASE,
)
_CHAT = re.compile(
    rf"{_THIS}(?:[\w-]+-)?(?:chat|conversation|thread|transcript|chatverlauf|verlauf|unterhaltung"
    r"|gespräch|transkript)(?:s|[ -]?log)?\b(?!-)",
    re.IGNORECASE,
)
# What is to be done with it.
_ASKED = re.compile(
    r"\b(?:summar|tl;?dr|translat|draft|repl(?:y|ies)\b|answer|respond|classif|categori|triage|tag\b"
    r"|label|check|review|proofread|tone\b|bedeutet"
    r"|(?:what|was) (?:is|does|do|should|soll|will|meint|heißt)\b"
    r"|fasse?\b|zusammenfass|übersetz|antwort|beantwort|ordne\b|einordn|klassifi|kategori"
    r"|verschlagwort|prüf|bewert|ton\b)",
    re.IGNORECASE,
)
# A mail that says "not" or "soon" speaks of itself, and who asks how a ticket stands of his own; a
# subject is no request, a "mail address" and a "thread pool" are something else.
_NOT_ASKED = re.compile(
    r"\b(?:not|never|soon|asap|urgent(?:ly)?|nicht|nie|niemals|keine?|bald|schnell|dringend)\b"
    r"|\b(?:(?:status|state|news) of|(?:going on|happening|wrong) with|stand (?:de[rs]|von))\b"
    r".*\?\s*\Z"
    r"|n[’']t\b|^\W*(?:subject|betreff|re|aw|title|titel) ?:"
    r"|\b(?:e?-?mail|ticket|thread|chat|brief) (?:address|adress|system|page|queue|safety|pool"
    r"|template|id|number|status|list|server|client|nummer)",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"\s*(?:(?:dear|hi|hello|hey|good (?:morning|afternoon|evening)|hallo|moin|liebe[rs]?"
    r"|sehr geehrte[rs]?|guten (?:tag|morgen|abend))\b(?: [^\s,!.?]+\.?){0,6}[,!.]?)\s*\Z",
    re.IGNORECASE,
)
_TIME: Final = r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[ap]\.?m\.?)?"
_DATE: Final = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_NAME: Final = r"[^\W\d_][\w.'-]{0,30}(?: [\w.'-]{1,30}){0,3}"
# "[10:31] Bob: ", "12.05.26, 10:31 - Bob: "; a time alone before a name may be a plan of the day.
_STAMPED = re.compile(
    rf"\s*(?:\[(?:{_DATE},? )?{_TIME}\]|{_DATE},? {_TIME})(?: ?[-–])? {_NAME}:(?=\s)", re.IGNORECASE
)
# "Bob Miller  10:31 AM" alone in a line, above what he said.
_HEADED = re.compile(rf"\s*{_NAME} {{1,3}}[(\[]?{_TIME}(?: uhr)?[)\]]?:?\s*\Z", re.IGNORECASE)
_SPEAKER = re.compile(rf"\s*(?P<name>{_NAME}): \S")
# What stands before a rule in a list of them, and is nobody's name.
_LABELS: Final = word_set(
    "note notes important rule rules style tone format language reminder remember tip warning"
    " hinweis hinweise wichtig regel regeln stil ton sprache achtung merke"
)
_TURNS: Final = 3  # lines with names before them, of two at least, one of them twice
_FEWEST: Final = 2  # lines behind the one that asks
_LINE: Final = 400  # characters: who asks in a line does so in a shorter one


def talks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where letters and chats of others are in a text, in characters; they may overlap.

    Args:
        text: What a user says, without what is in tags.
    """
    if text.count("\n") < _FEWEST or not _ASKED.search(text):
        return  # as of most: each text is read once in each language that it may be in
    lines = text.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    for spans in (_letters(lines, _asks(lines, _LETTER)), _chats(lines, _asks(lines, _CHAT))):
        yield from ((starts[at], starts[end]) for at, end in spans)


def _asks(lines: Sequence[str], shown: re.Pattern[str]) -> int:
    """Return the index behind the first line that asks for something to be done with it."""
    for at, line in enumerate(lines):
        if len(line) > _LINE:
            continue
        if shown.search(line) and _ASKED.search(line) and not _NOT_ASKED.search(line):
            return at + 1
    return len(lines)


def _letters(lines: Sequence[str], at: int) -> Iterator[tuple[int, int]]:
    """Yield where letters begin, from a line on, and the index behind each."""
    signed = [i for i, line in enumerate(lines) if i >= at and regards_of(line)]
    while at < len(lines):
        place = bisect_right(signed, at)
        if place == len(signed):
            return
        if _GREETING.match(lines[at]):
            end = end_of_letter(lines, signed[place])
            yield at, end
            at = end
        else:
            at += 1


def _chats(lines: Sequence[str], at: int) -> Iterator[tuple[int, int]]:
    """Yield where what is said in chats begins, from a line on, and the index behind it.

    That is a paragraph, from the first line on that shows who speaks: what the user says between
    them, or behind, is no part of it.
    """
    behind = range(at, len(lines))
    stamped = [i for i in behind if _STAMPED.match(lines[i])]
    headed = [i for i in behind if _HEADED.match(lines[i]) and _opens(lines, i, at)]
    said = [*stamped, *(headed if len(headed) > 1 else ())]
    if len(said) < 2:
        said = _turns(lines, at)
    end = at
    for i in sorted(said):
        if i >= end:
            end = next((j for j in range(i, len(lines)) if not lines[j].strip()), len(lines))
            yield i, end


def _opens(lines: Sequence[str], at: int, first: int) -> bool:
    """Return whether a line is the first of several in a paragraph, or behind the one that asks."""
    opens = at == first or not lines[at - 1].strip()
    return opens and bool("".join(lines[at + 1 : at + 2]).strip())


def _turns(lines: Sequence[str], at: int) -> list[int]:
    """Return the lines, from one on, at which somebody speaks, where several take turns."""
    names = {i: match["name"] for i in range(at, len(lines)) if (match := _SPEAKER.match(lines[i]))}
    names = {i: name for i, name in names.items() if name.lower() not in _LABELS}
    turns = Counter(names.values())
    if len(names) < _TURNS or len(turns) < 2 or max(turns.values()) < 2:
        return []
    return [*names]
