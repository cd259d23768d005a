"""What models, and servers that do not parse it, leave in the text of an answer: thoughts, calls.

Not here: what may stand as a summary (`flow`), reasoning that a provider tells apart (`views`).
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_blank", "is_calls_alone", "without_thoughts"]

# Of open models, and of those that a prompt tells to think:
# https://docs.sglang.io/docs/advanced_features/separate_reasoning (read 2026-11-26).
_NAMES: Final = r"(?:seed:)?think(?:ing)?|thoughts?|reasoning"
_OPENING: Final = re.compile(
    rf"\s*(?:(<(?:{_NAMES})>|\[THINK\]|◁think▷)|(?:<\|start\|>assistant)?<\|channel\|>)"
)
_FINAL: Final = re.compile(r"<\|channel\|>final<\|message\|>(.*?)(?:<\|(?:end|return)\|>|\Z)", re.S)
_CLOSED: Final = re.compile(rf"^[ \t]*</({_NAMES})>[ \t]*$", re.MULTILINE)
_CALL: Final = re.compile(
    r"<((?:seed:)?tool_calls?|function_calls?|tool_use|function(?==))\b[^>]*>.*?(?:</\1>|\Z)"
    r"|(?:\[TOOL_CALLS\]|<[|｜][\w▁]*(?:tool|python_tag)[\w▁]*[|｜]>).*",
    re.DOTALL,
)
_FRAME: Final = re.compile(
    rf"</?(?:{_NAMES}|summary|answer|final_answer|final|response|output|result)\s*/?>",
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


def is_calls_alone(text: str) -> bool:
    """Return whether a text is nothing but calls of tools, as models write them."""
    return _CALL.match(text.lstrip()) is not None and is_blank(_CALL.sub("", text))


def is_blank(text: str) -> bool:
    """Return whether a reader sees nothing.

    White space, controls and signs without a width are nothing, and so are the tags that models
    put around thoughts and answers. Other tags are words: of what was spoken of, it may be.
    """
    if text.lstrip().startswith("<"):
        text = _FRAME.sub("", text)
    return not any(sign.isprintable() and not sign.isspace() for sign in text)
