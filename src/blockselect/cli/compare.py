"""`blockselect compare`: compare methods on a network with one of the evaluation protocols."""

from __future__ import annotations

import json
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blockselect.cli import options as opt
from blockselect.cli.failure import Failure, expecting_bad_input, one_line, say
from blockselect.cli.options import expert_option, input_file, output_option
from blockselect.cli.outputs import check_folder, json_bytes, settings_record, versions, write_together
from blockselect.cli.signals import begin_work
from blockselect.cli.waiting import waiting
from blockselect.utils.wording import visible

if TYPE_CHECKING:
    from blockselect.cli.inputs import NetworkInput
    from blockselect.evaluation.comparison_result import Comparison

OUTPUT_FILES = ("comparison.html", "comparison.csv", "comparison.md", "run.json")
ALL_FAILED = 1  # exit code
PROTOCOLS = ("clustering", "classification", "links", "structure")
NEED_CLASSES = ("clustering", "classification")
NO_GRAPH = (
    "no --graph is given, so each node is linked to its nearest neighbours in the same features that the "
    "methods select from; "
    "if you have a file of links, pass it as --graph."
)
METHODS = "block-model,morans-i,hotspot,variance"

comparison_option: Any = partial(typer.Option, rich_help_panel="Comparison")

Classes = Annotated[
    Path | None,
    input_file(
        help="Known classes, for --features: a .csv file with a header and one row per node (id, class). Not needed "
        "for the protocols links and structure."
    ),
]
Protocol = Annotated[
    str | None,
    comparison_option(
        **opt.one_of(PROTOCOLS, "protocol"),
        metavar="NAME",
        help="How selections are evaluated: clustering (agreement of K-means clusters with known classes), "
        "classification (accuracy with 20 labels per class), links (prediction of held-out links) or structure (links "
        "explained by clusters of the selected features).",
        show_default="structure; clustering with --classes",
    ),
]
Methods = Annotated[str, comparison_option(metavar="all|NAME,NAME…", help="Names of the methods to compare.")]
Top = Annotated[
    str | None,
    comparison_option(
        metavar="N,N…",
        help="Numbers of features to select. Each method ranks the features once, for the largest number (paper: d).",
        show_default="16,64; half of the features if there are at most 16",
    ),
]
Blocks = Annotated[
    int | None,
    comparison_option(
        metavar="INTEGER",
        help="Number of blocks or clusters, for methods that use them (paper: k).",
        show_default="the number of classes, if they are used",
    ),
]
Runs = Annotated[
    int, comparison_option(min=1, metavar="INTEGER", help="Number of runs of the protocol, with seeds 0, 1, ….")
]
Out = Annotated[
    Path | None,
    output_option(
        parser=opt.parse_folder,
        metavar="DIR",
        help="Folder for comparison.html (open this first), comparison.csv, comparison.md and run.json. Without --out, "
        "the table is only printed.",
    ),
]
Seed = Annotated[
    int,
    expert_option(
        metavar="INTEGER",
        help="Random seed of the methods and of the held-out links. The same seed gives the same scores.",
    ),
]
Workers = Annotated[
    int,
    expert_option(
        min=1,
        metavar="INTEGER",
        help="Number of parallel processes for the runs of the protocol. The methods themselves run one at a time, so "
        "that their times are comparable.",
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
    fill: opt.Fill = None,
    decimal: opt.Decimal = None,
    no_header: opt.NoHeader = False,
    unknown_nodes: opt.OnUnknownNodes = "error",
    weight: opt.Weight = None,
    classes: Classes = None,
    label_attribute: opt.LabelAttribute = None,
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
    if out is None and quiet and not as_json:
        raise Failure("no output is requested; name a folder with --out, or use --json.")
    has_classes = classes is not None or label_attribute is not None
    if protocol is None:
        protocol = "clustering" if has_classes else "structure"
    if classes is not None and label_attribute is not None:
        raise Failure("--classes and --label-attribute both specify the known classes; use only one of them.")
    if dataset is not None and classes is not None:
        raise Failure("--classes can only be used with --features; a --dataset has its own classes.")
    if dataset is None and not has_classes and protocol in NEED_CLASSES:
        raise Failure(
            f"--protocol {protocol} needs known classes; give --classes FILE, or use --protocol structure or links."
        )
    try:
        numbers = None if top is None else [int(number) for number in top.split(",")]
    except ValueError as error:
        raise Failure(f"--top is {top!r}; expected whole numbers separated by commas, such as 16,64.") from error
    if out is not None:
        check_folder(out, OUTPUT_FILES, (features, graph, node_ids, feature_names, classes), overwrite=overwrite)

    from blockselect.cli.inputs import load_network, with_classes
    from blockselect.cli.terminal import progress_bar, show_files
    from blockselect.evaluation.comparison import compare_methods
    from blockselect.inputs.neighbour_graph import N_NEIGHBORS
    from blockselect.report.comparison import comparison_report
    from blockselect.utils.progress import STAGES

    begin_work()
    waiting.now(STAGES["reading"])
    network = load_network(dataset, features, graph, opt.reading_options(context), n_neighbors=N_NEIGHBORS)
    if has_classes:
        network = with_classes(network, classes)
    for note in () if quiet else network.notes:
        say(note)
    for message in (*network.warnings, *([NO_GRAPH] if network.built_from_features else [])):
        say(f"warning: {message}")
    with progress_bar(quiet) as progress, expecting_bad_input():
        comparison = compare_methods(
            network.graph,
            methods="all" if methods.strip() == "all" else [name.strip() for name in methods.split(",")],
            n_features=numbers,
            protocol=protocol,
            n_blocks=blocks,
            n_runs=runs,
            random_state=seed,
            n_jobs=workers,
            progress=progress,
        )
    for name, messages in comparison.warnings.items():
        for message in messages:
            say(f"warning: {name}: {message}")
    for name, problem in comparison.errors.items():
        say(f"failed: {name}: {one_line(problem)}")
    record = run_record(network, comparison, protocol, runs, seed)
    if out is not None:
        waiting.now(STAGES["writing"])
        command = opt.repeat_command(context, "comparison")
        files = {
            "comparison.html": comparison_report(comparison, title=network.title, command=command).to_bytes(),
            "comparison.csv": comparison.table().to_csv(index=False, lineterminator="\n").encode(),
            "comparison.md": markdown_page(network.title, comparison, record).encode(),
            "run.json": json_bytes(record),
        }
        write_together(out, files)
    waiting.end()
    if as_json:
        rows = [row.record(comparison.titles) for row in comparison.rows]
        typer.echo(json.dumps({**record, "rows": rows}, allow_nan=False, default=str))
    elif not quiet:
        show_comparison(comparison)
        if out is not None:
            show_files(out, OUTPUT_FILES)
    if comparison.errors.keys() >= {*comparison.methods}:
        raise typer.Exit(ALL_FAILED)


def run_record(network: NetworkInput, comparison: Comparison, protocol: str, n_runs: int, seed: int) -> dict[str, Any]:
    """Everything needed to repeat the run, without times or folders, so that records of runs can be compared."""
    from blockselect.registry import make_selector

    graph, number, n_blocks = network.graph, comparison.numbers[-1], comparison.n_blocks
    counts = {"nodes": graph.n_nodes, "links": graph.n_links, "features": graph.n_features}
    if graph.classes is not None:
        counts["classes"] = len(set(graph.classes.tolist()))
    return {
        "command": "compare",
        "input": network.record,
        "settings": {"protocol": protocol, "top": comparison.numbers, "blocks": n_blocks, "runs": n_runs},
        "seed": seed,
        "versions": versions(),
        "counts": counts,
        "methods": {
            name: settings_record(make_selector(name, number, n_blocks=n_blocks, random_state=seed))
            for name in comparison.methods
        },
        "warnings": {name: list(messages) for name, messages in comparison.warnings.items() if messages},
        "errors": comparison.errors,
    }


def markdown_page(title: str, comparison: Comparison, record: dict[str, Any]) -> str:
    """The comparison as a Markdown page."""
    from blockselect.evaluation.comparison_result import cells, header, markdown_table

    counts = ", ".join(f"{count:,} {what}" for what, count in record["counts"].items())
    blocks = "each method's own number of blocks" if comparison.n_blocks is None else f"{comparison.n_blocks} blocks"
    failures = "".join(f"- {name}: {visible(one_line(error))}\n" for name, error in comparison.errors.items())
    rows = (cells(row, comparison.titles) for row in comparison.rows)
    page = (
        f"# Comparison on {title}\n\n"
        f"{counts}; {blocks}, seed {record['seed']}.\n\n"
        f"{markdown_table(header(comparison.titles), rows)}\n"
        f"Each method ranks the features once, for {comparison.numbers[-1]} features. The column d is the "
        f"requested number of features, and selected is how many of these have a score. {comparison.description} "
        "Coverage is the share of the nodes that have at least one selected feature; the selection cannot describe the "
        "other nodes. Agreement is the mean Jaccard index with the selections of the other methods. "
        "Seconds is the time taken to rank the features.\n" + (f"\n## Failed\n\n{failures}" if failures else "")
    )
    return escape(page, quote=False)  # titles and errors may contain HTML


def show_comparison(comparison: Comparison) -> None:
    """Print the comparison as a table; each method is named only in its first row."""
    from blockselect.cli.terminal import show_table
    from blockselect.evaluation.comparison_result import cells, header

    titles = header(comparison.titles)
    rows, before = [], ""
    for row in comparison.rows:
        name, *values = cells(row, comparison.titles)
        if name == before:
            name, values[-1] = "", ""  # the same ranking as in the row above, which shows its time
        rows.append([name, *values])
        before = row.method
    narrow = [title.replace("links explained", "links\nexplained") for title in titles]
    show_table(narrow, rows, text_columns=titles[:1])
    typer.echo("coverage: share of the nodes with at least one selected feature")
