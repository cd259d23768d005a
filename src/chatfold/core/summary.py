"""The wrapper around a summary: written, recognized and opened again.

`<chat_history_summary digest="...">` holds a note and the summary's text. The digest covers all
that stands inside, so a wrapper with other words in it is just text; with a key it cannot be
forged. A summary that takes in an earlier one has its number behind the digest, which covers that
too: two folds of one list never have the same digest, though their words may be the same.

Not here: the note's words (`prompts/`), the native item around it (`chatfold.shapes`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from hmac import compare_digest
from typing import TypeVar, cast

from chatfold.core.record import hide_tag, parted, show_tag
from chatfold.core.views import ItemView, Shape, SummaryPart, TextPart

__all__ = [
    "FOREIGN",
    "INSTRUCTING",
    "TAG",
    "Summaries",
    "earlier_summary",
    "mark_summary",
    "may_precede",
    "note_of",
    "opened",
    "summary_id",
    "summary_number",
    "unwrapped",
    "without_summary",
    "wrapped",
]

ItemT = TypeVar("ItemT")

TAG = "chat_history_summary"
FOREIGN = "summary"
"""The type that a shape gives to the reading of a summary that its framework wrote itself."""
INSTRUCTING = ("system", "developer")
"""Roles of the leading instructions, which a summary stands behind."""

_DIGEST = 8  # bytes; summaries of earlier versions have twice as many
_DIGITS = 2 * _DIGEST
_MOST_KNOWN = 8  # summaries of one conversation: a fold writes one with less and less in it
_WRAPPER = re.compile(
    rf'\s*<{TAG} digest="([0-9a-f]{{{_DIGITS}}})([0-9a-f]{{0,{_DIGITS}}})">\n(.*)\n</{TAG}>\s*',
    re.DOTALL,
)
_OPENING = re.compile(rf'<{TAG}(?: digest="[^"<>]*")?>\s*(?:<note>.*?</note>\s*)?', re.DOTALL)
_CLOSING = f"</{TAG}>"
_NOTE = re.compile(r"<note>.*?</note>\n", re.DOTALL)
_TAGS_INSIDE = re.compile(rf"(?:<|&(?:amp;)*lt;)(?=/?(?:{TAG}|note)\b)")
_HIDDEN_TAGS = re.compile(rf"&(?:amp;)*lt;(?=/?(?:{TAG}|note)\b)")


def wrapped(text: str, note: str, key: bytes | None = None, *, number: int = 1) -> str:
    """Return a summary's text inside its wrapper.

    Args:
        text: The summary. Tags of the wrapper's own kind in it are escaped; all else stays as
            the summarizer wrote it, since the next model reads it as plain text.
        note: What tells the reader that this is an automatic record.
        key: Secret that makes the digest unforgeable.
        number: Which summary of its list it is: one more than that of the one that it takes in.
    """
    told, said = (_TAGS_INSIDE.sub(hide_tag, each) for each in (note.strip(), text))
    inner = f"<note>{told}</note>\n{said}"
    # One digit less than what tells a digest of an earlier version, whatever number was imitated.
    behind = f"{number:x}"[1 - _DIGITS :] if number > 1 else ""
    return f'<{TAG} digest="{_digest(inner, key, behind)}{behind}">\n{inner}\n</{TAG}>'


def opened(text: str, key: bytes | None = None) -> str | None:
    """Return the summary inside a wrapper, or None where `text` is none or its digest differs."""
    if TAG not in text[:80]:
        return None
    found = _WRAPPER.fullmatch(text)
    if found is None:
        return None
    digest, behind, inner = found.groups()
    if len(behind) == _DIGITS:
        expected = _digest(inner, key, size=2 * _DIGEST)
    else:
        expected = _digest(inner, key, behind) + behind
    if not compare_digest(digest + behind, expected):
        return None
    return _HIDDEN_TAGS.sub(show_tag, _NOTE.sub("", inner, count=1))


def unwrapped(text: str) -> str:
    """Return a model's answer without white space around it, and without a wrapper and its record.

    A model that was shown an earlier summary may answer in its form: in append mode mostly, where
    it sees the list as it is. Wrapped once more at each fold, notes and records would pile up;
    what belongs into the record is known.
    """
    text = text.strip()
    while text.endswith(_CLOSING) and (opening := _OPENING.match(text)) is not None:
        inside = text[opening.end() : -len(_CLOSING)].rstrip()
        if -1 < inside.find(_CLOSING) < inside.find(f"<{TAG}"):
            return text  # several, one behind the other
        text = parted(inside)[0] or inside
    return text


class Summaries:
    """Opens the summaries of one conversation, each once: the record in one may be long.

    One that is read by the thread that wrote it is known to the turn that waits.

    Args:
        key: Secret that their digests are made with.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self.key = key
        self._known: dict[str, SummaryPart] = {}

    def part(self, text: str, record: str = "") -> SummaryPart | None:
        """Return the words and the record inside a wrapper; None as `opened`.

        Args:
            text: The wrapper.
            record: The record that was put into it just now, as `rendered` wrote it.
        """
        known = self._known.get(text)
        if known is not None:
            return known
        inside = opened(text, self.key)
        if inside is None:
            return None
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        known = self._known[text] = SummaryPart(*parted(inside, record))
        return known


