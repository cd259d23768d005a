"""The awkward cases of real agents, one test each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatfold import ChatContext, Middleware, Policy, Prompt, StaleHeadError
from chatfold.core.calls import pair_calls
from chatfold.core.render import conversation
from chatfold.core.views import CallPart, ItemView, ServerCallPart, TextPart

LONG = "a long answer that is worth folding away, with many words in it. " * 20


def short(prompt: Prompt) -> str:
    return "what happened before"


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str = LONG) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def calling(*ids: str | None, name: str = "look") -> dict[str, Any]:
    calls = [
        {"id": i, "type": "function", "function": {"name": name, "arguments": json.dumps({"n": n})}}
        for n, i in enumerate(ids)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def answer(id_: str, text: str = LONG) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": text}


def test_two_calls_with_one_id_in_one_step_get_their_own_results() -> None:
    """The first result goes to the first call, the second to the second."""
    ctx = ChatContext([user("go"), calling("x", "x"), answer("x", "one"), answer("x", "two")])
    assert [(c.arguments["n"], c.result) for c in ctx.tool_calls()] == [(0, "one"), (1, "two")]


def test_a_reused_id_binds_to_the_latest_step_that_waits() -> None:
    """An unanswered call of an earlier step does not catch a later step's result."""
    ctx = ChatContext([user("a"), calling("x"), user("b"), calling("x"), answer("x", "new")])
    assert [(c.status, c.result) for c in ctx.tool_calls()] == [
        ("abandoned", ""),
        ("completed", "new"),
    ]


def test_a_running_tool_loop_folds_inside_its_only_turn() -> None:
    """The user's message and the last group of call and result stay, the steps between go."""
    steps = [item for n in range(20) for item in (calling(f"c{n}"), answer(f"c{n}"))]
    request = user("do all of it")
    items = [request, *steps]
    outcome = ChatContext(items).summarize(short, keep_tokens=10)
    assert outcome.reason == "summarized"
    assert items[1:] == [request, *steps[-2:]]
    assert items[1] is request
    assert items[2] is steps[-2]
    assert items[3] is steps[-1]


def test_keeping_no_turns_keeps_the_users_last_message() -> None:
    """A history that ends on the user's message still ends on it."""
    last = user("and now?")
    items = [user("hello"), said(), user("more"), said(), last]
    assert ChatContext(items).summarize(short, keep_last_turns=0).changed
    assert len(items) == 2
    assert items[1] is last


def test_keeping_no_turns_of_a_finished_history_leaves_the_summary_alone() -> None:
    """Nothing is open, so nothing but the prefix and the summary remains."""
    items = [{"role": "system", "content": "rules"}, user("hello"), said()]
    assert ChatContext(items).summarize(short, keep_last_turns=0).changed
    assert [item["role"] for item in items] == ["system", "user"]


def test_results_with_text_open_a_turn_and_are_never_orphaned() -> None:
    """An Anthropic message with results and text keeps the call before it."""
    mixed = {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "done"},
            {"type": "text", "text": "now the next thing"},
        ],
    }
    block = {"type": "tool_use", "id": "t1", "name": "go", "input": {}}
    call = {"role": "assistant", "content": [block]}
    for limits in ({"keep_last_turns": 1}, {"keep_last_turns": 0}, {"keep_tokens": 1}):
        items = [user("first"), said(), user("second"), call, mixed, said("ok")]
        ctx = ChatContext(items, shape="anthropic")
        assert [t.start for t in ctx.turns()] == [0, 2, 4]
        ctx.summarize(short, **limits)  # type: ignore[arg-type]
        assert mixed not in items or items[items.index(mixed) - 1] is call
        assert not [p for p in ctx.check() if p.severity == "error"]


def test_a_pinned_result_keeps_its_call() -> None:
    """What is pinned is closed over the spans that it lies in."""
    pinned = answer("c1", "the contract")
    items = [user("go"), calling("c1"), pinned, said(), user("more"), said(), user("end"), said()]
    call = items[1]
    ctx = ChatContext(items, pin=lambda item: item is pinned)
    outcome = ctx.summarize(short, keep_last_turns=1)
    assert outcome.kept == (call, pinned)
    assert items[1] is call
    assert items[2] is pinned
    assert not [p for p in ctx.check() if p.severity == "error"]


