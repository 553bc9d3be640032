"""`blockselect datasets`: the built-in collection of real networks."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Annotated

import typer

from blockselect.cli.failure import expecting_bad_input
from blockselect.cli.options import DATASETS, completion
from blockselect.cli.signals import begin_work
from blockselect.cli.waiting import waiting

if TYPE_CHECKING:
    from blockselect.datasets.catalogue import Dataset

app = typer.Typer(add_completion=False)

Name = Annotated[
    str,
    typer.Argument(
        help="Name of a network, as listed by `blockselect datasets list`.", autocompletion=completion(DATASETS)
    ),
]


@app.callback(invoke_without_command=True)
def commands(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list")
def list_all() -> None:
    """List all networks, with their sizes and whether they are on this machine."""
    from blockselect.cli.terminal import show_table
    from blockselect.datasets.catalogue import DATASETS

    begin_work()
    with expecting_bad_input():
        rows = [
            (dataset.name, *(f"{count:,}" for count in astuple(dataset.counts)), _where(dataset))
            for dataset in DATASETS.values()
        ]
    titles = ("name", "nodes", "links", "features", "classes", "where")
    waiting.end()
    show_table(titles, rows, text_columns=("name", "where"))


@app.command()
def info(name: Name) -> None:
    """Describe a network: its size, source, licence and citation."""
    from blockselect.datasets.catalogue import find_dataset
    from blockselect.datasets.download import cache_folder

    begin_work()
    with expecting_bad_input():
        dataset = find_dataset(name)
        where, cache = _where(dataset), dataset.source and cache_folder()
    waiting.end()
    typer.echo(f"{name}: {dataset.about}")
    typer.echo(f"counts: {dataset.counts}")
    typer.echo(f"where: {where}")
    typer.echo(f"source: {dataset.origin}")
    if dataset.source is not None:
        typer.echo(f"  {dataset.source.size:,} bytes  sha256 {dataset.source.sha256}")
        typer.echo(f"cache: {cache}")
    typer.echo(f"licence: {dataset.licence}")
    for citation in dataset.citations:
        typer.echo(f"cite: {citation}")


@app.command()
def fetch(name: Name) -> None:
    """Download a network, unless it is already on this machine, and verify it."""
    from blockselect.cli.terminal import progress_bar
    from blockselect.datasets.catalogue import NetworkCounts, find_dataset

    begin_work()
    with expecting_bad_input(), progress_bar(quiet=False) as progress:
        dataset = find_dataset(name)
        graph = dataset.load(progress)
    waiting.end()
    typer.echo(f"{name}: {NetworkCounts.of(graph)}; {_where(dataset)}")


def _where(dataset: Dataset) -> str:
    from blockselect.datasets.download import place_of

    return "in the package" if dataset.source is None else place_of(dataset.source)
