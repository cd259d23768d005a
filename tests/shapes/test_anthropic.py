"""The shape `anthropic`: the conformance suite, and what only Anthropic's messages have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

import pytest
from anthropic import Anthropic, DefaultHttpxClient
from anthropic.types import Message
from fake_server import LLMServer
from shapes.conformance import Call, ShapeConformance
from validator import validate

from chatfold import ChatContext, Prompt
from chatfold.core.views import ReasoningPart, ResultPart, TextPart
from chatfold.stores import MemoryStore

Item = dict[str, Any]


class AnthropicWriter:
    """Writes Anthropic messages."""

    shape = "anthropic"
    union = "anthropic.types:MessageParam"
    fails = True

    def system(self, text: str) -> None:
        return None

    def user(self, text: str) -> Item:
        return {"role": "user", "content": [{"type": "text", "text": text}]}

    def picture(self, text: str, data: str) -> Item:
        source = {"type": "base64", "media_type": "image/png", "data": data}
        return {
            "role": "user",
            "content": [{"type": "image", "source": source}, {"type": "text", "text": text}],
        }

    def assistant(self, text: str, *, sdk: bool = False) -> Any:
        return self._message([{"type": "text", "text": text}], sdk)

    def calls(self, *calls: Call, sdk: bool = False) -> list[Any]:
        uses = [
            {"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in calls
        ]
        return [self._message(uses, sdk)]

    def results(self, *calls: Call) -> list[Any]:
        blocks = [
            {"type": "tool_result", "tool_use_id": c.id, "content": c.result}
            | ({"is_error": True} if c.failed else {})
            for c in calls
        ]
        return [{"role": "user", "content": blocks}]

    def joined(self, results: list[Any]) -> list[Any]:
        return [{"role": "user", "content": [b for item in results for b in item["content"]]}]

    def unknown(self) -> list[Any]:
        return [
            {"role": "brand_new", "content": [{"type": "thinking", "thinking": "x"}]},
            {"role": "user", "content": [{"type": "brand_new", "data": 1}]},
        ]

    def malformed(self) -> list[Any]:
        return [
            {"role": "user"},
            {"role": "user", "content": None},
            {"role": "user", "content": []},
            {"role": "user", "content": [5]},
            {"role": "user", "content": [{}]},
            {"role": "user", "content": [{"type": "tool_result"}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": [], "content": 5}]},
            {"role": "assistant", "content": [{"type": "tool_use"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": None, "input": None}]},
        ]

    def _message(self, blocks: list[Item], sdk: bool) -> Any:
        if not sdk:
            return {"role": "assistant", "content": blocks}
        return Message.model_validate(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "claude-opus-4-6",
                "content": blocks,
                "stop_reason": "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }
        )


class TestAnthropic(ShapeConformance):
    """Anthropic's messages pass the shared suite."""

    writer = AnthropicWriter()

    def remarks(self, items: Sequence[Any]) -> list[tuple[str, int]]:
        """Return that the SDK's messages are responses, of which all fields would be sent."""
        return [("whole_response", i) for i, m in enumerate(items) if isinstance(m, Message)]


def _user(*blocks: Any) -> Item:
    return {"role": "user", "content": [_text(b) if isinstance(b, str) else b for b in blocks]}


def _assistant(*blocks: Any) -> Item:
    return {**_user(*blocks), "role": "assistant"}


def _text(text: str) -> Item:
    return {"type": "text", "text": text}


def _use(id_: str, kind: str = "tool_use", name: str = "get") -> Item:
    return {"type": kind, "id": id_, "name": name, "input": {}}


def _result(id_: str, text: Any = "ok", kind: str = "tool_result") -> Item:
    return {"type": kind, "tool_use_id": id_, "content": text}


def _thinking(text: str = "hm") -> Item:
    return {"type": "thinking", "thinking": text, "signature": "c2ln"}


LONG = "word " * 400
SYSTEM = {"role": "system", "content": "Be terse from now on."}


def test_results_alone_open_no_turn_and_results_with_words_do() -> None:
    """A message that only carries results is no user's message; with text it is one."""
    items = [
        _user("a"),
        _assistant(_use("t1")),
        _user(_result("t1")),
        _assistant(_use("t2")),
        _user(_result("t2"), "and be quick"),
        _assistant("done"),
    ]
    assert [t.openers for t in ChatContext(items).turns()] == [(0,), (4,)]


@pytest.mark.parametrize("keep", [0, 1])
def test_a_message_with_results_and_words_is_never_left_an_orphan(keep: int) -> None:
    """Where the last turn opens with one, the cut moves back to its call."""
    items = [
        _user("a"),
        _assistant(LONG),
        _user("b"),
        _assistant(_use("t1")),
        _user(_result("t1"), "and be quick"),
    ]
    ctx = ChatContext(items)
    outcome = ctx.summarize(lambda prompt: "short", keep_last_turns=keep)
    assert outcome.changed
    assert ctx.items[-2:] == items[-2:]
    assert [v for v in validate(ctx.items, "anthropic") if not v.open] == []


def test_a_result_may_be_text_blocks_or_nothing() -> None:
    """The content of a result is text, a list of blocks, or absent."""
    for content, text in (([_text("a"), _text("b")], "a\nb"), ("", ""), (None, "")):
        items = [_user("a"), _assistant(_use("t1")), _user(_result("t1", content))]
        if content is None:
            del items[2]["content"][0]["content"]
        (record,) = ChatContext(items).tool_calls()
        assert (record.result, record.status) == (text, "completed")


