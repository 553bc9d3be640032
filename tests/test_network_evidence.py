"""Every selector that uses a graph tests whether its selection is associated with this graph."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from blockselect import BlockModelSelector, SignedSelector, load_cora, make_attributed_blocks
from blockselect.registry import SELECTORS, make_selector

NO_EVIDENCE = "no evidence that the selected features are associated with this graph"
READ_A_GRAPH = [name for name, method in SELECTORS.items() if method.guidance in ("blocks", "network")]


@pytest.fixture(scope="module")
def planted():
    return make_attributed_blocks(
        200, 3, n_informative=12, n_noise=30, n_redundant=0, signal=8.0, frequency=(0.1, 0.12), random_state=0
    )


@pytest.mark.parametrize("name", READ_A_GRAPH)
def test_a_selector_warns_if_rows_and_nodes_do_not_match_and_only_then(name, planted):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        fitted = fit(name, planted.features, planted.adjacency)
    assert fitted.network_evidence_.is_clear
    rows = np.random.default_rng(0).permutation(200)
    with pytest.warns(UserWarning, match=NO_EVIDENCE):
        fitted = fit(name, planted.features[rows], planted.adjacency)
    assert not fitted.network_evidence_.is_clear


def fit(name, features, adjacency):
    return make_selector(name, 10, n_blocks=3, random_state=0).fit(features, adjacency=adjacency)


def test_a_graph_made_from_the_features_is_not_tested(planted):
    selector = BlockModelSelector(10, n_neighbors=5, n_candidates=1, random_state=0).fit(planted.features)
    assert selector.network_evidence_ is None


def test_a_signed_selector_has_the_evidence_of_its_estimator(planted):
    selector = SignedSelector(BlockModelSelector(12, n_blocks=3, n_candidates=1, random_state=0))
    selector.fit(planted.features.toarray() - 0.5, adjacency=planted.adjacency)
    assert selector.network_evidence_ == selector.estimator_.network_evidence_


def test_cora_is_clear_and_permuted_cora_is_not():
    cora = load_cora()
    selector = BlockModelSelector(64, n_blocks=7, n_candidates=3, random_state=0)
    assert selector.fit(cora.features, adjacency=cora.adjacency).network_evidence_.is_clear
    rows = np.random.default_rng(0).permutation(cora.features.shape[0])
    with pytest.warns(UserWarning, match=NO_EVIDENCE):
        selector.fit(cora.features[rows], adjacency=cora.adjacency)
