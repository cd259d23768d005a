"""The shape `gemini`: `Content` of Google's Gemini API and of Vertex AI, in either spelling.

The SDK's objects and dicts write `function_call`, the wire writes `functionCall`; both are read.
Sources: the types of google-genai 3.4.0 (`Content`, `Part`), read 2026-11-22.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from chatfold.core.arguments import wrapped
from chatfold.core.calls import Answer, ToolCallRecord
from chatfold.core.check import Problem
from chatfold.core.native import field
from chatfold.core.views import CallPart, Fit, ItemView, Medium, Part, Placement, Role, Shape
from chatfold.errors import ShapeError
from chatfold.shapes._blocks import (
    getter,
    listed,
    module_of,
    named_id,
    unknown_part,
)
from chatfold.shapes._gemini_parts import (
    fault_of,
    has_object,
    holds_own,
    on_the_wire,
    read_call,
    read_part,
    spelled,
)
from chatfold.shapes._gemini_results import blocks_of_result, media_of, result_block, words_of
from chatfold.shapes._gemini_rules import check_contents, is_empty, place_kept
from chatfold.shapes._unread import lone_part

__all__ = ["Gemini"]

_ROLES: Final[Mapping[Any, Role]] = {
    "user": "user",
    "model": "assistant",
    "function": "tool",
    "tool": "tool",  # as the SDK's own page on calling functions by hand has it
    None: "user",  # "If not set, the service will default to 'user'", say the types
}
_WRITTEN: Final = {"user": "user", "assistant": "model", "model": "model"}
_KEYS: Final = {False: "result", True: "error"}  # under which a response has its words


class Gemini(Shape):
    """Gemini contents: calls, results and thoughts are parts of a user's or the model's turn."""

    name = "gemini"

    def fit(self, item: object) -> Fit:
        """Return whether `item` is a `Content`."""
        module = module_of(item)
        if module and not module.startswith("google.genai."):
            return "no"
        get = getter(item)
        role, parts = get("role"), get("parts")
        if role not in _ROLES or get("content") is not None or get("type") is not None:
            return "no"
        if module:
            return "yes" if hasattr(item, "parts") else "no"
        if parts is None:
            return "yes" if role == "model" else "no"
        if any(field(part, "type") is not None for part in listed(parts)):
            return "no"  # other frameworks have lists of parts too
        if role is None:
            return "yes" if any(holds_own(part) for part in listed(parts)) else "no"
        return "yes"

    def read(self, item: object) -> ItemView | None:
        """Return the reading of a content, None where it is of another shape."""
        if self.fit(item) == "no":
            return None
        get = getter(item)
        written, parts = get("role"), get("parts")
        if parts is not None and not isinstance(parts, list):
            fault = f"parts is {type(parts).__name__}, not a list"
            read: tuple[Part, ...] = (lone_part(parts, _read_alone),)
        else:
            fault = fault_of(listed(parts))
            read = tuple(part for block in listed(parts) for part in read_part(block))
        role = _ROLES[written]
        return ItemView(
            role, read, written or "", self.name, whole_step=role == "assistant", fault=fault
        )

    def said(self, item: Any) -> Any:
        """Return a content as the wire spells it: the SDK's JSON spells it as Python does."""
        return on_the_wire(item)

    def place(
        self,
        kept: Sequence[int],
        tail: int,
        views: Sequence[ItemView],
        *,
        behind: Role = "user",
    ) -> Placement:
        """Return what must stay before kept calls that would stand behind the model's words."""
        return place_kept(kept, tail, views)

    def summary_item(self, text: str, *, role: str) -> dict[str, Any]:
        """Return a content of one part that holds `text`.

        Raises:
            ShapeError: There is no such role.
        """
        if role not in _WRITTEN:
            raise ShapeError(f"a content has no role {role!r}; use 'user'", shape=self.name)
        return {"role": _WRITTEN[role], "parts": [{"text": text}]}

    def result_item(
        self, call: ToolCallRecord, text: str, *, failed: bool = False
    ) -> dict[str, Any]:
        """Return a user's content whose one part answers `call`.

        Raises:
            ShapeError: The call is the server's, or it has no name.
        """
        return {"role": "user", "parts": [self._answer(Answer(call, text, failed))]}

    def answer_items(self, answers: Sequence[Answer]) -> list[Any]:
        """Return one content with all results of a step, as the API demands.

        Raises:
            ShapeError: A call is the server's, or it has no name.
        """
        return [{"role": "user", "parts": [self._answer(a) for a in answers]}] if answers else []

    def own_blocks(self, returned: Sequence[Any], *, model: str | None) -> Sequence[Any] | None:
        """Return what a tool returned as texts and media, None unless all are such."""
        return blocks_of_result(returned, model)

    def result_block(self, piece: str | Medium, *, model: str | None) -> dict[str, Any] | None:
        """Return a text, a picture or a document as a part, None for all else."""
        return result_block(piece, model)

    def with_call_ids(self, item: Any, new_id: Callable[[CallPart], str]) -> Any:
        """Return the content with an id on each function call that has none.

        The Gemini API takes ids. Vertex AI has been seen to refuse them (`Unknown name "id" at
        'contents[1].parts[0].function_call'`), whatever google-genai's converters let through:
        https://github.com/pydantic/pydantic-ai/issues/5081 (read 2026-11-22).
        """
        blocks = listed(field(item, "parts"))
        named = [_with_id(block, new_id) for block in blocks]
        same = all(new is old for new, old in zip(named, blocks, strict=True))
        return item if same else _changed(item, {"parts": named})

    def replayable(self, item: Any) -> Any | None:
        """Return a content without parts that hold nothing, None where all are such parts."""
        blocks = listed(field(item, "parts"))
        kept = [block for block in blocks if not is_empty(block)]
        if len(kept) == len(blocks):
            return item
        return _changed(item, {"parts": kept}) if kept else None

    def pick(self, item: Any, parts: Collection[int]) -> Any | None:
        """Return the content with these parts alone; a part of two readings stays whole."""
        blocks = listed(field(item, "parts"))
        kept: list[Any] = []
        start = 0
        for block in blocks:
            end = start + len(read_part(block))
            if not set(range(start, end)).isdisjoint(parts):
                kept.append(block)
            start = end
        if kept and len(kept) == len(blocks):
            return item
        return _changed(item, {"parts": kept}) if kept else None

    def join(self, items: Sequence[Any]) -> list[Any]:
        """Return one content with the parts of all, in the role of the first."""
        if len(items) < 2:
            return list(items)
        parts = [part for item in items for part in listed(field(item, "parts"))]
        role = "model" if field(items[0], "role") == "model" else "user"
        return [{"role": role, "parts": parts}]

    def with_object_arguments(self, item: Any) -> Any:
        """Return the content with an object as the `args` of each function call."""
        blocks = listed(field(item, "parts"))
        return _changed(item, {"parts": [_with_object(block) for block in blocks]})

    def tool_definition(
        self, name: str, description: str, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return a member of `config.tools`.

        `parameters` would be an OpenAPI schema, which knows less than JSON Schema does:
        google-genai 3.4.0, `FunctionDeclaration`.
        """
        schema = dict(parameters)
        function = {"name": name, "description": description, "parameters_json_schema": schema}
        return {"function_declarations": [function]}

    def check(
        self, items: Sequence[object], views: Sequence[ItemView], calls: Sequence[ToolCallRecord]
    ) -> Iterator[Problem]:
        """Yield what the Gemini API would refuse."""
        return check_contents(items, views, calls)

    def _answer(self, answer: Answer) -> dict[str, Any]:
        """Return the part that answers a call, with the keys that google-genai itself writes."""
        call = answer.call
        if call.pair != "function" or call.name is None:
            what = f"a {call.kind} call" if call.name else "a call without a name"
            raise ShapeError(
                f"{what} is not answered by a content", shape=self.name, index=call.call_index
            )
        key: dict[str, Any] = {} if call.id is None else {"id": call.id}
        words = words_of(answer.blocks) if answer.blocks else answer.text
        made = {**key, "name": call.name, "response": {_KEYS[answer.failed]: words}}
        parts = media_of(answer.blocks)
        return {"function_response": {**made, "parts": parts} if parts else made}


def _read_alone(block: Any) -> Part:
    parts = read_part(block)
    return parts[0] if len(parts) == 1 else unknown_part(block)


def _changed(item: Any, fields: dict[str, Any]) -> Any:
    """Return a copy of a dict or of an SDK object with other fields; values are not re-encoded."""
    if isinstance(item, Mapping):
        return {**cast(Mapping[str, Any], item), **fields}
    return item.model_copy(update=fields)


def _with_object(block: Any) -> Any:
    call = spelled(block, "function_call")
    if has_object(call):
        return block
    return _with_call(block, _changed(call, {"args": wrapped(field(call, "args"))}))


def _with_call(block: Any, call: Any) -> Any:
    """Return a part with another function call, under the key that it has."""
    wire = isinstance(block, Mapping) and "functionCall" in block
    return _changed(block, {"functionCall" if wire else "function_call": call})


def _with_id(block: Any, new_id: Callable[[CallPart], str]) -> Any:
    call = spelled(block, "function_call")
    if call is None or named_id(field(call, "id")) is not None:
        return block
    part = read_call(call)
    return _with_call(block, _changed(call, {"id": new_id(part)}))
