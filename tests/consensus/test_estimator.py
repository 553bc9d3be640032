"""BlockModelSelector: which candidates are kept, when their blocks are refined, and what it selects."""

import tracemalloc
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from blockselect import (
    BMGUFS,
    BlockModel,
    BlockModelSelector,
    find_block_models,
    load_cora,
    make_attributed_blocks,
    selection_stability,
)
from blockselect.blockmodels.candidates import find_candidates
from blockselect.blockmodels.n_blocks import count_blocks
from blockselect.consensus.likelihood import JointLikelihood
from blockselect.consensus.refine import refine_blocks
from blockselect.consensus.resampling import inverse_ranks, search_again
from blockselect.consensus.search import numbers_to_try
from blockselect.graphs.links import cap_weights, resample_links
from blockselect.rows.statistics import in_standard_form
from blockselect.utils._sklearn import check_parameters
from blockselect.utils.errors import ParameterError
from made_fits import QUICK, fit, precision
from made_graphs import reweighted
from references import explained as reference


@pytest.fixture(scope="module")
def hard_network():
    """With so few links that features help to find the blocks."""
    return make_attributed_blocks(200, 3, mean_degree=3, random_state=2)


@pytest.fixture(scope="module")
def hard_fit(hard_network):
    return fit(hard_network)


@pytest.mark.parametrize(("n_candidates", "n_kept"), [(1, 1), (4, 1), (9, 3), (24, 6)])
def test_a_quarter_of_the_candidates_is_kept_and_none_of_the_others_explains_more(hard_network, n_candidates, n_kept):
    selector = fit(hard_network, n_candidates=n_candidates)
    table = selector.candidates_table_
    assert len(table) == len(selector.candidates_) == n_candidates
    assert table["in_consensus"].sum() == len(selector.consensus_models_) == n_kept
    others = table.loc[~table["in_consensus"], "gain"]
    assert table.loc[table["in_consensus"], "gain"].min() >= others.max() or others.empty


def test_the_table_has_the_candidates_in_their_order(hard_network, hard_fit):
    table, likelihood = hard_fit.candidates_table_, JointLikelihood(hard_network.graph)
    assert list(table) == ["family", "n_blocks", "relative_error", "gain_at_start", "gain", "in_consensus"]
    for row, model in zip(table.itertuples(), hard_fit.candidates_, strict=True):
        assert (row.family, row.n_blocks, row.relative_error) == (model.family, model.n_blocks, model.relative_error)
        assert row.gain_at_start == pytest.approx(likelihood.gains([model.labels])[0])
    assert likelihood.gains([hard_fit.labels_])[0] == pytest.approx(table["gain"].max())


def test_the_best_of_the_consensus_models_is_the_block_model(hard_fit):
    assert hard_fit.block_model_ is hard_fit.consensus_models_[0]
    assert hard_fit.labels_ is hard_fit.block_model_.labels


def test_blocks_refined_with_the_features_explain_more(hard_fit):
    table = hard_fit.candidates_table_
    assert (table["gain"] >= table["gain_at_start"]).all()
    assert table["gain"].max() > 1.05 * table["gain_at_start"].max()


def test_without_refinement_candidates_are_kept_as_they_were_found(hard_network):
    selector = fit(hard_network, refine=False)
    best = selector.candidates_[selector.candidates_table_["gain"].argmax()]
    assert adjusted_rand_score(selector.labels_, best.labels) == 1  # the same blocks, numbered along their tree
    assert_array_equal(selector.candidates_table_["gain"], selector.candidates_table_["gain_at_start"])


def test_given_blocks_are_never_moved(hard_network):
    labels = hard_network.blocks.copy()
    labels[:60] = np.roll(labels[:60], 1)  # a refinement would put many of these back
    selector = fit(hard_network, block_model=labels)
    assert_array_equal(selector.labels_, labels)
    likelihood, rng = JointLikelihood(hard_network.graph), np.random.default_rng(0)
    (moved,) = refine_blocks(likelihood, [selector.block_model_], rngs=[rng])
    assert np.count_nonzero(moved.model.labels != labels) > 10


