"""Which calls a record takes for one made again: those that were given the same, and no others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from chatfold import ChatContext

Item = dict[str, Any]

LONG_ID = "call_Ab3dEf6hIj9kLm2nOp5qRs8t"  # as long as OpenAI's and Anthropic's are


def called(number: int, name: str, given: Item, result: Item, id_: str = "c") -> list[Item]:
    function = {"name": name, "arguments": json.dumps(given)}
    call = {"id": f"{id_}{number}", "type": "function", "function": function}
    answer = {"role": "tool", "tool_call_id": f"{id_}{number}", "content": json.dumps(result)}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}, answer]


def turn(items: Sequence[Item]) -> list[Item]:
    said = {"role": "assistant", "content": "Well. " * 80}
    return [{"role": "user", "content": "Go on, please."}, *items, said]


def recorded(name: str, *calls: tuple[Item, Item], folds: bool, id_: str = "c") -> str:
    """Return the record of some calls of a tool: of one fold, or of one fold for each of them."""
    items: list[Item] = []
    ctx: ChatContext[Any] = ChatContext(items, shape="openai_chat")
    last = {"role": "user", "content": "Thanks."}
    for number, (given, result) in enumerate(calls):
        items += turn(called(number, name, given, result, id_))
        if folds:
            items.append(last)
            assert ctx.summarize(lambda _: "Work.", keep_last_turns=1).changed
            items += [{"role": "assistant", "content": "Welcome. " * 30}]
    items.append(last)
    outcome = ctx.summarize(lambda _: "Work.", keep_last_turns=1)
    assert outcome.changed
    assert outcome.facts is not None
    return outcome.facts.record


FOLDS = pytest.mark.parametrize("folds", [False, True])


@FOLDS
@pytest.mark.parametrize("id_", ["c", LONG_ID])
def test_an_action_that_was_done_again_is_counted(folds: bool, id_: str) -> None:
    """Three payments of one amount are three, however long the ids of the calls."""
    paid = {"account": "A-1001", "amount": "10.00 EUR"}, {"status": "ok"}
    record = recorded("make_payment", paid, paid, paid, folds=folds, id_=id_)
    assert "make_payment(account=A-1001, amount=10.00 EUR) (3 calls): status=ok" in record


def test_an_id_that_comes_again_is_of_another_call() -> None:
    """Some servers number the calls of each response anew."""
    items: list[Item] = []
    ctx: ChatContext[Any] = ChatContext(items, shape="openai_chat")
    for _ in range(3):
        items += turn(called(1, "send_money", {"to": "Bob", "amount": 5}, {"status": "sent"}))
        items.append({"role": "user", "content": "Thanks."})
        outcome = ctx.summarize(lambda _: "Money was sent.", keep_last_turns=1)
    assert outcome.facts is not None
    assert "send_money(to=Bob, amount=5) (3 calls): status=sent" in outcome.facts.record


@FOLDS
@pytest.mark.parametrize(
    "given",
    [
        {"command": "helm rollback api 17 --namespace staging --wait", "workdir": "/srv/api"},
        {"command": ["bash", "-lc", "helm rollback api 17 --namespace staging --wait"]},
        {"query": "DELETE FROM users WHERE name = 'helm rollback api 17'", "database": "crm"},
    ],
)
def test_what_a_tool_was_told_to_do_stands_beside_its_folder(folds: bool, given: Item) -> None:
    """Else all commands in one folder, or of one database, would read the same."""
    record = recorded("shell", (given, {"ok": True}), folds=folds)
    assert "helm rollback api 17" in record.partition("values:")[0]
    assert "…" not in record


def test_of_several_long_texts_one_is_shortened_and_the_others_are_left_out() -> None:
    """The room is for many calls."""
    long = {"sku": "A-1", "to": "Elm Street 5, " * 30, "from": "Oak Street 7, " * 30}
    record = recorded("ship", (long, {"ok": True}), folds=False)
    done = record.partition("values:")[0]
    assert "ship(sku=A-1, to=" in done
    assert "Oak Street" not in done
    assert '…", …)' in done


@FOLDS
def test_truth_values_tell_what_was_done(folds: bool) -> None:
    """On and then off is not the same twice."""
    on = {"flag": "beta", "enabled": True}, {"status": "ok"}
    off = {"flag": "beta", "enabled": False}, {"status": "ok"}
    record = recorded("set_flag", on, off, folds=folds)
    assert "set_flag(flag=beta, enabled=true): status=ok" in record
    assert "set_flag(flag=beta, enabled=false): status=ok" in record


FAILS = [
    (
        "set_lock",
        ({"door": "D-17", "locked": True}, {"error": "door is open"}),
        ({"door": "D-17", "locked": False}, {"status": "ok"}),
    ),
    (
        "send_payment",
        ({**dict.fromkeys("abcde", "x"), "amount": "5000 EUR"}, {"error": "over the limit"}),
        ({**dict.fromkeys("abcde", "x"), "amount": "10 EUR"}, {"status": "ok"}),
    ),
    (
        "run_update",
        ({"db": "prod", "query": "UPDATE a SET b = 1 WHERE c = 2"}, {"error": "locked"}),
        ({"db": "prod", "query": "UPDATE d SET e = 1 WHERE f = 2"}, {"status": "ok"}),
    ),
]


@FOLDS
@pytest.mark.parametrize(("name", "failed", "other"), FAILS)
def test_another_call_does_not_make_up_for_one_that_failed(
    name: str, failed: Any, other: Any, folds: bool
) -> None:
    record = recorded(name, failed, other, folds=folds)
    assert f"\nfailed:\n- {name}(" in record
    assert failed[1]["error"] in record


@FOLDS
def test_the_same_call_made_again_does(folds: bool) -> None:
    """Also where its prose was worded anew."""
    failed = {"to": "a@example.com", "urgent": True, "body": "Dear A"}, {"error": "try again"}
    sent = {"to": "a@example.com", "urgent": True, "body": "Dear Anna"}, {"status": "sent"}
    record = recorded("send_mail", failed, sent, folds=folds)
    assert "failed:" not in record
    assert "send_mail(to=a@example.com, urgent=true): status=sent" in record


NOTES = [
    {},
    {"pinned": True},
    {"parent": None, "limit": 3},
]


@FOLDS
@pytest.mark.parametrize("more", NOTES)
def test_another_text_is_another_call_where_nothing_else_names_it(more: Item, folds: bool) -> None:
    failed = {"text": "Buy milk", **more}, {"error": "quota exceeded"}
    posted = {"text": "Call Ann", **more}, {"id": "N-778"}
    record = recorded("post_note", failed, posted, folds=folds)
    assert "failed:\n- post_note(" in record
    assert "text=Buy milk" in record
    again = failed[0], {"id": "N-779"}
    record = recorded("post_note", failed, posted, again, folds=folds)
    assert "failed:" not in record


@FOLDS
def test_a_failure_that_looks_like_a_result_does_not_undo_one(folds: bool) -> None:
    failed = {"order": "LK-1"}, {"error": "card expired"}
    again = {"order": "LK-1"}, {"statusCode": 402, "body": "card declined"}
    record = recorded("refund_order", failed, again, folds=folds)
    assert "done:" not in record
    assert "\nfailed:\n- refund_order(order=LK-1): card declined" in record


@FOLDS
def test_a_result_that_comes_late_is_read_as_that_of_its_call(folds: bool) -> None:
    """The name of its tool and its arguments stand in the earlier record alone."""
    call, answer = called(1, "decline_meeting", {"id": "M-4471"}, {"status": "declined"})
    last = {"role": "user", "content": "Thanks."}
    items: list[Item] = [*turn([call]), last]
    ctx: ChatContext[Any] = ChatContext(items, shape="openai_chat")
    if folds:
        assert ctx.summarize(lambda _: "Work.", keep_last_turns=1).changed
    items += [answer, *turn([]), last]
    outcome = ctx.summarize(lambda _: "Work.", keep_last_turns=1)
    assert outcome.facts is not None
    assert "done:\n- decline_meeting(id=M-4471): status=declined" in outcome.facts.record


READS = [
    ("get_total", {"customer": "C-1", "include_vat": True}, {"include_vat": False}),
    ("list_orders", {"customer": "C-1", "page": 1}, {"page": 2}),
    ("get_record", {"table": "users", "offset": 0}, {"offset": 1}),
    ("get_translation", {"target": "de-DE-1996", "text": "Good morning"}, {"text": "Good night"}),
    (
        "query_db",
        {"db": "prod", "query": "SELECT count(*) AS n FROM a WHERE b = 'c'"},
        {"query": "SELECT count(*) AS n FROM d WHERE e = 'f'"},
    ),
    ("get_fare", {**dict.fromkeys("abcde", "x"), "day": "2026-12-01"}, {"day": "2026-12-02"}),
]


@FOLDS
@pytest.mark.parametrize(("name", "given", "change"), READS)
def test_what_another_call_gave_is_no_change(
    name: str, given: Item, change: Item, folds: bool
) -> None:
    first = given, {"total": "119.00 EUR"}
    second = {**given, **change}, {"total": "100.00 EUR"}
    record = recorded(name, first, second, folds=folds)
    assert "was:" not in record
    assert "100.00 EUR" in record


@FOLDS
def test_what_the_same_call_gave_later_is(folds: bool) -> None:
    asked = {"order": "LK-4821936"}
    shipped, came = {"status": "shipped on LK-1"}, {"status": "delivered on LK-2"}
    record = recorded("order_status", (asked, shipped), (asked, came), folds=folds)
    assert "status=delivered on LK-2 (was: shipped on LK-1)" in record


NESTED = [
    (
        {"billing": {"address": {"zip": "10115"}}, "shipping": {"address": {"zip": "80331"}}},
        {"billing": {"address": {"zip": "10115"}}, "shipping": {"address": {"zip": "20095"}}},
        "shipping.address.zip=20095 (was: 80331)",
        "billing.address.zip=10115",
    ),
    (
        {"out": {"leg": {"date": "2026-01-01"}}, "back": {"leg": {"date": "2026-02-02"}}},
        {"out": {"leg": {"date": "2026-01-01"}}, "back": {"leg": {"date": "2026-03-03"}}},
        "back.leg.date=2026-03-03 (was: 2026-02-02)",
        "out.leg.date=2026-01-01",
    ),
]


@FOLDS
@pytest.mark.parametrize(("before", "now", "change", "other"), NESTED)
def test_what_changed_is_told_by_all_that_tells_it_from_others(
    before: Item, now: Item, change: str, other: str, folds: bool
) -> None:
    """Two fields of one name in a result are two."""
    asked = {"id": "C-9001"}
    record = recorded("get_customer", (asked, before), (asked, now), folds=folds)
    assert change in record
    assert other in record


def test_what_stands_in_a_list_has_not_changed_where_another_thing_stands_there() -> None:
    """Nor has it gone for what stands in the same place of another list."""
    asked = {"id": "C-9001"}
    first = asked, {"orders": [{"id": "ORD-1111"}], "returns": [{"id": "RET-2222"}]}
    second = asked, {"orders": [{"id": "ORD-1111"}], "returns": [{"id": "RET-3333"}]}
    record = recorded("get_customer", first, second, folds=True)
    assert "was:" not in record
    assert "orders.0.id=ORD-1111, returns.0.id=RET-3333" in record


def test_a_tool_that_reads_is_asked_again_where_it_is_given_more() -> None:
    """Its first calls only looked; that says nothing of the next one."""
    looked = {"sql": "SELECT 1"}, {"rows": 1}
    deleted = {"sql": "DELETE FROM users WHERE id=5512"}, {"rows": 1}
    record = recorded("query", looked, looked, deleted, folds=False)
    assert "done:\n- query(" in record
    assert "DELETE FROM users" in record


# --- tools of one name ----------------------------------------------------------------------------

HOMES = pytest.mark.parametrize("kind", ["function", "mcp", "anthropic"])
SHAPE_OF = {"anthropic": "anthropic"}


def lives(
    kind: str, number: int, home: str | None, name: str, result: str, service: str = "api"
) -> list[Item]:
    """Return a call of a tool that lives somewhere, and what came of it."""
    id_, given = f"c{number}", {"service": service}
    if kind == "anthropic":
        use = {"type": "mcp_tool_use", "id": id_, "name": name, "input": given, "server_name": home}
        block = {"type": "mcp_tool_result", "tool_use_id": id_, "content": result}
        return [{"role": "assistant", "content": [use, block]}]
    call = {"name": name, "arguments": json.dumps(given)}
    if kind == "mcp":
        return [{"type": "mcp_call", "id": id_, "server_label": home, "output": result, **call}]
    at = {"call_id": id_, **({"namespace": home} if home else {})}
    answer = {"type": "function_call_output", "call_id": id_, "output": result}
    return [{"type": "function_call", **at, **call}, answer]


def kept(kind: str, *steps: list[Item], folds: bool, **options: Any) -> str:
    """Return the record of these steps, of one fold or of one for each."""
    ctx: ChatContext[Any] = ChatContext([], shape=SHAPE_OF.get(kind, "openai_responses"))
    record = ""
    for number, step in enumerate(steps, 1):
        ctx.items.extend(turn(step))
        if folds or number == len(steps):
            record = folded(ctx, **options)
            ctx.items.append({"role": "assistant", "content": "Welcome. " * 30})
    return record


def folded(ctx: ChatContext[Any], **options: Any) -> str:
    """Fold all but a last message, and return the record."""
    ctx.items.append({"role": "user", "content": "Thanks."})
    outcome = ctx.summarize(lambda _: "Work.", keep_last_turns=1, **options)
    assert outcome.changed
    assert outcome.facts is not None
    return outcome.facts.record


@FOLDS
@HOMES
def test_what_was_done_on_two_servers_is_not_counted_together(kind: str, folds: bool) -> None:
    """What was done twice on one is, and the record is read again in the next fold."""
    on = ["staging", "production", "staging"]
    steps = [lives(kind, n, home, "restart", '{"status": "ok"}') for n, home in enumerate(on)]
    record = kept(kind, *steps, folds=folds)
    assert "staging.restart(service=api) (2 calls): status=ok" in record
    assert "production.restart(service=api): status=ok" in record
    assert " restart(" not in record


@FOLDS
@HOMES
def test_what_failed_on_one_server_is_not_settled_by_another(kind: str, folds: bool) -> None:
    """It is by the same tool of the same one."""
    failed = lives(kind, 0, "staging", "restart", "Error: disk full")
    others = lives(kind, 1, "production", "restart", '{"status": "ok"}')
    record = kept(kind, failed, others, folds=folds)
    assert "staging.restart(service=api): " in record.partition("failed:")[2]
    mended = lives(kind, 2, "staging", "restart", '{"status": "ok"}')
    assert "failed:" not in kept(kind, failed, others, mended, folds=folds)


@FOLDS
@HOMES
def test_what_two_servers_gave_are_two_values(kind: str, folds: bool) -> None:
    """The later one is no change of the first."""
    given = ['{"version": "4.11.2"}', '{"version": "4.9.7"}']
    homes = ("staging", "production")
    steps = [lives(kind, n, homes[n], "get_version", given[n]) for n in range(2)]
    record = kept(kind, *steps, folds=folds)
    assert "was:" not in record
    assert "staging.get_version(api): version=4.11.2" in record
    assert "production.get_version(api): version=4.9.7" in record


@HOMES
def test_values_of_two_servers_stand_apart_where_room_is_short(kind: str) -> None:
    """Many stand together under their key then, each behind the tool of its own server."""
    homes = (("staging", "TCK"), ("production", "ORD"))
    steps: list[list[Item]] = []
    for number in range(16):
        home, name = homes[number % 2]
        result = json.dumps({"id": f"{name}-{number:02}0417"})
        steps.append(lives(kind, number, home, "get_ticket", result, f"the {number}. {'x' * 60}"))
    items = [item for step in steps for item in turn(step)]
    ctx: ChatContext[Any] = ChatContext(items, shape=SHAPE_OF.get(kind, "openai_responses"))
    record = folded(ctx, ledger_tokens=200)
    shown = {name: words for name, _, words in (x.partition(":") for x in record.splitlines())}
    assert "TCK-140417" in shown["- staging.get_ticket.id"]
    assert "ORD" not in shown["- staging.get_ticket.id"]
    assert "ORD-150417" in shown["- production.get_ticket.id"]
    assert "TCK" not in shown["- production.get_ticket.id"]


@FOLDS
def test_what_no_namespace_names_is_a_third_tool(folds: bool) -> None:
    homes = ("crm", None, "billing")
    steps = [lives("function", n, h, "close_case", '{"ok": true}') for n, h in enumerate(homes)]
    record = kept("function", *steps, folds=folds)
    for name in ("crm.close_case", "close_case", "billing.close_case"):
        assert f"- {name}(service=api)" in record


@pytest.mark.parametrize(
    ("other", "said"), [("delete_user", {"namespace": "crm"}), ("delete_card", {})]
)
def test_an_open_call_of_a_namespace_is_answered_later(other: str, said: Item) -> None:
    """By a result that stands for itself, or its note: which of two of one id, the name says."""
    ctx: ChatContext[Any] = ChatContext([], shape="openai_responses")
    for home, name in (("crm", "delete_user"), ("billing", other)):
        ctx.items.extend(turn(lives("function", 0, home, name, "")[:1]))
    assert folded(ctx).count("no result recorded [c0]") == 2
    done = {"type": "function_call_output", "call_id": "c0", "output": '{"deleted": 1}'}
    ctx.append({**done, "name": "delete_user", **said})
    assert "recorded_tool_result" in str(ctx.items[-1])
    ctx.items.extend(turn([]))
    record = folded(ctx)
    assert "crm.delete_user(service=api): deleted=1" in record.partition("done:")[2]
    assert f"billing.{other}(service=api): no result" in record.partition("open:")[2]
    assert "crm.delete_user(service=api): no result" not in record


@FOLDS
def test_what_an_older_record_tells_without_namespaces_is_told_beside_what_is_done_since(
    folds: bool,
) -> None:
    """Which server it was on is not known any more, so that nothing of it is settled or counted."""
    ctx: ChatContext[Any] = ChatContext([], shape="openai_responses")
    for number, (name, result) in enumerate(
        [("restart", '{"status": "ok"}'), ("deploy", "Error: disk full"), ("scale", "")]
    ):
        ctx.items.extend(turn(lives("function", number, None, name, result)[: 2 - (not result)]))
    folded(ctx)
    for number, name in enumerate(("restart", "deploy", "scale"), 3):
        ctx.items.extend(turn(lives("function", number, "staging", name, '{"status": "fine"}')))
        if folds and number < 5:
            folded(ctx)
    record = folded(ctx)
    done, failed = record.partition("failed:")[::2]
    assert "- restart(service=api): status=ok [c0]" in done
    for number, name in enumerate(("restart", "deploy", "scale"), 3):
        assert f"- staging.{name}(service=api): status=fine [c{number}]" in done
    assert "- deploy(service=api): Error: disk full [c1]" in failed
    assert "- scale(service=api): no result recorded [c2]" in failed


@pytest.mark.parametrize("first", ["delete_user", "delete_card"])
def test_a_result_answers_what_an_older_record_names_without_its_namespace(first: str) -> None:
    """Which of two of one id, the plain name says."""
    ctx: ChatContext[Any] = ChatContext([], shape="openai_responses")
    for name in sorted(["delete_user", "delete_card"], key=lambda name: name != first):
        ctx.items.extend(turn(lives("function", 0, None, name, "")[:1]))
    assert folded(ctx).count("no result recorded [c0]") == 2
    done = {"type": "function_call_output", "call_id": "c0", "output": '{"deleted": 1}'}
    ctx.append({**done, "name": "delete_user", "namespace": "crm"})
    ctx.items.extend(turn([]))
    record = folded(ctx)
    assert "- delete_user(service=api): deleted=1" in record.partition("done:")[2]
    assert "- delete_card(service=api): no result" in record.partition("open:")[2]


@HOMES
def test_effects_are_told_by_the_qualified_name_or_the_plain_one(kind: str) -> None:
    """The qualified one is more exact; a name that was guessed is named in full."""
    homes = ("staging", "production")
    steps = [lives(kind, n, home, "frobnicate", "ok") for n, home in enumerate(homes)]
    told = [{"staging.frobnicate": "read", "frobnicate": "write"}, {"frobnicate": "read"}, {}]
    records = [kept(kind, *steps, folds=False, effects=effects) for effects in told]
    done = [record.partition("done:")[2].partition("values:")[0] for record in records]
    assert "staging" not in done[0]
    assert "production.frobnicate(service=api)" in done[0]
    assert "effect unknown" not in done[0]
    assert done[1] == ""
    assert done[2].count("(effect unknown)") == 2


def test_a_tool_of_a_namespace_that_runs_while_its_call_is_folded_answers_it() -> None:
    """Its result is a note then, which says where the tool lives."""
    ctx: ChatContext[Any] = ChatContext(turn([]), shape="openai_responses")
    for home in ("crm", "billing"):
        ctx.items.extend(lives("function", 0, home, "delete_user", "")[:1])

    def delete_user(service: str) -> Item:
        ctx.items.extend(turn([]))
        assert "crm.delete_user" in folded(ctx, abandon=lambda call: True)
        return {"deleted": 1}

    ctx.run_tool_calls({"crm.delete_user": delete_user})
    ctx.items.extend(turn([]))
    record = folded(ctx)
    assert "crm.delete_user(service=api): deleted=1" in record
    assert "billing.delete_user(service=api): " in record.partition("failed:")[2]


def test_where_a_tool_lives_goes_through_redact_in_the_record() -> None:
    """As the name of the tool does."""
    made = lives("mcp", 0, "db-secret", "restart", "ok")
    record = kept("mcp", made, folds=False, redact=lambda text: text.replace("secret", "x"))
    assert "db-x.restart(service=api)" in record
    assert "secret" not in record