def test_fifty_superseded_updates_leave_one() -> None:
    """Only the settings that still hold stay; the others are counted."""
    updates = [{"type": "configuration_update", "reasoning": {"effort": "low"}} for _ in range(50)]
    talk = [item for update in updates for item in (user("go"), update, said())]
    items = [*talk, user("end"), said("bye")]
    outcome = ChatContext(items).summarize(short, keep_last_turns=1)
    left = [item for item in items if item.get("type") == "configuration_update"]
    assert len(left) == 1
    assert left[0] is updates[-1]
    assert outcome.omitted["superseded_state"] == 49


def test_an_update_of_something_else_supersedes_nothing() -> None:
    """A text format and a reasoning effort are two settings."""
    effort = {"type": "configuration_update", "reasoning": {"effort": "low"}}
    form = {"type": "configuration_update", "text": {"format": {"type": "text"}}}
    items = [user("go"), effort, said(), user("go"), form, said(), user("end"), said("bye")]
    outcome = ChatContext(items).summarize(short, keep_last_turns=1)
    assert outcome.kept == (effort, form)


def test_a_fresh_context_at_every_turn_recognizes_its_own_summary() -> None:
    """One summary after many folds, each by a context that has seen none of the others."""
    items: list[Any] = [user("start"), said()]
    seen: list[str | None] = []

    def count(prompt: Prompt) -> str:
        seen.append(prompt.previous_summary)
        return f"summary {len(seen)}"

    for n in range(5):
        items += [user(f"turn {n}"), said()]
        items = json.loads(json.dumps(items))
        assert ChatContext(items).summarize(count, keep_last_turns=1).changed
    assert seen == [None, "summary 1", "summary 2", "summary 3", "summary 4"]
    assert sum("chat_history_summary" in json.dumps(item) for item in items) == 1


def async_call(id_: str) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": id_,
        "name": "slow",
        "arguments": "{}",
        "async": True,
    }


def test_a_late_result_during_the_fold_makes_it_stale() -> None:
    """The result of a call that was given up arrives while the model writes."""
    items: list[Any] = [user("go"), async_call("a1"), said(), user("more"), said()]
    items += [user("x"), said()]
    before = list(items)
    result = {"type": "function_call_output", "call_id": "a1", "output": "late"}

    def late(prompt: Prompt) -> str:
        items.append(result)
        return "summary"

    with pytest.raises(StaleHeadError, match="result arrived"):
        ChatContext(items).summarize(late, keep_last_turns=1, abandon=["a1"])
    assert items == [*before, result]


def test_an_asynchronous_call_blocks_until_it_is_given_up() -> None:
    """A user's message does not pass it by; `abandon` does, by id or by a function."""
    for abandon in (["a1"], lambda call: call.name == "slow"):
        items: list[Any] = [async_call("a1"), user("go"), said(), user("more"), said()]
        items += [user("x"), said()]
        ctx = ChatContext(items)
        outcome = ctx.summarize(short, keep_last_turns=1)
        assert (outcome.reason, outcome.blocked_by) == ("blocked_by_open_calls", ("a1",))
        assert "a1" in str(outcome)
        assert ctx.summarize(short, keep_last_turns=1, abandon=abandon).changed


def test_an_abandoned_call_blocks_nothing_and_is_shown_without_a_result() -> None:
    """The user went on, so the fold swallows the call and mends the list."""
    items = [user("go"), calling("c1"), user("never mind"), said(), user("more"), said()]
    ctx = ChatContext(items)
    prompts: list[str] = []

    def keep(prompt: Prompt) -> str:
        prompts.append(prompt.user)
        return "gone"

    assert ctx.summarize(keep, keep_last_turns=1).changed
    assert 'result="no result recorded"' in prompts[0]
    assert not ctx.check()


