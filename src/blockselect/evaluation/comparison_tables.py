"""The rows of a comparison as CSV (numbers in full) and as Markdown (to read)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from blockselect.evaluation.comparison import Comparison, ComparisonRow, Figure

AFTER_THE_MEASURES = ("zero rows", "agreement", "seconds", "peak MB")


def header(titles: Mapping[str, str]) -> tuple[str, ...]:
    """Columns for people, as `cells` fills them, with those of the protocol's measures."""
    return ("method", "d", "selected", *(f"{title} ± sd" for title in titles.values()), *AFTER_THE_MEASURES)


def csv_table(comparison: Comparison) -> str:
    """One line a row, each field a column; what a failed method has no value for is empty."""
    text = io.StringIO()
    records = [row.record(comparison.titles) for row in comparison.rows]
    writer = csv.DictWriter(text, records[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def cells(row: ComparisonRow, titles: Mapping[str, str]) -> tuple[str, ...]:
    """A row for people, in the order of `header`."""
    figures = [_with_spread(row.figures.get(measure)) for measure in titles]
    if row.error is not None:
        figures[0] = "failed"
    return (
        row.method,
        str(row.n_features),
        _whole(row.n_selected),
        *figures,
        _whole(row.n_zero_rows),
        "" if row.agreement is None else f"{row.agreement:.2f}",
        "" if row.seconds is None else f"{row.seconds:.3g}" if row.seconds < 100 else f"{row.seconds:.0f}",
        "" if row.peak_mb is None else f"{row.peak_mb:.0f}",
    )


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, n_text_columns: int = 1) -> str:
    """A table in Markdown; the columns after the first ones, which are text, are aligned right."""
    align = ["---" if column < n_text_columns else "---:" for column in range(len(header))]
    lines = [header, align, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _whole(number: int | None) -> str:
    return "" if number is None else f"{number:d}"


def _with_spread(figure: Figure | None) -> str:
    return "" if figure is None else f"{figure.mean:.3f} ± {figure.sd:.3f}"
