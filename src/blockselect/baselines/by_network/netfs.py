"""NetFS: features that predict communities of the network, both learned together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import norm
from sklearn.exceptions import ConvergenceWarning

from blockselect.arrays import FloatArray, Sparse
from blockselect.base import generator_from
from blockselect.baselines._solvers.initial_clusters import check_initial_clusters
from blockselect.baselines._solvers.reweighting import reweight, row_norms
from blockselect.baselines._solvers.row_sparse_regression import RowSparseRegression
from blockselect.baselines.constraints import POSITIVE, ROW_SPARSE
from blockselect.baselines.criterion import NetworkGuidedSelector
from blockselect.eigenvectors import extreme_eigenvectors
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.column_statistics import constant_columns
from blockselect.warned import warn_caller

_STEPS = 10  # of projected gradient for each Z: they cost little beside a solve
_HALVINGS = 60  # of a step before U is left as it is
_ENOUGH = 0.01  # of the fall that the gradient promises, for a step to be taken (Armijo)
_DIGITS = 1e-4  # of the eigenvalue that a warning names
_COLLAPSED = 1e-3  # ‖UUᵀ‖/‖A‖ below which the communities explain nothing of the network


class NetFS(NetworkGuidedSelector):
    r"""Select features by NetFS: those that predict overlapping communities of the network.

    How strongly each node belongs to each community, U ≥ 0 with A ≈ UUᵀ, is learned together with a linear map Z from
    the features to it, most rows of which are zero:

    ‖XZ − U‖² + α‖Z‖₂,₁ + (β/2)‖A − UUᵀ‖², U ≥ 0.

    A feature scores ‖zᵢ‖. Each iteration solves for Z = (XᵀX + αΔ)⁻¹XᵀU with Δᵢᵢ = 1/(2‖zᵢ‖), and then takes ten
    projected gradient steps U ← max(U − tG, 0), G = 2(U − XZ) − 2β(AU − UUᵀU). A step t is twice the one before it,
    halved until the objective falls by at least a hundredth of what G promises. ‖A − UUᵀ‖² is expanded, so that no
    n × n matrix is made.

    Objective recalled, solver reconstructed: not compared with the published text.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)
    n_blocks : int, default=8
        Communities. Not read where `initial_clusters` is given. (paper: c)
    sparsity : float, default=10.0
        Weight of the row-sparse penalty; larger leaves fewer features. (paper: α)
    network_weight : float, default=0.1
        Weight of the network against the regression; see the notes. (paper: β)
    initial_clusters : array of shape (n, c) or None, default=None
        Non-negative start of U, used as it is. None: uniform random numbers, scaled such that UUᵀ is as near A as it
        can be, since from a start of another size U shrinks or grows before it has taken up the network. (paper: U)
    n_neighbors : int or None, default=None
        Where `fit` is given no adjacency, link this many nearest by the features; None: that is an error.
    max_iter : int, default=200
        Most iterations.
    tol : float, default=1e-6
        Stop once the objective changes by less than this share of itself; 0 never stops early.
    random_state : int, RandomState or None, default=None
        Seeds the start: the same seed gives the same result.

    Attributes
    ----------
    scores_ : array of shape (m,)
        ‖zᵢ‖, which shrinks towards zero for features that are not needed; −∞ for a constant feature, which only
        replaces the missing intercept and is never selected.
    criterion_ : array of shape (m,)
        ‖zᵢ‖ of all features.
    ranking_, support_, n_features_
        As in every selector: rank 1 is the best, which features are selected, and how many.
    coefficients_ : array of shape (m, c)
        (paper: Z)
    clusters_ : array of shape (n, c)
        How strongly each node belongs to each community. (paper: U)
    explained_ : float
        1 − ‖A − UUᵀ‖²/‖A‖², the share of the network that the communities explain.
    history_ : array of shape (`n_iter_`,)
        The objective after each iteration. It falls, up to rounding.
    n_iter_ : int
        Iterations made.

    Notes
    -----
    A community is kept only along directions of the network whose eigenvalue exceeds about
    1/β. At the default, the paper's β = 0.1, that is 10, more than all but the strongest hubs of a sparse network
    reach, so that U is nearly zero, or all zero where no eigenvalue of A reaches 1/β; `fit` then warns and names a
    better `network_weight`. Look at `explained_`: where it is near 0, raise `network_weight`.

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
        **ROW_SPARSE,
        "network_weight": [POSITIVE],
        "initial_clusters": [None, "array-like"],
        "random_state": ["random_state"],
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

        start = np.zeros((graph.n_features, U.shape[1]))
        result = reweight(solve, start, penalty=self.sparsity, max_iter=self.max_iter, tol=self.tol)
        self.coefficients_, self.clusters_ = self._record(result), U
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
            f"the communities have collapsed (no entry of U exceeds {self.clusters_.max():.1g}) and the scores have "
            "nothing to do with the network: a community is kept only if network_weight times an eigenvalue of the "
            f"adjacency exceeds 1, but here it reaches {self.network_weight:g} × {largest:.3g} = "
            f"{self.network_weight * largest:.2g}. Raise network_weight well above {1 / largest:.2g}.",
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
        """A step short enough for the curvature at U, whatever the scale of the network."""
        return 0.5 / (1 + self.weight * (self.norm + 3 * float(np.linalg.norm(U.T @ U))))

    def descend(self, U: FloatArray, fitted: FloatArray, step: float) -> tuple[FloatArray, float]:
        """Projected gradient steps, and the length to begin with next time."""
        for _ in range(_STEPS):
            slope, before = self.gradient(U, fitted), self._variable(U, fitted)
            for _ in range(_HALVINGS):
                candidate = np.maximum(U - step * slope, 0)
                if self._variable(candidate, fitted) - before <= _ENOUGH * np.vdot(slope, candidate - U):
                    U, step = candidate, 2 * step
                    break
                step /= 2
            else:
                return U, self.safe_step(U)  # a minimum, as far as rounding shows
        return U, step

    def _variable(self, U: FloatArray, fitted: FloatArray) -> float:
        """The value without its constant ‖A‖², next to which small falls would be lost to rounding."""
        return float(np.sum((fitted - U) ** 2) + self.weight / 2 * self._variable_misfit(U))

    def _variable_misfit(self, U: FloatArray) -> float:
        return float(np.sum((U.T @ U) ** 2) - 2 * np.vdot(U, self.adjacency @ U))
