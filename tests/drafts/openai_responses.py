"""Drafts of Responses histories."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from drafts.base import PNG, Draft, DrawnCall, Item, long_calls, sdk_types, words

_TOOL = {"type": "function", "name": "late", "parameters": {}, "strict": False}
_INPUT_IMAGE = {"type": "input_image", "detail": "auto", "image_url": PNG}
_MODEL_ITEMS = frozenset(
    (
        *("message", "reasoning", "compaction", "mcp_list_tools", "mcp_approval_request"),
        *("function_call", "custom_tool_call", "shell_call", "local_shell_call"),
        *("apply_patch_call", "computer_call", "program", "program_output"),
        *("tool_search_call", "tool_search_output", "web_search_call", "file_search_call"),
        *("code_interpreter_call", "image_generation_call", "mcp_call"),
    )
)


class ResponsesDraft(Draft):
    shape = "openai_responses"

    def add(self, item: Any) -> int:
        made_by_model = item.get("type") in _MODEL_ITEMS and "id" in item
        if self.sdk_percent and made_by_model and self.chance(self.sdk_percent):
            from openai.types.responses import ResponseOutputItem

            known = sdk_types(ResponseOutputItem)
            if item["type"] in known:
                item = known[item["type"]].construct(**item)
        return super().add(item)

    # what users and hosts write

    def opening(self, first: bool) -> None:
        if self.options.opaque and not first and self.chance(25):
            item_id = self.fresh("cmp")
            self.add({"type": "compaction", "id": item_id, "encrypted_content": "gAAAAcmp"})
        if self.chance(15):
            self.state()
        super().opening(first)
        for call in self.shuffled(self.waiting):
            if not call.asynchronous or self.chance(30):
                self.late_result(call)
        if self.chance(15):
            self.state()

    def user(self) -> Item:
        match self.below(4):
            case 0:
                return {"role": "user", "content": self.text()}
            case 1:
                return {"type": "message", "role": "user", "content": self.text()}
            case roll:
                parts = [self.part() for _ in range(1 + self.below(3))]
                status = {"status": "completed"} if roll == 3 else {}
                return {"type": "message", "role": "user", "content": parts, **status}

    def part(self) -> Item:
        return self.pick_lazily(
            (
                lambda: {"type": "input_text", "text": self.text()},
                _INPUT_IMAGE,
                {"type": "input_image", "detail": "low", "file_id": "file-2"},
                {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERi0="},
                {"type": "input_file", "file_url": "https://example.com/a.pdf", "filename": "a"},
            )
        )

    def state(self) -> None:
        effort = self.pick(("low", "high"))
        self.add(
            self.pick(
                (
                    {"type": "configuration_update", "reasoning": {"effort": effort}},
                    {"type": "configuration_update", "text": {"format": {"type": "text"}}},
                    {"type": "additional_tools", "role": "developer", "tools": [_TOOL]},
                    self.tool_list(),
                )
            )
        )

    def tool_list(self) -> Item:
        tools = [{"name": "send", "input_schema": {"type": "object"}, "description": "Sends."}]
        item = {"type": "mcp_list_tools", "id": self.fresh("mcpl"), "server_label": "mail"}
        return {**item, "tools": tools}

    # what the model writes

    def reasoning(self, percent: int) -> bool:
        """Add a reasoning item now and then; what it led to has to follow."""
        if not self.chance(percent):
            return False
        summary = [{"type": "summary_text", "text": self.text()}] if self.chance(40) else []
        item: Item = {"type": "reasoning", "id": self.fresh("rs"), "summary": summary}
        if self.chance(80):
            item["encrypted_content"] = "gAAAAAB" + item["id"]
        if self.chance(10):
            item["content"] = [{"type": "reasoning_text", "text": self.text()}]
        self.add(item)
        return True

    def message(self, phase: str, *, reasoned: bool) -> None:
        parts: list[Item] = [{"type": "output_text", "text": self.text(), "annotations": []}]
        match self.below(10):
            case 6:
                parts = [{"type": "refusal", "refusal": self.text()}]
            case 7:
                parts = []
            case 8:
                link = {"type": "url_citation", "url": "https://example.com", "title": "T"}
                parts[0]["annotations"] = [{**link, "start_index": 0, "end_index": 1}]
                parts.append({"type": "output_text", "text": self.text(), "annotations": []})
            case 9 if not reasoned:
                self.add({"role": "assistant", "content": self.text()})
                return
            case _:
                pass
        item: Item = {"type": "message", "id": self.fresh("msg"), "role": "assistant"}
        item |= {"status": "completed", "content": parts}
        if self.chance(30):
            item["phase"] = phase
        self.add(item)

    def answer(self) -> None:
        self.message("final_answer", reasoned=self.reasoning(40))

    def step(self) -> None:
        roll = self.below(12)
        if roll in (9, 10):
            self.program_step()
        elif roll == 11:
            self.approval_step()
        else:
            self.call_step()

    def call_step(self) -> None:
        reasoned = self.reasoning(60)
        if self.chance(15):
            self.message("commentary", reasoned=reasoned)
        interleaved = self.chance(30)
        step: list[DrawnCall] = []

        def emit() -> None:
            # An id twice in one step says nothing clear once outputs stand between the calls.
            call = self.pick(self.emitters)(self, () if interleaved else step)
            if call is not None:
                step.append(call)
                if interleaved and not call.asynchronous and self.chance(80):
                    self.result(call)

        emit()
        self.repeat((67, 50, 50), emit)
        self.results(step)

    def results(self, step: list[DrawnCall]) -> None:
        now = self.settled([call for call in step if call.result_index is None])
        deferred: list[DrawnCall] = []
        if not self.ended and not self.last:
            for call in now:
                alone = sum(other.key == call.key for other in step) == 1
                plain = self.options.allow_late and call.pair == "function" and alone
                percent = 60 if call.asynchronous else 15 if plain else 0
                if percent and self.chance(percent):
                    deferred.append(call)
            self.waiting += deferred
            # The user spoke while the tool ran: the model says nothing before the result.
            self.ended = any(not call.asynchronous for call in deferred)
        for call in now:
            if call not in deferred:
                self.result(call)
            for old in [old for old in self.waiting if old not in step and self.chance(20)]:
                self.late_result(old)

    def late_result(self, call: DrawnCall) -> None:
        self.waiting.remove(call)
        self.result(call)

    def end(self) -> None:
        for call in list(self.waiting):
            if not (self.options.open_calls and self.chance(65)):
                self.late_result(call)

    def program_step(self) -> None:
        """Add a program with the calls it makes, and its output unless it still runs."""
        self.reasoning(60)
        program = DrawnCall(self.fresh("call"), "program", len(self.items), "program")
        caller = {"type": "program", "caller_id": program.id}
        item = {"type": "program", "id": self.fresh("prog"), "call_id": program.id}
        self.add({**item, "code": "await search()", "fingerprint": "fp"})
        self.called(program)
        nested: list[DrawnCall] = []

        def emit() -> None:
            call = self.function_call([], fresh=True, caller=caller)
            call.caller = program.id
            nested.append(call)

        self.repeat((75, 50, 50), emit)
        for call in self.settled(nested):
            self.result(call)
        if self.ended or (self.last and self.options.open_calls and self.chance(20)):
            self.ended = True
            return
        text = self.text()
        self.answered(program, text)
        item = {"type": "program_output", "id": self.fresh("po"), "call_id": program.id}
        self.add({**item, "result": text, "status": "completed"})

    def approval_step(self) -> None:
        """Add a request for approval, its answer, and the call if it is allowed."""
        if self.chance(60):
            self.add(self.tool_list())
        self.reasoning(40)
        request_id, arguments = self.fresh("mcpr"), self.arguments()
        what = {"server_label": "mail", "name": "send", "arguments": arguments}
        index = self.add({"type": "mcp_approval_request", "id": request_id, **what})
        if self.last and self.options.open_calls and self.chance(40):
            self.approvals.append(index)
            self.ended = True
            return
        approve = not self.chance(25)
        reply: Item = {"type": "mcp_approval_response", "approval_request_id": request_id}
        self.add({**reply, "approve": approve} | ({} if approve else {"reason": self.text()}))
        if approve:
            self.mcp_call([], request_id, arguments)

    # calls that the host answers

    def function_call(
        self, step: Sequence[DrawnCall], *, fresh: bool = False, caller: Item | None = None
    ) -> DrawnCall:
        asynchronous = not fresh and self.chance(25)
        call_id = self.fresh("call") if fresh or asynchronous else self.call_id(step)
        call = DrawnCall(call_id, self.tool_name(), len(self.items), asynchronous=asynchronous)
        call.arguments = self.arguments()
        item: Item = {"type": "function_call", "call_id": call_id, "name": call.name}
        item["arguments"] = call.arguments
        if not self.chance(10):
            item |= {"id": self.fresh("fc"), "status": "completed"}
        if asynchronous:
            item["async"] = True
        if caller:
            item["caller"] = caller
        self.add(item)
        return self.called(call)

    def custom_call(self, step: Sequence[DrawnCall]) -> DrawnCall:
        call = DrawnCall(self.call_id(step), self.tool_name(), len(self.items), "custom")
        call.arguments = self.text()
        item = {"type": "custom_tool_call", "id": self.fresh("ctc"), "call_id": call.id}
        self.add({**item, "name": call.name, "input": call.arguments})
        return self.called(call)

    def shell_call(self, step: Sequence[DrawnCall]) -> DrawnCall:
        call = DrawnCall(self.call_id(step), "shell", len(self.items), "shell")
        action = {"commands": ["ls", self.text()], "timeout_ms": 1000}
        item = {"type": "shell_call", "id": self.fresh("sh"), "call_id": call.id}
        self.add({**item, "action": action, "status": "completed"})
        return self.called(call)

    def local_shell_call(self, step: Sequence[DrawnCall]) -> DrawnCall:
        # Its output carries the call id as its own item id, which must not occur twice.
        call = DrawnCall(self.fresh("call"), "local_shell", len(self.items), "local_shell")
        action = {"type": "exec", "command": ["ls", self.text()], "env": {}}
        item = {"type": "local_shell_call", "id": self.fresh("lsh"), "call_id": call.id}
        self.add({**item, "action": action, "status": "completed"})
        return self.called(call)

    def patch_call(self, step: Sequence[DrawnCall]) -> DrawnCall:
        call = DrawnCall(self.call_id(step), "apply_patch", len(self.items), "apply_patch")
        change = {"path": "a.py", "diff": self.text()}
        operation = self.pick(
            (
                {"type": "update_file", **change},
                {"type": "create_file", **change},
                {"type": "delete_file", "path": "a.py"},
            )
        )
        item = {"type": "apply_patch_call", "id": self.fresh("ap"), "call_id": call.id}
        self.add({**item, "operation": operation, "status": "completed"})
        return self.called(call)

    def computer_call(self, step: Sequence[DrawnCall]) -> DrawnCall:
        call = DrawnCall(self.call_id(step), "computer", len(self.items), "computer")
        item = {"type": "computer_call", "id": self.fresh("cu"), "call_id": call.id}
        shot = {"type": "screenshot"}
        actions = {"actions": [shot, shot]} if self.chance(40) else {"action": shot}
        self.add({**item, "status": "completed", "pending_safety_checks": [], **actions})
        return self.called(call)

    def tool_search_call(self, step: Sequence[DrawnCall]) -> DrawnCall | None:
        """Add a search for tools that the client runs, or a run of them that the server runs."""
        if self.chance(40):
            call = DrawnCall(self.call_id(step), "tool_search", len(self.items), "tool_search")
            self.search_item("call", call.id, "client", {"arguments": {"q": self.text()}})
            return self.called(call)
        run: list[DrawnCall] = []
        for _ in range(self.pick((1, 1, 2))):
            run.append(self.called(DrawnCall(None, "tool_search", len(self.items), "tool_search")))
            self.search_item("call", None, "server", {"arguments": {"q": self.text()}})
        for call in run:
            self.answered(call, None)
            self.search_item("output", None, "server", {"tools": [_TOOL]})
        return None

    def search_item(self, kind: str, call_id: str | None, execution: str, body: Item) -> None:
        item: Item = {"type": f"tool_search_{kind}", "call_id": call_id, "execution": execution}
        if execution == "server" or kind == "call":
            item["id"] = self.fresh("tsc" if kind == "call" else "tso")
        self.add({**item, "status": "completed", **body})

    def result(self, call: DrawnCall) -> None:
        """Add the item that answers `call`."""
        head: Item = {"type": f"{call.pair}_call_output", "call_id": call.id}
        text = self.text()
        match call.pair:
            case "function" | "custom":
                self.text_result(call, text)
                return
            case "shell":
                late = self.chance(25)
                outcome: Item = {"type": "timeout"} if late else {"type": "exit", "exit_code": 0}
                chunks = [{"stdout": text, "stderr": "", "outcome": outcome}]
                self.answered(call, None, failed=late)
                self.add({**head, "output": chunks})
            case "local_shell":
                self.answered(call, text)
                self.add({"type": head["type"], "id": call.id, "output": text})
            case "apply_patch":
                failed, silent = self.chance(40), self.chance(20)
                self.answered(call, None if silent else text, failed=failed)
                body = {} if silent else {"output": text}
                self.add({**head, "status": "failed" if failed else "completed", **body})
            case "computer":
                self.answered(call, None)
                self.add({**head, "output": {"type": "computer_screenshot", "image_url": PNG}})
            case _:
                self.answered(call, None)
                self.search_item("output", call.id, "client", {"tools": [_TOOL]})

    def text_result(self, call: DrawnCall, text: str) -> None:
        kind = "function_call_output" if call.pair == "function" else "custom_tool_call_output"
        item: Item = {"type": kind, "call_id": call.id, "output": text}
        match self.below(8):
            case 4:
                item["output"] = text = "Error: no such order"
            case 5:
                item["output"] = [{"type": "input_text", "text": text}]
            case 6:
                item["output"] = [{"type": "input_text", "text": text}, _INPUT_IMAGE]
            case 7:
                item["output"], text = self.pick((("", ""), ([], "")))
            case _:
                pass
        if call.name.startswith("transfer_to_"):
            text = item["output"] = json.dumps({"assistant": "billing agent"})
        if call.caller is not None:
            item["caller"] = {"type": "program", "caller_id": call.caller}
        self.answered(call, text)
        self.add(item)

    # calls that the server makes and answers in one item

    def served(self, kind: str, name: str, statuses: str, body: Item) -> DrawnCall | None:
        """Add a combined item: completed, failed, or still at work at the end of the list."""
        running = self.last and self.options.open_calls and self.chance(20)
        done, ongoing = statuses.split(" | ")
        status = self.pick(ongoing.split()) if running else self.pick(done.split())
        call = DrawnCall(self.fresh(kind), name, len(self.items), "server")
        call.arguments = body.get("arguments")
        if running:
            self.ended = True
        else:
            output = body.get("output") if status == "completed" else None
            call.result_index, call.result_text = call.call_index, output
            call.failed = status != "completed"
        self.add({"type": f"{name}_call", "id": call.id, "status": status, **body})
        self.called(call)
        return None

    def web_search(self, step: Sequence[DrawnCall]) -> DrawnCall | None:
        page = {"url": "https://example.com"}
        action = self.pick_lazily(
            (
                lambda: {"type": "search", "query": self.text()},
                {"type": "open_page", **page},
                lambda: {"type": "find_in_page", "pattern": self.text(), **page},
            )
        )
        states = "completed completed failed | in_progress searching"
        return self.served("ws", "web_search", states, {"action": action})

    def file_search(self, step: Sequence[DrawnCall]) -> DrawnCall | None:
        found = [{"file_id": "file-3", "filename": "a.md", "score": 0.5, "text": self.text()}]
        body: Item = {"queries": [self.text()], "results": self.pick((None, found, []))}
        states = "completed completed failed incomplete | in_progress searching"
        return self.served("fs", "file_search", states, body)

    def code_interpreter(self, step: Sequence[DrawnCall]) -> DrawnCall | None:
        logs = [{"type": "logs", "logs": self.text()}]
        image = [{"type": "image", "url": "https://example.com/a.png"}]
        body: Item = {"container_id": "cntr_1", "code": self.pick((self.text(), None))}
        body["outputs"] = self.pick((logs, None, [], logs + image))
        states = "completed completed failed incomplete | in_progress interpreting"
        return self.served("ci", "code_interpreter", states, body)

    def image_generation(self, step: Sequence[DrawnCall]) -> DrawnCall | None:
        states = "completed completed failed | in_progress generating"
        body: Item = {"result": self.pick(("iVBORw0KGgo=", None)), "revised_prompt": self.text()}
        return self.served("ig", "image_generation", states, body)

    def mcp_call(
        self, step: Sequence[DrawnCall], request_id: str | None = None, arguments: str | None = None
    ) -> DrawnCall | None:
        body: Item = {"server_label": "mail", "name": "send", "output": self.text()}
        body["arguments"] = self.arguments() if arguments is None else arguments
        if request_id is not None:
            body["approval_request_id"] = request_id
        error = self.chance(25)
        if error:
            body["output"] = None
            body["error"] = self.pick(
                (
                    {"type": "mcp_tool_execution_error", "content": self.text()},
                    {"type": "mcp_protocol_error", "code": -32000, "message": self.text()},
                    {"type": "http_error", "code": 502, "message": self.text()},
                )
            )
        self.served("mcp", "mcp", ("failed" if error else "completed") + " | calling", body)
        call = self.calls[-1]
        call.name = "send"
        return None

    emitters: tuple[Callable[[ResponsesDraft, Sequence[DrawnCall]], DrawnCall | None], ...] = (
        function_call,
        function_call,
        function_call,
        function_call,
        function_call,
        custom_call,
        custom_call,
        shell_call,
        local_shell_call,
        patch_call,
        computer_call,
        tool_search_call,
        web_search,
        file_search,
        code_interpreter,
        image_generation,
        mcp_call,
    )


def turn(rng: random.Random, at: int) -> list[Any]:
    said = [{"type": "input_text", "text": words(rng, 12)}]
    items: list[Any] = [{"type": "message", "role": "user", "content": said}]
    calls = long_calls(rng, at)
    if calls:
        hidden = {"encrypted_content": f"gAAAA{rng.getrandbits(400):x}"}
        items.append({"type": "reasoning", "id": f"rs_{at}", "summary": [], **hidden})
    for call_id, arguments, _ in calls:
        call = {"type": "function_call", "id": f"fc{call_id[4:]}", "call_id": call_id}
        body = {"name": "get_order", "arguments": json.dumps(arguments), "status": "completed"}
        items.append({**call, **body})
    rng.shuffle(calls)
    items += [
        {"type": "function_call_output", "call_id": i, "output": text} for i, _, text in calls
    ]
    return [*items, output_message(f"msg_{at}", words(rng, 30))]


def output_message(item_id: str, text: str) -> Item:
    parts = [{"type": "output_text", "text": text, "annotations": []}]
    item = {"type": "message", "id": item_id, "role": "assistant", "status": "completed"}
    return {**item, "content": parts}


def script_call(number: int, name: str, arguments: Item, result: Item) -> list[Any]:
    call_id = f"call_{number}"
    call = {"type": "function_call", "id": f"fc_{number}", "call_id": call_id, "name": name}
    return [
        {**call, "arguments": json.dumps(arguments), "status": "completed"},
        {"type": "function_call_output", "call_id": call_id, "output": json.dumps(result)},
    ]


def script_message(number: int, role: str, text: str) -> list[Any]:
    if role == "assistant":
        return [output_message(f"msg_{number}", text)]
    if role == "user":
        said = [{"type": "input_text", "text": text}]
        return [{"type": "message", "role": "user", "content": said}]
    return [{"role": role, "content": text}]
