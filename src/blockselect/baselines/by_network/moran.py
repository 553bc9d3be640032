"""Moran's I: features that are autocorrelated along the links of the network."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from blockselect.baselines.criterion import NetworkGuidedSelector
from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.statistics import column_inner_products, constant_columns, mean_and_variance
from blockselect.utils.arrays import Features, FloatArray, Sparse


class MoransI(NetworkGuidedSelector):
    """Select the features with the largest autocorrelation along links, without labels.

    For each feature f of n nodes with adjacency A, f̄ = f − mean(f), the criterion is
    (n / ΣA) · (f̄ᵀAf̄) / (f̄ᵀf̄), for which larger is better. It is close to 1 if linked nodes have similar values, close
    to 0 if values do not depend on links, and negative if linked nodes differ. This is Moran's I [1]_, which is widely
    used on graphs of single cells. Checked against published code.

    Sparse features are never converted to dense ones. This loses precision if the mean of a feature is far larger than
    its standard deviation; pass such features as a dense array.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. (paper: d)
    n_neighbors : int or None, default=None
        If `fit` is given no adjacency, each node is linked to this many nearest nodes in feature space; if None, a
        missing adjacency is an error.

    Attributes
    ----------
    criterion_ : array of shape (m,)
        Moran's I of each feature; NaN for a constant feature.
    scores_ : array of shape (m,)
        The criterion; −∞ for a constant feature, which is never selected.
    ranking_, support_, n_features_
        As in every selector: the ranks (1 is the best), the mask of selected features, and their number.

    See Also
    --------
    NetworkLaplacianScore : Weights the variance of a feature by the degrees of the nodes.

    References
    ----------
    .. [1] P. A. P. Moran, "Notes on continuous stochastic phenomena", Biometrika 37, 1950.

    Examples
    --------
    >>> from blockselect import load_cora
    >>> from blockselect.baselines.by_network.moran import MoransI
    >>> cora = load_cora()
    >>> MoransI(64).fit_transform(cora.features, adjacency=cora.adjacency).shape
    (2708, 64)
    """

    def __init__(self, n_features_to_select: int | float | None = None, *, n_neighbors: int | None = None) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors

    def _score(self, graph: AttributedGraph) -> FloatArray:
        return self._score_by(morans_i(graph.features, graph.adjacency))


def morans_i(features: Features, adjacency: Sparse) -> FloatArray:
    """Moran's I of each feature; NaN for a constant feature: (m,)."""
    columns = features.astype(np.float64, copy=False)
    mean, variance = mean_and_variance(columns)
    if sparse.issparse(columns):
        A, f, μ = adjacency, columns, mean  # (n, n) (n, m) (m,)
        shared = column_inner_products(f, A @ f)
        degrees = np.asarray(A.sum(axis=1)).ravel()
        covariance = shared - 2 * μ * (f.T @ degrees) + μ**2 * degrees.sum()  # (f − μ)ᵀA(f − μ)
    else:
        centred = columns - mean
        covariance = column_inner_products(centred, adjacency @ centred)
    defined = ~constant_columns(columns) & (variance > 0)
    undefined = np.full(len(mean), np.nan)
    return np.asarray(np.divide(covariance / adjacency.sum(), variance, out=undefined, where=defined))
