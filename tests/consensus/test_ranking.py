"""Shares of the block structure that features explain, and rankings, compared with a plain ridge regression."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect.blockmodels import BlockModel
from blockselect.consensus.likelihood import JointLikelihood
from blockselect.consensus.ranking import (
    FeatureGains,
    effect_sizes,
    enough_features,
    rank_features,
    select_together,
)
from blockselect.consensus.target import BlockRegression
from blockselect.datasets import make_attributed_blocks
from blockselect.inputs.attributed import check_attributed_graph
from made_graphs import complete, path
from references import explained as reference
from references.joint import small_network

seeds = st.integers(0, 500)
forms = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


def chain(labels):
    """A tree that merges the blocks in the order of their numbers."""
    k = max(labels) + 1
    return np.array([[block + 1, 0 if block == 0 else k + block - 1, block, 1] for block in range(k - 1)]).reshape(
        -1, 4
    )


def trees_of(labels):
    return [chain(of_node) for of_node in labels]


def target_of(A, labels):
    return reference.target(A, labels, trees_of(labels))


def regression_of(A, X, labels, form=sparse.csr_array):
    return BlockRegression.of(form(X), sparse.csr_array(A), labels, trees_of(labels))


def gains_by_models(graph, labels):
    likelihood = JointLikelihood(graph)
    models = [BlockModel.from_labels(graph.adjacency, of_node) for of_node in labels]
    return FeatureGains.of(likelihood, graph, likelihood.trees(models, renumber=False))


def two_models(seed, **sizes):
    """A network with an isolated node, one without features and an empty column, and two block models of it."""
    A, X, labels = small_network(seed, **sizes)
    return A, X, [labels, labels % 2]


def gains_of(by_blocks, by_links=0.0, is_constant=None):
    by_blocks = np.asarray(by_blocks, dtype=float)
    constant = np.zeros(len(by_blocks), dtype=bool) if is_constant is None else is_constant
    return FeatureGains(by_blocks, np.zeros(len(by_blocks)) + by_links, constant)


def ranking_of(X, A, models, n_wanted=5):
    """The ranking of the default for block models given as labels."""
    graph = check_attributed_graph(X, A)
    regression = BlockRegression.of(graph.features, graph.adjacency, models, trees_of(models))
    return rank_features(regression, gains_by_models(graph, models), n_wanted)


def planted(seed=0, n_nodes=90, **sizes):
    network = make_attributed_blocks(
        n_nodes, 3, mean_degree=8, **{"n_informative": 9, "n_redundant": 3, "n_noise": 12, **sizes}, random_state=seed
    )
    return network.features.toarray(), network.adjacency.toarray(), network.blocks


@forms
@given(seed=seeds)
def test_sums_over_the_nodes_are_those_of_dense_matrices(form, seed):
    A, X, labels = two_models(seed)
    regression, U, T = regression_of(A, X, labels, form), reference.design(X), target_of(A, labels)
    penalty = reference.ridge(U)
    assert_allclose(regression.products, U.T @ T, atol=1e-10)
    assert_allclose(regression.squares, (U**2).sum(axis=0), atol=1e-10)
    assert regression.total == pytest.approx((T**2).sum())
    assert regression.ridge == pytest.approx(penalty)
    assert_allclose(regression.alone, [reference.share(U, T, [j], penalty) for j in range(7)], atol=1e-10)
    everything = reference.share(U, T, np.arange(7), penalty)
    assert regression.share_of_all() == pytest.approx(everything, rel=1e-9)


@forms
def test_all_features_together_converge_where_there_are_many(form):
    X, A, blocks = planted(n_nodes=200, n_noise=60)
    U, T = reference.design(X), target_of(A, [blocks])
    expected = reference.share(U, T, np.arange(X.shape[1]), reference.ridge(U))
    of_all = regression_of(A, X, [blocks], form).share_of_all(max_factorised=10)
    assert of_all == pytest.approx(expected, rel=1e-4)
    assert of_all <= expected + 1e-12  # the iterations converge from below


@forms
def test_all_features_together_are_left_out_where_that_takes_too_long(form):
    X, A, blocks = planted()
    regression = regression_of(A, X, [blocks], form)
    n_products = (np.count_nonzero(X) if form is sparse.csr_array else X.size) * 3
    assert regression.share_of_all(max_factorised=10, max_multiplications=n_products) is not None
    assert regression.share_of_all(max_factorised=10, max_multiplications=n_products - 1) is None


@forms
@given(seed=seeds, n_steps=st.integers(0, 6), with_effect=st.booleans())
def test_greedy_selection_is_that_of_a_regression_for_each_set(form, seed, n_steps, with_effect):
    A, X, labels = two_models(seed)
    regression, U, T = regression_of(A, X, labels, form), reference.design(X), target_of(A, labels)
    candidates = np.array([0, 1, 2, 4, 5, 3])
    effect = np.random.default_rng(seed).uniform(0.2, 2, 6) if with_effect else np.ones(6)
    chosen, shares, would_add = reference.greedy(U, T, regression.ridge, candidates, n_steps, effect)
    found, added = select_together(regression, candidates, n_steps, effect)
    assert_array_equal(found, chosen)
    by_column = dict(zip(candidates, added, strict=True))
    assert_allclose([by_column[j] for j in chosen], np.diff(shares, prepend=0), atol=1e-10)
    for column, rise in would_add.items():
        assert by_column[column] == pytest.approx(rise, abs=1e-10)
    whole = reference.share(U, T, chosen, regression.ridge)
    assert sum(by_column[j] for j in chosen) == pytest.approx(whole, abs=1e-10)


@forms
@given(seed=seeds, n_chosen=st.integers(0, 6))
def test_what_columns_add_in_any_order_is_that_of_a_regression_for_each_set(form, seed, n_chosen):
    A, X, labels = two_models(seed)
    regression, U, T = regression_of(A, X, labels, form), reference.design(X), target_of(A, labels)
    columns = np.random.default_rng(seed).permutation(7)
    chosen, others = columns[:n_chosen], columns[n_chosen:]
    adds, would_add = regression.added(chosen, others)
    shares = [reference.share(U, T, chosen[:n], regression.ridge) for n in range(n_chosen + 1)]
    assert_allclose(adds, np.diff(shares), atol=1e-10)
    expected = [reference.share(U, T, [*chosen, other], regression.ridge) - shares[-1] for other in others]
    assert_allclose(would_add, expected, atol=1e-10)


def test_what_others_would_add_does_not_depend_on_how_many_there_are():
    X, A, blocks = planted(n_noise=5000)
    regression, chosen, others = regression_of(A, X, [blocks]), np.array([3, 0]), np.arange(4, 5012)
    _, at_once = regression.added(chosen, others)
    in_parts = [regression.added(chosen, part)[1] for part in np.array_split(others, 3)]
    assert_allclose(at_once, np.concatenate(in_parts), rtol=1e-12)


@forms
def test_blocks_that_say_nothing_leave_nothing_to_explain(form):
    X, A, _ = planted()
    one = np.zeros(90, dtype=int)
    for labels in ([one], [one, one]):
        regression = regression_of(A, X, labels, form)
        assert_array_equal(regression.products, 0)
        assert_array_equal(regression.alone, 0)
        assert regression.share_of_all() == 0
        ranking = rank_features(regression, gains_of(np.arange(24.0)), 6)
        assert_array_equal(ranking.order, np.arange(24)[::-1])  # by their gains
        assert (np.diff(ranking.scores[ranking.order]) < 0).all()
        assert_array_equal(regression.cumulative(ranking.order), 0)


@forms
def test_blocks_that_link_to_each_other_only_are_a_target_too(form):
    """A node and its neighbours are on different sides, but do not cancel."""
    X, _, _ = planted()
    A, sides = path(90).toarray(), np.arange(90) % 2
    X[:, 0] = sides
    regression = regression_of(A, X, [sides], form)
    U, T = reference.design(X), target_of(A, [sides])
    assert_allclose(regression.products, U.T @ T, atol=1e-9)
    assert_allclose(regression.total, (T**2).sum())
    assert np.argmax(regression.alone) == 0


def test_a_model_of_one_block_beside_another_changes_nothing():
    X, A, blocks = planted()
    alone = regression_of(A, X, [blocks])
    beside = regression_of(A, X, [blocks, np.zeros(90, dtype=int)])
    assert beside.total == alone.total
    assert_array_equal(beside.alone, alone.alone)


def test_an_isolated_node_counts_only_with_its_own_block():
    """Compared with a node whose neighbours are in its own block, where its random walk stays for four steps."""
    A = sparse.block_diag([complete(4), complete(4), sparse.csr_array((2, 2))], format="csr")
    blocks = np.repeat([0, 1, 0, 1], [4, 4, 1, 1])
    T = target_of(A.toarray(), [blocks])[:, 0]
    assert_allclose(T / T[0], [1, 1, 1, 1, -1, -1, -1, -1, 0.2, -0.2])
    products = np.abs(regression_of(A, np.eye(10), [blocks]).products)
    assert_allclose(products / products[0], np.outer([1] * 8 + [0.2] * 2, [1, 1]))


@forms
@given(seed=seeds)
def test_shares_at_each_level_are_those_of_a_regression_on_that_level_and_their_mean_is_the_whole(form, seed):
    A, X, labels = small_network(seed, k=7)
    regression, U = regression_of(A, X, [labels], form), reference.design(X)
    (of_levels,) = reference.targets(A, [labels], trees_of([labels]))
    chosen = np.array([2, 0, 4])
    expected = [reference.share(U, T, chosen, regression.ridge) if T.any() else 0.0 for T in of_levels]
    assert_allclose(regression.by_level(chosen), expected, atol=1e-10)
    adds, _ = regression.added(chosen, chosen[:0])
    assert adds.sum() == pytest.approx(np.mean(expected))


@given(seed=seeds)
def test_the_order_of_nodes_changes_nothing(seed):
    X, A, blocks = planted(seed % 5)
    order = np.random.default_rng(seed).permutation(90)
    plain = ranking_of(X, A, [blocks])
    moved = ranking_of(X[order], A[np.ix_(order, order)], [blocks[order]])
    assert_array_equal(moved.order, plain.order)
    assert_allclose(moved.scores, plain.scores, rtol=1e-9)


@given(seed=seeds)
def test_features_in_another_order_are_ranked_alike(seed):
    X, A, blocks = planted(seed % 5)
    X = X * np.random.default_rng(0).uniform(0.5, 2, X.shape)  # no two are equally good
    order = np.random.default_rng(seed).permutation(24)
    plain, moved = ranking_of(X, A, [blocks]), ranking_of(X[:, order], A, [blocks])
    assert_array_equal(order[moved.order], plain.order)
    assert_allclose(moved.scores, plain.scores[order], rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 0.3, 7.0, 1e9])
def test_neither_the_scale_of_features_nor_that_of_links_matters(scale):
    X, A, blocks = planted()
    X = X * np.random.default_rng(0).uniform(0.5, 2, X.shape)
    plain = ranking_of(X, A, [blocks])
    for again in (ranking_of(scale * X, A, [blocks]), ranking_of(X, scale * A, [blocks])):
        assert_array_equal(again.order, plain.order)
        assert_allclose(again.scores, plain.scores, rtol=1e-9)
        assert_allclose(again.added, plain.added, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_dense_and_sparse_storage_rank_alike(seed):
    X, A, blocks = planted(seed)
    dense, stored = ranking_of(X, A, [blocks]), ranking_of(sparse.csr_array(X), A, [blocks])
    assert_array_equal(stored.order, dense.order)
    for name in ("scores", "added", "alone"):
        assert_allclose(getattr(stored, name), getattr(dense, name), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("n_wanted", [0, 1, 5, 24, 100])
def test_scores_fall_with_the_ranking_and_shares_add_up_to_those_of_the_set(n_wanted):
    X, A, blocks = planted(n_noise=10)
    X = np.column_stack([X, np.zeros(90), np.full(90, 2.0)])  # an empty and a constant column
    ranking = ranking_of(X, A, [blocks], n_wanted)
    assert sorted(ranking.order) == list(range(24))
    assert_array_equal(np.flatnonzero(~ranking.is_useful), [22, 23])
    assert set(ranking.order[-2:]) == {22, 23}
    assert (np.diff(ranking.scores[ranking.order[:22]]) < 0).all()
    assert (ranking.scores[:22] > 0).all()
    for name in ("scores", "added", "alone"):
        assert_array_equal(getattr(ranking, name)[22:], 0)
    U, T = reference.design(X), target_of(A, [blocks])
    wanted, penalty = ranking.order[: min(n_wanted, 22)], reference.ridge(U)
    shares = [reference.share(U, T, wanted[:n], penalty) for n in range(len(wanted) + 1)]
    assert_allclose(ranking.added[wanted], np.diff(shares), atol=1e-10)
    assert_allclose(ranking.regression.cumulative(wanted), shares[1:], atol=1e-10)
    for other in np.setdiff1d(np.arange(22), wanted):  # what each would add next, whether it is clear or not
        rise = reference.share(U, T, [*wanted, other], penalty) - shares[-1]
        assert ranking.added[other] == pytest.approx(rise, abs=1e-10)


def test_a_clear_feature_scores_what_it_adds_times_its_effect_size_and_less_than_the_one_before():
    X, A, blocks = planted(n_nodes=400)
    graph = check_attributed_graph(X, A)
    gains = gains_by_models(graph, [blocks])
    ranking = ranking_of(X, A, [blocks], 9)
    effect = np.sqrt(2 * np.maximum(gains.by_blocks, 0.25) / np.count_nonzero(X, axis=0))
    assert_allclose(effect_sizes(gains, X), effect)
    assert_allclose(effect_sizes(gains, sparse.csr_array(X)), effect)
    clear = ranking.order[ranking.is_clear[ranking.order]]
    products = (ranking.added * effect)[clear]
    assert len(clear) >= 9
    assert_allclose(ranking.scores[clear], np.minimum.accumulate(products), rtol=1e-4)


def test_scores_fall_strictly_and_a_gap_lies_above_features_that_may_follow_the_graph_by_chance():
    X, A, blocks = planted(n_informative=4, n_redundant=0, n_noise=20)
    ranking = ranking_of(X, A, [blocks], 24)
    assert 0 < ranking.is_clear.sum() < 24
    assert (np.diff(ranking.scores[ranking.order]) < 0).all()
    assert (ranking.scores > 0).all()
    assert ranking.scores[~ranking.is_clear].max() <= ranking.scores[ranking.is_clear].min() / 2


@pytest.mark.parametrize("seed", range(3))
def test_enough_features_are_the_fewest_that_explain_80_percent_of_what_all_explain(seed):
    X, A, blocks = planted(seed, n_noise=30)
    graph = check_attributed_graph(X, A)
    regression, gains = regression_of(A, X, [blocks]), gains_by_models(graph, [blocks])
    n = enough_features(regression, gains, regression.share_of_all())
    U, T, order = reference.design(X), target_of(A, [blocks]), rank_features(regression, gains, 42).order
    shares = [reference.share(U, T, order[:d], regression.ridge) for d in (n - 1, n)]
    everything = reference.share(U, T, np.arange(42), regression.ridge)
    assert 1 < n < 42
    assert shares[0] < 0.8 * everything <= shares[1]


def test_where_all_features_take_too_long_enough_is_a_share_of_the_first_500():
    X, A, blocks = planted(n_noise=600)
    regression, gains = regression_of(A, X, [blocks]), gains_by_models(check_attributed_graph(X, A), [blocks])
    shares = regression.cumulative(rank_features(regression, gains, 500).order[:500])
    assert enough_features(regression, gains, None) == 1 + np.flatnonzero(shares >= 0.8 * shares[-1])[0]


def test_the_first_of_a_longer_selection_are_those_of_a_shorter_one():
    X, A, blocks = planted(n_informative=20)
    long = ranking_of(X, A, [blocks], 16)
    for n in (1, 4, 9):
        short = ranking_of(X, A, [blocks], n)
        assert_array_equal(short.order[:n], long.order[:n])
        assert_allclose(short.scores[short.order[:n]], long.scores[long.order[:n]])


def test_a_copy_of_a_selected_feature_adds_little():
    X, A, blocks = planted()
    first, second = ranking_of(X, A, [blocks], 2).order[:2]
    doubled = ranking_of(np.column_stack([X, X[:, first]]), A, [blocks], 2)
    assert doubled.order[0] == first  # the lower index of two identical features
    assert doubled.order[1] == second  # not the copy, which is as good by itself
    assert doubled.alone[24] == pytest.approx(doubled.alone[first])
    assert 0 < doubled.added[24] < 0.5 * doubled.added[first]


def test_features_that_are_not_clear_follow_all_others_by_their_gain():
    X, A, blocks = planted()
    by_blocks, by_links = np.zeros(24), np.zeros(24)
    by_blocks[:6], by_links[6:10] = 4.6, 4.6  # √9.2 > 3
    by_blocks[10], by_links[10] = 2.4, 2.4  # √9.6 > 3
    by_blocks[11:] = np.linspace(0, 4.4, 13)  # √8.8 < 3
    for n_wanted in (3, 20):
        order = rank_features(regression_of(A, X, [blocks]), gains_of(by_blocks, by_links), n_wanted).order
        assert set(order[:11]) == set(range(11))
        assert_array_equal(order[11:], np.arange(23, 10, -1))


def test_where_no_feature_is_clear_all_are_ranked_by_their_gain():
    X, A, blocks = planted()
    gains = np.random.default_rng(0).permutation(24) / 10
    ranking = rank_features(regression_of(A, X, [blocks]), gains_of(gains), 5)
    assert_array_equal(ranking.order, np.argsort(-gains))
    assert (ranking.scores > 0).all()
    assert (np.diff(ranking.scores[ranking.order]) <= 0).all()


def test_without_a_gain_by_blocks_an_effect_size_is_still_above_zero():
    sizes = effect_sizes(gains_of([-3.0, 0.0, 0.25, 1.0]), np.ones((2, 4)))
    assert_allclose(sizes, [0.5, 0.5, 0.5, 1.0])
    assert effect_sizes(gains_of([1.0]), np.zeros((2, 1))) == pytest.approx(2**0.5)  # nobody has it


def test_after_500_steps_features_are_ranked_by_what_each_would_add_next():
    X, A, blocks = planted(n_noise=600)
    regression, gains = regression_of(A, X, [blocks]), gains_of(np.full(612, 10.0))
    ranking, shorter = rank_features(regression, gains, 520), rank_features(regression, gains, 500)
    assert_array_equal(ranking.order, shorter.order)
    criterion = shorter.added * effect_sizes(gains, X)
    assert (np.diff(criterion[shorter.order[500:]]) <= 1e-15).all()
    first = ranking.order[:520]
    assert_allclose(ranking.added[first], np.diff(regression.cumulative(first), prepend=0), atol=1e-12)


@given(seed=seeds)
def test_shares_of_any_network_lie_between_zero_and_one(seed):
    A, X, labels = two_models(seed)
    ranking = ranking_of(X, A, labels, 7)
    assert (ranking.alone >= 0).all()
    assert (ranking.alone < 1).all()
    shares = ranking.regression.cumulative(ranking.order)
    assert (np.diff(shares, prepend=0) >= 0).all()
    assert shares[-1] < 1
    assert ranking.alone.max() <= shares[-1] + 1e-12
