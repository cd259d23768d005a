"""Native histories to test with: hypothesis strategies, long random ones, and the support call.

Belongs here: whatever draws or builds lists of provider-native items, with the ground truth that
is known by construction. Nothing here imports chatfold, so that the truth owes nothing to it.

The rules of validity are those of the providers: tool messages directly behind their calls
(https://platform.openai.com/docs/guides/function-calling), results first and all in the next
message (https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use),
a `system` message between a user and an assistant turn
(https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages),
reasoning followed by what it led to (https://platform.openai.com/docs/guides/reasoning),
all read 2026-11-21.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar, get_args

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

__all__ = [
    "SHAPES",
    "ExpectedCall",
    "History",
    "broken",
    "histories",
    "long_history",
    "support_call",
    "texts",
]

SHAPES = ("openai_chat", "openai_responses", "anthropic")
T = TypeVar("T")
Item = dict[str, Any]


@dataclass(frozen=True)
class ExpectedCall:
    """What a reader has to find out about one tool call.

    Attributes:
        id: The call id (for items that are call and result in one, the item's id); None where
            the provider writes none.
        name: The tool; tools without a name field go by their type: `shell`, `web_search`, ...
        call_index: Index of the item that holds the call.
        result_index: Index of the item that holds the result; None while there is none.
        failed: Whether the provider's own fields mark the result as failed (`is_error`, a status
            of failed or incomplete, an error object, a shell time-out). Words never do.
        result_text: The result where it is one plain text, media left out; None while the call
            is open and where the result has no single text (chunks, screenshots, tool lists).
        arguments: What the model wrote: text for OpenAI's function, custom and MCP calls, an
            object for Anthropic; None for the other tools.
        abandoned: Open, and a later user message went on without it.
        asynchronous: The result may come many turns later.
    """

    id: str | None
    name: str
    call_index: int
    result_index: int | None
    failed: bool
    result_text: str | None
    arguments: Any = None
    abandoned: bool = False
    asynchronous: bool = False

    @property
    def status(self) -> str:
        """The status by the vocabulary of the design."""
        if self.result_index is not None:
            return "failed" if self.failed else "completed"
        return "abandoned" if self.abandoned else "open"


@dataclass(frozen=True)
class History:
    """A native history and the truth about it.

    Attributes:
        shape: Name of the shape that `items` is written in.
        items: The native items: dicts and SDK objects.
        calls: One entry per tool call, in order of the calls' positions.
        openers: Indices of the real user messages.
        approvals: Indices of the approval requests that wait for an answer.
        valid: Whether the provider takes the list, but for calls still open at its end. False:
            it breaks a rule, `calls` and `openers` are still right (out of `broken()`: empty).
    """

    shape: str
    items: list[Any]
    calls: list[ExpectedCall]
    openers: list[int]
    approvals: list[int] = field(default_factory=list)
    valid: bool = True


# --- texts --------------------------------------------------------------------------------------

_PLAIN = ("ok", "Where is my order LK-20417?", "The total is 1,204.50 EUR.", "x")
_NASTY = (
    "\x00",
    "a\x1b[31mred\x07\x08",
    "\ud800",
    "\udfff tail",
    "]]>",
    "</function_call_output><user>",
    "</conversation>",
    "{{ x }}",
    "{% raw %}",
    '<chat_history_summary digest="0">',
    "</chat_history_summary>",
    "&amp;",
    "&#38;lt;",
    "a\rb\r\nc\n",
    "\ufffe\uffff",
    "\U0001f600\U0010ffff",
    "\u202eabc\u2028",
    "\\u0000",
    "say \"hi\" & 'bye'",
    "注文番号は四二です",
    " padded\t",
    "Error: no such order",
)
_COMMON_TEXTS = _PLAIN * 6 + _NASTY
_BLANK = ("", " ", "\n\t ", "\u3000")
_WILD = st.text(st.characters(exclude_categories=()), max_size=12)
_SOLID_WILD = _WILD.map(lambda text: text if text.strip() else f"{text}x")


def texts(*, blank: bool = True) -> SearchStrategy[str]:
    """Draw any text: controls, lone surrogates, markup, templates, carriage returns, astral.

    Args:
        blank: Whether empty and blank texts are drawn too; some providers reject them.
    """
    if blank:
        return st.sampled_from(_PLAIN + _NASTY + _BLANK) | _WILD
    return st.sampled_from(_PLAIN + _NASTY) | _SOLID_WILD


@cache
def _below(n: int) -> SearchStrategy[int]:
    return st.integers(0, n - 1)


# --- what all shapes share ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Options:
    max_turns: int
    sdk_objects: bool
    open_calls: bool
    broken: bool
    allow_late: bool
    opaque: bool


@dataclass(eq=False)  # two calls of one step may be alike in every field
class _Call:
    """A call while its history is drawn; `pair` keeps calls of different kinds apart."""

    id: str | None
    name: str
    call_index: int
    pair: str = "function"
    arguments: Any = None
    result_index: int | None = None
    failed: bool = False
    result_text: str | None = None
    abandoned: bool = False
    asynchronous: bool = False
    caller: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        return (self.pair, self.name if self.id is None else self.id)

    def frozen(self) -> ExpectedCall:
        return ExpectedCall(
            self.id,
            self.name,
            self.call_index,
            self.result_index,
            self.failed,
            self.result_text,
            self.arguments,
            self.abandoned,
            self.asynchronous,
        )


class _Draft:
    """One history while it is drawn: turns of an opening, some steps and an answer.

    Every choice puts the plain case at 0, so that hypothesis shrinks towards plain histories.
    """

    shape = ""

    def __init__(self, draw: DrawFn, options: _Options) -> None:
        self.draw = draw
        self.options = options
        self.items: list[Any] = []
        self.calls: list[_Call] = []
        self.openers: list[int] = []
        self.approvals: list[int] = []
        self.valid = True
        self.last = False
        self.ended = False  # calls are left open: nothing may follow in this turn
        self.spent: list[str] = []  # ids of answered calls, free to recur
        self.waiting: list[_Call] = []  # calls that are answered after a later opener
        self.serial = 0
        self.turns = 0
        self.rounds: list[tuple[list[int], Callable[[], Any]]] = []
        self.round = _below(100).map(self.next_round)
        self.sdk_percent = (0, 30, 100)[self.below(3)] if options.sdk_objects else 0

    # choices

    def below(self, n: int) -> int:
        return self.draw(_below(n)) if n > 1 else 0

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def pick_lazily(self, options: Sequence[Item | Callable[[], Item]]) -> Item:
        """Draw one of `options`, and what it is made of only if it is the one."""
        chosen = self.pick(options)
        return dict(chosen) if isinstance(chosen, dict) else chosen()

    def chance(self, percent: int) -> bool:
        return percent == 100 or self.below(100) >= 100 - percent

    def text(self) -> str:
        return self.one_text(_COMMON_TEXTS + _BLANK, _WILD)

    def solid(self) -> str:
        """Draw a text that is not blank."""
        return self.one_text(_COMMON_TEXTS, _SOLID_WILD)

    def one_text(self, known: Sequence[str], wild: SearchStrategy[str]) -> str:
        """Draw as `texts()` does, with a single choice for most."""
        place = self.below(len(known) + 8)
        return known[place] if place < len(known) else self.draw(wild)

    def shuffled(self, values: Iterable[T]) -> list[T]:
        rest = list(values)
        return [rest.pop(self.below(len(rest))) for _ in range(len(rest))]

    def repeat(self, percents: Sequence[int], body: Callable[[], Any]) -> None:
        """Do `body` once for each of `percents` in turn, until the first that does not come up."""
        self.rounds.append((list(percents), body))
        while self.draw(self.round):
            pass
        self.rounds.pop()

    def next_round(self, roll: int) -> bool:
        """Do one round of `repeat`; hypothesis can delete it as a whole when it shrinks."""
        percents, body = self.rounds[-1]
        if not percents or roll < 100 - percents.pop(0):
            return False
        body()
        return True

    def fresh(self, prefix: str) -> str:
        self.serial += 1
        return f"{prefix}_{self.serial}"

    def call_id(self, step: Iterable[_Call] = ()) -> str:
        """Draw a new id, one of an answered call, or one of another call in the same step."""
        roll = self.below(10)
        inside = [call.id for call in step if call.id is not None and not call.asynchronous]
        if inside and roll == 9:
            return self.pick(inside)
        if self.spent and roll >= 7:
            return self.spent.pop(self.below(len(self.spent)))
        return self.fresh("call")

    def tool_name(self) -> str:
        return self.pick(("get_order", "search", "transfer_to_billing_agent", "get_order-v2"))

    def arguments(self) -> str:
        """Draw what a model wrote as JSON arguments: an object, other JSON, or no JSON at all."""
        match self.below(8):
            case 5:
                return self.pick(("", "[1, 2]", "null", '{"a": 1', "{'a': 1}", '{"a":1}{"b":2}'))
            case 6:
                return self.text()
            case roll if roll >= 3:
                return json.dumps({"q": self.text(), "n": [1, None, {"k": 2.5}]})
            case _:
                return '{"order":"LK-20417"}'

    # building

    def add(self, item: Any) -> int:
        self.items.append(item)
        return len(self.items) - 1

    def called(self, call: _Call) -> _Call:
        self.calls.append(call)
        return call

    def answered(self, call: _Call, text: str | None, *, failed: bool = False) -> None:
        """Note that the item that is added next holds the result of `call`."""
        call.result_index, call.result_text, call.failed = len(self.items), text, failed
        if call.id not in (None, *self.spent) and not call.asynchronous:
            self.spent.append(str(call.id))

    def bound(self, order: Iterable[_Call], step: Iterable[_Call]) -> list[_Call]:
        """Return the calls that results in `order` answer: the first open one of their id."""
        queues: dict[tuple[str, str], list[_Call]] = {}
        for call in step:
            if call.result_index is None:
                queues.setdefault(call.key, []).append(call)
        return [queues[call.key].pop(0) for call in order]

    def settled(self, step: list[_Call]) -> list[_Call]:
        """Return which calls get a result now, in order; leave others open now and then."""
        order = self.shuffled(call for call in step if call.result_index is None)
        rare = 25 if self.options.broken else 0
        if order and self.chance((20 if self.options.open_calls else 0) if self.last else rare):
            self.ended = True
            order = order[: self.below(len(order))]
        now = self.bound(order, step)
        if self.ended and not self.last:
            left = [call for call in step if call.result_index is None and call not in now]
            self.valid = self.valid and all(call.asynchronous for call in left)
        return now

    # the course of a history; the shapes fill it in

    def history(self) -> History:
        self.begin()
        if self.options.max_turns and self.chance(95):
            turn = _below(100).map(self.turn)
            while not self.draw(turn):
                pass
        self.end()
        for call in self.calls:
            passed = bool(self.openers) and self.openers[-1] > call.call_index
            call.abandoned = call.result_index is None and passed and not call.asynchronous
        return History(
            self.shape,
            self.items,
            [call.frozen() for call in self.calls],
            self.openers,
            self.approvals,
            self.valid,
        )

    def turn(self, roll: int) -> bool:
        """Draw one turn; return whether it is the last."""
        self.turns += 1
        self.last = roll < 25 or self.turns == self.options.max_turns
        self.ended = False
        self.opening(self.turns == 1)
        self.repeat((83, 60, 33), lambda: None if self.ended else self.step())
        if not self.ended and not self.chance(15):
            self.answer()
        return self.last

    def begin(self) -> None:
        self.repeat((75, 33), lambda: self.instruct(("system", "developer")))

    def instruct(self, roles: Sequence[str]) -> None:
        self.add({"role": self.pick(roles), "content": self.solid()})

    def opening(self, first: bool) -> None:
        if not (first and self.chance(20)):
            self.speak()
            self.repeat((33, 50), self.speak)
        if self.chance(5):
            self.instruct(("developer", "system"))

    def speak(self) -> None:
        self.openers.append(self.add(self.user()))

    def user(self) -> Item:
        raise NotImplementedError

    def step(self) -> None:
        raise NotImplementedError

    def answer(self) -> None:
        raise NotImplementedError

    def end(self) -> None:
        """Add what a shape needs behind the last turn."""


@cache
def _sdk_types(*unions: Any) -> dict[str, Any]:
    """Return the SDK classes of discriminated unions by the `type` that they carry.

    Types that the installed SDK does not know yet are missing; their items stay dicts.
    """
    found: dict[str, Any] = {}
    for union in unions:
        for member in get_args(get_args(union)[0]):
            found.setdefault(get_args(member.model_fields["type"].annotation)[0], member)
    return found


# --- Chat Completions ---------------------------------------------------------------------------

_PNG = "data:image/png;base64,iVBORw0KGgo="


class _Chat(_Draft):
    shape = "openai_chat"

    def opening(self, first: bool) -> None:
        super().opening(first)
        for call in self.waiting:
            self.result(call)
        self.waiting.clear()

    def user(self) -> Item:
        item: Item = {"role": "user", "content": self.text()}
        if self.chance(30):
            item["content"] = [self.part() for _ in range(1 + self.below(3))]
        if self.chance(10):
            item["name"] = "ada"
        return item

    def part(self) -> Item:
        return self.pick_lazily(
            (
                lambda: {"type": "text", "text": self.text()},
                {"type": "image_url", "image_url": {"url": _PNG, "detail": "low"}},
                {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
                {"type": "file", "file": {"file_id": "file-1"}},
                {"type": "file", "file": {"file_data": "JVBERi0=", "filename": "a.pdf"}},
            )
        )

    def step(self) -> None:
        if self.chance(12):
            self.legacy_step()
            return
        members: list[Item] = []
        step: list[_Call] = []

        def emit() -> None:
            call_id, name = self.call_id(step), self.tool_name()
            call = _Call(call_id, name, len(self.items))
            if self.chance(20):
                call.arguments = self.text()
                body = {"type": "custom", "custom": {"name": name, "input": call.arguments}}
            else:
                call.arguments = self.arguments()
                body = {
                    "type": "function",
                    "function": {"name": name, "arguments": call.arguments},
                }
            members.append({"id": call_id, **body})
            step.append(self.called(call))

        emit()
        self.repeat((67, 50, 50), emit)
        self.add(self.assistant({"content": self.content(), "tool_calls": members}))
        for call in self.settled(step):
            self.result(call)
        if self.ended and not self.last:
            left = [call for call in step if call.result_index is None]
            for call in left:
                alone = sum(other.key == call.key for other in left) == 1
                if alone and self.chance(40):
                    self.waiting.append(call)

    def legacy_step(self) -> None:
        """Add the deprecated pair of `function_call` and role `function`, which has no ids."""
        call = _Call(None, self.tool_name(), len(self.items), arguments=self.arguments())
        body = {"name": call.name, "arguments": call.arguments}
        self.add(self.assistant({"content": self.content(), "function_call": body}))
        self.called(call)
        for answered in self.settled([call]):
            self.result(answered)

    def content(self) -> Any:
        """Draw what an assistant says beside its calls."""
        match self.below(5):
            case 0 | 1:
                return None
            case 2:
                return self.text()
            case 3:
                return ""
            case _:
                return [{"type": "text", "text": self.text()}]

    def result(self, call: _Call) -> None:
        text = self.text()
        if call.id is None:
            empty = self.chance(20)
            self.answered(call, "" if empty else text)
            null = None if empty else text
            self.add({"role": "function", "name": call.name, "content": null})
            return
        parts = [{"type": "text", "text": text}]
        self.answered(call, text)
        content: Any = parts if self.chance(20) else text
        self.add({"role": "tool", "tool_call_id": call.id, "content": content})

    def answer(self) -> None:
        match self.below(10):
            case 7:
                refusal = self.solid()
                parts = [{"type": "refusal", "refusal": refusal}]
                body: Item = {"content": parts, "refusal": refusal}
            case 8:
                body = {"content": [{"type": "text", "text": self.text()} for _ in range(2)]}
            case 9:
                extra: Item = self.pick(({"name": "support"}, {"audio": {"id": "audio_1"}}))
                body = {"content": self.text(), **extra}
            case _:
                body = {"content": self.text()}
        self.add(self.assistant(body))

    def assistant(self, body: Item) -> Any:
        """Return an assistant message as a dict, an SDK object, or a dict that holds some."""
        item = {"role": "assistant", **body}
        if not self.sdk_percent or not self.chance(self.sdk_percent):
            return item
        import openai.types.chat
        from openai.types.chat import ChatCompletionMessage

        custom = any(call["type"] == "custom" for call in item.get("tool_calls", ()))
        if custom and not hasattr(openai.types.chat, "ChatCompletionMessageCustomToolCall"):
            return item
        plain = not isinstance(item["content"], list) and not {"name", "audio"} & item.keys()
        if plain and not ("tool_calls" in item and self.chance(25)):
            return ChatCompletionMessage.construct(**{"refusal": None, "annotations": [], **item})
        if "tool_calls" in item:
            whole = ChatCompletionMessage.construct(
                role="assistant", content=None, tool_calls=item["tool_calls"]
            )
            item["tool_calls"] = whole.tool_calls
        return item


# --- Responses ----------------------------------------------------------------------------------

_TOOL = {"type": "function", "name": "late", "parameters": {}, "strict": False}
_INPUT_IMAGE = {"type": "input_image", "detail": "auto", "image_url": _PNG}
_MODEL_ITEMS = frozenset(
    (
        *("message", "reasoning", "compaction", "mcp_list_tools", "mcp_approval_request"),
        *("function_call", "custom_tool_call", "shell_call", "local_shell_call"),
        *("apply_patch_call", "computer_call", "program", "program_output"),
        *("tool_search_call", "tool_search_output", "web_search_call", "file_search_call"),
        *("code_interpreter_call", "image_generation_call", "mcp_call"),
    )
)


class _Responses(_Draft):
    shape = "openai_responses"

    def add(self, item: Any) -> int:
        made_by_model = item.get("type") in _MODEL_ITEMS and "id" in item
        if self.sdk_percent and made_by_model and self.chance(self.sdk_percent):
            from openai.types.responses import ResponseOutputItem

            known = _sdk_types(ResponseOutputItem)
            if item["type"] in known:
                item = known[item["type"]].construct(**item)
        return super().add(item)

    # what users and hosts write

    def opening(self, first: bool) -> None:
        if self.options.opaque and not first and self.chance(25):
            item_id = self.fresh("cmp")
            self.add({"type": "compaction", "id": item_id, "encrypted_content": "gAAAAcmp"})
        if self.chance(15):
            self.state()
        super().opening(first)
        for call in self.shuffled(self.waiting):
            if not call.asynchronous or self.chance(30):
                self.late_result(call)
        if self.chance(15):
            self.state()

    def user(self) -> Item:
        match self.below(4):
            case 0:
                return {"role": "user", "content": self.text()}
            case 1:
                return {"type": "message", "role": "user", "content": self.text()}
            case roll:
                parts = [self.part() for _ in range(1 + self.below(3))]
                status = {"status": "completed"} if roll == 3 else {}
                return {"type": "message", "role": "user", "content": parts, **status}

    def part(self) -> Item:
        return self.pick_lazily(
            (
                lambda: {"type": "input_text", "text": self.text()},
                _INPUT_IMAGE,
                {"type": "input_image", "detail": "low", "file_id": "file-2"},
                {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERi0="},
                {"type": "input_file", "file_url": "https://example.com/a.pdf", "filename": "a"},
            )
        )

    def state(self) -> None:
        effort = self.pick(("low", "high"))
        self.add(
            self.pick(
                (
                    {"type": "configuration_update", "reasoning": {"effort": effort}},
                    {"type": "configuration_update", "text": {"format": {"type": "text"}}},
                    {"type": "additional_tools", "role": "developer", "tools": [_TOOL]},
                    self.tool_list(),
                )
            )
        )

    def tool_list(self) -> Item:
        tools = [{"name": "send", "input_schema": {"type": "object"}, "description": "Sends."}]
        item = {"type": "mcp_list_tools", "id": self.fresh("mcpl"), "server_label": "mail"}
        return {**item, "tools": tools}

    # what the model writes

    def reasoning(self, percent: int) -> bool:
        """Add a reasoning item now and then; what it led to has to follow."""
        if not self.chance(percent):
            return False
        summary = [{"type": "summary_text", "text": self.text()}] if self.chance(40) else []
        item: Item = {"type": "reasoning", "id": self.fresh("rs"), "summary": summary}
        if self.chance(80):
            item["encrypted_content"] = "gAAAAAB" + item["id"]
        if self.chance(10):
            item["content"] = [{"type": "reasoning_text", "text": self.text()}]
        self.add(item)
        return True

    def message(self, phase: str, *, reasoned: bool) -> None:
        parts: list[Item] = [{"type": "output_text", "text": self.text(), "annotations": []}]
        match self.below(10):
            case 6:
                parts = [{"type": "refusal", "refusal": self.text()}]
            case 7:
                parts = []
            case 8:
                link = {"type": "url_citation", "url": "https://example.com", "title": "T"}
                parts[0]["annotations"] = [{**link, "start_index": 0, "end_index": 1}]
                parts.append({"type": "output_text", "text": self.text(), "annotations": []})
            case 9 if not reasoned:
                self.add({"role": "assistant", "content": self.text()})
                return
            case _:
                pass
        item: Item = {"type": "message", "id": self.fresh("msg"), "role": "assistant"}
        item |= {"status": "completed", "content": parts}
        if self.chance(30):
            item["phase"] = phase
        self.add(item)

    def answer(self) -> None:
        self.message("final_answer", reasoned=self.reasoning(40))

    def step(self) -> None:
        roll = self.below(12)
        if roll in (9, 10):
            self.program_step()
        elif roll == 11:
            self.approval_step()
        else:
            self.call_step()

    def call_step(self) -> None:
        reasoned = self.reasoning(60)
        if self.chance(15):
            self.message("commentary", reasoned=reasoned)
        interleaved = self.chance(30)
        step: list[_Call] = []

        def emit() -> None:
            # An id twice in one step says nothing clear once outputs stand between the calls.
            call = self.pick(self.emitters)(self, () if interleaved else step)
            if call is not None:
                step.append(call)
                if interleaved and not call.asynchronous and self.chance(80):
                    self.result(call)

        emit()
        self.repeat((67, 50, 50), emit)
        self.results(step)

    def results(self, step: list[_Call]) -> None:
        now = self.settled([call for call in step if call.result_index is None])
        deferred: list[_Call] = []
        if not self.ended and not self.last:
            for call in now:
                alone = sum(other.key == call.key for other in step) == 1
                plain = self.options.allow_late and call.pair == "function" and alone
                percent = 60 if call.asynchronous else 15 if plain else 0
                if percent and self.chance(percent):
                    deferred.append(call)
            self.waiting += deferred
            # The user spoke while the tool ran: the model says nothing before the result.
            self.ended = any(not call.asynchronous for call in deferred)
        for call in now:
            if call not in deferred:
                self.result(call)
            for old in [old for old in self.waiting if old not in step and self.chance(20)]:
                self.late_result(old)

    def late_result(self, call: _Call) -> None:
        self.waiting.remove(call)
        self.result(call)

    def end(self) -> None:
        for call in list(self.waiting):
            if not (self.options.open_calls and self.chance(65)):
                self.late_result(call)

    def program_step(self) -> None:
        """Add a program with the calls it makes, and its output unless it still runs."""
        self.reasoning(60)
        program = _Call(self.fresh("call"), "program", len(self.items), "program")
        caller = {"type": "program", "caller_id": program.id}
        item = {"type": "program", "id": self.fresh("prog"), "call_id": program.id}
        self.add({**item, "code": "await search()", "fingerprint": "fp"})
        self.called(program)
        nested: list[_Call] = []

        def emit() -> None:
            call = self.function_call([], fresh=True, caller=caller)
            call.caller = program.id
            nested.append(call)

        self.repeat((75, 50, 50), emit)
        for call in self.settled(nested):
            self.result(call)
        if self.ended or (self.last and self.options.open_calls and self.chance(20)):
            self.ended = True
            return
        text = self.text()
        self.answered(program, text)
        item = {"type": "program_output", "id": self.fresh("po"), "call_id": program.id}
        self.add({**item, "result": text, "status": "completed"})

    def approval_step(self) -> None:
        """Add a request for approval, its answer, and the call if it is allowed."""
        if self.chance(60):
            self.add(self.tool_list())
        self.reasoning(40)
        request_id, arguments = self.fresh("mcpr"), self.arguments()
        what = {"server_label": "mail", "name": "send", "arguments": arguments}
        index = self.add({"type": "mcp_approval_request", "id": request_id, **what})
        if self.last and self.options.open_calls and self.chance(40):
            self.approvals.append(index)
            self.ended = True
            return
        approve = not self.chance(25)
        reply: Item = {"type": "mcp_approval_response", "approval_request_id": request_id}
        self.add({**reply, "approve": approve} | ({} if approve else {"reason": self.text()}))
        if approve:
            self.mcp_call([], request_id, arguments)

    # calls that the host answers

    def function_call(
        self, step: Sequence[_Call], *, fresh: bool = False, caller: Item | None = None
    ) -> _Call:
        asynchronous = not fresh and self.chance(25)
        call_id = self.fresh("call") if fresh or asynchronous else self.call_id(step)
        call = _Call(call_id, self.tool_name(), len(self.items), asynchronous=asynchronous)
        call.arguments = self.arguments()
        item: Item = {"type": "function_call", "call_id": call_id, "name": call.name}
        item["arguments"] = call.arguments
        if not self.chance(10):
            item |= {"id": self.fresh("fc"), "status": "completed"}
        if asynchronous:
            item["async"] = True
        if caller:
            item["caller"] = caller
        self.add(item)
        return self.called(call)

    def custom_call(self, step: Sequence[_Call]) -> _Call:
        call = _Call(self.call_id(step), self.tool_name(), len(self.items), "custom")
        call.arguments = self.text()
        item = {"type": "custom_tool_call", "id": self.fresh("ctc"), "call_id": call.id}
        self.add({**item, "name": call.name, "input": call.arguments})
        return self.called(call)

    def shell_call(self, step: Sequence[_Call]) -> _Call:
        call = _Call(self.call_id(step), "shell", len(self.items), "shell")
        action = {"commands": ["ls", self.text()], "timeout_ms": 1000}
        item = {"type": "shell_call", "id": self.fresh("sh"), "call_id": call.id}
        self.add({**item, "action": action, "status": "completed"})
        return self.called(call)

    def local_shell_call(self, step: Sequence[_Call]) -> _Call:
        # Its output carries the call id as its own item id, which must not occur twice.
        call = _Call(self.fresh("call"), "local_shell", len(self.items), "local_shell")
        action = {"type": "exec", "command": ["ls", self.text()], "env": {}}
        item = {"type": "local_shell_call", "id": self.fresh("lsh"), "call_id": call.id}
        self.add({**item, "action": action, "status": "completed"})
        return self.called(call)

    def patch_call(self, step: Sequence[_Call]) -> _Call:
        call = _Call(self.call_id(step), "apply_patch", len(self.items), "apply_patch")
        change = {"path": "a.py", "diff": self.text()}
        operation = self.pick(
            (
                {"type": "update_file", **change},
                {"type": "create_file", **change},
                {"type": "delete_file", "path": "a.py"},
            )
        )
        item = {"type": "apply_patch_call", "id": self.fresh("ap"), "call_id": call.id}
        self.add({**item, "operation": operation, "status": "completed"})
        return self.called(call)

    def computer_call(self, step: Sequence[_Call]) -> _Call:
        call = _Call(self.call_id(step), "computer", len(self.items), "computer")
        item = {"type": "computer_call", "id": self.fresh("cu"), "call_id": call.id}
        shot = {"type": "screenshot"}
        actions = {"actions": [shot, shot]} if self.chance(40) else {"action": shot}
        self.add({**item, "status": "completed", "pending_safety_checks": [], **actions})
        return self.called(call)

    def tool_search_call(self, step: Sequence[_Call]) -> _Call | None:
        """Add a search for tools that the client runs, or a run of them that the server runs."""
        if self.chance(40):
            call = _Call(self.call_id(step), "tool_search", len(self.items), "tool_search")
            self.search_item("call", call.id, "client", {"arguments": {"q": self.text()}})
            return self.called(call)
        run: list[_Call] = []
        for _ in range(self.pick((1, 1, 2))):
            run.append(self.called(_Call(None, "tool_search", len(self.items), "tool_search")))
            self.search_item("call", None, "server", {"arguments": {"q": self.text()}})
        for call in run:
            self.answered(call, None)
            self.search_item("output", None, "server", {"tools": [_TOOL]})
        return None

    def search_item(self, kind: str, call_id: str | None, execution: str, body: Item) -> None:
        item: Item = {"type": f"tool_search_{kind}", "call_id": call_id, "execution": execution}
        if execution == "server" or kind == "call":
            item["id"] = self.fresh("tsc" if kind == "call" else "tso")
        self.add({**item, "status": "completed", **body})

    def result(self, call: _Call) -> None:
        """Add the item that answers `call`."""
        head: Item = {"type": f"{call.pair}_call_output", "call_id": call.id}
        text = self.text()
        match call.pair:
            case "function" | "custom":
                self.text_result(call, text)
                return
            case "shell":
                late = self.chance(25)
                outcome: Item = {"type": "timeout"} if late else {"type": "exit", "exit_code": 0}
                chunks = [{"stdout": text, "stderr": "", "outcome": outcome}]
                self.answered(call, None, failed=late)
                self.add({**head, "output": chunks})
            case "local_shell":
                self.answered(call, text)
                self.add({"type": head["type"], "id": call.id, "output": text})
            case "apply_patch":
                failed, silent = self.chance(40), self.chance(20)
                self.answered(call, None if silent else text, failed=failed)
                body = {} if silent else {"output": text}
                self.add({**head, "status": "failed" if failed else "completed", **body})
            case "computer":
                self.answered(call, None)
                self.add({**head, "output": {"type": "computer_screenshot", "image_url": _PNG}})
            case _:
                self.answered(call, None)
                self.search_item("output", call.id, "client", {"tools": [_TOOL]})

    def text_result(self, call: _Call, text: str) -> None:
        kind = "function_call_output" if call.pair == "function" else "custom_tool_call_output"
        item: Item = {"type": kind, "call_id": call.id, "output": text}
        match self.below(8):
            case 4:
                item["output"] = text = "Error: no such order"
            case 5:
                item["output"] = [{"type": "input_text", "text": text}]
            case 6:
                item["output"] = [{"type": "input_text", "text": text}, _INPUT_IMAGE]
            case 7:
                item["output"], text = self.pick((("", ""), ([], "")))
            case _:
                pass
        if call.name.startswith("transfer_to_"):
            text = item["output"] = json.dumps({"assistant": "billing agent"})
        if call.caller is not None:
            item["caller"] = {"type": "program", "caller_id": call.caller}
        self.answered(call, text)
        self.add(item)

    # calls that the server makes and answers in one item

    def served(self, kind: str, name: str, statuses: str, body: Item) -> _Call | None:
        """Add a combined item: completed, failed, or still at work at the end of the list."""
        running = self.last and self.options.open_calls and self.chance(20)
        done, ongoing = statuses.split(" | ")
        status = self.pick(ongoing.split()) if running else self.pick(done.split())
        call = _Call(self.fresh(kind), name, len(self.items), "server")
        call.arguments = body.get("arguments")
        if running:
            self.ended = True
        else:
            output = body.get("output") if status == "completed" else None
            call.result_index, call.result_text = call.call_index, output
            call.failed = status != "completed"
        self.add({"type": f"{name}_call", "id": call.id, "status": status, **body})
        self.called(call)
        return None

    def web_search(self, step: Sequence[_Call]) -> _Call | None:
        page = {"url": "https://example.com"}
        action = self.pick_lazily(
            (
                lambda: {"type": "search", "query": self.text()},
                {"type": "open_page", **page},
                lambda: {"type": "find_in_page", "pattern": self.text(), **page},
            )
        )
        states = "completed completed failed | in_progress searching"
        return self.served("ws", "web_search", states, {"action": action})

    def file_search(self, step: Sequence[_Call]) -> _Call | None:
        found = [{"file_id": "file-3", "filename": "a.md", "score": 0.5, "text": self.text()}]
        body: Item = {"queries": [self.text()], "results": self.pick((None, found, []))}
        states = "completed completed failed incomplete | in_progress searching"
        return self.served("fs", "file_search", states, body)

    def code_interpreter(self, step: Sequence[_Call]) -> _Call | None:
        logs = [{"type": "logs", "logs": self.text()}]
        image = [{"type": "image", "url": "https://example.com/a.png"}]
        body: Item = {"container_id": "cntr_1", "code": self.pick((self.text(), None))}
        body["outputs"] = self.pick((logs, None, [], logs + image))
        states = "completed completed failed incomplete | in_progress interpreting"
        return self.served("ci", "code_interpreter", states, body)

    def image_generation(self, step: Sequence[_Call]) -> _Call | None:
        states = "completed completed failed | in_progress generating"
        body: Item = {"result": self.pick(("iVBORw0KGgo=", None)), "revised_prompt": self.text()}
        return self.served("ig", "image_generation", states, body)

    def mcp_call(
        self, step: Sequence[_Call], request_id: str | None = None, arguments: str | None = None
    ) -> _Call | None:
        body: Item = {"server_label": "mail", "name": "send", "output": self.text()}
        body["arguments"] = self.arguments() if arguments is None else arguments
        if request_id is not None:
            body["approval_request_id"] = request_id
        error = self.chance(25)
        if error:
            body["output"] = None
            body["error"] = self.pick(
                (
                    {"type": "mcp_tool_execution_error", "content": self.text()},
                    {"type": "mcp_protocol_error", "code": -32000, "message": self.text()},
                    {"type": "http_error", "code": 502, "message": self.text()},
                )
            )
        self.served("mcp", "mcp", ("failed" if error else "completed") + " | calling", body)
        call = self.calls[-1]
        call.name = "send"
        return None

    emitters: tuple[Callable[[_Responses, Sequence[_Call]], _Call | None], ...] = (
        function_call,
        function_call,
        function_call,
        function_call,
        function_call,
        custom_call,
        custom_call,
        shell_call,
        local_shell_call,
        patch_call,
        computer_call,
        tool_search_call,
        web_search,
        file_search,
        code_interpreter,
        image_generation,
        mcp_call,
    )


# --- Anthropic ----------------------------------------------------------------------------------

_IMAGE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
_SERVER_TOOLS = (
    "web_search",
    "web_fetch",
    "code_execution",
    "bash_code_execution",
    "text_editor_code_execution",
    "tool_search_tool_regex",
)


class _Anthropic(_Draft):
    shape = "anthropic"
    running: list[_Call]  # server calls without a result: it opens the next assistant message

    def begin(self) -> None:
        """Add nothing: the system prompt is no message here."""
        self.running = []

    # what users write

    def opening(self, first: bool) -> None:
        self.speak()
        self.repeat((33, 50), self.speak)
        if self.chance(10):
            content: Any = self.solid()
            if self.chance(40):
                content = [{"type": "text", "text": content}]
            self.add({"role": "system", "content": content})
            # It has to be followed by an assistant turn, or be the last.
            if not (self.last and self.chance(20)):
                self.answer()
            elif not self.chance(50):
                self.ended = True

    def user(self) -> Item:
        if not self.chance(30):
            return {"role": "user", "content": self.solid()}
        return {"role": "user", "content": [self.part() for _ in range(1 + self.below(3))]}

    def part(self) -> Item:
        def text() -> Item:
            return {"type": "text", "text": self.solid()}

        plain = {"type": "text", "media_type": "text/plain", "data": "a\x00 & <b>"}
        pdf = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
        return self.pick_lazily(
            (
                text,
                lambda: {**text(), "cache_control": {"type": "ephemeral"}},
                {"type": "image", "source": _IMAGE},
                {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
                {"type": "document", "source": plain, "title": "T", "context": "C"},
                {"type": "document", "source": pdf, "citations": {"enabled": True}},
                lambda: {"type": "search_result", "source": "s", "title": "T", "content": [text()]},
                {"type": "container_upload", "file_id": "file_1"},
            )
        )

    # what the model writes

    def assistant(self, blocks: list[Item]) -> None:
        content: list[Any] = blocks
        if self.sdk_percent:
            from anthropic.types import ContentBlock
            from anthropic.types.beta import BetaContentBlock

            types = _sdk_types(ContentBlock, BetaContentBlock)
            content = [
                types[block["type"]].construct(**block)
                if block["type"] in types and self.chance(self.sdk_percent)
                else block
                for block in blocks
            ]
        self.add({"role": "assistant", "content": content})

    def begun(self) -> list[Item]:
        """Return how an assistant message begins: results that are due, then thinking."""
        due, self.running = self.running, []
        blocks = [self.server_result(call) for call in due]
        if self.chance(35):
            if self.chance(25):
                blocks.append({"type": "redacted_thinking", "data": "EmwKAhgB"})
            else:
                thought = {"thinking": self.text(), "signature": self.fresh("sig")}
                blocks.append({"type": "thinking", **thought})
        return blocks

    def answer(self) -> None:
        blocks = self.begun()
        if self.options.opaque and not blocks and self.chance(20):
            blocks = [{"type": "compaction", "content": self.pick((self.solid(), None))}]
        if not blocks and self.last and self.chance(15):
            self.assistant([])  # legal in the last message only
            self.ended = True
            return
        if not blocks and self.chance(50):
            self.add({"role": "assistant", "content": self.solid()})
            return
        if self.chance(20):
            self.server_pair(blocks)
        text: Item = {"type": "text", "text": self.solid()}
        if self.chance(15):
            where = {"type": "web_search_result_location", "url": "https://example.com"}
            what = {"title": "T", "encrypted_index": "Eo", "cited_text": "c"}
            text["citations"] = [{**where, **what}]
        self.assistant([*blocks, text])

    def step(self) -> None:
        blocks = self.begun()
        if self.chance(40):
            blocks.append({"type": "text", "text": self.solid()})
        if self.chance(20):
            self.server_pair(blocks)
        if self.chance(15):
            self.server_use(blocks)
        step: list[_Call] = []
        # A paused turn holds server calls alone; the assistant goes on without a user.
        if not (self.running and self.chance(30)):
            step.append(self.tool_use(blocks, step))
            self.repeat((67, 50, 50), lambda: step.append(self.tool_use(blocks, step)))
        self.assistant(blocks)
        if step:
            self.results(step)
        elif not (self.last and self.options.open_calls and self.chance(25)):
            self.answer()
        else:
            self.ended = True
        if self.running and not self.ended and not (self.last and self.options.open_calls):
            self.answer()

    def tool_use(self, blocks: list[Item], step: list[_Call]) -> _Call:
        call_id = self.fresh("toolu")
        if self.options.broken and self.chance(8):
            call_id = self.call_id(step)
            self.valid = self.valid and all(call.id != call_id for call in self.calls)
        arguments = self.pick_lazily(
            ({}, {"q": 1}, lambda: {"q": self.text(), "n": [None, {"k": 2.5}]})
        )
        call = _Call(call_id, self.tool_name(), len(self.items), arguments=arguments)
        use = {"type": "tool_use", "id": call_id, "name": call.name, "input": arguments}
        blocks.append(use)
        return self.called(call)

    def results(self, step: list[_Call]) -> None:
        now = self.settled(step)
        if self.ended and self.last:
            return  # a message with some of the results only would be refused
        if not now:
            return
        blocks = [self.result(call) for call in now]
        if not self.ended and not self.running and self.chance(15):
            self.openers.append(len(self.items))
            blocks += [self.part() for _ in range(self.below(2))]
            blocks.append({"type": "text", "text": self.solid()})
        self.add({"role": "user", "content": blocks})

    def result(self, call: _Call) -> Item:
        block: Item = {"type": "tool_result", "tool_use_id": call.id}
        text: str | None = ""
        match self.below(10):
            case 4:
                pass  # no content at all
            case 5:
                block["content"] = self.pick(("", []))
            case 6 | 7:
                text = self.solid()
                block["content"] = [{"type": "text", "text": text}]
            case 8:
                text = self.solid()
                picture = {"type": "image", "source": _IMAGE}
                block["content"] = [{"type": "text", "text": text}, picture]
            case 9:
                text = None
                hit = {"source": "s", "title": "T"}
                words = [{"type": "text", "text": self.solid()}]
                block["content"] = [{"type": "search_result", **hit, "content": words}]
            case _:
                text = block["content"] = self.text()
        roll = self.below(10)
        failed = roll >= 8
        if roll >= 7:
            block["is_error"] = failed
        self.answered(call, text, failed=failed)
        return block

    # calls that the server answers

    def server_pair(self, blocks: list[Item]) -> None:
        """Add a server call and its result to one message."""
        if self.chance(25):
            self.mcp_pair(blocks)
            return
        self.server_use(blocks)
        blocks.append(self.server_result(self.running.pop()))

    def server_use(self, blocks: list[Item]) -> None:
        call = _Call(self.fresh("srvtoolu"), self.pick(_SERVER_TOOLS), len(self.items), "server")
        call.arguments = {"query": self.text()}
        use = {"type": "server_tool_use", "id": call.id, "name": call.name}
        blocks.append({**use, "input": call.arguments})
        self.running.append(self.called(call))

    def mcp_pair(self, blocks: list[Item]) -> None:
        call = _Call(self.fresh("mcptoolu"), "send", len(self.items), "server", {"to": "ada"})
        use = {"type": "mcp_tool_use", "id": call.id, "name": call.name, "server_name": "mail"}
        text, failed = self.solid(), self.chance(30)
        answer = {"type": "mcp_tool_result", "tool_use_id": call.id, "is_error": failed}
        blocks.append({**use, "input": call.arguments})
        blocks.append({**answer, "content": [{"type": "text", "text": text}]})
        self.called(call)
        call.result_index, call.result_text, call.failed = len(self.items), text, failed

    def server_result(self, call: _Call) -> Item:
        kind = "tool_search" if call.name.startswith("tool_search") else call.name
        failed = self.chance(25)
        content: Any = {"error_code": "unavailable", "type": f"{kind}_tool_result_error"}
        if not failed:
            content = self.server_content(call.name)
        call.result_index, call.failed = len(self.items), failed
        return {"type": f"{kind}_tool_result", "tool_use_id": call.id, "content": content}

    def server_content(self, name: str) -> Any:
        if name == "web_search":
            page: Item = {"url": "https://example.com", "title": self.text(), "page_age": None}
            return [{"type": "web_search_result", "encrypted_content": "Eo8", **page}]
        if name == "web_fetch":
            plain = {"type": "text", "media_type": "text/plain", "data": self.text()}
            found: Item = {"type": "document", "source": plain}
            return {"type": "web_fetch_result", "url": "https://example.com", "content": found}
        if name == "text_editor_code_execution":
            view = {"type": f"{name}_view_result", "file_type": "text"}
            return {**view, "content": self.text()}
        if name.startswith("tool_search"):
            names = [{"type": "tool_reference", "tool_name": "get_order"}]
            return {"type": "tool_search_tool_search_result", "tool_references": names}
        run = {"stdout": self.text(), "stderr": "", "return_code": 0, "content": []}
        return {"type": f"{name}_result", **run}


# --- the strategies -----------------------------------------------------------------------------

_DRAFTS: dict[str, type[_Draft]] = {c.shape: c for c in (_Chat, _Responses, _Anthropic)}


@st.composite
def _drawn(draw: DrawFn, shape: str, options: _Options) -> History:
    return _DRAFTS[shape](draw, options).history()


def histories(
    shape: str | None = None,
    *,
    max_turns: int = 5,
    sdk_objects: bool = True,
    open_calls: bool = True,
    broken: bool = False,
    allow_late: bool = True,
    opaque: bool = False,
) -> SearchStrategy[History]:
    """Draw native histories with the truth about their calls.

    Args:
        shape: One of `SHAPES`; None draws any of them.
        max_turns: Largest number of turns; 0 draws the prefix alone.
        sdk_objects: Whether some items (Anthropic: blocks) are the SDK's own objects.
        open_calls: Whether calls and approvals may be open at the end of the list, and Responses
            calls with `async` anywhere.
        broken: Whether the list may break the provider's rules in ways that leave the truth
            clear: abandoned calls, Chat results behind the next user message, Anthropic ids
            that recur. Such a history says `valid=False`.
        allow_late: Whether a plain Responses result may land behind the next user message.
        opaque: Whether the provider's own compaction items occur.

    Raises:
        KeyError: `shape` is none of `SHAPES`.
    """
    options = _Options(max_turns, sdk_objects, open_calls, broken, allow_late, opaque)
    chosen = SHAPES if shape is None else (_DRAFTS[shape].shape,)
    return st.one_of([_drawn(name, options) for name in chosen])


_JUNK: tuple[Any, ...] = (
    None,
    7,
    "text",
    [],
    {},
    {"role": "user"},
    {"role": "tool", "content": "x"},
    {"role": "assistant", "content": [None, 3, {}], "tool_calls": [None, {}]},
    {"type": "function_call_output"},
    {"type": "from_the_future", "data": 1},
)


_EDITS = st.lists(
    st.tuples(
        st.sampled_from(
            ("drop", "repeat", "copy", "swap", "cut the end", "cut the start", "other", "other")
        ),
        st.integers(0, 99),
        st.integers(0, 99),
        st.sampled_from(_JUNK),
    ),
    min_size=1,
    max_size=4,
)


@st.composite
def broken(
    draw: DrawFn, history_strategy: SearchStrategy[History], *, junk: bool = False
) -> History:
    """Draw a history and delete, duplicate, swap or cut off some of its items.

    Args:
        draw: Given by hypothesis; leave it out.
        history_strategy: What to start from.
        junk: Whether malformed items and items of unknown types are put in as well.

    Returns:
        A history with `valid=False`, without calls, openers and approvals: nothing is known.
    """
    # The edits come first: behind a long history hypothesis would seldom vary them.
    edits = draw(_EDITS)
    history = draw(history_strategy)
    items = list(history.items)
    for edit, place, other, malformed in edits:
        at, to = place * len(items) // 100, other * len(items) // 100
        match edit:
            case "drop":
                del items[at : at + 1]
            case "repeat":
                items[at:at] = items[at : at + 1]
            case "copy":
                items[at:at] = copy.deepcopy(items[at : at + 1])
            case "swap" if items:
                items[at], items[to] = items[to], items[at]
            case "cut the end":
                del items[at + 1 :]
            case "cut the start":
                del items[:at]
            case _ if junk:
                items.insert(at, copy.deepcopy(malformed))
            case _:
                del items[at : at + 2]
    return replace(history, items=items, calls=[], openers=[], approvals=[], valid=False)


# --- long histories -----------------------------------------------------------------------------

_WORDS = (
    *("the", "order", "parcel", "was", "delivered", "to", "our", "desk", "in", "Lisbon"),
    *("on", "Monday", "please", "check", "whether", "refund", "invoice", "warranty"),
    *("phone", "blue", "large", "before", "after", "nothing", "changed", "since", "then"),
)


def long_history(shape: str, n_items: int, seed: int) -> list[Any]:
    """Build a valid history of exactly `n_items` dicts, the same for the same seed.

    Args:
        shape: One of `SHAPES`.
        n_items: Number of items; 100,000 take about a second.
        seed: Seed of the random generator.

    Raises:
        KeyError: `shape` is none of `SHAPES`.
    """
    turn = {"openai_chat": _chat_turn, "openai_responses": _responses_turn}.get(
        shape, _anthropic_turn
    )
    name = _DRAFTS[shape].shape
    rng = random.Random(seed)
    items: list[Any] = []
    if name != "anthropic" and n_items:
        items.append({"role": "system", "content": "You are the help desk of a shop."})
    while len(items) < n_items:
        new = turn(rng, len(items))
        if len(items) + len(new) > n_items:
            new = [{"role": role, "content": _words(rng, 9)} for role in ("user", "assistant")]
        items += new[: n_items - len(items)]
    return items


def _words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(_WORDS, k=count))


def _long_calls(rng: random.Random, at: int) -> list[tuple[str, Item, str]]:
    """Return 0 to 3 calls as (call id, arguments, result text)."""
    calls: list[tuple[str, Item, str]] = []
    for n in range(rng.choice((0, 1, 1, 2, 3))):
        order = f"LK-{rng.randrange(10**6):06}"
        result = {"order": order, "total": rng.randrange(9000) / 100, "note": _words(rng, 25)}
        calls.append((f"call_{at}_{n}", {"order": order}, json.dumps(result)))
    return calls


def _chat_turn(rng: random.Random, at: int) -> list[Any]:
    items: list[Any] = [{"role": "user", "content": _words(rng, 12)}]
    calls = _long_calls(rng, at)
    if calls:
        members = [
            {
                "id": call_id,
                "type": "function",
                "function": {"name": "get_order", "arguments": json.dumps(arguments)},
            }
            for call_id, arguments, _ in calls
        ]
        items.append({"role": "assistant", "content": None, "tool_calls": members})
        rng.shuffle(calls)
        items += [{"role": "tool", "tool_call_id": i, "content": text} for i, _, text in calls]
    items.append({"role": "assistant", "content": _words(rng, 30)})
    return items


def _responses_turn(rng: random.Random, at: int) -> list[Any]:
    said = [{"type": "input_text", "text": _words(rng, 12)}]
    items: list[Any] = [{"type": "message", "role": "user", "content": said}]
    calls = _long_calls(rng, at)
    if calls:
        hidden = {"encrypted_content": f"gAAAA{rng.getrandbits(400):x}"}
        items.append({"type": "reasoning", "id": f"rs_{at}", "summary": [], **hidden})
    for call_id, arguments, _ in calls:
        call = {"type": "function_call", "id": f"fc{call_id[4:]}", "call_id": call_id}
        body = {"name": "get_order", "arguments": json.dumps(arguments), "status": "completed"}
        items.append({**call, **body})
    rng.shuffle(calls)
    items += [
        {"type": "function_call_output", "call_id": i, "output": text} for i, _, text in calls
    ]
    return [*items, _output_message(f"msg_{at}", _words(rng, 30))]


def _anthropic_turn(rng: random.Random, at: int) -> list[Any]:
    items: list[Any] = [{"role": "user", "content": _words(rng, 12)}]
    calls = _long_calls(rng, at)
    if calls:
        uses = [
            {"type": "tool_use", "id": call_id, "name": "get_order", "input": arguments}
            for call_id, arguments, _ in calls
        ]
        items.append({"role": "assistant", "content": uses})
        rng.shuffle(calls)
        results = [
            {"type": "tool_result", "tool_use_id": i, "content": text} for i, _, text in calls
        ]
        items.append({"role": "user", "content": results})
    said = [{"type": "text", "text": _words(rng, 30)}]
    return [*items, {"role": "assistant", "content": said}]


def _output_message(item_id: str, text: str) -> Item:
    parts = [{"type": "output_text", "text": text, "annotations": []}]
    item = {"type": "message", "id": item_id, "role": "assistant", "status": "completed"}
    return {**item, "content": parts}


# --- the support call ---------------------------------------------------------------------------

_MAIL = "noor.haddad@example.com"
_SERIAL = "ACB-PRO-7F29D4"
_LABEL = "https://returns.example.com/labels/RMA-90721.pdf"
_SCRIPT: tuple[tuple[Any, ...], ...] = (
    ("system", "You are the support agent of Acme Audio. Be brief. Check facts with your tools."),
    ("user", "Hello, my earbuds have started to crackle."),
    ("assistant", "I am sorry to hear that. Under which name and mail address did you order?"),
    ("user", f"Noor Haddad, {_MAIL}."),
    ("assistant", "Thank you. Do you have the order number, and when did you buy them?"),
    ("user", "LK-4821936. I bought them on October 7."),
    (
        "lookup_order",
        {"order_number": "LK-4821936", "email": _MAIL},
        {
            "status": "delivered October 8",
            "product": "Acme Buds Pro",
            "sku": "AC-EBD-PRO",
            "purchase_date": "2025-10-07",
        },
    ),
    ("assistant", "I found your Acme Buds Pro. Which phone do you use them with?"),
    ("user", "With an iPhone 14 Pro on iOS 18.0.1."),
    ("assistant", "Please pair them again, and try another device if you have one."),
    ("user", "I have paired them twice. They crackle on my tablet as well."),
    ("assistant", "Is anything damaged, and since when do you hear it?"),
    ("user", "No damage. It began on October 9. I scanned the label in the case with your app."),
    (
        "check_warranty",
        {"serial_number": _SERIAL, "purchase_date": "2025-10-07"},
        {"eligible": True, "valid_until": "2026-10-07"},
    ),
    ("assistant", "We will replace them free of charge. Where should we send the new pair?"),
    ("user", "To 12 Quay Street, Galway. My phone number is +353 91 555 0142."),
    (
        "create_rma",
        {
            "order_number": "LK-4821936",
            "serial_number": _SERIAL,
            "reason": "crackling in both earbuds",
            "customer": {"name": "Noor Haddad", "address": "12 Quay Street, Galway"},
        },
        {"rma": "RMA-90721", "ships_in_days": 2},
    ),
    ("transfer_to_returns_agent", {}, {"assistant": "returns agent"}),
    (
        "generate_return_label",
        {"rma": "RMA-90721", "email": _MAIL},
        {"url": _LABEL, "due_in_days": 14},
    ),
    (
        "assistant",
        f"Your replacement leaves within 2 days (RMA-90721). Use this label in 14 days: {_LABEL}",
    ),
)


def support_call(shape: str) -> list[Any]:
    """Build the support call: four tool calls and a handoff, the address in the last turn.

    The purchase year and the serial number stand in tool data only.

    Returns:
        25 items; 24 for `anthropic`, whose system prompt is no message.

    Raises:
        KeyError: `shape` is none of `SHAPES`.
    """
    name = _DRAFTS[shape].shape
    items: list[Any] = []
    for number, (kind, *rest) in enumerate(_SCRIPT):
        if len(rest) == 2:
            items += _script_call(name, number, kind, *rest)
        elif kind == "system" and name == "anthropic":
            continue
        elif kind == "assistant" and name == "openai_responses":
            items.append(_output_message(f"msg_{number}", rest[0]))
        elif kind == "user" and name == "openai_responses":
            said = [{"type": "input_text", "text": rest[0]}]
            items.append({"type": "message", "role": "user", "content": said})
        else:
            items.append({"role": kind, "content": rest[0]})
    return items


def _script_call(shape: str, number: int, name: str, arguments: Item, result: Item) -> list[Any]:
    text, written = json.dumps(result), json.dumps(arguments)
    call_id = f"{'toolu' if shape == 'anthropic' else 'call'}_{number}"
    if shape == "openai_chat":
        function = {"name": name, "arguments": written}
        calls = [{"id": call_id, "type": "function", "function": function}]
        return [
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": call_id, "content": text},
        ]
    if shape == "anthropic":
        use = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
        answer = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [answer]}]
    call = {"type": "function_call", "id": f"fc_{number}", "call_id": call_id, "name": name}
    return [
        {**call, "arguments": written, "status": "completed"},
        {"type": "function_call_output", "call_id": call_id, "output": text},
    ]
