"""What a fitted selector found, as plain data that JSON can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from blockselect.arrays import FloatArray, IntArray
from blockselect.blockmodels.reflection import reflected
from blockselect.bmgufs.block_statistics import BlockStatistics
from blockselect.bmgufs.losses import profiles
from blockselect.consensus.estimator import BlockModelSelector
from blockselect.graphs.attributed import AttributedGraph


def summarize(selector: BlockModelSelector, graph: AttributedGraph) -> dict[str, Any]:
    """Put together what a fitted selector found in a network.

    Parameters
    ----------
    selector : BlockModelSelector
        Fitted.
    graph : AttributedGraph
        The network it was fitted to. Features without names are called ``x0``, ``x1``, …

    Returns
    -------
    dict
        Only dicts, lists, strings, numbers and None: ``json.dumps`` takes it as it is. `selected` has one entry a
        selected feature, the best first; `feature_names`, `scores`, `ranking` and each of `measures` (stability,
        p_value, q_value, where the selector told them) follow the columns of the features; `blocks` holds their
        count and whether the graph chose it (`automatic`), the densities (paper: M, M̂) and, as `target_profile` and
        `induced_profile`, the smoothed rows of both, the former `reflected` or not, scaled to sum to one (paper: P,
        Q); `criteria` says of each candidate how it was judged and whether it voted, None where one alone guided.
    """
    check_is_fitted(selector)
    _check_same_network(selector, graph)
    by_rank = np.argsort(selector.ranking_)
    chosen = by_rank[selector.support_[by_rank]]  # with "auto" or `refine` these need not be those of highest score
    statistics = BlockStatistics.of(graph.features, [selector.block_model_])
    names = _feature_names(graph)
    return {
        "counts": _counts(graph, chosen),
        "selected": _selected(selector, statistics, names, chosen),
        "feature_names": names,
        "scores": selector.scores_.tolist(),
        "ranking": selector.ranking_.tolist(),
        "measures": {measure: values.tolist() for measure, values in _measures(selector).items()},
        "blocks": _blocks(selector, statistics),
        "relative_error": selector.block_model_.relative_error,
        "criteria": _criteria(selector),
        "candidate_errors": [candidate.relative_error for candidate in selector.candidates_],
        "loss_history": {
            "reconstruction": selector.history_.reconstruction.tolist(),
            "profile": selector.history_.profile.tolist(),
        },
        "sparsity": selector.sparsity_,
        "n_iter": selector.n_iter_,
    }


def _check_same_network(selector: BlockModelSelector, graph: AttributedGraph) -> None:
    fitted = (len(selector.block_model_.labels), len(selector.scores_))
    if fitted != (graph.n_nodes, graph.n_features):
        raise ValueError(
            f"the selector was fitted to {fitted[0]} nodes and {fitted[1]} features but the graph has "
            f"{graph.n_nodes} and {graph.n_features}; pass the network it was fitted to."
        )


def _feature_names(graph: AttributedGraph) -> list[str]:
    if graph.feature_names is None:
        return [f"x{column}" for column in range(graph.n_features)]
    return [str(name) for name in graph.feature_names]


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


def _measures(selector: BlockModelSelector) -> dict[str, FloatArray]:
    """What else is told of each feature."""
    attributes = {"stability": "stability_", "p_value": "p_values_", "q_value": "q_values_"}
    return {
        name: getattr(selector, attribute) for name, attribute in attributes.items() if hasattr(selector, attribute)
    }


def _criteria(selector: BlockModelSelector) -> list[dict[str, Any]] | None:
    if not hasattr(selector, "criteria_"):
        return None
    rows = selector.criteria_.to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def _selected(
    selector: BlockModelSelector, statistics: BlockStatistics, names: list[str], chosen: IntArray
) -> list[dict[str, Any]]:
    means = statistics.block_means[0]  # (k, m)
    measures = _measures(selector)
    return [
        {
            "rank": int(selector.ranking_[index]),
            "index": index,
            "name": names[index],
            "score": float(selector.scores_[index]),
            **{measure: float(values[index]) for measure, values in measures.items()},
            "block_means": means[:, index].tolist(),
        }
        for index in chosen.tolist()
    ]


def _blocks(selector: BlockModelSelector, statistics: BlockStatistics) -> dict[str, Any]:
    model = selector.block_model_
    reflect = selector.profile_target == "reflected"
    aim = reflected(model) if reflect else model
    target, _ = profiles(statistics, aim.density[None, None], selector.smoothing)
    induced, _ = profiles(statistics, selector.induced_density_[None, None], selector.smoothing)
    return {
        "count": model.n_blocks,
        "automatic": isinstance(selector.block_model, str) and selector.n_blocks == "auto",
        "sizes": model.block_sizes.tolist(),
        "density": model.density.tolist(),
        "induced_density": selector.induced_density_.tolist(),
        "reflected": reflect,
        "target_profile": target[0, 0].tolist(),
        "induced_profile": induced[0, 0].tolist(),
    }
