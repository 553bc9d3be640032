"""What a fitted selector found, as plain data that JSON can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from blockselect.arrays import FloatArray, IntArray
from blockselect.base import ScoreSelector
from blockselect.blockmodels.guided import BlockGuidedSelector
from blockselect.bmgufs.estimator import BMGUFS
from blockselect.consensus.estimator import BlockModelSelector
from blockselect.errors import ParameterError
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.features import membership_matrix
from blockselect.inspection.markers import Markers, block_markers
from blockselect.parameters import as_numbers, check_entries
from blockselect.report.explained_curve import explained_by_size
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
        Only dicts, lists, strings, numbers and None: ``json.dumps`` takes it as it is. `selected` has one entry per
        selected feature, the best first, with the share of nodes that have it, the block it marks and its lift there
        (see :func:`blockselect.inspection.markers.block_markers`); `feature_names`, `scores`, `ranking` and each of
        `measures` (explained_more, explained_alone, stability, p_value, q_value, where they were computed) follow the
        columns of the features; `blocks` holds their count, the `reason` for it, whether the graph chose it
        (`automatic`) and whether the user brought them (`given`), which of them are `small` (fewer than 1 % of the
        nodes each), the `density` of their links (paper: M) and their `similarity` by the selected features, the
        patterns of both that can be compared (see `block_patterns`), the link weight of each block pair (each link
        counted from both ends), and the columns of the selected features that mark each block; `explained` says how
        much of the blocks the features explain (see `explained_by_size`); `candidates` says of each candidate how well
        it explains links and features and whether it is one of those that features are to explain, and `effort` what
        was made of the search that was asked for; `sparsity` (paper: γ), `loss_history` and `n_iter` are those of the
        descent of BMGUFS. What a selector does not have is None.
    """
    check_reportable(selector, graph)
    _check_same_network(selector, graph)
    measures = _measures(selector, stability)
    chosen = selector._selected_in_order()
    markers = block_markers(graph.features, selector.block_model_.labels)
    names = feature_labels(graph.feature_names, graph.n_features)
    return {
        "counts": _counts(graph, chosen),
        "selected": _selected(selector, markers, names, chosen, measures),
        "feature_names": names,
        "scores": selector.scores_.tolist(),
        "ranking": selector.ranking_.tolist(),
        "measures": {measure: values.tolist() for measure, values in measures.items()},
        "blocks": {**_blocks(selector, markers.block_means[:, chosen]), **_links(selector, graph, markers, chosen)},
        "explained": explained_by_size(selector, graph),
        "relative_error": selector.block_model_.relative_error,
        "candidates": _candidates(selector),
        "effort": _effort(selector),
        "candidate_errors": [candidate.relative_error for candidate in selector.candidates_],
        **_descent(selector),
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
    if isinstance(selector, BlockModelSelector) and selector.block_model_.n_blocks > 1:
        return {**selector._table_columns(), **measures}
    return measures


def _candidates(selector: BlockGuidedSelector) -> list[dict[str, Any]] | None:
    if not isinstance(selector, BlockModelSelector):
        return None
    rows = selector.candidates_table_.to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def _descent(selector: BlockGuidedSelector) -> dict[str, Any]:
    """How the scores of BMGUFS came about."""
    if not isinstance(selector, BMGUFS):
        return dict.fromkeys(("loss_history", "sparsity", "n_iter"))
    history = selector.history_
    return {
        "loss_history": {"reconstruction": history.reconstruction.tolist(), "profile": history.profile.tolist()},
        "sparsity": selector.sparsity_,
        "n_iter": selector.n_iter_,
    }


def _effort(selector: BlockGuidedSelector) -> dict[str, Any] | None:
    """What was made of the search that was asked for; None where none is planned."""
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


def _blocks(selector: BlockGuidedSelector, means: FloatArray) -> dict[str, Any]:
    model = selector.block_model_
    similarity, alike = means @ means.T, model.reflected().density
    links, features = block_patterns(alike), block_patterns(similarity)
    return {
        "count": model.n_blocks,
        "automatic": isinstance(selector.block_model, str) and selector.n_blocks == "auto",
        "given": selector.block_model is not None and not isinstance(selector.block_model, str),
        "reason": selector.n_blocks_reason_,
        "sizes": model.block_sizes.tolist(),
        "small": small_blocks(model.block_sizes.tolist()),
        "density": model.density.tolist(),
        "similarity": similarity.tolist(),
        "reflected": not np.allclose(alike, model.density, atol=1e-6 * model.density.max()),
        "link_pattern": links.tolist(),
        "feature_pattern": features.tolist(),
    }


def block_patterns(pairs: FloatArray) -> FloatArray:
    """Each row of a matrix of block pairs (k, k) with mean 0 and standard deviation 1, a constant row 0.

    The row of a block then says whom it is tied to more or less than usual, in whatever unit and however strongly.
    """
    apart = pairs - pairs.mean(axis=1, keepdims=True)
    spread = apart.std(axis=1, keepdims=True)
    is_even = spread <= 1e-9 * np.abs(pairs).max(initial=0.0)
    patterns: FloatArray = np.where(is_even, 0.0, apart / np.where(is_even, 1.0, spread))
    return patterns


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
