"""A context takes responses and streams in, runs open calls, and knows who holds the history."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from laws import plainly, same_objects, short, step, talk
from validator import validate

from chatfold import ChatContext, ToolRun
from chatfold.core.arguments import parsed_object

CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"}
SHAPES = ("openai_chat", "openai_responses", "anthropic")
EVERY_SHAPE = (*SHAPES, "gemini", "bedrock", "ollama", "mistral")


def response(*output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a Responses answer as a dict."""
    return {
        "object": "response",
        "id": "resp_2",
        "status": "completed",
        "output": list(output),
        **fields,
    }


@pytest.mark.parametrize(
    ("fields", "known_by"),
    [
        ({"previous_response_id": "resp_1"}, "resp_1"),
        ({"conversation": {"id": "conv_1"}}, "conv_1"),
    ],
)
def test_a_response_that_goes_on_from_the_servers_history_stops_local_folds(
    fields: dict[str, Any], known_by: str
) -> None:
    """The outcome names what holds the history, and the list is untouched."""
    items = talk()
    ctx = ChatContext(items, shape="openai_responses")
    ctx.add_response(response(CALL, **fields))
    ctx.run_tool_calls({"f": lambda: 1})
    before = list(items)
    outcome = ctx.summarize(short, keep_last_turns=1)
    assert outcome.reason == "server_managed"
    assert known_by in str(outcome)
    assert same_objects(items, before)
    assert ctx.summarize(short, keep_last_turns=1, replay=True)
    assert ctx.request_options() == {"previous_response_id": None, "conversation": None}


def test_a_response_after_a_replay_that_goes_on_from_the_server_is_seen_again() -> None:
    """Whoever goes back to `previous_response_id` has the server's history again."""
    ctx = ChatContext(talk(), shape="openai_responses", server_managed=True)
    assert ctx.summarize(short, keep_last_turns=1, replay=True)
    ctx.add_response(response({**CALL, "call_id": "a"}, previous_response_id="resp_1"))
    assert ctx.request_options() == {}
    assert ctx.summarize(short, keep_last_turns=0).reason == "server_managed"


def test_a_response_without_such_a_tie_changes_nothing() -> None:
    """A list that is sent in full stays the history."""
    ctx = ChatContext(talk(), shape="openai_responses")
    ctx.add_response(response(previous_response_id=None, conversation=None))
    assert ctx.summarize(short, keep_last_turns=1).changed


def test_an_added_response_is_returned_and_stands_at_the_end() -> None:
    """The items are the caller's to look at; nothing else changes."""
    items: list[Any] = [{"role": "user", "content": "go"}]
    ctx = ChatContext(items)
    added = ctx.add_response(response(CALL))
    assert items[1:] == added == [CALL]
    assert [c.status for c in ctx.tool_calls()] == ["open"]


def test_the_place_of_an_answer_is_a_number() -> None:
    """`True` was taken for the second answer, and a text for one that is not there."""
    messages = [{"role": "assistant", "content": text} for text in "ab"]
    choices = [{"index": index, "message": said} for index, said in enumerate(messages)]
    ctx: ChatContext[Any] = ChatContext([])
    for wrong in (True, "0", 1.0):
        with pytest.raises(TypeError, match="choice must be a whole number"):
            ctx.add_response({"object": "chat.completion", "choices": choices}, choice=wrong)
    assert ctx.items == []


@pytest.mark.parametrize("wrong", [None, "text", [CALL], {"role": "assistant", "content": "hi"}])
def test_what_is_no_response_is_refused_and_adds_nothing(wrong: Any) -> None:
    """The error is a TypeError, and the list is as it was."""
    items: list[Any] = []
    with pytest.raises(TypeError):
        ChatContext(items).add_response(wrong)
    assert items == []


class OrderError(Exception):
    """What a tool raises."""


def fails() -> str:
    raise OrderError("no such order")


def hangs() -> str:
    import time

    time.sleep(6)
    return "too late"


async def ahangs() -> str:
    await asyncio.sleep(60)
    return "too late"


def cancelled() -> str:
    raise asyncio.CancelledError


BATCH = ("ok", "unknown", "no_json", "misfit", "fails", "hangs", "cancelled", "fine")
ARGUMENTS = {"no_json": "{", "misfit": '{"nope": 1}'}
WORDS = {
    "unknown": "no tool named",
    "no_json": "not JSON",
    "misfit": "do not fit",
    "fails": "OrderError: no such order",
    "hangs": "within 1.5 seconds",
    "cancelled": "nterrupted",
}


