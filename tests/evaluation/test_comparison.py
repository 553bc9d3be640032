"""A comparison has a row for each method and number, ranks once, and survives methods that fail."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from blockselect import SELECTORS, BlockModelSelector, RowChunks, compare_methods, make_attributed_blocks
from blockselect.baselines.by_features.variance import VarianceScore
from blockselect.evaluation import classify_selection, evaluate_selection, hide_links, predict_links
from blockselect.evaluation.comparison import PROTOCOLS, rank_by_method
from blockselect.evaluation.comparison_result import (
    ALL_FEATURES,
    Comparison,
    ComparisonRow,
    Figure,
    agreement,
    cells,
    header,
    markdown_table,
)
from blockselect.inputs import check_attributed_graph
from blockselect.registry import Method


@pytest.fixture(scope="module")
def graph():
    return make_attributed_blocks(90, 3, n_informative=10, n_redundant=0, n_noise=30, random_state=1).graph


class Broken(VarianceScore):
    def fit(self, X, y=None, **options):
        raise ZeroDivisionError("by nothing")


class Scoreless(VarianceScore):
    def _score(self, features, affinity):
        return np.full(features.shape[1], np.nan)


@pytest.fixture
def fits(monkeypatch):
    """The settings of each fit of the method "recorded"; the methods "broken" and "scoreless" are registered too."""
    made = []

    class Recorded(BlockModelSelector):
        def fit(self, X, y=None, **options):
            made.append((self.n_features_to_select, self.n_blocks, self.random_state))
            return super().fit(X, y, **options)

    for name, selector in (("recorded", Recorded), ("broken", Broken), ("scoreless", Scoreless)):
        monkeypatch.setitem(SELECTORS, name, Method(selector, name, "none", "checked", ""))
    return made


def compare(graph, methods, numbers, **settings):
    """Compare with known classes, as in the paper, unless the settings say otherwise."""
    return compare_methods(graph, methods=methods, n_features=numbers, **{"protocol": "clustering", **settings})


def test_rows_are_all_features_and_then_each_method_at_each_number(graph):
    rows = compare(graph, ["variance", "morans-i"], [4, 9], n_blocks=3, n_runs=2).rows
    expected = [(ALL_FEATURES, 40), ("variance", 4), ("variance", 9), ("morans-i", 4), ("morans-i", 9)]
    assert [(row.method, row.n_features) for row in rows] == expected
    assert [row.n_selected for row in rows] == [40, 4, 9, 4, 9]
    assert all(row.error is None for row in rows)


def test_each_method_ranks_once_for_the_largest_number(graph, fits):
    compared = compare(graph, ["recorded", "variance", "recorded"], [9, 4, 9], n_blocks=3, n_runs=1, random_state=7)
    assert compared.methods == ["recorded", "variance"]
    assert fits == [(9, 3, 7)]


def test_scores_are_those_of_the_protocol_on_the_best_features(graph):
    row = compare(graph, ["block-model"], [6], n_blocks=3, n_runs=3, random_state=5).rows[1]
    selector = BlockModelSelector(6, n_blocks=3, random_state=5).fit(graph.features, adjacency=graph.adjacency)
    scores = evaluate_selection(graph.features, graph.classes, selector.support_, n_runs=3)
    assert row.figures == {
        "accuracy": Figure(scores.accuracy, scores.accuracy_sd),
        "nmi": Figure(scores.nmi, scores.nmi_sd),
    }
    assert row.coverage == 1 - scores.n_zero_rows / graph.n_nodes
    assert row.seconds > 0


def test_classification_is_that_of_the_library(graph):
    row = compare(graph, ["variance"], [6], n_blocks=3, protocol="classification", n_runs=3).rows[1]
    columns, _ = rank_by_method("variance", graph, 6, 3, 0)
    scores = classify_selection(graph.features, graph.classes, columns, adjacency=graph.adjacency, n_runs=3)
    assert row.figures["accuracy"] == Figure(scores.accuracies.mean(), scores.accuracies.std())
    assert row.figures["averaged_accuracy"].mean == scores.averaged_accuracies.mean()


def test_hidden_links_are_hidden_from_the_methods(graph):
    row = compare(graph, ["morans-i"], [6], n_blocks=3, protocol="links", n_runs=3, random_state=4).rows[1]
    split = hide_links(graph.adjacency, random_state=4)
    chosen = [
        np.sort(rank_by_method("morans-i", replace(graph, adjacency=links), 6, 3, 4)[0])
        for links in (split.kept, graph.adjacency)
    ]
    assert chosen[0].tolist() != chosen[1].tolist()
    scores = predict_links(graph.features, split, chosen[0], n_runs=3)
    assert row.figures == {"auc": Figure(scores.aucs.mean(), scores.aucs.std())}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_has_its_measures_in_all_rows_and_says_how_it_judges(graph, protocol):
    compared = compare(graph, ["variance"], [4], n_blocks=3, protocol=protocol, n_runs=2)
    for row in compared.rows:
        assert list(row.figures) == list(compared.titles)
        assert all(0 <= figure.mean <= 1 for figure in row.figures.values())
    assert "2 runs" in compared.description
    record = compared.rows[1].record(compared.titles)
    assert [name for name in record if name.endswith("_sd")] == [f"{name}_sd" for name in compared.titles]


def test_a_method_that_fails_is_rows_with_its_error_and_the_others_go_on(graph, fits):
    compared = compare(graph, ["broken", "variance"], [4, 9], n_blocks=3, n_runs=1)
    assert compared.errors == {"broken": "ZeroDivisionError: by nothing"}
    failed = [row for row in compared.rows if row.method == "broken"]
    assert [(row.n_features, row.figures, row.seconds) for row in failed] == [(4, {}, None), (9, {}, None)]
    assert [bool(row.figures) for row in compared.rows if row.method == "variance"] == [True, True]
    assert list(compared.overlap()) == ["variance"]


def test_progress_is_reported_step_by_step_also_of_a_failure(graph, fits):
    steps = []
    compare(graph, ["broken", "variance"], [4, 9], n_blocks=3, n_runs=1, progress=lambda *step: steps.append(step))
    assert steps == [
        (ALL_FEATURES, 0, 1),
        (ALL_FEATURES, 1, 1),
        ("broken", 0, 3),
        ("broken", 3, 3),
        ("variance", 0, 3),
        ("variance", 1, 3),
        ("variance", 2, 3),
        ("variance", 3, 3),
    ]


def test_fewer_features_than_asked_for_are_counted_and_warned_of(graph):
    features = graph.features.toarray()
    features[:, 5:] = 1  # constant: no variance
    sparse_in_sense = check_attributed_graph(features, graph.adjacency, classes=graph.classes)
    ranked, (warning,) = rank_by_method("variance", sparse_in_sense, 8, 3, 0)
    assert len(ranked) == 5
    assert "only 5 of the 8 requested features" in warning
    assert rank_by_method("variance", graph, 8, 3, 0)[1] == ()


def test_a_method_that_scores_no_feature_is_an_error_row(graph, fits):
    row = compare(graph, ["scoreless"], [4], n_blocks=3, n_runs=1).rows[1]
    assert (row.n_selected, row.figures) == (0, {})
    assert "no feature has a score" in row.error


def test_warnings_of_the_library_reach_the_comparison_and_not_the_caller(graph, recwarn):
    features = graph.features.toarray()
    features[:, 5:] = 1
    constant = check_attributed_graph(features, graph.adjacency, classes=graph.classes)
    compared = compare(constant, ["variance"], [8], n_blocks=3, n_runs=1)
    assert len(compared.warnings["variance"]) == 1
    assert not [warning for warning in recwarn if issubclass(warning.category, ConvergenceWarning)]


def test_a_network_without_classes_and_bad_numbers_are_refused(graph, fits):
    nameless = check_attributed_graph(graph.features, graph.adjacency)
    with pytest.raises(ValueError, match="no classes to compare with"):
        compare(nameless, ["recorded"], [4], n_blocks=3)
    with pytest.raises(ValueError, match=r"no protocol is called 'clusters'.*Did you mean clustering\?"):
        compare(graph, ["recorded"], [4], n_blocks=3, protocol="clusters")
    for numbers, named in (([], r"\[\]"), ([0], "0"), ([41], "41"), ("16", "'16'")):
        with pytest.raises(ValueError, match=f"n_features is {named}; .*from 1 to 40"):
            compare(graph, ["recorded"], numbers, n_blocks=3)
    with pytest.raises(ValueError, match="n_jobs is 0"):
        compare(graph, ["recorded"], [4], n_blocks=3, protocol="links", n_jobs=0)
    assert fits == []
    assert compare(nameless, ["variance"], [4], n_blocks=None, protocol="links", n_runs=1).errors == {}


def test_agreement_is_the_mean_jaccard_index_with_the_others():
    chosen = {
        ("a", 2): np.array([0, 1]),
        ("b", 2): np.array([1, 2]),
        ("c", 2): np.array([0, 1]),
        ("a", 1): np.array([0]),
    }
    assert agreement("a", 2, chosen) == pytest.approx((1 / 3 + 1) / 2)
    assert agreement("a", 1, chosen) is None
    assert agreement("failed", 2, chosen) is None


def test_methods_are_compared_without_classes():
    network = make_attributed_blocks(60, 2, random_state=0)
    graph = check_attributed_graph(network.features, network.adjacency)
    compared = compare(graph, ["variance", "morans-i"], [5], n_blocks=None, protocol="structure", n_runs=2)
    every, *ranked = compared.rows
    assert every.agreement is None
    assert ranked[0].agreement == ranked[1].agreement is not None
    assert all(row.figures["explained_links"].mean >= 0 for row in ranked)
    assert all(row.seconds is not None for row in ranked)


TITLES = {"accuracy": "ACC", "nmi": "NMI"}
FIGURES = {"accuracy": Figure(0.51234, 0.01), "nmi": Figure(0.2, 0.005)}
SCORED = ComparisonRow("variance", 16, 15, FIGURES, 0.38, 123.4, agreement=0.256)
FAILED = ComparisonRow("ndfs", 16, error="a | b, c")


def test_csv_holds_every_field_in_full_and_nothing_for_what_is_missing():
    scored, failed = csv.DictReader(
        io.StringIO(Comparison(TITLES, "", None, [], [SCORED, FAILED]).table().to_csv(index=False))
    )
    assert float(scored["accuracy"]) == 0.51234
    assert (scored["method"], scored["n_selected"], scored["error"]) == ("variance", "15", "")
    assert list(scored) == [
        "method",
        "n_features",
        "n_selected",
        "accuracy",
        "accuracy_sd",
        "nmi",
        "nmi_sd",
        "coverage",
        "seconds",
        "agreement",
        "error",
    ]
    assert (failed["accuracy"], failed["seconds"], failed["error"]) == ("", "", "a | b, c")


def test_rows_for_people_are_rounded_and_say_what_failed():
    assert dict(zip(header(TITLES), cells(SCORED, TITLES), strict=True)) == {
        "method": "variance",
        "d": "16",
        "selected": "15",
        "ACC ± sd": "0.512 ± 0.010",
        "NMI ± sd": "0.200 ± 0.005",
        "coverage": "38 %",
        "agreement": "0.26",
        "seconds": "123",
    }
    assert cells(FAILED, TITLES) == ("ndfs", "16", "", "failed", "", "", "", "")


def test_markdown_keeps_bars_inside_their_cells():
    assert markdown_table(["a", "b"], [["x|y", "1"]]) == "| a | b |\n| --- | ---: |\n| x\\|y | 1 |\n"


@pytest.fixture(scope="module")
def compared(graph):
    """A comparison of three methods without labels, on features with names."""
    return compare_methods(
        graph.frame, adjacency=graph.adjacency, methods=["block-model", "morans-i", "variance"], n_features=[4, 9],
        n_runs=2,
    )  # fmt: skip


def test_labels_and_a_number_of_blocks_are_not_needed(graph):
    compared = compare_methods(graph.features, adjacency=graph.adjacency, methods=["bmgufs", "mcfs"], n_runs=1)
    assert list(compared.titles) == ["explained_links"]
    assert compared.errors == {}
    assert compared.n_blocks is None
    assert compared.numbers == [16]  # of 16 and 64, as there are 40 features


def test_without_a_number_half_of_few_features_are_selected(graph):
    compared = compare_methods(graph.features[:, :11], adjacency=graph.adjacency, methods=["variance"], n_runs=1)
    assert compared.numbers == [6]


def test_classes_are_read_by_the_protocol_alone_and_count_the_blocks(graph):
    names = np.array(["red", "green", "blue"])[graph.classes]
    compared = compare_methods(
        graph.features, adjacency=graph.adjacency, classes=names, methods=["mcfs"], n_features=4, n_runs=1
    )
    assert list(compared.titles) == ["accuracy", "nmi"]
    assert compared.n_blocks == 3
    with pytest.raises(ValueError, match=r"classes has shape \(5,\) but there are 90 nodes"):
        compare_methods(graph, classes=names[:5])


def test_a_graph_that_comes_twice_is_refused(graph):
    with pytest.raises(ValueError, match="adjacency is given, but X is an AttributedGraph"):
        compare_methods(graph, adjacency=graph.adjacency)


def test_row_chunks_are_refused(graph):
    with pytest.raises(ValueError, match="X is RowChunks, but a comparison needs the features in memory"):
        compare_methods(RowChunks(lambda: [graph.features]), adjacency=graph.adjacency)


def test_all_is_every_method_and_one_name_is_a_mistake(graph):
    assert compare_methods(graph, methods="all", n_features=4, n_runs=1).methods == list(SELECTORS)
    with pytest.raises(ValueError, match=r"expected 'all' or a list of names: \['variance'\]"):
        compare_methods(graph, methods="variance")


def test_the_table_has_a_row_for_each_method_and_number(compared):
    table = compared.table()
    assert table["method"].tolist() == ["all-features", *np.repeat(["block-model", "morans-i", "variance"], 2)]
    assert table["n_selected"].tolist() == [40, 4, 9, 4, 9, 4, 9]
    assert (table["seconds"][1:] > 0).all()


def test_overlap_is_the_jaccard_index_of_every_two_selections(compared):
    overlap = compared.overlap(4)
    assert list(overlap) == list(overlap.index) == compared.methods
    one, other = (set(compared.selections[method, 4].tolist()) for method in ("morans-i", "variance"))
    assert (
        overlap.loc["morans-i", "variance"]
        == overlap.loc["variance", "morans-i"]
        == len(one & other) / len(one | other)
    )
    assert (np.diag(overlap) == 1).all()
    with pytest.raises(ValueError, match=r"n_features is 5; choose one of \[4, 9\]"):
        compared.overlap(5)


def test_features_of_one_method_alone_come_by_name_and_rank(graph):
    names = ["a", "b", "c", "d"]
    compared = Comparison({"nmi": "NMI"}, "", None, names, [ComparisonRow("one", 3), ComparisonRow("two", 3)])
    compared.selections = {("one", 3): np.array([3, 1, 0]), ("two", 3): np.array([2, 1])}
    assert compared.found_by_one() == {"one": ["d", "a"], "two": ["c"]}


def test_it_draws_itself_and_is_short_in_a_prompt(compared):
    pytest.importorskip("matplotlib").use("agg")
    ax = compared.plot()
    assert ax.get_title(loc="left") == "links explained by method"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["all features"]
    assert sorted(text.get_text() for text in ax.texts) == sorted(compared.methods)
    assert repr(compared) == (
        "<Comparison of 3 methods at 4 and 9 features, evaluated by links explained; see table()>"
    )
    assert "<table" in compared._repr_html_()
