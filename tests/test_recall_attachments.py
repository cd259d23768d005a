"""What was attached is found again in the originals, by its name or its URL.

Not here: what is found by words, by ids, and in which store (`test_recall`).
"""

from __future__ import annotations

from typing import Any

import pytest
from laws import Weightless, fold, plainly, step, talk

from chatfold import ChatContext
from chatfold.core.native import plain
from chatfold.stores import MemoryStore

LONG = "The parcel left the warehouse and is on its way to the customer. " * 30

PDF = "JVBERi0xLjcK"
ATTACHED: dict[str, dict[str, Any]] = {
    "openai_chat": {
        "invoice_INV-20931.pdf": {
            "type": "file",
            "file": {"filename": "invoice_INV-20931.pdf", "file_data": PDF},
        },
        "https://example.org/crack-7731.png": {
            "type": "image_url",
            "image_url": {"url": "https://example.org/crack-7731.png"},
        },
    },
    "openai_responses": {
        "invoice_INV-20931.pdf": {
            "type": "input_file",
            "filename": "invoice_INV-20931.pdf",
            "file_data": PDF,
        },
        "https://example.org/crack-7731.png": {
            "type": "input_image",
            "detail": "auto",
            "image_url": "https://example.org/crack-7731.png",
        },
        "file-4GZq7": {"type": "input_file", "file_id": "file-4GZq7"},
    },
    "anthropic": {
        "Invoice INV-20931": {
            "type": "document",
            "title": "Invoice INV-20931",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
        },
        "https://example.org/crack-7731.png": {
            "type": "image",
            "source": {"type": "url", "url": "https://example.org/crack-7731.png"},
        },
    },
    "gemini": {
        "invoice_INV-20931.pdf": {
            "inline_data": {
                "mime_type": "application/pdf",
                "display_name": "invoice_INV-20931.pdf",
                "data": PDF,
            }
        },
        "gs://bucket/crack-7731.png": {
            "file_data": {"mime_type": "image/png", "file_uri": "gs://bucket/crack-7731.png"}
        },
    },
    "bedrock": {
        "invoice INV-20931": {
            "document": {
                "format": "pdf",
                "name": "invoice INV-20931",
                "source": {"bytes": b"%PDF-1.7"},
            }
        },
        "s3://bucket/crack-7731.png": {
            "image": {
                "format": "png",
                "source": {"s3Location": {"uri": "s3://bucket/crack-7731.png"}},
            }
        },
    },
    "mistral": {
        "https://example.org/crack-7731.png": {
            "type": "image_url",
            "image_url": "https://example.org/crack-7731.png",
        },
    },
}
"""What a message may hold besides words in each shape, by what it is called."""


def folded(shape: str, items: list[Any], **options: Any) -> ChatContext[Any]:
    """Return a context that has folded the items away."""
    listed = [*items, *plainly(shape, talk(1))]
    given: dict[str, Any] = {"counter": Weightless(), "grounding": "report", "store": MemoryStore()}
    ctx = ChatContext(listed, shape=shape, **given, **options)
    outcome = fold(ctx, keep_last_turns=1)
    assert [id(item) for item in outcome.removed] == [id(item) for item in items]
    return ctx


def user(shape: str, *blocks: Any) -> dict[str, Any]:
    return {"role": "user", "parts" if shape == "gemini" else "content": list(blocks)}


@pytest.mark.parametrize("shape", ATTACHED)
def test_what_was_attached_is_found_by_its_name(shape: str) -> None:
    """Or by its URL where it has none, as a prompt shows it, and nothing else is."""
    said = [user(shape, block) for block in ATTACHED[shape].values()]
    answers = plainly(shape, ({"role": "assistant", "content": LONG} for _ in said))
    ctx = folded(shape, [each for pair in zip(said, answers, strict=True) for each in pair])
    for item, name in zip(said, ATTACHED[shape], strict=True):
        assert [plain(found) for found in ctx.recall(query=name)] == [plain(item)], name
        assert name in ctx.recall_tool().handler(query=name)
    assert ctx.recall(query="crack-7732") == []


@pytest.mark.parametrize("shape", ["anthropic", "openai_responses"])
def test_what_a_tool_returned_besides_words_is_found_by_its_name(shape: str) -> None:
    """In the result that holds it; by the tool, with the call that it belongs to."""
    blocks = [*ATTACHED[shape].values()]
    call, result = step(shape, "c1", 1, ["see"])
    if shape == "anthropic":
        held = [{"type": "tool_result", "tool_use_id": "c1", "content": blocks}]
        result = {"role": "user", "content": held}
    else:
        result = {"type": "function_call_output", "call_id": "c1", "output": blocks}
    asked, answered = plainly(shape, [talk(1)[0], {"role": "assistant", "content": LONG}])
    ctx = folded(shape, [asked, call, result, answered])
    for name in ATTACHED[shape]:
        assert ctx.recall(query=name) == [result], name
        assert "<function_call " in ctx.recall_tool().handler(query=name)


def test_the_name_of_an_attachment_is_kept_as_redact_returns_it() -> None:
    """It is no way round what may not leave the process."""
    name, block = next(iter(ATTACHED["openai_chat"].items()))
    items = [user("openai_chat", block), {"role": "assistant", "content": LONG}]

    def redact(text: str) -> str:
        return text.replace("20931", "[number]")

    ctx = folded("openai_chat", items, redact=redact)
    assert ctx.recall(query=name) == []
    assert len(ctx.recall(query=redact(name))) == 1
