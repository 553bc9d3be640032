"""`blockselect compare`: methods side by side on a network, by one of the protocols."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from blockselect.cli import options as opt
from blockselect.cli.classes import read_classes
from blockselect.cli.compare_output import Task, file_contents, n_classes, show_table, summary
from blockselect.cli.failure import Failure, expecting_bad_input, one_line
from blockselect.cli.inputs import NetworkInput, Reading, load_network
from blockselect.cli.outputs import check_destination, write_together
from blockselect.cli.record import file_record
from blockselect.cli.settings import EXPERT
from blockselect.cli.streams import say
from blockselect.cli.terminal import printable, progress_bar
from blockselect.evaluation.comparison import PROTOCOLS, compare_methods
from blockselect.graphs.neighbours import N_NEIGHBORS
from blockselect.names import check_known, look_up
from blockselect.registry import SELECTORS

OUTPUT_FILES = ("comparison.csv", "comparison.md", "run.json")
ALL_FAILED = 1

Classes = Annotated[
    Path | None,
    opt.existing_file(
        "Known classes, with --features: .csv with a header, one row a node: its id, its class. Links need none."
    ),
]
ProtocolName = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        metavar="|".join(PROTOCOLS),
        help="How a selection is judged: K-means against known classes; classes learnt from 20 labels each; "
        "links hidden from the methods; what clusters on the features explain of the links.",
        show_default="clustering; structure where there are no classes",
        rich_help_panel="Comparison",
    ),
]
Methods = Annotated[
    str,
    typer.Option(metavar="all|NAME,NAME…", help="Methods to compare, by name.", rich_help_panel="Comparison"),
]
Top = Annotated[
    str,
    typer.Option(
        metavar="N,N…",
        help="How many features to keep. Each method ranks once, asked for the most (paper: d).",
        rich_help_panel="Comparison",
    ),
]
Blocks = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Blocks or clusters of nodes, for methods that look for them (paper: k).",
        show_default="the number of classes, where they are known",
        rich_help_panel="Comparison",
    ),
]
Runs = Annotated[
    int,
    typer.Option(min=1, help="Runs of the protocol, with the seeds 0, 1, ….", rich_help_panel="Comparison"),
]
Out = Annotated[
    Path | None,
    opt.results_folder("Folder for comparison.csv, comparison.md and run.json. Needed unless --json is given."),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        max=2**32 - 1,
        help="Of the methods, and of hidden links: the same seed, the same scores.",
        rich_help_panel=EXPERT,
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        min=1,
        help="Processes that share the runs of the protocol. Methods rank one after another: their times compare.",
        rich_help_panel=EXPERT,
    ),
]

app = typer.Typer(add_completion=False)


@app.command()
def compare(
    dataset: opt.Dataset = None,
    features: opt.Features = None,
    graph: opt.Graph = None,
    node_ids: opt.NodeIds = None,
    feature_names: opt.FeatureNames = None,
    transpose: opt.Transpose = False,
    unknown_nodes: opt.OnUnknownNodes = "error",
    weight: opt.Weight = None,
    classes: Classes = None,
    protocol: ProtocolName = None,
    methods: Methods = "all",
    top: Top = "16,64",
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
      blockselect compare --dataset cora --methods block-model,variance --top 16,64 --out comparison
      blockselect compare --features genes.csv --graph links.csv --classes types.csv --out comparison
    """
    files = {**opt.input_files(features, graph, node_ids, feature_names), "--classes": classes}
    check_destination(out, OUTPUT_FILES, files, as_json=as_json, overwrite=overwrite)
    if protocol is None:
        protocol = "structure" if features is not None and classes is None else "clustering"
    names, numbers, needs_classes = parse_methods(methods), parse_numbers(top), protocol_needs_classes(protocol)
    reading = Reading(node_ids, feature_names, transpose, unknown_nodes, weight)
    network = load_labelled_network(dataset, features, graph, classes, reading, needs_classes=needs_classes)
    for message in network.warnings:
        say(f"warning: {message}")
    task = check_task(network, names, numbers, protocol=protocol, blocks=blocks, runs=runs, seed=seed)
    with progress_bar(quiet) as progress:
        comparison = compare_methods(
            network.graph,
            names,
            numbers,
            n_blocks=task.n_blocks,
            protocol=protocol,
            n_runs=runs,
            seed=seed,
            n_jobs=workers,
            progress=progress,
        )
    for name, messages in comparison.warnings.items():
        for message in messages:
            say(f"warning: {name}: {message}")
    for name, error in comparison.errors.items():
        say(f"failed: {name}: {one_line(error)}")
    if out is not None:
        with expecting_bad_input():
            write_together(out, file_contents(task, comparison), mark="run.json")
    if as_json:
        typer.echo(json.dumps(summary(task, comparison), allow_nan=False, default=str))
    elif out is not None and not quiet:
        show_table(comparison)
        for file in OUTPUT_FILES:
            typer.echo(f"wrote {printable(str(out / file))}")
    if set(comparison.errors) >= set(names):
        raise typer.Exit(ALL_FAILED)


def parse_methods(text: str) -> list[str]:
    """Names of methods, in the order given; all: of the registry."""
    if text.strip() == "all":
        return list(SELECTORS)
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    try:
        check_known(names, SELECTORS, what="method")
    except ValueError as error:
        raise Failure(f"--methods: {error}") from error
    return names


def protocol_needs_classes(name: str) -> bool:
    """Whether the protocol of this name compares with known classes."""
    try:
        return look_up(name, PROTOCOLS, what="protocol").needs_classes
    except ValueError as error:
        raise Failure(f"--protocol: {error}") from error


def parse_numbers(text: str) -> list[int]:
    """Numbers of features, rising."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise Failure(f"--top is {text!r}; expected whole numbers from 1 with commas between them, such as 16,64.")
    return sorted(set(numbers))


def load_labelled_network(
    dataset: str | None,
    features: Path | None,
    graph: Path | None,
    classes: Path | None,
    reading: Reading,
    *,
    needs_classes: bool,
) -> NetworkInput:
    """The network that the options name, with its classes."""
    if needs_classes and features is not None and classes is None:
        raise Failure(
            "--features needs --classes FILE for this protocol, or --protocol structure or links, which need none."
        )
    if dataset is not None and classes is not None:
        raise Failure("--classes goes with --features; a --dataset brings its own classes.")
    network = load_network(dataset, features, graph, n_neighbors=N_NEIGHBORS, reading=reading)
    if classes is None:
        return network
    with expecting_bad_input():
        labelled = replace(network.graph, classes=read_classes(classes, network.graph))
        return replace(network, graph=labelled, record={**network.record, "classes": file_record(classes)})


def check_task(
    network: NetworkInput,
    methods: list[str],
    numbers: list[int],
    *,
    protocol: str,
    blocks: int | None,
    runs: int,
    seed: int,
) -> Task:
    """Refuse what the network cannot give, before any work."""
    graph = network.graph
    if numbers[-1] > graph.n_features:
        raise Failure(f"--top is {numbers[-1]} but there are {graph.n_features} features; choose at most those.")
    if blocks is not None and blocks > graph.n_nodes:
        raise Failure(f"--blocks is {blocks} but there are {graph.n_nodes} nodes; choose at most those.")
    if blocks is None and (graph.classes is not None or protocol_needs_classes(protocol)):
        blocks = n_classes(network)
    return Task(network, methods, numbers, protocol, blocks, runs, seed)
