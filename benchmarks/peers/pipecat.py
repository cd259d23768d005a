"""pipecat's `LLMContextSummarizer`, with the text that its LLM services make of the messages."""

from __future__ import annotations

from typing import Any

from loguru import logger
from pipecat.frames.frames import LLMContextSummaryRequestFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_context_summarizer import LLMContextSummarizer
from pipecat.services.llm_service import LLMService
from pipecat.utils.context.llm_context_summarization import (
    LLMAutoContextSummarizationConfig,
    LLMContextSummaryConfig,
)

from .peer import FAR, Entry, Item, Peer, awaited

logger.remove()


class Pipecat(Peer):
    """Messages stay Chat Completions dicts, so that a list of them is told by identity."""

    package = "pipecat-ai"
    variants = ("as it comes",)
    timed = ("as it comes",)
    checked = timed

    def __init__(self, *options: Any, **named: Any) -> None:
        super().__init__(*options, **named)
        self._context = LLMContext()
        self._places: dict[int, int] = {}
        self._config = LLMContextSummaryConfig()
        if self.keep_messages is not None:
            self._config.min_messages_after_summary = self.keep_messages
        self._summarizer: Any = None
        self._messages: list[Any] = []  # so that no identity is used twice

    def add(self, index: int, item: Item) -> None:
        self._messages.append(item)
        self._places[id(item)] = index
        self._context.add_message(item)

    def fold(self) -> None:
        awaited(self._fold())

    async def _fold(self) -> None:
        config = LLMAutoContextSummarizationConfig(
            max_context_tokens=self.trigger, summary_config=self._config
        )
        summarizer: Any = LLMContextSummarizer(context=self._context, config=config)
        frame = LLMContextSummaryRequestFrame(
            request_id="1",
            context=self._context,
            min_messages_to_keep=self._config.min_messages_after_summary,
            target_context_tokens=self._config.target_context_tokens,
            summarization_prompt=self._config.summary_prompt,
        )
        generate: Any = LLMService._generate_summary
        try:
            summary, last = await generate(_Service(self), frame)
        except RuntimeError:  # there is nothing to summarize
            return
        await summarizer._apply_summary(summary, last)

    def before_check(self) -> None:
        if self._summarizer is None:
            config = LLMAutoContextSummarizationConfig(
                max_context_tokens=FAR, max_unsummarized_messages=None
            )
            self._summarizer = LLMContextSummarizer(context=self._context, config=config)

    def check(self) -> None:
        assert not self._summarizer._should_summarize()

    def entries(self) -> list[Entry]:
        return [
            self._places[id(message)]
            if id(message) in self._places
            else {"role": message["role"], "content": message["content"]}
            for message in self._context.messages
        ]


class _Service:
    """Stands where pipecat's LLM service stands."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def run_inference(self, context: Any, system_instruction: str, **_: object) -> str:
        return self._peer.answer(system_instruction, context.messages[0]["content"])


PEER = Pipecat
