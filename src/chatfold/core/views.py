"""Neutral readings of native items, and the `Shape` protocol that makes them.

A view never replaces an item, never holds more than a reader needs, and is never written back.
Not here: how a provider writes its items (`chatfold.shapes`), and what belongs together (`spans`).

Parts and views are named tuples: one of each is made for every item, and a named tuple costs a
third of a frozen dataclass. They are told apart by their class, never by comparing tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from chatfold.core.calls import Answer, ToolCallRecord
    from chatfold.core.check import Problem, Requirement
    from chatfold.core.spans import Span

__all__ = [
    "CallKind",
    "CallPart",
    "Fit",
    "HandoffPart",
    "ItemView",
    "MediaPart",
    "Medium",
    "OpaquePart",
    "Part",
    "Placement",
    "ReasoningPart",
    "ResultPart",
    "Role",
    "ServerCallPart",
    "Shape",
    "StatePart",
    "SummaryPart",
    "TextPart",
    "UnknownPart",
    "Wanted",
    "is_note",
    "is_user_message",
    "legible",
    "noted",
    "qualified",
    "texts",
]

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool", "state", "unknown"]
"""Who an item speaks for: `tool` carries results only, `state` changes the request's settings."""

Wanted: TypeAlias = Literal["yes", "maybe", "no"]
"""Whether a provider wants something back: `maybe` where that depends on what is not known."""

CallKind: TypeAlias = Literal[
    "function",
    "custom",
    "server",
    "mcp",
    "handoff",
    "computer",
    "shell",
    "local_shell",
    "apply_patch",
    "tool_search",
    "program",
    "approval",
]
"""What is called; an `approval` is a request to the host and no tool call of its own."""

Fit: TypeAlias = Literal["no", "maybe", "also", "yes"]
"""Whether an item is of a shape: `maybe` where other shapes write the same.

`also` where it is surely of this shape, or of another that says the same.
"""


class TextPart(NamedTuple):
    """Words of the item's author; `kind` is `refusal` where a model declined.

    `sources` is what the provider names beside the words: title and place of each, a line.
    """

    text: str
    kind: Literal["text", "refusal"] = "text"
    sources: tuple[str, ...] = ()


class ReasoningPart(NamedTuple):
    """Reasoning of a model: what can be read of it, and how many characters cannot."""

    text: str
    opaque: int = 0


class CallPart(NamedTuple):
    """A tool call that the host answers, or that a later item answers.

    `pair` names the family of calls and results that join each other; `arguments` is the raw
    text; `caller` is the call id of the program that made the call, if one did; `served` where
    the server has already acted on it, with or without an item that says how; `cut_off` where the
    item says that the model did not write it to its end; `no_text` where the item holds anything
    but a text as its arguments, if that is what the provider takes; `namespace` is where the tool
    lives, if the provider says so: tools of two namespaces may have one name; `unknown` where the
    call is written as in no form that is known, what it seems to be called ("" where nothing says
    it): then `arguments` is the JSON of all that it holds, and there is no `name`, so that nobody
    runs it.
    """

    id: str | None
    name: str | None
    arguments: str
    kind: CallKind = "function"
    pair: str = "function"
    asynchronous: bool = False
    caller: str | None = None
    served: bool = False
    cut_off: bool = False
    no_text: bool = False
    namespace: str | None = None
    unknown: str | None = None


class ResultPart(NamedTuple):
    """The result of a call in an earlier item (or earlier in the same item).

    `namespace` is where the tool lives, as in the call, where the result says it too.
    """

    id: str | None
    name: str | None
    text: str
    failed: bool = False
    pair: str = "function"
    media: tuple[MediaPart, ...] = ()
    caller: str | None = None
    namespace: str | None = None


class ServerCallPart(NamedTuple):
    """A call that the server made and answered in one item; `namespace` is as in `CallPart`."""

    id: str | None
    name: str | None
    arguments: str
    result: str
    status: Literal["completed", "failed", "open"] = "completed"
    kind: CallKind = "server"
    approval: str | None = None
    namespace: str | None = None


class MediaPart(NamedTuple):
    """An image, sound or file: its bytes are never read, only their number (None: unknown).

    Attributes:
        source: Where it is from, a URL most often, besides what it is called.
    """

    kind: str
    type: str | None = None
    bytes: int | None = None
    name: str | None = None
    text: str = ""
    source: str = ""


