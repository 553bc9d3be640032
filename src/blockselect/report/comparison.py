"""The page of a comparison: results, overlap of the selections, and features that only one method selected."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from blockselect import __version__
from blockselect.evaluation.comparison_result import ALL_FEATURES, Comparison, ComparisonRow
from blockselect.registry import SELECTORS
from blockselect.report.page import Report, render_template
from blockselect.utils.wording import count, listed


def comparison_report(comparison: Comparison, *, title: str = "the network", command: str | None = None) -> Report:
    """Make the page of a comparison.

    Parameters
    ----------
    comparison : Comparison
        The result of :func:`blockselect.compare_methods`.
    title : str
        Name of the network.
    command : str, optional
        The command that made the comparison, so that readers can repeat it.
    """
    tables = {number: [*_by_figure(comparison, number), comparison.rows[0]] for number in reversed(comparison.numbers)}
    selected = comparison._selected(None)
    return Report(
        render_template(
            "comparison.html.jinja",
            title=title,
            command=command,
            version=__version__,
            headline=headline(comparison),
            lead=[verdict(comparison)],
            comparison=comparison,
            methods=SELECTORS,
            tables=tables,
            largest={
                number: max(_main(comparison, row).mean for row in rows) or 1.0 for number, rows in tables.items()
            },
            overlap=comparison.overlap(),
            agreement=agreement_found(comparison),
            selected=selected,
            common=_common(comparison, [columns.tolist() for columns in selected.values()]),
            warnings=[
                f"{method}: {message}" for method, messages in comparison.warnings.items() for message in messages
            ],
        )
    )


def headline(comparison: Comparison) -> str:
    """Name the best method for each number of features, or once if it is always the same."""
    best = {number: ranked[0].method for number in comparison.numbers if (ranked := _by_figure(comparison, number))}
    if not best:
        return "No method produced a result"
    main = next(iter(comparison.titles.values()))
    if len(set(best.values())) == 1:
        return f"Best by {main}: {best.popitem()[1]}"
    return f"Best by {main}: {listed([f'{method} with {number} features' for number, method in best.items()])}"


def verdict(comparison: Comparison) -> str:
    """Compare the best method for the largest number of features with the next one and with all features."""
    ranked = _by_figure(comparison, comparison.numbers[-1])
    if not ranked:
        return "The reasons are listed below."
    best, every = _main(comparison, ranked[0]), comparison.rows[0]
    text = f"With {count(comparison.numbers[-1], 'feature')}, {ranked[0].method} reaches {best.mean:.3f}"
    if len(ranked) > 1:
        second = _main(comparison, ranked[1])
        spread = max(best.sd, second.sd)  # 0 for a single run
        text += f"; the next best method, {ranked[1].method}, reaches {second.mean:.3f}"
        if best.mean - second.mean > spread > 0:
            text += ". The difference is larger than the standard deviation between runs"
        elif spread > 0:
            text += (
                ". The difference is within the standard deviation between runs, so the two perform about equally well"
            )
    return f"{text}. All {count(every.n_features, 'feature')} together reach {_main(comparison, every).mean:.3f}."


def agreement_found(comparison: Comparison) -> str:
    """Name the two selections that overlap most and least."""
    overlap = comparison.overlap()
    pairs = [(float(overlap[one][other]), one, other) for one, other in combinations(map(str, overlap), 2)]
    if not pairs:
        return "Comparing selections takes at least two methods that selected features."
    most, least = max(pairs), min(pairs)
    if len(pairs) == 1:
        return f"The selections of {most[1]} and {most[2]} have a Jaccard index of {most[0]:.2f}."
    return (
        f"The selections of {most[1]} and {most[2]} overlap most (Jaccard index {most[0]:.2f}), those of {least[1]} "
        f"and {least[2]} least ({least[0]:.2f})."
    )


def _main(comparison: Comparison, row: ComparisonRow) -> Any:
    """The value of the first measure of the protocol."""
    return row.figures[next(iter(comparison.titles))]


def _by_figure(comparison: Comparison, number: int) -> list[ComparisonRow]:
    """The methods with results for this number of features, best first."""
    rows = [row for row in comparison.rows if row.method != ALL_FEATURES and row.n_features == number and row.figures]
    return sorted(rows, key=lambda row: -_main(comparison, row).mean)


def _common(comparison: Comparison, selected: list[list[int]]) -> list[str]:
    """Names of the features that every method selected, in the order of the first method; empty for a single method."""
    shared = set.intersection(*map(set, selected)) if len(selected) > 1 else set()
    return [comparison.names[column] for columns in selected[:1] for column in columns if column in shared]
