"""What machines, databases and protocols answer, and what only looks like such an answer."""

from __future__ import annotations

from typing import Any

import pytest

from chatfold.core.failures import reason_in

SOAP = (
    '<env:Envelope xmlns:env="http://www.w3.org/2003/05/soap-envelope"><env:Body><env:Fault>'
    "<env:Code><env:Value>env:Sender</env:Value></env:Code><env:Reason><env:Text>"
    "Processing error</env:Text></env:Reason></env:Fault></env:Body></env:Envelope>"
)
# https://developer.vonage.com/en/api-errors/sms, read 2026-11-29
VONAGE = {
    "message-count": "1",
    "messages": [{"to": "+34600", "status": "4", "error-text": "Invalid credentials"}],
}
REFUSED: list[tuple[str, Any]] = [
    ("relabel_pallet", "NACK 0x15"),
    ("send_sms", "NAK"),
    ("send_command", "NACK: checksum"),
    ("update_subscriber", "ERR-00017: row locked"),
    ("send_sms", "ERR 17"),
    ("send_sms", "[ERR] busy"),
    ("set_key", "-ERR unknown command"),
    ("update_subscriber", "ORA-00054: resource busy and acquire with NOWAIT specified"),
    ("execute_sql", "ORA-01017: invalid username/password; logon denied"),
    ("update_row", "SQLSTATE[23000]: Integrity constraint violation"),
    ("update_row", "Msg 547, Level 16, State 0, Line 1\nThe UPDATE statement conflicted"),
    ("deploy_build", "exit=1"),
    ("deploy_build", "rc=17: device busy"),
    ("start_pump", "FAULT: over temperature"),
    ("engage_pto", "PTO inhibited: operator not in seat"),
    ("lower_boom", "BOOM: interlock active, command ignored"),
    ("move_axis", "Command ignored: interlock active"),
    ("freeze_samples", "Door ajar - cycle not started"),
    ("start_cycle", "Door ajar - cycle not started"),
    ("set_pump", "Pump does not answer."),
    ("dispatch_unit", "M7 does not answer after 3 calls"),
    ("reset_router", "Device did not respond within 30 s."),
    ("reset_router", "No response from device"),
    ("reset_router", "Busy, try again later"),
    ("charge_robot", "AMR-3: docking aborted, charger CH-2 occupied by AMR-9"),
    ("send_sms", "Given up after 3 attempts"),
    ("reset_router", "<soap:Fault><faultcode>Server</faultcode></soap:Fault>"),
    ("reset_router", SOAP),
    ("reset_router", "<reply><rc>17</rc><msg>device unreachable</msg></reply>"),
    ("create_invoice", {"Fault": {"Error": [{"Message": "Duplicate"}], "type": "Validation"}}),
    # By somebody, and in other languages.
    ("pay_invoice", "Payment declined by issuer"),
    ("pay_invoice", "Payment rejected by bank"),
    ("patch_channel", "Patch denied by console 3 (priority user)"),
    ("send_mail", "Message refused by server"),
    ("book_room", "Request rejected by host"),
    ("transfer_money", "Transfer blocked by fraud filter"),
    ("transfer_money", "Transfer blocked by the bank."),
    ("change_plan", "La operación no pudo completarse: permanencia hasta 03/2027"),
    ("change_plan", "El cambio no se pudo realizar"),
    ("change_plan", "La operación ha fallado"),
    ("change_plan", "Operación no permitida."),
    ("change_plan", "L'opération a échoué"),
    ("change_plan", "Opération non autorisée"),
    ("change_plan", "Operazione non riuscita"),
    ("change_plan", "Il pagamento non è riuscito."),
    ("change_plan", "Buchung nicht möglich"),
    ("change_plan", "Die Änderung wurde nicht gespeichert."),
    ("change_plan", "El usuario rechazó la operación"),
    ("change_plan", "L'utilisateur a refusé"),
    ("change_plan", "L'utente ha rifiutato."),
    ("change_plan", "O usuário recusou a operação"),
    ("change_plan", "Der Benutzer hat den Aufruf abgelehnt."),
    ("change_plan", "変更できません"),
    ("change_plan", "エラー: 与信審査が必要です"),
    ("change_plan", "申込みは却下されました"),
    ("change_plan", "リクエストが拒否されました。"),
    ("change_plan", {"status": "却下"}),
    ("set_speed_limit", {"applied": False, "current": 1.2, "message": "locked by supervisor"}),
    ("set_speed_limit", {"applied": False, "reason": "locked"}),
    ("approve_claim", {"claim": "C-1", "decision": "DENIED", "reason": "lapse in cover"}),
    ("authorize_payment", {"decision": "declined"}),
    ("topup", {"result": "NOK", "balance": 3.1}),
    ("send_sms", VONAGE),
    ("send_emails", {"recipients": [{"sent": False}, {"sent": False}]}),
    ("send_emails", {"results": [{"to": "a", "sent": False, "reason": "bounced"}], "total": 1}),
    ("send_sms", {"outcome": "NOK"}),
]

