"""Responses of OpenAI become items that may be sent back; streams with awkward events."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from capture.accepted import every_variant, labels, read_wholly, refused
from capture.driving import Reading, call, whole_response
from capture.replies import CHAT, RESPONSES, chat, chat_call, chunk, response
from capture.stream_server import StreamServer
from openai.types.chat import ChatCompletion
from openai.types.responses import Response
from pydantic import BaseModel

from chatfold import ChatContext
from chatfold.capture import Captured, captured
from chatfold.core.flow import Usage
from chatfold.shapes import shape_named

_OUTPUT = "openai.types.responses:ResponseOutputItem"
_INPUT = "openai.types.responses:ResponseInputItemParam"
_CHAT_OUTPUT = "openai.types.chat:ChatCompletionMessage"
_CHAT_INPUT = "openai.types.chat:ChatCompletionMessageParam"
Json = dict[str, Any]


def items_of(answer: Any, before: Any = (), **options: Any) -> list[Any]:
    return list(captured(answer, shape_named, list(before), **options).items)


def fed(events: Any, before: Any = ()) -> Reading:
    """Return what comes of events that a generator yields."""
    reading = Reading(items=list(before))
    stream = reading.record(event for event in events)
    for event in stream:
        reading.take(event)
    reading.end(stream)
    return reading


# Every type that the SDK lists

_ANSWER = RESPONSES["text"].whole["output"]  # reasoning needs what follows it
_THOUGHT = RESPONSES["reasoning and parallel calls"].whole["output"][0]


@pytest.mark.parametrize("label", labels(_OUTPUT))
def test_an_output_item_of_each_type_may_be_sent_back(label: str) -> None:
    """Each listed output item, with all its fields, becomes an input item without spare keys."""
    for _, made in every_variant(_OUTPUT, label):
        if label == "additional_tools":
            made = {**made, "role": "developer"}  # the only role that may be sent
        body = {**RESPONSES["nothing"].whole, "output": [made, *_ANSWER]}
        untouched = copy.deepcopy(body)
        item, *_ = items_of(body)
        assert body == untouched
        assert not refused(_INPUT, item, label)
        assert items_of(Response.construct(**body)) == [item, *_ANSWER]
        assert read_wholly([item], "openai_responses")
        assert shape_named("openai_responses").replayable(item) == item


@pytest.mark.parametrize("label", labels(_OUTPUT))
def test_nothing_but_output_only_fields_is_left_out_of_an_output_item(label: str) -> None:
    """What the input type knows stays, value for value, and so does what nobody knows."""
    allowed = {"created_by"} | ({"status"} if label == "custom_tool_call_output" else set())
    for _, made in every_variant(_OUTPUT, label):
        output = [{**made, "newer": {"field": 1}}, *_ANSWER]
        item, *_ = items_of(Response.construct(**{**RESPONSES["nothing"].whole, "output": output}))
        assert set(made) - set(item) <= allowed
        assert item["newer"] == {"field": 1}
        changed = {key for key in item if key != "newer" and item[key] != made[key]}
        assert changed <= ({"output"} if label == "shell_call_output" else set())


def test_a_chat_message_with_every_field_may_be_sent_back() -> None:
    """The message becomes an assistant's message without what only a response may hold."""
    for cls, made in every_variant(_CHAT_OUTPUT, "assistant"):
        (item,) = items_of({**CHAT["nothing"].whole, "choices": [{"index": 0, "message": made}]})
        assert not refused(_CHAT_INPUT, item)
        assert item["audio"] == {"id": made["audio"]["id"]}
        assert set(cls.model_fields) - set(item) == {"annotations"}
        assert read_wholly([item], "openai_chat")


