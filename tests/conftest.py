"""What every test may use: hypothesis profiles, the shared data, one async backend."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

CHECKOUT = Path(__file__).resolve().parents[1]

# Drawing a whole history is slow beside drawing an integer, and a loaded machine is slower still;
# neither is a finding.
_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile("default", max_examples=60, deadline=None, suppress_health_check=_SLOW)
settings.register_profile(
    "ci",
    max_examples=200,
    deadline=None,
    suppress_health_check=_SLOW,
    derandomize=True,
    database=None,
    print_blob=True,
)
# The versions of the dependencies are in question there, so the examples are the same each time.
settings.register_profile("lowest", settings.get_profile("ci"), max_examples=30)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default")
)

# A shell that starts this in the background has Ctrl-C ignored, also in what is started here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def shared_directory() -> Path:
    """Return where the shared histories are expected; the directory may be absent."""
    named = os.environ.get("CHATFOLD_SHARED")
    return Path(named) if named else CHECKOUT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory with `fixtures/` and `corpus/`; the test is skipped where there is none."""
    directory = shared_directory()
    if not (directory / "fixtures").is_dir():
        pytest.skip(f"no shared histories at {directory}; set CHATFOLD_SHARED")
    return directory


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the checkout."""
    return CHECKOUT


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio, the loop that the SDKs' users have."""
    return "asyncio"
