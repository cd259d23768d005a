"""Problems and requirements: their values, and the rules that hold in every shape.

Not here: one provider's rules (`chatfold.shapes`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

from chatfold.core.calls import ToolCallRecord
from chatfold.core.native import plain
from chatfold.core.views import ItemView, ResultPart, UnknownPart

__all__ = [
    "THINKING_BINDING",
    "Problem",
    "Requirement",
    "Severity",
    "added_errors",
    "common_problems",
    "join_options",
    "options_of",
    "unnamed",
]

Severity: TypeAlias = Literal["error", "pending", "loss", "warning"]
"""`error`: the provider refuses the list; `pending`: it would until open calls are answered;
`loss`: it accepts the list and forgets something; `warning`: worth a look."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the list that the provider would refuse, or that gets lost.

    Attributes:
        rule: Short name of the rule, e.g. `orphan_result`.
        message: What is wrong, in words for the list's owner.
        indices: Indices of the items concerned, the offending one first.
        severity: What it leads to.
        provider_error: The provider's own error text, "" where none is known.
        shape: Name of the shape whose rule it is.
        source: Where the rule is documented, with the day it was read.
    """

    rule: str
    message: str
    indices: tuple[int, ...]
    severity: Severity = "error"
    provider_error: str = ""
    shape: str = ""
    source: str = ""

    @property
    def index(self) -> int:
        """Index of the offending item."""
        return self.indices[0] if self.indices else 0

    def __str__(self) -> str:
        text = f"item {self.index}: {self.severity}: {self.message} [{self.rule}]"
        return f"{text}\n    provider: {self.provider_error}" if self.provider_error else text


THINKING_BINDING: Final = "thinking_binding"
"""Kind of a requirement of thinking that was signed over messages which are gone."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a request with this list has to carry besides the list.

    Attributes:
        kind: Short name, e.g. `THINKING_BINDING`.
        message: Why, and what the other way out is.
        options: The request fields, ready to spread into `create(**...)`.
        indices: Indices of the items that make it necessary.
        source: Where the rule is documented, with the day it was read.
    """

    kind: str
    message: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    indices: tuple[int, ...] = ()
    source: str = ""


def options_of(requirements: Iterable[Requirement]) -> dict[str, Any]:
    """Return the request fields of all of them, ready to spread into `create(**...)`; mostly {}."""
    merged: dict[str, Any] = {}
    for requirement in requirements:
        join_options(merged, requirement.options)
    return merged


def join_options(into: dict[str, Any], options: Mapping[str, Any]) -> None:
    """Add request fields to others, which stay: lists, such as `betas`, and groups are joined.

    What stands for nothing (None, the SDKs' `NOT_GIVEN` and `omit`) gives way to lists and groups.
    """
    for key, value in options.items():
        known: Any = into.get(key)
        if isinstance(value, list):
            told: list[Any] = [*known] if isinstance(known, (list, tuple)) else []
            more = [each for each in cast("list[Any]", value) if each not in told]
            into[key] = [*told, *more] if told or not known else known
        elif isinstance(value, Mapping):
            joined: Any = plain(known) if known else {}
            if isinstance(joined, dict):
                joined = dict(cast("dict[str, Any]", joined))
                join_options(joined, cast("Mapping[str, Any]", value))
                into[key] = joined
        else:
            into.setdefault(key, value)


def common_problems(
    views: Sequence[ItemView],
    calls: Sequence[ToolCallRecord],
    shape_name: str,
    *,
    known: bool = True,
) -> Iterator[Problem]:
    """Yield what is wrong in any shape: malformed, foreign and unknown items.

    Args:
        views: One reading per native item.
        calls: The records of all calls.
        shape_name: Name of the list's shape.
        known: Whether the list's shape is settled; else no item is foreign.
    """
    for index, view in enumerate(views):
        if view.fault:
            yield Problem(
                "malformed_item", f"{view.type or 'item'}: {view.fault}", (index,), shape=shape_name
            )
        elif not view.shape:
            yield Problem(
                "unknown_item",
                f"no shape knows this item ({view.type or 'no type'}); it is kept as it is",
                (index,),
                "warning",
                shape=shape_name,
            )
        elif known and view.shape != shape_name:
            yield Problem(
                "foreign_item",
                f"this is an item of {view.shape}, and the list is of {shape_name}",
                (index,),
                shape=shape_name,
            )
        else:
            torn = False
            for part in view.parts:
                if type(part) is UnknownPart and not (part.command or part.known):
                    yield Problem(
                        "unknown_part",
                        f"unknown content of type {part.type!r}; it is kept as it is",
                        (index,),
                        "warning",
                        shape=shape_name,
                    )
                text: str = getattr(part, "text", "") or getattr(part, "arguments", "")
                # Most are ASCII, which a text knows of itself.
                torn = torn or (not text.isascii() and _is_torn(text))
            if torn:
                yield Problem(
                    "lone_surrogate",
                    "a text with half of a surrogate pair, as of an emoji that was cut in two: the "
                    "SDKs cannot send it; cut texts between characters",
                    (index,),
                    "warning",
                    "UnicodeEncodeError: 'utf-8' codec can't encode character: surrogates not "
                    "allowed",
                    shape_name,
                )


def _is_torn(text: str) -> bool:
    """Return whether a text has half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def unnamed(views: Sequence[ItemView], calls: Sequence[ToolCallRecord]) -> list[ToolCallRecord]:
    """Return the calls that have an id, and whose result does not name it: its place tells."""
    named: dict[int, set[str | None]] = {}
    found: list[ToolCallRecord] = []
    for call in calls:
        index = call.result_index
        if index is None or call.call_index is None or call.id is None:
            continue
        if index not in named:
            named[index] = {p.id for p in views[index].parts if type(p) is ResultPart}
        if call.id not in named[index]:
            found.append(call)
    return found


def added_errors(
    before: Iterable[Problem],
    after: Iterable[Problem],
    old: Sequence[object],
    new: Sequence[object],
) -> list[Problem]:
    """Return the errors in the new list that the old one did not have.

    The items are the same objects in both lists. What the provider refused an item for may change:
    the second result of a call has no call at all once the first has gone with it. So an error is
    new if its first item has more of them than before; of several, one by another rule.
    """

    def item_of(problem: Problem, items: Sequence[object]) -> int:
        return id(items[problem.index]) if items else 0

    known = Counter((item_of(p, old), p.rule) for p in before if p.severity == "error")
    others: list[tuple[int, Problem]] = []
    for problem in after:
        if problem.severity != "error":
            continue
        item = item_of(problem, new)
        if known[item, problem.rule] > 0:
            known[item, problem.rule] -= 1
        else:
            others.append((item, problem))
    gone: Counter[int] = Counter()
    for (item, _), count in known.items():
        gone[item] += count
    added: list[Problem] = []
    for item, problem in others:
        if gone[item] > 0:
            gone[item] -= 1
        else:
            added.append(problem)
    return added
