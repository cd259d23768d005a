"""Who is asked for a summary, by the names that telemetry knows providers by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

from chatfold.summarizers._sdk import recognize

__all__ = ["Asked", "asked", "members"]

# Values of gen_ai.provider.name; the client's class tells through which host a model is reached.
# https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/registry/attributes/gen-ai.md
# (read 2026-11-22)
_HOSTS: Final = {
    "Azure": "azure.ai.openai",
    "Bedrock": "aws.bedrock",
    "Vertex": "gcp.vertex_ai",
}


class Asked(NamedTuple):
    """Who is asked.

    Attributes:
        provider: Name of the provider; None where the caller's own code is asked, or no model.
        model: Name of the model, likewise.
    """

    provider: str | None = None
    model: str | None = None


def asked(llm: object, model: str | None, request: Mapping[str, Any] | None) -> list[Asked]:
    """Return who is asked, one for each of `resolve`; nothing is checked, and nothing is raised.

    Args:
        llm: What `resolve` takes, or a backend of native compaction.
        model: Name of the model for a client.
        request: The fields of the live request, in append mode.
    """
    try:
        model = model or (request or {}).get("model")
        return [_asked(member, model) for member in members(llm)]
    except Exception:  # whatever an object of the caller's does; telemetry is not worth a fold
        return []


def members(llm: object) -> Iterator[object]:
    """Yield what a fallback chain holds, also of chains within it, in the order of the calls."""
    if isinstance(llm, list | tuple):
        for member in cast("list[object]", llm):
            yield from members(member)
    else:
        yield llm


def _asked(llm: object, model: str | None) -> Asked:
    if isinstance(llm, str):
        family, _, named = llm.partition(":")
        return Asked(family, named) if named else Asked()
    found = recognize(llm)
    if found is not None:
        return Asked(_provider(found.family, found.client), model)
    ours = type(llm).__module__.startswith(__name__.rpartition(".")[0] + ".")
    family = getattr(llm, "family", "") if ours else ""
    if not family:
        return Asked()
    return Asked(_provider(family, getattr(llm, "client", None)), getattr(llm, "model", None))


def _provider(family: str, client: object) -> str:
    name = client.__class__.__name__  # a proxy answers for what it stands for
    return next((host for word, host in _HOSTS.items() if word in name), family)
