"""What `--help` says, apart from the commands: a signature shows what one takes at a glance.

These are no docstrings, which Python leaves out where it is told to (`-OO`).
"""

from __future__ import annotations

from typing import Final

from chatfold.shapes import SHAPES

__all__ = ["ABOUT", "CALLS", "CHECK", "DEMO", "FILE", "REPLAY", "SHAPE", "SUMMARIZE", "WRITER"]

ABOUT: Final = (
    "Action-aware summarization for LLM chat histories, in the provider's own message format."
)
DEMO: Final = (
    "Fold a support call in three shapes: before, prompt, summary, after. No key, no network."
)
SUMMARIZE: Final = """
Replace the older part of a history with one summary; print the list as FILE has it.

What happened is told on stderr. Where there is nothing to fold, FILE is passed on unchanged; where
the fold fails, nothing is written, and the exit code is 1.
"""
CALLS: Final = "List every tool call of a history with its result."
CHECK: Final = """
List what the provider would refuse or lose; exit code 1 if there is anything.

With --fix, the list is mended, and the exit code is 1 only if something had to be left that the
provider would refuse. Warnings and losses stay, and are listed.
"""
FILE: Final = (
    "A JSON list of items, an object with a list under messages, input or items, JSONL with one "
    "item a line, or - for standard input."
)
REPLAY: Final = (
    "Fold a request's list though the provider holds the history; it has to be all of it."
)
SHAPE: Final = f"{', '.join(shape.name for shape in SHAPES)}; by default found out."
WRITER: Final = "What writes the summary: extractive (no model), openai:MODEL or anthropic:MODEL."
