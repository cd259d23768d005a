"""Capture of google-genai's responses and streams, by the real SDK over HTTP."""

from __future__ import annotations

import copy
import json
from base64 import b64encode
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import pytest
from capture.native_servers import Answered, CaptureSuite, Host, NativeServer, sse
from google import genai
from google.genai import types
from validator import validate

from chatfold import ChatContext
from chatfold.capture import captured, gemini
from chatfold.core.flow import Usage
from chatfold.shapes import shape_named

SIGNED = b64encode(b"signed by the model").decode()
TOKENS = {
    "promptTokenCount": 40,
    "toolUsePromptTokenCount": 2,
    "candidatesTokenCount": 7,
    "thoughtsTokenCount": 5,
    "cachedContentTokenCount": 30,
    "totalTokenCount": 54,
}
USED = Usage(42, 12, 30, context_tokens=47)


def chunk(*parts: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a chunk, or a whole response."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "gemini-3.8-flash", **more}


def answer(
    parts: list[Any],
    pieces: list[list[Any]],
    calls: list[str] | None = None,
    ends: int | None = None,
) -> Answered:
    """Return an answer whose stream brings one list of parts in each chunk."""
    last = len(pieces) - 1
    chunks = [
        chunk(*piece, finish="STOP" if n == last else None, usageMetadata=TOKENS)
        for n, piece in enumerate(pieces)
    ]
    whole = chunk(*parts, finish="STOP", usageMetadata=TOKENS)
    return Answered(whole, sse(*chunks), ends or len(chunks), USED, calls or [])


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"text": words, **more}


def call(name: str, args: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args}, **more}


