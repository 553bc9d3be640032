"""Lift and evidence agree with a slow count, markers with an exact test, and typical nodes with their definition."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import beta, false_discovery_control

from blockselect.blockmodels.markers import block_markers, effective_holders, typical_nodes
from blockselect.rows.chunks import RowChunks

RNG = np.random.default_rng(0)
LABELS = RNG.permutation(np.repeat([0, 1, 2], [30, 20, 10]))
FEATURES = RNG.poisson(0.3 + 2.0 * (LABELS[:, None] == np.arange(6) % 3)).astype(float)


@pytest.fixture(scope="module")
def markers():
    return block_markers(FEATURES, LABELS)


def test_means_lift_and_prevalence_are_those_of_a_slow_count(markers):
    for feature, column in enumerate(FEATURES.T):
        assert markers.prevalence[feature] == np.mean(column > 0)
        for block in range(3):
            inside = column[block == LABELS]
            assert_allclose(markers.block_means[block, feature], inside.mean())
            assert_allclose(markers.lift[block, feature], inside.mean() / column.mean())


def test_evidence_is_the_gain_of_a_binomial_share_of_its_own(markers):
    column = FEATURES[:, 4]
    holders = effective_holders(FEATURES)[4]
    for block in range(3):
        q, p = column[block == LABELS].sum() / column.sum(), np.mean(block == LABELS)
        gain = holders * (q * np.log(q / p) + (1 - q) * np.log((1 - q) / (1 - p)))
        assert_allclose(markers.evidence[block, 4], np.sign(q - p) * gain)


def test_effective_holders_vary_over_random_blocks_as_the_feature_does():
    rng = np.random.default_rng(1)
    column = 3.0 + rng.normal(0, 1, 400)  # not skewed
    share = [rng.permutation(column)[:100].sum() / column.sum() for _ in range(4000)]
    h = effective_holders(column[:, None])[0]
    assert np.var(share) == pytest.approx(0.25 * 0.75 / h, rel=0.08)


def test_large_values_count_as_fewer_holders_with_the_same_third_moment():
    column = np.random.default_rng(1).lognormal(0, 1, 400)
    third = np.sum((column - column.mean()) ** 3)
    h = effective_holders(column[:, None])[0]
    assert h * (column.sum() / h) ** 3 == pytest.approx(third)
    assert h < column.sum() ** 2 / (400 * column.var(ddof=1))


def test_markers_are_those_of_benjamini_and_hochberg_on_binomial_tails():
    rng = np.random.default_rng(2)
    labels = rng.permutation(np.repeat(np.arange(4), [90, 60, 40, 10]))
    X = (rng.random((200, 30)) < 0.1 + 0.25 * (labels[:, None] == np.arange(30) % 6)).astype(float)
    markers = block_markers(X, labels)
    held, n = X.sum(axis=0), len(labels)
    h = effective_holders(X)
    assert_allclose(h, held / (1 - held / n) * (n - 1) / n)
    p_values = np.array(
        [
            [
                beta.cdf(
                    np.mean(labels == b),
                    h[j] * X[labels == b, j].sum() / held[j],
                    h[j] - h[j] * X[labels == b, j].sum() / held[j] + 1,
                )
                for j in range(30)
            ]
            for b in range(4)
        ]
    )
    adjusted = false_discovery_control(np.where(markers.lift > 1, p_values, 1.0).ravel())
    assert_array_equal(markers.marks, adjusted.reshape(4, 30) <= 0.025)
    assert 5 < markers.marks.sum() < 40
    for block in range(4):
        low, high = markers.intervals(block, np.arange(30))
        assert_array_equal(low > 1, markers.marks[block])
        assert (low <= markers.lift[block]).all()
        assert (markers.lift[block] <= high).all()


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.poisson(rng.gamma(0.5, 1.0, 60), (400, 60)).astype(float),
        lambda rng: rng.lognormal(0, 1, (400, 60)),
        lambda rng: rng.normal(20, 1, (400, 60)),
    ],
    ids=["counts", "lognormal", "normal"],
)
def test_features_unrelated_to_the_blocks_rarely_mark_any(draw):
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(8), 50)
    false = [block_markers(draw(rng), labels).marks.any() for _ in range(40)]
    assert np.count_nonzero(false) <= 4  # at most 2.5 % of 40 networks are expected to have a false marker


def test_a_feature_marks_every_block_where_it_is_common():
    labels = np.repeat(np.arange(5), 40)
    word = np.isin(labels, [1, 3]).astype(float)
    markers = block_markers(word[:, None], labels)
    assert markers.marks[:, 0].tolist() == [False, True, False, True, False]
    assert [markers.features_of(block).tolist() for block in range(3)] == [[], [0], []]


def test_the_interval_of_one_test_is_that_of_clopper_and_pearson():
    labels, column = np.repeat([0, 1], [50, 150]), np.zeros(200)
    column[:30] = column[60:70] = 1
    markers = block_markers(column[:, None], labels)
    low, high = markers.intervals(0, np.array([0]))
    h = markers.effective[0]
    tail = 0.025 / 2  # one marker of two pairs
    assert_allclose(low[0] / 4, beta.ppf(tail, 0.75 * h, 0.25 * h + 1))
    assert_allclose(high[0] / 4, beta.ppf(1 - tail, 0.75 * h + 1, 0.25 * h))


def test_a_feature_marks_the_block_it_was_made_for(markers):
    assert_array_equal(markers.marked_block, np.arange(6) % 3)
    assert_array_equal(markers.marked_lift, markers.lift[markers.marked_block, np.arange(6)])


def test_features_of_a_block_come_by_evidence(markers):
    among = np.array([0, 1, 3, 4])
    found = markers.features_of(1, among)
    assert set(found) == {1, 4}
    assert markers.evidence[1, found[0]] >= markers.evidence[1, found[1]]


def test_one_node_of_a_tiny_block_does_not_outweigh_a_large_block():
    labels = np.repeat([0, 1, 2], [100, 2, 398])
    column = np.zeros(500)
    column[:60] = column[100] = 1  # 60 % of the large block, 50 % of the tiny one
    markers = block_markers(np.column_stack([column, np.where(labels == 1, 1.0, 0.0)]), labels)
    assert markers.marked_block.tolist() == [0, 1]


def test_features_that_are_empty_or_alike_everywhere_mark_nothing():
    markers = block_markers(np.array([[0.0, 3.1], [0.0, 3.1], [0.0, 3.1]]), ["a", "b", "b"])
    assert markers.marked_block.tolist() == [-1, -1]
    assert_array_equal(markers.lift, np.ones((2, 2)))
    assert_array_equal(markers.marked_lift, [1, 1])


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_of_a_feature_do_not_matter(markers, scale):
    scaled = block_markers(FEATURES * scale, LABELS)
    assert_allclose(scaled.lift, markers.lift)
    assert_allclose(scaled.evidence, markers.evidence)


@pytest.mark.parametrize("form", [sparse.csr_array, lambda X: RowChunks.from_blocks([X[:25], X[25:]])])
def test_sparse_and_chunked_features_give_the_same(markers, form):
    other = block_markers(form(FEATURES), LABELS)
    assert_allclose(other.lift, markers.lift)
    assert_allclose(other.evidence, markers.evidence)
    assert_array_equal(other.marks, markers.marks)
    assert_array_equal(other.prevalence, markers.prevalence)


def test_labels_of_other_nodes_are_refused():
    with pytest.raises(ValueError, match="59 labels but 60 nodes"):
        block_markers(FEATURES, LABELS[:59])


def network_with_a_hub():
    """Two rings of 30 nodes; node 0 is in the first but links to everything, and only odd nodes have the markers."""
    labels = np.repeat([0, 1], 30)
    A = np.zeros((60, 60))
    for node in range(60):
        start = 30 * labels[node]
        for step in (1, 2, 3):
            A[node, start + (node - start + step) % 30] = 1
    A[0] = 1
    A = np.maximum(A, A.T)
    np.fill_diagonal(A, 0)
    features = np.zeros((60, 3))
    features[1:30:2, 0] = features[31:60:2, 1] = features[::7, 2] = 1
    return sparse.csr_array(A), labels, features


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: RowChunks.from_blocks([X[:25], X[25:]])])
def test_typical_nodes_link_into_their_block_and_have_its_markers(form):
    adjacency, labels, features = network_with_a_hub()
    markers = block_markers(features, labels)
    found = typical_nodes(form(features), adjacency, labels, markers, np.array([0, 1]), 5)
    for block, nodes in enumerate(found):
        assert (labels[nodes] == block).all()
        assert features[nodes, block].all()
    assert 0 not in found[0]  # the hub has most links inside, but no more than its degree explains


def test_a_block_without_inner_links_has_typical_nodes_by_its_markers():
    labels = np.repeat([0, 1], 20)
    adjacency = sparse.csr_array((labels[:, None] != labels).astype(float))
    features = np.column_stack([labels == 0, labels == 1]).astype(float)
    features[3:17] = 0
    found = typical_nodes(features, adjacency, labels, block_markers(features, labels), np.array([0, 1]), 3)
    assert set(found[0]) <= {0, 1, 2, 17, 18, 19}
