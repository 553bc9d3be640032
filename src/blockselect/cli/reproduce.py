"""`blockselect reproduce`: the paper's experiments, their figures, and a verdict on each claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from blockselect.cli import options as opt
from blockselect.cli.failure import Failure, expecting_bad_input, one_line
from blockselect.cli.outputs import check_folder, write_together
from blockselect.cli.settings import OUTPUT
from blockselect.cli.streams import say
from blockselect.cli.terminal import printable
from blockselect.cli.trials import trials_running
from blockselect.names import check_known
from blockselect.reproduction.claims import Judgement
from blockselect.reproduction.config import ExperimentConfig, read_config
from blockselect.reproduction.engine import complete_rows, run_experiments
from blockselect.reproduction.experiments import EXPERIMENTS
from blockselect.reproduction.networks import check_networks
from blockselect.reproduction.page import RESULT_FILES, failures, make_files, parquet_available
from blockselect.reproduction.store import Row, Store
from blockselect.wording import visible

ALL_FAILED = 1
STORE = "trials"

Names = Annotated[
    str,
    typer.Argument(
        metavar="all|NAME,NAME…",
        help="Experiments: datasets, effectiveness, perturbation, block-models, parameters, convergence.",
    ),
]
Out = Annotated[
    Path,
    opt.results_folder(
        "Folder for rows, figures and claims. It also keeps each row as it comes: the same command goes on there."
    ),
]
Config = Annotated[
    str,
    typer.Option(
        metavar="paper|quick|FILE.toml",
        help="Networks, settings and seed: the paper's in full, minutes on Cora, or a file of one's own.",
        rich_help_panel="Experiments",
    ),
]
Workers = Annotated[
    int, typer.Option(min=1, help="Processes on this machine that share the trials.", rich_help_panel="Computation")
]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Scheduler of a Dask cluster, such as tcp://host:8786, whose workers do the trials instead.",
        rich_help_panel="Computation",
    ),
]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Run trials again that failed before.", rich_help_panel="Computation")
]
NoParquet = Annotated[
    bool,
    typer.Option("--no-parquet", help="Rows as CSV alone, even where pyarrow is installed.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, and no summary at the end.", rich_help_panel=OUTPUT)]

app = typer.Typer(add_completion=False)


@app.command()
def reproduce(
    experiments: Names,
    out: Out,
    config: Config = "paper",
    workers: Workers = 1,
    dask: Dask = None,
    retry_failed: RetryFailed = False,
    no_parquet: NoParquet = False,
    overwrite: opt.Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """\b
    Examples:
      blockselect reproduce all --config quick --workers 2 --out results
      blockselect reproduce effectiveness,parameters --out results
    """
    check_folder(out, RESULT_FILES, {"--config": Path(config)}, overwrite=overwrite)
    with expecting_bad_input():
        task = check_task(experiments, config, parquet=not no_parquet, dask=dask)
        store = Store(out / STORE, task.config.marks)
        if retry_failed:
            store.forget_failures()
        with trials_running(quiet=quiet) as progress:
            chosen = [EXPERIMENTS[name] for name in task.names]
            run_experiments(chosen, task.config, store, workers=workers, dask=dask, progress=progress)
        rows = complete_rows(EXPERIMENTS, task.config, store)
        result = write_files(out, task, rows)
    for line in result.failures:
        say(f"failed: {line}")
    if not quiet:
        show_verdicts(out, result)
    if result.all_failed:
        raise typer.Exit(ALL_FAILED)


@dataclass(frozen=True, slots=True)
class Task:
    """What is reproduced, checked."""

    names: list[str]
    config: ExperimentConfig
    title: str  # of the configuration, without its folder
    parquet: bool


@dataclass(frozen=True, slots=True)
class Result:
    """What was written, and what to report of it."""

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
    return Task(chosen, read, visible(Path(config).stem), parquet and parquet_available())


def parse_experiments(text: str) -> list[str]:
    """Names of experiments, in the order of the paper."""
    names = {name.strip() for name in text.split(",")}
    check_known(sorted(names), ["all", *EXPERIMENTS], what="experiment")
    return [name for name in EXPERIMENTS if name in names or "all" in names]


def write_files(out: Path, task: Task, rows: Mapping[str, list[Row]]) -> Result:
    """Write all files of the experiments that are complete in this folder."""
    files, judgements = make_files(rows, task.config, title=task.title, parquet=task.parquet)
    write_together(out, files, mark="config.json")
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
    typer.echo(f"wrote {result.n_files} files; begin with {printable(str(out / 'claims.html'))}")
