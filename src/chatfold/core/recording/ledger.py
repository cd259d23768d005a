"""The needed facts that a summary's text left out, as entries of a record within a budget.

Not here: which facts are needed (`needs`), the words for them (`phrases`), what becomes of earlier
entries (`carry`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from chatfold.core.call_json import leaves_of
from chatfold.core.call_words import CallWords, named_by
from chatfold.core.entries import Entry, Field, is_in_a_list
from chatfold.core.facts import Facts
from chatfold.core.once import once
from chatfold.core.phrases import FINE, Phrase, price
from chatfold.core.record import Record, rendered
from chatfold.core.recording.alike import Alike
from chatfold.core.recording.carry import SAID_BY_USER, names_a_thing
from chatfold.core.recording.choice import Choice, Line
from chatfold.core.recording.needs import Need, Needs
from chatfold.core.recording.phrasing import PhraseFinder, on_one_line
from chatfold.core.recording.sizes import TextSizes
from chatfold.core.sightings import Sighting
from chatfold.core.uses import home_of
from chatfold.core.views import ItemView

__all__ = ["Ledger"]

_LOOKED_AT = 1.25  # times the budget: needs of less worth than that are not looked at
_FRAME = rendered(Record(values=(Entry("-"),)))  # what a record takes beside its entries
_AIM, _ENOUGH = 0.97, 0.9  # shares of the room: what is aimed at first, what it may be left at
_REFILLS = (1.0, 0.95, 0.9)  # what is aimed at then, as shares of what should fill the room


class Ledger:
    """Finds the words for needed facts, and takes those that are worth most for their room.

    Args:
        views: The readings of the whole list.
        words: The words of all calls.
        gone: Positions of the calls that go, in order.
        earlier: The words of an earlier summary, without its record.
        lifted: Instructions that were taken back: their words do not stand for a value.
        found: The facts of the whole list.
    """

    def __init__(
        self,
        views: Sequence[ItemView],
        words: CallWords,
        gone: Sequence[int],
        *,
        earlier: str,
        lifted: Sequence[str] = (),
        found: Facts,
    ) -> None:
        self.words = words
        self._lifted = tuple(" ".join(text.split()) for text in lifted)
        self._phrases = found.phrases
        alike = Alike(words, [number for number in gone if words.calls[number].completed])
        self._finder = PhraseFinder(
            views,
            words,
            found.phrases,
            found.said.whole_texts(),
            values_in=found.said.values_in,
            kinds=found.uses.kinds,
            earlier=earlier,
            change=alike.change,
            is_past=alike.is_past,
        )
        self._gone = gone
        self._alike = alike.calls

    def lines(self, needs: Needs, places: Iterable[int], room: int) -> dict[str, Line]:
        """Return the words for the needs of most worth, by what they say.

        Several facts may share theirs.

        Args:
            needs: The needed facts.
            places: Which of them.
            room: Tokens that their entries are to have.
        """
        left = int(_LOOKED_AT * room)
        made: dict[str, Line] = {}
        (newer, older), alike = self._phrases.tables(), self._alike
        keys, worths, tracks, where = needs.keys, needs.worths, needs.tracks, needs.places
        for place in sorted(places, key=worths.__getitem__, reverse=True):
            if left <= 0:
                break
            key = keys[place]
            track = tracks.get(key)
            home = home_of(where[key], track)
            phrase = newer.get(key) or older.get(key)
            if (
                phrase is None
                or phrase.home is not home
                or (phrase.call is not None and alike.get(phrase.call, ()) is not None)
            ):
                phrase = self._found(needs[place])  # also of what the latest such call gave
                if phrase is None:
                    continue
            if self._lifted and home is not None and home.author == SAID_BY_USER:
                phrase = self._still_said(phrase, needs[place])
            index = phrase.home.index
            order = (index if track is None else track.last, index, place)
            said, worth = phrase.key, worths[place] * phrase.share
            known = made.get(said)
            if known is None:
                made[said] = phrase, order, worth
                left -= phrase.length
            else:
                made[said] = known[0], max(known[1], order), known[2] + worth
        return made

    def corrected(
        self, found: Mapping[str, Line], needs: Needs, corrections: Mapping[int, Sighting]
    ) -> dict[str, Line]:
        """Return words with others: needs as a user said them, which say what a value is of.

        Args:
            found: The words, by what they say.
            needs: The needed facts.
            corrections: Those that go in as the user said them, and where that is.
        """
        lines = dict(found)
        for place, home in corrections.items():
            need = needs[place]
            phrase = self._finder.at(need.value, home)
            if phrase is None:
                continue
            if phrase.full is not None:
                phrase = Phrase(home, phrase.full, None, phrase.groups, phrase.share)
            phrase = self._still_said(phrase, need)
            index = phrase.home.index
            order = (index if need.track is None else need.track.last, index, place)
            worth, known = need.worth * phrase.share, lines.get(phrase.key)
            if known is not None:
                order, worth = max(known[1], order), known[2] + worth
            lines[phrase.key] = phrase, order, worth
        return lines

    def entries(self, found: Mapping[str, Line], room: int, count: TextSizes) -> list[Entry]:
        """Return entries for the facts that are worth most, newest last, of about `room` tokens.

        Args:
            found: The words for them.
            room: Tokens.
            count: Returns the sizes of texts in tokens.
        """
        lines = list(found.values())
        price([line[0] for line in lines], count.many)
        frame = self._phrases.frame = self._phrases.frame or count(_FRAME)
        choice, aim = Choice(lines), int(_AIM * FINE * (room - frame))
        made = choice.entries(aim)
        told = {field.text for entry in made for field in entry.arguments or ()}
        left = [line for line in lines if not _is_told(line[0], told)] if told else lines
        if len(left) < len(lines):
            choice = Choice(left)
            made = choice.entries(aim)
        # The parts of a text may count for more or less than the whole of it.
        used = max(1, count(rendered(Record(values=tuple(made)))))
        for share in () if _ENOUGH * room <= used <= room else _REFILLS:
            more = choice.entries(int(share * aim * room / used))
            if count(rendered(Record(values=tuple(more)))) <= room:
                return more
        return made

    def is_certain(self, entry: Entry) -> bool:
        """Return whether an entry names its calls in full, so that an equal one is of the same."""
        calls = self._named.get((entry.name, entry.arguments), ())
        return all(map(self.words.is_named_in_full, calls))

    def up_to_date(self, entry: Entry) -> list[Field | None]:
        """Return the values of an earlier entry as the latest of its calls that go gave them.

        None for one that stood in a list, and stands nowhere in what that call gave: what stands
        at its place now may be another thing.
        """
        number = self._latest_of(entry)
        if number is None:
            return [*entry.values]
        clean, given = self.words.clean, self.words.result(number)
        now = {
            clean(self.words.label(number, path)): on_one_line(leaf, clean)
            for path, leaf in leaves_of(given)
        }
        fields: list[Field | None] = []
        for field in entry.values:
            text = now.get(field.label, "")
            if not text or text == field.text:
                fields.append(field)
            elif not is_in_a_list(field.label):
                fields.append(Field(field.label, text, field.text))
            else:
                stays = names_a_thing(field.text) or field.text in now.values()
                fields.append(field if stays else None)
        return fields

    def _latest_of(self, entry: Entry) -> int | None:
        """Return the position of the latest call that an entry is of for certain, if one goes."""
        if entry.arguments is None or not self.is_certain(entry):
            return None
        calls = self._named.get((entry.name, entry.arguments), ())
        return next((number for number in reversed(calls) if self._worked(number)), None)

    def _worked(self, number: int) -> bool:
        return self.words.calls[number].completed and self.words.failure(number) is None

    @once
    def _named(self) -> Mapping[tuple[str, object], Sequence[int]]:
        """The calls that go, by what names them."""
        found: dict[tuple[str, object], list[int]] = {}
        for number, named in zip(self._gone, self.words.identities(self._gone), strict=True):
            found.setdefault((self.words.name(number), named_by(named)), []).append(number)
        return found

    def _found(self, need: Need) -> Phrase | None:
        """Return the words for a fact, of the place that says it best."""
        for home in need.homes():
            found = self._finder.at(need.value, home)
            if found is not None:
                return found
        return None

    def _still_said(self, phrase: Phrase, need: Need) -> Phrase:
        """Return the words for what a user named, if these are of an instruction taken back.

        What the user said of it last may be how. Else it stands alone.
        """
        if not self._is_lifted(phrase):
            return phrase
        last = next(s for s in reversed(need.sightings) if s.author == SAID_BY_USER)
        found = None if last is phrase.home else self._finder.at(need.value, last)
        if found is not None and not self._is_lifted(found):
            return found
        alone = Field("", self.words.clean(need.value.text))
        return Phrase(phrase.home, alone, None, phrase.groups, phrase.share)

    def _is_lifted(self, phrase: Phrase) -> bool:
        """Return whether words of a user are more than a value, and of what was taken back."""
        said = (phrase.full or phrase.bare).text
        return any(said in text for text in self._lifted)


def _is_told(phrase: Phrase, told: Container[str]) -> bool:
    """Return whether the entries say a value already, of which these words say nothing more."""
    return phrase.full is None and phrase.bare.text in told
