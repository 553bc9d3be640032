"""UDFS: features that separate neighbourhoods."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.baselines.by_features import udfs as module
from blockselect.baselines.by_features.udfs import UDFS, neighbourhood_scatter
from references import udfs


@pytest.fixture
def never_dense(monkeypatch):
    """Treat few features like many."""
    monkeypatch.setattr(module, "_DENSE", 0)


def draw(seed=0, n=80, m=12):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m)) * np.linspace(0.5, 2, m) + (np.arange(n)[:, None] % 3) * rng.random(m)


def as_graph(neighbourhoods):
    n = len(neighbourhoods)
    rows = np.repeat(np.arange(n), [len(members) for members in neighbourhoods])
    return sparse.csr_array((np.ones(len(rows)), (rows, np.concatenate(neighbourhoods))), shape=(n, n))


@pytest.mark.parametrize("n_iter", [1, 3, 20])
@pytest.mark.parametrize("gamma", [0.1, 5.0])
def test_scores_equal_the_literal_formula(n_iter, gamma):
    X = draw()
    B = udfs.scatter(X, udfs.nearest(X, 5), 0.1)
    Z = udfs.solve(X, B, 3, gamma, n_iter)
    selector = UDFS(4, n_blocks=3, sparsity=gamma, max_iter=n_iter, tol=0).fit(X)
    assert_allclose(selector.scores_, [row @ row for row in Z], atol=1e-9)
    assert_allclose(selector.history_[-1], udfs.objective(X, B, Z, gamma), rtol=1e-9)


def test_neighbourhoods_may_differ_in_size():
    X = draw(n=30)
    rng = np.random.default_rng(0)
    neighbourhoods = [np.sort(rng.choice(30, size=size, replace=False)) for size in rng.integers(1, 9, size=30)]
    expected = udfs.scatter(X, neighbourhoods, 0.3)
    for features in (X, sparse.csr_array(X)):
        found = neighbourhood_scatter(features, as_graph(neighbourhoods), 0.3)
        assert_allclose(found.toarray(), expected, atol=1e-12)


def a_hub(X):
    links = np.eye(len(X))
    links[0] = links[:, 0] = 1
    return sparse.csr_array(links)


@pytest.mark.parametrize(
    "graph", [lambda X: as_graph(udfs.nearest(X, 5)), a_hub, lambda X: sparse.csr_array(np.ones((len(X), len(X))))]
)
def test_the_number_of_neighbourhoods_processed_together_does_not_matter(graph):
    X = draw(n=60)
    expected = neighbourhood_scatter(X, graph(X), 0.1).toarray()
    assert_allclose(neighbourhood_scatter(X, graph(X), 0.1, at_once=100).toarray(), expected, atol=1e-12)


def test_rows_of_a_given_affinity_define_the_neighbourhoods():
    X = draw(n=40)
    W = np.triu(np.random.default_rng(0).random((40, 40)) < 0.1, 1)
    W = (W | W.T).astype(float)
    B = udfs.scatter(X, [np.flatnonzero(row) for row in W + np.eye(40)], 0.1)
    Z = udfs.solve(X, B, 2, 0.1, 5)
    selector = UDFS(n_blocks=2, max_iter=5, tol=0).fit(X, affinity=W)
    assert_allclose(selector.scores_, [row @ row for row in Z], atol=1e-9)


@pytest.mark.usefixtures("never_dense")
@pytest.mark.parametrize("is_sparse", [False, True])
def test_with_many_features_the_iterations_agree_with_the_decomposition(is_sparse):
    X = draw(m=40, n=150)
    exact = udfs.solve(X, udfs.scatter(X, udfs.nearest(X, 5), 0.1), 2, 0.1, 60)
    selector = UDFS(n_blocks=2, max_iter=60, tol=0).fit(sparse.csr_array(X) if is_sparse else X)
    assert_allclose(selector.scores_, [row @ row for row in exact], atol=1e-5)
    assert_allclose(selector.coefficients_.T @ selector.coefficients_, np.eye(2), atol=1e-9)


@pytest.mark.parametrize("gamma", [0.01, 0.1, 10.0])
@pytest.mark.parametrize("shape", [(80, 30), (30, 80)])
@pytest.mark.parametrize("dense", [500, 0])
def test_the_objective_decreases_in_each_iteration(monkeypatch, gamma, shape, dense):
    monkeypatch.setattr(module, "_DENSE", dense)
    history = UDFS(n_blocks=3, sparsity=gamma, max_iter=40, tol=0).fit(draw(n=shape[0], m=shape[1])).history_
    assert len(history) == 40
    # Row norms are at least 1e-8 in the weights, which allows an increase of this size per row.
    assert (np.diff(history) <= 1e-10 * history[0] + shape[1] * gamma * 1e-8).all()
    assert history[-1] < history[0]


def test_a_tolerance_ends_the_iterations_early():
    loose, tight = (UDFS(n_blocks=3, tol=tol).fit(draw()) for tol in (1e-2, 1e-6))
    assert loose.n_iter_ < tight.n_iter_ < 100


def test_a_constant_feature_is_never_selected():
    X = np.column_stack([draw(), np.zeros(80), np.full(80, 4.0)])
    selector = UDFS(12, n_blocks=3).fit(X)
    assert_array_equal(selector.scores_[12:], -np.inf)
    assert_array_equal(selector.criterion_[12:], 0)
    assert_allclose(selector.scores_[:12], UDFS(12, n_blocks=3).fit(draw()).scores_, atol=1e-12)


@pytest.mark.parametrize("dense", [500, 0])
def test_scores_do_not_change_when_nodes_are_reordered(monkeypatch, dense):
    monkeypatch.setattr(module, "_DENSE", dense)
    X = draw(m=30, n=120)
    order = np.random.default_rng(0).permutation(120)
    assert_allclose(UDFS(n_blocks=3).fit(X[order]).scores_, UDFS(n_blocks=3).fit(X).scores_, atol=1e-8)


def test_more_clusters_than_varying_features_are_an_error():
    with pytest.raises(ValueError, match=r"n_blocks is 13 but only 12 feature\(s\) vary; choose 1 to 12"):
        UDFS(n_blocks=13).fit(np.column_stack([draw(), np.ones(80)]))
