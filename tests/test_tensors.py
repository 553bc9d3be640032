"""Arrays on a device and back, and products of many models at once; with torch on the CPU."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BMGUFS, make_attributed_blocks
from blockselect.blockmodels import FAMILIES, find_block_models
from blockselect.blockmodels.model import block_weights
from blockselect.blockmodels.n_blocks import count_blocks
from blockselect.consensus.link_excess import link_gains_of_scaled, scaled_for_links
from blockselect.errors import ParameterError
from blockselect.tensors import check_device, inner_products, to_device, to_numpy, to_torch

pytest.importorskip("torch")

PLACE = "cpu:0"  # torch, where "cpu" is NumPy


@pytest.fixture(scope="module")
def planted():
    return make_attributed_blocks(250, 3, mean_degree=8, random_state=0)


def test_rows_of_a_sparse_matrix_need_no_order():
    matrix = sparse.csr_array((np.array([1.0, 2, 3, 4]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    there = to_torch(matrix, PLACE)
    assert_array_equal(to_numpy(there @ to_torch(np.eye(3), PLACE)), matrix.toarray())
    assert_array_equal(matrix.indices, [2, 0, 1, 1])


def test_what_belongs_on_the_cpu_stays_as_it_is():
    array = np.ones(3)
    assert to_device(array, "cpu") is array
    assert to_numpy(to_device(array, PLACE)) is not array


def test_without_torch_a_device_that_does_not_exist_is_no_reason_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ParameterError, match="device is 'nonsense'; choose 'cpu' or 'cuda': results were"):
        check_device("nonsense")
    with pytest.raises(ImportError, match="the device 'cuda:1' needs PyTorch; install it with: pip install"):
        check_device("cuda:1")


def test_products_of_many_models_are_those_of_each():
    rng = np.random.default_rng(0)
    left, right = rng.random((40, 3, 4)), rng.random((40, 3, 5))
    expected = [left[:, i].T @ right[:, i] for i in range(3)]
    assert_allclose(inner_products(left, right), expected)
    assert_allclose(to_numpy(inner_products(to_torch(left, PLACE), to_torch(right, PLACE))), expected)


def test_weights_between_blocks_are_the_same_on_a_device(planted):
    labels = [planted.blocks, planted.blocks % 2, np.arange(250) % 5]
    ours, theirs = (block_weights(planted.adjacency, labels, device=place) for place in ("cpu", PLACE))
    for one, other in zip(ours, theirs, strict=True):
        assert_allclose(other, one)


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - {"mixed"}))
def test_candidates_are_the_same_on_a_device(planted, family):
    ours, theirs = (
        find_block_models(
            planted.adjacency, 3, family=family, features=planted.features, n_candidates=2, rng=0, device=place
        )
        for place in ("cpu", PLACE)
    )
    for one, other in zip(ours, theirs, strict=True):
        assert_array_equal(other.labels, one.labels)
        assert_allclose(other.density, one.density)
        assert other.relative_error == pytest.approx(one.relative_error)


def test_blocks_are_counted_the_same_on_a_device(planted):
    ours, theirs = (count_blocks(planted.graph, rng=0, device=place) for place in ("cpu", PLACE))
    assert theirs.n_blocks == ours.n_blocks
    assert theirs.noise == pytest.approx(ours.noise, rel=1e-2)
    assert_allclose(theirs.eigenvalues, ours.eigenvalues, rtol=1e-3)


@pytest.mark.parametrize("kind", [sparse.csr_array, np.asarray], ids=["sparse", "dense"])
def test_links_among_the_nodes_of_a_feature_gain_the_same_on_a_device(planted, kind):
    features = planted.features.toarray() if sparse.issparse(planted.features) else np.asarray(planted.features)
    features = features * np.linspace(1, 2, 250)[:, None]
    scaled = scaled_for_links(kind(features))
    ours, theirs = (link_gains_of_scaled(scaled, planted.adjacency, 1.0, device=place) for place in ("cpu", PLACE))
    assert ours.any()
    assert_allclose(theirs, ours, rtol=1e-9, atol=1e-9)


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
