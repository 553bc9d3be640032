"""One run of `blockselect reproduce`: what is asked, checked before any work; progress; files; the account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from blockselect.cli.failure import Failure, one_line
from blockselect.cli.outputs import write_tree
from blockselect.cli.terminal import printable
from blockselect.cli.trials import trials_running
from blockselect.names import check_known
from blockselect.reproduction.agenda import complete_rows
from blockselect.reproduction.claims import Judgement
from blockselect.reproduction.experiment_config import ExperimentConfig, read_config
from blockselect.reproduction.experiments import EXPERIMENTS
from blockselect.reproduction.network_data import check_networks
from blockselect.reproduction.result_files import failures, make_files, parquet_available
from blockselect.reproduction.runner import run_experiments
from blockselect.reproduction.store import Store
from blockselect.reproduction.trial import Row

__all__ = ["check_task", "finished_rows", "open_store", "run_trials", "show_verdicts", "write_files"]

STORE = "trials.sqlite"


@dataclass(frozen=True, slots=True)
class Task:
    """What is reproduced, checked."""

    names: list[str]
    config: ExperimentConfig
    title: str  # of the configuration, without its folder
    parquet: bool
    dask: str | None


@dataclass(frozen=True, slots=True)
class Result:
    """What was written, and what to tell of it."""

    judgements: Mapping[str, Judgement]
    failures: list[str]
    all_failed: bool
    n_files: int


def check_task(names: str, config: str, *, parquet: bool, dask: str | None) -> Task:
    """Refuse what cannot be done, before any work."""
    if dask is not None and find_spec("distributed") is None:
        raise Failure("--dask needs Dask; install it with: pip install 'blockselect[dask]'.")
    chosen = parse_experiments(names)
    read = read_config(config)
    check_networks(read.networks)
    return Task(chosen, read, Path(config).stem, parquet and parquet_available(), dask)


def parse_experiments(text: str) -> list[str]:
    """Names of experiments, in the order of the paper."""
    if text.strip() == "all":
        return list(EXPERIMENTS)
    names = {name.strip() for name in text.split(",")}
    check_known(sorted(names), ["all", *EXPERIMENTS], what="experiment")
    return [name for name in EXPERIMENTS if name in names]


def open_store(out: Path, task: Task) -> Store:
    return Store(out / STORE, task.config.marks)


def run_trials(task: Task, store: Store, *, workers: int, quiet: bool) -> None:
    """Run what is missing; rows that came stay, whatever happens."""
    experiments = [EXPERIMENTS[name] for name in task.names]
    with trials_running(quiet=quiet) as progress:
        run_experiments(experiments, task.config, store, workers=workers, dask=task.dask, progress=progress)


def finished_rows(task: Task, store: Store) -> dict[str, list[Row]]:
    """Rows of every experiment that is complete in the store."""
    return complete_rows(EXPERIMENTS, task.config, store)


def write_files(out: Path, task: Task, rows: Mapping[str, list[Row]]) -> Result:
    """Write all files of the experiments that are complete in this folder."""
    files, judgements = make_files(rows, task.config, title=task.title, parquet=task.parquet)
    write_tree(out, files)
    lines = [f"{name}: {one_line(line)}" for name in task.names for line in failures(rows[name])]
    all_failed = all(row["error"] for name in task.names for row in rows[name])
    return Result(judgements, lines, all_failed, len(files))


def show_verdicts(out: Path, result: Result) -> None:
    """The verdict on each claim, and where the files are."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("claim", "verdict", "measured"):
        table.add_column(title, no_wrap=title != "measured")
    for letter, judgement in result.judgements.items():
        table.add_row(*(Text(printable(cell)) for cell in (letter, judgement.verdict, judgement.summary)))
    console = Console()
    console.print(table, width=None if console.is_terminal else 120)
    typer.echo(f"wrote {result.n_files} files; begin with {out / 'claims.html'}")
