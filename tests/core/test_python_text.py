"""What Python writes of a dict or a list is read as the JSON that says the same."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold import ChatContext
from chatfold.core.call_json import json_or_text
from chatfold.core.failures import reason_in
from chatfold.core.json_text import DEEPEST, decoded, document
from chatfold.core.python_text import LONGEST, json_of
from chatfold.core.values.leaves import LeafReader

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=12,
)


class Colour(Enum):
    RED = "red"
    THREE = 3


@dataclass
class Part:
    id: str
    of: Any


class Rejected:
    def __repr__(self) -> str:
        return "Rejected()"


class Handle:
    def __repr__(self) -> str:
        return "<Handle object at 0x7f01>"


def _as_json(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_as_json(inner) for inner in value]
    if isinstance(value, dict):
        return {key: _as_json(inner) for key, inner in value.items()}
    return value


@given(st.dictionaries(st.text(max_size=9), VALUES, min_size=1) | st.lists(VALUES, min_size=1))
def test_a_dict_or_list_is_read_as_it_was(value: Any) -> None:
    written = str(value)
    try:
        as_json = json.loads(written)
    except ValueError:
        assert decoded(written) == _as_json(value)
    else:
        assert decoded(written) == as_json  # of numbers and the like, both write the same


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (date(2026, 12, 4), "2026-12-04"),
        (datetime(2026, 12, 4, 14, 30), "2026-12-04T14:30:00"),  # as databases give them
        (datetime(2026, 12, 4, 14, 30, 5, 7, tzinfo=UTC), "2026-12-04T14:30:05.000007Z"),
        (
            datetime(2026, 12, 4, 14, 30, tzinfo=timezone(timedelta(hours=2))),
            "2026-12-04T14:30:00+02:00",
        ),
        (
            datetime(2026, 12, 4, 14, 30, tzinfo=timezone(timedelta(hours=-3, minutes=-30))),
            "2026-12-04T14:30:00-03:30",
        ),
        (datetime(2026, 12, 4, 14, 30, tzinfo=ZoneInfo("UTC")), "2026-12-04T14:30:00Z"),
        (Decimal("49.90"), "49.90"),
        (uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (Colour.RED, "red"),
        (Colour.THREE, "THREE"),  # a number of it would say nothing
        (time(19, 15), "datetime.time(19, 15)"),
        (b"GIF'", 'b"GIF\'"'),
        (Handle(), "<Handle object at 0x7f01>"),
        (-float("inf"), -float("inf")),
        ((1,), [1]),
        (
            'it\'s "so"\\\n\x00\x85\u2028\U000e0001\ud800',
            'it\'s "so"\\\n\x00\x85\u2028\U000e0001\ud800',
        ),
    ],
)
def test_what_json_does_not_know_is_read_as_what_it_says(value: Any, read: Any) -> None:
    assert decoded(str({"a": value, 7: value})) == {"a": read, "7": read}


@pytest.mark.parametrize(
    "zone",
    [timezone(timedelta(hours=2), "UTC+02:00"), ZoneInfo("Europe/Berlin")],
)
def test_a_time_of_a_zone_that_is_not_told_in_numbers_is_as_it_is_written(zone: tzinfo) -> None:
    """Without the zone, or with another one, it would vouch for another time."""
    value = datetime(2026, 12, 4, 14, 30, tzinfo=zone)
    assert decoded(str({"at": value})) == {"at": repr(value)}


@pytest.mark.parametrize(
    "value", [Rejected(), ConnectionError("refused"), Part("P-1", None), {"a"}, set[str]()]
)
def test_what_holds_an_object_stays_a_text(value: Any) -> None:
    """The name of its class may be all that tells what became of a call."""
    for holds in ({"result": value}, [value], {"a": [value]}):
        assert json_or_text(str(holds)) == str(holds)


def test_the_escapes_that_only_people_write_are_read_as_python_does() -> None:
    assert decoded(r"{'a': '\d\/ \U7'}") == {"a": r"\d\/ \U7"}


@pytest.mark.parametrize(
    "text",
    [
        "{'a': 1",
        "{'a': 1)}",
        "{'a' 1}",
        "['a', 'b',]",
        "{'a': b}",
        "{'a': ]}",
        "[INFO] stopped]",
        "[1/5]",
        "[see](https://example.com)",
        "{% if a %}{'a'}",
        "{'a'}",
        "",
        '{"a": 1,}',
        "['" + "a" * LONGEST + "']",
        "[" * (DEEPEST + 1) + "'a'" + "]" * (DEEPEST + 1),
    ],
)
def test_all_else_is_the_text_that_it_is(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|Extra|Illegal|nested"):
        decoded(text)
    assert document(text) is None
    assert json_or_text(text) == text


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("{'success': False, 'error': 'no table at 20:00'}", "no table at 20:00"),
        ("{'status': 'failed', 'reason': 'not reachable'}", "not reachable"),
        ("{'booked': False, 'at': datetime.date(2026, 12, 4)}", "booked: false"),
        ("{\"result\": \"{'success': False, 'error': 'full'}\"}", "full"),
        ("{'success': True, 'id': 'B-1'}", None),
    ],
)
def test_such_a_result_says_whether_its_call_failed(result: str, reason: str | None) -> None:
    assert reason_in(json_or_text(result), name="book_table") == reason


def test_lines_of_values_are_not_gone_through_to_their_end() -> None:
    assert json_of("{'a': 1}\n{'b': 2}") is None


def test_broken_json_is_not_gone_through() -> None:
    assert json_of('[{"a": 1, "b": "yes"},]') is None


def test_its_values_have_their_keys() -> None:
    found = dict(LeafReader().document("{'order': {'id': 'LK-1', 'day': date(2026, 12, 4)}}"))
    assert list(found) == [("order", "id"), ("order", "day")]


def test_a_record_tells_of_such_results_what_was_done_and_what_failed() -> None:
    """As agents of the Agents SDK and of LiveKit have them, whose tools return dicts."""

    def called(id_: str, name: str, arguments: Any, result: Any) -> list[Any]:
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": id_, "type": "function", "function": function}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id_, "content": str(result)},
        ]

    items = [
        {"role": "user", "content": "A table at 20:00, and tell Mum."},
        *called("c1", "book_table", {"at": "20:00"}, {"success": False, "error": "full"}),
        *called("c2", "book_table", {"at": "19:15"}, {"success": True, "booking": {"id": "B-77"}}),
        *called("c3", "send_sms", {"to": "+44 7700 900123"}, {"status": "failed", "reason": "off"}),
        {"role": "assistant", "content": "It is booked. " + "The room is quiet. " * 80},
        {"role": "user", "content": "Thanks."},
    ]
    outcome = ChatContext(items).summarize(lambda _: "A table was booked.", keep_last_turns=1)
    assert outcome.facts is not None
    done, _, failed = outcome.facts.record.partition("failed:")
    assert "book_table(at=19:15): booking.id=B-77 [c2]" in done
    assert "book_table(at=20:00): full [c1]" in failed
    assert "send_sms(to=+44 7700 900123): off [c3]" in failed
