"""Code shared by the protocols: reading of features and classes, and seeded runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect import evaluate_selection
from blockselect.evaluation.protocol import seeded_runs


def test_features_of_any_kind_give_the_same():
    values = np.random.default_rng(0).poisson(1.0, (30, 6)).astype(float)
    classes = pd.Series(np.arange(30) % 2)
    kinds = [
        values,
        values.tolist(),
        pd.DataFrame(values),
        *map(sparse.csr_array(values).asformat, ["csr", "coo", "csc"]),
    ]
    accuracies = [evaluate_selection(kind, classes, [1, 4], n_runs=2).accuracies for kind in kinds]
    for found in accuracies[1:]:
        assert_allclose(found, accuracies[0])


def test_a_cell_that_is_no_number_is_named():
    table = pd.DataFrame({"a": [1, 2], "b": [3, "x"]})
    with pytest.raises(ValueError, match=r"features.*'x'.*(row|node) 1"):
        evaluate_selection(table, [0, 1], [0], n_runs=1)


def test_classes_of_a_series_are_put_in_the_order_of_the_rows():
    values = np.random.default_rng(0).poisson(1.0, (30, 6)).astype(float)
    table = pd.DataFrame(values, index=[f"n{node}" for node in range(30)])
    classes = pd.Series(np.arange(30) % 2, index=table.index)
    expected = evaluate_selection(values, classes.to_numpy(), [1, 4], n_runs=2).accuracies
    found = evaluate_selection(table, classes.sample(frac=1, random_state=0), [1, 4], n_runs=2).accuracies
    assert_allclose(found, expected)


def test_nan_in_a_column_that_is_not_selected_is_nobodys_business():
    values = np.random.default_rng(0).poisson(1.0, (30, 6)).astype(float)
    expected = evaluate_selection(values, np.arange(30) % 2, [1, 4], n_runs=1).accuracies
    values[3, 0] = np.nan
    assert_allclose(evaluate_selection(values, np.arange(30) % 2, [1, 4], n_runs=1).accuracies, expected)


@pytest.mark.parametrize("n_jobs", [None, 2, 5])
def test_results_are_in_the_order_of_the_seeds_however_many_processes_there_are(n_jobs):
    assert seeded_runs(pow, 3, n_runs=4, first_seed=2, n_jobs=n_jobs) == [9, 27, 81, 243]
