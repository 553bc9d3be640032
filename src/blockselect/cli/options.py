"""Options that several commands have: the network that comes in, and where results go."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_INPUT, _OUTPUT = "Input", "Output"

Dataset = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="A network by its name: see blockselect datasets list.", rich_help_panel=_INPUT),
]
Features = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Features, one row a node: .csv with a header and an id column, .npz, .npy or .mtx.",
        rich_help_panel=_INPUT,
    ),
]
Graph = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Links: .csv with source, target and perhaps weight, or an adjacency matrix (.npz, .npy, .mtx). "
        "Without it each node is linked with its nearest neighbours by the features.",
        rich_help_panel=_INPUT,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print the summary as JSON on stdout, and nothing else.", rich_help_panel=_OUTPUT),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="No progress bar, and no summary at the end.", rich_help_panel=_OUTPUT)
]
