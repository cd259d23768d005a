"""Capture of ollama's responses and streams, by the real SDK over HTTP."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, ClassVar

import pytest
from capture.native_servers import Answered, CaptureSuite, Host
from ollama import AsyncClient, ChatResponse, Client

from chatfold.capture import captured, ollama
from chatfold.core.flow import Usage
from chatfold.shapes import shape_named


def body(message: dict[str, Any], *, done: bool = True) -> dict[str, Any]:
    """Return a response, or a chunk of one."""
    made: dict[str, Any] = {
        "model": "qwen3",
        "created_at": "2026-11-22T10:00:00Z",
        "message": {"role": "assistant", **message},
        "done": done,
    }
    if done:
        made |= {"done_reason": "stop", "prompt_eval_count": 30, "eval_count": 9}
    return made


def answer(
    message: dict[str, Any], pieces: list[dict[str, Any]], calls: list[str] | None = None
) -> Answered:
    """Return an answer whose stream brings one piece in each chunk, and ends with an empty one."""
    chunks = [body(piece, done=False) for piece in pieces] + [body({"content": ""})]
    events = [json.dumps(c).encode() + b"\n" for c in chunks]
    return Answered(body(message), events, len(chunks), Usage(30, 9), calls or [])


def call(name: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **more}


ROME = call("weather", {"city": "Rome", "days": 2})
OSLO = call("weather", {"city": "Oslo"})
ANSWERS = {
    "words": answer(
        {"content": "The weather is fine."},
        [{"content": "The weather"}, {"content": " is"}, {"content": " fine."}],
    ),
    "thinking and words": answer(
        {"content": "Fine.", "thinking": "It is June."},
        [
            {"content": "", "thinking": "It is"},
            {"content": "", "thinking": " June."},
            {"content": "Fi"},
            {"content": "ne."},
        ],
    ),
    "thinking and calls": answer(
        {"content": "", "thinking": "Two cities.", "tool_calls": [ROME, OSLO, call("now", {})]},
        [
            {"content": "", "thinking": "Two"},
            {"content": "", "thinking": " cities."},
            {"content": "", "tool_calls": [ROME]},
            {"content": "", "tool_calls": [OSLO, call("now", {})]},
        ],
        ["weather", "weather", "now"],
    ),
    "a call alone": answer(
        {"content": "", "tool_calls": [ROME]}, [{"tool_calls": [ROME]}], ["weather"]
    ),
    "a word and a call": answer(
        {"content": "I look.", "tool_calls": [ROME]},
        [{"content": "I "}, {"content": "look.", "tool_calls": [ROME]}],
        ["weather"],
    ),
}


class TestOllama(CaptureSuite):
    """ollama's `chat`, whole and with `stream=True`, sync and async."""

    shape = "ollama"
    stream_type = "application/x-ndjson"
    user: ClassVar[Any] = {"role": "user", "content": "How is the weather?"}
    answers = ANSWERS
    model = "qwen3"

    def call(self, url: str, items: list[Any]) -> Any:
        return client(url).chat("qwen3", items)

    def stream(self, url: str, items: list[Any]) -> Any:
        return client(url).chat("qwen3", items, stream=True)

    async def acall(self, url: str, items: list[Any]) -> Any:
        return await async_client(url).chat("qwen3", items)

    async def astream(self, url: str, items: list[Any]) -> Any:
        return await async_client(url).chat("qwen3", items, stream=True)

    def sent(self, body: dict[str, Any]) -> list[Any]:
        return list(body["messages"])

    def written(self, answered: Answered, ids: list[str | None]) -> Any:
        # The SDK's request has no field for the ids that the shape writes, and leaves out "".
        return {key: value for key, value in answered.whole["message"].items() if value}


@cache
def client(url: str) -> Client:
    return Client(host=url)


@cache
def async_client(url: str) -> AsyncClient:
    return AsyncClient(host=url)


@pytest.mark.parametrize("answered", ANSWERS.values(), ids=ANSWERS.keys())
def test_json_is_captured_as_the_objects_are(answered: Answered) -> None:
    """The JSON of the REST interface, whole or in chunks, gives the items of the SDK's objects."""
    host = Host([])
    list(host.record(iter(json.loads(e) for e in answered.events)))
    sdk = captured(ChatResponse(**answered.whole), shape_named, [])
    assert host.added == list(sdk.items)
    assert list(captured(answered.whole, shape_named, []).items) == host.added


