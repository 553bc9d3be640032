"""How much better than chance blocks and links explain each feature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from blockselect.blockmodels import BlockModel
from blockselect.consensus.likelihood import JointLikelihood
from blockselect.consensus.ranking import FeatureGains
from blockselect.inputs.attributed import check_attributed_graph
from blockselect.rows.statistics import in_units
from references import joint as reference
from references.joint import small_network


def gains_of(likelihood, graph, models, scaled=None):
    return FeatureGains.of(likelihood, graph, likelihood.trees(models), scaled)


def slow_gains(A, X, models):
    """Gain of each feature from blocks, averaged over models, and from links, each minus its penalty."""
    from_blocks = [
        np.mean([reference.feature_gain(X, model.labels, feature) - (model.n_blocks - 1) for model in models])
        for feature in range(X.shape[1])
    ]
    return np.add(from_blocks, [reference.link_gain(x, A) - 1 for x in X.T])


@pytest.mark.parametrize("seed", range(3))
def test_the_z_value_is_the_root_of_twice_the_gain_from_blocks_and_links(seed):
    A, X, labels = small_network(seed)
    graph = check_attributed_graph(X, A)
    models = [BlockModel.from_labels(graph.adjacency, one) for one in (labels, labels % 2)]
    gains = slow_gains(A, X, models)
    expected = np.sqrt(2 * np.maximum(gains, 0))
    assert_allclose(gains_of(JointLikelihood(graph), graph, models).z_values, expected, atol=1e-7)


def test_gains_by_blocks_are_the_mean_over_models_and_constant_features_are_named():
    A, X, labels = small_network(0)
    X[:, 0] = 3.0
    graph = check_attributed_graph(X, A)
    likelihood = JointLikelihood(graph)
    models = [BlockModel.from_labels(graph.adjacency, one) for one in (labels, labels % 2)]
    each = [gains_of(likelihood, graph, [model]) for model in models]
    both = gains_of(likelihood, graph, models)
    assert_allclose(both.by_blocks, (each[0].by_blocks + each[1].by_blocks) / 2)
    assert_allclose(both.by_links, each[0].by_links)
    assert_array_equal(np.flatnonzero(both.is_constant), [0, 6])


def test_features_that_were_scaled_before_have_the_same_gains():
    A, X, labels = small_network(1)
    graph = check_attributed_graph(X, A)
    likelihood, models = JointLikelihood(graph), [BlockModel.from_labels(graph.adjacency, labels)]
    plain = gains_of(likelihood, graph, models)
    again = gains_of(likelihood, graph, models, in_units(graph.features))
    assert_array_equal(again.total, plain.total)
