"""Repair: what can be mended is mended, what cannot is named, and what is right stays as it is."""

from __future__ import annotations

import copy
import html
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from types import FrameType
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import shared_directory
from hypothesis import HealthCheck, Phase, given, seed, settings
from laws import same_objects, step
from quickest import quickest
from strategies import SHAPES, History, histories, long_history
from validator import lost_partners, validate

from chatfold import ChatContext, Problem
from chatfold.core.native import plain
from chatfold.core.reading import Reading
from chatfold.core.repair import Repair, mended
from chatfold.core.snapshot import Snapshot
from chatfold.core.views import ResultPart, TextPart
from chatfold.core.xml import decode
from chatfold.errors import BusyError
from chatfold.shapes import SHAPES as ALL_SHAPES
from chatfold.shapes import shape_named
from chatfold.templates import load_templates

COUNT = 50 * settings().max_examples  # broken histories in all: 10,000 with the profile of CI
PER_DRAW = 25  # how often each history that is drawn is broken anew, which is quicker than drawing

RENAMED = {"reused_call_id", "result_without_id", "split_results"}
"""Rules that are mended though the provider's own server was seen to take the list."""


BLOCKS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "anthropic": (
        lambda id_: {"type": "tool_use", "id": id_, "name": "f", "input": {}},
        lambda id_, text: {"type": "tool_result", "tool_use_id": id_, "content": text},
    ),
    "bedrock": (
        lambda id_: {"toolUse": {"toolUseId": id_, "name": "f", "input": {}}},
        lambda id_, text: {"toolResult": {"toolUseId": id_, "content": [{"text": text}]}},
    ),
}
"""How a call, and a text as its result, are written as blocks."""

SAID_BLOCK = {"type": "text", "text": "Go on."}


def reader(shape: str) -> Callable[[Sequence[Any]], Snapshot]:
    def read(items: Sequence[Any]) -> Snapshot:
        reading = Reading(
            items,
            ALL_SHAPES,
            shape=shape_named(shape),
            measure=lambda views: [0] * len(views),
            summary_key=None,
        )
        return reading.snapshot()

    return read


def repaired(items: Sequence[Any], shape: str, **policies: Any) -> tuple[list[Any], list[Repair]]:
    return mended(items, read=reader(shape), render=load_templates(), **policies)


def problems(items: Sequence[Any], shape: str, *severities: str) -> list[Problem]:
    found = ChatContext(list(items), shape=shape).check()
    return [p for p in found if p.severity in (severities or ("error", "pending"))]


def results(items: Sequence[Any], shape: str) -> Counter[str]:
    views = ChatContext(list(items), shape=shape).views()
    return Counter(p.text for v in views for p in v.parts if isinstance(p, ResultPart))


def spoken(items: Sequence[Any], shape: str) -> str:
    views = ChatContext(list(items), shape=shape).views()
    texts = (p.text for v in views for p in v.parts if isinstance(p, TextPart))
    return "\n".join(decode(html.unescape(text)) for text in texts)


# --- ten thousand broken histories ----------------------------------------------------------------

