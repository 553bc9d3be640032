"""The work of `blockselect reproduce`: run the trials and show their progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from joblib.externals.loky.process_executor import BrokenProcessPool
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from blockselect.cli.failure import Failure, say
from blockselect.parameters import check_known
from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.engine import Standing, complete_rows, run_experiments
from blockselect.reproduction.experiments import EXPERIMENTS
from blockselect.reproduction.store import Row, Store

STORE = "trials"
LINE_EVERY = 30.0  # seconds between lines of progress if stderr is not a terminal


def parse_experiments(text: str) -> list[str]:
    """Names of experiments, in the order of the paper."""
    names = {name.strip() for name in text.split(",")}
    check_known(sorted(names), ["all", *EXPERIMENTS], what="experiment")
    return [name for name in EXPERIMENTS if name in names or "all" in names]


def run_trials(
    names: list[str],
    config: ExperimentConfig,
    out: Path,
    *,
    workers: int,
    dask: str | None,
    retry_failed: bool,
    quiet: bool,
) -> dict[str, list[Row]]:
    """Run the trials that are missing; the rows of all experiments that are complete in the folder."""
    store = Store(out / STORE, config.marks)
    if retry_failed:
        store.forget_failures()
    plans = {name: experiment.trials for name, experiment in EXPERIMENTS.items()}
    chosen = {name: plans[name] for name in names}
    try:
        with _progress(quiet) as progress:
            run_experiments(chosen, config, store, workers=workers, dask=dask, progress=progress)
    except BrokenProcessPool as error:
        raise Failure(
            "a worker process was ended from outside, perhaps because memory ran out; the trials that had ended are "
            "kept: run the same command again, with fewer --workers."
        ) from error
    except KeyboardInterrupt:
        say("the trials that had ended are kept; the same command goes on from there.")
        raise
    return complete_rows(plans, config, store)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[Standing], None] | None]:
    """A bar on a terminal, otherwise a line from time to time, so that a log shows the progress."""
    if quiet:
        yield None
    elif not sys.stderr.isatty():
        yield _lines()
    else:
        left = TextColumn("{task.fields[left]}")
        columns = (TextColumn("trials"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), left)
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            shown = bar.add_task("trials", total=None, left="")

            def report(standing: Standing) -> None:
                bar.update(shown, completed=standing.done, total=standing.known, left=_time_left(standing))

            yield report


def _lines() -> Callable[[Standing], None]:
    last = time.monotonic()

    def report(standing: Standing) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_EVERY:
            last = time.monotonic()
            left = _time_left(standing)
            say(f"{standing.done} of {standing.known} trials{', ' if left else ''}{left}")

    return report


def _time_left(standing: Standing) -> str:
    if standing.seconds_left is None:
        return ""
    return f"about {timedelta(seconds=round(standing.seconds_left))} left"
