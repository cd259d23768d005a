"""Errors leave the process in which they were raised, alone and in an outcome."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import chatfold
from chatfold import ChatContext, ChatfoldError, Outcome, Policy, Usage
from chatfold.core.check import Problem
from chatfold.core.grounding import Ungrounded
from chatfold.core.values import values
from chatfold.summarizers.function import AnswerTypeError

CARRIED: dict[str, dict[str, Any]] = {
    "InvalidResultError": {"problems": [Problem("orphan_result", "no call", (3,))]},
    "MissingExtraError": {"extra": "otel"},
    "ShapeError": {"shape": "gemini", "index": 4},
    "StaleHeadError": {"index": 2},
    "SummarizerError": {"overflow": True, "limit": 8_000, "size": 9_500},
    "AnswerTypeError": {"overflow": True},
    "TemplateError": {"template": "note.jinja", "line": 7},
    "UngroundedSummaryError": {
        "values": [Ungrounded(value, (0, 16), "unseen") for value in values("LK-7777 is lost.")]
    },
    "UnknownShapeError": {"shape": "nova"},
}
"""What the errors bear that bear more than a message."""


def kinds() -> list[type[ChatfoldError]]:
    public = [getattr(chatfold, name) for name in chatfold.__all__]
    errors = [kind for kind in public if isinstance(kind, type) and issubclass(kind, ChatfoldError)]
    return [*errors, AnswerTypeError]


def pickled(error: ChatfoldError) -> ChatfoldError:
    return pickle.loads(pickle.dumps(error))


@pytest.mark.parametrize("kind", kinds())
@pytest.mark.parametrize("again", [pickled, copy.copy, copy.deepcopy])
def test_every_error_can_be_pickled_and_copied(
    kind: type[ChatfoldError], again: Callable[[ChatfoldError], ChatfoldError]
) -> None:
    error = kind("it went wrong", **CARRIED.get(kind.__name__, {}))
    error.usage, error.llm_calls = Usage(10, 2), 1
    error.add_note("in the third turn")
    made = again(error)
    assert type(made) is kind
    assert (str(made), made.args, vars(made)) == (str(error), error.args, vars(error))
    if isinstance(error, ImportError):
        assert made.msg == error.msg  # type: ignore[attr-defined]


class HostError(chatfold.SummarizerError):
    """An error of a host's own summarizer, with another signature."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}", overflow=status == 413)
        self.status = status


def test_an_error_of_a_host_s_own_can_be_pickled() -> None:
    made = pickled(HostError(413))
    assert isinstance(made, HostError)
    assert (str(made), made.status, made.overflow) == ("status 413", 413, True)


def history() -> list[dict[str, str]]:
    return [
        {"role": role, "content": f"{role} {n}: where is my order? " * 40}
        for n in range(4)
        for role in ("user", "assistant")
    ]


def outcome_of_a_failure() -> Outcome[dict[str, str]]:
    ctx = ChatContext(history(), policy=Policy(max_tokens=500, keep_tokens=200), grounding="refuse")
    return ctx.maybe_summarize(lambda prompt: "Order LK-7777 is lost.")


def test_an_outcome_that_bears_an_error_can_be_pickled() -> None:
    outcome = outcome_of_a_failure()
    made = pickle.loads(pickle.dumps(outcome))
    assert str(made) == str(outcome)
    assert made.error.values == outcome.error.values  # type: ignore[union-attr]
