"""A head as prompts: whole where that fits, else in parts that end on cut points.

Not here: how large a prompt may be (`room`), what its pieces show (`groups`), who is asked
(`write`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import ne
from typing import NamedTuple, NoReturn

from chatfold.core.clip import cut_texts, cut_to
from chatfold.core.groups import Asking, Groups, inner, wrap
from chatfold.core.redaction import redacted
from chatfold.core.render import Conversation, Prompt, conversation, filled, prompt
from chatfold.core.room import Room
from chatfold.core.views import ItemView, SummaryPart
from chatfold.core.xml import escape

__all__ = ["Head", "Part"]

_LEAST = 256  # tokens of conversation: with less, a prompt is nearly all instructions
_FAR_TOO_LONG = 4  # times the length that was asked for
_NEVER_TOO_LONG = 1000  # tokens
_MOST_BYTES = 4  # of a character: a token is one byte at least
_MARGIN = 125  # hundredths: what is left surely fits into so much of its size
_TRIES = 6  # at hitting a size: the counts of pieces do not quite add up to that of the whole


class Part(NamedTuple):
    """A prompt for some items of a head.

    Attributes:
        prompt: The prompt.
        stop: Number of the head's items that this prompt and those before it show.
        truncated: Number of texts that it shows with their middle left out.
    """

    prompt: Prompt
    stop: int
    truncated: int = 0


class _Earlier(NamedTuple):
    """What a prompt shows of the summary of what came before.

    Attributes:
        words: Its words; None where there is none.
        record: The record behind them.
    """

    words: str | None
    record: str = ""


class Head:
    """The items that a summary is to stand for, and the prompts that show them.

    Args:
        groups: The items.
        asking: What every prompt is made with.
        weight: Size of the items in tokens, without what a prompt adds to them.
        most: Tokens that words in their place may have for the fold to save what it has to.
        previous: The words of the earlier summary.
        record: The record behind them.
        note: The note in front of them, which is shown where the list is.
    """

    def __init__(
        self,
        groups: Groups,
        asking: Asking,
        *,
        weight: int = 0,
        most: int = 0,
        previous: str | None = None,
        record: str = "",
        note: str = "",
    ) -> None:
        self.note = note
        self.previous = previous
        self._record = record
        self._groups = groups
        self._asking = asking
        self._weight = weight
        self._most = most
        self._longest = max(_FAR_TOO_LONG * asking.max_tokens, _NEVER_TOO_LONG)
        self._whole: Conversation | None = None
        self._frames: dict[bool, int] = {}
        self._prompts: dict[int, Prompt] = {}  # for all items, by the length that is asked for
        self._excess: dict[str, int] = {}  # of the latest summary

    def __reduce__(self) -> NoReturn:
        """Say what to send instead, where Python would name something inside that cannot be."""
        raise TypeError(
            "a Plan cannot be pickled or copied deeply: it is for the list of its context; send "
            "plan.prompt to the process that asks the model, and put in here what comes back, with "
            "ctx.apply(plan, completion)"
        )

    def __len__(self) -> int:
        return len(self._groups.views)

    @property
    def record(self) -> str | None:
        """The record of the earlier summary, "" where it has none; None without such a summary."""
        return None if self.previous is None else self._record

    @property
    def omitted(self) -> Mapping[str, int]:
        """What has no readable form, by kind: number of such parts."""
        return (self._whole or self._groups).omitted

    def size(self, prompt: Prompt) -> int:
        """Return the size of a prompt in tokens."""
        return self._asking.size(prompt.system, prompt.user)

    def again(self, asked: Prompt, draft: str, values: Sequence[str]) -> Prompt:
        """Return a prompt that asks to mend a draft: the same conversation, then what is wrong.

        Args:
            asked: The prompt that the draft answers.
            draft: The answer.
            values: What in it does not stand in the conversation; none where it is too long.
        """
        user = filled(
            self._asking.templates,
            "summarize_again.jinja",
            request=asked.user,
            draft=escape(draft),
            values=[escape(value) for value in values],
            max_tokens=asked.max_tokens,
        )
        return replace(asked, user=user.strip())

    def excess(self, text: str) -> int:
        """Return the tokens that a summary has above the most that can stand, 0 if it fits.

        That is four times what was asked for. One that is as long as its head is left alone: it
        gives no gain, and is refused for that.
        """
        if len(text) * _MOST_BYTES <= self._longest:  # as nearly all are: not worth a count
            return 0
        known = self._excess.get(text)
        if known is None:
            size = self._asking.size(text)
            known = size - self._longest if self._longest < size < self._weight else 0
            self._excess = {text: known}
        return known

    def is_outdone(self, text: str) -> bool:
        """Return whether a summary is as long as what it is to stand for."""
        return self._asking.size(text) >= self._weight

    def may_save(self, text: str) -> bool:
        """Return whether a fold to such a summary can save what it has to, without its record."""
        return self._has(text, self._most)

    def may_stand(self, text: str) -> bool:
        """Return whether a summary is so short that it can be put in as it is."""
        return self._has(text, min(self._most, self._longest))

    def _has(self, text: str, most: int) -> bool:
        return len(text) * _MOST_BYTES <= most or self._asking.size(text) <= most

    def cut(self, text: str) -> str:
        """Return a summary; one that is far too long with its middle left out."""
        excess = self.excess(text)
        if not excess:
            return text
        size = self._asking.size(text)
        return cut_to(text, size, size - excess, self._asking.mark)

    def part(self, start: int, previous: str | None, room: Room) -> Part | None:
        """Return a prompt for as many items as fit; None where not even the first group fits.

        Args:
            start: Number of items that were shown before: 0, or the last part's `stop`.
            previous: The summary of what came before.
            room: How large the prompt may be.
        """
        asked = self._asking.max_tokens
        limit = room.prompt(asked)
        if start == 0 and (limit is None or self._weight <= limit):
            whole = self._all(asked)
            if limit is None or self.size(whole) <= limit:
                return Part(whole, len(self))
        first = bisect_right(self._groups.borders, start) - 1
        if limit is None:
            last = len(self._groups.borders) - 1
            return self._made(first, last, self._earlier(previous), asked)
        made = self._fitted(first, previous, limit, asked)
        if made is not None and made.stop == len(self):
            return made
        short = room.answer(asked)  # leaves more room for the conversation
        return self._fitted(first, previous, room.prompt(short) or limit, short)

    def _all(self, asked: int) -> Prompt:
        """Return the prompt for all items, in one piece."""
        made = self._prompts.get(asked)
        if made is None:
            if self._whole is None:
                self._whole = self._groups.whole(self.previous, self._record)
            made = self._prompt(self._whole, self._groups.views, self.previous, asked)
            self._prompts[asked] = made
        return made

    def _fitted(self, first: int, previous: str | None, limit: int, asked: int) -> Part | None:
        """Return the prompt for the groups from `first` on that fit a size, None if none does."""
        ends = self._groups.ends
        frame = self._frame(previous is not None)
        given = self._earlier(previous)
        behind = max(_LEAST, ends[-1] - ends[first])
        other = limit - frame - behind * _MARGIN // 100
        earlier = self._shortened(given, max((limit - frame) // 2, other, 0))
        cut = sum(map(ne, given, earlier))
        left = limit - frame - self._size_of(earlier)
        for _ in range(_TRIES):
            if left < _LEAST:
                return None
            stop = bisect_right(ends, ends[first] + left) - 1
            shown = None
            if stop <= first:
                stop, shown = first + 1, self._groups.clipped(first, left)
                if shown is None:
                    return None
            made = self._made(first, stop, earlier, asked, shown)
            size = self.size(made.prompt)
            if size <= limit:
                return made._replace(truncated=made.truncated + cut)
            used = min(left, ends[stop] - ends[first])
            left = used * (limit - frame) // max(1, size - frame) - 1
        return None

    def _made(
        self,
        first: int,
        stop: int,
        earlier: _Earlier,
        asked: int,
        shown: Sequence[ItemView] | None = None,
    ) -> Part:
        """Return the prompt for the groups from `first` to before `stop`.

        Args:
            first: The first group.
            stop: The group behind the last.
            earlier: The summary of what came before.
            asked: Length of the summary to ask for.
            shown: The readings of the one group, where its texts are cut.
        """
        groups = self._groups
        views: Sequence[ItemView] = groups.views[groups.borders[first] : groups.borders[stop]]
        bodies, cut = groups.bodies[first:stop], 0
        if shown is not None:
            bodies, cut, views = [groups.body(shown, first)], cut_texts(views, shown), shown
        words = earlier.words
        if first == 0 and words is not None and words != self.previous:
            views = (_with_summary(views[0], words), *views[1:])
        rendered = wrap(self._element(earlier), *bodies)
        return Part(self._prompt(rendered, views, words, asked), groups.borders[stop], cut)

    def _prompt(
        self, rendered: Conversation, views: Sequence[ItemView], previous: str | None, asked: int
    ) -> Prompt:
        return prompt(
            self._asking.templates,
            rendered,
            views,
            max_tokens=asked,
            previous_summary=previous,
            instructions=self._asking.instructions,
            language=self._asking.language,
            redact=self._asking.redact,
        )

    def _frame(self, has_previous: bool) -> int:
        """Return the size of a prompt that shows nothing: instructions, templates, tags."""
        if has_previous not in self._frames:
            previous = "" if has_previous else None
            bare = self._prompt(wrap(), (), previous, self._asking.max_tokens)
            self._frames[has_previous] = self.size(bare)
        return self._frames[has_previous]

    def _earlier(self, previous: str | None) -> _Earlier:
        """Return a summary of what came before, with the record behind it, as they are."""
        return _Earlier(previous, self._record if previous == self.previous else "")

    def _element(self, earlier: _Earlier) -> str:
        """Return the element that holds the summary of what came before, "" without one."""
        if earlier.words is None:
            return ""
        rendered = conversation(
            (),
            (),
            previous_summary=earlier.words,
            previous_record=earlier.record,
            redact=self._asking.redact,
        )
        return inner(rendered)

    def _size_of(self, earlier: _Earlier) -> int:
        return self._asking.size(self._element(earlier))

    def _shortened(self, earlier: _Earlier, room: int) -> _Earlier:
        """Return a summary with its middle left out where it would fill the prompt alone.

        Its record goes first: code carries that on, and the words only the model.
        """
        size = 0 if earlier.words is None else self._size_of(earlier)
        if size <= room:
            return earlier
        words, record = (
            redacted(text, self._asking.redact)  # cut before that, half a secret might be left
            for text in (earlier.words or "", earlier.record)
        )
        said = self._size_of(earlier._replace(record=""))
        if record:
            record = cut_to(record, size - said, max(0, room - said), self._asking.mark)
        if said <= room:
            return _Earlier(words, record)
        return _Earlier(cut_to(words, said, room, self._asking.mark), record)


def _with_summary(view: ItemView, text: str) -> ItemView:
    """Return the reading of a summary item with another text as its summary."""
    parts = (SummaryPart(text) if type(p) is SummaryPart else p for p in view.parts)
    return view._replace(parts=tuple(parts))
