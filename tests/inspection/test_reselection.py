"""The estimated probability of selection is the share of selections in further resamples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from blockselect.inspection.stability import reselection_chance


class _Truth:
    """Scores whose logarithms have heavy-tailed locations, different spreads and three common factors."""

    def __init__(self, rng, n_features, *, noise, zeros=0.0, rounding=0.0):
        self.rng, self.rounding = rng, rounding
        self.location = 0.7 * rng.standard_t(3, n_features)
        self.spread = noise * np.exp(0.5 * rng.normal(size=n_features))
        self.loadings = 0.4 * rng.normal(size=(3, n_features))
        self.chance_of_zero = np.where(rng.random(n_features) < zeros, rng.random(n_features), 0)
        self.chance_of_zero[rng.random(n_features) < zeros] = 1

    def draw(self, n_draws):
        shape = (n_draws, len(self.location))
        shocks = self.rng.normal(size=shape) + self.rng.normal(size=(n_draws, 3)) @ self.loadings
        logs = self.location + self.spread * shocks
        if self.rounding:
            logs = np.round(logs / self.rounding) * self.rounding
        return np.where(self.rng.random(shape) < self.chance_of_zero, 0, np.exp(logs))


def _share_selected(scores, n_selected):
    rank = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
    return ((rank < n_selected) & (scores > 0)).mean(axis=0)


def _stated_and_observed(seed, n_resamples, n_selected, *, n_networks=20, n_features=200, **truth):
    rng = np.random.default_rng(seed)
    stated, observed = [], []
    for _ in range(n_networks):
        network = _Truth(rng, n_features, **truth)
        stated.append(reselection_chance(network.draw(n_resamples), n_selected))
        observed.append(_share_selected(network.draw(200), n_selected))
    return np.concatenate(stated), np.concatenate(observed)


def _largest_gap(stated, observed, at_least=30):
    bins = np.minimum((10 * stated).astype(int), 9)
    members = [bins == b for b in range(10) if np.count_nonzero(bins == b) >= at_least]
    assert len(members) >= 3  # else nothing is compared but the sure ones
    return max(abs(observed[m].mean() - stated[m].mean()) for m in members)


@pytest.mark.parametrize(
    ("n_resamples", "n_selected", "noise"), [(5, 20, 0.1), (8, 80, 0.1), (5, 80, 0.3), (5, 20, 1.0), (8, 80, 1.0)]
)
def test_nine_in_ten_means_nine_in_ten(n_resamples, n_selected, noise):
    assert _largest_gap(*_stated_and_observed(0, n_resamples, n_selected, noise=noise)) <= 0.07


@pytest.mark.parametrize("n_resamples", [5, 8])
@pytest.mark.parametrize("awkward", [{"zeros": 0.2}, {"rounding": 0.25}, {"zeros": 0.2, "rounding": 0.25}])
def test_chances_hold_with_zeros_and_ties(n_resamples, awkward):
    assert _largest_gap(*_stated_and_observed(1, n_resamples, 40, noise=0.3, **awkward)) <= 0.07


def test_chances_are_closer_to_the_truth_than_the_share_of_resamples():
    rng = np.random.default_rng(2)
    errors = []
    for _ in range(10):
        network = _Truth(rng, 200, noise=0.5)
        scores, truth = network.draw(8), _share_selected(network.draw(200), 40)
        errors.append(
            [np.square(p - truth).mean() for p in (reselection_chance(scores, 40), _share_selected(scores, 40))]
        )
    ours, share = np.mean(errors, axis=0)
    assert ours < 0.7 * share


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n_resamples=st.integers(3, 10), n_selected=st.integers(1, 15))
def test_chances_stay_chances_and_follow_the_order_of_features(seed, n_resamples, n_selected):
    rng = np.random.default_rng(seed)
    scores = rng.lognormal(size=(n_resamples, 15)) * (rng.random((n_resamples, 15)) < rng.random())
    order = rng.permutation(15)
    chance = reselection_chance(scores, n_selected)
    assert ((chance >= 0) & (chance <= 1)).all()
    assert_array_equal(chance == 0, ~scores.any(axis=0))
    assert_allclose(reselection_chance(scores[:, order], n_selected), chance[order], atol=1e-9)


def test_the_scale_of_a_resample_does_not_matter():
    scores = _Truth(np.random.default_rng(3), 50, noise=0.3).draw(6)
    scaled = scores * np.array([1, 10, 0.1, 5, 2, 7])[:, None]
    assert_allclose(reselection_chance(scaled, 10), reselection_chance(scores, 10), atol=1e-9)


def test_where_fewer_score_above_zero_than_are_selected_those_that_do_are_stable():
    scores = np.zeros((6, 40))
    scores[:, :5] = np.random.default_rng(0).lognormal(size=(6, 5))
    chance = reselection_chance(scores, 10)
    assert (chance[:5] > 0.95).all()
    assert_array_equal(chance[5:], 0)


def test_resamples_that_all_agree_are_believed():
    scores = np.tile(np.linspace(1, 2, 30), (5, 1))
    chance = reselection_chance(scores, 10)
    assert (chance[-10:] > 0.9).all()
    assert (chance[:-10] < 0.1).all()


def test_scores_that_are_all_zero_are_never_selected():
    assert_array_equal(reselection_chance(np.zeros((5, 4)), 2), 0)
