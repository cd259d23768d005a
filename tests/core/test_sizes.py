"""Sizes of texts are counted once, and the ledger looks for calls alike in all that may be."""

from __future__ import annotations

from collections.abc import Sequence

from chatfold import ChatContext
from chatfold.core.call_words import CallWords
from chatfold.core.facts import Sighting
from chatfold.core.ledger import Ledger
from chatfold.core.sizes import TextSizes
from chatfold.core.values import values


def test_no_text_is_counted_twice() -> None:
    asked: list[str] = []

    def count(texts: Sequence[str]) -> list[int]:
        asked.extend(texts)
        return [len(text) for text in texts]

    sizes = TextSizes(count)
    assert sizes("abc") == 3
    assert sizes.many(["abc", "de", "de", ""]) == [3, 2, 2, 0]
    assert sizes("de") == 2
    assert sorted(asked) == ["", "abc", "de"]


def test_a_value_that_is_not_known_of_the_call_itself_does_not_narrow_the_search() -> None:
    """It may be known there as something else; then all calls are compared."""
    items = []
    for number in range(3):
        function = {"name": "look", "arguments": '{"order": "LK-4821936"}'}
        call = {"id": f"c{number}", "type": "function", "function": function}
        items += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "shipped"},
        ]
    ctx = ChatContext(items)
    words = CallWords(ctx.tool_calls())
    (value,) = values("LK-4821936")
    seen = [Sighting(4, "assistant", "argument", ("order",), 2)]
    for places, alike in (({value.key: seen}, [0, 1, 2]), ({}, [0, 1, 2])):
        for first in ({value.key: value}, {}):
            ledger = Ledger(
                ctx.views(), words, range(3), earlier="", clean=str, places=places, first=first
            )
            assert ledger._alike(0) == alike
