"""`blockselect select --method NAME`: methods that score features and know no blocks."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from blockselect.base import ScoreSelector
from blockselect.cli.failure import expecting_bad_input
from blockselect.cli.inputs import NetworkInput
from blockselect.cli.outputs import write_together
from blockselect.cli.record import json_bytes, settings_record, versions
from blockselect.cli.selected_matrix import selected_matrix
from blockselect.cli.streams import say
from blockselect.cli.terminal import SHOWN, feature_table, printable, show_written
from blockselect.inspection.stability import selection_stability
from blockselect.progress import Progress
from blockselect.registry import SELECTORS
from blockselect.report.summarize import summarize_scores
from blockselect.report.tables import nodes_table, scores_table, selected_table
from blockselect.warned import collected_warnings

OUTPUT_FILES = ("selected.csv", "scores.csv", "nodes.csv", "run.json")


def select(
    network: NetworkInput,
    selector: ScoreSelector,
    method: str,
    n_resamples: int,
    progress: Progress | None,
    out: Path | None,
    *,
    save_matrix: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Fit, write and show."""
    features = network.graph.features
    graph = {"adjacency": network.graph.adjacency} if reads_a_graph(selector) else {}
    stability = None
    with collected_warnings() as warnings, expecting_bad_input():
        selector.fit(features, **graph)
        if n_resamples:
            stability = selection_stability(selector, features, **graph, n_resamples=n_resamples, progress=progress)
    summary = {"method": method, **summarize_scores(selector, network.graph, stability=stability)}
    warnings[:0] = network.warnings
    for warning in warnings:
        say(f"warning: {warning}")
    if out is not None:
        record = _record(network, selector, method, n_resamples, summary, warnings)
        files = {
            "selected.csv": selected_table(summary).encode(),
            "scores.csv": scores_table(summary).encode(),
            "nodes.csv": nodes_table(network.graph, None, selector.get_support(indices=True)).encode(),
            "run.json": json_bytes(record),
            **(selected_matrix(network, selector) if save_matrix else {}),
        }
        with expecting_bad_input():
            write_together(out, files, mark="run.json")
    if as_json:
        typer.echo(json.dumps(summary, allow_nan=False))
    elif out is not None and not quiet:
        _show(network.title, summary, out, list(files))


def reads_a_graph(selector: ScoreSelector) -> bool:
    """Whether its `fit` takes one."""
    return "adjacency" in inspect.signature(selector.fit).parameters


def _record(
    network: NetworkInput,
    selector: ScoreSelector,
    method: str,
    n_resamples: int,
    summary: dict[str, Any],
    warnings: Sequence[str],
) -> dict[str, Any]:
    """What it takes to repeat the run; no time and no place: runs can be compared."""
    return {
        "command": "select",
        "method": method,
        "input": network.record,
        "selector": settings_record(selector),
        "n_resamples": n_resamples,
        "versions": versions(),
        "counts": summary["counts"],
        "warnings": list(warnings),
    }


def _show(title: str, summary: dict[str, Any], out: Path, files: Sequence[str]) -> None:
    counts = summary["counts"]
    typer.echo(
        f"{printable(title)}: {counts['nodes']:,} nodes, {counts['links']:,} links, {counts['features']:,} features."
    )
    without = f"{counts['nodes_without_selected_features']:,} nodes have none of these"
    typer.echo(f"Selected {counts['selected_features']:,} features by {SELECTORS[summary['method']].title}; {without}.")
    best = summary["selected"][:SHOWN]
    measures = list(summary["measures"])
    table = feature_table(len(best), ["score", *measures])
    for row in best:
        cells = [f"{row['score']:.4g}", *(f"{row[measure]:.2f}" for measure in measures)]
        table.add_row(*(Text(cell) for cell in (str(row["rank"]), printable(row["name"]), *cells)))
    Console().print(table)
    show_written(out, files, verbose=False)
