"""A head that is larger than the summarizer's window: folded in parts, and nothing of it lost."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from anthropic import Anthropic
from anthropic import DefaultHttpxClient as AnthropicHttp
from fake_server import Failure, Limited, LLMServer, llm_server, ok
from openai import DefaultHttpxClient, OpenAI

from chatfold import ChatContext, Policy, SummarizerError, SummaryError
from chatfold.core.xml import decode
from chatfold.summarizers.extractive import Extractive
from chatfold.tokens import counter_for

__all__ = ["llm_server"]

WINDOW = 8_000
SENTENCES = (
    "The order was shipped on Monday, and the customer has asked for a refund of her money.",
    "A parcel did not arrive at its address before the end of this month;",
    "we looked into what the carrier said about it, wrote to them again, and found the label.",
    "Someone else had signed for both boxes, at 48 Harbour Street, on the 3rd or the 4th.",
    '{"status": "lost", "total": 349.90, "rma": "RMA-90721", "due": "2025-10-07"}',
    "error: E14 no heat (twice), see /var/log/orders.txt",
    "<b>please</b> call before 9:30 & thank you — always",
)


def server_count() -> Callable[[str], int]:
    """Return how the server counts: never as the context does."""
    counter = counter_for("gpt-4o")
    return counter.count if counter.exact else lambda text: len(text.encode()) * 10 // 37


def history(tokens: int, *, seed: int = 1) -> list[Any]:
    """Return a Chat Completions history of about so many tokens, with calls in every turn."""
    draw = random.Random(seed)

    def words(count: int) -> str:
        return " ".join(draw.choices(SENTENCES, k=count // 14))

    items: list[Any] = [{"role": "system", "content": "You are a clerk."}]
    size = number = 0
    while size < tokens:
        number += 1
        ids = [f"call_{number}_{n}" for n in range(draw.choice((1, 1, 2)))]
        calls = [
            {
                "id": id_,
                "type": "function",
                "function": {"name": "look_up", "arguments": json.dumps({"order": f"LK-{id_}"})},
            }
            for id_ in ids
        ]
        made: list[Any] = [
            {"role": "user", "content": f"Where is <LK-{number}> & co? {words(40)}"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            *(
                {"role": "tool", "tool_call_id": id_, "content": f"{number}: {words(120)}"}
                for id_ in ids
            ),
            {"role": "assistant", "content": words(60)},
        ]
        items += made
        size += 240 + 230 * len(ids)
    return items


def conversation(prompt: str) -> tuple[str | None, str]:
    """Return the summary in a prompt, and what else stands in its conversation."""
    assert prompt.count("<conversation>\n") == 1
    text = prompt.partition("<conversation>\n")[2].partition("\n</conversation>")[0]
    before, tag, after = text.partition("<previous_summary>")
    if not tag:
        return None, text
    assert not before
    summary, _, rest = after.partition("</previous_summary>\n")
    return summary, rest


def openai_words(window: int, size: int) -> Failure:
    text = (
        f"This model's maximum context length is {window} tokens. However, your messages resulted "
        f"in {size} tokens. Please reduce the length of the messages."
    )
    return Failure(400, text, code="context_length_exceeded")


def wordless(window: int, size: int) -> Failure:
    """The words of OpenAI's Responses endpoint, which names no number."""
    return Failure(400, "", code="context_length_exceeded")


def liar(window: int, size: int) -> Failure:
    """A proxy with a table of its own: it gives a window in which the prompt would fit."""
    return openai_words(1_000_000, 3)


class Writer:
    """Writes summaries that can be told apart, of about the length of real ones."""

    def __init__(self) -> None:
        self.written = 0

    def __call__(self, body: dict[str, Any]) -> str:
        self.written += 1
        return f"Record {self.written}:" + " order LK-7 was looked up and is on its way." * 40


def openai_client(server: LLMServer) -> Any:
    http = DefaultHttpxClient(verify=False)
    return OpenAI(api_key="k", base_url=server.openai_url, http_client=http)


def anthropic_client(server: LLMServer) -> Any:
    http = AnthropicHttp(verify=False)
    return Anthropic(api_key="k", base_url=server.anthropic_url, http_client=http)


def fold(ctx: ChatContext[Any], server: LLMServer, **options: Any) -> Any:
    options = {"keep_last_turns": 1, "timeout": 120, "grounding": "report", **options}
    with openai_client(server) as client:
        return ctx.summarize(client, model="small", **options)


def answered(server: LLMServer, refusals: int) -> list[str]:
    """Return the prompts that were answered: refused ones are followed by smaller ones."""
    prompts = [request.body["messages"][1]["content"] for request in server.requests]
    return prompts[refusals:]