def test_blocks_of_ones_own_are_used_as_labels_or_as_a_model(network):
    model = BlockModel.from_labels(network.adjacency, network.blocks)
    by_labels, by_model = fit(network, block_model=network.blocks), fit(network, block_model=model)
    assert by_model.block_model_ is model
    assert_allclose(by_labels.scores_, by_model.scores_, atol=1e-12)
    F = np.eye(3)[network.blocks]
    for blocks in (F, sparse.csr_array(F), (F, model.density)):
        assert_array_equal(fit(network, block_model=blocks).scores_, by_labels.scores_)
    with pytest.raises(ValueError, match=r"3 block labels but the graph has 200 nodes"):
        fit(network, block_model=[0, 1, 2])


@pytest.mark.parametrize(
    ("options", "named", "why"),
    [
        ({"block_model": [0, 1] * 100, "n_blocks": 2}, "n_blocks", "the blocks are given as block_model"),
        ({"block_model": [0, 1] * 100, "max_blocks": 5}, "max_blocks", "the blocks are given as block_model"),
        ({"block_model": [0, 1] * 100, "n_candidates": 5}, "n_candidates", "the blocks are given as block_model"),
        ({"block_model": [0, 1] * 100, "refine": False}, "refine", "the blocks are given as block_model"),
        ({"n_blocks": 3, "max_blocks": 5}, "max_blocks", 'it only limits n_blocks="auto"'),
    ],
)
def test_a_parameter_without_effect_warns_and_changes_nothing(network, options, named, why):
    with pytest.warns(UserWarning, match=f"{named} is .*, which has no effect: {why}; leave one"):
        warned = fit(network, **options)
    alone = fit(network, **{name: value for name, value in options.items() if name != named})
    assert_array_equal(warned.scores_, alone.scores_)


def test_the_number_of_blocks_is_found_and_never_above_its_limit():
    network = make_attributed_blocks(300, 5, mean_degree=20, random_state=0)
    found, limited = (fit(network, n_blocks="auto", max_blocks=most).block_model_.n_blocks for most in (12, 3))
    assert (found, limited) == (5, 3)


REGIMES = {  # smallest precision of 30 features among 120; 0.25 by chance
    "assortative": ({}, 0.8),
    "sparse": ({"mean_degree": 3}, 0.75),
    "disassortative": ({"structure": "disassortative"}, 0.45),
    "dense disassortative": ({"structure": "disassortative", "mean_degree": 20}, 0.65),
    "core-periphery": ({"structure": "core-periphery"}, 0.35),
}


@pytest.mark.parametrize("regime", REGIMES)
def test_planted_features_are_found_however_blocks_connect(regime):
    structure, least = REGIMES[regime]
    found = []
    for seed in range(4):
        network = make_attributed_blocks(300, 4, n_noise=60, n_decoys=30, random_state=seed, **structure)
        selector = BlockModelSelector(30, n_candidates=12, random_state=seed)
        found.append(precision(network, selector.fit(network.features, adjacency=network.adjacency)))
    assert np.mean(found) > least


def test_features_that_are_all_noise_are_ranked_all_the_same():
    noise = make_attributed_blocks(150, 3, n_informative=0, n_redundant=0, n_noise=40, random_state=0)
    selector = fit(noise, 10)
    assert selector.n_features_ == 10
    assert sorted(selector.ranking_) == list(range(1, 41))


def test_counts_are_read_as_presence_but_other_values_as_they_are(network):
    counts = network.features * np.random.default_rng(0).integers(1, 50, size=(200, 1))
    assert sparse.issparse(counts)

    def scores(features, **options):
        selector = BlockModelSelector(5, block_model=network.blocks, **options)
        return selector.fit(features, adjacency=network.adjacency).scores_

    assert_array_equal(scores(counts), scores(network.features))
    assert_array_equal(scores(counts.toarray()), scores(network.features.toarray()))
    as_they_are, as_presence = scores(counts, binarize=False), scores(counts)
    assert np.abs(as_they_are - as_presence).max() > 0.01 * as_presence.max()
    real = network.features.toarray() + np.random.default_rng(0).random((200, 52))
    assert_array_equal(scores(real), scores(real, binarize=False))
    with pytest.raises(ValueError, match="binarize is True, which leaves every feature constant"):
        scores(real, binarize=True)


