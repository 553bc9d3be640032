"""The entry of the command `blockselect`."""

from __future__ import annotations

from typing import Annotated

import typer

from blockselect import __version__
from blockselect.cli.compare import compare
from blockselect.cli.datasets import datasets
from blockselect.cli.failure import OneLineGroup
from blockselect.cli.quality import quality
from blockselect.cli.reproduce import reproduce
from blockselect.cli.select import select

app = typer.Typer(name="blockselect", cls=OneLineGroup, add_completion=False, pretty_exceptions_enable=False)
app.command("select")(select)
app.add_typer(datasets, name="datasets")
app.command("compare")(compare)
app.command("reproduce")(reproduce)
app.command("quality")(quality)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"blockselect {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def commands(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The few features that tell a network's structure, without labels."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command with the arguments of this process."""
    app()


if __name__ == "__main__":
    main()
