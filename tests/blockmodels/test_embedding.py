"""Rows of an embedding are clustered: as many clusters as rows differ, and of a large one some rows at a time."""

import numpy as np
from sklearn.metrics import adjusted_rand_score

from blockselect.blockmodels.embedding import cluster_rows


def test_clear_clusters_are_found_in_a_large_embedding_too():
    rng = np.random.default_rng(0)
    known = np.repeat([0, 1, 2], 60)
    rows = np.eye(3)[known] + 0.01 * rng.standard_normal((180, 3))
    for large in (50, 1000):
        assert adjusted_rand_score(known, cluster_rows(rows, 3, np.random.default_rng(0), large=large)) == 1


def test_rows_that_differ_are_counted_among_all_where_a_part_shows_too_few():
    rows = np.zeros((180, 2))
    rows[1] = 1  # not among the rows that are looked at first
    assert len(set(cluster_rows(rows, 5, np.random.default_rng(0), large=50))) == 2
