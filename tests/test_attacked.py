"""What an attack on finished code found, one test each, so that it stays found."""

from __future__ import annotations

from typing import Any

import pytest

from chatfold import ChatContext, Prompt, SummarizerError
from chatfold.core.check import Problem, added_errors

LONG = "lorem ipsum dolor sit amet " * 80


def short(prompt: Prompt) -> str:
    return "what happened"


def said(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def text(words: str = LONG) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id_: str, kind: str = "tool_use") -> dict[str, Any]:
    return {"type": kind, "id": id_, "name": "web_search", "input": {}}


def result(id_: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": LONG}


LOW: dict[str, Any] = {"role": "system", "content": [], "output_config": {"effort": "low"}}


def test_no_instruction_goes_behind_a_server_call_that_waits() -> None:
    """Nothing but results may follow such a call, so the fold leaves no new error."""
    items = [
        said("user", text()),
        said("system", text("one")),
        said("assistant", text()),
        said("user", text()),
        said("system", text("two")),
        said("assistant", text()),
        said("user", text("go")),
        said("assistant", use("s2", "server_tool_use"), use("c")),
        said("user", result("c")),
    ]
    ctx = ChatContext(items)
    ctx.summarize(short, keep_last_turns=1)
    assert [p.severity for p in ctx.check()] == ["pending"]


def test_a_pending_problem_is_no_licence_for_an_error() -> None:
    """What would be answered later is not what is refused now."""
    item = {"role": "user", "content": "x"}
    pending = Problem("unanswered_call", "waits", (0,), "pending")
    error = Problem("unanswered_call", "refused", (0,))
    assert added_errors([pending], [error], [item], [item]) == [error]
    assert added_errors([error], [error], [item], [item]) == []


def test_an_error_that_was_there_is_not_told_in_place_of_the_one_that_came() -> None:
    """Of one item; whichever is found first."""
    item = {"role": "user", "content": " "}
    blank, first = Problem("blank_text", "blank", (0,)), Problem("first_role", "refused", (0,))
    for after in ([blank, first], [first, blank]):
        assert added_errors([blank], after, [item], [item]) == [first]
    assert added_errors([blank], [first], [item], [item]) == []


def test_settings_part_no_instruction_from_its_neighbours() -> None:
    """An effort-only system message may stand anywhere, also beside an instruction."""
    around = [said("user", text()), LOW, said("system", text("French")), said("assistant", text())]
    assert ChatContext(list(around)).check() == []
    items = [
        said("user", text()),
        said("system", text("French")),
        said("assistant", text()),
        said("user", text("go")),
        LOW,
        said("assistant", use("d")),
        said("user", result("d"), text("also")),
        said("assistant", text("x")),
    ]
    ctx = ChatContext(items)
    assert ctx.summarize(short, keep_last_turns=1).changed
    assert ctx.check() == []


def test_a_request_beside_a_summary_in_one_message_outlives_that_summary() -> None:
    """A host merged the summary with the user's next message; the request stays while it runs."""
    first = [said("user", text()), said("assistant", text())]
    ChatContext(first, shape="anthropic").summarize(short, keep_last_turns=0)
    merged = said("user", first[0]["content"][0], text("PLEASE FIX BUG 42"))
    items = [merged, said("assistant", use("a")), said("user", result("a"))]
    items += [said("assistant", use("b")), said("user", result("b"))]
    before = list(items)
    ctx = ChatContext(items)
    outcome = ctx.summarize(short, keep_last_turns=0)
    assert outcome.changed
    assert str(items).count("PLEASE FIX BUG 42") == 1
    assert str(items).count("<chat_history_summary digest") == 1
    assert items[-2:] == before[-2:]
    assert ctx.check() == []
    assert outcome.merged == (merged,)
    assert ctx.undo().changed
    assert all(a is b for a, b in zip(items, before, strict=True))


def test_results_spread_over_messages_of_one_role_are_only_a_warning() -> None:
    """The server makes one turn of them."""
    calls = said("assistant", use("a"), use("b"))
    apart = [said("user", text()), calls, said("user", result("a")), said("user", result("b"))]
    split = [said("user", text()), said("assistant", use("a")), said("assistant", use("b"))]
    split.append(said("user", result("a"), result("b")))
    for items in (apart, split):
        found = ChatContext(items, shape="anthropic").check()
        assert {(p.rule, p.severity) for p in found} == {("split_results", "warning")}


def talk() -> list[Any]:
    roles = ("user", "assistant") * 2
    return [{"role": role, "content": LONG} for role in roles]


def test_a_post_process_without_a_text_is_an_error_of_the_summarizer() -> None:
    """It says which option returned what, and the list is untouched."""
    items = talk()
    wrong: Any = lambda words: None  # noqa: E731
    with pytest.raises(SummarizerError, match="post_process= returned NoneType"):
        ChatContext(items).summarize(short, keep_last_turns=1, post_process=wrong)
    assert items == talk()


@pytest.mark.parametrize("wrong", [1.5, "2", True])
def test_a_limit_that_is_no_whole_number_is_refused_before_any_call(wrong: Any) -> None:
    """The error names the argument and what was given."""
    for name in ("keep_last_turns", "keep_tokens"):
        with pytest.raises(TypeError, match=name):
            ChatContext(talk()).plan(**{name: wrong})


def test_an_empty_summary_key_is_refused() -> None:
    """It would protect nothing."""
    with pytest.raises(ValueError, match="summary_key"):
        ChatContext([], summary_key=b"")


def test_too_few_turns_is_said_behind_a_summary_too() -> None:
    """The remedy for one giant turn does not vanish after the first fold."""
    items = talk()
    ctx = ChatContext(items)
    assert ctx.summarize(short, keep_last_turns=1).changed
    outcome = ctx.summarize(short, keep_last_turns=1)
    assert outcome.reason == "too_few_turns"
    assert "keep_tokens=" in str(outcome)


def test_an_instruction_finds_its_place_past_a_message_of_settings() -> None:
    """The settings between a user's and an assistant's message do not take the place away."""
    rule = said("system", text("French"))
    items = [said("user", text()), rule, said("assistant", text())]
    items += [said("user", text("go")), LOW, said("assistant", text("x"))]
    ctx = ChatContext(items)
    assert ctx.summarize(short, keep_last_turns=1).kept == (rule,)
    assert ctx.check() == []


def test_results_without_ids_are_shown_under_their_own_tool() -> None:
    """Two tools in one step, their results in another order: each text stands by its name."""
    calls = [{"function_call": {"name": name, "args": {}}} for name in ("f", "f", "g")]
    told = [("f", "one"), ("g", "two"), ("f", "three")]
    results = [{"function_response": {"name": n, "response": {"result": r}}} for n, r in told]
    items: list[Any] = [
        {"role": "user", "parts": [{"text": LONG}]},
        {"role": "model", "parts": calls},
        {"role": "user", "parts": results},
        {"role": "model", "parts": [{"text": "done"}]},
    ]
    prompt = ChatContext(items).plan(keep_last_turns=0).prompt
    assert prompt is not None
    for name, words in told:
        assert f'<function_call_output name="{name}" status="completed">{words}<' in prompt.user


def test_an_instruction_that_its_neighbours_stay_with_stays_between_them() -> None:
    """It is moved into the tail only where it may not stand as it stood."""
    items = [
        said("user", text()),
        said("system", text("French")),
        said("assistant", text()),
        *(said(role, text("long words " * 90)) for role in ("user", "assistant") * 3),
        said("user", text("go")),
        said("assistant", text()),
    ]
    pinned = [items[0], items[2]]
    ctx = ChatContext(items, pin=lambda item: any(item is pin for pin in pinned))
    ctx.summarize(short, keep_last_turns=1)
    assert items[1] is pinned[0]
    assert items[2]["role"] == "system"
    assert items[3] is pinned[1]
    assert ctx.check() == []
