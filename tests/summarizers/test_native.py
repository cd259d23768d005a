"""Native compaction: the real clients, sync and async, over real HTTP, against strict servers."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from quickest import quickest

pytest.importorskip("anthropic", minversion="1.6.0")
pytest.importorskip("openai", minversion="2.9.0")

from anthropic import Anthropic, AsyncAnthropic
from anthropic import DefaultAsyncHttpxClient as AsyncAnthropicHttp
from anthropic import DefaultHttpxClient as AnthropicHttp
from anthropic.types.beta import BetaCompactionBlock, BetaMessage
from fake_native import BETA, NativeServer, block_of, code, ended, native_server, opened, window_of
from fake_server import Failure, Raw, cut, delay, hang, rate_limited, server_error
from hypothesis import given
from hypothesis import strategies as st
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, DefaultHttpxClient, OpenAI
from openai.types.responses import ResponseCompactionItem, ResponseFunctionToolCall
from shapes.sdk_types import refusal, union_named
from summarizers.conftest import SECRET

from chatfold.core.flow import Usage
from chatfold.errors import (
    EmptySummaryError,
    MissingExtraError,
    NoAnswerError,
    RefusedSummaryError,
    SummarizerError,
    SummaryError,
    TruncatedSummaryError,
)
from chatfold.summarizers.native import Compacted
from chatfold.summarizers.native_anthropic import AnthropicCompaction
from chatfold.summarizers.native_openai import OpenAICompaction, _with_own

__all__ = ["native_server"]

Ask = Callable[..., Compacted]
KEY = "sk-very-secret"

RESPONSES: list[Any] = [
    {"role": "user", "content": f"Where is order A-1001? {SECRET}"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "find", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "on its way"},
    {"type": "configuration_update", "reasoning": {"effort": "low"}},
    {"role": "user", "content": [{"type": "input_text", "text": "Send it again."}]},
    {"role": "assistant", "content": "Done."},
]
MESSAGES: list[Any] = [
    {"role": "user", "content": f"Where is order A-1001? {SECRET}"},
    {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "tool_use", "id": "t1", "name": "find", "input": {}},
    ]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "on"}]},
    {"role": "assistant", "content": "It is on its way."},
]  # fmt: skip


def clients(server: NativeServer, family: str, kind: str) -> Any:
    """Return a real client; plain HTTP needs no certificates, and loading them takes long."""
    if family == "openai":
        if kind == "sync":
            http: Any = DefaultHttpxClient(verify=False)
            return OpenAI(api_key=KEY, base_url=server.openai_url, http_client=http)
        http = DefaultAsyncHttpxClient(verify=False)
        return AsyncOpenAI(api_key=KEY, base_url=server.openai_url, http_client=http)
    if kind == "sync":
        http = AnthropicHttp(verify=False)
        return Anthropic(api_key=KEY, base_url=server.anthropic_url, http_client=http)
    http = AsyncAnthropicHttp(verify=False)
    return AsyncAnthropic(api_key=KEY, base_url=server.anthropic_url, http_client=http)


BACKENDS: dict[str, Any] = {"openai": OpenAICompaction, "anthropic": AnthropicCompaction}
HEADS = {"openai": RESPONSES, "anthropic": MESSAGES}


def asking(server: NativeServer, family: str, kind: str) -> Ask:
    def ask(items: list[Any] | None = None, *, prefix: Any = (), told: str | None = None, **o: Any):
        options = {"timeout": 5.0, "retries": 0, **o}
        sent = HEADS[family] if items is None else items
        client = clients(server, family, kind)
        backend = BACKENDS[family](client, "model-x", **options)
        if kind == "sync":
            with client:
                return backend.compact(sent, prefix=prefix, instructions=told)

        async def call() -> Compacted:
            async with client:
                return await backend.acompact(sent, prefix=prefix, instructions=told)

        return asyncio.run(call())

    return ask


KINDS = pytest.mark.parametrize("kind", ["sync", "async"])
FAMILIES = pytest.mark.parametrize("family", ["openai", "anthropic"])


@pytest.fixture(params=["sync", "async"])
def openai_ask(request: pytest.FixtureRequest, native_server: NativeServer) -> Ask:
    return asking(native_server, "openai", request.param)


@pytest.fixture(params=["sync", "async"])
def anthropic_ask(request: pytest.FixtureRequest, native_server: NativeServer) -> Ask:
    return asking(native_server, "anthropic", request.param)


# --- What comes back ------------------------------------------------------------------------------


def test_the_window_is_used_as_it_is_with_the_callers_own_messages(openai_ask: Ask) -> None:
    """All user messages come back, and one item for the rest; output-only fields are left out."""
    made = openai_ask()
    assert made.items[0] is RESPONSES[0]
    assert made.items[1] is RESPONSES[5]
    sealed = made.items[2]
    assert sealed == {
        "id": "cmp_1", "type": "compaction", "encrypted_content": sealed["encrypted_content"],
    }  # fmt: skip
    assert opened(sealed) == [i for i in RESPONSES if i.get("type") != "configuration_update"]
    assert made.usage == Usage(900, 70, 64)
    assert (made.model, made.readable, made.requirements) == ("model-x", None, ())
    assert made.llm_calls == 1


def test_the_block_comes_first_in_a_message_of_its_own(
    anthropic_ask: Ask, native_server: NativeServer
) -> None:
    """It is byte for byte what the API returned; its text can be read; usage is the iterations'."""
    made = anthropic_ask()
    (message,) = made.items
    (block,) = block_of(native_server.requests[0].body)["content"]
    assert message == {"role": "assistant", "content": [block]}
    assert opened(message) == MESSAGES
    assert made.readable == block["content"]
    assert made.usage == Usage(144 + 64 + 8, 276, 64)
    assert made.model == "model-x"
    (needed,) = made.requirements
    assert needed.options == {"betas": [BETA]}
    assert needed.indices == (0,)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"tool_changes": []},
        {"encrypted_content": "Z2g=", "tool_changes": None},
        {
            "tool_changes": [
                {"type": "tool_addition", "tool": {"type": "tool_reference", "tool_name": "a"}},
                {"type": "tool_removal", "tool": {"type": "tool_reference", "tool_name": "b"}},
            ]
        },
        {"a_newer_field": {"deep": [1, None]}},
    ],
)
def test_a_block_is_kept_with_every_field_and_no_other(
    anthropic_ask: Ask, native_server: NativeServer, more: dict[str, Any]
) -> None:
    """A field more (`citations: null`), a field less or another value breaks the signature."""
    block = {"type": "compaction", "content": "é\u2028😀 \\u0041", "signature": "Eu+/=="} | more
    native_server.script(lambda body: block_of(body) | {"content": [block]})
    assert anthropic_ask().items == ({"role": "assistant", "content": [block]},)


