"""Progress callbacks: their types, and callbacks that do nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]  # stage, done, of how many
StepProgress: TypeAlias = Callable[[int, int], None]  # done, of how many


def no_progress(stage: str, done: int, total: int) -> None:
    """For callers that do not want to know."""


def no_step_progress(done: int, total: int) -> None:
    """For searches that nobody watches."""
