"""The record of a fold: which facts are needed, which are added, and what twenty folds leave."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from facts_of import known
from hypothesis import given
from hypothesis import strategies as st
from strategies import SHAPES, histories, long_history, support_call

from chatfold import ChatContext
from chatfold.core.call_words import CallWords
from chatfold.core.calls import pair_calls
from chatfold.core.effects import Effect
from chatfold.core.entries import Entry, Field, line
from chatfold.core.record import Record, joined, parsed, rendered
from chatfold.core.recording.actions import NO_RESULT
from chatfold.core.recording.needs import Head
from chatfold.core.recording.recorded import Recorded, make_record
from chatfold.core.summary import Summaries, mark_summary, wrapped
from chatfold.core.values import values
from chatfold.core.views import ItemView, TextPart
from chatfold.tokens import estimate

Item = dict[str, Any]


def user(text: str) -> list[Item]:
    return [{"role": "user", "content": text}]


def says(text: str) -> list[Item]:
    return [{"role": "assistant", "content": text}]


def calls(id_: str, name: str, arguments: Any, result: Any = None) -> list[Item]:
    """Return a call with its result, or without one."""
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": raw}
    made: list[Item] = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": id_, "type": "function", "function": function}],
        }
    ]
    if result is not None:
        text = result if isinstance(result, str) else json.dumps(result)
        made.append({"role": "tool", "tool_call_id": id_, "content": text})
    return made


def views_of(items: Sequence[Any], shape: str = "openai_chat") -> list[ItemView]:
    return list(ChatContext(list(items), shape=shape).views())


def recorded(
    items: Sequence[Any],
    *,
    shape: str = "openai_chat",
    tail: int = 0,
    text: str = "",
    tokens: int = 2000,
    **options: Any,
) -> Recorded:
    views = views_of(items, shape)
    paired = pair_calls(views)
    return make_record(
        views,
        paired,
        head=range(len(views) - tail),
        text=text,
        ledger_tokens=tokens,
        count=options.pop("count", estimate),
        found=known(views, paired, options.get("clean")),
        **options,
    )


def lines(entries: Sequence[Entry]) -> list[str]:
    return [line(entry) for entry in entries]


# --- the story ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_the_record_of_the_support_call_holds_all_that_is_needed(shape: str) -> None:
    """Every needed fact is there without a word of a model, and what was done is done."""
    made = recorded(support_call(shape), shape=shape)
    block = rendered(made.record)
    assert made.found().left_out == ()
    assert made.found().kept == ()
    assert made.found().added == made.found().needed
    for value in ("LK-4821936", "2025-10-07", "2026-10-07", "RMA-90721", "+353 91 555 0142"):
        assert value in block
    names = [entry.name for entry in made.record.done]
    assert names == ["create_rma", "transfer_to_returns_agent", "generate_return_label"]
    assert set(made.guessed) == {"lookup_order", "check_warranty", *names}
    assert made.record.failed == made.record.open == ()


def test_the_record_of_the_support_call_reads_as_documented() -> None:
    made = recorded(support_call("openai_chat"))
    first, second, third = lines(made.record.done)
    assert first == (
        "create_rma(order_number=LK-4821936, serial_number=ACB-PRO-7F29D4, "
        'customer.name=Noor Haddad, customer.address="12 Quay Street, Galway"): '
        "rma=RMA-90721, ships_in_days=2 [call_16]"
    )
    assert second == "transfer_to_returns_agent(): assistant=returns agent [call_17]"
    assert third == (
        "generate_return_label(rma=RMA-90721, email=noor.haddad@example.com): "
        "url=https://returns.example.com/labels/RMA-90721.pdf, due_in_days=14 [call_18]"
    )
    assert (
        "check_warranty(serial_number=ACB-PRO-7F29D4, purchase_date=2025-10-07): "
        "valid_until=2026-10-07"
    ) in lines(made.record.values)


# --- needed facts ---------------------------------------------------------------------------------


def test_a_value_that_only_a_tool_named_long_ago_is_not_needed() -> None:
    """One that was used since is; so is one of a recent result."""
    items = [
        *user("Hello there."),
        *calls(
            "a", "list_orders", {"user": "dana"}, {"orders": ["LK-1111", "LK-2222"], "n": 77.25}
        ),
        *says("I look at LK-1111."),
        *(item for n in range(8) for item in (*user("Go on."), *says("Well."))),
        *calls("b", "get_order", {"order": "LK-1111"}, {"total": 349.9}),
    ]
    made = recorded(items)
    needed = {fact.text for fact in made.found().needed}
    assert {"LK-1111", "349.9"} <= needed
    assert "77.25" not in needed
    assert "LK-2222" not in needed
    assert "LK-2222" in rendered(made.record), "there was room for it"


def test_what_stands_in_the_tail_or_in_a_kept_item_is_not_lost() -> None:
    items = [*user("My order is LK-1111."), *user("The other is LK-2222."), *user("LK-3333?")]
    assert {f.text for f in recorded(items).found().needed} == {"LK-1111", "LK-2222", "LK-3333"}
    assert {f.text for f in recorded(items, kept=[0]).found().needed} == {"LK-2222", "LK-3333"}
    again = [*items, *says("LK-2222 is on its way.")]
    assert {f.text for f in recorded(again, tail=1).found().needed} == {"LK-1111", "LK-3333"}


def test_what_the_text_holds_is_not_added() -> None:
    """In whatever form it is written; a date without its year is not the date."""
    items = user("Order LK-1111 of 2025-10-07 for 1,299.00 USD, due 2026-03-01.")
    made = recorded(items, text="LK-1111, bought October 7, 2025, for $1299. Due March 1.")
    assert [fact.text for fact in made.found().added] == ["2026-03-01"]
    assert {fact.text for fact in made.found().kept} >= {"LK-1111", "2025-10-07", "1,299.00 USD"}
    said = "Order LK-1111 of 2025-10-07 for 1,299.00 USD, due 2026-03-01"
    assert lines(made.record.values) == [f'user: "{said}"']


def test_a_command_with_quotes_that_is_done_is_no_value_beside_that() -> None:
    command = 'git commit -m "Fix the login"'
    made = recorded([*user("Commit it."), *calls("c1", "bash", {"command": command}, "ok")])
    assert [entry.arguments for entry in made.record.done] == [(Field("command", command),)]
    assert made.record.values == ()


def test_what_the_user_said_of_values_of_one_kind_is_told_once() -> None:
    """In the sentence of all of them: a list does not say which of them was meant."""
    said = "Move 500 EUR from account 11112222 to account 33334444, not to 55556666"
    made = recorded(user(f"{said}. I am kim@example.com."))
    assert lines(made.record.values) == [f'user: "{said}", kim@example.com']
    assert made.found().left_out == ()
    items = user("Stop SO-17 for 80 EUR but keep SO-18.")
    kept = recorded(items, text="SO-17 was stopped, 80 EUR.")
    assert lines(kept.record.values) == ["user: Stop SO-17 for 80 EUR but keep SO-18"]


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("Call 415-555-0100.", "Sorry, I meant 415-555-0199.", "Sorry, I meant 415-555-0199"),
        ("Come on 2026-05-12.", "Nein, ich meinte 2026-05-13!", "Nein, ich meinte 2026-05-13!"),
        ("It is about order LK-1111.", "LK-2222, no wait.", "LK-2222, no wait"),
        ("It is about order LK-1111.", "Oh no. I meant LK-2222.", "I meant LK-2222"),
    ],
)
def test_what_may_correct_a_value_is_told_in_its_sentence(
    first: str, second: str, said: str
) -> None:
    """A list of both does not say which of them holds."""
    made = recorded([*user(first), *says("Yes."), *user(second)])
    assert made.record.values[0].values[-1].text == said


@pytest.mark.parametrize(
    ("name", "gave"),
    [("update_plan", "updated"), ("find_offers", {"offers": [{"id": "OF-7781", "by": "LX-9"}]})],
    ids=["acts", "looks"],
)
@pytest.mark.parametrize(
    ("said", "done", "told"),
    [
        (
            ["I start on 2027-01-11.", "Moved to 2027-01-18."],
            {"start": "2027-01-18"},
            ["I start on 2027-01-11", "Moved to 2027-01-18"],
        ),
        (
            ["Home office days: 112. Correction, home office days were 96."],
            {"days": 96},
            ["Home office days: 112", "Correction, home office days were 96"],
        ),
        (
            ["Budget 900 EUR.", "Make it 700 EUR.", "Or 650 EUR.", "No, 600 EUR."],
            {"amounts": ["700 EUR", "650 EUR", "600 EUR"]},
            ["Budget 900 EUR", "Make it 700 EUR", "No, 600 EUR"],
        ),
        (
            ["Book 2027-01-18.", "Never mind 2027-01-25."],
            {"on": "2027-01-18"},
            ["Never mind 2027-01-25"],
        ),
        (["Book 2027-01-18.", "Pay 90 EUR."], {"on": "2027-01-18", "euros": "90 EUR"}, []),
    ],
)
def test_what_a_call_was_made_with_is_told_as_said_behind_what_it_corrects(
    said: list[str], done: dict[str, Any], told: list[str], name: str, gave: Any
) -> None:
    """The words left would else be of the old value alone, as if it still held."""
    items = [item for text in said for item in (*user(text), *says("Yes."))]
    items += calls("c1", name, done, gave)
    made = recorded([*items, *says("Done.")], tail=1)
    of_user = [field.text for e in made.record.values if e.name == "user" for field in e.values]
    assert of_user == told


def test_a_failure_that_was_only_counted_is_made_good_as_any() -> None:
    """What names it goes from the count; one without a name stays counted."""
    items = user("Mail them all.")
    for n in range(30):
        items += calls(f"c{n}", "send_email", {"id": 700 + n}, {"error": "bounced"})
    first = recorded([*items, *says("Some bounced.")], tail=1, tokens=500).record
    count, *full = first.failed
    names = [field.text for field in count.values]
    assert count.calls + len(full) == 30
    assert len(names) >= 2
    again = calls("d0", "send_email", {"id": int(names[0])}, {"sent": True})
    again += calls("d1", "send_email", {"id": 700}, {"sent": True})
    second = recorded([*again, *says("Sent.")], tail=1, tokens=500, previous=first).record
    left = second.failed[0]
    assert [field.text for field in left.values] == names[1:]
    assert left.calls == count.calls - 1
    assert [entry.name for entry in second.done] == ["send_email"] * 2


def test_what_an_earlier_record_loses_is_left_out() -> None:
    """It was needed, and nothing else says that it is gone."""
    record, gone = None, list[str]()
    for fold in range(4):
        orders = [f"LK-{fold}{n:03}" for n in range(12)]
        items = user(f"What about {', '.join(orders)}?")
        for n, order in enumerate(orders):
            items += calls(f"c{fold}{n}", "get_order", {"order": order}, "it is on its way")
        made = recorded([*items, *says("All are on their way.")], tokens=120, previous=record)
        found, record = made.found(), made.record
        told = rendered(record)
        lost = {fact.text for fact in found.left_out}
        assert not any(text in told for text in lost)
        gone += lost
        assert {fact.text for fact in found.needed} >= lost
    every = {f"LK-{fold}{n:03}" for fold in range(4) for n in range(12)}
    kept = {order for order in every if order in told}
    assert kept
    assert every - kept <= set(gone)


def test_failures_stay_counted_beside_hundreds_that_went_well_since() -> None:
    """Those are counted as well, and say nothing of which they were."""
    record = None
    for fold in range(3):
        items = user("Refund more.")
        for n in range(100):
            given = {"order_id": f"A{1000 + 100 * fold + n}"}
            gave = {"error": "declined"} if fold == 0 and n % 2 else {"refunded": True}
            items += calls(f"c{fold}.{n}", "refund_order", given, gave)
        record = recorded([*items, *says("Done.")], tail=1, tokens=300, previous=record).record
        assert sum(entry.calls for entry in record.failed) == 50
        assert sum(entry.calls for entry in record.done) == 100 * fold + 50


def test_what_corrects_a_value_takes_no_room_of_another() -> None:
    """What a call was made with is told by that already; words around others stay, too."""
    items = [*user("I start on 2027-01-11."), *says("Yes.")]
    items += [*user("Moved to 2027-01-18, for the reason that I told you."), *says("Yes.")]
    items += calls("c1", "update_plan", {"start": "2027-01-18"}, "updated")
    for number in range(3):
        items += [*user(f"My asset {number} is D-447{number}."), *says("Yes.")]
    found = set[bool]()
    for tokens in range(20, 120):
        said = rendered(Record(values=recorded(items, tokens=tokens).record.values))
        found.add("2027-01-18" in said)
        if "2027-01-18" in said:
            assert "Moved to 2027-01-18, for the reason" in said
            assert "I start on 2027-01-11" in said
            assert "My asset 2 is D-4472" in said
    assert found == {True, False}


def test_what_corrects_a_value_of_an_earlier_record_is_told_as_said() -> None:
    earlier = recorded([*user("I start on 2027-01-11."), *says("Noted.")]).record
    items = [
        *user("Moved to 2027-01-18."),
        *calls("c1", "update_plan", {"start": "2027-01-18"}, "ok"),
    ]
    made = recorded([*items, *says("Done.")], previous=earlier)
    of_user = [field.text for e in made.record.values if e.name == "user" for field in e.values]
    assert of_user == ["I start on 2027-01-11", "Moved to 2027-01-18"]


def test_a_long_sentence_of_another_value_is_told_by_the_value() -> None:
    later = "And " + "very " * 15 + "good is also 415-555-0199."
    made = recorded([*user("Call 415-555-0100."), *says("Yes."), *user(later)])
    assert lines(made.record.values) == ["user: 415-555-0100, 415-555-0199"]


def test_a_value_is_not_told_by_an_instruction_that_was_taken_back() -> None:
    """By how it was taken back, if the user named it there, else alone."""
    rules = ["Never mail anna@x.com, use ben@x.com.", "Ask me before you spend $900 or $950."]
    lifts = "You may mail anna@x.com again."
    made = recorded([*user(" ".join(rules)), *says("Yes."), *user(lifts)], lifted=rules)
    (entry,) = made.record.values
    told = {field.text for field in entry.values}
    assert told == {"You may mail anna@x.com again", "ben@x.com", "$900", "$950"}


def test_a_sentence_of_values_is_carried_as_it_is() -> None:
    """As long as one of them is in no words of the model's."""
    said = Entry("user", None, (Field("", "Stop SO-17 for 80 EUR but keep SO-18"),))
    previous = Record(values=(said,))
    assert recorded(user("Fine."), previous=previous, text="SO-17").record.values == (said,)
    done = recorded(user("Fine."), previous=previous, text="Stop SO-17 (80 EUR), not SO-18.")
    assert done.record.values == ()