@FAMILIES
@KINDS
def test_what_comes_back_is_of_the_sdks_input_types(
    native_server: NativeServer, family: str, kind: str
) -> None:
    path = {
        "openai": "openai.types.responses.response_input_item_param:ResponseInputItemParam",
        "anthropic": "anthropic.types.beta.beta_message_param:BetaMessageParam",
    }[family]
    made = asking(native_server, family, kind)()
    assert [refusal(union_named(path), item) for item in made.items] == [""] * len(made.items)


@FAMILIES
@KINDS
def test_a_compaction_can_be_compacted_again(
    native_server: NativeServer, family: str, kind: str
) -> None:
    """The second stands for all that the first stood for, and for what came since."""
    ask = asking(native_server, family, kind)
    first = ask()
    since = [{"role": "user", "content": "And then?"}, {"role": "assistant", "content": "Nothing."}]
    again = ask([*first.items, *since])
    seen = opened(again.items[-1])
    assert all(item in seen for item in HEADS[family] if item.get("type") != "configuration_update")
    assert seen[-2:] == since
    owned = [i for i in again.items if _backend(family).owns(i)]
    assert owned == [again.items[-1]]


def _backend(family: str, **options: Any) -> Any:
    made = {"openai": OpenAI, "anthropic": Anthropic}[family](api_key=KEY)
    return BACKENDS[family](made, "model-x", **options)


