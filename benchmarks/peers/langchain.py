"""LangChain's `SummarizationMiddleware`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import SimpleChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import convert_to_messages, convert_to_openai_messages

from .peer import FAR, Entry, Item, Peer, size_of

_FUNCTION = "untrimmed, a function for the model"


class _Model(SimpleChatModel):
    """A chat model that answers with a mark."""

    answer: Callable[[str], str]

    @property
    def _llm_type(self) -> str:
        return "stub"

    def _call(self, messages: list[Any], *_: Any, **__: Any) -> str:
        return self.answer(messages[-1].content)


class LangChain(Peer):
    """Three ways: as it comes, showing all to its model, and that with a tail in tokens.

    Its model is a chat model, as an agent's is. Timed besides is a function in its place
    (`summarizer=`, since 1.5): then none of what LangChain does for a model's call is done.
    """

    package = "langchain"
    variants = ("as it comes", "untrimmed", "untrimmed, same tail")
    timed = ("as it comes", "untrimmed", _FUNCTION)
    checked = ("as it comes",)

    def __init__(self, *options: Any, **named: Any) -> None:
        super().__init__(*options, **named)
        options: dict[str, Any] = {}
        if self.variant != "as it comes":
            options["trim_tokens_to_summarize"] = None
        if self.variant.endswith("same tail"):
            options |= {"keep": ("tokens", self.keep), "token_counter": self._count}
        if self.variant == _FUNCTION:
            options["summarizer"] = self._write
        if self.keep_messages is not None:
            options["keep"] = ("messages", self.keep_messages)
        self._sizes: dict[str, int] = {}
        self._middleware: Any = SummarizationMiddleware(
            model=_Model(answer=self.answer),
            trigger=("messages", 1),  # whether to fold is decided outside, alike for all
            **options,
        )
        self._checking: Any = None
        self._system: list[int] = []
        self._messages: list[Any] = []

    def _write(self, messages: list[Any]) -> str:
        return self.answer(self._middleware._format_summary_prompt(messages))

    def _count(self, messages: Iterable[Any]) -> int:
        """Count as everything here is counted, every message once."""
        return sum(
            self._sizes[m.id]
            if m.id in self._sizes
            else size_of({"role": "user", "content": str(m.content)})
            for m in messages
        )

    def add(self, index: int, item: Item) -> None:
        if item["role"] in ("system", "developer") and not self._messages:
            self._system.append(index)  # an agent's own instructions are not in its messages
            return
        known = ("role", "content", "tool_calls", "tool_call_id", "name")
        plain = {k: item.get(k) for k in known if item.get(k) is not None or k == "content"}
        [message] = convert_to_messages([plain])
        message.id = str(index)
        if self.variant.endswith("same tail"):
            self._sizes[message.id] = size_of(item)
        self._messages.append(message)

    def fold(self) -> None:
        made = self._middleware.before_model({"messages": self._messages}, None)
        if made is not None:
            self._messages = made["messages"][1:]  # the first says that all are to be removed

    def before_check(self) -> None:
        if self._checking is None:
            model = FakeListChatModel(responses=["-"])
            self._checking = SummarizationMiddleware(model=model, trigger=("tokens", FAR))

    def check(self) -> None:
        assert self._checking.before_model({"messages": self._messages}, None) is None

    def entries(self) -> list[Entry]:
        return [*self._system, *map(self._entry, self._messages)]

    def _entry(self, message: Any) -> Entry:
        if message.id is not None and message.id.isdigit():
            return int(message.id)
        made: Any = convert_to_openai_messages(message)
        return {"role": made["role"], "content": made["content"]}


PEER = LangChain
