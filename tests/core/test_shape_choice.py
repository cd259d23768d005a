"""`ShapeChoice`: which shape a growing list is of, and how often that is asked."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types import Message

from chatfold.core.shape_choice import ShapeChoice
from chatfold.core.views import CallPart, Fit, TextPart
from chatfold.shapes import SHAPES
from chatfold.shapes.openai_chat import OpenAIChat

SAID = [
    {"role": role, "content": f"Word {number}."}
    for number in range(30)
    for role in ("user", "assistant")
]
TOLD: dict[str, dict[str, Any]] = {
    "openai_chat": {"role": "tool", "tool_call_id": "call_1", "content": "found"},
    "openai_responses": {"type": "function_call_output", "call_id": "call_1", "output": "found"},
    "anthropic": {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "found"}],
    },
    "gemini": {"role": "user", "parts": [{"text": "found"}]},
    "bedrock": {"role": "user", "content": [{"text": "found"}]},
    "ollama": {"role": "tool", "tool_name": "find", "content": "found"},
}


class Asked(OpenAIChat):
    """Counts how often it is asked whether an item may be its own."""

    asked = 0

    def fit(self, item: object) -> Fit:
        self.asked += 1
        return super().fit(item)


def test_words_alone_are_asked_about_once_a_role() -> None:
    """A chat without tools may never tell its shape; a turn of it is not to ask seven of them."""
    asked = Asked()
    choice = ShapeChoice((asked, *(s for s in SHAPES if s.name != asked.name)), None)
    for item in SAID:
        choice.settle([item])
        assert choice.shape is None
        assert choice.read(item).role == item["role"]
    assert asked.asked == 2


@pytest.mark.parametrize("name", TOLD)
def test_what_tells_the_shape_does_so_behind_any_number_of_words(name: str) -> None:
    """Words before it fit several; so do words behind it, which change nothing any more."""
    choice = ShapeChoice(SHAPES, None)
    for item in [*SAID, TOLD[name], *SAID]:
        choice.settle([item])
    assert choice.shape is not None
    assert choice.shape.name == name
    assert choice.read(TOLD[name]).shape == name


def test_the_same_role_with_more_than_a_text_is_asked_about_anew() -> None:
    """What is known of words says nothing of blocks, nor of what is no text."""
    choice = ShapeChoice(SHAPES, None)
    choice.settle(SAID)
    for odd in ({"role": ["user"], "content": "x"}, {"content": "x"}, 5, None):
        choice.settle([odd])
        choice.read(odd)  # is no error, whatever it is
    choice.settle([TOLD["anthropic"]])
    assert choice.shape is not None
    assert choice.shape.name == "anthropic"


def test_an_item_is_read_though_another_thread_settles_the_shape_meanwhile() -> None:
    """Of a result that another thread appends, say, while the owner looks at its list."""
    item = TOLD["openai_responses"]

    class Settling(OpenAIChat):
        settled = False

        def fit(self, item: object) -> Fit:
            if not self.settled:
                self.settled = True
                choice.settle([*SAID, item])
            return super().fit(item)

    settling = Settling()
    choice = ShapeChoice((settling, *(s for s in SHAPES if s.name != settling.name)), None)
    view = choice.read(item)
    assert choice.shape is not None
    assert view == choice.read(item)
    assert view.type == "function_call_output"


def test_the_shape_stays_known_while_it_is_chosen_anew() -> None:
    """Who asks for it meanwhile, to read an item by it, finds the one before or the one behind."""
    seen: list[object] = []

    class Watching(OpenAIChat):
        def fit(self, item: object) -> Fit:
            seen.append(choice.shape)
            return super().fit(item)

    watching = Watching()
    choice = ShapeChoice((watching, *(s for s in SHAPES if s.name != watching.name)), None)
    choice.settle([*SAID, TOLD["gemini"]])
    gemini = choice.shape
    assert gemini is not None
    seen.clear()
    choice.settle_again([*SAID, TOLD["bedrock"]])
    assert seen
    assert all(shape is gemini for shape in seen)
    assert choice.shape is not None
    assert choice.shape.name == "bedrock"


@pytest.mark.parametrize(
    "block",
    [{"type": "text", "text": "Hi."}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}],
)
def test_a_whole_response_of_claude_as_json_is_no_item_of_the_responses_api(
    block: dict[str, Any],
) -> None:
    """Both are a `message` with an id; a response names its model, whatever blocks it holds."""
    response = Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [block],
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    for item in (response.model_dump(mode="json"), response.to_dict()):
        choice = ShapeChoice(SHAPES, None)
        choice.settle([SAID[0], item])
        assert choice.shape is not None
        assert choice.shape.name == "anthropic"
        (part,) = choice.read(item).parts
        assert type(part) in (TextPart, CallPart)


def test_an_item_of_the_responses_api_may_name_its_model() -> None:
    content = [{"type": "output_text", "text": "Hi.", "annotations": []}]
    item = {"type": "message", "role": "assistant", "model": "gpt-5", "content": content}
    choice = ShapeChoice(SHAPES, None)
    choice.settle([SAID[0], item])
    assert choice.shape is not None
    assert choice.shape.name == "openai_responses"
