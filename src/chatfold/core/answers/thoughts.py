"""What models, and servers that do not parse it, leave in the text of an answer: thoughts, calls.

Not here: what may stand as a summary (`flow`), reasoning that a provider tells apart (`views`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final, cast

__all__ = ["is_blank", "is_calls_alone", "is_json_of", "out_of_draft", "without_thoughts"]

# Of open models, and of those that a prompt tells to think:
# https://docs.sglang.io/docs/advanced_features/separate_reasoning (read 2026-11-26).
_NAMES: Final = r"(?:seed:)?think(?:ing)?|thoughts?|reasoning"
_OPENING: Final = re.compile(
    rf"\s*(?:(<(?:{_NAMES})>|\[THINK\]|◁think▷)|(?:<\|start\|>assistant)?<\|channel\|>)"
)
_FINAL: Final = re.compile(r"<\|channel\|>final<\|message\|>(.*?)(?:<\|(?:end|return)\|>|\Z)", re.S)
_CLOSED: Final = re.compile(rf"^[ \t]*</({_NAMES})>[ \t]*$", re.MULTILINE)
_CALL: Final = re.compile(
    r"<((?:seed:)?tool_calls?|function_calls?|tool_use|function(?==)"
    r"|(?:antml:)?invoke(?=\s+name\s*=))\b[^>]*>.*?(?:</\1>|\Z)"
    r"|(?:\[TOOL_CALLS\]|\u273fFUNCTION\u273f|<[|｜][\w▁]*(?:tool|python_tag)[\w▁]*[|｜]>).*",
    re.DOTALL,
)
_INSIDE: Final = r"(?:[^()\"]|\"(?:[^\"\\]|\\.)*+\")*+"
_IN_CODE: Final = re.compile(
    r"(?:(?:print\()?(?:(?:functions|default_api)\.[\w.-]{1,128}+\s*+\(|\w{1,128}+\((?=\s*+\{))"
    rf"{_INSIDE}\){{1,2}}[\s;]*+)++",
    re.DOTALL,
)
# A call as JSON: what it calls, with what, and the fields around it in the APIs of providers.
_HOLDERS: Final = frozenset(
    ("function", "functionCall", "function_call", "function_calls", "toolUse", "tool_call")
) | {"tool_calls", "tool_uses"}
_CALLED: Final = frozenset(("action", "function", "name", "recipient_name", "tool", "tool_name"))
_ARGUMENTS: Final = frozenset(
    ("action_input", "args", "arguments", "input", "parameters", "tool_input")
)
_BESIDE: Final = frozenset(("call_id", "id", "index", "role", "type"))
_NAME: Final = re.compile(r"[A-Za-z_][\w.:/-]{0,127}")
_BETWEEN: Final = re.compile(r"[\s;,]*")
# As the request to mend a draft shows it, and as small models then answer.
_DRAFT: Final = re.compile(r"(?:[^\n<]*:)?\s*<draft>(.*?)(?:</draft>.*|\Z)", re.DOTALL)
_FRAME: Final = re.compile(
    rf"</?(?:{_NAMES}|draft|summary|answer|final_answer|final|response|output|result)\s*/?>",
    re.IGNORECASE,
)


def without_thoughts(text: str) -> tuple[str, bool]:
    """Return the text without the thoughts that open it, and whether there were any.

    Servers for open models that do not parse reasoning leave it in the text, in `<think>`; where
    the model's own template has opened that, in the prompt, it is only closed in the answer, on a
    line of its own: a summary may speak of such a tag.
    """
    thought = False
    while (opening := _OPENING.match(text)) is not None:
        tag, thought = opening[1], True
        if tag:
            text = text.partition(f"{tag[0]}/{tag[1:]}")[2]
        else:
            final = _FINAL.search(text)
            text = final[1] if final else ""
    if thought:
        return text, True
    closed = _CLOSED.search(text)
    if closed is not None and f"<{closed[1]}>" not in text[: closed.start()]:
        return text[closed.end() :], True
    return text, False


def out_of_draft(text: str, draft: str) -> str:
    """Return an answer to the request to mend a draft, out of the tags that this stood in there.

    What stands behind them is the request's own words, said again, or about what was mended.

    Args:
        text: The answer.
        draft: The draft; where it speaks of such tags itself, so may the answer.
    """
    found = _DRAFT.fullmatch(text) if "<draft>" not in draft else None
    return text if found is None else found[1].strip()


def is_calls_alone(text: str) -> bool:
    """Return whether a text is nothing but calls of tools, as models write them."""
    text = _without_fence(text.strip())
    if _CALL.match(text) is not None:
        return is_blank(_CALL.sub("", text))
    return _IN_CODE.fullmatch(text) is not None or is_json_of(text, _is_call)


def is_json_of(text: str, is_one: Callable[[Any], bool]) -> bool:
    """Return whether a text is JSON, also in a code block, of nothing but such values.

    Several may follow each other, as models write several calls.
    """
    text, at, decoder = _without_fence(text), 0, json.JSONDecoder()
    if text[:1] not in ("{", "[", '"'):
        return False
    try:
        while at < len(text):
            value, end = decoder.raw_decode(text, at)
            if not is_one(value):
                return False
            between = _BETWEEN.match(text, end)
            at = between.end() if between else end
    except (ValueError, RecursionError):  # nested without end
        return False
    return True


def _without_fence(text: str) -> str:
    """Return what is in a text that is a code block."""
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text.partition("\n")[2][:-3].strip()
    return text


def _is_call(value: Any) -> bool:
    """Return whether a value of JSON is a call, or several, with nothing said beside them."""
    if isinstance(value, list):
        several = cast("list[Any]", value)
        return bool(several) and all(map(_is_call, several))
    if not isinstance(value, dict):
        return False
    fields = cast("dict[str, Any]", value)
    held = [fields[key] for key in fields if key in _HOLDERS and not isinstance(fields[key], str)]
    if held:
        return (
            fields.keys() <= _HOLDERS | _BESIDE | {"content"}
            and not fields.get("content")
            and all(map(_is_call, held))
        )
    called = [fields[key] for key in fields if key in _CALLED]
    given = [fields[key] for key in fields if key in _ARGUMENTS]
    return (
        len(called) == len(given) == 1
        and fields.keys() <= _CALLED | _ARGUMENTS | _BESIDE
        and ("input" not in fields or fields.get("type") == "tool_use")
        and isinstance(called[0], str)
        and _NAME.fullmatch(called[0]) is not None
        and _are_arguments(given[0])
    )


def _are_arguments(given: Any) -> bool:
    """Return whether a value can be what a tool is called with: an object, also one as text."""
    if not isinstance(given, str):
        return isinstance(given, dict)
    return not given.strip() or is_json_of(given.strip(), lambda value: isinstance(value, dict))


def is_blank(text: str) -> bool:
    """Return whether a reader sees nothing.

    White space, controls and signs without a width are nothing, and so are the tags that models
    put around thoughts and answers. Other tags are words: of what was spoken of, it may be.
    """
    if text.lstrip().startswith("<"):
        text = _FRAME.sub("", text)
    return not any(sign.isprintable() and not sign.isspace() for sign in text)
