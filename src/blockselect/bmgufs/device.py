"""The descent on a torch device: moving the problem there, and faster forms of its products.

The solver is the same with NumPy and with torch. On a device, the features are padded with empty features, which score
zero, so that their number suits the matrix products of the device. Products on a CUDA device may be in TF32.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from blockselect.bmgufs.cuda import float32_products
from blockselect.bmgufs.gram import DenseGramSquared, GramSquared
from blockselect.bmgufs.low_rank import LowRankGramSquared
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.utils.arrays import Array, Features, namespace
from blockselect.utils.errors import ParameterError

_PIECE = 256  # the number of features is padded to a multiple of this
_PAIR_BYTES = 2**30  # maximum size of the products of block means
_SLAB_BYTES = 2**28  # maximum size of the dense feature rows that are processed at once
_TFLOAT32_FROM = 16  # number of solves from which arithmetic, not memory, limits the speed of a product


def check_device(device: str) -> None:
    """Raise an error if the torch device is not available."""
    if device.partition(":")[0] not in ("cpu", "cuda"):
        raise ParameterError(
            "device", f"is {device!r}; choose 'cpu' or 'cuda': results have not been checked on other kinds of devices."
        )
    torch = import_torch(device)
    try:
        named = torch.device(device)
    except RuntimeError as error:
        raise ParameterError("device", f"is {device!r}; expected a number after the colon, as in 'cuda:0'.") from error
    n_devices = torch.cuda.device_count()
    if named.type == "cuda" and (named.index or 0) >= n_devices:
        raise ParameterError(
            "device",
            f"is {device!r} but torch sees {n_devices} CUDA device(s); choose a lower number or 'cpu', or "
            "install a CUDA build of torch.",
        )


def to_torch(array: Any, device: str) -> Array:
    """Convert an array or a canonical CSR matrix to a torch tensor on the device; tensors already there are kept."""
    torch = import_torch(device)
    if isinstance(array, torch.Tensor):
        return array if array.device.type == torch.device(device).type == "cpu" else array.to(device)
    if not sparse.issparse(array):
        return torch.asarray(array, device=device)
    parts = (torch.asarray(part) for part in (array.indptr, array.indices, array.data))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support|Sparse invariant checks")
        return torch.sparse_csr_tensor(*parts, size=array.shape, device=device, check_invariants=False)


def import_torch(device: str) -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f"the device {device!r} needs PyTorch; install it with: pip install 'blockselect[torch]'"
        ) from error
    return torch


@dataclass(frozen=True, slots=True, eq=False)
class DeviceStatistics(BlockStatistics):
    """Block statistics as torch tensors; stored products of block means allow fewer and larger operations."""

    n_present: int  # number of features without padding
    pair_means: Array | None  # (c, p, m / p, k²) products of the means of two blocks, in p pieces; None if too large

    @classmethod
    def from_parts(cls, means: Array, sizes: Array, density: Array, n_present: int) -> DeviceStatistics:
        """Statistics from tensors with padded features."""
        c, k, m = means.shape
        if c * k * k * m * means.element_size() > _PAIR_BYTES:
            return cls(means, sizes, density, n_present, None)
        pieces = m // _PIECE if m % _PIECE == 0 else 1
        by_feature = means.permute(0, 2, 1)  # (c, m, k)
        pairs = (by_feature[..., :, None] * by_feature[..., None, :]).reshape(c, pieces, m // pieces, k * k)
        return cls(means, sizes, density, n_present, pairs)

    @property
    def n_features(self) -> int:
        return self.n_present

    @property
    def empty_features(self) -> Array:
        return (self.block_means.abs().amax((0, 1)) == 0)[: self.n_present]

    def induced_density(self, scores: Array) -> Array:
        if self.pair_means is None:
            return BlockStatistics.induced_density(self, scores)
        xp, pairs, (c, s, _), k = namespace(scores), self.pair_means, scores.shape, self.n_blocks
        by_piece = xp.permute_dims(xp.reshape(scores, (c, s, *pairs.shape[1:3])), (0, 2, 1, 3))  # (c, p, s, m / p)
        return xp.reshape(xp.sum(by_piece @ pairs, axis=1), (c, s, k, k))

    def quadratic_forms(self, T: Array, B: Array) -> tuple[Array, Array]:
        if self.pair_means is None:
            return BlockStatistics.quadratic_forms(self, T, B)
        xp, (c, s), n_pairs = namespace(T), T.shape[:2], self.n_blocks**2
        pairs = xp.matrix_transpose(xp.reshape(self.pair_means, (c, -1, n_pairs)))  # (c, k², m)
        both = xp.reshape(xp.concat([T, B], axis=1), (c, 2 * s, n_pairs)) @ pairs
        return both[:, :s], both[:, s:]

    def models(self, chosen: slice) -> DeviceStatistics:
        """The statistics of some of the models, as views."""
        pairs = None if self.pair_means is None else self.pair_means[chosen]
        return DeviceStatistics(
            self.block_means[chosen], self.block_sizes[chosen], self.density[chosen], self.n_present, pairs
        )


def problem_to_device(gram: Any, statistics: BlockStatistics, device: str) -> tuple[GramSquared, DeviceStatistics]:
    """The operator and the statistics as torch tensors on the device; tensors that are already there are not copied."""
    m = filled_up(statistics.n_features)
    there = _gram_to_device(gram, m, device)
    if isinstance(statistics, DeviceStatistics):
        return there, statistics
    means = _filled(statistics.block_means, (*statistics.block_means.shape[:2], m), device)
    sizes, density = (to_torch(x, device) for x in (statistics.block_sizes, statistics.density))
    return there, DeviceStatistics.from_parts(means, sizes, density, statistics.n_features)


def _gram_to_device(gram: Any, n_features: int, device: str) -> GramSquared:
    if isinstance(gram, LowRankGramSquared):
        Z = _filled(gram.values, (n_features, gram.values.shape[1]), device)
        return LowRankGramSquared(Z, _filled(gram.rest, (n_features,), device))
    moved: GramSquared = type(gram)(_filled(gram.values, (n_features, n_features), device))
    return moved


def dense_gram_on_device(
    features: Features, *, dtype: Any, device: str, slab_bytes: int = _SLAB_BYTES
) -> DenseGramSquared:
    """Compute (YᵀY)∘² on the device, from dense slabs of rows of features that are in memory."""
    torch = import_torch(device)
    m = filled_up(features.shape[1])
    gram = torch.zeros((m, m), dtype=getattr(torch, np.dtype(dtype).name), device=device)
    with float32_products(gram, tfloat32=False):
        for slab in _dense_slabs(features, gram, slab_bytes):
            gram.addmm_(slab.T, slab)
    return DenseGramSquared(gram.square_())


@dataclass(frozen=True, slots=True, eq=False)
class TFloat32GramSquared:
    """A dense matrix with products in TF32 (11-bit precision); the matrix and the scores are each split in two.

    Without the split, a product would be three times as fast, but would introduce an error of about 1e-4 in every
    iteration.
    """

    values: Array  # (m, m) float32, rounded to TF32
    rest: Array  # (m, m) rounding errors of `values`

    def apply(self, scores: Array) -> Array:
        rounded = _round_to_tfloat32(scores)
        with float32_products(scores, tfloat32=True):
            return (rounded @ self.values).addmm_(scores - rounded, self.values).addmm_(rounded, self.rest)


def in_tfloat32(gram: GramSquared, *, n_solves: int) -> GramSquared:
    """The operator with products in TF32 where these are faster: for a dense matrix and many solves."""
    if not isinstance(gram, DenseGramSquared) or n_solves < _TFLOAT32_FROM:
        return gram
    rounded = _round_to_tfloat32(gram.values)
    return TFloat32GramSquared(rounded, gram.values - rounded)


def _round_to_tfloat32(array: Array) -> Array:
    """Round float32 numbers to the nearest numbers whose last thirteen bits are zero."""
    torch = import_torch(str(array.device))
    return ((array.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def filled_up(n_features: int) -> int:
    """Number of features on a device, padded to a multiple of 256 if there are at least 256 features."""
    return n_features if n_features < _PIECE else -(-n_features // _PIECE) * _PIECE


def _filled(array: Any, shape: tuple[int, ...], device: str) -> Array:
    """The array on the device, padded with zeros to the shape."""
    if tuple(array.shape) == shape:
        return to_torch(array, device)
    if sparse.issparse(array):
        larger = array.copy()
        larger.resize(shape)
        return to_torch(larger, device)
    there = to_torch(array, device)
    filled = there.new_zeros(shape)
    filled[tuple(slice(n) for n in there.shape)] = there
    return filled


def _dense_slabs(features: Features, like: Array, slab_bytes: int) -> Iterator[Array]:
    """Yield slabs of rows of the features as dense tensors on the device of `like`, padded to its number of columns."""
    torch = import_torch(str(like.device))
    n, n_columns = features.shape[0], like.shape[1]
    step = max(1, slab_bytes // (n_columns * like.element_size()))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        some = features[rows]
        slab = like.new_zeros((rows.stop - start, n_columns))
        if sparse.issparse(some):
            entries = some.tocoo()
            places = tuple(torch.asarray(x.astype(np.int64), device=like.device) for x in (entries.row, entries.col))
            values = torch.asarray(entries.data, device=like.device).to(like.dtype)
            slab.index_put_(places, values, accumulate=True)
        else:
            slab[:, : some.shape[1]] = torch.asarray(some, device=like.device).to(like.dtype)
        yield slab
