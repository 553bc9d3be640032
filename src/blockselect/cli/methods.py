"""`blockselect methods`: list all methods, or the parameters of one method."""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any

import typer

from blockselect.cli.failure import OPTION_OF
from blockselect.cli.options import METHODS, SEED, one_of
from blockselect.cli.signals import begin_work

Name = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="Name of a method, to list its parameters.", **one_of(METHODS, "method")),
]

app = typer.Typer(add_completion=False)


@app.command()
def methods(name: Name = None) -> None:
    """\b
    Examples:
      blockselect methods
      blockselect methods bmgufs
    """
    from blockselect.cli.terminal import show_table
    from blockselect.registry import SELECTORS, make_selector

    begin_work()
    if name is None:
        titles = ("name", "method", "guided by")
        show_table(titles, [(key, one.title, one.guidance) for key, one in SELECTORS.items()], text_columns=titles)
        return
    selector = make_selector(name, random_state=SEED)
    meaning = meanings(selector)
    rows = [
        (OPTION_OF.get(parameter, f"--set {parameter}="), str(value), meaning[parameter])
        for parameter, value in parameters_of(selector).items()
    ]
    typer.echo(f"{SELECTORS[name].title} ({SELECTORS[name].cite})")
    titles = ("option", "default", "meaning")
    show_table(titles, rows, text_columns=titles)


def parameters_of(selector: Any) -> dict[str, Any]:
    """The parameters of a method and their values; parameters of the BMGUFS solver begin with ``solver__``.

    `verbose` is left out, because the command shows progress in its own way.
    """
    names = [name for name in inspect.signature(type(selector)).parameters if name not in ("solver", "verbose")]
    known = {name: getattr(selector, name) for name in names}
    if hasattr(selector, "_solver"):
        known |= {f"solver__{name}": value for name, value in parameters_of(selector._solver()).items()}
    return known


def meanings(selector: Any) -> dict[str, str]:
    """Parameter → first sentence of its description in the docstring."""
    text = inspect.getdoc(type(selector)) or ""
    section = re.split(r"\n\n?(?=\w+\n---)", text.partition("Parameters\n----------\n")[2])[0]
    found: dict[str, str] = {}
    for names, description in re.findall(r"^(\w+(?:, \w+)*) : .*\n((?:    .*(?:\n|$))+)", section, flags=re.MULTILINE):
        sentence = re.split(r"(?<=\.) ", " ".join(description.split()))[0]
        found |= dict.fromkeys(names.split(", "), re.sub(r":\w+:(?=`)|`", "", sentence))
    if hasattr(selector, "_solver"):
        found |= {f"solver__{name}": sentence for name, sentence in meanings(selector._solver()).items()}
    return found
