"""When a policy folds and how much it keeps: its fields, its defaults, the triggers."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatfold import ChatContext, Prompt
from chatfold.policy import Load, Policy

KNOWN = {"claude-opus-4-1": 200_000, "gpt-4o": 128_000, "gpt-4": 8_192, "gpt-4.1": 1_047_576}


def load(
    tokens: int = 0,
    turns: int = 0,
    items: int = 0,
    *,
    limit: int = 1000,
    window: int | None = None,
) -> Load:
    return Load(tokens, turns, items, limit, window)


# --- what can be passed ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["window", "max_tokens", "max_turns", "max_items"])
def test_a_trigger_is_at_least_one(name: str) -> None:
    """Nothing folds from 0 on; None leaves the trigger out."""
    for value in (0, -1):
        with pytest.raises(ValueError, match=f"{name} must be 1 or more, not {value}"):
            Policy(**{name: value})
    assert getattr(Policy(**{name: None}), name) is None
    assert getattr(Policy(**{name: 1}), name) == 1


@pytest.mark.parametrize("name", ["keep_last_turns", "keep_tokens", "overhead_tokens"])
def test_what_is_kept_is_not_below_nothing(name: str) -> None:
    """0 is a number of tokens or turns like any other."""
    with pytest.raises(ValueError, match=f"{name} must be 0 or more, not -1"):
        Policy(**{name: -1})
    assert getattr(Policy(**{name: 0}), name) == 0


@pytest.mark.parametrize(
    "name",
    [
        "window",
        "max_tokens",
        "max_turns",
        "max_items",
        "max_summary_tokens",
        "keep_last_turns",
        "keep_tokens",
        "overhead_tokens",
    ],
)
@pytest.mark.parametrize("value", [1.5, 1e5, math.nan, True, "8000"])
def test_counts_are_whole_numbers(name: str, value: Any) -> None:
    """A fraction of the window is `fraction`, and a trigger that is no number would never fire."""
    with pytest.raises(TypeError, match=f"{name} must be a whole number"):
        Policy(**{name: value})


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("min_gain", (-0.1, 1, 1.5, math.nan), (0, 0.999)),
        ("fraction", (0, -1, 1.01, math.nan), (0.001, 1)),
        ("background_at", (0, -1, 1.01, math.nan), (0.001, 1)),
        ("backoff", (-1, math.nan), (0, 0.5, math.inf)),
        ("max_summary_tokens", (0, -5), (1, 400)),
    ],
)
def test_shares_and_seconds_are_in_range(name: str, wrong: Any, right: Any) -> None:
    """The message says what was expected, and what came."""
    for value in wrong:
        with pytest.raises(ValueError, match=f"{name} must be .* not {value}"):
            Policy(**{name: value})
    for value in right:
        assert getattr(Policy(**{name: value}), name) == value


def test_when_is_a_function() -> None:
    """It is called at each turn; a number there was meant for another field."""
    with pytest.raises(TypeError, match="when must be a function of a Load, or None, not 5"):
        Policy(when=5)  # type: ignore[arg-type]


def test_a_policy_of_the_callers_own_is_taken_as_it_is() -> None:
    """Whatever it is made of."""

    class AtNight(Policy):
        def __init__(self, hour: int) -> None:
            super().__init__(when=lambda load: load.items > hour, keep_last_turns=1)

    items: list[Any] = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a" * 900},
    ]
    ctx = ChatContext(items * 4, policy=AtNight(7))
    assert ctx.maybe_summarize(lambda prompt: "s").reason == "summarized"


def test_one_number_sets_the_token_trigger() -> None:
    """A fraction and a number would contradict each other."""
    with pytest.raises(ValueError, match="fraction and max_tokens both set the trigger"):
        Policy(fraction=0.5, max_tokens=1000)


@pytest.mark.parametrize(
    ("fields", "model"),
    [
        ({"max_tokens": 1000, "keep_tokens": 1000}, None),
        ({"max_tokens": 1000, "keep_tokens": 600, "overhead_tokens": 400}, None),
        ({"max_tokens": 1000, "overhead_tokens": 1000}, None),
        ({"max_turns": 4, "keep_last_turns": 4}, None),
        ({"keep_tokens": 96_000}, None),
        ({"keep_tokens": 7_000}, "gpt-4"),
        ({"overhead_tokens": 7_000}, "gpt-4"),
        ({"fraction": 0.1, "window": 1000, "keep_tokens": 100}, None),
        ({"window": 1000, "max_tokens": 5000, "keep_tokens": 1000}, None),
    ],
)
def test_a_fold_has_to_lead_below_the_trigger(fields: dict[str, Any], model: str | None) -> None:
    """Else every turn would fold again; known at once, or when the model is."""
    with pytest.raises(ValueError, match="every turn would fold again"):
        ChatContext(policy=Policy(**fields), model=model)
    with pytest.raises(ValueError, match="every turn would fold again"):
        Policy(**fields).kept_tokens(model)


def test_a_fraction_needs_a_window() -> None:
    """Of a model that nobody knows, no share can be taken; the message says what to pass."""
    with pytest.raises(ValueError, match=r"fraction=0.5 of which window\? .*my-model.* window="):
        ChatContext(policy=Policy(fraction=0.5), model="my-model")
    assert Policy(fraction=0.5, window=10_000).limit("my-model") == 5_000


def test_a_trigger_above_the_window_keeps_what_the_window_holds() -> None:
    """It is folded there, whatever the trigger; a fifth of the trigger might be all there is."""
    for policy, model in (
        (Policy(max_tokens=50_000), "gpt-4"),
        (Policy(max_tokens=50_000, window=8_192), None),
        (Policy(max_tokens=80_000, fraction=None), "gpt-4"),
    ):
        assert policy.kept_tokens(model) == 4_000
        assert policy.limit(model) >= 50_000
    assert Policy(max_tokens=50_000, window=3_000).kept_tokens(None) == 1_500
    assert Policy(max_tokens=50_000, window=60_000).kept_tokens(None) == 10_000


def test_a_smaller_model_gets_what_it_takes() -> None:
    """Agents hand over to one in the middle of a run; what the policy says is for the larger."""
    policy = Policy(max_tokens=80_000, keep_tokens=16_000, overhead_tokens=192)
    assert policy.kept_tokens("gpt-4o") == policy.kept_tokens(None) == 16_000
    assert policy.kept_tokens("gpt-4") == 4_000
    assert policy.kept_tokens("gpt-4", learned=2_192) == 3_000
    assert policy.kept_tokens("gpt-4", learned=9_000) == 16_000  # nothing would fit
    assert Policy(max_tokens=80_000, keep_tokens=6_000).kept_tokens("gpt-4") == 6_000


def test_a_trigger_above_the_window_leads_below_the_window() -> None:
    messages: list[Any] = []
    ctx = ChatContext(messages, policy=Policy(max_tokens=50_000, min_gain=0), model="gpt-4")
    folds = 0
    for day in range(60):
        messages.append({"role": "user", "content": f"What sold on day {day}? " + "Details. " * 99})
        folds += ctx.maybe_summarize(lambda prompt: "Sales were looked up.").changed
        assert not ctx.load().over_window
        messages.append({"role": "assistant", "content": "Grinders and beans. " * 60})
    assert 1 < folds < 12


# --- the defaults, line by line -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "trigger"),
    [("claude-opus-4-1", 150_000), ("gpt-4.1", 150_000), ("gpt-4o", 96_000), ("gpt-4", 6_144)],
)
def test_the_trigger_is_three_quarters_of_the_window(model: str, trigger: int) -> None:
    """And at most 150,000 tokens, however large the window is."""
    assert Policy().limit(model) == trigger == min(KNOWN[model] * 3 // 4, 150_000)
    assert Policy().window_of(model) == KNOWN[model]
    assert ChatContext(model=model).load().limit == trigger
    assert ChatContext(model=model).load().window == KNOWN[model]


def test_the_trigger_of_an_unknown_window_is_96000() -> None:
    """No model, or one that nobody knows."""
    for model in (None, "my-model"):
        assert Policy().limit(model) == 96_000
        assert Policy().window_of(model) is None
        assert ChatContext(model=model).load() == Load(0, 0, 0, 96_000, None)


def test_what_is_passed_counts_before_what_is_known() -> None:
    """A gateway may give a model a smaller window than its maker does."""
    assert Policy(window=40_000).limit("gpt-4o") == 30_000
    assert Policy(max_tokens=50_000).limit("gpt-4o") == 50_000
    assert Policy(fraction=0.9).limit("gpt-4.1") == 942_818
    assert Policy(fraction=1, window=1).limit(None) == 1


@pytest.mark.parametrize(
    ("trigger", "kept"),
    [
        (150_000, 20_000),
        (100_000, 20_000),
        (96_000, 19_200),
        (50_000, 10_000),
        (20_000, 4_000),
        (10_000, 4_000),
        (8_000, 4_000),
        (6_144, 3_072),
        (2, 1),
        (1, 0),
    ],
)
def test_a_fifth_of_the_trigger_is_kept(trigger: int, kept: int) -> None:
    """Within 4,000 to 20,000 tokens, and never more than half of it."""
    assert Policy(max_tokens=trigger).kept_tokens(None) == kept


def test_what_is_held_elsewhere_leaves_less_to_keep() -> None:
    """Half of what is left for the list is the most that can stay."""
    assert Policy(max_tokens=10_000, overhead_tokens=6_000).kept_tokens(None) == 2_000
    assert Policy(max_tokens=10_000, keep_tokens=300).kept_tokens(None) == 300
    assert Policy(max_tokens=10_000).kept_tokens(None, learned=6_000) == 2_000


@pytest.mark.parametrize("learned", [10_000, 20_000])
def test_where_no_fold_leads_below_the_trigger_less_is_not_kept(learned: int) -> None:
    """What a provider reports may be more than the trigger: to keep nothing would not help."""
    policy = Policy(max_tokens=10_000)
    assert policy.kept_tokens(None, learned=learned) == policy.kept_tokens(None)


@pytest.mark.parametrize(
    ("fields", "turns"),
    [
        ({}, None),
        ({"max_tokens": 1000}, None),
        ({"max_turns": 20}, 5),
        ({"max_turns": 3}, 1),
        ({"max_turns": 1}, 0),
        ({"max_items": 50}, 2),
        ({"when": bool}, 2),
        ({"max_turns": 20, "keep_last_turns": 7}, 7),
        ({"keep_last_turns": 0}, 0),
    ],
)
def test_turns_are_kept_where_they_trigger(fields: dict[str, Any], turns: int | None) -> None:
    """Tokens alone decide where only tokens trigger."""
    assert Policy(**fields).kept_turns() == turns


def test_the_gain_and_the_wait_have_their_defaults() -> None:
    """A fifth, and a minute."""
    made = Policy()
    assert (made.min_gain, made.backoff, made.background_at) == (0.2, 60, 1)
    assert (made.overhead_tokens, made.max_summary_tokens) == (0, None)


def test_a_voice_agents_policy_is_small_and_early() -> None:
    """8,000 tokens, 4 turns, in the background from 70 %, summaries of 400 tokens."""
    voice = Policy.voice()
    assert (voice.max_tokens, voice.keep_last_turns) == (8_000, 4)
    assert (voice.background_at, voice.max_summary_tokens) == (0.7, 400)
    assert voice.kept_tokens(None) == 4_000
    assert not voice.due(load(5_599, limit=8_000), share=0.7)
    assert voice.due(load(5_600, limit=8_000), share=0.7)
    other = Policy.voice(max_tokens=4_000, keep_last_turns=2, min_gain=0.1)
    assert (other.max_tokens, other.keep_last_turns, other.min_gain) == (4_000, 2, 0.1)
    assert other.max_summary_tokens == 400
    assert Policy.voice(fraction=0.5, window=10_000).limit(None) == 5_000


def test_a_voice_agents_policy_goes_with_a_small_window() -> None:
    """A window that is given sets the trigger where it is small; what is passed wins."""
    small = Policy.voice(window=4_096)
    assert (small.limit(None), small.kept_tokens(None)) == (3_072, 1_536)
    assert Policy.voice(window=128_000).limit(None) == 8_000
    assert Policy.voice(window=None).limit(None) == 8_000
    assert Policy.voice(window=4_096, max_tokens=4_000).limit(None) == 4_000
    with pytest.raises(ValueError, match="window must be 1 or more"):
        Policy.voice(window=0)


def test_the_length_of_summaries_is_the_policys_unless_the_options_say() -> None:
    """An explicit call asks for it too; the call's own wish wins."""
    asked: list[int] = []

    def llm(prompt: Prompt) -> str:
        asked.append(prompt.max_tokens)
        return "short"

    def folded(*, call: dict[str, Any], **options: Any) -> int:
        said = [{"role": role, "content": "word " * 400} for role in ("user", "assistant") * 6]
        ctx: ChatContext[Any] = ChatContext(said, policy=Policy.voice(), **options)
        assert ctx.summarize(llm, keep_last_turns=1, **call).changed
        return asked[-1]

    assert folded(call={}) == 400
    assert folded(call={}, max_summary_tokens=300) == 300
    assert folded(call={"max_summary_tokens": 200}, max_summary_tokens=300) == 200


