"""`blockselect select`: its options, and its steps from reading the input to writing the results.

The steps are in `selection`, `inputs` and `terminal`. These modules import NumPy and scikit-learn, which takes
seconds, so they are imported only after the options have been checked.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from blockselect.cli import options as opt
from blockselect.cli.failure import Failure, say
from blockselect.cli.options import (
    DEFAULT,
    PAPER,
    data_option,
    input_file,
    method_option,
    number_or_word,
    output_option,
)
from blockselect.cli.outputs import check_folder, write_together
from blockselect.cli.signals import begin_work
from blockselect.cli.waiting import waiting

RESAMPLES, MIN_RESAMPLES = 8, 3
MOST_JOBS = 1024  # operating systems limit the number of threads
FAMILIES = ("mixed", "smoothed", "spectral", "adjacency", "normalized", "two_hop", "onmtf")  # of block models


Labels = Annotated[
    Path | None,
    input_file(
        help="Known node labels: a .csv file with a header and one row per node (id, label). The report compares them "
        "with the blocks; the selection never uses them."
    ),
]
Method = Annotated[
    str | None,
    method_option(
        **opt.one_of(opt.METHODS, "method"),
        metavar="NAME",
        help="Name of the method, such as mcfs, morans-i or hotspot; `blockselect methods` lists all. Only block-model "
        "and bmgufs find blocks; the other methods write a shorter report, no blocks.csv and no pictures.",
        show_default=DEFAULT,
    ),
]
Paper = Annotated[
    bool,
    method_option(
        "--paper",
        help="Same as --method bmgufs: exactly the method of Bai, Nguyen and Davidson (KDD 2020). Requires --blocks, "
        "or your own blocks as --block-model.",
    ),
]
Top = Annotated[
    Any,
    method_option(
        parser=number_or_word,
        metavar="INTEGER|NUMBER|auto",
        help="Number of features to select, or a share between 0 and 1; auto selects all features that are "
        "significantly associated with the graph (paper: d).",
        show_default="the fewest that explain 80 % of what all features explain, at most 500; half of all features "
        "with other methods",
    ),
]
Blocks = Annotated[
    Any,
    method_option(
        parser=number_or_word,
        metavar="INTEGER|auto",
        help="Number of blocks; auto estimates it from the graph, from 2 to 50 (paper: k).",
        show_default="auto; required with --paper",
    ),
]
Seed = Annotated[
    int | None,
    method_option(metavar="INTEGER", help="Random seed. The same seed gives the same result.", show_default="0"),
]
Jobs = Annotated[
    int | None,
    method_option(
        max=MOST_JOBS,
        metavar="INTEGER",
        help="Number of threads; -1 uses all cores. It does not affect the result.",
        show_default="1",
    ),
]
Neighbors = Annotated[
    int | None,
    data_option(
        metavar="INTEGER",
        help="Link each node to this many nearest neighbours in the features, if there is no --graph or the --method "
        "always uses such links.",
        show_default="10, with a warning; required with --paper and methods guided by the network",
    ),
]
Out = Annotated[
    Path | None,
    output_option(
        parser=opt.parse_folder,
        metavar="DIR",
        help="Folder for the results; open report.html first. Required unless --json is given.",
    ),
]
Verbose = Annotated[bool, output_option("--verbose", "-v", help="Show details of how the result was obtained.")]
Resamples = Annotated[
    int | None,
    output_option(
        min=0,
        max=10**6,
        metavar="INTEGER",
        help="Number of resampled graphs for estimating the stability of the selection; 0 skips this.",
        show_default=f"{RESAMPLES}; 0 with other methods",
    ),
]
SaveMatrix = Annotated[
    bool,
    output_option(
        "--save-matrix",
        help="Also write the matrix of the selected features, in the format of --features if possible (matrix.npz, …), "
        "otherwise as matrix.csv.",
    ),
]


def parse_block_model(text: str) -> str | Path:
    """Parse the name of a family, or the path of a file of labels."""
    if text in FAMILIES:
        return text
    path = Path(text)
    if not path.is_file():
        raise typer.BadParameter(f"{text!r} is neither a file of labels nor one of {', '.join(FAMILIES)}.")
    return path


BlockModel = Annotated[
    Any,
    method_option(
        parser=parse_block_model,
        metavar="FAMILY|FILE",
        help="Family of block models: smoothed, spectral, adjacency, normalized, two_hop, onmtf, or mixed, which uses "
        "several of these in turn. Or your own blocks: a .csv file with a header and one row per node (id, block) "
        "(paper: F, M).",
        show_default="mixed",
    ),
]
Set = Annotated[
    list[str] | None,
    method_option(
        "--set",
        metavar="NAME=VALUE",
        help="Set another parameter of the method, such as refine=False or, with --paper, solver__max_iter=50. May be "
        "repeated. `blockselect methods NAME` lists the parameters.",
    ),
]
app = typer.Typer(add_completion=False)


@app.command()
def select(
    context: typer.Context,
    dataset: opt.Dataset = None,
    features: opt.Features = None,
    graph: opt.Graph = None,
    node_ids: opt.NodeIds = None,
    feature_names: opt.FeatureNames = None,
    transpose: opt.Transpose = False,
    id_column: opt.IdColumn = None,
    drop: opt.Drop = None,
    one_hot: opt.OneHot = False,
    fill: opt.Fill = None,
    decimal: opt.Decimal = None,
    no_header: opt.NoHeader = False,
    unknown_nodes: opt.OnUnknownNodes = "error",
    weight: opt.Weight = None,
    neighbors: Neighbors = None,
    labels: Labels = None,
    label_attribute: opt.LabelAttribute = None,
    method: Method = None,
    paper: Paper = False,
    top: Top = None,
    blocks: Blocks = None,
    block_model: BlockModel = None,
    seed: Seed = None,
    jobs: Jobs = None,
    parameters: Set = None,
    out: Out = None,
    overwrite: opt.Overwrite = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: Verbose = False,
    resamples: Resamples = None,
    save_matrix: SaveMatrix = False,
) -> None:
    """\b
    Examples:
      blockselect select --dataset debian --top 60 --out results
      blockselect select --features genes.csv --graph links.csv --out results
      blockselect select --features genes.csv --graph links.csv --top auto --json
      blockselect select --graph friends.graphml --label-attribute team --out results
      blockselect select --dataset cora --method morans-i --top 64 --out moran
    """
    if out is None and not as_json:
        raise Failure("no output is requested; name a folder with --out, or use --json.")
    if paper and method not in (None, PAPER):
        raise Failure(f"--paper means --method {PAPER}, but --method is {method!r}; use only one of them.")
    if labels is not None and label_attribute is not None:
        raise Failure("--labels and --label-attribute both specify the known labels; use only one of them.")
    method = PAPER if paper else method or DEFAULT
    if resamples is None:  # only the default method estimates stability by default
        resamples = RESAMPLES if method == DEFAULT else 0
    elif 0 < resamples < MIN_RESAMPLES:
        raise Failure(f"--resamples is {resamples}, which is too few; choose at least {MIN_RESAMPLES}, or 0 for none.")
    others = opt.parse_settings(parameters or [])

    from blockselect.cli import selection as work
    from blockselect.cli.inputs import load_network, node_labels, read_labels
    from blockselect.cli.terminal import progress_bar, show_selection
    from blockselect.registry import find_method

    begin_work()
    if neighbors is not None and (graph or dataset) is not None and find_method(method).guidance != "features":
        raise Failure("--neighbors cannot be combined with a graph; leave out one of them.")
    blocks_file = block_model if isinstance(block_model, Path) else None
    if out is not None:
        inputs = (features, graph, node_ids, feature_names, labels, blocks_file)
        check_folder(out, work.file_names(method, features or graph, save_matrix), inputs, overwrite=overwrite)
    settings = {
        "n_features_to_select": top,
        "n_blocks": blocks,
        "block_model": block_model if blocks_file is None else read_labels(blocks_file),
        "random_state": seed,
        "n_jobs": jobs,
        "n_neighbors": neighbors,
    }
    selector = work.configured_selector(method, settings, others)
    with progress_bar(quiet) as progress:
        progress("reading", 0, 1)
        reading, n_neighbors = opt.reading_options(context), work.neighbors_to_link(selector)
        network = load_network(dataset, features, graph, reading, n_neighbors=n_neighbors, progress=progress)
        if blocks_file is not None:
            selector.set_params(block_model=node_labels(network, "block_model", blocks_file))
        has_labels = labels is not None or label_attribute is not None
        known = node_labels(network, "labels", labels) if has_labels else None
        progress("reading", 1, 1)
        selection = work.run_selection(network, selector, method, resamples, progress)
        if known is not None and not selection.by_blocks:
            known = None
            selection.warnings.append(
                f"known labels have no effect: the report compares them with blocks, and {method} finds no blocks."
            )
        if out is not None:
            progress("writing", 0, 1)
            files = work.file_contents(selection, opt.repeat_command(context), labels=known, save_matrix=save_matrix)
            write_together(out, files)
    for note in () if quiet else network.notes:
        say(note)
    for warning in selection.warnings:
        say(f"warning: {warning}")
    waiting.end()
    if as_json:
        typer.echo(json.dumps(work.json_summary(selection), allow_nan=False))
    elif out is not None and not quiet:
        show_selection(network.title, selection.summary, out, list(files), verbose=verbose)
