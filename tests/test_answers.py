"""What a summarizer may answer: why it stopped, in any provider's word; what nobody can send."""

from __future__ import annotations

import asyncio
import enum
import json
from typing import Any

import pytest
from google.genai.types import FinishReason

from chatfold import (
    ChatContext,
    Completion,
    EmptySummaryError,
    NoAnswerError,
    Policy,
    Prompt,
    RefusedSummaryError,
    SummarizerError,
    SummaryError,
    TruncatedSummaryError,
    Usage,
)

WAYS = pytest.mark.parametrize("way", ["summarize", "apply", "flow"])


class Reason(enum.Enum):
    """An enum of a provider that writes its words in large letters."""

    GUARDED = "GUARDRAIL_INTERVENED"


def talk(turns: int = 4) -> list[dict[str, Any]]:
    """Return turns of a question and an answer."""
    return [
        {"role": role, "content": f"{role} {number}: " + "word " * 60}
        for number in range(turns)
        for role in ("user", "assistant")
    ]


def answered(way: str, answer: Any) -> ChatContext[Any]:
    """Return a context that was folded with an answer."""
    ctx: ChatContext[Any] = ChatContext(talk())
    if way == "summarize":
        ctx.summarize(lambda _: answer, keep_last_turns=1)
    elif way == "apply":
        ctx.apply(ctx.plan(keep_last_turns=1), answer)
    else:
        flow = ctx.flow(keep_last_turns=1)
        while flow.prompt is not None:  # what was cut off is asked for once more
            flow.send(answer)
    return ctx


@WAYS
@pytest.mark.parametrize(
    ("reasons", "error"),
    [
        (("length", "model_length", "max_tokens", FinishReason.MAX_TOKENS), TruncatedSummaryError),
        (("FinishReason.MAX_TOKENS", "incomplete"), TruncatedSummaryError),
        (("content_filter", "content_filtered", Reason.GUARDED), RefusedSummaryError),
        ((FinishReason.RECITATION, FinishReason.SPII, "BLOCKLIST"), RefusedSummaryError),
        (("tool_calls", FinishReason.UNEXPECTED_TOOL_CALL), NoAnswerError),
        (("malformed_tool_use", FinishReason.MALFORMED_FUNCTION_CALL), NoAnswerError),
        (("error", "failed", "malformed_model_output", FinishReason.OTHER), SummarizerError),
        # Of servers that speak OpenAI's API: GLM's, vLLM and SGLang, DeepSeek, GLM's.
        (("sensitive",), RefusedSummaryError),
        (("abort", "insufficient_system_resource", "network_error"), SummarizerError),
    ],
)
def test_no_answer_that_was_cut_off_refused_or_broken_becomes_a_summary(
    way: str, reasons: tuple[Any, ...], error: type[SummaryError]
) -> None:
    """Whatever it says: a canned sentence of a guardrail would stand for the conversation."""
    for reason in reasons:
        with pytest.raises(error):
            answered(way, Completion("Sorry, I cannot answer this.", reason, Usage(5, 3)))


@pytest.mark.parametrize(
    ("reason", "why"),
    [(None, "refusal"), ("stop", "refusal"), ("completed", "refusal"), ("safety", "safety")],
)
def test_a_refusal_in_words_is_called_one(reason: str | None, why: str) -> None:
    """It ends as any answer does, and "refused (stop)" would say nothing."""
    with pytest.raises(RefusedSummaryError, match=rf"refused \({why}\)$"):
        answered("summarize", Completion("", reason, refusal="I can't help with that."))


def test_an_answer_that_has_no_room_for_a_line_names_the_remedy() -> None:
    for most in (1, 8):
        with pytest.raises(EmptySummaryError, match=f"for {most} tokens .*a larger max_s"):
            ChatContext(talk()).summarize("extractive", keep_last_turns=1, max_summary_tokens=most)
    ctx = ChatContext(talk())
    plan = ctx.plan(keep_last_turns=1, max_summary_tokens=5)
    with pytest.raises(EmptySummaryError, match="for 5 tokens"):
        ctx.apply(plan, "")
    with pytest.raises(EmptySummaryError, match=r"with an empty text$"):
        ctx.summarize(lambda _: "", keep_last_turns=1, max_summary_tokens=400)


