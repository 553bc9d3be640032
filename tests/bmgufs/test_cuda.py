"""Captured, compiled and TF32 iterations: how they fall back, run anywhere; that they are right, where CUDA is."""

import logging
from functools import partial
from types import SimpleNamespace

import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BMGUFS, Descent, make_attributed_blocks
from blockselect.bmgufs import cuda
from blockselect.bmgufs.descent import descend
from blockselect.bmgufs.device import problem_to_device
from blockselect.bmgufs.gram import gram_squared
from blockselect.utils.errors import ParameterError
from references.problems import make_problem

torch = pytest.importorskip("torch")
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device")

SETTINGS = {"profile_ratio": [[0.0, 0.3, 0.6], [0.5, 0.6, 1.0], [0.6, 0.6, 0.6]], "sparsity": [0.0, 0.5, 2.0]}


@pytest.fixture
def problem():
    return make_problem(3, n=25, m=300, blocks=(2, 5, 3))


class Recorder:
    """Stands for the capture: what it returns does what the iteration does."""

    def __init__(self, error=None):
        self.error, self.n_captures, self.n_replays = error, 0, 0

    def __call__(self, iteration):
        self.n_captures += 1
        if self.error is not None:
            raise self.error

        def replay():
            self.n_replays += 1
            iteration()

        return replay


@pytest.mark.parametrize("error", [None, RuntimeError("no graphs here")], ids=["captured", "not captured"])
def test_an_iteration_runs_once_as_it_is_and_then_as_captured_if_that_is_possible(caplog, error):
    capture, calls = Recorder(error), []
    steps = cuda.captured_steps(lambda: calls.append(1), capture)
    with caplog.at_level(logging.INFO):
        for _ in range(5):
            next(steps)
    assert (capture.n_captures, capture.n_replays, len(calls)) == (1, 0 if error else 4, 5)
    assert ("no graphs here" in caplog.text) == (error is not None)