def test_a_server_tool_is_call_and_result_in_one_message() -> None:
    """The server answers its own call; the record has one index, and cuts are free."""
    error = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    items = [
        _user("a"),
        _assistant(
            _use("s1", "server_tool_use", "web_search"),
            _result("s1", [], "web_search_tool_result"),
            _use("s2", "server_tool_use", "web_search"),
            _result("s2", error, "web_search_tool_result"),
            "found",
        ),
    ]
    ctx = ChatContext(items)
    assert [(c.id, c.name, c.kind, c.status, c.result_index) for c in ctx.tool_calls()] == [
        ("s1", "web_search", "server", "completed", 1),
        ("s2", "web_search", "server", "failed", 1),
    ]
    assert ctx.cut_points() == [0, 1, 2]


@pytest.mark.parametrize("kind", ["code_execution", "bash_code_execution"])
@pytest.mark.parametrize(("code", "status"), [(0, "completed"), (1, "failed"), (-9, "failed")])
def test_code_that_the_server_ran_has_failed_where_it_says_so(
    kind: str, code: int, status: str
) -> None:
    """As a command of a shell has: it was answered, and not by an error of the tool."""
    ran = {"type": f"{kind}_result", "return_code": code, "stdout": "", "stderr": "", "content": []}
    use = {"type": "server_tool_use", "id": "s1", "name": kind, "input": {}}
    result = {"type": f"{kind}_tool_result", "tool_use_id": "s1", "content": ran}
    ask = {"role": "user", "content": "Run it."}
    (call,) = ChatContext([ask, {"role": "assistant", "content": [use, result]}]).tool_calls()
    assert call.status == status


def test_a_server_result_in_a_later_message_keeps_its_call() -> None:
    """Beside a client's tool, the server's result comes with the next assistant message."""
    items = [
        _user("a"),
        _assistant(_use("s1", "server_tool_use", "code_execution"), _use("t1")),
        _user(_result("t1")),
        _assistant(_result("s1", {"type": "x"}, "code_execution_tool_result"), "done"),
    ]
    ctx = ChatContext(items)
    assert ctx.cut_points() == [0, 1, 4]
    assert [(c.id, c.call_index, c.result_index) for c in ctx.tool_calls()] == [
        ("s1", 1, 3),
        ("t1", 1, 2),
    ]
    assert ctx.check() == []


def test_a_server_call_without_a_result_blocks_until_it_is_there() -> None:
    """A paused turn is continued by the server, so its call is open."""
    ctx = ChatContext([_user("a"), _assistant(_use("s1", "server_tool_use", "web_search"))])
    assert [c.status for c in ctx.tool_calls()] == ["open"]
    assert ctx.cut_points() == [0, 1]
    assert {p.severity for p in ctx.check()} == {"pending"}


def test_thinking_is_read_and_what_is_encrypted_of_it_is_counted() -> None:
    """Words of thinking are readable; a redacted block and an empty one are only measured."""
    redacted = {"type": "redacted_thinking", "data": "x" * 9}
    view = ChatContext([_user("a"), _assistant(_thinking(), redacted, _thinking(""))]).views()[1]
    assert view.parts == (ReasoningPart("hm"), ReasoningPart("", 9), ReasoningPart("", 4))


@pytest.mark.parametrize(
    ("model", "bound"),
    [
        ("claude-fable-5-1", True),
        ("claude-opus-5-5", True),
        ("claude-haiku-5-5-20260901", True),
        ("claude-mythos-5-2", True),
        (None, True),
        ("claude-mythos-5-1", False),
        ("claude-opus-4-6", False),
        ("claude-sonnet-4-5-20250929", False),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", False),
        ("claude-3-7-sonnet-latest", False),
    ],
)
def test_thinking_behind_a_summary_needs_request_options_on_models_that_sign_it(
    model: str | None, bound: bool
) -> None:
    """The options are computed from the list, so they survive a restart; other lists need none."""
    items = [_user("a"), _assistant(LONG), _user("b"), _assistant(_thinking(), "done")]
    ctx = ChatContext(items, model=model)
    assert ctx.request_options() == {}
    ctx.summarize(lambda prompt: "short", keep_last_turns=1)
    options = ChatContext(list(ctx.items), model=model).request_options()
    assert ("betas" in options) is bound
    if bound:
        assert options["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}


def test_an_instruction_in_the_middle_is_kept_where_the_provider_lets_it_stand() -> None:
    """It goes behind a user turn and before an assistant's, never right behind another role."""
    items = [
        _user("a"),
        SYSTEM,
        _assistant(LONG),
        _user("b"),
        _assistant("c"),
        _user("d"),
        _assistant("e"),
    ]
    for keep in (1, 2):
        ctx = ChatContext(list(items))
        outcome = ctx.summarize(lambda prompt: "short", keep_last_turns=keep)
        assert outcome.kept == (SYSTEM,)
        assert any(item is SYSTEM for item in ctx.items)
        assert validate(ctx.items, "anthropic") == []


@pytest.mark.parametrize("limit", [{"keep_last_turns": 0}, {"keep_tokens": 10}])
def test_an_instruction_does_not_go_to_the_end_where_the_user_speaks_next(limit: Item) -> None:
    """Behind a finished turn it stays with its neighbours, behind a question it is last."""
    items = [_user("a"), SYSTEM, _assistant("b"), _user(LONG), _assistant(LONG)]
    ctx = ChatContext(list(items))
    assert ctx.summarize(lambda prompt: "short", **limit).kept == tuple(items[:3])
    assert ctx.undo()
    assert ctx.items == items
    ctx.summarize(lambda prompt: "short", **limit)
    ctx.append(_user("c"))
    assert ctx.check() == []
    assert validate(ctx.items, "anthropic") == []
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=0, force=True).changed
    assert ctx.items[1:] == [_user("c"), SYSTEM]
    ctx.append(_assistant("d"))
    assert ctx.check() == []


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize("answered", [(), ("t1",), ("t2",), ("t1", "t2")])
def test_an_instruction_does_not_go_behind_results_that_others_are_to_follow(
    answered: tuple[str, ...], earlier: bool
) -> None:
    """All results of a step stand in the next message, and ids recur; then it is a user's turn."""
    rules, both = [_rule(1), _rule(2)], [_result("t1"), _result("t2")]
    items = [each for rule in rules for each in (_user(LONG), rule, _assistant(LONG))]
    step = _assistant(_use("t1"), _use("t2"))
    if earlier:
        items += [_user(LONG), step, _user(*both), _assistant(LONG)]
    given = [_user(*map(_result, answered))] if answered else []
    question = _user("do both")
    ctx = ChatContext([*items, question, step, *given], shape="anthropic")
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    if len(answered) == 2:
        assert ctx.items[1:] == [question, rules[0], step, *given, rules[1]]
    else:
        assert ctx.items[1:] == [question, *rules, step, *given]
        ctx.items[5:] = [_user(*both)]
    assert ctx.check() == []
    assert validate(ctx.items, "anthropic") == []


