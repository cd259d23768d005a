"""Counting tokens: exactly where the model's own table is at hand, else by estimate."""

from chatfold.tokens.counters import TokenCount, TokenCounter, counter_for
from chatfold.tokens.estimate import EstimateCounter, Family, estimate
from chatfold.tokens.items import MEDIA_TOKENS, Sizes, item_tokens, text_tokens

__all__ = [
    "MEDIA_TOKENS",
    "EstimateCounter",
    "Family",
    "Sizes",
    "TokenCount",
    "TokenCounter",
    "counter_for",
    "estimate",
    "item_tokens",
    "text_tokens",
]
