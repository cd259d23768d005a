"""The bodies of live requests: which fields change, and which requests are not sent at all.

Not here: what becomes of the answers (`test_append`).
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import Any

import anthropic as anthropic_sdk
import openai as openai_sdk
import pytest
from anthropic import Anthropic
from anthropic import DefaultHttpxClient as AnthropicHttp
from fake_bodies import chat_body, response_body
from fake_server import SUMMARY, LLMServer, ok, truncated
from live_requests import LIVE, WAYS, Way, conversation, sent, tool
from openai import DefaultHttpxClient, OpenAI

from chatfold import ChatContext, Prompt, UngroundedSummaryError
from chatfold.options import Settings
from chatfold.summarizers import (
    AnthropicCompaction,
    AnthropicSummarizer,
    OpenAICompaction,
    OpenAISummarizer,
    resolve,
    senders,
)
from chatfold.summarizers._live import chat_body as live_chat_body

chat, responses, anthropic = (
    WAYS[name] for name in ("openai_chat", "openai_responses", "anthropic")
)
WHOLE_ANSWER: dict[str, dict[str, Any]] = {
    "openai_chat": {
        "stream": True,
        "stream_options": {"include_usage": True},
        "n": 3,
        "stop": ["\n"],
        "logprobs": True,
        "top_logprobs": 2,
        "modalities": ["text", "audio"],
        "audio": {"voice": "alloy", "format": "wav"},
        "prediction": {"type": "content", "content": "x"},
        "timeout": 0.001,
    },
    "openai_responses": {
        "stream": True,
        "background": True,
        "background_options": {"completion_window": "2h"},
        "truncation": "auto",
        "top_logprobs": 2,
        "timeout": 0.001,
    },
    "anthropic": {
        "stream": True,
        "stop_sequences": ["\n"],
        "fallback_credit_token": "x",
        "timeout": 0.001,
    },
}
FORCED = {
    "openai_chat": ["required", {"type": "function", "function": {"name": "lookup_order"}}],
    "openai_responses": ["required", {"type": "function", "name": "lookup_order"}],
    "anthropic": [{"type": "any"}, {"type": "tool", "name": "lookup_order"}],
}
SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}
JSON: dict[str, dict[str, Any]] = {
    "openai_chat": {
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
    },
    "openai_responses": {
        "text": {"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}}
    },
    "anthropic": {
        "extra_body": {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}
    },
}
UNSET = {
    "openai_chat": [
        "max_tokens",
        "max_completion_tokens",
        "response_format",
        "tool_choice",
        "function_call",
        "functions",
        "extra_body",
    ],
    "openai_responses": [
        "max_output_tokens",
        "text",
        "tool_choice",
        "previous_response_id",
        "conversation",
        "context_management",
    ],
    "anthropic": ["max_tokens", "tool_choice", "output_config", "thinking", "betas", "system"],
}
HELD = {
    "openai_chat": ["messages"],
    "openai_responses": ["input", "previous_response_id", "conversation", "context_management"],
    "anthropic": ["messages", "context_management", "thread", "compaction"],
}


@pytest.fixture(params=["openai_chat", "openai_responses", "anthropic"])
def way(request: pytest.FixtureRequest) -> Way:
    """One of three APIs."""
    return WAYS[request.param]


def context(way: Way, **options: Any) -> ChatContext[Any]:
    return ChatContext(conversation(way.shape), shape=way.shape, **options)


def test_what_would_part_the_answer_is_left_out(way: Way, llm_server: LLMServer) -> None:
    """A stream, several answers, stop words, a time-out of its own: none of it is sent."""
    extra = way.takes(WHOLE_ANSWER[way.shape], llm_server)
    assert len(extra) > 2
    outcome = way.fold(context(way), llm_server, request=way.request(**extra))
    assert outcome.mode == "append"
    body = llm_server.requests[0].body
    assert not set(body) & (set(extra) - {"timeout"})
    assert {k: body[k] for k in ("model", "tools")} == {
        k: LIVE[way.shape][k] for k in ("model", "tools")
    }


def test_that_is_so_in_extra_body_too(way: Way, llm_server: LLMServer) -> None:
    """What stands there for a server of another kind goes out as it is."""
    extra = {name: value for name, value in WHOLE_ANSWER[way.shape].items() if name != "timeout"}
    request = way.request()
    request["extra_body"] = {**request.get("extra_body", {}), **extra, "max_length": 7}
    assert way.fold(context(way), llm_server, request=request).mode == "append"
    body = llm_server.requests[0].body
    assert not set(body) & set(extra)
    assert body["max_length"] == 7


@pytest.mark.parametrize("way", [chat, responses], ids=["chat", "responses"])
def test_a_form_that_a_server_holds_answers_to_is_left_out(way: Way, llm_server: LLMServer) -> None:
    """It is no part of the prompt: without it there is a text, and the prefix is the same."""
    form = {"structured_outputs": {"json": SCHEMA}, "guided_json": SCHEMA, "regex": "yes|no"}
    form |= {"json_schema": SCHEMA, "grammar": 'root ::= "yes"', "stop_token_ids": [7]}
    request = way.request(extra_body={**form, "top_k": 20})
    outcome = way.fold(context(way), llm_server, request=request)
    assert (outcome.mode, outcome.fell_back) == ("append", "")
    body = llm_server.requests[0].body
    assert not set(body) & set(form)
    assert body["top_k"] == 20


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
def test_a_limit_of_the_answer_is_raised_where_it_stands(
    limit: str, inside: bool, llm_server: LLMServer
) -> None:
    """Under the name that the live request gives it, as some servers know only one of two."""
    extra = {"extra_body": {limit: 100}} if inside else {limit: 100}
    chat.fold(context(chat), llm_server, request=chat.request(**extra))
    body = llm_server.requests[0].body
    assert {k: v for k, v in body.items() if k.startswith("max_")} == {limit: 8192}


def test_a_limit_that_is_high_enough_stays(way: Way, llm_server: LLMServer) -> None:
    """It is not lowered."""
    name = {"openai_chat": "max_completion_tokens", "openai_responses": "max_output_tokens"}
    limit = name.get(way.shape, "max_tokens")
    way.fold(context(way), llm_server, request=way.request(**{limit: 50_000}))
    assert llm_server.requests[0].body[limit] == 50_000


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("openai_chat", "max_completion_tokens"),
        ("openai_responses", "max_output_tokens"),
        ("anthropic", "max_tokens"),
    ],
)
def test_a_limit_is_raised_well_above_a_long_summary(
    name: str, limit: str, llm_server: LLMServer
) -> None:
    """Where the caller's own requests are for short answers, and a long summary is wanted."""
    live = WAYS[name]
    options: dict[str, Any] = {
        "request": live.request(**{limit: 2_500}),
        "max_summary_tokens": 9_000,
    }
    live.fold(context(live), llm_server, **options)
    thinking = 2_048 if name == "anthropic" else 0
    assert llm_server.requests[0].body[limit] == 18_000 + thinking


