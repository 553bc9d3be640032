"""Units of features and links, and the log-likelihood gain of the links."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from blockselect.consensus.likelihood import as_links, link_gain, link_unit
from blockselect.rows.statistics import in_units


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


def test_the_gain_is_the_log_likelihood_above_that_of_one_block():
    """Degree-corrected: a pair of blocks a, b with weight w has w/2 log(w · total / (d_a d_b)) over both orders."""
    rng = np.random.default_rng(0)
    weights = rng.poisson(5, (4, 4)).astype(float)
    weights = weights + weights.T
    weights[0, 1] = weights[1, 0] = 0
    degrees, total = weights.sum(axis=1), weights.sum()
    expected = sum(
        weights[a, b] / 2 * np.log(weights[a, b] * total / (degrees[a] * degrees[b]))
        for a in range(4)
        for b in range(4)
        if weights[a, b] > 0
    )
    assert link_gain(weights) == pytest.approx(expected)
    assert link_gain(np.array([[7.0]])) == pytest.approx(0)


def test_links_are_counted_in_units():
    links = as_links(sparse.csr_array(np.array([[4.0, 2, 0], [2, 0, 6], [0, 6, 0]])), 2.0)
    assert_allclose(links.weights, [2, 1, 1, 3, 3])
    assert_allclose(links.loops, [2, 0, 0])
    assert_allclose(links.degrees, [3, 4, 3])