@pytest.mark.parametrize("answered", [(), ("t1",), ("t2",), ("t1", "t2")])
def test_an_instruction_goes_behind_all_results_of_a_step(answered: tuple[str, ...]) -> None:
    """Before the step is no place where the assistant spoke last; without one it stays in place."""
    told = [_user(LONG), _rule(1), _assistant(LONG)]
    running = [_user("both"), _assistant("as you say"), _assistant(LONG)]
    step = [_assistant(_use("t1"), _use("t2"))]
    step += [_user(*map(_result, answered))] if answered else []
    ctx = ChatContext(
        [*told, *running, *step], shape="anthropic", pin=lambda item: item is running[1]
    )
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=None, keep_tokens=200).changed
    if len(answered) == 2:
        assert ctx.items[1:] == [*running[:2], *step, _rule(1)]
    else:
        assert ctx.items[1:] == [*told, *running[:2], *step]
    assert [p for p in ctx.check() if p.severity == "error" and p.rule == "system_place"] == []


def test_the_oldest_instructions_stand_side_by_side_where_places_run_out() -> None:
    """Each is the message that it was, with its marks and settings."""
    cached = [{**_text("Rule 2."), "cache_control": {"type": "ephemeral"}}]
    setting = {"role": "system", "content": "Rule 3.", "output_config": {"effort": "low"}}
    rules: list[Item] = [
        {"role": "system", "content": "Rule 1."},
        {"role": "system", "content": cached},
        setting,
    ]
    items = [each for rule in rules for each in (_user(LONG), rule, _assistant(LONG))]
    items += [_user("a"), _assistant("b"), _user("c")]
    ctx = ChatContext(list(items))
    outcome = ctx.summarize(lambda prompt: "short", keep_last_turns=2)
    assert outcome.kept == tuple(rules)
    assert outcome.merged == ()
    assert ctx.items[1:] == [_user("a"), *rules[:2], _assistant("b"), _user("c"), setting]
    assert ctx.check() == []
    ctx.extend([_assistant(LONG), _user("d")])
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1)
    assert ctx.items[1:] == [_user("d"), *rules]
    assert all(any(item is rule for item in ctx.items) for rule in rules)
    ctx.append(_assistant("e"))  # the user's next message may not follow an instruction
    outcome = ctx.summarize(lambda prompt: "short", keep_last_turns=0)
    assert outcome.reason == "nothing_to_summarize"
    assert "no place for it behind the summary" in str(outcome)
    assert ctx.undo()
    assert ctx.undo()
    assert ctx.items == [*items, _assistant(LONG), _user("d"), _assistant("e")]


@pytest.mark.parametrize("change", [False, True])
@pytest.mark.parametrize(
    ("limit", "stays"),
    [
        ({"keep_last_turns": 2}, [2, 3]),
        ({"keep_last_turns": 1}, [3]),
        ({"keep_last_turns": None, "keep_tokens": 500}, [3]),
    ],
)
def test_an_instruction_in_each_turn_stops_no_fold(
    limit: dict[str, int | None], stays: list[int], change: bool
) -> None:
    """Those of the older turns go before that of the first that stays, in their order."""
    turns = [[_user(LONG), _rule(n), _assistant(LONG)] for n in range(4)]
    if change:
        block = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "refund"}}
        turns[1][1] = {"role": "system", "content": [block]}
    for more in ([], [_user("d")], [_user("d"), _rule(4)]):
        ctx = ChatContext([*chain.from_iterable(turns), *more], shape="anthropic")
        outcome = ctx.summarize(lambda prompt: "short", **limit)
        assert outcome.changed
        told = [item for item in ctx.items if item["role"] == "system"]
        assert told == [turn[1] for turn in turns] + more[1:]
        assert ctx.check() == []
        assert validate(ctx.items, "anthropic") == []
        if not more:
            asked = turns[stays[0]][0]
            assert ctx.items[1:3] == [asked, turns[0][1]]


