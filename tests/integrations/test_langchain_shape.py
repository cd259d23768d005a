"""The shape `langchain`: the suite that every shape passes, and what only LangChain has."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip(
    "langchain.agents", reason='LangChain is not installed: pip install "chatfold[langchain]"'
)
pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    convert_to_openai_messages,
    messages_from_dict,
    messages_to_dict,
)
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import SecretStr
from shapes.conformance import Call, ShapeConformance
from shapes.sdk_types import union_named
from validator import validate

from chatfold import ChatContext
from chatfold.core.rolling import item_digest
from chatfold.core.views import (
    CallPart,
    MediaPart,
    ReasoningPart,
    ResultPart,
    ServerCallPart,
    Shape,
    TextPart,
)
from chatfold.errors import ShapeError
from chatfold.integrations.langchain import LangChainMessages
from chatfold.stores import MemoryStore

SHAPE = LangChainMessages()


class Writer:
    """Writes messages: objects, or (`sdk=False`) what JSON gives back of them."""

    shape = "langchain"
    union = "langchain_core.messages:AnyMessage"
    fails = True

    def system(self, text: str) -> Any:
        return SystemMessage(text)

    def user(self, text: str) -> Any:
        return HumanMessage(text)

    def picture(self, text: str, data: str) -> Any:
        image = {"type": "image", "base64": data, "mime_type": "image/png"}
        return HumanMessage([{"type": "text", "text": text}, image])

    def assistant(self, text: str, *, sdk: bool = False) -> Any:
        return self._message(AIMessage(text), sdk)

    def calls(self, *calls: Call, sdk: bool = False) -> list[Any]:
        made = [{"id": c.id, "name": c.name, "args": c.arguments} for c in calls]
        return [self._message(AIMessage("", tool_calls=made), sdk)]

    def results(self, *calls: Call) -> list[Any]:
        return [
            ToolMessage(c.result, tool_call_id=c.id, status="error" if c.failed else "success")
            for c in calls
        ]

    def joined(self, results: list[Any]) -> list[Any]:
        return results

    def unknown(self) -> list[Any]:
        return [HumanMessage([{"type": "brand_new", "data": 1}])]

    def malformed(self) -> list[Any]:
        return [
            RemoveMessage(id="1"),
            {"type": "human", "content": 5},
            {"type": "ai", "content": "", "tool_calls": [{"id": "c", "args": {}}]},
            {"type": "tool", "content": "x"},
        ]

    def _message(self, message: Any, sdk: bool) -> Any:
        return message if sdk else json.loads(json.dumps(message.model_dump()))


def _sent(items: list[Any]) -> list[Any]:
    """Judge what LangChain would send of the messages to OpenAI, as its own package writes it."""
    model = ChatOpenAI(model="gpt-5", api_key=SecretStr("test"))
    objects = [m if not isinstance(m, dict) else messages_from_dict([_record(m)])[0] for m in items]
    return list(validate(model._get_request_payload(objects)["messages"], "openai_chat"))


def _record(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": fields["type"], "data": fields}


class TestLangChainMessages(ShapeConformance):
    """The suite; the shape is the integration's own, so it is always named."""

    writer = Writer()
    item_type = HumanMessage

    @pytest.fixture(params=["hint"])
    def hint(self, request: pytest.FixtureRequest) -> str | None:
        return request.param

    def context(self, items: list[Any], hint: str | None) -> ChatContext[Any]:
        return ChatContext(items, shape=SHAPE)

    def shape(self) -> Shape:
        return SHAPE

    def tool_type(self) -> Any:
        """Return OpenAI's, which LangChain takes for every provider."""
        return union_named("openai.types.chat:ChatCompletionToolParam")

    def refused(self, item: Any) -> str:
        """Return why it is no message that LangChain's own package takes."""
        try:
            convert_to_openai_messages([item])
        except (ValueError, TypeError) as error:
            return str(error)
        return "" if isinstance(item, BaseMessage) else f"{type(item)} is no message"

    def errors(self, items: list[Any]) -> list[Any]:
        return _sent(items)

    def reloaded(self, items: list[Any], hint: str | None) -> ChatContext[Any]:
        """Return the messages as `messages_from_dict` gives them back."""
        as_objects = [m if isinstance(m, BaseMessage) else messages_from_dict([_record(m)])[0]
                      for m in items]  # fmt: skip
        return self.context(
            [*messages_from_dict(json.loads(json.dumps(messages_to_dict(as_objects))))], hint
        )

    def test_the_summary_item_is_valid_input_for_the_sdk(self, hint: str | None) -> None:
        """It is a person's message, of LangChain's own class, marked as LangChain's own are."""
        outcome = self.context(self.history(), hint).summarize(lambda _: "short", keep_last_turns=1)
        assert type(outcome.item) is HumanMessage
        assert self.refused(outcome.item) == ""
        assert outcome.item.additional_kwargs == {"lc_source": "summarization"}


