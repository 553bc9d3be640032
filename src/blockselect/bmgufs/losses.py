"""The two losses of the paper and their gradients, for many solves at once and without any n × n matrix.

There are c block models, s settings for each, k blocks and m features.

- The reconstruction loss L_b measures how badly the blocks fit the graph induced by the scores.
- The profile loss L_m compares the densities of the induced graph, row by row, with those of the original graph.

Neither loss depends on the scale of the scores. The exact gradient of L_m differs from the published one, which has P
in place of the constant in the derivative of q log(q/p) (see `profile_terms`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.utils.arrays import Array, namespace

Gradient = Literal["exact", "paper"]

_ROUNDING = 64  # multiple of the float precision; gradients smaller than this, relative to their terms, are set to 0


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """Values and gradients of both losses."""

    reconstruction: Array  # (c, s)
    profile: Array  # (c, s)
    reconstruction_gradient: Array  # (c, s, m)
    profile_gradient: Array  # (c, s, m)


def evaluate_losses(
    statistics: BlockStatistics,
    scores: Array,
    product: Array,
    *,
    smoothing: float,
    gradient: Gradient = "exact",
) -> Losses:
    """Both losses at `scores` (c, s, m), given their product with the squared Gram matrix (c, s, m)."""
    xp = namespace(scores)
    M_hat = statistics.induced_density(scores)
    T = M_hat * pair_sizes(statistics)  # (c, s, k, k)
    total = xp.sum(scores * product, axis=-1)  # (c, s) ‖Â‖²
    loss_b = _reconstruction_value(M_hat, T, total)
    loss_m, B = profile_terms(statistics, M_hat, smoothing=smoothing, gradient=gradient)
    projected, gradient_m = statistics.quadratic_forms(T, B)
    return Losses(loss_b, loss_m, _reconstruction_gradient(product, projected, total, loss_b), gradient_m)


def pair_sizes(statistics: BlockStatistics) -> Array:
    """Number of node pairs in each block pair: (c, 1, k, k)."""
    sizes = statistics.block_sizes
    return (sizes[:, :, None] * sizes[:, None, :])[:, None]


def profiles(statistics: BlockStatistics, density: Array, smoothing: float) -> tuple[Array, Array]:
    """The rows of a density plus `smoothing`, scaled to sum to one (paper: P or Q), and their sums before scaling.

    Blocks of size zero, which are only padding, are not smoothed, so their rows stay zero.
    """
    xp = namespace(density)
    smoothed = density + smoothing * xp.astype(pair_sizes(statistics) > 0, density.dtype)
    sums = xp.sum(smoothed, axis=-1, keepdims=True)
    sums = xp.where(sums > 0, sums, 1.0)
    return smoothed / sums, sums


def profile_terms(
    statistics: BlockStatistics, M_hat: Array, *, smoothing: float, gradient: Gradient
) -> tuple[Array, Array]:
    """L_m (c, s), and the matrix B (c, s, k, k) for which ∂L_m/∂r_l = D̄_lᵀ B D̄_l.

    C is ∂L_m/∂Q = log(Q/P), up to a constant that cancels because the rows of Q sum to one. The paper adds P, which is
    not constant and does not cancel; so does `gradient="paper"`.
    """
    xp = namespace(M_hat)
    P, _ = profiles(statistics, statistics.density[:, None], smoothing)
    Q, sums = profiles(statistics, M_hat, smoothing)
    C = xp.log(xp.where(Q > 0, Q, 1.0)) - xp.log(xp.where(P > 0, P, 1.0))
    loss = xp.sum(Q * C, axis=(-2, -1))
    if gradient == "paper":
        C = C + P
    spread = C - xp.sum(C * Q, axis=-1, keepdims=True)
    rounding = _ROUNDING * xp.finfo(C.dtype).eps * (1 + xp.max(xp.abs(C), axis=(-2, -1), keepdims=True))
    spread = xp.where(xp.max(xp.abs(spread), axis=(-2, -1), keepdims=True) > rounding, spread, 0.0)
    return loss, spread / sums


def _reconstruction_value(M_hat: Array, T: Array, total: Array) -> Array:
    """1 − ‖F M̂ Fᵀ‖² / ‖Â‖², because F M̂ Fᵀ is an orthogonal projection of Â; 1 if Â is zero."""
    xp = namespace(total)
    positive = total > 0
    explained = xp.sum(M_hat * T, axis=(-2, -1)) / xp.where(positive, total, 1.0)
    return xp.where(positive, xp.clip(1 - explained, min=0), 1.0)


def _reconstruction_gradient(product: Array, projected: Array, total: Array, loss: Array) -> Array:
    """(2 / rᵀWr) (W r − v − L_b W r); zero if it is only a rounding error, as when each block is a single node."""
    xp = namespace(product)
    positive = (total > 0)[..., None]
    scale = xp.where(positive, 2 / xp.where(positive, total[..., None], 1.0), 0.0)
    gradient = product * (1 - loss[..., None]) - projected
    largest = xp.max(xp.abs(gradient), axis=-1, keepdims=True)
    rounding = _ROUNDING * xp.finfo(product.dtype).eps * xp.max(xp.abs(product), axis=-1, keepdims=True)
    return xp.where(largest > rounding, gradient, 0.0) * scale
