"""A selector remembers its network while the caller keeps it, and neither holds nor pickles it."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
from scipy import sparse

from blockselect import BMGUFS, make_attributed_blocks
from blockselect.reported import WeakNetwork


def test_what_is_still_there_is_recalled_itself():
    X, adjacency = np.ones((3, 2)), sparse.csr_array(np.ones((3, 3)))
    assert all(found is given for found, given in zip(WeakNetwork(X, adjacency).recall(), (X, adjacency), strict=True))
    assert WeakNetwork(X).recall()[1] is None  # the graph was made of the features


@pytest.mark.parametrize("network", [(np.ones(2), [[0, 1], [1, 0]]), ([[1], [2]], None), ()])
def test_what_cannot_be_remembered_is_asked_for(network):
    with pytest.raises(ValueError, match="pass it again, as to fit"):
        WeakNetwork(*network).recall()


@pytest.mark.parametrize("carry", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies_and_pickles_remember_nothing(carry):
    X = np.ones((3, 2))
    with pytest.raises(ValueError, match="no longer in memory"):
        carry(WeakNetwork(X)).recall()


def test_a_fitted_selector_does_not_keep_the_features_alive():
    planted = make_attributed_blocks(40, 2, random_state=0)
    X = planted.features.toarray()
    selector = BMGUFS(3, n_blocks=2, n_candidates=2, random_state=0).fit(X, adjacency=planted.adjacency)
    assert selector._fitted_to.recall()[0] is X
    gone = weakref.ref(X)
    del X
    gc.collect()
    assert gone() is None
    with pytest.raises(ValueError, match="no longer in memory"):
        selector._fitted_to.recall()
