"""The descent on a device: moving the problem there, and what makes an iteration fast on CUDA devices.

The solver is the same with NumPy on the CPU and with torch elsewhere. On a device the features are padded with empty
ones, so that their number suits its products; their scores are zero. On a CUDA device an iteration is captured as a
graph and replayed, may be compiled, and its products may be in TF32. If capture or compilation fails, the iteration
runs as it is written, and the log says why.
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
from blockselect.bmgufs.tensors import import_torch, to_torch

_PIECE = 256  # features per piece
_PAIR_BYTES = 2**30  # largest size of the products of block means
_SLAB_BYTES = 2**28  # bytes of dense rows of the features at once
_TFLOAT32_FROM = 16  # solves from which arithmetic, not memory, limits the speed of a product
_WARM_UP = 1  # calls before the capture, in which libraries and kernels are loaded

_log = getLogger(__name__)
_one_at_a_time = threading.RLock()  # operations of another thread on the stream would be captured as well


@dataclass(frozen=True, slots=True, eq=False)
class DeviceStatistics(BlockStatistics):
    """Block statistics as torch tensors, with products of block means that make an iteration a few large operations."""

    n_present: int  # number of features without padding
    pair_means: Array | None  # (c, pieces, m / pieces, k²) products of the means of two blocks; None if too large

    @classmethod
    def from_parts(cls, means: Array, sizes: Array, density: Array, n_present: int) -> DeviceStatistics:
        """From tensors with padded features."""
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
        """Statistics of some of the models, as views."""
        pairs = None if self.pair_means is None else self.pair_means[chosen]
        return DeviceStatistics(
            self.block_means[chosen], self.block_sizes[chosen], self.density[chosen], self.n_present, pairs
        )


def problem_to_device(gram: Any, statistics: BlockStatistics, device: str) -> tuple[GramSquared, DeviceStatistics]:
    """The same operator and statistics as torch tensors on the device; tensors that are there already stay."""
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
    """(YᵀY)∘² of features in memory, computed on the device from dense slabs of rows."""
    torch = import_torch(device)
    m = filled_up(features.shape[1])
    gram = torch.zeros((m, m), dtype=_torch_dtype(torch, dtype), device=device)
    with float32_products(gram, tfloat32=False):
        for slab in _dense_slabs(features, m, gram):
            gram.addmm_(slab.T, slab)
    return DenseGramSquared(gram.square_())


@dataclass(frozen=True, slots=True, eq=False)
class TFloat32GramSquared:
    """A dense matrix with products in TF32, which has eleven bits: matrix and scores are each the sum of two parts.

    With one part each the product would be three times as fast, with the same error of 1e-4 in every iteration.
    """

    values: Array  # (m, m) float32, rounded to TF32
    rest: Array  # (m, m) rounding errors of `values`

    @property
    def form(self) -> Form:
        return "dense"

    def apply(self, scores: Array) -> Array:
        rounded = _round_to_tfloat32(scores)
        with float32_products(scores, tfloat32=True):
            return (rounded @ self.values).addmm_(scores - rounded, self.values).addmm_(rounded, self.rest)


def in_tfloat32(gram: GramSquared, *, n_solves: int) -> GramSquared:
    """The operator for products in TF32, if they are faster: for dense matrices and many solves."""
    if not isinstance(gram, DenseGramSquared) or n_solves < _TFLOAT32_FROM:
        return gram
    rounded = _round_to_tfloat32(gram.values)
    return TFloat32GramSquared(rounded, gram.values - rounded)


def _round_to_tfloat32(array: Array) -> Array:
    """Float32 rounded to the nearest number whose last thirteen bits are zero."""
    torch = import_torch(str(array.device))
    return ((array.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def filled_up(n_features: int) -> int:
    """Number of features on a device, with padding to a multiple of a piece if there is more than one piece."""
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


def _dense_slabs(features: Features, n_columns: int, like: Array) -> Iterator[Array]:
    """Slabs of rows of the features as dense tensors on the device of `like`, padded to `n_columns`."""
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
    """An iteration to be called repeatedly; on the CUDA device of `like` its launches are captured and replayed.

    The iteration must work in place on existing tensors and must not wait for the device. Products of float32 have
    full precision unless the iteration itself asks for TF32.
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
    """Calls the iteration itself at first, and later replays it from a CUDA graph; both do the same."""

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
        except RuntimeError as error:  # torch raises these if capture or memory allocation fails
            _log.info(
                "iterations are launched one by one, because they could not be captured as a CUDA graph: %s", error
            )
            return self._iteration


def _capture(iteration: Callable[[], None]) -> Callable[[], None]:  # pragma: no cover (on CUDA devices alone)
    """A function that replays the launches of the iteration. Capturing itself launches nothing."""
    import torch

    graph = torch.cuda.CUDAGraph()
    graph.capture_begin(pool=_memory_pool(torch.cuda.current_device()), capture_error_mode="thread_local")
    try:
        iteration()
    except BaseException:
        with suppress(RuntimeError):  # the capture is invalid, and the first error says why
            graph.capture_end()
        raise
    graph.capture_end()
    replay: Callable[[], None] = graph.replay
    return replay


@cache
def _stream(device: Any) -> Any:  # pragma: no cover (on CUDA devices alone)
    """One stream for all captures, because the default stream cannot be captured and each stream has a workspace."""
    import torch

    return torch.cuda.Stream(device)


_kept_graphs: list[Any] = []


@cache
def _memory_pool(device_index: int) -> Any:  # pragma: no cover (on CUDA devices alone)
    """Memory that all graphs share, because they run one after another. A tiny graph keeps it alive between them."""
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
    """A function of tensors that torch compiles for each new shape and setting; the plain function if that fails."""

    def __init__(self, function: Callable[..., None]) -> None:
        import torch

        self._function = function
        self._compiled = torch.compile(function, fullgraph=True, dynamic=False)
        self._has_worked = False

    def __call__(self, *args: Any, **settings: Any) -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="TensorFloat32 tensor cores")  # full precision is intended
            try:
                self._compiled(*args, **settings)
                self._has_worked = True
                return
            except (
                Exception
            ) as error:  # compilers raise anything; an error of the function itself is raised again below
                _log.info("the iteration runs without compilation, because torch could not compile it: %s", error)
                if not self._has_worked:  # other shapes would fail as well
                    self._compiled = self._function
        self._function(*args, **settings)


compiled = cache(Compiled)  # each function is compiled once for all solves


@contextmanager
def float32_products(like: Array, *, tfloat32: bool) -> Iterator[None]:
    """Float32 products on a CUDA device in TF32 or in full precision, whatever the settings of torch are."""
    if not on_cuda(like):
        yield
        return
    import torch

    settings: Any = torch.backends.cuda.matmul
    wanted: bool | str
    name, wanted = "allow_tf32", tfloat32
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the old name, which is the only one before torch 2.9
        try:
            before = settings.allow_tf32
        except RuntimeError:  # the user has set the new name, and torch does not allow both
            name, wanted = "fp32_precision", "tf32" if tfloat32 else "ieee"
            before = settings.fp32_precision
        setattr(settings, name, wanted)
    try:
        yield
    finally:
        setattr(settings, name, before)
