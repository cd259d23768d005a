"""Addresses and paths that were shown, and what else is said of them: parents, remotes, numbers.

Not here: how an address is read (`values.paths`), what a summary makes of it (`ungrounded`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from chatfold.core.grounding.shown import Sources
from chatfold.core.once import once

__all__ = ["Addresses"]

_ENDS = re.compile("[/?#]")
_SEGMENTS = re.compile("[/?#&=]")
_MOST_ENDS = 40  # of one address
_HOME = re.compile(r"path:(?:/root|/(?:home|Users)/[^/]+)(?=/)", re.IGNORECASE)
_HOMES = ("path:/home/", "path:/root/", "path:/Users/", "path:/users/")
_FILE = re.compile(
    r"(?:Make|Docker|Proc|Gem|Rake|Vagrant|Jenkins|Pip|Caddy|Brew|Tilt|Snake|Guard|Pod|Cart|Fast)file"
    r"|README|LICEN[SC]E|CHANGELOG|CONTRIBUTING|NOTICE|AUTHORS|VERSION|INSTALL|TODO|CODEOWNERS"
    r"|[\w-]{1,80}(?:\.\w{1,16}){1,3}"
)
_REMOTE = re.compile(
    r"(?<![^\s\"'@>])((?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,16}):([A-Za-z~][\w~.-]{0,80}/[\w~./-]{1,200})"
)
_GIT: Final = ".git"


class Addresses:
    """What was shown of addresses, read when it is first asked for.

    Args:
        sources: What was shown.
        stands: Whether a word stands in it by itself.
    """

    def __init__(self, sources: Sources, stands: Callable[[str], bool]) -> None:
        self.sources = sources
        self.stands = stands

    def holds_url(self, name: str) -> bool:
        """Return whether an address begins one that was shown, up to a `/`, `?` or `#`.

        So does the page of a pull request the page of its files. A remote of git is the address of
        its repository: `git@host:a/b.git` is `host/a/b`.

        Args:
            name: The address as its key has it, without scheme.
        """
        return name.removesuffix(_GIT) in self._beginnings

    def holds_login(self, mail: str) -> bool:
        """Return whether what looks like a mail's address is that of a remote: `git@host`."""
        user, _, host = mail.partition("@")
        return user == "git" and host in self._beginnings

    def names(self, name: str) -> bool:
        """Return whether an id, a number or a hash is a whole segment of an address or a path.

        As 17 is of `https://github.com/acme/web/pull/17`.
        """
        return name in self._segments

    def names_hash(self, digits: str) -> bool:
        """Return whether the digits of a commit begin a segment of an address."""
        return any(segment.startswith(digits) for segment in self._segments)

    def holds_path(self, path: str) -> bool:
        """Return whether a path is a folder and a path in it that were shown, or is of a home."""
        return self._is_joined(path) or self._is_of_home(path)

    def _is_joined(self, path: str) -> bool:
        places = self.sources.places
        for at in range(1, min(len(path), 300)):
            if path[at] == "/" and f"path:{path[:at]}" in places:
                rest = path[at + 1 :]
                if f"path:{rest}" in places or (_FILE.fullmatch(rest) and self.stands(rest)):
                    return True
        return False

    def _is_of_home(self, path: str) -> bool:
        """Return whether a path from `~` was shown with the home directory in full."""
        if not path.startswith("~/"):
            return False
        homes = (key for key in self.sources.places if key.startswith(_HOMES))
        rest = path[1:].lower()
        found = filter(None, map(_HOME.match, homes))
        return any(home.string[home.end() :].lower() == rest for home in found)

    @once
    def _beginnings(self) -> frozenset[str]:
        """Every address that was shown, and what stands before each end of a part of it."""
        found: set[str] = set()
        for name in self._all():
            found.add(name.removesuffix(_GIT))
            ends = islice(_ENDS.finditer(name), _MOST_ENDS)
            found.update(name[: end.start()] for end in ends)
        return frozenset(found)

    def _all(self) -> Iterator[str]:
        """Yield the addresses that were shown, as their keys have them, and the remotes."""
        for key in self.sources.places:
            if key.startswith("url:"):
                name = key.removeprefix("url:")
                yield name.removeprefix("git@")
        for text in self.sources.texts:
            for host, path in _REMOTE.findall(text):
                yield f"{host.lower()}/{path.rstrip('./')}"

    @once
    def _segments(self) -> frozenset[str]:
        """The segments of all addresses and paths that were shown, in small letters."""
        found: set[str] = set()
        for key in self.sources.places:
            if key.startswith(("url:", "path:")):
                found.update(_SEGMENTS.split(key.partition(":")[2].lower()))
        return frozenset(found)
