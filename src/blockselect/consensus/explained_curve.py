"""The explained curve: how much of the block structure the first features explain, compared with random features."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from blockselect.blockmodels.block_guided import BlockGuidedSelector
from blockselect.consensus.likelihood import JointLikelihood
from blockselect.consensus.ranking import MAX_REGRESSED
from blockselect.consensus.target import BlockRegression
from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.sums import in_memory
from blockselect.utils.arrays import IntArray
from blockselect.utils.threads import one_thread

_BEYOND = 4  # the curve extends to this multiple of the number of selected features, to show whether more would help
_WORK = 10**10  # largest number of multiplications for one Gram matrix
_DRAWS = 5  # samples of random features
_MAX_FOR_ALL = (
    1200  # with at most this many features, a regression on all of them takes only a small share of the time of a fit
)
NEARLY_ALL = 0.95  # share of what all selected features explain


def explained_by_size(
    selector: BlockGuidedSelector, regression: BlockRegression, share_of_all: float | None = None
) -> dict[str, Any]:
    """Share of the block structure explained by the first 1, 2, 4, … features, by random features and by all features.

    All shares are values of R² from one ridge regression (see :mod:`blockselect.consensus.target`).

    Parameters
    ----------
    selector : BMGUFS or BlockModelSelector
        A selector that has ranked the features.
    regression : BlockRegression
        The regression of its blocks on the features, which are in memory.
    share_of_all : float, optional
        The share explained by all features together, if it is known.

    Returns
    -------
    dict
        The `share` of the selected features (None if no feature is selected or, for BMGUFS, if more are selected than
        the curve contains); the share of `all` features together (None if it is not known and there are more than 1200
        features); and the `curve`. For each `n_features`, the curve contains the `share` of that many features (the
        selected ones first, then by rank) and the mean share of five samples of that many `random` features.
    """
    chosen, by_rank = selector._selected_in_order(), np.argsort(selector.ranking_)
    others = by_rank[~selector.support_[by_rank] & (selector.scores_[by_rank] > 0)]
    order = np.concatenate([chosen, others])
    curve = _curve(regression, order, sizes_to_try(len(chosen), len(order), regression.features.shape[0]))
    at_cut = next((point["share"] for point in curve if point["n_features"] == len(chosen)), None)
    if at_cut is None and len(chosen) and hasattr(selector, "explained_"):
        at_cut = float(selector.explained_[-1])
    if share_of_all is None and len(regression.means) <= _MAX_FOR_ALL:
        share_of_all = regression.share_of_all()
    return {"share": at_cut, "all": share_of_all, "curve": curve}


def explained_of_model(selector: BlockGuidedSelector, graph: AttributedGraph) -> dict[str, Any] | None:
    """`explained_by_size` for a selector with one block model; None for a single block or for row chunks."""
    if selector.block_model_.n_blocks == 1 or not in_memory(graph.features):
        return None
    with one_thread():  # otherwise sums would depend on the number of cores
        (tree,) = JointLikelihood(graph).trees([selector.block_model_], renumber=False)
        regression = BlockRegression.of(graph.features, graph.adjacency, [tree.model.labels], [tree.linkage])
        return explained_by_size(selector, regression)


def sizes_to_try(n_selected: int, n_usable: int, n_nodes: int) -> list[int]:
    """Numbers of features on the curve: powers of two, the number of selected features, and the largest number."""
    last = min(_BEYOND * max(n_selected, 1), n_usable, MAX_REGRESSED, max(1, isqrt(_WORK // n_nodes)))
    powers = {2**power for power in range(last.bit_length()) if 2**power <= last}
    return sorted(powers | {last} - {0} | ({n_selected} if 0 < n_selected <= last else set()))


def fewest_for_nearly_all(curve: list[dict[str, Any]], n_selected: int) -> int | None:
    """The smallest number of features on the curve that explain 95 % of what all selected features explain."""
    full = next((point["share"] for point in curve if point["n_features"] == n_selected), None)
    if full is None or full <= 0:
        return None
    return next((int(point["n_features"]) for point in curve if point["share"] >= NEARLY_ALL * full), None)


def _curve(regression: BlockRegression, order: IntArray, sizes: list[int]) -> list[dict[str, Any]]:
    """The points of the curve for these numbers of features, which are taken in the given `order`."""
    if not sizes:
        return []
    usable, rng = np.flatnonzero(regression.squares > 0), np.random.default_rng(0)
    last = min(sizes[-1], len(usable))
    samples = [order[: sizes[-1]], *(rng.choice(usable, last, replace=False) for _ in range(_DRAWS))]
    columns = np.unique(np.concatenate(samples))
    among = regression.only(columns)  # taking each sample from all columns would take longer than everything else
    shares, *draws = (among.cumulative(np.searchsorted(columns, sample)) for sample in samples)
    by_chance = np.mean(draws, axis=0)
    return [
        {
            "n_features": size,
            "share": float(shares[size - 1]),
            "random": float(by_chance[min(size, last) - 1]) if last else 0.0,  # 0 if all features are constant
        }
        for size in sizes
    ]
