"""The words by which a text says that its call was not made, or could not be.

Not here: errors that say so by their first word (`words`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from chatfold.core.effects.tool_names import effect_of_name
from chatfold.core.failures.successes import tells_a_deed, words_in
from chatfold.core.failures.words import (
    DEEDS,
    STATES,
    is_for,
    words_of_name,
)
from chatfold.core.word_sets import word_set

__all__ = ["exits_badly", "says_not_made"]

_READ = 200  # characters at the start of a text that are looked at
_READ_AT_THE_END = 80  # and at its end, where shells tell how they ended
_NO_MORE = r"(?!\W{0,2}(?:0\b|none\b))"  # as in `Rows failed: 0`
_ENDS = r"(?=\s*(?:[:.,;!\n]|$)"

# Frameworks say so where a user did not allow a call: `Tool execution was not approved.`
# (openai-agents 0.24, `agents/tool.py`), `User rejected the tool call for ...` (langchain 1.5,
# `human_in_the_loop.py`).
_BY_THE_USER = (
    r"(?:the )?user (?:has )?(?:rejected|denied|declined|refused|aborted|interrupted)\b"
    r"|(?:the )?user (?:doesn|does |didn|did )(?:['’]t|not) (?:want|allow|approve|confirm)\b"
)
_ALLOWED = (
    r"(?:(?:the|your|this|tool|execution|call|action|request|operation|use|it) ){0,4}"
    r"(?:was |is |has been )?"
    rf"(?:not (?:approved|authori[sz]ed|permitted|allowed|confirmed)\b{_NO_MORE}"
    r"|(?P<refused>rejected|denied|declined|refused|aborted|blocked|cancelled|canceled)"
    r" by (?:the )?(?:user|admin\w*|operator|policy|system)\b"
    rf"|(?P<state>rejected|denied|refused|declined){_ENDS}))"
)
_DECLINED = (
    r"(?:the |your )?(?:payment|card|transaction|charge) (?:was |has been |is )?"
    r"(?P<declined>declined)\b"
)
# Of chatfold itself (`prompts/tool_error.jinja`, `repair_note.jinja`), and of agent frameworks.
_OF_HOSTS = (
    r"there is no tool (?:named|called)\b|the arguments (?:are not|must be|do not fit)\b"
    r"|the (?:call|tool) (?:was (?:cut off|interrupted|not started|not called)|did not finish)\b"
    r"|(?:request (?=interrupted by\b))?interrupted\b|unknown (?:tool|function)\b"
    r"|an? (?:[\w-]+ ){0,2}error (?:has )?occurred\b"
    # All but the first of several handoffs at a time (openai-agents 0.24, `turn_resolution.py`).
    r"|multiple handoffs detected, ignoring this one\b"
    r"|(?:the )?(?:tool|function) ['\"`]?[\w.-]+['\"`]? (?:was |is )?(?:not found|unknown)\b"
    r"|(?:the )?(?:tool |function )?(?:tool|call|execution) (?:was )?"
    r"(?:interrupted|aborted|timed out)\b"
    rf"|(?:the |your )?(?:[a-z]+ ){{1,2}}(?P<late>timed out)"
    rf"(?:{_ENDS})| (?:after|while|during|because)\b)"
    r"|(?:\d+ |input )?validation errors?\b|missing (?:\d+ )?required\b|rate limit exceeded\b"
    r"|\w{1,60}\(\) (?:missing \d+ required|got an unexpected keyword|takes \d+ positional)\b"
    r"|no such [a-z]+\b|\(?(?P<rehearsed>dry)[ -]?run\b"
    r"(?=[^\n]{0,120}\b(?:would|no changes|nothing (?:was|is|will)|not (?:be )?(?:applied|made))\b)"
    r"|(?:(?:th(?:e|is) )?(?:action |call |operation )?(?:requires|needs) (?:\w+ )?confirmation"
    r"|(?:user )?confirmation (?:is )?(?:needed|required))"
    r"(?:[.!]?\s*\Z|[.!:;,-]\s*(?:please |re-?)?(?:call|confirm|run|pass|set|use) )"
)
_FAILED = (
    # `apply_patch verification failed: ...`, as coding agents have it.
    r"(?!no(?:ne|thing)? )(?:the |your |this )?(?:apply_patch|[a-z]+)(?: [a-z]+){0,2}"
    r" (?P<failed>failed)"
    rf"{_ENDS}| (?:because|due|with)\b){_NO_MORE}"
)
# In other languages what failed comes first, too: `Zahlung wurde abgelehnt`.
_ELSEWHERE = (
    r"(?:(?!(?:nicht|nie|kein\w*|pas|aucune?|no|sin|sans|ohne)\b)[^\W\d_]{1,40} ){0,4}?"
    rf"(?P<elsewhere>{'|'.join(sorted(STATES, reverse=True))}){_ENDS}){_NO_MORE}"
)
_NOT_DONE = (
    r"(?:(?:(?!\b(?:was|were|has|have|is|are|and|but)\b)[^\n.;:!?]){1,80}?"
    r"\b(?:could(?: not|n['’]t)|cannot|can['’]t|can not|can no longer) be"
    r"|(?:(?:the )?[\w-]+ ){0,3}?(?:was |were |is |has been )?not|nothing (?:was|has been))"
    r" (?P<done>[a-z]+)\b"
)
_UNABLE = (
    r"(?:i|we)(?:(?: am| are| was| were|['’]m|['’]re) (?:unable|not able) to| could(?: not|n['’]t)"
    r"| can(?:not| not|['’]t)| failed to) (?P<unable>[a-z]+)\b"
)
_CARRIED_OUT = word_set("complete fulfil fulfill perform process")
_LONGEST_ANSWER = 500  # characters; more is a report, of which this was one thing
_IMPOSSIBLE = word_set("available eligible found possible supported valid")
_CLAUSES = re.compile(r"[.,;:!\n]")
_GOES_ON = re.compile(r"[.,;:!\n]|\b(?:and|but|so)\b", re.IGNORECASE)
_INSTEAD = re.compile(r"\b(?:but|so|instead|however)\b|;|[^\W\d_]-?\d|#\d", re.IGNORECASE)
_SO_FAR = re.compile(r"\s*(?:[:.,;!\n(]|$)| (?:in|for|at|on|because|due|with|until|before)\b")
_NO_RIGHT = (
    r"(?:sorry, )?(?:you|i) (?:(?:do not|don['’]t|did not|didn['’]t) have (?:the )?"
    r"(?:permissions?|access|rights)|(?:can['’]t|cannot|(?:am|are) (?:not able|unable) to) "
    r"(?:do|perform|complete|process|make|access|help))\b"
    r"|insufficient (?:funds|balance|credit|permissions?|privileges|rights|stock|quota|scope)"
    rf"(?:{_ENDS})| (?:for|to|on|in)\b)"
)
_OF_SHELLS = (
    r"(?:(?:the )?(?:command|process|script|program) )?(?:failed with |exited with |exit )"
    r"(?:an? )?(?:exit )?(?:code|status)?:? ?[1-9]\d{0,2}\b"
    r"|return ?code[:=> ]{1,2}[1-9]\d{0,2}\b"
    r"|[\w./ -]{1,60}:(?: line \d+:)? [\w./-]{1,60}: (?:command not found|no such file)"
)
_NOT_MADE = re.compile(
    rf"\W*(?:{_BY_THE_USER}|{_NO_RIGHT}|{_OF_SHELLS}|{_OF_HOSTS}|{_DECLINED}|{_ALLOWED}|{_FAILED}"
    rf"|{_UNABLE}|{_ELSEWHERE}|{_NOT_DONE})",
    re.IGNORECASE,
)


_EXIT_AT_THE_END = re.compile(
    r"(?:^|\n)[\[(<]?(?:(?:(?:command |process )?(?:exited|failed) with )(?:an? )?(?:exit )?code"
    r"|exit[ _]?(?:code|status)|return ?code)[:= >]{1,2}[1-9]\d{0,2}"
    r"(?:</\w{1,20}>)?[\])]?\s*$",
    re.IGNORECASE,
)

# What git says last where a push, a merge or a rebase came to nothing; hints may stand behind it.
_GIT_AT_THE_END = re.compile(
    r"^(?:error: failed to push some refs to |automatic merge failed; fix conflicts "
    r"|(?:error: )?could not (?:apply|revert) [0-9a-f]{7,40}\.\.\.)[^\n]*"
    r"(?:\n(?:hint:[^\n]*)?)*\Z",
    re.IGNORECASE | re.MULTILINE,
)
_HINTS = 1500  # characters at the end of a text that such hints take


def says_not_made(text: str, name: str, given: Callable[[], Iterable[str]]) -> bool:
    """Return whether a text begins with a sentence that says that its call was not made.

    Args:
        text: The result.
        name: The name of the call's tool: what that is there for is no failure of it.
        given: Returns the texts that the call was given; what they name is none either.
    """
    found = _NOT_MADE.match(text, 0, _READ)
    if found is None:
        return False
    if found["rehearsed"]:
        return "dry" not in words_of_name(name)
    states = ("refused", "state", "declined", "failed", "elsewhere")
    state = next(filter(None, map(found.__getitem__, states)), None)
    if state is not None:
        return not any(is_for(state.lower(), of) for of in (name, *given()))
    if found["unable"]:
        return _is_all(found["unable"].lower(), text, found.end(), name) and text not in given()
    done = (found["done"] or "").lower()
    if done in _IMPOSSIBLE or found["late"]:
        ends = found["late"] or _SO_FAR.match(text, found.end())
        return bool(ends) and not _tells_a_deed(text[found.end() : _READ], name)
    return not done or done in DEEDS or is_for(done, name)


def _is_all(verb: str, text: str, end: int, name: str) -> bool:
    """Return whether what somebody was unable to do is all that a tool is for.

    An agent that was asked for more may have done the rest.
    """
    if len(text) > _LONGEST_ANSWER or effect_of_name(name) != "write":
        return False
    if verb not in _CARRIED_OUT.union(words_of_name(name)):
        return False
    rest = text[end:]
    if _INSTEAD.search(rest):
        return False
    return not _tells_a_deed(". ".join(_GOES_ON.split(rest)[1:]), name)


def _tells_a_deed(text: str, name: str) -> bool:
    """Return whether a clause says that something was done: "Not found; created as C-12"."""
    clauses = map(words_in, _CLAUSES.split(text))
    return any(tells_a_deed(words, name) for words in clauses)


def exits_badly(text: str) -> bool:
    """Return whether a text ends with the exit code, or git's words, of a command that failed."""
    if _EXIT_AT_THE_END.search(text[-_READ_AT_THE_END:]):
        return True
    return _GIT_AT_THE_END.search(text[-_HINTS:].rstrip()) is not None
