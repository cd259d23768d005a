"""Which results say that their call failed, and which only look as if."""

from __future__ import annotations

from typing import Any

import pytest
from quickest import quickest

from chatfold.core.failures import reason_in

# What git says of a push, a merge and a rebase that came to nothing.
PUSHED, NOT_PUSHED = "! [rejected] main -> main", "error: failed to push some refs to 'a'"
CONFLICT, NOT_APPLIED = "CONFLICT (content): in pay.py", "Could not apply 4be21d9... Pay"
FAILURES: list[tuple[Any, str]] = [
    ({"statusCode": 402, "body": "Card expired"}, "Card expired"),
    ({"statusCode": 402, "body": '{"message": "Card expired"}'}, "Card expired"),
    ({"statusCode": 402, "body": "{Card expired"}, "{Card expired"),
    ({"statusCode": 402, "body": {"at": 3}}, '{"at": 3}'),
    ({"status": 404, "message": "Not found"}, "Not found"),
    ({"status": "404 Not Found", "detail": "No such order"}, "No such order"),
    ({"status_code": 503}, "status 503"),
    ({"http_status": 500, "id": "A-1"}, "status 500"),
    ({"code": 400, "message": "Bad amount"}, "Bad amount"),
    ({"success": "false", "message": "No funds"}, "No funds"),
    ({"success": True, "isError": "true", "msg": "No funds"}, "No funds"),
    ({"error": "true", "message": "No funds"}, "No funds"),
    ({"status": "declined", "title": "Offer"}, "declined"),
    ({"success": False, "state": 3}, "failed"),
    (
        {"isError": True, "content": [{"type": "text", "text": "Card 1234 is expired"}]},
        "Card 1234 is expired",
    ),
    ({"isError": True, "content": [{"type": "image"}]}, '[{"type": "image"}]'),
    ({"isError": True, "content": []}, "failed"),
    ("Tool error: card expired", "Tool error: card expired"),
    ("Tool execution failed: card expired", "Tool execution failed: card expired"),
    ("Internal server error", "Internal server error"),
    ("Request failed with status code 402", "Request failed with status code 402"),
    ("Payment failed (402)", "Payment failed (402)"),
    ("HTTP 404 Not Found", "HTTP 404 Not Found"),
    ("HTTP/1.1 502 Bad Gateway", "HTTP/1.1 502 Bad Gateway"),
    ("HTTP Error 404: Not Found", "HTTP Error 404: Not Found"),
    ("<h1>502 Bad Gateway</h1>", "<h1>502 Bad Gateway</h1>"),
    ("Status code: 500", "Status code: 500"),
    ("The server answered with status code 503", "The server answered with status code 503"),
    ("<error>Card expired</error>", "Card expired"),
    ("<error>\n  Card expired\n</error>", "Card expired"),
    ('<result><error code="402">Card expired</error></result>', "Card expired"),
    ("<tool_use_error>Card expired</tool_use_error>", "Card expired"),
    ("<error><message>Card expired</message></error>", "<message>Card expired"),
    ("Invalid amount was given", "Invalid amount was given"),
    ("Failed to pay an order that was paid", "Failed to pay an order that was paid"),
    ("Failed order which was paid", "Failed order which was paid"),
    ("Failed: order was paid", "Failed: order was paid"),
    ("Failed order was paid but not booked", "Failed order was paid but not booked"),
    ("Error order was paid", "Error order was paid"),
    ("Cannot pay what was paid", "Cannot pay what was paid"),
    ("Invalid report was sent", "Invalid report was sent"),
    ("Tool execution was not approved.", "Tool execution was not approved."),
    # openai-agents 0.24, `agents/run_internal/turn_resolution.py`
    (
        "Multiple handoffs detected, ignoring this one.",
        "Multiple handoffs detected, ignoring this one.",
    ),
    ("User rejected the tool call for `pay`", "User rejected the tool call for `pay`"),
    ("The user doesn't want to proceed.", "The user doesn't want to proceed."),
    ("Denied: over the limit", "Denied: over the limit"),
    ("Aborted by user.", "Aborted by user."),
    ("Card declined", "Card declined"),
    ("Nothing was paid.", "Nothing was paid."),
    ("Not paid: too old", "Not paid: too old"),
    ("Order A-1 cannot be paid", "Order A-1 cannot be paid"),
    ("Order A-1 can no longer be paid", "Order A-1 can no longer be paid"),
    ("The payment failed because of A", "The payment failed because of A"),
    ("Bulk payment failed", "Bulk payment failed"),
    ("Insufficient funds", "Insufficient funds"),
    ("You do not have permission to pay.", "You do not have permission to pay."),
    ("An error occurred while running the tool.", "An error occurred while running the tool."),
    ("Unknown tool: pay", "Unknown tool: pay"),
    ("Tool pay not found", "Tool pay not found"),
    ("Input validation error: 'id'", "Input validation error: 'id'"),
    ("Command exited with code 2", "Command exited with code 2"),
    ("bash: pay: command not found", "bash: pay: command not found"),
    ({"result": "failed"}, "failed"),
    ({"exit_code": 2, "stderr": "No funds"}, "No funds"),
    ({"exit_code": 137}, "exit code 137"),
    ({"returncode": 2}, "exit code 2"),
    ({"output": "", "exit_code": 2}, "exit code 2"),
    ({"output": "Paying\nError: no funds\n", "exit_code": 2}, "exit code 2: Error: no funds"),
    (
        {"stdout": "1 passed\nFAILED t.py::b", "stderr": "", "returncode": 1},
        "exit code 1: FAILED t.py::b",
    ),
    ({"output": "Error: no funds", "metadata": {"exit_code": 1}}, "exit code 1: Error: no funds"),
    ({"errorMessage": "No funds"}, "No funds"),
    ({"error_code": "E12"}, "E12"),
    ({"data": {"success": False, "message": "No funds"}}, "No funds"),
    ({"data": {"status": "declined"}}, "declined"),
    ({"result": "Error: card expired"}, "Error: card expired"),
    ({"output": "Order A-1 could not be paid"}, "Order A-1 could not be paid"),
    ({"detail": "Not found."}, "Not found."),
    ([{"type": "text", "text": "Error: card expired"}], "Error: card expired"),
    ({"status": "TIMED_OUT"}, "TIMED_OUT"),
    ({"status": "bounced", "message": "No such mailbox"}, "No such mailbox"),
    ({"amount": 3, "failure_message": "No funds"}, "No funds"),
    ("Your request was declined.", "Your request was declined."),
    ("Connection timed out", "Connection timed out"),
    ("The operation timed out after 30 s", "The operation timed out after 30 s"),
    ("Order A-1 was not found in the shop", "Order A-1 was not found in the shop"),
    ("Order A-1 not found, nothing was paid", "Order A-1 not found, nothing was paid"),
    ("Run timed out; the rest was not sent", "Run timed out; the rest was not sent"),
    ("Working\n[exited with code 1]", "Working"),
    ("It is not possible: too old", "It is not possible: too old"),
    ("Paying ...\nerror: no funds\n[exit code: 1]", "error: no funds"),
    ("<returncode>1</returncode>\n<output>\n</output>", "<returncode>1</returncode>"),
    (f"To a\n {PUSHED}\n{NOT_PUSHED}\nhint: Pull first.\nhint: Or not.\n", PUSHED),
    ({"output": f"To a\n {PUSHED}\n{NOT_PUSHED}"}, PUSHED),
    (
        f"Auto-merging pay.py\n{CONFLICT}\nAutomatic merge failed; fix conflicts and go on.",
        CONFLICT,
    ),
    (f"Rebasing (1/2)\nhint: Resolve it\n{NOT_APPLIED}", "Rebasing (1/2)"),
    ("Error order paid twice", "Error order paid twice"),
    ("Failed order not paid", "Failed order not paid"),
    ("Error in report created", "Error in report created"),
    ("Fehler: kein Termin frei", "Fehler: kein Termin frei"),
    ("Fehler beim Speichern", "Fehler beim Speichern"),
    ("abgelehnt: Kreditlimit erreicht", "abgelehnt: Kreditlimit erreicht"),
    ("Die Zahlung wurde abgelehnt.", "Die Zahlung wurde abgelehnt."),
    ("Überweisung fehlgeschlagen", "Überweisung fehlgeschlagen"),
    ("Échec : solde insuffisant", "Échec : solde insuffisant"),
    ("Erreur lors du paiement", "Erreur lors du paiement"),
    ("Votre paiement a été refusé.", "Votre paiement a été refusé."),
    ("Pago rechazado: saldo insuficiente", "Pago rechazado: saldo insuficiente"),
    ({"fehler": "kein Termin frei"}, "kein Termin frei"),
    ({"status": "abgelehnt", "grund": "kein Guthaben"}, "kein Guthaben"),
    ({"result": "Fehler: kein Termin frei"}, "Fehler: kein Termin frei"),
    ("Échec du paiement : carte refusée", "Échec du paiement : carte refusée"),
    ({"estado": "rechazado", "motivo": "saldo insuficiente"}, "saldo insuficiente"),
    ({"resultat": "échec", "motif": "fonds insuffisants"}, "fonds insuffisants"),
    ({"resultat": "refusé"}, "refusé"),
    ({"etat": "refusee"}, "refusee"),
    ({"statut": "erreur"}, "erreur"),
    ({"ergebnis": "Fehler"}, "Fehler"),
    ({"errore": "saldo insufficiente"}, "saldo insufficiente"),
    ({"esito": "fallito"}, "fallito"),
    ({"esito": "KO"}, "KO"),
    ({"estado": "recusado", "motivo": "sem saldo"}, "sem saldo"),
    ({"resultado": "falhou"}, "falhou"),
    ({"resultaat": "mislukt"}, "mislukt"),
    ({"result": "not possible", "next_free": "2026-01-22"}, "not possible"),
    (
        "2026-10-02T08:40:00Z INFO ready\n2026-10-02T08:41:05Z ERROR not deployed\nexit code 1",
        "2026-10-02T08:41:05Z ERROR not deployed",
    ),
]


