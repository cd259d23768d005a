"""What a call says in few words: what names it, and what came of it.

Not here: which calls are worth a line (`actions`, `ledger`), how a failure is told (`failures`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias, cast

from chatfold.core.calls import ToolCallRecord
from chatfold.core.entries import Entry, Field
from chatfold.core.failures import first_line, reason_in
from chatfold.core.success_words import is_plain_success, telling_line
from chatfold.core.values import Kind, Value, values

__all__ = ["CUT", "LONGEST", "CallWords", "Path", "is_cut", "label_of", "named_by", "shortened"]

Path = tuple[str | int, ...]

LONGEST = 120
"""Characters of a value that goes into a record as it is; what is longer is cut or left out."""

CUT = "…"
"""Stands at the end of what was cut, and for arguments of a call that are left out."""

_BODY = 400  # characters from which on a text is a body of text, such as a file
_MOST_LEAVES = 400
_MOST_NAMED = 5  # values that name a call, or its result
_FEW = 3  # values of a result that go in whatever they are
_FEW_FALSE = 2  # of a result; an object with more of them describes itself
_FLAGS = (False, None, True)  # in the order of how much they tell
_WENT_WELL = frozenset({"success", "ok", "succeeded", "done", "completed"})
_NOT_NAMING = 9
_TEXT_READ = 4000  # characters of a text without form that are looked at for what names it
_WORDS_OF_A_NAME = 5

# Settings of a tool, which do not say what a call was about; and prose, which may be worded anew.
_SETTINGS = re.compile(
    r"(?:^|_)(?:limit|offset|page|page_size|per_page|max_\w+|min_\w+|top_k|timeout\w*|encoding|"
    r"verbose|format|cursor|dry_run|start_line|end_line|view_range|sort\w*|recursive)$"
)
_PROSE = re.compile(
    r"(?:^|_)(?:body|comment|content|contents|description|details|diff|explanation|html|message|"
    r"new|new_str|new_string|note|notes|old|old_str|old_string|patch|prompt|reason|replacement|"
    r"snippet|text|thought)$"
)
_WRITTEN = re.compile(  # what is put into a file is a body of text, however short
    r"(?:^|_)(?:code|content|contents|diff|file_text|insert_text|new|new_str|new_string|old|"
    r"old_str|old_string|patch|replacement|snippet)$"
)
# How keys that `_WRITTEN` finds end.
_ENDS_OF_WRITTEN = tuple(
    f'{end}"'
    for end in (
        *("code", "content", "contents", "diff", "text", "new", "str", "string", "old", "patch"),
        *("replacement", "snippet"),
    )
)
_NAMING: dict[Kind, int] = {
    "id": 0,
    "hash": 1,
    "url": 1,
    "mail": 2,
    "phone": 2,
    "path": 1,
    "date": 2,
    "amount": 2,
    "version": 3,
}
_STATE = re.compile(r"(?:^|_)(?:status|state|outcome)$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


_About: TypeAlias = tuple[bool, bool, str]
_FREE = ("custom", "program")  # kinds of calls whose arguments are no JSON


class CallWords:
    """The words of the calls of a list, each read once.

    Args:
        calls: The records of all calls of the list.
        clean: Applied to every text before it is read, and to every value in it.
        identities: What is known to name the calls, by their positions; more is added to it.
    """

    def __init__(
        self,
        calls: Sequence[ToolCallRecord],
        clean: Callable[[str], str] | None = None,
        identities: dict[int, tuple[Field, ...]] | None = None,
    ) -> None:
        self.calls = calls
        self.clean: Callable[[str], str] = clean or _unchanged
        self._arguments: dict[int, Any] = {}
        self._results: dict[int, Any] = {}
        self._identities = {} if identities is None else identities
        self._inner: dict[str, Any] = {}
        self._alike: dict[str, tuple[Field, ...]] = {}
        self._about: dict[Path, _About] = {}
        self._written: dict[Path, bool] = {}
        self._ends: dict[tuple[int, bool], Counter[Path]] = {}

    def name(self, number: int) -> str:
        """Return the name of a call's tool, "tool" where it has none."""
        return self.clean(self.calls[number].name or "tool")

    def id(self, number: int) -> str:
        """Return a call's id, "" where it has none."""
        return self.clean(self.calls[number].id or "")

    def arguments(self, number: int) -> Any:
        """Return a call's arguments as JSON types, or as text."""
        if number not in self._arguments:
            call = self.calls[number]
            text = self.clean(call.raw_arguments)
            self._arguments[number] = text if call.kind in _FREE else _json_or_text(text)
        return self._arguments[number]

    def result(self, number: int) -> Any:
        """Return a call's result as JSON types, or as text."""
        if number not in self._results:
            self._results[number] = _json_or_text(self.clean(self.calls[number].result))
        return self._results[number]

    def identity(self, number: int) -> tuple[Field, ...]:
        """Return the arguments that tell a call from others of its tool, in their order.

        Settings and prose do not, unless there is nothing else; of a text without form it is the
        first path, or the first line.
        """
        found = self._identities.get(number)
        if found is None:
            call = self.calls[number]
            text = call.raw_arguments if call.kind not in _FREE else ""
            known = self._alike.get(text) if text else None
            found = self._identity(self.arguments(number)) if known is None else known
            self._identities[number] = found
            if text:
                self._alike[text] = found
        return found

    def identities(self, numbers: Iterable[int]) -> list[tuple[Field, ...]]:
        """Return what tells each of some calls from others of its tool."""
        known = self._identities
        return [known.get(number) or self.identity(number) for number in numbers]

    def _identity(self, arguments: Any) -> tuple[Field, ...]:
        if isinstance(arguments, str):
            return self._of_text(arguments)
        named: list[Field] = []
        prose: list[Field] = []
        for path, leaf in _leaves(arguments):
            is_setting, is_prose, label = self._about_of(path)
            if is_setting or (text := self._text(leaf)) is None:
                continue
            if is_prose or _is_long(text):
                prose.append(Field(label, shortened(text)))
            else:
                named.append(Field(label, text))
        return tuple(named[:_MOST_NAMED] or prose[:1])

    def given(self, number: int) -> object:
        """Return all that a call was given: calls of which it is equal are one call made again."""
        arguments = self.arguments(number)
        if isinstance(arguments, str):
            return " ".join(arguments.split())
        return _told_apart(_leaves(arguments))

    def is_named_in_full(self, number: int) -> bool:
        """Return whether `identity` has all that a call was given, but for what is null."""
        arguments, named = self.arguments(number), self.identity(number)
        if isinstance(arguments, str):
            return " ".join(arguments.split()) == "".join(field.text for field in named)
        told = [leaf for _, leaf in _leaves(arguments) if leaf is not None]
        return len(told) == len(named) and not is_cut(named)

    def deed(self, number: int) -> tuple[Field, ...]:
        """Return what names a call that may change something, truth values too.

        A last field of `CUT` alone says that it was given more, without which nobody knows whether
        another call is the same. Prose is not of that kind: it may be worded anew.
        """
        arguments = self.arguments(number)
        if isinstance(arguments, str):
            return self._of_text(arguments)
        named: list[Field] = []
        prose: list[Field] = []
        more = names = False
        for path, leaf in _leaves(arguments):
            is_setting, is_prose, label = self._about_of(path)
            text = str(leaf).lower() if isinstance(leaf, bool) else self._text(leaf)
            if text is None:
                continue
            if is_prose or _is_long(text):
                prose.append(Field(label, shortened(text)))
                more = more or not is_prose
            elif is_setting and not isinstance(leaf, bool):
                more = True
            else:
                named.append(Field(label, text))
                names = names or not isinstance(leaf, bool)
        more = (more and bool(named or prose[1:])) or len(named) > _MOST_NAMED
        told = (*named[:_MOST_NAMED], *(() if names else prose[:1]))
        return (*told, *([Field("", CUT)] if more else ()))

    def again(self, number: int) -> object:
        """Return what calls have in common of which one is the other made again: all but prose.

        Prose too where nothing else names the call: two notes with other words are two notes.
        """
        arguments = self.arguments(number)
        if isinstance(arguments, str):
            return " ".join(arguments.split())
        leaves = list(_leaves(arguments))
        kept = [(path, leaf) for path, leaf in leaves if not self._about_of(path)[1]]
        if not any(self._names(path, leaf) for path, leaf in kept):
            kept = leaves
        return _told_apart(kept)

    def _names(self, path: Path, leaf: Any) -> bool:
        """Return whether an argument that is no prose names its call, as settings do not."""
        return not self._about_of(path)[0] and self._text(leaf) is not None

    def _about_of(self, path: Path) -> _About:
        """Return whether what stands at a path is a setting, whether it is prose, and its label."""
        known = self._about.get(path)
        if known is None:
            key, label = _key(path), self.clean(label_of(path))
            known = _SETTINGS.search(key) is not None, _PROSE.search(key) is not None, label
            self._about[path] = known
        return known

    def _of_text(self, text: str) -> tuple[Field, ...]:
        text = text[:_TEXT_READ]
        path = next((v.text for v in values(text) if v.kind == "path"), "")
        said = path or first_line(text)
        return (Field("", shortened(self.clean(said))),) if said else ()

    def outcome(self, number: int) -> tuple[Field, ...]:
        """Return what came of a call in few words, without what names the call.

        Of a result of fields it is those that name it, and those that may say that it did not do
        what it is for. A text goes in unless it says no more than that it did.
        """
        result = self.result(number)
        known = {field.text for field in self.identity(number)}
        if isinstance(result, str):
            return self._outcome_of_text(result, known, self.calls[number].name or "")
        ranked: list[tuple[int, int, int, Field]] = []
        flags: list[tuple[int, int, Field]] = []
        for place, (path, leaf) in enumerate(_leaves(result)):
            if leaf is None or isinstance(leaf, bool):
                if leaf is not True or _key(path) not in _WENT_WELL:
                    label, said = self.clean(label_of(path)), json.dumps(leaf)
                    flags.append((_FLAGS.index(leaf), place, Field(label, said)))
                continue
            text = self._text(leaf)
            if text is None or len(text) > LONGEST or text in known:
                continue
            rank = _rank(_key(path), text, values(text))
            known.add(text)
            ranked.append((rank, len(path), place, Field(self.clean(label_of(path)), text)))
        ranked.sort()
        naming = [found for found in ranked if found[0] < _NOT_NAMING]
        chosen = ranked[:_FEW] if len(naming) < _FEW else naming[:_MOST_NAMED]
        told = [*(found[2:] for found in chosen), *_telling(flags, len(chosen))]
        return tuple(field for _, field in sorted(told)) or _of_empty(result)

    def _outcome_of_text(self, text: str, known: set[str], name: str) -> tuple[Field, ...]:
        said = telling_line(text[:_TEXT_READ])
        if said in known or not any(map(str.isalnum, said)):
            return ()
        if is_plain_success(said, name):
            new = (v for v in values(said) if v.kind in _NAMING and v.text not in known)
            if next(new, None) is None:
                return ()
        return (Field("", shortened(self.clean(said))),)

    def leaf(self, root: Any, path: Path) -> Any:
        """Return the value at a path of arguments or a result; None where there is none.

        JSON inside strings is read too, once for all the values in it.
        """
        value = root
        if len(path) == 1 and type(root) is dict:  # as most results are
            return cast(dict[Any, Any], root).get(path[0])
        for step in path:
            if isinstance(value, str):
                if value not in self._inner:
                    self._inner[value] = _json_or_text(value)
                value = self._inner[value]
            try:
                value = value[step]
            except (LookupError, TypeError):
                return None
        return value

    def label(self, number: int, path: Path) -> str:
        """Return the last two steps of a path, or more: what tells it from others beside it.

        In a list that begins with the place in it, as the next result may hold others there.

        Args:
            number: Position of a call in whose result, or arguments, something stands there.
            path: The path.
        """
        result = self.result(number)
        in_result = self.leaf(result, path) is not None
        listed = next((n for n, step in enumerate(reversed(path), 1) if isinstance(step, int)), 0)
        size = max(2, listed)
        if size < len(path):
            ends = self._ends_of(number, in_result=in_result)
            own = path in ends  # else it leads into JSON inside a text
            while size < len(path) and ends[path[-size:]] > own:
                size += 1
        return label_of(path[-size:])

    def _ends_of(self, number: int, *, in_result: bool) -> Counter[Path]:
        """Return how many paths of a call's result, or arguments, end so; counted once for all."""
        known = self._ends.get((number, in_result))
        if known is None:
            root = self.result(number) if in_result else self.arguments(number)
            paths = [path for path, _ in _leaves(root)]
            known = Counter(path[-size:] for path in paths for size in range(2, len(path) + 1))
            self._ends[number, in_result] = known
        return known

    def in_body(self, number: int, place: str, path: Path) -> bool:
        """Return whether a value stands in a body of text, such as a file's content.

        Args:
            number: Position of its call.
            place: Whether it is an `argument` of it, or in its `result`.
            path: Where in that.
        """
        call = self.calls[number]
        if place == "result":
            if len(call.result) <= _BODY:
                return False
            leaf = self.leaf(self.result(number), path)
        else:
            given = call.raw_arguments
            if self._is_written(path) and (len(given) > _BODY or _may_be_written(given)):
                return True
            if len(given) <= _BODY:
                return False
            leaf = self.leaf(self.arguments(number), path)
        return isinstance(leaf, str) and len(leaf) > _BODY

    def _is_written(self, path: Path) -> bool:
        """Return whether what an argument of that path holds is put into a file."""
        known = self._written.get(path)
        if known is None:
            known = self._written[path] = _WRITTEN.search(_key(path)) is not None
        return known

    def failure(self, number: int, of: Entry | None = None) -> str | None:
        """Return why a call failed, in a few words; None where it did not.

        Args:
            number: Position of the call.
            of: The call, where an earlier record has it and the list only its result.
        """
        call = self.calls[number]
        reason = reason_in(
            self.result(number),
            failed=call.status == "failed",
            name=(call.name or "") if of is None else of.name,
            given=lambda: self._given(number, of),
        )
        return None if reason is None else shortened(self.clean(reason))

    def _given(self, number: int, of: Entry | None) -> Iterator[Any]:
        if of is not None:
            return (field.text for field in of.arguments or ())
        return (leaf for _, leaf in _leaves(self.arguments(number)))

    def _text(self, leaf: Any) -> str | None:
        """Return a value as text; truth values, nulls and blank texts say nothing by themselves."""
        if isinstance(leaf, str):
            text = " ".join(leaf.split()) if len(leaf) <= 4 * LONGEST else leaf
            return self.clean(text) if text else None
        if isinstance(leaf, bool) or not isinstance(leaf, (int, float)):
            return None
        return self.clean(str(leaf))


