"""Days as programs write them vouch for the day as people write it, and for no other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sources import called, found, shown

from chatfold.core.grounding.stamps import stamped

TRUE = "2027-03-05", "March 5, 2027", "5 March", "05.03.2027"
LIES = "2027-03-06", "March 5, 2026", "5 May", "2027-04-05"


@pytest.mark.parametrize(
    "result",
    [
        {"start": 1804238100},
        {"start": "1804238100"},
        {"start": 1804238100000},
        {"ts": "1804238100.000200"},
        {"start": "20270305T091500Z"},
        {"start": "20270305T0915"},
        "BEGIN:VEVENT\nDTSTART;TZID=Europe/Berlin:20270305T101500\nEND:VEVENT",
        "[1804238100] EV-77120 was made",
        {"date": "05MAR27"},
        {"date": "05Mar2027"},
        {"date": "05-Mar-27"},
        {"date": [2027, 3, 5]},
        {"date": [2027, 3, 5, 9, 15]},
        {"year": 2027, "month": 3, "day": 5},
        {"startYear": 2027, "startMonth": 3, "startDay": 5},
        {"start_year": "27", "start_month": "03", "start_day": "05"},
    ],
)
def test_a_day_as_a_program_writes_it_vouches_for_that_day(result: Any) -> None:
    sources = called(("get_event", {"id": "EV-77120"}, result))
    assert [day for day in TRUE if found(f"EV-77120 is on {day}.", sources)] == []
    assert [day for day in LIES if not found(f"EV-77120 is on {day}.", sources)] == []


def test_a_time_as_a_program_writes_it_is_that_of_utc_where_it_says_so() -> None:
    for start in (1804238100, "20270305T091500Z"):
        sources = called(("get_event", {"id": "EV-77120"}, {"start": start}))
        assert found("EV-77120 starts at 09:15 UTC, that is 9:15 am.", sources) == []
        assert found("EV-77120 starts at 10:15 UTC.", sources) == ["10:15 UTC"]
    local = called(("get_event", {"id": "EV-77120"}, {"start": "20270305T091530"}))
    assert found("EV-77120 starts at 09:15:30.", local) == []
    assert found("EV-77120 starts at 09:15:31.", local) == ["09:15:31"]
    assert found("EV-77120 starts at 09:15:30 UTC.", local) == ["09:15:30 UTC"]


@pytest.mark.parametrize(
    "result",
    [
        {"exp_month": 9, "exp_year": 2028},
        {"expMonth": "09", "expYear": "28"},
        "Card ending in 4471, exp. 09/28",
    ],
)
def test_the_month_of_a_card_vouches_for_that_month(result: Any) -> None:
    sources = called(("get_card", {}, result))
    assert found("It expires in September 2028.", sources) == []
    assert found("It expires in October 2028.", sources) == ["October 2028"]
    assert found("It expires in September 2029.", sources) == ["September 2029"]


def test_a_day_is_no_month_of_a_card() -> None:
    assert found("It is due in September 2028.", shown("It is due on 09/28.")) == ["September 2028"]
    assert found("It is due in 2028-09.", shown("Take 109/28 of it.")) == ["2028-09"]
    fractions = shown("3/27 tests passed, see section 11/29.")
    assert found("It ends in March 2027.", fractions) == ["March 2027"]
    assert found("It ends in November 2029.", fractions) == ["November 2029"]


@pytest.mark.parametrize(
    "result",
    [
        {"order_number": 4804238100},
        {"amount": 180423810},
        {"date": "05ABC27"},
        {"start": "20271305T091500Z"},
        {"values": [2027, 3, 5, 9, 15, 0, 0, 0, 1]},
        {"values": [2027, 3, 5.5]},
        {"values": [3027, 3, 5]},
        {"year": 2027, "months": 3, "day": 5},
        {"year": 2027, "month": 13, "day": 5},
        {"year": 7, "month": 3, "day": 5},
        [{"year": 2027}, {"month": 3, "day": 5}],
    ],
)
def test_what_only_looks_like_a_day_vouches_for_none(result: Any) -> None:
    assert found("It is on 2027-03-05.", called(("get_event", {}, result))) == ["2027-03-05"]


def test_a_stamp_of_another_event_is_misplaced() -> None:
    events = [{"id": "EV-77120", "start": 1804238100}, {"id": "EV-77121", "start": 1806916500}]
    sources = called(("list_events", {}, events))
    assert found("EV-77120 is on 2027-03-05, EV-77121 on 2027-04-05.", sources) == []
    assert found("EV-77120 is on 2027-04-05.", sources) == ["2027-04-05"]


@given(st.datetimes(datetime(2001, 9, 10), datetime(2039, 1, 1)))
def test_seconds_since_1970_are_the_day_and_the_time_in_utc(at: datetime) -> None:
    at = at.replace(tzinfo=UTC, microsecond=0)
    told = dict(stamped(str(int(at.timestamp()))))
    assert f"date:{at:%Y-%m-%d}" in told["date"]
    assert f"date:{at + timedelta(days=1):%Y-%m-%d}" not in told["date"]
    assert f"time:{at:%H:%M}Z" in told["time"]