@pytest.mark.parametrize(("result", "reason"), FAILURES)
def test_a_result_says_why_its_call_failed(result: Any, reason: str) -> None:
    """By the status of a request, an error tag, texts for truth values, or its first words."""
    assert reason_in(result, name="pay_order") == reason


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("<error>Card expired</error>", "Card expired"),
        ([{"type": "text", "text": "Card expired"}], "Card expired"),
        ({"content": [{"type": "text", "text": "Card expired"}]}, "Card expired"),
        (["a"], "a"),
        (["a.pdf too large", "b.pdf too large"], "a.pdf too large; b.pdf too large"),
        (["a", {"b": 1}], '["a", {"b": 1}]'),
        (None, "failed"),
        ({"ok": True}, "failed"),
        ("Uploading...\nChecking quota...\nQuota exceeded: 10/10", "Quota exceeded: 10/10"),
        ("F..\n0 errors while collecting\nFAILED t.py::b", "FAILED t.py::b"),
        ("Card expired\nTry another one", "Card expired"),
    ],
)
def test_a_result_that_is_marked_as_failed_says_why(result: Any, reason: str) -> None:
    assert reason_in(result, failed=True) == reason


DONE: list[tuple[str, dict[str, Any], Any]] = [
    ("decline_meeting", {"id": "M-4471"}, {"id": "M-4471", "status": "declined"}),
    ("rejectApplication", {"id": "APP-99"}, {"status": "Rejected"}),
    ("crm.deny", {"id": "A-1"}, {"state": "denied"}),
    ("fail_job", {"id": "J-1"}, {"status": "failed"}),
    ("mark_failed", {"id": "J-1"}, {"status": "failed"}),
    ("set_status", {"id": "J-1", "status": "failed"}, {"status": "failed"}),
    ("set_status", {"id": "J-1", "status": "error"}, {"status": "error"}),
    ("update_application", {"action": "reject"}, {"status": "rejected"}),
    ("create_ticket", {"title": "x"}, {"error": "None", "ticket": "T-991"}),
    ("create_ticket", {"title": "x"}, {"error": "null", "errors": "false"}),
    ("create_order", {"sku": "A-1"}, {"ok": True, "errors": ["newsletter not subscribed"]}),
    ("create_order", {"sku": "A-1"}, {"success": "true", "error": "no newsletter"}),
    ("create_mock", {"code": 404}, {"code": 404, "message": "Mock made"}),
    ("create_code", {}, {"code": 404}),
    ("create_code", {}, {"code": "404", "message": "Voucher made"}),
    ("create_order", {}, {"code": 500, "status": "created", "message": "Thanks"}),
    ("create_order", {}, {"status": 450, "id": "A-1"}),
    ("create_order", {}, {"status": 201, "message": "Created"}),
    ("send_report", {"to": "ops"}, "Failed payments report was sent to ops@x.com as R-8812"),
    ("email_report", {"to": "ops"}, "Error report has been sent to ops@x.com"),
    ("remove_rows", {}, "Invalid rows were removed"),
    ("retry_jobs", {}, "Failed jobs were successfully retried"),
    ("pay_invoice", {}, "Failed invoice A-1 was paid as P-1"),
    ("create_alert", {}, "API error rate alert is on"),
    ("create_alert", {}, "Alert made for status code 500"),
    ("create_mock", {}, "Mock saved that returned status code 500"),
    ("create_ticket", {}, "Tool error: none"),
    ("create_ticket", {}, "<error>None</error>"),
    ("create_ticket", {}, "<errors>0</errors>"),
    ("create_ticket", {}, "<error></error><id>T-1</id>"),
    ("reject_application", {}, "Application rejected."),
    ("review", {"verdict": "deny"}, "Request denied."),
    ("fail_job", {}, "Job failed."),
    ("freeze_card", {}, "Card blocked by policy"),
    ("cancel_order", {}, "Order A-1 was cancelled and cannot be reopened"),
    ("lock_account", {}, "The account cannot be used any more"),
    ("import_rows", {}, "Rows failed: 0"),
    ("note", {}, "Not allowed: none"),
    ("run", {}, {"exit_code": 0, "stderr": "a warning"}),
    ("run", {}, {"output": "Paid", "metadata": {"exit_code": 0, "duration_seconds": 1.5}}),
    ("create_order", {}, {"error_code": 0, "data": {"id": "A-1"}}),
    ("create_order", {}, {"ok": True, "data": {"status": "failed"}}),
    ("create_order", {}, {"result": "created", "data": {"status": "failed"}}),
    ("create_alert", {}, {"result": "API error rate alert is on"}),
    ("create_order", {}, {"message": "Error: none", "id": "A-1"}),
    ("abort_deploy", {}, {"status": "aborted"}),
    ("stop_container", {"container": "web"}, {"container": "web", "exit_code": 137}),
    ("terminate_process", {"pid": 4242}, {"pid": 4242, "returncode": -15}),
    ("create_rule", {}, "Rule for timed out requests created"),
    ("tag", {}, "Image not found to hold faces, tagged as A-1"),
    ("run", {}, "Compiled\nexit code: 0"),
    ("run", {}, "To a\n   91ac3de..77b0f12  main -> main"),
    ("run", {}, "Saw 'error: failed to push some refs to' in the log"),
    (
        "run",
        {},
        "To a\nerror: failed to push some refs to 'a'\nTo a\n   91ac3de..77b0f12  main -> main",
    ),
    ("create_booking", {}, "Booked.\nCode: 482"),
    ("upsert_contact", {}, "Contact not found; created as C-12"),
    ("send_mail", {}, "Attachment not found: sent without it."),
    ("book_table", {}, "Table not available at 7 pm, booked for 8 pm instead (R-12)."),
    ("restart", {}, "Graceful stop timed out. Service restarted."),
    (
        "create_order",
        {},
        [{"type": "text", "text": "Cart not found"}, {"type": "text", "text": "Made"}],
    ),
    ("create_refund", {}, {"amount": 3, "failure_message": None}),
    ("report_error", {"id": "A-1"}, "Error report submitted"),
    ("log_error", {"text": "x"}, "Error logged."),
    ("create_issue", {"title": "x"}, "Failed login issue created as #4"),
    ("send_notification", {"to": "ops"}, "Failure notification sent to ops@x.com"),
    ("set_status", {"id": "A-1", "status": "rejected"}, {"status": "abgelehnt"}),
    ("reject_application", {"id": "A-1"}, "Antrag abgelehnt."),
    ("antrag_ablehnen", {"id": "A-1"}, {"status": "abgelehnt"}),
    ("set_status", {"id": "A-1", "status": "abgelehnt"}, "abgelehnt"),
    ("set_status", {"id": "A-1", "status": "abgelehnt"}, {"status": "abgelehnt"}),
    ("create_order", {"id": "A-1"}, "Nicht abgelehnt."),
    ("refuser_dossier", {"id": "A-1"}, {"resultat": "refusee"}),
    ("create_order", {"id": "A-1"}, "Refuse: booked for Monday"),
    ("criar_pedido", {}, {"erro": "nenhum", "id": 3}),
    ("crea_ordine", {}, {"errore": "nessuno"}),
    ("record_fight", {"id": "A-1"}, {"outcome": "KO"}),
    ("set_currency", {"to": "crowns"}, {"result": "NOK"}),
    ("set_status", {"id": "A-1", "status": "rejected"}, {"estado": "recusado"}),
    ("import_rows", {}, {"erreur": None, "errore": "", "erro": 0}),
    ("create_order", {"id": "A-1"}, "Fehler: keine"),
    ("import_rows", {}, "Zeilen fehlgeschlagen: 0"),
    ("repair", {"id": "A-1"}, "Fehler behoben"),
    ("import_rows", {}, {"fehler": "keine", "zeilen": 7}),
    ("import_rows", {}, {"fehler": 0, "zeilen": 7}),
    ("send_report", {"to": "ops"}, "Bericht zu abgelehnten Anträgen gesendet"),
    ("set_status", {"status": "not available"}, {"status": "not available"}),
    ("stop_job", {"job": "J-1"}, {"status": "aborted"}),
    ("kill_process", {"pid": "J-1"}, {"status": "aborted by user"}),
]


