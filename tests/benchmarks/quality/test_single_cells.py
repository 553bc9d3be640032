"""Single cells: counts recovered from their logarithms, and every method scores every gene."""

from __future__ import annotations

import warnings

import numpy as np
import pytest


@pytest.fixture(scope="module")
def cells():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("scanpy")
        from benchmarks.quality import single_cells

        return single_cells.load_cells()


def test_counts_are_whole_and_give_the_expression_back(cells):
    assert (cells.counts.data >= 1).all()
    assert (cells.counts.data == np.round(cells.counts.data)).all()
    linear = np.expm1(cells.expression.data)
    unit = np.repeat(np.minimum.reduceat(linear, cells.expression.indptr[:-1]), np.diff(cells.expression.indptr))
    assert np.median(np.abs(linear / unit - cells.counts.data)) < 0.05


@pytest.mark.parametrize("method", ["variance", "morans-i", "hotspot, normal", "hotspot, danb on counts"])
def test_every_gene_has_a_score(cells, method):
    from benchmarks.quality import single_cells

    assert single_cells.METHODS[method](cells, 0, 16).shape == (765,)