@pytest.mark.parametrize("name", CHAT)
def test_a_chat_reply_becomes_messages_that_may_be_sent_back(
    stream_server: StreamServer, name: str
) -> None:
    """Every reply over HTTP gives items of the SDK's input union; only other servers' keys stay."""
    answer = whole_response(stream_server, CHAT[name])
    for item in items_of(answer):
        known = {k: v for k, v in item.items() if k != "reasoning_content"}
        for one in known.get("tool_calls", ()):
            one.pop("extra_content", None)
        assert not refused(_CHAT_INPUT, known), item


@pytest.mark.parametrize("name", RESPONSES)
def test_a_reply_of_the_responses_api_becomes_items_that_may_be_sent_back(
    stream_server: StreamServer, name: str
) -> None:
    """Every reply over HTTP gives items of the SDK's input union."""
    for item in items_of(whole_response(stream_server, RESPONSES[name])):
        assert not refused(_INPUT, item, item["type"])


# Chat Completions, whole


def test_a_chat_response_gives_its_message_its_usage_and_its_model() -> None:
    """The usage counts cached tokens as a part of the input."""
    answer = captured(CHAT["text"].whole, shape_named, [])
    message = CHAT["text"].whole["choices"][0]["message"]
    assert answer == Captured(
        ({"role": "assistant", "content": message["content"]},),
        Usage(20, 7, 5),
        "gpt-5",
    )


def test_fields_of_other_servers_stay_on_the_message() -> None:
    """Reasoning and signatures that other servers demand back are kept as they came."""
    (item,) = items_of(CHAT["fields of other servers"].whole)
    assert item["reasoning_content"] == "The user wants weather."
    assert item["tool_calls"][0]["extra_content"] == {"google": {"sig": "c2ln"}}


