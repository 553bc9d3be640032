"""Partial order in closed form: features that linked nodes share more than nodes without a link."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from blockselect.arrays import Features, FloatArray, Sparse
from blockselect.baselines._solvers.node_pairs import NonLinks, linked_pairs
from blockselect.baselines.criterion import NetworkGuidedSelector, scores_where_defined
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.binarize import presence
from blockselect.graphs.column_statistics import constant_columns


class PartialOrder(NetworkGuidedSelector):
    """Select the features that linked nodes share more than nodes without a link, without labels.

    The criterion of a feature l is the mean of x_il x_jl over all links i–j minus its mean over all pairs of different
    nodes without a link, large is good. It looks at each feature alone, where
    :class:`~blockselect.baselines.by_network.mmpop.MMPOP` [1]_ weights them together. All pairs are summed exactly, by
    one sparse product. Link weights are not read. Reconstructed: no claim of fidelity to any published method.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)
    binarize : bool, default=False
        Look only at whether a value is zero. Products of counts are led by their few largest values: set it for
        counts of words. It must stay off for features that are never zero.
    n_neighbors : int or None, default=None
        Where `fit` is given no adjacency, link each node with this many of its nearest by the features. None: a
        missing adjacency is an error.

    Attributes
    ----------
    criterion_ : array of shape (m,)
        Difference of the two means for each feature; NaN for a constant one.
    scores_ : array of shape (m,)
        The same; −∞ for a constant feature, which is never selected.
    ranking_ : array of shape (m,)
        Rank of each feature, 1 is the best; among equal scores the lower index comes first.
    support_ : boolean array of shape (m,)
        Which features are selected.
    n_features_ : int
        How many are selected.

    See Also
    --------
    blockselect.baselines.by_network.mmpop.MMPOP : Weights the features together.

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

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **NetworkGuidedSelector._parameter_constraints,
        "binarize": ["boolean"],
    }

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
        self.criterion_ = np.where(constant_columns(features), np.nan, difference)
        return scores_where_defined(self.criterion_)


def shared_by_links(features: Features, adjacency: Sparse) -> FloatArray:
    """Mean of x_il x_jl over links minus its mean over non-links: (m,)."""
    links, non_links = linked_pairs(adjacency), NonLinks.of(adjacency)
    n = features.shape[0]
    upper = sparse.csr_array((np.ones(len(links)), (links.first, links.second)), shape=(n, n))
    over_links = (features * (upper @ features)).sum(axis=0)
    over_all = (features.sum(axis=0) ** 2 - (features * features).sum(axis=0)) / 2
    return np.asarray(over_links / len(links) - (over_all - over_links) / non_links.n_pairs)


def features_to_compare(features: Features, *, binarize: bool) -> Features:
    """The features in float64, or whether each value is not zero."""
    read = presence(features) if binarize else features
    return read.astype(np.float64, copy=False)
