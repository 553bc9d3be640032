"""`blockselect select`: its options, and its steps from reading to writing.

The steps are in `selection`, `inputs` and `terminal`. These import NumPy and scikit-learn, which takes seconds, so they
are imported only after the options were checked.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from blockselect.cli import options as opt
from blockselect.cli.failure import Failure, begin_work, say
from blockselect.cli.options import (
    DEFAULT,
    PAPER,
    data_option,
    expert_option,
    input_file,
    method_option,
    number_or_word,
    output_option,
)
from blockselect.cli.outputs import check_folder, write_together

RESAMPLES, MIN_RESAMPLES = 8, 3
MOST_JOBS = 1024  # operating systems limit the number of threads
FAMILIES = ("mixed", "smoothed", "spectral", "adjacency", "normalized", "two_hop", "onmtf")  # of block models


def paper_option(text: str, *, default: str, **settings: Any) -> Any:
    """An option that only --paper has, with its help and the default that the help shows."""
    return expert_option(help=text, show_default=f"{default}; only with --paper", **settings)


Labels = Annotated[
    Path | None,
    input_file(
        help="Known labels of the nodes, which the report compares with the blocks and which the selection never uses: "
        "a .csv file with a header and one row per node, its id and its label."
    ),
]
Method = Annotated[
    opt.MethodName | None,
    method_option(
        metavar="NAME",
        help="The method, by its name in docs/methods.md: mcfs, morans-i, hotspot, …. Only block-model and bmgufs "
        "find blocks; the other methods write a shorter report, no blocks.csv and no pictures.",
        show_default=DEFAULT,
    ),
]
Paper = Annotated[
    bool,
    method_option(
        "--paper",
        help="Short for --method bmgufs: exactly the method of Bai, Nguyen and Davidson (KDD 2020). Needs --blocks.",
    ),
]
Top = Annotated[
    Any,
    method_option(
        parser=number_or_word,
        metavar="INTEGER|NUMBER|auto",
        help="How many features to keep; a number between 0 and 1 is a share of the features. With auto, all features "
        "that match the graph better than chance (paper: d).",
        show_default="the fewest that explain 80 % of what all features explain, at most 500; half of all features "
        "with another --method",
    ),
]
Blocks = Annotated[
    Any,
    method_option(
        parser=number_or_word,
        metavar="INTEGER|auto",
        help="Number of blocks. With auto, as many as the graph supports, 2 to --max-blocks (paper: k).",
        show_default="auto; needed with --paper",
    ),
]
Seed = Annotated[int | None, method_option(help="Random seed. The same seed gives the same result.", show_default="0")]
Jobs = Annotated[
    int | None,
    method_option(
        max=MOST_JOBS,
        metavar="INTEGER",
        help="Number of threads; -1 uses all cores. The result does not depend on it.",
        show_default="1",
    ),
]
Neighbors = Annotated[
    int | None,
    data_option(
        help="Without --graph: number of nearest neighbours by the features that each node is linked to.",
        show_default="10, with a warning; needed with --paper",
    ),
]
Out = Annotated[
    Path | None,
    output_option(
        parser=opt.parse_folder,
        metavar="DIR",
        help="Folder for the results. Begin with report.html in it. Needed unless --json is given.",
    ),
]
Verbose = Annotated[bool, output_option("--verbose", "-v", help="Show more about how the result was found.")]
Resamples = Annotated[
    int | None,
    output_option(
        min=0,
        max=10**6,
        metavar="INTEGER",
        help="Number of resampled graphs from which the stability of the selection is estimated. 0 skips this.",
        show_default=f"{RESAMPLES}; 0 with another --method",
    ),
]
SaveMatrix = Annotated[
    bool,
    output_option(
        "--save-matrix",
        help="Also write the selected features of all nodes to matrix.csv or, in the format of --features, to "
        "matrix.npz or similar.",
    ),
]
MaxBlocks = Annotated[
    int | None, expert_option(help="The largest number of blocks that --blocks auto considers.", show_default="50")
]


def parse_block_model(text: str) -> str | Path:
    """The name of a family, or the path of a file of labels."""
    if text in FAMILIES:
        return text
    path = Path(text)
    if not path.is_file():
        raise typer.BadParameter(f"{text!r} is neither a file of labels nor one of {', '.join(FAMILIES)}.")
    return path


BlockModel = Annotated[
    Any,
    expert_option(
        parser=parse_block_model,
        metavar="FAMILY|FILE",
        help="How blocks are found: smoothed, spectral, adjacency, normalized, two_hop, onmtf, or mixed, which uses "
        "several of these in turn. Or the blocks themselves: a .csv file with a header and one row per node, its id "
        "and its block (paper: F, M).",
        show_default="mixed",
    ),
]
Candidates = Annotated[
    Any,
    expert_option(
        parser=number_or_word,
        metavar="INTEGER|auto",
        help="Number of block models to find from different random starts. With auto, 9 to 48, depending on the "
        "estimated cost, and fewer on very large networks.",
        show_default="auto; 10 with --paper",
    ),
]
Refine = Annotated[
    bool | None,
    expert_option(
        "--refine/--no-refine",
        help="Move nodes between blocks while links and features together become more likely. With auto, do so unless "
        "the features do not follow the blocks that the links clearly show.",
        show_default="auto",
    ),
]
Binarize = Annotated[
    Literal["auto", "yes", "no"] | None,
    expert_option(
        help="Use only which features a node has, not their values. With auto, do so if the features are counts and "
        "more than half of them are zero.",
        show_default="auto",
    ),
]
ProfileRatio = Annotated[
    float | None,
    paper_option("Weight of the profile loss against the reconstruction loss, 0 to 1 (paper: β̄).", default="0.6"),
]
Sparsity = Annotated[
    Any,
    paper_option(
        "Weight of the ℓ1 penalty. With paper, the strongest of 0, 0.5, …, 5 that leaves --top features with a "
        "score (paper: γ).",
        parser=number_or_word,
        metavar="NUMBER|paper",
        default="paper",
    ),
]
Gradient = Annotated[
    Literal["exact", "paper"] | None,
    paper_option(
        "With paper, the published gradient of the profile loss, which is not its derivative.", default="paper"
    ),
]
MaxIter = Annotated[
    int | None,
    paper_option("Number of iterations of the descent.", max=10**9, metavar="INTEGER", default="200"),
]
Tol = Annotated[
    float | None,
    paper_option(
        "Stop once both losses have changed by at most this relative amount over ten iterations. 0 never stops early.",
        default="0.0",
    ),
]
Device = Annotated[
    str | None, paper_option("Where the descent runs: cpu (NumPy), or a PyTorch device such as cuda.", default="cpu")
]
Dtype = Annotated[
    Literal["float64", "float32", "tfloat32"] | None,
    paper_option(
        "Float type of the descent: float64, float32, or tfloat32, which is float32 with faster matrix products "
        "on a CUDA device.",
        metavar="TYPE",
        default="float64",
    ),
]
MemoryLimit = Annotated[
    float | None,
    paper_option(
        "Bytes that the squared Gram matrix of the features may take. If no exact form fits, an approximation of "
        "low rank is used.",
        default="8 GB",
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
    seed: Seed = None,
    jobs: Jobs = None,
    out: Out = None,
    overwrite: opt.Overwrite = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: Verbose = False,
    resamples: Resamples = None,
    save_matrix: SaveMatrix = False,
    max_blocks: MaxBlocks = None,
    block_model: BlockModel = None,
    candidates: Candidates = None,
    refine: Refine = None,
    binarize: Binarize = None,
    profile_ratio: ProfileRatio = None,
    sparsity: Sparsity = None,
    gradient: Gradient = None,
    max_iter: MaxIter = None,
    tol: Tol = None,
    device: Device = None,
    dtype: Dtype = None,
    memory_limit: MemoryLimit = None,
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
        raise Failure("nowhere to put the result; name a folder with --out, or give --json.")
    if paper and method not in (None, PAPER):
        raise Failure(f"--paper runs {PAPER} and --method {method!r} another; leave one of them out.")
    if labels is not None and label_attribute is not None:
        raise Failure("--labels and --label-attribute both name the known labels; leave one of them out.")
    method = PAPER if paper else method or DEFAULT
    if neighbors is not None and (graph is not None or dataset is not None):
        raise Failure("--neighbors links nodes where no graph is given; leave it or the graph out.")
    if resamples is None:  # only the default method estimates stability without being asked
        resamples = RESAMPLES if method == DEFAULT else 0
    elif 0 < resamples < MIN_RESAMPLES:
        raise Failure(f"--resamples is {resamples}, too few; choose at least {MIN_RESAMPLES}, or 0.")
    blocks_file = block_model if isinstance(block_model, Path) else None
    settings = {
        "n_features_to_select": top,
        "n_blocks": blocks,
        "random_state": seed,
        "n_jobs": jobs,
        "n_neighbors": neighbors,
        "max_blocks": max_blocks,
        "block_model": block_model,
        "n_candidates": candidates,
        "refine": refine,
        "binarize": {"yes": True, "no": False}.get(binarize or "", binarize),
        "profile_ratio": profile_ratio,
        "sparsity": sparsity,
        "device": device,
        "solver__gradient": gradient,
        "solver__max_iter": max_iter,
        "solver__tol": tol,
        "solver__dtype": dtype,
        "solver__memory_limit": memory_limit,
    }

    from blockselect.cli import selection as work
    from blockselect.cli.inputs import load_network, node_labels, read_labels
    from blockselect.cli.terminal import progress_bar, show_selection

    begin_work()
    if out is not None:
        inputs = (features, graph, node_ids, feature_names, labels, blocks_file)
        check_folder(out, work.file_names(method, features or graph, save_matrix), inputs, overwrite=overwrite)
    if blocks_file is not None:
        settings["block_model"] = read_labels(blocks_file)
    selector = work.configured_selector(method, {key: value for key, value in settings.items() if value is not None})
    reading = opt.given(
        node_ids=node_ids,
        feature_names=feature_names,
        transpose=transpose,
        unknown_nodes=None if unknown_nodes == "error" else unknown_nodes,
        weight=weight,
        id_column=id_column,
        drop=drop,
        one_hot=one_hot,
        fill=fill,
        decimal=decimal,
        label_attribute=label_attribute,
    )
    if no_header:
        reading["header"] = False
    with progress_bar(quiet) as progress:
        progress("reading", 0, 1)
        n_neighbors = work.neighbors_to_link(selector)
        network = load_network(dataset, features, graph, reading, n_neighbors=n_neighbors, progress=progress)
        if blocks_file is not None:
            selector.set_params(block_model=node_labels(network, "block_model", blocks_file))
        known = None
        if labels is not None or label_attribute is not None:
            known = node_labels(network, "labels", labels)
        progress("reading", 1, 1)
        selection = work.run_selection(network, selector, method, resamples, progress)
        if known is not None and not selection.by_blocks:
            known = None
            selection.warnings.append(
                f"--labels has no effect: the report compares labels with blocks, and {method} finds none."
            )
        if out is not None:
            progress("writing", 0, 1)
            files = work.file_contents(selection, opt.repeat_command(context), labels=known, save_matrix=save_matrix)
            write_together(out, files)
    for note in () if quiet else network.notes:
        say(note)
    for warning in selection.warnings:
        say(f"warning: {warning}")
    if as_json:
        typer.echo(json.dumps(work.json_summary(selection), allow_nan=False))
    elif out is not None and not quiet:
        show_selection(network.title, selection.summary, out, list(files), verbose=verbose)
