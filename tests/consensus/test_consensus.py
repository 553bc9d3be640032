"""The quarter of the candidates that explains links and features best is kept."""

from itertools import pairwise

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal

from blockselect.blockmodels import BlockModel, find_block_models
from blockselect.consensus.consensus import find_consensus
from blockselect.consensus.likelihood import JointLikelihood
from blockselect.datasets import make_attributed_blocks


@pytest.fixture(scope="module")
def network():
    """With so few links that refinement continues after the first rounds."""
    return make_attributed_blocks(200, 3, mean_degree=2, random_state=0)


@pytest.fixture(scope="module")
def likelihood(network):
    return JointLikelihood(network.graph)


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


def screened(likelihood, candidates, refine, **options):
    return find_consensus(likelihood, candidates, refine=refine, rng=np.random.default_rng(1), **options)


@pytest.mark.parametrize("refine", [False, True])
def test_those_that_are_kept_explain_most_and_the_best_comes_first(likelihood, candidates, refine):
    result = screened(likelihood, candidates, refine)
    of_voters = result.gain[result.places]
    assert all(first >= second for first, second in pairwise(of_voters))
    assert of_voters.min() >= np.delete(result.gain, result.places).max()
    assert_allclose(of_voters, likelihood.gains([model.labels for model in result.models]))
    assert_allclose(result.gain_at_start, likelihood.gains([model.labels for model in candidates]))


def test_the_planted_blocks_beat_blocks_at_random(network, likelihood):
    rng = np.random.default_rng(0)
    at_random = [BlockModel.from_labels(network.adjacency, rng.permutation(network.blocks)) for _ in range(3)]
    planted = BlockModel.from_labels(network.adjacency, network.blocks)
    assert_array_equal(screened(likelihood, [*at_random, planted], refine=False).places, [3])


@pytest.mark.parametrize("refine", [False, True])
def test_numbers_of_blocks_are_compared_by_description_length(network, likelihood, candidates, refine):
    """The gain −J alone would prefer models with more blocks."""
    more = find_block_models(network.adjacency, 4, n_candidates=9, rng=np.random.default_rng(0))
    result = screened(likelihood, [*candidates, *more], refine, max_rounds=1)
    kept = likelihood.comparable_gains([model.labels for model in result.models])
    assert_array_equal(kept, sorted(kept, reverse=True))
    assert refine == (list(result.gain[result.places]) != sorted(result.gain[result.places], reverse=True))


def test_candidates_stay_as_they_are_unless_refined(likelihood, candidates):
    result = screened(likelihood, candidates, refine=False)
    assert all(model is candidates[i] for model, i in zip(result.models, result.places, strict=True))
    assert_array_equal(result.gain, result.gain_at_start)


def test_refined_blocks_explain_more_and_remember_who_found_them(likelihood, candidates):
    before = [model.labels.copy() for model in candidates]
    result = screened(likelihood, candidates, refine=True)
    assert (result.gain >= result.gain_at_start).all()
    assert (result.gain > result.gain_at_start).any()
    assert [model.family for model in result.models] == [candidates[i].family for i in result.places]
    assert all((model.labels == labels).all() for model, labels in zip(candidates, before, strict=True))


def test_equal_candidates_vote_in_their_order(network, likelihood):
    same = [BlockModel.from_labels(network.adjacency, network.blocks) for _ in range(8)]
    assert_array_equal(screened(likelihood, same, refine=False).places, [0, 1])


def test_the_number_of_jobs_changes_nothing(likelihood, candidates):
    alone = screened(likelihood, candidates, refine=True)
    with parallel_config(backend="threading"):
        shared = screened(likelihood, candidates, refine=True, n_jobs=3)
    assert_array_equal(shared.gain, alone.gain)
    assert_array_equal(shared.places, alone.places)


def test_where_numbers_of_blocks_differ_candidates_are_compared_by_what_describes_them(network, likelihood):
    rng = np.random.default_rng(0)
    many = BlockModel.from_labels(network.adjacency, 20 * network.blocks + rng.integers(20, size=200))
    models = [many, BlockModel.from_labels(network.adjacency, network.blocks)]
    assert likelihood.gains([many.labels])[0] > likelihood.gains([network.blocks])[0]  # by chance
    assert_array_equal(screened(likelihood, models, refine=False).places, [1])
    four = [many, many, many, *models[1:]]
    assert_array_equal(screened(likelihood, [*four, *four], refine=False).places, [3, 7])


@pytest.mark.parametrize(("refine", "total"), [(False, 9), (True, 12)])
def test_progress_counts_candidates_and_then_kept(likelihood, candidates, refine, total):
    seen = []
    screened(likelihood, candidates, refine, progress=lambda *news: seen.append(news))
    counted = range(total + 1) if refine else (0, total)
    assert seen == [(done, total) for done in counted]
