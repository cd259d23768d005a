"""What `redact=` takes out leaves the process nowhere: it is searched for.

Requests, logs, stores, errors and `repr` are searched for every piece of every secret. Not here:
what is quiet without `redact=` (`test_laws_quiet`).
"""

from __future__ import annotations

import copy
import dataclasses
import json
import logging
import pickle
import random
import re
import sqlite3
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from fake_server import (
    SUMMARY,
    Answer,
    Behaviour,
    Failure,
    Limited,
    LLMServer,
    empty,
    llm_server,
    ok,
    reasoning_only,
    refused,
    tool_call,
    truncated,
)
from logs import records
from strategies import SHAPES

from chatfold import ChatContext, ChatfoldError, Outcome, Policy, Prompt, StaleHeadError
from chatfold.errors import StoreError, UngroundedSummaryError
from chatfold.stores import MemoryStore, Store, StoredFold

__all__ = ["llm_server"]

Item = dict[str, Any]
Secrets = Sequence[str]

TOKEN = "sk-live-51Hq7ZpQx9vTuLwRk3"
MAIL = "jane.roe@private.example"
CARD = 4929123456781234
PHRASE = "correct horse battery staple"  # parted at its spaces it would be no secret any more
SECRETS = (TOKEN, MAIL, str(CARD), PHRASE)
_PATTERN = re.compile("|".join(map(re.escape, SECRETS)))
_PIECE = 9  # characters: so many in a row are a piece that somebody could use
LONG = "The parcel left the warehouse and is on its way to the customer. " * 30


def redact(text: str) -> str:
    return _PATTERN.sub("[hidden]", text)


def leaked(*shown: object) -> list[str]:
    """Return the secrets of which a piece stands in what is shown, with some of what is around."""
    found = []
    for each in shown:
        text = each if isinstance(each, str) else repr(each)
        for secret in SECRETS:
            pieces = (secret[i : i + _PIECE] for i in range(len(secret) - _PIECE + 1))
            at = next((place for p in pieces if (place := text.find(p)) >= 0), None)
            if at is not None:
                found.append(f"{secret}: ...{text[max(0, at - 60) : at + 60]}...")
    return found


def assert_hidden(**places: Iterable[object]) -> None:
    """Check that no place shows a secret; the message names the place and what is around it."""
    found = {place: sorted(set(leaked(*shown))) for place, shown in places.items()}
    lines = [f"{place}: {text}" for place, texts in found.items() for text in texts]
    assert not lines, "\n".join(lines)


