"""Screening: the quarter of the candidates that tells most of links and features."""

from itertools import pairwise

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal

from blockselect.blockmodels import BlockModel, find_block_models
from blockselect.datasets import make_attributed_blocks
from blockselect.consensus.joint import JointProblem
from blockselect.consensus.screening import screen


@pytest.fixture(scope="module")
def network():
    """So few links that the climb of joint learning goes on after its first rounds."""
    return make_attributed_blocks(200, 3, mean_degree=2, random_state=0)


@pytest.fixture(scope="module")
def problem(network):
    return JointProblem(network.graph)


@pytest.fixture(scope="module")
def candidates(network):
    return find_block_models(
        network.adjacency,
        3,
        family="mixed",
        features=network.features,
        n_candidates=9,
        rng=np.random.default_rng(0),
    )


def screened(problem, candidates, joint, **options):
    return screen(problem, candidates, joint=joint, rng=np.random.default_rng(1), **options)


@pytest.mark.parametrize(("n", "n_kept"), [(1, 1), (4, 1), (5, 2), (9, 3)])
@pytest.mark.parametrize("joint", [False, True])
def test_a_quarter_is_kept_and_at_least_one(problem, candidates, joint, n, n_kept):
    result = screened(problem, candidates[:n], joint)
    assert len(result.models) == len(result.kept) == n_kept
    assert result.at_start.shape == result.evidence.shape == (n,)


@pytest.mark.parametrize("joint", [False, True])
def test_the_kept_tell_most_and_the_best_comes_first(problem, candidates, joint):
    result = screened(problem, candidates, joint)
    of_kept = result.evidence[result.kept]
    assert all(first >= second for first, second in pairwise(of_kept))
    assert of_kept.min() >= np.delete(result.evidence, result.kept).max()
    assert_allclose(of_kept, [problem.evidence(model.labels) for model in result.models])
    assert_allclose(result.at_start, [problem.evidence(model.labels) for model in candidates])


def test_the_planted_blocks_beat_blocks_at_random(network, problem):
    rng = np.random.default_rng(0)
    at_random = [BlockModel.from_labels(network.adjacency, rng.permutation(network.blocks)) for _ in range(3)]
    planted = BlockModel.from_labels(network.adjacency, network.blocks)
    assert_array_equal(screened(problem, [*at_random, planted], joint=False).kept, [3])


def test_candidates_stay_as_they_are_unless_joint(problem, candidates):
    result = screened(problem, candidates, joint=False)
    assert all(model is candidates[i] for model, i in zip(result.models, result.kept, strict=True))
    assert_array_equal(result.evidence, result.at_start)


def test_joint_improves_and_remembers_who_found_the_blocks(problem, candidates):
    before = [model.labels.copy() for model in candidates]
    result = screened(problem, candidates, joint=True)
    assert (result.evidence >= result.at_start).all()
    assert (result.evidence > result.at_start).any()
    assert [model.family for model in result.models] == [candidates[i].family for i in result.kept]
    assert all((model.labels == labels).all() for model, labels in zip(candidates, before, strict=True))


def test_equal_candidates_are_kept_in_their_order(network, problem):
    same = [BlockModel.from_labels(network.adjacency, network.blocks) for _ in range(8)]
    assert_array_equal(screened(problem, same, joint=False).kept, [0, 1])


def test_the_number_of_jobs_changes_nothing(problem, candidates):
    alone = screened(problem, candidates, joint=True)
    with parallel_config(backend="threading"):
        shared = screened(problem, candidates, joint=True, n_jobs=3)
    assert_array_equal(shared.evidence, alone.evidence)
    assert_array_equal(shared.kept, alone.kept)


@pytest.mark.parametrize("joint", [False, True])
def test_progress_rises_to_its_end(problem, candidates, joint):
    seen = []
    screened(problem, candidates, joint, progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert seen[-1][0] == seen[-1][1]
