"""Counting cells: which rival is the best, what is at or above it, and what is within one standard deviation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from benchmarks.quality.cells import TUNED, Count, compare, count, count_by_rival, summarize
from benchmarks.quality.quality_tables import variants_table
from benchmarks.quality.real_networks import GRID_KIND, NAME, RIVAL, VARIANT
from blockselect.reproduction.experiments import LOWEST, SUPERVISED


def line(kind, method, top=16, accuracy=0.5, nmi=0.3, sd=0.02, zero_rows=0.0, dataset="cora"):
    return {
        "kind": kind,
        "method": method,
        "dataset": dataset,
        "top": top,
        "accuracy": accuracy,
        "accuracy_sd": sd,
        "nmi": nmi,
        "nmi_sd": sd,
        "n_zero_rows": zero_rows,
        "n_selected": float(top),
        "n_seeds": 3,
    }


def cells_of(*lines, rivals=RIVAL):
    return compare(pd.DataFrame(list(lines)), "default", rivals).set_index("measure")


def test_each_measure_has_a_best_rival_of_its_own():
    cells = cells_of(
        line(VARIANT, "default", zero_rows=7),
        line(RIVAL, "one", accuracy=0.6, nmi=0.1, zero_rows=40),
        line(RIVAL, "other", accuracy=0.4, nmi=0.2),
        line(TUNED, SUPERVISED, accuracy=0.9, nmi=0.9),
    )
    assert cells["rival"].to_dict() == {"accuracy": "one", "nmi": "other"}
    assert_allclose(cells["margin"], [-0.1, 0.1])
    assert cells.loc["accuracy", ["zero_rows", "rival_zero_rows"]].tolist() == [7, 40]


def test_each_rival_is_also_counted_alone():
    lines = [
        line(VARIANT, "default"),
        line(RIVAL, "one", accuracy=0.6, nmi=0.1),
        line(RIVAL, "other", accuracy=0.51, nmi=0.31),
        line(TUNED, SUPERVISED, accuracy=0.9, nmi=0.9),
    ]
    counts = count_by_rival(pd.DataFrame(lines), "default")
    assert counts == {"one": Count(2, at_or_above=1, within=0), "other": Count(2, at_or_above=0, within=2)}


def test_what_the_labels_chose_is_compared_with_apart():
    lines = line(VARIANT, "default"), line(RIVAL, "one", accuracy=0.1), line(TUNED, SUPERVISED, accuracy=0.9)
    assert set(cells_of(*lines, rivals=TUNED)["rival"]) == {SUPERVISED}


@pytest.mark.parametrize(
    ("accuracy", "at_or_above", "within"),
    [(0.51, True, False), (0.50, True, False), (0.4999, False, True), (0.461, False, True), (0.459, False, False)],
)
def test_within_one_sd_is_below_by_no_more_than_the_root_mean_square_of_both(accuracy, at_or_above, within):
    """Here √((0.02² + 0.053²) / 2) is 0.04."""
    cells = cells_of(
        line(VARIANT, "default", accuracy=accuracy, sd=0.02), line(RIVAL, "one", accuracy=0.5, sd=np.sqrt(0.0028))
    )
    assert (cells.loc["accuracy", "at_or_above"], cells.loc["accuracy", "within"]) == (at_or_above, within)


def test_equal_means_that_differ_by_rounding_are_at_or_above():
    third = np.mean([0.1, 0.2, 0.3]), 0.2
    assert third[0] != third[1]
    cells = cells_of(line(VARIANT, "default", accuracy=min(third)), line(RIVAL, "one", accuracy=max(third)))
    assert cells.loc["accuracy", "at_or_above"]


def test_a_cell_in_which_the_default_failed_counts_as_below():
    cells = cells_of(line(VARIANT, "default", top=16), line(RIVAL, "one", top=64))
    assert count(cells) == Count(cells=2, at_or_above=0, within=0)


def test_cells_are_counted_over_networks_numbers_and_measures():
    lines = [
        line(kind, method, top=top, dataset=dataset, accuracy=accuracy)
        for kind, method, accuracy in ((VARIANT, "default", 0.49), (RIVAL, "one", 0.5))
        for dataset in ("cora", "citeseer")
        for top in (16, 64, 128)
    ]
    assert count(cells_of(*lines)) == Count(cells=12, at_or_above=6, within=6)


def test_nothing_to_compare_with_is_no_cell():
    assert count(compare(pd.DataFrame([line(VARIANT, "default")]), "default")) == Count(0, 0, 0)


def test_the_ablation_has_means_over_the_numbers_of_features_and_the_cells_won():
    summary = pd.DataFrame(
        [
            line(VARIANT, "default", top=16, accuracy=0.6, zero_rows=10),
            line(VARIANT, "default", top=64, accuracy=0.4, zero_rows=0),
            line(RIVAL, "one", top=16, accuracy=0.5),
            line(RIVAL, "one", top=64, accuracy=0.5),
        ]
    )
    default, absent = variants_table(summary, ["default", "absent"]).to_dict("records")
    assert (default["Cora_ACC"], default["Cora_zero_rows"]) == ("0.500", "5")
    won = ("cells", "at_or_above_best_rival", "within_one_sd_of_best_rival")
    assert [default[name] for name in won] == [4, 3, 0]
    assert [absent[name] for name in won] == [4, 0, 0]


def row(kind, method, seed, selection, **more):
    columns = {"experiment": NAME, "dataset": "cora", "kind": kind, "method": method, "seed": seed, "error": None}
    return {**columns, "top": 16, "n_selected": 16, "selection": selection, "selected": "[1]", "warning": None, **more}


def clustering(selection, accuracy, sd, zero_rows=0):
    figures = {"accuracy": accuracy, "accuracy_sd": sd, "nmi": accuracy / 2, "nmi_sd": sd, "n_zero_rows": zero_rows}
    return {"experiment": "clusterings", "dataset": "cora", "selection": selection, "error": None, **figures}


def test_mean_and_sd_are_those_of_all_seeds_and_runs_together():
    runs = np.random.default_rng(0).random((3, 20))
    rows = [row(VARIANT, "default", seed, f"s{seed}") for seed in range(3)]
    rows += [clustering(f"s{seed}", runs[seed].mean(), runs[seed].std(), zero_rows=seed) for seed in range(3)]
    (found,) = summarize(rows).to_dict("records")
    assert_allclose([found["accuracy"], found["accuracy_sd"]], [runs.mean(), runs.std()])
    assert (found["n_zero_rows"], found["n_seeds"]) == (1, 3)


def test_the_paper_is_tuned_by_labels_in_each_seed_and_without_them_takes_the_lowest_error():
    """Candidates come with the lowest error first; of its sparsities the strongest that left enough."""
    rows, accuracies = [], {(0, 0): 0.3, (0, 1): 0.5, (1, 0): 0.7, (1, 1): 0.2}
    for seed, shift in ((0, 0.0), (1, 0.1)):
        for (candidate, sparsity), accuracy in accuracies.items():
            name = f"{seed}-{candidate}-{sparsity}"
            rows.append(row(GRID_KIND, "grid", seed, name, candidate=candidate, sparsity=float(sparsity)))
            rows.append(clustering(name, accuracy + shift, 0.0))
    summary = summarize(rows).set_index("method")
    assert summary["kind"].to_dict() == {LOWEST: RIVAL, SUPERVISED: TUNED}
    assert_allclose(summary.loc[[LOWEST, SUPERVISED], "accuracy"], [0.55, 0.75])


def test_failed_trials_and_failed_clusterings_are_left_out():
    broken = {"experiment": "clusterings", "dataset": "cora", "selection": "b", "error": "MemoryError: no"}
    rows = [
        row(RIVAL, "fine", 0, "a"),
        clustering("a", 0.4, 0.0),
        row(RIVAL, "failed", 0, None, error="ValueError: no"),
        row(RIVAL, "unclustered", 0, "b"),
        broken,
    ]
    assert summarize(rows)["method"].tolist() == ["fine"]


def test_no_rows_that_are_good_is_an_empty_summary():
    assert summarize([row(RIVAL, "failed", 0, None, error="ValueError: no")]).empty
