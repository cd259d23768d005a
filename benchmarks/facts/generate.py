"""Long histories, drawn from a seed: an agent in a repository, on call, and at a help desk.

What is needed later comes from what such an agent does: it opens files again that it has opened
before, follows what a search has listed, uses the ids that its own actions have made and what the
user has asked for at the start. Every output holds far more values than are ever needed again.
The three worlds are in `_coding`, `_operations` and `_support`; here is what they share.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from chatfold import ChatContext

from .gold import Item

ChosenT = TypeVar("ChosenT")


def words(text: str, joint: str | None = None) -> list[str]:
    """Return the words of a text, or what stands between `joint`."""
    return text.split(joint)


_SUBJECTS = words(
    "The person on call|A customer|Every change to a running system|The shop|An open case"
    "|Whoever takes over|The second line|A parcel that came back|The owner of the service",
    "|",
)
_VERBS = words("must not be|is to be|should always be|can be|was last year|will mostly be", "|")
_ENDS = words(
    "told before anything else is done|kept apart from what is still in question|looked at twice"
    "|written down with the reason, so that others can follow it|put back as it was before"
    "|asked in a friendly way and never be pressed for an answer|handled as the rules of the"
    " country demand|checked against the list of known troubles first",
    "|",
)


class Writer:
    """Writes one history as Chat Completions messages.

    Attributes:
        rng: Where all chance comes from.
        items: The messages so far.
        size: Their tokens.
    """

    def __init__(self, rng: random.Random, instructions: str) -> None:
        self.rng = rng
        self.items: list[Item] = []
        self.size = 0
        self._calls = 0
        self._put({"role": "system", "content": instructions})

    def user(self, text: str) -> None:
        """Add what the user says."""
        self._put({"role": "user", "content": text})

    def answer(self, text: str) -> None:
        """Add what the assistant says."""
        self._put({"role": "assistant", "content": text})

    def call(self, name: str, result: Any, /, **arguments: Any) -> None:
        """Add a call with its result."""
        self._calls += 1
        call_id = f"call_{self.rng.getrandbits(48):012x}"
        call = {
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        self._put({"role": "assistant", "content": None, "tool_calls": [call]})
        text = result if isinstance(result, str) else json.dumps(result, indent=1)
        self._put({"role": "tool", "tool_call_id": call_id, "name": name, "content": text})

    def again(self, known: Sequence[ChosenT]) -> ChosenT:
        """Return one of what is known, the later ones more often."""
        return known[-1 - min(int(self.rng.paretovariate(0.9)) - 1, len(known) - 1)]

    def prose(self, sentences: int) -> str:
        """Return text without a value in it, as rules, handbooks and comments are."""
        return " ".join(
            f"{self.rng.choice(_SUBJECTS)} {self.rng.choice(_VERBS)} {self.rng.choice(_ENDS)}."
            for _ in range(sentences)
        )

    def hexadecimal(self, digits: int) -> str:
        """Return a hash of that length."""
        return f"{self.rng.getrandbits(4 * digits):0{digits}x}"

    def clock(self) -> str:
        """Return a time of day."""
        return (
            f"{self.rng.randrange(24):02}:{self.rng.randrange(60):02}:{self.rng.randrange(60):02}"
        )

    def day(self) -> str:
        """Return a date."""
        return f"2026-{self.rng.randint(1, 12):02}-{self.rng.randint(1, 28):02}"

    def _put(self, item: Item) -> None:
        self.items.append(item)
        self.size += ChatContext([item], model="gpt-5").count_tokens().value


World: TypeAlias = Callable[[random.Random, int], list[Item]]
"""Takes the source of chance and the tokens to write; returns a history."""


def generated(world: World, seeds: Sequence[int], sizes: Sequence[int]) -> list[list[Item]]:
    """Return a history for every seed and size in tokens, the same ones every time."""
    return [
        world(random.Random(f"{world.__name__} {seed} {size}"), size)
        for seed in seeds
        for size in sizes
    ]
