"""The integration over the SDK's real models and clients, and a local server behind them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed")

import httpx2
from agents import (
    OpenAIChatCompletionsModel,
    OpenAIConversationsSession,
    OpenAIProvider,
    OpenAIResponsesModel,
    RunConfig,
    SQLiteSession,
)
from integrations.agents_desk import agent, ask, summaries, talk, text_of
from integrations.host import Brain, Call, Step, Turn
from integrations.model_server import ModelServer
from openai import AsyncOpenAI
from validator import validate

from chatfold import FoldEvent, Policy
from chatfold.integrations.openai_agents import FoldedSession, chatfold_filter
from chatfold.summarizers import OpenAICompaction

EAGER = Policy(max_items=6, max_tokens=100_000, keep_tokens=300, keep_last_turns=1, min_gain=0.0)


def client_of(url: str) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=url, api_key="none", max_retries=0)


@pytest.mark.parametrize("named", [False, True], ids=["a model", "its name"])
@pytest.mark.parametrize("kind", [OpenAIResponsesModel, OpenAIChatCompletionsModel])
def test_what_is_sent_is_valid_and_the_agents_own_model_is_asked(kind: Any, named: bool) -> None:
    """A turn with two tool calls behind a long history, over either endpoint."""
    calls = (Call("c1", "lookup", "LK-1"), Call("c2", "lookup", "LK-2"))
    brain = Brain([Turn("both orders", (Step(calls=calls), Step("On their way.")))])
    with ModelServer(brain) as server:
        client = client_of(server.url)
        model: Any = kind("gpt-5", client)
        provider = OpenAIProvider(openai_client=client, use_responses=kind is OpenAIResponsesModel)
        fold = chatfold_filter(policy=EAGER)
        result = ask(
            agent("gpt-5" if named else model),
            [*talk(8), {"role": "user", "content": "where are both orders?"}],
            run_config=RunConfig(
                call_model_input_filter=fold, model_provider=provider, tracing_disabled=True
            ),
        )
    assert result.final_output == "On their way."
    assert len(brain.prompts) == 1
    assert len(brain.requests) == 2
    for request in brain.requests:
        assert not validate(request.items, request.shape)
        assert brain.summary in request.text
        assert "where are both orders?" in request.text
    assert result.context_wrapper.usage.input_tokens == 300


Answer = Callable[[httpx2.Request], httpx2.Response]


def over(answer: Answer) -> AsyncOpenAI:
    """Return the SDK's client with this behind it in place of a network."""
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    return AsyncOpenAI(api_key="none", http_client=http, max_retries=0)


def response(text: str, **changed: Any) -> httpx2.Response:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    message = {
        "id": f"msg_{uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
    }
    body = {
        "id": "resp",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5",
        "status": "completed",
        "output": [{**message, "content": [part]}],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 7,
            "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
            "output_tokens": 3,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 10,
        },
    }
    return httpx2.Response(200, json={**body, **changed})


class Conversations:
    """A conversation that OpenAI holds, and its Responses endpoint."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.requests: list[Any] = []
        self.prompts: list[Any] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/items"):
            if request.method == "POST":
                for item in json.loads(request.content)["items"]:
                    made = {"type": "message", **item, "id": f"msg_{len(self.items)}"}
                    if isinstance(made["content"], str):
                        text = {"type": "input_text", "text": made["content"]}
                        made |= {"content": [text], "status": "completed"}
                    self.items.append(made)
            page = {"object": "list", "data": self.items, "has_more": False}
            first, last = (self.items[0]["id"], self.items[-1]["id"]) if self.items else ("", "")
            return httpx2.Response(200, json={**page, "first_id": first, "last_id": last})
        body = json.loads(request.content)
        if isinstance(body["input"], str) or "<conversation>" in text_of(body["input"]):
            self.prompts.append(body)
            return response("kept short")
        self.requests.append(body)
        return response(f"answer {len(self.requests)}")


@pytest.mark.parametrize("replay", [False, True])
def test_a_conversation_of_openais_is_folded_only_where_that_is_asked(replay: bool) -> None:
    """The SDK replays all of it; what OpenAI holds stays whole either way."""
    held, told = Conversations(), list[FoldEvent]()
    client = over(held)
    session = OpenAIConversationsSession(conversation_id="conv_1", openai_client=client)
    fold = chatfold_filter(policy=EAGER, replay=replay, on_event=told.append)
    for number in range(6):
        result = ask(
            agent(OpenAIResponsesModel("gpt-5", client)),
            f"question {number} " + "word " * 60,
            session=session,
            run_config=RunConfig(call_model_input_filter=fold, tracing_disabled=True),
        )
        assert result.final_output == f"answer {number + 1}"
    assert len(held.items) == 12
    assert summaries(held.items) == 0
    last = held.requests[-1]["input"]
    assert not validate(last, "openai_responses")
    reasons = {event.outcome.reason for event in told if event.outcome is not None}
    if replay:
        assert summaries(last) == 1
        assert reasons == {"summarized"}
        assert "kept short" in text_of(last)
    else:
        assert len(last) == 11
        assert reasons == {"server_managed"}
        assert held.prompts == []


def test_a_summary_request_is_not_stored_and_an_answer_cut_off_is_no_summary() -> None:
    """OpenAI says `incomplete`, of which the SDK makes an error of its own."""
    sent: list[Any] = []
    told: list[FoldEvent] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(json.loads(request.content))
        cut = {"reason": "max_output_tokens"}
        return response("The custo", status="incomplete", incomplete_details=cut)

    def speak(request: httpx2.Request) -> httpx2.Response:
        return response("spoken")

    writer = OpenAIResponsesModel("gpt-5-mini", over(answer))
    fold = chatfold_filter(writer, EAGER, on_event=told.append)
    result = ask(
        agent(OpenAIResponsesModel("gpt-5", over(speak))),
        talk(8)[:-1],
        run_config=RunConfig(call_model_input_filter=fold, tracing_disabled=True),
    )
    assert result.final_output == "spoken"
    assert sent[0]["store"] is False
    assert sent[0].get("tools", []) == []
    assert sent[0]["model"] == "gpt-5-mini"
    outcome = told[-1].outcome
    assert outcome is not None
    assert type(outcome.error).__name__ == "TruncatedSummaryError"


def test_tokens_from_the_cache_are_shown_as_such() -> None:
    fold = chatfold_filter(policy=EAGER)
    client = over(lambda request: response("spoken"))
    result = ask(
        agent(OpenAIResponsesModel("gpt-5", client)),
        talk(8)[:-1],
        run_config=RunConfig(call_model_input_filter=fold, tracing_disabled=True),
    )
    usage = result.context_wrapper.usage
    assert (usage.requests, usage.total_tokens) == (2, 20)
    assert usage.input_tokens_details.cached_tokens == 8


# --- what the SDK's own compaction has left -------------------------------------------------------

SEALED = {"type": "compaction", "id": "cmp_0", "encrypted_content": "c2VhbGVk"}


def compacting(asked: list[Any]) -> Answer:
    """Return what answers `responses.compact`, and all else with words."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        if not request.url.path.endswith("/compact"):
            return response("spoken")
        body = json.loads(request.content)
        asked.append(body)
        made = {"type": "compaction", "id": f"cmp_{len(asked)}", "encrypted_content": "bmV3"}
        users = [item for item in body["input"] if item.get("role") == "user"]
        users = [{"type": "message", "status": "completed", **user} for user in users]
        usage = json.loads(response("").content)["usage"]
        whole = {"id": "c", "object": "response.compaction", "created_at": 1, "usage": usage}
        return httpx2.Response(200, json={**whole, "output": [*users, made]})

    return answer


