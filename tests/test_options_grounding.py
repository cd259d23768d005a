"""`grounding=` in a whole fold: what becomes of values that a model makes up, and what is told.

Not here: which values are made up (`core/test_grounding`).
"""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest
from fake_server import LLMServer, llm_server, ok
from laws import WAYS, fold, same_objects
from returns_desk import (
    APIS,
    LIE,
    LONG,
    SENT,
    TRUE,
    Clerk,
    assistant,
    desk,
    report_of,
    text_of,
    texts,
    thanks,
    user,
)

from chatfold import ChatContext, SummarizerError
from chatfold.errors import UngroundedSummaryError
from chatfold.stores import MemoryStore

__all__ = ["llm_server"]

DRAFT = f"{TRUE} {LIE}"
INVENTED = ["2,500.00 EUR", "2025-12-24"]
KEPT = ["LK-4821936", "E14", "RMA-90721"]
ADDED = ["dana.w@example.com", "10 am", "delivered", "1,349.90 EUR", "2025-11-28"]

shapes = pytest.mark.parametrize("shape", APIS)
ways = pytest.mark.parametrize("way", WAYS)


def invented(outcome: Any) -> list[str]:
    return [found.value.text for found in report_of(outcome).ungrounded]


@shapes
@ways
def test_report_names_what_was_made_up_and_leaves_the_words_alone(shape: str, way: str) -> None:
    """One call, every word of it kept, and each value of it told of."""
    ctx = ChatContext(desk(shape), shape=shape)
    outcome = fold(ctx, Clerk(DRAFT), way=way, keep_last_turns=1, grounding="report")
    assert outcome.summary == DRAFT
    assert LIE in text_of(ctx.items[0])
    assert invented(outcome) == INVENTED
    facts = report_of(outcome)
    assert facts.dropped == ()
    assert texts(facts.kept) == KEPT
    assert texts(facts.added) == ADDED
    assert facts.left_out == ()
    assert str(facts) == "3 of 8 needed facts kept, 5 added, 2 ungrounded"
    assert outcome.llm_calls == (0 if way == "apply" else 1)


@shapes
@ways
def test_drop_takes_out_the_sentence_and_asks_nobody(shape: str, way: str) -> None:
    """What is left stands, and what the conversation itself says is beside it."""
    ctx = ChatContext(desk(shape), shape=shape)
    model = Clerk(DRAFT, "never asked")
    outcome = fold(ctx, model, way=way, keep_last_turns=1, grounding="drop")
    assert outcome.summary == TRUE
    assert len(model.prompts) == 1
    facts = report_of(outcome)
    assert facts.dropped == (LIE,)
    assert invented(outcome) == INVENTED
    assert (texts(facts.kept), texts(facts.added)) == (KEPT, ADDED)
    assert all(value in text_of(ctx.items[0]) for value in [*KEPT, *ADDED])
    assert all(value not in text_of(ctx.items[0]) for value in INVENTED)


@shapes
@ways
def test_repair_is_the_default_and_asks_once_more(shape: str, way: str) -> None:
    """The second request is the first with the draft and the values; its answer stands."""
    ctx = ChatContext(desk(shape), shape=shape)
    mended = f"{TRUE} She is to ship it by 2025-11-28."
    model = Clerk(DRAFT, mended)
    outcome = fold(ctx, model, way=way, keep_last_turns=1)
    facts = report_of(outcome)
    if way == "apply":  # nobody can be asked
        assert outcome.summary == TRUE
        assert facts.dropped == (LIE,)
        return
    first, second = model.prompts
    assert outcome.summary == mended
    assert second.system == first.system
    assert second.user.startswith(first.user)
    asked = second.user[len(first.user) :]
    assert DRAFT in asked
    assert all(f"\n- {value}\n" in asked for value in INVENTED)
    assert (facts.ungrounded, facts.dropped) == ((), ())
    assert texts(facts.kept) == [*KEPT, "2025-11-28"]
    assert texts(facts.added) == ADDED[:-1]
    assert (outcome.llm_calls, outcome.usage, outcome.model) == (2, SENT + SENT, "clerk-1")


def test_a_summary_that_is_true_costs_one_call() -> None:
    """Nothing is asked where nothing is wrong."""
    model = Clerk(TRUE, "never asked")
    outcome = fold(ChatContext(desk("openai_chat")), model, keep_last_turns=1)
    assert (outcome.summary, outcome.llm_calls, invented(outcome)) == (TRUE, 1, [])


