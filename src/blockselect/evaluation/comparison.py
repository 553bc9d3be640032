"""A comparison: each method ranks the features once, and its best are judged by one of the protocols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blockselect.arrays import IntArray
from blockselect.errors import ParameterError
from blockselect.evaluation.classification import Classification
from blockselect.evaluation.clustering import Clustering
from blockselect.evaluation.explained_links import ExplainedLinks
from blockselect.evaluation.link_prediction import LinkPrediction
from blockselect.evaluation.process import CallError, Measured, measure_in_fresh_process
from blockselect.evaluation.protocol import Scores, SelectionProtocol
from blockselect.graphs.attributed import AttributedGraph
from blockselect.names import check_known, look_up
from blockselect.registry import SELECTORS, fit_selector, make_selector
from blockselect.scalars import check_n_jobs, check_seed, check_whole
from blockselect.warned import collected_warnings

ALL_FEATURES = "all-features"
"""The row that every method is compared with."""

PROTOCOLS: dict[str, type[Clustering | Classification | LinkPrediction | ExplainedLinks]] = {
    "clustering": Clustering,
    "classification": Classification,
    "links": LinkPrediction,
    "structure": ExplainedLinks,
}
"""Ways to judge a selection, by name."""

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
class Figure:
    """A measure over the runs of a protocol."""

    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One method at one number of features. What a failed method has no value for is None."""

    method: str
    n_features: int  # asked for (paper: d)
    n_selected: int | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)  # by measure of the protocol
    n_zero_rows: int | None = None
    seconds: float | None = None  # of the one ranking
    peak_mb: float | None = None  # of the process that ranked
    base_mb: float | None = None  # of the same before it ranked
    agreement: float | None = None  # mean share of features in common with each other method, over those of either
    error: str | None = None

    def record(self, measures: Iterable[str]) -> dict[str, Any]:
        """Flat, with a mean and an sd of each measure; None where there is none."""
        figures: dict[str, float | None] = {}
        for measure in measures:
            figure = self.figures.get(measure)
            figures[measure], figures[f"{measure}_sd"] = (None, None) if figure is None else (figure.mean, figure.sd)
        flat: dict[str, Any] = {}
        for name in (column.name for column in fields(self)):
            flat |= figures if name == "figures" else {name: getattr(self, name)}
        return flat