def test_an_empty_column_scores_zero_and_that_is_said(network):
    features = network.features.tolil()
    features[:, 5] = 0
    selector = BlockModelSelector(52, block_model=network.blocks)
    with pytest.warns(ConvergenceWarning, match="only 51 of the 52 .*: the other 1 have the same value for all nodes"):
        selector.fit(features, adjacency=network.adjacency)
    assert selector.scores_[5] == 0
    assert np.count_nonzero(selector.scores_) == selector.n_features_ == 51


def test_progress_goes_through_the_stages_and_ends_each(network):
    seen = []
    BlockModelSelector("auto", max_blocks=3, n_candidates=2, random_state=0).fit(
        network.features, adjacency=network.adjacency, progress=lambda *news: seen.append(news)
    )
    stages = ["number of blocks", "block models", "screening", "discoveries", "ranking"]
    assert list(dict.fromkeys(stage for stage, _, _ in seen)) == stages
    for of in stages:
        counts = [(done, total) for stage, done, total in seen if stage == of]
        assert counts[0][0] == 0
        assert all(done <= total for done, total in counts)
        assert counts[-1][0] == counts[-1][1]


@pytest.mark.parametrize("n_nodes", [2, 3, 4])
def test_tiny_networks_have_scores(n_nodes):
    path = np.diag(np.ones(n_nodes - 1), 1)
    for features in (np.eye(n_nodes), np.tri(n_nodes)):
        selector = BlockModelSelector(1, n_candidates=6, random_state=0).fit(features, adjacency=path + path.T)
        assert ((selector.scores_ >= 0) & (selector.scores_ <= 1)).all()
        assert ((selector.explained_ >= 0) & (selector.explained_ <= 1)).all()
        assert selector.n_features_ == 1


def test_features_that_are_all_the_same_for_all_nodes_leave_nothing_to_select():
    path = np.diag(np.ones(5), 1)
    with pytest.warns(ConvergenceWarning, match="only 0 of the 1 requested features .* the same value for all nodes"):
        selector = BlockModelSelector(1, random_state=0).fit(np.ones((6, 3)), adjacency=path + path.T)
    assert_array_equal(selector.scores_, 0)


def test_nodes_without_links_or_features_change_little():
    network = make_attributed_blocks(150, 3, mean_degree=15, random_state=0)
    adjacency, features = network.adjacency.tolil(), network.features.tolil()
    adjacency[:15], adjacency[:, :15], features[10:20] = 0, 0, 0
    selector = BlockModelSelector(30, **QUICK).fit(features.tocsr(), adjacency=adjacency.tocsr())
    assert precision(network, selector) >= precision(network, fit(network, 30)) - 0.15


def test_a_graph_of_self_loops_alone_is_refused_before_any_work(network):
    loops = sparse.eye_array(network.graph.n_nodes, format="csr")
    with pytest.raises(ValueError, match="no link joins two different nodes"):
        BlockModelSelector(5).fit(network.features, adjacency=loops)


def test_on_resampled_graphs_blocks_are_refined_where_those_of_the_fit_were(hard_network):
    settings = {"adjacency": hard_network.adjacency, "n_resamples": 3}
    refined, plain = (fit(hard_network, refine=refine) for refine in (True, False))
    plain.consensus_models_ = refined.consensus_models_  # only refinement on the resampled graphs differs
    one, two = (selection_stability(selector, hard_network.features, **settings) for selector in (refined, plain))
    assert (one != two).any()


def test_why_there_are_as_many_blocks_follows_what_showed_them():
    planted = make_attributed_blocks(
        600, 8, mean_degree=3, n_informative=240, n_redundant=0, n_noise=40, random_state=0
    )
    found = BlockModelSelector(20, random_state=0).fit(planted.features, adjacency=planted.adjacency)
    by_links = count_blocks(planted.adjacency, rng=np.random.default_rng(0)).n_blocks
    assert found.block_model_.n_blocks > by_links  # features reveal more blocks
    assert f"more than the {by_links} found from the links only" in found.n_blocks_reason_
    asked = BlockModelSelector(20, n_blocks=8, random_state=0).fit(planted.features, adjacency=planted.adjacency)
    assert asked.n_blocks_reason_ == "as requested"


