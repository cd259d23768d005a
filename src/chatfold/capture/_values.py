"""What capturing gives and what each provider's module offers; no provider's own knowledge."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from chatfold.core.flow import Usage

__all__ = ["Captured", "Gather", "Maker"]


class Captured(NamedTuple):
    """What a response, or a part of a stream, adds to a history.

    Attributes:
        items: The output items, in the response's order.
        usage: Tokens that the model call used; None where that is not said (yet).
        model: Name of the model that answered; None where that is not said.
        held: What on the provider's server holds the history, in words for a message, such as
            `previous_response_id 'resp_1'`; None where nothing does.
        takes_ids: Whether calls without an id may be sent back with one that was made up.
        recorded: All items of a stream, when it has ended; () before, and for a whole response.
        forgotten: Whether nobody holds the stream any more: it may be any moment, in any thread.
    """

    items: tuple[Any, ...]
    usage: Usage | None = None
    model: str | None = None
    held: str | None = None
    takes_ids: bool = True
    recorded: tuple[Any, ...] = ()
    forgotten: bool = False


class Gather(Protocol):
    """Puts the events of one stream together to items.

    It never raises for an event that it does not know, and never changes one. The attributes say
    what is known so far.
    """

    @property
    def usage(self) -> Usage | None:
        """Tokens used, as far as the events have said; None where they have not."""
        ...

    @property
    def model(self) -> str | None:
        """Name of the model that answers."""
        ...

    @property
    def held(self) -> str | None:
        """What on the provider's server holds the history; see `Captured`."""
        ...

    @property
    def takes_ids(self) -> bool:
        """Whether calls without an id may be given one; see `Captured`."""
        ...

    @property
    def unfinished(self) -> str:
        """What was begun and is not finished, without content; "" where nothing is.

        Such as `1 message`, `function_call call_1`. An item that `feed` or `close` has given is
        finished.
        """
        ...

    def feed(self, event: Any) -> Iterable[Any]:
        """Take in an event; return the raw items that it finished, in the response's order.

        An item that is finished before an earlier one is held back until that one is finished.
        """
        ...

    def close(self) -> Iterable[Any]:
        """Return the finished items that were held back; the stream has ended, whole or not."""
        ...


class Maker(Protocol):
    """What a provider's module offers: how its responses and its streams become items.

    A raw item is what the provider sent, as an SDK object or a dict. It becomes an item by
    `Shape.replayable` and, where ids are taken, `Shape.with_call_ids`, in this order.
    """

    @property
    def shape(self) -> str:
        """Name of the shape of its items."""
        ...

    def takes(self, response: object) -> bool:
        """Return whether this is a whole response of the provider, as an object or a dict."""
        ...

    def outputs(self, response: Any, *, choice: int | None) -> Captured:
        """Return the raw output items of a response that it takes.

        Args:
            response: A whole response.
            choice: Which of several answers, from 0; None where there is only one.

        Raises:
            ValueError: There are several answers and `choice` is None, or there is no such one.
        """
        ...

    def starts(self, event: object) -> Gather | None:
        """Return what gathers a stream that begins with this event, None where it is another's.

        The event itself is fed afterwards. An event that says nothing (a ping) is nobody's.
        """
        ...
