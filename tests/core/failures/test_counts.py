"""Results that say that a call went well and came to nothing, and which only look as if."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from chatfold import ChatContext
from chatfold.core.call_json import leaves_of
from chatfold.core.failures import reason_in
from chatfold.core.failures.not_done import parts_not_done

NOTHING: list[tuple[str, dict[str, Any], Any, str]] = [
    ("cancel_order", {"order": "O-17"}, {"cancelled": 0}, "cancelled: 0"),
    ("refund_purchase", {"id": "O-17"}, {"refunded": 0}, "refunded: 0"),
    ("delete_customer", {"id": "C-1"}, {"deletedCount": 0, "ok": 1}, "deletedCount: 0"),
    ("delete_rows", {"table": "carts", "ids": [3, 4]}, {"deleted": 0}, "deleted: 0"),
    ("delete_records", {"filter": "status=old"}, {"deleted_count": 0}, "deleted_count: 0"),
    (
        "delete_documents",
        {"filter": {"a": 1}},
        {"acknowledged": True, "deletedCount": 0},
        "deletedCount: 0",
    ),
    (
        "update_many",
        {"filter": {"a": 1}, "set": {"b": 2}},
        {
            "acknowledged": True,
            "insertedId": None,
            "matchedCount": 0,
            "modifiedCount": 0,
            "upsertedCount": 0,
        },
        "modifiedCount: 0, upsertedCount: 0",
    ),
    ("update_customers", {"tag": "vip"}, {"updated_count": 0, "matched": 0}, "updated_count: 0"),
    ("send_emails", {"to": ["a@x.co", "b@x.co", "c@x.co"]}, {"sent": 0, "failed": 3}, "sent: 0"),
    ("cancel_orders", {"customer": "C-1"}, {"success": True, "cancelled": 0}, "cancelled: 0"),
    (
        "cancel_orders",
        {"customer": "C-1"},
        {"success": True, "cancelled_count": 0, "message": "No orders matched"},
        "cancelled_count: 0, No orders matched",
    ),
    (
        "archive_tickets",
        {"older_than": "30d"},
        {"status": "ok", "archived": 0, "total": 0},
        "archived: 0",
    ),
    ("import_contacts", {"file": "a.csv"}, {"imported": 0, "skipped": 12}, "imported: 0"),
    (
        "import_contacts",
        {"file": "a.csv"},
        {"created": 0, "updated": 0, "skipped": 12},
        "created: 0",
    ),
    ("execute_sql", {"sql": "DELETE FROM t WHERE id=9"}, {"rows_affected": 0}, "rows_affected: 0"),
    (
        "execute_sql",
        {"sql": "UPDATE t SET a=1 WHERE id=9"},
        {"affected_rows": 0},
        "affected_rows: 0",
    ),
    (
        "execute_sql",
        {"sql": "UPDATE t SET a=1 WHERE id=9"},
        {"affectedRows": 0, "insertId": 0, "warningStatus": 0},
        "affectedRows: 0",
    ),
    (
        "execute_sql",
        {"sql": "UPDATE t SET a=1 WHERE id=9"},
        {"rowCount": 0, "command": "UPDATE", "rows": []},
        "rowCount: 0",
    ),
    ("execute_sql", {"sql": "UPDATE t SET a=1 WHERE id=9"}, {"rowcount": 0}, "rowcount: 0"),
    (
        "execute_sql",
        {"sql": "UPDATE t SET a=1 WHERE id=9"},
        {"changes": 0, "lastInsertRowid": 0},
        "changes: 0",
    ),
    (
        "execute_sql",
        {"sql": "DELETE FROM t WHERE id=9"},
        "Query OK, 0 rows affected (0.00 sec)",
        "Query OK, 0 rows affected (0.00 sec)",
    ),
    ("execute_sql", {"sql": "DELETE FROM t WHERE id=9"}, "DELETE 0", "DELETE 0"),
    ("execute_sql", {"sql": "UPDATE t SET a=1 WHERE id=9"}, "UPDATE 0", "UPDATE 0"),
    ("execute_sql", {"sql": "INSERT INTO t SELECT 1 WHERE false"}, "INSERT 0 0", "INSERT 0 0"),
    ("execute_sql", {"sql": "DELETE FROM t WHERE id=9"}, "0 rows affected", "0 rows affected"),
    ("execute_sql", {"sql": "DELETE FROM t WHERE id=9"}, "(0 rows affected)", "(0 rows affected)"),
    (
        "execute_sql",
        {"sql": "DELETE FROM t WHERE id=9"},
        "Query executed successfully. 0 rows affected.",
        "Query executed successfully. 0 rows affected.",
    ),
    (
        "execute_sql",
        {"sql": "DELETE FROM t WHERE id=9"},
        "Success: 0 row(s) deleted",
        "Success: 0 row(s) deleted",
    ),
    ("execute_sql", {"sql": "DELETE FROM t WHERE id=9"}, "Rows affected: 0", "Rows affected: 0"),
    ("move_files", {"n": 2}, {"moved": 0, "conflicts": 2}, "moved: 0"),
    ("move_files", {"n": 2}, {"filesMoved": 0}, "filesMoved: 0"),
    ("remove_tag", {"tag": "x"}, {"itemsUpdated": 0}, "itemsUpdated: 0"),
    (
        "apply_labels",
        {"query": "from:x", "label": "L"},
        {"messages_modified": 0},
        "messages_modified: 0",
    ),
    ("assign_seats", {"n": 2}, {"assigned_seats": [], "assigned": 0}, "assigned: 0"),
    ("send_emails", {"to": ["a", "b"]}, "0 of 2 emails sent", "0 of 2 emails sent"),
    ("send_emails", {"to": ["a", "b"]}, "Sent 0 of 2 emails.", "Sent 0 of 2 emails."),
    ("send_emails", {"to": ["a", "b"]}, "0/2 sent", "0/2 sent"),
    ("send_emails", {"n": 5}, "5 of 5 failed", "5 of 5 failed"),
    ("send_emails", {"n": 5}, "All 5 emails failed", "All 5 emails failed"),
    ("delete_messages", {"q": "x"}, "Deleted 0 messages.", "Deleted 0 messages."),
    (
        "delete_messages",
        {"q": "x"},
        "Successfully deleted 0 messages.",
        "Successfully deleted 0 messages.",
    ),
    ("delete_messages", {"q": "x"}, "0 messages deleted", "0 messages deleted"),
    ("delete_messages", {"q": "x"}, "No messages deleted.", "No messages deleted."),
    (
        "delete_messages",
        {"q": "x"},
        "No messages matched; nothing deleted.",
        "No messages matched; nothing deleted.",
    ),
    ("update_rows", {"q": "x"}, "Updated 0 records", "Updated 0 records"),
    ("update_rows", {"q": "x"}, "0 records were updated.", "0 records were updated."),
    ("update_rows", {"q": "x"}, "No rows were updated", "No rows were updated"),
    ("update_rows", {"q": "x"}, "No changes.", "No changes."),
    (
        "replace_in_file",
        {"file": "a.py", "old": "x", "new": "y"},
        "Replaced 0 occurrences",
        "Replaced 0 occurrences",
    ),
    (
        "replace_in_file",
        {"file": "a.py", "old": "x", "new": "y"},
        {"replacements": 0},
        "replacements: 0",
    ),
    ("edit_file", {"file": "a.py"}, {"changes": 0}, "changes: 0"),
    ("buchungen_loeschen", {"q": "x"}, "0 Buchungen gelöscht", "0 Buchungen gelöscht"),
    (
        "buchungen_loeschen",
        {"q": "x"},
        "Es wurden 0 Buchungen gelöscht.",
        "Es wurden 0 Buchungen gelöscht.",
    ),
    ("buchungen_loeschen", {"q": "x"}, "Keine Buchungen gelöscht.", "Keine Buchungen gelöscht."),
    ("supprimer_rdv", {"q": "x"}, "0 rendez-vous supprimés", "0 rendez-vous supprimés"),
    ("supprimer_rdv", {"q": "x"}, "Aucun rendez-vous supprimé.", "Aucun rendez-vous supprimé."),
    ("eliminar_citas", {"q": "x"}, "0 citas eliminadas", "0 citas eliminadas"),
    ("eliminar_citas", {"q": "x"}, "Se eliminaron 0 citas", "Se eliminaron 0 citas"),
    ("eliminar_citas", {"q": "x"}, {"eliminados": 0}, "eliminados: 0"),
    ("buchungen_loeschen", {"q": "x"}, {"geloescht": 0}, "geloescht: 0"),
    (
        "es_delete_by_query",
        {"q": "x"},
        {
            "took": 7,
            "timed_out": False,
            "total": 0,
            "deleted": 0,
            "batches": 0,
            "version_conflicts": 0,
            "failures": [],
        },
        "deleted: 0",
    ),
    (
        "es_update_by_query",
        {"q": "x"},
        {"took": 7, "timed_out": False, "total": 0, "updated": 0, "failures": []},
        "updated: 0",
    ),
    ("run_command", {"command": 'psql -c "DELETE FROM t"'}, "DELETE 0", "DELETE 0"),
    ("delete_user", {"id": "u1"}, {"id": "u1", "deleted": 0}, "deleted: 0"),
    ("lock_door", {"c": "x"}, {"locked": 0}, "locked: 0"),
    ("add_items", {"cart": "c"}, {"added": 0, "out_of_stock": 3}, "added: 0"),
    (
        "execute_sql",
        {"sql": "BEGIN; UPDATE t SET a=1 WHERE b=2; COMMIT"},
        "BEGIN\nUPDATE 0\nCOMMIT",
        "BEGIN",
    ),
    (
        "run_query",
        {"query": "DELETE FROM carts WHERE id = 7"},
        "Query executed. Rows affected: 0",
        "Query executed. Rows affected: 0",
    ),
    (
        "run_query",
        {"query": "DELETE FROM carts WHERE id = 7"},
        {"success": True, "rowsAffected": 0, "executionTimeMs": 12},
        "rowsAffected: 0",
    ),
    (
        "mcp__db__execute",
        {"sql": "UPDATE a SET b=1 WHERE c=2"},
        [{"type": "text", "text": '{"rowCount": 0}'}],
        "rowCount: 0",
    ),
    ("supabase_delete", {"table": "x"}, {"data": {"deleted": 0}}, "deleted: 0"),
    (
        "firestore_batch_delete",
        {"c": "x"},
        {"deletedCount": 0, "collection": "x", "durationMs": 17},
        "deletedCount: 0",
    ),
    (
        "graph_remove_members",
        {"g": "x"},
        {"removed": 0, "requested": 3, "message": "No matching members"},
        "removed: 0, No matching members",
    ),
    (
        "gmail_batch_archive",
        {"q": "from:x"},
        {"archived": 0, "query": "from:x", "took": "12ms"},
        "archived: 0",
    ),
    ("close_tabs", {"q": "x"}, "No tabs were closed.", "No tabs were closed."),
    ("close_tabs", {"q": "x"}, "Closed 0 tabs", "Closed 0 tabs"),
    ("unsubscribe_users", {"q": "x"}, "Unsubscribed 0 users", "Unsubscribed 0 users"),
    ("cancel_jobs", {"q": "x"}, "0 jobs cancelled.", "0 jobs cancelled."),
    ("cancel_jobs", {"q": "x"}, "Done. 0 jobs cancelled.", "Done. 0 jobs cancelled."),
    (
        "cancel_jobs",
        {"q": "x"},
        "Finished: 0 out of 14 jobs cancelled, 14 failed",
        "Finished: 0 out of 14 jobs cancelled, 14 failed",
    ),
    ("notify_users", {"q": "x"}, "No users notified", "No users notified"),
    ("assign_tickets", {"q": "x"}, "Zero tickets assigned.", "Zero tickets assigned."),
    ("purge_logs", {"q": "x"}, "Purged 0 log entries", "Purged 0 log entries"),
    ("purge_logs", {"q": "x"}, "0 log entries purged in 0.12s", "0 log entries purged in 0.12s"),
]
DONE: list[tuple[str, dict[str, Any], Any]] = [
    ("cancel_and_refund_order", {"order": "LK-5"}, {"success": True, "refunded": 0}),
    ("change_plan_and_charge", {"plan": "pro"}, {"plan": "pro", "charged": 0}),
    ("send_campaign", {"list": "all"}, {"status": "ok", "recipients": 350, "sent": 0}),
    ("upsert_rows", {"table": "prices"}, {"updated": 0, "inserts": 40}),
    ("send_emails", {}, {"sent": 0, "in_progress": 3}),
    (
        "run_sql",
        {"query": "UPDATE orders SET paid = 1 WHERE id = 7; DELETE FROM drafts WHERE id = 7"},
        {"rowcount": 0},
    ),
    ("run_sql", {"query": "BEGIN; UPDATE a SET b = 1; COMMIT;"}, {"rows_affected": 0}),
    ("delete_rows", {"table": "a"}, {"deleted": 0, "message": "3 rows were purged and deleted"}),
    ("add_or_update_row", {"table": "a"}, {"updated": 0}),
    ("read_log", {"name": "db"}, "DELETE 0"),
    ("execute_sql", {"sql": "CREATE TABLE a (b int); UPDATE t SET a = 1"}, {"affected_rows": 0}),
    ("deliver_package", {"package": "a"}, {"delivered": 0, "status": "in_transit"}),
    ("sell_stock", {"stock": "ACME"}, {"sold": 0, "status": "open"}),
    ("send_message", {"to": "a"}, {"ok": True, "sent": 0, "queued": 1}),
    ("update_profile", {"name": "Ann"}, {"profile": {"name": "Ann"}, "updated": 0}),
    ("delete_event", {"id": 5}, "No attendees were notified. Event deleted."),
    ("upsert_records", {"file": "a"}, "0 inserted, 2 updated"),
    ("lock_unlock_door", {"door": "a"}, {"locked": 0}),
    ("refund_order", {"order": "A"}, {"refund_id": "R-1", "refunded": 0}),
    ("refund_order", {"order": "A"}, {"refund": {"at": "now"}, "refunded": 0}),
    (
        "update_one",
        {"filter": {"_id": "x"}},
        {"acknowledged": True, "matchedCount": 1, "modifiedCount": 0, "upsertedId": None},
    ),
    (
        "update_one",
        {"filter": {"_id": "x"}},
        {
            "acknowledged": True,
            "matchedCount": 0,
            "modifiedCount": 0,
            "upsertedCount": 1,
            "upsertedId": "65f",
        },
    ),
    (
        "replace_one",
        {"filter": {"_id": "x"}},
        {"acknowledged": True, "matchedCount": 1, "modifiedCount": 1},
    ),
    ("send_emails", {"to": ["a@x.co"]}, {"sent": 1, "failed": 0}),
    ("send_emails", {"to": ["a@x.co"]}, {"sent": 1, "errors": 0}),
    ("import_contacts", {"file": "a.csv"}, {"created": 0, "updated": 12}),
    ("sync_contacts", {"list": "L-1"}, {"added": 0, "removed": 3, "unchanged": 200}),
    ("sync_contacts", {"list": "L-1"}, {"added": 0, "removed": 0, "unchanged": 200}),
    ("execute_sql", {"sql": "UPDATE t SET a=1 WHERE id=9"}, {"changes": 1, "lastInsertRowid": 0}),
    (
        "execute_sql",
        {"sql": "INSERT INTO t VALUES (1)"},
        {"affectedRows": 1, "insertId": 7, "warningStatus": 0},
    ),
    (
        "execute_sql",
        {"sql": "CREATE TABLE t (a int)"},
        {"rowCount": 0, "command": "CREATE", "rows": []},
    ),
    ("execute_sql", {"sql": "CREATE TABLE t (a int)"}, {"affectedRows": 0}),
    ("execute_sql", {"sql": "ALTER TABLE t ADD b int"}, "Query OK, 0 rows affected (0.02 sec)"),
    (
        "execute_sql",
        {"sql": "UPDATE t SET a=1 WHERE id=9"},
        "Query OK, 0 rows affected (0.01 sec)\nRows matched: 1  Changed: 0  Warnings: 0",
    ),
    (
        "execute_sql",
        {"sql": "UPDATE t SET a=1"},
        "Query OK, 4 rows affected (0.01 sec)\nRows matched: 4  Changed: 4  Warnings: 0",
    ),
    ("execute_sql", {"sql": "INSERT INTO t VALUES (1)"}, "INSERT 0 1"),
    ("execute_sql", {"sql": "UPDATE t SET a=1; DELETE FROM u"}, "UPDATE 3\nDELETE 0"),
    ("create_user", {"name": "Ann"}, {"id": 17, "name": "Ann", "deleted": 0, "blocked": 0}),
    ("create_account", {"name": "Ann"}, {"account": "A-7", "balance": 0}),
    ("pay_invoice", {"invoice": "I-1"}, {"invoice": "I-1", "remaining": 0}),
    (
        "pay_invoice",
        {"invoice": "I-1", "amount": 10},
        {"paid": 10, "due": 0, "amount_remaining": 0},
    ),
    ("use_voucher", {"code": "X1"}, {"remaining": 0}),
    ("redeem_points", {"points": 200}, {"points_balance": 0, "redeemed": 200}),
    ("delete_rows", {"ids": [3]}, {"deleted": 1, "errors": 0, "skipped": 0}),
    ("run_command", {"command": "make install"}, {"exit_code": 0, "output": "ok"}),
    ("create_coupon", {"code": "A"}, {"code": "A", "used": 0, "redeemed": 0, "max": 10}),
    ("create_job", {"q": "x"}, {"job": "J-1", "processed": 0, "total": 100, "status": "queued"}),
    ("create_list", {"name": "VIP"}, {"list_id": "L-3", "members": 0, "sent": 0}),
    ("create_campaign", {"name": "May"}, {"id": "cmp_1", "emails_sent": 0, "status": "save"}),
    ("publish_post", {"text": "hi"}, {"id": "p1", "likes": 0, "shares": 0, "comments": 0}),
    ("publish_product", {"id": "p1"}, {"published": True, "sold": 0, "views": 0}),
    ("mark_read", {"folder": "in"}, {"unread": 0}),
    ("clear_cart", {"cart": "c1"}, {"items": 0, "total": 0}),
    ("clear_cart", {"cart": "c1"}, {"count": 0}),
    ("empty_trash", {}, {"remaining": 0, "deleted": 14}),
    ("reset_counter", {"name": "a"}, {"count": 0}),
    ("set_brightness", {"level": 0}, {"level": 0, "ok": True}),
    ("move_files", {"n": 2}, {"moved": 2, "conflicts": 0}),
    ("process_orders", {"n": 5}, "Processed 5 orders, 0 failed"),
    ("update_rows", {"q": "x"}, "Updated 10 records"),
    ("update_rows", {"q": "x"}, "Updated 120 records (0 errors)."),
    ("update_price", {"p": 0}, "Updated price to 0"),
    ("update_version", {"p": 0}, "Updated 0.9 to 1.0"),
    (
        "bulk_index",
        {"docs": [1]},
        {
            "took": 3,
            "errors": False,
            "items": [{"index": {"_id": "1", "status": 201, "result": "created"}}],
        },
    ),
    (
        "es_update",
        {"id": "x"},
        {
            "_index": "a",
            "_id": "x",
            "result": "noop",
            "_shards": {"total": 0, "successful": 0, "failed": 0},
        },
    ),
    (
        "es_update",
        {"id": "x"},
        {
            "_index": "a",
            "_id": "x",
            "result": "updated",
            "_shards": {"total": 2, "successful": 1, "failed": 0},
        },
    ),
    (
        "put_events",
        {"entries": [{"a": 1}]},
        {"FailedEntryCount": 0, "Entries": [{"EventId": "e1"}]},
    ),
    (
        "charge_card",
        {"amount": 100},
        {"id": "ch_1", "status": "succeeded", "amount_refunded": 0, "refunded": False},
    ),
    ("refund_payment", {"id": "ch_1"}, {"id": "re_1", "status": "succeeded", "amount": 100}),
    (
        "send_push",
        {"n": 1},
        {
            "multicast_id": 1,
            "success": 1,
            "failure": 0,
            "canonical_ids": 0,
            "results": [{"message_id": "0:1"}],
        },
    ),
    (
        "run_command",
        {"command": "git commit -m x"},
        "[main 3f2a] x\n 1 file changed, 0 insertions(+), 3 deletions(-)",
    ),
    (
        "run_command",
        {"command": "apt-get install -y jq"},
        "0 upgraded, 1 newly installed, 0 to remove and 5 not upgraded.",
    ),
    (
        "run_command",
        {"command": "terraform apply -auto-approve"},
        "Apply complete! Resources: 1 added, 0 changed, 0 destroyed.",
    ),
    (
        "terraform_apply",
        {"dir": "x"},
        "Apply complete! Resources: 0 added, 0 changed, 0 destroyed.",
    ),
    (
        "run_command",
        {"command": "npm install x"},
        "up to date, audited 12 packages in 1s\n\nfound 0 vulnerabilities",
    ),
    (
        "run_command",
        {"command": "npm install x"},
        "added 3 packages, and audited 12 packages in 1s\n\nfound 0 vulnerabilities",
    ),
    (
        "run_command",
        {"command": "ansible-playbook x.yml"},
        "web : ok=3 changed=2 unreachable=0 failed=0 skipped=0",
    ),
    ("run_tests", {"p": "x"}, {"passed": 12, "failed": 0}),
    ("deploy", {"env": "prod"}, {"version": 3, "errors": [], "warnings": 0}),
    ("scale_deployment", {"name": "web", "replicas": 0}, {"replicas": 0, "readyReplicas": 0}),
    ("scale_deployment", {"name": "web", "replicas": 3}, {"replicas": 3, "readyReplicas": 0}),
    ("restart_service", {"name": "web"}, {"restarted": True, "restarts": 0}),
    ("create_table", {"name": "t"}, {"created": True, "rows": 0}),
    ("book_room", {"room": "1"}, {"booking": "B-1", "cancelled": 0, "price": 0}),
    ("update_settings", {"retries": 0}, {"updated": True, "retries": 0}),
    ("update_stock", {"sku": "a", "qty": 0}, {"sku": "a", "qty": 0, "updated": 1}),
    ("update_user", {"id": "u1", "deleted": 0}, {"id": "u1", "deleted": 0}),
    (
        "update_user",
        {"id": "u1", "name": "x"},
        {"id": "u1", "name": "x", "deleted": 0, "updated": "2026-01-01"},
    ),
    ("restore_user", {"id": "u1"}, {"id": "u1", "deleted": 0}),
    ("undelete_message", {"id": "u1"}, {"id": "u1", "deleted": 0}),
    ("enable_feature", {"f": "x"}, {"f": "x", "disabled": 0}),
    ("disable_feature", {"f": "x"}, {"f": "x", "enabled": 0}),
    ("unblock_card", {"c": "x"}, {"blocked": 0}),
    ("unlock_door", {"c": "x"}, {"locked": 0}),
    ("start_import", {"f": "a"}, {"import_id": "i1", "imported": 0, "status": "running"}),
    ("start_import", {"f": "a"}, {"imported": 0, "status": "running", "total": 50}),
    ("send_campaign", {"c": "a"}, {"campaign": "a", "sent": 0, "queued": 120}),
    ("enqueue_emails", {"n": 5}, {"queued": 5, "sent": 0}),
    ("schedule_posts", {"n": 5}, {"scheduled": 5, "published": 0}),
    ("upload_files", {"n": 2}, {"uploaded": 2, "replaced": 0, "failed": 0}),
    ("add_items", {"cart": "c"}, {"added": 2, "out_of_stock": 0, "backordered": 0}),
    ("delete_rows", {"t": "a"}, "Deleted 10 rows."),
    ("delete_rows", {"t": "a"}, "Deleted 3 rows, 0 errors."),
    ("delete_rows", {"t": "a"}, "3 rows deleted; 0 rows remaining"),
    ("delete_rows", {"t": "a"}, "Deleted. 0 rows remaining."),
    ("delete_rows", {"t": "a"}, "Rows deleted: 3, 0 failed"),
    ("delete_row", {"id": 0}, "Row 0 deleted"),
    ("delete_row", {"id": 0}, "Deleted row 0"),
    ("delete_row", {"id": "0"}, {"deleted": 0}),
    ("delete_item", {"index": 0}, "Item 0 removed."),
    ("remove_item", {"index": 0}, "Removed item 0."),
    ("remove_item", {"i": 1}, "Item removed. 0 items left in cart."),
    ("remove_item", {"i": 1}, "Removed. No items left."),
    ("update_record", {"id": 5}, "Record updated. No warnings."),
    ("update_record", {"id": 5}, "Record 5 updated, no errors"),
    ("update_record", {"id": 5}, "Updated record; nothing else was changed."),
    ("update_stock", {"sku": "A", "qty": 0}, "Stock updated to 0."),
    ("update_stock", {"sku": "A"}, "Stock of A updated: 0"),
    ("update_counts", {"sku": "A"}, "Updated counts: 0"),
    ("set_volume", {"v": 0}, "Volume set to 0"),
    ("set_volume", {"v": 0}, {"volume": 0}),
    ("send_email", {"to": "a"}, "Email sent, 0 attachments."),
    ("send_email", {"to": "a"}, "Email sent with no attachments."),
    ("send_email", {"to": "a"}, "Email sent to 1 recipient, 0 bounced"),
    ("send_email", {"to": "a"}, {"id": "m1", "sent": 1, "bounced": 0}),
    ("send_invoice", {"n": "I-0"}, "Invoice I-0 sent"),
    ("send_emails", {"n": 3}, "All 3 emails sent, none failed"),
    ("send_emails", {"n": 3}, "None of the emails failed."),
    ("send_emails", {"n": 3}, "No emails failed."),
    ("send_emails", {"n": 3}, "0 of 3 emails failed"),
    ("send_emails", {"n": 3}, "0/3 failed"),
    ("send_emails", {"n": 3}, "3/3 sent, 0 failed"),
    ("move_files", {"n": 3}, "Moved 3 files (0 skipped)"),
    ("move_files", {"n": 3}, "Files moved: 3\nFiles skipped: 0"),
    ("cancel_order", {"id": "A"}, "Order cancelled. Refund: 0 EUR"),
    ("cancel_order", {"id": "A"}, "Order cancelled at no cost."),
    ("cancel_order", {"id": "A"}, {"order": "A", "cancelled": True, "fee": 0, "refunded": 0}),
    ("cancel_order", {"id": "A"}, {"order": "A", "status": "cancelled", "items_cancelled": 0}),
    ("cancel_order", {"id": "A"}, {"order": "A", "status": "cancelled", "refunded": 0, "fee": 0}),
    (
        "cancel_subscription",
        {"id": "A"},
        {"id": "A", "status": "active", "cancel_at_period_end": True, "cancelled": 0},
    ),
    ("cancel_subscription", {"id": "A"}, {"cancel_at_period_end": True, "cancelled": 0}),
    ("refund_order", {"id": "A"}, {"refund_id": "R-1", "refunded": 0, "status": "processing"}),
    ("create_order", {"x": 1}, {"order": "O-17", "created": 0}),
    ("create_team", {"name": "X"}, {"name": "X", "members_added": 0}),
    ("add_customer", {"name": "Ann"}, {"name": "Ann", "points_added": 0}),
    ("apply_discount", {"code": "X"}, {"total": 40, "applied": True, "items_changed": 0}),
    ("apply_coupon", {"code": "X"}, {"code": "X", "discount_applied": 0, "valid": True}),
    ("merge_contacts", {"a": 1, "b": 2}, {"merged_into": "C-1", "updated": 0}),
    ("merge_pr", {"n": 1}, {"sha": "3fa99b1", "merged": True, "files_changed": 0}),
    ("git_commit", {"m": "x"}, "[main 3fa99b1] x\n 0 files changed"),
    (
        "git_commit",
        {"m": "x"},
        {"sha": "3fa99b1", "insertions": 0, "deletions": 4, "files_changed": 1},
    ),
    ("commit_changes", {"m": "x"}, {"commit": "3fa99b1", "changes": 0}),
    ("edit_file", {"p": "a"}, {"path": "a", "lines_added": 0, "lines_removed": 4}),
    ("edit_file", {"p": "a"}, "Edited a: 0 lines added, 4 lines removed"),
    ("edit_file", {"p": "a"}, "Edited a.py (+0 -4)"),
    ("write_file", {"p": "a"}, "Wrote 0 bytes to a"),
    ("write_file", {"p": "a", "content": ""}, {"bytes_written": 0, "path": "a"}),
    ("upload_file", {"p": "a"}, {"url": "https://x.co/a", "uploaded": 1, "size": 0}),
    ("sync_calendar", {"c": "x"}, "Synced: 0 added, 2 updated, 0 removed"),
    ("sync_calendar", {"c": "x"}, "Sync finished. 0 conflicts."),
    ("import_rows", {"f": "a"}, "Imported 120 rows, 0 skipped, no errors"),
    ("import_rows", {"f": "a"}, "Import started; 0 of 120 rows imported so far"),
    ("import_rows", {"f": "a"}, "Import queued (0/120 rows imported)"),
    ("start_import", {"f": "a"}, "0 of 120 rows imported"),
    ("start_export", {"f": "a"}, {"exported": 0, "progress": 0}),
    ("run_migration", {"v": 3}, {"applied": 1, "pending": 0}),
    ("migrate_db", {"v": 3}, "Applied 1 migration, 0 pending"),
    ("migrate_db", {"v": 3}, "No migrations to apply."),
    ("restart_pods", {"n": 2}, "2 pods restarted, 0 unavailable"),
    ("scale_service", {"n": 0}, "Scaled to 0 replicas"),
    ("scale_service", {"n": 0}, "service scaled: 0"),
    ("kick_user", {"u": "x"}, "Kicked. 0 users in the room."),
    ("clear_cache", {}, "Cache cleared, 0 keys left"),
    ("clear_cache", {}, "Cleared. Keys: 0"),
    ("clear_queue", {}, {"cleared": True, "messages": 0}),
    ("mark_all_read", {}, "All marked as read. 0 unread messages."),
    ("mark_all_read", {}, {"unread": 0, "marked": 14}),
    ("pay_invoice", {"i": "A"}, "Paid. 0.00 EUR due."),
    ("pay_invoice", {"i": "A"}, "Paid 40.00 EUR, remaining 0"),
    ("transfer_money", {"a": 1}, {"transferred": 50, "fee": 0}),
    ("close_ticket", {"t": 1}, "Closed with no changes."),
    ("close_ticket", {"t": 1}, {"ticket": 1, "state": "closed", "changes": 0}),
    ("archive_project", {"t": 1}, {"project": 1, "archived": True, "tasks_archived": 0}),
    ("delete_folder", {"p": "a"}, {"deleted": True, "files_deleted": 0}),
    ("delete_folder", {"p": "a"}, "Folder a deleted (0 files)."),
    ("delete_folder", {"p": "a"}, "Deleted folder a, 0 files deleted."),
    ("delete_user", {"id": "u1"}, {"status": "deleted", "sessions_deleted": 0}),
    ("delete_user", {"id": "u1"}, {"ok": True, "user": {"id": "u1", "deleted": 0}}),
    ("delete_topic", {"id": "u1"}, {"deleted": ["u1"], "failed": 0}),
    ("assign_ticket", {"id": 3}, "Assigned to Ann; 0 open tasks"),
    ("book_table", {"n": 2}, "Booked, no deposit"),
    ("reserve_seats", {"n": 2}, {"reserved": 2, "waitlisted": 0}),
    ("add_items", {"n": 2}, "2 items added, no items replaced"),
    ("replace_text", {"n": 2}, "Replaced 2 of 2 occurrences, 0 left"),
    ("replace_text", {"n": 2}, "Replaced 'no' with 'zero'"),
    ("replace_text", {"old": "0", "new": "1"}, "Replaced 0"),
    ("rename_file", {"a": "0.txt"}, "Renamed 0.txt to 1.txt"),
    ("loeschen_termin", {"a": 1}, "Termin gelöscht, 0 weitere Buchungen"),
    ("loeschen_termin", {"a": 1}, "Termin gelöscht. Keine Gebühr."),
    ("annuler_rdv", {"a": 1}, "Rendez-vous annulé sans frais, 0 € dû"),
    ("cancelar_cita", {"a": 1}, "Cita cancelada. 0 citas pendientes"),
    ("stornieren_buchung", {"a": 1}, {"storniert": 1, "gebuehr": 0}),
    (
        "bulk_update",
        {"ids": [1, 2]},
        {"results": [{"id": 1, "ok": True}, {"id": 2, "ok": True}], "failed_count": 0},
    ),
    ("charge_card", {"a": 1}, {"id": "ch_1", "status": "succeeded", "failed_count": 0}),
    ("execute_sql", {"sql": "DROP TABLE x"}, {"affected_rows": 0}),
    ("execute_sql", {"sql": "TRUNCATE TABLE x"}, {"affectedRows": 0}),
    ("execute_sql", {"sql": "GRANT SELECT ON t TO u"}, "Query OK, 0 rows affected"),
    ("execute_sql", {"sql": "CREATE INDEX i ON t (a)"}, "0 rows affected"),
    (
        "execute_sql",
        {"sql": "INSERT INTO t SELECT * FROM u; DELETE FROM u"},
        [{"rowCount": 4}, {"rowCount": 0}],
    ),
]


def values_of(arguments: dict[str, Any]) -> Callable[[], Iterable[Any]]:
    return lambda: (value for _, value in leaves_of(arguments))


@pytest.mark.parametrize(("name", "arguments", "result", "reason"), NOTHING)
def test_a_call_that_came_to_nothing_was_not_done(
    name: str, arguments: dict[str, Any], result: Any, reason: str
) -> None:
    """All that its result counts of what it is for is 0, and nothing else came of it."""
    assert reason_in(result, name=name, given=values_of(arguments)) == reason


@pytest.mark.parametrize(("name", "arguments", "result"), DONE)
def test_a_nought_of_something_else_is_no_failure(
    name: str, arguments: dict[str, Any], result: Any
) -> None:
    """It counts errors, or what is left; names a thing; came beside a deed; or was as wanted."""
    assert reason_in(result, name=name, given=values_of(arguments)) is None


BULK: list[tuple[str, dict[str, Any], str | None]] = [
    (
        "bulk_index",
        {"errors": True, "items": [{"index": {"status": 400, "error": {"reason": "no date"}}}]},
        "no date",
    ),
    (
        "bulk_index",
        {"errors": True, "items": [{"index": {"status": 201}}, {"index": {"error": {"a": 1}}}]},
        None,
    ),
    ("bulk_index", {"errors": True, "items": [{"index": {"status": 201}}]}, "failed"),
    (
        "put_events",
        {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "E", "ErrorMessage": "slow"}]},
        "slow",
    ),
    ("put_events", {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "E"}]}, "FailedEntryCount"),
    (
        "put_events",
        {"FailedEntryCount": 1, "Entries": [{"EventId": "e"}, {"ErrorCode": "E"}]},
        None,
    ),
    ("put_events", {"FailedEntryCount": 0, "Entries": [{"EventId": "e"}]}, None),
    ("put_events", {"FailedEntryCount": 1, "Entries": ["e"]}, None),
    (
        "mutate_ads",
        {"results": [{}], "partialFailureError": {"code": 3, "message": "too long"}},
        "too long",
    ),
    ("mutate_ads", {"results": [{}, {"ad": 2}], "partialFailureError": {"code": 3}}, None),
    ("mutate_ads", {"results": [{}], "partialFailureError": {}}, None),
    (
        "put_events",
        {"FailedEntryCount": 1, "statusCode": 200, "Entries": [{"ErrorCode": "slow"}]},
        "FailedEntryCount",
    ),
    ("add_users", {"failed_count": 1, "total": 1, "results": [{"error": "no such"}]}, "no such"),
    ("add_users", {"failedCount": 1, "operations": [{"error": "no such"}]}, "no such"),
    (  # what failed alone, beside what went well
        "refund_orders",
        {"succeeded_count": 2, "failed_count": 1, "failures": [{"error": "card expired"}]},
        None,
    ),
    ("import_rows", {"imported": 98, "failed_rows_count": 1, "rows": [{"error": "a"}]}, None),
    ("import_rows", {"imported": 98, "failed_rows_count": 1, "items": [{"error": "a"}]}, None),
    (
        "create_order",
        {"id": "A-1", "failed_count": 1, "attempts": [{"error": "timeout"}]},
        None,
    ),
]


@pytest.mark.parametrize(("name", "result", "reason"), BULK)
def test_a_call_for_many_things_failed_where_all_of_them_did(
    name: str, result: dict[str, Any], reason: str | None
) -> None:
    """One of which a part was done must not be made again as it was."""
    assert reason_in(result, name=name) == reason


@pytest.mark.parametrize(
    ("name", "result", "reason"),
    [
        ("charge_card", {"id": "pi_1", "status": "requires_payment_method"}, "status"),
        ("send_transfer", {"id": "tr_1", "status": "returned", "failure_code": "R03"}, "R03"),
        ("send_transfer", {"id": "tr_1", "status": "returned"}, "status returned"),
        ("create_payment_intent", {"id": "pi_1", "status": "requires_payment_method"}, None),
        ("create_checkout", {"id": "cs_1", "status": "requires_payment_method"}, None),
        ("start_checkout", {"id": "cs_1", "status": "requires_payment_method"}, None),
        ("return_transfer", {"id": "tr_1", "status": "returned"}, None),
        ("return_item", {"id": "A-1", "status": "returned"}, None),
        ("refund_payment", {"id": "re_1", "status": "pending"}, None),
    ],
)
def test_money_that_was_not_taken_or_came_back_was_not_paid(
    name: str, result: dict[str, Any], reason: str | None
) -> None:
    said = reason_in(result, name=name)
    assert said is None if reason is None else said is not None and reason in said


@pytest.mark.parametrize(
    ("command", "result", "reason"),
    [
        ("kubectl delete pod -l app=x", "No resources found in default namespace.", "No resources"),
        ("kubectl apply -f a && kubectl delete pod -l b", "a created\nNo resources found", None),
        ("git stash", "No local changes to save", "No local changes to save"),
        ("git push", "Everything up-to-date", None),
        ("git commit -qam x && git push -q && git stash", "No local changes to save", None),
        ("cd /app && git stash", "No local changes to save", "No local changes to save"),
        ("kubectl delete pod web-1 2>&1", "No resources found", "No resources found"),
        ("kubectl delete pod a >/dev/null; kubectl get pods", "No resources found in web.", None),
    ],
)
def test_a_command_that_found_nothing_to_do_it_to_did_nothing(
    command: str, result: str, reason: str | None
) -> None:
    said = reason_in(result, name="run_command", given=lambda: [command])
    assert said is None if reason is None else said is not None and said.startswith(reason)


MCP: list[Any] = [
    [{"type": "text", "text": '{"deleted": 0}'}],
    {"content": [{"type": "text", "text": '{"deleted": 0}'}], "isError": False},
    {"content": [{"type": "text", "text": "Error: no rights"}], "isError": False, "_meta": None},
    {"content": [{"type": "text", "text": '{"ok": false}'}], "resultType": "complete"},
    {"result": '{"success": false}'},
]


def record_of(name: str, arguments: dict[str, Any], result: Any) -> str:
    """Return the summary item of a history of one call, with its record."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": "c", "type": "function", "function": function}
    items: list[dict[str, Any]] = [
        {"role": "user", "content": "Clear the old carts, please. " * 40},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": json.dumps(result)},
        {"role": "assistant", "content": "See above."},
        {"role": "user", "content": "And now?"},
    ]
    ChatContext(items).summarize(lambda _: "The user asked for it.", keep_last_turns=1)
    return str(items[0]["content"])


