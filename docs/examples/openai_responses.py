"""A support agent on the Responses API: tools, several turns, streaming, and folds in between.

    OPENAI_API_KEY=... python openai_responses.py

`OPENAI_BASE_URL` leads to any compatible server, `OPENAI_MODEL` names the model.
Each line that you type is a turn; an empty one ends the conversation.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

from openai import OpenAI

from chatfold import ChatContext, Policy

MODEL = os.environ.get("OPENAI_MODEL", "gpt-5")
INSTRUCTIONS = "You work for a shop that sells espresso machines. Look orders up before you answer."


def find_order(number: str) -> dict[str, Any]:
    """Return an order of the shop, with every scan of its parcel."""
    if number not in ("LK-1001", "LK-1002", "LK-1003"):
        raise LookupError(f"there is no order {number}")  # becomes an error result of this call
    scans = [f"2026-11-{day:02}: depot {day * 7}, sorted" for day in range(1, 21)]
    return {"number": number, "status": "delivered", "total": "349.90 EUR", "scans": scans * 6}


def create_return(number: str, reason: str) -> dict[str, Any]:
    """Open a return for an order."""
    return {"rma": f"RMA-{number[3:]}", "order": number, "reason": reason}


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "find_order": find_order,
    "create_return": create_return,
}


def tool(name: str, description: str, *parameters: str) -> Any:
    """Return a function as the request's `tools` have it; all parameters are texts."""
    properties = {parameter: {"type": "string"} for parameter in parameters}
    schema = {"type": "object", "properties": properties, "required": [*parameters]}
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", **function, "strict": False}


TOOLS = [
    tool("find_order", "Finds an order by its number, such as LK-1001.", "number"),
    tool("create_return", "Opens a return for an order.", "number", "reason"),
]


def answer(client: OpenAI, ctx: ChatContext[Any]) -> None:
    """Let the model answer, with as many tool calls as it wants, and print its words."""
    while True:
        outcome = ctx.maybe_summarize(client.responses, model=MODEL)
        if outcome.changed or outcome.error:  # a failure is reported, and the turn goes on
            print(outcome, file=sys.stderr)
        stream = ctx.record(  # each item is in the list as soon as it is complete
            client.responses.create(
                model=MODEL,
                input=ctx.items,
                tools=TOOLS,
                stream=True,
                store=False,  # the list is the whole history; the server keeps none
            )
        )
        try:
            for event in stream:
                if event.type == "response.output_text.delta":
                    print(event.delta, end="", flush=True)
        except Exception as error:  # the SDK's, or that of the HTTP library that it uses
            # What was finished is in the list; a finished call runs, and the model is asked again.
            print(f" [the connection broke off: {error}]", file=sys.stderr)
        if stream.unfinished:  # what this names is not in the list
            print(f" [the answer broke off: {stream.unfinished}]", file=sys.stderr)
        if not ctx.run_tool_calls(FUNCTIONS, timeout=30):
            print()
            return


def main() -> None:
    """Talk until the user has nothing more to say."""
    items: list[Any] = [{"role": "developer", "content": INSTRUCTIONS}]
    # So small that you see folds in a short conversation; `Policy()` goes by the model's window.
    policy = Policy(max_tokens=4_000, keep_tokens=1_000)
    effects: dict[str, Any] = {"find_order": "read", "create_return": "write"}
    ctx = ChatContext(items, model=MODEL, policy=policy, effects=effects)
    with OpenAI() as client:
        for line in sys.stdin:
            if not line.strip():
                break
            ctx.append({"role": "user", "content": line.strip()})
            answer(client, ctx)


if __name__ == "__main__":
    main()
