"""NDFS: features that predict non-negative cluster indicators, learned jointly with the indicators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.extmath import row_norms

from blockselect.baselines._solvers.row_sparse import check_initial_clusters, kmeans_labels
from blockselect.baselines._solvers.row_sparse_regression import RowSparseRegression
from blockselect.baselines.criterion import POSITIVE, FeatureGuidedSelector
from blockselect.rows.matrices import as_plain_csr, by_density
from blockselect.rows.statistics import constant_columns
from blockselect.utils._sklearn import StrOptions
from blockselect.utils.arrays import Features, FloatArray, Sparse
from blockselect.utils.parameters import generator_from

_OFFSET = 0.02  # added to the initial indicators, because a zero would remain zero
_PUBLISHED_RIDGE = 1e-6  # added to the diagonal of XᵀX by the published code
_HALVINGS = 30  # maximum number of times that the exponent of a step is halved before F is left unchanged


class NDFS(FeatureGuidedSelector):
    r"""Select features by non-negative discriminative feature selection: they predict clusters that follow the graph.

    Clusters of the nodes, represented by non-negative indicators F that vary little between similar nodes, are learned
    together with a row-sparse linear map Z from the features to the clusters:

    tr(FᵀLF) + α(‖XZ − F‖² + β‖Z‖₂,₁) + (γ/2)‖FᵀF − I‖², F ≥ 0, L = D − W.

    The score of a feature is ‖zᵢ‖². Each iteration solves for Z = (XᵀX + βΔ)⁻¹XᵀF with Δᵢᵢ = 1/(2‖zᵢ‖), then
    multiplies F by γF/(MF + γFFᵀF), MF = LF + α(F − XZ), with the negative parts of MF moved to the numerator, and
    scales its columns to unit length. If this would increase the objective, a root of the factor is used instead,
    without scaling, so that the objective never increases.

    Checked against published code: with ``quirks="published"`` and the same start, the scores equal those of
    scikit-feature.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. (paper: d)
    n_blocks : int, default=8
        Number of clusters of nodes; ignored if `initial_clusters` is given. (paper: c)
    fit_weight : float, default=1.0
        Weight of the regression relative to the graph. (paper: α)
    sparsity : float, default=1.0
        Weight of the row-sparse penalty; a larger weight selects fewer features. (paper: β)
    orthogonality : float, default=1e9
        Weight of the penalty on clusters that share nodes. At the default, as in the paper, the graph has
        almost no influence; a lower weight, for example 10, lets the graph change the clusters. (paper: γ)
    initial_clusters : array of shape (n, c) or None, default=None
        Non-negative initial indicators, used without change. If None, they come from K-means clusters of X, with each
        indicator scaled to unit length and 0.02 added to every entry. (paper: F)
    quirks : {"none", "published"}, default="none"
        "published" repeats the deviations of the published code, only to reproduce results obtained with it: instead of
        D − W it uses the matrix with entries (dᵢ + dⱼ)/2 − Wᵢⱼ, it adds 10⁻⁶ to the diagonal of XᵀX, it accepts steps
        that increase the objective, and it may select a constant feature.
    n_neighbors : int, default=5
        Number of nearest neighbours per node in the affinity, if `fit` is given no affinity.
    weights : {"binary", "heat", "cosine"}, default="binary"
        Weights of the affinity.
    width : float or "mean", default=1.0
        Width t of heat weights exp(−d²/2t²).
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=1e-5
        Stop once the objective changes by less than this; with 0, all iterations are run. The scale of the data matters
        little, because the columns of F have unit length.
    random_state : int, RandomState or None, default=None
        Seed of K-means: the same seed gives the same result.

    Attributes
    ----------
    scores_ : array of shape (m,)
        ‖zᵢ‖², which tends to zero for features that are not needed; −∞ for a constant feature, which only replaces the
        missing intercept and is never selected. With ``quirks="published"`` constant features have ordinary scores,
        and only features that are zero everywhere, whose score is 0, are never selected.
    criterion_ : array of shape (m,)
        ‖zᵢ‖² of all features.
    ranking_, support_, n_features_
        As in every selector: the ranks (1 is the best), the mask of selected features, and their number.
    coefficients_, clusters_ : arrays of shape (m, c) and (n, c)
        (paper: Z, F)
    history_ : array of shape (`n_iter_`,)
        The objective after each iteration. Without quirks it never increases, up to rounding.
    n_iter_ : int
        Number of iterations.

    References
    ----------
    Z. Li, Y. Yang, J. Liu, X. Zhou, H. Lu. Unsupervised Feature Selection Using Nonnegative Spectral Analysis.
    AAAI 2012.

    Examples
    --------
    >>> from blockselect import make_attributed_blocks
    >>> from blockselect.baselines.by_features.ndfs import NDFS
    >>> planted = make_attributed_blocks(random_state=0)
    >>> NDFS(10, n_blocks=4, random_state=0).fit_transform(planted.features).shape
    (300, 10)
    """

    _zero_is_unused = True
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **FeatureGuidedSelector._parameter_constraints,
        "fit_weight": [POSITIVE],
        "orthogonality": [POSITIVE],
        "quirks": [StrOptions({"none", "published"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_blocks: int = 8,
        fit_weight: float = 1.0,
        sparsity: float = 1.0,
        orthogonality: float = 1e9,
        initial_clusters: Any = None,
        quirks: str = "none",
        n_neighbors: int = 5,
        weights: str = "binary",
        width: float | str = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_blocks = n_blocks
        self.fit_weight = fit_weight
        self.sparsity = sparsity
        self.orthogonality = orthogonality
        self.initial_clusters = initial_clusters
        self.quirks = quirks
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.width = width
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_settings(self, features: Features) -> None:
        check_initial_clusters(self.initial_clusters, self.n_blocks, features.shape[0])

    def _score(self, features: Features, affinity: Sparse) -> FloatArray:
        published = self.quirks == "published"
        degrees = np.asarray(affinity.sum(axis=1)).ravel()
        term = ClusterTerm(affinity, degrees, self.fit_weight, self.orthogonality, broadcast=published)
        step = _published_step if published else falling_step
        regression = RowSparseRegression(features, self.sparsity)
        ridge = _PUBLISHED_RIDGE / self.sparsity if published else 0.0
        F = self._start(features)

        def solve(weights: FloatArray, Z: FloatArray) -> tuple[FloatArray, float]:
            nonlocal F
            Z = regression.solve(F, weights + ridge, Z)
            F, value = step(term, F, regression.predict(Z))
            return Z, value

        start, penalty = np.zeros((features.shape[1], F.shape[1])), self.fit_weight * self.sparsity
        self.coefficients_ = self._reweight(solve, start, penalty=penalty, relative=False)
        self.clusters_ = F
        self.criterion_ = row_norms(self.coefficients_) ** 2
        if published:
            return np.array(self.criterion_)
        return np.where(constant_columns(features), -np.inf, self.criterion_)

    def _start(self, features: Features) -> FloatArray:
        if self.initial_clusters is not None:
            return np.array(self.initial_clusters, dtype=np.float64)
        rows = by_density(as_plain_csr(features))  # the random starts of K-means differ between sparse and dense rows
        labels = kmeans_labels(rows, self.n_blocks, generator_from(self.random_state))
        indicator = np.eye(self.n_blocks)[labels]
        return np.asarray(indicator / np.sqrt(np.maximum(indicator.sum(axis=0), 1)) + _OFFSET)


@dataclass(frozen=True, slots=True, eq=False)
class ClusterTerm:
    """The terms of the objective in F: tr(FᵀLF) + α‖F − XZ‖² + (γ/2)‖FᵀF − I‖²."""

    affinity: Sparse  # (n, n) (paper: W)
    degrees: FloatArray  # (n,) (paper: the diagonal of D)
    fit_weight: float  # (paper: α)
    orthogonality: float  # (paper: γ)
    broadcast: bool  # whether (dᵢ + dⱼ)/2 − Wᵢⱼ replaces L, as in the published code

    def laplacian_times(self, F: FloatArray) -> FloatArray:
        d = self.degrees
        spread = (np.outer(d, F.sum(axis=0)) + d @ F) / 2 if self.broadcast else d[:, None] * F
        return np.asarray(spread - self.affinity @ F)

    def slope(self, F: FloatArray, fitted: FloatArray) -> FloatArray:
        """Half the gradient of the first two terms, where `fitted` is XZ. (paper: MF)"""
        return self.laplacian_times(F) + self.fit_weight * (F - fitted)

    def value(self, F: FloatArray, fitted: FloatArray) -> float:
        overlap = F.T @ F - np.eye(F.shape[1])
        return float(
            np.vdot(F, self.laplacian_times(F))
            + self.fit_weight * np.sum((F - fitted) ** 2)
            + self.orthogonality / 2 * np.sum(overlap**2)
        )


def _published_step(term: ClusterTerm, F: FloatArray, fitted: FloatArray) -> tuple[FloatArray, float]:
    γ = term.orthogonality
    F = F * _ratio(γ * F, term.slope(F, fitted) + γ * (F @ (F.T @ F)))
    F = F / np.sqrt(np.sum(F**2, axis=0) + 1e-16)
    return F, term.value(F, fitted)


def falling_step(
    term: ClusterTerm, F: FloatArray, fitted: FloatArray, *, halvings: int = _HALVINGS
) -> tuple[FloatArray, float]:
    """Take the multiplicative step and scale columns to unit length, or a smaller step if this raises the objective.

    A smaller step multiplies F by a root of the factor, without scaling. The factor is above 1 exactly where the
    gradient is negative, so a root of sufficiently high order always lowers the objective.
    """
    γ, slope, before = term.orthogonality, term.slope(F, fitted), term.value(F, fitted)
    factor = _ratio(γ * F + np.maximum(-slope, 0), np.maximum(slope, 0) + γ * (F @ (F.T @ F)))
    lengths = np.linalg.norm(F * factor, axis=0)
    candidate = F * factor / np.where(lengths > 0, lengths, 1)
    for halving in range(halvings):
        value = term.value(candidate, fitted)
        if value <= before:
            return candidate, value
        candidate = F * factor ** (0.5**halving)
    return F, before


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """above / below, and 0 where both are zero: F is zero there too, and remains so."""
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)
