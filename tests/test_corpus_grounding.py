"""Faithful renderings of real histories are left alone; one changed or moved value is found.

The renderings are made without a model and without chatfold's own reading of values. The corpus
lies beside the checkout and is never copied into it.
"""

from __future__ import annotations

import calendar
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest
from conftest import shared_directory

from chatfold import ChatContext
from chatfold.core.calls import ToolCallRecord
from chatfold.core.grounding import Sources, Ungrounded, ungrounded
from chatfold.core.views import ItemView, TextPart

pytestmark = pytest.mark.skipif(
    not (shared_directory() / "corpus").is_dir(),
    reason="no corpus beside the checkout; set CHATFOLD_SHARED",
)

STEP = 6  # every sixth history: all of them take minutes
FILES = ("openai_chat", "openai_responses", "anthropic")
_MONTHS = list(calendar.month_name)[1:]
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MONEY = re.compile(r"price|amount|total|cost|balance")
_ID = re.compile(r"(?:^|_)(?:id|number|sha|code)$")


class History(NamedTuple):
    name: str
    views: list[ItemView]
    calls: list[ToolCallRecord]


@cache
def _histories() -> list[History]:
    found: list[History] = []
    for name in FILES:
        path = shared_directory() / "corpus" / f"{name}.jsonl"
        with path.open(encoding="utf-8") as lines:
            for line in list(lines)[::STEP]:
                items = json.loads(line)["items"]
                ctx: ChatContext[Any] = ChatContext(items, shape=name)
                found.append(History(name, list(ctx.views()), list(ctx.tool_calls())))
    return found


# --- renderings ---------------------------------------------------------------------------------


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, (dict, list)) and re.search(r"\d", name):
                yield "id", name
            yield from _leaves(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, key)
    elif value is not None and not isinstance(value, bool):
        yield key or "value", value


def _plain(key: str, value: Any) -> str:
    return str(value)


def _pretty(key: str, value: Any) -> str:
    """Write a date in words and an amount with its currency."""
    day = _DAY.fullmatch(str(value))
    if day and 1 <= int(day[2]) <= 12:
        return f"{_MONTHS[int(day[2]) - 1]} {int(day[3])}, {day[1]}"
    if isinstance(value, float) or (isinstance(value, int) and _MONEY.search(key)):
        return f"${abs(value):,.2f}"
    return str(value)


def _flat(history: History, write: Callable[[str, Any], str]) -> list[str]:
    """Say each call in one line, without a bracket that tells what belongs to what."""
    out: list[str] = []
    for call in history.calls:
        arguments, result = _parsed(call.raw_arguments), _parsed(call.result)
        if isinstance(arguments, dict) and isinstance(result, (dict, list)):
            given, got = (
                ", ".join(f"{k}={write(k, v)}" for k, v in list(_leaves(found))[:60])
                for found in (arguments, result)
            )
            out.append(f"- {call.name}({given}) returned: {got}")
    return out


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner)


class Said(NamedTuple):
    """One sentence about a record: its id's key, its id, a field and its value."""

    key: str
    name: str
    field: str
    value: str
    rest: str = ""

    def __str__(self) -> str:
        field = self.field.replace("_", " ")
        return f"The {self.key.replace('_', ' ')} {self.name} has {field} {self.value}{self.rest}."


def _prose(history: History) -> list[Said]:
    out: list[Said] = []
    for call in history.calls:
        result = _parsed(call.result)
        for record in list(_objects(result))[:25] if result is not None else ():
            plain = {k: v for k, v in record.items() if isinstance(v, (str, int, float))}
            ids = [
                (k, str(v)) for k, v in plain.items() if _ID.search(k) and re.search(r"\d", str(v))
            ]
            for key, name in ids[:1]:
                rest = [(k, str(v)) for k, v in plain.items() if k != key and len(str(v)) < 80]
                out += [Said(key, name, field, value) for field, value in rest[:4]]
    return list(dict.fromkeys(out))


def _spoken(history: History) -> list[str]:
    return [
        part.text
        for view in history.views
        if view.role == "assistant"
        for part in view.parts
        if isinstance(part, TextPart)
    ]


