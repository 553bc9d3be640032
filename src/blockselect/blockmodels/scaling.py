"""Graphs and embeddings brought to a scale of their own: weights, degrees, rows."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from blockselect.arrays import FloatArray, Sparse


def unit_weights(adjacency: Sparse) -> Sparse:
    """The graph with a largest weight of 1: what follows does not see the unit that weights were given in."""
    return adjacency / adjacency.data.max()


def degree_normalized(adjacency: Sparse) -> Sparse:
    """(D + τI)^-½ A (D + τI)^-½, τ the mean degree: hubs count less, and nodes of few links not too much."""
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    scale = sparse.diags_array(1 / np.sqrt(degrees + degrees.mean()))
    return sparse.csr_array(scale @ adjacency @ scale)


def unit_rows(vectors: FloatArray) -> FloatArray:
    """Rows scaled to unit length; those that are zero but for rounding become zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    reached = lengths > np.sqrt(np.finfo(np.float64).eps) * lengths.max()
    unit: FloatArray = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=reached)
    return unit
