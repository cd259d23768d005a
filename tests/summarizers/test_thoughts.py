"""Thoughts that a server leaves in the text of its answer, which are not the summary."""

from __future__ import annotations

import pytest
from fake_server import LLMServer, llm_server, ok
from laws import talk
from live_requests import WAYS, Way

from chatfold import ChatContext, NoAnswerError

__all__ = ["llm_server"]

SAID = "- The order was shipped"


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    """One of three APIs, by a blocking or an awaited client."""
    return WAYS[request.param]


def fold(way: Way, server: LLMServer) -> str | None:
    """Return the summary of a fold by a prompt."""
    ctx = ChatContext(talk(), shape=way.shape)
    return way.fold(ctx, server, mode="prompt", model="m", request={}, retries=0).summary


@pytest.mark.parametrize(
    "text",
    [
        f"<think>Hm.</think>\n\n{SAID}",
        f"\n<think>\nThe <b>user</b> asks.\n</think>{SAID}",
        f"Hm, the user wants a record.\n</think>\n\n{SAID}",
        SAID,
    ],
)
def test_thoughts_that_open_an_answer_are_not_the_summary(
    text: str, way: Way, llm_server: LLMServer
) -> None:
    """In an element, whether the answer opens it or the model's own template had, in the prompt."""
    llm_server.script(ok(text))
    summary = fold(way, llm_server)
    assert summary is not None
    assert summary.strip() == SAID


@pytest.mark.parametrize(
    "text", ["<think>Hm, well", "<think>Hm.</think>", "Hm, the user wants a record.\n</think>\n"]
)
def test_an_answer_of_thoughts_alone_is_none(text: str, way: Way, llm_server: LLMServer) -> None:
    """Closed or not."""
    llm_server.script(ok(text))
    with pytest.raises(NoAnswerError, match="reasoning only"):
        fold(way, llm_server)


@pytest.mark.parametrize(
    "text",
    [
        "- The parser is to drop <think>...</think> at the start",
        "- The server leaves a bare </think> in its answers; a patch is open",
        "- It ends in `</think>`\n- <think> is in the prompt",
        "- The answer is to be without\n<think>\n...\n</think>\n- That is open",
    ],
)
def test_a_tag_that_a_summary_speaks_of_stays(text: str, way: Way, llm_server: LLMServer) -> None:
    """It does not open the answer, nor stand on a line of its own."""
    llm_server.script(ok(text))
    assert fold(way, llm_server) == text