def note_of(text: str) -> str:
    """Return the note in a wrapper, "" where `text` is not wrapped."""
    found = _WRAPPER.fullmatch(text) if TAG in text[:80] else None
    note = _NOTE.match(found[3]) if found is not None else None
    return note[0].strip().removeprefix("<note>").removesuffix("</note>") if note else ""


def summary_id(text: str) -> str:
    """Return what names a summary: the digest on its tag, "" where `text` is not wrapped."""
    found = _WRAPPER.fullmatch(text) if TAG in text[:80] else None
    return found[1] + found[2] if found is not None else ""


def summary_number(text: str) -> int:
    """Return which summary of its list a text is, from 1; 0 where `text` is not wrapped."""
    name = summary_id(text)
    behind = name[_DIGITS:] if len(name) < 2 * _DIGITS else ""
    return int(behind or "1", 16) if name else 0


def mark_summary(views: Sequence[ItemView], summaries: Summaries) -> tuple[int, ItemView] | None:
    """Return the index and the reading of the earlier summary in a list, if there is one.

    It is the first item after the leading instructions, or that item's first text; the same
    wrapper anywhere else is just text. A framework's own summary is taken in that place too, also
    behind its settings, unless a key says who may write one.
    """
    settings = False  # whether some stood before, among which only a framework puts summaries
    for index, view in enumerate(views):
        first = view.parts[0] if view.parts else None
        own = view.type == FOREIGN
        if isinstance(first, TextPart) and (own or not settings):
            part = summaries.part(first.text)
            if part is not None:
                return index, view._replace(parts=(part, *view.parts[1:]))
            if own and summaries.key is None:
                return index, view._replace(parts=(SummaryPart(first.text), *view.parts[1:]))
        if view.role == "state" and not own:
            settings = True
        elif view.role not in INSTRUCTING:
            return None
    return None


def may_precede(view: ItemView) -> bool:
    """Return whether `mark_summary` looks for a summary behind an item, too."""
    return view.role in INSTRUCTING or view.role == "state"


def earlier_summary(views: Sequence[ItemView]) -> SummaryPart | None:
    """Return the earlier summary in a head: it opens it, but for a framework's settings."""
    for view in views:
        if view.parts and isinstance(view.parts[0], SummaryPart):
            return view.parts[0]
        if view.role != "state":
            return None
    return None


def without_summary(item: ItemT, view: ItemView, shape: Shape) -> ItemT | None:
    """Return an item without the earlier summary that it came with, None where that was all.

    Args:
        item: A native item; it is not changed, and returned as it is where it holds no summary.
        view: Its reading.
        shape: The list's shape.
    """
    if not view.parts or type(view.parts[0]) is not SummaryPart:
        return item
    return cast("ItemT | None", shape.pick(item, range(1, len(view.parts))))


def _digest(inner: str, key: bytes | None, behind: str = "", size: int = _DIGEST) -> str:
    data = inner.encode("utf-8", "surrogatepass")
    salt = behind.encode()
    return blake2b(data, digest_size=size, key=_key(key), salt=salt).hexdigest()


def _key(key: bytes | None) -> bytes:
    """Return a key of a length that blake2b takes: 64 bytes at most."""
    if key is None or len(key) <= 64:
        return key or b""
    return blake2b(key).digest()