# Names of tools, what they told, and what they were given.
FINE: list[tuple[str, Any, list[Any]]] = [
    # Documents, results of a search, and logs that were read.
    ("read_file", "ORA-00054: resource busy and acquire with NOWAIT specified", []),
    ("fetch_page", "NACK: negative acknowledgement of a protocol", []),
    ("search_docs", "FAULT: a fault is a state of a machine", []),
    ("read_log", "ERR-00017: row locked", []),
    ("get_mail", "No response from device", []),
    ("get_reply", "<reply><rc>17</rc></reply>", []),
    ("bash", "ERR-00017: row locked", ["tail -1 app.log"]),
    ("run_python", "exit=1", []),
    ("ask_user", "Device does not respond", []),
    ("ask_user", "NACK", []),
    ("news", "The minister did not answer", []),
    ("kb_article", "No reply from the vendor as yet", []),
    ("foo", "ORA-00054: resource busy. " + "How to find the session that holds it. " * 10, []),
    # Reports, and what was given.
    ("create_ticket", "ORA-00054 filed as T-12", []),
    ("create_ticket", "ERR-00017: row locked", ["ERR-00017: row locked"]),
    ("add_note", "Device does not respond", []),
    ("log_fault", "FAULT: over temperature", []),
    ("record_outcome", "Customer did not answer", []),
    ("call_customer", "Customer did not answer. Left a voicemail.", []),
    ("nack_message", "NACK", []),
    ("inhibit_alarm", "Alarm 4 inhibited", []),
    ("abort_mission", "M-4: mission aborted, robot parked", []),
    ("clear_fault", "FAULT: cleared", []),
    ("create_job", "Job 12: not started", []),
    # What was denied as it was to be, or beside a deed; and what is told of something else.
    ("reject_request", "Request rejected by Kim", []),
    ("draft_email", "Payment rejected by bank: please update your card", []),
    ("generate_text", "No response from device.", []),
    ("deny_claim", "Claim denied by adjuster 4", []),
    ("record_decision", "Application rejected by the committee. Decision recorded.", []),
    ("set_outcome", "Application rejected by the committee", ["rejected"]),
    ("get_claim", "Claim denied by insurer", []),
    ("search_news", "Merger blocked by the EU", []),
    ("create_task", "T-4 blocked by T-2", []),
    ("link_issues", "Issue 4 is blocked by issue 7", []),
    ("block_sender", "Sender blocked by rule 4", []),
    ("send_email", "3 emails sent, 1 rejected by server", []),
    ("rechazar_solicitud", "Solicitud rechazada", []),
    ("crear_ticket", "El ticket dice que no se pudo pagar", []),
    ("crear_ticket", "Ticket T-1 creado: la operación no pudo completarse", []),
    ("cancelar_cita", "El cliente no pudo presentarse", []),
    ("cancelar_cita", "El usuario canceló la cita", []),
    ("reservar", "Reserva hecha. La operación no pudo deshacerse.", []),
    ("reservar", "Habitación no fumadores reservada", []),
    ("leer_correo", "La operación no pudo completarse", []),
    ("creer_ticket", "Le ticket signale que le paiement a échoué", []),
    ("creer_ticket", "Un rapport sur ce qui a échoué est enregistré", []),
    ("envoyer_rapport", "Le rapport sur les paiements échoués est envoyé", []),
    ("reservieren", "Gebucht. Stornierung nicht möglich", []),
    ("reservieren", "Der Termin wurde nicht gespeichert, sondern gleich gebucht.", []),
    ("bestellen", "Rückgabe nicht möglich. Bestellung 55 aufgegeben.", []),
    ("commander", "Le paiement par carte a échoué. Commande 55 créée.", []),
    ("crea_nota", "Nota creata: operazione non riuscita", []),
    ("book_hotel", "予約番号 R-5512 この予約はキャンセルできません", []),
    ("book_hotel", "予約しました。この予約はキャンセルできません。", []),
    ("reject_request", "申請は却下されました", []),
    ("create_note", "「変更できません」と記録しました", []),
    ("run_checks", "エラー: 0", []),
    ("fetch_page", "変更できません", []),
    # Codes that tell that all went well, and what is no code.
    ("update_row", "ORA-0000: normal, successful completion", []),
    ("update_row", "Msg 5701, Level 10, State 1: Changed database context", []),
    ("send_sms", "ERR: 0", []),
    ("send_sms", "ERR none", []),
    ("send_sms", "Err on the side of caution", []),
    ("send_sms", "ACK", []),
    ("deploy_build", "exit=0", []),
    ("deploy_build", "rc=0: done", []),
    ("create_ticket", "INC-2231: opened", []),
    ("create_order", "ORD-00054: placed", []),
    ("reset_router", "<reply><rc>0</rc></reply>", []),
    ("sync_devices", "<all><d><rc>0</rc></d><d><rc>17</rc></d></all>", []),
    ("upload_schema", "<schema><Fault>ok</Fault></schema>", []),
    ("send_email", "Sent. No response from the gateway is expected.", []),
    ("send_email", "No reply needed.", []),
    ("restart_job", "J-4: aborted, restarted as J-5", []),
    # Objects.
    ("set_speed_limit", {"applied": False, "message": "Takes effect at the next start"}, []),
    ("add_todo", {"done": False, "message": "Buy milk"}, []),
    ("add_rule", {"applied": False, "message": "Rule saved"}, []),
    ("add_note", {"applied": False, "message": "locked"}, []),
    ("create_rule", {"id": "r-5", "applied": False, "message": "for the night"}, []),
    ("submit_claim", {"claim": "C-1", "decision": "DENIED"}, []),
    ("deny_claim", {"decision": "DENIED"}, []),
    ("adjudicate_claim", {"decision": "DENIED", "reason": "lapse"}, []),
    ("approve_claim", {"decision": "approved"}, []),
    ("set_currency", {"result": "NOK"}, ["NOK"]),
    ("send_sms", {"messages": [{"status": "0", "message-id": "0C"}], "message-count": "1"}, []),
    ("send_sms", {"messages": [{"message_id": "0C", "error-text": "slow"}]}, []),
    ("send_sms", {"messages": [{"error": "busy"}, {"status": "0"}]}, []),
    ("send_sms", {"messages": [{"error": "busy"}], "queued": 3}, []),
    ("send_emails", {"recipients": [{"to": "a", "sent": False, "at": "9:00"}]}, ["a"]),
    ("send_emails", {"messages": [{"id": "m1", "sent": False}]}, []),
    ("send_emails", {"rejected": [{"to": "a", "error": "bad"}]}, []),
    ("import_rows", {"rows": [{"row": 3, "error": "bad"}]}, []),
    ("report_errors", {"messages": [{"error": "busy"}]}, []),
    ("create_rules", {"items": [{"name": "x", "error": "too low"}]}, ["x", "too low"]),
    ("get_messages", {"messages": [{"error": "busy"}]}, []),
    ("local_currency", {"result": "NOK", "country": "Norway"}, []),
    ("exchange_money", {"result": "NOK", "amount": 20}, ["EUR", "NOK"]),
    ("country", {"result": "NOK"}, []),
]


