"""Moves a problem to a device: NumPy on the CPU, torch elsewhere. The solver is the same on both."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from blockselect.arrays import Array, FloatArray
from blockselect.bmgufs.block_statistics import BlockStatistics
from blockselect.bmgufs.gram_squared import GramSquared
from blockselect.errors import ParameterError


def check_device(device: str) -> None:
    """Refuse a device that is not there, before any work."""
    if device == "cpu":
        return
    torch = _torch(device)
    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise ParameterError("device", f"is {device!r}; expected 'cpu' or a torch device such as 'cuda'.") from error
    if kind == "cuda" and not torch.cuda.is_available():
        raise ParameterError(
            "device", f"is {device!r} but torch sees no CUDA device; choose 'cpu', or install a CUDA build of torch."
        )


def to_torch(array: Any, device: str) -> Array:
    """A NumPy array or a SciPy CSR matrix as a torch tensor on the device."""
    torch = _torch(device)
    if not sparse.issparse(array):
        return torch.asarray(array, device=device)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
        parts = (torch.asarray(part) for part in (array.indptr, array.indices, array.data))
        return torch.sparse_csr_tensor(*parts, size=array.shape, device=device, check_invariants=True)


def problem_to_device(gram: Any, statistics: BlockStatistics, device: str) -> tuple[GramSquared, BlockStatistics]:
    """The same operator and statistics as torch tensors on the device."""
    moved = BlockStatistics(
        to_torch(statistics.block_means, device),
        to_torch(statistics.block_sizes, device),
        to_torch(statistics.density, device),
    )
    return type(gram)(to_torch(gram.values, device)), moved


def to_numpy(array: Array) -> FloatArray:
    """Back from wherever the array is."""
    return np.asarray(array.cpu() if hasattr(array, "cpu") else array)


def _torch(device: str) -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f"device={device!r} needs PyTorch; install it with: pip install 'blockselect[torch]'"
        ) from error
    return torch