def test_thinking_has_its_budget_beside_the_summary(llm_server: LLMServer) -> None:
    """Claude's thinking counts against the limit, so that goes up by its budget."""
    llm_server.script(truncated(), ok())
    anthropic.fold(context(anthropic), llm_server, request=anthropic.request(max_tokens=2_500))
    first, second = (request.body for request in llm_server.requests)
    assert first["max_tokens"] == 8192 + 2048
    assert second["max_tokens"] == 2 * 8192 + 2048
    assert first["thinking"] == LIVE["anthropic"]["thinking"]


def test_beta_fields_go_to_the_beta_method(llm_server: LLMServer) -> None:
    """What the stable method does not take is a field of the beta one."""
    request = anthropic.request(betas=["interleaved-thinking-2025-05-14"])
    assert anthropic.fold(context(anthropic), llm_server, request=request).mode == "append"
    assert llm_server.requests[0].headers["anthropic-beta"] == request["betas"][0]


def test_a_client_of_openai_takes_the_endpoint_of_the_list(llm_server: LLMServer) -> None:
    """A Responses list goes to Responses; the prompt after it to the client's own endpoint."""
    llm_server.script(ok(""), ok())
    outcome = responses.fold(context(responses), llm_server)
    assert outcome.mode == "prompt"
    assert [r.path for r in llm_server.requests] == ["/v1/responses", "/v1/chat/completions"]


def test_plain_messages_go_to_the_endpoint_that_is_given(llm_server: LLMServer) -> None:
    """A list that several shapes write alike is sent as the caller's resource would."""
    long = "It crackles, and then it crackles again. " * 60
    items = [{"role": role, "content": long} for role in ("user", "assistant") * 3]
    outcome = responses.fold(ChatContext(items), llm_server, lambda client: client.responses)
    assert outcome.mode == "append"
    assert llm_server.requests[0].path == "/v1/responses"
    assert sent(llm_server.requests[0].body)[-1]["role"] == "user"