def test_a_summary_is_recognized_in_the_bare_fields_of_messages() -> None:
    """As `model_dump` writes them, and as LangGraph's server sends them."""
    long = "It is on its way. " * 60
    items: list[Any] = [HumanMessage(long), AIMessage(long), HumanMessage("a"), AIMessage("b")]
    ctx = ChatContext(items, shape=SHAPE)
    outcome = ctx.summarize(lambda prompt: "short & <b>", keep_last_turns=1)
    fields = [json.loads(m.model_dump_json()) for m in items]
    plan = ChatContext(fields, shape=SHAPE).plan(keep_last_turns=0)
    assert plan.prompt is not None
    assert plan.prompt.previous_summary == outcome.summary


def view(message: Any) -> Any:
    found = SHAPE.read(message)
    assert found is not None
    return found


def test_calls_whose_arguments_are_no_json_are_calls() -> None:
    """LangChain answers them, so they are bound to their results like the others."""
    broken = {"id": "b", "name": "pay", "args": '{"a": ', "error": "no JSON"}
    made = {"id": "a", "name": "pay", "args": {"a": 1}}
    items = [
        HumanMessage("hi"),
        AIMessage("", tool_calls=[made], invalid_tool_calls=[broken]),
        ToolMessage("paid", tool_call_id="a"),
        ToolMessage("Error: no JSON", tool_call_id="b", status="error"),
    ]
    records = ChatContext(items, shape=SHAPE).tool_calls()
    assert [(r.id, r.status, r.raw_arguments) for r in records] == [
        ("a", "completed", '{"a": 1}'),
        ("b", "failed", '{"a": '),
    ]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_use", "id": "c", "name": "pay", "input": {"a": 1}},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "pay", "arguments": "{}"},
        {"type": "tool_call", "id": "c", "name": "pay", "args": {"a": 1}},
        {"type": "input_json_delta", "partial_json": "{}"},
    ],
)
def test_a_call_that_stands_in_the_content_too_is_one_call(block: dict[str, Any]) -> None:
    """Providers' packages leave their own blocks in the content, beside `tool_calls`."""
    call = {"id": "c", "name": "pay", "args": {"a": 1}}
    words = {"type": "text", "text": "I pay."}
    parts = view(AIMessage([words, block], tool_calls=[call])).parts
    assert [type(p) for p in parts] == [TextPart, CallPart]
    assert parts[1].arguments == '{"a": 1}'


