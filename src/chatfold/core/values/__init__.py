"""Typed values: ids, dates, amounts, addresses and the like, in texts and in items."""

from chatfold.core.values.typed import Kind, Value, command_value, found_in, values

__all__ = ["Kind", "Value", "command_value", "found_in", "values"]
