"""What the caller's `llm` becomes: clients, names, objects, callables, chains, and errors."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from fake_server import SUMMARY, LLMServer

from chatfold import ChatContext
from chatfold.core.flow import Completion, accept
from chatfold.core.render import Prompt
from chatfold.errors import MissingExtraError, SummarizerError
from chatfold.summarizers import (
    AnthropicSummarizer,
    FunctionSummarizer,
    OpenAISummarizer,
    resolve,
)

SYNC_CLIENTS: list[Any] = [
    openai.OpenAI(api_key="k"),
    openai.AzureOpenAI(api_key="k", azure_endpoint="http://127.0.0.1:9", api_version="1"),
    anthropic.Anthropic(api_key="k"),
    anthropic.AnthropicVertex(region="r", project_id="p", access_token="t"),
    type("Mine", (openai.OpenAI,), {})(api_key="k"),
]
ASYNC_CLIENTS: list[Any] = [
    openai.AsyncOpenAI(api_key="k"),
    openai.AsyncAzureOpenAI(api_key="k", azure_endpoint="http://127.0.0.1:9", api_version="1"),
    anthropic.AsyncAnthropic(api_key="k"),
    anthropic.AsyncAnthropicVertex(region="r", project_id="p", access_token="t"),
    type("AsyncMine", (anthropic.AsyncAnthropic,), {})(api_key="k"),
]


def name(value: object) -> str:
    return type(value).__name__


class Both:
    """A summarizer with both methods."""

    def complete(self, prompt: Prompt) -> Completion:
        return Completion("sync")

    async def acomplete(self, prompt: Prompt) -> Completion:
        return Completion("async")


class OnlySync:
    """A summarizer without `acomplete`."""

    def complete(self, prompt: Prompt) -> Completion:
        return Completion("sync")


class OnlyAsync:
    """A summarizer without `complete`."""

    async def acomplete(self, prompt: Prompt) -> Completion:
        return Completion("async")


class AsyncInDisguise:
    """A summarizer whose `complete` is a coroutine function."""

    async def complete(self, prompt: Prompt) -> Completion:
        return Completion("async")


async def write_async(prompt: Prompt) -> str:
    return prompt.system


def write(prompt: Prompt) -> str:
    return prompt.system


@pytest.mark.parametrize("client", SYNC_CLIENTS + ASYNC_CLIENTS, ids=name)
def test_every_client_is_recognized(client: Any) -> None:
    """The SDKs' own clients, those for other platforms, and subclasses."""
    [made] = resolve(client, model="m", timeout=7, retries=3, asynchronous=True)
    assert isinstance(made, OpenAISummarizer | AnthropicSummarizer)
    assert (made.family == "openai") is (isinstance(client, openai.OpenAI | openai.AsyncOpenAI))
    assert made.client is client
    assert (made.model, made.timeout, made.retries) == ("m", 7, 3)
    assert made.asynchronous is (client in ASYNC_CLIENTS)


@pytest.mark.parametrize("client", ASYNC_CLIENTS, ids=name)
def test_an_async_client_in_a_synchronous_call_is_a_type_error(client: Any) -> None:
    """The error names the class and what to write."""
    said = (
        rf"^summarize\(\) got {name(client)}; use await ctx\.asummarize\(\.\.\.\), or of another "
        r"call its twin: amaybe_summarize for maybe_summarize, Middleware\.afold for fold$"
    )
    for llm in (client, client.messages if hasattr(client, "messages") else client.responses):
        with pytest.raises(TypeError, match=said):
            resolve(llm, model="m", asynchronous=False)


@pytest.mark.parametrize(
    ("client", "article"),
    [(SYNC_CLIENTS[0], "an OpenAI"), (SYNC_CLIENTS[2], "an Anthropic")],
    ids=["openai", "anthropic"],
)
def test_a_client_without_a_model_is_a_type_error(client: Any, article: str) -> None:
    """The error shows the call."""
    said = rf'^{article} client needs model=, e\.g\. ctx\.summarize\(client, model="\.\.\."\)$'
    with pytest.raises(TypeError, match=said):
        resolve(client, asynchronous=False)


def test_a_resource_chooses_the_endpoint() -> None:
    """Chat Completions is the default; `client.responses` asks for the other."""
    client = SYNC_CLIENTS[0]
    cases = (
        (client, "chat"),
        (client.chat.completions, "chat"),
        (client.beta.chat.completions, "chat"),
        (client.responses, "responses"),
    )
    for llm, endpoint in cases:
        [made] = resolve(llm, model="m", asynchronous=False)
        assert isinstance(made, OpenAISummarizer)
        assert (made.endpoint, made.client) == (endpoint, client)
    client = SYNC_CLIENTS[2]
    for llm in (client.messages, client.beta.messages):  # the agent's requests may need the beta
        [made] = resolve(llm, model="m", asynchronous=False)
        assert isinstance(made, AnthropicSummarizer)
        assert made.client is client


