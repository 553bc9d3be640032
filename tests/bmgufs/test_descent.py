"""The batched descent against the paper's algorithm, one solve, one feature at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.blockmodels import BlockModel
from blockselect.scoring import BlockStatistics, descend, descent, gram_squared
from blockselect.bmgufs.device import problem_to_device
from blockselect.bmgufs.sphere import project
from references import bmgufs
from references.problems import make_problem


@pytest.mark.parametrize("gradient", ["exact", "paper"])
@pytest.mark.parametrize("sparsity", [0.0, 1.0])
def test_scores_are_those_of_the_papers_algorithm(problem, gradient, sparsity):
    start = np.ones(len(problem.r))
    slow = bmgufs.solve(
        problem.Y,
        problem.membership(),
        problem.density(),
        profile_ratio=0.6,
        sparsity=sparsity,
        published=gradient == "paper",
        start=start,
        max_iter=40,
    )
    fast = descend(
        problem.gram,
        problem.statistics,
        profile_ratio=0.6,
        sparsity=sparsity,
        gradient=gradient,
        max_iter=40,
        initial_scores=start,
    )
    assert_allclose(fast.scores[0, 0], slow, atol=1e-10)


def test_scores_of_the_released_code_are_met(golden_path):
    cora, golden = np.load(golden_path / "cora.npz"), np.load(golden_path / "cora_scores_released_code.npz")
    A, Y = (
        sparse.csr_array((cora[f"{x}_data"], cora[f"{x}_indices"], cora[f"{x}_indptr"]), shape=cora[f"{x}_shape"])
        for x in "AY"
    )
    model = BlockModel.from_labels(A, golden["labels"])
    assert_allclose(model.density, golden["M"], atol=1e-12)
    result = descend(
        gram_squared(Y),
        BlockStatistics.of(Y, [model]),
        profile_ratio=0.6,
        sparsity=[0.0, 1.0],
        gradient="paper",
        initial_scores=np.ones(Y.shape[1]),
    )
    for ours, name in zip(result.scores[0], ("r_beta0.6_gamma0.0", "r_beta0.6_gamma1.0"), strict=True):
        theirs = golden[name]
        assert set(np.argsort(-ours)[:200]) == set(np.argsort(-theirs)[:200])
        assert_allclose(ours, theirs, atol=2e-3 * theirs.max())


SETTINGS = {"profile_ratio": [[0.0, 0.3, 0.6], [0.5, 0.6, 1.0], [0.6, 0.6, 0.6]], "sparsity": [0.0, 0.5, 2.0]}


def test_a_batch_gives_what_its_solves_give_one_by_one(mixed_problem):
    together = descend(mixed_problem.gram, mixed_problem.statistics, max_iter=60, **SETTINGS)
    for i, model in enumerate(mixed_problem.models):
        for j in range(3):
            alone = descend(
                mixed_problem.gram,
                BlockStatistics.of(mixed_problem.Y, [model]),
                profile_ratio=SETTINGS["profile_ratio"][i][j],
                sparsity=SETTINGS["sparsity"][j],
                max_iter=60,
            )
            assert_allclose(together.scores[i, j], alone.scores[0, 0], atol=1e-10)
            assert_allclose(together.profile_loss[i, j], alone.profile_loss[0, 0], rtol=1e-8, atol=1e-12)
            assert_allclose(together.reconstruction_loss[i, j], alone.reconstruction_loss[0, 0], rtol=1e-8)


def test_early_stop_of_one_solve_does_not_touch_the_others(mixed_problem):
    options = {"max_iter": 300, "tol": 1e-3, **SETTINGS}
    together = descend(mixed_problem.gram, mixed_problem.statistics, **options)
    assert len(np.unique(together.n_iter)) > 1
    for i, model in enumerate(mixed_problem.models):
        alone = descend(
            mixed_problem.gram,
            BlockStatistics.of(mixed_problem.Y, [model]),
            **{**options, "profile_ratio": SETTINGS["profile_ratio"][i]},
        )
        assert_array_equal(together.n_iter[i], alone.n_iter[0])
        assert_allclose(together.scores[i], alone.scores[0], atol=1e-10)


def test_without_tolerance_every_iteration_is_made(problem):
    result = descend(problem.gram, problem.statistics, profile_ratio=0.6, sparsity=0.0, max_iter=25)
    assert_array_equal(result.n_iter, 25)
    assert result.profile_loss.shape == (1, 1, 26)


def test_history_holds_the_losses_of_the_returned_scores_last(problem):
    result = descend(problem.gram, problem.statistics, profile_ratio=0.6, sparsity=0.0, max_iter=25)
    r = result.scores[0, 0]
    assert_allclose(
        result.reconstruction_loss[0, 0, -1], bmgufs.reconstruction_loss(problem.Y, problem.membership(), r), rtol=1e-9
    )
    assert_allclose(
        result.profile_loss[0, 0, -1],
        bmgufs.profile_loss(problem.Y, problem.membership(), problem.density(), r, 1e-6),
        rtol=1e-8,
    )


def test_work_in_small_pieces_changes_nothing(mixed_problem, monkeypatch):
    whole = descend(mixed_problem.gram, mixed_problem.statistics, max_iter=30, **SETTINGS)
    for pieces in (1, 2, 5):
        monkeypatch.setattr(descent, "_CACHE_BYTES", pieces * 5 * 12 * 8)
        cut = descend(mixed_problem.gram, mixed_problem.statistics, max_iter=30, **SETTINGS)
        assert_allclose(cut.scores, whole.scores, atol=1e-12)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-10), ("float32", 1e-3)])
def test_torch_tensors_in_torch_tensors_out_and_the_same_scores(mixed_problem, form, dtype, tolerance):
    torch = pytest.importorskip("torch")
    gram = gram_squared(sparse.csr_array(mixed_problem.Y), form=form, dtype=dtype)
    statistics = BlockStatistics.of(mixed_problem.Y, mixed_problem.models, dtype=dtype)
    gram_torch, statistics_torch = problem_to_device(gram, statistics, "cpu")
    options = {"max_iter": 60, "tol": 1e-6, **SETTINGS}
    ours, theirs = descend(gram, statistics, **options), descend(gram_torch, statistics_torch, **options)
    for name in ("scores", "reconstruction_loss", "profile_loss", "n_iter"):
        assert isinstance(getattr(theirs, name), torch.Tensor)
    assert theirs.scores.dtype == getattr(torch, dtype)
    assert_allclose(theirs.scores.numpy(), ours.scores, atol=tolerance)


def test_single_precision_stays_close_to_double(problem):
    double = descend(problem.gram, problem.statistics, profile_ratio=0.6, sparsity=0.0)
    single = descend(
        gram_squared(problem.Y, dtype="float32"),
        BlockStatistics.of(problem.Y, problem.models, dtype="float32"),
        profile_ratio=0.6,
        sparsity=0.0,
    )
    assert single.scores.dtype == np.float32
    assert_allclose(single.scores, double.scores, atol=1e-2)


def test_a_penalty_that_leaves_nothing_gives_zeros_not_nan(problem):
    result = descend(problem.gram, problem.statistics, profile_ratio=0.6, sparsity=1e4, max_iter=5)
    assert not result.scores.any()
    assert np.isfinite(result.reconstruction_loss).all()
    assert np.isfinite(result.profile_loss).all()


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 6),
    profile_ratio=st.sampled_from([0.0, 0.5, 1.0]),
    sparsity=st.sampled_from([0.0, 1.0, 5.0, 200.0]),
    empty_column=st.booleans(),
    constant=st.booleans(),
)
def test_scores_are_finite_non_negative_and_of_unit_length_or_zero(
    seed, k, profile_ratio, sparsity, empty_column, constant
):
    problem = make_problem(seed, n=12, m=6, blocks=(k,))
    if empty_column:
        problem.Y[:, 2] = 0
    if constant:
        problem.Y[:, 3:] = 1
    result = descend(problem.gram, problem.statistics, profile_ratio=profile_ratio, sparsity=sparsity, max_iter=30)
    scores = result.scores[0, 0]
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
    length = np.linalg.norm(scores)
    assert length == pytest.approx(1) or length == 0


@given(seed=st.integers(0, 10_000))
def test_projection_is_idempotent_and_scale_free(seed):
    vectors = np.random.default_rng(seed).normal(size=(3, 7))
    once = project(vectors)
    assert_allclose(project(once), once, atol=1e-15)
    assert_allclose(project(1e-200 * vectors), once, atol=1e-12)


def test_progress_is_told_of_each_iteration(problem):
    told = []
    descend(
        problem.gram,
        problem.statistics,
        profile_ratio=0.6,
        sparsity=0.0,
        max_iter=7,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(i, 7) for i in range(1, 8)]
