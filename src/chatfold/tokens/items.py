"""What an item costs in tokens: its texts, its media, what cannot be read, and its frame."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
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
from chatfold.tokens.counters import TokenCounter

__all__ = ["MEDIA_TOKENS", "item_tokens"]

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
