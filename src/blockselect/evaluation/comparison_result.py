"""The result of a comparison of methods: its rows, its tables, and the overlap of the selections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from blockselect.utils.arrays import IntArray
from blockselect.utils.errors import ParameterError
from blockselect.utils.extras import on_request
from blockselect.utils.parameters import check_page_path
from blockselect.utils.wording import per_cent

if TYPE_CHECKING:
    from blockselect.report import Report

ALL_FEATURES = "all-features"
"""Name of the row that evaluates all features, as a reference for every method."""


class Figure(NamedTuple):
    """Mean and standard deviation of a measure over the runs of a protocol."""

    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One method at one number of features. Values that a failed method lacks are None."""

    method: str
    n_features: int  # requested (paper: d)
    n_selected: int | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)  # one per measure of the protocol
    coverage: float | None = None  # share of the nodes that have at least one selected feature
    seconds: float | None = None  # to rank the features, once for all numbers of features
    agreement: float | None = None  # mean Jaccard index with the selections of the other methods
    error: str | None = None

    def record(self, measures: Iterable[str]) -> dict[str, Any]:
        """The row as a flat dict, with the mean and the sd of each measure, or None."""
        figures: dict[str, float | None] = {}
        for measure in measures:
            figures[measure], figures[f"{measure}_sd"] = self.figures.get(measure, (None, None))
        flat: dict[str, Any] = {}
        for name in (column.name for column in fields(self)):
            flat |= figures if name == "figures" else {name: getattr(self, name)}
        return flat


@dataclass(slots=True, eq=False, repr=False)
class Comparison:
    """The result of :func:`compare_methods`: scores and selections of all methods."""

    titles: Mapping[str, str]  # measures of the protocol and their column titles; the first measure is the main one
    description: str  # description of the protocol, in full sentences
    n_blocks: int | None  # used by all methods that need blocks; None if each method chooses its own number
    names: Sequence[str]  # (m,) names of the features
    rows: list[ComparisonRow] = field(default_factory=list)
    warnings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    selections: dict[tuple[str, int], IntArray] = field(default_factory=dict)  # (method, d) → columns, best first

    @property
    def errors(self) -> dict[str, str]:
        """The errors of failed methods, by method."""
        return {row.method: row.error for row in self.rows if row.error is not None}

    @property
    def methods(self) -> list[str]:
        """The methods that were compared, in the order of the rows."""
        return list(dict.fromkeys(row.method for row in self.rows if row.method != ALL_FEATURES))

    @property
    def numbers(self) -> list[int]:
        """The numbers of features that were compared, in increasing order."""
        return sorted({row.n_features for row in self.rows if row.method != ALL_FEATURES})

    def table(self) -> pd.DataFrame:
        """One row per method and number of features, as in `comparison.csv`; missing values stay missing."""
        table = pd.DataFrame([row.record(self.titles) for row in self.rows])
        return table.astype({"n_selected": "Int64"})

    def overlap(self, n_features: int | None = None) -> pd.DataFrame:
        """Jaccard index of each pair of selections: shared features divided by features in either.

        Parameters
        ----------
        n_features : int, optional
            One of the numbers that were compared; the largest by default.
        """
        chosen = self._selected(n_features)
        return pd.DataFrame({one: {other: jaccard(chosen[one], chosen[other]) for other in chosen} for one in chosen})

    def found_by_one(self, n_features: int | None = None) -> dict[str, list[str]]:
        """Method → names of the features that only this method selected, best first.

        Parameters
        ----------
        n_features : int, optional
            One of the numbers that were compared; the largest by default.
        """
        chosen = self._selected(n_features)
        found = Counter(column for columns in chosen.values() for column in columns.tolist())
        return {
            method: [self.names[column] for column in columns.tolist() if found[column] == 1]
            for method, columns in chosen.items()
        }

    def _selected(self, n_features: int | None) -> dict[str, IntArray]:
        number = self.numbers[-1] if n_features is None else n_features
        if number not in self.numbers:
            raise ParameterError("n_features", f"is {number!r}; choose one of {self.numbers}.")
        return {method: columns for (method, compared), columns in self.selections.items() if compared == number}

    def plot(self, ax: Any = None, *, measure: str | None = None) -> Any:
        """Plot the results with :func:`blockselect.plot.compare`.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; by default a new figure.
        measure : str, optional
            A measure of the protocol; by default its first one.
        """
        return on_request("plot").compare(self, ax, measure=measure)

    def report(self, path: str | Path, *, title: str = "the network") -> Path:
        """Write a page with the results, the overlap of the selections, and the features that only one method selected.

        Parameters
        ----------
        path : str or Path
            The file, whose name must end in .html. It is self-contained.
        title : str
            Name of the network.

        Returns
        -------
        Path
            The path of the page.
        """
        check_page_path(path)  # fail early, before the page is rendered
        return self.show_report(title=title).save(path)

    def show_report(self, *, title: str = "the network") -> Report:
        """The page of :meth:`report` as an object that a notebook displays."""
        page: Report = on_request("report.comparison").comparison_report(self, title=title)
        return page

    def __repr__(self) -> str:
        by = ", ".join(self.titles.values())
        numbers = " and ".join(map(str, self.numbers))
        return f"<Comparison of {len(self.methods)} methods at {numbers} features, evaluated by {by}; see table()>"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()  # type: ignore[operator, no-any-return]


def jaccard(one: IntArray, other: IntArray) -> float:
    """Shared entries of two selections divided by the entries in either; 0 if both are empty."""
    either = len(set(one.tolist()) | set(other.tolist()))
    return len(set(one.tolist()) & set(other.tolist())) / either if either else 0.0


def agreement(method: str, n_features: int, selections: Mapping[tuple[str, int], IntArray]) -> float | None:
    """Mean Jaccard index of a method's selection with those of the other methods at the same number of features."""
    mine = selections.get((method, n_features), np.array([], dtype=np.intp))
    others = [one for (name, number), one in selections.items() if name != method and number == n_features]
    if not len(mine) or not others:
        return None
    return float(np.mean([jaccard(mine, other) for other in others]))


def header(titles: Mapping[str, str]) -> tuple[str, ...]:
    """Column titles of the table for readers, in the order of `cells`."""
    measures = (f"{title} ± sd" for title in titles.values())
    return ("method", "d", "selected", *measures, "coverage", "agreement", "seconds")


def cells(row: ComparisonRow, titles: Mapping[str, str]) -> tuple[str, ...]:
    """A row of the table for readers, with rounded numbers."""
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
        "" if row.coverage is None else per_cent(row.coverage),
        _formatted(row.agreement, ".2f"),
        seconds,
    )


def _formatted(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, n_text_columns: int = 1) -> str:
    """A Markdown table; the columns after the first `n_text_columns` are aligned right."""
    align = ["---" if column < n_text_columns else "---:" for column in range(len(header))]
    lines = [header, align, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