@pytest.mark.parametrize("choice", [0, 1])
def test_a_forced_tool_call_is_no_live_request(
    choice: int, way: Way, llm_server: LLMServer
) -> None:
    """Another tool choice would lose the cache, and this one gives no text: a prompt is sent."""
    forced = FORCED[way.shape][choice]
    outcome = way.fold(context(way), llm_server, request=way.request(tool_choice=forced))
    assert (outcome.mode, outcome.llm_calls) == ("prompt", 1)
    assert "forces a tool call" in outcome.fell_back
    assert "tools" not in llm_server.requests[0].body


@pytest.mark.parametrize(
    "choice",
    [
        "none",
        {"type": "allowed_tools", "mode": "auto", "tools": []},
        {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}},
    ],
)
def test_a_tool_choice_that_forces_nothing_stays(choice: Any, llm_server: LLMServer) -> None:
    """It is part of the live request."""
    outcome = chat.fold(context(chat), llm_server, request=chat.request(tool_choice=choice))
    assert outcome.mode == "append"
    assert llm_server.requests[0].body["tool_choice"] == choice


def test_a_request_for_json_is_no_live_request(way: Way, llm_server: LLMServer) -> None:
    """The schema is part of the cached prefix: with it there is no text, without it no cache."""
    outcome = way.fold(context(way), llm_server, request=way.request(**JSON[way.shape]))
    assert (outcome.mode, outcome.llm_calls) == ("prompt", 1)
    assert "asks for JSON" in outcome.fell_back


@pytest.mark.parametrize("name", ["text_format", "output_format"])
def test_a_class_for_the_answer_is_a_request_for_json(
    way: Way, name: str, llm_server: LLMServer
) -> None:
    """As the SDKs' `parse` takes it, whose fields these are; `create` has none of that name."""
    request = way.request() | {name: dict}
    outcome = way.fold(context(way), llm_server, request=request)
    assert (outcome.mode, outcome.llm_calls) == ("prompt", 1)
    assert "asks for JSON" in outcome.fell_back


def test_a_request_for_text_is_one(llm_server: LLMServer) -> None:
    """The format that is the default anyway stays, with what else stands beside it."""
    text = {"format": {"type": "text"}, "verbosity": "low"}
    outcome = responses.fold(context(responses), llm_server, request=responses.request(text=text))
    assert outcome.mode == "append"
    assert llm_server.requests[0].body["text"] == text


def test_fields_that_hold_another_history_are_refused(way: Way, llm_server: LLMServer) -> None:
    """Before anything is sent, also in `extra_body`."""
    for name in HELD[way.shape]:
        for request in ({name: "x"}, {"extra_body": {name: "x"}}):
            with pytest.raises(ValueError, match=f"request must not hold '{name}'"):
                way.fold(context(way), llm_server, request=way.request(**request))
    assert not llm_server.requests
    with pytest.raises(TypeError, match="as a dict, not list"):
        ChatContext([], request=[])  # type: ignore[arg-type]  # the error is what is tested


def test_a_field_that_the_sdk_does_not_know_is_refused(way: Way, llm_server: LLMServer) -> None:
    """Before anything is sent."""
    with pytest.raises(TypeError, match="request holds toolz, which the SDK"):
        way.fold(context(way), llm_server, request=way.request(toolz=[]))
    assert not llm_server.requests


def test_a_field_that_can_be_read_once_is_refused(way: Way, llm_server: LLMServer) -> None:
    """The second question of a fold, and the next fold, would go out without it."""
    with pytest.raises(TypeError, match="'tools' as generator, which can be read once"):
        way.fold(context(way), llm_server, request=way.request(tools=(t for t in ())))
    assert not llm_server.requests


def test_a_field_that_a_request_is_made_from_is_of_its_kind(
    way: Way, llm_server: LLMServer
) -> None:
    """It is named before anything is sent, not by an error from where the body is made."""
    limit = "max_output_tokens" if way.shape == "openai_responses" else "max_tokens"
    for name, value, words in (
        (limit, "4096", "a number, not '4096'"),
        ("extra_body", {limit: "4096"}, "a number, not '4096'"),
        ("extra_body", "fast", "a dict, or None, not str"),
        ("extra_headers", [("x", "y")], "a dict, or None, not list"),
        ("extra_query", "", "a dict, or None, not str"),
    ):
        named = limit if isinstance(value, dict) else name
        with pytest.raises(TypeError, match=rf"^request\['{named}'\] must be {words}$"):
            way.fold(context(way), llm_server, request=way.request(**{name: value}))
    assert not llm_server.requests


