"""How many tokens a model's prompt may have: a table by model name, its rows with their sources.

Only models that their maker serves: what an open model takes depends on whoever serves it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from chatfold.core.flow import CAP
from chatfold.core.room import Window

__all__ = ["window_for", "windows_for"]


# The first row whose pattern matches the whole name counts. A date or a "-latest" behind a name is
# taken off before.
_ROWS: Final[Sequence[tuple[str, int]]] = (
    # Windows of 1,050,000 and answers of 128,000 (https://developers.openai.com/api/docs/models/compare,
    # read 2026-11-22); longer prompts are refused: "Input tokens exceed the configured limit of
    # 922000 tokens".
    (r"gpt-6-astra|gpt-5\.(?:4|5|6)(?:-pro|-sol|-terra|-luna)?", 922_000),
    # Windows of 400,000 and answers of 128,000 (https://platform.openai.com/docs/models/gpt-5), so
    # prompts of 272,000, as above: https://github.com/anomalyco/opencode/issues/1714 (both read
    # 2026-11-22).
    (r"gpt-5(?:\.\d)?-chat", 128_000),
    (r"gpt-5(?:\.[12])?(?:-mini|-nano|-pro|-codex)?|gpt-5\.4-(?:mini|nano)", 272_000),
    # https://platform.openai.com/docs/models and its page of each model (read 2026-11-22).
    (r"gpt-4\.1(?:-mini|-nano)?", 1_047_576),
    (r"gpt-4o(?:-mini)?|chatgpt-4o|gpt-4-turbo|gpt-4-(?:1106|0125)-preview", 128_000),
    (r"gpt-4(?:-0613)?", 8_192),
    (r"gpt-3\.5-turbo(?:-\d{4})?", 16_385),
    (r"o1|o3|o3-mini|o3-pro|o4-mini|codex-mini", 200_000),
    # A million since Opus 4.6 and Sonnet 4.6, and since Haiku 5.5; before that 200,000:
    # https://platform.claude.com/docs/en/build-with-claude/context-windows and
    # https://platform.claude.com/docs/en/models/haiku-5-5/overview (both read 2026-11-22).
    (r"claude-(?:opus|sonnet)-(?:4-[6-9]|5|5-\d)", 1_000_000),
    (r"claude-(?:fable|mythos)-5(?:-\d)?|claude-haiku-5-5", 1_000_000),
    (r"claude-(?:opus|sonnet|haiku)-4(?:-[0-5])?", 200_000),
    (r"claude-3(?:-[57])?-(?:opus|sonnet|haiku)", 200_000),
    # "Input token limit 1,048,576": https://ai.google.dev/gemini-api/docs/models (read 2026-11-22),
    # and https://docs.cloud.google.com/vertex-ai/generative-ai/docs/models/gemini/3-flash (read
    # 2026-11-30).
    (r"gemini-(?:2\.[05]|3(?:\.\d)?)-(?:pro|flash|flash-lite)", 1_048_576),
)
_TABLE: Final = tuple((re.compile(pattern), tokens) for pattern, tokens in _ROWS)
# A maker's name in front, as routers write it, and a snapshot's date behind.
_MAKER: Final = re.compile(r"(?:(?:openai|anthropic|google|gemini|vertex_ai|models)[/:.])+")
_DATED: Final = re.compile(r"(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest))+")
# Google's snapshots have a number: gemini-2.0-flash-001, gemini-2.5-flash-preview-09-2025.
_NUMBERED: Final = re.compile(r"(gemini-[\d.]+-(?:pro|flash-lite|flash))(?:-preview)?(?:-[\d-]+)?")
# OpenAI's name for a model that was tuned, ft:gpt-4o-2024-08-06:org::id, has that model's name; it
# takes as much: https://github.com/MicrosoftDocs/azure-ai-docs/pull/544 (read 2026-11-30). Not of
# gpt-4.1, of which the same table says 128,000.
_TUNED: Final = re.compile(r"ft:(?!gpt-4\.1)([^:]+):.*")


def window_for(model: str | None) -> int | None:
    """Return how many tokens a prompt for a model may have; None where that is not known.

    The answer's share is not taken off: with most models, prompt and answer share one window. What
    a server says itself (an error, a client's settings) is to be preferred.

    Args:
        model: The model's name as sent to the provider.
    """
    name = (model or "").strip().lower()
    if len(name) > _LONGEST:
        return None
    maker = _MAKER.match(name)
    name = _TUNED.sub(r"\1", name[maker.end() :] if maker else name)
    name = name.replace(".", "-") if name.startswith("claude-") else _NUMBERED.sub(r"\1", name)
    dated = next(iter(_DATED.finditer(name)), None)
    if dated is not None and dated.end() == len(name):
        name = name[: dated.start()]
    return next((tokens for pattern, tokens in _TABLE if pattern.fullmatch(name)), None)


_LONGEST: Final = 100  # characters of a name


def windows_for(summarizers: Sequence[object]) -> list[Window]:
    """Return what is known of the windows of the summarizers of a fallback chain.

    Args:
        summarizers: Those of chatfold, which name their model and the SDK behind them; anything
            else is of no known window.
    """
    return [
        Window(
            window_for(model) if isinstance(model := getattr(each, "model", None), str) else None,
            # Anthropic's API demands a limit for each answer and sets it aside.
            CAP if getattr(each, "family", None) == "anthropic" else 0,
        )
        for each in summarizers
    ]