@pytest.mark.parametrize("role", [{}, {"role": None}, {"role": ""}], ids=str)
def test_an_answer_that_names_no_role_is_an_assistants(role: dict[str, Any]) -> None:
    """As servers that follow Ollama may write it; its own objects hold at least an empty one."""
    whole = body({"content": "Fine."})
    chunks = [body({"content": "Fi"}, done=False), body({"content": "ne."})]
    for each in (whole, *chunks):
        del each["message"]["role"]
        each["message"] |= role
    host = Host([])
    list(host.record(iter(chunks)))
    host.add_response(whole)
    if role.get("role") == "":
        host.add_response(ChatResponse(**whole))
        list(host.record(ChatResponse(**each) for each in chunks))
    assert host.added == [{"role": "assistant", "content": "Fine."}] * len(host.added)
    assert len(host.added) >= 2


def test_a_dict_of_the_sdks_own_response_holds_its_message() -> None:
    whole = dict(ChatResponse(**body({"content": "Fine."})))
    host = Host([])
    host.add_response(whole)
    list(host.record(iter([whole])))
    assert [each["content"] for each in host.added] == ["Fine."] * 2


def test_later_chunks_need_not_repeat_the_role() -> None:
    """Else their words would be lost."""
    first, last = body({"content": "Fi"}, done=False), body({"content": "ne."})
    del last["message"]["role"]
    host = Host([])
    list(host.record(iter([first, last])))
    assert host.added == [{"role": "assistant", "content": "Fine."}]


def test_a_part_of_a_stream_is_no_response() -> None:
    """A chunk that is not the last one cannot be taken for a whole answer."""
    assert ollama.takes(ChatResponse(**body({"content": "Fine."})))
    assert not ollama.takes(ChatResponse(**body({"content": "Fi"}, done=False)))
    assert not ollama.takes({"role": "assistant", "content": "Fine."})
    assert not ollama.takes({"message": {"role": "assistant", "content": "Fine."}})
    with pytest.raises(TypeError):
        captured(ChatResponse(**body({"content": "Fi"}, done=False)), shape_named, [])


def test_there_is_one_answer_to_choose() -> None:
    """Ollama gives one answer, so there is no second one."""
    response = ChatResponse(**body({"content": "Fine."}))
    assert ollama.outputs(response, choice=0).items == (response.message,)
    with pytest.raises(ValueError, match="no choice 1"):
        ollama.outputs(response, choice=1)


def test_an_answer_without_content_adds_no_item() -> None:
    """A request that only loads a model has an empty message, which is no part of a history."""
    loaded = {**body({"content": ""}), "done_reason": "load"}
    host = Host([])
    assert captured(ChatResponse(**loaded), shape_named, []).items == ()
    assert list(host.record(iter([ChatResponse(**loaded)])))
    assert host.added == []


def test_recording_leaves_the_chunks_alone() -> None:
    """Chunks are kept by users who collect them; putting them together changes none."""
    chunks = [ChatResponse(**json.loads(e)) for e in ANSWERS["thinking and calls"].events]
    copies = [chunk.model_copy(deep=True) for chunk in chunks]
    host = Host([])
    seen = list(host.record(iter(chunks)))
    assert all(one is other for one, other in zip(seen, chunks, strict=True))
    assert chunks == copies
    host.added[0]["tool_calls"].clear()
    assert chunks == copies


def test_calls_that_come_again_get_ids_of_their_own_also_where_a_fold_gave_their_place() -> None:
    """The same call at the same place of a list is another one while the first still stands."""
    items: list[Any] = []
    for _ in range(6):
        items.append({"role": "user", "content": "How is the weather?"})
        items += captured(body({"tool_calls": [ROME, ROME]}), shape_named, items).items
        items += [{"role": "tool", "tool_name": "weather", "content": "fine"}] * 2
        while len(items) > 9:  # the same lengths come again
            del items[:4]
        ids = [made["id"] for item in items for made in item.get("tool_calls", ())]
        assert len(set(ids)) == len(ids) == len(items) // 2


def test_an_id_is_made_without_reading_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn of a conversation of any length reads the items behind the last call."""
    read = 0
    shape = shape_named("ollama")
    reads = type(shape).read

    def counted(self: Any, item: Any) -> Any:
        nonlocal read
        read += 1
        return reads(self, item)

    monkeypatch.setattr(type(shape), "read", counted)
    items: list[Any] = []
    for _ in range(100):
        read = 0
        items.append({"role": "user", "content": "How is the weather?"})
        items += captured(body({"tool_calls": [ROME, OSLO]}), shape_named, items).items
        items += [{"role": "tool", "tool_name": "weather", "content": "fine"}] * 2
    assert read <= 6