@pytest.mark.parametrize(
    ("family", "item", "owned"),
    [
        ("openai", {"type": "compaction", "encrypted_content": "x"}, True),
        (
            "openai",
            ResponseCompactionItem(id="c", type="compaction", encrypted_content="x"),
            True,
        ),
        ("openai", {"type": "compaction", "encrypted_content": ""}, False),
        ("openai", {"type": "compaction_trigger"}, False),
        ("openai", {"role": "user", "content": "compaction"}, False),
        ("openai", "compaction", False),
        (
            "anthropic",
            {"content": [{"type": "compaction", "content": "x", "signature": "s"}]},
            True,
        ),
        (
            "anthropic",
            {"content": [BetaCompactionBlock(type="compaction", content="x", signature="s")]},
            True,
        ),
        ("anthropic", {"content": [{"type": "compaction", "content": "x"}]}, False),
        (
            "anthropic",
            {"content": [{"type": "compaction", "content": None, "signature": "s"}]},
            False,
        ),
        ("anthropic", {"content": [{"type": "text", "text": "x"}]}, False),
        ("anthropic", {"content": []}, False),
        ("anthropic", {"content": "compaction"}, False),
        ("anthropic", None, False),
    ],
)
def test_a_backend_knows_its_providers_own_items(family: str, item: Any, owned: bool) -> None:
    """Anthropic's unsigned blocks are of another feature, and without content of none."""
    assert _backend(family).owns(item) is owned


# --- What is sent ---------------------------------------------------------------------------------


def test_leading_instructions_go_as_instructions_and_not_into_the_item(
    openai_ask: Ask, native_server: NativeServer
) -> None:
    """They stay in front of the list; inside of the item they would outlive a change of them."""
    prefix = [
        {"role": "system", "content": "You are a clerk."},
        {"role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
        {"role": "developer", "content": [{"type": "input_image", "image_url": "u"}]},
    ]
    openai_ask(prefix=prefix, told="Keep the ids.", instructions="Speak French.")
    body = native_server.requests[0].body
    told = "Speak French.\n\nYou are a clerk.\n\nBe brief.\n\nKeep the ids."
    assert body == {
        "model": "model-x",
        "input": [i for i in RESPONSES if i.get("type") != "configuration_update"],
        "instructions": told,
    }
    assert native_server.requests[0].path == "/v1/responses/compact"


def test_without_instructions_there_is_no_such_field(
    openai_ask: Ask, native_server: NativeServer
) -> None:
    openai_ask([*RESPONSES, {"type": "compaction_trigger"}], told=" ", prompt_cache_key="k")
    body = native_server.requests[0].body
    assert set(body) == {"model", "input", "prompt_cache_key"}
    assert body["input"][-1] == RESPONSES[-1]


def test_the_request_to_summarize_carries_the_beta_and_the_conversations_own_fields(
    anthropic_ask: Ask, native_server: NativeServer
) -> None:
    """System prompt and tools must be those of the conversation."""
    tools = [{"name": "find", "input_schema": {"type": "object"}}]
    options: dict[str, Any] = {"system": "Be a clerk.", "tools": tools, "betas": ["other", BETA]}
    anthropic_ask(told="Keep the ids.", **options)
    assert native_server.requests[0].body == {
        "model": "model-x",
        "max_tokens": 8192,
        "system": "Be a clerk.",
        "tools": tools,
        "messages": MESSAGES,
        "compaction": {"type": "summarize", "instructions": "Keep the ids."},
    }
    assert native_server.requests[0].headers["anthropic-beta"] == f"other,{BETA}"


@pytest.mark.parametrize("told", [None, "", " \n"])
def test_blank_instructions_leave_the_servers_own_prompt(
    anthropic_ask: Ask, native_server: NativeServer, told: str | None
) -> None:
    anthropic_ask(told=told)
    assert native_server.requests[0].body["compaction"] == {"type": "summarize"}


def test_objects_of_the_sdk_are_sent_as_what_may_be_sent(
    openai_ask: Ask, native_server: NativeServer
) -> None:
    call = ResponseFunctionToolCall.construct(
        type="function_call", call_id="c1", name="f", arguments="{}", async_=True
    )
    result = {"type": "function_call_output", "call_id": "c1", "output": "x"}
    openai_ask([call, result])
    sent = native_server.requests[0].body["input"][0]
    assert sent["call_id"] == "c1"
    assert "parsed_arguments" not in sent


def test_a_response_of_the_sdk_is_sent_without_its_envelope(
    anthropic_ask: Ask, native_server: NativeServer
) -> None:
    answer = BetaMessage.construct(
        id="msg_1", type="message", role="assistant", model="m", stop_reason="end_turn",
        content=[BetaCompactionBlock.construct(type="text", text="Hello.")],
    )  # fmt: skip
    anthropic_ask([MESSAGES[0], answer])
    sent = native_server.requests[0].body["messages"][1]
    assert sent == {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]}


