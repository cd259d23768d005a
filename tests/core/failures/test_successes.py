"""Which results go into a record in their own words: all that do not plainly say that it worked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatfold import ChatContext
from chatfold.core.failures import reason_in
from chatfold.core.failures.successes import is_plain_success, telling_line
from chatfold.core.outcomes import outcome_of
from chatfold.templates import load_templates
from chatfold.tools._texts import KINDS

PLAIN = [
    ("refund", "OK"),
    ("refund", "Refunded."),
    ("refund", "Refund of 90 EUR was issued."),
    ("cancel_order", "Order cancelled"),
    ("send_email", "Email sent successfully"),
    ("edit_file", "The file /a.py has been edited. Here's the result of running `cat -n`:"),
    ("bash", "Your command ran successfully and did not produce any output."),
    ("move_pallet", "Pallet moved to dock 4"),
    ("set_mode", "Mode set to eco"),
    ("stop_vm", "VM stopped - disk kept"),
    ("refund", "✓ Done. The rest was refunded"),
]
DOUBTFUL = [
    ("refund", "Cancelled"),
    ("refund", "Refund is not possible."),
    ("refund", "Already refunded earlier; nothing done."),
    ("refund", "Simulated only, no refund was made"),
    ("refund", "Draft saved; not submitted"),
    ("refund", "Queued for review"),
    ("refund", "Do you really want to refund 90 EUR?"),
    ("refund", "false"),
    ("refund", "Abgelehnt: zu alt"),
    ("refund", "返金できませんでした"),
    ("refund", "I couldn’t make that refunded"),
    ("refund", "Account frozen by the bank, claim changed"),
    ("start_pump", "Pump stopped."),
    ("print_label", "Paper jam. Job completed."),
    ("approve_claim", "Claim moved to SIU"),
    ("add_item", "Item removed: over the limit of 5"),
    ("freeze_samples", "Door alarm set"),
    ("lift", "Fork overload - job finished"),
    ("run_pcr", "Run finished early."),
]


@pytest.mark.parametrize(("name", "text"), PLAIN)
def test_what_only_says_that_it_worked_is_plain(name: str, text: str) -> None:
    assert is_plain_success(text, name)


@pytest.mark.parametrize(("name", "text"), DOUBTFUL)
def test_in_doubt_a_text_is_told(name: str, text: str) -> None:
    """In any language that is not read, too."""
    assert not is_plain_success(text, name)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("To github.com:a/b\n ! [rejected] fix -> fix\nerror: failed", "! [rejected] fix -> fix"),
        ("Compiling\n\nerror: no such crate\n", "error: no such crate"),
        ("OBSERVATION:\n\nThe file was edited.\nMore.", "The file was edited."),
        ("OBSERVATION:\n", "OBSERVATION:"),
        ("Two rows.\nA.", "Two rows."),
        ("id,date,level\n2026-01-01,error,5", "id,date,level"),
        ("id,status,why\n1,created,\n2,error,no mail\n3,created,", "2,error,no mail"),
        ("id;status\n1;failed\n2;sent\n3;rejected", "1;failed; 3;rejected"),
        ("| id | Status |\n|---|---|\n| 1 | FAILED |\n| 2 | sent |", "| 1 | FAILED |"),
        ('"id","status"\n"1","failed"', '"1","failed"'),
        ("id\tresult\n1\tok\n2", "id\tresult"),
        ("result\tid\n\t\nfailed\t2\n", "failed\t2"),
        ("The result, as it is:\nfailed", "failed"),
        ("id,status_of_mail\n1,error", "id,status_of_mail"),
        ("Done\n2026-01-01 10:00:00 Error: none", "Done"),
        ("Up\n2026-01-01 10:00:00,123 ERROR: down", "2026-01-01 10:00:00,123 ERROR: down"),
        ("\n", ""),
    ],
)
def test_the_line_that_tells_most_is_of_trouble_or_the_first(text: str, line: str) -> None:
    assert telling_line(text) == line


def record_of(result: Any, name: str = "refund", **arguments: Any) -> list[str]:
    """Return the lines of the record of a fold that takes one call away."""
    given = {"id": "c1", "name": name, "arguments": json.dumps(arguments or {"order": "LK-1"})}
    call = {"id": "c1", "type": "function", "function": given}
    text = result if isinstance(result, str) else json.dumps(result)
    items: list[Any] = [
        {"role": "user", "content": "Please refund LK-1. " + "It was late. " * 200},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": text},
        {"role": "assistant", "content": "Hm."},
        {"role": "user", "content": "Thanks."},
    ]
    outcome = ChatContext(items).summarize(
        lambda prompt: "A refund was asked for.", keep_last_turns=1
    )
    assert outcome.facts is not None
    return outcome.facts.record.splitlines()


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("Odrzucono: za stare", ": Odrzucono: za stare"),
        ("OK", ""),
        ("Refund issued.", ""),
        ("Refunded 10.00 of 49.90", ": Refunded 10.00 of 49.90"),
        ({"refund": None}, ": refund=null"),
        ({"needs_approval": True}, ": needs_approval=true"),
        ({"success": True}, ""),
        ({}, ""),
        ([], ': "[]"'),
        (
            {
                "id": "R-12345",
                "order": "LK-1",
                "total": "90.00 EUR",
                "on": "2026-11-02",
                "live": False,
            },
            ": id=R-12345, total=90.00 EUR, on=2026-11-02, live=false",
        ),
        (
            {
                "id": "R-12345",
                "to": "A-98765",
                "on": "2026-11-02",
                "a": False,
                "b": False,
                "c": False,
            },
            ": id=R-12345, to=A-98765, on=2026-11-02",
        ),
    ],
)
def test_what_is_done_says_what_came_of_it_unless_that_is_plain(result: Any, said: str) -> None:
    """A later model is told not to repeat it, so it has to know what was refused."""
    lines = record_of(result)
    assert lines[lines.index("done:") + 1] == f"- refund(order=LK-1){said} [c1]"


@pytest.mark.parametrize("kind", KINDS)
def test_the_errors_that_chatfold_itself_writes_are_failures(kind: str) -> None:
    """All but one: that tool ran, and the record says what is wrong with what it returned."""
    words = {"kind": kind, "tool": "refund", "known": "a", "detail": "TypeError: x", "seconds": 30}
    text = load_templates().render("tool_error.jinja", **words).strip()
    lines = record_of(text)
    assert ("failed:" in lines) is (kind != "no_text")
    assert any(text[:20] in line for line in lines)


def test_what_a_repair_writes_for_a_call_that_was_interrupted_is_a_failure() -> None:
    text = load_templates().render("repair_note.jinja", kind="interrupted").strip()
    assert reason_in(text, name="refund") == text


def test_what_was_run_in_place_of_a_call_is_told_and_not_the_notice_before_it() -> None:
    """In a text, and in one behind which the tool's own answer stands."""
    ran = 'Executed instead: refund with arguments {"amount": 42}.'
    notice = f"Note: a human reviewer replaced this tool call before it ran. {ran}"
    for text in (notice, f"{notice}\n\nTool response:\nrefunded"):
        assert [field.text for field in outcome_of(text, "refund", (), str)] == [ran]
