"""Laplacian score: features that hardly differ between nodes that are alike, or linked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from blockselect.arrays import Features, FloatArray, Sparse
from blockselect.baselines.criterion import FeatureGuidedSelector, NetworkGuidedSelector
from blockselect.graphs.affinity import RadialAffinity
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.column_statistics import constant_columns, mean_and_variance


@dataclass(frozen=True, slots=True, eq=False)
class LaplacianForms:
    """What an affinity W with degrees D = diag(W1) and Laplacian L = D − W says of each feature f."""

    degrees: FloatArray  # (n,)
    roughness: FloatArray  # (m,) fᵀLf = Σ_{i<j} W_ij (f_i − f_j)²
    mean: FloatArray  # (m,) fᵀD1 / 1ᵀD1
    variance: FloatArray  # (m,) f̃ᵀDf̃, f̃ = f − mean
    constant: NDArray[np.bool_]  # (m,) one value on all nodes that have any affinity

    @property
    def energy(self) -> FloatArray:
        """fᵀDf: (m,)."""
        return np.asarray(self.variance + self.mean**2 * self.degrees.sum())

    def ratio_to(self, scale: FloatArray) -> FloatArray:
        """Roughness over `scale` (m,); NaN for a constant feature."""
        defined = ~self.constant & (scale > 0)
        ratio: FloatArray = np.divide(self.roughness, scale, out=np.full(len(scale), np.nan), where=defined)
        return ratio


def laplacian_forms(features: Features, affinity: Sparse | RadialAffinity) -> LaplacianForms:
    """The forms of every feature: one sparse product, or one pass over all pairs of nodes."""
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
    """f̃ᵀLf̃ / f̃ᵀDf̃ of each feature, small is good; NaN where it is not defined: (m,)."""
    forms = laplacian_forms(features, affinity)
    return forms.ratio_to(forms.variance)


def scores_where_defined(criterion: FloatArray, sign: int = 1) -> FloatArray:
    """Scores, larger is better, of a criterion that `sign` turns that way; −∞ where it is NaN: (m,)."""
    return np.where(np.isnan(criterion), -np.inf, sign * criterion)


def _roughness(features: Features, affinity: Sparse) -> FloatArray:
    # The diagonal is in no difference: left out, it cannot drown affinities far smaller than it.
    others = sparse.csr_array(affinity - sparse.diags_array(affinity.diagonal()))
    degrees = np.asarray(others.sum(axis=1)).ravel()
    columns = features.astype(np.float64, copy=False)
    if sparse.issparse(columns):
        squares, shared = columns.multiply(columns).T @ degrees, columns.multiply(others @ columns).sum(axis=0)
    else:
        columns = columns - columns.mean(axis=0)  # no difference changes, and large means lose no digits
        squares, shared = degrees @ columns**2, np.einsum("ij,ij->j", columns, others @ columns)
    roughness: FloatArray = np.maximum(squares - np.asarray(shared).ravel(), 0)
    return roughness


class LaplacianScore(FeatureGuidedSelector):
    """Select the features that hardly differ between nodes with alike features, without labels.

    For each feature f, with the affinity W between nodes, D = diag(W1), L = D − W and f̃ = f − (fᵀD1 / 1ᵀD1) 1, the
    criterion is f̃ᵀLf̃ / f̃ᵀDf̃, small is good: how much f differs between neighbours, over how much it varies at all.
    This is the Laplacian score of He, Cai and Niyogi [1]_. Checked against published code.

    Sparse features are never filled, which costs digits where a feature's mean is far above its spread: pass it dense.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)
    n_neighbors : int, default=5
        Nearest others of each node in the affinity, where `fit` is given none. (paper: k)
    weights : {"heat", "binary", "cosine"}, default="heat"
        Affinity of neighbours: exp(−d²/2t²) of their distance d, 1, or their cosine.
    width : float or "mean", default=1.0
        Width of the heat kernel; "mean" is the mean distance of neighbours, which fits data of any scale. (paper: t)

    Attributes
    ----------
    criterion_ : array of shape (m,)
        The criterion above, from 0 to 2; NaN for a constant feature.
    scores_ : array of shape (m,)
        Its negative, so that larger is better; −∞ for a constant feature, which is never selected.
    ranking_ : array of shape (m,)
        Rank of each feature, 1 is the best; among equal scores the lower index comes first.
    support_ : boolean array of shape (m,)
        Which features are selected.
    n_features_ : int
        How many are selected.

    See Also
    --------
    NetworkLaplacianScore : The same with the network as the affinity.

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
        self.criterion_ = laplacian_criterion(features, affinity)
        return scores_where_defined(self.criterion_, -1)


class NetworkLaplacianScore(NetworkGuidedSelector):
    """Select the features that hardly differ between linked nodes, without labels.

    The Laplacian score of He, Cai and Niyogi [1]_ with the adjacency A of the network as its affinity: with
    D = diag(A1), L = D − A and f̃ = f − (fᵀD1 / 1ᵀD1) 1, the criterion is f̃ᵀLf̃ / f̃ᵀDf̃, small is good. Nodes without
    a link have no say. Checked against published code, for a given affinity.

    Sparse features are never filled, which costs digits where a feature's mean is far above its spread: pass it dense.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)
    n_neighbors : int or None, default=None
        Where `fit` is given no adjacency, link each node with this many of its nearest by the features. None: a
        missing adjacency is an error.

    Attributes
    ----------
    criterion_ : array of shape (m,)
        The criterion above, from 0 to 2; NaN for a feature that is constant on the linked nodes.
    scores_ : array of shape (m,)
        Its negative, so that larger is better; −∞ where it is NaN: such a feature is never selected.
    ranking_ : array of shape (m,)
        Rank of each feature, 1 is the best; among equal scores the lower index comes first.
    support_ : boolean array of shape (m,)
        Which features are selected.
    n_features_ : int
        How many are selected.

    See Also
    --------
    LaplacianScore : The same with an affinity made from the features.
    MoransI : Links against the variance over all nodes alike.

    References
    ----------
    .. [1] X. He, D. Cai and P. Niyogi, "Laplacian score for feature selection", NIPS 2005.

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
        self.criterion_ = laplacian_criterion(graph.features, graph.adjacency)
        return scores_where_defined(self.criterion_, -1)
