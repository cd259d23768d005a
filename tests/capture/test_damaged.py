"""Responses and streams in which one field is what no provider sends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from capture import test_bedrock, test_gemini, test_mistral, test_ollama
from capture.replies import CHAT, MESSAGES, RESPONSES

from chatfold import ChatContext

WHOLE: dict[str, dict[str, Any]] = {
    **{f"chat: {name}": reply.whole for name, reply in CHAT.items()},
    **{f"responses: {name}": reply.whole for name, reply in RESPONSES.items()},
    **{f"messages: {name}": reply.whole for name, reply in MESSAGES.items()},
    **{f"gemini: {name}": answered.whole for name, answered in test_gemini.ANSWERS.items()},
    **{f"ollama: {name}": answered.whole for name, answered in test_ollama.ANSWERS.items()},
    **{f"mistral: {name}": answered.whole for name, answered in test_mistral.ANSWERS.items()},
    **{f"bedrock: {name}": answered.whole for name, answered in test_bedrock.ANSWERS.items()},
}
STREAMS: dict[str, list[dict[str, Any]]] = {
    **{f"chat: {name}": reply.events for name, reply in CHAT.items()},
    **{f"responses: {name}": reply.events for name, reply in RESPONSES.items()},
    **{f"messages: {name}": reply.events for name, reply in MESSAGES.items()},
    **{
        f"ollama: {name}": [json.loads(event) for event in answered.events]
        for name, answered in test_ollama.ANSWERS.items()
    },
}
ODD: tuple[Any, ...] = (None, "", "{", 3.5, [], [0], {"a": None}, "\ud800")
OURS = ("add_response()", "cannot be read", "the response holds", "choice", "being written")


def damaged(value: Any, odd: Any) -> Iterator[Any]:
    """Yield copies of a value in each of which one field, however deep, is the odd one."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield {**value, key: odd}
            yield from ({**value, key: changed} for changed in damaged(member, odd))
    elif isinstance(value, list):
        for place, member in enumerate(value):
            for changed in (odd, *damaged(member, odd)):
                yield [*value[:place], changed, *value[place + 1 :]]


@pytest.mark.parametrize("name", WHOLE)
def test_a_damaged_response_is_taken_or_refused_in_our_words(name: str) -> None:
    """What cannot be read is refused, and nothing is added; what was taken can be checked."""
    for odd in ODD:
        for response in damaged(WHOLE[name], odd):
            before = json.dumps(response)
            items: list[Any] = []
            ctx = ChatContext(items)
            refused = ""
            try:
                ctx.add_response(response)
            except (TypeError, ValueError) as error:
                refused = str(error)
            assert not refused or any(words in refused for words in OURS), response
            assert not (refused and items)
            ctx.check()
            assert json.dumps(response) == before


@pytest.mark.parametrize("name", STREAMS)
def test_a_damaged_stream_is_passed_on_as_it_is(name: str) -> None:
    """An agent reads what it would have read without us; what was stored can be checked."""
    events = STREAMS[name]
    for place, event in enumerate(events):
        for odd in (None, {"a": None}):
            for changed in damaged(event, odd):
                sent = [*events[:place], changed, *events[place + 1 :]]
                before = json.dumps(sent)
                ctx = ChatContext([])
                assert [*map(id, ctx.record(iter(sent)))] == [*map(id, sent)]
                assert json.dumps(sent) == before
                ctx.check()
