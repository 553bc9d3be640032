"""BlockGuidedSelector: what both selectors that are guided by blocks share."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect import BMGUFS, BlockModel, BlockModelSelector, Descent

QUICK = Descent(gradient="paper", tol=0, max_iter=3)


def of_blocks(network, n=5, **options):
    return BMGUFS(n, **{"block_model": network.blocks, "solver": QUICK, **options})


def test_a_feature_that_marks_no_block_has_none_in_the_table(network):
    features = network.features.toarray()
    features[:, 0] = 1
    table = of_blocks(network).fit(features, adjacency=network.adjacency).table().set_index("column")
    assert pd.isna(table["marked_block"][0])
    marked = table["marked_block"].dropna()
    assert set(marked) == {0, 1, 2}
    assert table["feature"][0] == "x0"


@pytest.mark.parametrize("kind", [BMGUFS, BlockModelSelector])
def test_on_another_graph_a_block_model_keeps_its_blocks_and_has_the_densities_of_that_graph(network, kind):
    X, A = network.features, network.adjacency
    other = sparse.csr_array(A[::-1, ::-1])
    model = BlockModel.from_labels(A, network.blocks)
    by_model, by_labels = (kind(5, block_model=blocks).fit(X, adjacency=A) for blocks in (model, network.blocks))
    found, expected = (
        selector._inverse_ranks_on(selector._read_network(X, None, A), [other], [np.random.default_rng(0)])
        for selector in (by_model, by_labels)
    )
    assert_allclose(found, expected)
    same = by_model._inverse_ranks_on(by_model._read_network(X, None, A), [A], [np.random.default_rng(0)])
    assert np.abs(found - same).max() > 1e-6


@pytest.mark.parametrize("kind", [BMGUFS, BlockModelSelector])
def test_features_must_not_be_negative(kind):
    assert kind(5).__sklearn_tags__().input_tags.positive_only