@pytest.mark.parametrize("some", [list, tuple])
def test_functions_for_the_tool_runner_go_out_as_it_sends_them(
    some: Callable[[list[Any]], Any], llm_server: LLMServer
) -> None:
    """`tool_runner` has its requests made of functions; the prefix is that of these."""
    beta_tool = getattr(anthropic_sdk, "beta_tool", None)
    if beta_tool is None:
        pytest.skip("this SDK has no tool runner")

    @beta_tool
    def lookup(order: str) -> str:
        """Looks up an order."""
        return order

    tools = some([lookup, tool("anthropic")])
    outcome = anthropic.fold(context(anthropic), llm_server, request=anthropic.request(tools=tools))
    assert (outcome.mode, outcome.fell_back) == ("append", "")
    assert llm_server.requests[0].body["tools"] == [lookup.to_dict(), tool("anthropic")]


def test_redact_and_append_mode_exclude_each_other(way: Way, llm_server: LLMServer) -> None:
    """The items go out as they are; wherever the two options come from, nothing is sent."""
    with pytest.raises(ValueError, match="redact= does not reach"):
        way.fold(context(way), llm_server, redact=str.upper)
    with pytest.raises(ValueError, match="redact= does not reach"):
        way.fold(context(way, redact=str.upper), llm_server)
    assert not llm_server.requests


def test_what_takes_prompts_alone_is_refused(llm_server: LLMServer) -> None:
    """The error says what append mode needs."""

    def write(prompt: Prompt) -> str:
        raise AssertionError("nothing is asked")

    for llm in (write, "extractive", ["extractive", write]):
        with pytest.raises(ValueError, match="needs an OpenAI or Anthropic client") as caught:
            context(chat).summarize(llm, mode="append", keep_last_turns=1)
        assert "write" in str(caught.value) or "xtractive" in str(caught.value)


def test_a_backend_of_native_compaction_is_refused(llm_server: LLMServer) -> None:
    """It is no summary in words, and so asked for otherwise."""
    pytest.importorskip("anthropic", minversion="1.6.0")
    pytest.importorskip("openai", minversion="2.9.0")
    with chat.api.client(llm_server) as client, anthropic.api.client(llm_server) as other:
        for way, native in (
            (responses, OpenAICompaction(client, "gpt-5")),
            (anthropic, AnthropicCompaction(other, "claude-opus-5")),
        ):
            with pytest.raises(ValueError, match="folds natively; pass the client itself"):
                context(way).summarize(native, mode="append", keep_last_turns=1)


def test_a_client_of_another_provider_is_refused(llm_server: LLMServer) -> None:
    """In a chain it is asked by a prompt."""
    with pytest.raises(
        ValueError, match="this one is of anthropic, while the summarizers send open"
    ):
        chat.fold(context(anthropic), llm_server, request={"model": "gpt-5"})
    with pytest.raises(ValueError, match="this one is of gemini"):
        chat.fold(
            ChatContext(
                [
                    {"role": "user", "parts": [{"text": "x" * 900}]},
                    {"role": "model", "parts": [{"text": "x" * 900}]},
                ]
                * 3
            ),
            llm_server,
        )
    with chat.api.client(llm_server) as other:
        llm = [
            OpenAISummarizer(other, "gpt-5"),
            AnthropicSummarizer(
                Anthropic(
                    api_key="k",
                    base_url=llm_server.anthropic_url,
                    http_client=AnthropicHttp(verify=False),
                ),
                "claude-opus-4-5",
            ),
        ]
        request = anthropic.request()
        ctx = context(anthropic)
        llm_server.script(ok(""), ok())
        outcome = ctx.summarize(llm, mode="append", request=request, keep_last_turns=1)
    assert outcome.mode == "append"
    assert [r.path for r in llm_server.requests] == ["/v1/chat/completions", "/v1/messages"]


def test_another_model_is_refused(way: Way, llm_server: LLMServer) -> None:
    """Its cache is another one; with no model= it is the live request's."""
    with pytest.raises(ValueError, match="asks another; leave model= out"):
        way.fold(context(way), llm_server, model="small")
    for given in ({}, {"request": {}}):
        named = {"model": LIVE[way.shape]["model"], **given}
        assert way.fold(context(way), llm_server, **named).mode == "append"
    with pytest.raises(TypeError, match="needs model="):
        way.fold(context(way), llm_server, request=way.request(model=None))


