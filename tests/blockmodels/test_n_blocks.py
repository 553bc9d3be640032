"""The number of blocks, chosen without labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from blockselect.blockmodels.n_blocks import count_blocks
from made_graphs import cliques, planted, reweighted, symmetric, with_hanging_cliques, with_hubs

seeds = pytest.mark.parametrize("seed", range(3))


def choose(adjacency, seed=0, **settings):
    return count_blocks(adjacency, rng=np.random.default_rng(seed), **settings).n_blocks


@seeds
@pytest.mark.parametrize(
    ("n_blocks", "structure"),
    [
        (2, {"mean_degree": 4}),
        (4, {"mean_degree": 10}),
        (8, {"mean_degree": 15}),
        (12, {"mean_degree": 15}),
        (12, {"mean_degree": 150, "mixing": 0.3}),
        (4, {"mean_degree": 15, "block_weights": [4, 3, 2, 2]}),
        (2, {"mean_degree": 5, "structure": "disassortative"}),
        (3, {"mean_degree": 20, "structure": "disassortative"}),
        (5, {"mean_degree": 80, "structure": "disassortative"}),
    ],
)
def test_clear_blocks_are_counted_exactly(n_blocks, structure, seed):
    assert choose(planted(1000, n_blocks, seed, **structure)) == n_blocks


@seeds
@pytest.mark.parametrize(("n_blocks", "mean_degree"), [(4, 3), (5, 3), (8, 4)])
def test_blocks_of_very_sparse_graphs_are_counted_within_one(n_blocks, mean_degree, seed):
    assert abs(choose(planted(1000, n_blocks, seed, mean_degree=mean_degree)) - n_blocks) <= 1


@seeds
def test_blocks_too_small_to_be_seen_are_missed_and_none_are_made_up(seed):
    adjacency = planted(1000, 6, seed, mean_degree=15, block_weights=[8, 5, 3, 2, 1, 1])
    assert 4 <= choose(adjacency) <= 6


@seeds
def test_a_graph_without_blocks_gets_two(seed):
    for mean_degree in (3, 50):
        assert choose(planted(800, 2, seed, mean_degree=mean_degree, mixing=1)) == 2


@seeds
def test_levels_that_differ_by_degree_alone_are_not_told_from_hubs(seed):
    assert choose(planted(600, 4, seed, mean_degree=40, structure="core-periphery")) == 2
    assert choose(with_hubs(800, 1, 8, seed)) == 2


@seeds
def test_hubs_do_not_change_the_count(seed):
    assert choose(with_hubs(1000, 5, 12, seed)) == 5


@seeds
def test_small_components_and_isolated_nodes_do_not_count(seed):
    main = planted(800, 5, seed, mean_degree=8)
    rest = [cliques(40, size) for size in (2, 3, 4, 5, 6)]
    adjacency = sparse.csr_array(sparse.block_diag([main, *rest, sparse.csr_array((60, 60))]))
    assert choose(adjacency) == choose(main) == 5


@seeds
def test_small_cliques_that_hang_on_the_graph_neither_hide_its_blocks_nor_count_but_for_a_few(seed):
    adjacency = with_hanging_cliques(planted(1500, 4, seed, mean_degree=8), 40, seed)
    assert 4 <= choose(adjacency) <= 6


def test_large_components_count():
    parts = [planted(300, 2, seed, mean_degree=10, mixing=1) for seed in range(4)]
    assert choose(sparse.csr_array(sparse.block_diag(parts))) == 4


@seeds
def test_a_few_huge_weights_do_not_hide_the_blocks(seed):
    rng = np.random.default_rng(seed)
    adjacency = planted(800, 5, seed, mean_degree=15)
    assert choose(reweighted(adjacency, lambda row, column: rng.pareto(1.0, len(row)) + 1)) == 5


@seeds
def test_blocks_that_only_weights_tell_are_counted(seed):
    blocks = np.arange(400) % 4
    alike = planted(400, 2, seed, mean_degree=60, mixing=1)
    weighted = reweighted(alike, lambda row, column: np.where(blocks[row] == blocks[column], 10.0, 1.0))
    assert choose(alike) == 2
    assert choose(weighted) == 4


@seeds
def test_of_blocks_within_blocks_the_large_ones_count_where_links_are_too_few_to_describe_the_small(seed):
    rows = np.full((30, 30), 0.01)
    for start in range(0, 30, 5):
        rows[start : start + 5, start : start + 5] = 0.15
    np.fill_diagonal(rows, 1.0)
    density = rows * 8 / (rows.sum(axis=0).mean() * 50)
    assert 6 <= choose(planted(1500, 30, seed, density=density)) <= 10


def test_many_blocks_stop_at_the_limit_and_at_the_root_of_the_nodes():
    assert choose(cliques(60, 60)) == 50
    assert choose(cliques(50, 20)) == 31  # √1000
    assert choose(cliques(50, 20), max_blocks=5) == 5
    assert choose(cliques(20, 10), max_blocks=16) == 14  # √200


@seeds
def test_a_graph_of_small_groups_only_does_not_collapse(seed):
    assert choose(cliques(100, 10), seed, max_blocks=16) == 16
    assert choose(planted(1000, 100, seed, mean_degree=8, mixing=0.001), seed, max_blocks=16) >= 12
    hanging = with_hanging_cliques(planted(60, 2, seed, mean_degree=8, mixing=1), 50, seed)
    assert choose(hanging, seed, max_blocks=16) >= 12


@pytest.mark.parametrize(
    "adjacency",
    [
        np.eye(3),
        1 - np.eye(2),
        1 - np.eye(3),
        1 - np.eye(50),
        np.eye(30, k=1) + np.eye(30, k=-1),
        np.pad(1 - np.eye(2), (0, 300)),
        np.eye(400)[0] + np.eye(400)[:, [0]],
        cliques(300, 2),
        cliques(300, 3),
        np.kron(1 - np.eye(2), np.ones((10, 10))),
        np.kron(1 - np.eye(2), np.ones((150, 150))),
    ],
    ids=[
        "loops",
        "link",
        "triangle",
        "complete",
        "path",
        "link and isolated nodes",
        "star",
        "pairs",
        "triangles",
        "two sides",
        "large two sides",
    ],
)
def test_degenerate_graphs_get_two_blocks(adjacency):
    assert choose(sparse.csr_array(adjacency)) == 2


def test_one_node_is_one_block():
    assert choose(np.ones((1, 1))) == 1


@given(n=st.integers(2, 20), share=st.floats(0.05, 1), seed=st.integers(0, 1000))
def test_tiny_graphs_get_two_blocks_or_more_and_at_most_the_root_of_their_nodes(n, share, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < share, 1)
    upper[0, 1] = True
    assert 2 <= choose(symmetric(upper * rng.lognormal(size=(n, n)))) <= max(2, int(np.sqrt(n)))


def test_a_limit_below_two_is_refused():
    with pytest.raises(ValueError, match="max_blocks is 1; expected at least 2"):
        choose(planted(100, 2), max_blocks=1)


@pytest.mark.parametrize("n_nodes", [100, 400])
def test_a_few_hubs_that_hold_all_links_are_not_set_aside(n_nodes):
    links = np.zeros((n_nodes, n_nodes), dtype=bool)
    links[:4, 4:] = True
    assert choose(symmetric(links)) == 2


def test_blocks_of_a_large_graph_are_counted():
    """More than 20,000 nodes, where eigenvectors are less exact."""
    assert choose(planted(20_500, 3, 0, mean_degree=12)) == 3
