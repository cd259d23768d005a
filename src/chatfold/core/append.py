"""Append mode: from a list to its live request with a question behind it, and what follows.

The whole list is sent, as far as it is complete, and not the head alone: providers keep prefixes
where an earlier request ended, and look for the latest of them, so that the end of the list is
where the cache is found. Not here: its values (`live`), who is asked next (`write`).

https://platform.claude.com/docs/en/build-with-claude/prompt-caching ("It is looking for prior
writes, not for stable content") and
https://developers.openai.com/api/docs/guides/prompt-caching (both read 2026-11-22).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from chatfold.core.check import Requirement, join_options
from chatfold.core.commit import problems_of
from chatfold.core.compose import sources
from chatfold.core.grounding import Sources
from chatfold.core.groups import Asking
from chatfold.core.live import Append, LiveRequest, Mode, Sender
from chatfold.core.native import json_text
from chatfold.core.parts import Head, Part
from chatfold.core.plan import Plan
from chatfold.core.render import Prompt, filled
from chatfold.core.room import Room
from chatfold.core.snapshot import Snapshot
from chatfold.core.spans import cut_points
from chatfold.core.split import Split
from chatfold.core.views import ItemView, Shape, is_user_message, texts
from chatfold.core.xml import escape
from chatfold.errors import ChatfoldError, NoAnswerError, SummarizerError, SummaryError

__all__ = [
    "append_for",
    "live_part",
    "may_do_otherwise",
    "mending",
    "omitted_from",
    "reason_of",
    "shown_for",
    "size_of",
]

_OPENING: Final = 160  # characters of the first message that stays, by which it is known
_TRIES: Final = 4  # places behind the cut at which the list may end
_TOLD: Final = ("system", "instructions")
_WEIGHED: Final = (*_TOLD, "tools", "functions")
_REFUSALS: Final = frozenset({400, 413, 422})  # of servers that do not take a request as it is


def append_for(
    snapshot: Snapshot,
    where: Split,
    asking: Asking,
    senders: Sequence[Sender],
    request: Mapping[str, Any],
    needed: Sequence[Requirement] = (),
) -> Append:
    """Return the live request that asks for a summary of what stands before the cut.

    Args:
        snapshot: The list.
        where: Where it is cut.
        asking: What every prompt is made with.
        senders: The summarizers of the fallback chain.
        request: The other fields of the live request.
        needed: What the agent adds to them in its next request: `ChatContext.request_options`.

    Raises:
        ValueError: No summarizer of the chain sends lists of this shape.
        TemplateError: The template does not load or render.
    """
    _check_shape(snapshot.shape, senders)
    if any(snapshot.views[i].passing for i in _folded(snapshot, where)):
        obstacle = "an instruction for one turn that has passed is no longer shown to the model"
        return Append(None, obstacle, senders)
    fields, obstacle = dict(request), ""
    for requirement in needed:
        join_options(fields, requirement.options)
    for stop in _stops(snapshot, where.cut):
        text = _question(snapshot, where, stop, asking)
        make = partial(snapshot.shape.summary_item, role="user")
        live = LiveRequest(
            shape=snapshot.shape.name,
            items=tuple(snapshot.items[:stop]),
            views=tuple(snapshot.views[:stop]),
            text=text,
            item=make(text),
            request=fields,
            weight=sum(snapshot.sizes[:stop]) + _weight(request, asking),
            make=make,
        )
        problem = _problem(snapshot, live)
        if not problem:
            return Append(live, senders=senders)
        obstacle = obstacle or problem
    return Append(None, obstacle, senders)


def shown_for(plan: Plan[Any], snapshot: Snapshot) -> Sources:
    """Return what the author of a summary was shown: in append mode, more than the head.

    What the tools' descriptions hold is none of it: they give examples.
    """
    live = plan.append.live if plan.append is not None else None
    if live is None:
        return sources(plan, snapshot)
    extra = [] if plan.terms.instructions is None else [plan.terms.instructions]
    extra += [_words(live.request[name]) for name in _TOLD if live.request.get(name)]
    return Sources(snapshot.views[: len(live.items)], snapshot.calls, extra)


def omitted_from(plan: Plan[Any], mode: Mode | None) -> Mapping[str, int]:
    """Return what of a head was not shown: in append mode the provider reads what we cannot."""
    if mode != "append":
        return plan.omitted
    return {kind: n for kind, n in plan.omitted.items() if kind == "superseded_state"}


def live_part(head: Head, append: Append, room: Room, backend: int) -> Part | str:
    """Return the live request as a part that shows all, or why a summarizer cannot be sent it.

    Args:
        head: What the summary is to stand for.
        append: The live request.
        room: How large a request may be.
        backend: The summarizer's place in the fallback chain.
    """
    obstacle = append.obstacle_to(backend)
    if obstacle:
        return obstacle
    part = head.part(0, head.previous, room)
    if part is None or part.stop < len(head):
        return "the head does not fit one prompt"
    prompt = replace(part.prompt, live=append.live)
    size, limit = size_of(head, prompt), room.prompt(prompt.max_tokens)
    if limit is not None and size > limit:
        return f"the live request has {size:,} tokens, and {limit:,} fit"
    return part._replace(prompt=prompt)


def mending(head: Head, prompt: Prompt, draft: str, values: Sequence[str]) -> Prompt:
    """Return what asks to mend a draft, in the way in which the draft was asked for."""
    if prompt.live is None:
        return head.again(prompt, draft, values)
    asked = head.again(replace(prompt, user=prompt.live.text), draft, values)
    return replace(prompt, live=prompt.live.asking(asked.user))


def size_of(head: Head, prompt: Prompt) -> int:
    """Return the size of what is sent, in tokens."""
    if prompt.live is None:
        return head.size(prompt)
    return prompt.live.weight + head.size(replace(prompt, system="", user=prompt.live.text))


def may_do_otherwise(error: SummaryError) -> bool:
    """Return whether a prompt of its own may get an answer where the live request got none.

    A server that could not be reached, or is busy, is not asked again. Half of a surrogate pair in
    an item is nothing that an SDK can send; in a prompt it is written as something else.
    """
    if not isinstance(error, SummarizerError):
        return True
    cause = error.__cause__
    if isinstance(cause, UnicodeEncodeError):
        return True
    return error.overflow or getattr(cause, "status_code", None) in _REFUSALS


def reason_of(error: ChatfoldError) -> str:
    """Return why the live request gave no summary."""
    if isinstance(error, NoAnswerError):
        return "the model answered with tool calls or reasoning, and no text"
    return str(error)


def _check_shape(shape: Shape, senders: Sequence[Sender]) -> None:
    candidates: Sequence[Shape] = getattr(shape, "candidates", (shape,))
    sent = frozenset[str]().union(*(sender.shapes for sender in senders))
    if not any(candidate.name in sent for candidate in candidates):
        known = f"of {shape.name}" if shape.name else "of a shape that is not known yet"
        raise ValueError(
            f"mode='append' sends the list as it is, and this one is {known}, while the "
            f"summarizers send {', '.join(sorted(sent)) or 'none'}; pass the client of the "
            "provider that the list is for, or mode='prompt'"
        )


def _folded(snapshot: Snapshot, where: Split) -> Iterator[int]:
    """Yield the items that go, of those that neither the user nor the assistant has said."""
    others = (i for i in snapshot.outline.others if where.start <= i < where.cut)
    yield from (i for i in others if i not in where.kept)


def _stops(snapshot: Snapshot, cut: int) -> Iterator[int]:
    """Yield where the list may end in the request, the last place first, the cut as the last."""
    points = cut_points(snapshot.spans, snapshot.views, lossy=True)
    behind = [index for index in points if index > cut]
    yield from behind[: -_TRIES - 1 : -1]
    yield cut


def _question(snapshot: Snapshot, where: Split, stop: int, asking: Asking) -> str:
    """Return the words that ask for the summary."""
    tail: dict[str, object] | None = None
    if stop > where.cut:
        first = snapshot.views[where.cut]
        opening = " ".join(" ".join(texts(first)).split())[:_OPENING]
        tail = {
            "role": first.role,
            "opening": escape(opening),
            "user_messages": sum(map(is_user_message, snapshot.views[where.cut : stop])),
        }
    told = (asking.instructions, asking.language)
    instructions, language = (None if text is None else escape(text) for text in told)
    return filled(
        asking.templates,
        "summarize_append.jinja",
        instructions=instructions,
        language=language,
        max_tokens=asking.max_tokens,
        has_previous_summary=snapshot.previous is not None,
        tail=tail,
    ).strip()


def _weight(request: Mapping[str, Any], asking: Asking) -> int:
    """Return the size of instructions and tools that stand outside of the list, in tokens."""
    return asking.size(*(_words(request[name]) for name in _WEIGHED if request.get(name)))


def _words(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def _problem(snapshot: Snapshot, live: LiveRequest) -> str:
    """Return why the provider would refuse the request, "" where it would not."""
    view: ItemView | None = snapshot.shape.read(live.item)
    assert view is not None, "a shape reads its own items"
    items, views = (*live.items, live.item), (*live.views, view)
    for problem in problems_of(snapshot._replace(items=items, views=views)):
        if problem.severity in ("error", "pending"):
            return (
                "the list cannot be sent with a question behind it: "
                f"{problem.message} (item {problem.index})"
            )
    return ""
