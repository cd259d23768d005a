"""The suite that every shape passes; a new shape brings a `Writer`, and a class that has it.

    class TestOpenAIChat(ShapeConformance):
        writer = ChatWriter()

Belongs here: what holds in every shape. Not here: one provider's own types and rules.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import pytest
from shapes.sdk_types import ServiceShape, refusal, union_named
from validator import validate

from chatfold import ChatContext, Middleware, Policy, Prompt
from chatfold.core.native import field
from chatfold.core.render import conversation
from chatfold.core.views import MediaPart, Shape, SummaryPart, TextPart, texts
from chatfold.errors import ShapeError
from chatfold.shapes import SHAPES, shape_named
from chatfold.stores import MemoryStore

__all__ = ["Call", "ShapeConformance", "Writer"]

_WORDS = "Où est ma commande?\n<b>注文</b> &amp; \x00 \ud800 {{ x }}"
_ROLES = ("system", "developer", "user", "assistant", "tool", "function", "model", "other")
_LONG = "The parcel left the warehouse and is on its way to the customer. " * 40


@dataclass(frozen=True)
class Call:
    """A tool call and its result, as a test means them."""

    id: str
    name: str
    arguments: dict[str, Any]
    result: str
    failed: bool = False


class Writer(Protocol):
    """How one provider writes items: all that the suite has to know of it.

    Attributes:
        shape: Name of the shape.
        union: Where the SDK has the union of its input items, as `module:name`.
        fails: Whether the provider has a field that says that a result is a failure.
    """

    shape: str
    union: str
    fails: bool

    def system(self, text: str) -> Any | None:
        """Return a leading instruction, None where it is no item."""

    def user(self, text: str) -> Any: ...

    def picture(self, text: str, data: str) -> Any:
        """Return a user's message with words and an inline PNG, given as base64."""

    def assistant(self, text: str, *, sdk: bool = False) -> Any: ...

    def calls(self, *calls: Call, sdk: bool = False) -> list[Any]:
        """Return one step of the model, with all calls."""

    def results(self, *calls: Call) -> list[Any]:
        """Return the results, in the order given."""

    def joined(self, results: list[Any]) -> list[Any]:
        """Return results as the provider wants those of one step."""

    def unknown(self) -> list[Any]:
        """Return items of this provider that no SDK knows yet: whole items, or with new parts."""

    def malformed(self) -> list[Any]:
        """Return items that this provider would refuse, because something is missing or wrong."""


# Mistral takes nine letters and digits alone.
ONE = Call("callAAAA1", "get_order", {"order": "LK-20417"}, '{"total": 12.5}')
TWO = Call("callAAAA2", "get_stock", {"sku": "A/7", "größe": [1, None]}, "3 left")
SAME_ID = Call("callAAAA1", "get_price", {}, "")
FAILED = Call("callAAAA3", "refund", {"amount": 3}, "no such order", failed=True)
# Where each SDK has the type of one tool.
TOOL_TYPES: dict[str, str | ServiceShape] = {
    "openai_chat": "openai.types.chat:ChatCompletionToolParam",
    "openai_responses": "openai.types.responses:FunctionToolParam",
    "anthropic": "anthropic.types:ToolParam",
    "gemini": "google.genai.types:ToolDict",
    "bedrock": ServiceShape("bedrock-runtime", "Tool"),
    "ollama": "ollama:Tool",
    "mistral": "mistralai.client.models:ToolTypedDict",
}
ANYWHERE_MALFORMED: tuple[Any, ...] = (
    None,
    3,
    "text",
    [],
    ["role", "user"],
    {},
    {"role": 5},
    {"role": []},
    {"role": None, "content": None},
    {"role": "user", "content": 5},
    {"role": "user", "content": [None]},
    {"role": "user", "content": [[]]},
    {"role": "user", "content": {}},
    {"type": []},
    {"type": 5},
    object(),
)


