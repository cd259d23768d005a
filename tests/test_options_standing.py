"""Standing instructions of users stay word for word until they are taken back, in any language.

Not here: how they are found (`core/test_constraints`).
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import pytest
from laws import fold
from returns_desk import (
    APIS,
    LONG,
    STANDING,
    TRUE,
    Clerk,
    assistant,
    desk,
    parts_of,
    quoted,
    text_of,
    thanks,
    user,
)

from chatfold import ChatContext, Words

shapes = pytest.mark.parametrize("shape", APIS)


@shapes
def test_an_instruction_in_a_pinned_message_is_said_once(shape: str) -> None:
    """It stays where it is; once it is no longer pinned it goes into the record."""
    items = desk(shape)
    pinned = items[0]
    ctx = ChatContext(items, shape=shape, pin=lambda item: item is pinned)
    outcome = fold(ctx, Clerk(TRUE), keep_last_turns=1)
    assert any(item is pinned for item in items)
    assert "standing" not in parts_of(outcome)
    assert STANDING not in text_of(items[0])
    items += [user(f"And? {LONG}"), assistant(LONG), *thanks()]
    later = fold(ChatContext(items, shape=shape), Clerk(TRUE), keep_last_turns=1)
    assert all(item is not pinned for item in items)
    assert parts_of(later)["standing"] == quoted(STANDING)


def test_an_instruction_that_is_taken_back_is_gone() -> None:
    """Also one that only an earlier fold still tells of."""
    ctx = ChatContext(desk("openai_chat"))
    fold(ctx, Clerk(TRUE), keep_last_turns=1)
    said = "You may call before 10 am again. Never use emojis."
    ctx.extend([user(f"{said} {LONG}"), assistant(LONG), *thanks()])
    outcome = fold(ctx, Clerk(TRUE), keep_last_turns=1)
    assert parts_of(outcome)["standing"] == quoted("Never use emojis.")


@pytest.mark.parametrize("words", [(), [Words(orders=("nooit",))]])
def test_an_instruction_that_is_taken_back_stands_nowhere(words: Sequence[Words]) -> None:
    """Neither do its words among those of the user, where a value of it is told."""
    said = ["Never mail anna@x.com about our orders.", "You may mail anna@x.com again."]
    items = [item for text in said for item in (user(text), assistant(LONG))]
    ctx = ChatContext([*items, *thanks()], standing_words=words)
    outcome = fold(ctx, Clerk("They spoke of mails."), keep_last_turns=1)
    assert "Never mail" not in outcome.facts.record
    assert "You may mail anna@x.com again" in outcome.facts.record


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Never delete files in /srv/prod/orders.", "Always delete files in /srv/prod/tmp."),
        ("Never restart the shop on the db-1 host.", "Always restart the shop on the db-2 host."),
        ("Always copy Anna Berg on mails to Oslo.", "Never copy Paul Berg on mails to Oslo."),
        ("Never email invoices to Dana Miller.", "You may email invoices to Dana Weber again."),
    ],
)
def test_an_instruction_outlives_the_contrary_of_another_thing(first: str, second: str) -> None:
    """In one fold and over two of them."""
    ctx = ChatContext(
        [user(f"{first} {LONG}"), assistant(LONG), user(second), assistant(LONG), *thanks()]
    )
    outcome = fold(ctx, Clerk("There are wishes."), keep_last_turns=1)
    assert parts_of(outcome)["standing"] == quoted(first, second)
    ctx = ChatContext([user(f"{first} {LONG}"), assistant(LONG), *thanks()])
    fold(ctx, Clerk("There are wishes."), keep_last_turns=1)
    ctx.extend([user(f"{second} {LONG}"), assistant(LONG), *thanks()])
    outcome = fold(ctx, Clerk("There are wishes."), keep_last_turns=1)
    assert parts_of(outcome)["standing"] == quoted(first, second)


SWEDISH = Words(orders=("aldrig",), takes_back=("glöm * om",), common=("glöm|det|om",))
POLISH = Words(orders=("nigdy|zawsze",))


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((), [STANDING]),
        (SWEDISH, [STANDING, "Aldrig ringa på dörren."]),
        ([SWEDISH, POLISH], [STANDING, "Aldrig ringa på dörren.", "Nigdy nie dzwoń."]),
    ],
    ids=["built in", "one", "two"],
)
def test_instructions_are_found_in_the_languages_that_are_given(words: Any, found: Any) -> None:
    """Beside those that are built in, and they last."""
    ctx = ChatContext(desk("openai_chat"), standing_words=words)
    ctx.items[0] = user(f"{STANDING} Aldrig ringa på dörren. Nigdy nie dzwoń.")
    outcome = fold(ctx, Clerk(TRUE), keep_last_turns=1)
    assert parts_of(outcome)["standing"] == quoted(*found)
    ctx.extend([user(f"Glöm det om ringa. {LONG}"), assistant(LONG), *thanks()])
    left = [text for text in found if "ringa" not in text]
    outcome = fold(ctx, Clerk(TRUE), keep_last_turns=1)
    assert parts_of(outcome)["standing"] == quoted(*left)


def test_no_cut_of_an_instruction_halves_a_secret() -> None:
    """A long one is cut behind 300 characters, and hidden before that."""
    secret = "correct horse battery staple"
    said = f"Never write about {'the heater and ' * 17}the word {secret} to Kim."
    assert said.index(secret) < 290 < 300 < said.index(secret) + len(secret)
    ctx = ChatContext([user(said), assistant(LONG), *thanks()])
    outcome = fold(
        ctx,
        Clerk("She has a wish."),
        keep_last_turns=1,
        redact=lambda text: text.replace(secret, "[hidden]"),
    )
    (rule,) = parts_of(outcome)["standing"]
    assert rule.startswith('"Never write about the heater')
    assert "[hidden]" in rule
    assert "horse" not in rule


def test_the_example_of_words_finds_and_takes_back() -> None:
    """As its docstring says, in Swedish."""
    code = (inspect.getdoc(Words) or "").partition("```python\n")[2].partition("```")[0]
    said = "Aldrig ringa på måndagar. Snälla ring mig aldrig på måndagar. Det är aldrig bra."
    found = ["Aldrig ringa på måndagar.", "Snälla ring mig aldrig på måndagar."]
    names: dict[str, Any] = {"Words": Words, "ChatContext": ChatContext}
    names["messages"] = [user(f"{said} {LONG}"), assistant(LONG), *thanks()]
    exec(code, names)
    ctx = names["ctx"]
    outcome = fold(ctx, Clerk("There are wishes."), keep_last_turns=1)
    assert parts_of(outcome)["standing"] == quoted(*found)
    back = "Glöm vad jag sa om att ringa."
    ctx.extend([user(f"{back} {LONG}"), assistant(LONG), *thanks()])
    outcome = fold(ctx, Clerk("There are wishes."), keep_last_turns=1)
    assert parts_of(outcome)["standing"] == quoted(found[1])
