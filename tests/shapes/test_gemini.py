"""The shape `gemini`: the conformance suite, and what only Gemini's contents have."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from google.genai import types
from shapes.conformance import Call, ShapeConformance
from shapes.sdk_types import refusal
from validator import validate

from chatfold import ChatContext, Middleware, Policy
from chatfold.core.calls import Answer
from chatfold.core.digest import fingerprints
from chatfold.core.native import plain
from chatfold.core.render import conversation
from chatfold.core.rolling import item_digest
from chatfold.core.views import (
    CallPart,
    ItemView,
    MediaPart,
    ReasoningPart,
    ResultPart,
    TextPart,
    UnknownPart,
)
from chatfold.errors import ShapeError
from chatfold.shapes import shape_named
from chatfold.stores import MemoryStore

Item = dict[str, Any]
SIGNATURE = b"\x00\xffsignature"
GEMINI = shape_named("gemini")


def _user(*parts: Any) -> Item:
    return {"role": "user", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


def _model(*parts: Any) -> Item:
    return {**_user(*parts), "role": "model"}


def _call(name: str = "get", **fields: Any) -> Item:
    signed = {"thought_signature": fields.pop("signature", "c2ln")}
    return {"function_call": {"name": name, "args": {}, **fields}, **signed}


def _response(name: str = "get", response: Any = None, **fields: Any) -> Item:
    told = {"result": "ok"} if response is None else response
    return {"function_response": {"name": name, "response": told, **fields}}


class GeminiWriter:
    """Writes Gemini contents, in the spelling of the SDK's dicts."""

    shape = "gemini"
    union = "google.genai.types:ContentDict"
    fails = True

    def system(self, text: str) -> None:
        return None

    def user(self, text: str) -> Item:
        return _user(text)

    def picture(self, text: str, data: str) -> Item:
        return _user({"inline_data": {"mime_type": "image/png", "data": data}}, text)

    def assistant(self, text: str, *, sdk: bool = False) -> Any:
        return self._content([{"text": text}], sdk)

    def calls(self, *calls: Call, sdk: bool = False) -> list[Any]:
        parts: list[Item] = [
            {"function_call": {"id": c.id, "name": c.name, "args": c.arguments}} for c in calls
        ]
        parts[0]["thought_signature"] = "c2lnbmF0dXJl"
        return [self._content(parts, sdk)]

    def results(self, *calls: Call) -> list[Any]:
        return [
            _user(
                *(
                    _response(c.name, {"error" if c.failed else "result": c.result}, id=c.id)
                    for c in calls
                )
            )
        ]

    def joined(self, results: list[Any]) -> list[Any]:
        return [_user(*(part for item in results for part in item["parts"]))]

    def unknown(self) -> list[Any]:
        return [
            {"role": "brand_new", "parts": [{"text": "x"}]},
            _user({"brand_new": {"data": 1}}),
        ]

    def malformed(self) -> list[Any]:
        return [
            {"role": "model"},
            {"role": "user", "parts": None},
            {"role": "user", "parts": []},
            {"role": "user", "parts": 5},
            {"role": "user", "parts": [5]},
            {"role": "user", "parts": [None]},
            {"role": "user", "parts": [{}]},
            {"role": "model", "parts": [{"function_call": 5}]},
            {"role": "model", "parts": [{"function_call": {"name": [], "args": 3}}]},
            {"role": "user", "parts": [{"function_response": {}}]},
            {"role": "user", "parts": [{"inline_data": {"data": 5}}, {"text": ""}]},
        ]

    def _content(self, parts: list[Item], sdk: bool) -> Any:
        made = {"role": "model", "parts": parts}
        return types.Content.model_validate(made) if sdk else made


class TestGemini(ShapeConformance):
    """Gemini's contents pass the shared suite."""

    writer = GeminiWriter()


def _read(item: Any) -> ItemView:
    view = GEMINI.read(item)
    assert view is not None
    return view


def _wire(content: types.Content) -> Item:
    dumped: Item = json.loads(content.model_dump_json(by_alias=True, exclude_unset=True))
    return dumped


# Every part that the SDK lists

