"""discover_features: the features that match the graph better than chance, at a given false discovery rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control
from sklearn.preprocessing import KBinsDiscretizer

from blockselect.blockmodels.candidates import FEATURE_READING, find_block_models
from blockselect.blockmodels.model import BlockModel
from blockselect.blockmodels.n_blocks import count_blocks
from blockselect.graphs.links import cap_weights
from blockselect.inputs.adjacency import graph_of
from blockselect.inputs.attributed import AttributedGraph, check_attributed_graph
from blockselect.inspection.circularity import warn_if_made_from_features
from blockselect.inspection.null_model import MIN_REFERENCE, match_pulls, reference_features
from blockselect.rows.statistics import are_sparse_counts, in_units, presence
from blockselect.rows.sums import in_memory
from blockselect.utils.arrays import FloatArray, IntArray
from blockselect.utils.errors import ParameterError, memory_for
from blockselect.utils.parameters import check_share, check_whole, generator_from
from blockselect.utils.progress import StepProgress, follow, no_step_progress

DEFAULT_LEVEL = 0.1
MIN_ROUNDS = 3  # each random matching is compared with the spread of the others, of which there must be at least two
_DEFAULT_ROUNDS = 50
_MAX_BLOCKS = 12  # many small blocks would contain too few nodes for a test
_N_GROUPS = 3  # groups of nodes by degree
_DECIMALS = 6  # of the square root of a degree, relative to the largest; degrees that agree in these are equal
NO_TEST_OF_CHUNKS = "a test of the features permutes individual nodes, whose features row chunks do not provide"
_ROUNDING = 1e-6  # values that differ by less than this share of the largest are equal


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Discoveries:
    """Features that match the graph better than chance, with p-values and q-values."""

    p_values: FloatArray  # (m,)
    q_values: FloatArray  # (m,) the lowest level at which each feature is a discovery
    support: NDArray[np.bool_]  # (m,)

    def __repr__(self) -> str:
        smallest = self.q_values.min(initial=1.0)
        return f"Discoveries({self.support.sum():,} of {len(self.support):,} features, smallest q-value {smallest:.2g})"


def discover_features(
    X: Any,
    *,
    adjacency: Any = None,
    level: float = DEFAULT_LEVEL,
    n_blocks: int | None = None,
    n_candidates: int = 24,
    n_permutations: int = _DEFAULT_ROUNDS,
    random_state: Any = None,
    verbose: int = 0,
) -> Discoveries:
    """Find the features that match the graph better than chance.

    The scores of a selector cannot be tested, because they have unit length, so features compete. The test statistic is
    instead the gradient of both losses of :class:`blockselect.BMGUFS` at a random matching of features and nodes. It is
    exchangeable under the null hypothesis: features that are unrelated to the graph look the same after the nodes are
    permuted, however strongly they are related to one another. The number of features of each node is taken as given:
    a feature that only depends on this number is not a discovery, even if hubs have more features than other nodes. A
    feature of hubs is a discovery if most other features do not depend on the degrees, because the degrees are part of
    the graph.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, m), or graph
        Non-negative features of the nodes, or a networkx or igraph graph whose nodes have attributes. Counts that
        are mostly zero are used as present or absent (paper: Y).
    adjacency : array or sparse matrix of shape (n, n), or edge table
        The graph, in any form that :func:`blockselect.check_attributed_graph` accepts; it may only be omitted if X is
        a graph. It must not be built from the features, because they match such a graph by construction; a graph that
        looks like one causes a warning. Weights with a heavy tail are capped (paper: A).
    level : float, default=0.1
        False discovery rate: on average, at most this share of the discoveries is unrelated to the graph
        (Benjamini–Hochberg).
    n_blocks : int or None, default=None
        Number of blocks. If None, it is estimated from the graph (paper: k).
    n_candidates : int, default=24
        Number of block models, found without the features; the test averages over them.
    n_permutations : int, default=50
        Number of random matchings, at least 3. The smallest p-value is about 1 / (n_permutations · m).
    random_state : int, RandomState or None, default=None
        Seed of the block models and permutations.
    verbose : int, default=0
        0 shows nothing. 1 shows the progress in one line, if stderr is a terminal or a notebook.

    Returns
    -------
    Discoveries
        `p_values`, `q_values` and `support`, with one entry per feature.

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
    check_testable(graph_of(X, adjacency), None)
    if not in_memory(X):
        raise ValueError(f"X is in row chunks, but {NO_TEST_OF_CHUNKS}; pass some of the features as one matrix.")
    with memory_for("test the features"), follow("discover_features", verbose) as progress:
        graph = check_attributed_graph(X, adjacency)
        warn_if_made_from_features(graph)
        if not graph.is_linked.any():
            raise ValueError(
                "no link joins two different nodes, so no feature can be associated with the links; pass a graph with "
                "links between different nodes."
            )
        graph = graph.only(graph.is_linked)
        if are_sparse_counts(graph.features):
            graph = replace(graph, features=presence(graph.features))
        rng = generator_from(random_state)
        adjacency = cap_weights(graph.adjacency)
        if n_blocks is None:
            progress("number of blocks", 0, 1)
            n_blocks = count_blocks(adjacency, max_blocks=_MAX_BLOCKS, rng=rng.spawn(1)[0]).n_blocks
        progress("block models", 0, 1)
        models = find_block_models(
            adjacency,
            n_blocks,
            family="mixed",
            n_candidates=n_candidates,
            rng=rng,
            progress=partial(progress, "block models"),
        )
        progress("discoveries", 0, 1)
        return match_blocks(
            graph,
            models,
            level=level,
            n_rounds=n_permutations,
            rng=rng.spawn(1)[0],
            progress=partial(progress, "discoveries"),
        )


