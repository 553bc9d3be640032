"""One run of `blockselect compare`: what is asked, checked before any work; the contents of the files after it."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from blockselect.cli.classes import read_classes
from blockselect.cli.failure import Failure, expecting_bad_input
from blockselect.cli.inputs import NetworkInput, file_record
from blockselect.cli.selection import load_network, versions
from blockselect.cli.terminal import printable
from blockselect.evaluation.comparison import Comparison, Progress, compare_methods
from blockselect.evaluation.tables import HEADER, cells, csv_table, markdown_table
from blockselect.registry import SELECTORS, find_method, make_selector

WIDE = 120
N_NEIGHBORS = 10  # of the graph, where no --graph is given; as in BlockModelSelector


@dataclass(frozen=True, slots=True)
class Task:
    """What is compared, checked."""

    network: NetworkInput
    methods: list[str]
    numbers: list[int]
    n_blocks: int
    n_runs: int
    seed: int


def parse_methods(text: str) -> list[str]:
    """Names of methods, in the order given; all: of the registry."""
    if text.strip() == "all":
        return list(SELECTORS)
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        try:
            find_method(name)
        except ValueError as error:
            raise Failure(f"--methods: {error}") from error
    return names


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
    dataset: str | None, features: Path | None, graph: Path | None, classes: Path | None
) -> NetworkInput:
    """The network that the options name, with its classes."""
    if features is not None and classes is None:
        raise Failure("--features needs --classes FILE: methods are compared by how well they find known classes.")
    if dataset is not None and classes is not None:
        raise Failure("--classes goes with --features; a --dataset brings its own classes.")
    network = load_network(dataset, features, graph, n_neighbors=N_NEIGHBORS)
    if classes is None:
        return network
    with expecting_bad_input():
        labelled = replace(network.graph, classes=read_classes(classes, network.graph))
        record = {**network.record, "classes": file_record(classes)}
    return NetworkInput(labelled, network.title, record)


def check_task(
    network: NetworkInput, methods: list[str], numbers: list[int], *, blocks: int | None, runs: int, seed: int
) -> Task:
    """Refuse what the network cannot give, before any work."""
    graph = network.graph
    if numbers[-1] > graph.n_features:
        raise Failure(f"--top is {numbers[-1]} but there are {graph.n_features} features; choose at most those.")
    if blocks is not None and blocks > graph.n_nodes:
        raise Failure(f"--blocks is {blocks} but there are {graph.n_nodes} nodes; choose at most those.")
    n_blocks = _n_classes(network) if blocks is None else blocks
    return Task(network, methods, numbers, n_blocks, runs, seed)


def run_comparison(task: Task, progress: Progress | None, *, workers: int) -> Comparison:
    return compare_methods(
        task.network.graph,
        task.methods,
        task.numbers,
        n_blocks=task.n_blocks,
        n_runs=task.n_runs,
        seed=task.seed,
        n_jobs=workers,
        progress=progress,
    )


def file_contents(task: Task, comparison: Comparison) -> dict[str, bytes]:
    """Every file of the run, by name."""
    return {
        "comparison.csv": csv_table(comparison.rows).encode(),
        "comparison.md": page(task, comparison).encode(),
        "run.json": (json.dumps(run_record(task, comparison), indent=2, default=str) + "\n").encode(),
    }


def run_record(task: Task, comparison: Comparison) -> dict[str, Any]:
    """What it takes to repeat the run; no time and no place: runs can be compared."""
    return {
        "command": "compare",
        "input": task.network.record,
        "settings": {"top": task.numbers, "blocks": task.n_blocks, "runs": task.n_runs},
        "seed": task.seed,
        "versions": versions("cpu"),
        "counts": _counts(task.network),
        "methods": {name: _settings(task, name) for name in task.methods},
        "warnings": {name: list(messages) for name, messages in comparison.warnings.items() if messages},
        "errors": comparison.errors,
    }


def summary(task: Task, comparison: Comparison) -> dict[str, Any]:
    """The run and its rows, for --json."""
    return {**run_record(task, comparison), "rows": [asdict(row) for row in comparison.rows]}


def page(task: Task, comparison: Comparison) -> str:
    """The comparison as a page of Markdown."""
    counts = _counts(task.network)
    base = max((row.base_mb for row in comparison.rows if row.base_mb is not None), default=None)
    memory = "" if base is None else f" Its base, before the fit, is at most {base:.0f} MB of that."
    failures = "".join(f"- {name}: {' '.join(error.split())}\n" for name, error in comparison.errors.items())
    return (
        f"# Comparison on {task.network.title}\n\n"
        f"{counts['nodes']:,} nodes, {counts['links']:,} links, {counts['features']:,} features, "
        f"{counts['classes']} classes; {task.n_blocks} blocks, seed {task.seed}.\n\n"
        f"{markdown_table(HEADER, map(cells, comparison.rows))}\n"
        f"Each method ranks the features once, asked for {task.numbers[-1]} (d: how many of the best are kept; "
        "selected: how many of them have a score). Rows of the selected features are scaled to unit length and "
        f"clustered by K-means into {counts['classes']} clusters, {task.n_runs} runs with 10 starts each; "
        "ACC by the best matching of clusters to classes, NMI over the larger entropy, sd over the runs. "
        "Zero rows are nodes that have none of the selected features. "
        f"Seconds are those of the ranking, peak MB the memory of the process it ran in.{memory}\n"
        + (f"\n## Failed\n\n{failures}" if failures else "")
    )


def show_table(comparison: Comparison) -> None:
    """The comparison on the terminal, each method named once."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(HEADER[0], overflow="fold")
    for title in HEADER[1:]:
        table.add_column(
            printable(title).replace(" rows", "\nrows").replace(" MB", "\nMB"), justify="right", no_wrap=True
        )
    before = ""
    for row in comparison.rows:
        name, *values = cells(row)
        if name == before:
            name, values[-2:] = "", ["", ""]  # of the one ranking, shown already
        table.add_row(*(Text(printable(cell)) for cell in (name, *values)))
        before = row.method
    # A file or a pipe has no width to keep to.
    Console(width=None if sys.stdout.isatty() else WIDE).print(table)


def _settings(task: Task, name: str) -> dict[str, Any]:
    selector = make_selector(name, task.numbers[-1], n_blocks=task.n_blocks, random_state=task.seed)
    return {"selector": type(selector).__name__, **selector.get_params()}


def _n_classes(network: NetworkInput) -> int:
    classes = network.graph.classes
    if classes is None:
        raise Failure(f"{network.title} has no classes, by which methods are compared; choose another data set.")
    return len(set(classes.tolist()))


def _counts(network: NetworkInput) -> dict[str, int]:
    graph = network.graph
    return {
        "nodes": graph.n_nodes,
        "links": graph.n_links,
        "features": graph.n_features,
        "classes": _n_classes(network),
    }
