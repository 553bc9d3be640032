"""discover_features: which features match the graph better than chance, with control of the false discovery rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control
from sklearn.preprocessing import KBinsDiscretizer

from blockselect.arrays import FloatArray, IntArray
from blockselect.blockmodels.candidates import FEATURE_READING, find_block_models
from blockselect.blockmodels.model import BlockModel
from blockselect.blockmodels.n_blocks import choose_n_blocks
from blockselect.errors import ParameterError, memory_for
from blockselect.graphs.attributed import AttributedGraph, check_attributed_graph
from blockselect.graphs.chunks import RowChunks
from blockselect.graphs.links import cap_weights
from blockselect.graphs.statistics import are_sparse_counts, in_units, presence
from blockselect.inspection.circularity import warn_if_made_from_features
from blockselect.inspection.given_totals import MIN_REFERENCE
from blockselect.inspection.matching_null import match_pulls
from blockselect.inspection.reference_features import reference_features
from blockselect.parameters import check_share, check_whole, generator_from

DEFAULT_LEVEL = 0.1
MIN_ROUNDS = 3  # a null round is compared with the spread of the others, and a spread takes two
_DEFAULT_ROUNDS = 50
_MAX_BLOCKS = 12  # many small blocks would each hold too few nodes for a test
_N_GROUPS = 3  # of nodes by degree
_DECIMALS = 6  # of the root of a degree relative to the largest: what differs by less is equal
_ROUNDING = 1e-6  # values of a feature that differ by less than this share of the largest are equal


@dataclass(frozen=True, slots=True, eq=False)
class Discoveries:
    """Features that match the graph better than chance, and how surely each does."""

    p_values: FloatArray  # (m,)
    q_values: FloatArray  # (m,) the lowest level at which each feature is a discovery
    support: NDArray[np.bool_]  # (m,)


def discover_features(
    X: Any,
    *,
    adjacency: Any,
    level: float = DEFAULT_LEVEL,
    n_blocks: int | None = None,
    n_candidates: int = 24,
    n_permutations: int = _DEFAULT_ROUNDS,
    random_state: Any = None,
) -> Discoveries:
    """Find the features that match the graph better than chance.

    Final scores cannot be tested: unit length makes features compete. We test the gradient of both losses at a random
    matching of features and nodes, which is exchangeable under the null: features that have nothing to do with the
    graph, however much they have to do with one another, look the same after the nodes are permuted. How many features
    a node has is taken as given: a feature that only follows that is no discovery, even where hubs have more of all.
    One that hubs have while most other features do not follow degrees is a discovery: degrees are part of the graph.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, m)
        Non-negative features of the nodes. Counts that are mostly zero are used as present or absent. (paper: Y)
    adjacency : array or sparse matrix of shape (n, n), or edge table
        The graph, as :func:`blockselect.check_attributed_graph` takes it. It must not be built from the features: such
        a graph matches them by itself, and where it looks like one there is a warning. Weights with a heavy tail are
        capped. (paper: A)
    level : float, default=0.1
        Of the features found, on average at most this share have nothing to do with the graph (Benjamini–Hochberg).
    n_blocks : int or None, default=None
        Blocks of the graph; None chooses as many as the graph supports. (paper: k)
    n_candidates : int, default=24
        Block models, found from the graph alone; the test averages over them.
    n_permutations : int, default=50
        Random matchings, at least 3. The smallest p-value is about 1 / (n_permutations · m).
    random_state : int, RandomState or None, default=None
        Seeds block models and permutations.

    Returns
    -------
    Discoveries
        `p_values`, `q_values` and `support`, one entry for each feature.

    Examples
    --------
    >>> from blockselect import discover_features, make_attributed_blocks
    >>> planted = make_attributed_blocks(300, 3, random_state=0)
    >>> found = discover_features(planted.features, adjacency=planted.adjacency, random_state=0)
    >>> bool(found.support[planted.is_informative].mean() > 0.5)
    True
    """
    check_share("level", level)
    check_whole("n_permutations", n_permutations, MIN_ROUNDS)
    check_whole("n_candidates", n_candidates, 1)
    if n_blocks is not None:
        check_whole("n_blocks", n_blocks, 1)
    check_testable(adjacency, None)
    if isinstance(X, RowChunks):
        raise ValueError(
            "discover_features reads the features of single nodes, which row chunks cannot give; pass some of the "
            "features as a matrix in memory."
        )
    with memory_for("test the features"):
        graph = check_attributed_graph(X, adjacency)
        warn_if_made_from_features(graph)
        graph = _linked(graph)
        if are_sparse_counts(graph.features):
            graph = replace(graph, features=presence(graph.features))
        rng = generator_from(random_state)
        adjacency = cap_weights(graph.adjacency)
        k = choose_n_blocks(adjacency, max_blocks=_MAX_BLOCKS, rng=rng.spawn(1)[0]) if n_blocks is None else n_blocks
        models = find_block_models(adjacency, k, family="mixed", n_candidates=n_candidates, rng=rng)
        return match_blocks(graph, models, level=level, n_rounds=n_permutations, rng=rng.spawn(1)[0])


def _linked(graph: AttributedGraph) -> AttributedGraph:
    """The nodes that have a link to another."""
    if not graph.is_linked.any():
        raise ValueError("no link joins two different nodes, so there is nothing to match; pass a graph with links.")
    return graph.only(graph.is_linked)


def match_blocks(
    graph: AttributedGraph,
    candidates: Sequence[BlockModel],
    *,
    level: float,
    n_rounds: int = _DEFAULT_ROUNDS,
    rng: np.random.Generator,
) -> Discoveries:
    """Test every feature by those candidates that were found from the graph alone.

    Nodes without links, which have no place in the graph, and nodes without features, which have none to exchange, are
    left out. Besides blocks, three groups of nodes by degree are looked at: a core and its periphery are no more than
    that, and small blocks that have few links show in nothing else. Totals are those of features that spread over both
    as most do.
    """
    n_features = graph.n_features
    tested = graph.is_linked
    if n_features >= MIN_REFERENCE:  # totals are given, so that nodes with none are without a say
        tested &= graph.has_features
    if not tested.any():
        return Discoveries(np.ones(n_features), np.ones(n_features), np.zeros(n_features, dtype=bool))
    features = graph.features[tested]
    models = [model.among(tested).reflected() for model in candidates if model.family != FEATURE_READING]
    by_degree = _groups_by_degree(cap_weights(graph.adjacency)[tested][:, tested].sum(axis=1))
    alike = in_units(features)
    reference = reference_features(alike, [model.labels for model in models]) & reference_features(alike, [by_degree])
    if np.count_nonzero(reference) < MIN_REFERENCE:
        reference[:] = True
    pulls = match_pulls(features, models, n_rounds=n_rounds, rng=rng, reference=reference, groups=by_degree)
    p_values = null_p_values(pulls.real, pulls.null)
    q_values = false_discovery_control(p_values)
    return Discoveries(p_values, q_values, q_values <= level)


def _groups_by_degree(degrees: Any) -> IntArray:
    """Nodes by low, middle and high degree, however few have it: k-means of the roots, which vary alike. (n,)"""
    roots = np.sqrt(np.asarray(degrees, dtype=np.float64).ravel())
    values, groups = np.unique(np.round(roots / roots.max(), _DECIMALS), return_inverse=True)
    if len(values) > _N_GROUPS:
        by_kmeans = KBinsDiscretizer(_N_GROUPS, encode="ordinal", strategy="kmeans", subsample=None)
        groups = by_kmeans.fit_transform(values[groups][:, None]).ravel()
    return groups.astype(np.intp)


def check_testable(adjacency: Any, block_model: Any) -> None:
    """Refuse a graph or blocks that were made from the features: features match these without any truth in it."""
    if adjacency is None:
        raise ParameterError(
            "adjacency",
            "is not given, and a graph built from the features would match them by itself; give one, or ask for a "
            "number of features.",
        )
    family = block_model.family if isinstance(block_model, BlockModel) else block_model
    if isinstance(family, str) and family == FEATURE_READING:
        raise ParameterError(
            "block_model",
            f'is "{FEATURE_READING}", which reads the features, but a test of the features needs blocks found from '
            'the graph alone; choose another, such as "mixed", or a number of features.',
        )


def null_p_values(scores: FloatArray, null_scores: FloatArray) -> FloatArray:
    """P-value of each feature: how often a null score exceeds its feature's null distribution as far as the real one.

    Features differ much in level and spread under the null (a frequent word scores high on any graph), and a few
    rounds give both but no tail. So each real score becomes z = (x − mean) / (sd √(1 + 1/B)) by the B null scores of
    its own feature, each null score the same by the other B − 1, and the null z of all features form one distribution:
    p = (1 + #{null z ≥ z}) / (1 + B m), never zero. A spread from B − 1 scores has the heavier tail, which errs
    towards large p. The smallest p is about 1 / (B m): B must exceed 1 / level for a lone discovery.

    Parameters
    ----------
    scores : array of shape (m,)
    null_scores : array of shape (B, m)
        At least three rounds.

    Returns
    -------
    array of shape (m,)
        1 for a feature whose score is the same in all rounds and the real one, such as a constant column; the
        distribution of the others does not include it.
    """
    n_rounds = len(null_scores)
    if n_rounds < MIN_ROUNDS:
        raise ValueError(f"the null model has {n_rounds} rounds; expected at least {MIN_ROUNDS}, better 50.")
    together = np.concatenate([scores[None], null_scores]).astype(np.float64)
    largest = np.abs(together).max(axis=0)
    varies = np.ptp(together, axis=0) > _ROUNDING * largest
    p_values = np.ones(len(scores))
    scaled = together[:, varies] / largest[varies]
    real_z, null_z = _standardised(scaled[0], scaled[1:])
    null_z = np.sort(null_z, axis=None)
    at_least = len(null_z) - np.searchsorted(null_z, real_z, side="left")
    p_values[varies] = (1 + at_least) / (1 + len(null_z))
    return p_values


def _standardised(real: FloatArray, null: FloatArray) -> tuple[FloatArray, FloatArray]:
    """z of the real scores (m,) by the null ones, and of each null score by those of the other rounds (B, m)."""
    n = len(null)
    mean = null.mean(axis=0)
    squares = np.sum((null - mean) ** 2, axis=0)
    mean_of_others = mean + (mean - null) / (n - 1)
    squares_of_others = np.maximum(squares - (null - mean) ** 2 * n / (n - 1), 0)
    return _z(real - mean, squares, n), _z(null - mean_of_others, squares_of_others, n - 1)


def _z(excess: FloatArray, squares: FloatArray, n: int) -> FloatArray:
    """Excess over the mean of n scores, by their spread; a spread of nothing but rounding counts as rounding."""
    spread = np.sqrt(squares / (n - 1) * (1 + 1 / n))
    z: FloatArray = excess / np.maximum(spread, _ROUNDING)
    return z
