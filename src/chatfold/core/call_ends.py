"""How calls ended: why they failed, or what came of them.

Not here: what a result says by itself (`failures`, `outcomes`), which calls are asked (`actions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from chatfold.core.call_json import leaves_of, shortened
from chatfold.core.calls import ToolCallRecord
from chatfold.core.entries import Entry, Field
from chatfold.core.failures import reason_in
from chatfold.core.failures.not_done import nothing_done
from chatfold.core.failures.wraps import unwrapped

__all__ = ["Ends", "failure_of"]


class Ends(NamedTuple):
    """How some calls ended, by their positions.

    Attributes:
        failures: Why each failed, None where it did not.
        outcomes: What came of those that did not.
    """

    failures: dict[int, str | None]
    outcomes: dict[int, tuple[Field, ...]]

    def copy(self) -> Ends:
        """Return the same, to which more may be added."""
        return Ends(dict(self.failures), dict(self.outcomes))


def failure_of(
    call: ToolCallRecord,
    result: Any,
    arguments: Any,
    clean: Callable[[str], str],
    of: Entry | None = None,
) -> str | None:
    """Return why a call failed, in a few words; None where it did not.

    Args:
        call: The call.
        result: Its result as JSON types, or its text.
        arguments: What it was given, likewise.
        clean: Applied to what is returned.
        of: The call, where an earlier record has it and the list only its result.
    """
    name = (call.name or "") if of is None else of.name

    def given() -> Iterable[Any]:
        if of is not None:
            return (field.text for field in of.arguments or ())
        return (leaf for _, leaf in leaves_of(arguments))

    reason = reason_in(result, failed=call.status == "failed", name=name, given=given)
    if reason is None and of is None:
        reason = nothing_done(unwrapped(result), arguments, name)
    return None if reason is None else shortened(clean(reason))
