"""Arrays on a device and back, and devices that are refused; with torch on the CPU."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect import BMGUFS
from blockselect.bmgufs.tensors import check_device, to_numpy, to_torch
from blockselect.errors import ParameterError

pytest.importorskip("torch")

PLACE = "cpu:0"  # torch, where "cpu" is NumPy


def test_rows_of_a_sparse_matrix_need_no_order():
    matrix = sparse.csr_array((np.array([1.0, 2, 3, 4]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    there = to_torch(matrix, PLACE)
    assert_array_equal(to_numpy(there @ to_torch(np.eye(3), PLACE)), matrix.toarray())
    assert_array_equal(matrix.indices, [2, 0, 1, 1])


def test_without_torch_a_device_that_does_not_exist_is_no_reason_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ParameterError, match="device is 'nonsense'; choose 'cpu' or 'cuda': results were"):
        check_device("nonsense")
    with pytest.raises(ImportError, match="the device 'cuda:1' needs PyTorch; install it with: pip install"):
        check_device("cuda:1")


@pytest.mark.parametrize("name", ["mps", "xpu", "meta", "vulkan"])
def test_devices_that_results_were_never_compared_on_are_refused(name):
    with pytest.raises(ParameterError, match=f"^device is '{name}'; choose 'cpu' or 'cuda': results were"):
        check_device(name)
    with pytest.raises(ParameterError, match=r"^device"):
        BMGUFS(2, n_blocks=2, device=name).fit(np.eye(4), adjacency=np.ones((4, 4)))


def test_the_number_of_a_device_is_a_number():
    with pytest.raises(ParameterError, match=r"^device is 'cuda:first'; expected a number after the colon"):
        check_device("cuda:first")


def test_a_cuda_device_beyond_the_last_is_refused(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    check_device("cuda:0")
    with pytest.raises(ParameterError, match=r"^device is 'cuda:3' but torch sees 1 CUDA device\(s\); choose a lower"):
        check_device("cuda:3")


def test_the_cpu_needs_no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    check_device("cpu")
    with pytest.raises(ImportError, match=r"device 'cuda' needs PyTorch; .*'blockselect\[torch\]'"):
        check_device("cuda")
