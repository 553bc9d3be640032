"""Precision on planted networks: what counts as found, and the comparison network by network."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.quality.planted_networks import NAME, precision
from benchmarks.quality.real_networks import RIVAL, VARIANT
from benchmarks.quality.recovery import compare_precisions, precisions, summarize_precisions
from benchmarks.quality.regimes import REGIMES, PlantedSizes, find_regime, plant


def rows_of(kind, method, values, regime="assortative"):
    columns = {"experiment": NAME, "regime": regime, "kind": kind, "method": method, "error": None, "warning": None}
    return [{**columns, "seed": seed, "precision": value} for seed, value in enumerate(values)]


def test_the_best_rival_is_that_of_the_highest_mean_and_differences_are_paired():
    ours, best, worse = [0.9, 0.7, 0.8, 0.5], [0.6, 0.8, 0.8, 0.4], [1.0, 0.1, 0.1, 0.1]
    rows = rows_of(VARIANT, "default", ours) + rows_of(RIVAL, "best", best) + rows_of(RIVAL, "worse", worse)
    (line,) = compare_precisions(precisions(rows), "default").to_dict("records")
    differences = np.subtract(ours, best)
    assert line["rival"] == "best"
    assert (line["wins"], line["ties"], line["losses"]) == (2, 1, 1)
    assert_allclose(line["difference"], differences.mean())
    assert_allclose(line["difference_se"], differences.std(ddof=1) / 2)
    assert_allclose(line["se"], np.std(ours, ddof=1) / 2)


def test_networks_on_which_one_of_both_failed_are_not_paired():
    rows = rows_of(VARIANT, "default", [0.9, 0.7, 0.8]) + rows_of(RIVAL, "one", [0.5, 0.5, 0.5])
    rows[1] = {**rows[1], "precision": None, "error": "ValueError: no"}
    (line,) = compare_precisions(precisions(rows), "default").to_dict("records")
    assert (line["wins"], line["ties"], line["losses"]) == (2, 0, 0)


def test_each_regime_is_a_line_in_the_order_of_the_rows():
    rows = [
        row
        for regime in ("sparse", "assortative")
        for row in rows_of(VARIANT, "default", [0.5, 0.6], regime) + rows_of(RIVAL, "one", [0.4, 0.4], regime)
    ]
    table = precisions(rows)
    assert compare_precisions(table, "default")["regime"].tolist() == ["sparse", "assortative"]
    assert summarize_precisions(table)["n"].tolist() == [2, 2, 2, 2]


def test_precision_counts_selected_features_first_and_fills_up_by_rank():
    """A selector whose selection is no prefix of its ranking, of three planted features."""
    planted = np.array([True, True, True, False, False])
    selector = SimpleNamespace(ranking_=np.array([5, 2, 3, 1, 4]), support_=np.array([True, False, True, False, True]))
    assert precision(selector, planted) == pytest.approx(2 / 3)
    selector.support_ = np.array([True, False, False, False, False])
    assert precision(selector, planted) == pytest.approx(2 / 3)  # 0, then 3 and 1


@pytest.mark.parametrize("regime", REGIMES)
def test_every_regime_has_planted_redundant_and_decoy_features(regime):
    network = plant(regime, PlantedSizes(120, 4, 8, 4, 10, 6), seed=1)
    roles, counts = np.unique(network.roles, return_counts=True)
    assert dict(zip(roles, counts, strict=True)) == {"informative": 8, "redundant": 4, "noise": 10, "decoy": 6}
    highest = network.features.max()
    assert highest > 1 if "counts" in regime else highest == 1


def test_a_sparse_network_has_few_links():
    network = plant("sparse", PlantedSizes(300, 4, 8, 4, 10, 6), seed=0)
    assert 3 <= network.adjacency.sum() / 300 <= 4


def test_an_unknown_regime_is_refused():
    with pytest.raises(ValueError, match=r"no regime is called 'sparce'.*Did you mean sparse"):
        find_regime("sparce")
