"""What is learned from turn to turn, at times and with numbers that the test says."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from chatfold.core.pace import NO_WAIT, Calibration, Wait

tokens = st.integers(1, 1_000_000)


@given(reported=tokens, counted=tokens, overhead=st.integers(0, 100_000))
def test_the_request_that_was_reported_has_the_size_that_was_reported(
    reported: int, counted: int, overhead: int
) -> None:
    """To the token; a list too short to tell is never taken for smaller than it is counted."""
    assume(reported - overhead >= counted / 2)
    made = Calibration.learned(reported, counted, overhead)
    if counted >= 2_000 and reported > overhead:
        assert abs(made.of(counted) - reported) <= 1
    else:
        assert made.of(counted) == max(reported, counted + overhead)


@given(reported=tokens, counted=tokens, overhead=st.integers(0, 100_000), more=tokens)
def test_a_longer_list_is_never_taken_for_a_smaller_request(
    reported: int, counted: int, overhead: int, more: int
) -> None:
    """What is added counts by the same measure."""
    made = Calibration.learned(reported, counted, overhead)
    assert made.of(counted + more) >= made.of(counted)
    assert made.ratio > 0


@given(counted=st.integers(2_000, 100_000), extra=st.integers(0, 50_000), more=tokens)
def test_what_is_reported_beyond_the_count_is_held_elsewhere(
    counted: int, extra: int, more: int
) -> None:
    """A system prompt and tools do not grow with the list, and stay after a fold."""
    made = Calibration.learned(counted + extra, counted, 0)
    assert made == (extra, 1.0)
    assert made.of(more) == more + extra


def test_with_a_known_overhead_it_is_the_count_that_is_off() -> None:
    """The caller has said how much is held elsewhere, so the rest is the list's."""
    made = Calibration.learned(13_000, 10_000, 1_000)
    assert made == (1_000, 1.2)
    assert made.of(20_000) == 25_000


def test_a_provider_that_counts_less_is_believed() -> None:
    """An estimate that is too high must not fold too early."""
    made = Calibration.learned(8_000, 10_000, 0)
    assert made.of(10_000) == 8_000
    assert made.of(20_000) == 16_000


def test_a_report_that_cannot_be_true_is_not_believed() -> None:
    """Who leaves out what was cached would keep the list from ever being folded."""
    assert Calibration.learned(4_999, 10_000, 0) == (0, 1.0)
    assert Calibration.learned(5_000, 10_000, 0) == (0, 0.5)
    assert Calibration.learned(1, 10_000, 700) == (700, 1.0)


def test_a_short_list_says_nothing_of_a_longer_one() -> None:
    """What frames a request weighs more than its few words."""
    assert Calibration.learned(5, 1_999, 0) == (0, 1.0)
    assert Calibration.learned(500, 1_999, 700) == (700, 1.0)
    assert Calibration.learned(2_500, 1_999, 0) == (501, 1.0)


def test_no_wait_is_over() -> None:
    """After a fold the next one may come at once."""
    assert NO_WAIT.over(0.0, 0)
    assert NO_WAIT.over(-5.0, 10**9)


def test_each_failure_doubles_the_wait_up_to_fifteen_times() -> None:
    """60 s, 2, 4, 8 minutes, then 15 each."""
    wait, now, seconds = NO_WAIT, 1_000.0, list[float]()
    for _ in range(7):
        wait = wait.longer(now, 100, 60.0)
        seconds.append(wait.until - now)
        assert not wait.over(now, 100)
        assert not wait.over(wait.until - 0.001, 100)
        assert wait.over(wait.until, 100)
        now = wait.until
    assert seconds == [60, 120, 240, 480, 900, 900, 900]
    assert wait.failures == 7


@given(head=st.integers(4, 10**6), failures=st.integers(1, 9))
def test_a_head_that_grew_by_a_quarter_is_tried_sooner(head: int, failures: int) -> None:
    """However long the wait; one token less does not do."""
    wait = NO_WAIT
    for _ in range(failures):
        wait = wait.longer(0.0, head, 60.0)
    assert wait.over(0.0, -(-head * 5 // 4))
    assert not wait.over(0.0, -(-head * 5 // 4) - 1)


@given(first=st.sampled_from([0.0, 0.5, 60.0]), head=st.integers(0, 1000))
def test_the_first_wait_is_the_callers(first: float, head: int) -> None:
    """0 seconds wait for nothing, and an empty head still has a size to grow from."""
    wait = NO_WAIT.longer(10.0, head, first)
    assert wait.until == 10.0 + first
    assert wait.size > head
    assert wait.over(10.0, head) is (first == 0)


@given(size=st.integers(1, 10**6), more=st.integers(0, 10**5))
def test_where_nothing_could_be_folded_a_little_more_is_worth_a_look(size: int, more: int) -> None:
    """A sixteenth; looking costs no model call."""
    wait = Wait.short(100.0, size, 60.0)
    assume(more * 16 != size)
    assert wait.over(100.0, size + more) is (more * 16 > size)
    assert wait.over(160.0, size)
    assert not wait.over(159.9, size)


def test_a_report_of_far_less_than_was_counted_is_not_believed() -> None:
    """A proxy that leaves out cached tokens must not keep the list from being folded."""
    assert Calibration.learned(9, 100_000, 0) == (0, 1.0)
    assert Calibration.learned(40_000, 100_000, 1_000) == (1_000, 1.0)
    assert Calibration.learned(50_000, 100_000, 0) == (0, 0.5)
