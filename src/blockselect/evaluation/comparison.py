"""A comparison: each method ranks the features once, and its best are clustered by the paper's protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blockselect.arrays import IntArray
from blockselect.errors import ParameterError
from blockselect.evaluation.clustering import ClusteringScores, evaluate_selection
from blockselect.evaluation.process import CallError, Measured, measure_in_fresh_process
from blockselect.graphs.attributed import AttributedGraph
from blockselect.registry import fit_selector, make_selector
from blockselect.warned import collected_warnings

ALL_FEATURES = "all-features"
"""The row that every method is compared with."""

Progress = Callable[[str, int, int], None]  # method, steps done, of how many


@dataclass(frozen=True, slots=True, eq=False)
class RankedFeatures:
    """What a method found, for any number of features up to the number it was asked for."""

    ranking: IntArray  # (m,) 1 is the best
    support: NDArray[np.bool_]  # (m,) selected of those asked for: never a feature without a score
    warnings: tuple[str, ...]

    def best(self, n_features: int) -> IntArray:
        """The best features, rising by index; fewer where the method scores fewer."""
        return np.flatnonzero((self.ranking <= n_features) & self.support)


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One method at one number of features. What a failed method has no value for is None."""

    method: str
    n_features: int  # asked for (paper: d)
    n_selected: int | None = None
    accuracy: float | None = None
    accuracy_sd: float | None = None
    nmi: float | None = None
    nmi_sd: float | None = None
    n_zero_rows: int | None = None
    seconds: float | None = None  # of the one ranking
    peak_mb: float | None = None  # of the process that ranked
    base_mb: float | None = None  # of the same before it ranked
    error: str | None = None


@dataclass(slots=True)
class Comparison:
    """All rows, and what the methods warned of."""

    rows: list[ComparisonRow] = field(default_factory=list)
    warnings: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def errors(self) -> dict[str, str]:
        """What went wrong, by method."""
        return {row.method: row.error for row in self.rows if row.error is not None}


def compare_methods(
    graph: AttributedGraph,
    methods: Sequence[str],
    numbers: Sequence[int],
    *,
    n_blocks: int,
    n_runs: int = 20,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare methods of the registry, and all features, on a network with known classes.

    A method that fails is a row with its error, and the others go on.

    Parameters
    ----------
    graph : AttributedGraph
        With `classes`, which evaluation reads and no method.
    methods : sequence of str
        Names in `SELECTORS`.
    numbers : sequence of int
        How many features to keep. Each method ranks once, asked for the most of them. (paper: d)
    n_blocks : int
        Blocks or clusters of nodes, for methods that look for them. (paper: k)
    n_runs : int
        Runs of K-means, with the seeds 0, 1, ….
    seed : int
        Of the methods.
    n_jobs : int, optional
        Processes that share the runs of K-means. Methods rank one after another, so that their times compare.
    progress : callable, optional
        Called as ``progress(method, done, total)``.
    """
    if graph.classes is None:
        raise ValueError("the network has no classes to compare with; pass them to check_attributed_graph.")
    if not numbers or max(numbers) > graph.n_features or min(numbers) < 1:
        raise ParameterError(
            "numbers", f"is {list(numbers)}; expected numbers of features from 1 to {graph.n_features}."
        )
    report = progress or (lambda method, done, total: None)
    evaluate = partial(evaluate_selection, graph.features, graph.classes, n_runs=n_runs, n_jobs=n_jobs)
    steps = 1 + len(numbers)
    report(ALL_FEATURES, 0, 1)
    comparison = Comparison([_scored_row(ALL_FEATURES, graph.n_features, evaluate(np.arange(graph.n_features)))])
    report(ALL_FEATURES, 1, 1)
    for method in methods:
        report(method, 0, steps)
        try:
            measured = measure_in_fresh_process(rank_features, method, graph, max(numbers), n_blocks, seed)
        except CallError as error:
            comparison.rows += [ComparisonRow(method, number, error=str(error)) for number in numbers]
            report(method, steps, steps)
            continue
        comparison.warnings[method] = measured.value.warnings
        for done, number in enumerate(numbers, start=1):
            report(method, done, steps)
            comparison.rows.append(_ranked_row(method, number, measured, evaluate))
        report(method, steps, steps)
    return comparison


def rank_features(
    method: str, graph: AttributedGraph, n_features_to_select: int, n_blocks: int, seed: int
) -> RankedFeatures:
    """Rank the features of a network by a method of the registry."""
    selector = make_selector(method, n_features_to_select, n_blocks=n_blocks, random_state=seed)
    with collected_warnings() as messages:
        fit_selector(selector, graph)
    return RankedFeatures(selector.ranking_, selector.support_, tuple(messages))


def _ranked_row(
    method: str, n_features: int, measured: Measured, evaluate: Callable[[IntArray], ClusteringScores]
) -> ComparisonRow:
    cost: dict[str, Any] = {
        "seconds": measured.seconds,
        "peak_mb": _megabytes(measured.peak_bytes),
        "base_mb": _megabytes(measured.base_bytes),
    }
    columns = measured.value.best(n_features)
    if len(columns) == 0:
        return ComparisonRow(method, n_features, 0, error="no feature has a score to be selected by.", **cost)
    return _scored_row(method, n_features, evaluate(columns), **cost)


def _scored_row(method: str, n_features: int, scores: ClusteringScores, **cost: Any) -> ComparisonRow:
    return ComparisonRow(
        method,
        n_features,
        n_selected=scores.n_features,
        accuracy=scores.accuracy,
        accuracy_sd=scores.accuracy_sd,
        nmi=scores.nmi,
        nmi_sd=scores.nmi_sd,
        n_zero_rows=scores.n_zero_rows,
        **cost,
    )


def _megabytes(n_bytes: int | None) -> float | None:
    return None if n_bytes is None else n_bytes / 1e6
