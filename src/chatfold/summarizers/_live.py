"""Live requests for the SDKs: which clients can send them, and their bodies.

No SDK is imported here. What changes a provider's cached prefix is left as the caller has it: the
instructions, tools, tool choice, thinking, the format of answers. Sources, all read 2026-11-22:
https://platform.claude.com/docs/en/build-with-claude/prompt-caching ("What invalidates the cache"),
https://platform.claude.com/docs/en/build-with-claude/structured-outputs,
https://developers.openai.com/api/docs/guides/prompt-caching ("Which settings affect the cached
prefix").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from chatfold.core.flow import cap_for
from chatfold.core.live import LIVE_SHAPES, LiveRequest, Sender
from chatfold.core.native import field, plain
from chatfold.summarizers._native import fields_of

__all__ = ["chat_body", "message_body", "needs_beta", "response_body", "senders"]

_SHAPES: Final[Mapping[str, frozenset[str]]] = {
    "openai": LIVE_SHAPES - {"anthropic"},
    "anthropic": frozenset({"anthropic"}),
}
_ENDPOINTS: Final[Mapping[str, Sequence[str]]] = {
    "openai": ("chat.completions", "responses"),
    "anthropic": ("messages", "beta.messages"),
}
# What makes the answer something else than one whole text. None of it is read by the model.
_NOT_WANTED: Final = frozenset(
    {
        "stream",
        "stream_options",
        "background",
        "background_options",
        "n",
        "stop",
        "stop_sequences",
        "prediction",
        "modalities",
        "audio",
        "logprobs",
        "top_logprobs",
        "truncation",  # the provider would take items out before the model reads them
        "timeout",  # a request's limit in time is the option `timeout`
        "fallback_credit_token",  # is for one request, and refused with another body
    }
)
# The same of servers for open models, which hold the answer to a form while it is written: the
# prompt, and so its prefix, is the same without. vLLM
# (https://docs.vllm.ai/en/latest/features/structured_outputs/), SGLang
# (https://docs.sglang.io/advanced_features/structured_outputs.html) and llama.cpp
# (https://github.com/ggml-org/llama.cpp/tree/master/tools/server, all read 2026-11-27).
_NOT_WANTED_ELSEWHERE: Final = frozenset(
    {
        "structured_outputs",
        "guided_json",
        "guided_regex",
        "guided_choice",
        "guided_grammar",
        "structural_tag",
        "json_schema",
        "regex",
        "ebnf",
        "grammar",
        "stop_token_ids",
    }
)
# Fields of the SDKs' `parse` and the like, which take a class for the format of answers.
_FORMATS: Final = ("text_format", "output_format")
_CHAT_LIMITS: Final = ("max_tokens", "max_completion_tokens")


def senders(backends: Sequence[object], settings: Any) -> list[Sender]:
    """Return what the summarizers of a fallback chain can send in append mode.

    Args:
        backends: The summarizers.
        settings: The options, of which `mode` and `request` count; there are no senders but in
            append mode.

    Raises:
        ValueError: None of them can send a live request, or none asks the request's model.
        TypeError: The SDK has no such field.
    """
    if settings.mode != "append":
        return []
    request: Mapping[str, Any] = settings.request
    made = [_sender(backend, request) for backend in backends]
    if any(sender.shapes for sender in made):
        return made
    others = [b for b in backends if getattr(b, "family", None) in _SHAPES]
    if others:
        raise ValueError(
            f"mode='append' asks the model of your own requests: request= says "
            f"{request['model']!r}, and {others[0]!r} asks another; leave model= out"
        )
    raise ValueError(
        "mode='append' sends your own request with a question behind it, so it needs an OpenAI or "
        'Anthropic client with model=, "openai:<model>" or "anthropic:<model>"; got '
        f"{', '.join(map(repr, backends))}"
    )


def _sender(backend: object, request: Mapping[str, Any]) -> Sender:
    family: object = getattr(backend, "family", None)
    if not isinstance(family, str) or family not in _SHAPES:
        return Sender()
    if request.get("model") not in (None, getattr(backend, "model", "")):
        return Sender()  # another model has another cache
    client: object = getattr(backend, "client", None)
    _check_fields(family, client, request)
    return Sender(_SHAPES[family], _obstacle(client, request))


def _check_fields(family: str, client: object, request: Mapping[str, Any]) -> None:
    """Check that an SDK's methods have the fields.

    Raises:
        TypeError: They have not.
    """
    known: set[str] = set()
    for path in _ENDPOINTS[family]:
        method = _method(client, path)
        fields = fields_of(method) if method is not None else frozenset[str]()
        if fields is None:
            return
        known |= fields
    wrong = sorted(request.keys() - known - {*_FORMATS}) if known else []
    if wrong:
        raise TypeError(
            f"request holds {', '.join(wrong)}, which the SDK's create() does not take; fields of "
            "other servers go into extra_body"
        )


def _method(client: Any, path: str) -> Callable[..., Any] | None:
    """Return the method of a client that sends requests, None where it has none."""
    for name in (*path.split("."), "create"):
        client = getattr(client, name, None)
    return cast("Callable[..., Any] | None", client)


def _obstacle(client: object, request: Mapping[str, Any]) -> str:
    """Return why a request with these fields gives no text, or none from the cache."""
    extra = request.get("extra_body")
    if isinstance(extra, Mapping):  # what an older SDK has no name for
        request = {**request, **cast("Mapping[str, Any]", extra)}
    formats = (
        request.get("response_format"),
        *map(request.get, _FORMATS),
        field(request.get("text"), "format"),
        field(request.get("output_config"), "format"),
    )
    if any(each is not None and field(each, "type") != "text" for each in formats):
        return "the request asks for JSON, and the format is part of the cached prefix"
    if _forces(request) and not _is_openai(client):
        return "the request forces a tool call, and another tool choice may lose the cache"
    return ""


def _forces(request: Mapping[str, Any]) -> bool:
    """Return whether the model has to call a tool."""
    for name in ("tool_choice", "function_call"):
        choice = request.get(name)
        if choice is None or choice in ("auto", "none"):
            continue
        kind = field(choice, "type")
        modes = (field(choice, "mode"), field(field(choice, "allowed_tools"), "mode"))
        if kind not in ("auto", "none") and not (kind == "allowed_tools" and "auto" in modes):
            return True
    return False


def _is_openai(client: object) -> bool:
    """Return whether a client asks OpenAI itself."""
    host = str(getattr(getattr(client, "base_url", None), "host", ""))
    return host == "api.openai.com" or host.endswith(".api.openai.com")


# The bodies


def chat_body(
    live: LiveRequest, model: str, cap: int | None, client: object, asked: int = 0
) -> dict[str, Any]:
    """Return the body of a live request to Chat Completions."""
    body = _fields(live, model, *_CHAT_LIMITS, "tool_choice", "function_call")
    body["messages"] = [*live.items, live.item]
    if _is_openai(client):
        _without_calls(body)
    for name in _CHAT_LIMITS:
        if body.get(name) is not None:
            body[name] = max(body[name], cap or cap_for(asked))
            return body
    return body if cap is None else body | {"max_completion_tokens": cap}


def response_body(
    live: LiveRequest, model: str, cap: int | None, client: object, asked: int = 0
) -> dict[str, Any]:
    """Return the body of a live request to Responses."""
    body = _fields(live, model, "max_output_tokens", "tool_choice")
    body["input"] = [*live.items, live.item]
    if _is_openai(client):
        _without_calls(body)
    if body.get("max_output_tokens") is not None:
        return body | {"max_output_tokens": max(body["max_output_tokens"], cap or cap_for(asked))}
    return body if cap is None else body | {"max_output_tokens": cap}


def message_body(live: LiveRequest, model: str, cap: int | None, asked: int = 0) -> dict[str, Any]:
    """Return the body of a live request to Messages; thinking counts against its limit."""
    body = _fields(live, model, "max_tokens") | {"messages": [*live.items, live.item]}
    if "tools" in body:
        body["tools"] = _defined(body["tools"])
    if body.get("betas") is None:  # the SDK makes a header of them, and takes no null for none
        body.pop("betas", None)
    else:
        _join_betas(body)
    if field(body.get("thinking"), "type") == "disabled":  # which takes nothing else
        body["thinking"] = {"type": "disabled"}
    thinking = field(body.get("thinking"), "budget_tokens")
    needed = (cap or cap_for(asked)) + (thinking if isinstance(thinking, int) else 0)
    return body | {"max_tokens": max(body.get("max_tokens") or 0, needed)}


def _join_betas(body: dict[str, Any]) -> None:
    """Put the betas of a header with those of the field; the SDK would send the header alone."""
    headers = body.get("extra_headers")
    if not isinstance(headers, Mapping):
        return
    others: dict[str, Any] = {}
    told: list[str] = []
    for name, value in cast("Mapping[str, Any]", headers).items():
        if name.lower() == "anthropic-beta" and isinstance(value, str):
            told += [beta.strip() for beta in value.split(",")]
        else:
            others[name] = value
    body["extra_headers"] = others
    body["betas"] = [*dict.fromkeys((*told, *body["betas"]))]


def _defined(tools: Any) -> Any:
    """Return tools as a request has them; the SDK's tool runner takes functions, which tell it."""
    if not isinstance(tools, (list, tuple)):
        return tools
    given = cast("Sequence[object]", tools)
    return [tool if isinstance(tool, Mapping) else plain(tool) for tool in given]