def test_a_changed_value_is_given_as_it_is_now_with_what_it_was() -> None:
    """The same tool, the same arguments, the same path; what changed stands last."""
    items = [
        *user("Where is LK-1111?"),
        *calls("a", "get_order", {"order": "LK-1111"}, {"status": "packed", "total": 12.5}),
        *calls("b", "get_order", {"order": "LK-2222"}, {"status": "open", "total": 7.25}),
        *calls("c", "get_order", {"order": "LK-1111"}, {"status": "shipped", "total": 12.5}),
    ]
    shown = lines(recorded(items).record.values)
    assert shown[-1] == "get_order(LK-1111): total=12.5, status=shipped (was: packed)"
    assert "get_order(LK-2222): status=open, total=7.25" in shown


def test_a_body_of_text_is_no_value() -> None:
    """Long arguments and long results stay out; a value in them that was named again is in."""
    body = "\n".join(f"row {n}: LK-{n:04} costs {n}.50 EUR" for n in range(100, 200))
    items = [
        *user("Go."),
        *calls("a", "read_file", {"path": "data/orders.txt"}, body),
        *calls("b", "write_file", {"path": "out.txt", "content": body}, "ok"),
        *says("LK-0123 is the one."),
    ]
    block = rendered(recorded(items).record)
    assert "LK-0123" in block
    assert len(set(re.findall(r"LK-\d+", block))) < 5
    assert "data/orders.txt" in block
    assert max(map(len, block.splitlines())) < 600


