"""An agent on call: logs full of values, few of which matter, and actions with ids of their own."""

from __future__ import annotations

import random

from .generate import Writer, words
from .gold import Item

_SERVICES = words("checkout catalog payments gateway identity shipping pricing search")
_ZONES = words("eu-west-1a eu-west-1b us-east-1c us-east-2a ap-south-1b")
_WORDS = (
    "upstream closed the connection before the answer was complete, trying the next replica",
    "the query took longer than allowed; the planner chose a full scan over the index",
    "connection pool is at its limit, callers are waiting in line for a free connection",
    "the entry was not in the cache and had to be read from the database",
    "request finished, headers and body were sent, and the connection goes back to the pool",
    "health check answered, every dependency of this instance is reachable",
)


def operations(rng: random.Random, tokens: int) -> list[Item]:
    """Return a history of about that size: a shift in which the same few services fail again."""
    return _Duty(rng).run(tokens)


class _Service:
    """A service, as the agent comes to know it."""

    def __init__(self, w: Writer, name: str) -> None:
        rng = w.rng
        self.name = name
        self.pods = [pod(w, name) for _ in range(5)]
        self.releases = [
            f"v{rng.randint(2, 9)}.{rng.randint(0, 40)}.{rng.randint(0, 9)}" for _ in range(4)
        ]
        self.config = {
            "endpoint": f"https://{name}.internal:{rng.randint(2000, 9999)}/healthz",
            "database": f"pg-{name}-{rng.randint(100, 999)}.db.internal",
            "image": f"registry.internal/{name}@sha256:{w.hexadecimal(16)}",
            "runbook": f"/srv/runbooks/{name}/{rng.choice(_ZONES)}.md",
        }
        self.ticket = ""
        self.limit = ""
        self.known = False


def pod(w: Writer, service: str) -> str:
    """Return the name of a new pod."""
    return f"{service}-{w.hexadecimal(9)}-{w.hexadecimal(5)}"


class _Duty:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.w = Writer(rng, "You are an on-call engineer's agent. Act carefully.")
        self.services = [_Service(self.w, name) for name in _SERVICES]
        self.at = self.services[0]
        self.seen: list[_Service] = []
        self.made: list[str] = []

    def run(self, tokens: int) -> list[Item]:
        while self.w.size < tokens:
            again = bool(self.seen) and self.rng.random() < 0.5
            self.at = self.w.again(self.seen) if again else self.rng.choice(self.services)
            self._again() if self.at in self.seen else self._incident()
            self._work()
        return self.w.items

    def _incident(self) -> None:
        rng, w, at = self.rng, self.w, self.at
        at.limit = f"{rng.randint(100, 900)}.5 ms"
        at.ticket = f"INC-{rng.randrange(10_000, 99_999)}"
        w.user(
            f"Alert: p99 of {at.name} is above {at.limit} since {w.clock()[:5]}. Find out why. "
            f"Ticket {at.ticket}. Don't restart {at.pods[0]}, it holds a debug session."
        )
        w.call(
            "get_service",
            {"service": at.name, "replicas": 5, "releases": at.releases, **at.config},
            service=at.name,
        )
        w.call("list_pods", {"pods": at.pods}, service=at.name)
        self.seen.append(at)

    def _again(self) -> None:
        self.w.user(f"It is about {self.at.name} again: the same as before. Have another look.")
        self.seen.append(self.at)

    def _work(self) -> None:
        steps = [self._logs] * 5 + [self._metrics, self._read] + [self._probe, self._act] * 2
        for _ in range(self.rng.randint(6, 14)):
            self.rng.choice(steps)()
        w, at = self.w, self.at
        if self.made:
            w.call("get_change", {"status": "succeeded"}, change=w.again(self.made))
        w.call(
            "update_ticket",
            {"status": "resolved"},
            ticket=at.ticket,
            note=f"p99 is below {at.limit} again",
            runbook=at.config["runbook"],
        )
        w.answer(f"{at.name} is below {at.limit} again. {at.pods[0]} was left alone.")

    def _logs(self) -> None:
        rng, w = self.rng, self.w
        minute, lines = w.clock()[:5], []
        for second in range(rng.randint(8, 22)):
            level = rng.choice(("INFO", "INFO", "INFO", "WARN", "ERROR"))
            trace = f" trace={w.hexadecimal(12)}" if level == "ERROR" and second % 2 else ""
            lines.append(f"{minute}:{second:02} {level} {rng.choice(_WORDS)}{trace}")
        w.call("logs", "\n".join(lines), pod=rng.choice(self.at.pods), since="15m")

    def _read(self) -> None:
        path = self.at.config["runbook"]
        self.w.call("read_file", self.w.prose(self.rng.randint(15, 40)), path=path)

    def _metrics(self) -> None:
        result = {"p50": self.rng.randrange(10, 90), "p99": self.rng.randrange(100, 900)}
        self.w.call("metrics", {**result, "unit": "ms"}, service=self.at.name)

    def _probe(self) -> None:
        result = {"ok": self.rng.random() < 0.7, "took": self.rng.randrange(1, 900)}
        key = self.rng.choice(sorted(self.at.config))
        self.w.call("probe", result, target=self.at.config[key])

    def _act(self) -> None:
        rng, w, at = self.rng, self.w, self.at
        change = f"CHG{rng.randrange(100_000, 999_999)}"
        if rng.random() < 0.5:
            new = pod(w, at.name)
            result = {"change": change, "status": "done", "started": new}
            w.call("restart_pod", result, pod=at.pods.pop(rng.randrange(1, 5)))
            at.pods.append(new)
        else:
            result = {"change": change, "status": "done"}
            w.call("roll_back", result, service=at.name, release=rng.choice(at.releases))
        self.made.append(change)
