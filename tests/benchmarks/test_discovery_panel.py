"""The panel of discoveries: its networks are what their names say, and a row holds the figures."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from benchmarks.discoveries import markdown, row
from benchmarks.discovery_networks import SCENARIOS, draw


def drawn(name, seed=0):
    return draw(SCENARIOS[name], np.random.default_rng(seed))


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_can_be_drawn(name):
    truth = drawn(name)
    assert truth.features.shape == (truth.adjacency.shape[0], len(truth.informative))
    assert truth.informative.sum() == SCENARIOS[name].n_informative
    assert (truth.adjacency != truth.adjacency.T).nnz == 0


def test_totals_follow_degrees_where_they_should():
    def relation(name):
        truth = drawn(name)
        return spearmanr(truth.features.sum(axis=1), np.diff(truth.adjacency.indptr)).statistic

    assert relation("features by degree + 1") > 0.6 > 0.2 > abs(relation("heavy-tailed degrees"))


def test_a_fifth_is_isolated_and_empty():
    truth = drawn("a fifth isolated and empty")
    empty = (truth.features.sum(axis=1) == 0) & (np.diff(truth.adjacency.indptr) == 0)
    assert empty.mean() == pytest.approx(0.2, abs=0.01)


def test_a_row_has_both_rates_and_says_whether_the_level_holds(monkeypatch):
    monkeypatch.setitem(SCENARIOS, "small", replace(SCENARIOS["plain"], n=60, n_informative=5, n_noise=15))
    one = row("small", repeats=2, n_jobs=None)
    assert 0 <= one["fdr"] <= 1
    assert 0 <= one["power"] <= 1
    assert one["holds"] == (one["fdr"] <= 0.1 + 2 * one["fdr_error"] + 1e-3)
    assert markdown(one).startswith("| small | ")
