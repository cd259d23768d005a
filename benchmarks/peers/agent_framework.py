"""agent-framework's `SummarizationStrategy`.

It is called when the trigger is reached, and its own trigger (6 messages) then is, too. Its limit
on what the summarizer is shown (8,000 tokens) stands in one variant and not in the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_framework import (
    CharacterEstimatorTokenizer,
    Content,
    Message,
    SummarizationStrategy,
    TokenBudgetComposedStrategy,
    apply_compaction,
)

from .peer import FAR, Entry, Item, Peer, awaited, calls, words


class AgentFramework(Peer):
    """The list keeps what was folded, marked as excluded."""

    package = "agent-framework-core"
    variants = ("as it comes", "untrimmed")
    timed = ("untrimmed",)
    checked = ("as it comes",)

    def __init__(self, *options: Any, **named: Any) -> None:
        super().__init__(*options, **named)
        options: dict[str, Any] = {}
        if self.variant != "as it comes":
            options["max_summary_input_tokens"] = None
        if self.keep_messages is not None:
            options |= {"target_count": self.keep_messages, "threshold": 0}
        client: Any = _Client(self)
        self._strategy = SummarizationStrategy(client=client, **options)
        self._budget = TokenBudgetComposedStrategy(
            token_budget=FAR, tokenizer=CharacterEstimatorTokenizer(), strategies=[self._strategy]
        )
        self._messages: list[Any] = []
        self._sent: list[Any] = []

    def add(self, index: int, item: Item) -> None:
        contents: list[Any]
        if item["role"] == "tool":
            contents = [Content.from_function_result(item["tool_call_id"], result=words(item))]
        else:
            contents = [Content.from_text(words(item))] if words(item) else []
            contents += [
                Content.from_function_call(call, name, arguments=arguments)
                for call, name, arguments in calls(item)
            ]
        made = Message(item["role"], contents, message_id=str(index))
        self._messages.append(made)
        self._sent.append(made)

    def fold(self) -> None:
        fold = apply_compaction(self._messages, strategy=self._strategy)
        self._sent = awaited(fold)

    def check(self) -> None:
        asked = apply_compaction(self._messages, strategy=self._budget)
        assert len(awaited(asked)) == len(self._messages)

    def entries(self) -> list[Entry]:
        return [
            int(message.message_id)
            if str(message.message_id).isdigit()
            else {"role": str(message.role), "content": message.text}
            for message in self._sent
        ]


class _Answer:
    def __init__(self, text: str) -> None:
        self.text = text


class _Client:
    """Stands where agent-framework's chat client stands."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def get_response(self, messages: Sequence[Any], **_: object) -> _Answer:
        return _Answer(self._peer.answer(*(message.text for message in messages)))


PEER = AgentFramework
