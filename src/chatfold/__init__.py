"""chatfold: action-aware summarization of chat histories for agents that use tools.

Everything in `__all__` is public, and nothing else is. A name's module is loaded when the name is
first used (PEP 562), so that a program that only might fold pays nothing at its start.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from chatfold.background import BackgroundFold
    from chatfold.context import ChatContext
    from chatfold.core.calls import ToolCallRecord
    from chatfold.core.check import Problem, Requirement
    from chatfold.core.constraints.words import Words
    from chatfold.core.flow import Completion, Flow, Usage
    from chatfold.core.guard import FactReport
    from chatfold.core.mends.edits import Repair, RepairPolicies
    from chatfold.core.plan import Outcome, Plan
    from chatfold.core.render import Prompt, TemplateRenderer
    from chatfold.core.split import Turn
    from chatfold.core.steps import Step, render_steps
    from chatfold.core.views import ItemView, Shape
    from chatfold.errors import (
        BusyError,
        ChatfoldError,
        EmptySummaryError,
        InvalidResultError,
        MissingExtraError,
        NoAnswerError,
        RefusedSummaryError,
        ShapeError,
        StaleHeadError,
        StoreError,
        SummarizerError,
        SummaryError,
        TemplateError,
        TruncatedSummaryError,
        UngroundedSummaryError,
        UnknownShapeError,
    )
    from chatfold.events import FoldEvent
    from chatfold.middleware import Folded, Middleware
    from chatfold.options import SummaryOptions
    from chatfold.policy import Load, Policy
    from chatfold.summarizers import Summarizer
    from chatfold.tokens import TokenCount, TokenCounter
    from chatfold.tools import ToolRun

__all__ = [
    "BackgroundFold",
    "BusyError",
    "ChatContext",
    "ChatfoldError",
    "Completion",
    "EmptySummaryError",
    "FactReport",
    "Flow",
    "FoldEvent",
    "Folded",
    "InvalidResultError",
    "ItemView",
    "Load",
    "Middleware",
    "MissingExtraError",
    "NoAnswerError",
    "Outcome",
    "Plan",
    "Policy",
    "Problem",
    "Prompt",
    "RefusedSummaryError",
    "Repair",
    "RepairPolicies",
    "Requirement",
    "Shape",
    "ShapeError",
    "StaleHeadError",
    "Step",
    "StoreError",
    "Summarizer",
    "SummarizerError",
    "SummaryError",
    "SummaryOptions",
    "TemplateError",
    "TemplateRenderer",
    "TokenCount",
    "TokenCounter",
    "ToolCallRecord",
    "ToolRun",
    "TruncatedSummaryError",
    "Turn",
    "UngroundedSummaryError",
    "UnknownShapeError",
    "Usage",
    "Words",
    "__version__",
    "render_steps",
]

__version__: Final = "0.1.0"

_MODULES: Final = {
    "chatfold.background": ("BackgroundFold",),
    "chatfold.context": ("ChatContext",),
    "chatfold.core.calls": ("ToolCallRecord",),
    "chatfold.core.check": ("Problem", "Requirement"),
    "chatfold.core.constraints.words": ("Words",),
    "chatfold.core.flow": ("Completion", "Flow", "Usage"),
    "chatfold.core.guard": ("FactReport",),
    "chatfold.core.plan": ("Outcome", "Plan"),
    "chatfold.core.render": ("Prompt", "TemplateRenderer"),
    "chatfold.core.mends.edits": ("Repair", "RepairPolicies"),
    "chatfold.core.split": ("Turn",),
    "chatfold.core.steps": ("Step", "render_steps"),
    "chatfold.core.views": ("ItemView", "Shape"),
    "chatfold.events": ("FoldEvent",),
    "chatfold.middleware": ("Folded", "Middleware"),
    "chatfold.options": ("SummaryOptions",),
    "chatfold.policy": ("Load", "Policy"),
    "chatfold.summarizers": ("Summarizer",),
    "chatfold.tools": ("ToolRun",),
    "chatfold.tokens": ("TokenCount", "TokenCounter"),
}
_HOMES: Final = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """Return a public name, from the module that defines it."""
    if name.startswith("_") or name not in __all__:
        raise AttributeError(f"module 'chatfold' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_HOMES.get(name, "chatfold.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted({*globals(), *__all__})