@pytest.mark.parametrize(
    ("block", "text", "opaque"),
    [
        ({"type": "thinking", "thinking": "Hm.", "signature": "s" * 8}, "Hm.", 0),
        ({"type": "redacted_thinking", "data": "x" * 5}, "", 5),
        ({"type": "reasoning", "reasoning": "Hm.", "extras": {"signature": "s"}}, "Hm.", 0),
        (
            {"type": "reasoning", "id": "rs", "encrypted_content": "abc",
             "summary": [{"type": "summary_text", "text": "Hm."}]},
            "Hm.",
            3,
        ),
        ({"type": "reasoning_content", "reasoning_content": {"text": "Hm."}}, "Hm.", 0),
    ],
)  # fmt: skip
def test_reasoning_of_every_provider_is_reasoning(
    block: dict[str, Any], text: str, opaque: int
) -> None:
    """What can be read of it is read, and of the rest the characters are counted."""
    parts = view(AIMessage([block, {"type": "text", "text": "Yes."}])).parts
    assert parts == (ReasoningPart(text, opaque), TextPart("Yes."))


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"type": "image", "url": "https://x.org/a.png"},
         MediaPart("image", None, None, "https://x.org/a.png")),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
         MediaPart("image", "image/png", 3)),
        ({"type": "image", "source_type": "base64", "data": "AAAA", "mime_type": "image/png"},
         MediaPart("image", "image/png", 3)),
        ({"type": "image", "source": {"type": "base64", "data": "AAAA", "media_type": "image/png"}},
         MediaPart("image", "image/png", 3)),
        ({"type": "image", "file_id": "file-1"}, MediaPart("image", None, None, "file-1")),
        ({"type": "file", "source_type": "id", "id": "file-1"},
         MediaPart("file", None, None, "file-1")),
        ({"type": "audio", "base64": "AAAA", "mime_type": "audio/wav"},
         MediaPart("audio", "audio/wav", 3)),
        ({"type": "text-plain", "text": "abc", "mime_type": "text/plain", "title": "a.txt"},
         MediaPart("document", "text/plain", 3, "a.txt", "abc")),
        ({"type": "media", "mime_type": "video/mp4", "data": "AAAA"},
         MediaPart("file", "video/mp4", 3)),
    ],
)  # fmt: skip
def test_media_of_every_form_are_media(block: dict[str, Any], part: MediaPart) -> None:
    """LangChain's blocks, the older ones, and those of OpenAI, Anthropic and Google."""
    assert view(HumanMessage([block])).parts == (part,)


def test_what_the_server_called_is_its_own_call_and_result() -> None:
    """In LangChain's blocks, in Anthropic's and in OpenAI's."""
    parts = view(
        AIMessage(
            [
                {"type": "server_tool_call", "id": "s", "name": "web_search", "args": {"q": "a"}},
                {"type": "server_tool_result", "tool_call_id": "s", "status": "success",
                 "output": "found"},
                {"type": "server_tool_use", "id": "t", "name": "web_search", "input": {"q": "b"}},
                {"type": "web_search_tool_result", "tool_use_id": "t", "content": "more"},
                {"type": "mcp_call", "id": "m", "name": "ask", "arguments": "{}", "output": "yes"},
            ]
        )
    ).parts  # fmt: skip
    assert parts == (
        CallPart("s", "web_search", '{"q": "a"}', "server", "server"),
        ResultPart("s", None, "found", False, "server"),
        CallPart("t", "web_search", '{"q": "b"}', "server", "server"),
        ResultPart("t", None, "more", False, "server"),
        ServerCallPart("m", "ask", "{}", "yes", "completed", "mcp"),
    )


def test_roles_are_read_from_every_class_of_message() -> None:
    """Developers' instructions, chunks of streams and messages with a role of their own."""
    told = SystemMessage("x", additional_kwargs={"__openai_role__": "developer"})
    assert view(told).role == "developer"
    assert view(ChatMessage("x", role="assistant")).role == "assistant"
    assert view(ChatMessage("x", role="user")).role == "user"
    chunk = AIMessage("x").model_copy(update={"type": "AIMessageChunk"})
    assert view(chunk).role == "assistant"
    remove = view(RemoveMessage(id="1"))
    assert remove.role == "unknown"
    assert remove.fault


def test_langchains_own_summary_is_the_previous_one() -> None:
    """The next summary is an update of it, and afterwards there is one."""
    words = "Here is a summary of the conversation to date:\n\nThe parcel P-1 is late. " * 20
    theirs = HumanMessage(words, additional_kwargs={"lc_source": "summarization"})
    items: list[Any] = [theirs, AIMessage("I see."), HumanMessage("And now?"), AIMessage("Wait.")]
    ctx = ChatContext(items, shape=SHAPE)
    plan = ctx.plan(keep_last_turns=1)
    assert plan.prompt is not None
    assert plan.prompt.previous_summary == words
    assert "<previous_summary>" in plan.prompt.user
    ctx.summarize(lambda prompt: "P-1 is late.", keep_last_turns=1)
    assert [type(m).__name__ for m in ctx.items] == ["HumanMessage", "HumanMessage", "AIMessage"]
    assert "Here is a summary" not in str(ctx.items)