@WAYS
@pytest.mark.parametrize("reason", [None, "stop", "end_turn", "completed", FinishReason.STOP, 7])
def test_an_answer_that_ended_well_does(way: str, reason: Any) -> None:
    """So does one that ended with a word that nobody knows."""
    assert "All was done." in str(answered(way, Completion("All was done.", reason)).items)


@pytest.mark.parametrize("way", ["apply", "flow"])
def test_what_a_host_sends_may_be_none(way: str) -> None:
    """An SDK's `content` is None where the model refused, or called a tool."""
    with pytest.raises(EmptySummaryError):
        answered(way, None)
    for wrong in (5, {"content": "All was done."}, Completion([])):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="text or a Completion that holds text"):
            answered(way, wrong)


def test_a_flow_takes_the_right_answer_behind_a_wrong_one() -> None:
    """What is no answer leaves the flow as it was."""
    ctx: ChatContext[Any] = ChatContext(talk())
    flow = ctx.flow(keep_last_turns=1)
    with pytest.raises(TypeError):
        flow.send(5)  # type: ignore[arg-type]
    flow.send("All was done.")
    assert flow.outcome is not None
    assert flow.outcome.changed


def test_a_flow_that_has_ended_says_how_it_did() -> None:
    """Only one that was brought to its end has an outcome."""
    failed = ChatContext(talk()).flow(keep_last_turns=1)
    with pytest.raises(EmptySummaryError):
        failed.send("")
    with pytest.raises(ValueError, match="ended in an error"):
        failed.send("All was done.")
    done = ChatContext(talk()).flow(keep_last_turns=1)
    done.send("All was done.")
    with pytest.raises(ValueError, match="its outcome is set"):
        done.send("All was done.")


@WAYS
def test_a_summary_can_be_sent(way: str) -> None:
    """A lone surrogate of the model's would break every later request; a pair of them would not."""
    said = answered(way, "All \ud800 was d\u00f6ne \ud83d\ude00.").items[0]["content"]
    assert "All \ufffd was d\u00f6ne \U0001f600." in said
    json.dumps(said, ensure_ascii=False).encode()


@WAYS
def test_a_copied_wrapper_is_not_wrapped_again(way: str) -> None:
    """A model that sees the list as it is answers in the form of the summary that it finds there.

    Each fold once added a note and a record, and the digest on the tag passed for a value.
    """
    before = answered(way, "All was done.").items[0]["content"]
    for copied in (before, f"\n{before} \n", before.replace("All", before, 1) + "\n"):
        ctx = answered(way, copied)
        assert ctx.items[0]["content"].count("<note>") == 1
        assert ctx.items[0]["content"].count("All was done.") == 1
    for same in (before, "<chat_history_summary>\nAll was done.\n</chat_history_summary>"):
        assert answered(way, same).items[0]["content"] == before


@WAYS
def test_a_wrapper_with_nothing_in_it_is_no_answer(way: str) -> None:
    """Whoever took it for a summary would have lost the conversation."""
    wrapper = answered(way, "All was done.").items[0]["content"]
    note = wrapper.partition("<note>")[2].partition("</note>")[0]
    for inside in ("", f"<note>{note}</note>\n"):
        with pytest.raises(EmptySummaryError):
            answered(way, f"<chat_history_summary>\n{inside}</chat_history_summary>")


@pytest.mark.parametrize(
    "text",
    [
        "{0}a{1} and {0}b{1}",
        "{0}a{1} and so on",
        "It said {0}a{1}",
        "{0}a",
        "a{1}",
        "<chat_history_summary_2>a{1}",
    ],
)
def test_other_words_about_a_wrapper_stay(text: str) -> None:
    """They are told from a wrapper by where its tags are."""
    said = text.format("<chat_history_summary>", "</chat_history_summary>")
    ctx = answered("summarize", said)
    assert ChatContext(ctx.items).views()[0].parts[0].text == said  # type: ignore[union-attr]


