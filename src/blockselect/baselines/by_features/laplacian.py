"""The Laplacian score on an affinity of the features (LaplacianScore) or on the network (NetworkLaplacianScore)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from blockselect.baselines.criterion import FeatureGuidedSelector, NetworkGuidedSelector
from blockselect.graphs.affinity import RadialAffinity
from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.statistics import column_inner_products, constant_columns, mean_and_variance
from blockselect.utils.arrays import Features, FloatArray, Sparse


class LaplacianScore(FeatureGuidedSelector):
    """Select the features that differ little between nodes with similar features, without labels.

    For each feature f, with the affinity W between nodes, D = diag(W1), L = D − W and f̃ = f − (fᵀD1 / 1ᵀD1) 1, the
    criterion is f̃ᵀLf̃ / f̃ᵀDf̃, for which smaller is better: the variation of f between neighbours relative to its total
    variation. This is the Laplacian score of He, Cai and Niyogi [1]_. Checked against published code.

    Sparse features are never converted to dense ones. This loses precision if the mean of a feature is far larger than
    its standard deviation; pass such features as a dense array.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. (paper: d)
    n_neighbors : int, default=5
        Number of nearest neighbours per node in the affinity, if `fit` is given no affinity. (paper: k)
    weights : {"heat", "binary", "cosine"}, default="heat"
        Affinity of neighbours: exp(−d²/2t²) for a distance d, 1, or their cosine similarity.
    width : float or "mean", default=1.0
        Width of the heat kernel; "mean" is the mean distance of neighbours, which suits data of any scale. (paper: t)

    Attributes
    ----------
    criterion_ : array of shape (m,)
        The criterion above, from 0 to 2; NaN for a constant feature.
    scores_ : array of shape (m,)
        The negative criterion, so that larger is better; −∞ for a constant feature, which is never selected.
    ranking_, support_, n_features_
        As in every selector: the ranks (1 is the best), the mask of selected features, and their number.

    See Also
    --------
    NetworkLaplacianScore : The same criterion with the network as the affinity.

    References
    ----------
    .. [1] X. He, D. Cai and P. Niyogi, "Laplacian score for feature selection", NIPS 2005.

    Examples
    --------
    >>> from blockselect import make_attributed_blocks
    >>> from blockselect.baselines.by_features.laplacian import LaplacianScore
    >>> planted = make_attributed_blocks(random_state=0)
    >>> LaplacianScore(10, width="mean").fit_transform(planted.features).shape
    (300, 10)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int = 5,
        weights: str = "heat",
        width: float | str = 1.0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.width = width

    def _score(self, features: Features, affinity: Any) -> FloatArray:
        return self._score_by(laplacian_criterion(features, affinity), -1)


class NetworkLaplacianScore(NetworkGuidedSelector):
    """Select the features that differ little between linked nodes, without labels.

    This is :class:`LaplacianScore` with the adjacency of the network as the affinity. Isolated nodes are ignored.
    Checked against published code, for a given affinity.

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
        The criterion, from 0 to 2; NaN for a feature that is constant on the linked nodes.
    scores_ : array of shape (m,)
        The negative criterion, so that larger is better; −∞ where the criterion is NaN, so that the feature is never
        selected.
    ranking_, support_, n_features_
        As in every selector: the ranks (1 is the best), the mask of selected features, and their number.

    See Also
    --------
    LaplacianScore : The same criterion with an affinity computed from the features.
    MoransI : Relates links to the variance over all nodes, with equal weights.

    Examples
    --------
    >>> from blockselect import load_cora
    >>> from blockselect.baselines.by_features.laplacian import NetworkLaplacianScore
    >>> cora = load_cora()
    >>> NetworkLaplacianScore(64).fit_transform(cora.features, adjacency=cora.adjacency).shape
    (2708, 64)
    """

    def __init__(self, n_features_to_select: int | float | None = None, *, n_neighbors: int | None = None) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors

    def _score(self, graph: AttributedGraph) -> FloatArray:
        return self._score_by(laplacian_criterion(graph.features, graph.adjacency), -1)


@dataclass(frozen=True, slots=True, eq=False)
class LaplacianForms:
    """Quadratic forms of each feature f, for an affinity W with degrees D = diag(W1) and Laplacian L = D − W."""

    degrees: FloatArray  # (n,)
    roughness: FloatArray  # (m,) fᵀLf = Σ_{i<j} W_ij (f_i − f_j)²
    mean: FloatArray  # (m,) fᵀD1 / 1ᵀD1
    variance: FloatArray  # (m,) f̃ᵀDf̃, f̃ = f − mean
    constant: NDArray[np.bool_]  # (m,) whether f has the same value on all nodes with a non-zero degree

    @property
    def energy(self) -> FloatArray:
        """fᵀDf: (m,)."""
        return np.asarray(self.variance + self.mean**2 * self.degrees.sum())

    def ratio_to(self, scale: FloatArray) -> FloatArray:
        """Roughness divided by `scale` (m,); NaN for a constant feature."""
        defined = ~self.constant & (scale > 0)
        ratio: FloatArray = np.divide(self.roughness, scale, out=np.full(len(scale), np.nan), where=defined)
        return ratio


def laplacian_forms(features: Features, affinity: Sparse | RadialAffinity) -> LaplacianForms:
    """Compute the forms of all features with one sparse product, or in one pass over all pairs of nodes."""
    if isinstance(affinity, RadialAffinity):
        degrees, roughness = affinity.degrees_and_roughness()
    else:
        degrees = np.asarray(affinity.sum(axis=1)).ravel()
        roughness = _roughness(features, affinity)
    mean, variance = mean_and_variance(features, degrees)
    linked = degrees > 0
    constant = constant_columns(features if linked.all() else features[linked])
    return LaplacianForms(degrees, roughness, mean, variance * degrees.sum(), constant)


def laplacian_criterion(features: Features, affinity: Sparse | RadialAffinity) -> FloatArray:
    """f̃ᵀLf̃ / f̃ᵀDf̃ of each feature, for which smaller is better; NaN where it is undefined: (m,)."""
    forms = laplacian_forms(features, affinity)
    return forms.ratio_to(forms.variance)


def _roughness(features: Features, affinity: Sparse) -> FloatArray:
    # The diagonal cancels in all differences; it is left out because much smaller affinities would be lost to rounding
    # next to it.
    others = sparse.csr_array(affinity - sparse.diags_array(affinity.diagonal()))
    degrees = np.asarray(others.sum(axis=1)).ravel()
    columns = features.astype(np.float64, copy=False)
    if sparse.issparse(columns):
        squares = columns.multiply(columns).T @ degrees
    else:
        columns = columns - columns.mean(axis=0)  # differences stay the same, and large means cause no rounding errors
        squares = degrees @ columns**2
    roughness: FloatArray = np.maximum(squares - column_inner_products(columns, others @ columns), 0)
    return roughness
