"""The shape `bedrock`: the conformance suite, and what only Converse messages have."""

from __future__ import annotations

import copy
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from shapes.conformance import Call, ShapeConformance
from shapes.sdk_types import CONVERSE_MESSAGE, refusal
from validator import validate

from chatfold import ChatContext
from chatfold.core.calls import Answer
from chatfold.core.render import conversation
from chatfold.core.views import (
    MediaPart,
    Part,
    ReasoningPart,
    ResultPart,
    StatePart,
    SummaryPart,
    TextPart,
    UnknownPart,
)
from chatfold.errors import ShapeError
from chatfold.shapes import shape_named
from chatfold.shapes._blocks import CONVERSE_BLOCKS

Item = dict[str, Any]
BEDROCK = shape_named("bedrock")
LONG = "word " * 400


def _user(*blocks: Any) -> Item:
    return {"role": "user", "content": [{"text": b} if isinstance(b, str) else b for b in blocks]}


def _assistant(*blocks: Any) -> Item:
    return {**_user(*blocks), "role": "assistant"}


def _use(id_: str, name: str = "get", **fields: Any) -> Item:
    return {"toolUse": {"toolUseId": id_, "name": name, "input": {}, **fields}}


def _result(id_: str, *content: Any, **fields: Any) -> Item:
    return {
        "toolResult": {"toolUseId": id_, "content": list(content or ({"text": "ok"},)), **fields}
    }