@pytest.mark.parametrize(("name", "given", "result"), DONE)
def test_what_a_tool_is_there_for_is_no_failure_of_it(
    name: str, given: dict[str, Any], result: Any
) -> None:
    """A state that the call was made for, a number or a text that says nothing went wrong."""
    assert reason_in(result, name=name, given=given.values) is None


@pytest.mark.parametrize(
    ("name", "result", "reason"),
    [
        ("update_address", {"statusCode": 500, "body": ""}, "status 500"),
        ("update_address", {"statusCode": 500, "headers": {"a": "b"}, "body": ""}, "status 500"),
        ("send_email", {"accepted": [], "rejected": ["a@b.co"]}, "accepted: []"),
        ("delete_file", "false", "false"),
        ("delete_file", False, "false"),
        ("assign_driver", {"assigned": "false"}, 'assigned: "false"'),
        ("book_room", {"booked": "no", "message": "Room is full"}, "Room is full"),
        ("issue_refund", {"status": "not_refunded"}, "not_refunded"),
        ("complete_job", {"status": "not_completed"}, "not_completed"),
        ("place_order", {"order_id": None, "status": "out_of_stock"}, "out_of_stock"),
        ("restart_service", {"code": "ECONNREFUSED"}, "ECONNREFUSED"),
        ("restart_service", {"code": "EEXIST", "message": "is there"}, "is there"),
        ("deploy", {"dry_run": True, "plan": ["a"]}, "dry_run"),
        ("deploy", {"ok": True, "dryRun": "true", "message": "would go"}, "dryRun: would go"),
        ("deploy", {"result": {"dry_run": True}}, "dry_run"),
        ("deploy", "Dry run: would deploy web", None),
        ("deploy", "(dry-run) web would be restarted", None),
        (
            "create_ticket",
            {"requires_confirmation": True, "message": "Sure?"},
            "requires_confirmation: Sure?",
        ),
        ("create_ticket", {"status": "confirmation_required"}, "confirmation_required"),
        ("create_ticket", "This action requires user confirmation.", None),
        ("create_ticket", "Confirmation required: call again with confirm=true", None),
        ("write_file", "ENOSPC: no space left on device", "ENOSPC: no space left on device"),
        ("book_room", "\u4e88\u7d04\u306b\u5931\u6557\u3057\u307e\u3057\u305f", None),
        ("book_room", "A reserva n\u00e3o p\u00f4de ser conclu\u00edda", None),
    ],
)
def test_a_tool_that_changes_things_says_that_it_did_not(
    name: str, result: Any, reason: str | None
) -> None:
    assert reason_in(result, name=name) == (result if reason is None else reason)


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("update_ticket", {"ticket": {"id": "1", "error": "login fails"}, "updated": True}),
        ("create_alert", {"alert": {"status": 500, "message": "on 500"}, "created": "true"}),
        ("log_error", {"logged": True, "id": "L-7", "error": "disk full"}),
        ("record_payment_failure", {"status": "failed", "recorded": True, "id": "P-3"}),
        ("send_email", {"accepted": ["a@b.co"], "rejected": ["b@b.co"]}),
        ("send_email", {"accepted": ["a@b.co"], "rejected": []}),
        ("invite_users", {"invited": [], "queued": ["b"], "failed": ["a"]}),
        ("is_open", "false"),
        ("user_exists", "false"),
        ("set_room_status", {"status": "unavailable"}),
        ("mark_sold_out", {"status": "sold_out"}),
        ("place_sign", {"status": "sold out"}),
        ("set_state", {"status": "unassigned"}),
        ("create_order", {"order_id": "O-4711", "status": "not_delivered"}),
        ("create_todo", {"id": 5, "state": "not_done"}),
        ("submit_application", {"application_id": "A-1", "status": "not_approved"}),
        ("deliver_order", {"delivery_id": "D-1", "status": "not_delivered"}),
        ("get_order", {"status": "not_delivered"}),
        ("upload_files", {"uploaded": 2, "errors": ["b.pdf too large"]}),
        ("send_emails", {"sent": ["a@b.co"], "errors": ["c@b.co bounced"]}),
        ("deploy", {"dry_run": False, "version": 3}),
        ("deploy", {"dry_run": 2, "version": 3}),
        ("plan_dry_run", "Dry run: 3 changes"),
        ("get_plan", {"dry_run": True}),
        ("create_intent", {"id": "pi_3", "status": "requires_confirmation"}),
        ("book_visit", "Visit booked. Confirmation required on arrival."),
        ("create_order", {"order": "A-1", "requires_confirmation": False}),
        ("update_policy", {"id": "pol-7", "updated": True, "dry_run": True}),
        ("send_invite", {"sent": True, "confirmation_needed": True}),
        ("plan_deploy", {"dry_run": True, "changes": 3}),
        ("create_booking", {"confirmation_number": "ZX81Q", "needs_confirmation": True}),
        ("delete_users", "Dry run passed; applied for real: deleted 412 users."),
        ("create_issue", "Confirmation needed by reviewers. Issue #77 created."),
        ("create_ticket", "I can't create more than one ticket at once. Ticket #12 is open."),
        ("send_email", "I can't send attachments over 25 MB, so the file went as a link."),
        ("update_role", "Missing permissions: none"),
        ("start_import", {"status": "running", "total": 120, "successful": 0, "failed": 2}),
        ("import_rows", {"total": 120, "succeeded": 0, "failed": 1}),
        ("send_sms", [{"to": "+49170", "errorCode": "0", "message": "Success"}]),
        ("send_push", {"responses": [{"errorCode": "NO_ERROR", "message": "delivered"}]}),
        ("submit_quiz", [{"ok": False, "reason": "Correct answer: B"}]),
        ("http_request", {"id": "ct_1", "name": "Anna", "status": 415}),
        ("create_issue", {"key": "ED-24", "errorMessages": ["Field 'x' was ignored"]}),
        ("create_discount", {"node": {"handle": "X-77"}, "userErrors": [{"message": "ignored"}]}),
        ("create_checkout", {"id": "cs_1", "status": "open", "failure_code": "none"}),
        ("trade", {"executed": False}),
        ("lock_unlock_door", {"state": "unlocked"}),
        ("update_inventory", {"status": "out_of_stock"}),
        ("update_listing", {"status": "sold_out"}),
        ("close_calendar", {"status": "fully_booked"}),
        ("toggle_light", "false"),
        ("notify", "\u6c7a\u6e08\u306b\u5931\u6557\u3057\u305f\u9867\u5ba2\u306b\u9001\u4fe1"),
        ("create_reminder", "O pagamento n\u00e3o pode ser feito aos domingos: lembrete criado"),
        ("Task", "Fixed it in src/app.py. The log had said:\nerror: pathspec 'x' did not match"),
        ("check_stock", False),
        ("issue_refund", {"status": "underway"}),
        ("issue_refund", {"status": "unrefunded items listed"}),
        ("create_rule", {"id": "R-1", "statusCode": 404, "body": "gone"}),
        ("open_seat_sale", {"code": "ECONOMY"}),
        ("place_order", {"order_id": "O-1", "status": "out_of_stock"}),
    ],
)
def test_what_was_done_is_no_failure_whatever_it_was_of(name: str, result: Any) -> None:
    states: dict[str, Any] = {
        "create_rule": 404,
        "set_room_status": "Unavailable",
        "place_sign": "Sold Out",
    }
    given = {"status": states.get(name, "x")}
    assert reason_in(result, name=name, given=given.values) is None


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("process_payment", {"processed": True, "error": "card declined"}),
        ("update_order", {"updated": True, "data": {"success": False, "error": "db down"}}),
        ("apply_coupon", {"applied": True, "data": {"error": "expired"}}),
        ("update_order", {"updated": True, "order": {"status": "failed"}}),
        ("send_email", {"sent": True, "status": "bounced"}),
        ("update_ticket", {"ticket": {"error": "no right"}, "updated": False}),
        ("update_ticket", {"ticket": {"error": "no right"}}),
        ("log_error", {"error": "disk full"}),
        ("log_error", {"logged": False, "error": "disk full"}),
    ],
)
def test_a_complaint_of_the_tool_itself_counts(name: str, result: Any) -> None:
    assert reason_in(result, name=name) is not None


