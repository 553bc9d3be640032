"""Descent: projected gradient descent with normalised gradients, for many solves at once (paper: algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import count
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from array_api_compat import device
from sklearn.base import BaseEstimator

from blockselect.bmgufs.cuda import compiled_by_torch, replayed
from blockselect.bmgufs.device import in_tfloat32, problem_to_device
from blockselect.bmgufs.gram import GramSquared
from blockselect.bmgufs.losses import Gradient, Losses, evaluate_losses
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.utils._sklearn import Interval, Options, StrOptions
from blockselect.utils.arrays import Array, BoolArray, FloatArray, IntArray, namespace, to_numpy
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import as_numbers, check_entries, check_start
from blockselect.utils.progress import StepProgress, no_step_progress

_WINDOW = 10  # iterations over which both losses must be nearly constant for a solve to stop
_CACHE_BYTES = 2**20  # size of the weighted block means per piece with NumPy, so that they stay in the cache
_DEVICE_BYTES = 2**30  # the same for torch, which is faster with a few large pieces

Piece: TypeAlias = tuple[slice, slice]  # models, settings


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Scores of c block models with s settings each, as NumPy arrays."""

    scores: FloatArray  # (c, s, m) non-negative, unit length; zero where no node has the feature (paper: r)
    reconstruction_loss: FloatArray  # (c, s, t + 1) before each of the t iterations and after the last (paper: L_b)
    profile_loss: FloatArray  # (c, s, t + 1) (paper: L_m)
    n_iter: IntArray  # (c, s) number of iterations of each solve
    settled: BoolArray  # (c, s) whether each solve converged; always true with a tolerance of 0