@dataclass(slots=True)
class Comparison:
    """All rows, how they were made, and what the methods warned of."""

    titles: Mapping[str, str]  # measures of the protocol, with what tables for people call them
    description: str  # how selections were judged
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
    n_blocks: int | None,
    protocol: str = "clustering",
    n_runs: int = 20,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare methods of the registry, and all features, on a network.

    A method that fails is a row with its error, and the others go on.

    Parameters
    ----------
    graph : AttributedGraph
        With `classes` where the protocol needs them; no method reads them.
    methods : sequence of str
        Names in `SELECTORS`.
    numbers : sequence of int
        How many features to keep. Each method ranks once, asked for the most of them. (paper: d)
    n_blocks : int or None
        Blocks or clusters of nodes, for methods that look for them; None leaves each method's default. (paper: k)
    protocol : {"clustering", "classification", "links", "structure"}
        How a selection is judged: by K-means against known classes, as in the paper; by classes learnt from a few
        labelled nodes; by links that were hidden from the methods; by what clusters on it explain of the links.
    n_runs : int
        Runs of the protocol, with the seeds 0, 1, ….
    seed : int
        Of the methods, and of the links that are hidden.
    n_jobs : int, optional
        Processes that share the runs. Methods rank one after another, so that their times compare.
    progress : callable, optional
        Called as ``progress(method, done, total)``.
    """
    kind = look_up(protocol, PROTOCOLS, what="protocol")
    numbers = _check_settings(graph, methods, numbers, n_runs=n_runs, seed=seed, n_jobs=n_jobs)
    report = progress or (lambda method, done, total: None)
    judge = kind(graph, n_runs=n_runs, seed=seed, n_jobs=n_jobs)
    steps = 1 + len(numbers)
    selections: dict[tuple[str, int], IntArray] = {}
    comparison = Comparison(judge.titles, judge.describe())
    report(ALL_FEATURES, 0, 1)
    every = judge.evaluate(np.arange(graph.n_features))
    comparison.rows.append(_scored_row(ALL_FEATURES, graph.n_features, every))
    report(ALL_FEATURES, 1, 1)
    for method in methods:
        report(method, 0, steps)
        try:
            measured = measure_in_fresh_process(rank_features, method, judge.seen, max(numbers), n_blocks, seed)
        except CallError as error:
            comparison.rows += [ComparisonRow(method, number, error=str(error)) for number in numbers]
            report(method, steps, steps)
            continue
        comparison.warnings[method] = measured.value.warnings
        for done, number in enumerate(numbers, start=1):
            report(method, done, steps)
            selections[method, number] = measured.value.best(number)
            comparison.rows.append(_ranked_row(method, number, measured, judge))
        report(method, steps, steps)
    comparison.rows = [
        replace(row, agreement=agreement(row.method, row.n_features, selections)) for row in comparison.rows
    ]
    return comparison


def _check_settings(graph: Any, methods: Any, numbers: Any, *, n_runs: Any, seed: Any, n_jobs: Any) -> list[int]:
    """What is wrong is found before any method runs; the numbers of features as a list."""
    if not isinstance(graph, AttributedGraph):
        raise ParameterError(
            "graph", f"is of type {type(graph).__name__}; make it with check_attributed_graph(features, adjacency)."
        )
    if isinstance(methods, str):
        raise ParameterError("methods", f"is {methods!r}; expected a list of names: [{methods!r}].")
    check_known(methods, SELECTORS, what="method")
    if not isinstance(numbers, Sequence | np.ndarray) or isinstance(numbers, str) or not len(numbers):
        raise ParameterError("numbers", f"is {numbers!r}; expected a list of numbers from 1 to {graph.n_features}.")
    check_whole("n_runs", n_runs, 1)
    check_seed("seed", seed)
    check_n_jobs(n_jobs)
    return [check_whole("numbers", number, 1, graph.n_features) for number in numbers]


def agreement(method: str, n_features: int, selections: Mapping[tuple[str, int], IntArray]) -> float | None:
    """Mean Jaccard index of a method's selection with those of the others of the same number; None where none are."""
    mine = set(selections.get((method, n_features), ()))
    others = [set(one) for (name, number), one in selections.items() if name != method and number == n_features]
    if not mine or not others:
        return None
    return float(np.mean([len(mine & other) / len(mine | other) for other in others]))


def rank_features(
    method: str, graph: AttributedGraph, n_features_to_select: int, n_blocks: int | None, seed: int
) -> RankedFeatures:
    """Rank the features of a network by a method of the registry."""
    selector = make_selector(method, n_features_to_select, n_blocks=n_blocks, random_state=seed)
    with collected_warnings() as messages:
        fit_selector(selector, graph)
    return RankedFeatures(selector.ranking_, selector.support_, tuple(messages))


def _ranked_row(method: str, n_features: int, measured: Measured, judge: SelectionProtocol) -> ComparisonRow:
    cost: dict[str, Any] = {
        "seconds": measured.seconds,
        "peak_mb": _megabytes(measured.peak_bytes),
        "base_mb": _megabytes(measured.base_bytes),
    }
    columns = measured.value.best(n_features)
    if len(columns) == 0:
        return ComparisonRow(method, n_features, 0, error="no feature has a score to be selected by.", **cost)
    return _scored_row(method, n_features, judge.evaluate(columns), **cost)


def _scored_row(method: str, n_features: int, scores: Scores, **cost: Any) -> ComparisonRow:
    return ComparisonRow(
        method,
        n_features,
        n_selected=scores.n_features,
        figures={name: Figure(float(runs.mean()), float(runs.std())) for name, runs in scores.measures.items()},
        n_zero_rows=scores.n_zero_rows,
        **cost,
    )


def _megabytes(n_bytes: int | None) -> float | None:
    return None if n_bytes is None else n_bytes / 1e6
