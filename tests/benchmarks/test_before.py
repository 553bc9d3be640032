"""This tree against another: every fit runs the tree it is said to run; cells are sparse counts with markers."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.before import compare, made_cells
from blockselect import make_attributed_blocks

SLOW = """
import time
from types import SimpleNamespace
import numpy as np

class BlockModelSelector:
    def __init__(self, *given, **named):
        self.support_ = np.array([True, True])

    def fit(self, X, adjacency):
        time.sleep(3.1 if X is not None else 0)
        return self

def make_attributed_blocks(*given, **named):
    return SimpleNamespace(features=None, adjacency=None)
"""


def test_the_older_tree_is_the_one_that_is_run(tmp_path):
    (tmp_path / "blockselect").mkdir()
    (tmp_path / "blockselect" / "__init__.py").write_text(SLOW)
    planted = make_attributed_blocks(100, 3, random_state=0)
    found = compare((planted.features, planted.adjacency), tmp_path, repeats=1, jobs=1, top=planted.features.shape[1])
    assert found["older s"] > 3 > found["now s"]
    assert found["features in common"] == 2


def test_cells_are_sparse_counts_with_a_graph_of_neighbours():
    counts, graph = made_cells(200, 2_000)
    assert counts.shape == (200, 2_000)
    assert graph.shape == (200, 200)
    assert (counts.data == np.round(counts.data)).all()
    assert counts.nnz / (200 * 2_000) == pytest.approx(0.1, abs=0.05)
    assert (graph.sum(axis=1) == 10).all()
