"""BlockModelSelector's stability_: the chance that a feature would be selected again on a resampled graph."""

import numpy as np
import pytest

from blockselect import make_attributed_blocks
from blockselect.graphs.resample import resample_links
from made_fits import easy_network, fit


@pytest.fixture(scope="module")
def network():
    return easy_network()


def test_stability_is_a_chance_and_larger_for_what_was_selected(network):
    selector = fit(network, n_resamples=5)
    assert selector.stability_.shape == (52,)
    assert ((selector.stability_ >= 0) & (selector.stability_ <= 1)).all()
    assert np.median(selector.stability_[selector.support_]) > selector.stability_[~selector.support_].max()
    assert selector.stability_[selector.support_].mean() > selector.stability_[~selector.support_].mean() + 0.5


def test_no_resamples_no_stability(network):
    assert not hasattr(fit(network, n_resamples=0), "stability_")
    assert not hasattr(fit(network, n_resamples=5, guidance="lowest_error"), "stability_")


def test_stability_changes_no_score(network):
    assert (fit(network, n_resamples=3).scores_ == fit(network).scores_).all()


def test_given_blocks_have_a_stability_too(network):
    selector = fit(network, n_resamples=5, block_model=network.blocks)
    assert selector.stability_[selector.support_].mean() > selector.stability_[~selector.support_].mean() + 0.5


def test_features_of_a_clear_network_are_more_stable_than_noise():
    noise = make_attributed_blocks(150, 3, n_informative=0, n_redundant=0, n_noise=40, random_state=0)
    clear = make_attributed_blocks(150, 3, n_informative=10, n_redundant=0, n_noise=30, signal=5, random_state=0)
    stated = [
        selector.stability_[selector.support_].mean()
        for selector in (fit(n, 10, n_resamples=8) for n in (noise, clear))
    ]
    assert stated[1] > stated[0]


KINDS = [  # from features hard to tell to easy ones
    {"mean_degree": 6, "signal": 2.5},
    {"mean_degree": 10, "signal": 4.0},
    {"mean_degree": 10, "signal": 4.0, "structure": "disassortative"},
    {"mean_degree": 4, "signal": 3.0},
]


def test_features_are_selected_again_as_often_as_stated():
    stated, observed = [], []
    for seed, kind in enumerate(KINDS):
        network = make_attributed_blocks(200, 3, n_informative=20, n_redundant=0, n_noise=60, random_state=seed, **kind)
        stated.append(fit(network, 20, n_resamples=8, random_state=seed).stability_)
        observed.append(selected_again(network, 20))
    stated, observed = np.concatenate(stated), np.concatenate(observed)
    bins = np.digitize(stated, [0.2, 0.4, 0.8])
    sizes = np.bincount(bins, minlength=4)
    assert np.count_nonzero(sizes >= 30) >= 3
    for of_bin in np.flatnonzero(sizes >= 30):
        assert abs(observed[bins == of_bin].mean() - stated[bins == of_bin].mean()) <= 0.12


def selected_again(network, n, n_graphs=20):
    """Share of further resampled graphs on which a fit from scratch selects each feature."""
    rng = np.random.default_rng(1)
    graphs = [resample_links(network.adjacency, rng) for _ in range(n_graphs)]
    return np.mean([fit(network, n, graph, random_state=seed).support_ for seed, graph in enumerate(graphs)], axis=0)
