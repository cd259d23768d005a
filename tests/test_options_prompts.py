"""What a summarizer is asked: each option reaches each request, the second ones and the parts too.

Not here: the form of a prompt (`test_laws_text`), how parts are cut (`test_parts`).
"""

from __future__ import annotations

import asyncio
import base64
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from conversation import elements_named
from fake_native import NativeServer, native_server
from fake_server import LLMServer, llm_server, ok
from laws import WAYS, fold, same_objects
from returns_desk import (
    APIS,
    LIE,
    LONG,
    SENT,
    TRUE,
    Clerk,
    assistant,
    called,
    desk,
    text_of,
    thanks,
    user,
)

from chatfold import ChatContext, TemplateError
from chatfold.stores import MemoryStore
from chatfold.summarizers import AnthropicCompaction, OpenAICompaction
from chatfold.templates import load_templates

__all__ = ["llm_server", "native_server"]

DRAFT = f"{TRUE} {LIE}"
shapes = pytest.mark.parametrize("shape", APIS)


def long_desk(shape: str = "openai_chat") -> list[Any]:
    """Return a conversation that goes out in several parts, with an output larger than one."""
    giant = LONG * 9
    lookups = [
        item
        for n in range(9)
        for item in called(shape, f"call_{n}", "look_up", {"n": n}, giant if n == 4 else LONG)
    ]
    return [*desk(shape)[:-2], user("Look again."), *lookups, assistant("Nothing."), *thanks()]


# --- what the application adds --------------------------------------------------------------------


@shapes
@pytest.mark.parametrize("way", ["summarize", "asummarize", "flow"])
def test_language_and_instructions_are_in_every_request(shape: str, way: str) -> None:
    """In each part, and where a draft is to be mended, before and behind the conversation."""
    model = Clerk(DRAFT)
    outcome = fold(
        ChatContext(long_desk(shape), shape=shape, language="Portuguese <BR>"),
        model,
        way=way,
        keep_last_turns=1,
        max_prompt_tokens=2_000,
        instructions="Mind the <serial> numbers.",
    )
    assert outcome.changed
    assert len(model.prompts) > 5
    assert "These values in it do not stand" in model.prompts[-1].user
    for prompt in model.prompts:
        before, _, rest = prompt.user.partition("<conversation>")
        behind = rest.partition("</conversation>")[2]
        assert "Mind the &lt;serial&gt; numbers." in before
        assert "Mind the &lt;serial&gt; numbers." in behind
        assert "Write in this language: Portuguese &lt;BR&gt;." in behind
        assert "that the user writes in" not in prompt.user


def test_the_length_that_is_asked_for_is_in_the_first_request_and_in_the_second() -> None:
    """It is the caller's, else a share of the head."""
    for most in (None, 77):
        model = Clerk("It is far too long. " * 900, TRUE)
        ctx = ChatContext([*desk("openai_chat")[:-2], assistant(LONG * 30), *thanks()])
        outcome = ctx.summarize(model, keep_last_turns=1, max_summary_tokens=most)
        assert outcome.changed
        first, second = model.prompts
        asked = most or ChatContext(list(outcome.removed)).count_tokens().value // 20
        assert (first.max_tokens, second.max_tokens) == (asked, asked)
        assert f"about {asked} tokens at most" in first.user
        assert f"in at most {asked} tokens" in second.user


# --- templates ------------------------------------------------------------------------------------

OWN = {
    "summarize_system.jinja": "OWN system",
    "summarize_user.jinja": "OWN user {{ conversation }}",
    "summarize_again.jinja": "{{ request }} OWN again {{ values | join('; ') }} {{ draft }}",
    "cut_marker.jinja": "OWN marker {{ left_out }}/{{ total }}",
    "summary_note.jinja": "OWN note {{ recall }} {{ record }}",
    "recall_tool.jinja": "OWN tool {{ kind }} {{ conversation }}",
}


