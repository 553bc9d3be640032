"""Candidates of several families in turn."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from blockselect.blockmodels import FAMILIES, find_block_models
from blockselect.blockmodels.candidates import ALL_IN_TURN, MIXED, members_in_turn
from blockselect.blockmodels.families import Search
from blockselect.datasets import make_attributed_blocks


@pytest.fixture(scope="module")
def network():
    return make_attributed_blocks(120, 3, mean_degree=12, random_state=0)


def find(network, n_candidates, features):
    return find_block_models(
        network.adjacency,
        3,
        family="mixed",
        features=features,
        n_candidates=n_candidates,
        rng=np.random.default_rng(0),
    )


@pytest.mark.parametrize("n_candidates", [3, 7, 9])
@pytest.mark.parametrize("with_features", [True, False])
def test_the_first_candidates_are_shared_out_evenly(network, n_candidates, with_features):
    counts = Counter(model.family for model in find(network, n_candidates, network.features if with_features else None))
    members = set(MIXED) - (set() if with_features else {"smoothed"})
    assert set(counts) <= members
    assert counts.total() == n_candidates
    shares = [counts[name] for name in members]
    assert max(shares) - min(shares) <= 1


def test_families_take_their_turns_in_a_fixed_order():
    order = ["smoothed", "spectral", "adjacency"]
    without_features = [name for name in order if name != "smoothed"]
    assert members_in_turn(5, with_features=True) == [*order, *order[:2]]
    assert members_in_turn(5, with_features=False) == [*without_features, *without_features, "spectral"]


@pytest.mark.parametrize("with_features", [True, False])
def test_after_nine_candidates_the_factorisations_take_turns_too(network, with_features):
    later = Counter(members_in_turn(9 + 12, with_features=with_features)[9:])
    assert set(later) == set(ALL_IN_TURN) - (set() if with_features else {"smoothed"})
    assert max(later.values()) - min(later.values()) <= 1
    found = find(network, 15, network.features if with_features else None)
    assert {"two_hop", "normalized", "onmtf"} <= {model.family for model in found}


def test_each_candidate_is_the_one_its_family_finds(network):
    rngs = np.random.default_rng(0).spawn(8)
    mixed = find(network, 8, network.features)
    for name in MIXED:
        own = [
            labels
            for rng in rngs
            for labels in run_starts(name, Search(network.adjacency, 3, [_copy(rng)], network.features))
        ]
        for model in mixed:
            if model.family == name:
                assert any(np.array_equal(_together(model.labels), _together(labels)) for labels in own)


def test_more_candidates_include_fewer(network):
    rngs = [np.random.default_rng(0).spawn(n) for n in (11, 4)]
    eleven, four = (run_starts("mixed", Search(network.adjacency, 3, each, network.features)) for each in rngs)
    assert_array_equal(eleven[:4], four)


def _copy(rng):
    again = np.random.default_rng()
    again.bit_generator.state = rng.bit_generator.state
    return again


def _together(labels):
    return np.equal.outer(labels, labels)


def run_starts(family, search):
    return [start() for start in FAMILIES[family](search)]
