"""Reference features: features that mark a group are recognised, however active its nodes are."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect.inspection.null_model import reference_features

GROUPS = np.repeat([0, 1, 2], 100)


def drawn(n_marking, n_others, activity=(1.0, 1.0, 1.0), seed=0):
    """Features of 300 nodes, the first of which are four times as frequent in the first group."""
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.05, 0.15, n_marking + n_others)
    chance = np.asarray(activity)[GROUPS][:, None] * rates
    chance[:, :n_marking] *= np.where(GROUPS == 0, 4.0, 1.0)[:, None]
    return (rng.random(chance.shape) < chance).astype(np.float64)


@pytest.mark.parametrize("activity", [(1, 1, 1), (2, 1, 1), (1, 2, 0.5)])
@pytest.mark.parametrize("n_marking", [0, 5, 40])
def test_features_that_mark_a_group_are_told_from_those_that_only_follow_how_much_it_has(n_marking, activity):
    found = reference_features(drawn(n_marking, 100 - n_marking, activity), [GROUPS])
    assert found[n_marking:].mean() > 0.88  # a tenth of those left out may be left out by chance
    assert found[:n_marking].mean() < 0.2 if n_marking else True


def test_neither_the_form_nor_the_order_matters():
    features, order = drawn(20, 80), np.random.default_rng(1).permutation(300)
    found = reference_features(features, [GROUPS, GROUPS % 2])
    assert_array_equal(reference_features(sparse.csr_array(features), [GROUPS, GROUPS % 2]), found)
    assert_array_equal(reference_features(features[order], [GROUPS[order], GROUPS[order] % 2]), found)
    assert_array_equal(reference_features(features[:, ::-1], [GROUPS, GROUPS % 2])[::-1], found)


def test_values_of_any_spread_are_told_apart_by_more_than_chance():
    rng = np.random.default_rng(0)
    values = rng.lognormal(0, 1, (300, 60))
    values[:, :10] *= np.where(GROUPS == 0, 5.0, 1.0)[:, None]
    found = reference_features(values, [GROUPS])
    assert found[10:].mean() > 0.9
    assert found[:10].mean() < 0.2


def test_one_group_says_nothing_and_features_of_no_node_are_left_as_they_are():
    features = drawn(20, 80)
    assert reference_features(features, [np.zeros(300, dtype=int)]).all()
    features[:, -1] = 0
    assert reference_features(features, [GROUPS])[-1]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_features_of_no_node_say_nothing_of_the_others_however_many_there_are(kind):
    features = drawn(20, 80)
    found = reference_features(kind(features), [GROUPS])
    with_empty = reference_features(kind(np.hstack([np.zeros((300, 150)), features])), [GROUPS])
    assert with_empty[:150].all()
    assert_array_equal(with_empty[150:], found)
    assert reference_features(kind(np.zeros((300, 4))), [GROUPS]).all()