@FAMILIES
@KINDS
def test_the_items_are_not_changed(native_server: NativeServer, family: str, kind: str) -> None:
    items = copy.deepcopy(HEADS[family])
    asking(native_server, family, kind)(items)
    assert items == HEADS[family]


# --- What is wrong before anything is sent --------------------------------------------------------


def test_instructions_may_be_as_long_as_the_api_allows(
    anthropic_ask: Ask, native_server: NativeServer
) -> None:
    anthropic_ask(told="x" * 16_384)
    with pytest.raises(ValueError, match="16,384 characters at most, not 16,385"):
        anthropic_ask(told="x" * 16_385)
    assert len(native_server.requests) == 1


def test_nothing_may_stand_before_a_block(anthropic_ask: Ask, native_server: NativeServer) -> None:
    with pytest.raises(ValueError, match="nothing may stand before a compaction block"):
        anthropic_ask(prefix=[{"role": "system", "content": "Be a clerk."}])
    assert not native_server.requests


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: OpenAICompaction(Anthropic(api_key=KEY), "m"), "write AnthropicCompaction"),
        (lambda: AnthropicCompaction(OpenAI(api_key=KEY), "m"), "write OpenAICompaction"),
        (lambda: OpenAICompaction("gpt-5", "m"), "a client of the OpenAI SDK, got str"),
        (lambda: OpenAICompaction(OpenAI(api_key=KEY), ""), "needs model="),
        (lambda: _backend("openai", inputs=[]), "takes no inputs"),
        (lambda: _backend("openai", input=[]), "takes no input"),
        (lambda: _backend("openai", previous_response_id="r"), "takes no previous_response_id"),
        (lambda: _backend("anthropic", messages=[]), "takes no messages"),
        (lambda: _backend("anthropic", stop_sequences=["x"]), "takes no stop_sequences"),
        (lambda: _backend("anthropic", context_management={}), "takes no context_management"),
        (lambda: _backend("anthropic", tool_choice={"type": "any"}), "forces a tool"),
        (lambda: _backend("anthropic", tool_choice={"type": "tool", "name": "x"}), "forces a tool"),
        (lambda: _backend("anthropic", output_config={"format": {}}), "output_config.format"),
        (
            lambda: _backend("anthropic", output_format={"type": "json_schema"}),
            "takes no output_format",
        ),
        (
            lambda: _backend("anthropic", output_config={"task_budget": {"remaining": 9}}),
            "task_budget.remaining",
        ),
    ],
)
def test_a_wrong_argument_is_told_when_the_backend_is_made(
    make: Callable[[], Any], words: str
) -> None:
    with pytest.raises(TypeError, match=words):
        make()


@FAMILIES
def test_numbers_are_checked(family: str) -> None:
    with pytest.raises(ValueError, match="timeout"):
        _backend(family, timeout=0)
    with pytest.raises(ValueError, match="timeout must be more than 0 seconds"):
        _backend(family, timeout=float("inf"))
    with pytest.raises(ValueError, match="retries"):
        _backend(family, retries=-1)


