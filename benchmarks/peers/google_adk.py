"""google-adk's compaction of a session's events by a token threshold.

Its `event_retention_size` has no default: 20 events are kept, as many as LangChain keeps messages.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.compaction import _run_compaction_for_token_threshold_config
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.events.event import Event
from google.adk.flows.llm_flows.context._contents import _process_compaction_events
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai.types import Content, FunctionCall, FunctionResponse, Part

from .peer import FAR, Entry, Item, Peer, awaited, calls, words

_RETAINED = 20
_AGENT = "agent"


class GoogleADK(Peer):
    """The log of events stays whole; a request is made of what no summary covers."""

    package = "google-adk"
    variants = ("20 events kept",)
    timed = variants
    checked = variants

    def __init__(self, *options: Any, **named: Any) -> None:
        super().__init__(*options, **named)
        kept = _RETAINED if self.keep_messages is None else self.keep_messages
        self._config = EventsCompactionConfig(
            token_threshold=1,  # whether to fold is decided outside, alike for all
            event_retention_size=kept,
            summarizer=LlmEventSummarizer(_Model(model="stand-in", peer=self)),
        )
        self._session: Any = SimpleNamespace(id="1", events=[])
        self._system: list[int] = []
        self._names: dict[str, str] = {}

    def add(self, index: int, item: Item) -> None:
        role = item["role"]
        if role in ("system", "developer") and not self._session.events:
            self._system.append(index)  # an agent's own instructions are not among its events
            return
        if role == "tool":
            call = item["tool_call_id"]
            name = item.get("name") or self._names.get(call, "")
            answered = FunctionResponse(id=call, name=name, response={"result": words(item)})
            parts = [Part(function_response=answered)]
        else:
            parts = [Part(text=words(item))] if words(item) else []
        for call, name, arguments in calls(item):
            self._names[call] = name
            made = FunctionCall(id=call, name=name, args=json.loads(arguments))
            parts.append(Part(function_call=made))
        content = Content(role="model" if role == "assistant" else "user", parts=parts)
        author = "user" if role == "user" else _AGENT
        time = float(index + 1)  # its ranges are ranges of time
        invocation = {"invocation_id": "all", "timestamp": time, "id": str(index)}
        self._session.events.append(Event(author=author, content=content, **invocation))

    def fold(self) -> None:
        agent: Any = None  # asked for a model only where the configuration has no summarizer
        service: Any = _Service()
        awaited(
            _run_compaction_for_token_threshold_config(
                config=self._config, session=self._session, session_service=service, agent=agent
            )
        )

    def before_check(self) -> None:
        self._config.token_threshold = FAR

    def check(self) -> None:
        before = len(self._session.events)
        self.fold()
        assert len(self._session.events) == before

    def entries(self) -> list[Entry]:
        found: list[Entry] = list(self._system)
        for event in _process_compaction_events(self._session.events, _AGENT):
            if event.id.isdigit():
                found.append(int(event.id))
            else:
                text = "\n".join(part.text or "" for part in event.content.parts or ())
                found.append({"role": "assistant", "content": text})
        return found


class _Service:
    async def append_event(self, session: Any, event: Any) -> None:
        session.events.append(event)


class _Model(BaseLlm):
    """Stands where ADK's model stands."""

    peer: Any

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        text = self.peer.answer(llm_request.contents[0].parts[0].text)
        yield LlmResponse(content=Content(role="model", parts=[Part(text=text)]))


PEER = GoogleADK
