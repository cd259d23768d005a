"""Digests by which a host's list is recognized: what says nothing of the content counts nothing."""

from __future__ import annotations

from typing import Any

import pytest

from chatfold.core.rolling import item_digest, rolled

PLAIN: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "Where is it?"}]}


@pytest.mark.parametrize(
    "marked",
    [
        {**PLAIN, "cache_control": {"type": "ephemeral"}},
        {**PLAIN, "name": None},
        {"role": "user", "content": [{**PLAIN["content"][0], "cache_control": {"type": "x"}}]},
        {"role": "user", "content": [*PLAIN["content"], {"cachePoint": {"type": "default"}}]},
    ],
)
def test_cache_markers_and_unset_fields_are_not_part_of_an_item(marked: dict[str, Any]) -> None:
    """Hosts move markers from item to item at each turn."""
    assert item_digest(marked) == item_digest(PLAIN)


def test_what_an_item_says_and_where_it_stands_counts() -> None:
    """Another word, another order, and another beginning are another list."""
    other = {"role": "user", "content": [{"type": "text", "text": "Where is she?"}]}
    one, two = item_digest(PLAIN), item_digest(other)
    assert one != two
    assert rolled([one, two])[0] == rolled([one])[0]
    assert len({rolled(run)[-1] for run in ([one, two], [two, one], [one, one], [one])}) == 4
