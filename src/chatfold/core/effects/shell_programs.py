"""What is known of the programs of a shell: which only look, which change things, and by what.

Not here: how a command line is taken apart (`shell_commands`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from chatfold.core.word_sets import word_set

__all__ = [
    "ALIASES",
    "CHECKING",
    "FLAGS",
    "GROUPS",
    "LISTING",
    "LOOKING",
    "OPERANDS",
    "PROGRAMS",
    "READS",
    "TOOLS",
    "VALUED",
    "WRITES",
    "Flags",
    "Group",
    "Listing",
]


READS = word_set(
    "Format-List Format-Table Measure-Object Out-Host Out-String Select-Object Select-String "
    "Sort-Object Where-Object Write-Host Write-Output [ ag alias awk bandit basename bat bc cal "
    "cat cd cksum clang-format clear cloc cmp column comm curl cut date df diff dig dir dirname "
    "dmesg done du echo egrep env eslint exit export expr false fd fdfind fgrep fi file find "
    "findstr flake8 fold for free gci getconf gofmt grep groups head hexdump history host "
    "hostname htop id ifconfig iostat ipconfig jest jobs join journalctl jq last less ll locate "
    "ls lsblk lscpu lsmod lsof man md5sum mdfind mocha more mypy netstat nl nproc nslookup "
    "nvidia-smi od paste pgrep phpunit ping popd prettier printenv printf ps pushd pwd pylint "
    "pyright pytest readlink realpath rg rspec sed seq set sha1sum sha256sum shellcheck sleep "
    "sort ss stat strings sw_vers systemd-analyze systeminfo tac tail tasklist test time tokei "
    "top tr traceroute tree true type ulimit uname uniq unittest uptime vitest vmstat wc where "
    "whereis which who whoami xxd yes yq zcat zgrep"
)
WRITES = word_set(
    "ansible-playbook apply_patch apt apt-get black brew chgrp chmod chown chpasswd copy cp "
    "createdb createuser crontab csplit dd del dnf dropdb dropuser ed erase groupadd gunzip gzip "
    "install isort kill killall launchctl ln md mkdir mkfifo mkfs mktemp mount move mv passwd "
    "patch pg_restore pkill poweroff rd reboot ren rename rm rmdir robocopy rsync rustfmt scp "
    "service sftp shred shutdown snap split ssh-copy-id ssh-keygen systemctl tar taskkill tee "
    "touch truncate umount unlink unzip useradd userdel usermod venv vi vim virtualenv wget xcopy "
    "yum zip"
)
ALIASES = {
    **dict.fromkeys(("pip3", "pipenv", "poetry", "uv"), "pip"),
    **dict.fromkeys(("bun", "pnpm", "yarn"), "npm"),
    **dict.fromkeys(("gradlew", "gradle", "mvnw"), "mvn"),
    **dict.fromkeys(("just", "task"), "make"),
    "docker-compose": "docker compose",
    "oc": "kubectl",
    "podman": "docker",
}
# Tools whose subcommands say in plain words what they do: `aws ec2 describe-instances`.
TOOLS = frozenset(
    (
        *("argocd", "aws", "az", "bq", "consul", "doctl", "eksctl", "firebase", "flask", "fly"),
        *("flyctl", "gcloud", "glab", "gsutil", "hcloud", "helm", "heroku", "ibmcloud", "netlify"),
        *("nomad", "oci", "openstack", "php artisan", "prisma", "pulumi", "python manage.py"),
        *("rails", "rake", "railway", "redis-cli", "scw", "stripe", "supabase", "twilio", "vault"),
        *("vercel", "wrangler"),
    )
)

# With these words such a tool looks; others that read in the name of a tool, as `load`, may not.
LOOKING = word_set(
    "cat check count describe diff events explain find get help history info inspect list log logs "
    "lookup ls output plan preview ps read scan search show stat stats status tail test top "
    "tree validate verify version view wait whoami"
)


def _flags(text: str) -> re.Pattern[str]:
    """Return what finds one of some flags among the words behind a program."""
    return re.compile(rf"(?:^|\s)(?:{text.replace(' ', '|')})(?=[=\s]|$)")


# Programs that change things, but for one of these flags.
CHECKING: Mapping[str, re.Pattern[str]] = {
    "black": _flags("--check --diff"),
    "cargo fmt": _flags("--check"),
    "crontab": _flags("-l"),
    "git config": _flags("-l --get --get-all --get-regexp --list"),
    "isort": _flags("-c --check --check-only --diff"),
    "ruff format": _flags("--check --diff"),
    "rustfmt": _flags("--check"),
    "service": re.compile(r"(?:^|\s)(?:--status-all|status)$"),
    "tar": re.compile(r"^-?[^\s\-cxruA]*t|(?:^|\s)--list\b"),
    "terraform fmt": _flags("-check -diff"),
    "tsc": _flags("--noEmit"),
    "unzip": _flags("-l -t -v -Z"),
    "wget": re.compile(r"(?:^|\s)(?:--spider|-\w*O\s?-|--output-document=-)(?=\s|$)"),
}


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
_TARGETS = "build clean deploy fix format install migrate package publish release"
_ADDRESSES = "add append change del delete flush replace set"
GROUPS: Mapping[str, Group] = (
    {
        key: Group(word_set(reads), word_set(writes))
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
                "ls list outdated search test view why",
                "add ci i install publish uninstall update version",
            ),
            ("bundle", "check info list outdated show", "add install lock remove update"),
            ("gem", "info list outdated search", "install push uninstall update"),
            ("brew", "config deps info leaves list outdated search", "install uninstall upgrade"),
            ("alembic", "branches check current heads history show", "downgrade revision upgrade"),
            ("dotnet", "test", "add build clean pack publish remove restore"),
            (
                "systemctl",
                (
                    "cat is-active is-enabled is-failed list-dependencies list-timers "
                    "list-unit-files list-units show status"
                ),
                (
                    "daemon-reload disable edit enable isolate kill mask reload reset-failed "
                    "restart start stop unmask"
                ),
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
            ("kubectl auth", "can-i whoami", "reconcile"),
            ("kubectl rollout", "history status", "pause restart resume undo"),
            ("kubectl config", "current-context get-contexts view", "set-context use-context"),
            ("gh", "api search status", "auth"),
            ("cargo", "check clippy test tree", "add build fmt install publish remove update"),
            ("go", "doc env list test vet version", "build fmt get install mod"),
            ("conda", "info list search", "create install remove update"),
            ("conda env", "list", "create remove update"),
            ("terraform", "output plan show validate version", "apply destroy fmt import init"),
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
        key: Group(word_set(reads), word_set(writes), alone="read")
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
            word_set("list show"),
            word_set("apply branch clear create drop pop push save store"),
            alone="write",
        ),
        "make": Group(word_set("check lint test"), word_set(_TARGETS), mixed=True),
        "mvn": Group(word_set("check dependencies test"), word_set(_TARGETS), mixed=True),
        "npm run": Group(
            word_set("check lint test type-check typecheck"), word_set(_TARGETS), mixed=True
        ),
    }
)
# Short flags and long ones behind which a value follows that is no word of its own.
VALUED: Mapping[str, frozenset[str]] = {
    program: word_set(flags)
    for program, flags in (
        ("sudo", "-C -D -g -h -p -R -T -u --group --user"),
        ("env", "-C -S -u --chdir --unset"),
        ("nice", "-n --adjustment"),
        ("timeout", "-k -s --kill-after --signal"),
        ("watch", "-n --interval"),
        ("xargs", "-a -d -E -I -L -n -P -s --delimiter --max-args --max-procs"),
        ("ssh", "-b -c -D -E -F -i -J -L -l -m -o -p -R -W"),
        ("npx", "-p --package"),
        *((f"{kind} run", "--extra --group --project --with") for kind in ("poetry", "uv")),
        *(
            (f"{kind} exec", "-c -e -n -u -w --container --env --namespace --user --workdir")
            for kind in ("docker", "docker compose", "kubectl", "oc")
        ),
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
    program: Flags(short, word_set(long), valued)
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
        ("gh api", "fFX", "field input method raw-field", "Hqt"),
        ("awk", "il", "include load", "Ffv"),
        ("cargo clippy", "", "fix", ""),
        ("clang-format", "i", "", ""),
        ("cloc", "", "out report-file", ""),
        ("date", "s", "set", "dfrI"),
        ("fd", "xX", "exec exec-batch", "cdeEjSt"),
        ("eslint", "o", "fix output-file", "c"),
        ("dmesg", "cCD", "clear read-clear", ""),
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
        ("gofmt", "w", "", ""),
        ("history", "acdrw", "", ""),
        ("hostname", "bF", "boot file", ""),
        ("journalctl", "", "rotate vacuum-files vacuum-size vacuum-time", ""),
        ("less", "oO", "log-file LOG-FILE", "bhjkpPtTxyz"),
        ("mypy", "", "install-types", "cmp"),
        ("npm audit", "", "fix", ""),
        ("npm run", "", "fix write", ""),
        ("prettier", "w", "write", ""),
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
    program: Flags("", word_set(long), one_dash=True)
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

PROGRAMS = word_set(
    "argocd aws az cargo docker doctl eksctl gcloud gh git glab gsutil helm kubectl npm oc pip "
    "pip3 pnpm podman pulumi terraform yarn"
)
"""Those that do what their subcommands say, and whose names are no common words."""
