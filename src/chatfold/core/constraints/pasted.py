"""What users paste into their messages: its author may be anybody, so it instructs nobody.

Only a clear mark counts: fences, tags around what others wrote, a mail, a file, a host's reminder.
In doubt a text is the user's own, as instructions must not be lost.
Not here: quoted lines and other quotation marks (`speech`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from chatfold.core.constraints.pasted_mails import mails
from chatfold.core.constraints.pasted_talk import talks
from chatfold.core.word_sets import word_set

__all__ = ["Said", "said_of", "unfenced"]

_LONG: Final = 20_000  # characters: who writes less by hand may have forgotten to close a tag
_NEAR: Final = 200  # characters: what is behind is not looked at
_TAG = re.compile(r'<(/?)([a-zA-Z][\w:.-]*+)((?:\s(?:"[^"\n]{0,300}"|[^<>])*+)?)>')
_FILE = re.compile(
    r"\s*\[\s?(?:attachment|attached file|attached|file|document)\b[^\]\n]*\]\s*\n", re.IGNORECASE
)
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_FENCED = re.compile(
    r"(?::[ \t]*(?:\n[ \t]*)*+(?<=\n))?"  # "here is the code:" is of the code, not of what follows
    r"^(?:```|~~~)[^\n]*\n.*?(?:^(?:```|~~~)|\Z)",
    re.DOTALL | re.MULTILINE,
)

# The last word of a name tells: <email_rules> are rules, <user_document> is a document. A name that
# is in doubt is none of these: users write prompts in tags such as <rules>, <context> and <data>.
_PASTED: Final = word_set(
    "document doc email mail article attachment file webpage website transcript log pdf quote "
    "blockquote letter iframe script noscript stdout stderr"
)
# What hosts put into messages of users, beside results or alone, and no user typed:
# "<system-reminder>" (https://github.com/openonion/connectonion/issues/308,
# https://github.com/letta-ai/letta-code/pull/935, read 2026-11-29). Prompts are in other tags, such
# as <system_instructions>.
_HOSTS: Final = word_set("reminder note notice notification warning message")
_ENVIRONMENT: Final = (["environment", "details"], ["environment", "context"])
_NOTE: Final = "system-note"
_NOTED = re.compile(
    r"^[ \t]*\[system[ _-](?:reminder|note|notice|notification|warning|message)\s*:"
    r"[^\[\]]*\][ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
# Rich text is the user's, but not what is hidden in it.
_STYLED: Final = frozenset(("div", "p", "section", "span"))
_UNSEEN = re.compile(
    r"\bstyle\b[^<>]*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0)|\bhidden\b",
    re.IGNORECASE,
)


class Said(NamedTuple):
    """A text of a user without what is pasted.

    Attributes:
        text: The text; of a pasted block in the middle of a line its tags are left.
        pasted_at: Where the first thing that is no fence was taken out, in characters; None:
            nowhere.
    """

    text: str
    pasted_at: int | None


class _Tag(NamedTuple):
    start: int
    end: int
    name: str
    closes: bool
    told: bool  # more than its name, as to hide what is in it


class _Block(NamedTuple):
    start: int
    end: int
    name: str


def said_of(texts: Sequence[str]) -> Iterator[Said]:
    """Yield the texts of one message, in their order, without fences and what else is pasted."""
    for place, text in enumerate(texts):
        if place and _FILE.match(text):  # a part of its own
            yield Said("", 0)
            continue
        blocks = [*_joined((*_blocks(text), *_notes(text)))]
        untagged, cut = _without(text, blocks)
        if not untagged.strip() and all(_is_hosts(block.name) for block in blocks):
            yield Said("", None)  # what follows in parts of their own are not the words of others
            continue
        # What is in a tag may begin a fence that would hide where the tag is closed.
        bare = unfenced(untagged)
        cut = None if cut is None else len(unfenced(untagged[:cut]))
        others = [_Block(*span, "") for find in (mails, talks) for span in find(bare)]
        rest, cut_too = _without(bare, [*_joined(others)])
        cuts = [at for at in (cut, cut_too) if at is not None]
        yield Said(rest, min(cuts, default=None))


def unfenced(text: str) -> str:
    """Return a text without its fenced code."""
    return _FENCED.sub("\n", text) if "```" in text or "~~~" in text else text


def _without(text: str, blocks: Sequence[_Block]) -> tuple[str, int | None]:
    """Return a text without these blocks, and where the first one was."""
    kept: list[str] = []
    at = 0
    for block in blocks:
        kept += text[at : block.start], _left(text, block)
        at = block.end
    return "".join((*kept, text[at:])), blocks[0].start if blocks else None


def _left(text: str, block: _Block) -> str:
    """Return what is left of a block: a sentence that it stands in goes on behind it."""
    before = _line_before(text, block.start)
    if not before.strip() or "\n" in text[block.start : block.end]:
        return "\n"
    left = f"<{block.name}>…</{block.name}>"
    behind = text[block.end : block.end + 9].lstrip(" \t")
    return f"{left}\n" if behind[:1].isupper() else left


def _tags(text: str) -> Iterator[_Tag]:
    """Yield the tags around what others wrote."""
    for match in _TAG.finditer(text) if "<" in text else ():
        slash, name, told = match.groups()
        if not told.endswith("/") and _is_pasted(name):
            plain = name.lower()
            tells = _UNSEEN.search(told) if plain in _STYLED else told.strip()
            yield _Tag(*match.span(), plain, bool(slash), told=bool(tells))


def _is_pasted(name: str) -> bool:
    last = [part.lower() for part in _PART.findall(name)][-1]
    if last in _STYLED or last in _PASTED or last.removesuffix("s") in _PASTED:
        return True
    return _is_hosts(name)


def _is_hosts(name: str) -> bool:
    parts = [part.lower() for part in _PART.findall(name)]
    return parts in _ENVIRONMENT or (parts[0] == "system" and parts[-1].removesuffix("s") in _HOSTS)


def _notes(text: str) -> Iterator[_Block]:
    """Yield the lines of a host's in brackets."""
    for found in _NOTED.finditer(text) if "[" in text else ():
        yield _Block(*found.span(), _NOTE)


