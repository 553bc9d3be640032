"""Options that several commands have: the network that comes in, and where results go."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from blockselect.cli.complete import complete_datasets
from blockselect.cli.outputs import parse_folder
from blockselect.cli.settings import DATA, OUTPUT
from blockselect.graphs.files import UnknownNodes


def existing_file(what: str) -> Any:
    """An option that names a file of data, refused where there is none."""
    return typer.Option(metavar="FILE", exists=True, dir_okay=False, help=what, rich_help_panel=DATA)


def results_folder(what: str) -> Any:
    """An option that names the folder that results go to."""
    return typer.Option(metavar="DIR", parser=parse_folder, help=what, rich_help_panel=OUTPUT)


def input_files(
    features: Path | None, graph: Path | None, node_ids: Path | None, feature_names: Path | None
) -> dict[str, Path | None]:
    """The files of a network by the options that name them."""
    return {"--features": features, "--graph": graph, "--node-ids": node_ids, "--feature-names": feature_names}


Dataset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A network by its name: see blockselect datasets list.",
        autocompletion=complete_datasets,
        rich_help_panel=DATA,
    ),
]
Features = Annotated[
    Path | None,
    existing_file(
        "Features, one row a node: .csv, .tsv or .txt with a header and an id column (also .gz, .zst), .parquet, "
        ".feather, .npz, .npy, .mtx (with the names that 10x writes beside it), .mat or .h5ad."
    ),
]
Graph = Annotated[
    Path | None,
    existing_file(
        "Links: a table with source, target and perhaps weight (.csv, .tsv, .txt, .parquet, .feather), .edgelist, "
        ".graphml, .gml, an adjacency matrix (.npz, .npy, .mtx, .mat) or .h5ad. Without it each node is "
        "linked with its nearest neighbours by the features."
    ),
]
NodeIds = Annotated[
    Path | None,
    existing_file("Ids of the nodes, one a line, for a matrix of features that brings none."),
]
FeatureNames = Annotated[
    Path | None,
    existing_file("Names of the features, one a line, for a matrix that brings none."),
]
Transpose = Annotated[
    bool,
    typer.Option("--transpose", help="The features are in rows and the nodes in columns.", rich_help_panel=DATA),
]
OnUnknownNodes = Annotated[
    UnknownNodes,
    typer.Option(help="What to do with links of nodes that have no features.", rich_help_panel=DATA),
]
Weight = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column, or attribute, that is the weight of the links; none: links count alike.",
        show_default="weight, if there is one",
        rich_help_panel=DATA,
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Replace files in --out that blockselect did not write, or that were changed since; never the input.",
        rich_help_panel=OUTPUT,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print the summary as JSON on stdout, and nothing else.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="No progress bar, and no summary at the end.", rich_help_panel=OUTPUT)
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="More about how the result came about.", rich_help_panel=OUTPUT)
]
