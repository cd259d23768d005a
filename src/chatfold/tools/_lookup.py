"""Which tool of a mapping a call is for, where tools of several namespaces have one name.

Not here: how it is called (`_dispatch`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from chatfold.core.calls import ToolCallRecord
from chatfold.core.once import once
from chatfold.tools._dispatch import Tool

__all__ = ["HANDLED", "Lookup"]

HANDLED: Final = frozenset({"function", "handoff", "custom"})
"""The kinds of calls that a callable can answer; all others are the host's business."""


class Lookup:
    """Finds the tools of calls, under their qualified names first.

    A plain name serves the calls of a namespace as long as nothing says that another tool may be
    meant by it: no call of that name in the list lives elsewhere, and no tool of that name is
    written with another namespace. To run the wrong one may delete what nobody wanted deleted.

    Args:
        tools: The tools by name, qualified (`crm.delete`) or plain.
        calls: All calls of the list: those that were answered tell which tools there are, too.
    """

    def __init__(self, tools: Mapping[str, Tool], calls: Sequence[ToolCallRecord]) -> None:
        self.tools = tools
        self._calls = calls

    def of(self, call: ToolCallRecord) -> Tool | None:
        """Return the tool that a call is for, None where there is none for certain."""
        name, namespace = call.name, call.namespace
        if name is None:
            return None
        if namespace is None:
            return self.tools.get(name)
        whole = f"{namespace}.{name}"
        found = self.tools.get(whole) if len(self._meant[whole]) == 1 else None
        # A function that was loaded by a search comes with its own name for a namespace, which none
        # may have: openai-agents 0.24.0, `is_reserved_synthetic_tool_namespace`.
        if found is None and (namespace == name or self._is_plain(name)):
            found = self.tools.get(name)
        return found

    def _is_plain(self, name: str) -> bool:
        """Return whether a plain name can mean one tool alone, that of a namespace."""
        return len(self._homes[name]) == 1 and not any(
            key.endswith(f".{name}") for key in self.tools
        )

    @once
    def _meant(self) -> Mapping[str, set[tuple[str | None, str]]]:
        """The namespaces and names that are one where both are written in a row: with dots."""
        found = defaultdict[str, set[tuple[str | None, str]]](set)
        for call in self._calls:
            if call.name is not None:
                found[f"{call.namespace}.{call.name}"].add((call.namespace, call.name))
        return found

    @once
    def _homes(self) -> Mapping[str, set[str | None]]:
        """The namespaces of the calls of each name; most lists are never asked for them."""
        found: dict[str, set[str | None]] = {}
        for call in self._calls:
            if call.call_index is not None and call.name is not None and call.kind in HANDLED:
                found.setdefault(call.name, set()).add(call.namespace)
        return found