class BedrockWriter:
    """Writes Converse messages; the SDK returns dicts, so there are no objects."""

    shape = "bedrock"
    union = "shapes.sdk_types:CONVERSE_MESSAGE"
    fails = True

    def system(self, text: str) -> None:
        return None

    def user(self, text: str) -> Item:
        return _user(text)

    def picture(self, text: str, data: str) -> Item:
        return _user({"image": {"format": "png", "source": {"bytes": data}}}, text)

    def assistant(self, text: str, *, sdk: bool = False) -> Item:
        return _assistant(text)

    def calls(self, *calls: Call, sdk: bool = False) -> list[Any]:
        return [_assistant(*(_use(c.id, c.name, input=c.arguments) for c in calls))]

    def results(self, *calls: Call) -> list[Any]:
        return [
            _user(
                *(
                    _result(c.id, {"text": c.result}, **({"status": "error"} if c.failed else {}))
                    for c in calls
                )
            )
        ]

    def joined(self, results: list[Any]) -> list[Any]:
        return [_user(*(block for item in results for block in item["content"]))]

    def unknown(self) -> list[Any]:
        return [
            {"role": "brand_new", "content": [{"text": "x"}]},
            _assistant({"brand_new": {"data": 1}}),
            _assistant({"SDK_UNKNOWN_MEMBER": {"name": "brand_new"}}, "x"),
        ]

    def malformed(self) -> list[Any]:
        return [
            {"role": "user"},
            {"role": "user", "content": None},
            {"role": "user", "content": []},
            {"role": "user", "content": [5]},
            {"role": "user", "content": [{}]},
            {"role": "user", "content": [{"text": None}]},
            {"role": "user", "content": [{"toolResult": 5}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": [], "content": 5}}]},
            {"role": "assistant", "content": [{"toolUse": {}}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": None, "input": None}}]},
        ]


class TestBedrock(ShapeConformance):
    """Converse messages pass the shared suite."""

    writer = BedrockWriter()


def _parts(item: Item) -> tuple[Part, ...]:
    view = BEDROCK.read(item)
    assert view is not None
    return view.parts


# Every block that the service model lists

SOURCE = {"bytes": b"abc"}
S3 = {"s3Location": {"uri": "s3://bucket/a.mp4"}}
TOOL = {"tool": {"type": "toolReference", "name": "get"}}
FOUND = {"source": "https://example.com", "title": "T", "content": [{"text": "a"}, {"text": "b"}]}
BLOCKS: dict[str, tuple[Any, Part]] = {
    "text": ("hi", TextPart("hi")),
    "image": ({"format": "png", "source": SOURCE}, MediaPart("image", "image/png", 3)),
    "document": (
        {"format": "txt", "name": "D", "source": {"text": "words"}, "context": "C"},
        MediaPart("document", "txt", None, "D", "C\nwords"),
    ),
    "video": (
        {"format": "mp4", "source": S3},
        MediaPart("video", "video/mp4", None, "s3://bucket/a.mp4"),
    ),
    "audio": ({"format": "wav", "source": SOURCE}, MediaPart("audio", "audio/wav", 3)),
    "toolUse": (_use("t1")["toolUse"], _parts(_assistant(_use("t1")))[0]),
    "toolResult": (_result("t1")["toolResult"], ResultPart("t1", None, "ok")),
    "guardContent": ({"text": {"text": "hi", "qualifiers": ["query"]}}, TextPart("hi")),
    "cachePoint": (
        {"type": "default"},
        UnknownPart("cachePoint", '{"type": "default"}', known=True),
    ),
    "reasoningContent": (
        {"reasoningText": {"text": "hm", "signature": "sig"}},
        ReasoningPart("hm"),
    ),
    "citationsContent": (
        {"content": [{"text": "so"}, {"text": " it is"}], "citations": [{"title": "T"}]},
        TextPart("so it is"),
    ),
    "searchResult": (
        FOUND,
        MediaPart("search_result", None, None, "T", "a\nb", "https://example.com"),
    ),
    "toolAddition": (
        TOOL,
        StatePart(
            "tools",
            frozenset({"get"}),
            '{"toolAddition": {"tool": {"type": "toolReference", "name": "get"}}}',
        ),
    ),
    "toolRemoval": (
        TOOL,
        StatePart(
            "tools",
            frozenset({"get"}),
            '{"toolRemoval": {"tool": {"type": "toolReference", "name": "get"}}}',
        ),
    ),
}


def test_the_blocks_are_those_of_the_service_model() -> None:
    """A block that a newer botocore lists is no silent gap; roles are those it knows, too."""
    shape = CONVERSE_MESSAGE.shape
    assert set(shape.members["content"].member.members) == set(CONVERSE_BLOCKS) == set(BLOCKS)
    assert set(shape.members["role"].enum) == {"user", "assistant", "system"}


@pytest.mark.parametrize("key", BLOCKS)
def test_every_block_has_a_reading_of_its_own(key: str) -> None:
    """Each block is valid input for botocore, is one part, and is no surprise."""
    value, part = BLOCKS[key]
    item = _user({key: value})
    assert refusal(CONVERSE_MESSAGE, item) == ""
    assert _parts(item) == (part,)
    assert BEDROCK.fit(item) == "yes"
    assert not any(p.rule.startswith("unknown") for p in ChatContext([item]).check())
    assert validate([item], "bedrock") == [] or key in ("toolResult", "toolUse", "document")


def test_a_document_with_a_name_is_known_by_its_place_too() -> None:
    document = {
        "format": "pdf",
        "name": "D",
        "source": {"s3Location": {"uri": "s3://bucket/d.pdf"}},
    }
    expected = MediaPart("document", "pdf", None, "D", "", "s3://bucket/d.pdf")
    assert _parts(_user({"document": document})) == (expected,)


@pytest.mark.parametrize(
    ("content", "text", "media"),
    [
        ([{"text": "a"}, {"json": {"b": 1}}], 'a\n{"b": 1}', 0),
        ([{"json": [1, None]}], "[1, null]", 0),
        ([{"image": {"format": "png", "source": SOURCE}}, {"text": "seen"}], "seen", 1),
        ([{"document": BLOCKS["document"][0]}], "", 1),
        ([{"video": {"format": "mp4", "source": S3}}], "", 1),
        ([{"searchResult": FOUND}], "", 1),
        ([{"brand_new": 1}], '{"brand_new": 1}', 0),
        ([], "", 0),
    ],
)
def test_every_content_of_a_result_is_read(content: list[Item], text: str, media: int) -> None:
    """Texts and JSON are the result's words, the rest are attachments of it."""
    (part,) = _parts(_user({"toolResult": {"toolUseId": "t1", "content": content}}))
    assert isinstance(part, ResultPart)
    assert (part.text, len(part.media)) == (text, media)


def test_no_byte_enters_a_prompt() -> None:
    """Media, redacted reasoning and bytes in unknown blocks are only counted."""
    secret = b"top secret bytes"
    items = [
        _user({"image": {"format": "png", "source": {"bytes": secret}}}, "look"),
        _assistant(
            {"reasoningContent": {"redactedContent": secret}},
            {"brand_new": {"redactedContent": secret, "blob": secret}},
            _use("t1"),
        ),
        _user(_result("t1", {"image": {"format": "png", "source": {"bytes": secret}}})),
        _assistant({"image": {"format": "png", "source": {"bytes": secret}}}, "done"),
    ]
    ctx = ChatContext(items)
    rendered = conversation(ctx.views(), ctx.tool_calls())
    assert "secret" not in rendered.xml
    assert "dG9wIHNl" not in rendered.xml
    assert rendered.omitted["encrypted_reasoning"] == 1
    assert ReasoningPart("", len(secret)) in ctx.views()[1].parts


def test_bytes_and_their_base64_have_one_reading() -> None:
    """A list reloaded from JSON has base64 where boto3 has bytes."""
    for data in (b"abc", "YWJj"):
        item = _user({"image": {"format": "png", "source": {"bytes": data}}})
        assert _parts(item) == (MediaPart("image", "image/png", 3),)
    for data in (b"abc", "YWJj"):
        assert _parts(_assistant({"reasoningContent": {"redactedContent": data}})) == (
            ReasoningPart("", 3),
        )


def test_a_signature_counts_where_the_reasoning_has_no_words() -> None:
    """Reasoning that is withheld is only its signature."""
    block = {"reasoningContent": {"reasoningText": {"text": "", "signature": "abcd"}}}
    assert _parts(_assistant(block)) == (ReasoningPart("", 4),)


def test_a_cache_point_behind_results_opens_no_turn() -> None:
    """It marks a place and says nothing; the calls that it follows are not passed by."""
    cache = {"cachePoint": {"type": "default"}}
    items = [
        _user("a", cache),
        _assistant(_use("t1")),
        _user(_result("t1"), cache),
        _assistant("done"),
    ]
    assert [t.openers for t in ChatContext(items).turns()] == [(0,)]


@pytest.mark.parametrize("fields", [{"type": "nova_grounding_result"}, {}])
def test_a_tool_of_the_server_is_call_and_result_in_one_message(fields: Item) -> None:
    """Nova's own tools are answered in the model's message, mostly by a result with a type."""
    items = [
        _user("a"),
        _assistant(
            _use("s1", "nova_grounding", type="server_tool_use"),
            _result("s1", **fields),
            "found",
        ),
    ]
    ctx = ChatContext(items)
    (record,) = ctx.tool_calls()
    assert (record.kind, record.status, record.result_index) == ("server", "completed", 1)
    assert ctx.cut_points() == [0, 1, 2]
    assert ctx.check() == []
    with pytest.raises(ShapeError):
        BEDROCK.result_item(record, "text")


# What Converse refuses


@pytest.mark.parametrize(
    ("items", "rule", "index", "severity"),
    [
        ([_assistant("a"), _user("b")], "first_role", 0, "error"),
        ([_user("a"), _user(_result("t1"))], "orphan_result", 1, "error"),
        ([_user("a"), _assistant(_use("t1"))], "unanswered_call", 1, "pending"),
        ([_user("a"), _assistant(_use("t1")), _user("b")], "unanswered_call", 1, "error"),
        (
            [_user("a"), _assistant(_use("t1"), _use("t2")), _user(_result("t2"))],
            "unanswered_call",
            1,
            "error",
        ),
        (
            [_user("a"), _assistant(_use("t1")), _user("b"), _user(_result("t1"))],
            "late_result",
            3,
            "error",
        ),
        (
            [_user("a"), _assistant(_use("t1")), _user(_result("t1"), _result("t1"))],
            "orphan_result",
            2,
            "error",
        ),
        (
            [
                _user("a"),
                _assistant(_use("t1"), _use("t1")),
                _user(_result("t1"), _result("t1")),
            ],
            "duplicate_call_id",
            1,
            "error",
        ),
        *(
            (
                [_user("a"), _assistant(_use(call_id)), _user(_result(call_id))],
                "call_id_form",
                1,
                "error",
            )
            for call_id in ("call_1|fc_1", "t" * 65)
        ),
        *(
            (
                [_user("a"), _assistant(_use("t1", name=name)), _user(_result("t1"))],
                "tool_name",
                1,
                "error",
            )
            for name in ("get order", "github.list", "f" * 65)
        ),
        (
            [
                _user("a"),
                _assistant(_use("t1")),
                _user(_result("t1", status="error", content=[])),
            ],
            "empty_error",
            2,
            "error",
        ),
        *(
            (
                [
                    _user("a"),
                    _assistant({"reasoningContent": {"reasoningText": thought}}, "b"),
                ],
                "reasoning_without_text",
                1,
                "error",
            )
            for thought in ({"text": None, "signature": "s"}, {"signature": "s"})
        ),
        ([_user("a"), _user("b", _use("t1"))], "block_place", 1, "error"),
        ([_user("a"), _assistant("b", " \n")], "blank_text", 1, "error"),
        ([_user("a"), _assistant()], "empty_message", 1, "error"),
        *(
            ([_user("a"), _assistant(_use("t1", input=given))], "arguments_no_object", 1, "error")
            for given in ('{"path": "a.txt", "te', "", [1], None)
        ),
        ([_user({"document": BLOCKS["document"][0]})], "document_without_text", 0, "error"),
        (
            [_user("a"), _assistant(_result("s1", type="nova_grounding_result"))],
            "orphan_result",
            1,
            "error",
        ),
    ],
)
def test_what_converse_refuses_is_a_problem_at_its_index(
    items: list[Any], rule: str, index: int, severity: str
) -> None:
    """Each broken rule has a problem with the index of the offending message."""
    found = {(p.rule, p.index, p.severity) for p in ChatContext(items, shape="bedrock").check()}
    assert (rule, index, severity) in found
    judged = {(v.index, v.open) for v in validate(items, "bedrock")}
    assert judged
    assert {(i, s == "pending") for _, i, s in found} >= judged


@pytest.mark.parametrize(
    ("items", "rule", "index"),
    [
        ([_user("a"), _user("b")], "same_role", 1),
        ([_user("a"), _assistant("b"), _assistant("c")], "same_role", 2),
        (
            [_user("a"), _assistant(_use("t1")), _user(_result("t1"), "and hurry")],
            "mixed_results",
            2,
        ),
        (
            [
                _user("a"),
                _assistant({"reasoningContent": {"reasoningText": {"text": "hm"}}}),
                _user("b"),
            ],
            "reasoning_alone",
            1,
        ),
    ],
)
def test_what_only_some_models_refuse_is_a_warning(items: list[Any], rule: str, index: int) -> None:
    """Where sources disagree, the list passes, and the owner is told the error that may come."""
    (problem,) = ChatContext(items).check()
    assert (problem.rule, problem.index, problem.severity) == (rule, index, "warning")
    assert problem.provider_error
    assert validate(items, "bedrock") == []
    assert [v.index for v in validate(items, "bedrock", strict=True)] == [index]


def test_a_document_with_words_is_no_problem() -> None:
    """Only a document on its own is refused."""
    assert ChatContext([_user({"document": BLOCKS["document"][0]}, "look")]).check() == []


def test_every_error_names_its_source() -> None:
    """A user can look up where the rule was met."""
    items = [
        _assistant(" ", _use("t1")),
        _user("a"),
        _user(_result("t1"), {"document": {}}),
        _user(),
    ]
    problems = ChatContext(items, shape="bedrock").check()
    assert len(problems) > 4
    assert all("read 2026-" in p.source for p in problems)


def test_tools_are_required_while_calls_or_results_are_in_the_list() -> None:
    """The fold that takes the last of them away lifts the requirement."""
    items = [_user("a"), _assistant(_use("t1")), _user(_result("t1")), _assistant(LONG), _user("b")]
    ctx = ChatContext(items)
    (wanted,) = ctx.requirements()
    assert (wanted.kind, wanted.indices, dict(wanted.options)) == ("tool_config", (1, 2), {})
    assert "toolConfig" in wanted.message
    assert ctx.request_options() == {}
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1)
    assert ctx.requirements() == []


# What chatfold writes


def test_all_results_of_a_step_are_one_message() -> None:
    """Converse wants a result for each call in the next message, and no more."""
    ctx = ChatContext([_user("a"), _assistant(_use("t1"), _use("t2", "put"))])
    one, two = ctx.tool_calls()
    (item,) = BEDROCK.answer_items([Answer(one, ""), Answer(two, "broken", failed=True)])
    assert item == _user(
        _result("t1", {"text": ""}), _result("t2", {"text": "broken"}, status="error")
    )
    assert refusal(CONVERSE_MESSAGE, item) == ""
    ctx.append(item)
    assert [(c.status, c.result) for c in ctx.tool_calls()] == [
        ("completed", ""),
        ("failed", "broken"),
    ]
    assert ctx.check() == []
    assert BEDROCK.answer_items([]) == []


def test_a_summary_and_a_user_message_become_one_message() -> None:
    """The summary is its first block, so that it is recognized; the message is not changed."""
    following = _user("b", {"cachePoint": {"type": "default"}})
    before = copy.deepcopy(following)
    ctx = ChatContext([_user("a"), _assistant(LONG)])
    summary = ctx.summarize(lambda prompt: "short", keep_last_turns=0).item
    merged = BEDROCK.merged(summary, following)
    assert following == before
    assert merged["content"][1:] == following["content"]
    assert refusal(CONVERSE_MESSAGE, merged) == ""
    again = ChatContext([merged])
    assert again.views()[0].parts[0] == SummaryPart("short")
    assert [t.openers for t in again.turns()] == [(0,)]
    assert again.check() == []


@pytest.mark.parametrize(
    "following",
    [
        _assistant("b"),
        _user(_result("t1")),
        _user(_result("t1"), "and hurry"),
        {"role": "system", "content": [{"text": "rule"}]},
    ],
)
def test_a_summary_is_merged_with_words_of_a_user_alone(following: Item) -> None:
    """Other roles may stand behind it, and nothing may stand in front of results."""
    assert BEDROCK.merged(BEDROCK.summary_item("short", role="user"), following) is None


def test_results_and_instructions_join_nothing() -> None:
    """Some models refuse words beside results; none refuses two instructions in a row."""
    words = {"role": "user", "content": [{"text": "next"}]}
    result = {"toolResult": {"toolUseId": "t1", "content": [{"text": "1"}]}}
    assert BEDROCK.merged({"role": "user", "content": [result]}, words) is None
    rules = [BEDROCK.summary_item(text, role="system") for text in ("one", "two")]
    assert BEDROCK.merged(*rules) is None


def test_single_results_are_taken_out_of_a_message_and_put_together_again() -> None:
    """A message is split by the positions of its blocks; joined, results come first."""
    item = _user(_result("t1"), _result("t2"), "and hurry")
    assert BEDROCK.pick(item, {1}) == _user(_result("t2"))
    assert BEDROCK.pick(item, {0, 1, 2}) is item
    assert BEDROCK.pick(item, ()) is None
    assert BEDROCK.join([item]) == [item]
    assert BEDROCK.join([_user(_result("t1"), "x"), _user(_result("t2"))]) == [
        _user(_result("t1"), _result("t2"), "x")
    ]


def test_a_fold_leaves_the_roles_in_turn() -> None:
    """The message behind the summary comes with it, is named in the outcome, and comes back."""
    items = [_user("a"), _assistant(LONG), _user("b"), _assistant("c")]
    before = list(items)
    ctx = ChatContext(items)
    outcome = ctx.summarize(lambda prompt: "short", keep_last_turns=1)
    assert outcome.merged == (before[2],)
    assert [i["role"] for i in items] == ["user", "assistant"]
    assert items[0]["content"][1:] == before[2]["content"]
    assert validate(items, "bedrock", strict=True) == []
    ctx.undo()
    assert all(a is b for a, b in zip(items, before, strict=True))


def test_what_is_pinned_stays_in_each_fold_though_it_came_with_a_summary() -> None:
    """`pin` is asked about it without the summary, and a summary alone is never pinned."""
    items = [_user("a"), _assistant(LONG), _user("Keep me."), _assistant(LONG)]
    asked: list[str] = []

    def pin(item: Item) -> bool:
        asked.append(str(item))
        return "Keep me." in str(item)

    ctx = ChatContext(items, pin=pin)
    for number in range(3):
        items += [_user(f"b{number}"), _assistant(LONG)]
        assert ctx.summarize(lambda prompt: "You said: Keep me.", keep_last_turns=1).changed
        assert str(items).count("{'text': 'Keep me.'}") == 1
    assert not [item for item in asked if "chat_history_summary" in item]
    for _ in range(3):
        assert ctx.undo().changed
    assert [str(item) for item in items[:4]].count(str(_user("Keep me."))) == 1


def test_pinned_messages_keep_the_roles_in_turn() -> None:
    """What was said between two of one role stays, unless it is of calls; more than one may."""
    said = [_user("Keep one."), _assistant("one"), _user(LONG), _assistant(LONG)]
    items = [*said, _user("Keep two."), _assistant("two"), _user(LONG), _assistant(LONG)]
    items += [_user(LONG), _assistant("Keep three."), _user(LONG), _assistant("x")]
    before = list(items)
    ctx = ChatContext(items, pin=lambda item: "Keep " in str(item))
    for number in range(3):
        assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
        assert [i["role"] for i in items] == ["user", "assistant"] * (len(items) // 2)
        assert validate(items, "bedrock", strict=True) == []
        items += [_user(f"b{number}"), _assistant(LONG)]
    assert items[0]["content"][1:] == before[0]["content"]
    assert [item for item in items if item in (before[1], before[4], before[9])] == [
        before[1],
        before[4],
        before[9],
    ]
    for _ in range(3):
        assert ctx.undo().changed
    assert all(a is b for a, b in zip(items, before, strict=False))


def test_pinned_messages_leave_something_to_fold() -> None:
    """Who pins all that a user says has the answers folded, though two come to stand in a row."""
    items = [_user("Keep one."), _assistant(LONG), _user("Keep two."), _assistant(LONG)]
    items += [_user("Keep three."), _assistant("x")]
    said = items[2]
    ctx = ChatContext(items, pin=lambda item: "Keep " in str(item))
    for number in range(2):
        assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
        assert LONG not in str(items)
        assert items[1] is said
        found = validate(items, "bedrock", strict=True)
        assert [p.rule for p in found] == ["roles_alternate"] * (2 + 2 * number)
        items += [_user(f"Keep {number}."), _assistant(LONG), _user("Keep on."), _assistant("x")]


def test_an_earlier_summary_alone_is_nothing_to_fold_beside_pinned_messages() -> None:
    """What a user said between two pinned answers stays while other words go, and then goes."""
    items = [_user(LONG), _assistant("Keep one."), _user(LONG), _assistant("Keep two.")]
    items += [_user(LONG), _assistant("Keep three.")]
    ctx = ChatContext(items, pin=lambda item: "Keep " in str(item))
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert [item["role"] for item in items] == ["user", "assistant"] * 3
    items += [_user("b"), _assistant("Keep four.")]
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert [item["role"] for item in items] == ["user", *["assistant"] * 3, "user", "assistant"]


def test_a_pinned_message_brings_no_calls_along() -> None:
    """Nothing else stood between, so two messages of a user stay, which most models take."""
    call, result = _assistant(_use("t1")), _user(_result("t1"))
    items = [_user("Keep."), call, result, _user("a" + LONG), _user("b"), _assistant("c")]
    items.insert(0, _assistant(LONG))
    items.insert(0, _user(LONG))
    ctx = ChatContext(items, pin=lambda item: "Keep." in str(item))
    assert ctx.summarize(lambda prompt: "short", keep_last_turns=1).changed
    assert call not in items
    assert result not in items


def test_a_summary_has_a_role_of_converse() -> None:
    """There is no developer here."""
    assert BEDROCK.summary_item("short", role="assistant") == _assistant("short")
    with pytest.raises(ShapeError):
        BEDROCK.summary_item("short", role="developer")


def test_the_older_name_of_the_shape_is_known() -> None:
    """The API is called Converse, so people look for it under that name, too."""
    assert shape_named("bedrock_converse") is BEDROCK


@pytest.mark.parametrize(
    "item",
    [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {}}],
        },
        {"role": "assistant", "content": [], "tool_calls": [{"id": "a"}]},
        {"role": "user", "parts": [{"text": "hi"}]},
    ],
)
def test_messages_of_other_shapes_are_no_converse_messages(item: Item) -> None:
    """A block of Converse has no type, and calls stand among the blocks."""
    assert BEDROCK.fit(item) == "no"
    assert BEDROCK.read(item) is None


def test_results_of_one_step_in_two_messages_are_put_into_one() -> None:
    """As loops write them that answer each call by itself; the result names its call's index."""
    items = [
        _user("q"),
        _assistant(_use("a"), _use("b")),
        _user(_result("a")),
        _user(_result("b")),
        _assistant("done"),
    ]
    ctx: ChatContext[Any] = ChatContext(items, shape="bedrock")
    late = next(p for p in ctx.check() if p.rule == "late_result")
    assert late.indices == (3, 1)
    assert [r.action for r in ctx.repair()] == ["moved"]
    assert items[2] == _user(_result("a"), _result("b"))
    assert validate(items, "bedrock") == []


def test_calls_of_one_message_under_one_id_get_ids_of_their_own() -> None:
    """Each result goes with its call; all other fields stay, and the given message too."""
    called = _assistant("look", _use("a"), _use("a", "put"))
    answered = _user(_result("a", {"text": "1"}), _result("a", {"text": "2"}, status="error"))
    before = copy.deepcopy([called, answered])
    items = [_user("q"), called, answered, _assistant("done")]
    (repair,) = ChatContext(items, shape="bedrock").repair()
    assert (repair.action, repair.indices) == ("renamed", (1, 2))
    assert items[1] == _assistant("look", _use("a"), _use("a_1", "put"))
    assert items[2]["content"][1] == _result("a_1", {"text": "2"}, status="error")
    assert [called, answered] == before
    assert validate(items, "bedrock") == []


def test_the_api_names_the_input_that_is_no_object() -> None:
    """Its words name the block, so that they are found."""
    items = [_user("q"), _assistant("look", _use("a"), _use("b", input="x"))]
    problem = next(
        p for p in ChatContext(items, shape="bedrock").check() if p.rule == "arguments_no_object"
    )
    assert "messages.1.content.2.toolUse.input is invalid" in problem.provider_error


def test_only_calls_and_results_have_another_id() -> None:
    """Words, a cache point and a place where nothing is are left as they are."""
    item = _user("q", {"cachePoint": {"type": "default"}})
    assert all(BEDROCK.with_other_id(item, part, "a") is item for part in range(3))


def test_a_message_without_content_is_taken_out() -> None:
    """Converse refuses it, and there is nothing in it to keep."""
    items = [_user("q"), {"role": "assistant", "content": []}, _user("again")]
    (repair,) = ChatContext(items, shape="bedrock").repair()
    assert (repair.rule, repair.action, len(items)) == ("empty_message", "dropped", 2)


def test_values_that_json_does_not_know_are_read_as_what_they_say() -> None:
    """DynamoDB gives each number back as a decimal; how Python spells one is nobody's word."""
    items = [
        _user("Pay. " * 50),
        _assistant(_use("t1", input={"amount": Decimal("4.50"), "on": date(2026, 11, 27)})),
        _user(_result("t1", {"json": {"left": Decimal("3")}})),
        _assistant({"text": "Paid."}),
        _user("And?"),
    ]
    ctx = ChatContext(items)
    assert ctx.tool_calls()[0].arguments == {"amount": "4.50", "on": "2026-11-27"}
    prompt = ctx.plan(keep_last_turns=1).prompt
    assert prompt is not None
    assert '{"left": "3"}' in prompt.user
    assert "Decimal" not in prompt.user