def batch(shape: str) -> list[Any]:
    """Return a step in which every kind of failure happens once, with healthy calls around."""
    made: list[Any] = []
    for name in BATCH:
        written = ARGUMENTS.get(name, "{}")
        if shape == "openai_chat":
            function = {"name": name, "arguments": written}
            made.append({"id": f"c_{name}", "type": "function", "function": function})
        elif shape == "anthropic":
            known = parsed_object(written)
            made.append({"type": "tool_use", "id": f"c_{name}", "name": name, "input": known})
        else:
            call = {"type": "function_call", "call_id": f"c_{name}", "name": name}
            made.append({**call, "arguments": written})
    if shape == "openai_chat":
        made = [{"role": "assistant", "content": None, "tool_calls": made}]
    elif shape == "anthropic":
        made = [{"role": "assistant", "content": made}]
    return [{"role": "user", "content": "go"}, *made]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_batch_with_every_kind_of_failure_has_one_result_a_call(shape: str, way: str) -> None:
    """Each failure is its own call's; siblings keep their results, and the list can be sent."""
    items = batch(shape)
    ctx = ChatContext(items, shape=shape)
    tools = {name: (lambda: "fine") for name in ("ok", "misfit", "no_json", "fine")}
    tools |= {"fails": fails, "cancelled": cancelled, "hangs": hangs}
    if way == "async":
        tools["hangs"] = ahangs  # type: ignore[assignment]
        run: ToolRun[Any] = asyncio.run(ctx.arun_tool_calls(tools, timeout=1.5))
    else:
        run = ctx.run_tool_calls(tools, timeout=1.5)
    assert [(c.id, c.completed) for c in ctx.tool_calls()] == [(f"c_{n}", True) for n in BATCH]
    results = {c.name: c.result for c in ctx.tool_calls()}
    assert (results["ok"], results["fine"]) == ("fine", "fine")
    for name, words in WORDS.items():
        assert words in results[name], (name, results[name])
    assert list(run) == items[len(batch(shape)) :]
    assert [a.failed for a in run.answers] == [n not in ("ok", "fine") for n in BATCH]
    assert validate(items, shape) == []
    assert ctx.check() == []
    assert not ctx.run_tool_calls(tools)


def test_calls_that_only_the_host_can_answer_are_left_open_and_named() -> None:
    """A computer call beside a function call: the function runs, the other is reported."""
    screen = {
        "type": "computer_call",
        "call_id": "call_2",
        "id": "cu_1",
        "pending_safety_checks": [],
    }
    items: list[Any] = [
        {"role": "user", "content": "go"},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        {**screen, "status": "completed", "action": {"type": "screenshot"}},
    ]
    ctx = ChatContext(items)
    run = ctx.run_tool_calls({"f": lambda: "done"})
    assert [c.id for c in run.not_handled] == ["call_2"]
    assert [item["call_id"] for item in run] == ["call_1"]
    assert "1 not handled" in repr(run)
    assert [c.status for c in ctx.tool_calls()] == ["completed", "open"]
    again = ctx.run_tool_calls({"f": lambda: "done"})
    assert not again
    assert [c.id for c in again.not_handled] == ["call_2"]


def test_a_call_that_the_host_answered_meanwhile_keeps_that_answer() -> None:
    """A tool that appends its own result does not get a second one."""
    *call, own = step("openai_chat", "call_1", 1, ["mine"])
    ctx = ChatContext([{"role": "user", "content": "go"}, *call])

    def read() -> str:
        ctx.items.append(own)
        return "chatfold's"

    run = ctx.run_tool_calls({"read": read})
    assert [c.result for c in ctx.tool_calls()] == ["mine"]
    assert not run
    assert ctx.check() == []


@pytest.mark.parametrize("shape", SHAPES)
def test_cancelling_a_run_answers_every_call_once(shape: str) -> None:
    """What has finished keeps its result, the rest is interrupted, and the list can be sent."""
    calls = [c for n in ("a", "b") for c in step(shape, n, 1, [])]
    if shape != "openai_responses":
        inside = "tool_calls" if shape == "openai_chat" else "content"
        calls = [{**calls[0], inside: [*calls[0][inside], *calls[1][inside]]}]
    ctx = ChatContext([{"role": "user", "content": "go"}, *calls], shape=shape)
    texts = iter(["first"])
    hanging = asyncio.Event()

    async def read() -> str:
        for text in texts:
            return text
        hanging.set()
        await asyncio.sleep(30)
        return "never"

    async def main() -> None:
        task = asyncio.create_task(ctx.arun_tool_calls({"read": read}, max_concurrency=1))
        await hanging.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    first, second = ctx.tool_calls()
    assert first.result == "first"
    assert "interrupted" in second.result
    assert validate(ctx.items, shape) == []