@pytest.mark.filterwarnings("ignore:.torch.jit.script_method:DeprecationWarning")  # torch's own (2.11)
def test_the_iteration_is_one_graph_of_torch(problem, monkeypatch, caplog):
    """What `compile=True` needs, without a compiler: no Python in between."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    cuda.compiled_by_torch.cache_clear()
    gram, statistics = problem_to_device(problem.gram, problem.statistics, "cpu")
    with caplog.at_level(logging.INFO):
        plain, traced = (
            descend(Descent(max_iter=12, tol=1e-3, compile=is_compiled), gram, statistics, **SETTINGS)
            for is_compiled in (False, True)
        )
    cuda.compiled_by_torch.cache_clear()
    torch._dynamo.reset()
    assert "without compilation" not in caplog.text
    for part in ("scores", "loss_b", "loss_m", "n_iter"):
        assert_allclose(getattr(traced, part), getattr(plain, part), atol=1e-12)


def test_a_compilation_that_fails_is_logged_and_the_function_runs_as_it_is(monkeypatch, caplog):
    def broken(function, **settings):
        def run(*args):
            raise RuntimeError("no compiler")

        return run

    monkeypatch.setattr(torch, "compile", broken)
    seen = []
    run = cuda.Compiled(seen.append)
    with caplog.at_level(logging.INFO):
        run(1)
        run(2)
    assert seen == [1, 2]
    assert caplog.text.count("no compiler") == 1


@pytest.mark.parametrize("place", ["cpu", "cpu:0"])
@pytest.mark.parametrize(("name", "value"), [("dtype", "tfloat32"), ("compile", True)])
def test_what_only_cuda_has_is_an_error_elsewhere(problem, place, name, value):
    solver = Descent(**{name: value})
    with pytest.raises(ParameterError, match="CUDA") as raised:
        solver.solve(problem.gram, problem.statistics, profile_ratio=0.6, sparsity=0.0, device=place)
    assert raised.value.parameter == name
    network = make_attributed_blocks(60, 3, random_state=0)
    with pytest.raises(ParameterError, match="CUDA"):
        BMGUFS(5, n_blocks=3, solver=solver, device=place).fit(network.features, adjacency=network.adjacency)


@pytest.mark.parametrize("set_before", ["nothing", "allow_tf32", "fp32_precision"])
def test_the_precision_of_products_is_restored(set_before):
    tensor = SimpleNamespace(device=torch.device("cuda"))  # no device is needed to set the precision
    settings = torch.backends.cuda.matmul
    if set_before == "fp32_precision" and not hasattr(settings, "fp32_precision"):
        pytest.skip("before torch 2.9")
    name = "fp32_precision" if set_before == "fp32_precision" else "allow_tf32"
    first = getattr(settings, name)
    try:
        if set_before != "nothing":
            setattr(settings, name, True if name == "allow_tf32" else "tf32")
        before = getattr(settings, name)
        with cuda.float32_products(tensor, tfloat32=False):
            assert getattr(settings, name) in (False, "ieee")
            with cuda.float32_products(tensor, tfloat32=True):
                assert getattr(settings, name) in (True, "tf32")
            assert getattr(settings, name) in (False, "ieee")
        assert getattr(settings, name) == before
    finally:
        setattr(settings, name, first)


@needs_cuda
@pytest.mark.parametrize("tol", [0, 1e-3])
@pytest.mark.parametrize("form", ["dense", "sparse", "low rank"])
def test_cuda_gives_the_scores_of_numpy(problem, tol, form):
    gram = gram_squared(sparse.csr_array(problem.Y), form=form)
    solver = Descent(max_iter=100, tol=tol)
    ours, theirs = (solver.solve(gram, problem.statistics, device=place, **SETTINGS) for place in ("cpu", "cuda"))
    assert_array_equal(theirs.n_iter, ours.n_iter)
    assert_allclose(theirs.scores, ours.scores, atol=1e-10)
    assert_allclose(theirs.profile_loss, ours.profile_loss, atol=1e-10)


@needs_cuda
def test_cuda_can_capture_the_iteration(problem, caplog):
    with caplog.at_level(logging.INFO):
        Descent(max_iter=30).solve(problem.gram, problem.statistics, device="cuda", **SETTINGS)
    assert "could not be captured" not in caplog.text


@needs_cuda
@pytest.mark.slow
def test_cuda_compiled_gives_the_scores_of_numpy(problem):
    ours = Descent(max_iter=60, tol=0).solve(problem.gram, problem.statistics, **SETTINGS)
    theirs = Descent(max_iter=60, tol=0, compile=True).solve(
        problem.gram, problem.statistics, device="cuda", **SETTINGS
    )
    assert_allclose(theirs.scores, ours.scores, atol=1e-10)


@needs_cuda
def test_tfloat32_stays_close_and_leaves_torch_as_it_was(problem):
    before = torch.backends.cuda.matmul.allow_tf32
    ours = Descent(max_iter=60, tol=0).solve(problem.gram, problem.statistics, **SETTINGS)
    theirs = Descent(max_iter=60, tol=0, dtype="tfloat32").solve(
        problem.gram, problem.statistics, device="cuda", **SETTINGS
    )
    assert_allclose(theirs.scores, ours.scores, atol=2e-2)
    assert torch.backends.cuda.matmul.allow_tf32 == before


def test_a_compilation_that_fails_once_it_has_worked_is_tried_again_for_other_shapes(monkeypatch):
    tried, seen = [], []

    def compile_but_for(function, **settings):
        def run(argument):
            tried.append(argument)
            if argument == 2:
                raise RuntimeError("no room for this shape")
            function(argument)

        return run

    monkeypatch.setattr(torch, "compile", compile_but_for)
    run = cuda.Compiled(seen.append)
    for argument in (1, 2, 3):
        run(argument)
    assert seen == tried == [1, 2, 3]
