"""ScoreProblem: the scores of any block models by one descent, on any device."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.blockmodels import BlockModel
from blockselect.scoring import gram_squared
from blockselect.bmgufs.problem import ScoreProblem
from references import bmgufs
from references.problems import make_problem

DESCENT = {"profile_ratio": 0.6, "gradient": "exact", "step_size": 0.01, "max_iter": 40, "tol": 0.0, "smoothing": 1e-6}


def score_problem(Y, *, reflect=False, device="cpu", dtype="float64", **descent):
    return ScoreProblem(Y, gram_squared(Y, dtype=dtype), reflect, device, dtype, {**DESCENT, **descent})


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_the_slow_way_for_every_model_and_sparsity(seed):
    problem = make_problem(seed, blocks=(3, 2))
    solution = score_problem(problem.Y, gradient="paper").solve(problem.models, (0.0, 0.5))
    assert solution.scores.shape == (2, 2, 9)
    for i in range(2):
        for j, γ in enumerate((0.0, 0.5)):
            slow = bmgufs.solve(
                problem.Y,
                problem.membership(i),
                problem.density(i),
                profile_ratio=0.6,
                sparsity=γ,
                published=True,
                start=np.full(9, 1 / 3),
                max_iter=40,
            )
            assert_allclose(solution.scores[i, j], slow, atol=1e-9)


def test_a_part_of_a_solution_is_that_of_those_sparsities(mixed_problem):
    problem = score_problem(mixed_problem.Y)
    part = problem.solve(mixed_problem.models, (0.0, 0.5, 1.0)).at(slice(1, 2))
    alone = problem.solve(mixed_problem.models, (0.5,))
    assert_allclose(part.scores, alone.scores, atol=1e-12)
    assert_allclose(part.reconstruction_loss, alone.reconstruction_loss, rtol=1e-9)
    assert_allclose(part.profile_loss, alone.profile_loss, rtol=1e-9)
    assert_array_equal(part.n_iter, alone.n_iter)


def test_a_feature_that_no_node_has_scores_exactly_zero():
    problem = make_problem(0)
    problem.Y[:, 4] = 0
    solution = score_problem(problem.Y).solve(problem.models, (0.0,))
    assert solution.scores[0, 0, 4] == 0
    assert (np.delete(solution.scores[0, 0], 4) > 0).any()


def test_reflection_matters_where_blocks_link_to_others_and_only_there():
    problem = make_problem(1)
    labels = problem.models[0].labels[:20] % 2
    apart = np.not_equal.outer(labels, labels).astype(float)
    within = 1 - apart - np.eye(20)
    for A, same in ((apart, False), (within, True)):
        models = [BlockModel.from_labels(sparse.csr_array(A), labels)]
        followed = [score_problem(problem.Y, reflect=reflect).solve(models, (0.0,)).scores for reflect in (False, True)]
        assert np.allclose(*followed, atol=1e-9) == same


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-10), ("float32", 1e-4)])
def test_torch_gives_numpy_arrays_of_the_same_scores(mixed_problem, dtype, tolerance):
    pytest.importorskip("torch")
    ours, theirs = (
        score_problem(mixed_problem.Y, device=device, dtype=dtype).solve(mixed_problem.models, (0.0, 0.5))
        for device in ("cpu", "cpu:0")
    )
    for name in ("scores", "reconstruction_loss", "profile_loss", "n_iter"):
        assert isinstance(getattr(theirs, name), np.ndarray)
    assert theirs.scores.dtype == np.dtype(dtype)
    assert_allclose(theirs.scores, ours.scores, atol=tolerance)


def test_progress_counts_the_iterations(mixed_problem):
    seen = []
    score_problem(mixed_problem.Y).solve(mixed_problem.models, (0.0,), lambda done, total: seen.append((done, total)))
    assert seen[-1] == (40, 40)