def test_two_runs_at_once_run_each_tool_once() -> None:
    """A call that one run is at is not run by another: what it does must not be done twice."""
    ran: list[str] = []
    ctx = ChatContext([{"role": "user", "content": "go"}, *step("openai_chat", "c", 2, [])])

    async def read() -> str:
        ran.append("once")
        await asyncio.sleep(0.01)
        return "done"

    async def main() -> None:
        runs = await asyncio.gather(*(ctx.arun_tool_calls({"read": read}) for _ in range(3)))
        assert [len(run) for run in runs] == [2, 0, 0]

    asyncio.run(main())
    assert ran == ["once"] * 2
    assert [c.result for c in ctx.tool_calls()] == ["done"] * 2


def test_a_run_that_ends_in_an_error_leaves_its_calls_to_the_next() -> None:
    """What was refused before it ran is still open, and a right call answers it."""
    ctx = ChatContext([{"role": "user", "content": "go"}, *step("openai_chat", "c", 1, [])])
    wrong: Any = {"read": "not a tool"}
    with pytest.raises(TypeError):
        ctx.run_tool_calls(wrong)
    assert ctx.run_tool_calls({"read": lambda: "done"})


def test_wrong_tools_are_refused_before_any_call_runs() -> None:
    """The error names the tool; nothing has run, nothing was added."""
    ran: list[int] = []
    ctx = ChatContext([{"role": "user", "content": "go"}, *step("openai_chat", "c", 1, [])])
    wrong: Any = {"read": lambda: ran.append(1), "other": "not a tool"}
    with pytest.raises(TypeError, match="other"):
        ctx.run_tool_calls(wrong)
    with pytest.raises(ValueError, match="timeout"):
        ctx.run_tool_calls({}, timeout=0)
    assert ran == []
    assert len(ctx) == 2


def waiting(shape: str, id_: str | None = "c00000001") -> ChatContext[Any]:
    """Return a context of three turns and a question, whose call waits for its result."""
    said = plainly(shape, [*talk(), {"role": "user", "content": "go"}])
    return ChatContext([*said, *step(shape, id_, 1, [])], shape=shape)


def run(ctx: ChatContext[Any], way: str, read: Any) -> ToolRun[Any]:
    """Run the open calls, with the tool that they all name."""
    if way == "sync":
        return ctx.run_tool_calls({"read": read})
    return asyncio.run(ctx.arun_tool_calls({"read": read}))


@pytest.mark.parametrize("shape", EVERY_SHAPE)
@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_fold_while_a_tool_runs_costs_no_result(shape: str, way: str) -> None:
    """The call stands elsewhere in the list by then; its result finds it."""
    ctx = waiting(shape)

    def read() -> str:
        assert ctx.summarize(short, keep_last_turns=1).changed
        return "paid 100"

    added = run(ctx, way, read)
    assert [(c.id, c.result) for c in ctx.tool_calls()] == [("c00000001", "paid 100")]
    assert list(added) == ctx.items[-1:]
    assert validate(ctx.items, shape) == []


@pytest.mark.parametrize("shape", [s for s in EVERY_SHAPE if s != "mistral"])
@pytest.mark.parametrize("way", ["sync", "async"])
def test_what_a_user_says_while_a_tool_runs_comes_behind_its_result(shape: str, way: str) -> None:
    """The result goes where the provider wants it, and is not lost."""
    ctx = waiting(shape)
    (hurry,) = plainly(shape, [{"role": "user", "content": "hurry"}])

    def read() -> str:
        ctx.append(hurry)
        return "paid 100"

    added = run(ctx, way, read)
    assert [c.result for c in ctx.tool_calls()] == ["paid 100"]
    assert same_objects(ctx.items[-2:], [*added, hurry])
    assert validate(ctx.items, shape) == []


@pytest.mark.parametrize("shape", EVERY_SHAPE)
@pytest.mark.parametrize("late_results", ["note", "drop"])
def test_the_result_of_a_call_that_was_folded_while_its_tool_ran_is_a_late_one(
    shape: str, late_results: Any
) -> None:
    """It becomes a note, or is dropped, as `late_results` says; no orphan is left."""
    ctx = ChatContext(waiting(shape).items, shape=shape, late_results=late_results)
    before = len(ctx)

    def read() -> str:
        more = ["hurry", "I am at it.", "so?"]
        roles = ["user", "assistant", "user"]
        said = zip(roles, more, strict=True)
        ctx.extend(plainly(shape, [{"role": r, "content": c} for r, c in said]))
        assert ctx.summarize(short, keep_last_turns=1).changed
        return "paid 100"

    added = run(ctx, "sync", read)
    assert ctx.tool_calls() == []
    assert len(ctx) < before
    assert ("paid 100" in json.dumps(ctx.items)) == (late_results == "note")
    assert len(added) == (late_results == "note")
    assert [a.text for a in added.answers] == ["paid 100"]
    assert validate(ctx.items, shape) == []


