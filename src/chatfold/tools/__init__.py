"""Runs open tool calls: one result for each call, in call order, whatever becomes of it.

What is called with which arguments and what its result says is decided in `_dispatch` and
`_texts`, without waiting for anything; `_drivers` runs it, in this thread or concurrently.
"""

from __future__ import annotations

from chatfold.tools._batch import Run
from chatfold.tools._delivered import ToolRun
from chatfold.tools._dispatch import Tool
from chatfold.tools._drivers import arun_calls, run_calls

__all__ = ["Run", "Tool", "ToolRun", "arun_calls", "run_calls"]