@pytest.mark.parametrize("kind", ["mapping", "directory"])
def test_each_template_can_be_replaced(tmp_path: Path, kind: str) -> None:
    """Each is used where the built-in one would be, and only there."""
    for name, text in OWN.items():
        (tmp_path / name).write_text(text)
    given: Any = tmp_path if kind == "directory" else OWN
    ctx = ChatContext(long_desk(), templates=given, store=MemoryStore())
    tool = ctx.recall_tool("look_back", max_characters=2_000)
    model = Clerk(DRAFT)
    outcome = ctx.summarize(model, keep_last_turns=1, max_prompt_tokens=3_000)
    assert outcome.truncated == 1
    assert all(p.system == "OWN system" for p in model.prompts)
    assert all(p.user.startswith("OWN user <conversation>") for p in model.prompts)
    cut = [p for p in model.prompts if "\nOWN marker " in p.user]
    assert len(cut) == 1
    assert "left out here" not in cut[0].user
    second = model.prompts[-1].user
    assert f" OWN again 2,500.00 EUR; 2025-12-24 {DRAFT}" in second
    assert "<note>OWN note look_back True</note>" in text_of(ctx.items[0])
    assert tool.definition["function"]["description"] == "OWN tool description"
    found = tool.handler(call_id="call_4")
    assert found.startswith("OWN tool found <conversation>")
    assert "\nOWN marker " in found


class Renderer:
    """Gives what a function makes of a template's name and values."""

    def __init__(self, made: Callable[..., Any]) -> None:
        self.made = made

    def render(self, name: str, /, **values: object) -> str:
        text: str = self.made(name, **values)
        return text


UNSEEING: list[Any] = [
    {"summarize_user.jinja": "Summarize please."},
    {"summarize_user.jinja": "{{ conversation | truncate(80) }}"},
    {"summarize_system.jinja": "<conversation>", "summarize_user.jinja": "{{ max_tokens }}"},
    Renderer(lambda name, **values: "Summarize please."),
]


@pytest.mark.parametrize("templates", UNSEEING)
@pytest.mark.parametrize("options", [{}, {"max_prompt_tokens": 3_000}], ids=["whole", "parts"])
@pytest.mark.parametrize("way", WAYS)
def test_a_prompt_that_does_not_show_the_conversation_goes_to_nobody(
    way: str, options: Any, templates: Any
) -> None:
    """It would be removed unseen; the error says where to put it."""
    items = long_desk()
    before = list(items)
    model = Clerk(TRUE)
    with pytest.raises(TemplateError, match=r"\{\{ conversation \}\}") as caught:
        fold(ChatContext(items, templates=templates), model, way=way, keep_last_turns=1, **options)
    assert caught.value.template == "summarize_user.jinja"
    assert "summarize_system.jinja" in str(caught.value)
    assert same_objects(items, before)
    assert not model.prompts


@pytest.mark.parametrize("most", [None, 3_000])
def test_the_conversation_may_stand_in_the_system_text(most: int | None) -> None:
    """Each part of it, where a head is shown in parts."""
    templates = {"summarize_system.jinja": "{{ conversation }}", "summarize_user.jinja": "Go on."}
    model = Clerk(TRUE)
    ctx = ChatContext(long_desk(), templates=templates)
    assert ctx.summarize(model, keep_last_turns=1, max_prompt_tokens=most).changed
    assert all(p.system.startswith("<conversation>") and p.user == "Go on." for p in model.prompts)
    assert len(model.prompts) > 1 or most is None


@pytest.mark.parametrize("given", [None, b"bytes", 7])
@pytest.mark.parametrize(
    "name", ["summarize_system.jinja", "summarize_user.jinja", "summary_note.jinja"]
)
def test_a_renderer_that_returns_no_text_is_a_template_error(name: str, given: Any) -> None:
    """The error names the template, and what came in place of its text."""
    built_in = load_templates()

    def made(asked: str, **values: object) -> Any:
        return given if asked == name else built_in.render(asked, **values)

    ctx = ChatContext(long_desk(), templates=Renderer(made))
    before = list(ctx.items)
    with pytest.raises(TemplateError, match=f"not {type(given).__name__}") as caught:
        ctx.summarize(Clerk(TRUE), keep_last_turns=1)
    assert caught.value.template == name
    assert same_objects(ctx.items, before)


