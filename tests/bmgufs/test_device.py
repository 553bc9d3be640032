"""Arrays and problems on a device: the same as in NumPy, with torch on the CPU."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BMGUFS, Descent, make_attributed_blocks
from blockselect.bmgufs import device
from blockselect.bmgufs.gram import gram_squared
from blockselect.bmgufs.losses import evaluate_losses
from blockselect.bmgufs.low_rank import low_rank_gram_squared
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.utils.errors import ParameterError
from references.problems import make_problem

torch = pytest.importorskip("torch")

PLACE = "cpu:0"  # torch, where "cpu" is NumPy
SETTINGS = {"profile_ratio": [[0.0, 0.3, 0.6], [0.5, 0.6, 1.0], [0.6, 0.6, 0.6]], "sparsity": [0.0, 0.5, 2.0]}
PARTS = ("scores", "reconstruction_loss", "profile_loss", "n_iter")


@pytest.fixture(params=[12, 300, 512], ids=["one piece", "filled up", "whole pieces"])
def problem(request):
    return make_problem(3, n=25, m=request.param, blocks=(2, 5, 3))


def assert_same_solution(ours, theirs):
    for part in PARTS:
        assert isinstance(getattr(theirs, part), np.ndarray)
        assert_allclose(getattr(theirs, part), getattr(ours, part), atol=1e-10)


@pytest.mark.parametrize("form", ["dense", "sparse", "low rank"])
@pytest.mark.parametrize("initial", ["uniform", "given"])
def test_scores_are_those_of_numpy_in_every_form(problem, form, initial):
    gram = gram_squared(sparse.csr_array(problem.Y), form=form)
    given = {} if initial == "uniform" else {"initial_scores": np.arange(1.0, problem.Y.shape[1] + 1)}
    solver = Descent(max_iter=40, tol=0, **given)
    ours, theirs = (solver.solve(gram, problem.statistics, device=place, **SETTINGS) for place in ("cpu", PLACE))
    assert_same_solution(ours, theirs)


def test_what_a_low_rank_leaves_of_the_diagonal_goes_to_the_device_too(problem):
    gram = low_rank_gram_squared(sparse.csr_array(problem.Y), rank=4)
    assert gram.rest.max() > 0
    solver = Descent(max_iter=40, tol=0)
    ours, theirs = (solver.solve(gram, problem.statistics, device=place, **SETTINGS) for place in ("cpu", PLACE))
    assert_same_solution(ours, theirs)


@pytest.mark.parametrize("tol", [1e-3, 1e-2, 0.5])
@pytest.mark.parametrize("max_iter", [9, 10, 11, 300])
def test_solves_stop_at_the_same_iteration_where_they_are_seldom_asked(problem, tol, max_iter):
    """On a device, convergence is tested after every tenth iteration, because the test waits for the device."""
    solver, launched = Descent(max_iter=max_iter, tol=tol), []
    ours = solver.solve(problem.gram, problem.statistics, **SETTINGS)
    theirs = solver.solve(
        problem.gram, problem.statistics, device=PLACE, progress=lambda done, _: launched.append(done), **SETTINGS
    )
    assert_array_equal(theirs.n_iter, ours.n_iter)
    assert_same_solution(ours, theirs)
    assert launched[-1] == min(max_iter, -(-theirs.n_iter.max() // 10) * 10)


def test_products_of_block_means_change_nothing(problem):
    gram, with_pairs = device.problem_to_device(problem.gram, problem.statistics, PLACE)
    assert with_pairs.pair_means is not None
    without = replace(with_pairs, pair_means=None)
    scores = with_pairs.block_means.new_ones((3, 2, with_pairs.block_means.shape[-1]))
    product = gram.apply(scores.reshape(6, -1)).reshape(scores.shape)
    fast, slow = (evaluate_losses(one, scores, product, smoothing=1e-6) for one in (with_pairs, without))
    for part in ("reconstruction", "profile", "reconstruction_gradient", "profile_gradient"):
        assert_allclose(getattr(fast, part), getattr(slow, part), atol=1e-11)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_gram_matrix_made_on_the_device_is_the_one_moved_there(problem, kind, dtype):
    features, a_few_rows = kind(problem.Y), 7 * 8 * device.filled_up(problem.Y.shape[1])
    exact = gram_squared(features, form="dense", dtype=dtype)
    moved, _ = device.problem_to_device(exact, BlockStatistics.of(features, problem.models, dtype=dtype), PLACE)
    made = device.dense_gram_on_device(features, dtype=dtype, device=PLACE, slab_bytes=a_few_rows)
    assert made.values.dtype == moved.values.dtype
    assert_allclose(made.values, moved.values)


def test_what_is_on_the_device_is_not_copied(problem):
    there = device.problem_to_device(problem.gram, problem.statistics, PLACE)
    again = device.problem_to_device(*there, PLACE)
    assert again[0].values.data_ptr() == there[0].values.data_ptr()
    assert again[1] is there[1]


def test_a_problem_on_the_device_is_solved_there(problem):
    problem.Y[:, 4] = 0
    solver = Descent(max_iter=30, tol=0)
    there = device.problem_to_device(problem.gram, problem.statistics, PLACE)
    ours = solver.solve(problem.gram, problem.statistics, **SETTINGS)
    theirs = solver.solve(*there, device=PLACE, **SETTINGS)
    assert_same_solution(ours, theirs)
    assert not theirs.scores[..., 4].any()


def test_two_parts_of_eleven_bits_are_the_matrix(problem):
    dense = device.dense_gram_on_device(1.1 * problem.Y, dtype="float32", device=PLACE)
    parts = device.in_tfloat32(dense, n_solves=1000)
    assert_array_equal(parts.values + parts.rest, dense.values)
    assert not (parts.values.numpy().view(np.int32) & 0x1FFF).any()
    assert_allclose(parts.values, dense.values, rtol=2**-11)
    scores = dense.values.new_ones((3, len(dense.values))) / 3
    assert_allclose(parts.apply(scores), dense.apply(scores), rtol=1e-5)
    assert device.in_tfloat32(dense, n_solves=1) is dense


def test_fewer_features_than_a_piece_are_not_filled_up():
    assert [device.filled_up(m) for m in (1, 255, 256, 257, 8189)] == [1, 255, 256, 512, 8192]


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_selector_gives_the_same_on_its_device(form):
    network = make_attributed_blocks(60, 3, random_state=0)
    features = network.features if form == "dense" else sparse.csr_array(sparse.eye_array(60))
    ours, theirs = (
        BMGUFS(5, n_blocks=3, random_state=0, device=place).fit(features, adjacency=network.adjacency)
        for place in ("cpu", PLACE)
    )
    assert theirs.gram_form_ == form
    assert_allclose(theirs.scores_, ours.scores_, atol=1e-10)
    assert_array_equal(theirs.support_, ours.support_)


def test_only_a_cuda_device_needs_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ParameterError, match="device is 'nonsense'; choose 'cpu' or 'cuda': results have"):
        device.check_device("nonsense")
    with pytest.raises(ImportError, match=r"the device 'cuda:1' needs PyTorch; .*'blockselect\[torch\]'"):
        device.check_device("cuda:1")


@pytest.mark.parametrize("name", ["mps", "xpu", "meta", "vulkan"])
def test_devices_that_results_were_never_compared_on_are_refused(name):
    with pytest.raises(ParameterError, match=f"^device is '{name}'; choose 'cpu' or 'cuda': results have"):
        device.check_device(name)
    with pytest.raises(ParameterError, match=r"^device"):
        BMGUFS(2, n_blocks=2, device=name).fit(np.eye(4), adjacency=np.ones((4, 4)))


def test_the_number_of_a_device_is_a_number():
    with pytest.raises(ParameterError, match=r"^device is 'cuda:first'; expected a number after the colon"):
        device.check_device("cuda:first")


def test_a_cuda_device_beyond_the_last_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    device.check_device("cuda:0")
    with pytest.raises(ParameterError, match=r"^device is 'cuda:3' but torch sees 1 CUDA device\(s\); choose a lower"):
        device.check_device("cuda:3")
