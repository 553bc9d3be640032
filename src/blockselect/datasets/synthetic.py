"""Networks made from planted blocks, for tests and for seeing what a selector finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from blockselect.arrays import FloatArray, IntArray
from blockselect.datasets.planted import PlantedNetwork
from blockselect.datasets.planted_columns import VALUES, FeaturePlan, draw_features
from blockselect.datasets.planted_links import draw_links
from blockselect.datasets.structures import check_density, structured_density
from blockselect.errors import ParameterError
from blockselect.graphs.attributed import check_attributed_graph
from blockselect.graphs.number_arrays import as_numbers
from blockselect.scalars import check_real, check_whole


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

    Nodes and features stand in random order, so that position carries no information. The cost is that of the links
    and of the non-zero values, so that a million nodes with 100,000 features are made in minutes.

    Parameters
    ----------
    n_nodes : int
        Nodes, at least one for each block (paper: n).
    n_blocks : int
        Blocks, at least two (paper: k).
    density : array of shape (k, k), optional
        Chance of a link between two different nodes of two blocks, symmetric. If given, `structure`,
        `mean_degree` and `mixing` are not used (paper: M).
    structure : {"assortative", "disassortative", "core-periphery"}
        How blocks connect: with themselves, with all others, or from a core (the first block) out to a
        periphery (the last).
    mean_degree : float
        Expected number of links of a node.
    mixing : float
        Weakest density of the structure over its strongest, 0 to 1; at 1 the graph has no blocks.
    block_weights : sequence of k floats, optional
        Relative sizes of the blocks; equal if not given.
    n_informative : int
        Features that are more frequent in one or some of the blocks.
    n_redundant : int
        Noisy copies of informative features, shared out evenly.
    n_noise : int
        Features with values like those of informative ones, but assigned to the nodes at random.
    n_decoys : int
        Features that follow a partition of their own, which has nothing to do with the graph.
    signal : float
        How many times as frequent an informative feature is in its blocks as elsewhere; 1: no difference.
    frequency : tuple of two floats
        Range of the frequency elsewhere, from which each feature takes its own, evenly on a log scale.
    copy_noise : float
        Share of the nodes that swap their values in a redundant feature, 0 to 1.
    values : {"binary", "counts"}
        Whether a node has a feature or not, or how often it has it (Poisson).
    sparse : bool
        Features as CSR if true, and else as a NumPy array.
    random_state : int, numpy.random.Generator or None
        Seed: the same one gives the same network.

    Returns
    -------
    PlantedNetwork
        The network with its blocks, densities, and each feature's role.

    Examples
    --------
    >>> planted = make_attributed_blocks(200, 3, structure="core-periphery", random_state=0)
    >>> planted.graph.n_nodes, planted.graph.n_features, int(planted.is_informative.sum())
    (200, 100, 30)
    """
    try:
        rng = np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            "random_state", f"is {random_state!r}; expected a whole number from 0 on, a Generator or None."
        ) from error
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
        check_real("mean_degree", mean_degree, 0, np.inf)
        check_real("mixing", mixing, 0, 1)
        planted_density = structured_density(structure, sizes, mean_degree=mean_degree, mixing=mixing)
    else:
        planted_density = check_density(density, n_blocks)
    blocks = rng.permutation(np.repeat(np.arange(n_blocks), sizes))
    adjacency = draw_links(blocks, planted_density, rng)
    if adjacency.nnz == 0:
        to_raise = "mean_degree" if density is None else "density"
        raise ValueError(f"no link was drawn among {n_nodes} nodes; raise {to_raise} or n_nodes.")
    decoy_blocks = rng.permutation(blocks)
    drawn = draw_features(blocks, decoy_blocks, plan, rng)
    features = drawn.features if sparse else drawn.features.toarray()
    return PlantedNetwork(
        graph=check_attributed_graph(features, adjacency, classes=blocks.tolist()),
        blocks=blocks,
        density=planted_density,
        roles=drawn.roles,
        copied_from=drawn.copied_from,
        decoy_blocks=decoy_blocks if n_decoys else None,
    )


def _block_sizes(n_nodes: int, n_blocks: int, weights: Sequence[float] | None) -> IntArray:
    """Whole numbers in proportion to the weights; the largest remainders get the nodes left over."""
    shares: FloatArray = np.ones(n_blocks) if weights is None else as_numbers("block_weights", weights).copy()
    if shares.shape != (n_blocks,) or not (np.isfinite(shares) & (shares > 0)).all():
        raise ParameterError(
            "block_weights", f"is {weights}; expected {n_blocks} positive numbers, one for each block."
        )
    shares /= shares.max()  # their sum might overflow
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


def _check_plan(plan: FeaturePlan) -> None:
    if plan.values not in VALUES:
        raise ParameterError("values", f"is {plan.values!r}; expected one of {list(VALUES)}.")
    if plan.n_informative + plan.n_noise + plan.n_decoys == 0:
        raise ValueError("there would be no feature; raise n_informative, n_noise or n_decoys.")
    if plan.n_redundant and not plan.n_informative:
        raise ParameterError(
            "n_redundant", f"is {plan.n_redundant} but n_informative is 0: nothing to copy; raise n_informative."
        )
    highest = plan.signal * plan.frequency[1]
    if plan.values == "binary" and highest > 1:
        raise ValueError(
            f"signal times the highest frequency is {highest:g}; for binary features expected at most 1, "
            'every node: lower signal or frequency, or use values="counts".'
        )


def _check_frequency(frequency: Any) -> tuple[float, float]:
    if not isinstance(frequency, Sequence | np.ndarray) or len(frequency) != 2:
        raise ParameterError("frequency", f"is {frequency!r}; expected two numbers, the lowest and the highest.")
    low, high = (check_real("frequency", value, 0, np.inf) for value in frequency)
    if not 0 < low <= high:
        raise ParameterError("frequency", f"is {frequency!r}; expected 0 < lowest ≤ highest.")
    return low, high