class Medium(NamedTuple):
    """A picture, sound or file that a tool returned in no provider's form, with its bytes.

    Attributes:
        kind: As in `MediaPart`.
        type: Its MIME type.
        data: Its bytes as base64, in the standard alphabet and without line breaks.
        name: What it is called, or where it is from, if that is said.
    """

    kind: str
    type: str
    data: str
    name: str | None = None

    @property
    def part(self) -> MediaPart:
        """Its reading."""
        size = len(self.data) * 3 // 4 - self.data[-2:].count("=")
        return MediaPart(self.kind, self.type, size, self.name)


class HandoffPart(NamedTuple):
    """One agent hands the conversation to another."""

    source: str | None
    target: str | None


class StatePart(NamedTuple):
    """A setting that holds from this item on.

    A later part of the same `kind` that covers all `keys` supersedes this one; no keys: nothing
    does.
    """

    kind: str
    keys: frozenset[str] = frozenset()
    text: str = ""


class OpaquePart(NamedTuple):
    """Content that only the provider can read, standing for what came before it."""

    kind: str
    size: int = 0


class SummaryPart(NamedTuple):
    """An earlier summary by chatfold: its words, and the record behind them as it is written."""

    text: str
    record: str = ""


class UnknownPart(NamedTuple):
    """Something without a reading of its own: its type, if it names one, and its JSON text.

    `known` where a shape knows the type and there is nothing more to say of it; `command` where
    it orders the server to do something and is no content.
    """

    type: str
    text: str
    command: bool = False
    known: bool = False


Part: TypeAlias = (
    TextPart
    | ReasoningPart
    | CallPart
    | ResultPart
    | ServerCallPart
    | MediaPart
    | HandoffPart
    | StatePart
    | OpaquePart
    | SummaryPart
    | UnknownPart
)


class ItemView(NamedTuple):
    """The reading of one native item.

    Attributes:
        role: Who the item speaks for.
        parts: What it holds, in its own order.
        type: The item's native type, or its role where it has none.
        shape: Name of the shape that read it; "" where no shape knows it.
        name: The author's name, where the item gives one.
        id: The item's own id (not a call id), where it has one.
        whole_step: Whether the item is one step of the model, with all its calls; else steps are
            runs of items that the model emitted.
        fault: What is malformed about it, "" if nothing is.
        passing: Whether its words are for the turn that it follows alone: the model no longer
            sees them once a later message of the user stands in the list.
        retells: Whether it is no answer but tells another agent all that was said, and so holds
            the user's last request where no message of his follows.
    """

    role: Role
    parts: tuple[Part, ...]
    type: str = ""
    shape: str = ""
    name: str | None = None
    id: str | None = None
    whole_step: bool = False
    fault: str = ""
    passing: bool = False
    retells: bool = False


class Placement(NamedTuple):
    """Where kept items go that may not stand behind the summary.

    Attributes:
        moved: Index of a kept item -> index of the item that it is to precede, of the tail or a
            kept one; the length of the list stands for its end. Several that go to one place stand
            there in their order.
        needs: Items that must be kept too, because there is no such place.
    """

    moved: Mapping[int, int] = {}
    needs: Sequence[int] = ()


