"""The trajectory: what was asked, said, thought, done and seen, one step after the other.

Values from values; not here: which items a fold keeps (`split`), and what a summarizer is shown
(`render`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from chatfold.core.calls import ToolCallRecord
from chatfold.core.scalars import check_whole
from chatfold.core.views import (
    CallPart,
    HandoffPart,
    ItemView,
    MediaPart,
    OpaquePart,
    ReasoningPart,
    ResultPart,
    ServerCallPart,
    SummaryPart,
    TextPart,
    UnknownPart,
    is_user_message,
)

__all__ = ["Step", "StepKind", "Trajectory", "render_steps", "trajectory"]

StepKind: TypeAlias = Literal["task", "message", "thought", "action", "observation"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a trajectory.

    Attributes:
        kind: `task` is what the user asked first, `action` a tool call, `observation` its result.
        text: What was said, thought or seen; the arguments of an action, as the model wrote them.
        index: Index of the item that it stands in.
        role: Who spoke: `user`, `assistant`, `system`, ...; `tool` for an observation, `summary`
            for what chatfold has put in.
        call: The record of an action, or of the action that an observation belongs to.
        partner: Place in the trajectory of an action's observation, or of an observation's
            action; None while there is none.
    """

    kind: StepKind
    text: str
    index: int
    role: str
    call: ToolCallRecord | None = field(default=None, repr=False)
    partner: int | None = None

    @property
    def name(self) -> str | None:
        """Name of the tool, for actions and observations; `call.namespace` is where it lives."""
        return self.call.name if self.call is not None else None

    @property
    def failed(self) -> bool:
        """Whether the result of the call says that it failed."""
        return self.call is not None and self.call.status == "failed"


class Trajectory(list[Step]):
    """The steps of a list, in order.

    Attributes:
        skipped: Number of parts and items that nothing could be read from, and that are left out.
    """

    def __init__(self, steps: Iterable[Step] = (), *, skipped: int = 0) -> None:
        super().__init__(steps)
        self.skipped = skipped


