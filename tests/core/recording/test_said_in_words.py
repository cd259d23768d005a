"""What a tool says in words beside the fields of its result: often that it changed nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatfold import ChatContext
from chatfold.core.outcomes import outcome_of

PARTNER = (
    "This booking was made through a partner agency, and it is therefore not possible for us to "
    "take it back; the guest has to cancel it with that agency, by phone."
)
BESIDE = {"confirmation": "ZZ-0091", "date": "2026-03-04", "mail": "a@x.io", "amount": "80.00 EUR"}


def told(result: Any, name: str = "cancel_booking") -> dict[str, str]:
    return {field.label: field.text for field in outcome_of(result, name, (), str)}


def record_of(calls: list[tuple[str, dict[str, Any], dict[str, Any]]], head: int = 0) -> list[str]:
    """Return the lines of what was done, behind a summary of some calls and of `head` words."""
    items: list[dict[str, Any]] = [{"role": "user", "content": "Go on. " + "Please. " * head}]
    for number, (name, given, result) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(given)}
        call = {"id": f"c{number}", "type": "function", "function": function}
        items += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(result)},
        ]
    items.append({"role": "user", "content": "And now?"})
    made = ChatContext(items).summarize(lambda prompt: "It went so.", keep_last_turns=1)
    assert made.facts is not None
    done = made.facts.record.partition("done:\n")[2].partition("\nvalues:")[0]
    return [text for text in done.splitlines() if text.startswith("- ")]


PRAISE = "Thank you for being a guest of ours, we hope to see you soon, and wish you well. " * 2


@pytest.mark.parametrize("key", ["message", "note", "warning", "reason", "detail", "mensaje"])
@pytest.mark.parametrize("beside", [{}, BESIDE])
def test_of_a_long_text_goes_in_what_denies_something(key: str, beside: dict[str, str]) -> None:
    text = told({**beside, key: PARTNER})[key]
    assert text.removesuffix("…") in PARTNER
    assert "not possible for us" in text
    assert {*beside} <= {*told({**beside, key: PARTNER})}


@pytest.mark.parametrize("key", ["message", "note"])
def test_another_long_text_goes_in_where_nothing_else_does(key: str) -> None:
    assert PRAISE.startswith(told({key: PRAISE})[key].removesuffix("…"))
    assert key not in told({"confirmation": "ZZ-0091", key: PRAISE})


def test_what_denies_something_goes_in_beside_many_ids() -> None:
    beside = {**BESIDE, "phone": "+49 170 1234567", "url": "https://x.io/a"}
    said = {"note": "The lift is on the left.", "message": "The guest was not called."}
    assert told({**beside, **said}) == {**told(beside), "message": said["message"]}


def test_of_several_that_say_so_it_is_one() -> None:
    said = {"message": "It was not sent.", "note": "Nobody was called, and nothing was booked."}
    assert len(told({**BESIDE, **said})) == len(BESIDE) + 1


def test_of_a_long_text_it_is_the_line_that_tells_most() -> None:
    lines = f"Working on it {'. ' * 80}\nFailed: the lot is gone\nReady."
    assert told({"message": lines})["message"] == "Failed: the lot is gone"


def test_a_plain_success_tells_less_than_ids() -> None:
    assert "message" not in told({**BESIDE, "message": "Your booking was cancelled."})


def test_what_is_said_of_one_of_several_things_is_not_all_that_is_told() -> None:
    things = [{"id": f"A-{n}17", "note": f"Fragile, as before it {n}"} for n in range(9)]
    assert "A-017" in told({"items": things}).values()
    kept = [{"id": f"A-{n}17", "note": f"The one before {n} was not kept"} for n in range(9)]
    assert {*told({"items": kept}).values()} == {f"A-{n}17" for n in range(5)}


def test_a_long_text_that_says_something_else_stays_out() -> None:
    assert told({"id": "ZZ-0091", "body": PARTNER}) == {"id": "ZZ-0091"}


def test_in_little_room_it_stays_beside_one_id() -> None:
    calls = [
        (
            "adjust_stock",
            {"sku": f"BX-{n}20"},
            {"move": f"MV-{n}31", "warning": f"Stock would be below {n}; not posted"},
        )
        for n in range(12)
    ]
    lines = record_of(calls, head=700)
    warning = "warning=Stock would be below 11; not posted"
    assert lines[-1] == f"- adjust_stock(sku=BX-1120): move=MV-1131, {warning}"


@pytest.mark.parametrize(
    ("text", "told_of_it"),
    [
        (
            (
                "Import finished.\n3 of the 40 rows of the file were not taken, as they had no "
                "mail address; all of the others are in the list of contacts now."
            ),
            "3 of the 40 rows of the file were not taken, as they had no mail address;",
        ),
        (
            (
                "The export of the contacts of all the teams in the region was started by the user "
                "of the system on Monday, but 12 of the rows could not be written to the file"
            ),
            "but 12 of the rows could not be written to the file",
        ),
    ],
)
def test_of_a_long_text_it_is_the_sentence_or_the_clause_that_denies(
    text: str, told_of_it: str
) -> None:
    assert told({**BESIDE, "message": text}) == {**BESIDE, "message": told_of_it}


@pytest.mark.parametrize(
    "text",
    [
        "Booking made. No fee was charged.",
        "No further action is needed.",
        "Completed with no errors; please do not reply to this mail.",
        "If you did not ask for this, call us.",
        "You do not need to do anything else.",
    ],
)
def test_a_denial_that_does_no_harm_is_none(text: str) -> None:
    beside = {**BESIDE, "phone": "+49 170 1234567", "url": "https://x.io/a"}
    assert told({**beside, "message": text}) == told(beside)


def test_what_is_said_takes_no_flag_its_place() -> None:
    flags = {"verified": False, "admin": False}
    said = {"user_id": "U-1", **flags, "message": f"Made. {PARTNER}"}
    assert {"verified", "admin", "message"} <= {*told(said, "create_user")}


def test_the_first_line_of_a_long_text_is_no_value_of_the_result() -> None:
    result = {"message": f"Ticket created.\n{PRAISE}", "ticket_id": "T-17", "assignee": "ana"}
    assert told({**result, "priority": "high"}, "create_ticket").keys() == {
        "ticket_id",
        "assignee",
        "priority",
    }


@pytest.mark.parametrize("before", range(900, 1001, 5))
def test_what_is_to_be_hidden_is_hidden_before_a_long_text_is_cut(before: int) -> None:
    text = f"{'well ' * (before // 5)}then. It was not sent to card 4111111111111111 of Ana."

    def hidden(said: str) -> str:
        return said.replace("4111111111111111", "[card]")

    told_of_it = outcome_of({"message": text, "id": "A-1"}, "send_mail", (), hidden)
    assert not any("4111" in field.text for field in told_of_it)
