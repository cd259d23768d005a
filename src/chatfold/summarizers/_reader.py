"""A prompt's views, calls and last summary, read into the lines that a summary could have.

The newest come first, and only as much is read as the budget could make use of, but for what the
user demanded and what was done. Not here: which lines are written (`extractive`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import cast

from chatfold.core.call_ends import failure_of
from chatfold.core.call_json import json_or_text, leaves_of, text_of
from chatfold.core.calls import ToolCallRecord
from chatfold.core.outcomes import outcome_of, waits_or_ended
from chatfold.core.render import Prompt
from chatfold.core.views import (
    HandoffPart,
    ItemView,
    MediaPart,
    ResultPart,
    SummaryPart,
    TextPart,
    UnknownPart,
)
from chatfold.summarizers._lines import ASSISTANT, CALLS, EARLIER, NOTHING, SECTIONS, USER, Line
from chatfold.summarizers._pieces import (
    GAP,
    Piece,
    json_pieces,
    one_line,
    parsed,
    pieces,
    shortened,
)

__all__ = ["read_lines"]

_ONCE = "do not repeat"


# --- what words and names tell ------------------------------------------------------------------

# Some words of the most frequent languages: a constraint in another one counts as plain speech.
_STRONG_WORDS = (
    r"never|always|must|from now on|important|remember|do not|don['’]?t|only|no longer|under no"
    r"|niemals|nie|immer|nur|muss|ab jetzt|auf keinen Fall|jamais|toujours|seulement|ne pas"
    r"|nunca|siempre|solo|sólo|debe|sempre|apenas|никогда|всегда|только"
)
_STRONG = re.compile(
    rf"\b(?:{_STRONG_WORDS})\b|不要|必须|必須|绝不|總是|总是|決して|必ず|常に|절대|항상",
    re.IGNORECASE,
)
_CONSTRAINT = re.compile(
    r"\b(?:should|instead|prefer|except|unless|without|avoid|make sure|at most|at least|would like"
    r"|want|need|please|bitte|nicht|veuillez|por favor)\b|请|ください",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"[\d@]")
_TROUBLE = re.compile(
    r"error|exception|traceback|fail|denied|refused|not found|invalid|timed? ?out|warning",
    re.IGNORECASE,
)
_TELLING_KEY = re.compile(
    r"(?:^|_)(?:status|state|error|message|reason|name|title|total|id|number|result|url|path)$",
    re.IGNORECASE,
)
_NAME_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_READS_TEXT = """
    get list read view search find lookup look check fetch query show describe count calculate
    think open cat grep ls validate verify preview download
"""
_EFFECTS_TEXT = """
    create update delete remove send book cancel pay charge refund submit write edit modify add
    insert replace exchange return post put patch set schedule reschedule transfer move rename
    upload publish deploy merge push commit issue order purchase buy reserve assign approve
    reject close enable disable grant revoke reset register subscribe unsubscribe reply notify
    generate apply make place change
