"""Columns of an edge table: numbers are used as weights, or ignored, only if the user says so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from blockselect import as_adjacency
from blockselect.inputs import check_attributed_graph

N = 5


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["source", "target", "weight"], (0, 1, 4.0)),
        (["Target", "SOURCE", " Weight "], (1, 0, 4.0)),
        (["from", "to", "weight"], (0, 1, 4.0)),
    ],
)
def test_columns_are_found_by_name_or_else_by_position(columns, expected):
    weights = as_adjacency(pd.DataFrame([[0, 1, 4]], columns=columns), nodes=N).tocoo()
    assert (weights.row[0], weights.col[0], weights.data[0]) == expected


@pytest.mark.parametrize("columns", [["source", "target", "year"], ["from", "to", "year"], ["x", "x", "x"], [0, 1, 2]])
def test_a_numeric_column_not_called_weight_is_refused(columns):
    """A year as a weight would dominate all other weights."""
    for year in (2020, "2020"):
        table = pd.DataFrame([[0, 1, year]], columns=columns)
        with pytest.raises(ValueError, match=r"contains numbers but is not called weight; rename it .* drop it"):
            as_adjacency(table, nodes=N)


def test_a_weight_may_be_chosen_or_left_out():
    table = pd.DataFrame({"source": [0, 0], "target": [1, 1], "year": [2020, 2021], "strength": [2, 3]})
    assert as_adjacency(table, nodes=N, weight="strength")[0, 1] == 5
    assert as_adjacency(table, nodes=N, weight=False)[0, 1] == 1
    with pytest.raises(
        ValueError, match=r"weight is 'size', but 0 .* choose one of \['year', 'strength'\], or weight=False"
    ):
        as_adjacency(table, nodes=N, weight="size")


def test_named_columns_are_found_among_others():
    table = pd.DataFrame({"note": ["x"], "weight": [3], "target": [1], "year": [2020], "source": [0]})
    assert as_adjacency(table, nodes=N)[0, 1] == 3
    assert as_adjacency(table.drop(columns=["weight", "year"]).assign(sure=True), nodes=N)[0, 1] == 1


def test_two_columns_called_weight_are_refused():
    table = pd.DataFrame([[0, 1, 2, 3]], columns=["source", "target", "weight", "Weight"])
    with pytest.raises(ValueError, match=r"weight is .weight., but 2 .* choose one of \[.weight., .Weight.\]"):
        as_adjacency(table, nodes=N)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (1 + 2j, "Complex data not supported: edge column 'weight'"),
        (pd.Timedelta(1, "s"), "'weight' is of type timedelta64"),
        (pd.Series([np.complex128(1 + 2j)], dtype=object), r"not a finite number.*from 0 to 1.*1\+2j"),
        (pd.Series([np.timedelta64(1, "s")], dtype=object), r"not a finite number.*timedelta64"),
    ],
)
def test_weights_that_numpy_would_silently_convert_are_refused(weight, message):
    table = pd.DataFrame({"source": [0], "target": [1]}).assign(weight=weight)
    with pytest.raises(ValueError, match=message):
        check_attributed_graph(np.eye(2), table)


@pytest.mark.parametrize("other", ["uint64", "Int64", object])
def test_large_ids_are_not_rounded_if_the_ends_have_different_types(other):
    ids = np.array([2**60, 2**60 + 2, 2**60 + 4], dtype=object)
    table = pd.DataFrame({"source": [2**60 + 2], "target": pd.Series([2**60 + 4], dtype=other)})
    assert as_adjacency(table, nodes=ids).todense().nonzero() == ([1], [2])


@pytest.mark.parametrize(("kind", "large"), [("float64", 2**53), ("Float64", 2**60), ("float32", 2**24)])
def test_ids_that_floating_point_numbers_round_are_refused(kind, large):
    table = pd.DataFrame({"source": [large], "target": pd.Series([large], dtype=kind)})
    ids = np.array([large, large + 1], dtype=object)
    with pytest.raises(ValueError, match=rf"'target' is {kind} and contains ids such as {large};.* integers or"):
        as_adjacency(table, nodes=ids)
    assert as_adjacency(table - large + [0, 1], nodes=2)[0, 1] == 1


def test_a_float_as_third_value_of_an_edge_is_its_weight():
    A = as_adjacency([(0, 1, 2.5), (1, 2, 0.5)], nodes=3).toarray()
    assert (A[0, 1], A[1, 2]) == (2.5, 0.5)
