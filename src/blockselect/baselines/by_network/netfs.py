"""NetFS: features that predict communities of the network, learned jointly with the communities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import row_norms

from blockselect.baselines._solvers.row_sparse import check_initial_clusters
from blockselect.baselines._solvers.row_sparse_regression import RowSparseRegression
from blockselect.baselines.criterion import POSITIVE, NetworkGuidedSelector
from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.statistics import constant_columns
from blockselect.utils.arrays import FloatArray, Sparse
from blockselect.utils.eigenvectors import extreme_eigenvectors
from blockselect.utils.errors import warn_caller
from blockselect.utils.parameters import generator_from

_STEPS = 10  # projected gradient steps per update of Z; they are cheap compared with a solve
_HALVINGS = 60  # maximum number of halvings of a step before U is left unchanged
_ENOUGH = 0.01  # fraction of the predicted decrease that an accepted step must reach (Armijo)
_DIGITS = 1e-4  # relative precision of the eigenvalue in a warning
_COLLAPSED = 1e-3  # ‖UUᵀ‖/‖A‖ below which the communities explain none of the network


class NetFS(NetworkGuidedSelector):
    r"""Select features by NetFS: features that predict overlapping communities of the network.

    The memberships U ≥ 0 of the nodes in communities, with A ≈ UUᵀ, are learned together with a row-sparse linear
    map Z from the features to the communities:

    ‖XZ − U‖² + α‖Z‖₂,₁ + (β/2)‖A − UUᵀ‖², U ≥ 0.

    The score of a feature is ‖zᵢ‖. Each iteration solves for Z = (XᵀX + αΔ)⁻¹XᵀU with Δᵢᵢ = 1/(2‖zᵢ‖), and then takes
    ten projected gradient steps U ← max(U − tG, 0), G = 2(U − XZ) − 2β(AU − UUᵀU). The step size t starts at twice the
    previous one and is halved until the objective decreases by at least a hundredth of the decrease that G predicts.
    ‖A − UUᵀ‖² is expanded, so that no dense n × n matrix is formed.

    Objective recalled, solver reconstructed: not compared with the published text.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. (paper: d)
    n_blocks : int, default=8
        Number of communities; ignored if `initial_clusters` is given. (paper: c)
    sparsity : float, default=10.0
        Weight of the row-sparse penalty; a larger weight selects fewer features. (paper: α)
    network_weight : float, default=0.1
        Weight of the network relative to the regression; see the notes. (paper: β)
    initial_clusters : array of shape (n, c) or None, default=None
        Non-negative initial U, used without change. If None, U starts from uniform random numbers, scaled so that UUᵀ
        is as close to A as possible; on another scale U would first have to shrink or grow. (paper: U)
    n_neighbors : int or None, default=None
        If `fit` is given no adjacency, each node is linked to this many nearest nodes in feature space; if None, a
        missing adjacency is an error.
    max_iter : int, default=200
        Maximum number of iterations.
    tol : float, default=1e-6
        Stop once the objective changes by less than this fraction of its value; with 0, all iterations are run.
    random_state : int, RandomState or None, default=None
        Seed of the initial U: the same seed gives the same result.

    Attributes
    ----------
    scores_ : array of shape (m,)
        ‖zᵢ‖, which tends to zero for features that are not needed; −∞ for a constant feature, which only replaces the
        missing intercept and is never selected.
    criterion_ : array of shape (m,)
        ‖zᵢ‖ of all features.
    ranking_, support_, n_features_
        As in every selector: the ranks (1 is the best), the mask of selected features, and their number.
    coefficients_ : array of shape (m, c)
        (paper: Z)
    clusters_ : array of shape (n, c)
        Membership of each node in each community. (paper: U)
    explained_ : float
        1 − ‖A − UUᵀ‖²/‖A‖², the fraction of the network that the communities explain.
    history_ : array of shape (`n_iter_`,)
        The objective after each iteration. It never increases, up to rounding.
    n_iter_ : int
        Number of iterations.

    Notes
    -----
    U is retained only along eigenvectors of A whose eigenvalue exceeds about 1/β. At the default, β = 0.1 as in the
    paper, this threshold is 10. In a sparse network only the strongest hubs exceed it, so that U is nearly zero, or
    exactly zero if no eigenvalue of A reaches 1/β. In that case `fit` warns and suggests a better `network_weight`. If
    `explained_` is close to 0, increase `network_weight`.

    References
    ----------
    J. Li, X. Hu, L. Wu, H. Liu. Robust Unsupervised Feature Selection on Networked Data. SDM 2016.

    Examples
    --------
    >>> from blockselect import make_attributed_blocks
    >>> from blockselect.baselines.by_network.netfs import NetFS
    >>> planted = make_attributed_blocks(random_state=0)
    >>> netfs = NetFS(10, n_blocks=4, sparsity=1, network_weight=1, random_state=0)
    >>> netfs.fit_transform(planted.features, adjacency=planted.adjacency).shape
    (300, 10)
    """

    _zero_is_unused = True
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **NetworkGuidedSelector._parameter_constraints,
        "network_weight": [POSITIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_blocks: int = 8,
        sparsity: float = 10.0,
        network_weight: float = 0.1,
        initial_clusters: Any = None,
        n_neighbors: int | None = None,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_blocks = n_blocks
        self.sparsity = sparsity
        self.network_weight = network_weight
        self.initial_clusters = initial_clusters
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_settings(self, graph: AttributedGraph) -> None:
        check_initial_clusters(self.initial_clusters, self.n_blocks, graph.n_nodes)

    def _score(self, graph: AttributedGraph) -> FloatArray:
        term = CommunityTerm(graph.adjacency, self.network_weight, float(norm(graph.adjacency)))
        regression = RowSparseRegression(graph.features, self.sparsity)
        U = self._start(graph.adjacency)
        step = term.safe_step(U)

        def solve(weights: FloatArray, Z: FloatArray) -> tuple[FloatArray, float]:
            nonlocal U, step
            Z = regression.solve(U, weights, Z)
            fitted = regression.predict(Z)
            U, step = term.descend(U, fitted, step)
            return Z, term.value(U, fitted)

        self.coefficients_ = self._reweight(solve, np.zeros((graph.n_features, U.shape[1])), penalty=self.sparsity)
        self.clusters_ = U
        self.explained_ = 1 - term.misfit(U) / term.norm**2
        if np.linalg.norm(U.T @ U) < _COLLAPSED * term.norm:
            self._warn_of_collapse(graph.adjacency)
        self.criterion_ = row_norms(self.coefficients_)
        return np.where(constant_columns(graph.features), -np.inf, self.criterion_)

    def _start(self, adjacency: Sparse) -> FloatArray:
        if self.initial_clusters is not None:
            return np.array(self.initial_clusters, dtype=np.float64)
        U = generator_from(self.random_state).random((adjacency.shape[0], self.n_blocks))
        return np.asarray(U * np.sqrt(np.vdot(U, adjacency @ U) / np.sum((U.T @ U) ** 2)))

    def _warn_of_collapse(self, adjacency: Sparse) -> None:
        found = extreme_eigenvectors(adjacency, 1, which="largest", rng=np.random.default_rng(0), tol=_DIGITS)
        largest = float(found[0][0])
        warn_caller(
            f"the communities have collapsed (no entry of U exceeds {self.clusters_.max():.1g}) and the scores do not "
            "depend on the network: a community is retained only if network_weight times an eigenvalue of the "
            f"adjacency exceeds 1, but the largest such product is {self.network_weight:g} × {largest:.3g} = "
            f"{self.network_weight * largest:.2g}. Increase network_weight well above {1 / largest:.2g}.",
            ConvergenceWarning,
        )


@dataclass(frozen=True, slots=True, eq=False)
class CommunityTerm:
    """The terms of the objective in U: ‖XZ − U‖² + (β/2)‖A − UUᵀ‖², with XZ as `fitted`."""

    adjacency: Sparse  # (n, n) (paper: A)
    weight: float  # (paper: β)
    norm: float  # ‖A‖

    def misfit(self, U: FloatArray) -> float:
        """‖A − UUᵀ‖²."""
        return self.norm**2 + self._variable_misfit(U)

    def value(self, U: FloatArray, fitted: FloatArray) -> float:
        return self.weight / 2 * self.norm**2 + self._variable(U, fitted)

    def gradient(self, U: FloatArray, fitted: FloatArray) -> FloatArray:
        return np.asarray(2 * (U - fitted) - 2 * self.weight * (self.adjacency @ U - U @ (U.T @ U)))

    def safe_step(self, U: FloatArray) -> float:
        """A step size that suits the curvature at U for any scale of the network."""
        return 0.5 / (1 + self.weight * (self.norm + 3 * float(np.linalg.norm(U.T @ U))))

    def descend(
        self, U: FloatArray, fitted: FloatArray, step: float, *, halvings: int = _HALVINGS
    ) -> tuple[FloatArray, float]:
        """Take projected gradient steps; return U and the step size to start with next time."""
        for _ in range(_STEPS):
            slope, before = self.gradient(U, fitted), self._variable(U, fitted)
            for _ in range(halvings):
                candidate = np.maximum(U - step * slope, 0)
                if self._variable(candidate, fitted) - before <= _ENOUGH * np.vdot(slope, candidate - U):
                    U, step = candidate, 2 * step
                    break
                step /= 2
            else:
                return U, self.safe_step(U)  # a minimum up to rounding
        return U, step

    def _variable(self, U: FloatArray, fitted: FloatArray) -> float:
        """The value without its constant ‖A‖², next to which small decreases would be lost to rounding."""
        return float(np.sum((fitted - U) ** 2) + self.weight / 2 * self._variable_misfit(U))

    def _variable_misfit(self, U: FloatArray) -> float:
        return float(np.sum((U.T @ U) ** 2) - 2 * np.vdot(U, self.adjacency @ U))
