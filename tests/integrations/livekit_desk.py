"""What LiveKit's tests share: a model of its own base class, and items of the support call."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from integrations.host import Step
from livekit.agents import APIConnectionError, llm
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS, APIConnectOptions
from pydantic import TypeAdapter
from strategies import _SCRIPT
from validator import validate

__all__ = ["UNION", "Model", "RealtimeVoice", "objects", "payload_errors", "support_call"]

Answer = Callable[[list[dict[str, Any]]], "Step | str | Awaitable[Step | str]"]

UNION: TypeAdapter[Any] = TypeAdapter(llm.ChatItem)

_START = 1_790_000_000.0


class Model(llm.LLM[Any]):
    """A LiveKit model that answers by what it is sent, as LiveKit's own OpenAI model sends it.

    Args:
        answer: Is given Chat Completions messages, and returns what the model says, or raises.
        tokens: What it says that one answer took: input and output.

    Attributes:
        asked: The messages of each request.
        breaks: How many of the next answers break off in the middle.
    """

    def __init__(self, answer: Answer, tokens: tuple[int, int] = (100, 10)) -> None:
        super().__init__()
        self.answer = answer
        self.tokens = tokens
        self.asked: list[list[dict[str, Any]]] = []
        self.breaks = 0

    @property
    def model(self) -> str:
        return "gpt-5"

    def chat(
        self,
        *,
        chat_ctx: llm.ChatContext,
        tools: list[llm.Tool] | None = None,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
        **_: Any,
    ) -> llm.LLMStream:
        return _Stream(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options)


class _Stream(llm.LLMStream):
    async def _run(self) -> None:
        model: Any = self._llm
        messages, _ = self._chat_ctx.to_provider_format("openai")
        model.asked.append(messages)
        answer = model.answer(messages)
        if isinstance(answer, Awaitable):
            answer = await answer
        step = Step(answer) if isinstance(answer, str) else answer
        id_ = f"chatcmpl_{id(model)}_{len(model.asked)}"
        half = len(step.text) // 2
        for text in filter(None, (step.text[:half], step.text[half:])):
            delta = llm.ChoiceDelta(role="assistant", content=text)
            self._event_ch.send_nowait(llm.ChatChunk(id=id_, delta=delta))
            if model.breaks:
                model.breaks -= 1
                raise APIConnectionError("the line broke")
        if step.calls:
            calls = [
                llm.FunctionToolCall(name=c.name, arguments=c.arguments, call_id=c.id)
                for c in step.calls
            ]
            delta = llm.ChoiceDelta(role="assistant", tool_calls=calls)
            self._event_ch.send_nowait(llm.ChatChunk(id=id_, delta=delta))
        read, written = model.tokens
        usage = llm.CompletionUsage(
            prompt_tokens=read, completion_tokens=written, total_tokens=read + written
        )
        self._event_ch.send_nowait(llm.ChatChunk(id=id_, usage=usage))


def support_call() -> list[llm.ChatItem]:
    """Return the support call: 24 items, of which one is the handoff."""
    items: list[llm.ChatItem] = []
    for number, (kind, *rest) in enumerate(_SCRIPT):
        at = _START + 10 * number
        if kind.startswith("transfer_to_"):
            items.append(
                llm.AgentHandoff(
                    old_agent_id="support_agent", new_agent_id="returns_agent", created_at=at
                )
            )
        elif len(rest) == 2:
            items += _round(number, kind, *rest, at=at)
        else:
            items.append(llm.ChatMessage(role=kind, content=[rest[0]], created_at=at))
    return items


def _round(number: int, name: str, arguments: Any, result: Any, *, at: float) -> Sequence[Any]:
    call = llm.FunctionCall(
        call_id=f"call_{number}", name=name, arguments=json.dumps(arguments), created_at=at
    )
    output = llm.FunctionCallOutput(
        call_id=call.call_id,
        name=name,
        output=json.dumps(result),
        is_error=False,
        created_at=at + 1,
    )
    return call, output


class RealtimeVoice(llm.RealtimeModel):
    """A speech-to-speech model that never says anything."""

    def __init__(self) -> None:
        super().__init__(
            capabilities=llm.RealtimeCapabilities(
                message_truncation=False,
                turn_detection=False,
                user_transcription=False,
                auto_tool_reply_generation=False,
                audio_output=False,
                manual_function_calls=False,
            )
        )

    def session(self, *, turn_detection_disabled: bool = False) -> llm.RealtimeSession:
        return _VoiceSession(self)

    async def aclose(self) -> None: ...


class _VoiceSession(llm.RealtimeSession):
    """Keeps what it is given."""

    def __init__(self, model: llm.RealtimeModel) -> None:
        super().__init__(model)
        self._held = llm.ChatContext.empty()

    @property
    def chat_ctx(self) -> llm.ChatContext:
        return self._held

    @property
    def tools(self) -> llm.ToolContext:
        return llm.ToolContext.empty()

    async def update_instructions(self, instructions: str) -> None: ...

    async def update_chat_ctx(self, chat_ctx: llm.ChatContext, **_: Any) -> None:
        self._held = chat_ctx

    async def update_tools(self, tools: list[llm.Tool]) -> None: ...

    def update_options(self, **_: Any) -> None: ...

    def push_audio(self, frame: Any) -> None: ...

    def push_video(self, frame: Any) -> None: ...

    def generate_reply(self, **_: Any) -> Any:
        raise llm.RealtimeError("it never says anything")

    def commit_audio(self) -> None: ...

    def clear_audio(self) -> None: ...

    def interrupt(self) -> None: ...

    def truncate(self, **_: Any) -> None: ...

    async def aclose(self) -> None: ...


def payload_errors(items: list[Any]) -> list[Any]:
    """Return what the providers would refuse of the requests that LiveKit makes of the items."""
    context = llm.ChatContext(objects(items))
    formats = {
        "openai": "openai_chat",
        "openai.responses": "openai_responses",
        "anthropic": "anthropic",
        "google": "gemini",
        "aws": "bedrock",
    }
    return [
        error
        for format_, shape in formats.items()
        for error in validate(context.to_provider_format(format_)[0], shape)
    ]


def objects(items: list[Any]) -> list[Any]:
    """Return items as LiveKit's objects, those that are dicts too."""
    return [UNION.validate_python(i) if isinstance(i, dict) else i for i in items]
