"""What a tool returns besides text: blocks of the provider's own, results of MCP's, look-alikes."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest
from returned import (
    OLLAMA_HISTORY,
    PDF,
    PICTURE,
    PNG,
    PROVIDERS,
    WORDS,
    Provider,
    mcp_json,
    object_blocks,
    received,
)
from shapes.sdk_types import refusal, union_named
from validator import validate

from chatfold import ChatContext
from chatfold.core.native import json_text
from chatfold.core.views import MediaPart, ResultPart

SHAPES = [*PROVIDERS, "ollama"]
WITH_MEDIA = [name for name, provider in PROVIDERS.items() if provider.picture is not None]
every_shape = pytest.mark.parametrize("shape", SHAPES)
every_provider = pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
NOT_SHOWN = f"[image, image/png, {len(PICTURE)} bytes: the tool returned it"


def context(shape: str, **options: Any) -> ChatContext[Any]:
    history = OLLAMA_HISTORY if shape == "ollama" else PROVIDERS[shape].history
    return ChatContext([*copy.deepcopy(history)], shape=shape, **options)


def answered(shape: str, value: Any, **options: Any) -> ChatContext[Any]:
    """Return a list whose one call a tool has answered by `value`."""
    ctx = context(shape, **options)
    before = copy.deepcopy(ctx.items)
    (item,) = ctx.run_tool_calls({"shot": lambda: value})
    assert ctx.items == [*before, item]
    return ctx


def result(ctx: ChatContext[Any]) -> ResultPart:
    (part,) = ctx.views()[-1].parts
    assert isinstance(part, ResultPart)
    return part


def problems(ctx: ChatContext[Any], shape: str) -> list[Any]:
    return [*ctx.check(), *validate(ctx.items, shape, blocks=True)]


def wire(value: Any) -> Any:
    """Return JSON types, with bytes as base64."""
    return json.loads(json.dumps(value, default=lambda inner: b64encode(inner).decode()))


def words_block(shape: str) -> dict[str, Any]:
    """Return the block of a text, as the provider has it."""
    if shape in ("gemini", "bedrock"):
        return {"text": WORDS}
    return {"type": "input_text" if shape == "openai_responses" else "text", "text": WORDS}


_TEXT_PART = "openai.types.chat.chat_completion_content_part_text_param"
# What SDKs have that know of such results.
NEWER = {
    "openai_chat": f"{_TEXT_PART}:PromptCacheBreakpoint",
    "openai_responses": "openai.types.responses:ResponseFunctionCallOutputItemListParam",
    "anthropic": "anthropic.types:SearchResultBlockParam",
    "gemini": "google.genai.types:FunctionResponsePartDict",
}

# --- the provider's own blocks --------------------------------------------------------------------


@every_provider
@pytest.mark.parametrize("kind", [list, tuple])
def test_the_providers_own_blocks_go_out_as_they_are(
    provider: Provider, kind: Callable[[Any], Any]
) -> None:
    """In the order given, and nothing in them is changed."""
    given = copy.deepcopy(provider.blocks)
    ctx = answered(provider.shape, kind(provider.blocks))
    assert ctx.items[-1] == provider.written([*given])
    assert provider.blocks == given
    assert problems(ctx, provider.shape) == []
    assert ctx.tool_calls()[0].status == "completed"
    assert WORDS in (ctx.tool_calls()[0].result or "")


@every_provider
def test_the_sdk_takes_a_result_with_blocks(provider: Provider) -> None:
    """The item is of the SDK's own type for input."""
    newer = NEWER.get(provider.shape)
    if newer is not None and union_named(newer) is None:
        pytest.skip("the types of the installed SDK are older than such results")
    item = copy.deepcopy(answered(provider.shape, [*provider.blocks]).items[-1])
    if provider.shape == "gemini":  # whose types have bytes; the SDK reads base64 as such
        (part,) = item["parts"]
        part["function_response"]["parts"][0]["inline_data"]["data"] = PICTURE
    assert refusal(union_named(provider.union), item) == ""


