"""Partial order in closed form: features that linked nodes share more often than other pairs."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from blockselect.baselines._solvers.node_pairs import NonLinks, features_to_compare, linked_pairs
from blockselect.baselines.criterion import NetworkGuidedSelector
from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.statistics import constant_columns
from blockselect.utils.arrays import Features, FloatArray, Sparse


class PartialOrder(NetworkGuidedSelector):
    """Select the features that linked nodes share more than nodes without a link, without labels.

    The criterion of a feature l is the mean of x_il x_jl over all links i–j minus its mean over all pairs of different
    nodes without a link, for which larger is better. Each feature is scored separately, whereas
    :class:`~blockselect.baselines.by_network.mmpop.MMPOP` [1]_ weights all features jointly. All pairs are summed
    exactly, with one sparse product. Link weights are ignored. Reconstructed, with no claim of fidelity to any
    published method.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. (paper: d)
    binarize : bool, default=False
        Use only whether a value is non-zero. Set this for word counts, whose products are otherwise dominated by a few
        large values. Features that are never zero would all become constant, which is an error.
    n_neighbors : int or None, default=None
        If `fit` is given no adjacency, each node is linked to this many nearest nodes in feature space; if None, a
        missing adjacency is an error.

    Attributes
    ----------
    criterion_ : array of shape (m,)
        Difference of the two means for each feature; NaN for a constant feature.
    scores_ : array of shape (m,)
        The criterion; −∞ for a constant feature, which is never selected.
    ranking_, support_, n_features_
        As in every selector: the ranks (1 is the best), the mask of selected features, and their number.

    See Also
    --------
    blockselect.baselines.by_network.mmpop.MMPOP : Weights all features jointly.

    References
    ----------
    .. [1] X. Wei, S. Xie, P. S. Yu, "Efficient partial order preserving unsupervised feature selection on networks",
       SDM 2015.

    Examples
    --------
    >>> from blockselect import load_cora
    >>> from blockselect.baselines.by_network.partial_order import PartialOrder
    >>> cora = load_cora()
    >>> PartialOrder(64).fit_transform(cora.features, adjacency=cora.adjacency).shape
    (2708, 64)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        binarize: bool = False,
        n_neighbors: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.binarize = binarize
        self.n_neighbors = n_neighbors

    def _score(self, graph: AttributedGraph) -> FloatArray:
        features = features_to_compare(graph.features, binarize=self.binarize)
        difference = shared_by_links(features, graph.adjacency)
        return self._score_by(np.where(constant_columns(features), np.nan, difference))


def shared_by_links(features: Features, adjacency: Sparse) -> FloatArray:
    """Mean of x_il x_jl over links minus its mean over non-links: (m,)."""
    links, non_links = linked_pairs(adjacency), NonLinks(adjacency)
    n = features.shape[0]
    upper = sparse.csr_array((np.ones(len(links)), tuple(links.T)), shape=(n, n))
    over_links = (features * (upper @ features)).sum(axis=0)
    over_all = (features.sum(axis=0) ** 2 - (features * features).sum(axis=0)) / 2
    return np.asarray(over_links / len(links) - (over_all - over_links) / non_links.n_pairs)
