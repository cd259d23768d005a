"""A head in parts: together they show what one prompt would, and each keeps to its limit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from laws import Weightless, context, limits
from strategies import History, histories

from chatfold import ChatContext, Prompt, SummarizerError
from chatfold.core.calls import pair_calls
from chatfold.core.render import conversation
from chatfold.core.room import Room, Window
from chatfold.tokens import estimate

BARE = {"summarize_system.jinja": "s", "summarize_user.jinja": "{{ conversation }}"}


def inner(prompt: Prompt) -> str:
    return prompt.user.removeprefix("<conversation>\n").removesuffix("\n</conversation>")


def prompts(ctx: ChatContext[Any], answer: str, **options: Any) -> tuple[list[Prompt], Any]:
    """Return the prompts of a flow, and what came of it."""
    asked: list[Prompt] = []
    flow = ctx.flow(templates=BARE, **options)
    while flow.prompt is not None:
        asked.append(flow.prompt)
        flow.send(answer)
    return asked, flow.outcome


@given(history=histories(broken=True), limit=limits, most=st.integers(1000, 4000))
def test_parts_show_together_what_one_prompt_shows(
    history: History, limit: dict[str, Any], most: int
) -> None:
    """The same elements with the same attributes, in the same order, whatever the shape."""
    ctx = context(history)
    whole = ctx.plan(templates=BARE, **limit)
    assume(whole.prompt is not None)
    assert whole.prompt is not None
    try:
        asked, outcome = prompts(ctx, "note", max_prompt_tokens=most, **limit)
    except (SummarizerError, ValueError):  # one group alone is too large, with every text cut
        assume(False)
        return
    assert all(len(p.system) + len(p.user) <= most for p in asked)
    assert sum(len(p.views) for p in asked) == len(whole.region)
    first = asked[0].previous_summary
    assert [p.previous_summary for p in asked] == [first, *("note" for _ in asked[1:])]
    if outcome.changed and outcome.truncated == 0:
        carried = "<previous_summary>note</previous_summary>"
        shown = [inner(asked[0]), *(inner(p).removeprefix(carried).lstrip("\n") for p in asked[1:])]
        assert "\n".join(filter(None, shown)) == inner(whole.prompt)
        assert outcome.omitted == whole.omitted


def test_a_call_is_marked_where_its_result_is_not_shown() -> None:
    """Whether it is to come, or stands behind what is shown."""
    asked = [{"id": id_, "type": "function", "function": {"name": id_}} for id_ in "abc"]
    items = [
        {"role": "assistant", "content": None, "tool_calls": asked},
        {"role": "tool", "tool_call_id": "a", "content": "one"},
        {"role": "tool", "tool_call_id": "b", "content": "two"},
    ]
    views = list(ChatContext(items, shape="openai_chat").views())
    for shown, marked in ((3, ["c"]), (2, ["b", "c"]), (1, ["a", "b", "c"])):
        xml = conversation(views[:shown], pair_calls(views)).xml
        calls = [line for line in xml.splitlines() if line.startswith("<function_call ")]
        assert [line[line.index("id=") + 4] for line in calls if "no result" in line] == marked


@given(history=histories(broken=True), limit=limits)
def test_parts_end_on_cut_points(history: History, limit: dict[str, Any]) -> None:
    """No call is parted from its result, in no part."""
    ctx = context(history)
    plan = ctx.plan(templates=BARE, **limit)
    assume(plan.prompt is not None)
    cuts = set(ctx.cut_points(lossy=True))
    try:
        asked, _ = prompts(ctx, "note", max_prompt_tokens=1000, **limit)
    except (SummarizerError, ValueError):
        assume(False)
        return
    at = plan.split.start
    for prompt in asked[:-1]:
        at += len(prompt.views)
        assert at in cuts


@given(sizes=st.lists(st.integers(1, 900), min_size=1, max_size=60))
def test_no_two_neighbouring_parts_would_have_fitted_into_one(sizes: list[int]) -> None:
    """Each holds as much as fits, so there are few of them."""
    items = [{"role": "assistant", "content": "y" * size} for size in sizes]
    items += [{"role": "user", "content": "go on"}, {"role": "assistant", "content": "yes"}]
    ctx: ChatContext[Any] = ChatContext(items, counter=Weightless(), shape="openai_chat")
    asked, _ = prompts(ctx, "n", keep_last_turns=1, max_prompt_tokens=2000)
    for one, other in pairwise(asked):
        first = other.user.partition("<assistant>")[2].partition("</assistant>")[0]
        assert len(one.user) + len(first) + len("<assistant></assistant>") + 40 > 2000


def test_a_summary_that_would_fill_the_next_prompt_is_cut_and_counted() -> None:
    """A model that writes far more than it is asked for must not stop the fold."""
    items = [{"role": "assistant", "content": "y" * 500} for _ in range(20)]
    items += [{"role": "user", "content": "go on"}, {"role": "assistant", "content": "yes"}]
    ctx: ChatContext[Any] = ChatContext(items, counter=Weightless(), shape="openai_chat")
    asked, outcome = prompts(ctx, "z " * 3000, keep_last_turns=1, max_prompt_tokens=2000)
    assert all(len(p.user) <= 2000 for p in asked)
    assert all("are left out here" in (p.previous_summary or "") for p in asked[1:])
    assert outcome.reason == "summarized"
    assert outcome.truncated == len(asked)  # the last answer too, where it goes into the list


def test_an_earlier_summary_that_is_too_long_is_cut_in_the_prompts_views_too() -> None:
    items: list[Any] = [{"role": "assistant", "content": "y" * 5000} for _ in range(2)]
    items += [{"role": "user", "content": "go on"}, {"role": "assistant", "content": "yes"}]
    options: dict[str, Any] = {"counter": Weightless(), "shape": "openai_chat"}
    ChatContext(items, **options).summarize(lambda p: "old " * 1000, keep_last_turns=1)
    items += [{"role": "user", "content": "more"}, {"role": "assistant", "content": "yes"}]
    ctx: ChatContext[Any] = ChatContext(items, **options)
    plan = ctx.plan(templates=BARE, keep_last_turns=1, max_prompt_tokens=2000)
    assert plan.prompt is not None
    assert "are left out here" in (plan.prompt.previous_summary or "")
    assert ctx.apply(plan, "new").truncated == 1


def test_the_record_of_an_earlier_summary_gives_way_to_its_words() -> None:
    """Code carries the record on; what the words say would be gone for good."""
    items: list[dict[str, Any]] = []
    for number in range(120):
        order = f"ORD-{number}77 for d{number}.kim@example.com, +49 170 55512{number:03}"
        items.append({"role": "user", "content": f"Never ship {order} before 2027-01-11."})
        items.append({"role": "assistant", "content": "It was noted. " * 20})
    words = "Dana wants every order sent to her office, the black ones first."
    ctx = ChatContext(items[:200])
    ctx.summarize(lambda prompt: words, keep_last_turns=1)
    ctx.extend(items[200:])
    whole = ctx.plan(templates=BARE, keep_last_turns=1).prompt
    assert whole is not None
    record = whole.user.partition("<record>")[2].partition("</record>")[0]
    assert len(record) > 3000
    for most in (1000, 1500, 2000):
        fresh = ChatContext([*ctx.items])
        asked, outcome = prompts(fresh, words, keep_last_turns=1, max_prompt_tokens=most)
        assert asked[0].previous_summary == words
        shown = asked[0].user.partition(f"<previous_summary>{words}<record>")[2]
        assert record not in shown
        assert shown.startswith(record[:400])
        assert "characters are left out here" in shown.partition("</record>")[0]
        assert outcome.truncated >= 1


def test_no_more_of_an_earlier_summary_is_cut_than_has_to_be() -> None:
    """Where all that came since fits beside most of it, one prompt shows both."""
    items: list[dict[str, Any]] = [
        {"role": role, "content": f"{role} {number}: " + "go on " * 60}
        for number in range(60)
        for role in ("user", "assistant")
    ]
    options: dict[str, Any] = {"counter": Weightless(), "shape": "openai_chat"}
    ctx = ChatContext(items, **options)
    words = "they went on and on about it " * 200
    ctx.summarize(lambda prompt: words, keep_last_turns=2, ledger_tokens=0)
    ctx.extend([{"role": "user", "content": "And now?"}, {"role": "assistant", "content": "Yes."}])
    whole = ctx.plan(templates=BARE, keep_last_turns=1).prompt
    assert whole is not None
    size = len(whole.system) + len(whole.user)
    fresh = ChatContext([*ctx.items], **options)
    asked, outcome = prompts(fresh, "new", keep_last_turns=1, max_prompt_tokens=size - 300)
    assert len(asked) == 1
    assert outcome.truncated == 1
    shown = asked[0].previous_summary or ""
    assert len(words) - 1_500 < len(shown) < len(words)


def test_templates_that_show_the_conversation_twice_keep_to_the_limit() -> None:
    """The size that counts is that of what is sent."""
    items = [{"role": "assistant", "content": "y" * 300} for _ in range(20)]
    items += [{"role": "user", "content": "go on"}, {"role": "assistant", "content": "yes"}]
    twice = {**BARE, "summarize_user.jinja": "{{ conversation }} {{ conversation }}"}
    ctx: ChatContext[Any] = ChatContext(
        items, counter=Weightless(), shape="openai_chat", templates=twice
    )
    asked: list[int] = []
    ctx.summarize(
        lambda p: asked.append(len(p.user)) or "n", keep_last_turns=1, max_prompt_tokens=2000
    )
    assert len(asked) > 5
    assert max(asked) <= 2000


def test_room_is_known_from_the_callers_limit_and_from_the_window() -> None:
    assert Room().prompt(1000) is None
    assert Room(most=5000).prompt(1000) == 5000
    assert Room(Window(10_000)).prompt(1000) == int(8750 * 0.97)
    assert Room(Window(10_000), most=5000).prompt(1000) == 5000
    assert Room(Window(100_000, cap=8192)).prompt(1000) == int((100_000 - 8192) * 0.97)
    assert Room(Window(100_000, cap=8192)).prompt(9000) == int((100_000 - 18_000) * 0.97)
    assert Room().answer(2000) == 2000
    assert Room(Window(8000)).answer(2000) == 1000


def test_room_shrinks_by_the_servers_numbers_else_to_half() -> None:
    room = Room()
    room.overflowed(40_000, 1000, 10_000, 50_000)
    assert room.prompt(1000) == int(8750 / 1.25 * 0.97)
    assert room.cap(16_384, 4_000) == int(10_000 - 4_000 * 1.25 * 1.03)
    assert room.cap(16_384, 9_000) == 16_384, "no cap is sent that no answer fits in"
    for limit, size in ((None, None), (100, 50_000), (50_000, 41_000)):
        room = Room()
        room.overflowed(40_000, 1000, limit, size)
        assert room.prompt(1000) == int((20_000 - 1250) * 0.97)
    room = Room()
    room.overflowed(40_000, 1000, 9_000, 9_001)
    assert room.prompt(1000) == int((9_000 - 1250) * 0.97), "a size of something else is no ratio"


@given(
    sent=st.integers(300, 10**7),
    numbers=st.lists(
        st.tuples(
            st.none() | st.integers(-5, 10**7),
            st.none() | st.integers(-5, 10**8),
        ),
        max_size=60,
    ),
)
def test_whatever_a_server_says_room_shrinks_and_soon(
    sent: int, numbers: list[tuple[int | None, int | None]]
) -> None:
    """Three times it is believed, then every prompt is half of the last one."""
    room, asked = Room(), 0
    for limit, size in numbers:
        if sent < 300:
            break
        room.overflowed(sent, 100, limit, size)
        now = room.prompt(100)
        assert now is not None
        assert now < sent
        assert asked < 3 or now <= sent // 2
        sent, asked = now, asked + 1


@pytest.mark.parametrize("limit", [2000, 16_000])
def test_a_giant_page_is_cut_as_any_text_is(limit: int) -> None:
    """Its escapes alone may be more than fits, and go with what they stand in."""
    page = "".join(f'<tr><td class="n">{n}</td><td>a &amp; b</td></tr>\n' for n in range(5000))
    call = {"id": "c", "type": "function", "function": {"name": "fetch", "arguments": "{}"}}
    items: list[Any] = [
        {"role": "user", "content": "Read it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": page},
        *({"role": role, "content": "go on"} for role in ("assistant", "user", "assistant")),
    ]
    ctx: ChatContext[Any] = ChatContext(items)
    asked, outcome = prompts(ctx, "note", keep_last_turns=1, max_prompt_tokens=limit)
    assert outcome.changed
    assert outcome.truncated == 1
    cut = next(prompt.user for prompt in asked if "&lt;/tr&gt;" in prompt.user)
    assert limit // 2 < estimate(cut) <= limit
    assert "&gt;4999&lt;" in cut


def test_no_half_of_a_secret_is_shown_where_a_text_is_cut() -> None:
    """It is redacted first."""
    secret = "sk-" + "a1" * 2000
    items: list[Any] = [
        {"role": "assistant", "content": f"{'y ' * 150}{secret}{' z' * 9000}"},
        *({"role": role, "content": "go on"} for role in ("user", "assistant")),
    ]
    ctx: ChatContext[Any] = ChatContext(items, counter=Weightless(), shape="openai_chat")
    asked, outcome = prompts(
        ctx,
        "note",
        keep_last_turns=1,
        max_prompt_tokens=3000,
        redact=lambda text: text.replace(secret, "[secret]"),
    )
    assert outcome.truncated == 1
    assert "[secret]" in asked[0].user
    assert all("a1a1" not in prompt.user for prompt in asked)
