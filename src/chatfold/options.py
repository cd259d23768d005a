"""The options of a summarization: what callers may pass, checked and filled in with defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

from chatfold.core.render import TemplateRenderer
from chatfold.templates import load_templates

__all__ = ["Settings", "SummaryOptions"]

_ROLES = ("user", "assistant", "system", "developer")


class SummaryOptions(TypedDict, total=False):
    """Options that the context and every summarizing call accept; the call's win.

    Attributes:
        timeout: Seconds that one model call may take (60); None for no limit.
        retries: How often the SDK repeats a failed request (1).
        instructions: What the application adds to the prompt; data like all else, it is escaped.
        language: Language of the summary; by default the user's.
        max_summary_tokens: Length asked for, in tokens; by default 5 % of the head, at most 2,000.
        redact: Takes each text before it leaves the process, and the summary before it goes in.
        post_process: Takes the summary and returns the one to use.
        templates: A directory, a mapping of names to sources, a Jinja environment, or an object
            with `render`, whose templates come before the built-in ones.
        summary_role: Role of the summary item (`user`).
        min_gain: Share of the list's tokens that a fold has to save (0: any saving will do).
    """

    timeout: float | None
    retries: int
    instructions: str | None
    language: str | None
    max_summary_tokens: int | None
    redact: Callable[[str], str] | None
    post_process: Callable[[str], str] | None
    templates: str | os.PathLike[str] | Mapping[str, str] | TemplateRenderer | None
    summary_role: str
    min_gain: float


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of one summarization, complete and checked."""

    timeout: float | None = 60.0
    retries: int = 1
    instructions: str | None = None
    language: str | None = None
    max_summary_tokens: int | None = None
    redact: Callable[[str], str] | None = None
    post_process: Callable[[str], str] | None = None
    templates: Any = None
    summary_role: str = "user"
    min_gain: float = 0.0

    def updated(self, options: Mapping[str, Any]) -> Settings:
        """Return the settings with `options` in place of what they name.

        Raises:
            TypeError: An option is not known; the message lists those that are.
            ValueError: A value is out of range.
        """
        unknown = sorted(set(options) - _NAMES)
        if unknown:
            raise TypeError(
                f"unknown option {', '.join(unknown)}; there are {', '.join(sorted(_NAMES))}"
            )
        made = replace(self, **options)
        made.check()
        return made

    def check(self) -> None:
        """Check every value.

        Raises:
            ValueError: A value is out of range.
        """
        if self.timeout is not None and self.timeout <= 0:
            raise ValueError(f"timeout must be more than 0 seconds, or None, not {self.timeout!r}")
        if self.retries < 0:
            raise ValueError(f"retries must be 0 or more, not {self.retries!r}")
        if self.max_summary_tokens is not None and self.max_summary_tokens < 1:
            raise ValueError(
                f"max_summary_tokens must be 1 or more, not {self.max_summary_tokens!r}"
            )
        if self.summary_role not in _ROLES:
            raise ValueError(
                f"summary_role must be one of {', '.join(_ROLES)}, not {self.summary_role!r}"
            )
        if not 0 <= self.min_gain < 1:
            raise ValueError(f"min_gain must be from 0 to below 1, not {self.min_gain!r}")

    def renderer(self) -> TemplateRenderer:
        """Return what renders the templates.

        Raises:
            TemplateError: A directory or source cannot be used.
        """
        return load_templates(self.templates)


_NAMES = frozenset(field.name for field in fields(Settings))
