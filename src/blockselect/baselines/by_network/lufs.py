"""LUFS: features whose few combinations vary little along links and within social dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.base import generator_from
from blockselect.baselines._solvers.kmeans import kmeans_labels
from blockselect.baselines._solvers.reweighting import reweight, row_norms
from blockselect.baselines._solvers.smooth_combinations import Roughness, SmoothCombinations
from blockselect.baselines.constraints import NON_NEGATIVE, POSITIVE, ROW_SPARSE
from blockselect.baselines.criterion import NetworkGuidedSelector
from blockselect.eigenvectors import extreme_eigenvectors
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.checks import check_n_blocks
from blockselect.graphs.column_statistics import constant_columns
from blockselect.graphs.convert import membership_matrix

_SMALL = 200  # nodes up to which a dense eigendecomposition is at least as quick, and exact for any number of vectors


class LUFS(NetworkGuidedSelector):
    r"""Select features by linked unsupervised feature selection: they make up functions that follow the network.

    Social dimensions are groups of nodes: K-means of the leading eigenvectors of the modularity matrix A − ddᵀ/2e, as
    the columns of F, of unit length. Combinations XZ of the features are sought that vary little along links and
    within social dimensions, with most rows of Z zero:

    min tr(Zᵀ(XᵀLX + αXᵀ(I − FFᵀ)X)Z) + β‖Z‖₂,₁ subject to Zᵀ(XᵀX + λI)Z = I, L = D − A.

    A feature scores ‖zᵢ‖. Each iteration takes for Z the generalised eigenvectors with the c smallest eigenvalues of
    XᵀLX + αXᵀ(I − FFᵀ)X + βΔ and XᵀX + λI, Δᵢᵢ = 1/(2‖zᵢ‖), from Δ = I.

    Objective recalled, solver reconstructed: not compared with the published text. In it L may be of an affinity by the
    features; here it is the Laplacian of the links.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)
    n_blocks : int, default=8
        Social dimensions, and combinations of features: of these no more than there are features, so many of which
        must be independent. (paper: K)
    social_weight : float, default=0.1
        Weight of the social dimensions against the links. (paper: α)
    sparsity : float, default=0.1
        Weight of the row-sparse penalty; larger leaves fewer features. (paper: β)
    ridge : float, default=1e-6
        Makes the constraint definite. Keep it small: too large, it lets in combinations that are zero on all nodes,
        which is an error. (paper: λ)
    n_neighbors : int or None, default=None
        Where `fit` is given no adjacency, link this many nearest by the features; None: that is an error.
    max_iter : int, default=50
        Most iterations.
    tol : float, default=1e-5
        Stop once the objective changes by less than this share of itself; 0 never stops early.
    random_state : int, RandomState or None, default=None
        Seeds K-means and the eigensolver: the same seed gives the same result.

    Attributes
    ----------
    scores_ : array of shape (m,)
        ‖zᵢ‖; −∞ for a constant feature, which is smooth on any network and does not distinguish nodes.
    criterion_ : array of shape (m,)
        ‖zᵢ‖ of all features.
    ranking_, support_, n_features_
        As in every selector: rank 1 is the best, which features are selected, and how many.
    coefficients_ : array of shape (m, min(n_blocks, m))
        Smoothest combination first. (paper: Z)
    social_dimensions_ : array of shape (n,)
        The group of each node. (paper: H)
    history_ : array of shape (`n_iter_`,)
        The objective after each iteration. It falls, up to rounding.
    n_iter_ : int
        Iterations made.

    Notes
    -----
    An iteration factorises one matrix, n × n if n < 0.8m and m × m else; the eigenvectors then take some tens of
    solves. Neither the modularity matrix nor, with n < 0.8m, anything of size m × m is made.

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
        **ROW_SPARSE,
        "social_weight": [NON_NEGATIVE],
        "ridge": [POSITIVE],
        "random_state": ["random_state"],
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
        smooth = SmoothCombinations(
            graph.features,
            roughness(graph.adjacency, self.social_dimensions_, self.social_weight),
            self.sparsity,
            self.ridge,
            rng=rng,
        )

        def solve(weights: FloatArray, last: FloatArray) -> tuple[FloatArray, float]:
            Z = smooth.solve(weights, last.shape[1])
            return Z, smooth.total_roughness(Z)

        start = np.zeros((graph.n_features, min(self.n_blocks, graph.n_features)))
        result = reweight(solve, start, penalty=self.sparsity, max_iter=self.max_iter, tol=self.tol)
        self.coefficients_ = self._record(result)
        self.criterion_ = row_norms(self.coefficients_)
        return np.where(constant_columns(graph.features), -np.inf, self.criterion_)


def social_dimensions(adjacency: Sparse, n_blocks: int, rng: np.random.Generator) -> IntArray:
    """Groups of nodes: K-means of the leading eigenvectors of A − ddᵀ/2e, which is not formed. (n,)

    Where the graph has fewer different kinds of node than `n_blocks`, fewer groups come back.
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
    if not vectors.shape[1]:  # every node links alike: there are no dimensions
        return np.zeros(n, dtype=np.intp)
    n_kinds = len(np.unique(vectors.round(12), axis=0))
    return kmeans_labels(vectors, min(n_blocks, n_kinds), rng)


def roughness(adjacency: Sparse, groups: IntArray, social_weight: float) -> Roughness:
    """L + α(I − FFᵀ), F the groups with columns of unit length."""
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    F = membership_matrix(groups) @ sparse.diags_array(np.bincount(groups) ** -0.5)  # (n, k)
    links = sparse.diags_array(degrees + social_weight) - adjacency
    return Roughness(sparse.csr_array(links), sparse.csr_array(social_weight**0.5 * F))
