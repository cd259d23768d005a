"""What was done beside a word of failure, and what was not though a word says that it was."""

from __future__ import annotations

from typing import Any

import pytest

from chatfold.core.failures import reason_in


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("restart_pod", {"restarted": True, "exit_code": 137, "reason": "OOMKilled"}),
        ("cancel_build", {"number": 77, "result": "ABORTED"}),
        ("cancel_job", {"status": "aborted", "exit_code": 143}),
        ("cancel_order", {"status": "ABORTED_BY_CUSTOMER"}),
        ("import_contacts", {"imported": 98, "error": "2 rows had no mail address"}),
        ("send_emails", {"sent": 3, "error": "The rest is over the quota of today"}),
    ],
)
def test_what_was_done_beside_a_word_of_failure_did_not_fail(
    name: str, result: dict[str, Any]
) -> None:
    assert reason_in(result, name=name) is None


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("execute_command", {"executed": True, "exit_code": 137}),
        ("restart_pod", {"restarted": True, "exit_code": 1}),
        ("restart_pod", {"restarted": True, "exit_code": 137, "stderr": "error: not started"}),
        ("restart_pod", {"restarted": False, "exit_code": 137}),
        ("cancel_booking", {"status": "aborted", "reason": "connection lost"}),
        ("cancel_order", {"state": "aborted_by_server"}),
        ("place_order", {"state": "aborted_by_customer"}),
        ("enroll_student", {"enrolled": 30, "error": "class is full"}),
        ("send_sms", {"sent": 1, "error": "number is blocked"}),
        ("book_seats", {"booked": 120, "error": {"code": "SOLD_OUT"}}),
        ("reserve_seats", {"reserved": ["1A", "1B"], "error": "Seats 1A and 1B are taken"}),
        ("cancel_order", {"status": "aborted_by_customer_service"}),
        ("import_contacts", {"imported": 98, "error": "2 rows are bad", "error_code": "E7"}),
        ("import_contacts", {"imported": 0, "error": "no such file"}),
        ("import_contacts", {"imported": 3, "error": "Rolled back: row 4 is invalid"}),
        ("import_contacts", {"imported": 98, "error": "All of it, 98 rows, has been reverted"}),
        ("delete_files", {"deleted": 3, "error": "No files were deleted: 3 are in use"}),
        ("create_invoices", {"created": 12, "error": "ALREADY_EXISTS"}),
        ("transfer_funds", {"transferred": 50, "error": "Over the limit by 3 cents"}),
        ("cancel_order", {"exit_code": 137, "message": "out of memory"}),
        ("start_server", {"started": True, "exit_code": 137}),
        ("cancel_order", {"status": "blocked_by_customer"}),
        ("cancel_order", {"status": "aborted_by_user", "message": "The order was kept."}),
        ("cancel_job", {"status": "aborted", "message": "The job is locked."}),
        ("invoke_function", {"StatusCode": 200, "FunctionError": "Unhandled"}),
    ],
)
def test_a_failure_is_one_whatever_else_stands_beside_it(name: str, result: dict[str, Any]) -> None:
    assert reason_in(result, name=name) is not None
