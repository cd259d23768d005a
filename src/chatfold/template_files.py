"""Finds the files of `prompts/`, and reads templates from wherever they lie.

Not here: which of them replaces which, and what is rendered of them (`templates`).
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chatfold.core.foreign_errors import words_of
from chatfold.errors import TemplateError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import jinja2

__all__ = ["built_in_loader", "file_loader", "fixed_loader", "prompt_directory", "template_error"]

_OWN_LOOKED_AT: Final = 1.0  # seconds between two looks at a built-in template in a checkout


def prompt_directory() -> Traversable:
    """Return the directory that holds the built-in templates.

    In an installed package that is `chatfold/prompts`, which is read once; also where the package
    lies in a zip file. An editable install has no such directory: there it is the checkout's own
    `prompts/`, so that an edit shows within a second.

    Raises:
        TemplateError: There is none, so the installation is broken.
    """
    package = Path(__file__).resolve().parent
    candidates = (package / "prompts", package.parents[1] / "prompts")
    for directory in candidates:
        if directory.is_dir():
            return directory
    packed = _packed()
    if packed is not None:
        return packed
    searched = " and ".join(map(str, candidates))
    raise TemplateError(
        f"the built-in templates are missing (looked in {searched}); reinstall chatfold, or have "
        "the tool that froze this program take in the package's data files",
        template="prompts",
    )


def _packed() -> Traversable | None:
    """Return the directory as the package's loader knows it, or None where it knows none."""
    from importlib.resources import files  # it takes longer to import than all of chatfold's core

    directory = files("chatfold") / "prompts"
    return directory if directory.is_dir() else None


def built_in_loader() -> jinja2.BaseLoader:
    """Return what loads the built-in templates; those of an installed package do not change."""
    directory = prompt_directory()
    if isinstance(directory, Path) and directory.parent != Path(__file__).resolve().parent:
        return file_loader(directory, every=_OWN_LOOKED_AT)
    return fixed_loader(directory)


def fixed_loader(directory: Traversable) -> jinja2.BaseLoader:
    """Return what loads the templates of a directory, each once."""
    from jinja2 import FunctionLoader

    return FunctionLoader(functools.partial(_read, directory))


def file_loader(directory: Path, *, every: float = 0.0) -> jinja2.BaseLoader:
    """Return what loads templates anew that changed, looked at `every` so many seconds."""
    from jinja2 import FunctionLoader

    return FunctionLoader(functools.partial(_read_live, directory, every=every))


def _read_live(
    directory: Path, name: str, *, every: float
) -> tuple[str, str, Callable[[], bool]] | None:
    """Return what `_read` does, with a check of whether the file is as it was."""
    from jinja2.loaders import split_template_path

    path = directory.joinpath(*split_template_path(name))
    try:
        modified = path.stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return None
    found = _read(directory, name)
    return found and (*found[:2], _Unchanged(path, modified, every))


def _read(directory: Traversable, name: str) -> tuple[str, str, None] | None:
    """Return source and path of one file, or None where there is no such file.

    Jinja's own file loader does the same, but lets a decoding error escape that does not say
    which of the templates holds the bad byte.
    """
    from jinja2.loaders import split_template_path

    path = directory.joinpath(*split_template_path(name))  # no step out of the directory
    try:
        # utf-8-sig: some Windows editors write a byte order mark, which is no part of the prompt.
        source = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise template_error(error, name, line, str(path)) from error
    return source, str(path), None


class _Unchanged:
    """Says whether a file is as it was.

    Args:
        path: The file.
        modified: When it was last changed, in nanoseconds.
        every: Seconds between two looks.
    """

    def __init__(self, path: Path, modified: int, every: float) -> None:
        self._path = path
        self._modified = modified
        self._every = every
        self._again = 0.0
        self._known = True

    def __call__(self) -> bool:
        """Return whether it was when it was last looked at."""
        now = time.monotonic()
        if now >= self._again:
            self._again = now + self._every
            try:
                self._known = os.stat(self._path).st_mtime_ns == self._modified
            except OSError:  # there is none any more
                self._known = False
        return self._known


def template_error(
    error: Exception, template: str, line: int | None, path: str | None
) -> TemplateError:
    """Return what to raise where a template cannot be read or rendered.

    Args:
        error: What went wrong.
        template: Its name.
        line: The line, counted from 1, where it is known.
        path: Its file, if it has one.
    """
    place = f"template {template!r}"
    if path is not None:
        place += f" ({path})"
    if line is not None:
        place += f", line {line}"
    reason = words_of(error) or "no message"
    return TemplateError(f"{place}: {type(error).__name__}: {reason}", template=template, line=line)
