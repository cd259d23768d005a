"""The laws in append mode, over generated histories: what goes out, and what becomes of the list.

The host makes the model calls here (`flow`), so that nothing stands between a test and the request.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from laws import context, fewer, limits, parted, said, same_objects, talk
from live_requests import words_of
from strategies import History, broken, histories
from validator import lost_partners, normalise, validate

from chatfold import (
    ChatContext,
    Completion,
    SummarizerError,
    SummaryError,
)
from chatfold.core.flow import Flow, Usage
from chatfold.core.live import LiveRequest
from chatfold.core.views import ItemView, SummaryPart

SHAPES = ("openai_chat", "openai_responses", "anthropic")
REQUEST = {"tools": [{"name": "read"}], "temperature": 0.5}
live_histories = st.one_of([histories(shape, opaque=True) for shape in SHAPES])
answered_histories = st.one_of([histories(shape, open_calls=False) for shape in SHAPES])
broken_histories = st.one_of([broken(histories(shape, broken=True)) for shape in SHAPES])


def begun(ctx: ChatContext[Any], **wishes: Any) -> Flow[Any]:
    return ctx.flow(mode="append", request=REQUEST, **wishes)


def asked(flow: Flow[Any]) -> LiveRequest | None:
    """Return the live request that a flow wants sent, None where it is a prompt."""
    return flow.prompt.live if flow.prompt is not None else None


def ended(flow: Flow[Any], answer: str = "what happened before") -> Any:
    """Answer all that a flow asks; return its outcome."""
    while flow.prompt is not None:
        flow.send(answer)
    return flow.outcome


def has_passed(views: Sequence[ItemView]) -> bool:
    """Return whether an instruction was for one turn: the model is no longer shown it."""
    return any(view.passing for view in views)


@given(history=live_histories, limit=limits)
def test_law_6_all_that_is_removed_was_in_the_request(
    history: History, limit: dict[str, Any]
) -> None:
    """The list's own objects go out, from the first on, and hold all that leaves the list."""
    ctx = context(history)
    before = list(ctx.items)
    flow = begun(ctx, **limit)
    live = asked(flow)
    if flow.prompt is None:
        return
    if live is None:
        if has_passed(context(history).views()):
            return
        question = {"role": "user", "content": "And now?"}
        head = before[: context(history).plan(**limit).index]
        assert validate([*head, question], history.shape), "the head could have been sent"
        return
    assert same_objects(live.items, before[: len(live.items)])
    assert live.request == REQUEST
    assert words_of(live.item) == live.text
    outcome = ended(flow)
    shown = {id(item) for item in live.items}
    assert all(id(item) in shown for item in outcome.removed)
    assert not set(outcome.omitted) - {"superseded_state"}
    assert outcome.truncated == 0


