"""Cuts the connections of a call to a server that says nothing any more."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from typing import Any

__all__ = ["Watch"]


class Watch:
    """Waits beside a call, in a thread that ends with it.

    A statement's own time limit is the server's to keep. A server that is stopped, or cut off
    without a word, keeps none, and the driver would wait for its answer as long as the system
    holds the connection open.

    Args:
        seconds: How long one step may take.
    """

    def __init__(self, seconds: float) -> None:
        self.expired = False
        self._seconds = seconds
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.progress()
        with suppress(RuntimeError):  # at the interpreter's end there are no new threads
            threading.Thread(target=self._wait, name="chatfold-watch", daemon=True).start()

    def add(self, connection: Any) -> None:
        """Cut a driver's connection too, when the time is up."""
        with suppress(Exception):  # one that is lost has no socket; the next statement says so
            # A copy, so that the number is not another file's when the connection was closed.
            copy = socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM)
            with self._lock:
                self._sockets.append(copy)

    def progress(self) -> None:
        """Begin to wait anew: the next step begins."""
        self._until = time.monotonic() + self._seconds
        self._asked = True

    def pause(self) -> None:
        """Do not wait: the server has answered, and is asked nothing for now."""
        self._asked = False

    def close(self) -> None:
        """Stop waiting; the connections stay as they are."""
        self._over.set()
        with self._lock:
            for copy in self._sockets:
                copy.close()
            self._sockets.clear()

    def _wait(self) -> None:
        while not self._over.wait(max(self._until - time.monotonic(), 0)):
            with self._lock:
                if time.monotonic() < self._until:
                    continue
                # A connection that is made has a limit of its own.
                if not (self._sockets and self._asked):
                    self._until = time.monotonic() + self._seconds
                    continue
                self.expired = not self._over.is_set()
                for copy in self._sockets:
                    with suppress(OSError):  # the server has closed it
                        copy.shutdown(socket.SHUT_RDWR)
                return
