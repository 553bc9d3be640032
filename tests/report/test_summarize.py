"""The summary says what the selector found, and agrees with a slow count of it."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from blockselect import BMGUFS, BlockModelSelector, check_attributed_graph, make_attributed_blocks
from blockselect.consensus import search
from blockselect.report import blocks_table, summarize
from blockselect.report.page import make_report
from blockselect.report.summarize import block_patterns, small_blocks
from made_reports import planted


def fit(graph, top=3, **settings):
    settings = {"n_blocks": 2, "n_candidates": 6, "random_state": 0, **settings}
    return BlockModelSelector(top, **settings).fit(graph)


def fit_paper(graph, top=3, **settings):
    settings = {"n_blocks": 3, "n_candidates": 4, "random_state": 0, **settings}
    return BMGUFS(top, **settings).fit(graph)


def test_summary_survives_json(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_selected_features_are_those_of_the_selector_best_first(summary, selector):
    selected = summary["selected"]
    assert [row["rank"] for row in selected] == list(range(1, 8))
    assert {row["index"] for row in selected} == set(selector.get_support(indices=True).tolist())
    for row in selected:
        assert row["score"] == selector.scores_[row["index"]]
        assert row["rank"] == selector.ranking_[row["index"]]


def test_all_scores_and_ranks_follow_the_columns(summary, selector):
    assert summary["scores"] == selector.scores_.tolist()
    assert summary["ranking"] == selector.ranking_.tolist()
    assert summary["feature_names"] == [f"x{column}" for column in range(30)]


def test_block_means_are_the_means_over_the_nodes_of_each_block(summary, selector, graph):
    features, labels = graph.features.toarray(), selector.block_model_.labels
    for row in summary["selected"]:
        slow = [features[labels == block, row["index"]].mean() for block in range(3)]
        assert_allclose(row["block_means"], slow, rtol=1e-12)


def test_a_selected_feature_comes_with_prevalence_lift_and_the_block_it_marks(summary, selector, graph):
    features, labels = graph.features.toarray(), selector.labels_
    for row in summary["selected"]:
        column = features[:, row["index"]]
        assert row["prevalence"] == np.mean(column > 0)
        slow = [column[labels == block].mean() / column.mean() for block in range(3)]
        assert_allclose(row["block_lifts"], slow, rtol=1e-12)
        slow = selector.table().query("feature == @row['name']").iloc[0]
        if row["marked_block"] is None:
            assert (row["lift"], row["n_marked_blocks"], row["marked_blocks"], row["block_name"]) == (1, 0, [], None)
            continue
        assert row["lift"] == row["block_lifts"][row["marked_block"]]
        assert row["marked_blocks"][0] == row["marked_block"]
        assert len(row["marked_blocks"]) == row["n_marked_blocks"] == slow["n_marked_blocks"]
        assert row["block_name"] == selector.blocks_["name"][row["marked_block"]] == slow["block_name"]


def test_blocks_come_with_their_links_and_the_features_that_mark_them(summary, selector, graph):
    blocks, labels, A = summary["blocks"], selector.labels_, graph.adjacency.toarray()
    slow = [[A[labels == a][:, labels == b].sum() for b in range(3)] for a in range(3)]
    assert_allclose(blocks["link_weights"], slow)
    marked = {(row["index"], block) for row in summary["selected"] for block in row["marked_blocks"]}
    found = list(enumerate(blocks["described"]))
    assert {(row["column"], block) for block, one in found for row in one["markers"]} == marked
    for block, one in found:
        every = selector.describe_block(block).markers
        assert one["n_other_markers"] == (~every["selected"]).sum()
        assert [row["column"] for row in one["other_markers"]] == every.query("~selected")["column"].tolist()[:10]
        assert one["name"] == selector.blocks_["name"][block]


def test_the_tree_has_named_groups_of_all_blocks_at_each_level(graph):
    selector = fit(graph, 7, n_blocks=6)
    summary = summarize(selector)
    coarse, fine = summary["tree"]
    assert [len(level) for level in summary["tree"]] == [3, 6]
    groups = selector.labels_at(3)
    for number, group in enumerate(coarse):
        assert sorted(group["blocks"]) == np.unique(selector.labels_[groups == number]).tolist()
        assert group["size"] == np.count_nonzero(groups == number)
    assert [group["name"] for group in fine] == selector.blocks_["name"].tolist()
    assert summary["blocks"]["order"] == list(range(6))
    assert summarize(fit_paper(graph))["tree"] is summarize(fit(graph, n_blocks=1, n_candidates=1))["tree"] is None


def test_given_blocks_keep_their_numbers_and_are_ordered_along_the_tree(graph):
    labels = np.array([0, 3, 1, 4, 2, 5])[fit(graph, 7, n_blocks=6).labels_]
    summary = summarize(BlockModelSelector(7, block_model=labels, random_state=0).fit(graph))
    order = summary["blocks"]["order"]
    assert sorted(order) == list(range(6)) != order
    for group in summary["tree"][0]:
        places = sorted(order.index(block) for block in group["blocks"])
        assert places == list(range(places[0], places[0] + len(places)))


def slow_pattern(pairs):
    return np.array([(row - row.mean()) / row.std() for row in pairs])


@pytest.mark.parametrize("kind", [BlockModelSelector, BMGUFS])
def test_blocks_are_alike_by_the_products_of_the_selected_features_of_their_nodes(graph, kind):
    selector = kind(7, n_blocks=3, n_candidates=2, random_state=0).fit(graph.features, adjacency=graph.adjacency)
    blocks, labels = summarize(selector)["blocks"], selector.labels_
    Y = graph.features.toarray()[:, selector.support_]
    slow = [[(Y[labels == a] @ Y[labels == b].T).mean() for b in range(3)] for a in range(3)]
    assert_allclose(blocks["similarity"], slow, rtol=1e-12)
    assert_allclose(blocks["feature_pattern"], slow_pattern(np.array(slow)), rtol=1e-9)
    assert_allclose(blocks["link_pattern"], slow_pattern(selector.block_model_.reflected().density), rtol=1e-9)


def test_patterns_have_one_scale_however_strong_a_block_is_and_even_rows_are_zero():
    patterns = block_patterns(np.array([[100.0, 0.0, 0.0], [0.1, 0.2, 0.3], [5.0, 5.0, 5.0]]))
    assert_allclose(patterns[:2].mean(axis=1), 0, atol=1e-12)
    assert_allclose(patterns[:2].std(axis=1), 1)
    assert not patterns[2].any()


def test_links_of_blocks_that_link_to_others_are_compared_by_how_alike_they_link(graph):
    assert summarize(fit(graph))["blocks"]["reflected"] is False
    two = np.repeat([0, 1], 20)
    links = (two[:, None] != two).astype(float)
    sides = check_attributed_graph(np.column_stack([two == 0, two == 1]).astype(float), links)
    selector = BlockModelSelector(2, block_model=two, random_state=0).fit(sides.features, adjacency=sides.adjacency)
    blocks = summarize(selector)["blocks"]
    assert blocks["reflected"] is True
    assert_allclose(blocks["link_pattern"], blocks["feature_pattern"], atol=1e-9)


def test_no_statement_depends_on_the_units_of_features_and_weights(graph):
    units = replace(graph, features=1e-3 * graph.features, adjacency=1e-6 * graph.adjacency)
    other = summarize(fit(units, 7, n_blocks=3))
    expected = summarize(fit(graph, 7, n_blocks=3))
    of_units = {"block_means", "density", "similarity", "link_weights", "candidates"}

    def check(found, wanted, path):
        if isinstance(wanted, dict):
            assert found.keys() == wanted.keys()
            for name in wanted.keys() - of_units:
                check(found[name], wanted[name], f"{path}.{name}")
        elif isinstance(wanted, list):
            assert len(found) == len(wanted), path
            for place, one in enumerate(wanted):
                check(found[place], one, f"{path}[{place}]")
        elif isinstance(wanted, float):
            assert found == pytest.approx(wanted, rel=1e-6, abs=1e-9), path
        else:
            assert found == wanted, path

    check(other, expected, "summary")


def test_blocks_and_candidates_are_those_of_the_selector(summary, selector):
    assert summary["blocks"]["sizes"] == selector.block_model_.block_sizes.tolist()
    assert summary["blocks"]["density"] == selector.block_model_.density.tolist()
    assert summary["candidate_errors"] == [model.relative_error for model in selector.candidates_]
    assert summary["relative_error"] == selector.block_model_.relative_error


def test_levels_and_the_reason_for_refinement_are_those_of_the_selector(graph, summary, selector):
    assert summary["levels"] == selector.levels_.to_dict("records")
    assert summary["blocks"]["refine"] == {
        "made": selector.refined_,
        "automatic": True,
        "reason": selector.refine_reason_,
    }
    paper, one_block = summarize(fit_paper(graph)), summarize(fit(graph, n_blocks=1, n_candidates=1))
    assert paper["levels"] is paper["blocks"]["refine"] is one_block["levels"] is None


def test_stability_is_a_measure_of_each_feature(summary, stability):
    assert summary["measures"]["stability"] == stability.tolist()
    for row in summary["selected"]:
        assert row["stability"] == stability[row["index"]]


def test_what_a_feature_adds_and_explains_alone_are_measures_of_the_default(graph, summary, selector):
    assert list(summary["measures"]) == ["beyond_chance", "explained_more", "explained_alone", "stability"]
    assert summary["measures"]["beyond_chance"] == selector.beyond_chance_.astype(int).tolist()
    assert summary["measures"]["explained_more"] == selector.explained_more_.tolist()
    assert summary["measures"]["explained_alone"] == selector.explained_alone_.tolist()
    for row in summary["selected"]:
        assert row["explained_more"] == selector.explained_more_[row["index"]]
    one_block = fit(graph, n_blocks=1, n_candidates=1)  # leaves nothing to explain
    assert summarize(one_block)["measures"] == {}


def test_stability_of_other_features_is_refused(selector, graph):
    with pytest.raises(ValueError, match=r"stability has shape \(5,\); expected one value for each of the 30 features"):
        summarize(selector, stability=np.ones(5))


def test_candidates_say_how_well_each_explains_and_which_are_kept(summary, selector):
    assert len(summary["candidates"]) == 6
    assert [row["gain"] for row in summary["candidates"]] == selector.candidates_table_["gain"].tolist()
    assert sum(row["in_consensus"] for row in summary["candidates"]) == len(selector.consensus_models_)


def test_effort_says_what_a_large_network_left_of_the_search(graph, summary, monkeypatch):
    assert summary["effort"]["was_cut"] is False
    assert summary["effort"]["candidates"] == {"asked": 6, "made": 6}
    monkeypatch.setattr(search, "BUDGET", 1.0)
    cut = summarize(fit(graph, n_candidates=9))["effort"]
    assert (cut["was_cut"], cut["candidates"], cut["rounds"]) == (
        True,
        {"asked": 9, "made": 3},
        {"asked": 50, "made_at_most": 5},
    )


def test_the_paper_has_a_descent_and_neither_kept_candidates_nor_measures(graph, summary):
    selector = fit_paper(graph)
    paper = summarize(selector)
    assert (paper["candidates"], paper["measures"], paper["blocks"]["automatic"]) == (None, {}, False)
    assert paper["effort"] is None
    assert paper["sparsity"] == selector.sparsity_ > 0
    assert paper["relative_error"] == paper["candidate_errors"][0] == min(paper["candidate_errors"])
    assert paper["loss_history"]["reconstruction"] == selector.history_.reconstruction.tolist()
    assert len(paper["loss_history"]["profile"]) == paper["n_iter"] + 1 == selector.n_iter_ + 1
    assert {summary[key] for key in ("sparsity", "loss_history", "n_iter")} == {None}
    assert json.loads(json.dumps(paper, allow_nan=False)) == paper


@pytest.mark.parametrize(("n_blocks", "automatic"), [(2, False), ("auto", True)])
def test_the_number_of_blocks_comes_with_who_chose_it(graph, n_blocks, automatic):
    selector = fit(graph, n_blocks=n_blocks, n_candidates=2)
    blocks = summarize(selector)["blocks"]
    assert (blocks["count"], blocks["automatic"]) == (selector.block_model_.n_blocks, automatic)


@pytest.mark.parametrize("kind", [BMGUFS, BlockModelSelector])
def test_blocks_of_ones_own_are_not_chosen(graph, kind):
    labels = np.arange(graph.n_nodes) % 3
    selector = kind(3, block_model=labels, random_state=0).fit(graph.features, adjacency=graph.adjacency)
    blocks = summarize(selector)["blocks"]
    assert (blocks["count"], blocks["automatic"]) == (3, False)


def test_discoveries_come_with_p_and_q_values_whatever_their_rank():
    graph = make_attributed_blocks(200, 3, mean_degree=10, random_state=0).graph
    selector = fit(graph, top="auto", n_blocks=3)
    summary = summarize(selector)
    found = {
        name: values for name, values in summary["measures"].items() if not name.startswith(("explained", "beyond"))
    }
    assert found == {"p_value": selector.p_values_.tolist(), "q_value": selector.q_values_.tolist()}
    assert [row["rank"] for row in summary["selected"]] == sorted(selector.ranking_[selector.support_])


def test_counts_of_a_network_written_by_hand():
    features = np.array([[1, 0, 2, 0], [1, 0, 1, 0], [0, 0, 1, 3], [0, 0, 0, 1], [0, 0, 0, 0]])
    adjacency = np.zeros((5, 5))
    for i, j in ((0, 1), (2, 3), (0, 0)):
        adjacency[i, j] = 1
    graph = check_attributed_graph(features, adjacency)
    counts = summarize(fit(graph, top=2))["counts"]
    assert {name: counts[name] for name in counts if name != "nodes_without_selected_features"} == {
        "nodes": 5,
        "links": 3,
        "self_loops": 1,
        "isolated_nodes": 1,
        "features": 4,
        "empty_features": 1,
        "selected_features": 2,
    }


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("top", [1, 3])
def test_nodes_without_selected_features_are_counted(graph, dense, top):
    features = graph.features.toarray()
    network = check_attributed_graph(features if dense else graph.features, graph.adjacency)
    selector = fit(network, top=top)
    slow = sum(not any(row[selector.support_]) for row in features)
    assert summarize(selector)["counts"]["nodes_without_selected_features"] == slow > 0


def test_dense_and_sparse_features_give_the_same_summary(graph):
    dense = check_attributed_graph(graph.features.toarray(), graph.adjacency)
    ours, theirs = (summarize(fit(network)) for network in (dense, graph))
    assert ours["counts"] == theirs["counts"]
    assert [row["index"] for row in ours["selected"]] == [row["index"] for row in theirs["selected"]]
    assert_allclose(ours["scores"], theirs["scores"], atol=1e-10)


def test_fewer_selected_than_asked_for_are_all_that_is_listed(graph):
    with pytest.warns(ConvergenceWarning, match="of the 25 requested features"):
        selector = fit_paper(graph, top=25, sparsity=4.0)
    summary = summarize(selector)
    assert len(summary["selected"]) == summary["counts"]["selected_features"] == selector.n_features_ < 25
    assert all(row["score"] > 0 for row in summary["selected"])


def test_names_are_the_graphs_own_as_text(graph):
    names = [("word", column) for column in range(graph.n_features)]
    named = check_attributed_graph(graph.features, graph.adjacency, feature_names=names)
    summary = summarize(fit(named))
    assert summary["feature_names"] == [str(name) for name in names]
    assert all(row["name"] == str(names[row["index"]]) for row in summary["selected"])


def test_a_selector_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        summarize(BlockModelSelector(3))


@pytest.mark.parametrize(
    ("sizes", "small"), [([100, 100], []), ([990, 10], []), ([1000, 9, 9], [1, 2]), ([1000, 9], []), ([1, 1, 1], [])]
)
def test_small_is_fewer_than_a_hundredth_of_the_nodes_and_not_alone(sizes, small):
    assert small_blocks(sizes) == small


@pytest.fixture(scope="module")
def fitted():
    graph = planted(400, 3)
    labels = np.zeros(400, dtype=int)
    labels[:200], labels[200:203], labels[203:206] = 1, 2, 3
    return graph, BlockModelSelector(5, block_model=labels, random_state=0).fit(
        graph.features, adjacency=graph.adjacency
    )


def test_small_blocks_are_said_in_the_page_and_the_table_and_stay_in_the_labels(fitted):
    _, selector = fitted
    summary = summarize(selector)
    assert np.bincount(selector.labels_).min() == 3
    assert len(summary["blocks"]["small"]) == 2
    rows = list(csv.DictReader(blocks_table(selector.blocks_, summary).splitlines()))
    assert [row["small"] for row in rows] == [str(int(int(row["size"]) < 4)) for row in rows]
    page = make_report(selector, summary=summary).html.replace("\N{NO-BREAK SPACE}", " ")
    assert "2 of them contain fewer than 1 % of the nodes each" in page
    assert "2 blocks with fewer than 1 % of the nodes each; together they contain 6 nodes (1.5 %)." in page
    assert page.count('<article class="card"') == 2


def test_typical_nodes_are_named_where_nodes_have_names(fitted):
    graph, selector = fitted
    assert all(block["typical_nodes"] == [] for block in summarize(selector)["blocks"]["described"])
    named = replace(graph, node_ids=np.array([f"node {i}" for i in range(400)], dtype=object))
    selector = BlockModelSelector(5, block_model=selector.labels_, random_state=0).fit(named)
    central = [block["typical_nodes"] for block in summarize(selector)["blocks"]["described"]]
    assert central == [selector.describe_block(block).typical_nodes for block in range(4)]
    assert len(central) == 4
    assert len(central[0]) == 5
    assert f'Typical nodes: <bdi title="{central[0][0]}">' in make_report(selector).html
