"""selection_stability: the probability that each feature would be selected again on a resampled graph.

With 5 to 10 resamples, selection frequencies are coarse. We therefore average them with a parametric estimate from the
margins of the log scores; the weight maximises the leave-one-out likelihood. Both are empirical Bayes estimates: their
priors are estimated from all features, so a feature just above the threshold is shrunk towards the many features below
it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special
from sklearn.utils.validation import check_is_fitted

from blockselect.base import ScoreSelector
from blockselect.graphs.links import resample_links
from blockselect.inputs.adjacency import graph_of
from blockselect.inputs.attributed import AttributedGraph
from blockselect.result import Result
from blockselect.utils.arrays import BoolArray, FloatArray, IntArray
from blockselect.utils.errors import ParameterError, memory_for
from blockselect.utils.parameters import check_whole, generator_from
from blockselect.utils.progress import Progress, follow

MIN_RESAMPLES = 3  # a spread cannot be estimated from fewer
_BOUND = 5.0  # largest margin: a feature whose score is e⁵ times the threshold is certain to be selected
_N_LOCATIONS = 101  # points of the grid of the prior
_N_ROUNDS = 10  # EM iterations: few, so that the estimated prior stays smooth
_NEAR_TIMES, _NEAR_BESIDES = 3, 200  # features considered: three times the number of selected features, plus 200
_MOST_FREEDOM = 1e3  # prior degrees of freedom if all spreads look the same
_SMALLEST_SPREAD = 1e-9
_SHARES = np.linspace(0, 1, 5)  # possible weights of the margins in the mixture
_LEAST_DOUBT = 0.002  # forecasts stay this far from 0 and 1, so that no single surprise decides the mixture


def selection_stability(
    selector: ScoreSelector,
    X: Any,
    *,
    adjacency: Any = None,
    n_resamples: int = 8,
    random_state: Any = None,
    verbose: int = 0,
    progress: Progress | None = None,
) -> FloatArray:
    """Estimate the probability that each feature is selected again on a resampled graph.

    The links are resampled with replacement (Poisson bootstrap), and the features are scored again on each graph. High
    stability means that a feature would be selected again, not that it is related to the graph;
    :func:`blockselect.discover_features` tests the latter.

    Parameters
    ----------
    selector : fitted selector
        Any selector that uses a graph. :class:`blockselect.BlockModelSelector` refines one of its consensus models on
        each graph and ranks the features again; on every fourth graph it finds new blocks. Other selectors are fitted
        again to each graph.
    X : array, sparse matrix or DataFrame of shape (n, m)
        The features of the fit.
    adjacency : array or sparse matrix of shape (n, n), edge table, or None
        The graph of the fit, in any form that `fit` accepts.
    n_resamples : int, default=8
        Number of resampled graphs, at least 3; 5 to 10 are enough. On large networks
        :class:`blockselect.BlockModelSelector` uses fewer; ``selector.effort_.n_resamples(8)`` returns how many.
    random_state : int, RandomState or None, default=None
        Seed of the resampling. If None, the seed of the selector is used.
    verbose : int, default=0
        0 shows nothing. 1 shows the progress in one line, if stderr is a terminal or a notebook.
    progress : callable, optional
        Called as ``progress(stage, done, total)`` while graphs are resampled.

    Returns
    -------
    array of shape (m,)
        Values from 0 to 1; 0.9 means selected in 9 of 10 fits. Features that cannot be selected, such as
        constant ones, have 0.

    Examples
    --------
    >>> from blockselect import BlockModelSelector, make_attributed_blocks, selection_stability
    >>> planted = make_attributed_blocks(200, 3, random_state=0)
    >>> selector = BlockModelSelector(10, n_candidates=6, random_state=0)
    >>> selector.fit(planted.features, adjacency=planted.adjacency).n_features_
    10
    >>> selection_stability(selector, planted.features, adjacency=planted.adjacency, n_resamples=3).shape
    (100,)
    """
    if not isinstance(selector, ScoreSelector):
        raise ParameterError(
            "selector", f"is of type {type(selector).__name__}; expected a fitted selector of blockselect."
        )
    check_is_fitted(selector)
    check_whole("n_resamples", n_resamples, MIN_RESAMPLES)
    if getattr(selector, "graph_source_", None) == "adjacency" and graph_of(X, adjacency) is None:
        raise ParameterError("adjacency", "is missing; pass the graph of the fit together with X: adjacency=graph.")
    with memory_for("resample the graph"), follow("selection_stability", verbose, progress) as progress:
        graph = selector._read_network(X, None, adjacency)
        _check_same(graph, selector._fit_result)
        seed = getattr(selector, "random_state", None) if random_state is None else random_state
        # A separate stream: the stream of the fit would draw the same numbers again.
        stream = np.random.default_rng([int(generator_from(seed).integers(2**31)), 1])
        rngs = stream.spawn(selector._n_resamples(n_resamples))
        adjacencies = [resample_links(graph.adjacency, rng) for rng in rngs]
        scores = selector._inverse_ranks_on(graph, adjacencies, rngs, progress)
        return reselection_chance(scores, max(selector.n_features_, 1))


def _check_same(graph: AttributedGraph, fitted_to: Result) -> None:
    """Raise an error if nodes or features differ visibly from those of the fit."""

    def differ(given: Any, known: Any) -> bool:
        return given is not None and known is not None and not np.array_equal(given, known)

    if graph.n_features != fitted_to.n_features:
        difference = f"{graph.n_features} features but the selector was fitted to {fitted_to.n_features}"
    elif differ(graph.feature_names, fitted_to.feature_names):
        difference = "other columns, or another column order, than in the fit"
    elif graph.n_nodes != fitted_to.n_nodes:
        difference = f"{graph.n_nodes} rows but the selector was fitted to {fitted_to.n_nodes} nodes"
    elif differ(graph.node_ids, fitted_to.node_ids):
        difference = "other row names, or another row order, than in the fit"
    else:
        return
    raise ValueError(f"X has {difference}; pass the data that was passed to `fit`.")


def reselection_chance(resampled_scores: FloatArray, n_selected: int) -> FloatArray:
    """Estimate the probability that each feature is selected on one more resampled graph (0.9: in 9 of 10 fits).

    The estimate is a mixture of two. The first uses counts: how often the feature was selected, shrunk towards the
    distribution over all features. The second uses margins, the logarithm of the score relative to the selection
    threshold: the predictive probability of a margin above zero (Student's t with a shrunken spread), times the
    probability of a score above zero. The EM algorithm estimates the distributions over all features. The weight of the
    mixture maximises the likelihood of left-out resamples.

    Parameters
    ----------
    resampled_scores : array of shape (B, m)
        Finite scores of the features on B ≥ 3 resampled graphs, such as 1 / rank; 0 if a feature could not be selected.
        5 to 10 resamples are enough.
    n_selected : int
        Number of features that each fit selects, 1 to m, or fewer if fewer scores are positive (paper: d).

    Returns
    -------
    array of shape (m,)
        Values from 0 to 1; exactly 0 for features that never score above zero, or never come close to selection.
    """
    scores = resampled_scores
    seen = (scores > 0).any(axis=0) & _near_the_cut(scores, n_selected)
    stability = np.zeros(scores.shape[1])
    if seen.any():
        kept = scores[:, seen]
        n_best = min(n_selected, kept.shape[1])
        share = _share_of_margins(kept, n_best)
        stability[seen] = share * _by_margins(kept, n_best) + (1 - share) * _by_counts(kept, n_best)
    return stability


def n_to_rank(n_selected: int) -> int:
    """Number of features to rank on each resample; the others are too far from being selected."""
    return _NEAR_TIMES * n_selected + _NEAR_BESIDES


def _near_the_cut(scores: FloatArray, n_selected: int) -> BoolArray:
    """Whether at least one resample ranks the feature among the `n_to_rank` best: (m,)."""
    n_near = n_to_rank(n_selected)
    if n_near >= scores.shape[1]:
        return np.ones(scores.shape[1], dtype=bool)
    near = np.argpartition(-scores, n_near, axis=1)[:, :n_near]
    return np.isin(np.arange(scores.shape[1]), near)


def _share_of_margins(scores: FloatArray, n_selected: int) -> float:
    """The weight of the margins with which each resample is best predicted by the others."""
    selected = _selected(scores, n_selected)
    likelihood = np.zeros(len(_SHARES))
    for left_out in range(len(scores)):
        others = np.delete(scores, left_out, axis=0)
        by_margins, by_counts = _by_margins(others, n_selected), _by_counts(others, n_selected)
        forecasts = by_counts + _SHARES[:, None] * (by_margins - by_counts)
        forecasts = np.clip(forecasts, _LEAST_DOUBT, 1 - _LEAST_DOUBT)
        likelihood += np.log(np.where(selected[left_out], forecasts, 1 - forecasts)).sum(axis=1)
    return float(_SHARES[np.argmax(likelihood)])


def _selected(scores: FloatArray, n_selected: int) -> BoolArray:
    """Which features each resample selects: (B, m). Equal scores are ordered by index; scores of zero are left out."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :n_selected]
    selected = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(selected, best, True, axis=1)
    return selected & (scores > 0)


def _by_counts(scores: FloatArray, n_selected: int) -> FloatArray:
    """Estimate from how often each feature was selected."""
    return _chance_of_event(_selected(scores, n_selected).sum(axis=0), len(scores))


def _by_margins(scores: FloatArray, n_selected: int) -> FloatArray:
    """Estimate from the margins, with log odds shifted so that the probabilities sum to the mean number selected."""
    counts, means, squares = _margins(scores, n_selected)
    chance = _chance_of_event(counts, len(scores)) * _chance_above_threshold(counts, means, squares)
    return _add_up_to(chance, float(_selected(scores, n_selected).sum(axis=1).mean()))


def _margins(scores: FloatArray, n_selected: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Number, mean and sum of squared deviations of the margins of each feature, for positive scores: (m,) each."""
    positive = scores > 0
    logs = np.log(scores, where=positive, out=np.full(scores.shape, -np.inf))
    margins = np.clip(logs - _log_threshold(logs, n_selected)[:, None], -_BOUND, _BOUND, where=positive, out=0 * scores)
    counts = positive.sum(axis=0).astype(np.float64)
    means = margins.sum(axis=0) / np.maximum(counts, 1)
    squares = np.square(margins - means).sum(axis=0, where=positive)
    return counts, means, squares


def _log_threshold(logs: FloatArray, n_selected: int) -> FloatArray:
    """Midpoint of the last selected and the next log score (B,); far below all scores if no other score is positive."""
    from_best = -np.sort(-logs, axis=1)
    last = from_best[:, n_selected - 1]
    next_best = from_best[:, n_selected] if n_selected < logs.shape[1] else np.full(len(logs), -np.inf)
    scarce = np.isinf(next_best)
    lowest = np.min(logs, axis=1, where=np.isfinite(logs), initial=np.inf)
    halfway = np.where(scarce, 0, last) / 2 + np.where(scarce, 0, next_best) / 2
    return np.where(scarce, lowest - _BOUND, halfway)


def _chance_of_event(counts: FloatArray | IntArray, n_resamples: int) -> FloatArray:
    """Probability of an event that occurred in `counts` resamples, shrunk towards the probabilities of all features."""
    chances = np.linspace(0, 1, _N_LOCATIONS)
    others = n_resamples - counts[:, None]
    likelihood = np.exp(special.xlogy(counts[:, None], chances) + special.xlog1py(others, -chances))
    return np.asarray(_posterior(likelihood, np.full(_N_LOCATIONS, 1 / _N_LOCATIONS)) @ chances)


def _chance_above_threshold(counts: FloatArray, means: FloatArray, squares: FloatArray) -> FloatArray:
    """Probability that a new margin is above zero; the arguments are those of `_margins`."""
    variances, freedom = _shrunken_variances(counts, squares)
    locations, widths = _grid(float(np.sqrt(np.median(variances))))
    rounding = np.square(widths) / 12  # variance within a cell of the grid
    # A feature that never scored above zero has an almost flat likelihood: its location is unknown.
    errors = np.sqrt((variances / np.maximum(counts, 1e-6))[:, None] + rounding)
    power = (freedom[:, None] + 1) / 2
    likelihood = -power * np.log1p(np.square((means[:, None] - locations) / errors) / freedom[:, None])
    likelihood -= np.log(errors)
    likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    posterior = _posterior(likelihood, widths / widths.sum())
    above = special.stdtr(freedom[:, None] + 1, locations / np.sqrt(variances[:, None] + rounding))
    return np.asarray((posterior * above).sum(axis=1))


def _posterior(likelihood: FloatArray, weights: FloatArray) -> FloatArray:
    """Posterior of each feature over g locations, with a prior estimated from all features by EM: (m, g)."""
    for _ in range(_N_ROUNDS):
        posterior = likelihood * weights
        posterior /= posterior.sum(axis=1, keepdims=True)
        weights = posterior.mean(axis=0)
    return posterior


def _grid(spread: float) -> tuple[FloatArray, FloatArray]:
    """Locations of margins and the widths of their cells, (g,) each: a grid that is finer near zero."""
    edges = spread * np.sinh(np.linspace(-1, 1, _N_LOCATIONS + 1) * np.arcsinh(_BOUND / spread))
    return (edges[1:] + edges[:-1]) / 2, np.diff(edges)


def _shrunken_variances(counts: FloatArray, squares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Posterior variances and degrees of freedom; the inverse χ² prior is fitted to moments of the log variances."""
    freedom = np.maximum(counts - 1, 0)
    usable = (freedom >= 2) & (squares > 0)
    if np.count_nonzero(usable) < 3:
        prior_freedom = _MOST_FREEDOM
        prior = squares.sum() / max(freedom.sum(), 1)
    else:
        half = freedom[usable] / 2
        logs = np.log(squares[usable] / 2) - special.digamma(half)
        prior_freedom = 2 * _inverse_trigamma(logs.var(ddof=1) - special.polygamma(1, half).mean())
        prior = np.exp(logs.mean() + special.digamma(prior_freedom / 2)) * 2 / prior_freedom
    variances = (prior_freedom * prior + squares) / (prior_freedom + freedom)
    return np.maximum(variances, _SMALLEST_SPREAD**2), prior_freedom + freedom


def _inverse_trigamma(value: float) -> float:
    """Solve ψ′(x) = value by Newton's method on the convex 1/ψ′; the result is bounded for a value near zero."""
    if value <= special.polygamma(1, _MOST_FREEDOM / 2):
        return _MOST_FREEDOM / 2
    x = 0.5 + 1 / value
    for _ in range(20):
        slope = special.polygamma(1, x)
        x += slope * (1 - slope / value) / special.polygamma(2, x)
    return float(x)


def _add_up_to(chance: FloatArray, total: float) -> FloatArray:
    """Shift all log odds by the same amount, found by bisection, so that the probabilities add up to `total`."""
    odds = special.logit(np.clip(chance, 1e-12, 1 - 1e-12))
    low, high = -60.0, 60.0
    for _ in range(60):
        shift = (low + high) / 2
        low, high = (shift, high) if special.expit(odds + shift).sum() < total else (low, shift)
    return np.asarray(special.expit(odds + shift))