"""
_READS = frozenset(_READS_TEXT.split())
_EFFECTS = frozenset(_EFFECTS_TEXT.split())
_ACTION_KEYS = ("command", "action", "method", "operation")


def _acts(record: ToolCallRecord) -> bool:
    """Return whether a call changes something, by its name and the action that it asks for."""
    if record.kind == "handoff" or not record.name:
        return record.kind == "apply_patch"
    words = [word.lower() for word in _NAME_WORDS.findall(record.name[:200])]
    if not words or words[0] in _READS or _EFFECTS.isdisjoint(words):
        return False
    if len(record.raw_arguments) > 20_000:
        return True
    arguments = parsed(record.raw_arguments)
    if not isinstance(arguments, dict):
        return True
    named = cast(dict[str, object], arguments)
    actions = (_NAME_WORDS.findall(str(named.get(key, ""))[:200]) for key in _ACTION_KEYS)
    return not any(action and action[0].lower() in _READS for action in actions)


# --- reading ------------------------------------------------------------------------------------

_LEAST, _MOST = 300, 1600  # pieces looked at: with the smallest and with a large budget
_OLD = 150  # pieces or lines of what is older, looked at for constraints and side effects alone
_MESSAGE, _ARGUMENTS, _RESULT = 60, 60, 400  # pieces of one text
_SHORT = 12  # pieces of a message that the user wrote by hand
_LOOKED_AT = 3000  # pieces of a text from which those are chosen


def read_lines(prompt: Prompt) -> list[Line]:
    """Return the lines that could be written, in the order in which they would be.

    The newest come first and the rest is looked at only as far as the budget could make use of
    it, except for what the user demanded and what was done.
    """
    return _Reader(prompt).lines()


class _Reader:
    """Reads a prompt into lines."""

    def __init__(self, prompt: Prompt) -> None:
        self.views = prompt.views
        self.calls = prompt.calls
        self.previous = prompt.previous_summary
        self.room = min(_MOST, _LEAST + 2 * max(prompt.max_tokens, 0))
        self.said: dict[str, list[int]] = {"user": [], "assistant": []}
        self.handoffs: list[int] = []
        self.media: dict[tuple[int, str | None], tuple[MediaPart, ...]] = {}
        for index, view in enumerate(self.views):
            self._place(index, view)

    def _place(self, index: int, view: ItemView) -> None:
        speech = False
        for part in view.parts:
            if isinstance(part, ResultPart):
                if part.media:
                    self.media[index, part.id] = part.media
            elif isinstance(part, (TextPart, MediaPart, UnknownPart)):
                speech = True
            elif isinstance(part, HandoffPart):
                self.handoffs.append(index)
            elif isinstance(part, SummaryPart) and self.previous is None:
                self.previous = part.text
        role = "assistant" if view.role == "unknown" else view.role
        if speech and role in self.said:
            self.said[role].append(index)

    def lines(self) -> list[Line]:
        carried = list(self._carried())
        known = any(line.section == USER for line in carried)
        newest_first = chain(
            self._called(self.room // 2),
            self._users(self.room // 3, known),
            self._assistants(self.room // 4),
            map(self._handoff, reversed(self.handoffs[-_OLD:])),
        )
        lines = [line for line in [*carried, *reversed(list(newest_first))] if line.leaves]
        return sorted(
            lines, key=lambda li: (SECTIONS.index(li.section), li.source != "carried", -li.age)
        )

    def _age(self, index: int) -> int:
        return len(self.views) - 1 - index

    def _users(self, room: int, known: bool) -> Iterator[Line]:
        """Yield the user's messages: the newest, the first, and older ones with constraints."""
        indices = self.said["user"]
        old = _OLD
        for index in reversed(indices):
            view = self.views[index]
            first = index == indices[0] and not known
            if room <= 0 and not first and (old <= 0 or not _demands(view)):
                continue
            found = list(_telling(_message(view), _MESSAGE, _STRONG.search, _FIGURE.search))
            line = self._message(view, index, USER, "user")
            for number, piece in enumerate(found):
                base, must = _user_worth(piece.text, short=len(found) <= _SHORT)
                if first or index == indices[-1]:
                    base += 1.5 if number < 2 else 0.8 if number < 8 else 0.0
                    must = must or number == 0
                line.add(piece, base, must=must)
            if room > 0:
                room -= len(found)
            else:
                old -= len(found)
            yield line

    def _assistants(self, room: int) -> Iterator[Line]:
        """Yield what the assistant said, the newest first."""
        indices = self.said["assistant"]
        for index in reversed(indices):
            line = self._message(self.views[index], index, ASSISTANT, "assistant")
            for piece in _telling(_message(self.views[index]), _MESSAGE, _FIGURE.search):
                base = 0.2 if len(piece.text) > 12 else 0.05
                line.add(piece, base + 0.6 if index == indices[-1] else base)
            room -= len(line.leaves)
            yield line
            if room <= 0:
                return

    def _message(self, view: ItemView, index: int, section: str, source: str) -> Line:
        line = Line(section, source, self._age(index))
        if view.name:
            line.author = f"{shortened(view.name, 40)}: "
        return line

    def _handoff(self, index: int) -> Line:
        line = Line(CALLS, "handoff", self._age(index))
        for part in self.views[index].parts:
            if isinstance(part, HandoffPart):
                agents = [shortened(agent, 60) for agent in (part.source, part.target) if agent]
                line.add(Piece(f"handoff: {' -> '.join(agents)}"), 0.5)
        return line

    def _called(self, room: int) -> Iterator[Line]:
        """Yield the calls, newest first; of the oldest only those that say more than done."""
        old = _OLD
        for record in reversed(self.calls):
            if room > 0:
                line = self._call(record, room)
                room -= len(line.leaves)
                yield line
            elif old > 0 and (record.status != "completed" or _acts(record)):
                old -= 1
                yield self._call(record, 3)

    def _call(self, record: ToolCallRecord, room: int) -> Line:
        at = record.result_index if record.result_index is not None else record.call_index or 0
        outcome, worth = _outcome(record)
        name = record.qualified_name or (record.kind if record.call_index is not None else "result")
        line = Line(CALLS, "result", self._age(at), call=shortened(name, 60), outcome=outcome)
        line.add(Piece(""), worth, "call", must=worth > 1)
        _add_document(line, record.raw_arguments, "argument", min(room, _ARGUMENTS), 0.15)
        base = 0.7 if outcome == "failed" else 0.1
        _add_document(line, record.result, "result", min(room, _RESULT), base)
        if record.result_index is not None:
            for media in self.media.get((record.result_index, record.id), ()):
                line.add(Piece(_media(media)), 0.5, "result")
        return line

    def _carried(self) -> Iterator[Line]:
        """Yield the lines of the last summary, under the headings that they stood under."""
        section = EARLIER
        for text in one_line(self.previous or ""):
            if text in SECTIONS:
                section = text
                continue
            text = text.removeprefix("- ")
            if text.strip(f"{GAP}; ") and text != NOTHING:
                line = Line(section, "carried", len(self.views))
                worth, must = _carried_worth(section, text)
                for number, part in enumerate(_parts(text)):
                    if number == 0:
                        line.add(Piece(part), worth, must=must)
                    else:
                        line.add(Piece(part), worth / 3)
                yield line


