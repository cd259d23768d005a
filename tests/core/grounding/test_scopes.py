"""What stands in the same brackets is told from what stands in others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold.core.grounding.scopes import Scopes


def _around(text: str, sign: str) -> list[int]:
    scopes = Scopes(text)
    return list(scopes.around(scopes.at(text.index(sign))))


@pytest.mark.parametrize(
    "text", ["{a} b", "x {a} b", "f: [a] b", "f=[a, c] b", "({a}) b", "{{a} b}"]
)
def test_what_is_in_brackets_is_not_beside_what_is_behind_them(text: str) -> None:
    a, b = _around(text, "a"), _around(text, "b")
    assert a[0] != b[0]
    assert a[-len(b) :] == b  # what is around both


@pytest.mark.parametrize(
    "text", ["[a] b", "[a](b)", "- [a] b", "(a) b", "f(a) b", "{a\nb", "a] b}"]
)
def test_links_boxes_remarks_and_open_brackets_hold_nothing_apart(text: str) -> None:
    assert _around(text, "b") == [0]


def test_brackets_within_brackets_are_around_what_is_in_them() -> None:
    assert len(_around("{b: [{a}]}", "a")) == 4
    assert len(_around("{b: [{a}]}", "b")) == 2


def test_very_deep_brackets_are_read_as_the_last_that_counts() -> None:
    assert len(_around("{" * 5_000 + "a", "a")) == 17


@given(st.text("{}[]:, \nab"))
def test_any_text_has_scopes_that_end(text: str) -> None:
    scopes = Scopes(text)
    for place in range(len(text)):
        around = list(scopes.around(scopes.at(place)))
        assert around[-1] == 0
        assert sorted(around, reverse=True) == around
