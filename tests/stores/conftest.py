"""One store of each kind for the tests in this directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from stores.drawn import KINDS, AnyStore
from stores.postgresql import Server, started

from chatfold.stores import SQLStore


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server that runs through all tests."""
    server = started()
    yield server
    server.remove()


@pytest.fixture
def opened() -> Iterator[Callable[..., SQLStore]]:
    """Opens stores that are closed after the test."""
    with ExitStack() as stores:
        yield lambda *args, **options: stores.enter_context(SQLStore(*args, **options))


@pytest.fixture(params=[*KINDS, "postgresql"])
def new_store(
    request: pytest.FixtureRequest, tmp_path: Path, opened: Callable[..., SQLStore]
) -> Callable[..., AnyStore]:
    """Makes empty stores of one kind, with the options that it is given."""
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("postgresql")
        return lambda **options: opened(server.empty(), **options)
    number = iter(range(1000))

    def made(**options: Any) -> AnyStore:
        return KINDS[request.param](tmp_path / f"{next(number)}.db", **options)

    return made


@pytest.fixture
def store(new_store: Callable[..., AnyStore]) -> AnyStore:
    """An empty store of each kind."""
    return new_store()
