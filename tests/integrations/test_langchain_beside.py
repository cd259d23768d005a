"""What LangChain's messages hold beside their content is read: no fold loses it unseen."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip(
    "langchain.agents", reason='LangChain is not installed: pip install "chatfold[langchain]"'
)

from langchain_core.messages import AIMessage, HumanMessage

from chatfold import ChatContext
from chatfold.core.views import (
    CallPart,
    MediaPart,
    Part,
    ReasoningPart,
    ServerCallPart,
    TextPart,
)
from chatfold.integrations.langchain import LangChainMessages

SHAPE = LangChainMessages()
SPOKEN = {"id": "audio_1", "data": "AAAA", "expires_at": 1764000000,
          "transcript": "Refund RMA-1001 is booked."}  # fmt: skip
THOUGHT = {"type": "reasoning", "id": "rs_1", "encrypted_content": "abc",
           "summary": [{"type": "summary_text", "text": "Hm."}]}  # fmt: skip
TICKET = {"type": "mcp_call", "id": "mcp_1", "name": "create_ticket", "arguments": "{}",
          "server_label": "jira", "output": "OPS-7781"}  # fmt: skip
BROWSED = {"index": 0, "type": "browser", "arguments": '{"url": "x.org"}', "output": "Found P-1."}


def parts(message: AIMessage) -> tuple[Part, ...]:
    found = SHAPE.read(message)
    assert found is not None
    return found.parts


@pytest.mark.parametrize(
    ("beside", "read"),
    [
        ({"audio": SPOKEN},
         [MediaPart("audio", None, 3, "audio_1", "Refund RMA-1001 is booked.")]),
        ({"audio": b"1234"}, [MediaPart("audio", None, 4)]),
        ({"tool_outputs": [TICKET]},
         [ServerCallPart("mcp_1", "create_ticket", "{}", "OPS-7781", "completed", "mcp",
                        namespace="jira")]),
        ({"executed_tools": [BROWSED]},
         [ServerCallPart(None, "browser", '{"url": "x.org"}', "Found P-1.")]),
        ({"reasoning": THOUGHT}, [ReasoningPart("Hm.", 3)]),
        ({"reasoning": "Hm."}, [ReasoningPart("Hm.")]),
        ({"reasoning_content": "Hm."}, [ReasoningPart("Hm.")]),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
         [ReasoningPart("Hm.")]),
        ({"thinking": {"text": "Hm.", "signature": "s"}}, [ReasoningPart("Hm.")]),
        ({"__gemini_function_call_thought_signatures__": {"c": "abcd"}}, [ReasoningPart("", 4)]),
        ({"refusal": "No."}, [TextPart("No.", "refusal")]),
        ({"function_call": {"name": "pay", "arguments": "{}"}}, [CallPart(None, "pay", "{}")]),
    ],
)  # fmt: skip
def test_what_the_model_said_and_did_is_read(beside: dict[str, Any], read: list[Part]) -> None:
    """As packages of OpenAI, Google, Groq, AWS and others leave it there."""
    assert list(parts(AIMessage("", additional_kwargs=beside))) == read
    assert list(parts(AIMessage([], additional_kwargs=beside))) == read


@pytest.mark.parametrize(
    "beside",
    [
        {"session": {"user": "u-1", "type": "web"}, "tags": ["a"], "sent_at": 1764000000},
        {"parsed": {"a": 1}, "__openai_function_call_ids__": {"c": "fc_1"}},
        {"audio": None, "tool_outputs": [], "executed_tools": ["browse"], "reasoning": "",
         "reasoning_content": "", "refusal": "", "thinking": {}},
    ],
)  # fmt: skip
def test_what_no_model_was_shown_is_not_read(beside: dict[str, Any]) -> None:
    """What a host notes on a message stays its own, and so does how an answer came about."""
    assert parts(AIMessage("hi", additional_kwargs=beside)) == (TextPart("hi"),)


def test_what_stands_in_the_content_too_is_read_once() -> None:
    """Some packages write reasoning and refusals in both places."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    refusal = {"type": "refusal", "refusal": "No."}
    beside = {"reasoning_content": "Hm.", "refusal": "No."}
    assert parts(AIMessage([thought, refusal], additional_kwargs=beside)) == (
        ReasoningPart("Hm."),
        TextPart("No.", "refusal"),
    )


def test_the_words_of_an_audio_block_are_read() -> None:
    """They stand among what LangChain's block has no place for."""
    block = {"type": "audio", "base64": "AAAA", "extras": {"transcript": "Booked."}}
    assert parts(AIMessage([block])) == (MediaPart("audio", None, 3, None, "Booked."),)


@pytest.mark.parametrize(
    ("beside", "word"),
    [({"audio": SPOKEN}, "RMA-1001"), ({"tool_outputs": [TICKET]}, "OPS-7781"),
     ({"executed_tools": [BROWSED]}, "P-1")],
)  # fmt: skip
def test_a_fold_shows_it_to_the_summarizer(beside: dict[str, Any], word: str) -> None:
    """Nothing that is removed goes unseen."""
    long = "Please, and soon. " * 40
    items: list[Any] = [
        HumanMessage(f"Book it. {long}"), AIMessage("", additional_kwargs=beside),
        HumanMessage("Thanks."), AIMessage("Bye."),
    ]  # fmt: skip
    prompts: list[str] = []

    def short(prompt: Any) -> str:
        prompts.append(prompt.user)
        return "It was done."

    assert ChatContext(items, shape=SHAPE).summarize(short, keep_last_turns=1).changed
    assert word in prompts[0]