def test_instructions_that_go_to_one_place_go_on_fold_after_fold() -> None:
    """The store brings all of them back to where they stood."""
    store = MemoryStore()
    items = [each for n in (1, 2) for each in (_user(LONG), _rule(n), _assistant(LONG))]
    states: list[Any] = []
    for n in (3, 4):
        items += [_user(f"question {n}")]
        states.append(list(items))
        ctx = ChatContext(items, shape="anthropic", store=store, key="a")
        assert ctx.summarize(lambda prompt, n=n: f"short {n}", keep_last_turns=1).changed
        assert items[1:] == [_user(f"question {n}"), *map(_rule, range(1, n))]
        more = [_assistant(LONG), _user(LONG), _rule(n), _assistant(LONG)]
        items += more
        states = [[*state, *more] for state in states[:1]] if n == 3 else states
        items = json.loads(json.dumps(items))
    ctx = ChatContext(items, shape="anthropic", store=store, key="a")
    assert ctx.undo().reason == "undone"
    assert ctx.undo().reason == "undone"
    assert ctx.items[: len(states[0])] == states[0]


def test_instructions_of_plain_text_go_where_any_shape_takes_them() -> None:
    """The list may turn out to be of a shape that takes them in few places."""
    items = [
        each
        for n in (1, 2)
        for role, text in (("user", LONG), ("system", f"Rule {n}."), ("assistant", LONG))
        for each in ({"role": role, "content": text},)
    ]
    ctx = ChatContext([*items, {"role": "user", "content": "c"}])
    assert ctx.shape is None
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert ctx.items[2:] == [_rule(1), _rule(2)]


def _rule(number: int) -> Item:
    return {"role": "system", "content": f"Rule {number}."}


PASSING = {**SYSTEM, "clear_at": "next_user_message"}


def _asked(items: list[Any], **wishes: Any) -> tuple[ChatContext[Any], str]:
    """Fold items, and return the context with what the summarizer was asked."""
    prompts: list[str] = []
    ctx = ChatContext(list(items), shape="anthropic")

    def note(prompt: Prompt) -> str:
        prompts.append(prompt.user)
        return "short"

    ctx.summarize(note, **wishes)
    assert validate(ctx.items, "anthropic") == []
    return ctx, "".join(prompts)


def test_an_instruction_for_one_turn_is_history_once_the_user_has_gone_on() -> None:
    """Behind a later question it would hold again."""
    items = [_user("a"), PASSING, _assistant(LONG), _user("b"), _assistant("c"), _user("d")]
    ctx, asked = _asked(items, keep_last_turns=1)
    assert ctx.items[1:] == [_user("d")]
    assert '<system until="next_user_message">Be terse from now on.</system>' in asked
    assert ctx.undo()
    assert all(a is b for a, b in zip(ctx.items, items, strict=True))


def test_an_instruction_for_one_turn_is_history_once_a_result_follows_it() -> None:
    """Results are messages of the user; the request of the turn stays, it does not."""
    called = [_assistant(_use("t1")), _user(_result("t1")), _assistant(_use("t2"), LONG)]
    items = [_user("a"), PASSING, *called, _user(_result("t2"))]
    ctx, asked = _asked([_user(LONG), _assistant("b"), *items], keep_tokens=300)
    assert PASSING not in ctx.items
    assert _user("a") in ctx.items
    assert "<system until=" in asked


def test_an_instruction_for_the_turn_under_way_stays() -> None:
    """No later message of the user takes it back."""
    items = [_user("a"), _assistant(LONG), _user("b"), PASSING, _assistant(LONG), _assistant("c")]
    ctx = _asked(items, keep_tokens=10)[0]
    assert ctx.items[1:] == [_user("b"), PASSING, _assistant("c")]


@pytest.mark.parametrize("more", [{}, {"output_config": {"effort": "high"}}])
def test_what_stays_of_an_instruction_that_has_passed_stays_where_it_is(more: Item) -> None:
    """What is pinned, or sets what still applies; behind a later question it would hold again."""
    item = {**PASSING, **more}
    items = [_user(LONG), _assistant(LONG), _user("a"), item, _assistant("b"), _user("c")]
    ctx = ChatContext(list(items), pin=None if more else lambda i: i is item)
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert ctx.items[1:] == items[2:]


def test_a_setting_that_a_later_one_replaces_goes_with_words_that_have_passed() -> None:
    """The words are in the prompt, and nothing is counted as left out."""
    low = {"role": "system", "content": [], "output_config": {"effort": "low"}}
    item = {**PASSING, "output_config": {"effort": "high"}}
    items = [_user(LONG), item, _assistant(LONG), _user("b"), low, _assistant("c"), _user("d")]
    ctx, asked = _asked(items, keep_last_turns=1)
    assert ctx.items[1:] == [low, _user("d")]
    assert SYSTEM["content"] in asked