@pytest.mark.parametrize("shape", ["openai_responses", "anthropic", "gemini", "mistral"])
def test_blocks_that_are_the_sdks_objects_are_blocks_too(shape: str) -> None:
    """They stand in the result as the dicts that they are."""
    objects, dicts = object_blocks(shape)
    assert answered(shape, objects).items[-1] == PROVIDERS[shape].written(dicts)


@pytest.mark.parametrize("shape", WITH_MEDIA)
def test_one_picture_needs_no_list_around_it(shape: str) -> None:
    """A tool that takes a screenshot returns a block."""
    provider = PROVIDERS[shape]
    assert answered(shape, provider.picture).items[-1] == provider.written([provider.picture])


@pytest.mark.parametrize("shape", WITH_MEDIA)
def test_words_may_stand_beside_a_picture(shape: str) -> None:
    """A plain text among blocks is a block of text, where one of them is a medium."""
    provider = PROVIDERS[shape]
    ctx = answered(shape, [WORDS, provider.picture])
    assert ctx.items[-1] == provider.written([words_block(shape), provider.picture])


@every_shape
def test_a_request_with_such_a_result_reaches_the_server(shape: str) -> None:
    """The real client sends it, and what arrives is what the provider takes."""
    value = [*PROVIDERS[shape].blocks] if shape != "ollama" else mcp_json(isError=False)
    ctx = answered(shape, value)
    arrived = received(shape, ctx.items)
    assert [v for v in validate(arrived, shape, blocks=True) if not v.open] == []
    assert (PNG in json.dumps(arrived).replace("-", "+").replace("_", "/")) is (
        shape != "openai_chat"
    )


@every_shape
def test_a_picture_is_read_as_one_and_never_its_bytes(shape: str) -> None:
    """It is counted in a prompt, not shown; and tokens are counted for a picture, not for text."""
    ctx = answered(shape, mcp_json(isError=False))
    part = result(ctx)
    wanted = [] if shape == "openai_chat" else [MediaPart("image", "image/png", len(PICTURE))]
    assert [m._replace(name=None) for m in part.media] == wanted
    assert WORDS in part.text
    assert PNG[:100] not in part.text
    assert ctx.count_tokens().value < 3_000
    ctx.append(said(shape, "assistant", "Seen. " * 300))
    ctx.append(said(shape, "user", "Thanks."))
    ctx.append(said(shape, "assistant", "Gladly."))
    before = wire(ctx.items)
    prompts: list[str] = []

    def summarizer(prompt: Any) -> str:
        prompts.append(prompt.user)
        return "The page was shown."

    outcome = ctx.summarize(summarizer, keep_last_turns=1)
    assert outcome.changed
    assert PNG[:100] not in prompts[0]
    assert outcome.omitted.get("media", 0) == len(wanted)
    assert "failed" not in outcome.summary
    ctx.undo()
    assert wire(ctx.items) == before


def said(shape: str, role: str, words: str) -> dict[str, Any]:
    if shape == "gemini":
        return {"role": {"assistant": "model"}.get(role, role), "parts": [{"text": words}]}
    return {"role": role, "content": [{"text": words}] if shape == "bedrock" else words}


def test_ollama_has_pictures_beside_the_words() -> None:
    """The SDK's own pictures, and those of MCP's as base64; other media in words."""
    from ollama import Image

    picture = Image(value=PICTURE)
    assert answered("ollama", ["Look:", picture]).items[-1] == {
        "role": "tool",
        "tool_name": "shot",
        "content": "Look:",
        "images": [picture],
    }
    sound = {"type": "audio", "data": PNG, "mimeType": "audio/wav"}
    message = answered("ollama", [*mcp_json()["content"], sound]).items[-1]
    assert message["images"] == [PNG]
    assert message["content"].startswith(f"{WORDS}\n[audio, audio/wav, ")
    assert answered("ollama", picture).items[-1]["images"] == [picture]


