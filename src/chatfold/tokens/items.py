"""What an item costs in tokens: its texts, its media, what cannot be read, and its frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, inf
from types import MappingProxyType
from typing import Final

from chatfold.core.views import (
    CallPart,
    ItemView,
    MediaPart,
    OpaquePart,
    ReasoningPart,
    ResultPart,
    TextPart,
    texts,
)
from chatfold.tokens.counters import TokenCounter, counter_for

__all__ = ["MEDIA_TOKENS", "Sizes", "item_tokens", "text_tokens"]

MEDIA_TOKENS: Final[Mapping[str, int]] = MappingProxyType(
    {
        # Claude scales an image down at about 1,600 tokens, newer models later:
        # https://docs.claude.com/en/docs/vision. A 1024x1024 image was measured at 1,446 (Claude
        # 5.5), 1,229 (GPT-6) and 1,090 (Gemini 3) tokens, a 1920x1080 one at up to 2,768:
        # https://huggingface.co/datasets/JOHNISKING/image-token-cost. Both read 2026-11-21.
        "image": 1_600,
        # 30 s at Gemini's 32 (audio) and 263 (video) tokens a second, as restated by
        # https://geminibyexample.com/027-calculate-input-tokens/ (read 2026-11-21).
        "audio": 960,
        "video": 7_890,
        # "A 3-page PDF uses about 7,000 tokens" with its pages read as images:
        # https://docs.claude.com/en/docs/build-with-claude/pdf-support (read 2026-11-21).
        "file": 7_000,
        "document": 7_000,
    }
)
"""Flat costs in tokens of one attachment by kind; its bytes are never counted as text."""

# Role and separators of one message:
# https://github.com/openai/openai-cookbook/blob/main/examples/How_to_count_tokens_with_tiktoken.ipynb
# (read 2026-11-21).
_FRAME: Final = 4
_SEALED: Final = 6  # characters of encrypted content that stand for one token, roughly


class Sizes:
    """Sizes by one counter, which is made at the first count: a table takes time to read.

    Its methods are handed on to what has to count, which so does not hold whoever made it.

    Args:
        counter: The counter, None for the one that fits the model.
        model: The model.
    """

    def __init__(self, counter: TokenCounter | None, model: str | None) -> None:
        self._counter = counter
        self._model = model

    @property
    def counter(self) -> TokenCounter:
        """What counts."""
        if self._counter is None:
            self._counter = counter_for(self._model)
        return self._counter

    def of_items(self, views: Sequence[ItemView]) -> list[int]:
        """Return what each item costs."""
        return item_tokens(views, self.counter)

    def of_texts(self, texts: Sequence[str]) -> list[int]:
        """Return the size of each text."""
        return text_tokens(texts, self.counter)

    def ahead(self, texts: Sequence[str]) -> list[int] | None:
        """Return the sizes of texts where many are counted at once; None where each costs time."""
        return text_tokens(texts, self.counter) if hasattr(self.counter, "count_many") else None


def item_tokens(views: Sequence[ItemView], counter: TokenCounter) -> list[int]:
    """Return what each item costs.

    Args:
        views: The readings of the items.
        counter: Counts the tokens of the texts; one with `count_many` is given all at once.
    """
    if not views:
        return []
    said: list[str] = []
    besides: list[int] = []
    for view in views:
        text, rest = _cost(view)
        said.append(text)
        besides.append(rest)
    counts = text_tokens(said, counter)
    return [_FRAME + count + rest for count, rest in zip(counts, besides, strict=True)]


def text_tokens(texts: Sequence[str], counter: TokenCounter) -> list[int]:
    """Return the size of each text.

    Args:
        texts: The texts.
        counter: Counts them; one with `count_many` is given all at once. What one counts that
            divides (`len(text) / 4`) is rounded up.

    Raises:
        TypeError: What it returns is no number.
        ValueError: It is less than 0, or not finite.
    """
    many: Callable[[Sequence[str]], list[int]] | None = getattr(counter, "count_many", None)
    counts = many(texts) if many is not None else [counter.count(text) for text in texts]
    try:
        sizes = [*map(ceil, counts)]
    except (TypeError, ValueError, OverflowError):  # None, and what is no finite number
        sizes = [-1]
    if sizes and min(sizes) < 0:
        raise _miscounted(counter, counts)
    return sizes


def _miscounted(counter: TokenCounter, counts: Sequence[object]) -> Exception:
    """Return the error that says which counter gives what is no size."""
    name = type(counter).__name__
    for count in counts:
        if isinstance(count, (int, float)) and not 0 <= count < inf:
            return ValueError(f"counter={name} counts {count!r} tokens in a text")
    odd = (type(each).__name__ for each in counts if not isinstance(each, (int, float)))
    wrong = next(odd, "nothing")
    return TypeError(f"counter={name} has to return a number of tokens, not {wrong}")


def _cost(view: ItemView) -> tuple[str, int]:
    """Return the text of an item and what it costs besides; what most items are comes first."""
    if len(view.parts) == 1:
        part = view.parts[0]
        if type(part) is TextPart:
            return part.text, 0
        if type(part) is ResultPart and not part.media and part.namespace is None:
            return part.text, 0
        if type(part) is CallPart and part.namespace is None:
            return f"{part.name or ''}\n{part.arguments}", 0
    # `cited_text` "is also not counted towards input tokens":
    # https://platform.claude.com/docs/en/build-with-claude/citations (read 2026-11-29).
    return "\n".join(texts(view, cited=False)), _rest(view)


def _rest(view: ItemView) -> int:
    """Return what an item costs besides its texts: media, and what only the provider reads."""
    total = 0
    for part in view.parts:
        if isinstance(part, MediaPart):
            total += MEDIA_TOKENS.get(part.kind, 0)
        elif isinstance(part, ResultPart):
            total += sum(MEDIA_TOKENS.get(media.kind, 0) for media in part.media)
        elif isinstance(part, ReasoningPart):
            total += part.opaque // _SEALED
        elif isinstance(part, OpaquePart):
            total += part.size // _SEALED
    return total
