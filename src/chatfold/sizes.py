"""What an item costs in tokens: its texts, its media, what cannot be read, and its frame."""

from __future__ import annotations

from typing import Final

from chatfold.core.views import (
    ItemView,
    MediaPart,
    OpaquePart,
    ReasoningPart,
    ResultPart,
    TextPart,
    texts,
)
from chatfold.tokens import MEDIA_TOKENS, TokenCounter

__all__ = ["item_tokens"]

# Role and separators of one message:
# https://github.com/openai/openai-cookbook/blob/main/examples/How_to_count_tokens_with_tiktoken.ipynb
# (read 2026-11-21).
_FRAME: Final = 4
_SEALED: Final = 6  # characters of encrypted content that stand for one token, roughly


def item_tokens(view: ItemView, counter: TokenCounter) -> int:
    """Return what one item costs.

    Args:
        view: The reading of the item.
        counter: Counts the tokens of the texts.
    """
    parts = view.parts
    if len(parts) == 1 and type(parts[0]) is TextPart:  # what most items are
        return _FRAME + counter.count(parts[0].text)
    total = _FRAME + counter.count("\n".join(texts(view)))
    for part in parts:
        if isinstance(part, MediaPart):
            total += MEDIA_TOKENS.get(part.kind, 0)
        elif isinstance(part, ResultPart):
            total += sum(MEDIA_TOKENS.get(media.kind, 0) for media in part.media)
        elif isinstance(part, ReasoningPart):
            total += part.opaque // _SEALED
        elif isinstance(part, OpaquePart):
            total += part.size // _SEALED
    return total
