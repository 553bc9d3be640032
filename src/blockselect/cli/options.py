"""Options that several commands share: the network that is read, and where the results go."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from blockselect.cli.failure import OPTION_OF, Failure

DEFAULT: Final = "block-model"
PAPER: Final = "bmgufs"  # beside the default the only method that finds blocks
SEED = 0  # the default, so that the same command writes the same files

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
CONSTANTS = {"True": True, "False": False, "None": None}


def number_or_word(text: str) -> int | float | str:
    """A whole number, a real number or a word; the selector checks the value. Huge numbers are real numbers."""
    with suppress(ValueError):
        if abs(number := int(text)) <= sys.maxsize:
            return number
    with suppress(ValueError):
        return float(text)
    return text


def parse_settings(assignments: Sequence[str]) -> dict[str, Any]:
    """Parameters of --set with their values: numbers, True, False, None, or text."""
    settings = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not (name and equals):
            raise Failure(f"--set is {assignment!r}; expected a parameter and its value, such as refine=False.")
        if name in OPTION_OF:
            raise Failure(f"--set cannot be used for {name}, which has an option of its own; give {OPTION_OF[name]}.")
        settings[name] = CONSTANTS.get(text, number_or_word(text))
    return settings


def parse_folder(text: str) -> Path:
    """The folder that --out names."""
    if not text.strip():
        raise Failure("--out is empty; name a folder (. is the current one).")
    return Path(text)


def parse_input(text: str) -> Path:
    """A file, or - for standard input. Typer refuses - even where `allow_dash` is set."""
    if text != "-" and not Path(text).is_file():
        raise typer.BadParameter(f"{text!r} does not exist or is no file.")
    return Path(text)


def complete_dataset(incomplete: str) -> list[str]:
    """Names of data sets for shell completion."""
    return [name for name in DATASETS if name.startswith(incomplete)]


def given(**options: Any) -> dict[str, Any]:
    """The options that differ from their defaults."""
    return {name: value for name, value in options.items() if value is not None and value is not False and value != []}


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
            is_path = isinstance(one, Path) or option.metavar in ("FILE", "FILE|-")
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
    data_option(
        parser=parse_input,
        metavar="FILE|-",
        help="Features, one row per node: .csv, .tsv or .txt with a header and an id column (also .gz), .xlsx, "
        ".parquet, .feather, .npz, .npy, .mtx (with the files of names that 10x writes beside it), .mat or .h5ad. "
        "With - a .csv table from standard input. Not needed if --graph holds attributes of the nodes.",
    ),
]
Graph = Annotated[
    Path | None,
    data_option(
        parser=parse_input,
        metavar="FILE|-",
        help="Links: a table with the columns source, target and optionally weight (.csv, .tsv, .txt, .xlsx, .parquet, "
        ".feather), a list of edges as SNAP has them (.txt, .edgelist, also .gz), an adjacency matrix (.npz, .npy, "
        ".mtx, .mat), .graphml, .gexf, .gml, .json (node-link) or .h5ad; these five may bring the features too. "
        "With - a table from standard input. Without it each node is linked to its nearest neighbours by the features.",
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
        help="The column of the features, or the attribute of nodes, that holds the ids of the nodes.",
        show_default="the first column",
    ),
]
Drop = Annotated[
    list[str] | None,
    data_option(
        metavar="COLUMN",
        help="Leave this column of the features, or this attribute of nodes, out. May be given several times.",
    ),
]
OneHot = Annotated[
    bool, data_option("--one-hot", help="Make an indicator of each value of each text column, called column=value.")
]
Fill = Annotated[
    float | None,
    data_option(metavar="NUMBER", help="The number for empty cells, and for nodes that lack an attribute of numbers."),
]
Decimal = Annotated[
    str | None, data_option(metavar=".|,", help="The decimal point of numbers in files of text.", show_default=".")
]
NoHeader = Annotated[
    bool, data_option("--no-header", help="The first row of tables holds data, not names; columns are called 0, 1, ….")
]
LabelAttribute = Annotated[
    str | None,
    data_option(
        metavar="NAME",
        help="Known labels of the nodes, in this attribute of nodes or column of the features, which is then no "
        "feature.",
    ),
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
        help="Replace files in --out even if the folder holds no earlier results. Input files are never replaced.",
    ),
]
Json = Annotated[bool, output_option("--json", help="Print the summary as JSON on stdout, and nothing else.")]
Quiet = Annotated[bool, output_option("--quiet", help="Show neither progress nor a summary.")]