UNPROCESSABLE = {"name": "UNPROCESSABLE_ENTITY", "details": [{"issue": "NOT_APPROVED"}]}
USER_ERRORS = {"userErrors": [{"field": ["price"], "message": "Price is invalid"}]}
FORMS: list[tuple[str, Any, str]] = [
    ("charge_card", {"id": "ch_3", "paid": False, "failure_code": "declined"}, "declined"),
    ("charge_card", {"failure_code": "E1", "failure_message": "No funds"}, "No funds"),
    (
        "create_payment",
        {"status": "requires_payment_method", "last_payment_error": {"code": "declined"}},
        "declined",
    ),
    ("create_payment", {"last_payment_error": {"message": "No funds"}}, "No funds"),
    ("pay", {"id": "P-1", "lastPaymentError": {"at": 3}}, "failed"),
    ("update_issue", {"errorMessages": ["No such issue"], "errors": {}}, "No such issue"),
    ("update_record", [{"errorCode": "NO_ACCESS", "message": "no access"}], "no access"),
    ("refund_orders", [{"ok": False, "error": "too old"}, {"ok": False}], "too old"),
    ("refund_orders", {"results": [{"order": "x", "success": False}]}, "failed"),
    ("refund_orders", {"results": {"A-1": {"ok": False, "error": "too old"}}}, "too old"),
    ("update_product", {"data": {"productUpdate": USER_ERRORS}}, "Price is invalid"),
    (
        "update_product",
        {"data": {"p": {"product": {"id": "x"}, **USER_ERRORS}}},
        "Price is invalid",
    ),
    ("update_product", {"mediaUserErrors": ["Too large"]}, "Too large"),
    ("capture_order", {**UNPROCESSABLE, "debug_id": "a"}, '[{"issue": "NOT_APPROVED"}]'),
    ("capture_order", {**UNPROCESSABLE, "message": "The order was not approved"}, "The order was"),
    ("create_event", {"code": "E_CONFLICT", "detail": "slot taken"}, "slot taken"),
    ("ban_user", {"code": 50013, "message": "Missing Permissions"}, "Missing Permissions"),
    ("ban_user", {"code": 50001, "message": "Missing Access"}, "Missing Access"),
    ("send_email", "550 5.1.1 The account does not exist.", "550 5.1.1 The account"),
    ("send_email", "452-4.2.2 Mailbox full", "452-4.2.2 Mailbox full"),
    ("send_email", "550 No such user here", "550 No such user here"),
    ("send_email", "SMTPRecipientsRefused: {'a@b.co': (550, b'no')}", "SMTPRecipientsRefused"),
    ("http_request", {"status": 404, "body": ""}, "status 404"),
    ("http_post", {"status": 500, "headers": {"a": "b"}, "body": ""}, "status 500"),
    ("http_post", {"status": 403, "reason": "Forbidden", "body": ""}, "Forbidden"),
    ("http_post", "Status: 401\nBody: {}", "Status: 401"),
    ("http_post", "Status: 403 Forbidden", "Status: 403 Forbidden"),
    ("curl", "status=503", "status=503"),
    ("refund_order", {"refund_status": "failed", "refund_id": "RF-1"}, "refund_status: failed"),
    ("issue_refund", {"refundStatus": "Rejected", "reason": "too old"}, "too old"),
    ("process_refund", {"refund_status": "failed"}, "refund_status: failed"),
    ("crm.send_email", {"email_status": "bounced"}, "email_status: bounced"),
    ("transfer", {"executed": False}, "executed: false"),
    ("create_event", "I was unable to create the event because it is full.", "I was unable"),
    ("create_event", "We could not process it, the day is over.", "We could not process it"),
    ("apply_patch", "apply_patch verification failed: no such lines", "apply_patch verification"),
    (
        "create_user",
        {"detail": [{"loc": ["body"], "msg": "No mail", "type": "missing"}]},
        "No mail",
    ),
    ("put_object", {"__type": "AccessDeniedException", "Message": "Not for you"}, "Not for you"),
    ("put_object", {"__type": "a#ThrottlingException"}, "a#ThrottlingException"),
    ("create_po", {"isSuccess": False}, "failed"),
    ("delete_order", "False", "false"),
    (
        "book_visit",
        {
            "resourceType": "OperationOutcome",
            "issue": [{"severity": "error", "diagnostics": "Full"}],
        },
        "Full",
    ),
    (
        "book_visit",
        {
            "resourceType": "OperationOutcome",
            "id": "o1",
            "issue": [{"severity": "warning"}, {"severity": "fatal", "details": {"text": "Down"}}],
        },
        "Down",
    ),
    (
        "book_visit",
        {"resourceType": "OperationOutcome", "issue": [{"severity": "error", "code": "conflict"}]},
        "conflict",
    ),
]