def test_an_instruction_may_pass_one_that_has_passed() -> None:
    """That says nothing any more; they stand side by side where there is no other place."""
    late = [_user("d"), _assistant("e")]
    items = [_user("a"), SYSTEM, _assistant(LONG), _user("b"), PASSING, _assistant("c"), *late]
    ctx = _asked(items, keep_last_turns=2)[0]
    assert ctx.items[1:] == [_user("b"), PASSING, _assistant("c"), _user("d"), SYSTEM, late[1]]
    ctx = _asked([*items[:-2], _user("d")], keep_last_turns=2)[0]
    assert ctx.items[1:] == [_user("b"), PASSING, _assistant("c"), _user("d"), SYSTEM]
    ctx = _asked([*items[:-2], _assistant("f")], keep_last_turns=1)[0]
    assert ctx.items[1:] == [_user("b"), SYSTEM, PASSING, _assistant("c"), _assistant("f")]


HIGH = {"role": "system", "content": [], "output_config": {"effort": "high"}}
LOW = {**HIGH, "output_config": {"effort": "low"}}


def test_an_instruction_stays_with_the_user_whom_settings_part_from_it() -> None:
    """They may stand anywhere and part nothing, so that the user's turn is the one before them."""
    items = [_user("a"), HIGH, _rule(1), LOW, _assistant("b"), _user(LONG), _assistant(LONG)]
    ctx = ChatContext(list(items), shape="anthropic")
    assert ctx.check() == []
    assert ctx.cut_points() == [0, 3, 4, 5, 6, 7]
    outcome = ctx.summarize(lambda prompt: "short", keep_last_turns=0)
    assert outcome.kept == (items[0], *items[2:5])
    assert ctx.items[1:] == list(outcome.kept)
    assert validate(ctx.items, "anthropic") == []


def test_settings_that_stay_are_not_in_the_way_of_an_instruction() -> None:
    """Neither before the tail nor in it; nor behind the request that the cut leaves."""
    items = [_user(LONG), _rule(1), _assistant(LONG), LOW, _user("a"), HIGH, _assistant("b")]
    ctx = _asked(items, keep_last_turns=1)[0]
    assert ctx.items[1:] == [LOW, _user("a"), HIGH, _rule(1), _assistant("b")]
    items = [_user(LONG), _assistant(LONG), _user("a"), _rule(1), LOW, _assistant(LONG)]
    ctx = _asked([*items, _assistant("b")], keep_tokens=10)[0]
    assert ctx.items[1:] == [_user("a"), LOW, _rule(1), _assistant("b")]


@pytest.mark.parametrize("content", ["Be terse.", [{"type": "tool_addition", "tool": {}}]])
def test_an_instruction_that_sets_an_option_goes_before_later_settings(content: Any) -> None:
    """Else the option would go back to what it was; words alone may stand behind them."""
    both = {"role": "system", "content": content, "output_config": {"effort": "low"}}
    told, last = [_user(LONG), both, _assistant(LONG)], [_user("a"), HIGH, _assistant("b")]
    assert _asked([*told, *last], keep_last_turns=1)[0].items[1:] == [last[0], both, *last[1:]]
    ctx = _asked([*told, LOW, HIGH, last[0], last[2]], keep_last_turns=1)[0]
    assert ctx.items[1:] == [last[0], both, HIGH, last[2]], "settings of the head go with it"
    ctx = _asked([told[0], LOW, *told[1:], *last], keep_last_turns=1)[0]
    assert ctx.items[1:] == [last[0], both, *last[1:]], "what came before is replaced"
    budget = {**HIGH, "output_config": {"task_budget": {"type": "tokens", "total": 100_000}}}
    ctx = _asked([told[0], budget, *told[1:], *last], keep_last_turns=1)[0]
    assert ctx.items[1:] == [budget, last[0], both, *last[1:]]
    ctx = _asked([*told, HIGH, *last[:1], _rule(1), last[2]], keep_last_turns=1)[0]
    assert ctx.items[1:] == [last[0], both, HIGH, _rule(1), last[2]]
    ctx = _asked([*told, _user("c"), _rule(1), _assistant(LONG), *last], keep_last_turns=1)[0]
    assert ctx.items[1:] == [last[0], both, _rule(1), *last[1:]]
    ctx = _asked([*told, _user("a"), budget, _assistant("b")], keep_last_turns=1)[0]
    assert ctx.items[1:] == [_user("a"), budget, both, _assistant("b")], "it sets something else"


def test_an_instruction_that_sets_an_option_has_a_place_before_settings_or_none() -> None:
    """Where none is, it stays, and so does what it stands between."""
    both = {**_rule(1), "output_config": {"effort": "low"}}
    items = [_user(LONG), _assistant(LONG), _user("a"), both, _assistant("b")]
    last = [_user("c"), HIGH, _user("d"), _assistant("e")]
    ctx = _asked([*items, _user(LONG), _assistant(LONG), *last], keep_last_turns=2)[0]
    assert ctx.items[1:] == [*items[2:], *last]
    assert validate(ctx.items, "anthropic") == []


def test_what_has_passed_behind_settings_stays_with_the_turn_that_it_was_for() -> None:
    """It would hold again behind a later question, and must stand behind a user's turn."""
    items = [_user(LONG), _assistant(LONG), _user("a"), HIGH, PASSING, _assistant("b"), _user("c")]
    ctx = ChatContext(list(items), shape="anthropic", pin=lambda item: item is PASSING)
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert ctx.items[1:] == items[2:]
    assert validate(ctx.items, "anthropic") == []


SERVED = (_use("s1", "server_tool_use", "web_search"), _result("s1", [], "web_search_tool_result"))