def _message(view: ItemView) -> Iterator[Piece]:
    """Yield the words of a message, media by their kind and name."""
    for part in view.parts:
        if isinstance(part, TextPart):
            yield from pieces(part.text)
        elif isinstance(part, MediaPart):
            yield Piece(_media(part))
            yield from pieces(part.text)
        elif isinstance(part, UnknownPart) and not (part.known or part.command):
            kind, text = shortened(part.type or "item", 40), shortened(part.text, 120)
            yield Piece(f"[{kind}] {text}".strip())


def _media(part: MediaPart) -> str:
    name = shortened(part.name, 60) if part.name else ""
    return f"[{part.kind} {name}]" if name else f"[{part.kind}]"


def _demands(view: ItemView) -> bool:
    return any(_STRONG.search(part.text) for part in view.parts if isinstance(part, TextPart))


def _telling(found: Iterable[Piece], room: int, *tells: Callable[[str], object]) -> Iterator[Piece]:
    """Yield the first and last pieces of a long text, and between them those that tell something.

    Args:
        found: The pieces.
        room: Number of pieces to yield, gaps not counted.
        tells: What makes a piece worth keeping, the most important first.
    """
    run = list(islice(found, _LOOKED_AT))
    if len(run) <= room:
        yield from run
        return
    ends = max(1, room // 4)
    chosen = {*range(ends), *range(len(run) - ends, len(run))}
    for tell in tells:
        free = room - len(chosen)
        telling = [n for n in range(ends, len(run) - ends) if n not in chosen and tell(run[n].text)]
        chosen.update(telling[-free:] if free > 0 else ())
    last = -1
    for number in sorted(chosen):
        if number != last + 1:
            yield Piece(GAP)
        yield run[number]
        last = number


def _user_worth(text: str, *, short: bool) -> tuple[float, bool]:
    """Return what a piece of a user's message is worth, and whether it must come first."""
    base = 0.4 if len(text) > 12 else 0.1
    if _STRONG.search(text):
        return base + 2.5, True
    if short and _FIGURE.search(text):  # in a long one, figures are mostly pasted
        base += 0.6
    return (base + 0.6 if _CONSTRAINT.search(text) else base), False


def _carried_worth(section: str, line: str) -> tuple[float, bool]:
    if section == USER:
        strong = bool(_STRONG.search(line))
        return (3.0 if strong else 1.2), strong
    if section == CALLS:
        return (3.0, True) if _ONCE in line else (0.4, False)
    return (1.2 if section == EARLIER else 0.3), False


def _outcome(record: ToolCallRecord) -> tuple[str, float]:
    """Return what became of a call, and what saying so is worth."""
    if not record.completed:
        return "no result recorded", 1.5
    result, given = json_or_text(record.result), record.arguments
    if failure_of(record, result, given, str) is not None:
        return "failed", 1.5
    if not _acts(record):
        return "done", 0.3
    known = {text for _, leaf in leaves_of(given) if (text := text_of(leaf, str)) is not None}
    name = record.name or ""
    waits = waits_or_ended(outcome_of(result, name, known, str), name)
    return f"{'requested' if waits else 'done'}, {_ONCE}", 1.0


def _add_document(line: Line, text: str, side: str, room: int, base: float) -> None:
    """Add the values of a JSON text under their keys, or the lines of another text."""
    document = parsed(text)
    if document is not None:
        for piece in json_pieces(document, room):
            key = next((step for step in reversed(piece.path) if isinstance(step, str)), "")
            worth = base + (0.2 if _TELLING_KEY.search(key) else 0.0)
            line.add(piece, worth + 0.2 if len(piece.path) == 1 else worth, side)
        return
    found = list(_telling(pieces(text), room, _TROUBLE.search, _FIGURE.search))
    for number, piece in enumerate(found):
        worth = base + (0.4 if number in (0, len(found) - 1) else 0.0)
        line.add(piece, worth + 0.6 if _TROUBLE.search(piece.text) else worth, side)


_LONG = 200  # characters: a longer line of the last summary may be kept in part


def _parts(line: str) -> Iterator[str]:
    """Yield a line whole, or a long one in parts, cut behind semicolons outside of brackets."""
    start = depth = 0
    for index, char in enumerate(line if len(line) > _LONG else ""):
        if char in "{[(":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == ";" and depth <= 0 and index - start > 40:
            yield line[start : index + 1].strip()
            start = index + 1
    rest = line[start:].strip()
    if len(rest) > 2 * _LONG:
        yield from (piece.text for piece in pieces(rest))
    elif rest:
        yield rest