@pytest.mark.parametrize(("name", "result"), REFUSED)
def test_an_answer_that_refuses_is_a_failure(name: str, result: Any) -> None:
    assert reason_in(result, name=name) is not None


@pytest.mark.parametrize(("name", "result", "given"), FINE)
def test_what_only_looks_like_such_an_answer_is_none(
    name: str, result: Any, given: list[Any]
) -> None:
    assert reason_in(result, name=name, given=lambda: given) is None


def test_the_reason_is_what_the_answer_says() -> None:
    assert reason_in("<reply><rc>17</rc><msg>unreachable</msg></reply>", name="reset_router") == (
        "unreachable"
    )
    denied = {"decision": "DENIED", "reason": "lapse in cover"}
    assert reason_in(denied, name="approve_claim") == "lapse in cover"
    assert reason_in({"result": "NOK", "balance": 3}, name="topup") == "result: NOK"


DONE: list[tuple[str, Any]] = [  # what a hostile reader found told as failed
    ("create_domain", "<ReturnCode>1000</ReturnCode><msg>Command completed successfully</msg>"),
    ("place_order", "<rc>200</rc><message>OK</message>"),
    ("send_sms", {"messages": [{"delivered": True, "error": "No error"}]}),
    ("send_sms", {"messages": [{"status": "sent", "error": "none"}]}),
    ("send_sms", {"messages": [{"status": "sent", "error-text": "Success"}]}),
    ("enable_disable_users", [{"id": 1, "enabled": False}]),
    ("toggle_pin", [{"id": 1, "pinned": False}]),
    ("approve_or_reject", {"decision": "rejected"}),
    ("place_order", {"status": "placed", "applied": False, "message": "coupon expired"}),
    ("create_inspection", {"result": "NOK", "id": "INS-12"}),
    ("cancel_card", "Card blocked by the issuer."),
    ("stop_payment", "Payment blocked by issuer"),
    ("add_rule", "IP 10.0.0.1 blocked by firewall rule 12"),
    ("cancel_upload", "Upload aborted, cleaned up"),
    ("disable_pump", "Pump 3 inhibited"),
    ("open_ticket", "ERR-2231 created"),
    ("translator", "Command ignored"),
]


@pytest.mark.parametrize(("name", "result"), DONE)
def test_what_was_done_as_asked_has_not_failed(name: str, result: Any) -> None:
    """Who is told that it failed does it again."""
    assert reason_in(result, name=name) is None
