"""find_block_models: candidate block models of a graph, of one family or of several families in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from blockselect.blockmodels.factorization import normalized_starts, onmtf_starts, two_hop_starts
from blockselect.blockmodels.families import (
    MAX_ITER,
    Family,
    Search,
    Start,
    adjacency_starts,
    share_smoothing,
    smoothed_starts,
    spectral_starts,
)
from blockselect.blockmodels.model import BlockModel, adjacency_of
from blockselect.inputs.adjacency import check_same_order
from blockselect.inputs.attributed import AttributedGraph
from blockselect.inputs.features import check_feature_table
from blockselect.rows.sums import in_memory
from blockselect.utils.arrays import Features, FloatArray, Sparse
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import as_generator, check_n_blocks, check_n_jobs, check_whole
from blockselect.utils.progress import StepProgress, no_step_progress
from blockselect.utils.threads import in_threads

FEATURE_READING = "smoothed"  # the only family that uses the features
MIXED = (FEATURE_READING, "spectral", "adjacency")  # these families take turns first; the slowest starts first
ALL_IN_TURN = (*MIXED, "two_hop", "normalized", "onmtf")
N_FIRST_TURNS = 9  # candidates after which the factorisations take turns too


def mixed_starts(search: Search) -> list[Start]:
    """The families in turn; "smoothed" is left out if there are no features.

    Each family fails on some kinds of networks, but they rarely all fail on the same one. On networks with many blocks,
    the factorisations take most of the time and are rarely the best. They are therefore used only after the first nine
    candidates, for networks that are small enough for more candidates.
    """
    turns = members_in_turn(len(search.rngs), with_features=search.smoothing is not None)
    starts = {}
    for name in dict.fromkeys(turns):
        rngs = [rng for rng, turn in zip(search.rngs, turns, strict=True) if turn == name]
        starts[name] = iter(FAMILIES[name](replace(search, rngs=rngs)))
    return [next(starts[name]) for name in turns]


def members_in_turn(n_candidates: int, *, with_features: bool) -> list[str]:
    """The family of each candidate. More candidates do not change the families of the first ones."""
    few, many = ([name for name in names if with_features or name != FEATURE_READING] for names in (MIXED, ALL_IN_TURN))
    turns = [few[i % len(few)] for i in range(N_FIRST_TURNS)] + [many[i % len(many)] for i in range(n_candidates)]
    return turns[:n_candidates]


FAMILIES: dict[str, Family] = {
    "spectral": spectral_starts,
    "two_hop": two_hop_starts,
    "smoothed": smoothed_starts,
    "normalized": normalized_starts,
    "onmtf": onmtf_starts,
    "adjacency": adjacency_starts,
    "mixed": mixed_starts,
}


def find_block_models(
    adjacency: Any,
    n_blocks: int,
    *,
    family: str = "spectral",
    features: Any = None,
    n_candidates: int = 10,
    rng: np.random.Generator | int,
    n_jobs: int | None = None,
    max_iter: int = MAX_ITER,
    progress: StepProgress | None = None,
) -> list[BlockModel]:
    """Find candidate block models of a graph, in order of increasing relative error.

    Each candidate has its own random stream, so a search for ten candidates finds the first ten of a search for twenty.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n, n), or AttributedGraph
        The graph, in any form that :func:`blockselect.check_attributed_graph` accepts. If it is an AttributedGraph,
        neither it nor `features` is checked again. (paper: A)
    n_blocks : int
        Number of blocks. A model may have fewer blocks if the graph has fewer distinct kinds of nodes. (paper: k)
    family : str, default="spectral"
        How blocks are found. "spectral": K-means of the leading eigenvectors of the degree-normalised graph. "onmtf":
        the tri-factorisation of the paper. "normalized" and "two_hop": tri-factorisations of the degree-normalised
        graph and of its square. "smoothed": K-means of features averaged over neighbours. "adjacency": K-means of the
        leading eigenvectors of the graph itself, so that blocks may differ in degree. "mixed": "smoothed" (if features
        are given), "spectral" and "adjacency" in turn; after nine candidates, the three factorisations take turns too.
    features : array or sparse matrix of shape (n, m), optional
        Non-negative features of the nodes, used by "smoothed" and "mixed". (paper: Y)
    n_candidates : int, default=10
        Number of candidates.
    rng : numpy.random.Generator or int
        Generator or seed of the candidates. The same seed gives the same candidates.
    n_jobs : int or None, default=None
        Number of threads that find candidates. The result is the same for any number.
    max_iter : int, default=500
        Maximum number of iterations of "normalized" and "two_hop", which stop when they have converged. Fewer
        iterations are enough if blocks are refined afterwards.
    progress : callable, optional
        Called as ``progress(done, total)`` if the search has several steps.

    Returns
    -------
    list of BlockModel
        Each has the name of its family. Models with equal errors are in the order in which they were found.
    """
    if not isinstance(family, str) or family not in FAMILIES:
        raise ParameterError("family", f"is {family!r}; expected one of {list(FAMILIES)}.")
    if family == FEATURE_READING and features is None:
        raise ParameterError(
            "family",
            "is 'smoothed', which groups nodes by their features, but no features were given; pass features, or choose "
            "another family.",
        )
    check_n_jobs(n_jobs)
    for name, value in {"n_blocks": n_blocks, "n_candidates": n_candidates, "max_iter": max_iter}.items():
        check_whole(name, value, 1)
    graph = adjacency_of(adjacency)
    check_n_blocks(n_blocks, graph.shape[0])
    if features is not None and family in (FEATURE_READING, "mixed") and not isinstance(adjacency, AttributedGraph):
        features = _check_rows(features, adjacency, graph)
    return find_candidates(
        graph,
        features,
        {n_blocks: n_candidates},
        family=family,
        rng=as_generator(rng),
        n_jobs=n_jobs,
        max_iter=max_iter,
        progress=progress or no_step_progress,
    )


def find_candidates(
    adjacency: Sparse,
    features: Features | None,
    n_candidates: Mapping[int, int],
    *,
    family: str,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    max_iter: int = MAX_ITER,
    progress: StepProgress = no_step_progress,
    eigenvectors: FloatArray | None = None,
) -> list[BlockModel]:
    """Find candidates as `find_block_models` does, for a graph and features that were already checked.

    `n_candidates` is the number of candidates for each number of blocks. Features are used only by families that need
    them, and only if they are in memory, because each iteration would read all row chunks. `eigenvectors` (n, s) are
    the leading eigenvectors of the degree-normalised graph, if known; "spectral" then uses them.
    """
    is_used = family in (FEATURE_READING, "mixed") and features is not None and in_memory(features)
    smoothing = share_smoothing(adjacency, features) if is_used else None
    together = family == "onmtf"  # its starts advance together, and it reports their iterations
    shown = progress if together else no_step_progress
    jobs: list[Callable[[], BlockModel]] = []
    for n_blocks, number in n_candidates.items():
        search = Search(adjacency, n_blocks, rng.spawn(number), smoothing, n_jobs, max_iter, shown, eigenvectors)
        names = members_in_turn(number, with_features=is_used) if family == "mixed" else [family] * number
        starts = zip(FAMILIES[family](search), names, strict=True)
        jobs += [partial(_find, adjacency, start, name) for start, name in starts]
    models: list[BlockModel] = []
    # The last jobs have most blocks and take longest, so they start first. With None, joblib may use several threads.
    for model in in_threads(1 if together else n_jobs, reversed(jobs)):
        models.append(model)
        if not together:
            progress(len(models), len(jobs))
    return order_by_error(models[::-1])


def _find(adjacency: Sparse, start: Start, family: str) -> BlockModel:
    labels = np.unique(start(), return_inverse=True)[1].astype(np.intp, copy=False)
    return BlockModel.of_checked(adjacency, labels, family=family)


def order_by_error(models: Sequence[BlockModel]) -> list[BlockModel]:
    """Sort by increasing relative error; models whose errors differ only by rounding keep their order."""
    return sorted(models, key=lambda model: round(model.relative_error, 12))


def _check_rows(features: Any, graph: Any, adjacency: Sparse) -> Features:
    """Check that the features have one row per node, in the order of the graph."""
    table = check_feature_table(features)
    n_rows, n_nodes = table.matrix.shape[0], adjacency.shape[0]
    if n_rows != n_nodes:
        raise ValueError(f"features has {n_rows} rows but the graph has {n_nodes} nodes; pass one row per node.")
    check_same_order(table.node_ids, graph, adjacency, what="features", fix="features.loc[ids]")
    return table.matrix