def test_words_stand_around_a_value_that_does_not_say_what_it_is() -> None:
    items = user(
        "Hello. Please keep it below 500 EUR for 3 guests; I arrive on 2026-03-01 (LK-1111)."
    )
    (entry,) = recorded(items).record.values
    texts = [field.text for field in entry.values]
    assert "LK-1111" in texts
    assert any(text.endswith("500 EUR") and "below" in text for text in texts)
    assert any("arrive on 2026-03-01" in text for text in texts)


def test_a_long_form_in_the_words_holds_the_short_one() -> None:
    """The whole hash of a commit says what the first letters of it said."""
    whole = "3f2a9c1de0b47755aa1020304050607080900f1e"
    items = user(f"Please look at commit {whole[:7]}.")
    assert recorded(items).found().added
    found = recorded(items, text=f"The user asked for commit {whole}.").found()
    assert not found.added
    assert found.kept


def test_what_is_carried_is_not_told_again() -> None:
    """Though another call has given it since."""
    carried = Record(values=(Entry("user", None, (Field("", "LK-4821936"),)),))
    items = calls("a", "find_order", {"of": "me"}, {"order": "LK-4821936", "parcel": "TRK-71234"})
    block = rendered(recorded(items, previous=carried).record)
    assert block.count("LK-4821936") == block.count("TRK-71234") == 1


def test_what_is_carried_keeps_its_room() -> None:
    """Up to half of it: new values of the same key do not push it out."""
    old, new = [[f"U-{n}" for n in span] for span in (range(100, 108), range(200, 240))]
    carried = Entry("of", None, tuple(Field("", text) for text in old))
    items = [item for text in new for item in calls(text, "find_order", {"of": text}, "found")]
    block = rendered(recorded(items, previous=Record(values=(carried,)), tokens=200).record)
    assert all(text in block for text in old)
    assert 5 < sum(text in block for text in new) < len(new)


def test_an_entry_is_as_new_as_what_names_it_last() -> None:
    """So that the next fold, which cuts the oldest first, keeps what is still talked of."""
    items = [
        {"role": "user", "content": "What is new?"},
        *calls("a", "find_order", {"of": "me"}, {"order": "LK-4821936"}),
        *calls("b", "find_parcel", {"of": "me"}, {"parcel": "TRK-71234"}),
    ]
    names = [entry.name for entry in recorded(items).record.values]
    assert names == ["find_order", "find_parcel"]
    items.append({"role": "assistant", "content": "About the order LK-4821936: it is on its way."})
    names = [entry.name for entry in recorded(items).record.values]
    assert names[-1] == "find_order"


def test_the_order_is_that_of_time_and_the_newest_is_last() -> None:
    items = [
        *calls("a", "get_order", {"order": "LK-1111"}, {"rma": "RMA-1", "at": "2026-01-01"}),
        *user("Mail dana@example.com."),
        *calls("b", "get_order", {"order": "LK-2222"}, {"rma": "RMA-2", "at": "2026-02-02"}),
    ]
    assert lines(recorded(items).record.values) == [
        "get_order(LK-1111): rma=RMA-1, at=2026-01-01",
        "user: dana@example.com",
        "get_order(LK-2222): rma=RMA-2, at=2026-02-02",
    ]


# --- actions --------------------------------------------------------------------------------------


def test_only_calls_that_change_things_are_done() -> None:
    """As the caller says, else as the name says; one that nobody knows is marked."""
    items = [
        *calls("a", "create_ticket", {"title": "x"}, {"id": "T-1"}),
        *calls("b", "get_ticket", {"id": "T-1"}, {"id": "T-1"}),
        *calls("c", "frobnicate", {"id": "T-1"}, "ok"),
        *calls("d", "get_secret", {"id": "T-2"}, "ok"),
    ]
    effects: Mapping[str, Effect] = {"get_secret": "write"}
    made = recorded(items, effects=effects)
    assert lines(made.record.done) == [
        "create_ticket(title=x): id=T-1 [a]",
        "frobnicate(id=T-1) (effect unknown) [c]",
        "get_secret(id=T-2) [d]",
    ]
    assert made.guessed == ("create_ticket", "get_ticket", "frobnicate")


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"error": "card expired"}, "card expired"),
        ({"error": {"message": "card expired", "code": 3}}, "card expired"),
        ({"success": False, "message": "card expired"}, "card expired"),
        ({"status": "declined"}, "declined"),
        ("Error: card expired\nsee log", "Error: card expired"),
        ("<tool_use_error>InputValidationError: bad</tool_use_error>", "InputValidationError"),
        (
            "Traceback (most recent call last):\n  File x\nValueError: no card",
            "ValueError: no card",
        ),
        ("Failed to charge", "Failed to charge"),
        ({"errors": ["a", "b"]}, "a; b"),
    ],
)
def test_a_failed_call_says_why(result: Any, reason: str) -> None:
    """Also where the provider has no mark for failed results."""
    made = recorded(calls("c9", "refund", {"order": "LK-1"}, result))
    assert made.record.done == ()
    (entry,) = made.record.failed
    assert (entry.name, entry.call) == ("refund", "c9")
    assert reason in entry.values[0].text


