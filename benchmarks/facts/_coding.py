"""A coding agent: one request, then a hundred calls and more in one turn."""

from __future__ import annotations

import random

from .generate import Writer, words
from .gold import Item

_AREAS = words("billing auth search export cache mailer queue invoice report session upload audit")
_PARTS = words("service models views client schema parser worker utils errors config handlers")
_VERBS = words("load save parse build check apply merge render resolve flush encode retry")
_NOUNS = words("order token batch record page window cursor header ledger lease bundle row")
_ERRORS = words("KeyError ValueError TimeoutError AssertionError TypeError LookupError")


def coding(rng: random.Random, tokens: int) -> list[Item]:
    """Return a history of about that size: search, open, edit, test, commit, and all over again."""
    return _Session(rng).run(tokens)


class _Session:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.w = Writer(rng, "You are a coding agent. Work in the repository until you are done.")
        self.files = [self._file() for _ in range(150)]
        self.listed: list[tuple[str, int]] = []
        self.opened: list[str] = []
        self.commits: list[str] = []
        self.issue = f"{rng.choice(_AREAS).upper()}-{rng.randrange(1000, 9999)}"
        self.branch = f"fix/{self.issue.lower()}-{rng.choice(_NOUNS)}"
        self.target = rng.choice(self.files)
        self.test = self._test_of(self.target)
        self.python = f"3.{rng.randint(9, 13)}.{rng.randint(0, 19)}"

    def run(self, tokens: int) -> list[Item]:
        self._request()
        chosen = (
            [self._search] * 4 + [self._open] * 9 + [self._edit] * 5 + [self._tests] * 4
            + [self._commit, self._history, self._request_again]
        )  # fmt: skip
        while self.w.size < tokens:
            self.rng.choice(chosen)()
        self._finish()
        return self.w.items

    def _file(self) -> str:
        area, part = self.rng.choice(_AREAS), self.rng.choice(_PARTS)
        return f"src/{area}/{self._name()}_{part}.py"

    def _test_of(self, file: str) -> str:
        _, area, name = file.split("/")
        return f"tests/{area}/test_{name}"

    def _name(self) -> str:
        return f"{self.rng.choice(_VERBS)}_{self.rng.choice(_NOUNS)}"

    def _code(self) -> str:
        name, other, number = self._name(), self._name(), self.rng.randrange(2, 90)
        return self.rng.choice(
            [
                f"    def {name}(self, {other.split('_')[1]}: str) -> None:",
                f"        {other.split('_')[1]} = self.{name}({number})",
                f"        if not self.{name}({other.split('_')[1]}):",
                f"            raise {self.rng.choice(_ERRORS)}(f'{other} failed')",
                f"        return {name}({other.split('_')[1]}, limit={number})",
                f"        # {other} is called with the lock held",
                f"        log.debug('{name} %s', {other.split('_')[1]})",
                "",
            ]
        )

    def _request(self) -> None:
        self.w.user(
            f"Please fix {self.issue}: `{self._name()}` in {self.target} raises "
            f"{self.rng.choice(_ERRORS)} when the window is empty. Work on the branch "
            f"{self.branch}, never touch src/{self.rng.choice(_AREAS)}/migrations.py, and keep it "
            f"working on Python {self.python}. {self.test} must pass in the end."
        )

    def _request_again(self) -> None:
        if self.rng.random() > 0.15 or len(self.opened) < 3:
            return
        file = self.rng.choice(self.files)
        self.w.answer(f"The main part is done in {self.w.again(self.opened)}; tests are running.")
        self.w.user(f"Good. Look at {file} as well, there was a report of {self._name()} there.")

    def _search(self) -> None:
        name = self._name()
        hits = [(self.rng.choice(self.files), self.rng.randrange(10, 900)) for _ in range(8)]
        self.listed += hits[: self.rng.randint(1, 4)]
        lines = [f"{file}:{line}:{self._code() or '    pass'}" for file, line in hits]
        self.w.call("bash", "\n".join(lines), command=f"grep -rn {name} src")

    def _pick(self) -> tuple[str, int | None]:
        """Choose the file to look at: mostly one that was looked at, or listed, before."""
        chance = self.rng.random()
        if chance < 0.5 and self.opened:
            return self.w.again(self.opened), None
        if chance < 0.85 and self.listed:
            return self.w.again(self.listed)
        if chance < 0.93:
            return self.target, None
        return (self.test, None) if chance < 0.97 else (self.rng.choice(self.files), None)

    def _open(self) -> None:
        file, line = self._pick()
        first = line or self.rng.randrange(1, 300)
        body = "\n".join(self._code() for _ in range(self.rng.randint(25, 60)))
        arguments = {"path": file, "line": line} if line else {"path": file}
        self.w.call("open_file", f"[File: {file}, from line {first}]\n{body}", **arguments)
        self.opened.append(file)

    def _edit(self) -> None:
        if not self.opened:
            return
        file = self.w.again(self.opened)
        new = "\n".join(self._code() for _ in range(self.rng.randint(3, 9)))
        self.w.call("edit_file", f"Edited {file}: ok", path=file, old=self._code(), new=new)
        self.opened.append(file)

    def _tests(self) -> None:
        sources = [f for f in self.opened if "tests" not in f]
        near = sources and self.rng.random() < 0.5
        file = self._test_of(self.w.again(sources)) if near else self.test
        lines = [
            f"{self._test_of(self.rng.choice(self.files))}::test_{self._name()} PASSED "
            f"[{n * 20:3}%]"
            for n in range(5)
        ]
        failed, line = self.rng.choice(self.files), self.rng.randrange(100, 900)
        lines.append(f"{failed}:{line}: {self.rng.choice(_ERRORS)}: {self._name()}")
        self.listed.append((failed, line))
        self.w.call("bash", "\n".join(lines), command=f"python -m pytest -x {file}")

    def _commit(self) -> None:
        if not self.opened:
            return
        made = self.w.hexadecimal(10)
        file = self.w.again(self.opened)
        self.w.call(
            "bash",
            f"[{self.branch} {made}] {self.issue}: {self._name()}\n 1 file changed, "
            f"{self.rng.randrange(2, 99)} insertions(+)",
            command=f"git commit -m '{self.issue}: {self._name()}' {file}",
        )
        self.commits.append(made)

    def _history(self) -> None:
        if not self.commits:
            return
        others = [
            f"{self.w.hexadecimal(10)} {self.w.day()} {self._name()} ({self._name()})"
            for _ in range(5)
        ]
        made = self.w.again(self.commits)
        self.w.call("bash", "\n".join(others), command=f"git log --oneline {made}..main")

    def _finish(self) -> None:
        self.w.call(
            "bash", "everything passed", command=f"python{self.python[:4]} -m pytest {self.test}"
        )
        self.w.call("bash", "pushed", command=f"git push origin {self.branch}")
        commits = ", ".join(dict.fromkeys(self.commits[-3:]))
        self.w.answer(
            f"{self.issue} is fixed in {self.target} (commits {commits}) on {self.branch}; it "
            f"works on Python {self.python}, and {self.test} passes."
        )
