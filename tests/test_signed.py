"""Thinking that is signed over the list that was sent: what comes between, and what to send then.

The model's server is a real one that refuses thinking behind anything else, and the real SDK asks
it. Not here: lists that a host owns (`test_middleware_signed`).
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic import BadRequestError as Refused
from clerk import Clerk

from chatfold import ChatContext, Middleware, Policy

Item = dict[str, Any]
FIND = {
    "name": "find_order",
    "input_schema": {"type": "object", "properties": {"order": {"type": "string"}}},
}
REQUEST: Item = {"model": "claude-sonnet-5-5", "max_tokens": 1_000, "tools": [FIND]}
BOTH_WAYS = pytest.mark.parametrize("thinking", ["keep", "strip"])


@pytest.fixture(scope="module")
def server() -> Iterator[Clerk]:
    with Clerk() as clerk:
        yield clerk


@pytest.fixture
def clerk(server: Clerk) -> Clerk:
    server.turns.clear()
    server.prompts.clear()
    server.refused.clear()
    return server


@pytest.fixture
def client(clerk: Clerk) -> Iterator[Anthropic]:
    with Anthropic(api_key="k", base_url=clerk.anthropic_url, max_retries=0) as made:
        yield made


def user(words: str) -> Item:
    return {"role": "user", "content": words}


def asking(number: int) -> Item:
    return user(f"What of my parcel number {number}? " + "Please look. " * 60)


def context(**options: Any) -> ChatContext[Any]:
    return ChatContext([], model="claude-sonnet-5-5", **options)


def roles(ctx: ChatContext[Any]) -> list[str]:
    return [item["role"] for item in ctx.items]


def answer(ctx: ChatContext[Any], client: Anthropic) -> None:
    """Ask the model for its next answer, and put that into the list."""
    options = ctx.request_options()
    made = client.beta.messages.create(messages=ctx.items, **REQUEST, **options)
    ctx.add_response(made)


def turn(ctx: ChatContext[Any], client: Anthropic, said: Item) -> None:
    ctx.append(said)
    answer(ctx, client)
    while ctx.run_tool_calls({"find_order": lambda order: f"{order} is delivered."}):
        answer(ctx, client)


def stream(
    ctx: ChatContext[Any], client: Anthropic, meanwhile: Callable[[], object], at: int = 3
) -> None:
    """Read the model's next answer as a stream, and do something after an event of it."""
    options = ctx.request_options()
    events = client.beta.messages.create(messages=ctx.items, stream=True, **REQUEST, **options)
    for number, _ in enumerate(ctx.record(events)):
        if number == at:
            meanwhile()


def folded(ctx: ChatContext[Any]) -> None:
    assert ctx.summarize(lambda _: "Parcels were asked for.", keep_last_turns=1).changed


def test_words_while_an_answer_is_streamed_come_behind_it(clerk: Clerk, client: Anthropic) -> None:
    """There its thinking stays valid, without fields, and also in a list that is read again."""
    ctx = context()
    turn(ctx, client, asking(1))
    ctx.append(asking(2))
    stream(ctx, client, lambda: ctx.extend([user("And number 3."), user("Quickly.")]))
    assert roles(ctx) == ["user", "assistant", "user", "assistant", "user", "user"]
    assert ctx.request_options() == {}
    answer(ctx, client)
    again = ChatContext(json.loads(json.dumps(ctx.items)), model="claude-sonnet-5-5")
    turn(again, client, asking(4))
    assert clerk.refused == []


def test_words_before_a_stream_is_read_come_before_its_answer(client: Anthropic) -> None:
    """They are what it answers: the list was empty before, and so is no request."""
    ctx = context()
    question = asking(1)
    made = client.beta.messages.create(messages=[question], stream=True, **REQUEST)
    events = ctx.record(made)
    ctx.append(question)
    assert len([*events]) > 3
    assert roles(ctx) == ["user", "assistant"]
    assert ctx.request_options() == {}


def test_words_that_are_stored_once_they_were_taken_come_before_the_answer(
    clerk: Clerk, client: Anthropic
) -> None:
    """A list that ends with an answer asks for none: the model was sent more than that."""
    ctx = context()
    for number in range(3):
        question = user(f"Thank you, that is all. ({number})")
        assert ctx.request_options() == {}
        sent = [*ctx.items, question]
        made = client.beta.messages.create(messages=sent, stream=True, **REQUEST)
        for at, _ in enumerate(ctx.record(made)):
            if at == 0:
                ctx.append(question)
    assert roles(ctx) == ["user", "assistant"] * 3
    turn(ctx, client, user("Good bye."))
    assert clerk.refused == []


def test_to_ask_for_the_options_behind_an_answer_says_nothing_of_the_next(
    client: Anthropic,
) -> None:
    ctx = context()
    turn(ctx, client, asking(1))
    assert ctx.request_options() == {}  # to log them, as an example
    ctx.append(asking(2))
    ctx.add_response(client.beta.messages.create(messages=ctx.items, **REQUEST))
    assert ctx.request_options() == {}


