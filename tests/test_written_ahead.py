"""What a list that is asked at each turn has written ahead is shown as a new context shows it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from laws import context, limits, short
from strategies import History, histories

from chatfold import ChatContext
from chatfold.policy import Policy

BARE = {"summarize_user.jinja": "{{ conversation }}"}


@given(
    history=histories(broken=True),
    limit=limits,
    at_once=st.integers(1, 4),
    pinned=st.sets(st.integers(0, 20), max_size=3),
)
def test_a_list_that_came_turn_by_turn_is_shown_as_a_new_one(
    history: History, limit: dict[str, Any], at_once: int, pinned: set[int]
) -> None:
    """In the same order, with the same marks, calls without a result and pinned items too."""
    stay = {id(item) for at, item in enumerate(history.items) if at in pinned}

    def pin(item: Any) -> bool:
        return id(item) in stay

    items: list[Any] = []
    warm = context(history, items, pin=pin, policy=Policy(max_tokens=10**9))
    for at in range(0, len(history.items), at_once):
        items += history.items[at : at + at_once]
        warm.maybe_summarize(short)
    told, new = (ctx.plan(templates=BARE, **limit) for ctx in (warm, context(history, pin=pin)))
    assert (told.reason, told.omitted) == (new.reason, new.omitted)
    if told.prompt is not None and new.prompt is not None:
        assert told.prompt.user == new.prompt.user


def test_what_stays_is_marked_where_it_was_written_ahead_as_well() -> None:
    """And what is written in the fold, as the first turn, stands at its place."""
    said = [("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "four")]
    items: list[Any] = []
    ctx: ChatContext[Any] = ChatContext(
        items, pin=lambda item: item["content"] == "three", policy=Policy(max_tokens=10**9)
    )
    for role, text in said * 2:
        items.append({"role": role, "content": text})
        ctx.maybe_summarize(short)
    plan = ctx.plan(templates=BARE, keep_last_turns=1)
    assert plan.prompt is not None
    assert plan.prompt.user.splitlines() == [
        "<conversation>",
        "<user>one</user>",
        "<assistant>two</assistant>",
        '<user kept="yes">three</user>',
        "<assistant>four</assistant>",
        "<user>one</user>",
        "<assistant>two</assistant>",
        "</conversation>",
    ]


def test_an_earlier_summary_is_not_shown_as_the_words_of_a_user() -> None:
    """Though it came as an item like any other, when the list had been read before."""
    items: list[Any] = [
        {"role": "system", "content": "You sell tickets."},
        *({"role": role, "content": f"{role} " * 40} for role in ("user", "assistant") * 3),
    ]
    assert ChatContext(items).summarize(lambda prompt: "They talked.", keep_last_turns=1).changed
    assert items[1]["content"].startswith("<chat_history_summary ")
    more = [{"role": role, "content": f"{role} said more"} for role in ("user", "assistant") * 2]
    copied: list[Any] = []
    warm: ChatContext[Any] = ChatContext(copied, policy=Policy(max_tokens=10**9))
    for item in (*items, *more):
        copied.append(item)
        warm.maybe_summarize(short)
    told, new = (
        ctx.plan(templates=BARE, keep_last_turns=1).prompt
        for ctx in (warm, ChatContext([*items, *more]))
    )
    assert told is not None
    assert new is not None
    assert told.user == new.user
    assert told.user.count("They talked.") == 1
