"""The Agents SDK's `OpenAIResponsesCompactionSession`, and `chatfold_filter` in its place."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any

from agents import Agent, RunConfig, Runner, SQLiteSession
from agents.memory import OpenAIResponsesCompactionSession
from agents.run_config import CallModelData, ModelInputData
from agents.testing import ScriptedModel, assistant_message
from integrations import openai_agents_items
from integrations.battery import Run, System, policies, written
from integrations.host import Writer
from integrations.transcripts import Transcript
from openai import AsyncOpenAI

from chatfold import Policy
from chatfold.integrations.openai_agents import FoldedSession, chatfold_filter

__all__ = ["SYSTEMS"]


@contextmanager
def compacting(asked: list[str]) -> Iterator[str]:
    """Answer `responses.compact` as the API does: users' messages, and one item for the rest.

    Args:
        asked: Gets the body of each request.

    Yields:
        The `base_url` of a client.
    """

    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append(json.dumps(body, ensure_ascii=False))
            data = json.dumps(_compacted(body["input"])).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Be quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def _compacted(items: Sequence[Any]) -> dict[str, Any]:
    output = [
        {"id": f"msg_u{n}", "type": "message", "status": "completed", **item}
        for n, item in enumerate(items)
        if item.get("role") == "user"
    ]
    for message in output:
        if isinstance(message["content"], str):
            message["content"] = [{"type": "input_text", "text": message["content"]}]
    return {
        "id": "resp_1",
        "object": "response.compaction",
        "created_at": 1_790_000_000,
        "output": [*output, {"id": "cmp_1", "type": "compaction", "encrypted_content": "sealed"}],
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 110,
        },
    }


class Own:
    """`run_compaction`, called as the application may at any time: it keeps no tail."""

    name = "openai-agents: compaction session, called"
    own = True
    items: ModuleType = openai_agents_items
    shape = "openai_responses"

    def keeps(self, given: Transcript) -> Sequence[None]:
        """Return the one way there is."""
        return (None,)

    async def fold(self, before: list[Any], later: list[Any], keep: None) -> Run | None:
        asked: list[str] = []
        with compacting(asked) as url:
            async with AsyncOpenAI(base_url=url, api_key="test", max_retries=0) as client:
                session = OpenAIResponsesCompactionSession(
                    "one", SQLiteSession("one"), client=client, compaction_mode="input"
                )
                await session.add_items(before)
                await self.compact(session)
                await session.add_items(later)
                items = await session.get_items()
        return Run(list(items), asked, structured=True) if asked else None

    async def compact(self, session: OpenAIResponsesCompactionSession) -> None:
        """Have the session's history made shorter."""
        await session.run_compaction({"force": True})


class OwnAfterRun(Own):
    """As it comes: after a run, where its default says so."""

    name = "openai-agents: compaction session, automatic"

    async def compact(self, session: OpenAIResponsesCompactionSession) -> None:
        """Run one more turn."""
        model = ScriptedModel([[assistant_message("One moment.", item_id="msg_last")]])
        quiet = RunConfig(tracing_disabled=True)
        await Runner.run(
            Agent("seller", model=model), "Please wait.", session=session, run_config=quiet
        )


class Filter:
    """`chatfold_filter`, asked as a run asks it: before each request."""

    name = "openai-agents: chatfold_filter"
    own = False
    items: ModuleType = openai_agents_items
    shape = "openai_responses"

    def keeps(self, given: Transcript) -> Sequence[Policy]:
        """Return every number of turns, and sizes of all recent parts."""
        return policies(given)

    async def fold(self, before: list[Any], later: list[Any], keep: Policy) -> Run | None:
        writer = Writer()
        asked = chatfold_filter(writer, keep, key="one")
        await asked(self._data(before))
        sent = (await asked(self._data([*before, *later]))).input
        return Run(list(sent), written(writer)) if writer.prompts else None

    def _data(self, items: list[Any]) -> CallModelData[Any]:
        agent: Agent[Any] = Agent("seller", model="gpt-5")
        return CallModelData(ModelInputData(list(items), None), agent, None)


class Session(Filter):
    """`FoldedSession`, which keeps the fold in place of the originals."""

    name = "openai-agents: FoldedSession"

    async def fold(self, before: list[Any], later: list[Any], keep: Policy) -> Run | None:
        writer = Writer()
        session = FoldedSession(SQLiteSession("one"), writer, keep, persist="replace")
        await session.add_items(before)
        await session.get_items()
        await session.add_items(later)
        sent = await session.get_items()
        return Run(list(sent), written(writer)) if writer.prompts else None


SYSTEMS: tuple[System, ...] = (OwnAfterRun(), Own(), Filter(), Session())
