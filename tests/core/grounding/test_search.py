"""Values that are looked for as they are written: so many of them, and no more."""

from __future__ import annotations

import pytest

from chatfold.core.grounding.search import Search
from chatfold.core.grounding.shown import Sources
from chatfold.core.views import ItemView, TextPart

MOST = 200


def sources() -> Sources:
    said = "My phone is 612 555 019, and the folder is called workbench."
    made = Sources([ItemView("user", (TextPart(said),))], [])
    made.read_all()
    return made


@pytest.mark.parametrize("looked_for", ["a phone", "a word"])
def test_no_more_than_so_many_are_looked_for(looked_for: str) -> None:
    """Each is looked for in all texts: a summary of mere inventions would take minutes."""
    shown = sources()
    for before, found in ((MOST - 1, True), (MOST, False)):
        search = Search(shown)
        for number in range(before):
            if looked_for == "a phone":
                assert not search.holds_in_groups(f"phone:+34699{number:06}")
            else:
                assert not search.holds(f"word{number}")
        phone = looked_for == "a phone"
        last = search.holds_in_groups("phone:+34612555019") if phone else search.holds("workbench")
        assert last is found
