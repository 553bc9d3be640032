"""Null models in which only the depth of a node matters."""

import numpy as np
from numpy.testing import assert_allclose

from blockselect.graphs.autocorrelation import BernoulliNull


def test_rounding_of_a_depth_does_not_decide_the_bin_of_a_node():
    """Quantiles coincide with depths of nodes, and versions of a library round them differently."""
    rng = np.random.default_rng(0)
    depths = rng.integers(1, 40, 40).astype(float)
    present = (rng.random((40, 5)) < depths[:, None] / 40).astype(float)
    plain = BernoulliNull.of(present, depths)
    for toward in (0, np.inf):
        moved = BernoulliNull.of(present, np.nextafter(depths, np.where(rng.random(40) < 0.5, toward, depths)))
        assert_allclose(moved.intercepts, plain.intercepts, rtol=1e-9)
        assert_allclose(moved.slopes, plain.slopes, rtol=1e-9)
