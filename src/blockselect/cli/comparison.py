"""The results of `blockselect compare`: the record of the run, its files and the table on the terminal."""

from __future__ import annotations

from html import escape
from typing import Any

import typer

from blockselect.cli.failure import one_line
from blockselect.cli.inputs import NetworkInput
from blockselect.cli.outputs import json_bytes, settings_record, versions
from blockselect.cli.terminal import show_table
from blockselect.evaluation.comparison_result import Comparison, cells, header, markdown_table
from blockselect.registry import make_selector
from blockselect.report.comparison import comparison_report
from blockselect.utils.wording import visible


def run_record(
    network: NetworkInput, comparison: Comparison, methods: list[str], *, protocol: str, n_runs: int, seed: int
) -> dict[str, Any]:
    """Everything needed to repeat the run. It has no time and no place: runs can be compared."""
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
            name: settings_record(make_selector(name, number, n_blocks=n_blocks, random_state=seed)) for name in methods
        },
        "warnings": {name: list(messages) for name, messages in comparison.warnings.items() if messages},
        "errors": comparison.errors,
    }


def file_contents(title: str, comparison: Comparison, record: dict[str, Any], command: str) -> dict[str, bytes]:
    """The contents of all files by name, the first one to read first."""
    return {
        "comparison.html": comparison_report(comparison, title=title, command=command).to_bytes(),
        "comparison.csv": comparison.table().to_csv(index=False, lineterminator="\n").encode(),
        "comparison.md": _page(title, comparison, record).encode(),
        "run.json": json_bytes(record),
    }


def _page(title: str, comparison: Comparison, record: dict[str, Any]) -> str:
    """The comparison as a Markdown page."""
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
        "others. Agreement is the mean Jaccard index of a selection with those of the other methods. "
        "Seconds is the time taken to rank the features.\n" + (f"\n## Failed\n\n{failures}" if failures else "")
    )
    return escape(page, quote=False)  # titles and errors may contain HTML


def show_comparison(comparison: Comparison) -> None:
    """Print the comparison as a table in which each method is named once."""
    titles = header(comparison.titles)
    rows, before = [], ""
    for row in comparison.rows:
        name, *values = cells(row, comparison.titles)
        if name == before:
            name, values[-1] = "", ""  # the time belongs to the one ranking, which is shown above
        rows.append([name, *values])
        before = row.method
    narrow = [title.replace("links explained", "links\nexplained") for title in titles]
    show_table(narrow, rows, text_columns=titles[:1])
    typer.echo("coverage: share of the nodes with at least one selected feature")
