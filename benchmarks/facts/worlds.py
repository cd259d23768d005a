"""The generated worlds."""

from __future__ import annotations

from ._coding import coding
from ._operations import operations
from ._support import support

__all__ = ["WORLDS"]

WORLDS = (coding, operations, support)
