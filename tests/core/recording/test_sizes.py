"""Sizes of texts are counted once."""

from __future__ import annotations

from collections.abc import Sequence

from chatfold.core.recording.sizes import TextSizes


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
