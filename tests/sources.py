"""What a model was shown, for tests of what its summary may say."""

from __future__ import annotations

import json
from typing import Any

from chatfold import ChatContext
from chatfold.core.grounding import Sources, ungrounded
from chatfold.core.views import ItemView, TextPart


def shown(*texts: str) -> Sources:
    return Sources([ItemView("user", (TextPart(text),)) for text in texts], [])


def called(*calls: tuple[str, dict[str, Any], Any]) -> Sources:
    """Return sources in which tools were called: name, arguments, result."""
    items: list[dict[str, Any]] = [{"role": "user", "content": "Please look."}]
    for number, (name, arguments, result) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        made = {"id": f"call_{number}", "type": "function", "function": function}
        items.append({"role": "assistant", "content": None, "tool_calls": [made]})
        text = result if isinstance(result, str) else json.dumps(result)
        items.append({"role": "tool", "tool_call_id": f"call_{number}", "content": text})
    ctx = ChatContext(items, shape="openai_chat")
    return Sources(ctx.views(), ctx.tool_calls())


def found(text: str, sources: Sources) -> list[str]:
    return [u.value.text for u in ungrounded(text, sources)]
