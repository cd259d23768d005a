"""What kind of failure an error of an SDK or a server is, in words that repeat nothing of a prompt.

Not here: whether it says that a prompt is too long (`_overflow`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from chatfold import threads
from chatfold.core.word_sets import word_set
from chatfold.errors import SummarizerError
from chatfold.summarizers._overflow import Overflow, overflow_in

if TYPE_CHECKING:
    from chatfold.core.render import Prompt

__all__ = ["code_of", "detail_of", "failure"]

_WORDS = {
    401: "not authenticated",
    403: "not allowed",
    404: "not found",
    413: "request too large",
    429: "rate limited",
    529: "overloaded",
}


def failure(
    error: Exception, prompt: Prompt, *, who: str, timeout: float | None = None
) -> SummarizerError:
    """Return the error that says what kind of failure `error` is, without words of the prompt.

    Args:
        error: What an SDK or a caller's function raised.
        prompt: What was asked; a message that repeats it is left out.
        who: What failed: the model's name, or "the summarizer".
        timeout: Seconds that the call was allowed, for an SDK's time-out or our own.
    """
    try:
        return _failure_of(error, prompt, who, timeout)
    except Exception:  # its own code: what failed is what is to be told
        return SummarizerError(f"{who}: {type(error).__name__}")


def _failure_of(
    error: Exception, prompt: Prompt, who: str, timeout: float | None
) -> SummarizerError:
    names = {base.__name__ for base in type(error).__mro__}
    if "APITimeoutError" in names or isinstance(error, threads.ExpiredError):
        after = f" after {timeout:g} s" if timeout is not None else ""
        return SummarizerError(f"{who}: timed out{after}")
    if "APIConnectionError" in names:
        cause = error.__cause__
        if isinstance(cause, Exception) and _is_of_api(cause):
            return _failure_of(cause, prompt, who, timeout)
        detail = f" ({type(cause).__name__})" if cause is not None else ""
        return SummarizerError(f"{who}: connection failed{detail}")
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        text = detail_of(error)[0]
        found = overflow_in(text, frozenset())
        return _failure(f"{who}: {type(error).__name__}{_quoted(text, prompt)}", found)
    body = getattr(error, "body", None)
    text, codes = detail_of(
        error if body is None else body
    )  # those of Ollama and litellm have none
    # 429 is a limit on a minute's tokens. Older servers of llama.cpp answer 500 instead of 400.
    found = None if status == 429 else overflow_in(text, codes, body, certain=status == 413)
    if found is not None:
        kind = f"the prompt exceeds the model's window ({status})"
    else:
        kind = f"{_WORDS[status]} ({status})" if status in _WORDS else f"status {status}"
    return _failure(f"{who}: {kind}{_quoted(text, prompt)}", found)


def _is_of_api(error: Exception) -> bool:
    """Return whether an error says itself what an API did.

    After retries of its own LiveKit raises a connection error from the last failure, whatever that
    was: livekit-agents 1.8.9, `livekit/agents/llm/llm.py` (`_main_task`).
    """
    names = {base.__name__ for base in type(error).__mro__}
    return "APIConnectionError" in names or isinstance(getattr(error, "status_code", None), int)


def _failure(message: str, found: Overflow | None) -> SummarizerError:
    if found is None:
        return SummarizerError(message)
    return SummarizerError(message, overflow=True, limit=found.limit, size=found.size)


def code_of(error: Exception) -> str | None:
    """Return the provider's code for an error, None where it has none, or none that can be read."""
    try:
        code = getattr(error, "code", None)
    except Exception:
        return None
    return code if isinstance(code, str) else None


def detail_of(body: object) -> tuple[str, frozenset[str]]:
    """Return the words of an error, and its code and type.

    Args:
        body: An exception, or the body of a response: the error itself or an object holding it.
    """
    if isinstance(body, Mapping):
        fields = cast("Mapping[str, object]", body)
        inner = fields.get("error")
        if inner:
            return detail_of(inner)
        codes = (fields.get("code"), fields.get("type"))
        said = frozenset(code for code in codes if isinstance(code, str))
        # FastAPI's servers have no message but `detail`, and beside it stands what was sent.
        words = fields.get("message") or fields.get("reason")
        return str(words or " ".join(_reasons(fields.get("detail")))), said
    message = getattr(body, "message", None)
    if isinstance(message, str):
        return message, frozenset()
    text = str(body or "").strip()
    is_page = text.startswith("<")  # a proxy's, of an error
    if isinstance(body, Exception):  # Python's own begin so too: `<lambda>() takes ...`
        is_page = is_page and ("</" in text or text[1:2] in ("!", "?"))
    return ("" if is_page else text), frozenset()


def _reasons(detail: object) -> Iterator[str]:
    """Yield what the `detail` of an error says; not what it quotes of the request, such as a key.

    Each place that is wrong has a `msg` and where it stands (`loc`):
    https://fastapi.tiangolo.com/tutorial/handling-errors/ (read 2026-11-28).
    """
    for each in cast("Sequence[object]", detail) if isinstance(detail, list) else (detail,):
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            told = cast("Mapping[str, object]", each)
            words = (told.get("message"), told.get("msg"))
            yield from (said for said in words if isinstance(said, str))
            where = told.get("loc")
            yield from map(str, cast("list[object]", where) if isinstance(where, list) else ())


_LONGEST = 300  # characters of a server's message that are passed on
_SAME = 20  # characters in a row that count as repeating the prompt
_WORD = re.compile(r"[^\W_]+")
# A short message of these words alone names nothing that anybody said, and the prompt holds them by
# chance: its own instructions do, and what tools answered. Any other may be a name or an id.
_PLAIN = word_set(
    """
    a an and at busy by closed connect connection could did didn does doesn down empty error errors
    exceeded exception fail failed failure for forbidden found gateway has in internal interrupted
    invalid is isn it key limit limited lost made many memory missing network no none nope not of on
    oops out overloaded quota rate reached read refused request requests reset server service
    stopped string t text the timed timeout to token tokens too try again type unavailable
    unauthorized unexpected unknown value was went wrong write
    """
)


def _quoted(text: str, prompt: Prompt) -> str:
    """Return a server's words to append to a message; nothing where they repeat the prompt.

    Servers that validate what they get tend to send it back, and an error is often logged.
    """
    text = " ".join(text[:_LONGEST].split())
    if not text:
        return ""
    if len(text) < _SAME and _PLAIN.issuperset(_WORD.findall(text.lower())):
        return f": {text}"
    asked = (prompt.user, prompt.system)
    for start in range(max(1, len(text) - _SAME + 1)):
        piece = text[start : start + _SAME]
        if any(piece in part for part in asked):
            return " (the message repeats the prompt and is left out)"
    return f": {text}"
