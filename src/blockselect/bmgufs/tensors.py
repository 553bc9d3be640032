"""Arrays on a device, with NumPy on the CPU and torch elsewhere, and their transfer."""

from __future__ import annotations

import warnings
from typing import Any

import array_api_compat.numpy
import numpy as np
from scipy import sparse

from blockselect.arrays import Array, FloatArray
from blockselect.errors import ParameterError


def namespace(array: Array) -> Any:
    """The array namespace of NumPy or torch; unlike the look-up of array_api_compat, torch can compile this."""
    if isinstance(array, (np.ndarray, np.generic)):
        return array_api_compat.numpy
    import array_api_compat.torch as torch_namespace

    return torch_namespace


def check_device(device: str) -> None:
    """Raise an error if the device is not available."""
    if device == "cpu":
        return
    if not isinstance(device, str) or device.partition(":")[0] not in ("cpu", "cuda"):
        raise ParameterError(
            "device", f"is {device!r}; choose 'cpu' or 'cuda': results were compared on no other kind of device."
        )
    torch = import_torch(device)
    try:
        named = torch.device(device)
    except RuntimeError as error:
        raise ParameterError("device", f"is {device!r}; expected a number after the colon, as in 'cuda:0'.") from error
    if named.type == "cuda" and torch.cuda.is_available() and (named.index or 0) >= torch.cuda.device_count():
        raise ParameterError(
            "device", f"is {device!r} but torch sees {torch.cuda.device_count()} CUDA device(s); choose a lower number."
        )
    if named.type == "cuda" and not torch.cuda.is_available():
        raise ParameterError(
            "device", f"is {device!r} but torch sees no CUDA device; choose 'cpu', or install a CUDA build of torch."
        )


def to_torch(array: Any, device: str) -> Array:
    """Convert a NumPy array or a SciPy CSR matrix to a torch tensor on the device; a tensor there is returned as is."""
    torch = import_torch(device)
    if isinstance(array, torch.Tensor):
        return array if array.device.type == torch.device(device).type == "cpu" else array.to(device)
    if not sparse.issparse(array):
        return torch.asarray(array, device=device)
    if not array.has_canonical_format:
        array = array.copy()
        array.sum_duplicates()
    parts = (torch.asarray(part) for part in (array.indptr, array.indices, array.data))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support|Sparse invariant checks")
        return torch.sparse_csr_tensor(*parts, size=array.shape, device=device, check_invariants=False)


def to_numpy(array: Array) -> FloatArray:
    """Convert an array on any device to NumPy."""
    return np.asarray(array.cpu() if hasattr(array, "cpu") else array)


def import_torch(device: str) -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f"the device {device!r} needs PyTorch; install it with: pip install 'blockselect[torch]'"
        ) from error
    return torch
