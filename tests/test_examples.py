"""The example programs of docs/examples run as they are, and send only what a provider takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from clerk import ANSWER, SUMMARY, UNBOUND, Clerk

EXAMPLES = Path(__file__).resolve().parents[1] / "docs" / "examples"
SHAPES = {
    "openai_chat.py": "openai_chat",
    "openai_responses.py": "openai_responses",
    "anthropic_messages.py": "anthropic",
}
QUESTIONS = (
    "Where are my orders LK-1001 and LK-1002?",
    "And order LK-9999?",
    "What became of LK-1003?",
    "LK-1001 leaks, I want to send back LK-1001. Never call me before 10 am.",
    "Was LK-1002 the same machine as LK-1003?",
    "Thanks.",
)


class Conversation(NamedTuple):
    """One run of an example: what it printed, and what the model was asked."""

    shape: str
    run: subprocess.CompletedProcess[str]
    clerk: Clerk

    @property
    def last(self) -> str:
        """The items of the last request."""
        return json.dumps(self.clerk.items(-1))


@pytest.fixture
def clerk() -> Iterator[Clerk]:
    """A running model that has heard nothing yet."""
    with Clerk() as server:
        yield server


@pytest.fixture(scope="module", params=list(SHAPES))
def conversation(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Conversation]:
    """The whole conversation with each example; to start one takes longer than to talk."""
    with Clerk() as server:
        directory = tmp_path_factory.mktemp("elsewhere")
        run = converse(EXAMPLES / request.param, server, directory)
        yield Conversation(SHAPES[request.param], run, server)


def converse(
    program: Path, clerk: Clerk, directory: Path, questions: tuple[str, ...] = QUESTIONS
) -> subprocess.CompletedProcess[str]:
    """Run an example in a process of its own, and type the questions."""
    return subprocess.run(
        [sys.executable, program],
        input="".join(f"{question}\n" for question in questions),
        env={**os.environ, **clerk.env},
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_every_example_is_run() -> None:
    """No program lies in the directory that the tests do not know."""
    assert {path.name for path in EXAMPLES.iterdir() if path.is_file()} == {*SHAPES}


def test_every_question_is_answered_and_nothing_is_refused(conversation: Conversation) -> None:
    """Six turns with parallel and failing calls, all streamed, and valid at each request."""
    run, clerk = conversation.run, conversation.clerk
    assert run.returncode == 0, run.stderr
    assert clerk.refused == []
    assert run.stdout.splitlines() == [ANSWER] * len(QUESTIONS)
    assert len(clerk.turns) == 2 * len(QUESTIONS) - 1  # the thanks need no tool
    assert all(turn.body["stream"] for turn in clerk.turns)


def test_the_list_is_folded_again_and_again(conversation: Conversation) -> None:
    """Each fold is told and costs one request, and there is one summary in the end."""
    run, clerk = conversation.run, conversation.clerk
    folds = [line for line in run.stderr.splitlines() if line.startswith("summarized ")]
    assert len(folds) >= 2
    assert run.stderr.splitlines() == folds
    assert len(clerk.prompts) == len(folds)
    assert conversation.last.count("<chat_history_summary") == 1
    assert SUMMARY in conversation.last


def test_what_a_fold_took_out_is_gone_and_what_must_stay_is_there(
    conversation: Conversation,
) -> None:
    """What was done and demanded stays, scans go, and all was in a prompt before it went."""
    last = conversation.last
    assert QUESTIONS[0] not in last
    assert "create_return(" in last
    assert "RMA-1001" in last
    assert "Never call me before 10 am." in last
    assert QUESTIONS[-1] in last
    prompts = "".join(json.dumps(prompt.body) for prompt in conversation.clerk.prompts)
    assert "there is no order LK-9999" in prompts
    assert "depot 140, sorted" in prompts


def test_parallel_calls_have_one_result_each(conversation: Conversation) -> None:
    """The second request holds both calls and both results, in the provider's own form."""
    first, second = (conversation.clerk.items(turn) for turn in (0, 1))
    assert json.dumps(second).count("depot 140, sorted") == 2 * 6
    added = {"openai_chat": 3, "openai_responses": 5, "anthropic": 2}[conversation.shape]
    assert len(second) == len(first) + added


@pytest.mark.parametrize("name", list(SHAPES))
def test_a_summarizer_that_fails_is_reported_and_ends_nothing(
    name: str, clerk: Clerk, tmp_path: Path
) -> None:
    """Every question up to the empty line is answered, though no summary was ever written."""
    clerk.fails = True
    run = converse(EXAMPLES / name, clerk, tmp_path, (*QUESTIONS, "", "Are you there?"))
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [ANSWER] * len(QUESTIONS)
    told = run.stderr.splitlines()
    assert told
    assert all(line.startswith("not summarized (failed): SummarizerError") for line in told)
    assert clerk.refused == []


@pytest.mark.parametrize("name", list(SHAPES))
def test_a_stream_that_breaks_off_ends_no_conversation(
    name: str, clerk: Clerk, tmp_path: Path
) -> None:
    """Whether it held calls or words; what was finished is sent back, and nothing is refused."""
    clerk.breaks = frozenset({0, 3})
    run = converse(EXAMPLES / name, clerk, tmp_path)
    assert run.returncode == 0, run.stderr
    assert clerk.refused == []
    assert run.stdout.splitlines()[-1] == ANSWER
    assert run.stdout.count(ANSWER) >= len(QUESTIONS) - 2
    assert run.stderr.count("[the connection broke off: ") == 2


@pytest.mark.parametrize("name", list(SHAPES))
def test_the_example_needs_what_it_takes_care_of(name: str, clerk: Clerk, tmp_path: Path) -> None:
    """Without the fields for thinking, or with a call unanswered, the model refuses a request."""
    code = (EXAMPLES / name).read_text(encoding="utf-8")
    careful, careless = "ctx.run_tool_calls(FUNCTIONS, timeout=30)", "[]"
    if SHAPES[name] == "anthropic":
        careful, careless = "**ctx.request_options(),", ""
    assert code.count(careful) == 1
    program = tmp_path / name
    program.write_text(code.replace(careful, careless), encoding="utf-8")
    run = converse(program, clerk, tmp_path)
    assert run.returncode != 0
    assert len(clerk.refused) == 1
    if SHAPES[name] == "anthropic":
        assert clerk.refused == [UNBOUND]
    else:
        assert "unanswered_call" in clerk.refused[0]
