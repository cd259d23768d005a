"""How values of any make are read as JSON types."""

from __future__ import annotations

import warnings
from typing import Any

from openai.lib._parsing import parse_chat_completion
from openai.types.chat import ChatCompletion
from pydantic import BaseModel

from chatfold import ChatContext
from chatfold.core.native import plain


class City(BaseModel):
    """What a model is asked for."""

    name: str


def parsed() -> Any:
    """Return the message that `client.chat.completions.parse` returns."""
    message = {"role": "assistant", "content": '{"name": "Rome"}'}
    answer = ChatCompletion.construct(
        id="c",
        created=1,
        model="m",
        object="chat.completion",
        choices=[{"index": 0, "finish_reason": "stop", "message": message}],
    )
    made = parse_chat_completion(response_format=City, input_tools=[], chat_completion=answer)
    return made.choices[0].message


def test_a_parsed_message_is_read_without_a_warning() -> None:
    """Pydantic warns of the value that `parse()` puts there; its reader cannot help that."""
    message = parsed()
    items: list[Any] = [{"role": "user", "content": "Where?"}, message]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plain(message)["parsed"] == {"name": "Rome"}
        ctx = ChatContext(items)
        assert ctx.check() == []
        assert [step.text for step in ctx.steps()] == ["Where?", '{"name": "Rome"}']


def test_an_object_whose_to_dict_takes_no_argument_is_read() -> None:
    """Other makes than the SDKs have such a method too."""

    class Other:
        def to_dict(self) -> dict[str, Any]:
            return {"role": "user"}

    assert plain(Other()) == {"role": "user"}