@pytest.mark.parametrize(("name", "result", "reason"), FORMS)
def test_a_widely_used_interface_says_that_a_call_failed(
    name: str, result: Any, reason: str
) -> None:
    told = reason_in(result, name=name, given={"id": "x", "n": 7}.values)
    assert str(told).startswith(reason)


@pytest.mark.parametrize(
    ("name", "result", "reason"), [form for form in FORMS if isinstance(form[1], dict)]
)
@pytest.mark.parametrize("key", ["result", "output", "response"])
def test_it_says_so_where_that_is_all_that_a_result_holds(
    key: str, name: str, result: Any, reason: str
) -> None:
    """As functions for Gemini return what they did, however often it is wrapped."""
    for wrapped in ({key: result}, {"result": {key: result}}):
        told = reason_in(wrapped, name=name, given={"id": "x", "n": 7}.values)
        assert str(told).startswith(reason)


@pytest.mark.parametrize("name", ["send_sms", "add_comment", "save_note", "translate", "ocr"])
@pytest.mark.parametrize("key", ["text", "content"])
def test_a_text_with_a_name_is_what_was_made(key: str, name: str) -> None:
    """What a message says is no failure to send it."""
    result = {"result": {key: "Access denied, please call us"}}
    assert reason_in(result, name=name, given=dict[str, Any]().values) is None