def test_an_instruction_stays_behind_a_result_of_the_servers_that_stays() -> None:
    """The provider takes it there as behind a user's turn, so that it need not move."""
    served, last = _assistant(*SERVED), [_assistant(LONG), _user("c"), _assistant("d")]
    items = [_user(LONG), _assistant(LONG), _user("a"), served, SYSTEM, *last]
    ctx = ChatContext(list(items), shape="anthropic", pin=lambda item: item is served)
    limits: dict[str, Any] = {"keep_last_turns": None, "keep_tokens": 380}
    assert ctx.plan(**limits).split.cut == 5
    assert ctx.summarize(lambda prompt: "short", **limits).changed
    assert ctx.items[1:] == items[2:]
    assert validate(ctx.items, "anthropic") == []


@pytest.mark.parametrize("later", [_rule(2), PASSING])
def test_an_instruction_passes_no_later_one_but_what_has_passed(later: Item) -> None:
    """Behind a result of the server's is no place before it; behind it the user speaks again."""
    told, last = [_user(LONG), _rule(1), _assistant(LONG)], [_user("c"), _assistant("d")]
    pinned, served = _assistant("b"), _assistant(*SERVED)
    turn = [_user("a"), pinned, _assistant(LONG), served, later, _assistant("b"), *last]
    ctx = ChatContext([*told, *turn], shape="anthropic", pin=lambda item: item is pinned)
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=None, keep_tokens=300).changed
    if later is PASSING:
        assert ctx.items[1:] == [*turn[:2], *turn[3:-1], _rule(1), turn[-1]]
    else:
        assert ctx.items[1:] == [*told, *turn[:2], *turn[3:]]
    assert validate(ctx.items, "anthropic") == []


def test_an_instruction_does_not_pass_a_later_one_that_stays_where_it_is() -> None:
    """That stands between messages that are pinned; the older one goes beside it."""
    told = [[_user(LONG), _rule(n), _assistant(LONG)] for n in (1, 2)]
    items = [_user(LONG), _assistant(LONG), *chain(*told), _user("c"), _assistant("d")]
    ctx = ChatContext(
        list(items), shape="anthropic", pin=lambda item: any(item is p for p in told[1])
    )
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    asked, *rest = told[1]
    assert ctx.items[1:] == [asked, _rule(1), *rest, *items[-2:]]
    assert validate(ctx.items, "anthropic") == []
    assert ctx.undo().changed
    assert ctx.items == items


@pytest.mark.parametrize("sets", [False, True])
def test_settings_stay_behind_an_instruction_that_goes_beside_a_later_one(sets: bool) -> None:
    """Where it sets the option too; others part nothing, and stay where they are."""
    rule = _rule(1) | ({"output_config": {"effort": "low"}} if sets else {})
    setting = {"role": "system", "content": [], "output_config": {"effort": "high"}}
    asked, later, answer = _user(LONG), _rule(2), _assistant(LONG)
    items = [_user(LONG), rule, _assistant(LONG), setting, asked, later, answer, _user("c")]
    stay = [asked, later, answer]
    ctx = ChatContext(list(items), shape="anthropic", pin=lambda i: any(i is p for p in stay))
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    order = [asked, rule, setting] if sets else [setting, asked, rule]
    assert ctx.items[1:] == [*order, later, answer, _user("c")]
    assert validate(ctx.items, "anthropic") == []


def test_an_instruction_does_not_go_beside_one_that_the_api_refuses_where_it_stands() -> None:
    """That is the host's own mistake; the fold would only make one more of it."""
    told = [_user(LONG), _rule(1), _assistant(LONG)]
    wrong = [_user(LONG), _assistant(LONG), PASSING, _user("c"), _assistant(LONG), _user("d")]
    ctx = ChatContext([*told, *wrong], shape="anthropic", pin=lambda item: item is PASSING)
    errors = [p.rule for p in ctx.check() if p.severity == "error"]
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert [p.rule for p in ctx.check() if p.severity == "error"] == errors


@pytest.mark.parametrize("passed", [0, 1])
def test_what_has_passed_stays_beside_another_with_the_turn_that_it_was_for(passed: int) -> None:
    """The other would else leave it without a user's turn before it."""
    run = [PASSING, _rule(1)]
    items = [_user(LONG), _assistant(LONG), _user("a"), run[passed], run[1 - passed]]
    items += [_assistant("b"), _user("c")]
    ctx = ChatContext(list(items), shape="anthropic", pin=lambda item: item is PASSING)
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert ctx.items[1:] == items[2:]
    assert validate(ctx.items, "anthropic") == []


@pytest.mark.parametrize("kind", ["tool_addition", "tool_removal"])
def test_what_changes_the_tools_stands_where_an_instruction_does(kind: str) -> None:
    """Only messages that set options alone may stand anywhere; it moves behind a user's turn."""
    block = {"type": kind, "tool": {"type": "tool_reference", "name": "refund"}}
    change = {"role": "system", "content": [block]}
    items = [_user(LONG), change, _assistant(LONG), _user("b"), _assistant("c"), _user("d")]
    ctx = _asked(items, keep_last_turns=2)[0]
    assert ctx.items[1:] == [_user("b"), change, _assistant("c"), _user("d")]
    assert validate(ctx.items, "anthropic") == []
    ctx = _asked(items, keep_last_turns=1)[0]
    assert ctx.items[1:] == [_user("d"), change]


