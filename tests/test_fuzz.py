"""Every selector on random attributed graphs: properties that must hold for any input.

CI tries a few hundred networks, the same ones each time; `make fuzz` tries more than ten thousand new ones.
"""

from __future__ import annotations

import os
import traceback
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import blockselect
from blockselect.registry import SELECTORS, make_selector

IN_CI = 8  # networks for each selector and test
N_EXAMPLES = int(os.environ.get("BLOCKSELECT_FUZZ_EXAMPLES", IN_CI))
SOURCE = Path(blockselect.__file__).parent

# Changes of the input under which the scores change accordingly, with exceptions.
CHANGES = ("nodes", "features", "sparse", "edge table")
NOT_FOLLOWED = {
    # If random starts or sampled links depend on the positions of nodes, another order is another start.
    "nodes": {
        *("block-model", "bmgufs", "ndfs", "ndfs-published", "netfs", "lufs"),
        *("gfs", "adapt"),
    },
}


FEW_CANDIDATES = {"block-model", "bmgufs"}  # methods whose time grows with the number of candidates
few = st.integers(1, 10)


@dataclass(frozen=True)
class Network:
    features: np.ndarray  # (n, m)
    adjacency: np.ndarray  # (n, n)
    n_blocks: int


@st.composite
def networks(draw, *, generic=False):
    """A few nodes and features of every kind; generic features have no equal values, and so no ties."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = (draw(st.integers(12, 24)), draw(st.integers(2, 6))) if generic else draw(st.tuples(st.integers(2, 24), few))
    features = rng.gamma(2.0, size=(n, m))
    if not generic:
        kind = draw(st.sampled_from(["binary", "counts", "continuous"]))
        features = {"binary": 1.0, "counts": rng.poisson(3, (n, m)), "continuous": features}[kind] * np.ones((n, m))
        features *= rng.random((n, m)) < draw(st.sampled_from([0.1, 0.5, 0.9]))
        features *= 10.0 ** draw(st.sampled_from([0, 0, 0, -30, -3, 3, 12]))
        if draw(st.booleans()):
            features[:, rng.integers(m)] = features[0, 0]  # a constant one
            features[:, rng.integers(m)] = features[:, rng.integers(m)]  # one twice
    return Network(features, draw(graphs(n, rng)), draw(st.integers(1, 4)))


@st.composite
def graphs(draw, n, rng):
    shape = draw(st.sampled_from(["random", "sparse", "path", "star", "complete", "empty", "blocks"]))
    i, j = np.indices((n, n))
    links = {
        "random": rng.random((n, n)) < 0.4,
        "sparse": rng.random((n, n)) < 1.5 / n,
        "path": np.abs(i - j) == 1,
        "star": (i == 0) | (j == 0),
        "complete": np.ones((n, n)),
        "empty": np.zeros((n, n)),
        "blocks": (i % 3 == j % 3) & (rng.random((n, n)) < 0.7),
    }[shape]
    weights = links * (rng.lognormal(size=(n, n)) if draw(st.booleans()) else 1.0)
    weights = np.maximum(np.triu(weights), np.triu(weights).T)
    if draw(st.booleans()):
        np.fill_diagonal(weights, 0)
    return weights * 10.0 ** draw(st.sampled_from([0, 0, -6, 6]))


def fitted(name, network, *, features=None, adjacency=None):
    """The fitted selector, or None if it refuses the network with an error of this package."""
    selector = make_selector(name, 1, n_blocks=network.n_blocks, random_state=0)
    if name in FEW_CANDIDATES:
        selector.set_params(n_candidates=3)
    adjacency = network.adjacency if adjacency is None else adjacency
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return selector.fit(network.features if features is None else features, adjacency=adjacency)
        except ValueError as error:
            check_refusal(error)
            return None


def check_refusal(error):
    """The error is raised by this package, and its message is a full sentence."""
    assert type(error).__name__ in {"ValueError", "ParameterError", "InvalidParameterError"}, repr(error)
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    assert type(error).__name__ == "InvalidParameterError" or Path(last).is_relative_to(SOURCE), repr(error)
    assert str(error).rstrip().endswith((".", ")")), str(error)


def check_result(selector, n_features):
    assert selector.scores_.shape == (n_features,)
    assert not np.isnan(selector.scores_).any()
    assert sorted(selector.ranking_) == list(range(1, n_features + 1))
    assert 0 <= selector.support_.sum() <= 1


examples = settings(
    max_examples=N_EXAMPLES,
    derandomize=N_EXAMPLES <= IN_CI,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("name", SELECTORS)
@examples
@given(network=networks())
def test_any_network_gives_a_ranking_or_a_clear_error(name, network):
    selector = fitted(name, network)
    if selector is not None:
        check_result(selector, network.features.shape[1])


@pytest.mark.parametrize("name", SELECTORS)
@examples
@given(network=networks(generic=True), change=st.sampled_from(CHANGES), seed=st.integers(0, 1000))
def test_scores_follow_what_does_not_change_the_network(name, network, change, seed):
    if name in NOT_FOLLOWED.get(change, ()):
        return
    selector = fitted(name, network)
    order = np.random.default_rng(seed).permutation(network.features.shape[change == "features"])
    expected = None if selector is None else selector.scores_
    if change == "nodes":
        moved = replace(network, features=network.features[order], adjacency=network.adjacency[np.ix_(order, order)])
        changed = fitted(name, moved)
    elif change == "features":
        changed = fitted(name, network, features=network.features[:, order])
        expected = None if expected is None else expected[order]
    elif change == "sparse":
        changed = fitted(
            name, network, features=sparse.csc_array(network.features), adjacency=sparse.coo_array(network.adjacency)
        )
    else:
        changed = fitted(name, network, adjacency=edge_table(network.adjacency, seed))
    assert (changed is None) == (expected is None)
    if expected is not None:
        check_same(changed.scores_, expected)


def edge_table(adjacency, seed):
    """Each link at least once, and some in both directions, because weights of one direction would add up."""
    source, target = np.nonzero(np.triu(adjacency))
    edges = pd.DataFrame({"source": source, "target": target, "weight": adjacency[source, target]})
    others = edges[edges["source"] != edges["target"]].sample(frac=0.5, random_state=seed)
    turned = others.rename(columns={"source": "target", "target": "source"})
    return pd.concat([edges, turned], ignore_index=True)[["source", "target", "weight"]]


def check_same(found, expected):
    finite = np.isfinite(expected)
    assert (np.isfinite(found) == finite).all()
    largest = np.abs(expected[finite]).max(initial=0.0)
    assert_allclose(found[finite], expected[finite], rtol=1e-4, atol=1e-12 + 1e-5 * largest)