@pytest.mark.parametrize("result", MCP)
def test_what_a_protocol_wraps_is_read_as_the_tool_said_it(result: Any) -> None:
    """A server may tell of an error in its text alone, and hosts dump the whole answer as JSON."""
    summary = record_of("delete_carts", {"older_than": "30d"}, result)
    assert "done:" not in summary
    assert "failed:\n- delete_carts(older_than=30d): " in summary


@pytest.mark.parametrize(("state", "reason"), [("failed", "no stock"), ("shipped", None)])
def test_what_wraps_a_result_may_be_nested_however_deep(state: str, reason: str | None) -> None:
    """What a tool answers must not break the agent's turn."""
    result: dict[str, Any] = {"status": state, "error": "no stock" if reason else None}
    for _ in range(5_000):
        result = {"data": result}
    assert reason_in(result, name="update_order") == reason


def test_a_thing_in_a_list_with_an_error_was_not_done() -> None:
    """Also where nothing else says so: no state, no count, no list of those that failed."""
    things = [{"order": "LK-1", "error": "no stock"}, {"order": "LK-2", "total": 5}]
    leaves = [*leaves_of({"orders": things})]
    assert parts_not_done(leaves, "update_orders", ()) == {0, 1}
    assert parts_not_done([*leaves_of(things[0])], "update_orders", ()) == set()


