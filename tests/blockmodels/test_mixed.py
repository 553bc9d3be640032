"""Candidates of several families in turn."""

from collections import Counter

import pytest

from blockselect.blockmodels import find_block_models
from blockselect.blockmodels.candidates import ALL_IN_TURN, MIXED, members_in_turn
from blockselect.datasets import make_attributed_blocks


@pytest.fixture(scope="module")
def network():
    return make_attributed_blocks(120, 3, mean_degree=12, random_state=0)


def find(network, n_candidates, features, family="mixed"):
    return find_block_models(network.adjacency, 3, family=family, features=features, n_candidates=n_candidates, rng=0)


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
    mixed = find(network, 8, network.features)
    for name in MIXED:
        own = {tuple(model.labels) for model in find(network, 8, network.features, family=name)}
        assert {tuple(model.labels) for model in mixed if model.family == name} <= own
