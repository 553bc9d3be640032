"""The work of `blockselect reproduce`: run the trials, show progress, and write and show the verdicts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import typer
from joblib.externals.loky.process_executor import BrokenProcessPool
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from blockselect.cli.failure import Failure, expecting_bad_input, one_line
from blockselect.cli.outputs import check_folder, write_together
from blockselect.cli.process import say
from blockselect.cli.terminal import printable
from blockselect.parameters import check_known
from blockselect.reproduction.claims import Judgement
from blockselect.reproduction.config import ExperimentConfig, read_config
from blockselect.reproduction.engine import Standing, complete_rows, run_experiments
from blockselect.reproduction.experiments import EXPERIMENTS
from blockselect.reproduction.networks import check_networks
from blockselect.reproduction.page import RESULT_FILES, failures, make_files, parquet_available
from blockselect.reproduction.store import Row, Store
from blockselect.wording import visible

STORE = "trials"
LINE_EVERY = 30.0  # seconds between lines of progress if stderr is not a terminal


@dataclass(frozen=True, slots=True)
class Task:
    """What is reproduced, checked."""

    names: list[str]
    config: ExperimentConfig
    title: str  # of the configuration, without its folder
    out: Path
    parquet: bool


@dataclass(frozen=True, slots=True)
class Result:
    """What was written, and what to report about it."""

    judgements: Mapping[str, Judgement]
    failures: list[str]
    all_failed: bool
    n_files: int


def check_task(names: str, config: str, out: Path, *, parquet: bool, overwrite: bool) -> Task:
    """Refuse what cannot be done, before any work."""
    check_folder(out, RESULT_FILES, {"--config": Path(config)}, overwrite=overwrite)
    with expecting_bad_input():
        chosen = parse_experiments(names)
        read = read_config(config)
        check_networks(read.networks)
    return Task(chosen, read, visible(Path(config).stem), out, parquet and parquet_available())


def parse_experiments(text: str) -> list[str]:
    """Names of experiments, in the order of the paper."""
    names = {name.strip() for name in text.split(",")}
    check_known(sorted(names), ["all", *EXPERIMENTS], what="experiment")
    return [name for name in EXPERIMENTS if name in names or "all" in names]


def run(task: Task, *, workers: int, dask: str | None, retry_failed: bool, quiet: bool) -> Result:
    """Run the trials that are missing, and write the files of all experiments that are complete in the folder."""
    plans = {name: experiment.trials for name, experiment in EXPERIMENTS.items()}
    with expecting_bad_input():
        store = Store(task.out / STORE, task.config.marks)
        if retry_failed:
            store.forget_failures()
        with _trials_running(quiet=quiet) as progress:
            chosen = {name: plans[name] for name in task.names}
            run_experiments(chosen, task.config, store, workers=workers, dask=dask, progress=progress)
        rows = complete_rows(plans, task.config, store)
        return _write_files(task, rows)


def _write_files(task: Task, rows: Mapping[str, list[Row]]) -> Result:
    files, judgements = make_files(rows, task.config, title=task.title, parquet=task.parquet)
    write_together(task.out, files, mark="config.json")
    lines = [f"{name}: {one_line(line)}" for name in task.names for line in failures(rows[name])]
    all_failed = all(row["error"] for name in task.names for row in rows[name])
    return Result(judgements, lines, all_failed, len(files))


def show_verdicts(out: Path, result: Result) -> None:
    """Show the verdict on each claim, and where the files are."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("claim", "verdict", "measured"):
        table.add_column(title, no_wrap=title != "measured")
    for letter, judgement in result.judgements.items():
        table.add_row(*(Text(printable(cell)) for cell in (letter, judgement.verdict, judgement.summary)))
    console = Console()
    console.print(table, width=None if console.is_terminal else 120)
    typer.echo(f"wrote {result.n_files} files; begin with {printable(str(out / 'claims.html'))}")


@contextmanager
def _trials_running(*, quiet: bool) -> Iterator[Callable[[Standing], None] | None]:
    """Show progress while trials run, and say that finished trials are kept if the run is stopped."""
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