@pytest.mark.parametrize(
    "result",
    [{"error": None, "id": 3}, {"errors": []}, "Order placed, 0 errors", "Failed: 0", "ok", "[]"],
)
def test_a_result_that_only_mentions_errors_is_no_failure(result: Any) -> None:
    assert recorded(calls("c", "refund", {"order": "LK-1"}, result)).record.failed == ()


def test_a_result_that_the_provider_marks_as_failed_is_a_failure() -> None:
    items: list[Item] = [
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "t", "name": "refund", "input": {"order": "A-1"}}
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": "no card", "is_error": True}
            ],
        },
    ]
    made = recorded(items, shape="anthropic")
    assert lines(made.record.failed) == ["refund(order=A-1): no card [t]"]
    items[1]["content"][0]["content"] = ""
    assert lines(recorded(items, shape="anthropic").record.failed) == [
        "refund(order=A-1): failed [t]"
    ]


def test_a_call_that_was_made_again_with_success_has_not_failed() -> None:
    items = [
        *calls("a", "refund", {"order": "LK-1", "reason": "late"}, "Error: busy"),
        *calls("b", "refund", {"order": "LK-2"}, "Error: busy"),
        *calls("c", "refund", {"order": "LK-1", "reason": "too late"}, {"id": "R-1"}),
        *calls("d", "refund", {"order": "LK-2"}, "Error: still busy"),
    ]
    record = recorded(items).record
    assert [entry.call for entry in record.done] == ["c"]
    assert lines(record.failed) == ["refund(order=LK-2): Error: still busy [d]"]


def test_each_call_counts_where_what_it_is_given_decides() -> None:
    """Of a tool that has only read before, too; and one that was not answered is open."""
    items = [
        *user("Tidy up, and look at what is left."),
        *calls("a", "bash", {"command": "ls -la"}, "total 0"),
        *calls("b", "bash", {"command": "rm -rf build"}, "done"),
        *calls("c", "bash", {"command": "cat notes"}, "nothing"),
        *calls("d", "get_order", {"order": "LK-1"}, {"total": 5}),
        *calls("e", "get_order", {"order": "LK-2"}, {"total": 7}),
        *calls("f", "get_order", {"order": "LK-3"}),
        *user("Never mind."),
    ]
    record = recorded(items).record
    assert [(entry.name, entry.call) for entry in record.done] == [("bash", "b")]
    assert [(entry.name, entry.call) for entry in record.open] == [("get_order", "f")]


def test_that_nothing_went_wrong_is_not_told_of_what_was_done() -> None:
    """That something was not done is."""
    result = {"id": "R-7", "error": None, "isError": False, "failed": False, "settled": False}
    made = recorded(calls("c1", "pay", {"order": "LK-1"}, result)).record
    assert lines(made.done) == ["pay(order=LK-1): id=R-7, settled=false [c1]"]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"refunded": ["LK-1"], "failed": ["LK-2"]}, "failed.0=LK-2"),
        ({"refunded": ["LK-1"], "rejected": [{"order": "LK-2"}]}, "rejected.0.order=LK-2"),
        ({"refunded": ["LK-1"], "skipped": ["LK-2"]}, "skipped.0=LK-2"),
        ({"notRefunded": ["LK-2"]}, "notRefunded.0=LK-2"),
        ({"failed": ["LK-2"]}, "failed.0=LK-2"),
        ({"failed": {"LK-2": {"at": 3}}}, "failed.LK-2.at=3"),
        (
            {"refunded": ["LK-1"], "errors": {"LK-2": "too old", "hint": None}},
            "errors.LK-2=too old, errors.hint=null",
        ),
        (
            {"refunded": ["LK-1"], "failed": [{"id": "LK-2", "reason": "too old"}]},
            "failed.0.id=LK-2, failed.0.reason=too old",
        ),
        ([{"id": "LK-1", "ok": True}, {"id": "LK-2", "ok": False}], "1.id=LK-2, 1.ok=false"),
        (
            [{"id": "LK-1", "error": ""}, {"id": "LK-2", "status": "failed"}],
            "1.id=LK-2, 1.status=failed",
        ),
        ({"refunded": 1, "failed": 1, "errors": ["LK-2"]}, "failed=1, errors.0=LK-2"),
        (
            {"refunded": ["LK-1"], "failed": [f"A-{n}" for n in range(7)]},
            "failed.0=A-0, failed.1=A-1, failed.2=A-2, failed.3=A-3, failed.4=A-4, …",
        ),
    ],
)
def test_a_part_of_a_call_that_failed_is_told_though_its_value_names_the_call(
    result: Any, said: str
) -> None:
    given = {"orders": ["LK-1", "LK-2"], "pieces": 1}
    made = recorded(calls("c1", "refund_orders", given, result)).record
    assert made.failed == ()
    (told,) = lines(made.done)
    assert told.partition("): ")[2] == f"{said} [c1]"


@pytest.mark.parametrize(
    ("name", "given", "result"),
    [
        ("skip_songs", {"songs": ["S-1", "S-2"]}, {"skipped": ["S-1", "S-2"]}),
        ("reject_orders", {"orders": ["S-1"]}, {"rejected": ["S-1"]}),
        ("create_alert", {"skipped": ["S-1"]}, {"alert": {"skipped": ["S-1"]}}),
        ("save_report", {"failed": ["S-1"]}, {"failed": ["S-1"]}),
        ("archive_failed_jobs", {"jobs": ["S-1"]}, {"failed_jobs": ["S-1"]}),
        ("import_rows", {"file": "S-1"}, {"file": "S-1", "failed": 0, "skipped": []}),
        ("import_rows", {"file": "S-1"}, {"x" * 70 + "_failed": ["S-1"]}),
    ],
)
def test_what_a_tool_is_for_and_what_it_was_given_is_no_part_that_failed(
    name: str, given: dict[str, Any], result: Any
) -> None:
    (entry,) = recorded(calls("c1", name, given, result)).record.done
    assert [f.text for f in entry.values if f.text != "0"] == []


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"failed": ["LK-1", "LK-2"]}, 'failed: ["LK-1", "LK-2"]'),
        ({"failed": ["LK-2", "LK-1"], "total": 2, "refunded": None}, 'failed: ["LK-2", "LK-1"]'),
        ({"failed": ["LK-1", "LK-2"], "reason": "too old"}, "too old"),
        ({"failed": [{"id": "LK-1", "error": "too old"}, {"id": "LK-2"}]}, "too old"),
        ({"failures": {"LK-1": "too old", "LK-2": "x"}}, None),
        ({"not_refunded": ["LK-1", "LK-2"]}, None),
        ({"succeeded": [], "failed": ["LK-1", "LK-2"]}, "succeeded: []"),
        ({"success_count": 0, "failure_count": 2}, "success_count: 0"),
    ],
)
def test_a_call_of_which_all_failed_has_failed(result: Any, reason: str | None) -> None:
    given = {"orders": ["LK-1", "LK-2"], "note": "as asked"}
    made = recorded(calls("c1", "refund_orders", given, result)).record
    assert made.done == ()
    assert reason in (None, made.failed[0].values[0].text)


