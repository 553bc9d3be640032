"""Explained links agree with the formula written out, and the curve reaches what the blocks explain."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits

from blockselect import check_attributed_graph
from blockselect.report import explained
from blockselect.report.explained import enough, explained_by_size, sizes_to_try

LABELS = np.repeat([0, 1, 2], 20)
PERFECT = (LABELS[:, None] == np.arange(3)).astype(float)


@pytest.fixture(scope="module")
def network():
    rng = np.random.default_rng(0)
    chance = np.where(LABELS[:, None] == LABELS, 0.5, 0.05)
    upper = np.triu(rng.random((60, 60)) < chance, 1)
    noise = (rng.random((60, 4)) < 0.3).astype(float)
    return check_attributed_graph(np.column_stack([PERFECT, noise]), (upper | upper.T).astype(float))


def slow_information(adjacency, labels):
    """Σ_ab (E_ab / w) log(E_ab w / (e_a e_b))."""
    A, total = adjacency.toarray(), 0.0
    w = A.sum()
    for a in np.unique(labels):
        for b in np.unique(labels):
            E = A[labels == a][:, labels == b].sum()
            e_a, e_b = A[labels == a].sum(), A[labels == b].sum()
            total += E / w * np.log(E * w / (e_a * e_b)) if E else 0.0
    return total


def test_features_that_are_the_blocks_explain_all_of_what_the_blocks_do(network):
    curve = explained_by_size(network, LABELS, np.arange(3), 3)
    assert [point["n_features"] for point in curve] == [1, 2, 3]
    assert curve[-1]["share"] == pytest.approx(1)


def test_one_feature_explains_what_its_two_groups_do(network):
    (first, *_) = explained_by_size(network, LABELS, np.arange(3), 3)
    slow = [slow_information(network.adjacency, labels) for labels in (LABELS > 0, LABELS)]
    assert_allclose(first["share"], slow[0] / slow[1])


def test_clusters_are_found_by_one_thread_as_sums_over_more_come_in_any_order(network, monkeypatch):
    threads = set()

    class Watched(KMeans):
        def fit_predict(self, rows):
            threads.update(pool["num_threads"] for pool in threadpool_info())
            return super().fit_predict(rows)

    monkeypatch.setattr(explained, "KMeans", Watched)
    with threadpool_limits(limits=2):
        explained_by_size(network, LABELS, np.arange(3), 3)
    assert threads == {1}


def test_noise_explains_little_and_fewer_features_may_be_enough(network):
    curve = explained_by_size(network, LABELS, np.array([3, 4, 5, 6]), 4)
    assert curve[-1]["share"] < 0.3
    assert enough([{"n_features": 2, "share": 0.5}, {"n_features": 4, "share": 0.52}], 4) == 2
    assert enough([{"n_features": 2, "share": 0.1}], 4) is None


def test_nothing_is_measured_against_one_block_or_without_features(network):
    assert explained_by_size(network, np.zeros(60, dtype=np.intp), np.arange(3), 3) == []
    assert explained_by_size(network, LABELS, np.arange(0), 0) == []


@pytest.mark.parametrize(
    ("n_selected", "n_usable", "sizes"),
    [(3, 100, [1, 2, 3, 4, 8, 12]), (4, 6, [1, 2, 4, 6]), (1, 1, [1]), (0, 9, [1, 2, 4])],
)
def test_sizes_double_up_to_four_times_the_selection_and_hold_the_selection(n_selected, n_usable, sizes):
    assert sizes_to_try(n_selected, n_usable) == sizes


def test_dense_and_sparse_features_give_the_same_curve(network):
    other = check_attributed_graph(sparse.csr_array(network.features), network.adjacency)
    assert explained_by_size(other, LABELS, np.arange(7), 3) == explained_by_size(network, LABELS, np.arange(7), 3)
