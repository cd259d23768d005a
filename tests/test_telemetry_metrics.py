"""Metrics of folds, by the real OpenTelemetry SDK, as a reader gets them."""

from __future__ import annotations

import pytest
from each_turn import context
from fake_server import LLMServer, llm_server, ok
from telemetry_backend import (
    Backend,
    attributes,
    backend,
    no_span_is_left_behind,
)

from chatfold import Completion, EmptySummaryError, Prompt, Usage

__all__ = ["backend", "llm_server", "no_span_is_left_behind"]


def test_tokens_and_seconds_are_counted_by_the_conventions(
    backend: Backend, llm_server: LLMServer
) -> None:
    openai = pytest.importorskip("openai")
    http = openai.DefaultHttpxClient(verify=False)
    client = openai.OpenAI(api_key="k", base_url=llm_server.openai_url, http_client=http)
    llm_server.default = ok("short")
    telemetry = backend.telemetry()
    outcomes = [context(n, on_event=telemetry).summarize(client, model="gpt-x") for n in (10, 20)]
    assert all(outcome.changed and outcome.usage for outcome in outcomes)
    who = {
        "gen_ai.operation.name": "summarize",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-x",
    }
    model = {"gen_ai.response.model": outcomes[0].model}
    points = backend.points("gen_ai.client.token.usage")
    by_type = {point.attributes["gen_ai.token.type"]: point for point in points}
    assert set(by_type) == {"input", "output"}
    for kind, point in by_type.items():
        assert point.attributes == {**who, **model, "gen_ai.token.type": kind}
        used = [getattr(outcome.usage, f"{kind}_tokens") for outcome in outcomes]
        assert (point.count, point.sum) == (2, sum(used))
        # https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-metrics.md
        # (read 2026-11-22), as the buckets below.
        assert point.explicit_bounds == (
            *(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304),
            *(16777216, 67108864),
        )
        (sum_of,) = backend.points(f"gen_ai.client.inference.usage.{kind}_tokens")
        assert (sum_of.value, sum_of.attributes) == (sum(used), {**who, **model})
    (seconds,) = backend.points("gen_ai.client.operation.duration")
    assert seconds.attributes == {**who, **model}
    assert (seconds.count, seconds.sum) == (2, pytest.approx(sum(o.seconds for o in outcomes)))
    assert seconds.explicit_bounds == (
        *(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96),
        81.92,
    )
    (count,) = backend.points("chatfold.folds")
    assert (count.value, count.attributes) == (2, {**who, "chatfold.reason": "summarized"})
    sizes = {
        p.attributes["chatfold.history.state"]: p for p in backend.points("chatfold.history.tokens")
    }
    assert sizes["before"].sum == sum(outcome.tokens_before for outcome in outcomes)
    assert sizes["after"].sum == sum(outcome.tokens_after for outcome in outcomes)


def test_a_provider_that_nobody_knows_is_another_one(backend: Backend) -> None:
    """The usage metric has to name one; the others need not."""
    context(10, on_event=backend.telemetry()).summarize(backend.model)
    for point in backend.points("gen_ai.client.token.usage"):
        assert point.attributes["gen_ai.provider.name"] == "_OTHER"
    (seconds,) = backend.points("gen_ai.client.operation.duration")
    assert "gen_ai.provider.name" not in seconds.attributes


def test_what_a_failed_fold_has_cost_is_counted(backend: Backend) -> None:
    """Usage that was spent is spent, though the history is as it was."""
    with pytest.raises(EmptySummaryError) as caught:
        context(10, on_event=backend.telemetry()).summarize(
            lambda prompt: Completion(" ", usage=Usage(70, 1, 40))
        )
    used = caught.value.usage
    assert used is not None
    assert used.input_tokens >= 70
    told = attributes(backend.fold())
    assert told["gen_ai.usage.input_tokens"] == used.input_tokens
    assert told["chatfold.llm_calls"] == caught.value.llm_calls > 0
    points = backend.points("gen_ai.client.token.usage")
    assert sorted(p.sum for p in points) == [used.output_tokens, used.input_tokens]
    (cached,) = backend.points("gen_ai.client.inference.usage.cache_read.input_tokens")
    assert cached.value == used.cached_tokens >= 40
    assert backend.points("chatfold.history.tokens") == []


def test_a_fold_without_a_model_is_no_operation_of_a_models(backend: Backend) -> None:
    """It is a fold, of which the history gets smaller; nobody's seconds and tokens are its own."""
    outcome = context(10, on_event=backend.telemetry()).summarize("extractive")
    assert outcome.changed
    assert attributes(backend.fold())["chatfold.llm_calls"] == 0
    for name in ("operation.duration", "token.usage", "inference.usage.input_tokens"):
        assert backend.points(f"gen_ai.client.{name}") == []
    (count,) = backend.points("chatfold.folds")
    assert (count.value, count.attributes["chatfold.reason"]) == (1, "summarized")
    assert len(backend.points("chatfold.history.tokens")) == 2


def test_seconds_of_a_model_do_not_bear_the_name_of_what_stood_in(backend: Backend) -> None:
    """A model was asked in vain; what wrote the summary is none."""
    outcome = context(10, on_event=backend.telemetry()).summarize([_down, "extractive"])
    assert (outcome.model, outcome.llm_calls) == ("extractive", 1)
    (seconds,) = backend.points("gen_ai.client.operation.duration")
    assert seconds.attributes == {"gen_ai.operation.name": "summarize"}


def _down(prompt: Prompt) -> str:
    raise ConnectionError("the server is down")