def test_what_a_fit_says_of_itself_is_not_changed_by_a_test_on_capped_weights():
    planted = make_attributed_blocks(200, 4, mean_degree=6, random_state=0)
    rng = np.random.default_rng(0)
    adjacency = reweighted(planted.adjacency, lambda row, _: 1 + rng.pareto(0.5, len(row)))
    graphs = (adjacency, cap_weights(adjacency))
    by_links, by_capped = (count_blocks(graph, rng=np.random.default_rng(0)).n_blocks for graph in graphs)
    assert by_links != by_capped
    of_auto = fit(planted, "auto", adjacency, n_blocks="auto", n_candidates="auto")
    of_number = fit(planted, of_auto.n_features_, adjacency, n_blocks="auto", n_candidates="auto")
    assert "than the 2 found from the links only" in of_number.n_blocks_reason_
    assert (of_auto.n_blocks_reason_, of_auto.effort_) == (of_number.n_blocks_reason_, of_number.effort_)
    assert of_auto.candidates_table_.equals(of_number.candidates_table_)
    assert_array_equal(of_auto.labels_, of_number.labels_)
    assert_array_equal(of_auto.scores_, of_number.scores_)


def ranks_on_resampled(network, selector, **settings):
    rngs = np.random.default_rng(0).spawn(8)
    graphs = [resample_links(network.adjacency, np.random.default_rng(seed)) for seed in range(8)]
    every = np.ones(network.graph.n_nodes, dtype=bool)
    settings = {"searched": True, "refine": True, "max_iter": 100, "n_to_rank": 10, **settings}
    return inverse_ranks(selector.consensus_models_, network.graph, every, graphs, rngs, **settings)


def test_on_every_fourth_resampled_graph_blocks_are_found_anew(hard_network, hard_fit):
    seen = []
    anew = ranks_on_resampled(hard_network, hard_fit, progress=lambda *news: seen.append(news))
    of_fit = ranks_on_resampled(hard_network, hard_fit, searched=False)
    assert_array_equal((anew != of_fit).any(axis=1), [False, False, False, True] * 2)
    assert seen == [("resampling", done, 8) for done in range(9)]


@pytest.mark.parametrize("refine", [True, False])
def test_blocks_found_anew_are_the_best_of_two_starts_of_the_families_that_were_kept(network, refine):
    kept, likelihood = fit(network).consensus_models_, JointLikelihood(network.graph)
    rng = np.random.default_rng(0)
    starts = [
        find_candidates(network.adjacency, network.features, {3: 1}, family=one.family, rng=rng, max_iter=100)[0]
        for one in (kept * 2)[:2]
    ]
    settings = {"refine": refine, "max_iter": 100}
    model = search_again(kept, likelihood, network.graph, np.random.default_rng(0), **settings)
    gains = likelihood.gains([one.labels for one in starts])
    if refine:
        assert likelihood.gains([model.labels])[0] >= max(gains) - 1e-9
    else:
        assert_array_equal(model.labels, starts[np.argmax(gains)].labels)


@pytest.mark.parametrize(
    ("by_links", "max_blocks", "n_nodes", "numbers"),
    [
        (3, 12, 200, [3, 4, 6, 8, 12]),
        (7, 20, 200, [7, 8, 12]),
        (3, 8, 200, [3, 4, 6, 8]),
        (12, 12, 200, [12]),
        (13, 20, 200, [13]),
        (1, 12, 10, [1, 3]),
        (2, 12, 4, [2]),
    ],
)
def test_as_many_blocks_as_links_show_are_tried_and_more_up_to_a_dozen(by_links, max_blocks, n_nodes, numbers):
    ring = sparse.eye_array(n_nodes, k=1) + sparse.eye_array(n_nodes, k=-1)
    count = count_blocks(sparse.csr_array(ring), max_blocks=max_blocks, rng=np.random.default_rng(0))
    assert numbers_to_try(replace(count, n_blocks=by_links)) == numbers


@pytest.mark.parametrize(("n_candidates", "n_more"), [(8, 2), (3, 1)])
def test_a_quarter_as_many_candidates_have_the_most_blocks_allowed(network, n_candidates, n_more):
    selector = fit(network, n_blocks="auto", max_blocks=5, n_candidates=n_candidates)
    numbers = selector.candidates_table_["n_blocks"]
    assert (numbers > 3).sum() == n_more  # some families end with fewer blocks than requested
    assert (numbers <= 3).sum() == n_candidates