def test_a_model_by_name_sends_live_requests(
    llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its client is made from the environment."""
    for name, value in llm_server.env.items():
        monkeypatch.setenv(name, value)
    for way, llm in ((chat, "openai:gpt-5"), (anthropic, "anthropic:claude-opus-4-5")):
        request = way.request()
        outcome = context(way).summarize(llm, mode="append", request=request, keep_last_turns=1)
        assert outcome.mode == "append"
        assert llm_server.requests[-1].body["tools"] == [tool(way.shape)]


def test_a_request_for_a_model_by_name_is_looked_at_too(
    llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A field that there is not is refused before anything is sent, and OpenAI itself is known."""
    for name, value in llm_server.env.items():
        monkeypatch.setenv(name, value)
    for way, llm in ((chat, "openai:gpt-5"), (anthropic, "anthropic:claude-opus-4-5")):
        with pytest.raises(TypeError, match="request holds toolz, which the SDK"):
            context(way).summarize(llm, mode="append", request=way.request(toolz=[]))
    assert not llm_server.requests
    forced = chat.request(tool_choice="required")
    settings = Settings().updated({"mode": "append", "request": forced})
    for host, obstacle in ((None, "forces a tool call"), ("https://api.openai.com/v1", "")):
        if host is not None:
            monkeypatch.setenv("OPENAI_BASE_URL", host)
        named = resolve("openai:gpt-5", model=None, timeout=1, retries=0, asynchronous=False)
        (sender,) = senders(named, settings)
        assert obstacle in sender.obstacle
        assert bool(obstacle) is bool(sender.obstacle)


def test_a_request_that_cannot_fit_is_not_sent(way: Way, llm_server: LLMServer) -> None:
    """With a limit for prompts, the instructions and tools outside of the list count too."""
    described = [{**tool(way.shape)}]
    described[0] = json.loads(json.dumps(described[0]).replace("Looks up", "Looks up " * 4000))
    ctx = context(way)
    outcome = way.fold(
        ctx, llm_server, request=way.request(tools=described), max_prompt_tokens=6_000
    )
    assert (outcome.mode, outcome.llm_calls) == ("prompt", 1)
    assert "6,000 fit" in outcome.fell_back
    long = [
        {"role": "user", "content": "It crackles. " * 4000},
        {"role": "assistant", "content": "."},
    ]
    small = ChatContext([*long, *conversation(way.shape)[1:]], shape=way.shape)
    told = way.fold(small, llm_server, max_prompt_tokens=6_000)
    assert told.fell_back == "the head does not fit one prompt"
    assert told.mode == "prompt"


def test_a_field_that_is_none_holds_no_history(llm_server: LLMServer) -> None:
    """A host may have one set of fields for requests with and without it."""
    request = {**responses.request(), "previous_response_id": None}
    assert responses.fold(context(responses), llm_server, request=request).mode == "append"


@pytest.mark.parametrize("name", ["NOT_GIVEN", "omit"])
def test_a_field_that_the_sdk_takes_for_unset_is_not_there(
    way: Way, name: str, llm_server: LLMServer
) -> None:
    """Hosts pass on what they were given; the prefix stays that of the request without it."""
    unset = getattr(anthropic_sdk if way.shape == "anthropic" else openai_sdk, name, None)
    if unset is None:
        pytest.skip("this SDK has no such value")
    for field in UNSET[way.shape]:
        request = way.request() | {field: unset}
        before = dict(request)
        outcome = way.fold(context(way), llm_server, request=request)
        assert (field, outcome.mode, outcome.fell_back) == (field, "append", "")
        assert request == before
        without = {key: value for key, value in before.items() if key != field}
        way.fold(context(way), llm_server, request=without)
        body, same = (request.body for request in llm_server.requests[-2:])
        assert body == same


def test_that_is_so_of_a_field_in_extra_body(llm_server: LLMServer) -> None:
    """It is read like any other field."""
    extra = {"max_tokens": openai_sdk.NOT_GIVEN, "tool_choice": openai_sdk.NOT_GIVEN, "seed": 7}
    request = chat.request(extra_body=extra)
    assert chat.fold(context(chat), llm_server, request=request).mode == "append"
    body = llm_server.requests[0].body
    assert body["seed"] == 7
    assert "max_tokens" not in body
    assert extra["max_tokens"] is openai_sdk.NOT_GIVEN


def test_no_betas_are_none(llm_server: LLMServer) -> None:
    """The SDK makes a header of them, and fails where it is given None."""
    request = {**anthropic.request(), "betas": None}
    assert anthropic.fold(context(anthropic), llm_server, request=request).mode == "append"
    assert "anthropic-beta" not in llm_server.requests[0].headers


def test_secrets_of_the_request_are_in_no_repr(way: Way) -> None:
    """Headers of a live request may hold keys."""
    ctx = context(way, mode="append", request=way.request(extra_headers={"x-key": "hush-hush"}))
    plan = ctx.plan(keep_last_turns=1)
    assert plan.prompt is not None
    assert plan.prompt.live is not None
    assert plan.prompt.live.request["extra_headers"] == {"x-key": "hush-hush"}
    for value in (ctx, plan, plan.prompt, plan.prompt.live, plan.append, ctx._settings):
        assert "hush" not in repr(value)
        assert "crackles" not in repr(value)


def test_values_of_the_tools_are_no_facts(way: Way, llm_server: LLMServer) -> None:
    """A tool's description gives examples; what the instructions say was shown."""
    example = json.loads(json.dumps(tool(way.shape)).replace("an order", "an order like LK-777001"))
    said = "The shop's number is SHOP-55512."
    told = {"openai_responses": {"instructions": said}, "anthropic": {"system": said}}
    request = way.request(tools=[example], **told.get(way.shape, {}))
    llm_server.default = ok("The order is LK-777001.")
    with pytest.raises(UngroundedSummaryError):
        way.fold(context(way), llm_server, request=request, grounding="refuse")
    if way.shape in told:
        llm_server.default = ok("Ask SHOP-55512.")
        outcome = way.fold(context(way), llm_server, request=request, grounding="refuse")
        assert outcome.mode == "append"


@pytest.mark.parametrize("way", [chat, responses], ids=["chat", "responses"])
@pytest.mark.parametrize("choice", ["auto", "required", None])
@pytest.mark.parametrize("host", ["https://api.openai.com/v1", "https://eu.api.openai.com/v1"])
@pytest.mark.parametrize("place", ["", "extra_body"])
def test_openai_itself_is_told_to_call_no_tool(
    way: Way, choice: str | None, host: str, place: str
) -> None:
    """There the tool choice is no part of the cached prefix."""
    bodies: list[dict[str, Any]] = []
    write = chat_body if way is chat else response_body

    base = next(kind for kind in DefaultHttpxClient.__mro__ if kind.__name__ == "Client")
    library: Any = importlib.import_module(base.__module__.partition(".")[0])  # httpx or httpx2

    def answer(request: Any) -> Any:
        bodies.append(json.loads(request.content))
        return library.Response(200, json=write(ok(), bodies[-1]))

    http = DefaultHttpxClient(transport=library.MockTransport(answer))
    with OpenAI(api_key="k", base_url=host, http_client=http) as client:
        request = way.request(tool_choice=choice)
        if place:
            inside = ("tools", "tool_choice") if choice else ("tools",)
            request[place] = {name: request.pop(name) for name in inside}
        outcome = context(way).summarize(client, mode="append", request=request, keep_last_turns=1)
    assert (outcome.summary, outcome.mode) == (SUMMARY, "append")
    assert bodies[0]["tool_choice"] == "none"
    assert bodies[0]["tools"] == [tool(way.shape)]


def test_functions_of_older_requests_are_tools_too(llm_server: LLMServer) -> None:
    """One that must be called is no live request; OpenAI itself is told to call none."""
    described = tool("openai_chat")["function"]
    forced = {"functions": [described], "function_call": {"name": described["name"]}}
    request = chat.request(tools=None, tool_choice=None, **forced)
    outcome = chat.fold(context(chat), llm_server, request=request)
    assert "forces a tool call" in outcome.fell_back
    live = context(chat).plan(mode="append", request=request, keep_last_turns=1).prompt
    assert live is not None
    assert live.live is not None
    with OpenAI(api_key="k") as client:
        body = live_chat_body(live.live, "gpt-5", None, client)
    assert (body["function_call"], body["functions"]) == ("none", [described])
    assert "tool_choice" not in body


def test_a_method_that_is_wrapped_has_its_fields_unchecked(llm_server: LLMServer) -> None:
    """Instrumentation hides which fields there are."""

    def wrap(client: Any) -> Any:
        create = client.chat.completions.create
        client.chat.completions.create = lambda **fields: create(**fields)
        return client

    assert chat.fold(context(chat), llm_server, wrap).mode == "append"
