"""Prevalence, lift and marked blocks agree with a slow count, and a tiny block does not win by one node."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.blockmodels.markers import block_markers
from blockselect.graphs.chunks import RowChunks

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


def test_evidence_is_the_signed_poisson_gain_of_a_mean_of_its_own(markers):
    column = FEATURES[:, 4]
    unit = column[column > 0].mean()
    for block in range(3):
        inside = block == LABELS
        S, E = column[inside].sum() / unit, column.mean() * inside.sum() / unit
        assert_allclose(markers.evidence[block, 4], np.sign(S - E) * (S * np.log(S / E) - (S - E)))


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
    assert_array_equal(other.prevalence, markers.prevalence)


def test_labels_of_other_nodes_are_refused():
    with pytest.raises(ValueError, match="59 labels but 60 nodes"):
        block_markers(FEATURES, LABELS[:59])