JUNK: tuple[Any, ...] = (
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


def damaged(items: Sequence[Any], rng: random.Random) -> list[Any]:
    """Delete, double, swap and cut off items, and put in what is none, in one to four edits."""
    made = list(items)
    for _ in range(rng.randint(1, 4)):
        at, to = rng.randrange(len(made) + 1), rng.randrange(len(made) + 1)
        match rng.randrange(8):
            case 0:
                del made[at : at + 1]
            case 1:
                made[at:at] = made[at : at + 1]
            case 2:
                made[at:at] = copy.deepcopy(made[at : at + 1])
            case 3 if at < len(made) and to < len(made):
                made[at], made[to] = made[to], made[at]
            case 4:
                del made[at + 1 :]
            case 5:
                del made[:at]
            case 6:
                made.insert(at, copy.deepcopy(rng.choice(JUNK)))
            case _:
                del made[at : at + 2]
    return made


@cache
def drawn(shape: str, count: int) -> list[History]:
    """Return histories, the same in every run."""
    found: list[History] = []

    @seed(7)
    @settings(
        max_examples=count,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @given(history=histories(shape, broken=True))
    def draw(history: History) -> None:
        found.append(history)

    draw()
    return found


def complaints(items: list[Any], shape: str) -> Iterator[str]:
    """Yield what is wrong with the repair of a list, so that one run shows all of it."""
    before = copy.deepcopy(items)
    first = problems(items, shape)
    out, repairs = repaired(items, shape)
    left = {r.rule for r in repairs if r.action == "left"}
    mended_here = [r for r in repairs if r.action != "left"]
    if repr(items) != repr(before):
        yield "an item was changed"
    if not first and not mended_here and not same_objects(out, items):
        yield "nothing is reported, and yet the list is another"
    if not first and any(r.rule not in RENAMED for r in repairs):
        yield f"nothing was wrong, and yet: {repairs}"
    for problem in problems(out, shape):
        if problem.rule not in left:
            yield f"neither mended nor left: {problem}"
    unread = {p.index for p in problems(out, shape, "error", "warning") if p.rule in UNREAD}
    for violation in validate(out, shape):
        if not (violation.open or violation.index in unread or left):
            yield f"the second validator: {violation}"
    again, more = repaired(out, shape)
    if not same_objects(again, out) or any(r.action != "left" for r in more):
        yield f"a second run does more: {more}"
    yield from losses(items, out, repairs, shape)


UNREAD = ("unknown_item", "malformed_item", "foreign_item")


def losses(items: list[Any], out: list[Any], repairs: list[Repair], shape: str) -> Iterator[str]:
    """Yield what is in neither the new list nor the report."""
    gone = [item for r in repairs for item in r.removed]
    new = {id(item) for r in repairs for item in r.added}
    known, kept = {id(i) for i in items}, {id(i) for i in (*out, *gone)}
    if any(id(item) not in known | new for item in out):
        yield "a new item is not reported"
    if any(id(item) not in kept for item in items):
        yield "an item is gone, and not reported"
    dropped = [i for r in repairs if r.action == "dropped" for i in r.removed]
    missing = results(items, shape) - results(out, shape) - results(dropped, shape)
    said = spoken(out, shape).replace("\r", "\n")
    for text in missing:
        if text.replace("\r", "\n") not in said:
            yield f"the result {text!r} is lost"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_broken_history_is_repaired_or_says_why_not(shape: str) -> None:
    """Both judges accept the list, or a repair names what is left; nothing is lost unsaid.

    Items are deleted, doubled, swapped and cut off, and junk is put in. A second run does nothing.
    """
    per_shape = -(-COUNT // len(SHAPES))
    rng = random.Random(11)
    wrong: list[str] = []
    judged = 0
    for history in drawn(shape, -(-per_shape // PER_DRAW)):
        for _ in range(PER_DRAW):
            items = damaged(history.items, rng)
            wrong += [f"{complaint}\n    in {items}" for complaint in complaints(items, shape)]
            judged += 1
            assert len(wrong) < 3, "\n".join(wrong)
    assert wrong == []
    assert judged >= per_shape


def test_calls_with_and_without_ids_that_become_one_turn_are_answered_each() -> None:
    """By Gemini a call need not have an id; a response without one answers such a call first."""
    names = "search", "book"
    numbered = [{"function_call": {"name": name, "args": {}, "id": "call_1"}} for name in names]
    plain_call = {"function_call": {"name": "search", "args": {}}}
    found = {"function_response": {"name": "search", "response": {"result": "18C"}}}
    items = [
        {"role": "user", "parts": [{"text": "Where is it?"}]},
        {"role": "model", "parts": numbered},
        {"role": "model", "parts": [plain_call]},
        {"role": "user", "parts": [found]},
    ]
    assert list(complaints(items, "gemini")) == []
    out, _ = repaired(items, "gemini")
    told = [part["function_response"] for part in out[2]["parts"]]
    assert [t.get("id") for t in told] == [None, "call_1", "call_1"]
    assert [t["name"] for t in told] == ["search", *names]


@pytest.mark.parametrize("shape", SHAPES)
def test_tuples_are_mended_like_lists(shape: str) -> None:
    """The SDKs' types take any iterable of blocks and of calls."""
    rng = random.Random(5)
    for history in drawn(shape, 6):
        for _ in range(PER_DRAW):
            items = damaged(history.items, rng)
            expected, told = repaired(items, shape)
            out, repairs = repaired([tupled(item) for item in items], shape)
            assert plain(out) == plain(expected)
            assert [(r.rule, r.action) for r in repairs] == [(r.rule, r.action) for r in told]


def test_what_a_message_holds_as_a_tuple_is_mended() -> None:
    """Arguments in `tool_calls`, a blank block, results behind a text."""
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": {}}}
    asked = {"role": "assistant", "content": None, "tool_calls": (call,)}
    out, _ = repaired([USER, asked, step("openai_chat", "a", 1, ["1"])[1]], "openai_chat")
    assert out[1]["tool_calls"][0]["function"]["arguments"] == "{}"
    use, result = BLOCKS["anthropic"]
    blank = {"type": "text", "text": " "}
    asked = {"role": "assistant", "content": (blank, use("a"), use("b"))}
    told = {"role": "user", "content": (SAID_BLOCK, result("a", "1"), result("b", "2"))}
    out, _ = repaired([USER, asked, told], "anthropic")
    assert out[1]["content"] == [use("a"), use("b")]
    assert out[2]["content"] == [result("a", "1"), result("b", "2"), SAID_BLOCK]


def tupled(value: Any) -> Any:
    """Return a copy with a tuple in place of each list; an item that is a list stays one."""
    if not isinstance(value, dict):
        return value
    return {
        key: tuple(map(tupled, inner)) if isinstance(inner, list) else tupled(inner)
        for key, inner in value.items()
    }


@given(history=histories())
def test_a_list_without_a_problem_is_left_alone(history: History) -> None:
    """Where nothing is refused or open, every item stays the same object, unreported."""
    found = ChatContext(list(history.items), shape=history.shape).check()
    out, repairs = repaired(history.items, history.shape)
    for repair in repairs:
        assert repair.rule in {p.rule for p in found}
    if not any(p.severity in ("error", "pending") or p.rule in RENAMED for p in found):
        assert same_objects(out, history.items)
        assert repairs == []


@given(history=histories("openai_responses", broken=True, open_calls=False))
def test_a_repair_parts_no_item_from_its_reasoning(history: History) -> None:
    """What reasoning binds together leaves together, or without the ids that are asked for."""
    items = history.items[1:]
    if not any(v.rule.startswith("reasoning") for v in validate(items, "openai_responses")):
        out, _ = repaired(items, "openai_responses", ids="keep")  # it knows an item by its ids
        assert lost_partners(items, out, "openai_responses") == []


# --- real histories ------------------------------------------------------------------------------

NO_CORPUS = pytest.mark.skipif(
    not (shared_directory() / "corpus").is_dir(),
    reason="no corpus beside the checkout; set CHATFOLD_SHARED",
)


@cache
def corpus(name: str) -> list[dict[str, Any]]:
    with (shared_directory() / "corpus" / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@NO_CORPUS
@pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "anthropic"])
def test_a_real_history_that_was_sent_is_left_alone(name: str) -> None:
    """No item of what a provider took is touched."""
    for history in corpus(name):
        out, repairs = repaired(history["items"], history["provider_shape"])
        assert same_objects(out, history["items"]), history["id"]
        assert repairs == [], history["id"]


@NO_CORPUS
def test_every_dirty_history_is_repaired() -> None:
    """Each of the real broken histories is explained at its index, and valid afterwards."""
    for history in corpus("dirty"):
        items, shape = history["items"], history["provider_shape"]
        found = ChatContext(list(items), shape=shape).check()
        told = {i for p in found for i in p.indices}
        assert {index for index, _ in history["errors"]} <= told, history["id"]
        out, repairs = repaired(items, shape)
        assert repairs, history["id"]
        assert all(r.action != "left" for r in repairs), history["id"]
        assert problems(out, shape) == [], history["id"]
        assert validate(out, shape, strict=True) == [], history["id"]
        assert repaired(out, shape)[1] == [], history["id"]


# --- single mends --------------------------------------------------------------------------------

USER = {"role": "user", "content": "hello"}
SAID = {"role": "assistant", "content": "hi"}


def note_in(item: Any) -> ElementTree.Element:
    """Return the note that an item holds, as an XML parser reads it."""
    content = item["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    return ElementTree.fromstring(text)


THREE = ("openai_chat", "openai_responses", "anthropic")


@pytest.mark.parametrize("shape", THREE)
@pytest.mark.parametrize("ends", [True, False])
def test_an_open_call_is_answered_as_interrupted(shape: str, ends: bool) -> None:
    """Right behind its step, at the end of the list too, with a failed result of that id."""
    items = [USER, *step(shape, "c1", 1, []), *([] if ends else [SAID, USER])]
    out, (repair,) = repaired(items, shape)
    assert same_objects(out[:2] + out[3:], items)
    assert (repair.action, repair.indices, repair.removed) == ("answered", (1,), ())
    assert repair.added == (out[2],)
    (call,) = ChatContext(out, shape=shape).tool_calls()
    assert call.result.startswith("Interrupted: no result of this call was recorded.")
    assert call.result == call.result.strip()
    assert call.status == "failed"
    assert problems(out, shape) == []


def test_a_missing_result_joins_those_of_its_step() -> None:
    """Anthropic wants all results of a step in one message, before the user's words."""
    uses = [{"type": "tool_use", "id": i, "name": "f", "input": {}} for i in "ab"]
    given_ = {"type": "tool_result", "tool_use_id": "a", "content": "1"}
    words = {"type": "text", "text": "and?"}
    items = [
        USER,
        {"role": "assistant", "content": uses},
        {"role": "user", "content": [given_, words]},
    ]
    out, (repair,) = repaired(items, "anthropic")
    assert len(out) == 3
    assert same_objects(out[:2], items[:2])
    blocks = out[2]["content"]
    assert blocks[0] is given_
    assert blocks[1]["tool_use_id"] == "b"
    assert blocks[1]["is_error"] is True
    assert blocks[2] is words
    assert repair.removed == (items[2],)
    assert repair.added == (out[2],)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (
            {
                "type": "function_call",
                "call_id": "a",
                "name": "f",
                "arguments": "{}",
                "async": True,
            },
            "asynchronous",
        ),
        (
            {
                "type": "mcp_approval_request",
                "id": "a",
                "server_label": "m",
                "name": "f",
                "arguments": "{}",
            },
            "only the user can allow or deny it",
        ),
        (
            {"type": "computer_call", "id": "cu_1", "call_id": "a", "action": {"type": "wait"}},
            "its host",
        ),
        (
            {"type": "shell_call", "id": "sh_1", "call_id": "a", "action": {"commands": []}},
            "its host",
        ),
    ],
    ids=["asynchronous", "approval", "computer", "shell"],
)
def test_what_no_text_answers_is_left_with_the_reason(call: dict[str, Any], reason: str) -> None:
    """The host, or the user, has to answer; the repair says so and changes nothing."""
    out, (repair,) = repaired([USER, call], "openai_responses")
    assert same_objects(out, [USER, call])
    assert (repair.rule, repair.action, repair.indices) == ("unanswered_call", "left", (1,))
    assert reason in repair.message


@pytest.mark.parametrize("shape", THREE)
@pytest.mark.parametrize("text", ["</note>", "a & b", "]]>\x00", "plain"])
def test_an_orphan_result_becomes_a_note_that_says_so(shape: str, text: str) -> None:
    """The note is the user's by its role only: labelled, escaped, and never taken for a summary."""
    orphan = step(shape, "gone", 1, [text])[1]
    items = [USER, SAID, orphan, *step(shape, "c1", 1, ["1"]), SAID]
    out, (repair,) = repaired(items, shape)
    assert (repair.rule, repair.action, repair.indices) == ("orphan_result", "noted", (2,))
    assert repair.removed == (orphan,)
    assert repair.added == (out[2],)
    assert out[2]["role"] == "user"
    note = (
        note_in(out[2])
        if shape != "openai_responses"
        else ElementTree.fromstring(out[2]["content"][0]["text"])
    )
    assert note.tag == "recorded_tool_result"
    assert note.get("call_id") == "gone"
    label = note.find("note")
    assert label is not None
    assert label.text is not None
    assert "Automatic record. The user did not say this." in label.text
    assert decode((label.tail or "").strip("\n")) == text
    assert problems(out, shape) == []
    assert ChatContext(out, shape=shape).check() == []


def test_a_note_never_stands_between_an_instruction_and_the_answer_to_it() -> None:
    """An Anthropic `system` message must be followed by the assistant."""
    orphan = step("anthropic", "gone", 1, ["lost"])[1]
    items = [USER, {"role": "system", "content": "be brief"}, orphan, SAID]
    out, repairs = repaired(items, "anthropic")
    assert problems(out, "anthropic") == []
    assert "noted" in {r.action for r in repairs}
    assert same_objects(out[:3], [items[0], items[1], items[3]])


def test_a_note_never_stands_behind_a_result_where_the_assistant_has_to_answer_it() -> None:
    """With Mistral no user may follow a result, so that the note goes before the step."""
    call, result = step("mistral", "abcdefgh1", 1, ["1"])
    orphan = step("mistral", "abcdefgh2", 1, ["lost"])[1]
    items = [USER, call, result, orphan]
    out, (repair,) = repaired(items, "mistral")
    assert repair.action == "noted"
    assert same_objects([out[0], *out[2:]], items[:3])
    assert "lost" in out[1]["content"]
    assert problems(out, "mistral") == []


@pytest.mark.parametrize("shape", THREE)
def test_a_note_never_stands_between_a_call_and_its_results(shape: str) -> None:
    """An orphan in the midst of a step's results is noted behind the step."""
    call, first, second = step(shape, "a", 1, ["1"]), step(shape, "x", 1, ["lost"])[1], SAID
    items = [USER, call[0], first, call[1], second]
    out, repairs = repaired(items, shape)
    assert problems(out, shape) == []
    assert out[1] is call[0]
    assert "lost" in spoken(out[3:], shape)
    assert {r.action for r in repairs} <= {"noted", "moved"}


def test_a_note_comes_behind_the_leading_instructions_and_an_earlier_summary() -> None:
    """Else the prefix, or the summary, would not be found again."""
    system = {"role": "system", "content": "be brief"}
    items = [system, USER, SAID, dict(USER), dict(SAID)]
    ctx: ChatContext[Any] = ChatContext(items, shape="openai_chat")
    long = "x" * 4000
    items[2]["content"] = long
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    orphan = {"role": "tool", "tool_call_id": "a", "content": "lost"}
    for broken in ([orphan, *items], [items[0], orphan, *items[1:]]):
        out, (repair,) = repaired(broken, "openai_chat")
        assert out[0] is system
        assert out[1] is items[1]
        assert repair.action == "noted"
        assert ChatContext(out).views()[1].parts[0].__class__.__name__ == "SummaryPart"


def test_a_late_result_is_moved_behind_its_call() -> None:
    """The same object, behind the results that are there; nothing is taken out or put in."""
    calls = [
        {"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in "ab"
    ]
    asks = {"role": "assistant", "content": None, "tool_calls": calls}
    one, two = ({"role": "tool", "tool_call_id": i, "content": i} for i in "ab")
    items = [USER, asks, one, SAID, USER, two]
    out, (repair,) = repaired(items, "openai_chat")
    assert same_objects(out, [USER, asks, one, two, SAID, USER])
    assert (repair.rule, repair.action, repair.indices) == ("late_result", "moved", (5, 1))
    assert (repair.removed, repair.added) == ((), ())


def test_a_late_anthropic_result_is_taken_out_of_its_message() -> None:
    """The rest of the message stays where it is."""
    use = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    late = {"type": "tool_result", "tool_use_id": "a", "content": "1"}
    words = {"type": "text", "text": "well?"}
    items = [
        USER,
        {"role": "assistant", "content": [use]},
        USER,
        SAID,
        {"role": "user", "content": [late, words]},
    ]
    out, repairs = repaired(items, "anthropic")
    assert [r.action for r in repairs] == ["moved"]
    assert out[2]["content"] == [late]
    assert out[-1]["content"] == [words]
    assert repairs[0].removed == (items[4],)
    assert repairs[0].added == (out[2], out[-1])
    assert problems(out, "anthropic") == []


def test_a_result_behind_words_is_put_first() -> None:
    """Anthropic reads results at the start of a message only."""
    use = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "1"}
    words = {"type": "text", "text": "well?"}
    items = [
        USER,
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [words, result]},
    ]
    out, (repair,) = repaired(items, "anthropic")
    assert (repair.rule, repair.action) == ("result_not_first", "reordered")
    assert out[2]["content"] == [result, words]


@pytest.mark.parametrize("shape", THREE)
def test_a_second_result_is_dropped_and_another_one_noted(shape: str) -> None:
    """The same words twice are one result; other words are data, and stay as a note."""
    call, result, other = (
        step(shape, "a", 1, ["1", "2"])
        if shape != "anthropic"
        else (
            *step(shape, "a", 1, ["1"]),
            step(shape, "a", 1, ["2"])[1],
        )
    )
    items = [USER, call, result, copy.deepcopy(result), other, SAID]
    out, repairs = repaired(items, shape)
    assert sorted(r.action for r in repairs) == ["dropped", "noted"]
    assert problems(out, shape) == []
    assert results(out, shape) == Counter({"1": 1})
    note = next(r.added[0] for r in repairs if r.action == "noted")
    assert "one more result" in json.dumps(note)


def test_reasoning_without_its_follower_is_dropped_with_the_ids_of_its_scope() -> None:
    """The documented fallback: without their ids the items ask for no reasoning."""
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "g"}
    call = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "a", "output": "1"}
    late = {"type": "function_call", "id": "fc_2", "call_id": "b", "name": "f", "arguments": "{}"}
    items = [USER, call, reasoning, output, late, {**output, "call_id": "b"}]
    out, (repair,) = repaired(items, "openai_responses")
    assert (repair.rule, repair.action) == ("reasoning_without_follower", "dropped")
    assert repair.removed == (reasoning, late)
    detached = {k: v for k, v in late.items() if k != "id"}
    assert out == [USER, call, output, detached, items[5]]
    assert repair.added == (detached,)


