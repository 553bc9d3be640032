"""SPEC: features that vary along the leading eigenvectors of an affinity between nodes."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator

from blockselect._sklearn import Interval, StrOptions
from blockselect.arrays import Features, FloatArray, Sparse
from blockselect.base import ScoreSelector, generator_from
from blockselect.baselines._solvers.laplacian_forms import LaplacianForms, laplacian_forms
from blockselect.baselines.constraints import AT_LEAST_ONE, NON_NEGATIVE, POSITIVE
from blockselect.baselines.criterion import FeatureGuidedSelector, scores_where_defined
from blockselect.eigenvectors import lanczos
from blockselect.errors import ParameterError
from blockselect.graphs.affinity import RadialAffinity, neighbour_affinity, radial_affinity

SMALL_IS_GOOD = {"phi1": True, "phi2": True, "phi3": False}

_PUBLISHED_EMPTY = 1000.0  # what the published code gives an empty column, which its order then puts first
_SMALL = 400  # nodes up to which a dense eigendecomposition is at least as quick
_N_LANCZOS = 40  # vectors held by the eigensolver, besides two for each one sought
_RESTARTS = 15  # of it, before eigenvalues are taken to lie too close together


class SPEC(FeatureGuidedSelector):
    """Select the features that agree with the spectrum of an affinity between nodes, without labels.

    With the affinity W, D = diag(W1), the normalised Laplacian L̂ = D^-½ (D − W) D^-½, its eigenpairs (λ_j, ξ_j) from
    the smallest λ on, and f̂ = D^½f / ‖D^½f‖ for each feature f, the criteria of Zhao and Liu [1]_ are

    - φ1 = f̂ᵀL̂f̂, small is good;
    - φ2 = φ1 / (1 − (f̂ᵀξ_1)²), small is good: the Laplacian score on the same affinity;
    - φ3 = Σ_{j=2..k} (2 − λ_j)(f̂ᵀξ_j)², large is good.

    Checked against published code, where φ1, φ2 and φ3 are the styles −1, 0 (its default) and k.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)
    style : {"phi1", "phi2", "phi3"}, default="phi2"
        The criterion. (paper: φ)
    order : {"correct", "published"}, default="correct"
        "published" repeats scikit-feature, which ranks every style backwards: the worst feature comes first, and an
        empty column, to which it gives the value 1000, before all. For reproducing tables made with it only.
    n_eigenvectors : int, default=8
        Leading eigenvectors of which φ3 uses all but the first, which is trivial; at most n. Where eigenvalues tie at
        the last, which eigenvectors are taken is arbitrary. (paper: k)
    n_neighbors : int or None, default=None
        Affinity where `fit` is given none: None takes all pairs of nodes, a number the nearest others of each node.
    width : float or "mean", default=0.5 ** 0.5
        t of the affinity exp(−d²/2t²); the default makes it exp(−d²), as scikit-feature does. "mean" fits data of
        any scale: the root mean square distance of all pairs, or the mean distance of neighbours.
    memory_limit : float, default=2**30
        Bytes that φ3 may use: to keep the affinity of all pairs (4n²; else each product computes it anew), and for a
        dense decomposition where eigenvalues lie too close together for products (32n²; else that is an error).
    random_state : int, RandomState or None, default=None
        Seeds the start of the eigenvectors; the scores depend on it by rounding alone, where no eigenvalues tie.

    Attributes
    ----------
    criterion_ : array of shape (m,)
        The criterion above; NaN for a feature that is constant on all nodes with an affinity. (φ1 of such a feature
        would be 0, its best: it is the first, trivial eigenvector.)
    scores_ : array of shape (m,)
        Larger is better: φ3, −φ1 or −φ2, each with its sign changed if `order` is "published"; −∞ where the
        criterion is NaN, so that such a feature is never selected (but see `order` on empty columns).
    ranking_ : array of shape (m,)
        Rank of each feature, 1 is the best; among equal scores the lower index comes first.
    support_ : boolean array of shape (m,)
        Which features are selected.
    n_features_ : int
        How many are selected.

    See Also
    --------
    LaplacianScore : φ2 on an affinity of nearest neighbours.

    Notes
    -----
    All pairs of nodes cost O(n · nnz) operations for sparse features with nnz non-zero entries and O(n² m) for dense
    ones, and n²/2 exponentials, in one pass for φ1 and φ2: fᵀWf needs no degrees, so both are summed over blocks of
    nodes and no n × n matrix is held. φ3 needs the affinity in each of some tens of products (see `memory_limit`).
    With a sparse affinity everything is sparse.

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
        **ScoreSelector._parameter_constraints,
        "style": [StrOptions(set(SMALL_IS_GOOD))],
        "order": [StrOptions({"correct", "published"})],
        "n_eigenvectors": [Interval(Integral, 2, None, closed="left")],
        "n_neighbors": [None, AT_LEAST_ONE],
        "width": [StrOptions({"mean"}), POSITIVE],
        "memory_limit": [NON_NEGATIVE],
        "random_state": ["random_state"],
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
        if self.style == "phi3" and self.n_eigenvectors > n_nodes:
            raise ParameterError(
                "n_eigenvectors", f"is {self.n_eigenvectors} but there are {n_nodes} nodes; choose 2 to {n_nodes}."
            )

    def _affinity(self, features: Features) -> Sparse | RadialAffinity:
        if self.n_neighbors is None:
            return radial_affinity(features, self.width)
        return neighbour_affinity(features, self.n_neighbors, weights="heat", width=self.width)

    def _score(self, features: Features, affinity: Any) -> FloatArray:
        forms = laplacian_forms(features, affinity)
        if self.style == "phi1":
            self.criterion_ = forms.ratio_to(forms.energy)
        elif self.style == "phi2":
            self.criterion_ = forms.ratio_to(forms.variance)
        else:
            normalised = _without_trivial(affinity, forms.degrees, self.memory_limit)
            rng = generator_from(self.random_state)
            values, vectors = _leading_eigenpairs(normalised, self.n_eigenvectors - 1, self.memory_limit, rng)
            self.criterion_ = _phi3(features, forms, values, vectors)
        reverse = SMALL_IS_GOOD[self.style] != (self.order == "published")
        scores = scores_where_defined(self.criterion_, -1 if reverse else 1)
        if self.order == "published":
            scores[forms.energy == 0] = _PUBLISHED_EMPTY
        return scores