def deep(value: Any) -> str:
    """Return all that a value of ours holds, `repr` or not."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return deep({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
    if isinstance(value, dict):
        return "\n".join(f"{deep(k)} {deep(v)}" for k, v in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return "\n".join(map(deep, value))
    return value if isinstance(value, str) else repr(value)


def arguments() -> Item:
    """Return what a tool was called with: secrets as values, as keys, and in JSON within JSON."""
    return {
        "token": TOKEN,
        "card": CARD,
        "cards": [float(CARD), {"number": CARD}],
        MAIL: "owner",
        "payload": json.dumps({"inner": json.dumps({"token": TOKEN, MAIL: CARD})}),
        "order": "LK-20417",
    }


RESULT = json.dumps({"ok": True, "mail": MAIL, "card": CARD, MAIL: {"token": TOKEN}, "rma": "R-77"})
ERROR = f"Error: could not charge {CARD} for {MAIL}: token {TOKEN} expired"


def calls(shape: str) -> list[Any]:
    """Return a call that succeeds and one that fails, each with its result."""
    done, broke = "callAAAA1", "callAAAA2"
    if shape in ("openai_chat", "ollama", "mistral"):
        args: Any = arguments() if shape == "ollama" else json.dumps(arguments())
        return [
            item
            for id_, text in ((done, RESULT), (broke, ERROR))
            for item in (
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {
                            "id": id_,
                            "type": "function",
                            "function": {"name": "create_refund", "arguments": args},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": id_, "content": text},
            )
        ]
    if shape == "openai_responses":
        args = json.dumps(arguments())
        return [
            {"type": "function_call", "call_id": done, "name": "create_refund", "arguments": args},
            {"type": "function_call_output", "call_id": done, "output": RESULT},
            {"type": "function_call", "call_id": broke, "name": "create_refund", "arguments": args},
            {"type": "function_call_output", "call_id": broke, "output": ERROR},
        ]
    if shape == "anthropic":
        return [
            item
            for id_, text, failed in ((done, RESULT, False), (broke, ERROR, True))
            for item in (
                {
                    "role": "assistant",
                    "content": [
                        {
                            "type": "tool_use",
                            "id": id_,
                            "name": "create_refund",
                            "input": arguments(),
                        }
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": id_,
                            "content": text,
                            "is_error": failed,
                        }
                    ],
                },
            )
        ]
    if shape == "gemini":
        return [
            item
            for id_, text in ((done, RESULT), (broke, ERROR))
            for item in (
                {
                    "role": "model",
                    "parts": [
                        {
                            "function_call": {
                                "id": id_,
                                "name": "create_refund",
                                "args": arguments(),
                            }
                        }
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {
                            "function_response": {
                                "id": id_,
                                "name": "create_refund",
                                "response": {"output": text, MAIL: CARD},
                            }
                        }
                    ],
                },
            )
        ]
    return [
        item
        for id_, text, status in ((done, RESULT, "success"), (broke, ERROR, "error"))
        for item in (
            {
                "role": "assistant",
                "content": [
                    {"toolUse": {"toolUseId": id_, "name": "create_refund", "input": arguments()}}
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "toolResult": {
                            "toolUseId": id_,
                            "status": status,
                            "content": [{"text": text}, {"json": arguments()}],
                        }
                    }
                ],
            },
        )
    ]


def words(shape: str, role: str, text: str) -> Item:
    """Return a message of one text."""
    if shape == "gemini":
        return {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}
    if shape == "bedrock":
        return {"role": role, "content": [{"text": text}]}
    return {"role": role, "content": text}


def attached(shape: str) -> list[Any]:
    """Return a message with a file whose name and title hold secrets, where the shape has names."""
    name = f"statement of {MAIL} {CARD}.pdf"
    words_too = f"see the file of {MAIL}"
    data = "JVBERi0xLjQK"
    if shape == "openai_chat":
        file = {"filename": name, "file_data": f"data:application/pdf;base64,{data}"}
        content = [{"type": "text", "text": words_too}, {"type": "file", "file": file}]
        return [{"role": "user", "name": f"jane {MAIL}", "content": content}]
    if shape == "openai_responses":
        file = {"type": "input_file", "filename": name, "file_data": f"data:x;base64,{data}"}
        return [{"role": "user", "content": [{"type": "input_text", "text": words_too}, file]}]
    if shape == "anthropic":
        source = {"type": "base64", "media_type": "application/pdf", "data": data}
        document = {"type": "document", "source": source, "title": name, "context": words_too}
        return [{"role": "user", "content": [document, {"type": "text", "text": words_too}]}]
    if shape == "bedrock":
        document = {"format": "pdf", "name": name, "source": {"bytes": b"%PDF-1.4"}}
        return [{"role": "user", "content": [{"text": words_too}, {"document": document}]}]
    if shape == "gemini":
        blob = {"mime_type": "application/pdf", "data": b"%PDF-1.4", "display_name": name}
        return [{"role": "user", "parts": [{"text": words_too}, {"inline_data": blob}]}]
    return [words(shape, "user", words_too)]


def history(shape: str) -> list[Any]:
    """Return three turns to fold, with secrets in all that is said and done, and a clean tail."""
    return [
        words(shape, "user", f"My token is {TOKEN}. Never send mail to {MAIL}. Card: {CARD}."),
        *calls(shape),
        words(shape, "assistant", f"Refund R-77 to card {CARD} is done, {MAIL}. {LONG}"),
        *attached(shape),
        words(shape, "assistant", f"I have read it, {MAIL}: token {TOKEN} is used up. {LONG}"),
        words(shape, "user", f"From now on always write {MAIL} in full: {MAIL}. {PHRASE}"),
        words(shape, "assistant", f"Yes. {LONG}"),
        words(shape, "user", "And order LK-20417?"),
        words(shape, "assistant", "It is on its way."),
    ]


KINDS = ("chat", "responses", "messages")


def client_of(server: LLMServer, kind: str) -> Any:
    """Return a client, or the part of one, that asks the endpoint of that name."""
    if kind == "messages":
        return anthropic.Anthropic(base_url=server.anthropic_url, api_key="test", max_retries=0)
    client = openai.OpenAI(base_url=server.openai_url, api_key="test", max_retries=0)
    return client.responses if kind == "responses" else client.chat.completions


def asked(server: LLMServer) -> list[str]:
    """Return every request as it came, written in two ways."""
    return [
        json.dumps([r.path, r.body, r.headers], ensure_ascii=ascii_only)
        for r in server.requests
        for ascii_only in (True, False)
    ]


def logged_in(found: Iterable[logging.LogRecord]) -> list[str]:
    """Return all that log records hold."""
    return [f"{logging.Formatter().format(r)} {r.args!r} {vars(r)!r}" for r in found]


def told(error: BaseException) -> list[str]:
    """Return all that an error, and what caused it, shows to whoever prints it or looks into it."""
    return [
        "".join(traceback.format_exception(error)),
        *(t for e in chained(error) for t in (str(e), repr(e), deep(vars(e)))),
    ]


def chained(error: BaseException | None) -> Iterable[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def kept_in(store: Store, path: Path | None = None) -> list[str]:
    """Return all bytes that a store holds, in memory or in its file and those beside it."""
    if isinstance(store, MemoryStore):
        return [pickle.dumps(store._entries).decode("latin-1")]
    assert path is not None
    return [file.read_bytes().decode("latin-1") for file in path.parent.glob(path.name + "*")]


def sql_store(path: Path) -> Any:
    pytest.importorskip("sqlalchemy")
    from chatfold.stores import SQLStore

    return SQLStore(path)


def reported(outcome: Outcome[Any]) -> list[str]:
    """Return what an outcome says in its own words; what it hands back are the caller's items."""
    return [
        repr(outcome),
        str(outcome),
        deep(outcome.summary),
        deep(outcome.item),
        deep(outcome.problems),
        deep(outcome.requirements),
        repr(outcome.facts),
        str(outcome.facts),
        deep(outcome.facts),
    ]