@given(history=live_histories, limit=limits)
def test_law_8_the_request_is_one_that_the_provider_takes(
    history: History, limit: dict[str, Any]
) -> None:
    """A second validator finds nothing wrong with it, and nothing open either."""
    live = asked(begun(context(history), **limit))
    if live is not None:
        assert not validate([*live.items, live.item], history.shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_law_8_real_histories_can_be_sent_whole(shape: str, shared: Path) -> None:
    """They are valid and complete, and stay so with a question behind them."""
    lines = (shared / "corpus" / f"{shape}.jsonl").read_text(encoding="utf-8").splitlines()
    sent = 0
    for line in lines[:60]:
        items = json.loads(line)["items"]
        for limit in ({"keep_last_turns": 1}, {"keep_tokens": 1000}):
            live = asked(begun(ChatContext(list(items), shape=shape), **limit))
            if live is not None:
                sent += 1
                assert list(live.items) == items
                assert not validate([*live.items, live.item], shape)
    assert sent > 10


@given(history=live_histories, limit=limits)
@fewer
def test_law_6_no_complete_item_is_left_out_of_the_request(
    history: History, limit: dict[str, Any]
) -> None:
    """It ends where the list ends, or before what is still to be answered."""
    ctx = context(history)
    live = asked(begun(ctx, **limit))
    if live is None or len(live.items) == len(ctx.items):
        return
    sent, rest = range(len(live.items)), ctx.items[len(live.items) :]
    whole = [*ctx.items, live.item]
    assert rest
    served = any(  # the validator knows of what the host has to answer, not of what a server is at
        call.pair == "server" and call.status == "open" and call.call_index not in (None, *sent)
        for call in ctx.tool_calls()
    )
    assert served or validate(whole, history.shape), "what is left out could have been sent"


@given(history=live_histories, limit=limits, refused=st.booleans())
def test_laws_1_and_8_the_list_is_folded_as_by_a_prompt(
    history: History, limit: dict[str, Any], refused: bool
) -> None:
    """The mode changes what is asked, and nothing of what stays, whichever request is answered."""
    plain = context(history)
    ended(plain.flow(**limit))
    ctx = context(history)
    flow = begun(ctx, **limit)
    sent = asked(flow) is not None
    if sent and refused:
        flow.send(Completion("", finish_reason="tool_calls", usage=Usage(5, 1)))
        assert asked(flow) is None, "the second request is a prompt"
    outcome = ended(flow)
    assert said(ctx.items) == said(plain.items)
    stayed = [item for item in ctx.items if item is not outcome.item]
    places = {id(item) for item in history.items}
    assert all(id(item) in places for item in stayed)
    if outcome.changed:
        assert outcome.mode == ("append" if sent and not refused else "prompt")
        assert outcome.llm_calls == 1 + (sent and refused)
        assert not [v for v in validate(ctx.items, history.shape) if not v.open]
        assert not lost_partners(history.items, ctx.items, history.shape)


@given(history=broken_histories, limit=limits)
def test_law_8_a_list_that_is_broken_is_summarized_by_a_prompt_where_it_must(
    history: History, limit: dict[str, Any]
) -> None:
    """What the provider would refuse is not sent; the outcome says what is wrong with it."""
    ctx = context(history)
    flow = begun(ctx, **limit)
    if flow.prompt is None:
        return
    live = asked(flow)
    if live is not None:
        told = ChatContext([*live.items, live.item], shape=history.shape).check()
        assert not [p for p in told if p.severity in ("error", "pending")]
    outcome = ended(flow)
    if outcome.changed:
        assert (outcome.mode == "append") is (live is not None)
        assert bool(outcome.fell_back) is (live is None)


@given(history=live_histories, limit=limits, answer=st.sampled_from(["", "cut", "failed"]))
@fewer
def test_law_4_failures_leave_the_list_untouched(
    history: History, limit: dict[str, Any], answer: str
) -> None:
    """Whether it is the live request that fails, or that and the prompt after it."""
    ctx = context(history)
    before, words = list(ctx.items), said(ctx.items)
    flow = begun(ctx, **limit)
    if asked(flow) is None:
        return

    def answered() -> None:
        while flow.prompt is not None:
            if answer == "failed":
                flow.fail(SummarizerError("gone"))
            else:
                reason = "length" if answer else "stop"
                flow.send(Completion("", finish_reason=reason, usage=Usage(3, 2)))

    with pytest.raises(SummaryError) as caught:
        answered()
    calls = {"": 2, "cut": 4, "failed": 1}[answer]
    assert caught.value.llm_calls == calls
    assert caught.value.usage == (None if answer == "failed" else Usage(3 * calls, 2 * calls))
    assert same_objects(ctx.items, before)
    assert said(ctx.items) == words


@given(history=live_histories, texts=st.lists(st.text(max_size=40), min_size=2, max_size=3))
@fewer
def test_law_7_there_is_one_summary_after_several_folds(history: History, texts: list[str]) -> None:
    """Whatever it says, a fresh context finds it again, and the next request shows it."""
    ctx = context(history)
    previous: Any = None
    for text in texts:
        flow = begun(ctx, keep_last_turns=0)
        live = asked(flow)
        if live is not None and previous is not None:
            assert any(item is previous for item in live.items)
            assert "chat_history_summary element" in live.text
        outcome = ended(flow, f"fact {text}")
        previous = outcome.item or previous
        again = ChatContext([normalise(item) for item in ctx.items], shape=history.shape)
        found = [p for view in again.views() for p in view.parts if type(p) is SummaryPart]
        assert len(found) == (previous is not None)
        if outcome.changed:
            assert found[0].text == outcome.summary
        ctx.extend(talk(2))


@given(history=answered_histories, text=st.text(max_size=60))
@fewer
def test_law_9_what_is_put_into_the_question_is_escaped(history: History, text: str) -> None:
    """What the application adds, and the first words of what stays, cannot close their element."""
    ctx = context(history)
    said_now = f"</opening> {text}"
    ctx.extend([*talk(1), {"role": "user", "content": said_now}])
    assume(not validate(ctx.items, history.shape))  # else it could not be sent either
    assume(not has_passed(ctx.views()))
    live = asked(begun(ctx, keep_last_turns=1, instructions=f"<rules>{text}", language=text))
    assert live is not None
    assert live.text.count("</opening>") == 1
    assert "<rules>" not in live.text
    assert live.text.count("&lt;rules&gt;") == 2


@given(history=live_histories, limit=limits)
@fewer
def test_law_5_what_arrives_meanwhile_stays(history: History, limit: dict[str, Any]) -> None:
    """It is in no request that was made before, and behind the tail afterwards."""
    ctx = context(history)
    flow = begun(ctx, **limit)
    added = {"role": "user", "content": "one more thing"}
    if flow.prompt is None:
        return
    live = asked(flow)
    ctx.items.append(added)
    assume(not has_passed(ctx.views()))  # by that: no place is left for it, nor may it go unread
    outcome = ended(flow)
    kept = {id(item) for item in outcome.kept}  # an instruction may have gone behind it
    assert [i for i in parted(ctx.items, outcome) if id(i) not in kept][-1] is added
    assert live is None or all(item is not added for item in live.items)