@pytest.mark.parametrize(
    ("name", "given", "result"),
    [
        ("refund_orders", {"orders": ["LK-1", "LK-2"]}, {"failed": ["LK-1"]}),
        ("refund_orders", {"orders": ["LK-1"]}, {"failed": ["LK-1"], "refunded": ["LK-3"]}),
        ("refund_orders", {"orders": ["LK-1"]}, {"failed": ["LK-1"], "total": 2}),
        ("refund_orders", {"orders": ["LK-1"]}, {"failed": ["LK-7"]}),
        ("refund_orders", {"from": "LK-1", "to": "LK-2"}, {"failed": ["LK-1"]}),
        ("refund_orders", "LK-1", {"failed": ["LK-1"]}),
        ("fail_jobs", {"jobs": ["LK-1"]}, {"failed": ["LK-1"]}),
        ("write_failures", {"jobs": ["LK-1"]}, {"failed": ["LK-1"]}),
        ("delete_failed_jobs", {"jobs": ["LK-1"]}, {"failed": ["LK-1"]}),
        ("run_tests", {"files": ["LK-1"]}, {"failed": ["LK-1"]}),
        ("review_orders", {"orders": ["LK-1"]}, {"rejected": ["LK-1"]}),
        ("refund_orders", {"orders": ["LK-1"]}, {"not_delivered": ["LK-1"]}),
        ("refund_orders", {"orders": ["LK-1"]}, {"succeeded": 0, "failed": 1, "queued": 3}),
        ("refund_orders", {"orders": ["LK-1"]}, {"succeeded": 2, "failed": 1}),
    ],
)
def test_a_call_of_which_a_part_may_have_been_done_has_not_failed(
    name: str, given: Any, result: Any
) -> None:
    assert recorded(calls("c1", name, given, result)).record.failed == ()


def test_one_thing_that_a_call_was_given_has_failed_where_it_is_named_so() -> None:
    made = recorded(calls("c1", "refund_order", {"order": "LK-1"}, {"failed": ["LK-1"]})).record
    assert lines(made.failed) == ['refund_order(order=LK-1): "failed: [\\"LK-1\\"]" [c1]']


def test_an_abandoned_call_is_open_and_its_late_result_ends_that() -> None:
    """Also over folds: the call is gone, and the result comes without it."""
    first = recorded([*calls("c1", "pay", {"order": "LK-1"}), *user("Well?")]).record
    assert lines(first.open) == [f"pay(order=LK-1): {NO_RESULT} [c1]"]
    late = [{"role": "tool", "tool_call_id": "c1", "content": '{"id": "P-7"}'}]
    second = recorded(late, previous=first).record
    assert second.open == ()
    assert lines(second.done) == ["pay(order=LK-1): id=P-7 [c1]"]
    again = recorded(calls("c2", "pay", {"order": "LK-1"}, {"id": "P-8"}), previous=first).record
    assert again.open == ()
    assert [entry.call for entry in again.done] == ["c2"]
    read = recorded([*calls("c3", "get_x", {"y": "LK-1"}), *user("Well?")]).record
    assert recorded(calls("c4", "get_x", {"y": "LK-1"}, "z"), previous=read).record.open == ()


def test_an_earlier_failure_that_was_mended_since_is_gone() -> None:
    first = recorded(calls("a", "pay", {"order": "LK-1"}, "Error: busy")).record
    assert first.failed
    assert recorded(calls("b", "pay", {"order": "LK-1"}, "ok"), previous=first).record.failed == ()
    still = recorded(calls("b", "pay", {"order": "LK-1"}, "Error: no"), previous=first).record
    assert lines(still.failed) == ["pay(order=LK-1): Error: no [b]"]
    assert recorded(user("Hello."), previous=first).record.failed == first.failed


def test_thousands_of_deeds_are_counted() -> None:
    """The newest stand in full; of the others the ids do, but of the oldest the first and last."""
    items = [
        item
        for n in range(3000)
        for item in calls(f"c{n}", "create_ticket", {"title": "lamp"}, {"id": f"T-{n}"})
    ]
    made = recorded(items, action_tokens=300)
    counted, *rest = made.record.done
    assert counted.calls + len(rest) == 3000
    ids = [f"T-{n}" for n in range(counted.calls)]
    oldest = len(ids) - len(counted.values)
    assert counted.values[0] == Field("id", f"T-0 ... T-{oldest}")
    assert [field.text for field in counted.values[1:]] == ids[oldest + 1 :]
    assert len(counted.values) > 15
    assert rest[-1].values == (Field("id", "T-2999"),)
    assert estimate(rendered(made.record._replace(values=()))) <= 300


# --- laws -----------------------------------------------------------------------------------------


@given(histories(max_turns=4), st.integers(0, 60), st.integers(0, 150), st.booleans())
def test_a_record_keeps_its_laws_for_any_history(
    history: Any, cut: int, tokens: int, with_text: bool
) -> None:
    """It is deterministic, within its budgets, read back exactly, and repeats no text.

    Every added fact was in the head, and each needed fact is in one place.
    """
    views = views_of(history.items, history.shape)
    text = "We talked about 3 things, see https://example.com/a and a@example.com." * with_text
    head = range(min(cut, len(views)))

    paired = pair_calls(views)

    def made() -> Recorded:
        return make_record(
            views,
            paired,
            head=head,
            text=text,
            ledger_tokens=tokens,
            count=estimate,
            found=known(views, paired),
        )

    first = made()
    again = made()
    assert (again.record, again.guessed, again.found()) == (
        first.record,
        first.guessed,
        first.found(),
    )
    assert parsed(joined(text, first.record)) == (text, first.record)
    assert estimate(rendered(Record(values=first.record.values))) <= tokens
    assert estimate(rendered(first.record._replace(values=()))) <= max(400, tokens)
    assert len(first.found().needed) == len(first.found().kept) + len(first.found().added) + len(
        first.found().left_out
    )
    held = {value.key for value in values(text)}
    for fact in first.found().added:
        assert fact.key not in held
        assert any(sighting.index in head for sighting in fact.sightings)
        assert all(sighting.index in head for sighting in fact.sightings)


