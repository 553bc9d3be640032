"""`blockselect select`: the features of a network that explain its structure."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from blockselect.blockmodels.guided import BlockGuidedSelector
from blockselect.cli import options as opt
from blockselect.cli import other_methods
from blockselect.cli.complete import complete_methods
from blockselect.cli.failure import Failure, expecting_bad_input
from blockselect.cli.inputs import NetworkInput, Reading, load_network
from blockselect.cli.outputs import check_destination, write_together
from blockselect.cli.record import json_bytes, settings_record, versions
from blockselect.cli.repeat import repeat_command
from blockselect.cli.selected_matrix import matrix_name, selected_matrix
from blockselect.cli.selector_options import DEFAULT, chosen_method, make_selector, neighbors_to_link, takes_settings
from blockselect.cli.settings import METHOD, OUTPUT
from blockselect.cli.streams import say
from blockselect.cli.terminal import progress_bar, show_selection
from blockselect.inspection.reselection import MIN_RESAMPLES
from blockselect.inspection.stability import selection_stability
from blockselect.progress import Progress, no_progress
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
MOST_RESAMPLES = 10**6
RESAMPLES: int = inspect.signature(selection_stability).parameters["n_resamples"].default

Out = Annotated[
    Path | None,
    opt.results_folder(
        "Folder for report.html, the page to look at, and the files beside it. Needed unless --json is given."
    ),
]
Resamples = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=MOST_RESAMPLES,
        metavar="INTEGER",
        help="Resampled graphs from which the stability of the selection is estimated; 0: none.",
        show_default=f"{RESAMPLES}; with another --method 0",
        rich_help_panel=OUTPUT,
    ),
]
MethodName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Method, by its name in docs/methods.md: mcfs, morans-i, hotspot, …. Others than block-model and bmgufs "
        "find no blocks: they write selected.csv, scores.csv, nodes.csv and run.json, and no report.",
        show_default="block-model",
        autocompletion=complete_methods,
        rich_help_panel=METHOD,
    ),
]
SaveMatrix = Annotated[
    bool,
    typer.Option(
        "--save-matrix",
        help="Also write the selected features of all nodes, in the format of --features: matrix.csv or the like.",
        rich_help_panel=OUTPUT,
    ),
]
Paper = Annotated[
    bool,
    typer.Option(
        "--paper",
        help="Short for --method bmgufs: exactly the method of Bai, Nguyen and Davidson (KDD 2020); needs --blocks.",
        rich_help_panel=METHOD,
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
    method: MethodName = None,
    paper: Paper = False,
    out: Out = None,
    overwrite: opt.Overwrite = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    resamples: Resamples = None,
    save_matrix: SaveMatrix = False,
    **settings: Any,
) -> None:
    """\b
    Examples:
      blockselect select --dataset cora --top 64 --out results
      blockselect select --features genes.csv --graph links.csv --out results
      blockselect select --features genes.csv --graph links.csv --top auto --json
      blockselect select --dataset cora --method morans-i --top 64 --out moran
    """
    name = chosen_method(method, paper=paper)
    selector = make_selector({option.replace("_", "-"): value for option, value in settings.items()}, name)
    if settings["neighbors"] is not None and (graph is not None or dataset is not None):
        raise Failure("--neighbors links nodes where no graph is given; leave it or the graph out.")
    by_blocks = isinstance(selector, BlockGuidedSelector)
    names: tuple[str, ...] = OUTPUT_FILES if by_blocks else other_methods.OUTPUT_FILES
    names += (matrix_name(features),) if save_matrix else ()
    inputs = opt.input_files(features, graph, node_ids, feature_names)
    check_destination(out, names, inputs, as_json=as_json, overwrite=overwrite)
    n_resamples = _check_resamples(resamples, name)
    reading = Reading(node_ids, feature_names, transpose, unknown_nodes, weight)
    with progress_bar(quiet) as progress:
        report = progress or no_progress
        report("reading", 0, 1)
        n_neighbors = neighbors_to_link(selector)
        network = load_network(dataset, features, graph, n_neighbors=n_neighbors, reading=reading, progress=progress)
        report("reading", 1, 1)
        if not by_blocks:
            ways = {"save_matrix": save_matrix, "as_json": as_json, "quiet": quiet}
            other_methods.select(network, selector, name, n_resamples, progress, out, **ways)
            return
        if network.built_from_features:
            selector.set_params(n_neighbors=n_neighbors)
        selection = run_selection(network, selector, n_resamples, progress)
        made = (NO_GRAPH,) if network.built_from_features and settings["neighbors"] is None else ()
        selection.warnings[:0] = [*network.warnings, *made]
        if out is not None:
            report("writing", 0, 1)
            files = file_contents(selection, repeat_command(context), save_matrix=save_matrix)
            with expecting_bad_input():
                write_together(out, files, mark="run.json")
    for warning in selection.warnings:
        say(f"warning: {warning}")
    if as_json:
        typer.echo(json.dumps(selection.summary | {"nodes": node_blocks(selection)}, allow_nan=False))
    elif out is not None and not quiet:
        show_selection(network.title, selection.summary, out, list(files), verbose=verbose)


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """A run that is done, nothing written yet."""

    network: NetworkInput
    selector: BlockGuidedSelector
    n_resamples: int  # made, where fewer than asked for on a large network
    summary: dict[str, Any]
    warnings: list[str]


def run_selection(
    network: NetworkInput, selector: BlockGuidedSelector, n_resamples: int, progress: Progress | None
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


def node_blocks(selection: Selection) -> dict[str, list[Any]]:
    """Each node, by its id or the number of its row, and its block."""
    graph = selection.network.graph
    ids = range(graph.n_nodes) if graph.node_ids is None else map(str, graph.node_ids)
    return {"ids": list(ids), "blocks": selection.selector.labels_.tolist()}


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
        **(selected_matrix(network, selector) if save_matrix else {}),
    }


def run_record(selection: Selection) -> dict[str, Any]:
    """What it takes to repeat the run, and its main figures; no time and no place: runs can be compared."""
    selector, summary = selection.selector, selection.summary
    return {
        "command": "select",
        "input": selection.network.record,
        "selector": settings_record(selector),
        "n_resamples": selection.n_resamples,
        "versions": versions(getattr(selector, "device", "cpu")),
        "counts": summary["counts"],
        "n_blocks": summary["blocks"]["count"],
        "block_sizes": summary["blocks"]["sizes"],
        "relative_error": summary["relative_error"],
        "candidate_errors": summary["candidate_errors"],
        "explained": summary["explained"],
        "candidates": summary["candidates"],
        "effort": summary["effort"],
        "sparsity": summary["sparsity"],
        "n_iter": summary["n_iter"],
        "gram_form": getattr(selector, "gram_form_", None),
        "warnings": selection.warnings,
    }


def _check_resamples(given: int | None, method: str) -> int:
    """As many as are given; other methods than the default know no stability, so there only if asked for."""
    if given is None:
        return RESAMPLES if method == DEFAULT else 0
    if 0 < given < MIN_RESAMPLES:
        raise Failure(f"--resamples is {given}, too few to estimate stability; choose at least {MIN_RESAMPLES}, or 0.")
    return given
