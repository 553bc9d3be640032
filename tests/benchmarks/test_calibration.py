"""Networks of the calibration: most features follow factors that have nothing to do with the graph."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.calibration import FACTORS, Case, calibrate_blocks, factor_case, new_cases
from blockselect import make_attributed_blocks
from blockselect.graphs.autocorrelation import autocorrelation_z


@pytest.mark.parametrize("name", FACTORS)
def test_eighty_features_follow_two_factors_and_not_the_graph(name):
    case = factor_case(name, np.random.default_rng(0))
    assert case.features.shape == (300, 100)
    correlations = np.corrcoef(case.features.toarray(), rowvar=False)
    first, second = correlations[20:60, 20:60], correlations[60:, 60:]
    for within in (first, second):
        assert within[np.triu_indices(40, 1)].mean() > 0.08
    assert abs(correlations[20:60, 60:].mean()) < 0.03
    z = autocorrelation_z(case.features, case.adjacency, model="bernoulli")
    assert z[:20].mean() > 1.5 > 0.5 > abs(z[20:].mean())


def test_they_are_among_the_networks_that_the_estimate_has_not_seen():
    *_, before, last = new_cases(2)
    assert [case.name for case in (*before, *last)] == [name for name in FACTORS for _ in range(2)]
    assert last[0].features.shape == last[1].features.shape
    assert (last[0].features != last[1].features).nnz


def test_clear_blocks_are_stated_and_seen_to_be_stable():
    easy = make_attributed_blocks(150, 3, mean_degree=20, random_state=0)
    found = calibrate_blocks(Case("easy", easy.features, easy.adjacency, 10), n_again=1)
    stated, seen = found.agreement
    assert 0.95 < stated <= seen == 1
    assert len(found.stated) == len(found.seen) >= 6  # the blocks of both fits
    assert (found.seen == 1).all()
    assert found.stated.min() > 0.9