@given(histories(max_turns=3))
def test_nothing_goes_into_a_record_that_was_not_cleaned(history: Any) -> None:
    """`clean` sees every text, so that what it takes out is nowhere in the record."""
    views = views_of(history.items, history.shape)

    def clean(text: str) -> str:
        return "".join("*" if c.isdigit() else c for c in text)

    paired = pair_calls(views)
    record = make_record(
        views,
        paired,
        head=range(len(views)),
        text="",
        ledger_tokens=500,
        count=estimate,
        clean=clean,
        found=known(views, paired, clean),
        standing=["Room 12."],
    ).record
    block = re.sub(r" \(\d+(?: earlier)? calls\)|\w+(?:\.\d+)+|\\u\{\w+\}", "", rendered(record))
    assert re.search(r"(?<![\w.])\d(?![\w.]*=)", block) is None


def test_a_secret_that_json_hides_by_an_escape_is_cleaned_too() -> None:
    """Cleaning the raw text is not enough where the value is decoded afterwards."""
    raw = '{"path": "p\\u0061ssw\\u006frd-1111"}'
    items = calls("c", "write_file", raw, '{"id": "p\\u0061ssword-1111"}')
    made = recorded(items, clean=lambda text: text.replace("password-1111", "***"))
    assert "1111" not in rendered(made.record)


def test_without_a_budget_there_are_no_values() -> None:
    made = recorded(support_call("openai_chat"), tokens=0)
    assert made.record.values == ()
    assert len(made.record.done) == 3
    assert made.found().left_out


def test_an_empty_head_has_an_empty_record() -> None:
    made = recorded([])
    assert (made.record, made.guessed) == (Record(), ())
    assert made.found() == ((), (), (), ())


@pytest.mark.parametrize("shape", ["openai_chat", "anthropic"])
def test_twenty_folds_stay_within_the_budget_and_keep_what_is_needed(shape: str) -> None:
    """What the user said first and what was done first are still told; nothing grows or nests."""
    opening: list[Any] = [
        {"role": "user", "content": "I am dana@example.com, order LK-9999999, paid 1234.56 EUR."}
    ]
    history = [*opening, *long_history(shape, 10_000, 7)[1:]]
    views = views_of(history, shape)
    record: Record | None = None
    size = len(views) // 20
    budget = 600
    for fold in range(20):
        part = views[fold * size : (fold + 1) * size]
        if record is not None:
            inner = wrapped(joined("All is well.", record), "A note.")
            marked = mark_summary([ItemView("user", (TextPart(inner),))], Summaries())
            assert marked is not None
            part = [marked[1], *part]
        paired = pair_calls(part)
        made = make_record(
            part,
            paired,
            head=range(len(part)),
            previous=record,
            standing=["Never call me before 10 am."],
            text="All is well.",
            ledger_tokens=budget,
            count=estimate,
            found=known(part, paired),
        )
        record = made.record
        assert parsed(joined("x", record)) == ("x", record)
        assert estimate(rendered(Record(values=record.values))) <= budget
        assert estimate(rendered(record._replace(standing=(), values=()))) <= budget
        assert len(made.found().added) > 20
    assert record is not None
    block = rendered(record)
    for value in ("dana@example.com", "LK-9999999", "1234.56 EUR"):
        assert value in block
    assert block.count("<record>") == 1
    assert record.standing == ("Never call me before 10 am.",)


def test_what_only_the_earlier_summary_still_told_is_carried_as_earlier() -> None:
    """Its words were the only place, and the new text left it out."""
    inner = wrapped(joined("The parcel LK-1111 came on 2026-03-01.", Record()), "A note.")
    views = [ItemView("user", (TextPart(inner),)), ItemView("user", (TextPart("Fine."),))]
    marked = mark_summary(views, Summaries())
    assert marked is not None
    views[0] = marked[1]
    found = known(views, [])
    made = make_record(
        views, [], head=range(2), text="Fine.", ledger_tokens=100, count=estimate, found=found
    )
    assert lines(made.record.values) == ["earlier: LK-1111, came on 2026-03-01"]


def test_an_earlier_value_goes_once_the_text_holds_it() -> None:
    previous = Record(
        values=(
            Entry(
                "get", (Field("id", "LK-1"),), (Field("rma", "RMA-11"), Field("at", "2026-01-02"))
            ),
            Entry("user", None, (Field("", "a@example.com"),)),
        )
    )
    made = recorded(user("And a@example.com?"), previous=previous, text="RMA-11 is done.")
    assert lines(made.record.values) == [
        "get(id=LK-1): at=2026-01-02",
        "user: a@example.com",
    ]


def test_what_was_done_goes_among_the_values_where_its_line_has_no_room_any_more() -> None:
    """Its calls went with an earlier fold, so that nothing else has what came of them."""
    first = [*calls("a", "create_desk", {"room": "Birch"}, {"desk": "D-4411", "phone": "P-902"})]
    first += calls("b", "invite", {"mail": "ann@example.com", "team": "Harbour crew"}, "ok")
    earlier = recorded(first).record
    assert "D-4411" in rendered(earlier)
    later = [
        item
        for n in range(8)
        for item in calls(f"c{n}", "send_form", {"form": f"F-{n}00"}, {"sent": f"S-{n}00"})
    ]
    made = recorded(later, previous=earlier, tokens=200, action_tokens=40).record
    assert "P-902" not in rendered(made._replace(values=()))
    values = rendered(Record(values=made.values))
    assert "create_desk(room=Birch): phone=P-902" in values
    assert "mail: ann@example.com" not in values
    assert "invite: mail=ann@example.com" in lines(made.done)
    assert "team: Harbour crew" in values
    told = recorded(later, previous=earlier, tokens=200, action_tokens=40, text="P-902 is free.")
    assert "P-902" not in rendered(Record(values=told.record.values))


def test_json_inside_a_string_is_read_once_for_all_its_values() -> None:
    """Else ten thousand values in one nested list would take as many readings of all of it."""
    raw = json.dumps({"command": json.dumps([{"id": f"LK-{n}"} for n in range(50)])})
    views = views_of(calls("c", "bash", raw, "ok"))
    words = CallWords(pair_calls(views))
    arguments = words.arguments(0)
    assert words.leaf(arguments, ("command", 7, "id")) == "LK-7"
    assert words.leaf(arguments, ("command", 7)) is words.leaf(arguments, ("command", 7))
    assert words.leaf(arguments, ("command", 99)) is None


def test_an_earlier_entry_of_which_nothing_is_left_goes_whole() -> None:
    entry = Entry("get", (Field("id", "LK-1"),), (Field("rma", "RMA-11"),))
    made = recorded(user("Hello."), previous=Record(values=(entry,)), text="RMA-11 is done.")
    assert made.record.values == ()


def test_what_was_named_again_stands_behind_what_was_not() -> None:
    """What does not fit goes from the front, in an entry as in the whole part."""
    told = tuple(Field("", text) for text in ("LK-1111", "LK-2222", "LK-3333"))
    other = Entry("get", (Field("id", "LK-7777"),), (Field("at", "2026-01-02"),))
    previous = Record(values=(Entry("earlier", None, told), other))
    made = recorded([*user("And LK-1111?"), *says("Yes.")], tail=2, previous=previous)
    assert lines(made.record.values) == [
        "get(id=LK-7777): at=2026-01-02",
        "earlier: LK-2222, LK-3333, LK-1111",
    ]