@pytest.mark.parametrize(
    "second",
    [
        f"The case is with us. {LIE}",
        "OK",
        "You're right, I apologize for the mistake. The values have been removed.",
        "Which values should I use instead?",
        "She was to be paid 1,349.90 EUR.",
        f"{TRUE} She waits. " * 60,
        f"It was worse. {LIE} It was sent to 48 Harbour Street, ref ZX-99881, on 2031-01-01.",
        SummarizerError("overloaded"),
        "   ",
    ],
    ids=[
        "as bad",
        "word",
        "apology",
        "question",
        "one line",
        "longer than its head",
        "worse",
        "failed",
        "blank",
    ],
)
@pytest.mark.parametrize("way", ["summarize", "asummarize"])
def test_where_the_second_answer_is_no_better_the_first_stands(second: Any, way: str) -> None:
    """Without its unproven sentences, and with what both calls cost."""
    ctx = ChatContext(desk("openai_chat"))
    if isinstance(second, SummarizerError):
        second.usage = SENT
    model = Clerk(DRAFT, second)
    outcome = fold(ctx, model, way=way, keep_last_turns=1)
    assert outcome.summary == TRUE
    assert report_of(outcome).dropped == (LIE,)
    assert invented(outcome) == INVENTED
    assert (outcome.llm_calls, outcome.usage) == (2, SENT + SENT)


def test_a_mended_draft_that_is_far_too_long_is_not_taken() -> None:
    """However much there is to fold: it would be cut in the middle, and the draft is whole."""
    items = [*desk("openai_chat")[:-2], assistant(LONG * 30), *thanks()]
    model = Clerk(DRAFT, f"{TRUE} She waits. " * 400)
    outcome = fold(ChatContext([*items]), model, keep_last_turns=1, max_summary_tokens=100)
    assert (outcome.summary, outcome.truncated, outcome.llm_calls) == (TRUE, 0, 2)
    longer = f"{TRUE} {'She waits for it to be seen to. ' * 40}".strip()  # but far from too long
    outcome = fold(ChatContext(items), Clerk(DRAFT, longer), keep_last_turns=1)
    assert outcome.summary == longer


@pytest.mark.parametrize("way", ["summarize", "asummarize", "flow"])
def test_words_without_values_beside_the_wrong_ones_are_mended_by_any_answer(way: str) -> None:
    """Nothing of theirs can be looked for in it."""
    model = Clerk(f"The heater is faulty. {LIE}", "She waits for a new heater.")
    outcome = fold(ChatContext(desk("openai_chat")), model, way=way, keep_last_turns=1)
    assert (outcome.summary, invented(outcome)) == ("She waits for a new heater.", [])


def test_of_a_second_answer_that_is_better_what_is_still_wrong_goes() -> None:
    """Fewer values are wrong, so it stands, without the sentence that holds the last one."""
    model = Clerk(DRAFT, f"{TRUE} She waits. She was told so on 2025-12-24.")
    outcome = fold(ChatContext(desk("openai_chat")), model, keep_last_turns=1)
    assert outcome.summary == f"{TRUE} She waits."
    assert invented(outcome) == ["2025-12-24"]
    assert report_of(outcome).dropped == ("She was told so on 2025-12-24.",)


def test_a_mended_draft_is_read_as_the_first_was() -> None:
    """It is data in the second request; the answer is decoded, and hidden what is to be hidden."""
    items = desk("openai_chat")
    items[0] = user("My heater <LK-4821936> & co shows E14. The word is mellon.")
    model = Clerk(
        "<LK-4821936> shows E14, see https://x.example/a?b=1&c=2 there.",
        "&lt;LK-4821936&gt; &amp; co shows E14, mellon.",
    )
    ctx = ChatContext(items, redact=lambda text: text.replace("mellon", "[hidden]"))
    outcome = fold(ctx, model, keep_last_turns=1)
    assert outcome.summary == "<LK-4821936> & co shows E14, [hidden]."
    second = model.prompts[1].user
    assert "\n&lt;LK-4821936&gt; shows E14, see" in second
    assert "\n- https://x.example/a?b=1&amp;c=2\n" in second


@shapes
@ways
def test_refuse_is_an_error_that_changes_nothing(shape: str, way: str) -> None:
    """It names the values and what the call cost; neither list nor store has changed."""
    items = desk(shape)
    before, store = list(items), MemoryStore()
    ctx = ChatContext(items, shape=shape, store=store, key="dana", grounding="refuse")
    with pytest.raises(UngroundedSummaryError, match="holds 2 values") as caught:
        fold(ctx, Clerk(DRAFT), way=way, keep_last_turns=1)
    assert [found.value.text for found in caught.value.values] == INVENTED
    assert same_objects(items, before)
    assert store.folds("dana") == []
    if way != "apply":
        assert (caught.value.llm_calls, caught.value.usage) == (1, SENT)
    assert fold(ctx, Clerk(TRUE), way=way, keep_last_turns=1).summary == TRUE


def test_the_next_of_a_chain_is_asked_where_the_first_makes_things_up() -> None:
    """A refused summary is a failure like any other, and is paid for."""
    ctx = ChatContext(desk("openai_chat"), grounding="refuse")
    chain: Any = [Clerk(DRAFT), Clerk(TRUE)]
    outcome = ctx.summarize(chain, keep_last_turns=1)
    assert (outcome.summary, outcome.llm_calls, outcome.usage) == (TRUE, 2, SENT + SENT)


@pytest.mark.parametrize("grounding", ["drop", "repair"])
def test_a_summary_of_which_nothing_is_left_is_an_error(grounding: Any) -> None:
    """An empty text never becomes a summary."""
    items = desk("openai_chat")
    before = list(items)
    with pytest.raises(UngroundedSummaryError, match="nothing is left"):
        ChatContext(items).summarize(Clerk(LIE), keep_last_turns=1, grounding=grounding)
    assert same_objects(items, before)


