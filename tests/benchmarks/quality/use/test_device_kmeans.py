"""K-means in batches: as tight as scikit-learn's, the same clusters where they are plain, empty ones filled."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

torch = pytest.importorskip("torch")

from benchmarks.quality.use.device_kmeans import _means, kmeans_on_device  # noqa: E402 - after the check for torch


def spread(rows, labels):
    return sum(((rows[labels == k] - rows[labels == k].mean(axis=0)) ** 2).sum() for k in np.unique(labels))


def test_plain_clusters_are_found_in_every_run():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 30)
    rows = 10 * np.eye(4)[truth] + rng.normal(size=(120, 4))
    for labels in kmeans_on_device(rows, 4, n_runs=5, device="cpu"):
        assert adjusted_rand_score(truth, labels) == 1


def test_clusters_are_as_tight_as_those_of_scikit_learn():
    rows = np.random.default_rng(1).normal(size=(150, 6))
    ours = [spread(rows, labels) for labels in kmeans_on_device(rows, 8, n_runs=20, n_init=3, device="cpu")]
    theirs = [KMeans(8, n_init=3, random_state=seed).fit(rows).inertia_ for seed in range(20)]
    assert np.mean(ours) == pytest.approx(np.mean(theirs), abs=3 * np.std(theirs) / 20**0.5)
    assert np.std(ours) < 2 * np.std(theirs)


def test_more_starts_are_tighter_and_a_seed_gives_the_same():
    rows = np.random.default_rng(2).normal(size=(150, 6))
    one, many, again = (kmeans_on_device(rows, 8, n_runs=10, n_init=n, device="cpu") for n in (1, 10, 10))
    assert_array_equal(many, again)
    assert np.mean([spread(rows, each) for each in many]) < np.mean([spread(rows, each) for each in one])


def test_an_empty_cluster_moves_to_the_farthest_row():
    points = torch.tensor([[0.0], [1.0], [9.0]])
    centres = torch.tensor([[[0.0], [100.0]]])
    labels, gaps = torch.tensor([[0, 0, 0]]), torch.tensor([[0.0, 1.0, 81.0]])
    assert_allclose(_means(points, labels, gaps, centres)[0], [[0.5], [9.0]])


def test_fewer_different_rows_than_clusters_leave_clusters_empty():
    rows = np.repeat(np.eye(2), 5, axis=0)
    labels = kmeans_on_device(rows, 4, n_runs=3, n_init=2, device="cpu")
    assert [len(np.unique(each[:5])) + len(np.unique(each[5:])) for each in labels] == [2, 2, 2]
    assert (labels[:, 0] != labels[:, -1]).all()
