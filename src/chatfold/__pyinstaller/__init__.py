"""Tells PyInstaller, which asks every installed package, where its hook for chatfold lies.

Source: PyInstaller's manual, "Understanding PyInstaller Hooks", read 2026-11-28:
https://pyinstaller.org/en/stable/hooks.html#providing-pyinstaller-hooks-with-your-package
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["hook_directories"]


def hook_directories() -> list[str]:
    """Return the directories that hold hooks."""
    return [str(Path(__file__).parent)]
