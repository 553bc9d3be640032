"""Planted networks: random blocks, links and features, with known blocks and informative features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, get_index_dtype

from blockselect.datasets.planted_features import VALUES, FeaturePlan, draw_features, sample
from blockselect.inputs.attributed import AttributedGraph, check_attributed_graph
from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import as_numbers, check_entries, check_known, check_real, check_whole, look_up


@dataclass(frozen=True, slots=True, eq=False)
class PlantedNetwork:
    """A network whose blocks and informative features are known.

    Make one with :func:`make_attributed_blocks`.
    """

    graph: AttributedGraph  # with the planted blocks as classes
    blocks: IntArray  # (n,) planted block of each node
    density: FloatArray  # (k, k) probability of a link between two different nodes, for each pair of blocks
    roles: NDArray[np.str_]  # (m,) "informative", "redundant", "noise" or "decoy"
    copied_from: IntArray  # (m,) column that a redundant feature copies, -1 for other features
    decoy_blocks: IntArray | None = None  # (n,) the partition that determines the decoys, if there are any

    @property
    def adjacency(self) -> Sparse:
        return self.graph.adjacency

    @property
    def features(self) -> Features:
        return self.graph.features

    @property
    def n_blocks(self) -> int:
        return len(self.density)

    @property
    def is_informative(self) -> NDArray[np.bool_]:
        """Mask of the features that depend on the blocks, copies included: (m,)."""
        return np.isin(self.roles, ("informative", "redundant"))


def make_attributed_blocks(
    n_nodes: int = 300,
    n_blocks: int = 4,
    *,
    density: ArrayLike | None = None,
    structure: str = "assortative",
    mean_degree: float = 10.0,
    mixing: float = 0.05,
    block_weights: Sequence[float] | None = None,
    n_informative: int = 20,
    n_redundant: int = 10,
    n_noise: int = 70,
    n_decoys: int = 0,
    signal: float = 4.0,
    frequency: tuple[float, float] = (0.02, 0.2),
    copy_noise: float = 0.1,
    values: str = "binary",
    sparse: bool = True,
    random_state: int | np.random.Generator | None = None,
) -> PlantedNetwork:
    """Make a network of planted blocks whose nodes carry informative, redundant and other features.

    Nodes and features are in random order, so their positions carry no information. The cost is proportional to
    the number of links and of non-zero values: a million nodes with 100,000 features take minutes.

    Parameters
    ----------
    n_nodes : int
        Number of nodes, at least one per block (paper: n).
    n_blocks : int
        Number of blocks, at least two (paper: k).
    density : array of shape (k, k), optional
        Probability of a link between two different nodes, for each pair of blocks; symmetric. If given, `structure`,
        `mean_degree` and `mixing` are not used (paper: M).
    structure : {"assortative", "disassortative", "core-periphery"}
        How blocks connect: mostly within themselves, mostly with each other, or as a core (the first block) and a
        periphery (the last).
    mean_degree : float
        Expected number of links per node.
    mixing : float
        Ratio of the lowest to the highest density of the structure, 0 to 1; at 1 the graph has no blocks.
    block_weights : sequence of k floats, optional
        Relative sizes of the blocks; equal if not given.
    n_informative : int
        Number of features that are more frequent in one or several blocks.
    n_redundant : int
        Number of noisy copies; each informative feature is copied about equally often.
    n_noise : int
        Number of features with values like those of informative features, but assigned to random nodes.
    n_decoys : int
        Number of features that depend on another partition, unrelated to the graph.
    signal : float
        Ratio of the frequency of an informative feature in its blocks to its frequency elsewhere; 1 means no
        difference.
    frequency : tuple of two floats
        Lowest and highest frequency of a feature outside its blocks, drawn log-uniformly for each feature.
    copy_noise : float
        Share of the nodes that swap their values in a redundant feature, 0 to 1.
    values : {"binary", "counts"}
        Presence of a feature at a node, or its number of occurrences (Poisson).
    sparse : bool
        Return the features as a CSR array if true, otherwise as a NumPy array.
    random_state : int, numpy.random.Generator or None
        Seed: the same seed gives the same network.

    Returns
    -------
    PlantedNetwork
        The network with its blocks, its densities and the role of each feature.

    Examples
    --------
    >>> planted = make_attributed_blocks(200, 3, structure="core-periphery", random_state=0)
    >>> planted.graph.n_nodes, planted.graph.n_features, int(planted.is_informative.sum())
    (200, 100, 30)
    """
    rng = np.random.default_rng(random_state)
    plan = FeaturePlan(
        n_informative=check_whole("n_informative", n_informative, 0),
        n_redundant=check_whole("n_redundant", n_redundant, 0),
        n_noise=check_whole("n_noise", n_noise, 0),
        n_decoys=check_whole("n_decoys", n_decoys, 0),
        signal=check_real("signal", signal, 1, np.inf),
        frequency=_check_frequency(frequency),
        copy_noise=check_real("copy_noise", copy_noise, 0, 1),
        values=values,
    )
    _check_plan(plan)
    sizes = _block_sizes(check_whole("n_nodes", n_nodes, 2), check_whole("n_blocks", n_blocks, 2), block_weights)
    if density is None:
        check_real("mixing", mixing, 0, 1)
        planted_density = structured_density(structure, sizes, mean_degree=mean_degree, mixing=mixing)
    else:
        planted_density = _check_density(density, n_blocks)
    blocks = rng.permutation(np.repeat(np.arange(n_blocks), sizes))
    adjacency = _draw_links(blocks, planted_density, rng)
    if adjacency.nnz == 0:
        to_raise = "mean_degree" if density is None else "density"
        raise ValueError(f"no link was drawn among {n_nodes} nodes; raise {to_raise} or n_nodes.")
    decoy_blocks = rng.permutation(blocks)
    features, roles, copied_from = draw_features(blocks, decoy_blocks, plan, rng)
    return PlantedNetwork(
        graph=check_attributed_graph(features if sparse else features.toarray(), adjacency, classes=blocks.tolist()),
        blocks=blocks,
        density=planted_density,
        roles=roles,
        copied_from=copied_from,
        decoy_blocks=decoy_blocks if n_decoys else None,
    )


# Relative densities of k blocks; the highest is 1 and the lowest is `mixing`.
STRUCTURES: dict[str, Callable[[int, float], FloatArray]] = {
    "assortative": lambda k, mixing: np.where(np.eye(k, dtype=bool), 1.0, mixing),
    "disassortative": lambda k, mixing: np.where(np.eye(k, dtype=bool), mixing, 1.0),
    "core-periphery": lambda k, mixing: np.add.outer(*2 * [np.linspace(1.0, mixing, k)]) / 2,
}


def structured_density(structure: str, block_sizes: IntArray, *, mean_degree: float, mixing: float) -> FloatArray:
    """Return the densities of a named structure, scaled so that the expected mean degree is `mean_degree`."""
    pattern = look_up(structure, STRUCTURES, what="structure")(len(block_sizes), mixing)
    ordered_pairs = np.outer(block_sizes, block_sizes) - np.diag(block_sizes)
    reachable = float((pattern * ordered_pairs).sum() / block_sizes.sum())
    expected = check_real("mean_degree", mean_degree, 0, reachable)
    return pattern * (expected / reachable if expected else 0.0)


def _check_density(density: object, n_blocks: int) -> FloatArray:
    array = as_numbers("density", density).copy()
    is_probability = (array >= 0) & (array <= 1)
    check_entries("density", array, is_probability, "is outside [0, 1]; each entry is the probability of a link")
    if array.shape != (n_blocks, n_blocks) or not np.array_equal(array, array.T):
        raise ParameterError(
            "density",
            f"has shape {array.shape}; expected a symmetric matrix of shape ({n_blocks}, {n_blocks}), since links are "
            "undirected: pass (density + density.T) / 2.",
        )
    return array


def _block_sizes(n_nodes: int, n_blocks: int, weights: Sequence[float] | None) -> IntArray:
    """Divide the nodes in proportion to the weights, by the method of largest remainders."""
    shares: FloatArray = np.ones(n_blocks) if weights is None else as_numbers("block_weights", weights).copy()
    if shares.shape != (n_blocks,) or not (np.isfinite(shares) & (shares > 0)).all():
        raise ParameterError("block_weights", f"is {weights}; expected {n_blocks} positive numbers, one per block.")
    shares /= shares.max()  # the sum of the weights could overflow
    shares *= n_nodes / shares.sum()
    sizes = np.floor(shares).astype(np.intp)
    left_over = np.argsort(sizes - shares, kind="stable")[: n_nodes - sizes.sum()]
    sizes[left_over] += 1
    if sizes.min() == 0:
        raise ValueError(
            f"{n_nodes} nodes leave block {sizes.argmin()} of {n_blocks} empty; raise n_nodes, lower "
            "n_blocks, or make block_weights less unequal."
        )
    return sizes


def _draw_links(blocks: IntArray, density: FloatArray, rng: np.random.Generator) -> Sparse:
    """Draw a symmetric (n, n) adjacency without self-loops: first how many links, then which pairs of nodes."""
    n_nodes, n_blocks = len(blocks), len(density)
    members = [np.flatnonzero(blocks == block) for block in range(n_blocks)]
    sources, targets = [], []
    for a in range(n_blocks):
        for b in range(a + 1):
            n_a, n_b = len(members[a]), len(members[b])
            n_pairs = n_a * (n_a - 1) // 2 if a == b else n_a * n_b
            pairs = sample(n_pairs, rng.binomial(n_pairs, density[a, b]), rng)
            rows, columns = triangle_pairs(pairs) if a == b else np.divmod(pairs, n_b)
            sources.append(members[a][rows])
            targets.append(members[b][columns])
    source, target = np.concatenate(sources), np.concatenate(targets)
    kind = get_index_dtype(maxval=max(2 * len(source), n_nodes))
    ends = (source.astype(kind), target.astype(kind))
    links = coo_array((np.ones(len(source)), ends), shape=(n_nodes, n_nodes)).tocsr()
    return links + links.T


def triangle_pairs(pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Return the row and column (column < row) of positions in a lower triangle, counted row by row."""
    rows = ((1 + np.sqrt(1 + 8 * pairs.astype(np.float64))) / 2).astype(np.int64)
    rows -= rows * (rows - 1) // 2 > pairs  # with 10⁸ rows or more, rounding can give the next row
    return rows, pairs - rows * (rows - 1) // 2


def _check_plan(plan: FeaturePlan) -> None:
    check_known([plan.values], VALUES, what="kind of values")
    if not plan.n_informative and (plan.n_redundant or not plan.n_noise + plan.n_decoys):
        raise ParameterError(
            "n_informative", "is 0, so there are no features, or none that redundant features could copy; increase it."
        )
    highest = plan.signal * plan.frequency[1]
    if plan.values == "binary" and highest > 1:
        raise ValueError(
            f"signal times the highest frequency is {highest:g}; binary features allow at most 1 (every node): lower "
            'signal or frequency, or use values="counts".'
        )


def _check_frequency(frequency: Any) -> tuple[float, float]:
    pair = as_numbers("frequency", frequency)
    if pair.shape != (2,) or not 0 < pair[0] <= pair[1] < np.inf:
        raise ParameterError("frequency", f"is {frequency!r}; expected two numbers with 0 < lowest ≤ highest.")
    return float(pair[0]), float(pair[1])
