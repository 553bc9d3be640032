"""What a fitted selector found, as plain data that JSON can hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from blockselect.arrays import FloatArray, IntArray
from blockselect.base import ScoreSelector
from blockselect.blockmodels.guided import BlockGuidedSelector
from blockselect.bmgufs.block_statistics import BlockStatistics
from blockselect.bmgufs.losses import profiles
from blockselect.consensus.estimator import BlockModelSelector
from blockselect.errors import ParameterError
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.convert import membership_matrix
from blockselect.graphs.number_arrays import as_numbers, check_entries
from blockselect.inspection.markers import Markers, block_markers
from blockselect.report.explained import explained_by_size
from blockselect.report.small_blocks import small_blocks
from blockselect.wording import feature_labels


def summarize(
    selector: BlockGuidedSelector, graph: AttributedGraph, *, stability: FloatArray | None = None
) -> dict[str, Any]:
    """Put together what a fitted selector found in a network.

    Parameters
    ----------
    selector : BMGUFS or BlockModelSelector
        Fitted.
    graph : AttributedGraph
        The network it was fitted to. Features without names are called ``x0``, ``x1``, …
    stability : array of shape (m,), optional
        As :func:`blockselect.selection_stability` estimates it.

    Returns
    -------
    dict
        Only dicts, lists, strings, numbers and None: ``json.dumps`` takes it as it is. `selected` has one entry a
        selected feature, the best first, with the share of nodes that have it, the block it marks and its lift there
        (see :func:`blockselect.inspection.markers.block_markers`); `feature_names`, `scores`, `ranking` and each of
        `measures` (stability, p_value, q_value, where they were computed) follow the columns of the features; `blocks`
        holds their count, the `reason` for it, whether the graph chose it (`automatic`) and whether the user brought
        them (`given`), which of them are `small` (fewer than 1 % of the nodes each) and are shown together, the
        densities (paper: M, M̂), as `target_profile` and `induced_profile` the smoothed rows of both, the former
        `reflected` or not, scaled to sum to one (paper: P, Q), the link weight of each block pair (each link counted
        from both ends), and the columns of the selected features that mark each block; `explained` says how much of
        the links the first features explain, relative to the blocks; `criteria` says of each candidate how well it
        explains links and features and whether it voted, `effort` what the budget left of the search, and `sparsity`
        the one used (paper: γ): each is None for the selector that has none.
    """
    check_reportable(selector, graph)
    _check_same_network(selector, graph)
    measures = _measures(selector, stability)
    by_rank = np.argsort(selector.ranking_)
    chosen = selector._selected_in_order()
    statistics = BlockStatistics.of(graph.features, [selector.block_model_])
    markers = block_markers(graph.features, selector.block_model_.labels)
    names = feature_labels(graph.feature_names, graph.n_features)
    others = by_rank[~selector.support_[by_rank] & (selector.scores_[by_rank] > 0)]
    return {
        "counts": _counts(graph, chosen),
        "selected": _selected(selector, markers, names, chosen, measures),
        "feature_names": names,
        "scores": selector.scores_.tolist(),
        "ranking": selector.ranking_.tolist(),
        "measures": {measure: values.tolist() for measure, values in measures.items()},
        "blocks": {**_blocks(selector, statistics), **_links(selector, graph, markers, chosen)},
        "explained": explained_by_size(
            graph, selector.block_model_.labels, np.concatenate([chosen, others]), len(chosen)
        ),
        "relative_error": selector.block_model_.relative_error,
        "criteria": _criteria(selector),
        "effort": _effort(selector),
        "candidate_errors": [candidate.relative_error for candidate in selector.candidates_],
        "loss_history": {
            "reconstruction": selector.history_.reconstruction.tolist(),
            "profile": selector.history_.profile.tolist(),
        },
        "sparsity": getattr(selector, "sparsity_", None),
        "n_iter": selector.n_iter_,
    }


def summarize_scores(
    selector: ScoreSelector, graph: AttributedGraph, *, stability: FloatArray | None = None
) -> dict[str, Any]:
    """Of any fitted selector, what does not need blocks: `counts`, `selected`, `feature_names`, `scores`, `ranking` and
    `measures`, as :func:`summarize` has them.
    """
    check_is_fitted(selector)
    measures = _measures(selector, stability)
    chosen, names = selector._selected_in_order(), feature_labels(graph.feature_names, graph.n_features)
    return {
        "counts": _counts(graph, chosen),
        "selected": [_scored(selector, names, index, measures) for index in chosen.tolist()],
        "feature_names": names,
        "scores": selector.scores_.tolist(),
        "ranking": selector.ranking_.tolist(),
        "measures": {measure: values.tolist() for measure, values in measures.items()},
    }


def _scored(selector: ScoreSelector, names: list[str], index: int, measures: dict[str, FloatArray]) -> dict[str, Any]:
    return {
        "rank": int(selector.ranking_[index]),
        "index": index,
        "name": names[index],
        "score": float(selector.scores_[index]),
        **{measure: float(values[index]) for measure, values in measures.items()},
    }


def check_reportable(selector: Any, graph: Any) -> None:
    """A fitted selector that finds blocks, and a checked network, in this order."""
    if not isinstance(selector, BlockGuidedSelector):
        raise ParameterError(
            "selector",
            f"is of type {type(selector).__name__}, which finds no blocks; pass a BlockModelSelector or BMGUFS.",
        )
    check_is_fitted(selector)
    if not isinstance(graph, AttributedGraph):
        raise ParameterError(
            "graph", f"is of type {type(graph).__name__}; make it with check_attributed_graph(features, adjacency)."
        )


def _check_same_network(selector: BlockGuidedSelector, graph: AttributedGraph) -> None:
    fitted = (len(selector.block_model_.labels), len(selector.scores_))
    if fitted != (graph.n_nodes, graph.n_features):
        raise ValueError(
            f"the selector was fitted to {fitted[0]} nodes and {fitted[1]} features but the graph has "
            f"{graph.n_nodes} and {graph.n_features}; pass the network it was fitted to."
        )


def _counts(graph: AttributedGraph, chosen: IntArray) -> dict[str, int]:
    return {
        "nodes": graph.n_nodes,
        "links": graph.n_links,
        "self_loops": graph.n_self_loops,
        "isolated_nodes": graph.n_isolated,
        "features": graph.n_features,
        "empty_features": _n_empty(graph.features, axis=0),
        "selected_features": len(chosen),
        "nodes_without_selected_features": _n_empty(graph.features[:, chosen], axis=1),
    }


def _n_empty(matrix: Any, axis: int) -> int:
    """How many columns (axis 0) or rows (axis 1) of a dense or sparse matrix hold nothing but zeros."""
    return int(np.count_nonzero((matrix != 0).sum(axis=axis) == 0))


def _measures(selector: ScoreSelector, stability: FloatArray | None) -> dict[str, FloatArray]:
    """What else is known of each feature."""
    known = {
        "stability": stability,
        "p_value": getattr(selector, "p_values_", None),
        "q_value": getattr(selector, "q_values_", None),
    }
    measures: dict[str, FloatArray] = {
        name: as_numbers(name, values) for name, values in known.items() if values is not None
    }
    for name, values in measures.items():
        if values.shape != selector.scores_.shape:
            raise ValueError(
                f"{name} has shape {values.shape} but there are {len(selector.scores_)} features; give one value each."
            )
        check_entries(name, values, (values >= 0) & (values <= 1), "is no chance: they lie between 0 and 1; correct it")
    return measures


def _criteria(selector: BlockGuidedSelector) -> list[dict[str, Any]] | None:
    if not isinstance(selector, BlockModelSelector):
        return None
    rows = selector.criteria_.to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def _effort(selector: BlockGuidedSelector) -> dict[str, Any] | None:
    """What was made of what was asked for; None where there is no budget to keep to."""
    if not isinstance(selector, BlockModelSelector):
        return None
    effort = selector.effort_
    return {
        "work": effort.work,
        "was_cut": effort.was_cut,
        "candidates": {"asked": effort.asked_candidates, "made": effort.n_candidates},
        "rounds": {"asked": effort.asked_rounds, "made_at_most": effort.max_rounds},
    }


def _selected(
    selector: BlockGuidedSelector,
    markers: Markers,
    names: list[str],
    chosen: IntArray,
    measures: dict[str, FloatArray],
) -> list[dict[str, Any]]:
    return [
        {
            **_scored(selector, names, index, measures),
            "prevalence": float(markers.prevalence[index]),
            "marked_block": _block_or_none(markers.marked_block[index]),
            "lift": float(markers.marked_lift[index]),
            "block_means": markers.block_means[:, index].tolist(),
            "block_lifts": markers.lift[:, index].tolist(),
        }
        for index in chosen.tolist()
    ]


def _blocks(selector: BlockGuidedSelector, statistics: BlockStatistics) -> dict[str, Any]:
    model = selector.block_model_
    reflect = isinstance(selector, BlockModelSelector)
    aim = model.reflected() if reflect else model
    return {
        "count": model.n_blocks,
        "automatic": isinstance(selector.block_model, str) and selector.n_blocks == "auto",
        "given": selector.block_model is not None and not isinstance(selector.block_model, str),
        "reason": selector.n_blocks_reason_,
        "sizes": model.block_sizes.tolist(),
        "small": small_blocks(model.block_sizes.tolist()),
        "density": model.density.tolist(),
        "induced_density": selector.induced_density_.tolist(),
        "reflected": reflect,
        "target_profile": _profile(selector, statistics, aim.density),
        "induced_profile": _profile(selector, statistics, selector.induced_density_),
    }


def _profile(selector: BlockGuidedSelector, statistics: BlockStatistics, density: FloatArray) -> list[list[float]]:
    """Rows of a density as the selector smooths them, scaled to sum to one."""
    mean = float(replace(statistics, density=density[None]).mean_density[0])
    rows, _ = profiles(statistics, density[None, None], selector._smoothing(mean))
    return [[float(share) for share in row] for row in rows[0, 0]]


def _block_or_none(block: int) -> int | None:
    return None if block < 0 else int(block)


def _links(selector: BlockGuidedSelector, graph: AttributedGraph, markers: Markers, chosen: IntArray) -> dict[str, Any]:
    """How much link weight joins each pair of blocks, each link counted from both ends, and what marks each block."""
    model = selector.block_model_
    F = membership_matrix(model.labels)
    return {
        "link_weights": (F.T @ (graph.adjacency @ F)).toarray().tolist(),
        "marked_by": [markers.features_of(block, chosen).tolist() for block in range(model.n_blocks)],
    }
