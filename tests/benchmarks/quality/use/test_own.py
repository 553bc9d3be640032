"""Ways made of one fit select what fits of their own would."""

from __future__ import annotations

from functools import lru_cache
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from benchmarks.quality.use.own import ABLATION, DEFAULT, KNOWN, LIST, OWN, find, select
from blockselect import BlockModelSelector, make_attributed_blocks
from blockselect.consensus import estimator
from blockselect.consensus.portfolio import WAYS, choose_way


@lru_cache(maxsize=1)
def graph():
    return make_attributed_blocks(
        160, 4, n_informative=20, n_redundant=0, n_noise=40, mean_degree=10, signal=3.0, random_state=0
    ).graph


@lru_cache(maxsize=1)
def found():
    return find(graph(), seed=1)


@pytest.mark.parametrize(("method", "settings"), [(DEFAULT, {}), (KNOWN, {"n_clusters": 4}), (LIST, {"as_set": False})])
@pytest.mark.parametrize("n_features", [6, 12])
def test_the_same_as_a_fit(method, settings, n_features):
    selector = BlockModelSelector(n_features, random_state=1, **settings)
    selector.fit(graph().features, adjacency=graph().adjacency)
    assert_array_equal(np.sort(select(found(), method, n_features)), np.flatnonzero(selector.support_))


@pytest.mark.parametrize("method", [*OWN, *ABLATION])
def test_every_way_selects_as_many_as_asked_for_each_once_and_again_the_same(method):
    first = select(found(), method, 10)
    assert len(np.unique(first)) == 10
    assert_array_equal(select(found(), method, 10), first)


def test_the_exponent_is_that_of_the_weights():
    found_here = found()
    plain = np.argsort(-found_here.evidence.vote * (found_here.scores > 0), kind="stable")[:8]
    assert set(select(found_here, "list, weight^0", 8)) == set(plain)


def test_a_portfolio_without_links_has_the_guides_by_votes_alone():
    chosen = []

    def remember(*arguments, ways, **settings):
        chosen.extend(ways)
        return choose_way(*arguments, ways=ways, **settings)

    with patch.object(estimator, "choose_way", remember):
        select(found(), "portfolio without links", 6)
    assert {way.guide for way in chosen} == {way.guide for way in WAYS if "vote" in way.guide}