ANSWERS = {
    "words": answer(
        [text("The weather in Rome is fine.")],
        [[text("The weather")], [text(" in Rome"), text(" is")], [text(" fine.")], [text("")]],
    ),
    "signed last": answer(
        [text("Fine."), text("", thoughtSignature=SIGNED)],
        [[text("Fi")], [text("ne.")], [text("", thoughtSignature=SIGNED)]],
    ),
    "signed between": answer(
        [text("a"), text("b", thoughtSignature=SIGNED), text("cd")],
        [[text("a")], [text("b", thoughtSignature=SIGNED)], [text("c")], [text("d")]],
    ),
    "thoughts and calls": answer(
        [
            text("Two tools are needed.", thought=True),
            text("I look."),
            call("weather", {"city": "Rome", "days": 2}, thoughtSignature=SIGNED),
            call("weather", {"city": "Oslo"}),
            call("news", {}),
        ],
        [
            [text("Two tools", thought=True)],
            [text(" are needed.", thought=True)],
            [text("I ")],
            [
                text("look."),
                call("weather", {"city": "Rome", "days": 2}, thoughtSignature=SIGNED),
            ],
            [call("weather", {"city": "Oslo"}), call("news", {})],
            [text("")],
        ],
        ["weather", "weather", "news"],
    ),
    "calls with ids": answer(
        [{"functionCall": {"id": "fc-1", "name": "weather", "args": {"city": "Rome"}}}],
        [[{"functionCall": {"id": "fc-1", "name": "weather", "args": {"city": "Rome"}}}]],
        ["weather"],
    ),
    "server tools": answer(
        [
            text("I compute."),
            {"executableCode": {"language": "PYTHON", "code": "print(6*7)"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "42\n"}},
            text("It is 42."),
            {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}},
        ],
        [
            [text("I "), text("compute.")],
            [{"executableCode": {"language": "PYTHON", "code": "print(6*7)"}}],
            [{"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "42\n"}}],
            [text("It is")],
            [text(" 42."), {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}],
        ],
    ),
}


class TestGemini(CaptureSuite):
    """google-genai's `generate_content` and `generate_content_stream`, sync and async."""

    shape = "gemini"
    user: ClassVar[Any] = types.Content(role="user", parts=[types.Part(text="How is the weather?")])
    answers = ANSWERS
    model = "gemini-3.8-flash"

    def call(self, url: str, items: list[Any]) -> Any:
        return client(url).models.generate_content(model="gemini-3.8-flash", contents=items)

    def stream(self, url: str, items: list[Any]) -> Any:
        return client(url).models.generate_content_stream(model="gemini-3.8-flash", contents=items)

    async def acall(self, url: str, items: list[Any]) -> Any:
        made = client(url).aio.models
        return await made.generate_content(model="gemini-3.8-flash", contents=items)

    async def astream(self, url: str, items: list[Any]) -> Any:
        made = client(url).aio.models
        return await made.generate_content_stream(model="gemini-3.8-flash", contents=items)

    def sent(self, body: dict[str, Any]) -> list[Any]:
        # The SDK itself writes some names in its own spelling; the server knows both.
        return [types.Content.model_validate(content) for content in body["contents"]]

    def written(self, answered: Answered, ids: list[str | None]) -> Any:
        content = copy.deepcopy(answered.whole["candidates"][0]["content"])
        calls = [p["functionCall"] for p in content["parts"] if "functionCall" in p]
        for made, id_ in zip(calls, ids, strict=True):
            made["id"] = id_
        return types.Content.model_validate(content)


@cache
def client(url: str) -> genai.Client:
    """Return a client of the Gemini API; one that nobody holds closes itself."""
    return genai.Client(api_key="test", http_options=types.HttpOptions(base_url=url))


def test_a_content_is_stored_as_the_sdk_made_it(server: NativeServer) -> None:
    """What needs no id is the response's own object, so no signature is encoded anew."""
    server.answer(ANSWERS["signed last"], streamed=False)
    response = client(server.url).models.generate_content(model="m", contents="hi")
    host = Host([])
    host.add_response(response)
    assert host.added[0] is response.candidates[0].content
    assert host.added[0].parts[1].thought_signature == b"signed by the model"


def test_one_of_several_candidates_has_to_be_chosen() -> None:
    """A history goes on with one answer; which one only the caller knows."""
    contents = [types.Content(role="model", parts=[types.Part(text=t)]) for t in ("a", "b")]
    candidates = [types.Candidate(content=c, index=n) for n, c in enumerate(contents)]
    response = types.GenerateContentResponse(candidates=candidates)
    with pytest.raises(ValueError, match="2 answers"):
        gemini.outputs(response, choice=None)
    with pytest.raises(ValueError, match="no choice 2"):
        gemini.outputs(response, choice=2)
    assert gemini.outputs(response, choice=1).items == (contents[1],)


def test_of_a_stream_with_several_candidates_the_first_is_recorded(server: NativeServer) -> None:
    """The others are left out, and the log says so."""
    chunks = [chunk(text("a1")), chunk(text("b1")), chunk(text("a2"), finish="STOP")]
    chunks[1]["candidates"][0]["index"] = 1
    server.answer(Answered({}, sse(*chunks), 3, None), streamed=True)
    host = Host([])
    stream = host.record(client(server.url).models.generate_content_stream(model="m", contents="?"))
    assert len(list(stream)) == 3
    assert host.added == [types.Content(role="model", parts=[types.Part(text="a1a2")])]
    assert stream.unfinished == "1 more choices (only the first is recorded)"


@pytest.mark.parametrize(
    "response",
    [
        {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": TOKENS},
        chunk(finish="MAX_TOKENS", usageMetadata=TOKENS),
        chunk({"text": ""}, finish="STOP", usageMetadata=TOKENS),
        {"candidates": [{"finishReason": "SAFETY"}], "usageMetadata": TOKENS},
    ],
    ids=["blocked prompt", "no parts", "empty part", "no content"],
)
def test_an_answer_without_content_adds_no_item(
    server: NativeServer, response: dict[str, Any]
) -> None:
    """A blocked or empty answer leaves the history as it was; its tokens count."""
    answered = Answered(response, sse(response), 1, USED)
    whole, streamed = Host([]), Host([])
    server.answer(answered, streamed=False)
    whole.add_response(client(server.url).models.generate_content(model="m", contents="?"))
    server.answer(answered, streamed=True)
    models = client(server.url).models
    stream = streamed.record(models.generate_content_stream(model="m", contents="?"))
    assert len(list(stream)) == 1
    assert stream.unfinished == ""
    assert whole.added == streamed.added == []
    assert whole.usage == streamed.usage == USED


@pytest.mark.parametrize("answered", ANSWERS.values(), ids=ANSWERS.keys())
def test_json_is_captured_as_the_objects_are(answered: Answered) -> None:
    """The JSON of the REST interface, whole or in chunks, gives what the server wrote."""
    host = Host([])
    chunks = [json.loads(e.removeprefix(b"data: ")) for e in answered.events]
    list(host.record(iter(chunks)))
    assert host.added == list(captured(answered.whole, shape_named, []).items)
    contents = [types.Content.model_validate(item) for item in host.added]
    assert [c.role for c in contents] == ["model"]


def pieces(*values: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"functionCall": {"partialArgs": list(values), "willContinue": True, **more}}


STREAMED_CALLS = [
    [
        text("I look."),
        {
            "functionCall": {"id": "f1", "name": "weather", "willContinue": True},
            "thoughtSignature": SIGNED,
        },
    ],
    [pieces({"jsonPath": "$.city", "stringValue": "Ro", "willContinue": True})],
    [pieces({"jsonPath": "$.city", "stringValue": "me"})],
    [pieces({"jsonPath": "$.days", "numberValue": 2.0}, {"jsonPath": "$.far", "boolValue": False})],
    [pieces({"jsonPath": "$.at.hours[0]", "numberValue": 1.5})],
    [pieces({"jsonPath": "$.at.hours[1]", "nullValue": "NULL_VALUE"})],
    [pieces({"jsonPath": "$['o''clock']", "stringValue": "no path"})],
    [pieces({"jsonPath": "$.at['the \\'place\\'']", "stringValue": "p"}, willContinue=False)],
    [text("And:")],
    [{"functionCall": {"id": "f2", "name": "now", "willContinue": True}}],
    [{"functionCall": {}, "thoughtSignature": SIGNED}],
    [{"functionCall": {"id": "f4", "name": "news", "willContinue": True}}],
    [{"functionCall": {"name": "weather", "args": {"city": "Oslo"}, "id": "f3"}}, text("")],
    [{"functionCall": {"id": "f5", "name": "last", "willContinue": True}}],
]


@pytest.mark.parametrize("kind", ["objects", "json"])
def test_arguments_that_are_streamed_are_put_together(kind: str) -> None:
    """Vertex AI streams a call's arguments value by value, each with its JSON path."""
    last = len(STREAMED_CALLS) - 1
    chunks: list[Any] = [
        chunk(*parts, finish="STOP" if n == last else None)
        for n, parts in enumerate(STREAMED_CALLS)
    ]
    if kind == "objects":
        chunks = [types.GenerateContentResponse.model_validate(c) for c in chunks]
    host = Host([])
    list(host.record(iter(chunks)))
    args = {
        "city": "Rome",
        "days": 2,
        "far": False,
        "at": {"hours": [1.5, None], "the 'place'": "p"},
        "$['o''clock']": "no path",
    }
    (item,) = host.added
    found = types.Content.model_validate(item)
    assert found == types.Content.model_validate(
        {
            "role": "model",
            "parts": [
                text("I look."),
                {
                    "functionCall": {"id": "f1", "name": "weather", "args": args},
                    "thoughtSignature": SIGNED,
                },
                text("And:"),
                {
                    "functionCall": {"id": "f2", "name": "now", "args": {}},
                    "thoughtSignature": SIGNED,
                },
                {"functionCall": {"id": "f4", "name": "news", "args": {}}},
                {"functionCall": {"id": "f3", "name": "weather", "args": {"city": "Oslo"}}},
                {"functionCall": {"id": "f5", "name": "last", "args": {}}},
            ],
        }
    )
    assert type(found.parts[1].function_call.args["days"]) is int
    calls = ChatContext([TestGemini.user, item], shape="gemini").tool_calls()
    assert [c.id for c in calls] == ["f1", "f2", "f4", "f3", "f5"]


@pytest.mark.parametrize("reason", ["MAX_TOKENS", "OTHER"])
def test_a_call_that_was_cut_off_in_its_streamed_arguments_is_not_run(reason: str) -> None:
    """The values so far, the last one half written, must not pass for what the model wanted."""
    begun = {"functionCall": {"id": "f1", "name": "delete", "willContinue": True}}
    chunks = [
        chunk(begun),
        chunk(pieces({"jsonPath": "$.path", "stringValue": "/srv/t", "willContinue": True})),
        chunk(finish=reason),
    ]
    for made in (chunks, [types.GenerateContentResponse.model_validate(c) for c in chunks]):
        items: list[Any] = [{"role": "user", "parts": [text("Clean up.")]}]
        ctx = ChatContext(items, shape="gemini")
        list(ctx.record(iter(made)))
        assert len(items) == 2
        run = ctx.run_tool_calls({"delete": lambda path: path})
        assert [answer.failed for answer in run.answers] == [True]
        assert "they were cut off" in run.answers[0].text


def test_a_call_whose_arguments_still_come_is_not_stored() -> None:
    """A stream that ends inside of a call's arguments leaves no half call behind."""
    for cut in range(len(STREAMED_CALLS)):
        host = Host([])
        stream = host.record(iter([chunk(*parts) for parts in STREAMED_CALLS[:cut]]))
        list(stream)
        assert host.added == []
        assert stream.unfinished == ("a message" if cut else "")


@pytest.fixture(scope="module")
def server() -> Any:
    """A running server."""
    with NativeServer("text/event-stream").running() as running:
        yield running


def weather(city: str) -> str:
    """Return the weather of a city."""
    return f"fine in {city}"


weather.__annotations__ = {"city": str, "return": str}  # google-genai 1.50 reads no names of types

ASKED = answer([call("weather", {"city": "Rome"})], [[call("weather", {"city": "Rome"})]])
streams_calls = pytest.mark.skipif(
    genai.__version__.startswith("1."),
    reason="streamed, google-genai 1.50 keeps its first call for itself and sends others twice",
)
AUTOMATIC = [
    answer([call("weather", {"city": "Rome"})], [[call("weather", {"city": "Rome"})], [text("")]]),
    answer(
        [text("And Oslo."), call("weather", {"city": "Oslo"})],
        [[text("And ")], [text("Oslo."), call("weather", {"city": "Oslo"})]],
    ),
    answer([text("Both are fine.")], [[text("Both")], [text(" are fine.")]]),
]


@streams_calls
@pytest.mark.anyio
@pytest.mark.parametrize("way", ["sync", "async"])
async def test_calls_that_the_sdk_ran_by_itself_are_captured(
    way: str, server: NativeServer
) -> None:
    """Automatic function calling loses no call and no result, whole or streamed."""
    config = types.GenerateContentConfig(tools=[weather])
    before = [
        TestGemini.user,
        types.Content(role="model", parts=[types.Part(text="I see.")]),
        types.Content(role="user", parts=[types.Part(text="Go on.")]),
    ]
    asked: Any = {"model": "m", "contents": before, "config": config}
    models = client(server.url).models if way == "sync" else client(server.url).aio.models
    whole, streamed = Host(before), Host(before)
    server.answer(*AUTOMATIC, streamed=False)
    response: Any = models.generate_content(**asked)
    whole.add_response(response if way == "sync" else await response)
    server.answer(*AUTOMATIC, streamed=True)
    stream: Any = models.generate_content_stream(**asked)
    if way == "sync":
        list(streamed.record(stream))
    else:
        async for _ in streamed.record(await stream):
            pass
    assert [item.role for item in whole.added] == ["model", "user", "model", "user", "model"]
    assert streamed.added == whole.added
    ctx = ChatContext(whole.items, shape="gemini")
    assert [(c.arguments, c.result, c.status) for c in ctx.tool_calls()] == [
        ({"city": "Rome"}, "fine in Rome", "completed"),
        ({"city": "Oslo"}, "fine in Oslo", "completed"),
    ]
    assert [p for p in ctx.check() if p.severity != "warning"] == []


def test_results_that_the_host_wrote_are_not_captured_again(server: NativeServer) -> None:
    """Only what the SDK itself has just added to the history is new."""
    made = call("weather", {"city": "Bonn"})
    made["functionCall"]["id"] = "fc-1"
    result = types.FunctionResponse(id="fc-1", name="weather", response={"result": "wet"})
    before = [
        TestGemini.user,
        types.Content.model_validate({"role": "model", "parts": [made]}),
        types.Content(role="user", parts=[types.Part(function_response=result)]),
    ]
    server.answer(*AUTOMATIC, streamed=False)
    host = Host(before)
    config = types.GenerateContentConfig(tools=[weather])
    models = client(server.url).models
    host.add_response(models.generate_content(model="m", contents=before, config=config))
    assert [item.role for item in host.added] == ["model", "user", "model", "user", "model"]


def tool_parts(contents: list[Any]) -> list[str]:
    """Return the calls and results of contents, in order."""
    made: list[str] = []
    for content in contents:
        for part in types.Content.model_validate(content).parts:
            if part.function_call:
                made.append(f"call for {part.function_call.args['city']}")
            elif part.function_response:
                made.append(part.function_response.response["result"])
    return made


def test_a_whole_answer_puts_in_no_call_that_stands_in_the_list(server: NativeServer) -> None:
    """The SDK gives back the history that it was given, with the results that the host wrote."""
    config = types.GenerateContentConfig(tools=[weather])
    ctx = ChatContext([TestGemini.user], shape="gemini")
    made: dict[str, Any] = {"model": "m", "contents": ctx.items}
    by_hand = types.Part.from_function_response(name="weather", response={"result": "by hand"})
    models = client(server.url).models
    for _ in range(2):
        server.answer(ASKED, streamed=False)
        ctx.add_response(models.generate_content(**made))
        ctx.append(types.Content(role="user", parts=[by_hand]))
        server.answer(ASKED, AUTOMATIC[-1], streamed=False)
        ctx.add_response(models.generate_content(**made, config=config))
    assert [c.result for c in ctx.tool_calls()] == ["by hand", "fine in Rome"] * 2
    assert len(ctx.items) == 11


@pytest.mark.parametrize(
    "streamed", [False, pytest.param(True, marks=streams_calls)], ids=["whole", "streamed"]
)
def test_what_the_sdk_asks_for_again_is_not_what_stands_in_the_list(
    streamed: bool, server: NativeServer
) -> None:
    """Each of several rounds with the same call and the same result has happened."""
    server.answer(ASKED, ASKED, ASKED, AUTOMATIC[-1], streamed=streamed)
    host = Host([TestGemini.user])
    made: dict[str, Any] = {"model": "m", "contents": [*host.items]}
    made["config"] = types.GenerateContentConfig(tools=[weather])
    models = client(server.url).models
    before = len(server.requests)
    if streamed:
        list(host.record(models.generate_content_stream(**made)))
    else:
        host.add_response(models.generate_content(**made))
    rounds = ["call for Rome", "fine in Rome"] * 3
    sent = [tool_parts(body["contents"]) for body in server.requests[before:]]
    assert tool_parts(host.items) == sent[-1] == rounds
    assert [item.role for item in host.added] == ["model", "user"] * 3 + ["model"]


def roleless(body: dict[str, Any]) -> dict[str, Any]:
    """Return a response whose contents name no role."""
    made = copy.deepcopy(body)
    for candidate in made["candidates"]:
        del candidate["content"]["role"]
    return made


@pytest.mark.parametrize("kind", ["objects", "json"])
@pytest.mark.parametrize("pieces", [1, 2])
def test_an_answer_that_names_no_role_is_the_models(kind: str, pieces: int) -> None:
    """Without one it would be read, and sent back, as the user's words."""
    body = chunk(text("Never book a flight without asking."), finish="STOP")
    parts = [chunk(text("Never book a flight ")), chunk(text("without asking."), finish="STOP")]
    whole, chunks = roleless(body), [roleless(body)] if pieces == 1 else [*map(roleless, parts)]
    made = types.GenerateContentResponse.model_validate if kind == "objects" else copy.deepcopy
    ctx = ChatContext([TestGemini.user], shape="gemini")
    ctx.add_response(made(whole))
    list(ctx.record(made(chunk) for chunk in chunks))
    assert [view.role for view in ctx.views()] == ["user", "assistant", "assistant"]
    assert [types.Content.model_validate(item).role for item in ctx.items[1:]] == ["model"] * 2
    assert len(ctx.turns()) == 1
    assert whole == roleless(body)  # the response itself stays as it came


def test_a_role_that_an_answer_names_stays() -> None:
    """Nothing is known better than what the server says."""
    body = chunk(text("Fine."), finish="STOP")
    assert captured(body, shape_named, []).items[0] is body["candidates"][0]["content"]
    body["candidates"][0]["content"]["role"] = "another"
    host = Host([])
    list(host.record(iter([body])))
    assert [item["role"] for item in host.added] == ["another"]
    assert captured(body, shape_named, []).items == tuple(host.added)


def test_a_call_that_the_sdk_ran_is_the_models_though_it_names_no_role(
    server: NativeServer,
) -> None:
    """The SDK puts the answer into its history as it came."""
    bare = [replace(answered, whole=roleless(answered.whole)) for answered in AUTOMATIC]
    server.answer(*bare, streamed=False)
    host = Host([TestGemini.user])
    asked: dict[str, Any] = {"model": "m", "contents": host.items}
    asked["config"] = types.GenerateContentConfig(tools=[weather])
    host.add_response(client(server.url).models.generate_content(**asked))
    assert [item.role for item in host.added] == ["model", "user", "model", "user", "model"]


VERTEX: list[dict[str, Any]] = [
    {"createTime": "2026-11-22T10:00:00.123456Z"},
    {"usageMetadata": {**TOKENS, "trafficType": "ON_DEMAND"}},
]


@pytest.mark.parametrize("told", VERTEX, ids=["createTime", "trafficType"])
@pytest.mark.parametrize("kind", ["objects", "json"])
@pytest.mark.parametrize("way", ["whole", "streamed"])
def test_vertex_ai_gets_no_ids_that_it_did_not_write(
    told: dict[str, Any], kind: str, way: str
) -> None:
    """It refuses them; calls and results then pair by name and order, and name no id."""
    calls = [call("weather", {"city": c}) for c in ("Rome", "Oslo")]
    pieces = [chunk(calls[0]), chunk(calls[1], finish="STOP", **told)]
    whole = chunk(*calls, finish="STOP", **told)
    made: Any = [whole] if way == "whole" else pieces
    if kind == "objects":
        made = [types.GenerateContentResponse.model_validate(m) for m in made]
    ctx = ChatContext([TestGemini.user], shape="gemini")
    if way == "whole":
        ctx.add_response(made[0])
    else:
        list(ctx.record(iter(made)))
    assert [c.id for c in ctx.tool_calls()] == [None, None]
    ctx.run_tool_calls({"weather": weather})
    found = [(c.arguments["city"], c.result) for c in ctx.tool_calls()]
    assert found == [("Rome", "fine in Rome"), ("Oslo", "fine in Oslo")]
    _, asked, answered = [types.Content.model_validate(item) for item in ctx.items]
    assert asked.parts == types.Content.model_validate({"parts": calls}).parts
    assert [p.function_response.id for p in answered.parts] == [None, None]
    assert validate(ctx.items, "gemini") == []


def test_ids_that_vertex_ai_wrote_itself_are_kept() -> None:
    """Only what was made up is left out."""
    made = call("weather", {"city": "Rome"})
    made["functionCall"]["id"] = "fc-1"
    ctx = ChatContext([TestGemini.user], shape="gemini")
    ctx.add_response(chunk(made, finish="STOP", **VERTEX[0]))
    ctx.run_tool_calls({"weather": weather})
    assert [(c.id, c.status) for c in ctx.tool_calls()] == [("fc-1", "completed")]
    assert ctx.items[-1]["parts"][0]["function_response"]["id"] == "fc-1"


def test_the_marks_of_vertex_ai_come_through_its_own_client(server: NativeServer) -> None:
    """The SDK's converters, for either service, leave what tells the two apart."""
    body = chunk(call("weather", {}), finish="STOP", **VERTEX[0])
    server.answer(Answered(body, sse(body), 1, None), streamed=False)
    options = types.HttpOptions(base_url=server.url)
    vertex = genai.Client(vertexai=True, api_key="test", http_options=options)
    for made, named in ((vertex, False), (client(server.url), True)):
        host = Host([])
        host.add_response(made.models.generate_content(model="m", contents="?"))
        assert bool(host.added[0].parts[0].function_call.id) == named