@pytest.mark.parametrize("answered", [0, 1])
def test_only_the_call_that_was_abandoned_is_shown_without_a_result(answered: int) -> None:
    """Ollama's calls have no ids, so that several of one message look alike."""
    names = ["look_up", "send_mail"]
    made = [{"function": {"name": name, "arguments": {}}} for name in names]
    items: list[Any] = [user("go"), {"role": "assistant", "content": "", "tool_calls": made}]
    items.append({"role": "tool", "tool_name": names[answered], "content": "done"})
    items += [user("never mind"), said(), user("more"), said()]
    prompt = ChatContext(items, shape="ollama").plan(keep_last_turns=1).prompt
    assert prompt is not None
    assert prompt.user.count("no result recorded") == 1
    assert f'name="{names[1 - answered]}" result="no result recorded"' in prompt.user


def test_a_call_beside_one_of_the_servers_is_shown_without_a_result() -> None:
    """The server has answered its own in the same item."""
    served = ServerCallPart("s", "search", "{}", "found")
    views = [
        ItemView("user", (TextPart("go"),)),
        ItemView("assistant", (served, CallPart(None, "send", "{}"))),
        ItemView("user", (TextPart("never mind"),)),
    ]
    shown = conversation(views, pair_calls(views)).xml
    assert '<function_call name="send" result="no result recorded">' in shown
    assert shown.count("no result recorded") == 1


def test_of_two_like_calls_the_second_is_shown_without_a_result() -> None:
    """The first unanswered one takes the result."""
    made = [{"function": {"name": "send", "arguments": {"to": to}}} for to in ("Ann", "Bob")]
    items: list[Any] = [user("go"), {"role": "assistant", "content": "", "tool_calls": made}]
    items += [{"role": "tool", "tool_name": "send", "content": "sent"}]
    items += [user("never mind"), said(), user("more"), said()]
    prompt = ChatContext(items, shape="ollama").plan(keep_last_turns=1).prompt
    assert prompt is not None
    assert '<function_call name="send">{"to": "Ann"}' in prompt.user
    assert '<function_call name="send" result="no result recorded">{"to": "Bob"}' in prompt.user


def test_a_mid_conversation_instruction_moves_behind_a_user_turn() -> None:
    """Anthropic takes a system message only between a user's and an assistant's."""
    rule = {"role": "system", "content": "Terse mode."}
    items = [user("a"), said(), user("b"), rule, said(), user("c"), said(), user("d"), said("bye")]
    ctx = ChatContext(items, shape="anthropic")
    assert ctx.summarize(short, keep_last_turns=1).kept == (rule,)
    assert [item["role"] for item in items] == ["user", "user", "system", "assistant"]
    assert not ctx.check()
    ctx.undo()
    assert [item["role"] for item in items][2:5] == ["user", "system", "assistant"]


def called(shape: str) -> list[Any]:
    """Return a call and its result as a shape writes them, which no other one does."""
    if shape == "openai_chat":
        return [calling("c1"), answer("c1")]
    use = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": LONG}
    return [{"role": role, "content": [b]} for role, b in (("assistant", use), ("user", result))]


@pytest.mark.parametrize("shape", ["openai_chat", "anthropic"])
def test_an_instruction_stands_where_it_stood_when_what_told_the_shape_is_folded(
    shape: str,
) -> None:
    """Plain words may be any provider's, but these were not: only Anthropic has it elsewhere."""
    rule = {"role": "system", "content": "Terse mode."}
    items: list[Any] = [user("word " * 900), *called(shape), said("found it")]
    ctx = ChatContext(items)
    assert ctx.summarize(short, keep_last_turns=0).changed
    assert (len(items), ctx.shape) == (1, None)
    question = user("And now?")
    items += [user("more " * 900), said(), rule, question]
    assert ctx.summarize(short, keep_last_turns=1).changed
    assert items[1:] == ([rule, question] if shape == "openai_chat" else [question, rule])
    assert ctx.undo().changed
    never_told = ChatContext(items)  # may be Anthropic's
    assert never_told.summarize(short, keep_last_turns=1).changed
    assert items[1:] == [question, rule]


