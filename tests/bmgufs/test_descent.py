"""Descent: a batch of solves against the paper's algorithm, one solve, one feature at a time."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

import golden_arrays
from blockselect import Descent
from blockselect.blockmodels import BlockModel
from blockselect.bmgufs.descent import descend
from blockselect.bmgufs.device import problem_to_device
from blockselect.bmgufs.gram import gram_squared
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.utils._sklearn import check_parameters
from blockselect.utils.errors import ParameterError
from blockselect.utils.progress import no_step_progress
from references import bmgufs
from references.problems import make_problem

SETTINGS = {"profile_ratio": [[0.0, 0.3, 0.6], [0.5, 0.6, 1.0], [0.6, 0.6, 0.6]], "sparsity": [0.0, 0.5, 2.0]}
PARTS = ("scores", "reconstruction_loss", "profile_loss", "n_iter")


def solve(
    problem, models=None, *, profile_ratio=0.6, sparsity=0.0, device="cpu", progress=no_step_progress, **settings
):
    """Every iteration is made unless a tolerance is given."""
    statistics = BlockStatistics.of(problem.Y, problem.models if models is None else models)
    solver = Descent(**{"tol": 0, **settings})
    return solver.solve(
        problem.gram, statistics, profile_ratio=profile_ratio, sparsity=sparsity, device=device, progress=progress
    )


@pytest.mark.parametrize("gradient", ["exact", "paper"])
@pytest.mark.parametrize("start", ["ones", "uniform"])
def test_scores_are_those_of_the_papers_algorithm_for_every_model_and_sparsity(gradient, start):
    problem = make_problem(2, blocks=(3, 2))
    first = np.ones(9) if start == "ones" else np.full(9, 1 / 3)
    initial = {"initial_scores": first} if start == "ones" else {}  # uniform with unit length is the default
    solution = solve(problem, sparsity=(0.0, 1.0), gradient=gradient, max_iter=40, **initial)
    assert solution.scores.shape == (2, 2, 9)
    for i in range(2):
        for j, γ in enumerate((0.0, 1.0)):
            slow = bmgufs.solve(
                problem.Y,
                problem.membership(i),
                problem.density(i),
                profile_ratio=0.6,
                sparsity=γ,
                published=gradient == "paper",
                start=first,
                max_iter=40,
            )
            assert_allclose(solution.scores[i, j], slow, atol=1e-10)


def test_scores_of_the_released_code_are_met():
    golden, cora = np.load(golden_arrays.FOLDER / "released_code.npz"), golden_arrays.network("cora")
    A, Y = cora.adjacency, cora.features
    model = BlockModel.from_labels(A, golden["labels"])
    assert_allclose(model.density, golden["M"], atol=1e-12)
    solver = Descent(gradient="paper", tol=0, initial_scores=np.ones(Y.shape[1]))
    statistics = BlockStatistics.of(Y, [model])
    solution = solver.solve(gram_squared(Y), statistics, profile_ratio=0.6, sparsity=[0.0, 1.0])
    some_node_has = ~statistics.empty_features  # the released code leaves the others a score
    for ours, name in zip(solution.scores[0], ("r_beta0.6_gamma0.0", "r_beta0.6_gamma1.0"), strict=True):
        theirs = golden[name]
        assert set(np.argsort(-ours)[:200]) == set(np.argsort(-theirs)[:200])
        assert_allclose(ours[some_node_has], theirs[some_node_has], atol=2e-3 * theirs.max())


def test_a_batch_gives_what_its_solves_give_one_by_one(mixed_problem):
    together = solve(mixed_problem, max_iter=60, **SETTINGS)
    for i, model in enumerate(mixed_problem.models):
        for j in range(3):
            alone = solve(
                mixed_problem,
                [model],
                profile_ratio=SETTINGS["profile_ratio"][i][j],
                sparsity=SETTINGS["sparsity"][j],
                max_iter=60,
            )
            assert_allclose(together.scores[i, j], alone.scores[0, 0], atol=1e-10)
            assert_allclose(together.profile_loss[i, j], alone.profile_loss[0, 0], rtol=1e-8, atol=1e-12)
            assert_allclose(together.reconstruction_loss[i, j], alone.reconstruction_loss[0, 0], rtol=1e-8)


def test_early_stop_of_one_solve_does_not_touch_the_others(mixed_problem):
    options = {"max_iter": 300, "tol": 1e-3, **SETTINGS}
    together = solve(mixed_problem, **options)
    assert len(np.unique(together.n_iter)) > 1
    for i, model in enumerate(mixed_problem.models):
        alone = solve(mixed_problem, [model], **{**options, "profile_ratio": SETTINGS["profile_ratio"][i]})
        assert_array_equal(together.n_iter[i], alone.n_iter[0])
        assert_allclose(together.scores[i], alone.scores[0], atol=1e-10)


def test_without_tolerance_every_iteration_is_made(problem):
    solution = solve(problem, max_iter=25)
    assert_array_equal(solution.n_iter, 25)
    assert solution.profile_loss.shape == (1, 1, 26)


def test_the_last_losses_are_those_of_the_scores_returned(problem):
    solution = solve(problem, max_iter=25)
    r = solution.scores[0, 0]
    assert_allclose(
        solution.reconstruction_loss[0, 0, -1],
        bmgufs.reconstruction_loss(problem.Y, problem.membership(), r),
        rtol=1e-9,
    )
    assert_allclose(
        solution.profile_loss[0, 0, -1],
        bmgufs.profile_loss(problem.Y, problem.membership(), problem.density(), r, 1e-6),
        rtol=1e-8,
    )


@pytest.mark.parametrize("n_sparsities", [4, 13])
def test_work_in_pieces_changes_nothing(n_sparsities):
    """Nine of these solves fit into the cache: all sparsities of two models, or some sparsities of one."""
    problem = make_problem(7, n=25, m=1600, blocks=(2, 9, 3))
    gram, solver, sparsities = problem.gram, Descent(tol=0, max_iter=2), np.linspace(0, 2, n_sparsities)
    together = solver.solve(gram, problem.statistics, profile_ratio=0.6, sparsity=sparsities).scores
    for i, model in enumerate(problem.models):
        statistics = BlockStatistics.of(problem.Y, [model])
        for j, sparsity in enumerate(sparsities):
            alone = solver.solve(gram, statistics, profile_ratio=0.6, sparsity=sparsity).scores
            assert_allclose(together[i, j], alone[0, 0], atol=1e-12)


def test_a_feature_that_no_node_has_scores_exactly_zero(problem):
    problem.Y[:, 4] = 0
    scores = solve(problem, max_iter=40).scores[0, 0]
    assert scores[4] == 0
    assert np.delete(scores, 4).any()


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-10), ("float32", 1e-3)])
def test_torch_tensors_in_torch_tensors_out_and_the_same_scores(mixed_problem, form, dtype, tolerance):
    torch = pytest.importorskip("torch")
    gram = gram_squared(sparse.csr_array(mixed_problem.Y), form=form, dtype=dtype)
    statistics = BlockStatistics.of(mixed_problem.Y, mixed_problem.models, dtype=dtype)
    solver = Descent(max_iter=60, tol=1e-6)
    ours = descend(solver, gram, statistics, **SETTINGS)
    theirs = descend(solver, *problem_to_device(gram, statistics, "cpu"), **SETTINGS)
    assert isinstance(theirs.scores, torch.Tensor)
    assert theirs.scores.dtype == getattr(torch, dtype)
    assert_allclose(theirs.scores.numpy(), ours.scores, atol=tolerance)


def test_a_torch_device_gives_numpy_arrays_of_the_same_scores(mixed_problem):
    pytest.importorskip("torch")
    ours, theirs = (solve(mixed_problem, sparsity=(0.0, 0.5), device=device) for device in ("cpu", "cpu:0"))
    assert all(isinstance(getattr(theirs, part), np.ndarray) for part in PARTS)
    assert_allclose(theirs.scores, ours.scores, atol=1e-10)


def test_single_precision_stays_close_to_double(problem):
    double = solve(problem)
    single = Descent(tol=0, dtype="float32").solve(
        gram_squared(problem.Y, dtype="float32"),
        BlockStatistics.of(problem.Y, problem.models, dtype="float32"),
        profile_ratio=0.6,
        sparsity=0.0,
    )
    assert single.scores.dtype == np.float32
    assert_allclose(single.scores, double.scores, atol=1e-2)


def test_a_penalty_that_leaves_nothing_gives_zeros_not_nan(problem):
    solution = solve(problem, sparsity=1e4, max_iter=5)
    assert not solution.scores.any()
    assert np.isfinite(solution.reconstruction_loss).all()
    assert np.isfinite(solution.profile_loss).all()


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 6),
    profile_ratio=st.sampled_from([0.0, 0.5, 1.0]),
    sparsity=st.sampled_from([0.0, 1.0, 5.0, 200.0]),
    constant=st.booleans(),
)
def test_scores_are_finite_non_negative_and_of_unit_length_or_zero(seed, k, profile_ratio, sparsity, constant):
    problem = make_problem(seed, n=12, m=6, blocks=(k,))
    if constant:
        problem.Y[:, 3:] = 1
    scores = solve(problem, profile_ratio=profile_ratio, sparsity=sparsity, max_iter=30).scores[0, 0]
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
    length = np.linalg.norm(scores)
    assert length == pytest.approx(1) or length == 0


def test_progress_is_reported_after_each_iteration(problem):
    seen = []
    solve(problem, max_iter=7, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(i, 7) for i in range(1, 8)]


def test_no_iteration_is_made_after_all_solves_have_settled(problem):
    seen = []
    solution = solve(problem, max_iter=300, tol=1e-2, progress=lambda done, total: seen.append(done))
    assert seen[-1] == len(seen) == solution.n_iter[0, 0] < 300


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gradient", "published"),
        ("step_size", 0),
        ("max_iter", 0),
        ("max_iter", 2.5),
        ("tol", -1e-3),
        ("smoothing", 0),
        ("initial_scores", "ones"),
        ("dtype", "float16"),
        ("memory_limit", 0),
    ],
)
def test_a_bad_setting_is_an_error_that_names_it(name, value):
    with pytest.raises(ParameterError, match=f"^{name} must be ") as raised:
        check_parameters(Descent(**{name: value}))
    assert raised.value.parameter == name


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"initial_scores": np.ones(3)}, r"has shape \(3,\); expected one score for each of the 9 features"),
        ({"initial_scores": np.zeros(9)}, "is zero everywhere"),
        ({"initial_scores": -np.ones(9)}, "is negative"),
        ({"initial_scores": np.full(9, np.nan)}, "finite"),
        ({"initial_scores": np.full(9, 6.6e4), "dtype": "float32"}, "is too large for float32"),
        ({"initial_scores": np.full(9, 3.5e38)}, "is too large for float64"),
    ],
)
def test_a_start_that_does_not_fit_the_features_is_refused(settings, message):
    with pytest.raises(ParameterError, match=message) as raised:
        Descent(**settings).check_initial_scores(9)
    assert raised.value.parameter == "initial_scores"


def test_one_iteration_and_a_tolerance_of_zero_are_settings_too():
    check_parameters(Descent(max_iter=1, tol=0.0))


def test_a_start_that_fits_is_accepted():
    Descent(initial_scores=np.arange(9)).check_initial_scores(9)
    Descent(initial_scores=[1.0] * 9).check_initial_scores(9)
    Descent(initial_scores=[6.5e4] * 9, dtype="float32").check_initial_scores(9)


def test_a_solver_survives_clone_and_pickle_and_solving_changes_none_of_its_settings(problem):
    solver = Descent(gradient="paper", max_iter=7, initial_scores=np.arange(1.0, 10.0))
    before = dict(solver.get_params())
    solver.solve(problem.gram, problem.statistics, profile_ratio=0.6, sparsity=0.0)
    assert vars(solver).keys() == before.keys()
    for again in (clone(solver), pickle.loads(pickle.dumps(solver))):
        assert again.get_params().keys() == before.keys()
        assert (again.gradient, again.max_iter) == ("paper", 7)
        assert_array_equal(again.initial_scores, before["initial_scores"])


def test_a_solve_has_settled_if_both_losses_stood_still_for_ten_iterations_when_it_ended(problem):
    free = solve(problem, max_iter=300, tol=1e-2)
    n_iter = int(free.n_iter[0, 0])
    assert 10 < n_iter < 300
    assert free.settled.all()
    for max_iter, settled in ((n_iter, True), (n_iter - 1, False)):
        assert solve(problem, max_iter=max_iter, tol=1e-2).settled[0, 0] == settled
    assert not solve(problem, max_iter=9, tol=1e3).settled.any()
    assert solve(problem, max_iter=5, tol=0).settled.all()  # a path of fixed length


def test_a_solve_stops_once_both_losses_are_within_the_tolerance_of_those_ten_iterations_before(problem):
    free = solve(problem, max_iter=300)
    for tol in (1e-3, 1e-2):
        losses = (free.reconstruction_loss[0, 0], free.profile_loss[0, 0])
        small = [np.abs(loss[10:] - loss[:-10]) <= tol * np.abs(loss[:-10]) for loss in losses]
        expected = 10 + np.flatnonzero(small[0] & small[1])
        assert solve(problem, max_iter=300, tol=tol).n_iter[0, 0] == (expected[0] if len(expected) else 300)


@pytest.mark.parametrize("settings", [{"dtype": "tfloat32"}, {"compile": True}])
def test_what_only_cuda_devices_have_is_refused_elsewhere(settings):
    solver = Descent(**settings)
    for device in ("cuda", "cuda:1"):
        solver.check_settings_on(device)
    for device in ("cpu", "mps"):
        with pytest.raises(ParameterError, match=f"CUDA devices.*{device!r}") as raised:
            solver.check_settings_on(device)
        assert raised.value.parameter == next(iter(settings))


def test_the_default_is_two_hundred_steps_of_a_hundredth():
    assert Descent().get_params() == {
        "gradient": "exact",
        "step_size": 0.01,
        "max_iter": 200,
        "tol": 1e-5,
        "smoothing": 1e-6,
        "initial_scores": None,
        "dtype": "float64",
        "compile": False,
        "memory_limit": None,
    }