BLOB = {"mime_type": "audio/wav", "data": b"\x00\x01", "display_name": "note"}
FIELDS: dict[str, tuple[Any, str]] = {
    "text": ("hi", "Text"),
    "function_call": ({"name": "get", "args": {"a": 1}}, "Call"),
    "function_response": ({"name": "get", "response": {"result": "ok"}}, "Result"),
    "inline_data": (BLOB, "Media"),
    "file_data": ({"file_uri": "gs://a/b.mp4", "mime_type": "video/mp4"}, "Media"),
    "executable_code": ({"code": "print(1)", "language": "PYTHON"}, "Call"),
    "code_execution_result": ({"outcome": "OUTCOME_OK", "output": "1"}, "Result"),
    "tool_call": ({"id": "s1", "tool_type": "GOOGLE_SEARCH_WEB", "args": {"q": "x"}}, "Call"),
    "tool_response": (
        {"id": "s1", "tool_type": "GOOGLE_SEARCH_WEB", "response": {"hits": 1}},
        "Result",
    ),
}
NOTES: dict[str, Any] = {
    "thought": True,
    "thought_signature": SIGNATURE,
    "media_resolution": {},
    "video_metadata": {"fps": 1.0},
    "part_metadata": {"file": "a"},
    "audio_transcription": {},
    "media_processing": "MEDIA_PROCESSING_UNSPECIFIED",
    "speech_metadata": {},
    "document_metadata": {},
    "spreadsheet_metadata": {},
    "audio_metadata": {},
}


def test_every_field_of_a_part_is_in_the_tables_of_this_file() -> None:
    """A field that a newer SDK adds is no silent gap."""
    assert set(types.Part.model_fields) == set(FIELDS) | set(NOTES)


@pytest.mark.parametrize("key", FIELDS)
def test_a_part_is_read_alike_in_both_spellings_and_as_an_object(key: str) -> None:
    """The SDK's dict, its object and the JSON of the wire have one reading, and it is known."""
    value, kind = FIELDS[key]
    plain = _user({key: value})
    content = types.Content.model_validate(plain)
    readings = [_read(item).parts for item in (plain, content, _wire(content))]
    assert readings[0] == readings[1] == readings[2]
    assert [type(p).__name__ for p in readings[0]] == [f"{kind}Part"]
    for item in (plain, content, _wire(content)):
        assert GEMINI.fit(item) == "yes"
        assert not any(p.rule == "unknown_part" for p in ChatContext([item]).check())


@pytest.mark.parametrize("key", NOTES)
def test_a_note_on_a_part_changes_nothing_but_thoughts(key: str) -> None:
    """What says something about a part is kept with it, and is no part of its own."""
    item = _user({"text": "hi", key: NOTES[key]})
    parts = _read(item).parts
    assert not any(isinstance(p, UnknownPart) for p in parts)
    expected: dict[str, Any] = {
        "thought": (ReasoningPart("hi"),),
        "thought_signature": (ReasoningPart("", len(SIGNATURE)), TextPart("hi")),
    }
    assert parts == expected.get(key, (TextPart("hi"),))


def test_a_part_of_notes_alone_is_known_and_holds_nothing() -> None:
    """Such a part is refused by the API, and is not reported as something new."""
    problems = ChatContext([_user({"videoMetadata": {"fps": 1}})]).check()
    assert [p.rule for p in problems] == ["empty_part"]


def test_a_transcript_is_what_can_be_read_of_a_sound() -> None:
    """The words of an audio part go with the medium."""
    part = {"inline_data": BLOB, "audio_transcription": {"text": "hello"}}
    assert _read(_user(part)).parts == (MediaPart("audio", "audio/wav", 2, "note", "hello"),)


# Thoughts


def test_thoughts_are_read_and_signatures_are_counted() -> None:
    """A signature is a thought that nobody can read, wherever it stands: it is only measured."""
    content = types.Content(
        role="model",
        parts=[
            types.Part(text="hm", thought=True),
            types.Part(
                function_call=types.FunctionCall(name="get", args={}), thought_signature=SIGNATURE
            ),
            types.Part(text="", thought_signature=SIGNATURE),
        ],
    )
    size = len(SIGNATURE)
    call = CallPart(None, "get", "{}")
    parts = (ReasoningPart("hm"), ReasoningPart("", size), call, ReasoningPart("", size))
    assert _read(content).parts == parts
    assert _read(_wire(content)).parts == parts


