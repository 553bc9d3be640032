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
from blockselect.cli.failure import Failure, expecting_bad_input
from blockselect.cli.options import data_option, expert_option, method_option, output_option, value_parser
from blockselect.cli.outputs import check_destination, write_together
from blockselect.cli.process import begin_work, say
from blockselect.parameters import check_known
from blockselect.progress import no_progress
from blockselect.wording import shortened

DEFAULT, PAPER = "block-model", "bmgufs"  # the methods that find blocks
SCORE_FILES = ("report.html", "selected.csv", "scores.csv", "nodes.csv", "run.json")  # of every method
BLOCK_FILES = (*SCORE_FILES, "blocks.csv", "overview.png", "diagnostics.png")
RESAMPLES, MIN_RESAMPLES, MOST_RESAMPLES = 8, 3, 10**6
FAMILIES = ("mixed", "smoothed", "spectral", "adjacency", "normalized", "two_hop", "onmtf")  # of block models
MOST_JOBS = 1024  # operating systems limit the number of threads

Labels = Annotated[
    Path | None,
    opt.existing_file(
        "Known labels of the nodes, which the report compares with the blocks and which the selection never uses: a "
        ".csv file with a header and one row per node, its id and its label."
    ),
]
Method = Annotated[
    str | None,
    method_option(
        metavar="NAME",
        help="The method, by its name in docs/methods.md: mcfs, morans-i, hotspot, …. Only block-model and bmgufs "
        "find blocks; the other methods write a shorter report, no blocks.csv and no pictures.",
        show_default=DEFAULT,
        autocompletion=opt.complete_method,
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
        parser=value_parser(
            "a whole number from 1, a number between 0 and 1, or auto",
            word="auto",
            whole=lambda number: number >= 1,
            real=lambda share: 0 < share < 1,
        ),
        metavar="INTEGER|NUMBER|auto",
        help="How many features to keep; a number between 0 and 1 is a share of the features. With auto, all features "
        "that match the graph better than chance (paper: d).",
        show_default="half of the features",
    ),
]
whole_or_auto = value_parser("a whole number from 1, or auto", word="auto", whole=lambda number: number >= 1)
Blocks = Annotated[
    Any,
    method_option(
        parser=whole_or_auto,
        metavar="INTEGER|auto",
        help="Number of blocks. With auto, as many as the graph supports, 2 to --max-blocks (paper: k).",
        show_default="auto; needed with --paper",
    ),
]
Seed = Annotated[
    int | None,
    method_option(
        min=0,
        max=2**32 - 1,
        metavar="INTEGER",
        help="Random seed. The same seed gives the same result.",
        show_default="0",
    ),
]
Jobs = Annotated[
    int | None,
    method_option(
        metavar="INTEGER",
        help="Number of processes or threads; -1 uses all cores. The result does not depend on it.",
        show_default="1",
    ),
]
Neighbors = Annotated[
    int | None,
    data_option(
        min=1,
        metavar="INTEGER",
        help="Without --graph: number of nearest neighbours by the features that each node is linked to.",
        show_default="10, with a warning; needed with --paper",
    ),
]
Out = Annotated[
    Path | None,
    opt.results_folder("Folder for the results. Begin with report.html in it. Needed unless --json is given."),
]
Verbose = Annotated[bool, output_option("--verbose", "-v", help="Show more about how the result was found.")]
Resamples = Annotated[
    int | None,
    output_option(
        min=0,
        max=MOST_RESAMPLES,
        metavar="INTEGER",
        help="Number of resampled graphs from which the stability of the selection is estimated. 0 skips this.",
        show_default=f"{RESAMPLES}; 0 with another --method",
    ),
]
SaveMatrix = Annotated[
    bool,
    output_option(
        "--save-matrix",
        help="Also write the selected features of all nodes, in the format of --features, to matrix.csv or similar.",
    ),
]
MaxBlocks = Annotated[
    int | None,
    expert_option(
        min=2, metavar="INTEGER", help="The largest number of blocks that --blocks auto considers.", show_default="50"
    ),
]