def _telling(flags: list[tuple[int, int, Field]], others: int) -> list[tuple[int, Field]]:
    """Return the flags of a result that may say that it did not do what it is for.

    Where it has few other values, all that there is room for; else what is false, unless much is.

    Args:
        flags: Which each is, in the order of `_FLAGS`; its place, and its field.
        others: Number of the other values that go in.
    """
    if others < _FEW:
        return [found[1:] for found in sorted(flags)[: _FEW - others]]
    false = [found[1:] for found in flags if found[0] == 0]
    return false if len(false) <= _FEW_FALSE else []


def _of_empty(result: Any) -> tuple[Field, ...]:
    """Return that a result is an empty list: nothing may have been done."""
    return (Field("", "[]"),) if result == [] else ()


def _told_apart(leaves: Iterable[tuple[Path, Any]]) -> tuple[tuple[Path, str], ...]:
    """Return leaves to be compared: as text, in which 1, 1.0 and true are three values."""
    return tuple((path, repr(leaf)) for path, leaf in leaves)


def _is_long(text: str) -> bool:
    """Return whether a text is too long to name something."""
    return len(text) > LONGEST or text.count(" ") >= _WORDS_OF_A_NAME


def named_by(identity: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return what names a call in an entry of values: one argument needs no label."""
    return (Field("", identity[0].text),) if len(identity) == 1 else identity


def is_cut(named: Iterable[Field]) -> bool:
    """Return whether what names a call leaves out some of what it was given."""
    return any(field.text.endswith(CUT) for field in named)


def _may_be_written(arguments: str) -> bool:
    """Return whether arguments may have a key of what is put into a file."""
    lowered = arguments.lower()
    return any(end in lowered for end in _ENDS_OF_WRITTEN)


def _unchanged(text: str) -> str:
    return text


class _Written(float):
    """A number with a fraction, written as it was read."""

    def __new__(cls, text: str) -> _Written:
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str

    def __str__(self) -> str:
        return self.text


def _json_or_text(text: str) -> Any:
    """Return a JSON object, array or string; everything else as the text that it is."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return text
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return text


_DECODER = json.JSONDecoder(parse_float=_Written)


def _leaves(root: Any) -> Iterator[tuple[Path, Any]]:
    """Yield path and value of the first leaves of a JSON value, in order."""
    if isinstance(root, dict):  # most arguments, and many results, have one level
        fields = cast(dict[str, Any], root)
        if not any(isinstance(inner, (dict, list)) for inner in fields.values()):
            yield from (((key,), inner) for key, inner in islice(fields.items(), _MOST_LEAVES))
            return
    stack: list[tuple[Path, Any]] = [((), root)]
    left = _MOST_LEAVES
    while stack and left:
        path, value = stack.pop()
        if isinstance(value, dict):
            fields = cast(dict[str, Any], value)
            stack += [((*path, key), inner) for key, inner in reversed(fields.items())]
        elif isinstance(value, list):
            inside = cast(list[Any], value)[:_MOST_LEAVES]
            stack += [((*path, n), inside[n]) for n in reversed(range(len(inside)))]
        else:
            left -= 1
            yield path, value


def label_of(path: Path) -> str:
    """Return a path as one word: its keys and indices, joined by dots."""
    return ".".join(map(str, path))


def _key(path: Path) -> str:
    key = next((step for step in reversed(path) if isinstance(step, str)), "")
    return _CAMEL.sub("_", key).lower()


def _rank(key: str, text: str, found: Sequence[Value]) -> int:
    """Return how well a value names what came of a call, 0 best."""
    if _STATE.search(key):
        return 0
    ranks = [_NAMING[value.kind] for value in found if value.kind in _NAMING]
    if text.isdigit():
        ranks = [0] if re.search(r"(?:^|_)(?:id|number|no|ref)$", key) else []
    return min(ranks, default=_NOT_NAMING)


def shortened(text: str, most: int = LONGEST) -> str:
    """Return `text` on one line, cut at a space where it has more than `most` characters."""
    if len(text) > 8 * most:
        text = text[: 8 * most]
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    cut = text.rfind(" ", most // 2, most)
    return text[: cut if cut > 0 else most - 1].rstrip() + CUT
