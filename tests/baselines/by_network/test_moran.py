"""MoransI: features that are autocorrelated along links."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import load_cora
from blockselect.baselines.by_network.moran import MoransI
from references import moran as reference


def draw(seed, n=25, m=7):
    """Features with some zeros, and a weighted graph with self-loops and isolated nodes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(loc=1, size=(n, m)) * (rng.random((n, m)) < 0.6)
    A = rng.random((n, n)) * (rng.random((n, n)) < 0.1)
    A[0, 1] = 1
    A[[3, 7]] = A[:, [3, 7]] = 0
    return X, np.maximum(A, A.T)


@given(seed=st.integers(0, 10**6))
def test_the_criterion_equals_its_definition(seed):
    X, A = draw(seed)
    for features in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        selector = MoransI(3).fit(features, adjacency=A)
        assert_allclose(selector.criterion_, reference.morans_i(X, A), rtol=1e-9, atol=1e-12)
        assert_array_equal(selector.scores_, selector.criterion_)


def test_values_equal_those_of_scanpy():
    scanpy_metrics = pytest.importorskip("scanpy.metrics")
    cora = load_cora()
    used = cora.features[:, cora.features.sum(axis=0) > 0]
    ours = MoransI(64).fit(used, adjacency=cora.adjacency).criterion_
    theirs = scanpy_metrics.morans_i(sparse.csr_matrix(cora.adjacency), sparse.csr_matrix(used.T))
    assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_a_feature_that_differs_along_every_link_has_minus_one():
    A = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    X = np.array([[1.0, 1, 0], [1, 0, 2], [0, 1, 1], [0, 0, 5]])
    assert_allclose(MoransI(1).fit(X, adjacency=A).criterion_[:2], [-1, 0], atol=1e-15)