def test_no_byte_of_a_signature_or_a_medium_enters_a_prompt() -> None:
    """Bytes are counted, in parts that are known and in those that are not."""
    secret = b"top secret bytes"
    items = [
        _user({"inline_data": {"mime_type": "image/png", "data": secret}}, "look"),
        _model(
            _call(signature=secret), {"brand_new": {"blob": secret, "thoughtSignature": "c2Vj"}}
        ),
        _user(_response(response={"raw": secret})),
        types.Content.model_validate(_model({"text": "done", "thought_signature": secret})),
    ]
    ctx = ChatContext(items)
    xml = conversation(ctx.views(), ctx.tool_calls()).xml
    assert "secret" not in xml
    assert "dG9wIHNl" not in xml
    assert "c2Vj" not in xml
    assert f"[{len(secret)} bytes]" in xml


def test_bytes_and_enumerations_are_plain_values_of_the_wire() -> None:
    """An object and the JSON that was made of it say the same, and edits of either are seen."""
    content = types.Content.model_validate(
        _model(
            _call(signature=SIGNATURE),
            {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "1"}},
        )
    )
    assert plain(content) == _wire(content)
    before = fingerprints([content])
    assert fingerprints([copy.deepcopy(content)]) == before
    assert content.parts
    content.parts[0].thought_signature = b"other"
    assert fingerprints([content]) != before


# Calls and results


def test_calls_without_ids_are_answered_by_name_and_in_order() -> None:
    """Two calls of one tool get the results in the order in which they stand."""
    items = [
        _user("a"),
        _model(_call("get", args={"k": 1}), _call("put"), _call("get", args={"k": 2})),
        _user(
            _response("put", {"result": "p"}),
            _response("get", {"result": "1"}),
            _response("get", {"result": "2"}),
        ),
    ]
    ctx = ChatContext(items)
    assert [(c.name, c.result) for c in ctx.tool_calls()] == [
        ("get", "1"),
        ("put", "p"),
        ("get", "2"),
    ]
    assert ctx.check() == []


@pytest.mark.parametrize(
    ("response", "text", "failed"),
    [
        ({"result": "a"}, "a", False),
        ({"output": "a"}, "a", False),
        ({"error": "a"}, "a", True),
        ({"error": {"code": 3}}, '{"error": {"code": 3}}', True),
        ({"error": None, "result": "a"}, '{"error": null, "result": "a"}', False),
        ({"error": ""}, "", False),
        ({"result": 3}, '{"result": 3}', False),
        ({}, "{}", False),
        (None, "", False),
        ("words", "words", False),
    ],
)
def test_a_response_is_its_text_and_fails_where_it_tells_an_error(
    response: Any, text: str, failed: bool
) -> None:
    """The key `error` is the API's own convention; one that is empty tells none."""
    part = {"function_response": {"name": "get", "response": response}}
    assert _read(_user(part)).parts == (ResultPart(None, "get", text, failed),)


def test_media_in_a_response_are_attachments_of_it() -> None:
    """A response has parts of its own, inline or by their address."""
    parts = [
        {"inline_data": {"mime_type": "image/png", "data": b"abc"}},
        {"file_data": {"file_uri": "gs://a/b.pdf", "mime_type": "application/pdf"}},
    ]
    (result,) = _read(_user(_response(parts=parts))).parts
    assert isinstance(result, ResultPart)
    assert result.media == (
        MediaPart("image", "image/png", 3),
        MediaPart("file", "application/pdf", None, "gs://a/b.pdf"),
    )