def test_changes_of_tools_go_to_one_place_with_words() -> None:
    """Else the turns around them would stay, and a long conversation could not be folded."""
    added, removed = (
        {"type": kind, "tool": {"type": "tool_reference", "name": kind}}
        for kind in ("tool_addition", "tool_removal")
    )
    changes = [{"role": "system", "content": [block]} for block in (added, removed)]
    turns = [[_user(LONG), change, _assistant(LONG)] for change in (*changes, _rule(1))]
    ctx = _asked([*chain.from_iterable(turns), _user("d")], keep_last_turns=1)[0]
    assert ctx.items[1:] == [_user("d"), *changes, _rule(1)]
    assert validate(ctx.items, "anthropic") == []


def test_settings_without_content_are_state_that_stays() -> None:
    """A system message may set options only; it may stand anywhere, and goes on to apply."""
    contents: tuple[Item, ...] = ({"content": []}, {})
    for content in contents:
        effort = {"role": "system", "output_config": {"effort": "high"}, **content}
        items = [_user("a"), effort, _assistant(LONG), _user("b"), _assistant("c")]
        ctx = ChatContext(items)
        assert ctx.check() == []
        assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).kept == (effort,)


@pytest.mark.parametrize("signature", [None, "c2ln"])
def test_a_compaction_block_is_a_barrier(signature: str | None) -> None:
    """What only the server can read cannot be summarized: cuts behind it are lossy."""
    block = {"type": "compaction", "content": "so far", "signature": signature}
    items = [_assistant(block, "go on"), _user("b"), _assistant("c")]
    ctx = ChatContext(items)
    assert ctx.cut_points() == [0]
    assert ctx.cut_points(lossy=True) == [0, 1, 2, 3]
    assert ctx.plan(keep_last_turns=0).reason == "blocked_by_opaque"


def test_a_failed_compaction_stands_for_nothing() -> None:
    """A block without content hides nothing, so it is no barrier."""
    items = [_user("a"), _assistant({"type": "compaction", "content": None}, "go on"), _user("b")]
    assert ChatContext(items).cut_points() == [0, 1, 2, 3]


def test_sdk_blocks_inside_a_dict_are_read_as_anthropic() -> None:
    """People append `response.content` as it is: a list of SDK objects inside of a dict."""
    from anthropic.types import TextBlock, ToolUseBlock

    words = {"role": "assistant", "content": [TextBlock(type="text", text="hello")]}
    use = ToolUseBlock(type="tool_use", id="t1", name="get", input={"a": 1})
    ctx = ChatContext([_user("a"), words, _user("b"), {"role": "assistant", "content": [use]}])
    assert [v.shape for v in ctx.views()] == ["anthropic"] * 4
    assert ctx.views()[1].parts == (TextPart("hello"),)
    assert ctx.tool_calls()[0].arguments == {"a": 1}
    assert ChatContext([_user("a"), words]).shape is not None


@pytest.mark.parametrize(
    ("items", "rule", "index", "severity"),
    [
        ([_user("a"), _user(_result("t1"))], "orphan_result", 1, "error"),
        ([_user("a"), _assistant(_use("t1")), _user("b")], "unanswered_call", 1, "error"),
        ([_user("a"), _assistant(_use("t1"))], "unanswered_call", 1, "pending"),
        (
            [_user("a"), _assistant(_use("t1")), _user("b", _result("t1"))],
            "result_not_first",
            2,
            "error",
        ),
        (
            [_user("a"), _assistant(_use("t1")), _user(_result("t1"), _result("t1"))],
            "duplicate_result",
            2,
            "error",
        ),
        ([_assistant("a"), _user("b")], "first_role", 0, "error"),
        ([SYSTEM, _user("a")], "first_role", 0, "error"),
        ([_user("a"), _assistant("b"), SYSTEM, _assistant("c")], "system_place", 2, "error"),
        ([_user("a"), _assistant("b"), SYSTEM, SYSTEM], "system_place", 3, "error"),
        ([_user("a"), SYSTEM, SYSTEM, _user("b")], "system_place", 1, "error"),
        ([_user("a"), SYSTEM, HIGH, SYSTEM, _user("b")], "system_place", 3, "error"),
        (
            [_user("a"), {"role": "assistant", "content": []}, _user("b")],
            "empty_message",
            1,
            "error",
        ),
        ([_user("a", " "), _assistant("b")], "blank_text", 0, "error"),
        (
            [_user("a"), _assistant(_result("s1", [], "web_search_tool_result"))],
            "orphan_result",
            1,
            "error",
        ),
        (
            [_user("a"), _assistant({"type": "compaction", "content": "x", "signature": "s"})],
            "compaction_place",
            1,
            "error",
        ),
    ],
)
def test_what_the_api_refuses_is_a_problem_at_its_index(
    items: list[Any], rule: str, index: int, severity: str
) -> None:
    """Each broken rule has a problem with the index of the offending message."""
    found = {(p.rule, p.index, p.severity) for p in ChatContext(items, shape="anthropic").check()}
    assert (rule, index, severity) in found
    judged = {(v.index, v.open) for v in validate(items, "anthropic")}
    assert judged
    assert {(i, s == "pending") for _, i, s in found} >= judged


