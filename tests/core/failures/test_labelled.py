"""Results of tools that change things, judged by hand: which calls failed, and which did not.

They were written and labelled by somebody who knew what agents and services answer and nothing of
the rules, mostly to be hard: failures that look mild, and deeds whose results hold words of
failure. Each line of the file has the tool, what it was given, what came back, and whether an
engineer who reads that would say that the call did nothing of what it was for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chatfold.core.call_json import json_or_text, leaves_of
from chatfold.core.failures import reason_in
from chatfold.core.failures.not_done import nothing_done
from chatfold.core.failures.wraps import unwrapped
from chatfold.core.outcomes import outcome_of

FILE = Path(__file__).with_name("labelled_results.jsonl")
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()
]
DONE = [case for case in CASES if case["label"] == "done"]
FAILED = [case for case in CASES if case["label"] == "failed"]
AS_FAILED = frozenset(("B214",))  # a DELETE of no rows: that it deleted nothing is worth telling
FOUND = 120  # of those that failed; fewer are a step back, more are to be written here


def result_of(case: dict[str, Any]) -> Any:
    result = case["result"]
    return json_or_text(result) if isinstance(result, str) else result


def given_to(case: dict[str, Any]) -> list[Any]:
    return [leaf for _, leaf in leaves_of(case["arguments"])]


def reason_of(case: dict[str, Any]) -> str | None:
    result, given = result_of(case), given_to(case)
    reason = reason_in(result, name=case["name"], given=lambda: given)
    return reason or nothing_done(unwrapped(result), case["arguments"], case["name"])


@pytest.mark.parametrize("case", DONE, ids=[case["id"] for case in DONE])
def test_no_call_that_did_something_is_told_as_failed(case: dict[str, Any]) -> None:
    """It would be made again."""
    assert (reason_of(case) is not None) == (case["id"] in AS_FAILED)


def test_as_many_failures_are_found_as_were_once() -> None:
    assert sum(reason_of(case) is not None for case in FAILED) >= FOUND


@pytest.mark.parametrize("case", FAILED, ids=[case["id"] for case in FAILED])
def test_what_is_not_found_says_itself_how_it_went(case: dict[str, Any]) -> None:
    """What came back stands beside the call, whatever was made of it."""
    given = {str(leaf) for leaf in given_to(case)}
    told = outcome_of(result_of(case), case["name"], given, str, [*case["arguments"]])
    assert reason_of(case) is not None or told != ()