@pytest.mark.parametrize(
    ("name", "least", "below"),
    [
        ("n_blocks", 1, 0),
        ("max_blocks", 2, 1),
        ("n_candidates", 1, 0),
        ("n_neighbors", 1, 0),
    ],
)
def test_the_least_value_of_a_parameter_is_accepted_and_what_lies_below_refused(name, least, below):
    check_parameters(BlockModelSelector(**{name: least}))
    with pytest.raises(ParameterError, match=f"^{name} must be "):
        check_parameters(BlockModelSelector(**{name: below}))


def test_nodes_with_neither_links_nor_features_take_no_part_in_resampled_graphs_either(network):
    adjacency, features = sparse.block_diag([network.adjacency, np.zeros((2, 2))], format="csr"), network.features
    longer = sparse.vstack([features, sparse.csr_array((2, 52))], format="csr")
    plain, extended = fit(network), BlockModelSelector(12, **QUICK).fit(longer, adjacency=adjacency)
    assert_allclose(extended.scores_, plain.scores_)
    assert_allclose(
        selection_stability(extended, longer, adjacency=adjacency, n_resamples=4),
        selection_stability(plain, features, adjacency=network.adjacency, n_resamples=4),
    )


def target_of(network, selector):
    trees = JointLikelihood(network.graph).trees(selector.consensus_models_, renumber=False)
    labels, linkages = [tree.model.labels for tree in trees], [tree.linkage for tree in trees]
    assert_allclose(np.sort(linkages[0]), np.sort(selector.linkage_))  # branches may be drawn in another order
    return reference.target(network.adjacency.toarray(), labels, linkages)


@pytest.mark.parametrize("n", [1, 12, 52])
def test_what_the_selected_features_explain_is_their_share_of_the_consensus_models(network, n):
    """This includes features that may follow the graph by chance."""
    selector = fit(network, n)
    U = reference.design(network.features.toarray())
    T = target_of(network, selector)
    order, penalty = np.argsort(selector.ranking_), reference.ridge(U)
    shares = [reference.share(U, T, order[:k], penalty) for k in range(n + 1)]
    assert_allclose(selector.explained_, shares[1:], atol=1e-10)
    assert_allclose(selector.explained_more_[order[:n]], np.diff(shares), atol=1e-10)
    would_add = [reference.share(U, T, [*order[:n], other], penalty) - shares[-1] for other in order[n:]]
    assert_allclose(selector.explained_more_[order[n:]], would_add, atol=1e-10)
    alone = [reference.share(U, T, [feature], penalty) for feature in range(52)]
    assert_allclose(selector.explained_alone_, alone, atol=1e-10)


def test_discoveries_explain_what_they_explain_together(network):
    """Discoveries need not be the first features of the ranking."""
    selector = fit(network, "auto")
    found = np.argsort(selector.ranking_)
    found = found[selector.support_[found]]
    assert len(selector.explained_) == len(found) == selector.n_features_ > 3
    U = reference.design(network.features.toarray())
    T = target_of(network, selector)
    shares = [reference.share(U, T, found[: k + 1], reference.ridge(U)) for k in range(len(found))]
    assert_allclose(selector.explained_, shares, atol=1e-10)


def test_where_nothing_is_discovered_nothing_is_explained():
    noise = make_attributed_blocks(150, 3, n_informative=0, n_redundant=0, n_noise=40, random_state=0)
    with pytest.warns(ConvergenceWarning, match="no feature matches the graph better than chance"):
        selector = fit(noise, "auto")
    assert (selector.n_features_, selector.explained_.shape) == (0, (0,))
    assert sorted(selector.ranking_) == list(range(1, 41))


@pytest.mark.parametrize("n", [3, 12, 52])
def test_scores_fall_with_the_ranking_and_shares_never_do(network, n):
    selector = fit(network, n)
    assert (np.diff(selector.scores_[np.argsort(selector.ranking_)]) <= 0).all()
    assert (np.diff(selector.explained_, prepend=0) >= 0).all()
    assert selector.explained_.shape == (selector.n_features_,)
    assert_array_equal(selector.support_, selector.ranking_ <= n)


