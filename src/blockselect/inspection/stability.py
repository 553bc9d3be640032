"""selection_stability: the probability that each feature is selected again on a resampled graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from blockselect.base import ScoreSelector
from blockselect.graphs.links import resample_links
from blockselect.inputs.adjacency import graph_of
from blockselect.inputs.attributed import AttributedGraph
from blockselect.inspection.reselection import MIN_RESAMPLES, reselection_chance
from blockselect.result import Result
from blockselect.utils.arrays import FloatArray
from blockselect.utils.errors import ParameterError, memory_for
from blockselect.utils.parameters import check_whole, generator_from
from blockselect.utils.progress import Progress, follow


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

    The links are resampled with replacement (Poisson bootstrap), and the features are scored again on each graph. A
    high stability means that a feature would be selected again, not that it is related to the graph;
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
        Seed of the resampling; None uses the seed of the selector.
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
    with memory_for("resample the graph"), follow("selection_stability", verbose, progress) as report:
        graph = selector._read_network(X, None, adjacency)
        _check_same(graph, selector._found)
        seed = getattr(selector, "random_state", None) if random_state is None else random_state
        # A separate stream: the stream of the fit would draw the same numbers again.
        stream = np.random.default_rng([int(generator_from(seed).integers(2**31)), 1])
        rngs = stream.spawn(selector._n_resamples(n_resamples))
        adjacencies = [resample_links(graph.adjacency, rng) for rng in rngs]
        scores = selector._scores_on(graph, adjacencies, rngs, report)
        return reselection_chance(scores, max(selector.n_features_, 1))


def _check_same(graph: AttributedGraph, fitted_to: Result) -> None:
    """Raise an error if nodes or features differ visibly from those of the fit."""

    def differ(given: Any, known: Any) -> bool:
        return given is not None and known is not None and not np.array_equal(given, known)

    if graph.n_features != fitted_to.n_features:
        difference = f"{graph.n_features} features but the selector was fitted to {fitted_to.n_features}"
    elif differ(graph.feature_names, fitted_to.feature_names):
        difference = "other column names than the fit, or a different order"
    elif graph.n_nodes != fitted_to.n_nodes:
        difference = f"{graph.n_nodes} rows but the selector was fitted to {fitted_to.n_nodes} nodes"
    elif differ(graph.node_ids, fitted_to.node_ids):
        difference = "other row names than the fit, or a different order"
    else:
        return
    raise ValueError(f"X has {difference}; pass the data of the fit.")
