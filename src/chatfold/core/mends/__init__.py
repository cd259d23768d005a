"""The single mends of a broken list, and what they work with."""

from chatfold.core.mends.items import MENDS, is_same

__all__ = ["MENDS", "is_same"]
