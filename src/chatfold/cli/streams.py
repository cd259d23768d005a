"""Standard output and standard error, where they are closed or nobody reads on.

Not here: what is printed (`terminal`), and files (`outputs`).
"""

from __future__ import annotations

import errno
import io
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["prepare_streams"]


def prepare_streams() -> None:
    """Make a closed standard output an error, and a pipe that nobody reads any more none."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - closed: `>&-`
        sys.stdout = io.TextIOWrapper(_Closed(), encoding="utf-8")
    sys.stdout = _unbroken(sys.stdout)
    sys.stderr = _unbroken(sys.stderr)


def _unbroken(stream: TextIO) -> TextIO:
    """Return what writes where `stream` writes, and goes on where a reader has left."""
    found: object = stream
    buffer = getattr(stream, "buffer", None)
    raw = getattr(buffer, "raw", buffer)
    # What stands for a stream (a console of Windows, a test's) has no pipe behind it.
    if not isinstance(found, io.TextIOWrapper) or type(raw) is not io.FileIO:
        return stream
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(raw.fileno(), "wb", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=found.line_buffering,
        write_through=found.write_through,
    )


class _Pipe(io.FileIO):
    """What may be a pipe; once its reader has enough (`| head`), the rest goes nowhere.

    The command goes on all the same: it may have a file to write, and its exit code means what it
    always means. Any other failure is raised once: Python would name it again when it ends.
    """

    _broken = False

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return memoryview(data).nbytes if self._broken else super().write(data)
        except OSError as error:
            self._broken = True
            if isinstance(error, BrokenPipeError):
                return memoryview(data).nbytes
            raise


class _Closed(io.BytesIO):
    """What stands for a standard output that is closed, so that nothing is lost in silence."""

    def write(self, data: object, /) -> int:
        raise OSError(errno.EBADF, "standard output is closed")