@pytest.mark.parametrize("background", [False, True])
def test_a_function_of_the_callers_that_ends_an_iteration_hangs_nothing(background: bool) -> None:
    """No future can hold StopIteration: whoever awaited that would have waited for ever."""

    async def run() -> None:
        ctx: ChatContext[Any] = ChatContext(
            talk(),
            policy=Policy(max_tokens=300, keep_tokens=100),
            pin=lambda item: next(tag for tag in item.get("tags", ())),
        )
        if background:
            ctx.maybe_summarize(lambda _: "All was done.", background=True)
            assert ctx.background is not None
            await asyncio.wait_for(ctx.background.await_done(), 10)
            error: Any = ctx.maybe_summarize(lambda _: "All was done.", background=True).error
        else:
            with pytest.raises(RuntimeError) as caught:
                await asyncio.wait_for(ctx.amaybe_summarize(lambda _: "All was done."), 10)
            error = caught.value
        assert isinstance(error, RuntimeError)
        assert isinstance(error.__cause__, StopIteration)

    asyncio.run(run())


def test_what_is_cancelled_inside_of_a_summarizer_is_its_failure() -> None:
    """Nobody cancelled the turn, so it goes on, with the next of the chain."""

    async def cancelled(prompt: Prompt) -> str:
        inner = asyncio.ensure_future(asyncio.sleep(60))
        await asyncio.sleep(0)
        inner.cancel()
        await inner
        return "never"

    async def run() -> None:
        policy = Policy(max_tokens=300, keep_tokens=100)
        outcome = await ChatContext(talk(), policy=policy).amaybe_summarize(cancelled)
        assert outcome.reason == "failed"
        assert isinstance(outcome.error, SummarizerError)
        chain = [cancelled, "extractive"]
        assert (await ChatContext(talk(), policy=policy).amaybe_summarize(chain)).changed

    asyncio.run(run())


@pytest.mark.parametrize("keep", [{"keep_last_turns": 1}, {"keep_tokens": 100}])
def test_markers_of_the_prompt_cache_make_no_fold_stale(keep: dict[str, Any]) -> None:
    """Hosts move them at each turn, so that every fold in the background would come too late."""

    def message(role: str, number: int) -> dict[str, Any]:
        return {"role": role, "content": [{"type": "text", "text": f"{number} " + "word " * 60}]}

    def mark(items: list[dict[str, Any]]) -> None:
        for item in items:
            item["content"][-1].pop("cache_control", None)
        for item in items[-3:]:
            item["content"][-1]["cache_control"] = {"type": "ephemeral"}

    items = [message(role, n) for n in range(6) for role in ("user", "assistant")]
    mark(items)
    ctx: ChatContext[Any] = ChatContext(
        items, shape="anthropic", policy=Policy(max_tokens=300, **keep)
    )
    ctx.maybe_summarize(lambda _: "All was done.", background=True)
    assert ctx.background is not None
    assert ctx.background.wait(10)
    items += [message("user", 7)]
    mark(items)
    assert ctx.maybe_summarize(lambda _: "All was done.", background=True).changed
    said = items[-1]["content"][-1]
    said["text"] += " More."
    assert "More." in str(ctx.views()[-1])  # all else is content, also beside a marker


SAID = "- The order was shipped; the user wants the invoice next."


@WAYS
@pytest.mark.parametrize(
    "thoughts",
    [
        "<think>\nI should say what was done.\n</think>\n\n",
        "<think>\n\n</think>",
        "<think>One.</think>\n<think>Two.</think>\n",
        "  <thinking>It is <b>long</b>.</thinking>\n",
        "<seed:think>Hm.</seed:think>",
        "[THINK]Hm.[/THINK]",
        "◁think▷Hm.◁/think▷",
        "The template of the model opened them.\n</think>\n",
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>",
    ],
)
def test_thoughts_before_an_answer_are_not_in_the_summary(way: str, thoughts: str) -> None:
    """Whoever asked: functions and hosts get from their servers what SDKs get."""
    content = answered(way, thoughts + SAID).items[0]["content"]
    assert SAID in content
    assert all(word not in content for word in ("think", "THINK", "Hm", "should", "channel"))
    with pytest.raises(NoAnswerError, match="reasoning only"):
        answered(way, Completion(thoughts))


