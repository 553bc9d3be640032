"""Options that several commands share: the files of the network, and where results are written."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from blockselect.cli.failure import OPTION_OF, Failure

DEFAULT: Final = "block-model"
PAPER: Final = "bmgufs"  # the only other method that finds blocks
SEED = 0  # the default seed, so that the same command writes the same files

# Panels of the help page.
data_option: Any = partial(typer.Option, rich_help_panel="Data")
method_option: Any = partial(typer.Option, rich_help_panel="Method")
output_option: Any = partial(typer.Option, rich_help_panel="Output")
expert_option: Any = partial(typer.Option, rich_help_panel="For experts")

# Names defined in the library, repeated here because importing the library takes seconds.
DATASETS = ("blogcatalog", "citeseer", "cora", "cora-planetoid", "debian")
METHODS = (
    "block-model bmgufs laplacian-score laplacian-score-network spec spec-published ndfs ndfs-published mcfs udfs "
    "variance mmpop mmpop-logistic partial-order netfs lufs gfs adapt morans-i hotspot"
).split()

READING_OPTIONS = (
    *("node_ids", "feature_names", "transpose", "unknown_nodes", "weight", "id_column"),
    *("drop", "one_hot", "fill", "decimal", "label_attribute"),
)
"""Options for reading files, apart from no_header."""
NOT_REPEATED = ("out", "overwrite", "as_json", "quiet", "verbose")  # options that do not change the result
STANDARD_INPUT = Path("-")
UnknownNodes = Literal["error", "drop"]
CONSTANTS = {"True": True, "False": False, "None": None}


def number_or_word(text: str) -> int | float | str:
    """Parse a whole number, a real number or a word; the selector checks it. Huge whole numbers become real numbers."""
    with suppress(ValueError):
        if abs(number := int(text)) <= sys.maxsize:
            return number
    with suppress(ValueError):
        return float(text)
    return text


def parse_settings(assignments: Sequence[str]) -> dict[str, Any]:
    """Parse the parameters of --set; a value is a number, True, False, None, or text."""
    settings = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not (name and equals):
            raise Failure(f"--set is {assignment!r}; expected a parameter and its value, such as refine=False.")
        if name in OPTION_OF:
            raise Failure(f"--set cannot be used for {name}, which has its own option; use {OPTION_OF[name]}.")
        settings[name] = CONSTANTS.get(text, number_or_word(text))
    return settings


def parse_folder(text: str) -> Path:
    """Parse the folder of --out."""
    if not text.strip():
        raise Failure("--out is empty; name a folder (. is the current folder).")
    return Path(text)


def parse_file(text: str) -> Path:
    """Parse the path of a file, which must exist."""
    if not Path(text).is_file():
        raise typer.BadParameter(f"{text!r} does not exist or is not a file.")
    return Path(text)


def parse_input(text: str) -> Path:
    """Parse the path of a file, or - for standard input."""
    return STANDARD_INPUT if text == str(STANDARD_INPUT) else parse_file(text)


input_file: Any = partial(data_option, parser=parse_file, metavar="FILE")


def one_of(names: Sequence[str], what: str) -> dict[str, Any]:
    """Settings of an option that accepts only these names, with shell completion."""

    def parse(text: str) -> str:
        if text not in names:
            guess = "".join(f" Did you mean {name}?" for name in get_close_matches(text, names, n=1))
            raise Failure(f"no {what} is called {text!r}; choose one of: {', '.join(names)}.{guess}")
        return text

    return {"parser": parse, "autocompletion": completion(names)}


def completion(names: Sequence[str]) -> Callable[[str], list[str]]:
    """A function that completes these names in a shell."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def given_options(context: typer.Context) -> dict[str, Any]:
    """The options that were given on the command line, keyed by parameter of the command function."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name: context.params[name] for name, source in sources.items() if source and source.name == "COMMANDLINE"}


def reading_options(context: typer.Context) -> dict[str, Any]:
    """The given options for reading files, keyed by parameter of `read_attributed_graph`."""
    given = given_options(context)
    options = {name: given[name] for name in READING_OPTIONS if name in given}
    return {**options, "header": False} if "no_header" in given else options


def repeat_command(context: typer.Context, folder: str = "results") -> str:
    """The command that repeats this run. Files are named without their folders, which are private."""
    words, given = ["blockselect", str(context.info_name)], given_options(context)
    options: list[Any] = context.command.params
    for option in options:
        if option.name not in given or option.name in NOT_REPEATED:
            continue
        value = given[option.name]
        if isinstance(value, bool):
            words.append(option.opts[0])
            continue
        for one in value if isinstance(value, list | tuple) else [value]:
            words += [option.opts[0], one.name if isinstance(one, Path) else str(one)]
    return shlex.join([*words, "--out", folder])


Dataset = Annotated[
    str | None,
    data_option(
        metavar="NAME",
        help="Name of a built-in network. `blockselect datasets list` shows all names.",
        autocompletion=completion(DATASETS),
    ),
]
Features = Annotated[
    Path | None,
    data_option(
        parser=parse_input,
        metavar="FILE|-",
        help="Features, one row per node: .csv, .tsv or .txt with a header and an id column (also .gz), .xlsx, "
        ".parquet, .feather, .npz, .npy, .mtx (with the accompanying 10x name files), .mat or .h5ad. Use - to read "
        "a .csv table from standard input. Not needed if --graph contains node attributes.",
    ),
]
Graph = Annotated[
    Path | None,
    data_option(
        parser=parse_input,
        metavar="FILE|-",
        help="Links: a table with the columns source, target and optionally weight (.csv, .tsv, .txt, .xlsx, .parquet, "
        ".feather), an edge list as in SNAP (.txt, .edgelist, also .gz), an adjacency matrix (.npz, .npy, .mtx, .mat), "
        ".graphml, .gexf, .gml, .json (node-link) or .h5ad; the last five may also contain the features. Use - to "
        "read a table from standard input. Without --graph, each node is linked to its nearest neighbours in the "
        "features.",
    ),
]
NodeIds = Annotated[Path | None, input_file(help="Node ids, one per line, for a feature matrix without ids.")]
FeatureNames = Annotated[
    Path | None, input_file(help="Feature names, one per line, for a feature matrix without names.")
]
Transpose = Annotated[bool, data_option("--transpose", help="The file has features in rows and nodes in columns.")]
IdColumn = Annotated[
    str | None,
    data_option(
        metavar="NAME",
        help="The feature column or node attribute that contains the node ids.",
        show_default="the first column",
    ),
]
Drop = Annotated[
    list[str] | None,
    data_option(
        metavar="COLUMN",
        help="Leave out this feature column or node attribute. May be repeated.",
    ),
]
OneHot = Annotated[
    bool, data_option("--one-hot", help="Convert each text column to one indicator per value, named column=value.")
]
Fill = Annotated[
    float | None,
    data_option(metavar="NUMBER", help="Value for empty cells and missing numeric attributes."),
]
Decimal = Annotated[str | None, data_option(metavar=".|,", help="Decimal separator in text files.", show_default=".")]
NoHeader = Annotated[
    bool,
    data_option("--no-header", help="The first row of each table contains data, not names; columns are named 0, 1, …."),
]
LabelAttribute = Annotated[
    str | None,
    data_option(
        metavar="NAME",
        help="The node attribute or feature column that contains known labels; it is not used as a feature.",
    ),
]
OnUnknownNodes = Annotated[UnknownNodes, data_option(help="What to do with links to nodes without features.")]
Weight = Annotated[
    str | None,
    data_option(
        metavar="COLUMN",
        help="The column or attribute that contains the link weights; none gives all links the same weight.",
        show_default="weight, if there is one",
    ),
]
Overwrite = Annotated[
    bool,
    output_option(
        "--overwrite",
        help="Replace files in --out even if blockselect did not write them. Input files are never replaced.",
    ),
]
Json = Annotated[bool, output_option("--json", help="Print the summary as JSON, and nothing else.")]
Quiet = Annotated[bool, output_option("--quiet", help="Show no progress and no summary.")]