def test_the_limit_is_checked() -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        _backend("anthropic", max_tokens=0)


def test_fields_that_the_api_takes_in_some_values_are_taken() -> None:
    config = {"effort": "low", "task_budget": {"type": "tokens", "total": 9}}
    _backend("anthropic", output_config=config, tool_choice={"type": "auto"}, thinking=None)


@FAMILIES
def test_an_async_client_cannot_be_used_synchronously(family: str) -> None:
    made = {"openai": AsyncOpenAI, "anthropic": AsyncAnthropic}[family](api_key=KEY)
    with pytest.raises(TypeError, match=r"await ctx\.asummarize"):
        BACKENDS[family](made, "m").compact(HEADS[family])


def test_a_resource_stands_for_its_client() -> None:
    client = OpenAI(api_key=KEY)
    assert OpenAICompaction(client.responses, "m").client is client


def test_an_old_sdk_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both SDKs are supported in versions that cannot compact."""

    def create(*, model: str, messages: list[Any]) -> None: ...

    client = Anthropic(api_key=KEY)
    monkeypatch.setattr(client.beta.messages, "create", create)
    with pytest.raises(MissingExtraError, match=r'pip install "anthropic>=1.6.0"') as caught:
        AnthropicCompaction(client, "m")
    assert caught.value.extra == "anthropic"
    monkeypatch.delattr(openai.resources.responses.Responses, "compact")
    with pytest.raises(MissingExtraError, match=r'pip install "openai>=2.9.0"'):
        OpenAICompaction(OpenAI(api_key=KEY), "m")


def test_a_field_that_the_sdk_takes_for_unset_is_not_there() -> None:
    """A host may have one set of fields for all of its requests."""
    fields: dict[str, Any] = {"system": "s", "stop_sequences": anthropic.NOT_GIVEN}
    messages = AnthropicCompaction(Anthropic(api_key=KEY), "m", **fields)
    assert messages.request == {"system": "s"}
    fields = {"previous_response_id": openai.NOT_GIVEN}
    responses = OpenAICompaction(OpenAI(api_key=KEY), "m", **fields)
    assert responses.request == {}


def test_a_method_that_something_wraps_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instrumentation hides the fields that the SDK's method takes."""

    def wrapped(*args: Any, **fields: Any) -> None: ...

    client = Anthropic(api_key=KEY)
    monkeypatch.setattr(client.beta.messages, "create", wrapped)
    assert AnthropicCompaction(client, "m", anything=1).request == {"anything": 1}
    assert (
        "anything" not in inspect.signature(Anthropic(api_key=KEY).beta.messages.create).parameters
    )


@FAMILIES
def test_a_backend_shows_nothing_of_what_it_holds(family: str) -> None:
    kept = {"openai": {"instructions": SECRET}, "anthropic": {"system": SECRET}}[family]
    shown = repr(_backend(family, **kept))
    assert "model-x" in shown
    assert SECRET not in shown
    assert KEY not in shown


def test_what_was_made_shows_nothing_of_the_conversation(
    openai_ask: Ask, anthropic_ask: Ask
) -> None:
    for made in (openai_ask(), anthropic_ask()):
        assert SECRET not in repr(made)
        assert "Summary" not in repr(made)


# --- What goes wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "error", "words"),
    [
        ("refusal", RefusedSummaryError, r"refused \(cyber\)"),
        ("tool_use", NoAnswerError, "called a tool"),
        ("end_turn", EmptySummaryError, "no text"),
        ("pause_turn", EmptySummaryError, "no text"),
        ("model_context_window_exceeded", SummarizerError, "no room"),
    ],
)
def test_a_failure_with_status_200_has_its_own_error(
    anthropic_ask: Ask,
    native_server: NativeServer,
    reason: str,
    error: type[SummaryError],
    words: str,
) -> None:
    """The content is empty then, and the call is billed all the same."""
    native_server.script(lambda body: ended(reason, body))
    with pytest.raises(error, match=words) as caught:
        anthropic_ask()
    assert caught.value.usage == Usage(216, 276, 64)
    assert caught.value.llm_calls == 1
    assert getattr(caught.value, "overflow", False) is (reason == "model_context_window_exceeded")


