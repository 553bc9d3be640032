"""A comparison has a row for each method and number, ranks once, and survives methods that fail."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from blockselect import BlockModelSelector, make_attributed_blocks
from blockselect.evaluation import classify_selection, comparison, evaluate_selection, hide_links, predict_links
from blockselect.evaluation.comparison import (
    ALL_FEATURES,
    PROTOCOLS,
    Comparison,
    ComparisonRow,
    Figure,
    RankedFeatures,
    agreement,
    cells,
    compare_methods,
    csv_table,
    header,
    markdown_table,
    rank_features,
)
from blockselect.evaluation.process import CallError, Measured
from blockselect.graphs import check_attributed_graph


@pytest.fixture(scope="module")
def graph():
    return make_attributed_blocks(90, 3, n_informative=10, n_redundant=0, n_noise=30, random_state=1).graph


@pytest.fixture
def calls(monkeypatch):
    """Methods rank in this process; udfs fails. What was called, in order."""
    made = []

    def measure(function, *arguments):
        made.append(arguments)
        if arguments[0] == "udfs":
            raise CallError("its process ended.")
        return Measured(function(*arguments), seconds=0.5, peak_bytes=200_000_000, base_bytes=150_000_000)

    monkeypatch.setattr(comparison, "measure_in_fresh_process", measure)
    return made


def test_rows_are_all_features_and_then_each_method_at_each_number(graph, calls):
    rows = compare_methods(graph, ["variance", "morans-i"], [4, 9], n_blocks=3, n_runs=2).rows
    expected = [(ALL_FEATURES, 40), ("variance", 4), ("variance", 9), ("morans-i", 4), ("morans-i", 9)]
    assert [(row.method, row.n_features) for row in rows] == expected
    assert [row.n_selected for row in rows] == [40, 4, 9, 4, 9]
    assert all(row.error is None for row in rows)


def test_each_method_ranks_once_asked_for_the_most(graph, calls):
    compare_methods(graph, ["variance", "morans-i"], [9, 4], n_blocks=3, n_runs=1, seed=7)
    assert [call[0] for call in calls] == ["variance", "morans-i"]
    assert [call[2:] for call in calls] == [(9, 3, 7), (9, 3, 7)]


def test_scores_are_those_of_the_protocol_on_the_best_features(graph, calls):
    row = compare_methods(graph, ["block-model"], [6], n_blocks=3, n_runs=3, seed=5).rows[1]
    selector = BlockModelSelector(6, n_blocks=3, random_state=5).fit(graph.features, adjacency=graph.adjacency)
    scores = evaluate_selection(graph.features, graph.classes, selector.support_, n_runs=3)
    assert row.figures == {
        "accuracy": Figure(scores.accuracy, scores.accuracy_sd),
        "nmi": Figure(scores.nmi, scores.nmi_sd),
    }
    assert row.n_zero_rows == scores.n_zero_rows
    assert (row.seconds, row.peak_mb, row.base_mb) == (0.5, 200, 150)


def test_classification_is_that_of_the_library(graph, calls):
    row = compare_methods(graph, ["variance"], [6], n_blocks=3, protocol="classification", n_runs=3).rows[1]
    columns = rank_features("variance", graph, 6, 3, 0).best(6)
    scores = classify_selection(graph.features, graph.classes, columns, adjacency=graph.adjacency, n_runs=3)
    assert row.figures["accuracy"] == Figure(scores.accuracies.mean(), scores.accuracies.std())
    assert row.figures["averaged_accuracy"].mean == scores.averaged_accuracies.mean()


def test_hidden_links_are_hidden_from_the_methods(graph, calls):
    row = compare_methods(graph, ["morans-i"], [6], n_blocks=3, protocol="links", n_runs=3, seed=4).rows[1]
    split = hide_links(graph.adjacency, random_state=4)
    assert abs(calls[0][1].adjacency - split.kept).sum() == 0
    columns = rank_features("morans-i", calls[0][1], 6, 3, 4).best(6)
    scores = predict_links(graph.features, split, columns, n_runs=3)
    assert row.figures == {"auc": Figure(scores.aucs.mean(), scores.aucs.std())}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_has_its_measures_in_all_rows_and_says_how_it_judges(graph, calls, protocol):
    compared = compare_methods(graph, ["variance"], [4], n_blocks=3, protocol=protocol, n_runs=2)
    for row in compared.rows:
        assert list(row.figures) == list(compared.titles)
        assert all(0 <= figure.mean <= 1 for figure in row.figures.values())
    assert "2 runs" in compared.description
    record = compared.rows[1].record(compared.titles)
    assert [name for name in record if name.endswith("_sd")] == [f"{name}_sd" for name in compared.titles]


def test_a_method_that_fails_is_rows_with_its_error_and_the_others_go_on(graph, calls):
    compared = compare_methods(graph, ["udfs", "variance"], [4, 9], n_blocks=3, n_runs=1)
    assert compared.errors == {"udfs": "its process ended."}
    failed = [row for row in compared.rows if row.method == "udfs"]
    assert [(row.n_features, row.figures, row.seconds) for row in failed] == [(4, {}, None), (9, {}, None)]
    assert [bool(row.figures) for row in compared.rows if row.method == "variance"] == [True, True]


def test_progress_is_reported_step_by_step_also_of_a_failure(graph, calls):
    steps = []
    compare_methods(
        graph, ["udfs", "variance"], [4, 9], n_blocks=3, n_runs=1, progress=lambda *step: steps.append(step)
    )
    assert steps == [
        (ALL_FEATURES, 0, 1),
        (ALL_FEATURES, 1, 1),
        ("udfs", 0, 3),
        ("udfs", 3, 3),
        ("variance", 0, 3),
        ("variance", 1, 3),
        ("variance", 2, 3),
        ("variance", 3, 3),
    ]


def test_features_without_a_score_are_never_among_the_best():
    ranked = RankedFeatures(np.array([2, 1, 3, 4]), np.array([True, True, False, False]), ())
    assert ranked.best(1).tolist() == [1]
    assert ranked.best(2).tolist() == [0, 1]
    assert ranked.best(4).tolist() == [0, 1]


def test_fewer_features_than_asked_for_are_counted_and_warned_of(graph):
    features = graph.features.toarray()
    features[:, 5:] = 1  # constant: no variance
    sparse_in_sense = check_attributed_graph(features, graph.adjacency, classes=graph.classes)
    ranked = rank_features("variance", sparse_in_sense, 8, 3, 0)
    assert len(ranked.best(8)) == 5
    assert len(ranked.warnings) == 1
    assert "only 5 of the 8 features" in ranked.warnings[0]
    assert rank_features("variance", graph, 8, 3, 0).warnings == ()


def test_a_method_that_scores_no_feature_is_an_error_row(graph, calls, monkeypatch):
    nothing = RankedFeatures(np.arange(1, 41), np.zeros(40, dtype=bool), ())
    monkeypatch.setattr(comparison, "rank_features", lambda *arguments: nothing)
    row = compare_methods(graph, ["variance"], [4], n_blocks=3, n_runs=1).rows[1]
    assert (row.n_selected, row.figures, row.seconds) == (0, {}, 0.5)
    assert "no feature has a score" in row.error


def test_warnings_of_the_library_reach_the_comparison_and_not_the_caller(graph, calls, recwarn):
    features = graph.features.toarray()
    features[:, 5:] = 1
    constant = check_attributed_graph(features, graph.adjacency, classes=graph.classes)
    compared = compare_methods(constant, ["variance"], [8], n_blocks=3, n_runs=1)
    assert len(compared.warnings["variance"]) == 1
    assert not [warning for warning in recwarn if issubclass(warning.category, ConvergenceWarning)]


def test_it_runs_in_processes_of_their_own(graph):
    row = compare_methods(graph, ["variance"], [4], n_blocks=3, n_runs=1).rows[1]
    assert row.error is None
    assert row.seconds > 0
    assert row.peak_mb is None or row.peak_mb >= row.base_mb > 10


def test_a_network_without_classes_and_bad_numbers_are_refused(graph, calls):
    nameless = check_attributed_graph(graph.features, graph.adjacency)
    with pytest.raises(ValueError, match="no classes to compare with"):
        compare_methods(nameless, ["variance"], [4], n_blocks=3)
    with pytest.raises(ValueError, match=r"no protocol is called 'clusters'.*Did you mean clustering\?"):
        compare_methods(graph, ["variance"], [4], n_blocks=3, protocol="clusters")
    for numbers in ([], [0], [41]):
        with pytest.raises(ValueError, match="from 1 to 40"):
            compare_methods(graph, ["variance"], numbers, n_blocks=3)
    assert calls == []
    assert compare_methods(nameless, ["variance"], [4], n_blocks=None, protocol="links", n_runs=1).errors == {}


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
    compared = compare_methods(graph, ["variance", "morans-i"], [5], n_blocks=None, protocol="structure", n_runs=2)
    every, *ranked = compared.rows
    assert every.agreement is None
    assert ranked[0].agreement == ranked[1].agreement is not None
    assert all(row.figures["explained_links"].mean >= 0 for row in ranked)
    assert all(row.seconds is not None for row in ranked)


TITLES = {"accuracy": "ACC", "nmi": "NMI"}
FIGURES = {"accuracy": Figure(0.51234, 0.01), "nmi": Figure(0.2, 0.005)}
SCORED = ComparisonRow("variance", 16, 15, FIGURES, 3, 123.4, 250.2, 200.0, agreement=0.256)
FAILED = ComparisonRow("ndfs", 16, error="a | b, c")


def test_csv_holds_every_field_in_full_and_nothing_for_what_is_missing():
    scored, failed = csv.DictReader(io.StringIO(csv_table(Comparison(TITLES, "", [SCORED, FAILED]))))
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
        "n_zero_rows",
        "seconds",
        "peak_mb",
        "base_mb",
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
        "zero rows": "3",
        "agreement": "0.26",
        "seconds": "123",
        "peak MB": "250",
    }
    assert cells(FAILED, TITLES) == ("ndfs", "16", "", "failed", "", "", "", "", "")


def test_markdown_keeps_bars_inside_their_cells():
    assert markdown_table(["a", "b"], [["x|y", "1"]]) == "| a | b |\n| --- | ---: |\n| x\\|y | 1 |\n"