def test_what_one_tool_gives_is_in_if_its_like_was_used() -> None:
    """Tracking numbers were looked up, serial numbers never: so will the next ones be."""
    items = user("Go.")
    for n in range(30):
        result = {"serial": f"SER-{n:05}", "tracking": f"TRK-{n:05}"}
        items += calls(f"a{n}", "get_order", {"order": f"LK-{n:04}"}, result)
        if n < 20:
            items += says("One moment.")
            items += says("It is on its way.")
            items += calls(f"b{n}", "track", {"number": f"TRK-{n:05}"}, {"ok": True})
    block = rendered(recorded(items, tokens=90).record)
    newest = [n for n in range(20, 30) if f"TRK-{n:05}" in block]
    assert len(newest) > 6
    assert block.count("SER-") < len(newest)


def deeds_among_lookups(deed: Any, used: int) -> list[Item]:
    """Return twelve turns with a lookup and a deed each, and the use of some that was looked up.

    Args:
        deed: Returns the result of the deed of a turn, by its number.
        used: Of how many turns a value that was looked up is used later.
    """
    items: list[Item] = []
    for n in range(12):
        seen = {f"slot_{k}": f"V{n}{k}-77{n}{k}" for k in range(6)}
        items += user("the next one") + calls(f"l{n}", "get_dock", {"dock": f"D-{n}"}, seen)
        items += calls(f"d{n}", "create_order", {"dock": f"D-{n}"}, deed(n)) + says("Done.")
    for n in range(used):
        items += user("use it") + calls(f"u{n}", "get_slot", {"slot": f"V{n}0-77{n}0"}, "free")
    return items


def test_what_was_made_is_not_lost_to_what_was_only_looked_up() -> None:
    """That no made id was used yet does not tell that none will be: nothing else gives it again."""
    items = deeds_among_lookups(lambda n: {"order_id": f"PO-{n}-4{n}1", "status": "created"}, 6)
    shown = str(recorded(items, tokens=500).record)
    assert [n for n in range(12) if f"PO-{n}-4{n}1" not in shown] == []


@pytest.mark.parametrize(
    "listed",
    [
        lambda n: {"dock": f"D-{n}", "lines": [{"part_no": f"PN-{n}-8{n}2"}]},
        lambda n: {"dock": f"D-{n}", **{f"part_no_{k}": f"PN-{n}-8{n}{k}" for k in "2345"}},
    ],
)
def test_what_the_result_of_a_deed_lists_was_not_made_by_it(listed: Any) -> None:
    """Such an id is worth what history shows, as what was looked up is."""
    shown = str(recorded(deeds_among_lookups(listed, 6), tokens=500).record)
    assert len([n for n in range(12) if f"PN-{n}-8{n}2" not in shown]) > 3


def test_a_listing_is_in_if_agents_opened_what_it_lists() -> None:
    """Values in a body of text stay out unless a share of them was used."""
    listed = [f"src/part_{n:02}/module_{n:02}.py" for n in range(40)]
    items = [*user("Go."), *calls("a", "list_files", {"under": "src"}, "\n".join(listed))]
    unused = rendered(recorded([*items, *says("Well.")]).record)
    assert not any(path in unused for path in listed)
    for n in range(6):
        items += says("Next.")
        items += says("I look at it.")
        items += calls(f"b{n}", "open_file", {"path": listed[n]}, "ok")
    block = rendered(recorded(items).record)
    assert sum(path in block for path in listed[6:]) > 20


@pytest.mark.parametrize(
    ("tool", "arguments", "result", "needed", "other"),
    [
        (
            "check",
            {"floor": "3 stairs up", "address": "48 Harbour Street, Cork"},
            {"ok": True},
            "48 Harbour Street, Cork",
            "3 stairs up",
        ),
        (
            "find_customer",
            {"q": "Dana"},
            {"label": "gold_tier", "customer_id": "dana_mori"},
            "dana_mori",
            "gold_tier",
        ),
    ],
)
def test_what_a_key_calls_an_address_or_an_id_is_worth_as_much_as_one(
    tool: str, arguments: dict[str, Any], result: dict[str, Any], needed: str, other: str
) -> None:
    """Its words alone would be a number, or a name among many."""
    items = [*user("Go."), *calls("a", tool, arguments, result), *says("Well.")]
    blocks = [rendered(recorded(items, tokens=tokens).record) for tokens in range(20, 120, 2)]
    assert any(needed in block and other not in block for block in blocks)
    assert not any(other in block and needed not in block for block in blocks)


def orders(number: int) -> list[Item]:
    """Return calls that look an order up, each with three values of it."""
    return [
        item
        for n in range(number)
        for item in calls(
            f"c{n}",
            "get_order",
            {"order": f"LK-{n:04}"},
            {"rma": f"RMA-{n:04}", "parcel": f"PRC-{n:04}", "card": f"CRD-{n:04}"},
        )
    ]


def test_where_room_is_short_a_value_goes_in_without_what_it_is_of() -> None:
    """Under its key, with others of it; with more room, each stands with its call."""
    items = [*user("Go."), *orders(8)]
    wide = lines(recorded(items, tokens=400).record.values)
    assert "get_order(LK-0003): rma=RMA-0003, parcel=PRC-0003, card=CRD-0003" in wide
    tight = lines(recorded(items, tokens=110).record.values)
    (listed,) = (text for text in tight if text.startswith("rma: "))
    assert len(listed.split(", ")) >= 4
    assert parsed(joined("x", recorded(items, tokens=110).record))[0] == "x"


def test_more_values_fit_than_with_the_call_of_each() -> None:
    """A third and more of those that fit with all that there is to say."""
    items = [*user("Go."), *orders(30)]
    block = rendered(recorded(items, tokens=300).record)
    told = len(set(re.findall(r"(?:RMA|PRC|CRD|LK)-\d{4}", block)))
    assert estimate(block) <= 320
    assert told > 50


def test_a_key_that_says_nothing_stands_with_its_tool() -> None:
    """And so does one that would read like somebody who speaks."""
    items = [
        *user("Go."),
        *calls("a", "find_shop", {"id": "SHP-1111"}, "ok"),
        *calls("b", "find_card", {"user": "CRD-2222"}, "ok"),
    ]
    assert lines(recorded(items).record.values) == [
        "find_shop.id: SHP-1111",
        "find_card.user: CRD-2222",
    ]


def test_a_value_stands_once_whoever_names_it() -> None:
    """A number that the user gave and a key that holds the same text are one."""
    items = [
        *user("My zip code is 28236."),
        *calls("a", "find", {"zip": "28236", "city": "Cork"}, "ok"),
    ]
    assert rendered(recorded(items).record).count("28236") == 1


