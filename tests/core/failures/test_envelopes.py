"""What a result says in the one object that it holds, whatever that is called."""

from __future__ import annotations

from typing import Any

import pytest

from chatfold.core.failures import reason_in

FAILED: list[tuple[str, Any, str]] = [
    ("book_flight", {"booking": {"id": "B-77120", "status": "failed"}}, "failed"),
    ("pay_invoice", {"payment": {"id": "P-9", "status": "declined"}}, "declined"),
    ("charge_card", {"transaction": {"status": "FAILED", "amount": 3}}, "FAILED"),
    ("schedule_visit", {"appointment": {"status": "failed", "reason": "no slot"}}, "no slot"),
    ("cancel_booking", {"cancellation": {"status": "rejected", "reason": "late"}}, "late"),
    ("book_table", {"reservation": {"success": False, "message": "full"}}, "full"),
    ("book_table", {"reservation": {"booked": False, "reason": "full"}}, "full"),
    ("book_table", {"reservation": {"error": "full"}}, "full"),
    ("book_table", {"errors": [], "warnings": None, "reservation": {"error": "full"}}, "full"),
    ("book_table", {"data": {"reservation": {"status": "declined"}}}, "declined"),
    ("submit_claim", {"decision": {"outcome": "denied", "reason": "not covered"}}, "not covered"),
    ("send_email", {"messages": [{"status": "rejected", "reason": "hard"}]}, "hard"),
    ("send_email", {"data": {"messages": [{"status": "rejected"}]}}, "rejected"),
    ("send_email", [{"email": "a@b.c", "status": "rejected", "_id": "x"}], "rejected"),
    ("send_email", [{"message": {"status": "rejected"}}], "rejected"),
    # A code between 200 and 300 that no protocol has.
    ("charge_card", {"payment": {"error": "215"}}, "215"),
    # It has an id of its own beside what was given.
    ("charge_card", {"payment": {"id": "P-8", "order_id": "P-7", "status": "failed"}}, "failed"),
]

NOT_FAILED: list[tuple[str, Any]] = [
    # What was looked up may have failed.
    ("get_payment", {"payment": {"status": "failed"}}),
    ("payment_status", {"transaction": {"status": "failed"}}),
    ("list_payments", {"payments": [{"status": "failed"}]}),
    ("handle", {"payment": {"status": "failed"}}),  # perhaps
    # So may what is complained of.
    ("log_event", {"entry": {"level": "error", "error": "card declined"}}),
    ("report_payment", {"case": {"status": "failed"}}),
    # A thing may have failed before something else was done to it.
    ("add_note", {"payment": {"id": "P-7", "status": "failed"}}),
    ("add_note", {"data": {"payment": {"payment_id": "P-7", "status": "failed"}}}),
    ("add_note", {"payments": [{"id": "P-7", "status": "failed"}]}),
    ("add_note", {"order": {"number": "P-7", "status": "rejected"}}),
    # What was made has a name, and fields of its own.
    ("create_ticket", {"issue": {"key": "T-1", "code": 404, "title": "a page is missing"}}),
    # An earlier one of its kind.
    ("trigger_build", {"last_build": {"status": "failed"}}),
    # This was done.
    ("archive_candidate", {"application": {"status": "rejected", "archived": True}}),
    ("cancel_jobs", {"cancelled": [{"id": "J-1", "status": "failed"}]}),
    ("delete_run", {"deleted": {"id": "J-1", "status": "failed"}}),
    # What the call was to bring about.
    ("reject_application", {"candidate": {"status": "rejected"}}),
    ("set_state", {"job": {"status": "P-7", "state": "failed"}}),
    # Of many, those that went wrong.
    ("send_emails", {"rejected": [{"to": "a", "status": "rejected"}]}),
    ("import_rows", {"rows": [{"row": 3, "status": "failed"}]}),
    ("send_email", [{"status": "rejected"}, {"status": "sent"}]),
    ("send_email", {"mails": [{"status": "sent", "error": "none of late"}]}),
    # There is more, which may tell of another thing.
    ("open_case", {"case": "C-1", "payment": {"status": "failed"}}),
    ("create_case", {"case": "C-1", "payment": {"status": "failed"}}),
    ("create_case", {"case_file": {"name": "x", "payment": {"status": "failed"}}}),
    # Codes of no error, in texts.
    ("send_sms", {"message": {"error": "No error", "errorCode": "0"}}),
    ("create_case", {"file": {}}),
    ("create_case", {"file": []}),
    ("create_case", {"file": ["failed"]}),
]


@pytest.mark.parametrize(("name", "result", "reason"), FAILED)
def test_the_one_object_in_a_result_says_that_an_action_failed(
    name: str, result: Any, reason: str
) -> None:
    """It says so as it would alone, under any key."""
    assert reason_in(result, name=name, given=lambda: ["P-7"]) == reason


@pytest.mark.parametrize(("name", "result"), NOT_FAILED)
def test_what_the_one_object_tells_of_something_else_is_no_failure(name: str, result: Any) -> None:
    """As of what was looked up, or was there before."""
    assert reason_in(result, name=name, given=lambda: ["P-7"]) is None


def test_an_object_is_found_as_deep_as_it_lies() -> None:
    """JSON may nest hundreds of levels."""
    result: Any = {"status": "failed"}
    for level in range(900):
        result = {f"level{level}": result}

    assert reason_in(result, name="charge_card") == "failed"


@pytest.mark.parametrize("errors", [1, 200, ["late"], {"at": "late"}, "late", True])
def test_any_number_of_errors_is_a_failure(errors: Any) -> None:
    """It is no code: 200 errors are not OK."""
    assert reason_in({"errors": errors, "at": 3}, name="pay_order") is not None
