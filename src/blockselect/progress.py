"""Progress callbacks: their types, and callbacks that do nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]  # stage, steps done, total number of steps
StepProgress: TypeAlias = Callable[[int, int], None]  # steps done, total number of steps


def no_progress(stage: str, done: int, total: int) -> None:
    """Do-nothing progress callback."""


def no_step_progress(done: int, total: int) -> None:
    """Do-nothing progress callback of a task without stages."""