@pytest.mark.parametrize("arguments", ["find it", {}], ids=["mended in it", "left"])
def test_a_mend_of_what_stands_behind_thinking_leaves_that_valid(arguments: Any) -> None:
    """It was signed over what came before, and that is as it was."""
    thought = {"type": "thinking", "thinking": "I look.", "signature": "c2ln"}
    use = {"type": "tool_use", "id": "toolu_1", "name": "find_order", "input": arguments}
    found = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "delivered"}
    items = [asking(1), {"role": "assistant", "content": [thought, use]}]
    ctx = ChatContext([*items, {"role": "user", "content": [found]}], model="claude-sonnet-5-5")
    assert bool(ctx.repair()) is isinstance(arguments, str)
    assert ctx.request_options() == {}


@pytest.mark.parametrize("by_hand", [True, False], ids=["by hand", "run_tool_calls"])
def test_results_of_calls_may_be_added_though_a_user_spoke_before_they_were_there(
    clerk: Clerk, client: Anthropic, by_hand: bool
) -> None:
    """What was thought before such calls needs the fields."""
    ctx = context()
    ctx.append(user("Where is LK-1001?"))
    stream(ctx, client, lambda: ctx.append(user("And the other one.")))
    assert roles(ctx) == ["user", "user", "assistant"]
    (needed,) = ctx.requirements()
    assert needed.indices == (2,)
    if by_hand:
        use = ctx.tool_calls()[0].id
        result = {"type": "tool_result", "tool_use_id": use, "content": "delivered"}
        ctx.append({"role": "user", "content": [result]})
    else:
        assert ctx.run_tool_calls({"find_order": lambda order: f"{order} is delivered."})
    answer(ctx, client)
    turn(ctx, client, asking(2))
    assert clerk.refused == []


@BOTH_WAYS
@pytest.mark.parametrize("change", ["fold", "undo"])
def test_a_fold_while_an_answer_is_streamed_is_known_to_part_its_thinking(
    clerk: Clerk, client: Anthropic, thinking: Any, change: str
) -> None:
    """So is one that is taken back then; what is thought later is signed over the list as it is."""
    ctx = context(thinking=thinking)
    for number in range(3):
        turn(ctx, client, asking(number))
    if change == "undo":
        folded(ctx)
    ctx.append(asking(4))
    stream(ctx, client, lambda: folded(ctx) if change == "fold" else ctx.undo())
    length = len(ctx.items)
    assert length - 1 in ctx.requirements()[0].indices
    turn(ctx, client, asking(5))
    if (thinking, change) == ("strip", "fold"):
        assert ctx.requirements()[0].indices == (length - 1,)
    assert clerk.refused == []


def test_words_while_a_whole_answer_is_waited_for_are_known_to_part_its_thinking(
    clerk: Clerk, client: Anthropic
) -> None:
    """They came since the fields were asked for, which is when the request was made."""
    ctx = context()
    ctx.append(asking(1))
    options = ctx.request_options()
    made = client.beta.messages.create(messages=ctx.items, **REQUEST, **options)
    other = threading.Thread(target=ctx.append, args=[asking(2)])
    other.start()
    other.join()
    ctx.add_response(made)
    assert roles(ctx) == ["user", "user", "assistant"]
    assert ctx.requirements()[0].indices == (2,)
    turn(ctx, client, asking(3))
    assert ctx.requirements()[0].indices == (2,), "only the answer of that request"
    assert clerk.refused == []


def test_it_is_the_same_in_a_loop(clerk: Clerk) -> None:
    """A user speaks while a stream is read, and before it has begun."""

    async def talk(ctx: ChatContext[Any], client: AsyncAnthropic) -> None:
        async def opened() -> Any:
            options = ctx.request_options()
            create = client.beta.messages.create
            return ctx.record(await create(messages=ctx.items, stream=True, **REQUEST, **options))

        ctx.append(asking(1))
        number = 0
        async for _ in await opened():
            number += 1
            if number == 3:
                ctx.append(asking(2))
        assert roles(ctx) == ["user", "assistant", "user"]
        assert ctx.request_options() == {}
        events = await opened()
        ctx.append(asking(3))
        assert [event async for event in events]
        assert roles(ctx) == ["user", "assistant", "user", "user", "assistant"]
        ctx.append(asking(4))
        assert [event async for event in await opened()]
        await client.close()

    client = AsyncAnthropic(api_key="k", base_url=clerk.anthropic_url, max_retries=0)
    asyncio.run(talk(context(), client))
    assert clerk.refused == []