@pytest.mark.parametrize(
    ("name", "given", "result"),
    [
        ("charge_card", {}, {"id": "ch_3", "paid": True, "failure_code": None}),
        ("charge_card", {}, {"paid": True, "failure_code": "x", "status": "paid"}),
        ("charge_card", {}, {"id": "ch_3", "failure_code": "x", "status": "succeeded"}),
        ("open_ticket", {}, {"ticket": "T-1", "failure_code": "x"}),
        ("update_payment", {}, {"id": "pi_1", "last_payment_error": {"code": "x"}}),
        ("confirm_payment", {}, {"status": "requires_action", "last_payment_error": {"code": "x"}}),
        ("create_payment_plan", {"why": "x"}, {"id": "P-1", "failure_code": "x"}),
        ("get_payment", {}, {"id": "pi_1", "failure_code": "x"}),
        ("update_issue", {}, {"key": "A-1", "errorMessages": []}),
        ("create_form", {"why": "Too long"}, {"errorMessages": ["Too long"]}),
        ("create_form", {}, {"id": "F-1", "errorMessages": ["Too long"]}),
        ("create_form", {}, {"form": {"errorMessages": {"a": "Too long"}}}),
        ("list_events", {}, [{"errorCode": "X", "message": "no"}]),
        ("log_errors", {}, [{"errorCode": "X", "message": "no"}]),
        ("create_orders", {}, [{"errorCode": "X", "message": "no", "id": "O-1"}]),
        ("create_orders", {}, [{"success": False}, {"success": True}]),
        ("create_orders", {}, ["a", "b"]),
        ("create_orders", {}, []),
        ("save_results", {}, [{"success": False}]),
        ("send_results", {"ok": False}, [{"ok": False}]),
        ("run_checks", {}, [{"ok": False}]),
        ("create_quiz", {}, [{"question": "x", "ok": False}]),
        ("refund_orders", {}, {"results": [{"ok": False}], "count": 3}),
        ("refund_orders", {}, {"results": "none"}),
        ("update_product", {}, {"data": {"productUpdate": {"userErrors": []}}}),
        ("create_product", {}, {"data": {"p": {"product": {"id": "P-1"}, **USER_ERRORS}}}),
        ("create_product", {}, {"a": {"b": {"c": {"d": USER_ERRORS}}}}),
        ("graphql_query", {}, {"data": USER_ERRORS}),
        ("create_metric", {}, {"name": "PAYMENT_FAILED_RATE", "message": "Rate of payments"}),
        ("create_flag", {"flag": "A_ERROR"}, {"code": "A_ERROR", "message": "On error"}),
        ("create_flag", {}, {"id": "F-1", "code": "A_ERROR", "message": "On error"}),
        ("create_coupon", {}, {"code": "NOT_A_DRILL", "message": "20 percent"}),
        ("create_coupon", {}, {"code": "A_ERROR", "message": "Coupon created"}),
        ("create_coupon", {}, {"code": "A_ERROR_OR_TWO", "message": "20 percent"}),
        ("create_coupon", {}, {"code": "A_ERROR"}),
        ("grant_role", {}, "Missing permissions added"),
        ("send_email", {}, "450 4 guests were mailed"),
        ("search_mail", {}, "550 5.1.1 The account does not exist."),
        ("http_request", {"expect": 404}, {"status": 404, "body": ""}),
        ("http_request", {}, {"status": 204, "body": ""}),
        ("http_request", {}, {"body": ""}),
        ("create_batch", {}, {"status": 450, "pieces": 3}),
        ("create_batch", {}, "Status: 450\n"),
        ("http_post", {}, "Status: 450 pieces"),
        ("update_order", {}, {"order_status": "failed"}),
        ("cancel_payment", {}, {"payment_status": "failed", "refund_status": "rejected"}),
        ("request_refund", {}, {"refund_status": "rejected"}),
        ("refund_order", {}, {"refunded": True, "refund_status": "failed"}),
        ("refund_order", {"to": "failed"}, {"refund_status": "failed"}),
        ("refund_order", {}, {"refund_status": "pending"}),
        ("review_refund", {}, {"review_status": "rejected"}),
        ("run_credit_check", {}, {"check_status": "failed"}),
        ("process_return", {}, {"return_status": "rejected"}),
        ("make_decision", {}, {"decision_status": "declined"}),
        ("schedule_transfer", {}, {"executed": False}),
        ("transfer", {}, {"executed": False, "id": "T-1"}),
        ("transfer", {"executed": False}, {"executed": False}),
        ("evaluate", {}, {"performed": False}),
        ("create_event", {}, "I could not invite Ann, but created the event."),
        ("create_form", {}, {"detail": []}),
        (
            "create_form",
            {},
            {"id": "F-1", "detail": [{"loc": ["body"], "msg": "Hello", "type": "text"}]},
        ),
        ("create_form", {}, {"detail": [{"loc": "top", "msg": "Hello"}]}),
        ("create_form", {}, {"detail": ["loc", "msg", "type"]}),
        ("create_form", {}, {"__type": "Form"}),
        ("create_exception", {}, {"__type": "PriceException"}),
        ("save", {}, {"__type": "PriceException", "objectId": "x", "createdAt": "2026-11-30"}),
        ("create_po", {}, {"isSuccess": True, "error": "none"}),
        *(
            (name, {}, {"resourceType": kind, "issue": [{"severity": how}], **more})
            for name, kind, how, more in (
                ("book_visit", "OperationOutcome", "information", {}),
                ("book_visit", "OperationOutcome", ["error"], {}),
                ("book_visit", "OperationOutcome", "error", {"entry": "made"}),
                ("book_visit", "Ticket", "error", {}),
                ("validate_visit", "OperationOutcome", "error", {}),
            )
        ),
        ("snooze_alert", {}, "nightly_backup failed: disk full"),
        ("create_event", {}, "I was unable to create it on Monday, so created it on Tuesday."),
        ("create_event", {}, "I was unable to invite Ann."),
        ("send_note", {"text": "I was unable to send it."}, "I was unable to send it."),
        ("send_note", {"text": "550 5.1.1 No such user"}, "550 5.1.1 No such user"),
        ("run_agent", {}, "I was unable to run the tests because of A."),
        ("create_event", {}, "I was unable to create the event. " + "Then this came. " * 40),
    ],
)
def test_the_same_of_another_thing_is_no_failure(
    name: str, given: dict[str, Any], result: Any
) -> None:
    """What is looked up, told, set, given or made, and a state that is a later one."""
    assert reason_in(result, name=name, given=given.values) is None


