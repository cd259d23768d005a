"""Digests by which a host's list is recognized: what says nothing of the content counts nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
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
        {"role": "user", "content": "Where is it?"},
        {"role": "user", "content": "Where is it?", "cache_control": {"type": "ephemeral"}},
    ],
)
def test_cache_markers_and_unset_fields_are_not_part_of_an_item(marked: dict[str, Any]) -> None:
    """Hosts move markers from item to item at each turn."""
    assert item_digest(marked) == item_digest(PLAIN)


def test_what_an_item_says_and_where_it_stands_counts() -> None:
    """Another word, another order, and another beginning are another list."""
    other = {"role": "user", "content": [{"type": "text", "text": "Where is she?"}]}
    parts = [{"role": "user", "content": [*PLAIN["content"], one]} for one in PLAIN["content"]]
    image = {"role": "user", "content": [{"type": "image", "text": "Where is it?"}]}
    assert item_digest(PLAIN) not in map(item_digest, (*parts, image, {"content": []}))
    one, two = item_digest(PLAIN), item_digest(other)
    assert one != two
    assert rolled([one, two])[0] == rolled([one])[0]
    assert rolled([one, two]) == [*rolled([one]), *rolled([two], rolled([one])[0])]
    assert len({rolled(run)[-1] for run in ([one, two], [two, one], [one, one], [one])}) == 4


def nested(levels: int) -> dict[str, Any]:
    """Return an item with a list in a list, so many times."""
    value: Any = "the innermost"
    for _ in range(levels):
        value = [value]
    return {"role": "user", "content": value}


def within_itself() -> dict[str, Any]:
    item: dict[str, Any] = {"role": "user", "content": []}
    item["content"].append(item)
    return item


class Mute:
    """An SDK's object that cannot say what it holds."""

    def model_dump(self, **options: Any) -> Any:
        raise RuntimeError("not today")


@pytest.mark.parametrize("item", [{"n": 10**5000}, {10**5000: 1}, nested(400), nested(1500)])
def test_what_json_cannot_hold_is_told_by_what_it_says(item: dict[str, Any]) -> None:
    assert item_digest(item) == item_digest(deepcopied(item))
    assert item_digest(item) != item_digest({**item, "role": "tool"})


def deepcopied(item: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of an item that may be nested too deeply for `deepcopy`."""
    try:
        return deepcopy(item)
    except RecursionError:
        return nested(1500)


def test_an_integer_of_many_digits_has_one_digest_in_every_process() -> None:
    """With the markers of a cache, or without."""
    code = "from chatfold.core.rolling import item_digest as d; print(d({'n': 10**5000}).hex())"
    made = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    marked = {"n": 10**5000, "cache_control": {"type": "ephemeral"}}
    assert item_digest(marked).hex() == made.stdout.strip()


@pytest.mark.parametrize("make", [within_itself, Mute])
def test_what_cannot_say_what_it_holds_equals_itself_alone(make: Callable[[], Any]) -> None:
    one, other = make(), make()
    before = item_digest(one)
    assert item_digest(one) == before
    assert item_digest(other) != before
