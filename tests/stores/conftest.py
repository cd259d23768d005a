"""One store of each kind for the tests in this directory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from stores.drawn import KINDS

from chatfold.stores import Store


@pytest.fixture(params=KINDS)
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Store]:
    """Makes empty stores of one kind, with the options that it is given."""
    number = iter(range(1000))
    return lambda **options: KINDS[request.param](tmp_path / f"{next(number)}.db", **options)


@pytest.fixture
def store(new_store: Callable[..., Store]) -> Store:
    """An empty store of each kind."""
    return new_store()
