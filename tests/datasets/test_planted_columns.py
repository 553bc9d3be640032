"""Large networks are drawn non-zero by non-zero, small ones node by node: the distributions are the same."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from blockselect.datasets import make_attributed_blocks, planted_columns
from blockselect.datasets.planted_columns import VALUES
from blockselect.datasets.planted_holders import Holders, swapped_copy

COUNTS = {"n_informative": 60, "n_redundant": 60, "n_noise": 60, "n_decoys": 60}


@pytest.fixture
def by_non_zeros(monkeypatch):
    monkeypatch.setattr(planted_columns, "_CELLS", 0)


def means_by_block(planted, blocks):
    return np.array([planted.features[blocks == block].mean(axis=0) for block in range(planted.n_blocks)])


@pytest.mark.parametrize("values", VALUES)
def test_rates_at_home_and_elsewhere_are_those_of_the_plan(by_non_zeros, values):
    planted = make_attributed_blocks(40_000, 4, signal=5, frequency=(0.1, 0.1), values=values, random_state=0, **COUNTS)
    for role, blocks in (("informative", planted.blocks), ("decoy", planted.decoy_blocks)):
        means = means_by_block(planted, blocks)[:, planted.roles == role]
        at_home = means > 0.3
        assert at_home.any(axis=1).all()
        assert_allclose(means[at_home], 0.5, rtol=0.1)
        assert_allclose(means[~at_home], 0.1, rtol=0.2)


@pytest.mark.parametrize("values", VALUES)
def test_noise_keeps_its_values_and_follows_no_blocks(by_non_zeros, values):
    planted = make_attributed_blocks(40_000, 4, frequency=(0.1, 0.1), values=values, random_state=1, **COUNTS)
    means = means_by_block(planted, planted.blocks)[:, planted.roles == "noise"]
    assert_allclose(means, np.tile(means.mean(axis=0), (4, 1)), rtol=0.15)
    variances = planted.features.power(2).mean(axis=0) - planted.features.mean(axis=0) ** 2
    informative, noise = (variances[planted.roles == role] for role in ("informative", "noise"))
    assert abs(informative.mean() - noise.mean()) < 3 * np.sqrt(informative.var() / 60 + noise.var() / 60)


def test_copies_keep_their_values_and_resemble_their_originals_as_in_small_networks(by_non_zeros):
    planted = make_attributed_blocks(20_000, 4, copy_noise=0.2, values="counts", random_state=2, **COUNTS)
    dense = planted.features.toarray()
    copies = np.flatnonzero(planted.roles == "redundant")
    originals = planted.copied_from[copies]
    assert_array_equal(np.sort(dense[:, copies], axis=0), np.sort(dense[:, originals], axis=0))
    correlation = [np.corrcoef(dense[:, a], dense[:, b])[0, 1] for a, b in zip(copies, originals, strict=True)]
    assert_allclose(correlation, 0.8, atol=0.08)


@pytest.mark.parametrize(("copy_noise", "unchanged"), [(0.0, 1.0), (1.0, 0.01)])
def test_a_copy_swaps_no_node_or_all(copy_noise, unchanged):
    original = Holders(np.arange(0, 100_000, 100, dtype=np.int32), np.ones(1000, dtype=np.int32))
    copy = swapped_copy(original, 100_000, copy_noise, np.random.default_rng(0))
    assert len(np.unique(copy.nodes)) == 1000
    assert np.isin(copy.nodes, original.nodes).mean() == pytest.approx(unchanged, abs=0.015)


def test_every_node_is_as_likely_as_any_other_to_take_a_swapped_value():
    """Also those between and after the holders, which stand closely together."""
    original = Holders(np.array([0, 1, 2, 5, 6, 9], dtype=np.int32), np.ones(6, dtype=np.int32))
    copies = [swapped_copy(original, 10, 1.0, np.random.default_rng(seed)).nodes for seed in range(4000)]
    share = np.bincount(np.concatenate(copies), minlength=10) / 4000
    assert_allclose(share, 0.6, atol=4.5 * np.sqrt(0.24 / 4000))


def test_every_feature_is_somewhere_however_rare(by_non_zeros):
    planted = make_attributed_blocks(20, 2, mean_degree=4, frequency=(1e-9, 1e-8), random_state=0)
    assert (planted.features.sum(axis=0) >= 1).all()


def test_rows_are_sorted_and_hold_no_feature_twice(by_non_zeros):
    planted = make_attributed_blocks(500, values="counts", n_decoys=10, random_state=0)
    assert planted.features.has_canonical_format
    assert planted.features.data.min() >= 1
