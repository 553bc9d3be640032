"""Each experiment on a planted network: its rows agree with the library, and its figure can be drawn."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from blockselect import BMGUFS, Descent
from blockselect.blockmodels.model import BlockModel
from blockselect.evaluation import clustering_accuracy, evaluate_selection
from blockselect.reproduction.config import PUBLISHED_FILES, published_block_models
from blockselect.reproduction.engine import perform
from blockselect.reproduction.experiments import (
    ALL,
    EXPERIMENTS,
    GRID,
    LOWEST,
    RECOMPUTED,
    SUPERVISED,
    cosine_distances,
    parameter_trials,
    perturbation_trials,
    results,
)
from blockselect.reproduction.figures import plot_block_models, render_figure
from blockselect.reproduction.networks import candidates, check_networks, network
from blockselect.reproduction.selections import clustering_table, experiment_table


def test_a_network_that_has_to_be_downloaded_is_an_error_with_the_command(monkeypatch, tmp_path):
    monkeypatch.delenv("BLOCKSELECT_DATA", raising=False)
    monkeypatch.setenv("BLOCKSELECT_CACHE", str(tmp_path))
    check_networks(["cora"])
    with pytest.raises(ValueError, match="blogcatalog is not on this machine; run 'blockselect datasets fetch"):
        check_networks(["cora", "blogcatalog"])


def test_no_trial_failed(run):
    assert set(run.rows) == set(EXPERIMENTS)
    assert {row["error"] for rows in run.rows.values() for row in rows} == {None}


def test_datasets_counts_what_is_there(run):
    (row,) = run.rows["datasets"]
    graph = network("planted")
    assert (row["nodes"], row["links"], row["features"], row["classes"]) == (90, graph.n_links, 40, 3)


def compared(rows):
    """The table of effectiveness without the grid, from which two of its methods are chosen."""
    table = results("effectiveness", rows["effectiveness"])
    return table[table["method"] != GRID]


def test_every_method_has_every_number_of_features(run):
    table = compared(run.rows)
    expected = {(method, top) for method in (ALL, "variance", "laplacian-score", LOWEST, SUPERVISED) for top in (4, 8)}
    assert set(zip(table["method"], table["top"], strict=True)) == expected
    assert len(table) == len(expected)


def test_the_choice_by_labels_is_never_worse_than_the_choice_without(run):
    table = compared(run.rows).pivot(index="top", columns="method", values="accuracy")
    assert (table[SUPERVISED] >= table[LOWEST]).all()


def test_the_choice_without_labels_is_the_selector_with_the_papers_settings(run):
    """The lowest-error candidate, and the strongest sparsity that leaves enough features."""
    config, graph = run.config, network("planted")
    best = candidates("planted", config.n_candidates, config.seed)[0]
    kept = []
    for sparsity in config.sparsities:
        solver = Descent(gradient=config.gradient, max_iter=config.max_iter, tol=0)
        selector = BMGUFS(8, block_model=best, sparsity=sparsity, solver=solver)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a strong sparsity leaves fewer features
            selector.fit(graph.features, adjacency=graph.adjacency)
        if selector.n_features_ == 8:
            kept.append(np.flatnonzero(selector.support_).tolist())
    table = compared(run.rows)
    row = table[(table["method"] == LOWEST) & (table["top"] == 8)].iloc[0]
    chosen = {
        each["selection"]: json.loads(each["selected"]) for each in run.rows["effectiveness"] if each.get("selected")
    }
    assert chosen[row["selection"]] == kept[-1]
    scores = evaluate_selection(graph.features, graph.classes, kept[-1], n_runs=2, n_init=1)
    assert_allclose((row["accuracy"], row["nmi"]), (scores.accuracy, scores.nmi))


def test_all_features_stand_beside_every_number(run):
    table = compared(run.rows)
    everything = table[table["method"] == ALL]
    assert everything["accuracy"].nunique() == 1
    assert everything["top"].tolist() == [4, 8]


def test_accuracy_of_the_blocks_stands_beside_their_features(run):
    table = results("block-models", run.rows["block-models"])
    models = candidates("planted", 5, 0)
    found = table.groupby("candidate")["blocks_accuracy"].first()
    assert_allclose(found, [clustering_accuracy(network("planted").classes, model.labels) for model in models])
    assert set(table["gradient"]) == {"paper", "exact"}


def test_perturbation_is_zero_where_no_node_moves_and_grows_with_their_number(planted):
    config = replace(planted, perturbed_shares=(0.0, 0.3))
    (trial,) = perturbation_trials(config, [])
    table = experiment_table(perform(trial)[1], "perturbation")
    medians = table[table["densities"] == RECOMPUTED].groupby("share")["distance"].median()
    assert medians[0.0] == 0
    assert medians[0.3] > 1e-6


def test_cosine_distance_is_that_of_the_definition():
    rng = np.random.default_rng(0)
    one, others = rng.random(20), rng.random((4, 20))
    expected = [1 - one @ other / np.sqrt(one @ one * (other @ other)) for other in others]
    assert_allclose(cosine_distances(one, others), expected, atol=1e-14)


def test_settings_that_leave_too_few_features_count_zero(planted):
    config = replace(planted, sparsities=(0.0, 500.0))
    (trial,) = parameter_trials(config, [])
    table = results("parameters", perform(trial)[1])
    assert table[table["sparsity"] == 500]["accuracy"].tolist() == [0.0] * len(config.surface_ratios)
    assert not table[table["sparsity"] == 500]["enough"].any()
    assert table[table["sparsity"] == 0]["enough"].all()


def test_losses_have_a_row_for_each_iteration(run):
    rows = run.rows["convergence"]
    assert len(rows) == 2 * len(run.config.convergence_ratios) * (run.config.max_iter + 1)


def test_published_block_models_guide_where_they_are(monkeypatch, planted, tmp_path):
    labels = np.random.default_rng(0).integers(3, size=(3, 90))
    np.savez(tmp_path / "models.npz", labels=labels)
    monkeypatch.setitem(PUBLISHED_FILES, "planted", "models.npz")
    monkeypatch.setenv("BLOCKSELECT_GOLDEN", str(tmp_path))
    assert published_block_models("planted") == tmp_path / "models.npz"
    (trial,) = perturbation_trials(replace(planted, n_candidates=2), [])
    assert trial.settings["block_models"] == "published"
    found = candidates("planted", 2, 0)
    errors = [BlockModel.from_labels(network("planted").adjacency, row).relative_error for row in labels[:2]]
    assert [model.relative_error for model in found] == sorted(errors)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_figure_whose_trials_all_failed_says_so(run, name):
    failed = {"experiment": name, "dataset": "planted", "error": "ValueError: no", "warning": None}
    assert render_figure(name, results(name, [failed]), run.config)["png"].startswith(b"\x89PNG")


def test_a_figure_whose_grid_failed_shows_the_others(run):
    rows = [row for row in run.rows["effectiveness"] if row.get("method") != GRID]
    kept = [{name: value for name, value in row.items() if name != "candidate"} for row in rows]
    table = results("effectiveness", kept)
    assert set(table["method"]) == {ALL, *run.config.methods}
    assert render_figure("effectiveness", table, run.config)["png"].startswith(b"\x89PNG")


def test_tables_show_failed_trials_and_failed_clusterings(run):
    rows = [dict(row) for row in run.rows["parameters"]]
    broken = next(row for row in rows if row["experiment"] == "clusterings")
    broken["error"] = "MemoryError: no"
    table = experiment_table(rows, "parameters")
    assert set(table[table["selection"] == broken["selection"]]["error"]) == {"MemoryError: no"}
    assert table[table["selection"] != broken["selection"]]["error"].isna().all()
    assert results("parameters", rows)["selection"].ne(broken["selection"]).all()


def test_each_clustering_is_listed_once_with_its_features(run):
    table = clustering_table([row for rows in run.rows.values() for row in rows])
    assert not table.duplicated(["dataset", "selection"]).any()
    assert table["n_features"].tolist() == [len(json.loads(text)) for text in table["selected"]]


def test_numbers_of_features_whose_trials_failed_are_left_out_of_the_figure(run):
    rows = run.rows["block-models"]
    first = min(row["top"] for row in rows if row.get("top"))
    tables = [results("block-models", some) for some in (rows, [row for row in rows if row.get("top") != first])]
    figures = [plot_block_models(table, run.config) for table in tables]
    whole, part = ({text.get_text() for text in figure.legends[0].get_texts()} for figure in figures)
    assert part < whole
    assert len(whole - part) == 1
    assert str(first) in (whole - part).pop()
