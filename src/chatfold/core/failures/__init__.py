"""Whether results say that their calls failed, and why."""

from chatfold.core.failures.results import first_line, reason_in

__all__ = ["first_line", "reason_in"]