class ShapeConformance:
    """What holds in every shape; a subclass sets `writer`."""

    writer: Writer
    ids = True  # whether the provider's own objects have call ids
    item_type: type = dict  # of the items that are written

    @pytest.fixture(params=["hint", "no hint"])
    def hint(self, request: pytest.FixtureRequest) -> str | None:
        """The shape's name, or None."""
        return self.writer.shape if request.param == "hint" else None

    def context(self, items: list[Any], hint: str | None) -> ChatContext[Any]:
        return ChatContext(items, shape=hint)

    def reloaded(self, items: list[Any], hint: str | None) -> ChatContext[Any]:
        """Return a context on the items as they are after a JSON round trip."""
        return self.context(json.loads(json.dumps(items)), hint)

    def shape(self) -> Shape:
        return shape_named(self.writer.shape)

    def tool_type(self) -> Any:
        """Return the SDK's type of one tool."""
        wanted = TOOL_TYPES[self.writer.shape]
        return wanted if isinstance(wanted, ServiceShape) else union_named(wanted)

    def refused(self, item: Any) -> str:
        """Return why the SDK would not take an item as input, "" where it would."""
        return refusal(union_named(self.writer.union), item)

    def errors(self, items: list[Any]) -> list[Any]:
        """Return what an independent validator says the provider would refuse."""
        return list(validate(items, self.writer.shape))

    def remarks(self, items: Sequence[Any]) -> list[tuple[str, int]]:
        """Return what `check` says of items of `history`: each rule, and the item's index."""
        return []

    def history(self, *, sdk: bool = False) -> list[Any]:
        """Two finished turns: a tool round of two parallel calls, and plain words."""
        w = self.writer
        system = w.system("Be brief.")
        return [
            *([] if system is None else [system]),
            w.user(f"Where is my order? {_LONG}"),
            *w.calls(ONE, TWO, sdk=sdk),
            *w.results(ONE, TWO),
            w.assistant(f"On its way. {_LONG}", sdk=sdk),
            w.user("Thanks"),
            w.assistant("You are welcome.", sdk=sdk),
        ]

    # Reading

    def test_what_a_user_and_an_assistant_say_is_read_word_for_word(self, hint: str | None) -> None:
        """Role and text come back exactly, whatever characters they hold."""
        w = self.writer
        items = [w.user(_WORDS), w.assistant("a" + _WORDS), w.user("b")]
        views = self.context(items, hint).views()
        assert [v.role for v in views] == ["user", "assistant", "user"]
        assert [v.parts for v in views] == [
            (TextPart(_WORDS),),
            (TextPart("a" + _WORDS),),
            (TextPart("b"),),
        ]

    def test_a_tool_round_is_one_completed_call(self, hint: str | None) -> None:
        """The record has id, name, arguments and result, and the indices of both items."""
        w = self.writer
        items = [w.user("hi"), *w.calls(ONE), *w.results(ONE), w.assistant("done")]
        (record,) = self.context(items, hint).tool_calls()
        id_ = ONE.id if self.ids else None
        assert (record.id, record.name, record.result) == (id_, ONE.name, ONE.result)
        assert record.arguments == ONE.arguments
        assert (record.status, record.completed) == ("completed", True)
        assert (record.call_index, record.result_index) == (1, 2)
        assert (record.shape, record.kind) == (w.shape, "function")

    def test_parallel_calls_get_their_own_results_in_any_order(self, hint: str | None) -> None:
        """Results are told apart by id, and nothing of the step can be cut apart."""
        w = self.writer
        step, results = w.calls(ONE, TWO), w.results(TWO, ONE)
        items = [w.user("hi"), *step, *results, w.assistant("done")]
        ctx = self.context(items, hint)
        assert [(r.name, r.result) for r in ctx.tool_calls()] == [
            (ONE.name, ONE.result),
            (TWO.name, TWO.result),
        ]
        inside = range(2, 1 + len(step) + len(results))
        assert not set(inside) & set(ctx.cut_points())
        assert ctx.cut_points() == [i for i in range(len(items) + 1) if i not in inside]

    def test_two_calls_with_one_id_in_two_rounds_get_their_own_results(
        self, hint: str | None
    ) -> None:
        """A result binds to the latest step that waits for it, so ids may recur."""
        w = self.writer
        again = Call(ONE.id, "get_price", {}, "9.90")
        rounds = [
            *w.calls(ONE),
            *w.results(ONE),
            w.user("and?"),
            *w.calls(again),
            *w.results(again),
        ]
        records = self.context([w.user("hi"), *rounds], hint).tool_calls()
        assert [(r.name, r.result) for r in records] == [(c.name, c.result) for c in (ONE, again)]

    def test_two_calls_with_one_id_in_one_step_get_their_own_results(
        self, hint: str | None
    ) -> None:
        """Inside a step, the first result is the first call's."""
        w = self.writer
        first = Call(ONE.id, "a", {}, "first")
        second = Call(ONE.id, "b", {}, "second")
        items = [w.user("hi"), *w.calls(first, second), *w.results(first, second)]
        records = self.context(items, hint).tool_calls()
        assert [(r.name, r.result) for r in records] == [("a", "first"), ("b", "second")]

    def test_a_failed_result_is_a_result_of_its_own_status(self, hint: str | None) -> None:
        """Where the provider can say that a call failed, the record says so; it has a result."""
        w = self.writer
        if not w.fails:
            pytest.skip(f"{w.shape} has no field for it")
        items = [w.user("hi"), *w.calls(FAILED), *w.results(FAILED), w.assistant("sorry")]
        (record,) = self.context(items, hint).tool_calls()
        assert (record.status, record.completed, record.result) == ("failed", True, FAILED.result)

    def test_a_result_is_no_word_of_the_user(self, hint: str | None) -> None:
        """Where results come in the user's name, the other calls of their step are still open."""
        w = self.writer
        items = [w.user("hi"), *w.calls(ONE, TWO), *w.results(ONE)]
        ctx = self.context(items, hint)
        assert [record.status for record in ctx.tool_calls()] == ["completed", "open"]
        assert len(ctx.turns()) == 1

    def test_a_call_without_a_result_is_open_and_blocks_every_cut_behind_it(
        self, hint: str | None
    ) -> None:
        """An open call stays, at any limit; once the user went on without it, it is abandoned."""
        w = self.writer
        items = [w.user("a"), w.assistant("b"), w.user("c"), *w.calls(ONE)]
        ctx = self.context(items, hint)
        assert [r.status for r in ctx.tool_calls()] == ["open"]
        assert ctx.cut_points() == [0, 1, 2, 3]
        assert ctx.plan(keep_last_turns=0).index <= 3
        assert {p.severity for p in ctx.check()} == {"pending"}
        ctx.append(w.user("never mind"))
        assert [r.status for r in ctx.tool_calls()] == ["abandoned"]
        assert ctx.cut_points() == [0, 1, 2, 3, 4, 5]

    def test_a_result_without_a_call_is_recorded_and_reported(self, hint: str | None) -> None:
        """An orphan has a record without a call index, and its index is in a problem."""
        w = self.writer
        items = [w.user("hi"), *w.results(ONE), w.assistant("done")]
        ctx = self.context(items, hint)
        (record,) = ctx.tool_calls()
        assert (record.call_index, record.result_index, record.result) == (None, 1, ONE.result)
        found = ctx.check()
        # A server that takes any order refuses nothing, and it is a warning there.
        errors = [p for p in found if p.severity == "error"] or found
        assert [(p.rule, p.index) for p in errors] == [("orphan_result", 1)]

    def test_a_medium_is_named_and_measured_and_its_bytes_are_never_read(
        self, hint: str | None
    ) -> None:
        """An image is an attachment with its type and size; base64 enters no prompt."""
        data = "iVBORw0KGgo" * 30 + "="
        items = [self.writer.picture("look", data), self.writer.assistant("I see")]
        ctx = self.context(items, hint)
        view = ctx.views()[0]
        (medium,) = [p for p in view.parts if type(p) is MediaPart]
        assert (medium.kind, medium.type) == ("image", "image/png")
        assert medium.bytes == len(data) * 3 // 4 - 1
        rendered = conversation(ctx.views(), ctx.tool_calls())
        assert data[:20] not in rendered.xml
        assert rendered.omitted == {"media": 1}

    def test_an_sdk_object_is_read_like_the_dict_it_stands_for(self, hint: str | None) -> None:
        """Lists of dicts, of objects, and of both, have the same readings and no errors."""
        plain, objects = self.history(), self.history(sdk=True)
        mixed = [d if i % 2 else o for i, (d, o) in enumerate(zip(plain, objects, strict=True))]
        expected = self.context(plain, hint)
        for items in (objects, mixed):
            ctx = self.context(items, hint)
            assert ctx.shape is self.shape()
            assert [(v.role, v.parts) for v in ctx.views()] == [
                (v.role, v.parts) for v in expected.views()
            ]
            assert ctx.tool_calls() == expected.tool_calls()
            assert ctx.cut_points() == expected.cut_points()
            assert [(p.rule, p.index) for p in ctx.check()] == self.remarks(items)

    def test_tuples_are_read_like_lists(self, hint: str | None) -> None:
        """The SDKs' types take any iterable of blocks and of calls, and send a tuple as a list."""
        plain = self.history()
        expected, ctx = self.context(plain, hint), self.context([*map(_tupled, plain)], hint)
        assert [(v.role, v.parts) for v in ctx.views()] == [
            (v.role, v.parts) for v in expected.views()
        ]
        assert ctx.tool_calls() == expected.tool_calls()
        assert ctx.cut_points() == expected.cut_points()
        assert ctx.check() == []
        assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
        assert ctx.check() == []

    def test_no_other_shape_claims_the_items(self) -> None:
        """A tool round is of this shape alone: the others say no, or at most maybe."""
        for item in self.history():
            for shape in SHAPES:
                if shape.name != self.writer.shape:
                    assert shape.fit(item) != "yes", (shape.name, item)

    @pytest.mark.parametrize("role", _ROLES)
    @pytest.mark.parametrize("text", ["", _WORDS, _LONG, "<chat_history_summary digest=''>"])
    def test_of_a_message_of_a_role_and_a_text_the_role_alone_decides(
        self, role: str, text: str
    ) -> None:
        shape = self.shape()
        fits = shape.fit({"role": role, "content": text})
        assert fits == shape.fit({"role": role, "content": "Hello."})

    def test_leading_instructions_are_never_folded(self, hint: str | None) -> None:
        """The system prompt stays the first item, the same object, at any limit."""
        system = self.writer.system("Be brief.")
        if system is None:
            pytest.skip(f"{self.writer.shape} has no leading instruction among its items")
        items = self.history()
        ctx = self.context([system, *items[1:]], hint)
        ctx.summarize(lambda prompt: "short", keep_last_turns=0)
        assert ctx.items[0] is system

    # What is new or broken

    def test_an_unknown_item_passes_through_with_a_warning(self, hint: str | None) -> None:
        """What a newer SDK writes is kept in the tail, shown in the prompt, and reported."""
        w = self.writer
        for unknown in w.unknown():
            items = [*self.history(), w.user("go on"), unknown, w.assistant("ok")]
            at = len(items) - 2
            ctx = self.context(items, hint)
            found = [p for p in ctx.check() if p.index == at]
            assert {p.severity for p in found} <= {"warning"}, found
            assert found, unknown
            tail = items[at:]
            assert ctx.summarize(lambda prompt: "short", keep_last_turns=1)
            assert all(a is b for a, b in zip(ctx.items[-2:], tail, strict=True))
            last = ctx.plan(keep_last_turns=0)
            assert last.prompt is not None
            assert "brand_new" in last.prompt.user

    def test_a_malformed_item_is_reported_by_its_index_and_breaks_nothing_else(
        self, hint: str | None
    ) -> None:
        """Every reading goes through, and the items around are read as if it were not there."""
        before, after = self.history(), [self.writer.user("next"), self.writer.assistant("ok")]
        for bad in (*ANYWHERE_MALFORMED, *self.writer.malformed()):
            ctx = self.context([*before, bad, *after], hint)
            self.read_all(ctx)
            at = len(before)
            assert any(at in p.indices for p in ctx.check()), bad
            around = self.context([*before, *after], hint)
            views = list(ctx.views())
            assert views[:at] + views[at + 1 :] == list(around.views()), bad

    def test_a_malformed_item_alone_in_a_list_breaks_nothing(self, hint: str | None) -> None:
        """Even where nothing else is in the list, nothing raises."""
        for bad in (*ANYWHERE_MALFORMED, *self.writer.malformed()):
            self.read_all(self.context([bad], hint))

    def read_all(self, ctx: ChatContext[Any]) -> None:
        """Call every reading, and plan."""
        ctx.views()
        ctx.tool_calls()
        ctx.turns()
        ctx.cut_points()
        ctx.cut_points(lossy=True)
        ctx.count_tokens()
        ctx.check()
        ctx.request_options()
        ctx.plan(keep_last_turns=0)
        ctx.plan(keep_tokens=20)

    # Writing

    def test_the_summary_item_is_valid_input_for_the_sdk(self, hint: str | None) -> None:
        """It is a member of the SDK's union of input items, without any key of our own."""
        for text in ("short", _WORDS):
            ctx = self.context(self.history(), hint)
            outcome = ctx.summarize(lambda prompt, text=text: text, keep_last_turns=1)
            assert type(outcome.item) is self.item_type
            assert self.refused(outcome.item) == ""
            assert field(outcome.item, "role") == "user"

    def test_the_summary_is_recognized_by_a_fresh_context_after_a_json_round_trip(
        self, hint: str | None
    ) -> None:
        """No key on the item and no state is needed: its text says what it is."""
        ctx = self.context(self.history(), hint)
        outcome = ctx.summarize(lambda prompt: f"short {_WORDS}", keep_last_turns=1)
        assert outcome.changed
        reloaded = self.reloaded(ctx.items, hint)
        at = ctx.items.index(outcome.item)
        assert outcome.summary is not None
        first = reloaded.views()[at].parts[0]
        assert isinstance(first, SummaryPart)
        assert first.text == outcome.summary
        plan = reloaded.plan(keep_last_turns=0)
        assert plan.prompt is not None
        assert plan.prompt.previous_summary == outcome.summary

    def test_of_a_summary_beside_other_content_the_content_stays(self, hint: str | None) -> None:
        """A host may join what a user sends next to the summary: no second one is left of it."""
        w = self.writer
        talk = [w.user(_LONG), w.assistant("yes"), w.user("and?"), w.assistant("no")]
        ctx = self.context(list(talk), hint)
        assert ctx.summarize(lambda prompt: "What came first.", keep_last_turns=0).changed
        place = next(n for n, view in enumerate(ctx.views()) if type(view.parts[0]) is SummaryPart)
        text = next(t for t in texts(self.shape().read(ctx.items[place])) if t.startswith("<chat_"))
        picture = w.picture(text, "iVBORw0KGgo=")
        if type(self.shape().read(picture).parts[0]) is MediaPart:  # the words are to come first
            key = "content" if "content" in picture else "parts"
            picture[key].reverse()
        items = [*ctx.items[:place], picture, *ctx.items[place + 1 :], w.assistant("I see."), *talk]
        ctx = ChatContext(items, shape=self.shape(), pin=lambda item: "iVBORw0KGgo" in str(item))
        assert [type(part) for part in ctx.views()[place].parts] == [SummaryPart, MediaPart]
        assert ctx.summarize(lambda prompt: "What came then.", keep_last_turns=1).changed
        said = "".join(text for view in ctx.views() for text in texts(view))
        assert "What came first." not in said
        parts = [part for view in ctx.views() for part in view.parts]
        assert [type(part) for part in parts].count(SummaryPart) == 1
        assert [type(part) for part in parts].count(MediaPart) == 1

    def test_a_result_item_answers_its_call(self, hint: str | None) -> None:
        """The list with one result item for each open call is what the provider wants."""
        w = self.writer
        items = [w.user("hi"), *w.calls(ONE, TWO)]
        ctx = self.context(items, hint)
        shape = self.shape()
        results = [shape.result_item(c, f"for {c.name}") for c in ctx.tool_calls()]
        assert all(self.refused(r) == "" for r in results)
        ctx.extend(w.joined(results))
        assert [(c.status, c.result) for c in ctx.tool_calls()] == [
            ("completed", f"for {ONE.name}"),
            ("completed", f"for {TWO.name}"),
        ]
        assert self.errors(ctx.items) == []
        assert ctx.check() == []

    def test_a_result_item_says_that_the_call_failed_where_the_provider_can(
        self, hint: str | None
    ) -> None:
        """The failure is a field where there is one, and the text is kept in any case."""
        w = self.writer
        ctx = self.context([w.user("hi"), *w.calls(ONE)], hint)
        item = self.shape().result_item(ctx.tool_calls()[0], "broken", failed=True)
        assert self.refused(item) == ""
        ctx.append(item)
        (record,) = ctx.tool_calls()
        assert record.result == "broken"
        assert record.status == ("failed" if w.fails else "completed")

    def test_a_call_without_id_and_name_cannot_be_answered(self) -> None:
        """A result item for nothing is an error that says so."""
        w = self.writer
        (record,) = self.context([w.user("hi"), *w.calls(ONE)], w.shape).tool_calls()
        with pytest.raises(ShapeError):
            self.shape().result_item(replace(record, id=None, name=None), "text")

    def test_a_tool_definition_is_valid_for_the_sdk(self) -> None:
        """It is of the SDK's type of a tool, and says the name and the schema that were given."""
        shape = self.shape()
        type_ = self.tool_type()
        assert type_ is not None
        query = {"type": "string", "description": "What to look for."}
        for more in ({}, {"required": ["query"]}):
            schema = {"type": "object", "properties": {"query": query}, **more}
            said = copy.deepcopy(schema)
            tool = shape.tool_definition("recall", 'Look "folded" things up. ü', schema)
            assert refusal(type_, tool) == ""
            assert schema == said
            inside = json.dumps(tool, ensure_ascii=False)
            assert json.dumps(schema) in inside
            assert json.dumps('Look "folded" things up. ü', ensure_ascii=False) in inside
            assert '"name": "recall"' in inside

    def test_an_item_without_thinking_stays_the_same_object(self) -> None:
        """Words, calls and results are no thinking, in dicts and in SDK objects."""
        shape = self.shape()
        for sdk in (False, True):
            assert all(shape.without_thinking(i) is i for i in self.history(sdk=sdk))
        for bad in (*ANYWHERE_MALFORMED, *self.writer.malformed()):
            assert shape.without_thinking(bad) is bad

    # Folding

    def test_a_fold_leaves_a_list_that_the_provider_takes(self, hint: str | None) -> None:
        """At any limit the result is valid, the tail is the same objects, undo puts all back."""
        for sdk in (False, True):
            for turns in (0, 1):
                items = self.history(sdk=sdk)
                before = list(items)
                ctx = self.context(items, hint)
                plan = ctx.plan(keep_last_turns=turns)
                outcome = ctx.summarize(lambda prompt: "short", keep_last_turns=turns)
                assert outcome.changed
                assert ctx.items is items
                assert self.errors(items) == []
                assert [(p.rule, p.index) for p in ctx.check()] == self.remarks(items)
                tail = before[plan.index + len(outcome.merged) :]
                merged = before[plan.index : plan.index + len(outcome.merged)]
                assert all(a is b for a, b in zip(outcome.merged, merged, strict=True))
                assert all(
                    a is b for a, b in zip(items[len(items) - len(tail) :], tail, strict=True)
                )
                ctx.undo()
                assert len(items) == len(before)
                assert all(a is b for a, b in zip(items, before, strict=True))

    @pytest.mark.parametrize("stays", [1, 2, 3])
    def test_a_late_result_that_the_host_puts_in_is_told_when_it_goes(
        self, hint: str | None, stays: int
    ) -> None:
        """Its call is open until then, however many folds it stays in the tail for."""
        if not self.ids:
            pytest.skip(f"in {self.writer.shape}, nobody knows which call a result answers")
        w, late = self.writer, Call("callAAAA4", "refund", {"order": "LK-1"}, "Paid as TX-88121")
        talk = [w.user(f"Hello. {_LONG}"), w.assistant(f"Noted. {_LONG}")]
        ctx = self.context([*talk, w.user(_LONG), *w.calls(late), *talk * stays], hint)
        open_, done = (f"{part}:\n- refund(order=LK-1)" for part in ("open", "done"))

        def record() -> str:
            assert ctx.summarize(lambda prompt: "short", keep_last_turns=stays).changed
            return next(p.record for v in ctx.views() for p in v.parts if type(p) is SummaryPart)

        assert open_ in record()
        ctx.items.extend([w.user("And?"), *w.results(late), w.assistant("Yes.")])
        for _ in range(stays):
            assert open_ in record()
            ctx.items.extend(talk)
        for _ in range(2):
            told = record()
            assert f"{done}: {late.result}" in told.replace("result=", "")
            assert "open:" not in told
            ctx.items.extend(talk)

    def test_a_second_result_of_a_call_is_not_parted_from_it(self, hint: str | None) -> None:
        """In an item of its own it is one too many; without its call it is refused everywhere."""
        w, call = self.writer, Call("callAAAA5", "refund", {"order": "LK-1"}, f"Paid. {_LONG}")
        told = [w.user(f"Please. {_LONG}"), *w.calls(call)]
        first, last = len(told) - 1, len(told) + 2 * len(w.results(call))
        items = [*told, *w.results(call), *w.results(call), w.assistant(_LONG), w.user("Thanks")]
        whole = self.context(list(items), hint)
        assert first in whole.cut_points()
        assert last in whole.cut_points()
        assert not {*range(first + 1, last)} & {*whole.cut_points()}
        grown = self.context([], hint)
        for item in items:
            grown.append(item)
            grown.count_tokens()
        assert grown.cut_points() == whole.cut_points()
        known = Counter(p.rule for p in whole.check() if p.severity == "error")
        for keep in (1, 200, 600, 1000):
            ctx = self.context(list(items), hint)
            ctx.summarize(lambda prompt: "short", keep_tokens=keep)
            assert Counter(p.rule for p in ctx.check() if p.severity == "error") <= known

    def test_reading_and_folding_change_no_item(self, hint: str | None) -> None:
        """The caller's items say afterwards what they said before."""
        for sdk in (False, True):
            items = self.history(sdk=sdk)
            said = copy.deepcopy(items)
            kept = list(items)
            ctx = self.context(items, hint)
            self.read_all(ctx)
            ctx.summarize(lambda prompt: "short", keep_last_turns=0)
            assert kept == said

    @pytest.mark.parametrize("options", [{}, {"exclude_none": True}, {"by_alias": True}])
    def test_what_the_sdk_writes_of_the_items_meanwhile_is_no_other_list(
        self, options: dict[str, bool]
    ) -> None:
        """Its owner stores it and reads it again, in place or as a list for a middleware."""
        shape = self.shape()

        def stored(item: Any) -> Any:
            if hasattr(item, "model_dump"):
                written = json.dumps(item.model_dump(mode="json", **options))
                return shape.restored(json.loads(written))
            return copy.deepcopy(item)

        def reloading(prompt: Prompt) -> str:
            items[:] = map(stored, items)
            return "short"

        items, host = self.history(sdk=True), self.history(sdk=True)
        ctx: ChatContext[Any] = ChatContext(items, shape=shape)
        assert ctx.summarize(reloading, keep_last_turns=1).changed
        policy, store = Policy(max_items=6, keep_last_turns=1, min_gain=0.0), MemoryStore()
        reasons = []
        for given in (host, [*map(stored, host)]):
            wrapper = Middleware[Any](lambda prompt: "short", policy, store, shape=shape)
            reasons.append(wrapper.fold(given, key="k").outcome.reason)
        assert reasons == ["summarized", "reused"]


def _tupled(value: Any) -> Any:
    """Return a copy of an item with a tuple in place of each list."""
    if isinstance(value, dict):
        return {key: _tupled(inner) for key, inner in value.items()}
    return tuple(map(_tupled, value)) if isinstance(value, list) else value
