"""Captured, compiled and TF32 iterations: how they fall back, run anywhere; that they are right, where CUDA is."""

import logging
from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BMGUFS, Descent, make_attributed_blocks
from blockselect.bmgufs import cuda, descent
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


def test_an_iteration_runs_once_as_it_is_and_is_replayed_from_then_on(monkeypatch):
    capture, calls = Recorder(), []
    monkeypatch.setattr(cuda, "_capture", capture)
    run = cuda.Replay(lambda: calls.append(1))
    for _ in range(5):
        run()
    assert (capture.n_captures, capture.n_replays, len(calls)) == (1, 4, 5)


def test_a_capture_that_fails_is_logged_and_tried_once(monkeypatch, caplog):
    capture, calls = Recorder(RuntimeError("no graphs here")), []
    monkeypatch.setattr(cuda, "_capture", capture)
    run = cuda.Replay(lambda: calls.append(1))
    with caplog.at_level(logging.INFO):
        for _ in range(5):
            run()
    assert (capture.n_captures, len(calls)) == (1, 5)
    assert "no graphs here" in caplog.text


@pytest.mark.parametrize("error", [None, RuntimeError("no graphs here")])
@pytest.mark.parametrize("tol", [0, 1e-2])
def test_scores_do_not_depend_on_replay(problem, monkeypatch, error, tol):
    """With a stand-in for the graph: the solver does the same, through the same steps."""
    solver = Descent(max_iter=60, tol=tol)
    ours = solver.solve(problem.gram, problem.statistics, **SETTINGS)
    capture = Recorder(error)
    monkeypatch.setattr(cuda, "_capture", capture)
    monkeypatch.setattr(descent, "_on_cpu", lambda array: False)
    monkeypatch.setattr(descent, "replayed", lambda iteration, like: nullcontext(cuda.Replay(iteration)))
    theirs = solver.solve(problem.gram, problem.statistics, device="cpu:0", **SETTINGS)
    assert capture.n_captures == 1
    assert_array_equal(theirs.n_iter, ours.n_iter)
    assert_allclose(theirs.scores, ours.scores, atol=1e-10)
    assert_allclose(theirs.profile_loss, ours.profile_loss, atol=1e-10)


def test_a_device_is_asked_every_ten_iterations_at_most(problem, monkeypatch):
    class Asked:
        def __init__(self, xp):
            self._xp, self.times = xp, 0

        def __getattr__(self, name):
            return getattr(self._xp, name)

        def any(self, array):
            self.times += 1
            return self._xp.any(array)

    asked = []

    def namespace(array, real=descent.namespace):
        asked.append(Asked(real(array)))
        return asked[-1]

    monkeypatch.setattr(descent, "namespace", namespace)
    monkeypatch.setattr(descent, "_on_cpu", lambda array: False)
    for tol, most in ((0, 0), (1e-12, 6)):
        asked.clear()
        Descent(max_iter=60, tol=tol).solve(problem.gram, problem.statistics, device="cpu:0", **SETTINGS)
        assert sum(one.times for one in asked) <= most


def test_an_iteration_writes_its_losses_where_the_device_counts(problem):
    solver = Descent(max_iter=15, tol=0)
    state = descent._start(
        descent.namespace(problem.statistics.block_means), problem.statistics, n_settings=1, solver=solver
    )
    product = problem.gram.apply(state.scores[:, 0])[:, None]
    state.step[...] = 7
    half = np.full((3, 1), 0.5)
    options = {"gradient": "exact", "smoothing": 1e-6, "step_size": 0.01, "tol": 0, "max_iter": 15}
    descent._advance(problem.statistics, state, product, half, half, **options)
    assert_array_equal(np.flatnonzero(state.loss_b.any(axis=(1, 2))), [7])
    assert_array_equal(state.n_iter, 1)
    state.step[...], before = 15, state.scores.copy()  # after the last iteration: losses alone
    descent._advance(problem.statistics, state, product, half, half, **options)
    assert_array_equal(np.flatnonzero(state.loss_m.any(axis=(1, 2))), [7, 15])
    assert_array_equal(state.scores, before)
    assert_array_equal(state.n_iter, 1)


@pytest.mark.filterwarnings("ignore:.torch.jit.script_method:DeprecationWarning")  # torch's own (2.11)
def test_the_iteration_is_one_graph_of_torch(problem, monkeypatch):
    """What `compile=True` needs, without a compiler: no Python in between."""
    solver = Descent(max_iter=12, tol=1e-3)
    gram, statistics = problem_to_device(problem.gram, problem.statistics, "cpu")
    plain = descent.descend(solver, gram, statistics, **SETTINGS)
    traced = torch.compile(descent._advance, fullgraph=True, dynamic=False, backend="eager")
    monkeypatch.setattr(descent, "_advance", traced)
    again = descent.descend(solver, gram, statistics, **SETTINGS)
    torch._dynamo.reset()
    for part in ("scores", "loss_b", "loss_m", "n_iter"):
        assert_allclose(getattr(again, part), getattr(plain, part), atol=1e-12)


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
def test_the_precision_of_products_is_restored(monkeypatch, set_before):
    monkeypatch.setattr(cuda, "on_cuda", lambda array: True)
    settings = torch.backends.cuda.matmul
    if set_before == "fp32_precision" and not hasattr(settings, "fp32_precision"):
        pytest.skip("before torch 2.9")
    name = "fp32_precision" if set_before == "fp32_precision" else "allow_tf32"
    first = getattr(settings, name)
    try:
        if set_before != "nothing":
            setattr(settings, name, True if name == "allow_tf32" else "tf32")
        before = getattr(settings, name)
        with cuda.float32_products(None, tfloat32=False):
            assert getattr(settings, name) in (False, "ieee")
            with cuda.float32_products(None, tfloat32=True):
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
def test_cuda_captures_the_iteration_once(problem, monkeypatch):
    captured = []

    def capture(iteration, real=cuda._capture):
        captured.append(real(iteration))
        return captured[-1]

    monkeypatch.setattr(cuda, "_capture", capture)
    for _ in range(3):
        Descent(max_iter=30).solve(problem.gram, problem.statistics, device="cuda", **SETTINGS)
    assert len(captured) == 3


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
