"""Networks with known informative features; the name of a scenario says how it differs from the plain one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from blockselect.datasets.planted import structured_density
from blockselect.utils.arrays import FloatArray, IntArray, Sparse

_RATES = (0.02, 0.2)  # range of the frequency of a feature outside its blocks, uniform on a log scale
_SIGNAL = 4.0  # ratio of its frequency in its blocks to its frequency elsewhere


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """A network, and a mask of the features that follow its blocks."""

    features: Any  # (n, m) array or CSR
    adjacency: Sparse  # (n, n)
    informative: NDArray[np.bool_]  # (m,)


@dataclass(frozen=True, slots=True)
class Scenario:
    """How a network is drawn. The defaults are the plain scenario: three assortative blocks and binary features."""

    n: int = 300
    structure: str = "assortative"
    sizes: tuple[int, int, int] | None = None  # shares of the three blocks; None stands for equal sizes
    mean_degree: float = 12.0
    mixing: float = 0.1  # ratio of the lowest to the highest density
    heavy_degrees: bool = False  # expected degrees follow a power law
    n_informative: int = 20
    n_noise: int = 80
    n_correlated: int = 0  # noise features that follow a partition unrelated to the graph
    n_copies: int = 0  # duplicated noise features
    values: str = "presence"  # "counts", "continuous", "lognormal"
    one_block: bool = False  # all informative features mark the same block
    by_degree: float = 0.0  # the number of features of a node is proportional to this power of its degree + 1
    who_by_degree: str = "all"  # or "noise"
    by_block: float = 0.0  # nodes of the first block have 1 + by_block times as many features of all kinds
    empty_share: float = 0.0  # share of additional nodes that have neither links nor features
    weights: str = "one"  # or "pareto": heavy tails, independent of the blocks


SCENARIOS: dict[str, Scenario] = {
    "plain": Scenario(),
    "plain, few links": Scenario(mean_degree=6),
    "nothing to find": Scenario(n_informative=0, n_noise=100),
    "no blocks": Scenario(mixing=1.0, n_informative=0, n_noise=100),
    "features by degree + 1": Scenario(heavy_degrees=True, by_degree=1.0),
    "noise by degree + 1": Scenario(heavy_degrees=True, by_degree=1.0, who_by_degree="noise"),
    "features by the root of degree + 1": Scenario(heavy_degrees=True, by_degree=0.5),
    "features by degree + 1, nothing to find": Scenario(
        heavy_degrees=True, by_degree=1.0, n_informative=0, n_noise=100
    ),
    "features by degree + 1, even degrees": Scenario(by_degree=1.0),
    "one block has twice the features": Scenario(by_block=1.0),
    "a fifth isolated and empty": Scenario(empty_share=0.2),
    "a fifth isolated and empty, nothing to find": Scenario(empty_share=0.2, n_informative=0, n_noise=100),
    "heavy-tailed degrees": Scenario(heavy_degrees=True),
    "correlated noise": Scenario(n_noise=30, n_correlated=50),
    "duplicated noise": Scenario(n_noise=40, n_copies=40),
    "counts": Scenario(values="counts"),
    "continuous values": Scenario(values="continuous"),
    "continuous values, heavy tails": Scenario(values="lognormal"),
    "continuous values by degree + 1": Scenario(values="continuous", heavy_degrees=True, by_degree=1.0),
    "weights with heavy tails": Scenario(weights="pareto"),
    "60 nodes": Scenario(n=60),
    "1,000 nodes, blocks of 80, 10 and 10 %": Scenario(n=1000, sizes=(800, 100, 100)),
    "1,000 nodes, blocks of 90, 5 and 5 %": Scenario(n=1000, sizes=(900, 50, 50)),
    "core and periphery": Scenario(structure="core-periphery", mean_degree=30),
    "core and periphery, features by degree + 1": Scenario(structure="core-periphery", mean_degree=30, by_degree=1.0),
    "disassortative": Scenario(structure="disassortative"),
    "all features mark one block": Scenario(one_block=True),
    "40 of 100 features mark one block": Scenario(one_block=True, n_informative=40, n_noise=60),
    "ten features": Scenario(n_informative=3, n_noise=7),
}


def draw(scenario: Scenario, rng: np.random.Generator) -> Truth:
    """Draw one network of a scenario."""
    n, k = scenario.n, 3
    blocks = rng.permutation(np.arange(n) % k if scenario.sizes is None else np.repeat(np.arange(k), scenario.sizes))
    adjacency = _draw_links(scenario, blocks, rng)
    degrees = np.asarray(adjacency.astype(bool).sum(axis=1)).ravel()
    others = rng.permutation(blocks)
    by_degree = (degrees + 1.0) ** scenario.by_degree
    by_degree /= by_degree.mean()
    everywhere = 1 + scenario.by_block * (blocks == 0)
    columns, roles = [], []
    for place in range(scenario.n_informative + scenario.n_noise + scenario.n_correlated):
        informative = place < scenario.n_informative
        correlated = place >= scenario.n_informative + scenario.n_noise
        home = 0 if scenario.one_block else place % k
        rate = np.exp(rng.uniform(*np.log(_RATES)))
        partition = blocks if informative else others
        marked = np.where(partition == home, _SIGNAL, 1.0)
        if not informative and not correlated:
            marked = rng.permutation(marked)
        propensity = everywhere * (by_degree if scenario.who_by_degree == "all" or not informative else 1.0)
        columns.append(_draw_values(rate * marked * propensity, scenario.values, rng))
        roles.append(informative)
    for place in range(scenario.n_copies):
        columns.append(columns[scenario.n_informative + place])
        roles.append(False)
    features = np.column_stack(columns)
    if scenario.weights == "pareto":
        adjacency = _weighted(adjacency, rng)
    if scenario.empty_share:
        n_empty = round(n * scenario.empty_share / (1 - scenario.empty_share))
        features = np.vstack([features, np.zeros((n_empty, features.shape[1]))])
        adjacency = sparse.block_diag([adjacency, sparse.csr_array((n_empty, n_empty))], format="csr")
    return Truth(features, sparse.csr_array(adjacency), np.array(roles))


def _draw_links(scenario: Scenario, blocks: IntArray, rng: np.random.Generator) -> Sparse:
    """Draw links with the given densities between blocks, and with the expected degrees if they vary."""
    sizes = np.bincount(blocks)
    density = structured_density(scenario.structure, sizes, mean_degree=scenario.mean_degree, mixing=scenario.mixing)
    pull = np.minimum(rng.pareto(1.5, len(blocks)) + 1, 20.0) if scenario.heavy_degrees else np.ones(len(blocks))
    pull /= pull.mean()
    chance = np.minimum(density[np.ix_(blocks, blocks)] * np.outer(pull, pull), 1.0)
    upper = np.triu(rng.random(chance.shape) < chance, k=1)
    return sparse.csr_array((upper | upper.T).astype(np.float64))


def _draw_values(rates: FloatArray, kind: str, rng: np.random.Generator) -> FloatArray:
    if kind == "presence":
        return (rng.random(len(rates)) < np.minimum(rates, 0.95)).astype(np.float64)
    if kind == "counts":
        return rng.poisson(3 * rates).astype(np.float64)
    if kind == "continuous":
        return rng.gamma(2.0, rates**0.5)
    return np.exp(rng.normal(0.25 * np.log(rates), 1.0))


def _weighted(adjacency: Sparse, rng: np.random.Generator) -> Sparse:
    """Draw weights from a power law with infinite mean, independent of the blocks."""
    upper = sparse.triu(adjacency, k=1, format="coo")
    weights = rng.pareto(0.8, upper.nnz) + 1
    half = sparse.csr_array((weights, (upper.row, upper.col)), shape=adjacency.shape)
    return sparse.csr_array(half + half.T)
