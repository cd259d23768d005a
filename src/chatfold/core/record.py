r"""The record behind a summary: what code knows for certain, as one block of lines behind the text.

```
<record>
standing:
- "Never call me before 10 am."
done:
- create_rma(order_number=LK-4821936): rma=RMA-90721, ship_by=2025-11-28 [call_7]
- edit_file(path=src/app.py) (12 calls)
- create_ticket (212 earlier calls): ticket=T-1 ... T-212
failed:
- refund(order=LK-4821936): card expired [call_9]
open:
- wait_for_parcel(rma=RMA-90721): no result recorded [call_11]
values:
- lookup_order(order_number=LK-4821936): status=delivered (was: shipped), total="1,349.90 EUR"
- user: dana.w@example.com
</record>
```

One entry is one line, whatever stands in it, and tags of the record's own kind in a text are
escaped, so that neither a value nor a model can forge an entry.

Not here: the form of a line (`entries`), what goes into a record (`actions`, `ledger`), how two
become one (`carry`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from chatfold.core.by_hash import by_hash
from chatfold.core.entries import TAGS, Entry, line, quoted, read_line, read_quoted
from chatfold.core.entries import cleaned as clean_entry
from chatfold.core.once import once

__all__ = [
    "Record",
    "cleaned",
    "hide_tag",
    "joined",
    "parsed",
    "parted",
    "rendered",
    "show_tag",
]


class _Parts(NamedTuple):
    standing: tuple[str, ...] = ()
    done: tuple[Entry, ...] = ()
    failed: tuple[Entry, ...] = ()
    open: tuple[Entry, ...] = ()
    values: tuple[Entry, ...] = ()


class Record(_Parts):
    """What is known for certain; each part is in the order of time, the newest last.

    Attributes:
        standing: Instructions that hold until the user takes them back, word for word.
        done: Calls that changed something.
        failed: Calls that failed, with the reason.
        open: Calls that the user went on without.
        values: Values that the summary's text does not hold, by the call or author they are from.
    """

    @once  # a fold writes what it has found several times
    def block(self) -> str:
        """The record as a block of lines, "" where there is nothing in it."""
        return _written(self, _PART)


_PARTS = TAGS[1:]
_NAMES = "|".join(TAGS)
_TAGS_INSIDE = re.compile(rf"(?:<|&(?:amp;)*lt;)(?=/?(?:{_NAMES})\b)")
_HIDDEN_TAGS = re.compile(rf"&(?:amp;)*lt;(?=/?(?:{_NAMES})\b)")
_OPENING, _CLOSING = "<record>\n", "\n</record>"
_PART = "{}:\n- {}"
_PART_AS_ELEMENT = "<{0}>\n- {1}\n</{0}>"  # as earlier versions wrote it


def cleaned(record: Record, clean: Callable[[str], str]) -> Record:
    """Return a record with every text of it as `clean` returns it."""
    standing, *parts = record
    entries = (tuple(clean_entry(entry, clean) for entry in part) for part in parts)
    return Record(tuple(map(clean, standing)), *entries)


def joined(text: str, record: Record) -> str:
    """Return a summary's text with the record behind it; `parsed` gives both back."""
    block = rendered(record)
    said = _TAGS_INSIDE.sub(hide_tag, text)
    return f"{said}\n\n{block}" if said and block else said or block


def parsed(text: str) -> tuple[str, Record]:
    """Return the model's text and the record in what `joined` returned.

    A text without a record, or with one that was not written here, is all text.
    """
    said, read = _parts(text)
    return said, read[0]


def parted(text: str, block: str = "") -> tuple[str, str]:
    """Return the model's text and the record's block in what `joined` returned; see `parsed`.

    Args:
        text: The text.
        block: The block that is at its end, where this process has written it.
    """
    block = block or text[_start(text) :]
    start = len(text) - len(block)
    if block and text.endswith(block) and (start == 0 or text.endswith("\n\n", 0, start)):
        return _HIDDEN_TAGS.sub(show_tag, text[: max(0, start - 2)]), block
    said, read = _parts(text)
    return said, read[1]


@by_hash(1_024)  # each request of a host that keeps no context brings the same summary
def _start(text: str) -> int:
    """Return where the record behind a text begins, its end where `rendered` writes none so."""
    block = _parts(text)[1][1]
    return len(text) - len(block) * text.endswith(block)


def _parts(text: str) -> tuple[str, tuple[Record, str]]:
    """Return the model's text, and the record behind it with the block that it is written as."""
    if text.endswith(_CLOSING):
        start = text.rfind(_OPENING)
        if start == 0 or (start > 0 and text[max(0, start - 2) : start] == "\n\n"):
            read = _read(text[start + len(_OPENING) : -len(_CLOSING)])
            if read is not None:
                return _HIDDEN_TAGS.sub(show_tag, text[: max(0, start - 2)]), read
    return _HIDDEN_TAGS.sub(show_tag, text), (Record(), "")


def rendered(record: Record) -> str:
    """Return a record as a block of lines, "" where there is nothing in it."""
    return record.block


def _written(record: Record, form: str) -> str:
    blocks: list[str] = []
    parts = (record.done, record.failed, record.open, record.values)
    lines = [[quoted(text) for text in record.standing], *(list(map(line, part)) for part in parts)]
    for part, written in zip(_PARTS, lines, strict=True):
        if written:
            blocks.append(form.format(part, "\n- ".join(written)))
    return _OPENING + "\n".join(blocks) + _CLOSING if blocks else ""


def _read(block: str) -> tuple[Record, str] | None:
    """Return the record in a block of lines, and the block as `rendered` writes it.

    None where it was not written by `rendered`.
    """
    standing: list[str] = []
    parts: dict[str, list[Entry]] = {part: [] for part in _PARTS[1:]}
    part = ""
    for text in block.split("\n"):
        if not text.startswith("- "):
            part = text[:-1] if text.endswith(":") else text[1:-1]
        elif part == "standing":
            standing.append(read_quoted(text[2:]) or "")
        else:
            entry = read_line(text[2:])
            if entry is None or part not in parts:
                return None
            parts[part].append(entry)
    read = Record(tuple(standing), *map(tuple, parts.values()))
    whole, written = f"{_OPENING}{block}{_CLOSING}", rendered(read)
    if whole not in (written, _written(read, _PART_AS_ELEMENT)):
        return None
    return read, written


def hide_tag(found: re.Match[str]) -> str:
    """Return the start of a tag so that it is none; what was hidden before is hidden once more."""
    return "&lt;" if found[0] == "<" else f"&amp;{found[0][1:]}"


def show_tag(found: re.Match[str]) -> str:
    """Return the start of a tag as it was before `hide_tag`."""
    return "<" if found[0] == "&lt;" else f"&{found[0][5:]}"
