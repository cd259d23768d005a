"""Law 6: whatever leaves the list was shown to whoever wrote the summary, or is counted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import assume, given
from laws import Asked, context, element, fold, limits, said, sendable, shown, talk, ways
from strategies import History, histories, texts

from chatfold import ChatContext
from chatfold.core import views
from chatfold.core.xml import decode
from chatfold.shapes import shape_named
from chatfold.stores import MemoryStore


@given(history=histories(broken=True), limit=limits, way=ways)
def test_law_6_every_text_that_leaves_the_list_is_in_the_prompt(
    history: History, limit: dict[str, Any], way: str
) -> None:
    """Words, names, arguments and results of each removed item, as they were."""
    ctx, asked = context(history), Asked()
    plan, read = ctx.plan(**limit), ctx.views()
    outcome = fold(ctx, asked, way=way, **limit)
    assume(outcome.changed)
    text = shown(asked.prompts[-1])
    for index in range(plan.split.start, plan.index):
        if index not in (*plan.split.kept, *plan.split.superseded):
            assert all(words in text for words in views.texts(read[index]))


SPOKEN = frozenset(
    (
        *("text", "refusal", "thinking", "arguments", "input", "output", "code", "logs"),
        *("stdout", "stderr", "queries", "query", "pattern", "diff", "commands", "command"),
        *("reason", "message", "content", "title", "filename", "error", "result"),
    )
)
MARK = re.compile("«[0-9]+»")
ENCODED = ("data:", "iVBOR", "JVBERi0", "UklGR", "gAAAA", "https:", "EmwK")


def marked(items: list[Any]) -> list[Any]:
    """Return the items as dicts in which each readable text ends on a mark of its own."""
    serial = iter(range(10**6))

    def mark(value: Any, key: str) -> Any:
        if isinstance(value, dict):
            inside = key if key in ("input", "action", "operation") else ""
            return {k: mark(v, inside or k) for k, v in value.items()}
        if isinstance(value, list):
            return [mark(part, key) for part in value]
        readable = key in SPOKEN or key in ("input", "action", "operation")
        if isinstance(value, str) and readable and value and not value.startswith(ENCODED):
            return f"{value}«{next(serial)}»"
        return value

    return [mark(item, "") for item in said(items)]


def marks(item: Any) -> list[str]:
    """Return the marks in an item."""
    if isinstance(item, dict):
        hidden = ("type", "role", "id")
        return [m for key, value in item.items() if key not in hidden for m in marks(value)]
    if isinstance(item, list):
        return [m for part in item for m in marks(part)]
    return MARK.findall(item) if isinstance(item, str) else []


@given(history=histories(broken=True, sdk_objects=False), limit=limits)
def test_law_6_every_readable_field_of_a_removed_item_is_in_the_prompt(
    history: History, limit: dict[str, Any]
) -> None:
    """Counted on the native items, so that a field that no shape reads is found missing."""
    items = marked(history.items)
    ctx, asked = context(history, items), Asked()
    plan = ctx.plan(**limit)
    superseded = [items[i] for i in plan.split.superseded]
    outcome = fold(ctx, asked, **limit)
    assume(outcome.changed)
    text = shown(asked.prompts[-1])
    for item in outcome.removed:
        if not any(item is old for old in superseded):
            assert [m for m in marks(item) if m not in text] == []
    assert outcome.omitted.get("superseded_state", 0) == len(superseded)


def test_law_6_both_streams_of_a_shell_and_how_it_ended_are_in_the_prompt() -> None:
    """What went wrong is mostly on the second one."""
    ended = {"type": "exit", "exit_code": 2}
    chunk = {"stdout": "3 passed", "stderr": "1 failed", "outcome": ended}
    call = {"type": "shell_call", "call_id": "c", "action": {"commands": ["make test"]}}
    items = [call, {"type": "shell_call_output", "call_id": "c", "output": [chunk]}, *talk()]
    asked = Asked()
    assert fold(ChatContext(items), asked, keep_last_turns=1).changed
    text = shown(asked.prompts[0])
    assert all(words in text for words in ("make test", "3 passed", "1 failed", "exit 2"))


LINK = "https://shop.example/terms?id=7&part=2"
_URL = {"url": LINK, "title": "Terms", "start_index": 0, "end_index": 3}
_WEB = {"type": "web_search_result_location", "encrypted_index": "Eo", "cited_text": "30 days"}


_SAID = "A fee is due after 14 days."
_FEE = {"cited_text": _SAID}
_PARTS = {"sourceContent": [{"text": _SAID}, {"text": "None before."}]}


def citing(words: str, *annotations: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": words, "annotations": [*annotations]}
    return {"type": "message", "role": "assistant", "content": [part]}


def citing_blocks(*citations: Any, words: str = "See [1].") -> dict[str, Any]:
    text = {"type": "text", "text": words, "citations": [*citations]}
    return {"role": "assistant", "content": [text]}


def converse(**citation: Any) -> dict[str, Any]:
    said = {"content": [{"text": "See [1]."}], "citations": [citation]}
    return {"role": "assistant", "content": [{"citationsContent": said}]}


CITED: list[tuple[str, dict[str, Any], list[str]]] = [
    ("openai_responses", citing("See [1].", {"type": "url_citation", **_URL}), [f"Terms {LINK}"]),
    ("openai_responses", citing(f"See {LINK}.", {"type": "url_citation", **_URL}), []),
    (
        "openai_responses",
        citing(
            "See a.pdf.",
            {"type": "file_citation", "file_id": "file-1", "filename": "a.pdf", "index": 3},
            {
                "type": "container_file_citation",
                "file_id": "cfile_2",
                "container_id": "cntr_3",
                "filename": "b.csv",
            },
            {"type": "file_path", "file_id": "file-4", "index": 0},
            {"type": "of a later SDK", "index": 0},
            "no annotation",
        ),
        ["a.pdf file-1", "b.csv cfile_2 cntr_3", "file-4"],
    ),
    (
        "openai_chat",
        {
            "role": "assistant",
            "content": "See [1].",
            "annotations": [{"type": "url_citation", "url_citation": _URL}] * 2,
        },
        [f"Terms {LINK}"],
    ),
    ("anthropic", citing_blocks({**_WEB, "url": LINK, "title": None}), [f"{LINK} 30 days"]),
    ("anthropic", citing_blocks({**_WEB, "url": LINK}, words=LINK), [f"{LINK} 30 days"]),
    (
        "anthropic",
        citing_blocks(
            {"type": "search_result_location", "source": LINK, "title": "T", "cited_text": "c"},
            {"type": "page_location", "document_title": "D", "file_id": "file_1"},
            {"type": "char_location", "document_title": "given before", "cited_text": "c"},
        ),
        [f"T {LINK}", "D file_1"],
    ),
    (
        "anthropic",
        citing_blocks(
            {"type": "page_location", "document_title": "D.pdf", **_FEE},
            {"type": "page_location", "document_title": "D.pdf", "cited_text": "See [1]."},
            {"type": "page_location", "document_title": "D.pdf", **_FEE, "file_id": "file_1"},
            {"type": "char_location", "document_title": "E.txt", **_FEE, "file_id": "file_2"},
            {"type": "content_block_location", "document_title": "given before", **_FEE},
        ),
        [f"D.pdf {_SAID}", f"D.pdf file_1 {_SAID}", f"E.txt file_2 {_SAID}"],
    ),
    *(
        (
            "bedrock",
            converse(title="T", **_PARTS, location={where: {}}),
            [f"T {_SAID}\nNone before."],
        )
        for where in ("documentPage", "documentChar", "documentChunk")
    ),
    ("bedrock", converse(title="T", **_PARTS, location={"searchResultLocation": {}}), []),
    (
        "bedrock",
        converse(**_PARTS, location={"web": {"url": LINK}}),
        [f"{LINK} {_SAID}\nNone before."],
    ),
    ("bedrock", converse(title="T", location={"web": {"url": LINK}}), [f"T {LINK}"]),
    ("bedrock", converse(title="T", location={"documentPage": {"documentIndex": 0}}), []),
]


@pytest.mark.parametrize(("shape", "answer", "named"), CITED)
def test_law_6_what_a_text_cites_is_in_the_prompt(
    shape: str, answer: dict[str, Any], named: list[str]
) -> None:
    """Where its own words do not say it: URLs, ids of files, and what nothing else holds."""
    block: Any = [{"text": "q"}] if shape == "bedrock" else "q"
    end: Any = [{"text": "z"}] if shape == "bedrock" else "z"
    last = [{"role": "user", "content": block}, {"role": "assistant", "content": end}]
    ctx: ChatContext[Any] = ChatContext([*last[:1], answer, *last], shape=shape)
    plan = ctx.plan(keep_last_turns=1)
    assert plan.prompt is not None
    assert not plan.omitted
    found = element(plan.prompt).iter("citation")
    assert [decode(each.get("source", "")) for each in found] == named


def test_what_is_cited_is_no_invention_of_a_summary_that_names_it() -> None:
    answer = citing("See [1].", {"type": "url_citation", **_URL})
    ctx = ChatContext([*talk(1), answer, *talk()], shape="openai_responses")
    outcome = ctx.summarize(lambda prompt: f"The terms are at {LINK}.", keep_last_turns=1)
    assert LINK in (outcome.summary or "")
    assert ctx.undo().changed
    ctx = ChatContext([*talk(1), citing("See [1]."), *talk()], shape="openai_responses")
    outcome = ctx.summarize(lambda prompt: f"The terms are at {LINK}. Bye.", keep_last_turns=1)
    assert LINK not in (outcome.summary or "")


PDF = {"type": "document", "title": "Terms", "source": {"type": "url", "url": LINK}}
FOUND = {"type": "search_result", "title": "Terms", "source": LINK, "content": []}


@pytest.mark.parametrize("block", [PDF, FOUND], ids=["document", "search_result"])
@pytest.mark.parametrize("by_a_tool", [True, False], ids=["result", "message"])
def test_law_6_where_a_titled_document_is_from_is_in_the_prompt(
    block: dict[str, Any], by_a_tool: bool
) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "find", "input": {}}
    given = {"type": "tool_result", "tool_use_id": "t1", "content": [block]} if by_a_tool else block
    asked = [{"role": "user", "content": "q"}, {"role": "assistant", "content": [call]}]
    history = [*(asked if by_a_tool else ()), {"role": "user", "content": [given]}, *talk()[1:]]
    ctx: ChatContext[Any] = ChatContext([*history, *talk()], shape="anthropic")
    plan = ctx.plan(keep_last_turns=1)
    assert plan.prompt is not None
    (shown,) = element(plan.prompt).iter("attachment")
    assert (shown.get("name"), decode(shown.get("source", ""))) == ("Terms", LINK)
    told = f"The terms are at {LINK}."
    assert told in (ctx.summarize(lambda prompt: told, keep_last_turns=1).summary or "")


@pytest.mark.parametrize("block", [PDF, FOUND], ids=["document", "search_result"])
def test_where_a_titled_document_is_from_is_found_again(block: dict[str, Any]) -> None:
    """In the record of what a summary left out, and by the words of it."""
    history = [{"role": "user", "content": [block]}, *talk()[1:], *talk()]
    ctx: ChatContext[Any] = ChatContext(history, shape="anthropic", store=MemoryStore(), key="k")
    ctx.summarize(lambda prompt: "Terms were given.", keep_last_turns=1)
    assert LINK in str(ctx.items[0])
    assert len(ctx.recall(query="shop.example")) == 1


@pytest.mark.parametrize(
    "source",
    [
        {"type": "text", "media_type": "text/plain", "data": "Page one."},
        {"type": "content", "content": "Page one."},
        {"type": "content", "content": [{"type": "text", "text": "Page one."}]},
    ],
)
def test_law_6_what_an_owner_says_of_a_document_is_in_the_prompt(source: dict[str, Any]) -> None:
    document = {"type": "document", "context": "Signed in May.", "source": source}
    history = [{"role": "user", "content": [document]}, *talk()[1:], *talk()]
    plan = ChatContext(history, shape="anthropic").plan(keep_last_turns=1)
    assert plan.prompt is not None
    (shown,) = element(plan.prompt).iter("attachment")
    assert shown.text == "Signed in May.\nPage one."


ACCOUNT = "ACC-93817"
_WIRE = {"name": "wire", "arguments": json.dumps({"to": ACCOUNT})}
_CALL = {"id": "c1", "type": "function", "function": _WIRE}
_MISNAMED = {"type": "text", "content": ACCOUNT}
_WORDS = {"type": "text", "text": f"Never touch {ACCOUNT}."}


def calling(calls: Any, content: Any = None) -> list[dict[str, Any]]:
    asked = {"role": "assistant", "content": content, "tool_calls": calls}
    return [asked, {"role": "tool", "tool_call_id": "c1", "content": "ok"}]


def responding(**call: Any) -> list[dict[str, Any]]:
    output = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
    return [{"type": "function_call", "call_id": "c1", **call}, output]


def message(content: Any, role: str = "user") -> list[dict[str, Any]]:
    return [{"type": "message", "role": role, "content": content}]


CHAT = ("openai_chat", "mistral")
# What no provider takes, and frameworks and hosts have been seen to write.
MALFORMED: list[tuple[str, list[dict[str, Any]]]] = [
    *((s, calling([{"id": "c1", "type": "mcp", "mcp": {"server": "b", **_WIRE}}])) for s in CHAT),
    *((s, calling([{"id": "c1", "name": "wire", "args": {"to": ACCOUNT}}])) for s in CHAT),
    *(
        (s, calling([{"id": "c1", "type": "function", "function": _WIRE["arguments"]}]))
        for s in CHAT
    ),
    *((s, calling([{"id": "c1", "function": {"name": "f", "args": [ACCOUNT]}}])) for s in CHAT),
    *((s, calling([f"wire({ACCOUNT})"])) for s in CHAT),
    *((s, calling(_CALL)) for s in CHAT),
    *((s, calling(_CALL, "One moment.")) for s in CHAT),
    *((s, calling(f"wire({ACCOUNT})")) for s in CHAT),
    (
        "openai_chat",
        calling([{"id": "c1", "type": "custom", "custom": {"name": "f", "x": ACCOUNT}}]),
    ),
    ("openai_chat", [{"role": "assistant", "content": None, "function_call": {"f": ACCOUNT}}]),
    *((s, [{"role": "assistant", "content": None, "refusal": {"why": ACCOUNT}}]) for s in CHAT),
    ("openai_responses", responding(name="wire", args={"to": ACCOUNT})),
    ("openai_responses", responding(function=_WIRE)),
    ("openai_responses", message([{"type": "custom_tool_call", "name": "f", "input": ACCOUNT}])),
    ("openai_responses", message([{"type": "function_call", "name": "f", "args": [ACCOUNT]}])),
    ("openai_responses", [{**message([], "assistant")[0], "tool_calls": {"f": ACCOUNT}}]),
    ("openai_responses", [{**message([], "assistant")[0], "tool_calls": [{"f": ACCOUNT}]}]),
    ("ollama", calling([{"name": "wire", "arguments": {"to": ACCOUNT}}], "")),
    ("ollama", calling({"function": {"name": "wire", "arguments": {"to": ACCOUNT}}}, "")),
    ("ollama", [{"role": "user", "content": "See:", "images": f"./{ACCOUNT}.png"}]),
    *(
        (s, [{"role": role, "content": content}])
        for s in (*CHAT, "openai_responses", "anthropic", "ollama")
        for role in ("user", "assistant")
        for content in (_WORDS, {"decision": f"close {ACCOUNT}"}, {"text": ACCOUNT}, {ACCOUNT})
    ),
    *(("openai_responses", message(c)) for c in (_WORDS, {"x": ACCOUNT})),
    *((s, [{"role": "user", "content": [_MISNAMED]}]) for s in CHAT),
    *((s, [{"role": "assistant", "content": [_MISNAMED]}]) for s in CHAT),
    ("openai_responses", message([{"type": "input_text", "content": ACCOUNT}])),
    *(("gemini", [{"role": "user", "parts": p}]) for p in ({"text": ACCOUNT}, {"x": ACCOUNT})),
    ("gemini", [{"role": "model", "parts": {"functionCall": {"name": "f", "args": [ACCOUNT]}}}]),
    ("gemini", [{"role": "model", "parts": [{"functionCall": {"name": "f", "input": ACCOUNT}}]}]),
    ("bedrock", [{"role": "assistant", "content": [{"toolUse": {"name": "f", "args": ACCOUNT}}]}]),
    (
        "anthropic",
        [{"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "args": ACCOUNT}]}],
    ),
]


def around(shape: str, items: list[Any]) -> ChatContext[Any]:
    """Return a context on the items, with words around them as the shape writes them."""
    first, *rest = [*talk(1), *talk(1)]
    if shape in ("gemini", "bedrock"):
        key = "parts" if shape == "gemini" else "content"
        for each in (first, *rest):
            model = "model" if shape == "gemini" and each["role"] == "assistant" else each["role"]
            text = [{"text": each.pop("content")}]
            each.update({"role": model, key: text})
    return ChatContext([first, *items, *rest], shape=shape)


@pytest.mark.parametrize(("shape", "items"), MALFORMED)
def test_law_6_what_is_malformed_is_in_the_prompt_all_the_same(
    shape: str, items: list[dict[str, Any]]
) -> None:
    """Whole, whatever holds it: as words where it is one part, and as its JSON elsewhere."""
    ctx = around(shape, items)
    plan = ctx.plan(keep_last_turns=1)
    assert plan.prompt is not None
    assert plan.index > len(items)
    assert ACCOUNT in "".join(element(plan.prompt).itertext()) or items[0].get("images")
    assert ACCOUNT in plan.prompt.user
    assert ctx.apply(plan, "Something was asked for.").changed


def test_of_a_message_with_an_odd_refusal_each_part_can_be_left() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said, refused, called = {"content": "a"}, {"refusal": {"why": "b"}}, {"tool_calls": [call]}
    item = {"role": "assistant", **said, **refused, **called}
    shape = shape_named("openai_chat")
    for parts, fields in (({0}, said), ({1}, refused), ({2}, called), ({1, 2}, refused | called)):
        left = shape.pick(item, parts)
        assert left == {"role": "assistant", "content": None, **fields}


UNREADABLE: list[tuple[Any, dict[str, int]]] = [
    (b"\x00\x01", {"encoded": 1}),
    (Mock(), {"unreadable": 1}),
    ([Mock()], {"unreadable": 1}),
    (
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
        {"media": 1},
    ),
]


@pytest.mark.parametrize(("content", "counted"), UNREADABLE, ids=["bytes", "mock", "list", "image"])
def test_law_6_content_that_nobody_can_read_is_counted(
    content: Any, counted: dict[str, int]
) -> None:
    ctx = around("openai_chat", [{"role": "user", "content": content}])
    outcome = ctx.summarize(lambda prompt: "Something was asked for.", keep_last_turns=1)
    assert outcome.changed
    assert outcome.omitted == counted


def test_law_6_a_reference_is_told_by_the_id_that_it_is_known_by() -> None:
    """A server knows what it says; here the id is all there is to show."""
    ids = ("msg_9", "fc_9")
    items: list[Any] = [{"type": "item_reference", "id": id_} for id_ in ids]
    ctx = around("openai_responses", items)
    plan = ctx.plan(keep_last_turns=1)
    assert plan.prompt is not None
    assert '<item type="item_reference" id="msg_9"></item>' in plan.prompt.user
    assert '<function_call id="fc_9"' in plan.prompt.user


MEDIA = frozenset(
    (
        *("image_url", "input_audio", "file", "input_image", "input_file", "image", "document_url"),
        *("document", "search_result", "container_upload", "computer_screenshot", "reference"),
    )
)


def unreadable_part(part: dict[str, Any]) -> Iterator[str]:
    """Yield the kinds of what nobody can read in a part of a Gemini content."""
    if "inline_data" in part or "inlineData" in part or "file_data" in part or "fileData" in part:
        yield "media"
    if part.get("thought_signature") or part.get("thoughtSignature"):
        yield "encrypted_reasoning"
    response = part.get("function_response") or part.get("functionResponse") or {}
    for inner in response.get("parts", ()):
        yield from unreadable_part(inner)


def unreadable_block(block: Any) -> Iterator[str]:
    """Yield the kinds of what nobody can read in a block of a Converse message."""
    if not isinstance(block, dict) or "type" in block:
        return
    if block.keys() & {"image", "document", "video", "audio", "searchResult"}:
        yield "media"
    thought = block.get("reasoningContent", {})
    if "redactedContent" in thought or thought.get("reasoningText", {}).get("text") == "":
        yield "encrypted_reasoning"
    for inner in block.get("toolResult", {}).get("content", ()):
        yield from unreadable_block(inner)


def unreadable(item: Any) -> Iterator[str]:
    """Yield the kind of each part of a native item that has no readable form."""
    if isinstance(item, list):
        for part in item:
            yield from unreadable(part)
    if not isinstance(item, dict):
        return
    for part in item.get("parts") or ():
        yield from unreadable_part(part)
    for block in item["content"] if isinstance(item.get("content"), list) else ():
        yield from unreadable_block(block)
    yield from ("media" for _ in item.get("images") or ())
    kind = item.get("type")
    if kind in MEDIA or (kind == "image_generation_call" and item.get("result")):
        yield "media"
    if isinstance(item.get("audio"), dict):
        yield "media"
    sealed = kind == "redacted_thinking" or (kind == "thinking" and not item["thinking"])
    if sealed or (kind == "reasoning" and item.get("encrypted_content")):
        yield "encrypted_reasoning"
    for key in ("content", "output", "outputs"):
        if kind != "search_result" and not (kind or "").startswith("web_"):
            yield from unreadable(item.get(key))


@given(history=histories(), limit=limits, way=ways)
def test_law_6_what_has_no_readable_form_is_counted(
    history: History, limit: dict[str, Any], way: str
) -> None:
    """Media and encrypted reasoning are lost to the summary, and the outcome says how many."""
    ctx = context(history)
    outcome = fold(ctx, way=way, **limit)
    assume(outcome.changed)
    for kind in ("media", "encrypted_reasoning"):
        lost = sum(k == kind for item in said(outcome.removed) for k in unreadable(item))
        assert outcome.omitted.get(kind, 0) == lost


@given(history=histories(broken=True, sdk_objects=False), limit=limits)
def test_law_6_what_is_redacted_is_in_no_prompt(history: History, limit: dict[str, Any]) -> None:
    """Every text of the conversation passes `redact`, and so does the summary."""
    items = marked(history.items)
    ctx, asked = context(history, items), Asked("the secret is «7»")
    outcome = fold(ctx, asked, redact=lambda text: MARK.sub("[secret]", text), **limit)
    assume(outcome.changed)
    assert not MARK.search(asked.prompts[-1].user)
    assert not MARK.search(asked.prompts[-1].system)
    assert outcome.summary == "the secret is [secret]"


@given(history=histories(open_calls=False), limit=limits, first=texts(blank=False), way=ways)
def test_law_6_the_earlier_summary_is_in_the_prompt(
    history: History, limit: dict[str, Any], first: str, way: str
) -> None:
    """What it stands for would be lost otherwise: it is there as such, once, word for word."""
    ctx = context(history)
    assume(fold(ctx, lambda prompt: f"({first})", way=way, **limit).changed)
    ctx.extend(talk(2))
    fresh, asked = context(history, ctx.items), Asked()
    assert fold(fresh, asked, way=way, keep_last_turns=1).changed
    found = [decode(node.text or "") for node in element(asked.prompts[0]).iter("previous_summary")]
    assert found == [asked.prompts[0].previous_summary]
    assert "&" in first or found == [f"({sendable(first)})"]


def test_law_6_what_was_merged_into_the_summary_item_is_in_the_prompt() -> None:
    """Hosts that make roles alternate put the user's next words beside the summary."""
    items = talk()
    fold(ChatContext(items), lambda prompt: "the record", keep_last_turns=1)
    merged = [
        {"type": "text", "text": text} for text in (items[0]["content"], "and my address is X")
    ]
    items[:2] = [{"role": "user", "content": merged}]
    asked = Asked()
    outcome = fold(ChatContext(items, shape="anthropic"), asked, keep_last_turns=0)
    assert outcome.changed
    assert asked.prompts[0].previous_summary == "the record"
    assert "and my address is X" in shown(asked.prompts[0])


