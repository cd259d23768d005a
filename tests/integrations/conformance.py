"""The suite that every integration passes: real agents of its framework, with folds as they run.

A framework brings a `Host`; the suite judges what its model was sent. What a host `lacks` because
its framework has no such thing is not tried there. Not here: what needs no run
(`conformance_options`), what is said (`scripts`), or is one framework's own.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from integrations.host import (
    Brain,
    Call,
    Conversation,
    Events,
    Host,
    Request,
    Setup,
    Step,
    Turn,
    Writer,
    desk,
)
from integrations.scripts import NEVER, SMALL, errors, needs, play, results, turns, wrappers
from integrations.transcripts import Transcript, marks, transcript

from chatfold import Completion, Policy, Prompt, Usage

__all__ = ["HostConformance"]

HANG = 8.0  # seconds; the time-out is far below, and a turn has to be over in between
TIMEOUT = 0.4


class HostConformance:
    """What holds in every framework; `host` is a fixture."""

    # Runs

    @pytest.mark.anyio
    async def test_every_request_of_a_folded_run_is_valid(self, host: Host, kind: str) -> None:
        """Folds happen, the agent answers as without them, and the model is sent what is legal."""
        script, events = turns(kind), Events()
        brain, writer = Brain(script), Writer()
        options = {"policy": SMALL, "on_event": events}
        async with host.open(Setup(brain, writer, options)) as conversation:
            answers = await play(conversation, script, kind)
        assert answers == [turn.steps[-1].text for turn in script]
        assert len(events.changed) >= 2
        for request in brain.requests:
            assert not errors(request)
            assert wrappers(request) <= 1
        assert wrappers(brain.requests[-1]) == 1
        assert script[-1].said in brain.requests[-1].text
        looked = sum(call.name == "lookup" for t in script for s in t.steps for call in s.calls)
        assert max(request.text.count(desk.PAGE) for request in brain.requests) < looked

    @pytest.mark.anyio
    async def test_what_is_taken_out_was_shown_to_the_summarizer(
        self, host: Host, kind: str
    ) -> None:
        """All that was said and looked up stands in the last request or in a prompt."""
        script = turns(kind)
        brain, writer = Brain(script), Writer()
        async with host.open(Setup(brain, writer, {"policy": SMALL})) as conversation:
            await play(conversation, script, kind)
        shown = brain.requests[-1].text + "".join(prompt.user for prompt in writer.prompts)
        said = {mark for turn in script for mark in marks(turn.said + turn.steps[-1].text)}
        assert said - marks(shown) == marks(script[-1].steps[-1].text)
        ids = {call.order for turn in script for step in turn.steps for call in step.calls}
        assert {order for order in ids if order not in shown} == set()
        heard = {word for request in brain.requests for word in results(request)}
        assert {word for word in heard if word not in shown} == set()
        if kind == "handoffs":
            assert "returns" in "".join(prompt.user for prompt in writer.prompts)

    @pytest.mark.anyio
    async def test_a_turn_of_many_steps_keeps_what_the_user_asked_for(self, host: Host) -> None:
        """However much is looked up in it, the request stands there word for word."""
        first, last = turns("one call", 2)
        calls = [Call(f"call_9_{n}", "lookup", f"LK-{2000 + n}") for n in range(9)]
        looked = (Step(calls=tuple(calls[n : n + 3])) for n in (0, 3, 6))  # LiveKit takes no more
        steps = (*looked, Step("All were looked up."))
        script = [first, Turn("Look up all of mk0009.", steps), last]
        brain, events = Brain(script), Events()
        setup = Setup(brain, Writer(), {"policy": SMALL, "on_event": events})
        async with host.open(setup) as conversation:
            answers = await play(conversation, script)
        assert answers == [turn.steps[-1].text for turn in script]
        assert events.changed
        assert wrappers(brain.requests[-1]) == 1
        long = [request for request in brain.requests if last.said not in request.text][2:]
        assert len(long) == len(steps)
        for request in long:
            assert script[1].said in request.text
            assert not errors(request)

    @pytest.mark.anyio
    @needs("approval")
    async def test_a_call_that_waits_for_approval_is_never_folded_away(self, host: Host) -> None:
        """Its result comes after the fold, and the model finds both in the next request."""
        script = [*turns("one call", 4), *turns("approval", 6)[4:]]
        brain = Brain(script)
        async with host.open(Setup(brain, Writer(), {"policy": SMALL})) as conversation:
            await play(conversation, script[:4])
            assert await conversation.say(script[4].said) == ""
            await conversation.settled()
            assert await conversation.approve() == script[4].steps[-1].text
        (waited,) = [call for call in script[4].steps[0].calls if call.name == "refund"]
        assert brain.requests[-1].text.count(waited.id) >= 2
        assert f"R-{waited.order}" in brain.requests[-1].text
        assert not errors(brain.requests[-1])

    @pytest.mark.anyio
    @pytest.mark.parametrize(
        "name", ["late", "far-late", "crossed", "reused", "pending", "retries", "barge-in"]
    )
    async def test_a_stored_history_is_folded_without_a_new_error(
        self, host: Host, name: str
    ) -> None:
        """Late, crossed, repeated and missing results: nothing is worse than it was unfolded."""
        given = transcript(name)
        plain, _ = await self.asked_after(host, given, NEVER)
        for keep in (0, 100, 200):
            policy = Policy(max_tokens=400, keep_tokens=keep, min_gain=0.0)
            folded, prompts = await self.asked_after(host, given, policy)
            assert wrappers(folded) == 1
            assert not errors(folded) - errors(plain)
            assert marks(plain.text) <= marks(folded.text + "".join(prompts))

    async def asked_after(
        self, host: Host, given: Transcript, policy: Policy
    ) -> tuple[Request, list[str]]:
        """Return the request of a turn after this history, and what the summarizer was asked."""
        brain = Brain([Turn("And what now?", (Step("Nothing."),))])
        writer = Writer()
        setup = Setup(brain, writer, {"policy": policy}, history=given.events[1:])
        async with host.open(setup) as conversation:
            await conversation.say("What is it?")
            await conversation.settled()
            assert await conversation.say("And what now?") == "Nothing."
        return brain.requests[-1], [prompt.user for prompt in writer.prompts]

    @pytest.mark.anyio
    @needs("adding")
    async def test_what_is_added_while_the_summary_is_written_is_kept(self, host: Host) -> None:
        """A message that comes during the summarizer's call is in the next request."""
        script = turns("one call", 7)
        brain, added = Brain(script), 0
        running: list[Conversation] = []

        async def adding(_: Prompt) -> str:
            nonlocal added
            added += 1
            await running[0].add(f"Meanwhile mk{700 + added:04d}.")
            return "Folded while somebody spoke."

        async with host.open(Setup(brain, Writer(adding), {"policy": SMALL})) as conversation:
            running.append(conversation)
            await play(conversation, script[:4])
            assert added
            before = added
            assert f"mk{700 + before:04d}" not in brain.requests[0].text
            await conversation.say(script[4].said)
        assert f"mk{700 + before:04d}" in "".join(r.text for r in brain.requests[-2:])
        assert not errors(brain.requests[-1])

    # Failures

    @pytest.mark.anyio
    @pytest.mark.parametrize("how", ["raises", "hangs", "blank", "truncated", "blocks"])
    async def test_a_summarizer_that_fails_never_breaks_or_delays_a_turn(
        self, host: Host, how: str
    ) -> None:
        """The turn goes on with the whole history; the failure is told, and no text of it used."""

        async def act(_: Prompt) -> Any:
            if how == "raises":
                raise RuntimeError("the backend is down")
            if how == "hangs":
                await asyncio.sleep(HANG)
            return Completion("Cut off in the mid", finish_reason="length") if how[0] == "t" else ""

        script, events = turns("one call", 6), Events()
        brain = Brain(script)
        llm: Any = (lambda _: time.sleep(HANG)) if how == "blocks" else Writer(act)
        options = {"policy": SMALL, "on_event": events, "timeout": TIMEOUT}
        async with host.open(Setup(brain, llm, options)) as conversation:
            for turn in script:
                started = time.monotonic()
                assert await conversation.say(turn.said) == turn.steps[-1].text
                assert time.monotonic() - started < HANG / 2
                await conversation.settled()
        failed = [event for event in events if event.kind == "failed"]
        assert failed
        assert all(event.outcome is not None and event.outcome.error for event in failed)
        assert not events.changed
        last = brain.requests[-1]
        assert not errors(last)
        assert {turn.said for turn in script if turn.said not in last.text} == set()
        assert wrappers(last) == 0
        assert "Cut off" not in last.text

    # What is told

    @pytest.mark.anyio
    async def test_events_say_what_each_fold_did(self, host: Host) -> None:
        """Before and after each fold, with sizes and the tokens that were spent."""
        script, events = turns("one call"), Events()

        async def act(_: Prompt) -> Completion:
            return Completion("Folded.", usage=Usage(77, 7))

        options = {"policy": SMALL, "on_event": events}
        async with host.open(Setup(Brain(script), Writer(act), options)) as conversation:
            await play(conversation, script)
        begun = [event.id for event in events if event.kind == "before"]
        assert events.changed
        for event in events.changed:
            assert event.id in begun
            assert event.outcome is not None
            assert event.outcome.reason == "summarized"
            assert event.outcome.tokens_after < event.outcome.tokens_before
            assert event.outcome.usage is not None
            assert event.outcome.usage.input_tokens == 77 * event.outcome.llm_calls

    @pytest.mark.anyio
    @needs("keys")
    async def test_events_name_the_conversation(self, host: Host) -> None:
        """One hook may serve many of them."""
        script, events = turns("one call"), Events()
        setup = Setup(Brain(script), Writer(), {"policy": SMALL, "on_event": events}, key="mine")
        async with host.open(setup) as conversation:
            await play(conversation, script)
        assert events.changed
        assert {event.key for event in events} == {"mine"}

    @pytest.mark.anyio
    async def test_without_an_llm_the_agents_own_model_writes_the_summary(self, host: Host) -> None:
        """`llm=None`: the framework's model object is asked, and its answer is the summary."""
        script = turns("one call")
        brain = Brain(script, summary="Orders were looked up by the agent's own model.")
        async with host.open(Setup(brain, None, {"policy": SMALL})) as conversation:
            answers = await play(conversation, script)
        assert answers == [turn.steps[-1].text for turn in script]
        assert brain.prompts
        assert brain.summary in brain.requests[-1].text
        assert not errors(brain.requests[-1])

    @pytest.mark.anyio
    @needs("usage")
    async def test_the_tokens_of_a_summary_are_in_what_the_framework_reports(
        self, host: Host
    ) -> None:
        """The agent's own model wrote it, so its tokens are the agent's."""
        script = turns("one call")
        brain = Brain(script)
        brain.tokens = (1000, 10)
        async with host.open(Setup(brain, None, {"policy": SMALL})) as conversation:
            await play(conversation, script)
            assert brain.prompts
            asked = len(brain.requests) + len(brain.prompts)
            assert conversation.reported() == 1000 * asked

    # Conversations apart

    @pytest.mark.anyio
    async def test_one_conversation_never_reads_anothers_fold(self, host: Host) -> None:
        """Two conversations of the same words, by turns: each has the summary written for it."""
        script = turns("one call")
        first, second = Brain(script), Brain(script)
        count = 0

        async def act(_: Prompt) -> str:
            nonlocal count
            count += 1
            return f"Written as number {count} of all."

        options = {"policy": SMALL}
        async with (
            host.open(Setup(first, Writer(act), options, key="one")) as one,
            host.open(Setup(second, Writer(act), options, key="two"), beside=one) as two,
        ):
            for turn in script:
                await play(one, [turn])
                await play(two, [turn])

        def numbers(brain: Brain) -> set[str]:
            text = "".join(request.text for request in brain.requests)
            return {n for n in map(str, range(1, count + 1)) if f"as number {n} of" in text}

        assert numbers(first)
        assert numbers(second)
        assert not numbers(first) & numbers(second)

    # Options

    @pytest.mark.anyio
    async def test_options_do_what_they_say_in_a_run(self, host: Host) -> None:
        """What the summarizer is told, what it is not shown, and what becomes of its words."""
        script = turns("one call")
        brain, writer = Brain(script), Writer("The parcel is under way.")
        options: dict[str, Any] = {
            "policy": SMALL,
            "instructions": "Name every parcel <first>.",
            "language": "Esperanto",
            "redact": lambda text: text.replace("catalogue", "[hidden]"),
            "post_process": lambda text: f"{text} Checked by a person.",
            "ledger_tokens": 0,
        }
        async with host.open(Setup(brain, writer, options)) as conversation:
            await play(conversation, script)
        assert writer.prompts
        for prompt in writer.prompts:
            told = prompt.system + prompt.user
            assert "Name every parcel &lt;first&gt;." in told
            assert "Esperanto" in told
            assert "catalogue" not in told
        assert "The parcel is under way. Checked by a person." in brain.requests[-1].text
        assert "catalogue" in brain.requests[-1].text
