"""MCFS: features that explain the spectral embedding of the nodes, a few per dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from blockselect.baselines._solvers.least_angle import LeastAngleRegression
from blockselect.baselines._solvers.smallest_eigenvectors import smallest_eigenvectors
from blockselect.baselines.criterion import FeatureGuidedSelector
from blockselect.utils.arrays import Features, FloatArray, Sparse
from blockselect.utils.errors import warn_caller
from blockselect.utils.parameters import check_within

_SMALL = 200  # number of nodes up to which a dense eigendecomposition is at least as fast
_GUARD = 4  # additional eigenvectors, which help the last requested ones to converge
_SHIFT = 1e-6  # makes the Laplacian definite
_EIGEN_TOL = 1e-10  # residual of an eigenvector; eigenvalues are at most 2
_ZERO = 1e-10  # eigenvalues below this count as zero


class MCFS(FeatureGuidedSelector):
    """Select features by multi-cluster feature selection: a few per dimension of the spectral embedding of the nodes.

    The c smoothest non-constant functions on the affinity graph, which are the eigenvectors of Ly = λDy with the
    smallest λ, separate its clusters. Least angle regression explains each of them with at most d features (d is
    `n_features_to_select`): min ‖y_k − Xa_k‖². The score of a feature is ``max_k |a_kj|``. A feature that no regression
    uses has a score of 0 and is never selected.

    Checked against published code, except for two errors in that code. It scores max a_kj, which loses features with a
    negative coefficient. It also leaves out the first eigenvector, which is the constant one only if the graph is
    connected; here the constant is projected out.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. Scores depend on it, because
        it limits the number of features in each regression. (paper: d)
    n_blocks : int, default=8
        Number of eigenvectors, one per expected cluster of nodes; must be less than the number of nodes. (paper: K)
    n_neighbors : int, default=5
        Number of nearest neighbours per node in the affinity, if `fit` is given no affinity. (paper: p)
    weights : {"heat", "binary", "cosine"}, default="heat"
        Weights of the affinity. If distances differ widely, as those of counts do, heat weights isolate distant nodes,
        each of which becomes a cluster. If there are more than `n_blocks` such nodes, `fit` warns; use other weights.
    width : float or "mean", default="mean"
        Width t of heat weights exp(−d²/2t²); "mean" is the mean distance to the neighbours.

    Attributes
    ----------
    scores_, criterion_ : array of shape (m,)
        ``max_k |a_kj|``.
    ranking_, support_, n_features_
        As in every selector: the ranks (1 is the best), the mask of selected features, and their number.
    coefficients_ : array of shape (m, c)
        One column per regression. (paper: a_k)
    embedding_ : array of shape (n, c)
        The eigenvectors, scaled so that yᵀDy = 1. (paper: y_k)

    References
    ----------
    D. Cai, C. Zhang, X. He. Unsupervised Feature Selection for Multi-Cluster Data. KDD 2010.
    https://doi.org/10.1145/1835804.1835848

    Examples
    --------
    >>> from blockselect import make_attributed_blocks
    >>> from blockselect.baselines.by_features.mcfs import MCFS
    >>> planted = make_attributed_blocks(random_state=0)
    >>> MCFS(10, n_blocks=4).fit_transform(planted.features).shape
    (300, 10)
    """

    _zero_is_unused = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_blocks: int = 8,
        n_neighbors: int = 5,
        weights: str = "heat",
        width: float | str = "mean",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_blocks = n_blocks
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.width = width

    def _check_settings(self, features: Features) -> None:
        n = features.shape[0]
        check_within("n_blocks", self.n_blocks, n - 1, f"{n} nodes have only {n - 1} non-constant eigenvectors")

    def _score(self, features: Features, affinity: Sparse) -> FloatArray:
        self.embedding_ = smooth_eigenvectors(affinity, self.n_blocks)
        regression = LeastAngleRegression(features)
        n_nonzero = self._n_to_select(features.shape[1])
        self.coefficients_ = np.column_stack([regression.fit(target, n_nonzero) for target in self.embedding_.T])
        self.criterion_ = np.abs(self.coefficients_).max(axis=1)
        return np.array(self.criterion_)


def smooth_eigenvectors(affinity: Sparse, count: int) -> FloatArray:
    """Non-constant eigenvectors of Ly = λDy with the smallest λ, yᵀDy = 1. (n, count)

    They are D^-½u for the eigenvectors u of I − D^-½WD^-½ after D^½1 is projected out. The entries of nodes without any
    affinity are zero.
    """
    n = affinity.shape[0]
    root = np.sqrt(np.asarray(affinity.sum(axis=1), dtype=np.float64).ravel())
    inverse_root = np.divide(1, root, out=np.zeros(n), where=root > 0)
    normalised = sparse.csr_array(sparse.diags_array(inverse_root) @ affinity @ sparse.diags_array(inverse_root))
    normalised.data[normalised.data < np.finfo(np.float64).eps ** 2] = 0  # their products would underflow
    normalised.eliminate_zeros()
    constant = root / np.linalg.norm(root)
    laplacian = sparse.csc_array(sparse.eye_array(n) - normalised)
    if n <= max(_SMALL, 5 * (count + _GUARD)):
        # Eigenvalues lie in [0, 2]; the eigenvalue of the constant, 0, is moved to 3.
        vectors = np.linalg.eigh(laplacian.toarray() + 3 * np.outer(constant, constant))[1]
    else:
        vectors = _smallest(laplacian, constant, count + 1)
    beyond = vectors[:, count]
    if beyond @ (laplacian @ beyond) < _ZERO:
        warn_caller(
            f"the affinity graph has more than {count + 1} components, so the choice of {count} "
            "eigenvectors is arbitrary. Increase n_blocks or n_neighbors, or use weights='binary' or a larger width."
        )
    return np.asarray(inverse_root[:, None] * vectors[:, :count])


def _smallest(laplacian: Any, constant: FloatArray, count: int) -> FloatArray:
    """Eigenvectors with the smallest eigenvalues, orthogonal to the constant.

    Heat weights may almost isolate many nodes, and then equally many eigenvalues are close to zero. Lanczos iterations
    do not converge in that case, but `smallest_eigenvectors`, preconditioned by a sparse factor, does.
    """
    n = len(constant)
    shifted = sparse.csc_array(laplacian + _SHIFT * sparse.eye_array(n))
    factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    start = np.cos(np.outer(np.arange(n), np.arange(1, count + _GUARD + 1)))  # arbitrary but fixed

    def without_constant(V: FloatArray) -> FloatArray:
        return np.asarray(V - np.outer(constant, constant @ V))

    return smallest_eigenvectors(
        lambda V: np.asarray(laplacian @ V),
        without_constant(start),
        lambda V: without_constant(factor.solve(without_constant(V))),
        count=count,
        tol=_EIGEN_TOL,
        max_steps=200,
    )
