"""Details of a page: values become plain ones, which JSON and a page can hold."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from blockselect.report import details


def test_tables_become_plain_rows_whatever_their_cells_are():
    table = pd.DataFrame({"n": [np.int64(3), None], "name": ["a", ("b", 1)]}, dtype=object)
    rows = details._records(table)
    assert json.loads(json.dumps(rows)) == [{"n": 3, "name": "a"}, {"n": None, "name": "('b', 1)"}]
    assert details._records(table.rename_axis("row"))[1]["row"] == 1


def test_an_empty_table_or_none_has_no_rows():
    assert details._records(None) is None
    assert details._records(pd.DataFrame()) is None


def test_means_by_block_are_digits_relative_to_the_highest():
    assert details.block_strips(np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 0.0]])) == ["950", "000"]
