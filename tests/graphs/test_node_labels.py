"""Labels of nodes: one a node, none missing, in the order of the nodes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from blockselect.errors import ParameterError
from blockselect.graphs.node_labels import encode_labels, labels_by_id


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b"],
        [7, 3, 7],
        [2.5, -1.0, 2.5],
        pd.Categorical(["b", "a", "b"]),
        pd.array([7, 3, 7], dtype="Int64"),
        np.ma.masked_array([7, 3, 7]),
        pd.to_datetime(["2021", "2020", "2021"]),
    ],
)
def test_labels_of_any_sortable_kind_become_numbers(labels):
    assert_array_equal(encode_labels(labels), [1, 0, 1])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1.0, np.nan, 2.0], r"classes hold NaN, None or masked values for 1 node\(s\), first node 1; give each node"),
        (["a", None, None], "for 2 node"),
        (pd.array([None, 1], dtype="Int64"), "first node 0"),
        (np.ma.masked_array([1, 2, 3], mask=[False, False, True]), "first node 2"),
        ([[0, 1], [1, 0]], r"classes have shape \(2, 2\); give one label per node"),
        ("abc", r"shape \(\)"),
        (np.array([1, "a"], dtype=object), r"have no order \(int, str\); make them all text"),
    ],
)
def test_labels_that_are_missing_or_have_no_order_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        encode_labels(labels, "classes")


@pytest.mark.parametrize(
    ("index", "ids", "expected"),
    [
        (["b", "a"], ["a", "b"], [2, 1]),
        ([1, 0], [0, 1], [2, 1]),
        ([0, 1], ["a", "b"], [1, 2]),
        ([0, 1], None, [1, 2]),
    ],
    ids=["by name", "by number", "counted: in order", "row numbers"],
)
def test_labels_of_a_series_are_put_in_the_order_of_the_nodes(index, ids, expected):
    labels = pd.Series([1, 2], index=index)
    assert list(labels_by_id(labels, None if ids is None else np.array(ids, dtype=object))) == expected


@pytest.mark.parametrize(
    ("index", "ids", "message"),
    [
        ([1, 0], None, r"does not count 0, 1, ….*labels\.to_numpy\(\)"),
        (["a", "b"], None, r"does not count 0, 1, ….*labels\.to_numpy\(\)"),
        (["a", "c"], ["a", "b"], r"2 node\(s\).*\['b', 'c'\]"),
        (["a", "a"], ["a", "b"], r"in one of them alone or twice"),
        ([1, 2], [0, 1], r"\[0, 2\]"),
    ],
)
def test_labels_that_could_be_misread_are_refused(index, ids, message):
    ids = None if ids is None else np.array(ids, dtype=object)
    with pytest.raises(ParameterError, match=f"block_model is a Series.*{message}"):
        labels_by_id(pd.Series([1, 2], index=index), ids)
