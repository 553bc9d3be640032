"""The work of `blockselect select`: make the selector, fit it, and collect the contents of all files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blockselect.base import ScoreSelector
from blockselect.blockmodels.block_guided import BlockGuidedSelector
from blockselect.cli.failure import OPTION_OF, Failure, expecting_bad_input, in_options
from blockselect.cli.inputs import NetworkInput
from blockselect.cli.methods import parameters_of
from blockselect.cli.options import DEFAULT, PAPER, SEED
from blockselect.cli.outputs import json_bytes, settings_record, versions
from blockselect.inputs.attributed import AttributedGraph
from blockselect.inputs.kinds import FeatureTable
from blockselect.inputs.neighbour_graph import N_NEIGHBORS
from blockselect.inputs.write import matrix_file, matrix_suffix
from blockselect.inspection.stability import selection_stability
from blockselect.registry import make_selector
from blockselect.report.overview import draw_diagnostics, draw_overview, render_png
from blockselect.report.page import make_report
from blockselect.report.summarize import block_names, summarize
from blockselect.report.tables import blocks_table, nodes_table, scores_table, selected_table
from blockselect.utils._sklearn import check_parameters
from blockselect.utils.arrays import ObjectArray
from blockselect.utils.errors import collected_warnings
from blockselect.utils.parameters import check_known
from blockselect.utils.progress import Progress

NO_GRAPH = (
    "no --graph is given, so each node is linked to its nearest neighbours in the same features from which "
    "the selection is made; name a file of links, or set --neighbors if this is intended."
)
SCORE_FILES = ("report.html", "selected.csv", "scores.csv", "nodes.csv", "run.json")  # written for every method
BLOCK_FILES = ("blocks.csv", "overview.png", "diagnostics.png")  # written for methods that find blocks
OF_BLOCKS = ("relative_error", "candidate_errors", "explained", "levels", "candidates", "effort", "sparsity", "n_iter")


def file_names(method: str, features: Path | None, save_matrix: bool) -> list[str]:
    """The files that a run writes; the matrix has the same format as the file of features."""
    blocks = BLOCK_FILES if method in (DEFAULT, PAPER) else ()
    return [*SCORE_FILES, *blocks, *([f"matrix{matrix_suffix(features)}"] if save_matrix else [])]


def configured_selector(method: str, settings: Mapping[str, Any], others: Mapping[str, Any]) -> ScoreSelector:
    """Make the selector that the options describe.

    Parameters
    ----------
    method : str
        Name in the registry.
    settings : mapping
        Parameters that have their own option; None for options that were not given.
    others : mapping
        Parameters given with --set.

    Raises
    ------
    Failure
        If the method does not have one of the parameters, or does not accept its value or this combination of values.
    """
    selector = make_selector(method, random_state=SEED)
    known = parameters_of(selector)
    given = {name: value for name, value in settings.items() if value is not None}
    for name in given:
        if name not in known:
            raise Failure(f"{OPTION_OF[name]} cannot be used with --method {method}; leave out one of them.")
    settable = [name for name in known if name not in OPTION_OF]
    if others and not settable:
        raise Failure(f"--set cannot be used with --method {method}, which has no other parameters; leave it out.")
    with expecting_bad_input():
        check_known(others, settable, what=f"parameter of {method}")
        selector.set_params(**given, **others)
        check_parameters(selector)
        if isinstance(selector, BlockGuidedSelector):
            selector._check_combinations()
    return selector


def neighbors_to_link(selector: ScoreSelector) -> int | None:
    """Number of nearest neighbours to link each node to if no graph is given; None if a graph is required."""
    return selector._neighbors_to_link() if hasattr(selector, "n_neighbors") else N_NEIGHBORS


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """A finished run whose results have not been written yet."""

    network: NetworkInput
    selector: ScoreSelector  # fitted
    method: str
    n_resamples: int  # requested
    summary: dict[str, Any]
    warnings: list[str]

    @property
    def by_blocks(self) -> bool:
        """Whether the method finds blocks."""
        return isinstance(self.selector, BlockGuidedSelector)


def run_selection(
    network: NetworkInput, selector: ScoreSelector, method: str, n_resamples: int, progress: Progress
) -> Selection:
    """Fit the selector, estimate the stability of the selection if requested, and collect all warnings."""
    graph, warnings = network.graph, list(network.warnings)
    data: AttributedGraph | FeatureTable = graph
    by_blocks = isinstance(selector, BlockGuidedSelector)
    if network.built_from_features:
        # Given only features, the selector builds the graph itself, and so knows that the graph depends on them.
        data = FeatureTable(graph.features, graph.node_ids, graph.feature_names)
        if by_blocks:
            if selector.n_neighbors is None:
                warnings.append(NO_GRAPH)
            # Setting the number avoids a second warning, which would name parameters of the library.
            selector.set_params(n_neighbors=neighbors_to_link(selector))
    stability = None
    with collected_warnings() as messages:
        with expecting_bad_input():
            if not by_blocks:  # the `fit` of such a method shows no progress
                progress("scores", 0, 1)
            selector.fit(data, **({"progress": progress} if by_blocks else {}))
            if n_resamples:
                stability = selection_stability(selector, data, n_resamples=n_resamples, progress=progress)
        summary = summarize(selector, stability=stability)
    if not by_blocks:
        summary = {"method": method, **summary}
    return Selection(network, selector, method, n_resamples, summary, [*warnings, *map(in_options, messages)])


def json_summary(selection: Selection) -> dict[str, Any]:
    """What --json prints: the summary and, if there are blocks, the block of each node."""
    if not selection.by_blocks:
        return selection.summary
    graph = selection.network.graph
    ids = range(graph.n_nodes) if graph.node_ids is None else map(str, graph.node_ids)
    return {**selection.summary, "nodes": {"ids": list(ids), "blocks": selection.selector.labels_.tolist()}}


def file_contents(
    selection: Selection, command: str, *, labels: ObjectArray | None = None, save_matrix: bool = False
) -> dict[str, bytes]:
    """File name → content, starting with the file to open first. Repeating a run gives the same bytes.

    `labels` are known labels of the nodes, which the report compares with the blocks.
    """
    summary, network, selector = selection.summary, selection.network, selection.selector
    blocks = (selector.labels_, selector._block_names()) if selection.by_blocks else ()
    report = make_report(
        selector,
        summary=summary,
        title=network.title,
        command=command,
        warnings=selection.warnings,
        labels=labels,
    )
    files = {
        "report.html": report.to_bytes(),
        "selected.csv": selected_table(summary).encode(),
        "scores.csv": scores_table(summary).encode(),
        "nodes.csv": nodes_table(network.graph, selector.get_support(indices=True), *blocks).encode(),
        "run.json": json_bytes(_run_record(selection)),
    }
    if selection.by_blocks:
        files |= {
            "blocks.csv": blocks_table(selector.blocks_, summary).encode(),
            "overview.png": render_png(draw_overview(summary)),
            "diagnostics.png": render_png(draw_diagnostics(summary)),
        }
    if save_matrix:
        graph, chosen = network.graph, selector.get_support(indices=True)
        names = None if graph.feature_names is None else graph.feature_names[chosen]
        source = network.features_file
        files[f"matrix{matrix_suffix(source)}"] = matrix_file(graph.features[:, chosen], graph.node_ids, names, source)
    return files


def _run_record(selection: Selection) -> dict[str, Any]:
    """What is needed to repeat the run, and its main results, without times or folders, so that runs are comparable."""
    selector, summary = selection.selector, selection.summary
    record = {
        "command": "select",
        "method": selection.method,
        "input": selection.network.record,
        "selector": settings_record(selector),
        "n_resamples": selector._n_resamples(selection.n_resamples),  # fewer on a large network
        "versions": versions(getattr(selector, "device", "cpu")),
        "counts": summary["counts"],
        "network_evidence": summary["network_evidence"],
    }
    if selection.by_blocks:
        record |= {
            "n_blocks": summary["blocks"]["count"],
            "n_blocks_reason": summary["blocks"]["reason"],
            "refine": summary["blocks"]["refine"],
            "block_sizes": summary["blocks"]["sizes"],
            "block_names": block_names(summary),
            **{name: summary[name] for name in OF_BLOCKS},
            "gram_form": getattr(selector, "gram_form_", None),
        }
    return {**record, "warnings": selection.warnings}
