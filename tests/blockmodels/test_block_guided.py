"""BlockGuidedSelector: what both selectors that are guided by blocks share."""

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from blockselect import BMGUFS, BlockModel, BlockModelSelector, Descent, selection_stability

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
def test_on_resampled_graphs_a_block_model_keeps_its_blocks_and_has_the_densities_of_those_graphs(network, kind):
    X, A = network.features, network.adjacency
    by_model, by_labels = (
        selection_stability(
            kind(5, block_model=blocks).fit(X, adjacency=A), X, adjacency=A, n_resamples=3, random_state=0
        )
        for blocks in (BlockModel.from_labels(A, network.blocks), network.blocks)
    )
    assert_allclose(by_model, by_labels)