def test_the_search_finds_what_it_is_to_find() -> None:
    """Without `redact=` the secrets are in the prompt, and a piece of one is found too."""
    plan = ChatContext(history("openai_chat"), shape="openai_chat").plan(keep_last_turns=1)
    assert plan.prompt is not None
    assert {found.split(":")[0] for found in leaked(plan.prompt.user)} == set(SECRETS)
    assert leaked(f"half of it is {TOKEN[-12:]}")
    assert leaked(deep(plan.prompt)) != []
    assert not leaked(redact(plan.prompt.user))


@pytest.mark.parametrize("given", ["context", "call"])
@pytest.mark.parametrize("where", ["memory", "sqlite"])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_secret_is_sent_stored_logged_or_shown(
    llm_server: LLMServer, tmp_path: Path, shape: str, where: str, given: str
) -> None:
    """Two folds and an undo by real clients; the first answer invents, so a repair is asked for."""
    path = tmp_path / "originals.db"
    store = MemoryStore() if where == "memory" else sql_store(path)
    own: Any = {"redact": redact} if given == "context" else {}
    call: Any = {"redact": redact} if given == "call" else {}
    items = history(shape)
    before = copy.deepcopy(items)
    invented = f"- Refund R-77. Paid 812.50 EUR on 2031-02-03, {TOKEN} for {MAIL}, card {CARD}."
    with records() as logged:
        ctx = ChatContext(items, shape=shape, store=store, instructions=f"Mind {TOKEN}.", **own)
        shown = [repr(ctx), repr(store)]
        llm_server.script(ok(invented), ok(f"- Refund R-77 is done.\n- For {MAIL}."))
        first = ctx.summarize(client_of(llm_server, "chat"), model="m", keep_last_turns=1, **call)
        shown += [*reported(first), *kept_in(store, path)]
        assert len(llm_server.requests) == 2
        ctx.extend(calls(shape))
        ctx.append(words(shape, "assistant", f"Done again with {CARD}. {LONG}"))
        ctx.append(words(shape, "user", "And now?"))
        llm_server.script(ok(f"- All is well, {MAIL}.\n- It cost 77.31 EUR, {TOKEN}."))
        llm_server.default = ok(f"- Order LK-20417 is on its way.\n- {TOKEN}")
        plan = ctx.plan(keep_last_turns=1, **call)
        flow = ctx.flow(keep_last_turns=1, **call)
        assert plan.prompt is not None
        shown += [repr(plan), str(plan), repr(flow), repr(flow.request), repr(flow.prompt)]
        shown += [plan.prompt.user, plan.prompt.system, repr(plan.prompt)]
        second = ctx.summarize(
            client_of(llm_server, "messages"), model="m", keep_last_turns=1, **call
        )
        shown += [*reported(second), *kept_in(store, path)]
        recalled = ctx.recall(query="refund R-77")
        tool = ctx.recall_tool()
        shown += [deep(recalled), deep(ctx.recall(call_id="callAAAA1")), repr(ctx)]
        shown += [tool.handler(call_id="callAAAA1"), tool.handler(query="refund"), repr(tool)]
        shown += [tool.handler(query=redact(TOKEN))]
        undone = ctx.undo()
        shown += [repr(undone), str(undone), *kept_in(store, path)]
        assert first.changed
        assert second.changed
        assert undone.changed
        ctx.undo()
        shown += kept_in(store, path)
    assert recalled
    assert_hidden(asked=asked(llm_server), shown=shown, logged=logged_in(logged))
    assert items[: len(before)] == before


