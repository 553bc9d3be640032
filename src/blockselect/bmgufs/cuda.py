"""Fast iterations on CUDA devices: CUDA graphs, compilation, and the precision of matrix products.

An iteration that cannot be captured as a CUDA graph, or compiled, is run normally, and the log says why.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from logging import getLogger
from typing import Any

from blockselect.utils.arrays import Array

_log = getLogger(__name__)
_one_at_a_time = threading.RLock()  # otherwise a capture would include operations of other threads


def on_cuda(array: Array) -> bool:
    """Whether the array is a torch tensor on a CUDA device."""
    return getattr(getattr(array, "device", None), "type", None) == "cuda"


@contextmanager
def replayed(iteration: Callable[[], None], like: Array) -> Iterator[Callable[[], None]]:
    """Yield a function that runs the iteration; if `like` is on a CUDA device, launches are captured and replayed.

    The iteration must work in place on existing tensors and must not wait for the device. Products in float32 have
    full precision unless the iteration itself requests TF32.
    """
    if not on_cuda(like):
        yield iteration
        return
    import torch  # pragma: no cover (only on CUDA devices)

    with _one_at_a_time, torch.cuda.device(like.device):  # pragma: no cover (only on CUDA devices)
        outside, inside = torch.cuda.current_stream(), _stream(like.device)
        inside.wait_stream(outside)
        with torch.cuda.stream(inside), float32_products(like, tfloat32=False):
            yield partial(next, captured_steps(iteration, _capture))
        outside.wait_stream(inside)


def captured_steps(
    iteration: Callable[[], None], capture: Callable[[Callable[[], None]], Callable[[], None]]
) -> Iterator[None]:
    """Run the iteration once per step: directly at first, to load libraries and kernels, and then from its capture."""
    iteration()
    yield
    try:
        run = capture(iteration)
    except RuntimeError as error:  # torch raises this if capture or memory allocation fails
        _log.info("iterations are launched one by one, because they could not be captured as a CUDA graph: %s", error)
        run = iteration
    while True:
        run()
        yield


def _capture(iteration: Callable[[], None]) -> Callable[[], None]:  # pragma: no cover (only on CUDA devices)
    """Capture the launches of the iteration, without running them, and return a function that replays them."""
    import torch

    graph = torch.cuda.CUDAGraph()
    graph.capture_begin(pool=_memory_pool(torch.cuda.current_device()), capture_error_mode="thread_local")
    try:
        iteration()
    except BaseException:
        with suppress(RuntimeError):  # the capture is invalid; the first error says why
            graph.capture_end()
        raise
    graph.capture_end()
    replay: Callable[[], None] = graph.replay
    return replay


@cache
def _stream(device: Any) -> Any:  # pragma: no cover (only on CUDA devices)
    """The stream used for all captures: the default stream cannot be captured, and each new one needs a workspace."""
    import torch

    return torch.cuda.Stream(device)


_kept_graphs: list[Any] = []


@cache
def _memory_pool(device_index: int) -> Any:  # pragma: no cover (only on CUDA devices)
    """The memory pool shared by all graphs, which run one after another; a tiny graph keeps the pool allocated."""
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
    """A function of tensors, compiled by torch for each new shape and setting; it runs uncompiled if that fails."""

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
            except Exception as error:  # errors of any type; one in the function itself is raised again below
                _log.info("the iteration runs without compilation, because torch could not compile it: %s", error)
                if not self._has_worked:  # other shapes would fail too
                    self._compiled = self._function
        self._function(*args, **settings)


compiled_by_torch = cache(Compiled)  # each function is compiled only once for all solves


@contextmanager
def float32_products(like: Array, *, tfloat32: bool) -> Iterator[None]:
    """A context in which float32 products on a CUDA device use TF32 or full precision, whatever torch's settings."""
    if not on_cuda(like):
        yield
        return
    import torch

    settings: Any = torch.backends.cuda.matmul
    wanted: bool | str
    name, wanted = "allow_tf32", tfloat32
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about the old name, the only one before torch 2.9
        try:
            before = settings.allow_tf32
        except RuntimeError:  # the user has set the option by its new name, and torch does not allow both names
            name, wanted = "fp32_precision", "tf32" if tfloat32 else "ieee"
            before = settings.fp32_precision
        setattr(settings, name, wanted)
    try:
        yield
    finally:
        setattr(settings, name, before)
