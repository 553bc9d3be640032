"""Rows of an embedding are clustered: as many clusters as rows differ, and of a large one some rows at a time."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from blockselect.blockmodels import embedding


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(embedding, "LARGE", 50)


@pytest.mark.usefixtures("large")
def test_clear_clusters_are_found_in_a_large_embedding_too():
    rng = np.random.default_rng(0)
    known = np.repeat([0, 1, 2], 60)
    rows = np.eye(3)[known] + 0.01 * rng.standard_normal((180, 3))
    assert adjusted_rand_score(known, embedding.cluster_rows(rows, 3, seed=0)) == 1


@pytest.mark.usefixtures("large")
def test_rows_that_differ_are_counted_among_all_where_a_part_shows_too_few():
    rows = np.zeros((180, 2))
    rows[1] = 1  # beside the rows that are looked at first
    assert len(set(embedding.cluster_rows(rows, 5, seed=0))) == 2
