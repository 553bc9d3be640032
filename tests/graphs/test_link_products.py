"""Sums over links equal the same sums from dense products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.graphs.link_products import products_along_links, products_with_groups


def draw(seed, n=12, m=5):
    rng = np.random.default_rng(seed)
    X = rng.random((n, m)) * (rng.random((n, m)) < 0.5)
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    return X, A + A.T, rng


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@given(seed=st.integers(0, 10**6))
def test_products_of_a_feature_at_both_ends(kind, seed):
    X, A, _ = draw(seed)
    assert_allclose(products_along_links(kind(X), sparse.csr_array(A)), np.einsum("il,ij,jl->l", X, A, X))


@given(seed=st.integers(0, 10**6))
def test_products_of_a_feature_with_the_value_of_the_group_at_the_other_end(seed):
    X, A, rng = draw(seed)
    groups, levels = rng.integers(3, size=len(X)), rng.normal(size=(3, X.shape[1]))
    found = products_with_groups(sparse.csr_array(X), sparse.csr_array(A), groups, levels)
    assert_allclose(found, np.einsum("il,ij,jl->l", X, A, levels[groups]), atol=1e-12)