class Descent(BaseEstimator):
    """Minimise L_b + β L_m + γ‖r‖₁ over non-negative scores r of unit length.

    Each iteration scales both gradients to unit length, mixes them, takes one step, sets negative scores to zero and
    scales the scores to unit length. All block models and settings are solved together, so that an iteration needs only
    one product of all scores with the squared Gram matrix of the features.

    Parameters
    ----------
    gradient : {"exact", "paper"}, default="exact"
        Gradient of the profile loss: its exact derivative, or the published formula, which differs from it.
    step_size : float, default=0.01
        Length of a step. (paper: η)
    max_iter : int, default=200
        Maximum number of iterations.
    tol : float, default=1e-5
        A solve stops once the relative change of both losses over ten iterations is at most this. If this does not
        happen within `max_iter` iterations, the selector warns. With 0, all `max_iter` iterations are run, without a
        warning.
    smoothing : float, default=1e-6
        Constant that is added to the densities before their rows are compared. It is absolute, as in the paper, so the
        selector warns if the densities are not much larger. (paper: δ)
    initial_scores : array of shape (m,) or None, default=None
        Scores from which the descent starts; they are not scaled. If None, it starts from a vector of equal scores with
        unit length (the published code starts from ones).
    dtype : {"float64", "float32", "tfloat32"}, default="float64"
        Float type of the computation. "tfloat32" is float32, except that each product with the squared Gram matrix is
        computed as three products in TF32. It is faster for many solves at once, and only CUDA devices support it.
    compile : bool, default=False
        Compile the iteration with torch (only on CUDA devices). The first solve of each shape and setting takes several
        seconds longer, up to a minute on a slow machine; later ones are faster.
    memory_limit : float or None, default=None
        Maximum memory, in bytes, for computing the squared Gram matrix of the features; None means 8 GB, regardless of
        the machine. If no exact form fits, a low-rank approximation is used.

    Examples
    --------
    >>> from blockselect import BMGUFS, Descent
    >>> BMGUFS(10, n_blocks=4, solver=Descent(gradient="exact", max_iter=500)).solver.max_iter
    500
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012  (scikit-learn's contract)
        "gradient": [StrOptions({"exact", "paper"})],
        "step_size": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "smoothing": [Interval(Real, 0, None, closed="neither")],
        "initial_scores": [None, "array-like"],
        "dtype": [StrOptions({"float64", "float32", "tfloat32"}), Options(type, {np.float64, np.float32})],
        "compile": ["boolean"],
        "memory_limit": [None, Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        gradient: Gradient = "exact",
        step_size: float = 0.01,
        max_iter: int = 200,
        tol: float = 1e-5,
        smoothing: float = 1e-6,
        initial_scores: Any = None,
        dtype: Any = "float64",
        compile: bool = False,  # noqa: A002  (torch's term)
        memory_limit: float | None = None,
    ) -> None:
        self.gradient = gradient
        self.step_size = step_size
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.initial_scores = initial_scores
        self.dtype = dtype
        self.compile = compile
        self.memory_limit = memory_limit

    def solve(
        self,
        gram: GramSquared,
        statistics: BlockStatistics,
        *,
        profile_ratio: Any,
        sparsity: Any,
        device: str = "cpu",
        progress: StepProgress = no_step_progress,
    ) -> Solution:
        """Solve for every block model and setting at once.

        Parameters
        ----------
        gram : GramSquared
            The squared Gram matrix, as NumPy or SciPy arrays or as tensors on the device.
        statistics : BlockStatistics
            Statistics of the c block models, as arrays of the same kind.
        profile_ratio, sparsity : float or array that broadcasts to (c, s)
            One number, s numbers for all models, or s numbers for each model. (paper: β̄, γ)
        device : str, default="cpu"
            "cpu" computes with NumPy, a torch device such as "cuda" with torch.
        progress : callable, optional
            Called as ``progress(done, total)`` after each iteration or, on a GPU, after each launch of an iteration.
        """
        self.check_settings_on(device)
        if device != "cpu":
            gram, statistics = problem_to_device(gram, statistics, device)
        end = descend(self, gram, statistics, profile_ratio=profile_ratio, sparsity=sparsity, progress=progress)
        scores, n_iter = to_numpy(end.scores)[..., : statistics.n_features], to_numpy(end.n_iter)
        scores[..., to_numpy(statistics.empty_features)] = 0
        loss_b, loss_m = (np.moveaxis(to_numpy(loss)[: n_iter.max() + 1], 0, -1) for loss in (end.loss_b, end.loss_m))
        settled = ~to_numpy(end.running) if self.tol > 0 else np.ones(n_iter.shape, dtype=bool)
        return Solution(scores, loss_b, loss_m, n_iter.astype(np.intp), settled)

    @property
    def float_type(self) -> np.dtype[Any]:
        """The float type of all arrays."""
        return np.dtype("float32" if self.dtype == "tfloat32" else self.dtype)

    def check_settings_on(self, device: str) -> None:
        """Raise an error if the device does not support one of the settings."""
        if device.split(":")[0] == "cuda":
            return
        for name, value in (("dtype", "tfloat32"), ("compile", True)):
            if getattr(self, name) == value:
                raise ParameterError(
                    name, f"is {value!r}, which only CUDA devices support, not {device!r}; leave it out."
                )

    def check_initial_scores(self, n_features: int) -> None:
        """Raise an error if the initial scores do not fit the features."""
        if self.initial_scores is None:
            return
        expected = f"one score for each of the {n_features} features"
        scores = as_numbers("initial_scores", self.initial_scores, (n_features,), expected)
        check_start("initial_scores", scores)
        limit = float(np.finfo(self.float_type).max) ** 0.125  # losses contain fourth powers of scores and of features
        check_entries(
            "initial_scores", scores, scores <= limit, f"is too large for {self.dtype}; at most {limit:.3g} fits"
        )


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """Arrays that each iteration updates in place. They stay on the device: reading them would block."""

    scores: Array  # (c, s, m)
    loss_b: Array  # (t + 1, c, s)
    loss_m: Array  # (t + 1, c, s)
    running: Array  # (c, s) bool
    n_iter: Array  # (c, s)
    step: Array  # (1,) number of iterations so far

    def piece(self, piece: Piece) -> _State:
        """The state of some of the solves, as views."""
        loss_b, loss_m = (loss[:, *piece] for loss in (self.loss_b, self.loss_m))
        return _State(self.scores[piece], loss_b, loss_m, self.running[piece], self.n_iter[piece], self.step)


def descend(
    solver: Descent,
    gram: GramSquared,
    statistics: BlockStatistics,
    *,
    profile_ratio: Any,
    sparsity: Any,
    progress: StepProgress = no_step_progress,
) -> _State:
    """Run the descent and return its final state, as arrays of the same kind as the statistics.

    Features that no node has keep their initial score.
    """
    like = statistics.block_means
    xp = namespace(like)
    settings = (xp.asarray(x, dtype=like.dtype, device=device(like)) for x in (profile_ratio, sparsity))
    one_per_model = xp.zeros((statistics.n_models, 1), dtype=like.dtype, device=device(like))
    ratio, penalty, _ = xp.broadcast_arrays(*settings, one_per_model)  # (c, s)
    state = _start(xp, statistics, ratio.shape[1], solver)
    pieces = [
        (statistics.models(piece[0]), state.piece(piece), ratio[piece], penalty[piece], piece)
        for piece in _pieces(statistics, state.scores)
    ]
    constants = {name: getattr(solver, name) for name in ("gradient", "smoothing", "step_size", "tol", "max_iter")}
    advance = compiled_by_torch(_advance) if solver.compile else _advance
    if solver.dtype == "tfloat32":  # pragma: no cover (only on CUDA devices)
        gram = in_tfloat32(gram, n_solves=ratio.shape[0] * ratio.shape[1])

    def iterate() -> None:
        flat = xp.reshape(state.scores, (-1, state.scores.shape[-1]))
        product = xp.reshape(gram.apply(flat), state.scores.shape)  # one product for all solves
        for blocks, part, some_ratio, some_penalty, piece in pieces:
            advance(blocks, part, product[piece], some_ratio, some_penalty, **constants)
        step = state.step
        step += 1  # in place

    in_numpy = isinstance(state.scores, np.ndarray)
    every = 1 if in_numpy else _WINDOW  # testing for convergence waits for the device
    with nullcontext(iterate) if in_numpy else replayed(iterate, state.scores) as next_iteration:
        for done in count():
            next_iteration()
            if done == solver.max_iter or (solver.tol > 0 and done % every == 0 and not xp.any(state.running)):
                break
            progress(done + 1, solver.max_iter)
    return state


def _advance(
    statistics: BlockStatistics,
    state: _State,
    product: Array,
    ratio: Array,
    penalty: Array,
    *,
    gradient: Gradient,
    smoothing: float,
    step_size: float,
    tol: float,
    max_iter: int,
) -> None:
    """Record both losses and, unless this was the last iteration, take one step of each running solve."""
    xp = namespace(product)
    scores, running, n_iter, step = state.scores, state.running, state.n_iter, state.step
    losses = evaluate_losses(statistics, scores, product, smoothing=smoothing, gradient=gradient)
    state.loss_b[step] = losses.reconstruction[None]
    state.loss_m[step] = losses.profile[None]
    if tol > 0:
        running &= ~(_settled(xp, state.loss_b, step, tol) & _settled(xp, state.loss_m, step, tol))
    moving = running & (step < max_iter)
    stepped = _step(scores, losses, ratio, penalty, step_size, statistics.n_features)
    scores[...] = xp.where(moving[..., None], stepped, scores)
    n_iter += xp.astype(moving, n_iter.dtype)


def _start(xp: Any, statistics: BlockStatistics, n_settings: int, solver: Descent) -> _State:
    """The state before the first iteration.

    On a device, padding features have a score of zero. The losses are views (t + 1, c, s) into arrays in which the
    iterations of each solve are contiguous, as in a `Solution`.
    """
    like = statistics.block_means
    form = {"dtype": like.dtype, "device": device(like)}
    solves = (statistics.n_models, n_settings)
    first = xp.zeros(like.shape[-1], **form)
    first[: statistics.n_features] = 1 if solver.initial_scores is None else xp.asarray(solver.initial_scores, **form)
    scores = xp.ones((*solves, 1), **form) * first
    loss_b, loss_m = (xp.permute_dims(xp.zeros((*solves, solver.max_iter + 1), **form), (2, 0, 1)) for _ in range(2))
    return _State(
        normalise(scores) if solver.initial_scores is None else scores,
        loss_b,
        loss_m,
        xp.ones(solves, dtype=xp.bool, device=device(like)),
        xp.zeros(solves, dtype=xp.int64, device=device(like)),
        xp.zeros(1, dtype=xp.int64, device=device(like)),
    )


def _pieces(statistics: BlockStatistics, scores: Array) -> Iterator[Piece]:
    """Slices of models and settings whose weighted block means take little memory."""
    itemsize = 4 if "float32" in str(scores.dtype) else 8
    solve_bytes = statistics.n_blocks * statistics.n_features * itemsize
    at_once = max(1, (_CACHE_BYTES if isinstance(scores, np.ndarray) else _DEVICE_BYTES) // solve_bytes)
    n_models, n_settings = scores.shape[:2]
    settings_at_once = min(n_settings, at_once)
    models_at_once = max(1, at_once // settings_at_once)
    for first_model in range(0, n_models, models_at_once):
        for first_setting in range(0, n_settings, settings_at_once):
            yield (
                slice(first_model, first_model + models_at_once),
                slice(first_setting, first_setting + settings_at_once),
            )


def _settled(xp: Any, loss: Array, step: Array, tol: float) -> Array:
    """Whether the loss (t + 1, c, s) of each solve was nearly constant over the last iterations: (c, s)."""
    now, before = loss[step][0], loss[xp.clip(step - _WINDOW, min=0)][0]
    return (xp.abs(now - before) <= tol * xp.abs(before)) & (step >= _WINDOW)


def _step(scores: Array, losses: Losses, ratio: Array, penalty: Array, step_size: float, n_features: int) -> Array:
    """One update of r as in the paper: mix both gradients, each scaled to unit length, and project onto the sphere."""
    direction = (1 - ratio)[..., None] * normalise(losses.reconstruction_gradient)
    direction += ratio[..., None] * normalise(losses.profile_gradient)
    direction += penalty[..., None] / n_features**0.5
    return project(scores - step_size * direction)


def project(scores: Array) -> Array:
    """Set negative entries to zero and scale to unit length along the last axis; a zero vector stays zero."""
    xp = namespace(scores)
    return normalise(xp.where(scores > 0, scores, 0.0))


def normalise(vectors: Array) -> Array:
    """Scale to unit length along the last axis; a zero vector stays zero."""
    xp = namespace(vectors)
    length = norm(vectors)
    return vectors / xp.where(length > 0, length, 1.0)


def norm(vectors: Array) -> Array:
    """Length along the last axis, which is kept with size one.

    Vectors are divided by their largest entry first, so that squares neither overflow nor underflow.
    """
    xp = namespace(vectors)
    largest = xp.max(xp.abs(vectors), axis=-1, keepdims=True)
    scale = xp.where(largest > 0, largest, 1.0)
    scaled = vectors / scale
    return scale * xp.sqrt(xp.sum(scaled * scaled, axis=-1, keepdims=True)) * xp.astype(largest > 0, vectors.dtype)
