"""SPEC: three criteria on all pairs of nodes or a given affinity, in the correct and the published order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import golden_arrays
from blockselect import make_attributed_blocks
from blockselect.baselines.by_features import spec as spec_module
from blockselect.baselines.by_features.laplacian import LaplacianScore
from blockselect.baselines.by_features.spec import SPEC
from references import laplacian as laplacian_reference
from references import spec as reference

STYLES = ["phi1", "phi2", "phi3"]


def draw(seed, n=30, m=7):
    """Features with some zeros, and a weighted graph with self-loops in which every node has a link."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.6)
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.3) + np.eye(n, k=1)
    return X, np.maximum(W, W.T)


@pytest.mark.parametrize("style", STYLES)
@given(seed=st.integers(0, 10**6))
def test_criteria_on_all_pairs_equal_the_eigendecomposition(style, seed):
    X, _ = draw(seed)
    expected = reference.spec(X, reference.radial_affinity(X, 0.5**0.5), style, k=5)
    for features in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        criterion = SPEC(3, style=style, n_eigenvectors=5, random_state=0).fit(features).criterion_
        assert_allclose(criterion, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("style", STYLES)
@given(seed=st.integers(0, 10**6))
def test_criteria_on_a_given_affinity_equal_the_eigendecomposition(style, seed):
    X, W = draw(seed)
    expected = reference.spec(X, W, style, k=5)
    for features in (X, sparse.csr_array(X)):
        criterion = SPEC(3, style=style, n_eigenvectors=5, random_state=0).fit(features, affinity=W).criterion_
        assert_allclose(criterion, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("style", STYLES)
def test_nearest_neighbours_can_replace_all_pairs(style):
    X, _ = draw(0)
    W = laplacian_reference.neighbour_affinity(X, 6, laplacian_reference.heat(1.5))
    selector = SPEC(3, style=style, n_eigenvectors=4, n_neighbors=6, width=1.5).fit(X)
    assert_allclose(selector.criterion_, reference.spec(X, W, style, k=4), rtol=1e-9)


@pytest.mark.filterwarnings(r"ignore:\d+ of \d+ nodes have next to no heat affinity:UserWarning")
@pytest.mark.parametrize("network", ["cora", "citeseer"])
def test_published_scores_are_reproduced_on_all_pairs(network):
    X = golden_arrays.network(network).features
    published = golden_arrays.scores(f"{network}_spec")
    empty = X.sum(axis=0) == 0
    assert_array_equal(published == 1000, empty)
    selector = SPEC(64).fit(X)
    assert_allclose(selector.criterion_[~empty], published[~empty], rtol=0, atol=1e-10)
    assert_array_equal(np.isnan(selector.criterion_), empty)


@pytest.mark.filterwarnings(r"ignore:\d+ of \d+ nodes have next to no heat affinity:UserWarning")
def test_the_published_order_is_the_reverse_of_the_correct_one():
    X = golden_arrays.network("cora").features
    published = golden_arrays.scores("cora_spec")
    with pytest.warns(UserWarning, match="1 of the selected features are constant over nodes, the first in column 444"):
        backwards = SPEC(64, order="published").fit(X)
    assert_array_equal(np.argsort(backwards.ranking_)[:10], np.argsort(-published, kind="stable")[:10])
    empty = int(np.argmax(published))
    assert backwards.ranking_[empty] == 1
    assert backwards.scores_[empty] == 1000
    correct = SPEC(64).fit(X)
    others = np.arange(X.shape[1]) != empty
    assert_array_equal(backwards.scores_[others], -correct.scores_[others])
    assert correct.ranking_[empty] == X.shape[1]


@pytest.mark.parametrize("style", STYLES)
def test_larger_scores_are_better_except_in_the_published_order(style):
    X, W = draw(1)
    correct, backwards = (
        SPEC(3, style=style, order=order, random_state=0).fit(X, affinity=W) for order in ("correct", "published")
    )
    sign = 1 if style == "phi3" else -1
    assert_array_equal(correct.scores_, sign * correct.criterion_)
    assert_array_equal(backwards.scores_, -correct.scores_)


@given(seed=st.integers(0, 10**6))
def test_phi2_is_the_laplacian_score_on_the_same_affinity(seed):
    X, W = draw(seed)
    assert_allclose(SPEC(3).fit(X, affinity=W).criterion_, LaplacianScore(3).fit(X, affinity=W).criterion_, rtol=1e-12)
    radial = reference.radial_affinity(X, 0.9)
    assert_allclose(
        SPEC(3, width=0.9).fit(X).criterion_, LaplacianScore(3).fit(X, affinity=radial).criterion_, rtol=1e-9
    )


@pytest.mark.parametrize("options", [{}, {"memory_limit": 0}], ids=["kept", "made anew"])
def test_large_graphs_need_only_products_for_the_eigenvectors(options):
    planted = make_attributed_blocks(spec_module._SMALL + 50, 3, n_noise=20, sparse=False, random_state=0)
    X = planted.features
    selector = SPEC(3, style="phi3", n_eigenvectors=3, width=2.5, random_state=0, **options).fit(X)
    expected = reference.spec(X, reference.radial_affinity(X, 2.5), "phi3", k=3)
    assert_allclose(selector.criterion_, expected, rtol=1e-8)


def test_eigenvalues_too_close_for_lanczos_are_found_densely_or_rejected():
    n = spec_module._SMALL + 50
    X = np.random.default_rng(0).normal(size=(n, 4))
    chain = sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    options = {"style": "phi3", "n_eigenvectors": 4, "random_state": 0}
    W = (1e-7 * chain + sparse.eye_array(n)).tocsr()
    selector = SPEC(2, **options).fit(X, affinity=W)
    # A weak chain has the eigenvectors of a strong one, but all eigenvalues of L̂ are close to 0.
    ξ = np.linalg.eigh(np.diag(chain.sum(axis=1)) - chain.toarray()).eigenvectors
    expected = sum(2 * (X.T @ ξ[:, j]) ** 2 for j in range(1, 4)) / (X**2).sum(axis=0)
    assert_allclose(selector.criterion_, expected, rtol=1e-4)
    with pytest.raises(RuntimeError, match=rf"too close together.*raise memory_limit to {32 * n**2} bytes"):
        SPEC(2, memory_limit=1000, **options).fit(X, affinity=W)


def test_phi3_leaves_out_the_trivial_eigenvector_of_a_disconnected_graph():
    X, _ = draw(5)
    W = np.kron(np.eye(3), np.ones((10, 10)))
    expected = []
    for f in X.T:
        means = f.reshape(3, 10).mean(axis=1)
        expected.append(2 * 10 * ((means - f.mean()) ** 2).sum() / (f @ f))  # two more eigenvalues are 0
    selector = SPEC(3, style="phi3", n_eigenvectors=3).fit(X, affinity=W)
    assert_allclose(selector.criterion_, expected, rtol=1e-9)


def test_the_same_seed_gives_the_same_scores_if_eigenvalues_are_equal():
    """On a complete bipartite graph, Lanczos iterations need vectors other than their start."""
    n = spec_module._SMALL + 50
    X = np.random.default_rng(0).random((n, 8))
    parties = sparse.csr_array(np.not_equal.outer(np.arange(n) % 2, np.arange(n) % 2) * 1.0)
    options = {"style": "phi3", "n_eigenvectors": 4, "random_state": 0}
    first, *others = (SPEC(3, **options).fit(X, affinity=parties).scores_ for _ in range(4))
    for again in others:
        assert_array_equal(again, first)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_constant_feature_scores_worst_and_is_never_selected(style, kind):
    X, W = draw(2)
    X[:, 2], X[:, 4] = 0.1, 0
    for affinity in (W, None):
        selector = SPEC(5, style=style, n_eigenvectors=4, random_state=0).fit(kind(X), affinity=affinity)
        assert_array_equal(np.flatnonzero(np.isnan(selector.criterion_)), [2, 4])
        assert_array_equal(np.flatnonzero(selector.scores_ == -np.inf), [2, 4])
    with pytest.warns(UserWarning, match="1 of the selected features are constant over nodes, the first in column 4"):
        backwards = SPEC(5, style=style, order="published", n_eigenvectors=4, random_state=0).fit(kind(X))
    assert_array_equal(np.flatnonzero(backwards.scores_ == 1000), [4])  # the published value of an empty column
    assert backwards.scores_[2] == -np.inf


def test_errors_say_what_to_do():
    X, _ = draw(4)
    with pytest.raises(ValueError, match="n_eigenvectors is 31 but there are 30 nodes; choose 2 to 30"):
        SPEC(3, style="phi3", n_eigenvectors=31).fit(X)
