"""BlockModel: the block of each node, and how densely each pair of blocks is linked (paper: F and M)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from blockselect.inputs.adjacency import check_adjacency, check_same_order
from blockselect.inputs.attributed import AttributedGraph
from blockselect.inputs.labels import encode_labels, labels_of_one_hot
from blockselect.utils.arrays import BoolArray, FloatArray, IntArray, Sparse
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import as_generator, as_numbers, check_entries, check_real


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BlockModel:
    """A block model of a graph: A ≈ F M Fᵀ. Every block has at least one node.

    Create one with :meth:`from_labels`, which computes the best M for given blocks, or with :meth:`from_matrices`, from
    both F and M. :func:`blockselect.find_block_models` finds block models.
    """

    labels: IntArray  # (n,) block of each node, from 0 to k − 1 (paper: F)
    density: FloatArray  # (k, k) mean link weight of each block pair (paper: M)
    relative_error: float = np.nan  # ‖A − F M Fᵀ‖ / ‖A‖ (paper: RRE); NaN until a selector is fitted to a graph
    family: str = "given"  # the family that found the blocks; "given" if the user did

    def __repr__(self) -> str:
        return (
            f"BlockModel(n_nodes={len(self.labels)}, n_blocks={self.n_blocks}, relative_error="
            f"{self.relative_error:.3g}, family={self.family!r})"
        )

    @property
    def n_blocks(self) -> int:
        return len(self.density)

    @property
    def block_sizes(self) -> IntArray:
        return np.bincount(self.labels, minlength=self.n_blocks)

    @classmethod
    def from_labels(cls, adjacency: Any, labels: ArrayLike, *, family: str = "given") -> BlockModel:
        """The block model with the best density for these blocks (theorem 1 of the paper).

        The graph may have any form that :func:`blockselect.check_attributed_graph` accepts. Labels may be any sortable
        values, or a one-hot matrix (n, k); missing numbers do not become empty blocks. `family` is the name of the
        family that found the labels.

        Examples
        --------
        >>> path = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
        >>> BlockModel.from_labels(path, ["left", "left", "right", "right"]).density
        array([[0.5 , 0.25],
               [0.25, 0.5 ]])
        """
        labels = labels_of_one_hot(labels)
        numbers = encode_labels(labels)
        n_nodes = len(numbers)
        if sparse.issparse(adjacency) and adjacency.shape[0] != n_nodes:  # an error about the labels, not the graph
            raise ValueError(
                f"there are {n_nodes} block labels but the graph has {adjacency.shape[0]} nodes; pass one label per "
                "node."
            )
        checked = check_adjacency(adjacency, n_nodes, own_order=isinstance(labels, pd.Series))
        if isinstance(labels, pd.Series):
            check_same_order(labels.index, adjacency, checked, what="labels", fix="labels.loc[ids]")
        return cls.of_checked(checked, numbers, family=family)

    @classmethod
    def from_matrices(cls, F: Any, M: Any) -> BlockModel:
        """The block model with the matrices F and M, the input of algorithm 1 of the paper.

        The relative error depends on the graph, so it is NaN until a selector is fitted.
        ``BMGUFS(16, block_model=(F, M))`` is the same as
        ``BMGUFS(16, block_model=BlockModel.from_matrices(F, M))``.

        Parameters
        ----------
        F : array, sparse matrix or DataFrame of shape (n, k), or labels of shape (n,)
            One-hot, with a single 1 per row, in the column of the node's block. Labels may be any sortable values. Rows
            are in the order of the nodes; only ``block_model=(F, M)`` matches a DataFrame or Series by node id.
        M : array or sparse matrix of shape (k, k)
            Mean link weight of each pair of blocks, in the order of the columns of F or of the sorted labels; symmetric
            and non-negative.

        Examples
        --------
        >>> BlockModel.from_matrices([[1, 0], [1, 0], [0, 1]], [[0.9, 0.1], [0.1, 0.8]])
        BlockModel(n_nodes=3, n_blocks=2, relative_error=nan, family='given')
        """
        labels = encode_labels(labels_of_one_hot(F))
        density = as_numbers("M", M.toarray() if sparse.issparse(M) else M)
        k = int(labels.max()) + 1
        if density.shape != (k, k):
            raise ParameterError(
                "M",
                f"has shape {density.shape}, but F puts nodes into {k} blocks; expected ({k}, {k}), one row and one "
                "column per block that has a node. To compute M from the graph, pass block_model=F.",
            )
        if not np.allclose(density, density.T, equal_nan=True):
            raise ParameterError("M", "is not symmetric, but links are undirected; pass (M + M.T) / 2.")
        return check_block_model(cls(labels, density), len(labels))

    @classmethod
    def of_checked(cls, adjacency: Sparse, labels: IntArray, *, family: str = "given") -> BlockModel:
        """`from_labels` without checks, for a checked graph and labels from 0 to k − 1 without gaps."""
        weight = block_weights(adjacency, labels)
        sizes = np.bincount(labels)
        density = weight / np.outer(sizes, sizes)
        return cls(labels, density, _relative_error(adjacency, weight, sizes, density), family)

    def reflected(self) -> BlockModel:
        """The same blocks with the density of ``|F M Fᵀ|``, the matrix absolute value; negative entries become 0.

        The density that scores induce, M̂ = D̄ diag(r) D̄ᵀ, is positive semi-definite, so its diagonal is large. The
        density M of disassortative blocks is not: no scores can reproduce it, and the profile loss avoids the very
        features that mark the blocks. The absolute value measures how similar the connections of two blocks are. With S
        the diagonal matrix of the block sizes and S^½ M S^½ = V diag(λ) Vᵀ, it has the density
        ``S^-½ V diag(|λ|) Vᵀ S^-½``. A positive semi-definite density does not change.

        Labels, family and relative error are kept; the error is that of the original density.

        Examples
        --------
        >>> import numpy as np
        >>> two_sides = BlockModel(np.array([0, 0, 1, 1]), np.array([[0.1, 0.9], [0.9, 0.1]]), relative_error=0.3)
        >>> two_sides.reflected().density.round(12)
        array([[0.9, 0.1],
               [0.1, 0.9]])
        """
        root = np.sqrt(self.block_sizes)[:, None]  # (k, 1)
        values, vectors = np.linalg.eigh(root * self.density * root.T)
        half = vectors * np.sqrt(np.abs(values)) / root  # half @ half.T is exactly symmetric
        return replace(self, density=np.maximum(half @ half.T, 0.0))

    def renumbered(self, order: IntArray) -> BlockModel:
        """The same blocks with other numbers: block order[i] gets number i."""
        numbers = np.argsort(order)
        return replace(self, labels=numbers[self.labels], density=self.density[np.ix_(order, order)])

    def among(self, nodes: BoolArray) -> BlockModel:
        """The block model of some of the nodes; all other nodes must be isolated, so that no link weight is lost."""
        kept, labels = np.unique(self.labels[nodes], return_inverse=True)
        shrunken = self.block_sizes[kept] / np.bincount(labels)
        density = self.density[np.ix_(kept, kept)] * np.outer(shrunken, shrunken)
        return replace(self, labels=labels.astype(np.intp, copy=False), density=density)

    def with_others(self, nodes: BoolArray) -> BlockModel:
        """Extend the block model to a larger graph, in which `nodes` marks its own nodes; the others are isolated.

        Isolated nodes join the block whose nodes have the fewest links, which reduces its densities.
        """
        if nodes.all():
            return self
        labels = np.full(len(nodes), np.argmin(self.density @ self.block_sizes), dtype=np.intp)
        labels[nodes] = self.labels
        grown = self.block_sizes / np.bincount(labels)
        return replace(self, labels=labels, density=self.density * np.outer(grown, grown))

    def perturb(
        self, adjacency: Any, fraction: float, *, keep_density: bool, rng: np.random.Generator | int
    ) -> BlockModel:
        """Move a random fraction of the nodes, each to another random block.

        With `keep_density` the densities are kept; otherwise they are recomputed. These are the two parts of the
        sensitivity study in the paper. The last node of a block is not moved, so no block becomes empty.
        """
        fraction = check_real("fraction", fraction, 0, 1)
        rng = as_generator(rng)
        adjacency = check_adjacency(adjacency, len(self.labels))
        labels, sizes, k = self.labels.copy(), self.block_sizes, self.n_blocks
        if k > 1:
            for node in rng.permutation(len(labels))[: round(fraction * len(labels))]:
                old = labels[node]
                new = (old + rng.integers(1, k)) % k
                if sizes[old] > 1:
                    labels[node] = new
                    sizes[old] -= 1
                    sizes[new] += 1
        if keep_density:
            return with_error(BlockModel(labels, self.density), adjacency)
        return BlockModel.of_checked(adjacency, labels)


def is_pair_of_matrices(blocks: Any) -> bool:
    """Whether the blocks are given as (F, M), and not as the labels of two nodes or as two communities."""
    return isinstance(blocks, tuple) and len(blocks) == 2 and np.ndim(blocks[1]) > 0


def with_error(model: BlockModel, adjacency: Sparse) -> BlockModel:
    """The model, with its relative error for this graph added if it has none."""
    if not np.isnan(model.relative_error):
        return model
    weight = block_weights(adjacency, model.labels)
    return replace(model, relative_error=_relative_error(adjacency, weight, model.block_sizes, model.density))


def adjacency_of(network: Any) -> Sparse:
    """The adjacency matrix of an AttributedGraph, or of any other graph, which is checked."""
    if isinstance(network, AttributedGraph):
        return network.adjacency
    return check_adjacency(network)


def check_block_model(model: BlockModel, n_nodes: int) -> BlockModel:
    """Raise an error if a block model is for another graph, or if its densities do not fit its labels."""
    if not (isinstance(model.labels, np.ndarray) and np.issubdtype(model.labels.dtype, np.integer)):
        kind = f" of {model.labels.dtype}" if isinstance(model.labels, np.ndarray) else ""
        raise ValueError(
            f"the block model's labels are of type {type(model.labels).__name__}{kind}; expected an array of integers. "
            "Create the model with BlockModel.from_labels."
        )
    density = model.density
    if not isinstance(density, np.ndarray) or density.dtype.kind != "f":
        density = as_numbers("density", density)
    fits = np.isfinite(density) & (density >= 0)
    if not fits.all():
        check_entries("density", density, fits, "is not a density; densities are finite and ≥ 0: correct it")
    if len(model.labels) != n_nodes:
        raise ValueError(
            f"the block model has {len(model.labels)} nodes but the graph has {n_nodes}; pass one of this graph."
        )
    if density.shape != (model.labels.max() + 1,) * 2 or (model.block_sizes == 0).any():
        raise ValueError(
            f"the block model's density has shape {density.shape}, which does not fit its labels; each block from 0 to "
            "k − 1 needs a node, a row and a column. Create the model with BlockModel.from_labels."
        )
    return model if density is model.density else replace(model, density=density)


def block_weights(adjacency: Sparse, labels: IntArray) -> FloatArray:
    """Total link weight between each pair of blocks, each link counted from both ends: (k, k)."""
    weight = sums_between_blocks(adjacency.indptr, adjacency.indices, adjacency.data, labels)
    return np.asarray((weight + weight.T) / 2)  # exactly symmetric


def sums_between_blocks(
    indptr: IntArray, indices: IntArray, values: FloatArray, labels: IntArray, n_at_once: int = 2**23
) -> FloatArray:
    """Fᵀ A F (k, k) of a matrix A in CSR, from a limited number of entries at a time, which saves memory."""
    k = int(labels.max()) + 1
    sums = np.zeros(k * k)
    row = 0
    while row < len(labels):
        last = max(row + 1, int(np.searchsorted(indptr, indptr[row] + n_at_once, side="right")) - 1)
        some = slice(indptr[row], indptr[last])
        cells = np.repeat(labels[row:last] * k, np.diff(indptr[row : last + 1]))
        cells += labels[indices[some]]
        sums += np.bincount(cells, weights=values[some], minlength=k * k)
        row = last
    return sums.reshape(k, k)


def _relative_error(adjacency: Sparse, weight: FloatArray, sizes: IntArray, density: FloatArray) -> float:
    """‖A − F M Fᵀ‖ / ‖A‖ for any density, from the expanded square, without a dense n × n matrix."""
    A, M, S = adjacency, density, np.outer(sizes, sizes)
    total = float(np.sum(A.data**2, dtype=np.float64))
    squared = total - 2 * float(np.sum(M * weight)) + float(np.sum(M * M * S))
    return float(np.sqrt(max(squared, 0.0) / total))
