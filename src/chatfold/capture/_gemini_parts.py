"""The parts of a Gemini content that comes in pieces, and its fields in either spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from chatfold.capture._sdk import listed
from chatfold.core.arguments import wrapped

__all__ = ["Parts", "changed", "spelled"]


class Parts:
    """The parts of a content that comes in pieces.

    Texts of one kind that follow each other are pieces of one part. A part with a signature stays
    as it came: "Don't merge a Part containing a signature with one that does not. This breaks the
    positional context of the thought." Source, read 2026-11-22:
    https://ai.google.dev/gemini-api/docs/function-calling
    """

    def __init__(self) -> None:
        self._done: list[Any] = []
        self._text: Any = None  # the first piece of a run of text
        self._pieces: list[str] = []
        self._call: Any = None  # the first piece of a call whose arguments are streamed
        self._arguments = _Arguments()
        self._signature: Any = None

    def add(self, part: Any) -> None:
        """Take in a part or a piece of one."""
        call = spelled(part, "function_call")
        if call is not None:
            self._end_text()
            self._add_call(part, call)
        elif not _is_plain_text(part):
            self._end_text()
            self._done.append(part)
        else:
            if _is_thought(part) != _is_thought(self._text):
                self._end_text()
            self._text = part if self._text is None else self._text
            self._pieces.append(spelled(part, "text"))

    def taken(self, *, cut_off: bool) -> list[Any]:
        """Return the parts; what was in pieces is put together.

        Args:
            cut_off: Whether the model was stopped. The arguments of a call that was still to go on
                are wrapped then: the last value may be half written, and no tool is to run on it.
        """
        self._end_text()
        self._end_call(cut_off=cut_off)
        return self._done

    def _end_text(self) -> None:
        text = "".join(self._pieces)
        if text:  # the last chunk often brings an empty text, which is no part of the answer
            whole = len(self._pieces) == 1
            self._done.append(self._text if whole else changed(self._text, text=text))
        self._text, self._pieces = None, []

    def _add_call(self, part: Any, call: Any) -> None:
        # Streamed arguments: the first piece names the call, the last does not say that it will
        # continue; an empty call may mark the end.
        partial, continues = spelled(call, "partial_args"), spelled(call, "will_continue")
        if spelled(call, "args") is not None or (spelled(call, "name") and self._other(call)):
            self._end_call()
        if not partial and not continues and self._call is None:
            if spelled(call, "name"):
                self._done.append(part)
            return
        self._call = part if self._call is None else self._call
        self._signature = self._signature or spelled(part, "thought_signature")
        for piece in listed(partial):
            self._arguments.add(piece)
        if not continues:
            self._end_call()

    def _other(self, call: Any) -> bool:
        begun = spelled(self._call, "function_call")
        pairs = ((spelled(begun, key), spelled(call, key)) for key in ("id", "name"))
        return any(None not in (old, new) and old != new for old, new in pairs)

    def _end_call(self, *, cut_off: bool = False) -> None:
        if self._call is None:
            return
        begun, values = spelled(self._call, "function_call"), self._arguments.values
        args = wrapped(values) if cut_off else values
        call = changed(begun, args=args, partial_args=None, will_continue=None)
        changes: dict[str, Any] = {"function_call": call}
        if self._signature is not None:
            changes["thought_signature"] = self._signature
        self._done.append(changed(self._call, **changes))
        self._call, self._arguments, self._signature = None, _Arguments(), None


class _Arguments:
    """The arguments of a call that come value by value, each with its JSON path (RFC 9535)."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._texts: dict[str, str] = {}

    def add(self, piece: Any) -> None:
        """Take in a value, or a piece of a text."""
        path, text = spelled(piece, "json_path"), spelled(piece, "string_value")
        if not isinstance(path, str):
            return
        if isinstance(text, str):
            self._texts[path] = self._texts.get(path, "") + text
            _put(self.values, _keys(path), self._texts[path])
            return
        number, flag = spelled(piece, "number_value"), spelled(piece, "bool_value")
        if isinstance(number, float) and number.is_integer():
            number = int(number)  # JSON knows one kind of number; a tool may want an index
        if number is not None or flag is not None or spelled(piece, "null_value"):
            _put(self.values, _keys(path), flag if number is None else number)


_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")


def _keys(path: str) -> list[str | int]:
    """Return the steps of a path; a path that is none is one key."""
    keys: list[str | int] = []
    at = 1
    while path.startswith("$") and (step := _STEP.match(path, at)):
        name, index, single, double = step.groups()
        quoted = single if single is not None else double
        if index is not None:
            keys.append(int(index))
        else:
            keys.append(re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else name)
        at = step.end()
    whole = bool(keys) and at == len(path) and isinstance(keys[0], str)
    return keys if whole else [path]


def _put(values: dict[str, Any], keys: list[str | int], value: Any) -> None:
    """Set a value; what stands in the way of its path is replaced."""
    place: Any = values
    for key, following in zip(keys, [*keys[1:], None], strict=True):
        if isinstance(key, int) and key >= len(place):
            key = len(place)
            place.append(None)
        if following is None:
            place[key] = value
            return
        wanted: type = list if isinstance(following, int) else dict
        known = place[key] if isinstance(key, int) else place.get(key)
        if not isinstance(known, wanted):
            place[key] = wanted()
        place = place[key]


def _is_plain_text(part: Any) -> bool:
    return isinstance(spelled(part, "text"), str) and set(_fields(part)) <= {"text", "thought"}


def _is_thought(part: Any) -> bool:
    return bool(spelled(part, "thought"))


def _fields(value: Any) -> Iterator[str]:
    """Yield the names of the fields that are set, in the SDK's spelling."""
    fields = cast(Mapping[str, Any], value if isinstance(value, dict) else vars(value))
    return (_snake(name) for name, field in fields.items() if field is not None)


def spelled(value: Any, name: str) -> Any:
    """Return a field of an SDK object, or of a dict in the SDK's or the wire's spelling."""
    if not isinstance(value, dict):
        return getattr(value, name, None)
    fields = cast(dict[str, Any], value)
    return fields.get(name, fields.get(_camel(name)))


def changed(value: Any, **changes: Any) -> Any:
    """Return a copy with other fields; None leaves a field out."""
    if not isinstance(value, dict):
        return value.model_copy(update=changes)
    fields = cast(dict[str, Any], value)
    snake = any("_" in name for name in fields)
    kept = {k: v for k, v in fields.items() if _snake(k) not in changes}
    new = {k if snake else _camel(k): v for k, v in changes.items() if v is not None}
    return {**kept, **new}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda m: "_" + m[1].lower(), name)
