"""What a user did not approve stands among what failed, as long as nothing has come of it later."""

from __future__ import annotations

from typing import Any

import pytest
from facts_of import known

from chatfold import ChatContext
from chatfold.core.calls import pair_calls
from chatfold.core.record import Record
from chatfold.core.recording.recorded import make_record
from chatfold.tokens import estimate

Item = dict[str, Any]
REASON = "Never delete INBOX-7, it is evidence"
SAID = "mail.delete_all(box=INBOX-7)"


def says(role: str, text: str) -> Item:
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def asked(number: int, approve: bool, name: str = "delete_all", reason: str = "") -> list[Item]:
    """Return a request for approval with the user's answer."""
    given = {"server_label": "mail", "name": name, "arguments": '{"box":"INBOX-7"}'}
    answer: Item = {"type": "mcp_approval_response", "approval_request_id": f"mcpr_{number}"}
    if reason:
        answer["reason"] = reason
    request = {"type": "mcp_approval_request", "id": f"mcpr_{number}", **given}
    return [request, {**answer, "approve": approve}]


def called(number: int, name: str = "delete_all", **ended: Any) -> list[Item]:
    """Return an approved request with the call that was made then."""
    request, answer = asked(number, True, name)
    ended = ended or {"output": "12 messages", "status": "completed"}
    own = {key: request[key] for key in ("server_label", "name", "arguments")}
    call = {"type": "mcp_call", "id": f"mcp_{number}", **own, "approval_request_id": request["id"]}
    return [request, answer, {**call, **ended}]


def record_of(*items: Item, previous: Record | None = None, **options: Any) -> Record:
    views = list(ChatContext([*items], shape="openai_responses").views())
    calls = pair_calls(views)
    return make_record(
        views,
        calls,
        head=range(len(views)),
        previous=previous,
        text="",
        ledger_tokens=2000,
        count=estimate,
        found=known(views, calls, options.get("clean")),
        **options,
    ).record


def failed(record: Record) -> list[str]:
    return [f"{e.name}: {e.values[0].text}" for e in record.failed]


def test_an_answer_without_its_request_is_in_no_record() -> None:
    """It does not say what was denied: where a provider holds the history, only that one knows."""
    _, denied = asked(1, False, reason=REASON)
    assert not failed(record_of(says("user", "clean up"), denied, says("assistant", "ok")))


@pytest.mark.parametrize("name", ["delete_all", "read_mail", "frobnicate"])
@pytest.mark.parametrize("reason", [REASON, ""])
def test_what_was_denied_has_failed_and_says_why(name: str, reason: str) -> None:
    """Whatever the tool does: to ask again for what a user forbade is worse than to look again."""
    record = record_of(*asked(1, False, name, reason))
    assert failed(record) == [f"mail.{name}: denied" + (f": {reason}" if reason else "")]
    assert [(f.key, f.text) for f in record.failed[0].arguments or ()] == [("box", "INBOX-7")]
    assert not record.failed[0].unsure
    assert record.done == record.open == ()


def test_what_was_approved_is_told_by_its_call() -> None:
    record = record_of(*called(1))
    assert [e.name for e in record.done] == ["mail.delete_all"]
    assert record.failed == record.open == ()
    unused = record_of(*asked(1, True), says("assistant", "Rather not."))
    assert unused.done == unused.failed == unused.open == ()
    lost = record_of(*called(1, error="mailbox locked", output=None, status="failed"))
    assert failed(lost) == ["mail.delete_all: mailbox locked"]


@pytest.mark.parametrize("name", ["delete_all", "read_mail"])
def test_what_was_denied_and_made_later_has_not_failed(name: str) -> None:
    """In one fold, and where an earlier record tells of it."""
    denied = asked(1, False, name, REASON)
    assert failed(record_of(*denied, says("user", "Do it."), *called(2, name))) == []
    before = record_of(*denied)
    assert failed(record_of(*called(2, name), previous=before)) == []
    assert failed(record_of(says("user", "Hm."), previous=before)) == failed(before) != []


def test_what_was_denied_twice_is_told_once_as_it_was_last() -> None:
    record = record_of(*asked(1, False), says("user", "What?"), *asked(2, False, reason=REASON))
    assert failed(record) == [f"mail.delete_all: denied: {REASON}"]


def test_an_answer_to_another_request_changes_nothing() -> None:
    other = called(2)
    for item in (other[0], other[2]):
        item["arguments"] = '{"box":"INBOX-8"}'
    assert failed(record_of(*asked(1, False), *other)) == ["mail.delete_all: denied"]


def test_a_secret_in_the_reason_is_cleaned() -> None:
    record = record_of(
        *asked(1, False, reason=REASON), clean=lambda text: text.replace("evidence", "[...]")
    )
    assert failed(record) == ["mail.delete_all: denied: Never delete INBOX-7, it is [...]"]


def test_a_fold_tells_the_next_prompt_what_was_denied() -> None:
    """In the record of the summary, word for word."""
    long = "The assistant explains what it will look at next and why. " * 40
    head = [says("user", "Clean up my mail."), says("assistant", long)]
    tail = [says("assistant", "ok"), says("user", "more")]
    items = [*head, *asked(1, False, reason=REASON), *tail]
    ctx: ChatContext[Any] = ChatContext(items, shape="openai_responses")
    outcome = ctx.summarize(lambda prompt: "The work went on.", keep_last_turns=1)
    assert outcome.facts is not None
    assert f'- {SAID}: "denied: {REASON}" [mcpr_1]' in outcome.facts.record.splitlines()
