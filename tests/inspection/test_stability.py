"""selection_stability: the chance that a feature would be selected again on a resampled graph."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_info

from blockselect import (
    BMGUFS,
    BlockModel,
    BlockModelSelector,
    make_attributed_blocks,
    make_selector,
    selection_stability,
)
from blockselect.baselines.by_network.moran import MoransI
from blockselect.graphs.links import resample_links
from blockselect.utils.errors import ParameterError
from made_fits import QUICK, fit, fit_paper


def stability(selector, network, n_resamples=5, **options):
    return selection_stability(
        selector, network.features, adjacency=network.adjacency, n_resamples=n_resamples, **options
    )


def test_stability_is_a_chance_and_larger_for_what_was_selected(network, fitted):
    chance = stability(fitted, network)
    assert chance.shape == (52,)
    assert ((chance >= 0) & (chance <= 1)).all()
    assert chance.sum() == pytest.approx(12, abs=2)
    assert np.median(chance[fitted.support_]) > chance[~fitted.support_].max()
    assert chance[fitted.support_].mean() > chance[~fitted.support_].mean() + 0.5


def test_it_changes_nothing_of_the_selector(network):
    selector = fit(network)
    before = dict(vars(selector))
    stability(selector, network, n_resamples=3)
    assert vars(selector).keys() == before.keys()
    assert all(vars(selector)[name] is value for name, value in before.items())


def test_the_same_seed_gives_the_same_stability(network, fitted):
    assert_array_equal(stability(fitted, network, n_resamples=3), stability(fitted, network, n_resamples=3))


def test_running_out_of_memory_says_in_what_and_what_to_do(network, fitted):
    def full(*news):
        raise MemoryError

    with pytest.raises(MemoryError, match=r"not enough memory to resample the graph \(no size given\); drop features"):
        stability(fitted, network, n_resamples=3, progress=full)


def test_a_seed_of_its_own_may_be_given(network, fitted):
    own, again, other = (stability(fitted, network, n_resamples=3, random_state=seed) for seed in (7, 7, None))
    assert_array_equal(own, again)
    assert (own != other).any()


def test_given_blocks_are_neither_searched_for_nor_moved(network):
    """These follow two features; a search would find the blocks that the links show, and the features of those."""
    features = network.features.toarray()
    follows = features[:, ~network.is_informative][:, :2] > 0
    selector = fit(network, 2, block_model=follows @ [1, 2])
    chance = stability(selector, network)
    assert not network.is_informative[selector.support_].any()
    assert chance[selector.support_].min() > chance[~selector.support_].max()


@pytest.mark.parametrize("options", [{}, {"refine": False}])
def test_blocks_are_found_again_as_the_selector_finds_them(network, options):
    chance = stability(fit(network, **options), network)
    assert chance[network.is_informative].mean() > chance[~network.is_informative].mean() + 0.5


def test_a_feature_that_no_node_has_is_never_selected(network):
    features = network.features.tolil()
    features[:, 5] = 0
    selector = BlockModelSelector(12, **QUICK).fit(features, adjacency=network.adjacency)
    chance = selection_stability(selector, features, adjacency=network.adjacency, n_resamples=3)
    assert chance[5] == 0


def test_the_papers_method_is_fitted_again_to_each_graph(network):
    selector = fit_paper(network, n_candidates=2)
    chance = stability(selector, network, n_resamples=3)
    assert chance[selector.support_].mean() > chance[~selector.support_].mean() + 0.5


def test_densities_of_a_given_block_model_follow_the_resampled_links(network):
    model = BlockModel.from_labels(network.adjacency, network.blocks)
    by_labels, by_model = (
        stability(fit_paper(network, block_model=blocks), network, n_resamples=4) for blocks in (network.blocks, model)
    )
    assert_allclose(by_model, by_labels, atol=1e-9)


def test_a_baseline_that_reads_the_network_is_fitted_again_to_each_graph(network):
    selector = make_selector("morans-i", 12).fit(network.features, adjacency=network.adjacency)
    graphs = []

    class Recorded(type(selector)):
        def fit(self, X, y=None, *, adjacency=None):
            graphs.append(adjacency)
            return super().fit(X, y, adjacency=adjacency)

    recorded = Recorded(12).fit(network.features, adjacency=network.adjacency)
    chance = stability(recorded, network, n_resamples=4, random_state=0)
    assert len(graphs) == 5
    assert all((first != second).nnz for first, second in pairwise(graphs))
    assert ((chance >= 0) & (chance <= 1)).all()
    assert chance[selector.support_].mean() > chance[~selector.support_].mean()
    assert_array_equal(stability(selector, network, n_resamples=4, random_state=0), chance)


@pytest.mark.parametrize("name", ["laplacian-score-network", "morans-i"])  # all scores, or some, are negative
def test_features_of_a_baseline_are_selected_again_as_often_as_stated(name):
    stated, observed = [], []
    for seed, kind in enumerate(KINDS):
        made = make_attributed_blocks(200, 3, n_informative=20, n_redundant=0, n_noise=60, random_state=seed, **kind)
        selector = make_selector(name, 20).fit(made.features, adjacency=made.adjacency)
        stated.append(stability(selector, made, n_resamples=8, random_state=seed)[selector.support_])
        rng = np.random.default_rng(seed)
        graphs = [resample_links(made.adjacency, rng) for _ in range(40)]
        again = [clone(selector).fit(made.features, adjacency=graph).support_ for graph in graphs]
        observed.append(np.mean(again, axis=0)[selector.support_])
    assert abs(np.mean(stated) - np.mean(observed)) <= 0.05


@pytest.mark.parametrize("constant", [-3.0, 3.0])
def test_the_location_of_the_scores_does_not_matter(network, constant):
    class Moved(MoransI):
        def _score(self, graph):
            return super()._score(graph) + constant

    here, moved = (
        stability(method(12).fit(network.features, adjacency=network.adjacency), network, random_state=0)
        for method in (MoransI, Moved)
    )
    assert_array_equal(moved, here)


@pytest.mark.parametrize("name", ["laplacian-score-network", "morans-i", "mmpop"])
def test_a_constant_feature_of_a_baseline_is_never_stable(network, name):
    features = np.column_stack([network.features.toarray(), np.zeros(200)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the last feature cannot be selected
        selector = make_selector(name, 53).fit(features, adjacency=network.adjacency)
        chance = selection_stability(selector, features, adjacency=network.adjacency, n_resamples=3, random_state=0)
    assert selector.n_features_ > 40
    assert (chance[:52][selector.support_[:52]] > 0.5).all()
    assert chance[52] == 0


@pytest.mark.parametrize("name", ["laplacian-score", "variance"])
def test_a_baseline_that_looks_at_the_features_alone_is_refused(network, name):
    selector = make_selector(name, 12).fit(network.features)
    with pytest.raises(ValueError, match="uses only the features, so resampled links change nothing"):
        stability(selector, network)


@pytest.mark.parametrize("selector", [BlockModelSelector(12), BMGUFS(12, n_blocks=3), make_selector("morans-i", 12)])
def test_an_unfitted_selector_is_refused(network, selector):
    with pytest.raises(NotFittedError):
        stability(clone(selector), network)


def test_too_few_resamples_are_refused(network, fitted):
    with pytest.raises(ParameterError, match="n_resamples is 2; expected a whole number, at least 3"):
        stability(fitted, network, n_resamples=2)


def test_features_it_was_not_fitted_to_are_refused(network, fitted):
    with pytest.raises(ValueError, match="X has 30 features but the selector was fitted to 52; pass the data"):
        selection_stability(fitted, network.features[:, :30], adjacency=network.adjacency)
    assert fitted.n_features_in_ == 52


def test_every_resample_is_reported(network, fitted):
    seen = []
    stability(fitted, network, n_resamples=4, progress=lambda *news: seen.append(news))
    assert [news for news in seen if news[0] == "resampling"] == [("resampling", i, 4) for i in range(5)]


def test_torch_gives_the_stability_of_numpy(network):
    pytest.importorskip("torch")
    ours, theirs = (
        stability(fit_paper(network, block_model=network.blocks, device=device), network) for device in ("cpu", "cpu:0")
    )
    assert_allclose(theirs, ours, atol=1e-6)


def test_features_of_a_clear_network_are_more_stable_than_noise():
    noise = make_attributed_blocks(150, 3, n_informative=0, n_redundant=0, n_noise=40, random_state=0)
    clear = make_attributed_blocks(150, 3, n_informative=10, n_redundant=0, n_noise=30, signal=5, random_state=0)
    of_noise, of_clear = (
        stability(selector, made, n_resamples=8)[selector.support_].mean()
        for selector, made in ((fit(made, 10), made) for made in (noise, clear))
    )
    assert of_clear > of_noise


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
        stated.append(stability(fit(network, 20, random_state=seed, n_candidates=12), network, n_resamples=8))
        observed.append(selected_again(network, 20))
    stated, observed = np.concatenate(stated), np.concatenate(observed)
    for low, high in ((0, 0.2), (0.2, 0.8), (0.8, 1)):
        within = (stated >= low) & (stated <= high)
        assert np.count_nonzero(within) >= 20
        assert (
            abs(observed[within].mean() - stated[within].mean()) <= 0.15
        )  # on one of the four fits often miss the best


def selected_again(network, n, n_graphs=20):
    """Share of further resampled graphs on which a fit from scratch selects each feature."""
    rng = np.random.default_rng(1)
    graphs = [resample_links(network.adjacency, rng) for _ in range(n_graphs)]
    return np.mean(
        [fit(network, n, graph, random_state=seed, n_candidates=12).support_ for seed, graph in enumerate(graphs)],
        axis=0,
    )


def test_threads_leave_the_threads_of_blas_as_they_were(network):
    before = [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()]
    stability(fit(network, n_jobs=2), network, n_resamples=8)
    assert [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()] == before