@pytest.mark.parametrize("given", ["context", "call"])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_was_written_ahead_of_a_fold_is_not_shown_as_it_was(shape: str, given: str) -> None:
    """A list that is asked at each turn has its elements before anybody says what to hide."""
    own: Any = {"redact": redact} if given == "context" else {}
    call: Any = {"redact": redact} if given == "call" else {}
    ctx: ChatContext[Any] = ChatContext(shape=shape, policy=Policy(max_tokens=10**9), **own)
    for item in history(shape):
        ctx.append(item)
        ctx.maybe_summarize(lambda prompt: "never asked")
    asked: list[Prompt] = []

    def answering(prompt: Prompt) -> str:
        asked.append(prompt)
        return "- All is well."

    outcome = ctx.summarize(answering, keep_last_turns=1, **call)
    assert outcome.changed
    assert not leaked(asked[0].user)
    assert not leaked(deep(outcome.item))


@pytest.mark.parametrize("where", ["memory", "sqlite"])
def test_what_an_earlier_fold_let_through_goes_with_the_next(
    llm_server: LLMServer, tmp_path: Path, where: str
) -> None:
    """Who begins to redact late finds the secret in no summary, no record and no new request."""
    path = tmp_path / "originals.db"
    store = MemoryStore() if where == "memory" else sql_store(path)
    items = history("openai_chat")
    ctx = ChatContext(items, shape="openai_chat")
    llm_server.default = ok(f"- Refund done.\n- Refund R-77 to {CARD} for {MAIL}, token {TOKEN}.")
    client = client_of(llm_server, "chat")
    assert ctx.summarize(client, model="m", keep_last_turns=1)
    assert leaked(items[0]["content"])
    llm_server.requests.clear()
    later = ChatContext(json.loads(json.dumps(items)), store=store, redact=redact)
    later.extend(
        [words("", "assistant", LONG), words("", "user", "?"), words("", "assistant", "!")]
    )
    with records() as logged:
        outcome = later.summarize(client, model="m", keep_last_turns=1)
    assert outcome.changed
    assert_hidden(
        asked=asked(llm_server),
        reported=reported(outcome),
        stored=kept_in(store, path),
        items=[deep(later.items)],
        logged=logged_in(logged),
    )