@pytest.mark.parametrize("shape", EVERY_SHAPE)
def test_a_late_note_of_a_run_names_the_tool_and_its_failure(shape: str) -> None:
    """The call is gone, so the note has to say what it was, whatever the shape's results tell."""
    ctx = waiting(shape)

    def read() -> str:
        said = [("user", "hurry"), ("assistant", "I am at it."), ("user", "so?")]
        ctx.extend(plainly(shape, [{"role": r, "content": c} for r, c in said]))
        assert ctx.summarize(short, keep_last_turns=1).changed
        raise OrderError("no such order")

    run(ctx, "sync", read)
    (note,) = (s.text for s in ctx.steps() if "no such order" in s.text)
    assert 'name="read"' in note
    assert 'status="failed"' in note


def test_a_call_in_an_item_that_was_replaced_while_its_tool_ran_is_known_by_its_id() -> None:
    """A host may put a copy in place of an item; the result is added all the same."""
    ctx = waiting("openai_chat")

    def read() -> str:
        ctx.items[-1] = {**ctx.items[-1], "content": "I look."}
        return "paid 100"

    assert len(run(ctx, "sync", read)) == 1
    assert [c.result for c in ctx.tool_calls()] == ["paid 100"]


def test_a_call_that_the_host_took_out_while_its_tool_ran_gets_no_result() -> None:
    """Nothing was folded, so nothing tells of the call; the answer is the caller's to look at."""
    ctx = waiting("openai_chat")

    def read() -> str:
        ctx.items.pop()
        return "paid 100"

    added = run(ctx, "sync", read)
    assert not added
    assert [a.text for a in added.answers] == ["paid 100"]
    assert ctx.check() == []


def test_calls_that_share_an_id_keep_their_own_results() -> None:
    """A call that was answered while it ran does not give its answer to another of its id."""
    first = step("openai_chat", "c", 1, [])
    ctx = ChatContext([{"role": "user", "content": "go"}, *first, *step("openai_chat", "c", 1, [])])
    texts = iter(["one", "two"])

    def read() -> str:
        text = next(texts)
        if text == "one":
            ctx.items.insert(2, step("openai_chat", "c", 1, ["mine"])[-1])
        return text

    run(ctx, "sync", read)
    assert [c.result for c in ctx.tool_calls()] == ["mine", "two"]
    assert validate(ctx.items, "openai_chat") == []


def test_of_like_calls_only_those_that_still_wait_get_a_result() -> None:
    """Two calls without ids, one of them answered by the tool itself: one result is added."""
    ctx = ChatContext([{"role": "user", "content": "go"}, *step("ollama", None, 2, [])])
    own = iter(step("ollama", None, 1, ["mine"])[1:])

    def read() -> str:
        ctx.extend(own)
        return "chatfold's"

    assert len(run(ctx, "sync", read)) == 1
    assert [c.result for c in ctx.tool_calls()] == ["mine", "chatfold's"]
    assert validate(ctx.items, "ollama") == []


def test_after_a_fold_too_a_call_that_was_answered_meanwhile_keeps_that_answer() -> None:
    """A second answer is no late result: its call is in the list."""
    ctx = waiting("openai_chat")
    assert ctx.summarize(short, keep_last_turns=1).changed

    def read() -> str:
        ctx.items.extend(step("openai_chat", "c00000001", 1, ["mine"])[1:])
        return "chatfold's"

    assert not run(ctx, "sync", read)
    assert [c.result for c in ctx.tool_calls()] == ["mine"]
    assert "chatfold's" not in json.dumps(ctx.items)


def test_results_of_several_steps_stand_behind_their_own_calls() -> None:
    """A list with two open steps in a row is valid once they have run."""
    calls = [*step("openai_chat", "a", 1, []), *step("openai_chat", "b", 1, [])]
    ctx = ChatContext([{"role": "user", "content": "go"}, *calls])
    texts = iter(["one", "two"])
    run(ctx, "sync", lambda: next(texts))
    assert [(c.id, c.result) for c in ctx.tool_calls()] == [("a", "one"), ("b", "two")]
    assert [c.result_index for c in ctx.tool_calls()] == [2, 4]
    assert validate(ctx.items, "openai_chat") == []


def test_the_result_of_an_asynchronous_call_comes_at_the_end() -> None:
    """Turns may have passed since the call: what was said before it came stays before it."""
    call = {**CALL, "async": True}
    said = [{"role": "user", "content": "And?"}, {"role": "assistant", "content": "It runs."}]
    ctx = ChatContext([{"role": "user", "content": "go"}, call, *said], shape="openai_responses")
    added = ctx.run_tool_calls({"f": lambda: "paid 100"})
    assert same_objects(ctx.items[-1:], list(added))
    assert [c.result for c in ctx.tool_calls()] == ["paid 100"]
