"""`blockselect select`: the features of a network that tell its structure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from blockselect.cli.failure import Failure, expecting_bad_input
from blockselect.cli.outputs import check_folder, write_together
from blockselect.cli.settings import BlockFamily, FloatType, GradientKind

OUTPUT_FILES = ("selected.csv", "scores.csv", "run.json", "overview.png")
_INPUT, _OUTPUT, _BLOCKS, _SCORES, _RUN = "Input", "Output", "Blocks", "Scores", "Computation"


def _file(help_text: str) -> typer.models.OptionInfo:
    return typer.Option(exists=True, dir_okay=False, metavar="FILE", help=help_text, rich_help_panel=_INPUT)


def select(
    dataset: Annotated[str | None, typer.Option(metavar="NAME", help="A network of the package: cora.", rich_help_panel=_INPUT)] = None,
    features: Annotated[Path | None, _file("Features, one row a node: .csv with a header and an id column, .npz, .npy or .mtx.")] = None,
    graph: Annotated[Path | None, _file("Links: .csv with source, target and perhaps weight, or an adjacency matrix. Without it: nearest neighbours by the features.")] = None,
    top: Annotated[str | None, typer.Option(metavar="N|SHARE", help="How many features to select, or which share of them.", show_default="half", rich_help_panel=_OUTPUT)] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for selected.csv, scores.csv, run.json and overview.png.", rich_help_panel=_OUTPUT)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, and nothing else, on stdout.", rich_help_panel=_OUTPUT)] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar and no table.", rich_help_panel=_OUTPUT)] = False,
) -> None:
    pass
