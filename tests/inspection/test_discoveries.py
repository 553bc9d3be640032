"""BlockModelSelector with n_features_to_select="auto": as many features as stand out from random matchings."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import false_discovery_control
from sklearn.exceptions import ConvergenceWarning

from blockselect import BlockModel, BlockModelSelector, make_attributed_blocks
from blockselect.inspection.matching_null import match_evidence
from made_fits import easy_network, fit, precision

ONE = {"guidance": "lowest_error", "block_model": "spectral", "n_candidates": 2, "max_iter": 2}


@pytest.fixture(scope="module")
def network():
    return easy_network()


@pytest.mark.parametrize("guidance", ["consensus", "lowest_error"])
def test_those_are_selected_whose_q_value_is_within_the_level(network, guidance):
    selector = fit(network, "auto", guidance=guidance)
    assert_array_equal(selector.q_values_, false_discovery_control(selector.p_values_))
    assert_array_equal(selector.support_, selector.q_values_ <= 0.1)
    assert ((selector.p_values_ > 0) & (selector.p_values_ <= selector.q_values_)).all()
    assert selector.n_features_ == selector.support_.sum() == selector.transform(network.features).shape[1] >= 8
    assert precision(network, selector) >= 0.8


def test_a_higher_level_finds_more(network):
    found = [fit(network, "auto", false_discovery_rate=level, **ONE).support_ for level in (0.01, 0.1, 0.5, 0.99)]
    for fewer, more in pairwise(found):
        assert (more | ~fewer).all()
    assert found[-1].sum() > found[0].sum()


@pytest.mark.parametrize("given", ["labels", "list"])
def test_blocks_of_ones_own_can_be_asked_too(network, given):
    labels = network.blocks if given == "labels" else network.blocks.tolist()
    assert precision(network, fit(network, "auto", block_model=labels)) >= 0.8


def test_of_noise_nothing_is_selected_and_that_is_said():
    noise = make_attributed_blocks(100, 3, n_informative=0, n_redundant=0, n_noise=40, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"no feature stands out .* false_discovery_rate=0.1.*raise it, or"):
        selector = fit(noise, "auto", n_resamples=3)
    assert selector.n_features_ == 0
    assert not selector.support_.any()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(noise.features).shape == (100, 0)


def test_a_graph_that_the_features_made_is_refused(network):
    with pytest.raises(ValueError, match="a graph built from the features matches them by itself; pass an adjacency"):
        BlockModelSelector("auto").fit(network.features)


def test_blocks_that_the_features_made_are_refused(network):
    with pytest.raises(ValueError, match='"smoothed" reads the features; choose another block_model'):
        fit(network, "auto", block_model="smoothed")
    found_so = BlockModel.from_labels(network.adjacency, network.blocks, family="smoothed")
    with pytest.raises(ValueError, match='"smoothed" reads the features; choose another block_model'):
        fit(network, "auto", block_model=found_so)


def test_candidates_that_read_the_features_have_no_say_in_what_stands_out(network, monkeypatch):
    asked = []

    def recorded(features, models, **options):
        asked.extend(model.family for model in models)
        return match_evidence(features, models, **options)

    monkeypatch.setattr("blockselect.inspection.discoveries.match_evidence", recorded)
    selector = fit(network, "auto")
    assert set(asked) == {model.family for model in selector.candidates_} - {"smoothed"}
    assert len(asked) == len(selector.candidates_) - 1


@pytest.mark.filterwarnings("ignore:no feature stands out")
@pytest.mark.parametrize(("n_informative", "least_found"), [(10, 0.3), (0, 0)])
def test_the_share_of_false_discoveries_is_kept_on_average(n_informative, least_found):
    """Also of decoys, which agree among themselves but not with the graph."""
    level, false, found = 0.1, [], []
    for seed in range(60):
        network = make_attributed_blocks(
            100,
            3,
            mean_degree=8,
            n_informative=n_informative,
            n_redundant=0,
            n_noise=30,
            n_decoys=10,
            random_state=seed,
        )
        support = fit(network, "auto", n_null=20, random_state=seed, **ONE).support_
        false.append(np.count_nonzero(support & ~network.is_informative) / max(support.sum(), 1))
        found.append(np.count_nonzero(support & network.is_informative) / max(n_informative, 1))
    assert np.mean(false) <= level + 2 * np.std(false, ddof=1) / np.sqrt(len(false))
    assert np.mean(found) >= least_found
