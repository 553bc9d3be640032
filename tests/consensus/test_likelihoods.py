"""What blocks tell of links and features, against likelihoods written out, for features of every kind."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.consensus.feature_likelihood import FeatureEvidence, as_counts, dispersions, feature_information
from blockselect.consensus.link_likelihood import LinkEvidence
from blockselect.consensus.moves import sweep
from blockselect.consensus.units import in_units
from references import joint as reference
from references.joint import small_network


@pytest.mark.parametrize("seed", range(4))
def test_gain_of_each_move_is_the_difference_of_the_likelihoods(seed):
    A, X, labels = small_network(seed)
    taken = np.array([True, False, True, True, False, True, True])
    links = LinkEvidence(sparse.csr_array(A), labels)
    features = FeatureEvidence(sparse.csr_array(X[:, taken]), X.sum(axis=1), labels)
    rng = np.random.default_rng(seed)
    for node in [0, 16, 17, *rng.integers(len(A), size=4)]:
        node, old = int(node), labels[node]
        if (labels == old).sum() == 1:
            continue
        here = slice(node, node + 1)
        for new in {0, 1, 2} - {old}:
            moved = labels.copy()
            moved[node] = new
            by_links = reference.link_log_likelihood(A, moved) - reference.link_log_likelihood(A, labels)
            by_features = sum(
                reference.feature_log_likelihood(x, X.sum(axis=1), moved)
                - reference.feature_log_likelihood(x, X.sum(axis=1), labels)
                for x in X[:, taken].T
            )
            assert_allclose(links.gains(here, labels[here])[0, new], by_links, atol=1e-9)
            assert_allclose(features.gains(here, labels[here])[0, new], by_features, atol=1e-9)
        links.move(node, old, new)
        features.move(node, old, new)
        labels = moved


@pytest.mark.parametrize("seed", range(4))
def test_gains_of_many_nodes_are_those_of_one_at_a_time(seed):
    A, X, labels = small_network(seed)
    for part in (
        LinkEvidence(sparse.csr_array(A), labels),
        FeatureEvidence(sparse.csr_array(X), X.sum(axis=1), labels),
    ):
        together = part.gains(slice(3, 15), labels[3:15])
        for row, node in zip(together, range(3, 15), strict=True):
            alone = part.gains(slice(node, node + 1), labels[node : node + 1])[0]
            elsewhere = np.arange(3) != labels[node]
            assert_allclose(row[elsewhere], alone[elsewhere], atol=1e-10)


def test_result_follows_the_nodes_when_nodes_and_visits_are_reordered():
    A, X, labels = small_network(5, n=30)
    order = np.random.default_rng(1).permutation(30)
    visits = np.random.default_rng(2).permutation(30)

    def moved(rows, visiting):
        block = labels[rows].copy()
        adjacency, features = sparse.csr_array(A[np.ix_(rows, rows)]), sparse.csr_array(X[rows])
        parts = [(1.0, LinkEvidence(adjacency, block)), (1.0, FeatureEvidence(features, X[rows].sum(axis=1), block))]
        assert sweep(block, parts, visiting, least_gain=1e-9, width=7) > 0
        return block

    assert_array_equal(moved(order, np.argsort(order)[visits]), moved(np.arange(30), visits)[order])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_information_of_a_feature_is_its_quasi_likelihood_ratio(seed, kind):
    _, X, labels = small_network(seed)
    slow = [reference.information(X, labels, feature) for feature in range(X.shape[1])]
    assert_allclose(information(kind(X), labels), slow, atol=1e-9)


def information(X, labels):
    return feature_information(*as_counts(X), labels)


def many_nodes(seed, n=600, k=5):
    rng = np.random.default_rng(seed)
    return rng, rng.integers(k, size=n)


def words(rng, n, m):
    """Rare features, 0 or 1, that nodes have many or few of."""
    return (rng.random((n, m)) < 0.02 * rng.lognormal(0, 1, size=(n, 1))).astype(float)


def bursty_counts(rng, n, m):
    return rng.negative_binomial(0.4, 0.1, size=(n, m)).astype(float)


def measurements(rng, n, m):
    return rng.normal(5, 0.5, size=(n, m)).clip(0)


@pytest.mark.parametrize("draw", [words, bursty_counts, measurements])
def test_noise_of_any_kind_is_told_half_a_nat_for_each_free_rate_and_seldom_its_price(draw):
    rng, labels = many_nodes(0)
    told = information(draw(rng, len(labels), 600), labels)
    price = labels.max()
    assert told.mean() == pytest.approx(price / 2, rel=0.1)
    assert (told > price).mean() < 0.12  # 0.09 are expected of a chi-square with four degrees of freedom


def test_features_that_vary_more_or_less_than_counts_need_their_dispersion():
    rng, labels = many_nodes(1)
    price = labels.max()
    shifted = measurements(rng, len(labels), 100)
    shifted[:, :20] += 0.5 * (labels[:, None] == np.arange(20) % 5)  # each in its block
    bursty = bursty_counts(rng, len(labels), 100)
    told, told_of_bursts = (feature_information(*as_counts(X), labels) > price for X in (shifted, bursty))
    as_poisson = [feature_information(sparse.csr_array(X), X.sum(axis=1), labels) > price for X in (shifted, bursty)]
    assert told[:20].all()
    assert told[20:].mean() < 0.15
    assert not as_poisson[0].any()
    assert told_of_bursts.mean() < 0.15
    assert as_poisson[1].mean() > 0.6


def test_dispersion_is_near_one_for_rare_features_however_unequal_the_totals():
    rng, labels = many_nodes(2)
    X = words(rng, len(labels), 400)
    X[np.arange(400), np.arange(400)] = 1.0
    phi = dispersions(sparse.csr_array(X), X.sum(axis=1))
    assert_allclose(phi, [reference.dispersion(x, X.sum(axis=1)) for x in X.T], rtol=1e-10)
    assert_allclose(phi, 1, atol=0.25)


def test_information_does_not_change_with_the_units_of_each_feature():
    rng, labels = many_nodes(3, n=200)
    X = np.hstack([words(rng, 200, 30), bursty_counts(rng, 200, 10), measurements(rng, 200, 10)])
    units = rng.uniform(1e-3, 1e3, size=X.shape[1])
    assert_allclose(information(X * units, labels), information(X, labels), rtol=1e-7, atol=1e-9)


def test_features_nobody_has_and_features_of_all_alike_are_told_nothing():
    _, labels = many_nodes(4, n=60)
    X = np.column_stack([np.zeros(60), np.full(60, 3.0), np.full(60, 0.1)])
    assert_array_equal(information(X, labels), 0)


def test_units_leave_zeros_and_ones_alone_and_the_caller_s_array():
    X = np.array([[0, 2.0, 1], [1, 0, 0], [0, 4, 1]])
    wanted = [[0, 2 / 3, 1], [1, 0, 0], [0, 4 / 3, 1]]
    assert_allclose(in_units(X), wanted)
    assert_allclose(in_units(sparse.csr_array(X)).toarray(), wanted)
    assert X[0, 1] == 2
