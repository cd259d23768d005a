"""Stores: what keeps folds and the originals they stand for; one kind of store a file.

`MemoryStore` keeps them while the process lives, `SQLStore` in a database: SQLite (extra `sql`) or
PostgreSQL (extra `postgresql`). A store of your own needs the methods of `Store` for a context and
those of `HostStore` for hosts that own their list; `tests/stores/test_conformance.py` and
`tests/stores/test_hosts.py` say what they do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatfold.errors import MissingExtraError, StoreError
from chatfold.stores.base import Store, StoredFold, StoredItem
from chatfold.stores.hosts import Claim, HostFold, HostStore
from chatfold.stores.memory import MemoryStore

if TYPE_CHECKING:
    from chatfold.stores.sql import SQLStore

__all__ = [
    "Claim",
    "HostFold",
    "HostStore",
    "MemoryStore",
    "SQLStore",
    "Store",
    "StoreError",
    "StoredFold",
    "StoredItem",
]


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
            'SQLStore needs SQLAlchemy: pip install "chatfold[sql]", or for PostgreSQL '
            'pip install "chatfold[postgresql]"',
            extra="sql",
        ) from error
    return SQLStore