def test_calls_under_one_id_get_ids_of_their_own() -> None:
    """Call and result together, and the first pair keeps its id."""
    items = [
        USER,
        *step("openai_responses", "a", 1, ["1"]),
        *step("openai_responses", "a", 1, ["2"]),
    ]
    out, (repair,) = repaired(items, "openai_responses")
    assert (repair.action, repair.indices) == ("renamed", (3, 4))
    assert same_objects(out[:3], items[:3])
    records = ChatContext(out).tool_calls()
    assert [(r.id, r.result) for r in records] == [("a", "1"), ("a_1", "2")]


def test_a_call_id_that_is_too_long_is_shortened_on_both_sides() -> None:
    """The API takes 64 characters."""
    items = [USER, *step("openai_responses", "a" * 70, 1, ["1"])]
    out, _ = repaired(items, "openai_responses")
    (record,) = ChatContext(out).tool_calls()
    assert record.id is not None
    assert len(record.id) == 64
    assert record.result == "1"
    assert problems(out, "openai_responses") == []


FOREIGN = "call_1|fc_1"  # as a host joins the two ids of Responses


@pytest.mark.parametrize("shape", ["anthropic", "bedrock"])
def test_an_id_of_another_provider_is_changed_in_the_call_and_its_result(shape: str) -> None:
    """What the provider refuses in it is replaced; the other call keeps its id."""
    opener = USER if shape == "anthropic" else {"role": "user", "content": [{"text": "go"}]}
    items = [opener, *step(shape, FOREIGN, 1, ["1"]), *step(shape, "fine", 1, ["2"])]
    before = copy.deepcopy(items)
    assert [p.rule for p in problems(items, shape)] == ["call_id_form"]
    assert validate(items, shape) != []
    out, repairs = repaired(items, shape)
    assert [(r.rule, r.action) for r in repairs] == [("call_id_form", "renamed")]
    assert problems(out, shape) == []
    assert validate(out, shape) == []
    assert items == before
    assert [(c.id, c.result) for c in ChatContext(out).tool_calls()] == [
        ("call_1_fc_1_1", "1"),
        ("fine", "2"),
    ]
    kept, (left,) = repaired(items, shape, ids="keep")
    assert same_objects(kept, items)
    assert left.action == "left"


