"""How it is told whether an item still says what it said."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold.core.digest import copied, edited_index, fingerprints

VALUES = st.one_of(st.none(), st.booleans(), st.integers(0, 1), st.sampled_from(["", "0", "a"]))
ITEMS = st.dictionaries(
    st.sampled_from(["role", "content", "name"]),
    st.one_of(VALUES, st.lists(VALUES, max_size=2)),
    max_size=3,
)


def says(item: Any) -> Any:
    """Return what an item says, with 1 and True apart."""
    if isinstance(item, dict):
        return {key: says(value) for key, value in cast("dict[str, Any]", item).items()}
    if isinstance(item, list):
        return [says(value) for value in cast("list[Any]", item)]
    return type(item), item


@given(items=st.lists(ITEMS, max_size=4), at=st.integers(0, 3), into=ITEMS)
def test_the_first_edited_item_is_found(items: list[Any], at: int, into: dict[str, Any]) -> None:
    before, prints = [says(item) for item in items], fingerprints(items)
    copies = [copied(item) for item in items]
    assert edited_index(items, copies, prints) is None
    if at < len(items):
        items[at].clear()
        items[at].update(deepcopy(into))
        edited = says(items[at]) != before[at]
        reordered = list(items[at]) != list(before[at])
        found = edited_index(items, copies, prints)
        assert found == (at if edited else None) or (reordered and not edited)


@pytest.mark.parametrize(
    "item", [{"n": 1}, {"content": ["a"]}, {"content": {"a": "b"}}, "text", None, ["a"], object()]
)
def test_no_copy_is_kept_of_what_would_have_to_be_copied_inside(item: Any) -> None:
    assert copied(item) is None


def test_a_copy_is_another_object() -> None:
    item = {"role": "user", "content": "a"}
    assert copied(item) == item
    assert copied(item) is not item
