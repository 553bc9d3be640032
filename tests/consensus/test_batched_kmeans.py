"""Many short runs of K-means at once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans

from blockselect.consensus import batched_kmeans as module
from blockselect.consensus.batched_kmeans import (
    _drawn,
    _first_centres,
    _join_nearest,
    _move_centres,
    _parts,
    clusterings,
)


@pytest.fixture
def rows():
    """Four groups apart from each other."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(4), 30)
    return sparse.csr_array(np.eye(4, 6)[groups] + 0.05 * rng.random((120, 6))), groups


def inertia(rows, labels):
    dense = rows.toarray()
    return sum(((dense[labels == one] - dense[labels == one].mean(axis=0)) ** 2).sum() for one in np.unique(labels))


def test_groups_apart_are_found_in_most_runs(rows):
    features, groups = rows
    runs = clusterings(features, (4,), n_starts=10, rng=np.random.default_rng(0), n_sample=1000)
    right = [len(np.unique(labels * 4 + groups)) == 4 for labels in runs]
    assert np.mean(right) > 0.5


def test_no_centre_is_begun_twice_where_rows_are_alike():
    """A row's chance is its squared distance to the centres that there are: none where it equals one."""
    kinds = np.arange(40) % 4
    parts = _parts(sparse.csr_array(np.eye(4, 6)[kinds]))
    ends = np.cumsum(np.full(25, 4))
    centres = _first_centres(*parts, 6, ends, np.random.default_rng(0).random((4, 25)))
    for last in ends:
        assert_array_equal(centres[:, last - 4 : last].sum(axis=1), [1, 1, 1, 1, 0, 0])


def test_runs_come_by_number_of_clusters(rows):
    runs = clusterings(rows[0], (2, 5), n_starts=3, rng=np.random.default_rng(0), n_sample=1000)
    assert runs.shape == (6, 120)
    assert (runs[:3].max(axis=1) == 1).all()
    assert (runs[3:].max(axis=1) <= 4).all()


def test_as_tight_as_the_library_on_average():
    rng = np.random.default_rng(1)
    rows = sparse.random_array((400, 30), density=0.2, rng=rng, format="csr")
    ours = [inertia(rows, labels) for labels in clusterings(rows, (6,), n_starts=20, rng=rng, n_sample=1000)]
    theirs = [KMeans(6, n_init=1, random_state=seed).fit(rows).inertia_ for seed in range(20)]
    assert_allclose(np.mean(ours), np.mean(theirs), rtol=0.02)


def test_one_iteration_is_lloyds():
    rng = np.random.default_rng(2)
    rows = sparse.random_array((50, 8), density=0.4, rng=rng, format="csr")
    ends = np.array([3, 7])
    centres = _first_centres(*_parts(rows), 8, ends, rng.random((4, 2)))
    labels = np.full((2, 50), -1)
    before = centres.T.copy()
    _join_nearest(*_parts(rows), centres, ends, labels)
    _move_centres(*_parts(rows), centres, ends, labels)
    dense = rows.toarray()
    for run, own in enumerate((slice(0, 3), slice(3, 7))):
        nearest = ((dense[:, None] - before[own]) ** 2).sum(axis=2).argmin(axis=1)
        assert_array_equal(labels[run], nearest)
        for cluster in np.unique(nearest):
            assert_allclose(centres.T[own][cluster], dense[nearest == cluster].mean(axis=0), atol=1e-5)


def test_rows_beyond_the_sample_join_the_nearest_centre(rows):
    features, groups = rows
    runs = clusterings(features, (4,), n_starts=10, rng=np.random.default_rng(0), n_sample=60)
    assert runs.shape == (10, 120)
    assert np.mean([len(np.unique(labels * 4 + groups)) == 4 for labels in runs]) > 0.5


def test_rows_without_any_value_are_clustered_too():
    runs = clusterings(sparse.csr_array((10, 3)), (3,), n_starts=2, rng=np.random.default_rng(0), n_sample=100)
    assert_array_equal(runs, 0)


@pytest.mark.parametrize(
    ("draw", "evenly", "place"), [(0.2, False, 0), (0.25, False, 2), (0.99, False, 2), (0.3, True, 0), (0.4, True, 1)]
)
def test_a_place_is_drawn_by_its_share_of_the_weights_or_evenly(draw, evenly, place):
    assert _drawn(np.array([1.0, 0, 3]), draw, evenly) == place


def test_a_place_is_drawn_evenly_where_all_weights_are_zero():
    assert [_drawn(np.zeros(4), draw, False) for draw in (0.0, 0.3, 0.99, 1.0)] == [0, 1, 3, 3]


def slow_first_centres(rows, k, draws):
    """One run, one centre at a time."""
    nearest, chosen = np.full(len(rows), np.inf), []
    for step in range(k):
        shares = np.cumsum(nearest) / nearest.sum() if step else np.arange(1, len(rows) + 1) / len(rows)
        chosen.append(int(np.argmax(shares > draws[step])))
        nearest = np.minimum(nearest, ((rows - rows[chosen[-1]]) ** 2).sum(axis=1))
    return rows[chosen]


def slow_lloyd(rows, centres, n_iter):
    for _ in range(n_iter):
        labels = ((rows[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.array([rows[labels == at].mean(axis=0) for at in range(len(centres))])
    return labels


def test_first_centres_are_those_of_k_means_plus_plus_in_each_run():
    rng = np.random.default_rng(4)
    rows = sparse.random_array((60, 7), density=0.5, rng=rng, format="csr")
    sizes = np.array([3, 5, 2, 5])
    draws = rng.random((5, 4))
    centres = _first_centres(*_parts(rows), 7, np.cumsum(sizes), draws).T
    expected = [slow_first_centres(rows.toarray(), k, draws[:, run]) for run, k in enumerate(sizes)]
    assert_allclose(centres, np.vstack(expected), atol=1e-6)


def test_iterations_go_on_until_hardly_a_row_changes():
    """Each run from its own draws; one row in a thousand of all runs may change in the last iteration."""
    rows = sparse.random_array((150, 5), density=0.8, rng=np.random.default_rng(5), format="csr")
    found = clusterings(rows, (3, 4), n_starts=2, rng=np.random.default_rng(6), n_sample=150)
    draws = np.random.default_rng(6).random((4, 4))
    starts = [slow_first_centres(rows.toarray(), k, draws[:, run]) for run, k in enumerate((3, 3, 4, 4))]
    by_iteration = [np.array([slow_lloyd(rows.toarray(), start, n) for start in starts]) for n in range(1, 21)]
    n_changed = [np.count_nonzero(one != other) for one, other in zip(by_iteration[1:], by_iteration, strict=False)]
    last = next(at for at, changed in enumerate(n_changed) if changed <= 0.6) + 1
    assert 3 < last < 19
    assert_array_equal(found, by_iteration[last])


@pytest.mark.parametrize(("n_changed", "n_iter"), [(2, 20), (1, 1), (0, 1)])
def test_at_most_twenty_iterations_are_made_and_none_after_one_row_in_a_thousand_changed(
    monkeypatch, n_changed, n_iter
):
    made = []
    monkeypatch.setattr(module, "_join_nearest", lambda *given: made.append(given) or n_changed)
    rows = sparse.csr_array(np.eye(1000, 5))
    clusterings(rows, (2,), n_starts=1, rng=np.random.default_rng(0), n_sample=1000)
    assert len(made) == n_iter
