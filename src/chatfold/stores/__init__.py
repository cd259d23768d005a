"""Stores: what keeps folds and the originals they stand for; one kind of store a file.

`MemoryStore` keeps them while the process lives, `SQLStore` in a database (extra `sql`). A store
of your own needs the methods of `Store`; `tests/stores/test_conformance.py` says what they do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatfold.errors import MissingExtraError, StoreError
from chatfold.stores.base import Store, StoredFold, StoredItem
from chatfold.stores.memory import MemoryStore

if TYPE_CHECKING:
    from chatfold.stores.sql import SQLStore

__all__ = ["MemoryStore", "SQLStore", "Store", "StoreError", "StoredFold", "StoredItem"]


def __getattr__(name: str) -> object:
    """Return `SQLStore`, whose module is not imported before it is asked for.

    Raises:
        MissingExtraError: SQLAlchemy is not installed.
    """
    if name != "SQLStore":
        raise AttributeError(f"module 'chatfold.stores' has no attribute {name!r}")
    try:
        from chatfold.stores.sql import SQLStore
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "sqlalchemy":
            raise
        raise MissingExtraError(
            'SQLStore needs SQLAlchemy: pip install "chatfold[sql]"', extra="sql"
        ) from error
    return SQLStore
