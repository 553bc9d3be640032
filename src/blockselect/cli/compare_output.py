"""What `blockselect compare` writes and shows: the record of the run, a page, a table."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from blockselect.cli.inputs import NetworkInput
from blockselect.cli.record import json_bytes, settings_record, versions
from blockselect.cli.terminal import printable
from blockselect.evaluation.comparison import Comparison, cells, csv_table, header, markdown_table
from blockselect.registry import make_selector

WIDE = 120


@dataclass(frozen=True, slots=True)
class Task:
    """What is compared, checked."""

    network: NetworkInput
    methods: list[str]
    numbers: list[int]
    protocol: str
    n_blocks: int | None
    n_runs: int
    seed: int


def n_classes(network: NetworkInput) -> int:
    """How many classes the nodes have, by which methods are compared."""
    classes = network.graph.classes
    assert classes is not None  # files without them are refused before, and every data set has them
    return len(set(classes.tolist()))


def file_contents(task: Task, comparison: Comparison) -> dict[str, bytes]:
    """Every file of the run, by name."""
    return {
        "comparison.csv": csv_table(comparison).encode(),
        "comparison.md": page(task, comparison).encode(),
        "run.json": json_bytes(run_record(task, comparison)),
    }


def run_record(task: Task, comparison: Comparison) -> dict[str, Any]:
    """What it takes to repeat the run; no time and no place: runs can be compared."""
    return {
        "command": "compare",
        "input": task.network.record,
        "settings": {"protocol": task.protocol, "top": task.numbers, "blocks": task.n_blocks, "runs": task.n_runs},
        "seed": task.seed,
        "versions": versions(),
        "counts": _counts(task.network),
        "methods": {name: _settings_of(task, name) for name in task.methods},
        "warnings": {name: list(messages) for name, messages in comparison.warnings.items() if messages},
        "errors": comparison.errors,
    }


def summary(task: Task, comparison: Comparison) -> dict[str, Any]:
    """The run and its rows, for --json."""
    return {**run_record(task, comparison), "rows": [row.record(comparison.titles) for row in comparison.rows]}


def page(task: Task, comparison: Comparison) -> str:
    """The comparison as a page of Markdown."""
    counts, titles = _counts(task.network), comparison.titles
    blocks = "blocks as each method has them" if task.n_blocks is None else f"{task.n_blocks} blocks"
    base = max((row.base_mb for row in comparison.rows if row.base_mb is not None), default=None)
    memory = "" if base is None else f" Its base, before the fit, is at most {base:.0f} MB of that."
    failures = "".join(f"- {name}: {' '.join(error.split())}\n" for name, error in comparison.errors.items())
    return (
        f"# Comparison on {task.network.title}\n\n"
        f"{', '.join(f'{count:,} {what}' for what, count in counts.items())}; {blocks}, seed {task.seed}.\n\n"
        f"{markdown_table(header(titles), (cells(row, titles) for row in comparison.rows))}\n"
        f"Each method ranks the features once, asked for {task.numbers[-1]} (d: how many of the best are kept; "
        f"selected: how many of them have a score). {comparison.description} "
        "Zero rows are nodes that have none of the selected features. Agreement is the share of features that a "
        "selection has in common with that of each other method, over those of either, averaged (Jaccard index). "
        f"Seconds are those of the ranking, peak MB the memory of the process it ran in.{memory}\n"
        + (f"\n## Failed\n\n{failures}" if failures else "")
    )


def show_table(comparison: Comparison) -> None:
    """The comparison on the terminal, each method named once."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    first, *others = header(comparison.titles)
    table.add_column(first, overflow="fold")
    for title in others:
        table.add_column(
            printable(title).replace(" rows", "\nrows").replace(" MB", "\nMB"), justify="right", no_wrap=True
        )
    before = ""
    for row in comparison.rows:
        name, *values = cells(row, comparison.titles)
        if name == before:
            name, values[-2:] = "", ["", ""]  # of the one ranking, shown already
        table.add_row(*(Text(printable(cell)) for cell in (name, *values)))
        before = row.method
    # A file or a pipe has no width to keep to.
    Console(width=None if sys.stdout.isatty() else WIDE).print(table)


def _counts(network: NetworkInput) -> dict[str, int]:
    graph = network.graph
    counts = {"nodes": graph.n_nodes, "links": graph.n_links, "features": graph.n_features}
    return counts if graph.classes is None else {**counts, "classes": n_classes(network)}


def _settings_of(task: Task, name: str) -> dict[str, Any]:
    return settings_record(make_selector(name, task.numbers[-1], n_blocks=task.n_blocks, random_state=task.seed))
