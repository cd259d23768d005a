"""`apply` does with a completion what `summarize` does with an answer."""

from __future__ import annotations

from typing import Any

import pytest
from laws import fold
from returns_desk import LONG, TRUE, Clerk, assistant, desk, text_of, thanks, user

from chatfold import ChatContext, Completion, Usage
from chatfold.errors import ChatfoldError

WAYS = pytest.mark.parametrize("way", ["summarize", "apply"])


@WAYS
def test_entities_that_a_model_copied_are_decoded(way: str) -> None:
    """As law 9 has it: what stands escaped in the prompt, and not so in the head."""
    ctx = ChatContext([user(f"Use a < b & c. {LONG}"), assistant(LONG), *thanks()])
    assert (
        fold(ctx, Clerk("Use a &lt; b &amp; c."), way=way, keep_last_turns=1).summary
        == "Use a < b & c."
    )


@WAYS
@pytest.mark.parametrize("where", ["context", "call"])
def test_post_process_is_applied(way: str, where: str) -> None:
    """Given to the context, or to the plan."""
    given: dict[str, Any] = {"post_process": str.upper}
    ctx = ChatContext(desk("openai_chat"), **(given if where == "context" else {}))
    call = given if where == "call" else {}
    assert fold(ctx, Clerk(TRUE), way=way, keep_last_turns=1, **call).summary == TRUE.upper()


@WAYS
def test_a_summary_stays_bounded(way: str) -> None:
    """One that is far too long is cut in the middle, and counted."""
    items = [m for n in range(60) for m in (user(f"{n}? {LONG}"), assistant(LONG))]
    outcome = fold(
        ChatContext(items), Clerk("She asked again. " * 9_000), way=way, keep_last_turns=1
    )
    assert outcome.truncated == 1
    assert len(outcome.summary or "") < 60_000


@WAYS
def test_the_calls_templates_write_the_note(way: str) -> None:
    """Those that the plan was made with."""
    ctx = ChatContext(desk("openai_chat"))
    fold(ctx, Clerk(TRUE), way=way, keep_last_turns=1, templates={"summary_note.jinja": "OWN note"})
    assert "<note>OWN note</note>" in text_of(ctx.items[0])


@pytest.mark.parametrize("why", ["blank", "cut off", "stale"])
def test_an_error_says_what_the_completion_has_cost(why: str) -> None:
    """As the errors of `summarize` and of a flow do, and as the hook is told (law 4)."""
    told: list[Any] = []
    ctx = ChatContext(desk("openai_chat"), on_event=told.append)
    plan = ctx.plan(keep_last_turns=1)
    if why == "stale":
        ctx.items[0] = user("Something else.")
    spent = Usage(input_tokens=100, output_tokens=7)
    text, reason = ("" if why == "blank" else TRUE), ("length" if why == "cut off" else "stop")
    with pytest.raises(ChatfoldError) as caught:
        ctx.apply(plan, Completion(text, finish_reason=reason, usage=spent))
    assert caught.value.usage == spent
    assert [event.outcome.usage for event in told] == [spent]