@pytest.mark.parametrize("way", ["summarize", "asummarize", "flow"])
@pytest.mark.parametrize("name", ["summarize_again.jinja", "cut_marker.jinja"])
def test_a_template_that_fails_late_changes_nothing(name: str, way: str) -> None:
    """The error names its line, and what the calls before it cost."""
    items = long_desk()
    before = list(items)
    ctx = ChatContext(items, templates={name: "fine\n{{ 1 // 0 }}"})
    with pytest.raises(TemplateError, match="line 2") as caught:
        fold(ctx, Clerk(DRAFT), way=way, keep_last_turns=1, max_prompt_tokens=3_000)
    assert caught.value.template == name
    assert same_objects(items, before)
    assert caught.value.usage is not None
    assert caught.value.usage.input_tokens == SENT.input_tokens * caught.value.llm_calls > 0
    assert fold(ctx, Clerk(TRUE), way=way, keep_last_turns=1, templates=None).changed


# --- what cannot be read --------------------------------------------------------------------------

DATA = base64.b64encode(random.Random(1).randbytes(3_000)).decode()


@shapes
@pytest.mark.parametrize(
    ("way", "parts"),
    [*((way, False) for way in WAYS), ("summarize", True), ("asummarize", True), ("flow", True)],
)
def test_encoded_data_is_counted_and_goes_nowhere(shape: str, way: str, parts: bool) -> None:
    """Neither into a prompt nor into the list; the words around it do."""
    result = json.dumps({"file": "scan-7731.png", "data": DATA})
    shot = called(shape, "call_8", "take_picture", {"n": 1}, result)
    turn = [user(f"See data:image/png;base64,{DATA} here."), *shot, assistant("I see it.")]
    ctx = ChatContext([*long_desk(shape)[: 9 if parts else 3], *turn, *thanks()], shape=shape)
    model = Clerk("She sent a picture.")
    options: dict[str, Any] = {"max_prompt_tokens": 1_000 if parts else None}
    outcome = fold(ctx, model, way=way, keep_last_turns=1, **options)
    assert outcome.omitted == {"encoded": 2}
    assert (len(model.prompts) > 1) == parts
    shown = "".join(p.user for p in model.prompts) + text_of(ctx.items[0])
    assert all(DATA[at : at + 24] not in shown for at in range(0, len(DATA), 12))
    assert "scan-7731.png" in shown


