"""Compare methods: each ranks the features of a network once, and a protocol evaluates its best features."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
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
from blockselect.parameters import check_n_jobs, check_seed, check_whole
from blockselect.progress import Progress, no_progress
from blockselect.registry import SELECTORS, make_selector
from blockselect.warned import collected_warnings

ALL_FEATURES = "all-features"
"""Name of the row that evaluates all features, as a reference for every method."""

PROTOCOLS: dict[str, type[Clustering | Classification | LinkPrediction | ExplainedLinks]] = {
    "clustering": Clustering,
    "classification": Classification,
    "links": LinkPrediction,
    "structure": ExplainedLinks,
}
"""The protocols by name."""


@dataclass(frozen=True, slots=True, eq=False)
class RankedFeatures:
    """The ranking by one method, valid for any number of features up to the requested one."""

    ranking: IntArray  # (m,) 1 for the best
    support: NDArray[np.bool_]  # (m,) the requested number of features at most, none without a score
    warnings: tuple[str, ...]

    def best(self, n_features: int) -> IntArray:
        """Sorted indices of the best features; fewer if the method scores fewer."""
        return np.flatnonzero((self.ranking <= n_features) & self.support)


@dataclass(frozen=True, slots=True)
class Figure:
    """Mean and standard deviation of a measure over the runs of a protocol."""

    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One method at one number of features. Values that a failed method lacks are None."""

    method: str
    n_features: int  # requested (paper: d)
    n_selected: int | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)  # by the measures of the protocol
    n_zero_rows: int | None = None
    seconds: float | None = None  # of the ranking, which is made once
    peak_mb: float | None = None  # peak memory of the process that made the ranking
    base_mb: float | None = None  # memory of the same process before the ranking
    agreement: float | None = None  # mean Jaccard index with the selections of the other methods
    error: str | None = None

    def record(self, measures: Iterable[str]) -> dict[str, Any]:
        """The row as a flat dict, with the mean and the sd of each measure, or None."""
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
    """All rows, a description of the protocol, and the warnings of the methods."""

    titles: Mapping[str, str]  # measures of the protocol, with their column titles
    description: str  # of the protocol, in full sentences
    rows: list[ComparisonRow] = field(default_factory=list)
    warnings: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def errors(self) -> dict[str, str]:
        """The errors of failed methods, by method."""
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
    """Compare methods of the registry with each other and with all features on a network.

    A method that fails becomes a row with its error, and the other methods continue.

    Parameters
    ----------
    graph : AttributedGraph
        The network, with `classes` if the protocol needs them; no method reads the classes.
    methods : sequence of str
        Names in `SELECTORS`.
    numbers : sequence of int
        Numbers of features to keep. Each method ranks once, for the largest of them. (paper: d)
    n_blocks : int or None
        Number of blocks or clusters, for methods that use it; None means each method's default. (paper: k)
    protocol : {"clustering", "classification", "links", "structure"}
        How a selection is evaluated: by K-means clusters against known classes, as in the paper; by predicting
        classes from a few labelled nodes; by predicting links that were hidden from the methods; or by the link
        information that K-means clusters explain.
    n_runs : int
        Number of runs of the protocol, with the seeds 0, 1, ….
    seed : int
        Seed of the methods and of the choice of hidden links.
    n_jobs : int, optional
        Number of processes that share the runs. Methods rank one after another, so that their times are comparable.
    progress : callable, optional
        Called as ``progress(method, done, total)``.
    """
    kind = look_up(protocol, PROTOCOLS, what="protocol")
    numbers = _check_settings(graph, methods, numbers, n_runs=n_runs, seed=seed, n_jobs=n_jobs)
    report = progress or no_progress
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
    """Check all settings before any method runs, and return the numbers of features as a list."""
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
    """Mean Jaccard index of a method's selection with those of the other methods at the same number of features."""
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
        selector.fit(graph.features, adjacency=graph.adjacency)
    return RankedFeatures(selector.ranking_, selector.support_, tuple(messages))


def _ranked_row(method: str, n_features: int, measured: Measured, judge: SelectionProtocol) -> ComparisonRow:
    cost: dict[str, Any] = {
        "seconds": measured.seconds,
        "peak_mb": _megabytes(measured.peak_bytes),
        "base_mb": _megabytes(measured.base_bytes),
    }
    columns = measured.value.best(n_features)
    if len(columns) == 0:
        return ComparisonRow(method, n_features, 0, error="no feature has a score; none can be selected.", **cost)
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


def csv_table(comparison: Comparison) -> str:
    """The comparison as CSV, one line per row with all digits; missing values are empty."""
    text = io.StringIO()
    records = [row.record(comparison.titles) for row in comparison.rows]
    writer = csv.DictWriter(text, records[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def header(titles: Mapping[str, str]) -> tuple[str, ...]:
    """Column titles of the readable table, in the order of `cells`."""
    measures = (f"{title} ± sd" for title in titles.values())
    return ("method", "d", "selected", *measures, "zero rows", "agreement", "seconds", "peak MB")


def cells(row: ComparisonRow, titles: Mapping[str, str]) -> tuple[str, ...]:
    """A row of the readable table, with rounded numbers."""
    figures = [row.figures.get(measure) for measure in titles]
    shown = ["" if figure is None else f"{figure.mean:.3f} ± {figure.sd:.3f}" for figure in figures]
    if row.error is not None:
        shown[0] = "failed"
    seconds = "" if row.seconds is None else f"{row.seconds:.3g}" if row.seconds < 100 else f"{row.seconds:.0f}"
    return (
        row.method,
        str(row.n_features),
        _formatted(row.n_selected, "d"),
        *shown,
        _formatted(row.n_zero_rows, "d"),
        _formatted(row.agreement, ".2f"),
        seconds,
        _formatted(row.peak_mb, ".0f"),
    )


def _formatted(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, n_text_columns: int = 1) -> str:
    """A Markdown table; the columns after the first `n_text_columns` are aligned right."""
    align = ["---" if column < n_text_columns else "---:" for column in range(len(header))]
    lines = [header, align, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