# --- the triggers ---------------------------------------------------------------------------------


@given(
    tokens=st.integers(0, 2000),
    turns=st.integers(0, 40),
    items=st.integers(0, 80),
    max_turns=st.none() | st.integers(1, 30),
    max_items=st.none() | st.integers(1, 60),
    share=st.sampled_from([1.0, 0.7, 0.5]),
    asks=st.none() | st.booleans(),
)
def test_any_trigger_that_is_reached_is_enough(
    tokens: int,
    turns: int,
    items: int,
    max_turns: int | None,
    max_items: int | None,
    share: float,
    asks: bool | None,
) -> None:
    """Tokens always count; in the background a share of each is enough."""
    policy = Policy(
        max_turns=max_turns, max_items=max_items, when=None if asks is None else lambda _: asks
    )
    reached = [
        tokens >= 1000 * share,
        max_turns is not None and turns >= max_turns * share,
        max_items is not None and items >= max_items * share,
        bool(asks),
    ]
    assert policy.due(load(tokens, turns, items), share=share) is any(reached)


def test_a_window_below_the_trigger_is_not_reached_before_a_fold_is_begun() -> None:
    """In the background a share of the window is enough, else a fold would come too late."""
    policy = Policy(max_tokens=50_000, background_at=0.7)
    assert not policy.due(load(5_000, limit=50_000, window=8_192), share=0.7)
    assert policy.due(load(6_000, limit=50_000, window=8_192), share=0.7)
    assert not policy.due(load(8_192, limit=50_000, window=8_192))
    assert policy.due(load(8_193, limit=50_000, window=8_192))


