"""Reselection: the chance that a feature is selected again on a resampled graph, from the scores of a few such graphs.

With 5 to 10 resamples selection frequencies are coarse; we average them with a parametric estimate from log-score
margins, weighted by leave-one-out likelihood. All features together estimate what so few resamples cannot say of one:
how spreads differ, and where features lie, so that one seen just above the threshold among many below it is shrunk
towards them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from blockselect.arrays import FloatArray, IntArray
from blockselect.parameters import as_numbers, check_entries

MIN_RESAMPLES = 3  # fewer give no spread
_BOUND = 5.0  # of a margin: e⁵ times the threshold is as sure as it gets
_N_LOCATIONS = 101
_N_ROUNDS = 10  # of expectation and maximisation: few, so that the locations found stay a smooth curve
_NEAR_TIMES, _NEAR_BESIDES = 3, 200  # features looked at: so many times those selected, and so many besides
_SURE_ENOUGH = 1e3  # degrees of freedom of spreads that look all the same
_SMALLEST_SPREAD = 1e-9
_SHARES = np.linspace(0, 1, 5)  # of the margins in the mixture of both estimates
_NEVER_SURER = 0.002  # than this a forecast counts as, so that a single surprise does not decide the mixture


@dataclass(frozen=True, slots=True, eq=False)
class _Margins:
    """Of m features over those of the B resamples where they score above zero."""

    counts: FloatArray  # (m,) number of such resamples
    means: FloatArray  # (m,)
    squares: FloatArray  # (m,) sum of squared deviations from the mean


def reselection_chance(resampled_scores: FloatArray, n_selected: int) -> FloatArray:
    """Chance that each feature is among the best on one more resampled graph; 0.9: selected in 9 of 10 fits.

    A mixture of two estimates. By counts: how often the feature was selected, shrunken towards where features lie. By
    margins, the log of its score over the threshold of selection: the predictive chance of one above zero, Student's t
    with a spread shrunken towards that of all features, about the locations where features lie, times the chance of a
    score above zero. Where features lie comes from all of them, by expectation and maximisation. The mixture is that
    under which resamples left out are most likely.

    Parameters
    ----------
    resampled_scores : array of shape (B, m)
        Scores ≥ 0 of the same features on B ≥ 3 resampled graphs; 5 to 10 do.
    n_selected : int
        Features that each fit selects, 1 to m. Where fewer score above zero, it selects those. (paper: d)

    Returns
    -------
    array of shape (m,)
        From 0 to 1; exactly 0 for features that never score above zero, or never come near the cut.
    """
    scores = _check_scores(resampled_scores, n_selected)
    seen = (scores > 0).any(axis=0) & _near_the_cut(scores, n_selected)
    stability = np.zeros(scores.shape[1])
    if seen.any():
        kept = scores[:, seen]
        n_best = min(n_selected, kept.shape[1])
        share = _share_of_margins(kept, n_best)
        stability[seen] = share * _by_margins(kept, n_best) + (1 - share) * _by_counts(kept, n_best)
    return stability


def _check_scores(resampled_scores: FloatArray, n_selected: int) -> FloatArray:
    scores = as_numbers("resampled_scores", resampled_scores)
    if scores.ndim != 2 or scores.shape[0] < MIN_RESAMPLES:
        raise ValueError(f"resampled_scores has shape {scores.shape}; expected (B, m), a row for each of B ≥ 3 graphs.")
    check_entries(
        "resampled_scores",
        scores,
        np.isfinite(scores) & (scores >= 0),
        "is negative or not finite; give undefined scores as 0",
    )
    if not 1 <= n_selected <= scores.shape[1]:
        raise ValueError(
            f"n_selected is {n_selected} but there are {scores.shape[1]} features; choose 1 to {scores.shape[1]}."
        )
    return scores


def n_looked_at(n_selected: int) -> int:
    """How many of the best features a resample is asked for: the others do not come near being selected."""
    return _NEAR_TIMES * n_selected + _NEAR_BESIDES


def _near_the_cut(scores: FloatArray, n_selected: int) -> NDArray[np.bool_]:
    """Features that some resample ranks among so many that the others need not be looked at: (m,)."""
    n_near = n_looked_at(n_selected)
    if n_near >= scores.shape[1]:
        return np.ones(scores.shape[1], dtype=bool)
    near = np.argpartition(-scores, n_near, axis=1)[:, :n_near]
    return np.isin(np.arange(scores.shape[1]), near)


def _share_of_margins(scores: FloatArray, n_selected: int) -> float:
    """The mixture that foretells best what each resample selects from the others."""
    selected = _selected(scores, n_selected)
    likelihood = np.zeros(len(_SHARES))
    for left_out in range(len(scores)):
        others = np.delete(scores, left_out, axis=0)
        by_margins, by_counts = _by_margins(others, n_selected), _by_counts(others, n_selected)
        forecasts = by_counts + _SHARES[:, None] * (by_margins - by_counts)
        forecasts = np.clip(forecasts, _NEVER_SURER, 1 - _NEVER_SURER)
        likelihood += np.log(np.where(selected[left_out], forecasts, 1 - forecasts)).sum(axis=1)
    return float(_SHARES[np.argmax(likelihood)])


def _selected(scores: FloatArray, n_selected: int) -> NDArray[np.bool_]:
    """What each resample selects (B, m): of equal scores the first, never a score of zero."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :n_selected]
    selected = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(selected, best, True, axis=1)
    return selected & (scores > 0)


def _by_counts(scores: FloatArray, n_selected: int) -> FloatArray:
    return _chance_of_event(_selected(scores, n_selected).sum(axis=0), len(scores))


