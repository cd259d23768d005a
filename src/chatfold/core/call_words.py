"""What a call says in few words: what names it.

Not here: which calls are worth a line (`actions`, `ledger`), how a failure is told (`failures`),
what came of a call otherwise (`outcomes`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, cast

from chatfold.core.call_ends import Ends, failure_of
from chatfold.core.call_json import (
    CUT,
    LONGEST,
    Path,
    json_or_text,
    key_of,
    label_of,
    leaves_of,
    shortened,
    text_of,
)
from chatfold.core.call_labels import DEEP, Labels
from chatfold.core.calls import ToolCallRecord
from chatfold.core.effects.given import rehearsed_by
from chatfold.core.entries import Entry, Field
from chatfold.core.failures import first_line
from chatfold.core.outcomes import Naming, outcome_of
from chatfold.core.values import values
from chatfold.core.views import qualified

__all__ = ["CallWords", "is_cut", "named_by"]

_BODY = 400  # characters from which on a text is a body of text, such as a file
_MOST_NAMED = 5  # values that name a call, or its result
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


_About: TypeAlias = tuple[bool, bool, str]
_FREE = ("custom", "program")  # kinds of calls whose arguments are no JSON


class CallWords:
    """The words of the calls of a list, each read once.

    Args:
        calls: The records of all calls of the list.
        clean: Applied to every text before it is read, and to every value in it.
        identities: What is known to name the calls, by their positions; more is added to it.
        ends: How calls ended, as far as it is known; it stays as it is, as calls may yet end.
    """

    def __init__(
        self,
        calls: Sequence[ToolCallRecord],
        clean: Callable[[str], str] | None = None,
        identities: dict[int, tuple[Field, ...]] | None = None,
        ends: Ends | None = None,
    ) -> None:
        self.calls = calls
        self.clean: Callable[[str], str] = clean or _unchanged
        self._arguments: dict[int, Any] = {}
        self._results: dict[int, Any] = {}
        self._identities = {} if identities is None else identities
        self._inner: dict[str, Any] = {}
        self._alike: dict[str, tuple[Field, ...]] = {}
        self._naming = Naming()
        self._ended = Ends({}, {}) if ends is None else ends.copy()
        self._about: dict[Path, _About] = {}
        self._written: dict[Path, bool] = {}
        self._labels: dict[int, Labels] = {}

    def name(self, number: int) -> str:
        """Return the name of a call's tool, "tool" where it has none, and where the tool lives."""
        call = self.calls[number]
        name = self.clean(call.name or "tool")
        return name if call.namespace is None else qualified(name, self.clean(call.namespace))

    def id(self, number: int) -> str:
        """Return a call's id, "" where it has none."""
        return self.clean(self.calls[number].id or "")

    def arguments(self, number: int) -> Any:
        """Return a call's arguments as JSON types, or as text."""
        if number not in self._arguments:
            call = self.calls[number]
            text = self.clean(call.raw_arguments)
            self._arguments[number] = text if call.kind in _FREE else json_or_text(text)
        return self._arguments[number]

    def result(self, number: int) -> Any:
        """Return a call's result as JSON types, or as text."""
        if number not in self._results:
            self._results[number] = json_or_text(self.clean(self.calls[number].result))
        return self._results[number]

    def identity(self, number: int) -> tuple[Field, ...]:
        """Return the arguments that tell a call from others of its tool, in their order.

        Settings and prose do not, unless there is nothing else, or it is a rehearsal by them
        (`dry_run`); of a text without form it is the first path, or the first line.
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
        for path, leaf in leaves_of(arguments):
            is_setting, is_prose, label = self._about_of(path)
            if is_setting or (text := text_of(leaf, self.clean)) is None:
                continue
            if is_prose or is_long(text):
                prose.append(Field(label, shortened(text)))
            else:
                named.append(Field(label, text))
        told = named[:_MOST_NAMED] or prose[:1]
        return self._as_rehearsed(tuple(told), rehearsed_by(arguments))

    def _as_rehearsed(self, told: tuple[Field, ...], key: str | None) -> tuple[Field, ...]:
        """Return what names a call, which says if it was a rehearsal: nothing has come of that."""
        if key is None or any(field.label == key for field in told):
            return told
        return (*told, Field(self.clean(key), "true"))

    def given(self, number: int) -> object:
        """Return all that a call was given: calls of which it is equal are one call made again."""
        arguments = self.arguments(number)
        if isinstance(arguments, str):
            return " ".join(arguments.split())
        return _told_apart(leaves_of(arguments))

    def is_named_in_full(self, number: int) -> bool:
        """Return whether `identity` has all that a call was given, but for what is null."""
        arguments, named = self.arguments(number), self.identity(number)
        if isinstance(arguments, str):
            return " ".join(arguments.split()) == "".join(field.text for field in named)
        told = [leaf for _, leaf in leaves_of(arguments) if leaf is not None]
        return len(told) == len(named) and not is_cut(named)

    def deed(self, number: int) -> tuple[Field, ...]:
        """Return what names a call that may change something, truth values too.

        A text is shortened where it is long: what a shell, or a database, was told to do says more
        than the folder, or the name, beside it. A last field of `CUT` alone says that the call was
        given more, without which nobody knows whether another one is the same. Prose is not of that
        kind: it may be worded anew.
        """
        arguments = self.arguments(number)
        if isinstance(arguments, str):
            return self._of_text(arguments)
        named: list[Field] = []
        prose: list[Field] = []
        more = names = is_shortened = False
        for path, leaf in leaves_of(arguments):
            is_setting, is_prose, label = self._about_of(path)
            text = str(leaf).lower() if isinstance(leaf, bool) else text_of(leaf, self.clean)
            if text is None:
                continue
            if is_prose:
                prose.append(Field(label, shortened(text)))
            elif (is_setting and not isinstance(leaf, bool)) or (
                is_shortened and len(text) > LONGEST
            ):
                more = True
            else:
                named.append(Field(label, shortened(text)))
                names = names or not isinstance(leaf, bool)
                is_shortened = is_shortened or len(text) > LONGEST
        more = (more and bool(named or prose[1:])) or len(named) > _MOST_NAMED
        told = self._as_rehearsed(
            (*named[:_MOST_NAMED], *(() if names else prose[:1])), rehearsed_by(arguments)
        )
        return (*told, *([Field("", CUT)] if more else ()))

    def again(self, number: int) -> object:
        """Return what calls have in common of which one is the other made again: all but prose.

        Prose too where nothing else names the call: two notes with other words are two notes.
        """
        arguments = self.arguments(number)
        if isinstance(arguments, str):
            return " ".join(arguments.split())
        leaves = list(leaves_of(arguments))
        kept = [(path, leaf) for path, leaf in leaves if not self._about_of(path)[1]]
        if not any(self._names(path, leaf) for path, leaf in kept):
            kept = leaves
        return _told_apart(kept)

    def _names(self, path: Path, leaf: Any) -> bool:
        """Return whether an argument that is no prose names its call, as settings do not."""
        return not self._about_of(path)[0] and text_of(leaf, self.clean) is not None

    def _about_of(self, path: Path) -> _About:
        """Return whether what stands at a path is a setting, whether it is prose, and its label."""
        known = self._about.get(path)
        if known is None:
            key, label = key_of(path), self.clean(label_of(path))
            known = _SETTINGS.search(key) is not None, _PROSE.search(key) is not None, label
            self._about[path] = known
        return known

    def _of_text(self, text: str) -> tuple[Field, ...]:
        text = text[:_TEXT_READ]
        path = next((v.text for v in values(text) if v.kind == "path"), "")
        said = path or first_line(text)
        return (Field("", shortened(self.clean(said))),) if said else ()

    def outcome(self, number: int) -> tuple[Field, ...]:
        """Return what came of a call in few words, without what names the call."""
        found = self._ended.outcomes.get(number)
        if found is None:
            known = {field.text for field in self.identity(number)}
            name, given = self.calls[number].name or "", self.arguments(number)
            keys = cast(dict[str, Any], given) if isinstance(given, dict) else ()
            result = self.result(number)
            found = outcome_of(result, name, known, self.clean, keys, self._naming)
            self._ended.outcomes[number] = found
        return found

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
                    self._inner[value] = json_or_text(value)
                value = self._inner[value]
            try:
                value = value[step]
            except (LookupError, TypeError):
                return None
        return value

    def label(self, number: int, path: Path) -> str:
        """Return what tells a value of a result from others in it (see `Labels`).

        Args:
            number: Position of the call.
            path: Where in its result the value stands.
        """
        if len(path) <= DEEP:  # as many are
            return label_of(path)
        known = self._labels.get(number)
        if known is None:
            known = self._labels[number] = Labels(self.result(number))
        return known.label(path)

    def may_hold_body(self, number: int, place: str) -> bool:
        """Return whether `in_body` may be true of anything in a call's arguments, or its result."""
        return place != "result" or len(self.calls[number].result) > _BODY

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
            known = self._written[path] = _WRITTEN.search(key_of(path)) is not None
        return known

    def failure(self, number: int, of: Entry | None = None) -> str | None:
        """Return why a call failed, in a few words; None where it did not.

        Args:
            number: Position of the call.
            of: The call, where an earlier record has it and the list only its result.
        """
        known = self._ended.failures
        if of is None and number in known:
            return known[number]
        call, result, arguments = self.calls[number], self.result(number), self.arguments(number)
        found = failure_of(call, result, arguments, self.clean, of)
        if of is None:
            known[number] = found
        return found


def _told_apart(leaves: Iterable[tuple[Path, Any]]) -> tuple[tuple[Path, str], ...]:
    """Return leaves to be compared: as text, in which 1, 1.0 and true are three values."""
    return tuple((path, repr(leaf)) for path, leaf in leaves)


def is_long(text: str) -> bool:
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
