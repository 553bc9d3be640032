"""LUFS: features whose combinations vary little along links and within social dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator
from sklearn.utils.extmath import row_norms

from blockselect.baselines._solvers.row_sparse import kmeans_labels
from blockselect.baselines._solvers.smooth_combinations import Roughness, SmoothCombinations
from blockselect.baselines.criterion import NON_NEGATIVE, NetworkGuidedSelector
from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.matrices import membership_matrix
from blockselect.rows.statistics import constant_columns
from blockselect.utils.arrays import FloatArray, IntArray, Sparse
from blockselect.utils.eigenvectors import extreme_eigenvectors
from blockselect.utils.parameters import check_n_blocks, generator_from

_SMALL = 200  # number of nodes up to which a dense eigendecomposition is at least as fast


class LUFS(NetworkGuidedSelector):
    r"""Select features by linked unsupervised feature selection: their combinations are smooth on the network.

    Social dimensions are groups of nodes, found by K-means of the leading eigenvectors of the modularity matrix
    A − ddᵀ/2e; their indicators, scaled to unit length, are the columns of F. The method seeks combinations XZ of the
    features, with a row-sparse Z, that vary little along links and within social dimensions:

    min tr(Zᵀ(XᵀLX + αXᵀ(I − FFᵀ)X)Z) + β‖Z‖₂,₁ subject to Zᵀ(XᵀX + λI)Z = I, L = D − A.

    The score of a feature is ‖zᵢ‖. Each iteration sets Z to the generalised eigenvectors of
    XᵀLX + αXᵀ(I − FFᵀ)X + βΔ and XᵀX + λI with the c smallest eigenvalues, Δᵢᵢ = 1/(2‖zᵢ‖), starting from Δ = I.

    Objective recalled, solver reconstructed: not compared with the published text. In that text, L may be the Laplacian
    of an affinity computed from the features; here it is the Laplacian of the network.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. (paper: d)
    n_blocks : int, default=8
        Number of social dimensions, and of combinations (at most the number of features). At least this many features
        must be linearly independent. (paper: K)
    social_weight : float, default=0.1
        Weight of the social dimensions relative to the links. (paper: α)
    sparsity : float, default=0.1
        Weight of the row-sparse penalty; a larger weight selects fewer features. (paper: β)
    ridge : float, default=1e-6
        Makes the constraint positive definite. A ridge that is too large allows combinations that are zero on all
        nodes, which is an error. (paper: λ)
    n_neighbors : int or None, default=None
        If `fit` is given no adjacency, each node is linked to this many nearest nodes in feature space; if None, a
        missing adjacency is an error.
    max_iter : int, default=50
        Maximum number of iterations.
    tol : float, default=1e-5
        Stop once the objective changes by less than this fraction of its value; with 0, all iterations are run.
    random_state : int, RandomState or None, default=None
        Seed of K-means and of the eigensolver: the same seed gives the same result.

    Attributes
    ----------
    scores_ : array of shape (m,)
        ‖zᵢ‖; −∞ for a constant feature, which is smooth on every network and does not distinguish nodes.
    criterion_ : array of shape (m,)
        ‖zᵢ‖ of all features.
    ranking_, support_, n_features_
        As in every selector: the ranks (1 is the best), the mask of selected features, and their number.
    coefficients_ : array of shape (m, min(n_blocks, m))
        Coefficients of the combinations, the smoothest combination first. (paper: Z)
    social_dimensions_ : array of shape (n,)
        The group of each node. (paper: H)
    history_ : array of shape (`n_iter_`,)
        The objective after each iteration. It never increases, up to rounding.
    n_iter_ : int
        Number of iterations.

    Notes
    -----
    Each iteration factorises one matrix, of size n × n if n < 0.8m and of size m × m otherwise; the eigenvectors then
    require a few dozen solves. The modularity matrix is never formed, nor is any m × m matrix if n < 0.8m.

    References
    ----------
    J. Tang, H. Liu. Unsupervised Feature Selection for Linked Social Media Data. KDD 2012.
    https://doi.org/10.1145/2339530.2339673

    Examples
    --------
    >>> from blockselect import make_attributed_blocks
    >>> from blockselect.baselines.by_network.lufs import LUFS
    >>> planted = make_attributed_blocks(random_state=0)
    >>> lufs = LUFS(10, n_blocks=4, random_state=0)
    >>> lufs.fit_transform(planted.features, adjacency=planted.adjacency).shape
    (300, 10)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **NetworkGuidedSelector._parameter_constraints,
        "social_weight": [NON_NEGATIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_blocks: int = 8,
        social_weight: float = 0.1,
        sparsity: float = 0.1,
        ridge: float = 1e-6,
        n_neighbors: int | None = None,
        max_iter: int = 50,
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_blocks = n_blocks
        self.social_weight = social_weight
        self.sparsity = sparsity
        self.ridge = ridge
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_settings(self, graph: AttributedGraph) -> None:
        check_n_blocks(self.n_blocks, graph.n_nodes)

    def _score(self, graph: AttributedGraph) -> FloatArray:
        rng = generator_from(self.random_state)
        self.social_dimensions_ = social_dimensions(graph.adjacency, self.n_blocks, rng)
        rough = roughness(graph.adjacency, self.social_dimensions_, self.social_weight)
        smooth = SmoothCombinations(graph.features, rough, self.sparsity, self.ridge, rng=rng)

        def solve(weights: FloatArray, last: FloatArray) -> tuple[FloatArray, float]:
            Z = smooth.solve(weights, last.shape[1])
            return Z, smooth.total_roughness(Z)

        start = np.zeros((graph.n_features, min(self.n_blocks, graph.n_features)))
        self.coefficients_ = self._reweight(solve, start, penalty=self.sparsity)
        self.criterion_ = row_norms(self.coefficients_)
        return np.where(constant_columns(graph.features), -np.inf, self.criterion_)


def social_dimensions(adjacency: Sparse, n_blocks: int, rng: np.random.Generator) -> IntArray:
    """Groups of nodes by K-means of the leading eigenvectors of A − ddᵀ/2e, which is not formed. (n,)

    If the eigenvectors have fewer than `n_blocks` distinct rows, there are fewer groups.
    """
    A, d = adjacency, np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    n = len(d)
    if n <= max(_SMALL, n_blocks + 1):
        vectors = eigh(A.toarray() - np.outer(d, d) / d.sum(), subset_by_index=[n - n_blocks, n - 1])[1]
    else:

        def apply(vectors: FloatArray) -> FloatArray:
            columns = vectors.reshape(n, -1)
            return np.asarray(A @ columns - np.outer(d, d @ columns / d.sum()))

        modularity = LinearOperator((n, n), matvec=apply, matmat=apply, dtype=np.float64)
        vectors = extreme_eigenvectors(modularity, n_blocks, which="largest", rng=rng)[1]
    if not vectors.shape[1]:  # no dimensions, because all nodes have the same links
        return np.zeros(n, dtype=np.intp)
    n_kinds = len(np.unique(vectors.round(12), axis=0))
    return kmeans_labels(vectors, min(n_blocks, n_kinds), rng)


def roughness(adjacency: Sparse, groups: IntArray, social_weight: float) -> Roughness:
    """L + α(I − FFᵀ), where the columns of F are the indicators of the groups, scaled to unit length."""
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    F = membership_matrix(groups) @ sparse.diags_array(np.bincount(groups) ** -0.5)  # (n, k)
    links = sparse.diags_array(degrees + social_weight) - adjacency
    return Roughness(sparse.csr_array(links), sparse.csr_array(social_weight**0.5 * F))
