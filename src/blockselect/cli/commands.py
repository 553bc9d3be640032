"""The command `blockselect` and its subcommands, which are imported when they are used."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from blockselect import __version__
from blockselect.cli.failure import Failure, complain
from blockselect.cli.signals import stopped
from blockselect.utils.versions import show_versions

COMMANDS: dict[str, str] = {
    "select": "Select the features that explain the structure of a network.",
    "methods": "List all methods, or the parameters of one method.",
    "datasets": "List, describe and download the built-in collection of real networks.",
    "compare": "Compare methods by how well their top features recover clusters, classes or links.",
    "reproduce": "Repeat the paper's experiments and check its claims. The same command resumes an interrupted run.",
}
"""Subcommand → first line of its help. Each subcommand is defined in the module of the same name."""


class LazyGroup(TyperGroup):
    """A group that imports each subcommand only when it is invoked, and reports input errors on one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            **{**settings, "commands": {name: TyperCommand(name, help=COMMANDS[name]) for name in COMMANDS}}
        )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        # A shell may try to complete an unknown subcommand, for which there is nothing to load.
        return name, command and load_command(str(name)), rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise typer.Exit(stopped(stop)) from None

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except Exception as error:
            code = complain(error)
        sys.exit(code if isinstance(code, int) else 0)


def load_command(name: str) -> Any:
    """Import a subcommand and return it with its options."""
    command = typer.main.get_command(import_module(f"blockselect.cli.{name}").app)
    command.name, command.help = name, f"{COMMANDS[name]}\n\n{command.help or ''}"
    for option in command.params:
        if getattr(option, "is_flag", False):
            option.metavar = ""  # otherwise the help shows <bool>, as if the flag had a value
    return command


app = typer.Typer(name="blockselect", cls=LazyGroup, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def blockselect(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="With --version: also show the versions of other packages, the GPU and the number of threads.",
        ),
    ] = False,
) -> None:
    """Select the few features that explain the structure of a network, without labels.

    \b
    To get started:
      blockselect select --dataset debian --top 60 --out results
      blockselect select --features genes.csv --graph links.csv --out results
      blockselect select --help
    """
    if verbose and not version:
        raise Failure("--verbose can only be used with --version.")
    if version:
        show_versions() if verbose else typer.echo(f"blockselect {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