def test_what_the_server_ran_is_call_and_result_in_one_content() -> None:
    """Code and the server's tools are answered by the server, with ids or in order."""
    items = [
        _user("a"),
        _model(
            {"executable_code": {"code": "1/0", "language": "PYTHON"}},
            {"code_execution_result": {"outcome": "OUTCOME_FAILED", "output": "division by zero"}},
            {"executable_code": {"code": "1", "language": "PYTHON"}},
            {"code_execution_result": {"outcome": types.Outcome.OUTCOME_OK, "output": "1"}},
            {"tool_call": {"id": "s1", "tool_type": "GOOGLE_SEARCH_WEB", "args": {"q": "x"}}},
            {"tool_response": {"id": "s1", "tool_type": "GOOGLE_SEARCH_WEB", "response": {}}},
            {"executable_code": {"code": "2", "language": "PYTHON"}},
            "done",
        ),
    ]
    ctx = ChatContext(items)
    calls = ctx.tool_calls()
    assert [(c.name, c.kind, c.status, c.result) for c in calls] == [
        ("code_execution", "server", "failed", "division by zero"),
        ("code_execution", "server", "completed", "1"),
        ("GOOGLE_SEARCH_WEB", "server", "completed", "{}"),
        ("code_execution", "server", "completed", ""),
    ]
    assert calls[0].arguments == "1/0"
    assert ctx.cut_points() == [0, 1, 2]
    assert ctx.check() == []


# What the API refuses


@pytest.mark.parametrize(
    ("items", "rule", "index", "severity"),
    [
        ([_model(_call()), _user(_response())], "call_place", 0, "error"),
        ([_user("a"), _model("b"), _model(_call()), _user(_response())], "call_place", 2, "error"),
        ([_user("a"), _user("b", _call())], "block_place", 1, "error"),
        ([_user("a"), {"parts": [_call()]}], "block_place", 1, "error"),
        ([_user("a"), _model(_call())], "unanswered_call", 1, "pending"),
        ([_user("a"), _model(_call()), _user("b")], "unanswered_call", 1, "error"),
        (
            [_user("a"), _model(_call(), _call("put")), _user(_response())],
            "unanswered_call",
            1,
            "error",
        ),
        (
            [_user("a"), _model(_call(), _call()), _user(_response()), _user(_response())],
            "late_result",
            3,
            "error",
        ),
        (
            [_user("a"), _model(_call()), _user(_response(), _response())],
            "orphan_result",
            2,
            "error",
        ),
        ([_user("a"), {"role": "model", "parts": []}], "empty_message", 1, "error"),
        ([_user("a"), {"role": "model"}], "empty_message", 1, "error"),
        ([_user("a", {})], "empty_part", 0, "error"),
        ([_user("a", "")], "empty_part", 0, "error"),
        ([_user("a"), _model({"function_call": {"args": {}}})], "malformed_item", 1, "error"),
    ],
)
def test_what_the_api_refuses_is_a_problem_at_its_index(
    items: list[Any], rule: str, index: int, severity: str
) -> None:
    """Each broken rule has a problem with the index of the offending content."""
    for form in (items, [types.Content.model_validate(i) for i in items]):
        found = {(p.rule, p.index, p.severity) for p in ChatContext(form, shape="gemini").check()}
        assert (rule, index, severity) in found
        assert {(v.index, v.open) for v in validate(form, "gemini")} <= {
            (i, s == "pending") for _, i, s in found
        }
        assert validate(form, "gemini")


@pytest.mark.parametrize(
    ("items", "rule", "index"),
    [
        ([_model("a"), _user("b")], "first_role", 0),
        ([_user("a"), _model(_call()), _user(_response(), "and hurry")], "mixed_results", 2),
        ([_user("a"), _model("b"), {"parts": [{"text": "c"}]}], "role_name", 2),
        (
            [_user("a"), _model(_call()), {**_user(_response()), "role": "function"}],
            "role_name",
            2,
        ),
        ([_user("a"), _model(_call()), {**_user(_response()), "role": "tool"}], "role_name", 2),
        ([_user("a"), _model(_call()), _model(_response())], "response_role", 2),
    ],
)
def test_what_only_some_servers_refuse_is_a_warning(
    items: list[Any], rule: str, index: int
) -> None:
    """Where sources disagree, the list passes and the owner is told."""
    problems = ChatContext(items).check()
    assert [(p.rule, p.index, p.severity) for p in problems] == [(rule, index, "warning")]
    assert validate(items, "gemini") == []
    assert [v.index for v in validate(items, "gemini", strict=True)] == [index]


