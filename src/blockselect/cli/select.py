"""`blockselect select`: the features of a network that explain its structure."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from blockselect.base import Progress
from blockselect.bmgufs.selector import DescentSelector
from blockselect.cli import options as opt
from blockselect.cli.failure import Failure, expecting_bad_input
from blockselect.cli.inputs import NetworkInput, Reading, load_network
from blockselect.cli.outputs import check_destination, write_together
from blockselect.cli.record import json_bytes, settings_record, versions
from blockselect.cli.repeat import repeat_command
from blockselect.cli.selector_options import make_selector, takes_settings
from blockselect.cli.terminal import progress_bar, show_selection
from blockselect.graphs.io.write import matrix_file
from blockselect.inspection.reselection import MIN_RESAMPLES
from blockselect.inspection.stability import selection_stability
from blockselect.report.overview import draw_diagnostics, draw_overview, render_png
from blockselect.report.page import make_report
from blockselect.report.summarize import summarize
from blockselect.report.tables import blocks_table, nodes_table, scores_table, selected_table
from blockselect.warned import collected_warnings

OUTPUT_FILES = (
    "report.html",
    "selected.csv",
    "scores.csv",
    "nodes.csv",
    "blocks.csv",
    "run.json",
    "overview.png",
    "diagnostics.png",
)
NO_GRAPH = (
    "no --graph is given, so nodes are linked with their nearest by the very features that are to be selected; name "
    "the file of the links, or set --neighbors if this is what you want."
)
RESAMPLES: int = inspect.signature(selection_stability).parameters["n_resamples"].default

Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder for report.html, the page to look at, and the files beside it. Needed unless --json is given.",
        rich_help_panel="Output",
    ),
]
Resamples = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="INTEGER",
        help="Resampled graphs from which the stability of the selection is estimated; 0: none.",
        show_default=f"{RESAMPLES}; with --paper 0",
        rich_help_panel="Output",
    ),
]
SaveMatrix = Annotated[
    bool,
    typer.Option(
        "--save-matrix",
        help="Also write the selected features of all nodes, in the format of --features: matrix.csv or the like.",
        rich_help_panel="Output",
    ),
]
Paper = Annotated[
    bool,
    typer.Option(
        "--paper",
        help="Run BMGUFS, exactly the method of Bai, Nguyen and Davidson (KDD 2020), instead of the default; needs "
        "--blocks.",
        rich_help_panel="Method",
    ),
]

app = typer.Typer(add_completion=False)


@app.command()
@takes_settings
def select(
    context: typer.Context,
    dataset: opt.Dataset = None,
    features: opt.Features = None,
    graph: opt.Graph = None,
    node_ids: opt.NodeIds = None,
    feature_names: opt.FeatureNames = None,
    transpose: opt.Transpose = False,
    unknown_nodes: opt.OnUnknownNodes = "error",
    weight: opt.Weight = None,
    out: Out = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    resamples: Resamples = None,
    save_matrix: SaveMatrix = False,
    paper: Paper = False,
    **settings: Any,
) -> None:
    """blockselect select --dataset cora --top 64 --out results"""
    check_destination(out, OUTPUT_FILES, as_json=as_json)
    n_resamples = _check_resamples(resamples, paper=paper)
    selector = make_selector({name.replace("_", "-"): value for name, value in settings.items()}, paper=paper)
    if settings["neighbors"] is not None and (graph is not None or dataset is not None):
        raise Failure("--neighbors links nodes where no graph is given; leave it or the graph out.")
    reading = Reading(node_ids, feature_names, transpose, unknown_nodes, weight)
    with progress_bar(quiet) as progress:
        n_neighbors = selector._neighbors_to_link()
        network = load_network(dataset, features, graph, n_neighbors=n_neighbors, reading=reading, progress=progress)
        if network.built_from_features:
            selector.set_params(n_neighbors=n_neighbors)
        selection = run_selection(network, selector, n_resamples, progress)
    made = (NO_GRAPH,) if network.built_from_features and settings["neighbors"] is None else ()
    selection.warnings[:0] = [*network.warnings, *made]
    for warning in selection.warnings:
        typer.echo(f"warning: {warning}", err=True)
    if out is not None:
        files = file_contents(selection, repeat_command(context), save_matrix=save_matrix)
        with expecting_bad_input():
            write_together(out, files)
    if as_json:
        typer.echo(json.dumps(selection.summary, allow_nan=False))
    elif out is not None and not quiet:
        show_selection(network.title, selection.summary, [out / name for name in files])


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """A run that is done, nothing written yet."""

    network: NetworkInput
    selector: DescentSelector
    n_resamples: int  # made, within the budget
    summary: dict[str, Any]
    warnings: list[str]


def run_selection(
    network: NetworkInput, selector: DescentSelector, n_resamples: int, progress: Progress | None
) -> Selection:
    """Fit, estimate the stability of the selection if asked to, and collect what the library warns of."""
    features, adjacency = network.graph.features, network.adjacency
    stability = None
    with collected_warnings() as messages, expecting_bad_input():
        selector.fit(features, adjacency=adjacency, progress=progress)
        if n_resamples:
            stability = selection_stability(
                selector, features, adjacency=adjacency, n_resamples=n_resamples, progress=progress
            )
    summary = summarize(selector, network.graph, stability=stability)
    return Selection(network, selector, selector._n_resamples(n_resamples), summary, messages)


def file_contents(selection: Selection, command: str, *, save_matrix: bool = False) -> dict[str, bytes]:
    """Every file of the run, by name. The same input and settings give the same bytes."""
    summary, network, selector = selection.summary, selection.network, selection.selector
    report = make_report(
        selector,
        network.graph,
        summary=summary,
        title=network.title,
        command=command,
        warnings=selection.warnings,
    )
    return {
        "report.html": report.to_bytes(),
        "selected.csv": selected_table(summary).encode(),
        "scores.csv": scores_table(summary).encode(),
        "nodes.csv": nodes_table(network.graph, selector.labels_, selector.get_support(indices=True)).encode(),
        "blocks.csv": blocks_table(summary).encode(),
        "run.json": json_bytes(run_record(selection)),
        "overview.png": render_png(draw_overview(summary)),
        "diagnostics.png": render_png(draw_diagnostics(summary)),
        **(_matrix(selection) if save_matrix else {}),
    }


def _matrix(selection: Selection) -> dict[str, bytes]:
    """The selected features of all nodes, in the format that features came in."""
    graph, chosen = selection.network.graph, selection.selector.get_support(indices=True)
    names = None if graph.feature_names is None else graph.feature_names[chosen]
    suffix, content = matrix_file(graph.features[:, chosen], graph.node_ids, names, selection.network.features_file)
    return {f"matrix{suffix}": content}


def run_record(selection: Selection) -> dict[str, Any]:
    """What it takes to repeat the run, and its main figures; no time and no place: runs can be compared."""
    selector, summary = selection.selector, selection.summary
    return {
        "command": "select",
        "input": selection.network.record,
        "selector": settings_record(selector),
        "n_resamples": selection.n_resamples,
        "versions": versions(selector.device),
        "counts": summary["counts"],
        "n_blocks": summary["blocks"]["count"],
        "block_sizes": summary["blocks"]["sizes"],
        "relative_error": summary["relative_error"],
        "candidate_errors": summary["candidate_errors"],
        "criteria": summary["criteria"],
        "effort": summary["effort"],
        "sparsity": summary["sparsity"],
        "n_iter": summary["n_iter"],
        "gram_form": selector.gram_form_,
        "warnings": selection.warnings,
    }


def _check_resamples(given: int | None, *, paper: bool) -> int:
    """As many as are given; the paper knows no stability, so there only if asked for."""
    if given is None:
        return 0 if paper else RESAMPLES
    if 0 < given < MIN_RESAMPLES:
        raise Failure(f"--resamples is {given}, too few to estimate stability; choose at least {MIN_RESAMPLES}, or 0.")
    return given
