"""Hotspot: features with more autocorrelation along links than the depth of the nodes explains."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from benchmarks.baselines import neighbour_lists
from blockselect import load_cora
from blockselect.baselines.by_network.hotspot import Hotspot
from blockselect.graphs import autocorrelation
from blockselect.graphs.autocorrelation import autocorrelation_z, model_for
from references import hotspot as reference

MODELS = ("bernoulli", "danb", "normal")
every_model = pytest.mark.parametrize("model", MODELS)


def draw(seed, n=40, m=7):
    """Counts of nodes with different depths, one of them 0, and a weighted graph with self-loops and isolated nodes."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.gamma(2, 1, (n, 1)) * rng.gamma(1, 1, m)).astype(float)
    X[0] = 0
    X[1:3] = [[0], [3]]  # no feature is constant
    A = rng.random((n, n)) * (rng.random((n, n)) < 0.1)
    A[0, 1] = 1
    A[[3, 7]] = A[:, [3, 7]] = 0
    return X, np.maximum(A, A.T)


@every_model
@given(seed=st.integers(0, 10**6))
def test_the_criterion_equals_its_definition(model, seed):
    X, A = draw(seed)
    expected = reference.hotspot_z(X, A, model)
    for features in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        selector = Hotspot(3, model=model).fit(features, adjacency=A)
        assert_allclose(selector.criterion_, expected, rtol=1e-8, atol=1e-10)
        assert_array_equal(selector.scores_, selector.criterion_)


def small_network():
    """A ring of eight nodes with two chords, and three counts, for which the results of the package are stored."""
    X = np.array([[3, 0, 1], [2, 1, 0], [4, 0, 0], [1, 0, 2], [0, 2, 1], [0, 5, 0], [1, 3, 4], [2, 0, 1]], dtype=float)
    A = np.zeros((8, 8))
    for i in range(8):
        A[i, (i + 1) % 8] = 1
    A[0, 2], A[4, 6] = 0.5, 2
    return X, np.maximum(A, A.T)


STORED = {  # made with the package hotspotsc 1.1.3
    "bernoulli": [0.5211688894, 0.5907093419, 0.3778804755],
    "danb": [1.7945699945, 0.9788247354, -0.2801233590],
    "normal": [0.9575150570, 0.1954750423, -0.3694784138],
}


@every_model
def test_values_equal_stored_values_of_the_package(model):
    X, A = small_network()
    assert_allclose(autocorrelation_z(X, sparse.csr_array(A), model=model), STORED[model], rtol=1e-6)


@every_model
def test_values_equal_those_of_the_package(model):
    local_stats = pytest.importorskip("hotspot.local_stats")
    cora = load_cora()
    rng = np.random.default_rng(0)
    X = cora.features[:, np.asarray(cora.features.sum(axis=0)).ravel() > 0]
    X.data = X.data * {"bernoulli": 1, "danb": rng.integers(1, 5, X.nnz), "normal": rng.random(X.nnz)}[model]
    depths, columns = pd.Series(X.sum(axis=1)), np.arange(0, X.shape[1], 50)
    neighbours, weights = neighbour_lists(cora.adjacency)
    counts = sparse.csr_matrix(X[:, columns].T)
    theirs = local_stats.compute_hs(counts, neighbours, weights, depths, model, genes=columns, centered=True)
    assert_allclose(
        autocorrelation_z(X, cora.adjacency, model=model)[columns], theirs["Z"].loc[columns], rtol=1e-6, atol=1e-9
    )


@every_model
def test_independent_nodes_have_mean_zero_and_variance_one(model):
    rng = np.random.default_rng(0)
    depth = rng.gamma(20, 1, (1500, 1))
    X = rng.poisson(depth * np.full(400, 0.01)).astype(float)
    A = sparse.random_array((1500, 1500), density=0.004, rng=rng)
    Z = autocorrelation_z(sparse.csr_array(X), sparse.csr_array(A + A.T), model=model)
    assert abs(Z.mean()) < 0.25
    assert 0.8 < Z.std() < 1.2


def test_depth_that_is_correlated_along_links_does_not_count_as_structure():
    """If depth depends on the block, all features are autocorrelated along links, and Moran's I is large."""
    rng = np.random.default_rng(1)
    n = 600
    block = np.arange(n) % 2
    A = rng.random((n, n)) < np.where(block[:, None] == block, 0.06, 0.01)
    A = np.triu(A, 1)
    X = rng.poisson(np.where(block, 3, 1)[:, None] * np.full(60, 0.5)).astype(float)
    for model in ("danb", "normal"):
        Z = autocorrelation_z(X, sparse.csr_array((A | A.T).astype(float)), model=model)
        assert abs(np.median(Z)) < 2  # without depth: about 20


@every_model
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("entries", [1, 7, 120, 300])
def test_the_batch_size_does_not_matter(model, kind, entries, monkeypatch):
    X, A = draw(5, m=11)
    whole = reference.hotspot_z(X, A, model)
    monkeypatch.setattr(autocorrelation, "_CHUNK_ENTRIES", entries)
    assert_allclose(autocorrelation_z(kind(X), sparse.csr_array(A), model=model), whole, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("values", "model"),
    [([0, 1, 1], "bernoulli"), ([0, 1, 2], "danb"), ([0, 1, 0.5], "normal"), ([0, 1, -1], "normal")],
)
def test_the_values_determine_the_model(kind, values, model):
    X = kind(np.array([values, [1, 0, 1]], dtype=float))
    assert model_for(X) == model
    assert Hotspot(1).fit(X, adjacency=np.ones((2, 2))).model_ == model


@every_model
def test_nodes_of_equal_depth_are_compared_with_one_mean(model):
    rng = np.random.default_rng(0)
    one = (rng.random(30) < 0.4).astype(float)
    X, A = np.column_stack([one, 1 - one]), draw(3, n=30)[1]
    Z = autocorrelation_z(X, sparse.csr_array(A), model=model)
    assert np.isfinite(Z).all()
    if model != "danb":  # in which the variance differs from that of the complement
        assert_allclose(Z[0], Z[1])


def test_a_feature_that_the_depth_explains_completely_has_zero():
    X, A = draw(2)
    assert_allclose(
        autocorrelation_z(np.column_stack([X[:, 0], np.zeros(40)]), sparse.csr_array(A), model="normal")[0], 0
    )


def test_errors_say_what_to_do():
    X, A = draw(4)
    with pytest.raises(ValueError, match="adjacency is missing"):
        Hotspot(3).fit(X)
    with pytest.raises(ValueError, match="model is 'danb', but some features are negative; use model='normal'"):
        Hotspot(3, model="danb").fit(X - 1, adjacency=A)
    with pytest.raises(ValueError, match="no links between different nodes"):
        Hotspot(3).fit(X, adjacency=np.eye(40))
    with pytest.raises(ValueError, match="'model' parameter"):
        Hotspot(3, model="poisson").fit(X, adjacency=A)
