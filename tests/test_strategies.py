"""The strategies draw what they promise: valid histories, every phenomenon, and the truth.

Belongs here: tests of `strategies.py` itself. The rules are checked by code of this file alone.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import cache, reduce
from itertools import pairwise
from operator import or_
from typing import Any, Literal, get_args

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from shapes.sdk_types import refusal, union_named
from strategies import SHAPES, History, broken, histories, long_history, support_call, texts

EXAMPLES = 200
BARE = {"sdk_objects": False, "open_calls": False, "allow_late": False, "opaque": True}


def plain(value: Any) -> Any:
    """Return `value` with each SDK object as the dict that the SDK would send."""
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(by_alias=True, exclude_unset=True))
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return [plain(part) for part in value] if isinstance(value, list) else value


class Sample:
    """A drawn history with its items as dicts, and the calls and results that they hold."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.items = [plain(item) for item in history.items]
        self.calls = [found for i, item in enumerate(self.items) for found in calls_in(i, item)]
        self.results = [found for i, item in enumerate(self.items) for found in results_in(i, item)]
        self.text = json.dumps(self.items)

    def blocks(self, kind: str) -> list[dict[str, Any]]:
        """Return the items, content blocks and tool calls whose type is `kind`."""
        return [found for found in nested(self.items) if found.get("type") == kind]


