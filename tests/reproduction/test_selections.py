"""Selections and their clusterings, which equal selections share."""

from __future__ import annotations

import numpy as np

from blockselect.evaluation import evaluate_selection
from blockselect.reproduction.engine import perform
from blockselect.reproduction.networks import network
from blockselect.reproduction.selections import clustering_trials, ranked_features, selection_row


def test_the_order_of_features_and_how_they_were_chosen_do_not_matter_to_a_selection():
    one = selection_row(np.array([3, 1, 2]), 2, sparsity=0.0)
    other = selection_row(np.array([1, 3, 0]), 2, sparsity=5.0)
    assert one["selection"] == other["selection"]
    assert one["selected"] == other["selected"] == "[1, 3]"
    assert one["selection"] != selection_row(np.array([1, 2]), 2)["selection"]


def test_too_few_features_make_no_selection():
    row = selection_row(np.array([3, 1]), 3)
    assert (row["selection"], row["selected"], row["n_nonzero"], row["top"]) == (None, None, 2, 3)


def test_features_without_a_score_are_not_ranked():
    assert ranked_features(np.array([0.0, 0.2, 0.5, 0.2])).tolist() == [2, 1, 3]


def test_each_selection_of_a_network_is_clustered_once(planted):
    rows = [{"dataset": "planted", **selection_row(np.array(columns), 2)} for columns in ([0, 1], [1, 0], [0, 2], [0])]
    trials = clustering_trials(rows, planted)
    assert len(trials) == 2
    assert len({trial.key for trial in trials}) == 2


def test_a_clustering_is_the_papers_protocol(planted):
    (trial,) = clustering_trials([{"dataset": "planted", **selection_row(np.arange(6), 6)}], planted)
    _, (row,) = perform(trial)
    graph = network("planted")
    expected = evaluate_selection(graph.features, graph.classes, np.arange(6), n_runs=2, n_init=1)
    assert (row["accuracy"], row["nmi"], row["n_zero_rows"]) == (
        expected.accuracy,
        expected.nmi,
        expected.n_zero_rows,
    )
