"""Eight threads and a hundred tasks on one context; `python tests/crowd.py` does it for longer."""

from __future__ import annotations

import pytest
from crowd import Crowd


@pytest.mark.parametrize("seed", [1, 2])
def test_whoever_is_at_the_list_at_once_it_keeps_the_laws(seed: int) -> None:
    """Nothing is lost, every folded list is valid, and never are two folds written."""
    crowd = Crowd(2.5, seed=seed)
    crowd.run()
    assert crowd.faults == []
    assert crowd.reasons["summarized"] > 0
    assert crowd.most <= 2  # one that was given up may still be on its way out
    assert not crowd.ctx._state.running.locked() or crowd.ctx.background is not None