@pytest.mark.parametrize("shape", [None, "openai_chat"])
def test_a_host_gets_the_same_order_from_each_process(shape: str | None) -> None:
    """The host's list tells its shape for good; what is left of it after folds may not."""
    rule = {"role": "system", "content": "Terse mode."}
    policy = Policy(max_tokens=500, keep_tokens=50, min_gain=0)
    here = Middleware(short, policy, shape=shape)
    history: list[Any] = [user("word " * 900), *called("openai_chat"), said("found it")]
    held = here.fold(history, held=None).held
    history += [user("more " * 900), said(), rule, user("And now? " * 60)]
    folded = here.fold(history, held=held)
    assert folded.outcome.reason == "summarized"
    assert folded.items[-2:] == history[-2:]
    other = Middleware(short, policy, shape=shape)
    assert folded.held is not None
    assert here.refolded(history, folded.held) == folded.items
    assert other.refolded(history, folded.held) == folded.items


def test_instructions_that_cannot_share_a_place_stay_with_their_neighbours() -> None:
    """Each needs a user's turn before it and an assistant's after it; each has its own setting."""
    rules = [
        {"role": "system", "content": f"rule {n}", "output_config": {"effort": effort}}
        for n, effort in enumerate(("low", "high", "low"))
    ]
    items: list[Any] = []
    for rule in rules:
        items += [user("a" * 400), rule, said(), user("b" * 400), said()]
    items += [user("c"), said("bye")]
    ctx = ChatContext(items, shape="anthropic")
    outcome = ctx.summarize(short, keep_last_turns=1)
    assert outcome.changed
    assert all(rule in items for rule in rules)
    assert not [p for p in ctx.check() if p.severity == "error"]


def test_a_request_larger_than_the_budget_goes_once_its_turn_is_over() -> None:
    """The first cut that fits would free nothing, so the next turn's start is taken."""
    items = [user("word " * 9000), said("short"), user("and now?"), said("this")]
    outcome = ChatContext(items).summarize(short, keep_tokens=1000)
    assert outcome.changed
    assert len(items) == 3
    assert outcome.tokens_after < 200


