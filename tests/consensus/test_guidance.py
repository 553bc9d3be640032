"""Guidance: how block models lead to scores, apart from how they were found."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from blockselect.blockmodels import BlockModel, find_block_models
from blockselect.datasets import make_attributed_blocks
from blockselect.scoring import gram_squared
from blockselect.consensus.weights import EVIDENCE, consensus_scores
from blockselect.consensus.joint import JointProblem
from blockselect.bmgufs.problem import ScoreProblem
from blockselect.consensus.guidance import Guidance

DESCENT = {"profile_ratio": 0.6, "gradient": "exact", "step_size": 0.01, "max_iter": 60, "tol": 0.0, "smoothing": 1e-6}


@pytest.fixture(scope="module")
def network():
    return make_attributed_blocks(120, 3, n_informative=10, n_redundant=0, n_noise=30, random_state=0)


@pytest.fixture(scope="module")
def candidates(network):
    return find_block_models(
        network.adjacency, 3, family="mixed", features=network.features, n_candidates=9, rng=np.random.default_rng(0)
    )


def guidance_of(network, sparsity=0.0, n_wanted=10, evidence="blocks and links", report=lambda *_: None):
    problem = ScoreProblem(network.features, gram_squared(network.features), True, "cpu", "float64", DESCENT)
    return Guidance(network.graph, problem, sparsity, evidence, n_wanted, report)


def consensus(guidance, candidates, joint=False):
    return guidance.by_consensus(candidates, joint=joint, rng=np.random.default_rng(0), n_jobs=None)


def stability(guidance, models, n_resamples=5, **options):
    options = {"search": True, "joint": True, **options}
    return guidance.stability(models, n_resamples, rng=np.random.default_rng(0), **options)


def test_one_model_alone_gives_its_own_scores(network, candidates):
    guidance = guidance_of(network)
    guided = guidance.by_one(candidates[2])
    assert_array_equal(guided.scores, guidance.problem.solve([candidates[2]], (0.0,)).scores[0, 0])
    assert guided.models == [candidates[2]]
    assert guided.screening is None


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_a_consensus_mixes_the_votes_of_those_that_were_kept(network, candidates, evidence):
    guided = consensus(guidance_of(network, evidence=evidence), candidates)
    assert len(guided.models) == 3
    votes = np.array([guidance_of(network).by_one(model).scores for model in guided.models])
    nats = EVIDENCE[evidence](JointProblem(network.graph), network.graph, guided.models)
    assert_allclose(guided.scores, consensus_scores(votes, nats), atol=1e-10)


def test_one_candidate_is_a_consensus_of_itself(network, candidates):
    guided = consensus(guidance_of(network), candidates[:1])
    assert guided.models == candidates[:1]


@pytest.mark.parametrize(("sparsity", "counting"), [(0.5, 1), ("auto", 3), ("paper", 1)])
def test_the_solution_is_of_the_sparsities_that_count(network, candidates, sparsity, counting):
    guided = consensus(guidance_of(network, sparsity=sparsity), candidates)
    assert len(guided.sparsities) == counting
    assert guided.solution.scores.shape == (3, counting, 40)
    assert guided.solution.n_iter.shape == (3, counting)


def test_the_strongest_sparsity_of_the_paper_depends_on_how_many_are_wanted(network, candidates):
    few, many = (guidance_of(network, sparsity="paper", n_wanted=n).by_one(candidates[0]) for n in (3, 35))
    assert few.sparsities[0] > many.sparsities[0]
    assert np.count_nonzero(few.scores) >= 3
    assert np.count_nonzero(many.scores) >= 35


@pytest.mark.parametrize("options", [{}, {"joint": False}, {"search": False, "joint": False}])
def test_stability_is_a_chance_that_adds_up_to_about_the_number_wanted(network, candidates, options):
    chance = stability(guidance_of(network), candidates[:3], **options)
    assert ((chance >= 0) & (chance <= 1)).all()
    assert chance.sum() == pytest.approx(10, abs=2)


def test_the_stability_of_given_blocks_neither_finds_nor_moves_blocks(network, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("blocks were given")

    monkeypatch.setattr("blockselect.consensus.guidance.find_block_models", refuse)
    monkeypatch.setattr(JointProblem, "improve", refuse)
    model = BlockModel.from_labels(network.adjacency, network.blocks)
    chance = stability(guidance_of(network), [model], search=False, joint=False)
    assert chance[network.is_informative].mean() > chance[~network.is_informative].mean() + 0.5


def test_the_same_generator_gives_the_same_stability(network, candidates):
    first, second = (stability(guidance_of(network), candidates[:2], n_resamples=3) for _ in range(2))
    assert_array_equal(first, second)


def test_every_resample_is_reported(network, candidates):
    seen = []
    stability(guidance_of(network, report=lambda *news: seen.append(news)), candidates[:1], n_resamples=4)
    assert [news for news in seen if news[0] == "resampling"] == [("resampling", i, 4) for i in range(5)]
