"""Items are read for what they say: a value that is all of its leaf stands there as it is."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from strategies import History, histories

from chatfold import ChatContext
from chatfold.core.call_words import CallWords
from chatfold.core.calls import CallPairing, pair_calls
from chatfold.core.facts import Facts
from chatfold.core.recording.needs import Head, needs_of
from chatfold.core.summary import Summaries, mark_summary, wrapped
from chatfold.core.views import ItemView, TextPart

Item = dict[str, Any]


def facts_of(views: list[ItemView]) -> Facts:
    found = Facts()
    found.update(views, pair_calls(views))
    return found


_WAITING = {
    "type": "mcp_call",
    "id": "mcp_1",
    "status": "calling",
    "server_label": "mail",
    "name": "send",
    "arguments": "{}",
    "error": {"type": "mcp_tool_execution_error", "content": "ok"},
}


@given(histories())
@example(History("openai_responses", [{"role": "user", "content": "ok"}, _WAITING], [], [0]))
def test_a_value_that_is_all_of_its_leaf_is_told_without_another_look(history: Any) -> None:
    """The words are those that a look at the arguments and results finds."""
    views = list(ChatContext(history.items, shape=history.shape).views())
    found, calls = facts_of(views), pair_calls(views)
    words, head = CallWords(calls), Head.of(views, range(len(views)), frozenset(), found.openers)
    for need in needs_of(found, head, calls, written=(), earlier=()):
        for home in need.homes():
            text = found.said.whole_text(need.key, home)
            if text is None or home.call is None:
                continue
            assert home.whole
            root = words.arguments if home.place == "argument" else words.result
            assert str(words.leaf(root(home.call), home.path)) == text


def test_an_item_that_says_the_same_in_other_words_is_looked_at() -> None:
    """Two results in one message, under one key, that write one amount in two ways."""
    block = {"type": "tool_use", "name": "price", "input": {}}
    uses = [{**block, "id": "a"}, {**block, "id": "b"}]
    results = [
        {
            "type": "tool_result",
            "tool_use_id": call,
            "content": json.dumps({"total": f"{written} EUR", "of": f"LK-482193{call}"}),
        }
        for call, written in (("a", "1,299.00"), ("b", "1299"))
    ]
    items: list[Item] = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": uses},
        {"role": "user", "content": results},
    ]
    found = facts_of(list(ChatContext(items, shape="anthropic").views()))
    (key,) = (key for key, value in found.values.items() if value.kind == "amount")
    assert len(found.places[key]) == 2
    assert [found.said.whole_text(key, seen) for seen in found.places[key]] == [None, None]
    (other, _) = (key for key, value in found.values.items() if value.kind == "id")
    assert found.said.whole_text(other, found.places[other][0]) == "LK-482193a"


def test_an_index_of_a_large_item_says_what_a_look_at_each_place_finds() -> None:
    """Two results in one message, of many values each, that write some of them in two ways."""
    block: Item = {"type": "tool_use", "name": "price", "input": {}}
    written = {"a": "1,299.00", "b": "1299"}
    results = [
        {
            "type": "tool_result",
            "tool_use_id": call,
            "content": json.dumps(
                {
                    "rows": [{"id": f"LK-{n}", "of": f"ACME-{call}{n}9"} for n in range(400, 500)],
                    "total": f"{amount} EUR",
                    "note": f"{amount} EUR for LK-450, and 12.50 EUR for postage",
                }
            ),
        }
        for call, amount in written.items()
    ]
    items: list[Item] = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [{**block, "id": call} for call in written]},
        {"role": "user", "content": results},
    ]
    found = facts_of(list(ChatContext(items, shape="anthropic").views()))
    quick = found.said.whole_texts()
    places = [(key, seen) for key, all_seen in found.places.items() for seen in all_seen]
    told = [quick(key, seen) for key, seen in places]
    assert told == [found.said.whole_text(key, seen) for key, seen in places]
    assert "LK-450" in told
    wholes = [text for (_, seen), text in zip(places, told, strict=True) if seen.whole]
    assert None in wholes  # written in two ways
    assert len(wholes) > 300


def test_an_item_that_turns_out_to_be_a_summary_is_read_again_as_one() -> None:
    """Though it was put together with the others, as words of the user."""
    words = wrapped("The order is LK-4821936.", "A record.")
    said = ItemView("assistant", (TextPart("RMA-90721 is for it."),))
    views, sizes = [ItemView("user", (TextPart(words),)), said], [20, 10]
    facts, pairing = Facts(), CallPairing(lambda: 0)
    facts.read_ahead(views, sizes, None)
    assert facts.tell_ahead(pairing) is not None
    assert facts.places["id:lk-4821936"][0].author == "user"
    facts.read_ahead(views, sizes, mark_summary(views, Summaries()))
    for _ in range(3):  # as much as comes is read at a time
        views.append(said._replace(parts=(TextPart("And so it is."),)))
        sizes.append(20)
        facts.read_ahead(views, sizes, mark_summary(views, Summaries()))
    assert facts.tell_ahead(pairing) is not None
    assert [seen.author for seen in facts.places["id:lk-4821936"]] == ["summary"]
    assert [seen.author for seen in facts.places["id:rma-90721"]] == ["assistant"]
