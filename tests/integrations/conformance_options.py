"""The part of the suite that runs no agent: options, and frameworks that are not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from integrations.host import Events, Host
from integrations.scripts import SMALL, needs

from chatfold.options import SummaryOptions

__all__ = ["OptionConformance"]

OTHERS = ("livekit", "langchain", "langgraph", "agents")


class OptionConformance:
    """What holds in every framework before anything is said; `host` is a fixture."""

    def test_every_option_is_accepted(self, host: Host) -> None:
        """Each of `SummaryOptions` reaches chatfold, which checks it."""
        values: dict[str, Any] = {
            "timeout": 5.0,
            "retries": 2,
            "instructions": "Name the order.",
            "language": "French",
            "max_summary_tokens": 300,
            "redact": str,
            "post_process": str,
            "templates": {},
            "summary_role": "user",
            "min_gain": 0.1,
            "max_prompt_tokens": 5000,
            "ledger_tokens": 0,
            "grounding": "report",
            "effects": {"lookup": "read"},
            "standing_words": (),
            "thinking": "keep",
            "on_event": Events(),
            "mode": "prompt",
            "request": {"model": "gpt-5"},
        }
        assert set(values) == set(SummaryOptions.__annotations__)
        for name, value in values.items():
            assert host.build("extractive", **{name: value}) is not None
        assert host.build("extractive", **values) is not None
        assert host.build("extractive", policy=SMALL) is not None

    @pytest.mark.parametrize(
        ("wrong", "error"),
        [
            ({"unknown_option": 1}, TypeError),
            ({"timeout": -1}, ValueError),
            ({"grounding": "x"}, ValueError),
            ({"policy": 3}, TypeError),
            ({"store": 3}, TypeError),
        ],
    )
    def test_a_wrong_option_is_refused_where_it_is_given(
        self, host: Host, wrong: dict[str, Any], error: type[Exception]
    ) -> None:
        """Not at the first fold, which may be hours later."""
        with pytest.raises(error, match=next(iter(wrong))):
            host.build("extractive", **wrong)

    # Frameworks that are not there

    @needs("framework")
    def test_a_missing_framework_is_named_with_the_line_to_install_it(self, host: Host) -> None:
        """The error is one of chatfold's, and an ImportError."""
        hide = f"""
            class Hidden:
                def find_spec(self, name, path=None, target=None):
                    if f"{{name}}.".startswith({host.imports + "."!r}):
                        raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
            sys.meta_path.insert(0, Hidden())
        """
        said = _import_fails(hide, host)
        assert f'pip install "chatfold[{host.name}]"' in said

    @needs("framework")
    def test_a_version_that_lacks_something_is_told_which_would_do(self, host: Host) -> None:
        """The error names the package and a range of versions."""
        said = _import_fails(host.too_old, host)
        assert host.package in said
        assert ">=" in said

    @needs("framework")
    def test_importing_it_loads_no_other_framework(self, host: Host) -> None:
        """Whoever uses one of them need not have, nor wait for, the others."""
        code = f"""
            import {_module(host)}
            import json
            loaded = {{name.partition(".")[0] for name in sys.modules}}
            print(json.dumps(sorted(loaded & set({OTHERS!r}))))
        """
        done = _run(code)
        assert done.returncode == 0, done.stderr
        own = {host.imports.partition(".")[0]}
        own |= {"langgraph"} if "langchain" in own else set()
        assert set(json.loads(done.stdout)) <= own


def _module(host: Host) -> str:
    return f"chatfold.integrations.{host.name.replace('-', '_')}"


def _import_fails(before: str, host: Host) -> str:
    """Return what the error says when the integration is imported after these statements."""
    code = f"""
        {{before}}
        from chatfold.errors import MissingExtraError
        try:
            import {_module(host)}
        except MissingExtraError as error:
            assert error.extra == {host.name!r}, error.extra
            print(error)
        else:
            sys.exit("it was imported")
    """
    done = _run(dedent(code).replace("{before}", dedent(before).strip()))
    assert done.returncode == 0, done.stderr
    return done.stdout


def _run(code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")}
    return subprocess.run(
        [sys.executable, "-c", "import sys\n" + dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=120,
    )