def echoing(body: dict[str, Any]) -> str:
    """Return a message that repeats the request, as servers that validate it do."""
    return f"Invalid request: {json.dumps(body, ensure_ascii=False)}"


FAILURES: dict[str, Behaviour] = {
    "echoed": Answer(echoing, end="failed"),
    "rejected": Failure(400, f"invalid: {redact(TOKEN)} {LONG}"),
    "refused": refused(f"I will not talk about {redact(MAIL)}."),
    "truncated": truncated(),
    "empty": empty(),
    "reasoning": reasoning_only(),
    "tool": tool_call("lookup", token="x"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FAILURES)
def test_no_error_of_a_model_call_holds_a_secret(
    llm_server: LLMServer, name: str, kind: str
) -> None:
    """Whatever the server answers, and whatever the SDK logs of that."""
    store = MemoryStore()
    items = history("openai_responses")
    before = list(items)
    llm_server.default = FAILURES[name]
    with records() as logged:
        ctx = ChatContext(items, shape="openai_responses", store=store, redact=redact)
        with pytest.raises(ChatfoldError) as caught:
            ctx.summarize(client_of(llm_server, kind), model="m", keep_last_turns=1, retries=0)
    assert_hidden(
        told=told(caught.value),
        asked=asked(llm_server),
        logged=logged_in(logged),
        stored=kept_in(store),
    )
    assert all(a is b for a, b in zip(items, before, strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_values_that_a_model_was_not_shown_are_refused_without_being_said(
    llm_server: LLMServer, kind: str
) -> None:
    """The error has them as data, and what `redact=` takes out is not among them."""
    llm_server.default = ok(f"- Paid 812.50 EUR on 2031-02-03 with {TOKEN} for {MAIL} by {CARD}.")
    with records() as logged:
        ctx = ChatContext(history("anthropic"), shape="anthropic", redact=redact)
        with pytest.raises(UngroundedSummaryError) as caught:
            ctx.summarize(
                client_of(llm_server, kind), model="m", keep_last_turns=1, grounding="refuse"
            )
    assert caught.value.values
    assert_hidden(
        told=[*told(caught.value), deep(caught.value.values)],
        asked=asked(llm_server),
        logged=logged_in(logged),
    )


class _FullStore(MemoryStore):
    """A store whose disk is full, and whose database quotes what it could not write."""

    def save(self, fold: StoredFold) -> None:
        raise StoreError(f"cannot write {deep(fold)}")


def test_no_error_after_the_model_call_holds_a_secret(
    llm_server: LLMServer, tmp_path: Path
) -> None:
    """A head that was edited meanwhile, a store that quotes its rows, and one that is broken."""
    path = tmp_path / "broken.db"
    store = sql_store(path)
    with sqlite3.connect(path) as connection:
        (table,) = connection.execute(
            "select name from sqlite_master where type = 'table' and name like '%items'"
        ).fetchone()
        connection.execute(f"alter table {table} add column more not null default 1 check (more=2)")
    told_of: list[str] = []
    with records() as logged:
        for broken in (store, _FullStore()):
            items = history("openai_chat")
            before = list(items)
            ctx = ChatContext(items, shape="openai_chat", store=broken, redact=redact)
            with pytest.raises(StoreError) as caught:
                ctx.summarize(client_of(llm_server, "chat"), model="m", keep_last_turns=1)
            assert caught.value.llm_calls == 1
            assert all(a is b for a, b in zip(items, before, strict=True))
            told_of += told(caught.value)
        items = history("openai_chat")

        def meddling(prompt: Prompt) -> str:
            items[0]["content"] += f" {TOKEN}"
            return SUMMARY

        with pytest.raises(StaleHeadError) as stale:
            ChatContext(items, redact=redact).summarize(meddling, keep_last_turns=1)
    assert_hidden(
        told=[*told_of, *told(stale.value)],
        asked=asked(llm_server),
        stored=kept_in(store, path),
        logged=logged_in(logged),
    )


def filled(secrets: Secrets, size: int) -> str:
    """Return a text of so many characters that is secrets from end to end, in changing order."""
    draw = random.Random(size)
    made: list[str] = []
    length = 0
    while length < size:
        made.append(draw.choice(secrets) + draw.choice(("", "", "", " ")))
        length += len(made[-1])
    return "".join(made)


@pytest.mark.parametrize("size", [9_000, 30_001, 120_000])
@pytest.mark.parametrize("shape", ["openai_chat", "anthropic"])
def test_no_cut_halves_a_secret(llm_server: LLMServer, shape: str, size: int) -> None:
    """Wherever a giant text is cut in the middle, what is cut has been redacted as a whole."""
    items = history(shape)
    giant = filled(SECRETS, size)
    if shape == "openai_chat":
        items[2]["content"] = giant
    else:
        items[2]["content"][0]["content"] = giant
    items[-3:-3] = [words(shape, "user", giant), words(shape, "assistant", giant)]
    store = MemoryStore()
    with records() as logged:
        ctx = ChatContext(items, shape=shape, redact=redact, store=store, max_prompt_tokens=2_000)
        llm_server.default = ok("- Refund R-77 is done.")
        outcome = ctx.summarize(client_of(llm_server, "chat"), model="m", keep_last_turns=1)
        tool = ctx.recall_tool(max_characters=700)
        answers = [tool.handler(call_id=id_) for id_ in ("callAAAA1", "callAAAA2")]
    assert len(llm_server.requests) > 1
    assert_hidden(
        asked=asked(llm_server),
        reported=reported(outcome),
        answers=answers,
        stored=kept_in(store),
        logged=logged_in(logged),
    )


def test_a_window_that_the_server_tells_halves_no_secret_either(llm_server: LLMServer) -> None:
    """The prompt is made smaller after a refusal, from texts that are redacted as before."""
    items = history("openai_chat")
    items[2]["content"] = filled(SECRETS, 60_000)
    llm_server.default = Limited(
        6_000,
        lambda text: len(text) // 4,
        ok("- Refund R-77 is done."),
        lambda window, size: Failure(
            400,
            f"This model's maximum context length is {window} tokens. However, your messages "
            f"resulted in {size} tokens. Please reduce the length of the messages.",
            code="context_length_exceeded",
        ),
    )
    with records() as logged:
        ctx = ChatContext(items, shape="openai_chat", redact=redact)
        outcome = ctx.summarize(client_of(llm_server, "chat"), model="m", keep_last_turns=1)
    assert outcome.changed
    assert_hidden(asked=asked(llm_server), reported=reported(outcome), logged=logged_in(logged))


def test_names_that_hold_a_secret_are_hidden_too(llm_server: LLMServer) -> None:
    """Authors, files, agents, and the type of what nobody knows."""
    items: list[Any] = [
        {"role": "user", "name": MAIL, "content": f"I am {MAIL}."},
        {"role": "assistant", "name": f"bot-{CARD}", "content": LONG},
        {"role": "user", "content": [{"type": "from_the_future", "title": MAIL, "of": {MAIL: 1}}]},
        {"role": "assistant", "content": LONG},
        {"role": "user", "content": "And now?"},
    ]
    store = MemoryStore()
    with records() as logged:
        ctx = ChatContext(items, shape="openai_chat", redact=redact, store=store)
        outcome = ctx.summarize(client_of(llm_server, "chat"), model="m", keep_last_turns=1)
    assert outcome.changed
    assert_hidden(
        asked=asked(llm_server),
        reported=reported(outcome),
        stored=kept_in(store),
        logged=logged_in(logged),
    )


def test_a_plan_that_somebody_else_answers_is_redacted_on_the_way_in() -> None:
    """`apply` and a flow take a text from anywhere, from a model that was shown more too."""
    text = f"- Refund R-77 is done.\n- It is for {MAIL}: {TOKEN}, {CARD}."
    for grounding in ("report", "repair", "drop"):
        ctx = ChatContext(history("gemini"), shape="gemini", redact=redact)
        outcome = ctx.apply(ctx.plan(keep_last_turns=1, grounding=grounding), text)
        assert_hidden(applied=[*reported(outcome), deep(ctx.items[0])])
        ctx = ChatContext(history("gemini"), shape="gemini", redact=redact)
        flow = ctx.flow(keep_last_turns=1, grounding=grounding)
        while flow.prompt is not None:
            assert_hidden(prompt=[flow.prompt.user, flow.prompt.system])
            flow.send(text)
        assert flow.outcome is not None
        assert_hidden(flowed=[*reported(flow.outcome), deep(ctx.items[0])])


def test_a_tool_that_recalls_hides_what_the_store_holds() -> None:
    """The agent's model is another reader than the application, which wrote the store itself."""
    store = MemoryStore()
    ctx = ChatContext(history("openai_chat"), shape="openai_chat", store=store)
    assert ctx.summarize(lambda p: SUMMARY, keep_last_turns=1)
    assert leaked(ctx.recall_tool().handler(call_id="callAAAA1"))
    later = ChatContext(ctx.items, shape="openai_chat", store=store, redact=redact)
    tool = later.recall_tool()
    answers = [tool.handler(call_id="callAAAA1"), tool.handler(query="refund token")]
    assert all("[hidden]" in answer for answer in answers)
    assert_hidden(answers=answers)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_json_writes_with_escapes_is_hidden(shape: str) -> None:
    """In the prompt, the record, the store and what is recalled, as the record knows it."""
    name, quoted = "Zoë Çelik", 'Ed "Red" Roe'
    given = json.dumps({"owner": name, "also": json.dumps([quoted, name]), "id": "T-4711"})
    asked, store = [], MemoryStore()
    items = json.loads(json.dumps(history(shape), default=str))
    items = _with_texts(items, {RESULT: given, MAIL: name})

    def hide(text: str) -> str:
        return text.replace(name, "[name]").replace(quoted, "[name]")

    def answering(prompt: Prompt) -> str:
        asked.append(prompt.user)
        return "- Ticket T-4711 is open."

    ctx = ChatContext(items, shape=shape, store=store, redact=hide)
    outcome = ctx.summarize(answering, keep_last_turns=1)
    assert outcome.changed
    tool = ctx.recall_tool()
    shown = [*asked, deep(outcome.summary), deep(ctx.recall(call_id="callAAAA1"))]
    shown += [*kept_in(store), tool.handler(call_id="callAAAA1")]
    for text in shown:
        assert not re.search(r"elik|Red", text)
    assert "[name]" in asked[0]


def _with_texts(value: Any, other: dict[str, str]) -> Any:
    """Return plain values with other texts in place of some, wherever in a text these stand."""
    if isinstance(value, str):
        for old, new in other.items():
            value = new if value == old else value.replace(old, new)
        return value
    if isinstance(value, dict):
        return {_with_texts(k, other): _with_texts(v, other) for k, v in value.items()}
    return [_with_texts(v, other) for v in value] if isinstance(value, list) else value


def test_keys_that_become_the_same_are_told_apart() -> None:
    """Two addresses as keys of one object are two keys in the store."""
    given = {MAIL: 1, TOKEN: 2, "[hidden]": 3, "n": CARD, "yes": True, "none": None}
    store = MemoryStore()
    items = history("anthropic")
    items[1]["content"][0]["input"] = given
    ctx = ChatContext(items, shape="anthropic", redact=redact, store=store)
    assert ctx.summarize(lambda p: SUMMARY, keep_last_turns=1)
    (kept,) = [i for i in ctx.recall(call_id="callAAAA1") if i["role"] == "assistant"]
    made = kept["content"][0]["input"]
    assert len(made) == len(given)
    assert list(made.values()) == [1, 2, 3, "[hidden]", True, None]