def test_thinking_that_nothing_follows_is_taken_out() -> None:
    """An answer that was cut off while the model thought; with words before it, these stay."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    said = {"role": "assistant", "content": [{"type": "text", "text": "so"}, dict(thought)]}
    items = [USER, {"role": "assistant", "content": [thought]}, dict(USER), said, dict(USER)]
    assert [p.rule for p in problems(items, "anthropic")] == ["thinking_last", "thinking_last"]
    out, repairs = repaired(items, "anthropic")
    assert [(r.rule, r.action) for r in repairs] == [("thinking_last", "dropped")] * 2
    assert same_objects([out[0], out[1], out[3]], [items[0], items[2], items[4]])
    assert out[2] == {"role": "assistant", "content": [{"type": "text", "text": "so"}]}
    assert problems(out, "anthropic") == []
    kept, repairs = repaired(items, "anthropic", reasoning="keep")
    assert same_objects(kept, items)
    assert {r.action for r in repairs} == {"left"}


def test_converse_reasoning_without_a_text_is_taken_out() -> None:
    """The server takes it for no value at all."""
    thought = {"reasoningContent": {"reasoningText": {"text": None, "signature": "s"}}}
    items = [
        {"role": "user", "content": [{"text": "go"}]},
        {"role": "assistant", "content": [thought, {"text": "gone"}]},
    ]
    out, (repair,) = repaired(items, "bedrock")
    assert (repair.rule, repair.action) == ("reasoning_without_text", "dropped")
    assert out[1] == {"role": "assistant", "content": [{"text": "gone"}]}
    assert problems(out, "bedrock") == []


def test_a_misplaced_instruction_moves_behind_the_next_user_message() -> None:
    """An Anthropic `system` message stands between the user and the assistant."""
    rule = {"role": "system", "content": "be brief"}
    items = [USER, SAID, rule, dict(SAID), dict(USER), dict(SAID)]
    out, (repair,) = repaired(items, "anthropic")
    assert repair.action == "reordered"
    assert same_objects(out, [*items[:2], *items[3:5], rule, items[5]])
    stuck = [USER, SAID, rule]
    out, (repair,) = repaired(stuck, "anthropic")
    assert same_objects(out, stuck)
    assert (repair.action, repair.indices) == ("left", (2,))


def test_a_misplaced_instruction_does_not_move_behind_some_results_of_a_step() -> None:
    """The others would be refused behind it; it is left until they are there."""
    rule = {"role": "system", "content": "be brief"}
    uses = [{"type": "tool_use", "id": id_, "name": "f", "input": {}} for id_ in "ab"]
    results = [{"type": "tool_result", "tool_use_id": id_, "content": "ok"} for id_ in "ab"]
    items = [USER, SAID, rule, {"role": "assistant", "content": uses}]
    half = [*items, {"role": "user", "content": results[:1]}]
    out, repairs = repaired(half, "anthropic", open_calls="keep")
    assert same_objects(out, half)
    assert [r.action for r in repairs if r.rule == "system_place"] == ["left"]
    whole = [*items, {"role": "user", "content": results}]
    out = repaired(whole, "anthropic")[0]
    assert same_objects(out, [*items[:2], *whole[3:], rule])


@pytest.mark.parametrize("more", [0, 3])
def test_two_misplaced_instructions_get_places_of_their_own_where_there_are(more: int) -> None:
    """They are judged together in the only place, and alone by some servers."""
    rules = [{"role": "system", "content": text} for text in ("be brief", "be kind")]
    behind = [dict(USER), dict(SAID), dict(USER), dict(SAID)][: more + 1]
    out, repairs = repaired([USER, SAID, *rules, *behind], "anthropic")
    assert [r.action for r in repairs] == ["reordered", "reordered"]
    between = behind[1:3]  # empty where there is one place
    assert same_objects(
        out, [USER, SAID, behind[0], rules[0], *between, rules[1], *behind[1:][len(between) :]]
    )


def test_half_a_reference_is_left_where_its_id_is_all_there_is() -> None:
    """A reference cannot be detached, so to drop its reasoning would only hide the error."""
    reference = {"type": "item_reference", "id": "fc_1"}
    output = {"type": "function_call_output", "call_id": "a", "output": "1"}
    items = [USER, {**REASONING, "encrypted_content": "g"}, reference, output]
    out, (repair,) = repaired(items, "openai_responses")
    assert same_objects(out, items)
    assert (repair.rule, repair.action) == ("half_a_reference", "left")
    assert "only a reference" in repair.message


def test_a_second_result_with_other_media_is_not_dropped() -> None:
    """The same words with another image are another result."""
    use = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    sources = [{"type": "url", "url": f"https://example.com/{name}.png"} for name in "xy"]
    blocks = [
        {
            "type": "tool_result",
            "tool_use_id": "a",
            "content": [{"type": "image", "source": source}],
        }
        for source in sources
    ]
    items = [USER, {"role": "assistant", "content": [use]}, {"role": "user", "content": blocks}]
    out, (repair,) = repaired(items, "anthropic")
    assert repair.action == "noted"
    assert "It came with 1 images or files" in spoken(out, "anthropic")


@pytest.mark.parametrize("shape", THREE)
def test_foreign_and_malformed_items_are_left_and_named(shape: str) -> None:
    """What nobody can read is not guessed at."""
    foreign: Any = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}
    if shape == "openai_chat":
        foreign = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    items = [USER, 7, foreign, SAID]
    out, repairs = repaired(items, shape)
    assert ("malformed_item", "left", (1,)) in {(r.rule, r.action, r.indices) for r in repairs}
    assert any(r.rule == "foreign_item" and r.action == "left" for r in repairs)
    assert out[1] == 7


@pytest.mark.parametrize("shape", ["openai_chat", "openai_responses", "ollama", "mistral"])
def test_of_another_providers_results_all_become_notes_or_none(shape: str) -> None:
    """The list's shape can take out the message alone, and not one of two results."""
    call, result = BLOCKS["bedrock"]
    asked = {"role": "assistant", "content": [call("a")]}
    told = {"role": "user", "content": [result("a", "18C"), result("b", "20C")]}
    out, repairs = repaired([USER, asked, told, SAID], shape)
    assert json.dumps(plain(out)).count("20C") == 1
    assert ("orphan_result", "left", (2,)) in {(r.rule, r.action, r.indices) for r in repairs}
    out, _ = repaired([USER, told, SAID], shape)
    assert ["18C" in json.dumps(item) for item in plain(out)].count(True) == 1
    assert told not in out


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("shape", ["openai_chat", "openai_responses", "ollama", "mistral"])
def test_a_result_beside_words_of_another_provider_is_not_doubled(shape: str, early: bool) -> None:
    """The list's shape cannot take it out of there, so a note of it would be one too many."""
    call, result = BLOCKS["anthropic"]
    foreign = {"role": "user", "content": [result("toolu_2", "18C"), SAID_BLOCK]}
    asked = [{"role": "assistant", "content": [call("toolu_2")]}] if early else []
    items = [USER, foreign, *asked]
    out, repairs = repaired(items, shape)
    said = json.dumps(plain(out))
    assert said.count("18C") == said.count(SAID_BLOCK["text"]) == 1
    left = {(r.rule, r.indices) for r in repairs if r.action == "left"}
    assert {("foreign_item", (1,)), ("orphan_result", (1,))} <= left


