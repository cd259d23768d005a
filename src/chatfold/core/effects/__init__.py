"""Whether calls change things, by what they are called and what they are given."""

from chatfold.core.effects.of_calls import (
    Effect,
    effect_of,
    effect_of_call,
    effect_of_tool,
    reads_by_name,
)

__all__ = ["Effect", "effect_of", "effect_of_call", "effect_of_tool", "reads_by_name"]