def shown_in_order(prompts: list[str]) -> str:
    """Return what the prompts show, one behind the other; each brings the last one's answer."""
    shown: list[str] = []
    for number, prompt in enumerate(prompts):
        summary, rest = conversation(prompt)
        assert (summary or "").startswith(f"Record {number}:" if number else "")
        shown.append(rest)
    return "\n".join(shown)


def test_two_million_tokens_go_through_a_window_of_eight_thousand(llm_server: LLMServer) -> None:
    """Every rendered character is sent once and answered, in nearly as few calls as possible."""
    count = server_count()
    llm_server.default = Limited(WINDOW, count, ok(Writer()), openai_words)
    items = history(2_400_000)
    ctx = ChatContext(items)
    whole = ctx.plan(keep_last_turns=1).prompt
    assert whole is not None
    started = time.process_time()
    outcome = fold(ctx, llm_server)
    seconds = time.process_time() - started
    assert outcome.changed
    assert len(items) < 10
    prompts = answered(llm_server, 1)
    assert shown_in_order(prompts) == conversation(whole.user)[1]
    assert outcome.truncated == 0
    assert outcome.llm_calls == len(llm_server.requests) == len(prompts) + 1
    body = count(conversation(whole.user)[1])
    assert body > 2_000_000
    frame = count(prompts[1]) - count(conversation(prompts[1])[1]) + count(whole.system)
    asked = int(re.findall(r"about (\d+) tokens at most", prompts[1])[-1])
    least = -(-body // (WINDOW - frame - asked))
    print(
        f"{body:,} tokens, {len(prompts)} calls answered, {least} at least, "
        f"{len(llm_server.requests) - len(prompts)} refused, {seconds:.1f} s of CPU"
    )
    assert len(prompts) <= least * 1.15
    texts = [*(conversation(p)[0] or "" for p in prompts[1:]), outcome.summary]
    assert outcome.usage.output_tokens == sum(map(count, texts))


def sizes(server: LLMServer) -> list[int]:
    """Return the length of each prompt that was sent, in characters."""
    return [len(r.body["messages"][1]["content"]) for r in server.requests]


@pytest.mark.parametrize("refusal", [wordless, liar])
def test_without_numbers_that_can_be_true_a_prompt_is_halved(
    refusal: Callable[[int, int], Failure], llm_server: LLMServer
) -> None:
    """Until it fits; the smaller size holds from then on."""
    writer = Writer()
    llm_server.default = Limited(WINDOW, server_count(), ok(writer), refusal)
    ctx = ChatContext(history(120_000))
    whole = ctx.plan(keep_last_turns=1).prompt
    outcome = fold(ctx, llm_server)
    assert outcome.changed
    assert whole is not None
    sent = sizes(llm_server)
    refused = outcome.llm_calls - writer.written
    assert refused >= 4
    assert all(after < before * 0.55 for before, after in pairwise(sent[: refused + 1]))
    prompts = answered(llm_server, refused)
    assert shown_in_order(prompts) == conversation(whole.user)[1]


def test_each_refusal_costs_no_part_that_was_answered(llm_server: LLMServer) -> None:
    """Where later texts are denser, a part is refused in the middle, and is sent again smaller."""
    count = server_count()
    writer = Writer()
    llm_server.default = Limited(WINDOW, count, ok(writer), openai_words)
    items = history(60_000)
    dense = [
        {"role": role, "content": " ".join(f"{n * 7919 % 9973:x}-{k:x}" for k in range(250))}
        for n in range(40)
        for role in ("user", "assistant")
    ]
    items += [*dense, *history(2_000, seed=2)[1:]]
    ctx = ChatContext(items)
    whole = ctx.plan(keep_last_turns=1).prompt
    outcome = fold(ctx, llm_server)
    assert outcome.changed
    assert whole is not None
    sent = [r.body["messages"][1]["content"] for r in llm_server.requests]
    system = llm_server.requests[0].body["messages"][0]["content"]
    good = [p for p in sent if count(f"{system}\n{p}") <= WINDOW]
    assert len(good) == writer.written < len(sent)
    assert shown_in_order(good) == conversation(whole.user)[1]


def test_a_giant_output_is_cut_in_the_middle_and_counted(llm_server: LLMServer) -> None:
    """Its beginning and its end are shown, with a marker that says how much is not."""
    llm_server.default = Limited(WINDOW, server_count(), ok(Writer()), openai_words)
    items = history(30_000)
    at = next(n for n in range(len(items) // 2, len(items)) if items[n]["role"] == "tool")
    giant = " ".join(f"row {n:06}" for n in range(100_000))
    items[at] = {**items[at], "content": giant}
    assert len(giant) > 1_000_000
    ctx = ChatContext(items)
    outcome = fold(ctx, llm_server)
    assert outcome.changed
    assert outcome.truncated == 1
    assert any(item["content"] == giant for item in outcome.removed), "the item itself is whole"
    cut = [r for r in llm_server.requests[1:] if "are left out here ...]" in str(r.body)]
    assert len(cut) == 1
    text = conversation(cut[0].body["messages"][1]["content"])[1]
    begin, marker, end = text.partition("\n[... ")
    assert marker
    assert begin.rpartition('">')[2].startswith("row 000000 row 000001 ")
    assert "row 099999</function_call_output>" in end
    left_out = int(end.partition(" of ")[0].replace(",", ""))
    kept = begin.rpartition('">')[2] + end.partition("...]\n")[2].partition("</function")[0]
    assert len(kept) + left_out == len(giant)
    assert end.partition(" of ")[2].startswith(f"{len(giant):,} characters")


def test_a_failure_in_the_middle_leaves_the_list_and_tells_all_it_cost(
    llm_server: LLMServer,
) -> None:
    """All or nothing: what three parts cost is told, and nothing has changed."""
    count = server_count()
    limited = Limited(WINDOW, count, ok(Writer()), openai_words)
    llm_server.script(limited, limited, limited, limited, Failure(403, "No more."))
    items = history(60_000)
    before = list(items)
    with pytest.raises(SummarizerError, match="No more") as caught:
        fold(ChatContext(items), llm_server)
    assert items == before
    assert all(a is b for a, b in zip(items, before, strict=True))
    assert caught.value.llm_calls == 5
    assert caught.value.usage is not None
    answers = llm_server.requests[1:4]
    texts = ["\n".join(m["content"] for m in r.body["messages"]) for r in answers]
    assert caught.value.usage.input_tokens == sum(map(count, texts))


def test_the_next_of_a_chain_goes_on_from_the_running_summary(llm_server: LLMServer) -> None:
    """What the first has answered is not asked again."""
    limited = Limited(WINDOW, server_count(), ok(Writer()), openai_words)
    llm_server.script(limited, limited, limited, Failure(403, "No more."))
    items = history(60_000)
    ctx = ChatContext(items)
    whole = ctx.plan(keep_last_turns=1).prompt
    assert whole is not None
    asked: list[Any] = []

    def second(prompt: Any) -> str:
        asked.append(prompt)
        return "the record"

    with openai_client(llm_server) as client:
        outcome = ctx.summarize([client, second], model="small", keep_last_turns=1)
    assert outcome.summary == "the record"
    assert outcome.llm_calls == 5
    prompts = [r.body["messages"][1]["content"] for r in llm_server.requests[1:3]]
    assert asked[0].previous_summary.startswith("Record 2:")
    assert shown_in_order([*prompts, asked[0].user]) == conversation(whole.user)[1]


def test_anthropics_words_and_its_cap_are_understood(llm_server: LLMServer) -> None:
    """Its error gives both numbers; the answer's cap is set aside."""

    def words(window: int, size: int) -> Failure:
        return Failure(400, f"prompt is too long: {size} tokens > {window} maximum")

    window = 30_000
    llm_server.default = Limited(window, server_count(), ok(Writer()), words)
    items = history(90_000)
    with anthropic_client(llm_server) as client:
        outcome = ChatContext(items).summarize(client, model="small", keep_last_turns=1)
    assert outcome.changed
    sent = [r.body["messages"][0]["content"] for r in llm_server.requests]
    assert conversation(sent[0])[1].startswith(conversation(sent[1])[1])
    assert outcome.llm_calls == len(sent) > 3


@pytest.mark.parametrize("llm", ["extractive", "function"])
def test_the_callers_own_limit_holds_for_every_prompt(llm: str) -> None:
    """`max_prompt_tokens` is a limit for summarizers without a window too."""
    ctx = ChatContext(history(40_000))
    count = counter_for(None).count
    whole = ctx.plan(keep_last_turns=1).prompt
    assert whole is not None
    prompts: list[Any] = []

    def answer(prompt: Any) -> Any:
        prompts.append(prompt)
        if llm == "extractive":
            return Extractive().complete(prompt)
        return f"Record {len(prompts)}: &lt;LK&gt; is on its way"

    outcome = ctx.summarize(answer, keep_last_turns=1, max_prompt_tokens=4_000)
    assert outcome.changed
    assert outcome.llm_calls == len(prompts) >= 10
    assert all(count(p.system) + count(p.user) <= 4_000 for p in prompts)
    if llm == "extractive":  # by its name it is given the same parts, and no model is asked
        named = ChatContext(history(40_000)).summarize(
            llm, keep_last_turns=1, max_prompt_tokens=4_000
        )
        assert (named.summary, named.llm_calls) == (outcome.summary, 0)
    else:
        assert shown_in_order([p.user for p in prompts]) == conversation(whole.user)[1]
        assert "Record 1: <LK> is on" in decode(prompts[1].previous_summary)


def test_a_host_is_given_one_prompt_after_the_other(llm_server: LLMServer) -> None:
    """`flow.prompt` is the part in turn; an overflow that the host tells makes it smaller."""
    ctx = ChatContext(history(40_000))
    flow = ctx.flow(keep_last_turns=1)
    first = flow.prompt
    assert first is not None
    with pytest.raises(TypeError, match=r"flow\.fail\(SummarizerError"):
        flow.fail("too long")  # type: ignore[arg-type]
    assert flow.prompt is first
    other = ctx.flow(keep_last_turns=1)
    with pytest.raises(asyncio.CancelledError):  # of the host's own task, which it is to see
        other.fail(asyncio.CancelledError())  # type: ignore[arg-type]
    assert other.prompt is None
    flow.fail(SummarizerError("too long", overflow=True, limit=9_000, size=44_000))
    number = 0
    while flow.prompt is not None:
        assert len(flow.prompt.user) < len(first.user) / 4
        assert (flow.prompt.previous_summary or "").startswith(f"Record {number}" if number else "")
        number += 1
        flow.send(f"Record {number}")
    assert number > 4
    assert flow.outcome is not None
    assert flow.outcome.changed
    assert flow.outcome.llm_calls == number + 1
    assert flow.outcome.summary == f"Record {number}"


def test_one_completion_cannot_stand_for_a_head_of_several_prompts() -> None:
    """The error names what can, and changes nothing."""
    items = history(40_000)
    before = list(items)
    ctx = ChatContext(items)
    plan = ctx.plan(keep_last_turns=1, max_prompt_tokens=4_000)
    assert plan.prompt is not None
    assert len(plan.prompt.views) < len(plan.region)
    with pytest.raises(ValueError, match=r"several prompts; use ctx\.flow"):
        ctx.apply(plan, "a record")
    assert items == before
    whole = ctx.plan(keep_last_turns=1, max_prompt_tokens=200_000)
    assert ctx.apply(whole, "a record").changed


def test_a_plan_whose_one_prompt_shows_a_text_cut_says_so_when_it_is_applied() -> None:
    """`apply` counts it as `summarize` does."""
    items: list[Any] = [
        {"role": "assistant", "content": "I have read it. " * 4_000},
        {"role": "user", "content": "And now?"},
        {"role": "assistant", "content": "Done."},
    ]
    ctx = ChatContext(items)
    plan = ctx.plan(keep_last_turns=1, max_prompt_tokens=1_500)
    assert plan.prompt is not None
    assert len(plan.prompt.views) == len(plan.region) == 1
    assert ctx.apply(plan, "a record").truncated == 1


@pytest.mark.parametrize("tokens", [0, 1, 999])
def test_a_limit_below_the_instructions_is_refused_before_any_call(tokens: int) -> None:
    """So is one that the caller's own instructions fill."""
    ctx = ChatContext(history(4_000))
    with pytest.raises(ValueError, match="max_prompt_tokens"):
        ctx.summarize("extractive", max_prompt_tokens=tokens)
    with pytest.raises(ValueError, match="leaves no room"):
        ctx.summarize(
            "extractive",
            keep_last_turns=1,
            max_prompt_tokens=1_000,
            instructions="Mind the gap. " * 300,
        )


def test_a_window_that_the_table_knows_costs_no_refusal(llm_server: LLMServer) -> None:
    """The head goes out in parts from the start."""
    llm_server.default = Limited(8_192, server_count(), ok(Writer()), openai_words)
    with openai_client(llm_server) as client:
        outcome = ChatContext(history(40_000)).summarize(client, model="gpt-4", keep_last_turns=1)
    assert outcome.changed
    assert outcome.llm_calls > 4
    assert max(sizes(llm_server)) < 8_192 * 6


def test_a_limit_that_one_step_fills_does_not_break_the_turn() -> None:
    """The argument is in range: it depends on the list, and shows at some turn."""
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
        for n in range(20)
    ]
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": "x y z " * 400} for call in calls
    ]
    step = [{"role": "assistant", "content": None, "tool_calls": calls}, *results]
    items = [*step, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Go."}]
    policy = Policy(max_tokens=1_000, keep_tokens=100)
    ctx = ChatContext(items, policy=policy, max_prompt_tokens=1_000)
    outcome = ctx.maybe_summarize("extractive")
    assert outcome.reason == "failed"
    assert isinstance(outcome.error, SummaryError)
    assert "leaves no room" in str(outcome.error)
    assert len(ctx) == len(items)