def _blocks(text: str) -> Iterator[_Block]:
    """Yield the blocks in tags; they may lie in one another."""
    by_name: dict[str, list[_Tag]] = {}
    for tag in _tags(text):
        by_name.setdefault(tag.name, []).append(tag)
    for tags in by_name.values():
        yield from _closed(text, tags)


def _closed(text: str, tags: Sequence[_Tag]) -> Iterator[_Block]:
    """Yield the blocks in tags of one name.

    What is pasted may close its tag itself, so that a block reaches up to the last tag that closes
    one. A tag that opens one may only be spoken of: "the text in <document> tags".
    """
    opened: list[_Tag] = []
    last: _Block | None = None
    for tag in tags:
        if not tag.closes:
            opened.append(tag)
            continue
        opening = opened.pop() if opened else None
        if opening and _is_plain(opening):
            continue
        if opening:
            last = _Block(opening.start, tag.end, tag.name)
        elif last:
            last = last._replace(end=tag.end)
        if last and (opening is None or _is_block(opening, text[opening.end : tag.start])):
            yield last
    yield from _unclosed(text, opened, last.end if last else 0)


def _unclosed(text: str, opened: Sequence[_Tag], last: int) -> Iterator[_Block]:
    """Yield blocks that nothing closes: what is pasted opens a tag too many, or was cut."""
    for tag in opened:
        if _is_plain(tag):
            continue
        begins = not _line_before(text, tag.start).strip()
        ends = text[tag.end : tag.end + 1] in ("", "\n", "\r")
        if last > tag.start and (begins or ends or tag.told):
            yield _Block(tag.start, last, tag.name)
        elif ends and len(text) - tag.end > _LONG:
            yield _Block(tag.start, len(text), tag.name)


def _is_plain(tag: _Tag) -> bool:
    """Return whether a tag is of rich text that can be seen."""
    return tag.name in _STYLED and not tag.told


def _line_before(text: str, at: int) -> str:
    """Return what stands before a place in its line, of a long one the end."""
    return text[max(at - _NEAR, 0) : at].rpartition("\n")[2]


def _is_block(opening: _Tag, inner: str) -> bool:
    """Return whether there is more than a word in a line between tags: "<page> and </page>"."""
    return len(inner) > _NEAR or "\n" in inner or len(inner.split()) > 1


def _joined(blocks: Iterable[_Block]) -> Iterator[_Block]:
    """Yield blocks in the order of the text, those that touch as one."""
    held: _Block | None = None
    for block in sorted(blocks):
        if held is not None and block.start <= held.end:
            held = held._replace(end=max(held.end, block.end))
            continue
        if held is not None:
            yield held
        held = block
    if held is not None:
        yield held
