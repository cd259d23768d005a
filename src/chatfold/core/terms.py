"""What a caller wants of a summary that is written: values without behaviour.

Not here: what follows from them (`guard`, `compose`, `strip`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from chatfold.core.constraints import Words
from chatfold.core.redaction import Redact

__all__ = ["Grounding", "Terms", "Thinking"]

Grounding: TypeAlias = Literal["report", "repair", "drop", "refuse"]
"""What becomes of values in a summary that the conversation does not hold."""

Thinking: TypeAlias = Literal["keep", "strip"]
"""What becomes of reasoning in the tail that is bound to what stood before it."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a caller wants of a summary that is written.

    Attributes:
        grounding: What becomes of values that the conversation does not hold.
        ledger_tokens: Room for needed facts that the model left out; None for the default.
        effects: What tools do, by name, as far as the caller says.
        words: The languages, besides those built in, by which standing instructions are found.
        thinking: What becomes of reasoning in the tail that is bound to what stood before it.
        redact: Applied to everything that is read, and to the model's words.
        instructions: What the application added to the prompt.
        post_process: Applied to the summary last.
    """

    grounding: Grounding = "repair"
    ledger_tokens: int | None = None
    effects: Mapping[str, Literal["read", "write"]] = field(
        default_factory=dict[str, Literal["read", "write"]]
    )
    words: Sequence[Words] = ()
    thinking: Thinking = "keep"
    redact: Redact | None = field(default=None, repr=False)
    instructions: str | None = field(default=None, repr=False)
    post_process: Callable[[str], str] | None = field(default=None, repr=False)
