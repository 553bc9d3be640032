"""`blockselect compare`: compare methods on a network by one of the protocols."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from blockselect.cli import options as opt
from blockselect.cli.failure import Failure, expecting_bad_input, one_line
from blockselect.cli.options import expert_option
from blockselect.cli.outputs import check_destination, write_together
from blockselect.cli.process import begin_work, say
from blockselect.parameters import check_known
from blockselect.wording import listed

OUTPUT_FILES = ("comparison.html", "comparison.csv", "comparison.md", "run.json")
ALL_FAILED = 1  # exit code
NEED_CLASSES = ("clustering", "classification")
PROTOCOLS = (*NEED_CLASSES, "links", "structure")
NO_GRAPH = (
    "no --graph is given, so each node is linked to its nearest neighbours by the same features that are compared; "
    "name a file of links if there is one."
)
METHODS = "block-model,morans-i,hotspot,variance"

comparison_option: Any = partial(typer.Option, rich_help_panel="Comparison")

Classes = Annotated[
    Path | None,
    opt.existing_file(
        "Known classes, with --features: a .csv file with a header and one row per node, its id and its class. The "
        "protocols links and structure need none."
    ),
]
Protocol = Annotated[
    str | None,
    comparison_option(
        metavar="NAME",
        help="How a selection is judged: clustering (K-means clusters against known classes), classification (classes "
        "learnt from 20 labels each), links (prediction of links that the methods did not see) or structure (links "
        "explained by clusters on the features).",
        show_default="structure; clustering with --classes",
    ),
]
Methods = Annotated[str, comparison_option(metavar="all|NAME,NAME…", help="Methods to compare, by name.")]
Top = Annotated[
    str | None,
    comparison_option(
        metavar="N,N…",
        help="Numbers of features to keep. Each method ranks the features once, for the largest number (paper: d).",
        show_default="16,64, or half of up to 16 features",
    ),
]
Blocks = Annotated[
    int | None,
    comparison_option(
        min=1,
        metavar="INTEGER",
        help="Number of blocks or clusters of nodes, for methods that look for them (paper: k).",
        show_default="the number of classes, if they are used",
    ),
]
Runs = Annotated[
    int, comparison_option(min=1, metavar="INTEGER", help="Number of runs of the protocol, with the seeds 0, 1, ….")
]
Out = Annotated[
    Path | None,
    opt.results_folder(
        "Folder for comparison.html, the page to begin with, comparison.csv, comparison.md and run.json. Without it "
        "the table is only printed."
    ),
]
Seed = Annotated[
    int,
    expert_option(
        min=0,
        max=2**32 - 1,
        metavar="INTEGER",
        help="Random seed of the methods and of the hidden links. The same seed gives the same scores.",
    ),
]
Workers = Annotated[
    int,
    expert_option(
        min=1,
        metavar="INTEGER",
        help="Number of processes that share the runs of the protocol. Methods rank one after another, so that their "
        "times can be compared.",
    ),
]

app = typer.Typer(add_completion=False)


@app.command()
def compare(
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
    classes: Classes = None,
    protocol: Protocol = None,
    methods: Methods = METHODS,
    top: Top = None,
    blocks: Blocks = None,
    runs: Runs = 20,
    out: Out = None,
    overwrite: opt.Overwrite = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    seed: Seed = 0,
    workers: Workers = 1,
) -> None:
    """\b
    Examples:
      blockselect compare --features genes.csv --graph links.csv
      blockselect compare --features genes.csv --graph links.csv --methods all --top 16,64 --out comparison
      blockselect compare --features genes.csv --graph links.csv --classes types.csv --out comparison
    """
    files = {**opt.input_files(features, graph, node_ids, feature_names), "--classes": classes}
    check_destination(out, OUTPUT_FILES, files, elsewhere=as_json or not quiet, overwrite=overwrite)
    if protocol is None:
        protocol = "structure" if classes is None else "clustering"
    _check_known("--protocol", [protocol], PROTOCOLS, what="protocol")
    names, numbers = _parse_methods(methods), None if top is None else _parse_numbers(top)
    if dataset is not None and classes is not None:
        raise Failure("--classes goes with --features; a --dataset brings its own classes.")
    if features is not None and classes is None and protocol in NEED_CLASSES:
        raise Failure(
            "--features needs --classes FILE for this protocol, or --protocol structure or links, which need none."
        )

    from blockselect.cli import comparison as work
    from blockselect.cli import inputs
    from blockselect.cli.terminal import printable, progress_bar
    from blockselect.graphs.neighbours import N_NEIGHBORS

    begin_work()
    reading = inputs.Reading(
        node_ids, feature_names, transpose, unknown_nodes, weight, id_column, tuple(drop or ()), one_hot
    )
    network = inputs.load_network(dataset, features, graph, n_neighbors=N_NEIGHBORS, reading=reading)
    if classes is not None:
        network = inputs.with_classes(network, classes)
    for message in (*network.warnings, *([NO_GRAPH] if network.built_from_features else [])):
        say(f"warning: {message}")
    task = work.Task(network, names, numbers, protocol, blocks, runs, seed)
    with progress_bar(quiet) as progress:
        comparison = work.run(task, n_jobs=workers, progress=progress)
    for name, messages in comparison.warnings.items():
        for message in messages:
            say(f"warning: {name}: {message}")
    for name, error in comparison.errors.items():
        say(f"failed: {name}: {one_line(error)}")
    if out is not None:
        with expecting_bad_input():
            write_together(
                out, work.file_contents(task, comparison, opt.repeat_command(context, "comparison")), mark="run.json"
            )
    if as_json:
        typer.echo(json.dumps(work.json_summary(task, comparison), allow_nan=False, default=str))
    elif not quiet:
        work.show_table(comparison)
        if out is not None:
            first, *others = OUTPUT_FILES
            typer.echo(f"wrote {printable(str(out / first))}; beside it are {listed(others)}")
    if set(comparison.errors) >= set(names):
        raise typer.Exit(ALL_FAILED)


def _parse_methods(text: str) -> list[str]:
    """Names of methods, in the order given; all stands for every method."""
    if text.strip() == "all":
        return list(opt.METHODS)
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    _check_known("--methods", names, opt.METHODS, what="method")
    return names


def _check_known(option: str, names: list[str], known: tuple[str, ...] | dict[str, str], *, what: str) -> None:
    try:
        check_known(names, known, what=what)
    except ValueError as error:
        raise Failure(f"{option}: {error}") from error


def _parse_numbers(text: str) -> list[int]:
    """Numbers of features in increasing order."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise Failure(f"--top is {text!r}; expected whole numbers from 1 with commas between them, such as 16,64.")
    return sorted(set(numbers))
