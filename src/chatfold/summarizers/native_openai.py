"""OpenAI's own compaction: `client.responses.compact`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from chatfold.core.flow import Usage
from chatfold.core.native import field, json_text, plain
from chatfold.errors import EmptySummaryError
from chatfold.summarizers._native import NativeBackend
from chatfold.summarizers._sdk import Family
from chatfold.summarizers.native import Compacted

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI
    from openai.resources.responses import AsyncResponses, Responses

__all__ = ["OpenAICompaction"]

_COMMANDS = frozenset({"configuration_update", "compaction_trigger"})
_FROM_MODEL = frozenset({"function_call", "custom_tool_call"})


class OpenAICompaction(NativeBackend):
    """Folds Responses items with OpenAI's `/responses/compact`.

    The server gives back all user messages, and one encrypted item for the rest, which only it
    can read. That window is used as it is, in its order; a user message that comes back as it was
    sent is the caller's own object. What else stays of the folded part goes behind it. See
    https://developers.openai.com/api/docs/guides/compaction (read 2026-11-22).

    The leading instructions stay in front of the list, so they are sent as `instructions` and not
    as items: the server keeps leading instructions inside of its item, and would go by the old
    ones when they change. `configuration_update` items are not sent: the endpoint takes none.

    Args:
        client: An `OpenAI` or `AsyncOpenAI` client, a subclass (Azure), or `client.responses`.
        model: Name of the model; the one of the conversation, or of its family.
        instructions: The instructions of your own requests, where they are not in the list.
        timeout: Seconds that one call may take, retries and the waits before them included; None
            for no limit.
        retries: How often the SDK repeats a request that failed.
        **request: Further fields of `client.responses.compact`, e.g. `prompt_cache_key`.

    Raises:
        TypeError: `client` is none of these, there is no model, or a field is not known.
        ValueError: A number is out of range.
        MissingExtraError: The SDK is older than 2.9.0, which first had `compact`.
    """

    family: ClassVar[Family] = "openai"
    title: ClassVar[str] = "OpenAI"
    shape: ClassVar[str] = "openai_responses"
    needs: ClassVar[str] = "openai>=2.9.0"
    refuses: ClassVar[frozenset[str]] = frozenset({"input", "previous_response_id", "extra_body"})

    def __init__(
        self,
        client: OpenAI | AsyncOpenAI | Responses | AsyncResponses,
        model: str,
        *,
        instructions: str | None = None,
        timeout: float | None = 60.0,
        retries: int = 1,
        **request: Any,
    ) -> None:
        self.instructions = instructions
        super().__init__(client, model, timeout=timeout, retries=retries, request=request)

    def owns(self, item: Any) -> bool:
        """Return whether an item is a compaction item, from this endpoint or from a response.

        One of another provider, or of another account, looks the same; the server refuses it.
        """
        return field(item, "type") == "compaction" and bool(field(item, "encrypted_content"))

    def endpoint(self, client: Any) -> Callable[..., Any] | None:
        """Return `client.responses.compact`, None where the SDK has none yet."""
        return getattr(getattr(client, "responses", None), "compact", None)

    def bodies(
        self, items: Sequence[Any], prefix: Sequence[Any], instructions: str | None
    ) -> Iterator[dict[str, Any]]:
        """Yield the one request: the items, and all instructions as one text."""
        said = (self.instructions, *map(_text, prefix), instructions)
        told = "\n\n".join(text for text in said if text and text.strip())
        sent = [plain(item) for item in items if field(item, "type") not in _COMMANDS]
        body: dict[str, Any] = {**self.request, "input": sent}
        yield {**body, "instructions": told} if told else body

    def usage(self, answer: Any) -> Usage | None:
        """Return the tokens of an answer."""
        used = field(answer, "usage")
        if used is None:
            return None
        details = field(used, "input_tokens_details")
        return Usage(
            field(used, "input_tokens") or 0,
            field(used, "output_tokens") or 0,
            field(details, "cached_tokens") or 0,
        )

    def read(self, answer: Any, items: Sequence[Any]) -> Compacted:
        """Return the window that the server made.

        Raises:
            SummarizerError: There is no compaction item in the answer.
            EmptySummaryError: There is one with nothing in it.
        """
        output = field(answer, "output")
        if not isinstance(output, list):
            self.unreadable(answer, "the answer holds no output")
        window = [_replayable(plain(item)) for item in cast("list[Any]", output)]
        made = [item for item in window if field(item, "type") == "compaction"]
        if not made:
            self.unreadable(answer, "the answer holds no compaction item")
        if not all(field(item, "encrypted_content") for item in made):
            raise EmptySummaryError(f"{self.model}: the compaction item is empty")
        model = field(answer, "model") or self.model
        return Compacted(tuple(_with_own(_detached(window), items)), model=model)


def _text(item: Any) -> str:
    """Return the words of a leading instruction."""
    content = field(item, "content")
    if isinstance(content, list):
        texts = (field(block, "text") for block in cast("list[Any]", content))
        return "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def _replayable(item: Any) -> Any:
    """Return an output item without what only a response may hold, as the shape does."""
    if not isinstance(item, dict):
        return item
    made = {k: v for k, v in cast("dict[str, Any]", item).items() if k != "created_by"}
    if made.get("type") == "custom_tool_call_output":
        made.pop("status", None)
    if made.get("type") == "shell_call_output" and isinstance(made.get("output"), list):
        made["output"] = [_replayable(part) for part in made["output"]]
    return made


def _detached(window: Sequence[Any]) -> list[Any]:
    """Return a window whose model items have no ids, where their reasoning is gone.

    By its id the server demands the reasoning that an item came with; some models give back
    answers with ids and without it (openai-agents 0.24.0, `_strip_orphaned_assistant_ids`).
    """
    if any(field(item, "type") == "reasoning" for item in window):
        return list(window)
    return [
        {k: v for k, v in item.items() if k != "id"}
        if field(item, "role") == "assistant" or field(item, "type") in _FROM_MODEL
        else item
        for item in window
    ]


def _with_own(window: Sequence[Any], items: Sequence[Any]) -> list[Any]:
    """Return a window with the caller's own objects for user messages that came back unchanged.

    Both are in the order of the conversation; of equal messages the latest come back.
    """
    places: dict[str, list[int]] = {}
    for index, item in enumerate(items):
        if (said := _said(item)) is not None:
            places.setdefault(said, []).append(index)
    made = list(window)
    before = len(items)
    for index in range(len(window) - 1, -1, -1):
        said = _said(window[index])
        found = places.get(said, []) if said is not None else []
        at = bisect_left(found, before) - 1
        if at >= 0:
            before = found[at]
            made[index] = items[before]
    return made


def _said(item: Any) -> str | None:
    """Return what a user's message says, however it is written; None for any other item."""
    if field(item, "role") != "user" or field(item, "type") not in (None, "message"):
        return None
    content = field(item, "content")
    blocks = cast("list[Any]", content) if isinstance(content, list) else [{"text": content}]
    return json_text([_block(block) for block in blocks])


_NAMES = ("image_url", "file_id", "file_url", "file_data", "filename")


def _block(block: Any) -> list[Any]:
    text = field(block, "text")
    return [text] if text is not None else [field(block, name) for name in _NAMES]
