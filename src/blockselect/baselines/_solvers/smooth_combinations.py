"""Row-sparse combinations of features that are smooth on a graph: a generalised eigenproblem with row weights.

The function `reweight` solves this problem repeatedly, with changing row weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve, eigh, lu_factor, lu_solve
from scipy.sparse.linalg import LinearOperator, eigsh

from blockselect.baselines._solvers.row_sparse import explain_singular
from blockselect.rows.matrices import as_dense
from blockselect.utils.arrays import Features, FloatArray, Sparse
from blockselect.utils.eigenvectors import draws

Route = Literal["auto", "dense", "cholesky", "woodbury"]
Solve = Callable[[FloatArray], FloatArray]  # (m,) → (m,)

_SMALL = 400  # number of features up to which a dense eigendecomposition is about as fast
_TOL = 1e-10  # relative tolerance of the eigenvalues
_UNSEEN = 1e-6  # fraction of the constraint below which a combination counts as zero on all nodes


@dataclass(frozen=True, slots=True, eq=False)
class Roughness:
    """A matrix S, sparse minus low-rank, for which fᵀSf ≥ 0 is the variation of a function f on the nodes."""

    sparse_part: Sparse  # (n, n)
    low_rank: Sparse  # (n, k), whose product with its own transpose is subtracted

    def of(self, f: FloatArray) -> FloatArray:
        """Sf for one function, or for one function per column."""
        return np.asarray(self.sparse_part @ f - self.low_rank @ (self.low_rank.T @ f))

    def gram(self, X: Features) -> FloatArray:
        """XᵀSX (m, m); only the results of products with sparse features are dense."""
        reduced = self.low_rank.T @ X  # (k, m)
        return as_dense(X.T @ (self.sparse_part @ X)) - as_dense(reduced.T @ reduced)


class SmoothCombinations:
    """Minimises tr(ZᵀXᵀSXZ) + penalty · Σᵢ wᵢ‖zᵢ‖² subject to Zᵀ(XᵀX + ridge·I)Z = I, for many row weights w.

    With J = X·diag(w)^-½ and Z = diag(w)^-½Y the columns of Y are generalised eigenvectors of C = JᵀSJ + penalty·I and
    JᵀJ + ridge·diag(w)⁻¹. C is definite for all weights; the other matrix may be numerically singular. Three routes
    agree up to rounding:

    - "dense": a decomposition of m × m matrices, if there are few features.
    - "cholesky": Lanczos with C⁻¹ from a Cholesky factor (m × m); XᵀSX is computed once.
    - "woodbury": Lanczos with C⁻¹ = (I − Jᵀ(penalty·I + SJJᵀ)⁻¹SJ)/penalty, from an n × n factor.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
        X. Computations are in float64.
    roughness : Roughness
        S.
    penalty : float
        A number above 0. (paper: β)
    ridge : float
        A number above 0. (paper: λ)
    rng : numpy.random.Generator
        Draws the initial vector of Lanczos iterations once, and the vectors for restarts.
    route : {"auto", "dense", "cholesky", "woodbury"}
        "auto" takes the route with the smallest estimated number of operations.
    """

    def __init__(
        self,
        features: Features,
        roughness: Roughness,
        penalty: float,
        ridge: float,
        *,
        rng: np.random.Generator,
        route: Route = "auto",
    ) -> None:
        self.roughness = roughness
        self.penalty = penalty
        self.ridge = ridge
        self.route = route
        self._X = features.astype(np.float64, copy=False)
        self._rng = rng
        self._start = rng.standard_normal(features.shape[1])

    def total_roughness(self, Z: FloatArray) -> float:
        """tr(ZᵀXᵀSXZ)."""
        functions = np.asarray(self._X @ Z)
        return float(np.vdot(functions, self.roughness.of(functions)))

    def solve(self, row_weights: FloatArray, count: int) -> FloatArray:
        """The `count` smoothest combinations for row weights w > 0 (m,), smoothest first: Z of shape (m, count)."""
        scale = np.asarray(row_weights, dtype=np.float64) ** -0.5
        route = self._cheapest(count) if self.route == "auto" else self.route
        with explain_singular(self._X, "sparsity", self.penalty):
            Y = self._all_at_once(scale, count) if route == "dense" else self._by_lanczos(scale, count, route)
        Z = np.asarray(scale[:, None] * Y)
        self._check_seen(Z)
        return Z

    def _cheapest(self, count: int) -> Route:
        n, m = self._X.shape
        if m <= max(_SMALL, 4 * count):
            return "dense"
        return "woodbury" if 2 * n**3 < m**3 else "cholesky"

    @cached_property
    def _rough_gram(self) -> FloatArray:
        return self.roughness.gram(self._X)

    @cached_property
    def _constraint(self) -> FloatArray:
        return as_dense(self._X.T @ self._X) + self.ridge * np.eye(self._X.shape[1])

    def _definite(self, scale: FloatArray) -> FloatArray:
        """C in a new array."""
        C = self._rough_gram * scale[:, None]
        C *= scale
        C[np.diag_indices_from(C)] += self.penalty
        return C

    def _all_at_once(self, scale: FloatArray, count: int) -> FloatArray:
        """Solve for the largest eigenvalues with both matrices exchanged, because C is definite."""
        m = len(scale)
        constraint = self._constraint * scale[:, None] * scale
        values, Y = eigh(constraint, self._definite(scale), subset_by_index=[m - count, m - 1])
        if len(values) < count:  # LAPACK returns fewer if the matrices overflow
            raise np.linalg.LinAlgError
        values = np.maximum(values, m * np.finfo(np.float64).eps * values[-1])  # smaller values are rounding errors
        return np.asarray((Y / np.sqrt(values))[:, ::-1])

    def _by_cholesky(self, scale: FloatArray) -> Solve:
        factor = cho_factor(self._definite(scale), lower=True, overwrite_a=True, check_finite=False)
        return lambda v: np.asarray(cho_solve(factor, v, check_finite=False))

    def _by_woodbury(self, J: Features) -> Solve:
        system = self.roughness.of(as_dense(J @ J.T))
        system[np.diag_indices_from(system)] += self.penalty
        factor = lu_factor(system, overwrite_a=True, check_finite=False)

        def solve(v: FloatArray) -> FloatArray:
            inner = lu_solve(factor, self.roughness.of(J @ v), check_finite=False)
            return np.asarray((v - J.T @ inner) / self.penalty)

        return solve

    def _by_lanczos(self, scale: FloatArray, count: int, route: Route) -> FloatArray:
        X, m = self._X, len(scale)
        J = sparse.csr_array(X @ sparse.diags_array(scale)) if sparse.issparse(X) else X * scale
        solve = self._by_cholesky(scale) if route == "cholesky" else self._by_woodbury(J)

        def operator(apply: Solve) -> LinearOperator:
            return LinearOperator((m, m), matvec=lambda v: apply(v.ravel()), dtype=np.float64)

        values, Y = eigsh(
            operator(lambda v: J.T @ self.roughness.of(J @ v) + self.penalty * v),
            k=count,
            M=operator(lambda v: J.T @ (J @ v) + self.ridge * scale**2 * v),
            sigma=0,
            OPinv=operator(solve),
            v0=self._start,
            ncv=min(m, max(20, 4 * count)),
            tol=_TOL,
            **draws(self._rng),
        )
        return np.asarray(Y[:, np.argsort(values, kind="stable")])

    def _check_seen(self, Z: FloatArray) -> None:
        """Raise an error if a combination is zero on all nodes, so that only the ridge constrains it.

        Such combinations carry no information. At equal weights they have equal eigenvalues, and Lanczos iterations
        might miss some of them.
        """
        if self.ridge * np.sum(Z**2, axis=0).max() > 1 - _UNSEEN:
            raise ValueError(
                f"one of the {Z.shape[1]} smoothest combinations of features is zero on all nodes: fewer than "
                f"{Z.shape[1]} features are independent, or the ridge, {self.ridge:g}, is too large for features of "
                "this scale; lower n_blocks, or ridge."
            )
