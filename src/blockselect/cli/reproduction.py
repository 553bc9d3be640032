"""`blockselect reproduce`: the experiments that are asked for, and the progress of their trials."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from blockselect.cli.failure import say
from blockselect.parameters import check_known
from blockselect.reproduction.engine import Standing
from blockselect.reproduction.experiments import EXPERIMENTS

LINE_EVERY = 30.0  # seconds between lines of progress if stderr is not a terminal


def parse_experiments(text: str) -> list[str]:
    """Names of experiments, in the order of the paper."""
    names = {name.strip() for name in text.split(",")}
    check_known(sorted(names), ["all", *EXPERIMENTS], what="experiment")
    return [name for name in EXPERIMENTS if name in names or "all" in names]


@contextmanager
def trials_running(*, quiet: bool) -> Iterator[Callable[[Standing], None] | None]:
    """Show progress while trials run: a bar on a terminal, otherwise a line from time to time, as for a log."""
    try:
        if quiet:
            yield None
        elif sys.stderr.isatty():
            columns = (TextColumn("trials"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            with Progress(
                *columns, TextColumn("{task.description}"), console=Console(stderr=True), transient=True
            ) as bar:
                shown = bar.add_task("", total=None)
                yield lambda standing: bar.update(
                    shown, completed=standing.done, total=standing.known, description=_time_left(standing)
                )
        else:
            yield _line_from_time_to_time()
    except KeyboardInterrupt:
        say("the trials that had ended are kept; the same command goes on from there.")
        raise


def _line_from_time_to_time() -> Callable[[Standing], None]:
    last = time.monotonic()

    def report(standing: Standing) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_EVERY:
            last = time.monotonic()
            say(", ".join(filter(None, [f"{standing.done} of {standing.known} trials", _time_left(standing)])))

    return report


def _time_left(standing: Standing) -> str:
    left = standing.seconds_left
    return "" if left is None else f"about {timedelta(seconds=round(left))} left"
