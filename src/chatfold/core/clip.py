"""Texts that are too long for any prompt, cut in the middle until their items fit.

The biggest are cut first, down to the level of the next one, so that what is short stays whole.
What is cut are readings, never items. Not here: how large a part may be (`room`), what it holds
(`parts`), the words of the marker (`prompts/`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from unicodedata import combining

from chatfold.core.views import (
    CallPart,
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

__all__ = ["Mark", "cut_middle", "cut_texts", "cut_to", "level", "shortened"]

Mark = Callable[[int, int], str]
"""Takes the number of characters that are left out, and of all; returns the marker's text."""

_WORD = 40  # characters at most that a word's end is looked for
_SHORTEST = 24  # tokens of a text: cut further, it says nothing
_TRIES = 6  # at hitting a size: a text's beginning and end may be denser than its middle


def cut_middle(text: str, keep: int, mark: Mark) -> str:
    """Return a text with its middle left out, and a marker in its place.

    Args:
        text: Any text.
        keep: Characters to keep, about half of them at each end; the marker comes on top.
        mark: Returns the marker.
    """
    keep = max(0, keep)
    if keep >= len(text):
        return text
    head = _border(text, keep - keep // 2, back=True)
    tail = _border(text, len(text) - keep // 2, back=False)
    return f"{text[:head]}\n{mark(tail - head, len(text))}\n{text[tail:]}"


def _border(text: str, at: int, *, back: bool) -> int:
    """Return a place near `at` that parts no word, else one that parts no character.

    Args:
        text: The text.
        at: A place in it.
        back: Whether to look towards its beginning.
    """
    step = -1 if back else 1
    for place in range(at, max(0, at - _WORD) if back else min(len(text), at + _WORD), step):
        if text[place - 1 : place].isspace() or text[place : place + 1].isspace():
            return place
    for place in range(at, max(0, at - _WORD) if back else min(len(text), at + _WORD), step):
        if not _joins(text[place : place + 1]):
            return place
    return at


def _joins(char: str) -> bool:
    """Return whether a character belongs to the one before it."""
    return bool(char) and (
        "\udc00" <= char <= "\udfff" or char in "\u200d\ufe0e\ufe0f" or combining(char) > 0
    )


def level(sizes: Sequence[int], room: int) -> int:
    """Return the size to which the largest have to come down so that all together fit.

    Args:
        sizes: The sizes.
        room: What they may have together.

    Returns:
        0 where there is no room at all; the largest size where nothing has to be cut.
    """
    left = room
    for place, size in enumerate(ordered := sorted(sizes)):
        share = left // (len(ordered) - place)
        if size > share:
            return max(0, share)
        left -= size
    return max(sizes, default=0)


def shortened(
    views: Sequence[ItemView],
    room: int,
    *,
    measure: Callable[[Sequence[ItemView]], int],
    count: Callable[[Sequence[str]], list[int]],
    clean: Callable[[str], str],
    mark: Mark,
) -> Sequence[ItemView] | None:
    """Return the readings of some items with their largest texts cut until they fit.

    Tools' outputs are cut first; what was said, and what tools were asked, only if that is not
    enough. None where nothing but the shortest of texts would fit.

    Args:
        views: The readings.
        room: Size that they may have, in tokens.
        measure: Returns the size of the items as they are shown.
        count: Returns the sizes of texts as they are shown: escapes are many in a page of HTML.
        clean: Redacts a text. A text is cut when that is done: half a secret is not recognized.
        mark: Returns the marker.
    """
    whole = measure(views)
    for said in (False, True):
        texts = [(*at, raw, clean(raw)) for at in _places(views, said) for raw in at[2]]
        sizes = count([text for *_, text in texts])
        left = room - max(0, whole - sum(sizes))
        for _ in range(_TRIES):
            top = level(sizes, left)
            if top < _SHORTEST:
                break
            ended = [
                raw if size <= top else cut_to(text, size, top, mark)
                for (*_, raw, text), size in zip(texts, sizes, strict=True)
            ]
            shown = _with_words(views, said, ended)
            over = measure(shown) - room
            if over <= 0:
                return shown
            left -= over + over // 8 + 1
    return None


def cut_to(text: str, size: int, top: int, mark: Mark) -> str:
    """Return a text of `size` tokens with its ends alone: about `top` tokens, with the marker."""
    marker = len(mark(len(text), len(text)))
    return cut_middle(text, len(text) * top // max(1, size) - marker, mark)


def _places(views: Sequence[ItemView], said: bool) -> Iterator[tuple[int, int, list[str]]]:
    """Yield item, place among its parts, and texts of each part that may be cut."""
    for item, view in enumerate(views):
        for place, part in enumerate(view.parts):
            yield item, place, _words(part, said)


def _with_words(views: Sequence[ItemView], said: bool, texts: Sequence[str]) -> Sequence[ItemView]:
    """Return readings with other texts in place of those that `_places` yielded."""
    shown = list(views)
    new = iter(texts)
    for item, place, old in _places(views, said):
        ended = [next(new) for _ in old]
        if ended != old:
            parts = list(shown[item].parts)
            parts[place] = _with_texts(parts[place], ended)
            shown[item] = shown[item]._replace(parts=tuple(parts))
    return shown


def _words(part: Part, said: bool) -> list[str]:
    """Return the texts of a part that may be cut: outputs, and what was `said` if that may too."""
    match part:
        case ResultPart():
            return [part.text, *(media.text for media in part.media)]
        case ServerCallPart():
            return [part.result, part.arguments] if said else [part.result]
        case UnknownPart() | StatePart():
            return [part.text]
        case TextPart():
            return [part.text, *part.sources] if said else []
        case ReasoningPart() | MediaPart():
            return [part.text] if said else []
        case CallPart():
            return [part.arguments] if said else []
        case _:
            return []


def _with_texts(part: Part, texts: Sequence[str]) -> Part:
    """Return a part with other texts in place of those that `_words` returned."""
    match part:
        case ResultPart():
            media = zip(part.media, texts[1:], strict=True)
            named = tuple(one._replace(text=text) for one, text in media)
            return part._replace(text=texts[0], media=named)
        case ServerCallPart():
            arguments = texts[1] if len(texts) > 1 else part.arguments
            return part._replace(result=texts[0], arguments=arguments)
        case CallPart():
            return part._replace(arguments=texts[0])
        case TextPart():
            return part._replace(text=texts[0], sources=tuple(texts[1:]))
        case ReasoningPart() | MediaPart() | UnknownPart() | StatePart():
            return part._replace(text=texts[0])
        case _:
            raise TypeError(f"no text to cut in {type(part).__name__}")


def cut_texts(whole: Sequence[ItemView], shown: Sequence[ItemView]) -> int:
    """Return how many texts are shown otherwise than they are.

    Args:
        whole: The readings of some items.
        shown: The readings of the same items as a prompt shows them.
    """
    pairs = ((a, b) for a, b in zip(whole, shown, strict=True) if a is not b)
    parts = chain.from_iterable(zip(a.parts, b.parts, strict=True) for a, b in pairs)
    return sum(
        old != new
        for a, b in parts
        if a is not b
        for old, new in zip(_texts(a), _texts(b), strict=True)
    )


def _texts(part: Part) -> list[str]:
    return [part.text] if isinstance(part, SummaryPart) else _words(part, said=True)