def test_a_result_that_goes_before_what_was_thought_later_parts_it() -> None:
    """As where the conversation went on while a tool ran."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    use = {"type": "tool_use", "id": "toolu_1", "name": "find_order", "input": {"order": "1"}}
    ctx = context()
    ctx.extend([asking(1), {"role": "assistant", "content": [thought, use]}])
    said = {"role": "assistant", "content": [thought, {"type": "text", "text": "Fine."}]}

    def find_order(order: str) -> str:
        ctx.extend([user("Never mind."), said])
        return f"{order} is delivered."

    assert ctx.request_options() == {}
    assert ctx.run_tool_calls({"find_order": find_order})
    assert roles(ctx) == ["user", "assistant", "user", "user", "assistant"]
    assert ctx.requirements()[0].indices == (4,)


def test_a_model_that_signs_nothing_answers_behind_all(client: Anthropic) -> None:
    """What such a model thinks is valid anywhere."""
    ctx = ChatContext([asking(1)], model="claude-opus-4-5")
    stream(ctx, client, lambda: ctx.append(asking(2)))
    assert roles(ctx) == ["user", "user", "assistant"]
    assert ctx.request_options() == {}


def _lost_result(items: list[Any]) -> None:
    del items[2]


def _cut_by_count(items: list[Any]) -> None:
    del items[:2]


@pytest.mark.parametrize("fault", [_lost_result, _cut_by_count])
def test_thinking_behind_what_is_mended_is_told_with_what_to_send(
    clerk: Clerk, client: Anthropic, fault: Callable[[list[Any]], None]
) -> None:
    """The context knows it from then on; who reads the list again has to go on sending that."""
    ctx = context()
    for number in range(3):
        turn(ctx, client, user(f"Where is LK-{number}?"))
    fault(ctx.items)
    repairs = ctx.repair()
    told = repairs[-1]
    assert (told.action, told.rule) == ("unbound", "thinking_binding")
    options = ctx.request_options()
    assert json.dumps(options) in str(told)
    assert [repair.action for repair in ctx.repair()] == []
    again = json.loads(json.dumps(ctx.items))
    turn(ctx, client, asking(4))
    assert clerk.refused == []
    again.append(asking(4))
    with pytest.raises(Refused):
        client.beta.messages.create(messages=again, **REQUEST)
    client.beta.messages.create(messages=again, **REQUEST, **options)


def test_what_stands_before_what_is_mended_needs_nothing(client: Anthropic) -> None:
    """Nor does thinking of a model that does not sign it."""
    ctx = context()
    turn(ctx, client, asking(1))
    ctx.extend([user(""), asking(2)])
    assert [repair.action for repair in ctx.repair()] == ["dropped"]
    assert ctx.request_options() == {}
    old = ChatContext([user(""), *ctx.items], model="claude-opus-4-5")
    assert [repair.action for repair in old.repair()] == ["dropped"]


@BOTH_WAYS
def test_the_live_request_carries_what_the_agents_next_one_does(
    clerk: Clerk, client: Anthropic, thinking: Any
) -> None:
    """Behind a fold, and behind one that was taken back: no field more, and none less."""
    ctx = context(thinking=thinking, mode="append", request=REQUEST)

    def told() -> tuple[Any, bool]:
        asked = clerk.requests[-1]
        beta = "thinking-binding-controls-2026-08-01"
        return asked.body.get("thinking"), beta in asked.headers.get("anthropic-beta", "")

    def fold() -> None:
        options = ctx.request_options()
        outcome = ctx.summarize(client, keep_last_turns=1, force=True)
        assert (outcome.mode, outcome.fell_back) == ("append", "")
        assert told() == (options.get("thinking"), "betas" in options)

    for number in range(3):
        turn(ctx, client, asking(number))
    fold()
    for number in range(3):
        turn(ctx, client, asking(number))
    assert (ctx.request_options() == {}) == (thinking == "strip")
    fold()
    turn(ctx, client, asking(7))
    ctx.undo()
    assert ctx.request_options() != {}
    turn(ctx, client, asking(8))
    fold()
    assert clerk.refused == []


def test_a_new_middleware_folds_a_list_that_another_one_has_sent_folded(
    clerk: Clerk, client: Anthropic
) -> None:
    """In append mode too its first request has the fields, as what it hands over."""
    items: list[Any] = []
    for number in range(6):
        if number in (0, 4):  # another process
            middleware = Middleware(
                client,
                Policy(max_tokens=800, keep_tokens=300),
                mode="append",
                request=REQUEST,
                agent_model="claude-sonnet-5-5",
            )
        items.append(asking(number))
        folded = middleware.fold(items)
        assert not folded.outcome.fell_back
        options = folded.request_options()
        made = client.beta.messages.create(messages=folded.items, **REQUEST, **options)
        ChatContext(items).add_response(made)
        if number == 4:
            assert (folded.outcome.changed, folded.outcome.mode) == (True, "append")
    assert clerk.refused == []
