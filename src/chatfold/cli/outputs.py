"""Writing: files whole or not at all, devices, pipes and open files as they are.

Not here: how a history is read and rendered (`files`), and what goes to stdout (`commands`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path
from typing import Final

from chatfold.cli.files import FileError, reason

__all__ = ["reject_unwritable", "write_whole"]

_LINKS: Final = 40
"""How many links in a row are followed; Linux follows as many."""


def reject_unwritable(name: str) -> None:
    """Check that a file can be written, before time and tokens are spent on its content.

    Raises:
        FileError: It cannot; the message says why.
    """
    if not name:
        raise FileError("cannot write a file without a name; name one, or - for standard output")
    try:
        target = _target(name)
        if isinstance(target, int):
            os.fstat(target)
            return
        if target.is_dir():
            raise FileError(f"cannot write {name}: it is a directory; name a file in it")
        if not target.parent.is_dir():
            raise FileError(f"cannot write {name}: there is no directory {target.parent}")
        # A regular file is replaced, which takes a writable directory.
        if (target.exists() and not os.access(target, os.W_OK)) or (
            _is_replaced(target) and not os.access(target.parent, os.W_OK)
        ):
            raise FileError(f"cannot write {name}: permission denied")
    except OSError as error:
        raise FileError(f"cannot write {name}: {reason(error)}") from error


def write_whole(name: str, data: bytes) -> None:
    """Write a file so that it holds all of `data` or, on failure, what it held before.

    The file behind a symbolic link is replaced, not the link; its owner and permissions stay. A
    device or a pipe is written to as it is, and so is what the shell has opened (`/dev/stdout`,
    `/dev/fd/63`): what stands there already stays, as for any other output.

    Raises:
        FileError: It cannot be written; that whoever reads a pipe has enough is no error.
    """
    reject_unwritable(name)
    target = _target(name)
    try:
        if isinstance(target, int):
            with os.fdopen(target, "wb", closefd=False) as opened:
                opened.write(data)
        elif _is_replaced(target):
            _replace(target, data)
        else:
            with target.open("ab") as file:
                file.write(data)
    except BrokenPipeError:
        return
    except OSError as error:
        raise FileError(f"cannot write {name}: {reason(error)}") from error


def _target(name: str) -> Path | int:
    """Return the file that a name leads to, or the number under which this process has it open.

    Links are followed one by one. Those in /proc lead to files that are open, or to no name at
    all (`pipe:[4026]`), and are followed by the system alone.

    Raises:
        OSError: The links lead in a circle.
    """
    # The second one is missing in some containers.
    descriptors = {os.path.realpath(each) for each in ("/proc/self/fd", "/dev/fd")}
    path = Path(name)
    for _ in range(_LINKS):
        parent = os.path.realpath(path.parent)
        path = Path(parent, path.name)
        if parent in descriptors and path.name.isdecimal():
            return int(path.name)
        if _is_process_file(path) or not path.is_symlink():
            return path
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _is_replaced(path: Path) -> bool:
    """Return whether a new file takes the place of this one, if there is one."""
    return not _is_process_file(path) and (not path.exists() or path.is_file())


def _is_process_file(path: Path) -> bool:
    return path.is_relative_to("/proc")


def _replace(path: Path, data: bytes) -> None:
    # In the same directory: a file is renamed at once only within one file system.
    draft = path.with_name(f".chatfold-{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            _take_over_rights(path, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _take_over_rights(path: Path, draft: Path) -> None:
    status = path.stat()
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # only root may give a file away
            os.chown(draft, status.st_uid, status.st_gid)
    draft.chmod(status.st_mode & 0o7777)