def needs_beta(client: Any, body: Mapping[str, Any]) -> bool:
    """Return whether only the beta method of the Anthropic SDK takes the fields of a body."""
    stable = _method(client, "messages")
    taken = fields_of(stable) if stable is not None else None
    return "betas" in body if taken is None else not body.keys() <= taken


def _fields(live: LiveRequest, model: str, *set_here: str) -> dict[str, Any]:
    """Return the fields of the live request; what is set here may not stand in `extra_body`.

    The SDKs lay that over the rest of the body.
    """
    body = _wanted(live.request)
    extra = body.get("extra_body")
    if isinstance(extra, Mapping):
        inside = _wanted(cast("Mapping[str, Any]", extra))
        body |= {name: inside.pop(name) for name in set_here if name in inside}
        body["extra_body"] = inside
    return {**body, "model": model}


def _wanted(fields: Mapping[str, Any]) -> dict[str, Any]:
    left_out = _NOT_WANTED | _NOT_WANTED_ELSEWHERE
    return {name: value for name, value in fields.items() if name not in left_out}


def _without_calls(body: dict[str, Any]) -> None:
    """Have no tool called, where that does not change the cached prefix.

    "Set tool_choice to "none" instead of removing the tool definitions":
    https://developers.openai.com/api/docs/guides/prompt-caching (read 2026-11-22). Other servers
    with this API may leave the tools out of the prompt then.
    """
    extra = body.get("extra_body")
    if body.get("tools") or field(extra, "tools"):
        body["tool_choice"] = "none"
    if body.get("functions") or field(extra, "functions"):
        body["function_call"] = "none"
