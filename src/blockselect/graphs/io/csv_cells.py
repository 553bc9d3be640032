"""Cells of CSV files that spreadsheets show as they are.

Names come from files of others, and a spreadsheet takes a cell such as ``=HYPERLINK(…)`` for a formula. Such a name is
written with an apostrophe before it, which spreadsheets show as text. Names that are numbers, such as -1.5, stay.
"""

from __future__ import annotations

from typing import Any

from blockselect.graphs.cells import is_number

FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # the wide ones too, as East Asian spreadsheets read them


def as_text_cell(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    if not isinstance(cell, str) or not cell.lstrip().startswith(FORMULA_STARTS) or is_number(cell):
        return cell
    return f"'{cell}"
