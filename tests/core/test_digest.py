"""How it is told whether an item still says what it said."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold.core.digest import changed_index, copied, edited_index, fingerprints

VALUES = st.one_of(st.none(), st.booleans(), st.integers(0, 1), st.sampled_from(["", "0", "a"]))
ITEMS = st.dictionaries(
    st.sampled_from(["role", "content", "name"]),
    st.recursive(
        VALUES,
        lambda inner: st.one_of(
            st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
        ),
        max_leaves=4,
    ),
    max_size=3,
)


def says(item: Any) -> Any:
    """Return what an item says, with 1 and True apart."""
    if isinstance(item, dict):
        return {key: says(value) for key, value in cast("dict[str, Any]", item).items()}
    if isinstance(item, list):
        return [says(value) for value in cast("list[Any]", item)]
    return type(item), item


def in_order(item: Any) -> Any:
    """Return an item with the keys of its objects in their order."""
    if isinstance(item, dict):
        return [(key, in_order(value)) for key, value in cast("dict[str, Any]", item).items()]
    if isinstance(item, list):
        return [in_order(value) for value in cast("list[Any]", item)]
    return item


@given(items=st.lists(ITEMS, max_size=4), at=st.integers(0, 3), into=ITEMS)
def test_the_first_edited_item_is_found(items: list[Any], at: int, into: dict[str, Any]) -> None:
    before, prints = [says(item) for item in items], fingerprints(items)
    order = in_order(items)
    copies = [copied(item) for item in items]
    assert edited_index(items, copies, prints) is None
    if at < len(items):
        items[at].clear()
        items[at].update(deepcopy(into))
        edited = says(items[at]) != before[at]
        reordered = in_order(items) != order
        found = edited_index(items, copies, prints)
        assert found == (at if edited else None) or (reordered and not edited)


CYCLE: dict[str, Any] = {}
CYCLE["content"] = [CYCLE]


@pytest.mark.parametrize(
    "item",
    [{"n": 1}, {"content": [True]}, {"content": {"a": b"b"}}, CYCLE, "text", None, ["a"], object()],
)
def test_no_copy_is_kept_of_what_holds_more_than_texts(item: Any) -> None:
    assert copied(item) is None


@pytest.mark.parametrize("inside", ["a", [], {}, [{"a": None}], {"a": ["b", {"c": "d"}]}])
def test_a_copy_is_another_object(inside: Any) -> None:
    """So that an edit of the item, also inside, does not show in it."""
    item = {"role": "user", "content": inside}
    copy, before = copied(item), deepcopy(item)
    assert copy == item
    assert copy is not item
    if not isinstance(inside, str):
        inside.clear()
        assert copy == before


class _EqualToAll:
    """An object of somebody's that says it is like any other."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def test_an_object_is_told_by_its_content_and_not_by_what_it_says_of_itself() -> None:
    items = [{"role": "user", "content": "Hello."}, _EqualToAll()]
    prints = fingerprints(items)
    copies = [copied(item) for item in items]
    assert edited_index(items, copies, prints) is None
    assert edited_index(items, copies, [prints[0], prints[1] + 1]) == 1


@pytest.mark.parametrize("levels", [10, 700, 3000])
def test_an_item_with_a_marker_may_be_nested_as_deeply_as_another(levels: int) -> None:
    value: Any = "the innermost"
    for _ in range(levels):
        value = [value]
    item = {"role": "user", "content": value, "cache_control": {"type": "ephemeral"}}
    assert fingerprints([item]) == fingerprints([item])


@pytest.mark.parametrize(
    "marked",
    [
        {"role": "user", "content": "a", "cache_control": {"type": "ephemeral"}},
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"x": "y"}}]},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"cachePoint": {"x": "y"}}]},
        {"role": "user", "content": [{"type": "input_text", "text": "a"}]},
        {"role": "user", "content": [{"type": "output_text", "text": "a"}]},
        {"role": "user", "content": [{"type": "text", "text": "a", "prompt_cache_breakpoint": {}}]},
        {
            "role": "user",
            "content": [{"type": "text", "text": "a", "extras": {"prompt_cache_breakpoint": {}}}],
        },
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "cache_breakpoint"}]},
    ],
)
def test_a_marker_that_comes_or_goes_is_no_change(marked: dict[str, Any]) -> None:
    """Also where a text is a block as long as it has one, and where the item itself is changed."""
    plain = {"role": "user", "content": "a"}
    prints = fingerprints([plain])
    assert fingerprints([marked]) == prints
    assert edited_index([marked], [copied(plain)], prints) is None
    assert changed_index([marked], fingerprints([marked]), [plain], prints) is None
    other = {"role": "user", "content": "b"}
    assert changed_index([marked], fingerprints([marked]), [other], fingerprints([other])) == 0


def test_a_marker_at_a_tool_s_output_is_no_change() -> None:
    """The output is a text for as long as it has none."""
    block = {"type": "input_text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}
    plain, marked = ({"type": "function_call_output", "output": each} for each in ("a", [block]))
    assert fingerprints([marked]) == fingerprints([plain])
    assert fingerprints([{**marked, "output": [block, block]}]) != fingerprints([plain])


def test_an_equal_copy_is_no_change_though_its_unset_fields_are_told() -> None:
    """As of a list that was stored with `model_dump` and read again."""
    plain = {"role": "assistant", "content": "a"}
    copy = {"role": "assistant", "content": "a", "refusal": None, "audio": None}
    prints = fingerprints([plain])
    assert changed_index([copy], fingerprints([copy]), [plain], prints) is None


def test_a_copy_is_compared_by_what_its_shape_says_of_it() -> None:
    """An SDK may spell one message in several ways; what cannot be said of it is as it stands."""

    def say(item: Any) -> Any:
        return {key.lower(): value for key, value in item.items()}

    one, same, other = {"Text": "a"}, {"tExt": "a"}, {"text": "b"}
    prints = fingerprints([one])
    assert changed_index([same], fingerprints([same]), [one], prints) == 0
    assert changed_index([same], fingerprints([same]), [one], prints, say) is None
    assert changed_index([other], fingerprints([other]), [one], prints, say) == 0
    assert changed_index(["a"], fingerprints(["a"]), [one], prints, say) == 0


def test_a_number_that_became_true_is_a_change() -> None:
    """Python takes them for equal."""
    one, other = ({"type": "tool_use", "input": {"n": value}} for value in (1, True))
    assert one == other
    assert changed_index([other], fingerprints([other]), [one], fingerprints([one])) == 0


def test_what_a_tool_is_given_is_content_whatever_its_keys_are() -> None:
    """A tool may have an argument of a marker's name."""
    calls = [{"type": "tool_use", "input": {"cache_control": value}} for value in ("on", "off")]
    one, two = ({"role": "assistant", "content": [call]} for call in calls)
    prints = fingerprints([one]), fingerprints([two])
    assert prints[0] != prints[1]
    assert changed_index([two], prints[1], [one], prints[0]) == 0
