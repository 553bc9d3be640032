"""Logistic regression on many small training sets at once, on a torch device, with scikit-learn's objective.

It uses Newton's method with conjugate gradients, because the Hessian of (d + 1) k parameters would not fit in memory.
All sets have the same number of rows, so that they can be processed in one batch.
"""

from __future__ import annotations

import torch

MAX_NEWTON, MAX_CONJUGATE, MAX_HALVINGS = 50, 100, 20
TOLERANCE = 1e-5  # limit on the largest entry of the gradient of the mean loss; scikit-learn uses 1e-4
_ARMIJO = 1e-4
_RESIDUAL = 1e-6  # squared norm of the residual, relative to the gradient


def fit_logistic(rows: torch.Tensor, targets: torch.Tensor, n_classes: int) -> torch.Tensor:
    """Coefficients of each set, with the intercepts in the last row: (b, d + 1, k).

    They minimise the sum of the log losses plus half the sum of squares of all coefficients but the intercepts.

    Parameters
    ----------
    rows : tensor of shape (b, t, d)
        float64.
    targets : tensor of shape (b, t)
        Classes, 0 to n_classes − 1.
    n_classes : int
    """
    n_sets, n_rows, _ = rows.shape
    extended = with_ones(rows)
    wanted = torch.nn.functional.one_hot(targets, n_classes).to(rows.dtype)
    ridge = torch.ones(extended.shape[2], 1, dtype=rows.dtype, device=rows.device)
    ridge[-1] = 0.0
    found = torch.zeros((n_sets, extended.shape[2], n_classes), dtype=rows.dtype, device=rows.device)
    for _ in range(MAX_NEWTON):
        shares = torch.softmax(extended @ found, dim=2)
        gradient = extended.mT @ (shares - wanted) + ridge * found
        if float(gradient.abs().max()) <= TOLERANCE * n_rows:
            break
        step = _newton_step(extended, shares, ridge, gradient)
        found = _search(extended, wanted, ridge, found, step, (gradient * step).sum(dim=(1, 2)))
    return found


def with_ones(rows: torch.Tensor) -> torch.Tensor:
    """Append a column of ones, for the intercept."""
    return torch.cat([rows, torch.ones_like(rows[..., :1])], dim=-1)


def _newton_step(rows: torch.Tensor, shares: torch.Tensor, ridge: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    """Solve H step = −gradient by conjugate gradients, for each set until the residual is small.

    The loss does not change if all intercepts increase equally; this direction, in which H is singular, is removed.
    """
    step, residual = torch.zeros_like(gradient), _centred(-gradient)
    direction, square = residual, residual.square().sum(dim=(1, 2))
    enough = square * _RESIDUAL
    for _ in range(MAX_CONJUGATE):
        weighted = shares * (rows @ direction)
        image = _centred(rows.mT @ (weighted - shares * weighted.sum(dim=2, keepdim=True)) + ridge * direction)
        curvature = (direction * image).sum(dim=(1, 2))
        goes_on = (square > enough) & (curvature > 0)
        if not bool(goes_on.any()):
            break
        length = torch.where(goes_on, square / curvature, torch.zeros_like(square))
        step = step + length[:, None, None] * direction
        residual = residual - length[:, None, None] * image
        before, square = square, residual.square().sum(dim=(1, 2))
        ahead = torch.where(goes_on, square / before, torch.zeros_like(square))
        direction = torch.where(goes_on[:, None, None], residual + ahead[:, None, None] * direction, direction)
    return step


def _centred(values: torch.Tensor) -> torch.Tensor:
    """Shift the intercepts, in the last row, so that they add up to 0."""
    slopes, intercepts = values[:, :-1], values[:, -1:]
    return torch.cat([slopes, intercepts - intercepts.mean(dim=2, keepdim=True)], dim=1)


def _search(
    rows: torch.Tensor,
    wanted: torch.Tensor,
    ridge: torch.Tensor,
    found: torch.Tensor,
    step: torch.Tensor,
    slope: torch.Tensor,
) -> torch.Tensor:
    """Backtracking line search: halve the step of each set until its loss decreases enough."""

    def loss(at: torch.Tensor) -> torch.Tensor:
        likelihood = (torch.log_softmax(rows @ at, dim=2) * wanted).sum(dim=(1, 2))
        return (ridge * at.square()).sum(dim=(1, 2)) / 2 - likelihood

    before, far = loss(found), torch.ones(len(found), dtype=found.dtype, device=found.device)
    for _ in range(MAX_HALVINGS):
        tried = found + far[:, None, None] * step
        falls = loss(tried) <= before + _ARMIJO * far * slope + 1e-12 * before.abs()
        if bool(falls.all()):
            break
        far = torch.where(falls, far, far / 2)
    return tried
