"""No cell of a CSV file is a formula, and no number is changed."""

from __future__ import annotations

import pytest

from blockselect.graphs.io.csv_cells import as_text_cell


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1+1", "-2+3", "@SUM(A1)", " =1", "\t=1", "\r\n=1", "＝1", "-", "=cmd|' /C calc'!A0"]
)
def test_what_a_spreadsheet_would_compute_is_text(cell):
    assert as_text_cell(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["gene", "-1.5", "+2", "-1e-3", "a=b", "", "'=1", 3, -2.5, None])
def test_all_else_stays(cell):
    assert as_text_cell(cell) is cell