def _without_trivial(affinity: Sparse | RadialAffinity, degrees: FloatArray, memory_limit: float) -> LinearOperator:
    """D^-½ W D^-½ with the eigenvalue of its trivial eigenvector D^½1 moved from 1 to −1, the least there can be.

    So that eigenvector is left out even where the graph falls into parts, and 1 is the eigenvalue of each.
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
            dense_bytes = 32 * n**2  # the matrix, and what is made on the way to its eigenvectors
            if dense_bytes > memory_limit:
                raise RuntimeError(
                    f"the leading eigenvalues of the affinity lie too close together to find {count} eigenvectors by "
                    "products with it; use a wider affinity (raise width), or a dense decomposition (raise "
                    f"memory_limit to {dense_bytes} bytes)."
                ) from error
    values, vectors = eigh(operator @ np.eye(n), subset_by_index=[n - count, n - 1], overwrite_a=True)
    return values, vectors


def _phi3(features: Features, forms: LaplacianForms, values: FloatArray, vectors: FloatArray) -> FloatArray:
    projections = features.T @ (np.sqrt(forms.degrees)[:, None] * vectors)  # (m, k − 1)
    agreement = projections**2 @ (1 + values)  # 2 − λ = 1 + μ
    undefined = np.full(len(agreement), np.nan)
    return np.asarray(np.divide(agreement, forms.energy, out=undefined, where=~forms.constant))
