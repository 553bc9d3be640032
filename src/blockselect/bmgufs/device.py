"""Moves a problem to a device, or makes it there: NumPy on the CPU, torch elsewhere. The solver is the same on both.

On a device the features are filled up with some that no node has, so that their number suits its products. They begin
with a score of zero and keep it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from blockselect.arrays import Array, Features
from blockselect.bmgufs.block_statistics import BlockStatistics
from blockselect.bmgufs.gram_squared import DenseGramSquared, Form, GramSquared
from blockselect.bmgufs.low_rank_gram import LowRankGramSquared
from blockselect.cuda import float32_products
from blockselect.tensors import import_torch, to_torch

_PIECE = 256  # features of a piece; fewer are one piece
_PAIR_BYTES = 2**30  # products of block means take at most this
_SLAB_BYTES = 2**28  # of dense rows of the features at once
_TFLOAT32_FROM = 16  # solves; with fewer, a product waits for the matrix and not for arithmetic


@dataclass(frozen=True, slots=True, eq=False)
class DeviceStatistics(BlockStatistics):
    """Block statistics as torch tensors, with the products that make an iteration few and large operations."""

    n_present: int  # features, without those that fill up
    pair_means: Array | None  # (c, pieces, m / pieces, k²) means of one block times those of another; None: too large

    @classmethod
    def from_parts(cls, means: Array, sizes: Array, density: Array, n_present: int) -> DeviceStatistics:
        """From tensors whose features are filled up."""
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

    def models(self, chosen: slice) -> DeviceStatistics:
        """The statistics of some of the models, as views."""
        pairs = None if self.pair_means is None else self.pair_means[chosen]
        return DeviceStatistics(
            self.block_means[chosen], self.block_sizes[chosen], self.density[chosen], self.n_present, pairs
        )


def problem_to_device(gram: Any, statistics: BlockStatistics, device: str) -> tuple[GramSquared, DeviceStatistics]:
    """The same operator and statistics as torch tensors on the device; what is there already stays as it is."""
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


def dense_gram_on_device(features: Features, *, dtype: Any, device: str) -> DenseGramSquared:
    """(YᵀY)∘² of features in memory, made on the device from dense slabs of rows."""
    torch = import_torch(device)
    m = filled_up(features.shape[1])
    gram = torch.zeros((m, m), dtype=_torch_dtype(torch, dtype), device=device)
    with float32_products(gram, tfloat32=False):
        for slab in _dense_slabs(features, m, gram):
            gram.addmm_(slab.T, slab)
    return DenseGramSquared(gram.square_())


@dataclass(frozen=True, slots=True, eq=False)
class TFloat32GramSquared:
    """A dense one with products in TF32: eleven bits, of which the matrix and the scores have two parts each.

    With one part each the product is three times as fast and errs by 1e-4, the same way in every iteration.
    """

    values: Array  # (m, m) float32, rounded to TF32
    rest: Array  # (m, m) what rounding took away

    @property
    def form(self) -> Form:
        return "dense"

    def apply(self, scores: Array) -> Array:
        rounded = _round_to_tfloat32(scores)
        with float32_products(scores, tfloat32=True):
            return (rounded @ self.values).addmm_(scores - rounded, self.values).addmm_(rounded, self.rest)


def in_tfloat32(gram: GramSquared, *, n_solves: int) -> GramSquared:
    """For products in TF32, where that is faster: with a dense matrix, for several solves."""
    if not isinstance(gram, DenseGramSquared) or n_solves < _TFLOAT32_FROM:
        return gram
    rounded = _round_to_tfloat32(gram.values)
    return TFloat32GramSquared(rounded, gram.values - rounded)


def _round_to_tfloat32(array: Array) -> Array:
    """Float32 with thirteen of its bits zero, to the nearest."""
    torch = import_torch(str(array.device))
    return ((array.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def filled_up(n_features: int) -> int:
    """How many features there are on a device: whole pieces, where there is more than one."""
    return n_features if n_features < _PIECE else -(-n_features // _PIECE) * _PIECE


def _filled(array: Any, shape: tuple[int, ...], device: str) -> Array:
    """On the device, with zeros up to the shape."""
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


def _dense_slabs(features: Features, n_columns: int, like: Array) -> Iterator[Array]:
    """Rows of the features as dense tensors on the device of `like`, filled up to `n_columns`, some at a time."""
    torch = import_torch(str(like.device))
    n = features.shape[0]
    step = max(1, _SLAB_BYTES // (n_columns * like.element_size()))
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


def _torch_dtype(torch: Any, dtype: Any) -> Any:
    return getattr(torch, np.dtype(dtype).name)
