"""UDFS: features that separate neighbourhoods, by discriminative analysis without labels."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from blockselect.baselines._solvers.row_sparse import explain_singular
from blockselect.baselines._solvers.smallest_eigenvectors import smallest_eigenvectors
from blockselect.baselines.criterion import FeatureGuidedSelector
from blockselect.graphs.neighbours import nearest_others
from blockselect.rows.matrices import as_dense, as_plain_csr
from blockselect.rows.statistics import column_inner_products, constant_columns
from blockselect.utils.arrays import Features, FloatArray, Sparse
from blockselect.utils.parameters import check_n_blocks, check_within

_DENSE = 500  # number of features up to which M (m × m) is stored and decomposed directly
_SHORT = 1e-8  # lower limit of the row norms of Z in Δ, which keeps M + γΔ within the precision of float64
_EIGEN_TOL = 1e-8  # residual of an eigenvector
_CHUNK = 2**24  # entries of neighbourhoods stored at a time
_INNER = 40  # steps of the eigensolver per Δ; the next Δ continues from there


class UDFS(FeatureGuidedSelector):
    """Select features by unsupervised discriminative feature selection.

    The method seeks linear combinations Z of few features that keep the neighbourhood of each node together, relative
    to its spread over all features:

    min tr(ZᵀMZ) + γ‖Z‖₂,₁, ZᵀZ = I, M = Xᵀ[Σᵢ SᵢH(X̃ᵢX̃ᵢᵀ + λI)⁻¹HSᵢᵀ]X,

    where Sᵢ selects the rows of node i and its nearest neighbours, H centres them, and X̃ᵢ = HSᵢᵀX. The score of a
    feature is ‖zⱼ‖². Each iteration sets Z to the c eigenvectors of M + γΔ with the smallest eigenvalues,
    Δⱼⱼ = 1/(2‖zⱼ‖), starting from Δ = I.

    Checked against published code, except for the neighbourhoods: the published code uses those of the first rows
    instead of each node's own. If there are many features, M is never formed, and the eigenvectors are refined by a
    limited number of steps per Δ, continuing from the previous ones.

    Scale matters: a feature that varies little adds little to the objective and has a high score. Standardise features
    of different scales. A constant feature is left out, and its score is −∞.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. (paper: d)
    n_blocks : int, default=8
        Number of columns of Z, at most the number of non-constant features. (paper: c)
    sparsity : float, default=0.1
        Weight of the row-sparse penalty; a larger weight selects fewer features. (paper: γ)
    ridge : float, default=0.1
        Added to the spread of each neighbourhood. (paper: λ)
    n_neighbors : int, default=5
        Number of nearest neighbours in the neighbourhood of each node. Neighbourhoods are directed: being near to many
        nodes does not enlarge the neighbourhood of a node. If `fit` is given an affinity, the rows of its symmetric
        version define the neighbourhoods instead. (paper: k)
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-4
        Stop once the objective changes by less than this fraction of its value; with 0, all iterations are run.

    Attributes
    ----------
    scores_, criterion_ : array of shape (m,)
        ‖zⱼ‖².
    ranking_, support_, n_features_
        As in every selector: the ranks (1 is the best), the mask of selected features, and their number.
    coefficients_ : array of shape (m, c)
        (paper: Z)
    history_ : array of shape (`n_iter_`,)
        The objective after each iteration. It never increases, up to rounding.
    n_iter_ : int
        Number of iterations.

    Notes
    -----
    If there are more features than the neighbourhoods span, M has a null space and the first iteration has many
    equivalent solutions; a fixed start decides among them.

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
        check_within("n_blocks", self.n_blocks, n_varying, f"only {n_varying} feature(s) vary")

    def _affinity(self, features: Features) -> Sparse:
        near = nearest_others(as_plain_csr(features), self.n_neighbors)
        near.data[:] = 1
        return near

    def _score(self, features: Features, affinity: Sparse) -> FloatArray:
        varies = ~constant_columns(features)
        X = features[:, np.flatnonzero(varies)].astype(np.float64, copy=False)
        neighbourhoods = sparse.csr_array(affinity + sparse.eye_array(affinity.shape[0]))
        with explain_singular(X, "ridge", self.ridge):
            scatter = neighbourhood_scatter(X, neighbourhoods, self.ridge)
        solver = _Eigenvectors(X, scatter, self.n_blocks)

        def solve(weights: FloatArray, Z: FloatArray) -> tuple[FloatArray, float]:
            Z = solver.smallest(self.sparsity * weights, Z)
            return Z, solver.trace(Z)

        self.coefficients_ = np.zeros((features.shape[1], self.n_blocks))
        self.coefficients_[varies] = self._reweight(solve, solver.start, penalty=self.sparsity, shortest=_SHORT)
        self.criterion_ = row_norms(self.coefficients_) ** 2
        return np.where(varies, self.criterion_, -np.inf)


def neighbourhood_scatter(X: Features, neighbourhoods: Sparse, ridge: float, *, at_once: int = _CHUNK) -> Sparse:
    """Σᵢ SᵢH(X̃ᵢX̃ᵢᵀ + λI)⁻¹HSᵢᵀ over the rows of `neighbourhoods`, whose non-zero entries are the members. (n, n)"""
    sizes = np.diff(neighbourhoods.indptr)
    total = sparse.csr_array(neighbourhoods.shape)
    for size in np.unique(sizes).tolist():  # Python integers: the square of a hub's size overflows the type of indptr
        starts = neighbourhoods.indptr[:-1][sizes == size]
        for some in gen_batches(len(starts), max(1, at_once // size**2)):
            members = neighbourhoods.indices[starts[some, None] + np.arange(size)]  # (nodes, size)
            H = np.eye(size) - 1 / size
            inner_products = np.stack([as_dense(rows @ rows.T) for rows in (X[group] for group in members)])
            spread = H @ inner_products @ H  # (nodes, size, size)
            weights = H @ np.linalg.solve(spread + ridge * np.eye(size), np.broadcast_to(H, spread.shape))
            rows, columns = (
                np.broadcast_to(at, weights.shape).ravel() for at in (members[:, :, None], members[:, None])
            )
            total = total + sparse.coo_array((weights.ravel(), (rows, columns)), shape=total.shape).tocsr()
    return sparse.csr_array((total + total.T) / 2)


class _Eigenvectors:
    """Orthonormal Z (m, c) with the smallest tr(Zᵀ(M + diag(shift))Z), M = XᵀBX, for many shifts."""

    def __init__(self, X: Features, scatter: Sparse, count: int) -> None:
        self._X, self._B = X, scatter  # (n, m) (n, n)
        m = X.shape[1]
        self.start = np.linalg.qr(np.cos(np.outer(np.arange(m), np.arange(1, count + 1))))[0]  # arbitrary but fixed
        self._M = self._times(np.eye(m)) if m <= max(_DENSE, 5 * count) else None
        self._diagonal = column_inner_products(scatter @ X, X)  # of M

    def _times(self, V: FloatArray) -> FloatArray:
        return np.asarray(self._X.T @ (self._B @ (self._X @ V)))

    def trace(self, Z: FloatArray) -> float:
        """tr(ZᵀMZ)"""
        XZ = np.asarray(self._X @ Z)
        return float(np.vdot(XZ, self._B @ XZ))

    def smallest(self, shift: FloatArray, Z: FloatArray) -> FloatArray:
        """The exact solution if M is stored; otherwise take some steps from Z, which never increase the trace."""
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
