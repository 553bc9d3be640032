"""`blockselect reproduce`: the paper's experiments, their figures, and a verdict on each claim."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blockselect.cli.failure import expecting_bad_input
from blockselect.cli.outputs import check_folder

ALL_FAILED = 1

Names = Annotated[
    str,
    typer.Argument(
        metavar="all|NAME,NAME…",
        help="Experiments: datasets, effectiveness, perturbation, block-models, parameters, convergence.",
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        metavar="DIR",
        help="Folder for rows, figures and claims. It also keeps each row as it comes: the same command goes on there.",
        rich_help_panel="Output",
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
    typer.Option("--no-parquet", help="Rows as CSV alone, even where pyarrow is installed.", rich_help_panel="Output"),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress and no account.", rich_help_panel="Output")]


def reproduce(
    experiments: Names,
    out: Out,
    config: Config = "paper",
    workers: Workers = 1,
    dask: Dask = None,
    retry_failed: RetryFailed = False,
    no_parquet: NoParquet = False,
    quiet: Quiet = False,
) -> None:
    """Run the paper's experiments and judge its claims. Stop it any time: the same command goes on.

    blockselect reproduce all --config quick --workers 2 --out results
    """
    check_folder(out, ("trials.sqlite", "claims.md", "claims.html", "config.json"))
    # Imported here: NumPy, scikit-learn and matplotlib take a second that --help should not wait for.
    from blockselect.cli import reproduction as run

    with expecting_bad_input():
        task = run.check_task(experiments, config, parquet=not no_parquet, dask=dask)
        with run.open_store(out, task) as store:
            if retry_failed:
                store.forget_failures()
            run.run_trials(task, store, workers=workers, quiet=quiet)
            rows = run.finished_rows(task, store)
        result = run.write_files(out, task, rows)
    for line in result.failures:
        typer.echo(f"failed: {line}", err=True)
    if not quiet:
        run.show_verdicts(out, result)
    if result.all_failed:
        raise typer.Exit(ALL_FAILED)
