"""BlockModelSelector with refine: swaps that lower the losses of the selected set itself."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from blockselect import make_attributed_blocks
from made_fits import easy_network, fit


@pytest.fixture(scope="module")
def network():
    return easy_network()


@pytest.mark.parametrize("guidance", ["consensus", "lowest_error"])
def test_refining_lowers_its_objective_and_keeps_the_number_of_features(guidance):
    network = make_attributed_blocks(100, 3, random_state=0)
    plain, refined = (fit(network, 20, refine=refine, guidance=guidance) for refine in (False, True))
    objective = refined.refinement_.objective
    assert refined.refinement_.n_swaps > 0
    assert (np.diff(objective) < 0).all()
    assert refined.n_features_ == refined.support_.sum() == 20
    assert_array_equal(np.flatnonzero(refined.support_), refined.refinement_.selected)
    assert (refined.support_ != plain.support_).any()
    assert_array_equal(refined.scores_, plain.scores_)
    assert_array_equal(refined.ranking_, plain.ranking_)
    assert not hasattr(plain, "refinement_")


def test_coverage_leaves_fewer_nodes_without_a_selected_feature():
    network = make_attributed_blocks(200, 3, frequency=(0.01, 0.05), random_state=0)
    without, much = (fit(network, 10, refine=True, coverage=weight) for weight in (0.0, 10.0))
    assert much.refinement_.n_uncovered[-1] < without.refinement_.n_uncovered[-1]


def test_redundancy_leaves_fewer_features_that_repeat_each_other():
    network = make_attributed_blocks(200, 3, n_informative=8, n_redundant=24, copy_noise=0.02, random_state=0)
    without, much = (fit(network, 16, refine=True, redundancy=weight) for weight in (0.0, 10.0))
    assert much.refinement_.redundancy[-1] < without.refinement_.redundancy[-1]


def test_discoveries_are_not_refined(network):
    with pytest.raises(ValueError, match=r"refine=True swaps features.*set refine=False, or ask for a number"):
        fit(network, "auto", refine=True)
