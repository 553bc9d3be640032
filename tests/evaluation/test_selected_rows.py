"""Rows of the selected features: unit length or zero, in the form in which K-means is faster."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect import load_cora
from blockselect.evaluation.selected_rows import count_zero_rows, unit_rows


def test_rows_have_unit_length_or_are_zero_in_either_form():
    cora = load_cora()
    narrow, wide = (unit_rows(cora.features, np.arange(d)) for d in (16, 400))
    assert isinstance(narrow, np.ndarray)
    assert sparse.issparse(wide)
    for rows in (narrow, wide.toarray()):
        lengths = np.linalg.norm(rows, axis=1)
        assert_allclose(lengths[lengths > 0], 1, rtol=1e-12)
    assert (np.linalg.norm(narrow, axis=1) == 0).sum() == (cora.features[:, :16].sum(axis=1) == 0).sum()
    assert count_zero_rows(narrow) == (np.linalg.norm(narrow, axis=1) == 0).sum()
    assert count_zero_rows(wide) == (cora.features[:, :400].sum(axis=1) == 0).sum()
