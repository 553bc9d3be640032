"""MCFS: features that explain the spectral embedding of the nodes, a few for each dimension."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path, lars_path_gram
from sklearn.utils._param_validation import Interval

from blockselect.arrays import Features, FloatArray, Sparse
from blockselect.selectors.guided import FeatureGuidedSelector

_SMALL = 200  # nodes up to which a dense eigendecomposition is at least as quick, and exact for any number of vectors
_GRAM_UP_TO = 2  # features a node up to which XᵀX is held (m × m) rather than a dense X (n × m)


class MCFS(FeatureGuidedSelector):
    """Select features by multi-cluster feature selection: a few that explain each dimension of the nodes' embedding.

    The c smoothest non-constant functions on the affinity graph, the eigenvectors of Ly = λDy with the smallest λ,
    tell its clusters apart. Least angle regression explains each by at most d features (d is `n_features_to_select`):
    min ‖y_k − Xa_k‖², and a feature scores max_k |a_kj|. Those that no regression uses score 0 and are never selected.

    Checked against published code, but for two things that code gets wrong: it scores max a_kj, so that a feature with
    a negative coefficient is lost; and it leaves out whichever eigenvector comes first, which is the constant one only
    if the graph is connected. Here the constant is projected out.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. Scores depend on it: each
        regression uses at most so many. (paper: d)
    n_blocks : int, default=8
        Eigenvectors, one for each cluster of nodes that is looked for, fewer than there are nodes. (paper: K)
    n_neighbors : int, default=5
        Neighbours of each node in the affinity, where `fit` is given none. (paper: p)
    weights : {"heat", "binary", "cosine"}, default="heat"
        Weights of the affinity.
    width : float or "mean", default="mean"
        Width t of heat weights exp(−d²/2t²); "mean" is the mean distance to the neighbours.

    Attributes
    ----------
    scores_, criterion_ : array of shape (m,)
        max_k |a_kj|.
    ranking_, support_, n_features_
        As in every selector: rank 1 is the best, which features are selected, and how many.
    coefficients_ : array of shape (m, c)
        One regression a column. (paper: a_k)
    embedding_ : array of shape (n, c)
        The eigenvectors, scaled such that yᵀDy = 1. (paper: y_k)

    Notes
    -----
    X stays sparse up to twice as many features as nodes, where XᵀX is held, m × m; with more, X is held dense.

    References
    ----------
    D. Cai, C. Zhang, X. He. Unsupervised Feature Selection for Multi-Cluster Data. KDD 2010.
    https://doi.org/10.1145/1835804.1835848

    Examples
    --------
    >>> from blockselect import make_attributed_blocks
    >>> from blockselect.selectors.mcfs import MCFS
    >>> planted = make_attributed_blocks(random_state=0)
    >>> MCFS(10, n_blocks=4).fit_transform(planted.features).shape
    (300, 10)
    """

    _zero_is_unused = True
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **FeatureGuidedSelector._parameter_constraints,
        "n_blocks": [Interval(Integral, 1, None, closed="left")],
    }

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
        if self.n_blocks >= n:
            raise ValueError(
                f"n_blocks is {self.n_blocks} but {n} nodes have only {n - 1} non-constant eigenvectors; "
                f"choose 1 to {n - 1} blocks."
            )

    def _score(self, features: Features, affinity: Sparse) -> FloatArray:
        self.embedding_ = smooth_eigenvectors(affinity, self.n_blocks)
        n_nonzero = self._n_to_select(features.shape[1])
        self.coefficients_ = least_angle_coefficients(features, self.embedding_, n_nonzero)
        self.criterion_ = np.abs(self.coefficients_).max(axis=1)
        return self.criterion_.copy()


def smooth_eigenvectors(affinity: Sparse, count: int) -> FloatArray:
    """Eigenvectors of Ly = λDy with the smallest λ but for the constant, yᵀDy = 1. (n, count)

    They are D^-½u for the leading eigenvectors u of D^-½WD^-½, once D^½1 is projected out. A node without any
    affinity gets zeros.
    """
    n = affinity.shape[0]
    root = np.sqrt(np.asarray(affinity.sum(axis=1), dtype=np.float64).ravel())
    inverse_root = np.divide(1, root, out=np.zeros(n), where=root > 0)
    normalised = sparse.csr_array(sparse.diags_array(inverse_root) @ affinity @ sparse.diags_array(inverse_root))
    constant = root / np.linalg.norm(root)
    # Eigenvalues lie in [−1, 1]: the constant's, 1, is moved to −2, and the zero of a node without affinity stays.
    if n <= _SMALL:
        vectors = np.linalg.eigh(normalised.toarray() - 3 * np.outer(constant, constant))[1][:, ::-1]
    else:
        vectors = _leading(normalised, constant, count)
    return np.asarray(inverse_root[:, None] * vectors[:, :count])


def _leading(normalised: Sparse, constant: FloatArray, count: int) -> FloatArray:
    n = len(constant)
    operator = LinearOperator(
        normalised.shape, matvec=lambda v: normalised @ v - 3 * constant * (constant @ v), dtype=np.float64
    )
    start = np.cos(np.arange(n))  # fixed, and like no structure of a graph
    values, vectors = eigsh(operator, k=count, which="LA", v0=start, ncv=min(n, max(4 * count, 40)), maxiter=100 * n)
    return np.asarray(vectors[:, np.argsort(-values, kind="stable")])


def least_angle_coefficients(features: Features, targets: FloatArray, n_nonzero: int) -> FloatArray:
    """Least angle regression of each target on the centred features, stopped after `n_nonzero` steps. (m, c)"""
    n, m = features.shape
    X = features.astype(np.float64, copy=False)
    centred = targets - targets.mean(axis=0)
    correlations = np.asarray(X.T @ centred)  # centring X changes nothing here
    by_gram = m <= _GRAM_UP_TO * n
    prepared = _centred_gram(X) if by_gram else _centred_dense(X)
    columns = []
    for target, correlation in zip(centred.T, correlations.T, strict=True):
        options: dict[str, Any] = {"max_iter": n_nonzero, "method": "lar", "return_path": False}
        with warnings.catch_warnings():
            # A copy of a feature that is already in: scikit-learn leaves it out, as it should be, and says so each time.
            warnings.simplefilter("ignore", ConvergenceWarning)
            if by_gram:
                path = lars_path_gram(correlation.copy(), prepared, n_samples=n, **options)
            else:
                path = lars_path(prepared, target, Gram=None, **options)
        columns.append(path[2])
    return np.column_stack(columns)


def _centred_gram(X: Features) -> FloatArray:
    """XᵀX − n·x̄x̄ᵀ, without centring X itself."""
    gram: Any = X.T @ X
    gram = gram.toarray() if sparse.issparse(gram) else gram
    mean = np.asarray(X.mean(axis=0)).ravel()
    gram -= X.shape[0] * np.outer(mean, mean)
    return np.asarray(gram)


def _centred_dense(X: Features) -> FloatArray:
    dense = X.toarray() if sparse.issparse(X) else X
    return np.asarray(dense - dense.mean(axis=0))
