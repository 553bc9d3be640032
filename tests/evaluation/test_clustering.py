"""The K-means protocol agrees with the paper, is deterministic, and handles degenerate data."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import make_attributed_blocks
from blockselect.evaluation import evaluate_selection
from references import protocol


@pytest.fixture(scope="module")
def planted():
    return make_attributed_blocks(120, 3, n_informative=12, n_redundant=0, n_noise=28, random_state=0)


def assert_same(scores, expected):
    assert_array_equal(scores.accuracies, expected.accuracies)
    assert_array_equal(scores.nmis, expected.nmis)
    assert scores.n_zero_rows == expected.n_zero_rows


@pytest.mark.parametrize("columns", [np.arange(6), np.arange(10, 16)])
def test_it_is_the_protocol_of_the_paper_to_the_letter(planted, columns):
    Y = planted.features.toarray()
    scores = evaluate_selection(planted.features, planted.blocks, columns, n_runs=4)
    accuracies, nmis = protocol.accuracies_and_nmis(Y, planted.blocks, columns, n_runs=4)
    assert_allclose(scores.accuracies, accuracies, rtol=1e-12)
    assert_allclose(scores.nmis, nmis, rtol=1e-12)
    assert scores.accuracy == pytest.approx(np.mean(accuracies))
    assert scores.accuracy_sd == pytest.approx(np.std(accuracies))
    assert scores.nmi == pytest.approx(np.mean(nmis))
    assert scores.nmi_sd == pytest.approx(np.std(nmis))


def test_twenty_runs_with_the_seeds_from_zero_are_the_default(planted):
    scores = evaluate_selection(planted.features, planted.blocks, [0, 1, 2], n_init=1)
    assert scores.accuracies.shape == scores.nmis.shape == (20,)
    later = evaluate_selection(planted.features, planted.blocks, [0, 1, 2], n_init=1, n_runs=5, first_seed=15)
    assert_array_equal(later.accuracies, scores.accuracies[15:])


def test_informative_features_beat_noise(planted):
    def accuracy(columns):
        return evaluate_selection(planted.features, planted.blocks, columns, n_runs=5).accuracy

    informative = np.flatnonzero(planted.is_informative)
    noise = np.flatnonzero(~planted.is_informative)[: len(informative)]
    assert accuracy(informative) > accuracy(noise) + 0.2


@pytest.mark.parametrize("columns", [np.arange(5), np.arange(40)])
def test_how_features_are_stored_does_not_matter(planted, columns):
    expected = evaluate_selection(planted.features, planted.blocks, columns, n_runs=2)
    with_zeros = planted.features.copy()
    with_zeros.data[:7] = 0
    cleaned = with_zeros.copy()
    cleaned.eliminate_zeros()
    wide = planted.features.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for features in (planted.features.toarray(), planted.features.tocsc(), wide, planted.features.astype(np.float32)):
        assert_same(evaluate_selection(features, planted.blocks, columns, n_runs=2), expected)
    assert_same(
        evaluate_selection(with_zeros, planted.blocks, columns, n_runs=2),
        evaluate_selection(cleaned, planted.blocks, columns, n_runs=2),
    )


def test_a_mask_indices_and_their_order_are_the_same_selection(planted):
    columns = np.array([7, 3, 22, 11])
    expected = evaluate_selection(planted.features, planted.blocks, np.sort(columns), n_runs=2)
    mask = np.isin(np.arange(40), columns)
    for selected in (columns, mask, columns.tolist()):
        assert_same(evaluate_selection(planted.features, planted.blocks, selected, n_runs=2), expected)


def test_workers_share_the_runs_without_changing_them(planted):
    columns = np.arange(20)
    expected = evaluate_selection(planted.features, planted.blocks, columns, n_runs=5)
    with parallel_config(backend="threading"):
        assert_same(evaluate_selection(planted.features, planted.blocks, columns, n_runs=5, n_jobs=2), expected)


def test_the_callers_features_are_not_changed(planted):
    for features in (planted.features.copy(), planted.features.toarray() * 3):
        before = features.copy()
        evaluate_selection(features, planted.blocks, np.arange(40), n_runs=1)
        assert abs(features - before).sum() == 0


def test_zero_rows_are_counted(planted):
    features = planted.features.toarray()
    features[:9] = 0
    expected = int((features[:, :4] == 0).all(axis=1).sum())
    assert expected >= 9
    assert evaluate_selection(features, planted.blocks, np.arange(4), n_runs=1).n_zero_rows == expected


@pytest.mark.parametrize("width", [1, 80])  # clustered as dense and as sparse rows
def test_selected_features_that_are_all_zero_put_all_nodes_into_one_cluster(width):
    classes = np.repeat([0, 1, 2], [10, 6, 4])
    features = sparse.csr_array(np.eye(20, 100, k=80))
    scores = evaluate_selection(features, classes, np.arange(width), n_runs=2)
    assert scores.n_zero_rows == 20
    assert_allclose(scores.accuracies, 0.5)
    assert_allclose(scores.nmis, 0, atol=1e-12)


def test_fewer_distinct_rows_than_clusters_are_clustered_without_complaint():
    classes = np.repeat([0, 1, 2], [10, 6, 4])
    features = (classes[:, None] == [0, 1]).astype(float)[:, [0, 0]]  # all rows of classes 1 and 2 are zero
    scores = evaluate_selection(features, classes, [0, 1], n_runs=3)
    assert_allclose(scores.accuracies, 16 / 20)
    assert scores.n_zero_rows == 10


def test_the_number_of_clusters_may_differ_from_that_of_classes(planted):
    scores = evaluate_selection(planted.features, planted.blocks, np.arange(40), n_clusters=1, n_runs=1)
    assert_allclose(scores.accuracies, np.bincount(planted.blocks).max() / 120)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"selected": []}, "at least one column"),
        ({"selected": np.zeros(40, dtype=bool)}, "at least one column"),
        (
            {"selected": np.ones(39, dtype=bool)},
            r"contains bool values of shape \(39,\); .* or a mask of shape \(40,\)",
        ),
        ({"selected": [0, 40]}, "contains 40 at position 1, which is not a column; columns are 0 to 39"),
        ({"selected": [-1]}, "contains -1 at position 0, which is not a column"),
        ({"selected": [0.5]}, "contains float64 values .* expected the indices of at least one column"),
        ({"selected": [3, 3]}, "expected .* without repeats"),
        ({"classes": np.zeros(7)}, "classes has shape \\(7,\\) but there are 120 nodes"),
        ({"n_clusters": 121}, "n_samples=120 should be >= n_clusters=121"),
        ({"n_clusters": 0}, "'n_clusters' parameter of KMeans .* Got 0"),
        ({"n_runs": 0}, "n_runs is 0"),
        ({"n_init": 0}, "'n_init' parameter of KMeans .* Got 0"),
    ],
)
def test_bad_input_is_refused(planted, changes, message):
    arguments = {"features": planted.features, "classes": planted.blocks, "selected": [0, 1], **changes}
    with pytest.raises(ValueError, match=message):
        evaluate_selection(**arguments)