RENDERINGS: dict[str, Callable[[History], list[str]]] = {
    "calls in lines": lambda history: _flat(history, _plain),
    "calls in lines, reformatted": lambda history: _flat(history, _pretty),
    "records in prose": lambda history: [str(said) for said in _prose(history)],
    "the agent's words": _spoken,
}


@pytest.mark.parametrize("name", list(RENDERINGS))
def test_a_faithful_rendering_is_left_alone(name: str) -> None:
    texts, alarms = 0, list[list[Ungrounded]]()
    for history in _histories():
        text = "\n\n".join(RENDERINGS[name](history))
        found = ungrounded(text, Sources(history.views, history.calls))
        texts += bool(text)
        alarms += [found] if found else []
    assert texts > 60
    assert len(alarms) <= 0.01 * texts, alarms[:5]


def test_what_the_agent_said_of_results_is_not_misplaced() -> None:
    """Even where its own words are no source, so that only calls and users can vouch for them."""
    for history in _histories():
        muted = [
            view._replace(parts=tuple(p for p in view.parts if not isinstance(p, TextPart)))
            if view.role == "assistant"
            else view
            for view in history.views
        ]
        sources = Sources(muted, history.calls)
        found = ungrounded("\n\n".join(_spoken(history)), sources)
        assert [u for u in found if u.why == "misplaced"] == []


@pytest.mark.parametrize("limit", [{"keep_last_turns": 0}, {"keep_tokens": 1500}])
def test_a_summary_that_copies_has_nothing_ungrounded(limit: dict[str, Any]) -> None:
    folds = 0
    for name in FILES:
        with (shared_directory() / "corpus" / f"{name}.jsonl").open(encoding="utf-8") as lines:
            for line in list(lines)[::STEP]:
                ctx: ChatContext[Any] = ChatContext(json.loads(line)["items"], shape=name)
                outcome = ctx.summarize("extractive", grounding="report", **limit)
                if outcome.changed:
                    folds += 1
                    assert outcome.facts is not None
                    assert outcome.facts.ungrounded == (), outcome
    assert folds > 50


# --- lies ---------------------------------------------------------------------------------------


def _other_digit(rng: random.Random, said: Said, all_said: list[Said]) -> Said | None:
    places = [n for n, c in enumerate(said.name) if c.isdigit()]
    if len(places) < 4:
        return None
    at = rng.choice(places[1:])
    other = str((int(said.name[at]) + rng.randint(1, 9)) % 10)
    return said._replace(name=said.name[:at] + other + said.name[at + 1 :])


def _moved(rng: random.Random, said: Said, all_said: list[Said]) -> Said | None:
    """Return what is said of another record, where no record has both."""
    same = [s for s in all_said if (s.key, s.field) == (said.key, said.field)]
    own = {s.value for s in same if s.name == said.name}
    owners = Counter(s.value for s in {s._replace(rest="") for s in same})
    others = [s.value for s in same if s.value not in own and owners[s.value] == 1]
    others = [v for v in others if re.fullmatch(r"[A-Za-z#_-]*\d[\w.:-]{2,}", v)]
    return said._replace(value=rng.choice(others)) if others and len(own) == 1 else None


LIES = {"one other digit of an id": (_other_digit, 0.99), "another record's value": (_moved, 0.4)}


@pytest.mark.parametrize("kind", list(LIES))
def test_a_lie_about_a_real_record_is_found(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A moved value only where that is certain: values recur, and what owns what is often open."""
    change, floor = LIES[kind]
    rng = random.Random(kind)
    lies = caught = 0
    for history in _histories():
        said = _prose(history)
        sources = Sources(history.views, history.calls)
        shown = "\n".join([*(c.raw_arguments + c.result for c in history.calls), *_spoken(history)])
        for one in rng.sample(said, min(len(said), 4)):
            lie = change(rng, one, said)
            if lie is None or lie == one or (lie.name != one.name and lie.name in shown):
                continue
            lies += 1
            caught += bool(ungrounded(str(lie), sources))
    with capsys.disabled():
        print(f"\n{kind}: {caught} of {lies} found")
    assert lies > 40
    assert caught >= floor * lies