@WAYS
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<think>I should refund LK-1, and then", "reasoning only"),
        ("<think>Hm.</think></think>", "reasoning only"),
        ("<|channel|>analysis<|message|>We need to write", "reasoning only"),
        ('<tool_call>\n{"name": "refund", "arguments": {"order": "LK-1"}}\n</tool_call>', "calls"),
        ('<tool_call>{"name": "a"}</tool_call>\n<tool_call>{"name": "b"}', "calls"),
        ("<think>Hm.</think>\n<function=refund>{}</function>", "calls"),
        ('<function_calls><invoke name="refund"></invoke></function_calls>', "calls"),
        ('<function_call name="refund" call_id="c1">{}</function_call>', "calls"),
        ('[TOOL_CALLS]refund{"order": "LK-1"}', "calls"),
        ('<|python_tag|>refund("LK-1")', "calls"),
        ("<｜tool▁calls▁begin｜>refund<｜tool▁calls▁end｜>", "calls"),
        ("<summary>\n</summary>", "empty"),
        ("<summary></summary>", "empty"),
    ],
)
def test_an_answer_without_words_of_its_own_is_no_summary(way: str, text: str, why: str) -> None:
    """The list stays as it was."""
    with pytest.raises((NoAnswerError, EmptySummaryError), match=why):
        answered(way, text)
    ctx: ChatContext[Any] = ChatContext(talk(), policy=Policy(max_tokens=100))
    assert ctx.maybe_summarize(lambda _: text).reason == "failed"
    assert ctx.items == talk()


@WAYS
@pytest.mark.parametrize(
    "text",
    [
        "`<think>` is what the parser has to drop, up to `</think>`.",
        "- The user asks why <think> stands in the answers",
        "- It ends in </think>\n- That is open",
        "- The answer is to be without\n<think>\n...\n</think>\n- That is open",
        "- The model wrote <tool_call>{}</tool_call> into its text",
        "<tool_call>{}</tool_call> is what the model wrote into its text",
        "<b>Shipped</b>",
        "<order state='shipped'/>",
        "[thinking] was on in the user's settings",
        "a < b",
    ],
)
def test_words_about_thoughts_and_calls_stay(way: str, text: str) -> None:
    """A summary of work on such a server speaks of its tags."""
    ctx: ChatContext[Any] = ChatContext(talk())
    plan = ctx.plan(keep_last_turns=1, grounding="report")
    assert ctx.apply(plan, text).summary == text
    assert answered(way, text).items[0]["content"].count(text[:9]) == 1


@pytest.mark.parametrize("size", [10_000])
def test_an_answer_of_tags_without_end_takes_no_time(size: int) -> None:
    """Whatever a model repeats until it is stopped."""
    for text in ("<tool_call>x</tool_call>" * size + "words", "<think>" * size, "<" * size):
        try:
            answered("apply", text)
        except NoAnswerError:
            assert text.startswith("<think>")


def test_an_answer_that_needed_more_room_is_mended_with_as_much() -> None:
    """With the first limit, the mended one would be cut off and paid for in vain."""
    caps: list[int | None] = []

    def answering(prompt: Prompt) -> Completion:
        caps.append(prompt.cap)
        if (prompt.cap or 0) < 16_384:
            return Completion("user 1 as", "length")
        mended = len(caps) > 2
        return Completion("user 1 asked." if mended else "user 1 asked for ZZ-99999.", "stop")

    outcome = ChatContext(talk()).summarize(answering, keep_last_turns=1)
    assert outcome.summary == "user 1 asked."
    assert caps == [None, 16_384, 16_384]


@pytest.mark.parametrize(("asked", "cap"), [(2_000, 16_384), (8_192, 16_384), (20_000, 80_000)])
def test_the_limit_of_an_answer_that_was_cut_off_follows_what_is_asked_for(
    asked: int, cap: int
) -> None:
    """What the error says to do has to help: a long summary has to fit the second time."""
    caps: list[int | None] = []

    def answering(prompt: Prompt) -> Completion:
        caps.append(prompt.cap)
        return Completion("user 1 as", "length")

    most = f"of more than {max(asked, 8_192):,}, "
    with pytest.raises(TruncatedSummaryError, match=most):
        ChatContext(talk()).summarize(answering, keep_last_turns=1, max_summary_tokens=asked)
    assert caps == [None, cap]
