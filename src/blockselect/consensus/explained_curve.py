"""How much of the block structure the first d features explain, compared with random features."""

from __future__ import annotations

from copy import copy
from math import isqrt
from typing import Any

import numpy as np

from blockselect.arrays import FloatArray, IntArray
from blockselect.blockmodels.guided import BlockGuidedSelector
from blockselect.consensus.estimator import BlockModelSelector
from blockselect.consensus.ranking import MAX_COUNTED
from blockselect.consensus.refine import JointLikelihood
from blockselect.consensus.target import BlockRegression
from blockselect.errors import collected_warnings
from blockselect.graphs.attributed import AttributedGraph
from blockselect.threads import one_thread

_BEYOND = 4  # the curve goes on to this multiple of the selected features: would more of them explain more?
_WORK = 10**10  # multiplications for one Gram matrix
_DRAWS = 5  # samples of random features
ENOUGH = 0.95  # share of what all selected features explain


def explained_by_size(selector: BlockGuidedSelector, graph: AttributedGraph) -> dict[str, Any] | None:
    """Share of the block structure that the first 1, 2, 4, … features explain, with random and all features.

    All shares are the R² of one ridge regression, see :mod:`blockselect.consensus.target`.

    Parameters
    ----------
    selector : BMGUFS or BlockModelSelector
        A fitted selector.
    graph : AttributedGraph
        The network of the fit.

    Returns
    -------
    dict or None
        The `share` of the selected features (None if none is selected, or too many for BMGUFS), the share of `all`
        features together (None if the network is too large), and the `curve`: for each `n_features`, the `share` of
        the first features by rank, where selected ones come first, and the mean share of as many `random` features in
        five samples. The result is None for one block, where there is nothing to explain.
    """
    if selector.block_model_.n_blocks == 1:
        return None
    chosen, by_rank = selector._selected_in_order(), np.argsort(selector.ranking_)
    others = by_rank[~selector.support_[by_rank] & (selector.scores_[by_rank] > 0)]
    order = np.concatenate([chosen, others])
    with one_thread():  # with several threads, sums would depend on the number of cores
        regression = _regression(selector, graph)
        sizes = sizes_to_try(len(chosen), len(order), graph.n_nodes)
        curve = _curve(regression, order, sizes)
        of_all = regression.of_all()
    at_cut = next((point["share"] for point in curve if point["n_features"] == len(chosen)), None)
    if at_cut is None and len(chosen) and isinstance(selector, BlockModelSelector):
        at_cut = float(selector.explained_[-1])
    return {"share": at_cut, "all": of_all, "curve": curve}


def sizes_to_try(n_selected: int, n_usable: int, n_nodes: int) -> list[int]:
    """Powers of two up to a multiple of the number of selected features, and that number itself."""
    last = min(_BEYOND * max(n_selected, 1), n_usable, MAX_COUNTED, max(1, isqrt(_WORK // n_nodes)))
    powers = {2**power for power in range(last.bit_length()) if 2**power <= last}
    return sorted(powers | {last} - {0} | ({n_selected} if 0 < n_selected <= last else set()))


def enough(curve: list[dict[str, Any]], n_selected: int) -> int | None:
    """The smallest number on the curve that explains at least 95 % of what all selected features explain."""
    full = next((point["share"] for point in curve if point["n_features"] == n_selected), None)
    if full is None or full <= 0:
        return None
    return next((int(point["n_features"]) for point in curve if point["share"] >= ENOUGH * full), None)


def _together(regression: BlockRegression, order: IntArray) -> FloatArray:
    """R² of the first 1, 2, … of these features: (d,)."""
    added, _ = regression.added(order, order[:0])
    return np.cumsum(added)


def _curve(regression: BlockRegression, order: IntArray, sizes: list[int]) -> list[dict[str, Any]]:
    if not sizes:
        return []
    usable, rng = np.flatnonzero(regression.squares > 0), np.random.default_rng(0)
    last = min(sizes[-1], len(usable))
    draws = [_together(regression, rng.choice(usable, last, replace=False)) for _ in range(_DRAWS)]
    shares, by_chance = _together(regression, order[: sizes[-1]]), np.mean(draws, axis=0)
    return [
        {
            "n_features": size,
            "share": float(shares[size - 1]),
            "random": float(by_chance[min(size, last) - 1]) if last else 0.0,  # 0 if all features are constant
        }
        for size in sizes
    ]


def _regression(selector: BlockGuidedSelector, graph: AttributedGraph) -> BlockRegression:
    """The regression of the fit, with the same features, nodes and block models."""
    if not isinstance(selector, BlockModelSelector):
        models = [selector.block_model_]
    else:
        with collected_warnings():  # the fit has already issued them
            graph = copy(selector)._read_network(graph.features, None, graph.adjacency)
        nodes = selector._scored_nodes(graph)
        graph = graph.only(nodes)
        models = [model.among(nodes) for model in selector.consensus_models_]
    trees = JointLikelihood(graph).trees(models, renumber=False)
    labels, linkages = [tree.model.labels for tree in trees], [tree.linkage for tree in trees]
    return BlockRegression.of(graph.features, graph.adjacency, labels, linkages)
