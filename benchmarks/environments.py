"""Builds one virtual environment for each of the other libraries, from `requirements/`."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

REQUIREMENTS = Path(__file__).parent / "requirements"

PEERS = tuple(sorted(path.stem for path in REQUIREMENTS.glob("*.txt")))
"""The names of the other libraries, as their modules in `peers/` have them."""


def build(directory: Path, name: str) -> Path:
    """Return the Python of a library's environment; it is made where it is missing or outdated.

    Args:
        directory: Where the environments are; each gets a directory of its name there.
        name: One of `PEERS`.

    Raises:
        RuntimeError: The library could not be installed; the message ends with what pip said.
    """
    home = directory / name
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    wanted = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8")
    done = home / "installed.txt"
    if done.is_file() and done.read_text(encoding="utf-8") == wanted:
        return python
    print(f"installing {wanted.strip()} ...", file=sys.stderr, flush=True)
    venv.create(home, with_pip=True, clear=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    made = subprocess.run(
        [*pip, "-r", str(REQUIREMENTS / f"{name}.txt")], capture_output=True, text=True, check=False
    )
    if made.returncode:
        raise RuntimeError(f"{name} could not be installed: {made.stderr.strip()[-500:]}")
    done.write_text(wanted, encoding="utf-8")
    return python
