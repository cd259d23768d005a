"""What drafts of all shapes share: texts, choices, the course of a history, and its truth.

Belongs here: what a `Draft` of any shape uses. Nothing here imports chatfold, so that the truth
owes nothing to it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar, get_args

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

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
def below(n: int) -> SearchStrategy[int]:
    return st.integers(0, n - 1)


# --- what all shapes share ----------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    max_turns: int
    sdk_objects: bool
    open_calls: bool
    broken: bool
    allow_late: bool
    opaque: bool


@dataclass(eq=False)  # two calls of one step may be alike in every field
class DrawnCall:
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


class Draft:
    """One history while it is drawn: turns of an opening, some steps and an answer.

    Every choice puts the plain case at 0, so that hypothesis shrinks towards plain histories.
    """

    shape = ""

    def __init__(self, draw: DrawFn, options: Options) -> None:
        self.draw = draw
        self.options = options
        self.items: list[Any] = []
        self.calls: list[DrawnCall] = []
        self.openers: list[int] = []
        self.approvals: list[int] = []
        self.valid = True
        self.last = False
        self.ended = False  # calls are left open: nothing may follow in this turn
        self.spent: list[str] = []  # ids of answered calls, free to recur
        self.waiting: list[DrawnCall] = []  # calls that are answered after a later opener
        self.serial = 0
        self.turns = 0
        self.rounds: list[tuple[list[int], Callable[[], Any]]] = []
        self.round = below(100).map(self.next_round)
        self.sdk_percent = (0, 30, 100)[self.below(3)] if options.sdk_objects else 0

    # choices

    def below(self, n: int) -> int:
        return self.draw(below(n)) if n > 1 else 0

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

    def call_id(self, step: Iterable[DrawnCall] = ()) -> str:
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

    def called(self, call: DrawnCall) -> DrawnCall:
        self.calls.append(call)
        return call

    def answered(self, call: DrawnCall, text: str | None, *, failed: bool = False) -> None:
        """Note that the item that is added next holds the result of `call`."""
        call.result_index, call.result_text, call.failed = len(self.items), text, failed
        if call.id not in (None, *self.spent) and not call.asynchronous:
            self.spent.append(str(call.id))

    def bound(self, order: Iterable[DrawnCall], step: Iterable[DrawnCall]) -> list[DrawnCall]:
        """Return the calls that results in `order` answer: the first open one of their id."""
        queues: dict[tuple[str, str], list[DrawnCall]] = {}
        for call in step:
            if call.result_index is None:
                queues.setdefault(call.key, []).append(call)
        return [queues[call.key].pop(0) for call in order]

    def settled(self, step: list[DrawnCall]) -> list[DrawnCall]:
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
            turn = below(100).map(self.turn)
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
def sdk_types(*unions: Any) -> dict[str, Any]:
    """Return the SDK classes of discriminated unions by the `type` that they carry.

    Types that the installed SDK does not know yet are missing; their items stay dicts.
    """
    found: dict[str, Any] = {}
    for union in unions:
        for member in get_args(get_args(union)[0]):
            found.setdefault(get_args(member.model_fields["type"].annotation)[0], member)
    return found


# --- long histories ------------------------------------------------------------------------------

PNG = "data:image/png;base64,iVBORw0KGgo="

_WORDS = (
    *("the", "order", "parcel", "was", "delivered", "to", "our", "desk", "in", "Lisbon"),
    *("on", "Monday", "please", "check", "whether", "refund", "invoice", "warranty"),
    *("phone", "blue", "large", "before", "after", "nothing", "changed", "since", "then"),
)


def words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(_WORDS, k=count))


def long_calls(rng: random.Random, at: int) -> list[tuple[str, Item, str]]:
    """Return 0 to 3 calls as (call id, arguments, result text)."""
    calls: list[tuple[str, Item, str]] = []
    for n in range(rng.choice((0, 1, 1, 2, 3))):
        order = f"LK-{rng.randrange(10**6):06}"
        result = {"order": order, "total": rng.randrange(9000) / 100, "note": words(rng, 25)}
        calls.append((f"call_{at}_{n}", {"order": order}, json.dumps(result)))
    return calls