STAGE = 'stage "1" <&'  # a label of any host's making


def served(kind: str, id_: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "id": id_, "name": "restart", "arguments": "{}", **fields}


def used(kind: str, id_: str, result: str, **fields: Any) -> list[dict[str, Any]]:
    use = {"type": kind, "id": id_, "name": "restart", "input": {}, **fields}
    given = {"type": result, "tool_use_id": id_, "content": "ok"}
    if kind == "tool_use":
        answer = {**given, "toolset_name": fields["toolset_name"]}
        return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [answer]}]
    return [{"role": "assistant", "content": [use, given]}]


def named(kind: str, namespace: str) -> list[dict[str, Any]]:
    """Return a call of a tool that lives somewhere, and what answers it."""
    call = {"call_id": "a", "name": "restart", "namespace": namespace}
    output = {"call_id": "a", "output": "ok"}
    allowed = {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True}
    of_server = {"server_label": namespace}
    return {
        "function": [
            {"type": "function_call", "arguments": "{}", **call},
            {"type": "function_call_output", **output},
        ],
        "custom": [
            {"type": "custom_tool_call", "input": "go", **call},
            {"type": "custom_tool_call_output", **output},
        ],
        "orphan": [{"type": "function_call_output", "output": "ok", **call}],
        "server": [served("mcp_call", "a", **of_server, output="ok")],
        "approval": [served("mcp_approval_request", "a", **of_server), allowed],
        "anthropic server": used("mcp_tool_use", "a", "mcp_tool_result", server_name=namespace),
        "toolset": used("tool_use", "a", "tool_result", toolset_name=namespace),
    }[kind]