def test_a_lost_signature_in_the_last_turn_is_one_warning() -> None:
    """Only the first call of each step has one, and only the last turn's are asked for."""
    bare = {"function_call": {"name": "get"}}
    old = [_user("a"), _model(bare), _user(_response()), _model("b")]
    items = [
        *old,
        _user("c"),
        _model(_call(), bare),
        _user(_response(), _response()),
        _model(bare, _call()),
        _user(_response(), _response()),
        _model(bare),
        _user(_response()),
    ]
    problems = ChatContext(items).check()
    assert [(p.rule, p.indices, p.severity) for p in problems] == [
        ("missing_signature", (7, 9), "warning")
    ]
    assert "missing a thought_signature" in problems[0].provider_error
    assert ChatContext([*old, _user("c")]).check() == []


def test_every_error_quotes_the_api_and_names_its_source() -> None:
    """A user finds the API's own words, and where they were met."""
    items = [_model(_call()), _user("a"), _user(_response(), "", {})]
    errors = [p for p in ChatContext(items).check() if p.severity == "error"]
    assert {p.rule for p in errors} == {
        "call_place",
        "unanswered_call",
        "late_result",
        "empty_part",
    }
    for problem in errors:
        assert problem.provider_error
        assert "read 2026-" in problem.source


# What chatfold writes


def test_all_results_of_a_step_are_one_content() -> None:
    """The API wants as many responses as calls in one content, with the keys that the SDK uses."""
    items = [_user("a"), _model(_call("get", id="f1"), _call("put"))]
    ctx = ChatContext(items)
    get, put = ctx.tool_calls()
    (item,) = GEMINI.answer_items([Answer(get, "1"), Answer(put, "broken", failed=True)])
    assert item == _user(
        {"function_response": {"id": "f1", "name": "get", "response": {"result": "1"}}},
        {"function_response": {"name": "put", "response": {"error": "broken"}}},
    )
    assert refusal(types.ContentDict, item) == ""
    ctx.append(item)
    assert [(c.status, c.result) for c in ctx.tool_calls()] == [
        ("completed", "1"),
        ("failed", "broken"),
    ]
    assert ctx.check() == []
    assert GEMINI.answer_items([]) == []


def test_a_call_of_the_server_is_not_answered() -> None:
    """What the server runs is its own business."""
    items = [_user("a"), _model({"executable_code": {"code": "1", "language": "PYTHON"}})]
    (record,) = ChatContext(items).tool_calls()
    with pytest.raises(ShapeError):
        GEMINI.result_item(record, "text")


@pytest.mark.parametrize("form", ["dict", "wire", "object"])
def test_ids_are_written_on_a_copy_of_the_content(form: str) -> None:
    """Calls without an id get one; the item, its signature and its other parts stay as they are."""
    plain = _model("hm", _call(signature=SIGNATURE), _call("put", id="own"))
    content = types.Content.model_validate(plain)
    item: Any = {"dict": plain, "wire": _wire(content), "object": content}[form]
    before = copy.deepcopy(item)
    named = GEMINI.with_call_ids(item, lambda part: f"new_{part.name}")
    assert item == before
    assert type(named) is type(item)
    calls = [p for p in _read(named).parts if isinstance(p, CallPart)]
    assert [c.id for c in calls] == ["new_get", "own"]
    assert GEMINI.with_call_ids(named, lambda part: "never") is named
    again = types.Content.model_validate(named).parts
    assert again is not None
    assert again[1].thought_signature == SIGNATURE
    old, new = (getattr(i, "parts", None) or i["parts"] for i in (item, named))
    assert old[0] is new[0]
    assert old[2] is new[2]


def test_a_content_of_a_response_is_sent_back_as_the_object_that_it_is() -> None:
    """Signatures are bytes: nothing is copied or encoded anew."""
    answer = types.GenerateContentResponse.model_validate(
        {"candidates": [{"content": _wire(types.Content.model_validate(_model(_call())))}]}
    )
    assert answer.candidates
    content = answer.candidates[0].content
    assert GEMINI.replayable(content) is content


