"""The shapes that chatfold knows, in the order in which an ambiguous item is offered to them."""

from __future__ import annotations

from typing import Final

from chatfold.core.views import Shape
from chatfold.errors import UnknownShapeError
from chatfold.shapes.anthropic import Anthropic
from chatfold.shapes.bedrock import Bedrock
from chatfold.shapes.gemini import Gemini
from chatfold.shapes.mistral import Mistral
from chatfold.shapes.ollama import Ollama
from chatfold.shapes.openai_chat import OpenAIChat
from chatfold.shapes.openai_responses import OpenAIResponses

__all__ = ["SHAPES", "shape_named"]

SHAPES: Final[tuple[Shape, ...]] = (
    OpenAIChat(),
    OpenAIResponses(),
    Anthropic(),
    Gemini(),
    Bedrock(),
    Ollama(),
    Mistral(),
)

_ALIASES: Final = {
    "openai_agents": "openai_responses",
    "anthropic_beta": "anthropic",
    "bedrock_converse": "bedrock",
}

_OF_FRAMEWORKS: Final = {  # nothing here imports a framework, so that these have no names
    "langchain": "LangChainMessages() of chatfold.integrations.langchain",
    "livekit": "LIVEKIT of chatfold.integrations.livekit",
}


def shape_named(name: str) -> Shape:
    """Return the shape of that name.

    Raises:
        UnknownShapeError: There is none; the message lists those there are, or says where a
            framework's is.
    """
    wanted = _ALIASES.get(name, name)
    for shape in SHAPES:
        if shape.name == wanted:
            return shape
    if name in _OF_FRAMEWORKS:
        own = _OF_FRAMEWORKS[name]
        raise UnknownShapeError(f"{name!r} is no name of a shape; in Python pass {own}", shape=name)
    known = ", ".join(shape.name for shape in SHAPES)
    raise UnknownShapeError(f"there is no shape {name!r}; there are {known}", shape=name)