def nested(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from nested(part)


COMBINED = re.compile("(web_search|file_search|code_interpreter|image_generation|mcp)_call$")


def wire(value: Any) -> Any:
    """Return a Gemini content in Python's spelling, whichever it is written in."""
    if isinstance(value, list):
        return [wire(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {re.sub("[A-Z]", lambda c: f"_{c[0].lower()}", k): wire(v) for k, v in value.items()}


def keyed(item: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what a Gemini content or a Converse message holds, by its key."""
    for part in wire(item["parts"]) if "parts" in item else blocks_of(item):
        if "type" not in part:
            yield from ((key, value) for key, value in part.items() if isinstance(value, dict))


KEYED_CALLS = {
    "function_call": "function",
    "tool_call": "tool_call",
    "executable_code": "code",
    "toolUse": "use",
}
KEYED_RESULTS = {
    "function_response": "function",
    "tool_response": "tool_call",
    "code_execution_result": "code",
    "toolResult": "use",
}


def keyed_id(value: dict[str, Any]) -> Any:
    return value.get("toolUseId", value.get("id"))


def kept_apart(kind: str, value: dict[str, Any]) -> str:
    """Return the kind that joins a call with results; without an id, its name is part of it."""
    named = kind == "function" and "id" not in value
    return f"{kind} {value.get('name')}" if named else kind + ("s" if "type" in value else "")


def blocks_of(item: dict[str, Any]) -> list[dict[str, Any]]:
    content = item.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def calls_in(index: int, item: dict[str, Any]) -> Iterator[tuple[int, Any, Any, str]]:
    """Yield (index, id, name, kind) of each call; the kind joins calls with results."""
    kind = str(item.get("type", ""))
    for call in item.get("tool_calls") or ():
        name = call[call.get("type", "function")]["name"]
        yield index, call.get("id"), name, "tool" if "id" in call else f"tool {name}"
    if item.get("function_call"):
        yield index, None, item["function_call"]["name"], "function"
    if COMBINED.fullmatch(kind):
        yield index, item["id"], item.get("name"), "combined"
    elif kind == "program" or kind.endswith("_call"):
        yield index, item["call_id"], item.get("name"), kind
    for key, value in keyed(item):
        if key in KEYED_CALLS:
            joins = kept_apart(KEYED_CALLS[key], value)
            yield index, keyed_id(value), value.get("name"), joins
    for block in blocks_of(item):
        if block.get("type", "").endswith("tool_use"):
            yield index, block["id"], block["name"], block["type"]


def results_in(index: int, item: dict[str, Any]) -> Iterator[tuple[int, Any, str]]:
    """Yield (index, id, kind) of each result that is an item or block of its own."""
    kind = str(item.get("type", ""))
    if item.get("role") in ("tool", "function"):
        key, name = item.get("tool_call_id"), item.get("tool_name", item.get("name"))
        named = item["role"] == "tool" and key is None  # Ollama's, and Mistral's without an id
        yield index, key, f"tool {name}" if named else item["role"]
    if kind == "local_shell_call_output":
        yield index, item["id"], "local_shell_call"
    elif kind == "tool_search_output":
        yield index, item["call_id"], "tool_search_call"
    elif kind.endswith("_output"):
        yield index, item["call_id"], kind.removesuffix("_output")
    for key, value in keyed(item):
        if key in KEYED_RESULTS:
            yield index, keyed_id(value), kept_apart(KEYED_RESULTS[key], value)
    for block in blocks_of(item):
        if block.get("type", "").endswith("tool_result"):
            own = {"tool_result": "tool_use", "mcp_tool_result": "mcp_tool_use"}
            yield index, block["tool_use_id"], own.get(block["type"], "server_tool_use")


def generating(count: int) -> settings:
    """Return settings that draw `count` examples, the same at each run."""
    return settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        derandomize=True,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def drawn(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    """Return `count` examples, the same at each run."""
    found: list[Any] = []

    @generating(count)
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


@cache
def samples(shape: str, kind: str = "") -> list[Sample]:
    """Return histories: as they come, `broken`, or `bare` (all that can be left out left out)."""
    options = {"broken": {"broken": True}, "bare": BARE}.get(kind, {})
    count = EXAMPLES // 2 if kind else EXAMPLES
    return [Sample(history) for history in drawn(histories(shape, **options), count)]


def words(content: Any) -> bool:
    return any(block.get("type") == "text" for block in content if isinstance(block, dict))


# --- the providers' rules, written once more ----------------------------------------------------


def chat_faults(items: list[dict[str, Any]]) -> list[str]:
    """Return what Chat Completions would refuse, open calls at the end aside."""
    faults: list[str] = []
    due: list[Any] = []
    for index, item in enumerate(items):
        answer = item.get("tool_call_id", item.get("name"))
        if item["role"] in ("tool", "function"):
            if answer in due:
                due.remove(answer)
            else:
                faults.append(f"{index}: answers no call")
            continue
        if due:
            faults.append(f"{index}: stands before the results of {due}")
        calls = list(calls_in(index, item))
        due = [name if kind == "function" else call_id for _, call_id, name, kind in calls]
        if item.get("content") is None and not calls:
            faults.append(f"{index}: has no content")
    return faults


def ollama_faults(items: list[dict[str, Any]]) -> list[str]:
    """Return what Ollama's models were not taught, open calls at the end aside."""
    faults: list[str] = []
    due: list[tuple[Any, str]] = []
    for index, item in enumerate(items):
        if item["role"] == "tool":
            answer = (item.get("tool_call_id"), item["tool_name"])
            if answer in due:
                due.remove(answer)
            else:
                faults.append(f"{index}: answers no call")
            continue
        if due:
            faults.append(f"{index}: stands before the results of {due}")
        due = [(call_id, name) for _, call_id, name, _ in calls_in(index, item)]
        if not isinstance(item["content"], str):
            faults.append(f"{index}: content is no text")
    return faults


def mistral_faults(items: list[dict[str, Any]]) -> list[str]:
    """Return what Mistral would refuse, open calls at the end aside."""
    faults = chat_faults(items)
    after = {"u": "usa", "s": "usa", "a": "uat", "t": "at"}
    letters = "".join(item["role"][0] for item in items)
    faults += [f"{b} after {a}" for a, b in pairwise(letters) if b not in after[a]]
    if items and items[0].get("tool_calls"):
        faults.append("0: a call comes first")
    for index, item in enumerate(items):
        ids = [call[1] for call in calls_in(index, item)]
        if len(ids) > len(set(ids)) or not all(re.fullmatch("[a-zA-Z0-9]{9}", str(i)) for i in ids):
            faults.append(f"{index}: ids {ids}")
        if item["role"] == "assistant" and not item["content"] and not ids:
            faults.append(f"{index}: is empty")
        if item.get("prefix") and index < len(items) - 1:
            faults.append(f"{index}: a prefix in the middle")
    return faults


def responses_faults(items: list[dict[str, Any]]) -> list[str]:
    """Return what Responses would refuse, open calls at the end and asynchronous ones aside."""
    faults: list[str] = []
    due: list[tuple[str, Any, int]] = []
    ids = [item["id"] for item in items if "id" in item]
    if len(ids) != len(set(ids)):
        faults.append("duplicate item ids")
    for index, item in enumerate(items):
        due += [(kind, call_id, index) for _, call_id, _, kind in calls_in(index, item)]
        for _, call_id, kind in results_in(index, item):
            answered = next((call for call in due if call[:2] == (kind, call_id)), None)
            if answered:
                due.remove(answered)
            else:
                faults.append(f"{index}: answers no call")
        if item.get("type") == "reasoning":
            after = items[index + 1].get("type", "") if index + 1 < len(items) else ""
            if "id" not in items[min(index + 1, len(items) - 1)] and not after.endswith("_call"):
                faults.append(f"{index}: nothing follows the reasoning")
            if after in ("", "reasoning") or after.endswith("_output"):
                faults.append(f"{index}: nothing that it led to follows the reasoning")
    last_user = max((i for i, item in enumerate(items) if item.get("role") == "user"), default=-1)
    for kind, _, index in due:
        if index < last_user and not items[index].get("async") and kind != "combined":
            faults.append(f"{index}: has no result")
    return faults


def anthropic_faults(items: list[dict[str, Any]]) -> list[str]:
    """Return what Anthropic would refuse, open calls at the end aside."""
    faults: list[str] = []
    uses = [call_id for i, item in enumerate(items) for _, call_id, _, _ in calls_in(i, item)]
    if len(uses) != len(set(uses)):
        faults.append("duplicate tool_use ids")
    if items and items[0]["role"] != "user":
        faults.append("first message must use the user role")
    running: list[Any] = []
    for index, item in enumerate(items):
        before = items[index - 1] if index else {}
        after = items[index + 1] if index + 1 < len(items) else None
        content = item["content"]
        parts = blocks_of(item)
        blank = isinstance(content, str) and not content.strip()
        if blank or any(not p["text"].strip() for p in parts if p.get("type") == "text"):
            faults.append(f"{index}: blank text")
        if content == [] and after is not None:
            faults.append(f"{index}: empty content")
        kinds = [part["type"] for part in parts]
        if item["role"] == "user":
            here = [p["tool_use_id"] for p in parts if p["type"] == "tool_result"]
            asked = [p["id"] for p in blocks_of(before) if p["type"] == "tool_use"]
            if sorted(here) != sorted(asked):
                faults.append(f"{index}: results {here} for calls {asked}")
            if kinds[: len(here)] != ["tool_result"] * len(here):
                faults.append(f"{index}: results are not first")
            if running and (len(here) != len(kinds) or not here):
                faults.append(f"{index}: passes by server calls {running}")
        elif before and any(p["type"] == "tool_use" for p in blocks_of(before)):
            faults.append(f"{index}: no results before it")
        if item["role"] == "system":  # those in a row are judged together
            before = next((i for i in reversed(items[:index]) if i["role"] != "system"), None)
            after = next((i for i in items[index:] if i["role"] != "system"), None)
            good = (
                before and before["role"] == "user" and (not after or after["role"] == "assistant")
            )
            faults += [] if good else [f"{index}: misplaced system message"]
        for part in parts if item["role"] == "assistant" else ():
            if part["type"] in ("server_tool_use", "mcp_tool_use"):
                running.append(part["id"])
            elif part["type"].endswith("_tool_result"):
                if part["tool_use_id"] in running:
                    running.remove(part["tool_use_id"])
                else:
                    faults.append(f"{index}: answers no server call")
    return faults


def gemini_faults(items: list[dict[str, Any]]) -> list[str]:
    """Return what Gemini would refuse, open calls at the end aside."""
    faults: list[str] = []
    for index, item in enumerate(items):
        before = items[index - 1] if index else {}
        here = [(r[1], r[2]) for r in results_in(index, item) if r[2].startswith("function")]
        asked = [(c[1], c[3]) for c in calls_in(index, before) if c[3].startswith("function")]
        calls = [c for c in calls_in(index, item) if c[3].startswith("function")]
        if sorted(here, key=repr) != sorted(asked, key=repr):
            faults.append(f"{index}: results {here} for calls {asked}")
        if calls and before.get("role") != "user":
            faults.append(f"{index}: a call behind {before.get('role')}")
        if item["role"] not in ("user", "model") or not item["parts"]:
            faults.append(f"{index}: role {item['role']}, {len(item['parts'])} parts")
    return faults


def bedrock_faults(items: list[dict[str, Any]]) -> list[str]:
    """Return what Converse would refuse, open calls at the end aside."""
    faults = ["starts with the model"] if items and items[0]["role"] != "user" else []
    for index, item in enumerate(items):
        here = sorted(r[1] for r in results_in(index, item) if r[2] == "use")
        asked = sorted(
            c[1] for c in calls_in(index, items[index - 1] if index else {}) if c[3] == "use"
        )
        if here != asked:
            faults.append(f"{index}: results {here} for calls {asked}")
        if any("text" in block and not block["text"].strip() for block in blocks_of(item)):
            faults.append(f"{index}: blank text")
        if not item["content"]:
            faults.append(f"{index}: no content")
    return faults


FAULTS: dict[str, Callable[[list[dict[str, Any]]], list[str]]] = {
    "openai_chat": chat_faults,
    "openai_responses": responses_faults,
    "anthropic": anthropic_faults,
    "gemini": gemini_faults,
    "bedrock": bedrock_faults,
    "ollama": ollama_faults,
    "mistral": mistral_faults,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_drawn_history_breaks_no_rule_of_its_provider(shape: str) -> None:
    """Nothing in a valid history would be refused, calls still open at its end aside."""
    for sample in samples(shape):
        assert sample.history.valid
        assert FAULTS[shape](sample.items) == [], sample.items


@pytest.mark.parametrize("shape", SHAPES)
def test_a_history_says_whether_it_breaks_a_rule(shape: str) -> None:
    """With `broken=True`, `valid` is False exactly where a rule is broken."""
    told = [sample.history.valid for sample in samples(shape, "broken")]
    for sample in samples(shape, "broken"):
        assert sample.history.valid == (not FAULTS[shape](sample.items)), sample.items
    assert {False, True} == set(told)


# --- the truth ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["", "broken", "bare"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_truth_names_every_call_and_every_result_once(shape: str, kind: str) -> None:
    """Expected calls and results are those that the items hold, in order of the calls."""
    for sample in samples(shape, kind):
        expected = sample.history.calls
        assert [(c.call_index, c.id) for c in expected] == [c[:2] for c in sample.calls]
        for call, (_, _, name, family) in zip(expected, sample.calls, strict=True):
            assert name in (None, call.name)
            if family == "combined":
                assert call.result_index in (None, call.call_index)
        separate = [
            c for c, found in zip(expected, sample.calls, strict=True) if found[3] != "combined"
        ]
        told = [(c.result_index, c.id) for c in separate if c.result_index is not None]
        assert sorted(told, key=repr) == sorted((r[:2] for r in sample.results), key=repr)


@pytest.mark.parametrize("kind", ["", "broken", "bare"])
@pytest.mark.parametrize("shape", SHAPES)
def test_results_bind_to_the_first_open_call_of_the_latest_step(shape: str, kind: str) -> None:
    """Bound anew from the items alone, every result goes to the call that the truth names."""
    for sample in samples(shape, kind):
        bound = {(i, call_id, at) for i, call_id, at in rebound(sample)}
        told = {
            (call.call_index, call.id, call.result_index)
            for call, found in zip(sample.history.calls, sample.calls, strict=True)
            if found[3] != "combined" and call.result_index is not None
        }
        assert bound == told


def rebound(sample: Sample) -> Iterator[tuple[int, Any, int]]:
    """Yield (call index, id, result index); a step is a run of calls with nothing between."""
    waiting: list[tuple[int, int, Any, Any]] = []  # (step, index, id, kind)
    step = 0
    for index, item in enumerate(sample.items):
        step += item.get("role") == "user"
        waiting += [(step, at, call_id, kind) for at, call_id, _, kind in calls_in(index, item)]
        for at, call_id, kind in results_in(index, item):
            fitting = [call for call in waiting if call[2:] == (call_id, kind)]
            latest = max(call[0] for call in fitting)
            chosen = next(call for call in fitting if call[0] == latest)
            waiting.remove(chosen)
            yield chosen[1], chosen[2], at
            step += item.get("execution") != "server"


@pytest.mark.parametrize("kind", ["", "broken", "bare"])
@pytest.mark.parametrize("shape", SHAPES)
def test_openers_are_the_user_messages_with_words_of_their_own(shape: str, kind: str) -> None:
    """A message that only carries tool results opens nothing; results and text do."""
    for sample in samples(shape, kind):
        real = [
            index
            for index, item in enumerate(sample.items)
            if item.get("role") == "user"
            and (
                item.get("content") == ""
                or not isinstance(item.get("content", item.get("parts")), list)
                or any(
                    part.get("type") != "tool_result"
                    and not part.keys() & {*KEYED_RESULTS, "functionResponse", "cachePoint"}
                    for part in item.get("content", item.get("parts"))
                )
            )
        ]
        assert sample.history.openers == real


@pytest.mark.parametrize("shape", SHAPES)
def test_a_call_is_abandoned_once_a_user_message_passes_it_by(shape: str) -> None:
    """Only open calls without `async` are abandoned, and only in histories that are not valid."""
    for sample in samples(shape, "broken"):
        last_user = max(sample.history.openers, default=-1)
        for call in sample.history.calls:
            passed = call.result_index is None and last_user > call.call_index
            assert call.abandoned == (passed and not call.asynchronous)
            assert not (call.abandoned and sample.history.valid)


# --- the SDKs' own types ------------------------------------------------------------------------


def checker(shape: str, *, forbid: bool) -> Callable[[Any], None]:
    """Return a function that raises where an item does not fit the SDK's input types.

    Skips where the installed SDK is older than those types. With `forbid`, unknown keys do not
    fit; Anthropic's blocks are then checked on their own, for its unions take SDK objects too,
    and those accept any key.
    """
    if shape in TYPED:
        return typed(shape)
    pydantic = pytest.importorskip("pydantic", minversion="2.10")
    sdk, version = ("anthropic", "2.12") if shape == "anthropic" else ("openai", "3.54")
    pytest.importorskip(sdk, minversion=version)
    item: Any
    block: Any = Any
    if shape == "anthropic":
        from anthropic.types.beta import BetaContentBlockParam, BetaMessageParam

        item = BetaMessageParam
        members = get_args(BetaContentBlockParam)
        block = reduce(or_, [m for m in members if isinstance(m, type) and issubclass(m, dict)])
    elif shape == "openai_chat":
        from openai.types.chat import ChatCompletionMessageParam

        item = ChatCompletionMessageParam
    else:
        from openai.types.responses import ResponseInputItemParam

        item = ResponseInputItemParam
    config = {"extra": "forbid" if forbid else "ignore"}
    items = pydantic.TypeAdapter(item, config=config)
    blocks = pydantic.TypeAdapter(block, config=config if shape == "anthropic" else None)
    errors = pydantic.TypeAdapter(dict[Literal["type", "error_code"], str])

    def check(value: Any) -> None:
        value = sendable_text(value)
        exhaust(items.validate_python(value))
        for part in blocks_of(value):
            if part.get("type") == "web_search_tool_result" and isinstance(part["content"], dict):
                # Where a list or an error may stand, pydantic takes a dict for the list.
                errors.validate_python(part["content"])
                part = {**part, "content": []}
            exhaust(blocks.validate_python(part))

    return check


TYPED = {
    "gemini": "google.genai.types:ContentDict",
    "bedrock": "shapes.sdk_types:CONVERSE_MESSAGE",
    "ollama": "ollama:Message",
    "mistral": "mistralai.client.models:ChatCompletionRequestMessageTypedDict",
}


def blobs(value: Any) -> Any:
    """Return a Gemini content as the SDK's dicts have it: in Python's spelling, with bytes."""
    held = {"thought_signature", "data"}
    if isinstance(value, list):
        return [blobs(part) for part in value]
    if not isinstance(value, dict):
        return value
    enums = {"outcome": "Outcome", "language": "Language", "tool_type": "ToolType"}
    return {
        key: part.encode()
        if key in held
        else union_named(f"google.genai.types:{enums[key]}")(part)
        if key in enums
        else part
        if key in ("args", "response")
        else blobs(part)
        for key, part in wire(value).items()
    }


def typed(shape: str) -> Callable[[Any], None]:
    """Return a function that raises where an item does not fit the SDK's type."""

    def check(value: dict[str, Any]) -> None:
        if shape == "ollama":  # the server takes ids, and the SDK does not know them yet
            left_out = ("tool_call_id", "images")  # an image is a text, where the SDK has a model
            value = {key: part for key, part in value.items() if key not in left_out}
            calls = value.get("tool_calls", ())
            bare = [{k: part for k, part in call.items() if k != "id"} for call in calls]
            value = {**value, "tool_calls": bare} if calls else value
        if shape == "gemini":
            value = blobs(value)
        found = refusal(union_named(TYPED[shape]), value)
        if found:
            raise ValueError(found)

    return check


def sendable_text(value: Any) -> Any:
    """Return `value` with lone surrogates replaced: pydantic takes no such text."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: sendable_text(part) for key, part in value.items()}
    return [sendable_text(part) for part in value] if isinstance(value, list) else value


def exhaust(value: Any) -> None:
    """Walk into what was validated: pydantic checks an `Iterable` only while it is read."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, str | bytes | int | float | None):
        for part in value:
            exhaust(part)


@pytest.mark.parametrize("kind", ["", "bare"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_drawn_item_fits_the_types_of_the_sdk(shape: str, kind: str) -> None:
    """Dicts have no key that the input union does not know; SDK objects fit by `to_dict()`."""
    forbid = kind == "bare" or shape != "openai_chat"  # its answers have keys of their own
    check = checker(shape, forbid=forbid)
    for sample in samples(shape, kind):
        for item in sample.items:
            check(item)


@pytest.mark.parametrize("shape", SHAPES)
def test_long_histories_and_the_support_call_fit_the_types_of_the_sdk(shape: str) -> None:
    """What is built without hypothesis is checked in the same way."""
    check = checker(shape, forbid=True)
    for item in [*long_history(shape, 300, seed=1), *support_call(shape)]:
        check(item)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_types_of_the_sdk_refuse_an_unknown_key_anywhere(shape: str) -> None:
    """The check above looks into every item and block: a key put in at random does not pass."""
    check = checker(shape, forbid=True)
    for sample in samples(shape, "bare")[:40]:
        for item in sample.items:
            for part in [item, *blocks_of(item)]:
                part["unheard_of"] = 1
                with pytest.raises(ValueError, match="unheard_of"):
                    check(item)
                del part["unheard_of"]


@pytest.mark.parametrize("shape", SHAPES)
def test_no_sdk_object_is_drawn_unless_asked_for(shape: str) -> None:
    """`sdk_objects=False` draws JSON types only, lone surrogates and all."""
    for sample in samples(shape, "bare"):
        assert json.loads(json.dumps(sample.history.items)) == sample.history.items


def test_the_sdk_objects_are_those_that_clients_return() -> None:
    """The types are the ones that responses are made of, and keep their own attributes."""
    chat = {type(i).__name__ for s in samples("openai_chat") for i in s.history.items}
    assert "ChatCompletionMessage" in chat
    inner = {
        type(call).__name__
        for s in samples("openai_chat")
        for item in s.history.items
        if isinstance(item, dict)
        for call in item.get("tool_calls", ())
    }
    assert "dict" in inner
    assert len(inner) > 1
    seen = {type(i).__name__ for s in samples("openai_responses") for i in s.history.items}
    assert {"ResponseOutputMessage", "ResponseFunctionToolCall"} <= seen
    assert seen & {"ResponseReasoningItem", "Reasoning"}  # its name in older releases
    blocks = {
        type(block).__name__
        for s in samples("anthropic")
        for item in s.history.items
        for block in (item["content"] if isinstance(item["content"], list) else ())
    }
    assert {"dict", "TextBlock", "ToolUseBlock", "ThinkingBlock"} <= blocks


# --- every phenomenon ---------------------------------------------------------------------------

Seen = Callable[[Sample], bool]


def holds(kind: str, **fields: Any) -> Seen:
    """Return whether an item or block of this type has these fields."""
    return lambda s: any(
        all(key in b and b[key] == value for key, value in fields.items()) for b in s.blocks(kind)
    )


def roles(pattern: str) -> Seen:
    """Return whether the roles, by their first letters (`-` for none), match somewhere."""
    return lambda s: bool(re.search(pattern, "".join(i.get("role", "-")[0] for i in s.items)))


def crossed(s: Sample) -> bool:
    ends = [(c.call_index, c.result_index) for c in s.history.calls if c.result_index is not None]
    return any(a < c <= b < d for a, b in ends for c, d in ends if a != c)


def out_of_order(s: Sample) -> bool:
    done = [c for c in s.history.calls if c.result_index not in (None, c.call_index)]
    if s.history.shape in ("anthropic", "gemini", "bedrock"):
        own = re.compile("tool_use|use|function( .*)?", re.DOTALL)
        results = [r for r in s.results if own.fullmatch(r[2])]
        calls = [c for c in s.calls if own.fullmatch(c[3])]
        return any(
            [r[1:] for r in results if r[0] == i] != [(c[1], c[3]) for c in calls if c[0] == i - 1]
            for i in {r[0] for r in results}
        )
    return any((a.result_index or 0) > (b.result_index or 0) for a, b in pairwise(done))


def late(s: Sample, *, asynchronous: bool) -> bool:
    return any(
        call.asynchronous == asynchronous
        and call.result_index is not None
        and any(call.call_index < opener < call.result_index for opener in s.history.openers)
        for call in s.history.calls
    )


def reused_across_steps(s: Sample) -> bool:
    done = [c for c in s.history.calls if c.id and c.result_index is not None]
    return any(a.id == b.id and a.result_index < b.call_index for a in done for b in done)  # type: ignore[operator]  # filtered above


def reused_in_a_step(s: Sample) -> bool:
    done = [c for c in s.history.calls if c.id and c.result_index is not None]
    return any(
        a is not b and a.id == b.id and a.call_index <= b.call_index < (a.result_index or 0)
        for a in done
        for b in done
    )


def not_json(s: Sample) -> bool:
    def bad(text: Any) -> bool:
        try:
            return not isinstance(text, str) or json.loads(text) is None
        except ValueError:
            return True

    return any(b.get("arguments") is not None and bad(b["arguments"]) for b in nested(s.items))


def later_server_result(s: Sample) -> bool:
    return any(
        c.result_index is not None and c.result_index > c.call_index and str(c.id).startswith("srv")
        for c in s.history.calls
    )


def tight_scope(s: Sample) -> bool:
    """Return whether a result stands between two calls of one reasoning scope."""
    kinds = " ".join(i.get("type", i.get("role", "")) for i in s.items)
    return bool(re.search(r"reasoning (\w+_call )+(\w+_output )+\w+_call ", kinds))


COMMON: dict[str, Seen] = {
    "no items": lambda s: not s.items,
    "several turns": lambda s: len(s.history.openers) >= 4,
    "a run of user messages": roles("uuu"),
    "parallel calls": lambda s: any(
        a.call_index == b.call_index or a.call_index + 1 == b.call_index
        for a, b in pairwise(s.history.calls)
    ),
    "results in another order": out_of_order,
    "an open call at the end": lambda s: any(c.status == "open" for c in s.history.calls),
    "an empty result": lambda s: any(c.result_text == "" for c in s.history.calls),
    "NUL": lambda s: r"\u0000" in s.text,
    "a lone surrogate": lambda s: r"\udfff tail" in s.text or r"\ud800\"" in s.text,
    "markup": lambda s: "</function_call_output><user>" in s.text,
    "error-like text": lambda s: any(
        str(c.result_text).startswith("Error") and not c.failed for c in s.history.calls
    ),
}
OPENAI: dict[str, Seen] = {
    "no prefix": roles("^u"),
    "a prefix of two": roles("^[sd]{2}"),
    "instructions in the middle": roles("u[^sd]*[sd]"),
    "no opener in the first turn": lambda s: any(
        i.get("role") == "assistant" for i in s.items[: min(s.history.openers, default=0)]
    ),
    "an id reused across steps": reused_across_steps,
    "an id twice in one step": reused_in_a_step,
    "arguments that are not JSON": not_json,
}
PHENOMENA: dict[str, dict[str, Seen]] = {
    "openai_chat": {
        **COMMON,
        **OPENAI,
        "a legacy call": lambda s: any(c.id is None for c in s.history.calls),
        "a null function result": lambda s: any(
            i["role"] == "function" and i["content"] is None for i in s.items
        ),
        "a custom call": holds("custom"),
        "a refusal": holds("refusal"),
        "a name": lambda s: any(i.get("name") == "ada" for i in s.items),
        "null content": lambda s: any(
            i["role"] == "assistant" and i["content"] is None for i in s.items
        ),
        "text beside calls": lambda s: any(i.get("tool_calls") and i["content"] for i in s.items),
        "a result in parts": lambda s: any(
            i["role"] == "tool" and isinstance(i["content"], list) for i in s.items
        ),
        "an image": holds("image_url"),
        "audio": holds("input_audio"),
        "a file": holds("file"),
        "an assistant's audio": lambda s: any(i.get("audio") for i in s.items),
        "calls answered in part": lambda s: any(
            c.status == "open" and any(o.call_index == c.call_index and o.completed for o in told)
            for told in [[_Told(c) for c in s.history.calls]]
            for c in s.history.calls
        ),
    },
    "gemini": {
        **COMMON,
        "the spelling of the wire": lambda s: "functionCall" in s.text,
        "the spelling of Python": lambda s: "function_call" in s.text,
        "a call without an id": lambda s: any(c.id is None for c in s.history.calls),
        "an id reused across steps": reused_across_steps,
        "an id twice in one step": reused_in_a_step,
        "a failed result": lambda s: any(c.failed for c in s.history.calls),
        "a signature": lambda s: "thought_signature" in s.text,
        "a thought": lambda s: '"thought": true' in s.text,
        "code that the server ran": lambda s: "executable_code" in s.text,
        "a tool of the server": lambda s: "tool_response" in s.text,
        "a medium": lambda s: "inline_data" in s.text,
        "a file": lambda s: "file_data" in s.text,
    },
    "bedrock": {
        **COMMON,
        "an id reused across steps": reused_across_steps,
        "a failed result": lambda s: any(c.failed for c in s.history.calls),
        "a result without content": lambda s: '"content": []' in s.text,
        **{
            key: lambda s, key=key: f'"{key}": ' in s.text  # type: ignore[misc]  # bound at once
            for key in (
                *("cachePoint", "image", "document", "video", "searchResult", "guardContent"),
                *("reasoningText", "redactedContent", "citationsContent"),
            )
        },
        "a tool of the server": lambda s: "server_tool_use" in s.text,
    },
    "ollama": {
        **COMMON,
        "no prefix": roles("^u"),
        "no opener in the first turn": roles("^s*a"),
        "a call without an id": lambda s: any(c.id is None for c in s.history.calls),
        "a call with an id": lambda s: any(c.id is not None for c in s.history.calls),
        "an id twice in one step": reused_in_a_step,
        "an id reused across steps": reused_across_steps,
        "an image": lambda s: any(i.get("images") for i in s.items),
        "thinking": lambda s: any(i.get("thinking") for i in s.items),
        "text beside calls": lambda s: any(i.get("tool_calls") and i["content"] for i in s.items),
    },
    "mistral": {
        **COMMON,
        "no prefix": roles("^u"),
        "no opener in the first turn": roles("^s+a"),
        "an id reused across steps": reused_across_steps,
        "arguments that are an object": lambda s: any(
            isinstance(b.get("arguments"), dict) for b in nested(s.items)
        ),
        "arguments that are not JSON": not_json,
        "null content": lambda s: any(i["content"] is None for i in s.items),
        "text beside calls": lambda s: any(i.get("tool_calls") and i["content"] for i in s.items),
        "a named result": lambda s: any(i["role"] == "tool" and "name" in i for i in s.items),
        "the beginning of an answer": lambda s: any(i.get("prefix") for i in s.items),
        **{
            kind: holds(kind)
            for kind in (
                *("thinking", "image_url", "input_audio", "file", "document_url", "reference"),
            )
        },
    },
    "openai_responses": {
        **COMMON,
        **OPENAI,
        "crossed results": crossed,
        "a late result": lambda s: late(s, asynchronous=False),
        "a late asynchronous result": lambda s: late(s, asynchronous=True),
        "an asynchronous call never answered": lambda s: any(
            c.asynchronous
            and c.status == "open"
            and max(s.history.openers, default=0) > c.call_index
            for c in s.history.calls
        ),
        "a call without an id": lambda s: any(c.id is None for c in s.history.calls),
        "two server searches in a row": lambda s: any(
            a.get("type") == b.get("type") == "tool_search_call" and b["call_id"] is None
            for a, b in pairwise(s.items)
        ),
        "a client's tool search": holds("tool_search_call", execution="client"),
        "a failed patch": holds("apply_patch_call_output", status="failed"),
        "a shell time-out": holds("timeout"),
        "a failed MCP call": holds("mcp_call", status="failed"),
        "a call still at the server": lambda s: any(
            COMBINED.fullmatch(i.get("type", "")) and c.result_index is None and c.id == i["id"]
            for c in s.history.calls
            for i in s.items
        ),
        "an approval": lambda s: any(i.get("approval_request_id") and "name" in i for i in s.items),
        "a denied approval": holds("mcp_approval_response", approve=False),
        "a pending approval": lambda s: bool(s.history.approvals),
        "reasoning with a summary": holds("summary_text"),
        "reasoning without a summary": holds("reasoning", summary=[]),
        "reasoning in the open": holds("reasoning_text"),
        "encrypted reasoning": lambda s: "encrypted_content" in s.text,
        "interleaved outputs": tight_scope,
        "a program with calls": lambda s: any(
            i.get("caller", {}).get("type") == "program" for i in s.items
        ),
        "a program still running": lambda s: any(
            c.name == "program" and c.status == "open" for c in s.history.calls
        ),
        "a handoff": lambda s: any(
            c.name.startswith("transfer_to") and "assistant" in str(c.result_text)
            for c in s.history.calls
        ),
        "tools": holds("additional_tools"),
        "effort": holds("configuration_update", reasoning={"effort": "high"}),
        "an image": holds("input_image"),
        "a file": holds("input_file"),
        "an empty answer": holds("message", content=[]),
        "an empty output list": holds("function_call_output", output=[]),
        "a refusal": holds("refusal"),
        "a phase": holds("message", phase="commentary"),
        "an item without a type": lambda s: any("type" not in i for i in s.items),
        **{
            kind: holds(kind)
            for name in ("custom_tool", "shell", "local_shell", "apply_patch", "computer")
            for kind in (f"{name}_call", f"{name}_call_output")
        },
        **{
            kind: holds(kind)
            for kind in (
                *("web_search_call", "file_search_call", "code_interpreter_call"),
                *("image_generation_call", "mcp_call", "mcp_list_tools", "program_output"),
            )
        },
    },
    "anthropic": {
        **COMMON,
        "results and text": lambda s: any(
            i["role"] == "user"
            and any(b["type"] == "tool_result" for b in blocks_of(i))
            and words(i["content"])
            for i in s.items
        ),
        "a failed result": holds("tool_result", is_error=True),
        "a result without content": lambda s: any(
            "content" not in b for b in s.blocks("tool_result")
        ),
        "an image in a result": lambda s: any(
            part["type"] == "image" for b in s.blocks("tool_result") for part in blocks_of(b)
        ),
        "thinking": holds("thinking"),
        "redacted thinking": holds("redacted_thinking"),
        "a system message in the middle": roles("us(a|$)"),
        "a server result in the same message": lambda s: any(
            c.call_index == c.result_index for c in s.history.calls
        ),
        "a server result in a later message": later_server_result,
        "a paused turn": roles("aa"),
        "a server call still running": lambda s: any(
            c.status == "open" and str(c.id).startswith("srv") for c in s.history.calls
        ),
        "an MCP call": holds("mcp_tool_result"),
        "a failed server call": holds("web_search_tool_result_error"),
        "a document": holds("document"),
        "a search result": holds("search_result"),
        "an upload": holds("container_upload"),
        "a cache mark": lambda s: "cache_control" in s.text,
        "a citation": holds("web_search_result_location"),
        "an empty last answer": lambda s: bool(s.items) and s.items[-1]["content"] == [],
    },
}


def occurs(seen: Seen, shape: str, kind: str = "") -> bool:
    """Return whether a phenomenon is in the sample, or else in any of thousands of histories."""
    if any(map(seen, samples(shape, kind))):
        return True
    try:
        find(
            histories(shape, broken=kind == "broken"),
            lambda history: seen(Sample(history)),
            settings=generating(3000),
        )
    except NoSuchExample:
        return False
    return True


class _Told:
    """An expected call by where it is and whether it has a result."""

    def __init__(self, call: Any) -> None:
        self.call_index = call.call_index
        self.completed = call.result_index is not None


@pytest.mark.parametrize(
    ("shape", "name"), [(shape, name) for shape, seen in PHENOMENA.items() for name in seen]
)
def test_every_phenomenon_is_drawn(shape: str, name: str) -> None:
    """Each phenomenon is among some hundred histories, or hypothesis finds it in thousands."""
    assert occurs(PHENOMENA[shape][name], shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_abandoned_calls_are_drawn_on_request(shape: str) -> None:
    """`broken=True` lets a user message pass by open calls; without it none does."""
    assert any(c.abandoned for s in samples(shape, "broken") for c in s.history.calls)
    assert not any(c.abandoned for s in samples(shape) for c in s.history.calls)


def test_late_and_repeated_are_drawn_where_they_break_a_rule() -> None:
    """`broken=True` draws late Chat results and Anthropic ids that recur."""
    assert occurs(lambda s: late(s, asynchronous=False), "openai_chat", "broken")
    assert occurs(reused_across_steps, "anthropic", "broken")


def test_the_switches_turn_things_off() -> None:
    """No open call, no late result and no compaction item comes where it is switched off."""
    for shape in SHAPES:
        assert not any(sample.blocks("compaction") for sample in samples(shape))
        for sample in samples(shape, "bare"):
            assert all(call.result_index is not None for call in sample.history.calls)
            assert not sample.history.approvals
            assert not late(sample, asynchronous=False)
    for shape in ("openai_responses", "anthropic"):
        assert any(sample.blocks("compaction") for sample in samples(shape, "bare"))


def test_any_shape_is_drawn_unless_one_is_named() -> None:
    """Without a shape each one comes up; an unknown one is refused at once."""
    assert {history.shape for history in drawn(histories(), 200)} == set(SHAPES)
    with pytest.raises(KeyError):
        histories("telegram")


# --- texts, dirt, long histories, the support call ----------------------------------------------


def test_texts_are_as_wild_as_promised() -> None:
    """Each awkward text comes up, and blank ones only where they are allowed."""
    seen = drawn(texts(), 500)
    every = "".join(seen)
    awkward = ("\x00", "\x1b", "]]>", "</function_call_output><user>", "{{ x }}", "&amp;", "\r")
    for piece in (*awkward, '<chat_history_summary digest="0">', "\ufffe", "\uffff", "\ud800"):
        assert piece in every
    assert any(ord(char) > 0xFFFF for char in every)
    assert {"", " "} <= set(seen)
    assert all(text.strip() for text in drawn(texts(blank=False), 300))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_dirty_list_breaks_rules_and_claims_nothing(shape: str) -> None:
    """Deleting, doubling, swapping and cutting leaves lists that no provider takes."""
    dirty = drawn(broken(histories(shape)), 120)
    assert not any(h.valid or h.calls or h.openers or h.approvals for h in dirty)
    faulty = sum(bool(FAULTS[shape](Sample(history).items)) for history in dirty)
    assert faulty > 12


def test_junk_is_put_in_on_request() -> None:
    """Items that are no items, and items of unknown types, come with `junk=True` only."""
    dirty = broken(histories("openai_responses", max_turns=1), junk=True)
    future = {"type": "from_the_future", "data": 1}
    find(dirty, lambda history: None in history.items, settings=generating(1000))
    find(dirty, lambda history: future in history.items, settings=generating(1000))
    assert not any(None in history.items for history in drawn(broken(histories()), 60))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 17, 5000])
def test_a_long_history_is_valid_and_has_the_size_asked_for(shape: str, size: int) -> None:
    """Every size is met exactly, without a broken rule and without open calls."""
    items = long_history(shape, size, seed=7)
    assert len(items) == size
    assert FAULTS[shape](items) == []
    calls = [call for i, item in enumerate(items) for call in calls_in(i, item)]
    results = [result for i, item in enumerate(items) for result in results_in(i, item)]
    assert len(calls) == len(results)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_long_history_depends_on_its_seed_alone(shape: str) -> None:
    """The same seed gives the same items, another seed others."""
    assert long_history(shape, 200, seed=3) == long_history(shape, 200, seed=3)
    assert long_history(shape, 200, seed=3) != long_history(shape, 200, seed=4)
    with pytest.raises(KeyError):
        long_history("telegram", 1, seed=0)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_support_call_has_four_calls_and_a_handoff(shape: str) -> None:
    """The last turn is the address and four pairs less one, in the order that they happened."""
    items = support_call(shape)
    assert len(items) == (24 if shape in ("anthropic", "gemini", "bedrock") else 25)
    assert FAULTS[shape](items) == []
    names = [call[2] for i, item in enumerate(items) for call in calls_in(i, item)]
    assert names == [
        *("lookup_order", "check_warranty", "create_rma"),
        *("transfer_to_returns_agent", "generate_return_label"),
    ]
    address = next(i for i, item in enumerate(items) if "Quay Street" in json.dumps(item))
    assert items[address]["role"] == "user"
    assert len(items) - address == 8
    said = [json.dumps(i) for i in items if i.get("role") == "user" and not list(results_in(0, i))]
    assert not any("2025" in text or "7F29D4" in text for text in said)
    head = json.dumps(items[:address])
    for fact in ("LK-4821936", "2025-10-07", "2026-10-07", "ACB-PRO-7F29D4", "iPhone 14 Pro"):
        assert fact in head