def test_single_results_are_taken_out_of_a_content_and_put_together_again() -> None:
    """A content is split by the positions of its readings; a signature goes with its part."""
    signed = _call(signature=SIGNATURE)
    item = _model("hm", signed, "done")
    assert [type(p).__name__ for p in _read(item).parts] == [
        "TextPart",
        "ReasoningPart",
        "CallPart",
        "TextPart",
    ]
    assert GEMINI.pick(item, {2}) == _model(signed)
    assert GEMINI.pick(item, {0, 3}) == _model("hm", "done")
    assert GEMINI.pick(item, {0, 1, 2, 3}) is item
    assert GEMINI.pick(item, ()) is None
    content = types.Content.model_validate(item)
    picked = GEMINI.pick(content, {3})
    assert picked == types.Content.model_validate(_model("done"))
    one, two = _user(_response("get")), types.Content.model_validate(_user(_response("put")))
    assert GEMINI.join([one]) == [one]
    (both,) = GEMINI.join([one, two])
    assert [p.name for p in _read(both).parts if isinstance(p, ResultPart)] == ["get", "put"]


@pytest.mark.parametrize(
    ("role", "written"), [("user", "user"), ("assistant", "model"), ("model", "model")]
)
def test_a_summary_has_a_role_of_gemini(role: str, written: str) -> None:
    """The assistant is the model here, and instructions are no content."""
    assert GEMINI.summary_item("short", role=role) == {
        "role": written,
        "parts": [{"text": "short"}],
    }
    with pytest.raises(ShapeError):
        GEMINI.summary_item("short", role="system")


@pytest.mark.parametrize(
    "item",
    [
        {"role": "user", "parts": [{"type": "text", "text": "hi"}]},  # Vercel's UI messages
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]},
        {"role": "user", "content": "hi"},
        {"role": "user", "content": [{"text": "hi"}]},
        types.Part(text="hi"),
    ],
)
def test_lists_of_parts_of_others_are_no_contents(item: Any) -> None:
    """Other frameworks have messages with parts, too."""
    assert GEMINI.fit(item) == "no"


def test_the_fields_of_a_result_are_data_and_never_hidden() -> None:
    """A tool may call a field `signature`: what it says is in the prompt."""
    items = [
        _user("a"),
        _model(_call()),
        _user(_response(response={"signature": "J. Doe", "n": 1})),
    ]
    assert "J. Doe" in ChatContext(items).tool_calls()[0].result


@pytest.mark.parametrize(
    "empty",
    [
        {"role": "model", "parts": []},
        {"role": "model"},
        _model({}),
        _model(""),
        _model({"text": "", "thought": True}),
        types.Content(role="model", parts=[types.Part()]),
        types.Content(role="model"),
    ],
)
def test_a_content_that_holds_nothing_is_taken_out(empty: Any) -> None:
    """The model itself sends such contents, and the API refuses them."""
    items = [_user("q"), empty, _user("again")]
    (repair,) = ChatContext(items, shape="gemini").repair()
    assert (repair.action, repair.removed) == ("dropped", (empty,))
    assert items == [_user("q"), _user("again")]


def test_an_empty_part_is_taken_out_alone() -> None:
    """What stands beside it stays, a signature and a field that is not known too."""
    signed = {"text": "", "thoughtSignature": "c2ln"}
    kept = ["words", signed, {"fromTheFuture": 1}, _call()]
    items = [_user("q"), _model({}, *kept), _user(_response())]
    (repair,) = ChatContext(items, shape="gemini").repair()
    assert (repair.rule, repair.action) == ("empty_part", "dropped")
    assert items[1] == _model(*kept)


def test_a_step_that_a_chat_recorded_piece_by_piece_is_put_into_one_content() -> None:
    """`send_message_stream` of google-genai writes a content for each chunk.

    https://github.com/googleapis/python-genai/pull/2566 (read 2026-11-22).
    """
    thought = {"text": "hm", "thought": True}
    chunks = [_model(thought), _model("look", _call("f")), _model(_call("g")), _model("")]
    answers = _user(_response("f"), _response("g"))
    items = [_user("q"), *chunks, answers, _model("do"), _model("ne")]
    rest = items[5:]
    ctx: ChatContext[Any] = ChatContext(items, shape="gemini")
    assert "call_place" in {r.rule for r in ctx.repair()}
    assert items[:2] == [_user("q"), _model(thought, "look", _call("f"), _call("g"))]
    assert all(a is b for a, b in zip(items[2:], rest, strict=True))
    assert validate(items, "gemini") == []
    assert ctx.repair() == []
    kept = [_user("q"), _model("look"), _model(_call("f")), _user(_response("f"))]
    (left,) = ChatContext(list(kept), shape="gemini").repair(order="keep")
    assert (left.action, "order='keep'" in left.message) == ("left", True)


