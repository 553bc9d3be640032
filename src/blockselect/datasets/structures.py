"""Named ways for blocks to connect, as densities of links."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from blockselect.arrays import FloatArray, IntArray
from blockselect.errors import ParameterError
from blockselect.graphs.number_arrays import as_numbers, check_entries


def assortative(n_blocks: int, mixing: float) -> FloatArray:
    """Each block links with itself."""
    return np.where(np.eye(n_blocks, dtype=bool), 1.0, mixing)


def disassortative(n_blocks: int, mixing: float) -> FloatArray:
    """Each block links with all others but itself."""
    return np.where(np.eye(n_blocks, dtype=bool), mixing, 1.0)


def core_periphery(n_blocks: int, mixing: float) -> FloatArray:
    """Blocks run from the core to the outermost periphery; two of them link by their mean coreness."""
    coreness = np.linspace(1.0, mixing, n_blocks)
    return np.add.outer(coreness, coreness) / 2


# Relative densities of n_blocks blocks, the strongest 1, the weakest `mixing`.
STRUCTURES: dict[str, Callable[[int, float], FloatArray]] = {
    "assortative": assortative,
    "disassortative": disassortative,
    "core-periphery": core_periphery,
}


def structured_density(structure: str, block_sizes: IntArray, *, mean_degree: float, mixing: float) -> FloatArray:
    """Densities of a named structure, scaled so that the expected mean degree is `mean_degree`."""
    if structure not in STRUCTURES:
        raise ParameterError(
            "structure", f"is {structure!r}; expected one of {list(STRUCTURES)}, or pass a matrix as density."
        )
    pattern = STRUCTURES[structure](len(block_sizes), mixing)
    ordered_pairs = np.outer(block_sizes, block_sizes) - np.diag(block_sizes)
    reachable = float((pattern * ordered_pairs).sum() / block_sizes.sum())
    if not 0 < mean_degree <= reachable:
        raise ParameterError(
            "mean_degree",
            f"is {mean_degree:g}; expected more than 0 and at most {reachable:g}, all that {structure} blocks of these "
            "sizes can reach; change it, or raise n_nodes or mixing.",
        )
    return pattern * (mean_degree / reachable)


def check_density(density: object, n_blocks: int) -> FloatArray:
    """A density matrix of the caller's own, checked."""
    array = as_numbers("density", density).copy()
    if array.shape != (n_blocks, n_blocks):
        raise ParameterError(
            "density", f"has shape {array.shape} but n_blocks is {n_blocks}; pass one row and column a block."
        )
    chances = (array >= 0) & (array <= 1)
    check_entries("density", array, chances, "is outside [0, 1]; each is the chance of a link between two nodes")
    if not np.array_equal(array, array.T):
        raise ParameterError("density", "is not symmetric; links have no direction: pass (density + density.T) / 2.")
    return array