def test_a_summary_that_was_cut_off_is_asked_for_once_more(
    anthropic_ask: Ask, native_server: NativeServer
) -> None:
    native_server.script(lambda body: ended("max_tokens", body), block_of)
    made = anthropic_ask(max_tokens=500)
    assert [r.body["max_tokens"] for r in native_server.requests] == [500, 1000]
    assert made.usage == Usage(432, 552, 128)
    assert made.llm_calls == 2


def test_a_summary_that_was_cut_off_twice_is_an_error(
    anthropic_ask: Ask, native_server: NativeServer
) -> None:
    native_server.default = lambda body: ended("max_tokens", body)
    with pytest.raises(TruncatedSummaryError, match="larger max_tokens") as caught:
        anthropic_ask()
    assert caught.value.usage == Usage(432, 552, 128)
    assert caught.value.llm_calls == 2


def test_a_failure_after_a_cut_names_what_both_calls_cost(
    anthropic_ask: Ask, native_server: NativeServer
) -> None:
    native_server.script(lambda body: ended("max_tokens", body), server_error())
    with pytest.raises(SummarizerError, match="status 500") as caught:
        anthropic_ask()
    assert caught.value.usage == Usage(216, 276, 64)
    assert caught.value.llm_calls == 2


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("compaction_block_ambiguous", 400, "more than one compaction block"),
        ("compaction_block_misplaced", 400, "stand before the compaction block"),
        ("compaction_content_mismatch", 400, "text of the compaction block was changed"),
        ("compaction_incomplete_turn", 400, "tool call without a result"),
        ("compaction_nothing_to_summarize", 400, "nothing to summarize"),
        ("compaction_signature_invalid", 400, "signature of the compaction block"),
        ("compaction_too_many_tool_references", 400, "more tools than"),
        ("compaction_tool_changes_mismatch", 400, "tool changes of the compaction block"),
        ("compaction_unavailable", 529, "cannot compact at the moment"),
    ],
)
def test_a_code_of_the_api_is_put_into_words(
    anthropic_ask: Ask, native_server: NativeServer, name: str, status: int, words: str
) -> None:
    native_server.script(code(name, status))
    with pytest.raises(SummarizerError, match=words) as caught:
        anthropic_ask()
    assert f"({status} {name})" in str(caught.value)
    assert type(caught.value.__cause__).__module__.startswith("anthropic")


def test_a_server_that_cannot_compact_at_the_moment_is_asked_again(
    anthropic_ask: Ask, native_server: NativeServer
) -> None:
    native_server.script(code("compaction_unavailable", 529))
    assert anthropic_ask(retries=1).llm_calls == 1
    assert len(native_server.requests) == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m | {"content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn"},
         "replied instead of compacting"),
        (lambda m: m | {"content": [{"type": "text", "text": "Hi."}]}, "not one signed"),
        (lambda m: m | {"content": []}, "not one signed"),
        (lambda m: m | {"content": m["content"] * 2}, "not one signed"),
        (lambda m: m | {"content": [m["content"][0] | {"signature": None}]}, "not one signed"),
        (lambda m: m | {"content": [m["content"][0] | {"content": None}]}, "not one signed"),
        (lambda m: {"hello": "world"}, "holds no content"),
    ],
)  # fmt: skip
def test_an_answer_that_is_no_compaction_is_refused(
    anthropic_ask: Ask, native_server: NativeServer, change: Callable[[Any], Any], words: str
) -> None:
    native_server.script(lambda body: change(block_of(body)))
    with pytest.raises(SummarizerError, match=words):
        anthropic_ask()


