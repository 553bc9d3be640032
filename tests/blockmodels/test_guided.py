"""DescentSelector: what both selectors that are guided by blocks share."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from blockselect import BMGUFS, BlockModel, BlockModelSelector, Descent
from blockselect.bmgufs import selector as module
from blockselect.errors import ParameterError
from made_fits import easy_network

QUICK = Descent(gradient="paper", tol=0, max_iter=3)


@pytest.fixture(scope="module")
def network():
    return easy_network()


def of_blocks(network, n=5, **options):
    return BMGUFS(n, **{"block_model": network.blocks, "solver": QUICK, **options})


def test_a_feature_that_marks_no_block_has_none_in_the_table(network):
    features = network.features.toarray()
    features[:, 0] = 1
    table = of_blocks(network).fit(features, adjacency=network.adjacency).table(features)
    assert pd.isna(table["marked_block"][0])
    marked = table["marked_block"].dropna()
    assert set(marked) == {0, 1, 2}
    assert table["feature"][0] == "x0"


def test_the_network_of_the_fit_is_known_while_it_is_in_memory_or_as_it_is_passed_again(network):
    X, A = network.features, network.adjacency
    selector = of_blocks(network).fit(X, adjacency=A)
    for graph in (selector._network_again(), selector._network_again(X, A)):
        assert_array_equal(graph.adjacency.toarray(), A.toarray())
    with pytest.raises(ParameterError, match="adjacency is missing; pass the graph of the fit"):
        selector._network_again(X)


def test_a_graph_that_was_made_from_the_features_is_made_again(network):
    selector = BMGUFS(5, block_model=network.blocks, n_neighbors=4, solver=QUICK).fit(network.features)
    assert selector.graph_source_ == "features"
    assert selector._network_again(network.features).n_links > 0


@pytest.mark.parametrize("kind", [BMGUFS, BlockModelSelector])
def test_on_another_graph_a_block_model_keeps_its_blocks_and_has_the_densities_of_that_graph(network, kind):
    X, A = network.features, network.adjacency
    other = sparse.csr_array(A[::-1, ::-1])
    model = BlockModel.from_labels(A, network.blocks)
    by_model, by_labels = (
        kind(5, block_model=blocks, solver=QUICK).fit(X, adjacency=A) for blocks in (model, network.blocks)
    )
    found, expected = (
        selector._scores_on(selector._network_again(), [other], [np.random.default_rng(0)])
        for selector in (by_model, by_labels)
    )
    assert_allclose(found, expected)
    assert np.abs(found[0] - by_model.scores_).max() > 1e-6


def test_losses_are_those_of_the_sparsity_that_was_chosen_and_only_it_must_have_settled(network):
    """Two sparsities: losses of the first move to the end, those of the second stood still."""
    moving, still = np.linspace(1, 2, 13), np.ones(13)
    losses = np.array([[moving, still]])
    solution = module.Solution(np.ones((1, 2, 4)), losses, losses + 1, np.array([[12, 11]]))
    selector = of_blocks(network, solver=Descent(tol=1e-3, max_iter=12))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector._keep_losses(solution, 1)
    assert selector.n_iter_ == 11
    assert_array_equal(selector.history_.reconstruction, still[:12])
    assert_array_equal(selector.history_.profile, still[:12] + 1)
    with pytest.warns(ConvergenceWarning, match=r"not settled after 12 iterations.*tol=0\.001"):
        selector._keep_losses(solution)
    assert_array_equal(selector.history_.reconstruction, moving)


def test_features_that_score_zero_are_counted_apart_from_those_that_nobody_has(network):
    features = network.features.tolil()
    features[:, [3, 8]] = 0
    with pytest.warns(ConvergenceWarning, match="only 50 of the 52 .* 2 of them since no node has the feature"):
        of_blocks(network, 52, sparsity=0.0).fit(features.tocsr(), adjacency=network.adjacency)


def test_the_dense_form_alone_is_made_on_the_device(network, monkeypatch):
    pytest.importorskip("torch")
    made, make = [], module.dense_gram_on_device
    monkeypatch.setattr(
        module,
        "dense_gram_on_device",
        lambda *given, **options: made.append(options["device"]) or make(*given, **options),
    )
    dense, disjoint = network.features, sparse.csr_array(sparse.eye_array(200))
    scores = [
        of_blocks(network, device=device).fit(X, adjacency=network.adjacency).scores_
        for X in (dense, disjoint)
        for device in ("cpu", "cpu:0")
    ]
    assert made == ["cpu:0"]
    assert_allclose(scores[1], scores[0], atol=1e-10)
    assert_allclose(scores[3], scores[2], atol=1e-10)


def test_settings_of_the_solver_that_are_not_named_leave_no_solver_behind():
    selector = BMGUFS(5, n_blocks=3).set_params(n_blocks=4)
    assert selector.solver is None
    given = Descent(max_iter=9)
    assert selector.set_params(solver=given, n_blocks=2).solver is given


def test_features_must_not_be_negative():
    assert BMGUFS(5).__sklearn_tags__().input_tags.positive_only
