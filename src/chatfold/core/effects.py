"""Whether a tool changes things, as the caller says or as its name and its command suggest.

A guess is a guess: who asks is told so. Not here: what becomes of the calls (`actions`), the
commands of a shell (`shell_commands`), what other arguments say (`given`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias, cast

from chatfold.core.calls import ToolCallRecord
from chatfold.core.given import effect_of_arguments, may_say
from chatfold.core.shell_commands import effect_of_command

__all__ = ["Effect", "effect_of", "effect_of_call", "effect_of_tool", "reads_by_name"]

Effect: TypeAlias = Literal["read", "write", "unknown"]
"""Whether a call changes something outside the conversation; `unknown` where nothing hints."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_READS = _words(
    "analyze assert browse calc calculate calculator can check classify compare compute convert "
    "count describe detect diagnose diff discover enumerate estimate evaluate examine explain "
    "explore extract fetch filter find geocode get glob grep has head identify inspect is list "
    "load locate lookup ls measure monitor open parse peek ping poll predict preview profile query "
    "quote read recall recommend resolve retrieve scan scrape screenshot search see select show "
    "simulate stat suggest summarize tail test think trace track translate validate verify view "
    "wait watch whoami"
)
_WRITES = _words(
    "accept acknowledge activate add adjust allocate append apply approve archive assign attach "
    "authorize ban block cancel change charge clear click clone close commit complete configure "
    "confirm connect copy create deactivate debit decline decrement delete deliver demote deny "
    "deploy destroy detach disable disconnect dismiss dispatch donate downgrade drag drop edit "
    "enable enqueue enroll escalate exchange expire forward freeze generate grant hire import "
    "increment init initialize insert install invite issue kick kill launch lock login logout make "
    "mark merge migrate mkdir modify move mute notify overwrite patch pay pin place press promote "
    "provision publish purchase purge push put reactivate rebook reboot redeem refill refuel "
    "refund register reject release relocate remove rename renew reorder repair replace replenish "
    "replicate reply rerun reschedule reseat reserve reset restart restore resume return revert "
    "revoke rewrite rollback rotate save schedule sell send set ship sign start stop store submit "
    "subscribe suspend swap sync terminate toggle transfer trigger type unban unblock unfollow "
    "uninstall unlock unmute unpause unpin unsubscribe untag update upgrade upload upsert wire "
    "withdraw write"
)
# What may be a thing as well as a deed: `order_pizza` changes things, `order_status` does not.
_EITHER = _words(
    "answer bid bill book booking call capture checkin checkout comment control dm do download "
    "draft drain export file fill follow handoff handover hold log mail message note order park "
    "pause play post print process record report request respond retry scale silence sms snapshot "
    "snooze tag text ticket tip trade tweet void vote"
)
_THINGS_TO_READ = _words(
    "availability balance content contents count data detail details docs documentation forecast "
    "help history id ids info information items listing price prices result results rows "
    "schema state statistics stats status summary time usage version weather"
)
# To open, to recall or to select these is to look at them; a ticket, an account or a seat it may
# make or take, a wire or a message call back.
_OPENABLE = _words("open recall select")
_OPENED = _words(
    "all browser column columns contents data database db detail details directory doc docs "
    "document documents fact facts file files folder history image info information knowledge "
    "link memories memory page pages pdf photo query record records result results row rows sql "
    "state stats status summary tab table url urls video web webpage website window"
)
# Words of those that read, and the things with which they are deeds: a lead becomes a customer, a
# truck is filled, while a unit is only worked out, and a file read.
_DEEDS_WITH: Mapping[str, frozenset[str]] = {
    "convert": _words(
        "cart crypto deal draft estimate lead mile opportunity point prospect quotation quote "
        "reward trial"
    ),
    "load": _words(
        "car card cargo container dishwasher freight lorry money pallet ship shipment trailer "
        "truck van vehicle vessel wagon wallet"
    ),
    "track": _words("calorie event expense habit hours meal medication mood symptom workout"),
}
_BETWEEN = _words("at by for from in into of on or to where with")
_PHRASES = re.compile(
    r"(?<![a-z])(?:check_in|check_out|fill_in|find_and_replace|hand_off|hand_over|log_in|log_out|"
    r"opt_in|opt_out|run_migrations?|search_and_replace|sign_in|sign_out|sign_up|str_replace|top_up"
    r"|turn_(?:on|off|up|down)"
    r"|resolve_(?:alert|bug|case|comment|complaint|conflict|dispute|incident|issue|problem|task|"
    r"thread|ticket)s?)(?![a-z])"
)
# What is looked up, though its first word alone would be a deed: `release_notes`. In front of it a
# deed still is one: `publish_release_notes`, `set_exchange_rate`.
_COMPOUNDS = re.compile(
    r"(?<![a-z])(?:exchange_rates?|release_notes?|(?:return|refund|exchange)_(?:policy|policies)"
    r"|git_log|nearest_store|stock_levels?|store_(?:hours|locations?)|seat_maps?)"
    r"(?![a-z])"
)
_KINDS: Mapping[str, Effect] = {
    "apply_patch": "write",
    "handoff": "write",
    "tool_search": "read",
}
# Built-in tools of providers whose names say nothing, or the wrong thing.
_KNOWN: Mapping[str, Effect] = {
    "apply_patch": "write",
    "code_execution": "unknown",
    "code_interpreter": "unknown",
    "computer": "unknown",
    "file_search": "read",
    "google_maps": "read",
    "google_search": "read",
    "image_generation": "write",
    "url_context": "read",
    "web_fetch": "read",
    "web_search": "read",
}
# Those of them that nothing they are given makes a write.
_READ_ALWAYS = _words("file_search google_maps google_search url_context web_search")
_SHELLS = _words(
    "bash bash_code_execution command execute_bash execute_command exec local_shell powershell "
    "run_bash run_command run_in_terminal run_shell run_shell_command run_terminal_cmd sh shell "
    "shell_exec terminal zsh"
)
# The argument by which one tool does several things, as text editors and memories do.
_SWITCHES = ("command", "action", "operation", "method", "mode")
_SWITCHED = _words(
    "computer memory str_replace_based_edit_tool str_replace_editor text_editor "
    "text_editor_code_execution"
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_LONGEST = 200  # characters of a name that are looked at


def effect_of(
    name: str | None, told: Mapping[str, Effect], arguments: Any = None
) -> tuple[Effect, bool]:
    """Return whether a tool changes things, and whether that is a guess.

    Args:
        name: The tool's name, in any style: `create_rma`, `createRma`, `crm.rma-create`.
        told: What the caller says, by exact name.
        arguments: What is known of what it was given, as JSON types.
    """
    if name is None:
        return "unknown", True
    if name in told:
        return told[name], False
    effect = _guess(name)
    return _with_given(effect, effect_of_arguments(arguments)), True


def effect_of_call(call: ToolCallRecord, told: Mapping[str, Effect]) -> tuple[Effect, bool]:
    """Return whether a call changes things, and whether that is a guess.

    The command of a shell decides. A call that is given a method such as POST, or a statement that
    changes a database, is a write under any name. Where the name leaves it open, the argument
    decides by which a tool with several uses is told what to do.
    """
    known = effect_of_tool(call.name, call.kind, told)
    if known is not None:
        return known
    name = call.name or ""
    if _is_shell(name, call.kind):
        return effect_of_command(_command(call)), True
    given = effect_of_arguments(call.arguments) if may_say(call.raw_arguments) else None
    effect = _guess(name)
    if effect != "read" or _is_switched(name):
        switched = _switched(call)
        effect = effect if switched == "unknown" else switched
    return _with_given(effect, given), True


def effect_of_tool(
    name: str | None, kind: str, told: Mapping[str, Effect]
) -> tuple[Effect, bool] | None:
    """Return the same for all calls of a tool, by its name and their kind.

    None where what it is given may decide.
    """
    if name is not None and name in told:
        return told[name], False
    known = _by_name(name or "", kind)
    return None if known is None else (known, True)


def reads_by_name(name: str | None, kind: str, told: Mapping[str, Effect]) -> bool:
    """Return whether a tool only looks, but for calls that are given what says otherwise."""
    known = effect_of_tool(name, kind, told)
    if known is not None:
        return known[0] == "read"
    return not (_is_shell(name or "", kind) or _is_switched(name or "")) and _guess(name) == "read"


def _with_given(effect: Effect, given: Effect | None) -> Effect:
    """Return what a call does, by what else is known of it and by what its arguments say."""
    return given if given == "write" or (given and effect == "read") else effect


@lru_cache(maxsize=512)
def _by_name(name: str, kind: str) -> Effect | None:
    """Return what a call does whatever it is given, None where its arguments may decide.

    What a name promises to read may still be given a method or a statement that changes things,
    so only the built-in tools of providers, whose arguments are known, read in any case.
    """
    known = _KINDS.get(kind)
    if known is not None:
        return known
    if _is_shell(name, kind) or _is_switched(name):
        return None
    effect = _guess(name)
    return effect if effect == "write" or name.lower() in _READ_ALWAYS else None


@lru_cache(maxsize=512)
def _is_switched(name: str) -> bool:
    plain = name.lower()
    # Providers date their tools: memory_20250818.
    return (plain.rpartition("_20")[0] or plain) in _SWITCHED


def _is_shell(name: str, kind: str) -> bool:
    return kind in ("shell", "local_shell") or name.lower() in _SHELLS


@lru_cache(maxsize=512)
def _guess(name: str) -> Effect:
    """Return what the words of a name suggest; those behind the last `__`, `.` or `/` count."""
    known = _KNOWN.get(name.lower())
    if known is not None:
        return known
    parts = [_words_of(part) for part in re.split(r"__|[./:]", name[-_LONGEST:])]
    for place in range(len(parts) - 1, -1, -1):
        before = parts[place - 1] if place else []
        effect = _by_words(parts[place], before)
        if effect is not None:
            return effect
    return "unknown"


def _words_of(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


def _by_words(words: list[str], before: list[str]) -> Effect | None:
    """Return what the words of a name suggest, None where nothing does.

    Args:
        words: The words, in small letters.
        before: Those of what the name belongs to, as `tickets` in `tickets.open`.
    """
    name = "_".join(words)
    if _PHRASES.search(name):
        return "write"
    words = _COMPOUNDS.sub("information", name).split("_")
    for place, word in enumerate(words):
        if word in _WRITES:
            return "write"
        if word in _READS:
            behind = words[place + 1 :]
            if _goes_on_to_write(behind):
                return "write"
            return _of_reading(word, _thing([*before, *words[:place]], behind))
    if any(word in _THINGS_TO_READ for word in words):
        return "read"
    return "write" if any(word in _EITHER for word in words) else None


def _of_reading(word: str, thing: str) -> Effect:
    """Return what a word that reads suggests with what it is done to, "" where nothing says so."""
    deeds = _DEEDS_WITH.get(word)
    if deeds is not None and (thing in deeds or thing.removesuffix("s") in deeds):
        return "write"
    return "unknown" if word in _OPENABLE and thing and thing not in _OPENED else "read"


def _thing(before: list[str], behind: list[str]) -> str:
    """Return what something is done to, by the words around that, "" where none says so."""
    upto = next((place for place, word in enumerate(behind) if word in _BETWEEN), len(behind))
    things = behind[:upto] or before
    return things[-1] if things else ""


def _goes_on_to_write(words: list[str]) -> bool:
    """Return whether a name such as `get_or_create` or `search_and_book` ends in a change."""
    return any(
        before in ("and", "or", "then") and word in _WRITES | _EITHER
        for before, word in pairwise(words)
    )


def _command(call: ToolCallRecord) -> str:
    """Return the command line that a shell is given, "" where it cannot be read."""
    arguments = call.arguments
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, dict):
        return ""
    fields = cast(dict[str, Any], arguments)
    for key in ("command", "commands", "cmd", "script", "code", "input"):
        value = fields.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return _joined(cast(list[Any], value), key)
    return ""


def _joined(words: list[Any], key: str) -> str:
    """Return a list as one text: whole commands by line, the words of one command by space."""
    texts = [word for word in words if isinstance(word, str)]
    if key == "commands":
        return "\n".join(texts)
    if len(texts) > 2 and texts[1] in ("-c", "-lc", "-Command"):
        return texts[2]
    return " ".join(texts)


def _switched(call: ToolCallRecord) -> Effect:
    arguments = call.arguments
    if not isinstance(arguments, dict):
        return "unknown"
    fields = cast(dict[str, Any], arguments)
    for key in _SWITCHES:
        value = fields.get(key)
        if isinstance(value, str) and len(value) <= _LONGEST:
            effect = _by_words(_words_of(value), _words_of(call.name or ""))
            if effect is not None:
                return effect
    return "unknown"
