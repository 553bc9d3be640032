"""SPEC: features that vary along the leading eigenvectors of an affinity between nodes."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator

from blockselect.baselines.by_features.laplacian import LaplacianForms, laplacian_forms
from blockselect.baselines.criterion import AT_LEAST_ONE, NON_NEGATIVE, FeatureGuidedSelector
from blockselect.graphs.affinity import RadialAffinity, neighbour_affinity, radial_affinity
from blockselect.utils._sklearn import Interval, StrOptions
from blockselect.utils.arrays import Features, FloatArray, Sparse
from blockselect.utils.eigenvectors import lanczos
from blockselect.utils.parameters import check_within, generator_from

_PUBLISHED_EMPTY = 1000.0  # score of a column of zeros in the published code, which ranks it first
_SMALL = 400  # number of nodes up to which a dense eigendecomposition is at least as fast
_N_LANCZOS = 40  # vectors stored by the eigensolver, in addition to two per requested eigenvector
_RESTARTS = 15  # restarts of the eigensolver before eigenvalues count as too close together


class SPEC(FeatureGuidedSelector):
    """Select the features that agree with the spectrum of an affinity between nodes, without labels.

    With the affinity W, D = diag(W1), the normalised Laplacian L̂ = D^-½ (D − W) D^-½, its eigenpairs (λ_j, ξ_j) in
    increasing order of λ, and f̂ = D^½f / ‖D^½f‖ for each feature f, the criteria of Zhao and Liu [1]_ are

    - φ1 = f̂ᵀL̂f̂, smaller is better;
    - φ2 = φ1 / (1 − (f̂ᵀξ_1)²), smaller is better: the Laplacian score on the same affinity;
    - φ3 = Σ_{j=2..k} (2 − λ_j)(f̂ᵀξ_j)², for which larger is better.

    Checked against published code, where φ1, φ2 and φ3 are the styles −1, 0 (its default) and k.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. (paper: d)
    style : {"phi1", "phi2", "phi3"}, default="phi2"
        The criterion. (paper: φ)
    order : {"correct", "published"}, default="correct"
        "published" follows scikit-feature, only to reproduce results obtained with it. It reverses the order of every
        style, and ranks a column of zeros, to which it assigns the value 1000, first.
    n_eigenvectors : int, default=8
        Number of leading eigenvectors for φ3, which uses all but the trivial first one; at most n. If the last
        eigenvalue is not unique, the choice among its eigenvectors is arbitrary. (paper: k)
    n_neighbors : int or None, default=None
        If `fit` is given no affinity, it is computed for this many nearest neighbours of each node or, if None, for all
        pairs of nodes.
    width : float or "mean", default=0.5 ** 0.5
        t of the affinity exp(−d²/2t²); by default it is exp(−d²), as in scikit-feature. "mean" suits data of any
        scale: it is the root mean square distance of all pairs, or the mean distance of neighbours.
    memory_limit : float, default=2**30
        Bytes that φ3 may use, to store the affinity of all pairs (4n²; otherwise each product computes it again), and
        for a dense decomposition if eigenvalues are too close together for Lanczos iterations (32n²; otherwise that is
        an error).
    random_state : int, RandomState or None, default=None
        Seed of the initial vector of the eigensolver. Unless eigenvalues are equal, it affects the scores only by
        rounding.

    Attributes
    ----------
    criterion_ : array of shape (m,)
        The criterion above; NaN for a feature that is constant on all nodes with an affinity. (φ1 of such a feature
        would be 0, the best value, because it is the trivial eigenvector.)
    scores_ : array of shape (m,)
        φ3, −φ1 or −φ2, so that larger is better, with the opposite sign if `order` is "published"; −∞ where the
        criterion is NaN: such a feature is never selected (except for columns of zeros, see `order`).
    ranking_, support_, n_features_
        As in every selector: the ranks (1 is the best), the mask of selected features, and their number.

    See Also
    --------
    LaplacianScore : φ2 on an affinity of nearest neighbours.

    Notes
    -----
    For all pairs of nodes, φ1 and φ2 take one pass of n²/2 exponentials and O(n · nnz) operations for sparse features
    with nnz non-zero entries, or O(n² m) for dense features. They are summed over blocks of nodes, and no n × n matrix
    is stored. φ3 multiplies by the affinity a few dozen times (see `memory_limit`).

    References
    ----------
    .. [1] Z. Zhao and H. Liu, "Spectral feature selection for supervised and unsupervised learning", ICML 2007.

    Examples
    --------
    >>> from blockselect import make_attributed_blocks
    >>> from blockselect.baselines.by_features.spec import SPEC
    >>> planted = make_attributed_blocks(random_state=0)
    >>> SPEC(10, style="phi3", width="mean", random_state=0).fit_transform(planted.features).shape
    (300, 10)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **FeatureGuidedSelector._parameter_constraints,
        "style": [StrOptions({"phi1", "phi2", "phi3"})],
        "order": [StrOptions({"correct", "published"})],
        "n_eigenvectors": [Interval(Integral, 2, None, closed="left")],
        "n_neighbors": [None, AT_LEAST_ONE],
        "memory_limit": [NON_NEGATIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        style: Literal["phi1", "phi2", "phi3"] = "phi2",
        order: Literal["correct", "published"] = "correct",
        n_eigenvectors: int = 8,
        n_neighbors: int | None = None,
        width: float | Literal["mean"] = 0.5**0.5,
        memory_limit: float = 2**30,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.style = style
        self.order = order
        self.n_eigenvectors = n_eigenvectors
        self.n_neighbors = n_neighbors
        self.width = width
        self.memory_limit = memory_limit
        self.random_state = random_state

    def _check_settings(self, features: Features) -> None:
        n_nodes = features.shape[0]
        if self.style == "phi3":
            check_within("n_eigenvectors", self.n_eigenvectors, n_nodes, f"there are {n_nodes} nodes", least=2)

    def _affinity(self, features: Features) -> Sparse | RadialAffinity:
        if self.n_neighbors is None:
            return radial_affinity(features, self.width)
        return neighbour_affinity(features, self.n_neighbors, weights="heat", width=self.width)

    def _score(self, features: Features, affinity: Any) -> FloatArray:
        forms = laplacian_forms(features, affinity)
        if self.style == "phi3":
            normalised = _without_trivial(affinity, forms.degrees, self.memory_limit)
            rng = generator_from(self.random_state)
            values, vectors = _leading_eigenpairs(normalised, self.n_eigenvectors - 1, self.memory_limit, rng)
            criterion = _phi3(features, forms, values, vectors)
        else:
            criterion = forms.ratio_to(forms.energy if self.style == "phi1" else forms.variance)
        reverse = (self.style != "phi3") != (self.order == "published")
        scores = self._score_by(criterion, -1 if reverse else 1)
        if self.order == "published":
            scores[forms.energy == 0] = _PUBLISHED_EMPTY
        return scores


def _without_trivial(affinity: Sparse | RadialAffinity, degrees: FloatArray, memory_limit: float) -> LinearOperator:
    """D^-½ W D^-½ with the eigenvalue of its trivial eigenvector D^½1 moved from 1 to −1, the smallest possible.

    This excludes the trivial eigenvector even if the graph is disconnected and the eigenvalue 1 is not unique.
    """
    n = len(degrees)
    trivial = np.sqrt(degrees / degrees.sum())[:, None]
    scale = np.divide(1, np.sqrt(degrees), out=np.zeros(n), where=degrees > 0)[:, None]
    kept = None
    if isinstance(affinity, RadialAffinity) and 4 * n**2 <= memory_limit:
        kept = list(affinity.blocks())

    def apply(vectors: FloatArray) -> FloatArray:
        columns = vectors.reshape(n, -1)
        scaled = scale * columns
        product = affinity.times(scaled, kept) if isinstance(affinity, RadialAffinity) else affinity @ scaled
        return np.asarray(scale * product - 2 * trivial * (trivial.T @ columns))

    return LinearOperator((n, n), matvec=apply, matmat=apply, dtype=np.float64)


def _leading_eigenpairs(
    operator: LinearOperator, count: int, memory_limit: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """The largest eigenvalues, (count,), and their eigenvectors, (n, count)."""
    n = operator.shape[0]
    if n > max(_SMALL, count + 1):
        n_held = min(n, _N_LANCZOS + 2 * count)
        try:
            return lanczos(operator, count, which="largest", rng=rng, restarts=_RESTARTS, n_held=n_held)
        except ArpackNoConvergence as error:
            dense_bytes = 32 * n**2  # the matrix and the workspace of its decomposition
            if dense_bytes > memory_limit:
                raise RuntimeError(
                    f"the leading eigenvalues of the affinity are too close together to find {count} eigenvectors by "
                    "Lanczos iterations; use a wider affinity (increase width), or a dense decomposition (raise "
                    f"memory_limit to {dense_bytes} bytes)."
                ) from error
    values, vectors = eigh(operator @ np.eye(n), subset_by_index=[n - count, n - 1], overwrite_a=True)
    return values, vectors


def _phi3(features: Features, forms: LaplacianForms, values: FloatArray, vectors: FloatArray) -> FloatArray:
    projections = features.T @ (np.sqrt(forms.degrees)[:, None] * vectors)  # (m, k − 1)
    agreement = projections**2 @ (1 + values)  # 2 − λ = 1 + μ
    undefined = np.full(len(agreement), np.nan)
    return np.asarray(np.divide(agreement, forms.energy, out=undefined, where=~forms.constant))