LIVES = (*("function", "custom", "orphan", "server", "approval", "anthropic server", "toolset"),)
# How many elements name the tool: that of the call, and that of its result.
ELEMENTS = {"server": 1, "approval": 1, "orphan": 1}


@pytest.mark.parametrize("kind", LIVES)
def test_law_6_where_a_tool_lives_is_in_the_prompt(kind: str) -> None:
    """Two servers, or namespaces, may have tools of one name."""
    shape = "anthropic" if "anthropic" in kind or kind == "toolset" else "openai_responses"
    for namespace in ("production", STAGE):
        items = named(kind, namespace)
        ctx: ChatContext[Any] = ChatContext([*talk(1), *items, *talk(1), *talk(1)], shape=shape)
        plan = ctx.plan(keep_last_turns=1)
        assert plan.prompt is not None
        homes = [e.get("namespace") for e in element(plan.prompt).iter() if e.get("name")]
        assert homes == [namespace] * ELEMENTS.get(kind, 2)


def test_where_a_tool_lives_goes_through_redact_and_is_left_out_where_nothing_says_it() -> None:
    """The elements of other calls stay as they are."""
    plain = [{**item} for item in named("function", "")]
    for item in plain:
        item.pop("namespace", None)
    history = [*talk(1), *named("server", "db-secret"), *plain, *talk(1), *talk(1)]
    ctx: ChatContext[Any] = ChatContext(history, shape="openai_responses")
    plan = ctx.plan(keep_last_turns=1, redact=lambda text: text.replace("secret", "***"))
    assert plan.prompt is not None
    assert 'namespace="db-***"' in plan.prompt.user
    assert "secret" not in plan.prompt.user
    assert '<function_call name="restart" call_id="a">' in plan.prompt.user
    assert plan.prompt.user.count("namespace=") == 1


@pytest.mark.parametrize("kind", LIVES)
def test_where_a_tool_lives_is_found_again(kind: str) -> None:
    """By the words of it."""
    shape = "anthropic" if "anthropic" in kind or kind == "toolset" else "openai_responses"
    history = [*talk(1), *named(kind, "warehouse"), *talk(1), *talk(1)]
    ctx: ChatContext[Any] = ChatContext(history, shape=shape, store=MemoryStore(), key="k")
    assert ctx.summarize(lambda prompt: "Done.", keep_last_turns=1).changed
    assert named(kind, "warehouse")[0] in ctx.recall(query="warehouse")


@pytest.mark.parametrize("kind", LIVES)
def test_where_a_tool_lives_is_no_invention_of_a_summary_that_names_it(kind: str) -> None:
    shape = "anthropic" if "anthropic" in kind or kind == "toolset" else "openai_responses"
    history = [*talk(1), *named(kind, "eu-west-1a-4417"), *talk(1), *talk(1)]
    ctx: ChatContext[Any] = ChatContext(history, shape=shape)
    told = "The server eu-west-1a-4417 was restarted."
    assert told in (ctx.summarize(lambda prompt: told, keep_last_turns=1).summary or "")