def test_the_module_itself_is_no_client() -> None:
    """`openai` is a module, but its `responses` is the resource of the client it keeps."""
    with pytest.raises(TypeError, match="cannot summarize with module; expected an OpenAI or"):
        resolve(openai, asynchronous=False)


@pytest.mark.parametrize("family", ["openai", "anthropic"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_name_makes_the_client_from_the_environment(
    llm_server: LLMServer,
    prompt: Prompt,
    monkeypatch: pytest.MonkeyPatch,
    family: str,
    asynchronous: bool,
) -> None:
    """Key and address come from the SDK's own variables; the model may hold colons."""
    for variable, value in llm_server.env.items():
        monkeypatch.setenv(variable, value)

    async def call() -> Completion:
        [made] = resolve(f"{family}:ft:test:1", asynchronous=True)
        return await made.acomplete(prompt)

    if asynchronous:
        completion = asyncio.run(call())
    else:
        [made] = resolve(f"{family}:ft:test:1", asynchronous=False)
        completion = made.complete(prompt)
    assert accept(completion) == SUMMARY
    assert llm_server.requests[0].body["model"] == "ft:test:1"


def test_a_named_model_can_be_asked_again(
    llm_server: LLMServer, prompt: Prompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A truncated answer is asked for twice; each request has a client that is closed after it."""
    for variable, value in llm_server.env.items():
        monkeypatch.setenv(variable, value)
    [made] = resolve("openai:gpt-test", asynchronous=False)
    assert made.complete(prompt) == made.complete(prompt)
    assert asyncio.run(made.acomplete(prompt)).text == SUMMARY
    assert repr(made) == "NamedSummarizer('openai:gpt-test')"
    [awaited] = resolve("openai:gpt-test", asynchronous=True)
    with pytest.raises(TypeError, match="use await"):
        resolve(awaited, asynchronous=False)
    with pytest.raises(TypeError, match="use await"):
        awaited.complete(prompt)


def test_a_name_without_a_key_is_an_error_before_any_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's own words say which variable to set."""
    for variable in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(SummarizerError, match="OPENAI_API_KEY"):
        resolve("openai:gpt-test", asynchronous=False)


@pytest.mark.parametrize("family", ["openai", "anthropic"])
def test_a_missing_sdk_is_named_with_its_install_line(
    monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    """Only the names that need an SDK ask for it."""
    monkeypatch.setitem(sys.modules, family, None)
    with pytest.raises(MissingExtraError, match=f"pip install {family}") as caught:
        resolve(f"{family}:m", asynchronous=False)
    assert caught.value.extra == family
    assert isinstance(caught.value.__cause__, ImportError)
    assert resolve([write, "extractive"], asynchronous=False)


def test_extractive_needs_nothing(prompt: Prompt) -> None:
    """The name gives the summarizer without a model, for both kinds of calls."""
    for asynchronous in (False, True):
        [made] = resolve("extractive", asynchronous=asynchronous)
        assert made.complete(prompt).model == "extractive"


@pytest.mark.parametrize("llm", ["gpt-5", "openai", "openai:", "mistral:large", "", "Extractive"])
def test_another_name_is_a_value_error(llm: str) -> None:
    """The error says which names there are."""
    with pytest.raises(ValueError, match=r'no summarizer is named .*"openai:<model>"'):
        resolve(llm, asynchronous=False)


def test_a_summarizer_may_have_one_method_or_both(prompt: Prompt) -> None:
    """The method that fits the call is used; `complete` alone is awaited in a thread."""

    def awaited(llm: object) -> str:
        return asyncio.run(resolve(llm, asynchronous=True)[0].acomplete(prompt)).text

    assert resolve(Both(), asynchronous=False)[0].complete(prompt).text == "sync"
    assert resolve(OnlySync(), asynchronous=False)[0].complete(prompt).text == "sync"
    assert awaited(Both()) == "async"
    assert awaited(OnlySync()) == "sync"
    assert awaited(OnlyAsync()) == "async"
    assert awaited(AsyncInDisguise()) == "async"


@pytest.mark.parametrize("llm", [OnlyAsync(), AsyncInDisguise()], ids=name)
def test_an_async_summarizer_in_a_synchronous_call_is_a_type_error(llm: object) -> None:
    """The error names the class."""
    with pytest.raises(TypeError, match=rf"summarize\(\) got {name(llm)}; use await ctx\.asumm"):
        resolve(llm, asynchronous=False)


def test_an_async_function_in_a_synchronous_call_is_a_type_error() -> None:
    """Also where it is wrapped already."""
    for llm in (write_async, FunctionSummarizer(write_async)):
        with pytest.raises(TypeError, match=r"summarize\(\) got an async function; use await ctx"):
            resolve(llm, asynchronous=False)


def test_a_summarizer_made_by_the_caller_keeps_its_settings() -> None:
    """Time-out and retries of the call are for what the call makes."""
    ours = OpenAISummarizer(SYNC_CLIENTS[0], "m", timeout=300, retries=4)
    assert resolve(ours, timeout=1, retries=0, asynchronous=False) == [ours]
    assert (ours.timeout, ours.retries) == (300, 4)
    theirs = OpenAISummarizer(ASYNC_CLIENTS[0], "m")
    with pytest.raises(TypeError, match=r"summarize\(\) got AsyncOpenAI; use await"):
        resolve(theirs, asynchronous=False)


def test_a_list_is_a_chain_in_its_order() -> None:
    """Lists and tuples may be nested; `model` goes to the clients among them."""
    chain = [SYNC_CLIENTS[2], (write, SYNC_CLIENTS[0].responses), "extractive"]
    made = resolve(chain, model="m", asynchronous=False)
    kinds = ["AnthropicSummarizer", "FunctionSummarizer", "OpenAISummarizer", "Extractive"]
    assert [name(summarizer) for summarizer in made] == kinds


@pytest.mark.parametrize("llm", [[], (), [[], ()]])
def test_an_empty_chain_is_a_value_error(llm: object) -> None:
    """There must be something to ask."""
    with pytest.raises(ValueError, match="the list of summarizers is empty"):
        resolve(llm, asynchronous=False)


@pytest.mark.parametrize("llm", [write, "openai:gpt-test", "extractive", Both(), [write, "x"]])
def test_a_model_without_a_client_is_a_type_error(llm: object) -> None:
    """It would be ignored, so the error says where it goes."""
    with pytest.raises(TypeError, match="model= goes with a client, got"):
        resolve(llm, model="m", asynchronous=False)


@pytest.mark.parametrize("llm", [None, 3, {"model": "m"}, object()])
def test_anything_else_is_a_type_error_that_says_what_is_accepted(llm: object) -> None:
    """The value itself is not shown, only its type."""
    with pytest.raises(TypeError, match=f"cannot summarize with {name(llm)}; expected an OpenAI"):
        resolve(llm, asynchronous=False)
    with pytest.raises(TypeError, match=f"cannot summarize with {name(llm)}; expected an OpenAI"):
        resolve(["extractive", llm], model="m", asynchronous=False)  # to leave it out is no remedy


@pytest.mark.parametrize("llm", [openai.OpenAI, Both])
def test_a_class_in_place_of_an_instance_is_a_type_error(llm: type) -> None:
    """A class is callable, but calling it with a prompt gives no summary."""
    with pytest.raises(TypeError, match=f"got the class {llm.__name__}, not an instance"):
        resolve(llm, asynchronous=False)
    with pytest.raises(TypeError, match=f"got the class {llm.__name__}, not an instance"):
        resolve(llm, model="m", asynchronous=False)


@pytest.mark.parametrize(
    ("options", "word"),
    [({"timeout": 0}, "timeout"), ({"timeout": -1}, "timeout"), ({"retries": -1}, "retries")],
)
def test_numbers_out_of_range_are_value_errors(options: dict[str, Any], word: str) -> None:
    """Nothing would ever be answered in no time."""
    with pytest.raises(ValueError, match=word):
        resolve(write, asynchronous=False, **options)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 1e10])
@pytest.mark.parametrize(
    "make",
    [
        lambda timeout: resolve(write, asynchronous=False, timeout=timeout),
        lambda timeout: OpenAISummarizer(SYNC_CLIENTS[0], "m", timeout=timeout),
        lambda timeout: FunctionSummarizer(write, timeout=timeout),
        lambda timeout: ChatContext([], timeout=timeout),
        lambda timeout: ChatContext([]).summarize(write, timeout=timeout),
    ],
)
def test_a_time_that_no_thread_can_wait_is_refused_at_once(
    make: Callable[[float], Any], timeout: float
) -> None:
    """Else every call would fail with an error of the queue that it waits at."""
    said = "timeout must be more than 0 seconds, at most 9,223,372,036, or None for no limit, not "
    with pytest.raises(ValueError, match=f"^{re.escape(said + repr(timeout))}$"):
        make(timeout)


def test_the_longest_time_that_a_thread_can_wait_is_taken(prompt: Prompt) -> None:
    """The limit itself is no error later."""
    [made] = resolve(write, asynchronous=False, timeout=threading.TIMEOUT_MAX)
    assert made.complete(prompt).text == prompt.system


def test_resolving_what_needs_no_sdk_loads_none() -> None:
    """Callables, objects and `extractive` work where neither SDK is installed."""
    code = (
        "import sys; sys.modules['openai'] = sys.modules['anthropic'] = None\n"
        "from chatfold.summarizers import resolve\n"
        "class S:\n    def complete(self, prompt): return 'x'\n"
        "print(len(resolve([lambda p: 'x', S(), 'extractive'], asynchronous=False)))\n"
        "print('asyncio' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.split() == ["3", "False"]
