"""Normalised projected gradient descent over a batch of solves (paper: algorithm 1).

Knows statistics and losses, but no graph and no estimator. Written against one array namespace: with the statistics of
torch tensors everything happens, and comes back, in torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from array_api_compat import array_namespace, device

from blockselect.arrays import Array
from blockselect.bmgufs.gram_squared import GramSquared
from blockselect.bmgufs.losses import Gradient, Losses, evaluate_losses
from blockselect.bmgufs.sphere import normalise, project
from blockselect.bmgufs.block_statistics import BlockStatistics

_WINDOW = 10  # iterations over which the losses must stand still for a solve to stop
_CACHE_BYTES = 2**20  # of weighted block means in work at once on a CPU, so that they stay in its cache
_DEVICE_BYTES = 2**30  # the same on an accelerator, which wants few and large pieces

Piece: TypeAlias = tuple[slice, slice]  # of the models, of the settings
Progress: TypeAlias = Callable[[int, int], None]  # iterations done, of how many


@dataclass(frozen=True, slots=True, eq=False)
class DescentResult:
    """Of c block models with s settings each, in the array namespace of the statistics."""

    scores: Array  # (c, s, m) non-negative, unit length (all zero where the sparsity left nothing)
    reconstruction_loss: Array  # (c, s, t + 1) before each of the t iterations and after the last
    profile_loss: Array  # (c, s, t + 1)
    n_iter: Array  # (c, s) iterations each solve made


def descend(
    gram: GramSquared,
    statistics: BlockStatistics,
    *,
    profile_ratio: Any,
    sparsity: Any,
    gradient: Gradient = "exact",
    step_size: float = 0.01,
    max_iter: int = 200,
    tol: float = 0.0,
    smoothing: float = 1e-6,
    initial_scores: Array | None = None,
    progress: Progress | None = None,
) -> DescentResult:
    """Minimise L_b + β L_m + γ‖r‖₁ over non-negative r of unit length, for every model and setting at once.

    Parameters
    ----------
    gram : GramSquared
        Shared by all solves.
    statistics : BlockStatistics
        Of the c block models.
    profile_ratio, sparsity : float or array that broadcasts to (c, s)
        Settings: one number, s numbers for every model, or s numbers for each. (paper: β̄, γ)
    gradient : {"exact", "paper"}
        Of the profile loss.
    step_size, max_iter : float, int
        (paper: η = 0.01, 200 iterations)
    tol : float
        A solve stops once both losses have changed by no more than `tol`, relatively, over ten iterations; 0 never.
    smoothing : float
        Added to densities before their rows become profiles. (paper: δ)
    initial_scores : array of shape (m,), optional
        Used as it is; default: uniform, unit length.
    progress : callable, optional
        Called after each iteration.
    """
    xp = array_namespace(statistics.block_means)
    ratio, penalty = _settings(xp, statistics, profile_ratio, sparsity)
    scores = _start(xp, statistics, ratio.shape[1], initial_scores)
    loss_b = xp.zeros((*ratio.shape, max_iter + 1), dtype=scores.dtype, device=device(scores))
    loss_m = xp.zeros_like(loss_b)
    running = xp.ones_like(ratio, dtype=xp.bool)
    n_iter = xp.zeros_like(ratio, dtype=xp.int64)
    pieces = list(_pieces(statistics, scores))
    for done in range(max_iter + 1):
        product = _multiply(xp, gram, scores)
        for piece in pieces:
            losses = evaluate_losses(
                statistics.models(piece[0]),
                scores[piece],
                product[piece],
                smoothing=smoothing,
                gradient=gradient,
            )
            loss_b[(*piece, done)], loss_m[(*piece, done)] = losses.reconstruction, losses.profile
            if done == max_iter:
                continue
            running[piece] &= ~_settled(xp, loss_b[piece], loss_m[piece], done, tol)
            stepped = _step(scores[piece], losses, ratio[piece], penalty[piece], step_size)
            scores[piece] = xp.where(running[piece][..., None], stepped, scores[piece])
        if done == max_iter or not xp.any(running):
            break
        n_iter += xp.astype(running, n_iter.dtype)
        if progress is not None:
            progress(done + 1, max_iter)
    return DescentResult(scores, loss_b[..., : done + 1], loss_m[..., : done + 1], n_iter)


def _settings(xp: Any, statistics: BlockStatistics, profile_ratio: Any, sparsity: Any) -> tuple[Array, Array]:
    """Both settings as (c, s)."""
    like = statistics.block_means
    ratio, penalty = (xp.asarray(x, dtype=like.dtype, device=device(like)) for x in (profile_ratio, sparsity))
    one_each = xp.zeros((statistics.n_models, 1), dtype=like.dtype, device=device(like))
    ratio, penalty, _ = xp.broadcast_arrays(ratio, penalty, one_each)
    return ratio, penalty


def _start(xp: Any, statistics: BlockStatistics, n_settings: int, initial_scores: Array | None) -> Array:
    like = statistics.block_means
    scores = xp.ones((statistics.n_models, n_settings, statistics.n_features), dtype=like.dtype, device=device(like))
    if initial_scores is None:
        return normalise(scores)
    return scores * xp.asarray(initial_scores, dtype=like.dtype, device=device(like))


def _pieces(statistics: BlockStatistics, scores: Array) -> Iterator[Piece]:
    """Models and settings in pieces whose weighted block means fit into fast memory."""
    on_cpu = str(device(scores)) == "cpu"
    itemsize = 4 if "float32" in str(scores.dtype) else 8
    solve_bytes = statistics.n_blocks * statistics.n_features * itemsize
    at_once = max(1, (_CACHE_BYTES if on_cpu else _DEVICE_BYTES) // solve_bytes)
    n_models, n_settings = scores.shape[:2]
    settings_at_once = min(n_settings, at_once)
    models_at_once = max(1, at_once // settings_at_once)
    for first_model in range(0, n_models, models_at_once):
        for first_setting in range(0, n_settings, settings_at_once):
            yield (
                slice(first_model, first_model + models_at_once),
                slice(first_setting, first_setting + settings_at_once),
            )


def _multiply(xp: Any, gram: GramSquared, scores: Array) -> Array:
    """Scores times the squared Gram matrix: one product for all solves."""
    return xp.reshape(gram.apply(xp.reshape(scores, (-1, scores.shape[-1]))), scores.shape)


def _settled(xp: Any, loss_b: Array, loss_m: Array, done: int, tol: float) -> Array:
    """Which solves have had both losses stand still for a while."""
    if tol == 0 or done < _WINDOW:
        return xp.zeros_like(loss_b[..., 0], dtype=xp.bool)
    settled = xp.ones_like(loss_b[..., 0], dtype=xp.bool)
    for loss in (loss_b, loss_m):
        now, before = loss[..., done], loss[..., done - _WINDOW]
        settled &= xp.abs(now - before) <= tol * xp.abs(before)
    return settled


def _step(scores: Array, losses: Losses, ratio: Array, penalty: Array, step_size: float) -> Array:
    """One step of the paper: each gradient to unit length, mixed, and back to the non-negative unit sphere."""
    direction = (1 - ratio)[..., None] * normalise(losses.reconstruction_gradient)
    direction += ratio[..., None] * normalise(losses.profile_gradient)
    direction += penalty[..., None] / scores.shape[-1] ** 0.5
    return project(scores - step_size * direction)
