"""Refines a chosen set of features by swaps, on the losses of the set itself (paper: r ∈ {0, 1}^m).

The scores solve the paper's relaxed problem, and its d best are one answer to the discrete one. A swap of a feature of
the set for one outside it may be a better answer. Where features are sparse, the losses alone are lowest for rare
features of a few nodes each: that is why sets can be made to pay for the nodes they leave with nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blockselect.arrays import Features, FloatArray, IntArray
from blockselect.scoring.coverage import Coverage
from blockselect.scoring.gram import DenseGramSquared, SparseGramSquared
from blockselect.scoring.losses import evaluate_losses
from blockselect.scoring.redundancy import Redundancy
from blockselect.scoring.set_loss import SetLoss
from blockselect.scoring.set_quadratic import NOTHING
from blockselect.scoring.statistics import BlockStatistics

_ENTRIES = 2**19  # of induced densities computed for one choice of a swap: about 5 ms
_LEAST_PAIRS = 256  # tried for one choice of a swap, however large the densities
_ADDITIONS_PER_REMOVAL = 16  # among the pairs that are tried: there are more features outside the set than in it
_ROUNDING = 1e-10  # of the objective: less than that is no fall

_nothing = np.array([NOTHING])


@dataclass(frozen=True, slots=True, eq=False)
class Refinement:
    """A refined set of d features; arrays by swap hold the value before the first of t swaps and after each."""

    selected: IntArray  # (d,) rising
    objective: FloatArray  # (t + 1,) falling
    loss: FloatArray  # (t + 1,) (1 − β̄) L_b + β̄ L_m, the part of the objective that is the paper's
    redundancy: FloatArray  # (t + 1,) share of the features that repeats others
    n_uncovered: IntArray | None  # (t + 1,) nodes that have features but none of these; None without `features`

    @property
    def n_swaps(self) -> int:
        return len(self.objective) - 1


def refine_selection(
    selected: ArrayLike,
    gram: DenseGramSquared | SparseGramSquared,
    statistics: BlockStatistics,
    *,
    profile_ratio: float,
    smoothing: float,
    candidates: ArrayLike | None = None,
    features: Features | None = None,
    redundancy: float = 0.0,
    coverage: float = 0.0,
    max_swaps: int = 1000,
) -> Refinement:
    """Swap features in and out of a set while its objective falls.

    The objective is L + L_all (redundancy · R + coverage · U): L is (1 − β̄) L_b + β̄ L_m at r = 1 in the set and 0
    elsewhere, the mean over the block models; L_all is L of all features, so that a weight of 1 sets one per cent of
    R or U against one per cent of the loss of the data as they came; R is the share of the set that repeats others
    (see `Redundancy`); U is the share of nodes left with nothing (see `Coverage`). Each swap is the best of all pairs
    where these are few; of many, it is the best of the pairs of the features that are cheapest to remove alone and
    most worth adding alone. Features that no node has are never added.

    Parameters
    ----------
    selected : indices
        The d features to start from. (paper: S)
    gram, statistics : DenseGramSquared or SparseGramSquared, BlockStatistics
        Of NumPy arrays, as for the descent.
    profile_ratio, smoothing : float
        As in the descent. (paper: β̄, δ)
    candidates : boolean mask of shape (m,), optional
        Features that may be swapped in; default: all. Fewer are faster.
    features : array or CSR of shape (n, m), optional
        Needed to count the nodes left with nothing.
    redundancy, coverage : float
        Weights, 0 or more; 0 leaves the term out.
    max_swaps : int
        Stop after so many.
    """
    members = _check_members(selected, statistics.n_features)
    may_enter = _check_candidates(candidates, statistics.n_features) & (gram.diagonal() > 0)
    _check_settings(redundancy, coverage, max_swaps, features)
    unit = _loss_of_all(gram, statistics, profile_ratio, smoothing) or 1.0
    terms = _Terms(
        SetLoss(gram, statistics, members, profile_ratio=profile_ratio, smoothing=smoothing),
        Redundancy(gram, members),
        None if features is None else Coverage(features, members),
        weights=(1.0, unit * redundancy, unit * coverage),
    )
    n_pairs = max(_LEAST_PAIRS, _ENTRIES // (statistics.n_models * statistics.n_blocks**2))
    return _descend(terms, members, may_enter, n_pairs, max_swaps)


@dataclass(frozen=True, slots=True, eq=False)
class _Terms:
    """The parts of the objective; all follow each swap, those of weight 0 for the record alone."""

    loss: SetLoss
    redundancy: Redundancy
    coverage: Coverage | None
    weights: tuple[float, float, float]

    def values(self) -> FloatArray:
        """Objective, loss, redundancy, uncovered nodes. (4,)"""
        n_uncovered = 0 if self.coverage is None else self.coverage.n_uncovered
        now = self.swapped(_nothing, _nothing)[0, 0]
        return np.array([now, self.loss.value, self.redundancy.value, n_uncovered])

    def swapped(self, removed: IntArray, added: IntArray) -> FloatArray:
        """The objective with each of `removed` (x,) gone and each of `added` (y,) come. (x, y)"""
        parts = zip(self.weights, (self.loss, self.redundancy, self.coverage), strict=True)
        return sum(
            (weight * term.swapped(removed, added) for weight, term in parts if weight > 0 and term is not None),
            start=np.zeros((len(removed), len(added))),
        )

    def swap(self, removed: int, added: int) -> None:
        for term in (self.loss, self.redundancy, self.coverage):
            if term is not None:
                term.swap(removed, added)


def _descend(
    terms: _Terms, members: IntArray, may_enter: NDArray[np.bool_], n_pairs: int, max_swaps: int
) -> Refinement:
    """Swap until no pair helps. Which features are worth adding is asked anew once none of those known helps."""
    inside = np.zeros(len(may_enter), dtype=bool)
    inside[members] = True
    history = [terms.values()]
    fresh = 0  # length of the history when features to add were last looked for
    while fresh < len(history) <= max_swaps:
        fresh = len(history)
        shortlist = _best_additions(terms, np.flatnonzero(may_enter & ~inside), len(members), n_pairs)
        while len(history) <= max_swaps:
            outsiders = shortlist[~inside[shortlist]]
            pair = _best_swap(terms, np.flatnonzero(inside), outsiders, n_pairs, history[-1][0])
            if pair is None:
                break
            removed, added = pair
            terms.swap(removed, added)
            inside[removed], inside[added] = False, True
            history.append(terms.values())
    objective, loss, redundancy, n_uncovered = np.array(history).T
    return Refinement(
        selected=np.flatnonzero(inside),
        objective=objective,
        loss=loss,
        redundancy=redundancy,
        n_uncovered=None if terms.coverage is None else n_uncovered.astype(np.intp),
    )


def _best_additions(terms: _Terms, outsiders: IntArray, n_members: int, n_pairs: int) -> IntArray:
    """The features most worth adding alone, so many that they and those to remove make up `n_pairs`."""
    n_removals = min(n_members, max(1, isqrt(n_pairs // _ADDITIONS_PER_REMOVAL)))
    n_additions = n_pairs // n_removals
    if len(outsiders) <= n_additions:
        return outsiders
    order = np.argsort(terms.swapped(_nothing, outsiders)[0], kind="stable")
    return outsiders[order[:n_additions]]


def _best_swap(
    terms: _Terms, members: IntArray, outsiders: IntArray, n_pairs: int, objective: float
) -> tuple[int, int] | None:
    """The swap after which the objective is lowest, if it falls."""
    if not len(members) or not len(outsiders):
        return None
    n_removals = max(1, n_pairs // len(outsiders))
    if len(members) > n_removals:
        order = np.argsort(terms.swapped(members, _nothing)[:, 0], kind="stable")
        members = members[order[:n_removals]]
    values = terms.swapped(members, outsiders)
    out, into = np.unravel_index(np.argmin(values), values.shape)
    if objective - values[out, into] <= _ROUNDING * (1 + abs(objective)):
        return None
    return int(members[out]), int(outsiders[into])


def _loss_of_all(
    gram: DenseGramSquared | SparseGramSquared, statistics: BlockStatistics, ratio: float, smoothing: float
) -> float:
    """(1 − β̄) L_b + β̄ L_m at r = 1, the mean over the block models."""
    product = gram.apply(np.ones((1, statistics.n_features), dtype=gram.values.dtype))
    scores = np.ones_like(statistics.block_means[:, :1])  # (c, 1, m)
    losses = evaluate_losses(statistics, scores, np.broadcast_to(product, scores.shape), smoothing=smoothing)
    return float(np.mean((1 - ratio) * losses.reconstruction + ratio * losses.profile))


def _check_members(selected: ArrayLike, n_features: int) -> IntArray:
    members = np.asarray(selected)
    if members.ndim != 1 or len(members) == 0 or members.dtype.kind not in "iu":
        raise ValueError(
            f"selected has shape {members.shape} and type {members.dtype}; expected a list of indices of features "
            "(np.flatnonzero(mask) for a mask)."
        )
    if members.min() < 0 or members.max() >= n_features:
        raise ValueError(
            f"selected goes from {members.min()} to {members.max()} but there are {n_features} features; "
            f"name features from 0 to {n_features - 1}."
        )
    if len(np.unique(members)) < len(members):
        raise ValueError(f"selected names {len(members) - len(np.unique(members))} feature(s) twice; name each once.")
    return members.astype(np.intp)


def _check_candidates(candidates: ArrayLike | None, n_features: int) -> NDArray[np.bool_]:
    if candidates is None:
        return np.ones(n_features, dtype=bool)
    mask = np.asarray(candidates)
    if mask.shape != (n_features,) or mask.dtype != bool:
        raise ValueError(
            f"candidates has shape {mask.shape} and type {mask.dtype}; expected a boolean mask of the {n_features} "
            "features, True where a feature may be swapped in."
        )
    return mask


def _check_settings(redundancy: float, coverage: float, max_swaps: int, features: Features | None) -> None:
    for name, value in {"redundancy": redundancy, "coverage": coverage, "max_swaps": max_swaps}.items():
        if not (0 <= value < np.inf):
            raise ValueError(f"{name} is {value}; expected a finite number, 0 or more.")
    if coverage > 0 and features is None:
        raise ValueError(f"coverage is {coverage} but features is missing; pass features, or coverage=0.")
