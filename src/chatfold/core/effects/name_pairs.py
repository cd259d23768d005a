"""Words of a tool's name that say together what neither says alone.

`transfer` changes things and so does `transfer_funds`, while `transfer_status` is looked at;
`check` looks, and `void_check` does not. In doubt the answer is `unknown`: a look that is told as a
deed is kept for nothing, and a deed that is told as a look may be done again. Not here: the words
alone (`tool_names`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias

from chatfold.core.word_sets import word_set

__all__ = ["DEEDS", "of_change_as_thing", "of_noted", "reads_but_for"]

_Pair: TypeAlias = Literal["read", "write", "unknown"]

# These are never things: behind one that is, they say what is done to it, as in `issue_read`.
_NEVER_THINGS = word_set("describe fetch find get lookup read retrieve")
# Changes that are things where one of those is behind them; to update a message to `read` is none.
_LOOKED_AT = word_set(
    "charge commit deploy exchange grant import invite issue merge order purchase refund release"
    " return store transfer"
)
# Changes that are things with a state, or things that are counted. A state of others may be what is
# changed, as in `update_status`; and of some one cannot know: `sync_status`, `import_stats`.
_COUNTED = word_set(
    "block charge commit deploy exchange hire install invite issue kill launch lock login logout "
    "merge purchase refund release reply restart return rollback ship swap transfer trigger "
    "upgrade wire"
)
_RUN = _COUNTED | word_set("import repair")
_UNSURE = _RUN | word_set("copy grant patch push restore schedule store sync")
_STATES = word_set("status statuses")
_COUNTS = word_set("count counts stat statistics stats")
# Of these one may look at what has been; a history or a log may also be what is merged, or shipped.
_PAST = word_set(
    "block charge commit deploy exchange invite issue lock login logout purchase refund return "
    "rollback ship transfer upgrade"
)
_LOGGED = word_set("charge commit deploy install login logout")
_LISTED = word_set("charge commit exchange grant invite issue purchase refund")
_OFFERED = word_set("exchange refund repair return ship transfer upgrade")
# What is told of such a thing, and the things of which it is: of the others it may be.
_TOLD = (
    (_STATES, _RUN, _UNSURE),
    (_COUNTS, _COUNTED, _UNSURE),
    (word_set("history summary"), _PAST, _UNSURE),
    (word_set("log logs"), _LOGGED, _UNSURE),
    (word_set("list search"), _LISTED, frozenset[str]()),
    (word_set("eligibility options"), _OFFERED, frozenset[str]()),
    (word_set("check"), word_set("type"), frozenset[str]()),
)

# Deeds, and never things, so that what reads behind them is what they are done to.
DEEDS = word_set(
    "abort alter amend annotate arm backdate correct empty erase expunge flip invalidate nuke "
    "override prune redact scrub squash switch trim unset zero"
) | word_set(
    "arm bind cast disarm discard dispense extend flush honor honour postpone prolong "
    "rebuild reissue rinse shred truncate unseal void wipe"
)
# A check is money, too, and a test is taken.
_DONE_TO = {"check": word_set("cut mail print"), "test": word_set("book order")}
_SOLD = word_set("auction hire lease rent sale trade")

_NOTED = word_set("result results time usage")
_WRITTEN = word_set("content contents data details info information status summary") | _NOTED


def of_change_as_thing(words: Sequence[str], others: Collection[str]) -> _Pair | None:
    """Return what a name does that begins with a change and ends in what may be told of it.

    None where the change is what is done.

    Args:
        words: The words from the change on.
        others: What else would say that something is done, or to what.
    """
    first, *behind = words
    if not behind or any(word in others and word not in _LOOKED_AT for word in behind):
        return None
    last = behind[-1]
    if last in _NEVER_THINGS and first in _LOOKED_AT:
        return "read"
    for told, things, unsure in _TOLD:
        if last in told:
            if len(behind) > 1:  # `transfer_chat_history`
                return "unknown" if first in things else None
            return "read" if first in things else "unknown" if first in unsure else None
    return None


def reads_but_for(before: Collection[str], word: str, behind: Sequence[str]) -> bool:
    """Return whether what seems to look may be what something is done to: `void_check`.

    Args:
        before: The words in front of the one that looks.
        word: That one.
        behind: The words behind it.
    """
    if not DEEDS.isdisjoint(before) or _may_offer(word, behind):
        return True
    if word == "scan" and behind[:1] in (["in"], ["out"]):  # a box goes on a shelf, or off it
        return True
    return not behind and not _DONE_TO.get(word, frozenset()).isdisjoint(before)


def _may_offer(word: str, behind: Sequence[str]) -> bool:
    """Return whether one thing may be offered: `list_item_for_sale`, not `list_homes_for_rent`."""
    if word != "list" or len(behind) < 2 or behind[-2] != "for" or behind[-1] not in _SOLD:
        return False
    return len(behind) == 2 or not behind[-3].endswith("s")


def of_noted(words: Sequence[str]) -> _Pair | None:
    """Return what a name does that begins with what notes or posts a thing to read: `log_time`.

    None where it does neither, or where that is a thing itself: `record_count`.
    """
    first, last = words[0], words[-1]
    if first in ("log", "record") and last in _NOTED:
        return "write"
    if first in ("log", "post", "report") and last in _WRITTEN:
        return "unknown"
    return None