def trajectory(views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> Trajectory:
    """Return the steps of a list; each action and its observation name each other's place.

    Args:
        views: One reading per native item, in the same order.
        calls: The records of all calls in `views`; requests for approval are not actions.
    """
    walk = _Walk(calls)
    for index, view in enumerate(views):
        walk.item(index, view)
    return Trajectory(walk.linked(), skipped=walk.skipped)


class _Walk:
    """One walk over a list: the records are met in the order of their places."""

    def __init__(self, calls: Sequence[ToolCallRecord]) -> None:
        self.steps: list[Step] = []
        self.skipped = 0
        self.asked = False
        self.whole: list[ToolCallRecord] = []
        self.made: dict[int, list[ToolCallRecord]] = {}
        self.answered: dict[int, list[ToolCallRecord]] = {}
        for call in calls:
            if call.kind == "approval" or call.pair == "approval":
                continue
            if call.call_index is not None:
                self.made.setdefault(call.call_index, []).append(call)
            if call.result_index is not None:
                self.answered.setdefault(call.result_index, []).append(call)

    def item(self, index: int, view: ItemView) -> None:
        """Take in one item."""
        if view.fault and not view.parts:
            self.skipped += 1
        said = [p for p in view.parts if isinstance(p, (TextPart, MediaPart))]
        if said:
            self.speech(index, view, said)
        for part in view.parts:
            self.part(index, view, part)
        for record in self.whole:  # a call of the server's may hold its result, or stand before it
            if any(record is other for other in self.answered.get(index, ())):
                self.seen(index, record)
        self.whole.clear()

    def speech(self, index: int, view: ItemView, said: Sequence[TextPart | MediaPart]) -> None:
        """Add what an author says in one item, as one step."""
        words = "\n".join(text for p in said if (text := _words(p)))
        first = not self.asked and is_user_message(view)
        self.asked = self.asked or first
        if words:
            self.steps.append(Step("task" if first else "message", words, index, view.role))

    def part(self, index: int, view: ItemView, part: object) -> None:
        """Add what one part tells, unless it is speech."""
        match part:
            case TextPart() | MediaPart():
                pass
            case ReasoningPart():
                if part.text:
                    self.steps.append(Step("thought", part.text, index, view.role))
            case SummaryPart():
                # In a user's message, but not a user's word.
                self.steps.append(Step("message", part.text, index, "summary"))
            case CallPart() if part.kind != "approval":
                self.action(index, part)
            case ServerCallPart():
                self.action(index, part)
            case ResultPart() if part.pair != "approval":
                self.observation(index, part)
            case HandoffPart():
                words = f"handoff from {part.source} to {part.target}"
                self.steps.append(Step("message", words, index, view.role))
            case UnknownPart() if not (part.known or part.command):
                self.skipped += 1
            case OpaquePart():
                self.skipped += 1
            case _:
                pass  # state, approvals and commands are no steps

    def action(self, index: int, part: CallPart | ServerCallPart) -> None:
        record = _taken(self.made.get(index, []), part.id, part.name)
        if record is None:
            self.skipped += 1
            return
        self.steps.append(Step("action", part.arguments, index, "assistant", record))
        if record.result_index != index:
            return
        if isinstance(part, ServerCallPart):
            self.seen(index, record)
        elif part.served:
            self.whole.append(record)

    def seen(self, index: int, record: ToolCallRecord) -> None:
        """Add the result of a call that no part of its own holds."""
        self.answered[index].remove(record)
        self.steps.append(Step("observation", record.result, index, "tool", record))

    def observation(self, index: int, part: ResultPart) -> None:
        records = self.answered.get(index, [])
        record = (
            _taken(records, part.id, part.name, part.text)
            or _taken(records, part.id, part.name)
            or _taken(records, None, None)
        )
        media = (text for m in part.media if (text := _words(m)))
        words = "\n".join([part.text, *media] if part.text else media)
        self.steps.append(Step("observation", words, index, "tool", record))

    def linked(self) -> Iterator[Step]:
        """Yield the steps, those of one call with each other's place."""
        actions = {id(s.call): i for i, s in enumerate(self.steps) if s.kind == "action"}
        seen = {id(s.call): i for i, s in enumerate(self.steps) if s.kind == "observation"}
        for step in self.steps:
            if step.call is None:
                yield step
                continue
            partner = (seen if step.kind == "action" else actions).get(id(step.call))
            yield Step(step.kind, step.text, step.index, step.role, step.call, partner)


def _taken(
    records: list[ToolCallRecord], id_: str | None, name: str | None, text: str | None = None
) -> ToolCallRecord | None:
    """Return and remove the first record of an item with the id, name and result of a part.

    None stands for any. The records are in the order of the calls, and results without ids may
    answer calls of one name in another.
    """
    for record in records:
        same = (id_ is None or record.id == id_) and (text is None or record.result == text)
        if same and (name is None or record.name is None or record.name == name):
            records.remove(record)
            return record
    return None


def _words(part: TextPart | MediaPart) -> str:
    if isinstance(part, TextPart):
        return part.text
    label = " ".join(word for word in (part.kind, part.name or part.type or "") if word)
    return f"[{label}] {part.text}".strip()


def render_steps(steps: Sequence[Step], *, limit: int | None = None, characters: int = 2000) -> str:
    """Return steps as plain text, one line each.

    Args:
        steps: What `ctx.steps()` returned.
        limit: Most lines to return; what is too much is taken from the middle, and one line says
            how many steps are missing. None returns all.
        characters: Most characters of a step's text; a longer one is cut in the middle.

    Raises:
        TypeError: `steps` holds something else, or a limit is no whole number.
        ValueError: A limit is too small to say anything.
    """
    if limit is not None:
        check_whole("limit", limit, 1)
    check_whole("characters", characters, 1)
    shown = list(steps)
    for step in shown:
        if not isinstance(step, Step):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"steps must be what ctx.steps() returned, not of {type(step).__name__}"
            )
    if limit is None or len(shown) <= limit:
        return "\n".join(_line(step, characters) for step in shown)
    first, last = limit // 2, (limit - 1) // 2
    left_out = f"... {len(shown) - first - last} steps left out ..."
    kept = [_line(step, characters) for step in shown[:first]]
    behind = [_line(step, characters) for step in shown[len(shown) - last :]]
    return "\n".join([*kept, left_out, *behind])


def _line(step: Step, characters: int) -> str:
    name = (step.call.qualified_name if step.call is not None else None) or "tool"
    match step.kind:
        case "action":
            text = f"{name}({_cut(step.text, characters)})"
            if step.partner is None and step.call is not None:
                text += f" [{step.call.status}]"
        case "observation":
            mark = " [failed]" if step.failed else ""
            text = f"{name}{mark} -> {_cut(step.text, characters)}"
        case "message":
            text = f"{step.role}: {_cut(step.text, characters)}"
        case _:
            text = _cut(step.text, characters)
    return f"{step.kind}: {text}"


def _cut(text: str, characters: int) -> str:
    """Return a text on one line, a long one without its middle."""
    line = " ".join(text.split())
    if len(line) <= characters:
        return line
    missing = len(line) - characters
    head = characters - characters // 3
    return f"{line[:head]} [... {missing} characters ...] {line[len(line) - characters // 3 :]}"