def test_langchains_summary_elsewhere_is_text_and_is_shown() -> None:
    """Only the first message is taken for one; nothing is lost of another."""
    late = HumanMessage("Mark mk0001.", additional_kwargs={"lc_source": "summarization"})
    items: list[Any] = [HumanMessage("hi"), AIMessage("ho"), late, AIMessage("so"),
                        HumanMessage("x"), AIMessage("y")]  # fmt: skip
    plan = ChatContext(items, shape=SHAPE).plan(keep_last_turns=1)
    assert plan.prompt is not None
    assert plan.prompt.previous_summary is None
    assert "Mark mk0001." in plan.prompt.user


def test_with_a_key_nobody_elses_summary_is_taken_for_one() -> None:
    """What `lc_source` says could be said by whoever fills in the messages."""
    theirs = HumanMessage("Forged.", additional_kwargs={"lc_source": "summarization"})
    items: list[Any] = [theirs, AIMessage("I see."), HumanMessage("And now?"), AIMessage("Wait.")]
    plan = ChatContext(items, shape=SHAPE, summary_key=b"secret").plan(keep_last_turns=1)
    assert plan.prompt is not None
    assert plan.prompt.previous_summary is None
    assert "Forged." in plan.prompt.user


def test_a_checkpointed_copy_and_a_new_id_say_the_same() -> None:
    """What was folded is found again, though the fields that are set differ, and the ids."""
    serde = JsonPlusSerializer()
    for message in (
        HumanMessage("hi", id="1"),
        AIMessage("", tool_calls=[{"id": "c", "name": "a", "args": {}}], id="2",
                  usage_metadata={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}),
        ToolMessage("r", tool_call_id="c", artifact=object(), status="error"),
        ToolMessage("r", tool_call_id="c"),  # its status is set when it comes from a checkpoint
    ):  # fmt: skip
        copies = [message.model_copy(update={"id": "other"})]
        if not isinstance(message, ToolMessage) or message.artifact is None:
            copies.append(serde.loads_typed(serde.dumps_typed(message)))
        digest = item_digest(SHAPE.said(message))
        assert [item_digest(SHAPE.said(copy)) for copy in copies] == [digest] * len(copies)
    assert item_digest(SHAPE.said(AIMessage("a"))) != item_digest(SHAPE.said(HumanMessage("a")))
    assert item_digest(SHAPE.said(AIMessage("a"))) != item_digest(SHAPE.said(AIMessage("b")))


def test_thinking_that_anthropic_signed_needs_a_field_behind_a_summary() -> None:
    """Reasoning of others does not; `strip` takes the signed blocks out and leaves the call."""
    call = {"id": "c", "name": "pay", "args": {}}
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
    acting = AIMessage([thought], tool_calls=[call])
    tail: list[Any] = [HumanMessage("go"), acting, ToolMessage("ok", tool_call_id="c")]
    items: list[Any] = [HumanMessage("hi " * 500), AIMessage("ho"), *tail, AIMessage("done")]
    ctx = ChatContext(list(items), shape=SHAPE, model="claude-opus-5-5")
    ctx.summarize(lambda prompt: "short", keep_last_turns=1)
    assert [r.kind for r in ctx.requirements()] == ["thinking_binding"]
    stripped = ChatContext(list(items), shape=SHAPE, model="claude-opus-5-5")
    stripped.summarize(lambda prompt: "short", keep_last_turns=1, thinking="strip")
    assert stripped.requirements() == []
    assert [m.content for m in stripped.items[2:3]] == [""]
    assert stripped.items[2].tool_calls[0]["id"] == "c"
    assert acting.content == [thought]


def test_only_a_message_that_can_answer_is_written() -> None:
    """A summary has one of four roles, and a result names its call."""
    assert [SHAPE.summary_item("x", role=r).type for r in ("user", "assistant", "system")] == [
        "human",
        "ai",
        "system",
    ]
    with pytest.raises(ShapeError, match="tool"):
        SHAPE.summary_item("x", role="tool")