def test_a_picture_stands_in_the_prompt_as_what_is_known_of_it() -> None:
    """Kind, type, size, name and transcript; and it is counted."""
    audio = {"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}}
    file = {"filename": "bill-77.pdf", "file_data": f"data:application/pdf;base64,{DATA}"}
    said = [{"type": "text", "text": f"Look. {LONG}"}, audio, {"type": "file", "file": file}]
    ctx = ChatContext([{"role": "user", "content": said}, assistant(LONG), *thanks()])
    model = Clerk("She sent a bill.")
    outcome = ctx.summarize(model, keep_last_turns=1)
    assert outcome.omitted == {"media": 2}
    (element,) = [e for e in elements_named(model.prompts[0], "user") if e.inner]
    sound, bill = (dict(e.attributes) for e in element.inner)
    assert (sound["kind"], sound["bytes"]) == ("audio", "3000")
    assert (bill["kind"], bill["type"]) == ("file", "application/pdf")
    assert (bill["name"], bill["bytes"]) == ("bill-77.pdf", "3000")


# --- a window that is known -----------------------------------------------------------------------


@pytest.mark.parametrize("way", ["summarize", "asummarize"])
@pytest.mark.parametrize("named", ["client", "name", "chain"])
def test_the_windows_of_the_table_make_parts(
    llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch, named: str, way: str
) -> None:
    """However the model is named; the window of the one that is asked counts."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", llm_server.openai_url)
    llm_server.default = ok("Nothing is new.")
    client: Any = openai.OpenAI() if way == "summarize" else openai.AsyncOpenAI()
    llm: Any = {"client": client, "name": "openai:gpt-4", "chain": [Clerk(OSError()), client]}
    model = None if named == "name" else "gpt-4"
    ctx = ChatContext([m for n in range(40) for m in (user(f"{n}? {LONG}"), assistant(LONG))])
    assert in_one_way(ctx, llm[named], way, model=model).changed
    sizes = [len(str(request.body)) for request in llm_server.requests]
    assert len(sizes) >= 4
    assert max(sizes) < 8_192 * 6


def in_one_way(ctx: ChatContext[Any], llm: Any, way: str, **options: Any) -> Any:
    """Fold with a client or a backend, which the other ways do not take."""
    if way == "summarize":
        return ctx.summarize(llm, keep_last_turns=1, **options)
    return asyncio.run(ctx.asummarize(llm, keep_last_turns=1, **options))


# --- the provider's own words ---------------------------------------------------------------------


def native(shape: str, server: NativeServer) -> Any:
    """Return the provider's own backend; older SDKs have none."""
    pytest.importorskip("anthropic", minversion="1.6.0")
    pytest.importorskip("openai", minversion="2.9.0")
    return FOLDS[shape](server)


FOLDS: dict[str, Callable[[NativeServer], Any]] = {
    "openai_responses": lambda server: OpenAICompaction(
        openai.OpenAI(base_url=server.openai_url, api_key="k"), "m", retries=0
    ),
    "anthropic": lambda server: AnthropicCompaction(
        anthropic.Anthropic(base_url=server.anthropic_url, api_key="k"), "m", retries=0
    ),
}


@pytest.mark.parametrize("shape", FOLDS)
@pytest.mark.parametrize("way", ["summarize", "asummarize"])
@pytest.mark.parametrize(
    ("options", "held"),
    [
        ({}, ()),
        ({"instructions": "Mind <serials>."}, ("copied", "Mind <serials>.")),
        ({"language": "Danish"}, ("Write in this language: Danish.",)),
        (
            {
                "language": "Danish",
                "templates": {"compaction_instructions.jinja": "{{ language }}!"},
            },
            ("Danish!",),
        ),
    ],
    ids=["none", "instructions", "language", "template"],
)
def test_a_provider_that_folds_itself_is_told(
    native_server: NativeServer, shape: str, way: str, options: Any, held: tuple[str, ...]
) -> None:
    """Raw, since nothing of it stands in XML; without options it has its own words."""
    ctx = ChatContext(desk(shape), shape=shape, **options)
    outcome = in_one_way(ctx, native(shape, native_server), way)
    assert outcome.changed
    (request,) = native_server.requests
    asked = request.body if shape == "openai_responses" else request.body["compaction"]
    told = asked.get("instructions")
    if not held:
        assert told is None
    elif "template" in str(options):
        assert told == "Danish!"
    else:
        assert held[-1] in told


@pytest.mark.parametrize("way", ["summarize", "asummarize"])
def test_leading_instructions_go_to_a_provider_that_folds_itself(
    native_server: NativeServer, way: str
) -> None:
    """With what the application adds behind them; they stay in the list, and in front."""
    rule = {"role": "developer", "content": "Be a clerk."}
    ctx = ChatContext([rule, *desk("openai_responses")], instructions="Mind <serials>.")
    outcome = in_one_way(ctx, native("openai_responses", native_server), way)
    assert outcome.changed
    (request,) = native_server.requests
    assert request.body["instructions"].startswith("Be a clerk.\n\n")
    assert "Mind <serials>." in request.body["instructions"]
    assert ctx.items[0] is rule
