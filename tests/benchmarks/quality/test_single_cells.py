"""Single cells: counts recovered from their logarithms, and every method scores every gene."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from benchmarks.quality import single_cells
from benchmarks.quality.references import ALL, REFERENCES


@pytest.fixture(scope="module")
def cells():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("scanpy")
        return single_cells.load_cells()


def test_counts_are_whole_and_give_the_expression_back(cells):
    assert (cells.counts.data >= 1).all()
    assert (cells.counts.data == np.round(cells.counts.data)).all()
    linear = np.expm1(cells.expression.data)
    unit = np.repeat(np.minimum.reduceat(linear, cells.expression.indptr[:-1]), np.diff(cells.expression.indptr))
    assert np.median(np.abs(linear / unit - cells.counts.data)) < 0.05


@pytest.mark.parametrize("method", ["variance", "morans-i", "hotspot, normal", "hotspot, danb on counts"])
def test_every_gene_has_a_score(cells, method):
    assert single_cells.METHODS[method](cells, 0, 16).shape == (765,)


def test_the_table_has_a_line_per_method_and_references_beside_it():
    table = pd.DataFrame(
        [(name, number, 0.5, 0.25, 0.75) for name in ("default", ALL) for number in single_cells.NUMBERS],
        columns=["method", "genes", "accuracy", "nmi", "few_shot"],
    )
    lines = single_cells.render(table).splitlines()
    assert lines[2] == "| default |" + " 0.500 / 0.250 / 0.750 |" * 4
    assert len(lines) == 4
    assert set(REFERENCES) < set(single_cells.METHODS)
