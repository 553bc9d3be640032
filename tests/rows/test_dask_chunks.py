"""Row chunks that Dask loads, without a cluster: its threads do the work."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from blockselect.rows.chunks import RowChunks
from blockselect.rows.dask_chunks import _client

dask = pytest.importorskip("dask")


@pytest.fixture(autouse=True)
def without_cluster(monkeypatch):
    monkeypatch.setattr("distributed.client._global_clients", {})


def column_sums(block, rows, weights):
    return weights[rows] @ block


def test_sums_are_those_of_all_rows():
    matrix = np.arange(21.0).reshape(7, 3)
    chunks = RowChunks.from_delayed([dask.delayed(matrix[start : start + 3]) for start in (0, 3, 6)], 3)
    weights = np.arange(7.0)
    assert chunks.shape == (7, 3)
    assert_array_equal(chunks.sum(column_sums, weights), weights @ matrix)


def test_a_chunk_that_changes_between_two_passes_is_named():
    sizes = iter([4, 5])
    changing = dask.delayed(lambda: np.ones((next(sizes), 3)))()
    chunks = RowChunks.from_delayed([changing], 3)
    assert chunks.shape == (4, 3)
    with pytest.raises(ValueError, match="chunk 0 of features had 4 rows in the first pass and has 5 rows now"):
        chunks.sum(column_sums, np.ones(9))


def test_a_chunk_that_is_wider_in_a_later_pass_is_refused():
    widths = iter([3, 4])
    chunks = RowChunks.from_delayed([dask.delayed(lambda: np.ones((2, next(widths))))()], 3)
    assert chunks.shape == (2, 3)
    with pytest.raises(ValueError, match="chunk 0 of features has 4 columns; expected 3"):
        chunks.sum(column_sums, np.ones(2))


@pytest.mark.parametrize(
    ("chunks", "message"),
    [([], "there is no chunk of rows"), ([np.ones((2, 3))], "chunk 0 of features could not be read .*compute")],
)
def test_what_is_no_chunk_is_refused(chunks, message):
    with pytest.raises(ValueError, match=message):
        RowChunks.from_delayed(chunks, 3).survey()


def test_dask_without_its_cluster_package_is_enough(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert _client() is None
