"""`blockselect compare`: methods side by side on a network whose classes are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from blockselect.cli import options as opt
from blockselect.cli.failure import Failure, expecting_bad_input, one_line
from blockselect.cli.outputs import check_folder, write_together
from blockselect.cli.terminal import progress_bar

OUTPUT_FILES = ("comparison.csv", "comparison.md", "run.json")
ALL_FAILED = 1

Classes = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Known classes, with --features: .csv with a header, one row a node: its id, its class.",
        rich_help_panel="Input",
    ),
]
Methods = Annotated[
    str,
    typer.Option(metavar="all|NAME,NAME…", help="Methods to compare, by name.", rich_help_panel="Comparison"),
]
Top = Annotated[
    str,
    typer.Option(
        metavar="N,N…",
        help="How many features to keep. Each method ranks once, asked for the most (paper: d).",
        rich_help_panel="Comparison",
    ),
]
Blocks = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Blocks or clusters of nodes, for methods that look for them (paper: k).",
        show_default="the number of classes",
        rich_help_panel="Comparison",
    ),
]
Runs = Annotated[
    int,
    typer.Option(min=1, help="Runs of K-means, with the seeds 0, 1, ….", rich_help_panel="Comparison"),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder for comparison.csv, comparison.md and run.json. Needed unless --json is given.",
        rich_help_panel="Output",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        max=2**32 - 1,
        help="Of the methods: the same seed, the same scores.",
        rich_help_panel="Computation",
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        min=1,
        help="Processes that share the runs of K-means. Methods rank one after another: their times compare.",
        rich_help_panel="Computation",
    ),
]


def compare(
    dataset: opt.Dataset = None,
    features: opt.Features = None,
    graph: opt.Graph = None,
    classes: Classes = None,
    methods: Methods = "all",
    top: Top = "16,64",
    blocks: Blocks = None,
    runs: Runs = 20,
    out: Out = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    seed: Seed = 0,
    workers: Workers = 1,
) -> None:
    """Compare methods by how well K-means on their best features finds known classes.

    blockselect compare --dataset cora --methods block-model,variance --top 16,64 --out comparison
    """
    if out is not None:
        check_folder(out, OUTPUT_FILES)
    elif not as_json:
        raise Failure("nowhere to put the result; name a folder with --out, or give --json.")
    # Imported here: NumPy and scikit-learn take a second that --help should not wait for.
    from blockselect.cli import comparison as run

    names, numbers = run.parse_methods(methods), run.parse_numbers(top)
    network = run.load_labelled_network(dataset, features, graph, classes)
    task = run.check_task(network, names, numbers, blocks=blocks, runs=runs, seed=seed)
    with progress_bar(quiet) as progress:
        comparison = run.run_comparison(task, progress, workers=workers)
    for name, messages in comparison.warnings.items():
        for message in messages:
            typer.echo(f"warning: {name}: {message}", err=True)
    for name, error in comparison.errors.items():
        typer.echo(f"failed: {name}: {one_line(error)}", err=True)
    if out is not None:
        with expecting_bad_input():
            write_together(out, run.file_contents(task, comparison))
    if as_json:
        typer.echo(json.dumps(run.summary(task, comparison), allow_nan=False, default=str))
    elif out is not None and not quiet:
        run.show_table(comparison)
        for file in OUTPUT_FILES:
            typer.echo(f"wrote {out / file}")
    if set(comparison.errors) >= set(names):
        raise typer.Exit(ALL_FAILED)
