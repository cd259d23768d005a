"""The other libraries: their own code folds a case, and the stand-in writes the summary."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Any

from .case import Case, Folded, stand_in, unchanged
from .gold import Item, prefix_length


def langchain(case: Case, room: int, **options: Any) -> Folded:
    """Fold by LangChain's middleware, whose tail has as many messages as the case's."""
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages

    start = prefix_length(case.items)
    messages = convert_to_messages([_plain(item) for item in case.items[start:]])
    for index, message in enumerate(messages, start):
        message.id = str(index)
    shown: list[Item] = []

    def write(trimmed: list[Any]) -> str:
        prompt = middleware._format_summary_prompt(trimmed)
        shown.append({"role": "user", "content": prompt})
        return stand_in([_filled(m) for m in convert_to_openai_messages(trimmed)], room)

    middleware: Any = SummarizationMiddleware(
        model=FakeListChatModel(responses=["-"]),
        trigger=("messages", 1),
        keep=("messages", max(len(case.items) - case.tail, 1)),
        summarizer=write,
        **options,
    )
    made = middleware.before_model({"messages": messages}, None)
    if made is None:
        return unchanged(case)
    summary = made["messages"][1].content
    kept = frozenset([*range(start), *(int(m.id) for m in made["messages"][2:])])
    return Folded(kept, summary, shown)


def langchain_untrimmed(case: Case, room: int) -> Folded:
    """Fold by LangChain's middleware, told to show its model everything."""
    return langchain(case, room, trim_tokens_to_summarize=None)


def livekit(case: Case, room: int) -> Folded:
    """Fold by LiveKit's `_summarize`, at the number of turns whose tail is nearest the case's."""
    from livekit.agents.llm import ChatContext as LiveKitContext

    context: Any = LiveKitContext()
    places: dict[str, int] = {}
    for index, item in enumerate(case.items):
        for made in _livekit_items(item):
            places[made.id] = index
            context.items.append(made)
    model = _LiveKitModel()
    before = list(context.items)
    asyncio.run(context._summarize(model, keep_last_turns=_livekit_turns(before, places, case)))
    if not model.shown:
        return unchanged(case)
    kept = frozenset(places[item.id] for item in context.items if item.id in places)
    head = {places[item.id] for item in before} - kept
    summary = stand_in(_some(case.items, head, but=("system", "developer")), room)
    return Folded(kept, summary, model.shown)


def agent_framework(case: Case, room: int) -> Folded:
    """Fold by agent-framework's strategy, call after call until nothing is left to fold."""
    from agent_framework import SummarizationStrategy, annotate_message_groups

    logging.getLogger("agent_framework").setLevel(logging.CRITICAL)
    messages = [_framework_message(str(i), item) for i, item in enumerate(case.items)]
    client = _FrameworkClient()
    target = max(len(case.items) - case.tail, 1)
    strategy = SummarizationStrategy(client=client, target_count=target)
    summary: str | None = None
    gone: set[int] = set()
    while True:
        annotate_message_groups(messages)
        if not asyncio.run(strategy(messages)):
            break
        out = {
            int(str(m.message_id))
            for m in messages
            if m.additional_properties.get("_excluded") and str(m.message_id).isdigit()
        }
        if out == gone:  # it has summarized nothing but its own summary, and would go on so
            break
        summary = stand_in(_some(case.items, out - gone), room, summary)
        newest = next(m for m in messages if m.text == client.answer)
        newest.contents = type(newest)("assistant", [summary]).contents
        gone = out
    if summary is None:
        return unchanged(case)
    return Folded(frozenset(range(len(case.items))) - gone, summary, client.shown)


def _some(items: Sequence[Item], wanted: Iterable[int], but: Sequence[str] = ()) -> list[Item]:
    chosen = sorted(wanted)
    return [items[i] for i in chosen if items[i]["role"] not in but]


def _plain(item: Item) -> Item:
    """Return a message with the fields that every library reads."""
    known = ("role", "content", "tool_calls", "tool_call_id", "name")
    return {key: item[key] for key in known if item.get(key) is not None or key == "content"}


def _filled(message: Item) -> Item:
    """Return a message without the empty fields that a conversion put in."""
    return {key: value for key, value in message.items() if value or key in ("role", "content")}


def _words(item: Item) -> str:
    content = item.get("content")
    if isinstance(content, list):
        return "\n".join(part.get("text") or "" for part in content)
    return content or ""


# --- LiveKit ------------------------------------------------------------------------------------


class _LiveKitModel:
    """Stands where LiveKit's model stands, and notes what it is shown."""

    def __init__(self) -> None:
        self.shown: list[Item] = []

    def chat(self, *, chat_ctx: Any) -> _LiveKitModel:
        self.shown = [{"role": i.role, "content": i.text_content or ""} for i in chat_ctx.items]
        return self

    async def __aenter__(self) -> _LiveKitModel:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def __aiter__(self) -> Any:
        yield _Chunk()


class _Delta:
    content = "-"


class _Chunk:
    delta = _Delta()


def _livekit_items(item: Item) -> list[Any]:
    from livekit.agents.llm import ChatMessage, FunctionCall, FunctionCallOutput

    role = item["role"]
    if role == "tool":
        given = {"call_id": item["tool_call_id"], "name": item.get("name") or ""}
        return [FunctionCallOutput(**given, output=_words(item), is_error=False)]
    made: list[Any] = []
    if _words(item):
        made.append(ChatMessage(role=role, content=[_words(item)]))
    for call in item.get("tool_calls") or ():
        named = call["function"]
        made.append(
            FunctionCall(call_id=call["id"], name=named["name"], arguments=named["arguments"])
        )
    return made


def _livekit_turns(items: Sequence[Any], places: dict[str, int], case: Case) -> int:
    """Return the number of turns to keep whose tail is nearest in size to what is asked for."""
    tail = sum(case.sizes[case.tail :])
    best, nearest, said = 0, tail, 0
    for item in reversed(items):
        if getattr(item, "role", None) not in ("user", "assistant"):
            continue
        said += 1
        if said % 2 == 0:
            size = sum(case.sizes[places[item.id] :])
            if abs(size - tail) >= nearest:
                break
            best, nearest = said // 2, abs(size - tail)
    return best


# --- agent-framework ----------------------------------------------------------------------------


class _FrameworkClient:
    """Stands where agent-framework's chat client stands, and notes what it is shown."""

    answer = "written by the stand-in"

    def __init__(self) -> None:
        self.shown: list[Item] = []

    async def get_response(self, messages: Sequence[Any], **_: object) -> Any:
        self.shown += [{"role": m.role, "content": m.text} for m in messages]
        return _Answer()


class _Answer:
    text = _FrameworkClient.answer


def _framework_message(name: str, item: Item) -> Any:
    from agent_framework import Content, Message

    if item["role"] == "tool":
        contents = [Content.from_function_result(item["tool_call_id"], result=_words(item))]
    else:
        contents = [Content.from_text(_words(item))] if _words(item) else []
        contents += [
            Content.from_function_call(
                call["id"], call["function"]["name"], arguments=call["function"]["arguments"]
            )
            for call in item.get("tool_calls") or ()
        ]
    return Message(item["role"], contents, message_id=name)