def test_a_function_of_the_load_decides() -> None:
    """It is asked only where nothing else says so, and gets what the others go by."""
    seen: list[Load] = []

    def often(load: Load) -> int:
        seen.append(load)
        return load.turns % 3 == 0

    policy = Policy(when=often, max_items=50)
    assert policy.due(load(turns=3))
    assert not policy.due(load(turns=4))
    assert policy.due(load(items=50, turns=4))
    assert seen == [load(turns=3), load(turns=4)]


def test_a_load_says_what_it_is_over() -> None:
    """The limit is reached, the window is exceeded; an unknown window never is."""
    assert not Load(999, 0, 0, 1000).over_limit
    assert Load(1000, 0, 0, 1000, 1000).over_limit
    assert not Load(1000, 0, 0, 1000, 1000).over_window
    assert Load(1001, 0, 0, 1000, 1000).over_window
    assert not Load(10**9, 0, 0, 1000).over_window


def test_what_a_provider_reports_leaves_less_to_keep_also_where_that_was_given() -> None:
    """As an overhead that the caller names would be refused: every turn would fold again."""
    policy = Policy(max_tokens=10_000, keep_tokens=6_000)
    assert policy.kept_tokens(None, learned=3_000) == 6_000
    assert policy.kept_tokens(None, learned=5_000) == 2_500
