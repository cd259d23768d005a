"""The command `chatfold`, also `python -m chatfold`; its entry works without the extra `cli`.

Belongs in this package: what is typed and printed at a terminal (`commands`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

from chatfold.errors import MissingExtraError

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command; an error is one line on stderr.

    Raises:
        SystemExit: Always, with the exit code: 0 done, 1 a failed model or a list with problems,
            2 input that cannot be used, 130 interrupted.
    """
    try:
        run = _imported()
    except MissingExtraError as error:
        print(f"chatfold: {error}", file=sys.stderr)  # noqa: T201 - typer.echo may be missing
        raise SystemExit(2) from error
    except KeyboardInterrupt:  # loading takes a while; once it runs, typer does the same
        raise SystemExit(130) from None
    raise SystemExit(run())


def _imported() -> Callable[[], int]:
    try:
        from chatfold.cli.commands import run
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("rich", "typer"):
            raise
        raise MissingExtraError(
            f'the command needs {error.name}: pip install "chatfold[cli]"', extra="cli"
        ) from error
    return run
