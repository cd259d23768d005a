"""The words that standing instructions are made of: English, and how another language is written.

Not here: how sentences are read by them (`constraints`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["ENGLISH", "Words", "alternatives", "compiled", "marks"]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language by which standing instructions are told.

    A phrase is written in small letters: words with spaces between. A word may hold `a|b` for
    either, `*` for any letters, `[ab]` or `[!ab]` for one letter; a word that is `*` alone stands
    for up to four words, one that is `#` for a number.

    Attributes:
        orders: Begin a clause that is a standing instruction: "never", "do not".
        always: Make a sentence one, wherever they stand: "you must not", "make sure".
        asking: Make a question one: "could you * only".
        limits: Make a request one that holds, wherever they stand: "from now on".
        bounds: Make a request before them one that holds: "at most", "without".
        requests: Begin a clause that is a request: "please", "use", "write".
        joins: Begin a clause in the middle of a sentence: "and", "please".
        fillers: May stand before the first word of a clause: "also", "just".
        exceptions: Look like any of these and are none: "never mind".
        reports: Say that what follows is another's words: "told me".
        questions: Begin a question, whether or not it has its mark: "why".
        takes_back: Say that an earlier instruction no longer holds: "forget what i said".
        negations: Tell "do" from "do not".
        common: Words that say nothing of what an instruction is about: "the".
        allows: Take back by the contrary, of which they may leave words out: "you can * again"
            what says that one must not, "you don't * anymore" what says that one must.
        permits: Say the contrary, perhaps for once, and take back only the very same: "it's ok to".
        contrasts: Words, common or not, of which another one tells another thing: "from|to".
        endings: What words end in without being others, the plain one first, which may be none:
            "|s|ing", "e|ing". Without these only equal words are the same; names always so.
    """

    orders: tuple[str, ...]
    always: tuple[str, ...] = ()
    asking: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    joins: tuple[str, ...] = ()
    fillers: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    takes_back: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    common: tuple[str, ...] = ()
    allows: tuple[str, ...] = ()
    permits: tuple[str, ...] = ()
    contrasts: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()


