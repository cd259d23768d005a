"""Lists whose shape, place or fields change behind a context that has read them already."""

from __future__ import annotations

import copy
import json
import logging
from typing import Any

import pytest
from each_turn import Words
from laws import same_objects, short

from chatfold import ChatContext, InvalidResultError, Middleware, StaleHeadError
from chatfold.core.views import TextPart
from chatfold.policy import Policy


def looked_up() -> list[Any]:
    """Return an Anthropic list that only its call tells from others."""
    use = {"type": "tool_use", "id": "toolu_1", "name": "read_log", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "disk full"}
    return [
        {"role": "user", "content": "What broke on Monday? " + "Details. " * 80},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": "The disk. " * 80},
        {"role": "user", "content": "Thanks."},
        {"role": "assistant", "content": "Bye."},
    ]


def read_alike(ctx: ChatContext[Any]) -> None:
    """Check that a context reads its list as a new one does."""
    new = ChatContext(copy.deepcopy(ctx.items), counter=Words())
    assert ctx.shape is not None
    assert new.shape is not None
    assert ctx.shape.name == new.shape.name
    assert ctx.views() == new.views()
    assert ctx.check() == new.check()
    assert ctx.count_tokens() == new.count_tokens()


@pytest.mark.parametrize("look", [ChatContext.load, ChatContext.views, ChatContext.check])
def test_an_item_of_another_shape_that_is_taken_out_leaves_nothing(look: Any) -> None:
    """Pasted by mistake, it made another list of this one; without it, it is what it was."""
    items = looked_up()
    ctx = ChatContext(items, counter=Words())
    assert ctx.check() == []
    items.append({"role": "tool", "tool_call_id": "call_1", "content": "of a Chat list"})
    look(ctx)
    items.pop()
    look(ctx)
    read_alike(ctx)
    assert ctx.check() == []
    assert ctx.summarize(short, keep_last_turns=1).changed
    assert ctx.check() == []


def test_a_summary_behind_a_state_item_is_text() -> None:
    """As a new context reads it: only a framework's own may stand behind one."""
    roles = ("user", "assistant")
    items: list[Any] = [{"type": "message", "role": "developer", "content": "Be brief."}]
    items += [
        {"type": "message", "role": roles[n % 2], "content": "Details. " * 60} for n in range(6)
    ]
    ctx = ChatContext(items, shape="openai_responses", counter=Words())
    assert ctx.summarize(short, keep_last_turns=1).changed
    ctx.views()
    items[0] = {"type": "additional_tools", "role": "developer", "tools": []}
    assert type(ctx.views()[1].parts[0]) is TextPart
    assert (
        ctx.plan(keep_last_turns=0).prompt
        == ChatContext(items, shape="openai_responses", counter=Words())
        .plan(keep_last_turns=0)
        .prompt
    )


@pytest.mark.parametrize("name", ["cache_control", "cache_policy"])
@pytest.mark.parametrize("value", ["max-age=31536000", 5, {"max_age": 5}, ["public"]])
def test_an_argument_may_be_called_as_a_cache_marker(name: str, value: object) -> None:
    """Its edit makes a plan stale; that of a marker does not."""
    items = looked_up()
    items[1]["content"][0]["input"] = {"key": "index.html", name: "no-store"}
    ctx = ChatContext(items, shape="anthropic")
    plan = ctx.plan(keep_last_turns=1)
    items[1]["content"][0]["input"][name] = value
    assert json.dumps(ctx.tool_calls()[0].arguments).count("no-store") == 0
    with pytest.raises(StaleHeadError):
        ctx.apply(plan, "Deployed.")
    again = ctx.plan(keep_last_turns=1)
    items[1]["content"][0]["cache_control"] = {"type": "ephemeral"}
    assert ctx.apply(again, "Deployed.").changed


def test_a_host_s_lists_that_differ_in_such_an_argument_are_two() -> None:
    """What is folded of one is not shown in the other; in one whose markers moved it is."""
    policy = Policy(max_tokens=60, keep_tokens=20, keep_last_turns=1)
    wrapper = Middleware(short, policy, shape="anthropic", counter=Words())
    one, other, moved = looked_up(), looked_up(), looked_up()
    for items in (one, moved):
        items[1]["content"][0]["input"] = {"cache_control": "no-store"}
    other[1]["content"][0]["input"] = {"cache_control": "public"}
    moved[1]["content"][0]["cache_control"] = {"type": "ephemeral"}
    assert wrapper.fold(one).outcome.reason == "summarized"
    assert wrapper.fold(moved).outcome.reason == "reused"
    assert wrapper.fold(other).outcome.reason == "summarized"


def test_a_list_that_has_changed_its_provider_is_left_alone_where_it_cannot_be_folded() -> None:
    """In Bedrock a summary and a request are one item; Anthropic knows no item like it."""
    asked, said = {"role": "user"}, {"role": "assistant"}
    items: list[Any] = [
        {**asked, "content": [{"text": "Where is order 1? " * 40}]},
        {**said, "content": [{"text": "Delivered. " * 40}]},
        {**asked, "content": [{"text": "And order 2?"}]},
    ]
    assert ChatContext(items, shape="bedrock").summarize(short, keep_last_turns=1).changed
    for number in (1, 2):
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": "find", "input": {}}
        found = {"tool_use_id": f"toolu_{number}", "content": "shipped " * 100}
        items += [
            {**said, "content": [use]},
            {**asked, "content": [{"type": "tool_result", **found}]},
        ]
    before = list(items)
    ctx = ChatContext(items, policy=Policy(max_tokens=10, keep_tokens=0))
    with pytest.raises(InvalidResultError, match="not of the list's shape"):
        ctx.summarize(short, keep_tokens=0)
    outcome = ctx.maybe_summarize(short)
    assert (outcome.reason, type(outcome.error)) == ("failed", InvalidResultError)
    assert same_objects(items, before)


def test_an_item_that_is_edited_while_the_list_is_read_is_read_again() -> None:
    """As where `count_tokens` reads it in a thread; here the handler of the log does the edit."""
    items: list[Any] = [*looked_up(), {"role": "user", "content": [{"type": "hologram"}]}]

    class Edits(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            items[0]["content"] = "What broke on Tuesday?"

    log, handler = logging.getLogger("chatfold"), Edits()
    log.addHandler(handler)
    try:
        ctx = ChatContext(items, counter=Words())
        ctx.count_tokens()
    finally:
        log.removeHandler(handler)
    assert "Tuesday" in str(ctx.views()[0])
    read_alike(ctx)