class Shape(Protocol):
    """One provider's way of writing items: all that chatfold knows of a provider.

    Every method is a pure function of its arguments; items are never changed. A class that
    inherits from this one gets what most providers do, and writes only what is different.

    Attributes:
        name: The name that `ChatContext(shape=...)` takes.
    """

    name: str

    # Reading

    def fit(self, item: object) -> Fit:
        """Return whether `item` is of this shape.

        Of a dict of nothing but a role and a text, the role alone decides.
        """
        ...

    def read(self, item: object) -> ItemView | None:
        """Return the reading of `item`, or None where it is of another shape."""
        ...

    def said(self, item: Any) -> Any:
        """Return what tells an item from others that a host may hand over in its place.

        The item itself, unless what says nothing of the content (an id that is drawn anew, the
        time, the usage) differs between two copies of one message.
        """
        return item

    def restored(self, value: Any) -> Any:
        """Return a native item for what a store holds of one; dicts are native, where they are.

        Args:
            value: The item in JSON types.
        """
        return value

    def check(
        self,
        items: Sequence[object],
        views: Sequence[ItemView],
        calls: Sequence[ToolCallRecord],
    ) -> Iterable[Problem]:
        """Return what the provider would refuse, beyond what is wrong in every shape."""
        ...

    def spans(self, views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Iterable[Span]:
        """Return what this provider requires together, beyond calls and their results."""
        return ()

    def keeps(self, view: ItemView) -> bool:
        """Return whether an item of the head stays verbatim, as state and instructions do.

        Not asked of what a user or an assistant says, nor of mere results.
        """
        return view.role in ("system", "developer")

    def place(
        self,
        kept: Sequence[int],
        tail: int,
        views: Sequence[ItemView],
        *,
        behind: Role = "user",
    ) -> Placement:
        """Return what must happen so that kept items may stand behind the summary.

        Args:
            kept: Indices of the head items that stay, ascending.
            tail: Index of the first tail item.
            views: The readings of the whole list.
            behind: Role of the summary, or of what the provider puts in its place.
        """
        return Placement()

    def requirements(self, views: Sequence[ItemView], *, model: str | None) -> list[Requirement]:
        """Return what a request with this list has to carry besides the list."""
        return []

    def full_replay(self) -> Requirement | None:
        """Return what makes the provider take the whole list instead of what it holds itself.

        None where the provider never holds a history.
        """
        return None

    # Writing

    def summary_item(self, text: str, *, role: str) -> Any:
        """Return a new native item that holds `text`."""
        ...

    def placed(self, summary: Any, last: Any, following: Any | None) -> Any:
        """Return the summary as it is to stand where it goes, where that shows in the item.

        Args:
            summary: The summary item; it is not changed.
            last: The last item that it stands for.
            following: The item behind it, None at the end of the list.
        """
        return summary

    def merged(self, before: Any, following: Any) -> Any | None:
        """Return one item for two that a fold brings side by side, where two may not stand.

        Mostly the first is the summary. None where they may; neither is changed.
        """
        return None

    def result_item(self, call: ToolCallRecord, text: str, *, failed: bool = False) -> Any:
        """Return a new native item that answers `call`.

        Raises:
            ShapeError: A text does not answer such a call.
        """
        ...

    def own_blocks(self, returned: Sequence[Any], *, model: str | None) -> Sequence[Any] | None:
        """Return what a tool returned as blocks that a result of this provider holds.

        A `MediaPart` among them stands for one that is the provider's own, and no result holds.

        Args:
            returned: The members of the list that the tool returned: dicts, the SDK's objects,
                or anything else.
            model: The agent's model, None where it is not known.

        Returns:
            None unless each of them is such a block, with all its fields and no other.
        """
        return None

    def result_block(self, piece: str | Medium, *, model: str | None) -> Any | None:
        """Return a text or a medium as a block of a result, None where results hold no such thing.

        Args:
            piece: What a tool returned, in no provider's form.
            model: The agent's model, None where it is not known.
        """
        return None

    def answer_items(self, answers: Sequence[Answer]) -> list[Any]:
        """Return the native items that answer the calls of one step, in the provider's form.

        Raises:
            ShapeError: A text does not answer such a call.
        """
        return [self.result_item(a.call, a.text, failed=a.failed) for a in answers]

    def replayable(self, item: Any) -> Any | None:
        """Return what the model sent as what may be sent back: output-only fields are left out.

        So are blank texts where the provider refuses them; None where nothing else was sent.
        """
        return item

    def with_call_ids(self, item: Any, new_id: Callable[[CallPart], str]) -> Any:
        """Return the item with an id on each call that has none; the same item if all have one."""
        return item

    # Repair

    def pick(self, item: Any, parts: Collection[int]) -> Any | None:
        """Return an item with these parts alone, None where nothing would be left.

        Args:
            item: A native item; it is not changed, and returned as it is if it cannot be split.
            parts: Positions in the parts of its view.
        """
        return item if parts else None

    def join(self, items: Sequence[Any]) -> list[Any]:
        """Return items that hold the results of one step, in as few as the provider demands."""
        return list(items)

    def detached(self, item: Any) -> Any:
        """Return the item without the id by which the server looks for what came with it."""
        return item

    def user_may_follow(self, views: Sequence[ItemView], index: int) -> bool:
        """Return whether a message of the user may come right behind an item of the list.

        Asked of places where it parts no call from its result.

        Args:
            views: The readings of the whole list.
            index: Index of the item.
        """
        return True

    def interrupted_item(self, call: ToolCallRecord) -> Any | None:
        """Return what tells that a call which no text answers came to nothing.

        None where only its host, or the user, can say so.
        """
        return None

    def with_other_id(self, item: Any, part: int, call_id: str) -> Any:
        """Return the item with another id on the call, or the result, at one place of its parts.

        The same item where ids of calls may recur, so that there is never a reason to.
        """
        return item

    def with_object_arguments(self, item: Any) -> Any:
        """Return the item with the arguments of its calls in objects, where they must be objects.

        The same item where they are, or where the provider takes others too.
        """
        return item

    def with_text_arguments(self, item: Any) -> Any:
        """Return the item with the arguments of its calls as JSON text, where they must be text.

        The same item where they are, or where the provider takes others too.
        """
        return item

    # Requests

    def without_thinking(self, item: Any) -> Any | None:
        """Return the item without thinking that is bound to what stood before it.

        Args:
            item: A native item; it is not changed, and returned as it is if it holds none.

        Returns:
            A new item, the same one if there is nothing to strip, None where nothing is left.
        """
        return item

    def may_strip(self, views: Sequence[ItemView], *, model: str | None) -> bool:
        """Return whether thinking may be taken out of a list: a model may ask for it back.

        Args:
            views: The readings of the list.
            model: The agent's model, None where that is not known.
        """
        return True

    def wants_back(self, view: ItemView, *, model: str | None) -> Wanted:
        """Return whether a turn that began with such a message has to, for as long as it runs.

        One that may have to is one that a running turn may begin with, too.

        Args:
            view: The reading of a message of the model's.
            model: The agent's model, None where that is not known.
        """
        return "no"

    def tool_definition(
        self, name: str, description: str, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return what a request's `tools` take for a function: the form of Chat Completions.

        Args:
            name: Name of the tool: letters, digits, "_" and "-", 64 at most.
            description: What the model reads about it.
            parameters: JSON Schema of an object.
        """
        function = {"name": name, "description": description, "parameters": dict(parameters)}
        return {"type": "function", "function": function}


_NOTE: Final = "<recorded_tool_result"  # how `repair_note.jinja` begins the note of a result


def legible(part: ResultPart) -> str:
    """Return all that can be read of a result: its text, and that of documents in it."""
    return "\n".join(filter(None, (part.text, *(medium.text for medium in part.media))))


def is_note(text: str) -> bool:
    """Return whether a text is the note of a result that has no call in the list any more."""
    return text.startswith(_NOTE)


def noted(text: str) -> str:
    """Return the result in a note, as it is written there, without the words around it."""
    _, _, result = text.rpartition("</note>\n")
    return result.rstrip("\n").removesuffix("\n</recorded_tool_result>")


def qualified(name: str, namespace: str | None) -> str:
    """Return what tells a tool from those of its name that live elsewhere: `namespace.name`.

    One of the tool's own name is none: OpenAI writes it for functions that were loaded by a search.
    """
    return name if namespace is None or namespace == name else f"{namespace}.{name}"


def is_user_message(view: ItemView) -> bool:
    """Return whether a user speaks in the item; results, notes of them and summaries do not."""
    if view.role != "user":
        return False
    parts = view.parts
    if not parts:
        return True
    first = parts[0]
    if type(first) is TextPart and first.text[:1] != "<":  # as most do: each turn asks often
        return True
    return any(_speaks(part) for part in parts)


def _speaks(part: Part) -> bool:
    if type(part) is TextPart:
        return not is_note(part.text)
    if type(part) is UnknownPart:
        return not part.known  # a marker between results, such as a cache point, says nothing
    return type(part) is MediaPart


def texts(view: ItemView, *, cited: bool = True) -> Iterable[str]:
    """Return every readable text of an item, in order: words, names of tools, arguments, results.

    What media are called is none of it: tokens are counted by these texts.

    Args:
        view: The reading of the item.
        cited: Whether what its words cite is to come, too.
    """
    for part in view.parts:
        match part:
            case TextPart():
                yield part.text
                if cited:
                    yield from part.sources
            case ReasoningPart() | StatePart() | UnknownPart():
                yield part.text
            case SummaryPart():
                yield part.text
                yield part.record
            case CallPart():
                if part.namespace is not None:
                    yield part.namespace
                yield part.name or ""
                yield part.arguments
            case ResultPart():
                if part.namespace is not None:
                    yield part.namespace
                yield part.text
                for media in part.media:
                    yield media.text
                    yield media.source
            case ServerCallPart():
                if part.namespace is not None:
                    yield part.namespace
                yield part.name or ""
                yield part.arguments
                yield part.result
            case MediaPart():
                yield part.text
                yield part.source
            case HandoffPart() | OpaquePart():
                pass
