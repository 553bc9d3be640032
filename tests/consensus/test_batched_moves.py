"""Moves of many models at once, a part of the nodes at a time: with parts of one node, the compiled sweep."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import xlogy

from blockselect import BlockModelSelector, make_attributed_blocks
from blockselect.blockmodels import find_block_models
from blockselect.consensus import joint
from blockselect.consensus.batched_moves import Blocks, DeviceNetwork, improve_together
from blockselect.consensus.feature_likelihood import as_counts
from blockselect.consensus.joint import JointLikelihood
from blockselect.consensus.link_likelihood import as_links, link_gain
from blockselect.consensus.moves import rates_of, sums_by_block, sweep, weights_by_block
from blockselect.graphs.attributed import check_attributed_graph
from references.joint import small_network

pytest.importorskip("torch")

PLACE = "cpu:0"  # torch, where "cpu" is NumPy
PENALTY = 0.3


def network_of(A, X, parts):
    links, counts = as_links(sparse.csr_array(A), 1.0), as_counts(X)
    return links, counts, DeviceNetwork.of(links, counts, parts, PLACE)


def swept(links, counts, labels, order, in_use):
    """Labels after a compiled sweep."""
    labels, k = labels.astype(np.intp), labels.max() + 1
    weights = weights_by_block(links, labels, k)
    rates = rates_of(counts, labels, sums_by_block(counts, labels, len(in_use), k), in_use)
    sweep(labels, order, links, weights, counts, rates, 1.0, 1e-9, False)
    return labels


@pytest.mark.parametrize("seed", range(4))
def test_parts_of_one_node_move_as_the_compiled_sweep_does(seed):
    A, X, labels = small_network(seed)
    X = (X > 0).astype(float)
    A[3, 3] = 2  # a self-loop
    order = np.random.default_rng(seed).permutation(len(A))
    links, counts, network = network_of(A, X, order[:, None])
    models = np.array([labels, (labels + np.arange(len(labels))) % 3, labels % 2])
    blocks = Blocks(network, models, np.full(3, PENALTY), 1.0)
    in_use = blocks.in_use()
    blocks.round()
    assert (blocks.labels() != models).any(axis=1).all()
    for i in range(3):
        assert_array_equal(blocks.labels()[i], swept(links, counts, models[i], order, in_use[i]))
        assert blocks.n_moves[i] > 0


@pytest.mark.parametrize("feature_weight", [0.0, 0.5, 1.0])
def test_the_objective_is_that_of_the_joint_likelihood(feature_weight):
    A, X, labels = small_network(1)
    graph = check_attributed_graph(X, A)
    likelihood = JointLikelihood(graph, feature_weight=feature_weight, rate_penalty=0.1)
    links = as_links(graph.adjacency, likelihood.link_unit)
    network = DeviceNetwork.of(links, as_counts(X), [np.arange(len(A))], PLACE)
    models = np.array([labels, labels % 2])
    blocks = Blocks(network, models, np.array([likelihood.penalty(3), likelihood.penalty(2)]), feature_weight)
    assert_allclose(blocks.objective_now(), [-likelihood.gain(one) for one in models], rtol=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_the_gain_of_a_move_is_what_the_likelihood_rises_by(seed):
    """Of each node alone, to each block, by links and by features."""
    A, X, labels = small_network(seed)
    X = (X > 0).astype(float)
    A[3, 3] = 2  # a self-loop
    links, counts, network = network_of(A, X, [np.arange(len(A))])
    blocks = Blocks(network, labels[None], np.array([PENALTY]), 1.0)
    part, F, in_use = network.parts[0], blocks.member, blocks.in_use()[0]
    to_blocks = (part.links @ F.view(len(A), 3)).view(F.shape) - part.loops * F
    by_links = blocks._link_gains(part, F, F > 0, to_blocks)[:, 0].numpy()
    by_features = blocks._feature_gains(part, F, blocks._of_nodes)[:, 0].numpy()

    def likelihoods(labels):
        sums, totals = sums_by_block(counts, labels, X.shape[1], 3)[in_use], np.bincount(labels, counts.totals, 3)
        return link_gain(weights_by_block(links, labels, 3)), (xlogy(sums, sums) - xlogy(sums, totals)).sum()

    labels = labels.astype(np.intp)
    before = likelihoods(labels)
    assert in_use.any()
    for node, old in enumerate(labels):
        for new in np.setdiff1d(np.arange(3), [old]):
            moved = labels.copy()
            moved[node] = new
            if len(np.unique(moved)) == 3:
                found = by_links[node, new], by_features[node, new]
                assert_allclose(found, np.subtract(likelihoods(moved), before), atol=1e-9)


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), n_parts=st.integers(1, 14), binary=st.booleans())
def test_the_objective_never_rises_and_no_block_is_emptied(seed, n_parts, binary):
    A, X, labels = small_network(seed, n=14)
    X = (X > 0).astype(float) if binary else X
    parts = np.array_split(np.random.default_rng(seed).permutation(14), n_parts)
    _, _, network = network_of(A, X, parts)
    models = np.array([labels, np.arange(14)])  # every node a block of its own cannot move
    rounds = improve_together(network, models, np.full(2, PENALTY), feature_weight=1.0, max_rounds=4, tol=0.0)
    assert (np.diff(rounds.objective, axis=0) <= 1e-9).all()
    assert set(rounds.labels[0]) == set(labels)
    assert_array_equal(rounds.labels[1], np.arange(14))
    assert rounds.n_moves[:, 1].sum() == 0


def test_a_model_moves_the_same_alone_and_beside_others_of_more_blocks():
    A, X, labels = small_network(3, n=30)
    _, _, network = network_of(A, X, np.array_split(np.arange(30), 5))
    options = {"feature_weight": 1.0, "max_rounds": 5, "tol": 0.0}
    alone = improve_together(network, labels[None] % 2, np.array([PENALTY]), **options)
    beside = improve_together(network, np.array([labels, labels % 2]), np.array([0.1, PENALTY]), **options)
    assert_array_equal(beside.labels[1], alone.labels[0])
    assert_allclose(beside.objective[: len(alone.objective), 1], alone.objective[:, 0])


def test_rounds_go_on_while_the_objective_falls_by_more_than_the_tolerance_a_node():
    A, X, labels = small_network(3, n=30)
    _, _, network = network_of(A, X, np.array_split(np.arange(30), 5))
    options = {"feature_weight": 1.0, "max_rounds": 20}
    objective = improve_together(network, labels[None], np.array([PENALTY]), tol=0.0, **options).objective[:, 0]
    falls = -np.diff(objective)
    assert 3 <= len(falls) < 20
    assert falls[-1] == 0 < falls[:-1].min()
    for tol in (1.01 * falls[0] / 30, 0.99 * falls[0] / 30):
        stopped = improve_together(network, labels[None], np.array([PENALTY]), tol=tol, **options)
        assert (len(stopped.n_moves) == 1) == (tol > falls[0] / 30)


@pytest.fixture(scope="module")
def planted():
    return make_attributed_blocks(200, 3, mean_degree=6, random_state=0)


@pytest.mark.parametrize("binary", [True, False])
def test_batches_end_as_well_as_single_moves(planted, binary):
    features = planted.features if binary else planted.features * np.linspace(1, 2, 200)[:, None]
    graph = check_attributed_graph(features, planted.adjacency)
    starts = find_block_models(planted.adjacency, 3, n_candidates=4, rng=np.random.default_rng(0))
    results = {
        device: list(JointLikelihood(graph, device=device).improve_all(starts, rngs=np.random.default_rng(1).spawn(4)))
        for device in ("cpu", PLACE)
    }
    ours, theirs = ([result.objective[-1] for result in results[device]] for device in ("cpu", PLACE))
    assert np.mean(theirs) == pytest.approx(np.mean(ours), rel=0.02)
    likelihood = JointLikelihood(graph)
    for start, result in zip(starts, results[PLACE], strict=True):
        assert result.model.family == start.family
        assert -likelihood.gain(result.model.labels) == pytest.approx(result.objective[-1])
        assert_array_equal(result.in_use, likelihood.feature_gains(result.model.labels) > likelihood.penalty(3))


def test_the_default_selects_nearly_the_same_on_its_device(planted, monkeypatch):
    monkeypatch.setattr(joint, "N_PARTS", 4)
    found = [
        BlockModelSelector(20, n_blocks=3, n_candidates=6, random_state=0, device=device).fit(
            planted.features, adjacency=planted.adjacency
        )
        for device in ("cpu", PLACE)
    ]
    assert (found[0].support_ & found[1].support_).sum() >= 18
    assert isinstance(found[1].induced_density_, np.ndarray)
