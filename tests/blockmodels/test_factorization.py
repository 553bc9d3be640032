"""Tri-factorisation: its updates, operators that are never formed, and when a start stands still."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.blockmodels.embedding import degree_normalized, product_of
from blockselect.blockmodels.factorization import Factorization, onmtf_starts, settled_starts
from blockselect.blockmodels.families import Search
from blockselect.datasets import make_attributed_blocks
from references import blocks, bmgufs
from references.problems import make_problem


@given(seed=st.integers(0, 1000))
def test_onmtf_updates_are_those_of_the_paper(seed):
    problem = make_problem(seed, n=18)
    A = problem.A + 0.01  # no zero rows, where the printed updates divide by zero
    rng = np.random.default_rng(seed)
    F, half = rng.random((18, 3)), rng.random((3, 3))
    slow, _ = bmgufs.onmtf(A, F, (half + half.T) / 2, n_iter=20)
    fast = onmtf_starts(Search(sparse.csr_array(A), 3, [np.random.default_rng(seed)]), n_iter=20)[0]()
    assert_array_equal(fast, slow.argmax(axis=1))


@given(seed=st.integers(0, 1000))
def test_the_normalised_graph_is_that_of_the_formula(seed):
    A = make_problem(seed).A
    assert_allclose(degree_normalized(sparse.csr_array(A)).toarray(), blocks.normalized_graph(A), rtol=1e-12)


@given(seed=st.integers(0, 1000))
def test_an_operator_gives_what_the_formed_matrix_gives(seed):
    P = degree_normalized(sparse.csr_array(make_problem(seed, n=25).A))
    formed, chained = (
        Factorization(operator, 25, 3, np.random.default_rng(seed).spawn(2))
        for operator in (product_of(sparse.csr_array(P @ P)), product_of(P, P))
    )
    for factors in (formed, chained):
        factors.advance(30)
    assert_allclose(chained.fit(), formed.fit(), rtol=1e-8)
    assert_array_equal(chained.labels(), formed.labels())


@given(seed=st.integers(0, 1000))
def test_the_fit_is_what_the_error_lacks(seed):
    A = make_problem(seed, n=15).A
    rng = np.random.default_rng(seed)
    F, half = rng.random((15, 3)), rng.random((3, 3))
    M = (half + half.T) / 2
    factors = Factorization(product_of(sparse.csr_array(A)), 15, 3, [np.random.default_rng(seed)])
    expected = np.linalg.norm(A) ** 2 - np.linalg.norm(A - F @ M @ F.T) ** 2
    assert_allclose(factors.fit(), [expected], rtol=1e-10)


def test_a_start_ends_the_same_alone_and_beside_others_that_stop_sooner_or_later():
    P = degree_normalized(make_attributed_blocks(300, 4, mean_degree=12, random_state=0).adjacency)
    P = P.astype(np.float32)

    def starts_of(rngs, n_jobs=None):
        return settled_starts(lambda: product_of(P, P), Search(P, 4, rngs, n_jobs=n_jobs))

    together = [start() for start in starts_of(np.random.default_rng(0).spawn(6))]
    alone = [starts_of([rng])[0]() for rng in np.random.default_rng(0).spawn(6)]
    in_two = [start() for start in starts_of(np.random.default_rng(0).spawn(6), n_jobs=2)]
    assert_array_equal(together, alone)
    assert_array_equal(in_two, alone)


@pytest.mark.parametrize("seed", [1, 2, 4, 5])  # starts that climb twice, with a rest between
def test_starts_that_settle_fit_as_well_as_they_ever_will(seed):
    P = degree_normalized(make_attributed_blocks(200, 3, mean_degree=20, random_state=0).adjacency).astype(np.float32)
    products = []

    def counted(columns):
        products.append(1)
        return product_of(P, P)(columns)

    settled_starts(lambda: counted, Search(P, 3, [np.random.default_rng(seed)]))[0]()
    n_settled = len(products) - 1  # one before the first iteration
    settled, endless = (
        Factorization(product_of(P, P), 200, 3, [np.random.default_rng(seed)], dtype=np.float32) for _ in range(2)
    )
    settled.advance(n_settled)
    endless.advance(2000)
    assert n_settled < 500
    assert_allclose(settled.fit(), endless.fit(), rtol=1e-2)


def test_single_precision_overflows_nowhere_in_a_graph_of_many_pieces():
    sizes = np.random.default_rng(0).integers(2, 9, size=150)
    pieces = sparse.block_diag([sparse.csr_array(1 - np.eye(size)) for size in sizes], format="csr")
    P = degree_normalized(pieces).astype(np.float32)
    factors = Factorization(product_of(P), P.shape[0], 7, np.random.default_rng(0).spawn(4), dtype=np.float32)
    for _ in range(25):
        factors.advance(20)
        assert np.isfinite(factors.fit()).all()
