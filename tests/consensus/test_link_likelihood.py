"""Features and links in units of their own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.consensus.link_likelihood import link_unit
from blockselect.graphs.binarize import in_units


def test_units_leave_zeros_and_ones_alone_and_the_caller_s_array():
    X = np.array([[0, 2.0, 1], [1, 0, 0], [0, 4, 1]])
    wanted = [[0, 2 / 3, 1], [1, 0, 0], [0, 4 / 3, 1]]
    assert_allclose(in_units(X), wanted)
    assert_allclose(in_units(sparse.csr_array(X)).toarray(), wanted)
    assert X[0, 1] == 2


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_the_unit_of_links_is_that_of_the_heavy_ones(scale):
    alike = sparse.csr_array(scale * (1 - np.eye(4)))
    assert link_unit(alike) == pytest.approx(scale)
    one_heavy = alike.copy()
    one_heavy[0, 1] = one_heavy[1, 0] = 100 * scale
    assert link_unit(one_heavy) == pytest.approx(scale * (2 * 100**2 + 10) / (2 * 100 + 10))


def test_self_loops_have_no_say_in_the_unit_of_links():
    assert link_unit(sparse.csr_array(np.eye(3))) == 1.0
    assert link_unit(sparse.csr_array(1 - np.eye(3) + 50 * np.eye(3))) == 1.0