def test_one_block_leaves_nothing_to_explain_and_the_features_are_ranked_by_their_gains(network):
    selector = fit(network, 12, n_blocks=1)
    assert selector.n_features_ == 12
    assert_array_equal(selector.explained_, 0)
    assert_allclose(selector.scores_, 0, atol=1e-9)
    assert (np.diff(selector.scores_[np.argsort(selector.ranking_)]) < 0).all()
    assert precision(network, selector) > 0.7  # 0.23 by chance


def test_features_follow_the_two_sides_of_a_network_whose_links_all_cross():
    rng = np.random.default_rng(0)
    sides = np.arange(120) % 2
    links = np.triu((rng.random((120, 120)) < 0.15) & (sides[:, None] != sides), 1)
    follows = (np.arange(20) < 6) & (np.arange(20) % 2 == sides[:, None])  # three features of each side
    features = (rng.random((120, 20)) < np.where(follows, 0.7, 0.2)).astype(float)
    adjacency = (links | links.T).astype(float)
    selector = BlockModelSelector(6, n_blocks=2, random_state=0).fit(features, adjacency=adjacency)
    assert set(zip(selector.labels_, sides, strict=True)) in ({(0, 0), (1, 1)}, {(0, 1), (1, 0)})
    assert_array_equal(np.flatnonzero(selector.support_), np.arange(6))
    assert selector.explained_[-1] > 0.3


def test_fewer_features_are_the_first_of_more():
    cora = load_cora()
    few, many = (
        BlockModelSelector(n, n_blocks=7, n_candidates=6, random_state=0).fit(cora.features, adjacency=cora.adjacency)
        for n in (16, 64)
    )
    assert_array_equal(np.argsort(many.ranking_)[:16], np.argsort(few.ranking_)[:16])
    assert_allclose(many.explained_[:16], few.explained_)
    assert (few.support_ <= many.support_).all()


def stored_otherwise(features):
    """The same values, stored in other forms."""
    dense = features.toarray()
    with_zeros = sparse.coo_array(features)
    with_zeros = sparse.csr_array(
        (
            np.append(with_zeros.data, 0.0),
            (np.append(with_zeros.row, 0), np.append(with_zeros.col, np.argmin(dense[0]))),
        ),
        shape=features.shape,
    )
    unsorted = sparse.csr_array(features)[:, ::-1][:, ::-1]
    forms = {
        "csr_matrix": sparse.csr_matrix(features),
        "csc": sparse.csc_array(features),
        "coo": sparse.coo_array(features),
        "stored zero": with_zeros,
        "unsorted": unsorted,
        "dense": dense,
        "columns first": np.asfortranarray(dense),
        "frame": pd.DataFrame(dense, columns=[f"f{i}" for i in range(dense.shape[1])]),
        "float32": features.astype(np.float32),
        "dense float32": dense.astype(np.float32),
    }
    if (dense == np.round(dense)).all():
        forms |= {"int": dense.astype(np.int64), "sparse int": sparse.csc_array(dense.astype(np.int16))}
    return forms


def assert_the_same(again, plain, what):
    for name in ("ranking_", "support_", "labels_", "scores_", "explained_", "explained_more_", "explained_alone_"):
        assert_array_equal(getattr(again, name), getattr(plain, name), err_msg=f"{name}: {what}")


@pytest.mark.parametrize("values", ["binary", "counts", "dense"])
def test_the_form_in_which_features_are_stored_changes_nothing(values):
    network = make_attributed_blocks(
        150, 3, mean_degree=8, values="binary" if values == "dense" else values, random_state=1
    )
    features = network.features
    if values == "dense":  # more than a third are not zero; quarters are exact in single precision
        features = sparse.csr_array(features + np.random.default_rng(0).integers(0, 3, features.shape) / 4)
    plain = BlockModelSelector(12, **QUICK).fit(features, adjacency=network.adjacency)
    for what, form in stored_otherwise(features).items():
        assert_the_same(BlockModelSelector(12, **QUICK).fit(form, adjacency=network.adjacency), plain, what)
    for what, links in (("dense", network.adjacency.toarray()), ("csc", sparse.csc_array(network.adjacency))):
        assert_the_same(BlockModelSelector(12, **QUICK).fit(features, adjacency=links), plain, f"{what} links")


