"""Affinity between nodes, computed from their features, for methods that do not use the network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches

from blockselect.graphs.neighbours import nearest_others, squared_row_lengths
from blockselect.rows.matrices import FEW_NON_ZERO, as_dense, as_plain_csr
from blockselect.rows.statistics import column_inner_products, mean_and_variance
from blockselect.utils.arrays import Features, FloatArray, Sparse
from blockselect.utils.errors import warn_caller

Weights = Literal["heat", "binary", "cosine"]
Width = float | Literal["mean"]
Block = tuple[slice, FloatArray]  # consecutive nodes, and weights between them and all nodes from the first of these

BLOCK_SIZE = 128  # number of nodes whose affinities to all other nodes are in memory at a time
NEXT_TO_NONE = 1e-6  # total affinity to other nodes below which a node counts as isolated


def neighbour_affinity(
    features: Features, n_neighbors: int = 5, *, weights: Weights = "heat", width: Width = 1.0
) -> Sparse:
    """Affinity between each node and its nearest neighbours; for each pair, the larger of the two directions.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
    n_neighbors : int
        Number of nearest nodes by Euclidean distance (for "cosine": between rows scaled to unit length), or all
        other nodes if there are fewer. Among equally near nodes, those with the lowest indices are used.
    weights : {"heat", "binary", "cosine"}
        Respectively: exp(−d²/2t²) for the distance d, 1, and the cosine similarity of the two rows, if positive.
    width : float or "mean"
        Width t of the heat kernel; "mean" is the mean distance to the neighbours.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric, 1 on the diagonal.
    """
    n_nodes = features.shape[0]
    rows = as_plain_csr(features)
    rows = normalize(rows, copy=False) if weights == "cosine" else rows
    directed = nearest_others(rows, n_neighbors)
    if weights == "binary":
        directed.data = np.ones(directed.nnz)
    elif weights == "cosine":
        directed.data = np.maximum(_inner_products(directed, squared_row_lengths(rows)), 0)
    else:
        width = float(directed.data.mean()) if width == "mean" else width
        directed.data = _heat(directed.data, width)
    others = sparse.csr_array(directed.maximum(directed.T))
    way_out = f'raise width (it is {width:.3g}), or use weights="binary"' if weights == "heat" else "use other weights"
    _warn_where_most_are_apart(others.sum(axis=1), weights, way_out)
    affinity = sparse.csr_array(others + sparse.eye_array(n_nodes))
    affinity.eliminate_zeros()
    return affinity


@dataclass(frozen=True, slots=True, eq=False)
class RadialAffinity:
    """exp(−d²/2t²) between all pairs of nodes, including 1 on the diagonal; computed in blocks and never stored.

    Created by :func:`radial_affinity`. A pass over all pairs takes O(n · nnz) operations for nnz non-zero features
    (O(n² m) for dense features), n²/2 exponentials, and memory for `BLOCK_SIZE` rows.
    """

    features: Features  # (n, m) float64; CSR if few values are non-zero, otherwise centred
    squared_lengths: FloatArray  # (n,) squared lengths of the rows of the features
    width: float  # t

    @property
    def n_nodes(self) -> int:
        return len(self.squared_lengths)

    def blocks(self) -> Iterator[Block]:
        """Yield each pair of different nodes once: b nodes, and the weights (n − first, b) from later nodes to them."""
        for nodes in gen_batches(self.n_nodes, BLOCK_SIZE):
            columns, rows = self.features[nodes], self.features[nodes.start :]
            products = rows @ np.ascontiguousarray(as_dense(columns).T)
            products -= self.squared_lengths[nodes.start :, None] / 2
            products -= self.squared_lengths[nodes] / 2
            products /= self.width**2
            np.minimum(products, 0, out=products)  # because of rounding, −d² may be above zero
            np.exp(products, out=products)
            size = products.shape[1]
            products[:size][np.triu_indices(size)] = 0
            yield nodes, products

    def degrees_and_roughness(self) -> tuple[FloatArray, FloatArray]:
        """Row sums of the affinity (n,) and Σ_{i<j} W_ij (f_i − f_j)² of each feature f (m,), in one pass."""
        others = np.zeros(self.n_nodes)
        shared = np.zeros(self.features.shape[1])  # Σ_{i<j} W_ij f_i f_j
        for nodes, weights in self.blocks():
            others[nodes.start :] += weights.sum(axis=1)
            others[nodes] += weights.sum(axis=0)
            sums = self.features[nodes.start :].T @ weights  # (m, b)
            shared += column_inner_products(self.features[nodes], sums.T)
        _warn_where_most_are_apart(others, "heat", f'raise width (it is {self.width:.3g}), or set it to "mean"')
        # The diagonal cancels in every difference; it is left out because small weights would be lost to rounding.
        squares = (self.features * self.features).T @ others
        return others + 1, np.maximum(squares - 2 * shared, 0)

    def times(self, vectors: FloatArray, blocks: Sequence[Block] | None = None) -> FloatArray:
        """The product of the affinity and one or more vectors (n, …), computed from `blocks` if given."""
        result = np.array(vectors)
        for nodes, weights in self.blocks() if blocks is None else blocks:
            result[nodes.start :] += weights @ vectors[nodes]
            result[nodes] += weights.T @ vectors[nodes.start :]
        return result


def radial_affinity(features: Features, width: Width) -> RadialAffinity:
    """The affinity exp(−d²/2t²) of all pairs of nodes.

    Parameters
    ----------
    features : array or CSR of shape (n, m)
    width : float or "mean"
        Width t; "mean" is the root mean square distance between different nodes, which needs no pass over the pairs.
    """
    rows = features.astype(np.float64)
    if not sparse.issparse(rows):
        if np.count_nonzero(rows) < FEW_NON_ZERO * rows.size:
            rows = sparse.csr_array(rows)
        else:
            rows -= rows.mean(axis=0)
    if width == "mean":
        _, variance = mean_and_variance(rows)
        width = float(np.sqrt(2 * variance.sum() * rows.shape[0] / (rows.shape[0] - 1)))
    return RadialAffinity(rows, squared_row_lengths(rows), width)


def _heat(distances: FloatArray, width: float) -> FloatArray:
    if width == 0:  # the mean distance if all nodes are equal
        return np.ones(len(distances))
    with np.errstate(over="ignore"):  # exp(−∞) is 0
        weights: FloatArray = np.exp(-((distances / width) ** 2) / 2)
    return weights


def _inner_products(distances: Sparse, squared_lengths: FloatArray) -> FloatArray:
    """x_i·x_j = (‖x_i‖² + ‖x_j‖² − d²) / 2; it is 0 for a row of zeros."""
    own = np.repeat(squared_lengths, np.diff(distances.indptr))
    return np.asarray((own + squared_lengths[distances.indices] - distances.data**2) / 2)


def _warn_where_most_are_apart(others: FloatArray, kind: str, way_out: str) -> None:
    """Warn if most nodes are isolated; `others` is the total affinity of each node to other nodes: (n,)."""
    n_apart = int(np.count_nonzero(others < NEXT_TO_NONE))
    if 2 * n_apart > len(others):
        warn_caller(
            f"{n_apart} of {len(others)} nodes have next to no {kind} affinity to other nodes, so the scores "
            f"depend on few nodes; {way_out}.",
            UserWarning,
        )
