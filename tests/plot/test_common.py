"""What plots are drawn from: what a fitted selector has, or numbers of the right form."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from blockselect import make_selector
from blockselect.plot.common import of_selector
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import as_numbers


def test_a_fitted_selector_gives_what_it_has():
    selector = make_selector("variance", 1)
    with pytest.raises(NotFittedError):
        of_selector(selector, "scores_", "scores")
    selector.fit([[0.0, 1.0], [2.0, 1.0]])
    assert of_selector(selector, "scores_", "scores") is selector.scores_
    with pytest.raises(ParameterError, match="source is a VarianceScore, which has no blocks"):
        of_selector(selector, "labels_", "blocks")


def test_numbers_have_the_form_that_is_asked_for():
    assert_array_equal(as_numbers("x", [[1, 2]], (None, 2), "two columns"), [[1.0, 2.0]])
    for wrong in ([1, 2], [[1, 2, 3]], np.ones((0, 2))):
        with pytest.raises(ParameterError, match=r"x has shape .*; expected two columns"):
            as_numbers("x", wrong, (None, 2), "two columns")