def test_chat_completions_take_texts_alone() -> None:
    """A picture that is OpenAI's own, but stands in no result there, is told in words."""
    text = {"type": "text", "text": WORDS}
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    web = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    ctx = answered("openai_chat", [text, url, web])
    first, second, third = ctx.items[-1]["content"]
    assert first == text
    assert second["type"] == third["type"] == "text"
    assert second["text"].startswith(NOT_SHOWN)
    assert "https://example.com/a.png" in third["text"]
    assert problems(ctx, "openai_chat") == []
    assert received("openai_chat", ctx.items)[-1]["content"] == ctx.items[-1]["content"]


def test_a_call_of_an_old_kind_has_a_text_for_its_result() -> None:
    """The content of a `function` message is no list."""
    function = {"name": "shot", "arguments": "{}"}
    call = {"role": "assistant", "content": None, "function_call": function}
    ctx: ChatContext[Any] = ChatContext([{"role": "user", "content": "Go."}, call])
    marked = {"type": "text", "text": "b", "prompt_cache_breakpoint": {"mode": "explicit"}}
    ctx.run_tool_calls({"shot": lambda: [{"type": "text", "text": "a"}, marked]})
    assert ctx.items[-1] == {"role": "function", "name": "shot", "content": "a\nb"}


def test_a_custom_tool_of_openai_may_return_a_picture() -> None:
    """Its output is as that of a function."""
    provider = PROVIDERS["openai_responses"]
    call = {"type": "custom_tool_call", "call_id": "call_1", "name": "shot", "input": "now"}
    ctx: ChatContext[Any] = ChatContext([provider.history[0], call])
    ctx.run_tool_calls({"shot": lambda text: [provider.picture]})
    assert ctx.items[-1]["type"] == "custom_tool_call_output"
    assert ctx.items[-1]["output"] == [provider.picture]


def test_blank_texts_are_left_out_where_the_provider_refuses_them() -> None:
    """Anthropic takes no blank text in a result, but a result without content."""
    provider = PROVIDERS["anthropic"]
    blank = {"type": "text", "text": " \n", "cache_control": {"type": "ephemeral"}}
    ctx = answered("anthropic", [blank, provider.picture])
    assert ctx.items[-1] == provider.written([provider.picture])
    assert answered("anthropic", [blank]).items[-1]["content"][0]["content"] == ""
    bedrock = PROVIDERS["bedrock"]
    ctx = answered("bedrock", [{"text": ""}, bedrock.picture])
    assert ctx.items[-1] == bedrock.written([bedrock.picture])


