"""From a head to one summary: part after part, with every retry and fallback.

Not here: what may stand as a summary (`flow`), what a part shows (`parts`), the model calls and
what they cost.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from chatfold.core.answers.copied import without_copied
from chatfold.core.answers.loops import without_loops
from chatfold.core.answers.no_summary import says_no_change, says_nothing
from chatfold.core.answers.thoughts import is_blank, out_of_draft
from chatfold.core.append import live_part, may_do_otherwise, mending, reason_of, size_of
from chatfold.core.flow import Completion, Request, Steps, Written, accept, cap_for
from chatfold.core.grounding import Ungrounded, is_shortened
from chatfold.core.guard import Guard, Guarded
from chatfold.core.live import Append
from chatfold.core.parts import Head, Part
from chatfold.core.redaction import Redact, redacted
from chatfold.core.render import Prompt
from chatfold.core.room import Room, Window
from chatfold.core.terms import Terms
from chatfold.core.views import texts
from chatfold.core.xml import unescape_copied
from chatfold.errors import (
    ChatfoldError,
    EmptySummaryError,
    SummarizerError,
    SummaryError,
    TruncatedSummaryError,
)

__all__ = ["settled", "write_summary"]

_Again: TypeAlias = Callable[[str, Sequence[str]], Generator[Request, Completion, str]]
"""Has a draft mended, in which nobody gave these values; with none of them, shortened."""


def write_summary(
    head: Head,
    *,
    backends: int,
    windows: Sequence[Window],
    most: int | None,
    guard: Guard,
    terms: Terms,
    append: Append | None,
) -> Steps:
    """Yield requests until one text can stand as the summary of the whole head; return it.

    A head that is too large for one prompt is shown in parts, each with the summary of those
    before it. A prompt that a summarizer calls too long is made smaller. A truncated answer is
    asked for once more with twice the limit. A backend that fails is followed by the next, which
    goes on where it stopped; the last one's error is raised. Words that are too long to save
    anything fail, too, where another can be asked; of that one the whole head is asked for.

    In append mode each backend that can be sent the live request is asked by that first, and by
    prompts where that gives no text.

    Args:
        head: What the summary is to stand for.
        backends: Number of summarizers in the fallback chain.
        windows: What is known of their windows, in the same order.
        most: Tokens that a prompt may have, or None.
        guard: Compares the summary with what was shown.
        terms: What the caller wants of the summary.
        append: What append mode has for this head; None in the other mode.

    Raises:
        SummaryError: No backend gave a summary.
        TemplateError: A template does not render.
    """
    run = _Run(head.previous, terms.redact)
    for backend in range(backends):
        room = Room(windows[backend] if backend < len(windows) else Window(), most)
        try:
            text, part = yield from _told(head, append, run, room, backend)
            text = _cleaned(_taken(text, part.prompt, head), terms.redact)
            again = partial(_again, head, part.prompt, run, room, backend)
            text = yield from _shortened(text, again, guard, head)
            proven = yield from _proven(text, again, guard, head)
            text = _finished(head.cut(proven.text), terms.post_process)
            if backend < backends - 1 and not head.may_save(text):
                run.begin_anew(head.previous)
                raise SummaryError("the summary is hardly shorter than what it stands for")
        except ChatfoldError as error:
            run.note(append, error)
            if backend == backends - 1 or not isinstance(error, SummaryError):
                raise
        else:
            truncated = run.truncated + part.truncated + bool(head.excess(proven.text))
            return Written(
                text,
                truncated,
                proven.ungrounded,
                proven.dropped,
                "append" if part.prompt.live is not None else "prompt",
                "" if part.prompt.live is not None else run.fell_back,
            )
    raise AssertionError("a fallback chain holds at least one summarizer")


def settled(
    completion: Completion, prompt: Prompt, head: Head, guard: Guard, terms: Terms
) -> Written:
    """Return a completion that somebody else asked for as it can stand, without a further request.

    Args:
        completion: The answer.
        prompt: What it answers; it shows the whole head.
        head: What the summary is to stand for.
        guard: Compares the summary with what was shown.
        terms: What the caller wants of the summary.

    Raises:
        SummaryError: It cannot stand as a summary.
    """
    text = _brought_up(accept(completion, prompt.max_tokens), prompt, head)
    proven = guard.settled(_cleaned(_taken(text, prompt, head), terms.redact))
    return Written(
        _finished(head.cut(proven.text), terms.post_process),
        bool(head.excess(proven.text)),
        proven.ungrounded,
        proven.dropped,
    )


@dataclass(slots=True)
class _Run:
    """How far the head is summarized.

    `cap` is the limit that the latest answer needed, None where it was not cut off.
    """

    text: str | None
    redact: Redact | None = None
    shown: int = 0
    cap: int | None = None
    truncated: int = 0
    fell_back: str = ""

    def begin_anew(self, previous: str | None) -> None:
        """Forget what was written of the parts before: it is too long, as the whole is."""
        self.text, self.shown, self.truncated = previous, 0, 0

    def note(self, append: Append | None, why: ChatfoldError) -> None:
        """Note why a summary was not written in append mode; the first reason stands."""
        if append is not None:
            self.fell_back = self.fell_back or reason_of(why)


def _told(
    head: Head, append: Append | None, run: _Run, room: Room, backend: int
) -> Generator[Request, Completion, tuple[str, Part]]:
    """Have the head summarized behind the live request, where that is wanted; else by prompts."""
    part = live_part(head, append, room, backend) if append is not None else None
    if not isinstance(part, Part):
        run.fell_back = run.fell_back or part or ""
        return (yield from _last(head, run, room, backend))
    try:
        text = yield from _ask(head, part.prompt, run, room, backend)
    except SummaryError as error:
        run.note(append, error)
        if not may_do_otherwise(error):
            raise
        return (yield from _last(head, run, room, backend))
    run.truncated = 0  # of the parts that another backend was shown
    return text, part


def _last(
    head: Head, run: _Run, room: Room, backend: int
) -> Generator[Request, Completion, tuple[str, Part]]:
    """Have one part after another summarized; return the answer to the last, and that part."""
    while True:
        text, part = yield from _next(head, run, room, backend)
        if part.stop == len(head):
            return text, part
        run.text, run.shown = _taken(text, part.prompt, head), part.stop
        run.truncated += part.truncated


def _next(
    head: Head, run: _Run, room: Room, backend: int
) -> Generator[Request, Completion, tuple[str, Part]]:
    """Have the next part summarized, made smaller for as long as it is called too long."""
    refused = SummarizerError(
        "the instructions and the summary so far leave no room for the conversation; use a model "
        "with a larger window, or pass a larger max_prompt_tokens=",
        overflow=True,
    )
    while True:
        part = head.part(run.shown, run.text, room)
        if part is None:
            raise refused
        try:
            text = yield from _ask(head, part.prompt, run, room, backend)
        except SummarizerError as error:
            if not error.overflow:
                raise
            refused = error
            size = head.size(part.prompt)
            room.overflowed(size, part.prompt.max_tokens, error.limit, error.size)
        else:
            room.held()
            return text, part


def _ask(
    head: Head, prompt: Prompt, run: _Run, room: Room, backend: int
) -> Generator[Request, Completion, str]:
    """Ask; where the answer is cut off, ask once more with room for a longer one.

    Where that is more than the model may write, its server refuses the request: then it is the
    answer that failed, as that of any model whose limit is not known before.
    """
    run.cap = None
    try:
        return _brought_up((yield from _asked(prompt, backend)), prompt, head)
    except TruncatedSummaryError as error:
        cut_off = error
        cap = room.cap(2 * (prompt.cap or cap_for(prompt.max_tokens)), size_of(head, prompt))
        had_more = prompt.live is not None and prompt.live.limit >= cap
        if had_more or room.refuses(cap):
            raise
    run.cap = cap
    try:
        text = yield from _asked(replace(prompt, cap=cap), backend)
    except SummarizerError as error:
        if error.overflow or not may_do_otherwise(error):
            raise
        room.refused(cap)
        raise cut_off from error
    return _brought_up(text, prompt, head)


def _brought_up(text: str, prompt: Prompt, head: Head) -> str:
    """Return an answer without what it copies of the earlier summary.

    An answer of nothing else, or that the earlier words hold as they are, stands for these.

    Raises:
        EmptySummaryError: It is nothing but a copy, and there are no earlier words.
    """
    left = _own_words(text, head)
    is_copy = left != text and (is_blank(left) or says_nothing(left))
    earlier = prompt.previous_summary or ""
    if (is_copy or says_no_change(left)) and not is_blank(earlier):
        return earlier
    if is_copy:
        raise EmptySummaryError("the summarizer answered with the earlier record, and no words")
    return left


def _own_words(text: str, head: Head) -> str:
    """Return an answer without what it copies of the earlier summary; "" where it is no more."""
    return text if head.record is None else without_copied(text, head.record, head.note)


def _asked(prompt: Prompt, backend: int) -> Generator[Request, Completion, str]:
    completion = yield Request(prompt, backend)
    return accept(completion, prompt.max_tokens)


def _proven(
    text: str, again: _Again, guard: Guard, head: Head
) -> Generator[Request, Completion, Guarded]:
    """Return the summary as the guard lets it through; the model may be asked to mend it."""

    def mend(draft: str, found: Sequence[Ungrounded]) -> Generator[Request, Completion, str]:
        mended = yield from again(draft, [unproven.value.text for unproven in found])
        if len(mended) > len(draft) and not head.may_stand(mended):
            raise SummaryError("the mended summary is too long")
        return mended

    return (yield from guard.guarded(text, mend))


def _shortened(
    text: str, again: _Again, guard: Guard, head: Head
) -> Generator[Request, Completion, str]:
    """Return a summary; one that is far too long is asked for once more.

    A model that only ever adds to its earlier summary would else fill the window in the end. An
    answer that only speaks of the summary is none.
    """
    if not head.excess(text):
        return text
    try:
        shorter = yield from again(text, ())
    except SummaryError:
        return text
    if len(shorter) < len(text) and is_shortened(text, shorter, guard.unproven(text)):
        return shorter
    return text


def _again(
    head: Head,
    prompt: Prompt,
    run: _Run,
    room: Room,
    backend: int,
    draft: str,
    values: Sequence[str],
) -> Generator[Request, Completion, str]:
    """Have a draft mended.

    The conversation and the draft together may be more than fits; then nothing is asked.
    """
    asked = mending(head, prompt, draft, values)
    limit = room.prompt(prompt.max_tokens)
    if limit is not None and size_of(head, asked) > limit:
        raise SummarizerError("the draft and its conversation do not fit one prompt", overflow=True)
    if run.cap is not None:  # with less, the next answer would be cut off as the first one was
        asked = replace(asked, cap=room.cap(run.cap, size_of(head, asked)))
    text = _own_words(out_of_draft((yield from _asked(asked, backend)), draft), head)
    if is_blank(text):
        raise EmptySummaryError("the summarizer answered with an empty draft")
    return _cleaned(_taken(text, prompt, head), run.redact)


def _cleaned(text: str, redact: Redact | None) -> str:
    """Return an answer as `redact` returns it: a model may say what it was not shown.

    Raises:
        SummarizerError: `redact` returns no text.
    """
    try:
        return redacted(text, redact)
    except TypeError as error:
        raise SummarizerError(str(error)) from error


def _finished(text: str, post_process: Callable[[str], str] | None) -> str:
    """Return the summary as it goes into the list."""
    if post_process is not None:
        text = post_process(text)
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SummarizerError(f"post_process= returned {type(text).__name__}, not text")
    if is_blank(text):
        raise EmptySummaryError("nothing is left of the summary after redact= and post_process=")
    return _encodable(text.strip())


def _encodable(text: str) -> str:
    """Return a text without lone surrogates: no request that holds one can be sent."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _taken(text: str, prompt: Prompt, head: Head) -> str:
    """Return an answer with what a model does to its words without meaning it undone.

    One that is as long as its head gives no gain, and is refused for that: it stays as it is.
    """
    decoded = _decoded(text, prompt)
    once = without_loops(decoded)
    return decoded if once == decoded or head.is_outdone(decoded) else once


def _decoded(text: str, prompt: Prompt) -> str:
    """Return an answer without the entities that were copied out of the prompt."""
    if "&" not in text:
        return text
    decoded = unescape_copied(text, _Haystack(prompt))
    return text if is_blank(decoded) else decoded  # a lone `&#9;` says nothing when decoded


class _Haystack:
    """The raw text of what a prompt shows, searched without being joined."""

    def __init__(self, prompt: Prompt) -> None:
        self.prompt = prompt
        self.found: dict[str, bool] = {}

    def __contains__(self, needle: object) -> bool:
        assert isinstance(needle, str)
        if needle not in self.found:
            shown = self.prompt.live or self.prompt
            self.found[needle] = needle in (self.prompt.previous_summary or "") or any(
                needle in text for view in shown.views for text in texts(view)
            )
        return self.found[needle]
