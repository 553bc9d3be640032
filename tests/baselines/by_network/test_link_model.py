"""The likelihood of links, its gradients and minimum; common properties of ADAPT, GFS, MMPOP, PartialOrder."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.baselines._solvers import node_pairs as module
from blockselect.baselines._solvers.node_pairs import NonLinks, linked_pairs
from blockselect.baselines.by_network.adapt import ADAPT
from blockselect.baselines.by_network.gfs import GFS
from blockselect.baselines.by_network.link_model import AllPairs, SampledPairs, link_likelihood
from blockselect.baselines.by_network.mmpop import MMPOP
from blockselect.baselines.by_network.partial_order import PartialOrder
from references import gfs
from references.differences import central_difference
from references.problems import make_problem

link_models = pytest.mark.parametrize("kind", [ADAPT, GFS])
weighting = pytest.mark.parametrize("kind", [ADAPT, GFS, MMPOP])


def scores(kind, X, A, **options):
    seeded = {} if kind is PartialOrder else {"random_state": 0}
    return kind(1, **{**seeded, **options}).fit(X, adjacency=A).scores_


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_loss_of_all_pairs_equals_a_loop_for_any_batch_size(problem, kind, monkeypatch):
    A = problem.A + np.diag(np.arange(len(problem.A)) % 2)  # self-loops are not links
    s, b = problem.r, -0.7
    slow = gfs.link_loss(problem.Y, A, s, b)
    for piece_bytes in (2**20, 8 * 20 * 3):
        monkeypatch.setattr(module, "_PIECE_BYTES", piece_bytes)
        assert_allclose(AllPairs(kind(problem.Y), sparse.csr_array(A)).loss(s, b).value, slow)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("non_links_per_link", [None, 1])
def test_the_gradients_of_the_loss_equal_finite_differences(problem, kind, non_links_per_link):
    rng = np.random.default_rng(0)
    likelihood = link_likelihood(
        kind(problem.Y), sparse.csr_array(problem.A), non_links_per_link=non_links_per_link, rng=rng
    )
    s, b = 0.2 * problem.r, -0.7
    loss = likelihood.loss(s, b)
    assert_allclose(loss.gradient, central_difference(lambda s: likelihood.loss(s, b).value, s), rtol=1e-5, atol=1e-8)
    by_intercept = central_difference(lambda b: likelihood.loss(s, float(b[0])).value, np.array([b]))
    assert_allclose(loss.by_intercept, by_intercept[0], rtol=1e-5, atol=1e-8)


def test_the_loss_of_sampled_non_links_is_unbiased(problem):
    A, X = sparse.csr_array(problem.A), sparse.csr_array(problem.Y)
    links, non_links, rng = linked_pairs(A), NonLinks(A), np.random.default_rng(0)
    s, b = 0.2 * problem.r, -0.7
    draws = [SampledPairs(X, links, non_links, 30, rng).loss(s, b) for _ in range(400)]
    exact = AllPairs(X, A).loss(s, b)
    values = np.array([draw.value for draw in draws])
    assert_allclose(values.mean(), exact.value, atol=4 * values.std() / 20)
    gradients = np.array([draw.gradient for draw in draws])
    assert (np.abs(gradients.mean(axis=0) - exact.gradient) < 4 * gradients.std(axis=0) / 20).all()


def test_all_pairs_are_used_if_a_sample_would_not_be_smaller(problem):
    A, rng = sparse.csr_array(problem.A), np.random.default_rng(0)
    assert isinstance(link_likelihood(problem.Y, A, non_links_per_link=1, rng=rng), SampledPairs)
    for many in (None, 20):
        assert isinstance(link_likelihood(problem.Y, A, non_links_per_link=many, rng=rng), AllPairs)


@pytest.mark.parametrize("selector", [ADAPT(1, neighborhood=0), GFS(1, reconstruction=0)], ids=str)
def test_features_of_very_different_scale_reach_the_minimum_within_the_bounds(selector):
    problem = make_problem(0)
    X, A = problem.Y * np.geomspace(0.05, 20, problem.Y.shape[1]), problem.A
    X, cost = X / X[X > 0].mean(), 0.005
    n_links = np.count_nonzero(np.triu(A, 1))
    selector.set_params(exact=True, sparsity=cost * n_links, tol=0, random_state=0).fit(X, adjacency=A)
    s, b = selector.criterion_, selector.intercept_
    assert_allclose(selector.history_[-1], gfs.link_loss(X, A, s, b) + cost * s.sum())
    gradient = central_difference(lambda s: gfs.link_loss(X, A, s, b), s, step=1e-7) + cost
    inside = (s > 0) & (s < 1)
    assert inside.any()
    assert (s == 0).any()
    assert (s == 1).any()
    assert_allclose(gradient[inside], 0, atol=2e-5)
    assert (gradient[s == 0] > -2e-5).all()
    assert (gradient[s == 1] < 2e-5).all()
    assert_allclose(selector.scores_[s == 1] - 1, np.maximum(-gradient[s == 1], 0), atol=2e-5)


@weighting
def test_sparse_and_single_precision_input_give_the_scores_of_dense_input(network, kind):
    plain = scores(kind, network.features.toarray(), network.adjacency)
    atol = 1e-10 if kind is MMPOP else 1e-4
    assert_allclose(scores(kind, network.features, network.adjacency), plain, atol=atol)
    assert_allclose(scores(kind, network.features.astype(np.float32), network.adjacency), plain, atol=atol)


@pytest.mark.parametrize(("kind", "options"), [(ADAPT, {}), (GFS, {"n_components": 52})])
def test_scores_do_not_change_when_nodes_are_reordered(network, kind, options):
    order = np.random.default_rng(0).permutation(200)
    options = {"exact": True, "tol": 1e-9, **options}
    moved = scores(kind, network.features[order], network.adjacency[order][:, order], **options)
    assert_allclose(moved, scores(kind, network.features, network.adjacency, **options), atol=1e-3)


@pytest.mark.parametrize(
    ("kind", "options"), [(ADAPT, {"non_links_per_link": 2}), (GFS, {"non_links_per_link": 2}), (MMPOP, {})]
)
def test_a_different_seed_gives_different_scores(network, kind, options):
    first, other = (scores(kind, network.features, network.adjacency, random_state=s, **options) for s in (0, 1))
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("kind", [ADAPT, GFS, MMPOP, PartialOrder])
def test_binarize_uses_only_whether_values_are_zero(network, kind):
    X, A = network.features * 7.0, network.adjacency
    assert_array_equal(scores(kind, X, A, binarize=True), scores(kind, X / 7, A))


@link_models
def test_scores_do_not_change_with_the_scale_of_the_features(network, kind):
    plain = scores(kind, network.features, network.adjacency)
    for scale in (0.01, 300.0):
        assert_allclose(scores(kind, scale * network.features, network.adjacency), plain, atol=1e-6)


@weighting
def test_a_constant_feature_scores_zero(network, kind):
    X = network.features.toarray()
    found = scores(kind, np.column_stack([X, np.ones(200), np.zeros(200)]), network.adjacency)
    assert_array_equal(found[-2:], 0)
    if kind is MMPOP:
        assert found[:-2].any()
    else:
        assert_allclose(found[:-2], scores(kind, X, network.adjacency), atol=1e-10)


@pytest.mark.parametrize("kind", [ADAPT, GFS, MMPOP, PartialOrder])
@pytest.mark.parametrize(
    ("adjacency", "message"),
    [(np.ones((200, 200)), "linked to all others"), (np.eye(200), "no links between different nodes")],
)
def test_graphs_without_links_or_without_non_links_are_rejected(network, kind, adjacency, message):
    with pytest.raises(ValueError, match=message):
        scores(kind, network.features, adjacency)
