"""The start of methods that learn clusters of nodes as non-negative indicators."""

from __future__ import annotations

from typing import Any

from blockselect.errors import ParameterError
from blockselect.graphs.checks import check_n_blocks
from blockselect.graphs.number_arrays import as_numbers, check_start


def check_initial_clusters(clusters: Any, n_blocks: int, n_nodes: int) -> None:
    """Refuse a start that is not finite and non-negative, one row a node; without one, too many blocks."""
    if clusters is None:
        check_n_blocks(n_blocks, n_nodes)
        return
    F = as_numbers("initial_clusters", clusters)
    if F.ndim != 2 or F.shape[0] != n_nodes or F.shape[1] == 0:
        raise ParameterError(
            "initial_clusters",
            f"has shape {F.shape} but there are {n_nodes} nodes; give one row a node, one column a cluster.",
        )
    check_start("initial_clusters", F)
