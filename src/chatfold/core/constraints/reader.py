"""What one sentence does to the standing instructions that are held, by the words of one language.

Not here: which sentences are read, and what becomes of all of them (`standing`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from chatfold.core.constraints.content import Content, ContentReader, key_of, plain_of
from chatfold.core.constraints.lifts import Lifts, Phrases
from chatfold.core.constraints.loosening import Loose, Loosening
from chatfold.core.constraints.words import Words, alternatives, compiled

__all__ = ["MOST", "May", "SentenceReader"]

MOST: Final = 40  # instructions
_MOST_ON: Final = 2  # sentences that go on with one instruction; more are about something else
_LONGEST: Final = 300  # characters of one instruction


class May(NamedTuple):
    """What a text may do to instructions by its words alone, before any phrase is looked for.

    Attributes:
        tells: Whether it may be an instruction, if it is no question.
        asks: Whether it may be one as a question.
        lifts: Whether it may take something back, or allow it.
        loosens: Whether it may loosen an instruction that is held.
        corrects: Whether it may tell a number of one anew.
    """

    tells: bool = False
    asks: bool = False
    lifts: bool = False
    loosens: bool = False
    corrects: bool = False

    @property
    def alone(self) -> bool:
        """Whether it may do something also where no instruction is held."""
        return self.tells or self.asks or self.lifts


class _Said(NamedTuple):
    """What a sentence says of instructions.

    Attributes:
        about: What it is about.
        instruction: Whether it is one itself.
        lifted: Whether it says that something no longer holds, and may name it by a part of its
            words.
        named: Whether it only names what that is; else it says the contrary of it.
        may_lift: Whether it takes anything back: to ask whether one may is not to be allowed.
    """

    about: Content
    instruction: bool
    lifted: bool
    named: bool
    may_lift: bool


class SentenceReader:
    """Reads sentences by the words of one language."""

    def __init__(self, words: Words) -> None:
        joins = alternatives((*words.joins, *words.limits)) or "(?!)"
        fillers = alternatives((*words.joins, *words.fillers)) or "(?!)"
        first = r"(?:^(?:@\w[\w.-]*+[,:]? )?|[,;:.!?¡¿()\"“”–—] ?|(?<=\s)-+ )[\"'“‘*¡¿]{0,3}"
        joined = rf"(?<!\w)(?<!\w')(?:{joins})[ ,]+"
        self.clause_starts = [
            re.compile(rf"(?:{s})(?:(?:{fillers})[ ,]+)*+") for s in (first, joined)
        ]
        self.order = compiled(words.orders)
        self.filling = re.compile(rf"^(?:(?:{fillers})[ ,]+)++|(?:[ ,]+(?:{fillers}))*+[.!… ]*+$")
        self.tag = re.compile(rf", ?(?:{alternatives(words.tags) or '(?!)'}) ?\?$")
        self.request = compiled(words.requests)
        self.always = compiled(words.always)
        self.asking = compiled(words.asking)
        self.limit = compiled(words.limits)
        self.bound = compiled(words.bounds)
        self.exception = compiled(words.exceptions)
        self.report = compiled(words.reports)
        self.question = compiled(words.questions, "^")
        self.telling_clause = compiled(words.subjects, r"(?:[,;–—] ?|(?<=\s)-+ )")
        self.correction = compiled(words.corrects, "^")
        self.taking_back = Phrases.of(words.takes_back)
        self.allowing = Phrases.of(words.allows)
        self.permit = Phrases.of((*words.allows, *words.permits))
        told = (self.order, self.request, self.limit, self.asking)
        self.telling = Phrases(beginning=told, behind=self.always)
        self.lifts = Lifts(words)
        self.content = ContentReader(words)
        self.loosening = Loosening(words, self.lifts, self.permit)

    def hold(
        self,
        sentence: str,
        may: May,
        held: dict[str, str],
        known: dict[str, Content],
        *,
        is_own: Callable[[], bool],
    ) -> str | None:
        """Change what is held as a sentence says, and return the instruction that it takes back.

        Args:
            sentence: What a user said.
            may: What it may do by its words.
            held: The instructions, oldest first, by their keys.
            known: What they are about, by their keys, so that each is read once.
            is_own: Tells whether they are the user's own words, where that matters: what may be
                pasted takes nothing back.
        """
        said = self.said(sentence, may) if may.alone else None
        opening = self.correction.search(plain_of(sentence))
        loosens = held and (may.loosens or may.lifts)
        loose = self.loosening.read(sentence) if loosens else None
        goes_on = said is None and self.goes_on(sentence, held, known)
        if said is None and opening is None and loose is None and not goes_on:
            return None
        own = is_own()
        if not own:
            if said is None:
                return None
            opening, loose, goes_on = None, None, False
        key = key_of(sentence)
        is_told_anew = said is None and key in held
        for dropped in (held, known):
            dropped.pop(key, None)  # said again, it is new
        for other in held.keys() - known.keys():
            known[other] = self.content.read(held[other])
        about = {k: known[k] for k in held}
        meant = self.meant(said, about) if own and said else None
        if meant is None and opening is not None and not sentence.rstrip().endswith("?"):
            told = self.told_behind(sentence, opening.group())
            meant = self.corrected(sentence, told, held, about)
            is_told_anew = is_told_anew or meant is not None or self.is_contrary(told, about)
        lifted = held.pop(meant) if meant is not None else None
        touches = self.content.touches
        touched = goes_on or (said and any(touches(said.about, c) for c in about.values()))
        if loose is not None and len(held) < MOST:  # it pushes none out
            touched = touched or self.concerns(loose, about, held)
        if is_told_anew or (said and said.instruction) or (meant is None and touched):
            held[key] = self.shortened(sentence)
            if len(held) > MOST:
                oldest = next(iter(held))
                del held[next((k for k, t in held.items() if self.only_loosens(t)), oldest)]
        return lifted

    def only_loosens(self, text: str) -> bool:
        """Return whether what is held is no instruction, and stands there as it loosens one."""
        return self.loosening.read(text) is not None and not self.is_instruction(plain_of(text))

    def goes_on(self, sentence: str, held: dict[str, str], known: dict[str, Content]) -> bool:
        """Return whether a sentence asks for what an instruction only wanted to wait.

        Args:
            sentence: What the user said.
            held: The instructions, oldest first, by their keys.
            known: What they are about, by their keys.
        """
        plain = plain_of(sentence)
        full = len(held) == MOST  # it pushes none out
        if not held or full or plain.endswith("?"):
            return False
        for key in held.keys() - known.keys():
            known[key] = self.content.read(held[key])
        if not any(known[key].waits for key in held):
            return False
        said = [(plain_of(text), known[key]) for key, text in held.items()]
        return any(
            content.waits
            and self.begins(plain, content)
            and self.may_go_on(content, said[at + 1 :])
            for at, (_, content) in enumerate(said)
        )

    def may_go_on(self, waiting: Content, behind: Iterable[tuple[str, Content]]) -> bool:
        """Return whether few sentences behind an instruction asked for what it wanted to wait."""
        asked = (text for text, content in behind if not content.negative)
        return sum(self.begins(text, waiting) for text in asked) < _MOST_ON

    def begins(self, plain: str, content: Content) -> bool:
        """Return whether a clause of a sentence begins with what an instruction is about."""
        first, later = self.lifts.places(plain)
        return any(self.content.begins(plain[at:], content) for at in (*first, *later))

    def concerns(self, loose: Loose, about: Mapping[str, Content], held: Mapping[str, str]) -> bool:
        """Return whether what a sentence loosens is among what instructions are about.

        What others loosened does not count, or each would draw the next behind it.
        """
        told = self.content.read(loose.sentence)
        if loose.unnamed and len(about) == 1:
            return True
        concerned = (key for key in about if self.content.concerns(told, about[key]))
        return any(not self.only_loosens(held[key]) for key in concerned)

    def said(self, sentence: str, may: May) -> _Said | None:
        """Return what a sentence says of instructions, None where that is nothing.

        Args:
            sentence: What a user said.
            may: What it may do by its words.
        """
        plain = plain_of(sentence)
        instruction = self.is_instruction(plain, tells=may.tells, asks=may.asks)
        speaks = may.lifts and (self.taking_back.anywhere(plain) or self.permit.anywhere(plain))
        if not (speaks or instruction):
            return None
        places = self.lifts.places(plain)
        named = self.lifts.find(plain, self.taking_back, places)
        permit = self.lifts.find(plain, self.permit, places)
        lifting = named or permit
        if instruction and not speaks:
            lifting = self.lifts.find(plain, self.telling, places)
        behind = plain[: lifting.start()] if lifting and lifting.start() in places.first else ""
        about = self.content.read(sentence, behind=behind)
        if permit and not instruction:  # the "no" of "no, you can" is an answer
            about = about._replace(negative=self.content.is_negative(plain[permit.start() :]))
        return _Said(
            about,
            instruction,
            lifted=bool(named or self.lifts.find(plain, self.allowing, places)),
            named=bool(named) and not instruction,
            may_lift=bool(lifting) and (instruction or not plain.endswith("?")),
        )

    def is_instruction(self, plain: str, *, tells: bool = True, asks: bool = True) -> bool:
        """Return whether a sentence asks for something that holds from now on.

        Args:
            plain: The sentence in small letters.
            tells: Whether its words are those of an instruction that is no question.
            asks: Whether they are those of one that is a question.
        """
        plain = self.tag.sub("", plain)
        if plain.endswith("?") or self.question.search(plain):
            return asks and bool(self.asking.search(self.exception.sub("~", plain)))
        if not tells:
            return False
        starts = self.starts(plain)
        told = self.begun(self.order, plain, starts) or self.always.search(plain)
        if not ((told and self.is_told_unless_excepted(plain)) or self.is_lasting(plain, starts)):
            return False
        bare = self.filling.sub("", plain)
        alone = " " not in bare and self.order.fullmatch(bare)
        return not (alone or self.report.search(plain))  # one word alone is an answer

    def is_told_unless_excepted(self, plain: str) -> bool:
        """Return whether a sentence tells to do something also without what only looks like it."""
        rest = self.exception.sub("~", plain)
        return bool(self.begun(self.order, rest, self.starts(rest)) or self.always.search(rest))

    def is_lasting(self, plain: str, starts: Sequence[int]) -> bool:
        """Return whether a sentence is a request that holds from now on.

        Args:
            plain: The sentence in small letters.
            starts: Where its clauses begin.
        """
        request = self.begun(self.request, plain, starts)
        if request is None:
            return False
        found = self.exception.search(plain, request.start())
        if found and found.start() < request.end() < found.end():  # "send only the first page"
            plain = f"{plain[: found.start()]}~{plain[found.end() :]}"
        told = self.telling_clause.search(plain, request.end())
        asked = plain[: told.start()] if told else plain  # "check this, I never got it"
        return bool(self.limit.search(plain) or self.bound.search(asked, request.start()))

    def shortened(self, sentence: str) -> str:
        """Return a sentence, of a long one the part that makes it an instruction.

        That is its beginning, if it does, or else what follows the start of one of its clauses, as
        many of them as there is room for.
        """
        if len(sentence) <= _LONGEST:
            return sentence
        plain, beginning = plain_of(sentence), _cut(sentence)
        if len(plain) == len(sentence) and not self.is_instruction(plain_of(beginning)):
            starts = [at for at in self.starts(plain) if at and self.is_instruction(plain[at:])]
            fitting = [at for at in starts if len(sentence) - at < _LONGEST]
            for start in (*fitting[:1], *starts[-1:]):
                return "…" + _cut(sentence[start:], _LONGEST - 1)
        return beginning

    def starts(self, plain: str) -> list[int]:
        """Return where clauses of a sentence in small letters begin, behind what fills them."""
        places: set[int] = set()
        for clause_start in self.clause_starts:
            at = 0
            while at <= len(plain) and (found := clause_start.search(plain, at)):
                places.add(found.end())
                at = found.start() + 1
        return sorted(places)

    def begun(
        self, phrases: re.Pattern[str], plain: str, places: Sequence[int]
    ) -> re.Match[str] | None:
        """Return the first phrase that begins at one of these places."""
        return next(filter(None, (phrases.match(plain, place) for place in places)), None)

    def told_behind(self, sentence: str, opening: str) -> Content:
        """Return what a sentence is about behind the words that open a correction."""
        said = self.content.read(sentence, behind=opening)
        negative = self.content.is_negative(plain_of(sentence)[len(opening) :])
        return said._replace(negative=negative)

    def corrected(
        self, sentence: str, told: Content, held: dict[str, str], about: dict[str, Content]
    ) -> str | None:
        """Return the key of the one instruction of which a sentence tells the number anew, or None.

        Args:
            sentence: What the user said.
            told: What it is about behind the words that open a correction.
            held: The instructions, by their keys.
            about: What each of them is about, by its key.
        """
        renumbers = self.content.renumbers
        found = [key for key in about if renumbers(told, about[key], sentence, held[key])]
        return found[0] if len(found) == 1 else None

    def is_contrary(self, told: Content, about: dict[str, Content]) -> bool:
        """Return whether a correction says the contrary of all that an instruction is about.

        "I don't want insurance" is not taken back by "actually, I want insurance on the second
        car", and is not to stand without it.

        Args:
            told: What the correction is about.
            about: What each instruction is about, by its key.
        """
        return any(
            told.negative != other.negative and self.content.within(other, told)
            for other in about.values()
        )

    def meant(self, said: _Said, about: dict[str, Content]) -> str | None:
        """Return the key of the one instruction that a sentence clearly takes back, or None.

        No sentence takes back what is about something that it does not name, nor what is about
        another name or value besides. What only says the contrary is about the very same: of a
        narrower or a wider thing both may hold.

        Args:
            said: What the sentence says.
            about: What each instruction is about, by its key.
        """
        within = self.content.within
        found = [
            key
            for key, other in about.items()
            if (said.named or said.about.negative != other.negative)
            and within(said.about, other)
            and (said.lifted or within(other, said.about))
            and not self.content.leaves_out(said.about, other)
        ]
        return found[0] if said.may_lift and len(found) == 1 else None


def _cut(text: str, most: int = _LONGEST) -> str:
    """Return the beginning of a text, up to a word."""
    return text if len(text) <= most else text[: most - 1].rsplit(" ", 1)[0] + "…"