def test_a_call_that_nothing_precedes_gets_a_note_in_front_or_is_left() -> None:
    """What the user said before it is not known; behind the model's words there is no sure cure."""
    items = [_model(_call("f")), _user(_response("f"))]
    (noted,) = ChatContext(items, shape="gemini").repair()
    assert (noted.rule, noted.action) == ("call_place", "noted")
    assert validate(items, "gemini") == []
    items = [_model("look"), _model(_call("f")), _user(_response("f"))]
    before = list(items)
    (left,) = ChatContext(items, shape="gemini").repair()
    assert (left.rule, left.action) == ("call_place", "left")
    assert all(a is b for a, b in zip(items, before, strict=True))


@pytest.mark.parametrize("pinned", [5, 9])
def test_pinned_calls_behind_pinned_words_keep_the_message_that_they_followed(pinned: int) -> None:
    """Right behind words of the model they would be refused."""
    rounds = [[_model(_call()), _user(_response())] for _ in range(4)]
    items = [
        _user("Where is my order? " + "It was to come last week. " * 40),
        *rounds[0],
        _model("It is delayed."),
        _user("And the other one?"),
        *rounds[1],
        *rounds[2],
        *rounds[3],
        _model("It was delivered."),
        _user("Thanks."),
        _model("Bye."),
    ]
    before = {id(item): index for index, item in enumerate(items)}
    ctx = ChatContext(items, shape="gemini", pin=lambda item: before.get(id(item)) in (3, pinned))
    ctx.summarize(lambda prompt: "short", keep_last_turns=1)
    assert [before[id(item)] for item in items[1:]] == [3, 4, pinned, pinned + 1, 12, 13]
    assert not [p for p in ctx.check() if p.severity == "error"]


@pytest.mark.parametrize("role", ["user", "function", "tool", None])
def test_a_response_is_its_calls_in_whichever_role_it_stands(role: str | None) -> None:
    """The SDK's page on calls that are made by hand has `tool`: such a call was made once more.

    https://googleapis.github.io/python-genai/#manually-declare-and-invoke-a-function-for-function-calling
    (read 2026-11-30).
    """
    asked = [_user("Where is my order?"), _model(_call())]
    told = {**_user(_response(response={"result": "Delivered on Monday."})), "role": role}
    for item in (told, types.Content.model_validate(told)):
        ctx = ChatContext([*asked, item])
        assert len(ctx.run_tool_calls({"get": lambda: "Lost."})) == 0
        assert [c.result for c in ctx.tool_calls()] == ["Delivered on Monday."]
        ctx.extend([_model("It came. " * 90), _user("Thanks."), _model("Bye.")])
        shown = ctx.plan(keep_last_turns=1).prompt
        assert shown is not None
        assert 'name="get" status="completed">Delivered on Monday.<' in shown.user


@pytest.mark.parametrize("args", [{}, {"args": None}, {"args": {}}])
def test_a_call_without_args_has_none(args: Item) -> None:
    """Gemini leaves the field out; that is no call that was cut off before its arguments."""
    call = {"function_call": {"name": "get", "id": "c", **args}}
    for made in (_model(call), types.Content.model_validate(_model(call))):
        items = [_user("Go on."), made]
        ctx = ChatContext(items)
        assert [c.arguments for c in ctx.tool_calls()] == [{}]
        ctx.run_tool_calls({"get": lambda day="today": day})
        assert items[2]["parts"][0]["function_response"]["response"] == {"result": "today"}


def test_what_pinned_calls_keep_keeps_what_it_followed_in_its_turn() -> None:
    """A message that carries responses brings their call, which followed a message itself."""
    items = [
        _user("Where is my order? " + "It was to come last week. " * 40),
        _model("One moment."),
        _user("Well?"),
        _model(_call()),
        _user(_response(), "And the other one?"),
        _model(_call()),
        _user(_response()),
        _model("Both were delivered. " * 40),
        _user("Thanks."),
        _model("Bye."),
    ]
    before = {id(item): index for index, item in enumerate(items)}
    ctx = ChatContext(items, shape="gemini", pin=lambda item: before.get(id(item)) in (1, 5))
    ctx.summarize(lambda prompt: "short", keep_last_turns=1)
    assert [before[id(item)] for item in items[1:]] == [1, 2, 3, 4, 5, 6, 8, 9]
    assert not [p for p in ctx.check() if p.severity == "error"]