def match_blocks(
    graph: AttributedGraph,
    candidates: Sequence[BlockModel],
    *,
    level: float,
    n_rounds: int = _DEFAULT_ROUNDS,
    rng: np.random.Generator,
    progress: StepProgress = no_step_progress,
) -> Discoveries:
    """Test each feature against the candidates that were found without the features.

    Isolated nodes and nodes without features are left out. In addition to the blocks, three groups of nodes by degree
    are used: a core and its periphery differ only in degree, and the same may hold for small blocks with few links. The
    totals of the nodes are sums over those features that are distributed over blocks and groups like most features.
    """
    n_features = graph.n_features
    tested = graph.is_linked
    if n_features >= MIN_REFERENCE:  # a node with a total of zero carries no information
        tested &= graph.has_features
    if not tested.any():
        return Discoveries(np.ones(n_features), np.ones(n_features), np.zeros(n_features, dtype=bool))
    features = graph.features[tested]
    models = [model.among(tested).reflected() for model in candidates if model.family != FEATURE_READING]
    by_degree = groups_by_degree(cap_weights(graph.adjacency)[tested][:, tested].sum(axis=1))
    alike = in_units(features)
    reference = reference_features(alike, [model.labels for model in models]) & reference_features(alike, [by_degree])
    if np.count_nonzero(reference) < MIN_REFERENCE:
        reference[:] = True
    pulls = match_pulls(
        features, models, n_rounds=n_rounds, rng=rng, reference=reference, groups=by_degree, progress=progress
    )
    p_values = null_p_values(pulls[0], pulls[1:])
    q_values = false_discovery_control(p_values)
    return Discoveries(p_values, q_values, q_values <= level)


def groups_by_degree(degrees: Any) -> IntArray:
    """Group the nodes by low, medium and high degree, with k-means on the square roots of the degrees: (n,)."""
    roots = np.sqrt(np.asarray(degrees, dtype=np.float64).ravel())
    values, groups = np.unique(np.round(roots / roots.max(), _DECIMALS), return_inverse=True)
    if len(values) > _N_GROUPS:
        by_kmeans = KBinsDiscretizer(_N_GROUPS, encode="ordinal", strategy="kmeans", subsample=None)
        groups = by_kmeans.fit_transform(values[groups][:, None]).ravel()
    return groups.astype(np.intp)


def check_testable(adjacency: Any, block_model: Any) -> None:
    """Raise an error if the graph or the blocks would be built from the features, which would match by construction."""
    if adjacency is None:
        raise ParameterError(
            "adjacency",
            "is not given, and a graph built from the features would match them by construction; pass a graph, or "
            "request a number of features.",
        )
    family = block_model.family if isinstance(block_model, BlockModel) else block_model
    if isinstance(family, str) and family == FEATURE_READING:
        raise ParameterError(
            "block_model",
            f'is "{FEATURE_READING}", which uses the features, but a test of the features needs blocks found '
            'without them; choose another family, such as "mixed", or request a number of features.',
        )


def null_p_values(scores: FloatArray, null_scores: FloatArray) -> FloatArray:
    """P-value of each feature: how often a standardised null score is at least as large as its own.

    Under the null hypothesis, features differ strongly in mean and spread (a frequent word scores high on any graph). A
    few rounds are enough to estimate both, but not the tail. Each real score is therefore standardised by the B null
    scores of its feature, z = (x − mean) / (sd √(1 + 1/B)), and each null score by the other B − 1. The null z-values
    of all features are pooled: p = (1 + #{null z ≥ z}) / (1 + B m), which is never zero. With only B − 1 scores, z has
    a heavier tail, so p-values are slightly conservative. The smallest p-value is about 1 / (B m): a single discovery
    requires that B exceeds 1 / level.

    Parameters
    ----------
    scores : array of shape (m,)
    null_scores : array of shape (B, m)
        Scores from B ≥ 3 null rounds.

    Returns
    -------
    array of shape (m,)
        A feature whose score never varies, such as a constant column, has p = 1 and does not contribute to the pooled
        distribution.
    """
    together = np.concatenate([scores[None], null_scores]).astype(np.float64)
    largest = np.abs(together).max(axis=0)
    varies = np.ptp(together, axis=0) > _ROUNDING * largest
    p_values = np.ones(len(scores))
    scaled = together[:, varies] / largest[varies]
    real_z, null_z = _z_values(scaled[0], scaled[1:])
    null_z = np.sort(null_z, axis=None)
    at_least = len(null_z) - np.searchsorted(null_z, real_z, side="left")
    p_values[varies] = (1 + at_least) / (1 + len(null_z))
    return p_values


def _z_values(real: FloatArray, null: FloatArray) -> tuple[FloatArray, FloatArray]:
    """z-values of the real scores (m,), and of the null scores, each relative to the other rounds (B, m)."""
    n = len(null)
    mean = null.mean(axis=0)
    squares = np.sum((null - mean) ** 2, axis=0)
    mean_of_others = mean + (mean - null) / (n - 1)
    squares_of_others = np.maximum(squares - (null - mean) ** 2 * n / (n - 1), 0)
    return _z(real - mean, squares, n), _z(null - mean_of_others, squares_of_others, n - 1)


def _z(excess: FloatArray, squares: FloatArray, n: int) -> FloatArray:
    """Divide the excess over the mean of n scores by their spread, or by the rounding error if that is larger."""
    spread = np.sqrt(squares / (n - 1) * (1 + 1 / n))
    z: FloatArray = excess / np.maximum(spread, _ROUNDING)
    return z
