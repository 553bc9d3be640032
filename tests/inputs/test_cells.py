"""Values that only look like numbers are refused, and the error names the cell or the column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from blockselect import BlockModelSelector, make_selector
from blockselect.inputs import check_attributed_graph
from blockselect.rows.matrices import as_float_matrix
from blockselect.utils.parameters import is_number

A = np.ones((4, 4))
FRAME = pd.DataFrame(np.eye(4), index=list("abcd"), columns=["g1", "g2", "g3", "g4"])
MASKED = np.ma.masked_array(np.eye(4), mask=np.eye(4)[::-1])
ODD = {
    "masked": (MASKED, ValueError, r"4 masked value\(s\), first at row 0, column 3.*filled\(0\)"),
    "dates": (np.eye(4).astype("M8[s]"), ValueError, r"features is of type datetime64\[s\]; encode"),
    "a date column": (FRAME.assign(born=pd.Timestamp(0)), ValueError, r"column 'born' .* datetime64.*drop the column"),
    "timedeltas": (FRAME.apply(pd.to_timedelta), ValueError, r"column 'g1' .* timedelta64"),
    "categories": (FRAME.assign(sex=pd.Categorical(list("fmfm"))), ValueError, r"column 'sex' .* category"),
    "a word": (FRAME.assign(g2=["1", "2", "red", "3"]), ValueError, r"'red' at row 'c', column 'g2'"),
    "names of nodes": (FRAME.assign(who=["ann", "bob", "cleo", "dan"]), ValueError,
        r"column 'who' .* different text in each row, first 'ann'; .*set_index\('who'\)"),
    "a word in a list": ([["1.5", "2"], ["a", "3"]] * 2, ValueError, r"contains 'a' at row 1, column 0"),
    "numbers as text": (np.eye(4).astype(str), ValueError, r"of type <U"),
    "a date among numbers": (FRAME.assign(g2=np.array([1, np.datetime64(0, "D"), 1, 1], dtype=object)), TypeError,
        r"datetime.date\(1970, 1, 1\) at row 'b', column 'g2'"),
    "a complex column": (FRAME.assign(g2=1j), ValueError, r"column 'g2' .* complex128"),
    "complex objects": (np.array([[np.complex128(1j), 1]] * 4, dtype=object), TypeError, r"1j at row 0, column 0"),
    "a missing value of pandas": (FRAME.astype(object).replace({1.0: pd.NA}), TypeError,
        r"<NA> at row 'a', column 'g1'"),
}  # fmt: skip


@pytest.mark.parametrize(("features", "kind", "message"), ODD.values(), ids=ODD.keys())
def test_values_that_are_not_numbers_are_named(features, kind, message):
    """Also in selectors, where scikit-learn's checks would convert most of these values to numbers."""
    selectors = (BlockModelSelector(1, n_blocks=2), make_selector("morans-i", 1), make_selector("variance", 1))
    for selector in selectors:
        with pytest.raises(kind, match=message):
            selector.fit(features) if "variance" in type(selector).__name__.lower() else selector.fit(
                features, adjacency=A
            )
    with pytest.raises(kind, match=message):
        check_attributed_graph(features, A)


@pytest.mark.parametrize(
    "matrix",
    [
        FRAME,
        FRAME.astype(object),
        FRAME.assign(g2=[True, False, True, True], g3=pd.array([1, 2, 3, 4], dtype="Int8")),
        FRAME.astype(pd.SparseDtype(float, 0)),
        np.ma.masked_array(np.eye(2), mask=False),
        np.array([[None, 1], [2.5, "3"]], dtype=object),
    ],
)
def test_numbers_are_accepted_in_any_type(matrix):
    as_float_matrix(matrix, "features")


@pytest.mark.parametrize("adjacency", [np.ma.masked_equal(A, 1), A.astype(complex).astype(object), A.astype("m8[s]")])
def test_links_are_checked_as_features_are(adjacency):
    with pytest.raises((TypeError, ValueError), match=r"adjacency (has 16 masked|contains \(?1\+0j|is of type time)"):
        check_attributed_graph(np.eye(4), adjacency)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [(1, True), ("1e5", True), ("x", False), (10**400, False), (1j, False), (np.complex128(1j), False),
     (np.timedelta64(1, "s"), False), (None, False), (True, True)],
)  # fmt: skip
def test_is_number_accepts_only_real_numbers(entry, expected):
    assert is_number(entry) is expected
