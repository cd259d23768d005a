"""What is come back to is told by what happened to others of its origin."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from chatfold.core.reuse import LEVELS, Origin, Rates

TRACKING: Origin = ("result", "get_order", "tracking", "id")
SERIAL: Origin = ("result", "get_order", "serial", "id")
NEW: Origin = ("user", "", "C", "id")

origins = st.sampled_from([TRACKING, SERIAL, NEW])
histories = st.lists(st.tuples(origins, st.integers(0, 9)), max_size=60)


def test_what_agents_go_on_with_is_told_from_what_they_never_look_at_again() -> None:
    rates = Rates({(TRACKING, 1): 10, (SERIAL, 0): 10})
    assert rates.again(TRACKING, 0) > 3 * rates.again(SERIAL, 0)
    assert rates.used(TRACKING) == 1
    assert rates.used(SERIAL) == rates.used(NEW) == 0


def test_what_was_used_is_used_again_more_often() -> None:
    rates = Rates({})
    levels = [rates.again(TRACKING, uses) for uses in range(LEVELS + 2)]
    assert levels == sorted(levels)
    assert levels[-1] == levels[LEVELS - 1]


@given(histories, origins, st.integers(0, 9))
def test_a_rate_lies_between_never_and_always(
    seen: list[tuple[Origin, int]], origin: Origin, uses: int
) -> None:
    rates = Rates(Counter(seen))
    assert 0 < rates.again(origin, uses) < 1
    assert rates.again(origin, uses) == Rates(Counter(reversed(seen))).again(origin, uses)


@given(histories, origins)
def test_one_more_use_never_lowers_a_rate(seen: list[tuple[Origin, int]], origin: Origin) -> None:
    unused, used = Rates(Counter([*seen, (origin, 0)])), Rates(Counter([*seen, (origin, 1)]))
    assert used.again(origin, 0) > unused.again(origin, 0)
