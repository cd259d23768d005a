"""What the author of a summary was shown, and which of it has to be read to judge that.

Not here: how a text becomes units (`reader`), what a summary makes of it (`ungrounded`), what
follows from the values (`derived`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TypeAlias

from chatfold.core.calls import ToolCallRecord
from chatfold.core.grounding.reader import Reader
from chatfold.core.once import once
from chatfold.core.values import Value
from chatfold.core.views import (
    CallPart,
    HandoffPart,
    ItemView,
    MediaPart,
    Part,
    ReasoningPart,
    ResultPart,
    ServerCallPart,
    StatePart,
    SummaryPart,
    TextPart,
    UnknownPart,
)

__all__ = ["Piece", "Sources"]

Piece: TypeAlias = ToolCallRecord | ItemView | str
_MOST_WORDS = 500  # that are looked for: for more of them it is faster to read all
_MOST_HITS = 200  # of one of them


class Sources(Reader):
    """What a model was shown. It is read when a summary is compared with it, as far as needed.

    Args:
        views: The readings of the items.
        calls: The records of their calls, or of the calls of the whole list.
        extra: Other texts that it was shown, such as instructions.
        clean: Applied to every text before it is read (`redact`).
        offset: Index in the list of the first of `views`; calls elsewhere are not looked at.

    Attributes:
        is_whole: Whether all of it has been read.
    """

    def __init__(
        self,
        views: Sequence[ItemView],
        calls: Sequence[ToolCallRecord],
        extra: Iterable[str] = (),
        clean: Callable[[str], str] | None = None,
        *,
        offset: int = 0,
    ) -> None:
        super().__init__(clean)
        self.is_whole = False
        self._range = range(offset, offset + len(views))
        self._numbers = {len(views), len(calls)}
        self._extra = tuple(extra)
        self._pieces: list[Piece] = [
            call
            for call in calls
            if call.call_index in self._range or call.result_index in self._range
        ]
        self._pieces += views
        self._pieces += self._extra
        self._done: set[int] = set()
        self._starts: list[int] = []

    # Which of it

    def read_all(self) -> None:
        """Read all, in order."""
        if self.is_whole:
            return
        Reader.__init__(self, self._clean)  # the order decides where there is too much of a thing
        self.counts |= self._numbers
        self._starts = []
        for number in range(len(self._pieces)):
            self._starts.append(len(self.units))
            self._read(number)
        self.is_whole = True

    def by_piece(self) -> Iterator[tuple[Piece, int, range]]:
        """Yield each call, item and text of what has all been read, its turn, and its units.

        Of what stands in no turn, such as instructions, the turn is -1.
        """
        turn, turns = -1, list[int]()
        for piece in self._pieces:
            if isinstance(piece, ItemView):
                asks = piece.role == "user" and any(type(part) is TextPart for part in piece.parts)
                turn += asks
                turns.append(-1 if piece.role in ("system", "developer") else turn)
        number = iter(turns)
        for piece, start, stop in zip(
            self._pieces, self._starts, [*self._starts[1:], len(self.units)], strict=True
        ):
            at = -1
            if isinstance(piece, ItemView):
                at = next(number)
            elif isinstance(piece, ToolCallRecord):
                made, _ = self._shown(piece)
                index = piece.call_index if made else piece.result_index
                at = -1 if index is None else turns[index - self._range.start]
            yield piece, at, range(start, stop)

    def read_some(self, wanted: Sequence[Value], most: int) -> bool:
        """Read what holds these values as they are written, or as their keys write them.

        Args:
            wanted: The values.
            most: Number of places to read for each word; 0: nearly all.

        Returns:
            Whether that was tried; False where reading all takes less time.
        """
        words = {word for value in wanted for word in _words(value)}
        if len(words) > _MOST_WORDS:
            return False
        hits = {n for word in words for n in self._holding(word, most or _MOST_HITS)}
        for number in sorted(hits - self._done):
            self._done.add(number)
            self._read(number)
        return True

    def _holding(self, word: str, most: int) -> Iterator[int]:
        """Yield the numbers of pieces in which a word stands."""
        text, starts = self._searched
        at = text.find(word)
        while at >= 0 and most:
            stop = at + len(word)
            if not (text[at - 1 : at].isalnum() or text[stop : stop + 1].isalnum()):
                most -= 1
                number = bisect_right(starts, at) - 1
                yield number
                if number + 1 == len(starts):
                    break
                stop = max(stop, starts[number + 1])
            at = text.find(word, stop)

    @once
    def _searched(self) -> tuple[str, list[int]]:
        """All texts as one, in small letters, and where each piece begins."""
        texts = list(map(self._text_of, self._pieces))
        whole = "\n".join(texts)
        if not whole.isascii():  # a capital may become several small letters
            texts = [text.lower() for text in texts]
            whole = "\n".join(texts)
        ends = accumulate(len(text) + 1 for text in texts)
        return whole.lower(), [0, *ends][:-1]

    def _text_of(self, piece: Piece) -> str:
        """Return what is read of a piece, as one text."""
        if isinstance(piece, str):
            return piece
        if isinstance(piece, ToolCallRecord):
            made, answered = self._shown(piece)
            arguments = piece.raw_arguments if made else ""
            result = piece.result if answered else ""
            name = f"{piece.name or ''}\n{piece.namespace or ''}"
            return f"{name}\n{piece.id or ''}\n{arguments}\n{result}"
        parts = piece.parts
        first = parts[0] if len(parts) == 1 else None
        if type(first) is TextPart and not first.sources and not piece.name:  # as most are
            return first.text
        texts = [text for part in parts for text in _texts_of(part)]
        return "\n".join((piece.name or "", *texts))

    # Reading

    def _read(self, number: int) -> None:
        piece = self._pieces[number]
        if isinstance(piece, str):
            self.text(piece, now=True)
        elif isinstance(piece, ToolCallRecord):
            self._read_call(piece)
        else:
            self._read_view(piece)

    def _shown(self, call: ToolCallRecord) -> tuple[bool, bool]:
        """Return whether a call's arguments and whether its result were shown."""
        return call.call_index in self._range, call.result_index in self._range

    def _read_call(self, call: ToolCallRecord) -> None:
        made, answered = self._shown(call)
        unit = self.unit(-1)
        if call.name:
            self.add(Value("name", call.name, f"name:{call.name}", 0, len(call.name)), unit)
            self.texts.append(call.name)
        if call.namespace is not None:
            self.text(call.namespace)
        if call.id:
            self.text(call.id)
        if made and call.raw_arguments:
            self.document(call.raw_arguments, unit, f"{call.name} arguments")
        if answered and call.result:
            self.document(call.result, unit, f"{call.name} result")

    def _read_view(self, view: ItemView) -> None:
        now = view.role in ("system", "developer")
        if view.name:
            self.text(view.name)
        for part in view.parts:
            match part:
                case TextPart():
                    self.text(part.text, now=now)
                    for source in part.sources:
                        self.text(source, now=now)
                case StatePart() | ReasoningPart():
                    self.text(part.text, now=now)
                case SummaryPart():
                    self.text(_whole(part), now=now)
                case UnknownPart():
                    self.document(part.text, self.unit(-1), part.type)
                case MediaPart():
                    self._media(part)
                case ResultPart():
                    for media in part.media:
                        self._media(media)
                    if part.pair == "approval":
                        self.text(part.text)
                case CallPart() if part.kind == "approval" or part.pair == "approval":
                    if part.namespace is not None:
                        self.text(part.namespace)
                    self.document(part.arguments, self.unit(-1), part.name or "")
                case HandoffPart():
                    self.texts.extend(name for name in (part.source, part.target) if name)
                case CallPart() | ServerCallPart():
                    pass  # read with its result
                case _:
                    pass

    def _media(self, part: MediaPart) -> None:
        for text in (part.name, part.type, part.text, part.source):
            if text:
                self.text(text)


def _texts_of(part: Part) -> Iterable[str]:
    """Return what `Sources` reads of a part, but for what it reads with its call."""
    match part:
        case TextPart():
            return (part.text, *part.sources)
        case StatePart() | ReasoningPart() | UnknownPart():
            return (part.text,)
        case SummaryPart():
            return (_whole(part),)
        case MediaPart():
            return (part.name or "", part.type or "", part.text, part.source)
        case ResultPart():
            own = (part.text,) if part.pair == "approval" else ()
            return (*own, *(text for media in part.media for text in _texts_of(media)))
        case CallPart() if part.kind == "approval" or part.pair == "approval":
            return (part.arguments, part.namespace or "")
        case _:
            return ()


def _whole(part: SummaryPart) -> str:
    """Return an earlier summary as it was shown: its words, and the record behind them."""
    return f"{part.text}\n{part.record}"


def _words(value: Value) -> set[str]:
    """Return how a value may be written, in small letters."""
    name = value.key.partition(":")[2].partition(" ")[0]
    return {word for word in (value.text.lower(), name.lower()) if len(word) > 1}
