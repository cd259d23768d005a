"""Whether a shell command changes things, by the first words of each command in it.

Not here: which tools are shells (`effects`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

__all__ = ["effect_of_command"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_READS = _words(
    "[ ag alias awk basename bat bc cal cat cd cksum clear cloc cmp column comm curl cut date df "
    "diff dig dir dirname du echo egrep env exit expr false fd fdfind fgrep file find fold free "
    "gci getconf grep groups head hexdump history host hostname htop id ifconfig ip jobs "
    "join jq last less ll locate ls lsblk lscpu lsof man md5sum more mypy netstat nl nproc "
    "nslookup od paste pgrep ping popd printenv printf ps pushd pwd pylint pyright pytest "
    "readlink realpath rg ruff sed seq set sha1sum sha256sum sleep sort ss stat strings tac tail "
    "test time top tr traceroute tree true type ulimit uname uniq uptime wc whereis "
    "which who whoami xxd yes yq zcat zgrep"
)
_WRITES = _words(
    "apply_patch apt apt-get brew chgrp chmod chown cp createdb crontab dd dnf dropdb ed groupadd "
    "gunzip gzip install kill killall launchctl ln mkdir mkfifo mktemp mount mv patch pkill "
    "poweroff reboot rename rm rmdir rsync scp service sftp shred shutdown snap ssh-keygen "
    "systemctl tee touch truncate umount unlink unzip useradd userdel usermod vi vim wget yum "
    "zip"
)
_GIT_READS = (
    "blame branch cat-file describe diff grep help log ls-files ls-remote ls-tree reflog "
    "remote rev-list rev-parse shortlog show show-ref status whatchanged"
)
_GIT_WRITES = (
    "add am apply bisect checkout cherry-pick clean clone commit config fetch gc init "
    "merge mv pull push rebase reset restore revert rm stash submodule switch tag worktree"
)
# Programs whose next word decides; what is not listed is unknown.
_SUBCOMMANDS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    program: (_words(reads), _words(writes))
    for program, reads, writes in (
        ("git", _GIT_READS, _GIT_WRITES),
        ("pip", "check freeze help index inspect list show", "download install uninstall wheel"),
        ("npm", "audit ls list outdated search test view", "ci i install publish uninstall update"),
        ("docker", "images inspect logs ps stats top version", "build exec pull push rm rmi run"),
        ("kubectl", "describe get logs top version", "apply create delete edit patch rollout"),
        ("gh", "search status", "auth"),
        ("cargo", "check clippy test tree", "add build install publish remove update"),
        ("go", "doc env list test vet version", "build get install mod"),
        ("conda", "info list search", "create install remove update"),
        ("terraform", "plan show validate version", "apply destroy import"),
        ("make", "check test lint", "build clean install"),
    )
}
_ALIASES = {"pip3": "pip", "uv": "pip", "yarn": "npm", "pnpm": "npm", "podman": "docker"}
_BEFORE = _words("command env exec nice nohup stdbuf sudo time timeout xargs")
_CHANGING_FLAGS: Mapping[str, re.Pattern[str]] = {
    "sed": re.compile(r"-i|--in-place|-[a-zA-Z]*i"),
    "find": re.compile(r"-delete|-exec|-execdir|-ok"),
    "curl": re.compile(r"-X|--request|-d|--data.*|-F|--form|-T|-o|-O|--output"),
    "ruff": re.compile(r"--fix|format"),
    "sort": re.compile(r"-o"),
    "date": re.compile(r"-s|--set.*"),
}
_SEPARATORS = re.compile(r"&&|\|\||[;|\n&]")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_TO_A_FILE = re.compile(r"(?<![-=<])(?:\d|&)?>>?(?!&)(?!\s*/dev/null)(?!\()")
_HARMLESS = re.compile(r"(?:\d|&)?>>?\s*(?:/dev/null|&\d)")
_ASSIGNMENT = re.compile(r"\w+=\S*")
_LONGEST = 4000  # characters of a command that are looked at; quotes that never close cost most


def effect_of_command(command: str) -> Literal["read", "write", "unknown"]:
    """Return whether a command line changes things; one command that does is enough."""
    bare = _HARMLESS.sub(" ", _QUOTED.sub("''", command[:_LONGEST]))
    if not bare.strip():
        return "unknown"
    if _TO_A_FILE.search(bare):
        return "write"
    effects = {_of_one(part.split()) for part in _SEPARATORS.split(bare) if part.strip()}
    if "write" in effects:
        return "write"
    return "read" if effects == {"read"} and len(command) <= _LONGEST else "unknown"


def _of_one(words: list[str]) -> Literal["read", "write", "unknown"]:
    """Return the effect of one simple command, given as its words."""
    while words and (
        _ASSIGNMENT.fullmatch(words[0]) or words[0] in _BEFORE or words[0][:1].isdigit()
    ):
        words = words[1:]
    if not words or words[0].startswith("#"):
        return "read"
    program = words[0].strip("()`{}").rpartition("/")[2]
    program = _ALIASES.get(program, program)
    rest = words[1:]
    if program in ("python", "python3") and rest[:2] == ["-m", "pytest"]:
        return "read"
    if program in _SUBCOMMANDS:
        reads, writes = _SUBCOMMANDS[program]
        for word in rest:
            if word in reads or word == "--version":
                return "read"
            if word in writes:
                return "write"
        return "unknown"
    if program in _WRITES:
        return "write"
    if program not in _READS:
        return "unknown"
    changing = _CHANGING_FLAGS.get(program)
    if changing is not None and any(changing.fullmatch(word) for word in rest):
        return "write"
    return "read"
