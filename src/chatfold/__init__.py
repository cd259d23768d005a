"""chatfold: action-aware summarization of chat histories for agents that use tools.

Everything in `__all__` is public, and nothing else is.
"""

from chatfold.context import ChatContext
from chatfold.core.calls import ToolCallRecord
from chatfold.core.check import Problem, Requirement
from chatfold.core.flow import Completion, Flow, Usage
from chatfold.core.plan import Outcome, Plan
from chatfold.core.render import Prompt, TemplateRenderer
from chatfold.core.split import Turn
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
    SummarizerError,
    SummaryError,
    TemplateError,
    TruncatedSummaryError,
    UnknownShapeError,
)
from chatfold.options import SummaryOptions
from chatfold.summarizers import Summarizer
from chatfold.tokens import TokenCount, TokenCounter

__all__ = [
    "BusyError",
    "ChatContext",
    "ChatfoldError",
    "Completion",
    "EmptySummaryError",
    "Flow",
    "InvalidResultError",
    "ItemView",
    "MissingExtraError",
    "NoAnswerError",
    "Outcome",
    "Plan",
    "Problem",
    "Prompt",
    "RefusedSummaryError",
    "Requirement",
    "Shape",
    "ShapeError",
    "StaleHeadError",
    "SummarizerError",
    "Summarizer",
    "SummaryError",
    "SummaryOptions",
    "TemplateError",
    "TemplateRenderer",
    "TokenCount",
    "TokenCounter",
    "ToolCallRecord",
    "TruncatedSummaryError",
    "Turn",
    "UnknownShapeError",
    "Usage",
    "__version__",
]

__version__ = "0.1.0"