def test_a_small_number_is_worth_less_than_one_that_tells_something() -> None:
    items = [*user("Go."), *calls("a", "find", {"guests": 4, "floor": 417}, "ok")]
    blocks = [rendered(recorded(items, tokens=tokens).record) for tokens in range(4, 40)]
    assert any("417" in block and "guests" not in block for block in blocks)


def test_what_the_history_opens_with_does_not_age() -> None:
    """What it is about comes before what was said next; behind a summary nothing is an opening."""
    items = [*user("It is about PO-11111."), *says("Yes?"), *user("And PO-22222."), *says("Yes.")]
    items += [item for n in range(20) for item in (*user(f"And LK-{n:04}?"), *says("Well."))]
    blocks = [rendered(recorded(items, tokens=tokens).record) for tokens in range(8, 60, 2)]
    assert any("PO-11111" in block and "PO-22222" not in block for block in blocks)
    views = views_of(items)
    openers = known(views, []).openers
    assert Head.of(views, range(9), frozenset(), openers).opening == 2
    assert Head.of(views, range(9), frozenset({0, 1}), openers).opening == 4
    marked = mark_summary(
        [ItemView("user", (TextPart(wrapped("Hello.", "A note.")),))], Summaries()
    )
    assert marked is not None
    behind = [marked[1], *views]
    assert Head.of(behind, range(9), frozenset(), known(behind, []).openers).opening == 0


def test_the_test_of_a_file_that_was_worked_with_comes_before_other_files() -> None:
    """What was listed of the same tree goes in where there is room, of other trees it does not."""
    listed = [f"src/part_{n:02}/module_{n:02}.py" for n in range(30)]
    listed += [f"tests/part_{n:02}/test_module_{n:02}.py" for n in range(30)]
    items = [
        *user("Go."),
        *calls("a", "list_files", {"under": "all"}, "\n".join([*listed, "etc/other/thing.cfg"])),
        *calls("b", "open_file", {"path": "src/part_07/module_07.py"}, "ok"),
        *calls("c", "open_file", {"path": "tests/conf.py"}, "ok"),
        *(item for _ in range(9) for item in says("Well.")),
    ]
    tight = rendered(recorded(items, tokens=60).record)
    assert "tests/part_07/test_module_07.py" in tight
    assert "module_09.py" not in tight
    wide = rendered(recorded(items).record)
    assert all(path in wide for path in listed)
    assert "etc/other/thing.cfg" not in wide


def test_bare_numbers_of_a_body_of_text_are_left_out() -> None:
    """They recur by chance, such as the numbers of lines; so do the names of what stands there."""
    body = "\n".join(f"{n}: self.load_{n}({n + 300})" for n in range(100, 160))
    items = [*user("Go."), *calls("a", "read_file", {"path": "src/a.py"}, body)]
    for n in range(100, 120):
        items += says("Next.")
        items += says("I look at it.")
        items += calls(f"b{n}", "open_file", {"path": "src/a.py", "line": n}, "ok")
    block = rendered(recorded([*items, *says("Well.")]).record)
    assert not re.search(r"\b(?:13|14|15)\d\b|load_1[345]", block)


def test_what_an_edit_wrote_does_not_name_it() -> None:
    """Ten edits of a file are one line, and what they wrote is no value."""
    items = [*user("Go.")]
    for n in range(10):
        edit = {"path": "src/a.py", "old": f"x = load({n + 4000})", "new": f"y = {n + 5000}"}
        items += calls(f"c{n}", "edit_file", edit, "ok")
    record = recorded(items).record
    assert lines(record.done)[0].startswith("edit_file(path=src/a.py) (10 calls)")
    assert "4003" not in rendered(record)


def test_long_call_ids_stay_only_where_a_result_may_come() -> None:
    """They take more room than a value and name nothing outside of the history."""
    long = "call_ce3Dh6zd8HXxggPJOSVha13m"
    made = recorded(calls(long, "pay", {"order": "LK-1"}, {"id": "P-7"}))
    assert lines(made.record.done) == ["pay(order=LK-1): id=P-7"]
    waits = recorded([*calls(long, "pay", {"order": "LK-1"}), *user("Well?")]).record
    assert waits.open[0].call == long
    late = [{"role": "tool", "tool_call_id": long, "content": '{"id": "P-7"}'}]
    ended = recorded(late, previous=waits).record
    assert ended.open == ()
    assert lines(ended.done) == ["pay(order=LK-1): id=P-7"]


def test_what_came_of_a_call_is_told_by_the_outer_values_first() -> None:
    """A result that gives the whole order back says most at its top."""
    result = {
        "items": [{"item_id": f"IT-{n:04}"} for n in range(9)],
        "status": "exchanged",
        "exchange": "EX-1",
    }
    (entry,) = recorded(calls("c1", "exchange", {"order": "LK-1"}, result)).record.done
    assert {"exchanged", "EX-1"} <= {field.text for field in entry.values}


def test_a_price_is_worth_more_than_a_count() -> None:
    items = [*user("Go."), *calls("a", "get_item", {"item": "IT-1"}, {"price": 66.5, "stock": 455})]
    items += says("Well.")
    blocks = [rendered(recorded(items, tokens=tokens).record) for tokens in range(10, 80, 2)]
    assert any("66.5" in block and "455" not in block for block in blocks)


def test_what_an_item_holds_that_stays_is_not_said_again() -> None:
    """Also where what goes names it afterwards."""
    items = [*user("Order LK-1111."), *user("And LK-2222."), *says("LK-1111 and LK-2222.")]
    block = rendered(recorded(items, kept=[0]).record)
    assert "LK-2222" in block
    assert "LK-1111" not in block


def test_a_fact_stands_where_it_was_given_and_not_where_it_was_said_first() -> None:
    """What an argument or a result names is named with its call, whoever spoke of it before."""
    items = [
        *user("Where is my order?"),
        *says("I look for invoice INV-77341 and parcel PX-20931."),
        *calls("c1", "find", {"invoice": "INV-77341"}, {"parcel": "PX-20931"}),
        *says("Found."),
    ]
    (entry,) = [e for e in recorded(items).record.values if e.name == "find"]
    assert [(f.label, f.text) for f in entry.values] == [("parcel", "PX-20931")]


def test_of_parts_that_failed_each_is_named_before_more_is_told_of_one() -> None:
    parts = [{"id": f"LK-{n}", "reason": "old", "code": "E-1", "owner": "bo"} for n in (2, 3, 4)]
    made = recorded(calls("c1", "sync_items", {"d": "x"}, {"failed": parts, "done": 3}))
    (entry,) = made.record.done
    told = [field.text for field in entry.values]
    assert {"LK-2", "LK-3", "LK-4"} <= {*told}


def test_what_was_to_be_set_to_failed_did_not_fail() -> None:
    given = {"ids": ["J-1", "J-2"], "status": "failed"}
    made = recorded(calls("c1", "update_jobs", given, {"failed": ["J-1", "J-2"]}))
    assert made.record.failed == ()
    made = recorded(calls("c1", "update_jobs", {"ids": ["J-1", "J-2"]}, {"failed": ["J-1", "J-2"]}))
    assert made.record.done == ()
