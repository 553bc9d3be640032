"""Log-likelihood gains from blocks, for features of every kind."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.consensus.likelihood import (
    as_counts,
    dispersions,
    feature_gains,
    sums_by_block,
    xlogx,
)
from references import joint as reference
from references.joint import small_network


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_gain_of_a_feature_is_its_quasi_likelihood_ratio(seed, kind):
    _, X, labels = small_network(seed)
    slow = [reference.feature_gain(X, labels, feature) for feature in range(X.shape[1])]
    assert_allclose(gains_of(kind(X), labels), slow, atol=1e-9)


def gains_of(X, labels):
    counts = as_counts(X)
    (sums,) = sums_by_block(counts, [labels])
    return feature_gains(sums, xlogx(sums), np.bincount(labels, counts.totals))


def gains_as_poisson(X, labels):
    """Gains without division by the overdispersion."""
    F = np.eye(labels.max() + 1)[labels]
    return feature_gains(X.T @ F, xlogx(X.T @ F), X.sum(axis=1) @ F)


def many_nodes(seed, n=600, k=5):
    rng = np.random.default_rng(seed)
    return rng, rng.integers(k, size=n)


def words(rng, n, m):
    """Rare binary features; some nodes have many of them, others few."""
    return (rng.random((n, m)) < 0.02 * rng.lognormal(0, 1, size=(n, 1))).astype(float)


def bursty_counts(rng, n, m):
    return rng.negative_binomial(0.4, 0.1, size=(n, m)).astype(float)


def measurements(rng, n, m):
    return rng.normal(5, 0.5, size=(n, m)).clip(0)


@pytest.mark.parametrize("draw", [words, bursty_counts, measurements])
def test_noise_of_any_kind_gains_half_a_nat_for_each_free_rate_and_seldom_its_penalty(draw):
    rng, labels = many_nodes(0)
    gained = gains_of(draw(rng, len(labels), 600), labels)
    penalty = labels.max()
    assert gained.mean() == pytest.approx(penalty / 2, rel=0.1)
    assert (gained > penalty).mean() < 0.12  # 0.09 are expected of a chi-square with four degrees of freedom


def test_features_that_vary_more_or_less_than_counts_need_their_dispersion():
    rng, labels = many_nodes(1)
    penalty = labels.max()
    shifted = measurements(rng, len(labels), 100)
    shifted[:, :20] += 0.5 * (labels[:, None] == np.arange(20) % 5)  # each in its block
    bursty = bursty_counts(rng, len(labels), 100)
    gained, bursts_gained = (gains_of(X, labels) > penalty for X in (shifted, bursty))
    as_poisson = [gains_as_poisson(X, labels) > penalty for X in (shifted, bursty)]
    assert gained[:20].all()
    assert gained[20:].mean() < 0.15
    assert not as_poisson[0].any()
    assert bursts_gained.mean() < 0.15
    assert as_poisson[1].mean() > 0.6


def test_dispersion_is_near_one_for_rare_features_however_unequal_the_totals():
    rng, labels = many_nodes(2)
    X = words(rng, len(labels), 400)
    X[np.arange(400), np.arange(400)] = 1.0
    totals = X.sum(axis=1)
    phi = dispersions(X.sum(axis=0), (X**2).sum(axis=0), totals @ X, totals)
    assert_allclose(phi, [reference.dispersion(x, X.sum(axis=1)) for x in X.T], rtol=1e-10)
    assert_allclose(phi, 1, atol=0.25)


def test_gains_do_not_change_with_the_units_of_each_feature():
    rng, labels = many_nodes(3, n=200)
    X = np.hstack([words(rng, 200, 30), bursty_counts(rng, 200, 10), measurements(rng, 200, 10)])
    units = rng.uniform(1e-3, 1e3, size=X.shape[1])
    assert_allclose(gains_of(X * units, labels), gains_of(X, labels), rtol=1e-7, atol=1e-9)


def test_features_nobody_has_and_features_of_all_alike_gain_nothing():
    _, labels = many_nodes(4, n=60)
    X = np.column_stack([np.zeros(60), np.full(60, 3.0), np.full(60, 0.1)])
    assert_array_equal(gains_of(X, labels), 0)


def test_counts_are_in_units_of_their_mean_over_their_dispersion():
    X = np.array([[2.0, 0, 1], [0, 1, 1], [4, 0, 0], [0, 3, 0]])
    counts = as_counts(X)
    units = reference.in_units(X)
    totals = units.sum(axis=1)
    phi = np.array([reference.dispersion(x, totals) for x in units.T])
    assert_allclose(counts.totals, totals)
    assert_allclose(counts.typical, 1 / phi)
    assert_allclose(counts.matrix.toarray(), units / phi)
    assert not counts.equal


@pytest.mark.parametrize("unit", [1.0, 3.0])
@pytest.mark.parametrize("zero", [0.0, 1.0], ids=["stored zero", "no zero"])
def test_features_that_are_counted_stay_as_they_are(unit, zero):
    X = sparse.csr_array((np.array([unit, unit, zero * unit]), ([0, 1, 1], [0, 0, 1])), shape=(4, 2))
    before = X.copy()
    as_counts(X)
    for part in ("data", "indices", "indptr"):
        assert_array_equal(getattr(X, part), getattr(before, part))


@pytest.mark.parametrize(("off", "equal"), [(0.0, True), (1e-12, True), (1e-6, False)])
def test_values_are_equal_where_they_differ_by_rounding_alone(off, equal):
    X = np.array([[5.0, 0], [5 * (1 + off), 2], [0, 2]])
    assert as_counts(X).equal == equal


def test_features_without_columns_and_zeros_are_no_signed_ones():
    assert as_counts(np.zeros((3, 0))).totals.tolist() == [0, 0, 0]
    assert as_counts(np.zeros((3, 2))).totals.tolist() == [0, 0, 0]
