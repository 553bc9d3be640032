"""UDFS: features that separate neighbourhoods, by discriminative analysis without labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.utils import gen_batches

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.base import ScoreSelector
from blockselect.baselines._solvers.reweighting import reweight, row_norms
from blockselect.baselines._solvers.rounding import penalty_beside
from blockselect.baselines._solvers.smallest_eigenvectors import smallest_eigenvectors
from blockselect.baselines.constraints import AT_LEAST_ONE, POSITIVE, ROW_SPARSE
from blockselect.baselines.criterion import FeatureGuidedSelector
from blockselect.errors import ParameterError
from blockselect.graphs.checks import check_n_blocks
from blockselect.graphs.column_statistics import column_inner_products, constant_columns
from blockselect.graphs.convert import as_dense, as_plain_csr
from blockselect.graphs.nearest import nearest_others

_DENSE = 500  # features up to which M is held (m × m) and decomposed at once
_SHORT = 1e-8  # rows of Z count as at least so long, which keeps M + γΔ within what float64 can resolve
_EIGEN_TOL = 1e-8  # residual of an eigenvector
_CHUNK = 2**24  # entries of neighbourhoods held at a time
_INNER = 40  # steps towards the eigenvectors for one Δ; the next Δ goes on from there


class UDFS(FeatureGuidedSelector):
    """Select features by unsupervised discriminative feature selection.

    Few features are sought whose linear combinations Z keep each node's neighbourhood together, against how it is
    spread over all features:

    min tr(ZᵀMZ) + γ‖Z‖₂,₁, ZᵀZ = I, M = Xᵀ[Σᵢ SᵢH(X̃ᵢX̃ᵢᵀ + λI)⁻¹HSᵢᵀ]X,

    where Sᵢ picks the rows of node i and its nearest neighbours, H centres them, and X̃ᵢ = HSᵢᵀX. A feature scores
    ‖zⱼ‖². Each iteration takes for Z the c eigenvectors of M + γΔ with the smallest eigenvalues, Δⱼⱼ = 1/(2‖zⱼ‖),
    beginning from Δ = I.

    Checked against published code, but for its neighbours: it picks the first rows' neighbourhoods in place of each
    node's own. M is never formed where there are many features, and the eigenvectors are then refined a number of steps
    for each Δ, going on from the last.

    Scale matters: a feature that hardly varies adds hardly anything to the objective and scores high. Standardise
    features that are not on one scale. A constant feature would add nothing; it is left out, and its score is −∞.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)
    n_blocks : int, default=8
        Columns of Z, at most as many as there are features that vary. (paper: c)
    sparsity : float, default=0.1
        Weight of the row-sparse penalty; larger leaves fewer features. (paper: γ)
    ridge : float, default=0.1
        Added to the spread of each neighbourhood. (paper: λ)
    n_neighbors : int, default=5
        Nearest others in the neighbourhood of each node, with direction: a node that is near to many has no larger
        neighbourhood. Where `fit` is given an affinity, its rows define the neighbourhoods instead, after it was made
        symmetric: a link either way makes neighbours of both. (paper: k)
    max_iter : int, default=100
        Most iterations.
    tol : float, default=1e-4
        Stop once the objective changes by less than this share of it. 0 never stops early.

    Attributes
    ----------
    scores_, criterion_ : array of shape (m,)
        ‖zⱼ‖².
    ranking_, support_, n_features_
        As in every selector: rank 1 is the best, which features are selected, and how many.
    coefficients_ : array of shape (m, c)
        (paper: Z)
    history_ : array of shape (`n_iter_`,)
        The objective after each iteration. It falls, up to rounding.
    n_iter_ : int
        Iterations made.

    Notes
    -----
    With more features than neighbourhoods span, M has a null space, and the first iteration is one of many equal
    solutions: a fixed start decides which.

    References
    ----------
    Y. Yang, H. T. Shen, Z. Ma, Z. Huang, X. Zhou. ℓ2,1-Norm Regularized Discriminative Feature Selection for
    Unsupervised Learning. IJCAI 2011.

    Examples
    --------
    >>> from blockselect import make_attributed_blocks
    >>> from blockselect.baselines.by_features.udfs import UDFS
    >>> planted = make_attributed_blocks(random_state=0)
    >>> UDFS(10, n_blocks=4).fit_transform(planted.features).shape
    (300, 10)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **ScoreSelector._parameter_constraints,
        **ROW_SPARSE,
        "ridge": [POSITIVE],
        "n_neighbors": [AT_LEAST_ONE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_blocks: int = 8,
        sparsity: float = 0.1,
        ridge: float = 0.1,
        n_neighbors: int = 5,
        max_iter: int = 100,
        tol: float = 1e-4,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_blocks = n_blocks
        self.sparsity = sparsity
        self.ridge = ridge
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol

    def _check_settings(self, features: Features) -> None:
        check_n_blocks(self.n_blocks, features.shape[0])
        n_varying = int(np.count_nonzero(~constant_columns(features)))
        if self.n_blocks > n_varying:
            raise ParameterError(
                "n_blocks", f"is {self.n_blocks} but {n_varying} feature(s) vary; choose 1 to {n_varying} blocks."
            )

    def _affinity(self, features: Features) -> Sparse:
        """Each node's nearest, with direction: who is near to many has no larger neighbourhood."""
        near = nearest_others(as_plain_csr(features), self.n_neighbors)
        near.data[:] = 1
        return near

    def _score(self, features: Features, affinity: Sparse) -> FloatArray:
        varies = ~constant_columns(features)
        X = features[:, np.flatnonzero(varies)].astype(np.float64, copy=False)
        neighbourhoods = sparse.csr_array(affinity + sparse.eye_array(affinity.shape[0]))
        with penalty_beside(X, "ridge", self.ridge):
            scatter = neighbourhood_scatter(X, neighbourhoods, self.ridge)
        solver = _Eigenvectors(X, scatter, self.n_blocks)

        def solve(weights: FloatArray, Z: FloatArray) -> tuple[FloatArray, float]:
            Z = solver.smallest(self.sparsity * weights, Z)
            return Z, solver.trace(Z)

        result = reweight(
            solve, solver.start, penalty=self.sparsity, max_iter=self.max_iter, tol=self.tol, shortest=_SHORT
        )
        self.coefficients_ = np.zeros((features.shape[1], self.n_blocks))
        self.coefficients_[varies] = self._record(result)
        self.criterion_ = row_norms(self.coefficients_) ** 2
        return np.where(varies, self.criterion_, -np.inf)


def neighbourhood_scatter(X: Features, neighbourhoods: Sparse, ridge: float) -> Sparse:
    """Σᵢ SᵢH(X̃ᵢX̃ᵢᵀ + λI)⁻¹HSᵢᵀ over the rows of `neighbourhoods`, whose non-zeros are the members. (n, n)"""
    sizes = np.diff(neighbourhoods.indptr)
    total = sparse.csr_array(neighbourhoods.shape)
    for size in np.unique(sizes).tolist():  # Python's integers: the square of a hub's size overflows those of indptr
        starts = neighbourhoods.indptr[:-1][sizes == size]
        for some in gen_batches(len(starts), max(1, _CHUNK // size**2)):
            members = neighbourhoods.indices[starts[some, None] + np.arange(size)]  # (nodes, size)
            H = np.eye(size) - 1 / size
            spread = H @ _inner_products(X, members) @ H
            weights = H @ np.linalg.solve(spread + ridge * np.eye(size), np.broadcast_to(H, spread.shape))
            rows, columns = (
                np.broadcast_to(at, weights.shape).ravel() for at in (members[:, :, None], members[:, None])
            )
            total = total + sparse.coo_array((weights.ravel(), (rows, columns)), shape=total.shape).tocsr()
    return sparse.csr_array((total + total.T) / 2)


def _inner_products(X: Features, members: IntArray) -> FloatArray:
    """SᵢᵀXXᵀSᵢ of each neighbourhood. (nodes, size, size)"""
    return np.stack([as_dense(rows @ rows.T) for rows in (X[group] for group in members)])


class _Eigenvectors:
    """Orthonormal Z (m, c) with the smallest tr(Zᵀ(M + diag(shift))Z), M = XᵀBX, for many shifts."""

    def __init__(self, X: Features, scatter: Sparse, count: int) -> None:
        self._X, self._B = X, scatter  # (n, m) (n, n)
        m = X.shape[1]
        self.start = np.linalg.qr(np.cos(np.outer(np.arange(m), np.arange(1, count + 1))))[0]  # like no structure
        self._M = self._times(np.eye(m)) if m <= max(_DENSE, 5 * count) else None
        self._diagonal = column_inner_products(scatter @ X, X)  # of M

    def _times(self, V: FloatArray) -> FloatArray:
        return np.asarray(self._X.T @ (self._B @ (self._X @ V)))

    def trace(self, Z: FloatArray) -> float:
        """tr(ZᵀMZ)"""
        XZ = np.asarray(self._X @ Z)
        return float(np.vdot(XZ, self._B @ XZ))

    def smallest(self, shift: FloatArray, Z: FloatArray) -> FloatArray:
        """Exact where M is held; else some steps down from Z, never up."""
        if self._M is not None:
            return np.asarray(eigh(self._M + np.diag(shift), subset_by_index=[0, Z.shape[1] - 1])[1])
        inverse = 1 / (self._diagonal + shift)[:, None]
        return smallest_eigenvectors(
            lambda V: self._times(V) + shift[:, None] * V,
            Z,
            lambda V: inverse * V,
            count=Z.shape[1],
            tol=_EIGEN_TOL,
            max_steps=_INNER,
        )
