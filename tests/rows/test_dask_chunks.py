"""Row chunks that Dask loads in threads, without a cluster."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from blockselect.rows.chunks import RowChunks

dask = pytest.importorskip("dask")


@pytest.fixture(autouse=True)
def without_cluster(monkeypatch):
    monkeypatch.setattr("distributed.client._global_clients", {})


def column_sums(block, rows, weights):
    return weights[rows] @ block


@pytest.mark.parametrize("has_distributed", [True, False])
def test_sums_are_over_all_rows(has_distributed, monkeypatch):
    if not has_distributed:
        monkeypatch.setitem(sys.modules, "distributed", None)
    matrix = np.arange(21.0).reshape(7, 3)
    chunks = RowChunks.from_delayed([dask.delayed(matrix[start : start + 3]) for start in (0, 3, 6)], 3)
    weights = np.arange(7.0)
    assert chunks.shape == (7, 3)
    assert_array_equal(chunks.sum(column_sums, weights), weights @ matrix)


@pytest.mark.parametrize(
    ("chunks", "message"),
    [([], "there are no chunks of rows"), ([np.ones((2, 3))], "chunk 0 of features could not be read .*compute")],
)
def test_invalid_chunks_are_rejected(chunks, message):
    with pytest.raises(ValueError, match=message):
        RowChunks.from_delayed(chunks, 3).survey()
