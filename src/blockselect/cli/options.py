"""Options that several commands share: the network that is read, and where the results go."""

from __future__ import annotations

import shlex
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from blockselect.cli.failure import Failure

# Options of each panel of the help.
data_option: Any = partial(typer.Option, rich_help_panel="Data")
method_option: Any = partial(typer.Option, rich_help_panel="Method")
output_option: Any = partial(typer.Option, rich_help_panel="Output")
expert_option: Any = partial(typer.Option, rich_help_panel="For experts")
input_file: Any = partial(data_option, metavar="FILE", exists=True, dir_okay=False)

# Names of the library, because importing it takes seconds.
DATASETS = ("blogcatalog", "citeseer", "cora", "cora-planetoid", "debian")
MethodName = Literal[
    "block-model",
    "bmgufs",
    "laplacian-score",
    "laplacian-score-network",
    "spec",
    "spec-published",
    "ndfs",
    "ndfs-published",
    "mcfs",
    "udfs",
    "variance",
    "mmpop",
    "mmpop-logistic",
    "partial-order",
    "netfs",
    "lufs",
    "gfs",
    "adapt",
    "morans-i",
    "hotspot",
]

NOT_REPEATED = ("out", "overwrite", "as_json", "quiet", "verbose")  # options that do not change the result
UnknownNodes = Literal["error", "drop"]


def number_or_word(text: str) -> int | float | str:
    """A whole number, a real number or a word; the selector checks the value. Huge numbers are real numbers."""
    with suppress(ValueError):
        if abs(number := int(text)) <= sys.maxsize:
            return number
    with suppress(ValueError):
        return float(text)
    return text


def parse_folder(text: str) -> Path:
    """The folder that --out names."""
    if not text.strip():
        raise Failure("--out is empty; name a folder (. is the current one).")
    return Path(text)


def complete_dataset(incomplete: str) -> list[str]:
    """Names of data sets for shell completion."""
    return [name for name in DATASETS if name.startswith(incomplete)]


def given(**options: Any) -> dict[str, Any]:
    """The options that differ from their defaults."""
    return {name: value for name, value in options.items() if value not in (None, False, [])}


def repeat_command(context: typer.Context, folder: str = "results") -> str:
    """The command that repeats this run, with files named without their folders, which are private."""
    words = ["blockselect", str(context.info_name)]
    options: list[Any] = context.command.params
    for option in options:
        source, value = context.get_parameter_source(option.name), context.params.get(option.name)
        if option.name in NOT_REPEATED or source is None or source.name != "COMMANDLINE":
            continue
        if isinstance(value, bool):
            words += option.opts if value else option.secondary_opts
            continue
        for one in value if isinstance(value, list | tuple) else [value]:
            # Older versions of Typer (0.25) keep a path as text.
            is_path = isinstance(one, Path) or option.metavar == "FILE"
            words += [option.opts[0], Path(str(one)).name if is_path else str(one)]
    return shlex.join([*words, "--out", folder])


Dataset = Annotated[
    str | None,
    data_option(
        metavar="NAME",
        help="A network by its name. `blockselect datasets list` shows the names.",
        autocompletion=complete_dataset,
    ),
]
Features = Annotated[
    Path | None,
    input_file(
        help="Features, one row per node: .csv, .tsv or .txt with a header and an id column (also .gz, .zst), "
        ".parquet, .feather, .npz, .npy, .mtx (with the files of names that 10x writes beside it), .mat or .h5ad."
    ),
]
Graph = Annotated[
    Path | None,
    input_file(
        help="Links: a table with the columns source, target and optionally weight (.csv, .tsv, .txt, .parquet, "
        ".feather), .edgelist, .graphml, .gml, an adjacency matrix (.npz, .npy, .mtx, .mat) or .h5ad. Without it each "
        "node is linked to its nearest neighbours by the features."
    ),
]
NodeIds = Annotated[
    Path | None, input_file(help="Ids of the nodes, one per line, for a matrix of features without ids.")
]
FeatureNames = Annotated[
    Path | None, input_file(help="Names of the features, one per line, for a matrix without names.")
]
Transpose = Annotated[bool, data_option("--transpose", help="Features are in rows and nodes are in columns.")]
IdColumn = Annotated[
    str | None,
    data_option(
        metavar="NAME",
        help="The column of the features that holds the ids of the nodes.",
        show_default="the first column",
    ),
]
Drop = Annotated[
    list[str] | None,
    data_option(metavar="COLUMN", help="Leave this column of the features out. May be given several times."),
]
OneHot = Annotated[
    bool, data_option("--one-hot", help="Make an indicator of each value of each text column, called column=value.")
]
OnUnknownNodes = Annotated[UnknownNodes, data_option(help="What to do with links of nodes that have no features.")]
Weight = Annotated[
    str | None,
    data_option(
        metavar="COLUMN",
        help="The column or attribute that holds the weights of the links. With none all links count alike.",
        show_default="weight, if there is one",
    ),
]
Overwrite = Annotated[
    bool,
    output_option(
        "--overwrite",
        help="Replace files in --out that blockselect did not write or that were changed since. Input files are "
        "never replaced.",
    ),
]
Json = Annotated[bool, output_option("--json", help="Print the summary as JSON on stdout, and nothing else.")]
Quiet = Annotated[bool, output_option("--quiet", help="Show neither progress nor a summary.")]
