"""The suite, for each host whose framework is installed, and for one without any framework."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from typing import Any

import pytest
from integrations.conformance import HostConformance
from integrations.conformance_options import OptionConformance
from integrations.host import Host
from integrations.scripts import KINDS

FRAMEWORKS = {  # the modules that a host needs, and what to install for each
    "livekit": {"livekit.agents": '"chatfold[livekit]"'},
    "langchain": {
        "langchain.agents": '"chatfold[langchain]"',
        "langchain_openai": "langchain-openai",
    },
    "openai_agents": {"agents": '"chatfold[openai-agents]"'},
}


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _hosts() -> Iterator[Any]:
    """Yield each host; where what it needs is absent, one that is skipped, with the reason."""
    for name, needed in {"plain": dict[str, str](), **FRAMEWORKS}.items():
        absent = next((module for module in needed if not _installed(module)), None)
        if absent is None:
            host: Host = importlib.import_module(f"integrations.{name}_host").HOST
            yield pytest.param(host, id=name)
        else:
            reason = f"{absent} is not installed: pip install {needed[absent]}"
            yield pytest.param(None, id=name, marks=pytest.mark.skip(reason=reason))


HOSTS = tuple(_hosts())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each test the hosts that can do what it is about."""
    ability = getattr(metafunc.function, "needs", None)
    hosts = [
        param for param in HOSTS if param.values[0] is None or ability not in param.values[0].lacks
    ]
    if "kind" in metafunc.fixturenames:
        cases = [
            pytest.param(*param.values, kind, id=f"{param.id}-{kind}", marks=param.marks)
            for param in hosts
            for kind, needed in KINDS.items()
            if param.values[0] is None or needed not in param.values[0].lacks
        ]
        metafunc.parametrize(("host", "kind"), cases)
    elif "host" in metafunc.fixturenames:
        metafunc.parametrize("host", hosts)


class TestHosts(HostConformance, OptionConformance):
    """Every host."""


def test_what_a_framework_lacks_is_said_with_its_reason() -> None:
    """Nothing is left out of the suite without a word."""
    for param in HOSTS:
        host = param.values[0]
        assert host is None or all(len(reason) > 20 for reason in host.lacks.values())
