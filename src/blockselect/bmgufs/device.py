"""Moves a problem to a device, or makes it there: NumPy on the CPU, torch elsewhere. The solver is the same on both.

On a device the features are filled up with some that no node has, so that their number suits its products. They begin
with a score of zero and keep it.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from logging import getLogger
from typing import Any

import numpy as np
from scipy import sparse

from blockselect.arrays import Array, Features
from blockselect.bmgufs.gram import DenseGramSquared, Form, GramSquared, LowRankGramSquared
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.tensors import import_torch, to_torch

_PIECE = 256  # features of a piece; fewer are one piece
_PAIR_BYTES = 2**30  # products of block means take at most this
_SLAB_BYTES = 2**28  # of dense rows of the features at once
_TFLOAT32_FROM = 16  # solves; with fewer, a product waits for the matrix and not for arithmetic
_WARM_UP = 1  # calls before the capture, so that libraries are set up and kernels are loaded

_log = getLogger(__name__)
_one_at_a_time = threading.RLock()  # what another thread does on the stream would be captured along


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


def on_cuda(array: Array) -> bool:
    """Whether the array is a torch tensor on a CUDA device."""
    return getattr(getattr(array, "device", None), "type", None) == "cuda"


@contextmanager
def replayed(iteration: Callable[[], None], like: Array) -> Iterator[Callable[[], None]]:
    """The iteration, to be called again and again; on the CUDA device of `like` its launches are captured and replayed.

    It must work in place, on tensors made before, and must not wait for the device. Products of float32 are in full
    precision unless it says otherwise.
    """
    if not on_cuda(like):
        yield iteration
        return
    import torch  # pragma: no cover (on CUDA devices alone)

    with _one_at_a_time, torch.cuda.device(like.device):  # pragma: no cover (on CUDA devices alone)
        outside, inside = torch.cuda.current_stream(), _stream(like.device)
        inside.wait_stream(outside)
        with torch.cuda.stream(inside), float32_products(like, tfloat32=False):
            yield Replay(iteration)
        outside.wait_stream(inside)


class Replay:
    """Calls an iteration as it is at first, then from a CUDA graph; the first calls are iterations like all others."""

    def __init__(self, iteration: Callable[[], None], warm_up: int = _WARM_UP) -> None:
        self._iteration = iteration
        self._until_capture = warm_up
        self._run = iteration

    def __call__(self) -> None:
        if self._until_capture == 0:
            self._run = self._captured()
        self._until_capture -= 1
        self._run()

    def _captured(self) -> Callable[[], None]:
        try:
            return _capture(self._iteration)
        except RuntimeError as error:  # torch's errors of capture and of memory are such
            _log.info("iterations are launched one by one, since a CUDA graph of them could not be captured: %s", error)
            return self._iteration


def _capture(iteration: Callable[[], None]) -> Callable[[], None]:  # pragma: no cover (on CUDA devices alone)
    """A function that replays what the iteration launches. Capturing launches nothing."""
    import torch

    graph = torch.cuda.CUDAGraph()
    graph.capture_begin(pool=_memory_pool(torch.cuda.current_device()), capture_error_mode="thread_local")
    try:
        iteration()
    except BaseException:
        with suppress(RuntimeError):  # the capture is spoiled, and the first error says why
            graph.capture_end()
        raise
    graph.capture_end()
    replay: Callable[[], None] = graph.replay
    return replay


@cache
def _stream(device: Any) -> Any:  # pragma: no cover (on CUDA devices alone)
    """One stream for all captures: the default one cannot be captured, and each has a workspace of its own."""
    import torch

    return torch.cuda.Stream(device)


_kept_graphs: list[Any] = []


@cache
def _memory_pool(device_index: int) -> Any:  # pragma: no cover (on CUDA devices alone)
    """Memory that graphs share: they run one after another. A graph of nothing much keeps it alive between them."""
    import torch

    graph = torch.cuda.CUDAGraph()
    number = torch.zeros(1, device=torch.device("cuda", device_index))
    graph.capture_begin(capture_error_mode="thread_local")
    try:
        number += 1
    finally:
        graph.capture_end()
    _kept_graphs.append((graph, number))
    return graph.pool()


class Compiled:
    """A function of tensors that torch compiles for each new shape and setting, or leaves as it is where that fails."""

    def __init__(self, function: Callable[..., None]) -> None:
        import torch

        self._function = function
        self._compiled = torch.compile(function, fullgraph=True, dynamic=False)
        self._has_worked = False

    def __call__(self, *args: Any, **settings: Any) -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="TensorFloat32 tensor cores")  # full precision is meant
            try:
                self._compiled(*args, **settings)
                self._has_worked = True
                return
            except Exception as error:  # compilers raise anything; what the function itself raises, it raises again
                _log.info("the iteration is not compiled, since torch could not: %s", error)
                if not self._has_worked:  # nor will it with other shapes
                    self._compiled = self._function
        self._function(*args, **settings)


compiled = cache(Compiled)  # of a function, once for all solves


@contextmanager
def float32_products(like: Array, *, tfloat32: bool) -> Iterator[None]:
    """Float32 products on a CUDA device in TF32 or in full precision, whatever torch is set to otherwise."""
    if not on_cuda(like):
        yield
        return
    import torch

    settings: Any = torch.backends.cuda.matmul
    wanted: bool | str
    name, wanted = "allow_tf32", tfloat32
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the old name, which is the only one before torch 2.9
        try:
            before = settings.allow_tf32
        except RuntimeError:  # the user has set the new one, and torch does not let both be used
            name, wanted = "fp32_precision", "tf32" if tfloat32 else "ieee"
            before = settings.fp32_precision
        setattr(settings, name, wanted)
    try:
        yield
    finally:
        setattr(settings, name, before)