def test_of_cora_neither_storage_nor_threads_nor_processes_change_anything():
    cora = load_cora()

    def fitted(features=cora.features, **options):
        selector = BlockModelSelector(64, n_blocks=7, n_candidates=6, random_state=0, **options)
        return selector.fit(features, adjacency=cora.adjacency)

    plain = fitted()
    forms = stored_otherwise(cora.features)
    for what in ("csc", "dense", "float32", "int"):
        assert_the_same(fitted(forms[what]), plain, what)
    for limit in (1, 2):
        with threadpool_limits(limits=limit):
            assert_the_same(fitted(n_jobs=limit), plain, f"{limit} threads and jobs")


def test_dense_values_are_ranked_alike_with_any_number_of_threads():
    network = make_attributed_blocks(400, 3, mean_degree=8, n_noise=200, random_state=0)
    dense = network.features.toarray() + np.random.default_rng(0).random(network.features.shape)
    found, of_paper = [], []
    for limit in (1, 2):
        with threadpool_limits(limits=limit):
            found.append(BlockModelSelector(20, n_jobs=limit, **QUICK).fit(dense, adjacency=network.adjacency))
            paper = BMGUFS(20, block_model=network.blocks, n_jobs=limit).fit(dense, adjacency=network.adjacency)
            of_paper.append(paper._fit_result.explained)
    assert_the_same(found[1], found[0], "2 threads and jobs")
    assert of_paper[1] == of_paper[0]


@pytest.mark.parametrize("share", [1 / 3, 0.34])
def test_features_are_held_by_their_share_of_values_not_by_how_they_came(share):
    values = np.zeros((30, 10))
    values.flat[: round(share * 300)] = 2.5
    for form in (values, sparse.csr_array(values)):
        assert sparse.issparse(in_standard_form(form)) == (share == 1 / 3)
        again = in_standard_form(form)
        assert_array_equal(again.toarray() if sparse.issparse(again) else again, values)


@pytest.mark.parametrize(
    ("call", "most"),
    [
        (lambda X, A: find_block_models(A, 4, family="smoothed", features=X, n_candidates=1, rng=0), 3.7),
        (lambda X, A: BlockModelSelector(40, n_blocks=4, n_candidates=3, random_state=0).fit(X, adjacency=A), 4.7),
    ],
    ids=["smoothed", "fit"],
)
def test_a_large_network_takes_a_few_times_the_memory_of_its_data(call, most):
    large = make_attributed_blocks(
        21_000,
        4,
        mean_degree=20,
        n_informative=40,
        n_redundant=0,
        n_noise=5000,
        frequency=(0.01, 0.012),
        random_state=0,
    )
    matrices = large.features, large.adjacency
    n_bytes = sum(part.nbytes for matrix in matrices for part in (matrix.data, matrix.indices, matrix.indptr))
    tracemalloc.start()
    try:
        call(*matrices)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < most * n_bytes


@pytest.mark.parametrize("seed", range(5))
def test_unrelated_features_do_not_destroy_blocks_that_the_links_show(seed):
    club = nx.karate_club_graph()
    sides = [club.nodes[member]["club"] for member in club]
    noise = (np.random.default_rng(seed).random((34, 10)) < 0.3).astype(float)
    adjacency = nx.to_scipy_sparse_array(club, weight=None)
    selector = BlockModelSelector(n_blocks=2, random_state=seed).fit(noise, adjacency=adjacency)
    assert adjusted_rand_score(sides, selector.labels_) >= 0.77
    assert not selector.refined_
    assert selector.refine_reason_ == "the features are not associated with the clear blocks in the links"


def test_features_that_follow_the_blocks_refine_them():
    planted = make_attributed_blocks(200, 3, mean_degree=8, random_state=0)
    by_default, always = fit(planted), fit(planted, refine=True)
    assert by_default.refined_
    assert by_default.refine_reason_ == "the features are associated with the blocks found from the links"
    assert_array_equal(by_default.labels_, always.labels_)