def test_a_result_without_an_id_takes_no_call_of_another_shape() -> None:
    """A stray chat message between a Responses call and its output parts them not."""
    call = {"type": "function_call", "call_id": "c2", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c2", "output": "real"}
    ctx = ChatContext([user("go"), call, {"role": "tool", "content": "stray"}, said(), output])
    assert [(c.id, c.result) for c in ctx.tool_calls()] == [("c2", "real"), (None, "stray")]


def test_words_of_an_instruction_are_never_superseded() -> None:
    """A later effort setting replaces the earlier one, not the text beside it."""
    french = {
        "role": "system",
        "content": [{"type": "text", "text": "ALWAYS FRENCH"}],
        "output_config": {"effort": "low"},
    }
    low: dict[str, Any] = {"role": "system", "content": [], "output_config": {"effort": "high"}}
    items = [user("a"), french, said(), user("b"), low, said(), user("x"), said("y")]
    outcome = ChatContext(items).summarize(short, keep_last_turns=1)
    assert any(item is french for item in outcome.kept)


def test_an_approval_that_waits_for_its_call_stays_when_the_user_goes_on() -> None:
    """The server has yet to make the call, whatever the user says meanwhile."""
    request = {
        "type": "mcp_approval_request",
        "id": "mcpr_1",
        "name": "delete",
        "server_label": "s",
        "arguments": "{}",
    }
    granted = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    items = [user(LONG), said(), user("delete it"), request, granted, user("and say when")]
    outcome = ChatContext(items).summarize(short, keep_last_turns=1)
    assert outcome.blocked_by == ("mcpr_1",)
    assert request in items
    assert granted in items


def test_what_abandon_says_is_asked_anew() -> None:
    """A function may change its mind, and a generator of ids is read once."""
    gone = False
    items = [user("go"), async_call("a1"), said(), user("more"), said()]
    ctx = ChatContext(items)

    def given_up(call: object) -> bool:
        return gone

    assert not ctx.summarize(short, keep_last_turns=1, abandon=given_up).changed
    gone = True
    assert ctx.summarize(short, keep_last_turns=1, abandon=given_up).changed
    items = [user("go"), async_call("a1"), said(), user("more"), said()]
    assert ChatContext(items).summarize(short, keep_last_turns=1, abandon=iter(["a1"])).changed


def test_cache_control_alone_makes_no_anthropic_list() -> None:
    """Gateways take it on Chat Completions messages."""
    cached = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    items = [user("go"), calling("c1"), answer("c1"), said(), {"role": "user", "content": [cached]}]
    ctx = ChatContext(items)
    assert ctx.shape is not None
    assert ctx.shape.name == "openai_chat"
    assert not ctx.check()


@pytest.mark.parametrize(
    ("model", "bound"),
    [
        ("claude-sonnet-4@20250514", False),
        ("claude-sonnet-4.5", False),
        ("claude-3-5-sonnet-20241022", False),
        ("claude-opus-5-v1:0", False),
        ("claude-sonnet-5@20260101", False),
        ("claude-mythos-5-1", False),
        ("claude-fable-5-1", True),
        ("claude-sonnet-5-5", True),
        ("us.anthropic.claude-opus-5-5-20260901-v1:0", True),
        ("claude-haiku-6", True),
        (None, True),
    ],
)
def test_thinking_behind_a_summary_needs_fields_on_models_that_sign_it(
    model: str | None, bound: bool
) -> None:
    """Names of every platform are told apart by generation."""
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    last = {"role": "assistant", "content": [thinking, {"type": "text", "text": "x"}]}
    ctx = ChatContext([user(LONG), said(), user("b"), last], model=model)
    assert ctx.request_options() == {}
    assert ctx.summarize(short, keep_last_turns=1).changed
    assert bool(ctx.request_options()) is bound
    assert bool(ctx.requirements()) is bound


def test_undo_takes_no_later_message_for_a_kept_one() -> None:
    """The host took the kept message out, and an equal one came later."""
    items = [user(LONG), said(), user("go on"), said(), calling("a"), answer("a"), calling("b")]
    items += [answer("b"), said("ok"), user("go on"), said("z")]
    ctx = ChatContext(items)
    assert ctx.summarize(short, keep_tokens=400).changed
    del items[1]
    ctx.undo()
    assert [item["content"] for item in items[-3:]] == ["ok", "go on", "z"]


def test_a_list_that_was_cut_short_after_the_plan_is_left_as_it_is() -> None:
    """What is left of the head is what it was, and yet not what the plan replaces."""
    items: list[Any] = [{"role": role, "content": role * 200} for role in ("user", "assistant") * 4]
    ctx = ChatContext(items)
    plan = ctx.plan(keep_last_turns=1)
    del items[2:]
    before = list(items)
    with pytest.raises(StaleHeadError, match="the list has 2 items, and the plan replaces 0 to 5"):
        ctx.apply(plan, "short")
    assert items == before


@pytest.mark.parametrize("levels", [200, 900, 5_000])
def test_a_result_that_is_nested_too_deeply_stays_as_it_is(levels: int) -> None:
    """What cannot be read cannot be compared: no twin of it is looked for."""
    deep: Any = "LK-4821936"
    for _ in range(levels):
        deep = {"a": deep}
    look = {"role": "model", "parts": [{"function_call": {"name": "look", "args": {}}}]}
    told = {"function_response": {"name": "look", "response": {"output": deep}}}
    items: list[Any] = []
    for n in range(4):
        items += [{"role": "user", "parts": [{"text": f"{n}: {LONG}"}]}, look]
        items += [{"role": "user", "parts": [told]}, {"role": "model", "parts": [{"text": LONG}]}]
    ctx = ChatContext(items, shape="gemini")
    assert ctx.summarize(short, keep_last_turns=1).changed
    assert ctx.undo().changed
    ctx.repair()
    assert sum(item["parts"][0] is told for item in items) == 4