def test_a_result_that_stands_too_late_is_a_problem() -> None:
    """Results follow their step, with every provider behind LangChain."""
    call = {"id": "c", "name": "pay", "args": {}}
    items: list[Any] = [
        HumanMessage("hi"),
        AIMessage("", tool_calls=[call]),
        HumanMessage("well?"),
        ToolMessage("ok", tool_call_id="c"),
    ]
    ctx = ChatContext(items, shape=SHAPE)
    assert [p.rule for p in ctx.check() if p.severity == "error"] == ["late_result"]
    assert _sent(items)
    assert convert_to_openai_messages(items)
    assert 2 not in ctx.cut_points()
    assert 3 not in ctx.cut_points()


def test_a_later_process_takes_a_fold_back_from_a_store() -> None:
    """The messages are equal to what they were, and of LangChain's classes."""
    long = "It is on its way. " * 60
    call = {"id": "c", "name": "pay", "args": {"a": 1}}
    items: list[Any] = [
        HumanMessage(long, id="m1"),
        AIMessage("", tool_calls=[call], id="m2"),
        ToolMessage("paid", tool_call_id="c", status="error", id="m3"),
        AIMessage(long, id="m4"),
        HumanMessage("Thanks.", id="m5"),
        AIMessage("Bye.", id="m6"),
    ]
    before = [message.model_copy() for message in items]
    store = MemoryStore()
    ChatContext(items, shape=SHAPE, store=store, key="a").summarize(
        lambda prompt: "short", keep_last_turns=1
    )
    reloaded = list(messages_from_dict(messages_to_dict(items)))
    later = ChatContext(reloaded, shape=SHAPE, store=store, key="a")
    assert later.undo().changed
    assert [type(m) for m in reloaded] == [type(m) for m in before]
    assert reloaded == before


@pytest.mark.parametrize(
    "cited",
    [
        {"annotations": [{"type": "citation", "url": "https://a.example/1", "title": "T"}]},
        {"annotations": [{"type": "url_citation", "url": "https://a.example/1", "title": "T"}]},
        {"citations": [{"type": "search_result_location", "source": "https://a.example/1"}]},
        {"annotations": [{"type": "citation", "title": "a", "extras": {"file_id": "file-1"}}]},
        {"annotations": [{"type": "non_standard_annotation", "value": {"file_id": "file-1"}}]},
    ],
)
def test_what_a_text_cites_is_read(cited: dict[str, Any]) -> None:
    view = LangChainMessages().read(AIMessage([{"type": "text", "text": "See [1].", **cited}]))
    assert view is not None
    (part,) = view.parts
    assert isinstance(part, TextPart)
    assert part.text == "See [1]."
    assert len(part.sources) == 1
    assert part.sources[0].endswith(("https://a.example/1", "file-1"))


@pytest.mark.parametrize(
    ("model", "thought", "kept"),
    [
        ("claude-haiku-4-5", {"type": "thinking", "thinking": "hm", "signature": "c2ln"}, True),
        ("claude-sonnet-5-5", {"type": "thinking", "thinking": "hm", "signature": "c2ln"}, False),
        ("gpt-5", {"type": "reasoning", "id": "rs_1", "summary": []}, False),
        (
            "anthropic.claude-haiku-4-5-v1:0",
            {"type": "reasoning_content", "reasoning_content": {"text": "hm", "signature": "c2ln"}},
            True,
        ),
    ],
)
def test_a_turn_of_claude_goes_on_with_what_was_thought_before_its_first_call(
    model: str, thought: dict[str, Any], *, kept: bool
) -> None:
    """It stays with its call and the result, where a budget is given to thinking."""
    items: list[BaseMessage] = [HumanMessage("Check all my orders.")]
    for n in range(6):
        call = {"id": f"c{n}", "name": "find_order", "args": {"n": n}}
        content: str | list[str | dict[Any, Any]] = [] if n else [thought]
        items.append(AIMessage(content, tool_calls=[call]))
        items.append(ToolMessage("delivered in Lyon. " * 60, tool_call_id=f"c{n}"))
    opening = items[1:3]
    ctx = ChatContext(items, shape=SHAPE, model=model)
    assert ctx.summarize(lambda _: "Orders were looked up.", keep_last_turns=0).changed
    assert [item for item in items if item in opening] == (opening if kept else [])
