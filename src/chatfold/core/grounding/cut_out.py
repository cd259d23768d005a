"""A text without some of its sentences, its lists, tables and headings whole.

Not here: which sentences go, and why (`ungrounded`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from chatfold.core.sentences import Line, is_row, is_rule, lines

__all__ = ["cut_out"]


def cut_out(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, list[str]]:
    """Return a text without the sentences at `spans`, and what went, in order.

    What stands under a heading or a list item that goes as a whole goes with it, since it would
    else be read as part of what stands before. A heading that nothing is left under goes too, and
    a table without its head.
    """
    if not spans:
        return text, []
    structure = lines(text)
    gone = _gone(text, structure, spans)
    spans = [span for span in spans if not any(gone[n] for n in _covering(structure, span))]
    return _rest(text, structure, gone, spans)


def _covering(structure: Sequence[Line], span: tuple[int, int]) -> range:
    """Return the positions of the lines that a span reaches over."""
    first = bisect_right(structure, span[0], key=lambda line: line.start) - 1
    last = bisect_right(structure, span[1] - 1, key=lambda line: line.start) - 1
    return range(max(first, 0), last + 1)


def _gone(text: str, structure: Sequence[Line], spans: Sequence[tuple[int, int]]) -> list[bool]:
    """Return for each line whether all of it goes, with what it stands under or holds together."""
    left = [len(text[line.content : line.stop].split()) for line in structure]
    gone = [False] * len(structure)
    for span in spans:
        for n in _covering(structure, span):
            start, stop = max(span[0], structure[n].content), min(span[1], structure[n].stop)
            left[n] -= len(text[start:stop].split())
            gone[n] = left[n] <= 0
    table = False  # a table without its head is none
    for n, line in enumerate(structure):
        row = is_row(text, line)
        above = n > 0 and structure[n - 1].block == line.block
        table = row and above and (table or (gone[n - 1] and is_rule(text, line)))
        gone[n] = gone[n] or table or (line.parent >= 0 and gone[line.parent])
    kept = [0] * len(structure)
    held = [0] * len(structure)
    for n in range(len(structure) - 1, -1, -1):
        line = structure[n]
        empty = held[n] > 0 and not kept[n]
        if empty and (
            line.level or text[line.start : line.stop].rstrip("* _\t").endswith((":", "："))
        ):
            gone[n] = True
        if line.parent >= 0:
            held[line.parent] += 1
            kept[line.parent] += not gone[n]
    return gone


def _rest(
    text: str,
    structure: Sequence[Line],
    gone: Sequence[bool],
    spans: Sequence[tuple[int, int]],
) -> tuple[str, list[str]]:
    """Return what is left of a text, and what is not, in order."""
    cuts: list[tuple[int, int]] = []
    dropped: list[tuple[int, str]] = []
    for start, stop in spans:
        dropped.append((start, text[start:stop].strip()))
        while stop < len(text) and text[stop] in " \t\u3000":
            stop += 1
        if text[stop : stop + 1] in ("", "\n"):
            while start and text[start - 1] in " \t\u3000":
                start -= 1
        cuts.append((start, stop))
    for n, line in enumerate(structure):
        if gone[n]:
            dropped.append((line.start, text[line.content : line.stop].strip()))
            cuts.append((line.start, line.stop + (text[line.stop : line.stop + 1] == "\n")))
    out: list[str] = []
    at = 0
    for start, stop in sorted(cuts):
        out.append(text[at:start])
        at = max(at, stop)
        whole = start == 0 or text[start - 1] == "\n"
        if whole and (not any(out) or "".join(out[-2:]).endswith("\n\n")):
            while text.startswith("\n", at):
                at += 1
    out.append(text[at:])
    left = "".join(out)
    if text and not text.endswith("\n"):
        left = left.rstrip("\n")
    return left, [words for _, words in sorted(dropped)]
