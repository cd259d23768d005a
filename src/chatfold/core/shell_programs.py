"""What is known of the programs of a shell: which only look, which change things, and by what.

Not here: how a command line is taken apart (`shell_commands`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

__all__ = [
    "ALIASES",
    "FLAGS",
    "GROUPS",
    "LISTING",
    "OPERANDS",
    "READS",
    "VALUED",
    "WRITES",
    "Flags",
    "Group",
    "Listing",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


READS = _words(
    "[ ag alias awk basename bat bc cal cat cd cksum clear cloc cmp column comm curl cut date df "
    "diff dig dir dirname du echo egrep env exit export expr false fd fdfind fgrep file find fold "
    "free gci getconf grep groups head hexdump history host hostname htop id ifconfig jobs "
    "join jq last less ll locate ls lsblk lscpu lsof man md5sum more mypy netstat nl nproc "
    "nslookup od paste pgrep ping popd printenv printf ps pushd pwd pylint pyright pytest "
    "readlink realpath rg sed seq set sha1sum sha256sum sleep sort ss stat strings tac tail "
    "test time top tr traceroute tree true type ulimit uname uniq uptime wc whereis "
    "which who whoami xxd yes yq zcat zgrep"
)
WRITES = _words(
    "apply_patch apt apt-get brew chgrp chmod chown cp createdb crontab dd dnf dropdb ed groupadd "
    "gunzip gzip install kill killall launchctl ln mkdir mkfifo mktemp mount mv patch pkill "
    "poweroff reboot rename rm rmdir rsync scp service sftp shred shutdown snap ssh-keygen "
    "systemctl tee touch truncate umount unlink unzip useradd userdel usermod vi vim wget yum "
    "zip"
)
ALIASES = {"pip3": "pip", "uv": "pip", "yarn": "npm", "pnpm": "npm", "podman": "docker"}


class Group(NamedTuple):
    """Words that may follow a program, or a program and a word; what is in neither is unknown.

    Attributes:
        reads: Those that only look.
        writes: Those that change things.
        alone: What it does where none follows.
        mixed: Whether each of several words is one of these, as the targets of `make` are.
    """

    reads: frozenset[str]
    writes: frozenset[str]
    alone: Literal["read", "write", "unknown"] = "unknown"
    mixed: bool = False


_CONTAINERS = (
    "attach build commit connect cp create disconnect down exec import kill load pause prune pull "
    "push remove rename restart rm run save start stop tag unpause up update"
)
_AT_GITHUB = (
    "archive cancel checkout close comment create delete disable download edit enable fork lock "
    "merge pin ready rename reopen rerun review run sync transfer unlock upload"
)
_ADDRESSES = "add append change del delete flush replace set"
GROUPS: Mapping[str, Group] = (
    {
        key: Group(_words(reads), _words(writes))
        for key, reads, writes in (
            (
                "git",
                (
                    "blame cat-file describe diff grep help log ls-files ls-remote ls-tree "
                    "rev-list rev-parse shortlog show show-ref status whatchanged"
                ),
                (
                    "add am apply bisect checkout cherry-pick clean clone commit config fetch gc "
                    "init merge mv pull push rebase reset restore revert rm submodule switch "
                    "worktree"
                ),
            ),
            (
                "pip",
                "check freeze help index inspect list show tree",
                "add download install lock remove sync uninstall wheel",
            ),
            (
                "npm",
                "ls list outdated search test view",
                "add ci i install publish uninstall update",
            ),
            ("docker", "images inspect logs ps stats top version", _CONTAINERS + " rmi"),
            (
                "kubectl",
                "describe get logs top version",
                (
                    "annotate apply autoscale cordon cp create delete "
                    "drain edit expose label patch replace rollout run scale set taint uncordon"
                ),
            ),
            ("kubectl config", "current-context get-contexts view", "set-context use-context"),
            ("gh", "search status", "auth"),
            ("cargo", "check clippy test tree", "add build install publish remove update"),
            ("go", "doc env list test vet version", "build get install mod"),
            ("conda", "info list search", "create install remove update"),
            ("conda env", "list", "create remove update"),
            ("terraform", "plan show validate version", "apply destroy import"),
            ("terraform state", "list pull show", "mv push replace-provider rm"),
            ("ruff", "check config help linter rule version", "clean format"),
            *(
                (
                    f"docker {kind}",
                    "history images inspect list logs ls port ps stats top",
                    _CONTAINERS,
                )
                for kind in ("compose", "container", "image", "network", "volume")
            ),
            *(
                (f"gh {kind}", "checks diff list status view watch", _AT_GITHUB)
                for kind in ("issue", "pr", "release", "repo", "run", "workflow")
            ),
        )
    }
    | {
        key: Group(_words(reads), _words(writes), alone="read")
        for key, reads, writes in (
            (
                "git remote",
                "get-url show",
                "add prune remove rename rm set-branches set-head set-url update",
            ),
            ("git reflog", "exists list show", "delete drop expire"),
            ("npm audit", "signatures", "fix"),
            ("ip", "help monitor", ""),
            *(
                (f"ip {kind}", "get list ls show", _ADDRESSES)
                for kind in (
                    "a",
                    "addr",
                    "address",
                    "l",
                    "link",
                    "n",
                    "neigh",
                    "r",
                    "route",
                    "rule",
                )
            ),
        )
    }
    | {
        "git stash": Group(
            _words("list show"),
            _words("apply branch clear create drop pop push save store"),
            alone="write",
        ),
        "make": Group(_words("check lint test"), _words("build clean install"), mixed=True),
    }
)
# Short flags and long ones behind which a value follows that is no word of its own.
VALUED: Mapping[str, frozenset[str]] = {
    program: _words(flags)
    for program, flags in (
        ("git", "-C -c --git-dir --namespace --work-tree"),
        ("npm", "-C -w --prefix --workspace"),
        ("docker", "-H -c -l --config --context --host --log-level"),
        ("docker compose", "-f -p --env-file --file --profile --project-directory --project-name"),
        ("kubectl", "-n -s --cluster --context --kubeconfig --namespace --server --user"),
        ("gh", "-R --repo"),
        ("make", "-C -I -W -f -j -l -o --directory --file --jobs"),
        ("go", "-C"),
        ("conda", "-n -p --name --prefix"),
        ("ip", "-n -netns"),
        ("ruff", "--config"),
    )
}


class Flags(NamedTuple):
    """The flags by which a program that looks changes things.

    Attributes:
        short: Letters of short ones, which may stand in a cluster.
        long: Names of long ones, without dashes.
        valued: Letters of other short ones, behind which the rest of a word is a value.
        one_dash: Whether long ones are written with one dash.
    """

    short: str
    long: frozenset[str]
    valued: str = ""
    one_dash: bool = False


FLAGS: Mapping[str, Flags] = {
    program: Flags(short, _words(long), valued)
    for program, short, long, valued in (
        (
            "curl",
            "cdDFKoOQTX",
            (
                "config cookie-jar data data-ascii data-binary data-raw data-urlencode dump-header "
                "form form-string json output output-dir quote remote-name remote-name-all request "
                "upload-file"
            ),
            "AbCeEhHmPrtuUwxyYz",
        ),
        ("awk", "il", "include load", "Ffv"),
        ("cargo clippy", "", "fix", ""),
        ("cloc", "", "out report-file", ""),
        ("date", "s", "set", "dfrI"),
        ("fd", "xX", "exec exec-batch", "cdeEjSt"),
        ("file", "C", "compile", "Ffm"),
        ("git", "", "output", "GLSU"),
        (
            "git branch",
            "cCdDfmMtu",
            (
                "copy create-reflog delete edit-description force move "
                "set-upstream set-upstream-to track unset-upstream"
            ),
            "",
        ),
        ("git grep", "O", "open-files-in-pager", "ABCef"),
        ("git tag", "adFfmsu", "annotate delete file force local-user message sign", ""),
        ("history", "acdrw", "", ""),
        ("hostname", "bF", "boot file", ""),
        ("less", "oO", "log-file LOG-FILE", "bhjkpPtTxyz"),
        ("mypy", "", "install-types", "cmp"),
        ("npm audit", "", "fix", ""),
        ("pyright", "", "createstub writebaseline", "ptv"),
        ("rg", "", "pre", "ABCefgjmMtT"),
        ("ruff", "o", "add-noqa fix fix-only output-file", ""),
        ("sed", "i", "in-place", "efl"),
        ("sort", "o", "output", "kStT"),
        ("ss", "K", "kill", "AfFN"),
        ("tree", "o", "output", "HILPT"),
        ("yq", "i", "in-place inplace", "IopP"),
    )
} | {
    program: Flags("", _words(long), one_dash=True)
    for program, long in (
        ("find", "delete exec execdir fls fprint fprint0 fprintf ok okdir"),
        ("go env", "u w"),
        ("go test", "c exec o"),
        ("go vet", "fix"),
        ("terraform plan", "generate-config-out out"),
    )
}
# The most operands with which a program only looks: what follows is set, or is written to.
OPERANDS: Mapping[str, int] = {"hostname": 0, "ifconfig": 1, "uniq": 1, "xxd": 1}


class Listing(NamedTuple):
    """A subcommand of git that lists, or else makes what it is given the name of.

    Attributes:
        flags: Those with which it lists.
        patterns: Those with which its operands only say what to list.
        makes: What it does with an operand that no flag makes a pattern.
    """

    flags: re.Pattern[str]
    patterns: re.Pattern[str]
    makes: Literal["write", "unknown"]


_SHOWN = (
    "(?:abbrev|all|color|column|format|ignore-case|no-color|no-column|omit-empty|remotes|"
    "show-current|sort|verbose)(?:=.*)?"
)
_PATTERNS = "--(?:contains|list|merged|no-contains|no-merged|points-at)(?:=.*)?"
LISTING: Mapping[str, Listing] = {
    "git branch": Listing(
        re.compile(f"-[airv]+|--{_SHOWN}"), re.compile(f"-[airv]*l[airv]*|{_PATTERNS}"), "unknown"
    ),
    "git tag": Listing(
        re.compile(f"-i|--{_SHOWN}"), re.compile(rf"-[iln]+\d*|{_PATTERNS}"), "write"
    ),
}