def test_an_item_whose_insides_are_of_a_wrong_type_stops_no_repair() -> None:
    """It stays as it is, and what else is wrong with the list is mended."""
    step = [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": ["message"], "id": "msg_1"},
        {"type": "function_call_output", "call_id": "call_1", "output": "1"},
    ]
    out, repairs = repaired([USER, *step, USER], "openai_responses")
    assert [r.action for r in repairs] == ["dropped", "noted"]
    assert out[1] is step[1]
    use = {"toolUseId": "a", "name": "f", "input": []}
    broken: list[Any] = [{"toolUse": "f"}, {"toolUse": use}]
    result = {"toolUseId": "a", "content": [{"text": "1"}]}
    items = [
        {"role": "user", "content": [{"text": "Hi"}]},
        {"role": "assistant", "content": broken},
        {"role": "user", "content": [{"toolResult": result}]},
    ]
    out, repairs = repaired(items, "bedrock")
    assert {r.rule: r.action for r in repairs}["malformed_item"] == "left"
    assert out[1]["content"][0] == {"toolUse": "f"}
    assert out[1]["content"][1]["toolUse"]["input"] == {"INVALID_JSON": "[]"}
    told = answered("bedrock", [{"text": "1"}])
    told[2]["content"][0]["toolResult"] = "1"
    out, (left,) = repaired(told, "bedrock")
    assert same_objects(out, told)
    assert (left.rule, left.action) == ("result_without_id", "left")


def cut_off(shape: str, given: Any) -> list[Any]:
    """Return a call whose arguments are `given`, between words and another call, answered."""
    if shape == "anthropic":
        calls = [{"type": "tool_use", "id": i, "name": "f", "input": {}} for i in "ab"]
        calls[1]["input"] = given
        blocks = [{"type": "tool_result", "tool_use_id": i, "content": "1"} for i in "ab"]
        content: list[Any] = [{"type": "text", "text": "I look."}, *calls]
        return [
            USER,
            {"role": "assistant", "content": content},
            {"role": "user", "content": blocks},
        ]
    uses = [{"toolUse": {"toolUseId": i, "name": "f", "input": {}}} for i in "ab"]
    uses[1]["toolUse"]["input"] = given
    answers = [{"toolResult": {"toolUseId": i, "content": [{"text": "1"}]}} for i in "ab"]
    return [
        {"role": "user", "content": [{"text": "q"}]},
        {"role": "assistant", "content": [{"text": "I look."}, *uses]},
        {"role": "user", "content": answers},
    ]


@pytest.mark.parametrize("shape", ["anthropic", "bedrock"])
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ('{"path": "a.txt", "te', {"INVALID_JSON": '{"path": "a.txt", "te'}),
        ([1, "ä"], {"INVALID_JSON": '[1, "ä"]'}),
        (None, {"INVALID_JSON": ""}),
        ('{"a": 1}', {"a": 1}),
    ],
)
def test_arguments_that_are_no_object_are_put_into_one(shape: str, given: Any, wanted: Any) -> None:
    """The provider takes nothing else; the rest of the message stays, and its results too."""
    items = cut_off(shape, given)
    before = copy.deepcopy(items)
    assert [p.rule for p in problems(items, shape)] == ["arguments_no_object"]
    assert [v.rule for v in validate(items, shape)] == ["arguments_no_object"]
    out, (repair,) = repaired(items, shape)
    assert (repair.rule, repair.action, repair.indices) == ("arguments_no_object", "wrapped", (1,))
    assert (repair.removed, repair.added) == ((items[1],), (out[1],))
    assert out == cut_off(shape, wanted)
    assert items == before
    assert problems(out, shape) == []
    assert repaired(out, shape)[1] == []


