"""Comparison of methods: each ranks the features of a network once, and a protocol evaluates the best ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, Literal

import numpy as np

from blockselect.blockmodels.n_blocks import count_blocks
from blockselect.bmgufs.estimator import BMGUFS
from blockselect.evaluation.classification import Classification
from blockselect.evaluation.clustering import Clustering
from blockselect.evaluation.comparison_result import ALL_FEATURES, Comparison, ComparisonRow, Figure, agreement
from blockselect.evaluation.explained_links import ExplainedLinks
from blockselect.evaluation.link_prediction import LinkPrediction
from blockselect.evaluation.protocol import Scores, SelectionProtocol, encode_classes
from blockselect.inputs.attributed import AttributedGraph, check_attributed_graph
from blockselect.registry import SELECTORS, make_selector
from blockselect.rows.sums import in_memory
from blockselect.utils.arrays import IntArray
from blockselect.utils.errors import ParameterError, collected_warnings
from blockselect.utils.parameters import check_known, check_n_jobs, check_seed, check_whole, look_up
from blockselect.utils.progress import Progress, StepProgress, follow
from blockselect.utils.wording import feature_labels

DEFAULT_METHODS = ("block-model", "morans-i", "hotspot", "variance")
DEFAULT_NUMBERS = (16, 64)
PROTOCOLS: dict[str, type[SelectionProtocol]] = {
    "clustering": Clustering,
    "classification": Classification,
    "links": LinkPrediction,
    "structure": ExplainedLinks,
}
"""All protocols by name."""
NO_SCORE = "no feature has a score; none can be selected."


def compare_methods(
    X: Any,
    *,
    adjacency: Any = None,
    methods: Sequence[str] | Literal["all"] = DEFAULT_METHODS,
    n_features: int | Sequence[int] | None = None,
    classes: Any = None,
    protocol: str | None = None,
    n_blocks: int | None = None,
    n_runs: int = 20,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    verbose: int = 0,
) -> Comparison:
    """Compare methods with each other and with all features on your own network, by default without labels.

    Each method selects features. A protocol then measures how useful the selected features are: by default, how well
    clusters of the nodes, found from the selected features, predict the links. A method that fails becomes a row with
    its error, and the other methods continue.

    Parameters
    ----------
    X : features of shape (n, m), or AttributedGraph
        One row per node, in any form that selectors accept.
    adjacency : graph
        In any form that selectors accept; leave it out if `X` is an AttributedGraph.
    methods : sequence of str or "all"
        Names in :data:`blockselect.SELECTORS`. By default, `BlockModelSelector` and three fast methods.
    n_features : int or sequence of int, optional
        Numbers of features to select. Each method ranks the features once, for the largest number requested. By
        default 16 and 64, or half of the features if there are no more than 16. (paper: d)
    classes : array or Series of shape (n,), optional
        Known classes. No method reads them; only the protocols "clustering" and "classification" do.
    protocol : {"structure", "links", "clustering", "classification"}, optional
        How a selection is evaluated: how well K-means clusters predict the links; how well the selected features
        predict held-out links; how well K-means clusters match known classes, as in the paper; or how well classes are
        predicted from a few labelled nodes. By default "structure", or "clustering" if `classes` are passed.
    n_blocks : int, optional
        Number of blocks or clusters, for methods that use them. By default the number of classes if the protocol uses
        classes; otherwise each method's own default, or, for BMGUFS, which has none, the number of blocks that the
        graph supports. (paper: k)
    n_runs : int, default=20
        Number of runs of the protocol, with the seeds 0, 1, ….
    random_state : int, default=0
        Seed of the methods and of the choice of held-out links.
    n_jobs : int, optional
        Number of processes that share the runs. Methods rank one after another, so that their times are comparable.
    progress : callable, optional
        Called as ``progress(method, done, total)``.
    verbose : int, default=0
        0 shows nothing. 1 shows the progress in one line, if stderr is a terminal or a notebook.

    Examples
    --------
    >>> from blockselect import compare_methods, make_attributed_blocks
    >>> made = make_attributed_blocks(120, 3, random_state=0)
    >>> compared = compare_methods(
    ...     made.features, adjacency=made.adjacency, methods=["morans-i", "variance"], n_features=10, n_runs=2
    ... )
    >>> compared.table()[["method", "n_features", "n_selected"]].values.tolist()
    [['all-features', 100, 100], ['morans-i', 10, 10], ['variance', 10, 10]]
    """
    if protocol is None:
        protocol = "structure" if classes is None else "clustering"
    kind = look_up(protocol, PROTOCOLS, what="protocol")
    graph = _check_network(X, adjacency, classes)
    methods = _check_methods(methods)
    numbers = _check_numbers(n_features, graph.n_features)
    check_seed("random_state", random_state)
    check_n_jobs(n_jobs)
    if n_blocks is not None:
        check_whole("n_blocks", n_blocks, 1, graph.n_nodes)
    judge = kind(graph, n_runs=n_runs, seed=random_state, n_jobs=n_jobs)
    if n_blocks is None and judge.needs_classes:
        n_blocks = len(np.unique(judge.classes))
    names = feature_labels(graph.feature_names, graph.n_features)
    comparison = Comparison(judge.titles, judge.describe(), n_blocks, names)
    with follow("compare_methods", verbose, progress) as progress:
        progress(ALL_FEATURES, 0, 1)
        every = judge.evaluate(np.arange(graph.n_features))
        comparison.rows.append(_scored_row(ALL_FEATURES, graph.n_features, every, graph.n_nodes))
        progress(ALL_FEATURES, 1, 1)
        for method in methods:
            _add_method(comparison, method, numbers, judge, random_state, partial(progress, method))
    comparison.rows = [
        replace(row, agreement=agreement(row.method, row.n_features, comparison.selections)) for row in comparison.rows
    ]
    return comparison


def _add_method(
    comparison: Comparison,
    method: str,
    numbers: Sequence[int],
    judge: SelectionProtocol,
    seed: int,
    progress: StepProgress,
) -> None:
    """Rank by one method, evaluate each number of features, and add the rows to the comparison."""
    steps = 1 + len(numbers)
    progress(0, steps)
    start = perf_counter()
    try:
        ranked, warnings = rank_by_method(method, judge.seen, numbers[-1], comparison.n_blocks, seed)
    except Exception as error:  # after any error, the other methods continue
        is_for_users = isinstance(error, ValueError) and str(error)
        message = str(error) if is_for_users else f"{type(error).__name__}: {error}"
        comparison.rows += [ComparisonRow(method, number, error=message) for number in numbers]
    else:
        seconds = perf_counter() - start
        comparison.warnings[method] = warnings
        for done, number in enumerate(numbers, start=1):
            progress(done, steps)
            columns = comparison.selections[method, number] = ranked[:number]
            if len(columns):
                row = _scored_row(method, number, judge.evaluate(np.sort(columns)), judge.seen.n_nodes, seconds)
            else:
                row = ComparisonRow(method, number, 0, seconds=seconds, error=NO_SCORE)
            comparison.rows.append(row)
    progress(steps, steps)


def _scored_row(
    method: str, n_features: int, scores: Scores, n_nodes: int, seconds: float | None = None
) -> ComparisonRow:
    return ComparisonRow(
        method,
        n_features,
        n_selected=scores.n_features,
        figures={name: Figure(float(runs.mean()), float(runs.std())) for name, runs in scores.measures.items()},
        coverage=1 - scores.n_zero_rows / n_nodes,
        seconds=seconds,
    )


def _check_network(X: Any, adjacency: Any, classes: Any) -> AttributedGraph:
    """The network with its classes, checked once."""
    is_graph = isinstance(X, AttributedGraph)
    if is_graph and adjacency is not None:
        raise ParameterError(
            "adjacency", "is given, but X is an AttributedGraph, which has its own adjacency; leave it out."
        )
    graph = X if is_graph else check_attributed_graph(X, adjacency)
    if not in_memory(graph.features):
        raise ParameterError("X", "is RowChunks, but a comparison needs the features in memory; pass one matrix.")
    return graph if classes is None else replace(graph, classes=encode_classes(classes, graph.node_ids, graph.n_nodes))


def _check_methods(methods: Any) -> list[str]:
    """The names of the methods, without duplicates."""
    if isinstance(methods, str):
        if methods != "all":
            raise ParameterError("methods", f"is {methods!r}; expected 'all' or a list of names: [{methods!r}].")
        return list(SELECTORS)
    check_known(methods, SELECTORS, what="method")
    return list(dict.fromkeys(methods))


def _check_numbers(numbers: Any, n_features: int) -> list[int]:
    """The numbers of features to select, in increasing order."""
    if numbers is None:
        return [number for number in DEFAULT_NUMBERS if number < n_features] or [(n_features + 1) // 2]
    is_list = isinstance(numbers, Sequence | np.ndarray) and not isinstance(numbers, str) and len(numbers)
    return sorted({check_whole("n_features", number, 1, n_features) for number in (numbers if is_list else [numbers])})


def rank_by_method(
    method: str, graph: AttributedGraph, n_features_to_select: int, n_blocks: int | None, seed: int
) -> tuple[IntArray, tuple[str, ...]]:
    """Return the features that a registered method selects (best first, possibly fewer), and its warnings."""
    if n_blocks is None and SELECTORS[method].selector is BMGUFS:  # the only method without a default
        n_blocks = count_blocks(graph.adjacency, rng=np.random.default_rng(seed)).n_blocks
    selector = make_selector(method, n_features_to_select, n_blocks=n_blocks, random_state=seed)
    with collected_warnings() as messages:
        selector.fit(graph.features, adjacency=graph.adjacency)
    return np.argsort(selector.ranking_)[: selector.n_features_], tuple(messages)