@pytest.mark.parametrize("spelling", ["function_call", "functionCall"])
def test_args_that_are_no_object_are_put_into_one(spelling: str) -> None:
    """The SDK and the API take nothing but an object; a call without any is right."""
    bare, broken = {"name": "f"}, {"name": "f", "args": [1]}
    called = _model("look", *({spelling: call} for call in (bare, broken)))
    items = [_user("q"), called, _user(_response("f"), _response("f"))]
    assert [v.rule for v in validate(items, "gemini")] == ["arguments_no_object"]
    (problem,) = (p for p in ChatContext(items, shape="gemini").check() if p.severity == "error")
    assert (problem.rule, problem.index) == ("arguments_no_object", 1)
    (repair,) = ChatContext(items, shape="gemini").repair()
    assert (repair.action, repair.removed) == ("wrapped", (called,))
    wrapped = {**broken, "args": {"INVALID_JSON": "[1]"}}
    assert items[1] == _model("look", *({spelling: call} for call in (bare, wrapped)))
    assert validate(items, "gemini") == []


_FORMS: list[Any] = [
    lambda item: item.model_dump(),
    lambda item: item.to_json_dict(),
    lambda item: json.loads(item.model_dump_json()),
    lambda item: json.loads(item.model_dump_json(by_alias=True, exclude_none=True)),
]


@pytest.mark.parametrize("form", _FORMS)
def test_a_content_says_the_same_in_each_spelling(form: Any) -> None:
    """The SDK's objects are dumped as the wire has them, and its own JSON as Python has them."""
    picture = types.FunctionResponsePart(
        inline_data=types.FunctionResponseBlob(mime_type="image/png", data=SIGNATURE)
    )
    contents = [
        types.Content(
            role="model",
            parts=[
                types.Part(
                    function_call=types.FunctionCall(id="c", name="f", args={"order_id": 7}),
                    thought_signature=SIGNATURE,
                )
            ],
        ),
        types.Content(
            role="user",
            parts=[
                types.Part(
                    function_response=types.FunctionResponse(
                        id="c", name="f", response={"paid_at": "noon"}, parts=[picture]
                    )
                )
            ],
        ),
    ]
    for content in contents:
        told = GEMINI.said(form(content))
        assert item_digest(told) == item_digest(GEMINI.said(content))
    other = copy.deepcopy(contents[0])
    other.parts[0].function_call.args = {"orderId": 7}  # type: ignore[index,union-attr]
    assert item_digest(GEMINI.said(form(other))) != item_digest(GEMINI.said(contents[0]))


@pytest.mark.parametrize(("key", "levels"), [("not_known", 20), ("text", 3000)])
def test_what_is_no_content_has_a_digest(key: str, levels: int) -> None:
    """Whatever its fields are called, and however deep they are nested."""
    value: Any = {1: "one"}
    for _ in range(levels):
        value = {key: [value]}
    assert item_digest(GEMINI.said(value)) == item_digest(GEMINI.said(value))


@pytest.mark.parametrize("form", _FORMS[1:])
def test_a_history_from_the_sdk_s_json_is_found_again(form: Any) -> None:
    """In another process, with the store."""
    said = types.Part(text="Quiet. " * 60)
    call = types.Part(function_call=types.FunctionCall(name="f", args={"some_day": 1}))
    result = types.Part(
        function_response=types.FunctionResponse(name="f", response={"at_noon": "quiet"})
    )
    turn = [("user", said), ("model", call), ("user", result), ("model", said)]
    host = [types.Content(role=role, parts=[part]) for role, part in turn * 8]
    store, policy = MemoryStore(), Policy(max_tokens=1_000, keep_tokens=300)

    def fold(items: list[Any]) -> str:
        wrapper = Middleware[Any](lambda _: "It was quiet.", policy, store)
        return wrapper.fold(items, key="k").outcome.reason

    assert fold(host) == "summarized"
    assert fold([form(item) for item in host]) == "reused"
