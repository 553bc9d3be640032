"""Why a graph is said to have so many blocks: eigenvalues, noise and description lengths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.blockmodels import n_blocks
from blockselect.blockmodels.embedding import degree_normalized
from blockselect.blockmodels.n_blocks import count_blocks
from blockselect.datasets import make_attributed_blocks
from made_graphs import cliques, planted, reweighted


def choose(adjacency, seed=0, **settings):
    return count_blocks(adjacency, rng=np.random.default_rng(seed), **settings).n_blocks


@settings(max_examples=15)
@given(seed=st.integers(0, 1000))
def test_the_count_does_not_change_when_nodes_are_reordered(seed):
    adjacency = planted(400, 5, mean_degree=15)
    order = np.random.default_rng(seed).permutation(400)
    assert choose(sparse.csr_array(adjacency[order][:, order]), seed) == choose(adjacency) == 5


@settings(max_examples=15)
@given(exponent=st.floats(-100, 100))
def test_the_count_and_its_reasons_do_not_change_with_the_scale_of_the_weights(exponent):
    rng = np.random.default_rng(0)
    adjacency = reweighted(planted(300, 4), lambda row, column: rng.lognormal(size=len(row)))
    plain, scaled = (count_blocks(a, rng=np.random.default_rng(0)) for a in (adjacency, 10**exponent * adjacency))
    assert plain.n_blocks == scaled.n_blocks == 4
    assert_allclose(plain.noise, scaled.noise, rtol=1e-6)
    assert_allclose(plain.description_lengths, scaled.description_lengths, rtol=1e-6)


def test_the_same_seed_gives_the_same_reasons():
    adjacency = planted(500, 5)
    first, second = (count_blocks(adjacency, rng=np.random.default_rng(3)) for _ in range(2))
    assert first.noise == second.noise
    assert_array_equal(first.eigenvalues, second.eigenvalues)
    assert_array_equal(first.description_lengths, second.description_lengths)


def test_the_count_says_why():
    counted = count_blocks(planted(600, 4, mean_degree=15), max_blocks=12, rng=np.random.default_rng(0))
    magnitudes = np.abs(counted.eigenvalues)
    assert counted.n_blocks == len(magnitudes) == len(counted.description_lengths) == 4
    assert (magnitudes > counted.noise).all()
    assert_array_equal(magnitudes, np.sort(magnitudes)[::-1])
    assert np.argmin(counted.description_lengths) == 3


def test_blocks_that_link_to_others_show_as_negative_eigenvalues():
    counted = count_blocks(planted(600, 3, mean_degree=30, structure="disassortative"), rng=np.random.default_rng(0))
    assert counted.eigenvalues[0] > 0
    assert (counted.eigenvalues[1:3] < -counted.noise).all()


def test_self_loops_change_nothing():
    adjacency = planted(500, 5)
    loops = sparse.diags_array(np.random.default_rng(0).random(500) * 50)
    plain, looped = (count_blocks(a, rng=np.random.default_rng(0)) for a in (adjacency, adjacency + loops))
    assert_array_equal(plain.eigenvalues, looped.eigenvalues)


@pytest.mark.parametrize("n_planted", [5, 6, 7, 9])
def test_looking_at_few_eigenvalues_first_misses_none(n_planted):
    assert choose(planted(600, n_planted, mean_degree=15)) == n_planted


@pytest.mark.parametrize(
    ("n_blocks", "reason"),
    [
        (4, "as many as the links support beyond chance"),
        (3, "links and features together support fewer than the 4 found from the links only"),
        (9, "links and features together support more than the 4 found from the links only"),
        (
            12,
            "links and features together support more than the 4 found from the links only, and max_blocks=12 is the "
            "limit",
        ),
    ],
)
def test_the_reason_compares_the_blocks_of_a_model_with_those_that_are_counted(n_blocks, reason):
    counted = count_blocks(planted(600, 4, mean_degree=15), max_blocks=12, rng=np.random.default_rng(0))
    assert counted.reason_for(n_blocks) == reason


def test_the_reason_names_the_limit_that_was_reached():
    few, many = (count_blocks(cliques(20, 10), max_blocks=most, rng=np.random.default_rng(0)) for most in (3, 16))
    assert few.reason_for(3) == "the most that max_blocks=3 allows, so there may be more"
    assert many.reason_for(14) == "the most that the square root of the number of nodes allows, so there may be more"
    none = count_blocks(planted(600, 2, mean_degree=4, mixing=1.0), rng=np.random.default_rng(0))
    assert none.reason_for(2) == "the minimum, because the links show no block structure"


def test_blocks_that_stay_empty_are_not_as_many_as_asked_for():
    assert n_blocks.reason_for_asked(3, 3) == "as requested"
    assert n_blocks.reason_for_asked(3, 4) == "some of the 4 requested blocks are empty"


@given(seed=st.integers(0, 1000), k=st.integers(2, 4))
def test_the_description_length_is_that_of_the_formula(seed, k):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((15, 15)) * (rng.random((15, 15)) < 0.4), 1)
    upper[0, 1] = 1
    A = upper + upper.T
    vectors = np.linalg.qr(rng.standard_normal((15, k)))[0]
    labels = n_blocks._labels(vectors)
    w, length = A.sum(), k * (k + 1) / 4 * np.log(A.sum() / 2)
    for a in range(k):
        size = np.sum(labels == a)
        length -= size * np.log(size / 15) / 2 if size else 0
        for b in range(k):
            p, p_a, p_b = (part.sum() / w for part in (A[labels == a][:, labels == b], A[labels == a], A[labels == b]))
            length -= w / 2 * p * np.log(p / (p_a * p_b)) if p else 0
    links = sparse.triu(sparse.csr_array(A), 1, format="coo")  # each once
    assert_allclose(n_blocks._description_length(links, vectors), length, atol=1e-10)


def test_eigenvectors_of_a_graph_that_was_decomposed_as_it_is_come_with_the_count():
    planted = make_attributed_blocks(400, 4, mean_degree=20, random_state=0)
    count = count_blocks(planted.adjacency, rng=np.random.default_rng(0))
    assert count.vectors.shape == (400, len(count.eigenvalues))
    matrix = degree_normalized(planted.adjacency)
    off = matrix @ count.vectors - count.vectors * count.eigenvalues
    assert np.linalg.norm(off, axis=0).max() < 0.01


@pytest.mark.parametrize("change", ["weights", "a loop", "a node apart"])
def test_another_graph_was_decomposed_where_weights_loops_or_nodes_were_changed(change):
    A = make_attributed_blocks(400, 4, mean_degree=20, random_state=0).adjacency.tolil()
    if change == "weights":
        A = 3 * A
        A[0, 1] = A[1, 0] = 5
    elif change == "a loop":
        A[7, 7] = 1
    else:
        A[7, :] = A[:, 7] = 0
    assert count_blocks(A.tocsr(), rng=np.random.default_rng(0)).vectors is None
