"""The start of methods that learn clusters of nodes as non-negative indicators."""

from __future__ import annotations

from typing import Any

import numpy as np

from blockselect.errors import ParameterError
from blockselect.graphs.checks import check_n_blocks


def check_initial_clusters(clusters: Any, n_blocks: int, n_nodes: int) -> None:
    """Refuse a start that is not finite and non-negative, one row a node; without one, too many blocks."""
    if clusters is None:
        check_n_blocks(n_blocks, n_nodes)
        return
    F = np.asarray(clusters, dtype=np.float64)
    if F.ndim != 2 or F.shape[0] != n_nodes or F.shape[1] == 0:
        raise ParameterError(
            "initial_clusters",
            f"has shape {F.shape} but there are {n_nodes} nodes; give one row a node, one column a cluster.",
        )
    if not (np.isfinite(F).all() and (F >= 0).all() and F.any()):
        raise ParameterError("initial_clusters", "must be finite, not negative, and not all zero.")
