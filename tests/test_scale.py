"""The default does not depend on units, nor on nodes that say nothing; the paper's method warns where it does."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from blockselect import BMGUFS, BlockModelSelector, Descent, make_attributed_blocks, selection_stability
from made_fits import QUICK, easy_network, fit_paper

factors = st.sampled_from([1e-9, 1e-6, 1e-3, 0.3, 7.0, 1e4])


def small_network(seed, **options):
    return make_attributed_blocks(
        60, 3, mean_degree=8, n_informative=8, n_redundant=0, n_noise=12, random_state=seed, **options
    )


def selected(features, adjacency, n=6, **options):
    options = {"n_blocks": 3, "n_candidates": 4, "random_state": 0, **options}
    return BlockModelSelector(n, **options).fit(features, adjacency=adjacency)


@settings(max_examples=10)
@given(seed=st.integers(0, 50), factor=factors, values=st.sampled_from(["binary", "counts"]))
def test_the_scale_of_features_does_not_matter(seed, factor, values):
    network = small_network(seed, values=values)
    plain = selected(network.features, network.adjacency)
    assert_allclose(selected(network.features * factor, network.adjacency).scores_, plain.scores_, atol=1e-8)


@settings(max_examples=10)
@given(seed=st.integers(0, 50), factor=factors)
def test_the_scale_of_link_weights_does_not_matter(seed, factor):
    network = small_network(seed)
    plain = selected(network.features, network.adjacency)
    again = selected(network.features, network.adjacency * factor)
    assert_allclose(again.scores_, plain.scores_, atol=1e-8)
    assert_array_equal(again.labels_, plain.labels_)


@settings(max_examples=10)
@given(seed=st.integers(0, 50), n_more=st.integers(1, 60), order=st.integers(0, 5))
def test_nodes_without_links_and_features_do_not_matter(seed, n_more, order):
    network = small_network(seed)
    places = np.random.default_rng(order).permutation(60 + n_more)[:60]
    features, adjacency = np.zeros((60 + n_more, 20)), np.zeros((60 + n_more, 60 + n_more))
    features[places] = network.features.toarray()
    adjacency[np.ix_(places, places)] = network.adjacency.toarray()
    plain = selected(network.features.toarray()[np.argsort(places)], shuffled(network.adjacency, np.argsort(places)))
    beside = selected(features, adjacency)
    assert_allclose(beside.scores_, plain.scores_, atol=1e-12)
    assert len(beside.labels_) == 60 + n_more
    assert_array_equal(beside.labels_[np.sort(places)], plain.labels_)
    assert all(len(model.labels) == 60 + n_more for model in (*beside.consensus_models_, *beside.candidates_))


def shuffled(adjacency, order):
    return sparse.csr_array(adjacency)[order][:, order]


@pytest.mark.parametrize("n_blocks", ["auto", 3])
def test_the_number_of_blocks_and_stability_do_not_see_empty_nodes_either(n_blocks):
    network = easy_network()
    features = np.vstack([network.features.toarray(), np.zeros((50, 52))])
    adjacency = sparse.block_diag([network.adjacency, sparse.csr_array((50, 50))], format="csr")
    plain = selected(network.features.toarray(), network.adjacency, n_blocks=n_blocks)
    beside = selected(features, adjacency, n_blocks=n_blocks)
    assert_allclose(beside.scores_, plain.scores_, atol=1e-12)
    stated = [
        selection_stability(one, X, adjacency=A, n_resamples=4, random_state=0)
        for one, X, A in ((plain, network.features.toarray(), network.adjacency), (beside, features, adjacency))
    ]
    assert_allclose(stated[1], stated[0], atol=1e-9)


def test_densities_of_nodes_that_were_put_in_are_those_of_their_blocks():
    network = easy_network()
    adjacency = sparse.block_diag([network.adjacency, sparse.csr_array((50, 50))], format="csr")
    model = selected(np.vstack([network.features.toarray(), np.zeros((50, 52))]), adjacency).block_model_
    again = type(model).from_labels(adjacency, model.labels)
    assert_allclose(model.density, again.density, atol=1e-12)


@pytest.mark.parametrize("fill", [1.0, 2.5])
def test_a_constant_feature_scores_zero_is_never_selected_and_never_stable(fill):
    """Its stability was .97: last of all, but surely so."""
    network = easy_network()
    features = np.column_stack([network.features.toarray(), np.full(200, fill)])
    with pytest.warns(ConvergenceWarning, match="only 52 of the 53 requested features .* the same value for all nodes"):
        selector = fit_of(features, network.adjacency, 53)
    assert selector.scores_[-1] == 0
    assert selector.ranking_[-1] == 53
    assert not selector.support_[-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert selection_stability(selector, features, adjacency=network.adjacency, n_resamples=4)[-1] == 0


def fit_of(features, adjacency, n):
    return BlockModelSelector(n, **QUICK).fit(features, adjacency=adjacency)


def test_the_paper_warns_where_densities_come_near_its_smoothing():
    network = easy_network()
    with pytest.warns(UserWarning, match=r"mean link weight of two nodes is .*, close to the smoothing of 1e-06 \(δ\)"):
        BMGUFS(12, n_blocks=3, n_candidates=2, random_state=0).fit(network.features, adjacency=network.adjacency * 1e-6)
    with pytest.warns(UserWarning, match=r"mean similarity of two nodes is .* multiply the features by a constant"):
        BMGUFS(12, n_blocks=3, n_candidates=2, random_state=0).fit(network.features * 1e-3, adjacency=network.adjacency)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_paper(network, n_candidates=2)


def test_scores_that_have_not_settled_bring_a_warning_only_where_they_were_asked_to():
    network = easy_network()
    short = Descent(max_iter=12, tol=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"not converged after 12 iterations: .* tol=1e-09.* Increase max_iter"):
        assert fit_paper(network, block_model=network.blocks, solver=short).n_iter_ == 12
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_paper(network, block_model=network.blocks)  # a path of fixed length, by design
        settled = fit_paper(network, block_model=network.blocks, solver=Descent(max_iter=5000, tol=1e-3))
    assert settled.n_iter_ < 5000