@every_shape
def test_rows_of_texts_go_out_as_json(shape: str) -> None:
    """They may be those of a table, and servers after OpenAI's take no list in a `tool` message."""
    for rows in (
        [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        [{"text": ""}, {"text": "b"}],
    ):
        assert json.loads(answered(shape, rows).tool_calls()[0].result or "") == rows


@every_shape
def test_a_result_of_mcp_without_content_goes_out_as_json(shape: str) -> None:
    """It says at least that the tool did not fail; a blank text says nothing."""
    empty: dict[str, Any] = {"content": [], "isError": False}
    assert json.loads(answered(shape, empty).tool_calls()[0].result or "") == empty


class TextContent:
    """A class of the user's own that is called as one of MCP's."""

    def __init__(self, dumped: Any) -> None:
        self.dumped = dumped

    def model_dump(self, *, mode: str = "python", **_: Any) -> Any:
        if mode == "json" and "raw" in self.dumped:
            raise UnicodeDecodeError("utf-8", self.dumped["raw"], 0, 1, "invalid start byte")
        return self.dumped


@every_shape
@pytest.mark.parametrize("dumped", [{"raw": b"\xff"}, {"title": "x"}])
def test_a_class_that_is_called_as_one_of_mcps_is_data(shape: str, dumped: Any) -> None:
    (call,) = answered(shape, [TextContent(dumped), 3]).tool_calls()
    assert call.status == "completed"
    said = json.loads(call.result or "")
    assert len(said) == 2
    assert said[1] == 3


def test_a_server_of_ollama_is_sent_pictures_that_it_reads() -> None:
    """It fails on others, https://github.com/ollama/ollama/issues/1526 (read 2026-11-29)."""
    drawn = {"type": "image", "data": b64encode(b"<svg/>").decode(), "mimeType": "image/svg+xml"}
    message = answered("ollama", [drawn]).items[-1]
    assert "images" not in message
    assert message["content"].startswith("[image, image/svg+xml, 6 bytes")


@every_shape
def test_what_cannot_be_compared_is_data(shape: str) -> None:
    """An array's `==` is an array, which is neither true nor false."""

    class Array:
        def __eq__(self, other: object) -> Any:
            raise ValueError("operands could not be broadcast together")

        __hash__ = None  # type: ignore[assignment]

        def __str__(self) -> str:
            return "['a' 'b']"

    for key in ("content", "type", "isError", "text"):
        (call,) = answered(shape, [{key: Array()}]).tool_calls()
        assert call.status == "completed"
        assert "['a' 'b']" in (call.result or "")


@every_provider
def test_a_tool_may_write_to_its_own_blocks_later(provider: Provider) -> None:
    blocks = copy.deepcopy([*provider.blocks])
    ctx = answered(provider.shape, blocks)
    before = copy.deepcopy(ctx.items)
    for block in blocks:
        if isinstance(block, dict):
            block.clear()
    assert ctx.items == before


def test_a_gemini_before_3_is_told_of_its_own_media_in_words() -> None:
    provider = PROVIDERS["gemini"]
    for model, shown in (("gemini-2.5-flash", False), ("gemini-3-pro-preview", True)):
        ctx = ChatContext(copy.deepcopy([*provider.history]), model=model, shape="gemini")
        ctx.run_tool_calls({"shot": lambda: [provider.picture]})
        assert (PNG[:50] in repr(ctx.items[-1]) or str(PICTURE[:8]) in repr(ctx.items[-1])) is shown
        assert (NOT_SHOWN in repr(ctx.items[-1])) is not shown


def test_documents_of_bedrock_have_names_of_their_own() -> None:
    """The same file is read twice, and a request may hold no name twice."""
    pdf = {"document": {"format": "pdf", "name": "report", "source": {"bytes": b"%PDF-1"}}}
    calls = [{"toolUse": {"toolUseId": f"t{n}", "name": "read", "input": {}}} for n in range(2)]
    user = {"role": "user", "content": [{"text": "Go."}]}
    ctx: ChatContext[Any] = ChatContext([user, {"role": "assistant", "content": calls}])
    ctx.run_tool_calls({"read": lambda: [pdf, pdf]})
    results = [block["toolResult"]["content"] for block in ctx.items[-1]["content"]]
    names = [block["document"]["name"] for content in results for block in content]
    assert len(set(names)) == 4
    assert all(name.startswith("report ") for name in names)
    assert pdf["document"]["name"] == "report"


@every_shape
def test_an_error_of_mcp_is_not_cut(shape: str) -> None:
    """A log says at its end what went wrong."""
    log = "passed\n" * 700 + "FAILED test_charge: charged twice"
    content = [{"type": "text", "text": log}]
    (call,) = answered(shape, {"content": content, "isError": True}).tool_calls()
    assert log in (call.result or "")


@every_provider
def test_texts_in_blocks_are_sendable(provider: Provider) -> None:
    """A lone surrogate, which no request could carry, becomes U+FFFD, as in any result."""
    broken = [
        json.loads(json.dumps(block).replace(WORDS, "file \\udce4"))
        if WORDS in json_text(block)
        else block
        for block in provider.blocks
    ]
    ctx = answered(provider.shape, broken)
    assert "file �" in (ctx.tool_calls()[0].result or "")
    assert received(provider.shape, ctx.items)


# --- results of MCP's -----------------------------------------------------------------------------


@every_shape
def test_a_picture_of_mcp_becomes_the_providers_own(shape: str) -> None:
    """Or words that say what it is, where no result of the provider holds one; never base64."""
    ctx = answered(shape, mcp_json(isError=False))
    item = ctx.items[-1]
    assert problems(ctx, shape) == []
    if shape == "openai_chat":
        assert item["content"].startswith(f"{WORDS}\n{NOT_SHOWN}")
    elif shape == "ollama":
        assert (item["content"], item["images"]) == (WORDS, [PNG])
    else:
        provider = PROVIDERS[shape]
        assert item == provider.written([words_block(shape), provider.picture])


def mcp_objects() -> list[Any]:
    types = pytest.importorskip("mcp.types")
    picture = types.ImageContent(type="image", data=PNG, mimeType="image/png")
    return [types.TextContent(type="text", text=WORDS), picture]


@every_shape
def test_the_objects_of_mcp_are_read_as_their_json(shape: str) -> None:
    """A whole result, a list of contents, a list of their JSON, beside a plain text or alone."""
    types = pytest.importorskip("mcp.types")
    objects = mcp_objects()
    wanted = answered(shape, mcp_json(isError=False)).items[-1]
    for value in (
        types.CallToolResult(content=objects),
        objects,
        tuple(objects),
        mcp_json()["content"],
        mcp_json(),
        [WORDS, objects[1]],
    ):
        assert answered(shape, value).items[-1] == wanted
    (text, picture) = objects
    assert answered(shape, picture).items[-1] == answered(shape, [picture]).items[-1]
    assert answered(shape, text).items[-1] == answered(shape, WORDS).items[-1]


@every_shape
def test_blank_texts_of_mcp_stand_beside_no_picture(shape: str) -> None:
    """A provider that takes no blank text would refuse the whole request."""
    value = mcp_json(isError=False)
    blank = {**value, "content": [{"type": "text", "text": " "}, *value["content"]]}
    if shape == "openai_chat":  # whose result is one text
        assert answered(shape, blank).items[-1]["content"].startswith(f" \n{WORDS}")
    else:
        assert answered(shape, blank).items[-1] == answered(shape, value).items[-1]


@every_shape
def test_a_text_of_mcp_is_a_text(shape: str) -> None:
    """Not a list of one block; what is structured is not said twice, and never lost."""
    wanted = answered(shape, "72 °F").items[-1]
    text = [{"type": "text", "text": "72 °F"}]
    assert answered(shape, {"content": text, "isError": False}).items[-1] == wanted
    structured = {"content": text, "isError": False, "structuredContent": {"result": "72 °F"}}
    assert answered(shape, structured).items[-1] == wanted
    more = {**structured, "structuredContent": {"wind": [3, 4]}}
    assert result(answered(shape, more)).text == '72 °F\n{"wind": [3, 4]}'
    alone = {"content": [], "isError": False, "structuredContent": {"wind": [3, 4]}}
    assert result(answered(shape, alone)).text == '{"wind": [3, 4]}'
    listed = [{"type": "text", "text": "3"}, {"type": "text", "text": "4"}]
    parts = {"content": listed, "isError": False, "structuredContent": {"result": [3, 4]}}
    assert result(answered(shape, parts)).text == "3\n4"


@every_shape
@pytest.mark.parametrize("key", ["isError", "is_error"])
def test_an_error_of_mcp_is_a_failure_in_words(shape: str, key: str) -> None:
    """As an exception would be; Anthropic takes no picture in an error."""
    value = {**mcp_json(), key: True}
    ctx = context(shape)
    run = ctx.run_tool_calls({"shot": lambda: value})
    assert [a.failed for a in run.answers] == [True]
    assert result(ctx).text.startswith(f"The tool failed: {WORDS}\n{NOT_SHOWN}")
    assert result(ctx).media == ()
    assert problems(ctx, shape) == []
    if shape in ("anthropic", "bedrock", "gemini"):
        assert ctx.tool_calls()[0].status == "failed"


@every_shape
def test_files_and_links_of_mcp(shape: str) -> None:
    """A PDF goes out where results hold one; texts of files and links are words everywhere."""
    uri = "file:///docs/terms of use.pdf"
    pdf = {"type": "resource", "resource": {"uri": uri, "blob": PDF, "mimeType": "application/pdf"}}
    page = {"type": "resource", "resource": {"uri": "file:///a.md", "text": "# Terms"}}
    link = {"type": "resource_link", "uri": "https://example.com/b", "name": "b", "size": 3}
    sound = {"type": "audio", "data": PNG, "mimeType": "audio/wav", "_meta": {"x": 1}}
    ctx = answered(shape, [pdf, page, link, sound])
    part = result(ctx)
    assert problems(ctx, shape) == []
    assert "file:///a.md\n# Terms" in part.text
    assert '"uri": "https://example.com/b"' in part.text
    assert "[audio, audio/wav, " in part.text
    assert PNG[:50] not in part.text
    takes = shape in ("openai_responses", "anthropic", "gemini", "bedrock")
    assert (f"[file, application/pdf, {uri}, " in part.text) is not takes
    assert len(part.media) == takes
    assert received(shape, ctx.items)


def test_a_new_kind_of_content_does_not_bring_back_base64() -> None:
    """In a result of the SDK's class it is told as JSON, without encoded data."""

    class CallToolResult:
        def __init__(self) -> None:
            new = {"type": "hologram", "data": PNG, "depth": 3}
            self.content = [new, *mcp_json()["content"]]

    part = result(answered("anthropic", CallToolResult()))
    assert '"depth": 3' in part.text
    assert PNG[:50] not in part.text
    assert len(part.media) == 1


def test_gemini_models_before_the_third_take_no_media_in_results() -> None:
    """Where the agent's model is known to be one, the picture is told in words."""
    for model, shown in (("gemini-2.5-flash", 0), ("gemini-3-pro-preview", 1), (None, 1)):
        part = result(answered("gemini", mcp_json(isError=False), model=model))
        assert len(part.media) == shown
        assert (NOT_SHOWN in part.text) is not shown


def test_a_picture_that_is_not_shown_is_logged_without_content(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One warning, with its kind alone."""
    with caplog.at_level(logging.WARNING, "chatfold"):
        answered("openai_chat", mcp_json(isError=False))
    (record,) = caplog.records
    assert "media (image)" in record.getMessage()
    assert PNG[:20] not in record.getMessage()


def test_the_words_for_a_medium_are_a_template() -> None:
    """A broken one costs the call nothing."""
    words = {"tool_medium.jinja": "({{ kind }} of {{ bytes }})"}
    ctx = answered("openai_chat", mcp_json(isError=False), templates=words)
    assert ctx.items[-1]["content"] == f"{WORDS}\n(image of {len(PICTURE)})"

    class Own:
        def render(self, name: str, /, **values: object) -> str:
            if name == "tool_medium.jinja":
                raise KeyError(name)
            return "The tool failed."

    ctx = answered("openai_chat", mcp_json(isError=False), templates=Own())
    assert ctx.items[-1]["content"] == f"{WORDS}\n[image]"


# What no result holds, and the rule by which the second validator knows that.
REFUSED: list[tuple[str, Any, str]] = [
    ("openai_chat", {"type": "image_url", "image_url": {"url": "https://a.b"}}, "result_block"),
    ("openai_responses", {"type": "text", "text": "a"}, "result_block"),
    ("anthropic", {"type": "image", "data": PNG, "mimeType": "image/png"}, "result_block"),
    ("anthropic", {"type": "text", "text": " "}, "blank_text"),
    ("gemini", {"inlineText": {}}, "result_block"),
    ("bedrock", {"type": "text", "text": "a"}, "result_block"),
    (
        "bedrock",
        {"document": {"name": "a.pdf", "format": "pdf", "source": {"bytes": b"a"}}},
        "document_name",
    ),
    ("mistral", {"type": "image", "source": {}}, "result_block"),
]


@pytest.mark.parametrize(("shape", "block", "rule"), REFUSED)
def test_the_second_validator_knows_what_no_result_holds(shape: str, block: Any, rule: str) -> None:
    """So that it may be trusted where it finds nothing."""
    provider = PROVIDERS[shape]
    items = [*provider.history, provider.written([block])]
    assert [v.rule for v in validate(items, shape, blocks=True)] == [rule]


# --- what only looks alike ------------------------------------------------------------------------

ROWS: dict[str, Any] = {
    "a further column": [{"type": "text", "text": "a", "id": 3}],
    "one row that is no block": [{"type": "text", "text": "a"}, {"type": "note", "text": "b"}],
    "a number": [{"type": "text", "text": 3}],
    "a text alone": {"type": "text", "text": "a"},
    "a column named text": [{"text": "a", "id": 1}],
    "pictures by name": [{"type": "image", "data": "a.png", "mimeType": "image/png"}],
    "a picture without a type": [{"type": "image", "data": PNG}],
    "a path": [{"type": "image", "source": "a.png"}],
    "another source": [{"type": "image", "source": {"type": "ftp", "url": "a"}}],
    "a file of nothing": [{"type": "input_file", "filename": "a.pdf"}],
    "no picture": [{"type": "input_image", "detail": "auto"}],
    "a text without words": [{"type": "text"}],
    "an input without words": [{"type": "input_text"}],
    "a picture beside a row": [*mcp_json()["content"], {"id": 3}],
    "nothing": [],
    "texts": ["a", "b"],
    "an answer": {"content": [{"type": "text", "text": "a"}]},
    "keys that are no texts": [{1: "a"}],
}


@every_shape
@pytest.mark.parametrize("value", ROWS.values(), ids=ROWS)
def test_data_that_only_looks_like_blocks_goes_out_as_json(shape: str, value: Any) -> None:
    """Every element has to be a block, with all its fields and no other; else nothing is lost."""
    ctx = answered(shape, copy.deepcopy(value))
    assert json.loads(result(ctx).text) == json.loads(json.dumps(value))
    assert result(ctx).media == ()


@pytest.mark.parametrize(
    ("shape", "other"),
    [
        (shape, other)
        for shape in SHAPES
        for other in ("openai_responses", "anthropic", "gemini", "mistral")
        if shape != other
    ],
)
def test_blocks_of_another_provider_go_out_as_json(shape: str, other: str) -> None:
    """What they are there is not known here."""
    blocks = [*PROVIDERS[other].blocks]
    assert json.loads(result(answered(shape, blocks)).text) == blocks


def test_rows_with_one_column_of_texts_are_no_parts_of_gemini() -> None:
    """There has to be a medium among parts, since a text alone has no type that tells."""
    assert result(answered("gemini", [{"text": "a"}, {"text": "b"}])).text == (
        '[{"text": "a"}, {"text": "b"}]'
    )


# --- where results go -----------------------------------------------------------------------------


@every_provider
def test_the_async_run_does_the_same(provider: Provider) -> None:
    """A coroutine and a function in a thread, with blocks of their own each."""

    async def shot() -> Any:
        await asyncio.sleep(0)
        return [*provider.blocks]

    for tool in (shot, lambda: [*provider.blocks]):
        ctx = context(provider.shape)
        asyncio.run(ctx.arun_tool_calls({"shot": tool}))
        assert ctx.items[-1] == provider.written([*provider.blocks])


@every_provider
def test_an_answer_tells_the_words_and_the_blocks(provider: Provider) -> None:
    """Whoever runs the tools sees both."""
    ctx = context(provider.shape)
    (answer,) = ctx.run_tool_calls({"shot": lambda: [*provider.blocks]}).answers
    assert answer.blocks == provider.blocks
    assert WORDS in answer.text
    assert PNG[:50] not in answer.text
    assert not answer.failed


@every_shape
def test_a_late_result_with_a_picture_is_a_note_that_says_so(shape: str) -> None:
    """Where the call is folded away while its tool runs, the picture is counted in the note."""
    ctx = context(shape)

    def shot() -> Any:
        ctx.summarize(
            lambda prompt: "A page was asked for.", keep_last_turns=0, abandon=lambda c: True
        )
        return mcp_json(isError=False)

    ctx.items[1:1] = [said(shape, "assistant", "Yes. " * 400), said(shape, "user", "Now?")]
    added = ctx.run_tool_calls({"shot": shot})
    assert len(added) == 1
    words = json_text(ctx.items)
    assert WORDS in words
    assert PNG[:50] not in words
    if shape != "openai_chat":
        assert "1 images or files" in words
