"""Paths, addresses and host names: what is one, and how two of them are compared.

Not here: other words (`words`), the search for them in a text (`typed`).
"""

from __future__ import annotations

from chatfold.core.values.kinds import Keys
from chatfold.core.values.terms import DOMAINS, EXTENSIONS, ROOTS

__all__ = ["host_name", "path_keys", "url_keys"]

_SEGMENTS = 12
_ROOTS = 3
_OBJECTS = frozenset(
    ["self", "cls", "this", "super", "np", "pd", "os", "sys", "df"]
)  # self.log is no file


def host_name(word: str) -> str:
    """Return a host name in lower case and without `www.`, "" where a word is none."""
    parts = word.lower().split(".")
    if len(parts) < 2 or not all(parts) or "_" in word or word.strip("0123456789.") == "":
        return ""
    if parts[0] == "www":
        parts = parts[1:] if len(parts) > 2 else []
        return ".".join(parts)
    good = word.islower() and parts[-1] in DOMAINS and len(parts[-2]) > 1
    return ".".join(parts) if good else ""


def path_keys(path: str) -> Keys | None:
    r"""Return the keys of a path, or None where words only share a slash, as in "and/or".

    The key is the path with `/` for `\`, without a leading `./` and a closing `/`; capitals count.
    It vouches for its ends (`views.py`, `core/views.py`) and its beginnings (`src`, `src/core`),
    the latter also from a directory that is a usual root (`src` in `/home/me/p/src/core`).
    """
    plain = path.replace("\\\\", "/").replace("\\", "/")
    while plain.startswith("./"):
        plain = plain[2:]
    parts = [part for part in plain.split("/") if part]
    if not parts or not _is_path(path, plain, parts):
        return None
    lead = "/" if plain[0] == "/" else ""
    key = f"path:{lead}{'/'.join(parts)}"
    if len(parts) > _SEGMENTS:
        parts = parts[-_SEGMENTS:]
    ends = [f"path:{'/'.join(parts[n:])}" for n in range(len(parts) - 1, 0, -1)]
    if lead:
        ends.append(f"path:{'/'.join(parts)}")
    also = ends + [f"path:{lead}{'/'.join(parts[:n])}" for n in range(1, len(parts))]
    roots = [n for n, part in enumerate(parts) if n and part in ROOTS][:_ROOTS]
    also += [
        f"path:{'/'.join(parts[root:n])}" for root in roots for n in range(root + 1, len(parts))
    ]
    return key, tuple(also)


def _is_path(path: str, plain: str, parts: list[str]) -> bool:
    if not any(map(str.isalnum, plain)):
        return False
    last = parts[-1]
    stem, dot, extension = last.rpartition(".")
    file = (
        bool(dot)
        and extension.lower() in EXTENSIONS
        and stem not in _OBJECTS
        and (extension.islower() or not extension.isalpha() or stem.isupper())
    )
    if len(parts) == 1 and "/" not in plain[:-1]:
        rooted = plain[-1] == "/" and last.lower() in ROOTS
        return rooted or (file and (bool(stem) or path == plain))
    if path[0] in "/~." or "\\" in path or file:
        return True
    if all(map(str.isdigit, parts)):
        return False
    return parts[0] in ROOTS or (len(parts) > 2 and not all(map(str.isalpha, parts)))


def url_keys(url: str) -> Keys:
    """Return the keys of an address, or of one that lacks its scheme.

    The key has no scheme, no `www.`, no closing `/`, and the host in lower case. It vouches for
    the host alone, the address without query and fragment, and for the path by itself.
    """
    rest = url.partition("://")[2] or url
    host, _, path = rest.partition("/")
    host = host.lower().removeprefix("www.")
    path = path.rstrip("/")
    if not path:
        return f"url:{host}", ()
    bare = path.partition("#")[0].partition("?")[0].rstrip("/")
    also = [f"url:{host}"]
    if bare and bare != path:
        also.append(f"url:{host}/{bare}")
    if bare:
        also += (f"path:/{bare}", f"path:{bare.rpartition('/')[2]}")
    return f"url:{host}/{path}", tuple(also)
