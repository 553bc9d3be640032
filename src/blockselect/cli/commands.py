"""The command `blockselect` and its subcommands, each imported only when it is used."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from blockselect import __version__
from blockselect.cli import interrupts
from blockselect.cli.extra import advice
from blockselect.cli.failure import BAD_INPUT, Failure, of_the_machine, one_line
from blockselect.cli.streams import drop_stdout, say, stdout_problem

COMMANDS: dict[str, str] = {
    "select": "Select the features that explain the structure of a network.",
    "datasets": "The real networks that the package knows: list, info NAME, fetch NAME.",
    "compare": "Compare methods by what their best features are good for: clusters, classes or links.",
    "doctor": "Show versions, extras, GPU and threads of this installation.",
    "reproduce": "Run the paper's experiments and judge its claims. Stop it any time: the same command goes on.",
}
"""Subcommand, in a module of the same name → the first line of its help."""


class LazyGroup(TyperGroup):
    """Commands that are loaded when they are invoked; every complaint is one line, Typer's own included."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            **{**settings, "commands": {name: TyperCommand(name, help=COMMANDS[name]) for name in COMMANDS}}
        )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, args)
        command = load_command(str(name))
        interrupts.unwind()  # all is imported, work begins
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            say(interrupts.message(stop))
            raise typer.Exit(interrupts.exit_code(stop)) from None

    def main(self, *args: Any, **extra: Any) -> Any:
        if not extra.get("standalone_mode", True):
            return super().main(*args, **extra)
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
            sys.stdout.flush()
        except typer.Abort:  # Ctrl-C again, while the first was answered
            sys.exit(interrupts.exit_code(KeyboardInterrupt()))
        except (OSError, MemoryError) as error:
            of_stdout = None if isinstance(error, MemoryError) else stdout_problem(error)
            problem = of_stdout or of_the_machine(error)
            if problem is None:
                raise
            drop_stdout()
            _complain(problem)
        except Exception as error:
            # Typer's class of usage errors has moved between its versions; what it can do has not.
            message = getattr(error, "format_message", None)
            if message is None:
                raise
            _complain(message())
        sys.exit(code if isinstance(code, int) else 0)


def load_command(name: str) -> Any:
    """A subcommand with its options, from the module of its name."""
    try:
        module = import_module(f"blockselect.cli.{name}")
    except ModuleNotFoundError as error:
        message = advice(error)
        if message is None:
            raise
        raise Failure(message) from error
    command = typer.main.get_command(module.app)
    command.name, command.help = name, f"{COMMANDS[name]}\n\n{command.help or ''}"
    return command


app = typer.Typer(name="blockselect", cls=LazyGroup, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"blockselect {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def blockselect(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The few features that explain a network's structure, without labels.

    \b
    Begin with:
      blockselect select --dataset cora --top 64 --out results
      blockselect select --features genes.csv --graph links.csv --out results
      blockselect select --help
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _complain(message: str) -> NoReturn:
    say(f"error: {one_line(message)}")
    sys.exit(BAD_INPUT)
