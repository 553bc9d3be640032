"""Affinity between nodes by their features: what methods use that look at no network."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize

from blockselect.arrays import Features, Sparse
from blockselect.graphs.checks import check_weights
from blockselect.graphs.convert import as_square_csr, without_direction

Weights = Literal["heat", "binary", "cosine"]


def neighbour_affinity(
    features: Features,
    n_neighbors: int = 5,
    *,
    weights: Weights = "heat",
    width: float | Literal["mean"] = 1.0,
) -> Sparse:
    """Affinity of each node with its nearest neighbours and with itself, the larger of both directions.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
    n_neighbors : int
        Nearest others of each node, by Euclidean distance (for "cosine": of rows scaled to unit length). Where there
        are fewer others, all. Ties at the last neighbour are broken by scikit-learn.
    weights : {"heat", "binary", "cosine"}
        exp(−d²/2t²) of the distance d; 1; or the cosine of the two rows, where that is positive.
    width : float or "mean"
        t of the heat kernel; "mean" is the mean distance to the neighbours.
    """
    n_nodes = features.shape[0]
    rows = normalize(features) if weights == "cosine" else features
    directed = sparse.csr_array(kneighbors_graph(rows, min(n_neighbors, n_nodes - 1), mode="distance"))
    distances = directed.data
    if weights == "binary":
        directed.data = np.ones_like(distances)
    elif weights == "cosine":
        directed.data = np.maximum(1 - distances**2 / 2, 0)
    else:
        t = distances.mean() if width == "mean" else width
        directed.data = np.exp(-(distances**2) / (2 * t**2)) if t > 0 else np.ones_like(distances)
    affinity = sparse.csr_array(directed.maximum(directed.T) + sparse.eye_array(n_nodes))
    affinity.eliminate_zeros()
    return affinity


def check_affinity(affinity: Any, n_nodes: int) -> Sparse:
    """A precomputed affinity in the form used inside: CSR, finite, non-negative, the larger of both directions."""
    weights = as_square_csr(affinity, n_nodes, name="affinity")
    check_weights(weights, None, weights.dtype, name="affinity")
    return without_direction(weights)