ENGLISH: Final = Words(
    orders=(
        "never|always|avoid|refrain|only|ensure|maximum|max|limit|restrict",
        "keep * short|brief|concise|simple|formal|polite|private|secret|confidential|separate|mind",
        "keep * under|below|within|to|at|in|unchanged|using|out|away|off|every|each|all",
        "you must|need|have always|never|to|not|only",
        "do not",
        "don't|dont",
        "stop *ing",
        "no more|longer",
        "make sure|certain",
        "be sure|careful",
        "remember to|that|not",
        "whenever you|i|we ask|tell|want|*",
    ),
    always=(
        "must|mustn't never|not|only|always",
        "you should|may|can|shall never|not|only|always",
        "you shouldn't|mustn't|can't|cannot",
        "you are not|only|never allowed|permitted|supposed|to",
        "you aren't allowed|permitted|supposed|to",
        "you're not|only|never allowed|permitted|supposed|to",
        "i|i'd|we want|need|like|prefer|rather|expect * you * always|never|only|not|don't|stop",
        "i|i'd|we want|need|like|prefer|rather|expect * you * keep|avoid|make",
        "i|we never|only|always want",
        "i|we don't|dont|never want you|any|anything|anyone|anybody|*ing",
        "under no circumstances",
        "in no case",
        "on no account",
        "no matter what",
        "whatever happens",
        "important|essential|crucial|vital that you|we|it|the|all|no|nothing|nobody|every|each",
        "important|essential|crucial|vital never|not to",
        "without my|our|asking|telling * permission|approval|consent|confirmation|ok|me|us|first",
        "nobody|nothing|none may|must|should|gets|is|goes * without|unless|until",
        "unless i|we say|tell|ask|approve|agree|confirm",
    ),
    asking=("can|could|would|will you * always|never|only|avoid|stop|not|keep",),
    limits=(
        "from now|here on|onwards|onward|out",
        "from this point|moment",
        "from today",
        "going forward|forwards",
        "in the future",
        "in future",
        "henceforth",
        "at all times",
        "each|every time",
        "for all|any further|future|other|later",
    ),
    bounds=(
        "always|never|only|without|unless|unchanged|until|exclusively",
        "each|every reply|answer|message|response|change|commit|step|file|email|mail",
        "at most|least",
        "no|not|nothing more|less|longer|larger|later|earlier|other|else|than",
        "under|below|within|over|above #|one|two|three|four|five|six|seven|eight|nine|ten",
        "up to #",
        "as * is|are",
    ),
    requests=(
        "please|use|reply|answer|respond|write|speak|talk|be|call|book|send|contact|show|run|put",
        "do|give|leave|read|ask|include|add|work|stick|tell|format|return|commit|change|buy",
        "order|pay|quote|list|name|round|translate|let|treat|address|start|end|begin|sign|explain",
        "prefer|follow|check|confirm|wait|save|store|log|report|mark|cc|set|create|assume|mention",
        "each|every|all|everything * must|should|has|have|needs",
        "the|my|our * budget|limit|maximum is|are|must",
    ),
    joins=("and|but|so|or|then|please",),
    fillers=("also|just|ok|okay|well|oh|hey|kindly|again|therefore|really|ever",),
    exceptions=(
        "never mind|know|say|again",
        "never had|heard|saw|came|was|were|been|got|did|knew|went|took|gave|said|seen|done|*[!e]ed",
        "never *[!s'iu]s",
        "do not know|worry|mind|care|think|get|understand|remember|see|have|feel|believe|need",
        "don't|dont sweat|want|recall",
        "don't|dont know|worry|mind|care|think|get|understand|remember|see|have|feel|believe|need",
        "don't|dont you [!d]*",
        "only the|a|an|one|two|three|my|his|her|our|their|these|those|this|that|when|if|because|#",
        "only some|few|half|problem|thing|question|reason|once|then|after|yesterday|today|*[!e]ed",
        "always a|the|been|had|was|were|*[!e]ed",
        "always *[!s'iu]s",
        "always *[!nrs]ing",
        "i|i'll|i'd|we|we'll * make|be|making sure|certain",
        "no more|longer questions|problems|issues|that|needed|necessary|required|*[!e]ed",
        "must not|only|always have",
        "keep up|getting|it up|in touch|the change",
        "if|when|since|because you can't|cannot|aren't",
        "you can't|cannot be serious|imagine|believe|see",
        "you should|must|can|may not|only|never|always have",
        "i|he|she|they|it|we|who may|can|could|will|should not|only|never|always",
        "max is|was",
        "avoid *ed",
    ),
    reports=(
        "he|she|they|it|log|page|site|error|message|manual|text|support say|says|said|reads",
        "told|asked|tells|asks|advised|warned me|us|him|her|them",
        "was|were|been|am told|asked",
    ),
    questions=(
        "why|what|who|where|how|which",
        "is|are|was|were|does|did|do|have|has|can|could|would|will i|you|we|he|she|it|they|there",
    ),
    takes_back=(
        "forget|ignore|disregard|scrap|drop|cancel|discard|skip|lift|undo * said|told|rule|rules",
        "forget|ignore|disregard|scrap|drop * limit|instruction|instructions|request|about|earlier",
        "never mind the|my|what|about",
        "nevermind the|my|what|about",
        "no longer applies|needed|necessary|required|holds|matters",
        "i|i've changed my mind",
        "i take * back",
    ),
    negations=(
        "never|not|no|don't|dont|stop|avoid|without|mustn't|can't|cannot|refrain",
        "needn't|shouldn't|aren't|skip",
    ),
    common=(
        "a|an|the|to|of|in|on|at|by|for|with|and|or|but|so|if|is|are|be|was|were|it|its|it's|that",
        "this|these|those|there|then|than|as|from|into|about|any|all|some|my|your|our|i|i'd|i'm|i've",
        "you|we|please|now|just|also|ever|always|only|make|sure|must|should|can|may|could|will|use",
        "would|want|need|like|again|anymore|longer|more|what|said|told|earlier|rule|rules|forget",
        "ignore|mind|changed|free|feel|fine|ok|okay|do|does|did|have|has|when|whenever|time|thing",
        "instruction|instructions|request|anything|everything|going|forward|future|limit|using|put",
        "never|not|no|don't|dont|stop|avoid|without|mustn't|can't|cannot|refrain|here|onwards",
        "disregard|scrap|drop|cancel|discard|skip|lift|undo|nevermind|needn't|anyway|applies",
        "actually|shouldn't|aren't",
    ),
    allows=(
        "you|we can|may|could|should * * again",
        "you|we don't|dont|needn't * * anymore|longer",
        "you|we do not|no * * anymore|longer",
        "you|we no longer need|have|must",
        "it's|it|that|is fine|ok|okay|alright|allowed * again",
        "feel free to",
        "actually do [!n]*",
        "actually you|we can|may",
        "at any time",
    ),
    permits=(
        "you|we can|may|could|should * * now|anyway",
        "you|we don't|dont need|have to",
        "you|we don't|dont|needn't * to",
        "you|we do not|no * to|need",
        "it's|it|that|is fine|ok|okay|alright|allowed to",
        "it's|it|that|is fine|ok|okay|alright|allowed * now|after|to",
    ),
    contrasts=(
        "from|to|into|for|with|by",
        "on|off",
        "in|out",
        "my|your|our",
        "all|some|only",
        "use|put|cancel|drop|discard|undo|lift|scrap|ignore|disregard|forget",
    ),
    endings=(
        "|s|ed|ing",
        "e|es|ed|ing",
        "y|ies|ied|ying",
        "s|ses",
        "x|xes",
        "ch|ches",
        "sh|shes",
        "g|gging|gged",
        "n|nning",
        "p|pping|pped",
        "t|tting|tted",
    ),
)
"""The words of English."""


