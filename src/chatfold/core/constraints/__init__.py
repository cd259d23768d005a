"""Standing instructions: which sentences of users hold until they are taken back."""

from chatfold.core.constraints.standing import (
    Instructs,
    Standing,
    Words,
    may_instruct,
    standing,
)

__all__ = ["Instructs", "Standing", "Words", "may_instruct", "standing"]
