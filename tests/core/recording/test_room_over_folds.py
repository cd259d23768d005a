"""The room that the values of a record have, over several folds of one conversation."""

from __future__ import annotations

from typing import Any

import pytest

from chatfold import ChatContext
from chatfold.core.record import Record, parsed, rendered
from chatfold.tokens import estimate

TALK = "It is no trouble at all, we will see to that as soon as we can. " * 40


def folded(turns: int, talk: str) -> list[int]:
    """Fold a list again and again; return the sizes of the values of the records."""
    items: list[dict[str, Any]] = []
    sizes: list[int] = []
    for fold in range(5):
        for turn in range(turns):
            orders = ", ".join(f"KX-{fold}{turn}{n}47{n}" for n in range(5))
            items.append({"role": "user", "content": f"Please look after {orders} for me."})
            items.append({"role": "assistant", "content": talk})
        items.append({"role": "user", "content": "And now?"})
        made = ChatContext(items).summarize(lambda prompt: "They talked.", keep_last_turns=1)
        if made.facts is not None:
            record = parsed(made.facts.record)[1]
            sizes.append(estimate(rendered(Record(values=record.values))))
    return sizes


def test_the_room_of_values_grows_with_what_earlier_folds_took_away() -> None:
    """The last of five records holds the whole conversation, not its last fifth."""
    sizes = folded(turns=5, talk=TALK)
    assert sizes[-1] > 300
    assert sizes == sorted(sizes)
    head = 6 * estimate(TALK)
    assert sizes[-1] < head // 5


def test_the_room_of_values_stays_where_a_head_is_small() -> None:
    """There would be little that a fold saves."""
    assert max(folded(turns=3, talk=TALK[:1000])) <= 210


@pytest.mark.parametrize("asks", ["Question {}: where is it?", "Kunt u vraag {} beantwoorden?"])
def test_what_a_user_is_known_by_outlives_the_numbers_of_his_questions(asks: str) -> None:
    """Over any number of folds: nobody else can give an account's number again."""
    account = "My account is NL11 BANK 0117 5543 01 and my policy is PZ-44719-K."
    items: list[dict[str, Any]] = [{"role": "user", "content": account}]
    ctx = ChatContext(items)
    for fold in range(8):
        for turn in range(8):
            answer = f"It is with parcel 3SKAB1{fold}{turn}. " + "We will see to that. " * 20
            items.append({"role": "assistant", "content": answer})
            items.append({"role": "user", "content": asks.format(8 * fold + turn)})
        made = ctx.summarize(lambda prompt: "They talked.", keep_last_turns=1, ledger_tokens=120)
        assert made.facts is not None
        assert "NL11 BANK 0117 5543 01" in made.facts.record
        assert "PZ-44719-K" in made.facts.record
    assert str(8 * 8 - 2) in made.facts.record  # nor are these lost where there is room
