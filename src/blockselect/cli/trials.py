"""While trials run: how far they are, and what is said when they are stopped."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from joblib.externals.loky.process_executor import BrokenProcessPool
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from blockselect.cli.failure import Failure
from blockselect.cli.streams import say
from blockselect.reproduction.engine import Standing

LINE_EVERY = 30.0  # seconds between lines of progress where there is no terminal


@contextmanager
def trials_running(*, quiet: bool) -> Iterator[Callable[[Standing], None] | None]:
    """Progress for the trials that run within; rows that came stay, whatever happens, and that is said."""
    try:
        with _progress(quiet) as report:
            yield report
    except BrokenProcessPool as error:
        raise Failure(
            "a worker process was ended from outside, perhaps because memory ran out; the trials that had ended are "
            "kept: run the same command again, with fewer --workers."
        ) from error
    except KeyboardInterrupt:
        say("the trials that had ended are kept; the same command goes on from there.")
        raise


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[Standing], None] | None]:
    """A bar on a terminal; else a line now and then, so that a log shows how far the run is."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar() as report:
            yield report
    else:
        yield _lines()


@contextmanager
def _bar() -> Iterator[Callable[[Standing], None]]:
    columns = (
        TextColumn("trials"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        shown = bar.add_task("trials", total=None, left="")

        def report(standing: Standing) -> None:
            bar.update(shown, completed=standing.done, total=standing.known, left=time_left(standing))

        yield report


def _lines() -> Callable[[Standing], None]:
    last = time.monotonic()

    def report(standing: Standing) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_EVERY:
            last = time.monotonic()
            left = time_left(standing)
            say(f"{standing.done} of {standing.known} trials{', ' if left else ''}{left}")

    return report


def time_left(standing: Standing) -> str:
    if standing.seconds_left is None:
        return ""
    return f"about {timedelta(seconds=round(standing.seconds_left))} left"