def parse_block_model(text: str) -> str | Path:
    """The name of a family, or the path of a file of labels."""
    if text in FAMILIES:
        return text
    path = Path(text)
    if not path.is_file():
        raise typer.BadParameter(f"{shortened(text)!r} is neither a file of labels nor one of {', '.join(FAMILIES)}.")
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
        parser=whole_or_auto,
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
        help="Move nodes between blocks while links and features together become more likely.",
        show_default="refine",
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
    expert_option(
        parser=value_parser("a number from 0 to 1", real=lambda ratio: 0 <= ratio <= 1),
        metavar="NUMBER",
        help="Weight of the profile loss against the reconstruction loss, 0 to 1 (paper: β̄).",
        show_default="0.6; only with --paper",
    ),
]
Sparsity = Annotated[
    Any,
    expert_option(
        parser=value_parser("paper or a number from 0", word="paper", real=lambda weight: weight >= 0),
        metavar="NUMBER|paper",
        help="Weight of the ℓ1 penalty. With paper, the strongest of 0, 0.5, …, 5 that leaves --top features with a "
        "score (paper: γ).",
        show_default="paper; only with --paper",
    ),
]
Gradient = Annotated[
    Literal["exact", "paper"] | None,
    expert_option(
        help="With paper, the published gradient of the profile loss, which is not its derivative.",
        show_default="paper; only with --paper",
    ),
]
MaxIter = Annotated[
    int | None,
    expert_option(
        min=1, metavar="INTEGER", help="Number of iterations of the descent.", show_default="200; only with --paper"
    ),
]
Tol = Annotated[
    float | None,
    expert_option(
        parser=value_parser("a number from 0", real=lambda tol: tol >= 0),
        metavar="NUMBER",
        help="Stop once both losses have changed by at most this relative amount over ten iterations. 0 never stops "
        "early.",
        show_default="0.0; only with --paper",
    ),
]
Device = Annotated[
    str | None,
    expert_option(
        metavar="TEXT",
        help="Where the descent runs: cpu (NumPy), or a PyTorch device such as cuda.",
        show_default="cpu; only with --paper",
    ),
]
Dtype = Annotated[
    Literal["float64", "float32", "tfloat32"] | None,
    expert_option(
        metavar="TYPE",
        help="Float type of the descent: float64, float32, or tfloat32, which is float32 with faster matrix products "
        "on a CUDA device.",
        show_default="float64; only with --paper",
    ),
]
MemoryLimit = Annotated[
    float | None,
    expert_option(
        parser=value_parser("a number above 0", real=lambda n_bytes: n_bytes > 0),
        metavar="NUMBER",
        help="Bytes that the squared Gram matrix of the features may take. If no exact form fits, an approximation of "
        "low rank is used.",
        show_default="8 GB; only with --paper",
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
    unknown_nodes: opt.OnUnknownNodes = "error",
    weight: opt.Weight = None,
    neighbors: Neighbors = None,
    labels: Labels = None,
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
      blockselect select --dataset cora --method morans-i --top 64 --out moran
    """
    name = _chosen_method(method, paper=paper)
    blocks_file = block_model if isinstance(block_model, Path) else None
    inputs = opt.input_files(features, graph, node_ids, feature_names)
    inputs |= {"--labels": labels, "--block-model": blocks_file}
    names = BLOCK_FILES if name in (DEFAULT, PAPER) else SCORE_FILES
    check_destination(out, names, inputs, elsewhere=as_json, overwrite=overwrite)
    if neighbors is not None and (graph is not None or dataset is not None):
        raise Failure("--neighbors links nodes where no graph is given; leave it or the graph out.")
    if jobs is not None and (jobs == 0 or jobs > MOST_JOBS):
        raise Failure(f"--jobs is {jobs}; expected a whole number from 1 to {MOST_JOBS}, or -1 for all cores.")
    n_resamples = _check_resamples(resamples, name)
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

    from blockselect.cli import inputs as network_inputs
    from blockselect.cli import selection as work
    from blockselect.cli.terminal import progress_bar, show_selection

    begin_work()
    if blocks_file is not None:
        settings["block_model"] = network_inputs.read_labels(blocks_file)
    selector = work.configured_selector(name, {key: value for key, value in settings.items() if value is not None})
    if save_matrix and out is not None:
        check_destination(out, [work.matrix_name(features)], inputs, elsewhere=as_json, overwrite=overwrite)
    reading = network_inputs.Reading(
        node_ids, feature_names, transpose, unknown_nodes, weight, id_column, tuple(drop or ()), one_hot
    )
    with progress_bar(quiet) as progress:
        report = progress or no_progress
        report("reading", 0, 1)
        n_neighbors = work.neighbors_to_link(selector)
        network = network_inputs.load_network(
            dataset, features, graph, n_neighbors=n_neighbors, reading=reading, progress=progress
        )
        if blocks_file is not None:
            network = network_inputs.with_record(network, "block_model", blocks_file)
            selector.set_params(block_model=network_inputs.labels_of(network.graph, blocks_file))
        known = None
        if labels is not None:
            network = network_inputs.with_record(network, "labels", labels)
            known = network_inputs.labels_of(network.graph, labels)
            if name not in (DEFAULT, PAPER):
                say(f"warning: --labels has no effect: the report shows labels beside blocks, and {name} finds none.")
        report("reading", 1, 1)
        selection = work.run_selection(network, selector, name, n_resamples, progress)
        if out is not None:
            report("writing", 0, 1)
            files = work.file_contents(selection, opt.repeat_command(context), labels=known, save_matrix=save_matrix)
            with expecting_bad_input():
                write_together(out, files, mark="run.json")
    for warning in selection.warnings:
        say(f"warning: {warning}")
    if as_json:
        typer.echo(json.dumps(work.json_summary(selection), allow_nan=False))
    elif out is not None and not quiet:
        show_selection(network.title, selection.summary, out, list(files), verbose=verbose)


def _chosen_method(method: str | None, *, paper: bool) -> str:
    """The name of the method that --method and --paper ask for."""
    if paper and method not in (None, PAPER):
        raise Failure(f"--paper runs {PAPER} and --method {method!r} another; leave one of them out.")
    name = PAPER if paper else method or DEFAULT
    try:
        check_known([name], opt.METHODS, what="method")
    except ValueError as error:
        raise Failure(f"--method: {error}") from error
    return name


def _check_resamples(given: int | None, method: str) -> int:
    """The number of resampled graphs. Only the default method estimates stability without being asked."""
    if given is None:
        return RESAMPLES if method == DEFAULT else 0
    if 0 < given < MIN_RESAMPLES:
        raise Failure(f"--resamples is {given}, too few to estimate stability; choose at least {MIN_RESAMPLES}, or 0.")
    return given
