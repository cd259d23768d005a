"""Reading the SDKs' values without importing the SDKs: by class, by field."""

from __future__ import annotations

from typing import Any, cast

__all__ = ["fields", "is_a", "listed"]


def is_a(value: object, package: str, *names: str) -> bool:
    """Return whether a value is of a class of that name, or of a subclass of it.

    Args:
        value: Anything.
        package: The module that the class is from, or a package around it.
        names: Names of the classes.
    """
    inside = f"{package}."
    return any(
        cls.__name__ in names and f"{cls.__module__}.".startswith(inside)
        for cls in type(value).__mro__
    )


def fields(value: object) -> dict[str, Any] | None:
    """Return a dict as it is, None for anything else."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def listed(value: object) -> list[Any]:
    """Return a list as it is, and an empty one for anything else."""
    return cast(list[Any], value) if isinstance(value, list) else []