def _by_margins(scores: FloatArray, n_selected: int) -> FloatArray:
    """The log odds are shifted alike at last, so that chances add up to the number of features selected."""
    margins = _margins(scores, n_selected)
    chance = _chance_of_event(margins.counts, len(scores)) * _chance_above_threshold(margins)
    return _add_up_to(chance, float(_selected(scores, n_selected).sum(axis=1).mean()))


def _margins(scores: FloatArray, n_selected: int) -> _Margins:
    positive = scores > 0
    logs = np.log(scores, where=positive, out=np.full(scores.shape, -np.inf))
    margins = np.clip(logs - _log_threshold(logs, n_selected)[:, None], -_BOUND, _BOUND, where=positive, out=0 * scores)
    counts = positive.sum(axis=0).astype(np.float64)
    means = margins.sum(axis=0) / np.maximum(counts, 1)
    squares = np.square(margins - means).sum(axis=0, where=positive)
    return _Margins(counts, means, squares)


def _log_threshold(logs: FloatArray, n_selected: int) -> FloatArray:
    """Midway between the last score selected and the first left out; far below all where none above zero is."""
    from_best = -np.sort(-logs, axis=1)
    last = from_best[:, n_selected - 1]
    next_best = from_best[:, n_selected] if n_selected < logs.shape[1] else np.full(len(logs), -np.inf)
    scarce = np.isinf(next_best)
    lowest = np.min(logs, axis=1, where=np.isfinite(logs), initial=np.inf)
    halfway = np.where(scarce, 0, last) / 2 + np.where(scarce, 0, next_best) / 2
    return np.where(scarce, lowest - _BOUND, halfway)


def _chance_of_event(counts: FloatArray | IntArray, n_resamples: int) -> FloatArray:
    """Chance of what happened to each feature in so many of the resamples, shrunken towards where features lie."""
    chances = np.linspace(0, 1, _N_LOCATIONS)
    others = n_resamples - counts[:, None]
    likelihood = np.exp(special.xlogy(counts[:, None], chances) + special.xlog1py(others, -chances))
    return np.asarray(_posterior(likelihood, np.full(_N_LOCATIONS, 1 / _N_LOCATIONS)) @ chances)


def _chance_above_threshold(margins: _Margins) -> FloatArray:
    """Chance that a new margin is above zero."""
    variances, freedom = _shrunken_variances(margins)
    locations, widths = _grid(float(np.sqrt(np.median(variances))))
    rounding = np.square(widths) / 12  # variance within a cell of the grid
    # A feature that never scored above zero may lie anywhere: its likelihood is next to flat.
    errors = np.sqrt((variances / np.maximum(margins.counts, 1e-6))[:, None] + rounding)
    power = (freedom[:, None] + 1) / 2
    likelihood = -power * np.log1p(np.square((margins.means[:, None] - locations) / errors) / freedom[:, None])
    likelihood -= np.log(errors)
    likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    posterior = _posterior(likelihood, widths / widths.sum())
    above = special.stdtr(freedom[:, None] + 1, locations / np.sqrt(variances[:, None] + rounding))
    return np.asarray((posterior * above).sum(axis=1))


def _posterior(likelihood: FloatArray, weights: FloatArray) -> FloatArray:
    """Where each feature lies (m, g), given the likelihood of each of g places; all features say how common it is."""
    for _ in range(_N_ROUNDS):
        posterior = likelihood * weights
        posterior /= posterior.sum(axis=1, keepdims=True)
        weights = posterior.mean(axis=0)
    return posterior


def _grid(spread: float) -> tuple[FloatArray, FloatArray]:
    """Locations (g,) of margins and the widths of their cells: fine near zero, where a spread decides, coarse afar."""
    edges = spread * np.sinh(np.linspace(-1, 1, _N_LOCATIONS + 1) * np.arcsinh(_BOUND / spread))
    return (edges[1:] + edges[:-1]) / 2, np.diff(edges)


def _shrunken_variances(margins: _Margins) -> tuple[FloatArray, FloatArray]:
    """Variances and their degrees of freedom, under a scaled inverse χ² prior that fits the moments of their logs."""
    freedom = np.maximum(margins.counts - 1, 0)
    usable = (freedom >= 2) & (margins.squares > 0)
    if np.count_nonzero(usable) < 3:
        prior_freedom = _SURE_ENOUGH
        prior = margins.squares.sum() / max(freedom.sum(), 1)
    else:
        half = freedom[usable] / 2
        logs = np.log(margins.squares[usable] / 2) - special.digamma(half)
        prior_freedom = 2 * _inverse_trigamma(logs.var(ddof=1) - special.polygamma(1, half).mean())
        prior = np.exp(logs.mean() + special.digamma(prior_freedom / 2)) * 2 / prior_freedom
    variances = (prior_freedom * prior + margins.squares) / (prior_freedom + freedom)
    return np.maximum(variances, _SMALLEST_SPREAD**2), prior_freedom + freedom


def _inverse_trigamma(value: float) -> float:
    """x with ψ′(x) = value, by Newton's method on 1/ψ′, which is convex; bounded where value is next to none."""
    if value <= special.polygamma(1, _SURE_ENOUGH / 2):
        return _SURE_ENOUGH / 2
    x = 0.5 + 1 / value
    for _ in range(20):
        slope = special.polygamma(1, x)
        x += slope * (1 - slope / value) / special.polygamma(2, x)
    return float(x)


def _add_up_to(chance: FloatArray, total: float) -> FloatArray:
    """Shift the log odds alike until the chances add up to `total`; the shift is found by bisection."""
    odds = special.logit(np.clip(chance, 1e-12, 1 - 1e-12))
    low, high = -60.0, 60.0
    for _ in range(60):
        shift = (low + high) / 2
        low, high = (shift, high) if special.expit(odds + shift).sum() < total else (low, shift)
    return np.asarray(special.expit(odds + shift))