def test_a_blank_block_is_an_empty_summary(anthropic_ask: Ask, native_server: NativeServer) -> None:
    block = {"type": "compaction", "content": " \n", "signature": "s"}
    native_server.script(lambda body: block_of(body) | {"content": [block]})
    with pytest.raises(EmptySummaryError, match="blank"):
        anthropic_ask()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda w: w | {"output": []}, SummarizerError, "no compaction item"),
        (lambda w: w | {"output": w["output"][:-1]}, SummarizerError, "no compaction item"),
        (lambda w: {"hello": "world"}, SummarizerError, "holds no output"),
        (lambda w: w | {"output": [w["output"][-1] | {"encrypted_content": ""}]},
         EmptySummaryError, "is empty"),
    ],
)  # fmt: skip
def test_a_window_without_a_compaction_item_is_refused(
    openai_ask: Ask,
    native_server: NativeServer,
    change: Callable[[Any], Any],
    error: type[SummaryError],
    words: str,
) -> None:
    native_server.script(lambda body: change(window_of(body)))
    with pytest.raises(error, match=words):
        openai_ask()


@FAMILIES
@KINDS
@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (rate_limited(), "rate limited"),
        (server_error(), "status 500"),
        (cut(), "connection failed"),
        (Failure(404, "no such endpoint"), "not found"),
        (Failure(413, "too large"), "exceeds the model's window"),
        (Raw("<html>", "text/html", 502), "status 502"),
    ],
)
def test_a_failed_request_is_told_with_its_cause(
    native_server: NativeServer, family: str, kind: str, behaviour: Any, words: str
) -> None:
    native_server.script(behaviour)
    with pytest.raises(SummarizerError, match=words) as caught:
        asking(native_server, family, kind)()
    assert caught.value.__cause__ is not None
    assert caught.value.llm_calls == 1


@FAMILIES
@KINDS
def test_a_request_that_failed_is_repeated(
    native_server: NativeServer, family: str, kind: str
) -> None:
    native_server.script(server_error())
    asking(native_server, family, kind)(retries=1)
    assert len(native_server.requests) == 2


@FAMILIES
@KINDS
def test_a_request_ends_at_its_time_limit(
    native_server: NativeServer, family: str, kind: str
) -> None:
    native_server.script(hang())
    with pytest.raises(SummarizerError, match=r"timed out after 0\.2 s"):
        asking(native_server, family, kind)(timeout=0.2)


def test_what_a_filter_withholds_is_a_refusal(openai_ask: Ask, native_server: NativeServer) -> None:
    native_server.script(Failure(400, "filtered", code="content_filter"))
    with pytest.raises(RefusedSummaryError, match="content filter"):
        openai_ask()


@FAMILIES
@KINDS
def test_words_of_the_conversation_are_left_out_of_errors(
    native_server: NativeServer, family: str, kind: str
) -> None:
    native_server.script(Failure(400, f"cannot read: {SECRET}"))
    with pytest.raises(SummarizerError) as caught:
        asking(native_server, family, kind)()
    assert "turquoise" not in str(caught.value)
    assert "repeats the prompt" in str(caught.value)