def test_a_result_right_behind_a_call_without_an_id_is_not_moved() -> None:
    """It stands where it belongs; what is left is named once, and a second run changes nothing."""
    call = {"type": "tool_use", "id": None, "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "1"}
    items = [USER, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    out, repairs = repaired(items, "anthropic")
    assert same_objects(out, items)
    assert [(r.rule, r.action) for r in repairs] == [
        ("malformed_item", "left"),
        ("late_result", "left"),
    ]


def told(shape: str, given: Any) -> list[Any]:
    """Return a call whose arguments are `given`, beside another one, answered."""
    if shape == "openai_responses":
        call = {"type": "function_call", "name": "f", "arguments": "{}"}
        asked: list[Any] = [
            {**call, "call_id": "a"},
            {**call, "call_id": "b", "arguments": given},
        ]
        output = {"type": "function_call_output", "output": "1"}
        return [USER, *asked, *({**output, "call_id": i} for i in "ab")]
    calls = [
        {"id": i, "type": "function", "function": {"name": "f", "arguments": a}}
        for i, a in (("a", "{}"), ("b", given))
    ]
    message = {"role": "assistant", "content": "I look.", "tool_calls": calls}
    return [USER, message, *({"role": "tool", "tool_call_id": i, "content": "1"} for i in "ab")]


@pytest.mark.parametrize("shape", ["openai_chat", "openai_responses"])
@pytest.mark.parametrize(
    ("given", "wanted"),
    [(None, "{}"), ({"city": "Köln"}, '{"city": "Köln"}'), ([1], "[1]"), (7, "7")],
)
def test_arguments_that_are_no_text_become_json(shape: str, given: Any, wanted: str) -> None:
    """OpenAI's types know nothing else; text that is no JSON is the model's own, and stays."""
    items = told(shape, given)
    before = copy.deepcopy(items)
    (problem,) = problems(items, shape)
    assert problem.rule == "arguments_no_text"
    assert [v.rule for v in validate(items, shape)] == ["arguments_type"]
    out, (repair,) = repaired(items, shape)
    assert (repair.rule, repair.action) == ("arguments_no_text", "wrapped")
    assert (repair.removed, repair.added) == ((items[problem.index],), (out[problem.index],))
    assert out == told(shape, wanted)
    assert items == before
    assert problems(out, shape) == []
    assert repaired(out, shape)[1] == []
    for text in ("", '{"city": "K'):
        assert repaired(told(shape, text), shape)[1] == []


def answered(shape: str, content: Any) -> list[Any]:
    """Return a call, and a result of `content`, as a host writes what its tool returned."""
    said: dict[str, Any] = {"anthropic": "Hello.", "bedrock": [{"text": "Hello."}]}
    if shape == "gemini":
        call = {"function_call": {"name": "f", "args": {}}, "thought_signature": b"s"}
        result = {"function_response": {"name": "f", "response": content}}
        turns = [("user", {"text": "Hello."}), ("model", call), ("user", result)]
        return [{"role": role, "parts": [part]} for role, part in turns]
    if shape in said:
        use, tell = BLOCKS[shape]
        block: Any = tell("a", "")
        (block if shape == "anthropic" else block["toolResult"])["content"] = content
        return [
            {"role": "user", "content": said[shape]},
            {"role": "assistant", "content": [use("a")]},
            {"role": "user", "content": [block]},
        ]
    asked, told = step(shape, "a", 1, ["1"])
    return [USER, asked, {**told, "output" if shape == "openai_responses" else "content": content}]


@pytest.mark.parametrize(
    ("shape", "given", "wanted"),
    [
        *((s, None, "") for s in ("openai_chat", "openai_responses", "bedrock")),
        *((s, 5, "5") for s in ("openai_chat", "openai_responses", "bedrock", "anthropic")),
        *((s, {"a": [1]}, '{"a": [1]}') for s in ("openai_chat", "openai_responses", "anthropic")),
        *((s, [{"type": "text", "text": 5}], "5") for s in THREE),
        ("bedrock", "1", "1"),
        ("bedrock", [{"text": 5}], "5"),
        ("bedrock", [{"json": [1, {"a": "ö"}]}], '[1, {"a": "ö"}]'),
        ("gemini", "1", "1"),
        ("gemini", [1, 2], "[1, 2]"),
    ],
)
def test_a_result_that_is_not_in_the_provider_s_form_is_written_anew(
    shape: str, given: Any, wanted: str
) -> None:
    """A tool returned nothing, a number or a list, and its host put that in as it is."""
    items = answered(shape, given)
    before = copy.deepcopy(items)
    assert [p.rule for p in problems(items, shape)] == ["malformed_item"]
    out, (repair,) = repaired(items, shape)
    assert (repair.rule, repair.action, repair.indices) == ("malformed_item", "wrapped", (2,))
    assert (repair.removed, repair.added) == ((items[2],), (out[2],))
    assert same_objects(out[:2], items[:2])
    assert items == before
    (call,) = ChatContext(out, shape=shape).tool_calls()
    assert (call.result, call.completed) == (wanted, True)
    assert problems(out, shape) == []
    assert repaired(out, shape)[1] == []
    kept, (left,) = repaired(items, shape, arguments="keep")
    assert same_objects(kept, items)
    assert "arguments='keep'" in left.message


def test_a_result_is_not_written_anew_where_that_would_lose_or_mend_nothing() -> None:
    """A picture is no text, and words that are none are nobody's results."""
    image = {"image": {"format": "png", "source": {"bytes": b"x"}}}
    items = answered("bedrock", [{"text": 5}, image])
    spoken = answered("bedrock", [{"text": "1"}])
    spoken[2] = {"role": "user", "content": [*spoken[2]["content"], {"text": 5}]}
    for broken in (items, spoken):
        out, (left,) = repaired(broken, "bedrock")
        assert same_objects(out, broken)
        assert (left.rule, left.action) == ("malformed_item", "left")
        assert "cannot be written anew" in left.message


def test_results_beside_one_that_is_malformed_stay_with_their_calls() -> None:
    """All of a message are written anew; what else is in it stays."""
    use, tell = BLOCKS["bedrock"]
    bad, point = {"toolResult": {"toolUseId": "b", "content": "2"}}, {"cachePoint": {"type": "x"}}
    told = {"role": "user", "content": [tell("a", "1"), bad, point]}
    asked = {"role": "assistant", "content": [use("a"), use("b")]}
    items = [{"role": "user", "content": [{"text": "Hello."}]}, asked, told]
    out, (repair,) = repaired(items, "bedrock")
    assert repair.action == "wrapped"
    assert out[2]["content"] == [tell("a", "1"), tell("b", "2"), point]
    assert validate(out, "bedrock") == []


def test_arguments_of_a_legacy_call_become_json() -> None:
    """A `function_call` is mended as the members of `tool_calls` are."""
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": None}}
    result = {"role": "function", "name": "f", "content": "1"}
    out, (repair,) = repaired([USER, call, result], "openai_chat")
    assert repair.rule == "arguments_no_text"
    assert out == [USER, {**call, "function_call": {"name": "f", "arguments": "{}"}}, result]


SYSTEM_FIRST = [{"role": "system", "content": "be brief"}, USER, SAID]
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}
POLICIES: list[tuple[str, str, str, list[Any], str]] = [
    ("open_calls", "keep", "openai_chat", [USER, *step("openai_chat", "a", 1, []), USER], "left"),
    (
        "orphan_results",
        "keep",
        "openai_chat",
        [USER, step("openai_chat", "a", 1, ["1"])[1]],
        "left",
    ),
    ("orphan_results", "drop", "anthropic", [USER, step("anthropic", "a", 1, ["1"])[1]], "dropped"),
    (
        "late_results",
        "keep",
        "openai_chat",
        [USER, step("openai_chat", "a", 1, [])[0], USER, step("openai_chat", "a", 1, ["1"])[1]],
        "left",
    ),
    ("reasoning", "keep", "openai_responses", [USER, REASONING, USER], "left"),
    (
        "duplicates",
        "keep",
        "anthropic",
        [USER, *step("anthropic", "a", 1, ["1"]), step("anthropic", "a", 1, ["1"])[1]],
        "left",
    ),
    ("duplicates", "keep", "openai_responses", [USER, REASONING, SAID, REASONING, SAID], "left"),
    (
        "ids",
        "keep",
        "openai_responses",
        [USER, *step("openai_responses", "a" * 70, 1, ["1"])],
        "left",
    ),
    ("blank", "keep", "anthropic", [USER, {"role": "user", "content": " "}], "left"),
    ("order", "keep", "anthropic", SYSTEM_FIRST, "left"),
    ("order", "keep", "mistral", [USER, *step("mistral", "abcdefgh1", 1, ["1"]), USER], "left"),
    ("arguments", "keep", "anthropic", cut_off("anthropic", [1]), "left"),
    ("order", "keep", "openai_responses", [USER, {"type": "compaction_trigger"}, USER], "left"),
]


@pytest.mark.parametrize(("policy", "choice", "shape", "items", "action"), POLICIES)
def test_each_policy_does_what_it_says(
    policy: str, choice: str, shape: str, items: list[Any], action: str
) -> None:
    """`keep` leaves the list alone and says so; by default the same list is mended."""
    out, repairs = repaired(items, shape, **{policy: choice})
    assert {r.action for r in repairs} == {action}
    assert same_objects(out, items) == (choice == "keep")
    if choice == "keep":
        assert all(f"{policy}='keep'" in r.message for r in repairs)
    out, repairs = repaired(items, shape)
    assert problems(out, shape) == []
    assert all(r.action != "left" for r in repairs)


def test_a_policy_that_is_none_is_refused() -> None:
    """A misspelt policy or choice would otherwise do nothing, silently."""
    with pytest.raises(TypeError, match="no policy 'open_call'; there are open_calls,"):
        repaired([USER], "openai_chat", open_call="keep")
    with pytest.raises(ValueError, match="open_calls must be 'answer' or 'keep', not 'drop'"):
        repaired([USER], "openai_chat", open_calls="drop")


@pytest.mark.parametrize("shape", THREE)
def test_many_problems_take_few_readings(shape: str) -> None:
    """A long list with a thousand problems is read a few dozen times, not once for each."""
    items, rng = long_history(shape, 3000, 1), random.Random(2)
    for _ in range(150):
        del items[rng.randrange(len(items))]
        at, to = rng.randrange(len(items)), rng.randrange(len(items))
        items[at], items[to] = items[to], items[at]
    lengths: list[int] = []
    read = reader(shape)

    def counted(some: Sequence[Any]) -> Snapshot:
        lengths.append(len(some))
        return read(some)

    out, repairs = mended(items, read=counted, render=load_templates())
    assert len(repairs) > 150
    assert len(lengths) < 40
    assert problems(out, shape) == []
    assert not [v for v in validate(out, shape) if not v.open]


# --- in a context ---------------------------------------------------------------------------------


def say(shape: str, text: str, *, model: bool = False) -> dict[str, Any]:
    """Return a message of the user, or of the model."""
    if shape == "gemini":
        return {"role": "model" if model else "user", "parts": [{"text": text}]}
    role = "assistant" if model else "user"
    if shape == "bedrock":
        return {"role": role, "content": [{"text": text}]}
    return {"role": role, "content": text}


def interrupted(shape: str) -> list[Any]:
    """Return four turns, and a request whose call was never answered."""
    talk = [say(shape, f"{i}: " + "word " * 80, model=i % 2 == 1) for i in range(8)]
    return [*talk, say(shape, "go on"), step(shape, "abcdefgh1", 1, [])[0]]


def parts_of(ctx: ChatContext[Any]) -> list[str]:
    return [type(part).__name__ for view in ctx.views() for part in view.parts]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_repair_leaves_the_summary_and_undo_as_they_were(shape: str) -> None:
    """The list is mended in place around a summary; what is valid stays the same object."""
    items = interrupted(shape)
    original = list(items)
    ctx: ChatContext[Any] = ChatContext(items, shape=shape)
    assert ctx.summarize(lambda prompt: "- all is well", keep_last_turns=1).changed
    folded = list(items)
    (repair,) = ctx.repair()
    assert repair.action == "answered"
    assert ctx.items is items
    assert same_objects(items[:-1], folded)
    assert validate(items, shape) == []
    assert ctx.repair() == []
    fresh: ChatContext[Any] = ChatContext(json.loads(json.dumps(items)), shape=shape)
    assert parts_of(fresh)[0] == "SummaryPart"
    answer = items[-1]
    ctx.undo()
    assert same_objects(items, [*original, answer])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_note_behind_a_summary_leaves_it_recognized(shape: str) -> None:
    """Whether the orphan stood before the summary or behind it, the summary comes first."""
    ctx: ChatContext[Any] = ChatContext(interrupted(shape)[:-1], shape=shape)
    ctx.summarize(lambda prompt: "- all is well", keep_last_turns=0)
    summary, orphans = ctx.items[0], step(shape, "abcdefgh1", 1, ["LK-7"])[1:]
    rest = [say(shape, "fine", model=True), say(shape, "and?")]
    for items in ([summary, *orphans, *rest], [*orphans, summary, *rest]):
        again: ChatContext[Any] = ChatContext(items, shape=shape)
        repairs = again.repair()
        assert parts_of(again)[0] == "SummaryPart"
        assert parts_of(again).count("SummaryPart") == 1
        assert [r.action for r in repairs] == ["noted"]
        assert "LK-7" in spoken(items, shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_repair_waits_for_no_summary(shape: str) -> None:
    """While one is being written it is refused, and the fold is not disturbed."""
    ctx: ChatContext[Any] = ChatContext(interrupted(shape), shape=shape)
    refused: list[str] = []

    def write(prompt: object) -> str:
        with pytest.raises(BusyError) as error:
            ctx.repair()
        refused.append(str(error.value))
        return "- all is well"

    assert ctx.summarize(write, keep_last_turns=1).changed
    assert ["repair()" in text for text in refused] == [True]
    assert [r.action for r in ctx.repair()] == ["answered"]


@pytest.mark.parametrize("shape", SHAPES)
def test_results_stay_where_the_server_holds_their_calls(shape: str) -> None:
    """Nothing is reported of them either, unless a policy says what to do."""
    items = [*step(shape, "abcdefgh1", 1, ["LK-7"])[1:], say(shape, "fine", model=True)]
    before = list(items)
    ctx: ChatContext[Any] = ChatContext(items, shape=shape, server_managed=True)
    assert ctx.repair() == []
    assert same_objects(items, before)
    ctx.repair(orphan_results="drop")
    assert "LK-7" not in str(items)


def test_a_note_never_stands_between_results_and_the_answer_to_them() -> None:
    """Mistral takes no user's message behind a result."""
    call, result = step("mistral", "abcdefgh1", 1, ["1"])
    other = {**result, "content": "2"}
    items = [USER, call, result, other, SAID, dict(USER)]
    out, (repair,) = repaired(items, "mistral")
    assert repair.action == "noted"
    assert same_objects([*out[:4], out[5]], [USER, call, result, SAID, items[5]])
    assert validate(out, "mistral") == []


def test_an_instruction_moves_to_where_mistral_takes_it() -> None:
    """Behind the next user's message, and it is left where there is none."""
    rule = {"role": "system", "content": "be brief"}
    items = [USER, SAID, rule, dict(USER), dict(SAID)]
    out, (repair,) = repaired(items, "mistral")
    assert repair.action == "reordered"
    assert same_objects(out, [USER, SAID, items[3], rule, items[4]])
    assert validate(out, "mistral") == []
    (left,) = repaired(items[:3], "mistral")[1]
    assert "no place behind it" in left.message


@pytest.mark.parametrize("told", [0, 1, 2])
def test_what_the_assistant_has_to_answer_before_the_user_gets_a_note(told: int) -> None:
    """With Mistral no user may follow a result, of a call that was interrupted neither."""
    one, two = (step("mistral", id_, 1, ["1"]) for id_ in ("abcdefgh1", "abcdefgh2"))
    call = {**one[0], "tool_calls": [*one[0]["tool_calls"], *two[0]["tool_calls"]]}
    items = [USER, call, *(one[1], two[1])[:told], dict(USER)]
    out, repairs = repaired(items, "mistral")
    assert {r.action for r in repairs} == ({"noted"} if told == 2 else {"answered", "noted"})
    assert [i["role"] for i in out] == ["user", "assistant", "tool", "tool", "assistant", "user"]
    assert "The assistant did not say this" in out[4]["content"]
    assert same_objects([*out[: 2 + told], out[5]], items)
    assert validate(out, "mistral") == []
    assert repaired(out, "mistral") == (out, [])


def test_an_instruction_behind_results_gets_no_note_in_front() -> None:
    """It may not follow the assistant either, so that a note would only be in the way."""
    items = [USER, *step("mistral", "abcdefgh1", 1, ["1"]), {"role": "system", "content": "rule"}]
    out, (left,) = repaired(items, "mistral")
    assert left.action == "left"
    assert same_objects(out, items)


@pytest.mark.parametrize("own", [None, "null"])
def test_calls_without_an_id_get_one_where_the_provider_demands_it(own: str | None) -> None:
    """On both sides, of nine letters and digits; a side that has one gives it to the other."""
    call, result = step("mistral", "abcdefgh1", 1, ["1"])
    bare_call = {**call, "tool_calls": [{**call["tool_calls"][0], "id": own}]}
    bare_result = {**result, "tool_call_id": own}
    for pair, expected in (
        ((bare_call, bare_result), "call00001"),
        ((bare_call, result), "abcdefgh1"),
        ((call, bare_result), "abcdefgh1"),
    ):
        items = [USER, *pair, SAID]
        out, repairs = repaired(items, "mistral")
        assert {r.action for r in repairs} == {"renamed"}
        (record,) = ChatContext(out, shape="mistral").tool_calls()
        assert (record.id, record.result) == (expected, "1")
        assert validate(out, "mistral") == []
        kept, left = repaired(items, "mistral", ids="keep")
        assert same_objects(kept, items)
        assert all("ids='keep'" in r.message for r in left)


@pytest.mark.parametrize("shape", list(BLOCKS))
@pytest.mark.parametrize(
    ("ids", "own"), [((None, None), "ab"), ((None, "a"), "ba"), (("b", None), "ba")]
)
@pytest.mark.parametrize("texts", ["12", "11"])
def test_results_that_do_not_name_their_call_are_named(
    shape: str, ids: tuple[str | None, ...], own: str, texts: str
) -> None:
    """By their place, and never as a call that another result of the message names."""
    use, tell = BLOCKS[shape]
    said = "Hello." if shape == "anthropic" else [{"text": "Hello."}]
    asked = {"role": "assistant", "content": [use("a"), use("b")]}
    told = {"role": "user", "content": [tell(*pair) for pair in zip(ids, texts, strict=True)]}
    items = [{"role": "user", "content": said}, asked, told]
    assert {p.rule for p in problems(items, shape)} == {"result_without_id"}
    out, repairs = repaired(items, shape)
    assert {(r.rule, r.action) for r in repairs} == {("result_without_id", "renamed")}
    named = [tell(*pair) for pair in zip(own, texts, strict=True)]
    assert out == [items[0], asked, {"role": "user", "content": named}]
    assert validate(out, shape) == []
    assert repaired(out, shape)[1] == []
    kept, left = repaired(items, shape, ids="keep")
    assert same_objects(kept, items)
    assert {r.action for r in left} == {"left"}
    assert "ids='keep'" in left[0].message


def test_a_repair_reads_as_one_line() -> None:
    """For a report: where, what, and under which rule."""
    _, (repair,) = repaired([USER, *step("openai_chat", "a", 1, [])], "openai_chat")
    assert str(repair) == (
        "item 1: answered: answered the open call 'a' as interrupted [unanswered_call]"
    )


def test_a_message_of_nothing_but_reasoning_is_taken_out() -> None:
    """A chat answer that was cut off while the model still thought cannot be sent back."""
    thought = {"role": "assistant", "content": None, "reasoning_content": "hm"}
    items: list[Any] = [{"role": "user", "content": "go"}, thought]
    ctx = ChatContext(items)
    assert [r.action for r in ctx.repair()] == ["dropped"]
    assert items == [{"role": "user", "content": "go"}]


@pytest.mark.parametrize("shape", ["anthropic", "bedrock", "mistral", "gemini"])
def test_a_list_that_begins_in_the_middle_gets_a_note_in_front(shape: str) -> None:
    """Where the user has to be first, a record says what is missing; all that is there stays."""
    *calls, result = step(shape, "callabc12", 1, ["found"])
    before = [*calls, result]
    items = list(before)
    ctx = ChatContext(items, shape=shape)
    if shape == "mistral":
        items.append({"role": "assistant", "content": "done"})
        before = list(items)
    assert [p.severity for p in ctx.check() if p.severity != "warning"] == ["error"]
    assert [r.action for r in ctx.repair()] == ["noted"]
    assert same_objects(items[1:], before)
    assert "beginning of this conversation was not recorded" in str(items[0])
    assert validate(items, shape) == []
    assert not [p for p in ctx.check() if p.severity != "warning"]
    assert ctx.repair() == []
    again = ChatContext(list(before), shape=shape)
    assert [r.action for r in again.repair(order="keep")] == ["left"]


def test_an_instruction_that_nobody_speaks_before_gets_a_note_in_front() -> None:
    """Behind the note it follows a user and leads an assistant, as the Messages API wants it."""
    rule = {"role": "system", "content": "Be brief."}
    before = [rule, {"role": "assistant", "content": "done"}]
    items = list(before)
    ctx = ChatContext(items, shape="anthropic")
    assert [r.action for r in ctx.repair()] == ["noted"]
    assert same_objects(items[1:], before)
    assert ctx.check() == []
    assert validate(items, "anthropic") == []


# --- results before their calls -------------------------------------------------------------------


def paying(*ids: str) -> dict[str, Any]:
    calls = [
        {"id": id_, "type": "function", "function": {"name": "pay", "arguments": "{}"}}
        for id_ in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def paid(id_: str, receipt: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": f"paid, receipt {receipt}"}


def test_a_result_that_was_written_before_its_call_is_put_behind_it() -> None:
    """To say that it is unknown whether that took effect would have it paid a second time."""
    early, call, last = (
        paid("a", "R-1"),
        paying("a", "b"),
        {"role": "assistant", "content": "Paid."},
    )
    items = [{"role": "user", "content": "Pay."}, early, call, paid("b", "R-2"), last]
    ctx = ChatContext(items)
    (repair,) = ctx.repair()
    assert (repair.action, repair.rule) == ("moved", "orphan_result")
    assert items.index(early) > items.index(call)
    assert [(c.id, c.result) for c in ctx.tool_calls()] == [
        ("a", "paid, receipt R-1"),
        ("b", "paid, receipt R-2"),
    ]
    assert ctx.check() == []
    assert ctx.repair() == []


def test_where_two_results_name_one_id_the_early_one_is_a_note() -> None:
    items = [{"role": "user", "content": "Pay."}, paid("a", "R-1"), paying("a"), paid("a", "R-2")]
    ctx = ChatContext(items)
    assert [repair.action for repair in ctx.repair()] == ["noted"]
    assert "R-1" in items[1]["content"]
    assert [c.result for c in ctx.tool_calls()] == ["paid, receipt R-2"]


def test_of_two_results_before_their_call_nobody_knows_which_is_its_own() -> None:
    items = [{"role": "user", "content": "Pay."}, paid("a", "R-1"), paid("a", "R-2"), paying("a")]
    repairs = ChatContext(items).repair()
    assert [repair.action for repair in repairs].count("noted") == 2
    assert not any(repair.action == "moved" for repair in repairs)


DOCUMENT = {
    "type": "document",
    "title": "contract",
    "source": {"type": "text", "media_type": "text/plain", "data": "Clause 7: 30 days notice"},
}
FOUND = {
    "type": "search_result",
    "source": "https://a.example",
    "title": "Prices",
    "content": [{"type": "text", "text": "The price is 349.90 EUR"}],
}


def test_a_note_holds_all_that_can_be_read_of_a_result() -> None:
    """Documents and what a search found, too; pictures are only counted."""
    picture = {"type": "image", "source": {"type": "url", "url": "https://a.example/1.png"}}
    blocks = [DOCUMENT, FOUND, picture]
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": blocks}
    items: list[Any] = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": "b"},
    ]
    assert [repair.action for repair in ChatContext(items, shape="anthropic").repair()] == ["noted"]
    text = items[2]["content"][0]["text"]
    assert "Clause 7: 30 days notice" in text
    assert "The price is 349.90 EUR" in text
    assert "1 images or files, which are not shown" in text


def test_a_note_holds_what_a_later_sdk_writes() -> None:
    items: list[Any] = [
        {"role": "user", "content": "q"},
        {"type": "browser_call_output", "call_id": "call_9", "page": "the words of the page"},
        {"role": "assistant", "content": "a"},
    ]
    ctx = ChatContext(items, shape="openai_responses")
    assert [repair.action for repair in ctx.repair()] == ["noted"]
    assert "the words of the page" in json.dumps(items)


# --- one run is enough ---------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["assistant", "system"])
def test_a_result_in_another_role_s_message_goes_into_one_of_the_user(role: str) -> None:
    """It was put back into a message of the same role, again and again."""
    use = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "ok"}
    items = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [use]},
        {"role": role, "content": [result]},
        {"role": "user", "content": "And now?"},
    ]
    out, repairs = repaired(items, "anthropic")
    assert [(r.rule, r.action) for r in repairs] == [("block_place", "moved")]
    assert out[2] == {"role": "user", "content": [result]}
    assert problems(out, "anthropic") == []
    assert list(complaints(items, "anthropic")) == []


