"""The work of `blockselect compare`: run the comparison, and make its files and the table on the terminal."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from blockselect.cli.failure import expecting_bad_input, one_line
from blockselect.cli.inputs import NetworkInput
from blockselect.cli.record import json_bytes, settings_record, versions
from blockselect.cli.terminal import printable
from blockselect.evaluation.compared import Comparison, cells, header, markdown_table
from blockselect.evaluation.comparison import compare_methods
from blockselect.progress import Progress
from blockselect.registry import make_selector
from blockselect.report.comparison import comparison_report

WIDE = 120  # columns of a table that is not printed on a terminal


@dataclass(frozen=True, slots=True)
class Task:
    """What is compared, and how."""

    network: NetworkInput
    methods: list[str]
    numbers: list[int] | None
    protocol: str
    n_blocks: int | None
    n_runs: int
    seed: int


def run(task: Task, *, n_jobs: int, progress: Progress | None) -> Comparison:
    """Compare the methods, each in a process of its own."""
    with expecting_bad_input():
        return compare_methods(
            task.network.graph,
            methods=task.methods,
            n_features=task.numbers,
            protocol=task.protocol,
            n_blocks=task.n_blocks,
            n_runs=task.n_runs,
            random_state=task.seed,
            n_jobs=n_jobs,
            measure_memory=True,
            progress=progress,
        )


def file_contents(task: Task, comparison: Comparison, command: str) -> dict[str, bytes]:
    """The contents of all files by name, the first one to read first."""
    return {
        "comparison.html": comparison_report(comparison, title=task.network.title, command=command).to_bytes(),
        "comparison.csv": comparison.table().to_csv(index=False, lineterminator="\n").encode(),
        "comparison.md": _page(task, comparison).encode(),
        "run.json": json_bytes(_run_record(task, comparison)),
    }


def _run_record(task: Task, comparison: Comparison) -> dict[str, Any]:
    """Everything needed to repeat the run. It has no time and no place: runs can be compared."""
    return {
        "command": "compare",
        "input": task.network.record,
        "settings": {
            "protocol": task.protocol,
            "top": comparison.numbers,
            "blocks": comparison.n_blocks,
            "runs": task.n_runs,
        },
        "seed": task.seed,
        "versions": versions(),
        "counts": _counts(task.network),
        "methods": {name: _settings_of(task, comparison, name) for name in task.methods},
        "warnings": {name: list(messages) for name, messages in comparison.warnings.items() if messages},
        "errors": comparison.errors,
    }


def json_summary(task: Task, comparison: Comparison) -> dict[str, Any]:
    """What --json prints: the record of the run and all rows."""
    return {**_run_record(task, comparison), "rows": [row.record(comparison.titles) for row in comparison.rows]}


def _page(task: Task, comparison: Comparison) -> str:
    """The comparison as a Markdown page."""
    counts, titles = _counts(task.network), comparison.titles
    blocks = "blocks as each method has them" if comparison.n_blocks is None else f"{comparison.n_blocks} blocks"
    base = max((row.base_mb for row in comparison.rows if row.base_mb is not None), default=None)
    memory = "" if base is None else f" At most {base:.0f} MB of that was in use before the fit."
    failures = "".join(f"- {name}: {one_line(error)}\n" for name, error in comparison.errors.items())
    return (
        f"# Comparison on {task.network.title}\n\n"
        f"{', '.join(f'{count:,} {what}' for what, count in counts.items())}; {blocks}, seed {task.seed}.\n\n"
        f"{markdown_table(header(titles), (cells(row, titles) for row in comparison.rows))}\n"
        f"Each method ranks the features once, for {comparison.numbers[-1]} features. The column d is the number of "
        f"best features that are kept, and selected is how many of them have a score. {comparison.description} "
        "Zero rows are nodes that have none of the selected features. Agreement is the Jaccard index of a selection "
        "with the selection of each other method, averaged. "
        f"Seconds is the time of the ranking, and peak MB is the memory of the process it ran in.{memory}\n"
        + (f"\n## Failed\n\n{failures}" if failures else "")
    )


def show_table(comparison: Comparison) -> None:
    """Print the comparison as a table in which each method is named once."""
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
            name, values[-2:] = "", ["", ""]  # time and memory belong to the one ranking, which is shown above
        table.add_row(*(Text(printable(cell)) for cell in (name, *values)))
        before = row.method
    # A file or a pipe has no width that limits the table.
    Console(width=None if sys.stdout.isatty() else WIDE).print(table)


def _counts(network: NetworkInput) -> dict[str, int]:
    graph = network.graph
    counts = {"nodes": graph.n_nodes, "links": graph.n_links, "features": graph.n_features}
    return counts if graph.classes is None else {**counts, "classes": len(set(graph.classes.tolist()))}


def _settings_of(task: Task, comparison: Comparison, name: str) -> dict[str, Any]:
    number, n_blocks = comparison.numbers[-1], comparison.n_blocks
    return settings_record(make_selector(name, number, n_blocks=n_blocks, random_state=task.seed))