def test_a_command_that_ends_well_is_none_whatever_it_warned_of() -> None:
    said = "ERROR: pip's dependency resolver found a conflict.\nSuccessfully installed foo-1.2"
    assert reason_in(said, name="bash") is None
    assert reason_in(said, name="save_report") is not None
    assert reason_in(said, failed=True, name="bash") is not None
    assert reason_in(f"{said}\nERROR: no space", name="bash") is not None


@pytest.mark.parametrize(
    ("name", "given", "result"),
    [
        ("pay_order", {"id": "A-1"}, {"status": "declined"}),
        ("pay_order", {"to": "decline no offer"}, {"status": "declined"}),
        ("retry_failed_payment", {"id": "A-1"}, {"status": "failed"}),
        ("fail_over", {"db": "A-1"}, {"status": "failed"}),
        ("decline_meeting", {"id": "A-1"}, {"status": "declined", "error": "no such meeting"}),
        ("reject_application", {"id": "A-1"}, {"status": "failed"}),
        ("send_alert", {"level": "error"}, {"status": "error", "message": "No route"}),
        ("stop_job", {"job": "J-1"}, {"status": "failed"}),
        ("start_job", {"job": "J-1"}, {"status": "aborted"}),
    ],
)
def test_another_state_is_a_failure(name: str, given: dict[str, Any], result: Any) -> None:
    assert reason_in(result, name=name, given=given.values) is not None


