"""The rows of a comparison as CSV (numbers in full) and as Markdown (to read)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields

from blockselect.evaluation.comparison import ComparisonRow

HEADER = ("method", "d", "selected", "ACC ± sd", "NMI ± sd", "zero rows", "seconds", "peak MB")
"""Columns for people, as `cells` fills them."""


def csv_table(rows: Iterable[ComparisonRow]) -> str:
    """One line a row, each field a column; what a failed method has no value for is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(ComparisonRow)])
    writer.writerows(astuple(row) for row in rows)
    return text.getvalue()


def cells(row: ComparisonRow) -> tuple[str, ...]:
    """A row for people, in the order of HEADER."""
    failed = "failed" if row.error is not None else ""
    return (
        row.method,
        str(row.n_features),
        _whole(row.n_selected),
        _with_spread(row.accuracy, row.accuracy_sd) or failed,
        _with_spread(row.nmi, row.nmi_sd),
        _whole(row.n_zero_rows),
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


def _with_spread(mean: float | None, spread: float | None) -> str:
    return "" if mean is None else f"{mean:.3f} ± {spread:.3f}"