def test_the_call_wins_over_the_context() -> None:
    """`grounding=` is an option like the others."""
    ctx = ChatContext(desk("openai_chat"), grounding="refuse")
    outcome = ctx.summarize(Clerk(DRAFT), keep_last_turns=1, grounding="report")
    assert outcome.summary == DRAFT


def test_what_the_application_says_and_what_earlier_summaries_said_is_no_invention() -> None:
    """The model was shown both."""
    ctx = ChatContext(desk("openai_chat"), grounding="refuse", ledger_tokens=0)
    told = "Today is 2025-12-24; the voucher is 2,500.00 EUR."
    assert fold(ctx, Clerk(DRAFT), keep_last_turns=1, instructions=told).summary == DRAFT
    ctx.extend([user("More?"), assistant(LONG), user("So?"), assistant("So.")])
    assert fold(ctx, Clerk(DRAFT), keep_last_turns=1).summary == DRAFT


@shapes
def test_what_only_the_record_still_tells_is_no_invention(shape: str) -> None:
    """A model may take it up again: it stands in the earlier summary that it is shown."""
    ctx = ChatContext(desk(shape), shape=shape, grounding="refuse")
    fold(ctx, Clerk("The heater is faulty."), keep_last_turns=1)
    ctx.extend([user(f"More? {LONG}"), assistant(LONG), *thanks()])
    said = f"{TRUE} Write to dana.w@example.com, not before 10 am."
    assert fold(ctx, Clerk(said), keep_last_turns=1).summary == said


def test_a_summary_is_compared_with_what_was_shown() -> None:
    """What `redact` puts in place of a value is what the model knows; it may say so."""
    ctx = ChatContext(
        desk("openai_chat"),
        grounding="refuse",
        redact=lambda text: text.replace("LK-4821936", "LK-1111111"),
    )
    said = TRUE.replace("LK-4821936", "LK-1111111")
    assert fold(ctx, Clerk(said), keep_last_turns=1).summary == said


def test_what_stands_in_the_tail_alone_is_an_invention() -> None:
    """The model was not shown it; what it says of it is a guess."""
    ctx = ChatContext([*desk("openai_chat"), user("Is it ZX-99881?"), assistant("It is.")])
    outcome = fold(ctx, Clerk(f"{TRUE} ZX-99881 is hers."), keep_last_turns=1, grounding="drop")
    assert outcome.summary == TRUE
    assert invented(outcome) == ["ZX-99881"]


@pytest.mark.parametrize("way", ["summarize", "asummarize", "flow"])
def test_redact_comes_first_and_post_process_last(way: str) -> None:
    """What the guard compares is what the model said; what the application adds is not judged."""
    ctx = ChatContext(
        desk("openai_chat"),
        grounding="refuse",
        redact=lambda text: text.replace("2,500.00 EUR", "[sum]").replace("2025-12-24", "[day]"),
        post_process=lambda text: f"{text} Checked on 2031-01-01.",
    )
    outcome = fold(ctx, Clerk(DRAFT), way=way, keep_last_turns=1)
    assert outcome.summary == f"{TRUE} She was paid [sum] on [day]. Checked on 2031-01-01."
    assert invented(outcome) == []


@pytest.mark.parametrize("limit", [None, 1])
def test_a_second_request_keeps_the_limit_of_a_prompt(limit: int | None) -> None:
    """Where conversation and draft do not fit together, nothing is asked and the sentence goes."""
    items = desk("openai_chat")
    prompt: Any = ChatContext(items).plan(keep_last_turns=1).prompt
    room = limit and ChatContext([user(prompt.system + prompt.user)]).count_tokens().value + 20
    model = Clerk(DRAFT, TRUE)
    outcome = fold(ChatContext(items), model, keep_last_turns=1, max_prompt_tokens=room)
    assert outcome.summary == TRUE
    assert outcome.llm_calls == (1 if limit else 2)
    assert report_of(outcome).dropped == ((LIE,) if limit else ())


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_a_real_client_is_asked_once_more(llm_server: LLMServer, api: str) -> None:
    """The second request holds the draft, and its answer is what the list has."""
    llm_server.script(ok(DRAFT), ok(TRUE))
    if api == "messages":
        client: Any = anthropic.Anthropic(base_url=llm_server.anthropic_url, api_key="k")
        shape = "anthropic"
    else:
        client = openai.OpenAI(base_url=llm_server.openai_url, api_key="k")
        shape = "openai_responses" if api == "responses" else "openai_chat"
    with client:
        llm = client.responses if api == "responses" else client
        outcome = ChatContext(desk(shape), shape=shape).summarize(
            llm, model="small", keep_last_turns=1
        )
    assert (outcome.summary, outcome.llm_calls) == (TRUE, 2)
    first, second = (str(request.body) for request in llm_server.requests)
    assert LIE not in first
    assert LIE in second
