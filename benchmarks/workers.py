"""Talks to another library in its own environment: one process, a line of JSON each way."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[1]


class PeerError(Exception):
    """The other library raised; the message names its error."""


class Worker:
    """One library in one process, which runs `benchmarks.peers`.

    Args:
        name: The library's name in `environments.PEERS`.
        python: The Python of its environment.

    Raises:
        PeerError: The library does not load there.
    """

    def __init__(self, name: str, python: Path) -> None:
        self.name = name
        # The estimate of chatfold counts tokens for all of them, and needs nothing installed.
        path = os.pathsep.join([str(CHECKOUT), str(CHECKOUT / "src")])
        self._process = subprocess.Popen(
            [str(python), "-m", "benchmarks.peers", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"},
            text=True,
            encoding="utf-8",
        )
        try:
            hello = self.ask("hello")
        except PeerError:
            self.close()
            raise
        self.version: str = hello["version"]
        self.variants: list[str] = hello["variants"]
        self.timed: list[str] = hello["timed"]
        self.checked: list[str] = hello["checked"]

    def ask(self, what: str, **fields: Any) -> dict[str, Any]:
        """Send a request and return the answer.

        Raises:
            PeerError: The library raised, or its process ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"what": what, **fields}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise PeerError(f"the process of {self.name} ended")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def close_all(workers: Sequence[Worker]) -> None:
    """End all processes."""
    for worker in workers:
        worker.close()
