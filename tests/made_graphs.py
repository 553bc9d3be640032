"""Graphs with a known number of blocks, and simple shapes such as paths, stars and cliques."""

import numpy as np
from scipy import sparse

from blockselect.datasets import make_attributed_blocks
from blockselect.datasets.planted import structured_density


def planted(n_nodes, n_blocks, seed=0, **structure):
    features = {"n_informative": 1, "n_redundant": 0, "n_noise": 0}
    return make_attributed_blocks(n_nodes, n_blocks, random_state=seed, **features, **structure).adjacency


def with_hubs(n_nodes, n_blocks, mean_degree, seed):
    """Blocks of nodes whose degrees follow a power law."""
    rng = np.random.default_rng(seed)
    blocks = np.arange(n_nodes) % n_blocks
    drawn = np.minimum(rng.pareto(1.5, n_nodes) + 1, np.sqrt(n_nodes))
    activity = drawn / drawn.mean()
    mixing = 0.05 if n_blocks > 1 else 1
    density = structured_density("assortative", np.bincount(blocks), mean_degree=mean_degree, mixing=mixing)
    chance = density[blocks][:, blocks] * np.outer(activity, activity)
    return symmetric(np.triu(rng.random(chance.shape) < chance, 1))


def symmetric(upper):
    links = sparse.csr_array(upper, dtype=np.float64)
    return sparse.csr_array(links + links.T)


def reweighted(adjacency, weights):
    """The same links with weights, which `weights(row, column)` returns for the upper triangle."""
    links = sparse.triu(adjacency, 1, format="coo")
    links.data = weights(links.row, links.col)
    return symmetric(links)


def cliques(n_cliques, size):
    return sparse.csr_array(np.kron(np.eye(n_cliques), 1 - np.eye(size)))


def with_hanging_cliques(adjacency, n_cliques, seed):
    """The graph with additional cliques of 5 to 9 nodes, each attached by one link."""
    rng, n = np.random.default_rng(seed), adjacency.shape[0]
    sizes = rng.integers(5, 10, n_cliques)
    first = n + np.cumsum(sizes) - sizes
    joined = sparse.lil_array(sparse.block_diag([adjacency, *(1 - np.eye(size) for size in sizes)]))
    for node, clique in zip(rng.choice(n, n_cliques, replace=False), first, strict=True):
        joined[node, clique] = joined[clique, node] = 1
    return sparse.csr_array(joined)


def path(n):
    return linked(n, np.arange(n - 1), np.arange(1, n))


def ring(n):
    return linked(n, np.arange(n), (np.arange(n) + 1) % n)


def binary_tree(n):
    children = np.arange(1, n)
    return linked(n, (children - 1) // 2, children)


def grid(n):
    """The largest square grid with at most n nodes."""
    side = int(np.sqrt(n))
    along = sparse.eye_array(side)
    return sparse.csr_array(sparse.kron(path(side), along) + sparse.kron(along, path(side)))


def star(n):
    return linked(n, np.zeros(n - 1, dtype=int), np.arange(1, n))


def complete(n):
    return sparse.csr_array(1 - np.eye(n))


def pairs(n):
    return linked(n, np.arange(0, n - 1, 2), np.arange(1, n, 2))


def one_link(n):
    """A graph in which all nodes but two are isolated."""
    return linked(n, [0], [1])


def linked(n, sources, targets):
    """Links of weight 1 between these nodes."""
    return symmetric(sparse.coo_array((np.ones(len(sources)), (sources, targets)), (n, n)))
