"""Law 9 again: what only machines read stays out of prompts, and a summary says what it is."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest
from conversation import HEAD, LAST_TURN, elements, prompt_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import SHAPES, History, histories

from chatfold import ChatContext, ChatfoldError

Item = dict[str, Any]


# --- what only machines read --------------------------------------------------------------------

PDF = "application/pdf"


def encoded_chat(blob: str) -> list[Any]:
    url = f"data:image/png;base64,{blob}"
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    hidden = {"type": "reasoning.encrypted", "data": blob}
    signed = {"type": "reasoning.text", "text": "hm", "signature": blob}
    return [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]},
        {
            "role": "user",
            "content": [
                {"type": "input_audio", "input_audio": {"data": blob, "format": "wav"}},
                {"type": "file", "file": {"file_data": blob, "filename": "a.pdf"}},
                {"type": "file", "file": {"file_data": f"data:{PDF};base64,{blob}"}},
                {"type": "video_url", "video_url": {"url": url}},
            ],
        },
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "image_url", "image_url": url}]},
        {"role": "assistant", "content": "x", "reasoning_details": [hidden, signed]},
        {"role": "assistant", "audio": {"id": "a", "data": blob, "transcript": "yes"}},
    ]


def encoded_responses(blob: str) -> list[Any]:
    url = f"data:image/png;base64,{blob}"
    image = {"type": "input_image", "image_url": url}
    shot = {"type": "computer_screenshot", "image_url": url}
    plot = {"type": "image", "url": url}
    return [
        {
            "role": "user",
            "content": [
                {**image, "detail": "low"},
                {"type": "input_file", "file_data": f"data:{PDF};base64,{blob}"},
                {"type": "input_file", "file_data": blob, "filename": "a.pdf"},
                {"type": "input_file", "file_url": f"data:{PDF};base64,{blob}"},
                {"type": "input_audio", "input_audio": {"data": blob, "format": "wav"}},
            ],
        },
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": blob},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": [image]},
        {"type": "computer_call", "call_id": "d", "action": {"type": "screenshot"}},
        {"type": "computer_call_output", "call_id": "d", "output": shot},
        {"type": "image_generation_call", "id": "ig", "status": "completed", "result": blob},
        {
            "type": "code_interpreter_call",
            "id": "ci",
            "status": "completed",
            "code": "plot()",
            "outputs": [{"type": "logs", "logs": "ok"}, plot],
        },
        {"type": "program", "id": "p", "call_id": "e", "code": "x", "fingerprint": blob},
        {"type": "program_output", "id": "po", "call_id": "e", "result": "r"},
        {"type": "from_the_future", "encrypted_content": blob},
    ]


def encoded_anthropic(blob: str) -> list[Any]:
    source = {"type": "base64", "media_type": "image/png", "data": blob}
    image = {"type": "image", "source": source}
    pdf = {"type": "document", "source": {**source, "media_type": PDF}}
    nested = {"type": "document", "source": {"type": "content", "content": [image]}}
    linked = {"type": "image", "source": {"type": "url", "url": f"data:image/png;base64,{blob}"}}
    cited = {"type": "web_search_result_location", "encrypted_index": blob, "cited_text": "c"}
    found = {"type": "web_search_result", "encrypted_content": blob, "url": "u", "title": "t"}
    page = {"type": "web_fetch_result", "url": "u", "content": pdf}
    redacted = {"type": "advisor_redacted_result", "encrypted_content": blob}
    use = {"type": "server_tool_use", "input": {}}
    return [
        {"role": "user", "content": [image, pdf, nested, linked]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": blob},
                {"type": "redacted_thinking", "data": blob},
                {"type": "text", "text": "yes", "citations": [cited]},
                {**use, "id": "s1", "name": "web_search"},
                {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [found]},
                {**use, "id": "s2", "name": "web_fetch"},
                {"type": "web_fetch_tool_result", "tool_use_id": "s2", "content": page},
                {**use, "id": "s3", "name": "advisor"},
                {"type": "advisor_tool_result", "tool_use_id": "s3", "content": redacted},
                {"type": "mcp_tool_use", "id": "s4", "name": "x", "input": {}, "server_name": "s"},
                {
                    "type": "mcp_tool_result",
                    "tool_use_id": "s4",
                    "content": [{"type": "text", "text": "ok"}, image],
                },
                {"type": "tool_use", "id": "t", "name": "f", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": [image, pdf]}],
        },
        {"role": "assistant", "content": "fine"},
        {"role": "user", "content": [{"type": "from_the_future", "source": source}]},
    ]


def encoded_ollama(blob: str) -> list[Any]:
    called = {"function": {"name": "f", "arguments": {}}}
    return [
        {"role": "user", "content": "look", "images": [blob, blob]},
        {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": [called]},
        {"role": "tool", "tool_name": "f", "content": "ok", "images": [blob]},
        {"role": "assistant", "content": "fine"},
    ]


def encoded_mistral(blob: str) -> list[Any]:
    picture = f"data:image/png;base64,{blob}"
    thinking = [{"type": "text", "text": "hm"}]
    thought = {"type": "thinking", "thinking": thinking, "signature": blob}
    function = {"name": "f", "arguments": "{}"}
    return [
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": picture},
                {"type": "image_url", "image_url": {"url": picture}},
                {"type": "input_audio", "input_audio": blob},
                {"type": "document_url", "document_url": f"data:application/pdf;base64,{blob}"},
            ],
        },
        {
            "role": "assistant",
            "content": [thought, {"type": "text", "text": "see"}],
            "tool_calls": [{"id": "callAAAA1", "function": function}],
        },
        {
            "role": "tool",
            "tool_call_id": "callAAAA1",
            "content": [{"type": "image_url", "image_url": picture}],
        },
        {"role": "assistant", "content": "fine"},
        {"role": "user", "content": [{"type": "from_the_future", "signature": blob}]},
    ]


def encoded_gemini(blob: str) -> list[Any]:
    image = {"mime_type": "image/png", "data": blob}
    wire = {"inlineData": {"mimeType": "image/png", "data": blob}}
    call = {"function_call": {"name": "f", "args": {}}, "thought_signature": blob}
    found = {"name": "f", "response": {"result": "ok"}, "parts": [{"inline_data": image}]}
    return [
        {"role": "user", "parts": [{"inline_data": image}, wire, {"text": "look"}]},
        {"role": "model", "parts": [{"text": "hm", "thought": True}, call]},
        {"role": "user", "parts": [{"function_response": found}]},
        {"role": "model", "parts": [{"text": "yes", "thoughtSignature": blob}]},
        {"role": "model", "parts": [{"from_the_future": {"thoughtSignature": blob}}]},
    ]


def encoded_bedrock(blob: str) -> list[Any]:
    source = {"bytes": blob}
    image = {"image": {"format": "png", "source": source}}
    pdf = {"document": {"format": "pdf", "name": "a", "source": source}}
    signed = {"reasoningText": {"text": "hm", "signature": blob}}
    return [
        {"role": "user", "content": [image, pdf, {"text": "look"}]},
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": signed},
                {"reasoningContent": {"redactedContent": blob}},
                {"toolUse": {"toolUseId": "t", "name": "f", "input": {}}},
            ],
        },
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [image, pdf]}}]},
        {"role": "assistant", "content": [{"from_the_future": {"redactedContent": blob}}]},
    ]


ENCODED = {
    "openai_chat": encoded_chat,
    "openai_responses": encoded_responses,
    "anthropic": encoded_anthropic,
    "gemini": encoded_gemini,
    "bedrock": encoded_bedrock,
    "ollama": encoded_ollama,
    "mistral": encoded_mistral,
}
OPEN_THOUGHTS = ("ollama", "mistral")  # these never encrypt reasoning


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [60, 400])
def test_law_9_encoded_content_never_enters_a_prompt(shape: str, size: int) -> None:
    """Image and file data, encrypted reasoning and signatures stay out, and media are counted."""
    blob = ("QmFzZTY0/c2VjcmV0+" * 40)[:size]
    items = [*ENCODED[shape](blob), HEAD[1], *LAST_TURN]
    plan = ChatContext(items, shape=shape).plan(keep_last_turns=1)
    assert plan.prompt is not None
    leaks = [e for e in elements(plan.prompt.user) if blob[:40] in repr(e)]
    assert leaks == []
    assert blob[:40] not in plan.prompt.user + plan.prompt.system
    assert plan.omitted["media"] >= 3
    assert shape in OPEN_THOUGHTS or plan.omitted["encrypted_reasoning"] >= 1


BLOB = base64.b64encode(random.Random(1).randbytes(3000)).decode()
ASKED = {"role": "user", "content": "q " * 200}
FOUND = {"type": "web_search_result", "url": "https://a.b", "title": "t", "encrypted_content": BLOB}
SEARCH: list[Item] = [
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
    {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [FOUND, FOUND]},
    {"type": "text", "text": "found"},
]
NEW: list[Item] = [{"type": "hologram", "data": BLOB}, {"type": "text", "text": "x"}]


@pytest.mark.parametrize(
    ("shape", "item", "count"),
    [
        ("anthropic", {"role": "assistant", "content": SEARCH}, 2),
        ("anthropic", {"role": "assistant", "content": NEW}, 1),
        ("openai_responses", {"type": "film_call", "id": "f_1", "result": BLOB}, 1),
        ("openai_responses", {"type": "film_call", "call_id": "c", "result": BLOB}, 1),
        ("openai_chat", {"role": "assistant", "content": 'it says "[9 characters]"'}, 0),
    ],
)
def test_law_6_encoded_data_is_counted_where_an_item_is_read_as_json(
    shape: str, item: Item, count: int
) -> None:
    """It is left out there before the prompt is written; words that look alike are words."""
    ctx = ChatContext([ASKED, item, {"role": "user", "content": "z"}], shape=shape)
    outcome = ctx.summarize(lambda prompt: "short", keep_last_turns=1)
    assert outcome.changed
    assert outcome.omitted == ({"encoded": count} if count else {})


@given(history=histories(max_turns=4), keep=st.integers(0, 1))
def test_law_9_no_generated_history_leaks_what_is_encoded(history: History, keep: int) -> None:
    """The tokens that stand for encoded content in the strategies appear in no prompt."""
    plan = ChatContext(history.items, shape=history.shape).plan(keep_last_turns=keep)
    if plan.prompt is not None:
        for blob in ("iVBORw0KGgo", "UklGRg==", "JVBERi0=", "gAAAA", "EmwKAhgB", '"Eo8"', "sig_"):
            assert blob not in plan.prompt.user


# --- the summary item ---------------------------------------------------------------------------


def item_text(item: Item) -> str:
    content = item["parts"] if "parts" in item else item["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


@pytest.mark.parametrize("shape", [None, *SHAPES])
def test_law_9_the_summary_is_a_users_item_that_calls_itself_an_automatic_record(
    shape: str | None,
) -> None:
    """Unless asked for, no summary speaks as system, developer or assistant."""
    items = [*HEAD, *LAST_TURN]
    outcome = ChatContext(items, shape=shape).summarize(lambda p: "the record", keep_last_turns=1)
    assert outcome.item is items[0]
    assert items[0]["role"] == "user"
    text = item_text(items[0])
    assert text.startswith('<chat_history_summary digest="')
    assert text.endswith("\nthe record\n</chat_history_summary>")
    assert "<note>Automatic record" in text
    assert "the user did not say this" in text


REFUSED_ROLES = {
    "anthropic": ("assistant", "system", "developer"),
    "ollama": ("developer",),
    "mistral": ("developer",),
    "gemini": ("system", "developer"),
    "bedrock": ("assistant", "developer"),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("role", ["user", "assistant", "system", "developer"])
def test_law_9_the_summarys_role_is_honoured_or_refused(shape: str, role: str) -> None:
    """A role that the provider does not take there is refused, and the list is untouched."""
    items: list[Any] = [*HEAD, *LAST_TURN]
    before = list(items)
    ctx = ChatContext(items, shape=shape, summary_role=role)
    if role in REFUSED_ROLES.get(shape, ()):
        with pytest.raises((ChatfoldError, ValueError)):
            ctx.summarize(lambda p: "the record", keep_last_turns=1)
        assert items == before
        return
    outcome = ctx.summarize(lambda p: "the record", keep_last_turns=1)
    assert outcome.item is items[0]
    assert items[0]["role"] == ("model" if (shape, role) == ("gemini", "assistant") else role)
    items += [*HEAD, *LAST_TURN]
    prompt = prompt_of(json.loads(json.dumps(items)), shape)
    assert prompt.previous_summary == "the record"
