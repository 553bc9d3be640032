"""Options that several commands share: the network that is read, and where the results go."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from blockselect.cli.outputs import parse_folder
from blockselect.wording import shortened

# Options of each panel of the help.
data_option: Any = partial(typer.Option, rich_help_panel="Data")
method_option: Any = partial(typer.Option, rich_help_panel="Method")
output_option: Any = partial(typer.Option, rich_help_panel="Output")
expert_option: Any = partial(typer.Option, rich_help_panel="For experts")
DATASETS = ("blogcatalog", "citeseer", "cora", "cora-planetoid", "debian")
METHODS = {
    "block-model": "Block models by consensus, the default",
    "bmgufs": "BMGUFS, as published",
    "laplacian-score": "Laplacian score",
    "laplacian-score-network": "Laplacian score on the network",
    "spec": "SPEC",
    "spec-published": "SPEC, in the reversed order of published code",
    "ndfs": "NDFS",
    "ndfs-published": "NDFS, with the quirks of published code",
    "mcfs": "MCFS",
    "udfs": "UDFS",
    "variance": "Variance",
    "mmpop": "MMPOP, hinge loss, binary features",
    "mmpop-logistic": "MMPOP, logistic loss, binary features",
    "partial-order": "Partial order, closed form",
    "netfs": "NetFS",
    "lufs": "LUFS",
    "gfs": "GFS-style",
    "adapt": "ADAPT-style",
    "morans-i": "Moran's I",
    "hotspot": "Hotspot's autocorrelation",
}
"""Names and titles of `SELECTORS` for shell completion, because importing the registry takes seconds."""

NOT_REPEATED = ("out", "overwrite", "as_json", "quiet", "verbose")  # options that do not change the result
UnknownNodes = Literal["error", "drop"]


def existing_file(text: str) -> Any:
    """An option that names an input file, which must exist."""
    return data_option(metavar="FILE", exists=True, dir_okay=False, help=text)


def results_folder(text: str) -> Any:
    """An option that names the folder for the results."""
    return output_option(metavar="DIR", parser=parse_folder, help=text)


def value_parser(
    expected: str,
    *,
    word: str | None = None,
    whole: Callable[[int], bool] | None = None,
    real: Callable[[float], bool] | None = None,
) -> Callable[[str], Any]:
    """A parser for options whose value is a word, a whole number or a real number.

    Parameters
    ----------
    expected : str
        The values that are accepted, for the error message.
    word : str, optional
        The word that is accepted.
    whole, real : callable, optional
        Whether a number is accepted. A whole number is tried first.
    """

    def parse(text: str) -> Any:
        if text == word:
            return text
        with suppress(ValueError):
            if whole is not None and whole(number := int(text)) and number <= sys.maxsize:
                return number
        with suppress(ValueError):
            if real is not None and real(decimal := float(text)) and decimal <= sys.maxsize:
                return decimal
        raise typer.BadParameter(f"it is {shortened(text)!r}; expected {expected}.")

    return parse


def complete_dataset(incomplete: str) -> list[str]:
    """Names of data sets for shell completion."""
    return [name for name in DATASETS if name.startswith(incomplete)]


def complete_method(incomplete: str) -> list[tuple[str, str]]:
    """Names and titles of methods for shell completion."""
    return [(name, title) for name, title in METHODS.items() if name.startswith(incomplete)]


def input_files(
    features: Path | None, graph: Path | None, node_ids: Path | None, feature_names: Path | None
) -> dict[str, Path | None]:
    """The files of a network by the options that name them."""
    return {"--features": features, "--graph": graph, "--node-ids": node_ids, "--feature-names": feature_names}


def repeat_command(context: typer.Context, folder: str = "results") -> str:
    """The command that repeats this run, with files named without their folders, which are private."""
    words = ["blockselect", str(context.info_name)]
    for option in context.command.params:
        source = context.get_parameter_source(str(option.name))
        if option.name not in NOT_REPEATED and source is not None and source.name == "COMMANDLINE":
            words += _words(option, context.params[str(option.name)])
    return shlex.join([*words, "--out", folder])


def _words(option: Any, value: Any) -> list[str]:
    if value is False:
        return [option.secondary_opts[0]]
    name = max(option.opts, key=len)
    if value is True:
        return [name]
    if isinstance(value, list | tuple):
        return [word for one in value for word in (name, str(one))]
    # Older versions of Typer (0.25) keep a path as text; the type of the option says that it is one.
    kind = getattr(getattr(option, "type", None), "name", None)
    is_path = isinstance(value, Path) or kind in ("file", "directory", "path")
    return [name, Path(value).name if is_path else str(value)]


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
    existing_file(
        "Features, one row per node: .csv, .tsv or .txt with a header and an id column (also .gz, .zst), .parquet, "
        ".feather, .npz, .npy, .mtx (with the files of names that 10x writes beside it), .mat or .h5ad."
    ),
]
Graph = Annotated[
    Path | None,
    existing_file(
        "Links: a table with the columns source, target and optionally weight (.csv, .tsv, .txt, .parquet, .feather), "
        ".edgelist, .graphml, .gml, an adjacency matrix (.npz, .npy, .mtx, .mat) or .h5ad. Without it each node is "
        "linked to its nearest neighbours by the features."
    ),
]
NodeIds = Annotated[Path | None, existing_file("Ids of the nodes, one per line, for a matrix of features without ids.")]
FeatureNames = Annotated[Path | None, existing_file("Names of the features, one per line, for a matrix without names.")]
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
    bool,
    data_option("--one-hot", help="Make an indicator of each value of each text column, called column=value."),
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
