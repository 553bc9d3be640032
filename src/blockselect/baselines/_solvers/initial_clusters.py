"""The start of methods that learn clusters of nodes as non-negative indicators: what one given by hand must be."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_initial_clusters(clusters: Any, n_nodes: int) -> None:
    """Refuse a start that is not finite and non-negative, one row a node."""
    F = np.asarray(clusters, dtype=np.float64)
    if F.ndim != 2 or F.shape[0] != n_nodes or F.shape[1] == 0:
        raise ValueError(
            f"initial_clusters has shape {F.shape} but there are {n_nodes} nodes; give one row a node, one column "
            "a cluster."
        )
    if not (np.isfinite(F).all() and (F >= 0).all() and F.any()):
        raise ValueError("initial_clusters must be finite, not negative, and not all zero.")
