"""Regression with a weight per row: the solve inside `reweight` for ‖XZ − F‖² + β‖Z‖₂,₁.

Methods that learn clusters and coefficients jointly repeat this solve with changing targets and row weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.exceptions import ConvergenceWarning

from blockselect.baselines._solvers.row_sparse import explain_singular
from blockselect.rows.matrices import as_dense
from blockselect.rows.statistics import column_inner_products
from blockselect.utils.arrays import Features, FloatArray, IntArray
from blockselect.utils.errors import warn_caller

Route = Literal["auto", "normal", "woodbury", "cg"]

_NEGLIGIBLE = 1e-6  # total leverage of the features left out of a factorisation; the second sweep squares the error
_CG_TOL = 1e-13  # residual relative to the right-hand side
_CG_STEPS = 200  # expected number of steps per solve, to choose a route
_CG_MOST = 5000  # maximum number of steps per solve
_SPARSE_COST = 20  # time of a multiplication in a sparse product, relative to one in a dense factorisation


class RowSparseRegression:
    """Minimises ‖XZ − F‖² + penalty · Σᵢ wᵢ‖zᵢ‖² over Z, for one X and many targets F and row weights w.

    With A = X·diag(penalty·w)^-½ the solution is Z = diag(penalty·w)^-½ (AᵀA + I)⁻¹AᵀF. Three routes compute it and
    agree up to rounding:

    - "normal": a Cholesky factor of AᵀA + I over the features that are not negligible. Negligible features are left out
      of the factor and corrected by a second sweep; XᵀX is computed once.
    - "woodbury": a Cholesky factor of AAᵀ + I (n × n), if there are fewer nodes than features.
    - "cg": conjugate gradients on AᵀA + I, if X is sparse and has many rows and columns.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
        X. Computations are in float64.
    penalty : float
        A number above 0. (paper: β)
    route : {"auto", "normal", "woodbury", "cg"}
        "auto" takes the route with the smallest estimated number of operations for each solve.
    """

    def __init__(self, features: Features, penalty: float, *, route: Route = "auto") -> None:
        self.penalty = float(penalty)
        self.route = route
        self._X = features.astype(np.float64, copy=False)
        self._squares = column_inner_products(self._X, self._X)  # (m,)
        self._columns: IntArray = np.empty(0, dtype=np.intp)  # features whose Gram matrix is stored
        self._gram: FloatArray = np.empty((0, 0))

    def solve(self, targets: FloatArray, row_weights: FloatArray, start: FloatArray | None = None) -> FloatArray:
        """Coefficients Z of shape (m, c) for targets F (n, c) and row weights w > 0 (m,).

        `start` is an initial guess of Z for conjugate gradients, such as the previous Z; other routes ignore it.
        """
        F = np.asarray(targets, dtype=np.float64)
        inverse = 1 / (self.penalty * np.asarray(row_weights, dtype=np.float64))  # (m,)
        active = self._active(inverse)
        route = self.cheapest(len(active), F.shape[1]) if self.route == "auto" else self.route
        if route == "cg":
            return self._by_conjugate_gradients(F, inverse, start)
        with explain_singular(self._X, "sparsity", self.penalty):
            if route == "woodbury":
                return self._by_woodbury(F, inverse)
            return self._by_normal_equations(F, inverse, active)

    def predict(self, Z: FloatArray) -> FloatArray:
        """XZ, of shape (n, c)."""
        return np.asarray(self._X @ Z)

    def _active(self, inverse: FloatArray) -> IntArray:
        """Features that the factorisation needs: together, the others perturb AAᵀ + I by less than _NEGLIGIBLE."""
        leverage = inverse * self._squares
        order = np.argsort(leverage)
        n_dropped = int(np.searchsorted(np.cumsum(leverage[order]), _NEGLIGIBLE, side="right"))
        return np.sort(order[n_dropped:])

    def cheapest(self, n_active: int, n_targets: int) -> Route:
        """The route with the smallest estimated number of operations if `n_active` features are not negligible."""
        n, is_sparse = self._X.shape[0], sparse.issparse(self._X)
        size = self._X.nnz if is_sparse else self._X.size
        cost: dict[Route, float] = {"normal": n_active**3 / 3}
        # The product AAᵀ of a dense X costs n²m; for a sparse X it costs less than the factorisation.
        cost["woodbury"] = n**3 / 3 + (n**3 / 3 if is_sparse else n * size)
        if is_sparse:
            cost["cg"] = 2 * _SPARSE_COST * _CG_STEPS * size * n_targets
        return min(cost, key=lambda route: cost[route])

    def _by_normal_equations(self, F: FloatArray, inverse: FloatArray, active: IntArray) -> FloatArray:
        """Two Gauss–Seidel sweeps between active and negligible features, with an error of about _NEGLIGIBLE²."""
        solve_active = self._factorise(active, inverse[active])
        if len(active) == len(inverse):
            return solve_active(np.asarray(self._X.T @ F))
        dropped = np.setdiff1d(np.arange(len(inverse)), active, assume_unique=True)
        Z = np.zeros((len(inverse), F.shape[1]))
        for _ in range(2):
            Z[active] = 0
            Z[active] = solve_active(self._correlation(F, Z)[active])
            Z[dropped] = inverse[dropped, None] * self._correlation(F, Z)[dropped]
        return Z

    def _correlation(self, F: FloatArray, Z: FloatArray) -> FloatArray:
        """Xᵀ(F − XZ), of shape (m, c)."""
        return np.asarray(self._X.T @ (F - self.predict(Z)))

    def _factorise(self, active: IntArray, inverse: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Return a function from the correlations XᵀT of the active features to their coefficients."""
        scale = np.sqrt(inverse)
        system = self._gram_of(active) * scale[:, None] * scale
        system[np.diag_indices_from(system)] += 1
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        return lambda correlation: scale[:, None] * cho_solve(factor, scale[:, None] * correlation, check_finite=False)

    def _gram_of(self, active: IntArray) -> FloatArray:
        """XᵀX of these features, taken from the stored matrix unless one of them is missing there."""
        at = np.searchsorted(self._columns, active)
        if len(self._columns) == 0 or at.max(initial=0) >= len(self._columns) or (self._columns[at] != active).any():
            chosen = self._X[:, active]
            self._gram = as_dense(chosen.T @ chosen)
            self._columns = active
            return self._gram
        return self._gram if len(active) == len(self._columns) else self._gram[np.ix_(at, at)]

    def _by_woodbury(self, F: FloatArray, inverse: FloatArray) -> FloatArray:
        scale = np.sqrt(inverse)
        scaled = self._X @ sparse.diags_array(scale) if sparse.issparse(self._X) else self._X * scale
        system = as_dense(scaled @ scaled.T)
        system[np.diag_indices_from(system)] += 1
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        residual = cho_solve(factor, F, check_finite=False)  # F − XZ
        return np.asarray(inverse[:, None] * (self._X.T @ residual))

    def _by_conjugate_gradients(self, F: FloatArray, inverse: FloatArray, start: FloatArray | None) -> FloatArray:
        scale = np.sqrt(inverse)[:, None]
        guess = np.zeros((len(inverse), F.shape[1]))
        if start is not None:
            np.divide(start, scale, out=guess, where=scale > 0)
        max_steps = min(10 * min(self._X.shape) + 100, _CG_MOST)
        solution, settled = conjugate_gradients(
            lambda V: V + scale * np.asarray(self._X.T @ (self._X @ (scale * V))),
            scale * np.asarray(self._X.T @ F),
            guess,
            diagonal=1 + inverse * self._squares,
            tol=_CG_TOL,
            max_steps=max_steps,
        )
        if not settled:
            warn_caller(
                f"conjugate gradients did not converge in {max_steps} steps; rescale features, or increase sparsity.",
                ConvergenceWarning,
            )
        return scale * solution


def conjugate_gradients(
    apply: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    start: FloatArray,
    *,
    diagonal: FloatArray,
    tol: float,
    max_steps: int,
) -> tuple[FloatArray, bool]:
    """Solve a definite system for all columns together, preconditioned by its diagonal.

    Returns the solution (m, c), and whether its residual reached `tol`, relative to the right-hand side.
    """

    def operator(function: Callable[[FloatArray], FloatArray]) -> LinearOperator:
        matvec = lambda flat: np.ravel(function(flat.reshape(right.shape)))  # noqa: E731
        return LinearOperator((right.size, right.size), matvec=matvec, dtype=np.float64)

    solution, failed = cg(
        operator(apply),
        right.ravel(),
        x0=start.ravel(),
        rtol=tol,
        maxiter=max_steps,
        M=operator(lambda V: V / diagonal[:, None]),
    )
    return solution.reshape(right.shape), not failed