@pytest.mark.parametrize(
    "text",
    [
        "<a>" * 50_000,
        "Failed " + "a " * 100_000,
        "Failed " + "a" * 200_000,
        "status code " * 20_000,
        "got a status code " * 20_000,
        "the tool " * 20_000,
        " \n" * 100_000,
        "<error " + " " * 200_000,
        "status: 404 " * 20_000,
        "i was unable to send and " * 20_000,
        *(part * 50_000 for part in ("is ", "a b ", "no ", "konnte ", "x: ", "- ", "a'", "no a-")),
    ],
)
def test_only_the_start_of_a_long_text_is_read(text: str) -> None:
    assert quickest(lambda: reason_in(text, name="send_report")) < 0.05


def test_keys_of_any_length_are_read_in_no_time() -> None:
    for key in ("a" * 200_000, "a_" * 100_000, "A_" * 100_000, "not_" * 50_000):
        result = {key: "failed", "code": key, "message": "x"}
        assert quickest(lambda result=result: reason_in(result, name="send_report")) < 0.05


@pytest.mark.parametrize(
    ("name", "given", "result"),
    [
        ("transfer_money", {"amount": 4990}, {"errors": ["no funds"], "transferred": 4990}),
        ("book_table", {"guests": 4}, {"error": "Fully booked", "booked": 40}),
        ("merge_pr", {"pr": 7}, {"error": "conflict", "merged": ["PR-5"]}),
    ],
)
def test_what_there_was_before_or_was_asked_for_is_no_part_that_was_done(
    name: str, given: dict[str, Any], result: dict[str, Any]
) -> None:
    assert reason_in(result, name=name, given=given.values) is not None


def test_an_id_that_is_an_object_is_read_as_any_other() -> None:
    """As in MongoDB's Extended JSON: it was not given, so the call has made what it names."""
    made = {"_id": {"$oid": "66a1f0c2b7d94e5a1c3e8f70"}, "message": "Not found"}
    assert reason_in(made, name="create_order", given=lambda: ["A-1"]) is None
    assert reason_in({**made, "_id": "A-1"}, name="create_order", given=lambda: ["A-1"])
