"""What shapes outside of the core ask of it: a framework's summaries, times, and stored items."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest
from pydantic import BaseModel

from chatfold import ChatContext
from chatfold.core.digest import fingerprints
from chatfold.core.native import fields_of, plain
from chatfold.core.summary import FOREIGN, Summaries, earlier_summary, mark_summary, wrapped
from chatfold.core.views import ItemView, StatePart, SummaryPart, TextPart
from chatfold.shapes.openai_chat import OpenAIChat
from chatfold.stores import MemoryStore

SYSTEM = ItemView("system", (TextPart("s"),), "message", "x")
STATE = ItemView("state", (StatePart("settings"),), "settings", "x")
THEIRS = ItemView("state", (TextPart("what was said"),), FOREIGN, "x")
OURS = wrapped("what was said", "note")
USER = ItemView("user", (TextPart("hi"),), "message", "x")


@pytest.mark.parametrize("before", [[], [SYSTEM], [SYSTEM, STATE], [STATE, STATE]])
def test_a_frameworks_summary_is_found_behind_its_settings(before: list[ItemView]) -> None:
    """With its own words, or in our wrapper."""
    for said in ("what was said", OURS):
        theirs = THEIRS._replace(parts=(TextPart(said),))
        found = mark_summary([*before, theirs, USER], Summaries())
        assert found is not None
        assert found[0] == len(before)
        assert found[1].parts == (SummaryPart("what was said"),)


def test_a_wrapper_behind_settings_that_no_framework_marks_is_just_text() -> None:
    """Only the item right behind the instructions is taken by its words alone."""
    said = USER._replace(parts=(TextPart(OURS),))
    assert mark_summary([SYSTEM, said], Summaries()) is not None
    assert mark_summary([SYSTEM, STATE, said], Summaries()) is None
    assert mark_summary([SYSTEM, STATE], Summaries()) is None


def test_with_a_key_a_framework_s_mark_is_not_enough() -> None:
    """The key says who may write summaries."""
    assert mark_summary([SYSTEM, THEIRS, USER], Summaries(b"secret")) is None
    keyed = THEIRS._replace(parts=(TextPart(wrapped("ours", "note", b"secret")),))
    found = mark_summary([SYSTEM, STATE, keyed], Summaries(b"secret"))
    assert found is not None
    assert found[1].parts == (SummaryPart("ours"),)


def test_the_earlier_summary_of_a_head_opens_it_but_for_settings() -> None:
    """Anywhere else there is none."""
    summary = THEIRS._replace(parts=(SummaryPart("before"),))
    assert earlier_summary([summary, USER]) == SummaryPart("before")
    assert earlier_summary([STATE, summary, USER]) == SummaryPart("before")
    assert earlier_summary([USER, summary]) is None
    assert earlier_summary([STATE]) is None
    assert earlier_summary([]) is None


class Message(BaseModel):
    """An item as a framework may write it: its fields are there without being set."""

    id: str = "item_1"
    type: str = "message"
    content: Any = None


def test_a_framework_says_how_its_objects_are_told() -> None:
    """Else the type and id that its class makes would be lost in a store."""

    class Own(Message):
        pass

    fields_of.register(Own, lambda value: value.model_dump(exclude_none=True))
    said = {"id": "item_1", "type": "message", "content": ["hi"]}
    assert plain(Own(content=["hi"])) == said
    assert plain([Message(content=["hi"])]) == [{"content": ["hi"]}]
    assert fingerprints([Own(id="a")]) != fingerprints([Own(id="b")])


class Timed(OpenAIChat):
    """Chat messages in boxes that have a number, as a framework might keep them."""

    name = "timed"

    def read(self, item: object) -> ItemView | None:
        view = super().read(item.said if isinstance(item, Box) else item)
        return None if view is None else view._replace(shape=self.name)

    def summary_item(self, text: str, *, role: str) -> Any:
        return Box({"role": role, "content": text})

    def placed(self, summary: Any, last: Any, following: Any | None) -> Any:
        at = last.at + 0.5 if following is None else following.at - 0.5
        return Box(summary.said, at)

    def restored(self, value: Any) -> Any:
        return Box(value["said"], value["at"])


class Box:
    """A message and its time."""

    def __init__(self, said: dict[str, Any], at: float = 0.0) -> None:
        self.said = said
        self.at = at

    def to_dict(self) -> dict[str, Any]:
        return {"said": self.said, "at": self.at}


def boxes() -> list[Any]:
    said = [("user", "a" * 900), ("assistant", "b" * 900), ("user", "c"), ("assistant", "d")]
    return [Box({"role": r, "content": c}, float(at)) for at, (r, c) in enumerate(said, 1)]


@pytest.mark.parametrize(("keep", "at"), [(1, 2.5), (0, 4.5)])
def test_a_shape_gives_the_summary_its_place_in_time(keep: int, at: float) -> None:
    """It is told what the summary stands for, and what stands behind it."""
    outcome = ChatContext(boxes(), shape=Timed()).summarize(lambda _: "short", keep_last_turns=keep)
    assert outcome.item is not None
    assert outcome.item.at == at


def test_a_later_process_gets_items_as_the_shape_makes_them() -> None:
    """From a store, for undo and for recall."""
    store, items = MemoryStore(), boxes()
    assert ChatContext(items, shape=Timed(), store=store).summarize(
        lambda _: "short", keep_last_turns=1
    )
    said = json.loads(json.dumps([item.to_dict() for item in items]))
    loaded = [Timed().restored(value) for value in said]
    later = ChatContext(loaded, shape=Timed(), store=store)
    found = later.recall(query="a" * 900)
    assert [type(item) for item in found] == [Box]
    assert later.undo().reason == "undone"
    assert [item.at for item in loaded] == [1.0, 2.0, 3.0, 4.0]
    plain_items: list[Any] = [item.said for item in boxes()]
    other = MemoryStore()
    ctx = ChatContext(plain_items, store=other)
    assert ctx.summarize(lambda _: "short", keep_last_turns=1)
    fresh = ChatContext(list(plain_items), store=other)
    assert fresh.undo().reason == "undone"


def test_a_fold_in_the_background_can_be_awaited() -> None:
    """Until it is written, or given up."""

    async def run() -> None:
        going = asyncio.Event()

        async def answer(_: object) -> str:
            await going.wait()
            return "short"

        ctx = ChatContext(boxes(), shape=Timed())
        fold = ctx.summarize_in_background(answer, keep_last_turns=1)
        waiting = asyncio.ensure_future(fold.await_done())
        await asyncio.sleep(0.01)
        assert not waiting.done()
        going.set()
        await waiting
        assert fold.apply_if_ready().reason == "summarized"
        going.clear()
        again = ChatContext(boxes(), shape=Timed())
        other = again.summarize_in_background(answer, keep_last_turns=1)
        other.cancel()
        await other.await_done()
        assert other.done

    asyncio.run(run())


@pytest.mark.parametrize("given_up", [False, True])
def test_so_can_one_that_a_thread_writes(given_up: bool) -> None:
    """A turn that began it outside of an event loop may be followed by one inside."""
    going = threading.Event()

    def answer(_: object) -> str:
        going.wait(10)
        return "short"

    ctx = ChatContext(boxes(), shape=Timed())
    fold = ctx.summarize_in_background(answer, keep_last_turns=1)

    async def run() -> None:
        waiting = asyncio.ensure_future(fold.await_done())
        await asyncio.sleep(0.05)
        assert not waiting.done()
        if given_up:
            fold.cancel()
        else:
            going.set()
        await asyncio.wait_for(waiting, 5)

    asyncio.run(run())
    going.set()
    assert fold.apply_if_ready().reason == ("cancelled" if given_up else "summarized")
    asyncio.run(fold.await_done())