@pytest.mark.parametrize("behind", [[], [_assistant("b")]])
def test_consecutive_instructions_are_judged_together(behind: list[Item]) -> None:
    """What each of them follows and precedes is what all of them do."""
    run = [SYSTEM, PASSING, HIGH, SYSTEM]
    items = [_user("a"), *run, *behind]
    assert ChatContext(items, shape="anthropic").check() == []
    assert validate(items, "anthropic") == []
    first = ChatContext([*run, _user("a")], shape="anthropic").check()
    assert [(p.rule, p.index) for p in first] == [
        ("first_role", 0),
        ("system_place", 1),
        ("system_place", 3),
    ]


def test_media_in_a_result_are_attachments_of_it() -> None:
    """A screenshot in a result is named, and its words are the result's text."""
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
    }
    items = [_user("a"), _assistant(_use("t1")), _user(_result("t1", [_text("seen"), image]))]
    (part,) = ChatContext(items).views()[2].parts
    assert type(part) is ResultPart
    assert (part.text, part.media[0].kind, part.media[0].bytes) == ("seen", "image", 2)


def test_an_answer_after_the_servers_own_call_finishes_its_turn() -> None:
    """What the server called and answered in the message leaves nothing to do for the client."""
    searched = _assistant(
        _use("s1", "server_tool_use", "web_search"),
        _result("s1", [], "web_search_tool_result"),
        "found",
    )
    assert [t.finished for t in ChatContext([_user("a"), searched]).turns()] == [True]
    waiting = _assistant("let me look", _use("s1", "server_tool_use", "web_search"))
    assert [t.finished for t in ChatContext([_user("a"), waiting]).turns()] == [False]


def test_an_input_that_the_sdk_has_made_an_object_of_is_one() -> None:
    """Blocks of members of toolsets have a model of their own as their input."""
    types = pytest.importorskip("anthropic.types.browser_navigate_tool_use_block")
    fields = {**_use("t1", name="navigate"), "toolset_name": "browser"}
    fields |= {"input": {"url": "https://example.com"}, "caller": {"type": "direct"}}
    call = types.BrowserNavigateToolUseBlock.model_validate(fields)
    items: list[Any] = [_user("a"), {"role": "assistant", "content": [call]}]
    ctx = ChatContext(items)
    assert [p.severity for p in ctx.check()] == ["pending"]
    ctx.repair()
    assert items[1]["content"] == [call]
    (record,) = ctx.tool_calls()
    assert (record.arguments, record.toolset) == ({"url": "https://example.com"}, "browser")


def test_what_is_cited_counts_for_no_tokens() -> None:
    """`cited_text` "is also not counted towards input tokens"."""
    cited = {"type": "page_location", "document_title": "a.pdf", "cited_text": LONG}
    for others in ([], [{"type": "text", "text": "Well."}]):
        texts = ({"type": "text", "text": "ok", **more} for more in ({}, {"citations": [cited]}))
        answers = ({"role": "assistant", "content": [text, *others]} for text in texts)
        without, beside = (
            ChatContext([_user("a"), answer], shape="anthropic").count_tokens().value
            for answer in answers
        )
        assert without == beside


def test_a_call_of_an_mcp_server_says_which() -> None:
    """Its result does not, and stays with it."""
    use = _use("m1", "mcp_tool_use", "restart")
    items = [
        _user("a"),
        _assistant(
            {**use, "server_name": "staging"},
            _result("m1", "ok", "mcp_tool_result"),
            {**use, "id": "m2", "server_name": "production"},
            _result("m2", "no", "mcp_tool_result"),
        ),
    ]
    ctx = ChatContext(items, shape="anthropic")
    assert [(c.qualified_name, c.result) for c in ctx.tool_calls()] == [
        ("staging.restart", "ok"),
        ("production.restart", "no"),
    ]
    assert ctx.check() == []


# --- what only a response has ---------------------------------------------------------------------


@pytest.mark.parametrize("form", ["object", "model_dump", "to_dict"])
def test_the_fields_that_a_whole_response_is_sent_with_are_named(
    form: str, llm_server: LLMServer
) -> None:
    """By the real client over HTTP; what `add_response` adds has the two that the API takes."""
    http = DefaultHttpxClient(verify=False)
    with Anthropic(api_key="k", base_url=llm_server.anthropic_url, http_client=http) as client:

        def sent(*more: Any) -> Item:
            client.messages.create(model="m", max_tokens=9, messages=[_user("hi"), *more])
            return dict(llm_server.requests[-1].body["messages"][-1])

        response = client.messages.create(model="m", max_tokens=9, messages=[_user("hi")])
        item = response if form == "object" else getattr(response, form)()
        ctx: ChatContext[Any] = ChatContext([_user("hi"), item])
        (problem,) = ctx.check()
        assert (problem.rule, problem.index, problem.severity) == ("whole_response", 1, "warning")
        named = problem.message.partition("with ")[2].partition(" beside")[0]
        extra = {name for name, value in sent(item).items() if value is not None}
        assert {*named.replace(" and", ",").split(", ")} == extra - {"role", "content"}
        ctx = ChatContext([_user("hi")])
        assert set(sent(*ctx.add_response(response))) == {"role", "content"}
        assert ctx.check() == []


def test_a_field_of_the_users_own_makes_no_response() -> None:
    """A host's id or usage, which it takes off before it sends the list, say."""
    ctx = ChatContext([_user("hi"), {**_assistant("yes"), "id": 7, "usage": {}}], shape="anthropic")
    assert ctx.check() == []
