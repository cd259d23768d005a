"""What the shapes share in taking what a tool returned as blocks of its result.

Not here: which blocks a provider takes (the shapes), and how all else is read (`chatfold.tools`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from chatfold.core.calls import Answer
from chatfold.core.forms import Form
from chatfold.core.native import plain
from chatfold.core.views import Medium
from chatfold.shapes._blocks import module_of

__all__ = ["data_url", "own_blocks", "with_blocks", "without_unset"]


def own_blocks(
    returned: Sequence[Any], form: Form, sdk: str, dump: Callable[[Any], Any] = plain
) -> list[Any] | None:
    """Return what a tool returned as a provider's blocks, None unless all are such blocks.

    Args:
        returned: What stands in the list that the tool returned.
        form: The form of a block.
        sdk: How the module of the SDK's objects begins; objects of other classes are no blocks.
        dump: Returns such an object as a dict.
    """
    blocks = [_as_dict(each, sdk, dump) for each in returned]
    return blocks if all(map(form, blocks)) else None


def _as_dict(value: Any, sdk: str, dump: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return cast("Any", value)
    return dump(value) if module_of(value).startswith(sdk) else None


def without_unset(value: Any) -> dict[str, Any]:
    """Return the fields of an SDK's object that are set, with bytes as they are."""
    return cast("dict[str, Any]", value.model_dump(exclude_none=True))


def with_blocks(result: dict[str, Any], key: str, answer: Answer) -> dict[str, Any]:
    """Return a result with the blocks of its answer in place of the text, where it has any."""
    return {**result, key: [*answer.blocks]} if answer.blocks else result


def data_url(medium: Medium) -> str:
    """Return a medium as a URL that holds its bytes."""
    return f"data:{medium.type};base64,{medium.data}"
