"""What is said where LangChain is not installed, or in a version without what we need of it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from chatfold.errors import MissingExtraError

__all__ = ["missing"]


def missing(error: ImportError) -> MissingExtraError:
    """Return the error that names the extra, and the versions that would do."""
    line = 'pip install "chatfold[langchain]"'
    absent = isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in (
        "langchain",
        "langchain_core",
        "langgraph",
    )
    try:
        found = f"langchain {version('langchain')} with langgraph {version('langgraph')}"
    except PackageNotFoundError:
        absent, found = True, ""
    if absent and (error.name or "").count(".") == 0:
        said = f"LangChain is not installed: {line}"
    else:
        said = f"langchain >=1.4.7,<2 is needed, and {found} lacks something ({error}): {line}"
    return MissingExtraError(said, extra="langchain")