def test_mends_that_undo_each_other_are_not_made() -> None:
    """What is wrong is told once, and a second run finds the list as it is."""
    use = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    items = [
        {"role": "system", "content": [{"type": "text", "text": "Be brief."}, use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]},
    ]
    out, repairs = repaired(items, "anthropic")
    again, more = repaired(out, "anthropic")
    assert same_objects(again, out)
    assert {r.action for r in more} == {"left"}
    assert {(r.rule, r.action) for r in more} == {
        (r.rule, r.action) for r in repairs if r.action == "left"
    }
    assert len([r for r in repairs if r.action != "left"]) < 2


@pytest.mark.parametrize("shape", sorted(BLOCKS))
def test_a_message_that_was_saved_twice_goes_once_and_is_compared_once(shape: str) -> None:
    """However many calls it has: each of them is a problem of its own."""
    call, result = BLOCKS[shape]
    text = {"type": "text", "text": "go"} if shape == "anthropic" else {"text": "go"}
    ids = [f"c{number}" for number in range(50)]
    asked = {"role": "assistant", "content": [call(id_) for id_ in ids]}
    told = {"role": "user", "content": [result(id_, "ok") for id_ in ids]}
    items = [{"role": "user", "content": [text]}, asked, copy.deepcopy(asked), told]
    compared = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal compared
        compared += event == "call" and frame.f_code.co_name == "is_same"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        out, repairs = repaired(items, shape)
    finally:
        sys.setprofile(before)
    assert same_objects(out, [items[0], items[1], items[3]])
    assert [(r.action, r.indices) for r in repairs] == [("dropped", (2, 1))]
    assert compared < 10


def test_many_open_calls_of_one_step_are_answered_in_linear_time() -> None:
    """Eight times the calls take about eight times as long; the square would be 64 times."""

    def seconds(count: int) -> float:
        call = {"type": "function_call", "name": "look", "arguments": "{}"}
        calls = [{**call, "call_id": f"c{number}"} for number in range(count)]
        items = [{"role": "user", "content": "go"}, *calls, {"role": "user", "content": "and?"}]
        assert len(ChatContext([*items]).repair()) == count
        return quickest(lambda: ChatContext([*items]).repair())

    assert seconds(3_200) < 25 * seconds(400)