@FAMILIES
def test_a_cancelled_request_gives_nothing(native_server: NativeServer, family: str) -> None:
    waiting = delay(5)
    native_server.script(waiting)

    async def call() -> None:
        async with clients(native_server, family, "async") as client:
            backend = BACKENDS[family](client, "m", timeout=5.0)
            task = asyncio.create_task(backend.acompact(HEADS[family]))
            await asyncio.to_thread(waiting.arrived.wait, 5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(call())


@FAMILIES
def test_a_sync_client_does_not_hold_up_the_loop(native_server: NativeServer, family: str) -> None:
    waiting = delay(5)
    native_server.script(waiting)

    async def call() -> Compacted:
        with clients(native_server, family, "sync") as client:
            backend = BACKENDS[family](client, "m", timeout=5.0)
            task = asyncio.create_task(backend.acompact(HEADS[family]))
            while not waiting.arrived.is_set():  # noqa: ASYNC110 - a thread sets it
                await asyncio.sleep(0.005)
            waiting.release.set()
            return await task

    assert asyncio.run(call()).llm_calls == 1


# --- What is put in place of what -----------------------------------------------------------------


def with_output(body: dict[str, Any], *kept: Any) -> dict[str, Any]:
    """Return a window with other items in front of the compaction than the users' messages."""
    window = window_of(body)
    return window | {"output": [*kept, window["output"][-1]]}


def test_other_items_of_a_window_are_kept_and_may_be_sent(
    openai_ask: Ask, native_server: NativeServer
) -> None:
    """An answer without its reasoning has no id by which the server would look for that."""
    text = {"type": "output_text", "text": "Done.", "annotations": []}
    answer = {
        "type": "message", "id": "msg_9", "role": "assistant", "status": "completed",
        "content": [text],
    }  # fmt: skip
    call = {"type": "function_call", "id": "fc_9", "call_id": "c9", "name": "f", "arguments": "{}"}
    outcome = {"type": "exit", "exit_code": 0}
    chunk = {"stdout": "x", "stderr": "", "outcome": outcome}
    shell = {"type": "shell_call_output", "id": "sho_1", "call_id": "s1", "status": "completed",
             "output": [chunk | {"created_by": "api"}], "max_output_length": 9}  # fmt: skip
    custom = {"type": "custom_tool_call_output", "id": "cto_1", "call_id": "c8", "output": "x",
              "status": "completed", "created_by": "api"}  # fmt: skip
    kept = [answer, call, shell, custom]
    native_server.script(lambda body: with_output(body, *kept))
    made = openai_ask().items[:4]
    assert made == (
        {k: v for k, v in answer.items() if k != "id"},
        {k: v for k, v in call.items() if k != "id"},
        shell | {"output": [chunk]},
        {k: v for k, v in custom.items() if k not in ("created_by", "status")},
    )


def test_an_answer_with_its_reasoning_keeps_its_id(
    openai_ask: Ask, native_server: NativeServer
) -> None:
    reasoning = {"type": "reasoning", "id": "rs_9", "summary": []}
    call = {"type": "function_call", "id": "fc_9", "call_id": "c9", "name": "f", "arguments": "{}"}
    native_server.script(lambda body: with_output(body, reasoning, call))
    assert openai_ask().items[:2] == (reasoning, call)


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def back(text: str) -> dict[str, Any]:
    blocks = [{"type": "input_text", "text": text}]
    return {"type": "message", "id": "m", "role": "user", "status": "completed", "content": blocks}


def test_of_equal_messages_the_latest_come_back() -> None:
    items = [user("yes"), user("no"), user("yes"), {"role": "assistant", "content": "yes"}]
    made = _with_own([back("yes"), {"type": "compaction"}], items)
    assert made[0] is items[2]
    both = _with_own([back("yes"), back("yes"), back("other")], items)
    assert both[0] is items[0]
    assert both[1] is items[2]
    assert both[2] == back("other")


def test_a_message_with_a_picture_is_known_by_the_picture() -> None:
    def shown(name: str) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "input_image", "image_url": name}]}

    items = [shown("a"), shown("b"), user("")]
    made = _with_own([shown("a") | {"id": "m"}, shown("c")], items)
    assert made[0] is items[0]
    assert made[1] == shown("c")


@given(st.lists(st.sampled_from("abcd"), max_size=12), st.data())
def test_own_messages_keep_their_order(words: list[str], data: st.DataObject) -> None:
    """Whatever part of the messages comes back, each is found once, and none changes places."""
    items = [user(word) for word in words]
    chosen = data.draw(st.sets(st.integers(0, max(0, len(words) - 1))) if words else st.just(set()))
    window = [back(words[i]) for i in sorted(chosen)]
    made = _with_own(window, items)
    places = [next(i for i, item in enumerate(items) if item is one) for one in made]
    assert places == sorted(set(places))
    assert [items[i]["content"] for i in places] == [words[i] for i in sorted(chosen)]


def test_finding_own_messages_takes_a_time_that_grows_with_their_number() -> None:
    """Thousands of equal messages are found without comparing each with each."""

    def seconds(count: int) -> float:
        items = [user("yes") for _ in range(count)]
        window = [back("yes") for _ in range(count)]
        assert _with_own(window, items)[0] is items[0]
        return quickest(lambda: _with_own(window, items))

    assert seconds(8_000) < 12 * max(seconds(2_000), 0.001)