@pytest.mark.parametrize("content", [None, ""])
@pytest.mark.parametrize(
    "thought",
    [
        {"reasoning_content": "Hm."},
        {"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
    ],
)
def test_an_answer_that_was_cut_off_while_it_thought_is_left_out(
    thought: Json, content: str | None
) -> None:
    """No server takes a message back that says nothing and calls nothing."""
    message = {"role": "assistant", "content": content, **thought}
    choice = {"index": 0, "message": message, "finish_reason": "length", "logprobs": None}
    whole = {**CHAT["text"].whole, "choices": [choice]}
    assert items_of(whole) == []
    frame = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    pieces = [(message, None), ({}, "length")]
    reading = fed(
        [
            {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
            for delta, end in pieces
        ]
    )
    assert reading.items == []
    assert reading.unfinished == ""
    choice["message"] = {**message, "images": ["aGk="]}  # what nobody knows may be the answer
    assert items_of(whole) == [choice["message"]]


@pytest.mark.parametrize("written", [{}, {"arguments": None}])
def test_a_call_without_arguments_may_be_sent_back(written: Json) -> None:
    """Of a tool that takes none: some servers write nothing, and no server takes nothing back."""
    function = {"name": "now", **written}
    call = {"id": "call_1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls", "logprobs": None}
    whole = {**CHAT["text"].whole, "choices": [choice]}
    frame = {"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    delta = {**message, "tool_calls": [{**call, "index": 0}]}
    pieces = [(delta, None), ({}, "tool_calls")]
    chunks = [
        {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
        for delta, end in pieces
    ]
    for items in (items_of(whole), items_of(ChatCompletion.construct(**whole)), fed(chunks).items):
        ctx = ChatContext([{"role": "user", "content": "What time is it?"}, *items])
        assert [p.severity for p in ctx.check()] == ["pending"]
        assert [answer.text for answer in ctx.run_tool_calls({"now": lambda: "noon"}).answers] == [
            "noon"
        ]
        assert ctx.check() == []
    called = {"role": "assistant", "content": None, "function_call": function}
    (item,) = items_of({**whole, "choices": [{**choice, "message": called}]})
    assert item["function_call"] == {"name": "now", "arguments": ""}


def test_what_was_said_aloud_is_kept_in_words() -> None:
    """A request takes the id alone, and the server forgets it: a fold, too, can read the words."""
    reply = CHAT["audio"]
    spoken = {"role": "assistant", "content": "Hello.", "audio": {"id": "audio_1"}}
    assert items_of(reply.whole) == [spoken]
    assert fed(reply.events).items == [spoken]
    prompts: list[str] = []

    def short(prompt: Any) -> str:
        prompts.append(prompt.user)
        return "They greeted."

    ask = {"role": "user", "content": "Say hello, please. " * 40}
    ctx = ChatContext([ask])
    ctx.add_response(reply.whole)
    ctx.extend([{"role": "user", "content": "Thanks."}, {"role": "assistant", "content": "Bye."}])
    assert ctx.summarize(short, keep_last_turns=1).changed
    assert "Hello." in prompts[0]


def test_words_beside_what_was_said_aloud_stay() -> None:
    """And a message with neither words nor a transcript holds the id alone."""
    for content, transcript, kept in (("Hi.", "Hello.", "Hi."), (None, "", None)):
        audio = {"id": "audio_1", "data": "aGk=", "expires_at": 99, "transcript": transcript}
        message = {"role": "assistant", "content": content, "audio": audio}
        (item,) = items_of({"choices": [{"index": 0, "message": message}]})
        assert item == {"role": "assistant", "content": kept, "audio": {"id": "audio_1"}}


def test_a_message_without_anything_gives_no_item() -> None:
    """An empty answer may not be sent back, so it is no item; its usage counts."""
    answer = captured(CHAT["nothing"].whole, shape_named, [])
    assert answer.items == ()
    assert answer.usage == Usage(20, 7, 5)
    no_choice = {**CHAT["nothing"].whole, "choices": []}
    assert items_of(ChatCompletion.construct(**no_choice)) == []


def _two_choices() -> Json:
    one = CHAT["text"].whole["choices"][0]
    other = {"index": 1, "message": {"role": "assistant", "content": "Sun."}}
    return {**CHAT["text"].whole, "choices": [other, one]}


def test_several_choices_need_a_word_which() -> None:
    """A history goes on with one answer; `choice` picks it by its index, wherever it stands."""
    with pytest.raises(ValueError, match=r"holds 2 answers.*choice=0"):
        items_of(_two_choices())
    for body in (_two_choices(), ChatCompletion.construct(**_two_choices())):
        assert items_of(body, choice=1) == [{"role": "assistant", "content": "Sun."}]
        assert items_of(body, choice=0)[0]["content"].startswith("Rain")
    with pytest.raises(ValueError, match="no choice 2"):
        items_of(_two_choices(), choice=2)
    with pytest.raises(ValueError, match="no choice 1"):
        items_of(RESPONSES["text"].whole, choice=1)
    assert items_of(RESPONSES["text"].whole, choice=0)


class Weather(BaseModel):
    """What a parsed answer is."""

    rain: bool


def test_parsed_answers_become_plain_items_without_a_warning(stream_server: StreamServer) -> None:
    """`parse()` adds values to the response; they are left out, and pydantic does not complain."""
    said = '{"rain": true}'
    reply = chat({"role": "assistant", "content": said, "tool_calls": [chat_call("c", rain=True)]})
    stream_server.answers(reply)
    client = stream_server.client("chat")
    asked: Any = [{"role": "user", "content": "?"}]
    if not hasattr(client.chat.completions, "parse"):
        pytest.skip("the installed SDK has no parse() for chat")
    answer = client.chat.completions.parse(model="gpt-5", messages=asked, response_format=Weather)
    assert answer.choices[0].message.parsed == Weather(rain=True)
    part = {"type": "output_text", "text": said, "annotations": []}
    output = {**RESPONSES["text"].whole["output"][0], "content": [part]}
    stream_server.answers(response([output, *RESPONSES["an asynchronous call"].whole["output"]]))
    parsed = client.responses.parse(model="gpt-5", input="?", text_format=Weather)
    assert parsed.output_parsed == Weather(rain=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not refused(_CHAT_INPUT, items_of(answer)[0])
        assert items_of(parsed) == [output, *RESPONSES["an asynchronous call"].whole["output"]]


# Ids


@pytest.mark.parametrize("reply", [CHAT["calls without ids"], RESPONSES["calls without ids"]])
def test_calls_without_ids_get_ids_that_depend_on_their_place(reply: Any) -> None:
    """Equal calls get different ids, the same list the same ids, another place other ids."""

    def ids(items: list[Any]) -> list[str | None]:
        return [c.id for c in ChatContext(items, shape=None).tool_calls()]

    first = ids(items_of(reply.whole))
    assert len(set(first)) == 2
    assert all(id_ and len(id_) == 29 and id_.startswith("call_") for id_ in first)
    assert ids(items_of(reply.whole)) == first
    later = items_of(reply.whole, before=[{"role": "user", "content": "hi"}])
    assert ids(later) != first


def test_an_id_that_is_made_up_is_new_in_the_list() -> None:
    """Where the same call has the same place, but an id stands before it, another one is made."""
    reply = CHAT["calls without ids"]
    (item,) = items_of(reply.whole, before=[None])
    moved = [{"role": "assistant", "content": None, "tool_calls": item["tool_calls"]}]
    (again,) = items_of(reply.whole, before=moved)
    used = {c["id"] for c in item["tool_calls"]}
    assert used.isdisjoint({c["id"] for c in again["tool_calls"]})
    for id_ in used:
        answer = {"role": "tool", "tool_call_id": id_, "content": ""}
        (third,) = items_of(reply.whole, before=[answer])
        assert used.isdisjoint({c["id"] for c in third["tool_calls"]})


# Chat Completions, streamed in other ways


def _calls(*deltas: Json) -> list[Json]:
    events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"tool_calls": [delta]}) for delta in deltas]
    reading = fed([*events, chunk({}, end="tool_calls")])
    assert not reading.unfinished
    (item,) = reading.items
    assert item["content"] is None
    return list(item["tool_calls"])


def _begun(id_: str | None, index: int | None, arguments: str = "{}") -> Json:
    made = {"id": id_, "type": "function", "function": {"name": "f", "arguments": arguments}}
    return made if index is None else {**made, "index": index}


def _more(index: int | None, arguments: str, **fields: Any) -> Json:
    made = {"function": {"arguments": arguments}, **fields}
    return made if index is None else {**made, "index": index}


def test_parallel_calls_that_a_server_numbers_alike_stay_apart() -> None:
    """Some servers stream whole calls, all of index 0 or of none."""
    for index in (0, None):
        calls = _calls(_begun("call_a", index), _begun("call_b", index))
        assert [c["id"] for c in calls] == ["call_a", "call_b"]
        assert all(c["function"] == {"name": "f", "arguments": "{}"} for c in calls)
    assert len({c["id"] for c in _calls(_begun(None, None), _begun(None, None))}) == 2


def test_pieces_of_a_call_are_put_together() -> None:
    """With repeated ids, empty ones, new ones in each chunk, or no index at all."""
    for extra in ({}, {"id": ""}, {"id": "call_a"}, {"id": "call_z"}, {"id": None, "type": None}):
        (one,) = _calls(_begun("call_a", 0, '{"a"'), _more(0, ":", **extra), _more(0, "1}"))
        assert one == _begun("call_a", None, '{"a":1}')
    (one,) = _calls(_begun("call_a", None, "{"), _more(None, "}"))
    assert one["function"]["arguments"] == "{}"
    repeated = {**_begun("call_a", 0, "}"), "index": 0}
    (one,) = _calls(_begun("call_a", 0, "{"), repeated)
    assert one["function"] == {"name": "f", "arguments": "{}"}


def test_interleaved_calls_come_in_the_order_of_their_index() -> None:
    """Pieces of parallel calls may alternate."""
    calls = _calls(_begun("call_b", 1, "["), _begun("call_a", 0, "{"), _more(1, "]"), _more(0, "}"))
    assert [(c["id"], c["function"]["arguments"]) for c in calls] == [
        ("call_a", "{}"),
        ("call_b", "[]"),
    ]


def test_pieces_of_calls_that_a_server_numbers_alike_go_by_their_ids() -> None:
    """Pieces of the first call may come when the second has begun."""
    begun = _begun("call_a", 0, ""), _begun("call_b", 0, "")
    calls = _calls(*begun, _more(0, "{}", id="call_a"), _more(0, "[]", id="call_b"))
    assert [c["function"]["arguments"] for c in calls] == ["{}", "[]"]


def _content(*pieces: Any) -> Any:
    (item,) = fed([*(chunk({"content": p}) for p in pieces), chunk({}, end="stop")]).items
    return item["content"]


def test_text_between_blocks_is_kept() -> None:
    """Mistral streams citations and thoughts as blocks, and its words as text."""
    cited = {"type": "reference", "reference_ids": [1]}
    paris = [{"type": "text", "text": "Paris"}, cited]
    assert _content("", "Pa", "ris", [cited]) == paris
    assert _content("Paris", [cited], " it", " is", []) == [
        *paris,
        {"type": "text", "text": " it is"},
    ]
    assert _content([cited], "") == [cited]


def test_thoughts_and_texts_in_pieces_are_one_block() -> None:
    """Each chunk has a few words in a block of its own."""
    said = [{"type": "text", "text": "Rome"}]
    pieces = [[{"type": "text", "text": t}] for t in ("Ro", "me")]
    thoughts = [[{"type": "thinking", "thinking": piece}] for piece in pieces]
    thought = {"type": "thinking", "thinking": said}
    assert _content("", *thoughts, *pieces) == [thought, *said]
    signed = {**thought, "signature": "s"}
    assert _content([signed], *thoughts, "!") == [signed, thought, {"type": "text", "text": "!"}]


def test_reasoning_details_of_other_servers_are_merged_by_index() -> None:
    """Entries with an index come in pieces, and each kind has its own; others are added."""
    kinds = "reasoning.text", "reasoning.encrypted"
    details = [
        {"type": kinds[0], "index": 0, "text": "The "},
        {"type": kinds[0], "index": 0, "text": "user", "format": "x"},
        {"type": kinds[0], "index": 0, "signature": "c2ln", "format": "x"},
        {"type": kinds[1], "index": 0, "data": "Z2g="},
        {"type": kinds[0], "text": "unnumbered"},
    ]
    events = [chunk({"role": "assistant", "reasoning_details": [d]}) for d in details]
    (item,) = fed([*events, chunk({"content": "Yes."}, end="stop")]).items
    assert item["reasoning_details"] == [
        {
            "type": kinds[0],
            "index": 0,
            "text": "The user",
            "format": "x",
            "signature": "c2ln",
        },
        {"type": kinds[1], "index": 0, "data": "Z2g="},
        {"type": kinds[0], "text": "unnumbered"},
    ]


def test_of_several_streamed_choices_the_first_is_stored_and_the_others_are_told() -> None:
    """A stream cannot ask which; it says that there was more."""
    events = [
        chunk({"role": "assistant", "content": "Rain."}),
        chunk({"role": "assistant", "content": "Sun."}, index=1),
        chunk({}, index=1, end="stop"),
        chunk({}, end="stop"),
    ]
    reading = fed(events)
    assert reading.items == [{"role": "assistant", "content": "Rain."}]
    assert reading.unfinished == "1 more choices (only the first is recorded)"


def test_a_message_that_ends_twice_is_stored_once() -> None:
    """Some servers repeat the reason of the end, with the usage beside it."""
    events = CHAT["text"].events
    ended = next(e for e in events if e["choices"] and e["choices"][0]["finish_reason"])
    assert fed([*events, ended]).items == items_of(CHAT["text"].whole)


def test_what_comes_after_the_end_of_a_message_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """Some servers say with every chunk why the message ended."""
    reading = fed([chunk({"content": "Ra"}, end="stop"), chunk({"content": "in."}, end="stop")])
    assert reading.items == [{"role": "assistant", "content": "Ra"}]
    assert reading.unfinished == "what came after the end of the message"
    assert reading.unfinished in caplog.text


def test_a_call_without_a_type_is_of_the_kind_that_it_holds() -> None:
    """Some servers leave the type out."""
    custom = {"index": 0, "id": "call_a", "custom": {"name": "sql", "input": "select 1"}}
    function = {"index": 1, "id": "call_b", "function": {"name": "f", "arguments": "{}"}}
    assert [c["type"] for c in _calls(custom, function)] == ["custom", "function"]


def test_a_last_chunk_that_says_nothing_takes_nothing_back() -> None:
    """The usage and the model stay known, whatever comes after them."""
    last = {**chunk({}), "choices": [], "model": "", "usage": None}
    (told,) = fed([*CHAT["text"].events, last]).told
    assert (told.usage, told.model) == (Usage(20, 7, 5), "gpt-5")


def test_a_chat_stream_that_names_no_role_is_an_assistants() -> None:
    """Some servers leave the role out of every chunk."""
    events = [chunk({"content": "Ra"}), chunk({"content": "in."}, end="stop")]
    assert fed(events).items == [{"role": "assistant", "content": "Rain."}]


@pytest.mark.parametrize("role", [{}, {"role": None}, {"role": ""}], ids=str)
def test_a_chat_message_that_names_no_role_is_an_assistants(role: Json) -> None:
    """Whole or streamed; one that names another stays as it is."""
    body: Json = {"choices": [{"index": 0, "message": {"content": "Rain.", **role}}]}
    wanted = [{"role": "assistant", "content": "Rain."}]
    assert items_of(body) == items_of(ChatCompletion.construct(**body)) == wanted
    body["choices"][0]["message"]["role"] = "another"
    assert items_of(body) == [{"role": "another", "content": "Rain."}]


@pytest.mark.parametrize("role", [{}, {"role": None}], ids=str)
def test_a_message_of_the_responses_api_that_names_no_role_is_an_assistants(role: Json) -> None:
    """No shape would know it otherwise."""
    message = {k: v for k, v in _ANSWER[-1].items() if k != "role"} | role
    reply = response([message])
    assert items_of(reply.whole) == [{**message, "role": "assistant"}]
    assert items_of(Response.construct(**reply.whole)) == [{**message, "role": "assistant"}]
    assert fed(reply.events).items == [{**message, "role": "assistant"}]


def test_a_chat_stream_may_open_with_a_chunk_that_says_nothing() -> None:
    """Azure sends the verdict of its filter first, without choices."""
    first = {**chunk({}), "choices": [], "object": "chat.completion.chunk", "model": ""}
    reading = fed([first, *CHAT["text"].events])
    assert reading.items == items_of(CHAT["text"].whole)


# Responses, whole and streamed in other ways


@pytest.mark.parametrize(
    ("fields", "held"),
    [
        ({"previous_response_id": "resp_0"}, "previous_response_id 'resp_0'"),
        ({"conversation": {"id": "conv_1"}}, "conversation 'conv_1'"),
        ({}, None),
    ],
)
def test_a_history_that_the_server_holds_is_told(fields: Json, held: str | None) -> None:
    """The response says what it was made from, whole and streamed."""
    reply = response(RESPONSES["text"].whole["output"], **fields)
    assert captured(reply.whole, shape_named, []).held == held
    assert captured(Response.construct(**reply.whole), shape_named, []).held == held
    assert [told.held for told in fed(reply.events).told] == [held]


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_response_that_is_still_written_is_refused(status: str) -> None:
    """A background response holds a part of its items only."""
    with pytest.raises(ValueError, match=f"not finished .status '{status}'.; retrieve it again"):
        items_of({**RESPONSES["text"].whole, "status": status})


def test_reasoning_with_an_empty_summary_stays_as_it_is() -> None:
    """The summary has to be there, even empty, and the encrypted content with it."""
    reply = RESPONSES["reasoning and parallel calls"]
    assert items_of(reply.whole) == reply.whole["output"]


def _event(kind: str, index: int, item: Json) -> Json:
    return {"type": f"response.output_item.{kind}", "output_index": index, "item": item}


def _interleaved() -> tuple[list[Json], list[Json]]:
    """Return three items and events of which the first is done last."""
    items = RESPONSES["what the server does"].whole["output"][1:4]
    events = [RESPONSES["text"].events[0]]
    events += [_event("added", n, item) for n, item in enumerate(items)]
    events += [_event("done", n, items[n]) for n in (2, 1, 0)]
    return items, events


def test_an_item_waits_for_earlier_ones_that_are_not_done() -> None:
    """The items come in the response's order, whatever the order of their events."""
    items, events = _interleaved()
    reading = fed(events)
    assert reading.items == items
    assert reading.stored_at == [0, 0, 0, 0, 0, 0, 3]
    assert reading.unfinished == "the end of the response"


def test_items_that_waited_are_stored_when_the_stream_breaks() -> None:
    """What was finished is not lost because an earlier item never was."""
    items, events = _interleaved()
    reading = fed(events[:-1])
    assert reading.items == items[1:]
    assert reading.unfinished == f"{items[0]['type']} (output 0)"


def test_items_without_a_done_event_come_from_the_whole_response() -> None:
    """At the end the response itself says what it holds."""
    items, events = _interleaved()
    whole = response(items).events[-1]
    for kept in range(1, len(events) + 1):
        reading = fed([*events[:kept], whole])
        assert reading.items == items, kept
        assert reading.unfinished == ""


def test_items_of_one_type_are_told_apart_by_their_ids() -> None:
    """Of two equal kinds of calls, the one without a done event is added, not the other again."""
    reply = RESPONSES["reasoning and parallel calls"]
    _, first, second = reply.whole["output"]
    whole = response([first, second]).events[-1]
    for done, missing in ((first, second), (second, first)):
        reading = fed([reply.events[0], _event("done", 0, done), whole])
        assert reading.items == [done, missing]


def test_items_that_waited_are_stored_though_the_response_lists_none() -> None:
    """A server whose last event has no output costs nothing of what was done."""
    items, events = _interleaved()
    reading = fed([*events[:-1], response([]).events[-1]])
    assert reading.items == items[1:]
    assert reading.unfinished == f"{items[0]['type']} (output 0)"


@pytest.mark.parametrize("status", ["failed", "incomplete"])
@pytest.mark.parametrize("listed", [True, False])
def test_what_a_failed_response_left_half_written_is_not_stored(status: str, listed: bool) -> None:
    """An item in progress is not finished, whether the failed response lists it or not."""
    said, call = RESPONSES["text"].whole["output"][0], _function_call("in_progress")
    reply = response([said, call] if listed else [said], status=status)
    begun = [_event("added", 0, said), _event("done", 0, said), _event("added", 1, call)]
    reading = fed([reply.events[0], *begun, reply.events[-1]])
    assert reading.items == items_of(reply.whole) == [said]
    assert reading.unfinished == "function_call (output 1)"


def _function_call(status: str) -> Json:
    return {**RESPONSES["reasoning and parallel calls"].whole["output"][1], "status": status}


@pytest.mark.parametrize("status", ["failed", "incomplete", "completed"])
def test_reasoning_that_nothing_follows_is_not_stored(status: str) -> None:
    """The server refuses it in every later request; a limit on the output often ends so."""
    for output in ([_THOUGHT], [*_ANSWER, _THOUGHT]):
        reply = response(output, status=status)
        reading = fed(reply.events)
        assert reading.items == items_of(reply.whole) == output[:-1]
        assert reading.unfinished == f"reasoning (output {len(output) - 1})"
        unlisted = [*reply.events[:-1], response([], status=status).events[-1]]
        assert fed(unlisted).items == output[:-1]


def test_reasoning_is_stored_with_what_follows_it() -> None:
    """Where the stream breaks before, the list may be sent again as it is."""
    reply = response([_THOUGHT, {**_THOUGHT, "id": "rs_2"}, *_ANSWER])
    done = [n for n, e in enumerate(reply.events, 1) if e["type"].endswith("item.done")]
    assert [fed(reply.events[:n]).items for n in done] == [[], [], reply.whole["output"]]
    assert fed(reply.events[: done[0]]).unfinished == "reasoning (output 0)"


def test_reasoning_in_the_background_waits_for_another_stream() -> None:
    """What follows it comes when the stream of that response is resumed."""
    reply = response([_THOUGHT, *_ANSWER], background=True)
    done = next(n for n, e in enumerate(reply.events, 1) if e["type"].endswith("item.done"))
    first = fed(reply.events[:done])
    assert first.items == reply.whole["output"][:1]
    assert fed(reply.events[done:], before=first.items).items == reply.whole["output"]


def test_an_item_whose_id_differs_in_the_whole_response_is_stored_once() -> None:
    """Some servers make up new ids for the last event; an item is not doubled for that."""
    reply = RESPONSES["reasoning and parallel calls"]
    renamed = [{**item, "id": f"other_{n}"} for n, item in enumerate(reply.whole["output"])]
    for item in renamed:
        if "call_id" in item:
            item["call_id"] = f"other_{item['call_id']}"
    last = {**reply.events[-1], "response": {**reply.whole, "output": renamed}}
    assert fed([*reply.events[:-1], last]).items == reply.whole["output"]


def test_a_resumed_stream_adds_what_it_shows_and_no_more() -> None:
    """A stream taken up midway (`starting_after`) does not repeat the items before it."""
    reply = RESPONSES["what the server does"]
    start = next(n for n, e in enumerate(reply.events) if e.get("output_index") == 2)
    before = fed(reply.events[:start])
    assert before.items == reply.whole["output"][:2]
    rest = fed(reply.events[start:], before=before.items)
    assert rest.items == reply.whole["output"]
    assert rest.unfinished == ""


def test_a_done_event_that_comes_twice_gives_one_item() -> None:
    """Repeated events of an item that is stored change nothing."""
    reply = RESPONSES["text"]
    done = next(e for e in reply.events if e["type"].endswith("item.done"))
    events = [e for e in reply.events for _ in range(2 if e is done else 1)]
    assert fed(events).items == reply.whole["output"]


def _objects(stream_server: StreamServer) -> Iterator[Any]:
    for reply in (CHAT["text"], RESPONSES["text"]):
        yield whole_response(stream_server, reply)


def test_an_object_and_its_dict_give_the_same_items(stream_server: StreamServer) -> None:
    """What a gateway hands over as JSON is taken as the SDK's object is."""
    for answer in _objects(stream_server):
        assert captured(answer.to_dict(), shape_named, []) == captured(answer, shape_named, [])


def test_a_raw_response_gives_its_items_once_it_is_parsed(stream_server: StreamServer) -> None:
    """`with_raw_response` hides the response; `.parse()` brings it out."""
    stream_server.answers(CHAT["text"])
    client = stream_server.client("chat")
    raw = call(_Raw(client), "chat")
    with pytest.raises(TypeError, match=r"raw response .*parse\(\)"):
        items_of(raw)
    assert items_of(raw.parse()) == items_of(CHAT["text"].whole)


class _Raw:
    """Makes `call` go through `with_raw_response`."""

    def __init__(self, client: Any) -> None:
        self.chat = self
        self.completions = client.chat.completions.with_raw_response