def compiled(phrases: Sequence[str], before: str = "") -> re.Pattern[str]:
    """Return what finds any of these phrases; without phrases, nothing."""
    if not phrases:
        return re.compile(r"(?!)")
    return re.compile(rf"{before}(?<!\w)(?<!\w')(?:{alternatives(phrases)})(?!'?\w)")


def alternatives(phrases: Sequence[str]) -> str:
    """Return the regular expression for any of these phrases, without borders."""
    return "|".join(map(_phrase, phrases))


def marks(phrases: Sequence[str]) -> frozenset[str] | None:
    """Return words of which each text with one of these phrases has one; None where none do.

    To look for words is far quicker than to look for phrases, and most sentences have none.
    """
    found: set[str] = set()
    for phrase in phrases:
        groups = [group.split("|") for group in phrase.split()]
        plain = [g for g in groups if all(_PLAIN.fullmatch(word) for word in g)]
        if not plain:
            return None
        rarest: list[str] = max(plain, key=_rarity)
        found.update(rarest)
    return frozenset(found)


def _rarity(group: list[str]) -> tuple[bool, int]:
    """Return how seldom a text has one of these words, the greater the more seldom."""
    return _EVERYDAY.isdisjoint(group), min(map(len, group))


_EVERYDAY: Final = frozenset(
    word
    for words in (
        "a about and are as at be but can do for from have i in is it it's like may more my no",
        "not of on or our so that the this time to us was we were will with would you your",
    )
    for word in words.split()
)


_PLAIN = re.compile(r"[\w']+")


def _phrase(phrase: str) -> str:
    made = ""
    for word in phrase.split():
        if word == "*":
            made += r"(?:(?:[^\s,;:]|[,:](?=\S))+ ){0,4}?"  # "2,040" and a URL are words
        else:
            made += f"(?:{'|'.join(map(_letters, word.split('|')))}),? "
    return made.removesuffix(",? ").removesuffix(" ")


def _letters(word: str) -> str:
    """Return a word's pattern as a regular expression."""
    if word == "#":
        return r"[0-9][0-9.,]*+"
    made = re.escape(word).replace(r"\*", r"[\w'-]*").replace(r"\[!", "[^")
    return made.replace(r"\[", "[").replace(r"\]", "]")
