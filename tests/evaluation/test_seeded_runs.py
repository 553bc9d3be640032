"""Runs by seed: in order, the same however many processes share them, each on one thread."""

from __future__ import annotations

import numpy as np
import pytest

from blockselect.evaluation.seeded_runs import seeded_runs


@pytest.mark.parametrize("n_jobs", [None, 2, 5])
def test_results_are_in_the_order_of_the_seeds_however_many_processes_there_are(n_jobs):
    assert seeded_runs(pow, 3, n_runs=4, first_seed=2, n_jobs=n_jobs) == [9, 27, 81, 243]


def test_each_run_gets_its_own_seed():
    drawn = seeded_runs(lambda low, seed: np.random.default_rng(seed).integers(low, 2**40), 0, n_runs=3)
    assert len(set(drawn)) == 3
    assert drawn[1] == np.random.default_rng(1).integers(0, 2**40)