def test_a_history_with_a_compaction_item_stays_and_goes_on_natively_where_that_is_asked() -> None:
    """Only OpenAI can read the item; its own backend takes it in, the others leave it alone."""
    asked: list[Any] = []
    told: list[FoldEvent] = []
    client = over(compacting(asked))
    model = OpenAIResponsesModel("gpt-5", client)
    wrapped = SQLiteSession("migrated")
    asyncio.run(wrapped.add_items([SEALED, *talk(8)]))  # type: ignore[arg-type, list-item]

    session = FoldedSession(wrapped, policy=EAGER, persist="replace", on_event=told.append)
    ask(agent(model), "go on", session=session, run_config=RunConfig(tracing_disabled=True))
    assert told[-1].outcome is not None
    assert told[-1].outcome.reason == "blocked_by_opaque"
    assert asyncio.run(wrapped.get_items())[:-2] == [SEALED, *talk(8)]

    native = OpenAICompaction(client, "gpt-5")
    session = FoldedSession(wrapped, native, EAGER, persist="replace")
    result = ask(agent(model), "on", session=session, run_config=RunConfig(tracing_disabled=True))
    assert len(asked) == 1
    assert asked[0]["input"][0]["encrypted_content"] == "c2VhbGVk"
    now = asyncio.run(wrapped.get_items())
    assert [item.get("id") for item in now if item.get("type") == "compaction"] == ["cmp_1"]
    assert not validate(now, "openai_responses")
    assert result.context_wrapper.usage.input_tokens == 14

    fold = chatfold_filter(native, EAGER)
    config = RunConfig(call_model_input_filter=fold, tracing_disabled=True)
    ask(agent(model), [SEALED, *talk(8)[:-1]], run_config=config)
    assert len(asked) == 2


# --- imports --------------------------------------------------------------------------------------


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout + done.stderr


def test_without_the_sdk_the_import_says_how_to_get_it() -> None:
    code = (
        "import sys\n"
        "from importlib import metadata\n"
        "class Hidden(metadata.DistributionFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'agents':\n"
        "            raise ModuleNotFoundError(name='agents')\n"
        "    def find_distributions(self, context=metadata.DistributionFinder.Context()):\n"
        "        return iter(())\n"
        "found = metadata.version\n"
        "def version(name):\n"
        "    if name == 'openai-agents':\n"
        "        raise metadata.PackageNotFoundError(name)\n"
        "    return found(name)\n"
        "metadata.version = version\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "from chatfold import MissingExtraError\n"
        "try:\n"
        "    import chatfold.integrations.openai_agents\n"
        "except MissingExtraError as error:\n"
        "    print(error.extra, '|', error, '|', type(error.__cause__).__name__)\n"
    )
    said = run_python(code)
    assert said.startswith("openai-agents | ")
    assert 'pip install "chatfold[openai-agents]"' in said
    assert "ModuleNotFoundError" in said


@pytest.mark.parametrize("name", ["CallModelData", "ModelInputData"])
def test_a_version_that_does_not_work_is_told_which_do(name: str) -> None:
    said = run_python(
        f"import agents.run_config as c; del c.{name}; import chatfold.integrations.openai_agents"
    )
    assert "MissingExtraError" in said
    assert "openai-agents >=0.24,<1" in said
    assert "found 0." in said


def test_the_integration_loads_no_other_framework() -> None:
    said = run_python(
        "import sys, chatfold.integrations.openai_agents\n"
        "others = {'langchain', 'langchain_core', 'langgraph', 'livekit'}\n"
        "print(sorted(others & sys.modules.keys()))"
    )
    assert said.strip() == "[]"