def test_what_stands_among_errors_was_not_done() -> None:
    """All of it, where nothing else was asked for; it may have been, without a word, else."""
    result = {"Errors": [{"Key": "a.csv", "Code": "AccessDenied"}]}
    assert "failed:\n- delete_objects" in record_of("delete_objects", {"keys": ["a.csv"]}, result)
    summary = record_of("delete_objects", {"keys": ["a.csv", "b.csv"]}, result)
    assert "done:\n- delete_objects(" in summary
    assert "Errors.0.Code=AccessDenied" in summary
    assert "done:\n- delete_errors(" in record_of("delete_errors", {"keys": ["a.csv"]}, result)


def test_what_came_of_a_call_is_told_without_what_wraps_it() -> None:
    result = {"content": [{"type": "text", "text": '{"refund": {"id": "R-77"}}'}], "isError": False}
    assert "done:\n- refund(order=A-1): refund.id=R-77" in record_of(
        "refund", {"order": "A-1"}, result
    )
    blocks = [{"type": "text", "text": "Refund R-77 is on its way"}]
    assert ": Refund R-77 is on its way" in record_of("refund", {"order": "A-1"}, blocks)
    wrapped = {"result": "R-77 underway"}
    assert ": result=R-77 underway" in record_of("refund", {"order": "A-1"}, wrapped)


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("pick_item", {"requested": 4, "picked": 0}),
        ("pick_item", {"requested": 4, "picked": 0, "short": 4}),
        ("wms.pickItem", {"data": {"requested": 4, "picked": 0}}),
        ("aspirate", {"expected": 50, "aspirated": 0}),
    ],
)
def test_what_was_asked_of_a_tool_that_nobody_knows_was_not_done(name: str, result: Any) -> None:
    assert reason_in(result, name=name) is not None


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("pick_item", {"picked": 0}),
        ("pick_item", {"requested": 0, "picked": 0}),
        ("pick_item", {"requested": 4, "picked": 3, "short": 1}),
        ("pick_item", {"requested": 4, "picked": 0, "remaining": 4}),
        ("pick_item", {"requested": 4, "picked": 0, "queued": 4}),
        ("pick_item", {"requested": 4, "picked": 0, "status": "in_progress"}),
        ("pick_item", {"requested": 4, "picked": 0, "pick_id": "P-7"}),
        ("pick_or_queue_item", {"requested": 4, "picked": 0}),
        ("get_picks", {"requested": 4, "picked": 0}),
        ("pick_report", {"requested": 4, "packed": 0}),
    ],
)
def test_a_nought_beside_what_may_yet_come_is_no_failure(name: str, result: Any) -> None:
    assert reason_in(result, name=name) is None
